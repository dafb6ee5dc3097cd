//! The options of `piecewise proof`: a part of the table of the command line (`options.rs`).

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::options::{GoalOptions, InstanceOptions, LimitOptions, OutputOptions};

/// `piecewise proof`.
#[derive(Clone, Debug, Args)]
pub struct ProofOptions {
    /// What to do with a proof.
    #[command(subcommand)]
    pub command: ProofCommand,
}

/// The commands about proofs.
#[derive(Clone, Debug, Subcommand)]
pub enum ProofCommand {
    /// Check a proof against its program, by code that no engine shares
    Check(ProofCheckOptions),
    /// Show a proof in sentences: what processes rely on, why the property follows; it is checked first
    Show(ProofShowOptions),
}

/// `piecewise proof show`.
#[derive(Clone, Debug, Args)]
#[command(after_help = PROOF_SHOW_EXAMPLES)]
pub struct ProofShowOptions {
    /// The proof, as `check --proof` writes it
    #[arg(value_name = "PROOF", value_hint = ValueHint::FilePath)]
    pub proof: PathBuf,
    /// The program [default: the file that the proof is named after, beside it, above it, or here]
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// What the check may use.
    #[command(flatten)]
    pub limits: LimitOptions,
}

const PROOF_SHOW_EXAMPLES: &str = "\
Examples:
  piecewise check lock.pw -N 4 --proof out
  piecewise proof show out/lock.mutex.proof.json

Sentences are in the language of the program, and can be pasted into it as invariants where they say for whom they hold.";

/// `piecewise proof check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = PROOF_CHECK_EXAMPLES)]
pub struct ProofCheckOptions {
    /// The proof, as `check --proof` writes it
    #[arg(value_name = "PROOF")]
    pub proof: PathBuf,
    /// The program
    #[arg(value_name = "MODEL")]
    pub file: PathBuf,
    /// Which instance; the proof says it, and another one is refused.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// What is to be reached.
    #[command(flatten)]
    pub goal: GoalOptions,
    /// What the check may use.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputOptions,
}

const PROOF_CHECK_EXAMPLES: &str = "\
Examples:
  piecewise check lock.pw -N 4 --method completion --proof out
  piecewise proof check out/lock.mutex.proof.json lock.pw

Exit status: 0 the proof is accepted, 1 it does not hold, 2 it is no proof about this program, 3 a limit was reached.";
