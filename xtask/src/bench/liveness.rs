//! `cargo xtask bench liveness`: temporal properties under fairness one process at a time, beside our own whole-product methods and
//! the tables of the papers.

use super::question::{BenchQuestion, Benchmark, PaperRows};

/// The benchmark.
pub const LIVENESS: Benchmark = Benchmark { name: "liveness", head: HEAD, notes: NOTES, questions: &QUESTIONS };

const METHODS: &[&str] = &["auto", "propagate", "fll-b", "fll-a", "global", "mono"];

/// Those that also have runs to show.
const COMPLETE: &[&str] = &["auto", "fll-b", "fll-a", "global", "mono"];

/// Those that treat one process after the other only, for sizes at which the product is out of reach.
const LOCAL: &[&str] = &["propagate"];

const QUESTIONS: [BenchQuestion; 24] = [
    BenchQuestion {
        model: "mux_sem_first",
        property: "live",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100],
        methods: METHODS,
        paper: Some(cav10("mux-sem", "strong for one process")),
        spin: &[],
    },
    BenchQuestion {
        model: "mux_sem_first",
        property: "unfair",
        verdict: "violated",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100],
        methods: COMPLETE,
        paper: Some(cav10("mux-sem", "unconditional")),
        spin: &[],
    },
    BenchQuestion {
        model: "mux_sem_counter",
        property: "busy",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100],
        methods: &["auto", "ll", "global", "mono"],
        paper: Some(PaperRows {
            paper: "cav08",
            cited: "CAV'08",
            protocol: "mux-sem-counter",
            fairness: "",
            methods: &["local", "global"],
        }),
        spin: &[],
    },
    BenchQuestion {
        model: "mux_sem_nondet",
        property: "live",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 4, 8, 12, 16, 32],
        methods: METHODS,
        paper: Some(cav10("mux-sem-nondet", "")),
        spin: &[],
    },
    BenchQuestion {
        model: "philosophers",
        property: "live",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 3, 4, 5, 6, 8, 10, 20],
        methods: METHODS,
        paper: Some(cav10("dining-phil", "")),
        spin: &[],
    },
    question("philosophers", "live", &[50, 100, 200, 500, 1000]),
    question("mux_sem_first", "live", &[200, 500]),
    question("owner_lock", "live", &[3, 20]),
    question("handover", "live", &[3, 20]),
    question("token_ring", "served", &[5, 10, 20, 30]),
    question("token_links", "served", &[10, 30, 100]),
    question("ticket", "live", &[2, 3, 4, 5, 6]),
    every_size("mux_sem_first", "live", &[2]),
    every_size("owner_lock", "live", &[2]),
    every_size("handover", "live", &[2]),
    every_size("philosophers", "live", &[2]),
    every_size("milner", "again", &[2]),
    every_size("handshake", "flows", &[3]),
    every_size("request_chain", "granted", &[2]),
    every_size("traffic", "moves", &[2]),
    every_size("token_links", "served", &[2]),
    every_size("tree_arbiter", "live", &[2]),
    BenchQuestion {
        model: "bakery_atomic",
        property: "live",
        verdict: "holds",
        parameters: &["-DM=6"],
        sizes: &[2, 3, 4, 5, 6],
        methods: METHODS,
        paper: Some(cav10("bakery", "")),
        spin: &[],
    },
    BenchQuestion {
        model: "cond_term",
        property: "ends",
        verdict: "holds",
        parameters: &["-DM=15"],
        sizes: &[2, 4, 6, 8],
        methods: METHODS,
        paper: Some(cav10("cond-term", "")),
        spin: &[],
    },
];

/// A question at sizes for methods only that treat one process after the other.
const fn question(model: &'static str, property: &'static str, sizes: &'static [u32]) -> BenchQuestion {
    BenchQuestion { model, property, verdict: "holds", parameters: &[], sizes, methods: LOCAL, paper: None, spin: &[] }
}

/// A question about every size, from the least one on.
const fn every_size(model: &'static str, property: &'static str, least: &'static [u32]) -> BenchQuestion {
    BenchQuestion { parameters: &["--all-n"], ..question(model, property, least) }
}

/// The rows of the paper on fairness for a protocol.
const fn cav10(protocol: &'static str, fairness: &'static str) -> PaperRows {
    PaperRows { paper: "cav10", cited: "CAV'10", protocol, fairness, methods: &["FLL-A", "FLL-B", "JTLV global"] }
}

const HEAD: &str = "## Temporal properties under fairness, one process at a time

Made by `cargo xtask bench liveness --write`. Seconds are on the clock, of the whole command `piecewise check … --method M -N n` from its start to
its end: reading, checking, the independent check of the ranks or the replay of the loop, printing. Memory is the most that the process had.
`forall` in a property means that every instance is proved.
";

const NOTES: &str = "
- The time includes what an answer teaches: which assumptions are needed, or which would exclude the loop, is tried by asking again (up to about
  half a second for questions that take milliseconds); `-q` leaves that out. `mux_sem_first`, N = 50, `live` then takes 0.4 s, `unfair` 0.09 s.
- Local beats global in N where little has to be exposed (the semaphores); for philosophers, bakery and conditional termination nearly everything is, the
  abstract process is as large as the product, and `global` is faster.
- A method that answered `unknown` is not asked at larger sizes (empty cells).
- `*`: the evidence was not looked at again in the time given: the whole product has too many states for the reference semantics, or
  the ranks too many nodes.
- The papers' seconds are those printed in 2008 and 2010, on the machines of their time. `cond_term` is a reconstruction: the figure that
  defines it is missing from the paper. `mux_sem_nondet` adds the fairness of requests that the printed assumption lacks.
";
