//! The value of an expression in a state.
//!
//! In: a [`Viewpoint`], which is a state, the process for which the expression is evaluated (if any) and the values of the bound variables. Out: a
//! value, or the first fault from left to right. `&& || =>`, `if then else` and quantifiers stop early. Every cell that
//! is read is noted, so that races and footprints can be judged by what really happens.

use std::iter::successors;

use base::Span;

use super::{Control, State, StepFault, Touch};
use crate::Model;
use crate::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use crate::print;
use crate::process::{FamilyId, ProcessId};
use crate::value::{Fault, Value};
use crate::variable::{CellId, Storage};

/// The value of an expression in a state, for a process or for none.
pub fn evaluate(model: &Model, state: &State, expr: &Expr, me: Option<ProcessId>) -> Result<Value, StepFault> {
    Viewpoint::new(model, state, me).value(expr)
}

/// In which state, for which process and with which bound variables an expression is evaluated.
#[derive(Clone, Debug)]
pub struct Viewpoint<'a> {
    /// The program.
    pub model: &'a Model,
    /// The state.
    pub state: &'a State,
    /// The process that evaluates, if one does.
    pub me: Option<ProcessId>,
    /// The values of the bound variables, outermost first. Set it to evaluate one instance of a quantifier's body.
    pub bound: Vec<Value>,
    /// The cells that were read, as often as they were.
    pub(super) touched: Vec<Touch>,
    /// The processes whose places were asked for, as often as they were.
    pub(super) places: Vec<ProcessId>,
}

/// Where a scalar part of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarLocation {
    /// In the row of cells.
    Cell(CellId),
    /// In the top frame of the process that evaluates.
    Slot(usize),
}

/// A result that may be an error of the user's program.
type Evaluated<T> = Result<T, StepFault>;

fn fail<T>(fault: Fault, span: Span) -> Evaluated<T> {
    Err(StepFault { fault, span })
}

impl<'a> Viewpoint<'a> {
    /// The viewpoint of a process, or of none, with no variable bound.
    pub fn new(model: &'a Model, state: &'a State, me: Option<ProcessId>) -> Self {
        Viewpoint { model, state, me, bound: Vec::new(), touched: Vec::new(), places: Vec::new() }
    }

    /// The viewpoint of no process, with these values for the bound variables around an expression.
    pub fn of_instance(model: &'a Model, state: &'a State, bound: &[Value]) -> Self {
        Viewpoint { bound: bound.to_vec(), ..Viewpoint::new(model, state, None) }
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr) -> Evaluated<Value> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(*value),
            ExprKind::Parameter(id) => Ok(Value::Int(self.model.parameters[*id].value)),
            ExprKind::Myself => Ok(Value::Process(self.myself())),
            ExprKind::Bound(var) => Ok(self.bound[var.0 as usize]),
            ExprKind::Read(access) => self.read(access),
            ExprKind::At { who, places, .. } => {
                let who = self.process(who)?;
                self.places.push(who);
                let control = self.state.top(who).control;
                Ok(Value::Bool(places.iter().any(|&place| control == Control::At(place))))
            }
            ExprKind::Not(inner) => Ok(Value::Bool(!self.truth(inner)?)),
            ExprKind::Negate(inner) => {
                let number = self.number(inner)?;
                number.checked_neg().map(Value::Int).ok_or(StepFault { fault: Fault::Overflow, span: expr.span })
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::If(test, yes, no) => {
                if self.truth(test)? {
                    self.value(yes)
                } else {
                    self.value(no)
                }
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified),
            ExprKind::IndexOf(inner) => match self.value(inner)? {
                Value::Process(id) => Ok(Value::Int(self.model.processes[id].index)),
                Value::None => fail(Fault::NoneUsed, inner.span),
                number => Ok(number),
            },
            ExprKind::ToProcess(family, inner) => {
                let value = self.value(inner)?;
                self.to_process(*family, value, inner.span)
            }
        }
    }

    /// The value of a boolean expression.
    pub fn truth(&mut self, expr: &Expr) -> Evaluated<bool> {
        match self.value(expr)? {
            Value::Bool(truth) => Ok(truth),
            other => unreachable!("front-ends check types: {other:?} is no truth value"),
        }
    }

    /// The value of a numeric expression.
    pub fn number(&mut self, expr: &Expr) -> Evaluated<i64> {
        match self.value(expr)? {
            Value::Int(number) => Ok(number),
            Value::None => fail(Fault::NoneUsed, expr.span),
            other => unreachable!("front-ends check types: {other:?} is no number"),
        }
    }

    /// The values that a bound variable or a counter takes, in order.
    pub fn domain(&mut self, domain: &Domain) -> Evaluated<impl Iterator<Item = Value> + use<>> {
        let ends = self.domain_ends(domain)?;
        let last = ends.map(|(_, last)| last);
        Ok(successors(
            ends.map(|(first, _)| first),
            move |&value| {
                if Some(value) == last { None } else { Some(following(value)) }
            },
        ))
    }

    /// The first and the last value of a domain; `None` where it is empty.
    pub(super) fn domain_ends(&mut self, domain: &Domain) -> Evaluated<Option<(Value, Value)>> {
        Ok(match domain {
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                (lo <= hi).then_some((Value::Int(lo), Value::Int(hi)))
            }
            Domain::Family(family) => {
                let mut processes = self.model.families[*family].processes().map(Value::Process);
                processes.next().map(|first| (first, processes.last().unwrap_or(first)))
            }
            Domain::Enum(id) => {
                let n_values = self.model.enums[*id].values.len() as u32;
                n_values.checked_sub(1).map(|last| (Value::Enum(*id, 0), Value::Enum(*id, last)))
            }
        })
    }

    /// Gives a variable its value; inner bindings are forgotten.
    pub(super) fn bind(&mut self, binding: &Binding, value: Value) {
        bind(&mut self.bound, binding, value);
    }

    /// Where an access leads, its indices checked.
    pub(super) fn locate(&mut self, access: &Access) -> Evaluated<ScalarLocation> {
        let var = &self.model.vars[access.var];
        let owner = match &access.whose {
            Whose::Shared | Whose::Frame => None,
            Whose::Mine => Some(self.myself()),
            Whose::Of(who) => Some(self.process(who)?),
        };
        let mut name =
            owner.map_or(String::new(), |owner| format!("{}.", self.model.processes[owner].name)) + &var.name;
        let mut offset = 0;
        for (index_expr, len) in access.indices.iter().zip(var.ty.dimensions()) {
            let index = self.number(index_expr)?;
            match usize::try_from(index) {
                Ok(position) if position < len => offset = offset * len + position,
                _ => return fail(Fault::BadIndex { target: name, index, len }, index_expr.span),
            }
            name += &format!("[{index}]");
        }
        Ok(match var.storage {
            Storage::Frame(_) => ScalarLocation::Slot(var.offset + offset),
            _ => ScalarLocation::Cell(CellId::new(
                self.model.cells_of(access.var, owner).next().expect("arrays are not empty").index() + offset,
            )),
        })
    }

    /// The content of a location.
    pub(super) fn load(&mut self, location: ScalarLocation) -> Value {
        match location {
            ScalarLocation::Cell(cell) => {
                if let Some(process) = self.me {
                    self.touched.push(Touch { process, cell, writes: false });
                }
                self.state.cells[cell.index()]
            }
            ScalarLocation::Slot(slot) => self.state.top(self.myself()).slots[slot],
        }
    }

    fn read(&mut self, access: &Access) -> Evaluated<Value> {
        let location = self.locate(access)?;
        Ok(self.load(location))
    }

    fn myself(&self) -> ProcessId {
        self.me.expect("front-ends let only the text of a process speak of itself")
    }

    fn process(&mut self, expr: &Expr) -> Evaluated<ProcessId> {
        match self.value(expr)? {
            Value::Process(id) => Ok(id),
            Value::None => fail(Fault::NoneUsed, expr.span),
            other => unreachable!("front-ends check types: {other:?} is no process"),
        }
    }

    fn to_process(&self, family: FamilyId, value: Value, span: Span) -> Evaluated<Value> {
        let members = &self.model.families[family];
        match value {
            Value::Int(index) => match members.process_at(index) {
                Some(id) => Ok(Value::Process(id)),
                None => fail(Fault::BadIndex { target: members.name.clone(), index, len: members.count() }, span),
            },
            Value::Process(id) if self.model.processes[id].family != family => {
                let target = format!("pid({})", members.name);
                fail(Fault::OutOfRange { target, value: print::value(self.model, value) }, span)
            }
            other => Ok(other),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Evaluated<Value> {
        let truth = match op {
            BinaryOp::And => self.truth(left)? && self.truth(right)?,
            BinaryOp::Or => self.truth(left)? || self.truth(right)?,
            BinaryOp::Implies => !self.truth(left)? || self.truth(right)?,
            BinaryOp::Iff => self.truth(left)? == self.truth(right)?,
            BinaryOp::Equal => self.value(left)? == self.value(right)?,
            BinaryOp::NotEqual => self.value(left)? != self.value(right)?,
            BinaryOp::Less => self.number(left)? < self.number(right)?,
            BinaryOp::LessEqual => self.number(left)? <= self.number(right)?,
            BinaryOp::Greater => self.number(left)? > self.number(right)?,
            BinaryOp::GreaterEqual => self.number(left)? >= self.number(right)?,
            _ => {
                let (a, b) = (self.number(left)?, self.number(right)?);
                return arithmetic(op, a, b).map(Value::Int).or_else(|fault| fail(fault, span));
            }
        };
        Ok(Value::Bool(truth))
    }

    fn quantified(&mut self, quantified: &Quantified) -> Evaluated<Value> {
        let outer = self.bound.clone();
        let mut count = 0;
        // `Forall` searches for an instance that fails, `Exists` for one that holds; both stop there.
        let stop_at = match quantified.quantifier {
            Quantifier::Forall => Some(false),
            Quantifier::Exists => Some(true),
            Quantifier::Count => None,
        };
        let stopped = self.instances(quantified, &quantified.bindings, &mut |truth| {
            count += i64::from(truth);
            Some(truth) == stop_at
        })?;
        self.bound = outer;
        Ok(match quantified.quantifier {
            Quantifier::Forall => Value::Bool(!stopped),
            Quantifier::Exists => Value::Bool(stopped),
            Quantifier::Count => Value::Int(count),
        })
    }

    /// Passes the truth of each instance to `stop`, in order, until it returns true; whether it did.
    fn instances(
        &mut self,
        quantified: &Quantified,
        bindings: &[Binding],
        stop: &mut dyn FnMut(bool) -> bool,
    ) -> Evaluated<bool> {
        let Some((binding, inner)) = bindings.split_first() else {
            let meant = quantified.filter.as_ref().map_or(Ok(true), |filter| self.truth(filter))?;
            return Ok(meant && stop(self.truth(&quantified.body)?));
        };
        for value in self.domain(&binding.domain)? {
            self.bind(binding, value);
            if self.instances(quantified, inner, stop)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The value after this one in a domain that does not end here.
pub(super) fn following(value: Value) -> Value {
    match value {
        Value::Int(number) => Value::Int(number + 1),
        Value::Process(id) => Value::Process(ProcessId::new(id.index() + 1)),
        Value::Enum(id, at) => Value::Enum(id, at + 1),
        Value::Bool(_) | Value::None => unreachable!("no domain has {value:?}"),
    }
}

/// Gives a bound variable its value; inner bindings are forgotten.
pub(super) fn bind(bound: &mut Vec<Value>, binding: &Binding, value: Value) {
    bound.truncate(binding.var.0 as usize);
    debug_assert_eq!(bound.len(), binding.var.0 as usize, "binders are numbered by their depth");
    bound.push(value);
}

/// Exact arithmetic: a result beyond 64 bits is a fault; `/` and `%` are Euclidean, those of C cut towards zero.
fn arithmetic(op: BinaryOp, a: i64, b: i64) -> Result<i64, Fault> {
    let exact = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide | BinaryOp::Remainder if b == 0 => return Err(Fault::DivisionByZero),
        BinaryOp::Divide => a.checked_div_euclid(b),
        // The one overflow of `%`, i64::MIN % -1, has the exact result 0, which the wrapping operation gives.
        BinaryOp::Remainder => Some(a.wrapping_rem_euclid(b)),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Machine(op) => return op.apply(a, b),
        _ => unreachable!("{op:?} is not arithmetic"),
    };
    exact.ok_or(Fault::Overflow)
}
