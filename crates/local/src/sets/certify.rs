//! Local sets as a proof that the checker can verify.
//!
//! Control is numbered by `model::points`, so that symmetric processes have the same numbers; values by their position
//! among those of their type.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use base::{Feature, StopReason, Unsupported};
use compose::backend::Join;
use evidence::certificate::{Column, ControlPoint, Exposed, Member, SplitInvariant, StateSet};
use model::control::PlaceId;
use model::points::Points;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role};

use super::{LocalSets, Rows};
use packed::packing::{Packed, decode, numbers_fit, position};

/// No process may have more control points than this in a proof.
const MOST_POINTS: usize = 1 << 20;

/// How control is numbered.
struct ControlNumbers {
    /// By process: its points.
    points: Vec<Vec<ControlPoint>>,
    /// By process: the number of a place with the values of the counters.
    numbers: HashMap<ProcessId, HashMap<(PlaceId, Vec<Value>), u32>>,
}

impl<const W: usize> LocalSets<'_, W> {
    /// The sets of all groups of `k` processes as a split invariant.
    pub(super) fn invariant(&self, k: usize, sets: Join<'_, Rc<Rows<W>>>) -> Result<SplitInvariant, StopReason> {
        let mut control = self.control()?;
        let concerned: BTreeSet<ProcessId> = sets.iter().flat_map(|(group, _)| group.iter().copied()).collect();
        for process in concerned {
            let key = |point: &ControlPoint| (point.place, point.counters.iter().map(|(_, value)| *value).collect());
            let numbers = control.points[process.index()].iter().map(key).zip(0..).collect();
            control.numbers.insert(process, numbers);
        }
        let mut members = Vec::new();
        for (group, set) in sets {
            members.push(self.member(group, set, &control)?);
        }
        let nothing = Exposed { facts: Vec::new(), blocks: vec![Vec::new()] };
        let exposed = vec![nothing; control.points.len()];
        Ok(SplitInvariant { k, points: control.points, exposed, members, symmetry: None })
    }

    fn control(&self) -> Result<ControlNumbers, StopReason> {
        let model = self.model();
        let of = |process: ProcessId| {
            let points = Points::of(model, process, MOST_POINTS)
                .ok_or_else(|| Unsupported::about(Feature::LongLoops, &model.processes[process].name))?;
            let cells = self.counters(process);
            let value = |point: &model::points::Point, cell: &CellId| point.counters[&model.cells[*cell].var];
            let point = |point: &model::points::Point| ControlPoint {
                place: point.place,
                counters: cells.iter().map(|cell| (*cell, value(point, cell))).collect(),
            };
            Ok(points.points.iter().map(point).collect())
        };
        let points = model.processes.ids().map(of).collect::<Result<Vec<Vec<ControlPoint>>, StopReason>>()?;
        Ok(ControlNumbers { points, numbers: HashMap::new() })
    }

    /// The cells of a process's loop counters.
    fn counters(&self, process: ProcessId) -> Vec<CellId> {
        let model = self.model();
        let vars = &model.families[model.processes[process].family].vars;
        let cells = vars.iter().flat_map(|&var| model.cells_of(var, Some(process)));
        cells.filter(|&cell| matches!(model.vars[model.cells[cell].var].role, Role::Counter(_))).collect()
    }

    fn member(&self, group: &[ProcessId], set: &Rows<W>, control: &ControlNumbers) -> Result<Member, StopReason> {
        let model = self.model();
        let mut cells: BTreeSet<CellId> = BTreeSet::new();
        for &process in group {
            cells.extend(&self.sight.of[process.index()].cells);
            let vars = &model.families[model.processes[process].family].vars;
            cells.extend(vars.iter().flat_map(|&var| model.cells_of(var, Some(process))));
        }
        cells.retain(|&cell| !matches!(model.vars[model.cells[cell].var].role, Role::Counter(_)));
        numbers_fit(model, cells.iter().map(|&cell| model.cells[cell].ty))?;
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(set.len());
        for row in set.iter() {
            let numbers = cells.iter().map(|&cell| self.value_number(cell, row));
            let points = group.iter().map(|&process| self.point_number(process, row, control));
            rows.push(numbers.chain(points).collect());
            self.meter.tick((rows.len() * (24 + 4 * (cells.len() + group.len()))) as u64)?;
        }
        rows.sort_unstable();
        let columns = cells.into_iter().map(Column::Cell).chain(group.iter().map(|&process| Column::Control(process)));
        Ok(Member { processes: group.to_vec(), columns: columns.collect(), states: StateSet::Rows(rows) })
    }

    fn point_number(&self, process: ProcessId, row: &Packed<W>, control: &ControlNumbers) -> u32 {
        let codec = self.machine.codec;
        let point = codec.plan.points[process.index()].point(codec.layout.control[process.index()].raw(row) as u32);
        let counter = |cell: CellId| {
            let declared = &self.model().cells[cell];
            let Role::Counter(id) = self.model().vars[declared.var].role else { unreachable!("counters count") };
            let folded = point.counters.iter().find(|(other, _)| *other == id);
            folded.map_or_else(|| decode(codec.layout.locations[cell.index()].0.get(row), declared.ty), |found| found.1)
        };
        let counters = self.counters(process).into_iter().map(counter).collect();
        control.numbers[&process][&(point.place, counters)]
    }

    /// The position of a cell's value among those of its type.
    fn value_number(&self, cell: CellId, row: &Packed<W>) -> u32 {
        let model = self.model();
        let number = self.machine.codec.layout.locations[cell.index()].0.get(row);
        position(number, model.cells[cell].ty, model)
    }
}
