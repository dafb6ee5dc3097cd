//! Any bytes as a program: parsed, checked, formatted, drawn, simulated; never a panic.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::program(bytes));
