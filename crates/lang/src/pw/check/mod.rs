//! The checker: what the names, types and expressions of a `.pw` program mean.
//!
//! In: expressions of the syntax tree, each with the scope that it stands in. Out: expressions of the Model, names resolved
//! and conversions explicit, or diagnostics. The method is one pass over the tree that finds the type of each part and
//! builds the Model's expression on the way. A part that is wrong gets the type [`Ty::Poison`], which fits everywhere, so
//! that one mistake is reported once. Types and initial values of variables are here, too; statements and properties are
//! in `lower`.

mod access;
mod binders;
mod bounds;
mod constants;
mod conversions;
mod declarations;
mod defines;
mod diagnostics;
mod expressions;
mod fields;
mod forms;
mod formulas;
mod initial;
mod names;
mod operators;
mod parameters;
mod places;
mod ranges;
mod scope;
mod symbols;
mod totals;
mod ty;
mod types;

pub(crate) use access::{Path, VariablePath};
pub(crate) use binders::Binder;
pub(crate) use binders::Bindings;
pub(crate) use conversions::Target;
pub(crate) use declarations::text_of;
pub(crate) use diagnostics::Diagnostics;
pub use parameters::ParameterRange;
pub(crate) use scope::{Argument, Base, Meaning, Scope};
pub(crate) use symbols::{Symbol, Symbols};
pub(crate) use ty::{Ty, Typed};

use base::{Diagnostic, SourceFile, Span};
use model::Model;
use model::control::ProcedureId;
use model::expr::{Expr, ExprKind};
use model::instance::constant_value;
use model::process::FamilyId;
use model::value::Value;

use super::ast;
use super::lexer::{Token, TokenKind};
use super::text::Text;

/// How deep an expression may nest, definitions expanded.
const MAX_DEPTH: usize = 800;

/// How many parts all expressions of a program may have together, definitions expanded.
const MAX_NODES: usize = 2_000_000;

/// How many parts of expressions are looked at for temporal operators; beyond, they are taken to have none.
const MAX_LOOKS: usize = 50_000_000;

/// Who evaluates an expression: this decides what it may speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standpoint {
    /// The checker itself, before there is any state.
    Constant,
    /// The checker, for the initial value of a variable; of each process of the family, if there is one.
    Initial(Option<FamilyId>),
    /// A process of the family, in its own text.
    Family(FamilyId),
    /// A process that has called the procedure.
    Procedure(ProcedureId),
    /// Nobody: a property or a fairness assumption, which sees everything.
    Property,
    /// Nobody or each process of a family (`P[*]`): a hint, which sees everything.
    Hint,
}

/// A definition that is being expanded.
pub(crate) struct Expansion {
    /// Which one.
    pub define: usize,
    /// Where it is used.
    pub used_at: Span,
}

/// All that is known while a program is checked and lowered.
pub(crate) struct Checker<'a> {
    /// The text.
    pub source: &'a SourceFile,
    /// Its tokens without comments, in order.
    tokens: &'a [Token],
    /// The syntax tree.
    pub program: &'a ast::Program,
    /// The Model as far as it is built.
    pub model: Model,
    /// What the program's names mean.
    pub symbols: Symbols<'a>,
    /// What is wrong so far.
    pub diagnostics: Diagnostics,
    /// Who evaluates the expression at hand.
    pub standpoint: Standpoint,
    /// The bound variables around the expression at hand, outermost first.
    pub binders: Vec<Binder>,
    /// The definitions that are being expanded around it, outermost first.
    pub expanding: Vec<Expansion>,
    /// The family that a `P[*]` of the hint at hand names.
    pub starred: Option<FamilyId>,
    /// How deep the expression at hand is in its tree.
    depth: usize,
    /// How many parts of expressions were looked at or built.
    n_nodes: usize,
    /// Whether an expression was too deep or too large; one report is enough.
    is_too_large: bool,
    /// How many parts of expressions were looked at for temporal operators.
    n_looks: usize,
}

impl<'a> Checker<'a> {
    /// A checker that knows nothing yet.
    pub fn new(text: &'a Text, source: &'a SourceFile) -> Self {
        Checker {
            source,
            tokens: &text.tokens,
            program: &text.program,
            model: Model::default(),
            symbols: Symbols::default(),
            diagnostics: Diagnostics::default(),
            standpoint: Standpoint::Constant,
            binders: Vec::new(),
            expanding: Vec::new(),
            starred: None,
            depth: 0,
            n_nodes: 0,
            is_too_large: false,
            n_looks: 0,
        }
    }

    /// Keeps a diagnostic; one inside a definition also shows where the definition is used.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let diagnostic = match self.expanding.first() {
            Some(outermost) => diagnostic.note(outermost.used_at, "used here"),
            None => diagnostic,
        };
        self.diagnostics.push(diagnostic);
    }

    /// Evaluates something from another standpoint, outside all bound variables.
    pub fn standing<T>(&mut self, standpoint: Standpoint, work: impl FnOnce(&mut Self) -> T) -> T {
        let standpoint = std::mem::replace(&mut self.standpoint, standpoint);
        let binders = std::mem::take(&mut self.binders);
        let expanding = std::mem::take(&mut self.expanding);
        let depth = std::mem::replace(&mut self.depth, 0);
        let result = work(self);
        self.standpoint = standpoint;
        self.binders = binders;
        self.expanding = expanding;
        self.depth = depth;
        result
    }

    /// A part of an expression; a part whose operands are constants is a constant itself.
    pub fn node(&mut self, kind: ExprKind, span: Span) -> Expr {
        self.n_nodes += 1;
        let expr = Expr { kind, span };
        match constant_value(&self.model, &expr) {
            Some(value) => Expr { kind: ExprKind::Const(value), span },
            None => expr,
        }
    }

    /// What stands for a part that is wrong.
    pub fn poison(&self, span: Span) -> Typed {
        Typed { expr: Expr { kind: ExprKind::Const(Value::Bool(false)), span }, ty: Ty::Poison }
    }

    /// The program's one indexed family.
    pub fn one_family(&self) -> Option<FamilyId> {
        let mut indexed = self.model.families.entries().filter(|(_, family)| family.index.is_some());
        indexed.next().filter(|_| indexed.next().is_none()).map(|(id, _)| id)
    }

    /// The text of a span on one line, without comments.
    pub fn text(&self, span: Span) -> String {
        let first = self.tokens.partition_point(|token| token.span.start < span.start);
        let inside = self.tokens[first..].iter().take_while(|token| token.span.end <= span.end);
        let mut text = String::new();
        let mut end = span.start;
        for token in inside.filter(|token| token.kind != TokenKind::End) {
            if !text.is_empty() && token.span.start > end {
                text.push(' ');
            }
            text.push_str(self.source.slice(token.span));
            end = token.span.end;
        }
        text
    }
}
