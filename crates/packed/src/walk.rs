//! Visits every part of an expression.

use model::expr::{Access, Domain, Expr, ExprKind, Whose};

/// Shows every part of an expression, the whole first.
pub fn expressions(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
        ExprKind::Read(access) => access_parts(access, visit),
        ExprKind::At { who: inner, .. }
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::IndexOf(inner)
        | ExprKind::ToProcess(_, inner) => expressions(inner, visit),
        ExprKind::Binary(_, left, right) => {
            expressions(left, visit);
            expressions(right, visit);
        }
        ExprKind::If(test, yes, no) => {
            for part in [test, yes, no] {
                expressions(part, visit);
            }
        }
        ExprKind::Quantified(quantified) => {
            for binding in &quantified.bindings {
                if let Domain::Range(lo, hi) = &binding.domain {
                    expressions(lo, visit);
                    expressions(hi, visit);
                }
            }
            if let Some(filter) = &quantified.filter {
                expressions(filter, visit);
            }
            expressions(&quantified.body, visit);
        }
    }
}

/// Shows every part of the expressions in an access: whose it is, and its indices.
pub fn access_parts(access: &Access, visit: &mut dyn FnMut(&Expr)) {
    if let Whose::Of(who) = &access.whose {
        expressions(who, visit);
    }
    for index in &access.indices {
        expressions(index, visit);
    }
}
