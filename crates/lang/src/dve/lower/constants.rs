//! Initial values and sizes: expressions that are computed once, before anything runs.
//!
//! In: an expression over numbers, constants, and variables declared before, which stand for what they start with. Out: its
//! value, or a diagnostic.

use base::{Diagnostic, Span};
use model::value::Fault;

use super::super::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use super::Lowering;
use super::symbols::{Symbol, Variable};
use crate::codes::dve as code;

/// The value could not be computed, and that has been reported.
pub(super) struct Unusable;

type Computed = Result<i64, Unusable>;

impl Lowering<'_> {
    /// The value of an expression before the first step, within a process or outside all of them.
    pub fn constant(&mut self, expr: &Expr, process: Option<usize>) -> Computed {
        match &expr.kind {
            ExprKind::Number(number) => Ok(*number),
            ExprKind::Truth(truth) => Ok(i64::from(*truth)),
            ExprKind::Read { owner: None, name, index } => {
                let symbol = self.look_up(process, name);
                self.initial_content(&symbol, (&name.text, expr.span), index.as_deref(), process)
            }
            ExprKind::Read { .. } | ExprKind::At { .. } => {
                Err(self.no_constant(expr.span, "this is not known before the first step".into()))
            }
            ExprKind::Unary(op, inner) => {
                let inner = self.constant(inner, process)?;
                Ok(match op {
                    UnaryOp::Minus => -inner,
                    UnaryOp::Complement => !inner,
                    UnaryOp::Not => i64::from(inner == 0),
                })
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.constant(left, process)?;
                // As in the steps: an error on a side that does not matter does not count.
                let decided = match op {
                    BinaryOp::And if left == 0 => Some(0),
                    BinaryOp::Or if left != 0 => Some(1),
                    BinaryOp::Imply if left == 0 => Some(1),
                    _ => None,
                };
                if let Some(decided) = decided {
                    return Ok(decided);
                }
                let right = self.constant(right, process)?;
                compute(*op, left, right).map_err(|fault| self.no_constant(expr.span, fault.to_string()))
            }
        }
    }

    fn initial_content(
        &mut self,
        symbol: &Symbol,
        (name, span): (&str, Span),
        index: Option<&Expr>,
        process: Option<usize>,
    ) -> Computed {
        match (symbol, index) {
            (Symbol::Constant(value), None) => Ok(*value),
            (Symbol::Variable(Variable { len: None, initial, .. }), None) => Ok(initial[0]),
            (Symbol::Variable(Variable { len: Some(len), initial, .. }), Some(index)) => {
                let at = self.constant(index, process)?;
                let found = usize::try_from(at).ok().and_then(|at| initial.get(at));
                found.copied().ok_or_else(|| {
                    let fault = Fault::BadIndex { target: name.to_string(), index: at, len: *len };
                    self.no_constant(span, fault.to_string())
                })
            }
            (Symbol::Broken, _) => Err(Unusable),
            _ => Err(self.no_constant(span, format!("`{name}` is no number here"))),
        }
    }

    fn no_constant(&mut self, span: Span, message: String) -> Unusable {
        self.report(Diagnostic::error(code::BAD_CONSTANT, span, message));
        Unusable
    }
}

fn compute(op: BinaryOp, a: i64, b: i64) -> Result<i64, Fault> {
    let exact = match op {
        BinaryOp::Machine(op) => return op.apply(a, b),
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        // The left side did not decide, so the right one does.
        BinaryOp::And | BinaryOp::Or | BinaryOp::Imply => Some(i64::from(b != 0)),
        BinaryOp::Equal => Some(i64::from(a == b)),
        BinaryOp::NotEqual => Some(i64::from(a != b)),
        BinaryOp::Less => Some(i64::from(a < b)),
        BinaryOp::LessEqual => Some(i64::from(a <= b)),
        BinaryOp::Greater => Some(i64::from(a > b)),
        BinaryOp::GreaterEqual => Some(i64::from(a >= b)),
    };
    exact.ok_or(Fault::Overflow)
}
