//! `sum(k in R: e)`, `min(k in R: e)`, `max(k in R: e)`: numbers made of counts.
//!
//! In: what is bound, and a number `e` that lies between two known bounds. Out: an expression of the Model, which knows `count`, `forall`
//! and `exists` only, so that every evaluator follows it. With `v` a further bound number, which is called `#` so that `explain` knows it:
//!
//! | written | becomes |
//! |---|---|
//! | `sum(k in R: e)` | `count(v, k: v < e)`, less `count(v, k: v < -e)` where `e` may be negative |
//! | `max(k in R: e)` | the lower bound of `e`, and one for each `v` from there on with `exists k: e > v` |
//! | `min(k in R: e)` | the same with `forall k: e > v` |

use base::{Diagnostic, Span};
use model::expr::{BinaryOp as ModelOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::value::Value;

use super::binders::{Binder, Bindings};
use super::{Checker, Scope, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast;

/// Numbers that are added or compared may have at most so many values: each is looked at in each state.
const MAX_VALUES: i64 = 4096;

/// So many values of all instances together may be looked at in each state.
const MAX_LOOKS: i64 = 1_000_000;

/// Which number is made of the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Total {
    /// All of them added.
    Sum,
    /// The least; the greatest that there could be, where there is none.
    Least,
    /// The greatest; the least that there could be, where there is none.
    Greatest,
}

impl<'a> Checker<'a> {
    #[inline(never)]
    pub(super) fn total(
        &mut self,
        total: Total,
        (binders, body): (&'a ast::Binders, &'a ast::Expr),
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let level = BoundVar(self.binders.len() as u32);
        let n_instances = self.binders.last().map_or(1, |binder| binder.n_instances);
        self.binders.push(Binder { bounds: None, is_written: true, n_instances });
        let bound = self.bind(binders, scope, |checker, inner| {
            let value = checker.number(body, inner);
            let n_bound = checker.binders.last().map_or(1, |binder| binder.n_instances);
            let few = |(lo, hi): &(i64, i64)| {
                let n_values = hi.saturating_sub(*lo);
                n_values <= MAX_VALUES
                    && n_values.saturating_mul(n_bound) <= MAX_LOOKS
                    && lo.abs().max(hi.abs()) <= MAX_VALUES
            };
            let bounds = checker.bounds(&value).filter(few);
            (value, bounds)
        });
        self.binders.pop();
        let Some((bindings, (value, bounds))) = bound else { return self.poison(span) };
        let (least, greatest) = match bounds {
            Some(bounds) => bounds,
            None => {
                let message = format!("between which numbers this lies is not known, or they are beyond {MAX_VALUES}");
                let help = "add or compare variables of small ranges, as in `x: 0..=7`";
                self.report(Diagnostic::error(code::TOO_MANY_COPIES, body.span, message).help(help));
                return self.poison(span);
            }
        };
        let made = Levels { level, bindings, value, span };
        let expr = match total {
            Total::Sum => {
                let over = self.sum_of(&made, made.value.clone(), greatest);
                if least >= 0 {
                    over
                } else {
                    let negative = self.node(ExprKind::Negate(Box::new(made.value.clone())), span);
                    let under = self.sum_of(&made, negative, -least);
                    self.operation(ModelOp::Subtract, over, under, span)
                }
            }
            Total::Least => self.extreme_of(&made, Quantifier::Forall, (least, greatest)),
            Total::Greatest => self.extreme_of(&made, Quantifier::Exists, (least, greatest)),
        };
        Typed::new(expr, Ty::Int)
    }

    /// How many levels below the values there are, all values together; those below 0 have none.
    fn sum_of(&mut self, made: &Levels, value: Expr, greatest: i64) -> Expr {
        let below = self.operation(ModelOp::Less, made.height(), value, made.span);
        let mut bindings = vec![self.levels(made, (0, greatest))];
        bindings.extend(made.bindings.bindings.iter().cloned());
        self.counted(bindings, made.bindings.filter.clone(), below, made.span)
    }

    /// How many levels the least or the greatest value is above the lower bound, and that bound.
    fn extreme_of(&mut self, made: &Levels, quantifier: Quantifier, (least, greatest): (i64, i64)) -> Expr {
        let above = self.operation(ModelOp::Greater, made.value.clone(), made.height(), made.span);
        let Bindings { bindings, filter } = &made.bindings;
        let some = Quantified { quantifier, bindings: bindings.clone(), filter: filter.clone(), body: above };
        let some = self.node(ExprKind::Quantified(Box::new(some)), made.span);
        let levels = vec![self.levels(made, (least, greatest))];
        let count = self.counted(levels, None, some, made.span);
        let bound = self.node(ExprKind::Const(Value::Int(least)), made.span);
        self.operation(ModelOp::Add, bound, count, made.span)
    }

    fn counted(&mut self, bindings: Vec<Binding>, filter: Option<Expr>, body: Expr, span: Span) -> Expr {
        let counted = Quantified { quantifier: Quantifier::Count, bindings, filter, body };
        self.node(ExprKind::Quantified(Box::new(counted)), span)
    }

    /// The levels from the least value to below the greatest one, and at least one, so that values are looked at for errors. How many
    /// there are was found out for this size, so the bound names every parameter: methods for every size have to refuse it.
    fn levels(&mut self, made: &Levels, (least, greatest): (i64, i64)) -> Binding {
        let span = made.span;
        let mut last = Expr { kind: ExprKind::Const(Value::Int(greatest.max(least + 1) - 1)), span };
        for id in self.model.parameters.ids().collect::<Vec<_>>() {
            let parameter = Box::new(Expr { kind: ExprKind::Parameter(id), span });
            let none = Box::new(Expr { kind: ExprKind::Const(Value::Int(0)), span });
            let none = Expr { kind: ExprKind::Binary(ModelOp::Multiply, none, parameter), span };
            last = Expr { kind: ExprKind::Binary(ModelOp::Add, Box::new(last), Box::new(none)), span };
        }
        let first = self.node(ExprKind::Const(Value::Int(least)), span);
        Binding { var: made.level, name: "#".to_owned(), domain: Domain::Range(Box::new(first), Box::new(last)) }
    }
}

/// What the counts are made of.
struct Levels {
    /// The bound number that goes through the levels.
    level: BoundVar,
    /// What the user bound.
    bindings: Bindings,
    /// The values.
    value: Expr,
    span: Span,
}

impl Levels {
    fn height(&self) -> Expr {
        Expr { kind: ExprKind::Bound(self.level), span: self.span }
    }
}
