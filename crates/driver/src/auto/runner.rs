//! A method at work in a race: a thread of its own, which waits between its turns.
//!
//! In: a method, some questions, a budget with a gate. Out: messages to the race. Answers are audited here, in the method's
//! own turns, so that an audit that takes long costs the method that needs it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base::{Budget, StopReason};
use engine::run::{Audit, PropertyResult};
use engine::{Answer, AttemptOutcome, Event, Observer, PropertyId, Task, Verdict};
use model::Model;

use super::processor::ThreadTime;
use super::standing::WHOLE_PRODUCT;
use crate::auditor::Auditor;
use crate::checker::SharedEngine;
use crate::mistake::Mistake;
use crate::set_up;

/// Engines recurse over expressions and graphs.
const STACK_BYTES: usize = 256 << 20;

/// An answer takes less time to be checked than to be found, as a rule.
const AUDIT_PART: f64 = 0.6;

/// What a runner says.
pub enum RunnerMessage {
    /// How far it is.
    Event(Event),
    /// How much of its work it guesses is left, as a part of what was done.
    Left(f64),
    /// An answer that counts, and the result of the attempt.
    Accepted(Box<PropertyResult>, AttemptOutcome),
    /// A question that it does not decide.
    Open(Box<Answer>),
    /// We are wrong.
    Mistaken(Box<Mistake>),
    /// Its turn is over.
    Paused,
    /// It is through.
    Ended,
    /// It panicked.
    Panicked(Box<dyn Any + Send>),
}

/// Where a runner sends what it says, with its number.
#[derive(Clone)]
pub struct Post {
    /// The runner.
    pub runner: usize,
    /// To the race.
    pub sender: Sender<(usize, RunnerMessage)>,
}

impl Post {
    /// Sends a message. Where the race is over it is not received, and that does not matter.
    pub fn send(&self, message: RunnerMessage) {
        self.sender.send((self.runner, message)).ok();
    }
}

/// What a runner has to do.
pub struct RunnerJob {
    /// The method.
    pub engine: SharedEngine,
    /// The program, shared by all runners.
    pub model: Arc<Model>,
    /// The questions.
    pub asked: Vec<PropertyId>,
    /// What it may use; its gate gives the turns.
    pub budget: Budget,
    /// How many threads it may use.
    pub n_threads: usize,
    /// Counts what its thread works.
    pub processor: Arc<ThreadTime>,
    /// Where it sends what it says.
    pub post: Post,
}

impl RunnerJob {
    /// Starts to work, in a thread that is not joined: one operation on diagrams cannot be interrupted.
    pub fn start(self) {
        let thread = thread::Builder::new().name(format!("auto {}", self.engine.name())).stack_size(STACK_BYTES);
        let work = move || {
            self.processor.count_this_thread();
            match catch_unwind(AssertUnwindSafe(|| self.work())) {
                Ok(()) => self.post.send(RunnerMessage::Ended),
                Err(panic) => self.post.send(RunnerMessage::Panicked(panic)),
            }
        };
        thread.spawn(work).expect("the system has room for a few threads");
    }

    fn work(&self) {
        let auditor = Mutex::new(Auditor::new(&self.model, self.budget.clone()));
        let relay = AuditRelay { job: self, auditor, judged: Mutex::default(), through: Mutex::default() };
        let (model, properties) = (&*self.model, self.asked.clone());
        let task = Task { model, properties, budget: self.budget.clone(), n_threads: self.n_threads };
        let answers = set_up::refused(&task).map_or_else(|| self.engine.run(&task, &relay), Ok);
        match answers {
            Ok(answers) => answers.into_iter().for_each(|answer| relay.judge(answer)),
            Err(error) => self.post.send(RunnerMessage::Mistaken(error.into())),
        }
    }
}

/// Has answers audited and passes on what comes of them.
struct AuditRelay<'j> {
    job: &'j RunnerJob,
    auditor: Mutex<Auditor<'j>>,
    /// The questions whose answers were passed on.
    judged: Mutex<Vec<PropertyId>>,
    /// The questions of which the engine said that it has come to their end, whatever it found.
    through: Mutex<Vec<PropertyId>>,
}

impl AuditRelay<'_> {
    fn is_through(&self, property: PropertyId) -> bool {
        self.through.lock().unwrap_or_else(PoisonError::into_inner).contains(&property)
    }

    /// What becomes of an answer, which the engine may give twice.
    fn judge(&self, answer: Answer) {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        if judged.contains(&answer.property) {
            return;
        }
        judged.push(answer.property);
        drop(judged);
        let method = self.job.engine.name();
        let outcome = match &answer.verdict {
            // An expression without a value in a reachable state is the program's mistake, which no other method mends; but only
            // the search of the whole product knows that the state is reachable, and only at its end that no other state decides.
            Verdict::Unknown(reason @ StopReason::PropertyError(_))
                if method == WHOLE_PRODUCT && self.is_through(answer.property) =>
            {
                AttemptOutcome::Open(reason.clone())
            }
            Verdict::Unknown(_) => return self.job.post.send(RunnerMessage::Open(Box::new(answer))),
            Verdict::Holds(_) | Verdict::Violated(_) => AttemptOutcome::Decided,
        };
        self.job.post.send(RunnerMessage::Left(AUDIT_PART));
        let audited = self.auditor.lock().unwrap_or_else(PoisonError::into_inner).audit(method, answer);
        self.job.post.send(match audited {
            Err(mistake) => RunnerMessage::Mistaken(mistake),
            // Stopped in the midst of it: the question is settled, or everything ends.
            Ok(result) if result.audit == Audit::Stopped(StopReason::Cancelled) => {
                let PropertyResult { property, statistics, .. } = result;
                let verdict = Verdict::Unknown(StopReason::Cancelled);
                RunnerMessage::Open(Box::new(Answer { property, verdict, statistics }))
            }
            Ok(result) => RunnerMessage::Accepted(Box::new(result), outcome),
        });
    }
}

impl Observer for AuditRelay<'_> {
    fn event(&self, event: Event) {
        // That a question is decided is reported once, after its audit.
        match event {
            Event::Decided(property) => {
                self.through.lock().unwrap_or_else(PoisonError::into_inner).push(property);
            }
            event => self.job.post.send(RunnerMessage::Event(event)),
        }
    }

    fn left(&self, part: f64) {
        self.job.post.send(RunnerMessage::Left(part));
    }

    fn answered(&self, answer: &Answer) {
        if !matches!(answer.verdict, Verdict::Unknown(_)) {
            self.judge(answer.clone());
        }
    }
}
