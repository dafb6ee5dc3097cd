//! Temporal formulas: expressions with `always`, `until` and their kin, to formulas of the Model.
//!
//! What has no temporal operator, definitions expanded, is one expression about the present state. Quantifiers may stand
//! outside or inside temporal operators; their variables are numbered through both.

use model::expr::Quantifier;
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};

use super::names::Named;
use super::symbols::Symbol;
use super::{Bindings, Checker, Meaning, Scope};
use crate::pw::ast::{self, BinaryOp, Ident, UnaryOp};

impl<'a> Checker<'a> {
    /// The formula that an expression is.
    pub fn formula(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Formula {
        if !self.may_descend(expr.span) {
            return Formula::Now(self.poison(expr.span).expr);
        }
        if !self.is_temporal(expr, scope) {
            return Formula::Now(self.condition(expr, scope));
        }
        self.depth += 1;
        let formula = self.temporal(expr, scope);
        self.depth -= 1;
        formula
    }

    fn temporal(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Formula {
        use ast::ExprKind::*;
        match &expr.kind {
            Unary { op, operand, .. } => {
                let operand = Box::new(self.formula(operand, scope));
                match op {
                    UnaryOp::Not => Formula::Not(operand),
                    UnaryOp::Always => Formula::Unary(UnaryTemporal::Always, operand),
                    UnaryOp::Eventually => Formula::Unary(UnaryTemporal::Eventually, operand),
                    UnaryOp::Next => Formula::Unary(UnaryTemporal::Next, operand),
                    UnaryOp::Negate => Formula::Now(self.condition(expr, scope)),
                }
            }
            Binary { op, left, right, .. } => self.temporal_binary(*op, (left, right), scope, expr),
            If { condition, then, otherwise } => self.chosen_formula(condition, (then, otherwise), scope),
            Quantified { quantifier: ast::Quantifier::ForAll, binders, body } => {
                self.quantified_formula(Quantifier::Forall, binders, body, scope)
            }
            Quantified { quantifier: ast::Quantifier::Exists, binders, body } => {
                self.quantified_formula(Quantifier::Exists, binders, body, scope)
            }
            Name(name) => self.named_formula(name, &[], scope, expr),
            Apply { name, arguments } => self.named_formula(name, arguments, scope, expr),
            // The operator is reported where a value of the present state is needed.
            _ => Formula::Now(self.condition(expr, scope)),
        }
    }

    // Frames of long formulas are many: what is rare is not made part of them.
    #[inline(never)]
    fn chosen_formula(
        &mut self,
        condition: &'a ast::Expr,
        (then, otherwise): (&'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
    ) -> Formula {
        let test = Formula::Now(self.condition(condition, scope));
        let (yes, no) = (self.formula(then, scope), self.formula(otherwise, scope));
        let implies = |left, right| Formula::Boolean(BooleanOp::Implies, Box::new(left), Box::new(right));
        let fails = Formula::Not(Box::new(test.clone()));
        let (yes, no) = (implies(test, yes), implies(fails, no));
        Formula::Boolean(BooleanOp::And, Box::new(yes), Box::new(no))
    }

    fn temporal_binary(
        &mut self,
        op: BinaryOp,
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
        whole: &'a ast::Expr,
    ) -> Formula {
        enum Kind {
            Boolean(BooleanOp),
            Temporal(BinaryTemporal),
            Differ,
        }
        let kind = match op {
            BinaryOp::And => Kind::Boolean(BooleanOp::And),
            BinaryOp::Or => Kind::Boolean(BooleanOp::Or),
            BinaryOp::Implies => Kind::Boolean(BooleanOp::Implies),
            BinaryOp::Iff | BinaryOp::Equal => Kind::Boolean(BooleanOp::Iff),
            BinaryOp::Xor | BinaryOp::Unequal => Kind::Differ,
            BinaryOp::LeadsTo => Kind::Temporal(BinaryTemporal::LeadsTo),
            BinaryOp::Until => Kind::Temporal(BinaryTemporal::Until),
            BinaryOp::WeakUntil => Kind::Temporal(BinaryTemporal::WeakUntil),
            BinaryOp::Releases => Kind::Temporal(BinaryTemporal::Releases),
            BinaryOp::StrongReleases => Kind::Temporal(BinaryTemporal::StrongReleases),
            _ => return Formula::Now(self.condition(whole, scope)),
        };
        let (left, right) = (Box::new(self.formula(left, scope)), Box::new(self.formula(right, scope)));
        match kind {
            Kind::Boolean(op) => Formula::Boolean(op, left, right),
            Kind::Temporal(op) => Formula::Binary(op, left, right),
            Kind::Differ => Formula::Not(Box::new(Formula::Boolean(BooleanOp::Iff, left, right))),
        }
    }

    #[inline(never)]
    fn quantified_formula(
        &mut self,
        quantifier: Quantifier,
        binders: &'a ast::Binders,
        body: &'a ast::Expr,
        scope: &Scope<'a>,
    ) -> Formula {
        match self.bind(binders, scope, |checker, inner| checker.formula(body, inner)) {
            None => Formula::Now(self.poison(body.span).expr),
            Some((Bindings { bindings, filter }, body)) => {
                Formula::Quantified { quantifier, bindings, filter, body: Box::new(body) }
            }
        }
    }

    /// A definition, or a parameter of one.
    #[inline(never)]
    fn named_formula(
        &mut self,
        name: &'a Ident,
        arguments: &'a [ast::Expr],
        scope: &Scope<'a>,
        whole: &'a ast::Expr,
    ) -> Formula {
        match self.lookup(&name.name, scope).map(|(named, _)| named) {
            Some(Named::Symbol(Symbol::Define(index))) => {
                let formula = self.in_body((index, whole.span), arguments, scope, |checker, body, inner| {
                    checker.formula(body, inner)
                });
                formula.unwrap_or_else(|| Formula::Now(self.poison(whole.span).expr))
            }
            Some(Named::Bound(Meaning::Argument(argument))) => {
                self.in_argument(&argument, |checker, expr, outer| checker.formula(expr, outer))
            }
            _ => Formula::Now(self.condition(whole, scope)),
        }
    }
}
