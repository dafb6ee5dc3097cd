//! Formulas of `ltl` blocks.
//!
//! SPIN's operators, as signs or words: `[]` `always`, `<>` `eventually`, `X` `next`, `!`, `U` `until`, `W` `weakuntil`, `V` `release`,
//! `&&` `/\`, `||` `\/`, `->` `implies`, `<->` `equivalent`. What binds loosest comes first: `->` and `<->`, `||`, `&&`, then
//! `U`, `W`, `V`; all group to the left, as in SPIN. Signs before a formula bind tightest. Everything below is an expression.

use base::Diagnostic;

use super::super::ast::{BinaryOp, Expr, ExprKind, Formula, FormulaKind, TemporalOp};
use super::super::lexer::Kind;
use super::expressions::join;
use super::{Parse, Parser};
use crate::codes::promela as code;

impl Parser<'_> {
    /// A formula.
    pub(super) fn formula(&mut self) -> Parse<Formula> {
        self.nested(|parser| parser.connected(0))
    }

    /// The operator here: how tightly it binds, what it is, how many tokens it has.
    fn temporal_operator(&self) -> Option<(u8, TemporalOp, usize)> {
        Some(match self.token().kind {
            Kind::Sign("<") if self.ahead(1).is("->") && !self.ahead(1).spaced => (2, TemporalOp::Iff, 2),
            Kind::Sign("->") => (2, TemporalOp::Implies, 1),
            Kind::Sign("||" | "\\/") => (3, TemporalOp::Or, 1),
            Kind::Sign("&&" | "/\\") => (4, TemporalOp::And, 1),
            Kind::Name(ref word) => match &**word {
                "equivalent" => (2, TemporalOp::Iff, 1),
                "implies" => (2, TemporalOp::Implies, 1),
                "U" | "until" | "stronguntil" => (5, TemporalOp::Until, 1),
                "W" | "weakuntil" => (5, TemporalOp::WeakUntil, 1),
                "V" | "release" => (5, TemporalOp::Release, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn connected(&mut self, least: u8) -> Parse<Formula> {
        let mut left = self.temporal_unary()?;
        while let Some((strength, op, length)) = self.temporal_operator()
            && strength > least
        {
            (0..length).for_each(|_| self.advance());
            let right = self.nested(|parser| parser.connected(strength))?;
            let span = join(left.span, right.span);
            left = Formula { kind: FormulaKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// A formula with signs before it, or an expression.
    fn temporal_unary(&mut self) -> Parse<Formula> {
        let prefixed = self.prefixed()?;
        let span = prefixed.span;
        match prefixed.kind {
            // `!p == q` and `(a) + b == c`: what was read is an operand.
            FormulaKind::Now(expression) => self.operand(Expr { span, ..expression }),
            kind => {
                let is_operator =
                    matches!(self.token().kind, Kind::Sign(sign) if super::expressions::is_within_atoms(sign));
                if is_operator && self.temporal_operator().is_none() {
                    // `(a || b) == c`: what stands in parentheses is an expression, too.
                    let whole = Formula { kind: kind.clone(), span };
                    if let Some(expression) = without_time(&whole) {
                        return self.operand(expression);
                    }
                    let sign = self.token().text();
                    let message = format!("`{sign}` stands behind a temporal formula");
                    let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
                    let help =
                        "a sign before a formula binds tightest: write `[] (x < 3)`; of `[] x < 3` SPIN asks nonsense";
                    return Err(self.error(diagnostic.note(span, "this formula").help(help)));
                }
                Ok(Formula { kind, span })
            }
        }
    }

    /// A sign with what it applies to, an expression without a binary operator, or anything in parentheses.
    fn prefixed(&mut self) -> Parse<Formula> {
        let start = self.at;
        let next_is = |sign| self.ahead(1).is(sign) && !self.ahead(1).spaced;
        let (length, wrap): (usize, fn(Box<Formula>) -> FormulaKind) = match self.token().kind {
            Kind::Sign("[") if self.ahead(1).is("]") => (2, FormulaKind::Always),
            Kind::Sign("<") if next_is(">") => (2, FormulaKind::Eventually),
            Kind::Sign("!") => (1, FormulaKind::Not),
            Kind::Sign("(") => return self.parenthesised_formula(),
            Kind::Name(ref word) => match &**word {
                "always" => (1, FormulaKind::Always),
                "eventually" => (1, FormulaKind::Eventually),
                "X" | "next" => (1, FormulaKind::Next),
                _ => return self.unary().map(now),
            },
            _ => return self.unary().map(now),
        };
        (0..length).for_each(|_| self.advance());
        let inner = self.nested(Self::prefixed)?;
        Ok(Formula { kind: as_expression(wrap(Box::new(inner))), span: self.since(start) })
    }

    fn parenthesised_formula(&mut self) -> Parse<Formula> {
        let start = self.at;
        let opened = self.span();
        self.advance();
        let inner = self.formula()?;
        self.close(")", opened)?;
        Ok(Formula { kind: inner.kind, span: self.since(start) })
    }

    /// Goes on behind the left side of an expression.
    fn operand(&mut self, left: Expr) -> Parse<Formula> {
        Ok(now(self.binary_after(left, super::expressions::AND)?))
    }
}

fn now(expression: Expr) -> Formula {
    let span = expression.span;
    Formula { kind: FormulaKind::Now(expression), span }
}

/// A formula without temporal signs as an expression.
fn without_time(formula: &Formula) -> Option<Expr> {
    let kind = match &formula.kind {
        FormulaKind::Now(expression) => return Some(expression.clone()),
        FormulaKind::Not(inner) => ExprKind::Not(Box::new(without_time(inner)?)),
        FormulaKind::Binary(op @ (TemporalOp::And | TemporalOp::Or), left, right) => {
            let op = if *op == TemporalOp::And { BinaryOp::And } else { BinaryOp::Or };
            ExprKind::Binary(op, Box::new(without_time(left)?), Box::new(without_time(right)?))
        }
        _ => return None,
    };
    Some(Expr { kind, span: formula.span })
}

/// `!e` of an expression is an expression.
fn as_expression(kind: FormulaKind) -> FormulaKind {
    match kind {
        FormulaKind::Not(inner) => match inner.kind {
            FormulaKind::Now(expression) => {
                let span = inner.span;
                FormulaKind::Now(Expr { kind: ExprKind::Not(Box::new(expression)), span })
            }
            kind => FormulaKind::Not(Box::new(Formula { kind, span: inner.span })),
        },
        other => other,
    }
}
