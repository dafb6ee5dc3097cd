//! Conversions: a value of one type where another one is needed.
//!
//! A process id is a number where a number is needed (`IndexOf`), and a number is a process id where one is needed
//! (`ToProcess`, which the step checks). Only the bare value of a number variable that may lie outside the family is refused there:
//! who really means it says `as pid`.

use base::{Diagnostic, Span};
use model::expr::{Expr, ExprKind};
use model::process::FamilyId;
use model::types::ScalarType;
use model::value::Value;

use super::{Checker, Ty, Typed};
use crate::codes::check as code;

/// Where a value is stored.
pub(crate) struct Target {
    /// The type of what is stored there.
    pub ty: ScalarType,
    /// In words: "`turn`", "parameter `a` of `f`".
    pub what: String,
    /// Where it is declared.
    pub declared: Span,
}

impl<'a> Checker<'a> {
    /// A truth value; reports what is none.
    pub fn need_condition(&mut self, typed: Typed) -> Expr {
        match typed.ty {
            Ty::Bool => typed.expr,
            Ty::Poison => self.poison(typed.expr.span).expr,
            ty => {
                let message = format!("a truth value is needed here, but this is {}", self.describe(ty));
                let diagnostic = Diagnostic::error(code::WRONG_TYPE, typed.expr.span, message);
                self.report(match ty {
                    Ty::Int => diagnostic.help("compare it with something, as in `x > 0`"),
                    _ => diagnostic,
                });
                self.poison(typed.expr.span).expr
            }
        }
    }

    /// A number; reports what is none.
    pub fn need_number(&mut self, typed: Typed) -> Expr {
        let span = typed.expr.span;
        match typed.ty {
            Ty::Int => return typed.expr,
            Ty::Pid(_) | Ty::PidOrNone(_) => return self.node(ExprKind::IndexOf(Box::new(typed.expr)), span),
            Ty::Owner => {
                if let Some(family) = self.one_family() {
                    let member = self.node(ExprKind::ToProcess(family, Box::new(typed.expr)), span);
                    return self.node(ExprKind::IndexOf(Box::new(member)), span);
                }
            }
            Ty::Poison => {}
            ty => self.report_no_number(ty, span),
        }
        if typed.ty == Ty::Owner {
            self.report_no_number(Ty::Owner, span);
        }
        Expr { kind: ExprKind::Const(Value::Int(0)), span }
    }

    fn report_no_number(&mut self, ty: Ty, span: Span) {
        let message = format!("a number is needed here, but this is {}", self.describe(ty));
        self.report(Diagnostic::error(code::WRONG_TYPE, span, message));
    }

    /// A process of the family, or `none` where the value may be that; reports what cannot be one.
    pub fn need_process(&mut self, typed: Typed, family: FamilyId) -> Option<Expr> {
        let span = typed.expr.span;
        match typed.ty {
            Ty::Pid(of) | Ty::PidOrNone(of) if of == family => Some(typed.expr),
            Ty::Pid(_) | Ty::PidOrNone(_) => {
                let index = self.node(ExprKind::IndexOf(Box::new(typed.expr)), span);
                self.need_process(Typed::new(index, Ty::Int), family)
            }
            Ty::Owner => Some(self.node(ExprKind::ToProcess(family, Box::new(typed.expr)), span)),
            Ty::None => Some(typed.expr),
            Ty::Int => {
                if let Some(Value::Int(index)) = self.known(&typed.expr)
                    && self.model.families[family].process_at(index).is_none()
                {
                    if !self.symbols.broken_families.contains(&family) {
                        self.report_no_process(family, index, span);
                    }
                    return None;
                }
                Some(self.node(ExprKind::ToProcess(family, Box::new(typed.expr)), span))
            }
            Ty::Poison => None,
            ty => {
                let name = &self.model.families[family].name;
                let message = format!("a process of `{name}` is needed here, but this is {}", self.describe(ty));
                self.report(Diagnostic::error(code::WRONG_TYPE, span, message));
                None
            }
        }
    }

    fn report_no_process(&mut self, family: FamilyId, index: i64, span: Span) {
        let of = &self.model.families[family];
        let message = format!("there is no `{}[{index}]`", of.name);
        let mut diagnostic = Diagnostic::error(code::NO_SUCH_PROCESS, span, message).note(of.span, "declared here");
        if let Some(range) = &of.index {
            let last = self.family_bounds(family).1;
            diagnostic = diagnostic.help(format!("in this instance, the indices are {}..={last}", range.first));
        }
        self.report(diagnostic);
    }

    /// A variable over a written range that happens to be a family's is a number for the other families.
    pub fn softened(&mut self, typed: Typed, other: FamilyId) -> Typed {
        let is_written = match &typed.expr.kind {
            ExprKind::Bound(var) => self.binders.get(var.0 as usize).is_some_and(|binder| binder.is_written),
            ExprKind::Read(access) => self.counts(access.var).is_some(),
            _ => false,
        };
        match typed.ty {
            Ty::Pid(family) if family != other && is_written => Typed::new(self.need_number(typed), Ty::Int),
            _ => typed,
        }
    }

    /// A value that is about to be stored; reports what can never be stored there.
    pub fn need_stored(&mut self, typed: Typed, target: &Target) -> Expr {
        let span = typed.expr.span;
        let typed = match target.ty {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => self.softened(typed, family),
            _ => typed,
        };
        match (target.ty, typed.ty) {
            (_, Ty::Poison) => typed.expr,
            (ScalarType::Bool, Ty::Bool) => typed.expr,
            (ScalarType::Enum(id), Ty::Enum(of)) if id == of => typed.expr,
            (
                ScalarType::Range { .. } | ScalarType::Semaphore { .. },
                Ty::Int | Ty::Pid(_) | Ty::PidOrNone(_) | Ty::Owner,
            ) => self.need_number(typed),
            (ScalarType::Pid(family) | ScalarType::PidOrNone(family), Ty::Int) => {
                if self.is_loose_variable(&typed.expr, family) {
                    self.report_loose_number(&typed.expr, family, target);
                    return self.poison(span).expr;
                }
                self.need_process(typed, family).unwrap_or_else(|| self.poison(span).expr)
            }
            (ScalarType::Pid(family), Ty::Pid(of) | Ty::PidOrNone(of)) if family == of => typed.expr,
            (ScalarType::PidOrNone(family), Ty::Pid(of) | Ty::PidOrNone(of)) if family == of => typed.expr,
            // Whether the owner belongs to the family is checked when it is stored.
            (ScalarType::Pid(_) | ScalarType::PidOrNone(_), Ty::Owner) => typed.expr,
            (ScalarType::PidOrNone(_) | ScalarType::Lock, Ty::None) => typed.expr,
            (ScalarType::Lock, Ty::Pid(_) | Ty::PidOrNone(_) | Ty::Owner) => typed.expr,
            (ScalarType::Lock, Ty::Int) => match self.one_family() {
                Some(family) => self.need_process(typed, family).unwrap_or_else(|| self.poison(span).expr),
                None => self.report_unfit(typed.ty, target, span),
            },
            (_, ty) => self.report_unfit(ty, target, span),
        }
    }

    fn report_unfit(&mut self, ty: Ty, target: &Target, span: Span) -> Expr {
        let (spelled, found) = (self.spell(target.ty), self.describe(ty));
        let message = format!("{} has type `{spelled}`, but this is {found}", target.what);
        let mut diagnostic = Diagnostic::error(code::WRONG_TYPE, span, message).note(target.declared, "declared here");
        if let (ScalarType::Pid(_), Ty::None) = (target.ty, ty) {
            diagnostic = diagnostic.help(format!("a variable that may be `none` has type `{spelled}?`"));
        }
        self.report(diagnostic);
        self.poison(span).expr
    }

    /// Whether the expression is just a number variable that may lie outside the family.
    fn is_loose_variable(&self, expr: &Expr, family: FamilyId) -> bool {
        matches!(expr.kind, ExprKind::Read(_)) && !self.is_surely_in(expr, family)
    }

    fn report_loose_number(&mut self, expr: &Expr, family: FamilyId, target: &Target) {
        let ExprKind::Read(access) = &expr.kind else { return };
        let var = &self.model.vars[access.var];
        let (spelled, declared) = (self.spell(var.ty.scalar()), var.span);
        let message = format!("{} is a process id, but a number {spelled} is assigned", target.what);
        let cast = match self.one_family() == Some(family) {
            true => " as pid".to_string(),
            false => format!(" as pid({})", self.model.families[family].name),
        };
        let end = Span { start: expr.span.end, end: expr.span.end };
        let diagnostic = Diagnostic::error(code::NUMBER_FOR_PID, expr.span, message)
            .at(format!("this is {spelled}"))
            .note(target.declared, "declared here")
            .note(declared, format!("a number {spelled}"))
            .suggest("if every value is a valid id, say so (the step checks it)", end, cast);
        self.report(diagnostic);
    }
}
