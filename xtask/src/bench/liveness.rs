//! `cargo xtask bench liveness`: temporal properties under fairness one process at a time: what has an aim, beside `global`, `mono` and SPIN, and the protocols
//! of the papers' tables at growing sizes.

use super::aims::{AimedGroup, AimedRow};
use super::question::{BenchDetail, BenchQuestion, Benchmark, PaperRows};

/// The benchmark.
pub const LIVENESS: Benchmark = Benchmark {
    name: "liveness",
    head: HEAD,
    notes: NOTES,
    aimed: &AIMED,
    questions: &QUESTIONS,
    detail: BenchDetail::Verdicts,
    patience_seconds: 5.0,
};

const METHODS: &[&str] = &["auto", "propagate", "fll-b", "fll-a", "global", "mono"];

/// Those that also have runs to show.
const COMPLETE: &[&str] = &["auto", "fll-b", "fll-a", "global", "mono"];

/// By what a size is proved, and in how many seconds.
const fn by(method: &'static str, instance: &'static str, aim: f64) -> AimedRow {
    AimedRow { instance, method, aim }
}

/// What `propagate` needs for every size.
const fn every_size(aim: f64) -> AimedRow {
    by("propagate", "--all-n", aim)
}

const AIMED: [AimedGroup; 23] = [
    AimedGroup {
        model: "philosophers",
        property: "live",
        rows: &[
            by("propagate", "-N=20", 0.05),
            by("propagate", "-N=100", 0.3),
            by("propagate", "-N=1000", 5.0),
            every_size(0.2),
        ],
        others: &["-N=2", "-N=4", "-N=6", "-N=8", "-N=10", "-N=12"],
    },
    AimedGroup {
        model: "mux_sem_first",
        property: "live",
        rows: &[by("propagate", "-N=500", 0.1), every_size(0.01)],
        others: &["-N=4", "-N=8", "-N=12", "-N=16", "-N=32", "-N=64", "-N=128"],
    },
    AimedGroup {
        model: "mux_sem",
        property: "live",
        rows: &[by("fll-b", "-N=50", 0.15), by("propagate", "-N=50", 0.15)],
        others: &["-N=2", "-N=4", "-N=8", "-N=12", "-N=16", "-N=32"],
    },
    AimedGroup { model: "owner_lock", property: "live", rows: &[every_size(0.05)], others: GROWING },
    AimedGroup { model: "handover", property: "live", rows: &[every_size(0.05)], others: GROWING },
    safe("simple", "no_errors"),
    safe("simple", "race_free x"),
    safe("simple", "restored"),
    safe("simple", "holder"),
    AimedGroup {
        model: "token_links",
        property: "served",
        rows: &[by("propagate", "-N=100", 0.5), every_size(0.3)],
        others: GROWING,
    },
    AimedGroup {
        model: "token_ring",
        property: "visits",
        rows: &[by("propagate", "-N=100", 0.5), every_size(0.3)],
        others: GROWING,
    },
    AimedGroup {
        model: "token_ring",
        property: "served",
        rows: &[by("propagate", "-N=100", 0.5), every_size(0.3)],
        others: GROWING,
    },
    AimedGroup { model: "milner", property: "again", rows: &[every_size(0.3)], others: GROWING },
    AimedGroup {
        model: "handshake",
        property: "flows",
        rows: &[every_size(0.3)],
        others: &["-N=3", "-N=4", "-N=6", "-N=8"],
    },
    AimedGroup { model: "request_chain", property: "granted", rows: &[every_size(0.3)], others: GROWING },
    AimedGroup { model: "traffic", property: "moves", rows: &[every_size(0.3)], others: GROWING },
    AimedGroup { model: "tree_arbiter", property: "live", rows: &[every_size(1.0)], others: GROWING },
    AimedGroup { model: "philosophers_odd", property: "live", rows: &[every_size(0.3)], others: GROWING },
    AimedGroup { model: "philosophers_line", property: "live", rows: &[every_size(0.3)], others: GROWING },
    AimedGroup {
        model: "turnstile",
        property: "reads",
        rows: &[by("propagate", "-DR=10 -DW=10", 0.2)],
        others: &["-DR=2 -DW=2", "-DR=4 -DW=4", "-DR=6 -DW=6"],
    },
    AimedGroup {
        model: "turnstile",
        property: "writes",
        rows: &[by("propagate", "-DR=10 -DW=10", 0.2)],
        others: &["-DR=2 -DW=2", "-DR=4 -DW=4", "-DR=6 -DW=6"],
    },
    AimedGroup { model: "ticket", property: "live", rows: &[by("propagate", "-N=8", 1.0)], others: GROWING },
    AimedGroup {
        model: "bakery_atomic",
        property: "live",
        rows: &[by("fll-b", "-N=4 -DM=6", 0.1), by("fll-b", "-N=6 -DM=6", 1.0)],
        others: &["-N=2 -DM=6", "-N=4 -DM=6", "-N=6 -DM=6"],
    },
];

/// Sizes for the methods that stand beside.
const GROWING: &[&str] = &["-N=2", "-N=4", "-N=6", "-N=8", "-N=12", "-N=16"];

/// Every state, every size.
const EVERY_STATE: &[AimedRow] = &[by("auto", "--all-n", 0.05)];

/// What is asked of states only, of every size.
const fn safe(model: &'static str, property: &'static str) -> AimedGroup {
    AimedGroup { model, property, rows: EVERY_STATE, others: &[] }
}

const QUESTIONS: [BenchQuestion; 7] = [
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

/// The rows of the paper on fairness for a protocol.
const fn cav10(protocol: &'static str, fairness: &'static str) -> PaperRows {
    PaperRows { paper: "cav10", cited: "CAV'10", protocol, fairness, methods: &["FLL-A", "FLL-B", "JTLV global"] }
}

const HEAD: &str = "## Temporal properties under fairness, one process at a time

Made by `cargo xtask bench liveness --write`. Seconds are on the clock, of the whole command `piecewise check … --method M -q` from its start to
its end (the fastest of five where it takes less than half a second): reading, checking, the independent check of the proof or the replay of the loop, printing. Memory is the most that the process had.
`forall` in a property means that every instance is proved.

First what has an aim. `global`, `mono` and SPIN stand beside it with the largest of a few sizes that they answer within 5 s. SPIN's time is that of `pan -a -f` on what `piecewise export --to promela` writes, with the
options that stand there, for the first process only where the property is about all; `–` where even the smallest size is refused (more than four strong assumptions) or takes longer.
";

const NOTES: &str = "
- What an answer teaches is left out: which assumptions are needed, or which would exclude the loop, is tried by asking again, and a large proof is put into words, which takes up to a second and more.
- A method that answered `unknown` is not asked at larger sizes (empty cells).
- `*`: the evidence was not looked at again in the time given: the whole product has too many states for the reference semantics, or
  the ranks too many nodes.
- The papers' seconds are those printed in 2008 and 2010, on the machines of their time. `cond_term` is a reconstruction: the figure that
  defines it is missing from the paper. `mux_sem_nondet` adds the fairness of requests that the printed assumption lacks.
";
