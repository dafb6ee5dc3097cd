//! Whether two expressions are the same, wherever they stand in the text.
//!
//! In: two expressions with the values of the variables bound around them. Out: whether they are built alike, bound variables compared by value where
//! they are bound outside. Expressions that only mean the same are not found equal; that costs an atom, never an answer.

use model::expr::{Access, Domain, Expr, ExprKind, Whose};
use model::value::Value;

/// An expression and the values of the variables bound around it.
type Instance<'a> = (&'a Expr, &'a [Value]);

/// Whether two expressions are the same in their instances.
pub fn in_instances((one, bound_one): (&Expr, &Vec<Value>), (two, bound_two): (&Expr, &Vec<Value>)) -> bool {
    // Variables are named by how many binders stand around them; with different numbers, inner ones could be confused.
    bound_one.len() == bound_two.len() && same((one, bound_one), (two, bound_two))
}

fn same((one, a): Instance<'_>, (two, b): Instance<'_>) -> bool {
    let both = |one: &Expr, two: &Expr| same((one, a), (two, b));
    match (&one.kind, &two.kind) {
        (ExprKind::Const(one), ExprKind::Const(two)) => one == two,
        (ExprKind::Myself, ExprKind::Myself) => true,
        (ExprKind::Bound(one), ExprKind::Bound(two)) => match (a.get(one.0 as usize), b.get(two.0 as usize)) {
            (Some(one), Some(two)) => one == two,
            (None, None) => one == two,
            _ => false,
        },
        (ExprKind::Read(one), ExprKind::Read(two)) => same_access((one, a), (two, b)),
        (ExprKind::At { who: one, places: p, .. }, ExprKind::At { who: two, places: q, .. }) => {
            p == q && both(one, two)
        }
        (ExprKind::Not(one), ExprKind::Not(two)) => both(one, two),
        (ExprKind::Negate(one), ExprKind::Negate(two)) => both(one, two),
        (ExprKind::IndexOf(one), ExprKind::IndexOf(two)) => both(one, two),
        (ExprKind::ToProcess(f, one), ExprKind::ToProcess(g, two)) => f == g && both(one, two),
        (ExprKind::Binary(op, one, two), ExprKind::Binary(other, three, four)) => {
            op == other && both(one, three) && both(two, four)
        }
        (ExprKind::If(c, t, e), ExprKind::If(d, u, f)) => both(c, d) && both(t, u) && both(e, f),
        (ExprKind::Quantified(one), ExprKind::Quantified(two)) => {
            let same_filter = match (&one.filter, &two.filter) {
                (Some(one), Some(two)) => both(one, two),
                (None, None) => true,
                _ => false,
            };
            one.quantifier == two.quantifier
                && one.bindings.len() == two.bindings.len()
                && one
                    .bindings
                    .iter()
                    .zip(&two.bindings)
                    .all(|(one, two)| one.var == two.var && same_domain((&one.domain, a), (&two.domain, b)))
                && same_filter
                && both(&one.body, &two.body)
        }
        _ => false,
    }
}

fn same_domain((one, a): (&Domain, &[Value]), (two, b): (&Domain, &[Value])) -> bool {
    match (one, two) {
        (Domain::Family(one), Domain::Family(two)) => one == two,
        (Domain::Enum(one), Domain::Enum(two)) => one == two,
        (Domain::Range(lo, hi), Domain::Range(low, high)) => same((lo, a), (low, b)) && same((hi, a), (high, b)),
        _ => false,
    }
}

fn same_access((one, a): (&Access, &[Value]), (two, b): (&Access, &[Value])) -> bool {
    let same_whose = match (&one.whose, &two.whose) {
        (Whose::Shared, Whose::Shared) | (Whose::Mine, Whose::Mine) | (Whose::Frame, Whose::Frame) => true,
        (Whose::Of(one), Whose::Of(two)) => same((one, a), (two, b)),
        _ => false,
    };
    one.var == two.var
        && same_whose
        && one.indices.len() == two.indices.len()
        && one.indices.iter().zip(&two.indices).all(|(one, two)| same((one, a), (two, b)))
}
