//! What one more process can change about a step: enable it, or decide what it does.
//!
//! In: an action. Out: whether a process that is not seen yet may make a test hold that fails without it, and whether quantifiers stand
//! elsewhere than in tests that a step waits for. A process that only makes such a test fail blocks the step, and need not be looked for.

use model::control::{Action, Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Quantifier, Whose};
use model::process::FamilyId;

use crate::fragment::n_witnesses;
use crate::layout::is_over;

/// What quantifiers over the family are for in an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantifiers {
    /// One more process may enable the step.
    pub enable: bool,
    /// One more process may change what the step does.
    pub decide: bool,
}

/// What quantifiers over the family are for in an action.
pub fn quantifiers(family: FamilyId, action: &Action) -> Quantifiers {
    let mut found = Quantifiers::default();
    if let Some(guard) = &action.guard {
        found.enable |= trend(family, guard).may_rise;
    }
    body(family, &action.body, &mut found);
    found
}

fn body(family: FamilyId, statements: &[Stmt], found: &mut Quantifiers) {
    let has = |expr: &Expr| n_witnesses(family, expr) > 0;
    let named = |target: &Access| {
        let whose = matches!(&target.whose, Whose::Of(who) if has(who));
        whose || target.indices.iter().any(has)
    };
    for statement in statements {
        match &statement.kind {
            StmtKind::Await(test) => found.enable |= trend(family, test).may_rise,
            StmtKind::Assert(test) => found.decide |= has(test),
            StmtKind::Assign(stores) => {
                found.decide |= stores.iter().any(|(target, value)| named(target) || has(value));
            }
            StmtKind::AssignAny(target, range) => {
                found.decide |= named(target) || range.iter().any(|(lo, hi)| has(lo) || has(hi));
            }
            StmtKind::Acquire(target) | StmtKind::Release(target) => found.decide |= named(target),
            StmtKind::If(test, yes, no) => {
                found.decide |= has(test);
                body(family, yes, found);
                body(family, no, found);
            }
            StmtKind::Either(blocks) => blocks.iter().for_each(|block| body(family, block, found)),
            StmtKind::For(_, block) => body(family, block, found),
        }
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
