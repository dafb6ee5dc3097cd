//! Additive invariants, as tables over the numbers in rows.
//!
//! In: invariants of `evidence::propagation`. Out: for a view state what its processes weigh, and what the other processes have to weigh
//! together, where the view shows all cells of the invariant; and whether two view states, or one, leave the rest an amount that
//! it can have.

use evidence::propagation::Additive;
use model::Model;
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use crate::items::{Item, number};

/// The invariants that are in use.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    tables: Vec<Table>,
    /// The invariants that a cell stands in, and those that a process has a part in; ascending.
    of_cell: FxHashMap<Item, Vec<usize>>,
    of_process: FxHashMap<ProcessId, Vec<usize>>,
}

/// One invariant.
#[derive(Clone, Debug)]
struct Table {
    constant: i64,
    cells: FxHashMap<Item, FxHashMap<u32, i64>>,
    processes: FxHashMap<ProcessId, Local>,
    /// The most that all processes can weigh together.
    most: i64,
}

/// What the local states of a process weigh.
#[derive(Clone, Debug)]
struct Local {
    /// The control of the process, then the cells that matter.
    items: Vec<Item>,
    weights: FxHashMap<Vec<u32>, i64>,
    most: i64,
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

impl Weights {
    /// Tables for invariants.
    pub fn new(model: &Model, invariants: &[Additive]) -> Self {
        let tables: Vec<Table> = invariants.iter().map(|one| Table::new(model, one)).collect();
        let (mut of_cell, mut of_process): (FxHashMap<Item, Vec<usize>>, FxHashMap<ProcessId, Vec<usize>>) =
            Default::default();
        for (number, table) in tables.iter().enumerate() {
            table.cells.keys().for_each(|&cell| of_cell.entry(cell).or_default().push(number));
            table.processes.keys().for_each(|&process| of_process.entry(process).or_default().push(number));
        }
        Weights { tables, of_cell, of_process }
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
    pub fn touched(&self, members: &[ProcessId], items: &[Item]) -> Vec<usize> {
        let of_cells = items.iter().filter_map(|item| self.of_cell.get(item));
        let of_members = members.iter().filter_map(|member| self.of_process.get(member));
        let mut found: Vec<usize> = of_cells.chain(of_members).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Of the invariants that a view touches, those that its states say something about.
    pub fn concerned(&self, touched: &[usize], members: &[ProcessId], items: &[Item]) -> Vec<usize> {
        let concerns = |&&invariant: &&usize| {
            let table = &self.tables[invariant];
            members.iter().any(|member| table.processes.contains_key(member))
                || table.cells.keys().all(|cell| items.binary_search(cell).is_ok())
        };
        touched.iter().filter(concerns).copied().collect()
    }

    /// What a view state says about these invariants; `None` where it has a value that some table does not list.
    pub fn shares(&self, concerned: &[usize], members: &[ProcessId], at: (&[Item], &[u32])) -> Option<Shares> {
        concerned.iter().map(|&invariant| self.tables[invariant].share(invariant, members, at)).collect()
    }

    /// Whether some states of the others fit to a view state.
    pub fn is_possible(&self, members: &[ProcessId], shares: &Shares) -> bool {
        shares.iter().all(|share| {
            let most = || self.tables[share.invariant].most_without(members.iter().copied());
            share.rest.is_none_or(|rest| 0 <= rest && rest <= most())
        })
    }

    /// Whether some states of the others fit to two view states without a process in common.
    pub fn are_possible(&self, one: (&[ProcessId], &Shares), other: (&[ProcessId], &Shares)) -> bool {
        let fits = |share: &Share, theirs: &Shares| {
            let Some(rest) = share.rest else { return true };
            let rest = rest - share_of(theirs, share.invariant).map_or(0, |share| share.own);
            let most = || self.tables[share.invariant].most_without(one.0.iter().chain(other.0).copied());
            0 <= rest && rest <= most()
        };
        one.1.iter().all(|share| fits(share, other.1)) && other.1.iter().all(|share| fits(share, one.1))
    }

    /// What a process weighs in an invariant, at a row; `None` where the table does not list it.
    pub fn weight(&self, invariant: usize, process: ProcessId, (items, row): (&[Item], &[u32])) -> Option<i64> {
        self.tables[invariant].weight(process, (items, row))
    }

    /// What stands on the left side besides the cells.
    pub fn constant(&self, invariant: usize) -> i64 {
        self.tables[invariant].constant
    }

    /// The cells of the left side.
    pub fn cells(&self, invariant: usize) -> Vec<Item> {
        self.tables[invariant].cells.keys().copied().collect()
    }

    /// What the values of a cell weigh.
    pub fn cell_weights(&self, invariant: usize, cell: Item) -> impl Iterator<Item = i64> {
        self.tables[invariant].cells[&cell].values().copied()
    }

    /// What one value of a cell weighs.
    pub fn cell_weight(&self, invariant: usize, cell: Item, number: u32) -> i64 {
        self.tables[invariant].cells[&cell].get(&number).copied().unwrap_or(0)
    }

    /// The least and the most that a process can weigh.
    pub fn process_range(&self, invariant: usize, process: ProcessId) -> (i64, i64) {
        let weights = self.tables[invariant].processes[&process].weights.values().copied();
        weights.fold((i64::MAX, i64::MIN), |(least, most), weight| (least.min(weight), most.max(weight)))
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
        let cells = invariant.cells.iter().map(|one| {
            let ty = model.cells[one.cell].ty;
            let weights = one.weights.iter().filter_map(|&(value, weight)| Some((number(model, ty, value)?, weight)));
            (Item::Cell(one.cell), weights.collect())
        });
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
            let most = weights.values().copied().max().unwrap_or(0);
            (one.process, Local { items, weights, most })
        });
        let processes: FxHashMap<ProcessId, Local> = processes.collect();
        let most = processes.values().map(|local| local.most).sum();
        Table { constant: invariant.constant, cells: cells.collect(), processes, most }
    }

    fn most_without(&self, left_out: impl Iterator<Item = ProcessId>) -> i64 {
        self.most - left_out.filter_map(|process| self.processes.get(&process)).map(|local| local.most).sum::<i64>()
    }

    fn weight(&self, process: ProcessId, (items, row): (&[Item], &[u32])) -> Option<i64> {
        let Some(local) = self.processes.get(&process) else { return Some(0) };
        let at = |item: &Item| items.binary_search(item).ok().map(|at| row[at]);
        let key = local.items.iter().map(at).collect::<Option<Vec<u32>>>()?;
        local.weights.get(&key).copied()
    }

    fn share(&self, invariant: usize, members: &[ProcessId], (items, row): (&[Item], &[u32])) -> Option<Share> {
        let own = members.iter().map(|&process| self.weight(process, (items, row))).sum::<Option<i64>>()?;
        let mut left = Some(self.constant);
        for (cell, weights) in &self.cells {
            match items.binary_search(cell) {
                Ok(at) => {
                    let weight = weights.get(&row[at])?;
                    left = left.map(|left| left + weight);
                }
                Err(_) => left = None,
            }
        }
        Some(Share { invariant, own, rest: left.map(|left| left - own) })
    }
}
