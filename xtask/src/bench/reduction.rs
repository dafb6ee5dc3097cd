//! `cargo xtask bench reduction`: the search for deadlocks by stubborn sets beside that of the whole product.
//!
//! In: BEEM models, and the largest collected Promela models, whose files have to be in `../shared`. Out: a table of states and processor seconds of both searches, on the terminal, and
//! with `--write` in `docs/benchmarks.md`. Both have to see the same number of deadlocks, or the benchmark fails.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use base::StopReason;
use engine::Silent;
use evidence::Exploration;
use model::Model;

use super::clock::{ClockOwner, Stopwatch};
use super::mono_table::grouped;
use super::{beem, document, machine, promela};

/// The BEEM models.
const MODELS: [&str; 22] = [
    "phils.4",
    "phils.6",
    "peterson.3",
    "szymanski.3",
    "mcs.3",
    "lamport.2",
    "leader_filters.4",
    "cyclic_scheduler.3",
    "production_cell.3",
    "iprotocol.3",
    "brp.3",
    "at.3",
    "lann.3",
    "collision.3",
    "train-gate.4",
    "needham.4",
    "synapse.2",
    "msmie.3",
    "anderson.3",
    "bakery.4",
    "fischer.3",
    "adding.4",
];

/// A search is repeated until so many seconds have passed, or so often: the system counts hundredths of a second.
const ENOUGH_SECONDS: f64 = 0.5;
const MOST_RUNS: u32 = 100;

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "reduction", section(root), writes)
}

fn section(root: &Path) -> Result<String, String> {
    let mut rows = String::new();
    let mut add = |row: String| {
        eprintln!("{row}");
        writeln!(rows, "{row}").expect("texts can be written");
    };
    for name in MODELS {
        add(row(name, &beem::load(root, name)?)?);
    }
    for promela::ReadModel { name, model } in promela::models(root)? {
        match model {
            Some(model) => add(row(&name, &model)?),
            None => add(format!("| {name} | not read | | | | | |")),
        }
    }
    Ok(format!(
        "## Reduction, for deadlocks\n\n`cargo xtask bench reduction`, on {}. The search of the whole product, and that by stubborn sets ([reduction.md](reduction.md)), to their ends: \
         processor seconds on one core, the mean of as many runs as take half a second, with all that is made before. Both see the same deadlocks, or the benchmark fails.\n\n\
         | model | all states | reduced | part | s for all | s reduced | times |\n|---|--:|--:|--:|--:|--:|--:|\n{rows}",
        machine::describe()
    ))
}

fn row(name: &str, model: &Model) -> Result<String, String> {
    let timed = |search: &dyn Fn() -> Result<Exploration, StopReason>| {
        let stopwatch = Stopwatch::start(ClockOwner::Ours);
        let (since, mut n_runs) = (Instant::now(), 0);
        loop {
            let found = search().map_err(|reason| format!("{name}: {reason}"))?;
            n_runs += 1;
            if since.elapsed().as_secs_f64() > ENOUGH_SECONDS || n_runs == MOST_RUNS {
                let (seconds, _) = stopwatch.stop(ClockOwner::Ours);
                return Ok::<_, String>((found, seconds / f64::from(n_runs)));
            }
        }
    };
    let budget = beem::budget();
    let (seen, full) = timed(&|| match product::explore(model, &budget, 1, &Silent) {
        (seen, _, None) => Ok(seen),
        (.., Some(reason)) => Err(reason),
    })?;
    let (found, reduced) = timed(&|| product::reduced_size(model, &budget, &Silent))?;
    if found.deadlocks != seen.deadlocks {
        return Err(format!("{name}: {} deadlocks, not {}", found.deadlocks, seen.deadlocks));
    }
    Ok(format!(
        "| {name} | {} | {} | {:.1} % | {full:.3} | {reduced:.3} | {:.2} |",
        grouped(seen.states),
        grouped(found.states),
        100.0 * found.states as f64 / seen.states as f64,
        reduced / full.max(0.0001),
    ))
}
