//! What the loop of a lasso shows, for people: a line for each process and for each assumption.

use engine::PropertyId;
use engine::run::Run;
use evidence::Trace;
use explain::lasso::{Looped, MOST_LINES};

use crate::numbers::counted;
use crate::style::{Ink, Style};
use crate::text::{hang, pad, width};

/// The lines under a lasso; nothing for a finite run.
pub fn turning(run: &Run, property: PropertyId, trace: &Trace, style: &Style) -> String {
    let Some(looped) = Looped::of(&run.model, trace) else { return String::new() };
    let mut lines: Vec<(String, String)> =
        looped.shares().iter().take(MOST_LINES).map(|share| (share.name.clone(), share.words())).collect();
    if run.model.processes.len() > MOST_LINES {
        lines.push((format!("and {} more", run.model.processes.len() - MOST_LINES), String::new()));
    }
    lines.extend(looped.assumptions(run, property));
    let widest = lines.iter().map(|(left, _)| width(left)).max().unwrap_or(0).min(44);
    let head = format!("  In the loop of {}", counted(looped.turns.len() as u64, "turn", "turns"));
    let mut out = format!("{}\n", style.paint(Ink::Strong, &head));
    for (left, right) in &lines {
        let lead = format!("    {}   ", pad(left, widest));
        match right.is_empty() {
            true => out.push_str(&format!("{}\n", lead.trim_end())),
            false => out.push_str(&hang(&lead, right, style.width.min(80))),
        }
    }
    out
}
