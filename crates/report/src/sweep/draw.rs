//! A sweep as a table: a row for each size, and for each property its verdict, time and size; below it how they grow.
//!
//! As many properties are side by side as there is room for; the others follow in tables of their own.

use engine::Verdict;
use model::size::Parameter;

use super::{Extent, Sweep, SweepPoint, SweepRow};
use crate::numbers::{counted, duration};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, hang, pad, pad_left, spread, width};

/// Where more methods decide in turn along a sweep, it is not said of each up to which size.
const MOST_PARTS: usize = 4;

/// Of more sizes with gaps the heading names the first two and the last.
const MOST_SIZES: usize = 8;

/// How wide a property's name may make its column.
const WIDEST_NAME: usize = 24;

/// The table, and a line for each property about how it grows.
pub fn draw(sweep: &Sweep<'_>, style: &Style) -> String {
    let columns = style.width.min(80);
    let mut out = heading(sweep, columns, style);
    let sizes: Vec<String> = sweep.runs.iter().map(|run| size(sweep, run)).collect();
    let first = sizes.iter().map(|size| width(size)).chain([width(sweep.parameter)]).max().unwrap_or(1);
    let all: Vec<Column> = sweep.rows.iter().map(|row| Column::new(sweep, row, style)).collect();
    let mut left = &all[..];
    while !left.is_empty() {
        let mut used = first + 2;
        let fits = |column: &&Column| {
            used += column.width + 3;
            used <= columns
        };
        let n_shown = left.iter().take_while(fits).count().max(1);
        let (shown, rest) = left.split_at(n_shown);
        out.push('\n');
        out.push_str(&group(sweep, (&sizes, first), shown, style));
        left = rest;
    }
    let remarks: String = sweep.rows.iter().map(|row| remark(sweep, row, style)).collect();
    if !remarks.is_empty() {
        out.push('\n');
        out.push_str(&remarks);
    }
    out
}

/// The program, the sizes, the file.
fn heading(sweep: &Sweep<'_>, columns: usize, style: &Style) -> String {
    let run = sweep.runs[0];
    let name = clean(&run.model.name);
    let mut parameters = vec![format!("{} = {}", clean(sweep.parameter), sizes(sweep))];
    for other in run.model.parameters.iter().filter(|other| other.name != sweep.parameter) {
        parameters.push(beside(sweep, other));
    }
    let besides = run.model.given.iter().filter(|given| given.name != sweep.parameter);
    parameters.extend(besides.map(|given| format!("{} = {}", clean(&given.name), given.value)));
    let line = spread(&format!("{name}  {}", parameters.join(", ")), &clean(run.source.name()), columns);
    line.replacen(&name, &style.paint(Ink::Strong, &name), 1) + "\n"
}

/// The values of a parameter that is not swept: what it has where it is not given may depend on the one that is.
fn beside(sweep: &Sweep<'_>, parameter: &Parameter) -> String {
    let name = clean(&parameter.name);
    let mut values: Vec<i64> = sweep.runs.iter().filter_map(|run| run.model.number(&parameter.name)).collect();
    values.dedup();
    match (&values[..], parameter.given) {
        ([value], true) => format!("{name} = {value}"),
        ([value], false) if *value == parameter.least => format!("{name} = {value} (least)"),
        ([value], false) => format!("{name} = {value} (default)"),
        _ => format!("{name} = {}", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The sizes: `2..6` where there is no gap, and otherwise each, as long as there are few.
fn sizes(sweep: &Sweep<'_>) -> String {
    let all: Vec<String> = sweep.runs.iter().map(|run| size(sweep, run)).collect();
    let numbers: Vec<i64> = all.iter().filter_map(|one| one.parse().ok()).collect();
    let is_dense = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match &all[..] {
        [first, .., last] if is_dense => format!("{first}..{last}"),
        [first, second, .., last] if all.len() > MOST_SIZES => format!("{first}, {second}, ..., {last}"),
        _ => all.join(", "),
    }
}

fn size(sweep: &Sweep<'_>, run: &engine::run::Run) -> String {
    run.model.number(sweep.parameter).map(|size| size.to_string()).unwrap_or_default()
}

/// One property: a cell for each run.
struct Column {
    name: String,
    /// Verdict and time, and the size; `None` where the run has no such property.
    cells: Vec<Option<(String, String, Ink)>>,
    /// How wide verdict and time are.
    times: usize,
    width: usize,
}

impl Column {
    fn new(sweep: &Sweep<'_>, row: &SweepRow<'_>, style: &Style) -> Self {
        let point = |run: &engine::run::Run| row.points.iter().find(|point| std::ptr::eq(point.run, run));
        let cells: Vec<_> = sweep.runs.iter().map(|run| point(run).map(|point| cell(point, style))).collect();
        let times = cells.iter().flatten().map(|(time, ..)| width(time)).max().unwrap_or(0);
        let extents = cells.iter().flatten().map(|(_, extent, _)| width(extent)).max().unwrap_or(0);
        let name = cut(&clean(row.property), WIDEST_NAME, style);
        let width = (times + 2 + extents).max(width(&name));
        Column { name, cells, times, width }
    }

    /// The cell of a run, as wide as the column.
    fn cell(&self, nth: usize, style: &Style) -> String {
        let Some((time, extent, ink)) = &self.cells[nth] else { return " ".repeat(self.width) };
        let gap = " ".repeat(self.times - width(time) + 2);
        let after = " ".repeat(self.width.saturating_sub(self.times + 2 + width(extent)));
        format!("{}{gap}{}{after}", style.paint(*ink, time), style.paint(Ink::Dim, extent))
    }
}

/// `✔ 0.01 s` and `10 local`; `!` where the verdict is not the expected one.
fn cell(point: &SweepPoint<'_>, style: &Style) -> (String, String, Ink) {
    let time = duration(point.result.statistics.time);
    let (mark, text) = match &point.result.verdict {
        Verdict::Holds(_) => (Mark::Holds, time),
        Verdict::Violated(_) => (Mark::Violated, time),
        Verdict::Unknown(reason) => (Mark::Unknown, reason.code().to_owned()),
    };
    let (ink, unexpected) = match point.result.as_expected(&point.run.model) {
        Some(true) => (Ink::Good, ""),
        Some(false) => (Ink::Bad, " !"),
        None => (Ink::Doubt, ""),
    };
    let extent = point.extent().filter(|_| point.is_decided()).map(extent_text).unwrap_or_default();
    let unaudited = if point.result.unaudited().is_some() { style.mark(Mark::Unaudited) } else { "" };
    let (vacuous, ink) = match point.result.insight.is_vacuous() {
        Some(true) if ink == Ink::Good => (" vacuous", Ink::Doubt),
        Some(true) => (" vacuous", ink),
        _ => ("", ink),
    };
    (format!("{}{unaudited} {text}{vacuous}{unexpected}", style.mark(mark)), extent, ink)
}

fn extent_text(extent: Extent) -> String {
    match extent {
        Extent::Local(number) => format!("{} local", compact(number)),
        Extent::Global(number) => format!("{} states", compact(number)),
        Extent::Steps(number) => counted(number, "step", "steps"),
        Extent::Nodes(number) => format!("{} nodes", compact(number)),
    }
}

/// `12 345`, `1.23M`.
fn compact(number: u64) -> String {
    let value = number as f64;
    match number {
        ..100_000 => crate::numbers::count(number),
        100_000..999_500 => format!("{:.0}k", value / 1e3),
        999_500..999_500_000 => format!("{:.3}", value / 1e6)[..4].trim_end_matches('.').to_owned() + "M",
        _ => format!("{value:.1e}"),
    }
}

/// One table: some properties side by side.
fn group(sweep: &Sweep<'_>, (sizes, first): (&[String], usize), shown: &[Column], style: &Style) -> String {
    let names: Vec<String> = shown.iter().map(|column| pad(&column.name, column.width)).collect();
    let head = format!("{}   {}", pad_left(&clean(sweep.parameter), first), names.join("   "));
    let mut out = style.paint(Ink::Strong, head.trim_end()) + "\n";
    for (nth, size) in sizes.iter().enumerate() {
        let cells: Vec<String> = shown.iter().map(|column| column.cell(nth, style)).collect();
        out.push_str(format!("{}   {}", pad_left(size, first), cells.join("   ")).trim_end());
        out.push('\n');
    }
    out
}

/// How a property grows, and what else is to be said about it.
pub(crate) fn remarks(sweep: &Sweep<'_>, row: &SweepRow<'_>, style: &Style) -> Vec<String> {
    let step = (sweep.parameter, sweep.step());
    let mut parts = Vec::new();
    if let Some((extent, from, growth)) = row.size_growth() {
        let (what, verb) = match extent {
            Extent::Local(_) => ("the number of local states", "local states are"),
            Extent::Global(_) => ("the number of states", "states are"),
            Extent::Steps(_) => ("the length of the run", "the run's length is"),
            Extent::Nodes(_) => ("the number of nodes", "nodes are"),
        };
        let is_same = growth == super::Growth::Same;
        let words = growth.words(if is_same { verb } else { what }, step, style.ascii);
        let is_all = row.points.first().is_some_and(|point| point.size == from);
        let from = if is_all { String::new() } else { format!(" from {from} on") };
        parts.push(format!("{words}{from}"));
    }
    if let Some(growth) = row.time_growth() {
        parts.push(growth.words("time", step, style.ascii));
    }
    parts.extend(switch(row));
    let undecided: Vec<String> =
        { row.points.iter() }.filter(|point| !point.is_decided()).map(|point| point.size.to_string()).collect();
    if !undecided.is_empty() {
        parts.push(format!("not decided for {} = {}", sweep.parameter, undecided.join(", ")));
    }
    parts
}

/// The same in one line; nothing where there is nothing to say.
fn remark(sweep: &Sweep<'_>, row: &SweepRow<'_>, style: &Style) -> String {
    let parts = remarks(sweep, row, style);
    if parts.is_empty() {
        return String::new();
    }
    let widest = sweep.rows.iter().map(|row| width(&clean(row.property))).max().unwrap_or(0).min(WIDEST_NAME);
    let name = cut(&clean(row.property), WIDEST_NAME, style);
    hang(&format!("  {}   ", pad(&name, widest)), &parts.join("; "), style.width.min(80))
}

/// Where other methods take over; where they take turns often, only which.
fn switch(row: &SweepRow<'_>) -> Option<String> {
    let decided: Vec<&SweepPoint<'_>> = row.points.iter().filter(|point| point.is_decided()).collect();
    let parts: Vec<_> = decided.chunk_by(|one, next| one.result.method == next.result.method).collect();
    let (last, before) = parts.split_last()?;
    if before.is_empty() {
        return None;
    }
    if parts.len() > MOST_PARTS {
        let mut methods: Vec<&str> = parts.iter().map(|part| part[0].result.method).collect();
        methods.sort_unstable();
        methods.dedup();
        return Some(format!("by {}, in turn", methods.join(", ")));
    }
    let until =
        |part: &&[&SweepPoint<'_>]| format!("by {} up to {}, then ", part[0].result.method, part[part.len() - 1].size);
    Some(format!("{}by {}", before.iter().map(until).collect::<String>(), last[0].result.method))
}
