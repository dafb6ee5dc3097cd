//! Initial values of variables.

use base::Diagnostic;
use model::eval::StepFault;
use model::expr::Expr;
use model::instance::static_value;
use model::process::{FamilyId, ProcessId};
use model::types::{ScalarType, Type};
use model::variable::Init;

use super::{Checker, Meaning, Scope, Standpoint, Target, Ty};
use crate::codes::check as code;
use crate::pw::ast::{self, Assigned};

impl<'a> Checker<'a> {
    /// What a variable starts with; reports what it cannot start with. `owner` is the family whose variable it is.
    pub fn initial(
        &mut self,
        declared: &'a ast::VariableDecl,
        ty: &Type,
        scope: &Scope<'a>,
        owner: Option<FamilyId>,
    ) -> Init {
        match &declared.initial {
            None | Some(Assigned::First(_)) => Init::First,
            Some(Assigned::Any { range: None, .. }) => Init::Any,
            Some(Assigned::Any { range: Some(range), span }) => {
                let message = "a variable starts anywhere in its type, not in a part of it";
                let diagnostic = Diagnostic::error(code::BAD_INITIAL_VALUE, *span, message);
                let spelled = self.source.slice(range.span).to_string();
                self.report(diagnostic.help(format!("write `= any` and give the variable the type `{spelled}`")));
                Init::Any
            }
            Some(Assigned::Value(expr)) => {
                let what = format!("`{}`", declared.name.name);
                let target = Target { ty: ty.scalar(), what, declared: declared.name.span };
                self.standing(Standpoint::Initial(owner), |checker| checker.start(expr, ty, scope, &target))
            }
        }
    }

    fn start(&mut self, expr: &'a ast::Expr, ty: &Type, scope: &Scope<'a>, target: &Target) -> Init {
        match (&expr.kind, ty) {
            (ast::ExprKind::Array(elements), Type::Array { element, len }) => {
                if elements.len() != *len {
                    let message = format!("{} has {len} elements here, but {} are given", target.what, elements.len());
                    self.report(
                        Diagnostic::error(code::BAD_INITIAL_VALUE, expr.span, message)
                            .note(target.declared, "declared here"),
                    );
                }
                Init::Elements(elements.iter().map(|part| self.start(part, element, scope, target)).collect())
            }
            (ast::ExprKind::Repeat { value, length }, Type::Array { element, len }) => {
                if let Some(given) = self.constant_number(length, "the length of an array")
                    && usize::try_from(given) != Ok(*len)
                {
                    let message = format!("{} has {len} elements here, but {given} are given", target.what);
                    self.report(
                        Diagnostic::error(code::BAD_INITIAL_VALUE, length.span, message)
                            .note(target.declared, "declared here"),
                    );
                }
                // Elements that start alike fill the array, whatever its length.
                match self.start(value, element, scope, target) {
                    Init::Elements(parts) => Init::Elements(vec![Init::Elements(parts); *len]),
                    start => start,
                }
            }
            (ast::ExprKind::ByIndex { variable, value }, Type::Array { element, len }) => {
                let inner = |at: usize| scope.with(variable, Meaning::Number(at as i64));
                Init::Elements((0..*len).map(|at| self.start(value, element, &inner(at), target)).collect())
            }
            (
                ast::ExprKind::Array(_) | ast::ExprKind::Repeat { .. } | ast::ExprKind::ByIndex { .. },
                Type::Scalar(_),
            ) => {
                let message = format!("one value is needed for {}, not an array", target.what);
                self.report(
                    Diagnostic::error(code::BAD_INITIAL_VALUE, expr.span, message)
                        .note(target.declared, "declared here"),
                );
                Init::First
            }
            _ => self.fill(expr, scope, target),
        }
    }

    fn fill(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>, target: &Target) -> Init {
        let typed = self.value(expr, scope, Some(Ty::of(target.ty)));
        if typed.ty == Ty::Poison {
            return Init::First;
        }
        let n_before = self.diagnostics.len();
        let value = self.need_stored(typed, target);
        if self.diagnostics.len() == n_before {
            self.check_start(&value, target);
        }
        Init::Fill(value)
    }

    /// Reports an initial value that its variable's type does not have, for the first process for which it does not.
    fn check_start(&mut self, value: &Expr, target: &Target) {
        let owners: Vec<Option<ProcessId>> = match self.standpoint {
            Standpoint::Initial(Some(family)) if self.known(value).is_none() => {
                self.model.families[family].processes().map(Some).collect()
            }
            _ => vec![None],
        };
        for owner in owners {
            match static_value(&self.model, value, owner) {
                Err(StepFault { fault, span }) => {
                    let message = format!("{} has no initial value{}: {fault}", target.what, self.of_owner(owner));
                    self.report(Diagnostic::error(code::BAD_INITIAL_VALUE, span, message));
                    return;
                }
                Ok(start) if !target.ty.contains(start, self.model.type_context()) => {
                    let shown = model::print::value(&self.model, start);
                    self.report_outside(value, target, &shown, owner);
                    return;
                }
                Ok(_) => {}
            }
        }
    }

    fn report_outside(&mut self, value: &Expr, target: &Target, shown: &str, owner: Option<ProcessId>) {
        let spelled = self.spell(target.ty);
        let of_owner = self.of_owner(owner);
        let message = format!("{} has type `{spelled}`, but starts with {shown}{of_owner}", target.what);
        let mut diagnostic =
            Diagnostic::error(code::BAD_INITIAL_VALUE, value.span, message).note(target.declared, "declared here");
        if let ScalarType::Semaphore { max: 1 } = target.ty {
            diagnostic =
                diagnostic.help(format!("a counting semaphore that starts with {shown} has type `sem({shown})`"));
        }
        self.report(diagnostic);
    }

    fn of_owner(&self, owner: Option<ProcessId>) -> String {
        owner.map_or(String::new(), |owner| format!(" in `{}`", self.model.processes[owner].name))
    }
}
