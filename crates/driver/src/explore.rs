//! The whole product of a program, searched to the end and counted; no property stops it.

use base::StopReason;
use engine::{Observer, Statistics};
use evidence::Exploration;
use model::Model;

use crate::check::CheckLimits;
use crate::watchdog::{Attendant, ENGINE_GRACE};

/// What was seen, and what it took.
#[derive(Clone, Debug)]
pub struct Explored {
    /// What was seen.
    pub exploration: Exploration,
    /// What it took.
    pub statistics: Statistics,
    /// Why it ended before the end, if it did.
    pub stopped: Option<StopReason>,
}

/// Searches the whole product.
pub fn explore(model: &Model, limits: &CheckLimits, observer: &dyn Observer) -> Explored {
    let (budget, n_threads) = (limits.budget(), limits.n_threads);
    let attendant = Attendant { model, budget: &budget, observer, grace: ENGINE_GRACE };
    let within = budget.clone();
    let explored = attendant.run(move |model, observer| product::explore(model, &within, n_threads, observer));
    let (exploration, statistics, stopped) = explored.unwrap_or_else(|left| {
        let statistics = Statistics { time: budget.elapsed(), ..Statistics::default() };
        (Exploration::default(), statistics, Some(left.reason))
    });
    Explored { exploration, statistics, stopped }
}
