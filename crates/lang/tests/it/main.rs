//! All tests of `lang` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod declarations;
mod dve;
mod dve_hostile;
mod elaboration;
mod errors;
mod expressions;
mod format;
mod fragments;
mod hostile;
mod limits;
mod meaning;
mod messages;
mod pds;
mod product;
mod promela;
mod promela_sizes;
mod questions;
mod random;
mod recovery;
mod sizes;
mod support;
mod whole;
