//! Guarantees and reachable local states of each process, for people and for scripts.

use evidence::pushdown::PushdownProof;
use explain::guarantees::tell;
use model::Model;
use model::process::ProcessId;
use serde_json::{Value as Json, json};

use crate::style::{Ink, Style};
use crate::text::{clean, hang, width};

pub use explain::guarantees::exposed;

/// No more processes than this are shown; all where one more would be the last.
const MOST_PROCESSES: usize = 8;

/// Proofs with more local states than this have no lines in the document.
const MOST_IN_DOCUMENT: usize = 2000;

/// How wide the column of places may be.
const PLACES: usize = 28;

/// The guarantees and local states for people.
pub fn text(model: &Model, proof: &PushdownProof, style: &Style) -> String {
    let columns = style.width.min(80);
    let mut out = String::new();
    let n_shown = if proof.threads.len() <= MOST_PROCESSES + 1 { proof.threads.len() } else { MOST_PROCESSES };
    for process in model.processes.ids().take(n_shown) {
        let told = tell(model, proof, process);
        out.push_str(&format!("  {}\n", style.paint(Ink::Strong, &format!("Guarantee of {}", told.name))));
        if told.changes.is_empty() {
            out.push_str("    it changes nothing that others see\n");
        }
        out.push_str(&lines(&told.changes, columns));
        let title = format!("Local states of {}: {}", told.name, told.n_states);
        out.push_str(&format!("  {}\n", style.paint(Ink::Strong, &title)));
        out.push_str(&lines(&told.states, columns));
    }
    if n_shown < proof.threads.len() {
        let left = proof.threads.len() - n_shown;
        out.push_str(&format!("  and {left} more processes; the proof file has them all\n"));
    }
    out
}

/// The same for scripts; null where there are too many.
pub fn document(model: &Model, proof: &PushdownProof) -> Json {
    if proof.threads.iter().map(|thread| thread.states.len()).sum::<usize>() > MOST_IN_DOCUMENT {
        return Json::Null;
    }
    let entry = |process: ProcessId| {
        let told = tell(model, proof, process);
        let pair = |first: &str, (one, other): &(String, String)| json!({ first: one, "where": other });
        json!({
            "process": told.name,
            "changes": told.changes.iter().map(|change| pair("change", change)).collect::<Vec<_>>(),
            "local_states": told.states.iter().map(|state| pair("at", state)).collect::<Vec<_>>(),
            "n_local_states": told.n_states,
        })
    };
    model.processes.ids().map(entry).collect()
}

fn lines(pairs: &[(String, String)], columns: usize) -> String {
    let widest = pairs.iter().map(|(left, _)| width(left)).max().unwrap_or(0).min(PLACES);
    let line = |(left, right): &(String, String)| {
        let left = clean(left);
        if width(&left) <= widest {
            let pad = " ".repeat(widest - width(&left));
            hang(&format!("    {left}{pad}   "), &clean(right), columns)
        } else {
            hang("    ", &left, columns) + &hang(&" ".repeat(widest + 7), &clean(right), columns)
        }
    };
    pairs.iter().map(line).collect()
}
