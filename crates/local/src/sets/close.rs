//! The least sets closed under the rules, by frontiers: every combination is considered once.
//!
//! In: the plan of `compose` and the sets to start with. Out: the least sets above them that are closed. A rule by which movers
//! interfere with a group needs view states of the group and of the movers' own group that agree. The steps of the movers' group
//! become **seeds**: what the step asks of the others before it, and what the group sees after it, each pair once,
//! however many local states lead to it (the guarantee of Flanagan and Qadeer). A new view state is joined with the seeds that are there,
//! a new seed with the view states that are there. For groups of several processes the combination must also be in the sets of
//! the groups across; where it is not yet, it waits until it is.

mod seeds;

use base::StopReason;
use compose::backend::{Join, Movers};
use compose::k_index::{ClosureRule, KIndexPlan};
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::pruning::RowFilter;
use super::renaming::RowRenaming;
use super::rows::Rows;
use super::{LocalSets, Ticker};
use packed::machine::{Flow, Sink};
use packed::packing::Packed;
use packed::words::{and, or, without};
use seeds::{RowIndex, Seeds, SeedsKey};

/// The budget is checked after so many groups or rules were made.
const MADE: usize = 64;

/// A group while its set grows.
struct GrowingGroup<'c, const W: usize> {
    /// The bits that it sees.
    mask: Packed<W>,
    /// Its view states so far; only added to.
    rows: Rows<W>,
    /// Its view states by some of their bits.
    indexes: Vec<RowIndex<W>>,
    /// What waits for a view state to be reached: the rule, the view state of the group and the seed.
    waiting: FxHashMap<Packed<W>, Vec<(u32, u32, u32)>>,
    /// How many view states have woken what waited for them.
    n_woken: usize,
    /// What sums exclude.
    filter: Option<RowFilter<'c, W>>,
}

/// A rule, and how far it is applied.
enum Active<const W: usize> {
    /// Movers within the group.
    Own { group: usize, movers: Movers, n_done: usize },
    /// Movers that interfere with the group.
    Interference(GroupInterference<W>),
    /// The group's set is part of another's, renamed.
    Image { from: usize, to: usize, renaming: RowRenaming<W>, n_done: usize },
}

/// Movers that interfere with a group.
struct GroupInterference<const W: usize> {
    group: usize,
    /// The seeds, by their position.
    seeds: usize,
    /// Which index of the group has its view states by what they share with the seeds.
    index: usize,
    /// The groups across, in whose sets combinations must be, too.
    across: Vec<usize>,
    /// The bits of the group that the steps may change.
    changed: Packed<W>,
    n_rows_done: usize,
    n_seeds_done: usize,
}

/// The sets on their way to the fixpoint.
struct GroupFixpoint<'c, 'a, const W: usize> {
    sets: &'c LocalSets<'a, W>,
    groups: Vec<GrowingGroup<'c, W>>,
    /// The seeds; those that are being joined are taken out meanwhile.
    seeds: Vec<Option<Seeds<W>>>,
    active: Vec<Active<W>>,
    /// What view states and seeds take, about.
    bytes: u64,
    /// What groups and rules take, about, before there is anything in them.
    made_bytes: u64,
}

impl<const W: usize> LocalSets<'_, W> {
    /// Closes sets under the rules of a plan.
    pub(super) fn closed(
        &self,
        plan: &KIndexPlan<'_>,
        start: Join<'_, std::rc::Rc<Rows<W>>>,
    ) -> Result<Vec<Rows<W>>, StopReason> {
        let group = |(group, rows): &(&[ProcessId], &std::rc::Rc<Rows<W>>)| GrowingGroup {
            mask: self.sight.mask(group),
            rows: (***rows).clone(),
            indexes: Vec::new(),
            waiting: FxHashMap::default(),
            n_woken: 0,
            filter: self.filter(group),
        };
        let mut closing = GroupFixpoint {
            sets: self,
            groups: Vec::new(),
            seeds: Vec::new(),
            active: Vec::new(),
            bytes: 0,
            made_bytes: 0,
        };
        for (nth, one) in start.iter().enumerate() {
            closing.made_bytes += one.1.bytes() + size_of::<GrowingGroup<W>>() as u64;
            closing.groups.push(group(one));
            closing.look(nth)?;
        }
        let mut known = FxHashMap::default();
        for (nth, rule) in plan.rules.iter().enumerate() {
            closing.activate(plan, rule, &mut known);
            closing.look(nth)?;
        }
        drop(known);
        closing.run()?;
        Ok(closing.groups.into_iter().map(|group| group.rows).collect())
    }
}

impl<const W: usize> GroupFixpoint<'_, '_, W> {
    /// Checks the budget now and then while groups and rules are made, which are no sets that could be too large to be explicit.
    fn look(&self, nth: usize) -> Result<(), StopReason> {
        if nth.is_multiple_of(MADE) { self.sets.meter.budget.check(self.made_bytes) } else { Ok(()) }
    }

    /// Makes a rule ready; the seeds known so far are found by their key.
    fn activate(&mut self, plan: &KIndexPlan<'_>, rule: &ClosureRule, known: &mut FxHashMap<SeedsKey<W>, usize>) {
        self.made_bytes += size_of::<Active<W>>() as u64;
        let active = match rule {
            ClosureRule::Image { from, to, permutation } => {
                let symmetry = plan.symmetry.as_ref().expect("images are made by permutations");
                let renaming = self.sets.renaming(&self.groups[*from].mask, symmetry, permutation);
                Active::Image { from: *from, to: *to, renaming, n_done: 0 }
            }
            ClosureRule::Step { group, movers, .. }
                if movers.processes().all(|process| plan.groups[*group].contains(&process)) =>
            {
                Active::Own { group: *group, movers: *movers, n_done: 0 }
            }
            ClosureRule::Step { group, movers, witnesses } => {
                let (key, across) = self.seen_by(plan, *group, (*movers, witnesses));
                self.interference(*group, across, key, known)
            }
        };
        self.active.push(active);
    }

    /// What a group sees of the steps of movers, and the groups across.
    fn seen_by(
        &self,
        plan: &KIndexPlan<'_>,
        group: usize,
        (movers, witnesses): (Movers, &[usize]),
    ) -> (SeedsKey<W>, Vec<usize>) {
        // The movers' own group has as many of the group's processes as there is room for: the two cover all.
        let has = |witness: usize, process: ProcessId| plan.groups[witness].contains(&process);
        let sources: Vec<usize> = match witnesses.iter().find(|&&w| movers.processes().all(|process| has(w, process))) {
            Some(&both) => vec![both],
            None => movers.processes().filter_map(|one| witnesses.iter().copied().find(|&w| has(w, one))).collect(),
        };
        let across: Vec<usize> =
            { witnesses.iter().copied() }.filter(|w| *w != group && !sources.contains(w)).collect();
        let mask_of = |list: &[usize]| list.iter().fold([0; W], |mask, &at| or(&mask, &self.groups[at].mask));
        let target = self.groups[group].mask;
        let own = mask_of(&sources);
        let before = and(&own, &or(&target, &mask_of(&across)));
        let moving: Vec<ProcessId> = movers.processes().collect();
        let changed = and(&self.sets.sight.mask(&moving), &target);
        (SeedsKey { movers, sources, masks: [before, changed, and(&before, &target)] }, across)
    }

    fn interference(
        &mut self,
        group: usize,
        across: Vec<usize>,
        key: SeedsKey<W>,
        known: &mut FxHashMap<SeedsKey<W>, usize>,
    ) -> Active<W> {
        let [_, changed, common] = key.masks;
        let seeds = *known.entry(key).or_insert_with_key(|key| {
            self.seeds.push(Some(Seeds::new(key.clone())));
            self.made_bytes += (2 * size_of::<SeedsKey<W>>() + size_of::<Seeds<W>>()) as u64;
            self.seeds.len() - 1
        });
        self.made_bytes += (across.len() * size_of::<usize>()) as u64;
        let n_indexes = self.groups[group].indexes.len();
        let index = self.groups[group].index(common);
        self.made_bytes += ((self.groups[group].indexes.len() - n_indexes) * size_of::<RowIndex<W>>()) as u64;
        Active::Interference(GroupInterference {
            group,
            seeds,
            index,
            across,
            changed,
            n_rows_done: 0,
            n_seeds_done: 0,
        })
    }

    /// Applies rules until nothing is new.
    fn run(&mut self) -> Result<(), StopReason> {
        let mut active = std::mem::take(&mut self.active);
        loop {
            let before: usize = self.groups.iter().map(|group| group.rows.len()).sum();
            for (at, rule) in active.iter_mut().enumerate() {
                match rule {
                    Active::Own { group, movers, n_done } => self.own_steps(*group, *movers, n_done)?,
                    Active::Image { from, to, renaming, n_done } => self.image((*from, *to), renaming, n_done)?,
                    Active::Interference(interference) => self.meet(at as u32, interference)?,
                }
                self.sets.meter.tick(self.bytes)?;
            }
            self.wake(&active)?;
            self.sets.meter.check(self.bytes)?;
            let after: usize = self.groups.iter().map(|group| group.rows.len()).sum();
            if after == before {
                return Ok(());
            }
        }
    }

    fn insert(&mut self, group: usize, rows: &[Packed<W>]) {
        let group = &mut self.groups[group];
        let before = group.rows.bytes();
        match &group.filter {
            None => group.rows.extend(rows),
            Some(filter) => group.rows.extend(rows.iter().filter(|row| !filter.excludes(row))),
        }
        self.bytes += group.rows.bytes() - before;
    }

    /// Steps of movers within the group.
    fn own_steps(&mut self, group: usize, movers: Movers, n_done: &mut usize) -> Result<(), StopReason> {
        let mut found = Vec::new();
        while *n_done < self.groups[group].rows.len() {
            let GrowingGroup { mask, rows, .. } = &self.groups[group];
            let from = *rows.row(*n_done as u32);
            let mut next =
                SuccessorCollector { mask: *mask, found: &mut found, meter: &self.sets.meter, stopped: None };
            self.sets.steps(movers, &from, &mut next);
            next.stopped.map_or(Ok(()), Err)?;
            self.insert(group, &found);
            found.clear();
            *n_done += 1;
            self.sets.meter.tick(self.bytes)?;
        }
        Ok(())
    }

    fn image(
        &mut self,
        (from, to): (usize, usize),
        renaming: &RowRenaming<W>,
        n_done: &mut usize,
    ) -> Result<(), StopReason> {
        while *n_done < self.groups[from].rows.len() {
            let image = renaming.apply(self.groups[from].rows.row(*n_done as u32));
            self.insert(to, &[image]);
            *n_done += 1;
            self.sets.meter.tick(self.bytes)?;
        }
        Ok(())
    }

    /// Joins new view states of the group with all seeds, new seeds with the older view states.
    fn meet(&mut self, rule: u32, interference: &mut GroupInterference<W>) -> Result<(), StopReason> {
        let mut seeds = self.seeds[interference.seeds].take().expect("they are put back");
        self.bytes += seeds.grow(self.sets, &self.groups)?;
        self.bytes += self.groups[interference.group].update(interference.index);
        let mut found = Vec::new();
        let (n_rows, n_seeds) = (self.groups[interference.group].rows.len(), seeds.len());
        for row in interference.n_rows_done..n_rows {
            for &seed in seeds.meeting(self.groups[interference.group].rows.row(row as u32)) {
                found.extend(self.attempt((rule, interference), (row as u32, seed), &seeds)?);
            }
        }
        for seed in interference.n_seeds_done..n_seeds {
            let before = *seeds.before(seed as u32);
            for at in 0.. {
                let group = &self.groups[interference.group];
                let Some(&row) = group.indexes[interference.index].get(&before).get(at) else { break };
                if (row as usize) < interference.n_rows_done {
                    found.extend(self.attempt((rule, interference), (row, seed as u32), &seeds)?);
                }
            }
        }
        (interference.n_rows_done, interference.n_seeds_done) = (n_rows, n_seeds);
        self.seeds[interference.seeds] = Some(seeds);
        self.insert(interference.group, &found);
        Ok(())
    }

    /// What becomes of a view state by a seed, if the groups across allow it; otherwise it waits for what they lack.
    fn attempt(
        &mut self,
        (rule, interference): (u32, &GroupInterference<W>),
        (row, seed): (u32, u32),
        seeds: &Seeds<W>,
    ) -> Result<Option<Packed<W>>, StopReason> {
        let from = *self.groups[interference.group].rows.row(row);
        let together = or(&from, seeds.before(seed));
        for &across in &interference.across {
            let group = &mut self.groups[across];
            let part = and(&together, &group.mask);
            if !group.rows.contains(&part) {
                group.waiting.entry(part).or_default().push((rule, row, seed));
                self.bytes += (size_of::<Packed<W>>() + 24) as u64;
                self.sets.meter.tick(self.bytes)?;
                return Ok(None);
            }
        }
        self.sets.meter.tick(self.bytes)?;
        Ok(Some(or(&without(&from, &interference.changed), seeds.after(seed))))
    }

    /// Tries again what waited for view states that have come.
    fn wake(&mut self, active: &[Active<W>]) -> Result<(), StopReason> {
        for at in 0..self.groups.len() {
            while self.groups[at].n_woken < self.groups[at].rows.len() && !self.groups[at].waiting.is_empty() {
                let group = &mut self.groups[at];
                let row = *group.rows.row(group.n_woken as u32);
                group.n_woken += 1;
                for (rule, row, seed) in group.waiting.remove(&row).unwrap_or_default() {
                    let Active::Interference(interference) = &active[rule as usize] else {
                        unreachable!("only these wait")
                    };
                    let seeds = self.seeds[interference.seeds].take().expect("they are put back");
                    let found = self.attempt((rule, interference), (row, seed), &seeds);
                    self.seeds[interference.seeds] = Some(seeds);
                    self.insert(interference.group, found?.as_slice());
                }
            }
            if self.groups[at].waiting.is_empty() {
                self.groups[at].n_woken = self.groups[at].rows.len();
            }
        }
        Ok(())
    }
}

impl<const W: usize> GrowingGroup<'_, W> {
    /// The index by these bits.
    fn index(&mut self, mask: Packed<W>) -> usize {
        let known = self.indexes.iter().position(|index| index.mask == mask);
        known.unwrap_or_else(|| {
            self.indexes.push(RowIndex::new(mask));
            self.indexes.len() - 1
        })
    }

    /// Brings an index up to date; how many bytes more it takes.
    fn update(&mut self, index: usize) -> u64 {
        self.indexes[index].update(self.rows.iter())
    }
}

/// Collects successors, as a group sees them.
pub(super) struct SuccessorCollector<'n, 'a, const W: usize> {
    /// What the group sees.
    pub mask: Packed<W>,
    /// The successors so far.
    pub found: &'n mut Vec<Packed<W>>,
    /// Asked whether to go on.
    pub meter: &'n Ticker<'a>,
    /// Why it did not go on.
    pub stopped: Option<StopReason>,
}

impl<const W: usize> SuccessorCollector<'_, '_, W> {
    fn go_on(&mut self, allowed: Result<(), StopReason>) -> Flow {
        match allowed {
            Ok(()) => Flow::Continue(()),
            Err(stop) => {
                self.stopped = Some(stop);
                Flow::Break(())
            }
        }
    }
}

impl<const W: usize> Sink<W> for SuccessorCollector<'_, '_, W> {
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.found.push(and(next, &self.mask));
        let bytes = (self.found.len() * size_of::<Packed<W>>()) as u64;
        let allowed = self.meter.tick(bytes);
        self.go_on(allowed)
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        let allowed = self.meter.check(bytes);
        self.go_on(allowed)
    }
}
