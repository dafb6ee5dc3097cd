//! A likely cause: a process acted on what it had read, and somebody changed it in between.
//!
//! In: a counterexample. Out: the last pair of neighbouring steps of one process such that the first read a cell which
//! another process changed before the second. That is how most broken locks break; where it is not, nothing is said.

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::{Evidence, Trace, TraceEnd};
use model::process::ProcessId;
use model::variable::CellId;

use crate::names::line;
use crate::steps::step;
use crate::text::clean;

/// The cause is looked for among so many last steps.
const MOST_STEPS: usize = 40;

/// A cell that was read in one step, changed by another process in a second, and acted on in a third.
struct Stale {
    reader: ProcessId,
    cell: CellId,
    read: usize,
    changed: usize,
    acted: usize,
}

/// The likely cause as a sentence, and the two lines where they are close to each other.
pub fn told(run: &Run, result: &PropertyResult, trace: &Trace) -> Option<(String, Option<[u32; 2]>)> {
    let stale = cause(run, result, trace)?;
    Some((sentence(run, trace, &stale), close_lines(run, trace, &stale)))
}

fn cause(run: &Run, result: &PropertyResult, trace: &Trace) -> Option<Stale> {
    let is_violation = matches!(result.verdict, Verdict::Violated(Evidence::Trace(_)));
    let has_end = matches!(trace.end, TraceEnd::State | TraceEnd::Fault { .. });
    if is_violation && has_end { find(run, trace) } else { None }
}

fn sentence(run: &Run, trace: &Trace, stale: &Stale) -> String {
    let name = |id: ProcessId| &run.model.processes[id].name;
    let (reader, writer) = (name(stale.reader), name(trace.turns[stale.changed].process()));
    let text = format!(
        "{reader} read {} in step {} and moved on in step {}; {writer} changed it in step {}",
        run.model.cells[stale.cell].name,
        stale.read + 1,
        stale.acted + 1,
        stale.changed + 1,
    );
    clean(&text)
}

fn find(run: &Run, trace: &Trace) -> Option<Stale> {
    let mover = |at: usize| trace.turns[at].process();
    let value = |at: usize, cell: CellId| trace.states[at].cells[cell.index()];
    (0..trace.n_steps()).rev().take(MOST_STEPS).find_map(|acted| {
        let reader = mover(acted);
        let read = (0..acted).rev().find(|&at| mover(at) == reader)?;
        let view = step(&run.model, &run.source, &trace.turns[read], [&trace.states[read], &trace.states[read + 1]]);
        // A step that itself wrote what others see is more than a look.
        let reads = if view.writes { &[][..] } else { &view.reads };
        reads.iter().find_map(|&cell| {
            // It was read in state `read`; what follows from it happens in state `acted`.
            let differs = value(read, cell) != value(acted, cell);
            let changed = (read + 1..acted).find(|&at| value(at, cell) != value(at + 1, cell))?;
            differs.then_some(Stale { reader, cell, read, changed, acted })
        })
    })
}

/// The two lines between which somebody else moved, where they are close to each other in the text.
fn close_lines(run: &Run, trace: &Trace, stale: &Stale) -> Option<[u32; 2]> {
    let number = |at: usize| {
        let by = trace.turns[at].step()?;
        Some(line(&run.source, run.model.statements[run.model.actions[by.action].statement].span))
    };
    let (first, second) = (number(stale.read)?, number(stale.acted)?);
    (first < second && second - first <= 4).then_some([first, second])
}
