//! What numbers were computed from: parameters survive in expressions, lengths, bounds and sizes.
//!
//! In: types, index ranges and constants as written. Out: [`model::size::Forms`] of the Model, and for each declared constant an
//! expression in which the parameters still stand.

use model::expr::{BinaryOp, Expr, ExprKind};
use model::instance::static_value;
use model::process::FamilyId;
use model::size::{Bounds, Size, depends_on_parameters};
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
    /// expression that is long or that counts processes is not copied; then the constant still names what it depends on.
    pub(super) fn with_origin(&mut self, value: Value, origin: Expr) -> Expr {
        let span = origin.span;
        let constant = Expr { kind: ExprKind::Const(value), span };
        let mut n_parts = 0;
        let mut size = None;
        each_part(&origin, &mut |part| {
            n_parts += 1;
            if let (None, ExprKind::Parameter(id)) = (size, &part.kind) {
                size = Some(*id);
            }
        });
        let counts = !is_closed(&origin);
        if counts {
            size = size.or_else(|| self.model.families.iter().find_map(|family| family.size.parameters().pop_first()));
        }
        let Some(size) = size else { return constant };
        if n_parts <= MAX_ORIGIN && !counts {
            return origin;
        }
        let here = Value::Int(self.model.parameters[size].value);
        let here = Expr { kind: ExprKind::Const(here), span };
        let parameter = Expr { kind: ExprKind::Parameter(size), span };
        let test = ExprKind::Binary(BinaryOp::Equal, Box::new(parameter), Box::new(here));
        let test = Expr { kind: test, span };
        Expr { kind: ExprKind::If(Box::new(test), Box::new(constant.clone()), Box::new(constant)), span }
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
