//! Windows of neighbours in rings and chains: proofs for every size.
//!
//! In: a program whose processes touch only what stands at fixed distances from them. Out: proofs that hold for every number of processes.
//! [`ring`] says which programs these are, which types of processes they have and what each touches; [`windows`] closes sets of window
//! states under steps (`theta`); [`flows`] finds sums that never change; [`walk`] looks for a closed walk of windows, which a violating state would
//! be; [`question`] says what a property asks of windows. [`runs`] has the edges of windows, and [`refute`] what follows for temporal properties. The words, items, states and flows themselves are data of `evidence::rings`,
//! with the rule that makes them a proof.

pub mod engine;
pub mod flows;
pub mod instance;
pub mod question;
pub mod refute;
pub mod ring;
pub mod runs;
pub mod walk;
pub mod windows;

pub use engine::ByRings;
