//! The actions that are taken from a state: a stubborn set.
//!
//! In: a state, and the actions that are enabled there. Out: which of them are taken. A set is closed: with an enabled action it
//! has all that depend on it, those of its own processes among them; with one that is not enabled, a necessary enabling set.
//! Where a question looks at states, a set with an enabled action that it could see has all such actions. Of the sets that
//! begin with an enabled action of each process, one with the fewest enabled actions is chosen.

use super::StateBits;
use super::dependence::dependents;
use super::enabling::{Enabling, ProcessPositions};
use local::graphs::{ActionNumber, Rounds};
use packed::machine::Machine;
use packed::words::{and, is_zero};

/// What has to be kept.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<const W: usize> {
    /// The bits that questions look at.
    pub visible: StateBits<W>,
    /// Whether nothing is asked but deadlocks.
    pub only_deadlocks: bool,
}

/// Chooses actions.
pub struct StubbornChoice<'c, const W: usize> {
    rounds: &'c Rounds<'c, W>,
    /// What has to happen before an action can.
    pub enabling: Enabling<'c, W>,
    /// By action: the actions of others that it depends on.
    dependents: Vec<Vec<ActionNumber>>,
    /// By action: whether questions can see it.
    visible: Vec<bool>,
    all_visible: Vec<ActionNumber>,
    /// By action: the set that it was last in, and the state in which it was last enabled, by number.
    in_set: Vec<u32>,
    enabled_at: Vec<u32>,
    n_sets: u32,
    n_states: u32,
}

impl<'c, const W: usize> StubbornChoice<'c, W> {
    /// Choices for states of a program.
    pub fn new(rounds: &'c Rounds<'c, W>, machine: &Machine<'_>, keeping: &Keeping<W>) -> Self {
        let actions = rounds.actions();
        let visible: Vec<bool> =
            actions.writes.iter().map(|written| !is_zero(&and(written, &keeping.visible))).collect();
        let all_visible = (0..actions.n_actions() as u32).filter(|&action| visible[action as usize]).collect();
        StubbornChoice {
            rounds,
            enabling: Enabling::new(machine, actions, &rounds.graphs),
            dependents: dependents(actions, &rounds.graphs),
            visible,
            all_visible,
            in_set: vec![0; actions.n_actions()],
            enabled_at: vec![0; actions.n_actions()],
            n_sets: 0,
            n_states: 0,
        }
    }

    /// The enabled actions to take; `None` where all have to be.
    pub fn choose(&mut self, enabled: &[ActionNumber], standing: &ProcessPositions) -> Option<Vec<ActionNumber>> {
        self.n_states += 1;
        enabled.iter().for_each(|&action| self.enabled_at[action as usize] = self.n_states);
        let mut tried: Vec<usize> = Vec::new();
        let mut best: Option<Vec<ActionNumber>> = None;
        for &start in enabled {
            let process = self.rounds.actions().movers[start as usize].0.index();
            if tried.contains(&process) {
                continue;
            }
            tried.push(process);
            let limit = best.as_ref().map_or(enabled.len(), Vec::len);
            if let Some(set) = self.closed(start, standing, limit) {
                best = Some(set);
            }
            if best.as_ref().is_some_and(|set| set.len() == 1) {
                break;
            }
        }
        best
    }

    /// The enabled actions of the least closed set with an action, if there are fewer than the limit.
    fn closed(&mut self, start: ActionNumber, standing: &ProcessPositions, limit: usize) -> Option<Vec<ActionNumber>> {
        self.n_sets += 1;
        let mut chosen = Vec::new();
        let mut has_visible = false;
        let mut open = vec![start];
        let mut more = Vec::new();
        while let Some(action) = open.pop() {
            if self.in_set[action as usize] == self.n_sets {
                continue;
            }
            self.in_set[action as usize] = self.n_sets;
            if self.enabled_at[action as usize] != self.n_states {
                more.clear();
                self.enabling.add(action, standing, &mut more);
                open.extend(&more);
                continue;
            }
            chosen.push(action);
            if chosen.len() >= limit {
                return None;
            }
            open.extend(&self.dependents[action as usize]);
            let (mover, partner) = self.rounds.actions().movers[action as usize];
            for process in std::iter::once(mover).chain(partner) {
                open.extend(self.enabling.at(process.index(), standing));
            }
            if self.visible[action as usize] && !has_visible {
                has_visible = true;
                open.extend(&self.all_visible);
            }
        }
        Some(chosen)
    }
}
