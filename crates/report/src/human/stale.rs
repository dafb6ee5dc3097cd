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
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, hang};
use crate::view::step;

/// The cause is looked for among so many last steps.
const MOST_STEPS: usize = 40;

/// A cell that was read in one step, changed by somebody else in another, and acted on in a third.
struct Stale {
    reader: ProcessId,
    cell: CellId,
    read: usize,
    changed: usize,
    acted: usize,
}

/// The likely cause, with the two source lines; empty where the trace does not show one.
pub fn hint(run: &Run, result: &PropertyResult, trace: &Trace, style: &Style) -> String {
    let Some(stale) = cause(run, result, trace) else { return String::new() };
    let mut out = hang("  Likely cause   ", &sentence(run, trace, &stale), style.width.min(80));
    out.push_str(&lines(run, trace, &stale, style));
    out
}

/// The likely cause as a sentence, and the two lines where they are close to each other.
pub(crate) fn told(run: &Run, result: &PropertyResult, trace: &Trace) -> Option<(String, Option<[u32; 2]>)> {
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

/// These lines as text.
fn lines(run: &Run, trace: &Trace, stale: &Stale, style: &Style) -> String {
    let Some([first, second]) = close_lines(run, trace, stale) else { return String::new() };
    let gutter = second.to_string().len().max(4);
    let bar = style.painted(Ink::Line, Mark::Bar);
    let mut out = String::new();
    for number in [first, second] {
        let text = cut(&clean(run.source.line(number)), style.width.min(80).saturating_sub(gutter + 5), style);
        out.push_str(&format!("  {number:>gutter$} {bar} {text}\n"));
    }
    let indent = run.source.line(first).len() - run.source.line(first).trim_start().len();
    let rule = style.mark(Mark::Dash).repeat(8);
    out.push_str(&format!(
        "  {:gutter$} {bar} {}{rule} another process can move between these\n",
        "",
        " ".repeat(indent)
    ));
    out
}
