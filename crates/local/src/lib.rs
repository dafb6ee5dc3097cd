//! What single processes and small groups can see and do: explicit local sets, local state graphs, abstract processes.
//!
//! In: a Model and its properties. Out: verdicts with evidence, and graphs to draw. [`sets`]: sets of view states of few processes, a backend of
//! `compose` for local proofs of safety (methods `tmmc`, `pairwise`, ...); [`graphs`]: local state graphs; [`Ls3`]: the methods that use
//! them; [`interference`]: the join that their fixpoints share; [`fair`]: abstract processes, a backend of `compose::fair` for temporal properties (methods `ll`, `fll-a`, `fll-b`).

pub mod fair;
pub mod graphs;
pub mod ids;
pub mod interference;
mod ls3;
pub mod sets;

pub use ls3::Ls3;
pub use sets::{ExplicitKIndex, PrunedKIndex};
