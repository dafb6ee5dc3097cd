//! Options of `check` for SPIN's users: what they ask of programs in Promela, and under which fairness.

use clap::{Args, ValueEnum};

/// What SPIN's users ask, for programs in Promela.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Promela")]
pub struct PromelaOptions {
    /// Check only this `ltl` block, by its name, or this formula, as '[]<> (n > 0)'; may be repeated
    #[arg(long, value_name = "NAME|FORMULA")]
    pub ltl: Vec<String>,
    /// Assume that who is able from some point on moves (weak, as pan -f), or who is able again and again does (strong)
    #[arg(long, value_name = "HOW", value_enum)]
    pub fair: Option<Fair>,
    /// Ask whether some process is again and again at a `progress` label, as pan -l; `--progress` without a value is the same
    #[arg(long)]
    pub progress_cycles: bool,
}

/// Fairness that is assumed of all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fair {
    /// Who is able from some point on moves again and again
    Weak,
    /// Who is able again and again moves again and again
    Strong,
}
