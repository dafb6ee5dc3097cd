//! Properties: assertions, invalid end states, `ltl`, `never`, `accept` and `progress` labels.

use base::{Diagnostic, Span};
use model::expr::{BinaryOp as ModelOp, Expr as ModelExpr, ExprKind as ModelKind};
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
use super::failing::{always_fails, fails, where_it_can_be_read};
use super::terms::{self, any, not};
use crate::codes::promela as code;

/// The most statements that an `atomic` of a claim has.
const MOST_PASSED: usize = 30;

impl Elaboration<'_> {
    /// All questions that the program asks.
    pub(super) fn questions(&mut self) {
        if let Some(full) = self.full {
            let span = Span::default();
            let never = terms::equal(terms::read(terms::shared(full, Vec::new(), span)), terms::number(0, span));
            return self.ask(super::NEVER_FULL, PropertyKind::Invariant(never), (String::new(), span));
        }
        self.ask("no_errors", PropertyKind::NoErrors, (String::new(), Span::default()));
        self.ask("deadlock_free", PropertyKind::DeadlockFree, (String::new(), Span::default()));
        let claims = &self.setting.program.claims;
        for claim in claims {
            match claim {
                Claim::Ltl { name, formula, span } => {
                    let formula = self.formula(formula);
                    let text = self.claim_text(*span);
                    let span = self.span(*span);
                    let kind = match always_true(&formula) {
                        Some(invariant) => PropertyKind::Invariant(where_it_can_be_read(invariant, &self.model)),
                        None if always_fails(&formula, &self.model) => {
                            PropertyKind::Invariant(terms::truth(false, span))
                        }
                        None => PropertyKind::Temporal(formula),
                    };
                    self.ask(name, kind, (text, span));
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
    pub(super) fn standing_at(&mut self, role: &str) -> Option<ModelExpr> {
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
        let (graph, diagnostics) = graph::build((body, 0), style);
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
        if let Some(standing) = self.standing_at("accept") {
            accept_where(&mut automaton, &standing);
        }
        self.read_ahead(&graph, &mut automaton);
        let kind = PropertyKind::Temporal(Formula::NeverAccepts(Box::new(automaton)));
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
        let can = |edge: &graph::Edge| match &edge.does {
            Does::Op(Op::Guard(expr)) => is_true(expr),
            Does::Op(_) => true,
            Does::Else(_) => false,
        };
        let mut found = Vec::new();
        let mut open = vec![(node, 0)];
        while let Some((node, n_passed)) = open.pop() {
            for edge in &graph.nodes[node].edges {
                let taken = match &edge.does {
                    Does::Else(of) => !graph.before_else(*of, edge).into_iter().any(can),
                    Does::Op(Op::Assert(expr)) if !is_true(expr) => {
                        found.push(graph.end);
                        continue;
                    }
                    _ => can(edge),
                };
                let is_stuck = |node: usize| {
                    let edges = &graph.nodes[node].edges;
                    !edges.iter().any(|edge| can(edge) || matches!(edge.does, Does::Else(_)))
                };
                if taken && graph.goes_on(edge) && n_passed < MOST_PASSED && !is_stuck(edge.target) {
                    open.push((edge.target, n_passed + 1));
                } else if taken {
                    found.push(edge.target);
                }
            }
        }
        found
    }

    /// The edges of a claim's place. An `atomic` of a claim reads one state: its statements are one edge.
    fn claim_edges(&mut self, graph: &Graph, source: usize, edges: &mut Vec<AutomatonEdge>) {
        let start = ClaimPath { node: source, before: terms::truth(true, Span::default()), n_passed: 0 };
        let mut open = vec![start];
        while let Some(way) = open.pop() {
            for edge in &graph.nodes[way.node].edges {
                let span = self.span(edge.span);
                let Some((holds, fails)) = self.claim_condition(graph, edge) else { continue };
                let mut push = |condition: ModelExpr, target: usize| {
                    let guard = terms::and(way.before.clone(), condition);
                    if !terms::is(&guard, false) {
                        let guard = Some(guard).filter(|guard| !terms::is(guard, true));
                        edges.push(AutomatonEdge { source, target, guard, span });
                    }
                };
                if let Some(fails) = fails {
                    push(fails, graph.end);
                }
                if !graph.goes_on(edge) {
                    push(holds, edge.target);
                    continue;
                }
                if way.n_passed >= MOST_PASSED {
                    self.not_read(edge.span, "a loop within an `atomic` of a claim");
                    continue;
                }
                // Where nothing in it is executable, the claim waits there for the next state.
                let can = self.claim_can(graph, edge.target, span);
                push(terms::and(holds.clone(), not(can)), edge.target);
                let before = terms::and(way.before.clone(), holds);
                open.push(ClaimPath { node: edge.target, before, n_passed: way.n_passed + 1 });
            }
        }
    }

    /// When an edge of a claim is taken, and when it is an error instead.
    fn claim_condition(&mut self, graph: &Graph, edge: &graph::Edge) -> Option<(ModelExpr, Option<ModelExpr>)> {
        let span = self.span(edge.span);
        Some(match &edge.does {
            Does::Op(Op::Skip | Op::Print) => (terms::truth(true, span), None),
            Does::Op(Op::Guard(expr)) => {
                let (holds, fails) = self.read_by_claim(expr);
                (holds, Some(fails).filter(|fails| !terms::is(fails, false)))
            }
            Does::Op(Op::Assert(expr)) => {
                let (holds, _) = self.read_by_claim(expr);
                (holds.clone(), Some(not(holds)))
            }
            Does::Else(of) => {
                let others = graph.before_else(*of, edge).into_iter();
                let others: Vec<ModelExpr> = others.map(|other| self.claim_executable(other, span)).collect();
                (not(any(others, span)), None)
            }
            Does::Op(_) => {
                self.log.add(Diagnostic::error(code::CLAIM, edge.span, "a claim reads states and changes nothing"));
                return None;
            }
        })
    }

    /// Whether some edge of a claim's place is executable.
    fn claim_can(&mut self, graph: &Graph, node: usize, span: Span) -> ModelExpr {
        let edges = &graph.nodes[node].edges;
        if edges.iter().any(|edge| matches!(edge.does, Does::Else(_))) {
            return terms::truth(true, span);
        }
        let found: Vec<ModelExpr> = edges.iter().map(|edge| self.claim_executable(edge, span)).collect();
        any(found, span)
    }

    fn claim_executable(&mut self, edge: &graph::Edge, span: Span) -> ModelExpr {
        match &edge.does {
            Does::Op(Op::Guard(expr)) => self.read_by_claim(expr).0,
            _ => terms::truth(true, span),
        }
    }

    /// When a condition of a claim holds, and when reading it is an error.
    fn read_by_claim(&mut self, expr: &program::Expr) -> (ModelExpr, ModelExpr) {
        let read = self.truth(expr, None);
        let fails = fails(&read, &self.model);
        (where_it_can_be_read(read, &self.model), fails)
    }
}

/// Lets a claim accept the runs, too, on which the condition holds again and again while it reads them: those that come to an `accept` label of a
/// process. Each location has a second one, in which it has just held.
fn accept_where(automaton: &mut Automaton, condition: &ModelExpr) {
    let n_locations = automaton.locations.len();
    let second = automaton.locations.iter().map(|location| AutomatonLocation { accepting: true, ..location.clone() });
    automaton.locations.extend(second.collect::<Vec<_>>());
    let edges = std::mem::take(&mut automaton.edges);
    for edge in edges {
        for (ahead, holds) in [(0, not(condition.clone())), (n_locations, condition.clone())] {
            let guard = edge.guard.clone().map_or(holds.clone(), |guard| terms::and(guard, holds));
            for behind in [0, n_locations] {
                let (source, target) = (edge.source + behind, edge.target + ahead);
                automaton.edges.push(AutomatonEdge { source, target, guard: Some(guard.clone()), span: edge.span });
            }
        }
    }
}

/// A way through an `atomic` of a claim.
struct ClaimPath {
    node: usize,
    /// What holds on it.
    before: ModelExpr,
    n_passed: usize,
}

/// What `[] p` says of every state, where `p` speaks of one state; runs are fair or not, each state is one of some run.
fn always_true(formula: &Formula) -> Option<ModelExpr> {
    match formula {
        Formula::Unary(UnaryTemporal::Always, inner) => of_one_state(inner),
        Formula::Boolean(BooleanOp::And, left, right) => Some(terms::and(always_true(left)?, always_true(right)?)),
        _ => None,
    }
}

/// Whether a formula speaks of one state.
pub(super) fn is_of_one_state(formula: &Formula) -> bool {
    of_one_state(formula).is_some()
}

fn of_one_state(formula: &Formula) -> Option<ModelExpr> {
    match formula {
        Formula::Now(expr) => Some(expr.clone()),
        Formula::Not(inner) => Some(not(of_one_state(inner)?)),
        Formula::Boolean(op, left, right) => {
            let (left, right) = (of_one_state(left)?, of_one_state(right)?);
            Some(match op {
                BooleanOp::And => terms::and(left, right),
                BooleanOp::Or => terms::or(left, right),
                BooleanOp::Implies => terms::or(not(left), right),
                BooleanOp::Iff => terms::binary(ModelOp::Iff, left, right),
            })
        }
        _ => None,
    }
}

fn always(inner: Formula) -> Formula {
    Formula::Unary(UnaryTemporal::Always, Box::new(inner))
}

fn eventually(inner: Formula) -> Formula {
    Formula::Unary(UnaryTemporal::Eventually, Box::new(inner))
}
