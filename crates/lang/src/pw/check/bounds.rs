//! Bounds of numbers, from the types of what they are made of.
//!
//! In: an expression of the Model. Out: two numbers between which its value always lies, if such are known. Only a help:
//! it decides whether a number surely is a process id and how far a counter can go, never what a program means.

use model::expr::{BinaryOp, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::process::FamilyId;
use model::types::ScalarType;
use model::value::Value;

use super::{Checker, Standpoint};

/// The least and the greatest value.
pub(crate) type Bounds = (i64, i64);

impl Checker<'_> {
    /// Numbers between which the value always lies.
    pub fn bounds(&self, expr: &Expr) -> Option<Bounds> {
        if let Some(Value::Int(number)) = self.known(expr) {
            return Some((number, number));
        }
        match &expr.kind {
            ExprKind::Read(access) => match self.model.vars[access.var].ty.scalar() {
                ScalarType::Range { lo, hi } => Some((lo, hi)),
                ScalarType::Semaphore { max } => Some((0, max)),
                _ => None,
            },
            ExprKind::Bound(var) => self.binders.get(var.0 as usize)?.bounds,
            ExprKind::Negate(part) => {
                let (lo, hi) = self.bounds(part)?;
                Some((hi.checked_neg()?, lo.checked_neg()?))
            }
            ExprKind::Binary(op, left, right) => combine(*op, self.bounds(left)?, self.bounds(right)?),
            ExprKind::If(_, yes, no) => {
                let (yes, no) = (self.bounds(yes)?, self.bounds(no)?);
                Some((yes.0.min(no.0), yes.1.max(no.1)))
            }
            ExprKind::IndexOf(process) => self.index_bounds(process),
            ExprKind::Quantified(quantified) => self.count_bounds(quantified),
            _ => None,
        }
    }

    /// The indices of a family.
    pub fn family_bounds(&self, family: FamilyId) -> Bounds {
        match &self.model.families[family].index {
            None => (0, 0),
            Some(index) => (index.first, index.first.saturating_add(index.count as i64 - 1)),
        }
    }

    fn index_bounds(&self, process: &Expr) -> Option<Bounds> {
        if let Some(Value::Process(id)) = self.known(process) {
            let index = self.model.processes[id].index;
            return Some((index, index));
        }
        let family = match &process.kind {
            ExprKind::Myself => match self.standpoint {
                Standpoint::Family(family) | Standpoint::Initial(Some(family)) => family,
                _ => return None,
            },
            ExprKind::Bound(var) => return self.binders.get(var.0 as usize)?.bounds,
            ExprKind::Read(access) => match self.model.vars[access.var].ty.scalar() {
                ScalarType::Pid(family) | ScalarType::PidOrNone(family) => family,
                _ => return None,
            },
            ExprKind::ToProcess(family, _) => *family,
            ExprKind::If(_, yes, no) => {
                let (yes, no) = (self.index_bounds(yes)?, self.index_bounds(no)?);
                return Some((yes.0.min(no.0), yes.1.max(no.1)));
            }
            _ => return None,
        };
        Some(self.family_bounds(family))
    }

    fn count_bounds(&self, quantified: &Quantified) -> Option<Bounds> {
        let size = |domain: &Domain| match domain {
            Domain::Family(family) => i64::try_from(self.model.families[*family].count()).ok(),
            Domain::Enum(id) => i64::try_from(self.model.enums[*id].values.len()).ok(),
            Domain::Range(lo, hi) => match (self.known(lo), self.known(hi)) {
                (Some(Value::Int(lo)), Some(Value::Int(hi))) => Some(hi.checked_sub(lo)?.checked_add(1)?.max(0)),
                _ => None,
            },
        };
        if quantified.quantifier != Quantifier::Count {
            return None;
        }
        let sizes = quantified.bindings.iter().map(|binding| size(&binding.domain));
        let most = sizes.reduce(|a, b| a?.checked_mul(b?))??;
        Some((0, most))
    }
}

/// The bounds of an operator's result.
fn combine(op: BinaryOp, (a, b): Bounds, (c, d): Bounds) -> Option<Bounds> {
    match op {
        BinaryOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        BinaryOp::Subtract => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        BinaryOp::Multiply => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((corners.into_iter().min()?, corners.into_iter().max()?))
        }
        BinaryOp::Divide if c > 0 => {
            let corners = [a.div_euclid(c), a.div_euclid(d), b.div_euclid(c), b.div_euclid(d)];
            Some((corners.into_iter().min()?, corners.into_iter().max()?))
        }
        BinaryOp::Remainder if c > 0 => {
            if a >= 0 && b < c {
                return Some((a, b));
            }
            Some((0, d - 1))
        }
        BinaryOp::Min => Some((a.min(c), b.min(d))),
        BinaryOp::Max => Some((a.max(c), b.max(d))),
        _ => None,
    }
}
