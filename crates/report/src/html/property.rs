//! What a page says about one property: the verdict first, then its evidence, then what else was found out, and what
//! to do next.

use engine::insight::{Need, OtherSizes, Reached};
use engine::run::{PropertyResult, Run};
use engine::{Verdict, Views};
use evidence::{Evidence, itf, proof_file};
use explain::names::{line, property_title};
use serde_json::Value as Json;

use super::escape::{code, escaped};
use super::results::{Tone, tone};
use super::table::{heads, row, table, wide};
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
    pub html: String,
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
    let mut html = format!(
        "<article class=\"panel\" id=\"{id}\" data-urgency=\"{urgency}\" aria-labelledby=\"{id}-h\" tabindex=\"-1\">\n"
    );
    html.push_str(&heading(run, result, &id));
    let mut steps = None;
    match &result.verdict {
        Verdict::Holds(Evidence::Trace(found)) | Verdict::Violated(Evidence::Trace(found)) => {
            let shown = trace::show(run, (result, found), &id);
            html.push_str(&shown.html);
            steps = Some(shown.data);
        }
        Verdict::Holds(Evidence::Certificate(found)) | Verdict::Violated(Evidence::Certificate(found)) => {
            let position = |other: &PropertyResult| run.results.iter().position(|one| one.property == other.property);
            let link = |other: &PropertyResult| format!("#{}", self::id(at, position(other).unwrap_or(nth)));
            html.push_str(&proof::html(run, (result, found), &link));
        }
        Verdict::Holds(_) | Verdict::Violated(_) | Verdict::Unknown(_) => {}
    }
    html.push_str(&insight(result));
    html.push_str(&attempts(result));
    html.push_str(&next(checked, result));
    html.push_str(&downloads(run, result, &id));
    html.push_str("</article>\n");
    Panel { html, trace: steps }
}

fn heading(run: &Run, result: &PropertyResult, id: &str) -> String {
    let words = wording(run, result);
    let property = &run.model.properties[result.property];
    let expected = match (result.has_expected_verdict(&run.model), is_expected_violated(run, result)) {
        (Some(true), true) => " <span class=\"aside\">✔ as expected</span>",
        (Some(false), true) => " <span class=\"aside bad\">not as expected: <code>expect violated</code></span>",
        _ => "",
    };
    let unaudited = match result.unaudited() {
        Some(_) => " <span class=\"aside\">⚠ unaudited</span>",
        None => "",
    };
    let denied = denied(result).map(|text| format!(" <span class=\"aside bad\">{}</span>", escaped(&text)));
    let denied = denied.unwrap_or_default();
    let mark = Style::default().mark(words.mark);
    let at =
        if property.span.is_empty() { String::new() } else { format!("line {}", line(&run.source, property.span)) };
    let text = if property.text.is_empty() { String::new() } else { code(&property.text) };
    let tone = tone(run, result);
    let rest = escaped(&words.rest);
    format!(
        "<header class=\"verdict {}\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span><div><h3 id=\"{id}-h\">\
         <span class=\"word\">{}</span> {}{expected}{unaudited}{denied}</h3>\n\
         <p class=\"rest\">{rest}</p>\n{}</div></header>\n{}",
        tone.class(),
        words.word,
        escaped(&property_title(&run.model, result.property)),
        if text.is_empty() && at.is_empty() {
            String::new()
        } else {
            format!("<p class=\"formula\">{text} <span class=\"dim\">{at}</span></p>\n")
        },
        figures(result)
    )
}

/// What it took, as a row of figures.
fn figures(result: &PropertyResult) -> String {
    let statistics = &result.statistics;
    let mut parts: Vec<(&str, String)> = vec![("method", escaped(result.method)), ("time", duration(statistics.time))];
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
            Views::Mentioned => "what is mentioned".to_owned(),
            Views::Whole => "all that is shared".to_owned(),
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
        Some(why) => Some(format!("⚠ unaudited: {}", escaped(&why.to_string()))),
        None if result.audit.is_accepted() => Some("✔ independently".to_owned()),
        None => None,
    };
    add("checked", checked);
    let cells: String =
        parts.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>")).collect();
    format!("<dl class=\"figures\">{cells}</dl>\n")
}

/// Assumptions that a property needs, and whether what it speaks of ever happens.
fn insight(result: &PropertyResult) -> String {
    if !matches!(result.verdict, Verdict::Holds(_)) {
        return String::new();
    }
    let mut out = String::new();
    if !result.insight.assumptions.is_empty() {
        let row = |assumption: &engine::insight::Assumption| {
            let need = match assumption.need {
                Need::Needed(turns) => format!("needed: without it there is a loop of {}", counted_turns(turns)),
                Need::NotNeeded => "not needed".to_owned(),
                Need::Unknown => "not tried: it would take too long".to_owned(),
            };
            row(&code(&assumption.text), &[&need])
        };
        let rows: String = result.insight.assumptions.iter().map(row).collect();
        out.push_str(&format!("<h4>Assumptions</h4>\n{}", wide("", &table("", "", &rows))));
    }
    if let Some(scope) = &result.insight.every_size {
        out.push_str(&format!(
            "<p>Proved for {}, too: <code>--all-n</code> shows the proof.</p>\n",
            escaped(&scope.to_string())
        ));
    }
    if let Some(OtherSizes { parameter, same_for }) = &result.insight.other_sizes {
        let sizes: Vec<String> = same_for.iter().map(|size| code(&format!("{parameter} = {size}"))).collect();
        let (name, sizes) = (code(parameter), sizes.join(" and "));
        out.push_str(&format!(
            "<p>Observed: the same invariants prove it for {sizes}, too. This is not a proof for all {name}.</p>\n"
        ));
    }
    for trigger in &result.insight.triggers {
        let every = escaped(&trigger.variables.join(", "));
        let text = code(&trigger.text);
        let words = match (trigger.reached, every.is_empty()) {
            (Reached::Always, true) => format!("Not vacuous: {text} is reachable."),
            (Reached::Always, false) => format!("Not vacuous: {text} is reachable for every {every}."),
            (Reached::AtLeastOnce, _) => format!("Not vacuous: {text} is reachable for some {every}."),
            (Reached::Sometimes, _) => format!("{text} is reachable for some {every}, not for every {every}."),
            (Reached::Never, _) => format!("⚠ Vacuous: {text} never happens."),
            (Reached::Unknown, _) => continue,
        };
        out.push_str(&format!("<p>{words}</p>\n"));
    }
    if out.is_empty() { out } else { format!("<div class=\"insight\">{out}</div>\n") }
}

/// What was tried, where methods raced.
fn attempts(result: &PropertyResult) -> String {
    let attempts = tried::together(&result.statistics.tried).into_iter();
    let rows: String = attempts
        .map(|(last, took)| row(&escaped(last.method), &[tried::word(&last.outcome), &duration(took)]))
        .collect();
    if rows.is_empty() {
        return rows;
    }
    format!("<h4>What was tried</h4>\n{}", wide("", &table("", &heads(&["method", "outcome", "time"]), &rows)))
}

/// What to do next: commands that exist.
fn next(checked: &Checked<'_>, result: &PropertyResult) -> String {
    let context = Context { verbosity: Verbosity::Normal, files: checked.files.clone(), ..Context::default() };
    let mut rows = String::new();
    if let Verdict::Unknown(_) = &result.verdict
        && let Some(states) = result.statistics.global_states.filter(|&states| states > 0)
    {
        rows.push_str(&format!("<li>until then {} were looked at</li>\n", counted(states, "state", "states")));
    }
    for (what, why) in advice::commands(checked.run, result, &context) {
        rows.push_str(&match why {
            "" => format!("<li>{}</li>\n", escaped(&what)),
            why => format!("<li>{} <span class=\"dim\">{why}</span></li>\n", code(&what)),
        });
    }
    if rows.is_empty() { String::new() } else { format!("<h4>Next</h4>\n<ul class=\"next\">{rows}</ul>\n") }
}

/// The trace or the proof as a file, to be downloaded.
fn downloads(run: &Run, result: &PropertyResult, id: &str) -> String {
    let (Verdict::Holds(evidence) | Verdict::Violated(evidence)) = &result.verdict else { return String::new() };
    let property = &run.model.properties[result.property].name;
    let (text, ending, words) = match evidence {
        Evidence::Trace(trace) => {
            (itf::to_text(&itf::to_itf(&run.model, &run.source, property, trace)), "itf.json", "trace (ITF)")
        }
        Evidence::Certificate(found) => (proof_file::to_text(&run.model, found, result.method), "proof.json", "proof"),
        Evidence::Exploration(_) | Evidence::Reduced(_) | Evidence::Symbolic(_) => return String::new(),
    };
    if text.len() > MOST_BYTES {
        let option = if ending == "itf.json" { "--trace" } else { "--proof" };
        return format!(
            "<p class=\"left-out\">The {words} is too large for this page; <code>{option} DIR</code> writes it.</p>\n"
        );
    }
    let plain = |name: &str| -> String {
        name.chars()
            .map(|letter| if letter.is_alphanumeric() || "_-".contains(letter) { letter } else { '_' })
            .collect()
    };
    let name = format!("{}.{}.{ending}", plain(&run.model.name), plain(property));
    format!(
        "<p class=\"download\" hidden><a data-file=\"{id}-file\" download=\"{}\" href=\"#\">↓ {words}</a></p>\n\
         <script type=\"application/json\" id=\"{id}-file\">{}</script>\n",
        escaped(&name),
        text.replace('<', "\\u003c")
    )
}

/// A short name for what a verdict is: its mark and word.
pub fn label(run: &Run, result: &PropertyResult) -> (Tone, &'static str, &'static str) {
    let words = wording(run, result);
    (tone(run, result), Style::default().mark(words.mark), words.word)
}
