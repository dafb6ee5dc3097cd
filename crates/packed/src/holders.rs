//! The possible holders of a lock: found before states are laid out, so that a lock takes only the bits that it needs.
//!
//! In: the program and its control points. Out: for each cell that is a lock the numbers that it can hold: `none`, and those
//! from the first to the last process that may acquire it. Only `acquire` puts a process into a lock; a lock that is
//! written in any other way keeps its whole range.

use std::collections::BTreeSet;

use model::Model;
use model::control::{ReceivePattern, Stmt, StmtKind, SyncSide};
use model::expr::{Access, Whose};
use model::process::ProcessId;
use model::statements::statements;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Init, Storage, VarId};

use crate::packing::NumberRange;
use crate::points::{ControlPlan, LoopBounds, PackedPoint};

/// By cell: the numbers that it can hold.
pub fn cell_numbers(model: &Model, plan: &ControlPlan) -> Vec<NumberRange> {
    let mut numbers: Vec<NumberRange> =
        model.cells.iter().map(|cell| NumberRange::of(cell.ty, model.type_context())).collect();
    let mut search = HolderSearch {
        model,
        bounds: LoopBounds::new(model),
        holders: vec![None; model.cells.len()],
        written: BTreeSet::new(),
    };
    for (process, points) in model.processes.ids().zip(&plan.points) {
        for point in points.iter() {
            search.point(process, point);
        }
    }
    for (id, cell) in model.cells.entries() {
        let starts_free = matches!(model.vars[cell.var].init, Init::First);
        if cell.ty == ScalarType::Lock && starts_free && !search.written.contains(&cell.var) {
            numbers[id.index()] = match search.holders[id.index()] {
                None => NumberRange::between(0, 0),
                Some((first, last)) => NumberRange { lo: 0, hi: last, after_gap: first },
            };
        }
    }
    numbers
}

struct HolderSearch<'m> {
    model: &'m Model,
    bounds: LoopBounds<'m>,
    /// By cell: the numbers of the first and the last process that may acquire it.
    holders: Vec<Option<(i64, i64)>>,
    /// Variables that are written in other ways.
    written: BTreeSet<VarId>,
}

impl HolderSearch<'_> {
    fn point(&mut self, process: ProcessId, point: &PackedPoint) {
        let model = self.model;
        for &action in &model.places[point.place].actions {
            let action = &model.actions[action];
            if let Some(SyncSide::Receive(patterns)) = action.sync.as_ref().map(|sync| &sync.side) {
                self.written.extend(patterns.iter().filter_map(ReceivePattern::target).map(|access| access.var));
            }
            if let model::control::ActionKind::Call { result: Some(access), .. } = &action.kind {
                self.written.insert(access.var);
            }
            self.body(&action.body, process, point);
        }
    }

    fn body(&mut self, body: &[Stmt], process: ProcessId, point: &PackedPoint) {
        for statement in statements(body) {
            match &statement.kind {
                StmtKind::Assign(_) | StmtKind::AssignAny(..) => {
                    self.written.extend(statement.targets().iter().map(|target| target.var));
                }
                StmtKind::Acquire(access) => self.acquire(access, process, point),
                _ => {}
            }
        }
    }

    fn acquire(&mut self, access: &Access, process: ProcessId, point: &PackedPoint) {
        if matches!(self.model.vars[access.var].storage, Storage::Frame(_)) {
            return;
        }
        let cells: Vec<CellId> = match self.cell(access, process, point) {
            Some(cell) => vec![cell],
            None => {
                let cells = self.model.cells.entries();
                cells.filter(|(_, cell)| cell.var == access.var).map(|(id, _)| id).collect()
            }
        };
        let number = process.index() as i64 + 1;
        for cell in cells {
            let holders = &mut self.holders[cell.index()];
            *holders = Some(holders.map_or((number, number), |(first, last)| (first.min(number), last.max(number))));
        }
    }

    /// The cell that an access means, if that is constant at the point.
    fn cell(&mut self, access: &Access, process: ProcessId, point: &PackedPoint) -> Option<CellId> {
        let var = &self.model.vars[access.var];
        let owner = match &access.whose {
            Whose::Shared | Whose::Frame => None,
            Whose::Mine => Some(process),
            Whose::Of(who) => match self.bounds.constant(process, &point.counters, who)? {
                Value::Process(owner) => Some(owner),
                _ => return None,
            },
        };
        let mut offset = 0;
        for (index, len) in access.indices.iter().zip(var.ty.dimensions()) {
            let Value::Int(index) = self.bounds.constant(process, &point.counters, index)? else { return None };
            offset = offset * len + usize::try_from(index).ok().filter(|&index| index < len)?;
        }
        self.model.cells_of(access.var, owner).nth(offset)
    }
}
