//! What a page says about one property: the verdict first, then its evidence, then what else was found out, and what
//! to do next.

use engine::insight::{Need, OtherSizes, Reached, Trigger};
use engine::run::{PropertyResult, Run};
use engine::{SharedView, Verdict};
use evidence::{Evidence, itf, proof_file};
use explain::names::{line, property_title};
use maud::{Markup, html};
use serde_json::Value as Json;

use super::escape::{code, joined, script_text, sentence};
use super::results::{Tone, tone};
use super::table::{heads, left_out, row, table, wide};
use super::{Checked, proof, trace};
use crate::human::advice;
use crate::human::insight::counted_turns;
use crate::human::verdict::{denied, is_expected_violated, wording};
use crate::human::{Context, Verbosity, tried};
use crate::numbers::{bytes, count, counted, duration};
use crate::style::Style;

/// Files to download that are larger are left out of the page.
const MOST_BYTES: usize = 500_000;

/// What is said about one property.
pub struct Panel {
    /// HTML.
    pub html: Markup,
    /// What the script steps through, where there is a trace.
    pub trace: Option<Json>,
}

/// The name of a panel in addresses.
pub fn id(run: usize, nth: usize) -> String {
    format!("r{run}-p{nth}")
}

/// The panel of a result.
pub fn panel(checked: &Checked<'_>, at: usize, nth: usize) -> Panel {
    let run = checked.run;
    let result = &run.results[nth];
    let id = id(at, nth);
    // The page opens at what needs a look: what is unexpected, then what is not decided, then runs.
    let urgency = match (result.as_expected(&run.model), &result.verdict) {
        (Some(false), _) => 3,
        (None, _) => 2,
        (_, Verdict::Violated(Evidence::Trace(_))) => 1,
        _ => 0,
    };
    let mut steps = None;
    let evidence = match &result.verdict {
        Verdict::Holds(Evidence::Trace(found)) | Verdict::Violated(Evidence::Trace(found)) => {
            let shown = trace::show(run, (result, found), &id);
            steps = Some(shown.data);
            shown.html
        }
        Verdict::Holds(Evidence::Certificate(found)) | Verdict::Violated(Evidence::Certificate(found)) => {
            let position = |other: &PropertyResult| run.results.iter().position(|one| one.property == other.property);
            let link = |other: &PropertyResult| format!("#{}", self::id(at, position(other).unwrap_or(nth)));
            proof::html(run, (result, found), &link)
        }
        Verdict::Holds(_) | Verdict::Violated(_) | Verdict::Unknown(_) => Markup::default(),
    };
    let html = html! {
        article.panel id=(id) data-urgency=(urgency) aria-labelledby={ (id) "-h" } tabindex="-1" {
            (heading(run, result, &id))
            (evidence)
            (insight(result))
            (attempts(result))
            (next(checked, result))
            (downloads(run, result, &id))
        }
    };
    Panel { html, trace: steps }
}

fn heading(run: &Run, result: &PropertyResult, id: &str) -> Markup {
    let words = wording(run, result);
    let property = &run.model.properties[result.property];
    let mark = Style::default().mark(words.mark);
    html! {
        header class={ "verdict " (tone(run, result).class()) } {
            span.mark aria-hidden="true" { (mark) }
            div {
                h3 id={ (id) "-h" } {
                    span.word { (words.word) } " " (property_title(&run.model, result.property))
                    @match (result.has_expected_verdict(&run.model), is_expected_violated(run, result)) {
                        (Some(true), true) => { " " span.aside { "✔ as expected" } }
                        (Some(false), true) => {
                            " " span class="aside bad" { "not as expected: " code { "expect violated" } }
                        }
                        _ => {}
                    }
                    @if result.unaudited().is_some() { " " span.aside { "⚠ unaudited" } }
                    @if let Some(text) = denied(result) { " " span class="aside bad" { (text) } }
                }
                p.rest { (sentence(&words.rest)) }
                @if !property.text.is_empty() || !property.span.is_empty() {
                    p.formula {
                        @if !property.text.is_empty() { (code(&property.text)) }
                        " "
                        span.dim { @if !property.span.is_empty() { "line " (line(&run.source, property.span)) } }
                    }
                }
            }
        }
        (figures(result))
    }
}

/// What it took, as a row of figures.
fn figures(result: &PropertyResult) -> Markup {
    let statistics = &result.statistics;
    let mut parts: Vec<(&str, String)> =
        vec![("method", result.method.to_owned()), ("time", duration(statistics.time))];
    let mut add = |name, value: Option<String>| parts.extend(value.map(|value| (name, value)));
    if let Some(local) = &statistics.local_states {
        let known: Vec<u64> = local.iter().flatten().copied().collect();
        add(
            "local states",
            match (known.iter().min(), known.iter().max()) {
                (Some(least), Some(most)) if known.len() == local.len() && least == most => {
                    Some(format!("{} each", count(*most)))
                }
                (Some(least), Some(most)) if known.len() == local.len() => {
                    Some(format!("{} to {}", count(*least), count(*most)))
                }
                _ => Some("too large to count".to_owned()),
            },
        );
    }
    add(
        "views",
        statistics.views.map(|views| match views {
            SharedView::Mentioned => "what is mentioned".to_owned(),
            SharedView::Whole => "all that is shared".to_owned(),
        }),
    );
    let product = result.insight.product.as_ref();
    add(
        "the product",
        product.map(|product| {
            let more = if product.is_whole { "" } else { "more than " };
            format!("{more}{}", counted(product.states, "state", "states"))
        }),
    );
    add("global states", statistics.global_states.map(count));
    add("transitions", statistics.global_transitions.map(count));
    add("depth", statistics.depth.map(count));
    add("rounds", statistics.refinements.map(count));
    add("diagram nodes", statistics.peak_nodes.map(count));
    add("memory", statistics.peak_memory_bytes.filter(|&used| used > 0).map(bytes));
    let checked = match result.unaudited() {
        Some(why) => Some(format!("⚠ unaudited: {why}")),
        None if result.audit.is_accepted() => Some("✔ independently".to_owned()),
        None => None,
    };
    add("checked", checked);
    html! { dl.figures { @for (name, value) in &parts { div { dt { (name) } dd { (value) } } } } }
}

/// Assumptions that a property needs, and whether what it speaks of ever happens.
fn insight(result: &PropertyResult) -> Markup {
    if !matches!(result.verdict, Verdict::Holds(_)) {
        return Markup::default();
    }
    let need = |assumption: &engine::insight::Assumption| match assumption.need {
        Need::Needed(turns) => format!("needed: without it there is a loop of {}", counted_turns(turns)),
        Need::NotNeeded => "not needed".to_owned(),
        Need::Unknown => "not tried: it would take too long".to_owned(),
    };
    let inner = html! {
        @if !result.insight.assumptions.is_empty() {
            h4 { "Assumptions" }
            @let rows = html! {
                @for assumption in &result.insight.assumptions { (row(code(&assumption.text), &[&need(assumption)])) }
            };
            (wide("", table(None, Markup::default(), rows)))
        }
        @if let Some(scope) = &result.insight.every_size {
            p { "Proved for " (scope.to_string()) ", too: " code { "--all-n" } " shows the proof." }
        }
        @if let Some(OtherSizes { parameter, same_for }) = &result.insight.other_sizes {
            @let sizes: Vec<Markup> = same_for.iter().map(|size| code(&format!("{parameter} = {size}"))).collect();
            p {
                "Observed: the same invariants prove it for " (joined(&sizes, " and "))
                ", too. This is not a proof for all " (code(parameter)) "."
            }
        }
        @for trigger in &result.insight.triggers { (reached(trigger)) }
    };
    html! { @if !inner.0.is_empty() { div.insight { (inner) } } }
}

/// Whether what a property speaks of ever happens.
fn reached(trigger: &Trigger) -> Markup {
    let every = trigger.variables.join(", ");
    let words = match (trigger.reached, every.is_empty()) {
        (Reached::Always, true) => " is reachable.".to_owned(),
        (Reached::Always, false) => format!(" is reachable for every {every}."),
        (Reached::AtLeastOnce, _) => format!(" is reachable for some {every}."),
        (Reached::Sometimes, _) => format!(" is reachable for some {every}, not for every {every}."),
        (Reached::Never, _) => " never happens.".to_owned(),
        (Reached::NoInstance, _) => format!(" is asked of no {every}: there is none."),
        (Reached::Unknown, _) => return Markup::default(),
    };
    let verdict = match trigger.reached {
        Reached::Always | Reached::AtLeastOnce => "Not vacuous: ",
        Reached::Never | Reached::NoInstance => "⚠ Vacuous: ",
        Reached::Sometimes | Reached::Unknown => "",
    };
    html! { p { (verdict) (code(&trigger.text)) (words) } }
}

/// What was tried, where methods raced.
fn attempts(result: &PropertyResult) -> Markup {
    let attempts = tried::together(&result.statistics.tried);
    // That the first method decided it is above already.
    let is_known = attempts.len() == 1 && !matches!(result.verdict, Verdict::Unknown(_));
    if attempts.is_empty() || is_known {
        return Markup::default();
    }
    let rows = html! {
        @for (last, took) in attempts { (row(last.method, &[&tried::word(&last.outcome), &duration(took)])) }
    };
    html! { h4 { "What was tried" } (wide("", table(None, heads(&["method", "outcome", "time"]), rows))) }
}

/// What to do next: commands that exist.
fn next(checked: &Checked<'_>, result: &PropertyResult) -> Markup {
    let context = Context { verbosity: Verbosity::Normal, files: checked.files.clone(), ..Context::default() };
    let rows = html! {
        @if let (Verdict::Unknown(_), Some(states @ 1..)) = (&result.verdict, result.statistics.global_states) {
            li { "until then " (counted(states, "state", "states")) " were looked at" }
        }
        @for (what, why) in advice::commands(checked.run, result, &context) {
            @if why.is_empty() { li { (sentence(&what)) } } @else { li { (code(&what)) " " span.dim { (why) } } }
        }
    };
    html! { @if !rows.0.is_empty() { h4 { "Next" } ul.next { (rows) } } }
}

/// The trace or the proof as a file, to be downloaded.
fn downloads(run: &Run, result: &PropertyResult, id: &str) -> Markup {
    let (Verdict::Holds(evidence) | Verdict::Violated(evidence)) = &result.verdict else { return Markup::default() };
    let property = &run.model.properties[result.property].name;
    let (text, ending, words) = match evidence {
        Evidence::Trace(trace) => {
            (itf::to_text(&itf::to_itf(&run.model, &run.source, property, trace)), "itf.json", "trace (ITF)")
        }
        Evidence::Certificate(found) => (proof_file::to_text(&run.model, found, result.method), "proof.json", "proof"),
        Evidence::Exploration(_) | Evidence::Reduced(_) | Evidence::Symbolic(_) => return Markup::default(),
    };
    if text.len() > MOST_BYTES {
        let option = if ending == "itf.json" { "--trace DIR" } else { "--proof DIR" };
        return left_out(html! { "The " (words) " is too large for this page; " code { (option) } " writes it." });
    }
    let plain = |name: &str| -> String {
        name.chars()
            .map(|letter| if letter.is_alphanumeric() || "_-".contains(letter) { letter } else { '_' })
            .collect()
    };
    let name = format!("{}.{}.{ending}", plain(&run.model.name), plain(property));
    html! {
        p.download hidden { a data-file={ (id) "-file" } download=(name) href="#" { "↓ " (words) } }
        script type="application/json" id={ (id) "-file" } { (script_text(&text)) }
    }
}

/// A short name for what a verdict is: its mark and word.
pub fn label(run: &Run, result: &PropertyResult) -> (Tone, &'static str, &'static str) {
    let words = wording(run, result);
    (tone(run, result), Style::default().mark(words.mark), words.word)
}
