//! A counterexample or a witness on a page: what its end shows, the diagram, the steps one by one, a table of all of
//! them.
//!
//! In: a run, one of its results, its trace. Out: HTML that can be read as it is, and the data with which a script
//! steps through it. Without the script, the diagram and the table tell everything.

use engine::run::PropertyResult;
use evidence::{Trace, TraceEnd};
use explain::Explained;
use explain::names::property_title;
use explain::steps::StepView;
use maud::{Markup, html};
use model::process::ProcessId;
use serde_json::{Value as Json, json};

use super::end;
use super::escape::code;
use super::film::Film;
use super::lanes;
use super::source::{Listing, steps as step_lines};
use super::table::{self, heads, table, wide};
use crate::human::change_text;
use crate::human::trace::{self, group_names};
use crate::numbers::{count, counted};
use crate::style::Style;

/// A trace on a page.
pub struct TracePanel {
    /// HTML.
    pub html: Markup,
    /// What the script steps through.
    pub data: Json,
}

/// Everything about a trace; `id` is the panel's.
pub fn show(run: &Explained, (result, trace): (&PropertyResult, &Trace), id: &str) -> TracePanel {
    let Some(explanation) = run.explained_trace(result) else {
        return TracePanel { html: Markup::default(), data: Json::Null };
    };
    let film = Film::of(run, result, explanation);
    let title = format!("space-time diagram of {}", property_title(&run.model, result.property));
    let drawing = lanes::draw(&film, &title);
    let listing = Listing {
        source: &run.source,
        lines: step_lines(run),
        before: Default::default(),
        marks: Default::default(),
        title: "source, with the lines on which processes stand".to_owned(),
    };
    let html = html! {
        div.trace data-trace=(id) {
            (end::html(run, result, trace))
            (cause(run, result))
            h4 { "Step by step" }
            (player(&film, id))
            (left_out(&film, drawing.n_left_out))
            (drawing.html)
            (legend())
            div.beside data-for=(id) {
                div.stand hidden { h5 { "Where everybody stands" } (listing.html()) }
                (values())
            }
            (all_steps(&film))
            (end::loop_html(run, result, trace))
            (facts(result, trace))
        }
    };
    TracePanel { html, data: data(&film, drawing.column) }
}

/// The shape on the button that plays: a triangle between bars, so that it differs from one step on.
const PLAY: &str = "M1 3h2v10H1z M5 2v12l10-6z";

fn legend() -> Markup {
    html! {
        p.legend {
            span { i class="key dot" {} "takes a step" }
            span { i class="key still" {} "has a turn, stands still" }
            span { i class="key writes" {} "changes" }
            span { i class="key reads" {} "reads" }
            span { i class="key switch" {} "another process goes on" }
        }
    }
}

/// Room for the values of a state; a script fills it.
fn values() -> Markup {
    html! {
        div.values hidden {
            h5 { "Values" }
            (table(None, heads(&["variable", "value"]), Markup::default()))
            p class="empty dim" hidden { "no variable changes in this step" }
        }
    }
}

/// The controls; a script shows them.
fn player(film: &Film<'_>, id: &str) -> Markup {
    let (first, last) = (film.first, film.first + film.steps.len());
    let buttons = [
        ("first", "M2 3h2v10H2z M14 3v10L5 8z", "first state (Home)"),
        ("back", "M12 2v12L3 8z", "one step back (left arrow)"),
        ("play", PLAY, "play (space)"),
        ("next", "M4 2v12l9-6z", "one step on (right arrow)"),
        ("last", "M12 3h2v10h-2z M2 3v10l9-5z", "last state (End)"),
    ];
    html! {
        div.player hidden role="group" aria-label="steps of the run" {
            @for (action, shape, words) in buttons {
                button type="button" data-do=(action) title=(words) aria-label=(words) {
                    svg viewBox="0 0 16 16" aria-hidden="true" { path d=(shape) {} }
                }
            }
            input type="range" min=(first) max=(last) value=(last) aria-label="step" id={ (id) "-slider" };
            label.switch-label { input.only type="checkbox" checked; " only changes" }
            p.now role="status" aria-live="polite" {}
        }
    }
}

/// What of the trace is not shown.
fn left_out(film: &Film<'_>, n_lanes: usize) -> Markup {
    let silent: Vec<ProcessId> = film.run.model.processes.ids().filter(|id| !film.processes.contains(id)).collect();
    let steps = counted(film.first as u64, "step", "steps");
    let lanes = if n_lanes == 1 { "1 lane is".to_owned() } else { format!("{n_lanes} lanes are") };
    let verb = if silent.len() == 1 { "does" } else { "do" };
    html! {
        @if film.first > 0 {
            (table::left_out(format_args!("The first {steps} are not drawn; the result document has them all.")))
        }
        @if n_lanes > 0 { (table::left_out(format_args!("{lanes} not drawn."))) }
        @if !silent.is_empty() {
            (table::left_out(format_args!("{} {verb} not move.", group_names(&film.run.model, &silent))))
        }
    }
}

/// The likely cause, with the two lines between which another process stepped.
fn cause(run: &Explained, result: &PropertyResult) -> Markup {
    let Some(cause) = run.trace(result).and_then(|shown| shown.cause.as_ref()) else { return Markup::default() };
    let listing = |line: u32| Listing {
        source: &run.source,
        lines: [line, line],
        before: Default::default(),
        marks: Default::default(),
        title: format!("line {line}"),
    };
    html! {
        div.cause {
            h4 { "Likely cause" }
            p { (cause.sentence) }
            @if let Some([first, second]) = cause.close_lines {
                (listing(first).html())
                p.between { "another process can move between these" }
                (listing(second).html())
            }
        }
    }
}

/// More processes share a column of the table of all steps.
const MOST_COLUMNS: usize = 8;

/// All steps as a table: it needs no script. A column for each process, or where there are many one for all.
fn all_steps(film: &Film<'_>) -> Markup {
    let each: Vec<&str> = film.processes.iter().map(|&process| film.name(process)).collect();
    let names = if each.len() > MOST_COLUMNS { &["who moves"] } else { &each[..] };
    let head = [&["step", "line", "statement"], names, &["shared"]].concat();
    let rows = html! {
        (start_row(film))
        @for (at, step) in film.steps.iter().enumerate() { (row(film, at, step)) }
        @if !film.ending.is_empty() { tr.ending { td colspan=(head.len()) { (film.ending) } } }
    };
    html! {
        details.all-steps open {
            summary { "All steps as a table" }
            (wide("all steps", table(Some("steps"), heads(&head), rows)))
        }
    }
}

fn start_row(film: &Film<'_>) -> Markup {
    let shared = film.variables.iter().filter(|variable| variable.owner.is_none()).take(24);
    let values: Vec<String> = shared.map(|variable| format!("{} = {}", variable.name, variable.values[0])).collect();
    html! {
        tr data-step=(film.first) {
            th scope="row" { (film.first) }
            td {}
            td {}
            @if film.processes.len() > MOST_COLUMNS { td {} } @else { @for places in &film.places { td { (places[0]) } } }
            td { (values.join(", ")) }
        }
    }
}

fn row(film: &Film<'_>, at: usize, step: &StepView) -> Markup {
    let number = film.first + at + 1;
    let inside = film.loop_from().is_some_and(|from| at >= from);
    let bracket = match film.loop_from() {
        Some(from) if at == from => Some(("┌▶", "the loop begins")),
        Some(_) if inside && at + 1 == film.steps.len() => Some(("└─", "the loop ends")),
        Some(_) if inside => Some(("│", "in the loop")),
        _ => None,
    };
    let switched = at > 0 && film.steps[at - 1].process != step.process;
    let shared = step.shown.iter().filter(|change| change.owner.is_none());
    let style = Style::default();
    let mut parts: Vec<String> = shared.map(|change| change_text(change, &change.name, &style)).collect();
    parts.extend(notes(film, at, step));
    html! {
        tr data-step=(number) class=[switched.then_some("switched")] {
            th scope="row" {
                (number)
                @if let Some((mark, meaning)) = bracket { " " span.bracket title=(meaning) { (mark) } }
            }
            td { (step.line) }
            td { (code(&step.statement_with_outcome())) }
            @if film.processes.len() > MOST_COLUMNS {
                td { (who_moves(film, step)) }
            } @else {
                @for &process in &film.processes {
                    @let text = explanation(step, process);
                    td { @if text.is_empty() { span.dim { "·" } } @else { (text) } }
                }
            }
            td { (parts.join(", ")) }
        }
    }
}

/// What a step is to one process: where it went, what of its own changed; empty where it is nothing.
fn explanation(step: &StepView, process: ProcessId) -> String {
    let style = Style::default();
    let own = step.shown.iter().filter(|change| change.owner == Some(process));
    let mut parts: Vec<String> = own.map(|change| change_text(change, &change.own_name, &style)).collect();
    if let Some(moved) = step.moved.iter().find(|moved| moved.process == process) {
        let went =
            if step.stands_still { "stands still".to_owned() } else { format!("{} → {}", moved.from, moved.to) };
        parts.insert(0, went);
    }
    parts.join("; ")
}

/// What a step is to each process of it.
fn who_moves(film: &Film<'_>, step: &StepView) -> String {
    let all = film.processes.iter().map(|&process| (film.name(process), explanation(step, process)));
    let parts: Vec<String> =
        all.filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}")).collect();
    parts.join("; ")
}

/// What the step read, where it changed nothing that others see.
fn notes(film: &Film<'_>, at: usize, step: &StepView) -> Vec<String> {
    let drawing = trace::TraceDrawing { explanation: film.explanation, named: &[], ending: "", in_full: true };
    trace::read_notes(&drawing, film.first + at + 1, step)
}

/// How long the trace is, and that it is real.
fn facts(result: &PropertyResult, trace: &Trace) -> Markup {
    let turns = if matches!(trace.end, TraceEnd::Loop) { ("turn", "turns") } else { ("step", "steps") };
    let length = counted(trace.n_steps() as u64, turns.0, turns.1);
    let switches = counted(trace.n_context_switches() as u64, "context switch", "context switches");
    let is_shortest = result.method == "mono" && trace.loop_from.is_none();
    let shortest = if is_shortest { "; there is no shorter one, and none as short with fewer switches" } else { "" };
    let replayed =
        if result.audit.is_accepted() { " ✔ Replayed on the reference semantics: it is a real run." } else { "" };
    html! { p.dim { (length) ", " (switches) (shortest) "." (replayed) } }
}

/// What the script needs: the place of every process and the value of everything, state by state.
fn data(film: &Film<'_>, column: f64) -> Json {
    let names: Vec<&str> = film.processes.iter().map(|&process| film.name(process)).collect();
    let position = |process: ProcessId| film.processes.iter().position(|&known| known == process);
    let states: Vec<Json> = (0..film.n_states())
        .map(|state| film.processes.iter().map(|&process| json!(film.line(state, process))).collect())
        .collect();
    let variables: Vec<Json> = film
        .variables
        .iter()
        .map(|variable| {
            let mut changes = vec![json!([0, variable.values[0]])];
            let at = (1..variable.values.len()).filter(|&at| variable.values[at] != variable.values[at - 1]);
            changes.extend(at.map(|at| json!([at, variable.values[at]])));
            json!({ "name": variable.name, "of": variable.owner.map(|owner| film.name(owner)), "values": changes })
        })
        .collect();
    let steps: Vec<Json> = film
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let went: Vec<String> = step
                .moved
                .iter()
                .map(|moved| match step.stands_still {
                    true => format!("{} stands still at {}", film.name(moved.process), moved.from),
                    false => format!("{}: {} → {}", film.name(moved.process), moved.from, moved.to),
                })
                .collect();
            json!({
                "by": position(step.process),
                "line": step.line,
                "statement": if step.stands_still { String::new() } else { step.statement_with_outcome() },
                "went": went.join("; "),
                "reads": notes(film, at, step),
            })
        })
        .collect();
    json!({
        "first": film.first,
        "column": column,
        "processes": names,
        "lines": states,
        "steps": steps,
        "variables": variables,
        "loop": film.trace.loop_from,
        "ending": film.ending,
        "length": count(film.trace.n_steps() as u64),
    })
}
