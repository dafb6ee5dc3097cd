//! All tests of `evidence` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod proof_file;
