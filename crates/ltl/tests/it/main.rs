//! All tests of `ltl` in one binary, which is linked once; one file for each subject.

mod hoa;
mod limits;
mod sizes;
mod support;
mod syntax;
mod words;
