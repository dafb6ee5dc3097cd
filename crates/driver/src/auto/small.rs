//! Small programs: a search of the whole product decides them at once, and one or two processes prove what it found to hold.
//!
//! In: a task, and a standing in which nothing is decided. Out: the standing with what is decided. The search has a moment; the proofs have
//! no limit of time, but one of size, so that a small program gets the same answer on a busy machine as on an idle one.

use std::sync::Arc;
use std::time::Duration;

use engine::{AttemptOutcome, Engine, Event, Observer, PropertyId, Silent, Task, Verdict};
use explicit::Mono;
use explicit::local::Local;

use super::standing::{Standing, attempt};
use crate::attended;
use crate::auditor::Auditor;
use crate::checker::SharedEngine;

/// What the search has. The promise of `auto` allows 50 ms.
const MOMENT: Duration = Duration::from_millis(45);

/// Local sets of small programs take no more than this, and some milliseconds.
const SMALL_BYTES: u64 = 256 << 10;

/// A program of more processes is not small, and takes longer than a moment to be made ready for a search.
const MOST_PROCESSES: usize = 64;

/// Decides what can be decided in a moment.
pub fn decide(task: &Task<'_>, observer: &dyn Observer, prefers_proofs: bool, standing: &mut Standing<'_>) {
    if task.model.processes.len() > MOST_PROCESSES {
        return;
    }
    let small = Small { task, observer };
    let mut auditor = Auditor::new(task.model, task.budget.clone());
    let moment = Task { budget: task.budget.slice(MOMENT), n_threads: 1, ..task.clone() };
    small.turn(&(Arc::new(Mono) as SharedEngine), &moment, &mut auditor, standing);
    // Of two processes, both together are the whole product, and no proof about one at a time.
    let most = task.model.processes.len().saturating_sub(1).min(2);
    for k in (1..=most).filter(|_| prefers_proofs) {
        let engine = Local { k, cap_bytes: SMALL_BYTES };
        let mut properties: Vec<PropertyId> = standing.searched();
        properties.retain(|&id| engine.supports(task.model, id).is_ok());
        if !properties.is_empty() && standing.failure.is_none() {
            let engine = Arc::new(engine) as SharedEngine;
            small.turn(&engine, &Task { properties, n_threads: 1, ..task.clone() }, &mut auditor, standing);
        }
    }
}

struct Small<'a> {
    /// What all of it is about; its budget counts the time.
    task: &'a Task<'a>,
    observer: &'a dyn Observer,
}

impl Small<'_> {
    /// Asks a method, and notes what is accepted of its answers.
    fn turn(&self, engine: &SharedEngine, task: &Task<'_>, auditor: &mut Auditor<'_>, standing: &mut Standing<'_>) {
        let started = self.task.budget.elapsed();
        let tell = |outcome| {
            let now = self.task.budget.elapsed();
            attempt(engine.name(), now, now.saturating_sub(started), outcome)
        };
        let answers = match attended::run(engine, task, &Silent) {
            Ok(answers) => answers,
            Err(error) => {
                standing.failure.get_or_insert(error.into());
                return;
            }
        };
        for answer in answers {
            let property = answer.property;
            if let Verdict::Unknown(reason) = &answer.verdict {
                let attempt = tell(AttemptOutcome::Open(reason.clone()));
                standing.left_open(answer, attempt, engine.name() == Mono.name());
                continue;
            }
            match auditor.audit(engine.name(), answer) {
                Err(failure) => drop(standing.failure.get_or_insert(failure)),
                Ok(result) => {
                    if standing.decided(result, tell(AttemptOutcome::Decided)) {
                        self.observer.event(Event::Decided(property));
                    }
                }
            }
        }
    }
}
