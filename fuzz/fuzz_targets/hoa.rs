//! Any bytes as an automaton: refused with an error, or written, read back and reduced.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::automaton(bytes));
