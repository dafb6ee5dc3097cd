//! Source lines with marks beneath them.
//!
//! Only lines on which a marking starts are shown. Beneath each come the marks, the rightmost text beside them where there is
//! room, the other texts hanging under their marks from right to left. A line that does not fit is cut around its marks.

use std::collections::BTreeMap;

use base::{SourceFile, Span};

use crate::style::{Ink, Mark, Style};
use crate::text::{clean, push_clean, width, wrap};

use super::canvas::CanvasRow;

/// How a span is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pencil {
    /// What the message is about.
    Primary,
    /// What explains it.
    Secondary,
    /// Text that an edit inserts.
    Added,
    /// Text that an edit replaces.
    Changed,
}

impl Pencil {
    fn point(self) -> &'static str {
        match self {
            Pencil::Primary => "^",
            Pencil::Secondary => "-",
            Pencil::Added => "+",
            Pencil::Changed => "~",
        }
    }
}

/// A span, how it is marked, and what is said there.
#[derive(Clone, Copy, Debug)]
pub struct Marking<'a> {
    /// What is marked.
    pub span: Span,
    /// With what.
    pub pencil: Pencil,
    /// In which colour.
    pub ink: Ink,
    /// What is said; may be empty.
    pub text: &'a str,
}

/// Lines of a source with marks.
pub struct Excerpt<'a> {
    source: &'a SourceFile,
    /// The number to show for the source's first line.
    first_line: u32,
    /// How many columns the drawing may take.
    columns: usize,
    /// The markings by the line on which they start; a line without markings is shown bare.
    lines: BTreeMap<u32, Vec<Marking<'a>>>,
    /// Of lines that are shown bare, the character around which they are cut where they do not fit.
    bare: BTreeMap<u32, usize>,
}

/// A marking in display columns of the line as it is shown.
struct Placed<'a> {
    start: usize,
    end: usize,
    marking: Marking<'a>,
    text: String,
}

/// The part of a line that is shown: its text, and the display column of each of its characters and of its end.
struct LineWindow {
    text: String,
    /// Characters of the line before the view.
    skipped: usize,
    /// Column of each character of the view; one more for the end.
    columns: Vec<usize>,
}

impl<'a> Excerpt<'a> {
    /// An excerpt without lines.
    pub fn new(source: &'a SourceFile, first_line: u32, columns: usize) -> Self {
        Excerpt { source, first_line, columns, lines: BTreeMap::new(), bare: BTreeMap::new() }
    }

    /// Marks a span; its first line is shown.
    pub fn add(&mut self, marking: Marking<'a>) {
        self.lines.entry(self.source.line_col(marking.span.start).line).or_default().push(marking);
    }

    /// Shows a line even if nothing is marked on it; one that is too long is shown around what stands at `offset`.
    pub fn show(&mut self, line: u32, offset: u32) {
        self.lines.entry(line).or_default();
        let at = self.source.line_col(offset);
        if at.line == line {
            self.bare.entry(line).or_insert(at.col as usize - 1);
        }
    }

    /// How many columns the line numbers take.
    pub fn gutter(&self) -> usize {
        let last = self.lines.last_key_value().map_or(1, |(line, _)| line + self.first_line - 1);
        last.to_string().len()
    }

    /// All lines with their marks.
    pub fn draw(&self, gutter: usize, style: &Style) -> String {
        let room = self.columns.saturating_sub(gutter + 3).max(20);
        let bar = style.painted(Ink::Line, Mark::Bar);
        let mut out = String::new();
        for (&line, markings) in &self.lines {
            let number = format!("{:>gutter$}", line + self.first_line - 1);
            let (view, placed) = self.place(line, markings, room);
            let text = view.text.trim_end();
            let number = style.paint(Ink::Line, &number);
            out.push_str(format!("{number} {bar} {text}").trim_end());
            out.push('\n');
            for row in rows(&placed, room) {
                out.push_str(format!("{:gutter$} {bar} {}", "", row.draw(style)).trim_end());
                out.push('\n');
            }
        }
        out
    }

    /// The part of the line that is shown, and its markings in columns of it.
    fn place<'m>(&self, line: u32, markings: &[Marking<'m>], room: usize) -> (LineWindow, Vec<Placed<'m>>) {
        let text = self.source.line(line);
        let spans: Vec<(usize, usize)> = markings
            .iter()
            .map(|marking| {
                let start = self.source.line_col(marking.span.start).col as usize - 1;
                let end = self.source.line_col(marking.span.end.max(marking.span.start));
                let end = if end.line == line { end.col as usize - 1 } else { text.chars().count() };
                (start, end.max(start))
            })
            .collect();
        let bare = || self.bare.get(&line).map_or((0, 0), |&at| (at, at));
        let view = LineWindow::around(text, spans.first().copied().unwrap_or_else(bare), room);
        let placed = markings.iter().zip(spans).map(|(&marking, (start, end))| {
            let (start, end) = (view.column(start), view.column(end));
            let end = end.max(start + 1);
            Placed { start, end, marking, text: clean(marking.text) }
        });
        let mut placed: Vec<Placed<'m>> = placed.collect();
        placed.sort_by_key(|marking| (marking.start, marking.end));
        (view, placed)
    }
}

impl LineWindow {
    /// The whole line where it fits into `room` columns, with one left for a mark behind its end; otherwise a part of it
    /// around the characters `focus`.
    fn around(line: &str, focus: (usize, usize), room: usize) -> LineWindow {
        let whole = if line.len() > 8 * room { None } else { Some(LineWindow::of(line, 0, usize::MAX)) };
        match whole {
            Some(view) if width(&view.text) < room => view,
            _ => {
                let lead = (room / 3).max(room.saturating_sub(focus.1.saturating_sub(focus.0) + 4).min(room / 2));
                let skipped = focus.0.saturating_sub(lead);
                LineWindow::of(line, skipped, room)
            }
        }
    }

    /// The line from a character on, as far as it goes in `room` columns; `…` is where something is left out.
    fn of(line: &str, skipped: usize, room: usize) -> LineWindow {
        let mut view = LineWindow { text: String::new(), skipped, columns: Vec::new() };
        let mut column = 0;
        if skipped > 0 {
            view.text.push('…');
            column += 1;
        }
        for character in line.chars().skip(skipped) {
            let before = (view.text.len(), column);
            push_clean(&mut view.text, &mut column, character);
            if column > room.saturating_sub(1) && room != usize::MAX {
                view.text.truncate(before.0);
                view.text.push('…');
                column = before.1;
                break;
            }
            view.columns.push(before.1);
        }
        view.columns.push(column);
        view
    }

    /// The display column of a character of the line; those outside the view are at its edges.
    fn column(&self, character: usize) -> usize {
        let last = *self.columns.last().expect("the end has a column");
        self.columns.get(character.saturating_sub(self.skipped)).copied().unwrap_or(last)
    }
}

/// The rows beneath a line: the marks with the rightmost text, then the other texts from right to left.
fn rows(placed: &[Placed<'_>], room: usize) -> Vec<CanvasRow> {
    if placed.is_empty() {
        return Vec::new();
    }
    let mut marks = CanvasRow::default();
    // The primary marks are drawn last, over the others.
    for primary in [false, true] {
        for one in placed.iter().filter(|one| (one.marking.pencil == Pencil::Primary) == primary) {
            let line = one.marking.pencil.point().repeat(one.end - one.start);
            marks.put(one.start, &line, Some(one.marking.ink));
        }
    }
    let mut waiting: Vec<&Placed<'_>> = placed.iter().filter(|one| !one.text.is_empty()).collect();
    if let Some(last) = waiting.pop_if(|last| {
        marks.width() == last.end.max(placed.iter().map(|one| one.end).max().unwrap_or(0))
            && marks.width() + 1 + width(&last.text) <= room
            && placed.iter().all(|one| one.end <= last.end)
    }) {
        marks.put(marks.width() + 1, &last.text, Some(last.marking.ink));
    }
    let mut rows = vec![marks];
    while let Some(one) = waiting.pop() {
        rows.extend(hanging(one, &waiting, room));
    }
    rows
}

/// A text under its mark, moved to the left where there is too little room; the marks that still wait get a line down.
fn hanging(one: &Placed<'_>, waiting: &[&Placed<'_>], room: usize) -> Vec<CanvasRow> {
    let start = one.start.min(room.saturating_sub(width(&one.text).min(40)));
    let lines = wrap(&one.text, room - start);
    let draw = |line: &String| {
        let mut row = CanvasRow::default();
        for other in waiting.iter().filter(|other| other.start < start) {
            row.put(other.start, "|", Some(other.marking.ink));
        }
        row.put(start, line, Some(one.marking.ink));
        row
    };
    lines.iter().map(draw).collect()
}
