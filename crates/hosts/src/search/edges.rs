//! The edges of a product, found by taking steps: they are nowhere stored.
//!
//! In: the rules of one violation, and a node: a state of the program with a state of the automaton, which is one word more. Out: the edges that leave it, each with its target, its turn and its marks, and the
//! pairs of which the node is free.

use base::StopReason;
use model::eval::Turn;
use packed::machine::{Machine, Scratch};
use packed::packing::Packed;
use product::liveness::rules::{ViolationRules, nth_still};
use product::liveness::turns::{LeavingTurns, TurnTaker, set};

use super::lasso::TurnNumber;

/// The edges that leave a node.
pub struct Edges<const W: usize> {
    /// Where they lead.
    pub targets: Vec<Packed<W>>,
    /// Their marks, some words each.
    pub marks: Vec<u64>,
    /// Their turns.
    pub turns: Vec<TurnNumber>,
    /// The pairs of which the node is free, among the marks.
    pub free: Vec<u64>,
}

/// Finds the edges of nodes.
pub struct Leaver<'a, const W: usize> {
    /// The program.
    pub machine: &'a Machine<'a>,
    /// How the automaton and the fairness assumptions read it.
    pub rules: ViolationRules<'a>,
    turns: TurnTaker<'a>,
    scratch: Scratch<W>,
    leaving: LeavingTurns<W>,
    /// By class of turns, the pairs that it meets.
    met_by_class: Vec<Vec<usize>>,
    /// By process, the pairs that it meets by standing still.
    met_by_still: Vec<Vec<usize>>,
    /// How many words the marks of an edge take.
    pub n_mark_words: usize,
    /// The edges of the node that was last asked about.
    pub edges: Edges<W>,
}

impl<'a, const W: usize> Leaver<'a, W> {
    /// Finds the edges of nodes of this product.
    pub fn new(machine: &'a Machine<'a>, rules: ViolationRules<'a>, turns: TurnTaker<'a>) -> Self {
        let model = machine.codec.model;
        let still = model.processes.ids().map(|process| rules.met_by(model, &Turn::StandStill(process)));
        let met_by_still = still.collect();
        Leaver {
            machine,
            turns,
            scratch: machine.scratch(),
            leaving: LeavingTurns::default(),
            met_by_class: Vec::new(),
            met_by_still,
            n_mark_words: (rules.n_marks() + rules.n_pairs()).div_ceil(64),
            rules,
            edges: Edges { targets: Vec::new(), marks: Vec::new(), turns: Vec::new(), free: Vec::new() },
        }
    }

    /// The word of a node that holds the state of the automaton.
    pub fn automaton_word(&self) -> usize {
        self.machine.codec.layout.n_words
    }

    /// Finds the edges of a node.
    ///
    /// # Errors
    /// What keeps the steps of a state from being taken.
    pub fn leave(&mut self, node: &Packed<W>) -> Result<(), StopReason> {
        let at = self.automaton_word();
        let (mut state, automaton) = (*node, node[at] as u32);
        state[at] = 0;
        let Leaver { machine, rules, turns, leaving, edges, n_mark_words, .. } = self;
        turns.take(&state, &self.scratch, leaving)?;
        for turn in &turns.classes[self.met_by_class.len()..] {
            self.met_by_class.push(rules.met_by(machine.codec.model, turn));
        }
        let letter = rules.letter(|test| leaving.holds(test));
        let holds = |test: usize| leaving.holds(test);
        let n_marks = rules.n_marks();
        edges.targets.clear();
        edges.marks.clear();
        edges.turns.clear();
        edges.free.clear();
        edges.free.resize(*n_mark_words, 0);
        let free = (0..rules.n_pairs()).filter(|&pair| rules.is_free(pair, holds));
        free.for_each(|pair| set(&mut edges.free, n_marks + pair));
        let mut before = vec![0; *n_mark_words];
        rules.met_before(holds).for_each(|pair| set(&mut before, n_marks + pair));
        let moves = rules.moves(letter, automaton);
        let n_steps = leaving.steps.len();
        for nth in 0..n_steps + rules.n_still(&leaving.still, n_steps) {
            let (next, met, turn) = match leaving.steps.get(nth) {
                Some((class, next)) => (*next, &self.met_by_class[*class as usize], TurnNumber::Step(nth)),
                None => {
                    let process = nth_still(&leaving.still, nth - n_steps);
                    (state, &self.met_by_still[process.index()], TurnNumber::Still(process.index()))
                }
            };
            for (automaton, marks) in moves {
                let mut target = next;
                target[at] = u64::from(*automaton);
                edges.targets.push(target);
                edges.turns.push(turn);
                let start = edges.marks.len();
                edges.marks.extend_from_slice(&before);
                let row = &mut edges.marks[start..];
                met.iter().for_each(|&pair| set(row, n_marks + pair));
                marks.iter().for_each(|&mark| set(row, mark));
            }
        }
        Ok(())
    }

    /// The marks of the n-th edge of the node that was last asked about.
    pub fn marks(&self, nth: usize) -> &[u64] {
        &self.edges.marks[nth * self.n_mark_words..(nth + 1) * self.n_mark_words]
    }
}
