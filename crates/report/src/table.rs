//! Many runs at once: one row for each property, one column for each instance.

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;

use crate::human::tally;
use crate::item::{Item, count_errors};
use crate::names::parameters;
use crate::numbers::{counted, duration};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, pad, width};

/// A row of the table.
struct Line {
    program: String,
    property: String,
    /// One for each column; empty where the instance has no such property.
    cells: Vec<(String, Ink)>,
}

/// The table, and a last line with the counts.
pub fn draw(items: &[Item<'_>], style: &Style) -> String {
    let runs: Vec<&Run> = items.iter().filter_map(Item::run).collect();
    let columns = instances(&runs);
    let lines = lines(items, &columns, style);
    let program = lines.iter().map(|line| width(&line.program)).max().unwrap_or(0).min(24);
    let property = lines.iter().map(|line| width(&line.property)).max().unwrap_or(0).min(28);
    let widths: Vec<usize> = (0..columns.len())
        .map(|nth| lines.iter().map(|line| width(&line.cells[nth].0)).chain([width(&columns[nth])]).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    if columns.iter().any(|column| !column.is_empty()) {
        let titles = columns.iter().zip(&widths).map(|(title, &columns)| pad(title, columns)).collect::<Vec<_>>();
        let head = format!("{}  {}  {}", pad("", program), pad("", property), titles.join("   "));
        out.push_str(&style.paint(Ink::Strong, head.trim_end()));
        out.push('\n');
    }
    for line in &lines {
        let mut parts = format!(
            "{}  {}  ",
            pad(&cut(&line.program, program, style), program),
            pad(&cut(&line.property, property, style), property)
        );
        let cells = line.cells.iter().zip(&widths).map(|((text, ink), &columns)| {
            let gap = " ".repeat(columns - width(text));
            format!("{}{gap}", style.paint(*ink, text))
        });
        parts.push_str(&cells.collect::<Vec<_>>().join("   "));
        out.push_str(parts.trim_end());
        out.push('\n');
    }
    out.push_str(&closing(items, &runs, style));
    out
}

/// The instances as columns, in the order in which they appear; one without a title where no file has two.
fn instances(runs: &[&Run]) -> Vec<String> {
    let several = runs
        .iter()
        .enumerate()
        .any(|(at, run)| runs[..at].iter().any(|other| other.source.name() == run.source.name()));
    if !several {
        return vec![String::new()];
    }
    let mut columns: Vec<String> = Vec::new();
    for run in runs {
        let instance = parameters(&run.model);
        if !columns.contains(&instance) {
            columns.push(instance);
        }
    }
    columns
}

fn lines(items: &[Item<'_>], columns: &[String], style: &Style) -> Vec<Line> {
    let mut lines: Vec<(String, Line)> = Vec::new();
    let single = columns.len() == 1 && columns[0].is_empty();
    for item in items {
        let run = match item {
            Item::Checked(run, _) => run,
            Item::Refused(source, diagnostics) => {
                let (name, why) = (source.name(), count_errors(diagnostics));
                let mut cells = vec![(String::new(), Ink::Dim); columns.len()];
                cells[0] = (format!("{} {why}", style.mark(Mark::Violated)), Ink::Bad);
                lines.push((format!("{name}\n"), Line { program: clean(name), property: String::new(), cells }));
                continue;
            }
        };
        let instance = parameters(&run.model);
        let column = columns.iter().position(|column| *column == instance).unwrap_or(0);
        for result in &run.results {
            let property = &run.model.properties[result.property].name;
            let key = format!("{}\n{property}", run.source.name());
            let at = lines.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                let first = !lines.iter().any(|(other, _)| other.starts_with(&format!("{}\n", run.source.name())));
                let name = clean(&run.model.name);
                let program = match (first, single && !instance.is_empty()) {
                    (true, true) => format!("{name} {}", instance.replace(" = ", "=")),
                    (true, false) => name,
                    (false, _) => String::new(),
                };
                let cells = vec![(String::new(), Ink::Dim); columns.len()];
                lines.push((key, Line { program, property: clean(property), cells }));
                lines.len() - 1
            });
            lines[at].1.cells[column] = cell(run, result, style);
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// `✔ 0.01 s`, `✘ 6 steps`, `? time-limit`; `!` where the verdict is not the expected one.
fn cell(run: &Run, result: &PropertyResult, style: &Style) -> (String, Ink) {
    let (mark, detail) = match &result.verdict {
        Verdict::Holds(_) => (Mark::Holds, duration(result.statistics.time)),
        Verdict::Violated(Evidence::Trace(trace)) => (Mark::Violated, counted(trace.n_steps() as u64, "step", "steps")),
        Verdict::Violated(
            Evidence::Exploration(_) | Evidence::Symbolic(_) | Evidence::Reduced(_) | Evidence::Certificate(_),
        ) => (Mark::Violated, "never".to_owned()),
        Verdict::Unknown(reason) => (Mark::Unknown, reason.code().to_owned()),
    };
    let (ink, unexpected) = match result.as_expected(&run.model) {
        Some(true) => (Ink::Good, ""),
        Some(false) => (Ink::Bad, " !"),
        None => (Ink::Doubt, ""),
    };
    (format!("{} {detail}{unexpected}", style.mark(mark)), ink)
}

fn closing(items: &[Item<'_>], runs: &[&Run], style: &Style) -> String {
    let tally = tally(runs.iter().copied());
    let (mark, ink) = tally.mark();
    let n_refused = items.len() - runs.len();
    let mut text = format!("{} {}: {}", style.mark(mark), counted(tally.total(), "check", "checks"), tally.words());
    if tally.unexpected > 0 {
        text.push_str(" (marked !)");
    }
    let mut ink = ink;
    if n_refused > 0 {
        text.push_str(&format!("; {} refused", counted(n_refused as u64, "file", "files")));
        ink = Ink::Bad;
    }
    let time = runs.iter().map(|run| run.time).sum();
    let mut out = format!("{}   {}\n", style.paint(ink, &text), style.paint(Ink::Dim, &duration(time)));
    if runs.iter().any(|run| run.model.parameters.iter().any(|parameter| !parameter.given)) {
        out.push_str(&style.paint(Ink::Dim, "  parameters that were not given have their least values"));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use base::{Diagnostic, SourceFile, Span};

    use super::*;
    use crate::Files;
    use crate::testing::{broken_lock, counter, mux_sem, philosophers};

    #[test]
    fn a_sweep_has_a_column_for_each_instance() {
        let runs = [mux_sem(2), mux_sem(3), broken_lock(2), broken_lock(3), broken_lock(4)];
        let files = Files::default();
        let items: Vec<Item<'_>> = runs.iter().map(|run| Item::Checked(run, &files)).collect();
        insta::assert_snapshot!(draw(&items, &Style::default()));
    }

    #[test]
    fn several_files_have_one_column() {
        let runs = [mux_sem(2), philosophers(3), counter()];
        let (files, source) = (Files::default(), SourceFile::new("bad.pw", "x"));
        let errors = vec![Diagnostic::error("E0101", Span::new(0, 1), "wrong"); 3];
        let mut items: Vec<Item<'_>> = runs.iter().map(|run| Item::Checked(run, &files)).collect();
        items.insert(1, Item::Refused(&source, &errors));
        insta::assert_snapshot!(draw(&items, &Style { ascii: true, ..Style::default() }));
    }
}
