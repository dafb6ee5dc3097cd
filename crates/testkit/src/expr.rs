//! Expressions and accesses without spans, in few letters.

use base::Span;
use model::control::PlaceId;
use model::expr::{Access, BinaryOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::FamilyId;
use model::value::Value;
use model::variable::VarId;

/// An expression of this kind, nowhere in particular.
pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

/// A constant.
pub fn constant(value: Value) -> Expr {
    expr(ExprKind::Const(value))
}

/// A number.
pub fn int(number: i64) -> Expr {
    constant(Value::Int(number))
}

/// A truth value.
pub fn truth(truth: bool) -> Expr {
    constant(Value::Bool(truth))
}

/// The process that evaluates.
pub fn me() -> Expr {
    expr(ExprKind::Myself)
}

/// A bound variable, by its depth.
pub fn bound(depth: u32) -> Expr {
    expr(ExprKind::Bound(BoundVar(depth)))
}

/// The content of a scalar.
pub fn read(access: Access) -> Expr {
    expr(ExprKind::Read(access))
}

/// A process's index as a number.
pub fn index_of(process: Expr) -> Expr {
    expr(ExprKind::IndexOf(Box::new(process)))
}

/// A number or process as a process of the family.
pub fn to_process(family: FamilyId, number: Expr) -> Expr {
    expr(ExprKind::ToProcess(family, Box::new(number)))
}

/// `!e`
pub fn not(inner: Expr) -> Expr {
    expr(ExprKind::Not(Box::new(inner)))
}

/// `-e`
pub fn negate(inner: Expr) -> Expr {
    expr(ExprKind::Negate(Box::new(inner)))
}

/// A binary operator.
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

/// `a == b`
pub fn equal(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Equal, left, right)
}

/// `a + b`
pub fn add(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Add, left, right)
}

/// `if c then a else b`
pub fn either_value(test: Expr, yes: Expr, no: Expr) -> Expr {
    expr(ExprKind::If(Box::new(test), Box::new(yes), Box::new(no)))
}

/// A quantifier over one variable at this depth; its name is `i`, `j`, … by depth.
pub fn quantified(quantifier: Quantifier, depth: u32, domain: Domain, body: Expr) -> Expr {
    filtered(quantifier, vec![binding(depth, domain)], None, body)
}

/// A quantifier with its bindings and filter.
pub fn filtered(quantifier: Quantifier, bindings: Vec<Binding>, filter: Option<Expr>, body: Expr) -> Expr {
    expr(ExprKind::Quantified(Box::new(Quantified { quantifier, bindings, filter, body })))
}

/// A bound variable at this depth, named `q0`, `q1`, …
pub fn binding(depth: u32, domain: Domain) -> Binding {
    Binding { var: BoundVar(depth), name: format!("q{depth}"), domain }
}

/// The numbers from `lo` to `hi`, both included.
pub fn range(lo: i64, hi: i64) -> Domain {
    Domain::Range(Box::new(int(lo)), Box::new(int(hi)))
}

/// Whether a process is at one of the places.
pub fn standing(who: Expr, places: Vec<PlaceId>, labels: &[&str]) -> Expr {
    let labels = labels.iter().map(ToString::to_string).collect();
    expr(ExprKind::At { who: Box::new(who), places, labels })
}

/// A shared variable.
pub fn shared(var: VarId) -> Access {
    access(var, Whose::Shared)
}

/// The evaluating process's own copy.
pub fn mine(var: VarId) -> Access {
    access(var, Whose::Mine)
}

/// The copy in the evaluating process's top frame.
pub fn frame(var: VarId) -> Access {
    access(var, Whose::Frame)
}

/// Another process's copy.
pub fn of(var: VarId, who: Expr) -> Access {
    access(var, Whose::Of(Box::new(who)))
}

/// An element of an array.
pub fn element(array: Access, index: Expr) -> Access {
    let mut element = array;
    element.indices.push(index);
    element
}

fn access(var: VarId, whose: Whose) -> Access {
    Access { var, whose, indices: Vec::new(), span: Span::default() }
}
