//! Results for people: the verdict first, in the user's words, then why, then what to do next.
//!
//! In: a [`Run`]. Out: text; what the front-end warns of is for [`crate::diagnostics`] to render. `verdict` renders the line of one property, `trace` a counterexample by process, `failure` what
//! a trace shows at its end, `insight` what else was tried, `advice` the commands that go on from there, `decided` which method
//! decided what.

pub(crate) mod advice;
mod change;
mod columns;
mod decided;
pub(crate) mod failure;
pub(crate) mod insight;
pub(crate) mod lasso;
mod listing;
pub(crate) mod proof;
pub(crate) mod stale;
mod summary;
pub mod trace;
pub mod tried;
pub(crate) mod verdict;

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;
use explain::Explained;
use explain::explained::certificate;
use explain::names::parameters_with_origin;

use crate::files::Files;
use crate::style::{Ink, Style};
use crate::text::{clean, hang, spread, width};

pub(crate) use change::change_text;
pub use summary::{Tally, tally};
pub use trace::{TraceDrawing, draw_trace};

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// One line for each property.
    Quiet,
    /// Verdicts, counterexamples, what to do next.
    #[default]
    Normal,
    /// Also sizes and rates, and long traces in full.
    Verbose,
}

/// What the call knows beside the run.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// How much is said.
    pub verbosity: Verbosity,
    /// The files that were written.
    pub files: Files,
    /// Whether the guarantees and local states of processes are shown, where a proof has them.
    pub guarantees: bool,
}

/// One verdict in one line, with the program and instance that it is about.
pub fn verdict_line(run: &Run, result: &PropertyResult, style: &Style) -> String {
    verdict::quiet_line(run, result, style)
}

/// Everything about one run.
pub fn run(run: &Explained, context: &Context, style: &Style) -> String {
    if context.verbosity == Verbosity::Quiet {
        return style.plain(run.results.iter().map(|result| verdict::quiet_line(run, result, style)).collect());
    }
    let mut out = header(run, context, style);
    out.push('\n');
    let mut after_block = false;
    for result in &run.results {
        let block = property(run, result, context, style);
        let is_block = block.lines().count() > 2;
        if is_block && !out.ends_with("\n\n") || after_block {
            out.push('\n');
        }
        out.push_str(&block);
        after_block = is_block;
    }
    if run.results.is_empty() {
        out.push_str("  nothing was asked: no property matches\n");
    }
    if context.guarantees {
        out.push('\n');
        out.push_str(&guarantees(run, style));
    }
    let decided = decided::line(run, style);
    if !decided.is_empty() {
        out.push_str(if after_block { "\n" } else { "" });
        out.push_str(&decided);
        after_block = false;
    }
    if run.results.len() > 1 {
        if after_block {
            out.push('\n');
        }
        out.push_str(&summary::line(run, style));
    }
    style.plain(out)
}

/// What processes guarantee to each other, in the first proof that says it.
fn guarantees(run: &Explained, style: &Style) -> String {
    let is_pushdown = |result: &&PropertyResult| certificate(result).is_some_and(|proof| proof.pushdown().is_some());
    match run.results.iter().find(is_pushdown) {
        Some(result) => crate::guarantees::text(run, result, style),
        None => "  there are no guarantees to show: only proofs by `--method pushdown` have them\n".to_owned(),
    }
}

/// The program, its parameters, its file.
fn header(run: &Run, context: &Context, style: &Style) -> String {
    let parameters = parameters_with_origin(&run.model);
    let name = clean(&run.model.name);
    let left = if parameters.is_empty() { name.clone() } else { format!("{name}  {parameters}") };
    let (file, columns) = (clean(run.source.name()), style.width.min(80));
    let fits = width(&left) + 2 + width(&file) <= columns;
    let plain = if fits {
        spread(&left, &file, columns)
    } else {
        format!("{}  {file}", hang(&format!("{name}  "), &parameters, columns))
    };
    let mut out = plain.replacen(&name, &style.paint(Ink::Strong, &name), 1) + "\n";
    if context.verbosity == Verbosity::Verbose && !run.model.doc.is_empty() {
        for paragraph in run.model.doc.split("\n\n") {
            let lines = hang("  ", &clean_words(paragraph), columns);
            out.extend(lines.lines().map(|line| style.paint(Ink::Dim, line) + "\n"));
        }
    }
    out
}

/// The words of a text, each as it may be shown.
fn clean_words(text: &str) -> String {
    text.split_whitespace().map(clean).collect::<Vec<_>>().join(" ")
}

/// One property: its line, and what belongs to it.
pub(crate) fn property(run: &Explained, result: &PropertyResult, context: &Context, style: &Style) -> String {
    let mut out = verdict::line(run, result, style);
    out.push_str(&verdict::expectation(run, result, style));
    match &result.verdict {
        Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => {
            out.push_str(&trace_block(run, (result, trace), context, style));
        }
        Verdict::Holds(Evidence::Certificate(found)) | Verdict::Violated(Evidence::Certificate(found)) => {
            out.push_str(&proof::block(run, (result, found), context, style));
        }
        Verdict::Holds(_) | Verdict::Violated(_) => {}
        Verdict::Unknown(reason) => out.push_str(&verdict::undecided(run, result, reason, style)),
    }
    let is_proof = matches!(
        &result.verdict,
        Verdict::Holds(Evidence::Certificate(_)) | Verdict::Violated(Evidence::Certificate(_))
    );
    if matches!(result.verdict, Verdict::Holds(_)) && !is_proof {
        out.push_str(&insight::of_holding(run, result, context, style));
    }
    if context.verbosity == Verbosity::Verbose && !is_proof {
        out.push_str(&verdict::statistics(result, style));
    }
    if context.verbosity == Verbosity::Verbose {
        out.push_str(&tried::line(result, style));
    }
    out.push_str(&advice::next(run, result, context, style));
    out
}

fn trace_block(
    run: &Explained,
    (result, trace): (&PropertyResult, &evidence::Trace),
    context: &Context,
    style: &Style,
) -> String {
    let Some(explanation) = run.explained_trace(result) else { return String::new() };
    let shown = failure::end(run, result, trace, style);
    let mut out = shown.text;
    out.push('\n');
    let drawing = TraceDrawing {
        explanation,
        named: &shown.processes,
        ending: &shown.ending,
        in_full: context.verbosity == Verbosity::Verbose,
    };
    out.push_str(&draw_trace(&drawing, style));
    out.push_str(&call_stacks(run, trace, style));
    out.push_str(&lasso::turning(run, result.property, trace, style));
    out.push_str(&insight::of_violated(run, result, style));
    out.push_str(&stale::hint(run, result, style));
    out.push_str(&trace::facts(result, trace, style));
    out
}

/// The call stacks in the last state, of those processes that are in a procedure which was called by another one.
fn call_stacks(run: &Run, trace: &evidence::Trace, style: &Style) -> String {
    let Some(last) = trace.states.last() else { return String::new() };
    let mut out = String::new();
    for process in run.model.processes.ids() {
        let mut frames = explain::names::call_stack(&run.model, last, process);
        if frames.len() < 3 {
            continue;
        }
        if frames.len() > MOST_FRAMES {
            let n_hidden = frames.len() - MOST_FRAMES + 1;
            frames.splice(MOST_FRAMES / 2..MOST_FRAMES / 2 + n_hidden, [format!("{n_hidden} more")]);
        }
        let name = clean(&run.model.processes[process].name);
        let arrow = if style.ascii { " > " } else { " ▸ " };
        out.push_str(&hang(&format!("  stack of {name}  "), &frames.join(arrow), style.width.min(80)));
    }
    out
}

/// Of a higher stack the middle is left out.
const MOST_FRAMES: usize = 8;

#[cfg(test)]
mod tests;
