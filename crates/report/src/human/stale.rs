//! The likely cause of a violation, for people: the sentence, and the two lines between which another process stepped.

use engine::run::{PropertyResult, Run};
use explain::Explained;

use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, hang};

/// The likely cause, with the two source lines; empty where the trace does not show one.
pub fn hint(run: &Explained, result: &PropertyResult, style: &Style) -> String {
    let Some(cause) = run.trace(result).and_then(|shown| shown.cause.as_ref()) else { return String::new() };
    let mut out = hang("  Likely cause   ", &cause.sentence, style.width.min(80));
    out.push_str(&cause.close_lines.map_or(String::new(), |numbers| lines(run, numbers, style)));
    out
}

/// These lines as text.
fn lines(run: &Run, [first, second]: [u32; 2], style: &Style) -> String {
    let gutter = second.to_string().len().max(4);
    let bar = style.painted(Ink::Line, Mark::Bar);
    let mut out = String::new();
    for number in [first, second] {
        let text = cut(&clean(run.source.line(number)), style.width.min(80).saturating_sub(gutter + 5), style);
        out.push_str(&format!("  {number:>gutter$} {bar} {text}\n"));
    }
    let indent = run.source.line(first).len() - run.source.line(first).trim_start().len();
    let rule = style.mark(Mark::Dash).repeat(8);
    out.push_str(&format!(
        "  {:gutter$} {bar} {}{rule} another process can move between these\n",
        "",
        " ".repeat(indent)
    ));
    out
}
