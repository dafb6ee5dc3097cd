//! What a trace shows at its end: which part of a property fails for which process, the erring statement, which process waits for which, the race.

use engine::run::{PropertyResult, Run};
use evidence::{Trace, TraceEnd};
use explain::Explained;
use explain::bundle::{fact, read_text};
use explain::explained::TraceExplanation;
use explain::names::{bound, line, location};
use explain::waiting::{Awaited, Wait};
use explain::why::DecidingPart;
use model::Model;
use model::eval::{Contender, Race, State, StepFault, is_terminated, likely_touched_by};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::CellId;

use crate::diagnostics::excerpt_at;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang, pad, spread_cut, width};

/// What is said about the end of a trace.
pub struct EndOfTrace {
    /// The lines under the verdict.
    pub text: String,
    /// The processes that they name.
    pub processes: Vec<ProcessId>,
    /// A few words for the last row of the trace.
    pub ending: String,
}

/// What the trace's end shows about the property.
pub fn end(run: &Explained, result: &PropertyResult, trace: &Trace, style: &Style) -> EndOfTrace {
    let property = result.property;
    let (Some(last), Some(explanation)) = (trace.states.last(), run.trace(result)) else {
        return EndOfTrace { text: String::new(), processes: Vec::new(), ending: String::new() };
    };
    match (&trace.end, &run.model.properties[property].kind) {
        (TraceEnd::State, PropertyKind::Invariant(_)) => {
            let ending =
                format!("{} {} is false", style.mark(Mark::Violated), clean(&run.model.properties[property].name));
            EndOfTrace {
                text: because(&run.model, &explanation.why, trace, style),
                processes: named(&explanation.why),
                ending,
            }
        }
        (TraceEnd::State, PropertyKind::Reachable(_)) => {
            let ending = format!("{} reached", style.mark(Mark::Holds));
            EndOfTrace {
                text: because(&run.model, &explanation.why, trace, style),
                processes: named(&explanation.why),
                ending,
            }
        }
        (TraceEnd::State, _) => EndOfTrace { text: String::new(), processes: Vec::new(), ending: String::new() },
        (TraceEnd::Fault { by, fault }, _) => {
            let ending = format!("{} error in the next step", style.mark(Mark::Violated));
            EndOfTrace { text: erring(run, last, by.process, fault, style), processes: vec![by.process], ending }
        }
        (TraceEnd::Deadlock, _) => {
            let waits = &explanation.waits;
            let ending = format!("{} nobody can move", style.mark(Mark::Violated));
            let processes = waits.iter().flat_map(|wait| wait.holders.iter().copied().chain([wait.process]));
            let mut processes: Vec<ProcessId> = processes.collect();
            processes.sort();
            processes.dedup();
            EndOfTrace { text: waiting(run, last, explanation, style), processes, ending }
        }
        (TraceEnd::Loop, _) => {
            let from = trace.loop_from.unwrap_or(0);
            let ending = format!("{} back to step {from}'s state", style.mark(Mark::Violated));
            let owed = explanation.owed.as_ref();
            let text = owed.map(|owed| hang("  ", &clean(&owed.text), style.width.min(80))).unwrap_or_default();
            EndOfTrace { text, processes: owed.map(|owed| owed.processes.clone()).unwrap_or_default(), ending }
        }
        (TraceEnd::Race(race), _) => {
            let ending = format!("{} race", style.mark(Mark::Violated));
            let processes = race.contenders.iter().map(|side| side.process).collect();
            EndOfTrace { text: racing(run, race, style), processes, ending }
        }
    }
}

/// The processes that the parts speak of, each once.
fn named(parts: &[DecidingPart]) -> Vec<ProcessId> {
    let mut processes: Vec<ProcessId> = parts.iter().flat_map(|why| why.processes.iter().copied()).collect();
    processes.sort();
    processes.dedup();
    processes
}

/// ``!(P[i]@crit && P[j]@crit)   is false for  i = 0, j = 1   after step 6``, for each part.
fn because(model: &Model, parts: &[DecidingPart], trace: &Trace, style: &Style) -> String {
    let when = if trace.n_steps() == 0 { "at the start".to_owned() } else { format!("after step {}", trace.n_steps()) };
    let mut out = String::new();
    for (nth, why) in parts.iter().enumerate() {
        let when = if nth + 1 == parts.len() { when.as_str() } else { "and" };
        out.push_str(&because_of(model, why, when, style));
    }
    out
}

fn because_of(model: &Model, why: &DecidingPart, when: &str, style: &Style) -> String {
    let columns = style.width.min(80);
    let bindings = why.bindings.iter().map(|(name, value)| format!("{name} = {}", bound(model, *value)));
    let bindings = bindings.collect::<Vec<_>>().join(", ");
    let whom = if bindings.is_empty() { String::new() } else { format!(" for  {bindings}") };
    let (text, verdict) = (clean(&why.text), format!("is {}{whom}   {when}", why.truth));
    let mut out = if width(&text) + width(&verdict) + 5 <= columns {
        format!("  {text}   {verdict}\n")
    } else {
        format!("{}    {verdict}\n", hang("  ", &text, columns))
    };
    // `x == 0` that is true, or a variable that is false, needs no second line.
    let says_it = |(name, value): &(String, String)| {
        *name == why.instance || format!("!{name}") == why.instance || format!("{name} == {value}") == why.instance
    };
    if !why.values.iter().all(says_it) {
        let values: Vec<String> = why.values.iter().take(12).map(|(name, value)| fact(name, value)).collect();
        out.push_str(&hang("  where  ", &clean(&values.join(", ")), columns));
    }
    out
}

/// The erring statement with its line, and the values in it.
fn erring(run: &Run, state: &State, process: ProcessId, fault: &StepFault, style: &Style) -> String {
    let name = &run.model.processes[process].name;
    let place = location(&run.model, state, process);
    let at = line(&run.source, fault.span);
    let text = format!("{name} at {place}, line {at}: {}", clean(&explain::finding::described(run, &fault.fault)));
    let mut out = hang("  ", &text, style.width.min(80));
    out.push_str(&excerpt_at(&run.source, fault.span, "", style));
    let attempts = likely_touched_by(&run.model, state, process, None);
    let erring = attempts.into_iter().find(|(step, _)| step.result.as_ref() == Err(fault));
    let mut read: Vec<CellId> = Vec::new();
    for touch in erring.map_or(Vec::new(), |(_, touched)| touched) {
        if !touch.writes && !read.contains(&touch.cell) {
            read.push(touch.cell);
        }
    }
    if !read.is_empty() {
        let values: Vec<String> = read.iter().filter_map(|&cell| read_text(&run.model, state, cell)).take(8).collect();
        out.push_str(&hang("  where  ", &clean(&values.join(", ")), style.width.min(80)));
    }
    out
}

/// Of more waiting processes half as many are shown.
const MOST_WAITS: usize = 16;

/// Which process waits for what, and which one holds it.
fn waiting(run: &Run, state: &State, explanation: &TraceExplanation, style: &Style) -> String {
    let (model, waits) = (&run.model, &explanation.waits);
    let mut stuck: Vec<ProcessId> = waits.iter().map(|wait| wait.process).collect();
    stuck.dedup();
    let others = model.processes.len() - stuck.len();
    let lead = match others {
        0 if stuck.len() == 1 => "the only process is stuck:".to_owned(),
        0 if stuck.len() == 2 => "nobody can move, and both processes are stuck:".to_owned(),
        0 => format!("nobody can move, and all {} processes are stuck:", stuck.len()),
        _ => {
            let verb = if stuck.len() == 1 { "is" } else { "are" };
            let (n_stuck, n_all) = (stuck.len(), model.processes.len());
            let rest = resting(model, state, &stuck);
            format!("nobody can move, and {n_stuck} of {n_all} processes {verb} stuck ({rest}):")
        }
    };
    let mut out = hang("  ", &lead, style.width.min(80));
    let cycle = explanation.cycle.as_deref().filter(|cycle| cycle.len() > 1).unwrap_or_default();
    let rows: Vec<[String; 3]> = waits.iter().map(|wait| wait_row(run, state, wait)).collect();
    let column = |nth: usize| rows.iter().map(|row| width(&row[nth])).max().unwrap_or(0).min(40);
    // Of many, the first ones and the last one, which may close a cycle; `--format json` and the page have all.
    let left_out = if rows.len() > MOST_WAITS { MOST_WAITS / 2..rows.len() - 1 } else { 0..0 };
    for (nth, (row, wait)) in rows.iter().zip(waits).enumerate() {
        if left_out.contains(&nth) {
            if nth == left_out.start {
                out.push_str(&format!("    {} {} more wait, too\n", style.mark(Mark::Cut), left_out.len()));
            }
            continue;
        }
        let (who, most) = (pad(&row[0], column(0)), style.width.min(80));
        let mut detail = row[2].clone();
        if cycle.last() == Some(&wait.process) {
            detail = format!("{detail}   {} cycle of {}", style.mark(Mark::Cycle), cycle.len());
        }
        let line = format!("    {who}  {}  {detail}", pad(&row[1], column(1)));
        let line = clean(line.trim_end());
        if width(&line) <= most {
            out.push_str(&format!("{line}\n"));
            continue;
        }
        // What it waits for, and below it why that is not so.
        out.push_str(&hang(&clean(&format!("    {who}  ")), &clean(&row[1]), most));
        if !detail.is_empty() {
            out.push_str(&hang(&" ".repeat(width(&who) + 6), &clean(&detail), most));
        }
    }
    out
}

/// What the processes do that are not stuck where none is enabled.
fn resting(model: &Model, state: &State, stuck: &[ProcessId]) -> &'static str {
    let others: Vec<ProcessId> = model.processes.ids().filter(|id| !stuck.contains(id)).collect();
    let n_ended = others.iter().filter(|&&id| is_terminated(model, state, id)).count();
    match (others.len(), n_ended) {
        (1, 1) => "the other one has ended",
        (n_others, n_ended) if n_others == n_ended => "the others have ended",
        (1, 0) => "the other one may stay where it is",
        (_, 0) => "the others may stay where they are",
        _ => "the others have ended or may stay where they are",
    }
}

fn wait_row(run: &Run, state: &State, wait: &Wait) -> [String; 3] {
    let name = &run.model.processes[wait.process].name;
    let who = format!("{name} {}", location(&run.model, state, wait.process));
    let (what, mut detail) = match &wait.what {
        Awaited::Resource(resource) => (format!("waits for {resource}"), format!("{resource} is 0")),
        Awaited::Condition(text, values) => {
            let values: Vec<String> = values.iter().take(6).map(|(name, value)| fact(name, value)).collect();
            (format!("waits for {text}"), values.join(", "))
        }
        Awaited::Partner(channel, true) => (format!("waits to send on {channel}"), String::new()),
        Awaited::Partner(channel, false) => (format!("waits to receive on {channel}"), String::new()),
        Awaited::Statement(text) => (format!("cannot take `{text}`"), String::new()),
    };
    if !wait.holders.is_empty() {
        let holders: Vec<&str> = wait.holders.iter().map(|&id| run.model.processes[id].name.as_str()).collect();
        let itself = if wait.holders == [wait.process] { " itself" } else { "" };
        detail = format!("held by {}{itself}", holders.join(", "));
    }
    [who, what, detail]
}

/// Which processes can access the cell at once, and how.
fn racing(run: &Run, race: &Race, style: &Style) -> String {
    let mut out = format!("  {} can be accessed by two processes at once:\n", run.model.cells[race.cell].name);
    let name = |side: &Contender| clean(&run.model.processes[side.process].name);
    let column = race.contenders.iter().map(|side| width(&name(side))).max().unwrap_or(0);
    for side in &race.contenders {
        let statement = &run.model.statements[run.model.actions[side.action].statement];
        let verb = if side.writes { "writes it" } else { "reads it " };
        let left = format!("    {}  {verb}   {}", pad(&name(side), column), clean(&statement.text));
        let at = format!("line {}", line(&run.source, statement.span));
        out.push_str(&spread_cut(&left, &at, style.width.min(80), style));
        out.push('\n');
    }
    out
}

/// A mark in colour for an ending.
pub fn painted_ending(ending: &str, style: &Style) -> String {
    let ink = if ending.starts_with(style.mark(Mark::Holds)) { Ink::Good } else { Ink::Bad };
    style.paint(ink, ending)
}
