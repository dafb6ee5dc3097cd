//! All tests of `model` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod action_footprints;
mod common;
mod expressions;
mod extensions;
mod flow;
mod footprint;
mod statements;
mod states;
mod symmetry;
