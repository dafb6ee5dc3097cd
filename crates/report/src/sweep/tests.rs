//! Sweeps of small programs: the table fits, and the growth is that of the numbers.

use base::StopReason;

use super::*;
use crate::style::Style;
use crate::testing::{broken_lock, mux_sem, program};
use crate::text::width;

fn sweep(runs: &[Run]) -> String {
    let runs: Vec<&Run> = runs.iter().collect();
    draw(&Sweep::of(&runs).expect("it is a sweep"), &Style::default())
}

/// The same answers with times and local states that grow as they are told to.
fn grown(mut run: Run, milliseconds: u64, local: Option<u64>) -> Run {
    for result in &mut run.results {
        result.statistics.time = Duration::from_millis(milliseconds);
        result.statistics.local_states = local.map(|states| vec![Some(states); run.model.processes.len()]);
    }
    run
}

#[test]
fn a_row_for_each_size_and_a_remark_for_each_property() {
    let runs: Vec<Run> = (2..=6).map(|size| grown(mux_sem(size), 10 * 2u64.pow(size as u32), Some(10))).collect();
    let text = sweep(&runs);
    crate::testing::assert_shown("sweep__a_row_for_each_size_and_a_remark_for_each_property", &text);
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
}

/// What a parameter has where it is not given may be different from size to size.
#[test]
fn other_parameters_have_the_values_that_they_have() {
    let text = "program beside(N: 2.., M: 1.. = N, K: 1.., L: 1.. = 4) { process P[i in 0..<N] { skip; } }";
    let runs: Vec<Run> = (2..=4).map(|size| program("beside.pw", text, size)).collect();
    let heading = sweep(&runs).lines().next().map(str::to_owned).unwrap();
    assert!(heading.contains("N = 2..4, M = 2, 3, 4, K = 1 (least), L = 4 (default)"), "{heading}");
}

#[test]
fn what_is_not_decided_does_not_count() {
    let mut runs: Vec<Run> = (2..=5).map(|size| grown(broken_lock(size), 1, None)).collect();
    runs[3].results[0].verdict = Verdict::Unknown(StopReason::TimeLimit(Duration::from_secs(1)));
    let text = sweep(&runs);
    assert!(text.contains("? time-limit"), "{text}");
    assert!(text.contains("the run's length is the same for every N"), "{text}");
    assert!(text.contains("not decided for N = 5"), "{text}");
}

#[test]
fn runs_of_different_texts_are_no_sweep() {
    let (one, other) = (mux_sem(2), broken_lock(3));
    assert!(Sweep::of(&[&one, &other]).is_none() && Sweep::of(&[&one]).is_none());
}

#[test]
fn the_document_has_every_point() {
    let runs: Vec<Run> = (2..=5).map(|size| grown(mux_sem(size), 100 * size as u64, None)).collect();
    let found = crate::json::value_of(&document(&Sweep::of(&runs.iter().collect::<Vec<_>>()).unwrap()));
    assert_eq!(found["parameter"], "N");
    let mutex = &found["properties"][0];
    assert_eq!(mutex["points"].as_array().unwrap().len(), 4);
    assert_eq!((&mutex["points"][0]["counted"], &mutex["points"][0]["number"]), (&"global_states".into(), &12.into()));
    assert!(mutex["number"]["by"].as_f64().unwrap() > 2.0, "{mutex}");
}

#[test]
fn which_methods_decide_up_to_which_size() {
    let swept = |methods: &[&'static str]| {
        let mut runs: Vec<Run> = (0..methods.len()).map(|nth| broken_lock(nth as i64 + 2)).collect();
        for (run, method) in runs.iter_mut().zip(methods) {
            run.results.iter_mut().for_each(|result| result.method = method);
        }
        sweep(&runs).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = swept(&["tmmc", "tmmc", "views", "views", "tmmc"]);
    assert!(text.contains("by tmmc up to 3, then by views up to 5, then by tmmc"), "{text}");
    let text = swept(&["tmmc", "mono", "tmmc", "mono", "tmmc"]);
    assert!(text.contains("by mono, tmmc, in turn"), "{text}");
    assert!(!swept(&["mono", "mono"]).contains("by mono"));
}
