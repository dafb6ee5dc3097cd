//! The abstract process of a focus, explicit.
//!
//! In: local states by store. Out: its nodes (a store and a local state of the focus there) with the focus's own turns, and for each store
//! the turns of all processes as changes of the store, each with the assumptions that it satisfies and whether it is a *must* transition: allowed by every
//! local state of its mover. What predicates may hold in a node is computed here, too.

use base::{Coarse, Feature, StopReason};
use compose::fair::may::May;
use model::control::{ActionId, ActionKind};
use model::eval;
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::sets::FairSets;
use crate::ids::{ClassId, KindId, LocalId, NodeId, StoreId};
use crate::sets::bits::for_each_bit;
use packed::packing::Packed;
use packed::term::TermId;

/// More combinations of local states than this are not enumerated for one predicate in one node.
const MOST_COMBINATIONS: usize = 1 << 22;

/// A turn of some process as a change of the store.
#[derive(Clone, Copy, Debug)]
pub struct StoreTurn {
    /// The process that has the turn.
    pub mover: ProcessId,
    /// The assumptions that it satisfies, as a number in `kinds`.
    pub kind: KindId,
    /// The store afterwards.
    pub target: StoreId,
    /// Whether every local state of the mover allows it.
    pub is_must: bool,
}

/// The turns of all processes, by store, ordered by mover.
#[derive(Default)]
pub struct StoreTurns {
    starts: Vec<usize>,
    list: Vec<StoreTurn>,
}

impl StoreTurns {
    /// Those of a round of local states, each marked if it is a must transition.
    pub fn new<const W: usize>(sets: &mut FairSets<'_, W>) -> Result<Self, StopReason> {
        let mut turns = StoreTurns { starts: vec![0], list: Vec::new() };
        let mut counted: FxHashMap<(KindId, StoreId), (u32, u32)> = FxHashMap::default();
        for store in (0..sets.stores.len()).map(StoreId::new) {
            let here = sets.stores[store.index()];
            for process in sets.locals.model.processes.ids() {
                counted.clear();
                let mut order = Vec::new();
                let mut locals = Vec::new();
                for_each_bit(sets.at(process, store), |local| locals.push(local));
                for (nth, &local) in (1..).zip(&locals) {
                    for &turn in sets.enabled_turns(process, here.cells, local)?.turns.iter() {
                        let kind = sets.classes[turn.class.index()].1;
                        let target = sets.target(process, here, turn);
                        let (count, last) = counted.entry((kind, target)).or_insert_with(|| {
                            order.push((kind, target));
                            (0, 0)
                        });
                        if *last != nth {
                            (*count, *last) = (*count + 1, nth);
                        }
                    }
                }
                turns.list.extend(order.iter().map(|&(kind, target)| {
                    let is_must = counted[&(kind, target)].0 == locals.len() as u32;
                    StoreTurn { mover: process, kind, target, is_must }
                }));
            }
            turns.starts.push(turns.list.len());
            if store.index() % 1024 == 0 {
                sets.hold((turns.list.capacity() * size_of::<StoreTurn>()) as u64)?;
            }
        }
        Ok(turns)
    }

    /// Only the must transitions.
    pub fn must(&self) -> StoreTurns {
        let mut must = StoreTurns { starts: vec![0], list: Vec::new() };
        for store in 0..self.starts.len() - 1 {
            must.list.extend(self.at(StoreId::new(store)).iter().filter(|turn| turn.is_must));
            must.starts.push(must.list.len());
        }
        must
    }

    /// Those at a store.
    pub fn at(&self, store: StoreId) -> &[StoreTurn] {
        &self.list[self.starts[store.index()]..self.starts[store.index() + 1]]
    }
}

/// An own turn of the focus.
#[derive(Clone, Copy, Debug)]
pub struct OwnTurn {
    /// Its class.
    pub class: ClassId,
    /// The node afterwards.
    pub target: NodeId,
}

/// The nodes of a focus.
pub struct FocusNodes {
    /// The process.
    pub focus: ProcessId,
    /// A store and a local state each.
    pub list: Vec<(StoreId, LocalId)>,
    /// The first node of each store.
    firsts: Vec<NodeId>,
    /// The initial ones.
    pub initial: Vec<NodeId>,
    starts: Vec<usize>,
    turns: Vec<OwnTurn>,
}

impl FocusNodes {
    /// Those of a process.
    pub fn new<const W: usize>(sets: &mut FairSets<'_, W>, focus: ProcessId) -> Result<Self, StopReason> {
        let mut nodes = FocusNodes {
            focus,
            list: Vec::new(),
            firsts: Vec::new(),
            initial: Vec::new(),
            starts: vec![0],
            turns: Vec::new(),
        };
        for store in (0..sets.stores.len()).map(StoreId::new) {
            nodes.firsts.push(NodeId::new(nodes.list.len()));
            for_each_bit(sets.at(focus, store), |local| nodes.list.push((store, local)));
        }
        let initial = sets.initial.clone();
        let of_focus = initial.into_iter().filter(|(_, process, _)| *process == focus);
        nodes.initial = of_focus.map(|(store, _, local)| nodes.node(sets, store, local)).collect();
        for at in 0..nodes.list.len() {
            let (store, local) = nodes.list[at];
            let here = sets.stores[store.index()];
            for &turn in sets.enabled_turns(focus, here.cells, local)?.turns.iter() {
                let target = sets.target(focus, here, turn);
                let target = nodes.node(sets, target, turn.local);
                nodes.turns.push(OwnTurn { class: turn.class, target });
            }
            nodes.starts.push(nodes.turns.len());
        }
        Ok(nodes)
    }

    /// The node of a store and a local state that is there.
    pub fn node<const W: usize>(&self, sets: &FairSets<'_, W>, store: StoreId, local: LocalId) -> NodeId {
        let words = sets.at(self.focus, store);
        let (word, bit) = (local.index() / 64, local.index() % 64);
        let before: u32 = words[..word].iter().map(|word| word.count_ones()).sum();
        let here = before + (words[word] & ((1 << bit) - 1)).count_ones();
        NodeId::new(self.firsts[store.index()].index() + here as usize)
    }

    /// The own turns in a node.
    pub fn turns(&self, node: NodeId) -> &[OwnTurn] {
        &self.turns[self.starts[node.index()]..self.starts[node.index() + 1]]
    }
}

/// Whether predicates may hold.
pub struct MayEvaluator<'g, 'a, const W: usize> {
    /// The sets.
    pub sets: &'g mut FairSets<'a, W>,
    /// The terms of the expressions in predicates, by their number.
    pub terms: &'g [TermId],
}

impl<const W: usize> MayEvaluator<'_, '_, W> {
    /// Whether some choice of the others' local states at `store` satisfies the predicate, with `own` fixed.
    pub fn may(&mut self, may: &May, store: StoreId, own: Option<(ProcessId, LocalId)>) -> Result<bool, StopReason> {
        match may {
            May::All(parts) => {
                for part in parts {
                    if !self.may(part, store, own)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            May::Any(parts) => {
                for part in parts {
                    if self.may(part, store, own)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            May::Unable(process, labels) => {
                let locals = self.locals_at(*process, store, own);
                for local in locals {
                    if !self.is_able(*process, labels.as_deref(), store, local)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            May::Truth { expr, wanted, processes, number } => {
                let term = self.terms[*number];
                let choices: Vec<(ProcessId, Vec<LocalId>)> =
                    processes.iter().map(|&process| (process, self.locals_at(process, store, own))).collect();
                let n_combinations =
                    choices.iter().fold(1_usize, |product, (_, list)| product.saturating_mul(list.len()));
                if n_combinations > MOST_COMBINATIONS {
                    return Err(Feature::WideFairness.into());
                }
                // It has to have a value whatever the others' local states are, not only up to the first that satisfy it.
                let can_fault = expr.can_fault();
                let mut found = false;
                for nth in 0..n_combinations {
                    let row = self.combination(store, &choices, nth);
                    let truth = self.sets.machine.test(term, &row, &self.sets.scratch);
                    found |= truth.map_err(|_| faulty())? == *wanted;
                    if found && !can_fault {
                        return Ok(true);
                    }
                }
                Ok(found)
            }
        }
    }

    /// Whether a proposition holds at a store: all local states of all processes there agree on it.
    pub fn truth(&self, term: TermId, processes: &[ProcessId], store: StoreId) -> Result<bool, StopReason> {
        let first = |&process: &ProcessId| (process, self.locals_at(process, store, None));
        let choices: Vec<(ProcessId, Vec<LocalId>)> = processes.iter().map(first).collect();
        let row = self.combination(store, &choices, 0);
        self.sets.machine.test(term, &row, &self.sets.scratch).map_err(|_| faulty())
    }

    fn combination(&self, store: StoreId, choices: &[(ProcessId, Vec<LocalId>)], mut nth: usize) -> Packed<W> {
        let mut row = *self.sets.cells.row(self.sets.stores[store.index()].cells);
        for (process, list) in choices {
            let local = list[nth % list.len()];
            nth /= list.len();
            let own = self.sets.local_rows[process.index()].row(local);
            row.iter_mut().zip(own).for_each(|(word, own)| *word |= own);
        }
        row
    }

    fn locals_at(&self, process: ProcessId, store: StoreId, own: Option<(ProcessId, LocalId)>) -> Vec<LocalId> {
        match own {
            Some((focus, local)) if focus == process => vec![local],
            _ => {
                let mut found = Vec::new();
                for_each_bit(self.sets.at(process, store), |local| found.push(local));
                found
            }
        }
    }

    fn is_able(
        &mut self,
        process: ProcessId,
        labels: Option<&[String]>,
        store: StoreId,
        local: LocalId,
    ) -> Result<bool, StopReason> {
        let cells = self.sets.stores[store.index()].cells;
        let enabled_turns = self.sets.enabled_turns(process, cells, local)?;
        let model = self.sets.locals.model;
        if enabled_turns.is_faulty {
            // A fault is an enabled step without a turn: only `eval` knows which.
            let state = self.sets.plain_state(cells, Some((process, local)));
            return Ok(match labels {
                None => eval::able(model, &state, process),
                Some(labels) => eval::able_by(model, &state, process, labels),
            });
        }
        let counts = |action: ActionId| {
            let action = &model.actions[action];
            !matches!(action.kind, ActionKind::Idle)
                && labels.is_none_or(|labels| action.labels.iter().any(|label| labels.contains(label)))
        };
        let classes = &self.sets.classes;
        Ok(enabled_turns
            .turns
            .iter()
            .any(|turn| classes[turn.class.index()].0.first_action_of(process).is_some_and(counts)))
    }
}

fn faulty() -> StopReason {
    Coarse::NoValueInRuns.into()
}
