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
use model::process::ProcessId;
use serde_json::{Value as Json, json};

use super::end;
use super::escape::{code, escaped};
use super::film::Film;
use super::lanes;
use super::source::{Listing, steps as step_lines};
use super::table::{heads, table, wide};
use crate::human::trace;
use crate::human::trace::group_names;
use crate::numbers::{count, counted};
use crate::style::Style;

/// A trace on a page.
pub struct TracePanel {
    /// HTML.
    pub html: String,
    /// What the script steps through.
    pub data: Json,
}

/// Everything about a trace; `id` is the panel's.
pub fn show(run: &Explained, (result, trace): (&PropertyResult, &Trace), id: &str) -> TracePanel {
    let Some(told) = run.told_trace(result) else { return TracePanel { html: String::new(), data: Json::Null } };
    let film = Film::of(run, result, told);
    let title = format!("space-time diagram of {}", property_title(&run.model, result.property));
    let drawing = lanes::draw(&film, &title);
    let mut html = format!("<div class=\"trace\" data-trace=\"{id}\">\n");
    html.push_str(&end::html(run, result, trace));
    html.push_str(&cause(run, result));
    html.push_str("<h4>Step by step</h4>\n");
    html.push_str(&player(&film, id));
    html.push_str(&left_out(&film, drawing.n_left_out));
    html.push_str(&drawing.html);
    html.push_str(LEGEND);
    html.push_str(&format!("<div class=\"beside\" data-for=\"{id}\">\n"));
    let listing = Listing {
        source: &run.source,
        lines: step_lines(run),
        before: Default::default(),
        marks: Default::default(),
        title: "source, with the lines on which processes stand".to_owned(),
    };
    html.push_str(&format!("<div class=\"stand\" hidden><h5>Where everybody stands</h5>\n{}</div>\n", listing.html()));
    html.push_str(VALUES);
    html.push_str("</div>\n");
    html.push_str(&all_steps(&film));
    html.push_str(&end::loop_html(run, result, trace));
    html.push_str(&facts(result, trace));
    html.push_str("</div>\n");
    TracePanel { html, data: data(&film, drawing.column) }
}

/// The shape on the button that plays: a triangle between bars, so that it differs from one step on.
const PLAY: &str = "M1 3h2v10H1z M5 2v12l10-6z";

const LEGEND: &str = "<p class=\"legend\"><span><i class=\"key dot\"></i>takes a step</span><span>\
 <i class=\"key still\"></i>has a turn, stands still</span>\
 <span><i class=\"key writes\"></i>changes</span><span><i class=\"key reads\"></i>reads</span><span>\
 <i class=\"key switch\"></i>another process goes on</span></p>\n";

const VALUES: &str = "<div class=\"values\" hidden><h5>Values</h5><table><thead><tr><th scope=\"col\">variable</th>\
 <th scope=\"col\">value</th></tr></thead>\
 <tbody></tbody></table><p class=\"empty dim\" hidden>no variable changes in this step</p></div>\n";

/// The controls; a script shows them.
fn player(film: &Film<'_>, id: &str) -> String {
    let (first, last) = (film.first, film.first + film.steps.len());
    let button = |action: &str, shape: &str, words: &str| {
        format!(
            "<button type=\"button\" data-do=\"{action}\" title=\"{words}\" aria-label=\"{words}\">\
             <svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{shape}\"/></svg></button>"
        )
    };
    format!(
        "<div class=\"player\" hidden role=\"group\" aria-label=\"steps of the run\">{}{}{}{}{}\
         <input type=\"range\" min=\"{first}\" max=\"{last}\" value=\"{last}\" aria-label=\"step\" id=\"{id}-slider\">\
         <label class=\"switch-label\"><input type=\"checkbox\" class=\"only\" checked> only changes</label>\
         <p class=\"now\" role=\"status\" aria-live=\"polite\"></p></div>\n",
        button("first", "M2 3h2v10H2z M14 3v10L5 8z", "first state (Home)"),
        button("back", "M12 2v12L3 8z", "one step back (left arrow)"),
        button("play", PLAY, "play (space)"),
        button("next", "M4 2v12l9-6z", "one step on (right arrow)"),
        button("last", "M12 3h2v10h-2z M2 3v10l9-5z", "last state (End)"),
    )
}

/// What of the trace is not shown.
fn left_out(film: &Film<'_>, n_lanes: usize) -> String {
    let mut out = String::new();
    if film.first > 0 {
        out.push_str(&format!(
            "<p class=\"left-out\">The first {} are not drawn; the result document has them all.</p>\n",
            counted(film.first as u64, "step", "steps")
        ));
    }
    if n_lanes > 0 {
        out.push_str(&format!(
            "<p class=\"left-out\">{} not drawn.</p>\n",
            if n_lanes == 1 { "1 lane is".to_owned() } else { format!("{n_lanes} lanes are") }
        ));
    }
    let silent: Vec<ProcessId> = film.run.model.processes.ids().filter(|id| !film.processes.contains(id)).collect();
    if !silent.is_empty() {
        let verb = if silent.len() == 1 { "does" } else { "do" };
        let names = group_names(&film.run.model, &silent);
        out.push_str(&format!("<p class=\"left-out\">{} {verb} not move.</p>\n", escaped(&names)));
    }
    out
}

/// The likely cause, with the two lines between which somebody else moved.
fn cause(run: &Explained, result: &PropertyResult) -> String {
    let Some(cause) = run.trace(result).and_then(|shown| shown.cause.as_ref()) else { return String::new() };
    let lines = match cause.close_lines {
        None => String::new(),
        Some([first, second]) => {
            let listing = |line: u32| Listing {
                source: &run.source,
                lines: [line, line],
                before: Default::default(),
                marks: Default::default(),
                title: format!("line {line}"),
            };
            format!(
                "{}<p class=\"between\">another process can move between these</p>\n{}",
                listing(first).html(),
                listing(second).html()
            )
        }
    };
    format!("<div class=\"cause\"><h4>Likely cause</h4><p>{}</p>\n{lines}</div>\n", escaped(&cause.sentence))
}

/// All steps as a table: it needs no script.
fn all_steps(film: &Film<'_>) -> String {
    let mut head = heads(&["step", "line", "statement"]);
    for &process in &film.processes {
        head.push_str(&heads(&[&escaped(film.name(process))]));
    }
    head.push_str(&heads(&["shared"]));
    let mut rows = start_row(film);
    for (at, step) in film.steps.iter().enumerate() {
        rows.push_str(&row(film, at, step));
    }
    if !film.ending.is_empty() {
        let columns = film.processes.len() + 4;
        rows.push_str(&format!("<tr class=\"ending\"><td colspan=\"{columns}\">{}</td></tr>\n", escaped(&film.ending)));
    }
    let steps = wide("all steps", &table("steps", &head, &rows));
    format!("<details class=\"all-steps\" open><summary>All steps as a table</summary>\n{steps}</details>\n")
}

fn start_row(film: &Film<'_>) -> String {
    let mut out = format!("<tr data-step=\"{}\"><th scope=\"row\">{0}</th><td></td><td></td>", film.first);
    for places in &film.places {
        out.push_str(&format!("<td>{}</td>", escaped(&places[0])));
    }
    let shared = film.variables.iter().filter(|variable| variable.owner.is_none()).take(24);
    let values: Vec<String> = shared.map(|variable| format!("{} = {}", variable.name, variable.values[0])).collect();
    out + &format!("<td>{}</td></tr>\n", escaped(&values.join(", ")))
}

fn row(film: &Film<'_>, at: usize, step: &StepView) -> String {
    let number = film.first + at + 1;
    let inside = film.loop_from().is_some_and(|from| at >= from);
    let bracket = match film.loop_from() {
        Some(from) if at == from => " <span class=\"bracket\" title=\"the loop begins\">┌▶</span>",
        Some(_) if inside && at + 1 == film.steps.len() => " <span class=\"bracket\" title=\"the loop ends\">└─</span>",
        Some(_) if inside => " <span class=\"bracket\" title=\"in the loop\">│</span>",
        _ => "",
    };
    let switched = at > 0 && film.steps[at - 1].process != step.process;
    let class = if switched { " class=\"switched\"" } else { "" };
    let mut out = format!(
        "<tr data-step=\"{number}\"{class}><th scope=\"row\">{number}{bracket}</th><td>{}</td><td>{}</td>",
        step.line,
        code(&step.statement)
    );
    for &process in &film.processes {
        out.push_str(&format!("<td>{}</td>", cell(step, process)));
    }
    let shared = step.shown.iter().filter(|change| change.owner.is_none());
    let style = Style::default();
    let mut parts: Vec<String> = shared.map(|change| trace::change_text(change, &change.name, &style)).collect();
    parts.extend(notes(film, at, step));
    out + &format!("<td>{}</td></tr>\n", escaped(&parts.join(", ")))
}

/// What a step is to one process: where it went, what of its own changed.
fn cell(step: &StepView, process: ProcessId) -> String {
    let style = Style::default();
    let own = step.shown.iter().filter(|change| change.owner == Some(process));
    let mut parts: Vec<String> = own.map(|change| trace::change_text(change, &change.own_name, &style)).collect();
    if let Some(moved) = step.moved.iter().find(|moved| moved.process == process) {
        let went =
            if step.stands_still { "stands still".to_owned() } else { format!("{} → {}", moved.from, moved.to) };
        parts.insert(0, went);
    }
    if parts.is_empty() { "<span class=\"dim\">·</span>".to_owned() } else { escaped(&parts.join("; ")) }
}

/// What the step looked at, where it changed nothing that others see.
fn notes(film: &Film<'_>, at: usize, step: &StepView) -> Vec<String> {
    let drawing = trace::TraceDrawing { told: film.told, named: &[], ending: "", in_full: true };
    trace::read_notes(&drawing, film.first + at + 1, step)
}

/// How long the trace is, and that it is real.
fn facts(result: &PropertyResult, trace: &Trace) -> String {
    let turns = if matches!(trace.end, TraceEnd::Loop) { ("turn", "turns") } else { ("step", "steps") };
    let length = counted(trace.n_steps() as u64, turns.0, turns.1);
    let switches = counted(trace.n_context_switches() as u64, "context switch", "context switches");
    let is_shortest = result.method == "mono" && trace.loop_from.is_none();
    let shortest = if is_shortest { "; there is no shorter one, and none as short with fewer switches" } else { "" };
    let replayed =
        if result.audit.is_accepted() { " ✔ Replayed on the reference semantics: it is a real run." } else { "" };
    format!("<p class=\"dim\">{length}, {switches}{shortest}.{replayed}</p>\n")
}

/// What the script needs: where everybody stands and what everything is, state by state.
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
                "statement": if step.stands_still { "" } else { step.statement.as_str() },
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
