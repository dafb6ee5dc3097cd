//! Method `views`: by views of interchangeable processes, and by windows of neighbours where processes form a ring, chain or tree.
//!
//! In: a task. Out: an answer for each property. What views leave open is asked of windows: they prove a property of every size from some on, in the same time for a hundred processes as
//! for ten, and have nothing to say where processes are interchangeable.

use base::StopReason;
use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Event, Method, Observer, PropertyId, Task, Verdict};
use rings::ByRings;
use views::ByViews;

/// Views, and windows of neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewing {
    views: ByViews,
}

/// Passes on what is decided; what the first of two leaves open is not an answer yet.
struct AnswerFilter<'o>(&'o dyn Observer);

impl Observer for AnswerFilter<'_> {
    fn event(&self, event: Event) {
        if !matches!(event, Event::Decided(_)) {
            self.0.event(event);
        }
    }

    fn answered(&self, answer: &Answer) {
        if !is_open(answer) {
            self.0.event(Event::Decided(answer.property));
            self.0.answered(answer);
        }
    }
}

fn is_open(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Unknown(_))
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
        let passing = AnswerFilter(observer);
        let mut answers = self.views.run(task, &passing)?;
        let properties: Vec<PropertyId> =
            answers.iter().filter(|answer| is_open(answer)).map(|answer| answer.property).collect();
        if !properties.is_empty() && task.budget.check(0).is_ok() {
            // Where time is limited, at most a quarter of what is left.
            let budget = task.budget.time_left().map_or(task.budget.clone(), |left| task.budget.slice(left / 4));
            let task = Task { properties, budget, ..task.clone() };
            for found in ByRings::here().run(&task, &passing)? {
                let Some(answer) = answers.iter_mut().find(|answer| answer.property == found.property) else {
                    continue;
                };
                // Windows that leave a question open say more than that views do not apply, and less than what views allow.
                let is_outside = matches!(&answer.verdict, Verdict::Unknown(StopReason::NotSupported(_)));
                let is_inside = matches!(&found.verdict, Verdict::Unknown(StopReason::TooCoarse(_)));
                if !is_open(&found) || is_outside && is_inside {
                    *answer = found;
                }
            }
        }
        for answer in answers.iter().filter(|answer| is_open(answer)) {
            observer.event(Event::Decided(answer.property));
            observer.answered(answer);
        }
        Ok(answers)
    }
}
