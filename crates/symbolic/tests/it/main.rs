//! All tests of `symbolic` in one binary, which is linked once; one file for each subject.

mod asked;
mod engines;
mod faults;
mod global;
mod local_fair;
mod pinned;
mod random;
mod unwritten;
