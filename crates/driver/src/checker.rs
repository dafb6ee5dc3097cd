//! Who answers questions with audited results: one engine, or several that race (`auto`).
//!
//! In: a task. Out: one result for each question, in the order of the questions, each audited.

use std::sync::Arc;

use base::{Feature, StopReason, Unsupported};
use engine::methods::Method;
use engine::run::PropertyResult;
use engine::settings::Settings;
use engine::{Answer, Contradiction, Engine, EngineError, Observer, PropertyId, Statistics, Task, Verdict};
use model::Model;

use crate::attended;
use crate::auditor::{AUDIT_RESERVE, Auditor};
use crate::mistake::Mistake;

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
        let mut answers = Vec::new();
        if !supported.is_empty() {
            answers = attended::run(&self.0, &Task { properties: supported, ..task.clone() }, observer)?;
        }
        answers.extend(refused);
        // The audit has what the engine left, and a reserve where it left nothing.
        let mut auditor = Auditor::new(task.model, task.budget.with_reserve(AUDIT_RESERVE));
        let mut results = Vec::new();
        for &question in &task.properties {
            let found = answers.iter().position(|answer| answer.property == question);
            let Some(found) = found else {
                let expected = "an engine answers every question that it is asked";
                let wrong = Contradiction::new(expected, "there is no answer");
                return Err(EngineError::new(self.0.name(), (task.model, question), wrong).into());
            };
            results.push(auditor.audit(self.0.name(), answers.swap_remove(found))?);
        }
        Ok(results)
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
        Method::Auto | Method::Mono | Method::Stubborn | Method::Global | Method::Propagate | Method::Pushdown
    )
}

fn not_asked(property: PropertyId, reason: StopReason) -> Answer {
    Answer { property, verdict: Verdict::Unknown(reason), statistics: Statistics::default() }
}
