//! `cargo xtask bench promela`: the largest collected Promela models, searched by Piecewise and by SPIN's `pan`.
//!
//! In: `../shared/promela`, with the states that SPIN counts. Out: for the twenty models with the most states: states per second and bytes per state
//! of both, on the same graph (`pan -DNOREDUCE`, and the counts must be equal), and the sizes of the reduced searches (for deadlocks here,
//! for all safety properties there), which are no graphs of each other. A model that one of them does not finish is named.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::Silent;
use lang::promela::{Decide, Reading};
use model::Model;

use super::clock::{ClockOwner, Stopwatch};
use super::mono_table::grouped;
use super::spin::{Reduction, Spin};
use super::{Measured, document, machine, repeatedly};
use crate::beem::{NamedTable, field};

/// So many models are measured.
const N_MODELS: usize = 20;
/// The longest time for one search, on the clock: a whole product, and a reduced one, which takes longer for each state.
const MOST_SECONDS: u64 = 60;
const MOST_SECONDS_REDUCED: u64 = 10;

/// Measures, prints the tables, and writes them down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "promela", section(root), writes)
}

/// A collected model.
struct Collected {
    name: String,
    text: String,
    flags: Vec<String>,
    states: u64,
}

/// A collected model that was read, if it is not refused.
pub(super) struct ReadModel {
    pub(super) name: String,
    pub(super) model: Option<Model>,
}

/// The largest collected models.
pub(super) fn models(root: &Path) -> Result<Vec<ReadModel>, String> {
    let read = |one: &Collected| load(&folder(root).join(&one.name), one, false).map(|(model, _)| model);
    Ok(collected(root)?.iter().map(|one| ReadModel { name: one.name.clone(), model: read(one).ok() }).collect())
}

fn folder(root: &Path) -> PathBuf {
    root.join("../shared/promela")
}

fn collected(root: &Path) -> Result<Vec<Collected>, String> {
    let folder = folder(root);
    let table =
        NamedTable::read(&folder.join("index.csv")).map_err(|error| format!("the models are not there: {error}"))?;
    let mut models: Vec<Collected> = Vec::new();
    for row in &table.rows {
        let Ok(states) = field(row, "states").parse() else { continue };
        let name = field(row, "file").to_owned();
        let bytes = std::fs::read(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let flags = field(row, "flags").split_whitespace().map(str::to_owned).collect();
        models.push(Collected { name, text, flags, states });
    }
    models.sort_by(|one, other| other.states.cmp(&one.states).then_with(|| one.name.cmp(&other.name)));
    models.truncate(N_MODELS);
    Ok(models)
}

fn section(root: &Path) -> Result<String, String> {
    let (folder, models) = (folder(root), collected(root)?);
    let spin = Spin::find(root)?;
    let (mut whole, mut reduced) = (Vec::new(), Vec::new());
    for collected in &models {
        eprintln!("bench: {}", collected.name);
        let path = folder.join(&collected.name);
        whole.push(whole_row(&spin, &path, collected)?);
        reduced.push(reduced_row(&spin, &path, collected)?);
    }
    Ok(text(&whole, &reduced))
}

fn budget(most_seconds: u64) -> Budget {
    Budget::new(Some(Duration::from_secs(most_seconds)), None, CancelToken::default())
}

fn load(path: &Path, collected: &Collected, like_spin: bool) -> Result<(Model, u64), String> {
    let includes = driver::files::included(path, &collected.text);
    let decide = Some(Decide(driver::load::decide));
    let reading = Reading { includes, like_spin, decide, ..Reading::default() };
    let given = crate::promela::given(&collected.flags.join(" "));
    let source = SourceFile::new(&*collected.name, &*collected.text);
    let loaded = lang::promela::load(&source, &given, &reading).map_err(|_| format!("{}: not read", collected.name))?;
    Ok((loaded.model, loaded.n_before))
}

/// One line of the first table.
fn whole_row(spin: &Spin, path: &Path, collected: &Collected) -> Result<String, String> {
    let name = &collected.name;
    let theirs = spin.measure_model(path, &collected.flags, Reduction::None)?;
    let Ok((model, n_before)) = load(path, collected, true) else {
        return Ok(format!(
            "| {name} | {} | {} | not read | | {} | | |",
            grouped(theirs.states),
            rate(&theirs),
            per_state(&theirs)
        ));
    };
    let ours = repeatedly(|| {
        let stopwatch = Stopwatch::start(ClockOwner::Ours);
        let (seen, statistics, stopped) = product::explore(&model, &budget(MOST_SECONDS), 1, &Silent);
        let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Ours);
        match stopped {
            Some(reason) => Err(reason.to_string()),
            None => Ok(Measured {
                states: seen.states,
                transitions: seen.transitions,
                cpu_seconds,
                seconds,
                bytes: statistics.peak_memory_bytes.unwrap_or(0),
            }),
        }
    });
    let ours = match ours {
        Ok(ours) => ours,
        Err(why) => {
            return Ok(format!(
                "| {name} | {} | {} | {why} | | {} | | |",
                grouped(theirs.states),
                rate(&theirs),
                per_state(&theirs)
            ));
        }
    };
    // SPIN counts the arrival in the initial state.
    let counts = (ours.states + n_before, ours.transitions + n_before + 1);
    if counts != (theirs.states, theirs.transitions) {
        let (states, transitions) = counts;
        let (their_states, their_transitions) = (theirs.states, theirs.transitions);
        return Err(format!(
            "{name}: {states} states and {transitions} transitions, SPIN {their_states} and {their_transitions}"
        ));
    }
    let faster = (ours.states as f64 / ours.cpu_seconds) / (theirs.states as f64 / theirs.cpu_seconds);
    let bytes = |one: &Measured| one.bytes as f64 / one.states as f64;
    Ok(format!(
        "| {name} | {} | {} | {} | {faster:.1}× | {} | {} | {:.1}× |",
        grouped(theirs.states),
        rate(&theirs),
        rate(&ours),
        per_state(&theirs),
        per_state(&ours),
        bytes(&theirs) / bytes(&ours),
    ))
}

/// One line of the second table.
fn reduced_row(spin: &Spin, path: &Path, collected: &Collected) -> Result<String, String> {
    let name = &collected.name;
    let theirs = spin.measure_model(path, &collected.flags, Reduction::PartialOrder)?;
    let Ok((model, _)) = load(path, collected, false) else {
        return Ok(format!("| {name} | {} | {:.2} | not read | |", grouped(theirs.states), theirs.cpu_seconds));
    };
    let stopwatch = Stopwatch::start(ClockOwner::Ours);
    let found = product::reduced_size(&model, &budget(MOST_SECONDS_REDUCED), &Silent);
    let (seconds, _) = stopwatch.stop(ClockOwner::Ours);
    let ours = match found {
        Ok(found) => format!("{} | {seconds:.2}", grouped(found.states)),
        Err(reason) => format!("{reason} | "),
    };
    Ok(format!("| {name} | {} | {:.2} | {ours} |", grouped(theirs.states), theirs.cpu_seconds))
}

fn rate(one: &Measured) -> String {
    format!("{:.2}", one.states as f64 / one.cpu_seconds / 1e6)
}

fn per_state(one: &Measured) -> String {
    format!("{:.0}", one.bytes as f64 / one.states as f64)
}

fn text(whole: &[String], reduced: &[String]) -> String {
    format!(
        "## Promela models, beside SPIN

Made by `cargo xtask bench promela --write`, on the {N_MODELS} collected models (`../shared/promela`) with the most states. Piecewise counts as SPIN does (`explore --like-spin`), and the benchmark fails if a count of states or transitions differs.

| model | states | SPIN, M states/s | Piecewise, M states/s | faster | SPIN, bytes/state | Piecewise, bytes/state | smaller |
|---|--:|--:|--:|--:|--:|--:|--:|
{}

Reduced: `pan` with its partial-order reduction and the smaller programs that SPIN makes by itself, and the search for deadlocks by stubborn sets here, which is given up after {MOST_SECONDS_REDUCED} s.

| model | `pan`, states | s | Piecewise, states | s |
|---|--:|--:|--:|--:|
{}

Measured on a machine with {}.

- Processor time on one core. `pan` is compiled with `-O2 -DSAFETY -DNOFAIR -DNOCLAIM`, and without reduction with `-DNOREDUCE` from `spin -a -o1 -o2 -o3`; it passes over errors (`pan -E -A -c0`). Its time has 10 ms of making its table in it, which is most of the time of the smallest models.
- Bytes per state are those of the states and of the hash table.
",
        whole.join("\n"),
        reduced.join("\n"),
        machine::describe(),
    )
}
