//! All results at once: a table of properties and instances, and for sweeps the figures behind the plots.

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;
use explain::names::{parameters, property_title};
use model::size::ParameterId;

use super::escape::escaped;
use super::plot::{self, Line, Point};
use super::property::{id, label};
use super::table::{folded, heads, row, table, wide};
use super::{Checked, Entry};
use crate::human::verdict::wording;
use crate::numbers::{count, counted, duration};
use crate::style::{Ink, Style};
use crate::sweep::{self, Sweep};

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
            out.push_str(&sweep(&checked));
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

/// One row for each property, one column for each instance.
fn program_table(name: &str, checked: &[(usize, &Checked<'_>)]) -> String {
    if checked.is_empty() {
        return String::new();
    }
    let mut head = String::from("<th scope=\"col\">property</th>");
    for (at, one) in checked {
        let instance = parameters(&one.run.model);
        let by_method = checked.iter().any(|(_, other)| other.run.method != one.run.method);
        let instance = if by_method { format!("{instance} {}", one.run.method) } else { instance };
        let instance = if instance.is_empty() { "result".to_owned() } else { instance };
        head.push_str(&format!("<th scope=\"col\"><a href=\"#r{at}\">{}</a></th>", escaped(&instance)));
    }
    let mut titles: Vec<String> = Vec::new();
    for (_, one) in checked {
        for result in &one.run.results {
            let title = property_title(&one.run.model, result.property);
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
    }
    let mut rows = String::new();
    for title in &titles {
        rows.push_str(&format!("<tr><th scope=\"row\">{}</th>", escaped(title)));
        for (at, one) in checked {
            let found =
                one.run.results.iter().position(|result| property_title(&one.run.model, result.property) == *title);
            rows.push_str(&found.map_or("<td></td>".to_owned(), |nth| cell(one.run, *at, nth)));
        }
        rows.push_str("</tr>\n");
    }
    let shown = table("results", &head, &rows);
    format!("<h3>{}</h3>\n{}", escaped(name), wide(&format!("results of {name}"), &shown))
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
        _ if is_expected(run, result) => ", expected",
        _ => "",
    };
    let unaudited = if result.unaudited().is_some() { " <span title=\"unaudited\">°</span>" } else { "" };
    format!(
        "<td class=\"{}\"><a href=\"#{}\"><span aria-hidden=\"true\">{mark}</span><span class=\"hear\">{}</span> \
         {detail}{unexpected}{unaudited}</a></td>",
        class(run, result, tone),
        id(at, nth),
        word.to_lowercase()
    )
}

/// The plots of a sweep and the figures behind them.
fn sweep(checked: &[(usize, &Checked<'_>)]) -> String {
    let runs: Vec<&Run> = checked.iter().map(|(_, one)| &**one.run).collect();
    let Some(parameter) = varying(&runs) else { return String::new() };
    // A line for each property, whichever method answered at a size: the table has the methods.
    let (mut times, mut sizes, mut rows): (Vec<Line>, Vec<Line>, String) = Default::default();
    for run in &runs {
        let value = run.model.parameters[parameter].value;
        for result in &run.results {
            let by_method = runs.iter().any(|other| other.method != run.method);
            let title = property_title(&run.model, result.property);
            let title = if by_method { format!("{title} · {}", run.method) } else { title };
            let statistics = &result.statistics;
            let local: Option<u64> = statistics.local_states.as_ref().and_then(|all| all.iter().copied().sum());
            let decided = !matches!(result.verdict, Verdict::Unknown(_));
            let add = |lines: &mut Vec<Line>, name: String, y: f64| {
                let point = Point { x: value as f64, y, decided };
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line { name, points: vec![point] }),
                }
            };
            add(&mut times, title.clone(), statistics.time.as_secs_f64());
            let (size, what) = (local.or(statistics.global_states), if local.is_some() { "local" } else { "global" });
            if let Some(size) = size {
                add(&mut sizes, format!("{title} ({what})"), size as f64);
            }
            let number = |value: Option<u64>| value.map_or("–".to_owned(), count);
            let (tone, mark, word) = label(run, result);
            let verdict = format!("<span class=\"{}\">{mark} {}</span>", tone.class(), word.to_lowercase());
            let seconds = format!("{:.3}", statistics.time.as_secs_f64());
            let cells = [&escaped(&title), &verdict, result.method, &seconds, &number(local)];
            let cells: Vec<&str> = cells.into_iter().map(AsRef::as_ref).collect();
            rows.push_str(&row(&value.to_string(), &[&cells[..], &[&number(statistics.global_states)]].concat()));
        }
    }
    let name = escaped(&runs[0].model.parameters[parameter].name);
    let plots = [("Time in seconds", times), ("States that were stored", sizes)];
    let drawn: String = plots.into_iter().map(|(title, lines)| plot::draw(title, &name, lines)).collect();
    let names = [name.as_str(), "property", "verdict", "method", "seconds", "local states", "global states"];
    let figures = wide("figures of the sweep", &table("", &heads(&names), &rows));
    let remarks = growth(&runs);
    format!("<div class=\"plots\">{drawn}</div>\n{remarks}{}", folded("The figures as a table", &figures))
}

/// How each property grows with the size, in words.
fn growth(runs: &[&Run]) -> String {
    let Some(sweep) = Sweep::of(runs) else { return String::new() };
    let remark = |row: &sweep::Row<'_>| {
        let remarks = sweep::remarks(&sweep, row, &Style::default());
        if remarks.is_empty() {
            return String::new();
        }
        format!("<li><strong>{}</strong>: {}</li>\n", escaped(row.property), escaped(&remarks.join("; ")))
    };
    let items: String = sweep.rows.iter().map(remark).collect();
    if items.is_empty() { items } else { format!("<ul class=\"growth\">\n{items}</ul>\n") }
}

/// The first parameter that is not the same in all runs.
fn varying(runs: &[&Run]) -> Option<ParameterId> {
    let first = runs.first()?;
    first.model.parameters.ids().find(|&id| {
        let value = |run: &&Run| run.model.parameters.get(id).map(|parameter| parameter.value);
        runs.iter().any(|run| value(run) != value(first))
    })
}
