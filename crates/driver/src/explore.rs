//! The whole product of a program, searched to the end and counted; no property stops it.

use base::StopReason;
use engine::{Observer, Statistics};
use evidence::Exploration;
use model::Model;

use crate::check::Limits;

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
pub fn explore(model: &Model, limits: &Limits, observer: &dyn Observer) -> Explored {
    let (exploration, statistics, stopped) = explicit::explore(model, &limits.budget(), limits.n_threads, observer);
    Explored { exploration, statistics, stopped }
}
