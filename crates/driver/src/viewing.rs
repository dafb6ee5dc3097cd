//! Method `views`: by views of interchangeable processes, and by windows of neighbours where processes form a ring, chain or tree.
//!
//! In: a task. Out: an answer for each property. What views leave open is asked of windows: they prove a property of every size from some on, in the same time for a hundred processes as
//! for ten, and have nothing to say where processes are interchangeable.

use std::time::Duration;

use base::StopReason;
use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Event, Method, Observer, PropertyId, Task, Verdict};
use rings::ByRings;
use views::ByViews;

use crate::propagating::DecisionFilter;

/// Windows have this long, and a quarter of what is left.
const WINDOWS: Duration = Duration::from_secs(3);

/// Views, and windows of neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewing {
    views: ByViews,
}

impl Engine for Viewing {
    fn method(&self) -> Method {
        Method::Views
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        self.views.settings()
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        // A window shows what one process does to its neighbours, not what two do at once; and windows are about sizes.
        if !task.model.channels.is_empty() || task.model.parameters.is_empty() {
            return self.views.run(task, observer);
        }
        let quiet = DecisionFilter(observer);
        let mut answers = self.views.run(task, &quiet)?;
        let is_open = |answer: &Answer| matches!(answer.verdict, Verdict::Unknown(_));
        let properties: Vec<PropertyId> =
            answers.iter().filter(|answer| is_open(answer)).map(|answer| answer.property).collect();
        if !properties.is_empty() && task.budget.check(0).is_ok() {
            let time = task.budget.time_left().map_or(WINDOWS, |left| WINDOWS.min(left / 4));
            let task = Task { properties, budget: task.budget.slice(time), ..task.clone() };
            let found = ByRings::here().run(&task, &quiet)?;
            // Why windows do not apply says nothing about a program without neighbours.
            let says_more = |found: &Answer| {
                !matches!(&found.verdict, Verdict::Unknown(StopReason::NotSupported(_) | StopReason::TimeLimit(_)))
            };
            for found in found.into_iter().filter(says_more) {
                answers
                    .iter_mut()
                    .filter(|answer| answer.property == found.property)
                    .for_each(|answer| *answer = found.clone());
            }
        }
        for answer in &answers {
            observer.event(Event::Decided(answer.property));
            observer.answered(answer);
        }
        Ok(answers)
    }
}
