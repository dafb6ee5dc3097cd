//! Any bytes as a proof: refused in words, or a proof of something that holds.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::proof_file(bytes));
