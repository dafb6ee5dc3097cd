//! All tests of `ltl` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod bounds;
mod hoa;
mod limits;
mod sizes;
mod support;
mod syntax;
mod words;
