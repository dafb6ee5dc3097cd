//! A race: methods that work in turns, each with its share, under one budget.
//!
//! In: a task and methods with their shares. Out: a result for each question. Each method works in a thread of its own (`runner.rs`), which waits
//! between its turns and then goes on where it stopped, so that nothing is done twice. The next turn is for the method that would be furthest behind its share at the end of it
//! (weighted fair queueing, A. Demers, S. Keshav and S. Shenker, 1989); turns are milliseconds at first, and grow with the work that was done.
//! What a method worked is processor time, as far as the system counts it, else what its turns are worth on a machine that may be busy with other programs (`processor.rs`), so that as much is decided beside them. No more threads are at work than are allowed. An answer counts once it is audited; whoever works on nothing but settled questions is stopped.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use base::budget::allowance;
use base::gate::Gate;
use base::{Budget, CancelToken, StopReason};
use engine::run::PropertyResult;
use engine::{AttemptOutcome, Event, Method, Observer, PropertyId, Task, Verdict};
use model::Model;

use super::Config;
use super::plan::RaceEntry;
use super::processor::{Pace, ThreadTime};
use super::runner::{Post, RunnerJob, RunnerMessage};
use super::shares::Shares;
use super::standing::{RaceStanding, WHOLE_PRODUCT, attempt};
use crate::mistake::Mistake;
use crate::watchdog::ENGINE_GRACE;

/// How often the race reads the clock when nothing happens.
const TICK: Duration = Duration::from_millis(10);

/// A runner that does not end a turn so many times as long as it should be, and for so long at least, does not keep the others waiting.
const OVERRUN: (u32, Duration) = (4, Duration::from_millis(100));

/// A search of the whole product that has to end may take so long on the clock to say how far it came.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// The share of a method that guesses that its end is near is so many times as large; it is so for no longer than it has worked already.
const NEAR: f64 = 8.0;

/// What is left takes up to so many times as long as it is guessed.
const GUESS_MARGIN: f64 = 1.5;

/// One race.
pub struct Race<'a> {
    task: &'a Task<'a>,
    observer: &'a dyn Observer,
    standing: RaceStanding<'a>,
    config: Config,
    runners: Vec<Runner>,
    /// All runners together may work so long.
    at_most: Option<Duration>,
    /// What time on the clock is worth, from the first race on.
    pace: Rc<Pace>,
    /// What runners say, and where they say it.
    inbox: Receiver<(usize, RunnerMessage)>,
    sender: Sender<(usize, RunnerMessage)>,
    /// The program, shared by all runners.
    model: Arc<Model>,
}

/// A method in the race, with some questions.
struct Runner {
    step: RaceEntry,
    /// Its part of the work beside the others' parts, at first and later.
    shares: Shares,
    asked: Vec<PropertyId>,
    /// The questions on which it has not reported.
    silent: Vec<PropertyId>,
    gate: Arc<Gate>,
    /// What its thread works, and whether that is what counts.
    processor: Arc<ThreadTime>,
    is_counted: bool,
    /// What time on the clock is worth.
    pace: Rc<Pace>,
    cancel: CancelToken,
    budget: Budget,
    stage: RunnerStage,
    /// Whether it has had a turn.
    has_begun: bool,
    /// How long it will have worked when it is through, where it has a guess.
    through: Option<Duration>,
}

/// Where a runner is.
#[derive(Clone, Copy, PartialEq)]
enum RunnerStage {
    /// It has not begun.
    Ready,
    /// It has a turn, before which it had worked so long, and had had turns so long on the clock.
    Working { before: Duration, clock: Duration, turn: Duration },
    /// It waits for its next turn, and has worked so long.
    Paused { worked: Duration },
    /// It is through, or was stopped, and had worked so long by then.
    Ended { worked: Duration },
}

/// Whether a method works in the thread that it is started in: diagrams have threads of their own.
pub fn is_countable(step: &RaceEntry) -> bool {
    step.n_threads == 1 && !works_with_diagrams(step)
}

/// Whether a method has diagrams from the beginning.
fn works_with_diagrams(step: &RaceEntry) -> bool {
    use Method::{Backward, Completion, Forward, Global, Split};
    matches!(step.engine.method(), Backward | Completion | Forward | Global | Split)
}

/// Whether a method goes on with diagrams where lists grow too long.
fn may_turn_to_diagrams(step: &RaceEntry) -> bool {
    use Method::{FllA, FllB, Ll, Pairwise, Triple};
    matches!(step.engine.method(), FllA | FllB | Ll | Pairwise | Triple)
}

impl Runner {
    fn is_live(&self) -> bool {
        !matches!(self.stage, RunnerStage::Ended { .. })
    }

    /// What it has worked: the processor time of its thread, or what its turns are worth at the pace of those that are counted.
    fn worked(&self) -> Duration {
        match self.stage {
            RunnerStage::Ready => Duration::ZERO,
            RunnerStage::Paused { worked } | RunnerStage::Ended { worked } => worked,
            RunnerStage::Working { before, clock, .. } => {
                let estimated = || before + self.pace.worth(self.gate.worked().saturating_sub(clock));
                let counted = self.processor.worked().filter(|_| self.is_counted);
                counted.unwrap_or_else(estimated)
            }
        }
    }

    /// Whether it guesses that its end is near: that it has done the greater part of its work.
    fn is_near(&self) -> bool {
        let worked = self.worked();
        self.through.is_some_and(|through| worked < through && through <= 2 * worked)
    }

    /// Its turn is over.
    fn pause(&mut self) {
        if let RunnerStage::Working { before, clock, .. } = self.stage {
            let worked = self.worked();
            if self.is_counted {
                self.pace.note(worked.saturating_sub(before), self.gate.worked().saturating_sub(clock));
            }
            self.stage = RunnerStage::Paused { worked };
        }
    }

    /// How many threads it keeps busy. One that overran its turn by far does not count.
    fn n_busy(&self) -> usize {
        match self.stage {
            RunnerStage::Working { before, turn, .. }
                if self.worked().saturating_sub(before) < turn + (turn * OVERRUN.0).max(OVERRUN.1) =>
            {
                self.step.n_threads
            }
            _ => 0,
        }
    }

    /// Lets it notice that it is cancelled.
    fn stop(&mut self) {
        self.end();
        self.cancel.cancel();
        self.gate.release();
    }

    /// It does not count any more; what it has worked does.
    fn end(&mut self) {
        self.pause();
        self.stage = RunnerStage::Ended { worked: self.worked() };
    }
}

impl<'a> Race<'a> {
    /// A race for what is open.
    pub fn new(task: &'a Task<'a>, observer: &'a dyn Observer, standing: RaceStanding<'a>, config: Config) -> Self {
        let (sender, inbox) = mpsc::channel();
        let model = Arc::new(task.model.clone());
        let (runners, at_most, pace) = (Vec::new(), None, Rc::default());
        Race { task, observer, standing, config, runners, at_most, pace, inbox, sender, model }
    }

    /// Lets methods work on what is open, until all is decided or they have worked so long together, if that is limited.
    pub fn compete(&mut self, steps: &[RaceEntry], at_most: Option<Duration>) {
        self.at_most = at_most;
        self.line_up(steps);
        self.go_on();
    }

    /// Lets the search of the whole product work alone for so long, before all others, and for as long again where its end is near; it goes on beside them where it stopped.
    pub fn head_start(&mut self, most: Duration) {
        let is_search = |runner: &Runner| runner.step.engine.name() == WHOLE_PRODUCT;
        let has_time = |runner: &Runner| runner.worked() < if runner.is_near() { 2 * most } else { most };
        if let Some(search) = self.runners.iter().position(is_search) {
            self.turns(Some(search), |race| race.runners[search].is_live() && has_time(&race.runners[search]));
        }
    }

    /// Lets all work until all is decided, or they have worked so long together as they may.
    pub fn go_on(&mut self) {
        self.turns(None, |_| true);
        self.close();
    }

    /// The standing of the race.
    pub fn standing(&mut self) -> &mut RaceStanding<'a> {
        &mut self.standing
    }

    /// Ends it.
    ///
    /// # Errors
    /// A mistake of ours: evidence that fails its audit, methods that disagree, an engine that contradicts itself.
    pub fn results(self) -> Result<Vec<PropertyResult>, Box<Mistake>> {
        let elapsed = self.task.budget.elapsed();
        let stopped = self.task.budget.check(0).err();
        match self.standing.failure {
            Some(failure) => Err(failure),
            None => Ok(self.standing.results(stopped.as_ref(), elapsed)),
        }
    }

    /// One runner for each method that has something to answer, or for each of its questions.
    pub fn line_up(&mut self, steps: &[RaceEntry]) {
        let (model, open) = (self.task.model, self.standing.open());
        let mut entries: Vec<(&RaceEntry, Shares, Vec<PropertyId>)> = Vec::new();
        for step in steps {
            let supported = |id: &&PropertyId| step.engine.supports(model, **id).is_ok();
            let asked: Vec<PropertyId> = open.iter().filter(supported).copied().collect();
            let group = if step.one_by_one { 1 } else { asked.len().max(1) };
            let n_groups = asked.chunks(group).len();
            let shares = step.shares.divided(n_groups);
            entries.extend(asked.chunks(group).map(|asked| (step, shares, asked.to_vec())));
        }
        let budgets = self.task.budget.shared_by(entries.len());
        for (runner, ((step, shares, asked), budget)) in entries.into_iter().zip(budgets).enumerate() {
            let post = Post { runner, sender: self.sender.clone() };
            let gate = Arc::new(Gate::new(move || post.send(RunnerMessage::Paused)));
            let cancel = budget.cancel_token().child();
            let budget = budget.cancelled_by(cancel.clone()).gated_by(&gate);
            let (step, silent) = (step.clone(), asked.clone());
            let is_counted = is_countable(&step) && (self.at_most.is_some() || !may_turn_to_diagrams(&step));
            let (processor, stage) = (Arc::default(), RunnerStage::Ready);
            self.runners.push(Runner {
                step,
                shares,
                asked,
                silent,
                gate,
                processor,
                is_counted,
                pace: Rc::clone(&self.pace),
                cancel,
                budget,
                stage,
                has_begun: false,
                through: None,
            });
        }
    }

    /// Gives turns, to one runner or to all, until the race is over or they are not to go on.
    fn turns(&mut self, only: Option<usize>, goes_on: impl Fn(&Self) -> bool) {
        while !self.is_over() && goes_on(self) {
            self.give_turns(only);
            if let Ok((runner, message)) = self.inbox.recv_timeout(TICK) {
                self.receive(runner, message);
            }
        }
    }

    /// Whether there is nothing left to do, or nothing to do it with.
    fn is_over(&self) -> bool {
        self.standing.failure.is_some()
            || self.standing.open().is_empty()
            || self.runners.iter().all(|runner| !runner.is_live())
            || self.task.budget.check(0).is_err()
            || self.is_limited()
    }

    /// What all runners have worked.
    pub fn worked(&self) -> Duration {
        self.runners.iter().map(Runner::worked).sum()
    }

    /// Whether the runners may not work any longer.
    pub fn is_limited(&self) -> bool {
        self.at_most.is_some_and(|most| self.worked() >= most)
    }

    /// Why runners are stopped that no other overtook.
    fn limit(&self) -> StopReason {
        match self.at_most {
            Some(most) if self.is_limited() => StopReason::TimeLimit(most),
            _ => StopReason::Cancelled,
        }
    }

    /// Receives for a while the messages of some runners that have begun.
    fn listen(&mut self, at_most: Duration, whom: impl Fn(&Runner) -> bool) {
        let since = Instant::now();
        let is_awaited = |runner: &Runner| runner.is_live() && runner.stage != RunnerStage::Ready && whom(runner);
        while self.runners.iter().any(is_awaited) && since.elapsed() < at_most {
            if let Ok((runner, message)) = self.inbox.recv_timeout(TICK) {
                self.receive(runner, message);
            }
        }
    }

    /// Gives turns while threads are free, to one runner or to all.
    fn give_turns(&mut self, only: Option<usize>) {
        let part = u32::try_from(self.config.turn_part).unwrap_or(u32::MAX).max(1);
        let turn = self.config.first_turn.max(self.worked() / part);
        loop {
            let busy: usize = self.runners.iter().map(Runner::n_busy).sum();
            let Some(next) = self.furthest_behind(turn, only) else { return };
            let needed = self.runners[next].step.n_threads;
            if busy > 0 && (busy + needed > self.task.n_threads || self.is_ahead(next, turn)) {
                return;
            }
            let runner = &mut self.runners[next];
            let is_new = runner.stage == RunnerStage::Ready;
            runner.stage = RunnerStage::Working { before: runner.worked(), clock: runner.gate.worked(), turn };
            runner.gate.open(turn);
            if is_new {
                runner.has_begun = true;
                runner.asked.retain(|&id| !self.standing.is_found(id));
                runner.silent.clone_from(&runner.asked);
                RunnerJob {
                    engine: Arc::clone(&runner.step.engine),
                    model: Arc::clone(&self.model),
                    asked: runner.asked.clone(),
                    budget: runner.budget.clone(),
                    n_threads: runner.step.n_threads,
                    processor: Arc::clone(&runner.processor),
                    post: Post { runner: next, sender: self.sender.clone() },
                }
                .start();
            }
        }
    }

    /// The runner that waits for a turn and would be furthest behind its share after it.
    fn furthest_behind(&self, turn: Duration, only: Option<usize>) -> Option<usize> {
        let waits = |&at: &usize| {
            only.is_none_or(|only| only == at)
                && matches!(self.runners[at].stage, RunnerStage::Ready | RunnerStage::Paused { .. })
        };
        let waiting = (0..self.runners.len()).filter(waits);
        waiting.min_by(|&one, &other| self.after(one, turn).total_cmp(&self.after(other, turn)))
    }

    /// How far a runner would be after a turn, measured by its share.
    fn after(&self, at: usize, turn: Duration) -> f64 {
        let runner = &self.runners[at];
        let is_to_build = runner.stage == RunnerStage::Ready && works_with_diagrams(&runner.step);
        let turn = if is_to_build { turn.max(self.building()) } else { turn };
        let progress = runner.shares.progress(runner.worked() + turn, self.config.quick);
        if runner.is_near() { progress / NEAR } else { progress }
    }

    /// What the first turn of a method with diagrams takes, however short it should be: they are built in steps that cannot be interrupted.
    fn building(&self) -> Duration {
        let n_processes = u32::try_from(self.task.model.processes.len()).unwrap_or(u32::MAX);
        self.config.building.saturating_mul(n_processes)
    }

    /// Whether a turn would bring a runner ahead of those at work. While the answer may be near, a thread that is free is no reason to work on what
    /// promises less; later it is.
    fn is_ahead(&self, next: usize, turn: Duration) -> bool {
        let working = |&at: &usize| matches!(self.runners[at].stage, RunnerStage::Working { .. });
        let furthest = (0..self.runners.len()).filter(working).map(|at| self.after(at, turn)).fold(0.0, f64::max);
        self.worked() < self.config.thrifty && self.after(next, turn) > furthest
    }

    /// Takes note of what a runner says.
    fn receive(&mut self, at: usize, message: RunnerMessage) {
        let (now, runner) = (self.task.budget.elapsed(), &mut self.runners[at]);
        let (method, took) = (runner.step.engine.name(), runner.worked());
        match message {
            RunnerMessage::Event(event) => self.show(at, event),
            RunnerMessage::Left(part) => runner.through = Some(took + took.mul_f64(part.min(1.0) * GUESS_MARGIN)),
            RunnerMessage::Paused => runner.pause(),
            RunnerMessage::Ended => {
                runner.end();
                runner.budget.release();
            }
            RunnerMessage::Panicked(panic) => std::panic::resume_unwind(panic),
            RunnerMessage::Mistaken(mistake) => drop(self.standing.failure.get_or_insert(mistake)),
            RunnerMessage::Accepted(result, outcome) => {
                let property = result.property;
                runner.silent.retain(|&id| id != property);
                if self.standing.decided(*result, attempt(method, now, took, outcome)) {
                    self.observer.event(Event::Decided(property));
                    self.standing.found(property).inspect(|result| self.observer.known(result));
                    self.stop_idle();
                }
            }
            RunnerMessage::Open(answer) => {
                runner.silent.retain(|&id| id != answer.property);
                let reason = match &answer.verdict {
                    Verdict::Unknown(reason) => reason.clone(),
                    Verdict::Holds(_) | Verdict::Violated(_) => StopReason::Cancelled,
                };
                let is_overtaken = reason == StopReason::Cancelled && self.standing.is_found(answer.property);
                let reason = if reason == StopReason::Cancelled { self.limit() } else { reason };
                let outcome = if is_overtaken { AttemptOutcome::Overtaken } else { AttemptOutcome::Open(reason) };
                self.standing.left_open(*answer, attempt(method, now, took, outcome), method == WHOLE_PRODUCT);
            }
        }
    }

    /// Passes on how far a runner is, where no other shows more.
    fn show(&self, at: usize, event: Event) {
        let is_search = |runner: &Runner| runner.step.engine.name() == WHOLE_PRODUCT;
        if is_search(&self.runners[at]) || !self.runners.iter().any(|runner| runner.is_live() && is_search(runner)) {
            self.observer.event(event);
        }
    }

    /// Stops runners that work on answered questions only.
    fn stop_idle(&mut self) {
        let open = self.standing.open();
        for runner in self.runners.iter_mut().filter(|runner| runner.is_live()) {
            if runner.asked.iter().all(|id| !open.contains(id)) {
                runner.stop();
            }
        }
    }

    /// Ends the race. Where a limit was reached, runners have a moment to say how far they came; the race does not wait for what is not wanted any more.
    fn close(&mut self) {
        let is_searching = |runner: &Runner| runner.step.engine.name() == WHOLE_PRODUCT;
        if self.standing.failure.is_some() || self.standing.open().is_empty() {
            // There is nothing to wait for.
        } else if self.task.budget.check(0).is_err() {
            let grace = allowance(self.task.budget.time_limit().unwrap_or_default()).mul_f64(ENGINE_GRACE);
            self.runners.iter().for_each(|runner| runner.gate.release());
            self.listen(grace, |_| true);
            // What they said in time, and nobody has heard yet.
            while let Ok((runner, message)) = self.inbox.try_recv() {
                self.receive(runner, message);
            }
        } else if self.is_limited() {
            // Others may be in the midst of something that cannot be interrupted.
            for runner in self.runners.iter().filter(|runner| is_searching(runner)) {
                runner.cancel.cancel();
                runner.gate.release();
            }
            self.listen(LAST_WORDS, is_searching);
        }
        let now = self.task.budget.elapsed();
        let reason = self.limit();
        for runner in &mut self.runners {
            runner.stop();
            for &property in runner.silent.iter().filter(|_| runner.has_begun) {
                let is_found = self.standing.is_found(property);
                let open = AttemptOutcome::Open(reason.clone());
                let outcome = if is_found { AttemptOutcome::Overtaken } else { open };
                let ended = attempt(runner.step.engine.name(), now, runner.worked(), outcome);
                self.standing.tried(property, ended);
            }
        }
    }
}
