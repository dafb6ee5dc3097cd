//! Alignment of neighbouring lines: labels, names of properties, comments at the ends of lines.
//!
//! Lines are neighbours if they are indented alike, no blank line stands between them, and nothing but comments and
//! continuations does. What is aligned depends on the lines' text alone, so aligning twice changes nothing.

use super::lines::{Line, Stops};

/// Pads the lines.
pub(super) fn align(lines: &mut [Line]) {
    for run in runs(lines, |line| matches!(line.stops, Stops::Label(_))) {
        align_labels(lines, &run);
    }
    for run in runs(lines, |line| matches!(line.stops, Stops::Property(..))) {
        align_properties(lines, &run);
    }
    align_comments(lines);
}

/// The maximal runs of neighbours that satisfy `belongs`, each as the indices of its lines.
fn runs(lines: &[Line], belongs: impl Fn(&Line) -> bool) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = current.first().map_or(line.indent, |&first| lines[first].indent);
        let is_neighbour = !line.has_blank_before && line.indent == indent;
        let ends_run = if belongs(line) { !is_neighbour } else { line.has_blank_before || !line.is_transparent };
        if ends_run {
            runs.push(std::mem::take(&mut current));
        }
        if belongs(line) {
            current.push(at);
        }
    }
    runs.push(current);
    runs
}

fn align_labels(lines: &mut [Line], run: &[usize]) {
    let stop = |line: &Line| match line.stops {
        Stops::Label(end) => end,
        _ => 0,
    };
    let column = run.iter().map(|&at| columns(&lines[at].text[..stop(&lines[at])])).max().unwrap_or(0);
    for &at in run {
        let end = stop(&lines[at]);
        pad(&mut lines[at].text, end, column);
    }
}

fn align_properties(lines: &mut [Line], run: &[usize]) {
    let stops = |line: &Line| match line.stops {
        Stops::Property(keyword, name) => (keyword, name),
        _ => (0, 0),
    };
    let keyword_column = run.iter().map(|&at| columns(&lines[at].text[..stops(&lines[at]).0])).max().unwrap_or(0);
    for &at in run {
        let (keyword, name) = stops(&lines[at]);
        let n_blanks = pad(&mut lines[at].text, keyword, keyword_column);
        lines[at].stops = Stops::Property(keyword, name + n_blanks);
    }
    let name_column = run.iter().map(|&at| columns(&lines[at].text[..stops(&lines[at]).1])).max().unwrap_or(0);
    for &at in run {
        let (_, name) = stops(&lines[at]);
        pad(&mut lines[at].text, name, name_column);
    }
}

/// Comments at the ends of lines that follow each other directly.
fn align_comments(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let n_lines = lines[at..].iter().take_while(|line| line.comment.is_some()).count();
        let column = lines[at..at + n_lines].iter().map(Line::width).max().unwrap_or(0) + 2;
        for line in &mut lines[at..at + n_lines] {
            let n_blanks = column - line.width();
            line.text.truncate(line.text.trim_end().len());
            line.text.push_str(&" ".repeat(n_blanks));
        }
        at += n_lines.max(1);
    }
}

/// Puts blanks into the text so that what stands at `place` begins at a column; how many.
fn pad(text: &mut String, place: usize, column: usize) -> usize {
    let n_blanks = column.saturating_sub(columns(&text[..place]));
    text.insert_str(place, &" ".repeat(n_blanks));
    n_blanks
}

fn columns(text: &str) -> usize {
    text.chars().count()
}
