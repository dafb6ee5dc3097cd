//! The whole product, explicit: packed states, compiled steps, breadth-first search.
//!
//! In: a Model and its properties. Out: verdicts with evidence. [`packing`], [`layout`] and [`codec`] say how a state is a
//! few words; [`compile`] makes code of the program, [`machine`] runs it; [`store`] is the set of states found.

pub mod code;
pub mod codec;
pub mod compile;
pub mod hash;
pub mod layout;
pub mod machine;
pub mod packing;
pub mod points;
pub mod stacks;
pub mod store;
pub mod term;
mod walk;
