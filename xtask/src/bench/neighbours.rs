//! Rings, chains and trees: proofs for every size.
//!
//! In: programs of `examples/` whose processes touch only their neighbours, some of them wrong. Out: a table of what is proved for every size, and the processor
//! time of the proof, its check and the search of smaller sizes together, as `--all-n` does it. A program that is wrong must not be proved.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use base::{CancelToken, SourceFile};
use driver::check::CheckLimits;
use driver::every_n;
use driver::load::{Loaded, instance};
use engine::{Silent, Verdict};
use evidence::Evidence;

use super::clock::{ClockOwner, Stopwatch};

/// Examples with the properties that are asked about; `false` where the property is false.
const CASES: &[(&str, &[(&str, bool)])] = &[
    ("philosophers", &[("neighbours", true), ("deadlock_free", true), ("live", true)]),
    ("philosophers_odd", &[("neighbours", true), ("deadlock_free", true), ("live", true)]),
    ("philosophers_line", &[("neighbours", true), ("deadlock_free", true), ("live", true)]),
    ("philosophers_bits", &[("neighbours", true), ("deadlock_free", true), ("live", true)]),
    ("philosophers_broken", &[("deadlock_free", false)]),
    ("token_links", &[("mutex", true), ("deadlock_free", true), ("served", true)]),
    ("token_links_broken", &[("mutex", false)]),
    ("milner", &[("one_token", true), ("deadlock_free", true), ("again", true), ("asleep", false)]),
    ("milner_broken", &[("deadlock_free", false), ("again", false)]),
    ("handshake", &[("deadlock_free", true), ("flows", true)]),
    ("handshake_broken", &[("deadlock_free", false), ("flows", false)]),
    ("request_chain", &[("allowed", true), ("deadlock_free", true), ("granted", true)]),
    ("request_chain_broken", &[("allowed", false)]),
    ("traffic", &[("deadlock_free", true), ("moves", true)]),
    ("traffic_broken", &[("deadlock_free", false)]),
    ("dijkstra_ring", &[("deadlock_free", true)]),
    ("tree_arbiter", &[("mutex", true), ("deadlock_free", true), ("live", true)]),
    ("tree_arbiter_broken", &[("mutex", false), ("live", false)]),
    ("philosophers_tree", &[("own_forks", true), ("deadlock_free", true), ("live", true)]),
];

/// A question has so much time.
const LIMIT: Duration = Duration::from_secs(30);

/// The table.
pub fn table(root: &Path) -> Result<String, String> {
    let mut out = String::from(
        "\n### Rings, chains and trees, every N\n\nBy `--all-n`: proof, check, and the search of smaller sizes together; processor time of one thread. The twins that are wrong are not proved, and the run is found.\n\n\
         | | answer | seconds |\n|---|---|--:|\n",
    );
    for (name, properties) in CASES {
        for &(property, is_true) in *properties {
            eprintln!("bench: {name}.{property}");
            let _ = writeln!(out, "{}", measure(root, name, (property, is_true))?);
        }
    }
    Ok(out)
}

fn measure(root: &Path, name: &str, (property, is_true): (&str, bool)) -> Result<String, String> {
    let path = format!("examples/{name}.pw");
    let text = std::fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let Loaded::Program(program) = instance(&SourceFile::new(&path, &text), &[]) else {
        return Err(format!("{path} is no program"));
    };
    let asked = program.model.properties.entries().find(|(_, one)| one.name == property).map(|(id, _)| id);
    let asked = asked.ok_or_else(|| format!("{path} has no `{property}`"))?;
    let limits =
        CheckLimits { time: Some(LIMIT), memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
    let watch = Stopwatch::start(ClockOwner::Ours);
    let answered = every_n::check(&program, &[asked], &limits, &Silent).map_err(|mistake| mistake.to_string())?;
    let seconds = watch.stop(ClockOwner::Ours).0;
    let result = answered.checked.results.first().ok_or("there is no answer")?;
    let answer = match &result.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => proof.scope.to_string(),
        Verdict::Violated(_) => "false".to_owned(),
        Verdict::Unknown(_) | Verdict::Holds(_) => "no".to_owned(),
    };
    match (is_true, &result.verdict) {
        (true, Verdict::Violated(_)) => Err(format!("{path}: `{property}` is true, and was refuted")),
        (false, Verdict::Holds(_)) => Err(format!("{path}: `{property}` is false, and was proved")),
        _ => Ok(format!("| {name}.{property} | {answer} | {seconds:.2} |")),
    }
}
