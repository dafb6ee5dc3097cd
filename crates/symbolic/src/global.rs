//! Temporal properties on the whole product, with decision diagrams: the papers' baseline (method `global`).
//!
//! In: temporal properties. Out: for each a lasso that violates it, or the word that no fair run does. The reachable states are
//! found once. Each way to violate a property is a product with a small automaton; in each of its components that accept,
//! the nodes that can start a fair run are what the demands of automaton and fairness leave (`fair.rs`).

mod turns;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use base::{Feature, StopReason};
use engine::{Answer, Contradiction, EngineError, Halt, Method, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, SymbolicSearch, Trace, TraceEnd};
use model::eval::State;
use model::property::PropertyKind;
use temporal::{Proposition, Violation};

use crate::bdd::{Bdd, OutOfNodes};
use crate::engines::Config;
use crate::fair::lasso::{Leg, SymbolicLasso};
use crate::fair::violation::{RunSearchResult, RunsWanted};
use crate::fair::{GuardedMove, SymbolicGraph};
use crate::meter::NodeMeter;
use crate::system::{SymbolicSystem, SystemPlan};
use crate::watchdog::Gauge;
use turns::{ProgramTurns, TurnEdges};

pub(crate) use turns::step_tests;

/// Answers the temporal properties of a task with room for so many nodes; reports each answer when it is there.
///
/// # Errors
/// Diagrams that contradict each other or the reference semantics.
pub(crate) fn run(
    task: &Task<'_>,
    gauge: &Arc<Gauge>,
    (n_nodes, config): (usize, &Config),
    tell: impl Fn(&Answer),
) -> Result<Vec<Answer>, EngineError> {
    let started = Instant::now();
    let peak_nodes = Rc::new(Cell::new(0));
    let statistics = |search: Option<&FairRunSearch<'_, '_>>| Statistics {
        time: started.elapsed(),
        peak_nodes: Some(peak_nodes.get()),
        peak_memory_bytes: Some(SymbolicSystem::bytes_of(peak_nodes.get())),
        global_states: search.and_then(FairRunSearch::n_states),
        ..Statistics::default()
    };
    let tests = step_tests(task.model);
    let n_blocks = vec![1; task.model.processes.len()];
    let plan = SystemPlan {
        n_blocks: &n_blocks,
        n_nodes,
        tests: &tests,
        most_enumerated: config.listed_values as u128,
        is_whole: true,
    };
    let system = SymbolicSystem::planned(task.model, &plan);
    let search = system.as_ref().map_err(StopReason::clone).and_then(|system| {
        let meter = NodeMeter { system, budget: &task.budget, gauge, peak_nodes: &peak_nodes };
        FairRunSearch::new(ProgramTurns::new(system, tests)?, meter)
    });
    let answer = |&property: &PropertyId| {
        let decided = match &search {
            Ok(search) => search.decide(property),
            Err(stop) => Err(stop.clone().into()),
        };
        let wrong = |contradiction| EngineError::new(Method::Global.name(), (task.model, property), contradiction);
        let verdict = match decided {
            Ok(verdict) => verdict,
            Err(halt) => Verdict::Unknown(halt.stopped().map_err(wrong)?),
        };
        let answer = Answer { property, verdict, statistics: statistics(search.as_ref().ok()) };
        tell(&answer);
        Ok(answer)
    };
    task.properties.iter().map(answer).collect()
}

struct FairRunSearch<'a, 'm> {
    system: &'a SymbolicSystem<'m>,
    turns: ProgramTurns<'a, 'm>,
    meter: NodeMeter<'a, 'm>,
    /// All reachable states.
    reached: Bdd,
}

impl<'a, 'm> FairRunSearch<'a, 'm> {
    fn new(turns: ProgramTurns<'a, 'm>, meter: NodeMeter<'a, 'm>) -> Result<Self, StopReason> {
        let system = meter.system;
        let space = &system.encoding.space;
        let edges = turns.steps();
        let stay = GuardedMove { from: 0, to: 0, label: space.all() };
        let pause = || meter.pause();
        let graph = SymbolicGraph { space, edges: &edges, moves: vec![stay], n_states: 1, pause: &pause };
        let reached = graph.forward(vec![system.initial.clone()], None)?.remove(0);
        if system.encoding.has_turns() {
            // Such a step is an error, and no part of a run: the edges along it would be taken for one.
            let endless = system.endless().and_then(|endless| space.and(&endless, &reached));
            if !endless.map_err(|_| system.out_of_nodes())?.is_empty() {
                return Err(Feature::WholeChains.into());
            }
        }
        Ok(FairRunSearch { system, turns, meter, reached })
    }

    /// How many states are reachable, where that can be counted.
    fn n_states(&self) -> Option<u64> {
        self.system.n_states(&self.reached).ok().flatten()
    }

    fn decide(&self, property: PropertyId) -> Result<Verdict, Halt> {
        let model = self.system.model;
        let PropertyKind::Temporal(formula) = &model.properties[property].kind else {
            return Err(Contradiction::new("a question about runs is a temporal property", "it is not").into());
        };
        for violation in temporal::violations(model, &model.properties[property], formula, self.meter.budget)? {
            if let Some(trace) = self.fair_run(&violation)? {
                return Ok(Verdict::Violated(Evidence::Trace(trace)));
            }
        }
        Ok(Verdict::Holds(Evidence::Symbolic(SymbolicSearch::Whole { states: self.n_states() })))
    }

    /// A fair run that the automaton accepts, if there is one.
    fn fair_run(&self, violation: &Violation) -> Result<Option<Trace>, Halt> {
        let turns = self.turns.of(violation)?;
        let pause = || self.meter.pause();
        let graph = SymbolicGraph {
            space: &self.system.encoding.space,
            edges: &turns.edges,
            moves: self.moves(violation)?,
            n_states: violation.automaton.states.len(),
            pause: &pause,
        };
        let wanted = RunsWanted {
            automaton: &violation.automaton,
            conditions: &self.turns.conditions(violation, &turns, &self.reached)?,
            own: None,
            initial: &self.system.initial,
            reached: Some(&self.reached),
        };
        match graph.find(&wanted)? {
            RunSearchResult::Nothing => Ok(None),
            RunSearchResult::Lasso(lasso) => match self.trace(&turns, &lasso) {
                Some(trace) => Ok(Some(trace)),
                None => Err(contradiction("the reference semantics has no such turns").into()),
            },
            RunSearchResult::Broken => Err(contradiction("there is no way through them").into()),
        }
    }

    /// A lasso turn by turn on the reference semantics.
    fn trace(&self, turns: &TurnEdges, lasso: &SymbolicLasso) -> Option<Trace> {
        let is_state = |leg: &&Leg| self.system.at_rest.contains(&leg.node.vector);
        // The loop begins at a state of the program.
        let first = lasso.turning.iter().position(|leg| is_state(&leg))?;
        let (before, after) = lasso.turning.split_at(first);
        let legs: Vec<&Leg> = lasso.stem.iter().chain(before).chain(after).chain(before).collect();
        let loop_from = lasso.stem.iter().chain(before).filter(is_state).count();
        let begins: Vec<usize> = (0..legs.len()).filter(|&nth| is_state(&legs[nth])).collect();
        let mut states: Vec<State> = begins.iter().map(|&nth| self.system.decode(&legs[nth].node.vector)).collect();
        states.push(states.get(loop_from)?.clone());
        let ends = begins.iter().copied().skip(1).chain([legs.len()]);
        let taken = begins.iter().zip(ends).zip(states.windows(2)).map(|((&begin, end), pair)| {
            let edges: Vec<usize> = legs[begin..end].iter().map(|leg| leg.edge).collect();
            self.turns.turn(turns, &edges, (&pair[0], &pair[1]))
        });
        let turns = taken.collect::<Option<Vec<_>>>()?;
        Some(Trace { states, turns, end: TraceEnd::Loop, loop_from: Some(loop_from) })
    }

    /// The automaton's edges, state by state, with the states that they read.
    fn moves(&self, violation: &Violation) -> Result<Vec<GuardedMove>, StopReason> {
        let truth = |proposition: &Proposition| self.turns.truth(&proposition.expr, &proposition.bound, &self.reached);
        let atoms = violation.propositions.iter().map(truth).collect::<Result<Vec<Bdd>, _>>()?;
        let space = &self.system.encoding.space;
        let of_automaton = || {
            let mut moves = GuardedMove::of(&violation.automaton, space, &atoms)?;
            if self.system.encoding.has_turns() {
                // The automaton reads states; while a step is under way it waits.
                let under_way = space.not(&self.system.at_rest)?;
                for step in &mut moves {
                    step.label = space.and(&step.label, &self.system.at_rest)?;
                }
                let waits = |state| GuardedMove { from: state, to: state, label: under_way.clone() };
                moves.extend((0..violation.automaton.states.len()).map(waits));
            }
            Ok(moves)
        };
        of_automaton().map_err(|_: OutOfNodes| self.system.out_of_nodes())
    }
}

fn contradiction(found: &str) -> Contradiction {
    Contradiction::new("decision diagrams contain a fair run", found)
}
