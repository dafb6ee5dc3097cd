//! Automata on infinite words: transition-based, generalised Büchi.
//!
//! An automaton reads one letter with each edge; an edge's [`Label`] says which letters. A run is accepting if it takes edges of
//! each mark again and again; an automaton without marks accepts by every run. This is what translations return and what HOA files become.

use base::{Id, IdVec};

use crate::bits::Bits;
use crate::formula::AtomId;
use crate::lasso::Letter;

/// Atoms that must be true and atoms that must be false.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cube {
    /// The numbers of atoms that must be true.
    pub positive: Bits,
    /// The numbers of atoms that must be false.
    pub negative: Bits,
}

impl Cube {
    /// Whether a letter is in the cube.
    pub fn contains(&self, letter: &Letter) -> bool {
        self.positive.is_subset(letter) && self.negative.is_disjoint(letter)
    }

    /// Whether some letter is in both.
    pub fn meets(&self, other: &Cube) -> bool {
        self.positive.is_disjoint(&other.negative) && self.negative.is_disjoint(&other.positive)
    }

    /// The literals, in the order of the atoms.
    pub fn literals(&self) -> Vec<(AtomId, bool)> {
        let literal = |positive: bool| move |atom: usize| (AtomId::new(atom), positive);
        let mut literals: Vec<_> =
            self.positive.iter().map(literal(true)).chain(self.negative.iter().map(literal(false))).collect();
        literals.sort_unstable();
        literals
    }
}

/// The letters of an edge: those in one of the cubes. Never without cubes in an automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// The cubes.
    pub cubes: Vec<Cube>,
}

impl Label {
    /// Whether the edge can be taken on a letter.
    pub fn contains(&self, letter: &Letter) -> bool {
        self.cubes.iter().any(|cube| cube.contains(letter))
    }

    /// Whether some letter is in both.
    pub fn meets(&self, other: &Label) -> bool {
        self.cubes.iter().any(|cube| other.cubes.iter().any(|with| cube.meets(with)))
    }

    /// Whether every letter is allowed, as far as one sees.
    pub fn is_true(&self) -> bool {
        self.cubes.iter().any(|cube| cube.positive.is_empty() && cube.negative.is_empty())
    }
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// On which letters it can be taken.
    pub label: Label,
    /// The marks that it carries.
    pub marks: Bits,
    /// Where it leads.
    pub target: StateId,
}

/// A state: its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The edges that leave it.
    pub edges: Vec<Edge>,
}

/// The number of a state.
pub type StateId = Id<State>;

/// An automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The states; at least one.
    pub states: IdVec<State>,
    /// Where runs begin.
    pub initial: StateId,
    /// How many marks there are.
    pub n_marks: usize,
}

impl Automaton {
    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.states.iter().map(|state| state.edges.len()).sum()
    }

    /// The atoms that labels mention.
    pub fn atoms(&self) -> Bits {
        let cubes = self.states.iter().flat_map(|state| &state.edges).flat_map(|edge| &edge.label.cubes);
        cubes.fold(Bits::new(), |atoms, cube| atoms.union(&cube.positive).union(&cube.negative))
    }

    /// The marks of a state whose edges all carry the same marks.
    pub fn state_marks(&self, state: StateId) -> Option<Bits> {
        let edges = &self.states[state].edges;
        let marks = edges.first().map(|edge| edge.marks.clone()).unwrap_or_default();
        edges.iter().all(|edge| edge.marks == marks).then_some(marks)
    }

    /// Whether no two edges of a state can be taken on the same letter.
    pub fn is_deterministic(&self) -> bool {
        self.states.iter().all(|state| {
            state
                .edges
                .iter()
                .enumerate()
                .all(|(index, edge)| state.edges[..index].iter().all(|other| !edge.label.meets(&other.label)))
        })
    }

    /// Whether marks belong to states: all edges of a state carry the same.
    pub fn is_state_based(&self) -> bool {
        self.states.ids().all(|state| self.state_marks(state).is_some())
    }
}
