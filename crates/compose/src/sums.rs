//! Sums that were checked, and which view states they exclude.
//!
//! In: additive invariants, as facts that have a proof. Out: for some cells and processes that are seen, whether what these weigh can be made up
//! for by all that is not seen. What cannot is of no reachable state: a local set may leave it out, if its certificate names the sums.
//! A value that no table lists says nothing.

use std::sync::Arc;

use evidence::propagation::{Additive, Sights};
use model::control::PlaceId;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;
use rustc_hash::FxHashMap;

/// The least and the most of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub least: i64,
    /// The most.
    pub most: i64,
}

impl Bounds {
    fn of(weights: impl Iterator<Item = i64> + Clone) -> Bounds {
        Bounds { least: weights.clone().min().unwrap_or(0), most: weights.max().unwrap_or(0) }
    }

    fn plus(self, other: Bounds) -> Bounds {
        Bounds { least: self.least + other.least, most: self.most + other.most }
    }

    /// The difference of two.
    pub fn minus(self, other: Bounds) -> Bounds {
        Bounds { least: self.least - other.most, most: self.most - other.least }
    }

    /// Anything; sums of these stay within the numbers.
    pub fn unknown() -> Bounds {
        Bounds { least: -(1 << 40), most: 1 << 40 }
    }

    fn exactly(weight: i64) -> Bounds {
        Bounds { least: weight, most: weight }
    }
}

/// Sums, as tables.
#[derive(Debug)]
pub struct Sums {
    /// The fact that they are, for certificates.
    pub fact: Sights,
    tables: Vec<SumTable>,
}

/// One sum: what its cells weigh is what its processes weigh.
#[derive(Debug)]
struct SumTable {
    constant: i64,
    cells: Vec<WeighedCells>,
    processes: Vec<WeighedProcess>,
}

/// Cells that are weighed together.
#[derive(Debug)]
pub struct WeighedCells {
    cells: Vec<CellId>,
    weights: FxHashMap<Vec<Value>, i64>,
    bounds: Bounds,
}

/// What the local states of a process weigh.
#[derive(Debug)]
pub struct WeighedProcess {
    /// The process.
    pub process: ProcessId,
    /// The cells of its own that matter.
    pub cells: Vec<CellId>,
    weights: FxHashMap<(PlaceId, Vec<Value>), i64>,
    bounds: Bounds,
}

impl WeighedProcess {
    /// What a local state weighs, if the table lists it.
    pub fn weight(&self, place: PlaceId, values: &[Value]) -> Option<i64> {
        self.weights.get(&(place, values.to_vec())).copied()
    }

    /// What the local states weigh that may be those of the process.
    pub fn bounds_where(&self, may_be: impl Fn(PlaceId, &[Value]) -> bool) -> Option<Bounds> {
        let fits = |((place, values), _): &(&(PlaceId, Vec<Value>), &i64)| may_be(*place, values);
        let weights: Vec<i64> = self.weights.iter().filter(fits).map(|(_, &weight)| weight).collect();
        (!weights.is_empty()).then(|| Bounds::of(weights.into_iter()))
    }
}

impl Sums {
    /// The sums of a fact; `None` where there are none, or the fact is one about crowds.
    pub fn new(fact: Sights) -> Option<Arc<Sums>> {
        if fact.additive.is_empty() || !fact.crowds.is_empty() {
            return None;
        }
        let tables = fact.additive.iter().map(SumTable::new).collect();
        Some(Arc::new(Sums { fact, tables }))
    }

    /// What is seen of the sums where some cells and the local states of some processes are.
    pub fn seen(&self, is_seen: impl Fn(CellId) -> bool, is_placed: impl Fn(ProcessId) -> bool) -> SeenSums<'_> {
        let seen = |table| SeenSum::new(table, &is_seen, &is_placed);
        SeenSums { list: self.tables.iter().filter_map(seen).collect() }
    }

    /// How many there are.
    pub fn n_sums(&self) -> usize {
        self.tables.len()
    }

    /// What the left side of a sum has where some cells are seen; nothing where a value is not listed.
    pub fn left(
        &self,
        sum: usize,
        is_seen: impl Fn(CellId) -> bool,
        value: impl Fn(CellId) -> Value,
    ) -> Option<Bounds> {
        let mut left = Bounds::exactly(self.tables[sum].constant);
        for one in &self.tables[sum].cells {
            left = left.plus(match one.cells.iter().all(|&cell| is_seen(cell)) {
                true => {
                    Bounds::exactly(*one.weights.get(&one.cells.iter().map(|&cell| value(cell)).collect::<Vec<_>>())?)
                }
                false => one.bounds,
            });
        }
        Some(left)
    }

    /// The processes of the right side.
    pub fn processes(&self, sum: usize) -> &[WeighedProcess] {
        &self.tables[sum].processes
    }

    /// The cells and processes that some sum weighs.
    pub fn concerned(&self) -> (Vec<CellId>, Vec<&WeighedProcess>) {
        let cells = self.tables.iter().flat_map(|table| &table.cells).flat_map(|one| one.cells.iter().copied());
        (cells.collect(), self.tables.iter().flat_map(|table| &table.processes).collect())
    }
}

impl SumTable {
    fn new(sum: &Additive) -> SumTable {
        let single = sum.cells.iter().map(|one| {
            let weights = one.weights.iter().map(|&(value, weight)| (vec![value], weight)).collect();
            (vec![one.cell], weights)
        });
        let groups = sum.groups.iter().map(|one| (one.cells.clone(), one.weights.iter().cloned().collect()));
        let cells = single.chain(groups).map(|(cells, weights): (_, FxHashMap<Vec<Value>, i64>)| {
            let bounds = Bounds::of(weights.values().copied());
            WeighedCells { cells, weights, bounds }
        });
        let processes = sum.processes.iter().map(|one| {
            let weights: FxHashMap<(PlaceId, Vec<Value>), i64> =
                one.weights.iter().map(|local| ((local.place, local.values.clone()), local.weight)).collect();
            let bounds = Bounds::of(weights.values().copied());
            WeighedProcess { process: one.process, cells: one.cells.clone(), weights, bounds }
        });
        SumTable { constant: sum.constant, cells: cells.collect(), processes: processes.collect() }
    }
}

/// What a view shows of sums.
pub struct SeenSums<'s> {
    list: Vec<SeenSum<'s>>,
}

struct SeenSum<'s> {
    cells: Vec<&'s WeighedCells>,
    processes: Vec<&'s WeighedProcess>,
    /// The processes whose local states are not seen.
    others: Vec<&'s WeighedProcess>,
    /// What the left side has beside the cells that are seen.
    rest: Bounds,
}

/// What a view state shows.
pub trait Glimpse {
    /// The value of a cell that is seen.
    fn value(&self, cell: CellId) -> Value;

    /// The place of a process that is seen.
    fn place(&self, process: ProcessId) -> PlaceId;
}

impl SeenSums<'_> {
    /// Whether there is nothing that could exclude a view state.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a view state is of no reachable state.
    pub fn exclude(&self, view: &impl Glimpse) -> bool {
        self.list.iter().any(|sum| sum.excludes(view))
    }
}

impl<'s> SeenSum<'s> {
    /// `None` where nothing of the sum is seen.
    fn new(
        table: &'s SumTable,
        is_seen: &impl Fn(CellId) -> bool,
        is_placed: &impl Fn(ProcessId) -> bool,
    ) -> Option<SeenSum<'s>> {
        let (cells, hidden): (Vec<&WeighedCells>, Vec<&WeighedCells>) =
            table.cells.iter().partition(|one| one.cells.iter().all(|&cell| is_seen(cell)));
        let is_shown = |one: &&WeighedProcess| is_placed(one.process) && one.cells.iter().all(|&cell| is_seen(cell));
        let (processes, others): (Vec<&WeighedProcess>, Vec<&WeighedProcess>) =
            table.processes.iter().partition(is_shown);
        if cells.is_empty() && processes.is_empty() {
            return None;
        }
        let rest = hidden.iter().fold(Bounds::exactly(table.constant), |sum, one| sum.plus(one.bounds));
        Some(SeenSum { cells, processes, others, rest })
    }

    fn excludes(&self, view: &impl Glimpse) -> bool {
        let mut difference = self.rest;
        for one in &self.cells {
            let key: Vec<Value> = one.cells.iter().map(|&cell| view.value(cell)).collect();
            let Some(&weight) = one.weights.get(&key) else { return false };
            difference = difference.plus(Bounds::exactly(weight));
        }
        for one in &self.processes {
            let values = one.cells.iter().map(|&cell| view.value(cell)).collect();
            let Some(&weight) = one.weights.get(&(view.place(one.process), values)) else { return false };
            difference = difference.minus(Bounds::exactly(weight));
        }
        for one in &self.others {
            difference = difference.minus(one.bounds);
        }
        difference.least > 0 || difference.most < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::propagation::{CellWeights, LocalWeight, ProcessWeights};

    struct View {
        free: bool,
        place: usize,
    }

    impl Glimpse for View {
        fn value(&self, _cell: CellId) -> Value {
            Value::Bool(self.free)
        }

        fn place(&self, _process: ProcessId) -> PlaceId {
            PlaceId::new(self.place)
        }
    }

    /// `1 - free` is how many are at place 1.
    fn lock(n: usize) -> Arc<Sums> {
        let place = |place, weight| LocalWeight { place: PlaceId::new(place), values: Vec::new(), weight };
        let holder = |process| ProcessWeights {
            process: ProcessId::new(process),
            cells: Vec::new(),
            weights: vec![place(0, 0), place(1, 1)],
        };
        let cells =
            CellWeights { cell: CellId::new(0), weights: vec![(Value::Bool(true), -1), (Value::Bool(false), 0)] };
        let sum =
            Additive { constant: 1, cells: vec![cells], groups: Vec::new(), processes: (0..n).map(holder).collect() };
        Sums::new(Sights { additive: vec![sum], ..Sights::default() }).unwrap()
    }

    #[test]
    fn what_cannot_be_made_up_for_is_excluded() {
        let excluded = |n: usize, free, place| {
            let sums = lock(n);
            sums.seen(|_| true, |process| process.index() == 0).exclude(&View { free, place })
        };
        assert!(excluded(3, true, 1), "it is free and held");
        assert!(!excluded(3, false, 1));
        assert!(!excluded(3, false, 0), "another one may hold it");
        assert!(excluded(1, false, 0), "nobody holds it");
        assert!(!excluded(3, true, 7), "a place without a weight says nothing");
        assert!(!lock(3).seen(|_| false, |process| process.index() == 0).exclude(&View { free: true, place: 1 }));
    }
}
