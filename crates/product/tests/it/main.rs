//! All tests of `product` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod disk;
mod limits;
mod liveness;
mod pinned;
mod schedules;
mod search;
mod stubborn;
