//! Properties: no run-time errors, asserts, the property process, goals.
//!
//! Deadlocks are no errors in DVE: models of puzzles and elections end in them. They are counted by `explore` and are no
//! question unless somebody asks it.

use base::{Diagnostic, Span};
use model::expr::{BinaryOp, Expr, ExprKind};
use model::fairness::{Assumptions, EdgePredicate, FairnessPair, StatePredicate};
use model::property::{Automaton, AutomatonEdge, AutomatonLocation, Expected, Formula, Property, PropertyKind};
use model::value::Value;

use super::super::Goal;
use super::super::ast::{self, Name};
use super::expressions::{Standpoint, binary};
use super::{Lowering, constant};
use crate::codes::dve as code;

impl Lowering<'_> {
    /// The questions that the file asks.
    pub fn questions(&mut self) {
        self.ask("no_errors".into(), PropertyKind::NoErrors, (String::new(), Span::default()));
        let file = self.file;
        for (position, process) in file.processes.iter().enumerate() {
            if self.symbols.processes[position].id.is_some() {
                process.asserts.iter().for_each(|assert| self.assert(position, assert));
            } else if self.is_property(process) {
                self.automaton(position, process);
            }
        }
    }

    /// Adds a goal: is there a reachable state in which it holds?
    pub fn goal(&mut self, goal: &Goal, expr: &ast::Expr) {
        let standpoint = Standpoint { is_elsewhere: true, ..Standpoint::question(None) };
        let condition = self.truth(expr, standpoint);
        let text = goal.source.text().split_whitespace().collect::<Vec<_>>().join(" ");
        self.ask(goal.name.clone(), PropertyKind::Reachable(condition), (text, Span::default()));
    }

    fn ask(&mut self, name: String, kind: PropertyKind, (text, span): (String, Span)) {
        let is_taken = |name: &str| self.model.properties.iter().any(|property| property.name == name);
        let mut free = name.clone();
        let mut n_same = 1;
        while is_taken(&free) {
            n_same += 1;
            free = format!("{name} {n_same}");
        }
        let under = match kind {
            PropertyKind::Temporal(_) => self.progress(),
            _ => Assumptions::none(),
        };
        let (expected, doc) = (Expected::Holds, String::new());
        self.model.properties.push(Property { name: free, kind, under, expected, text, doc, span });
    }

    /// In DVE only real steps count, and the last state goes on for ever where nobody can move.
    fn progress(&mut self) -> Assumptions {
        let often = vec![EdgePredicate::Before(StatePredicate::NobodyAble), EdgePredicate::SomebodyMoves];
        let pair = FairnessPair { owner: None, always: None, often, name: "progress".into(), span: Span::default() };
        Assumptions { any_of: vec![vec![self.model.fairness.push(pair)]] }
    }

    /// `assert l: e` is true of every state in which the process is not at `l`, or `e` holds.
    fn assert(&mut self, position: usize, assert: &ast::Assert) {
        let place = self.location(position, &assert.location);
        let condition = self.truth(&assert.condition, Standpoint::question(Some(position)));
        let (Some(place), Some(id)) = (place, self.symbols.processes[position].id) else { return };
        let who = Box::new(constant(Value::Process(id), assert.span));
        let labels = vec![assert.location.text.clone()];
        let at = Expr { kind: ExprKind::At { who, places: vec![place], labels }, span: assert.location.span };
        let holds = binary(BinaryOp::Implies, at, condition, assert.span);
        let process = &self.file.processes[position].name.text;
        let name = format!("assert {process}.{}", assert.location.text);
        let text = self.source.slice(assert.condition.span).split_whitespace().collect::<Vec<_>>().join(" ");
        self.ask(name, PropertyKind::Invariant(holds), (text, assert.span));
    }

    /// The property process: no run of the others is one that it accepts.
    fn automaton(&mut self, position: usize, process: &ast::Process) {
        for variable in &process.variables {
            self.not_supported(variable.name.span, "a property process has no variables of its own");
        }
        if let Some(committed) = process.committed.first() {
            self.not_supported(committed.span, "a property process has no committed locations");
        }
        for assert in &process.asserts {
            self.not_supported(assert.span, "a property process has no asserts");
        }
        self.check_location_names(process);
        let locations = process.locations.iter().map(|name| AutomatonLocation {
            name: name.text.clone(),
            accepting: process.accepting.iter().any(|accepting| accepting.text == name.text),
        });
        let locations: Vec<AutomatonLocation> = locations.collect();
        for accepting in &process.accepting {
            self.automaton_location(process, accepting);
        }
        let initial = self.the_initial(process).and_then(|name| self.automaton_location(process, name));
        let edges: Vec<Option<AutomatonEdge>> =
            process.transitions.iter().map(|edge| self.automaton_edge(position, process, edge)).collect();
        let (Some(initial), Some(edges)) = (initial, edges.into_iter().collect::<Option<Vec<_>>>()) else { return };
        let name = process.name.text.clone();
        let automaton = Automaton { name: name.clone(), locations, initial, edges };
        let kind = PropertyKind::Temporal(Formula::NeverAccepts(Box::new(automaton)));
        self.ask(name, kind, (String::new(), process.span));
    }

    fn check_location_names(&mut self, process: &ast::Process) {
        for (at, name) in process.locations.iter().enumerate() {
            if let Some(first) = process.locations[..at].iter().find(|first| first.text == name.text) {
                let message = format!("`{}` is a location already", name.text);
                let diagnostic = Diagnostic::error(code::DECLARED_TWICE, name.span, message);
                self.report(diagnostic.note(first.span, "declared here"));
            }
        }
    }

    fn automaton_location(&mut self, process: &ast::Process, name: &Name) -> Option<usize> {
        let found = process.locations.iter().position(|known| known.text == name.text);
        if found.is_none() {
            let known = process.locations.iter().map(|known| known.text.as_str());
            let near = base::diagnostic::nearest_name(&name.text, known).map(str::to_owned);
            self.unknown(name, format!("process `{}` has no location `{}`", process.name.text, name.text), near);
        }
        found
    }

    fn automaton_edge(
        &mut self,
        position: usize,
        process: &ast::Process,
        edge: &ast::Transition,
    ) -> Option<AutomatonEdge> {
        if let Some(sync) = &edge.sync {
            self.not_supported(sync.span, "a property process reads states and does not send or receive");
        }
        if let Some(effect) = edge.effects.first() {
            self.not_supported(effect.span, "a property process reads states and does not change them");
        }
        let source = self.automaton_location(process, &edge.source);
        let target = self.automaton_location(process, &edge.target);
        let standpoint = Standpoint::question(Some(position));
        let guards: Vec<Expr> = edge.guards.iter().map(|guard| self.truth(guard, standpoint)).collect();
        let guard = guards.into_iter().reduce(|left, right| {
            let span = left.span.to(right.span);
            binary(BinaryOp::And, left, right, span)
        });
        Some(AutomatonEdge { source: source?, target: target?, guard, span: edge.span })
    }
}
