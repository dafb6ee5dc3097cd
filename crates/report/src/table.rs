//! Many runs at once: one row for each property, one column for each instance. Where the columns are too many for the page, they are in
//! several tables; one program at several sizes has its own table (`sweep`).

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;
use explain::names::parameters;

use crate::human::{advice, tally};
use crate::item::{Item, count_errors};
use crate::numbers::{counted, duration};
use crate::style::{Ink, Mark, Style};
use crate::sweep::{self, Sweep};
use crate::text::{clean, cut, pad, width};

/// So many commands are shown under a table.
const MOST_COMMANDS: usize = 3;

/// A row of the table.
struct Line {
    /// The name of the program's file; with its instance where columns are methods.
    file: String,
    program: String,
    property: String,
    /// One for each column; empty where the instance has no such property.
    cells: Vec<(String, Ink)>,
}

/// The table, and a last line with the counts.
pub fn draw(items: &[Item<'_>], style: &Style) -> String {
    let runs: Vec<&Run> = items.iter().filter_map(Item::run).map(|run| &**run).collect();
    let sweep = if runs.len() == items.len() { Sweep::of(&runs) } else { None };
    let table = match sweep {
        Some(sweep) => sweep::draw(&sweep, style) + "\n",
        None => by_property(items, &runs, style),
    };
    table + &closing(items, &runs, style) + &next(&runs, style)
}

/// A row for each property, a column for each instance; as many columns side by side as there is room for.
fn by_property(items: &[Item<'_>], runs: &[&Run], style: &Style) -> String {
    let columns = instances(runs);
    let lines = lines(items, &columns, compares_methods(runs), style);
    let program = lines.iter().map(|line| width(&line.program)).max().unwrap_or(0).min(24);
    let property = lines.iter().map(|line| width(&line.property)).max().unwrap_or(0).min(28);
    let widths: Vec<usize> = (0..columns.len())
        .map(|nth| lines.iter().map(|line| width(&line.cells[nth].0)).chain([width(&columns[nth])]).max().unwrap_or(0))
        .collect();
    let room = style.width.saturating_sub(program + property + 4);
    let mut out = String::new();
    let mut from = 0;
    while from < columns.len() {
        let mut used = 0;
        let fits = |width: &&usize| {
            used += **width + 3;
            used <= room + 3
        };
        let to = from + widths[from..].iter().take_while(fits).count().max(1);
        let table = Table { titles: &columns[from..to], widths: &widths[from..to], leads: [program, property], from };
        out.push_str(if from == 0 { "" } else { "\n" });
        out.push_str(&table.draw(&lines, style));
        from = to;
    }
    out
}

/// Some columns side by side.
struct Table<'a> {
    titles: &'a [String],
    widths: &'a [usize],
    /// How wide the columns of programs and properties are.
    leads: [usize; 2],
    /// The position of the first column.
    from: usize,
}

impl Table<'_> {
    fn draw(&self, lines: &[Line], style: &Style) -> String {
        let [program, property] = self.leads;
        let mut out = String::new();
        if self.titles.iter().any(|title| !title.is_empty()) {
            let titles = self.titles.iter().zip(self.widths).map(|(title, &columns)| pad(title, columns));
            let head =
                format!("{}  {}  {}", pad("", program), pad("", property), titles.collect::<Vec<_>>().join("   "));
            out.push_str(&style.paint(Ink::Strong, head.trim_end()));
            out.push('\n');
        }
        let mut last_file = None;
        for line in lines {
            let cells = &line.cells[self.from..self.from + self.titles.len()];
            if cells.iter().all(|(text, _)| text.is_empty()) {
                continue;
            }
            // A program is named beside the first of its properties.
            let name = if last_file == Some(&line.file) { "" } else { &line.program };
            last_file = Some(&line.file);
            let mut parts = format!(
                "{}  {}  ",
                pad(&cut(name, program, style), program),
                pad(&cut(&line.property, property, style), property)
            );
            let cells = cells.iter().zip(self.widths).map(|((text, ink), &columns)| {
                let gap = " ".repeat(columns - width(text));
                format!("{}{gap}", style.paint(*ink, text))
            });
            parts.push_str(&cells.collect::<Vec<_>>().join("   "));
            out.push_str(parts.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Whether the runs are by different methods, which then are the columns.
fn compares_methods(runs: &[&Run]) -> bool {
    runs.iter().any(|run| run.method != runs[0].method)
}

/// The instances or methods as columns, in the order in which they appear; one without a title where no file has two.
fn instances(runs: &[&Run]) -> Vec<String> {
    let by_method = compares_methods(runs);
    let several = by_method
        || runs
            .iter()
            .enumerate()
            .any(|(at, run)| runs[..at].iter().any(|other| other.source.name() == run.source.name()));
    if !several {
        return vec![String::new()];
    }
    let mut columns: Vec<String> = Vec::new();
    for run in runs {
        let instance = if by_method { run.method.to_owned() } else { parameters(&run.model) };
        if !columns.contains(&instance) {
            columns.push(instance);
        }
    }
    columns
}

fn lines(items: &[Item<'_>], columns: &[String], by_method: bool, style: &Style) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let single = by_method || columns.len() == 1 && columns[0].is_empty();
    let empty = || vec![(String::new(), Ink::Dim); columns.len()];
    for item in items {
        let file = item.source().name().to_owned();
        let run = match item {
            Item::Checked(run, _) => run,
            Item::Refused(_, diagnostics) => {
                let mut cells = empty();
                cells[0] = (format!("{} {}", style.mark(Mark::Violated), count_errors(diagnostics)), Ink::Bad);
                lines.push(Line { program: clean(&file), file, property: String::new(), cells });
                continue;
            }
        };
        let instance = parameters(&run.model);
        let title = if by_method { run.method } else { &instance };
        let column = columns.iter().position(|column| column == title).unwrap_or(0);
        let file = if by_method { format!("{file} {instance}") } else { file };
        for result in &run.results {
            let property = clean(&run.model.properties[result.property].name);
            let known = lines.iter().position(|line| line.file == file && line.property == property);
            let at = known.unwrap_or_else(|| {
                let name = clean(&run.model.name);
                let program = match single && !instance.is_empty() {
                    true => format!("{name} {}", instance.replace(" = ", "=")),
                    false => name,
                };
                lines.push(Line { file: file.clone(), program, property, cells: empty() });
                lines.len() - 1
            });
            lines[at].cells[column] = cell(run, result, style);
        }
    }
    lines
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
    let unaudited = if result.unaudited().is_some() { style.mark(Mark::Unaudited) } else { "" };
    let (vacuous, ink) = match result.insight.is_vacuous() {
        Some(true) => (" vacuous", Ink::Doubt),
        _ => ("", ink),
    };
    (format!("{}{unaudited} {detail}{vacuous}{unexpected}", style.mark(mark)), ink)
}

/// The commands that show what is not as expected, a few of them.
fn next(runs: &[&Run], style: &Style) -> String {
    let unexpected = runs.iter().flat_map(|run| {
        let results = run.results.iter().filter(|result| result.as_expected(&run.model) == Some(false));
        results.map(|result| advice::show(run, result))
    });
    let commands: Vec<String> = unexpected.collect();
    let mut out = String::new();
    for (nth, command) in commands.iter().take(MOST_COMMANDS).enumerate() {
        let lead = if nth == 0 { style.paint(Ink::Line, "next:") } else { "     ".to_owned() };
        out.push_str(&format!("  {lead}  {command}\n"));
    }
    if commands.len() > MOST_COMMANDS {
        out.push_str(&format!("         and {} more\n", commands.len() - MOST_COMMANDS));
    }
    out
}

fn closing(items: &[Item<'_>], runs: &[&Run], style: &Style) -> String {
    let tally = tally(runs.iter().copied());
    let (mark, ink) = tally.mark();
    let n_refused = items.len() - runs.len();
    let mut text = format!("{} {}: {}", style.mark(mark), counted(tally.total(), "check", "checks"), tally.words());
    if tally.unexpected > 0 {
        text.push_str(" (marked !)");
    }
    if tally.unaudited > 0 {
        text.push_str(&format!(" (unaudited marked {})", style.mark(Mark::Unaudited)));
    }
    let mut ink = ink;
    if n_refused > 0 {
        text.push_str(&format!("; {} refused", counted(n_refused as u64, "file", "files")));
        ink = Ink::Bad;
    }
    let time = runs.iter().map(|run| run.time).sum();
    let mut out = format!("{}   {}\n", style.paint(ink, &text), style.paint(Ink::Dim, &duration(time)));
    let mut left_open =
        runs.iter().flat_map(|run| &run.model.parameters).filter(|parameter| !parameter.given).peekable();
    if left_open.peek().is_some() {
        let text = match left_open.all(|parameter| parameter.value == parameter.least) {
            true => "  parameters that were not given have their least values",
            false => "  parameters that were not given have their defaults or least values",
        };
        out.push_str(&style.paint(Ink::Dim, text));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use base::{Diagnostic, SourceFile, Span};

    use super::*;
    use crate::Files;
    use crate::testing::{broken_lock, counter, explained, large_broken_lock, mux_sem, philosophers};

    #[test]
    fn a_sweep_has_a_column_for_each_instance() {
        let runs = [mux_sem(2), mux_sem(3), broken_lock(2), broken_lock(3), broken_lock(4)];
        let files = Files::default();
        let runs: Vec<_> = runs.iter().map(explained).collect();
        let items: Vec<Item<'_>> = runs.iter().map(|run| Item::Checked(run, &files)).collect();
        crate::testing::assert_shown("table__a_sweep_has_a_column_for_each_instance", &draw(&items, &Style::default()));
    }

    #[test]
    fn many_instances_stand_in_several_tables() {
        let mut runs: Vec<Run> = (10..=18).map(large_broken_lock).collect();
        runs.push(counter());
        let files = Files::default();
        let runs: Vec<_> = runs.iter().map(explained).collect();
        let items: Vec<Item<'_>> = runs.iter().map(|run| Item::Checked(run, &files)).collect();
        let text = draw(&items, &Style::default());
        assert!(text.contains("N = 18") && text.lines().all(|line| width(line) <= 80), "{text}");
        assert!(text.lines().filter(|line| line.contains("N = ")).count() >= 2, "{text}");
    }

    #[test]
    fn several_files_have_one_column() {
        let runs = [mux_sem(2), philosophers(3), counter()];
        let (files, source) = (Files::default(), SourceFile::new("bad.pw", "x"));
        let errors = vec![Diagnostic::error("E0101", Span::new(0, 1), "wrong"); 3];
        let runs: Vec<_> = runs.iter().map(explained).collect();
        let mut items: Vec<Item<'_>> = runs.iter().map(|run| Item::Checked(run, &files)).collect();
        items.insert(1, Item::Refused(&source, &errors));
        crate::testing::assert_shown(
            "table__several_files_have_one_column",
            &draw(&items, &Style { ascii: true, ..Style::default() }),
        );
    }
}
