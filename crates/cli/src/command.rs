//! The commands, one file each.
//!
//! Each takes its options and how to display, does its work through `driver` and `report`, and returns the exit status, or
//! a [`Failure`] that is told in one place.

mod check;
mod completions;
mod explain;
mod explore;
mod export;
mod fmt;
mod graph;
mod host;
mod ltl;
mod manual;
mod names;
mod proof;
mod replay;
#[cfg_attr(not(feature = "search"), path = "command/search_absent.rs")]
mod search;
mod sim;
mod stepper;

use crate::failure::Failure;
use crate::options::{Cli, Command};
use crate::status::ExitStatus;

/// Carries out one call.
pub fn run(cli: &Cli) -> Result<ExitStatus, Failure> {
    match &cli.command {
        Command::Check(options) => check::run(options, &cli.display),
        Command::Explain(options) => explain::run(options, &cli.display),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => manual::man(options),
        Command::Ltl(options) => ltl::run(options, &cli.display),
        Command::Explore(options) => explore::run(options, &cli.display),
        Command::Export(options) => export::run(options, &cli.display),
        Command::Graph(options) => graph::run(options, &cli.display),
        Command::Replay(options) => replay::run(options, &cli.display),
        Command::Proof(options) => proof::run(options, &cli.display),
        Command::Sim(options) => sim::run(options, &cli.display),
        Command::Host => host::run(),
        Command::Names { files } => names::run(files),
        Command::Fmt(options) => fmt::run(options, &cli.display),
    }
}
