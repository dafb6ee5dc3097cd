//! Comparisons of a count of processes with a small number, put as the checker of views can ask them.
//!
//! In: what a property says. Out: the same, where `count(i: A(i)) < n` is that no `n` different processes are `A`, for `n` up to 4. Every comparison of a count with a number that is
//! written down is one of two such sentences, or both.

use model::expr::{BinaryOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::FamilyId;
use model::value::Value;
use model::visit::each_child_mut;

/// No sentence speaks of more different processes.
const MOST_DIFFERENT: i64 = 4;

/// The same with sentences about different processes.
pub(super) fn told_apart(said: &Expr, crowd: FamilyId) -> Expr {
    let mut expr = said.clone();
    if let Some(told) = comparison(&expr, crowd) {
        expr = told;
    }
    each_child_mut(&mut expr, &mut |part| *part = told_apart(part, crowd));
    expr
}

/// A comparison as a sentence; `None` where it is something else.
fn comparison(expr: &Expr, crowd: FamilyId) -> Option<Expr> {
    let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
    let (counted, number, op) = match (&left.kind, &right.kind) {
        (ExprKind::Quantified(counted), ExprKind::Const(Value::Int(number))) => (counted, *number, *op),
        (ExprKind::Const(Value::Int(number)), ExprKind::Quantified(counted)) => (counted, *number, op.mirrored()),
        _ => return None,
    };
    let is_count = counted.quantifier == Quantifier::Count;
    let is_of_one = matches!(&counted.bindings[..], [one] if matches!(one.domain, Domain::Family(of) if of == crowd));
    if !is_count || !is_of_one || !(-1..MOST_DIFFERENT).contains(&number) {
        return None;
    }
    // Where there are fewer processes than a sentence speaks of, it asks nobody; a count asks all, and may have no value.
    if counted.filter.iter().chain([&counted.body]).any(may_have_no_value) {
        return None;
    }
    let fewer_than = |n: i64| Sentence { counted, at: expr.span }.fewer_than(n);
    let both = |one: Expr, other: Expr| Expr {
        kind: ExprKind::Binary(BinaryOp::And, Box::new(one), Box::new(other)),
        span: expr.span,
    };
    let is_number = || Some(both(fewer_than(number + 1)?, negated(fewer_than(number)?)));
    match op {
        BinaryOp::Less => fewer_than(number),
        BinaryOp::LessEqual => fewer_than(number + 1),
        BinaryOp::Greater => fewer_than(number + 1).map(negated),
        BinaryOp::GreaterEqual => fewer_than(number).map(negated),
        BinaryOp::Equal => is_number(),
        BinaryOp::NotEqual => is_number().map(negated),
        _ => None,
    }
}

/// Whether an expression may have no value: by a computation, an index that is not that of a bound process, or a process that may be none.
fn may_have_no_value(expr: &Expr) -> bool {
    let is_somebody = |who: &Expr| matches!(who.kind, ExprKind::Bound(_) | ExprKind::Const(Value::Process(_)));
    let mut open = vec![expr];
    while let Some(part) = open.pop() {
        match &part.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Bound(_) => {}
            ExprKind::Not(inner) => open.push(inner),
            ExprKind::If(test, yes, no) => open.extend([&**test, &**yes, &**no]),
            ExprKind::Binary(op, left, right) if !op.computes() => open.extend([&**left, &**right]),
            ExprKind::At { who, .. } | ExprKind::IndexOf(who) if is_somebody(who) => {}
            ExprKind::Read(access) => {
                let is_index = |index: &Expr| matches!(&index.kind, ExprKind::IndexOf(who) if is_somebody(who));
                let is_owned_by_somebody = match &access.whose {
                    Whose::Shared => true,
                    Whose::Of(who) => is_somebody(who),
                    Whose::Mine | Whose::Frame => false,
                };
                if !is_owned_by_somebody || !access.indices.iter().all(is_index) {
                    return true;
                }
            }
            _ => return true,
        }
    }
    false
}

fn negated(expr: Expr) -> Expr {
    let span = expr.span;
    Expr { kind: ExprKind::Not(Box::new(expr)), span }
}

struct Sentence<'e> {
    counted: &'e Quantified,
    at: base::Span,
}

impl Sentence<'_> {
    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.at }
    }

    /// Of any `n` processes two are one, or one is not what is counted.
    fn fewer_than(&self, n: i64) -> Option<Expr> {
        if n <= 0 {
            return Some(self.expr(ExprKind::Const(Value::Bool(false))));
        }
        if n > MOST_DIFFERENT {
            return None;
        }
        let n = n as u32;
        let outer = self.counted.bindings[0].var.0;
        let process = |at: u32| Box::new(self.expr(ExprKind::Bound(BoundVar(outer + at))));
        let mut ways = Vec::new();
        for one in 0..n {
            for other in one + 1..n {
                ways.push(self.expr(ExprKind::Binary(BinaryOp::Equal, process(one), process(other))));
            }
        }
        for one in 0..n {
            // Inside, the others are bound, too.
            let renamed = |part: &Expr| rename(part, (outer, outer + one), n - 1);
            ways.extend(self.counted.filter.iter().map(|filter| negated(renamed(filter))));
            ways.push(negated(renamed(&self.counted.body)));
        }
        let or = |one: Expr, other: Expr| self.expr(ExprKind::Binary(BinaryOp::Or, Box::new(one), Box::new(other)));
        let body = ways.into_iter().reduce(or)?;
        let of_crowd = &self.counted.bindings[0];
        let bindings: Vec<Binding> = (0..n)
            .map(|at| Binding {
                var: BoundVar(outer + at),
                name: of_crowd.name.clone(),
                domain: of_crowd.domain.clone(),
            })
            .collect();
        let all = Quantified { quantifier: Quantifier::Forall, bindings, filter: None, body };
        Some(self.expr(ExprKind::Quantified(Box::new(all))))
    }
}

/// The variable by its new name, and those bound inside it by names that come so much later.
fn rename(part: &Expr, (old, new): (u32, u32), later: u32) -> Expr {
    let renamed = |var: BoundVar| match var.0.cmp(&old) {
        std::cmp::Ordering::Less => var,
        std::cmp::Ordering::Equal => BoundVar(new),
        std::cmp::Ordering::Greater => BoundVar(var.0 + later),
    };
    let mut part = part.clone();
    match &mut part.kind {
        ExprKind::Bound(var) => *var = renamed(*var),
        ExprKind::Quantified(inner) => {
            for binding in &mut inner.bindings {
                binding.var = renamed(binding.var);
            }
        }
        _ => {}
    }
    each_child_mut(&mut part, &mut |child| *child = rename(child, (old, new), later));
    part
}
