//! What the end of a trace shows, as HTML: which part of a property fails for whom, the erring statement, who waits
//! for whom, the race; of a lasso who could move in its loop and who did, and which assumption would exclude it.

use engine::insight::Outcome;
use engine::run::{PropertyResult, Run};
use evidence::{Trace, TraceEnd};
use explain::Explained;
use explain::lasso::Looped;
use explain::names::{line, location, own_variables, property_title, shared_variables};
use model::process::ProcessId;
use serde_json::Value as Json;

use super::escape::{code, escaped};
use super::table::{heads, row, table, wide};
use crate::human::insight::{counted_turns, meaning};
use crate::human::trace::group_names;
use crate::json::{end as document, value_of};
use crate::numbers::counted;

/// Longer lists are cut.
const MOST_ROWS: usize = 60;

/// What the trace shows, in a box under the verdict.
pub fn html(run: &Explained, result: &PropertyResult, trace: &Trace) -> String {
    let shown = value_of(&document(run, result, trace));
    let text = |key: &str| shown[key].as_str().unwrap_or_default().to_owned();
    let when = match trace.n_steps() {
        0 => "at the start".to_owned(),
        n_steps => format!("after step {n_steps}"),
    };
    let inner = match text("kind").as_str() {
        "state" => because(&shown["because"], &when),
        "error" => format!(
            "<p>The next step of {} is an error, {when}: {} (line {})</p>\n<p>{}</p>\n",
            code(&text("process")),
            code(&text("action")),
            shown["line"],
            escaped(&text("message"))
        ),
        "deadlock" => waiting(&shown, &when),
        "race" => racing(&shown, &when),
        _ => String::new(),
    };
    let stacks = stacks(run, trace) + &whole_state(run, result, trace);
    if inner.is_empty() && stacks.is_empty() {
        String::new()
    } else {
        format!("<div class=\"shows\">{inner}{stacks}</div>\n")
    }
}

/// The last state, all of it: where everybody is and what everything holds; who the failure names is marked.
fn whole_state(run: &Explained, result: &PropertyResult, trace: &Trace) -> String {
    let (Some(last), Some(told)) = (trace.states.last(), run.trace(result)) else { return String::new() };
    let named: Vec<_> = told.why.iter().flat_map(|why| why.processes.iter().copied()).collect();
    let values = |variables: Vec<(String, String)>| {
        let all = variables.into_iter().map(|(name, value)| escaped(&format!("{name} = {value}")));
        all.collect::<Vec<_>>().join(", ")
    };
    let mut rows = String::new();
    let shared = values(shared_variables(&run.model, last));
    if !shared.is_empty() {
        rows.push_str(&format!("<tr><th scope=\"row\">shared</th><td></td><td>{shared}</td></tr>\n"));
    }
    let told = |process: ProcessId| {
        let place = escaped(&location(&run.model, last, process));
        (named.contains(&process), place, values(own_variables(&run.model, last, process)))
    };
    // Neighbours that are alike share a row.
    let ids: Vec<ProcessId> = run.model.processes.ids().collect();
    for alike in ids.chunk_by(|&one, &other| told(one) == told(other) && !named.contains(&one)).take(MOST_ROWS) {
        let (is_named, place, values) = told(alike[0]);
        let class = if is_named { " class=\"named\"" } else { "" };
        let who = escaped(&group_names(&run.model, alike));
        rows.push_str(&format!("<tr{class}><th scope=\"row\">{who}</th><td>{place}</td><td>{values}</td></tr>\n"));
    }
    let title = match (trace.n_steps(), trace.loop_from) {
        (0, _) => "The first state".to_owned(),
        (n_steps, Some(from)) => format!("The whole state after step {n_steps}, the same as after step {from}"),
        (n_steps, None) => format!("The whole state after step {n_steps}"),
    };
    format!("<h5>{title}</h5>{}", table("whole", &heads(&["", "at", "values"]), &rows))
}

fn items(list: &Json) -> &[Json] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn because(parts: &Json, when: &str) -> String {
    let mut out = String::new();
    for part in items(parts) {
        let bindings = part["for"].as_object().into_iter().flatten();
        let bindings: Vec<String> = bindings.map(|(name, value)| code(&format!("{name} = {}", plain(value)))).collect();
        let whom = if bindings.is_empty() { String::new() } else { format!(" for {}", bindings.join(", ")) };
        let text = part["part"].as_str().unwrap_or_default();
        out.push_str(&format!("<p>{} is <strong>{}</strong>{whom}, {when}</p>\n", code(text), part["is"]));
    }
    out
}

/// A value of the document without the quotes of a text.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn waiting(shown: &Json, when: &str) -> String {
    let mut rows = String::new();
    let stuck = items(&shown["stuck"]);
    for wait in stuck.iter().take(MOST_ROWS) {
        let text = |key: &str| escaped(wait[key].as_str().unwrap_or_default());
        let held: Vec<String> = items(&wait["held_by"]).iter().map(|name| escaped(&plain(name))).collect();
        let waits_for = code(wait["waits_for"].as_str().unwrap_or_default());
        rows.push_str(&row(&text("process"), &[&text("at"), &waits_for, &held.join(", ")]));
    }
    let cycle: Vec<String> = items(&shown["cycle"]).iter().map(|name| escaped(&plain(name))).collect();
    let cycle = match &cycle[..] {
        [first, _, ..] => format!("<p>↺ they wait in a circle: {} → {first}</p>\n", cycle.join(" → ")),
        _ => String::new(),
    };
    let number = counted(stuck.len() as u64, "process is", "processes are");
    let table = table("", &heads(&["process", "at", "waits for", "held by"]), &rows);
    format!("<p>Nobody can move {when}, and {number} stuck:</p>\n{}{}{cycle}", wide("", &table), left_out(stuck.len()))
}

fn left_out(n_rows: usize) -> String {
    match n_rows.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!("<p class=\"left-out\">and {more} more</p>\n"),
    }
}

fn racing(shown: &Json, when: &str) -> String {
    let mut rows = String::new();
    for side in items(&shown["contenders"]) {
        let text = |key: &str| side[key].as_str().unwrap_or_default();
        let verb = if side["writes"] == Json::Bool(true) { "writes it" } else { "reads it" };
        let line = format!("line {}", side["line"]);
        rows.push_str(&row(&escaped(text("process")), &[verb, &code(text("action")), &line]));
    }
    let variable = code(shown["variable"].as_str().unwrap_or_default());
    let table = wide("", &table("", "", &rows));
    format!("<p>{variable} can be accessed by two processes at once {when}:</p>\n{table}")
}

/// The call stacks in the last state.
fn stacks(run: &Run, trace: &Trace) -> String {
    let Some(last) = trace.states.last() else { return String::new() };
    let mut out = String::new();
    for (id, process) in run.model.processes.entries() {
        let frames = explain::names::call_stack(&run.model, last, id);
        if frames.len() < 3 || matches!(trace.end, TraceEnd::Loop) {
            continue;
        }
        let shown: Vec<String> = frames.iter().rev().take(12).rev().map(|frame| code(frame)).collect();
        let cut = if frames.len() > 12 { "… ▸ " } else { "" };
        out.push_str(&format!("<p>stack of {}: {cut}{}</p>\n", escaped(&process.name), shown.join(" ▸ ")));
    }
    out
}

/// Who could move in the loop of a lasso and who did, how it satisfies what is assumed, and what would exclude it.
pub fn loop_html(run: &Run, result: &PropertyResult, trace: &Trace) -> String {
    let Some(looped) = Looped::of(&run.model, trace) else { return String::new() };
    let mut rows = String::new();
    let shares = looped.shares();
    for share in shares.iter().take(MOST_ROWS) {
        let able = format!("{} of {} states", share.n_able, share.n_states);
        let moves = if share.n_moves == 0 { "never".to_owned() } else { share.n_moves.to_string() };
        let still = if share.n_still == 0 { "–".to_owned() } else { share.n_still.to_string() };
        rows.push_str(&row(&escaped(&share.name), &[&able, &moves, &still]));
    }
    let turns = counted(looped.turns.len() as u64, "turn", "turns");
    let shown = table("", &heads(&["process", "enabled in", "steps taken", "stands still"]), &rows);
    let mut out = format!("<h4>In the loop of {turns}</h4>\n{}{}", wide("", &shown), left_out(shares.len()));
    let assumptions = looped.assumptions(run, result.property);
    if !assumptions.is_empty() {
        let rows: String = assumptions.iter().map(|(name, how)| row(&code(name), &[&escaped(how)])).collect();
        out.push_str(&wide("", &table("", &heads(&["assumed", "in this loop"]), &rows)));
    }
    out + &remedy(run, result)
}

/// What would exclude such a run, as it was tried.
fn remedy(run: &Run, result: &PropertyResult) -> String {
    let Some(first) = result.insight.remedies.first() else { return String::new() };
    let assumes = run.model.properties[result.property].under.any_of.iter().any(|set| !set.is_empty());
    let allowed = match assumes {
        true => "This run is allowed by what is assumed.",
        false => "This run is allowed: nothing is assumed about who has a turn.",
    };
    match first.outcome {
        Outcome::Unknown => String::new(),
        Outcome::Violated(turns) => format!(
            "<div class=\"remedy\"><h4>What would exclude it</h4><p>{allowed} Fairness alone does not help: even \
             where everybody has turns and takes each \
             labelled step that it can take again and again, there is a run that violates the property, with a loop of {}.</p>\
             </div>\n",
            counted_turns(turns)
        ),
        Outcome::Holds => {
            let added: String =
                first.added.iter().map(|text| format!("<li>{} {}</li>\n", code(text), meaning(text))).collect();
            let with = if first.added.len() == 1 { "it" } else { "them" };
            let title = escaped(&property_title(&run.model, result.property));
            let at = line(&run.source, run.model.properties[result.property].span);
            format!(
                "<div class=\"remedy\"><h4>What would exclude it</h4><p>{allowed} It would be excluded \
                 by</p>\n<ul>{added}</ul>\n\
                 <p class=\"tone-good\"><strong>✔ Tried: with {with}, {title} holds.</strong>\
                 </p>\n<p>line {at}: {}</p></div>\n",
                code(&format!("under {};", first.under))
            )
        }
    }
}
