//! What cells hold and expressions yield: single values, numbers of many bits, faults; and operators on single values.
//!
//! The operators follow `model::eval` rule by rule.

use model::Model;
use model::expr::BinaryOp;
use model::process::{FamilyId, ProcessId};
use model::value::{Fault, Value};
use model::variable::VarId;

use super::value::Scene;
use super::word::Word;

/// What a cell holds, or an expression has, in some states.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Content {
    /// One value.
    Value(Value),
    /// A number that depends on the state, in bits.
    Word(Word),
}

/// What an expression yields.
pub(super) type Yield = Result<Content, Fault>;

pub(super) fn myself(scene: &Scene) -> ProcessId {
    scene.me.expect("front-ends let only the text of a process speak of itself")
}

/// A truth value as what an expression yields.
pub(super) fn truth_of(truth: bool) -> Yield {
    Ok(Content::Value(Value::Bool(truth)))
}

/// What is no number of many bits.
///
/// # Panics
/// For one that is: bounds of loops and quantifiers are constant, and processes and truth values are few.
pub(super) fn plain(content: Content) -> Value {
    match content {
        Content::Value(value) => value,
        Content::Word(_) => unreachable!("front-ends check types, and make bounds constant"),
    }
}

/// A number; `none` is none.
pub(super) fn number(content: Content) -> Yield {
    match content {
        Content::Value(value) => as_number(value).map(|_| Content::Value(value)),
        word => Ok(word),
    }
}

pub(super) fn is_true(value: Value) -> bool {
    value == Value::Bool(true)
}

/// A number; `none` is none.
pub(super) fn as_number(value: Value) -> Result<i64, Fault> {
    match value {
        Value::Int(number) => Ok(number),
        Value::None => Err(Fault::NoneUsed),
        other => unreachable!("front-ends check types: {other:?} is no number"),
    }
}

pub(super) fn as_process(value: Value) -> Result<ProcessId, Fault> {
    match value {
        Value::Process(id) => Ok(id),
        Value::None => Err(Fault::NoneUsed),
        other => unreachable!("front-ends check types: {other:?} is no process"),
    }
}

pub(super) fn to_process(model: &Model, family: FamilyId, value: Value) -> Result<Value, Fault> {
    let members = &model.families[family];
    match value {
        Value::Int(index) => members.process_at(index).map(Value::Process).ok_or_else(|| Fault::BadIndex {
            target: members.name.clone(),
            index,
            len: members.count(),
        }),
        Value::Process(id) if model.processes[id].family != family => Err(Fault::OutOfRange {
            target: format!("pid({})", members.name),
            value: model::print::value(model, value),
        }),
        other => Ok(other),
    }
}

pub(super) fn position(model: &Model, var: VarId, index: i64, len: usize) -> Result<usize, Fault> {
    let at = usize::try_from(index).ok().filter(|&at| at < len);
    at.ok_or_else(|| Fault::BadIndex { target: model.vars[var].name.clone(), index, len })
}

pub(super) fn is_numeric(op: BinaryOp) -> bool {
    !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::Iff)
}

pub(super) fn combine(op: BinaryOp, left: Value, right: Value) -> Result<Value, Fault> {
    match op {
        BinaryOp::Equal | BinaryOp::Iff => return Ok(Value::Bool(left == right)),
        BinaryOp::NotEqual => return Ok(Value::Bool(left != right)),
        _ => {}
    }
    let (a, b) = (as_number(left)?, as_number(right)?);
    let exact = match op {
        BinaryOp::Less => return Ok(Value::Bool(a < b)),
        BinaryOp::LessEqual => return Ok(Value::Bool(a <= b)),
        BinaryOp::Greater => return Ok(Value::Bool(a > b)),
        BinaryOp::GreaterEqual => return Ok(Value::Bool(a >= b)),
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide | BinaryOp::Remainder if b == 0 => return Err(Fault::DivisionByZero),
        BinaryOp::Divide => a.checked_div_euclid(b),
        BinaryOp::Remainder => Some(a.wrapping_rem_euclid(b)),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Machine(op) => return op.apply(a, b).map(Value::Int),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => unreachable!("these stop early"),
        BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::Iff => unreachable!("these compare any values"),
    };
    exact.map(Value::Int).ok_or(Fault::Overflow)
}
