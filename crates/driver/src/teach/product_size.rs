//! How large the whole product is, beside a local proof: what the proof did not have to explore.
//!
//! In: a program that has a local proof. Out: how many states its product has, or at least has, as far as a short search counts them.

use std::time::Duration;

use engine::Silent;
use engine::insight::ProductSize;
use model::Model;

use crate::check::CheckLimits;
use crate::explore::explore;

/// The search has this long; only a machine that stalls lets it take so long.
const TIME: Duration = Duration::from_secs(2);

/// The search has this much memory, in bytes: some ten thousand states, which take a moment. Memory and not time ends it, so that
/// the same is said on a busy machine.
const MEMORY: u64 = 256 << 10;

/// A search that is not complete says something from so many states on.
const MANY: u64 = 1000;

/// Counts the states of the product, within the limits and a moment.
pub(super) fn count(model: &Model, limits: &CheckLimits) -> Option<ProductSize> {
    let limits = CheckLimits {
        time: Some(limits.time.map_or(TIME, |left| left.min(TIME))),
        memory_bytes: Some(limits.memory_bytes.map_or(MEMORY, |limit| limit.min(MEMORY))),
        n_threads: 1,
        ..limits.clone()
    };
    let explored = explore(model, &limits, &Silent);
    let seen = explored.exploration.states;
    match explored.stopped {
        None => Some(ProductSize { states: seen, is_whole: true }),
        // Rounded: how far exactly it came is of no use.
        Some(_) if seen >= MANY => Some(ProductSize { states: 10u64.pow(seen.ilog10()), is_whole: false }),
        Some(_) => None,
    }
}
