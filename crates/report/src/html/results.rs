//! All results at once: a table of properties and instances, or of methods.

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;
use explain::names::{parameters, property_title};

use super::escape::escaped;
use super::plot;
use super::property::{id, label};
use super::sweep;
use super::table::{table, wide};
use super::{Checked, Entry};
use crate::human::verdict::wording;
use crate::numbers::{counted, duration};
use crate::style::Ink;

/// What a result is, for its colour; words and marks say it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It holds.
    Good,
    /// It is violated, or not what was expected.
    Bad,
    /// Not decided, or to be looked at.
    Doubt,
}

impl Tone {
    /// The name of its class.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "tone-good",
            Tone::Bad => "tone-bad",
            Tone::Doubt => "tone-doubt",
        }
    }
}

/// The tone of a result: a violation has that of bad news, although its author may expect it.
pub fn tone(run: &Run, result: &PropertyResult) -> Tone {
    match (wording(run, result).ink, &result.verdict) {
        (Ink::Bad, _) | (Ink::Good, Verdict::Violated(_)) => Tone::Bad,
        (Ink::Good, _) => Tone::Good,
        _ => Tone::Doubt,
    }
}

/// What a call is about: programs, each with its instances by position.
pub fn programs<'e>(entries: &'e [Entry<'_>]) -> Vec<(&'e str, Vec<usize>)> {
    let mut out: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let name = match entry {
            Entry::Checked(checked) => checked.run.source.name(),
            Entry::Refused { source, .. } => source.name(),
        };
        match out.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(at),
            None => out.push((name, vec![at])),
        }
    }
    out
}

/// The table over all runs, and for each sweep its plots; nothing for a single run.
pub fn overview(entries: &[Entry<'_>]) -> String {
    if entries.len() < 2 {
        return String::new();
    }
    let mut out = String::from(
        "<section class=\"overview\" id=\"overview\" aria-labelledby=\"overview-h\">\n<h2 \
         id=\"overview-h\">Overview</h2>\n",
    );
    let all = programs(entries);
    if all.len() >= MANY {
        return out + &many(entries) + "</section>\n";
    }
    for (name, instances) in all {
        let checked: Vec<(usize, &Checked<'_>)> = instances
            .iter()
            .filter_map(|&at| if let Entry::Checked(checked) = &entries[at] { Some((at, checked)) } else { None })
            .collect();
        out.push_str(&program_table(name, &checked));
        if checked.len() > 1 {
            out.push_str(&sweep::sweep(&checked));
        }
        if checked.is_empty() {
            out.push_str(&format!("<p class=\"tone-bad\"><strong>✘ {}</strong> was refused</p>\n", escaped(name)));
        }
    }
    out + "</section>\n"
}

/// So many programs have one table for all.
pub const MANY: usize = 4;

/// One table of everything: what is not as expected first; a script filters and sorts it.
fn many(entries: &[Entry<'_>]) -> String {
    let mut rows: Vec<(u8, String)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match entry {
            Entry::Refused { source, .. } => {
                let name = escaped(source.name());
                let cells = format!("<th scope=\"row\"><a href=\"#r{at}\">{name}</a></th><td></td><td></td>");
                let verdict = "<td class=\"tone-bad\" data-key=\"0\">✘ refused</td><td></td><td></td>";
                rows.push((0, format!("<tr>{cells}{verdict}</tr>\n")));
            }
            Entry::Checked(checked) => {
                let run = checked.run;
                rows.extend((0..run.results.len()).map(|nth| one_of_many(run, at, nth)));
            }
        }
    }
    rows.sort_by_key(|(rank, _)| *rank);
    let rows: String = rows.into_iter().map(|(_, row)| row).collect();
    let names = ["program", "instance", "property", "verdict", "method", "seconds"];
    let head = |name: &&str| format!("<th scope=\"col\"><button type=\"button\" disabled>{name}</button></th>");
    let head: String = names.iter().map(head).collect();
    format!(
        "<div class=\"many\"><p class=\"filter\" hidden><label>Filter <input type=\"search\" \
         placeholder=\"words, such as: violated mutex\"></label> <span class=\"tally dim\" role=\"status\"></span></p>\n{}</div>\n",
        table("results", &head, &rows)
    )
}

/// A row of that table, with its rank: unexpected, not decided, as expected.
fn one_of_many(run: &Run, at: usize, nth: usize) -> (u8, String) {
    let result = &run.results[nth];
    let (tone, mark, word) = label(run, result);
    let (rank, unexpected) = match result.as_expected(&run.model) {
        Some(false) => (0, " !"),
        None => (1, ""),
        Some(true) if is_expected(run, result) => (2, ", as expected"),
        Some(true) => (2, ""),
    };
    let unaudited = if result.unaudited().is_some() { " <span title=\"unaudited\">°</span>" } else { "" };
    let seconds = format!("{:.2}", result.statistics.time.as_secs_f64());
    let row = format!(
        "<tr><th scope=\"row\"><a href=\"#r{at}\">{}</a></th><td>{}</td><td><a href=\"#{}\">{}</a></td>\
         <td class=\"{}\" data-key=\"{rank} {word}\">{mark} {}{unexpected}{unaudited}</td><td>{}</td><td class=\"number\">{seconds}</td></tr>\n",
        escaped(&run.model.name),
        escaped(&parameters(&run.model)),
        id(at, nth),
        escaped(&property_title(&run.model, result.property)),
        class(run, result, tone),
        word.to_lowercase(),
        result.method,
    );
    (rank, row)
}

/// Whether it is a violation, and its author expects it.
fn is_expected(run: &Run, result: &PropertyResult) -> bool {
    matches!(result.verdict, Verdict::Violated(_)) && result.as_expected(&run.model) == Some(true)
}

/// The class of a cell: what is expected does not shout.
fn class(run: &Run, result: &PropertyResult, tone: Tone) -> &'static str {
    if is_expected(run, result) { "expected" } else { tone.class() }
}

/// One row for each property and one column for each instance; where several methods are compared, one row for each instance and property and
/// one column for each method.
fn program_table(name: &str, checked: &[(usize, &Checked<'_>)]) -> String {
    let Some((_, first)) = checked.first() else { return String::new() };
    let by_method = checked.iter().any(|(_, other)| other.run.method != first.run.method);
    let shown = if by_method { table_of_methods(checked) } else { table_of_instances(checked) };
    format!("<h3>{}</h3>\n{}", escaped(name), wide(&format!("results of {name}"), &shown))
}

fn table_of_instances(checked: &[(usize, &Checked<'_>)]) -> String {
    let mut head = String::from("<th scope=\"col\">property</th>");
    for (at, one) in checked {
        let instance = parameters(&one.run.model);
        let instance = if instance.is_empty() { "result".to_owned() } else { instance };
        head.push_str(&format!("<th scope=\"col\"><a href=\"#r{at}\">{}</a></th>", escaped(&instance)));
    }
    let runs: Vec<&Run> = checked.iter().map(|(_, one)| &**one.run).collect();
    let mut rows = String::new();
    for (hue, title) in titles(&runs).iter().enumerate() {
        let colour = if checked.len() > 1 { swatch(hue) } else { String::new() };
        rows.push_str(&format!("<tr><th scope=\"row\">{colour}{}</th>", escaped(title)));
        for (at, one) in checked {
            rows.push_str(&cell_of(one.run, *at, title));
        }
        rows.push_str("</tr>\n");
    }
    table("results", &head, &rows)
}

fn table_of_methods(checked: &[(usize, &Checked<'_>)]) -> String {
    let runs: Vec<&Run> = checked.iter().map(|(_, one)| &**one.run).collect();
    let methods = methods(&runs);
    let mut instances: Vec<String> = Vec::new();
    for run in &runs {
        let instance = parameters(&run.model);
        if !instances.contains(&instance) {
            instances.push(instance);
        }
    }
    let mut head = String::from("<th scope=\"col\">instance</th><th scope=\"col\">property</th>");
    for (hue, method) in methods.iter().enumerate() {
        head.push_str(&format!("<th scope=\"col\">{}{method}</th>", swatch(hue)));
    }
    let mut rows = String::new();
    for instance in &instances {
        for title in titles(&runs) {
            rows.push_str(&format!("<tr><th scope=\"row\">{}</th><td>{}</td>", escaped(instance), escaped(&title)));
            for method in &methods {
                let is_meant = |(_, one): &&(usize, &Checked<'_>)| {
                    one.run.method == *method && parameters(&one.run.model) == *instance
                };
                let found = checked.iter().find(is_meant);
                rows.push_str(&found.map_or("<td></td>".to_owned(), |(at, one)| cell_of(one.run, *at, &title)));
            }
            rows.push_str("</tr>\n");
        }
    }
    table("results", &head, &rows)
}

/// The properties of runs, each once, in their order: the position of one is its colour throughout the page.
pub(super) fn titles(runs: &[&Run]) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    for run in runs {
        for result in &run.results {
            let title = property_title(&run.model, result.property);
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
    }
    titles
}

/// The methods of runs, each once, in their order.
pub(super) fn methods(runs: &[&Run]) -> Vec<&'static str> {
    let mut methods: Vec<&'static str> = Vec::new();
    for run in runs {
        if !methods.contains(&run.method) {
            methods.push(run.method);
        }
    }
    methods
}

/// A patch of the colour that a line has in plots.
pub(super) fn swatch(hue: usize) -> String {
    format!("<span class=\"swatch s{}\" aria-hidden=\"true\"></span>", hue % plot::N_HUES)
}

fn cell_of(run: &Run, at: usize, title: &str) -> String {
    let found = run.results.iter().position(|result| property_title(&run.model, result.property) == title);
    found.map_or("<td></td>".to_owned(), |nth| cell(run, at, nth))
}

fn cell(run: &Run, at: usize, nth: usize) -> String {
    let result = &run.results[nth];
    let (tone, mark, word) = label(run, result);
    let detail = match &result.verdict {
        Verdict::Violated(Evidence::Trace(trace)) => counted(trace.n_steps() as u64, "step", "steps"),
        Verdict::Unknown(reason) => reason.code().replace('-', " "),
        _ => duration(result.statistics.time),
    };
    let unexpected = match result.as_expected(&run.model) {
        Some(false) => " !",
        _ if is_expected(run, result) => "<span class=\"hear\">, expected</span>",
        _ => "",
    };
    let unaudited = if result.unaudited().is_some() { " <span title=\"unaudited\">°</span>" } else { "" };
    let title = if is_expected(run, result) { " title=\"expected\"" } else { "" };
    format!(
        "<td class=\"{}\"{title}><a href=\"#{}\"><span aria-hidden=\"true\">{mark}</span><span class=\"hear\">{}</span> \
         {detail}{unexpected}{unaudited}</a></td>",
        class(run, result, tone),
        id(at, nth),
        word.to_lowercase()
    )
}
