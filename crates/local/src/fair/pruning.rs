//! Local states at stores that checked sums exclude.
//!
//! In: sums of `compose::sums`; a store with the blocks of all processes, and a local state of one of them. Out: whether no reachable state has both.
//! The cells of the store are known, and so is the local state; what another process weighs lies between the least and the most of the
//! local states that may be in its block. All but the local state is found once for each store.

use std::sync::Arc;

use compose::fair::locals::Locals;
use compose::sums::{Bounds, Sums, WeighedProcess};
use evidence::certificate::LocalFact;
use model::control::PlaceId;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role, Storage};
use rustc_hash::FxHashMap;

use super::sets::FairSets;
use crate::ids::{BlockId, LocalId, StoreId};

/// The sums that are in use, and what is known of them.
pub(super) struct Pruning {
    sums: Arc<Sums>,
    /// By store and sum: what the left side has more than all processes, each as far as its block is known; nothing where a value is not listed.
    stores: Vec<Option<Vec<Option<Bounds>>>>,
    /// By sum, position of the process in it, and block: what the process weighs.
    blocks: FxHashMap<(usize, usize, BlockId), Bounds>,
}

impl Pruning {
    /// By these sums.
    pub fn new(sums: Arc<Sums>) -> Self {
        Pruning { sums, stores: Vec::new(), blocks: FxHashMap::default() }
    }

    /// What is exposed has changed, and stores have other numbers.
    pub fn forget(&mut self) {
        self.stores.clear();
        self.blocks.clear();
    }
}

impl<const W: usize> FairSets<'_, W> {
    /// Whether no reachable state has a process in this local state at this store.
    pub(super) fn excludes(&mut self, process: ProcessId, store: StoreId, local: LocalId) -> bool {
        let Some(mut pruning) = self.pruning.take() else { return false };
        let excluded = self.is_excluded(&mut pruning, process, (store, local));
        self.pruning = Some(pruning);
        excluded
    }

    fn is_excluded(&mut self, pruning: &mut Pruning, process: ProcessId, (store, local): (StoreId, LocalId)) -> bool {
        let sums = Arc::clone(&pruning.sums);
        let differences = self.differences(pruning, store).clone();
        let key = self.stores[store.index()];
        for (sum, difference) in differences.iter().enumerate() {
            let Some(mut difference) = *difference else { continue };
            let weighed = sums.processes(sum).iter().enumerate().find(|(_, one)| one.process == process);
            if let Some((at, one)) = weighed
                && !self.has_counters(one)
            {
                let point = self.plain_local(process, local).point;
                let place = self.locals.points(process)[point].place;
                let state = self.plain_state(key.cells, Some((process, local)));
                let values: Vec<Value> = one.cells.iter().map(|cell| state.cells[cell.index()]).collect();
                let Some(weight) = one.weight(place, &values) else { continue };
                let block = self.vectors[key.blocks.index()][process.index()];
                // What its block says is replaced by what it weighs.
                let known = self.block_bounds(pruning, (sum, at, one), block);
                difference = Bounds {
                    least: difference.least + known.most - weight,
                    most: difference.most + known.least - weight,
                };
            }
            if difference.least > 0 || difference.most < 0 {
                return true;
            }
        }
        false
    }

    /// Whether what a process weighs depends on its loop counters, which are part of control.
    fn has_counters(&self, one: &WeighedProcess) -> bool {
        let model = self.locals.model;
        one.cells.iter().any(|&cell| matches!(model.vars[model.cells[cell].var].role, Role::Counter(_)))
    }

    fn differences<'p>(&mut self, pruning: &'p mut Pruning, store: StoreId) -> &'p Vec<Option<Bounds>> {
        let at = store.index();
        if pruning.stores.len() <= at {
            pruning.stores.resize(at + 1, None);
        }
        if pruning.stores[at].is_none() {
            let sums = Arc::clone(&pruning.sums);
            let key = self.stores[at];
            let state = self.plain_state(key.cells, None);
            let model = self.locals.model;
            let is_seen = |cell: CellId| {
                let var = &model.vars[model.cells[cell].var];
                !matches!(var.storage, Storage::Local(_)) && !matches!(var.role, Role::Counter(_))
            };
            let vector = self.vectors[key.blocks.index()].clone();
            let mut found = Vec::new();
            for sum in 0..sums.n_sums() {
                let mut difference = sums.left(sum, is_seen, |cell| state.cells[cell.index()]);
                for (nth, one) in sums.processes(sum).iter().enumerate() {
                    let weighs = self.block_bounds(pruning, (sum, nth, one), vector[one.process.index()]);
                    difference = difference.map(|left| left.minus(weighs));
                }
                found.push(difference);
            }
            pruning.stores[at] = Some(found);
        }
        pruning.stores[at].as_ref().expect("it was made just now")
    }

    /// What a process weighs in a block.
    fn block_bounds(
        &self,
        pruning: &mut Pruning,
        (sum, nth, one): (usize, usize, &WeighedProcess),
        block: BlockId,
    ) -> Bounds {
        if let Some(&known) = pruning.blocks.get(&(sum, nth, block)) {
            return known;
        }
        let exposed = &self.exposed[one.process.index()];
        let truths = exposed.blocks.get(block.index());
        let may_be = |place: PlaceId, values: &[Value]| {
            let local = Partly { locals: self.locals, of: one, place, values };
            let facts = exposed.facts.iter().zip(truths.into_iter().flatten());
            facts.into_iter().all(|(fact, &holds)| local.judged(fact) != Some(!holds))
        };
        // A block of which no table knows anything says nothing.
        let bounds = one.bounds_where(may_be).unwrap_or_else(Bounds::unknown);
        pruning.blocks.insert((sum, nth, block), bounds);
        bounds
    }
}

/// A local state of which the place and some cells are known.
struct Partly<'p> {
    locals: &'p Locals<'p>,
    of: &'p WeighedProcess,
    place: PlaceId,
    values: &'p [Value],
}

impl Partly<'_> {
    /// Whether a fact holds; nothing where that depends on what is not known.
    fn judged(&self, fact: &LocalFact) -> Option<bool> {
        match fact {
            LocalFact::Control(points) => {
                let all = self.locals.points(self.of.process).iter().enumerate();
                let mut here = all.filter(|(_, point)| point.place == self.place).map(|(at, _)| points.contains(&at));
                let first = here.next()?;
                here.all(|holds| holds == first).then_some(first)
            }
            LocalFact::Cell(cell, value) => {
                let at = self.of.cells.iter().position(|one| one == cell)?;
                Some(self.values[at] == *value)
            }
            LocalFact::OneOf(lists) => any(lists.iter().map(|facts| {
                let failing = any(facts.iter().map(|fact| self.judged(fact).map(|holds| !holds)));
                failing.map(|fails| !fails)
            })),
        }
    }
}

/// Whether one of these is so; nothing where none is, as far as is known.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part {
            Some(true) => return Some(true),
            Some(false) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(false)
}
