//! Any bytes as a linear-time formula: refused with an error, or printed, read back and translated.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::formula(bytes));
