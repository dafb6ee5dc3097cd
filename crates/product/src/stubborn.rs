//! Method `stubborn`: the whole product with partial-order reduction, explicit (Valmari; Zheng's framework for local graphs).
//!
//! In: a task. Out: an answer for each safety property that reduction preserves. At each state a set of actions is chosen that
//! nobody outside can disturb, and only those are taken; what is left out commutes with them. Which actions commute, and what could
//! enable an action, is read from the local state graphs of the processes (`graphs.rs`), which know more than the text does.
//! `docs/reduction.md` says why deadlocks and violations are not lost.
//!
//! `dependence.rs`: which actions do not commute. `enabling.rs`: what has to happen before an action can. `choice.rs`: the set
//! of actions for a state. `search.rs`: the search.

mod choice;
mod dependence;
mod enabling;
mod search;

use base::{Budget, StopReason};
use compose::question;
use engine::{Answer, Engine, EngineError, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, Exploration};
use model::Model;
use model::property::PropertyKind;

use choice::Keeping;
use engine::meter::Meter;
use local::graphs::{Actions, Rounds, refuse_stacks};
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::questions::StateQuestion;
use packed::width::{ForWidth, with_coarse_width};
use packed::words::add;
use search::{StubbornOutcome, StubbornSearch};

/// Searches as much of the whole product as safety properties need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stubborn;

impl Engine for Stubborn {
    fn method(&self) -> Method {
        Method::Stubborn
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let codec = Codec::new(task.model, UnrollLimits::default());
        let work = StubbornWork { codec: &codec, task, observer };
        Ok(with_coarse_width(codec.layout.n_words, work).unwrap_or_else(|stop| task.undecided(&stop)))
    }
}

struct StubbornWork<'w> {
    codec: &'w Codec<'w>,
    task: &'w Task<'w>,
    observer: &'w dyn Observer,
}

impl ForWidth for StubbornWork<'_> {
    type Output = Vec<Answer>;

    /// Deadlocks need less than other questions do, so they have a search of their own.
    fn run<const W: usize>(self) -> Vec<Answer> {
        let StubbornWork { codec, task, observer } = self;
        let mut compiler = Compiler::new(codec);
        let compile = |&id: &PropertyId| StateQuestion::new(task.model, id, &mut compiler);
        let questions: Vec<StateQuestion> = task.properties.iter().filter_map(compile).collect();
        let machine = Machine { codec, code: compiler.finish() };
        let actions = Actions::<W>::new(&machine);
        let meter = Meter::new(&task.budget, observer);
        let rounds = Rounds::new(&machine, &actions, &meter).run(false, task.n_threads);
        if let Some(reason) = meter.reason() {
            let unknown = |property: &PropertyId| Answer {
                property: *property,
                verdict: Verdict::Unknown(reason.clone()),
                statistics: statistics(None, &rounds, &meter),
            };
            return task.properties.iter().map(unknown).collect();
        }
        let is_deadlock = |question: &StateQuestion| is_deadlock(task.model, question.property);
        let (deadlocks, others): (Vec<StateQuestion>, Vec<StateQuestion>) =
            questions.into_iter().partition(is_deadlock);
        let mut answers = Vec::new();
        for asked in [deadlocks, others].into_iter().filter(|asked| !asked.is_empty()) {
            let keeping = keeping(codec, task.model, &asked);
            let outcome = StubbornSearch::new(&rounds, &asked, keeping, (&machine, &meter)).run();
            for (at, question) in asked.iter().enumerate() {
                let verdict = verdict(task.model, question.property, &outcome, at);
                let statistics = statistics(Some(&outcome), &rounds, &meter);
                answers.push(Answer { property: question.property, verdict, statistics });
            }
        }
        answers.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
        answers
    }
}

fn is_deadlock(model: &Model, property: PropertyId) -> bool {
    matches!(model.properties[property].kind, PropertyKind::DeadlockFree)
}

/// Searches as much of the whole product as shows every deadlock, whatever the properties say; what was seen.
///
/// # Errors
/// A limit that was reached, or a program with procedures.
pub fn reduced_size(model: &Model, budget: &Budget, observer: &dyn Observer) -> Result<Exploration, StopReason> {
    refuse_stacks(model)?;
    let codec = Codec::new(model, UnrollLimits::default());
    let meter = Meter::new(budget, observer);
    with_coarse_width(codec.layout.n_words, Sizing { codec: &codec, meter: &meter })?
}

struct Sizing<'w> {
    codec: &'w Codec<'w>,
    meter: &'w Meter<'w>,
}

impl ForWidth for Sizing<'_> {
    type Output = Result<Exploration, StopReason>;

    fn run<const W: usize>(self) -> Self::Output {
        let machine = Machine { codec: self.codec, code: Compiler::new(self.codec).finish() };
        let actions = Actions::<W>::new(&machine);
        let rounds = Rounds::new(&machine, &actions, self.meter).run(false, 1);
        // Local state graphs that a limit cut do not have every local state.
        if let Some(reason) = self.meter.reason() {
            return Err(reason);
        }
        let keeping = Keeping { visible: [0; W], only_deadlocks: true };
        let outcome = StubbornSearch::new(&rounds, &[], keeping, (&machine, self.meter)).run();
        outcome.stopped.map_or(Ok(outcome.exploration), Err)
    }
}

/// What a search has to keep for its questions.
fn keeping<const W: usize>(codec: &Codec<'_>, model: &Model, asked: &[StateQuestion]) -> Keeping<W> {
    let mut visible = [0; W];
    let mut only_deadlocks = true;
    for asked in asked {
        let kind = &model.properties[asked.property].kind;
        only_deadlocks &= matches!(kind, PropertyKind::DeadlockFree);
        if matches!(kind, PropertyKind::Invariant(_) | PropertyKind::Reachable(_)) {
            for one in question::questions(model, kind).unwrap_or_default() {
                one.processes.iter().for_each(|who| add(&mut visible, codec.layout.control[who.index()]));
                one.cells.iter().for_each(|cell| add(&mut visible, codec.layout.locations[cell.index()].0));
            }
        }
    }
    Keeping { visible, only_deadlocks }
}

fn verdict(model: &Model, property: PropertyId, outcome: &StubbornOutcome, at: usize) -> Verdict {
    let is_goal = matches!(model.properties[property].kind, PropertyKind::Reachable(_));
    match &outcome.findings[at] {
        Some(Ok(trace)) if is_goal => Verdict::Holds(Evidence::Trace(trace.clone())),
        Some(Ok(trace)) => Verdict::Violated(Evidence::Trace(trace.clone())),
        Some(Err(reason)) => Verdict::Unknown(reason.clone()),
        None if outcome.exploration.complete => {
            let seen = Evidence::Reduced(outcome.exploration.clone());
            if is_goal { Verdict::Violated(seen) } else { Verdict::Holds(seen) }
        }
        None => Verdict::Unknown(outcome.stopped.clone().unwrap_or(StopReason::Cancelled)),
    }
}

fn statistics<const W: usize>(
    outcome: Option<&StubbornOutcome>,
    rounds: &Rounds<'_, W>,
    meter: &Meter<'_>,
) -> Statistics {
    let explored: Option<&Exploration> = outcome.map(|outcome| &outcome.exploration);
    Statistics {
        time: outcome.map_or_else(|| meter.elapsed(), |outcome| outcome.time),
        peak_memory_bytes: Some(meter.peak_bytes()),
        global_states: explored.map(|explored| explored.states),
        global_transitions: explored.map(|explored| explored.transitions),
        depth: explored.map(|explored| explored.depth),
        local_states: Some(rounds.graphs.iter().map(|graph| Some(graph.states.len() as u64)).collect()),
        ..Statistics::default()
    }
}

/// Bits of a packed state.
type StateBits<const W: usize> = Packed<W>;
