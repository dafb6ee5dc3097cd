//! How much of a search is left, from how its levels shrink.
//!
//! In: how many states each level of a breadth-first search has. Out: once levels get smaller, a guess of how many states are still to come: as many as levels that go on to shrink at the same rate have in all
//! (levels grow at first and shrink in the end, in most products, R. Pelánek, Typical structural properties of state spaces, SPIN 2004).

use engine::meter::Meter;

/// Of smaller searches nothing is said.
const FEWEST_STATES: u64 = 1_000;

/// Levels shrink where one has at most this part of the states of the largest.
const SHRUNK: f64 = 0.8;

/// A guess is told again when there are so many times as many states.
const BETWEEN_GUESSES: f64 = 1.02;

/// The levels so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaningLevels {
    widest: u64,
    before: u64,
    /// How many states there were at the last guess.
    guessed_at: u64,
}

impl WaningLevels {
    /// A level of so many states comes next, of so many that were found in all; tells the observer what is left, if that shows.
    pub fn enter(&mut self, width: u64, n_states: u64, meter: &Meter<'_>) {
        let guess = self.left(width, n_states);
        if let Some(part) = guess.filter(|_| n_states as f64 > BETWEEN_GUESSES * self.guessed_at as f64) {
            self.guessed_at = n_states;
            meter.left(part);
        }
    }

    /// How many states are not found or not expanded, as a part of those that were found.
    fn left(&mut self, width: u64, n_states: u64) -> Option<f64> {
        let rate = width as f64 / self.before.max(1) as f64;
        self.before = width;
        self.widest = self.widest.max(width);
        let shrinks = rate < 1.0 && width as f64 <= SHRUNK * self.widest as f64;
        (shrinks && n_states >= FEWEST_STATES).then(|| width as f64 / (1.0 - rate) / n_states as f64)
    }
}
