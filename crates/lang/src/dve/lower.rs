//! Syntax tree to Model: names looked up, everything checked.
//!
//! In: the tree of a file. Out: the Model and diagnostics; after an error the Model is not to be used. Most of DVE is in the
//! Model as it is. What is not is written out here: buffers of channels are shared variables; a committed location is a
//! condition on everybody who stands elsewhere; truth values become numbers, and numbers truth values, where DVE mixes them.
//!
//! `symbols.rs` knows names, `declarations.rs` makes variables and processes, `constants.rs` computes initial values and sizes,
//! `expressions.rs` lowers expressions, `channels.rs` and `transitions.rs` make actions, `questions.rs` makes properties.

mod channels;
mod constants;
mod declarations;
mod expressions;
mod questions;
mod symbols;
mod transitions;

use base::{Diagnostic, SourceFile, Span};
use model::Model;
use model::control::PlaceId;
use model::expr::{Expr, ExprKind};
use model::process::ProcessId;
use model::value::Value;

use super::Goal;
use super::ast::{self, File, Name};
use crate::codes::dve as code;
use crate::log::Log;
use channels::Channels;
use symbols::Symbols;

/// What lowering makes of a file.
pub(super) struct Lowered<'s> {
    pub diagnostics: Vec<Diagnostic>,
    /// The Model, to which goals can be added.
    pub asking: Asking<'s>,
}

/// A Model to which goals can be added.
pub(super) struct Asking<'s>(Lowering<'s>);

/// Lowers a file.
pub(super) fn lower<'s>(file: &'s File, source: &'s SourceFile) -> Lowered<'s> {
    let mut lowering = Lowering {
        source,
        file,
        model: Model { name: model_name(source), ..Model::default() },
        log: Log::default(),
        symbols: Symbols::default(),
        channels: Channels::default(),
        committed: Vec::new(),
        n_cells: 0,
    };
    lowering.declare();
    lowering.all_transitions();
    lowering.questions();
    if lowering.log.n_errors() == 0 {
        lowering.model.lay_out();
    }
    let diagnostics = std::mem::take(&mut lowering.log).finish();
    Lowered { diagnostics, asking: Asking(lowering) }
}

impl Asking<'_> {
    /// Adds a goal to the properties; what is wrong with it.
    pub fn goal(&mut self, goal: &Goal, expr: &ast::Expr) -> Vec<Diagnostic> {
        self.0.goal(goal, expr);
        std::mem::take(&mut self.0.log).finish()
    }

    /// The Model.
    pub fn into_model(self) -> Model {
        self.0.model
    }
}

struct Lowering<'s> {
    source: &'s SourceFile,
    file: &'s File,
    model: Model,
    log: Log,
    symbols: Symbols,
    channels: Channels,
    /// The processes that have committed locations, with these.
    committed: Vec<(ProcessId, Vec<PlaceId>)>,
    /// How many cells a state has so far.
    n_cells: usize,
}

impl<'s> Lowering<'s> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.log.add(diagnostic);
    }

    /// The process that checks the others and is none of them.
    fn property_name(&self) -> Option<&'s Name> {
        self.file.system.as_ref().and_then(|system| system.property.as_ref())
    }

    fn is_property(&self, process: &ast::Process) -> bool {
        self.property_name().is_some_and(|name| name.text == process.name.text)
    }

    fn not_supported(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code::NOT_SUPPORTED, span, message));
    }
}

fn constant(value: Value, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), span }
}

fn number(value: i64, span: Span) -> Expr {
    constant(Value::Int(value), span)
}

/// The name of the file without its folder and its suffix.
fn model_name(source: &SourceFile) -> String {
    let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".dve").unwrap_or(name).to_string()
}
