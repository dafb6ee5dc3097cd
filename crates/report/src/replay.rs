//! What `replay` says: a trace step by step, with whole states on request.

use evidence::{Trace, TraceEnd};
use explain::explained::ExplainedSteps;
use explain::names::{location, own_variables, shared_variables};
use explain::steps::{StepView, step};
use model::Model;

use crate::Page;
use crate::human::{TraceDrawing, draw_trace};
use crate::numbers::counted;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang, spread_cut};

/// That the trace is a run of the program, and decides the property that it is about.
pub fn accepted(model: &Model, property: Option<&str>, trace: &Trace, style: &Style) -> String {
    let decides = property.map_or(String::new(), |property| format!(", and decides {}", clean(property)));
    let steps = counted(trace.n_steps() as u64, "step", "steps");
    let text = format!("{} the trace is a run of {}: {steps}{decides}", style.mark(Mark::Holds), clean(&model.name));
    style.paint(Ink::Good, &text) + "\n"
}

/// That what SPIN printed is a run of the program, and what it shows: the properties that it decides, or what changes in its cycle.
pub fn followed(model: &Model, (decides, changes): (&[String], &[String]), trace: &Trace, style: &Style) -> String {
    let list = |names: &[String]| names.iter().map(|name| clean(name)).collect::<Vec<_>>().join(", ");
    let names = || list(decides);
    let ending = match trace.end {
        _ if !changes.is_empty() => {
            format!("; its cycle does not come back to a state, for it changes {}", list(changes))
        }
        _ if decides.is_empty() => String::new(),
        TraceEnd::Fault { .. } => format!(", and ends in an error ({})", names()),
        TraceEnd::Deadlock => format!(", and ends in an invalid end state ({})", names()),
        TraceEnd::Loop => format!(", and goes round for ever, which violates {}", names()),
        TraceEnd::State | TraceEnd::Race(_) => format!(", and violates {}", names()),
    };
    let steps = counted(trace.n_steps() as u64, "step", "steps");
    let text = format!("{} the trail is a run of {}: {steps}{ending}", style.mark(Mark::Holds), clean(&model.name));
    style.paint(Ink::Good, &text) + "\n"
}

/// Why the trace is refused.
pub fn refused(model: &Model, why: &str, style: &Style) -> String {
    let head = format!("{} the trace is no run of {}", style.mark(Mark::Violated), clean(&model.name));
    format!("{}\n{}", style.paint(Ink::Bad, &head), hang("  ", &clean(why), style.width.min(80)))
}

/// The whole trace by process.
pub fn text(page: Page<'_>, trace: &Trace) -> String {
    let Page { model, source, style } = page;
    let steps = ExplainedSteps::of(trace);
    let explanation = steps.of_trace(model, source, trace);
    draw_trace(&TraceDrawing { explanation, named: &[], ending: "", in_full: true }, style)
}

/// State number `nth` of the trace with the step that led to it: its process and statement, what changed, and the whole state.
pub fn state(page: Page<'_>, trace: &Trace, nth: usize) -> String {
    let Page { model, source, style } = page;
    let Some(state) = trace.states.get(nth) else { return String::new() };
    let mut out = match nth.checked_sub(1) {
        None => format!("{}\n", style.paint(Ink::Strong, "step 0   the initial state")),
        Some(before) => {
            let view = step(model, source, &trace.turns[before], [&trace.states[before], state]);
            step_head(model, nth, &view, style)
        }
    };
    out.push_str(&whole_state(model, state, style));
    out
}

/// `step 3   P[1]  test: await …   line 8`, and what changed.
fn step_head(model: &Model, nth: usize, view: &StepView, style: &Style) -> String {
    let who: Vec<&str> = view.moved.iter().map(|moved| model.processes[moved.process].name.as_str()).collect();
    let left = format!("step {nth}   {}   {}", who.join(" with "), clean(&view.statement));
    let head = spread_cut(&left, &format!("line {}", view.line), style.width.min(80), style);
    let mut out = format!("{}\n", style.paint(Ink::Strong, &head));
    out.push_str(&changes(model, view, style));
    out
}

/// Where the movers went, and what changed; one item a line where they are long.
fn changes(model: &Model, view: &StepView, style: &Style) -> String {
    let arrow = style.mark(Mark::Arrow);
    let moves = view
        .moved
        .iter()
        .map(|moved| format!("{}: {} {arrow} {}", model.processes[moved.process].name, moved.from, moved.to));
    let changed = view.shown.iter().map(|change| crate::human::change_text(change, &change.name, style));
    let text = moves.chain(changed).collect::<Vec<_>>().join(", ");
    hang("  ", &clean(&text), style.width.min(80))
}

/// Every process with its place and variables, then the shared variables.
pub fn whole_state(model: &Model, state: &model::eval::State, style: &Style) -> String {
    let columns = style.width.min(80);
    let mut out = String::new();
    let pairs = |pairs: Vec<(String, String)>| {
        pairs.into_iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("  ")
    };
    for (id, process) in model.processes.entries() {
        let text = format!("@{}  {}", location(model, state, id), pairs(own_variables(model, state, id)));
        out.push_str(&hang(&format!("    {:<10} ", clean(&process.name)), &clean(text.trim()), columns));
    }
    let shared = shared_variables(model, state);
    if !shared.is_empty() {
        out.push_str(&hang(&format!("    {:<10} ", "shared"), &clean(&pairs(shared)), columns));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::broken_lock;
    use engine::Verdict;
    use evidence::Evidence;

    #[test]
    fn step_by_step() {
        let run = broken_lock(2);
        let Verdict::Violated(Evidence::Trace(trace)) = &run.results[0].verdict else { panic!("the lock is broken") };
        let style = Style::default();
        let mut out = accepted(&run.model, Some("mutex"), trace, &style);
        for nth in 0..=trace.n_steps() {
            out.push_str(&state(Page { model: &run.model, source: &run.source, style: &style }, trace, nth));
        }
        out.push_str(&refused(&run.model, "state 3: the evidence claims that …", &style));
        crate::testing::assert_shown("replay__step_by_step", &out);
    }
}
