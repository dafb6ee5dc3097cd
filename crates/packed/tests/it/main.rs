//! All tests of `packed` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod steps;
