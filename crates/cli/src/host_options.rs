//! Options about other hosts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which hosts take part.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Hosts")]
pub struct HostOptions {
    /// Use other hosts, one on each line of the file: `local`, or `node1:2101 threads=8 slots=2 memory=60G`. `check` asks each question of one of
    /// them by ssh; `explore`, and `check --method mono` of one instance, search in the memories of all. What they send each other is not
    /// encrypted unless there is `--tunnel ssh`
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,
    /// Be one process of a search, the one of this line of the host file, from 0 on; the others are started by hand, too, with the same secret in PIECEWISE_SECRET
    #[arg(long, value_name = "K", requires = "hosts")]
    pub process: Option<usize>,
    /// Keep each level of the search in this directory, on the disk of each host
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Go on with the search in the directory of `--checkpoint`
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Let ssh carry what the processes of a search send each other, so that it is encrypted and every port is on the loopback address
    #[arg(long, value_name = "HOW", value_enum, requires = "hosts")]
    pub tunnel: Option<Tunnel>,
    /// What the processes of a search know and nobody else does, where a launcher started them.
    #[arg(skip)]
    pub secret: Option<String>,
}

/// What carries what processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tunnel {
    /// Forwarded ports of ssh, by way of the machine that starts the search
    Ssh,
}

impl HostOptions {
    /// Whether they are about one search, rather than about many questions.
    pub fn are_about_one_search(&self) -> bool {
        self.process.is_some() || self.checkpoint.is_some() || self.resume || self.tunnel.is_some()
    }
}
