//! Limits end a search in an orderly way, with what was found until then.

use std::sync::Mutex;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile, StopReason};
use engine::{Engine, Event, Observer, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use product::{Mono, explore};

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("test.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}"),
    }
}

/// 2^40 states.
const LARGE: &str = "program large {
    process P[i in 0..<40] { skip; }
    invariant yes: true;
    reachable early: exists i: P[i]@end;
    reachable never: false;
}";

fn large() -> Model {
    load(&LARGE.replace("skip;", "start: skip; end: skip;"))
}

fn verdicts(model: &Model, budget: Budget, n_threads: usize) -> Vec<(String, Verdict)> {
    let task = Task { model, properties: model.properties.ids().collect(), budget, n_threads };
    let answers = Mono.run(&task, &Silent).unwrap();
    answers.into_iter().map(|answer| (model.properties[answer.property].name.clone(), answer.verdict)).collect()
}

fn verdict<'v>(verdicts: &'v [(String, Verdict)], name: &str) -> &'v Verdict {
    &verdicts.iter().find(|(other, _)| other == name).expect("the property exists").1
}

#[test]
fn time_runs_out() {
    let limit = Duration::from_millis(100);
    for n_threads in [1, 2] {
        let found = verdicts(&large(), Budget::new(Some(limit), None, CancelToken::default()), n_threads);
        assert_eq!(*verdict(&found, "yes"), Verdict::Unknown(StopReason::TimeLimit(limit)));
        assert_eq!(*verdict(&found, "never"), Verdict::Unknown(StopReason::TimeLimit(limit)));
        assert!(matches!(verdict(&found, "early"), Verdict::Holds(Evidence::Trace(trace)) if trace.n_steps() == 1));
    }
}

/// That a property has no value somewhere is said where a limit ends the search before another state decides it.
#[test]
fn a_state_without_a_value_is_named_though_a_limit_ends_the_search() {
    let lacking = "invariant yes: 1 / (if exists i: P[i]@end then 1 else 0) == 1;";
    let model = load(&LARGE.replace("skip;", "start: skip; end: skip;").replace("invariant yes: true;", lacking));
    let limit = Duration::from_millis(100);
    let found = verdicts(&model, Budget::new(Some(limit), None, CancelToken::default()), 1);
    let Verdict::Unknown(StopReason::PropertyError(why)) = verdict(&found, "yes") else { panic!("{found:?}") };
    assert!(why.contains("division by zero"), "{why}");
    assert_eq!(*verdict(&found, "never"), Verdict::Unknown(StopReason::TimeLimit(limit)));
}

#[test]
fn memory_runs_out_before_it_is_taken() {
    let limit = 4 << 20;
    for n_threads in [1, 3] {
        let budget = Budget::new(None, Some(limit), CancelToken::default());
        let (explored, statistics, stopped) = explore(&large(), &budget, n_threads, &Silent);
        assert_eq!(stopped, Some(StopReason::MemoryLimit(limit)));
        assert!(!explored.complete && explored.states > 50_000, "{explored:?}");
        assert!(statistics.peak_memory_bytes.unwrap() <= limit + 100_000, "{statistics:?}");
    }
}

#[test]
fn a_cancelled_search_stops_at_once() {
    let cancel = CancelToken::default();
    cancel.cancel();
    let found = verdicts(&large(), Budget::new(None, None, cancel), 2);
    assert_eq!(*verdict(&found, "yes"), Verdict::Unknown(StopReason::Cancelled));
}

/// The search of the cone has no room; a shortest run is found all the same.
#[test]
fn a_counterexample_is_found_at_the_limit_of_memory() {
    let text = "program late {
        process P[i in 0..<9] { start: skip; end: skip; }
        invariant not_all: exists i: !P[i]@end;
    }";
    let model = load(text);
    let found = verdicts(&model, Budget::unlimited(), 1);
    assert!(matches!(verdict(&found, "not_all"), Verdict::Violated(Evidence::Trace(trace))
        if trace.n_steps() == 9 && trace.n_context_switches() == 8));
    let task =
        Task { model: &model, properties: model.properties.ids().collect(), budget: Budget::unlimited(), n_threads: 1 };
    let answers = Mono.run(&task, &Silent).unwrap();
    let peak = answers[0].statistics.peak_memory_bytes.unwrap();
    let tight = Budget::new(None, Some(peak / 4), CancelToken::default());
    let found = verdicts(&model, tight, 1);
    match verdict(&found, "not_all") {
        Verdict::Violated(Evidence::Trace(trace)) => assert_eq!(trace.n_steps(), 9),
        Verdict::Unknown(StopReason::MemoryLimit(_)) => {}
        other => panic!("{other:?}"),
    }
}

/// Values that nobody can enumerate: the search stops in the middle of one step, and of the initial states.
#[test]
fn a_choice_of_very_many_values_can_be_stopped() {
    let limit = Duration::from_millis(50);
    let texts = [
        "program choice { shared x: 0..=4294967295; process P { x = any; } }",
        "program choices { shared x: 0..=4294967295; shared y: 0..=4294967295; process P { atomic { x = any; y = any; if y > 3 { y = 3; } } } }",
        "program initial { shared x: [0..=4294967295; 3] = any; process P { skip; } }",
    ];
    for text in texts {
        let budget = Budget::new(Some(limit), Some(1 << 30), CancelToken::default());
        let (explored, _, stopped) = explore(&load(text), &budget, 1, &Silent);
        assert!(!explored.complete, "{text}");
        assert!(matches!(stopped, Some(StopReason::TimeLimit(_) | StopReason::MemoryLimit(_))), "{text}: {stopped:?}");
    }
}

#[test]
fn endless_recursion_stops_at_the_limit_and_bugs_in_it_are_found() {
    let text = "program deep {
        shared n: 0..=3;
        proc dive() { at: if n < 3 { n = n + 1; } down: call dive(); }
        process P { call dive(); }
        invariant shallow: n < 3;
        invariant small: n <= 3;
    }";
    let limit = 2 << 20;
    let found = verdicts(&load(text), Budget::new(None, Some(limit), CancelToken::default()), 1);
    assert!(matches!(verdict(&found, "shallow"), Verdict::Violated(Evidence::Trace(_))));
    assert_eq!(*verdict(&found, "small"), Verdict::Unknown(StopReason::MemoryLimit(limit)));
}

#[test]
fn a_state_that_is_too_large_is_refused_in_words() {
    let model = load("program huge { shared a: [0..=1000000; 10000]; process P { a[0] = 1; } }");
    let (explored, _, stopped) = explore(&model, &Budget::unlimited(), 1, &Silent);
    assert_eq!(explored.states, 0);
    assert!(stopped.unwrap().to_string().contains("explicit states have at most 8 kB"));
}

/// Keeps what it is told.
#[derive(Default)]
struct Listener(Mutex<Vec<Event>>);

impl Observer for Listener {
    fn event(&self, event: Event) {
        self.0.lock().expect("nobody panics").push(event);
    }
}

#[test]
fn progress_is_told_a_few_times_a_second() {
    let model = large();
    let listener = Listener::default();
    let budget = Budget::new(Some(Duration::from_millis(900)), None, CancelToken::default());
    let task = Task { model: &model, properties: model.properties.ids().collect(), budget, n_threads: 1 };
    Mono.run(&task, &listener).unwrap();
    let events = listener.0.lock().unwrap();
    let n_reports = events.iter().filter(|event| matches!(event, Event::Searching { .. })).count();
    assert!((1..=4).contains(&n_reports), "{events:?}");
    let n_decided = events.iter().filter(|event| matches!(event, Event::Decided(_))).count();
    assert_eq!(n_decided, 1);
    let searching = events.iter().rev().find_map(|event| match event {
        Event::Searching { states, frontier, depth, memory_bytes } => Some((states, frontier, depth, memory_bytes)),
        Event::Decided(_) | Event::Proving { .. } => None,
    });
    let (states, frontier, depth, memory_bytes) = searching.unwrap();
    assert!(*states > 1_000 && frontier < states && *depth > 2 && *memory_bytes > 8 * states);
}

/// Keeps guesses of what is left.
#[derive(Default)]
struct Guesses(Mutex<Vec<f64>>);

impl Observer for Guesses {
    fn event(&self, _event: Event) {}

    fn left(&self, part: f64) {
        self.0.lock().expect("nobody panics").push(part);
    }
}

/// Levels of independent counters grow to the middle and shrink again.
#[test]
fn what_is_left_is_guessed_when_levels_shrink() {
    let text = "program counters {
        process P[i in 0..<3] { local x: 0..=40; while x < 40 { x = x + 1; } }
        invariant small: forall i: P[i].x <= 40;
        property ends: eventually P[0].x == 40 under weak P[*];
    }";
    let model = load(text);
    for property in model.properties.ids() {
        let (guesses, budget) = (Guesses::default(), Budget::unlimited());
        Mono.run(&Task { model: &model, properties: vec![property], budget, n_threads: 1 }, &guesses).unwrap();
        let guesses = guesses.0.into_inner().expect("nobody panics");
        assert!((3..100).contains(&guesses.len()), "{guesses:?}");
        let (first, last) = (guesses[0], guesses[guesses.len() - 1]);
        assert!((0.3..3.0).contains(&first) && last < 0.1, "{guesses:?}");
    }
}

/// Keeps what is answered, in its order, with how many states were known by then.
#[derive(Default)]
struct Answers(Mutex<Vec<(String, u64)>>, Option<Model>);

impl Observer for Answers {
    fn event(&self, _event: Event) {}

    fn answered(&self, answer: &engine::Answer) {
        let model = self.1.as_ref().expect("the listener knows the program");
        let name = model.properties[answer.property].name.clone();
        let states = answer.statistics.global_states.unwrap_or(0);
        let mut told = self.0.lock().expect("nobody panics");
        if !told.iter().any(|(known, _)| *known == name) {
            told.push((name, states));
        }
    }
}

const BOTH_KINDS: &str = "program both {
    shared x: [0..=9; 4];
    process P[i in 0..<4] { loop { x[i] = (x[i] + 1) % 10; } }
    invariant near: x[0] != 2;
    invariant small: forall k: x[k] <= 9;
    property again: always eventually x[0] == 0 under weak P[*];
    deadlock_free;
}";

/// One exploration serves both kinds: a violation is told when its level is reached, and what holds before loops are looked for.
#[test]
fn the_product_is_explored_once_for_both_kinds_and_each_verdict_is_told_at_once() {
    let model = load(BOTH_KINDS);
    let listener = Answers(Mutex::default(), Some(model.clone()));
    let budget = Budget::unlimited();
    let task = Task { model: &model, properties: model.properties.ids().collect(), budget, n_threads: 1 };
    let answers = Mono.run(&task, &listener).unwrap();
    let order: Vec<_> = answers.iter().map(|answer| answer.property).collect();
    assert_eq!(order, task.properties);
    let told = listener.0.lock().unwrap();
    assert_eq!(told.first().map(|(name, _)| name.as_str()), Some("near"));
    assert!(told[0].1 < 1_000, "{told:?}");
    assert_eq!(told.last().map(|(name, _)| name.as_str()), Some("again"), "{told:?}");
    assert!(told[1..].iter().all(|(_, states)| *states == 10_000), "{told:?}");
}

/// Where the graph has no room, its states alone may have.
#[test]
fn what_a_graph_has_no_room_for_a_search_decides() {
    let model = load(BOTH_KINDS);
    let limit = 400_000;
    let found = verdicts(&model, Budget::new(None, Some(limit), CancelToken::default()), 1);
    assert!(matches!(verdict(&found, "near"), Verdict::Violated(Evidence::Trace(_))));
    assert!(matches!(verdict(&found, "small"), Verdict::Holds(Evidence::Exploration(_))), "{found:?}");
    assert!(matches!(verdict(&found, "deadlock_free"), Verdict::Holds(Evidence::Exploration(_))), "{found:?}");
    assert_eq!(*verdict(&found, "again"), Verdict::Unknown(StopReason::MemoryLimit(limit)));
}
