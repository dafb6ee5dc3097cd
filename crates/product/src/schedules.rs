//! Method `schedules`: violations among some of the runs, where all are too many.
//!
//! In: a task. Out: a run for each property that one of the runs tried violates (or, for `reachable`, shows); whatever they do not decide stays unknown, since
//! other runs may. Two kinds of runs are tried, from cheap to dear: all those in which only few processes of each family move, the others staying where they start, since most
//! mistakes need two or three processes (Lu, Park, Seo and Zhou, Learning from mistakes, ASPLOS 2008); and the runs of simple schedulers, in which all take their turns
//! (deterministic schedulers as in Emmi, Qadeer and Rakamarić, Delay-bounded scheduling, POPL 2011; `scheduler.rs`). `walk.rs` follows one for safety, `round.rs` for temporal properties, until it
//! goes round in a way that is fair.

mod round;
mod scheduler;
mod walk;

use std::time::Instant;

use base::{Budget, Coarse, StopReason};
use engine::meter::Meter;
use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Event, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, Trace};
use model::Model;
use model::process::{Family, ProcessId};
use model::property::PropertyKind;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::questions::StateQuestion;
use packed::width::{ForWidth, with_coarse_width};

use crate::findings::QuestionFinding;
use crate::search::{ProductSearch, SearchBounds};
use scheduler::Scheduler;
use walk::ScheduledWalk;

engine::config! {
    /// What bounds the runs that `schedules` tries.
    pub struct Config {
        /// The first searches, of few processes, end with the level on which they have seen so many states.
        pub first_states: usize = 20_000,
        /// The last searches, of more processes, end with so many.
        pub last_states: usize = 400_000,
        /// A scheduler is followed for so many steps of each process.
        pub steps_each: usize = 48,
        /// And for so many more.
        pub more_steps: usize = 200,
        /// So many schedulers choose at random, always in the same way.
        pub random: usize = 4,
        /// Runs of many processes are given up where their states have so many entries together, since a trace keeps all of them.
        pub trace_entries: usize = 16_000_000,
    }
}

/// Looks for violations among the runs of few processes, and of simple schedulers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedules {
    /// What bounds it.
    pub config: Config,
}

impl Engine for Schedules {
    fn method(&self) -> Method {
        Method::Schedules
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let meter = Meter::new(&task.budget, observer);
        let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
        let is_temporal = |id: &PropertyId| matches!(task.model.properties[*id].kind, PropertyKind::Temporal(_));
        let (runs, states): (Vec<PropertyId>, Vec<PropertyId>) = task.properties.iter().partition(|id| is_temporal(id));
        let started = Instant::now();
        let job = ScheduleJob {
            codec: &codec,
            config: &self.config,
            budget: &task.budget,
            meter: &meter,
            states,
            runs,
            started,
        };
        let found = match with_coarse_width(codec.layout.n_words, job) {
            Ok(found) => found,
            Err(reason) => return Ok(task.undecided(&reason)),
        };
        let reason = meter.reason().unwrap_or(StopReason::TooCoarse(Coarse::SomeRuns));
        let open = |property: &PropertyId| found.iter().all(|answer| answer.property != *property);
        let open = task.properties.iter().copied().filter(open).collect();
        let undecided = Task { properties: open, ..task.clone() }.undecided(&reason);
        let mut answers: Vec<Answer> = found.into_iter().chain(undecided).collect();
        answers.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
        Ok(answers)
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }
}

/// What is asked, to be looked for with states of some width.
struct ScheduleJob<'j> {
    codec: &'j Codec<'j>,
    config: &'j Config,
    budget: &'j Budget,
    meter: &'j Meter<'j>,
    /// Properties that states decide.
    states: Vec<PropertyId>,
    /// Properties that runs decide.
    runs: Vec<PropertyId>,
    started: Instant,
}

impl ForWidth for ScheduleJob<'_> {
    type Output = Vec<Answer>;

    fn run<const W: usize>(self) -> Vec<Answer> {
        let mut compiler = Compiler::new(self.codec);
        let compile = |&id: &PropertyId| StateQuestion::new(self.model(), id, &mut compiler);
        let open: Vec<StateQuestion> = self.states.iter().filter_map(compile).collect();
        let machine = Machine { codec: self.codec, code: compiler.finish() };
        let mut safety = Safety { job: &self, machine: &machine, open, answers: Vec::new() };
        let n_complete = safety.first::<W>();
        let mut answers = round::search::<W>(&self);
        safety.last::<W>(n_complete);
        answers.append(&mut safety.answers);
        answers
    }
}

impl ScheduleJob<'_> {
    fn model(&self) -> &Model {
        self.codec.model
    }

    /// How many steps a scheduler is followed for.
    fn n_steps(&self) -> usize {
        let n_processes = self.model().processes.len();
        let most = self.config.trace_entries / (n_processes + self.model().cells.len()).max(1);
        (n_processes * self.config.steps_each + self.config.more_steps).min(most)
    }

    /// The answer that a run is.
    fn found(&self, property: PropertyId, trace: Trace) -> Answer {
        let is_reachable = matches!(self.model().properties[property].kind, PropertyKind::Reachable(_));
        let depth = Some(trace.turns.len() as u64);
        let evidence = Evidence::Trace(trace);
        let verdict = if is_reachable { Verdict::Holds(evidence) } else { Verdict::Violated(evidence) };
        let peak_memory_bytes = Some(self.meter.peak_bytes());
        let statistics = Statistics { time: self.started.elapsed(), peak_memory_bytes, depth, ..Statistics::default() };
        let answer = Answer { property, verdict, statistics };
        self.meter.tell(Event::Decided(property));
        self.meter.answered(&answer);
        answer
    }
}

/// So many processes of each family move in the first searches.
const FEWEST: usize = 3;

/// The properties of states that are open still, and the answers so far.
struct Safety<'s, 'j> {
    job: &'s ScheduleJob<'j>,
    machine: &'s Machine<'s>,
    open: Vec<StateQuestion>,
    answers: Vec<Answer>,
}

impl Safety<'_, '_> {
    /// Looks at the runs that are cheap; all runs of how many processes of each family were looked at.
    fn first<const W: usize>(&mut self) -> usize {
        let (config, n_processes) = (self.job.config, self.job.model().processes.len());
        let n_complete = (1..=FEWEST).take_while(|&k| self.few::<W>(k, config.first_states as u64)).count();
        for scheduler in Scheduler::all(n_processes, config.random) {
            self.walk::<W>(scheduler);
        }
        n_complete
    }

    /// Looks at the runs of more processes.
    fn last<const W: usize>(&mut self, n_complete: usize) {
        let most_states = self.job.config.last_states as u64;
        let largest = self.job.model().families.iter().map(Family::count).max().unwrap_or(0);
        for k in n_complete + 1..largest {
            if !self.few::<W>(k, most_states) {
                break;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.open.is_empty() || self.job.meter.is_stopped()
    }

    /// Looks at all runs in which so many processes of each family move; whether those were all that there are.
    fn few<const W: usize>(&mut self, k: usize, most_states: u64) -> bool {
        let movers = first_of_each_family(self.job.model(), k);
        if self.is_over() || movers.len() == self.job.model().processes.len() {
            // All are the whole product, which is another method's.
            return false;
        }
        let bounds = SearchBounds { movers: Some(&movers), most_states };
        let outcome = ProductSearch::<W>::new(self.machine, &self.open, self.job.meter, 1).bounded(bounds).run();
        let is_complete = outcome.exploration.states < most_states && outcome.stopped.is_none();
        let mut findings = outcome.findings.into_iter();
        let (job, answers) = (self.job, &mut self.answers);
        self.open.retain(|question| match findings.next().flatten() {
            Some(finding @ QuestionFinding { result: Ok(_), .. }) => {
                answers.push(finding.answer(job.model(), question.property, job.meter));
                false
            }
            // An expression without a value stays open: another run may decide it.
            Some(_) | None => true,
        });
        is_complete
    }

    /// Follows a scheduler.
    fn walk<const W: usize>(&mut self, scheduler: Scheduler) {
        if self.is_over() {
            return;
        }
        let mut walk = ScheduledWalk::<W>::new(self.machine, scheduler);
        for _ in 0..self.job.n_steps() {
            let (job, answers) = (self.job, &mut self.answers);
            self.open.retain(|question| match walk.shows(&question.goal) {
                Some(trace) => {
                    answers.push(job.found(question.property, trace));
                    false
                }
                None => true,
            });
            if self.is_over() || !job.meter.may_go_on(walk.bytes()) || !walk.step() {
                break;
            }
        }
    }
}

/// The first processes of each family.
fn first_of_each_family(model: &Model, k: usize) -> Vec<ProcessId> {
    model.families.iter().flat_map(|family| family.processes().take(k)).collect()
}
