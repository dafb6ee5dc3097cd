//! Expressions: from numbers that also are truth values to the Model's, which tell them apart.
//!
//! A comparison, a logical operator and `P.l` are truth values; everything else is a number. Where one stands in the other's
//! place it is converted: any number but 0 is true; true is 1 and false is 0.

use base::{Diagnostic, Span};
use model::control::PlaceId;
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::machine::MachineOp;
use model::process::ProcessId;
use model::value::Value;
use model::variable::Storage;

use super::super::ast::{self, Name};
use super::symbols::{Symbol, Variable};
use super::{Lowering, constant, number};
use crate::codes::dve as code;

/// From where an expression is looked at.
#[derive(Clone, Copy)]
pub(super) struct Standpoint {
    /// The process whose names are seen, by its position.
    pub process: Option<usize>,
    /// Whether it is part of a question, which nobody evaluates, and which may look into processes.
    pub is_question: bool,
    /// Where the process has just arrived: control moves before the effects happen.
    pub arrived: Option<(ProcessId, PlaceId)>,
    /// Whether the text is another one than that of the file, so that its places are not to be shown.
    pub is_elsewhere: bool,
}

impl Standpoint {
    /// In the text of a process.
    pub fn text_of(process: usize) -> Self {
        Standpoint { process: Some(process), is_question: false, arrived: None, is_elsewhere: false }
    }

    /// In a question; of an assert, the names of its process are seen.
    pub fn question(process: Option<usize>) -> Self {
        Standpoint { process, is_question: true, arrived: None, is_elsewhere: false }
    }
}

/// A lowered expression.
pub(super) enum Lowered {
    Number(Expr),
    Truth(Expr),
}

impl Lowered {
    /// As a number: 1 for true, 0 for false.
    pub fn number(self) -> Expr {
        match self {
            Lowered::Number(expr) => expr,
            Lowered::Truth(expr) => {
                let span = expr.span;
                if let ExprKind::Const(Value::Bool(truth)) = expr.kind {
                    return number(i64::from(truth), span);
                }
                let (one, zero) = (number(1, span), number(0, span));
                Expr { kind: ExprKind::If(Box::new(expr), Box::new(one), Box::new(zero)), span }
            }
        }
    }

    /// As a truth value: any number but 0 is true.
    pub fn truth(self) -> Expr {
        match self {
            Lowered::Truth(expr) => expr,
            Lowered::Number(expr) => {
                let span = expr.span;
                if let ExprKind::Const(Value::Int(value)) = expr.kind {
                    return constant(Value::Bool(value != 0), span);
                }
                binary(BinaryOp::NotEqual, expr, number(0, span), span)
            }
        }
    }
}

/// An operator on two lowered operands.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

impl Lowering<'_> {
    /// The number that an expression yields.
    pub fn number(&mut self, expr: &ast::Expr, standpoint: Standpoint) -> Expr {
        self.expression(expr, standpoint).number()
    }

    /// The truth value that an expression yields.
    pub fn truth(&mut self, expr: &ast::Expr, standpoint: Standpoint) -> Expr {
        self.expression(expr, standpoint).truth()
    }

    fn expression(&mut self, expr: &ast::Expr, standpoint: Standpoint) -> Lowered {
        let span = if standpoint.is_elsewhere { Span::default() } else { expr.span };
        match &expr.kind {
            ast::ExprKind::Number(value) => Lowered::Number(number(*value, span)),
            ast::ExprKind::Truth(truth) => Lowered::Truth(constant(Value::Bool(*truth), span)),
            ast::ExprKind::Read { owner, name, index } => {
                let read = self.read(owner.as_ref(), name, index.as_deref(), (standpoint, span));
                Lowered::Number(read.unwrap_or_else(|| number(0, span)))
            }
            ast::ExprKind::At { process, location } => {
                let at = self.at(process, location, standpoint);
                Lowered::Truth(Expr { kind: at.unwrap_or(ExprKind::Const(Value::Bool(false))), span })
            }
            ast::ExprKind::Unary(op, inner) => self.unary(*op, inner, (standpoint, span)),
            ast::ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expression(left, standpoint), self.expression(right, standpoint));
                combine(*op, left, right, span)
            }
        }
    }

    fn unary(&mut self, op: ast::UnaryOp, inner: &ast::Expr, (standpoint, span): (Standpoint, Span)) -> Lowered {
        let inner = self.expression(inner, standpoint);
        match op {
            ast::UnaryOp::Not => Lowered::Truth(Expr { kind: ExprKind::Not(Box::new(inner.truth())), span }),
            ast::UnaryOp::Minus => Lowered::Number(match inner.number() {
                Expr { kind: ExprKind::Const(Value::Int(value)), .. } => number(-value, span),
                inner => Expr { kind: ExprKind::Negate(Box::new(inner)), span },
            }),
            ast::UnaryOp::Complement => {
                let (inner, ones) = (inner.number(), number(-1, span));
                Lowered::Number(binary(BinaryOp::Machine(MachineOp::BitXor), inner, ones, span))
            }
        }
    }

    /// `P.l`: whether a process stands at a location.
    fn at(&mut self, process: &Name, location: &Name, standpoint: Standpoint) -> Option<ExprKind> {
        let position = self.process_named(process)?;
        let Some(id) = self.symbols.processes[position].id else {
            self.not_supported(process.span, "where the property process stands cannot be asked");
            return None;
        };
        let place = self.location(position, location)?;
        Some(match standpoint.arrived {
            Some((me, arrived)) if me == id => ExprKind::Const(Value::Bool(arrived == place)),
            _ => {
                let who = Box::new(constant(Value::Process(id), process.span));
                ExprKind::At { who, places: vec![place], labels: vec![location.text.clone()] }
            }
        })
    }

    /// The content of a variable, or a constant; `None` where that has been reported to be wrong.
    fn read(
        &mut self,
        owner: Option<&Name>,
        name: &Name,
        index: Option<&ast::Expr>,
        (standpoint, span): (Standpoint, Span),
    ) -> Option<Expr> {
        let (symbol, foreign) = match owner {
            None => (self.look_up(standpoint.process, name), None),
            Some(owner) => self.foreign(owner, name, standpoint)?,
        };
        match symbol {
            Symbol::Constant(value) if index.is_none() => Some(number(value, span)),
            Symbol::Variable(variable) => {
                let access = self.access(&variable, name, index, (standpoint, span), foreign)?;
                Some(Expr { kind: ExprKind::Read(access), span })
            }
            Symbol::Broken => None,
            other => {
                self.no_value(&other, name);
                None
            }
        }
    }

    /// `P->x`: a variable of another process, for questions only.
    fn foreign(&mut self, owner: &Name, name: &Name, standpoint: Standpoint) -> Option<(Symbol, Option<ProcessId>)> {
        let position = self.process_named(owner)?;
        let id = self.symbols.processes[position].id;
        if !standpoint.is_question {
            let message = format!("a process cannot look at `{}` of `{}`", name.text, owner.text);
            let diagnostic = Diagnostic::error(code::FOREIGN_VARIABLE, owner.span.to(name.span), message);
            self.report(diagnostic.help("only the property process and goals can; declare it outside the processes"));
            return None;
        }
        match self.symbols.processes[position].scope.get(&name.text).cloned() {
            Some(symbol) => Some((symbol, id)),
            None => {
                let message = format!("process `{}` has no variable `{}`", owner.text, name.text);
                self.unknown(name, message, None);
                None
            }
        }
    }

    /// A cell of a variable.
    pub fn access(
        &mut self,
        variable: &Variable,
        name: &Name,
        index: Option<&ast::Expr>,
        (standpoint, span): (Standpoint, Span),
        foreign: Option<ProcessId>,
    ) -> Option<Access> {
        let indices = match (variable.len, index) {
            (None, None) => Vec::new(),
            (Some(_), Some(index)) => vec![self.number(index, standpoint)],
            (Some(len), None) => {
                let message = format!("`{}` is an array of {len} elements, and one of them is meant", name.text);
                let diagnostic = Diagnostic::warning(code::WHOLE_ARRAY, name.span, message);
                self.report(diagnostic.help(format!("write `{}[…]`; `{0}[0]` is taken, as DIVINE does", name.text)));
                vec![number(0, name.span)]
            }
            (None, Some(index)) => {
                let message = format!("`{}` is no array and has no elements", name.text);
                self.report(Diagnostic::error(code::NO_VALUE, index.span, message));
                return None;
            }
        };
        let own = standpoint.process.and_then(|process| self.symbols.processes[process].id);
        let owner = |id| Whose::Of(Box::new(constant(Value::Process(id), span)));
        let whose = match (self.model.vars[variable.var].storage, foreign.or(own)) {
            (Storage::Shared, _) => Whose::Shared,
            (_, Some(id)) if standpoint.is_question => owner(id),
            _ => Whose::Mine,
        };
        Some(Access { var: variable.var, whose, indices, span })
    }

    fn no_value(&mut self, symbol: &Symbol, name: &Name) {
        let (message, help) = match symbol {
            Symbol::Constant(_) => (format!("`{}` is no array and has no elements", name.text), None),
            Symbol::Process(_) => {
                (format!("`{}` is a process, not a value", name.text), Some("ask where it stands, as in `P.l`"))
            }
            _ => (format!("`{}` is a channel, not a value", name.text), None),
        };
        let mut diagnostic = Diagnostic::error(code::NO_VALUE, name.span, message);
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }
}

/// An operator on two operands, each converted to what it takes.
fn combine(op: ast::BinaryOp, left: Lowered, right: Lowered, span: Span) -> Lowered {
    let truths = |op, left: Lowered, right: Lowered| Lowered::Truth(binary(op, left.truth(), right.truth(), span));
    let compare = |op, left: Lowered, right: Lowered| Lowered::Truth(binary(op, left.number(), right.number(), span));
    let compute = |op, left: Lowered, right: Lowered| Lowered::Number(binary(op, left.number(), right.number(), span));
    // Two truth values are compared as they are.
    let equal = |op, left: Lowered, right: Lowered| match (left, right) {
        (Lowered::Truth(left), Lowered::Truth(right)) => Lowered::Truth(binary(op, left, right, span)),
        (left, right) => compare(op, left, right),
    };
    match op {
        ast::BinaryOp::Imply => truths(BinaryOp::Implies, left, right),
        ast::BinaryOp::Or => truths(BinaryOp::Or, left, right),
        ast::BinaryOp::And => truths(BinaryOp::And, left, right),
        ast::BinaryOp::Equal => equal(BinaryOp::Equal, left, right),
        ast::BinaryOp::NotEqual => equal(BinaryOp::NotEqual, left, right),
        ast::BinaryOp::Less => compare(BinaryOp::Less, left, right),
        ast::BinaryOp::LessEqual => compare(BinaryOp::LessEqual, left, right),
        ast::BinaryOp::Greater => compare(BinaryOp::Greater, left, right),
        ast::BinaryOp::GreaterEqual => compare(BinaryOp::GreaterEqual, left, right),
        ast::BinaryOp::Add => compute(BinaryOp::Add, left, right),
        ast::BinaryOp::Subtract => compute(BinaryOp::Subtract, left, right),
        ast::BinaryOp::Multiply => compute(BinaryOp::Multiply, left, right),
        ast::BinaryOp::Machine(op) => compute(BinaryOp::Machine(op), left, right),
    }
}
