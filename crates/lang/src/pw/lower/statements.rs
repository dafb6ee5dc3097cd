//! Statements within one step: assignments, `await`, `assert`, `acquire`, `release`, and what `atomic` may hold.

use base::{Diagnostic, Span};
use model::control::{Stmt, StmtKind};
use model::expr::{Access, Expr, ExprKind, Whose};
use model::types::ScalarType;
use model::variable::{Role, VarId};

use super::footprint::reads_any;
use crate::codes::check as code;
use crate::pw::ast::{self, Assigned, Block, Statement, StatementKind};
use crate::pw::check::{Checker, Meaning, Path, Scope, Target, Ty, VariablePath};

impl<'a> Checker<'a> {
    /// What a statement does within one step; reports statements that are no part of a step.
    pub fn within_step(&mut self, statement: &'a Statement, scope: &Scope<'a>) -> Vec<Stmt> {
        let one = |kind: StmtKind| vec![Stmt { kind, span: statement.span }];
        match &statement.kind {
            StatementKind::Skip => Vec::new(),
            StatementKind::Assign { targets, values } => self.assignment(targets, values, scope, statement.span),
            StatementKind::Await(test) => one(StmtKind::Await(self.condition(test, scope))),
            StatementKind::Assert(test) => one(StmtKind::Assert(self.condition(test, scope))),
            StatementKind::Acquire(target) => {
                self.lock_target(target, scope).map_or_else(Vec::new, |access| one(StmtKind::Acquire(access)))
            }
            StatementKind::Release(target) => {
                self.lock_target(target, scope).map_or_else(Vec::new, |access| one(StmtKind::Release(access)))
            }
            StatementKind::Atomic(block) => self.atomic(block, scope),
            StatementKind::If { condition, then, otherwise } => {
                let test = self.condition(condition, scope);
                let yes = self.atomic(then, scope);
                let no = otherwise.as_ref().map_or_else(Vec::new, |block| self.atomic(block, scope));
                one(StmtKind::If(test, yes, no))
            }
            StatementKind::Either { branches } => {
                one(StmtKind::Either(branches.iter().map(|branch| self.atomic(branch, scope)).collect()))
            }
            StatementKind::For { variable, range, body } => {
                self.atomic_for((variable, range, body), scope).map_or_else(Vec::new, one)
            }
            StatementKind::Send { .. } | StatementKind::Receive { .. } => {
                self.not_in_step(statement, "a rendezvous is a step of two processes")
            }
            StatementKind::Let { name, .. } => {
                let message = "`let` names a value within one step, so it stands inside `atomic`";
                let diagnostic = Diagnostic::error(code::BAD_LET, statement.span, message);
                self.report(diagnostic.help(format!("declare `local {}: …;` in the process", name.name)));
                Vec::new()
            }
            // Elaborated.
            StatementKind::Guarded { .. }
            | StatementKind::Choose { .. }
            | StatementKind::Change { .. }
            | StatementKind::ForEach { .. } => Vec::new(),
            StatementKind::Idle => self.not_in_step(statement, "`idle` may last for ever"),
            StatementKind::Call { .. } => self.not_in_step(statement, "a call takes steps of its own"),
            StatementKind::Return(_) => self.not_in_step(statement, "a return is a step of its own"),
            StatementKind::Goto(_) => {
                self.not_in_step(statement, "`goto` leads to a place, and there is none inside a step")
            }
            StatementKind::Break | StatementKind::Continue => {
                self.not_in_step(statement, "`break` and `continue` belong to loops outside `atomic`")
            }
            StatementKind::While { .. } | StatementKind::Loop(_) => {
                self.not_in_step(statement, "a loop in one step must surely end: only `for` does")
            }
        }
    }

    /// The statements of an `atomic` block, or of a block inside one.
    pub fn atomic(&mut self, block: &'a Block, scope: &Scope<'a>) -> Vec<Stmt> {
        let mut body = Vec::new();
        for statement in &block.statements {
            for label in &statement.labels {
                let message = format!("the label `{}` names no place: this block is one step", label.name);
                let help = "put it before the `atomic` or `some` whose block this is";
                self.report(Diagnostic::error(code::NOT_IN_ATOMIC, label.span, message).help(help));
            }
            body.extend(self.within_step(statement, scope));
        }
        body
    }

    fn not_in_step(&mut self, statement: &Statement, why: &str) -> Vec<Stmt> {
        let diagnostic =
            Diagnostic::error(code::NOT_IN_ATOMIC, statement.span, format!("this cannot stand inside `atomic`: {why}"));
        self.report(diagnostic.help("end the `atomic` block before it"));
        Vec::new()
    }

    fn atomic_for(
        &mut self,
        (variable, range, body): (&'a ast::Ident, &'a ast::Range, &'a Block),
        scope: &Scope<'a>,
    ) -> Option<StmtKind> {
        let ranged = self.ranged(range, scope);
        self.warn_hidden(variable, scope);
        let Some(ranged) = ranged else {
            self.atomic(body, &scope.with(variable, Meaning::Anything));
            return None;
        };
        let depth = self.binders.len();
        let binding = self.push_binder(variable, &ranged);
        let inner = scope.with(variable, Meaning::Bound(binding.var, ranged.ty));
        self.check_instances(range.span);
        let body = self.atomic(body, &inner);
        self.binders.truncate(depth);
        Some(StmtKind::For(binding, body))
    }

    fn assignment(
        &mut self,
        targets: &'a [ast::Expr],
        values: &'a [Assigned],
        scope: &Scope<'a>,
        span: Span,
    ) -> Vec<Stmt> {
        let mut stores: Vec<(Access, Expr)> = Vec::new();
        let mut free: Vec<(Access, Option<(Expr, Expr)>)> = Vec::new();
        let mut is_wrong = false;
        for (target, value) in targets.iter().zip(values) {
            let place = self.assigned_place(target, scope);
            is_wrong |= place.is_none();
            match value {
                Assigned::Value(value) => {
                    let want = place.as_ref().map(|(_, target)| Ty::of(target.ty));
                    let typed = self.value(value, scope, want);
                    let Some((access, target)) = place else { continue };
                    stores.push((access, self.need_stored(typed, &target)));
                }
                Assigned::First(span) => {
                    let Some((access, target)) = place else { continue };
                    if let Some(first) = target.ty.first_value(self.model.type_context()) {
                        stores.push((access, Expr { kind: ExprKind::Const(first), span: *span }));
                    }
                }
                Assigned::Any { range, .. } => {
                    let range = range.as_ref().map(|range| self.any_range(range, scope));
                    let Some((access, target)) = place else { continue };
                    if range.is_some() && !is_numeric(target.ty) {
                        let message = format!("`any` with a range is for numbers, and {} is none", target.what);
                        self.report(
                            Diagnostic::error(code::WRONG_TYPE, value_span(value), message).help("write `any` alone"),
                        );
                    }
                    free.push((access, range));
                }
            }
        }
        match is_wrong {
            true => Vec::new(),
            false => self.stores(stores, free, span),
        }
    }

    /// A simultaneous assignment as statements in sequence: those with `any` come where they change nothing that the
    /// others look at.
    fn stores(
        &mut self,
        stores: Vec<(Access, Expr)>,
        free: Vec<(Access, Option<(Expr, Expr)>)>,
        span: Span,
    ) -> Vec<Stmt> {
        self.report_same_target(stores.iter().map(|(access, _)| access).chain(free.iter().map(|(access, _)| access)));
        let changed_by_stores: Vec<VarId> = stores.iter().map(|(access, _)| access.var).collect();
        let changed_by_any: Vec<VarId> = free.iter().map(|(access, _)| access.var).collect();
        let looks_at = |(access, range): &(Access, Option<(Expr, Expr)>), changed: &[VarId]| {
            let bounds = range.iter().flat_map(|(lo, hi)| [lo, hi]);
            access.indices.iter().chain(bounds).any(|expr| reads_any(expr, changed))
        };
        let any_sees_stores = free.iter().any(|one| looks_at(one, &changed_by_stores));
        let any_sees_any = free.len() > 1 && free.iter().any(|one| looks_at(one, &changed_by_any));
        let stores_see_any = stores
            .iter()
            .any(|(access, value)| access.indices.iter().chain([value]).any(|expr| reads_any(expr, &changed_by_any)));
        if any_sees_any || any_sees_stores && stores_see_any {
            let message = "this mixes `any` with values that depend on each other";
            let help = "write an `atomic` block that does one after the other";
            self.report(Diagnostic::error(code::TANGLED_ANY, span, message).help(help));
        }
        let assign = (!stores.is_empty()).then_some(Stmt { kind: StmtKind::Assign(stores), span });
        let any = free.into_iter().map(|(access, range)| Stmt { kind: StmtKind::AssignAny(access, range), span });
        match any_sees_stores {
            true => any.chain(assign).collect(),
            false => assign.into_iter().chain(any).collect(),
        }
    }

    fn report_same_target<'x>(&mut self, targets: impl Iterator<Item = &'x Access>) {
        let mut whole: Vec<&Access> = Vec::new();
        for access in targets.filter(|access| access.indices.is_empty()) {
            if let Some(first) = whole.iter().find(|other| other.var == access.var) {
                let name = &self.model.vars[access.var].name;
                let diagnostic = Diagnostic::error(
                    code::NOT_ASSIGNABLE,
                    access.span,
                    format!("`{name}` is assigned twice in one step"),
                );
                self.report(diagnostic.note(first.span, "first here"));
            }
            whole.push(access);
        }
    }

    fn any_range(&mut self, range: &'a ast::Range, scope: &Scope<'a>) -> (Expr, Expr) {
        let (lo, hi) = (self.number(&range.low, scope), self.number(&range.high, scope));
        (lo, self.last_of(hi, range))
    }

    /// What an assignment writes; reports what cannot be assigned.
    pub fn assigned_place(&mut self, target: &'a ast::Expr, scope: &Scope<'a>) -> Option<(Access, Target)> {
        let variable = self.own_variable(target, scope)?;
        if !self.is_whole_scalar(&variable) {
            return None;
        }
        let var = &self.model.vars[variable.var];
        let ty = var.ty.scalar();
        if let ScalarType::Semaphore { .. } | ScalarType::Lock = ty {
            let what = if ty == ScalarType::Lock { "a lock" } else { "a semaphore" };
            let message = format!("`{}` is {what}: only `acquire` and `release` change it", var.name);
            let diagnostic =
                Diagnostic::error(code::LOCK_ASSIGNED, target.span, message).note(var.span, "declared here");
            self.report(diagnostic);
            return None;
        }
        let target = Target { ty, what: format!("`{}`", var.name), declared: var.span };
        Some((variable.access(), target))
    }

    fn lock_target(&mut self, target: &'a ast::Expr, scope: &Scope<'a>) -> Option<Access> {
        let variable = self.own_variable(target, scope)?;
        let var = &self.model.vars[variable.var];
        if !matches!(var.ty.scalar(), ScalarType::Semaphore { .. } | ScalarType::Lock) {
            let message = format!("`{}` is neither a lock nor a semaphore", var.name);
            let spelled = self.spell(var.ty.scalar());
            let help =
                format!("declare it as `{0}: lock`, or `{0}: sem = 1` for a counter that starts with 1", var.name);
            let diagnostic = Diagnostic::error(code::NOT_A_LOCK, target.span, message).help(help);
            self.report(diagnostic.note(self.model.vars[variable.var].span, format!("declared here as `{spelled}`")));
            return None;
        }
        self.is_whole_scalar(&variable).then(|| variable.access())
    }

    /// A variable that the process at hand may change.
    fn own_variable(&mut self, target: &'a ast::Expr, scope: &Scope<'a>) -> Option<VariablePath> {
        let diagnostic = match self.path(target, scope, None) {
            Path::Poison => return None,
            Path::Variable(variable) => {
                let var = &self.model.vars[variable.var];
                if matches!(var.role, Role::Counter(_)) {
                    let message = format!("`{}` is the variable of a `for`, which is a constant inside", var.name);
                    Diagnostic::error(code::NOT_ASSIGNABLE, target.span, message).note(var.span, "declared here")
                } else if matches!(variable.whose, Whose::Of(_)) {
                    let message = format!("`{}` is public: only its own process writes it", var.name);
                    let help =
                        "make it `shared` if several processes write it, an array with an element for each process";
                    Diagnostic::error(code::FOREIGN_PUBLIC_WRITTEN, target.span, message)
                        .note(var.span, "declared here")
                        .help(help)
                } else {
                    return Some(variable);
                }
            }
            Path::Value(typed) if typed.ty == Ty::Poison => return None,
            Path::Value(typed) if matches!(typed.expr.kind, ExprKind::Myself) => {
                let message = format!("`{}` is the index of this process, which never changes", self.text(target.span));
                Diagnostic::error(code::NOT_ASSIGNABLE, target.span, message)
            }
            _ => {
                let message = format!("`{}` is no variable, and cannot be changed", self.text(target.span));
                Diagnostic::error(code::NOT_ASSIGNABLE, target.span, message)
            }
        };
        self.report(diagnostic);
        None
    }
}

fn is_numeric(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Range { .. } | ScalarType::Pid(_) | ScalarType::PidOrNone(_))
}

fn value_span(value: &Assigned) -> Span {
    match value {
        Assigned::Value(expr) => expr.span,
        Assigned::Any { span, .. } | Assigned::First(span) => *span,
    }
}
