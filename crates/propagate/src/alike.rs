//! Additive invariants in which the processes of a family weigh the same, and the elements of an array; and in which two cells are weighed together.
//!
//! In: the view states of all processes. Out: candidates. What distinguishes a local state is its place, and maybe one of its own cells, or whether that cell
//! has a certain value: the fewer unknowns, the fewer solutions, and the more each of them says. Some programs need two cells together: the tickets between the one that is
//! served and the next one are those that some process holds. Samples are steps of real runs in which some of the processes step, so that small numbers
//! of them are seen, too; what other steps do not keep fails its check later.

use std::collections::{BTreeMap, BTreeSet};

use evidence::propagation::{Additive, CellWeights, GroupWeights, LocalWeight, ProcessWeights};
use model::Model;
use model::control::PlaceId;
use model::eval::{State, attempts_of, free_cells, initial_states};
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, VarId};
use rustc_hash::FxHashSet;

use crate::items::{Item, content, value};
use crate::kernel::{Equation, kernel, shortened};
use crate::views::Views;

/// More unknowns than this are not solved for.
const MOST_UNKNOWNS: usize = 400;

/// Two cells with more pairs of values than this are not weighed together.
const MOST_PAIRS: usize = 150;

/// A cell with more values than this is not weighed value by value.
const MOST_VALUES: usize = 16;

/// So many steps are taken on each run.
const RUN_LENGTH: usize = 500;

/// A basis with more vectors than this says nothing that is of use.
const MOST_BASIS: usize = 12;

/// Nor one in which something weighs more than this.
const MOST_WEIGHT: u64 = 1_000;

/// What distinguishes the local states of a family, besides the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    /// The value of this one of its own cells.
    Cell(usize),
    /// Whether this one of its own cells has this number.
    Value(usize, u32),
}

/// What is weighed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    Local(FamilyId, Vec<u32>),
    Pair(CellId, CellId, [u32; 2]),
    Cell(VarId, u32),
}

/// The invariants of this form that the samples keep.
pub fn balances_alike(views: &Views<'_>) -> Vec<Additive> {
    let search = Search::new(views);
    let mut found: Vec<Additive> = Vec::new();
    for pair in std::iter::once(None).chain(search.pairs().into_iter().map(Some)) {
        let mut is_told_by_value = false;
        for told in search.distinctions() {
            let by_value = told.values().any(|told| matches!(told, Told::Value(..)));
            // What a cell shows is weighed value by value already, and more clearly.
            if is_told_by_value && !by_value {
                continue;
            }
            for additive in search.solutions(told, pair) {
                // Two sums over processes that are the same are the same sum over cells, too.
                if found.iter().all(|other| other.processes != additive.processes) {
                    is_told_by_value |= by_value;
                    found.push(additive);
                }
            }
        }
    }
    found
}

struct Search<'s, 'm> {
    views: &'s Views<'m>,
    model: &'m Model,
    first: State,
    /// Steps of runs, as rows of the view of the process that steps.
    samples: Vec<(ProcessId, [Vec<u32>; 2])>,
    /// Cells that start with any value.
    free: BTreeSet<CellId>,
}

impl<'s, 'm> Search<'s, 'm> {
    fn new(views: &'s Views<'m>) -> Self {
        let model = views.model;
        let first = initial_states(model).next().expect("a program has an initial state");
        let free = free_cells(model).into_iter().collect();
        let samples = samples(views, &first);
        Search { views, model, first, samples, free }
    }

    /// Whether a cell is part of sums: several see it, it belongs to no process, and it starts with one value.
    fn is_weighed(&self, cell: CellId) -> bool {
        self.model.cells[cell].owner.is_none()
            && !self.free.contains(&cell)
            && self.views.viewers(Item::Cell(cell)).len() > 1
    }

    fn own_cell(&self, process: ProcessId, offset: usize) -> CellId {
        CellId::new(self.model.processes[process].first_cell + offset)
    }

    /// What may distinguish local states: of each family nothing, one own cell, or a value of one.
    fn distinctions(&self) -> Vec<BTreeMap<FamilyId, Told>> {
        let mut found = vec![BTreeMap::new()];
        for (id, family) in self.model.families.entries() {
            for offset in 0..family.n_cells {
                let cells = family.processes().map(|process| (process, self.own_cell(process, offset)));
                let cells: Vec<(ProcessId, CellId)> = cells.collect();
                if cells.iter().any(|(_, cell)| self.free.contains(cell)) {
                    continue;
                }
                let mut values = BTreeSet::new();
                for (process, cell) in cells {
                    let view = &self.views.list[process.index()];
                    let Ok(place) = view.items.binary_search(&Item::Cell(cell)) else { continue };
                    values.extend(view.rows.iter().map(|row| row[place]));
                }
                if values.len() < 2 || values.len() > MOST_VALUES {
                    continue;
                }
                if values.len() > 2 {
                    found.extend(values.iter().map(|&one| BTreeMap::from([(id, Told::Value(offset, one))])));
                }
                found.push(BTreeMap::from([(id, Told::Cell(offset))]));
            }
        }
        // One cell of each family at once.
        let all: BTreeMap<FamilyId, Told> = found.iter().rev().flatten().map(|(&id, &told)| (id, told)).collect();
        if all.len() > 1 {
            found.push(all);
        }
        found
    }

    /// Pairs of shared cells that the same processes see.
    fn pairs(&self) -> Vec<(CellId, CellId)> {
        let is_single = |cell: CellId| self.model.cells_of(self.model.cells[cell].var, None).count() == 1;
        let cells: Vec<CellId> = self
            .model
            .cells
            .ids()
            .filter(|&cell| self.model.cells[cell].owner.is_none() && is_single(cell) && self.is_weighed(cell))
            .collect();
        let mut found = Vec::new();
        for (at, &one) in cells.iter().enumerate() {
            for &other in &cells[at + 1..] {
                let same = self.views.viewers(Item::Cell(one)) == self.views.viewers(Item::Cell(other));
                if same && (2..=MOST_PAIRS).contains(&self.pair_values(one, other).len()) {
                    found.push((one, other));
                }
            }
        }
        found.truncate(6);
        found
    }

    /// The pairs of values that two cells have in some view.
    fn pair_values(&self, one: CellId, other: CellId) -> BTreeSet<[u32; 2]> {
        let mut values = BTreeSet::new();
        for view in &self.views.list {
            let place = |cell: CellId| view.items.binary_search(&Item::Cell(cell)).ok();
            if let (Some(one), Some(other)) = (place(one), place(other)) {
                values.extend(view.rows.iter().map(|row| [row[one], row[other]]));
            }
        }
        values
    }

    /// The key of a local state of a process.
    fn local(&self, process: ProcessId, row: &[u32], told: &BTreeMap<FamilyId, Told>) -> Option<Unknown> {
        self.local_within((process, process), row, told)
    }

    /// The key of a local state of a process, in a row of a view.
    fn local_within(
        &self,
        (seer, process): (ProcessId, ProcessId),
        row: &[u32],
        told: &BTreeMap<FamilyId, Told>,
    ) -> Option<Unknown> {
        let items = &self.views.list[seer.index()].items;
        let at = |item: Item| items.binary_search(&item).ok().map(|place| row[place]);
        let family = self.model.processes[process].family;
        let mut key = vec![at(Item::Control(process))?];
        match told.get(&family).copied().unwrap_or(Told::Nothing) {
            Told::Nothing => {}
            Told::Cell(offset) => key.push(at(Item::Cell(self.own_cell(process, offset)))?),
            Told::Value(offset, one) => {
                key.push(u32::from(at(Item::Cell(self.own_cell(process, offset)))? == one));
            }
        }
        Some(Unknown::Local(family, key))
    }

    /// The keys of the local states of all processes that a row of one shows; where processes do not meet, of that one alone. `None` where a row shows where
    /// a process is, but not what its local state is distinguished by.
    fn shown_locals(&self, process: ProcessId, row: &[u32], told: &BTreeMap<FamilyId, Told>) -> Option<Vec<Unknown>> {
        let mut found = vec![self.local(process, row, told)?];
        if !self.model.channels.is_empty() {
            let items = &self.views.list[process.index()].items;
            let others =
                items.iter().filter_map(|item| if let Item::Control(other) = item { Some(*other) } else { None });
            for other in others.filter(|&other| other != process) {
                found.push(self.local_within((process, other), row, told)?);
            }
        }
        Some(found)
    }

    /// The parts of the left side at a row, each element of an array on its own.
    fn left(&self, process: ProcessId, row: &[u32], pair: Option<(CellId, CellId)>) -> Vec<Unknown> {
        let items = &self.views.list[process.index()].items;
        let mut found = Vec::new();
        for (item, &number) in items.iter().zip(row) {
            let Item::Cell(cell) = *item else { continue };
            let is_paired = pair.is_some_and(|(one, other)| cell == one || cell == other);
            if self.is_weighed(cell) && !is_paired {
                found.push(Unknown::Cell(self.model.cells[cell].var, number));
            }
        }
        if let Some((one, other)) = pair {
            let at = |cell: CellId| items.binary_search(&Item::Cell(cell)).ok().map(|place| row[place]);
            if let (Some(a), Some(b)) = (at(one), at(other)) {
                found.push(Unknown::Pair(one, other, [a, b]));
            }
        }
        found
    }

    /// The solutions for some distinction of local states and a pair of cells.
    fn solutions(&self, told: BTreeMap<FamilyId, Told>, pair: Option<(CellId, CellId)>) -> Vec<Additive> {
        let mut equations: BTreeSet<BTreeMap<Unknown, i64>> = BTreeSet::new();
        let mut met: BTreeSet<Unknown> = BTreeSet::new();
        for (process, [before, after]) in &self.samples {
            let mut equation: BTreeMap<Unknown, i64> = BTreeMap::new();
            for (row, sign) in [(after, 1), (before, -1)] {
                let Some(locals) = self.shown_locals(*process, row, &told) else { return Vec::new() };
                for local in locals {
                    met.insert(local.clone());
                    *equation.entry(local).or_default() -= sign;
                }
                for part in self.left(*process, row, pair) {
                    met.insert(part.clone());
                    *equation.entry(part).or_default() += sign;
                }
            }
            equation.retain(|_, by| *by != 0);
            equations.insert(equation);
        }
        // What is the same at all values says nothing: one of each weighs nothing.
        let mut fixed: BTreeSet<Unknown> = BTreeSet::new();
        for family in self.model.families.iter() {
            let Some(last) = family.processes().last() else { continue };
            let row = self.first_row(last);
            fixed.extend(row.as_ref().and_then(|row| self.local(last, row, &told)));
            if let Some(row) = &row {
                let mut vars: BTreeSet<VarId> = BTreeSet::new();
                let parts = self.left(last, row, pair);
                fixed.extend(parts.into_iter().filter(|part| match part {
                    Unknown::Cell(var, _) => vars.insert(*var),
                    _ => true,
                }));
            }
        }
        // A variable that two families see is fixed once.
        let mut vars: BTreeSet<VarId> = BTreeSet::new();
        fixed.retain(|part| if let Unknown::Cell(var, _) = part { vars.insert(*var) } else { true });
        let unknowns: BTreeMap<Unknown, usize> = met.into_iter().filter(|one| !fixed.contains(one)).zip(0..).collect();
        if unknowns.is_empty() || unknowns.len() > MOST_UNKNOWNS {
            return Vec::new();
        }
        let numbered = |equation: &BTreeMap<Unknown, i64>| -> Equation {
            equation.iter().filter_map(|(one, &by)| Some((*unknowns.get(one)?, by))).collect()
        };
        let equations: BTreeSet<Equation> = equations.iter().map(numbered).collect();
        let Some(basis) = kernel(unknowns.len(), equations) else { return Vec::new() };
        let speaks = |solution: &Vec<i64>| {
            let is_heavy = |wanted: fn(&Unknown) -> bool| {
                unknowns.iter().any(|(one, &number)| wanted(one) && solution[number] != 0)
            };
            // What processes hand to each other directly is weighed by no cell.
            let meets = !self.model.channels.is_empty();
            is_heavy(|one| matches!(one, Unknown::Local(..)))
                && (meets || is_heavy(|one| !matches!(one, Unknown::Local(..))))
        };
        let basis: Vec<Vec<i64>> = basis.into_iter().filter(speaks).collect();
        if basis.len() > MOST_BASIS {
            return Vec::new();
        }
        let mut found = Vec::new();
        for solution in shortened(basis).iter().filter(|one| speaks(one)) {
            for sign in [1, -1] {
                if solution.iter().any(|one| one.unsigned_abs() > MOST_WEIGHT) {
                    continue;
                }
                let mut known: BTreeMap<Unknown, i64> = fixed.iter().map(|one| (one.clone(), 0)).collect();
                known.extend(unknowns.iter().map(|(one, &number)| (one.clone(), sign * solution[number])));
                self.extend(&mut known, &told, pair);
                let weight = |one: &Unknown| known.get(one).copied().unwrap_or(0);
                found.extend(self.additive(&weight, &told, pair));
            }
        }
        found
    }

    /// Weighs what no sample shows, where a turn from a view state leads from what is known to one thing that is not: all readers are seldom
    /// inside at once.
    fn extend(
        &self,
        known: &mut BTreeMap<Unknown, i64>,
        told: &BTreeMap<FamilyId, Told>,
        pair: Option<(CellId, CellId)>,
    ) {
        let firsts: Vec<ProcessId> =
            { self.model.families.iter() }.filter_map(|family| family.processes().next()).collect();
        let firsts: Vec<ProcessId> = firsts.into_iter().map(|first| self.views.stand_in(first)).collect();
        let mut has_more = true;
        while std::mem::take(&mut has_more) {
            for &process in &firsts {
                let view = &self.views.list[process.index()];
                for (row, turns) in view.rows.iter().zip(&view.turns) {
                    for after in turns.iter().map(|turn| &view.rows[turn.to as usize]) {
                        has_more |= self.extend_by(known, (process, row, after), told, pair).is_some();
                    }
                }
            }
        }
    }

    /// Weighs one thing that a turn has to do with, if all others are known.
    fn extend_by(
        &self,
        known: &mut BTreeMap<Unknown, i64>,
        (process, before, after): (ProcessId, &[u32], &[u32]),
        told: &BTreeMap<FamilyId, Told>,
        pair: Option<(CellId, CellId)>,
    ) -> Option<()> {
        let mut terms: BTreeMap<Unknown, i64> = BTreeMap::new();
        for (row, sign) in [(after, 1), (before, -1)] {
            self.shown_locals(process, row, told)?.into_iter().for_each(|one| *terms.entry(one).or_default() -= sign);
            self.left(process, row, pair).into_iter().for_each(|part| *terms.entry(part).or_default() += sign);
        }
        terms.retain(|_, by| *by != 0);
        let open: Vec<&Unknown> = terms.keys().filter(|one| !known.contains_key(one)).collect();
        let [open] = open[..] else { return None };
        let rest: i64 = terms.iter().filter_map(|(one, by)| Some(by * known.get(one)?)).sum();
        let by = terms[open];
        if rest % by != 0 {
            return None;
        }
        let open = open.clone();
        known.insert(open, -rest / by);
        Some(())
    }

    fn first_row(&self, process: ProcessId) -> Option<Vec<u32>> {
        let items = &self.views.list[process.index()].items;
        items.iter().map(|&item| content(self.model, &self.first, item)).collect()
    }

    fn additive(
        &self,
        weight: &dyn Fn(&Unknown) -> i64,
        told: &BTreeMap<FamilyId, Told>,
        pair: Option<(CellId, CellId)>,
    ) -> Option<Additive> {
        let model = self.model;
        let scalar = |cell: CellId, number: u32| value(model, model.cells[cell].ty, number);
        let mut constant = 0;
        let mut cells = Vec::new();
        for cell in model.cells.ids().filter(|&cell| self.is_weighed(cell)) {
            if pair.is_some_and(|(one, other)| cell == one || cell == other) {
                continue;
            }
            let var = model.cells[cell].var;
            let numbers: BTreeSet<u32> = self.numbers(cell);
            let weighed: Vec<(u32, i64)> =
                numbers.into_iter().map(|number| (number, weight(&Unknown::Cell(var, number)))).collect();
            if weighed.iter().any(|(_, weight)| *weight != 0) {
                constant -= weight(&Unknown::Cell(var, content(model, &self.first, Item::Cell(cell))?));
                let weights = weighed.into_iter().map(|(number, weight)| (scalar(cell, number), weight));
                cells.push(CellWeights { cell, weights: weights.collect() });
            }
        }
        let mut groups = Vec::new();
        if let Some((one, other)) = pair {
            let number = |cell: CellId| content(model, &self.first, Item::Cell(cell));
            constant -= weight(&Unknown::Pair(one, other, [number(one)?, number(other)?]));
            let weights: Vec<(Vec<Value>, i64)> = { self.pair_values(one, other).into_iter() }
                .map(|[a, b]| (vec![scalar(one, a), scalar(other, b)], weight(&Unknown::Pair(one, other, [a, b]))))
                .collect();
            if weights.iter().any(|(_, weight)| *weight != 0) {
                groups.push(GroupWeights { cells: vec![one, other], weights });
            }
        }
        let mut processes = Vec::new();
        for each in model.processes.ids() {
            let process = self.views.stand_in(each);
            let family = model.processes[process].family;
            let offset = match told.get(&family) {
                Some(Told::Cell(offset) | Told::Value(offset, _)) => Some(self.own_cell(process, *offset)),
                Some(Told::Nothing) | None => None,
            };
            let own: Vec<CellId> = offset.into_iter().collect();
            let view = &self.views.list[process.index()];
            let mut weights: BTreeMap<(u32, Vec<u32>), i64> = BTreeMap::new();
            for row in &view.rows {
                let at = |item: Item| view.items.binary_search(&item).ok().map(|place| row[place]);
                let values = own.iter().map(|&cell| at(Item::Cell(cell))).collect::<Option<Vec<u32>>>()?;
                weights.insert((at(Item::Control(process))?, values), weight(&self.local(process, row, told)?));
            }
            constant += weight(&self.local(process, &self.first_row(process)?, told)?);
            if weights.values().all(|&weight| weight == 0) {
                continue;
            }
            // A cell that nothing depends on is left out, so that the same sum is the same text.
            let depends = weights.iter().any(|((place, _), &weight)| {
                weights
                    .range((*place, Vec::new())..)
                    .take_while(|((other, _), _)| other == place)
                    .any(|one| *one.1 != weight)
            });
            let own = if depends { own } else { Vec::new() };
            let weights: BTreeMap<(u32, Vec<u32>), i64> = match depends {
                true => weights,
                false => weights.into_iter().map(|((place, _), weight)| ((place, Vec::new()), weight)).collect(),
            };
            let local = |((place, values), weight): ((u32, Vec<u32>), i64)| LocalWeight {
                place: PlaceId::new(place as usize),
                values: own.iter().zip(values).map(|(&cell, number)| scalar(cell, number)).collect(),
                weight,
            };
            let weights = weights.into_iter().map(local).collect();
            processes.push(ProcessWeights { process, cells: own, weights }.of_another(model, each));
        }
        let has_left = !cells.is_empty() || !groups.is_empty() || !model.channels.is_empty();
        let says_something = !processes.is_empty() && has_left;
        says_something.then_some(Additive { constant, cells, groups, processes })
    }

    /// The numbers that a cell has in some view.
    fn numbers(&self, cell: CellId) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for view in &self.views.list {
            if let Ok(place) = view.items.binary_search(&Item::Cell(cell)) {
                found.extend(view.rows.iter().map(|row| row[place]));
            }
        }
        found
    }
}

/// Steps of runs in which one process steps, then of runs in which two do, and so on: those with different rows in the view of the process that steps.
fn samples(views: &Views<'_>, first: &State) -> Vec<(ProcessId, [Vec<u32>; 2])> {
    let model = views.model;
    let all: Vec<ProcessId> = model.processes.ids().collect();
    let mut known: FxHashSet<(ProcessId, [Vec<u32>; 2])> = FxHashSet::default();
    let mut found = Vec::new();
    // Steele, Lea and Flood's constant; any other odd number would do.
    let mut random: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut below = |bound: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % bound.max(1)
    };
    let mut counts: Vec<usize> = (1..=all.len().min(8)).collect();
    counts.extend((all.len() > 8).then_some(all.len()));
    for n_moving in counts.into_iter().flat_map(|count| [count, count]) {
        let mut moving = all.clone();
        (0..n_moving).for_each(|at| moving.swap(at, at + below(all.len() - at)));
        moving.truncate(n_moving);
        let mut state = first.clone();
        for _ in 0..RUN_LENGTH {
            let first = below(moving.len());
            let after_each = |process: ProcessId| -> Vec<State> {
                let (steps, _) = attempts_of(model, &state, process);
                steps.into_iter().filter_map(|(step, _)| step.result.ok()).collect()
            };
            let round = (0..moving.len()).map(|at| moving[(first + at) % moving.len()]);
            let found_one = { round }.map(|process| (process, after_each(process))).find(|(_, next)| !next.is_empty());
            let Some((process, mut next)) = found_one else { break };
            let after = next.swap_remove(below(next.len()));
            let items = &views.list[process.index()].items;
            let row =
                |state: &State| items.iter().map(|&item| content(model, state, item)).collect::<Option<Vec<u32>>>();
            // The process that represents it sees the same.
            let process = views.stand_in(process);
            if let (Some(one), Some(other)) = (row(&state), row(&after))
                && known.insert((process, [one.clone(), other.clone()]))
            {
                found.push((process, [one, other]));
            }
            state = after;
        }
    }
    found
}
