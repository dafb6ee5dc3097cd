//! What `any` chooses from: all values of a type, or, where these are too many to go through, likely ones.
//!
//! In: a type, the state in the middle of a step, and what the step is computed for. Out: values of the type. The steps of a program
//! are those with all values; the likely ones are some of them, and serve where it is asked whether there is a step to a
//! given state, or one that fails: the values that the cells have there and here, the numbers of the step's text, their
//! neighbours, and the ends of the type.

use std::collections::BTreeSet;

use super::State;
use crate::Model;
use crate::control::{Action, Stmt, StmtKind};
use crate::expr::{Expr, ExprKind};
use crate::statements::statements;
use crate::types::ScalarType;
use crate::value::Value;
use crate::visit::{access_parts, each_part};

/// More values than this are too many to go through.
const MANY: u128 = 1 << 12;

/// What `any` chooses from.
#[derive(Clone, Copy)]
pub(super) enum Choosing<'m> {
    /// All values.
    All,
    /// All values where there are not too many of them, and otherwise likely ones.
    Likely {
        /// The state to which the step should lead, if there is one.
        aim: Option<&'m State>,
        /// The text of the step, where one has begun.
        action: Option<&'m Action>,
    },
}

impl<'m> Choosing<'m> {
    /// The same in the text of an action.
    pub fn within(self, action: &'m Action) -> Self {
        match self {
            Choosing::All => Choosing::All,
            Choosing::Likely { aim, .. } => Choosing::Likely { aim, action: Some(action) },
        }
    }

    /// The values to try instead of all values of a type.
    pub fn likely(self, model: &Model, ty: ScalarType, state: &State) -> Option<Vec<Value>> {
        let Choosing::Likely { aim, action } = self else { return None };
        let (lo, hi) = match ty {
            ScalarType::Range { lo, hi } => (lo, hi),
            ScalarType::Semaphore { max } => (0, max),
            _ => return None,
        };
        if ty.n_values(model.type_context()) <= MANY {
            return None;
        }
        let mut known: BTreeSet<i64> = BTreeSet::from([lo, hi]);
        let cells = state.cells.iter().chain(aim.into_iter().flat_map(|aim| &aim.cells));
        let slots = state.stacks.iter().chain(aim.into_iter().flat_map(|aim| &aim.stacks)).flatten();
        known.extend(cells.chain(slots.flat_map(|frame| &frame.slots)).filter_map(|&value| number(value)));
        if let Some(action) = action {
            action.guard.iter().for_each(|guard| numbers_of(model, guard, &mut known));
            numbers_in(model, &action.body, &mut known);
        }
        let near = known.iter().flat_map(|&number| [number.checked_sub(1), Some(number), number.checked_add(1)]);
        let near: BTreeSet<i64> = near.flatten().filter(|number| (lo..=hi).contains(number)).collect();
        Some(near.into_iter().map(Value::Int).collect())
    }
}

fn number(value: Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Bool(_) | Value::Enum(..) | Value::None | Value::Process(_) => None,
    }
}

/// The numbers that an expression names.
fn numbers_of(model: &Model, expr: &Expr, known: &mut BTreeSet<i64>) {
    each_part(expr, &mut |part| match &part.kind {
        ExprKind::Const(Value::Int(value)) => {
            known.insert(*value);
        }
        ExprKind::Parameter(id) => {
            known.insert(model.parameters[*id].value);
        }
        _ => {}
    });
}

/// The numbers that statements name.
fn numbers_in(model: &Model, body: &[Stmt], known: &mut BTreeSet<i64>) {
    for statement in statements(body) {
        if let StmtKind::Assign(stores) = &statement.kind {
            stores.iter().for_each(|(target, _)| access_parts(target, &mut |part| numbers_of(model, part, known)));
        }
        if !matches!(statement.kind, StmtKind::For(..)) {
            statement.expressions().into_iter().for_each(|expr| numbers_of(model, expr, known));
        }
    }
}
