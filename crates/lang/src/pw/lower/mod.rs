//! Lowering: a checked `.pw` program as a Model.
//!
//! In: a text with its syntax tree, and values for parameters. Out: the Model of this instance with warnings, or everything that
//! is wrong with the program. First the declarations become known ([`super::check`]); then the texts of processes and
//! procedures become places and actions; then come properties, fairness and hints.

mod emit;
mod fairness;
mod footprint;
mod hints;
mod initially;
mod points;
mod procedures;
mod properties;
mod silent;
mod statements;
mod steps;

pub(super) use fairness::with_predicates;

use base::{Diagnostic, SourceFile};
use model::Model;
use model::control::TextOwner as TextScope;

use super::ast::Item;
use super::check::{Checker, ParameterRange, Standpoint, text_of};
use super::text::Text;
use crate::codes::check as code;

/// A program that was accepted.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program, with all parameters given.
    pub model: Model,
    /// What looks unintended.
    pub warnings: Vec<Diagnostic>,
    /// How many states come before the initial one: what a program does before anything else can happen may be done while it is read.
    pub n_before: u64,
}

/// Checks a program and makes its Model, with these values for its parameters. A parameter that is not given takes its least
/// value. The errors come with the warnings, in the order of the text.
pub(super) fn lower(text: &Text, source: &SourceFile, parameters: &[(String, i64)]) -> Result<Loaded, Vec<Diagnostic>> {
    let program = &text.program;
    let mut checker = Checker::new(text, source);
    checker.enter_names();
    checker.resolve_parameters(parameters);
    checker.declare();
    checker.model.name = program.name.name.clone();
    checker.model.doc = text_of(&program.doc);
    lower_texts(&mut checker);
    checker.check_defines();
    properties::lower(&mut checker);
    hints::lower(&mut checker);
    initially::lower(&mut checker);
    checker.check_size();
    finish(checker)
}

/// The parameters of a program with the values that they may have.
pub(super) fn parameter_ranges(text: &Text, source: &SourceFile) -> Result<Vec<ParameterRange>, Vec<Diagnostic>> {
    let mut checker = Checker::new(text, source);
    checker.enter_names();
    let ranges = checker.resolve_parameters(&[]);
    match checker.diagnostics.has_errors() {
        true => Err(checker.diagnostics.into_sorted()),
        false => Ok(ranges),
    }
}

/// The places and actions of all processes and procedures.
fn lower_texts(checker: &mut Checker<'_>) {
    let program = checker.program;
    let (mut family, mut procedure) = (checker.model.families.ids(), checker.model.procedures.ids());
    let texts = program.items.iter().filter_map(|item| match item {
        Item::Process(declared) => Some((TextScope::Family(family.next()?), &declared.body)),
        Item::Procedure(declared) => Some((TextScope::Procedure(procedure.next()?), &declared.body)),
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    let mut placed = Vec::new();
    for (text, body) in texts {
        let graph = points::build(checker, text, body);
        placed.push(emit::place(checker, graph));
    }
    let mut calls = Vec::new();
    for text in &placed {
        let prepared = steps::prepare(checker, &text.graph, &mut calls);
        if text.takes_steps {
            emit::emit(checker, text, &prepared);
        }
    }
    procedures::check_needs(checker, &calls);
}

/// Who evaluates the expressions of a text.
fn standpoint(text: TextScope) -> Standpoint {
    match text {
        TextScope::Family(id) => Standpoint::Family(id),
        TextScope::Procedure(id) => Standpoint::Procedure(id),
    }
}

fn finish(mut checker: Checker<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    if checker.diagnostics.has_errors() {
        return Err(checker.diagnostics.into_sorted());
    }
    checker.model.lay_out();
    for fault in model::eval::initial_faults(&checker.model) {
        let message = format!("a process cannot start: {}", fault.fault);
        checker.report(Diagnostic::error(code::BAD_INITIAL_VALUE, fault.span, message));
    }
    initially::check(&mut checker);
    match checker.diagnostics.has_errors() {
        true => Err(checker.diagnostics.into_sorted()),
        false => {
            Ok(Loaded { model: checker.model.at_size(), warnings: checker.diagnostics.into_sorted(), n_before: 0 })
        }
    }
}
