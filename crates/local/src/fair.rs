//! Abstract processes, explicit: the explicit backend of `compose::fair`, and methods `ll`, `fll-a`, `fll-b`.
//!
//! In: a task's temporal properties. Out: for each a fair run that violates it, or a proof. `sets.rs` keeps local states by store, `rendezvous.rs` their joint turns, `process.rs`
//! makes the abstract process of a focus of them, `pruning.rs` leaves out what sums exclude, `product.rs` its product with an automaton, in which `streett` searches for a
//! fair component; `certify.rs` writes down the invariant, `claim.rs` the ranks, `engine.rs` is the method.

mod certify;
mod claim;
mod engine;
mod process;
mod product;
mod pruning;
mod rendezvous;
mod sets;

pub use engine::{ExplicitFll, LivenessRule, PrunedFll, ShownBefore};
