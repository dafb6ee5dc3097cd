//! Any bytes as a program in Promela: refused with an error, or a program that takes steps; never a panic.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/cli/tests/it/robustness/readers.rs"]
mod robustness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| robustness::promela(bytes));
