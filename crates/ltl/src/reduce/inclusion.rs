//! Whether one small graph accepts every word of another (Fogarty and Vardi 2010: Ramsey's argument instead of a complement).
//!
//! In: two graphs over one alphabet. Out: whether the words of the first are words of the second; nothing where the way is too long. A word that goes round
//! for ever, `u v v v …`, is in the second graph if, from the states that `u` leads to, repeating `v` goes round a cycle with all marks. What `v` does is a
//! box: for each pair of states the sets of marks of the paths that `v` allows. There are finitely many boxes, and all those of words on
//! which the first graph accepts are tried; of two boxes the one that allows less is enough.

use base::Budget;

use super::letters::{Coded, Letters, MarkSet};
use crate::components::Components;
use crate::diagram::DiagramResult;

/// The most boxes, and stems, that are examined.
const MAX_BOXES: usize = 1_000;
/// The most marks of the larger graph: the sets of its marks are the bits of [`MarkPaths`].
const MAX_MARKS: usize = 3;

/// Sets of marks that paths between two states have: bit m is for the set m, and smaller sets are always there too.
type MarkPaths = u8;

/// What a word does in the larger graph: the paths from each state to each.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PathBox {
    n: usize,
    paths: Vec<MarkPaths>,
}

impl PathBox {
    fn of_letter(graph: &Coded, letter: Letters) -> Self {
        let n = graph.states.len();
        let mut paths = vec![0; n * n];
        for (state, arcs) in graph.states.iter().enumerate() {
            for arc in arcs.iter().filter(|arc| arc.letters & letter != 0) {
                paths[state * n + arc.target] |= subsets(arc.marks);
            }
        }
        PathBox { n, paths }
    }

    /// The box of this word followed by that one.
    fn then(&self, next: &PathBox) -> PathBox {
        let n = self.n;
        let mut paths = vec![0; n * n];
        for from in 0..n {
            for middle in (0..n).filter(|middle| self.paths[from * n + middle] != 0) {
                for to in (0..n).filter(|to| next.paths[middle * n + to] != 0) {
                    paths[from * n + to] |= joined(self.paths[from * n + middle], next.paths[middle * n + to]);
                }
            }
        }
        PathBox { n, paths }
    }

    fn allows_no_more_than(&self, other: &PathBox) -> bool {
        self.paths.iter().zip(&other.paths).all(|(a, b)| a & !b == 0)
    }

    /// Whether, from one of the states, repeating the word goes round a cycle with all marks.
    fn accepts_from(&self, states: u64, all: MarkSet) -> bool {
        let n = self.n;
        let successors: Vec<Vec<usize>> =
            (0..n).map(|from| (0..n).filter(|to| self.paths[from * n + to] != 0).collect()).collect();
        let components = Components::new(n, |state, k| successors[state].get(k).copied());
        let mut marks: Vec<Option<MarkSet>> = vec![None; components.count];
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets.iter().filter(|&&to| components.of[to] == components.of[from]) {
                let known = marks[components.of[to]].get_or_insert(0);
                *known |= marks_of(self.paths[from * n + to]);
            }
        }
        let mut is_met = vec![false; n];
        let mut open: Vec<usize> = (0..n).filter(|state| states >> state & 1 == 1).collect();
        open.iter().for_each(|&state| is_met[state] = true);
        while let Some(state) = open.pop() {
            if marks[components.of[state]] == Some(all) {
                return true;
            }
            for &to in &successors[state] {
                if !std::mem::replace(&mut is_met[to], true) {
                    open.push(to);
                }
            }
        }
        false
    }
}

/// All subsets of a set of marks.
fn subsets(marks: MarkSet) -> MarkPaths {
    (0..8).filter(|set| set & !marks == 0).fold(0, |paths, set| paths | 1 << set)
}

/// All marks of some path.
fn marks_of(paths: MarkPaths) -> MarkSet {
    (0..8).filter(|set| paths >> set & 1 == 1).fold(0, |marks, set| marks | set)
}

/// The sets of marks of a path of the first kind followed by one of the second.
fn joined(first: MarkPaths, second: MarkPaths) -> MarkPaths {
    let mut paths = 0;
    for one in (0..8).filter(|one| first >> one & 1 == 1) {
        for other in (0..8).filter(|other| second >> other & 1 == 1) {
            paths |= 1 << (one | other);
        }
    }
    paths
}

/// What a word does in both graphs: in the smaller one it leads from the start of the search to a state, with some marks.
struct WordTurn {
    at: usize,
    marks: MarkSet,
    does: PathBox,
}

/// Whether every word of `small` is one of `large`, over so many letters; `None` where that takes too long.
///
/// Each box that is made counts one off `n_left`; at zero there are no more answers.
pub fn is_included(
    (budget, n_left): (&Budget, &mut usize),
    small: &Coded,
    large: &Coded,
    letters: usize,
) -> DiagramResult<Option<bool>> {
    if *n_left == 0 || large.n_marks > MAX_MARKS || large.states.len() > 64 {
        return Ok(None);
    }
    let boxes: Vec<PathBox> = (0..letters).map(|letter| PathBox::of_letter(large, 1 << letter)).collect();
    let Some(stems) = stems(small, large, letters) else { return Ok(None) };
    let components = Components::new(small.states.len(), |state, k| small.states[state].get(k).map(|arc| arc.target));
    let mut n_boxes = 0;
    for start in 0..small.states.len() {
        let from: Vec<u64> = stems.iter().filter(|stem| stem.0 == start).map(|stem| stem.1).collect();
        if from.is_empty() {
            continue;
        }
        let inner =
            |state: usize| small.states[state].iter().filter(|arc| components.of[arc.target] == components.of[start]);
        let mut turns: Vec<WordTurn> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut next: Vec<WordTurn> = Vec::new();
        for arc in inner(start) {
            for letter in each(arc.letters) {
                next.push(WordTurn { at: arc.target, marks: arc.marks, does: boxes[letter].clone() });
            }
        }
        loop {
            budget.check(0)?;
            if *n_left == 0 {
                return Ok(None);
            }
            for turn in next.drain(..) {
                let is_covered = turns.iter().any(|known| {
                    known.at == turn.at && turn.marks & !known.marks == 0 && known.does.allows_no_more_than(&turn.does)
                });
                if is_covered {
                    continue;
                }
                if turn.at == start
                    && turn.marks == small.all_marks()
                    && !from.iter().all(|&states| turn.does.accepts_from(states, large.all_marks()))
                {
                    return Ok(Some(false));
                }
                open.push(turns.len());
                turns.push(turn);
                n_boxes += 1;
                if n_boxes > MAX_BOXES {
                    return Ok(None);
                }
            }
            let Some(index) = open.pop() else { break };
            let turn = &turns[index];
            for arc in inner(turn.at) {
                for letter in each(arc.letters) {
                    *n_left = n_left.saturating_sub(1);
                    let does = turn.does.then(&boxes[letter]);
                    next.push(WordTurn { at: arc.target, marks: turn.marks | arc.marks, does });
                }
            }
        }
    }
    Ok(Some(true))
}

/// The numbers of the letters of a set.
fn each(letters: Letters) -> impl Iterator<Item = usize> {
    (0..Letters::BITS as usize).filter(move |letter| letters >> letter & 1 == 1)
}

/// Where words lead: a state of the smaller graph, and all states of the larger one, as few as there can be.
fn stems(small: &Coded, large: &Coded, letters: usize) -> Option<Vec<(usize, u64)>> {
    let step = |states: u64, letter: usize| {
        let members = (0..large.states.len()).filter(|state| states >> state & 1 == 1);
        let arcs = members.flat_map(|state| &large.states[state]).filter(|arc| arc.letters >> letter & 1 == 1);
        arcs.fold(0_u64, |targets, arc| targets | 1 << arc.target)
    };
    let mut stems = vec![(small.initial, 1_u64 << large.initial)];
    let mut at = 0;
    while let Some(&(state, states)) = stems.get(at) {
        at += 1;
        for letter in 0..letters {
            let after = step(states, letter);
            for arc in small.states[state].iter().filter(|arc| arc.letters >> letter & 1 == 1) {
                if !stems.iter().any(|stem| stem.0 == arc.target && stem.1 & !after == 0) {
                    stems.push((arc.target, after));
                }
            }
        }
        if stems.len() > MAX_BOXES {
            return None;
        }
    }
    Some(stems)
}

#[cfg(test)]
mod tests {
    use super::super::letters::{CodedArc, is_disjoint};
    use super::*;

    const N_LETTERS: usize = 2;

    /// Xorshift (Marsaglia 2003): good enough for small graphs.
    fn below(seed: &mut u64, n: usize) -> usize {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed % n as u64) as usize
    }

    fn graph(seed: &mut u64) -> Coded {
        let (n_states, n_marks) = (1 + below(seed, 3), below(seed, 3));
        let mut states = vec![Vec::new(); n_states];
        for arcs in &mut states {
            for target in 0..n_states {
                let (letters, marks) = (below(seed, 1 << N_LETTERS) as Letters, below(seed, 1 << n_marks) as MarkSet);
                if letters != 0 {
                    arcs.push(CodedArc { letters, marks, target });
                }
            }
        }
        Coded { states, initial: 0, n_marks }
    }

    /// The word of these letters that goes round to the given one, as a graph that accepts nothing else.
    fn word(letters: &[usize], loop_from: usize) -> Coded {
        let arc = |(at, &letter): (usize, &usize)| {
            let target = if at + 1 < letters.len() { at + 1 } else { loop_from };
            vec![CodedArc { letters: 1 << letter, marks: 0, target }]
        };
        Coded { states: letters.iter().enumerate().map(arc).collect(), initial: 0, n_marks: 0 }
    }

    /// All words of at most six letters that go round.
    fn words() -> Vec<Coded> {
        let mut words = Vec::new();
        for length in 1..=6 {
            for number in 0..N_LETTERS.pow(length) {
                let letters: Vec<usize> = (0..length).map(|at| number >> at & 1).collect();
                words.extend((0..letters.len()).map(|loop_from| word(&letters, loop_from)));
            }
        }
        words
    }

    #[test]
    fn inclusion_agrees_with_all_short_words() {
        let (words, mut seed) = (words(), 7);
        let (mut n_included, mut n_not) = (0, 0);
        for case in 0..400 {
            let (small, large) = (graph(&mut seed), graph(&mut seed));
            let answer =
                is_included((&Budget::unlimited(), &mut 1_000_000), &small, &large, N_LETTERS).expect("no limit");
            let lost = |word: &&Coded| !is_disjoint(&small, word) && is_disjoint(&large, word);
            let expected = !words.iter().any(|word| lost(&word));
            assert_eq!(answer, Some(expected), "case {case}: {small:?} in {large:?}");
            *(if expected { &mut n_included } else { &mut n_not }) += 1;
        }
        assert!(n_included > 50 && n_not > 50, "{n_included} and {n_not}");
    }
}
