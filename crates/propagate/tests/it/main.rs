//! All tests of `propagate` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod mutants;
mod protocols;
mod random;
