//! Formulas of `ltl` blocks.
//!
//! SPIN's operators, as signs or words: `[]` `always`, `<>` `eventually`, `X` `next`, `!`, `U` `until`, `W` `weakuntil`, `V` `release`,
//! `&&` `/\`, `||` `\/`, `->` `implies`, `<->` `equivalent`. What binds loosest comes first: `->` and `<->`, `||`, `&&`, then
//! `U`, `W`, `V`; all group to the left, as in SPIN. Signs before a formula bind tightest. Everything below is an expression.

use super::super::ast::{Expr, ExprKind, Formula, FormulaKind, TemporalOp};
use super::super::lexer::Kind;
use super::expressions::join;
use super::{Parse, Parser};

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

    fn temporal_unary(&mut self) -> Parse<Formula> {
        let start = self.at;
        let next_is = |sign| self.ahead(1).is(sign) && !self.ahead(1).spaced;
        let (length, wrap): (usize, fn(Box<Formula>) -> FormulaKind) = match self.token().kind {
            Kind::Sign("[") if self.ahead(1).is("]") => (2, FormulaKind::Always),
            Kind::Sign("<") if next_is(">") => (2, FormulaKind::Eventually),
            Kind::Sign("!") => (1, FormulaKind::Not),
            Kind::Name(ref word) => match &**word {
                "always" => (1, FormulaKind::Always),
                "eventually" => (1, FormulaKind::Eventually),
                "X" | "next" => (1, FormulaKind::Next),
                _ => return self.atom(),
            },
            _ => return self.atom(),
        };
        (0..length).for_each(|_| self.advance());
        let inner = self.nested(Self::temporal_unary)?;
        let span = self.since(start);
        match as_expression(wrap(Box::new(inner))) {
            // `!p == q`: what is negated was an operand.
            FormulaKind::Now(expression) => self.operand(Expr { span, ..expression }),
            kind => Ok(Formula { kind, span }),
        }
    }

    /// An expression, or a formula in parentheses.
    fn atom(&mut self) -> Parse<Formula> {
        if !self.is("(") {
            let expression = self.binary(super::expressions::EQUALITY - 1)?;
            return Ok(now(expression));
        }
        let start = self.at;
        let opened = self.span();
        self.advance();
        let inner = self.formula()?;
        self.close(")", opened)?;
        let span = self.since(start);
        // `(a) + b == c`: what stands in the parentheses was an operand.
        match inner.kind {
            FormulaKind::Now(expression) => self.operand(Expr { span, ..expression }),
            kind => Ok(Formula { kind, span }),
        }
    }

    /// Goes on behind the left side of an expression.
    fn operand(&mut self, left: Expr) -> Parse<Formula> {
        Ok(now(self.binary_after(left, super::expressions::EQUALITY - 1)?))
    }
}

fn now(expression: Expr) -> Formula {
    let span = expression.span;
    Formula { kind: FormulaKind::Now(expression), span }
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
