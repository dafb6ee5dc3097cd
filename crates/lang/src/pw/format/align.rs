//! Alignment of neighbouring lines: labels, names of properties and variables, comments at the ends of lines.
//!
//! Lines are neighbours if they are indented alike, no blank line stands between them, and nothing but comments and
//! continuations does; labels are also aligned across statements without label. What is aligned depends on the lines'
//! text alone, so aligning twice changes nothing.

use super::lines::{Line, Stops};

/// The farthest column at which a comment is left where the user put it.
const MAX_COMMENT_COLUMN: usize = 80;

/// Pads the lines.
pub(super) fn align(lines: &mut [Line]) {
    let is_label = |line: &Line| matches!(line.stops, Stops::Label(_));
    let is_statement = |line: &Line| !line.text.starts_with('}');
    align_runs(lines, is_label, is_statement);
    align_runs(lines, |line| matches!(line.stops, Stops::Property(..)), |_| false);
    align_runs(lines, |line| matches!(line.stops, Stops::Variable(..)), |_| false);
    align_runs(lines, |line| matches!(line.stops, Stops::Branch(_)), |_| false);
    align_comments(lines);
}

/// Aligns the lines that belong together: first at their first stops, then at their second ones.
fn align_runs(lines: &mut [Line], belongs: impl Fn(&Line) -> bool, may_be_between: impl Fn(&Line) -> bool) {
    for run in runs(lines, belongs, may_be_between) {
        for n in 0..2 {
            let column = run.iter().filter_map(|&at| Some(columns(&lines[at].text[..lines[at].stop(n)?]))).max();
            for &at in &run {
                if let (Some(column), Some(place)) = (column, lines[at].stop(n)) {
                    lines[at].pad(place, column);
                }
            }
        }
    }
}

/// The maximal runs of neighbours that satisfy `belongs`, each as the indices of its lines; lines indented alike that
/// satisfy `may_be_between` do not end a run.
fn runs(lines: &[Line], belongs: impl Fn(&Line) -> bool, may_be_between: impl Fn(&Line) -> bool) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = current.first().map_or(line.indent, |&first| lines[first].indent);
        let is_alike = line.indent == indent && (belongs(line) || may_be_between(line));
        if line.has_blank_before || !(is_alike || line.is_transparent) {
            runs.push(std::mem::take(&mut current));
        }
        if belongs(line) && !line.is_transparent {
            current.push(at);
        }
    }
    runs.push(current);
    runs
}

/// Comments at the ends of lines that follow each other directly. They stay at the user's column if that is one for all
/// of them and leaves room for the text.
fn align_comments(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let n_lines = lines[at..].iter().take_while(|line| line.comment.is_some()).count();
        let run = &mut lines[at..at + n_lines];
        let least = run.iter().map(Line::width).max().unwrap_or(0) + 2;
        let users = run.first().map_or(0, |line| line.comment_column);
        let is_kept =
            (least..=MAX_COMMENT_COLUMN).contains(&users) && run.iter().all(|line| line.comment_column == users);
        let column = if is_kept { users } else { least };
        for line in run {
            let n_blanks = column - line.width();
            line.text.truncate(line.text.trim_end().len());
            line.text.push_str(&" ".repeat(n_blanks));
        }
        at += n_lines.max(1);
    }
}

impl Line {
    /// The place in the text of the first (0) or second (1) stop.
    fn stop(&self, n: usize) -> Option<usize> {
        match (self.stops, n) {
            (Stops::Label(place) | Stops::Branch(place), 0) => Some(place),
            (Stops::Property(place, _) | Stops::Variable(place, _), 0) => Some(place),
            (Stops::Property(_, place) | Stops::Variable(_, place), 1) => Some(place),
            _ => None,
        }
    }

    /// Puts blanks into the text so that what stands at `place` begins at a column, and moves the stops behind it.
    fn pad(&mut self, place: usize, column: usize) {
        let n_blanks = column.saturating_sub(columns(&self.text[..place]));
        self.text.insert_str(place, &" ".repeat(n_blanks));
        if let Stops::Property(first, second) | Stops::Variable(first, second) = &mut self.stops
            && *first == place
            && *second > place
        {
            *second += n_blanks;
        }
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}
