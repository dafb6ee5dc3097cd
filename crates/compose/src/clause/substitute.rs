//! Values put in place of the variables bound around an expression.

use model::expr::{Access, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Whose};
use model::value::Value;

/// The expression with these values for the variables bound around it, outermost first; nothing outside binds it any more.
pub(crate) fn closed(expr: &Expr, bound: &[Value]) -> Expr {
    if bound.is_empty() {
        return expr.clone();
    }
    let inside = |expr: &Expr| Box::new(closed(expr, bound));
    let kind = match &expr.kind {
        ExprKind::Const(value) => ExprKind::Const(*value),
        ExprKind::Parameter(id) => ExprKind::Parameter(*id),
        ExprKind::Myself => ExprKind::Myself,
        ExprKind::Bound(var) => match bound.get(var.0 as usize) {
            Some(&value) => ExprKind::Const(value),
            None => ExprKind::Bound(outwards(*var, bound)),
        },
        ExprKind::Read(access) => ExprKind::Read(closed_access(access, bound)),
        ExprKind::At { who, places, labels } => {
            ExprKind::At { who: inside(who), places: places.clone(), labels: labels.clone() }
        }
        ExprKind::Not(inner) => ExprKind::Not(inside(inner)),
        ExprKind::Negate(inner) => ExprKind::Negate(inside(inner)),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, inside(a), inside(b)),
        ExprKind::If(test, yes, no) => ExprKind::If(inside(test), inside(yes), inside(no)),
        ExprKind::Quantified(quantified) => ExprKind::Quantified(Box::new(closed_quantified(quantified, bound))),
        ExprKind::IndexOf(inner) => ExprKind::IndexOf(inside(inner)),
        ExprKind::ToProcess(family, inner) => ExprKind::ToProcess(*family, inside(inner)),
    };
    Expr { kind, span: expr.span }
}

/// The same variable among fewer binders.
fn outwards(var: BoundVar, bound: &[Value]) -> BoundVar {
    BoundVar(var.0 - bound.len() as u32)
}

fn closed_access(access: &Access, bound: &[Value]) -> Access {
    let whose = match &access.whose {
        Whose::Of(who) => Whose::Of(Box::new(closed(who, bound))),
        other => other.clone(),
    };
    let indices = access.indices.iter().map(|index| closed(index, bound)).collect();
    Access { var: access.var, whose, indices, span: access.span }
}

fn closed_quantified(quantified: &Quantified, bound: &[Value]) -> Quantified {
    let bindings = quantified.bindings.iter().map(|binding| Binding {
        var: outwards(binding.var, bound),
        name: binding.name.clone(),
        domain: match &binding.domain {
            Domain::Range(lo, hi) => Domain::Range(Box::new(closed(lo, bound)), Box::new(closed(hi, bound))),
            other => other.clone(),
        },
    });
    Quantified {
        quantifier: quantified.quantifier,
        bindings: bindings.collect(),
        filter: quantified.filter.as_ref().map(|filter| closed(filter, bound)),
        body: closed(&quantified.body, bound),
    }
}
