//! Whom a step can depend on beside those it names: the checker's view of quantifiers.
//!
//! In: an action as it was written. Out: when a further process may make a difference. A test that a step waits for matters only if it holds: then
//! a further process can take the step away, which obliges nobody to anything; where it fails, a further process matters if it could make it
//! hold. A test that may have no value matters always: a further process can make that be evaluated which is a fault. So do quantifiers anywhere else.

use model::control::{Action, Stmt, StmtKind, TextOwner};
use model::expr::{BinaryOp, Expr, ExprKind, Quantifier};

use super::text::{Text, access_parts, parts};
use crate::certificate::symmetry::surely_has_value;

/// When a process that is not seen may make a difference to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Help {
    /// Never.
    Never,
    /// Where the step is not possible without it.
    Missing,
    /// Wherever a quantifier is open.
    Always,
}

/// When a process that is not seen may make a difference to an action.
pub(super) fn help(text: &Text<'_>, action: &Action) -> Help {
    let guard = action.guard.as_ref().map_or(Help::Never, |guard| of_test(text, action.scope, guard));
    guard.max(of_block(text, action.scope, &action.body))
}

fn of_test(text: &Text<'_>, scope: TextOwner, test: &Expr) -> Help {
    if quantifies(text, test) && !surely_has_value(text.model, text.any_size(), test, Some(scope), &[]) {
        return Help::Always;
    }
    if turns(text, test, true) { Help::Missing } else { Help::Never }
}

fn of_block(text: &Text<'_>, scope: TextOwner, block: &[Stmt]) -> Help {
    let anywhere = |exprs: Vec<&Expr>| match exprs.into_iter().any(|expr| quantifies(text, expr)) {
        true => Help::Always,
        false => Help::Never,
    };
    let of = |statement: &Stmt| match &statement.kind {
        StmtKind::Await(test) => of_test(text, scope, test),
        StmtKind::Assert(test) => anywhere(vec![test]),
        StmtKind::Assign(stores) => {
            anywhere(stores.iter().flat_map(|(target, value)| [access_parts(target), vec![value]].concat()).collect())
        }
        StmtKind::AssignAny(target, range) => {
            let ends = range.iter().flat_map(|(lo, hi)| [lo, hi]);
            anywhere(access_parts(target).into_iter().chain(ends).collect())
        }
        StmtKind::Acquire(target) | StmtKind::Release(target) => anywhere(access_parts(target)),
        StmtKind::If(test, yes, no) => {
            anywhere(vec![test]).max(of_block(text, scope, yes)).max(of_block(text, scope, no))
        }
        StmtKind::Either(blocks) => {
            blocks.iter().map(|block| of_block(text, scope, block)).max().unwrap_or(Help::Never)
        }
        StmtKind::For(_, block) => of_block(text, scope, block),
    };
    block.iter().map(of).max().unwrap_or(Help::Never)
}

fn quantifies(text: &Text<'_>, expr: &Expr) -> bool {
    parts(expr).iter().any(|part| match &part.kind {
        ExprKind::Quantified(quantified) => quantified.bindings.iter().any(|binding| text.is_all(&binding.domain)),
        _ => false,
    })
}

/// Whether a further process may turn an expression, from the opposite, to this truth value.
fn turns(text: &Text<'_>, expr: &Expr, to: bool) -> bool {
    if !quantifies(text, expr) {
        return false;
    }
    match &expr.kind {
        ExprKind::Not(inner) => turns(text, inner, !to),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => turns(text, left, to) || turns(text, right, to),
        ExprKind::Binary(BinaryOp::Implies, left, right) => turns(text, left, !to) || turns(text, right, to),
        ExprKind::Quantified(quantified) => {
            let is_plain = quantified.bindings.iter().all(|binding| text.is_all(&binding.domain))
                && !quantifies(text, &quantified.body)
                && !quantified.filter.as_ref().is_some_and(|filter| quantifies(text, filter));
            match quantified.quantifier {
                Quantifier::Exists if is_plain => to,
                Quantifier::Forall if is_plain => !to,
                _ => true,
            }
        }
        _ => true,
    }
}
