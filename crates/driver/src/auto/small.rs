//! Small programs: a search of the whole product decides them at once, and one or two processes prove what it found to hold.
//!
//! In: a task, and the standing of a race in which the search of the whole product had a head start. Out: the standing with proofs of what the search decided among few states.
//! They have no limit of time, but one of size, so that a small program gets the same answer on a busy machine as on an idle one.

use std::sync::Arc;
use std::time::Duration;

use engine::{Answer, AttemptOutcome, Engine, Event, Observer, PropertyId, Silent, Task, Verdict};
use local::ExplicitKIndex;

use super::Config;
use super::standing::{RaceStanding, attempt};
use crate::auditor::Auditor;
use crate::checker::SharedEngine;
use crate::watchdog;

/// Where the search saw no more states than this, proofs are searched for: it takes some milliseconds, and so do they.
const SMALL_STATES: u64 = 20_000;

/// How long the search of the whole product works before all others, if it does. It goes on beside them, so that what is not decided by then is not lost; the more
/// processes there are, the less is.
pub fn head_start(n_processes: usize, config: &Config) -> Option<Duration> {
    let parts = match n_processes {
        ..=12 => 1,
        _ => 3,
    };
    (n_processes <= config.small_processes).then(|| config.moment / parts)
}

/// Searches for proofs of what a search of few states decided.
pub fn prove(task: &Task<'_>, observer: &dyn Observer, config: &Config, standing: &mut RaceStanding<'_>) {
    if task.model.processes.len() > config.small_processes {
        return;
    }
    let small = Small { task, observer, config };
    let mut auditor = Auditor::new(task.model, task.budget.clone());
    // Of two processes, both together are the whole product, and no proof about one at a time.
    let most = task.model.processes.len().saturating_sub(1).min(2);
    for k in 1..=most {
        let engine = ExplicitKIndex { k, cap_bytes: config.small.0 };
        let mut properties: Vec<PropertyId> = standing.searched(SMALL_STATES);
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
    config: &'a Config,
}

impl Small<'_> {
    /// Asks a method, and notes what is accepted of its answers.
    fn turn(&self, engine: &SharedEngine, task: &Task<'_>, auditor: &mut Auditor<'_>, standing: &mut RaceStanding<'_>) {
        let started = self.task.budget.elapsed();
        let attempt_with = |outcome| {
            let now = self.task.budget.elapsed();
            attempt(engine.name(), now, now.saturating_sub(started), outcome)
        };
        let answers = match watchdog::run(engine, task, &Silent) {
            Ok(answers) => answers,
            Err(error) => {
                standing.failure.get_or_insert(error.into());
                return;
            }
        };
        for answer in answers {
            let property = answer.property;
            if let Verdict::Unknown(reason) = &answer.verdict {
                let attempt = attempt_with(AttemptOutcome::Open(reason.clone()));
                standing.left_open(answer, attempt, false);
                continue;
            }
            if self.is_dear(&answer) {
                standing.tried(property, attempt_with(AttemptOutcome::Overtaken));
                continue;
            }
            match auditor.audit(engine.name(), answer) {
                Err(failure) => drop(standing.failure.get_or_insert(failure)),
                Ok(result) => {
                    if standing.decided(result, attempt_with(AttemptOutcome::Decided)) {
                        self.observer.event(Event::Decided(property));
                        standing.found(property).inspect(|result| self.observer.known(result));
                    }
                }
            }
        }
    }

    /// Whether it would take long to audit non-interference, beside a search that has answered.
    fn is_dear(&self, answer: &Answer) -> bool {
        let local_states = answer.statistics.local_states.iter().flatten().flatten().sum::<u64>();
        local_states.saturating_mul(local_states) > self.config.small_checks as u64
    }
}
