//! Checkers answer questions with audited results: one engine, or several that race (`auto`).
//!
//! In: a task. Out: one result for each question, in the order of the questions, each audited.

use std::sync::{Arc, Mutex, PoisonError};

use base::{CancelToken, Feature, StopReason, Unsupported};
use engine::methods::Method;
use engine::run::{Audit, PropertyResult};
use engine::settings::Settings;
use engine::{Answer, Contradiction, Engine, EngineError, Event, Observer, PropertyId, Statistics, Task, Verdict};
use model::Model;

use crate::auditor::{AUDIT_RESERVE, Auditor};
use crate::mistake::Mistake;
use crate::watchdog;

/// Answers questions, and has every answer audited.
pub trait Checker: Sync {
    /// The method's name on the command line.
    fn name(&self) -> &'static str;

    /// What bounds it, where a user may give it other values.
    fn settings(&mut self) -> Option<&mut dyn Settings>;

    /// One result for each property of the task, in their order.
    ///
    /// # Errors
    /// A mistake of ours: evidence that fails its audit, two methods that disagree, an engine that contradicts itself.
    fn check(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<PropertyResult>, Box<Mistake>>;
}

/// An engine that may be used by any thread; all of them are plain settings.
pub type SharedEngine = Arc<dyn Engine + Send + Sync>;

/// One engine, then the audit. A question that it does not answer gets `Unknown` with its reason.
pub struct Single(pub SharedEngine);

impl Checker for Single {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Arc::get_mut(&mut self.0)?.settings()
    }

    fn check(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<PropertyResult>, Box<Mistake>> {
        let (supported, refused) = sort_out(task.model, &task.properties, &*self.0);
        let cancel = task.budget.cancel_token().child();
        let early =
            Early { method: self.0.name(), observer, cancel: cancel.clone(), state: Mutex::new(Audited::new(task)) };
        let mut answers = Vec::new();
        if !supported.is_empty() {
            let task = Task { properties: supported, budget: task.budget.cancelled_by(cancel), ..task.clone() };
            answers = watchdog::run(&self.0, &task, &early)?;
        }
        answers.extend(refused);
        let mut audited = early.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(mistake) = audited.mistake {
            return Err(mistake);
        }
        // The audit has what the engine left, and a reserve where it left nothing.
        let auditor = audited.auditor.within(task.budget.with_reserve(AUDIT_RESERVE));
        let mut results = Vec::new();
        for &question in &task.properties {
            let found = answers.iter().position(|answer| answer.property == question);
            let Some(found) = found else {
                let expected = "an engine answers every question that it is asked";
                let wrong = Contradiction::new(expected, "there is no answer");
                return Err(EngineError::new(self.0.name(), (task.model, question), wrong).into());
            };
            let answer = answers.swap_remove(found);
            let known = audited.results.iter().position(|result| result.property == question);
            match known {
                Some(at) => results.push(audited.results.swap_remove(at)),
                None => {
                    let result = auditor.audit(self.0.name(), answer)?;
                    if !matches!(result.verdict, Verdict::Unknown(_)) {
                        observer.known(&result);
                    }
                    results.push(result);
                }
            }
        }
        Ok(results)
    }
}

/// Has answers audited while the engine is still at work on others, and reports them to the observer.
struct Early<'e, 'm> {
    method: &'static str,
    observer: &'e dyn Observer,
    /// Stops the engine.
    cancel: CancelToken,
    state: Mutex<Audited<'m>>,
}

/// What was audited before the engine was through.
struct Audited<'m> {
    auditor: Auditor<'m>,
    results: Vec<PropertyResult>,
    /// Evidence that was refused.
    mistake: Option<Box<Mistake>>,
}

impl<'m> Audited<'m> {
    fn new(task: &Task<'m>) -> Self {
        Audited { auditor: Auditor::new(task.model, task.budget.clone()), results: Vec::new(), mistake: None }
    }
}

impl Observer for Early<'_, '_> {
    fn event(&self, event: Event) {
        self.observer.event(event);
    }

    fn answered(&self, answer: &Answer) {
        if matches!(answer.verdict, Verdict::Unknown(_)) {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.mistake.is_some() || state.results.iter().any(|result| result.property == answer.property) {
            return;
        }
        match state.auditor.audit(self.method, answer.clone()) {
            // There is a reserve for it when the engine is through.
            Ok(result) if matches!(result.audit, Audit::Stopped(_)) => {}
            Ok(result) => {
                self.observer.known(&result);
                state.results.push(result);
            }
            Err(mistake) => {
                state.mistake = Some(mistake);
                self.cancel.cancel();
            }
        }
    }
}

/// The questions that the engine answers, and the answers to the others.
fn sort_out(model: &Model, questions: &[PropertyId], engine: &dyn Engine) -> (Vec<PropertyId>, Vec<Answer>) {
    let (mut supported, mut refused) = (Vec::new(), Vec::new());
    for &property in questions {
        match engine.supports(model, property) {
            Ok(()) if model.processes.is_empty() && speaks_of_processes(engine.method()) => {
                let why = "the program has no process that a proof could speak of";
                refused.push(not_asked(property, Unsupported::about(Feature::Checking, why).into()));
            }
            Ok(()) => supported.push(property),
            Err(reason) => refused.push(not_asked(property, reason)),
        }
    }
    (supported, refused)
}

/// Whether what a method claims is about processes, one or more at a time.
fn speaks_of_processes(method: Method) -> bool {
    !matches!(
        method,
        Method::Auto
            | Method::Mono
            | Method::Stubborn
            | Method::Schedules
            | Method::Global
            | Method::Propagate
            | Method::Pushdown
    )
}

fn not_asked(property: PropertyId, reason: StopReason) -> Answer {
    Answer { property, verdict: Verdict::Unknown(reason), statistics: Statistics::default() }
}
