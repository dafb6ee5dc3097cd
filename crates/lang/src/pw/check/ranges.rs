//! What `for` and quantifiers range over.
//!
//! A written range that is the index range of a process family (`0..<N`, in whatever way it is written) ranges over the
//! family's processes, so that the Model can tell a loop over processes from a loop over numbers. Ranges are compared as linear
//! forms over the parameters, not by their values: `0..<2` is not `0..<N`, even where N is 2.

use std::collections::BTreeMap;

use base::Diagnostic;
use model::expr::{BinaryOp as ModelOp, Domain, Expr, ExprKind};
use model::process::FamilyId;
use model::types::ScalarType;
use model::value::Value;

use super::bounds::Bounds;
use super::names::Named;
use super::symbols::Symbol;
use super::{Base, Checker, Scope, Ty};
use crate::codes::check as code;
use crate::pw::ast::{self, RangeEnd, UnaryOp};

/// How many values a `for` or a bound variable may range over.
const MAX_VALUES: i64 = 1_000_000;

/// How many constants are looked through to find a linear form.
const MAX_CONSTANTS: usize = 40;

/// What a variable ranges over, and what the checker knows about it.
#[derive(Clone)]
pub(crate) struct Ranged {
    /// The domain in the Model.
    pub domain: Domain,
    /// The type of the variable.
    pub ty: Ty,
    /// Between which numbers (or indices) its values lie.
    pub bounds: Option<Bounds>,
    /// How many values there are at most.
    pub size: i64,
    /// Whether there surely is a value, whoever asks.
    pub is_nonempty: bool,
    /// Whether the first value surely is the least that it ever takes.
    pub starts_least: bool,
    /// Whether it was written as a range of numbers, even if it is that of a family.
    pub is_written: bool,
}

impl Ranged {
    /// The type of a variable that holds its values.
    pub fn scalar(&self) -> ScalarType {
        match (self.ty, self.bounds) {
            (Ty::Pid(family), _) => ScalarType::Pid(family),
            (Ty::Enum(id), _) => ScalarType::Enum(id),
            (_, Some((lo, hi))) => ScalarType::Range { lo, hi: hi.max(lo) },
            (_, None) => ScalarType::Range { lo: 0, hi: 0 },
        }
    }
}

/// A number as a sum: a constant and multiples of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Linear {
    constant: i64,
    multiples: BTreeMap<String, i64>,
}

impl Linear {
    fn number(constant: i64) -> Self {
        Linear { constant, multiples: BTreeMap::new() }
    }

    fn plus(mut self, other: &Linear, times: i64) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (name, multiple) in &other.multiples {
            let sum = self.multiples.get(name).copied().unwrap_or(0).checked_add(multiple.checked_mul(times)?)?;
            self.multiples.insert(name.clone(), sum);
        }
        self.multiples.retain(|_, multiple| *multiple != 0);
        Some(self)
    }
}

impl<'a> Checker<'a> {
    /// The domain of a written range; reports bounds that change as the program runs.
    pub fn ranged(&mut self, range: &'a ast::Range, scope: &Scope<'a>) -> Option<Ranged> {
        if let Some(family) = self.family_with_range(range, scope) {
            return Some(Ranged { is_written: true, ..self.ranged_family(family) });
        }
        let lo = self.fixed_bound(&range.low, scope);
        let hi = self.fixed_bound(&range.high, scope);
        let (lo, hi) = (lo?, hi?);
        let hi = self.last_of(hi, range);
        let (Some((lo_least, lo_most)), Some((hi_least, hi_most))) = (self.bounds(&lo), self.bounds(&hi)) else {
            let message = "how far this range goes is not clear before the program runs";
            self.report(Diagnostic::error(code::BAD_RANGE, range.span, message));
            return None;
        };
        let size = hi_most.checked_sub(lo_least).and_then(|size| size.checked_add(1)).unwrap_or(i64::MAX).max(0);
        if size > MAX_VALUES {
            let message = format!("this range has more than {MAX_VALUES} values");
            self.report(
                Diagnostic::error(code::TOO_MANY_COPIES, range.span, message)
                    .help("each value is looked at; choose a smaller range"),
            );
            return None;
        }
        Some(Ranged {
            domain: Domain::Range(Box::new(lo), Box::new(hi)),
            ty: Ty::Int,
            bounds: Some((lo_least, hi_most.max(lo_least))),
            size,
            is_nonempty: lo_most <= hi_least,
            starts_least: lo_least == lo_most,
            is_written: true,
        })
    }

    /// The last value of a range, of which `high` is the upper end.
    pub fn last_of(&mut self, high: Expr, range: &ast::Range) -> Expr {
        match range.end {
            RangeEnd::Included => high,
            RangeEnd::Excluded => {
                let span = high.span;
                let one = Expr { kind: ExprKind::Const(Value::Int(1)), span };
                self.operation(ModelOp::Subtract, high, one, span)
            }
        }
    }

    /// The processes of a family.
    pub fn ranged_family(&self, family: FamilyId) -> Ranged {
        Ranged {
            domain: Domain::Family(family),
            ty: Ty::Pid(family),
            bounds: Some(self.family_bounds(family)),
            size: self.model.families[family].count() as i64,
            is_nonempty: true,
            starts_least: true,
            is_written: false,
        }
    }

    fn fixed_bound(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Option<Expr> {
        let typed = self.value(expr, scope, Some(Ty::Int));
        if typed.ty == Ty::Poison {
            return None;
        }
        let number = self.need_number(typed);
        if !self.is_static(&number) {
            let message = "the bounds of `for` and of quantifiers do not change as the program runs";
            let help = "let it range over all values that are possible, and test inside which ones are meant";
            self.report(Diagnostic::error(code::MOVING_BOUND, expr.span, message).help(help));
            return None;
        }
        Some(number)
    }

    /// The family whose index range this is, if it is just one. As long as it is not known how many processes there are, a range is one of numbers.
    fn family_with_range(&self, range: &ast::Range, scope: &Scope<'a>) -> Option<FamilyId> {
        if self.model.processes.is_empty() {
            return None;
        }
        let wanted = self.linear_range(range, scope)?;
        let outermost = Scope::new(Base::Program);
        let has_range = |family: &FamilyId| {
            let written = self.symbols.indices.get(family.index()).copied().flatten();
            written.and_then(|index| self.linear_range(&index.range, &outermost)) == Some(wanted.clone())
        };
        let mut fitting = self.model.families.ids().filter(has_range);
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// The first number and the one after the last.
    fn linear_range(&self, range: &ast::Range, scope: &Scope<'a>) -> Option<(Linear, Linear)> {
        let after = match range.end {
            RangeEnd::Excluded => 0,
            RangeEnd::Included => 1,
        };
        let high = self.linear(&range.high, scope, 0)?.plus(&Linear::number(after), 1)?;
        Some((self.linear(&range.low, scope, 0)?, high))
    }

    fn linear(&self, expr: &ast::Expr, scope: &Scope<'a>, n_constants: usize) -> Option<Linear> {
        use ast::BinaryOp::{Add, Multiply, Subtract};
        if n_constants > MAX_CONSTANTS {
            return None;
        }
        match &expr.kind {
            ast::ExprKind::Int(number) => Some(Linear::number(*number)),
            ast::ExprKind::Name(name) => match self.lookup(&name.name, scope)?.0 {
                Named::Symbol(Symbol::Parameter(_)) => {
                    Some(Linear { constant: 0, multiples: BTreeMap::from([(name.name.clone(), 1)]) })
                }
                Named::Symbol(Symbol::Constant(index)) => {
                    let declared = self.symbols.constant_decls[index];
                    self.linear(&declared.value, &Scope::new(Base::Program), n_constants + 1)
                }
                _ => None,
            },
            ast::ExprKind::Unary { op: UnaryOp::Negate, operand, .. } => {
                Linear::default().plus(&self.linear(operand, scope, n_constants)?, -1)
            }
            ast::ExprKind::Binary { op: op @ (Add | Subtract | Multiply), left, right, .. } => {
                let left = self.linear(left, scope, n_constants)?;
                let right = self.linear(right, scope, n_constants)?;
                match op {
                    Add => left.plus(&right, 1),
                    Subtract => left.plus(&right, -1),
                    _ if left.multiples.is_empty() => Linear::default().plus(&right, left.constant),
                    _ if right.multiples.is_empty() => Linear::default().plus(&left, right.constant),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
