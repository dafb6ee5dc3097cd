//! `cargo xtask bench safety`: proofs and refutations one process at a time, beside our own whole-product methods, SPIN, and
//! the tables of the papers.

use super::BenchCase;
use super::question::{BenchDetail, BenchQuestion, Benchmark, PaperRows};

/// The benchmark.
pub const SAFETY: Benchmark = Benchmark {
    name: "safety",
    head: HEAD,
    notes: NOTES,
    aimed: &[],
    questions: &QUESTIONS,
    detail: BenchDetail::Everything,
    patience_seconds: 10.0,
};

const QUESTIONS: [BenchQuestion; 6] = [
    BenchQuestion {
        model: "mux_sem",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100, 200, 500],
        methods: &["auto", "pairwise", "completion", "forward", "backward", "mono"],
        paper: None,
        spin: &[BenchCase { model: "mux_sem", size: 10, depth: 100_000, table_bits: 16 }],
    },
    BenchQuestion {
        model: "mux_sem_try",
        property: "mutex",
        verdict: "violated",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100],
        methods: &["auto", "pairwise", "completion", "forward", "backward", "mono"],
        paper: Some(cav07("mux-sem-try")),
        spin: &[],
    },
    BenchQuestion {
        model: "szymanski",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 4, 6, 8, 12, 16, 20],
        methods: &["auto", "pairwise", "forward", "mono"],
        paper: None,
        spin: &[BenchCase { model: "szymanski", size: 6, depth: 10_000, table_bits: 20 }],
    },
    BenchQuestion {
        model: "bakery_atomic",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 3, 4, 5, 6, 7, 8],
        methods: &["auto", "tmmc", "split", "forward", "mono"],
        paper: None,
        spin: &[],
    },
    BenchQuestion {
        model: "philosophers",
        property: "neighbours",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100, 200],
        methods: &["auto", "tmmc", "split", "completion", "forward", "mono"],
        paper: None,
        spin: &[BenchCase { model: "philosophers", size: 5, depth: 300_000, table_bits: 19 }],
    },
    BenchQuestion {
        model: "filter",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 3, 4, 5, 6, 7],
        methods: &["auto", "completion", "forward", "mono"],
        paper: Some(cav07("peterson")),
        spin: &[BenchCase { model: "filter", size: 5, depth: 100_000, table_bits: 20 }],
    },
];

/// The rows of the paper on safety for a protocol.
const fn cav07(protocol: &'static str) -> PaperRows {
    PaperRows { paper: "cav07", cited: "CAV'07", protocol, fairness: "", methods: &["completion", "forward"] }
}

const HEAD: &str = "## Safety, one process at a time

Made by `cargo xtask bench safety --write`. Seconds are on the clock, of the whole command `piecewise check … --method M -N n` from its start to
its end: reading, checking, the independent check of the proof or the replay of the run, printing. Memory is the most that the process had.
";

const NOTES: &str = "
- `auto` stands first: what a user gets who names no method. A method that answered `unknown` is not asked at larger sizes (empty cells).
  *too coarse* means that the method's invariants, which are the strongest of their kind, do not prove the property.
- `*`: the whole product has too many states to be searched again by the reference semantics; all proofs by local methods are checked.
- SPIN searches twins of the programs (`benches/spin/`) without any property, compiled with `-O2`: with its partial-order reduction, which a
  property would weaken, and without. Its time is that of the search, without generating and compiling it.
- The papers' seconds are those printed in 2007, on the machines of their time; their Peterson is our filter lock, though the figures for
  10 and 20 processes must be of another model (the split invariant of this one grows five- to sixfold with each process).
";
