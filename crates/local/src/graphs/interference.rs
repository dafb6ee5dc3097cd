//! Local state graphs thread by thread: interference happens wherever the cells in common allow it (Flanagan and Qadeer).
//!
//! In: a program. Out: the graphs. A step of others is known to a process only by the bits that both see, before and after it
//! (a *change*); it is a transition from every local state that has the bits before. Steps of two processes start from any two
//! local states that agree on what both see.

use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::actions::{ActionNumber, Actions};
use super::graph::{ProcessGraph, RendezvousEdge, meetings_of};
use crate::interference::{CommonBits, CommonChange};
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch};
use packed::packing::Packed;
use packed::words::{and, is_zero, or, without};

/// The budget is checked after so many local states.
const CHECK_EVERY: usize = 1024;

/// The graphs of all processes, as far as the meter lets the search go.
pub fn graphs<const W: usize>(machine: &Machine<'_>, actions: &Actions<W>, meter: &Meter<'_>) -> Vec<ProcessGraph<W>> {
    let n_processes = actions.n_processes();
    let mut graphs: Vec<ProcessGraph<W>> =
        (0..n_processes).map(|at| ProcessGraph::new(ProcessId::new(at), actions.masks[at])).collect();
    for graph in &mut graphs {
        for state in InitialStates::within(machine.codec, &graph.mask) {
            graph.number(&state);
        }
        graph.n_initial = graph.states.len();
    }
    let inboxes: Vec<Inbox<W>> = (0..n_processes).map(|_| Inbox::default()).collect();
    let mut search = InterferenceSearch {
        machine,
        actions,
        meter,
        graphs,
        inboxes,
        n_changes: vec![0; n_processes],
        indexes: FxHashMap::default(),
    };
    let _stopped = search.run();
    search.graphs
}

/// What a process has seen of the others.
struct Inbox<const W: usize> {
    /// Local states and changes, by each set of bits that changes are about.
    common: Vec<CommonBits<W, u32, ActionNumber>>,
    known: FxHashSet<(ActionNumber, Packed<W>, Packed<W>)>,
    /// Changes in the order in which they came.
    log: Vec<LoggedChange<W>>,
    /// To how many local states the changes were applied.
    n_applied: usize,
    /// How many of the own steps have become changes for others.
    n_published: usize,
}

impl<const W: usize> Default for Inbox<W> {
    fn default() -> Self {
        Inbox { common: Vec::new(), known: FxHashSet::default(), log: Vec::new(), n_applied: 0, n_published: 0 }
    }
}

/// A change: the position of the bits that it is about, and the bits before it.
struct LoggedChange<const W: usize> {
    about: usize,
    before: Packed<W>,
    change: CommonChange<W, ActionNumber>,
}

/// Local states by the bits that two processes both see, and how many are in it.
type Index<const W: usize> = (FxHashMap<Packed<W>, Vec<u32>>, usize);

struct InterferenceSearch<'s, const W: usize> {
    machine: &'s Machine<'s>,
    actions: &'s Actions<W>,
    meter: &'s Meter<'s>,
    graphs: Vec<ProcessGraph<W>>,
    inboxes: Vec<Inbox<W>>,
    /// By process: how many of the changes have been applied.
    n_changes: Vec<usize>,
    /// By a sender, a receiver, and which of them it is about: its local states.
    indexes: FxHashMap<[usize; 3], Index<W>>,
}

impl<const W: usize> InterferenceSearch<'_, W> {
    fn run(&mut self) -> Flow {
        let scratch = self.machine.scratch();
        loop {
            let before = self.size();
            for at in 0..self.graphs.len() {
                self.graphs[at].expand(self.machine, self.meter, &scratch)?;
                self.publish(at);
                self.rendezvous(at, &scratch)?;
                self.apply(at)?;
            }
            if self.size() == before {
                return Flow::Continue(());
            }
        }
    }

    fn size(&self) -> (usize, u64, usize) {
        (
            self.graphs.iter().map(|graph| graph.states.len()).sum(),
            self.graphs.iter().map(ProcessGraph::n_transitions).sum(),
            self.inboxes.iter().map(|inbox| inbox.log.len()).sum(),
        )
    }

    /// Makes a process's own steps changes for the others.
    fn publish(&mut self, at: usize) {
        for state in self.inboxes[at].n_published..self.graphs[at].n_expanded() {
            let before = *self.graphs[at].states.row(state as u32);
            for &(action, target) in self.graphs[at].own(state as u32) {
                let after = self.graphs[at].states.row(target);
                for other in 0..self.graphs.len() {
                    if self.actions.is_external(other, action) {
                        self.inboxes[other].add(self.actions.common(at, other), &before, action, after);
                    }
                }
            }
        }
        self.inboxes[at].n_published = self.graphs[at].n_expanded();
    }

    /// Rendezvous of this process with its possible partners.
    fn rendezvous(&mut self, at: usize, scratch: &Scratch<W>) -> Flow {
        for other in 0..self.graphs.len() {
            if !self.actions.can_rendezvous(at, other) {
                continue;
            }
            let common = self.actions.common(at, other);
            let n_ours = self.index([at, other, at], &common);
            let n_theirs = self.index([at, other, other], &common);
            let (ours, theirs) = (self.graphs[at].states.len(), self.graphs[other].states.len());
            let mut pairs = Vec::new();
            for state in 0..ours {
                let row = self.graphs[at].states.row(state as u32);
                if !self.machine.point(self.graphs[at].process, row).has_sync {
                    continue;
                }
                let partners = self.indexes[&[at, other, other]].0.get(&and(row, &common));
                let new = |&&partner: &&u32| state >= n_ours || partner as usize >= n_theirs;
                pairs.extend(partners.into_iter().flatten().filter(new).map(|&partner| (state as u32, partner)));
            }
            debug_assert!(pairs.iter().all(|&(one, other)| (one as usize) < ours && (other as usize) < theirs));
            for (nth, (one, partner)) in pairs.into_iter().enumerate() {
                self.meet_pair([at, other], [one, partner], scratch);
                if nth % CHECK_EVERY == CHECK_EVERY - 1 && !self.meter.may_go_on(self.bytes()) {
                    return Flow::Break(());
                }
            }
        }
        Flow::Continue(())
    }

    /// Brings an index up to date; how many local states it had before.
    fn index(&mut self, key: [usize; 3], common: &Packed<W>) -> usize {
        let at = key[2];
        let (index, n_done) = self.indexes.entry(key).or_default();
        let before = *n_done;
        for state in before..self.graphs[at].states.len() {
            index.entry(and(self.graphs[at].states.row(state as u32), common)).or_default().push(state as u32);
        }
        *n_done = self.graphs[at].states.len();
        before
    }

    fn meet_pair(&mut self, [at, other]: [usize; 2], [one, partner]: [u32; 2], scratch: &Scratch<W>) {
        let combined = or(self.graphs[at].states.row(one), self.graphs[other].states.row(partner));
        let movers = (self.graphs[at].process, self.graphs[other].process);
        for (action, next) in meetings_of(self.machine, self.actions, movers, (&combined, scratch)).0 {
            let [target, after] = [at, other].map(|process| self.graphs[process].number(&next));
            let meeting = RendezvousEdge { action, target, partner: other as u32, before: partner, after };
            self.graphs[at].add_external(one, meeting.action, meeting.target);
            self.graphs[other].add_external(partner, action, after);
            for third in 0..self.graphs.len() {
                if self.actions.is_external(third, action) {
                    let seen = and(&or(&self.graphs[at].mask, &self.graphs[other].mask), &self.graphs[third].mask);
                    self.inboxes[third].add(seen, &combined, action, &next);
                }
            }
        }
    }

    /// Applies all changes to new local states, and new changes to the local states that were there.
    fn apply(&mut self, at: usize) -> Flow {
        let (n_states, n_changes) = (self.graphs[at].states.len(), self.inboxes[at].log.len());
        let mut found: Vec<(u32, ActionNumber, Packed<W>)> = Vec::new();
        let inbox = &mut self.inboxes[at];
        for state in inbox.n_applied..n_states {
            let row = *self.graphs[at].states.row(state as u32);
            for common in &mut inbox.common {
                let mask = *common.mask();
                for change in common.add_row(&row, state as u32) {
                    found.push((state as u32, change.label, or(&without(&row, &mask), &change.after)));
                }
            }
        }
        for LoggedChange { about, before, change } in &inbox.log[self.n_changes[at]..n_changes] {
            let common = &inbox.common[*about];
            for &state in common.rows(before) {
                let row = self.graphs[at].states.row(state);
                found.push((state, change.label, common.changed(row, &change.after)));
            }
        }
        inbox.n_applied = n_states;
        self.n_changes[at] = n_changes;
        let graph = &mut self.graphs[at];
        for (nth, (from, action, to)) in found.into_iter().enumerate() {
            let to = graph.number(&to);
            graph.add_external(from, action, to);
            if nth % CHECK_EVERY == CHECK_EVERY - 1 && !self.meter.may_go_on(0) {
                return Flow::Break(());
            }
        }
        if self.meter.may_go_on(self.bytes()) { Flow::Continue(()) } else { Flow::Break(()) }
    }

    fn bytes(&self) -> u64 {
        let inbox = |inbox: &Inbox<W>| (inbox.log.len() * 6 * size_of::<Packed<W>>() + inbox.n_applied * 40) as u64;
        self.inboxes.iter().map(inbox).sum()
    }
}

impl<const W: usize> Inbox<W> {
    /// A change of some bits; local states that are there get an index for them.
    fn add(&mut self, mask: Packed<W>, before: &Packed<W>, action: ActionNumber, after: &Packed<W>) {
        let (before, after) = (and(before, &mask), and(after, &mask));
        debug_assert!(!is_zero(&mask));
        if !self.known.insert((action, before, after)) {
            return;
        }
        let about = self.common.iter().position(|common| *common.mask() == mask).unwrap_or_else(|| {
            // The change may happen in every local state that there is: as if all of them were new.
            self.common.push(CommonBits::new(mask));
            self.common.iter_mut().for_each(CommonBits::forget_rows);
            self.n_applied = 0;
            self.common.len() - 1
        });
        let change = CommonChange { after, label: action };
        self.common[about].add_change(before, change);
        self.log.push(LoggedChange { about, before, change });
    }
}
