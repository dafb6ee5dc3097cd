//! All tests of `driver` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod advice;
mod cells;
mod checked_limits;
mod corpus;
mod crowds;
mod drawn;
mod dve;
mod every_sentences;
mod exchanges;
mod names;
mod obligations;
mod pds;
mod ranks;
mod ring_texts;
mod rules;
mod sentences;
mod stacks;
mod sums;
mod teach;
mod trust;
mod wide;
mod windows;
