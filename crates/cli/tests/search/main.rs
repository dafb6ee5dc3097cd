//! One search on many hosts, as users call it: counts, verdicts and runs equal those of one machine, whatever is killed in between.

#![allow(clippy::unwrap_used)]

#[path = "../it/support/mod.rs"]
mod support;

mod examples;
mod failure;
mod network;
mod processes;
mod refused;
