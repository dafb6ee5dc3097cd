//! Variables, and the cells that hold them.
//!
//! Where a variable lives follows from its storage class. Shared variables and the publics, locals and loop counters of
//! processes live in **cells**: the state is a row of them, first the shared ones, then process by process. An array
//! element is a cell of its own. Parameters and locals of procedures live in frames.

use std::collections::BTreeMap;

use base::{Id, Span};

use crate::control::{LoopId, ProcedureId};
use crate::expr::Expr;
use crate::process::{FamilyId, ProcessId};
use crate::types::{ScalarType, Type};

/// Which processes read and write a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// All processes read and write it.
    Shared,
    /// All processes read it, its owner writes it; one copy per process of the family.
    Public(FamilyId),
    /// Its owner reads and writes it; one copy per process of the family.
    Local(FamilyId),
    /// One copy per call of the procedure.
    Frame(ProcedureId),
}

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user declared it with a storage class.
    Declared,
    /// A parameter of a procedure.
    Parameter,
    /// The counter of a `for` loop; part of control, and at its type's first value outside the loop.
    Counter(LoopId),
}

/// What a variable starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Init {
    /// The first value of its type.
    First,
    /// Any value of its type, each element on its own.
    Any,
    /// One value, which fills an array. Constants and the process's own index only.
    Fill(Expr),
    /// One for each element.
    Elements(Vec<Init>),
}

/// How a variable is shown, where it is a part of something that the user wrote as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VariableLook {
    /// By its name and its content.
    #[default]
    Plain,
    /// Not at all: a step chooses with it and forgets.
    Hidden,
    /// As sets: the innermost array says for each possible element whether it is inside. The elements have these names; none where they are numbers or processes.
    Set(Vec<String>),
    /// How many messages the channel of this name holds.
    ChannelLength(String),
    /// One part of the messages of the channel of this name, slot by slot.
    ChannelRow(String),
}

impl VariableLook {
    /// The names of the possible elements of a set; none where they are numbers or processes. `None` of what is no set.
    pub fn elements(&self) -> Option<&[String]> {
        match self {
            VariableLook::Set(names) => Some(names),
            _ => None,
        }
    }
}

/// What the element of a set at an index is called: by its name, or by its number.
pub fn element_name(names: &[String], at: usize) -> String {
    names.get(at).cloned().unwrap_or_else(|| at.to_string())
}

/// A declared variable, parameter or loop counter.
#[derive(Clone, Debug)]
pub struct Var {
    /// The name.
    pub name: String,
    /// Where it lives.
    pub storage: Storage,
    /// What it is for.
    pub role: Role,
    /// Its type.
    pub ty: Type,
    /// What it starts with.
    pub init: Init,
    /// Position of its first cell among the shared cells, its process's cells, or its frame's slots.
    pub offset: usize,
    /// Names for some of its numbers, for display only.
    pub shown: BTreeMap<i64, String>,
    /// How it is shown; for display only.
    pub look: VariableLook,
    /// Of a field of structs in arrays (`line.kind`, which is `line[1].kind` of one of them): how many of its indices follow each part of its name
    /// but the last. The others follow the last part. For display only.
    pub indices_after: Vec<usize>,
    /// What the user wrote about it (`///`).
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
}

impl Var {
    /// An element as the user writes it, with these texts for its indices: `flag[1]`, `line[1].kind`.
    pub fn element(&self, indices: &[String]) -> String {
        let brackets = |of: &[String]| of.iter().map(|index| format!("[{index}]")).collect::<String>();
        let (mut left, mut out) = (indices, String::new());
        let mut parts = self.name.split('.').peekable();
        let mut after = self.indices_after.iter();
        while let Some(part) = parts.next() {
            let n_here = match parts.peek() {
                Some(_) => after.next().map_or(0, |n| (*n).min(left.len())),
                None => left.len(),
            };
            let (here, rest) = left.split_at(n_here);
            out += part;
            out += &brackets(here);
            out += if parts.peek().is_some() { "." } else { "" };
            left = rest;
        }
        out
    }
}

/// Names a variable.
pub type VarId = Id<Var>;

/// One scalar part of the state outside the stacks.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The variable that it belongs to.
    pub var: VarId,
    /// The process whose copy it is; `None` for shared variables.
    pub owner: Option<ProcessId>,
    /// Its type.
    pub ty: ScalarType,
    /// As the user writes it: `flag[1]`, `P[0].level`.
    pub name: String,
}

/// Names a cell.
pub type CellId = Id<Cell>;
