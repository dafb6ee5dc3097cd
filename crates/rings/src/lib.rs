//! Windows of neighbours in rings, chains and trees: proofs for every size.
//!
//! In: a program whose processes touch only what is at fixed distances from them, or what their parents and children in a binary tree have. Out: proofs that hold for every number of processes.
//! [`ring`] says which programs these are, which types of processes they have and what each touches; [`windows`] closes sets of window
//! states under steps (`theta`); [`flows`] finds sums that never change; [`walk`] searches for a closed walk of windows, which a violating state would
//! be; [`heap`] and [`tree`] do for trees what distances and walks do for rings; [`question`] says what a property asks of windows, `named` which indices that are named outright are distances, and [`config`] how far all of this goes. [`runs`] has the edges of windows, and [`refute`] what follows for temporal properties. The words, items, states and flows themselves are data of `evidence::rings`,
//! with the rule that makes them a proof.

pub mod config;
pub mod engine;
pub mod flows;
pub mod heap;
pub mod instance;
mod named;
pub mod question;
pub mod refute;
pub mod ring;
pub mod runs;
pub mod tree;
pub mod walk;
pub mod windows;

pub use config::Config;
pub use engine::ByRings;
