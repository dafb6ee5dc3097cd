//! A help's edits, shown as the lines that they would leave.

use base::{Diagnostic, Edit, Help, SourceFile, Span};

use crate::style::{Ink, Style};

use super::WIDEST;
use super::excerpt::{Excerpt, Marking, Pencil};

/// How many edited lines are shown.
const MOST_LINES: u32 = 6;

/// The part of the source that edits touch, in whole lines, as it is after them.
struct Edited {
    after: SourceFile,
    /// The number of its first line in the source.
    first_line: u32,
    /// The spans of the new texts in it.
    new: Vec<(Span, Pencil)>,
}

/// How many columns the line numbers of a diagnostic's edited lines take.
pub fn gutter(source: &SourceFile, diagnostic: &Diagnostic) -> usize {
    let edits = diagnostic.helps.iter().flat_map(|help| &help.edits);
    edits.map(|edit| source.line_col(edit.span.start).line.to_string().len()).max().unwrap_or(1)
}

/// The edited lines with marks under what is new; empty for a help in words only.
pub fn draw(source: &SourceFile, help: &Help, gutter: usize, style: &Style) -> String {
    let Some(edited) = apply(source, &help.edits) else { return String::new() };
    let mut excerpt = Excerpt::new(&edited.after, edited.first_line, style.width.clamp(40, WIDEST));
    for &(span, pencil) in &edited.new {
        let first = edited.after.line_col(span.start).line;
        let last = edited.after.line_col(span.end.max(span.start)).line;
        for line in (first..=last).take(MOST_LINES as usize) {
            excerpt.show(line, span.start);
        }
        if first <= MOST_LINES && !span.is_empty() {
            excerpt.add(Marking { span, pencil, ink: Ink::Good, text: "" });
        }
    }
    excerpt.draw(gutter, style)
}

/// The touched lines after the edits; `None` where there are no edits, or they overlap or lie outside the text.
fn apply(source: &SourceFile, edits: &[Edit]) -> Option<Edited> {
    let text = source.text();
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (first, last) = (edits.first()?, edits.last()?);
    let start = text.get(..first.span.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(last.span.end as usize..)?.find('\n').map_or(text.len(), |at| at + last.span.end as usize);
    let mut after = String::new();
    let mut new = Vec::new();
    let mut done = start;
    for edit in edits {
        let range = edit.span.range();
        after.push_str(text.get(done..range.start)?);
        let old = text.get(range.clone())?;
        new.push(new_part(after.len(), old, &edit.replacement));
        after.push_str(&edit.replacement);
        done = range.end;
    }
    after.push_str(text.get(done..end)?);
    let first_line = source.line_col(start as u32).line;
    Some(Edited { after: SourceFile::new("", after), first_line, new })
}

/// The part of a replacement that is not in the old text: what old and new share at both ends is not marked.
fn new_part(at: usize, old: &str, new: &str) -> (Span, Pencil) {
    let head: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (old, fresh) = (&old[head..], &new[head..]);
    let pairs = old.chars().rev().zip(fresh.chars().rev());
    let tail: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let pencil = if old.len() == tail { Pencil::Added } else { Pencil::Changed };
    (Span::new(at + head, at + new.len() - tail), pencil)
}
