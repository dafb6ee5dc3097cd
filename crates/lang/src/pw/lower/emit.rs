//! Points to places and actions of the Model.
//!
//! In: the points of a text and what happens at each. Out: a place for each point at which a process can stand, the actions
//! that leave it, and where control goes after each of them. Done in two rounds: the places of all texts come first, so that
//! expressions can speak of them; then the statements are checked, and the actions are made.

use std::collections::HashMap;

use base::{Diagnostic, Span};
use model::control::{
    Action, ActionId, ActionKind, Next, Place, PlaceId, Statement as ModelStatement, StatementId,
    TextOwner as TextScope,
};
use model::expr::{Expr, ExprKind};

use super::points::{Graph, PointId, PointKind};
use super::silent::{Leaf, LeafStep};
use super::steps::Prepared;
use crate::codes::check as code;
use crate::pw::check::Checker;

/// How many places a program may have, one for each copy of a loop's body.
const MAX_PLACES: i64 = 1_000_000;

/// How many loops that may be empty may follow each other.
const MAX_SKIPS: usize = 200;

/// A text whose places are made.
pub(super) struct PlacedText<'a> {
    /// Its points.
    pub graph: Graph<'a>,
    /// The place of each point at which a process can stand.
    pub places: HashMap<PointId<'a>, PlaceId>,
    /// Whether control surely takes a step again and again; otherwise that is reported, and there are no actions.
    pub takes_steps: bool,
}

/// Makes the places of a text.
pub(super) fn place<'a>(checker: &mut Checker<'a>, graph: Graph<'a>) -> PlacedText<'a> {
    let circle = graph.stepless_circle();
    let takes_steps = circle.is_none();
    match circle {
        Some(diagnostic) => checker.report(diagnostic),
        None => warn_unreached(checker, &graph),
    }
    let mut places = HashMap::new();
    let mut n_copies: i64 = 0;
    for id in graph.standing_points() {
        let point = &graph.points[id];
        let mut labels: Vec<String> = Vec::new();
        let carried = graph.leaves(id).into_iter().flat_map(|leaf| leaf.labels);
        for label in point.labels.iter().copied().chain(carried) {
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_string());
            }
        }
        let at = checker.source.line_col(point.span.start);
        // The label of one branch among others without is no name for where the choice is made.
        let by_column = format!("{}:{}", at.line, at.col);
        let is_named = !point.labels.is_empty() || graph.leaves(id).iter().all(|leaf| !leaf.labels.is_empty());
        let name = labels.first().filter(|_| is_named).unwrap_or(&by_column).clone();
        let (scope, span) = (graph.text, point.span);
        let may_end = labels.iter().any(|label| graph.ends.contains(label.as_str()));
        let place = Place { scope, labels: labels.clone(), name, actions: Vec::new(), may_end, span };
        let place = checker.model.places.push(place);
        // What proofs say of places without a label can be written into the program.
        let by_line = labels.is_empty().then(|| at.line.to_string());
        for label in labels.into_iter().chain(by_line).chain([by_column]) {
            checker.symbols.label_places.entry((graph.text, label)).or_default().push(place);
        }
        places.insert(id, place);
        n_copies = n_copies.saturating_add(copies(&graph, id));
    }
    if n_copies > MAX_PLACES {
        let message =
            format!("with a copy of each loop's body for each value, this text has more than {MAX_PLACES} places");
        let span = graph.points[graph.entry].block;
        let start = Span { start: span.start, end: span.start + 1 };
        checker.report(
            Diagnostic::error(code::TOO_MANY_COPIES, start, message)
                .help("use smaller ranges, or `while` with a counter"),
        );
    }
    PlacedText { graph, places, takes_steps }
}

/// How many copies of a point the loops around it make.
fn copies<'a>(graph: &Graph<'a>, id: PointId<'a>) -> i64 {
    graph.points[id].loops.iter().fold(1, |product: i64, id| product.saturating_mul(graph.loop_sizes[id]))
}

fn warn_unreached<'a>(checker: &mut Checker<'a>, graph: &Graph<'a>) {
    for id in graph.unreached() {
        let warning = Diagnostic::warning(code::UNREACHED, graph.points[id].span, "this statement is never reached");
        checker.report(warning);
    }
    if let TextScope::Procedure(id) = graph.text
        && checker.symbols.procedure(id).has_result
        && graph.reached([graph.entry]).contains(&graph.end)
    {
        let message = format!("`{}` may end here without a result", checker.model.procedures[id].name);
        let warning = Diagnostic::warning(code::MISSING_RETURN, graph.points[graph.end].span, message);
        checker.report(warning.help("add a `return` with a value; getting here is an error of the program"));
    }
}

struct Emitter<'a, 'c> {
    checker: &'c mut Checker<'a>,
    text: &'c PlacedText<'a>,
    prepared: &'c HashMap<PointId<'a>, Prepared>,
}

/// Makes the actions of a text, and says where it starts and ends.
pub(super) fn emit<'a>(checker: &mut Checker<'a>, text: &PlacedText<'a>, prepared: &HashMap<PointId<'a>, Prepared>) {
    let mut emitter = Emitter { checker, text, prepared };
    let graph = &text.graph;
    for id in graph.standing_points() {
        for leaf in graph.leaves(id) {
            emitter.leaf(text.places[&id], leaf);
        }
    }
    for point in graph.points.iter() {
        if let PointKind::For(inner) = &point.kind {
            emitter.checker.model.loops[inner.id].body = emitter.next(inner.body);
        }
    }
    let entry = emitter.next(graph.entry);
    let end = text.places[&graph.end];
    match graph.text {
        TextScope::Family(id) => {
            checker.model.families[id].entry = entry;
            checker.model.families[id].end = end;
        }
        TextScope::Procedure(id) => {
            checker.model.procedures[id].entry = entry;
            emitter_return(checker, text, end);
        }
    }
}

/// Running off a procedure's end is a return.
fn emitter_return<'a>(checker: &mut Checker<'a>, text: &PlacedText<'a>, end: PlaceId) {
    let span = text.graph.points[text.graph.end].span;
    let statement = checker.model.statements.push(ModelStatement { text: "return".into(), span });
    let kind = ActionKind::Return { value: None };
    let action = Action {
        scope: text.graph.text,
        source: end,
        statement,
        labels: Vec::new(),
        guard: None,
        sync: None,
        body: Vec::new(),
        kind,
        next: Next::To(end),
        goes_on: false,
        when_nobody: false,
    };
    push_action(checker, action);
}

fn push_action(checker: &mut Checker<'_>, action: Action) -> ActionId {
    let source = action.source;
    let id = checker.model.actions.push(action);
    checker.model.places[source].actions.push(id);
    id
}

impl<'a> Emitter<'a, '_> {
    fn leaf(&mut self, source: PlaceId, leaf: Leaf<'a>) {
        let labels: Vec<String> = leaf.labels.iter().map(|label| label.to_string()).collect();
        let graph = &self.text.graph;
        match leaf.step {
            LeafStep::Silent(from) => {
                let (text, span) = match &graph.points[from].kind {
                    PointKind::Jump(statement, _) => (self.checker.statement_text(statement), statement.span),
                    _ => ("skip".into(), graph.points[from].span),
                };
                self.silent(source, labels, (text, span), from);
            }
            LeafStep::Empty(choice) => {
                let point = &graph.points[choice];
                let first_word = Span { start: point.span.start, end: point.span.start };
                self.silent(source, labels, ("skip".into(), first_word), point.after);
            }
            LeafStep::At(id) => match &self.prepared[&id] {
                Prepared::Step { statement, guard, body, kind, sync } => {
                    let next = match kind {
                        ActionKind::Return { .. } => Next::To(source),
                        _ => self.next(graph.points[id].after),
                    };
                    let action = Action {
                        guard: guard.clone(),
                        sync: sync.clone(),
                        body: body.clone(),
                        kind: kind.clone(),
                        next,
                        ..self.plain(source, *statement, labels)
                    };
                    push_action(self.checker, action);
                }
                Prepared::Test(statement, test) => self.test(source, labels, (*statement, test), id),
            },
        }
    }

    /// A test is two actions: one where it holds, one where it does not.
    fn test(&mut self, source: PlaceId, labels: Vec<String>, (statement, test): (StatementId, &Expr), id: PointId<'a>) {
        let PointKind::Test { yes, no, .. } = self.text.graph.points[id].kind else { return };
        let fails = Expr { kind: ExprKind::Not(Box::new(test.clone())), span: test.span };
        for (guard, to) in [(test.clone(), yes), (fails, no)] {
            let next = self.next(to);
            let action = Action { guard: Some(guard), next, ..self.plain(source, statement, labels.clone()) };
            push_action(self.checker, action);
        }
    }

    fn silent(&mut self, source: PlaceId, labels: Vec<String>, (text, span): (String, Span), to: PointId<'a>) {
        let statement = self.checker.model.statements.push(ModelStatement { text, span });
        let next = self.next(to);
        let action = Action { next, ..self.plain(source, statement, labels) };
        push_action(self.checker, action);
    }

    fn plain(&self, source: PlaceId, statement: StatementId, labels: Vec<String>) -> Action {
        Action {
            scope: self.text.graph.text,
            source,
            statement,
            labels,
            guard: None,
            sync: None,
            body: Vec::new(),
            kind: ActionKind::Plain,
            next: Next::To(source),
            goes_on: false,
            when_nobody: false,
        }
    }

    /// Where control goes that comes to a point. Points that are passed follow each other without circles, so this ends.
    fn next(&mut self, to: PointId<'a>) -> Next {
        self.next_within(to, MAX_SKIPS)
    }

    fn next_within(&mut self, to: PointId<'a>, limit: usize) -> Next {
        let graph = &self.text.graph;
        let point = &graph.points[to];
        let end = Next::To(self.text.places[&graph.end]);
        if limit == 0 {
            let message = format!("more than {MAX_SKIPS} loops that may be empty, or jumps, follow each other here");
            self.checker.report(
                Diagnostic::error(code::TOO_MANY_COPIES, point.span, message).help("put a `skip;` between them"),
            );
            return end;
        }
        match &point.kind {
            PointKind::Loop(body) => self.next_within(*body, limit - 1),
            PointKind::For(inner) => {
                // A loop that is surely entered is never skipped.
                let skip = match inner.is_nonempty {
                    true => graph.landing(inner.body).first().map_or(end, |first| self.stop(*first)),
                    false => self.next_within(point.after, limit - 1),
                };
                Next::Enter { enter: inner.id, skip: Box::new(skip) }
            }
            PointKind::Again(id, _) => {
                let done = Box::new(self.next_within(point.after, limit - 1));
                Next::Again { again: *id, done }
            }
            PointKind::Jump(_, Some(target)) => {
                let then = self.next_within(*target, limit - 1);
                let stays = graph.points[*target].loops.len();
                let loops = point.loops[stays..].to_vec();
                if loops.is_empty() { then } else { Next::Leave { loops, then: Box::new(then) } }
            }
            PointKind::Jump(_, None) => end,
            PointKind::Step(_) | PointKind::Test { .. } | PointKind::Either(_) | PointKind::End => self.stop(to),
        }
    }

    fn stop(&self, at: PointId<'a>) -> Next {
        // Every point that control stops at has a place; only a text with errors can lead elsewhere.
        let place = self.text.places.get(&at).copied();
        Next::To(place.unwrap_or(self.text.places[&self.text.graph.end]))
    }
}
