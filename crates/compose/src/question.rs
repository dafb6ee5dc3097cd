//! Properties as patterns over few processes.
//!
//! In: a property. Out: the [`Question`]s of which none may have a positive answer in a reachable state, each with the processes
//! whose local states it reads and the cells that it reads. An invariant falls apart into clauses (`clause.rs`). Each question
//! is put to the join of just these processes' sets. Where processes can be permuted and the property is symmetric, of the
//! questions that are images of each other the first one is asked.

use std::collections::BTreeSet;

use base::StopReason;
use evidence::implied::Cut;
use model::Model;
use model::eval::{self, State};
use model::expr::Expr;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::{CellId, VarId};

use crate::clause::{Splitter, Wanted};
use crate::symmetry::Symmetry;

/// A pattern of a state.
#[derive(Clone, Debug)]
pub struct Question {
    /// The processes whose local states matter, ascending.
    pub processes: Vec<ProcessId>,
    /// The cells that matter, those of these processes included.
    pub cells: BTreeSet<CellId>,
    /// The pattern.
    pub pattern: Pattern,
    /// Of a clause the way to it from the property.
    pub cuts: Vec<Cut>,
}

/// What is asked of a state.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// The expression has this truth value, its free bound variables having these values.
    Truth {
        /// The expression.
        expr: Expr,
        /// The values of the bound variables around it.
        bound: Vec<Value>,
        /// The truth value that is asked for.
        wanted: bool,
    },
    /// The process has a faulty step (with the partner: of their rendezvous).
    Fault(ProcessId),
    /// No process is enabled, and some process is stuck.
    Deadlock,
    /// The two processes can access one cell of the variable, one of them writing.
    Race(VarId, ProcessId, ProcessId),
}

/// The questions of a property; `None` for temporal ones.
pub fn questions(model: &Model, property: &PropertyKind) -> Option<Vec<Question>> {
    questions_up_to(model, property, None)
}

/// The questions of a property, of those that are images of each other under permutations only the first; `None` for temporal ones.
pub fn questions_up_to(
    model: &Model,
    property: &PropertyKind,
    symmetry: Option<&Symmetry<'_>>,
) -> Option<Vec<Question>> {
    let symmetry = symmetry.filter(|symmetry| symmetry.leaves(property));
    let is_first = |sequence: &[ProcessId]| symmetry.is_none_or(|symmetry| symmetry.is_first(sequence, &[]));
    let all: Vec<ProcessId> = model.processes.ids().collect();
    let ask =
        |processes: Vec<ProcessId>, pattern| Question { processes, cells: BTreeSet::new(), pattern, cuts: Vec::new() };
    Some(match property {
        PropertyKind::Invariant(expr) => Splitter::new(model, &is_first).questions(expr, Wanted::True),
        PropertyKind::Reachable(expr) => Splitter::new(model, &is_first).questions(expr, Wanted::False),
        // A rendezvous can be faulty, too, and depends on the partner.
        PropertyKind::NoErrors => { all.iter().filter(|&&process| is_first(&[process])) }
            .map(|&process| {
                let processes = if model.channels.is_empty() { vec![process] } else { all.clone() };
                ask(processes, Pattern::Fault(process))
            })
            .collect(),
        PropertyKind::DeadlockFree => vec![ask(all, Pattern::Deadlock)],
        PropertyKind::RaceFree(var) => pairs(&all)
            .filter(|&(a, b)| is_first(&[a, b]) || is_first(&[b, a]))
            .map(|(a, b)| ask(vec![a, b], Pattern::Race(*var, a, b)))
            .collect(),
        PropertyKind::Temporal(_) => return None,
    })
}

/// The reason to stop where a property has no value in a state, which is reachable; `None` where it has one.
pub fn property_error(model: &Model, property: &PropertyKind, state: &State) -> Option<StopReason> {
    let (PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr)) = property else { return None };
    let fault = eval::evaluate(model, state, expr, None).err()?;
    Some(StopReason::PropertyError(format!("evaluating it fails in a reachable state: {}", fault.fault)))
}

fn pairs(all: &[ProcessId]) -> impl Iterator<Item = (ProcessId, ProcessId)> {
    all.iter().enumerate().flat_map(|(at, &a)| all[at + 1..].iter().map(move |&b| (a, b)))
}
