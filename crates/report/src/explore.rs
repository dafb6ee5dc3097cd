//! What `explore` says: the size of the whole product.

use std::time::Duration;

use base::{SourceFile, StopReason};
use evidence::Exploration;
use explain::names::parameters_with_origin;
use model::Model;
use serde_json::{Value as Json, json};

use crate::json::parameters as parameters_json;
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    for (what, number) in rows {
        out.push_str(&format!("  {what:<12} {}\n", pad_left(&count(number), column)));
    }
    let mut facts = vec![duration(explored.time)];
    if explored.time.as_secs_f64() >= 0.05 {
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

/// The document of `explore --format json`.
pub fn document(explored: &Explored<'_>) -> Json {
    let seen = explored.exploration;
    let mut document = json!({
        "schema": "piecewise-explore/1",
        "model": explored.source.name(),
        "parameters": parameters_json(explored.model),
        "states": seen.states,
        "transitions": seen.transitions,
        "deadlocks": seen.deadlocks,
        "errors": seen.errors,
        "depth": seen.depth,
        "complete": seen.complete,
        "reason": explored.stopped.map(|reason| crate::json::value_of(&crate::json::reason(reason))),
        "seconds": explored.time.as_secs_f64(),
        "peak_memory_bytes": explored.peak_memory_bytes,
    });
    if !explored.hosts.is_empty() {
        let host = |host: &Host| {
            json!({
                "name": host.name,
                "workers": host.workers,
                "states": host.states,
                "peak_memory_bytes": host.peak_memory_bytes,
                "sent_bytes": host.sent_bytes,
            })
        };
        document["hosts"] = explored.hosts.iter().map(host).collect();
    }
    document
}

#[cfg(test)]
mod tests {
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
        let json = document(&explored);
        assert_eq!((&json["schema"], &json["states"]), (&json!("piecewise-explore/1"), &json!(12_345)));
        assert_eq!((&json["complete"], &json["parameters"]), (&json!(true), &json!({"N": 3})));
        explored.stopped = Some(&StopReason::Cancelled);
        crate::testing::assert_shown(
            "explore__numbers_for_people_and_for_scripts",
            &format!("{complete}\n{}", text(&explored, &Style::default())),
        );
    }
}
