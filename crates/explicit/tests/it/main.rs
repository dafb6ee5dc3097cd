//! All tests of `explicit` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod common;
mod datalog;
mod fair;
mod graphs;
mod limits;
mod liveness;
mod local;
mod local_protocols;
mod pinned;
mod pushdown;
mod questions;
mod search;
mod steps;
mod stubborn;
mod systems;
