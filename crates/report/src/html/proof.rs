//! A proof on a page: what may be relied on, between the lines of the source; why the property follows; what was
//! exposed, round by round; which steps of others touch what; what the independent checker was asked.

use std::collections::BTreeMap;

use engine::run::{Audit, PropertyResult, Run};
use evidence::Certificate;
use evidence::certificate::Obligations;
use explain::Explained;
use explain::proof::story::{StoryLine, WaitLine};
use explain::proof::{Assertion, LocalProof, Part, Step, Story};

use super::escape::{code, escaped};
use super::graph;
use super::source::{Listing, notes, whole};
use super::table::{folded, heads, row, table, wide};
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
) -> String {
    let mut out = String::new();
    if let Some(earlier) = run.earlier(result) {
        let name = escaped(&run.model.properties[earlier.property].name);
        out.push_str(&format!("<p>By the same invariants as <a href=\"{}\">{name}</a>.</p>\n", link(earlier)));
        if let Some(story) = run.story(result) {
            out.push_str(&story_html(story));
        }
    } else if let Some(told) = run.proof(result) {
        out.push_str(&told_html(run, (result, proof), told));
    }
    if let Some(pushdown) = proof.pushdown() {
        let fact = |fact| {
            let (process, text) = crate::guarantees::exposed(&run.model, fact);
            let separator = if text.starts_with('@') { "" } else { "." };
            format!("<li>{}</li>\n", code(&format!("{process}{separator}{text}")))
        };
        let facts: String = pushdown.exposed.iter().take(MOST_ROWS).map(fact).collect();
        if !facts.is_empty() {
            out.push_str(&format!("<h4>What was exposed</h4>\n<ul>{facts}</ul>\n"));
        }
        out.push_str(&guarantees(run, result));
    }
    out + &checked(result)
}

fn told_html(run: &Explained, (result, proof): (&PropertyResult, &Certificate), told: &LocalProof) -> String {
    let mut out = String::new();
    // What others rely on is there to be looked up.
    let (first, others) = told.parts.split_at(told.parts.len().min(1));
    out.extend(first.iter().map(|part| format!("<h4>{}</h4>\n{}", escaped(&title(part)), part_html(part))));
    let others = others.iter().take(11).map(|part| folded(&escaped(&title(part)), &part_html(part)));
    out.extend(others);
    if told.parts.len() > 12 {
        out.push_str(&format!(
            "<p class=\"left-out\">and {} more; the result document has them all</p>\n",
            told.parts.len() - 12
        ));
    }
    if told.is_ring && told.names_neighbours() {
        let which = if told.is_scene { "" } else { " in the ring of processes" };
        out.push_str(&format!(
            "<p class=\"dim\"><code>i + 1</code> and <code>i - 1</code> are the neighbours of <code>i</code>{which}.</p>\n"
        ));
    }
    if !told.untold.is_empty() {
        out.push_str(
            "<p>The sets of this proof are too large to be put into words. A smaller N may be readable; the proof \
             file has them all.</p>\n",
        );
    }
    if let Some(why) = explain::proof::why(&run.model, result.property, told) {
        out.push_str(&format!("<p class=\"why\"><strong>Why it follows</strong> {}</p>\n", escaped(&why)));
    }
    if let Some(story) = run.story(result) {
        out.push_str(&story_html(story));
    }
    out.push_str(&source(run, told));
    for found in run.view_graphs(result) {
        out.push_str(&graph::of_views(&found));
    }
    if !told.is_scene {
        out.push_str(&exposed(run, (result, proof), told));
    }
    // That steps keep what they touch is what the checker of the proof finds out.
    if result.audit.is_accepted() {
        out.push_str(&interference(told));
    }
    out
}

/// Who waits for whom, and why that ends: as a table, as an argument, and as a picture.
fn story_html(story: &Story) -> String {
    let mut out = format!("<h4>{}</h4>\n", story_title(story));
    if !story.waits.is_empty() {
        let line = |wait: &WaitLine| {
            let holds = if wait.holds.is_empty() { String::new() } else { code(&wait.holds) };
            row(
                &escaped(&wait.who),
                &[&code(&wait.at), &holds, &escaped(&wait.whom.join("; or ")).replace(", who", ", <br>who")],
            )
        };
        let rows: String = story.waits.iter().take(MOST_ROWS).map(line).collect();
        out.push_str(&wide("", &table("waits", &heads(&["who", "waits at", "while", "for"]), &rows)));
    }
    if !story.lines.is_empty() {
        let line = |line: &StoryLine| {
            format!("<li style=\"margin-left:{:.1}em\">{}</li>\n", line.depth as f64 * 1.4, escaped(&line.text))
        };
        out.push_str(&format!("<ol class=\"story\">\n{}</ol>\n", story.lines.iter().map(line).collect::<String>()));
    }
    if !story.picture.boxes.is_empty() && story.picture.boxes.len() <= MOST_BOXES {
        out.push_str(&graph::of_story(&story.picture));
    }
    out
}

/// What is said of one member, or of all that read the same.
fn part_html(part: &Part) -> String {
    let mut out = String::new();
    let sentence = |(nth, one): (usize, &Assertion)| format!("<dt>I{}</dt><dd>{}</dd>\n", nth + 1, code(&one.text));
    let all: Vec<String> = part.always.iter().take(MOST_ROWS).enumerate().map(sentence).collect();
    let (few, more) = all.split_at(all.len().min(FEW_SENTENCES));
    if !few.is_empty() {
        out.push_str(&format!("<dl class=\"sentences\">\n{}</dl>\n", few.concat()));
    }
    if !more.is_empty() {
        let title = counted(more.len() as u64, "more sentence", "more sentences");
        out.push_str(&folded(&title, &format!("<dl class=\"sentences\">\n{}</dl>\n", more.concat())));
    }
    if part.places.iter().any(|at| !at.says.is_empty()) {
        let mut rows = String::new();
        for at in part.places.iter().take(MOST_ROWS) {
            let nothing = if part.always.is_empty() { "nothing" } else { "nothing more" };
            let says: Vec<String> = at.says.iter().map(|one| code(&one.text)).collect();
            let says = if says.is_empty() { format!("<span class=\"dim\">{nothing}</span>") } else { says.join(", ") };
            rows.push_str(&row(&escaped(&at.at.join(", ")), &[&says]));
        }
        out.push_str(&wide("", &table("", &heads(&["at", "also holds"]), &rows)));
    } else if part.always.is_empty() && part.n_left_out == 0 && !part.is_cut {
        out.push_str("<p>nothing: any combination of values will do</p>\n");
    }
    if part.n_left_out > 0 {
        let left_out = counted(part.n_left_out as u64, "sentence was", "sentences were");
        out.push_str(&format!("<p class=\"left-out\">{left_out} not checked and left out</p>\n"));
    }
    if part.is_cut {
        out.push_str("<p class=\"dim\">and more, which is not said shortly</p>\n");
    }
    let n_more = part.always.len().max(part.places.len()).saturating_sub(MOST_ROWS);
    if n_more > 0 {
        out.push_str(&format!("<p class=\"left-out\">and {n_more} more; the result document has them all</p>\n"));
    }
    if !part.unreached.is_empty() {
        out.push_str(&format!("<p>never at {}</p>\n", code(&part.unreached.join(", "))));
    }
    out
}

/// The source with the sentences between its lines, and which lines the proof needs.
fn source(run: &Run, told: &LocalProof) -> String {
    let mut marks: BTreeMap<u32, (&'static str, &'static str)> = BTreeMap::new();
    for &line in &told.used_lines {
        marks.insert(line, ("●", "used by the proof"));
    }
    for &line in &told.unused_lines {
        marks.insert(line, ("○", "not needed by the proof"));
    }
    let listing = Listing {
        source: &run.source,
        lines: whole(&run.source),
        before: notes(run, told),
        marks,
        title: "source with invariants between the lines".to_owned(),
    };
    let legend = match (told.used_lines.is_empty(), told.unused_lines.is_empty()) {
        (true, true) => String::new(),
        (_, true) => format!("<p class=\"legend\">● used by the proof: {}</p>\n", lines(&told.used_lines)),
        _ => format!(
            "<p class=\"legend\"><span>● used by the proof: {}</span><span>○ not needed: {}</span></p>\n",
            lines(&told.used_lines),
            lines(&told.unused_lines)
        ),
    };
    format!("<h4>Source with invariants</h4>\n{}{legend}", listing.html())
}

fn lines(numbers: &std::collections::BTreeSet<u32>) -> String {
    let shown: Vec<String> = numbers.iter().take(40).map(ToString::to_string).collect();
    let word = if numbers.len() == 1 { "line" } else { "lines" };
    format!("{word} {}{}", shown.join(", "), if numbers.len() > 40 { ", …" } else { "" })
}

/// What was exposed, by round where that is known.
fn exposed(run: &Run, (result, proof): (&PropertyResult, &Certificate), told: &LocalProof) -> String {
    if told.exposed.is_empty() {
        return "<h4>What was exposed</h4>\n<p>Nothing: no process had to look into another one.</p>\n".to_owned();
    }
    let rounds = &result.statistics.exposures;
    if rounds.is_empty() {
        let facts: String =
            told.exposed.iter().take(MOST_ROWS).map(|fact| format!("<li>{}</li>\n", code(&fact.text))).collect();
        return format!("<h4>What was exposed</h4>\n<ul>{facts}</ul>\n");
    }
    let mut rows = String::new();
    for (nth, round) in rounds.iter().take(MOST_ROWS).enumerate() {
        let text = explain::proof::round(&run.model, proof, round);
        let (facts, because) = text.split_once(", since nothing excluded  ").unwrap_or((&text, ""));
        let because = format!("<span class=\"state\">{}</span>", escaped(because));
        rows.push_str(&row(&(nth + 1).to_string(), &[&code(facts), &because]));
    }
    let table = table("", &heads(&["round", "fact", "not excluded before"]), &rows);
    format!(
        "<h4>What was exposed</h4>\n<p>{} that all others may look at, in {} of refinement. \
         Without it, nothing excluded the state beside it.</p>\n{}",
        counted(told.exposed.len() as u64, "fact", "facts"),
        counted(rounds.len() as u64, "round", "rounds"),
        wide("", &table)
    )
}

/// Which steps of others touch which sentence.
fn interference(told: &LocalProof) -> String {
    if told.disturbances.is_empty() {
        return String::new();
    }
    let steps: Vec<&Step> = told.disturbances.iter().take(MOST_COLUMNS).collect();
    let mut head = String::from("<th scope=\"col\">what is relied on</th>");
    for step in &steps {
        head.push_str(&format!(
            "<th scope=\"col\">{}<br><span class=\"dim\">line {}</span></th>",
            code(&step.statement),
            step.line
        ));
    }
    let mut rows = String::new();
    let (mut n_rows, mut n_untouched) = (0, 0);
    for part in &told.parts {
        for (nth, text) in part.sentences().into_iter().enumerate() {
            let is_touched = |step: &&Step| part.touched_by.get(nth).is_some_and(|touched| touched.contains(*step));
            if !steps.iter().any(is_touched) {
                n_untouched += 1;
                continue;
            }
            n_rows += 1;
            if n_rows > MOST_ROWS {
                continue;
            }
            let id = if nth < part.always.len() { format!("<b>I{}</b> ", nth + 1) } else { String::new() };
            rows.push_str(&format!("<tr><th scope=\"row\">{id}{}</th>", text_of(text)));
            for step in &steps {
                rows.push_str(if is_touched(step) {
                    "<td class=\"keeps\">✔ keeps</td>"
                } else {
                    "<td class=\"dim\"><span aria-label=\"does not touch it\">–</span></td>"
                });
            }
            rows.push_str("</tr>\n");
        }
    }
    let mut more = String::new();
    if n_untouched > 0 {
        let untouched = counted(n_untouched, "other sentence is", "other sentences are");
        more.push_str(&format!("<p class=\"left-out\">{untouched} touched by none of these steps</p>\n"));
    }
    if n_rows > MOST_ROWS {
        more.push_str(&format!("<p class=\"left-out\">and {} more rows</p>\n", n_rows - MOST_ROWS));
    }
    if told.disturbances.len() > MOST_COLUMNS {
        more.push_str(&format!(
            "<p class=\"left-out\">and {} more steps</p>\n",
            told.disturbances.len() - MOST_COLUMNS
        ));
    }
    let table = table("interference", &head, &rows);
    let inner = format!(
        "<p>Steps of other processes, and what they touch: ✔ the step touches it and keeps it \
         true, – the step does not touch it.</p>\n{}{more}",
        wide("interference", &table)
    );
    let n_steps = counted(told.disturbances.len() as u64, "step", "steps");
    folded(&format!("Interference: {n_steps} of other processes keep all of this"), &inner)
}

fn text_of((at, one): (String, &Assertion)) -> String {
    let text = &one.text;
    if at.is_empty() { code(text) } else { format!("<span class=\"dim\">at {}</span> {}", escaped(&at), code(text)) }
}

/// What processes guarantee to each other, where path edges are the proof.
fn guarantees(run: &Explained, result: &PropertyResult) -> String {
    let mut out = String::new();
    for process in crate::guarantees::document(run, result).unwrap_or_default().iter().take(8) {
        let name = escaped(&process.process);
        let list = |first: &str, entries: Vec<[&str; 2]>| {
            let rows = entries.iter().take(MOST_ROWS).map(|[one, other]| row(&code(one), &[&code(other)]));
            wide("", &table("", &heads(&[first, "where"]), &rows.collect::<String>()))
        };
        let changes = match process.changes.is_empty() {
            false => list("change", process.changes.iter().map(|one| [one.change.as_str(), &one.place]).collect()),
            true => "<p>it changes nothing that others see</p>\n".to_owned(),
        };
        let states = list("at", process.local_states.iter().map(|one| [one.at.as_str(), &one.values]).collect());
        let title = format!("Guarantee and local states of {name}");
        out.push_str(&folded(&title, &(changes + &states)));
    }
    out
}

/// What the independent checker was asked, and what it said.
fn checked(result: &PropertyResult) -> String {
    let text = match &result.audit {
        Audit::Proof(obligations) => obligations_html(obligations),
        Audit::Accepted => "<p>✔ checked by independent code</p>\n".to_owned(),
        Audit::NotDone => return String::new(),
        Audit::Stopped(reason) => {
            format!("<p>⚠ not checked by independent code: {}</p>\n", escaped(&reason.to_string()))
        }
    };
    format!("<h4>Certificate</h4>\n{text}")
}

fn obligations_html(obligations: &Obligations) -> String {
    let kinds = [
        (obligations.initiality, "initial states are inside"),
        (obligations.step, "own steps stay inside"),
        (obligations.non_interference, "steps of others stay inside"),
        (obligations.symmetry, "processes are alike"),
        (obligations.implication, "the property follows"),
        (obligations.ranks, "ranks go down on unfair runs"),
    ];
    let asked = kinds.iter().filter(|(number, _)| *number > 0);
    let rows: String = asked.map(|(number, words)| row(words, &[&count(*number as u64), "✔"])).collect();
    format!(
        "<p>✔ {}, each checked by code that no engine shares.</p>\n{}\n",
        counted(obligations.total() as u64, "obligation holds", "obligations hold"),
        table("narrow", &heads(&["obligation", "number", "holds"]), &rows)
    )
}
