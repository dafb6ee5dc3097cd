//! A likely cause: a process acted on what it had read, and another one changed it in between.
//!
//! In: a counterexample. Out: the last pair of neighbouring steps of one process such that the first read a cell which
//! another process changed before the second. That is how most broken locks break; where it is not, there is no such explanation.

use engine::Verdict;
use engine::run::PropertyResult;
use evidence::{Evidence, TraceEnd};
use model::process::ProcessId;
use model::variable::CellId;

use crate::explained::ExplainedTrace;
use crate::names::line;
use crate::text::clean;

/// The cause is searched for among so many last steps.
const MOST_STEPS: usize = 40;

/// A cell that was read in one step, changed by another process in a second, and acted on in a third.
struct Stale {
    reader: ProcessId,
    cell: CellId,
    read: usize,
    changed: usize,
    acted: usize,
}

/// A read that came too early: a likely cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Which process read what when, and which one changed it before it was acted on.
    pub sentence: String,
    /// The line of the read and that of the act, where they are close to each other.
    pub close_lines: Option<[u32; 2]>,
}

/// The likely cause; `None` where the trace does not show one.
pub fn cause(result: &PropertyResult, explanation: &ExplainedTrace<'_>) -> Option<Cause> {
    let is_violation = matches!(result.verdict, Verdict::Violated(Evidence::Trace(_)));
    let has_end = matches!(explanation.trace.end, TraceEnd::State | TraceEnd::Fault { .. });
    let stale = if is_violation && has_end { find(explanation)? } else { return None };
    Some(Cause { sentence: sentence(explanation, &stale), close_lines: close_lines(explanation, &stale) })
}

fn sentence(explanation: &ExplainedTrace<'_>, stale: &Stale) -> String {
    let name = |id: ProcessId| &explanation.model.processes[id].name;
    let (reader, writer) = (name(stale.reader), name(explanation.trace.turns[stale.changed].process()));
    let text = format!(
        "{reader} read {} in step {} and moved on in step {}; {writer} changed it in step {}",
        crate::bundle::cell_name(explanation.model, stale.cell),
        stale.read + 1,
        stale.acted + 1,
        stale.changed + 1,
    );
    clean(&text)
}

fn find(explanation: &ExplainedTrace<'_>) -> Option<Stale> {
    let mover = |at: usize| explanation.trace.turns[at].process();
    let value = |at: usize, cell: CellId| explanation.trace.states[at].cells[cell.index()];
    (0..explanation.trace.n_steps()).rev().take(MOST_STEPS).find_map(|acted| {
        let reader = mover(acted);
        let read = (0..acted).rev().find(|&at| mover(at) == reader)?;
        let view = explanation.step(read);
        // A step that itself wrote what others see is more than a read.
        let reads = if view.writes { &[][..] } else { &view.reads };
        reads.iter().find_map(|&cell| {
            // It was read in state `read`; what follows from it happens in state `acted`.
            let differs = value(read, cell) != value(acted, cell);
            let changed = (read + 1..acted).find(|&at| value(at, cell) != value(at + 1, cell))?;
            differs.then_some(Stale { reader, cell, read, changed, acted })
        })
    })
}

/// The two lines between which another process stepped, where they are close to each other in the text.
fn close_lines(explanation: &ExplainedTrace<'_>, stale: &Stale) -> Option<[u32; 2]> {
    let number = |at: usize| {
        let by = explanation.trace.turns[at].step()?;
        Some(line(
            explanation.source,
            explanation.model.statements[explanation.model.actions[by.action].statement].span,
        ))
    };
    let (first, second) = (number(stale.read)?, number(stale.acted)?);
    (first < second && second - first <= 4).then_some([first, second])
}
