//! What people see, on small programs: the mock-ups of the design, and hard cases.

use base::StopReason;
use explain::explained::ExplainedSteps;

use super::*;
use crate::testing::{broken_lock, counter, explained, large_broken_lock, lasso, mux_sem, philosophers, stuck};
use crate::text::width;

fn shown(run: &Run) -> String {
    super::run(&explained(run), &Context::default(), &Style::default())
}

fn quiet(run: &Run) -> String {
    super::run(&explained(run), &Context { verbosity: Verbosity::Quiet, ..Context::default() }, &Style::default())
}

#[test]
fn violated_invariant() {
    crate::testing::assert_shown("human__violated_invariant", &shown(&broken_lock(2)));
}

#[test]
fn violated_invariant_in_ascii_with_a_trace_file() {
    let run = explained(&broken_lock(2));
    let style = Style { ascii: true, ..Style::default() };
    let traces = [(run.results[0].property, "out/broken_lock.mutex.itf.json".to_owned())].into_iter().collect();
    let text = super::run(
        &run,
        &Context { verbosity: Verbosity::Normal, files: Files { traces, ..Files::default() }, ..Context::default() },
        &style,
    );
    assert!(text.is_ascii(), "{text}");
    crate::testing::assert_shown("human__violated_invariant_in_ascii_with_a_trace_file", &text);
}

#[test]
fn holds_reached_never_and_unexpected() {
    crate::testing::assert_shown("human__holds_reached_never_and_unexpected", &shown(&mux_sem(0)));
}

#[test]
fn quiet_is_one_line_each() {
    crate::testing::assert_shown("human__quiet_is_one_line_each", &quiet(&mux_sem(0)));
}

#[test]
fn verbose_has_numbers() {
    let run = explained(&mux_sem(2));
    crate::testing::assert_shown(
        "human__verbose_has_numbers",
        &super::run(&run, &Context { verbosity: Verbosity::Verbose, ..Context::default() }, &Style::default()),
    );
}

#[test]
fn deadlock() {
    crate::testing::assert_shown("human__deadlock", &shown(&philosophers(3)));
}

#[test]
fn race_and_error() {
    crate::testing::assert_shown("human__race_and_error", &shown(&counter()));
}

#[test]
fn many_processes_show_only_those_that_matter() {
    let run = broken_lock(4);
    let text = shown(&run);
    assert!(text.contains("P[2], P[3] do not move"), "{text}");
    crate::testing::assert_shown("human__many_processes_show_only_those_that_matter", &shown(&large_broken_lock(50)));
    crate::testing::assert_shown("human__many_processes_show_only_those_that_matter-2", &shown(&philosophers(6)));
}

#[test]
fn undecided() {
    let mut run = broken_lock(2);
    let reasons = [
        StopReason::TimeLimit(std::time::Duration::from_secs(60)),
        StopReason::MemoryLimit(4 << 30),
        StopReason::Cancelled,
        base::Feature::Procedures.into(),
        StopReason::PropertyError("division by zero".to_owned()),
    ];
    let texts = reasons.map(|reason| {
        run.results[0].verdict = Verdict::Unknown(reason);
        shown(&run)
    });
    crate::testing::assert_shown("human__undecided", &texts.join("\n"));
}

#[test]
fn everything_fits_into_eighty_columns() {
    for run in [broken_lock(2), broken_lock(3), mux_sem(3), philosophers(3), philosophers(5), counter()] {
        let text = shown(&run);
        let wide: Vec<&str> = text.lines().filter(|line| width(line) > 80 && !line.contains("piecewise ")).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }
}

#[test]
fn locks_conditions_and_ended_processes() {
    crate::testing::assert_shown("human__locks_conditions_and_ended_processes", &shown(&stuck()));
}

#[test]
fn a_loop_is_bracketed() {
    let (run, trace) = lasso();
    let steps = ExplainedSteps::of(&trace);
    let explanation = steps.of_trace(&run.model, &run.source, &trace);
    let drawing = TraceDrawing { explanation, named: &[], ending: "", in_full: false };
    crate::testing::assert_shown("human__a_loop_is_bracketed", &draw_trace(&drawing, &Style::default()));
    let narrow = Style { width: 60, ..Style::default() };
    crate::testing::assert_shown("human__a_loop_is_bracketed-2", &draw_trace(&drawing, &narrow));
}

#[test]
fn long_traces_are_shown_in_part() {
    let (run, mut trace) = lasso();
    trace.loop_from = None;
    for _ in 0..40 {
        trace.states.extend_from_within(2..6);
        trace.turns.extend_from_within(1..5);
    }
    let steps = ExplainedSteps::of(&trace);
    let explanation = steps.of_trace(&run.model, &run.source, &trace);
    let drawing = TraceDrawing { explanation, named: &[], ending: "", in_full: false };
    let short = draw_trace(&drawing, &Style::default());
    assert!(short.contains("115 steps left out (-v shows them)"), "{short}");
    assert!(short.lines().count() < 60);
    let long = draw_trace(&TraceDrawing { in_full: true, ..drawing }, &Style::default());
    assert_eq!(long.lines().count(), trace.n_steps() + 3);
}
