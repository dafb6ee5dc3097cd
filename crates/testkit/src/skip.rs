//! Tests that cannot run where something is missing, each reported.
//!
//! In: what a test needs and did not find. Out: a line on the terminal, and one in the ledger, the file that the variable
//! `PIECEWISE_SKIPPED` names: the test, and what it missed. `.ci/run` shows the ledger at its end, and fails where something
//! is in it that must not be missing there.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;

/// What a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs<'a> {
    /// A program that is installed: `spin`.
    Program(&'a str),
    /// Data beside the project: `beem`.
    Data(&'a str),
    /// Something about the machine or its user: `/dev/full`.
    Machine(&'a str),
}

impl fmt::Display for Needs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Needs::Program(name) => write!(f, "program {name}"),
            Needs::Data(name) => write!(f, "data {name}"),
            Needs::Machine(what) => write!(f, "machine {what}"),
        }
    }
}

/// Writes down that the running test, or a part of it, is skipped.
///
/// # Panics
/// If there is a ledger that cannot be written: a skip would not be seen.
pub fn skipped(needs: Needs<'_>) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    println!("skipped: {test} needs {needs}");
    if let Some(ledger) = std::env::var_os("PIECEWISE_SKIPPED") {
        let line = format!("{needs}\t{test}\n");
        let mut file = OpenOptions::new().create(true).append(true).open(&ledger).expect("the ledger can be opened");
        file.write_all(line.as_bytes()).expect("the ledger can be written");
    }
}
