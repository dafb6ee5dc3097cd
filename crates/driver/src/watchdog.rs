//! Work under a limit in a thread, and a watchdog that reads the clock.
//!
//! In: what is to be done, and what it may use. Out: what came of it, or why it was left. Engines check their budget, but not in every loop,
//! and one operation on decision diagrams cannot be interrupted; so the work runs in a thread of its own, and when a limit has been reached for a while the
//! watchdog leaves with the answers that were reported so far. The thread ends by itself when it checks its budget the next time.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base::budget::allowance;
use base::{Budget, StopReason};
use engine::{Answer, EngineError, Event, Observer, Statistics, Task, Verdict};
use model::Model;

use crate::checker::SharedEngine;
use crate::set_up;

/// Engines recurse over expressions and graphs.
const STACK_BYTES: usize = 256 << 20;

/// How often the watchdog reads the clock.
const TICK: Duration = Duration::from_millis(5);

/// An engine has this part of what a time limit may be passed by to notice by itself that it is reached.
pub(crate) const ENGINE_GRACE: f64 = 0.3;

/// The answers of an engine; where it had to be left, those that it reported before, and `Unknown` for the others.
///
/// # Errors
/// The engine contradicts itself.
pub(crate) fn run(engine: &SharedEngine, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
    if let Some(refused) = set_up::refused(task) {
        return Ok(refused);
    }
    let attendant = Attendant { model: task.model, budget: &task.budget, observer, grace: ENGINE_GRACE };
    let engine = SharedEngine::clone(engine);
    let (properties, budget, n_threads) = (task.properties.clone(), task.budget.clone(), task.n_threads);
    let work = move |model: &Model, observer: &dyn Observer| {
        engine.run(&Task { model, properties, budget, n_threads }, observer)
    };
    attendant.run(work).unwrap_or_else(|left| Ok(left.answers(task)))
}

/// Attends work on a program.
pub(crate) struct Attendant<'a> {
    /// The program.
    pub model: &'a Model,
    /// What the work may use.
    pub budget: &'a Budget,
    /// Receives the events.
    pub observer: &'a dyn Observer,
    /// Which part of what a time limit may be passed by the work has to notice by itself that it is reached.
    pub grace: f64,
}

/// Work that was left.
pub(crate) struct AbandonedWork {
    /// Why.
    pub reason: StopReason,
    /// What it had reported.
    reported: Vec<Answer>,
}

impl AbandonedWork {
    fn answers(self, task: &Task<'_>) -> Vec<Answer> {
        let time = task.budget.elapsed();
        let answer = |&property| {
            let reported = self.reported.iter().find(|answer| answer.property == property);
            reported.cloned().unwrap_or_else(|| Answer {
                property,
                verdict: Verdict::Unknown(self.reason.clone()),
                statistics: Statistics { time, ..Statistics::default() },
            })
        };
        task.properties.iter().map(answer).collect()
    }
}

/// What the thread reports.
enum WorkerMessage<T> {
    Event(Event),
    Answer(Box<Answer>),
    Done(T),
}

struct WatchdogRelay<T>(Mutex<Sender<WorkerMessage<T>>>);

impl<T> WatchdogRelay<T> {
    fn send(&self, message: WorkerMessage<T>) {
        // The attendant has left where it does not listen any more.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).send(message).ok();
    }
}

impl<T: Send> Observer for WatchdogRelay<T> {
    fn event(&self, event: Event) {
        self.send(WorkerMessage::Event(event));
    }

    fn answered(&self, answer: &Answer) {
        self.send(WorkerMessage::Answer(Box::new(answer.clone())));
    }
}

impl Attendant<'_> {
    /// Does the work.
    ///
    /// # Errors
    /// Work that did not end soon after a limit was reached.
    pub fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Model, &dyn Observer) -> T + Send + 'static,
    ) -> Result<T, AbandonedWork> {
        if self.budget.time_limit().is_none() && self.budget.memory_limit().is_none() {
            return Ok(work(self.model, self.observer));
        }
        if let Err(reason) = set_up::room_for(self.model, self.budget) {
            return Err(AbandonedWork { reason, reported: Vec::new() });
        }
        let (sender, messages) = mpsc::channel();
        let model = self.model.clone();
        let relay = WatchdogRelay(Mutex::new(sender));
        let thread = thread::Builder::new().name(String::from("watchdog")).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || {
            let done = work(&model, &relay);
            relay.send(WorkerMessage::Done(done));
        });
        let Ok(thread) = thread else {
            // The system has no room for one more thread with its stack.
            let bytes = self.budget.memory_limit().unwrap_or(STACK_BYTES as u64);
            return Err(AbandonedWork { reason: StopReason::MemoryLimit(bytes), reported: Vec::new() });
        };
        let grace = allowance(self.budget.time_limit().unwrap_or_default()).mul_f64(self.grace);
        let mut answers = Vec::new();
        let mut late_since = None;
        loop {
            match messages.recv_timeout(TICK) {
                Ok(WorkerMessage::Event(event)) => self.observer.event(event),
                Ok(WorkerMessage::Answer(answer)) => {
                    self.observer.answered(&answer);
                    answers.push(*answer);
                }
                Ok(WorkerMessage::Done(done)) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("the thread tells when it is done"),
                },
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(reason) = self.budget.glance(0)
                && late_since.get_or_insert_with(Instant::now).elapsed() >= grace
            {
                // What the thread told in time may wait behind what took long to hear.
                for message in messages.try_iter() {
                    match message {
                        WorkerMessage::Event(_) => {}
                        WorkerMessage::Answer(answer) => answers.push(*answer),
                        WorkerMessage::Done(done) => return Ok(done),
                    }
                }
                return Err(AbandonedWork { reason, reported: answers });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::CancelToken;
    use engine::{Engine, Method, PropertyId, Silent};
    use evidence::{Evidence, Exploration};

    use super::*;

    /// Decides its first question, and then never checks its budget again.
    struct Deaf;

    impl Engine for Deaf {
        fn method(&self) -> Method {
            Method::Mono
        }

        fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
            let seen = Exploration { states: 2, transitions: 1, deadlocks: 0, errors: 0, depth: 1, complete: true };
            let verdict = Verdict::Holds(Evidence::Exploration(seen));
            observer.answered(&Answer { property: task.properties[0], verdict, statistics: Statistics::default() });
            loop {
                thread::park();
            }
        }
    }

    #[test]
    fn an_engine_that_does_not_look_at_its_budget_is_left_with_what_it_told() {
        let budget = Budget::new(Some(Duration::from_millis(10)), None, CancelToken::default());
        let properties = vec![PropertyId::new(0), PropertyId::new(1)];
        let task = Task { model: &Model::default(), properties: properties.clone(), budget, n_threads: 1 };
        let answers = run(&(Arc::new(Deaf) as SharedEngine), &task, &Silent).unwrap();
        assert_eq!(answers.iter().map(|answer| answer.property).collect::<Vec<_>>(), properties);
        assert!(matches!(answers[0].verdict, Verdict::Holds(_)));
        assert!(matches!(answers[1].verdict, Verdict::Unknown(StopReason::TimeLimit(_))));
    }

    /// Tells much, then decides, and then never checks its budget again.
    struct Talkative {
        is_done: bool,
    }

    impl Engine for Talkative {
        fn method(&self) -> Method {
            Method::Mono
        }

        fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
            for states in 0..1000 {
                observer.event(Event::Searching { states, frontier: 0, depth: 0, memory_bytes: 0 });
            }
            let seen = Exploration { states: 2, transitions: 1, deadlocks: 0, errors: 0, depth: 1, complete: true };
            let verdict = Verdict::Holds(Evidence::Exploration(seen));
            let answer = Answer { property: task.properties[0], verdict, statistics: Statistics::default() };
            observer.answered(&answer);
            if self.is_done {
                return Ok(vec![answer]);
            }
            loop {
                thread::park();
            }
        }
    }

    /// Takes long to hear of anything, as on a busy machine.
    struct HardOfHearing;

    impl Observer for HardOfHearing {
        fn event(&self, _event: Event) {
            thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn what_was_told_in_time_and_not_heard_yet_is_not_lost() {
        for is_done in [true, false] {
            let budget = Budget::new(Some(Duration::from_millis(100)), None, CancelToken::default());
            let properties = vec![PropertyId::new(0)];
            let task = Task { model: &Model::default(), properties, budget, n_threads: 1 };
            let answers = run(&(Arc::new(Talkative { is_done }) as SharedEngine), &task, &HardOfHearing).unwrap();
            assert!(matches!(answers[..], [Answer { verdict: Verdict::Holds(_), .. }]), "{is_done}: {answers:?}");
        }
    }

    #[test]
    fn a_cancelled_engine_is_left_as_well() {
        let cancel = CancelToken::default();
        cancel.cancel();
        let budget = Budget::new(None, Some(1 << 30), cancel);
        let task = Task { model: &Model::default(), properties: vec![PropertyId::new(1)], budget, n_threads: 1 };
        let answers = run(&(Arc::new(Deaf) as SharedEngine), &task, &Silent).unwrap();
        assert!(matches!(answers[..], [Answer { verdict: Verdict::Holds(_), .. }]));
    }
}
