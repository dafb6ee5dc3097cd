//! What numbers were computed from: parameters survive in expressions, lengths, bounds and sizes.
//!
//! In: types, index ranges and constants as written. Out: [`model::size::Forms`] of the Model, and for each declared constant an
//! expression in which the parameters still stand.

use std::collections::BTreeSet;

use model::expr::{BinaryOp, Domain, Expr, ExprKind};
use model::instance::static_value;
use model::process::FamilyId;
use model::size::{Bounds, ParameterId, Size, depends_on_parameters};
use model::value::Value;
use model::variable::VarId;
use model::visit::each_part;

use super::{Base, Checker, Scope, Standpoint, Ty};
use crate::pw::ast::{self, TypeKind};

/// The most parts of a constant's expression that are copied to each use of the constant.
const MAX_ORIGIN: usize = 64;

impl<'a> Checker<'a> {
    /// The value of an expression that is made of constants and parameters only, at this size.
    pub fn known(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Const(value) => Some(*value),
            _ if is_closed(expr) => static_value(&self.model, expr, None).ok(),
            _ => None,
        }
    }

    /// The constant with this value: the value, or the expression that it was computed from where parameters stand in that. An
    /// expression that is long or that goes through processes is not copied; then the constant still names what it depends on, and the Model says that
    /// how it does is not kept.
    pub(super) fn with_origin(&mut self, value: Value, origin: Expr) -> Expr {
        let span = origin.span;
        let constant = Expr { kind: ExprKind::Const(value), span };
        let (mut n_parts, mut on) = (0, BTreeSet::new());
        each_part(&origin, &mut |part| {
            n_parts += 1;
            match &part.kind {
                ExprKind::Parameter(id) => drop(on.insert(*id)),
                ExprKind::Quantified(quantified) => {
                    let over = quantified.bindings.iter().filter_map(|binding| match binding.domain {
                        Domain::Family(family) => Some(self.model.families[family].size.parameters()),
                        Domain::Range(..) | Domain::Enum(_) => None,
                    });
                    on.extend(over.flatten());
                }
                _ => {}
            }
        });
        if on.is_empty() {
            return constant;
        }
        if n_parts <= MAX_ORIGIN && is_closed(&origin) {
            return origin;
        }
        self.model.forms.opaque.extend(&on);
        let named = |inner: Expr, id: ParameterId| {
            let here = Value::Int(self.model.parameters[id].value);
            let here = Box::new(Expr { kind: ExprKind::Const(here), span });
            let parameter = Box::new(Expr { kind: ExprKind::Parameter(id), span });
            let test = Expr { kind: ExprKind::Binary(BinaryOp::Equal, parameter, here), span };
            Expr { kind: ExprKind::If(Box::new(test), Box::new(inner), Box::new(constant.clone())), span }
        };
        on.into_iter().fold(constant.clone(), named)
    }

    /// Keeps what the size and the first index of a family were computed from.
    pub(super) fn keep_family_forms(&mut self, family: FamilyId, range: &'a ast::Range, count: usize) {
        let first = self.written_number(&range.low);
        let end = self.written_number(&range.high);
        let last = self.last_of(end, range);
        let one = Expr { kind: ExprKind::Const(Value::Int(1)), span: range.span };
        let length = self.operation(BinaryOp::Subtract, last, first.clone(), range.span);
        let length = self.operation(BinaryOp::Add, length, one, range.span);
        self.model.families[family].size = Size::of(&length, count);
        if depends_on_parameters(&first) {
            self.model.forms.first_indices.insert(family, first);
        }
    }

    /// Keeps what the lengths and bounds of a variable's type were computed from.
    pub(super) fn keep_type_forms(&mut self, var: VarId, ty: &'a ast::Type) {
        let mut inner = ty;
        let mut dimension = 0;
        while let TypeKind::Array { element, length } = &inner.kind {
            let form = self.written_number(length);
            if depends_on_parameters(&form) {
                self.model.forms.lengths.insert((var, dimension), form);
            }
            inner = element;
            dimension += 1;
        }
        let bounds = match &inner.kind {
            TypeKind::Range(range) => {
                let least = self.written_number(&range.low);
                let high = self.written_number(&range.high);
                Bounds { least, greatest: self.last_of(high, range) }
            }
            TypeKind::Sem { bound: Some(bound) } => {
                let least = Expr { kind: ExprKind::Const(Value::Int(0)), span: bound.span };
                Bounds { least, greatest: self.written_number(bound) }
            }
            _ => return,
        };
        if depends_on_parameters(&bounds.least) || depends_on_parameters(&bounds.greatest) {
            self.model.forms.bounds.insert(var, bounds);
        }
    }

    /// A numeric constant that was checked before, with its parameters.
    fn written_number(&mut self, expr: &'a ast::Expr) -> Expr {
        self.standing(Standpoint::Constant, |checker| {
            let typed = checker.value(expr, &Scope::new(Base::Program), Some(Ty::Int));
            let number = checker.need_number(typed);
            match checker.constant_value(&number) {
                Some(value) => checker.with_origin(value, number),
                None => number,
            }
        })
    }
}

/// Whether an expression is made of constants and parameters only, by operators that are computed at once.
fn is_closed(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) => true,
        ExprKind::Not(part) | ExprKind::Negate(part) | ExprKind::IndexOf(part) | ExprKind::ToProcess(_, part) => {
            is_closed(part)
        }
        ExprKind::Binary(_, left, right) => is_closed(left) && is_closed(right),
        ExprKind::If(test, yes, no) => is_closed(test) && is_closed(yes) && is_closed(no),
        _ => false,
    }
}
