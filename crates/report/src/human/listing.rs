//! A trace as a list, for programs whose processes do not fit side by side: one step a line, its process and what changes.

use explain::names::{location, own_variables, shared_variables};
use explain::steps::StepView;
use model::process::ProcessId;

use super::change::change_text;
use super::columns::what_happens;
use super::failure::painted_ending;
use super::trace::{TraceDrawing, TraceRow, beside, bracket, gap_line, group_names, read_notes};
use crate::style::{Ink, Style};
use crate::text::{clean, cut, hang, pad, pad_left, width};

/// What changes has at least so many columns, and more as far as there is more to say, up to so many.
const CHANGES: std::ops::RangeInclusive<usize> = 20..=30;

/// The trace as a list.
pub fn draw(drawing: &TraceDrawing<'_>, rows: &[TraceRow<'_>], style: &Style) -> String {
    let steps: Vec<[String; 4]> = rows.iter().filter_map(|row| parts(drawing, row, style)).collect();
    let most = |nth: usize, title: &str| steps.iter().map(|step| width(&step[nth])).max().unwrap_or(0).max(title.len());
    let (step, line, process) = (most(0, "step"), most(1, "line"), most(2, "process").min(20));
    let explanation = rows.iter().filter_map(|row| match row {
        TraceRow::Step(nth, view) => Some(width(&effects(drawing, *nth, view, style))),
        TraceRow::Start | TraceRow::Gap(_) => None,
    });
    let changes = explanation.max().unwrap_or(0).clamp(*CHANGES.start(), *CHANGES.end());
    let room = style.width.saturating_sub(step + line + process + 10 + changes).max("move".len());
    let widths = [step, line, process, most(3, "move").min(room)];
    let titles = ["step", "line", "process", "move"].iter().zip(widths).map(|(title, columns)| pad(title, columns));
    let titles = format!("  {}  changes", titles.collect::<Vec<_>>().join("  "));
    let mut out = format!("{}\n", style.paint(Ink::Strong, &titles));
    let mut steps = steps.iter();
    for row in rows {
        match row {
            TraceRow::Start => out.push_str(&start(drawing, step, style)),
            TraceRow::Gap(n_steps) => out.push_str(&gap_line(*n_steps, style)),
            TraceRow::Step(nth, view) => {
                let Some(parts) = steps.next() else { continue };
                let lead = format!(
                    "  {}  {}  {}  {}  ",
                    pad_left(&parts[0], widths[0]),
                    pad_left(&parts[1], widths[1]),
                    pad(&cut(&parts[2], widths[2], style), widths[2]),
                    pad(&cut(&moves(view, widths[3], style), widths[3], style), widths[3]),
                );
                let lines = hang(&lead, &effects(drawing, *nth, view, style), style.width);
                let beside = pad_left(&beside(drawing, *nth, style), widths[0]);
                for (at, line) in lines.lines().enumerate() {
                    // The bracket of a loop goes on beside the later lines of a step.
                    match line.get(2 + widths[0]..) {
                        Some(rest) if at > 0 => out.push_str(format!("  {beside}{rest}").trim_end()),
                        _ => out.push_str(line),
                    }
                    out.push('\n');
                }
            }
        }
    }
    if !drawing.ending.is_empty() {
        out.push_str(&format!("  {}\n", painted_ending(drawing.ending, style)));
    }
    out
}

fn parts(drawing: &TraceDrawing<'_>, row: &TraceRow<'_>, style: &Style) -> Option<[String; 4]> {
    let TraceRow::Step(nth, view) = row else { return None };
    let who = view.moved.iter().map(|moved| clean(&drawing.explanation.model.processes[moved.process].name));
    // Numbers are as wide as the last one, so that brackets are below each other.
    let digits = drawing.explanation.trace.n_steps().to_string().len();
    Some([
        format!("{} {nth:>digits$}", bracket(drawing.explanation.trace, *nth, style)).trim_start().to_owned(),
        view.line.to_string(),
        who.collect::<Vec<_>>().join(" with "),
        moves(view, usize::MAX, style),
    ])
}

/// What the first of those who move does, in so many columns.
fn moves(view: &StepView, room: usize, style: &Style) -> String {
    let own = view.moved.first().map_or(String::new(), |moved| match view.stands_still {
        true => format!("{} stands still", moved.from),
        false => what_happens(view, moved, room, style),
    });
    clean(&own)
}

fn effects(drawing: &TraceDrawing<'_>, nth: usize, view: &StepView, style: &Style) -> String {
    let changes = view.shown.iter().map(|change| {
        let own = change.owner == Some(view.process);
        change_text(change, if own { &change.own_name } else { &change.name }, style)
    });
    clean(&changes.chain(read_notes(drawing, nth, view)).collect::<Vec<_>>().join(", "))
}

/// The initial state: processes of equal states together, then the shared variables.
fn start(drawing: &TraceDrawing<'_>, columns: usize, style: &Style) -> String {
    let (model, state) = (drawing.explanation.model, &drawing.explanation.trace.states[0]);
    let describe = |process: ProcessId| {
        let own = own_variables(model, state, process).into_iter().map(|(name, value)| format!("{name} = {value}"));
        std::iter::once(location(model, state, process)).chain(own).collect::<Vec<_>>().join(", ")
    };
    let ids: Vec<ProcessId> = model.processes.ids().collect();
    let mut items: Vec<String> = ids
        .chunk_by(|&a, &b| describe(a) == describe(b))
        .map(|group| format!("{}: {};", group_names(model, group), describe(group[0])))
        .collect();
    items.extend(shared_variables(model, state).into_iter().map(|(name, value)| format!("{name} = {value};")));
    let text = clean(&items.join(" "));
    hang(&format!("  {}  ", pad_left("0", columns)), text.trim_end_matches(';'), style.width)
}
