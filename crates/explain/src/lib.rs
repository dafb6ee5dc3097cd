//! What there is to understand about an answer, found out before anything is rendered.
//!
//! [`Explained`] is a run of which everything is found out once.
//!
//! In: a run, its Model and the evidence of its answers, after the audit. Out: plain data and sentences that the terminal, the documents for
//! scripts and the page show. [`proof`] puts certificates into sentences, [`guarantees`] those of programs with procedures; [`why`] says
//! which part of a property is false, [`waiting`] which process waits for which, [`steps`] what each step of a trace did, [`stale`] which read came too early, [`lasso`] which processes have a part
//! in a loop, [`owed`] what it leaves undone; [`finding`] says each answer in one sentence. [`names`] are the user's names, [`text`] makes them harmless.

pub mod bundle;
pub mod explained;
pub mod finding;
pub mod guarantees;
pub mod lasso;
mod lengths;
pub mod names;
pub mod owed;
pub mod proof;
pub mod stale;
pub mod steps;
pub mod text;
pub mod totals;
pub mod waiting;
pub mod why;

pub use explained::Explained;
