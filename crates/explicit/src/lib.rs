//! The whole product, explicit: packed states, compiled steps, breadth-first search.
//!
//! In: a Model and its properties. Out: verdicts with evidence. [`packing`], [`layout`] and [`codec`] say how a state is a
//! few words; [`compile`] makes [`code`] of the program, with [`term`]s for expressions, and [`machine`] runs it; [`store`]
//! is the set of states found; `search.rs` goes through them level by level, `path.rs` finds the run to what was found;
//! [`Mono`] is the method.

pub mod code;
pub mod codec;
pub mod compile;
mod expand;
mod hash;
mod initial;
pub mod layout;
pub mod machine;
mod meter;
mod mono;
pub mod packing;
mod parallel;
mod path;
mod patience;
pub mod points;
mod questions;
pub mod race;
mod search;
mod shard;
pub mod stacks;
pub mod store;
pub mod term;
mod walk;
mod width;

pub use mono::{Mono, explore};
