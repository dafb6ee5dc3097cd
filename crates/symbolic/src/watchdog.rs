//! Work with diagrams in a thread, and a watchdog that reads the clock.
//!
//! In: a task and what is to be done. Out: its answers. One operation on diagrams cannot be interrupted and can take minutes, so the
//! work runs in a thread of its own; the watchdog passes on its events, and when a limit has long been reached takes the answers
//! given so far and leaves. The thread ends with its operation, after which it checks its budget, too. Memory needs no
//! watchdog: it is bounded by the room for nodes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base::budget::allowance;
use base::{Budget, StopReason};
use engine::{Answer, EngineError, Event, Observer, Statistics, Task, Verdict};

/// Work has this part of what a time limit may be passed by to notice by itself that it is reached.
const GRACE: f64 = 0.2;

/// The watchdog does not wait for work that was cancelled: its answers, if any come, are not wanted.
const GRACE_WHEN_CANCELLED: Duration = Duration::from_millis(5);

/// How often the watchdog reads the clock.
const TICK: Duration = Duration::from_millis(5);

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(250);

/// Diagrams are worked on by recursion, a few frames for each bit.
const STACK_BYTES: usize = 256 << 20;

/// How far the work is, for others to read.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Rounds of refinement, or of images.
    pub rounds: AtomicU64,
    /// Facts that processes expose.
    pub exposed: AtomicU64,
    /// Nodes in use.
    pub nodes: AtomicU64,
    /// What they take.
    pub memory_bytes: AtomicU64,
}

impl Gauge {
    fn event(&self) -> Event {
        let read = |value: &AtomicU64| value.load(Ordering::Relaxed);
        Event::Proving {
            rounds: read(&self.rounds),
            exposed: read(&self.exposed),
            nodes: read(&self.nodes),
            memory_bytes: read(&self.memory_bytes),
        }
    }
}

/// What the thread reports.
enum WorkerMessage {
    Event(Event),
    /// An answer that will stay.
    Answer(Box<Answer>),
    Done(Result<Vec<Answer>, EngineError>),
}

/// Passes on events; the result of an attempt is reported before all of them are over.
pub(crate) struct EventRelay(Mutex<Sender<WorkerMessage>>);

impl EventRelay {
    /// Reports an answer that is final.
    pub fn answer(&self, answer: &Answer) {
        self.send(WorkerMessage::Answer(Box::new(answer.clone())));
    }

    fn send(&self, messages: WorkerMessage) {
        // The watchdog does not listen any more once a limit was reached; then it does not matter.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(messages);
    }
}

impl Observer for EventRelay {
    fn event(&self, event: Event) {
        self.send(WorkerMessage::Event(event));
    }
}

/// Does the work, and stops soon after a limit is reached whatever it is at.
pub(crate) fn watchdog(
    task: &Task<'_>,
    observer: &dyn Observer,
    work: impl FnOnce(&Task<'_>, &EventRelay, &Arc<Gauge>) -> Result<Vec<Answer>, EngineError> + Send + 'static,
) -> Result<Vec<Answer>, EngineError> {
    let (sender, messages) = mpsc::channel();
    let gauge = Arc::new(Gauge::default());
    let (model, gauge_of_work) = (Arc::new(task.model.clone()), Arc::clone(&gauge));
    let (properties, budget, n_threads) = (task.properties.clone(), task.budget.clone(), task.n_threads);
    let thread = thread::Builder::new().name(String::from("diagrams")).stack_size(STACK_BYTES).spawn(move || {
        let task = Task { model: &model, properties, budget, n_threads };
        let relay = EventRelay(Mutex::new(sender));
        let answers = work(&task, &relay, &gauge_of_work);
        relay.send(WorkerMessage::Done(answers));
    });
    let thread = thread.expect("the system has room for one more thread");
    let mut answers: Vec<Answer> = Vec::new();
    let (mut late_since, mut reported) = (None, Instant::now());
    loop {
        match messages.recv_timeout(TICK) {
            Ok(WorkerMessage::Event(event)) => observer.event(event),
            Ok(WorkerMessage::Answer(answer)) => {
                observer.answered(&answer);
                answers.push(*answer);
            }
            Ok(WorkerMessage::Done(answers)) => return answers,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("the thread tells when it is done"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        if reported.elapsed() >= INTERVAL {
            reported = Instant::now();
            observer.event(gauge.event());
        }
        if let Err(reason) = task.budget.glance(0)
            && late_since.get_or_insert_with(Instant::now).elapsed() >= grace(&task.budget, &reason)
        {
            let open = task.properties.iter().filter(|&&id| answers.iter().all(|answer| answer.property != id));
            let time = task.budget.elapsed();
            let unknown = |&property| {
                let statistics = Statistics { time, ..Statistics::default() };
                Answer { property, verdict: Verdict::Unknown(reason.clone()), statistics }
            };
            let open: Vec<Answer> = open.map(unknown).collect();
            answers.extend(open);
            answers.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
            return Ok(answers);
        }
    }
}

fn grace(budget: &Budget, reason: &StopReason) -> Duration {
    match reason {
        StopReason::Cancelled => GRACE_WHEN_CANCELLED,
        _ => allowance(budget.time_limit().unwrap_or_default()).mul_f64(GRACE),
    }
}

#[cfg(test)]
mod tests {
    use base::CancelToken;
    use engine::Silent;
    use model::Model;

    use super::*;

    #[test]
    fn work_that_does_not_look_at_its_budget_is_left_alone() {
        let model = Model::default();
        let budget = Budget::new(Some(Duration::from_millis(10)), None, CancelToken::default());
        let property = engine::PropertyId::new(0);
        let task = Task { model: &model, properties: vec![property], budget, n_threads: 1 };
        // The work goes on until the answers are there, so that a thread that waited for it would wait for ever.
        let (answered, until_answered) = mpsc::channel::<()>();
        let answers = watchdog(&task, &Silent, move |_, _, _| {
            let _ = until_answered.recv();
            Ok(Vec::new())
        });
        drop(answered);
        assert!(matches!(&answers.unwrap()[..], [Answer { verdict: Verdict::Unknown(StopReason::TimeLimit(_)), .. }]));
    }
}
