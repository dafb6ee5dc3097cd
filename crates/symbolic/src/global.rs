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

use base::StopReason;
use engine::{Answer, Contradiction, EngineError, Halt, Method, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, SymbolicSearch, Trace, TraceEnd};
use model::eval::State;
use model::property::PropertyKind;
use temporal::{Proposition, Violation};

use crate::bdd::Bdd;
use crate::engines::Config;
use crate::fair::lasso::SymbolicLasso;
use crate::fair::violation::{RunSearchResult, RunsWanted};
use crate::fair::{GuardedMove, SymbolicGraph};
use crate::meter::NodeMeter;
use crate::system::{SymbolicSystem, SystemPlan};
use crate::watchdog::Gauge;
use turns::{ProgramTurns, TurnEdges};

pub(crate) use turns::step_tests;

/// Answers the temporal properties of a task with room for so many nodes; tells each answer when it is there.
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
    let plan = SystemPlan { n_blocks: &n_blocks, n_nodes, tests: &tests, most_listed: config.listed_values as u128 };
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
        Ok(FairRunSearch { system, turns, meter, reached })
    }

    /// How many states are reachable, where that can be counted.
    fn n_states(&self) -> Option<u64> {
        let encoding = &self.system.encoding;
        let bits: Vec<u32> = encoding.parts().iter().flat_map(|&part| encoding.field(part).bits()).collect();
        self.reached.count_over(&bits)
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
            demands: &self.turns.demands(violation, &turns, &self.reached)?,
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
        let legs = || lasso.stem.iter().chain(&lasso.turning);
        let mut states: Vec<State> = legs().map(|leg| self.system.decode(&leg.node.vector)).collect();
        states.push(self.system.decode(&lasso.turning.first()?.node.vector));
        let taken =
            legs().zip(states.windows(2)).map(|(leg, pair)| self.turns.turn(turns, leg.edge, (&pair[0], &pair[1])));
        let turns = taken.collect::<Option<Vec<_>>>()?;
        Some(Trace { states, turns, end: TraceEnd::Loop, loop_from: Some(lasso.stem.len()) })
    }

    /// The automaton's edges, state by state, with the states that they read.
    fn moves(&self, violation: &Violation) -> Result<Vec<GuardedMove>, StopReason> {
        let truth = |proposition: &Proposition| self.turns.truth(&proposition.expr, &proposition.bound, &self.reached);
        let atoms = violation.propositions.iter().map(truth).collect::<Result<Vec<Bdd>, _>>()?;
        let moves = GuardedMove::of(&violation.automaton, &self.system.encoding.space, &atoms);
        moves.map_err(|_| self.system.out_of_nodes())
    }
}

fn contradiction(found: &str) -> Contradiction {
    Contradiction::new("decision diagrams contain a fair run", found)
}
