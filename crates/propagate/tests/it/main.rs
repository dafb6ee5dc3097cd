//! All tests of `propagate` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod crowds;
mod every_random;
mod every_size;
mod exchanged;
mod fair_random;
mod forged;
mod meetings;
mod mutants;
mod protocols;
mod random;
mod several;
