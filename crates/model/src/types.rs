//! Types of variables: scalars with finite domains, and arrays of them.
//!
//! `pid` and `pid?` stay what they are: the domain of `pid(P)` is the processes of family `P`, not a range of numbers, so
//! that a symmetric program can be recognised.

use base::{Id, IdVec, Span};

use crate::process::{FamilyId, Process};
use crate::value::Value;

/// An enumeration: its values in the order of their declaration.
#[derive(Clone, Debug)]
pub struct EnumType {
    /// The type's name.
    pub name: String,
    /// The names of its values.
    pub values: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// Names an enumeration.
pub type EnumId = Id<EnumType>;

/// The type of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `false` or `true`.
    Bool,
    /// A number from `lo` to `hi`, both included.
    Range {
        /// The least value.
        lo: i64,
        /// The greatest value.
        hi: i64,
    },
    /// A value of an enumeration.
    Enum(EnumId),
    /// A process of the family.
    Pid(FamilyId),
    /// `none` or a process of the family.
    PidOrNone(FamilyId),
    /// A counter from 0 to `max`, changed by `acquire` and `release` only.
    Semaphore {
        /// The greatest value.
        max: i64,
    },
    /// Free, or held by a process of any family.
    Lock,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One cell.
    Scalar(ScalarType),
    /// `len` elements, indexed from 0.
    Array {
        /// The type of each element.
        element: Box<Type>,
        /// How many there are.
        len: usize,
    },
}

impl Type {
    /// How many cells a variable of this type takes; `usize::MAX` where there are more than can be counted.
    pub fn n_cells(&self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Array { element, len } => element.n_cells().saturating_mul(*len),
        }
    }

    /// The type of the innermost elements.
    pub fn scalar(&self) -> ScalarType {
        match self {
            Type::Scalar(scalar) => *scalar,
            Type::Array { element, .. } => element.scalar(),
        }
    }

    /// The lengths of the array's dimensions, outermost first; empty for a scalar.
    pub fn dimensions(&self) -> Vec<usize> {
        match self {
            Type::Scalar(_) => Vec::new(),
            Type::Array { element, len } => std::iter::once(*len).chain(element.dimensions()).collect(),
        }
    }
}

/// What a scalar type's domain depends on besides the type itself.
#[derive(Clone, Copy)]
pub struct TypeContext<'a> {
    /// The enumerations of the program.
    pub enums: &'a IdVec<EnumType>,
    /// The processes of the program, in order; those of one family are neighbours.
    pub processes: &'a IdVec<Process>,
}

impl ScalarType {
    /// The type's values, each once, in the order that starts with the type's first value.
    pub fn values(self, context: TypeContext<'_>) -> Box<dyn Iterator<Item = Value> + '_> {
        let members = move |family| context.processes.entries().filter(move |(_, process)| process.family == family);
        match self {
            ScalarType::Bool => Box::new([false, true].into_iter().map(Value::Bool)),
            ScalarType::Range { lo, hi } => Box::new((lo..=hi).map(Value::Int)),
            ScalarType::Semaphore { max } => Box::new((0..=max).map(Value::Int)),
            ScalarType::Enum(id) => {
                Box::new((0..context.enums[id].values.len()).map(move |at| Value::Enum(id, at as u32)))
            }
            ScalarType::Pid(family) => Box::new(members(family).map(|(id, _)| Value::Process(id))),
            ScalarType::PidOrNone(family) => {
                Box::new(std::iter::once(Value::None).chain(members(family).map(|(id, _)| Value::Process(id))))
            }
            ScalarType::Lock => {
                Box::new(std::iter::once(Value::None).chain(context.processes.ids().map(Value::Process)))
            }
        }
    }

    /// The position of a value among the type's values; `None` if it is none of them. The values of a range are not gone through.
    pub fn position(self, value: Value, context: TypeContext<'_>) -> Option<u64> {
        match (self, value) {
            (ScalarType::Range { lo, hi }, Value::Int(number)) => {
                (lo..=hi).contains(&number).then(|| number.wrapping_sub(lo) as u64)
            }
            (ScalarType::Semaphore { max }, Value::Int(number)) => (0..=max).contains(&number).then_some(number as u64),
            _ => self.values(context).position(|one| one == value).map(|at| at as u64),
        }
    }

    /// How many values the type has.
    pub fn n_values(self, context: TypeContext<'_>) -> u128 {
        let n_members = |family| context.processes.iter().filter(|process| process.family == family).count() as u128;
        match self {
            ScalarType::Bool => 2,
            ScalarType::Range { lo, hi } => (i128::from(hi) - i128::from(lo) + 1).max(0) as u128,
            ScalarType::Semaphore { max } => (i128::from(max) + 1).max(0) as u128,
            ScalarType::Enum(id) => context.enums[id].values.len() as u128,
            ScalarType::Pid(family) => n_members(family),
            ScalarType::PidOrNone(family) => n_members(family) + 1,
            ScalarType::Lock => context.processes.len() as u128 + 1,
        }
    }

    /// The first value: what a variable without an initialiser starts with.
    pub fn first_value(self, context: TypeContext<'_>) -> Option<Value> {
        self.values(context).next()
    }

    /// The value at a position among the type's values, without going through those before it where they are numbers.
    pub fn value_at(self, position: u64, context: TypeContext<'_>) -> Option<Value> {
        match self {
            ScalarType::Range { lo, hi } => {
                lo.checked_add_unsigned(position).filter(|&number| number <= hi).map(Value::Int)
            }
            ScalarType::Semaphore { max } => {
                i64::try_from(position).ok().filter(|&number| number <= max).map(Value::Int)
            }
            _ => self.values(context).nth(usize::try_from(position).ok()?),
        }
    }

    /// Whether the value belongs to the type.
    pub fn contains(self, value: Value, context: TypeContext<'_>) -> bool {
        match (self, value) {
            (ScalarType::Bool, Value::Bool(_)) => true,
            (ScalarType::Range { lo, hi }, Value::Int(n)) => lo <= n && n <= hi,
            (ScalarType::Semaphore { max }, Value::Int(n)) => 0 <= n && n <= max,
            (ScalarType::Enum(id), Value::Enum(other, at)) => {
                id == other && (at as usize) < context.enums[id].values.len()
            }
            (ScalarType::PidOrNone(_) | ScalarType::Lock, Value::None) => true,
            (ScalarType::Pid(family) | ScalarType::PidOrNone(family), Value::Process(id)) => {
                context.processes.get(id).is_some_and(|process| process.family == family)
            }
            (ScalarType::Lock, Value::Process(id)) => context.processes.get(id).is_some(),
            _ => false,
        }
    }
}
