//! Method `propagate`: by views of single processes, and by windows of neighbours where processes form a ring, chain or tree.
//!
//! In: a task. Out: an answer for each property. A proof by windows is one of every size from some on, and takes as long for a thousand processes as for
//! ten; so it comes first where there are many processes, and after views where there are few.

use std::sync::Arc;
use std::time::Duration;

use engine::settings::{Setting, SettingError, Settings};
use engine::{Answer, Engine, EngineError, Method, Observer, Task};
use propagate::Propagate;
use rings::ByRings;

use crate::in_turn::InTurn;
use crate::parts::set_in_parts;
use crate::with_sums::ShownFacts;

/// From so many processes on windows come first.
const MANY: usize = 10;

/// Windows have this long at most.
const WINDOWS: Duration = Duration::from_secs(3);

/// Of the time that is left windows have one part in so many.
const SHARE_OF_WINDOWS: u32 = 4;

/// Views, and windows of neighbours.
#[derive(Clone, Debug, Default)]
pub struct Propagating {
    views: Propagate,
    windows: rings::Config,
    /// Where to keep what is shown of questions that stay open.
    shown: Option<Arc<ShownFacts>>,
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

    fn by_windows(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let time = task.budget.time_left().map_or(WINDOWS, |left| WINDOWS.min(left / SHARE_OF_WINDOWS));
        let task = Task { budget: task.budget.slice(time), ..task.clone() };
        ByRings::of_runs_here().within(self.windows).run(&task, observer)
    }
}

impl Settings for Propagating {
    fn list(&self) -> Vec<Setting> {
        [self.views.config.list(), self.windows.list()].concat()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        set_in_parts([&mut self.views.config, &mut self.windows], name, value)
    }
}

impl Engine for Propagating {
    fn method(&self) -> Method {
        Method::Propagate
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(self)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        // Windows know nothing of what two processes do at once.
        if !task.model.channels.is_empty() {
            return self.by_views(task, observer);
        }
        let views = |task: &Task<'_>, observer: &dyn Observer| self.by_views(task, observer);
        let windows = |task: &Task<'_>, observer: &dyn Observer| self.by_windows(task, observer);
        // What views leave says more than what windows do.
        if task.model.processes.len() >= MANY {
            InTurn { first: windows, second: views, says_more: |_, _| true }.run(task, observer)
        } else {
            InTurn { first: views, second: windows, says_more: |_, _| false }.run(task, observer)
        }
    }
}
