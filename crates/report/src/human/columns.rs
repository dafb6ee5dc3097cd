//! A trace in columns: step, source line, one for each process, one for what is shared.

use explain::names::{location, own_variables, shared_variables};
use explain::steps::{ControlChange, StepView};
use model::process::ProcessId;

use super::change::change_text;
use super::failure::painted_ending;
use super::trace::{TraceDrawing, TraceRow, beside, bracket, gap_line, read_notes};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut_middle, pad, pad_left, width};

/// A process's column is no wider than this.
const WIDEST_PROCESS: usize = 56;
/// A statement in a process's column is no wider than this.
const WIDEST_STATEMENT: usize = 26;

/// Where it would have fewer columns, it is not said where a test leads.
const NARROWEST_STATEMENT: usize = 14;
/// What changes is not cut to less than this.
const NARROWEST_SHARED: usize = 36;
/// Items are packed into lines of at most this, in however wide a shared column.
const WIDEST_SHARED: usize = 44;
/// Spaces between columns.
const GAP: &str = "  ";

/// The content of one row.
struct Cells {
    step: String,
    /// The text below it: the bracket of a loop that goes on.
    below: String,
    line: String,
    processes: Vec<Column>,
    /// Items, packed into lines when the column's width is known.
    shared: Vec<String>,
}

/// The content of a process's column.
#[derive(Clone, Default)]
struct Column {
    /// Where it is or goes.
    head: String,
    /// Its variables, packed into lines when the column's width is known.
    items: Vec<String>,
}

/// What gets columns.
pub struct Choice<'a> {
    /// The processes.
    pub shown: &'a [ProcessId],
    /// Whether steps are marked that read or write what others see.
    pub accesses: bool,
}

/// The trace in columns; `None` where they do not fit.
pub fn draw(drawing: &TraceDrawing<'_>, rows: &[TraceRow<'_>], choice: &Choice<'_>, style: &Style) -> Option<String> {
    let cells: Vec<Cells> = rows.iter().map(|row| cells(drawing, row, choice, style)).collect();
    let layout = ColumnWidths::of(drawing, &cells, choice.shown, style)?;
    let mut out = layout.head(style);
    for (row, cells) in rows.iter().zip(&cells) {
        match row {
            TraceRow::Gap(n_steps) => out.push_str(&gap_line(*n_steps, style)),
            TraceRow::Start | TraceRow::Step(..) => out.push_str(&layout.row(cells, style)),
        }
    }
    if !drawing.ending.is_empty() {
        let indent = layout.shared_start().min(style.width.saturating_sub(width(drawing.ending)));
        out.push_str(&format!("{}{}\n", " ".repeat(indent), painted_ending(drawing.ending, style)));
    }
    Some(out)
}

fn cells(drawing: &TraceDrawing<'_>, row: &TraceRow<'_>, choice: &Choice<'_>, style: &Style) -> Cells {
    match row {
        TraceRow::Start => start(drawing, choice.shown),
        TraceRow::Gap(_) => Cells {
            step: String::new(),
            below: String::new(),
            line: String::new(),
            processes: vec![Column::default(); choice.shown.len()],
            shared: Vec::new(),
        },
        TraceRow::Step(nth, view) => step(drawing, (*nth, view), choice, style),
    }
}

fn start(drawing: &TraceDrawing<'_>, shown: &[ProcessId]) -> Cells {
    let state = &drawing.explanation.trace.states[0];
    let column = |&process: &ProcessId| {
        let own = own_variables(drawing.explanation.model, state, process);
        let own = own.into_iter().map(|(name, value)| format!("{name} = {value}"));
        Column { head: location(drawing.explanation.model, state, process), items: own.collect() }
    };
    let shared =
        shared_variables(drawing.explanation.model, state).into_iter().map(|(name, value)| format!("{name} = {value}"));
    Cells {
        step: "0".to_owned(),
        below: String::new(),
        line: String::new(),
        processes: shown.iter().map(column).collect(),
        shared: shared.collect(),
    }
}

fn step(drawing: &TraceDrawing<'_>, (nth, view): (usize, &StepView), choice: &Choice<'_>, style: &Style) -> Cells {
    let shown = choice.shown;
    let digits = drawing.explanation.trace.n_steps().to_string().len();
    let notes = read_notes(drawing, nth, view);
    let column = |&process: &ProcessId| {
        let head = view.moved.iter().find(|moved| moved.process == process).map(|moved| {
            let mark = match (choice.accesses, view.writes, notes.is_empty()) {
                (true, true, _) => format!("  {}", style.mark(Mark::Writes)),
                (true, false, false) => format!("  {}", style.mark(Mark::Reads)),
                _ => String::new(),
            };
            if view.stands_still {
                return format!("{}  stands still", moved.from);
            }
            format!("{}{mark}", what_happens(view, moved, usize::MAX, style))
        });
        let own = view.shown.iter().filter(|change| change.owner == Some(process));
        let items = own.map(|change| change_text(change, &change.own_name, style)).collect();
        Column { head: head.unwrap_or_else(|| style.mark(Mark::Rest).to_owned()), items }
    };
    let hidden = |owner: Option<ProcessId>| owner.is_none_or(|owner| !shown.contains(&owner));
    let shared = view.shown.iter().filter(|change| hidden(change.owner));
    let shared = shared.map(|change| change_text(change, &change.name, style));
    Cells {
        // All numbers are equally wide, so that brackets are below each other.
        step: format!("{} {nth:>digits$}", bracket(drawing.explanation.trace, nth, style)).trim_start().to_owned(),
        below: beside(drawing, nth, style),
        line: view.line.to_string(),
        processes: shown.iter().map(column).collect(),
        shared: shared.chain(notes).collect(),
    }
}

/// From where to where a process goes; the statement where the names of places do not say which step it is. A branch says where it leads. Where `room` is
/// narrow, the statement is cut, not what came of it.
pub(super) fn what_happens(view: &StepView, moved: &ControlChange, room: usize, style: &Style) -> String {
    let arrow = style.mark(Mark::Arrow);
    if moved.is_named {
        return format!("{} {arrow} {}", moved.from, moved.to);
    }
    let statement = clean(&view.statement);
    // A statement that is not shown whole says less than its label.
    let is_whole = width(&statement) <= WIDEST_STATEMENT && !statement.contains('…');
    if !is_whole && view.label.is_some() && moved.process == view.process {
        let from = &moved.from;
        return if *from == moved.to { from.clone() } else { format!("{from} {arrow} {}", moved.to) };
    }
    let outcome = match view.outcome.filter(|_| moved.process == view.process) {
        Some(true) => ": yes",
        Some(false) => ": no",
        None => "",
    };
    let branches =
        ["if ", "either", "while ", "loop", "match ", "do", "else"].iter().any(|word| view.statement.starts_with(word));
    let target = if branches && moved.from != moved.to { format!(" {arrow} {}", moved.to) } else { String::new() };
    let fits = |rest: usize| room >= rest + NARROWEST_STATEMENT.min(width(&statement));
    let target = if outcome.is_empty() || fits(width(outcome) + width(&target)) { target } else { String::new() };
    let columns = room.saturating_sub(width(outcome) + width(&target)).min(WIDEST_STATEMENT);
    format!("{}{outcome}{target}", cut_middle(&statement, columns, style))
}

/// How wide the columns are.
struct ColumnWidths {
    names: Vec<String>,
    step: usize,
    line: usize,
    processes: Vec<usize>,
    shared: usize,
}

impl ColumnWidths {
    fn of(drawing: &TraceDrawing<'_>, rows: &[Cells], shown: &[ProcessId], style: &Style) -> Option<Self> {
        let names: Vec<String> = shown.iter().map(|&id| clean(&drawing.explanation.model.processes[id].name)).collect();
        let natural = |nth: usize| {
            let columns = rows.iter().map(|row| &row.processes[nth]);
            let lines = columns.flat_map(|column| column.items.iter().chain([&column.head])).map(|line| width(line));
            lines.chain([width(&names[nth])]).max().unwrap_or(0).min(WIDEST_PROCESS)
        };
        let processes: Vec<usize> = (0..shown.len()).map(natural).collect();
        let step = rows.iter().map(|row| width(&row.step)).max().unwrap_or(0).max("step".len());
        let line = rows.iter().map(|row| width(&row.line)).max().unwrap_or(0).max("line".len());
        let taken: usize = 2 + step + GAP.len() + line + processes.iter().map(|w| GAP.len() + w).sum::<usize>();
        // Long values of the initial state may be cut; what changes may not.
        let longest =
            |rows: &[Cells]| rows.iter().flat_map(|row| &row.shared).map(|item| width(item)).max().unwrap_or(0);
        let start = longest(&rows[..1]).min(NARROWEST_SHARED - 12);
        let wanted = longest(&rows[1..]).min(NARROWEST_SHARED).max(start).max("shared".len());
        let room = style.width.checked_sub(taken + GAP.len()).filter(|&room| room >= wanted)?;
        Some(ColumnWidths { names, step, line, processes, shared: room })
    }

    /// The column at which the shared one starts.
    fn shared_start(&self) -> usize {
        let processes: usize = self.processes.iter().map(|w| GAP.len() + w).sum();
        2 + self.step + GAP.len() + self.line + processes + GAP.len()
    }

    fn head(&self, style: &Style) -> String {
        let mut titles = vec![pad("step", self.step), pad("line", self.line)];
        titles.extend(self.names.iter().zip(&self.processes).map(|(name, &columns)| pad(name, columns)));
        titles.push("shared".to_owned());
        let widths =
            [self.step, self.line].into_iter().chain(self.processes.iter().copied()).chain([self.shared.min(18)]);
        let rules = widths.map(|columns| style.mark(Mark::Dash).repeat(columns));
        let rules = format!("  {}", rules.collect::<Vec<_>>().join(GAP));
        let titles = format!("  {}", titles.join(GAP));
        format!("{}\n{}\n", style.paint(Ink::Strong, &titles), style.paint(Ink::Dim, &rules))
    }

    fn row(&self, row: &Cells, style: &Style) -> String {
        let shared = pack(&row.shared, self.shared.min(WIDEST_SHARED), style);
        let columns = row.processes.iter().zip(&self.processes).map(|(column, &columns)| {
            let head = cut_middle(&clean(&column.head), columns, style);
            std::iter::once(head).chain(pack(&column.items, columns, style)).collect()
        });
        let columns: Vec<Vec<String>> = columns.collect();
        let height = columns.iter().map(Vec::len).chain([shared.len()]).max().unwrap_or(1);
        let mut out = String::new();
        for nth in 0..height {
            let (step, line) = if nth == 0 { (row.step.as_str(), row.line.as_str()) } else { (row.below.as_str(), "") };
            let mut parts = vec![pad_left(step, self.step), pad_left(line, self.line)];
            for (lines, &columns) in columns.iter().zip(&self.processes) {
                parts.push(pad(lines.get(nth).map_or("", String::as_str), columns));
            }
            parts.push(shared.get(nth).cloned().unwrap_or_default());
            out.push_str(format!("  {}", parts.join(GAP)).trim_end());
            out.push('\n');
        }
        out
    }
}

/// Items in lines of at most `columns`, several on one where they fit; one that is too long is cut in the middle.
fn pack(items: &[String], columns: usize, style: &Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let item = cut_middle(&clean(item), columns, style);
        match lines.last_mut() {
            Some(line) if width(line) + 2 + width(&item) <= columns => line.push_str(&format!(", {item}")),
            _ => lines.push(item),
        }
    }
    lines
}
