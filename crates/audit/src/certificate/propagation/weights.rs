//! Additive invariants, checked: initially equal, kept by every turn; and what they exclude.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evidence::propagation::{Additive, CellWeights, GroupWeights};
use model::Model;
use model::eval::{State, is_initial};
use model::process::ProcessId;
use model::variable::CellId;

use super::views::{Item, View};
use crate::certificate::numbering::name;
use crate::certificate::{CertificateError, Outcome, words};

/// What a row says about an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Share {
    /// What the members weigh.
    pub own: i64,
    /// What all others weigh, where the view shows it.
    pub rest: Option<i64>,
}

impl Share {
    /// Of an invariant that the view does not touch.
    pub const NONE: Share = Share { own: 0, rest: None };
}

/// The invariants.
pub(super) struct Weights {
    tables: Vec<Table>,
    /// The invariants that depend on something, ascending; a part of a process depends on its control.
    of_item: HashMap<Item, Vec<usize>>,
    /// The terms that depend on a cell, with their invariant, and the processes whose weight depends on something.
    terms_of: HashMap<Item, Vec<(usize, usize)>>,
    processes_of: HashMap<Item, Vec<(usize, ProcessId)>>,
    without_cells: Vec<usize>,
    /// Whether processes meet, so that a view shows what others weigh.
    has_meetings: bool,
}

/// What a view shows of an invariant.
pub(super) struct Part {
    /// The invariant.
    pub number: usize,
    /// The terms all of whose cells are shown, with their places in rows.
    terms: Vec<(usize, Vec<usize>)>,
    /// Places of cells that are shown, but not all of their term.
    cut: Vec<usize>,
    /// The least and the most that all other terms can weigh.
    hidden: (i64, i64),
    is_whole: bool,
}

/// What two views without a common member say together; nothing where they have one.
pub(super) struct Fitting {
    sums: Vec<FittingSum>,
}

struct FittingSum {
    /// The positions of the invariant among those that each view touches.
    places: (Option<usize>, Option<usize>),
    /// The least and the most that the members of neither can weigh together.
    range: (i64, i64),
}

impl Fitting {
    /// Whether two rows leave something that the rest can weigh, by what they say about invariants.
    pub fn fits(&self, one: &[Share], other: &[Share]) -> bool {
        self.sums.iter().all(|sum| {
            let share = |shares: &[Share], place: Option<usize>| place.map_or(Share::NONE, |place| shares[place]);
            let (a, b) = (share(one, sum.places.0), share(other, sum.places.1));
            let left = match (a.rest, b.rest) {
                (Some(rest), _) => rest - b.own,
                (None, Some(rest)) => rest - a.own,
                (None, None) => return true,
            };
            sum.range.0 <= left && left <= sum.range.1
        })
    }
}

/// `constant + terms = processes`.
struct Table {
    /// The least and the most that all processes can weigh together.
    range: (i64, i64),
    constant: i64,
    terms: Vec<Term>,
    processes: BTreeMap<ProcessId, Local>,
    /// The least and the most that all terms can weigh together.
    left_range: (i64, i64),
}

/// What some cells weigh together.
struct Term {
    cells: Vec<CellId>,
    weights: HashMap<Vec<u32>, i64>,
    range: (i64, i64),
}

impl Term {
    /// The places of its cells in a row of these items; `None` where one is not shown.
    fn places(&self, items: &[Item]) -> Option<Vec<usize>> {
        self.cells.iter().map(|&cell| items.binary_search(&Item::Cell(cell)).ok()).collect()
    }

    fn weight(&self, places: &[usize], row: &[u32]) -> Option<i64> {
        let key: Vec<u32> = places.iter().map(|&place| row[place]).collect();
        self.weights.get(&key).copied()
    }
}

struct Local {
    /// Its control, then the cells that matter.
    items: Vec<Item>,
    weights: HashMap<Vec<u32>, i64>,
    /// The least and the most that it can weigh.
    range: (i64, i64),
}

/// Larger weights are refused, so that no sum of them is too large.
const MOST_WEIGHT: u64 = 1 << 31;

impl Weights {
    /// The invariants of a certificate, if they are ones and hold initially.
    pub fn new(model: &Model, invariants: &[Additive], first: &State) -> Outcome<Self> {
        let table = |one: &Additive| Table::new(model, one).map_err(CertificateError::Malformed);
        let tables = invariants.iter().map(table).collect::<Outcome<Vec<Table>>>()?;
        for table in &tables {
            table.check_start(model, first)?;
        }
        let (of_item, terms_of, processes_of) = Default::default();
        let has_meetings = !model.channels.is_empty();
        let mut weights = Weights { tables, of_item, terms_of, processes_of, without_cells: Vec::new(), has_meetings };
        for (number, table) in weights.tables.iter().enumerate() {
            for (at, term) in table.terms.iter().enumerate() {
                let cells = term.cells.iter().map(|&cell| Item::Cell(cell));
                cells.for_each(|cell| weights.terms_of.entry(cell).or_default().push((number, at)));
            }
            for (&process, local) in &table.processes {
                let items = local.items.iter();
                items.for_each(|&item| weights.processes_of.entry(item).or_default().push((number, process)));
            }
            let locals = table.processes.values().flat_map(|local| &local.items).copied();
            let cells = table.terms.iter().flat_map(|term| &term.cells).map(|&cell| Item::Cell(cell));
            for item in cells.chain(locals) {
                let numbers = weights.of_item.entry(item).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
            if table.terms.is_empty() {
                weights.without_cells.push(number);
            }
        }
        Ok(weights)
    }

    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// The invariants that depend on something that a view shows, and those without cells; ascending.
    pub fn parts(&self, members: &[ProcessId], items: &BTreeSet<Item>) -> Vec<Part> {
        let of_items = items.iter().filter_map(|item| self.of_item.get(item));
        let of_members = members.iter().filter_map(|member| self.of_item.get(&Item::Control(*member)));
        let found: BTreeSet<usize> =
            of_items.chain(of_members).chain([&self.without_cells]).flatten().copied().collect();
        let items: Vec<Item> = items.iter().copied().collect();
        let mut terms: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &(number, term) in items.iter().filter_map(|item| self.terms_of.get(item)).flatten() {
            terms.entry(number).or_default().insert(term);
        }
        found.into_iter().map(|number| self.part(number, terms.remove(&number).unwrap_or_default(), &items)).collect()
    }

    fn part(&self, number: usize, shown: BTreeSet<usize>, items: &[Item]) -> Part {
        let table = &self.tables[number];
        let (mut terms, mut cut, mut hidden) = (Vec::new(), Vec::new(), table.left_range);
        for at in shown {
            let term = &table.terms[at];
            if let Some(places) = term.places(items) {
                hidden = (hidden.0 - term.range.0, hidden.1 - term.range.1);
                terms.push((at, places));
            } else {
                cut.extend(term.cells.iter().filter_map(|&cell| items.binary_search(&Item::Cell(cell)).ok()));
            }
        }
        Part { number, is_whole: terms.len() == table.terms.len(), terms, cut, hidden }
    }

    /// What a row says about the invariants that its view touches; `None` where what is not shown cannot make up what is left.
    pub fn shares(&self, parts: &[Part], members: &[ProcessId], at: (&[Item], &[u32])) -> Outcome<Option<Vec<Share>>> {
        let mut shares = Vec::new();
        for part in parts {
            let table = &self.tables[part.number];
            let mut own = 0;
            for &member in members {
                own += table.weight(member, at)?;
            }
            let rest = table.constant + table.left(part, at.1)? - own;
            // The others weigh this, and what is hidden; what some of them weigh may be shown, too.
            let mut known = members.to_vec();
            let mut left = rest;
            for &other in table.processes.keys().filter(|other| self.has_meetings && !members.contains(other)) {
                if let Ok(weight) = table.weight(other, at) {
                    known.push(other);
                    left -= weight;
                }
            }
            let (least, most) = table.others(&known);
            if left < least - part.hidden.1 || most - part.hidden.0 < left {
                return Ok(None);
            }
            shares.push(Share { own, rest: part.is_whole.then_some(rest) });
        }
        Ok(Some(shares))
    }

    /// What two views say together about the invariants that one of them touches.
    pub fn fitting(&self, one: &View, other: &View) -> Fitting {
        if one.members.iter().any(|member| other.members.contains(member)) {
            return Fitting { sums: Vec::new() };
        }
        let both: Vec<ProcessId> = one.members.iter().chain(&other.members).copied().collect();
        let numbers: BTreeSet<usize> = one.sum_numbers().chain(other.sum_numbers()).collect();
        let sum = |number: usize| FittingSum {
            places: (one.position(number), other.position(number)),
            range: self.tables[number].others(&both),
        };
        Fitting { sums: numbers.into_iter().map(sum).collect() }
    }

    /// What a process weighs at a row.
    pub fn weight(&self, invariant: usize, process: ProcessId, view: &View, row: usize) -> Outcome<i64> {
        self.tables[invariant].weight(process, (&view.items, &view.rows[row]))
    }

    /// The processes that can weigh something.
    pub fn holders(&self, invariant: usize) -> Vec<ProcessId> {
        self.tables[invariant].processes.keys().copied().collect()
    }

    /// The least and the most that a process can weigh.
    pub fn process_range(&self, invariant: usize, process: ProcessId) -> (i64, i64) {
        range(self.tables[invariant].processes[&process].weights.values().copied())
    }

    pub fn constant(&self, invariant: usize) -> i64 {
        self.tables[invariant].constant
    }

    /// For each term of the left side its cells.
    pub fn terms(&self, invariant: usize) -> Vec<&[CellId]> {
        self.tables[invariant].terms.iter().map(|term| &term.cells[..]).collect()
    }

    /// The least and the most that a term can weigh, with some values or all.
    pub fn term_range(&self, invariant: usize, term: usize, values: Option<&BTreeSet<Vec<u32>>>) -> (i64, i64) {
        let weights = self.tables[invariant].terms[term].weights.iter();
        let meant = weights.filter(|(value, _)| values.is_none_or(|values| values.contains(*value)));
        range(meant.map(|(_, &weight)| weight))
    }

    /// Whether a turn of the view's member changes both sides by the same amount; what is wrong otherwise.
    pub fn check_turn(&self, view: &View, (before, after): (&[u32], &[u32])) -> Result<(), String> {
        let changed: BTreeSet<Item> = view
            .items
            .iter()
            .zip(before.iter().zip(after))
            .filter(|(_, (a, b))| a != b)
            .map(|(&item, _)| item)
            .collect();
        let affected = changed.iter().filter_map(|item| self.processes_of.get(item)).flatten();
        let affected: BTreeSet<(usize, ProcessId)> =
            affected.copied().filter(|(_, process)| !view.members.contains(process)).collect();
        if affected.iter().any(|(number, _)| view.position(*number).is_none()) {
            return Err("changes what another process weighs".to_owned());
        }
        for part in &view.sums {
            let table = &self.tables[part.number];
            // What is not shown does not change.
            if part.cut.iter().any(|&place| before[place] != after[place]) {
                return Err("changes cells that are weighed with others that it does not see".to_owned());
            }
            let left = |row: &[u32]| table.left(part, row).map_err(|_| "leads to a value without a weight".to_owned());
            let mut difference = left(after)? - left(before)?;
            let others = affected.iter().filter(|(number, _)| *number == part.number).map(|(_, process)| process);
            for &member in view.members.iter().chain(others) {
                let weight = |row: &[u32]| table.weight(member, (&view.items, row));
                let unlisted = |_| "leads to a local state without a weight".to_owned();
                difference -= weight(after).map_err(unlisted)? - weight(before).map_err(unlisted)?;
            }
            if difference != 0 {
                return Err(format!("makes the left side larger by {difference} than the right one"));
            }
        }
        Ok(())
    }
}

impl Table {
    fn new(model: &Model, invariant: &Additive) -> Result<Self, String> {
        let number = |cell: CellId, value| {
            let position = model.cells[cell].ty.position(value, model.type_context());
            let position = position.and_then(|position| u32::try_from(position).ok());
            position.ok_or_else(|| {
                format!("an additive invariant gives {} a value that it cannot have", model.cells[cell].name)
            })
        };
        let mut table = Table {
            range: (0, 0),
            left_range: (0, 0),
            constant: invariant.constant,
            terms: Vec::new(),
            processes: BTreeMap::new(),
        };
        let single = |one: &CellWeights| {
            let weights = one.weights.iter().map(|&(value, weight)| (vec![value], weight));
            GroupWeights { cells: vec![one.cell], weights: weights.collect() }
        };
        for one in invariant.cells.iter().map(single).chain(invariant.groups.iter().cloned()) {
            let mut weights = HashMap::new();
            for (values, weight) in &one.weights {
                let key = one.cells.iter().zip(values).map(|(&cell, &value)| number(cell, value));
                let key = key.collect::<Result<Vec<u32>, String>>()?;
                if values.len() != one.cells.len() || weights.insert(key, *weight).is_some() {
                    return Err("an additive invariant weighs not each choice of values once".to_owned());
                }
            }
            let same = |term: &Term| term.cells == one.cells;
            if table.terms.iter().any(same) {
                return Err("an additive invariant weighs cells twice".to_owned());
            }
            if weights.is_empty() {
                return Err("an additive invariant weighs no value of a cell".to_owned());
            }
            let range = range(weights.values().copied());
            table.terms.push(Term { cells: one.cells, weights, range });
        }
        for one in &invariant.processes {
            let of = name(model, one.process);
            if let Some(cell) = one.cells.iter().find(|&&cell| model.cells[cell].owner != Some(one.process)) {
                return Err(format!("{} does not belong to {of}", model.cells[*cell].name));
            }
            let mut weights = HashMap::new();
            for local in &one.weights {
                let values = one.cells.iter().zip(&local.values).map(|(&cell, &value)| number(cell, value));
                let key = std::iter::once(Ok(local.place.index() as u32))
                    .chain(values)
                    .collect::<Result<Vec<u32>, String>>()?;
                if local.values.len() != one.cells.len() || weights.insert(key, local.weight).is_some() {
                    return Err(format!("the weights of {of} are not one for each local state"));
                }
            }
            let cells = one.cells.iter().map(|&cell| Item::Cell(cell));
            let items = std::iter::once(Item::Control(one.process)).chain(cells).collect();
            if weights.is_empty() {
                return Err(format!("no local state of {of} has a weight"));
            }
            let range = range(weights.values().copied());
            if table.processes.insert(one.process, Local { items, weights, range }).is_some() {
                return Err(format!("an additive invariant weighs {of} twice"));
            }
        }
        let cells = table.terms.iter().flat_map(|term| term.weights.values());
        let locals = table.processes.values().flat_map(|local| local.weights.values());
        let mut all = { cells }.chain(locals).chain([&table.constant]);
        if all.any(|weight| weight.unsigned_abs() > MOST_WEIGHT) {
            return Err("an additive invariant has too large weights".to_owned());
        }
        drop(all);
        for term in &table.terms {
            table.left_range = (table.left_range.0 + term.range.0, table.left_range.1 + term.range.1);
        }
        for local in table.processes.values() {
            table.range = (table.range.0 + local.range.0, table.range.1 + local.range.1);
        }
        Ok(table)
    }

    /// Both sides are equal in the beginning, however the program starts.
    fn check_start(&self, model: &Model, first: &State) -> Outcome<()> {
        let obligation = "an additive invariant has to hold in the beginning";
        let local = self.processes.values().flat_map(|local| &local.items);
        let cells = local.filter_map(|item| if let Item::Cell(cell) = item { Some(cell) } else { None });
        for &cell in self.terms.iter().flat_map(|term| &term.cells).chain(cells) {
            // Another value would have to weigh the same; none of the invariants that are of use is like that.
            let other =
                model.cells[cell].ty.values(model.type_context()).find(|&value| value != first.cells[cell.index()]);
            let mut state = first.clone();
            state.cells[cell.index()] = other.unwrap_or(first.cells[cell.index()]);
            if other.is_some() && is_initial(model, &state) {
                return words::refused(obligation, format!("{} may start with any value", model.cells[cell].name));
            }
        }
        let content = |item: Item| match item {
            Item::Cell(cell) => {
                model.cells[cell].ty.position(first.cells[cell.index()], model.type_context()).unwrap_or(0) as u32
            }
            Item::Control(process) => first.place(process).index() as u32,
        };
        let unlisted =
            || CertificateError::Malformed("an additive invariant does not weigh what a run starts with".to_owned());
        let mut difference = self.constant;
        for term in &self.terms {
            let key: Vec<u32> = term.cells.iter().map(|&cell| content(Item::Cell(cell))).collect();
            difference += term.weights.get(&key).ok_or_else(unlisted)?;
        }
        for local in self.processes.values() {
            let key: Vec<u32> = local.items.iter().map(|&item| content(item)).collect();
            difference -= local.weights.get(&key).ok_or_else(unlisted)?;
        }
        match difference {
            0 => Ok(()),
            _ => words::refused(obligation, format!("the left side is larger by {difference}")),
        }
    }

    fn weight(&self, process: ProcessId, (items, row): (&[Item], &[u32])) -> Outcome<i64> {
        let Some(local) = self.processes.get(&process) else { return Ok(0) };
        let places = local.items.iter().map(|item| items.binary_search(item).ok());
        let key = places.map(|place| place.map(|place| row[place])).collect::<Option<Vec<u32>>>();
        let weight = key.and_then(|key| local.weights.get(&key).copied());
        weight
            .ok_or_else(|| CertificateError::Malformed("an additive invariant does not weigh a local state".to_owned()))
    }

    /// What the terms weigh that a view shows.
    fn left(&self, part: &Part, row: &[u32]) -> Outcome<i64> {
        let mut sum = 0;
        for (term, places) in &part.terms {
            let weight = self.terms[*term].weight(places, row);
            sum += weight.ok_or_else(|| {
                CertificateError::Malformed("an additive invariant does not weigh a value".to_owned())
            })?;
        }
        Ok(sum)
    }

    /// The least and the most that all processes but these can weigh together.
    fn others(&self, without: &[ProcessId]) -> (i64, i64) {
        let (mut least, mut most) = self.range;
        let each_once = without.iter().enumerate().filter(|&(at, process)| !without[..at].contains(process));
        for (_, process) in each_once {
            if let Some(local) = self.processes.get(process) {
                (least, most) = (least - local.range.0, most - local.range.1);
            }
        }
        (least, most)
    }
}

fn range(weights: impl Iterator<Item = i64>) -> (i64, i64) {
    weights.fold((i64::MAX, i64::MIN), |(least, most), weight| (least.min(weight), most.max(weight)))
}
