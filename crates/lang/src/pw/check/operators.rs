//! Binary operators: what their operands must be, and how they are compared.
//!
//! A process id is also a number where a number is needed. Compared with a number, it is compared as a process if the number
//! surely is one of its family, and by its index otherwise; so `turn == k` stays a comparison of ids, and neither side
//! can make the step fail.

use base::{Diagnostic, Span};
use model::expr::{BinaryOp as ModelOp, Expr, ExprKind};
use model::process::FamilyId;
use model::value::Value;

use super::{Checker, Scope, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast::{self, BinaryOp};

impl<'a> Checker<'a> {
    pub(super) fn binary(
        &mut self,
        op: (BinaryOp, Span),
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        use BinaryOp::*;
        match op.0 {
            And => self.connective(ModelOp::And, (left, right), scope, span),
            Or => self.connective(ModelOp::Or, (left, right), scope, span),
            Implies => self.connective(ModelOp::Implies, (left, right), scope, span),
            Iff => self.connective(ModelOp::Iff, (left, right), scope, span),
            Xor => self.connective(ModelOp::NotEqual, (left, right), scope, span),
            Equal => self.equality(ModelOp::Equal, (left, right), scope, span),
            Unequal => self.equality(ModelOp::NotEqual, (left, right), scope, span),
            Less => self.numeric((ModelOp::Less, Ty::Bool), (left, right), scope, span),
            LessEqual => self.numeric((ModelOp::LessEqual, Ty::Bool), (left, right), scope, span),
            Greater => self.numeric((ModelOp::Greater, Ty::Bool), (left, right), scope, span),
            GreaterEqual => self.numeric((ModelOp::GreaterEqual, Ty::Bool), (left, right), scope, span),
            Add => self.numeric((ModelOp::Add, Ty::Int), (left, right), scope, span),
            Subtract => self.numeric((ModelOp::Subtract, Ty::Int), (left, right), scope, span),
            Multiply => self.numeric((ModelOp::Multiply, Ty::Int), (left, right), scope, span),
            Divide => self.numeric((ModelOp::Divide, Ty::Int), (left, right), scope, span),
            Modulo => self.numeric((ModelOp::Remainder, Ty::Int), (left, right), scope, span),
            LeadsTo | Until | WeakUntil | Releases | StrongReleases => {
                self.report_temporal(op.1);
                self.poison(span)
            }
        }
    }

    /// An operator of the Model with both operands.
    pub(crate) fn operation(&mut self, op: ModelOp, left: Expr, right: Expr, span: Span) -> Expr {
        self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
    }

    fn connective(
        &mut self,
        op: ModelOp,
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let (left, right) = (self.condition(left, scope), self.condition(right, scope));
        Typed::new(self.operation(op, left, right, span), Ty::Bool)
    }

    fn numeric(
        &mut self,
        (op, ty): (ModelOp, Ty),
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let left = self.value(left, scope, Some(Ty::Int));
        let right = self.value(right, scope, Some(Ty::Int));
        let is_wrong = left.ty == Ty::Poison || right.ty == Ty::Poison;
        let (left, right) = (self.need_number(left), self.need_number(right));
        match is_wrong {
            true => self.poison(span),
            false => Typed::new(self.operation(op, left, right, span), ty),
        }
    }

    fn equality(
        &mut self,
        op: ModelOp,
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let (left, right) = self.pair(left, right, scope, None);
        Typed::new(self.compare(op, left, right, span), Ty::Bool)
    }

    /// `left == right` or `left != right`, both brought to one kind of value.
    pub(crate) fn compare(&mut self, op: ModelOp, left: Typed, right: Typed, span: Span) -> Expr {
        let (left, right) = match (left.ty.family(), right.ty.family()) {
            (Some(of_left), Some(of_right)) => (self.softened(left, of_right), self.softened(right, of_left)),
            _ => (left, right),
        };
        let comparable = match (left.ty, right.ty) {
            (Ty::Poison, _) | (_, Ty::Poison) => return self.poison(span).expr,
            (Ty::Int, b) if b.is_process() => return self.compare_with_number(op, right, left, span),
            (a, Ty::Int) if a.is_process() => return self.compare_with_number(op, left, right, span),
            (a, b) if a.is_process() && b.is_process() => match (a.family(), b.family()) {
                (Some(f), Some(g)) => f == g,
                _ => true,
            },
            (a, b) => a == b,
        };
        if comparable {
            return self.operation(op, left.expr, right.expr, span);
        }
        let (left_is, right_is) = (self.describe(left.ty), self.describe(right.ty));
        let mut diagnostic =
            Diagnostic::error(code::INCOMPARABLE, span, format!("{left_is} is compared with {right_is}"))
                .note(left.expr.span, left_is)
                .note(right.expr.span, right_is);
        if left.ty.is_process() && right.ty.is_process() {
            diagnostic = diagnostic.help(
                "processes of different families are never the same; to compare their indices, add 0 to one of them",
            );
        }
        self.report(diagnostic);
        self.poison(span).expr
    }

    /// A process (or `none`) compared with a number.
    fn compare_with_number(&mut self, op: ModelOp, process: Typed, number: Typed, span: Span) -> Expr {
        let family = match process.ty {
            Ty::Owner => self.one_family(),
            ty => ty.family(),
        };
        let Some(family) = family else {
            let found = self.describe(process.ty);
            let diagnostic = Diagnostic::error(code::INCOMPARABLE, span, format!("{found} is compared with a number"));
            self.report(diagnostic.help("where there are several families, compare with a process: `P[0]`"));
            return self.poison(span).expr;
        };
        if self.is_surely_in(&number.expr, family) {
            let at = number.expr.span;
            let number = self.node(ExprKind::ToProcess(family, Box::new(number.expr)), at);
            return self.operation(op, process.expr, number, span);
        }
        let at = process.expr.span;
        match process.ty {
            // Nobody's index equals any number.
            Ty::PidOrNone(_) => {
                let index = self.node(ExprKind::IndexOf(Box::new(process.expr.clone())), at);
                let equal = self.operation(op, index, number.expr, span);
                let none = self.node(ExprKind::Const(Value::None), at);
                let is_none = self.operation(ModelOp::Equal, process.expr, none, span);
                let never = self.node(ExprKind::Const(Value::Bool(op == ModelOp::NotEqual)), span);
                self.node(ExprKind::If(Box::new(is_none), Box::new(never), Box::new(equal)), span)
            }
            // The owner of a lock may be a process of no family: only as processes can the two be compared.
            Ty::Owner => {
                let at = number.expr.span;
                let number = self.node(ExprKind::ToProcess(family, Box::new(number.expr)), at);
                self.operation(op, process.expr, number, span)
            }
            _ => {
                let index = self.node(ExprKind::IndexOf(Box::new(process.expr)), at);
                self.operation(op, index, number.expr, span)
            }
        }
    }

    /// Whether the number always is an index of the family.
    pub(super) fn is_surely_in(&self, number: &Expr, family: FamilyId) -> bool {
        let Some((least, greatest)) = self.bounds(number) else { return false };
        let family = &self.model.families[family];
        family.process_at(least).is_some() && family.process_at(greatest).is_some()
    }
}
