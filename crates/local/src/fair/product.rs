//! The product of an abstract process with an automaton, and the conditions of one set of fairness assumptions.
//!
//! A node is a node of the abstract process with a state of the automaton, which reads the store with each turn that leaves it.
//! Edges are the focus's own turns, then those of the others as changes of the store: those that are kept by node, and those that are kept by store.

use base::{Feature, StopReason, Unsupported};
use compose::fair::conditions::AssumptionPair;
use ltl::{Automaton, Bits};
use rustc_hash::FxHashMap;

use super::process::{FocusNodes, MayEvaluator, OwnTurn, StoreTurn, StoreTurns};
use super::sets::FairSets;
use crate::ids::{NodeId, StoreId};
use model::process::ProcessId;
use packed::term::TermId;
use streett::emptiness::FairGraph;

/// A proposition: its term, and the processes whose local states it reads.
pub type LocalAtom = (TermId, Vec<ProcessId>);

/// Which runs are searched for.
pub struct RunQuery<'p> {
    /// Accepts the words of stores that are searched for.
    pub automaton: &'p Automaton,
    /// What its atoms mean.
    pub atoms: &'p [LocalAtom],
    /// The fairness assumptions, each with its position among all of the property's.
    pub pairs: Vec<(usize, &'p AssumptionPair)>,
    /// Whether the focus itself must carry the first mark.
    pub focus_accepts: bool,
}

/// The product.
pub struct FocusProduct<'p, 'a, const W: usize> {
    /// The local states.
    pub sets: &'p FairSets<'a, W>,
    /// The nodes of the focus.
    pub nodes: &'p FocusNodes,
    turns: &'p StoreTurns,
    n_automaton: usize,
    n_marks: usize,
    initial: u32,
    focus_accepts: bool,
    n_pairs: usize,
    letters: Vec<u32>,
    moves: Vec<Vec<(u32, Bits)>>,
    /// By store: where the focus's turns are among those of all.
    skipped: Vec<(u32, u32)>,
    /// By kind: the marks of the pairs that it satisfies.
    satisfied: Vec<Vec<u64>>,
    n_words: usize,
    /// By node of the focus: the marks of pairs whose predicate may hold before a turn.
    before: Vec<u64>,
    /// By node of the focus: the pairs that it may be free of.
    free: Vec<u64>,
}

/// An edge: the focus's own turn, or a change of the store by another.
pub enum FocusEdge<'e> {
    /// The turn.
    Own(&'e OwnTurn),
    /// The change.
    Other(&'e StoreTurn),
}

/// What the product is made with, beside the sets.
pub struct ProductParts<'p> {
    /// The nodes of the focus.
    pub nodes: &'p FocusNodes,
    /// The turns by store.
    pub turns: &'p StoreTurns,
    /// The terms of the expressions in predicates.
    pub terms: &'p [TermId],
}

impl<'p, 'a, const W: usize> FocusProduct<'p, 'a, W> {
    /// The product for what is asked.
    pub fn new(
        sets: &'p mut FairSets<'a, W>,
        parts: &ProductParts<'p>,
        asked: &RunQuery<'_>,
    ) -> Result<Self, StopReason> {
        let ProductParts { nodes, turns, terms } = *parts;
        let n_stores = sets.stores.len();
        let (n_marks, n_pairs) = (asked.automaton.n_marks, asked.pairs.len());
        let n_demanded = n_marks + usize::from(asked.focus_accepts);
        let n_words = (n_demanded + n_pairs).div_ceil(64);
        let n_nodes = nodes.list.len() as u64 * asked.automaton.states.len() as u64;
        if n_nodes >= u64::from(u32::MAX) {
            return Err(Unsupported::about(Feature::Numbers, "states of an abstract process").into());
        }
        sets.hold((nodes.list.len() * n_words * 16) as u64)?;
        let (before, free) = predicates(&mut MayEvaluator { sets, terms }, nodes, asked, (n_demanded, n_words))?;
        let (mut letters, mut moves) = (Vec::with_capacity(n_stores), Vec::new());
        let mut known = FxHashMap::<Bits, u32>::default();
        let guess = MayEvaluator { sets, terms };
        for store in (0..n_stores).map(StoreId::new) {
            let mut letter = Bits::default();
            for (at, (term, processes)) in asked.atoms.iter().enumerate() {
                if guess.truth(*term, processes, store)? {
                    letter.insert(at);
                }
            }
            let n_known = known.len() as u32;
            letters.push(*known.entry(letter).or_insert_with_key(|letter| {
                moves.extend(asked.automaton.states.iter().map(|from| {
                    let edges = from.edges.iter().filter(|edge| edge.label.contains(letter));
                    edges.map(|edge| (edge.target.index() as u32, edge.marks.clone())).collect()
                }));
                n_known
            }));
        }
        let sets: &'p FairSets<'a, W> = guess.sets;
        let satisfied = sets.kinds.iter().map(|kind| {
            let mut row = vec![0; n_words];
            for (at, (position, _)) in asked.pairs.iter().enumerate() {
                if kind.contains(position) {
                    set(&mut row, n_demanded + at);
                }
            }
            row
        });
        let range = |store: StoreId| {
            let all = turns.at(store);
            let start = all.partition_point(|turn| turn.mover < nodes.focus);
            let end = all.partition_point(|turn| turn.mover <= nodes.focus);
            (start as u32, (end - start) as u32)
        };
        Ok(FocusProduct {
            nodes,
            turns,
            n_automaton: asked.automaton.states.len(),
            n_marks,
            initial: asked.automaton.initial.index() as u32,
            focus_accepts: asked.focus_accepts,
            n_pairs,
            letters,
            moves,
            skipped: (0..n_stores).map(StoreId::new).map(range).collect(),
            satisfied: satisfied.collect(),
            n_words,
            before,
            free,
            sets,
        })
    }

    /// The node of the focus in a node.
    pub fn base(&self, node: u32) -> NodeId {
        NodeId::new(node as usize / self.n_automaton)
    }

    /// The node with a node of the focus and a state of the automaton.
    fn node(&self, base: NodeId, state: u32) -> u32 {
        base.index() as u32 * self.n_automaton as u32 + state
    }

    /// The state of the automaton in a node.
    pub fn automaton_state(&self, node: u32) -> u32 {
        node % self.n_automaton as u32
    }

    /// What an edge is.
    pub fn edge(&self, node: u32, edge: u32) -> FocusEdge<'_> {
        let nth = edge as usize / self.automaton_moves(node).len();
        self.base_edge(node, nth)
    }

    fn base_edge(&self, node: u32, nth: usize) -> FocusEdge<'_> {
        let base = self.base(node);
        let own = self.nodes.turns(base);
        if let Some(turn) = own.get(nth) {
            return FocusEdge::Own(turn);
        }
        FocusEdge::Other(self.other(base, nth - own.len()))
    }

    fn other(&self, base: NodeId, nth: usize) -> &StoreTurn {
        let by_node = self.nodes.others(base);
        if let Some(turn) = by_node.get(nth) {
            return turn;
        }
        let nth = nth - by_node.len();
        let store = self.nodes.list[base.index()].0;
        let (start, len) = self.skipped[store.index()];
        let at = if nth < start as usize { nth } else { nth + len as usize };
        &self.turns.at(store)[at]
    }

    fn automaton_moves(&self, node: u32) -> &[(u32, Bits)] {
        let letter = self.letters[self.nodes.list[self.base(node).index()].0.index()] as usize;
        &self.moves[letter * self.n_automaton + node as usize % self.n_automaton]
    }
}

/// For each node the marks of pairs that may be satisfied before a turn, and the pairs that it may be free of.
fn predicates<const W: usize>(
    guess: &mut MayEvaluator<'_, '_, W>,
    nodes: &FocusNodes,
    asked: &RunQuery<'_>,
    (n_demanded, n_words): (usize, usize),
) -> Result<(Vec<u64>, Vec<u64>), StopReason> {
    let mut before = vec![0; nodes.list.len() * n_words];
    let mut free = vec![0; nodes.list.len() * n_words];
    for (at, (_, pair)) in asked.pairs.iter().enumerate() {
        let parts = pair.before.iter().map(|may| (may, true)).chain(pair.always.iter().map(|may| (may, false)));
        for (may, is_before) in parts {
            // Whether a process is enabled depends on its partners, too.
            let reads_focus = may.asks_what_is_enabled() && !guess.sets.locals.model.channels.is_empty()
                || may.processes().contains(&nodes.focus);
            let mut last = None;
            for (node, &(store, local)) in nodes.list.iter().enumerate() {
                // Nodes are in the order of their stores.
                let holds = match last {
                    Some((known, holds)) if known == store && !reads_focus => holds,
                    _ => guess.may(may, store, Some((nodes.focus, local)))?,
                };
                last = Some((store, holds));
                if holds {
                    let row = if is_before { &mut before } else { &mut free };
                    set(&mut row[node * n_words..(node + 1) * n_words], n_demanded + at);
                }
            }
        }
        guess.sets.hold((nodes.list.len() * n_words * 16) as u64)?;
    }
    Ok((before, free))
}

fn set(row: &mut [u64], bit: usize) {
    row[bit / 64] |= 1 << (bit % 64);
}

impl<const W: usize> FairGraph for FocusProduct<'_, '_, W> {
    fn n_nodes(&self) -> usize {
        self.nodes.list.len() * self.n_automaton
    }

    fn initial(&self) -> Vec<u32> {
        self.nodes.initial.iter().map(|&node| self.node(node, self.initial)).collect()
    }

    fn n_edges(&self, node: u32) -> u32 {
        let n_moves = self.automaton_moves(node).len();
        if n_moves == 0 {
            return 0;
        }
        let base = self.base(node);
        let store = self.nodes.list[base.index()].0;
        let others = self.turns.at(store).len() - self.skipped[store.index()].1 as usize;
        ((self.nodes.turns(base).len() + self.nodes.others(base).len() + others) * n_moves) as u32
    }

    fn target(&self, node: u32, edge: u32) -> u32 {
        let moves = self.automaton_moves(node);
        let (nth, choice) = (edge as usize / moves.len(), edge as usize % moves.len());
        let base = self.base(node);
        let own = self.nodes.turns(base);
        let next = match own.get(nth) {
            Some(turn) => turn.target,
            None => {
                let turn = self.other(base, nth - own.len());
                self.nodes.node(self.sets, turn.target, self.nodes.list[base.index()].1)
            }
        };
        self.node(next, moves[choice].0)
    }

    fn add_marks(&self, node: u32, edge: u32, row: &mut [u64]) {
        let moves = self.automaton_moves(node);
        let (nth, choice) = (edge as usize / moves.len(), edge as usize % moves.len());
        let marks = &moves[choice].1;
        marks.iter().for_each(|mark| set(row, mark));
        let kind = match self.base_edge(node, nth) {
            FocusEdge::Own(turn) => {
                if self.focus_accepts && (self.n_marks == 0 || marks.contains(0)) {
                    set(row, self.n_marks);
                }
                self.sets.classes[turn.class.index()].1
            }
            FocusEdge::Other(turn) => turn.kind,
        };
        let base = self.base(node).index();
        let before = &self.before[base * self.n_words..(base + 1) * self.n_words];
        let satisfied = self.satisfied[kind.index()].iter().zip(before);
        row.iter_mut().zip(satisfied).for_each(|(word, (satisfied, before))| *word |= satisfied | before);
    }

    fn n_demanded(&self) -> usize {
        self.n_marks + usize::from(self.focus_accepts)
    }

    fn n_pairs(&self) -> usize {
        self.n_pairs
    }

    fn is_free(&self, node: u32, pair: usize) -> bool {
        let bit = self.n_demanded() + pair;
        self.free[self.base(node).index() * self.n_words + bit / 64] >> (bit % 64) & 1 == 1
    }
}
