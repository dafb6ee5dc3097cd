//! Whether an automaton accepts a word that goes round for ever.
//!
//! In: an automaton and a lasso. Out: whether some run on the word is accepting. The pairs (position, state) form a graph; the word
//! is accepted if a component of it that the first pair reaches has all marks on its inner edges.

use crate::automaton::{Automaton, StateId};
use crate::bits::Bits;
use crate::components::Components;
use crate::lasso::Lasso;

impl Automaton {
    /// Whether the automaton accepts the word.
    pub fn accepts(&self, word: &Lasso) -> bool {
        let (n_positions, n_states) = (word.letters().len(), self.states.len());
        let number = |position: usize, state: StateId| position * n_states + state.index();
        let mut successors: Vec<Vec<(usize, &Bits)>> = vec![Vec::new(); n_positions * n_states];
        let first = number(0, self.initial);
        let mut is_met = vec![false; successors.len()];
        is_met[first] = true;
        let mut open = vec![(0, self.initial)];
        while let Some((position, state)) = open.pop() {
            let after = word.after(position);
            for edge in &self.states[state].edges {
                if edge.label.contains(&word.letters()[position]) {
                    let target = number(after, edge.target);
                    successors[number(position, state)].push((target, &edge.marks));
                    if !std::mem::replace(&mut is_met[target], true) {
                        open.push((after, edge.target));
                    }
                }
            }
        }
        let components = Components::new(successors.len(), |node, k| successors[node].get(k).map(|edge| edge.0));
        let mut marks = vec![None; components.count];
        for (node, edges) in successors.iter().enumerate() {
            for (target, more) in edges {
                if components.of[node] == components.of[*target] {
                    let known: &mut Option<Bits> = &mut marks[components.of[node]];
                    *known = Some(known.take().unwrap_or_default().union(more));
                }
            }
        }
        let all = Bits::below(self.n_marks);
        marks.into_iter().flatten().any(|seen| all.is_subset(&seen))
    }
}
