//! `cargo xtask beem`: the BEEM models, compared with the reference counts and verdicts.
//!
//! In: `../shared/beem` (models, `reference_counts.csv`, `reach_verdicts.csv` and `reach/`, `ltl_verdicts.csv` and `ltl/`). Out: one line for each instance, and
//! status 1 if a number or verdict differs. An instance whose reference has more states than the limit is not run, and that is
//! said; so is one without a reference. `cargo xtask beem 5000000` sets the limit.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use lang::dve::Goal;
use model::Model;
use model::property::PropertyKind;

/// Larger instances are not run unless asked for.
const DEFAULT_LIMIT: u64 = 20_000_000;

/// The longest time for one search.
const MOST_SECONDS: u64 = 120;

/// A table with names for its columns.
pub struct NamedTable {
    /// The rows, by the names of their columns.
    pub rows: Vec<HashMap<String, String>>,
}

impl NamedTable {
    /// Reads a file whose first line has the names; fields in quotes may have commas.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut lines = text.lines().map(fields);
        let names = lines.next().unwrap_or_default();
        let rows = lines.map(|row| names.iter().cloned().zip(row).collect()).collect();
        Ok(NamedTable { rows })
    }
}

fn fields(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(String::new()),
            _ => all.last_mut().expect("there is one").push(letter),
        }
    }
    all
}

/// What came of one instance.
enum InstanceOutcome {
    /// All numbers agree; a line about it.
    Agrees(String),
    /// Something differs.
    Differs(String),
    /// It was not run, and why.
    NotRun(String),
}

/// Compares all instances.
pub fn run(root: &Path, limit: Option<&str>) -> ExitCode {
    let beem = root.join("../shared/beem");
    let limit = match limit.map(str::parse).transpose() {
        Ok(limit) => limit.unwrap_or(DEFAULT_LIMIT),
        Err(_) => {
            eprintln!("beem: the limit is a number of states");
            return ExitCode::from(2);
        }
    };
    let (counts, verdicts) = match (
        NamedTable::read(&beem.join("reference_counts.csv")),
        NamedTable::read(&beem.join("reach_verdicts.csv")),
    ) {
        (Ok(counts), Ok(verdicts)) => (counts, verdicts),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("beem: the models are not there: {error}");
            return ExitCode::from(2);
        }
    };
    let goals: HashMap<&str, &str> =
        verdicts.rows.iter().map(|row| (field(row, "instance"), field(row, "goal_reachable"))).collect();
    let (mut n_agree, mut n_differ, mut n_not_run) = (0, 0, 0);
    for row in &counts.rows {
        let name = field(row, "instance");
        match instance(&beem, row, goals.get(name).copied(), limit) {
            InstanceOutcome::Agrees(line) => {
                n_agree += 1;
                println!("agrees   {name:<20} {line}");
            }
            InstanceOutcome::Differs(line) => {
                n_differ += 1;
                println!("DIFFERS  {name:<20} {line}");
            }
            InstanceOutcome::NotRun(line) => {
                n_not_run += 1;
                println!("not run  {name:<20} {line}");
            }
        }
    }
    for (name, outcome) in temporal(&beem, &counts, limit) {
        let (word, line) = match outcome {
            InstanceOutcome::Agrees(line) => {
                n_agree += 1;
                ("agrees", line)
            }
            InstanceOutcome::Differs(line) => {
                n_differ += 1;
                ("DIFFERS", line)
            }
            InstanceOutcome::NotRun(line) => {
                n_not_run += 1;
                ("not run", line)
            }
        };
        println!("{word:<8} {name:<20} {line}");
    }
    println!("beem: {n_agree} agree, {n_differ} differ, {n_not_run} not run");
    ExitCode::from(u8::from(n_differ > 0))
}

/// A field of a row; empty where it is missing.
pub fn field<'r>(row: &'r HashMap<String, String>, name: &str) -> &'r str {
    row.get(name).map_or("", String::as_str)
}

fn instance(beem: &Path, row: &HashMap<String, String>, reachable: Option<&str>, limit: u64) -> InstanceOutcome {
    let name = field(row, "instance");
    let path = beem.join("models").join(format!("{name}.dve"));
    let Ok(text) = fs::read_to_string(&path) else { return InstanceOutcome::NotRun("its file is not there".into()) };
    let expected =
        [field(row, "explorer_states"), field(row, "explorer_transitions"), field(row, "explorer_deadlocks")];
    match field(row, "states_best").parse::<u64>() {
        Ok(states) if states > limit => {
            return InstanceOutcome::NotRun(format!("{states} states, more than the limit"));
        }
        Err(_) => return InstanceOutcome::NotRun("there is no reference".into()),
        Ok(_) => {}
    }
    let reach = beem.join("reach").join(format!("{name}.prop1.reach"));
    let goals: Vec<Goal> = fs::read_to_string(reach)
        .map(|text| Goal { name: "prop1".into(), source: SourceFile::new("goal", text) })
        .into_iter()
        .collect();
    let model = match lang::load_with_goals(&SourceFile::new(format!("{name}.dve"), text), &[], &goals) {
        Ok(loaded) => loaded.model,
        Err(refused) => {
            let errors: usize = refused.iter().map(|one| one.diagnostics.len()).sum();
            return InstanceOutcome::Differs(format!("{errors} errors in its text"));
        }
    };
    let budget = Budget::new(Some(Duration::from_secs(MOST_SECONDS)), None, CancelToken::default());
    let (seen, statistics, stopped) = product::explore(&model, &budget, 2, &Silent);
    if let Some(reason) = stopped {
        return InstanceOutcome::NotRun(reason.to_string());
    }
    // The reference counts steps that are errors among the transitions; here they are counted apart.
    let found = [seen.states, seen.transitions + seen.errors, seen.deadlocks].map(|number| number.to_string());
    let seconds = statistics.time.as_secs_f64();
    let rate = seen.states as f64 / seconds.max(1e-6) / 1e6;
    let bytes = statistics.peak_memory_bytes.unwrap_or(0) / seen.states.max(1);
    let mut line = format!(
        "{} states, {} transitions, {} deadlocks, {} errors; {seconds:.2} s, {rate:.2} M states/s, {bytes} bytes/state",
        found[0], found[1], found[2], seen.errors
    );
    let mut agrees = expected.iter().zip(&found).all(|(expected, found)| expected.is_empty() || expected == found);
    if !agrees {
        line += &format!("; the reference has {}", expected.join(", "));
    }
    match (goal(&model), reachable) {
        (Some(found), Some(expected @ ("yes" | "no"))) => {
            line += &format!("; goal reached: {found}");
            if found != expected {
                line += &format!(", the reference has {expected}");
                agrees = false;
            }
        }
        (Some(found), _) => line += &format!("; goal reached: {found} (no reference)"),
        (None, _) => {}
    }
    if agrees { InstanceOutcome::Agrees(line) } else { InstanceOutcome::Differs(line) }
}

/// The verdict of the goal, if there is one.
fn goal(model: &Model) -> Option<&'static str> {
    let is_goal = |kind: &PropertyKind| matches!(kind, PropertyKind::Reachable(_));
    let (id, _) = model.properties.entries().find(|(_, property)| is_goal(&property.kind))?;
    let budget = Budget::new(Some(Duration::from_secs(MOST_SECONDS)), None, CancelToken::default());
    let task = Task { model, properties: vec![id], budget, n_threads: 2 };
    let Ok(answers) = product::Mono.run(&task, &Silent) else { return Some("an internal error") };
    Some(match answers.first().map(|answer| &answer.verdict) {
        Some(Verdict::Holds(_)) => "yes",
        Some(Verdict::Violated(_)) => "no",
        _ => "not decided",
    })
}

/// Larger graphs are not searched for accepting loops.
const MOST_TEMPORAL: u64 = 2_000_000;

/// The temporal properties that are given as automata, compared with the published verdicts.
fn temporal(beem: &Path, counts: &NamedTable, limit: u64) -> Vec<(String, InstanceOutcome)> {
    let verdicts = match NamedTable::read(&beem.join("ltl_verdicts.csv")) {
        Ok(verdicts) => verdicts,
        Err(error) => return vec![("ltl".into(), InstanceOutcome::NotRun(error))],
    };
    let size = |name: &str| {
        let row = counts.rows.iter().find(|row| field(row, "instance") == name)?;
        field(row, "states_best").parse::<u64>().ok()
    };
    let mut found = Vec::new();
    for row in &verdicts.rows {
        let (instance, property) = (field(row, "instance"), field(row, "prop_id"));
        let path = beem.join("ltl").join(format!("{instance}.prop{property}.dve"));
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let outcome = match size(instance) {
            Some(states) if states <= limit.min(MOST_TEMPORAL) => automaton(&text, field(row, "holds")),
            Some(states) => InstanceOutcome::NotRun(format!("{states} states, more than the limit")),
            None => InstanceOutcome::NotRun("there is no reference".into()),
        };
        found.push((format!("{instance}.prop{property}"), outcome));
    }
    found
}

fn automaton(text: &str, expected: &str) -> InstanceOutcome {
    let model = match lang::load(&SourceFile::new("property.dve", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(errors) => return InstanceOutcome::Differs(format!("{} errors in its text", errors.len())),
    };
    let is_temporal = |kind: &PropertyKind| matches!(kind, PropertyKind::Temporal(_));
    let Some((id, _)) = model.properties.entries().find(|(_, property)| is_temporal(&property.kind)) else {
        return InstanceOutcome::Differs("it has no property process".into());
    };
    let budget = Budget::new(Some(Duration::from_secs(MOST_SECONDS)), None, CancelToken::default());
    let task = Task { model: &model, properties: vec![id], budget, n_threads: 2 };
    let answers = match product::Mono.run(&task, &Silent) {
        Ok(answers) => answers,
        Err(error) => return InstanceOutcome::Differs(error.to_string()),
    };
    match (answers.first().map(|answer| &answer.verdict), expected) {
        (Some(Verdict::Holds(_)), "yes") => InstanceOutcome::Agrees("holds".into()),
        (Some(Verdict::Violated(_)), "no") => InstanceOutcome::Agrees("violated".into()),
        (Some(Verdict::Unknown(reason)), _) => InstanceOutcome::NotRun(reason.to_string()),
        (Some(Verdict::Holds(_)), "no") => InstanceOutcome::Differs("holds; the reference has it violated".into()),
        (Some(Verdict::Violated(_)), "yes") => InstanceOutcome::Differs("violated; the reference has it hold".into()),
        _ => InstanceOutcome::NotRun("there is no reference verdict".into()),
    }
}
