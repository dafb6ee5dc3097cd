//! View states of a member, and of its images under permutations of processes: what the numbers of a row say about cells and control.
//!
//! In: a member of a split invariant and a permutation that the certificate states. Out: [`MemberView`]s whose [`PartialViewState`]s can be asked for
//! values and places. Of another process a row shows at most which facts hold of its local state; the local states of which they hold are the cases
//! of such a process.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use evidence::certificate::{Column, LocalFact, Member, SplitInvariant};
use model::Model;
use model::control::PlaceId;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

use super::truth::StateKnowledge;

/// Columns with more numbers than this are not examined.
const MOST_NUMBERS: u128 = 1 << 16;
/// Processes with more local states than this, as far as exposed facts distinguish them, have no cases.
const MOST_CASES: usize = 4096;

/// Where each process goes.
#[derive(Clone, Debug)]
pub struct ProcessRenaming(Vec<ProcessId>);

impl ProcessRenaming {
    /// Takes some processes to others of their families, and the remaining ones of each family, in their order, to the remaining ones.
    pub fn taking(model: &Model, from: &[ProcessId], to: &[ProcessId]) -> Self {
        let mut goes: Vec<ProcessId> = model.processes.ids().collect();
        for family in &model.families {
            let rest = |taken: &[ProcessId]| -> Vec<ProcessId> {
                family.processes().filter(|process| !taken.contains(process)).collect()
            };
            rest(from).into_iter().zip(rest(to)).for_each(|(one, other)| goes[one.index()] = other);
        }
        from.iter().zip(to).for_each(|(one, other)| goes[one.index()] = *other);
        ProcessRenaming(goes)
    }

    fn process(&self, process: ProcessId) -> ProcessId {
        self.0[process.index()]
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::Process(process) => Value::Process(self.process(process)),
            other => other,
        }
    }

    /// Where a cell goes: to the same variable of the owner's image; elements go with processes where the certificate says so.
    fn cell(&self, model: &Model, invariant: &SplitInvariant, cell: CellId) -> CellId {
        let declared = &model.cells[cell];
        let first = model.cells_of(declared.var, declared.owner).next().map_or(0, |first| first.index());
        let lens = model.vars[declared.var].ty.dimensions();
        let mut offset = cell.index() - first;
        let mut moved = 0;
        let mut stride = 1;
        for (dimension, len) in lens.iter().enumerate().rev() {
            let index = offset % len;
            offset /= len;
            let of_processes = invariant.symmetry.iter().flat_map(|symmetry| &symmetry.dimensions);
            let family = { of_processes }.find(|one| one.var == declared.var && one.dimension == dimension);
            let family = family.map(|one| &model.families[one.family]).filter(|family| index < family.count());
            let index = family.map_or(index, |family| {
                let first = family.first.index();
                self.process(ProcessId::new(first + index)).index() - first
            });
            moved += index * stride;
            stride *= len;
        }
        let owner = declared.owner.map(|owner| self.process(owner));
        model.cells_of(declared.var, owner).nth(moved).unwrap_or(cell)
    }
}

/// The view states of a member, or of one of its images.
pub struct MemberView<'a> {
    pub(super) model: &'a Model,
    invariant: &'a SplitInvariant,
    /// What the columns show in the image.
    pub(super) columns: Vec<Column>,
    /// For columns of cells what their numbers mean in the image.
    values: Vec<Vec<Value>>,
    at: HashMap<Column, usize>,
    /// The cases of each process and block, as far as they were asked for.
    cases: RefCell<HashMap<ExposedBlock, Rc<Vec<KnownLocal>>>>,
}

/// What a process exposes, by the number of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ExposedBlock {
    process: ProcessId,
    number: u32,
}

/// What is known of the local state of a process.
#[derive(Clone, Debug)]
pub struct KnownLocal {
    process: ProcessId,
    place: PlaceId,
    cells: Vec<(CellId, Value)>,
}

impl<'a> MemberView<'a> {
    /// The member's image; `None` where a column has too many numbers.
    pub fn new(
        model: &'a Model,
        invariant: &'a SplitInvariant,
        member: &Member,
        permutation: &ProcessRenaming,
    ) -> Option<Self> {
        let mut columns = Vec::new();
        let mut values = Vec::new();
        for &column in &member.columns {
            columns.push(match column {
                Column::Cell(cell) => Column::Cell(permutation.cell(model, invariant, cell)),
                Column::Control(process) => Column::Control(permutation.process(process)),
                Column::Exposed(process) => Column::Exposed(permutation.process(process)),
            });
            values.push(match column {
                Column::Cell(cell) => {
                    let ty = model.cells[cell].ty;
                    if ty.n_values(model.type_context()) > MOST_NUMBERS {
                        return None;
                    }
                    ty.values(model.type_context()).map(|value| permutation.value(value)).collect()
                }
                Column::Control(_) | Column::Exposed(_) => Vec::new(),
            });
        }
        let at = columns.iter().copied().zip(0..).collect();
        Some(MemberView { model, invariant, columns, values, at, cases: RefCell::default() })
    }

    /// How many numbers a column has.
    pub fn n_numbers(&self, column: usize) -> usize {
        match self.columns[column] {
            Column::Cell(_) => self.values[column].len(),
            Column::Control(process) => self.invariant.points[process.index()].len(),
            Column::Exposed(process) => self.invariant.exposed[process.index()].blocks.len().max(1),
        }
    }

    /// The column that shows a cell: its own, that of its owner's control where it counts a loop, or that of what its owner exposes.
    pub fn column_of_cell(&self, cell: CellId) -> Option<usize> {
        let owner = self.model.cells[cell].owner;
        let columns = [Some(Column::Cell(cell)), owner.map(Column::Control), owner.map(Column::Exposed)];
        let shows = |column: &Column| match *column {
            Column::Control(process) => {
                let points = &self.invariant.points[process.index()];
                points.first().is_some_and(|point| point.counters.iter().any(|(counter, _)| *counter == cell))
            }
            Column::Cell(_) | Column::Exposed(_) => true,
        };
        columns.into_iter().flatten().filter(shows).find_map(|column| self.at.get(&column).copied())
    }

    /// The column that shows the place of a process, or what it exposes.
    pub fn column_of_place(&self, process: ProcessId) -> Option<usize> {
        let columns = [Column::Control(process), Column::Exposed(process)];
        columns.iter().find_map(|column| self.at.get(column).copied())
    }

    /// The local states of a process in which exactly the facts of a block hold, as far as facts distinguish them.
    fn cases_of(&self, block: ExposedBlock) -> Rc<Vec<KnownLocal>> {
        if let Some(known) = self.cases.borrow().get(&block) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.list_cases(block).unwrap_or_default());
        self.cases.borrow_mut().insert(block, Rc::clone(&found));
        found
    }

    fn list_cases(&self, ExposedBlock { process, number }: ExposedBlock) -> Option<Vec<KnownLocal>> {
        let exposed = &self.invariant.exposed[process.index()];
        let block = exposed.blocks.get(number as usize)?;
        let points = &self.invariant.points[process.index()];
        let counters: Vec<CellId> = points.first()?.counters.iter().map(|(cell, _)| *cell).collect();
        let mut cells: Vec<CellId> = Vec::new();
        for fact in exposed.facts.iter().flat_map(LocalFact::plain) {
            if let LocalFact::Cell(cell, _) = fact
                && !counters.contains(cell)
                && !cells.contains(cell)
            {
                cells.push(*cell);
            }
        }
        let mut choices: Vec<Vec<(CellId, Value)>> = vec![Vec::new()];
        for &cell in &cells {
            let ty = self.model.cells[cell].ty;
            let n_values = usize::try_from(ty.n_values(self.model.type_context())).ok()?;
            if choices.len().checked_mul(n_values)?.checked_mul(points.len())? > MOST_CASES {
                return None;
            }
            let values: Vec<Value> = ty.values(self.model.type_context()).collect();
            let longer = |choice: &Vec<(CellId, Value)>| {
                values.iter().map(|&value| [&choice[..], &[(cell, value)]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        let mut found = Vec::new();
        for (number, point) in points.iter().enumerate() {
            for choice in &choices {
                let local = [&choice[..], &point.counters[..]].concat();
                let holds = |fact: &LocalFact| match fact {
                    LocalFact::Control(points) => points.contains(&number),
                    LocalFact::Cell(cell, value) => local.contains(&(*cell, *value)),
                    LocalFact::OneOf(_) => false,
                };
                if exposed.facts.iter().map(|fact| fact.holds(&holds)).eq(block.iter().copied()) {
                    found.push(KnownLocal { process, place: point.place, cells: local });
                }
            }
        }
        Some(found)
    }
}

/// One view state: numbers for some of the columns.
#[derive(Clone)]
pub struct PartialViewState<'v, 'a> {
    view: &'v MemberView<'a>,
    /// By column; `None` for those that are not examined.
    row: &'v [Option<u32>],
    /// What is supposed about local states beyond that.
    locals: Vec<KnownLocal>,
}

impl<'v, 'a> PartialViewState<'v, 'a> {
    /// The row of a view.
    pub fn new(view: &'v MemberView<'a>, row: &'v [Option<u32>]) -> Self {
        PartialViewState { view, row, locals: Vec::new() }
    }

    fn number(&self, column: Column) -> Option<(usize, u32)> {
        let at = *self.view.at.get(&column)?;
        Some((at, self.row[at]?))
    }
}

impl StateKnowledge for PartialViewState<'_, '_> {
    fn value(&self, cell: CellId) -> Option<Value> {
        if let Some((at, number)) = self.number(Column::Cell(cell)) {
            return self.view.values[at].get(number as usize).copied();
        }
        let owner = self.view.model.cells[cell].owner?;
        let in_list = |cells: &[(CellId, Value)]| cells.iter().find(|(one, _)| *one == cell).map(|(_, value)| *value);
        if let Some((_, number)) = self.number(Column::Control(owner)) {
            return in_list(&self.view.invariant.points[owner.index()].get(number as usize)?.counters);
        }
        in_list(&self.locals.iter().find(|local| local.process == owner)?.cells)
    }

    fn place(&self, process: ProcessId) -> Option<PlaceId> {
        if let Some((_, number)) = self.number(Column::Control(process)) {
            return self.view.invariant.points[process.index()].get(number as usize).map(|point| point.place);
        }
        self.locals.iter().find(|local| local.process == process).map(|local| local.place)
    }

    fn cases(&self, process: ProcessId) -> Vec<Self> {
        let is_known = self.locals.iter().any(|local| local.process == process);
        let block = self.number(Column::Exposed(process)).filter(|_| !is_known);
        let Some((_, number)) = block else { return Vec::new() };
        let with = |local: &KnownLocal| PartialViewState {
            locals: [&self.locals[..], std::slice::from_ref(local)].concat(),
            ..self.clone()
        };
        self.view.cases_of(ExposedBlock { process, number }).iter().map(with).collect()
    }
}
