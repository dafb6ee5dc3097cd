//! Counts of processes that are compared with small numbers, as quantifiers: `count(i: A(i)) <= 1` says that no two processes are both `A`.
//!
//! In: an expression. Out: the same without such counts. That at least `m` processes are `A` is that there are `m` of them, no two of which are one; all other comparisons are made of that.
//! Views show few processes, and can tell whether there are so many.

use model::expr::{BinaryOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::FamilyId;
use model::value::Value;
use model::visit::{each_child_mut, each_part};

/// More processes are not told by quantifiers.
const MOST: i64 = 3;

/// The expression with quantifiers in the place of counts over the family that are compared with small numbers.
pub fn without_counts(expr: &Expr, family: FamilyId) -> Expr {
    let mut told = expr.clone();
    tell(&mut told, family);
    told
}

fn tell(expr: &mut Expr, family: FamilyId) {
    if let ExprKind::Binary(op, left, right) = &expr.kind {
        let found = compared(*op, left, right, family).or_else(|| compared(op.mirrored(), right, left, family));
        if let Some(found) = found {
            *expr = found;
        }
    }
    each_child_mut(expr, &mut |child| tell(child, family));
}

/// A comparison of a count with a number that is written down.
fn compared(op: BinaryOp, left: &Expr, right: &Expr, family: FamilyId) -> Option<Expr> {
    let ExprKind::Quantified(counted) = &left.kind else { return None };
    let ExprKind::Const(Value::Int(number)) = right.kind else { return None };
    let [binding] = &counted.bindings[..] else { return None };
    if counted.quantifier != Quantifier::Count || binding.domain != Domain::Family(family) {
        return None;
    }
    // A count looks at everybody, a quantifier not at all where there are too few: a fault would be passed by.
    if !counted.filter.iter().chain([&counted.body]).all(has_a_value) {
        return None;
    }
    let at_least = |n: i64| at_least(counted, binding, n, left);
    let make = |kind| Expr { kind, span: left.span };
    let not = |expr: Expr| make(ExprKind::Not(Box::new(expr)));
    let equal = || {
        let (enough, too_many) = (at_least(number)?, at_least(number + 1)?);
        Some(make(ExprKind::Binary(BinaryOp::And, Box::new(enough), Box::new(not(too_many)))))
    };
    match op {
        _ if !(-1..=MOST).contains(&number) => None,
        BinaryOp::Less => at_least(number).map(not),
        BinaryOp::LessEqual => at_least(number + 1).map(not),
        BinaryOp::Greater => at_least(number + 1),
        BinaryOp::GreaterEqual => at_least(number),
        BinaryOp::Equal => equal(),
        BinaryOp::NotEqual => equal().map(not),
        _ => None,
    }
}

/// Whether an expression has a value in every state: it computes nothing, goes through nothing, names processes by bound variables, and has no other indices.
fn has_a_value(expr: &Expr) -> bool {
    let is_bound = |who: &Expr| matches!(who.kind, ExprKind::Bound(_) | ExprKind::Const(Value::Process(_)));
    let is_of_bound = |index: &Expr| matches!(&index.kind, ExprKind::IndexOf(who) if is_bound(who));
    let mut is_safe = true;
    each_part(expr, &mut |part| {
        is_safe &= match &part.kind {
            ExprKind::Read(access) => {
                let is_named = match &access.whose {
                    Whose::Shared => true,
                    Whose::Of(who) => is_bound(who),
                    Whose::Mine | Whose::Frame => false,
                };
                is_named && access.indices.iter().all(is_of_bound)
            }
            ExprKind::At { who, .. } | ExprKind::IndexOf(who) => is_bound(who),
            ExprKind::Binary(op, ..) => !op.computes(),
            ExprKind::Negate(_) | ExprKind::ToProcess(..) | ExprKind::Quantified(_) | ExprKind::Myself => false,
            _ => true,
        };
    });
    is_safe
}

/// That so many processes are as counted.
fn at_least(counted: &Quantified, binding: &Binding, n: i64, place: &Expr) -> Option<Expr> {
    let make = |kind| Expr { kind, span: place.span };
    let truth = |truth| Some(make(ExprKind::Const(Value::Bool(truth))));
    let n = match n {
        ..=0 => return truth(true),
        1..=MOST => n as u32,
        _ => return None,
    };
    let first = binding.var.0;
    let bound = |at: u32| Box::new(make(ExprKind::Bound(BoundVar(first + at))));
    let mut parts = Vec::new();
    for at in 0..n {
        parts.extend((0..at).map(|other| make(ExprKind::Binary(BinaryOp::NotEqual, bound(other), bound(at)))));
    }
    for at in 0..n {
        let parts_of_one = counted.filter.iter().chain([&counted.body]);
        parts.extend(parts_of_one.map(|part| moved(part, first, (at, n - 1))));
    }
    let body =
        parts.into_iter().reduce(|all, part| make(ExprKind::Binary(BinaryOp::And, Box::new(all), Box::new(part))))?;
    let bindings = (0..n).map(|at| Binding { var: BoundVar(first + at), ..binding.clone() }).collect();
    let exists = Quantified { quantifier: Quantifier::Exists, bindings, filter: None, body };
    Some(make(ExprKind::Quantified(Box::new(exists))))
}

/// What is said of the variable that was bound first, of the one so far behind it; what is bound inside comes after so many more.
fn moved(expr: &Expr, first: u32, (by, n_more): (u32, u32)) -> Expr {
    fn shift(expr: &mut Expr, first: u32, by: u32, n_more: u32) {
        let move_var = |var: &mut BoundVar| {
            if var.0 >= first {
                var.0 += if var.0 == first { by } else { n_more };
            }
        };
        match &mut expr.kind {
            ExprKind::Bound(var) => move_var(var),
            ExprKind::Quantified(inner) => inner.bindings.iter_mut().for_each(|binding| move_var(&mut binding.var)),
            _ => {}
        }
        each_child_mut(expr, &mut |child| shift(child, first, by, n_more));
    }
    let mut expr = expr.clone();
    shift(&mut expr, first, by, n_more);
    expr
}
