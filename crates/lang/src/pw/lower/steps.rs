//! The steps of a text: what happens at each point at which a process stands.

use std::collections::HashMap;

use base::{Diagnostic, Span};
use model::control::{
    ActionKind, ChannelId, ProcedureId, ReceivePattern, Statement as ModelStatement, StatementId, Stmt, StmtKind, Sync,
    SyncSide, TextOwner as TextScope,
};
use model::expr::{Access, BinaryOp, Expr, ExprKind};
use model::types::ScalarType;
use model::value::Value;

use super::points::{Graph, PointId, PointKind};
use crate::codes::check as code;
use crate::pw::ast::{self, Ident, Statement, StatementKind};
use crate::pw::check::{Checker, Scope, Symbol, Target, Ty, Typed};

/// What happens at a point.
pub(super) enum Prepared {
    /// One step.
    Step {
        /// The statement.
        statement: StatementId,
        /// What must hold before.
        guard: Option<Expr>,
        /// What is done.
        body: Vec<Stmt>,
        /// What kind of step it is.
        kind: ActionKind,
        /// The rendezvous that it needs.
        sync: Option<Sync>,
    },
    /// A test, which is a step whatever comes of it.
    Test(StatementId, Expr),
}

/// A call that stands in a text.
pub(super) struct CallSite {
    /// Whose text.
    pub from: TextScope,
    /// What is called.
    pub procedure: ProcedureId,
    /// Where.
    pub span: Span,
}

/// The longest text that is shown for an `atomic` block as a whole.
const MAX_BLOCK_TEXT: usize = 60;

/// Checks all statements of a text, in the order of the text, reached or not.
pub(super) fn prepare<'a>(
    checker: &mut Checker<'a>,
    graph: &Graph<'a>,
    calls: &mut Vec<CallSite>,
) -> HashMap<PointId<'a>, Prepared> {
    let mut ids: Vec<PointId<'a>> = graph.points.ids().collect();
    ids.sort_by_key(|&id| graph.points[id].span);
    let mut prepared = HashMap::new();
    for id in ids {
        let point = &graph.points[id];
        let ready = checker.standing(super::standpoint(graph.text), |checker| match &point.kind {
            PointKind::Step(statement) => Some(checker.step(statement, &point.scope, graph.text, calls)),
            PointKind::Test { statement, condition, .. } => {
                let test = checker.condition(condition, &point.scope);
                Some(Prepared::Test(checker.push_statement(statement), test))
            }
            _ => None,
        });
        prepared.extend(ready.map(|ready| (id, ready)));
    }
    prepared
}

impl<'a> Checker<'a> {
    fn step(
        &mut self,
        statement: &'a Statement,
        scope: &Scope<'a>,
        text: TextScope,
        calls: &mut Vec<CallSite>,
    ) -> Prepared {
        if let StatementKind::Send { .. } | StatementKind::Receive { .. } = &statement.kind {
            let sync = self.rendezvous(statement, scope);
            let statement = self.push_statement(statement);
            return Prepared::Step { statement, guard: None, body: Vec::new(), kind: ActionKind::Plain, sync };
        }
        let (body, kind) = match &statement.kind {
            StatementKind::Idle => (Vec::new(), ActionKind::Idle),
            StatementKind::Call { target, procedure, arguments } => {
                let kind = self.call((target.as_ref(), procedure, arguments), scope);
                if let Some(ActionKind::Call { procedure: called, .. }) = &kind {
                    calls.push(CallSite { from: text, procedure: *called, span: procedure.span });
                }
                (Vec::new(), kind.unwrap_or(ActionKind::Plain))
            }
            StatementKind::Return(value) => (Vec::new(), self.return_from(text, value.as_ref(), statement.span, scope)),
            _ => (self.within_step(statement, scope), ActionKind::Plain),
        };
        let (guard, body) = self.split_guard(body);
        Prepared::Step { statement: self.push_statement(statement), guard, body, kind, sync: None }
    }

    /// One side of a rendezvous.
    fn rendezvous(&mut self, statement: &'a Statement, scope: &Scope<'a>) -> Option<Sync> {
        match &statement.kind {
            StatementKind::Send { channel, values } => {
                let (channel, types) = self.channel_named(channel)?;
                let mut sent = Vec::new();
                for (value, &ty) in values.iter().zip(&types) {
                    sent.push(self.passed(value, ty, channel, scope));
                }
                Some(Sync { channel, side: SyncSide::Send(sent) })
            }
            StatementKind::Receive { channel, patterns, .. } => {
                let (channel, types) = self.channel_named(channel)?;
                let mut received = Vec::new();
                for (pattern, &ty) in patterns.iter().zip(&types) {
                    received.push(match pattern {
                        // Elaboration leaves no struct.
                        ast::Pattern::Ignored(_) | ast::Pattern::Struct { .. } => ReceivePattern::Ignored,
                        ast::Pattern::Equal(value) => ReceivePattern::Equal(self.passed(value, ty, channel, scope)),
                        ast::Pattern::Into(target) => {
                            let (access, target) = self.assigned_place(target, scope)?;
                            let content = Expr { kind: ExprKind::Const(Value::None), span: access.span };
                            let content = self.need_stored(Typed { expr: content.clone(), ty: Ty::of(ty) }, &target);
                            // What would have to be converted on the way is refused.
                            if !matches!(content.kind, ExprKind::Const(_)) {
                                let message = format!("{} has another type than what is received", target.what);
                                self.report(Diagnostic::error(code::WRONG_TYPE, access.span, message));
                            }
                            ReceivePattern::Into(access)
                        }
                    });
                }
                Some(Sync { channel, side: SyncSide::Receive(received) })
            }
            _ => None,
        }
    }

    fn channel_named(&mut self, channel: &ast::Expr) -> Option<(ChannelId, Vec<ScalarType>)> {
        let ast::ExprKind::Name(name) = &channel.kind else { return None };
        let Some(&(Symbol::Channel(id), _)) = self.symbols.names.get(&*name.name) else { return None };
        Some((id, self.symbols.channels[id.index()].clone()?))
    }

    /// A value that is passed on a channel.
    fn passed(&mut self, value: &'a ast::Expr, ty: ScalarType, channel: ChannelId, scope: &Scope<'a>) -> Expr {
        let declared = &self.model.channels[channel];
        let target = Target { ty, what: format!("this part of `{}`", declared.name), declared: declared.span };
        let typed = self.value(value, scope, Some(Ty::of(ty)));
        self.need_stored(typed, &target)
    }

    /// The leading `await`s of a step are its guard: they see the state before the step.
    fn split_guard(&mut self, body: Vec<Stmt>) -> (Option<Expr>, Vec<Stmt>) {
        let mut guard: Option<Expr> = None;
        let mut rest = body.into_iter().peekable();
        while let Some(Stmt { kind: StmtKind::Await(_), .. }) = rest.peek() {
            let Some(Stmt { kind: StmtKind::Await(test), .. }) = rest.next() else { break };
            guard = Some(match guard {
                None => test,
                Some(before) => {
                    let span = before.span.to(test.span);
                    self.operation(BinaryOp::And, before, test, span)
                }
            });
        }
        (guard, rest.collect())
    }

    fn push_statement(&mut self, statement: &Statement) -> StatementId {
        let text = self.statement_text(statement);
        self.model.statements.push(ModelStatement { text, span: statement.span })
    }

    /// A statement on one line, shortened if it has blocks.
    pub(super) fn statement_text(&self, statement: &Statement) -> String {
        match &statement.kind {
            StatementKind::If { condition, .. } => format!("if {}", self.text(condition.span)),
            StatementKind::While { condition, .. } => format!("while {}", self.text(condition.span)),
            StatementKind::Either { .. } => "either".into(),
            StatementKind::Atomic(_) => {
                let whole = self.text(statement.span).trim_end_matches(';').trim_end().to_string();
                // Elaboration makes one step of `some …` and of what is done to channels; a `cas` ends with its test.
                let head = whole.split_once('{').map_or(whole.as_str(), |(head, _)| head.trim_end());
                match head.starts_with("if ") {
                    true => head.to_owned(),
                    false if whole.chars().count() <= MAX_BLOCK_TEXT => whole,
                    false if head == whole => whole,
                    false => format!("{head} {{ … }}"),
                }
            }
            _ => self.text(statement.span).trim_end_matches(';').trim_end().to_string(),
        }
    }

    fn call(
        &mut self,
        (target, name, arguments): (Option<&'a ast::Expr>, &'a Ident, &'a [ast::Expr]),
        scope: &Scope<'a>,
    ) -> Option<ActionKind> {
        let place = target.map(|target| self.assigned_place(target, scope));
        let Some(procedure) = self.procedure_named(name) else {
            for argument in arguments {
                self.value(argument, scope, None);
            }
            return None;
        };
        let arguments = self.arguments(procedure, name, arguments, scope);
        let result = match place {
            None => None,
            Some(place) => Some(self.result_place(procedure, name, place?)?),
        };
        Some(ActionKind::Call { procedure, arguments: arguments?, result, entry: None, site: None })
    }

    fn procedure_named(&mut self, name: &'a Ident) -> Option<ProcedureId> {
        let found = self.symbols.names.get(&*name.name).map(|&(symbol, _)| symbol);
        if let Some(Symbol::Procedure(id)) = found {
            return Some(id);
        }
        let message = format!("there is no procedure `{}`", name.name);
        let diagnostic = Diagnostic::error(code::UNKNOWN_PROCEDURE, name.span, message);
        let known = self.model.procedures.iter().map(|procedure| procedure.name.as_str());
        self.report(match found {
            Some(Symbol::Define(_)) => {
                diagnostic.help("a definition is no procedure: use it in an expression, without `call`")
            }
            _ => self.with_nearest(diagnostic, name, known),
        });
        None
    }

    fn arguments(
        &mut self,
        procedure: ProcedureId,
        name: &'a Ident,
        arguments: &'a [ast::Expr],
        scope: &Scope<'a>,
    ) -> Option<Vec<Expr>> {
        let (wants, has) = (self.model.procedures[procedure].n_parameters, arguments.len());
        let parameters = self.model.procedures[procedure].vars.clone();
        if wants != has {
            let declared = self.model.procedures[procedure].span;
            let message = format!(
                "`{}` takes {wants} argument{}, but {has} {} given",
                name.name,
                if wants == 1 { "" } else { "s" },
                if has == 1 { "is" } else { "are" }
            );
            self.report(Diagnostic::error(code::CALL_MISMATCH, name.span, message).note(declared, "declared here"));
        }
        let mut passed = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            // A parameter whose type is wrong is missing from the procedure's variables; then nothing fits for sure.
            let parameter = parameters.get(at).filter(|_| parameters.len() >= wants && at < wants);
            let target = parameter.map(|&parameter| {
                let var = &self.model.vars[parameter];
                let what = format!("parameter `{}` of `{}`", var.name, name.name);
                Target { ty: var.ty.scalar(), what, declared: var.span }
            });
            let typed = self.value(argument, scope, target.as_ref().map(|target| Ty::of(target.ty)));
            if let Some(target) = target {
                passed.push(self.need_stored(typed, &target));
            }
        }
        (wants == has).then_some(passed)
    }

    /// Where the result of a call goes: it is stored as it is, so the types must be of one kind.
    fn result_place(
        &mut self,
        procedure: ProcedureId,
        name: &'a Ident,
        (access, target): (Access, Target),
    ) -> Option<Access> {
        let declared = self.model.procedures[procedure].span;
        let Some(result) = self.model.procedures[procedure].result else {
            if !self.symbols.procedure(procedure).has_result {
                let message = format!("`{}` has no result", name.name);
                self.report(Diagnostic::error(code::CALL_MISMATCH, name.span, message).note(declared, "declared here"));
            }
            return None;
        };
        if !are_alike(result, target.ty) {
            let (gives, holds) = (self.spell(result), self.spell(target.ty));
            let message = format!("`{}` gives `{gives}`, but {} has type `{holds}`", name.name, target.what);
            let diagnostic =
                Diagnostic::error(code::WRONG_TYPE, name.span, message).note(target.declared, "declared here");
            self.report(diagnostic);
            return None;
        }
        Some(access)
    }

    fn return_from(
        &mut self,
        text: TextScope,
        value: Option<&'a ast::Expr>,
        span: Span,
        scope: &Scope<'a>,
    ) -> ActionKind {
        let TextScope::Procedure(id) = text else {
            let diagnostic = Diagnostic::error(code::OUTSIDE_PROCEDURE, span, "`return` stands outside any procedure");
            self.report(
                diagnostic.help("a process ends by running off its end; to get there, leave its loops with `break`"),
            );
            return ActionKind::Plain;
        };
        let procedure = &self.model.procedures[id];
        let (name, declared, result) = (procedure.name.clone(), procedure.span, procedure.result);
        match (value, self.symbols.procedure(id).has_result) {
            (None, false) => ActionKind::Return { value: None },
            (None, true) => {
                let message = format!("`{name}` has a result: say which, as in `return 0;`");
                self.report(Diagnostic::error(code::CALL_MISMATCH, span, message).note(declared, "declared here"));
                ActionKind::Return { value: None }
            }
            (Some(value), false) => {
                self.value(value, scope, None);
                let message = format!("`{name}` has no result to return");
                let diagnostic =
                    Diagnostic::error(code::CALL_MISMATCH, value.span, message).note(declared, "declared here");
                self.report(diagnostic.help("declare it with a result type, as in `proc f() -> bool`"));
                ActionKind::Return { value: None }
            }
            (Some(value), true) => {
                let typed = self.value(value, scope, result.map(Ty::of));
                let target = result.map(|ty| Target { ty, what: format!("the result of `{name}`"), declared });
                let value = target.map(|target| self.need_stored(typed, &target));
                ActionKind::Return { value }
            }
        }
    }
}

/// Whether values of one type may be stored in another without a conversion.
fn are_alike(from: ScalarType, to: ScalarType) -> bool {
    use ScalarType::*;
    match (from, to) {
        (Bool, Bool) | (Range { .. }, Range { .. }) => true,
        (Enum(a), Enum(b)) => a == b,
        (Pid(a) | PidOrNone(a), Pid(b) | PidOrNone(b)) => a == b,
        _ => false,
    }
}
