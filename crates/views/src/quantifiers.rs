//! What one more process can change about a step: enable it, or decide what it does.
//!
//! In: an action. Out: whether a process that is not seen yet may make a test hold that fails without it, and whether quantifiers stand
//! elsewhere than in tests that a step waits for, or in tests that can be a fault. A process that only makes such a test fail blocks the step, and need not be looked
//! for; but what stands behind a quantifier that fails, as in `(forall j: …) || 6 / x > 1`, may then be evaluated, and be a fault.

use model::control::{Action, Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Quantifier, Whose};
use model::process::FamilyId;
use model::statements::statements;
use model::types::ScalarType;
use model::value::Value;

use crate::fragment::n_witnesses;
use crate::layout::is_over;
use crate::sight::Ground;

/// What quantifiers over the family are for in an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantifiers {
    /// One more process may enable the step.
    pub enable: bool,
    /// One more process may change what the step does, or make it a fault.
    pub decide: bool,
}

/// What quantifiers over the family are for in an action.
pub fn quantifiers(ground: Ground<'_>, action: &Action) -> Quantifiers {
    let mut found = Quantifiers::default();
    if let Some(guard) = &action.guard {
        waits(ground, guard, &mut found);
    }
    body(ground, &action.body, &mut found);
    found
}

/// What quantifiers are for in a test that a step waits for.
fn waits(ground: Ground<'_>, test: &Expr, found: &mut Quantifiers) {
    let family = ground.layout.family;
    found.enable |= trend(family, test).may_rise;
    found.decide |= n_witnesses(family, test) > 0 && may_fault(ground, test);
}

fn body(ground: Ground<'_>, body: &[Stmt], found: &mut Quantifiers) {
    let family = ground.layout.family;
    let has = |expr: &Expr| n_witnesses(family, expr) > 0;
    let named = |target: &Access| {
        let whose = matches!(&target.whose, Whose::Of(who) if has(who));
        whose || target.indices.iter().any(has)
    };
    for statement in statements(body) {
        found.decide |= statement.targets().into_iter().any(named);
        match &statement.kind {
            StmtKind::Await(test) => waits(ground, test, found),
            StmtKind::For(..) => {}
            _ => found.decide |= statement.expressions().into_iter().any(has),
        }
    }
}

/// Whether an expression may have no value in some state: it computes, looks into an array elsewhere than where each process has an element, or at somebody who may be nobody.
fn may_fault(ground: Ground<'_>, expr: &Expr) -> bool {
    let within = |part: &Expr| may_fault(ground, part);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => false,
        ExprKind::Read(access) => {
            let lens = ground.model.vars[access.var].ty.dimensions();
            let row = ground.layout.rows.get(&access.var);
            let is_inside = |(dimension, index): (usize, &Expr)| match &index.kind {
                ExprKind::IndexOf(who) => row == Some(&dimension) && is_somebody(ground, who),
                ExprKind::Const(Value::Int(number)) => {
                    row != Some(&dimension) && usize::try_from(*number).is_ok_and(|at| at < lens[dimension])
                }
                _ => false,
            };
            let has_owner = match &access.whose {
                Whose::Of(who) => is_somebody(ground, who),
                Whose::Shared | Whose::Mine | Whose::Frame => true,
            };
            !has_owner || !access.indices.iter().enumerate().all(is_inside)
        }
        ExprKind::At { who, .. } | ExprKind::IndexOf(who) => !is_somebody(ground, who),
        ExprKind::Not(inner) => within(inner),
        ExprKind::Negate(_) => true,
        // A bound variable may be a number, of which the family has no process.
        ExprKind::ToProcess(_, inner) => !is_somebody(ground, inner) || matches!(inner.kind, ExprKind::Bound(_)),
        ExprKind::Binary(op, left, right) => op.computes() || within(left) || within(right),
        ExprKind::If(test, yes, no) => within(test) || within(yes) || within(no),
        ExprKind::Quantified(inner) => within(&inner.body) || inner.filter.as_ref().is_some_and(within),
    }
}

/// Whether an expression is a process in every state.
fn is_somebody(ground: Ground<'_>, who: &Expr) -> bool {
    match &who.kind {
        ExprKind::Const(Value::Process(_)) | ExprKind::Myself | ExprKind::Bound(_) => true,
        ExprKind::Read(access) => {
            matches!(ground.model.vars[access.var].ty.scalar(), ScalarType::Pid(_)) && !may_fault(ground, who)
        }
        _ => false,
    }
}

/// How a truth value may change when more processes are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Trend {
    may_rise: bool,
    may_fall: bool,
}

impl Trend {
    const NONE: Trend = Trend { may_rise: false, may_fall: false };
    const ANY: Trend = Trend { may_rise: true, may_fall: true };

    fn and(self, other: Trend) -> Trend {
        Trend { may_rise: self.may_rise || other.may_rise, may_fall: self.may_fall || other.may_fall }
    }

    fn not(self) -> Trend {
        Trend { may_rise: self.may_fall, may_fall: self.may_rise }
    }
}

fn trend(family: FamilyId, expr: &Expr) -> Trend {
    if n_witnesses(family, expr) == 0 {
        return Trend::NONE;
    }
    match &expr.kind {
        ExprKind::Not(inner) => trend(family, inner).not(),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => trend(family, left).and(trend(family, right)),
        ExprKind::Binary(BinaryOp::Implies, left, right) => trend(family, left).not().and(trend(family, right)),
        ExprKind::Quantified(quantified) if quantified.bindings.iter().all(|one| is_over(&one.domain, family)) => {
            match quantified.quantifier {
                Quantifier::Forall => Trend { may_rise: false, may_fall: true },
                Quantifier::Exists => Trend { may_rise: true, may_fall: false },
                Quantifier::Count => Trend::ANY,
            }
        }
        _ => Trend::ANY,
    }
}
