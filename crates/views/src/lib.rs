//! Views of a few interchangeable processes: safety proofs for every size.
//!
//! In: a program with one family of N interchangeable processes. Out: proofs that hold for every N. [`fragment`] says which programs these
//! are; [`configuration`] is what is known of a state when few processes are seen, [`sight`] and [`act`] are the values of expressions and the
//! steps there; [`fixpoint`] closes sets of views under steps, [`pattern`] looks for violating states that views do not exclude. [`config`] says how far all of this goes.

pub mod act;
mod alike;
pub mod choices;
pub mod config;
pub mod configuration;
pub mod counting;
pub mod deadlock;
pub mod engine;
pub mod extend;
mod few;
pub mod fine;
pub mod fixpoint;
pub mod fragment;
pub mod hiding;
mod ladder;
pub mod layout;
mod origin;
pub mod packed;
pub mod pattern;
pub mod pointwise;
pub mod presence;
pub mod quantifiers;
pub mod race;
pub mod sight;
pub mod start;
pub mod support;
pub mod words;

pub use engine::ByViews;
