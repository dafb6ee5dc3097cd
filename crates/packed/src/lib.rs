//! Packed states and their machine: a state is a few words, and a step is compiled code over them.
//!
//! In: a Model. Out: its states as words and its steps as code, the same as those of `model::eval`. [`packing`] and [`codec`] say how a
//! state is a few words (`layout.rs` lays it out; `points.rs` numbers control locations, `stacks.rs` stacks, `holders.rs` finds the possible holders of locks);
//! [`compile`] makes [`code`] over [`term`]s of the program, and [`machine`] runs it; [`race`] and [`questions`] evaluate properties in a state.
//! [`store`] is a set of states, [`tree`] one that keeps the halves of states once, [`spill`] one on disk, [`shard`] a search's share of them by level, [`words`] are states as sets of bits, and [`width`] chooses how many words the code is compiled for.

pub mod code;
pub mod codec;
pub mod compile;
mod cut;
mod growing;
pub mod hash;
mod holders;
pub mod initial;
pub mod layout;
pub mod machine;
pub mod packing;
pub mod points;
pub mod questions;
pub mod race;
pub mod shard;
pub mod spill;
pub mod stacks;
pub mod store;
pub mod term;
pub mod tree;
mod walk;
pub mod width;
pub mod words;
