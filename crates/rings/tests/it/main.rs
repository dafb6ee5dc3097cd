//! The tests of windows, as one program.

#![allow(clippy::unwrap_used)]

mod examples;
mod lasting;
mod naming;
mod random;
mod skeletons;
