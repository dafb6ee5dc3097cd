//! All tests of `symbolic` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod asked;
mod engines;
mod faults;
mod global;
mod local_fair;
mod outcomes;
mod pinned;
mod races;
mod random;
mod under_way;
mod unwritten;
