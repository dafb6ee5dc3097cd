//! Options about other hosts.

use std::path::PathBuf;

use clap::Args;

/// Which hosts take part.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Hosts")]
pub struct HostOptions {
    /// Ask other hosts, one on each line of the file: `local`, or `node1 threads=8 slots=2 memory=60G`; each question goes to one of them by ssh
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,
}
