//! Witnesses: a step of a third process from a local state that belongs to both (LS3+).
//!
//! In: the joint states of all pairs, and which of them are new. Out: pairs. `(s, t)` in the joint states of two processes, and
//! `c` of a third one that belongs to `s` and to `t`: a step of the third from `c` that one of the two sees takes `(s, t)` to
//! what they see after it. A triangle of joint states is examined when one of its three sides is new.

use super::graph::ProcessGraph;
use super::joint::Joint;
use super::rounds::Rounds;
use packed::packing::Packed;
use packed::words::{and, or, without};

/// What third processes make of the pairs of one joint search, where something is new.
pub fn pairs<const W: usize>(rounds: &Rounds<'_, W>, at: usize, found: &mut Vec<(u32, u32)>) {
    let joint = &rounds.joints[at];
    let [one, other] = joint.processes;
    for third in (0..rounds.graphs.len()).filter(|third| ![one, other].contains(third)) {
        if let (Some(ours), Some(theirs)) = (rounds.joint(one, third), rounds.joint(other, third)) {
            Triangle::new(rounds, [one, other, third], [joint, ours, theirs]).search(found);
        }
    }
}

/// Two processes and a third one that shares something with both.
struct Triangle<'t, const W: usize> {
    /// The two, and their witness.
    processes: [usize; 3],
    graphs: [&'t ProcessGraph<W>; 3],
    /// The joint states of the two, and of each with the third.
    joints: [&'t Joint<W>; 3],
    /// What the third process has in common with each of the two.
    common: [Packed<W>; 2],
    rounds: &'t Rounds<'t, W>,
}

impl<'t, const W: usize> Triangle<'t, W> {
    fn new(rounds: &'t Rounds<'_, W>, processes: [usize; 3], joints: [&'t Joint<W>; 3]) -> Self {
        let [one, other, third] = processes;
        let graphs = processes.map(|process| &rounds.graphs[process]);
        let common = [rounds.actions().common(one, third), rounds.actions().common(other, third)];
        Triangle { processes, graphs, joints, common, rounds }
    }

    /// Whether two local states belong together, given in the order of the processes.
    fn has(&self, side: usize, state: u32, third: u32) -> bool {
        let joint = self.joints[1 + side];
        match joint.side_of(self.processes[side]) {
            0 => joint.contains(state, third),
            _ => joint.contains(third, state),
        }
    }

    /// The new joint states of one of the two with the third.
    fn news(&self, side: usize) -> impl Iterator<Item = (u32, u32)> {
        let joint = self.joints[1 + side];
        let is_first = joint.side_of(self.processes[side]) == 0;
        let news = joint.news.iter().flatten();
        news.map(move |&(one, other)| if is_first { (one, other) } else { (other, one) })
    }

    fn search(&self, found: &mut Vec<(u32, u32)>) {
        let [joint, ours, _] = self.joints;
        for &(one, other) in joint.news.iter().flatten() {
            for third in ours.partners(ours.side_of(self.processes[0]), one) {
                if self.has(1, other, third) {
                    self.steps([one, other, third], found);
                }
            }
        }
        for (one, third) in self.news(0) {
            if self.is_still(third) {
                continue;
            }
            for other in joint.partners(0, one) {
                if self.has(1, other, third) {
                    self.steps([one, other, third], found);
                }
            }
        }
        for (other, third) in self.news(1) {
            if self.is_still(third) {
                continue;
            }
            for one in joint.partners(1, other) {
                if self.has(0, one, third) {
                    self.steps([one, other, third], found);
                }
            }
        }
    }

    /// Whether the third process takes no step that one of the two sees.
    fn is_still(&self, third: u32) -> bool {
        let actions = self.rounds.actions();
        let [one, other, _] = self.processes;
        let is_seen = |action: u32| actions.is_external(one, action) || actions.is_external(other, action);
        !self.graphs[2].own(third).iter().any(|&(action, _)| is_seen(action))
    }

    /// The steps of the third process from its local state.
    fn steps(&self, [one, other, third]: [u32; 3], found: &mut Vec<(u32, u32)>) {
        for &(action, target) in self.graphs[2].own(third) {
            let after = self.graphs[2].states.row(target);
            let [our_target, their_target] = [(0, one), (1, other)].map(|(side, state)| {
                if self.rounds.actions().is_external(self.processes[side], action) {
                    self.moved(side, state, after)
                } else {
                    state
                }
            });
            if (our_target, their_target) != (one, other) && !self.joints[0].contains(our_target, their_target) {
                found.push((our_target, their_target));
            }
        }
    }

    /// A local state after a step of the third process.
    fn moved(&self, side: usize, state: u32, after: &Packed<W>) -> u32 {
        let graph = self.graphs[side];
        let moved = or(&without(graph.states.row(state), &self.common[side]), &and(after, &self.common[side]));
        graph.states.position(&moved).expect("the third process and this one have offered it")
    }
}
