//! Diagnostics as text: the sentence, the source lines with marks beneath, the helps with the edited line.
//!
//! In: the source and the front-end's [`Diagnostic`]s. Out: text of at most 100 columns. However long the source's lines
//! and however many the diagnostics, the text stays short: lines are cut around what is marked, and after
//! [`MOST_SHOWN`] diagnostics the rest is only counted.

mod canvas;
mod edits;
mod excerpt;

use base::{Diagnostic, Severity, SourceFile, Span};

use crate::numbers::counted;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang, spread, width};
use excerpt::{Excerpt, Marking, Pencil};

/// How many diagnostics are rendered; more are counted.
pub const MOST_SHOWN: usize = 40;

/// Diagnostics are rendered no wider than this, on however wide a terminal.
const WIDEST: usize = 100;

/// All diagnostics, errors and warnings in the order given, each followed by its helps. No closing line.
pub fn draw(source: &SourceFile, diagnostics: &[Diagnostic], style: &Style) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(MOST_SHOWN) {
        out.push_str(&draw_one(source, diagnostic, style));
        out.push('\n');
    }
    if diagnostics.len() > MOST_SHOWN {
        let left = (diagnostics.len() - MOST_SHOWN) as u64;
        let left = counted(left, "more message", "more messages");
        out.push_str(&format!("{} and {left}\n", style.mark(Mark::Cut)));
    }
    out
}

/// All diagnostics and the closing line: how many errors there are, what follows from them (`nothing was checked`), and
/// where to read more. Empty where there is no diagnostic.
pub fn draw_with_summary(source: &SourceFile, diagnostics: &[Diagnostic], outcome: &str, style: &Style) -> String {
    format!("{}{}", draw(source, diagnostics, style), summary(diagnostics, outcome, style))
}

/// The closing line alone.
pub fn summary(diagnostics: &[Diagnostic], outcome: &str, style: &Style) -> String {
    let n_errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count() as u64;
    let n_warnings = diagnostics.len() as u64 - n_errors;
    let (severity, first) = match diagnostics.iter().find(|diagnostic| diagnostic.is_error()).or(diagnostics.first()) {
        Some(first) => (first.severity, first),
        None => return String::new(),
    };
    let mut counts = Vec::new();
    if n_errors > 0 {
        counts.push(counted(n_errors, "error", "errors"));
    }
    if n_warnings > 0 {
        counts.push(counted(n_warnings, "warning", "warnings"));
    }
    let counts = counts.join(", ");
    let sentence = if outcome.is_empty() || n_errors == 0 { counts } else { format!("{counts}; {outcome}") };
    let head = severity_word(severity);
    let explain = format!("explain: piecewise explain {}", first.code);
    let plain = spread(&format!("{head}: {sentence}"), &explain, style.width.min(WIDEST));
    let line = plain.replacen(head, &style.paint(ink_of(severity), head), 1);
    format!("{line}\n")
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn ink_of(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Bad,
        Severity::Warning => Ink::Doubt,
    }
}

/// One diagnostic: head, excerpt, helps.
fn draw_one(source: &SourceFile, diagnostic: &Diagnostic, style: &Style) -> String {
    let columns = style.width.clamp(40, WIDEST);
    let head = format!("{}[{}]", severity_word(diagnostic.severity), diagnostic.code);
    let lead = format!("{head}: ");
    let mut out = hang(&lead, &clean(&diagnostic.message), columns);
    out = out.replacen(&head, &style.paint(ink_of(diagnostic.severity), &head), 1);

    let ink = ink_of(diagnostic.severity);
    let mut excerpt = Excerpt::new(source, 1, columns);
    let primary = &diagnostic.primary;
    excerpt.add(Marking { span: primary.span, pencil: Pencil::Primary, ink, text: &primary.text });
    for label in &diagnostic.secondary {
        excerpt.add(Marking { span: label.span, pencil: Pencil::Secondary, ink: Ink::Line, text: &label.text });
    }
    let gutter = excerpt.gutter().max(edits::gutter(source, diagnostic));
    let at = source.line_col(diagnostic.primary.span.start);
    let name = clean(source.name());
    let mark = style.painted(Ink::Line, Mark::Excerpt);
    out.push_str(&format!("{:gutter$} {mark} {name}:{}:{}\n", "", at.line, at.col));
    out.push_str(&format!("{:gutter$} {}\n", "", style.painted(Ink::Line, Mark::Bar)));
    out.push_str(&excerpt.draw(gutter, style));

    for help in &diagnostic.helps {
        let lead = "help: ";
        let words = hang(lead, &clean(&help.text), columns);
        out.push_str(&words.replacen("help", &style.paint(Ink::Good, "help"), 1));
        out.push_str(&edits::draw(source, help, gutter, style));
    }
    debug_assert!(style.color || out.lines().all(|line| width(line) <= columns || line.contains(&name)));
    out
}

/// The source line of a span, the span marked and a few words beside it; indented by two columns.
pub fn excerpt_at(source: &SourceFile, span: Span, text: &str, style: &Style) -> String {
    let columns = style.width.clamp(40, WIDEST) - 2;
    let mut excerpt = Excerpt::new(source, 1, columns);
    excerpt.add(Marking { span, pencil: Pencil::Primary, ink: Ink::Bad, text });
    let gutter = excerpt.gutter().max(4);
    excerpt.draw(gutter, style).lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests;
