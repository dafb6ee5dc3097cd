//! Method `propagate`: by views of single processes, and by windows of neighbours where processes form a ring, chain or tree.
//!
//! In: a task. Out: an answer for each property. A proof by windows is one of every size from some on, and takes as long for a thousand processes as for
//! ten; so it comes first where there are many processes, and after views where there are few.

use std::sync::Arc;
use std::time::Duration;

use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Event, Method, Observer, PropertyId, Task, Verdict};
use propagate::Propagate;
use rings::ByRings;

use crate::with_sums::ShownFacts;

/// From so many processes on windows come first.
const MANY: usize = 10;

/// Windows have this long, and a quarter of what is left.
const WINDOWS: Duration = Duration::from_secs(3);

/// Views, and windows of neighbours.
#[derive(Clone, Debug, Default)]
pub struct Propagating {
    views: Propagate,
    /// Where to keep what is shown of questions that stay open.
    shown: Option<Arc<ShownFacts>>,
}

/// Passes on answers to questions, and how far the work is; what the first engine leaves open is not an answer yet.
struct DecisionFilter<'o>(&'o dyn Observer);

impl Observer for DecisionFilter<'_> {
    fn event(&self, event: Event) {
        if !matches!(event, Event::Decided(_)) {
            self.0.event(event);
        }
    }
}

impl Propagating {
    /// Keeps what it shows for others.
    pub fn telling(shown: &Arc<ShownFacts>) -> Self {
        Propagating { shown: Some(Arc::clone(shown)), ..Propagating::default() }
    }

    fn by_views(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        self.views.run_and_show(task, observer, &|property, facts| {
            if let Some(shown) = &self.shown {
                shown.keep(property, facts);
            }
        })
    }

    fn windows(task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let time = task.budget.time_left().map_or(WINDOWS, |left| WINDOWS.min(left / 4));
        let task = Task { budget: task.budget.slice(time), ..task.clone() };
        ByRings::of_runs_here().run(&task, observer)
    }
}

impl Engine for Propagating {
    fn method(&self) -> Method {
        Method::Propagate
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        self.views.settings()
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        // Windows know nothing of what two processes do at once.
        if !task.model.channels.is_empty() {
            return self.by_views(task, observer);
        }
        let has_many = task.model.processes.len() >= MANY;
        let quiet = DecisionFilter(observer);
        let mut answers = match has_many {
            true => Self::windows(task, &quiet)?,
            false => self.by_views(task, &quiet)?,
        };
        let is_open = |answer: &Answer| matches!(answer.verdict, Verdict::Unknown(_));
        for answer in answers.iter().filter(|answer| !is_open(answer)) {
            observer.event(Event::Decided(answer.property));
            observer.answered(answer);
        }
        let properties: Vec<PropertyId> =
            answers.iter().filter(|answer| is_open(answer)).map(|answer| answer.property).collect();
        if properties.is_empty() {
            return Ok(answers);
        }
        let task = Task { properties, ..task.clone() };
        let second = match has_many {
            true => self.by_views(&task, observer)?,
            false => Self::windows(&task, &quiet)?,
        };
        for answer in &mut answers {
            let Some(found) = second.iter().find(|found| found.property == answer.property) else { continue };
            // What views leave says more than what windows do.
            if has_many || !is_open(found) {
                *answer = found.clone();
            }
            if !has_many {
                observer.answered(answer);
            }
        }
        Ok(answers)
    }
}
