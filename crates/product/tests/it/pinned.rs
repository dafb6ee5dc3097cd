//! State spaces whose sizes are known from elsewhere: by counting, from SPIN, from the paper on local state spaces.

use base::{Budget, SourceFile};
use engine::Silent;
use model::Model;
use product::explore;

fn load(name: &str, text: &str, n: i64) -> Model {
    let source = SourceFile::new(name, text);
    match lang::load(&source, &[("N".to_string(), n)]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{name}: {diagnostics:?}"),
    }
}

fn example(name: &str, n: i64) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the example is there");
    load(&path, &text, n)
}

/// States and transitions, with one thread and with two.
fn sizes(model: &Model) -> (u64, u64) {
    let run = |n_threads| {
        let (explored, _, stopped) = explore(model, &Budget::unlimited(), n_threads, &Silent);
        assert!(explored.complete && stopped.is_none());
        explored
    };
    let explored = run(1);
    assert_eq!(explored, run(2));
    (explored.states, explored.transitions)
}

/// SPIN's counts of the twins in `benches/spin`, unreduced; it counts the arrival in the initial state as a transition.
#[test]
fn sizes_are_those_of_spin() {
    let counted = [
        ("filter", 2, 42, 77),
        ("filter", 3, 774, 1_885),
        ("filter", 4, 15_624, 46_305),
        ("philosophers", 3, 96, 233),
        ("philosophers", 5, 2_240, 9_105),
        ("szymanski", 3, 902, 2_055),
        ("szymanski", 4, 8_066, 23_875),
        ("mux_sem", 5, 192, 641),
    ];
    for (name, n, states, spin_transitions) in counted {
        assert_eq!(sizes(&example(name, n)), (states, spin_transitions - 1), "{name} N = {n}");
    }
}

/// With one semaphore at most one process is inside, in two places; the others are in two places each.
#[test]
fn mux_sem_has_n_plus_1_times_2_to_the_n_states() {
    for n in 2..=8 {
        assert_eq!(sizes(&example("mux_sem", n)).0, (n as u64 + 1) << n, "N = {n}");
    }
}

/// Each fork is free, or held by its left or its right user; only that all are held by their left user is not reachable.
#[test]
fn philosophers_with_boolean_forks_have_3_to_the_n_minus_1_states() {
    let text = "program phil(N: 2..) {
        shared taken: [bool; N];
        process P[i in 0..<N] {
            loop {
                left:  atomic { await !taken[i]; taken[i] = true; }
                right: atomic { await !taken[(i + 1) % N]; taken[(i + 1) % N] = true; }
                eaten: taken[i] = false;
                leave: taken[(i + 1) % N] = false;
            }
        }
    }";
    for (n, states) in [(3, 26), (4, 80), (5, 242)] {
        assert_eq!(sizes(&load("phil.pw", text, n)).0, states, "N = {n}");
    }
}

/// Wide states: many cells, none of which depends on another.
#[test]
fn states_of_many_words_are_packed() {
    for (n, states) in [(1, 2), (100, 101), (400, 401), (1_000, 1_001)] {
        let text = "program wide(N: 1..) {
            shared a: [0..=1000; N];
            process P { for k in 0..<N { a[k] = 1000 - k % 2; } }
        }";
        assert_eq!(sizes(&load("wide.pw", text, n)).0, states, "N = {n}");
    }
}

/// More processes than a word has bits.
#[test]
fn a_hundred_processes_take_turns() {
    let text = "program turns(N: 2..) {
        shared turn: 0..=N;
        process P[i in 0..<N] { await turn == i; turn = turn + 1; }
    }";
    assert_eq!(sizes(&load("turns.pw", text, 100)), (201, 200));
}
