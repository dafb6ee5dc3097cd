//! The abstract process of a focus, explicit.
//!
//! In: local states by store. Out: its nodes (a store and a local state of the focus there) with the focus's own turns, and for each store
//! the turns of all processes as changes of the store, each with the assumptions that it satisfies and whether it is a *must* transition: allowed by every
//! local state of its mover. A rendezvous of the focus is a turn of its own, and a must transition if every local state of the partner allows it;
//! those of two others, and stutters of others that a rendezvous could prevent, are kept by node. What predicates may hold in a node is computed here, too.

use base::{Coarse, Feature, StopReason};
use compose::fair::backend::Transitions;
use compose::fair::may::May;
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::rendezvous::StutterChoice;
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
    /// The process that has the turn; of a rendezvous, the sender.
    pub mover: ProcessId,
    /// The receiver of a rendezvous.
    pub partner: Option<ProcessId>,
    /// The assumptions that it satisfies, as a number in `kinds`.
    pub kind: KindId,
    /// The store afterwards.
    pub target: StoreId,
    /// Whether every local state of the mover, and of the partner, allows it.
    pub is_must: bool,
}

/// The turns of all processes by themselves, by store, ordered by mover.
#[derive(Default)]
pub struct StoreTurns {
    starts: Vec<usize>,
    list: Vec<StoreTurn>,
}

impl StoreTurns {
    /// Those of a round of local states, each marked if it is a must transition.
    pub fn new<const W: usize>(sets: &mut FairSets<'_, W>) -> Result<Self, StopReason> {
        let mut turns = StoreTurns { starts: vec![0], list: Vec::new() };
        for store in (0..sets.stores.len()).map(StoreId::new) {
            let here = sets.stores[store.index()];
            for process in sets.locals.model.processes.ids() {
                let mut found = Counted::<(KindId, StoreId)>::default();
                let mut locals = Vec::new();
                for_each_bit(sets.at(process, store), |local| locals.push(local));
                for (nth, &local) in (1..).zip(&locals) {
                    for &turn in sets.enabled_turns(process, here.cells, local)?.turns.iter() {
                        let kind = sets.classes[turn.class.index()].1;
                        let target = sets.target(process, here, turn);
                        found.add((kind, target), nth);
                    }
                }
                turns.list.extend(found.with_must(locals.len()).map(|((kind, target), is_must)| StoreTurn {
                    mover: process,
                    partner: None,
                    kind,
                    target,
                    is_must,
                }));
            }
            turns.starts.push(turns.list.len());
            if store.index() % 1024 == 0 {
                sets.hold((turns.list.capacity() * size_of::<StoreTurn>()) as u64)?;
            }
        }
        Ok(turns)
    }

    /// None at all, for sets with so many stores.
    pub fn none(n_stores: usize) -> StoreTurns {
        StoreTurns { starts: vec![0; n_stores + 1], list: Vec::new() }
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
    /// Whether every local state of the partner allows it, or of a stutter those of all partners.
    pub is_must: bool,
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
    /// Where the turns of others begin that are kept by node; empty where no program has any.
    other_starts: Vec<usize>,
    others: Vec<StoreTurn>,
}

impl FocusNodes {
    /// Those of a process, with such turns. Where sums exclude some local states the turns of others are kept by node, too, and given.
    pub fn new<const W: usize>(
        sets: &mut FairSets<'_, W>,
        focus: ProcessId,
        (wanted, by_store): (Transitions, Option<&StoreTurns>),
    ) -> Result<Self, StopReason> {
        let mut nodes = FocusNodes {
            focus,
            list: Vec::new(),
            firsts: Vec::new(),
            initial: Vec::new(),
            starts: vec![0],
            turns: Vec::new(),
            other_starts: vec![0],
            others: Vec::new(),
        };
        let has_rendezvous = !sets.locals.model.channels.is_empty();
        let mut joint: Option<(StoreId, Vec<StoreTurn>)> = None;
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
                // Sums may say that no run takes it.
                if sets.has(focus, target, turn.local) {
                    let target = nodes.node(sets, target, turn.local);
                    nodes.turns.push(OwnTurn { class: turn.class, target, is_must: true });
                }
            }
            if has_rendezvous {
                nodes.add_own_rendezvous(sets, (store, local))?;
                if joint.as_ref().is_none_or(|(known, _)| *known != store) {
                    joint = Some((store, joint_turns_at(sets, store, focus)?));
                }
                nodes.others.extend(joint.iter().flat_map(|(_, turns)| turns));
                nodes.add_stutters(sets, (store, local))?;
            }
            if let Some(by_store) = by_store {
                nodes.others.extend(by_store.at(store).iter().filter(|turn| turn.mover != focus));
            }
            if has_rendezvous || by_store.is_some() {
                nodes.drop_impossible(sets, local);
                nodes.other_starts.push(nodes.others.len());
            }
            if wanted == Transitions::Must {
                nodes.keep_must();
            }
            nodes.starts.push(nodes.turns.len());
            if nodes.other_starts.len() > 1 && at % 1024 == 0 {
                let bytes = nodes.turns.capacity() * size_of::<OwnTurn>();
                sets.hold((bytes + nodes.others.capacity() * size_of::<StoreTurn>()) as u64)?;
            }
        }
        Ok(nodes)
    }

    /// Of the turns of others in the last node those after which the focus can be in this local state.
    fn drop_impossible<const W: usize>(&mut self, sets: &FairSets<'_, W>, local: LocalId) {
        let first = *self.other_starts.last().expect("there is always a start");
        let others = self.others.split_off(first);
        self.others.extend(others.into_iter().filter(|turn| sets.has(self.focus, turn.target, local)));
    }

    /// Of the turns of the last node only the must transitions.
    fn keep_must(&mut self) {
        let first = *self.starts.last().expect("there is always a start");
        let own = self.turns.split_off(first);
        self.turns.extend(own.into_iter().filter(|turn| turn.is_must));
        if self.other_starts.len() > 1 {
            let first = self.other_starts[self.other_starts.len() - 2];
            let others = self.others.split_off(first);
            self.others.extend(others.into_iter().filter(|turn| turn.is_must));
            *self.other_starts.last_mut().expect("there is always a start") = self.others.len();
        }
    }

    /// The rendezvous of the focus in a node, with each local state of a partner, and its stutter.
    fn add_own_rendezvous<const W: usize>(
        &mut self,
        sets: &mut FairSets<'_, W>,
        (store, local): (StoreId, LocalId),
    ) -> Result<(), StopReason> {
        let (focus, cells) = (self.focus, sets.stores[store.index()].cells);
        for partner in sets.rendezvous.partners(focus).to_vec() {
            let mut found = Counted::default();
            let locals = sets.listed_at(partner, store, None);
            for (nth, &theirs) in (1..).zip(&locals) {
                for turns in sets.together((focus, local), (partner, theirs), cells)? {
                    for &turn in turns.turns.iter() {
                        let own = if turn.sender.0 == focus { turn.sender.1 } else { turn.receiver.1 };
                        let target = sets.joint_target(store, turn);
                        if sets.has(focus, target, own) {
                            found.add((turn.class, self.node(sets, target, own)), nth);
                        }
                    }
                }
            }
            self.turns.extend(found.with_must(locals.len()).map(|((class, target), is_must)| OwnTurn {
                class,
                target,
                is_must,
            }));
        }
        if let Some(class) = sets.enabled_turns(focus, cells, local)?.stutter {
            let choice = sets.stutters((focus, local), store, None)?;
            if choice.may {
                let target = self.node(sets, store, local);
                self.turns.push(OwnTurn { class, target, is_must: choice.must });
            }
        }
        Ok(())
    }

    /// The stutters of others in a node that a rendezvous could prevent.
    fn add_stutters<const W: usize>(
        &mut self,
        sets: &mut FairSets<'_, W>,
        (store, local): (StoreId, LocalId),
    ) -> Result<(), StopReason> {
        let cells = sets.stores[store.index()].cells;
        let fixed = Some((self.focus, local));
        for mover in sets.locals.model.processes.ids().filter(|&mover| mover != self.focus) {
            let (mut stutter, mut is_must) = (None, true);
            for theirs in sets.listed_at(mover, store, None) {
                let class = sets.enabled_turns(mover, cells, theirs)?.stutter;
                let choice = match class {
                    Some(_) => sets.stutters((mover, theirs), store, fixed)?,
                    None => StutterChoice { may: false, must: false },
                };
                stutter = stutter.or(class.filter(|_| choice.may));
                is_must &= choice.must;
            }
            self.others.extend(stutter.map(|class| StoreTurn {
                mover,
                partner: None,
                kind: sets.classes[class.index()].1,
                target: store,
                is_must,
            }));
        }
        Ok(())
    }

    /// The turns of others that are kept by node.
    pub fn others(&self, node: NodeId) -> &[StoreTurn] {
        match self.other_starts.get(node.index() + 1) {
            Some(&end) => &self.others[self.other_starts[node.index()]..end],
            None => &[],
        }
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

/// The rendezvous at a store of two processes other than the focus.
fn joint_turns_at<const W: usize>(
    sets: &mut FairSets<'_, W>,
    store: StoreId,
    focus: ProcessId,
) -> Result<Vec<StoreTurn>, StopReason> {
    let (mut all, cells) = (Vec::new(), sets.stores[store.index()].cells);
    for one in sets.locals.model.processes.ids().filter(|&one| one != focus) {
        let partners: Vec<ProcessId> = sets.rendezvous.partners(one).to_vec();
        for other in partners.into_iter().filter(|&other| other > one && other != focus) {
            let mut found = Counted::default();
            let [ours, theirs] = [one, other].map(|process| sets.listed_at(process, store, None));
            let pairs = ours.iter().flat_map(|&ours| theirs.iter().map(move |&theirs| (ours, theirs)));
            for (nth, (ours, theirs)) in (1..).zip(pairs) {
                for turns in sets.together((one, ours), (other, theirs), cells)? {
                    for &turn in turns.turns.iter() {
                        let kind = sets.classes[turn.class.index()].1;
                        let target = sets.joint_target(store, turn);
                        found.add(((turn.sender.0, turn.receiver.0), kind, target), nth);
                    }
                }
            }
            let joint = found.with_must(ours.len() * theirs.len());
            all.extend(joint.map(|(((mover, partner), kind, target), is_must)| StoreTurn {
                mover,
                partner: Some(partner),
                kind,
                target,
                is_must,
            }));
        }
    }
    Ok(all)
}

/// How many choices of local states allow each turn.
struct Counted<K> {
    counts: FxHashMap<K, (usize, usize)>,
    order: Vec<K>,
}

impl<K> Default for Counted<K> {
    fn default() -> Self {
        Counted { counts: FxHashMap::default(), order: Vec::new() }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Counted<K> {
    /// The nth choice allows a turn; choices come one after another.
    fn add(&mut self, key: K, nth: usize) {
        let (count, last) = self.counts.entry(key).or_insert_with(|| {
            self.order.push(key);
            (0, 0)
        });
        if *last != nth {
            (*count, *last) = (*count + 1, nth);
        }
    }

    /// The turns, each with whether all of so many choices allow it.
    fn with_must(self, n_choices: usize) -> impl Iterator<Item = (K, bool)> {
        self.order.into_iter().map(move |key| (key, self.counts[&key].0 == n_choices))
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
                for local in self.sets.listed_at(*process, store, own) {
                    if self.sets.may_be_unable((*process, local), labels.as_deref(), (store, own))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            May::NobodyAble(_) => self.sets.may_all_be_unable(store, own),
            May::Truth { expr, wanted, processes, number } => {
                let term = self.terms[*number];
                let choices: Vec<(ProcessId, Vec<LocalId>)> =
                    processes.iter().map(|&process| (process, self.sets.listed_at(process, store, own))).collect();
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
        let first = |&process: &ProcessId| (process, self.sets.listed_at(process, store, None));
        let choices: Vec<(ProcessId, Vec<LocalId>)> = processes.iter().map(first).collect();
        // Sums exclude all that a process could be in: no run gets there.
        if choices.iter().any(|(_, list)| list.is_empty()) {
            return Ok(false);
        }
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
}

fn faulty() -> StopReason {
    Coarse::NoValueInRuns.into()
}
