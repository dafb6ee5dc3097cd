//! The whole product, explicit: packed states, compiled steps, breadth-first search.
//!
//! In: a Model and its properties. Out: verdicts with evidence. [`packing`] and [`codec`] say how a state is a
//! few words; [`compile`] makes code of the program, and [`machine`] runs it; `store.rs` is the
//! set of states found; `search.rs` goes through them level by level, `path.rs` finds the run to what was found;
//! `liveness.rs` finds fair loops; [`Mono`] is the method. [`graphs`]: local state graphs; [`Stubborn`]: the product, reduced with
//! their help. [`local`]: sets of what few processes see, for local proofs; [`fair`]: abstract processes, for local proofs of
//! temporal properties; [`pushdown`]: path edges, for programs whose stacks have no bound.

mod code;
pub mod codec;
pub mod compile;
mod expand;
pub mod fair;
pub mod graphs;
mod hash;
mod holders;
mod initial;
mod layout;
mod liveness;
pub mod local;
pub mod machine;
mod meter;
mod mono;
pub mod packing;
mod parallel;
mod path;
mod patience;
mod points;
pub mod pushdown;
mod questions;
mod race;
mod search;
mod shard;
mod stacks;
mod store;
mod stubborn;
mod term;
mod walk;
mod width;

pub use mono::{Mono, explore};
pub use stubborn::{Stubborn, reduced_size};
