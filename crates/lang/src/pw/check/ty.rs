//! Types of expressions, as the checker sees them.
//!
//! Coarser than the types of variables: all numbers have one type, since only storing is checked against a range. An
//! expression that is wrong has the type `Poison`.

use model::expr::Expr;
use model::process::FamilyId;
use model::types::{EnumId, ScalarType};

use super::Checker;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// A truth value.
    Bool,
    /// A number.
    Int,
    /// A value of an enumeration.
    Enum(EnumId),
    /// A process of the family.
    Pid(FamilyId),
    /// `none` or a process of the family.
    PidOrNone(FamilyId),
    /// `none` or any process: the owner of a lock.
    Owner,
    /// The word `none`.
    None,
    /// Of something that is wrong and was reported.
    Poison,
}

/// An expression of the Model with its type.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    /// The expression.
    pub expr: Expr,
    /// Its type.
    pub ty: Ty,
}

impl Ty {
    /// Whether its values are processes or `none`.
    pub fn is_process(self) -> bool {
        matches!(self, Ty::Pid(_) | Ty::PidOrNone(_) | Ty::Owner | Ty::None)
    }

    /// The family whose processes are its values, if it is just one.
    pub fn family(self) -> Option<FamilyId> {
        match self {
            Ty::Pid(family) | Ty::PidOrNone(family) => Some(family),
            _ => None,
        }
    }

    /// The type of what is read from a variable; of a lock, its owner.
    pub fn of(scalar: ScalarType) -> Ty {
        match scalar {
            ScalarType::Bool => Ty::Bool,
            ScalarType::Range { .. } | ScalarType::Semaphore { .. } => Ty::Int,
            ScalarType::Enum(id) => Ty::Enum(id),
            ScalarType::Pid(family) => Ty::Pid(family),
            ScalarType::PidOrNone(family) => Ty::PidOrNone(family),
            ScalarType::Lock => Ty::Owner,
        }
    }
}

impl Checker<'_> {
    /// The type in words: "a number".
    pub fn describe(&self, ty: Ty) -> String {
        match ty {
            Ty::Bool => "a truth value".into(),
            Ty::Int => "a number".into(),
            Ty::Enum(id) => format!("a value of `{}`", self.model.enums[id].name),
            Ty::Pid(family) => format!("a process of `{}`", self.model.families[family].name),
            Ty::PidOrNone(family) => format!("`none` or a process of `{}`", self.model.families[family].name),
            Ty::Owner => "`none` or a process".into(),
            Ty::None => "`none`".into(),
            Ty::Poison => "wrong".into(),
        }
    }

    /// The type of a cell as the user writes it: `0..=7`, `pid?`.
    pub fn spell(&self, scalar: ScalarType) -> String {
        let of = |family: FamilyId| match self.one_family() == Some(family) {
            true => String::new(),
            false => format!("({})", self.model.families[family].name),
        };
        match scalar {
            ScalarType::Bool => "bool".into(),
            ScalarType::Range { lo, hi } => format!("{lo}..={hi}"),
            ScalarType::Enum(id) => self.model.enums[id].name.clone(),
            ScalarType::Pid(family) => format!("pid{}", of(family)),
            ScalarType::PidOrNone(family) => format!("pid{}?", of(family)),
            ScalarType::Semaphore { max } => format!("sem({max})"),
            ScalarType::Lock => "lock".into(),
        }
    }
}
