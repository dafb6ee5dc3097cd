//! Expressions that surely have a value, judged by intervals of numbers.
//!
//! In: an expression and what its bound variables yield. Out: whether evaluating it can be no fault in any state, as far as the
//! types of what it reads show: no index leaves its array, nothing is divided by zero, no number leaves 64 bits, `none` is not
//! used as a process. Where that is not clear, it is not said. What is asked of every size is judged without a number that is one of this size.

use std::collections::BTreeMap;

use model::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Quantified, Whose};
use model::process::FamilyId;
use model::size::ParameterId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::VarId;

use super::image::{Images, Reader, Sort, sort_of_domain};

/// The numbers from the first to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    lo: i128,
    hi: i128,
}

/// A family of any size.
#[derive(Clone, Copy)]
pub(in crate::certificate) struct AnySize<'a> {
    /// The family.
    pub family: FamilyId,
    /// The parameter that says how many processes it has.
    pub size: ParameterId,
    /// The arrays that have an element for each of them, and in which dimension.
    pub rows: &'a BTreeMap<VarId, usize>,
    /// So many of them, the first ones, are there at every size.
    pub n_first: usize,
}

/// Judges expressions of a program.
pub(super) struct Total<'a> {
    pub images: &'a Images<'a>,
    /// The family of which nothing may be taken from the size at hand, if there is one.
    pub any_size: Option<AnySize<'a>>,
}

impl Total<'_> {
    fn is_of_any_size(&self, family: FamilyId) -> bool {
        self.any_size.is_some_and(|any| any.family == family)
    }

    /// Whether an index is that of a process, in a dimension that has an element for each process whatever the size is.
    fn is_row(&self, access: &Access, dimension: usize, index: &Expr, reader: &Reader) -> bool {
        let ExprKind::IndexOf(who) = &index.kind else { return false };
        self.any_size.is_some_and(|any| {
            any.rows.get(&access.var) == Some(&dimension)
                && self.images.sort(who, reader) == Sort::Process(any.family)
                && self.is_total(index, reader)
        })
    }

    /// Whether the expression surely has a value.
    pub fn is_total(&self, expr: &Expr, reader: &Reader) -> bool {
        let total = |part: &Expr| self.is_total(part, reader);
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => true,
            ExprKind::Read(access) => self.access(access, reader),
            ExprKind::At { who, .. } | ExprKind::IndexOf(who) => total(who) && self.is_process(who, reader),
            ExprKind::Not(inner) => total(inner),
            ExprKind::Negate(inner) => total(inner) && self.interval(expr, reader).is_some(),
            ExprKind::Binary(op, left, right) => {
                let computes = matches!(
                    op,
                    BinaryOp::Add
                        | BinaryOp::Subtract
                        | BinaryOp::Multiply
                        | BinaryOp::Divide
                        | BinaryOp::Remainder
                        | BinaryOp::Machine(_)
                );
                total(left) && total(right) && (!computes || self.interval(expr, reader).is_some())
            }
            ExprKind::If(test, yes, no) => total(test) && total(yes) && total(no),
            ExprKind::Quantified(quantified) => self.quantified(quantified, reader),
            ExprKind::ToProcess(family, inner) => {
                total(inner)
                    && self.is_process(inner, reader)
                    && (self.images.sort(inner, reader) == Sort::Process(*family)
                        || self.images.model.families.len() == 1)
            }
        }
    }

    fn quantified(&self, quantified: &Quantified, reader: &Reader) -> bool {
        let reader = &mut reader.clone();
        for binding in &quantified.bindings {
            if let Domain::Range(lo, hi) = &binding.domain
                && !(self.is_total(lo, reader) && self.is_total(hi, reader))
            {
                return false;
            }
            reader.bind(binding.var.0 as usize, sort_of_domain(&binding.domain));
        }
        quantified.filter.as_ref().is_none_or(|filter| self.is_total(filter, reader))
            && self.is_total(&quantified.body, reader)
    }

    fn access(&self, access: &Access, reader: &Reader) -> bool {
        let has_owner = match &access.whose {
            Whose::Of(who) => self.is_total(who, reader) && self.is_process(who, reader),
            Whose::Shared | Whose::Mine | Whose::Frame => true,
        };
        let lens = self.images.model.vars[access.var].ty.dimensions();
        let is_inside = |(dimension, (index, len)): (usize, (&Expr, usize))| {
            let len = match self.any_size {
                Some(any) if any.rows.get(&access.var) == Some(&dimension) => any.n_first.min(len),
                _ => len,
            };
            let within = |range: Interval| range.lo >= 0 && range.hi < len as i128;
            self.is_row(access, dimension, index, reader)
                || self.is_total(index, reader) && self.interval(index, reader).is_some_and(within)
        };
        has_owner && access.indices.iter().zip(lens).enumerate().all(is_inside)
    }

    /// Whether the expression yields a process wherever it has a value.
    fn is_process(&self, expr: &Expr, reader: &Reader) -> bool {
        match &expr.kind {
            ExprKind::Const(Value::Process(_)) | ExprKind::Myself => true,
            ExprKind::Bound(_) => self.images.sort(expr, reader) != Sort::Plain,
            ExprKind::Read(access) => {
                matches!(self.images.model.vars[access.var].ty.scalar(), ScalarType::Pid(_))
            }
            ExprKind::If(_, yes, no) => self.is_process(yes, reader) && self.is_process(no, reader),
            ExprKind::ToProcess(_, inner) => self.is_process(inner, reader),
            _ => false,
        }
    }

    /// The numbers between which the expression lies wherever it has a value; `None` where it is no number, or computing it may
    /// be a fault although its operands have values.
    fn interval(&self, expr: &Expr, reader: &Reader) -> Option<Interval> {
        let of = |part: &Expr| self.interval(part, reader);
        let found = match &expr.kind {
            ExprKind::Const(Value::Int(number)) => Interval::new(i128::from(*number), i128::from(*number)),
            ExprKind::Parameter(id) if self.any_size.is_some_and(|any| any.size == *id) => return None,
            ExprKind::Parameter(id) => {
                let number = i128::from(self.images.model.parameters[*id].value);
                Interval::new(number, number)
            }
            ExprKind::Read(access) => match self.images.model.vars[access.var].ty.scalar() {
                ScalarType::Range { lo, hi } => Interval::new(i128::from(lo), i128::from(hi)),
                ScalarType::Semaphore { max } => Interval::new(0, i128::from(max)),
                _ => return None,
            },
            ExprKind::IndexOf(who) => self.indices(self.images.sort(who, reader))?,
            ExprKind::Negate(inner) => of(inner)?.combined(of(inner)?, |one, _| -one),
            ExprKind::If(_, yes, no) => {
                let (yes, no) = (of(yes)?, of(no)?);
                Interval::new(yes.lo.min(no.lo), yes.hi.max(no.hi))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (of(left)?, of(right)?);
                match op {
                    BinaryOp::Add => left.combined(right, |one, other| one + other),
                    BinaryOp::Subtract => left.combined(right, |one, other| one - other),
                    BinaryOp::Multiply => left.combined(right, |one, other| one * other),
                    BinaryOp::Min => left.combined(right, i128::min),
                    BinaryOp::Max => left.combined(right, i128::max),
                    BinaryOp::Divide | BinaryOp::Remainder if right.lo <= 0 && right.hi >= 0 => return None,
                    // A quotient is no larger than what is divided, but for rounding; a remainder is smaller than the divisor.
                    BinaryOp::Divide => {
                        let amount = left.lo.abs().max(left.hi.abs());
                        Interval::new(-amount, amount)
                    }
                    BinaryOp::Remainder => Interval::new(0, right.lo.abs().max(right.hi.abs()) - 1),
                    _ => return None,
                }
            }
            ExprKind::Quantified(quantified) => Interval::new(0, self.n_instances(quantified, reader)?),
            _ => return None,
        };
        let fits = |number: i128| i64::try_from(number).is_ok();
        (fits(found.lo) && fits(found.hi)).then_some(found)
    }

    /// How many instances a quantifier has, at most.
    fn n_instances(&self, quantified: &Quantified, reader: &Reader) -> Option<i128> {
        let model = self.images.model;
        let reader = &mut reader.clone();
        let mut product: i128 = 1;
        for binding in &quantified.bindings {
            let size = match &binding.domain {
                Domain::Family(family) if self.is_of_any_size(*family) => return None,
                Domain::Family(family) => model.families[*family].count() as i128,
                Domain::Enum(id) => model.enums[*id].values.len() as i128,
                Domain::Range(lo, hi) => {
                    let (lo, hi) = (self.interval(lo, reader)?, self.interval(hi, reader)?);
                    (hi.hi - lo.lo + 1).max(0)
                }
            };
            product = product.saturating_mul(size);
            reader.bind(binding.var.0 as usize, sort_of_domain(&binding.domain));
        }
        Some(product)
    }

    /// The indices of the processes that are meant, where they are the same at every size that is asked about.
    fn indices(&self, sort: Sort) -> Option<Interval> {
        let model = self.images.model;
        let is_meant = |id: FamilyId| match sort {
            Sort::Process(family) => id == family,
            Sort::SomeProcess | Sort::NoProcess | Sort::Plain => true,
        };
        if model.families.ids().any(|id| is_meant(id) && self.is_of_any_size(id)) {
            return None;
        }
        let families = model.families.entries().filter(|&(id, _)| is_meant(id));
        let range = |index: &model::process::IndexRange| {
            let first = i128::from(index.first);
            Interval::new(first, first + index.count as i128 - 1)
        };
        let ranges = families.map(|(_, family)| family.index.as_ref().map_or(Interval::new(0, 0), range));
        let all = ranges.reduce(|one, other| Interval::new(one.lo.min(other.lo), one.hi.max(other.hi)));
        Some(all.unwrap_or(Interval::new(0, 0)))
    }
}

impl Interval {
    fn new(lo: i128, hi: i128) -> Self {
        Interval { lo, hi }
    }

    /// The least and greatest result at the ends: enough for operations that are monotone, or linear, in each operand.
    fn combined(self, other: Interval, operation: impl Fn(i128, i128) -> i128) -> Interval {
        let ends =
            [self.lo, self.hi].into_iter().flat_map(|one| [other.lo, other.hi].map(|other| operation(one, other)));
        let ends: Vec<i128> = ends.collect();
        Interval::new(ends.iter().copied().min().unwrap_or(0), ends.iter().copied().max().unwrap_or(0))
    }
}
