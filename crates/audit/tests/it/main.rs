//! All tests of `audit` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod certificates;
mod changed_certificates;
mod common;
mod left_out;
mod mutations;
mod protocols;
mod random_programs;
mod runs;
