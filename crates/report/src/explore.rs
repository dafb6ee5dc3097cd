//! What `explore` says: the size of the whole product; and the shape of its document (`explore --format json`, `piecewise-explore/2`).
//!
//! The types are the contract: `docs/schema/explore.schema.json` is made from them, and a test compares.

use std::collections::BTreeMap;
use std::time::Duration;

use base::{SourceFile, StopReason};
use evidence::Exploration;
use explain::names::parameters_with_origin;
use model::Model;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::document::{Reason, Tool};
use crate::json;
use crate::numbers::{bytes, count, counted, duration, rate};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, pad_left, spread};

/// What was explored, and what it took.
#[derive(Clone, Copy, Debug)]
pub struct Explored<'a> {
    /// The text.
    pub source: &'a SourceFile,
    /// The program.
    pub model: &'a Model,
    /// What was seen.
    pub exploration: &'a Exploration,
    /// How long it took.
    pub time: Duration,
    /// The most memory that the search's data took.
    pub peak_memory_bytes: Option<u64>,
    /// Why it ended before the end.
    pub stopped: Option<&'a StopReason>,
    /// What each of several hosts took part with; none where there was one process.
    pub hosts: &'a [Host],
}

/// What a host held and sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its workers.
    pub workers: usize,
    /// The states that it holds.
    pub states: u64,
    /// The most memory that its data took.
    pub peak_memory_bytes: u64,
    /// What it sent to other processes.
    pub sent_bytes: u64,
}

/// The numbers for people.
pub fn text(explored: &Explored<'_>, style: &Style) -> String {
    let seen = explored.exploration;
    let least = parameters_with_origin(explored.model);
    let name = clean(&explored.model.name);
    let left = if least.is_empty() { name.clone() } else { format!("{name}  {least}") };
    let head = spread(&left, &clean(explored.source.name()), style.width.min(80));
    let mut out = head.replacen(&name, &style.paint(Ink::Strong, &name), 1) + "\n";
    let verdict = match explored.stopped {
        None => style.paint(Ink::Good, &format!("{} complete: everything reachable was seen", style.mark(Mark::Holds))),
        Some(reason) => style
            .paint(Ink::Doubt, &format!("{} not complete: {}", style.mark(Mark::Unknown), clean(&reason.to_string()))),
    };
    out.push_str(&format!("{verdict}\n"));
    let rows = [
        ("states", seen.states),
        ("transitions", seen.transitions),
        ("deadlocks", seen.deadlocks),
        ("errors", seen.errors),
        ("depth", seen.depth),
    ];
    let column = rows.iter().map(|(_, number)| count(*number).len()).max().unwrap_or(0);
    // What was seen is lost with a host; there are no numbers then.
    let has_numbers = seen.states > 0 || explored.stopped.is_none();
    for (what, number) in rows.into_iter().filter(|_| has_numbers) {
        out.push_str(&format!("  {what:<12} {}\n", pad_left(&count(number), column)));
    }
    let mut facts = vec![duration(explored.time)];
    if has_numbers && explored.time.as_secs_f64() >= 0.05 {
        facts.push(rate(seen.states as f64 / explored.time.as_secs_f64()).replace("/s", " states/s"));
    }
    if let Some(memory) = explored.peak_memory_bytes {
        facts.push(bytes(memory));
        if seen.states > 1000 {
            facts.push(format!("{:.1} bytes per state", memory as f64 / seen.states as f64));
        }
    }
    let facts = facts.join(&format!(" {} ", style.mark(Mark::Dot)));
    out.push_str(&format!("  {}\n", style.paint(Ink::Dim, &facts)));
    for host in explored.hosts {
        let facts = [
            clean(&host.name),
            counted(host.workers as u64, "worker", "workers"),
            counted(host.states, "state", "states"),
            bytes(host.peak_memory_bytes),
            format!("{} sent", bytes(host.sent_bytes)),
        ];
        let facts = facts.join(&format!(" {} ", style.mark(Mark::Dot)));
        out.push_str(&format!("  {}\n", style.paint(Ink::Dim, &facts)));
    }
    out
}

/// The name of the document's shape.
pub const SCHEMA: &str = "piecewise-explore/2";

/// The JSON schema of the document.
pub fn json_schema() -> Schema {
    schema_for!(ExploreDocument)
}

/// Everything that came of a call, for one instance or many.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExploreDocument {
    /// `piecewise-explore/2`.
    pub schema: String,
    /// The exit status of the call: 0 everything was seen, 2 wrong input, 3 a limit was reached, 4 an internal error.
    pub status: u8,
    /// Who wrote it.
    pub tool: Tool,
    /// One for each instance, in the order of the call.
    pub runs: Vec<ExploredRun>,
    /// What is wrong with the call or the program; empty where everything could be done.
    pub errors: Vec<String>,
}

/// One instance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExploredRun {
    /// The file, as the call names it.
    pub file: String,
    /// The program's name.
    pub program: String,
    /// The parameters of the instance.
    pub parameters: BTreeMap<String, i64>,
    /// The states that were seen.
    pub states: u64,
    /// The transitions between them.
    pub transitions: u64,
    /// The states in which nobody can move, and somebody has not ended.
    pub deadlocks: u64,
    /// The steps that are errors.
    pub errors: u64,
    /// The steps from an initial state to the farthest state.
    pub depth: u64,
    /// Whether everything reachable was seen.
    pub complete: bool,
    /// Why not.
    pub reason: Option<Reason>,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the search's data took.
    pub peak_memory_bytes: Option<u64>,
    /// What each of several hosts took part with; empty where there was one process.
    pub hosts: Vec<Host>,
    /// What `--coverage` counted.
    pub coverage: Option<CoverageDocument>,
}

/// How often each statement was taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CoverageDocument {
    /// The statements in the order of the text.
    pub statements: Vec<StatementCount>,
    /// The variables that have one value in all states.
    pub never_change: Vec<String>,
    /// Whether all states were seen.
    pub complete: bool,
}

/// A statement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatementCount {
    /// Its line.
    pub line: u32,
    /// Its text.
    pub statement: String,
    /// How many transitions take it.
    pub taken: u64,
}

/// The document of a call that ends with this status.
pub fn document(runs: Vec<ExploredRun>, status: u8) -> ExploreDocument {
    ExploreDocument { schema: SCHEMA.to_owned(), status, tool: json::tool(), runs, errors: Vec::new() }
}

/// The document of a call that could not be done.
pub fn failed(errors: &[String], status: u8) -> ExploreDocument {
    ExploreDocument { errors: errors.to_vec(), ..document(Vec::new(), status) }
}

/// What the document has of one instance.
pub fn run(explored: &Explored<'_>, coverage: Option<CoverageDocument>) -> ExploredRun {
    let seen = explored.exploration;
    ExploredRun {
        file: explored.source.name().to_owned(),
        program: explored.model.name.clone(),
        parameters: json::parameter_map(explored.model),
        states: seen.states,
        transitions: seen.transitions,
        deadlocks: seen.deadlocks,
        errors: seen.errors,
        depth: seen.depth,
        complete: seen.complete,
        reason: explored.stopped.map(json::reason),
        seconds: explored.time.as_secs_f64(),
        peak_memory_bytes: explored.peak_memory_bytes,
        hosts: explored.hosts.to_vec(),
        coverage,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::philosophers;

    #[test]
    fn numbers_for_people_and_for_scripts() {
        let run = philosophers(3);
        let seen =
            Exploration { states: 12_345, transitions: 67_890, deadlocks: 1, errors: 0, depth: 12, complete: true };
        let mut explored = Explored {
            source: &run.source,
            model: &run.model,
            exploration: &seen,
            time: Duration::from_millis(250),
            peak_memory_bytes: Some(300_000),
            stopped: None,
            hosts: &[],
        };
        let complete = text(&explored, &Style::default());
        let json = json::value_of(&document(vec![super::run(&explored, None)], 0));
        let found = &json["runs"][0];
        assert_eq!((&json["schema"], &found["states"]), (&json!("piecewise-explore/2"), &json!(12_345)));
        assert_eq!((&found["complete"], &found["parameters"]), (&json!(true), &json!({"N": 3})));
        explored.stopped = Some(&StopReason::Cancelled);
        crate::testing::assert_shown(
            "explore__numbers_for_people_and_for_scripts",
            &format!("{complete}\n{}", text(&explored, &Style::default())),
        );
        let nothing = Exploration::default();
        let lost = text(&Explored { exploration: &nothing, ..explored }, &Style::default());
        assert!(lost.contains("not complete") && !lost.contains("states"), "{lost}");
    }
}
