//! `cargo xtask bench beem`: the BEEM models, on the whole product, and by local state graphs.
//!
//! In: `../shared/beem/models`. Out: two tables, on the terminal, and with `--write` in `docs/benchmarks.md`. States are those of the
//! reference, or the benchmark fails. Rates are for processor time, so that they depend little on what else the machine does.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::Silent;
use local::graphs::{GraphMethod, GraphTask, local_graphs};
use model::Model;

use super::clock::{ClockOwner, Stopwatch};
use super::mono_table::grouped;
use super::{document, machine};

/// Instances of increasing size, with the states of the reference.
const INSTANCES: [(&str, u64); 20] = [
    ("leader_filters.4", 50_025),
    ("synapse.2", 61_048),
    ("lamport.2", 110_920),
    ("msmie.3", 134_844),
    ("peterson.3", 170_156),
    ("cyclic_scheduler.3", 229_374),
    ("phils.4", 340_789),
    ("collision.3", 434_530),
    ("mcs.3", 571_459),
    ("train-gate.4", 789_808),
    ("production_cell.3", 822_612),
    ("brp.3", 996_627),
    ("iprotocol.3", 1_013_456),
    ("peterson.4", 1_119_560),
    ("szymanski.3", 1_128_424),
    ("at.3", 1_711_620),
    ("lann.3", 1_832_139),
    ("adding.4", 3_370_680),
    ("needham.4", 6_525_019),
    ("lamport.6", 8_717_688),
];

/// Seconds that LTSmin's explicit search takes on one core of a machine like ours.
const LTSMIN: [(&str, f64); 2] = [("peterson.3", 0.71), ("peterson.4", 5.0)];

/// Models for local state graphs, with the paper's seconds for LS3, where it has some. Its names count processes: its
/// `szymanski.4` is BEEM's `szymanski.3`.
const LOCAL: [(&str, Option<f64>); 8] = [
    ("phils.1", None),
    ("peterson.3", None),
    ("szymanski.3", None),
    ("peterson.4", Some(10.9)),
    ("szymanski.5", Some(59.1)),
    ("lamport.5", None),
    ("phils.6", None),
    ("fischer.4", None),
];

/// No single measurement takes longer.
const MOST_SECONDS: u64 = 300;

/// Runs the benchmark, prints its tables, and writes them down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "beem", section(root), writes)
}

fn section(root: &Path) -> Result<String, String> {
    let mut text = format!(
        "## BEEM\n\n`cargo xtask bench beem`, on {}. Rates are states per second of processor time, one thread; the gain of two threads is \
         on the clock, and depends on what else the machine does.\n\n### The whole product\n\n\
         | instance | states | M states/s | bytes/state | gain of `-j 2` | LTSmin, M states/s |\n|---|---|---|---|---|---|\n",
        machine::describe()
    );
    for (name, states) in INSTANCES {
        line(&mut text, &product(root, name, states)?);
    }
    text += "\n### Local state graphs\n\nLocal states of all processes together, and seconds on the clock with two threads.\n\n\
        | instance | `mono` | `ls3+` | `ls3` | `tmmc` | joint states | `ls3` s | `ls3` MB | the paper, s |\n\
        |---|---|---|---|---|---|---|---|---|\n";
    for (name, paper) in LOCAL {
        line(&mut text, &local(root, name, paper)?);
    }
    Ok(text)
}

fn line(text: &mut String, row: &str) {
    eprintln!("{row}");
    writeln!(text, "{row}").expect("texts can be written");
}

/// Loads a model.
pub(super) fn load(root: &Path, name: &str) -> Result<Model, String> {
    let path = root.join("../shared/beem/models").join(format!("{name}.dve"));
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let loaded = lang::load(&SourceFile::new(format!("{name}.dve"), text), &[]);
    Ok(loaded.map_err(|errors| format!("{name}: {} errors", errors.len()))?.model)
}

/// What a measurement may take.
pub(super) fn budget() -> Budget {
    Budget::new(Some(Duration::from_secs(MOST_SECONDS)), None, CancelToken::default())
}

fn product(root: &Path, name: &str, expected: u64) -> Result<String, String> {
    let model = load(root, name)?;
    let explore = |n_threads| {
        let stopwatch = Stopwatch::start(ClockOwner::Ours);
        let (seen, statistics, stopped) = product::explore(&model, &budget(), n_threads, &Silent);
        let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Ours);
        match stopped {
            Some(reason) => Err(format!("{name}: {reason}")),
            None if seen.states != expected => Err(format!("{name}: {} states, not {expected}", seen.states)),
            None => Ok((cpu_seconds, seconds, statistics.peak_memory_bytes.unwrap_or(0))),
        }
    };
    let (cpu_seconds, seconds, bytes) = explore(1)?;
    let (_, two_seconds, _) = explore(2)?;
    let other = LTSMIN.iter().find(|(known, _)| *known == name);
    let other = other.map_or("–".to_owned(), |(_, seconds)| format!("{:.2}", expected as f64 / seconds / 1e6));
    Ok(format!(
        "| {name} | {} | {:.2} | {:.1} | {:.2}× | {other} |",
        grouped(expected),
        expected as f64 / cpu_seconds / 1e6,
        bytes as f64 / expected as f64,
        seconds / two_seconds,
    ))
}

fn local(root: &Path, name: &str, paper: Option<f64>) -> Result<String, String> {
    let model = load(root, name)?;
    let mut cells = Vec::new();
    let mut joint = String::new();
    let mut cost = String::new();
    for way in GraphMethod::ALL {
        let limit = Budget::new(Some(Duration::from_secs(60)), None, CancelToken::default());
        let task = GraphTask { model: &model, way, drawn: &[], budget: &limit, n_threads: 2 };
        let found = local_graphs(&task, &Silent).map_err(|reason| format!("{name}: {reason}"))?;
        let states: u64 = found.graphs.iter().map(|graph| graph.n_states).sum();
        cells.push(if found.stopped.is_none() { grouped(states) } else { "–".to_owned() });
        if way == GraphMethod::Ls3 {
            joint = grouped(found.joint_states.unwrap_or(0));
            let megabytes = found.peak_memory_bytes as f64 / 1e6;
            cost = format!("{:.2} | {megabytes:.1}", found.time.as_secs_f64());
        }
    }
    let paper = paper.map_or("–".to_owned(), |seconds| format!("{seconds:.1}"));
    Ok(format!("| {name} | {} | {joint} | {cost} | {paper} |", cells.join(" | ")))
}
