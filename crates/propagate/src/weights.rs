//! Additive invariants, as tables over the numbers in rows.
//!
//! In: invariants of `evidence::propagation`. Out: for a view state what its processes weigh, and what the other processes have to weigh
//! together, where the view shows all cells of the invariant; and whether two view states, or one, leave the rest an amount that
//! it can have.

use std::collections::{BTreeMap, BTreeSet};

use evidence::propagation::{Additive, CellWeights, GroupWeights};
use model::Model;
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use crate::items::{Item, number};

/// The invariants that are in use.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    tables: Vec<Table>,
    /// The invariants that a cell occurs in, with the term; and those that a process has a part in; ascending.
    of_cell: FxHashMap<Item, Vec<(usize, usize)>>,
    of_process: FxHashMap<ProcessId, Vec<usize>>,
    /// Where processes meet: the invariants in which what a process weighs depends on something.
    of_local: FxHashMap<Item, BTreeSet<(usize, ProcessId)>>,
}

/// What a view shows of an invariant.
#[derive(Clone, Debug)]
pub struct ShownSum {
    /// Which one.
    pub invariant: usize,
    /// The terms that are shown, with the places of their cells in rows.
    terms: Vec<(usize, Vec<usize>)>,
    /// The places of cells that are shown without others of their term.
    partly: Vec<usize>,
    /// The members that have a part in it, with the places of what they weigh by.
    members: Vec<(ProcessId, Vec<usize>)>,
    /// Where processes meet: the same of other processes that the view shows.
    met: Vec<(ProcessId, Vec<usize>)>,
    /// The least and the most that terms weigh that are not shown; `None` where all are shown.
    hidden: Option<(i64, i64)>,
    /// The least and the most that the processes weigh that are not members.
    others: (i64, i64),
    /// By process in `met`, the least and the most that it weighs.
    met_ranges: Vec<(i64, i64)>,
}

impl ShownSum {
    /// Whether rows say something about what others weigh, or what members do.
    pub fn is_told(&self) -> bool {
        self.hidden.is_none() || !self.members.is_empty()
    }
}

/// What comes of a row.
pub enum Weighed {
    /// This is what it says.
    Shares(Shares),
    /// Nothing that is not shown fits to it.
    Excluded,
    /// It has a value that some table does not list.
    Unlisted,
}

/// One invariant.
#[derive(Clone, Debug)]
struct Table {
    constant: i64,
    terms: Vec<Term>,
    /// The least and the most that all terms can weigh together.
    left_range: (i64, i64),
    processes: FxHashMap<ProcessId, Local>,
    /// The least and the most that all processes can weigh together.
    range: (i64, i64),
}

/// What some cells weigh together.
#[derive(Clone, Debug)]
struct Term {
    cells: Vec<Item>,
    weights: FxHashMap<Vec<u32>, i64>,
    range: (i64, i64),
}

/// What a table lists for the numbers at some places of a row.
fn listed(weights: &FxHashMap<Vec<u32>, i64>, places: &[usize], row: &[u32]) -> Option<i64> {
    let key: Vec<u32> = places.iter().map(|&place| row[place]).collect();
    weights.get(&key).copied()
}

/// What the local states of a process weigh.
#[derive(Clone, Debug)]
struct Local {
    /// The control of the process, then the cells that matter.
    items: Vec<Item>,
    weights: FxHashMap<Vec<u32>, i64>,
    range: (i64, i64),
}

/// What a view state says about one invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    /// Which one.
    pub invariant: usize,
    /// What the processes of the view weigh.
    pub own: i64,
    /// What all others weigh together, where the view shows it.
    pub rest: Option<i64>,
}

/// What a view state says about those invariants that its processes have a part in, or whose cells it shows; ascending.
pub type Shares = Vec<Share>;

/// What shares say about an invariant.
pub fn share_of(shares: &Shares, invariant: usize) -> Option<&Share> {
    shares.binary_search_by_key(&invariant, |share| share.invariant).ok().map(|at| &shares[at])
}

/// What decides whether two view states fit together.
#[derive(Clone, Debug, Default)]
pub struct Fitting {
    sums: Vec<FittingSum>,
}

#[derive(Clone, Debug)]
struct FittingSum {
    /// Where the shares of each view have the invariant.
    places: [Option<usize>; 2],
    /// The least and the most that all other processes can weigh together.
    range: (i64, i64),
}

impl Fitting {
    /// Whether some states of the others fit to two view states, by what these say.
    pub fn fits(&self, one: &Shares, other: &Shares) -> bool {
        self.sums.iter().all(|sum| {
            let [a, b] = [(one, sum.places[0]), (other, sum.places[1])].map(|(shares, place)| Some(&shares[place?]));
            let fits = |share: Option<&Share>, theirs: Option<&Share>| {
                let Some(rest) = share.and_then(|share| share.rest) else { return true };
                let rest = rest - theirs.map_or(0, |share| share.own);
                sum.range.0 <= rest && rest <= sum.range.1
            };
            fits(a, b) && fits(b, a)
        })
    }
}

impl Weights {
    /// Tables for invariants.
    pub fn new(model: &Model, invariants: &[Additive]) -> Self {
        let tables: Vec<Table> = invariants.iter().map(|one| Table::new(model, one)).collect();
        let mut of_cell: FxHashMap<Item, Vec<(usize, usize)>> = FxHashMap::default();
        let mut of_process: FxHashMap<ProcessId, Vec<usize>> = FxHashMap::default();
        for (number, table) in tables.iter().enumerate() {
            for (at, term) in table.terms.iter().enumerate() {
                term.cells.iter().for_each(|&cell| of_cell.entry(cell).or_default().push((number, at)));
            }
            table.processes.keys().for_each(|&process| of_process.entry(process).or_default().push(number));
        }
        let mut of_local: FxHashMap<Item, BTreeSet<(usize, ProcessId)>> = FxHashMap::default();
        if !model.channels.is_empty() {
            for (number, table) in tables.iter().enumerate() {
                for (&process, local) in &table.processes {
                    local
                        .items
                        .iter()
                        .for_each(|&item| _ = of_local.entry(item).or_default().insert((number, process)));
                }
            }
        }
        Weights { tables, of_cell, of_process, of_local }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// The invariants of which a view shows a cell, or in which one of its processes has a part; ascending.
    pub fn shown(&self, members: &[ProcessId], items: &[Item]) -> Vec<ShownSum> {
        let mut terms: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &(invariant, term) in items.iter().filter_map(|item| self.of_cell.get(item)).flatten() {
            terms.entry(invariant).or_default().insert(term);
        }
        for &invariant in members.iter().filter_map(|member| self.of_process.get(member)).flatten() {
            terms.entry(invariant).or_default();
        }
        let mut met: BTreeMap<usize, BTreeSet<ProcessId>> = BTreeMap::new();
        for &(invariant, process) in items.iter().filter_map(|item| self.of_local.get(item)).flatten() {
            if !members.contains(&process) {
                met.entry(invariant).or_default().insert(process);
                terms.entry(invariant).or_default();
            }
        }
        let shown = |(invariant, terms)| {
            let mut shown = self.shown_sum(invariant, terms, (members, items));
            for process in met.remove(&invariant).into_iter().flatten() {
                let local = &self.tables[invariant].processes[&process];
                let places: Vec<Option<usize>> =
                    local.items.iter().map(|item| items.binary_search(item).ok()).collect();
                match places.iter().copied().collect::<Option<Vec<usize>>>() {
                    Some(places) => {
                        shown.met.push((process, places));
                        shown.met_ranges.push(local.range);
                    }
                    None => shown.partly.extend(places.into_iter().flatten()),
                }
            }
            shown
        };
        terms.into_iter().map(shown).collect()
    }

    fn shown_sum(
        &self,
        invariant: usize,
        terms: BTreeSet<usize>,
        (members, items): (&[ProcessId], &[Item]),
    ) -> ShownSum {
        let table = &self.tables[invariant];
        let place = |item: &Item| items.binary_search(item).ok();
        let mut shown = Vec::new();
        let mut partly = Vec::new();
        let mut hidden = table.left_range;
        for term in terms {
            let cells = &table.terms[term].cells;
            match cells.iter().map(place).collect::<Option<Vec<usize>>>() {
                Some(places) => {
                    let range = table.terms[term].range;
                    hidden = (hidden.0 - range.0, hidden.1 - range.1);
                    shown.push((term, places));
                }
                None => partly.extend(cells.iter().filter_map(place)),
            }
        }
        let mut others = table.range;
        let mut own = Vec::new();
        for member in members {
            let Some(local) = table.processes.get(member) else { continue };
            others = (others.0 - local.range.0, others.1 - local.range.1);
            own.push((*member, local.items.iter().filter_map(place).collect()));
        }
        let hidden = (shown.len() < table.terms.len()).then_some(hidden);
        let (met, met_ranges) = Default::default();
        ShownSum { invariant, terms: shown, partly, members: own, met, hidden, others, met_ranges }
    }

    /// What a row of a view says about the invariants that it shows.
    pub fn weighed(&self, shown: &[ShownSum], row: &[u32]) -> Weighed {
        let mut shares = Vec::new();
        for sum in shown {
            let Some((left, own)) = self.sides(sum, row) else { return Weighed::Unlisted };
            let rest = self.tables[sum.invariant].constant + left - own;
            let (least, most) = sum.hidden.unwrap_or_default();
            // What is left for those that the row does not show.
            let (mut left, mut others) = (rest, sum.others);
            for ((process, places), range) in sum.met.iter().zip(&sum.met_ranges) {
                if let Some(weight) = listed(&self.tables[sum.invariant].processes[process].weights, places, row) {
                    left -= weight;
                    others = (others.0 - range.0, others.1 - range.1);
                }
            }
            if left < others.0 - most || left > others.1 - least {
                return Weighed::Excluded;
            }
            if sum.is_told() {
                shares.push(Share { invariant: sum.invariant, own, rest: sum.hidden.is_none().then_some(rest) });
            }
        }
        Weighed::Shares(shares)
    }

    /// What shown terms weigh, and members.
    fn sides(&self, sum: &ShownSum, row: &[u32]) -> Option<(i64, i64)> {
        let table = &self.tables[sum.invariant];
        let terms = sum.terms.iter().map(|(term, places)| listed(&table.terms[*term].weights, places, row));
        let members = sum.members.iter().map(|(member, places)| listed(&table.processes[member].weights, places, row));
        Some((terms.sum::<Option<i64>>()?, members.sum::<Option<i64>>()?))
    }

    /// Whether a turn of a view's members, with those that they meet, changes both sides by the same amount, as far as the tables have what it leads to.
    pub fn is_kept(&self, sum: &ShownSum, (before, after): (&[u32], &[u32])) -> bool {
        let is_same = |&place: &usize| before[place] == after[place];
        let table = &self.tables[sum.invariant];
        let changed = |row: &[u32]| {
            let met = sum.met.iter().filter(|(_, places)| !places.iter().all(is_same));
            met.map(|(process, places)| listed(&table.processes[process].weights, places, row)).sum::<Option<i64>>()
        };
        let balance = |row: &[u32]| self.sides(sum, row).and_then(|(left, right)| Some(left - right - changed(row)?));
        let balance_before = balance(before);
        sum.partly.iter().all(is_same) && balance_before.is_some() && balance_before == balance(after)
    }

    /// What decides whether some states of the others fit to two view states, of views without a process in common.
    pub fn fitting(&self, one: (&[ProcessId], &[ShownSum]), other: (&[ProcessId], &[ShownSum])) -> Fitting {
        let told = |sums: &[ShownSum]| -> Vec<usize> {
            sums.iter().filter(|sum| sum.is_told()).map(|sum| sum.invariant).collect()
        };
        let (left, right) = (told(one.1), told(other.1));
        let numbers: BTreeSet<usize> = left.iter().chain(&right).copied().collect();
        let sum = |invariant: usize| {
            let members = one.0.iter().chain(other.0).copied();
            let places = [&left, &right].map(|told| told.binary_search(&invariant).ok());
            FittingSum { places, range: self.tables[invariant].others(members) }
        };
        Fitting { sums: numbers.into_iter().map(sum).collect() }
    }

    /// What a process weighs in an invariant, at a row; `None` where the table does not list it.
    pub fn weight(&self, invariant: usize, process: ProcessId, (items, row): (&[Item], &[u32])) -> Option<i64> {
        self.tables[invariant].weight(process, (items, row))
    }

    /// What is on the left side besides the cells.
    pub fn constant(&self, invariant: usize) -> i64 {
        self.tables[invariant].constant
    }

    /// For each term of the left side its cells.
    pub fn terms(&self, invariant: usize) -> Vec<Vec<Item>> {
        self.tables[invariant].terms.iter().map(|term| term.cells.clone()).collect()
    }

    /// The least and the most that a term can weigh.
    pub fn term_range(&self, invariant: usize, term: usize) -> (i64, i64) {
        self.tables[invariant].terms[term].range
    }

    /// What a term weighs at a row that shows its cells.
    pub fn term_weight(&self, invariant: usize, term: usize, (items, row): (&[Item], &[u32])) -> Option<i64> {
        let term = &self.tables[invariant].terms[term];
        let places = term.cells.iter().map(|cell| items.binary_search(cell).ok());
        listed(&term.weights, &places.collect::<Option<Vec<usize>>>()?, row)
    }

    /// The least and the most that a process can weigh.
    pub fn process_range(&self, invariant: usize, process: ProcessId) -> (i64, i64) {
        self.tables[invariant].processes[&process].range
    }

    /// The processes that can weigh something.
    pub fn holders(&self, invariant: usize) -> Vec<ProcessId> {
        let mut holders: Vec<ProcessId> = self.tables[invariant].processes.keys().copied().collect();
        holders.sort_unstable();
        holders
    }
}

impl Table {
    fn new(model: &Model, invariant: &Additive) -> Self {
        let single = |one: &CellWeights| GroupWeights {
            cells: vec![one.cell],
            weights: one.weights.iter().map(|&(value, weight)| (vec![value], weight)).collect(),
        };
        let term = |one: GroupWeights| {
            let key = |values: &[model::value::Value]| {
                let numbers = one.cells.iter().zip(values).map(|(&cell, &v)| number(model, model.cells[cell].ty, v));
                numbers.collect::<Option<Vec<u32>>>()
            };
            let weights = one.weights.iter().filter_map(|(values, weight)| Some((key(values)?, *weight)));
            let weights: FxHashMap<Vec<u32>, i64> = weights.collect();
            let range = if weights.is_empty() { (0, 0) } else { range(weights.values().copied()) };
            Term { cells: one.cells.iter().map(|&cell| Item::Cell(cell)).collect(), weights, range }
        };
        let terms = invariant.cells.iter().map(single).chain(invariant.groups.iter().cloned()).map(term);
        let terms: Vec<Term> = terms.collect();
        let left_range = terms.iter().fold((0, 0), |(least, most), term| (least + term.range.0, most + term.range.1));
        let processes = invariant.processes.iter().map(|one| {
            let items: Vec<Item> = std::iter::once(Item::Control(one.process))
                .chain(one.cells.iter().map(|&cell| Item::Cell(cell)))
                .collect();
            let weights = one.weights.iter().filter_map(|local| {
                let values = one
                    .cells
                    .iter()
                    .zip(&local.values)
                    .map(|(&cell, &value)| number(model, model.cells[cell].ty, value));
                let key =
                    std::iter::once(Some(local.place.index() as u32)).chain(values).collect::<Option<Vec<u32>>>()?;
                Some((key, local.weight))
            });
            let weights: FxHashMap<Vec<u32>, i64> = weights.collect();
            let range = if weights.is_empty() { (0, 0) } else { range(weights.values().copied()) };
            (one.process, Local { items, weights, range })
        });
        let processes: FxHashMap<ProcessId, Local> = processes.collect();
        let sum = |(least, most): (i64, i64), local: &Local| (least + local.range.0, most + local.range.1);
        let range = processes.values().fold((0, 0), sum);
        Table { constant: invariant.constant, terms, left_range, processes, range }
    }

    /// The least and the most that all processes but these can weigh together.
    fn others(&self, left_out: impl Iterator<Item = ProcessId>) -> (i64, i64) {
        let left_out = left_out.filter_map(|process| self.processes.get(&process));
        let without = |(least, most): (i64, i64), local: &Local| (least - local.range.0, most - local.range.1);
        left_out.fold(self.range, without)
    }

    fn weight(&self, process: ProcessId, (items, row): (&[Item], &[u32])) -> Option<i64> {
        let Some(local) = self.processes.get(&process) else { return Some(0) };
        let at = |item: &Item| items.binary_search(item).ok().map(|at| row[at]);
        let key = local.items.iter().map(at).collect::<Option<Vec<u32>>>()?;
        local.weights.get(&key).copied()
    }
}

fn range(weights: impl Iterator<Item = i64>) -> (i64, i64) {
    weights.fold((i64::MAX, i64::MIN), |(least, most), weight| (least.min(weight), most.max(weight)))
}
