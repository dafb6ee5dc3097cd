//! Additive invariants, checked: initially equal, kept by every turn; and what they exclude.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evidence::propagation::Additive;
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

/// The invariants.
pub(super) struct Weights {
    tables: Vec<Table>,
    /// The invariants that depend on something, ascending; a part of a process depends on its control.
    of_item: HashMap<Item, Vec<usize>>,
    without_cells: Vec<usize>,
}

/// `constant + cells = processes`.
struct Table {
    /// The most that all processes can weigh together.
    most: i64,
    constant: i64,
    cells: BTreeMap<CellId, HashMap<u32, i64>>,
    processes: BTreeMap<ProcessId, Local>,
}

struct Local {
    /// Its control, then the cells that matter.
    items: Vec<Item>,
    weights: HashMap<Vec<u32>, i64>,
    /// The most that it can weigh.
    most: i64,
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
        let mut weights = Weights { tables, of_item: HashMap::new(), without_cells: Vec::new() };
        for (number, table) in weights.tables.iter().enumerate() {
            let locals = table.processes.values().flat_map(|local| &local.items).copied();
            for item in table.cells.keys().map(|&cell| Item::Cell(cell)).chain(locals) {
                let numbers = weights.of_item.entry(item).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
            if table.cells.is_empty() {
                weights.without_cells.push(number);
            }
        }
        Ok(weights)
    }

    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// The invariants that depend on something that a view shows, and those without cells; ascending.
    pub fn touched(&self, members: &[ProcessId], items: &BTreeSet<Item>) -> Vec<usize> {
        let of_items = items.iter().filter_map(|item| self.of_item.get(item));
        let of_members = members.iter().filter_map(|member| self.of_item.get(&Item::Control(*member)));
        let found: BTreeSet<usize> =
            of_items.chain(of_members).chain([&self.without_cells]).flatten().copied().collect();
        found.into_iter().collect()
    }

    /// What a row says about the invariants that its view touches; `None` where the others cannot make up what is left.
    pub fn shares(
        &self,
        touched: &[usize],
        members: &[ProcessId],
        at: (&[Item], &[u32]),
    ) -> Outcome<Option<Vec<Share>>> {
        let mut shares = Vec::new();
        for table in touched.iter().map(|&number| &self.tables[number]) {
            let share = table.share(members, at)?;
            if share.rest.is_some_and(|rest| !table.can_weigh(rest, members)) {
                return Ok(None);
            }
            shares.push(share);
        }
        Ok(Some(shares))
    }

    /// Whether two rows of views without a common member leave something that the rest can weigh.
    pub fn fit(&self, (one, row): (&View, usize), (other, other_row): (&View, usize)) -> bool {
        if one.members.iter().any(|member| other.members.contains(member)) {
            return true;
        }
        if one.sums.is_empty() && other.sums.is_empty() {
            return true;
        }
        let both: Vec<ProcessId> = one.members.iter().chain(&other.members).copied().collect();
        let fits = |table: &Table, a: Share, b: Share| match (a.rest, b.rest) {
            (Some(rest), _) => table.can_weigh(rest - b.own, &both),
            (None, Some(rest)) => table.can_weigh(rest - a.own, &both),
            (None, None) => true,
        };
        let alone = |number: &&usize| one.sums.binary_search(number).is_err();
        let all = one.sums.iter().chain(other.sums.iter().filter(alone));
        all.copied().all(|number| fits(&self.tables[number], one.share(row, number), other.share(other_row, number)))
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

    /// The cells of the left side.
    pub fn cells(&self, invariant: usize) -> Vec<CellId> {
        self.tables[invariant].cells.keys().copied().collect()
    }

    /// The least and the most that a cell can weigh, among some numbers or all.
    pub fn cell_range(&self, invariant: usize, cell: CellId, numbers: Option<&BTreeSet<u32>>) -> (i64, i64) {
        let weights = self.tables[invariant].cells[&cell].iter();
        let meant = weights.filter(|(number, _)| numbers.is_none_or(|numbers| numbers.contains(number)));
        range(meant.map(|(_, &weight)| weight))
    }

    /// Whether a turn of the view's member changes both sides alike; what is wrong otherwise.
    pub fn check_turn(&self, view: &View, (before, after): (&[u32], &[u32])) -> Result<(), String> {
        let changed: BTreeSet<Item> = view
            .items
            .iter()
            .zip(before.iter().zip(after))
            .filter(|(_, (a, b))| a != b)
            .map(|(&item, _)| item)
            .collect();
        for table in view.sums.iter().map(|&number| &self.tables[number]) {
            let foreign = |(process, local): (&ProcessId, &Local)| {
                !view.members.contains(process) && local.items.iter().any(|item| changed.contains(item))
            };
            if table.processes.iter().any(foreign) {
                return Err("changes what another process weighs".to_owned());
            }
            let mut difference = 0;
            for (&cell, weights) in &table.cells {
                let Ok(place) = view.items.binary_search(&Item::Cell(cell)) else { continue };
                let weight = |row: &[u32]| weights.get(&row[place]).copied().ok_or("leads to a value without a weight");
                difference += weight(after)? - weight(before)?;
            }
            for &member in &view.members {
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
        let mut table =
            Table { most: 0, constant: invariant.constant, cells: BTreeMap::new(), processes: BTreeMap::new() };
        for one in &invariant.cells {
            let weights = one.weights.iter().map(|&(value, weight)| Ok((number(one.cell, value)?, weight)));
            let weights = weights.collect::<Result<HashMap<u32, i64>, String>>()?;
            if weights.len() != one.weights.len() || table.cells.insert(one.cell, weights).is_some() {
                return Err(format!("an additive invariant weighs {} twice", model.cells[one.cell].name));
            }
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
                if local.weight < 0
                    || local.values.len() != one.cells.len()
                    || weights.insert(key, local.weight).is_some()
                {
                    return Err(format!("the weights of {of} are not one for each local state, from 0 on"));
                }
            }
            let cells = one.cells.iter().map(|&cell| Item::Cell(cell));
            let items = std::iter::once(Item::Control(one.process)).chain(cells).collect();
            let most = weights.values().copied().max().unwrap_or(0);
            if table.processes.insert(one.process, Local { items, weights, most }).is_some() {
                return Err(format!("an additive invariant weighs {of} twice"));
            }
        }
        let cells = table.cells.values().flat_map(HashMap::values);
        let locals = table.processes.values().flat_map(|local| local.weights.values());
        let mut all = { cells }.chain(locals).chain([&table.constant]);
        if all.any(|weight| weight.unsigned_abs() > MOST_WEIGHT) {
            return Err("an additive invariant has too large weights".to_owned());
        }
        drop(all);
        table.most = table.processes.values().map(|local| local.most).sum();
        Ok(table)
    }

    /// Both sides are equal in the beginning, however the program starts.
    fn check_start(&self, model: &Model, first: &State) -> Outcome<()> {
        let obligation = "an additive invariant has to hold in the beginning";
        let local = self.processes.values().flat_map(|local| &local.items);
        let cells = local.filter_map(|item| if let Item::Cell(cell) = item { Some(cell) } else { None });
        for &cell in self.cells.keys().chain(cells) {
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
        for (&cell, weights) in &self.cells {
            difference += weights.get(&content(Item::Cell(cell))).ok_or_else(unlisted)?;
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

    fn share(&self, members: &[ProcessId], (items, row): (&[Item], &[u32])) -> Outcome<Share> {
        let mut own = 0;
        for &member in members {
            own += self.weight(member, (items, row))?;
        }
        let mut rest = Some(self.constant - own);
        for (&cell, weights) in &self.cells {
            rest = match items.binary_search(&Item::Cell(cell)) {
                Err(_) => None,
                Ok(place) => {
                    let weight = weights.get(&row[place]).ok_or_else(|| {
                        CertificateError::Malformed("an additive invariant does not weigh a value".to_owned())
                    })?;
                    rest.map(|rest| rest + weight)
                }
            };
        }
        Ok(Share { own, rest })
    }

    /// Whether all processes but these can weigh so much together.
    fn can_weigh(&self, amount: i64, without: &[ProcessId]) -> bool {
        let left_out =
            without.iter().collect::<BTreeSet<_>>().into_iter().filter_map(|process| self.processes.get(process));
        0 <= amount && amount <= self.most - left_out.map(|local| local.most).sum::<i64>()
    }
}

fn range(weights: impl Iterator<Item = i64>) -> (i64, i64) {
    weights.fold((i64::MAX, i64::MIN), |(least, most), weight| (least.min(weight), most.max(weight)))
}
