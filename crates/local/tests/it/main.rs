//! All tests of `local` in one binary, which is linked once; one file for each subject.

#![allow(clippy::unwrap_used)]

mod datalog;
mod fair;
mod fair_rendezvous;
mod graphs;
mod local_protocols;
mod sets;
