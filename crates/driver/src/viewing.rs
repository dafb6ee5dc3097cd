//! Method `views`: by views of interchangeable processes, and by windows of neighbours where processes form a ring, chain or tree.
//!
//! In: a task. Out: an answer for each property. What views leave open is asked of windows: they prove a property of every size from some on, in the same time for a hundred processes as
//! for ten, and have nothing to say where processes are interchangeable.

use base::StopReason;
use engine::settings::{Setting, SettingError, Settings};
use engine::{Answer, Engine, EngineError, Method, Observer, Task, Verdict};
use rings::ByRings;
use views::ByViews;

use crate::in_turn::InTurn;
use crate::parts::set_in_parts;

/// Of the time that is left windows have one part in so many.
const SHARE_OF_WINDOWS: u32 = 4;

/// Views, and windows of neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewing {
    views: ByViews,
    windows: rings::Config,
}

impl Settings for Viewing {
    fn list(&self) -> Vec<Setting> {
        [self.views.config.list(), self.windows.list()].concat()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        set_in_parts([&mut self.views.config, &mut self.windows], name, value)
    }
}

impl Engine for Viewing {
    fn method(&self) -> Method {
        Method::Views
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(self)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        // A window shows what one process does to its neighbours, not what two do at once; and windows are about sizes.
        if !task.model.channels.is_empty() || task.model.parameters.is_empty() {
            return self.views.run(task, observer);
        }
        let windows = |task: &Task<'_>, observer: &dyn Observer| ask_windows(self.windows, task, observer);
        let views = |task: &Task<'_>, observer: &dyn Observer| self.views.run(task, observer);
        InTurn { first: views, second: windows, says_more }.run(task, observer)
    }
}

/// Asks windows, unless the time is over.
fn ask_windows(config: rings::Config, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
    if task.budget.check(0).is_err() {
        return Ok(Vec::new());
    }
    let budget = task.budget.time_left().map_or(task.budget.clone(), |left| task.budget.slice(left / SHARE_OF_WINDOWS));
    ByRings::here().within(config).run(&Task { budget, ..task.clone() }, observer)
}

/// Windows that leave a question open say more than that views do not apply, and less than what views allow.
fn says_more(views: &Answer, windows: &Answer) -> bool {
    let is_outside = matches!(views.verdict, Verdict::Unknown(StopReason::NotSupported(_)));
    let is_inside = matches!(windows.verdict, Verdict::Unknown(StopReason::TooCoarse(_)));
    is_outside && is_inside
}
