//! How one automaton and one set of fairness assumptions read a run: the rules by which a graph of states becomes a product.
//!
//! In: a violation, and what is true in a state. Out: the letter of the state, and for each letter and state of the automaton where it goes and with which marks; which
//! pairs a turn meets, and of which a state is free. Marks of the product are those of the automaton, then one for each pair. Letters are numbered as they are met.

use ltl::Bits;
use model::Model;
use model::eval::Turn;
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use temporal::Violation;

use super::predicates::{Predicates, StateLiteral, TestPair};

/// Where the automaton goes, and with which marks.
pub type AutomatonMove = (u32, Vec<usize>);

/// The rules of one violation.
pub struct ViolationRules<'p> {
    predicates: &'p Predicates,
    violation: &'p Violation,
    /// The tests of the automaton's atoms.
    atoms: Vec<usize>,
    pairs: Vec<&'p TestPair>,
    letters: FxHashMap<Bits, u32>,
    /// By letter and state of the automaton.
    moves: Vec<Vec<AutomatonMove>>,
    /// Whether it matters who stands still.
    tells_who: bool,
}

impl<'p> ViolationRules<'p> {
    /// The rules of a violation whose tests were added to the predicates.
    pub fn new(predicates: &'p Predicates, violation: &'p Violation) -> Self {
        let pairs = predicates.pairs(violation);
        ViolationRules {
            predicates,
            violation,
            atoms: predicates.atoms(violation),
            tells_who: pairs.iter().any(|pair| pair.turns.iter().any(|&test| predicates.turns[test].tells_who())),
            pairs,
            letters: FxHashMap::default(),
            moves: Vec::new(),
        }
    }

    /// The tests of states that are looked at.
    pub fn tests(&self) -> impl Iterator<Item = usize> {
        let literals = self.pairs.iter().flat_map(|pair| pair.always.iter().chain(&pair.before));
        self.atoms.iter().copied().chain(literals.map(|literal| literal.test))
    }

    /// The tests of the automaton's atoms.
    pub fn atoms(&self) -> &[usize] {
        &self.atoms
    }

    /// How many states the automaton has.
    pub fn n_automaton(&self) -> usize {
        self.violation.automaton.states.len()
    }

    /// Where the automaton begins.
    pub fn initial(&self) -> u32 {
        self.violation.automaton.initial.index() as u32
    }

    /// How many marks are demanded: those of the automaton.
    pub fn n_marks(&self) -> usize {
        self.violation.automaton.n_marks
    }

    /// How many pairs there are.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The letter of a state in which these tests hold.
    pub fn letter(&mut self, holds: impl Fn(usize) -> bool) -> u32 {
        let letter: Bits = (0..self.atoms.len()).filter(|&atom| holds(self.atoms[atom])).collect();
        let n_known = self.letters.len() as u32;
        let (moves, automaton) = (&mut self.moves, &self.violation.automaton);
        *self.letters.entry(letter).or_insert_with_key(|letter| {
            moves.extend(automaton.states.iter().map(|from| {
                let edges = from.edges.iter().filter(|edge| edge.label.contains(letter));
                edges.map(|edge| (edge.target.index() as u32, edge.marks.iter().collect())).collect()
            }));
            n_known
        })
    }

    /// What the automaton can do in a state of its own, on a letter.
    pub fn moves(&self, letter: u32, automaton: u32) -> &[AutomatonMove] {
        &self.moves[letter as usize * self.n_automaton() + automaton as usize]
    }

    /// For each letter that was met what the automaton can do, by its state.
    pub fn by_letter(&self) -> impl Iterator<Item = &[Vec<AutomatonMove>]> {
        self.moves.chunks(self.n_automaton())
    }

    /// The pairs whose demand a turn meets, whatever is true before it.
    pub fn met_by(&self, model: &Model, turn: &Turn) -> Vec<usize> {
        let is_true = |&test: &usize| self.predicates.turns[test].is_true_of(model, turn);
        (0..self.pairs.len()).filter(|&pair| self.pairs[pair].turns.iter().any(is_true)).collect()
    }

    /// The pairs whose demand every turn meets that leaves a state in which these tests hold.
    pub fn met_before<'r>(&'r self, holds: impl Fn(usize) -> bool + 'r) -> impl Iterator<Item = usize> + 'r {
        let is_true = move |literal: &StateLiteral| holds(literal.test) == literal.wanted;
        (0..self.pairs.len()).filter(move |&pair| self.pairs[pair].before.iter().any(&is_true))
    }

    /// Whether a state in which these tests hold is free of a pair's demand.
    pub fn is_free(&self, pair: usize, holds: impl Fn(usize) -> bool) -> bool {
        self.pairs[pair].always.is_some_and(|literal| holds(literal.test) == literal.wanted)
    }

    /// How many ways to stand still are told apart in a state with so many steps.
    pub fn n_still(&self, still: &[u64], n_steps: usize) -> usize {
        if self.violation.real_steps_only && n_steps > 0 {
            return 0;
        }
        let n_still: u32 = still.iter().map(|word| word.count_ones()).sum();
        if self.tells_who { n_still as usize } else { n_still.min(1) as usize }
    }
}

/// The process of the n-th way to stand still.
pub fn nth_still(still: &[u64], mut nth: usize) -> ProcessId {
    for (at, &word) in still.iter().enumerate() {
        let n_here = word.count_ones() as usize;
        if nth < n_here {
            let rest = (0..nth).fold(word, |rest, _| rest & (rest - 1));
            return ProcessId::new(at * 64 + rest.trailing_zeros() as usize);
        }
        nth -= n_here;
    }
    unreachable!("an edge is one of those that were counted")
}
