//! Method `stubborn`: the whole product with partial-order reduction, explicit (Valmari; Zheng's framework for local graphs).
//!
//! In: a task. Out: an answer for each safety property that reduction preserves. At each state a set of actions is chosen that
//! nobody outside can disturb, and only those are taken; what is left out commutes with them. Which actions commute, and what could
//! enable an action, is read from the text. Where that leaves out little, local state graphs are asked which actions commute, as long as they are
//! small; and where they do not help either, the whole product is searched. While little is left out, the plain search works beside, so that reduction never costs much more than twice as
//! much. `docs/reduction.md` says why deadlocks and violations are not lost.
//!
//! `effects.rs`: what a step may do. `queues.rs`: sends and receives. `relations.rs`: which actions may disturb each other. `dependence.rs`: the same from local state
//! graphs. `needs.rs`: what a set needs besides, as rows of bits. `choice.rs`: the set of actions for a state. `search.rs`: the search. `rival.rs`: the plain
//! search beside it.

mod choice;
mod dependence;
mod effects;
mod needs;
mod queues;
mod relations;
mod rival;
mod search;

use std::time::Instant;

use base::{Budget, StopReason};
use compose::question;
use engine::{Answer, Engine, EngineError, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, Exploration};
use model::Model;
use model::property::PropertyKind;

use crate::search::{ProductSearch, SearchOutcome};
use choice::Keeping;
use dependence::{GraphLimits, dependent_pairs};
use engine::meter::Meter;
use local::graphs::{Actions, refuse_stacks};
use packed::code::SyncStep;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::questions::StateQuestion;
use packed::width::{ForWidth, with_width};
use packed::words::add;
use relations::Relations;
use rival::{Rival, RivalPace};
use search::{ReducedEnd, StubbornOutcome, StubbornSearch, Trial};

/// With more actions than this nothing is left out: what they need of each other would take too much room.
const MOST_ACTIONS: usize = 20_000;

/// Searches as much of the whole product as safety properties need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stubborn;

impl Engine for Stubborn {
    fn method(&self) -> Method {
        Method::Stubborn
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        answers(task, observer, ReductionSetup::USUAL)
    }
}

/// The same with what the text alone says about steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct StubbornByText;

impl Engine for StubbornByText {
    fn method(&self) -> Method {
        Method::Stubborn
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        answers(task, observer, ReductionSetup { dependence: DependenceFrom::Text, ..ReductionSetup::USUAL })
    }
}

/// The same, where the plain search works as much from the first step on, whatever is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct StubbornBesidePlain;

impl Engine for StubbornBesidePlain {
    fn method(&self) -> Method {
        Method::Stubborn
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        answers(task, observer, ReductionSetup { pace: RivalPace::ALWAYS, ..ReductionSetup::USUAL })
    }
}

/// How a reduced search is made.
#[derive(Clone, Copy, Debug)]
struct ReductionSetup {
    dependence: DependenceFrom,
    pace: RivalPace,
}

impl ReductionSetup {
    const USUAL: ReductionSetup = ReductionSetup { dependence: DependenceFrom::Both, pace: RivalPace::USUAL };
}

/// What says which steps are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DependenceFrom {
    /// The text.
    Text,
    /// The text, and local state graphs where they are small, or where the text leaves out little.
    Both,
}

fn answers(task: &Task<'_>, observer: &dyn Observer, setup: ReductionSetup) -> Result<Vec<Answer>, EngineError> {
    let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
    let work = StubbornWork { codec: &codec, task, observer, setup };
    Ok(with_width(codec.layout.n_words, work).unwrap_or_else(|stop| task.undecided(&stop)))
}

struct StubbornWork<'w> {
    codec: &'w Codec<'w>,
    task: &'w Task<'w>,
    observer: &'w dyn Observer,
    setup: ReductionSetup,
}

impl ForWidth for StubbornWork<'_> {
    type Output = Vec<Answer>;

    /// Deadlocks need less than other questions do, so they have a search of their own.
    fn run<const W: usize>(self) -> Vec<Answer> {
        let StubbornWork { codec, task, observer, setup } = self;
        let mut compiler = Compiler::new(codec);
        let compile = |&id: &PropertyId| StateQuestion::new(task.model, id, &mut compiler);
        let questions: Vec<StateQuestion> = task.properties.iter().filter_map(compile).collect();
        let machine = Machine { codec, code: compiler.finish() };
        let meter = Meter::new(&task.budget, observer);
        let is_deadlock = |question: &StateQuestion| is_deadlock(task.model, question.property);
        let (deadlocks, others): (Vec<StateQuestion>, Vec<StateQuestion>) =
            questions.into_iter().partition(is_deadlock);
        let mut answers = Vec::new();
        for asked in [deadlocks, others].into_iter().filter(|asked| !asked.is_empty()) {
            let keeping: Keeping<W> = keeping(codec, task.model, &asked);
            let outcome = ReducedWork {
                machine: &machine,
                questions: &asked,
                keeping,
                meter: &meter,
                budget: &task.budget,
                setup,
            }
            .run();
            for (at, question) in asked.iter().enumerate() {
                let verdict = verdict(task.model, question.property, &outcome, at);
                let statistics = statistics(&outcome, &meter);
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
    with_width(codec.layout.n_words, Sizing { codec: &codec, meter: &meter, budget })?
}

struct Sizing<'w> {
    codec: &'w Codec<'w>,
    meter: &'w Meter<'w>,
    budget: &'w Budget,
}

impl ForWidth for Sizing<'_> {
    type Output = Result<Exploration, StopReason>;

    fn run<const W: usize>(self) -> Self::Output {
        let machine = Machine { codec: self.codec, code: Compiler::new(self.codec).finish() };
        let keeping = Keeping { visible: [0; W], only_deadlocks: true };
        let outcome = ReducedWork {
            machine: &machine,
            questions: &[],
            keeping,
            meter: self.meter,
            budget: self.budget,
            setup: ReductionSetup::USUAL,
        }
        .run();
        outcome.stopped.map_or(Ok(outcome.exploration), Err)
    }
}

/// After so many states a reduced search has to have shown that it is worth its while.
const TRIAL: usize = 60_000;

/// Where less than this part of the steps is left out, local state graphs may help.
const LITTLE: f64 = 0.3;

/// Where less than this part of the steps is left out, it takes longer to leave them out than to take them. (Few steps less may be many states less.)
const TOO_LITTLE: f64 = 0.02;

/// To make larger local state graphs takes as long as so many steps of the plain search.
const GRAPHS_WORK: u64 = 1_500_000;

/// A reduced search for some questions.
struct ReducedWork<'w, const W: usize> {
    machine: &'w Machine<'w>,
    questions: &'w [StateQuestion],
    keeping: Keeping<W>,
    meter: &'w Meter<'w>,
    budget: &'w Budget,
    setup: ReductionSetup,
}

impl<'w, const W: usize> ReducedWork<'w, W> {
    /// Searches as much as is needed, or everything where the plain search is through first.
    fn run(self) -> StubbornOutcome {
        let (started, held) = (Instant::now(), self.meter.bytes());
        let plain = ProductSearch::<W>::new(self.machine, self.questions, self.meter, 1);
        let mut rival = Rival::new(plain, self.setup.pace);
        let outcome = match self.reduced(&mut rival) {
            Some(mut outcome) => {
                // What the plain search has told stays.
                for (finding, known) in outcome.findings.iter_mut().zip(rival.known()) {
                    known.iter().for_each(|known| *finding = Some(known.result.clone()));
                }
                outcome
            }
            None => whole(rival.outcome()),
        };
        self.meter.remove(self.meter.bytes().saturating_sub(held));
        StubbornOutcome { time: started.elapsed(), ..outcome }
    }

    /// Searches with what the text says, and small local state graphs; then, where that leaves out little, with what larger ones say. `None` where everything is to be searched.
    fn reduced(&self, rival: &mut Rival<'w, W>) -> Option<StubbornOutcome> {
        // To make very many, for nothing, would take longer than the search.
        if n_actions(self.machine) > MOST_ACTIONS {
            return None;
        }
        let actions = Actions::<W>::new(self.machine);
        debug_assert_eq!(actions.n_actions(), n_actions(self.machine));
        let by_graphs = |limits: GraphLimits| match self.setup.dependence {
            DependenceFrom::Text => None,
            DependenceFrom::Both => dependent_pairs(self.machine, self.budget, limits),
        };
        let relations = || Relations::new(self.machine, &actions);
        let small = by_graphs(GraphLimits::SMALL);
        let (are_known, least_part) = if small.is_some() { (true, TOO_LITTLE) } else { (false, LITTLE) };
        let trial = |least_part| Some(Trial { n_states: TRIAL, least_part });
        let mut search = self.search(small.into_iter().fold(relations(), Relations::with_dependent));
        let part = match search.go_on(trial(least_part), rival) {
            ReducedEnd::Ended => return Some(search.outcome()),
            ReducedEnd::Overtaken => return None,
            ReducedEnd::TooLittle(part) => part,
        };
        let makes_graphs = self.setup.dependence == DependenceFrom::Both;
        if are_known || makes_graphs && rival.get_ahead(search.progress(), GRAPHS_WORK) {
            return None;
        }
        let least_part = match by_graphs(GraphLimits::LARGE) {
            Some(pairs) => {
                rival.note(search.progress());
                search = self.search(relations().with_dependent(pairs));
                trial(TOO_LITTLE)
            }
            None if part < TOO_LITTLE => return None,
            None => None,
        };
        (search.go_on(least_part, rival) == ReducedEnd::Ended).then(|| search.outcome())
    }

    fn search<'s>(&self, relations: Relations<'s, W>) -> StubbornSearch<'s, W>
    where
        'w: 's,
    {
        let mut search = StubbornSearch::new(relations, self.questions, self.keeping, (self.machine, self.meter));
        search.start();
        search
    }
}

/// How many actions a program has: its steps, and those of each sender with each step of another process that receives from the same channel.
fn n_actions(machine: &Machine<'_>) -> usize {
    let (n_channels, n_processes) = (machine.code.receivers.len(), machine.code.points.len());
    // By channel and process: how many of its steps send, and how many receive.
    let mut sides = vec![vec![[0_usize; 2]; n_processes]; n_channels];
    for (process, points) in machine.code.points.iter().enumerate() {
        for point in points {
            for step in &machine.code.steps[point.first as usize..point.end as usize] {
                match step.sync.as_deref() {
                    Some(SyncStep::Send(channel, _)) => sides[channel.index()][process][0] += 1,
                    Some(SyncStep::Receive(channel, _)) => sides[channel.index()][process][1] += 1,
                    None => {}
                }
            }
        }
    }
    let n_meetings = |channel: &Vec<[usize; 2]>| {
        let all = channel.iter().fold([0; 2], |sum: [usize; 2], one| [sum[0] + one[0], sum[1] + one[1]]);
        let alone: usize = channel.iter().map(|one| one[0] * one[1]).sum();
        all[0] * all[1] - alone
    };
    machine.code.steps.len() + sides.iter().map(n_meetings).sum::<usize>()
}

/// What the plain search saw.
fn whole(outcome: SearchOutcome) -> StubbornOutcome {
    let SearchOutcome { findings, without_value, exploration, stopped, time } = outcome;
    let findings = findings.into_iter().map(|finding| finding.map(|finding| finding.result)).collect();
    StubbornOutcome { findings, without_value, exploration, stopped, time }
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
    match (&outcome.findings[at], &outcome.without_value[at]) {
        (Some(Ok(trace)), _) if is_goal => Verdict::Holds(Evidence::Trace(trace.clone())),
        (Some(Ok(trace)), _) => Verdict::Violated(Evidence::Trace(trace.clone())),
        (Some(Err(reason)), _) | (None, Some(reason)) => Verdict::Unknown(reason.clone()),
        (None, None) if outcome.exploration.complete => {
            let seen = Evidence::Reduced(outcome.exploration.clone());
            if is_goal { Verdict::Violated(seen) } else { Verdict::Holds(seen) }
        }
        (None, None) => Verdict::Unknown(outcome.stopped.clone().unwrap_or(StopReason::Cancelled)),
    }
}

fn statistics(outcome: &StubbornOutcome, meter: &Meter<'_>) -> Statistics {
    let explored = &outcome.exploration;
    Statistics {
        time: outcome.time,
        peak_memory_bytes: Some(meter.peak_bytes()),
        global_states: Some(explored.states),
        global_transitions: Some(explored.transitions),
        depth: Some(explored.depth),
        ..Statistics::default()
    }
}

/// Bits of a packed state.
type StateBits<const W: usize> = Packed<W>;
