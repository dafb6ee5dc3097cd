//! Additive invariants, found and checked: a sum over cells that is a sum over processes.
//!
//! In: the view states of all processes. Out: invariants that every turn keeps. A guess is a weight for the values of a cell, or of all
//! elements of an array: one value weighs 1, or numbers weigh what they are. What local states then weigh follows along the turns of
//! each process alone, first those of a run in which no other process steps, which are real. What fails on the view states that the
//! others leave is dropped, until all of the rest hold together (Houdini; Flanagan and Leino 2001).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use engine::Halt;
use evidence::propagation::{Additive, CellWeights, LocalWeight, ProcessWeights};
use model::Model;
use model::control::PlaceId;
use model::eval::{State, free_cells, initial_states};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::alike::balances_alike;
use crate::balance::balances;
use crate::items::{Item, value};
use crate::views::{Limits, View, Views};
use crate::weights::{ShownSum, Weights};

/// A cell with more values than this is not weighed value by value.
const MOST_VALUES: usize = 6;

/// More guesses than this, and than this for each process, are not made.
const MOST_GUESSES: usize = 400;
const MOST_GUESSES_EACH: usize = 8;

/// Where additive invariants come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Guesses about single cells and arrays, which cost little.
    Guesses,
    /// Besides, those in which processes of one text weigh the same ([`balances_alike`]).
    Alike,
    /// Besides, all that linear algebra finds ([`balances`]).
    Equations,
}

impl Source {
    /// The next one, which finds more and takes longer.
    pub fn more(self) -> Option<Source> {
        match self {
            Source::Guesses => Some(Source::Alike),
            Source::Alike => Some(Source::Equations),
            Source::Equations => None,
        }
    }
}

/// Views with the additive invariants that prune them, of those that are wanted.
///
/// # Errors
/// A limit, or a contradiction.
pub fn pruned<'m>(
    model: &'m Model,
    stand_ins: Vec<ProcessId>,
    limits: Limits<'m>,
    (source, is_wanted): (Source, &dyn Fn(&Additive) -> bool),
) -> Result<(Views<'m>, Vec<Additive>), Halt> {
    let mut views = Views::new(model, Weights::default(), stand_ins, limits)?;
    let mut invariants = Search::new(&views).guesses();
    let mut more = Vec::new();
    if source != Source::Guesses {
        more.extend(balances_alike(&views));
    }
    if source == Source::Equations {
        more.extend(balances(&views));
    }
    for more in more {
        if !invariants.contains(&more) {
            invariants.push(more);
        }
    }
    invariants.retain(is_wanted);
    while !invariants.is_empty() {
        let weights = Weights::new(model, &invariants);
        views = views.with_weights(weights)?;
        let changed = changed_sums(&views);
        let is_kept = |at: usize| !views.broken.contains(&at) && !changed.contains(&at);
        let kept: Vec<bool> = (0..invariants.len()).map(is_kept).collect();
        if kept.iter().all(|&kept| kept) {
            return Ok((views, invariants));
        }
        let mut keep = kept.into_iter();
        invariants.retain(|_| keep.next().unwrap_or(false));
        if invariants.is_empty() {
            views = views.with_weights(Weights::default())?;
        }
    }
    Ok((views, invariants))
}

/// The invariants of which some turn changes the sides differently, or leads to what they have no weight for.
fn changed_sums(views: &Views<'_>) -> BTreeSet<usize> {
    let mut changed = BTreeSet::new();
    for view in views.list.iter().take(views.model.processes.len()) {
        changed.extend(view.sums.iter().filter(|sum| !is_kept_in(views, view, sum)).map(|sum| sum.invariant));
    }
    changed
}

/// Whether every turn of a view's members changes both sides of an invariant by the same amount.
fn is_kept_in(views: &Views<'_>, view: &View, sum: &ShownSum) -> bool {
    let is_kept = |from: usize, to: u32| views.weights.is_kept(sum, (&view.rows[from], &view.rows[to as usize]));
    view.turns.iter().enumerate().all(|(from, turns)| turns.iter().all(|turn| is_kept(from, turn.to)))
}

/// What the cells of a guess weigh, by the number of their value.
struct Guess {
    cells: BTreeMap<CellId, FxHashMap<u32, i64>>,
}

/// Makes guesses.
struct Search<'s, 'm> {
    views: &'s Views<'m>,
    /// For each process the rows of a run in which no other process steps.
    alone: Vec<Vec<u32>>,
    /// The numbers of values that each cell has in some row.
    values: BTreeMap<CellId, BTreeSet<u32>>,
    /// The cells that start with any value.
    free: BTreeSet<CellId>,
    /// A state that runs start in.
    first: State,
}

impl<'s, 'm> Search<'s, 'm> {
    fn new(views: &'s Views<'m>) -> Self {
        let alone = views.list.iter().map(|view| {
            let mut found: Vec<u32> = view.initial.iter().take(1).copied().collect();
            let mut seen: FxHashSet<u32> = found.iter().copied().collect();
            let mut at = 0;
            while at < found.len() {
                let turns = &view.turns[found[at] as usize];
                found.extend(turns.iter().map(|turn| turn.to).filter(|&to| seen.insert(to)));
                at += 1;
            }
            found
        });
        let mut values: BTreeMap<CellId, BTreeSet<u32>> = BTreeMap::new();
        for view in &views.list {
            for (at, item) in view.items.iter().enumerate() {
                if let Item::Cell(cell) = item {
                    values.entry(*cell).or_default().extend(view.rows.iter().map(|row| row[at]));
                }
            }
        }
        let free = free_cells(views.model).into_iter().collect();
        let first = initial_states(views.model).next().expect("a program has an initial state");
        Search { views, alone: alone.collect(), values, free, first }
    }

    /// The guesses that hold at the beginning, each with what local states weigh.
    fn guesses(&self) -> Vec<Additive> {
        let mut found: Vec<Additive> = Vec::new();
        let mut of_cell: FxHashMap<Option<CellId>, Vec<usize>> = FxHashMap::default();
        for guess in self.cell_guesses() {
            let Some(additive) = self.completed(&guess) else { continue };
            let alike = of_cell.entry(guess.cells.keys().next().copied()).or_default();
            if alike.iter().all(|&other| found[other] != additive) {
                alike.push(found.len());
                found.push(additive);
            }
        }
        found
    }

    /// Weights of cells that several processes see: of each alone, and of the elements of each array together.
    fn cell_guesses(&self) -> Vec<Guess> {
        let model = self.views.model;
        let shared = |cell: &&CellId| {
            // A cell that names its holder shows the holder by itself.
            let names =
                matches!(model.cells[**cell].ty, ScalarType::Lock | ScalarType::Pid(_) | ScalarType::PidOrNone(_));
            !names
                && !self.free.contains(cell)
                && self.values[cell].len() > 1
                && self.views.viewers(Item::Cell(**cell)).len() > 1
        };
        let cells: Vec<CellId> = self.values.keys().filter(shared).copied().collect();
        let mut arrays: BTreeMap<VarId, Vec<CellId>> = BTreeMap::new();
        cells.iter().for_each(|&cell| arrays.entry(model.cells[cell].var).or_default().push(cell));
        let groups = cells.iter().map(|&cell| vec![cell]).chain(arrays.into_values().filter(|group| group.len() > 1));
        let most = MOST_GUESSES.max(MOST_GUESSES_EACH * model.processes.len());
        let mut guesses = Vec::new();
        for group in groups {
            guesses.extend(self.group_guesses(&group));
            if guesses.len() > most {
                break;
            }
        }
        guesses
    }

    fn group_guesses(&self, group: &[CellId]) -> Vec<Guess> {
        let model = self.views.model;
        let all: BTreeSet<u32> = group.iter().flat_map(|cell| &self.values[cell]).copied().collect();
        let ty = model.cells[group[0]].ty;
        let weigh = |weight: &dyn Fn(u32) -> i64| Guess {
            cells: group
                .iter()
                .map(|&cell| (cell, self.values[&cell].iter().map(|&n| (n, weight(n))).collect()))
                .collect(),
        };
        let mut guesses = Vec::new();
        if all.len() <= MOST_VALUES {
            // Of two values the one says what the other does.
            let told = if all.len() == 2 { 1 } else { all.len() };
            guesses.extend(all.iter().take(told).map(|&one| weigh(&|number| i64::from(number == one))));
            guesses.extend(all.iter().take(told).map(|&one| weigh(&|number| -i64::from(number == one))));
        }
        if all.len() > 2 && all.iter().all(|&number| matches!(value(model, ty, number), Value::Int(_))) {
            guesses.push(weigh(&|number| i64::from(number)));
            guesses.push(weigh(&|number| -i64::from(number)));
        }
        guesses
    }

    /// A guess with weights of processes, if there are some.
    fn completed(&self, guess: &Guess) -> Option<Additive> {
        let model = self.views.model;
        let mut processes = Vec::new();
        let (mut constant, mut begins_light) = (0, true);
        let touching: BTreeSet<ProcessId> =
            guess.cells.keys().flat_map(|&cell| self.views.viewers(Item::Cell(cell))).copied().collect();
        let mut known: Option<(ProcessId, LocalGuess)> = None;
        for each in touching {
            let process = self.views.stand_in(each);
            if let Some((_, known)) = known.as_ref().filter(|(one, _)| *one == process) {
                constant += known.initial;
                if known.weights.weights.iter().any(|one| one.weight > 0) {
                    processes.push(known.weights.of_another(model, each));
                }
                continue;
            }
            let local = self.local_weights(process, guess, &[]).or_else(|| {
                let own = self.views.list[process.index()].items.iter().filter_map(|item| match item {
                    // A sum has to be the same wherever the program starts.
                    Item::Cell(cell) if model.cells[*cell].owner == Some(process) && !self.free.contains(cell) => {
                        Some(*cell)
                    }
                    _ => None,
                });
                self.local_weights(process, guess, &own.collect::<Vec<_>>())
            })?;
            constant += local.initial;
            begins_light &= local.initial == 0;
            if local.weights.weights.iter().any(|one| one.weight > 0) {
                processes.push(local.weights.of_another(model, each));
            }
            known = Some((process, local));
        }
        // Where every process weighs something from the beginning the complement says more.
        if processes.is_empty() || (!begins_light && constant >= processes.len() as i64) {
            return None;
        }
        for (&cell, weights) in &guess.cells {
            let number = crate::items::content(model, &self.first, Item::Cell(cell))?;
            constant -= weights.get(&number)?;
        }
        let cell = |(&cell, weights): (&CellId, &FxHashMap<u32, i64>)| {
            let mut numbers: Vec<(u32, i64)> = weights.iter().map(|(&number, &weight)| (number, weight)).collect();
            numbers.sort_unstable();
            let ty = model.cells[cell].ty;
            CellWeights {
                cell,
                weights: numbers.into_iter().map(|(number, weight)| (value(model, ty, number), weight)).collect(),
            }
        };
        Some(Additive { constant, cells: guess.cells.iter().map(cell).collect(), groups: Vec::new(), processes })
    }

    /// What the local states of a process weigh, distinguished by their place and these cells: along its turns alone, then along
    /// the others where nothing is known yet. `None` where its turns alone contradict each other.
    fn local_weights(&self, process: ProcessId, guess: &Guess, cells: &[CellId]) -> Option<LocalGuess> {
        let model = self.views.model;
        let view = &self.views.list[process.index()];
        let items: Vec<Item> =
            std::iter::once(Item::Control(process)).chain(cells.iter().map(|&cell| Item::Cell(cell))).collect();
        let places: Vec<usize> = items.iter().filter_map(|item| view.items.binary_search(item).ok()).collect();
        let key = |row: u32| -> Vec<u32> { places.iter().map(|&place| view.rows[row as usize][place]).collect() };
        let weighed: Vec<(usize, &FxHashMap<u32, i64>)> = guess
            .cells
            .iter()
            .filter_map(|(&cell, weights)| Some((view.items.binary_search(&Item::Cell(cell)).ok()?, weights)))
            .collect();
        let left = |row: u32| -> i64 {
            weighed
                .iter()
                .map(|(place, weights)| weights.get(&view.rows[row as usize][*place]).copied().unwrap_or(0))
                .sum()
        };
        let mut known: FxHashMap<Vec<u32>, i64> = FxHashMap::default();
        let first = *view.initial.first()?;
        known.insert(key(first), 0);
        for &row in &self.alone[process.index()] {
            let before = *known.get(&key(row))?;
            for turn in &view.turns[row as usize] {
                let after = before + left(turn.to) - left(row);
                if *known.entry(key(turn.to)).or_insert(after) != after {
                    return None;
                }
            }
        }
        let mut open: VecDeque<u32> = (0..view.rows.len() as u32).collect();
        let mut n_idle = 0;
        while let Some(row) = open.pop_front() {
            let Some(&before) = known.get(&key(row)) else {
                open.push_back(row);
                n_idle += 1;
                if n_idle > open.len() {
                    break;
                }
                continue;
            };
            n_idle = 0;
            for turn in &view.turns[row as usize] {
                let to = key(turn.to);
                known.entry(to).or_insert(before + left(turn.to) - left(row));
            }
        }
        (0..view.rows.len() as u32).for_each(|row| _ = known.entry(key(row)).or_insert(0));
        let least = known.values().copied().min()?;
        let mut weights: Vec<LocalWeight> = known
            .iter()
            .map(|(key, &weight)| LocalWeight {
                place: PlaceId::new(key[0] as usize),
                values: cells
                    .iter()
                    .zip(&key[1..])
                    .map(|(&cell, &number)| value(model, model.cells[cell].ty, number))
                    .collect(),
                weight: weight - least,
            })
            .collect();
        weights.sort_by(|one, other| (one.place, &one.values).cmp(&(other.place, &other.values)));
        Some(LocalGuess { weights: ProcessWeights { process, cells: cells.to_vec(), weights }, initial: -least })
    }
}

/// What the local states of a process weigh, and the one that it begins in.
struct LocalGuess {
    weights: ProcessWeights,
    initial: i64,
}
