//! Local sets on protocols: sizes that are known from elsewhere, many processes, limits.

use std::time::Duration;

use base::{Budget, CancelToken, SourceFile, StopReason};
use engine::{Answer, Engine, Silent, Task, Verdict};
use evidence::Evidence;
use local::ExplicitKIndex;
use model::Model;

fn example(name: &str, n: i64) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the example is there");
    match lang::load(&SourceFile::new(&path, &text), &[("N".to_string(), n)]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{name}: {diagnostics:?}"),
    }
}

fn ask(model: &Model, k: usize, property: &str, budget: Budget) -> Answer {
    let named = |id: &engine::PropertyId| model.properties[*id].name == property;
    let properties = model.properties.ids().filter(named).collect();
    let mut answers = ExplicitKIndex::new(k).run(&Task { model, properties, budget, n_threads: 1 }, &Silent).unwrap();
    assert_eq!(answers.len(), 1, "{property} is asked");
    answers.remove(0)
}

fn is_proved(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Holds(Evidence::Certificate(_)))
}

#[test]
fn a_semaphore_excludes_any_number_of_processes_pair_by_pair() {
    for n in [2, 3, 50, 200] {
        let model = example("mux_sem", n);
        let answer = ask(&model, 2, "mutex", Budget::unlimited());
        assert!(is_proved(&answer.verdict), "N = {n}: {:?}", answer.verdict);
        // Free with both outside, taken with one of them inside; from three processes on, taken with both outside.
        let n_states = if n == 2 { 4 + 8 } else { 4 + 8 + 4 };
        assert_eq!(answer.statistics.local_states, Some(vec![Some(n_states)]), "N = {n}");
        let alone = ask(&model, 1, "mutex", Budget::unlimited());
        assert!(matches!(alone.verdict, Verdict::Unknown(StopReason::TooCoarse(_))), "N = {n}");
    }
}

#[test]
fn a_lock_that_is_tested_before_it_is_taken_fails_in_a_run_of_two_processes() {
    for n in [2, 20, 50] {
        let model = example("mux_sem_try", n);
        for k in [1, 2] {
            let answer = ask(&model, k, "mutex", Budget::unlimited());
            let Verdict::Violated(Evidence::Trace(trace)) = answer.verdict else { panic!("N = {n}, k = {k}") };
            let id = model.properties.ids().find(|id| model.properties[*id].name == "mutex").expect("it is there");
            audit::replay(&model, id, &trace).expect("the run is real");
        }
    }
}

#[test]
fn limits_end_in_an_ordinary_answer() {
    let model = example("filter", 6);
    let limit = Duration::from_millis(200);
    let late = ask(&model, 2, "mutex", Budget::new(Some(limit), None, CancelToken::default()));
    assert_eq!(late.verdict, Verdict::Unknown(StopReason::TimeLimit(limit)));
    let large = ask(&model, 1, "mutex", Budget::new(None, Some(1 << 20), CancelToken::default()));
    assert_eq!(large.verdict, Verdict::Unknown(StopReason::MemoryLimit(1 << 20)));
    let cancel = CancelToken::default();
    cancel.cancel();
    let stopped = ask(&model, 1, "mutex", Budget::new(None, None, cancel));
    assert_eq!(stopped.verdict, Verdict::Unknown(StopReason::Cancelled));
}
