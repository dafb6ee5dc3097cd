//! `cargo xtask promela`: the collected Promela models, compared with what SPIN says about them.
//!
//! In: `../shared/promela` (models and `index.csv` with SPIN's counts and verdicts). Out: one line for each model, and status 1 if a number of
//! states or transitions or a verdict differs. A model that is not read, or whose reference has more states than the limit, is named.
//! `cargo xtask promela 100000` sets the limit. `cargo xtask promela random` compares random programs with SPIN itself (`random.rs`), and
//! `cargo xtask promela trails` follows what SPIN prints of their errors (`trails.rs`).

mod random;
mod spin;
mod trails;
mod verdict;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::Silent;
use lang::promela::{Decide, Reading};
use model::Model;

use crate::beem::{NamedTable, field};
use spin::SpinCounts;
use verdict::verdict;

/// Larger models are not run unless asked for.
const DEFAULT_LIMIT: u64 = 500_000;
/// The longest time for one search.
const MOST_SECONDS: u64 = 60;
/// The most states that the reference semantics lists.
const MOST_LISTED: usize = 60_000;

/// The column that says what SPIN finds with `-l`, without and with weak fairness.
const PROGRESS: &str = "progress (plain / weak fairness)";

/// What came of one model.
enum ModelOutcome {
    Agrees(String),
    Differs(String),
    NotRead(String),
    NotRun(String),
}

/// Compares all models, or those whose name contains a word.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    if let ["random", rest @ ..] = arguments {
        return random::run(root, rest);
    }
    if let ["trails", rest @ ..] = arguments {
        return trails::run(root, rest);
    }
    let folder = root.join("../shared/promela");
    let table = match NamedTable::read(&folder.join("index.csv")) {
        Ok(table) => table,
        Err(error) => {
            eprintln!("promela: the models are not there: {error}");
            return ExitCode::from(2);
        }
    };
    let limit = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(DEFAULT_LIMIT);
    let wanted = arguments.iter().find(|word| word.parse::<u64>().is_err());
    let mut counts = [0usize; 4];
    for row in table.rows.iter().filter(|row| wanted.is_none_or(|word| field(row, "file").contains(word))) {
        let (at, word, line) = match compare(&folder, row, limit) {
            ModelOutcome::Agrees(line) => (0, "agrees", line),
            ModelOutcome::Differs(line) => (1, "DIFFERS", line),
            ModelOutcome::NotRead(line) => (2, "not read", line),
            ModelOutcome::NotRun(line) => (3, "not run", line),
        };
        counts[at] += 1;
        println!("{word:<8} {:<44} {line}", field(row, "file"));
    }
    let [agree, differ, not_read, not_run] = counts;
    println!("promela: {agree} agree, {differ} differ, {not_read} not read, {not_run} not run");
    ExitCode::from(u8::from(differ > 0))
}

/// `-DNAME=VALUE` and `-DNAME` among the flags.
pub fn given(flags: &str) -> Vec<(String, i64)> {
    let macros = flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-D"));
    macros
        .map(|text| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.parse().unwrap_or(1)),
            None => (text.to_owned(), 1),
        })
        .collect()
}

fn load(path: &Path, text: &str, row: &HashMap<String, String>, reading: &Reading) -> Result<lang::Loaded, String> {
    let decide = Some(Decide(driver::load::decide));
    let reading = Reading { includes: driver::files::included(path, text), decide, ..reading.clone() };
    let source = SourceFile::new(path.display().to_string(), text);
    lang::promela::load(&source, &given(field(row, "flags")), &reading).map_err(|refused| {
        let first = refused.iter().flat_map(|one| one.diagnostics.iter().map(move |diagnostic| (one, diagnostic)));
        first
            .filter(|(_, diagnostic)| diagnostic.is_error())
            .take(2)
            .map(|(one, diagnostic)| {
                let line = one.source.line_col(diagnostic.primary.span.start).line;
                format!("{} line {line}: {}", diagnostic.code, diagnostic.message)
            })
            .collect::<Vec<_>>()
            .join("; ")
    })
}

fn compare(folder: &Path, row: &HashMap<String, String>, limit: u64) -> ModelOutcome {
    let path = folder.join(field(row, "file"));
    let Ok(text) = fs::read_to_string(&path) else { return ModelOutcome::NotRun("its file is not there".into()) };
    let like_spin = Reading { like_spin: true, ..Reading::default() };
    let loaded = match load(&path, &text, row, &like_spin) {
        Ok(loaded) => loaded,
        Err(why) => return ModelOutcome::NotRead(why),
    };
    let mut line = String::new();
    let mut differs = false;
    match field(row, "states").parse::<u64>() {
        Ok(expected) if expected <= limit => match counts(&loaded.model) {
            Ok(found) => {
                let states = (found.states + loaded.n_before, Ok(expected), "states");
                // SPIN counts the arrival in the initial state.
                let n_transitions = found.transitions + loaded.n_before + 1;
                for (found, expected, what) in
                    [states, (n_transitions, field(row, "transitions").parse(), "transitions")]
                {
                    line += &format!("{found} {what} ");
                    if let Some(expected) = expected.ok().filter(|&expected| expected != found) {
                        differs = true;
                        line += &format!("(SPIN: {expected}) ");
                    }
                }
            }
            Err(why) => line += &format!("states not counted: {why}"),
        },
        Ok(expected) => line += &format!("{expected} states, more than the limit"),
        Err(_) => line += "no count",
    }
    let asked = Reading { progress: !field(row, PROGRESS).is_empty(), ..Reading::default() };
    let plain = match load(&path, &text, row, &asked) {
        Ok(loaded) => loaded,
        Err(why) => return ModelOutcome::NotRead(why),
    };
    let fair = load(&path, &text, row, &Reading { is_fair: true, ..asked.clone() });
    if field(row, "states").parse::<u64>().is_ok_and(|states| states <= limit) {
        // SPIN searches for end states behind failed assertions, too.
        let (found, expected) = (verdict(&loaded.model, "deadlock_free"), field(row, "end states"));
        line += &format!("; end states: {found}");
        if matches!(found, "holds" | "violated") && matches!(expected, "holds" | "violated") && found != expected {
            differs = true;
            line += &format!(" (SPIN: {expected})");
        }
    }
    for (name, found, expected) in verdicts(&plain.model, fair.as_ref().map(|loaded| &loaded.model).ok(), row, limit) {
        line += &format!("; {name}: {found}");
        if matches!(found, "holds" | "violated") && matches!(&*expected, "holds" | "violated") && found != expected {
            differs = true;
            line += &format!(" (SPIN: {expected})");
        }
    }
    if differs { ModelOutcome::Differs(line) } else { ModelOutcome::Agrees(line) }
}

/// How many states and transitions there are: by the search of the product, or where that does not follow the program by the reference semantics.
fn counts(model: &Model) -> Result<SpinCounts, String> {
    let budget = Budget::new(Some(Duration::from_secs(MOST_SECONDS)), None, CancelToken::default());
    let (seen, _, stopped) = product::explore(model, &budget, 2, &Silent);
    match stopped {
        None => Ok(SpinCounts { states: seen.states, transitions: seen.transitions }),
        Some(_) if model.goes_on() || model.has_when_nobody() => listed(model),
        Some(reason) => Err(reason.to_string()),
    }
}

fn listed(model: &Model) -> Result<SpinCounts, String> {
    let mut seen: HashSet<model::eval::State> = model::eval::initial_states(model).collect();
    let mut open: VecDeque<model::eval::State> = seen.iter().cloned().collect();
    let mut transitions = 0;
    while let Some(state) = open.pop_front() {
        for step in model::eval::steps(model, &state) {
            let Ok(next) = step.result else { continue };
            transitions += 1;
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
        if seen.len() > MOST_LISTED {
            return Err("too many for the reference semantics".into());
        }
    }
    Ok(SpinCounts { states: seen.len() as u64, transitions })
}

/// What is asked, what is found and what SPIN says.
fn verdicts(
    model: &Model,
    fair: Option<&Model>,
    row: &HashMap<String, String>,
    limit: u64,
) -> Vec<(String, &'static str, String)> {
    let mut found = Vec::new();
    let is_small = field(row, "states").parse::<u64>().is_ok_and(|states| states <= limit);
    if !is_small {
        return found;
    }
    let expected = |column: &str| field(row, column).to_owned();
    found.push(("assertions".into(), verdict(model, "no_errors"), expected("assertions")));
    let claims = field(row, "claims (plain / weak fairness)").split(';').filter_map(|claim| claim.rsplit_once(':'));
    let progress = Some(("no_non_progress_cycle", field(row, PROGRESS))).filter(|(_, both)| !both.is_empty());
    for (name, both) in claims.chain(progress) {
        let name = match name.trim().trim_matches(['(', ')']) {
            "accept labels" => "no_acceptance_cycle".to_owned(),
            name => name.to_owned(),
        };
        let (plain, weak) = both.split_once('/').unwrap_or((both, ""));
        found.push((name.clone(), verdict(model, &name), plain.trim().to_owned()));
        if let Some(fair) = fair {
            found.push((format!("{name} fair"), verdict(fair, &name), weak.trim().to_owned()));
        }
    }
    found
}
