//! States that others can replace, once these have all arcs that they may have (Clemente and Mayr 2013: saturation).
//!
//! In: a graph, and one of all words that it does not accept. Out: a graph of the same words, with fewer states where that is possible. Arcs and marks
//! that add no word are put in: that they add none is seen from the other graph, with which the new one must have no word in common. Then
//! a state goes if the others still accept every word.

use base::Budget;

use super::letters::{Alphabet, Coded, CodedArc, Letters, Pairs, is_disjoint};
use super::merge::{Marks, with_few_marks};
use super::{ReductionWork, inclusion};
use crate::diagram::DiagramResult;
use crate::graph::AutomatonGraph;

/// Graphs with more states are not tried, nor with more states of the other graph.
const MAX_STATES: usize = 12;
const MAX_OPPOSITE_STATES: usize = 24;
/// The most steps of comparisons in all: with more, no graph of the published lists became smaller.
const MAX_STEPS: usize = 20_000;

/// Takes states out as long as that leaves the words as they are; `finish` reduces what was made by other means.
pub fn smaller(
    work: &mut ReductionWork<'_>,
    graph: AutomatonGraph,
    (opposite, marks): (&AutomatonGraph, Marks),
    finish: impl Fn(&mut ReductionWork<'_>, AutomatonGraph) -> DiagramResult<AutomatonGraph>,
) -> DiagramResult<AutomatonGraph> {
    let n_states = graph.states.len();
    if n_states == 1 || n_states > MAX_STATES || opposite.states.len() > MAX_OPPOSITE_STATES {
        return Ok(graph);
    }
    let open = with_few_marks(&graph, marks);
    let Some(alphabet) = Alphabet::of(work, &[&open, opposite])? else { return Ok(graph) };
    let all = alphabet.coded(work, &open)?;
    let mut n_left = MAX_STEPS;
    let search =
        SaturationSearch { all: all.clone(), opposite: alphabet.coded(work, opposite)?, alphabet: &alphabet, marks };
    let mut coded = all;
    loop {
        search.saturate(&mut coded);
        match search.without_some_state((work.budget, &mut n_left), &coded)? {
            Some(less) => coded = less,
            None => break,
        }
    }
    if coded.states.len() == n_states {
        return Ok(graph);
    }
    let decoded = alphabet.decoded(work, &coded)?;
    let made = finish(work, decoded)?;
    Ok(if made.states.len() < n_states { made } else { graph })
}

struct SaturationSearch<'a> {
    /// The words that must be accepted.
    all: Coded,
    /// The words that must not.
    opposite: Coded,
    alphabet: &'a Alphabet,
    marks: Marks,
}

impl SaturationSearch<'_> {
    /// Puts in arcs and marks that add no word.
    fn saturate(&self, graph: &mut Coded) {
        for state in 0..graph.states.len() {
            for target in 0..graph.states.len() {
                self.add_arc(graph, state, target);
            }
        }
        for mark in 0..graph.n_marks {
            self.raise(graph, mark);
        }
    }

    /// Adds an arc between two states for all letters after which the target accepts nothing new.
    fn add_arc(&self, graph: &mut Coded, state: usize, target: usize) {
        let pairs = Pairs::new(graph, &self.opposite);
        let mut letters = self.alphabet.all();
        for (other, arcs) in self.opposite.states.iter().enumerate() {
            if pairs.is_reached[pairs.number(state, other)] {
                let adds = |arc: &&CodedArc| pairs.is_common[pairs.number(target, arc.target)];
                letters = arcs.iter().filter(adds).fold(letters, |letters, arc| letters & !arc.letters);
            }
        }
        let known = graph.states[state].iter().filter(|arc| arc.target == target);
        letters = known.fold(letters, |letters, arc| letters & !arc.letters);
        if letters == 0 {
            return;
        }
        let marks = match self.marks {
            Marks::Arcs => 0,
            Marks::States => graph.states[state].first().map_or(0, |arc| arc.marks),
        };
        graph.states[state].push(CodedArc { letters, marks, target });
        if !is_disjoint(graph, &self.opposite) {
            graph.states[state].pop();
        }
    }

    /// Puts a mark on all letters of arcs, or on all states, where it makes no cycle accepting that the other graph accepts.
    fn raise(&self, graph: &mut Coded, mark: usize) {
        let pairs = Pairs::new(graph, &self.opposite);
        let (full, full_opposite) = (graph.all_marks(), self.opposite.all_marks());
        let would_accept = |pair: usize| {
            pairs.marks[pairs.components.of[pair]].is_some_and(|(a, b)| a | 1 << mark == full && b == full_opposite)
        };
        for state in 0..graph.states.len() {
            let mut raised: Vec<CodedArc> = Vec::new();
            let mut is_all = true;
            for arc in &graph.states[state] {
                let mut bad: Letters = 0;
                for (other, arcs) in self.opposite.states.iter().enumerate() {
                    let from = pairs.number(state, other);
                    if !pairs.is_reached[from] || !would_accept(from) {
                        continue;
                    }
                    for step in arcs {
                        let to = pairs.number(arc.target, step.target);
                        if pairs.components.of[to] == pairs.components.of[from] {
                            bad |= step.letters & arc.letters;
                        }
                    }
                }
                is_all &= bad == 0;
                let good = CodedArc { letters: arc.letters & !bad, marks: arc.marks | 1 << mark, ..*arc };
                let kept = CodedArc { letters: arc.letters & bad, ..*arc };
                raised.extend([good, kept].into_iter().filter(|arc| arc.letters != 0));
            }
            if is_all || self.marks == Marks::Arcs {
                graph.states[state] = raised;
            }
        }
    }

    /// The graph without a state that the others can replace.
    fn without_some_state(
        &self,
        (budget, n_left): (&Budget, &mut usize),
        graph: &Coded,
    ) -> DiagramResult<Option<Coded>> {
        for gone in 0..graph.states.len() {
            for initial in 0..graph.states.len() {
                let is_useless = if gone == graph.initial { initial == gone } else { initial != graph.initial };
                if is_useless {
                    continue;
                }
                let mut begun = graph.clone();
                begun.initial = initial;
                let less = begun.without_state(gone);
                if !is_disjoint(&less, &self.opposite) {
                    continue;
                }
                if inclusion::is_included((budget, n_left), &self.all, &less, self.alphabet.len())? == Some(true) {
                    return Ok(Some(less));
                }
            }
        }
        Ok(None)
    }
}
