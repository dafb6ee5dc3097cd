//! All tests of `compose` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod k_index;
mod plain_sets;
