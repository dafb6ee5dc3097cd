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

/// Where what processes do has little room, a statement is cut once, and what came of a test is kept.
#[test]
fn a_statement_in_a_narrow_column_is_cut_once() {
    let text = "program p(N: 2..) {
      shared waiting_for_room: set of 0..<N; shared items: 0..=4;
      process Producer[i in 0..<N] { loop { idle; if items == 0 || i in waiting_for_room { items += 1; } else { skip; }
        atomic { insert waiting_for_room(i); items = min(items + 1, 4); } } }
      process Consumer[i in 0..<N] { loop { idle; if items > 1 && i in waiting_for_room { remove waiting_for_room(i); } } }
      process Checker { loop { skip; } }
      reachable much: items == 4 && size(waiting_for_room) == N;
    }";
    let shown = shown(&crate::testing::program("p", text, 2));
    let steps: Vec<&str> = shown.lines().filter(|line| line.contains("Producer[") && line.contains('⇒')).collect();
    assert!(shown.contains("step  line  process") && steps.iter().any(|line| line.contains("atomic {")), "{shown}");
    assert!(steps.iter().all(|line| line.matches('…').count() <= 1), "{shown}");
    assert!(shown.contains(": yes") || shown.contains(": no"), "{shown}");
}

/// Who is stuck does not change what is its own: a way on that this closes is no way, and what it fulfils is not waited for.
#[test]
fn who_is_stuck_waits_for_what_others_do() {
    let text = "program p {
      shared x, y: 0..=1;
      process P[i in 0..<2] { local mine: 0..=1 = 1;
        either { await i == 0 && (x == 1 && mine == 1); } or { await i == 1 && y == 1; } or { await mine == 0; } y = x; x = y; }
    }";
    let text = shown(&crate::testing::program("p", text, 0));
    let waits: Vec<&str> = text.lines().filter(|line| line.contains("waits for")).map(str::trim).collect();
    let expected = ["P[0] line 4:9  waits for x == 1  x is 0", "P[1] line 4:9  waits for y == 1  y is 0"];
    assert_eq!(waits, expected, "{text}");
}

/// Of a loop it is said whom it leaves waiting, and for what.
#[test]
fn what_a_loop_leaves_undone_is_said() {
    use evidence::{Trace, TraceEnd};
    use model::eval::Turn;
    use model::property::PropertyKind;

    let program = |formula: &str| {
        let text = format!(
            "program p {{ shared x: 0..=2; process P[i in 0..<2] {{ loop {{ a: x = (x + 1) % 3; b: skip; }} }} property live: {formula}; }}"
        );
        crate::testing::program("p", &text, 0)
    };
    // P[0] takes a step, and then nothing happens any more.
    let said = |formula: &str| {
        let run = program(formula);
        let model = &run.model;
        let property = model.properties.iter().find(|property| property.name == "live").unwrap();
        let PropertyKind::Temporal(formula) = &property.kind else { panic!("it is temporal") };
        let mut trace = Trace { loop_from: Some(1), end: TraceEnd::Loop, ..crate::testing::walk(model, &[0]) };
        trace.states.push(trace.states[1].clone());
        trace.turns.push(Turn::StandStill(model.processes.ids().next().unwrap()));
        explain::owed::owed(model, formula, &trace).map(|owed| owed.text)
    };
    let cases = [
        ("forall i: P[i]@a ~> P[i]@b", Some("`P[1]@a` at the start, and never `P[1]@b` from then on")),
        ("always (x == 1 => eventually x == 2)", Some("`x == 1` after step 1, and never `x == 2` from then on")),
        ("always eventually x == 0", Some("`x == 0` for the last time at the start")),
        ("always eventually x == 2", Some("never `x == 2`")),
        ("x <= 2 && eventually x == 2", Some("never `x == 2`")),
        ("eventually always x == 0", Some("`x == 0` is false again and again, as after step 1")),
        ("always x == 0", Some("`x == 0` is false after step 1")),
        ("eventually x == 1 && x == 1", Some("`x == 1` is false at the start")),
        ("x == 0 until x == 2", None),
        ("eventually x == 1", None),
    ];
    for (formula, expected) in cases {
        assert_eq!(said(formula).as_deref(), expected, "{formula}");
    }
}
