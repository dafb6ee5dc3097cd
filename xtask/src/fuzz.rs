//! `cargo xtask fuzz TARGET`: the readers on mutated inputs, for a given time, without a fuzzer that needs another toolchain.
//!
//! In: a target of `fuzz/`, or `all`, and for how many seconds. Out: what the test of that reader says (`crates/cli/tests/it/robustness.rs`,
//! whose bodies the fuzz targets share): how many inputs there were, or the seed of the one that fails.

use std::path::Path;
use std::process::{Command, ExitCode};

/// How long each target runs by default.
const SECONDS: &str = "60";

/// The targets of `fuzz/`, each with the test that has its body.
const TARGETS: [(&str, &str); 8] = [
    ("pw", "any_bytes_as_a_program"),
    ("promela", "any_bytes_as_a_program_in_promela"),
    ("dve", "any_bytes_as_a_program_in_dve"),
    ("pds", "any_bytes_as_a_pushdown_system"),
    ("ltl", "any_bytes_as_a_formula"),
    ("hoa", "any_bytes_as_an_automaton"),
    ("itf", "any_bytes_as_a_trace"),
    ("proof", "any_bytes_as_a_proof"),
];

/// Runs one target, or all of them one after the other.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    let (name, seconds, seed) = match *arguments {
        [name] => (name, SECONDS, "1"),
        [name, "--seconds", seconds] => (name, seconds, "1"),
        [name, "--seconds", seconds, "--seed", seed] => (name, seconds, seed),
        _ => return usage(),
    };
    let chosen: Vec<_> = TARGETS.iter().filter(|(target, _)| name == "all" || name == *target).collect();
    if chosen.is_empty() || [seconds, seed].iter().any(|number| number.parse::<u64>().is_err()) {
        return usage();
    }
    let is_clean = |(target, test): &&(&str, &str)| {
        eprintln!("fuzz: {target} for {seconds} s");
        let cargo = Command::new("cargo")
            .current_dir(root)
            .args(["test", "--package", "piecewise-cli", "--test", "it", "--", "--exact", "--nocapture"])
            .arg(format!("robustness::{test}"))
            .env("PIECEWISE_FUZZ_SECONDS", seconds)
            .env("PIECEWISE_FUZZ_SEED", seed)
            .status();
        cargo.is_ok_and(|status| status.success())
    };
    let n_failed = chosen.iter().filter(|target| !is_clean(target)).count();
    if n_failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    eprintln!("usage: cargo xtask fuzz all|TARGET [--seconds N [--seed S]]");
    eprintln!("targets: {}", names.join(", "));
    ExitCode::from(2)
}
