//! Properties: assertions, invalid end states, `ltl`, `never`, `accept` and `progress` labels.

use base::{Diagnostic, Span};
use model::expr::{Expr as ModelExpr, ExprKind as ModelKind};
use model::fairness::{Assumptions, EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::property::{
    Automaton, AutomatonEdge, AutomatonLocation, BinaryTemporal, BooleanOp, Expected, Formula, Property, PropertyKind,
    UnaryTemporal,
};
use model::value::Value;

use super::super::ast::TemporalOp;
use super::super::graph::{self, Does, Graph, Style};
use super::super::program::{self, Claim, Op};
use super::Elaboration;
use super::terms::{self, any, not};
use crate::codes::promela as code;

impl Elaboration<'_> {
    /// All questions that the program asks.
    pub(super) fn questions(&mut self) {
        self.ask("no_errors", PropertyKind::NoErrors, (String::new(), Span::default()));
        self.ask("deadlock_free", PropertyKind::DeadlockFree, (String::new(), Span::default()));
        let claims = &self.setting.program.claims;
        for claim in claims {
            match claim {
                Claim::Ltl { name, formula, span } => {
                    let formula = self.formula(formula);
                    let text = self.claim_text(*span);
                    let span = self.span(*span);
                    self.ask(name, PropertyKind::Temporal(formula), (text, span));
                }
                Claim::Never { name, body, span } => self.never(name, body, *span),
            }
        }
        if !claims.iter().any(|claim| matches!(claim, Claim::Never { .. })) {
            let accepting = self.standing_at("accept");
            if let Some(accepting) = accepting {
                let often = always(eventually(Formula::Now(accepting)));
                let kind = PropertyKind::Temporal(Formula::Not(Box::new(often)));
                self.ask(
                    "no_acceptance_cycle",
                    kind,
                    ("not again and again at an `accept` label".into(), Span::default()),
                );
            }
        }
        if self.options.progress {
            let span = Span::default();
            let progressing = self.standing_at("progress").unwrap_or_else(|| terms::truth(false, span));
            let kind = PropertyKind::Temporal(always(eventually(Formula::Now(progressing))));
            self.ask("no_non_progress_cycle", kind, ("again and again at a `progress` label".into(), span));
            self.asks_only_of_cycles();
        }
    }

    /// A run that ends is no cycle: the last question is about runs in which somebody moves again and again.
    fn asks_only_of_cycles(&mut self) {
        let often = vec![EdgePredicate::SomebodyMoves];
        let pair = FairnessPair { owner: None, always: None, often, name: "goes on".into(), span: Span::default() };
        let pair = self.model.fairness.push(pair);
        let Some(last) = self.model.properties.iter_mut().last() else { return };
        last.under.any_of.iter_mut().for_each(|pairs| pairs.push(pair));
    }

    fn claim_text(&self, span: Span) -> String {
        let text = self.map.slice(span);
        let inside = text.split_once('{').map_or(text, |(_, inside)| inside).trim_end_matches('}');
        inside.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn ask(&mut self, name: &str, kind: PropertyKind, (text, span): (String, Span)) {
        let is_taken = |name: &str| self.model.properties.iter().any(|property| property.name == name);
        let mut free = name.to_owned();
        let mut n_same = 1;
        while is_taken(&free) {
            n_same += 1;
            free = format!("{name} {n_same}");
        }
        let under = match kind {
            PropertyKind::Temporal(_) => self.assumptions(),
            _ => Assumptions::none(),
        };
        let (expected, doc) = (Expected::Holds, String::new());
        self.model.properties.push(Property { name: free, kind, under, expected, text, doc, span });
    }

    /// Only real steps count, and the last state goes on for ever where nobody can move; with `--fair weak`, who is always able moves.
    fn assumptions(&mut self) -> Assumptions {
        if self.fairness.is_empty() {
            let often = vec![EdgePredicate::Before(StatePredicate::NobodyAble), EdgePredicate::SomebodyMoves];
            let pair =
                FairnessPair { owner: None, always: None, often, name: "progress".into(), span: Span::default() };
            self.fairness.push(self.model.fairness.push(pair));
            if self.options.is_fair || self.options.is_strongly_fair {
                for (id, process) in self.model.processes.entries() {
                    let unable = StatePredicate::Unable(id, Some(vec![super::OWN.to_owned()]));
                    let moves = EdgePredicate::Moves(id, None);
                    let (always, often, form) = match self.options.is_strongly_fair {
                        true => (Some(unable), vec![moves], "strong"),
                        false => (None, vec![EdgePredicate::Before(unable), moves], "weak"),
                    };
                    let name = format!("{form} {}", process.name);
                    let pair = FairnessPair { owner: Some(id), always, often, name, span: Span::default() };
                    self.fairness.push(self.model.fairness.push(pair));
                }
            }
        }
        let pairs: Vec<FairnessId> = self.fairness.clone();
        Assumptions { any_of: vec![pairs] }
    }

    fn formula(&mut self, formula: &program::Formula) -> Formula {
        use program::Formula as Asked;
        match formula {
            Asked::Now(expr) => Formula::Now(self.truth(expr, None)),
            Asked::Not(inner) => Formula::Not(Box::new(self.formula(inner))),
            Asked::Next(inner) => Formula::Unary(UnaryTemporal::Next, Box::new(self.formula(inner))),
            Asked::Always(inner) => always(self.formula(inner)),
            Asked::Eventually(inner) => eventually(self.formula(inner)),
            Asked::Binary(op, left, right) => {
                let (left, right) = (Box::new(self.formula(left)), Box::new(self.formula(right)));
                match op {
                    TemporalOp::And => Formula::Boolean(BooleanOp::And, left, right),
                    TemporalOp::Or => Formula::Boolean(BooleanOp::Or, left, right),
                    TemporalOp::Implies => Formula::Boolean(BooleanOp::Implies, left, right),
                    TemporalOp::Iff => Formula::Boolean(BooleanOp::Iff, left, right),
                    TemporalOp::Until => Formula::Binary(BinaryTemporal::Until, left, right),
                    TemporalOp::WeakUntil => Formula::Binary(BinaryTemporal::WeakUntil, left, right),
                    TemporalOp::Release => Formula::Binary(BinaryTemporal::Releases, left, right),
                }
            }
        }
    }

    /// Somebody stands at a label that begins so; `None` where there is no such label.
    fn standing_at(&mut self, role: &str) -> Option<ModelExpr> {
        let span = Span::default();
        let mut found = Vec::new();
        for (position, family) in self.setting.families.iter().enumerate() {
            let nodes = &self.setting.graphs[family.proctype].nodes;
            for (node, declared) in nodes.iter().enumerate() {
                let Some(label) = declared.labels.iter().find(|label| label.starts_with(role)) else { continue };
                let Some(&place) = self.places.get(&(position, node)) else { continue };
                for &member in &family.members {
                    let who = Box::new(terms::constant(Value::Process(self.processes[member]), span));
                    let kind = ModelKind::At { who, places: vec![place], labels: vec![label.clone()] };
                    found.push(ModelExpr { kind, span });
                }
            }
        }
        (!found.is_empty()).then(|| any(found, span))
    }

    /// A `never` claim: no run is one that it accepts.
    fn never(&mut self, name: &str, body: &[program::Stmt], span: Span) {
        let style = Style { block_entries: false, named: &std::collections::HashSet::new(), is_claim: true };
        let (graph, diagnostics) = graph::build(body, style);
        diagnostics.into_iter().for_each(|diagnostic| self.log.add(diagnostic));
        let location = |node: usize| AutomatonLocation {
            name: graph.nodes[node]
                .labels
                .first()
                .cloned()
                .unwrap_or_else(|| format!("line {}", self.map.line(graph.nodes[node].span))),
            accepting: node == graph.end || graph.nodes[node].labels.iter().any(|label| label.starts_with("accept")),
        };
        let locations: Vec<AutomatonLocation> = (0..graph.nodes.len()).map(location).collect();
        let mut edges =
            vec![AutomatonEdge { source: graph.end, target: graph.end, guard: None, span: self.span(span) }];
        for source in 0..graph.nodes.len() {
            self.claim_edges(&graph, source, &mut edges);
        }
        let mut automaton = Automaton { name: name.to_owned(), locations, initial: graph.entry, edges };
        self.read_ahead(&graph, &mut automaton);
        let kind = PropertyKind::Temporal(Formula::Refused(Box::new(automaton)));
        let span = self.span(span);
        self.ask(name, kind, (String::new(), span));
    }

    /// The claim has read the states that `init` passed before the start: it begins where that leads.
    fn read_ahead(&mut self, graph: &Graph, automaton: &mut Automaton) {
        let mut here = std::collections::BTreeSet::from([graph.entry]);
        let passed = &self.setting.world.passed;
        if passed.is_empty() {
            return;
        }
        for world in passed {
            let mut next = std::collections::BTreeSet::new();
            for &node in &here {
                next.extend(self.claim_steps(graph, node, world));
                if node == graph.end {
                    next.insert(node);
                }
            }
            here = next;
        }
        let initial = automaton.locations.len();
        automaton.locations.push(AutomatonLocation { name: "start".into(), accepting: false });
        let copies: Vec<AutomatonEdge> =
            automaton.edges.iter().filter(|edge| here.contains(&edge.source)).cloned().collect();
        automaton.edges.extend(copies.into_iter().map(|edge| AutomatonEdge { source: initial, ..edge }));
        automaton.initial = initial;
    }

    /// Where a claim can go from a place in a state that is known.
    fn claim_steps(&self, graph: &Graph, node: usize, world: &super::world::World) -> Vec<usize> {
        let nobody = std::collections::HashMap::new();
        let eye =
            super::world::Eye { program: self.setting.program, graphs: self.setting.graphs, locals: &nobody, pid: 0 };
        let is_true = |expr: &program::Expr| world.value(expr, eye).is_ok_and(|value| value != 0);
        let can = |does: &Does| match does {
            Does::Op(Op::Guard(expr)) => is_true(expr),
            Does::Op(_) => true,
            Does::Else(_) => false,
        };
        let mut found = Vec::new();
        for edge in &graph.nodes[node].edges {
            match &edge.does {
                Does::Else(of) if !graph.nodes[*of].edges.iter().any(|other| can(&other.does)) => {
                    found.push(edge.target)
                }
                Does::Op(Op::Assert(expr)) if !is_true(expr) => found.push(graph.end),
                does if can(does) => found.push(edge.target),
                _ => {}
            }
        }
        found
    }

    fn claim_edges(&mut self, graph: &Graph, source: usize, edges: &mut Vec<AutomatonEdge>) {
        for edge in &graph.nodes[source].edges {
            let span = self.span(edge.span);
            let (guard, also) = match &edge.does {
                Does::Op(Op::Skip | Op::Print) => (None, None),
                Does::Op(Op::Guard(expr)) => (Some(self.truth(expr, None)), None),
                Does::Op(Op::Assert(expr)) => {
                    let holds = self.truth(expr, None);
                    (Some(holds.clone()), Some(not(holds)))
                }
                Does::Else(of) => {
                    let mut others = Vec::new();
                    for other in &graph.nodes[*of].edges {
                        match &other.does {
                            Does::Op(Op::Guard(expr)) => others.push(self.truth(expr, None)),
                            Does::Else(_) => {}
                            Does::Op(_) => others.push(terms::truth(true, span)),
                        }
                    }
                    (Some(not(any(others, span))), None)
                }
                Does::Op(_) => {
                    self.log.add(Diagnostic::error(code::CLAIM, edge.span, "a claim reads states and changes nothing"));
                    continue;
                }
            };
            let mut push = |guard: Option<ModelExpr>, target: usize| {
                if !guard.as_ref().is_some_and(|guard| terms::is(guard, false)) {
                    let guard = guard.filter(|guard| !terms::is(guard, true));
                    edges.push(AutomatonEdge { source, target, guard, span });
                }
            };
            push(guard, edge.target);
            if also.is_some() {
                push(also, graph.end);
            }
        }
    }
}

fn always(inner: Formula) -> Formula {
    Formula::Unary(UnaryTemporal::Always, Box::new(inner))
}

fn eventually(inner: Formula) -> Formula {
    Formula::Unary(UnaryTemporal::Eventually, Box::new(inner))
}
