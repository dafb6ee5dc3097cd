//! Transitions to actions.
//!
//! The guard of an action is, in this order: nobody else stands at a committed location (unless this one does), the guards of
//! the text, and that the buffer is not full or not empty. The body is what a buffer does, then the effects one after the other.

use base::{Diagnostic, Span};
use model::control::{Action, ActionKind, Next, PlaceId, Statement, Stmt, StmtKind, TextOwner};
use model::expr::{Access, BinaryOp, Expr, ExprKind};
use model::process::ProcessId;
use model::value::Value;

use super::super::ast::{self, Target, Transition};
use super::super::lexer;
use super::channels::SyncPart;
use super::expressions::{Standpoint, binary};
use super::symbols::Symbol;
use super::{Lowering, constant};
use crate::codes::dve as code;

/// A longer transition is shortened where steps are shown.
const MAX_TEXT: usize = 100;

impl Lowering<'_> {
    /// The actions of all processes.
    pub fn all_transitions(&mut self) {
        let file = self.file;
        for (position, process) in file.processes.iter().enumerate() {
            if let Some(id) = self.symbols.processes[position].id {
                process.transitions.iter().for_each(|transition| self.transition(position, id, transition));
            }
        }
    }

    fn transition(&mut self, position: usize, me: ProcessId, transition: &Transition) {
        let source = self.location(position, &transition.source);
        let target = self.location(position, &transition.target);
        let standpoint = Standpoint::text_of(position);
        let guards: Vec<Expr> = transition.guards.iter().map(|guard| self.truth(guard, standpoint)).collect();
        let sync = match &transition.sync {
            Some(sync) => self.sync(sync, standpoint),
            None => Some(SyncPart::default()),
        };
        let standpoint = Standpoint { arrived: target.map(|target| (me, target)), ..standpoint };
        let effects: Vec<Option<Stmt>> =
            transition.effects.iter().map(|effect| self.effect(effect, standpoint)).collect();
        let (Some(source), Some(target), Some(SyncPart { condition, sync, mut body })) = (source, target, sync) else {
            return;
        };
        body.extend(effects.into_iter().flatten());
        let conditions =
            self.nobody_else_committed(source, me, transition.span).into_iter().chain(guards).chain(condition);
        let guard = conditions.reduce(|left, right| {
            let span = left.span.to(right.span);
            binary(BinaryOp::And, left, right, span)
        });
        let text = self.text_of(transition);
        let statement = self.model.statements.push(Statement { text, span: transition.span });
        let action = self.model.actions.push(Action {
            scope: TextOwner::Family(self.model.processes[me].family),
            source,
            statement,
            labels: vec![transition.source.text.clone()],
            guard,
            sync,
            body,
            kind: ActionKind::Plain,
            next: Next::To(target),
            goes_on: false,
            when_nobody: false,
        });
        self.model.places[source].actions.push(action);
    }

    /// While somebody stands at a committed location, only transitions from committed locations can be taken.
    fn nobody_else_committed(&self, source: PlaceId, me: ProcessId, span: Span) -> Vec<Expr> {
        if self.committed.iter().any(|(_, places)| places.contains(&source)) {
            return Vec::new();
        }
        let others = self.committed.iter().filter(|(process, _)| *process != me);
        let stands_elsewhere = |(process, places): &(ProcessId, Vec<PlaceId>)| {
            let who = Box::new(constant(Value::Process(*process), span));
            let labels = places.iter().map(|&place| self.model.places[place].name.clone()).collect();
            let at = Expr { kind: ExprKind::At { who, places: places.clone(), labels }, span };
            Expr { kind: ExprKind::Not(Box::new(at)), span }
        };
        others.map(stands_elsewhere).collect()
    }

    fn effect(&mut self, effect: &ast::Assignment, standpoint: Standpoint) -> Option<Stmt> {
        let target = self.target(&effect.target, standpoint);
        let value = self.number(&effect.value, standpoint);
        Some(Stmt { kind: StmtKind::Assign(vec![(target?, value)]), span: effect.span })
    }

    /// A cell that is written.
    pub fn target(&mut self, target: &Target, standpoint: Standpoint) -> Option<Access> {
        let message = match self.look_up(standpoint.process, &target.name) {
            Symbol::Variable(variable) if !variable.is_const => {
                return self.access(&variable, &target.name, target.index.as_ref(), (standpoint, target.span), None);
            }
            Symbol::Broken => return None,
            Symbol::Variable(_) | Symbol::Constant(_) => format!("`{}` is a constant", target.name.text),
            _ => format!("`{}` is no variable", target.name.text),
        };
        self.report(Diagnostic::error(code::NOT_ASSIGNABLE, target.name.span, message));
        None
    }

    /// The transition on one line, without comments.
    fn text_of(&self, transition: &Transition) -> String {
        let text = self.source.slice(transition.span);
        let (tokens, _) = lexer::tokens(text);
        let mut line = String::new();
        let mut end = 0;
        for token in tokens {
            if !line.is_empty() && token.span.start > end && !text[token.span.range()].is_empty() {
                line.push(' ');
            }
            line.push_str(&text[token.span.range()]);
            end = token.span.end;
        }
        if line.starts_with("->") {
            line = format!("{} {line}", transition.source.text);
        }
        if line.chars().count() > MAX_TEXT {
            line = line.chars().take(MAX_TEXT - 1).chain(['…']).collect();
        }
        line
    }
}
