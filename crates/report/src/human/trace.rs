//! A trace for people: one column for each process where they fit, a list of steps where they do not.
//!
//! Only what changes is shown. Of many processes only those that step, or that the failure names, have a column. Of a long
//! trace the middle is left out unless all of it is asked for.

use engine::run::PropertyResult;
use evidence::Trace;
use explain::bundle::read_text;
use explain::explained::ExplainedTrace;
use explain::steps::StepView;
use model::Model;
use model::eval::Turn;
use model::process::ProcessId;
use model::variable::CellId;

use super::{columns, listing};
use crate::numbers::counted;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang};

/// Longer traces are shown in part.
const MOST_STEPS: usize = 60;
/// Of a trace that is shown in part: so many steps at its start.
const FIRST_STEPS: usize = 20;
/// Of a trace that is shown in part: so many steps at its end.
const LAST_STEPS: usize = 30;
/// Programs with more processes than this show a column only for those that matter.
const FEW_PROCESSES: usize = 5;

/// What is drawn.
#[derive(Clone, Copy)]
pub struct TraceDrawing<'a> {
    /// The trace, with its steps.
    pub explanation: ExplainedTrace<'a>,
    /// Processes that have a column even if they take no step.
    pub named: &'a [ProcessId],
    /// A few words under the last step; may be empty.
    pub ending: &'a str,
    /// Whether a long trace is shown in full.
    pub in_full: bool,
}

/// One shown step, or a gap.
pub(super) enum TraceRow<'a> {
    /// The initial state.
    Start,
    /// Step number `nth`, counted from 1.
    Step(usize, &'a StepView),
    /// So many steps are left out.
    Gap(usize),
}

/// Draws a trace.
pub fn draw_trace(drawing: &TraceDrawing<'_>, style: &Style) -> String {
    let rows = rows(drawing);
    let all: Vec<ProcessId> = drawing.explanation.model.processes.ids().collect();
    let movers = drawing.explanation.trace.turns.iter().flat_map(Turn::processes);
    let mut relevant: Vec<ProcessId> = movers.chain(drawing.named.iter().copied()).collect();
    relevant.sort();
    relevant.dedup();
    let few = (all.len() <= FEW_PROCESSES).then_some(&all);
    let choices = few.into_iter().chain([&relevant]).flat_map(|shown| [(shown, true), (shown, false)]);
    let mut choices = choices.map(|(shown, accesses)| columns::Choice { shown, accesses });
    let drawn = choices.find_map(|choice| Some((columns::draw(drawing, &rows, &choice, style)?, choice.shown)));
    let (mut out, shown) = drawn.unwrap_or_else(|| (listing::draw(drawing, &rows, style), &relevant));
    let silent: Vec<ProcessId> = all.iter().copied().filter(|id| !shown.contains(id)).collect();
    if !silent.is_empty() {
        let names = group_names(drawing.explanation.model, &silent);
        let verb = if silent.len() == 1 { "does" } else { "do" };
        out.push_str(&hang("  ", &format!("{names} {verb} not move"), style.width.min(80)));
    }
    out
}

fn rows<'a>(drawing: &TraceDrawing<'a>) -> Vec<TraceRow<'a>> {
    let trace = drawing.explanation.trace;
    let n_steps = trace.n_steps();
    let row = |nth: usize| TraceRow::Step(nth, drawing.explanation.step(nth - 1));
    let mut rows = vec![TraceRow::Start];
    if drawing.in_full || n_steps <= MOST_STEPS {
        rows.extend((1..=n_steps).map(row));
        return rows;
    }
    rows.extend((1..=FIRST_STEPS).map(row));
    rows.push(TraceRow::Gap(n_steps - FIRST_STEPS - LAST_STEPS));
    rows.extend((n_steps - LAST_STEPS + 1..=n_steps).map(row));
    rows
}

/// The line for steps that are left out.
pub(super) fn gap_line(n_steps: usize, style: &Style) -> String {
    format!("  {} {} left out (-v shows them)\n", style.mark(Mark::Cut), counted(n_steps as u64, "step", "steps"))
}

/// The bracket of a loop beside the number of a step.
pub(super) fn bracket(trace: &Trace, nth: usize, style: &Style) -> &'static str {
    match trace.loop_from {
        Some(from) if nth == from + 1 => style.mark(Mark::LoopStart),
        Some(from) if nth > from && nth == trace.n_steps() => style.mark(Mark::LoopEnd),
        Some(from) if nth > from => style.mark(Mark::LoopBody),
        _ => "",
    }
}

/// The text beside the later lines of a step, in the column of its number: the bracket of a loop that goes on.
pub(super) fn beside(drawing: &TraceDrawing<'_>, nth: usize, style: &Style) -> String {
    let trace = drawing.explanation.trace;
    match trace.loop_from {
        Some(from) if nth > from && nth < trace.n_steps() => {
            let digits = trace.n_steps().to_string().len();
            format!("{} {:digits$}", style.mark(Mark::LoopBody), "")
        }
        _ => String::new(),
    }
}

/// What was read, where the step changed nothing that others see: `flag[1] is F`.
pub(crate) fn read_notes(drawing: &TraceDrawing<'_>, nth: usize, view: &StepView) -> Vec<String> {
    const MOST_NOTES: usize = 3;
    if view.writes || view.changes.iter().any(|change| change.owner.is_none()) {
        return Vec::new();
    }
    let before = &drawing.explanation.trace.states[nth - 1];
    let note = |&cell: &CellId| read_text(drawing.explanation.model, before, cell);
    let mut notes: Vec<String> = Vec::new();
    for text in view.reads.iter().filter_map(note) {
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    if notes.len() > MOST_NOTES {
        // Of many, those that some step changes.
        let states = &drawing.explanation.trace.states;
        let changes = |cell: CellId| states.iter().any(|state| state.cells[cell.index()] != before.cells[cell.index()]);
        let n_notes = notes.len();
        notes = view.reads.iter().filter(|&&cell| changes(cell)).filter_map(note).collect();
        notes.dedup();
        notes.truncate(MOST_NOTES);
        notes.push(format!("and {} more", n_notes - notes.len().min(n_notes)));
    }
    notes
}

/// `P[0], P[1]`, or `P[3] to P[49]` for neighbours.
pub(crate) fn group_names(model: &Model, processes: &[ProcessId]) -> String {
    let name = |id: ProcessId| clean(&model.processes[id].name);
    let follows = |a: &ProcessId, b: &ProcessId| {
        a.index() + 1 == b.index() && model.processes[*a].family == model.processes[*b].family
    };
    let groups = processes.chunk_by(follows).map(|group| match group {
        [one] => name(*one),
        [one, other] => format!("{}, {}", name(*one), name(*other)),
        [first, .., last] => format!("{} to {}", name(*first), name(*last)),
        [] => String::new(),
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// How long the trace is, and that it is real.
pub(super) fn facts(result: &PropertyResult, trace: &Trace, style: &Style) -> String {
    let steps = counted(trace.n_steps() as u64, "step", "steps");
    let switches = counted(trace.n_context_switches() as u64, "context switch", "context switches");
    // Only a breadth-first search of the whole product knows that nothing is shorter.
    let length = match result.method {
        "mono" if trace.loop_from.is_none() => format!("Shortest: {steps}, {switches} (fewest)."),
        _ => format!("{steps}, {switches}."),
    };
    let replayed = if result.audit.is_accepted() {
        format!(" Replayed: {} real.", style.mark(Mark::Holds))
    } else {
        String::new()
    };
    let lines = hang("  ", &format!("{length}{replayed}"), style.width.min(80));
    lines.lines().map(|line| style.paint(Ink::Dim, line) + "\n").collect()
}
