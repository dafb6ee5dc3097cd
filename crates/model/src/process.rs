//! Process families and processes.
//!
//! A family is a template with its index range; its processes are the template's copies. A single process is a family of
//! one without an index. Both the family and the copies are kept: engines work on the copies, methods for all N on the
//! family.

use base::{Id, Span};

use crate::control::{Next, PlaceId};
use crate::size::Size;
use crate::variable::VarId;

/// The index range of a family: `process P[i in 0..<N]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// The index variable's name.
    pub name: String,
    /// The first index.
    pub first: i64,
    /// How many processes there are.
    pub count: usize,
}

/// A template and how often it is instantiated.
#[derive(Clone, Debug)]
pub struct Family {
    /// The name.
    pub name: String,
    /// The index range; `None` for a single process.
    pub index: Option<IndexRange>,
    /// How many processes there are, as written: what `index.count` was computed from.
    pub size: Size,
    /// The public and local variables and loop counters, in layout order.
    pub vars: Vec<VarId>,
    /// Where control starts: a place, or into a loop.
    pub entry: Next,
    /// Where control is after the last statement.
    pub end: PlaceId,
    /// The first of the family's processes; the others follow it.
    pub first: ProcessId,
    /// How many cells each process has.
    pub n_cells: usize,
    /// What the user wrote about it (`///`).
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
}

/// Names a family.
pub type FamilyId = Id<Family>;

impl Family {
    /// How many processes the family has.
    pub fn count(&self) -> usize {
        self.index.as_ref().map_or(1, |index| index.count)
    }

    /// The family's processes.
    pub fn processes(&self) -> impl ExactSizeIterator<Item = ProcessId> + use<> {
        let first = self.first.index();
        (first..first + self.count()).map(ProcessId::new)
    }

    /// The process with this index value, if there is one.
    pub fn process_at(&self, index: i64) -> Option<ProcessId> {
        let offset = index.checked_sub(self.index.as_ref().map_or(0, |range| range.first))?;
        let offset = usize::try_from(offset).ok().filter(|&offset| offset < self.count())?;
        Some(ProcessId::new(self.first.index() + offset))
    }
}

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its family.
    pub family: FamilyId,
    /// Its index value; 0 for a single process.
    pub index: i64,
    /// Its name as the user writes it: `P[2]` or `Monitor`.
    pub name: String,
    /// Position of its first cell in the state; its variables follow in the family's layout.
    pub first_cell: usize,
}

/// Names a process.
pub type ProcessId = Id<Process>;
