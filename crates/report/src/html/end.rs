//! What the end of a trace shows, as HTML: which part of a property fails for which process, the erring statement, which process waits
//! for which, the race; of a lasso which processes are enabled in its loop and which step, and which assumption would exclude it.

use std::collections::BTreeSet;

use engine::insight::AssumedOutcome;
use engine::run::{PropertyResult, Run};
use evidence::{Trace, TraceEnd};
use explain::Explained;
use explain::lasso::{LoopShare, Looped};
use explain::names::{line, location, own_variables, property_title, shared_variables};
use maud::{Markup, html};
use model::process::ProcessId;
use serde_json::Value as Json;

use super::escape::{code, joined, sentence};
use super::table::{folded, heads, left_out, row, table, wide};
use crate::human::insight::{counted_turns, meaning};
use crate::human::trace::group_names;
use crate::json::{end as document, value_of};
use crate::numbers::counted;

/// Longer lists are cut.
const MOST_ROWS: usize = 60;
/// Of more processes that are stuck, the others are folded away.
const FEW_STUCK: usize = 8;

/// What the trace shows, in a box under the verdict.
pub fn html(run: &Explained, result: &PropertyResult, trace: &Trace) -> Markup {
    let shown = value_of(&document(run, result, trace));
    let text = |key: &str| shown[key].as_str().unwrap_or_default();
    let when = match trace.n_steps() {
        0 => "at the start".to_owned(),
        n_steps => format!("after step {n_steps}"),
    };
    let why = match text("kind") {
        "state" => because(&shown["because"], &when),
        "error" => html! {
            p {
                "The next step of " (code(text("process"))) " is an error, " (when) ": " (code(text("action")))
                " (line " (plain(&shown["line"])) ")"
            }
            p { (sentence(text("message"))) }
        },
        "deadlock" => waiting(&shown, &when),
        "race" => racing(&shown, &when),
        _ => match run.trace(result).and_then(|explanation| explanation.owed.as_ref()) {
            Some(owed) => html! { p { (sentence(&owed.text)) } },
            None => Markup::default(),
        },
    };
    let shows = html! { (why) (stacks(run, trace)) (whole_state(run, result, trace)) };
    html! { @if !shows.0.is_empty() { div.shows { (shows) } } }
}

/// The last state, all of it: the place of every process and the value of everything; what the failure names is marked.
fn whole_state(run: &Explained, result: &PropertyResult, trace: &Trace) -> Markup {
    let (Some(last), Some(explanation)) = (trace.states.last(), run.trace(result)) else { return Markup::default() };
    let owing = explanation.owed.iter().flat_map(|owed| owed.processes.iter().copied());
    let named: Vec<_> = explanation.why.iter().flat_map(|why| why.processes.iter().copied()).chain(owing).collect();
    let values = |variables: Vec<(String, String)>| {
        let all = variables.into_iter().map(|(name, value)| format!("{name} = {value}"));
        all.collect::<Vec<_>>().join(", ")
    };
    let shared = values(shared_variables(&run.model, last));
    let explanation = |process: ProcessId| {
        let place = location(&run.model, last, process);
        (named.contains(&process), place, values(own_variables(&run.model, last, process)))
    };
    // Equal neighbours share a row.
    let ids: Vec<ProcessId> = run.model.processes.ids().collect();
    let rows = html! {
        @if !shared.is_empty() { tr { th scope="row" { "shared" } td {} td { (shared) } } }
        @for alike in ids.chunk_by(|&one, &other| explanation(one) == explanation(other) && !named.contains(&one)).take(MOST_ROWS) {
            @let (is_named, place, values) = explanation(alike[0]);
            tr class=[is_named.then_some("named")] {
                th scope="row" { (group_names(&run.model, alike)) }
                td { (place) }
                td { (values) }
            }
        }
    };
    let title = match (trace.n_steps(), trace.loop_from) {
        (0, _) => "The first state".to_owned(),
        (n_steps, Some(from)) => format!("The whole state after step {n_steps}, the same as after step {from}"),
        (n_steps, None) => format!("The whole state after step {n_steps}"),
    };
    html! { h5 { (title) } (table(Some("whole"), heads(&["", "at", "values"]), rows)) }
}

fn items(list: &Json) -> &[Json] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn because(parts: &Json, when: &str) -> Markup {
    let bindings = |part: &Json| -> Vec<Markup> {
        let bindings = part["for"].as_object().into_iter().flatten();
        bindings.map(|(name, value)| code(&format!("{name} = {}", index(&plain(value))))).collect()
    };
    html! {
        @for part in items(parts) {
            @let whom = bindings(part);
            p {
                (code(part["part"].as_str().unwrap_or_default())) " is " strong { (plain(&part["is"])) }
                @if !whom.is_empty() { " for " (joined(&whom, ", ")) }
                ", " (when)
            }
        }
    }
}

/// What a quantifier names: of a process its index, as in `P[i]`.
fn index(value: &str) -> &str {
    value.strip_suffix(']').and_then(|text| text.rsplit_once('[')).map_or(value, |(_, index)| index)
}

/// A value of the document without the quotes of a text.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn waiting(shown: &Json, when: &str) -> Markup {
    let stuck = items(&shown["stuck"]);
    let is_held = stuck.iter().any(|wait| !items(&wait["held_by"]).is_empty());
    let names = |list: &Json| items(list).iter().map(plain).collect::<Vec<_>>();
    let line = |wait: &Json| {
        let text = |key: &str| wait[key].as_str().unwrap_or_default();
        let holders = names(&wait["held_by"]).join(", ");
        match is_held {
            true => row(text("process"), &[&text("at"), &code(text("waits_for")), &holders]),
            false => row(text("process"), &[&text("at"), &code(text("waits_for"))]),
        }
    };
    let rows_of = |some: &[Json]| {
        let rows = html! { @for wait in some { (line(wait)) } };
        let all = ["process", "at", "waits for", "held by"];
        wide("", table(None, heads(if is_held { &all } else { &all[..3] }), rows))
    };
    let (few, more) = stuck.split_at(if stuck.len() > FEW_STUCK + 1 { FEW_STUCK } else { stuck.len() });
    // A process that may go on in several ways waits for several things.
    let processes: BTreeSet<&str> = stuck.iter().filter_map(|wait| wait["process"].as_str()).collect();
    let number = counted(processes.len() as u64, "process is", "processes are");
    html! {
        p { "Nobody can move " (when) ", and " (number) " stuck:" }
        (rows_of(few))
        @if !more.is_empty() {
            (folded(format_args!("{} more", more.len()), rows_of(&more[..more.len().min(MOST_ROWS)])))
        }
        (more_rows(more.len()))
        @if let Some(circle) = circle(&names(&shown["cycle"])) { p { "↺ they wait in a circle: " (circle) } }
    }
}

/// Processes that wait for each other, the first once more at the end; of many, the first and the last.
fn circle(names: &[String]) -> Option<String> {
    let [first, .., last] = names else { return None };
    Some(match names.len() > FEW_STUCK {
        true => format!("{} → … → {last} → {first}", names[..3].join(" → ")),
        false => format!("{} → {first}", names.join(" → ")),
    })
}

/// What of so many rows is not shown.
fn more_rows(n_rows: usize) -> Markup {
    match n_rows.saturating_sub(MOST_ROWS) {
        0 => Markup::default(),
        more => left_out(format_args!("and {more} more")),
    }
}

fn racing(shown: &Json, when: &str) -> Markup {
    let line = |side: &Json| {
        let text = |key: &str| side[key].as_str().unwrap_or_default();
        let verb = if side["writes"] == Json::Bool(true) { "writes it" } else { "reads it" };
        row(text("process"), &[&verb, &code(text("action")), &format_args!("line {}", side["line"])])
    };
    let rows = html! { @for side in items(&shown["contenders"]) { (line(side)) } };
    let variable = code(shown["variable"].as_str().unwrap_or_default());
    html! {
        p { (variable) " can be accessed by two processes at once " (when) ":" }
        (wide("", table(None, Markup::default(), rows)))
    }
}

/// The call stacks in the last state.
fn stacks(run: &Run, trace: &Trace) -> Markup {
    let Some(last) = trace.states.last() else { return Markup::default() };
    if matches!(trace.end, TraceEnd::Loop) {
        return Markup::default();
    }
    html! {
        @for (id, process) in run.model.processes.entries() {
            @let frames = explain::names::call_stack(&run.model, last, id);
            @if frames.len() >= 3 {
                @let shown: Vec<Markup> = frames[frames.len().saturating_sub(12)..].iter().map(|frame| code(frame)).collect();
                p {
                    "stack of " (process.name) ": " @if frames.len() > 12 { "… ▸ " }
                    (joined(&shown, " ▸ "))
                }
            }
        }
    }
}

/// Which processes are enabled in the loop of a lasso and which step, how it satisfies what is assumed, and what would exclude it.
pub fn loop_html(run: &Run, result: &PropertyResult, trace: &Trace) -> Markup {
    let Some(looped) = Looped::of(&run.model, trace) else { return Markup::default() };
    let shares = looped.shares();
    let line = |share: &LoopShare| {
        let able = format!("{} of {} states", share.n_able, share.n_states);
        let moves = if share.n_moves == 0 { "never".to_owned() } else { share.n_moves.to_string() };
        let still = if share.n_still == 0 { "–".to_owned() } else { share.n_still.to_string() };
        row(&share.name, &[&able, &moves, &still])
    };
    let rows = html! { @for share in shares.iter().take(MOST_ROWS) { (line(share)) } };
    let assumptions = looped.assumptions(run, result.property);
    html! {
        h4 { "In the loop of " (counted(looped.turns.len() as u64, "turn", "turns")) }
        (wide("", table(None, heads(&["process", "enabled in", "steps taken", "stands still"]), rows)))
        (more_rows(shares.len()))
        @if !assumptions.is_empty() {
            @let rows = html! { @for (name, how) in &assumptions { (row(code(name), &[how])) } };
            (wide("", table(None, heads(&["assumed", "in this loop"]), rows)))
        }
        (remedy(run, result))
    }
}

/// What would exclude such a run, as it was tried.
fn remedy(run: &Run, result: &PropertyResult) -> Markup {
    let Some(first) = result.insight.remedies.first() else { return Markup::default() };
    let assumes = run.model.properties[result.property].under.any_of.iter().any(|set| !set.is_empty());
    let allowed = match assumes {
        true => "This run is allowed by what is assumed.",
        false => "This run is allowed: nothing is assumed about who has a turn.",
    };
    let words = match first.outcome {
        AssumedOutcome::Unknown => return Markup::default(),
        AssumedOutcome::Violated(turns) => html! {
            p {
                (allowed) " Fairness alone does not help: even where everybody has turns and takes each labelled step \
                 that it can take again and again, there is a run that violates the property, with a loop of "
                (counted_turns(turns)) "."
            }
        },
        AssumedOutcome::Holds => {
            let with = if first.added.len() == 1 { "it" } else { "them" };
            let title = property_title(&run.model, result.property);
            let at = line(&run.source, run.model.properties[result.property].span);
            html! {
                p { (allowed) " It would be excluded by" }
                ul { @for text in &first.added { li { (code(text)) " " (meaning(text)) } } }
                p.tone-good { strong { "✔ Tried: with " (with) ", " (title) " holds." } }
                p { "line " (at) ": " (code(&format!("under {};", first.under))) }
            }
        }
    };
    html! { div.remedy { h4 { "What would exclude it" } (words) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_circle_is_said_by_its_ends() {
        let names = |n: usize| (0..n).map(|nth| format!("P[{nth}]")).collect::<Vec<_>>();
        assert_eq!(circle(&names(1)), None);
        assert_eq!(circle(&names(2)).as_deref(), Some("P[0] → P[1] → P[0]"));
        assert_eq!(circle(&names(40)).as_deref(), Some("P[0] → P[1] → P[2] → … → P[39] → P[0]"));
    }
}
