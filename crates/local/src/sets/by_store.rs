//! Thread-modular checking with bit sets: the least sets of single processes (Flanagan and Qadeer, SPIN 2003).
//!
//! In: the plan of `compose` for single processes without rendezvous, and the sets to start with. Out: the least sets above them
//! that are closed. The view states of a process are kept by **store** (what others see, too): for each store a bit set of the
//! process's local states. Its steps are taken once; what others see of them, a change of the store, is a *guarantee*, and
//! a guarantee of one process takes all local states of another from store to store at once. Only what is new is expanded.

use base::StopReason;
use compose::backend::{Join, Movers};
use compose::k_index::{ClosureRule, KIndexPlan};
use model::process::ProcessId;
use rustc_hash::FxHashSet;

use super::bits::{BitSets, for_each_bit};
use super::close::SuccessorCollector;
use super::pruning::RowFilter;
use super::renaming::RowRenaming;
use super::{LocalSets, NumberedRows, Rows};
use crate::ids::{LocalId, LocalMark, StoreId, StoreMark};
use crate::interference::{CommonBits, CommonChange};
use packed::packing::Packed;
use packed::words::{and, or, without};

/// The budget is checked after so many stores.
const CHECK_EVERY: u32 = 256;

/// One process while its set grows.
struct GrowingProcess<'c, const W: usize> {
    /// The bits that others see, too, and the other bits.
    store_mask: Packed<W>,
    local_mask: Packed<W>,
    /// The reachable stores and local states, numbered.
    stores: NumberedRows<W, StoreMark>,
    locals: NumberedRows<W, LocalMark>,
    /// By store: the local states there, and those of them that are new.
    sets: BitSets,
    /// Stores with something new.
    open: Vec<StoreId>,
    /// Permutations under which the set is invariant, each with the images of local states, as far as they were computed.
    permutations: Vec<(RowRenaming<W>, Vec<LocalId>)>,
    /// What others see of its steps, by position.
    guarantees: Vec<usize>,
    /// What sums exclude.
    filter: Option<RowFilter<'c, W>>,
}

/// The changes of the store by one process, as another sees them.
struct Guarantee<const W: usize> {
    /// The process, among those whose sets are computed, whose steps these are.
    source: usize,
    /// Where the mover is another process, symmetric to the source: the renaming of the steps.
    renaming: Option<RowRenaming<W>>,
    /// The bits that both see, in the source's place.
    common: Packed<W>,
    known: FxHashSet<(Packed<W>, Packed<W>)>,
    /// Whose stores it changes.
    targets: Vec<GuaranteeTarget>,
}

/// A process whose stores a guarantee changes, and which part of the interference with it that is; both by position.
struct GuaranteeTarget {
    process: usize,
    interference: usize,
}

/// Interference with the stores of a process, of those others that have the same bits in common with it.
struct StoreInterference<const W: usize> {
    common: CommonBits<W, StoreId, ()>,
    /// The changes, by any process: the bits before and after.
    known: FxHashSet<(Packed<W>, Packed<W>)>,
}

/// The sets on their way to the fixpoint.
struct StoreFixpoint<'c, 'a, const W: usize> {
    sets: &'c LocalSets<'a, W>,
    processes: Vec<GrowingProcess<'c, W>>,
    guarantees: Vec<Guarantee<W>>,
    /// By process: interference with its stores.
    interference: Vec<Vec<StoreInterference<W>>>,
    /// Which processes step from which set.
    movers: Vec<Movers>,
    /// Bytes of tables, about; those of sets are counted apart.
    table_bytes: u64,
    /// How many stores were expanded.
    n_expanded: u32,
}

impl<const W: usize> LocalSets<'_, W> {
    /// Closes the sets of single processes under the rules of a plan; `None` where two processes can step together.
    pub(super) fn closed_by_store(
        &self,
        plan: &KIndexPlan<'_>,
        start: Join<'_, std::rc::Rc<Rows<W>>>,
    ) -> Result<Option<Vec<Rows<W>>>, StopReason> {
        let meets = |rule: &ClosureRule| matches!(rule, ClosureRule::Step { movers, .. } if movers.partner.is_some());
        if plan.k != 1 || plan.rules.iter().any(meets) {
            return Ok(None);
        }
        let mut closing = StoreFixpoint {
            sets: self,
            processes: Vec::new(),
            guarantees: Vec::new(),
            interference: Vec::new(),
            movers: Vec::new(),
            table_bytes: 0,
            n_expanded: 0,
        };
        for (group, rows) in start.iter().take(plan.n_representatives) {
            closing.add_process(group[0], rows);
        }
        plan.rules.iter().for_each(|rule| closing.add_rule(plan, rule));
        closing.run()?;
        let mut found = closing.processes.iter().map(|process| closing.rows(process)).collect::<Result<Vec<_>, _>>()?;
        for to in plan.n_representatives..plan.groups.len() {
            found.push(closing.image(plan, to, &found)?);
        }
        Ok(Some(found))
    }
}

impl<const W: usize> StoreFixpoint<'_, '_, W> {
    fn add_process(&mut self, process: ProcessId, start: &Rows<W>) {
        let others: Vec<ProcessId> = self.sets.model().processes.ids().filter(|&other| other != process).collect();
        let mask = self.sets.sight.mask(&[process]);
        let store_mask = and(&mask, &self.sets.sight.mask(&others));
        let mut added = GrowingProcess {
            store_mask,
            local_mask: without(&mask, &store_mask),
            stores: NumberedRows::default(),
            locals: NumberedRows::default(),
            sets: BitSets::default(),
            open: Vec::new(),
            permutations: Vec::new(),
            guarantees: Vec::new(),
            filter: self.sets.filter(&[process]),
        };
        start.iter().for_each(|row| added.add(row));
        self.processes.push(added);
        self.interference.push(Vec::new());
        self.movers.push(Movers { process, partner: None });
    }

    fn add_rule(&mut self, plan: &KIndexPlan<'_>, rule: &ClosureRule) {
        match rule {
            ClosureRule::Image { from, to, permutation } if from == to => {
                let symmetry = plan.symmetry.as_ref().expect("images are made by permutations");
                let mask = self.sets.sight.mask(&plan.groups[*from]);
                let renaming = self.sets.renaming(&mask, symmetry, permutation);
                self.processes[*from].permutations.push((renaming, Vec::new()));
            }
            // Other images are made at the end.
            ClosureRule::Image { .. } => {}
            ClosureRule::Step { group, movers, .. } if plan.groups[*group] == [movers.process] => {}
            ClosureRule::Step { group, movers, .. } => self.add_interference(plan, *group, movers.process),
        }
    }

    fn add_interference(&mut self, plan: &KIndexPlan<'_>, group: usize, mover: ProcessId) {
        let own = self.sets.sight.mask(&[mover]);
        let common = and(&own, &self.sets.sight.mask(&plan.groups[group]));
        let representative = plan.groups[..plan.n_representatives].iter().position(|one| *one == [mover]);
        let (source, renaming, seen) = match representative {
            Some(source) => (source, None, common),
            None => {
                let symmetry = plan.symmetry.as_ref().expect("without permutations every process has its own set");
                let first = symmetry.representative(&[mover]);
                let back = symmetry.permutation(&[mover], &first);
                let there = symmetry.permutation(&first, &[mover]);
                let seen = self.sets.renaming(&own, symmetry, &back).mask(&common);
                let source = plan.groups.iter().position(|one| *one == first).expect("every choice is listed");
                (source, Some(self.sets.renaming(&seen, symmetry, &there)), seen)
            }
        };
        let is_same = |known: &Guarantee<W>| {
            renaming.is_none() && known.renaming.is_none() && known.source == source && known.common == seen
        };
        let guarantee = self.guarantees.iter().position(is_same).unwrap_or_else(|| {
            let (known, targets) = (FxHashSet::default(), Vec::new());
            self.guarantees.push(Guarantee { source, renaming, common: seen, known, targets });
            self.processes[source].guarantees.push(self.guarantees.len() - 1);
            self.guarantees.len() - 1
        });
        let known = self.interference[group].iter().position(|known| *known.common.mask() == common);
        let interference = known.unwrap_or_else(|| {
            let added = StoreInterference { common: CommonBits::new(common), known: FxHashSet::default() };
            self.interference[group].push(added);
            self.interference[group].len() - 1
        });
        self.guarantees[guarantee].targets.push(GuaranteeTarget { process: group, interference });
    }

    /// Takes one store with something new after the other.
    fn run(&mut self) -> Result<(), StopReason> {
        loop {
            let mut idle = true;
            for at in 0..self.processes.len() {
                while let Some(store) = self.processes[at].open.pop() {
                    idle = false;
                    self.expand(at, store)?;
                }
            }
            if idle {
                return Ok(());
            }
        }
    }

    fn expand(&mut self, at: usize, store: StoreId) -> Result<(), StopReason> {
        let (new, is_first) = self.processes[at].sets.take_new(store);
        let here = *self.processes[at].stores.row(store);
        if is_first {
            for interference in &mut self.interference[at] {
                interference.common.add_row(&here, store);
                self.table_bytes += (size_of::<Packed<W>>() + 64) as u64;
            }
        }
        self.take_steps(at, &here, &new)?;
        for StoreInterference { common, .. } in &self.interference[at] {
            for change in common.changes(&here) {
                self.processes[at].add_all(common.changed(&here, &change.after), &new);
            }
        }
        self.processes[at].permutation(&here, &new);
        self.n_expanded += 1;
        if self.n_expanded.is_multiple_of(CHECK_EVERY) { self.sets.meter.check(self.bytes()) } else { Ok(()) }
    }

    /// The steps from new local states: the process's own successors, and what others see of them.
    fn take_steps(&mut self, at: usize, here: &Packed<W>, new: &[u64]) -> Result<(), StopReason> {
        let mut found = Vec::new();
        let mut fresh = Vec::new();
        let mut stopped = Ok(());
        for_each_bit(new, |local| {
            if stopped.is_err() {
                return;
            }
            let from = or(here, self.processes[at].locals.row(local));
            found.clear();
            let mut next =
                SuccessorCollector { mask: [u64::MAX; W], found: &mut found, meter: &self.sets.meter, stopped: None };
            self.sets.steps(self.movers[at], &from, &mut next);
            stopped = next.stopped.map_or(Ok(()), Err);
            for after in &found {
                self.processes[at].add(after);
                for &number in &self.processes[at].guarantees {
                    let change = self.guarantees[number].add(&from, after);
                    fresh.extend(change.map(|change| (number, change)));
                }
            }
        });
        stopped?;
        for (guarantee, (before, after)) in fresh {
            self.table_bytes += (2 * size_of::<Packed<W>>() + 16) as u64;
            self.spread(guarantee, &before, &after);
        }
        Ok(())
    }

    /// A new change of the store takes all local states that are there with it.
    fn spread(&mut self, guarantee: usize, before: &Packed<W>, after: &Packed<W>) {
        for target in &self.guarantees[guarantee].targets {
            let StoreInterference { common, known } = &mut self.interference[target.process][target.interference];
            if !known.insert((*before, *after)) {
                continue;
            }
            self.table_bytes += (4 * size_of::<Packed<W>>() + 64) as u64;
            common.add_change(*before, CommonChange { after: *after, label: () });
            let process = &mut self.processes[target.process];
            for &store in common.rows(before) {
                let target = common.changed(process.stores.row(store), after);
                let set = process.sets.get(store).to_vec();
                process.add_all(target, &set);
            }
        }
    }

    fn bytes(&self) -> u64 {
        let sets = self.processes.iter().map(|one| one.sets.bytes() + one.stores.bytes() + one.locals.bytes());
        self.table_bytes + sets.sum::<u64>()
    }

    /// The view states of a process, one by one.
    fn rows(&self, process: &GrowingProcess<'_, W>) -> Result<Rows<W>, StopReason> {
        let mut rows = Rows::default();
        for (store, here) in process.stores.entries() {
            for_each_bit(process.sets.get(store), |local| {
                rows.insert(or(here, process.locals.row(local)));
            });
            self.sets.meter.tick(self.bytes() + rows.bytes())?;
        }
        Ok(rows)
    }

    /// The set of a process that another one represents.
    fn image(&self, plan: &KIndexPlan<'_>, to: usize, found: &[Rows<W>]) -> Result<Rows<W>, StopReason> {
        let symmetry = plan.symmetry.as_ref().expect("images are made by permutations");
        let first = symmetry.representative(&plan.groups[to]);
        let from = plan.groups.iter().position(|group| *group == first).expect("every choice is listed");
        let permutation = symmetry.permutation(&first, &plan.groups[to]);
        let renaming = self.sets.renaming(&self.sets.sight.mask(&first), symmetry, &permutation);
        let mut rows = Rows::default();
        for row in found[from].iter() {
            rows.insert(renaming.apply(row));
            self.sets.meter.tick(self.bytes() + rows.bytes())?;
        }
        Ok(rows)
    }
}

impl<const W: usize> Guarantee<W> {
    /// Adds a step; the change that others see, if it is a new one.
    fn add(&mut self, from: &Packed<W>, after: &Packed<W>) -> Option<(Packed<W>, Packed<W>)> {
        let (before, after) = (and(from, &self.common), and(after, &self.common));
        if before == after || !self.known.insert((before, after)) {
            return None;
        }
        let renamed = |value: Packed<W>| self.renaming.as_ref().map_or(value, |renaming| renaming.apply(&value));
        Some((renamed(before), renamed(after)))
    }
}

impl<const W: usize> GrowingProcess<'_, W> {
    /// Adds a view state, given by a state of which only the process's view counts.
    fn add(&mut self, state: &Packed<W>) {
        if self.filter.as_ref().is_some_and(|filter| filter.excludes(state)) {
            return;
        }
        let (store, _) = self.stores.number(and(state, &self.store_mask));
        let (local, _) = self.locals.number(and(state, &self.local_mask));
        if self.sets.insert(store, local) {
            self.open.push(store);
        }
    }

    /// Adds local states at a store.
    fn add_all(&mut self, store: Packed<W>, locals: &[u64]) {
        let Some(filter) = &self.filter else { return self.add_every(store, locals) };
        let mut kept = locals.to_vec();
        for_each_bit(locals, |local| {
            if filter.excludes(&or(&store, self.locals.row(local))) {
                let at = local.index();
                kept[at / 64] &= !(1 << (at % 64));
            }
        });
        if kept.iter().any(|&word| word != 0) {
            self.add_every(store, &kept);
        }
    }

    fn add_every(&mut self, store: Packed<W>, locals: &[u64]) {
        let (store, _) = self.stores.number(store);
        if self.sets.insert_all(store, locals) {
            self.open.push(store);
        }
    }

    /// Adds the images of new local states at a store under the permutations.
    fn permutation(&mut self, here: &Packed<W>, new: &[u64]) {
        let mut permutations = std::mem::take(&mut self.permutations);
        for (renaming, renamed) in &mut permutations {
            for local in (renamed.len()..self.locals.len()).map(LocalId::new) {
                let image = and(&renaming.apply(self.locals.row(local)), &self.local_mask);
                renamed.push(self.locals.number(image).0);
            }
            let mut image = vec![0; new.len()];
            for_each_bit(new, |local| {
                let local = renamed[local.index()].index();
                if image.len() <= local / 64 {
                    image.resize(local / 64 + 1, 0);
                }
                image[local / 64] |= 1 << (local % 64);
            });
            let store = and(&renaming.apply(here), &self.store_mask);
            self.add_all(store, &image);
        }
        self.permutations = permutations;
    }
}
