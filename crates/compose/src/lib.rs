//! Local proofs, written once over a backend.
//!
//! [`backend`]: what an explicit or a symbolic representation of local sets must offer. [`k_index`]: the strongest invariants of
//! `k` processes each, of which split invariants are `k = 1` and pairwise ones `k = 2`; [`symmetry`] lets few groups represent
//! all. [`question`]: properties as patterns over few processes. [`few_movers`]: real runs of a few processes, where invariants leave a
//! question open. [`method`]: all of it put together. [`completion`]: refinement by exposed facts until there is a proof or a
//! real run. [`fair`]: temporal properties under fairness. [`facts`]: what was proved so far, with what it rests on; [`edges`]: sets of
//! labelled edges of what a process sees; [`sums`]: additive invariants, and which view states they exclude.

pub mod backend;
mod clause;
pub mod completion;
pub mod edges;
pub mod facts;
pub mod fair;
pub mod few_movers;
pub mod implied;
pub mod k_index;
pub mod method;
pub mod question;
pub mod sums;
pub mod symmetry;
