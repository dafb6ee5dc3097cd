//! The command line as data: every command and every option, once.
//!
//! Parsing, `--help`, the man pages, shell completions and the check of the documents (`cargo xtask tidy`) are all made from
//! this table.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use driver::instances::{GivenParameter, SweepSizes};
use engine::denied::Denied;

pub use crate::host_options::{HostOptions, Tunnel};
pub use crate::promela_options::{Fair, PromelaOptions};
pub use crate::proof_options::{ProofCheckOptions, ProofCommand, ProofOptions, ProofShowOptions};
use crate::{formats, values};

/// The whole command line.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "piecewise",
    version,
    about = "A model checker for concurrent programs: it proves them correct one process at a time",
    long_about = "A model checker for concurrent programs.\n\n\
        You write processes that share variables, and what should be true of them. Piecewise answers with a proof, or with \
        a run that shows what goes wrong. `piecewise FILE` means `piecewise check FILE`.",
    after_help = TOP_EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to show it.
    #[command(flatten)]
    pub display: DisplayOptions,
}

const TOP_EXAMPLES: &str = "\
Examples:
  piecewise examples/mux_sem.pw                   check every property of a program
  piecewise check lock.pw -N 2..6                 the same for 2, 3, 4, 5 and 6 processes
  piecewise check lock.pw --trace out             write counterexamples to the directory out
  piecewise replay out/lock.mutex.itf.json lock.pw
  piecewise explain E0103                         more about an error

Exit status: 0 every property has its expected verdict, 1 some property has not,
2 the input or the call is wrong, 3 not decided, 4 an internal error.";

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Check the properties of programs
    Check(Box<CheckOptions>),
    /// Search the whole product to the end: states, transitions, deadlocks, errors, depth
    Explore(ExploreOptions),
    /// Find local state graphs: what each process can see happen; their sizes, or a drawing
    Graph(GraphOptions),
    /// Write a program in the language of another tool: SPIN, NuSMV, DIVINE, Graphviz
    Export(ExportOptions),
    /// Replay a trace step by step, and say whether it is a run of the program
    Replay(ReplayOptions),
    /// Work with proofs that `check --proof` wrote
    Proof(ProofOptions),
    /// Simulate a program: at random, or step by step as you choose
    Sim(SimOptions),
    /// Make the automaton of a linear-time formula
    Ltl(LtlOptions),
    /// Format programs
    Fmt(FmtOptions),
    /// Tell more about an error code, or about a method and its settings
    Explain(ExplainOptions),
    /// Carry out a request of another host, which stands on the standard input
    #[command(hide = true)]
    Host,
    /// Print the names of the properties of programs, for completion scripts
    #[command(hide = true)]
    Names {
        /// The programs
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Print the manual page
    Man(ManOptions),
}

/// How results are shown; understood by every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Display")]
pub struct DisplayOptions {
    /// Show more: sizes and rates
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Show less: one line for each property
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Colour the text
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub color: When,
    /// Use ASCII letters only
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The shape of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Human,
    /// A JSON document for scripts
    Json,
}

/// The shape of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Text for people
    Human,
    /// A JSON document for scripts
    Json,
    /// JSON Lines: one event a line, each verdict when it is known
    Jsonl,
    /// One row for each file, instance, method and property, for spreadsheets
    Csv,
    /// SARIF 2.1.0, for tools that gather findings
    Sarif,
    /// JUnit XML, for build servers
    Junit,
    /// Annotations for GitHub Actions, and a summary of the job
    Github,
}

/// What is shown beside verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowOption {
    /// What each process guarantees to the others, and the local states that it can be in, where the method is pushdown
    Guarantees,
}

/// What is refused whatever the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deny(pub Denied);

impl ValueEnum for Deny {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Deny; Denied::ALL.len()] = [Deny(Denied::ALL[0]), Deny(Denied::ALL[1]), Deny(Denied::ALL[2])];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}

/// How progress is shown on the standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// Redrawn in place on a terminal, plain lines elsewhere
    Auto,
    /// A line every few seconds
    Plain,
    /// One JSON object a line
    Json,
    /// Nothing
    None,
}

/// Which instance of a program.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Instance")]
pub struct InstanceOptions {
    /// The value of the parameter N, or a sweep: 2..6 means 2, 3, 4, 5 and 6; also 2,4,8 and 2..64:*2
    #[arg(short = 'N', value_name = "SIZE", allow_negative_numbers = true, value_parser = SweepSizes::parse)]
    pub sizes: Option<SweepSizes>,
    /// The value of another parameter, or a sweep: NAME=2..4; may be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = GivenParameter::parse)]
    pub given: Vec<GivenParameter>,
    /// In Promela: how many processes that `run` starts there may be at once; may be repeated for several proctypes
    #[arg(long, value_name = "PROCTYPE=COUNT", value_parser = values::instances)]
    pub instances: Vec<(String, usize)>,
    /// In Promela: what is sent to a full channel is lost, as spin -m; otherwise who sends waits
    #[arg(long)]
    pub lossy: bool,
}

/// What is to be reached, for programs that do not say it themselves.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "What to check")]
pub struct GoalOptions {
    /// Ask whether a state is reached, in DVE: an expression over the names of the file, or a .reach file; in a pushdown system: a bad
    /// state such as '20|23,-', or a .spec file; may be repeated [default: MODEL.reach and MODEL.*.reach beside MODEL.dve, MODEL.spec
    /// beside MODEL.pds]
    #[arg(long = "goal", value_name = "EXPR")]
    pub goals: Vec<String>,
}

/// What a search may use.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Stop after this time, for each program and instance: 500ms, 60s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub timeout: Option<Duration>,
    /// Stop when the program takes this much: 512M, 4G
    #[arg(long, value_name = "SIZE", value_parser = values::memory)]
    pub memory: Option<u64>,
    /// How many threads to use [default: all cores]
    #[arg(short = 'j', long = "threads", value_name = "THREADS", value_parser = values::threads)]
    pub threads: Option<usize>,
}

/// Where a search of the whole product may go on when memory runs out.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct DiskOptions {
    /// Keep states that `--memory` has no room for in temporary files here, and search on, slower (explore, and `mono` for safety)
    #[arg(long, value_name = "DIR", requires = "memory", value_hint = ValueHint::DirPath)]
    pub disk: Option<PathBuf>,
}

/// What a call may use that searches nothing.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct CallLimitOptions {
    /// Stop after this time: 500ms, 60s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub timeout: Option<Duration>,
    /// Stop when the program takes this much: 512M, 4G
    #[arg(long, value_name = "SIZE", value_parser = values::memory)]
    pub memory: Option<u64>,
}

/// Where results go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Text for people, or JSON for scripts
    #[arg(long, value_name = "FORMAT", value_parser = formats::one_of::<Format>(), default_value = "human")]
    pub format: Format,
    /// Write the results to a file instead of the standard output
    #[arg(short, long = "output", value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How to show progress, on the standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ProgressMode::Auto)]
    pub progress: ProgressMode,
}

/// Where verdicts go: several formats at once, each with its file.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct CheckOutputOptions {
    /// Which formats, separated by commas, each with a file or not: human,sarif=out.sarif,junit=out.xml
    #[arg(
        long = "format",
        value_name = "FORMAT[=FILE]",
        value_delimiter = ',',
        value_parser = formats::Requests,
        default_value = "human",
        hide_possible_values = true,
        long_help = formats::help()
    )]
    pub formats: Vec<formats::Requested>,
    /// Write what has no file of its own to this file instead of the standard output
    #[arg(short, long = "output", value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How to show progress, on the standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ProgressMode::Auto)]
    pub progress: ProgressMode,
}

/// `piecewise check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckOptions {
    /// Programs, or directories of programs; - is the standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Which instances.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// Check only the properties that match; * and ? are wildcards; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "What to check")]
    pub property: Vec<String>,
    /// What is to be reached.
    #[command(flatten)]
    pub goal: GoalOptions,
    /// What is asked of programs in Promela.
    #[command(flatten)]
    pub promela: PromelaOptions,
    /// How to check; several, separated by commas, are compared in one table; see `piecewise check --help`
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "auto",
        value_delimiter = ',',
        value_parser = values::MethodNames,
        hide_possible_values = true,
        long_help = method_help(),
        help_heading = "What to check"
    )]
    pub method: Vec<String>,
    /// Give a setting of the method another value; see `piecewise explain METHOD`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "What to check")]
    pub set: Vec<String>,
    /// Prove for every value of the size parameter at once, whatever `-N` is; sizes too small for the proof are checked one by one
    #[arg(long = "all-n", help_heading = "What to check")]
    pub all_n: bool,
    /// Count such results as not expected, separated by commas: vacuous, unused (an assumption that is not needed), unaudited
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum, help_heading = "What to check")]
    pub deny: Vec<Deny>,
    /// Stop everything at the first property without its expected verdict
    #[arg(long = "fail-fast", help_heading = "What to check")]
    pub fail_fast: bool,
    /// What the search may use.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Where it goes on when memory runs out.
    #[command(flatten)]
    pub disk: DiskOptions,
    /// Which hosts.
    #[command(flatten)]
    pub hosts: HostOptions,
    /// Where the results go.
    #[command(flatten)]
    pub output: CheckOutputOptions,
    /// Write a trace for each counterexample and witness: DIR/MODEL.PROPERTY.itf.json
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Show more about proofs: what processes guarantee to each other, and their local states; may be repeated
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Output")]
    pub show: Vec<ShowOption>,
    /// Write the proof of each property that is proved locally: DIR/MODEL.PROPERTY.proof.json
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub proof: Option<PathBuf>,
    /// Write everything as one page with pictures, which any browser opens: results, proofs, runs step by step
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  piecewise check lock.pw                         every property, least parameters
  piecewise check lock.pw -N 4 --property mutex   one property, four processes
  piecewise check examples -N 2..4                a table of programs and sizes
  piecewise check lock.pw -N 2..64:*2 --method mono,pairwise,auto   methods side by side
  piecewise check lock.pw --fail-fast --format jsonl   each verdict when it is known, for scripts
  piecewise check lock.pw --report lock.html      a page with pictures, for a browser
  piecewise check lock.pw --format json -o result.json
  piecewise check lock.pw --format human,sarif=out.sarif,junit=out.xml
  piecewise check lock.pw --timeout 60s --memory 4G
  piecewise check lock.pw --deny unaudited   count what nobody checked as not expected
  piecewise check locks -N 2..40 --hosts hosts.txt   each question on one of several hosts
  piecewise check lock.dve --goal 'P.crit && Q.crit'
  piecewise check lock.pml --ltl '[]<> (n > 0)' --fair weak";

/// `piecewise explore`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXPLORE_EXAMPLES)]
pub struct ExploreOptions {
    /// The program
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Which instances.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// Count as SPIN's pan -E -A -c0 does, for programs in Promela: deaths are steps, failed assertions are passed over
    #[arg(long, help_heading = "Promela")]
    pub like_spin: bool,
    /// Say how often each statement is taken, which are never reached, and which variables never change
    #[arg(long, help_heading = "What to show")]
    pub coverage: bool,
    /// Draw the graph of all states for Graphviz, where there are at most 500
    #[arg(long, value_name = "FILE", help_heading = "What to show")]
    pub dot: Option<PathBuf>,
    /// What the search may use.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Where it goes on when memory runs out.
    #[command(flatten)]
    pub disk: DiskOptions,
    /// Which hosts.
    #[command(flatten)]
    pub hosts: HostOptions,
    /// Where the results go.
    #[command(flatten)]
    pub output: OutputOptions,
}

const EXPLORE_EXAMPLES: &str = "\
Examples:
  piecewise explore lock.pw -N 5
  piecewise explore lock.pw -N 2..6 --format json
  piecewise explore lock.pw -N 8 --memory 4G --disk /var/tmp   go on with temporary files where memory ends
  piecewise explore lock.pw --coverage            statements that are never reached
  piecewise explore lock.pw --dot lock.dot && dot -Tsvg lock.dot > lock.svg
  piecewise explore lock.pw -N 9 --hosts hosts.txt --checkpoint levels   in the memories of several hosts

Deadlocks and errors are counted, not followed; they do not change the exit status.";

/// `piecewise graph`.
#[derive(Clone, Debug, Args)]
#[command(after_help = GRAPH_EXAMPLES)]
pub struct GraphOptions {
    /// The program
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Which instance.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// Only the graph of this process, as `P[0]`; may be repeated
    #[arg(long = "process", value_name = "PROCESS", help_heading = "What to show")]
    pub processes: Vec<String>,
    /// How much is known of the others: mono, ls3+, ls3 or tmmc, from the most exact to the fastest
    #[arg(long, value_name = "METHOD", default_value = "ls3", help_heading = "What to show")]
    pub method: String,
    /// What the search may use.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Text for people, JSON for scripts, or a drawing for Graphviz
    #[arg(long, value_name = "FORMAT", value_parser = formats::one_of::<GraphFormat>(), default_value = "human", help_heading = "Output")]
    pub format: GraphFormat,
    /// Write the results to a file instead of the standard output
    #[arg(short, long = "output", value_name = "OUT", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// How to show progress, on the standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ProgressMode::Auto, help_heading = "Output")]
    pub progress: ProgressMode,
}

/// `piecewise export`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportOptions {
    /// The program
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The language: promela for SPIN, smv for NuSMV, dve for DIVINE, dot for Graphviz
    #[arg(long, value_name = "LANGUAGE", value_enum, help_heading = "What to write")]
    pub to: ExportTarget,
    /// Which instance.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// Write the text to a file instead of the standard output
    #[arg(short, long = "output", value_name = "OUT", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// What may be used.
    #[command(flatten)]
    pub limits: CallLimitOptions,
}

/// The languages of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportTarget {
    /// SPIN's, with a claim for each property
    Promela,
    /// NuSMV's, with properties and fairness
    Smv,
    /// DIVINE's, which Piecewise also reads
    Dve,
    /// A drawing of each process's control for Graphviz
    Dot,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  piecewise export lock.pw -N 3 --to promela -o lock.pml     then SPIN, as the text says at its top
  piecewise export lock.pw -N 3 --to smv -o lock.smv         then NuSMV lock.smv
  piecewise export lock.pw --to dot | dot -Tsvg > lock.svg   the control of each process

What is written means exactly what the program means, step by step. What another language cannot
say is refused, with the lines that stand in the way.";

/// The shape of local state graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Text for people: how large they are
    Human,
    /// A JSON document for scripts
    Json,
    /// A drawing for Graphviz
    Dot,
}

const GRAPH_EXAMPLES: &str = "\
Examples:
  piecewise graph lock.pw -N 4                    how many local states each process has
  piecewise graph lock.pw -N 4 --method mono      those of the whole product, for comparison
  piecewise graph lock.pw --process 'P[0]' --format dot | dot -Tsvg > graph.svg

A local state is what one process sees: where it stands, its own variables, and the shared ones
that it mentions. Steps of others that may write what it sees are transitions, too.";

/// `piecewise replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayOptions {
    /// The trace, an ITF file as `check --trace` writes it; not with --trail
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub trace: PathBuf,
    /// The program
    #[arg(value_name = "MODEL", required_unless_present = "trail", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Follow what spin -t -p or pan -r printed of a run of a program in Promela, instead of a trace: replay MODEL --trail FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Promela")]
    pub trail: Option<PathBuf>,
    /// The property that the trace is about, for a trace that does not say it
    #[arg(long, value_name = "PROPERTY")]
    pub property: Option<String>,
    /// Which instance, for a trace that does not say it.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// What is to be reached.
    #[command(flatten)]
    pub goal: GoalOptions,
    /// What may be used.
    #[command(flatten)]
    pub limits: CallLimitOptions,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  piecewise check lock.pw --trace out
  piecewise replay out/lock.mutex.itf.json lock.pw
  spin -t -p m.pml > out.txt; piecewise replay m.pml --trail out.txt

The parameters come from the trace. Exit status: 0 the trace is a run of the program, 1 it is not.";

/// `piecewise sim`.
#[derive(Clone, Debug, Args)]
#[command(after_help = SIM_EXAMPLES)]
pub struct SimOptions {
    /// The program
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Which instance.
    #[command(flatten)]
    pub instance: InstanceOptions,
    /// What is to be reached.
    #[command(flatten)]
    pub goal: GoalOptions,
    /// Start the random choices here; the same seed gives the same run [default: from the clock]
    #[arg(long, value_name = "SEED", help_heading = "Run")]
    pub seed: Option<u64>,
    /// The most steps of a run
    #[arg(long, value_name = "STEPS", help_heading = "Run", default_value_t = 100)]
    pub steps: usize,
    /// Try one run after another until this property is decided by one of them
    #[arg(long, value_name = "PROPERTY", help_heading = "Run", conflicts_with = "interactive")]
    pub until: Option<String>,
    /// The most runs to try for --until
    #[arg(long, value_name = "RUNS", help_heading = "Run", default_value_t = 10_000, requires = "until")]
    pub runs: usize,
    /// Go on from the end of this run, an ITF file as `check --trace` and `sim --trace` write it
    #[arg(long, value_name = "TRACE", help_heading = "Run", conflicts_with = "until", value_hint = ValueHint::FilePath)]
    pub from: Option<PathBuf>,
    /// Write the run to this file, or into this directory, as ITF
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Choose each step: a number takes a step, u undoes one, r takes it again, ? shows what else there is
    #[arg(short, long, help_heading = "Run", conflicts_with_all = ["timeout", "memory"])]
    pub interactive: bool,
    /// What may be used.
    #[command(flatten)]
    pub limits: CallLimitOptions,
}

const SIM_EXAMPLES: &str = "\
Examples:
  piecewise sim lock.pw -N 3 --steps 20           a random run
  piecewise sim lock.pw --seed 7                  the same run each time
  piecewise sim lock.pw --until mutex             random runs until mutex is false
  piecewise sim lock.pw --interactive             you are the scheduler
  piecewise sim lock.pw --from out/lock.mutex.itf.json -i   step back and forth in a counterexample
  piecewise sim lock.pw --seed 7 --trace run.itf.json       keep the run

A run ends early where an invariant is false, a step is an error, or nobody can move.";

/// `piecewise ltl`.
#[derive(Clone, Debug, Args)]
#[command(after_help = LTL_EXAMPLES)]
pub struct LtlOptions {
    /// The formula, in the spelling of programs, SPIN, Spot or NuSMV; - reads it from the standard input
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: String,
    /// Make the automaton of its negation
    #[arg(long)]
    pub negate: bool,
    /// How runs are accepted
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Acceptance::Generalised)]
    pub acceptance: Acceptance,
    /// How the automaton is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = AutomatonFormat::Hoa, help_heading = "Output")]
    pub format: AutomatonFormat,
    /// Write the automaton to a file instead of the standard output
    #[arg(short, long = "output", value_name = "OUT", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Stop after this time: 500ms, 60s
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
}

/// How automata accept runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Acceptance {
    /// Several marks on edges, each met again and again: the smallest automata
    #[value(name = "generalized", alias = "generalised", alias = "tgba")]
    Generalised,
    /// One mark on edges
    #[value(name = "buchi", alias = "tba")]
    Buchi,
    /// One mark on states, as SPIN's never claims have it
    #[value(name = "state", alias = "ba")]
    State,
}

/// How automata are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AutomatonFormat {
    /// The Hanoi Omega-Automata format, which other tools read
    Hoa,
    /// A drawing for GraphViz
    Dot,
    /// Text for people, with the formula as it was read
    Human,
}

const LTL_EXAMPLES: &str = "\
Examples:
  piecewise ltl 'G(p -> F q)'
  piecewise ltl 'always (req => eventually ack)' --format human
  piecewise ltl '[](p -> <>q)' --negate --format dot | dot -Tsvg -o automaton.svg

Any name is an atom; what is more than a name stands in quotes. Spellings that tools read differently,
such as a U b U c, are refused with both readings.";

/// `piecewise fmt`.
#[derive(Clone, Debug, Args)]
#[command(after_help = FMT_EXAMPLES)]
pub struct FmtOptions {
    /// Programs, or directories of programs; - formats the standard input to the standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; list the files that are not formatted, with status 1
    #[arg(long)]
    pub check: bool,
}

const FMT_EXAMPLES: &str = "\
Examples:
  piecewise fmt lock.pw                           in place
  piecewise fmt --check examples                  for CI
  piecewise fmt - < lock.pw                       to the standard output

A file with errors is never written.";

/// `piecewise explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainOptions {
    /// The code, such as E0103, or the method, such as completion
    #[arg(value_name = "CODE|METHOD", value_parser = values::Explained, hide_possible_values = true)]
    pub what: String,
}

/// `piecewise completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  piecewise completions bash > ~/.local/share/bash-completion/completions/piecewise")]
pub struct CompletionsOptions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// `piecewise man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  piecewise man check > piecewise-check.1 && man ./piecewise-check.1")]
pub struct ManOptions {
    /// The command whose page to print; without it, the page of the tool
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// The table, for help, completions, man pages and the check of the documents.
pub fn command() -> clap::Command {
    Cli::command()
}

fn method_help() -> String {
    let mut text = String::from(
        "How to check; several, separated by commas, are compared in one table (`--method NAME --help` says more of one):\n",
    );
    let column = driver::methods::available().map(|method| method.name.len()).max().unwrap_or(0);
    for method in driver::methods::available() {
        text += &format!("  {:<column$}  {}\n", method.name, method.answers);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_option_says_what_it_does() {
        fn visit(command: &clap::Command) {
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(visit);
        }
        let mut table = command();
        table.build();
        visit(&table);
    }
}
