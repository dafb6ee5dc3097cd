//! How small automata can be at all: fooling sets (Birget 1992), from words that are evaluated directly.
//!
//! If for stems `u` and rests `w` every `u_i w_i` is a word of a formula, and of `u_i w_j` and `u_j w_i` one is not, then no two of the pairs can
//! share the state in which a run is after the stem: an automaton has at least as many states as there are pairs, whatever its marks are.

use crate::support::{Random, lists, names, parse};
use base::Budget;
use ltl::{Automaton, FormulaId, Formulas, Lasso, Letter, StateId, Translation, Unary, translate};

/// The most stems and the most rests that are compared.
const MOST: usize = 30;

/// A random run from a state: its letters and its states.
fn walk(random: &mut Random, automaton: &Automaton, from: StateId, length: usize) -> (Vec<Letter>, Vec<StateId>) {
    let (mut letters, mut states, mut at) = (Vec::new(), vec![from], from);
    for _ in 0..length {
        let edges = &automaton.states[at].edges;
        if edges.is_empty() {
            break;
        }
        let edge = &edges[random.below(edges.len())];
        let cube = &edge.label.cubes[random.below(edge.label.cubes.len())];
        let open = automaton.atoms().difference(&cube.positive).difference(&cube.negative);
        letters.push(cube.positive.iter().chain(open.iter().filter(|_| random.below(2) == 1)).collect());
        at = edge.target;
        states.push(at);
    }
    (letters, states)
}

/// Stems that lead to different sets of states.
fn stems(random: &mut Random, automaton: &Automaton) -> Vec<Vec<Letter>> {
    let (mut stems, mut known) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        let length = random.below(9);
        let (letters, _) = walk(random, automaton, automaton.initial, length);
        let mut reached = vec![automaton.initial];
        for letter in &letters {
            let edges = reached.iter().flat_map(|&state| &automaton.states[state].edges);
            reached = edges.filter(|edge| edge.label.contains(letter)).map(|edge| edge.target).collect();
            reached.sort_unstable();
            reached.dedup();
        }
        if !known.contains(&reached) && known.len() < MOST {
            known.push(reached);
            stems.push(letters);
        }
    }
    stems
}

/// Rests, as stem and loop, that different sets of states accept.
fn rests(random: &mut Random, automaton: &Automaton) -> Vec<(Vec<Letter>, Vec<Letter>)> {
    let (mut rests, mut known) = (Vec::new(), Vec::new());
    for _ in 0..600 {
        let (from, length) = (StateId::new(random.below(automaton.states.len())), 1 + random.below(11));
        let (letters, states) = walk(random, automaton, from, length);
        let Some(begins) = (0..letters.len()).rev().find(|&at| Some(&states[at]) == states.last()) else { continue };
        let (stem, cycle) = letters.split_at(begins);
        let word = Lasso::new(stem.to_vec(), cycle.to_vec()).expect("a loop");
        let mut from_each = automaton.clone();
        let accepted = |initial| {
            from_each.initial = initial;
            from_each.accepts(&word)
        };
        let accepting: Vec<bool> = automaton.states.ids().map(accepted).collect();
        if accepting.contains(&true) && !known.contains(&accepting) && known.len() < MOST {
            known.push(accepting);
            rests.push((stem.to_vec(), cycle.to_vec()));
        }
    }
    rests
}

/// A number of states that every automaton of the formula has at least.
fn bound(random: &mut Random, formulas: &Formulas, root: FormulaId, automaton: &Automaton) -> usize {
    let (stems, rests) = (stems(random, automaton), rests(random, automaton));
    let is_word = |stem: &Vec<Letter>, (rest, cycle): &(Vec<Letter>, Vec<Letter>)| {
        let word = Lasso::new(stem.iter().chain(rest).cloned().collect(), cycle.clone()).expect("a loop");
        word.satisfies(formulas, root)
    };
    let table: Vec<Vec<bool>> =
        stems.iter().map(|stem| rests.iter().map(|rest| is_word(stem, rest)).collect()).collect();
    let mut pairs: Vec<(usize, usize)> = (0..stems.len())
        .flat_map(|stem| (0..rests.len()).map(move |rest| (stem, rest)))
        .filter(|&(stem, rest)| table[stem][rest])
        .collect();
    let mut best = 0;
    for _ in 0..200 {
        for index in (1..pairs.len()).rev() {
            pairs.swap(index, random.below(index + 1));
        }
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        for &(stem, rest) in &pairs {
            if chosen.iter().all(|&(a, b)| !table[stem][b] || !table[a][rest]) {
                chosen.push((stem, rest));
            }
        }
        best = best.max(chosen.len());
    }
    best.max(1)
}

/// In the mean over the lists no automata have fewer than 3.2 states; and none of ours is smaller than it can be.
#[test]
fn automata_of_the_lists_are_near_the_least_possible() {
    let (mut n_automata, mut n_states, mut n_least) = (0, 0, 0);
    for text in lists() {
        for negated in [false, true] {
            let (mut atoms, mut formulas) = (names(0), Formulas::new());
            let mut root = parse(&mut formulas, &mut atoms, &text);
            if negated {
                root = formulas.unary(Unary::Not, root);
            }
            let automaton =
                translate(&mut formulas, root, &Translation::default(), &Budget::unlimited()).expect("it is small");
            let least = bound(&mut Random(1), &formulas, root, &automaton);
            assert!(automaton.states.len() >= least, "{text}: {} states, {least} are needed", automaton.states.len());
            n_automata += 1;
            n_states += automaton.states.len();
            n_least += least;
        }
    }
    println!("{n_automata} automata: {n_states} states, at least {n_least} are needed");
    assert!(n_automata == 0 || n_least * 10 >= n_automata * 32, "{n_least} states are needed by {n_automata} automata");
}
