//! Temporal properties of Models: what would violate them.
//!
//! In: a property. Out: its [`Violation`]s: each an automaton over [`Proposition`]s, which reads the states of a run, and the
//! fairness that the run must satisfy. The property holds if none of them has a run of the program. An outer `forall` falls
//! apart into its instances, a disjunction of fairness sets into its members, so that each automaton is small. Fairness never
//! goes into a formula.

pub mod exchange;
mod propositions;
mod violations;

pub use propositions::{Proposition, Propositions};
pub use violations::{Instance, Violation, violations};
