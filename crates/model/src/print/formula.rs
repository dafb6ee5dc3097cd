//! Temporal formulas in the keywords of the language.

use super::{BindingLevel, Printer, above, parenthesised};
use crate::expr::Quantifier;
use crate::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};

impl Printer<'_> {
    /// The formula as text.
    pub fn formula(&mut self, formula: &Formula) -> String {
        self.formula_at_level(formula).1
    }

    fn formula_at_level(&mut self, formula: &Formula) -> (BindingLevel, String) {
        match formula {
            Formula::Now(expr) => self.at_level(expr),
            Formula::Not(inner) => {
                (BindingLevel::Unary, format!("!{}", self.formula_tighter(inner, BindingLevel::Unary)))
            }
            Formula::Unary(op, inner) => (
                BindingLevel::Unary,
                format!("{} {}", unary_word(*op), self.formula_tighter(inner, BindingLevel::Unary)),
            ),
            Formula::Boolean(op, left, right) => {
                let (level, symbol) = match op {
                    BooleanOp::And => (BindingLevel::And, "&&"),
                    BooleanOp::Or => (BindingLevel::Or, "||"),
                    BooleanOp::Implies => (BindingLevel::Arrow, "=>"),
                    BooleanOp::Iff => (BindingLevel::Arrow, "<=>"),
                };
                let least_left = if level == BindingLevel::Arrow { above(level) } else { level };
                let left = self.formula_tighter(left, least_left);
                (level, format!("{left} {symbol} {}", self.formula_tighter(right, above(level))))
            }
            Formula::Binary(op, left, right) => {
                let (left, right) = (
                    self.formula_tighter(left, BindingLevel::Comparison),
                    self.formula_tighter(right, BindingLevel::Comparison),
                );
                (BindingLevel::Arrow, format!("{left} {} {right}", binary_word(*op)))
            }
            Formula::NeverAccepts(automaton) => {
                (BindingLevel::Unary, format!("no run is accepted by {}", automaton.name))
            }
            Formula::Quantified { quantifier, bindings, filter, body } => {
                let outer = self.bound.clone();
                let binders = self.binders(bindings, filter.as_ref());
                let word = if *quantifier == Quantifier::Exists { "exists" } else { "forall" };
                let body = self.formula(body);
                self.bound = outer;
                (BindingLevel::Open, format!("{word} {binders}: {body}"))
            }
        }
    }

    fn formula_tighter(&mut self, formula: &Formula, least: BindingLevel) -> String {
        parenthesised(self.formula_at_level(formula), least)
    }
}

fn unary_word(op: UnaryTemporal) -> &'static str {
    match op {
        UnaryTemporal::Next => "next",
        UnaryTemporal::Always => "always",
        UnaryTemporal::Eventually => "eventually",
    }
}

fn binary_word(op: BinaryTemporal) -> &'static str {
    match op {
        BinaryTemporal::Until => "until",
        BinaryTemporal::WeakUntil => "weakuntil",
        BinaryTemporal::Releases => "releases",
        BinaryTemporal::StrongReleases => "M",
        BinaryTemporal::LeadsTo => "~>",
    }
}
