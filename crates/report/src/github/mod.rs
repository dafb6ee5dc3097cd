//! Results for GitHub Actions (`--format github`): annotations on the lines of a change, and a summary of the job.
//!
//! In: what came of the programs of a call. Out: one workflow command a line, `::error file=…,line=…::…`, for each property that is not as
//! expected and each message of the front-end; and in `summary.rs` a table in Markdown. What is not decided is a warning; the exit status
//! fails the job.

mod summary;

use std::path::Path;

use base::{Diagnostic, SourceFile, Span};
use explain::finding::Urgency;

use crate::findings::ReportedFinding;
use crate::human::change_text;
use crate::item::{Item, all_diagnostics};
use crate::style::Style;
use crate::uri::Located;

pub use summary::summary;

/// An annotation has room for the first steps of a run; the log and the summary have them all.
const MOST_STEPS: usize = 20;

/// The commands, one a line; none where everything is as expected.
pub fn commands(items: &[Item<'_>], directory: &Path) -> String {
    let mut out = String::new();
    for (source, diagnostic) in all_diagnostics(items) {
        out.push_str(&command(&message(source, diagnostic), directory));
    }
    for found in items.iter().filter_map(Item::run).flat_map(ReportedFinding::all) {
        let level = match found.finding.standing {
            Urgency::AsExpected => continue,
            Urgency::Vacuous | Urgency::Undecided => "warning",
            Urgency::NotAsExpected => "error",
        };
        let title = match found.finding.instance.as_str() {
            "" => format!("{}: {}", found.run.model.name, found.finding.title),
            instance => format!("{}, {instance}: {}", found.run.model.name, found.finding.title),
        };
        let text = format!("{} {}{}", found.finding.title, found.finding.sentence, run_steps(&found));
        let source = &found.run.source;
        out.push_str(&command(&Annotation { level, source, span: found.finding.span, title, text }, directory));
    }
    out
}

/// The commands of a call that could not be done, or not to its end: what came of programs before, and one for each thing that is wrong.
pub fn failed((items, directory): (&[Item<'_>], &Path), errors: &[String]) -> String {
    let wrong = errors.iter().map(|error| format!("::error title=piecewise::{}\n", data(error)));
    commands(items, directory) + &wrong.collect::<String>()
}

/// One annotation.
struct Annotation<'a> {
    level: &'static str,
    source: &'a SourceFile,
    span: Span,
    title: String,
    text: String,
}

fn message<'a>(source: &'a SourceFile, diagnostic: &Diagnostic) -> Annotation<'a> {
    let level = if diagnostic.is_error() { "error" } else { "warning" };
    let helps = diagnostic.helps.iter().map(|help| format!("\nhelp: {}", help.text));
    let text = format!("{}{}", diagnostic.message, helps.collect::<String>());
    let title = format!("{level} {}", diagnostic.code);
    Annotation { level, source, span: diagnostic.primary.span, title, text }
}

fn command(annotation: &Annotation<'_>, directory: &Path) -> String {
    let Annotation { level, source, span, title, text } = annotation;
    let at = Located::of(source.name(), directory);
    let mut place = format!("file={}", property(at.path()));
    if *span == Span::default() {
        place.push_str(",line=1");
    } else {
        let (start, end) = (source.line_col(span.start), source.line_col(span.end.max(span.start)));
        place.push_str(&format!(",line={},endLine={},col={}", start.line, end.line, start.col));
        // Columns of several lines mean nothing to the annotation.
        if start.line == end.line && end.col > start.col {
            place.push_str(&format!(",endColumn={}", end.col));
        }
    }
    format!("::{level} {place},title={}::{}\n", property(title), data(text))
}

/// The first steps of the run that shows it, a line each.
fn run_steps(found: &ReportedFinding<'_>) -> String {
    let Some(explanation) = found.explained_trace() else { return String::new() };
    let trace = explanation.trace;
    let model = &found.run.model;
    let mut out = String::new();
    for nth in 0..trace.n_steps().min(MOST_STEPS) {
        let view = explanation.step(nth);
        let changes =
            view.shown.iter().map(|change| format!("  {}", change_text(change, &change.name, &Style::default())));
        let who = &model.processes[view.process].name;
        out.push_str(&format!(
            "\n{}. {who}, line {}: {}{}",
            nth + 1,
            view.line,
            view.statement,
            changes.collect::<String>()
        ));
    }
    match (trace.n_steps().saturating_sub(MOST_STEPS), trace.loop_from) {
        (0, Some(from)) => out.push_str(&format!("\nback to the state after step {from}")),
        (0, None) => {}
        (n_more, _) => out.push_str(&format!("\nand {n_more} more")),
    }
    out
}

/// The text of a command: on one line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command: also without what separates properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use base::StopReason;
    use engine::Verdict;

    use super::*;
    use crate::Files;
    use crate::testing::{broken_lock, counter, explained, mux_sem};

    #[test]
    fn annotations_are_one_line_each() {
        let (mut mux, lock, counter, files) = (mux_sem(2), broken_lock(2), counter(), Files::default());
        mux.results[0].verdict = Verdict::Unknown(StopReason::Cancelled);
        let source = SourceFile::new("/home/me/a,b.pw", "program <p>");
        let errors = [Diagnostic::error("E0101", Span::new(8, 9), "100% wrong").help("write\na name")];
        let [mux, lock, counter] = [&mux, &lock, &counter].map(explained);
        let items = [
            Item::Checked(&mux, &files),
            Item::Checked(&lock, &files),
            Item::Checked(&counter, &files),
            Item::Refused(&source, &errors),
        ];
        let found = commands(&items, Path::new("/home/me"));
        crate::testing::assert_shown("github__annotations_are_one_line_each", &found);
        assert!(found.lines().all(|line| line.starts_with("::error ") || line.starts_with("::warning ")));
    }

    #[test]
    fn what_is_as_expected_is_not_annotated() {
        let (mut run, files) = (mux_sem(2), Files::default());
        run.results.truncate(1);
        assert_eq!(commands(&[Item::Checked(&explained(&run), &files)], Path::new("/")), "");
    }

    #[test]
    fn the_summary_is_a_table_with_the_runs_below() {
        let (mux, lock, files) = (explained(&mux_sem(2)), explained(&broken_lock(2)), Files::default());
        let source = SourceFile::new("bad|.pw", "program <p>");
        let errors = [Diagnostic::error("E0101", Span::new(8, 9), "expected a name")];
        let items = [Item::Checked(&mux, &files), Item::Checked(&lock, &files), Item::Refused(&source, &errors)];
        crate::testing::assert_shown("github__the_summary_is_a_table_with_the_runs_below", &summary(&items));
    }
}
