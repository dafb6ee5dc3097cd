//! Additive invariants by linear algebra: all that steps keep, as far as sums over cells and local states can say it.
//!
//! In: the view states of all processes. Out: a basis of the sums that some reachable states allow, as candidates in both directions. Unknown is what each value of a
//! shared cell weighs, and each local state of a process; a step of a process says that what its cells gain is what its local state gains.
//! What runs start with weighs nothing, so that what is the same at all values is no solution. The kernel of these equations has
//! every invariant of this form, since each is kept by the steps that were sampled; what other steps do not keep fails its check later. View states
//! alone would not do: some of them are excluded by the very sums that are searched for. Shorter combinations of the basis are not searched for.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use evidence::propagation::{Additive, CellWeights, LocalWeight, ProcessWeights};
use model::Model;
use model::control::PlaceId;
use model::eval::{State, Turn, attempts_of, free_cells, initial_states};
use model::process::ProcessId;
use model::variable::CellId;

use crate::items::{Item, content, value};
use crate::kernel::{Equation, kernel};
use crate::views::Views;

/// More unknowns than this are not solved for.
const MOST_UNKNOWNS: usize = 1_000;

/// More invariants than this are not used, for each process: each one costs a test for each pair of view states.
const MOST_EACH: usize = 4;

/// So many states are sampled in the order of a search, then on so many runs of so many steps.
const MOST_SEARCHED: usize = 200;
const RUNS: u64 = 6;
const RUN_LENGTH: usize = 60;

/// Nor those in which something weighs more than this.
const MOST_WEIGHT: u64 = 1_000;

/// What is weighed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    /// A local state of a process: its place and its own cells, by their numbers.
    Local(ProcessId, Vec<u32>),
    /// A value of a cell, by its number. These are last, so that local states are expressed by them.
    Cell(CellId, u32),
}

/// The invariants that turns keep; none where there is too much to solve for.
pub fn balances(views: &Views<'_>) -> Vec<Additive> {
    let Some(system) = System::new(views) else { return Vec::new() };
    let Some(basis) = kernel(system.unknowns.len(), system.equations.iter().cloned()) else { return Vec::new() };
    let mut found: Vec<Additive> = Vec::new();
    for solution in &basis {
        for sign in [1, -1] {
            let solution: Vec<i64> = solution.iter().map(|weight| sign * weight).collect();
            if let Some(additive) = system.additive(&solution)
                && !found.contains(&additive)
            {
                found.push(additive);
            }
        }
    }
    // Those that speak of little say most about it.
    found.sort_by_key(|additive| additive.cells.len() + additive.processes.len());
    found.truncate(MOST_EACH * views.model.processes.len());
    found
}

struct System<'s, 'm> {
    views: &'s Views<'m>,
    first: State,
    /// The own cells of each process that are part of its local state.
    own: Vec<Vec<CellId>>,
    /// The numbers of what is weighed; what runs start with is not here.
    unknowns: BTreeMap<Unknown, usize>,
    /// All local states and values that there are, with those that runs start with.
    all: BTreeSet<Unknown>,
    equations: BTreeSet<Equation>,
}

impl<'s, 'm> System<'s, 'm> {
    fn new(views: &'s Views<'m>) -> Option<Self> {
        let model = views.model;
        let first = initial_states(model).next().expect("a program has an initial state");
        let free: BTreeSet<CellId> = free_cells(model).into_iter().collect();
        let is_own = |process: ProcessId, cell: CellId| {
            model.cells[cell].owner == Some(process)
                && views.viewers(Item::Cell(cell)).len() == 1
                && !free.contains(&cell)
        };
        let own = model.processes.ids().map(|process| {
            let cells = views.list[process.index()].items.iter();
            let cells = cells.filter_map(|item| if let Item::Cell(cell) = item { Some(*cell) } else { None });
            cells.filter(|&cell| is_own(process, cell)).collect()
        });
        let own = own.collect();
        let mut system =
            System { views, first, own, unknowns: BTreeMap::new(), all: BTreeSet::new(), equations: BTreeSet::new() };
        let is_weighed = |cell: CellId| !free.contains(&cell) && views.viewers(Item::Cell(cell)).len() > 1;
        for process in model.processes.ids() {
            let view = &views.list[process.index()];
            let parts = view.rows.iter().flat_map(|row| system.parts(process, row, is_weighed));
            let parts: BTreeSet<Unknown> = parts.collect();
            system.all.extend(parts);
        }
        let mut turns: BTreeSet<(Vec<Unknown>, Vec<Unknown>)> = BTreeSet::new();
        for Sample { process, partners, before, after } in Samples::new(model).steps() {
            let parts = |state: &State| -> Option<Vec<Unknown>> {
                let items = &views.list[process.index()].items;
                let row: Vec<u32> = items.iter().map(|&item| content(model, state, item)).collect::<Option<_>>()?;
                let mut parts = system.parts(process, &row, is_weighed);
                for &partner in &partners {
                    let local = system.local_items(partner).map(|item| content(model, state, item));
                    parts.push(Unknown::Local(partner, local.collect::<Option<_>>()?));
                }
                Some(parts)
            };
            turns.insert((parts(&before)?, parts(&after)?));
        }
        let weighed: Vec<Unknown> = system.all.iter().filter(|unknown| !system.is_first(unknown)).cloned().collect();
        system.unknowns = weighed.into_iter().zip(0..).collect();
        if system.unknowns.len() > MOST_UNKNOWNS {
            return None;
        }
        system.equations = turns.iter().map(|(before, after)| system.equation(before, after)).collect();
        system.equations.remove(&Equation::new());
        Some(system)
    }

    /// What a process shows at a row: its local state, and the values of cells that others see, too.
    fn parts(&self, process: ProcessId, row: &[u32], is_weighed: impl Fn(CellId) -> bool) -> Vec<Unknown> {
        let items = &self.views.list[process.index()].items;
        let at = |item: Item| items.binary_search(&item).ok().map(|place| row[place]);
        let local = self.local_items(process).filter_map(at).collect();
        let mut parts = vec![Unknown::Local(process, local)];
        for (item, &number) in items.iter().zip(row) {
            if let Item::Cell(cell) = item
                && is_weighed(*cell)
            {
                parts.push(Unknown::Cell(*cell, number));
            }
        }
        parts
    }

    /// What the local state of a process consists of.
    fn local_items(&self, process: ProcessId) -> impl Iterator<Item = Item> {
        std::iter::once(Item::Control(process)).chain(self.own[process.index()].iter().map(|&cell| Item::Cell(cell)))
    }

    fn number(&self, item: Item) -> Option<u32> {
        content(self.views.model, &self.first, item)
    }

    /// Whether runs start with it.
    fn is_first(&self, unknown: &Unknown) -> bool {
        match unknown {
            Unknown::Cell(cell, number) => self.number(Item::Cell(*cell)) == Some(*number),
            Unknown::Local(process, numbers) => {
                let items = self.local_items(*process);
                items.map(|item| self.number(item)).eq(numbers.iter().map(|&number| Some(number)))
            }
        }
    }

    /// What cells gain is what the local state gains.
    fn equation(&self, before: &[Unknown], after: &[Unknown]) -> Equation {
        let mut equation = Equation::new();
        for (parts, sign) in [(after, 1), (before, -1)] {
            for part in parts {
                let sign = if matches!(part, Unknown::Local(..)) { -sign } else { sign };
                if let Some(&unknown) = self.unknowns.get(part) {
                    *equation.entry(unknown).or_default() += sign;
                }
            }
        }
        equation.retain(|_, by| *by != 0);
        equation
    }

    /// A solution as an invariant; `None` where no process weighs anything.
    fn additive(&self, solution: &[i64]) -> Option<Additive> {
        let model = self.views.model;
        let weight = |unknown: &Unknown| self.unknowns.get(unknown).map_or(0, |&number| solution[number]);
        let mut cells: BTreeMap<CellId, Vec<(u32, i64)>> = BTreeMap::new();
        let mut locals: BTreeMap<ProcessId, Vec<(&Vec<u32>, i64)>> = BTreeMap::new();
        for unknown in &self.all {
            match unknown {
                Unknown::Cell(cell, number) => cells.entry(*cell).or_default().push((*number, weight(unknown))),
                Unknown::Local(process, numbers) => {
                    locals.entry(*process).or_default().push((numbers, weight(unknown)))
                }
            }
        }
        cells.retain(|_, weights| weights.iter().any(|(_, weight)| *weight != 0));
        locals.retain(|_, weights| weights.iter().any(|(_, weight)| *weight != 0));
        let is_large = |weight: &i64| weight.unsigned_abs() > MOST_WEIGHT;
        // What processes hand to each other directly is weighed by no cell.
        let says_nothing = (cells.is_empty() && model.channels.is_empty()) || locals.is_empty();
        if says_nothing || solution.iter().any(is_large) {
            return None;
        }
        let mut constant = 0;
        let mut processes = Vec::new();
        for (process, weights) in locals {
            let least = weights.iter().map(|(_, weight)| *weight).min().unwrap_or(0).min(0);
            constant -= least;
            let own = &self.own[process.index()];
            let local = |(numbers, weight): &(&Vec<u32>, i64)| LocalWeight {
                place: PlaceId::new(numbers[0] as usize),
                values: { own.iter() }
                    .zip(&numbers[1..])
                    .map(|(&cell, &number)| value(model, model.cells[cell].ty, number))
                    .collect(),
                weight: weight - least,
            };
            processes.push(ProcessWeights {
                process,
                cells: own.clone(),
                weights: weights.iter().map(local).collect(),
            });
        }
        let cell = |(cell, weights): (CellId, Vec<(u32, i64)>)| {
            let ty = model.cells[cell].ty;
            let weights = weights.into_iter().map(|(number, weight)| (value(model, ty, number), weight));
            CellWeights { cell, weights: weights.collect() }
        };
        Some(Additive { constant, cells: cells.into_iter().map(cell).collect(), groups: Vec::new(), processes })
    }
}

/// A step of the program that is real.
struct Sample {
    process: ProcessId,
    /// Those that take part in it, besides.
    partners: BTreeSet<ProcessId>,
    before: State,
    after: State,
}

/// Steps of the program.
struct Samples<'m> {
    model: &'m Model,
    known: HashSet<State>,
    found: Vec<Sample>,
}

impl<'m> Samples<'m> {
    fn new(model: &'m Model) -> Self {
        Samples { model, known: HashSet::new(), found: Vec::new() }
    }

    /// The steps from the first states of a search, and on some runs.
    fn steps(mut self) -> Vec<Sample> {
        let Some(first) = initial_states(self.model).next() else { return Vec::new() };
        let mut open = VecDeque::from([first.clone()]);
        while let Some(state) = open.pop_front().filter(|_| self.known.len() < MOST_SEARCHED) {
            if !self.known.contains(&state) {
                open.extend(self.successors(&state));
            }
        }
        for run in 1..=RUNS {
            // Steele, Lea and Flood's constant; any other odd number would do.
            let mut random = run.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mut state = first.clone();
            for _ in 0..RUN_LENGTH {
                let mut next = self.successors(&state);
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if next.is_empty() {
                    break;
                }
                state = next.swap_remove((random >> 33) as usize % next.len());
            }
        }
        self.found
    }

    /// The states after each step from a state; the steps are kept.
    fn successors(&mut self, state: &State) -> Vec<State> {
        let is_new = self.known.insert(state.clone());
        let mut found = Vec::new();
        for process in self.model.processes.ids() {
            for (step, _) in attempts_of(self.model, state, process).0 {
                let Ok(after) = step.result else { continue };
                if is_new {
                    let mut partners = Turn::Step(step.by).processes();
                    partners.remove(&process);
                    self.found.push(Sample { process, partners, before: state.clone(), after: after.clone() });
                }
                found.push(after);
            }
        }
        found
    }
}
