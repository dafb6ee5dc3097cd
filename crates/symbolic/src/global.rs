//! Temporal properties on the whole product, with decision diagrams: the papers' baseline (method `global`).
//!
//! In: temporal properties. Out: for each a lasso that violates it, or the word that no fair run does. The reachable states are
//! found once. Each way to violate a property is a product with a small automaton; in each of its components that accept,
//! the nodes that can start a fair run are what the demands of automaton and fairness leave (`fair.rs`).

mod lasso;
mod turns;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use base::{Budget, StopReason};
use engine::{Answer, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, SymbolicSearch, Trace};
use ltl::Automaton;
use model::property::PropertyKind;
use temporal::Violation;

use crate::attended::Gauge;
use crate::bdd::Bdd;
use crate::fair::{Demand, Graph, Move, Nodes, Way, is_nothing};
use crate::system::System;
use turns::Turns;

/// Answers the temporal properties of a task with room for so many nodes; tells each answer when it is there.
pub(crate) fn run(task: &Task<'_>, gauge: &Arc<Gauge>, n_nodes: usize, tell: impl Fn(&Answer)) -> Vec<Answer> {
    let started = Instant::now();
    let peak_nodes = Rc::new(Cell::new(0));
    let statistics = |search: Option<&Search<'_, '_>>| Statistics {
        time: started.elapsed(),
        peak_nodes: Some(peak_nodes.get()),
        peak_memory_bytes: Some(System::bytes_of(peak_nodes.get())),
        global_states: search.and_then(Search::n_states),
        ..Statistics::default()
    };
    let tests = turns::step_tests(task.model);
    let system = System::with_tests(task.model, &vec![1; task.model.processes.len()], n_nodes, &tests);
    let search = system.as_ref().map_err(StopReason::clone).and_then(|system| {
        let meter = Meter { system, budget: &task.budget, gauge, peak_nodes: &peak_nodes };
        Search::new(Turns::new(system, tests)?, meter)
    });
    let answer = |&property: &PropertyId| {
        let verdict = search.as_ref().map_err(StopReason::clone).and_then(|search| search.decide(property));
        let verdict = verdict.unwrap_or_else(Verdict::Unknown);
        let answer = Answer { property, verdict, statistics: statistics(search.as_ref().ok()) };
        tell(&answer);
        answer
    };
    task.properties.iter().map(answer).collect()
}

/// Watches what the diagrams take.
struct Meter<'a, 'm> {
    system: &'a System<'m>,
    budget: &'a Budget,
    gauge: &'a Gauge,
    peak_nodes: &'a Cell<u64>,
}

impl Meter<'_, '_> {
    /// Asked after each image.
    fn pause(&self) -> Result<(), StopReason> {
        let space = &self.system.encoding.space;
        space.tidy();
        let n_nodes = space.n_nodes() as u64;
        let bytes = self.system.bytes(n_nodes);
        self.gauge.rounds.fetch_add(1, Ordering::Relaxed);
        self.gauge.nodes.store(n_nodes, Ordering::Relaxed);
        self.gauge.memory_bytes.store(bytes, Ordering::Relaxed);
        self.peak_nodes.set(self.peak_nodes.get().max(n_nodes));
        self.budget.check(bytes)
    }
}

struct Search<'a, 'm> {
    system: &'a System<'m>,
    turns: Turns<'a, 'm>,
    meter: Meter<'a, 'm>,
    /// All reachable states.
    reached: Bdd,
}

impl<'a, 'm> Search<'a, 'm> {
    fn new(turns: Turns<'a, 'm>, meter: Meter<'a, 'm>) -> Result<Self, StopReason> {
        let system = meter.system;
        let space = &system.encoding.space;
        let edges = turns.steps();
        let stay = Move { from: 0, to: 0, label: space.all() };
        let pause = || meter.pause();
        let graph = Graph { space, edges: &edges, moves: vec![stay], n_states: 1, pause: &pause };
        let reached = graph.forward(vec![system.initial.clone()], None)?.remove(0);
        Ok(Search { system, turns, meter, reached })
    }

    /// How many states are reachable, where that can be counted.
    fn n_states(&self) -> Option<u64> {
        let encoding = &self.system.encoding;
        let bits: Vec<u32> = encoding.parts().iter().flat_map(|&part| encoding.field(part).bits()).collect();
        self.reached.count_over(&bits)
    }

    fn decide(&self, property: PropertyId) -> Result<Verdict, StopReason> {
        let model = self.system.model;
        let PropertyKind::Temporal(formula) = &model.properties[property].kind else {
            return Err(StopReason::NotSupported(String::from("only temporal properties are asked here")));
        };
        for violation in temporal::violations(model, &model.properties[property], formula, self.meter.budget)? {
            if let Some(trace) = self.fair_run(&violation)? {
                return Ok(Verdict::Violated(Evidence::Trace(trace)));
            }
        }
        Ok(Verdict::Holds(Evidence::Symbolic(SymbolicSearch { states: self.n_states() })))
    }

    /// A fair run that the automaton accepts, if there is one.
    fn fair_run(&self, violation: &Violation) -> Result<Option<Trace>, StopReason> {
        let space = &self.system.encoding.space;
        let moves = self.moves(violation)?;
        let turns = self.turns.of(violation)?;
        let pairs = self.turns.demands(violation, &turns, &self.reached)?;
        let pause = || self.meter.pause();
        let automaton = &violation.automaton;
        let n_states = automaton.states.len();
        let graph = Graph { space, edges: &turns.edges, moves, n_states, pause: &pause };
        let reached = graph.forward(self.start(&graph, automaton.initial.index())?, None)?;
        for component in accepting_components(automaton) {
            let (sub, marks) = within(&graph, automaton, &component);
            let nodes = (0..n_states).map(|state| match component.contains(&state) {
                true => reached[state].clone(),
                false => space.empty(),
            });
            let demands: Vec<Option<Demand>> = marks.into_iter().chain(pairs.iter().cloned().map(Some)).collect();
            let asked: Vec<Demand> = demands.iter().flatten().cloned().collect();
            let fair = sub.fair(nodes.collect(), &asked)?;
            if !is_nothing(&fair) {
                return lasso::Lasso { system: self.system, violation, whole: &graph, part: &sub, demands: &demands }
                    .through(&fair)
                    .map(Some);
            }
        }
        Ok(None)
    }

    /// Where runs begin; where the automaton can wait for ever, every reachable state is as good as an initial one.
    fn start(&self, graph: &Graph<'_>, initial: usize) -> Result<Nodes, StopReason> {
        let mut start = graph.nothing();
        let waits = graph.moves.iter().any(|step| step.from == initial && step.to == initial && step.label.is_all());
        start[initial] = if waits { self.reached.clone() } else { self.system.initial.clone() };
        Ok(start)
    }

    /// The automaton's edges, in the order of states and edges, with the states that they read.
    fn moves(&self, violation: &Violation) -> Result<Vec<Move>, StopReason> {
        let space = &self.system.encoding.space;
        let out = |_| self.system.out_of_nodes();
        let mut atoms: Vec<(Bdd, Bdd)> = Vec::new();
        for proposition in &violation.propositions {
            let truth = self.turns.truth(&proposition.expr, &proposition.bound, &self.reached)?;
            atoms.push((truth.clone(), space.not(&truth).map_err(out)?));
        }
        let mut moves = Vec::new();
        for (from, state) in violation.automaton.states.iter().enumerate() {
            for edge in &state.edges {
                let mut label = space.empty();
                for cube in &edge.label.cubes {
                    let literals = cube.literals().into_iter();
                    let mut read = literals.map(|(atom, positive)| match positive {
                        true => &atoms[atom.index()].0,
                        false => &atoms[atom.index()].1,
                    });
                    let read = read.try_fold(space.all(), |all, one| space.and(&all, one));
                    label = read.and_then(|read| space.or(&label, &read)).map_err(out)?;
                }
                moves.push(Move { from, to: edge.target.index(), label });
            }
        }
        Ok(moves)
    }
}

/// The graph on some states of the automaton; and for each mark the demand to take it, `None` where every move does.
fn within<'g>(graph: &Graph<'g>, automaton: &Automaton, states: &[usize]) -> (Graph<'g>, Vec<Option<Demand>>) {
    let edges = automaton.states.iter().flat_map(|state| &state.edges);
    let inside =
        graph.moves.iter().zip(edges).filter(|(step, _)| states.contains(&step.from) && states.contains(&step.to));
    let (moves, edges): (Vec<&Move>, Vec<&ltl::Edge>) = inside.unzip();
    let demand = |mark: usize| {
        let carrying: Vec<usize> = (0..edges.len()).filter(|&nth| edges[nth].marks.contains(mark)).collect();
        let way = Way { moves: Some(carrying), ..Way::default() };
        let is_idle = way.moves.as_ref().is_some_and(|list| list.len() == edges.len());
        (!is_idle).then(|| Demand { free: None, ways: vec![way] })
    };
    let marks = (0..automaton.n_marks).map(demand).collect();
    (Graph { moves: moves.into_iter().cloned().collect(), ..*graph }, marks)
}

/// The strongly connected sets of states in which some edge carries each mark.
fn accepting_components(automaton: &Automaton) -> Vec<Vec<usize>> {
    let n_states = automaton.states.len();
    let edges: Vec<&[ltl::Edge]> = automaton.states.iter().map(|state| &state.edges[..]).collect();
    let reachable = |from: usize| {
        let mut seen = vec![false; n_states];
        let mut open = vec![from];
        while let Some(state) = open.pop() {
            for edge in edges[state] {
                if !std::mem::replace(&mut seen[edge.target.index()], true) {
                    open.push(edge.target.index());
                }
            }
        }
        seen
    };
    let reachable: Vec<Vec<bool>> = (0..n_states).map(reachable).collect();
    let mut components: Vec<Vec<usize>> = Vec::new();
    for state in (0..n_states).filter(|&state| reachable[state][state]) {
        if components.iter().any(|known| known.contains(&state)) {
            continue;
        }
        let component: Vec<usize> =
            (0..n_states).filter(|&other| reachable[state][other] && reachable[other][state]).collect();
        let inside =
            || component.iter().flat_map(|&state| edges[state]).filter(|edge| component.contains(&edge.target.index()));
        if (0..automaton.n_marks).all(|mark| inside().any(|edge| edge.marks.contains(mark))) {
            components.push(component);
        }
    }
    components
}
