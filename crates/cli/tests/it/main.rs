//! All tests of `cli` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod bad_calls;
mod deny;
mod documents;
mod dve;
mod every_n;
mod export;
mod for_people;
mod formats;
mod formatting;
mod graph;
mod hosts;
mod large_inputs;
mod limits;
mod ltl;
mod other_sizes;
mod proofs;
mod proposals;
mod report;
mod robustness;
mod running;
mod schema;
mod support;
mod verdicts;
mod wide;
