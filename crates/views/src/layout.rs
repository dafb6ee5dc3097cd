//! What a configuration consists of: which cells all processes share, and which belong to a process of the family.
//!
//! In: a Model and its family of interchangeable processes. Out: the columns of the shared part (shared cells, control and cells of
//! processes of other families) and of a local state (control, own cells, the elements that arrays have for the process, and what
//! its loops over the family have taken).

use std::collections::{BTreeMap, BTreeSet};

pub use evidence::views::{ElementArray, Hiding, LocalColumn, Presence, SharedColumn, ViewColumn};
use model::Model;
use model::control::TextOwner;
use model::expr::Domain;
use model::process::{FamilyId, ProcessId};
use model::symmetry::process_dimensions;
use model::types::ScalarType;
use model::variable::{CellId, Storage, VarId};

/// What configurations of a program consist of.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The family of interchangeable processes.
    pub family: FamilyId,
    /// Whether processes are compared by their order.
    pub is_ordered: bool,
    /// The columns of the shared part.
    pub shared: Vec<SharedColumn>,
    /// The columns of a local state.
    pub local: Vec<LocalColumn>,
    /// Arrays with elements for each process, with the dimension that is indexed by them.
    pub rows: BTreeMap<VarId, usize>,
    /// Of a local state: what each loop over the family has taken, and its counter.
    pub scans: Vec<ScanColumns>,
    /// What views do not show.
    pub hidden: Vec<Hiding>,
    /// The processes of the family that the text names, the first ones: a slot each, after the columns of the shared part.
    pub named: Vec<ProcessId>,
    /// What views say of all processes, after the slots of the named ones.
    pub present: Vec<Presence>,
    shared_at: BTreeMap<SharedColumn, usize>,
    local_at: BTreeMap<LocalColumn, usize>,
}

/// The columns of a loop over the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanColumns {
    /// Whom it has taken.
    pub taken: usize,
    /// Whom it takes now; `none` where it is not under way.
    pub counter: usize,
}

impl Layout {
    /// The layout of a program whose processes of the family, but for those that are [named](Layout::named), are interchangeable.
    pub fn new(model: &Model, family: FamilyId, is_ordered: bool) -> Layout {
        let rows: BTreeMap<VarId, usize> = process_dimensions(model, family).into_iter().collect();
        let mut layout = Layout {
            family,
            is_ordered,
            shared: Vec::new(),
            local: vec![LocalColumn::Control],
            rows,
            scans: Vec::new(),
            hidden: Vec::new(),
            named: Vec::new(),
            present: Vec::new(),
            shared_at: BTreeMap::new(),
            local_at: BTreeMap::new(),
        };
        layout.list(model);
        layout.shared_at = layout.shared.iter().enumerate().map(|(at, column)| (*column, at)).collect();
        layout.local_at = layout.local.iter().enumerate().map(|(at, column)| (*column, at)).collect();
        layout.scans = layout.scan_columns(model);
        layout
    }

    fn list(&mut self, model: &Model) {
        let others: Vec<ProcessId> =
            model.processes.ids().filter(|&process| model.processes[process].family != self.family).collect();
        self.local.extend((0..model.families[self.family].n_cells).map(LocalColumn::Own));
        let mut listed: BTreeSet<ElementArray> = BTreeSet::new();
        for (id, cell) in model.cells.entries() {
            if cell.owner.is_some_and(|owner| model.processes[owner].family == self.family) {
                continue;
            }
            match self.rows.get(&cell.var) {
                None => self.shared.push(SharedColumn::Cell(id)),
                Some(&dimension) => {
                    let row = ElementArray { var: cell.var, owner: cell.owner };
                    let ty = &model.vars[cell.var].ty;
                    let n_elements = ty.n_cells() / ty.dimensions()[dimension].max(1);
                    if listed.insert(row) {
                        self.local.extend((0..n_elements).map(|at| LocalColumn::Element(row, at)));
                    }
                }
            }
        }
        self.shared.extend(others.iter().map(|&process| SharedColumn::Control(process)));
        for (id, _) in model.loops.entries().filter(|(_, counted)| is_over(&counted.domain, self.family)) {
            match model.loops[id].scope {
                TextOwner::Family(family) if family == self.family => self.local.push(LocalColumn::Taken(id)),
                TextOwner::Family(family) => {
                    let of_family = others.iter().filter(|&&process| model.processes[process].family == family);
                    self.shared.extend(of_family.map(|&process| SharedColumn::Taken(process, id)));
                }
                TextOwner::Procedure(_) => {}
            }
        }
    }

    fn scan_columns(&self, model: &Model) -> Vec<ScanColumns> {
        let columns = self.local.iter().enumerate().filter_map(|(taken, column)| {
            let LocalColumn::Taken(id) = column else { return None };
            let offset = model.vars[model.loops[*id].counter].offset;
            Some(ScanColumns { taken, counter: self.local_column(LocalColumn::Own(offset))? })
        });
        columns.collect()
    }

    /// How many items the shared part has.
    pub fn n_shared(&self) -> usize {
        self.first_presence() + self.present.len()
    }

    /// The position, in the shared part, of what is said of the first presence.
    pub fn first_presence(&self) -> usize {
        self.shared.len() + self.named.len()
    }

    /// The position, in the shared part, of the slot of a named process; `None` where it is not named.
    pub fn named_column(&self, index: i64) -> Option<usize> {
        let at = usize::try_from(index).ok().filter(|&at| at < self.named.len())?;
        Some(self.shared.len() + at)
    }

    /// The position of a column of the shared part.
    pub fn shared_column(&self, column: SharedColumn) -> Option<usize> {
        self.shared_at.get(&column).copied()
    }

    /// The position of a column of a local state.
    pub fn local_column(&self, column: LocalColumn) -> Option<usize> {
        self.local_at.get(&column).copied()
    }

    /// Whether a process is one of the family.
    pub fn is_member(&self, model: &Model, process: ProcessId) -> bool {
        model.processes[process].family == self.family
    }

    /// Whether views show the column nowhere.
    pub fn is_never_shown(&self, column: ViewColumn) -> bool {
        self.hidden.iter().any(|rule| rule.what == column && rule.when.is_none())
    }

    /// The type of a column of a local state; `None` for control and loops.
    pub fn local_type(&self, model: &Model, column: LocalColumn) -> Option<ScalarType> {
        match column {
            LocalColumn::Control | LocalColumn::Taken(_) => None,
            LocalColumn::Element(row, _) => Some(model.vars[row.var].ty.scalar()),
            LocalColumn::Own(at) => {
                let first = model.families[self.family].first;
                Some(model.cells[CellId::new(model.processes[first].first_cell + at)].ty)
            }
        }
    }
}

/// Whether a loop or binding takes the processes of the family.
pub fn is_over(domain: &Domain, family: FamilyId) -> bool {
    matches!(domain, Domain::Family(of) if *of == family)
}

/// Whether cells of the type may hold processes of the family.
pub fn holds_members(ty: ScalarType, family: FamilyId) -> bool {
    match ty {
        ScalarType::Pid(of) | ScalarType::PidOrNone(of) => of == family,
        ScalarType::Lock => true,
        ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Enum(_) | ScalarType::Semaphore { .. } => false,
    }
}

/// The storage of variables whose copies belong to processes of the family.
pub fn is_own(storage: Storage, family: FamilyId) -> bool {
    matches!(storage, Storage::Public(of) | Storage::Local(of) if of == family)
}
