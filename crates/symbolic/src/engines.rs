//! The methods that work with decision diagrams: `forward`, `backward`, `split`, `pairwise`, `completion`, `global`.
//!
//! In: a task. Out: an answer for each property, with a run or a certificate. All properties of a task share one set of local
//! invariants; completion refines for each property on its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use base::{Feature, StopReason};
use compose::backend::{Backend, Deciding, Refinable};
use compose::completion::{Completed, CompletionOptions, Obstacle, RefinementRound, Stages, complete};
use compose::fair::{Decided, LivenessRule};
use compose::implied::implied_by_all;
use compose::k_index::{Fixpoint, InvariantDecision, Invariants, KIndexPlan, decide};
use compose::method::PropertyAttempt;
use compose::question::{property_error, questions_up_to};
use compose::symmetry::Symmetry;
use engine::settings::Settings;
use engine::{
    Answer, Contradiction, Engine, EngineError, Event, Exposure, Halt, Method, Observer, PropertyId, Statistics, Task,
    Verdict,
};
use evidence::SymbolicSearch;
use evidence::certificate::{LocalFact, SplitInvariant};
use evidence::implied::Implied;
use evidence::trace::trace_through;
use model::Model;
use model::eval::State;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::Storage;

use crate::bdd::{Bdd, Space};
use crate::commands::StepTests;
use crate::fewer_facts::tries;
use crate::global::step_tests;
use crate::local::{LocalSets, SharedView};
use crate::reach::{Reach, SearchDirection, search};
use crate::system::{SymbolicSystem, SystemPlan};
use crate::watchdog::{EventRelay, Gauge, watchdog};
use crate::wide::MOST_ENUMERATED;

engine::config! {
    /// What bounds the methods with decision diagrams.
    pub struct Config {
        /// Room for many nodes takes longer to make than most programs take to check: they are tried with so many first.
        pub first_nodes: usize = 1 << 15,
        /// Then with so many, before all that the memory has room for.
        pub next_nodes: usize = 1 << 20,
        /// Room for nodes where memory has no limit: about a gigabyte.
        pub most_nodes: usize = 1 << 25,
        /// A process exposes at most so many blocks of local states.
        pub blocks: usize = 1 << 12,
        /// The values of a cell are cases up to so many; beyond, they are bits of a number.
        pub listed_values: usize = MOST_ENUMERATED as usize,
    }
}

/// A method that works with decision diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbolic {
    /// Reachability on the whole product.
    Reach(SearchDirection),
    /// The strongest invariants of `k` processes each.
    KIndex(usize),
    /// Split invariants with refinement.
    Completion,
    /// Temporal properties on the whole product.
    Global,
    /// Temporal properties, one process at a time.
    Fair(LivenessRule),
}

/// A method that works with decision diagrams, and what bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// The method.
    pub method: Symbolic,
    /// What bounds it.
    pub config: Config,
}

impl From<Symbolic> for Tuned {
    fn from(method: Symbolic) -> Self {
        Tuned { method, config: Config::default() }
    }
}

impl Engine for Tuned {
    fn method(&self) -> Method {
        self.method.method()
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let tuned = *self;
        watchdog(task, observer, move |task, relay, gauge| tuned.with_room(task, relay, gauge))
    }
}

impl Engine for Symbolic {
    fn method(&self) -> Method {
        match self {
            Symbolic::Reach(SearchDirection::Forward) => Method::Forward,
            Symbolic::Reach(SearchDirection::Backward) => Method::Backward,
            Symbolic::KIndex(1) => Method::Split,
            Symbolic::KIndex(2) => Method::Pairwise,
            Symbolic::KIndex(_) => Method::Triple,
            Symbolic::Completion => Method::Completion,
            Symbolic::Global => Method::Global,
            Symbolic::Fair(rule) => rule.method(),
        }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        Tuned::from(*self).run(task, observer)
    }
}

impl Tuned {
    /// Answers with little room for nodes, and where that does not do with more.
    fn with_room(&self, task: &Task<'_>, relay: &EventRelay, gauge: &Arc<Gauge>) -> Result<Vec<Answer>, EngineError> {
        let limit = task.budget.memory_limit().map_or(self.config.most_nodes, SymbolicSystem::nodes_within);
        let mut answers: Vec<Answer> = Vec::new();
        let Config { first_nodes, next_nodes, .. } = self.config;
        for n_nodes in [first_nodes, next_nodes].into_iter().filter(|&first| first < limit).chain([limit]) {
            let too_small = |answer: &Answer| matches!(answer.verdict, Verdict::Unknown(StopReason::NodeLimit(_)));
            let open = |&id: &PropertyId| answers.iter().all(|answer| answer.property != id || too_small(answer));
            let properties: Vec<PropertyId> = task.properties.iter().copied().filter(open).collect();
            if properties.is_empty() {
                break;
            }
            answers.retain(|answer| !properties.contains(&answer.property));
            let task = Task { properties, ..task.clone() };
            if let Err(reason) = task.budget.check_growth(0, Space::bytes_at_once(n_nodes) + set_up(task.model)) {
                answers.extend(task.undecided(&reason));
                break;
            }
            answers.extend(self.attempt(&SymbolicWork { task: &task, relay, gauge, n_nodes, config: &self.config })?);
        }
        answers.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
        Ok(answers)
    }

    fn attempt(&self, work: &SymbolicWork<'_>) -> Result<Vec<Answer>, EngineError> {
        let one_by_one = |answer: &dyn Fn(PropertyId) -> Result<Answer, Contradiction>| {
            let wrong = |id, found| EngineError::new(self.name(), (work.task.model, id), found);
            work.task.properties.iter().map(|&id| answer(id).map_err(|found| wrong(id, found))).collect()
        };
        match self.method {
            Symbolic::KIndex(k) => Ok(work.k_index(k)),
            Symbolic::Reach(direction) => one_by_one(&|id| work.reach(id, direction)),
            Symbolic::Completion => one_by_one(&|id| work.completion(id)),
            Symbolic::Fair(rule) => one_by_one(&|id| work.fair(id, rule)),
            Symbolic::Global => {
                crate::global::run(work.task, work.gauge, (work.n_nodes, work.config), |answer| work.decided(answer))
            }
        }
    }
}

/// What a bit of the cells takes where the program is set up as diagrams, which is faster than anybody looks at the size of the process (measured on arrays of 30 000 to 150 000 cells).
const BYTES_OF_BIT: u64 = 1_200;

/// Of smaller programs nothing is asked: what they take is seen in time.
const FEWEST_CELLS: usize = 10_000;

/// What the program takes as diagrams before anything is computed.
fn set_up(model: &Model) -> u64 {
    let context = model.type_context();
    let bits = |n_values: u128| u64::from(u128::BITS - n_values.saturating_sub(1).leading_zeros());
    match model.cells.len() {
        few if few < FEWEST_CELLS => 0,
        _ => model.cells.iter().map(|cell| bits(cell.ty.n_values(context)) * BYTES_OF_BIT).sum(),
    }
}

struct SymbolicWork<'a> {
    task: &'a Task<'a>,
    relay: &'a EventRelay,
    gauge: &'a Arc<Gauge>,
    /// How many nodes there is room for.
    n_nodes: usize,
    config: &'a Config,
}

impl<'a> SymbolicWork<'a> {
    /// The program as diagrams, with the steps of the whole program or those that one process can tell.
    fn system(&self, tests: &StepTests, is_whole: bool) -> Result<SymbolicSystem<'a>, StopReason> {
        let model = self.task.model;
        let n_blocks: Vec<usize> =
            model.processes.ids().map(|process| n_local_states(model, process, self.config.blocks)).collect();
        let (n_nodes, most_enumerated) = (self.n_nodes, self.config.listed_values as u128);
        SymbolicSystem::planned(model, &SystemPlan { n_blocks: &n_blocks, n_nodes, tests, most_enumerated, is_whole })
    }

    fn sets(&self, views: SharedView) -> Result<LocalSets<'a>, StopReason> {
        Ok(LocalSets::new(self.system(&StepTests::default(), false)?, views)?.measured_by(self.gauge))
    }

    fn reach(&self, id: PropertyId, direction: SearchDirection) -> Result<Answer, Contradiction> {
        let (started, mut statistics) = (Instant::now(), Statistics::default());
        let outcome = open_where_stopped(self.try_reach(id, direction, &mut statistics))?;
        Ok(self.answer(id, outcome, Statistics { time: started.elapsed(), ..statistics }))
    }

    fn try_reach(
        &self,
        id: PropertyId,
        direction: SearchDirection,
        statistics: &mut Statistics,
    ) -> Result<PropertyAttempt, Halt> {
        let system = self.system(&StepTests::default(), true)?;
        let mut sets = LocalSets::new(system, SharedView::Whole)?.measured_by(self.gauge);
        let Deciding { decided, faulty } = self.deciding(&sets, id)?;
        let found = self.search(&sets, &decided, direction).map_err(Halt::from).and_then(|found| match found {
            Reach::Run(states) => Ok(Reach::Run(states)),
            Reach::Safe(set) => self.without_faults(&sets, &set, (id, &faulty, direction)).map(Reach::Safe),
        });
        statistics.peak_nodes = Some(sets.peak_nodes());
        statistics.peak_memory_bytes = Some(sets.system().bytes(sets.peak_nodes()));
        match found? {
            Reach::Run(states) => self.run(id, states),
            // The checker does not follow such steps through diagrams.
            Reach::Safe(set) if self.task.model.goes_on() || self.task.model.has_when_nobody() => {
                let states = match direction {
                    SearchDirection::Forward => {
                        sets.system().n_states(&set).map_err(|_| sets.system().out_of_nodes())?
                    }
                    SearchDirection::Backward => None,
                };
                Ok(PropertyAttempt::Searched(SymbolicSearch::Whole { states }))
            }
            Reach::Safe(set) => {
                let all: Vec<ProcessId> = self.task.model.processes.ids().collect();
                let implies = implied_by_all(self.task.model, &self.task.model.properties[id].kind, all.len());
                Ok(PropertyAttempt::Never(sets.certify(all.len(), &[(&all, &set)])?, implies))
            }
        }
    }

    /// The vectors that decide a property, and those in which it has no value: all are states, but that a step can fail on its way.
    fn deciding(&self, sets: &LocalSets<'_>, id: PropertyId) -> Result<Deciding<Bdd>, StopReason> {
        let (system, kind) = (sets.system(), &self.task.model.properties[id].kind);
        let space = &system.encoding.space;
        let Deciding { mut decided, mut faulty } = sets.decided_and_faulty(kind)?;
        if system.encoding.has_turns() {
            faulty = sets.bdd(space.and(&faulty, &system.at_rest))?;
            decided = match kind {
                PropertyKind::NoErrors => {
                    sets.bdd(system.endless().and_then(|endless| space.or(&decided, &endless)))?
                }
                _ => sets.bdd(space.and(&decided, &system.at_rest))?,
            };
        }
        Ok(Deciding { decided, faulty })
    }

    fn search(&self, sets: &LocalSets<'_>, bad: &Bdd, direction: SearchDirection) -> Result<Reach, StopReason> {
        let watch = |rounds: u64, n_nodes: u64| {
            self.gauge.rounds.store(rounds, Ordering::Relaxed);
            sets.note_nodes(n_nodes);
        };
        search(sets.system(), bad, direction, (&self.task.budget, &watch))
    }

    /// The part of an inductive set in which the property has a value, which is inductive, too.
    ///
    /// # Errors
    /// The property has no value in a reachable state, a limit, or a contradiction.
    fn without_faults(
        &self,
        sets: &LocalSets<'_>,
        set: &Bdd,
        (id, faulty, direction): (PropertyId, &Bdd, SearchDirection),
    ) -> Result<Bdd, Halt> {
        let (system, space) = (sets.system(), &sets.system().encoding.space);
        let faulty_states = sets.bdd(space.and(set, faulty))?;
        let reached = match direction {
            _ if faulty_states.is_empty() => None,
            // Forward, all of the set is reachable. Backward, it is what does not lead to a violation: a forward search is needed as well.
            SearchDirection::Forward => system.pick(&faulty_states),
            SearchDirection::Backward => match self.search(sets, faulty, direction)? {
                Reach::Safe(apart) => return Ok(sets.bdd(space.and(set, &apart))?),
                Reach::Run(mut states) => states.pop(),
            },
        };
        let error = |state: State| property_error(system.model, &system.model.properties[id].kind, &state);
        match reached.map(error) {
            None => Ok(set.clone()),
            Some(Some(fault)) => Err(fault.into()),
            Some(None) => {
                let expected = "decision diagrams contain a state in which the property has no value";
                Err(Contradiction::new(expected, "it has one by the reference semantics").into())
            }
        }
    }

    fn k_index(&self, k: usize) -> Vec<Answer> {
        match self.sets(SharedView::Mentioned) {
            Ok(mut sets) => {
                let answers = compose::method::k_index(&mut sets, k, (self.task, self.relay), local_statistics);
                answers.iter().for_each(|answer| self.report(answer));
                answers
            }
            Err(stop) => {
                let open =
                    |&id: &PropertyId| self.answer(id, PropertyAttempt::Open(stop.clone()), Statistics::default());
                self.task.properties.iter().map(open).collect()
            }
        }
    }

    fn completion(&self, id: PropertyId) -> Result<Answer, Contradiction> {
        let (started, mut statistics) = (Instant::now(), Statistics::default());
        let outcome = open_where_stopped(self.try_completion(id, &mut statistics))?;
        Ok(self.answer(id, outcome, Statistics { time: started.elapsed(), ..statistics }))
    }

    fn try_completion(&self, id: PropertyId, statistics: &mut Statistics) -> Result<PropertyAttempt, Halt> {
        let property = &self.task.model.properties[id].kind;
        let mut symmetry = Symmetry::of(self.task.model).filter(|symmetry| symmetry.leaves(property));
        let mut views = SharedView::Mentioned;
        loop {
            let mut sets = self.sets(views)?;
            symmetry = symmetry.filter(|symmetry| sets.renames(symmetry));
            let options =
                CompletionOptions { symmetry: symmetry.as_ref(), stages: Stages::Last, budget: &self.task.budget };
            let mut exposures = Vec::new();
            let completed = complete(&mut sets, property, options, |round| {
                self.gauge.rounds.fetch_add(1, Ordering::Relaxed);
                self.gauge.exposed.fetch_add(round.exposed.len() as u64, Ordering::Relaxed);
                exposures.extend(exposure(round));
            });
            *statistics = local_statistics(&mut sets, None);
            statistics.refinements = Some(exposures.len() as u64);
            statistics.exposures = exposures;
            return Ok(match completed? {
                // Proofs from all processes at once are large: where all processes see all that is shared, fewer may do.
                Completed::Proved { implies: None, .. } if views == SharedView::Mentioned => {
                    views = SharedView::Whole;
                    continue;
                }
                Completed::Proved { mut invariants, implies, .. } => {
                    let mut implies = implies.unwrap_or_else(|| implied_by_all(self.task.model, property, 1));
                    if let Some(fewer) = self.with_fewer_facts((id, symmetry.as_ref()), views, &sets) {
                        (sets, invariants, implies) = (fewer.sets, fewer.invariants, fewer.implies);
                        let because = statistics.exposures.iter().find_map(|exposure| exposure.because.clone());
                        statistics.exposures = vec![Exposure { facts: sets.exposed(), because, steps: 0 }];
                    }
                    statistics.local_states = local_statistics(&mut sets, Some(&invariants)).local_states;
                    let invariant = sets.certify(1, &invariants.join())?;
                    let claimed = symmetry.as_ref().map(|symmetry| symmetry.claim());
                    PropertyAttempt::Never(SplitInvariant { symmetry: claimed, ..invariant }, implies)
                }
                Completed::Run { states, .. } => self.run(id, states)?,
                Completed::Shortcut { trace, .. } => PropertyAttempt::Run(trace),
                Completed::Stuck(Obstacle::NamesAnother) => {
                    symmetry = None;
                    continue;
                }
                Completed::Stuck(Obstacle::NarrowViews) if views == SharedView::Mentioned => {
                    views = SharedView::Whole;
                    continue;
                }
                Completed::Stuck(Obstacle::NarrowViews) => PropertyAttempt::Open(Feature::WholeViews.into()),
            });
        }
    }

    /// The proof with the coarsest facts that are enough, if those that were exposed can be put together. Each try has little room: a proof
    /// that takes more is no smaller one.
    fn with_fewer_facts(
        &self,
        (id, symmetry): (PropertyId, Option<&Symmetry<'_>>),
        views: SharedView,
        found: &LocalSets<'_>,
    ) -> Option<SymbolicProof<'a>> {
        let (model, budget) = (self.task.model, &self.task.budget);
        let asked = questions_up_to(model, &model.properties[id].kind, symmetry)?;
        let little = SymbolicWork { n_nodes: self.n_nodes.min(self.config.first_nodes), ..*self };
        let proof = |facts: &[(ProcessId, LocalFact)]| -> Result<Option<SymbolicProof<'a>>, StopReason> {
            let mut sets = little.sets(views)?;
            sets.expose(facts)?;
            let plan = match symmetry {
                Some(symmetry) => KIndexPlan::of_first(&sets, 1, symmetry.clone(), budget)?,
                None => KIndexPlan::of_all(&sets, 1, budget)?,
            };
            let mut fixpoint = Fixpoint::of_plan(&mut sets, plan, budget)?;
            fixpoint.close(&mut sets, budget)?;
            let decision = decide(&mut sets, &fixpoint.invariants, &asked, (symmetry, budget))?;
            let (property, invariants) = (&model.properties[id].kind, fixpoint.invariants);
            let implies = invariants.implied(&sets, (property, &asked), symmetry);
            Ok(matches!(decision, InvariantDecision::Proved).then_some(SymbolicProof { sets, invariants, implies }))
        };
        // Where the budget ends, the proof is the one that was found.
        let family_of = |process: ProcessId| model.processes[process].family;
        let attempt = |facts: &Vec<(ProcessId, LocalFact)>| match proof(facts) {
            Err(StopReason::NodeLimit(_)) => None,
            outcome => outcome.transpose(),
        };
        tries(&found.exposed(), family_of).iter().find_map(attempt).and_then(Result::ok)
    }

    fn fair(&self, id: PropertyId, rule: LivenessRule) -> Result<Answer, Contradiction> {
        let started = Instant::now();
        let (decided, mut statistics) =
            self.try_fair(id, rule).unwrap_or_else(|halt| (Err(halt), Statistics::default()));
        statistics.time = started.elapsed();
        let verdict = match decided {
            Err(halt) => Verdict::Unknown(halt.stopped()?),
            Ok(decided) => decided.verdict(&mut statistics),
        };
        let answer = Answer { property: id, verdict, statistics };
        self.decided(&answer);
        Ok(answer)
    }

    fn try_fair(&self, id: PropertyId, rule: LivenessRule) -> Result<(Result<Decided, Halt>, Statistics), Halt> {
        // Joint turns are followed by explicit sets alone.
        if !self.task.model.channels.is_empty() {
            return Err(StopReason::from(Feature::Rendezvous).into());
        }
        let system = self.system(&step_tests(self.task.model), false)?;
        let sets = LocalSets::new(system, SharedView::Whole)?.measured_by(self.gauge);
        crate::local_fair::decide(rule, sets, (self.task, id), (self.relay, self.gauge))
    }

    fn answer(&self, id: PropertyId, outcome: PropertyAttempt, statistics: Statistics) -> Answer {
        let answer = compose::method::answer((self.task, self.relay), id, outcome, statistics);
        self.report(&answer);
        answer
    }

    /// Reports a decision before the others are made.
    fn report(&self, answer: &Answer) {
        if !matches!(answer.verdict, Verdict::Unknown(_)) {
            self.relay.answer(answer);
        }
    }

    /// Reports a decision, and that it is one.
    fn decided(&self, answer: &Answer) {
        if !matches!(answer.verdict, Verdict::Unknown(_)) {
            self.relay.event(Event::Decided(answer.property));
            self.report(answer);
        }
    }

    /// The run through these states as evidence.
    fn run(&self, id: PropertyId, states: Vec<State>) -> Result<PropertyAttempt, Halt> {
        let kind = &self.task.model.properties[id].kind;
        match trace_through(self.task.model, states, kind) {
            Some(trace) => Ok(PropertyAttempt::Run(trace)),
            // Only what actions can touch is known here, not what they touch in a state.
            None if matches!(kind, PropertyKind::RaceFree(_)) => {
                Ok(PropertyAttempt::Open(Feature::SharedAccess.into()))
            }
            None => {
                let expected = "decision diagrams contain a run to a state that decides the property";
                Err(Contradiction::new(expected, "the reference semantics has no such run").into())
            }
        }
    }
}

/// The same, with limits as outcomes.
fn open_where_stopped(outcome: Result<PropertyAttempt, Halt>) -> Result<PropertyAttempt, Contradiction> {
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(halt) => halt.stopped().map(PropertyAttempt::Open),
    }
}

/// Local sets that prove a property.
struct SymbolicProof<'a> {
    /// What they are kept in, with the exposed facts.
    sets: LocalSets<'a>,
    /// The sets.
    invariants: Invariants<Bdd>,
    /// How they imply the property.
    implies: Vec<Implied>,
}

/// A round in which something was exposed.
fn exposure(round: &RefinementRound) -> Option<Exposure> {
    let (because, steps) = round.because.clone().map_or((None, 0), |(state, steps)| (Some(state), steps));
    (!round.exposed.is_empty()).then(|| Exposure { facts: round.exposed.clone(), because, steps })
}

fn local_statistics(sets: &mut LocalSets<'_>, invariants: Option<&Invariants<Bdd>>) -> Statistics {
    let sizes = invariants.map(|invariants| {
        let listed = invariants.join().into_iter();
        listed.map(|(group, set)| sets.n_states(group, set)).collect()
    });
    Statistics {
        peak_nodes: Some(sets.peak_nodes()),
        peak_memory_bytes: Some(sets.system().bytes(sets.peak_nodes())),
        local_states: sizes,
        views: Some(sets.views()),
        ..Statistics::default()
    }
}

/// How many local states a process has, or as many blocks as there can be.
fn n_local_states(model: &Model, process: ProcessId, most: usize) -> usize {
    let n_points = model::points::Points::of(model, process, most).map_or(most, |points| points.points.len());
    let own = model
        .cells
        .iter()
        .filter(|cell| cell.owner == Some(process) && matches!(model.vars[cell.var].storage, Storage::Local(_)));
    let n_states = own.fold(n_points as u128, |n, cell| n.saturating_mul(cell.ty.n_values(model.type_context())));
    n_states.min(most as u128) as usize
}
