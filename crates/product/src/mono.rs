//! Method `mono`: the whole product, explicit.

use base::{Budget, StopReason};
use engine::{Answer, Engine, EngineError, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, Exploration};
use model::Model;
use model::property::PropertyKind;

use crate::findings::QuestionFinding;
use crate::liveness;
use crate::search::{ProductSearch, SearchOutcome};
use engine::meter::Meter;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::questions::StateQuestion;
use packed::width::{ForWidth, with_width};

/// Searches the whole product breadth first, and its graph for fair loops; answers every question.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mono;

impl Engine for Mono {
    fn method(&self) -> Method {
        Method::Mono
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let is_temporal = |id: &PropertyId| matches!(task.model.properties[*id].kind, PropertyKind::Temporal(_));
        let (temporal, safety): (Vec<PropertyId>, Vec<PropertyId>) =
            task.properties.iter().partition(|id| is_temporal(id));
        let (first, together) = if temporal.is_empty() { (safety, Vec::new()) } else { (Vec::new(), safety) };
        let mut answers = search(task, first, observer);
        // One exploration serves both kinds; where a search could go on disk, the graph leaves room for it.
        let most_bytes = task.budget.disk().and(task.budget.memory_limit()).map(|bytes| bytes / 2);
        let liveness = |task: &Task<'_>, others: &[PropertyId], most_bytes: Option<u64>| {
            liveness::run(task, others, &Meter::new(&task.budget, observer), most_bytes)
        };
        answers.extend(liveness(task, &together, most_bytes));
        // A graph takes more room than its states alone.
        let lacks_room = |answer: &Answer| matches!(&answer.verdict, Verdict::Unknown(reason) if is_room(reason));
        let again = answers.iter().filter(|answer| lacks_room(answer) && together.contains(&answer.property));
        let again: Vec<PropertyId> = again.map(|answer| answer.property).collect();
        answers.retain(|answer| !again.contains(&answer.property));
        answers.extend(search(task, again, observer));
        // A graph that was given up has all of the memory now.
        let is_open = |id: &&PropertyId| !answers.iter().any(|answer| answer.property == **id);
        let open: Vec<PropertyId> = temporal.iter().filter(is_open).copied().collect();
        if !open.is_empty() {
            answers.extend(liveness(&Task { properties: open, ..task.clone() }, &[], None));
        }
        answers.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
        Ok(answers)
    }
}

/// Whether a search that stores less may get further.
pub(crate) fn is_room(reason: &StopReason) -> bool {
    matches!(reason, StopReason::MemoryLimit(_) | StopReason::NotSupported(_))
}

/// Answers properties that are not temporal, and tells them.
fn search(task: &Task<'_>, asked: Vec<PropertyId>, observer: &dyn Observer) -> Vec<Answer> {
    if asked.is_empty() {
        return Vec::new();
    }
    let meter = Meter::new(&task.budget, observer);
    let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
    let job = MonoJob { codec: &codec, asked: asked.clone(), meter: &meter, n_threads: task.n_threads };
    let answers: Vec<Answer> = match with_width(codec.layout.n_words, job) {
        Ok((asked, outcome)) => {
            let answer = |(at, &property)| outcome.answer(task.model, property, at, &meter);
            asked.iter().enumerate().map(answer).collect()
        }
        Err(reason) => Task { properties: asked, ..task.clone() }.undecided(&reason),
    };
    // What only the end of the search decides is told before loops are looked for.
    answers.iter().for_each(|answer| observer.answered(answer));
    answers
}

/// Explores the whole product, whatever the properties say. With why it ended early, if it did.
pub fn explore(
    model: &Model,
    budget: &Budget,
    n_threads: usize,
    observer: &dyn Observer,
) -> (Exploration, Statistics, Option<StopReason>) {
    let meter = Meter::new(budget, observer);
    let codec = Codec::new(model, UnrollLimits::default());
    let job = MonoJob { codec: &codec, asked: Vec::new(), meter: &meter, n_threads };
    match with_width(codec.layout.n_words, job) {
        Err(reason) => {
            let nothing = Exploration { states: 0, transitions: 0, deadlocks: 0, errors: 0, depth: 0, complete: false };
            (nothing, Statistics::default(), Some(reason))
        }
        Ok((_, outcome)) => {
            let statistics = statistics(&outcome.exploration, outcome.time, &meter);
            (outcome.exploration, statistics, outcome.stopped)
        }
    }
}

/// A search to be run with states of some width.
struct MonoJob<'j> {
    codec: &'j Codec<'j>,
    asked: Vec<PropertyId>,
    meter: &'j Meter<'j>,
    n_threads: usize,
}

impl ForWidth for MonoJob<'_> {
    type Output = (Vec<PropertyId>, SearchOutcome);

    fn run<const W: usize>(self) -> Self::Output {
        let mut compiler = Compiler::new(self.codec);
        let compile = |&id: &PropertyId| StateQuestion::new(self.codec.model, id, &mut compiler);
        let questions: Vec<StateQuestion> = self.asked.iter().filter_map(compile).collect();
        let machine = Machine { codec: self.codec, code: compiler.finish() };
        let outcome = ProductSearch::<W>::new(&machine, &questions, self.meter, self.n_threads).run();
        (self.asked, outcome)
    }
}

impl QuestionFinding {
    /// The answer that it is.
    pub(crate) fn answer(&self, model: &Model, property: PropertyId, meter: &Meter<'_>) -> Answer {
        let verdict = match &self.result {
            Ok(trace) if is_reachable(model, property) => Verdict::Holds(Evidence::Trace(trace.clone())),
            Ok(trace) => Verdict::Violated(Evidence::Trace(trace.clone())),
            Err(reason) => Verdict::Unknown(reason.clone()),
        };
        Answer { property, verdict, statistics: statistics(&self.explored, self.time, meter) }
    }
}

fn is_reachable(model: &Model, property: PropertyId) -> bool {
    matches!(model.properties[property].kind, PropertyKind::Reachable(_))
}

impl SearchOutcome {
    /// The answer to the question at a position.
    pub(crate) fn answer(&self, model: &Model, property: PropertyId, at: usize, meter: &Meter<'_>) -> Answer {
        let is_reachable = is_reachable(model, property);
        match &self.findings[at] {
            Some(finding) => finding.answer(model, property, meter),
            None => {
                let explored = Evidence::Exploration(self.exploration.clone());
                // Also where a limit ended the search: that it has no value somewhere stays true, and it never holds then.
                let verdict = match (&self.without_value[at], &self.stopped) {
                    (Some(reason), _) => Verdict::Unknown(reason.clone()),
                    _ if self.exploration.complete && is_reachable => Verdict::Violated(explored),
                    _ if self.exploration.complete => Verdict::Holds(explored),
                    (None, reason) => Verdict::Unknown(reason.clone().unwrap_or(StopReason::Cancelled)),
                };
                Answer { property, verdict, statistics: statistics(&self.exploration, self.time, meter) }
            }
        }
    }
}

fn statistics(explored: &Exploration, time: std::time::Duration, meter: &Meter<'_>) -> Statistics {
    Statistics {
        time,
        peak_memory_bytes: Some(meter.peak_bytes()),
        global_states: Some(explored.states),
        global_transitions: Some(explored.transitions),
        depth: Some(explored.depth),
        ..Statistics::default()
    }
}
