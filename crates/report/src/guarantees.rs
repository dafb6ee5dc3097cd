//! Guarantees and reachable local states of each process, for people and for scripts.

use engine::run::PropertyResult;
use evidence::Certificate;
use explain::Explained;
use explain::explained::certificate;
use model::process::ProcessId;

use crate::document::{ChangeDocument, GuaranteeDocument, PlaceDocument};
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
pub fn text(run: &Explained, result: &PropertyResult, style: &Style) -> String {
    let (model, n_threads) = (&run.model, run.n_guarantees(result));
    let columns = style.width.min(80);
    let mut out = String::new();
    let n_shown = if n_threads <= MOST_PROCESSES + 1 { n_threads } else { MOST_PROCESSES };
    for process in model.processes.ids().take(n_shown) {
        let Some(explanation) = run.guarantee(result, process) else { continue };
        out.push_str(&format!("  {}\n", style.paint(Ink::Strong, &format!("Guarantee of {}", explanation.name))));
        if explanation.changes.is_empty() {
            out.push_str("    it changes nothing that others see\n");
        }
        out.push_str(&lines(&explanation.changes, columns));
        let title = format!("Local states of {}: {}", explanation.name, explanation.n_states);
        out.push_str(&format!("  {}\n", style.paint(Ink::Strong, &title)));
        out.push_str(&lines(&explanation.states, columns));
    }
    if n_shown < n_threads {
        let left = n_threads - n_shown;
        out.push_str(&format!("  and {left} more processes; the proof file has them all\n"));
    }
    out
}

/// The same for scripts; nothing where there are too many.
pub fn document(run: &Explained, result: &PropertyResult) -> Option<Vec<GuaranteeDocument>> {
    let proof = certificate(result).and_then(Certificate::pushdown)?;
    if proof.threads.iter().map(|thread| thread.states.len()).sum::<usize>() > MOST_IN_DOCUMENT {
        return None;
    }
    let change = |(change, place): &(String, String)| ChangeDocument { change: change.clone(), place: place.clone() };
    let place = |(at, values): &(String, String)| PlaceDocument { at: at.clone(), values: values.clone() };
    let entry = |process: ProcessId| {
        let explanation = run.guarantee(result, process)?;
        Some(GuaranteeDocument {
            process: explanation.name.clone(),
            changes: explanation.changes.iter().map(change).collect(),
            local_states: explanation.states.iter().map(place).collect(),
            n_local_states: explanation.n_states,
        })
    };
    Some(run.model.processes.ids().filter_map(entry).collect())
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
