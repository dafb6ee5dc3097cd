//! Methods that use sums where they do not come to an answer without.
//!
//! In: a task. Out: an answer for each property. What single processes see does not tie a semaphore to who has it; a sum does: what the semaphore has given out is what
//! the processes have together. Sums are looked for only where the method itself leaves something open, and then found and proved by `propagate`, so that the
//! proof consists of two facts: the sums, and an invariant that leaves out what they exclude.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::{Budget, StopReason};
use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Method, Observer, PropertyId, Task, Verdict};
use evidence::certificate::Fact;
use evidence::propagation::Sights;
use model::Model;

use crate::checker::SharedEngine;

/// Sums are looked for this long, and a quarter of what is left.
const SEARCH: Duration = Duration::from_secs(2);

/// An engine, and the same with sums.
pub struct WithSums<E> {
    /// Without sums.
    plain: E,
    /// With some.
    pruned: fn(&E, Sights) -> SharedEngine,
}

/// What `propagate` showed of properties that it left open, for other methods on the same Model.
#[derive(Default)]
pub(crate) struct ShownFacts(Mutex<BTreeMap<PropertyId, Vec<Fact>>>);

impl fmt::Debug for ShownFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShownFacts")
    }
}

impl ShownFacts {
    /// Keeps what was shown of a property.
    pub fn keep(&self, property: PropertyId, facts: Vec<Fact>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(property, facts);
    }

    /// What was shown of a property so far.
    pub fn of(&self, property: PropertyId) -> Vec<Fact> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&property).cloned().unwrap_or_default()
    }
}

/// The sums of a program, if they are found soon.
pub(crate) fn sums_in_time(model: &Model, budget: &Budget) -> Option<Sights> {
    let time = budget.time_left().map_or(SEARCH, |left| SEARCH.min(left / 4));
    propagate::sums::sums(model, &budget.slice(time))
}

impl<E> WithSums<E> {
    /// From an engine, and how it becomes one that uses sums.
    pub fn new(plain: E, pruned: fn(&E, Sights) -> SharedEngine) -> Self {
        WithSums { plain, pruned }
    }
}

impl<E: Engine> Engine for WithSums<E> {
    fn method(&self) -> Method {
        self.plain.method()
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        self.plain.settings()
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let mut answers = self.plain.run(task, observer)?;
        let is_coarse = |answer: &&Answer| matches!(answer.verdict, Verdict::Unknown(StopReason::TooCoarse(_)));
        let properties: Vec<PropertyId> = answers.iter().filter(is_coarse).map(|answer| answer.property).collect();
        if properties.is_empty() {
            return Ok(answers);
        }
        let Some(sums) = sums_in_time(task.model, &task.budget) else { return Ok(answers) };
        let task = Task { properties, ..task.clone() };
        for found in (self.pruned)(&self.plain, sums).run(&task, observer)? {
            if let Some(answer) = answers.iter_mut().find(|answer| answer.property == found.property)
                && !matches!(found.verdict, Verdict::Unknown(_))
            {
                *answer = found;
            }
        }
        Ok(answers)
    }
}
