//! The reduced search: breadth first, with the chosen actions only.
//!
//! In: the relations of the actions and the questions. Out: what was explored, and for each question that a state or a step decided a run
//! to it, which need not be a shortest one. A chosen set that leads only to states whose steps were taken before could be
//! chosen for ever, round and round, and an action be ignored; so, unless only deadlocks are asked for, some chosen step has to
//! lead to a state whose turn is still to come, or all actions are taken.

use std::time::{Duration, Instant};

use base::StopReason;
use engine::Event;
use evidence::trace::trace_through;
use evidence::{Exploration, Trace};
use model::control::ActionId;
use model::eval::State;
use model::process::ProcessId;

use super::choice::{Keeping, StubbornChoice};
use super::relations::Relations;
use super::rival::{ReducedProgress, Rival};
use crate::findings::without_value;
use engine::meter::Meter;
use local::graphs::{ActionNumber, Actions, step_of};
use local::sets::Rows;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::{StateGoal, StateQuestion};

/// Limits are looked at after so many states.
const CHECK_EVERY: usize = 256;

/// A step of the reduced search is as much work as so many of the plain search, which looks states up in batches and does not name actions.
const STEP_WORK: u64 = 2;

/// So many looks at actions and locations are as much work as a step of the plain search.
const LOOKS_OF_STEP: u64 = 16;

/// No state comes before an initial one.
const NOTHING: u32 = u32::MAX;

/// What a search saw.
pub struct StubbornOutcome {
    /// By question: the run that decides it, or why there is none to show.
    pub findings: Vec<Option<Result<Trace, StopReason>>>,
    /// By question: that its expression has no value in some state.
    pub without_value: Vec<Option<StopReason>>,
    /// What was explored.
    pub exploration: Exploration,
    /// Why it ended early, if a limit was reached.
    pub stopped: Option<StopReason>,
    /// How long it took, the local state graphs included.
    pub time: Duration,
}

/// A search under way.
pub struct StubbornSearch<'s, const W: usize> {
    machine: &'s Machine<'s>,
    actions: &'s Actions<W>,
    questions: &'s [StateQuestion],
    meter: &'s Meter<'s>,
    keeping: Keeping<W>,
    choice: StubbornChoice<'s, W>,
    started: Instant,
    states: Rows<W>,
    /// By state: the one that it was found from.
    before: Vec<u32>,
    findings: Vec<Option<Result<Trace, StopReason>>>,
    without_value: Vec<Option<StopReason>>,
    exploration: Exploration,
    scratch: Scratch<W>,
    /// The steps of a state, kept for its memory.
    found: Vec<(ActionNumber, Packed<W>)>,
    /// How many steps were left out.
    n_left_out: u64,
    /// How many states' steps were taken, and where the next level begins.
    n_expanded: usize,
    level_end: usize,
}

/// How a search ended, or why it pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReducedEnd {
    /// Nothing is left, all is decided, or a limit was reached.
    Ended,
    /// This part of the steps was left out, which is less than wanted; it can go on.
    TooLittle(f64),
    /// The plain search has come to its end.
    Overtaken,
}

/// When a search asks whether it is worth its while.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// After so many states.
    pub n_states: usize,
    /// This part of the steps has to be left out.
    pub least_part: f64,
}

impl<'s, const W: usize> StubbornSearch<'s, W> {
    /// A search that has seen nothing.
    pub fn new(
        relations: Relations<'s, W>,
        questions: &'s [StateQuestion],
        keeping: Keeping<W>,
        (machine, meter): (&'s Machine<'s>, &'s Meter<'s>),
    ) -> Self {
        let exploration = Exploration { states: 0, transitions: 0, deadlocks: 0, errors: 0, depth: 0, complete: false };
        StubbornSearch {
            machine,
            actions: relations.actions,
            questions,
            meter,
            keeping,
            choice: StubbornChoice::new(relations, &keeping),
            started: Instant::now(),
            states: Rows::default(),
            before: Vec::new(),
            findings: questions.iter().map(|_| None).collect(),
            without_value: vec![None; questions.len()],
            exploration,
            scratch: machine.scratch(),
            found: Vec::new(),
            n_left_out: 0,
            n_expanded: 0,
            level_end: 0,
        }
    }

    /// What it saw, where it has ended.
    pub fn outcome(mut self) -> StubbornOutcome {
        let (states, peak) = (self.states.len() as u64, self.bytes());
        self.meter.add(peak);
        let stopped = self.meter.reason();
        self.exploration.states = states;
        self.exploration.complete = stopped.is_none() && !self.is_decided();
        if self.exploration.complete {
            let open = self.questions.iter().zip(&self.findings).filter(|(_, finding)| finding.is_none());
            open.for_each(|(question, _)| self.meter.tell(Event::Decided(question.property)));
        }
        self.meter.remove(peak);
        let time = self.started.elapsed();
        let StubbornSearch { findings, without_value, exploration, .. } = self;
        StubbornOutcome { findings, without_value, exploration, stopped, time }
    }

    fn is_decided(&self) -> bool {
        !self.questions.is_empty() && self.findings.iter().all(Option::is_some)
    }

    fn bytes(&self) -> u64 {
        self.states.bytes() + 4 * self.before.capacity() as u64
    }

    /// Stores the initial states.
    pub fn start(&mut self) {
        for state in InitialStates::<W>::new(self.machine.codec) {
            self.visit(&state, NOTHING);
            if self.states.len().is_multiple_of(CHECK_EVERY) && !self.meter.may_go_on(self.bytes()) {
                return;
            }
        }
        self.level_end = self.states.len();
    }

    /// Searches until every question is decided, nothing is left, or a limit is reached; without questions, to the end. The plain search works beside it. After so many
    /// states it asks whether what is left out is worth the search, and pauses if it is not.
    pub fn go_on(&mut self, trial: Option<Trial>, rival: &mut Rival<'_, W>) -> ReducedEnd {
        while self.n_expanded < self.states.len() && !self.is_decided() && !self.meter.is_stopped() {
            if self.n_expanded == self.level_end {
                self.level_end = self.states.len();
                self.exploration.depth += 1;
            }
            if self.expand(self.n_expanded as u32).is_break() {
                self.meter.stop(StopReason::Cancelled);
            }
            self.n_expanded += 1;
            if self.n_expanded.is_multiple_of(CHECK_EVERY) {
                self.meter.stored(CHECK_EVERY as u64);
                self.meter.may_go_on(self.bytes());
            }
            if rival.has_turn(self.n_expanded) && rival.keep_up(self.progress()) {
                return ReducedEnd::Overtaken;
            }
            if trial.is_some_and(|trial| self.n_expanded == trial.n_states) {
                let part = self.progress().part();
                if trial.is_some_and(|trial| part < trial.least_part) {
                    return ReducedEnd::TooLittle(part);
                }
            }
        }
        ReducedEnd::Ended
    }

    /// How much it has done.
    pub fn progress(&self) -> ReducedProgress {
        let (n_taken, n_left_out) = (self.exploration.transitions, self.n_left_out);
        let work = STEP_WORK * (n_taken + n_left_out) + self.choice.n_looks() / LOOKS_OF_STEP;
        ReducedProgress { work, n_taken, n_left_out }
    }

    /// The number of a state; a new one is looked at.
    fn visit(&mut self, state: &Packed<W>, from: u32) -> u32 {
        let (number, is_new) = self.states.number(*state);
        if is_new {
            self.before.push(from);
            self.look(number);
        }
        number
    }

    fn look(&mut self, number: u32) {
        let questions = self.questions;
        for (at, question) in questions.iter().enumerate() {
            let StateGoal::State(term, wanted) = question.goal else { continue };
            if self.findings[at].is_some() {
                continue;
            }
            match self.machine.test(term, self.states.row(number), &self.scratch) {
                Ok(truth) if truth == wanted => self.decide(at, number),
                Ok(_) => {}
                Err(_) => {
                    // Another state may decide it; if none does, that is the answer.
                    let (codec, state) = (self.machine.codec, self.states.row(number));
                    self.without_value[at].get_or_insert_with(|| without_value(codec, question, state));
                }
            }
        }
    }

    /// A question is decided by a state, or by a step from it.
    fn decide(&mut self, at: usize, number: u32) {
        let codec = self.machine.codec;
        let mut states: Vec<State> = Vec::new();
        let mut here = number;
        while here != NOTHING {
            states.push(codec.unpack(self.states.row(here)));
            here = self.before[here as usize];
        }
        states.reverse();
        let property = self.questions[at].property;
        let trace = trace_through(codec.model, states, &codec.model.properties[property].kind);
        self.findings[at] = Some(Ok(trace.expect("packed steps are those of `eval`")));
        self.meter.tell(Event::Decided(property));
    }

    fn decide_all(&mut self, number: u32, wanted: impl Fn(&StateGoal) -> bool) {
        let questions = self.questions;
        for (at, question) in questions.iter().enumerate() {
            if wanted(&question.goal) && self.findings[at].is_none() {
                self.decide(at, number);
            }
        }
    }

    fn expand(&mut self, number: u32) -> Flow {
        let state = *self.states.row(number);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let is_worth_it = self.choice.is_worth_it();
        let mut steps = ActionSteps {
            machine: self.machine,
            actions: self.actions,
            state: &state,
            wants_actions: is_worth_it,
            action: NOTHING,
            pending: None,
            found,
            n_faults: 0,
        };
        let can_move = self.machine.expand(&state, &self.scratch, &mut steps)?;
        let ActionSteps { found, n_faults, .. } = steps;
        if !can_move && self.machine.somebody_waits(&state) {
            self.exploration.deadlocks += 1;
            self.decide_all(number, |goal| matches!(goal, StateGoal::Deadlock));
        }
        if n_faults > 0 {
            self.exploration.errors += n_faults;
            self.decide_all(number, |goal| matches!(goal, StateGoal::Fault));
        }
        // Whose action a fault is, is not known here.
        let may_choose = is_worth_it && n_faults == 0 && found.len() > 1;
        let is_reduced =
            may_choose && self.choice.choose(self.machine, &state, found.iter().map(|(action, _)| *action));
        let mut goes_on = false;
        for (action, next) in &found {
            if !is_reduced || self.choice.is_chosen(*action) {
                self.exploration.transitions += 1;
                goes_on |= self.visit(next, number) > number;
            } else {
                self.n_left_out += 1;
            }
        }
        if is_reduced && !goes_on && !self.keeping.only_deadlocks {
            for (action, next) in &found {
                if !self.choice.is_chosen(*action) {
                    self.n_left_out -= 1;
                    self.exploration.transitions += 1;
                    self.visit(next, number);
                }
            }
        }
        self.found = found;
        Flow::Continue(())
    }
}

/// Collects steps with their actions.
struct ActionSteps<'s, 'm, const W: usize> {
    machine: &'s Machine<'m>,
    actions: &'s Actions<W>,
    state: &'s Packed<W>,
    /// Whether anybody asks which action a step is.
    wants_actions: bool,
    /// The action at hand, or nothing where only what begins is known.
    action: ActionNumber,
    pending: Option<(ActionId, Option<(ProcessId, ActionId)>)>,
    found: Vec<(ActionNumber, Packed<W>)>,
    n_faults: u64,
}

impl<const W: usize> Sink<W> for ActionSteps<'_, '_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        // The process is known when the step leads somewhere.
        self.action = NOTHING;
        self.pending = Some((action, partner));
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        if self.action == NOTHING && self.wants_actions {
            let (action, partner) = self.pending.expect("a step begins before it leads anywhere");
            let own = step_of(self.machine, process, self.state, action);
            self.action = match partner {
                None => own,
                Some((other, theirs)) => self.actions.meeting(own, step_of(self.machine, other, self.state, theirs)),
            };
        }
        self.found.push((self.action, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, n_faults: u64) -> Flow {
        self.n_faults += n_faults;
        Flow::Continue(())
    }
}
