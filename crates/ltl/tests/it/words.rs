//! Random words judge everything: a formula, its simplified form and all its automata agree with its direct evaluation.

use crate::support::{Random, formula, is_normal, lists, names, parse, seeds, show, word};
use base::Budget;
use ltl::{Acceptance, Automaton, FormulaId, Formulas, Simplifier, Translation, Unary, translate};

const N_ATOMS: usize = 3;

fn automaton(formulas: &mut Formulas, root: FormulaId, translation: &Translation) -> Automaton {
    translate(formulas, root, translation, &Budget::unlimited()).expect("small formulas have automata")
}

#[test]
fn simplified_formulas_mean_the_same() {
    for seed in seeds(8_000) {
        let mut random = Random(seed);
        let (atoms, mut formulas) = (names(N_ATOMS), Formulas::new());
        let size = 1 + random.below(12);
        let root = formula(&mut random, &mut formulas, &atoms, size);
        let simple = Simplifier::new(&mut formulas).simplify(root);
        assert!(is_normal(&formulas, simple), "seed {seed}: {}", show(&formulas, &atoms, simple));
        for _ in 0..20 {
            let word = word(&mut random, N_ATOMS);
            let (expected, found) = (word.satisfies(&formulas, root), word.satisfies(&formulas, simple));
            let texts = [root, simple].map(|id| show(&formulas, &atoms, id));
            assert_eq!(found, expected, "seed {seed}: {texts:?} on {word:?}");
        }
    }
}

#[test]
fn random_formulas_and_their_automata_accept_the_same_words() {
    for seed in seeds(1_000) {
        let mut random = Random(seed);
        let (atoms, mut formulas) = (names(N_ATOMS), Formulas::new());
        let size = 1 + random.below(9);
        let root = formula(&mut random, &mut formulas, &atoms, size);
        check(&mut formulas, &atoms, root, (&mut random, N_ATOMS, 20));
    }
}

#[test]
fn listed_formulas_and_their_negations_partition_words() {
    for text in lists() {
        let (mut atoms, mut formulas) = (names(7), Formulas::new());
        let root = parse(&mut formulas, &mut atoms, &text);
        let negated = formulas.unary(Unary::Not, root);
        check(&mut formulas, &atoms, root, (&mut Random(1), 7, 40));
        check(&mut formulas, &atoms, negated, (&mut Random(2), 7, 40));
    }
}

/// Compares every kind of automaton with the direct evaluation, and the automaton of the negation with its opposite.
fn check(formulas: &mut Formulas, atoms: &ltl::Atoms, root: FormulaId, words: (&mut Random, usize, usize)) {
    let negated = formulas.unary(Unary::Not, root);
    let plain = Translation { simplifies: false, reduces: false, ..Translation::default() };
    let kinds = [
        Translation::default(),
        plain,
        Translation { simplifies: false, ..Translation::default() },
        Translation { acceptance: Acceptance::Buchi, ..Translation::default() },
        Translation { acceptance: Acceptance::StateBuchi, ..Translation::default() },
        Translation { acceptance: Acceptance::StateBuchi, ..plain },
    ];
    let automata = kinds.map(|kind| (kind, automaton(formulas, root, &kind)));
    let opposite = automaton(formulas, negated, &Translation::default());
    let (random, n_atoms, n_words) = words;
    for _ in 0..n_words {
        let word = word(random, n_atoms);
        let expected = word.satisfies(formulas, root);
        let text = || format!("{} on {word:?}", show(formulas, atoms, root));
        for (kind, automaton) in &automata {
            assert_eq!(automaton.accepts(&word), expected, "{} by {kind:?}: {automaton:#?}", text());
            assert!(kind.acceptance != Acceptance::StateBuchi || automaton.is_state_based(), "{}", text());
            assert!(kind.acceptance == Acceptance::Generalised || automaton.n_marks <= 1, "{}", text());
        }
        assert_ne!(opposite.accepts(&word), expected, "the negation of {}", text());
    }
}
