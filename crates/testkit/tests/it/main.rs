//! All tests of `testkit` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod generator;
mod language;
mod programs;
