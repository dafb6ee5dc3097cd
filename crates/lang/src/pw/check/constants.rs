//! Values that are known before the program runs.
//!
//! Expressions whose operands are constants are computed when they are built, by the one definition of what they mean:
//! `model::eval`, in a state without any cell. Parameters stay what they are, so that an instance can say which of its constants
//! were computed from them; whether such an expression has a value at this size is a question ([`Checker::known`]). What has no value (a division by zero) stays as it is, to be an error of the
//! step that meets it; where a constant is needed, it is reported.

use base::{Diagnostic, Span};
use model::control::LoopId;
use model::eval::StepFault;
use model::expr::{Domain, Expr, ExprKind, Quantified};
use model::instance::static_value;
use model::value::Value;
use model::variable::Role;

use super::symbols::Constant;
use super::{Base, Checker, Scope, Standpoint, Target, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast;

impl<'a> Checker<'a> {
    /// The value of a numeric constant; reports what is none. `what` says what it is for: "the length of an array".
    pub fn constant_number(&mut self, expr: &'a ast::Expr, what: &str) -> Option<i64> {
        let typed = self
            .standing(Standpoint::Constant, |checker| checker.value(expr, &Scope::new(Base::Program), Some(Ty::Int)));
        if typed.ty == Ty::Poison {
            return None;
        }
        if typed.ty != Ty::Int && !typed.ty.is_process() {
            let found = self.describe(typed.ty);
            self.report(Diagnostic::error(
                code::WRONG_TYPE,
                expr.span,
                format!("{what} is a number, but this is {found}"),
            ));
            return None;
        }
        let number = self.need_number(typed);
        match self.constant_value(&number) {
            Some(Value::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// The value of an expression that was built from the constant standpoint; reports what has none.
    pub fn constant_value(&mut self, expr: &Expr) -> Option<Value> {
        if self.model.processes.is_empty() && goes_through_processes(expr) {
            let message = "how many processes there are cannot depend on the processes";
            self.report(Diagnostic::error(code::NOT_CONSTANT, expr.span, message).help("compute it from parameters"));
            return None;
        }
        static_value(&self.model, expr, None).map_err(|fault| self.report_no_value(&fault)).ok()
    }

    /// Reports a constant that has no value.
    pub fn report_no_value(&mut self, fault: &StepFault) {
        self.report(Diagnostic::error(code::NOT_CONSTANT, fault.span, format!("this has no value: {}", fault.fault)));
    }

    /// The value of a declared constant, computed when it is first needed.
    pub fn constant(&mut self, index: usize, used_at: Span) -> Typed {
        match std::mem::replace(&mut self.symbols.constants[index], Constant::Open) {
            Constant::Known(typed) => {
                self.symbols.constants[index] = Constant::Known(typed.clone());
                Typed { expr: Expr { span: used_at, ..typed.expr }, ty: typed.ty }
            }
            Constant::Open => {
                let message = "this constant is defined by itself";
                self.report(
                    Diagnostic::error(code::DEFINED_BY_ITSELF, used_at, message)
                        .help("give it a value that does not need it"),
                );
                self.poison(used_at)
            }
            Constant::Unknown(declared) => {
                let typed = self.standing(Standpoint::Constant, |checker| checker.declared_constant(declared));
                self.symbols.constants[index] = Constant::Known(typed.clone());
                Typed { expr: Expr { span: used_at, ..typed.expr }, ty: typed.ty }
            }
        }
    }

    fn declared_constant(&mut self, declared: &'a ast::ConstDecl) -> Typed {
        let scope = Scope::new(Base::Program);
        let target = match &declared.ty {
            None => None,
            Some(ty) => {
                let Some(ty) = self.scalar_type(ty) else { return self.poison(declared.name.span) };
                let what = format!("`{}`", declared.name.name);
                Some(Target { ty, what, declared: declared.name.span })
            }
        };
        let mut typed = self.value(&declared.value, &scope, target.as_ref().map(|target| Ty::of(target.ty)));
        if typed.ty == Ty::Poison {
            return typed;
        }
        if let Some(target) = &target {
            typed = Typed { expr: self.need_stored(typed, target), ty: Ty::of(target.ty) };
        }
        let Some(value) = self.constant_value(&typed.expr) else { return self.poison(declared.name.span) };
        if let Some(target) = &target
            && !target.ty.contains(value, self.model.type_context())
        {
            let (shown, spelled) = (model::print::value(&self.model, value), self.spell(target.ty));
            let message = format!("{shown} is not a value of type `{spelled}`");
            self.report(Diagnostic::error(code::BAD_INITIAL_VALUE, declared.value.span, message));
        }
        Typed { expr: self.with_origin(value, typed.expr), ty: typed.ty }
    }

    /// Whether an expression has the same value in every state: constants, the process's own index, counters of `for`
    /// and bound variables.
    pub fn is_static(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => true,
            ExprKind::Read(access) => matches!(self.model.vars[access.var].role, Role::Counter(_)),
            ExprKind::At { .. } => false,
            ExprKind::Not(part) | ExprKind::Negate(part) | ExprKind::IndexOf(part) | ExprKind::ToProcess(_, part) => {
                self.is_static(part)
            }
            ExprKind::Binary(_, left, right) => self.is_static(left) && self.is_static(right),
            ExprKind::If(test, yes, no) => self.is_static(test) && self.is_static(yes) && self.is_static(no),
            ExprKind::Quantified(quantified) => self.is_static_quantified(quantified),
        }
    }

    fn is_static_quantified(&self, quantified: &Quantified) -> bool {
        let is_static_domain = |domain: &Domain| match domain {
            Domain::Range(lo, hi) => self.is_static(lo) && self.is_static(hi),
            Domain::Family(_) | Domain::Enum(_) => true,
        };
        quantified.bindings.iter().all(|binding| is_static_domain(&binding.domain))
            && quantified.filter.iter().all(|filter| self.is_static(filter))
            && self.is_static(&quantified.body)
    }

    /// The loop whose counter a variable is.
    pub fn counts(&self, var: model::variable::VarId) -> Option<LoopId> {
        match self.model.vars[var].role {
            Role::Counter(id) => Some(id),
            _ => None,
        }
    }
}

/// Whether a quantifier in an expression goes over a family.
fn goes_through_processes(expr: &Expr) -> bool {
    let mut found = false;
    model::visit::each_part(expr, &mut |part| {
        if let ExprKind::Quantified(quantified) = &part.kind {
            found |= quantified.bindings.iter().any(|binding| matches!(binding.domain, Domain::Family(_)));
        }
    });
    found
}
