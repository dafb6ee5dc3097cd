//! A race: rows of methods at work beside each other, under one budget.
//!
//! In: a task and rows of methods. Out: a result for each question. Every row has a thread. Its methods get the questions that are
//! not settled, and an answer counts once it is audited, which the same thread does. Whoever works on nothing but settled questions is stopped;
//! time, memory and Ctrl-C are shared by all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base::{Budget, StopReason};
use engine::run::{Audit, PropertyResult};
use engine::{Answer, AttemptOutcome, Event, Observer, PropertyId, Task, Verdict};

use super::plan::{Row, Step};
use super::standing::{Standing, WHOLE_PRODUCT, attempt};
use crate::attended;
use crate::auditor::Auditor;
use crate::mistake::Mistake;

/// Engines recurse over expressions and graphs.
const STACK_BYTES: usize = 256 << 20;

/// How often the race looks at the clock when nothing happens.
const GLANCE: Duration = Duration::from_millis(10);

/// One race.
pub struct Race<'a> {
    task: &'a Task<'a>,
    observer: &'a dyn Observer,
    standing: Mutex<Standing<'a>>,
    /// Told when the standing changes.
    changed: Condvar,
    /// Whether the search of the whole product, whose progress is shown, has ended.
    others_show: AtomicBool,
}

impl<'a> Race<'a> {
    /// A race for what is open.
    pub fn new(task: &'a Task<'a>, observer: &'a dyn Observer, standing: Standing<'a>) -> Self {
        let standing = Mutex::new(standing);
        Race { task, observer, standing, changed: Condvar::new(), others_show: AtomicBool::new(false) }
    }

    /// Runs it.
    ///
    /// # Errors
    /// A mistake of ours: evidence that fails its audit, methods that disagree, an engine that contradicts itself.
    pub fn run(self, rows: &[Row]) -> Result<Vec<PropertyResult>, Box<Mistake>> {
        self.lock().n_rows = rows.len();
        let budgets = self.task.budget.shared_by(rows.len());
        thread::scope(|scope| {
            for (index, (row, budget)) in rows.iter().zip(&budgets).enumerate() {
                let runner = Runner::new(&self, row, (index, budget));
                let thread = thread::Builder::new().name(format!("auto {index}")).stack_size(STACK_BYTES);
                thread.spawn_scoped(scope, move || runner.run()).expect("the system has room for a few threads");
            }
            self.watch();
        });
        let elapsed = self.now();
        let stopped = self.task.budget.check(0).err();
        let standing = self.standing.into_inner().unwrap_or_else(PoisonError::into_inner);
        match standing.failure {
            Some(failure) => Err(failure),
            None => Ok(standing.results(stopped.as_ref(), elapsed)),
        }
    }

    /// Waits until the race is over, and stops who works for nothing.
    fn watch(&self) {
        let mut standing = self.lock();
        while !standing.is_over() {
            standing = self.changed.wait_timeout(standing, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
            standing.stop_idle();
        }
        standing.stop_idle();
    }

    fn lock(&self) -> MutexGuard<'_, Standing<'a>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.task.budget.elapsed()
    }
}

/// One row at work.
struct Runner<'r, 'a> {
    race: &'r Race<'a>,
    row: &'r Row,
    index: usize,
    budget: &'r Budget,
    auditor: Mutex<Auditor<'a>>,
    /// For each method, the questions that it will never decide.
    hopeless: Vec<Vec<PropertyId>>,
}

impl<'r, 'a> Runner<'r, 'a> {
    fn new(race: &'r Race<'a>, row: &'r Row, (index, budget): (usize, &'r Budget)) -> Self {
        Runner {
            race,
            row,
            index,
            budget,
            auditor: Mutex::new(Auditor::new(race.task.model, budget.clone())),
            hopeless: row.steps.iter().map(|_| Vec::new()).collect(),
        }
    }

    fn run(mut self) {
        let mut factor = 1;
        while self.round(factor) {
            factor = factor.saturating_mul(self.row.turn_growth);
        }
        self.budget.release();
        if self.index == 0 {
            self.race.others_show.store(true, Ordering::Relaxed);
        }
        self.race.lock().n_rows -= 1;
        self.race.changed.notify_all();
    }

    /// Every method has a turn. Whether some had too little time.
    fn round(&mut self, factor: u32) -> bool {
        let mut again = false;
        for (index, step) in self.row.steps.iter().enumerate() {
            let asked = self.asked(index, step);
            let groups = if step.one_by_one { asked.chunks(1) } else { asked.chunks(asked.len().max(1)) };
            for group in groups {
                if self.race.lock().is_over() || self.budget.check(0).is_err() {
                    return false;
                }
                again |= self.turn(index, group.to_vec(), step.first_turn.map(|turn| turn.saturating_mul(factor)));
            }
        }
        again
    }

    /// What is left for a method.
    fn asked(&self, index: usize, step: &Step) -> Vec<PropertyId> {
        let mut open = self.race.lock().open();
        let model = self.race.task.model;
        open.retain(|id| !self.hopeless[index].contains(id) && step.engine.supports(model, *id).is_ok());
        open
    }

    /// A method works on some questions. Whether it had too little time for one of them.
    fn turn(&mut self, index: usize, asked: Vec<PropertyId>, time: Option<Duration>) -> bool {
        let step = &self.row.steps[index];
        let cancel = self.budget.cancel_token().child();
        self.race.lock().starts(self.index, asked.clone(), cancel.clone());
        let whole = self.budget.cancelled_by(cancel);
        let started = self.race.now();
        let budget = time.map_or(whole.clone(), |time| whole.slice(time));
        let task = Task { properties: asked, budget, n_threads: self.row.n_threads, ..self.race.task.clone() };
        let mut again = false;
        let relay = Relay { runner: self, method: step.engine.name(), turn: (&whole, started), told: Mutex::default() };
        let ended = attended::run(&step.engine, &task, &relay);
        let told = relay.told.into_inner().unwrap_or_else(PoisonError::into_inner);
        match ended {
            Ok(answers) => {
                for answer in answers.into_iter().filter(|answer| !told.contains(&answer.property)) {
                    again |= self.judge(index, answer, (&whole, started));
                }
            }
            Err(error) => self.mistaken(error.into()),
        }
        self.race.lock().ends(self.index);
        again
    }

    /// Ends the race: nobody may see a verdict of a tool that is wrong.
    fn mistaken(&self, mistake: Box<Mistake>) {
        let mut standing = self.race.lock();
        standing.failure.get_or_insert(mistake);
        standing.stop_idle();
        drop(standing);
        self.race.changed.notify_all();
    }

    /// What becomes of an answer. Whether more time could make it another one.
    fn judge(&mut self, index: usize, answer: Answer, (budget, started): (&Budget, Duration)) -> bool {
        let method = self.row.steps[index].engine.name();
        let tell = |race: &Race<'_>, outcome| attempt(method, race.now(), race.now().saturating_sub(started), outcome);
        let property = answer.property;
        if let Verdict::Unknown(reason) = &answer.verdict {
            let reason = reason.clone();
            let is_short_of_time = matches!(reason, StopReason::TimeLimit(_));
            let is_overtaken = reason == StopReason::Cancelled && self.race.lock().is_found(property);
            let outcome = if is_overtaken { AttemptOutcome::Overtaken } else { AttemptOutcome::Open(reason.clone()) };
            let attempt = tell(self.race, outcome);
            // An expression without a value in a reachable state is the program's mistake, which no other method mends; but only
            // the search of the whole product knows that the state is reachable.
            let is_search = method == WHOLE_PRODUCT;
            if is_search && matches!(reason, StopReason::PropertyError(_)) {
                self.audited(answer, attempt, budget);
                return false;
            }
            self.race.lock().left_open(answer, attempt, is_search);
            if !is_short_of_time {
                self.hopeless[index].push(property);
            }
            return is_short_of_time;
        }
        let attempt = tell(self.race, AttemptOutcome::Decided);
        self.audited(answer, attempt, budget);
        false
    }

    /// Has an answer audited, and counts it.
    fn audited(&self, answer: Answer, mut attempt: engine::Attempt, budget: &Budget) {
        let mut auditor = self.auditor.lock().unwrap_or_else(PoisonError::into_inner);
        let audited = auditor.within(budget.clone()).audit(attempt.method, answer);
        drop(auditor);
        let now = self.race.now();
        attempt.took += now.saturating_sub(attempt.ended);
        attempt.ended = now;
        let mut standing = self.race.lock();
        let is_stopped = self.race.task.budget.check(0).is_err();
        match audited {
            Err(failure) => drop(standing.failure.get_or_insert(failure)),
            // Stopped in the midst of it, since the question is settled.
            Ok(result) if result.audit == Audit::Stopped(StopReason::Cancelled) && !is_stopped => {}
            Ok(result) => {
                let property = result.property;
                if standing.decided(result, attempt) {
                    self.race.observer.event(Event::Decided(property));
                    standing.found(property).inspect(|result| self.race.observer.known(result));
                }
            }
        }
        standing.stop_idle();
        drop(standing);
        self.race.changed.notify_all();
    }
}

/// Passes on how far a row is, where nobody else shows more, and has answers audited while the method is at work on others. That a question
/// is decided is told once, after its audit.
struct Relay<'r, 'a> {
    runner: &'r Runner<'r, 'a>,
    method: &'static str,
    /// What the method may use, and when it started.
    turn: (&'r Budget, Duration),
    /// The questions whose answers were audited already.
    told: Mutex<Vec<PropertyId>>,
}

impl Observer for Relay<'_, '_> {
    fn event(&self, event: Event) {
        let race = self.runner.race;
        let shows = self.runner.index == 0 || race.others_show.load(Ordering::Relaxed);
        if shows && !matches!(event, Event::Decided(_)) {
            race.observer.event(event);
        }
    }

    fn answered(&self, answer: &Answer) {
        if matches!(answer.verdict, Verdict::Unknown(_)) {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(&answer.property) {
            return;
        }
        told.push(answer.property);
        let (budget, started) = self.turn;
        let now = self.runner.race.now();
        let attempt = attempt(self.method, now, now.saturating_sub(started), AttemptOutcome::Decided);
        self.runner.audited(answer.clone(), attempt, budget);
    }
}
