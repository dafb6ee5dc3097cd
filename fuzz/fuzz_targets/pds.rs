//! Any bytes as a pushdown system with where it starts and what is bad: refused with an error, or a program that takes steps.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::pds(bytes));
