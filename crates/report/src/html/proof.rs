//! A proof on a page: what may be relied on, between the lines of the source; why the property follows; what was
//! exposed, round by round; which steps of others touch what; what the independent checker was asked.

use std::collections::BTreeMap;

use engine::run::{Audit, PropertyResult, Run};
use evidence::Certificate;
use evidence::certificate::DischargedObligations;
use explain::Explained;
use explain::proof::story::{StoryLine, WaitLine};
use explain::proof::{Assertion, LocalProof, MemberAssertion, SourceStep, Story};
use maud::{Markup, html};

use super::escape::{code, joined};
use super::graph;
use super::source::{Listing, notes, whole};
use super::table::{folded, heads, left_out, row, table, wide};
use crate::document::GuaranteeDocument;
use crate::human::proof::{story_title, title};
use crate::numbers::{count, counted};

/// Longer lists are cut.
const MOST_ROWS: usize = 80;
/// More sentences are folded away.
const FEW_SENTENCES: usize = 12;
/// Pictures with more boxes are not drawn.
const MOST_BOXES: usize = 24;
/// Wider tables are cut.
const MOST_COLUMNS: usize = 16;

/// Everything about a proof; `link` leads to the panel of an earlier property.
pub fn html(
    run: &Explained,
    (result, proof): (&PropertyResult, &Certificate),
    link: &dyn Fn(&PropertyResult) -> String,
) -> Markup {
    html! {
        @if let Some(earlier) = run.earlier(result) {
            p {
                "By the same invariants as "
                a href=(link(earlier)) { (run.model.properties[earlier.property].name) }
                "."
            }
            @if let Some(story) = run.story(result) { (story_html(story)) }
        } @else if let Some(explanation) = run.proof(result) {
            (explanation_html(run, (result, proof), explanation))
        }
        @if let Some(pushdown) = proof.pushdown() {
            @if !pushdown.exposed.is_empty() {
                h4 { "What was exposed" }
                ul {
                    @for fact in pushdown.exposed.iter().take(MOST_ROWS) {
                        @let (process, text) = crate::guarantees::exposed(&run.model, fact);
                        @let separator = if text.starts_with('@') { "" } else { "." };
                        li { (code(&format!("{process}{separator}{text}"))) }
                    }
                }
            }
            (guarantees(run, result))
        }
        (checked(result))
    }
}

fn explanation_html(
    run: &Explained,
    (result, proof): (&PropertyResult, &Certificate),
    explanation: &LocalProof,
) -> Markup {
    // What others rely on is there to be looked up.
    let (first, others) = explanation.parts.split_at(explanation.parts.len().min(1));
    html! {
        @for part in first { h4 { (title(part)) } (part_html(part)) }
        @for part in others.iter().take(11) { (folded(title(part), part_html(part))) }
        @if explanation.parts.len() > 12 {
            (left_out(format_args!("and {} more; the result document has them all", explanation.parts.len() - 12)))
        }
        @if explanation.is_ring && explanation.names_neighbours() {
            p.dim {
                code { "i + 1" } " and " code { "i - 1" } " are the neighbours of " code { "i" }
                @if !explanation.is_scene { " in the ring of processes" }
                "."
            }
        }
        @if !explanation.unexplained.is_empty() {
            p {
                "The sets of this proof are too large to be put into words. A smaller N may be readable; the proof \
                 file has them all."
            }
        }
        @if let Some(why) = explain::proof::why(&run.model, result.property, explanation) {
            p.why { strong { "Why it follows" } " " (why) }
        }
        @if let Some(story) = run.story(result) { (story_html(story)) }
        (source(run, explanation))
        @for found in run.view_graphs(result) { (graph::of_views(&found)) }
        @if !explanation.is_scene { (exposed(run, (result, proof), explanation)) }
        // That steps keep what they touch is what the checker of the proof finds out.
        @if result.audit.is_accepted() { (interference(explanation)) }
    }
}

/// Which process waits for which, and why that ends: as a table, as an argument, and as a picture.
fn story_html(story: &Story) -> Markup {
    let line = |wait: &WaitLine| {
        let holds = if wait.holds.is_empty() { Markup::default() } else { code(&wait.holds) };
        let whom = wait.whom.join("; or ");
        let whom: Vec<Markup> = whom.split(", who").map(|part| html! { (part) }).collect();
        row(&wait.who, &[&code(&wait.at), &holds, &joined(&whom, html! { ", " br; "who" })])
    };
    let boxes = &story.picture.boxes;
    html! {
        h4 { (story_title(story)) }
        @if !story.waits.is_empty() {
            @let rows = html! { @for wait in story.waits.iter().take(MOST_ROWS) { (line(wait)) } };
            (wide("", table(Some("waits"), heads(&["who", "waits at", "while", "for"]), rows)))
        }
        @if !story.lines.is_empty() {
            ol.story { @for line in &story.lines { (story_line(line)) } }
        }
        @if !boxes.is_empty() && boxes.len() <= MOST_BOXES { (graph::of_story(&story.picture)) }
    }
}

fn story_line(line: &StoryLine) -> Markup {
    let indent = line.depth as f64 * 1.4;
    html! { li style=(format_args!("margin-left:{indent:.1}em")) { (line.text) } }
}

/// What is said of one member, or of all that read the same.
fn part_html(part: &MemberAssertion) -> Markup {
    let sentence = |(nth, one): (usize, &Assertion)| html! { dt { "I" (nth + 1) } dd { (code(&one.text)) } };
    let all: Vec<Markup> = part.always.iter().take(MOST_ROWS).enumerate().map(sentence).collect();
    let (few, more) = all.split_at(all.len().min(FEW_SENTENCES));
    let sentences = |some: &[Markup]| html! { dl.sentences { @for one in some { (one) } } };
    let n_more = part.always.len().max(part.places.len()).saturating_sub(MOST_ROWS);
    html! {
        @if !few.is_empty() { (sentences(few)) }
        @if !more.is_empty() {
            (folded(counted(more.len() as u64, "more sentence", "more sentences"), sentences(more)))
        }
        @if part.places.iter().any(|at| !at.says.is_empty()) {
            (places(part))
        } @else if part.always.is_empty() && part.n_left_out == 0 && !part.is_cut {
            p { "nothing: any combination of values will do" }
        }
        @if part.n_left_out > 0 {
            @let sentences = counted(part.n_left_out as u64, "sentence was", "sentences were");
            (left_out(format_args!("{sentences} not checked and left out")))
        }
        @if part.is_cut { p.dim { "and more, which is not said shortly" } }
        @if n_more > 0 { (left_out(format_args!("and {n_more} more; the result document has them all"))) }
        @if !part.unreached.is_empty() { p { "never at " (code(&part.unreached.join(", "))) } }
    }
}

/// What holds at each place.
fn places(part: &MemberAssertion) -> Markup {
    let nothing = if part.always.is_empty() { "nothing" } else { "nothing more" };
    let says = |texts: Vec<Markup>| match texts.is_empty() {
        true => html! { span.dim { (nothing) } },
        false => joined(&texts, ", "),
    };
    let rows = html! {
        @for at in part.places.iter().take(MOST_ROWS) {
            (row(at.at.join(", "), &[&says(at.says.iter().map(|one| code(&one.text)).collect())]))
        }
    };
    wide("", table(None, heads(&["at", "also holds"]), rows))
}

/// The source with the sentences between its lines, and which lines the proof needs.
fn source(run: &Run, explanation: &LocalProof) -> Markup {
    let mut marks: BTreeMap<u32, (&'static str, &'static str)> = BTreeMap::new();
    for &line in &explanation.used_lines {
        marks.insert(line, ("●", "used by the proof"));
    }
    for &line in &explanation.unused_lines {
        marks.insert(line, ("○", "not needed by the proof"));
    }
    let listing = Listing {
        source: &run.source,
        lines: whole(&run.source),
        before: notes(run, explanation),
        marks,
        title: "source with invariants between the lines".to_owned(),
    };
    html! {
        h4 { "Source with invariants" }
        (listing.html())
        @match (explanation.used_lines.is_empty(), explanation.unused_lines.is_empty()) {
            (true, true) => {}
            (_, true) => { p.legend { "● used by the proof: " (lines(&explanation.used_lines)) } }
            _ => {
                p.legend {
                    span { "● used by the proof: " (lines(&explanation.used_lines)) }
                    span { "○ not needed: " (lines(&explanation.unused_lines)) }
                }
            }
        }
    }
}

fn lines(numbers: &std::collections::BTreeSet<u32>) -> String {
    let shown: Vec<String> = numbers.iter().take(40).map(ToString::to_string).collect();
    let word = if numbers.len() == 1 { "line" } else { "lines" };
    format!("{word} {}{}", shown.join(", "), if numbers.len() > 40 { ", …" } else { "" })
}

/// What was exposed, by round where that is known.
fn exposed(run: &Run, (result, proof): (&PropertyResult, &Certificate), explanation: &LocalProof) -> Markup {
    let rounds = &result.statistics.exposures;
    let has_reasons = rounds.iter().any(|round| round.because.is_some());
    html! {
        h4 { "What was exposed" }
        @if explanation.exposed.is_empty() {
            p { "Nothing: no process had to look into another one." }
        } @else if rounds.is_empty() {
            ul { @for fact in explanation.exposed.iter().take(MOST_ROWS) { li { (code(&fact.text)) } } }
        } @else {
            p {
                (counted(explanation.exposed.len() as u64, "fact", "facts")) " that all others may look at, in "
                (counted(rounds.len() as u64, "round", "rounds"))
                " of refinement."
                @if has_reasons { " Without it, nothing excluded the state beside it." }
            }
            @let rows = html! {
                @for (nth, round) in rounds.iter().take(MOST_ROWS).enumerate() {
                    @let text = explain::proof::round(&run.model, proof, round);
                    @let (facts, because) = text.split_once(", since nothing excluded  ").unwrap_or((&text, ""));
                    @if has_reasons {
                        (row(nth + 1, &[&code(facts), &html! { span.state { (because) } }]))
                    } @else {
                        (row(nth + 1, &[&code(facts)]))
                    }
                }
            };
            @let titles: &[&str] = if has_reasons { &["round", "fact", "not excluded before"] } else { &["round", "fact"] };
            (wide("", table(None, heads(titles), rows)))
        }
    }
}

/// Which steps of others touch which sentence.
fn interference(explanation: &LocalProof) -> Markup {
    if explanation.interfering_steps.is_empty() {
        return Markup::default();
    }
    let steps: Vec<&SourceStep> = explanation.interfering_steps.iter().take(MOST_COLUMNS).collect();
    let mut rows = Vec::new();
    let mut n_untouched = 0;
    for part in &explanation.parts {
        for (nth, text) in part.sentences().into_iter().enumerate() {
            let is_touched =
                |step: &&SourceStep| part.touched_by.get(nth).is_some_and(|touched| touched.contains(*step));
            if !steps.iter().any(is_touched) {
                n_untouched += 1;
                continue;
            }
            rows.push(html! {
                tr {
                    th scope="row" { @if nth < part.always.len() { b { "I" (nth + 1) } " " } (text_of(text)) }
                    @for step in &steps {
                        @if is_touched(step) {
                            td.keeps { "✔ keeps" }
                        } @else {
                            td.dim { span aria-label="does not touch it" { "–" } }
                        }
                    }
                }
            });
        }
    }
    let head = html! {
        th scope="col" { "what is relied on" }
        @for step in &steps {
            th scope="col" { (code(&step.statement)) br; span.dim { "line " (step.line) } }
        }
    };
    let shown = html! { @for row in rows.iter().take(MOST_ROWS) { (row) } };
    let (n_more, n_more_steps) =
        (rows.len().saturating_sub(MOST_ROWS), explanation.interfering_steps.len() - steps.len());
    let inner = html! {
        p {
            "Steps of other processes, and what they touch: ✔ the step touches it and keeps it true, – the step does \
             not touch it."
        }
        (wide("interference", table(Some("interference"), head, shown)))
        @if n_untouched > 0 {
            @let untouched = counted(n_untouched, "other sentence is", "other sentences are");
            (left_out(format_args!("{untouched} touched by none of these steps")))
        }
        @if n_more > 0 { (left_out(format_args!("and {n_more} more rows"))) }
        @if n_more_steps > 0 { (left_out(format_args!("and {n_more_steps} more steps"))) }
    };
    let n_steps = counted(explanation.interfering_steps.len() as u64, "step", "steps");
    folded(format_args!("Interference: {n_steps} of other processes keep all of this"), inner)
}

fn text_of((at, one): (String, &Assertion)) -> Markup {
    html! {
        @if !at.is_empty() { span.dim { "at " (at) } " " }
        (code(&one.text))
    }
}

/// What processes guarantee to each other, where path edges are the proof.
fn guarantees(run: &Explained, result: &PropertyResult) -> Markup {
    let list = |first: &str, entries: Vec<[&str; 2]>| {
        let rows = html! {
            @for [one, other] in entries.iter().take(MOST_ROWS) { (row(code(one), &[&code(other)])) }
        };
        wide("", table(None, heads(&[first, "where"]), rows))
    };
    let inner = |process: &GuaranteeDocument| {
        html! {
            @if process.changes.is_empty() {
                p { "it changes nothing that others see" }
            } @else {
                (list("change", process.changes.iter().map(|one| [one.change.as_str(), &one.place]).collect()))
            }
            (list("at", process.local_states.iter().map(|one| [one.at.as_str(), &one.values]).collect()))
        }
    };
    html! {
        @for process in crate::guarantees::document(run, result).unwrap_or_default().iter().take(8) {
            (folded(format_args!("Guarantee and local states of {}", process.process), inner(process)))
        }
    }
}

/// What the checker verified, and its result.
fn checked(result: &PropertyResult) -> Markup {
    let text = match &result.audit {
        Audit::Proof(obligations) => obligations_html(obligations),
        Audit::Accepted => html! { p { "✔ checked by independent code" } },
        Audit::NotDone => return Markup::default(),
        Audit::Stopped(reason) => html! { p { "⚠ not checked by independent code: " (reason.to_string()) } },
    };
    html! { h4 { "Certificate" } (text) }
}

fn obligations_html(obligations: &DischargedObligations) -> Markup {
    let kinds = [
        (obligations.initiality, "initial states are inside"),
        (obligations.step, "own steps stay inside"),
        (obligations.non_interference, "steps of others stay inside"),
        (obligations.symmetry, "processes are alike"),
        (obligations.implication, "the property follows"),
        (obligations.ranks, "ranks go down on unfair runs"),
    ];
    let rows = html! {
        @for (number, words) in kinds.iter().filter(|(number, _)| *number > 0) {
            (row(words, &[&count(*number as u64), &"✔"]))
        }
    };
    html! {
        p {
            "✔ " (counted(obligations.total() as u64, "obligation holds", "obligations hold"))
            ", each checked by code that no engine shares."
        }
        (folded("Obligations by kind", table(Some("narrow"), heads(&["obligation", "number", "holds"]), rows)))
    }
}
