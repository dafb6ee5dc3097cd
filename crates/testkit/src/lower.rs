//! From the statements of a draft to places and actions.
//!
//! Each text is walked from its end to its start: a statement is given what follows it and gives where it starts. Branches of
//! `either` are joined to one place by copying the actions of the places where they start.

use base::{IdVec, Span};
use model::Model;
use model::control::{Action, ActionId, ActionKind, Next, Place, PlaceId, Statement, StatementId, TextOwner};
use model::expr::Expr;

use crate::draft::Draft;
use crate::expr::not;
use crate::resolve::resolve_labels;
use crate::text::{StepText, TextStatement};
use crate::write;

impl Draft {
    /// The finished Model, laid out.
    pub fn finish(&self) -> Model {
        let mut model = self.model.clone();
        model.places = IdVec::new();
        for (family, text) in self.model.families.ids().zip(&self.family_texts) {
            let mut lowering =
                DraftLowering { model: &mut model, scope: TextOwner::Family(family), around: Vec::new() };
            let end = lowering.place(Vec::new(), "end");
            let entry = lowering.sequence(text, Next::To(end));
            (model.families[family].entry, model.families[family].end) = (entry, end);
        }
        for (procedure, text) in self.model.procedures.ids().zip(&self.procedure_texts) {
            let scope = TextOwner::Procedure(procedure);
            let mut lowering = DraftLowering { model: &mut model, scope, around: Vec::new() };
            let end = lowering.place(Vec::new(), "end");
            let statement = lowering.statement("}".to_string());
            let ret = StepText {
                label: None,
                guard: None,
                sync: None,
                body: Vec::new(),
                kind: ActionKind::Return { value: None },
            };
            lowering.action(end, statement, &ret, Next::To(end));
            let entry = lowering.sequence(text, Next::To(end));
            model.procedures[procedure].entry = entry;
        }
        resolve_labels(&mut model);
        model.lay_out();
        model
    }
}

/// Where `break` and `continue` go from inside a loop.
struct LoopContext {
    break_to: Next,
    continue_to: Next,
}

struct DraftLowering<'m> {
    model: &'m mut Model,
    scope: TextOwner,
    /// The loops around the statement, innermost last.
    around: Vec<LoopContext>,
}

impl DraftLowering<'_> {
    fn sequence(&mut self, texts: &[TextStatement], after: Next) -> Next {
        texts.iter().rev().fold(after, |after, text| self.text(text, after))
    }

    fn text(&mut self, text: &TextStatement, after: Next) -> Next {
        match text {
            TextStatement::Step(step) => {
                let statement = self.statement(write::step(self.model, step));
                let place = self.place(step.label.clone().into_iter().collect(), "step");
                self.action(place, statement, step, after);
                Next::To(place)
            }
            TextStatement::If(label, test, yes, no) => {
                let (yes, no) = (self.sequence(yes, after.clone()), self.sequence(no, after));
                let place = self.place(label.clone().into_iter().collect(), "if");
                self.test(place, ("if", test), yes, no)
            }
            TextStatement::While(label, test, body) => {
                let place = self.place(label.clone().into_iter().collect(), "while");
                self.around.push(LoopContext { break_to: after.clone(), continue_to: Next::To(place) });
                let body = self.sequence(body, Next::To(place));
                self.around.pop();
                self.test(place, ("while", test), body, after)
            }
            TextStatement::Either(branches) => {
                let starts: Vec<Next> = branches.iter().map(|branch| self.sequence(branch, after.clone())).collect();
                let place = self.place(Vec::new(), "either");
                starts.iter().for_each(|start| self.join(place, start));
                Next::To(place)
            }
            TextStatement::Loop(body) => {
                let place = self.place(Vec::new(), "loop");
                self.around.push(LoopContext { break_to: after, continue_to: Next::To(place) });
                let start = self.sequence(body, Next::To(place));
                self.around.pop();
                self.replace(place, &start);
                start
            }
            TextStatement::For(id, body) => {
                let again = Next::Again { again: *id, done: Box::new(after.clone()) };
                let break_to = Next::Leave { loops: vec![*id], then: Box::new(after.clone()) };
                self.around.push(LoopContext { break_to, continue_to: again.clone() });
                let start = self.sequence(body, again);
                self.around.pop();
                self.model.loops[*id].body = start;
                Next::Enter { enter: *id, skip: Box::new(after) }
            }
            TextStatement::Break => self.around.last().expect("`break` stands in a loop").break_to.clone(),
            TextStatement::Continue => self.around.last().expect("`continue` stands in a loop").continue_to.clone(),
        }
    }

    /// The two actions of a test.
    fn test(&mut self, place: PlaceId, (word, test): (&str, &Expr), yes: Next, no: Next) -> Next {
        let statement = self.statement(format!("{word} {}", model::print::expr(self.model, test)));
        for (guard, next) in [(test.clone(), yes), (not(test.clone()), no)] {
            let label = self.model.places[place].labels.first().cloned();
            let step = StepText { label, guard: Some(guard), sync: None, body: Vec::new(), kind: ActionKind::Plain };
            self.action(place, statement, &step, next);
        }
        Next::To(place)
    }

    /// Lets the place of an `either` start as `start` does.
    fn join(&mut self, place: PlaceId, start: &Next) {
        let Next::To(first) = start else { panic!("a branch of a draft begins with a step") };
        let Place { labels, actions, .. } = self.model.places[*first].clone();
        for label in labels {
            if !self.model.places[place].labels.contains(&label) {
                self.model.places[place].name = label.clone();
                self.model.places[place].labels.push(label);
            }
        }
        for action in actions {
            let copy = Action { source: place, ..self.model.actions[action].clone() };
            let copy = self.model.actions.push(copy);
            self.model.places[place].actions.push(copy);
        }
    }

    /// Lets all that leads to a place, which was only a placeholder for the start of a loop, lead to that start.
    fn replace(&mut self, stand_in: PlaceId, start: &Next) {
        let Next::To(first) = start else { panic!("a draft's `loop` begins with a step") };
        let actions = self.model.actions.iter_mut().map(|action| &mut action.next);
        let loops = self.model.loops.iter_mut().map(|counted| &mut counted.body);
        actions.chain(loops).for_each(|next| redirect(next, stand_in, *first));
    }

    fn place(&mut self, labels: Vec<String>, kind: &str) -> PlaceId {
        let numbered = || if kind == "end" { kind.to_string() } else { format!("{kind}{}", self.model.places.len()) };
        let name = labels.first().cloned().unwrap_or_else(numbered);
        let span = Span::default();
        self.model.places.push(Place { scope: self.scope, labels, name, actions: Vec::new(), may_end: false, span })
    }

    fn statement(&mut self, text: String) -> StatementId {
        let at = self.model.statements.len();
        self.model.statements.push(Statement { text, span: Span::new(at, at + 1) })
    }

    fn action(&mut self, source: PlaceId, statement: StatementId, step: &StepText, next: Next) -> ActionId {
        let action = self.model.actions.push(Action {
            scope: self.scope,
            source,
            statement,
            labels: step.label.clone().into_iter().collect(),
            guard: step.guard.clone(),
            sync: step.sync.clone(),
            body: step.body.clone(),
            kind: step.kind.clone(),
            next,
            goes_on: false,
            when_nobody: false,
        });
        self.model.places[source].actions.push(action);
        action
    }
}

fn redirect(next: &mut Next, from: PlaceId, to: PlaceId) {
    match next {
        Next::To(place) if *place == from => *place = to,
        Next::To(_) => {}
        Next::Enter { skip: then, .. } | Next::Again { done: then, .. } | Next::Leave { then, .. } => {
            redirect(then, from, to);
        }
    }
}
