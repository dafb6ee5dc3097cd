//! Any bytes as a trace: refused in words, or a run of the program; never a panic.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::trace(bytes));
