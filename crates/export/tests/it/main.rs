//! All tests of `export` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod beem;
mod common;
mod dve;
mod promela;
mod smv;
mod spin;
