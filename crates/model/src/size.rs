//! Sizes: the parameters of a program, and numbers that were computed from them.
//!
//! In: constant expressions in which parameters are [`ExprKind::Parameter`]. Out: their linear forms ([`Linear`]), the sizes
//! of families ([`Size`]) and what else in declarations was computed from a parameter ([`Forms`]). Two numbers that are equal at
//! one size are the same number only if their forms are: `[bool; 2]` has an element for each of two processes, but not for each
//! of `N`, even where `N` is 2.

use std::collections::{BTreeMap, BTreeSet};

use base::{Id, IdVec};

use crate::Model;
use crate::expr::{BinaryOp, Expr, ExprKind};
use crate::fairness::FairnessId;
use crate::process::FamilyId;
use crate::value::Value;
use crate::variable::VarId;
use crate::visit::each_part;

/// A parameter of the program: the values that it may have, and the one of this instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The value of this instance.
    pub value: i64,
    /// The least value that it may have.
    pub least: i64,
    /// The greatest value that it may have, if there is a limit.
    pub greatest: Option<i64>,
    /// Whether the call gave the value; otherwise it is the one that the program gives, or the least one.
    pub given: bool,
}

impl Parameter {
    /// Whether it may have this value.
    pub fn allows(&self, value: i64) -> bool {
        value >= self.least && self.greatest.is_none_or(|greatest| value <= greatest)
    }
}

/// A number that the call gives to a name of the text that is no parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenNumber {
    /// The name.
    pub name: String,
    /// The number.
    pub value: i64,
}

impl Model {
    /// What tells this instance from others: its parameters, and what the call gives besides.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, i64)> {
        let parameters = self.parameters.iter().map(|one| (one.name.as_str(), one.value));
        parameters.chain(self.given.iter().map(|one| (one.name.as_str(), one.value)))
    }

    /// The one of this name.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.numbers().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// Names a parameter.
pub type ParameterId = Id<Parameter>;

/// A number as a sum: a constant and multiples of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// The part that no parameter changes.
    pub constant: i64,
    /// How often each parameter is added; never 0 times.
    pub multiples: BTreeMap<ParameterId, i64>,
}

impl Linear {
    /// A number that depends on no parameter.
    pub fn number(constant: i64) -> Self {
        Linear { constant, multiples: BTreeMap::new() }
    }

    /// The value of a parameter.
    pub fn parameter(id: ParameterId) -> Self {
        Linear { constant: 0, multiples: BTreeMap::from([(id, 1)]) }
    }

    /// The form of an expression; `None` where it is no sum of constants and multiples of parameters, or beyond 64 bits.
    pub fn of(expr: &Expr) -> Option<Linear> {
        match &expr.kind {
            ExprKind::Const(Value::Int(number)) => Some(Linear::number(*number)),
            ExprKind::Parameter(id) => Some(Linear::parameter(*id)),
            ExprKind::Negate(inner) => Linear::default().plus(&Linear::of(inner)?, -1),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (Linear::of(left)?, Linear::of(right)?);
                match op {
                    BinaryOp::Add => left.plus(&right, 1),
                    BinaryOp::Subtract => left.plus(&right, -1),
                    BinaryOp::Multiply if left.multiples.is_empty() => Linear::default().plus(&right, left.constant),
                    BinaryOp::Multiply if right.multiples.is_empty() => Linear::default().plus(&left, right.constant),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The sum with another number, which is added so many times; `None` beyond 64 bits.
    pub fn plus(mut self, other: &Linear, times: i64) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (&id, multiple) in &other.multiples {
            let sum = self.multiples.get(&id).copied().unwrap_or(0).checked_add(multiple.checked_mul(times)?)?;
            self.multiples.insert(id, sum);
        }
        self.multiples.retain(|_, multiple| *multiple != 0);
        Some(self)
    }

    /// Its value at the size of these parameters; `None` beyond 64 bits.
    pub fn value(&self, parameters: &IdVec<Parameter>) -> Option<i64> {
        self.multiples
            .iter()
            .try_fold(self.constant, |sum, (&id, times)| sum.checked_add(parameters[id].value.checked_mul(*times)?))
    }
}

/// How many processes a family has.
#[derive(Clone, Debug)]
pub enum Size {
    /// One, without an index.
    One,
    /// This many, whatever the parameters are.
    Fixed(usize),
    /// As many as the parameter says.
    Parameter(ParameterId),
    /// As many as a sum of parameters says.
    Linear(Linear),
    /// As many as an expression over the parameters says.
    Computed(Box<Expr>),
}

impl Size {
    /// The size that a count is computed as.
    pub fn of(count: &Expr, value: usize) -> Size {
        match Linear::of(count) {
            None if depends_on_parameters(count) => Size::Computed(Box::new(count.clone())),
            None => Size::Fixed(value),
            Some(linear) if linear.multiples.is_empty() => Size::Fixed(value),
            Some(linear) => match linear.multiples.iter().next() {
                Some((&id, 1)) if linear.constant == 0 && linear.multiples.len() == 1 => Size::Parameter(id),
                _ => Size::Linear(linear),
            },
        }
    }

    /// The count as a sum of parameters, if it is one.
    pub fn linear(&self) -> Option<Linear> {
        match self {
            Size::One => Some(Linear::number(1)),
            Size::Fixed(count) => i64::try_from(*count).ok().map(Linear::number),
            Size::Parameter(id) => Some(Linear::parameter(*id)),
            Size::Linear(linear) => Some(linear.clone()),
            Size::Computed(_) => None,
        }
    }

    /// The parameters that it is computed from.
    pub fn parameters(&self) -> BTreeSet<ParameterId> {
        match self {
            Size::One | Size::Fixed(_) => BTreeSet::new(),
            Size::Parameter(id) => BTreeSet::from([*id]),
            Size::Linear(linear) => linear.multiples.keys().copied().collect(),
            Size::Computed(count) => parameters_of(count),
        }
    }
}

/// The numbers in declarations that were computed from parameters, as they were written. A number that is not here depends on
/// no parameter.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    /// The length of a dimension of an array variable.
    pub lengths: BTreeMap<(VarId, usize), Expr>,
    /// The least and the greatest value of a number variable, or of the elements of an array of numbers.
    pub bounds: BTreeMap<VarId, Bounds>,
    /// The first index of a family.
    pub first_indices: BTreeMap<FamilyId, Expr>,
    /// The parameters from which some constant was computed in a way that is not kept: because its expression is long, or goes through processes. Where
    /// the constant is used, its value is that of this size alone, so that nothing follows for other values of these.
    pub opaque: BTreeSet<ParameterId>,
    /// Fairness pairs that were written for each process of their owner's family (`P[*]`), not for a particular one.
    pub for_each: BTreeSet<FairnessId>,
}

/// The least and the greatest value of a range, as written; both belong to it.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The least value.
    pub least: Expr,
    /// The greatest value.
    pub greatest: Expr,
}

/// The parameters that occur in an expression.
pub fn parameters_of(expr: &Expr) -> BTreeSet<ParameterId> {
    let mut found = BTreeSet::new();
    each_part(expr, &mut |part| {
        if let ExprKind::Parameter(id) = part.kind {
            found.insert(id);
        }
    });
    found
}

/// Whether a parameter occurs in an expression.
pub fn depends_on_parameters(expr: &Expr) -> bool {
    !parameters_of(expr).is_empty()
}

impl Model {
    /// How long a dimension of a variable is, as a sum of parameters; `None` for one that is computed otherwise.
    ///
    /// # Panics
    /// If the variable has no such dimension.
    pub fn length_form(&self, var: VarId, dimension: usize) -> Option<Linear> {
        match self.forms.lengths.get(&(var, dimension)) {
            Some(form) => Linear::of(form),
            None => i64::try_from(self.vars[var].ty.dimensions()[dimension]).ok().map(Linear::number),
        }
    }
}
