//! The automata of the published formula lists are small.

use crate::support::{lists, names, parse};
use base::Budget;
use ltl::{Acceptance, Formulas, Translation, Unary, translate};

/// The mean numbers of states and edges of all listed formulas and their negations.
fn measure(acceptance: Acceptance) -> Option<(f64, f64)> {
    let (mut n_states, mut n_edges, mut n_automata) = (0, 0, 0);
    for text in lists() {
        for negated in [false, true] {
            let (mut atoms, mut formulas) = (names(0), Formulas::new());
            let mut root = parse(&mut formulas, &mut atoms, &text);
            if negated {
                root = formulas.unary(Unary::Not, root);
            }
            let translation = Translation { acceptance, ..Translation::default() };
            let automaton = translate(&mut formulas, root, &translation, &Budget::unlimited()).expect("it is small");
            n_automata += 1;
            n_states += automaton.states.len();
            n_edges += automaton.n_edges();
            if std::env::var_os("PIECEWISE_SHOW").is_some() {
                let sign = if negated { "! " } else { "" };
                println!(
                    "{acceptance:?} {} {} {} {sign}{text}",
                    automaton.states.len(),
                    automaton.n_edges(),
                    automaton.n_marks
                );
            }
        }
    }
    let mean = |total: usize| total as f64 / n_automata as f64;
    (n_automata > 0).then(|| (mean(n_states), mean(n_edges)))
}

/// The means are at most these; better ones are welcome, and then belong here.
fn check(acceptance: Acceptance, most_states: f64, most_edges: f64) {
    let Some((states, edges)) = measure(acceptance) else { return };
    println!("{acceptance:?}: {states:.3} states, {edges:.3} edges");
    assert!(states <= most_states && edges <= most_edges, "{acceptance:?}: {states:.3} states, {edges:.3} edges");
}

/// ltl2ba has 4.23 states and 9.66 edges on most of these formulas, Spot 3.20 and 6.29.
#[test]
fn automata_of_the_lists_are_small() {
    check(Acceptance::Generalised, 3.45, 8.56);
    check(Acceptance::Buchi, 3.50, 8.54);
    check(Acceptance::StateBuchi, 3.62, 8.86);
}

/// A run may begin in a marked state where that saves a copy of the initial one.
#[test]
fn marks_on_states_need_no_copy_of_the_initial_state() {
    for (text, n_states) in [("G (p -> F q)", 2), ("G F p", 2), ("G F p && G F q", 3), ("G p", 1), ("F G p", 2)] {
        let (mut atoms, mut formulas) = (names(0), Formulas::new());
        let root = parse(&mut formulas, &mut atoms, text);
        let translation = Translation { acceptance: Acceptance::StateBuchi, ..Translation::default() };
        let automaton = translate(&mut formulas, root, &translation, &Budget::unlimited()).expect("it is small");
        assert!(automaton.is_state_based(), "{text}");
        assert_eq!(automaton.states.len(), n_states, "{text}");
    }
}
