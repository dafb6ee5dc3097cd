//! Conditions behind statements as conditions before them: weakest preconditions (Dijkstra 1975), where they are small and known.
//!
//! In: the statements of a step and a condition that must hold behind them. Out: what must hold before, if that is found. A step
//! whose last condition can be asked first is not begun in vain. What it stores is put for what the condition reads; where an index is computed, two
//! accesses may mean one element, and the condition stays where it is.

use base::IdVec;
use model::control::{Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::value::Value;
use model::variable::Var;
use model::visit;

use super::terms;

/// A larger condition stays behind the statements.
const MOST_PARTS: usize = 100;

/// What must hold before the statements for the condition to hold behind them. Where one of the two is a fault, so is the other, or a statement between.
pub(super) fn before(body: &[Stmt], condition: &Expr, vars: &IdVec<Var>) -> Option<Expr> {
    let mut condition = condition.clone();
    for stmt in body.iter().rev() {
        match &stmt.kind {
            StmtKind::Assign(pairs) => substitute(&mut condition, pairs)?,
            StmtKind::AssignAny(access, _) if !reads(&condition, access) => {}
            // Who fails there does so with some other condition behind it, too.
            StmtKind::Assert(_) => {}
            // Where one does not go on it is no fault what comes then.
            StmtKind::Await(_) if !may_fault(&condition, vars) => {}
            _ => return None,
        }
        if n_parts(&condition) > MOST_PARTS {
            return None;
        }
    }
    Some(condition)
}

/// The condition where these hold, which were found to be no faults.
pub(super) fn given(condition: &Expr, known: &[Expr]) -> Expr {
    let span = condition.span;
    if known.contains(condition) {
        return terms::truth(true, span);
    }
    if known.contains(&terms::not(condition.clone())) {
        return terms::truth(false, span);
    }
    match &condition.kind {
        ExprKind::Not(inner) => terms::not(given(inner, known)),
        ExprKind::Binary(BinaryOp::And, left, right) => terms::and(given(left, known), given(right, known)),
        ExprKind::Binary(BinaryOp::Or, left, right) => terms::or(given(left, known), given(right, known)),
        _ => condition.clone(),
    }
}

/// How two accesses lie to each other.
#[derive(PartialEq, Eq)]
enum Overlap {
    Apart,
    Same,
    Unknown,
}

fn overlap(one: &Access, other: &Access) -> Overlap {
    if one.var != other.var {
        return Overlap::Apart;
    }
    let number = |index: &Expr| match index.kind {
        ExprKind::Const(Value::Int(number)) => Some(number),
        _ => None,
    };
    let indices = |access: &Access| access.indices.iter().map(number).collect::<Option<Vec<i64>>>();
    match (indices(one), indices(other)) {
        (Some(a), Some(b)) if a != b => Overlap::Apart,
        (Some(_), Some(_)) if one.whose == other.whose => Overlap::Same,
        _ => Overlap::Unknown,
    }
}

/// Puts the values of stores made together for what they store to.
fn substitute(condition: &mut Expr, pairs: &[(Access, Expr)]) -> Option<()> {
    if let ExprKind::Read(access) = &condition.kind {
        let mut met = pairs.iter().filter(|(target, _)| overlap(target, access) != Overlap::Apart);
        return match (met.next(), met.next()) {
            // An index that is computed may itself be changed.
            (None, _) if pairs.iter().any(|(target, _)| moves(access, target)) => None,
            (None, _) => Some(()),
            (Some((target, value)), None) if overlap(target, access) == Overlap::Same => {
                *condition = value.clone();
                Some(())
            }
            _ => None,
        };
    }
    let is_simple = !matches!(condition.kind, ExprKind::Quantified(_) | ExprKind::At { .. });
    let mut found = is_simple.then_some(());
    visit::each_child_mut(condition, &mut |part| found = found.and_then(|()| substitute(part, pairs)));
    found
}

/// Whether a store may change which element an access means.
fn moves(access: &Access, target: &Access) -> bool {
    let depends = |expr: &Expr| reads(expr, target);
    access.indices.iter().any(depends) || matches!(&access.whose, Whose::Of(who) if depends(who))
}

/// Whether a condition may read what an access means.
fn reads(condition: &Expr, access: &Access) -> bool {
    let mut found = false;
    visit::each_part(condition, &mut |part| {
        found |= matches!(&part.kind, ExprKind::Read(read) if overlap(read, access) != Overlap::Apart);
    });
    found
}

fn n_parts(condition: &Expr) -> usize {
    let mut n_parts = 0;
    visit::each_part(condition, &mut |_| n_parts += 1);
    n_parts
}

/// Whether a condition may be a fault; an element whose index is known to be there is none.
fn may_fault(condition: &Expr, vars: &IdVec<Var>) -> bool {
    let is_there = |access: &Access| {
        let dims = if access.indices.is_empty() { Vec::new() } else { vars[access.var].ty.dimensions() };
        access.indices.iter().zip(dims).all(|(index, len)| match index.kind {
            ExprKind::Const(Value::Int(number)) => usize::try_from(number).is_ok_and(|number| number < len),
            _ => false,
        })
    };
    match &condition.kind {
        ExprKind::Read(access) if matches!(access.whose, Whose::Shared | Whose::Mine) => !is_there(access),
        ExprKind::Not(inner) => may_fault(inner, vars),
        ExprKind::Binary(op, left, right) if !op.computes() => may_fault(left, vars) || may_fault(right, vars),
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().any(|part| may_fault(part, vars)),
        _ => condition.can_fault(),
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use model::variable::VarId;

    use super::*;

    fn cell(var: usize, indices: Vec<Expr>) -> Access {
        terms::shared(VarId::new(var), indices, Span::default())
    }

    fn number(value: i64) -> Expr {
        terms::number(value, Span::default())
    }

    fn content(var: usize) -> Expr {
        terms::read(cell(var, Vec::new()))
    }

    fn store(pairs: Vec<(Access, Expr)>) -> Stmt {
        terms::assign(pairs, Span::default())
    }

    fn less(left: Expr, right: Expr) -> Expr {
        terms::binary(BinaryOp::Less, left, right)
    }

    /// What must hold before statements that need no variables to be known.
    fn asked(body: &[Stmt], condition: &Expr) -> Option<Expr> {
        before(body, condition, &IdVec::default())
    }

    #[test]
    fn what_is_stored_stands_for_what_is_read() {
        let body = [store(vec![(cell(0, Vec::new()), content(1)), (cell(1, Vec::new()), content(0))])];
        assert_eq!(asked(&body, &less(content(0), number(3))), Some(less(content(1), number(3))));
        // Stores that come one after another.
        let body = [
            store(vec![(cell(0, Vec::new()), content(1))]),
            store(vec![(cell(1, Vec::new()), number(5))]),
            store(vec![(cell(0, Vec::new()), terms::binary(BinaryOp::Add, content(0), content(1)))]),
        ];
        let sum = terms::binary(BinaryOp::Add, content(1), number(5));
        assert_eq!(asked(&body, &less(content(0), content(2))), Some(less(sum, content(2))));
    }

    #[test]
    fn elements_are_apart_where_their_indices_are_known() {
        let element = |index: Expr| cell(0, vec![index]);
        let body = [store(vec![(element(number(1)), number(7)), (cell(1, Vec::new()), number(0))])];
        let read = |index: Expr| terms::read(element(index));
        assert_eq!(asked(&body, &less(read(number(1)), content(2))), Some(less(number(7), content(2))));
        assert_eq!(asked(&body, &less(read(number(0)), content(2))), Some(less(read(number(0)), content(2))));
        for index in [content(1), content(2)] {
            assert_eq!(asked(&body, &less(read(index.clone()), number(3))), None);
            assert_eq!(asked(&[store(vec![(element(index), number(7))])], &less(read(number(0)), number(3))), None);
        }
        // The index is changed, not the element.
        let body = [store(vec![(cell(1, Vec::new()), number(0))])];
        assert_eq!(asked(&body, &less(read(content(1)), number(3))), None);
        assert_eq!(asked(&body, &less(read(content(2)), number(3))), Some(less(read(content(2)), number(3))));
    }

    #[test]
    fn what_may_fail_stays_behind_what_may_not_go_on() {
        let waits = Stmt { kind: StmtKind::Await(less(content(0), number(2))), span: Span::default() };
        let plain = less(content(1), number(3));
        assert_eq!(asked(std::slice::from_ref(&waits), &plain), Some(plain));
        let divides = terms::equal(terms::fault(Span::default()), number(0));
        assert_eq!(asked(&[waits], &divides), None);
        assert_eq!(asked(&[], &divides), Some(divides));
    }

    #[test]
    fn what_holds_already_is_not_asked_again() {
        let (a, b) = (less(content(0), number(2)), less(content(1), number(2)));
        let (yes, no) = (terms::truth(true, Span::default()), terms::truth(false, Span::default()));
        let either = terms::or(terms::and(a.clone(), b.clone()), terms::not(a.clone()));
        assert_eq!(given(&either, std::slice::from_ref(&a)), b);
        assert_eq!(given(&terms::not(a.clone()), std::slice::from_ref(&a)), no);
        assert_eq!(given(&a, &[terms::not(a.clone())]), no);
        assert_eq!(given(&terms::and(a.clone(), b.clone()), &[b, a]), yes);
    }
}
