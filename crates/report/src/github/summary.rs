//! The summary of a job on GitHub, in Markdown: a table of all verdicts, and below it what there is to see about those that are not as
//! expected.

use engine::Verdict;
use explain::finding::Urgency;

use crate::diagnostics;
use crate::findings::ReportedFinding;
use crate::human::tally;
use crate::item::{Item, count_errors};
use crate::numbers::{counted, duration};
use crate::style::Style;

/// GitHub refuses summaries of more than a mebibyte; several steps share it.
const MOST_BYTES: usize = 400_000;

/// The summary of a call.
pub fn summary(items: &[Item<'_>]) -> String {
    let mut out = format!("### Piecewise: {}\n\n", heading(items));
    out.push_str("| | program | property | verdict | method | time |\n|---|---|---|---|---|---|\n");
    for item in items {
        match item {
            Item::Checked(run, _) => ReportedFinding::all(run).for_each(|found| out.push_str(&row(&found))),
            Item::Refused(source, diagnostics) => {
                let (name, errors) = (escaped(source.name()), count_errors(diagnostics));
                out.push_str(&format!("| ✘ | {name} | | refused: {errors} | | |\n"));
            }
        }
    }
    out.push('\n');
    let mut n_left = 0;
    for (title, text) in items.iter().flat_map(details) {
        if out.len() + text.len() > MOST_BYTES {
            n_left += 1;
            continue;
        }
        out.push_str(&folded(&title, &text));
    }
    if n_left > 0 {
        out.push_str(&format!("{} too long for this page.\n", counted(n_left, "more is", "more are")));
    }
    out
}

/// How many properties have which verdict.
fn heading(items: &[Item<'_>]) -> String {
    let tally = tally(items.iter().filter_map(Item::run).map(|run| &**run));
    let n_refused = items.iter().filter(|item| item.run().is_none()).count() as u64;
    let mut parts = Vec::new();
    if tally.total() > 0 {
        parts.push(format!("{}: {}", counted(tally.total(), "check", "checks"), tally.words()));
    }
    if n_refused > 0 {
        parts.push(format!("{} refused", counted(n_refused, "file", "files")));
    }
    parts.join("; ")
}

fn row(found: &ReportedFinding<'_>) -> String {
    let mark = match found.finding.standing {
        Urgency::AsExpected => "✔",
        Urgency::Vacuous => "⚠",
        Urgency::Undecided => "?",
        Urgency::NotAsExpected => "✘",
    };
    let program = format!("{} {}", found.run.model.name, found.finding.instance);
    format!(
        "| {mark} | {} | {} | {} | {} | {} |\n",
        escaped(program.trim_end()),
        escaped(&found.finding.title),
        escaped(&found.finding.sentence),
        escaped(found.result.method),
        duration(found.result.statistics.time)
    )
}

/// What there is to see about an item, each with its title.
fn details(item: &Item<'_>) -> Vec<(String, String)> {
    match item {
        Item::Checked(run, _) => ReportedFinding::all(run)
            .filter(|found| found.finding.standing == Urgency::NotAsExpected)
            .filter(|found| !matches!(found.result.verdict, Verdict::Unknown(_)))
            .map(|found| {
                (format!("{} {}: {}", run.model.name, found.finding.instance, found.finding.title), found.text())
            })
            .collect(),
        Item::Refused(source, messages) => {
            vec![(source.name().to_owned(), diagnostics::draw(source, messages, &Style::default()))]
        }
    }
}

/// A text that is folded until the reader opens it.
fn folded(title: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let html = title.replace('&', "&amp;").replace('<', "&lt;");
    format!("<details><summary>{html}</summary>\n\n{fence}text\n{}\n{fence}\n\n</details>\n\n", text.trim_end())
}

/// Text in a cell of a table, without what has a meaning there.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => out.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            other => out.push(other),
        }
    }
    out
}
