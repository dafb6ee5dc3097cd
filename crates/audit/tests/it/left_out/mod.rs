//! Proofs that are made of the states of some runs only: whatever these leave out, the checker has to notice.
//!
//! In: random programs. Out: sets of view states that contain just what those states look like that are reachable without some steps, or from some
//! initial states. Such sets are closed under everything but what was left out, so that nothing keeps them from being accepted but what the checker says about just
//! that. What is accepted has to contain what every reachable state looks like, and to prove no property that one of them violates; the oracle is the
//! whole product.

mod cells;
mod columns;
mod crowds;
mod rings;
mod runs;
mod split;
mod sums;
mod writer;

use model::Model;
use model::eval::evaluate;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;

/// How many programs are looked at, and where they begin.
#[derive(Clone, Copy)]
pub struct Batch {
    pub n_programs: u64,
    pub seed: u64,
}

impl Batch {
    /// So many, or as the environment says: `PIECEWISE_PROGRAMS`, `PIECEWISE_SEED`.
    pub fn of(usual: u64) -> Batch {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        Batch { n_programs: number("PIECEWISE_PROGRAMS").unwrap_or(usual), seed: number("PIECEWISE_SEED").unwrap_or(0) }
    }

    /// The seeds of its programs.
    pub fn seeds(self) -> impl Iterator<Item = u64> {
        (0..self.n_programs).map(move |at| self.seed * 1_000_003 + at)
    }
}

/// What became of the proofs.
#[derive(Debug, Default)]
pub struct Tally {
    pub programs: usize,
    /// Of nothing left out: accepted, and refused since views are closed under more than there is.
    pub whole_accepted: usize,
    pub whole_refused: usize,
    /// Of something left out: refused.
    pub partial_refused: usize,
    /// Of violated properties: refused.
    pub false_refused: usize,
}

impl Tally {
    /// One more proof: whether it was accepted, of what leaves nothing out or something.
    pub fn note(&mut self, is_accepted: bool, is_whole: bool) {
        match (is_accepted, is_whole) {
            (true, true) => self.whole_accepted += 1,
            (false, true) => self.whole_refused += 1,
            (_, false) => self.partial_refused += 1,
        }
    }
}

/// Whether some reachable state, or step, violates a property of states.
fn is_violated(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    // Where it has no value, nothing is proved either.
    let is_ever_not = |expr, value: bool| {
        product.states.iter().any(|state| evaluate(model, state, expr, None) != Ok(Value::Bool(value)))
    };
    match kind {
        PropertyKind::Invariant(expr) => is_ever_not(expr, true),
        PropertyKind::Reachable(expr) => is_ever_not(expr, false),
        PropertyKind::NoErrors => product.n_faults() > 0,
        PropertyKind::DeadlockFree => !product.deadlocks.is_empty(),
        PropertyKind::RaceFree(_) | PropertyKind::Temporal(_) => false,
    }
}
