//! One instance of a program: every parameter replaced by its value.
//!
//! In: a program in whose expressions parameters are [`ExprKind::Parameter`], as a front-end builds it. Out: the same program,
//! with the same ids, in which parts whose operands are constants are constants, and which keeps the program that it came from as
//! its **template**: the expression at some place of the template is the origin of the one at the same place of the instance.
//! Engines for one size use the instance and never see a parameter; methods for every size use the template.

use std::sync::Arc;

use crate::Model;
use crate::eval::{State, StepFault, evaluate};
use crate::expr::{Expr, ExprKind};
use crate::process::ProcessId;
use crate::value::Value;
use crate::visit::{each_child_mut, each_expr_mut};

impl Model {
    /// This program at its size; the program as it is becomes the template.
    pub fn at_size(self) -> Model {
        if self.parameters.is_empty() {
            return self;
        }
        let mut instance = self.clone();
        each_expr_mut(&mut instance, &mut |expr| fix(&self, expr));
        Model { template: Some(Arc::new(self)), ..instance }
    }

    /// The program with its parameters as they were written; a program without parameters is its own template.
    pub fn template(&self) -> &Model {
        self.template.as_deref().unwrap_or(self)
    }
}

/// Replaces parameters by their values, and computes what is constant then.
fn fix(model: &Model, expr: &mut Expr) {
    if let ExprKind::Parameter(id) = expr.kind {
        expr.kind = ExprKind::Const(Value::Int(model.parameters[id].value));
        return;
    }
    each_child_mut(expr, &mut |part| fix(model, part));
    if let Some(value) = constant_value(model, expr) {
        expr.kind = ExprKind::Const(value);
    }
}

/// The value of an operator whose operands are constants, if it has one. What has none (a division by zero) stays, to be a
/// fault of the step that evaluates it.
pub fn constant_value(model: &Model, expr: &Expr) -> Option<Value> {
    let is_constant = |part: &Expr| matches!(part.kind, ExprKind::Const(_));
    let known = match &expr.kind {
        ExprKind::Not(part) | ExprKind::Negate(part) | ExprKind::IndexOf(part) | ExprKind::ToProcess(_, part) => {
            is_constant(part)
        }
        ExprKind::Binary(_, left, right) => is_constant(left) && is_constant(right),
        ExprKind::If(test, yes, no) => is_constant(test) && is_constant(yes) && is_constant(no),
        _ => false,
    };
    known.then(|| static_value(model, expr, None).ok()).flatten()
}

/// The value of an expression that reads no cell, for a process or for none.
///
/// # Errors
/// A fault, such as a division by zero.
pub fn static_value(model: &Model, expr: &Expr, me: Option<ProcessId>) -> Result<Value, StepFault> {
    let nothing = State { cells: Vec::new(), stacks: Vec::new() };
    evaluate(model, &nothing, expr, me)
}
