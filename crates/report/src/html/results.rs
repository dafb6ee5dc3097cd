//! All results at once: a table of properties and instances, or of methods.

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;
use explain::names::{parameters, property_title};
use maud::{Markup, html};

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
pub fn overview(entries: &[Entry<'_>]) -> Markup {
    if entries.len() < 2 {
        return Markup::default();
    }
    let all = programs(entries);
    html! {
        section.overview id="overview" aria-labelledby="overview-h" {
            h2 id="overview-h" { "Overview" }
            @if all.len() >= MANY {
                (many(entries))
            } @else {
                @for (name, instances) in &all { (program(entries, name, instances)) }
            }
        }
    }
}

/// The results of one of few programs.
fn program(entries: &[Entry<'_>], name: &str, instances: &[usize]) -> Markup {
    let checked: Vec<(usize, &Checked<'_>)> = instances
        .iter()
        .filter_map(|&at| if let Entry::Checked(checked) = &entries[at] { Some((at, checked)) } else { None })
        .collect();
    html! {
        (program_table(name, &checked))
        @if checked.len() > 1 { (sweep::sweep(&checked)) }
        @if checked.is_empty() { p.tone-bad { strong { "✘ " (name) } " was refused" } }
    }
}

/// So many programs have one table for all.
pub const MANY: usize = 4;

/// One table of everything: what is not as expected first; a script filters and sorts it.
fn many(entries: &[Entry<'_>]) -> Markup {
    let mut rows: Vec<(u8, Markup)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match entry {
            Entry::Refused { source, .. } => {
                let row = html! {
                    tr {
                        th scope="row" { a href={ "#r" (at) } { (source.name()) } }
                        td {}
                        td {}
                        td.tone-bad data-key="0" { "✘ refused" }
                        td {}
                        td {}
                    }
                };
                rows.push((0, row));
            }
            Entry::Checked(checked) => {
                let run = checked.run;
                rows.extend((0..run.results.len()).map(|nth| one_of_many(run, at, nth)));
            }
        }
    }
    rows.sort_by_key(|(rank, _)| *rank);
    let names = ["program", "instance", "property", "verdict", "method", "seconds"];
    let head = html! { @for name in names { th scope="col" { button type="button" disabled { (name) } } } };
    html! {
        div.many {
            p.filter hidden {
                label { "Filter " input type="search" placeholder="words, such as: violated mutex"; }
                " "
                span class="tally dim" role="status" {}
            }
            (table(Some("results"), head, html! { @for (_, row) in &rows { (row) } }))
        }
    }
}

/// A row of that table, with its rank: unexpected, not decided, as expected.
fn one_of_many(run: &Run, at: usize, nth: usize) -> (u8, Markup) {
    let result = &run.results[nth];
    let (tone, mark, word) = label(run, result);
    let (rank, unexpected) = match result.as_expected(&run.model) {
        Some(false) => (0, " !"),
        None => (1, ""),
        Some(true) if is_expected(run, result) => (2, ", as expected"),
        Some(true) => (2, ""),
    };
    let row = html! {
        tr {
            th scope="row" { a href={ "#r" (at) } { (run.model.name) } }
            td { (parameters(&run.model)) }
            td { a href={ "#" (id(at, nth)) } { (property_title(&run.model, result.property)) } }
            td class=(class(run, result, tone)) data-key={ (rank) " " (word) } {
                (mark) " " (word.to_lowercase()) (unexpected) (unaudited(result))
            }
            td { (result.method) }
            td.number { (format_args!("{:.2}", result.statistics.time.as_secs_f64())) }
        }
    };
    (rank, row)
}

fn unaudited(result: &PropertyResult) -> Markup {
    html! { @if result.unaudited().is_some() { " " span title="unaudited" { "°" } } }
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
fn program_table(name: &str, checked: &[(usize, &Checked<'_>)]) -> Markup {
    let Some((_, first)) = checked.first() else { return Markup::default() };
    let by_method = checked.iter().any(|(_, other)| other.run.method != first.run.method);
    let shown = if by_method { table_of_methods(checked) } else { table_of_instances(checked) };
    html! { h3 { (name) } (wide(&format!("results of {name}"), shown)) }
}

fn table_of_instances(checked: &[(usize, &Checked<'_>)]) -> Markup {
    let runs: Vec<&Run> = checked.iter().map(|(_, one)| &**one.run).collect();
    let instance = |run: &Run| match parameters(&run.model) {
        none if none.is_empty() => "result".to_owned(),
        instance => instance,
    };
    let head = html! {
        th scope="col" { "property" }
        @for (at, one) in checked { th scope="col" { a href={ "#r" (at) } { (instance(one.run)) } } }
    };
    let rows = html! {
        @for (hue, title) in titles(&runs).iter().enumerate() {
            tr {
                th scope="row" { @if checked.len() > 1 { (swatch(hue)) } (title) }
                @for (at, one) in checked { (cell_of(one.run, *at, (title, &instance(one.run)))) }
            }
        }
    };
    table(Some("results"), head, rows)
}

fn table_of_methods(checked: &[(usize, &Checked<'_>)]) -> Markup {
    let runs: Vec<&Run> = checked.iter().map(|(_, one)| &**one.run).collect();
    let methods = methods(&runs);
    let mut instances: Vec<String> = Vec::new();
    for run in &runs {
        let instance = parameters(&run.model);
        if !instances.contains(&instance) {
            instances.push(instance);
        }
    }
    let head = html! {
        th scope="col" { "instance" }
        th scope="col" { "property" }
        @for (hue, method) in methods.iter().enumerate() { th scope="col" { (swatch(hue)) (method) } }
    };
    let titles = titles(&runs);
    let find = |instance: &str, method: &str| {
        checked.iter().find(|(_, one)| one.run.method == method && parameters(&one.run.model) == instance)
    };
    let rows = html! {
        @for instance in &instances {
            @for title in &titles {
                tr {
                    th scope="row" { (instance) }
                    td { (title) }
                    @for method in &methods {
                        @if let Some((at, one)) = find(instance, method) { (cell_of(one.run, *at, (title, method))) } @else { td {} }
                    }
                }
            }
        }
    };
    table(Some("results"), head, rows)
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
pub(super) fn swatch(hue: usize) -> Markup {
    html! { span class={ "swatch s" (hue % plot::N_HUES) } aria-hidden="true" {} }
}

/// The cell of a property in a column, whose head small screens show beside it.
fn cell_of(run: &Run, at: usize, (title, column): (&str, &str)) -> Markup {
    let found = run.results.iter().position(|result| property_title(&run.model, result.property) == title);
    found.map_or_else(|| html! { td {} }, |nth| cell(run, (at, nth), column))
}

fn cell(run: &Run, (at, nth): (usize, usize), column: &str) -> Markup {
    let result = &run.results[nth];
    let (tone, mark, word) = label(run, result);
    let detail = match &result.verdict {
        Verdict::Violated(Evidence::Trace(trace)) => counted(trace.n_steps() as u64, "step", "steps"),
        Verdict::Unknown(reason) => reason.code().replace('-', " "),
        _ => duration(result.statistics.time),
    };
    let is_expected = is_expected(run, result);
    html! {
        td class=(class(run, result, tone)) title=[is_expected.then_some("expected")] data-of=(column) {
            a href={ "#" (id(at, nth)) } {
                span aria-hidden="true" { (mark) }
                span.hear { (word.to_lowercase()) }
                " " (detail)
                @if result.as_expected(&run.model) == Some(false) {
                    " !"
                } @else if is_expected {
                    span.hear { ", expected" }
                }
                (unaudited(result))
            }
        }
    }
}
