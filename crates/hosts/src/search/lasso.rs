//! A fair loop among the nodes that remain of a product, and the run through it as it is sent.
//!
//! In, at worker 0: the nodes that remain, with their levels; or some of them, where all are too many. Out: a loop through a fair component of them, from a node that is nearest to the initial states; or one
//! near those few ([`find_near`]), which need not be there though another is elsewhere. It is sent as packed states with the number of each turn among those that leave its state, and becomes a trace again where it is shown.

use std::collections::hash_map::Entry;

use base::StopReason;
use engine::meter::Meter;
use evidence::{Trace, TraceEnd};
use model::Model;
use model::eval::{State, Turn};
use model::process::ProcessId;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::initial::widened;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::width::{ForWidth, with_width};
use product::liveness::predicates::Predicates;
use product::liveness::turns::{LeavingTurns, TurnTaker, has};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use streett::emptiness::{self, FairGraph};
use streett::lasso;

use super::edges::Leaver;

/// A turn, by its number among those that leave a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnNumber {
    /// The n-th step.
    Step(usize),
    /// This process stands still.
    Still(usize),
}

/// A state, and the turn that leaves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedTurn {
    /// The packed state.
    pub state: Vec<u64>,
    /// The turn.
    pub turn: TurnNumber,
}

/// A run that goes round for ever; the last turn leads back to `loop_from`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedLasso {
    /// The states of the run with the turns that leave them.
    pub turns: Vec<PackedTurn>,
    /// Where the loop begins.
    pub loop_from: usize,
}

/// What remains of a product, with the edges between its nodes.
struct Remains {
    /// Where the edges of each node begin; one more than nodes.
    starts: Vec<usize>,
    targets: Vec<u32>,
    turns: Vec<TurnNumber>,
    /// By edge and by node, some words each.
    marks: Vec<u64>,
    free: Vec<u64>,
    n_marks: usize,
    n_pairs: usize,
    n_mark_words: usize,
}

impl FairGraph for Remains {
    fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn initial(&self) -> Vec<u32> {
        (0..self.n_nodes() as u32).collect()
    }

    fn n_edges(&self, node: u32) -> u32 {
        (self.starts[node as usize + 1] - self.starts[node as usize]) as u32
    }

    fn target(&self, node: u32, edge: u32) -> u32 {
        self.targets[self.starts[node as usize] + edge as usize]
    }

    fn add_marks(&self, node: u32, edge: u32, row: &mut [u64]) {
        let at = self.starts[node as usize] + edge as usize;
        let marks = &self.marks[at * self.n_mark_words..(at + 1) * self.n_mark_words];
        row.iter_mut().zip(marks).for_each(|(row, marks)| *row |= marks);
    }

    fn n_demanded(&self) -> usize {
        self.n_marks
    }

    fn n_pairs(&self) -> usize {
        self.n_pairs
    }

    fn is_free(&self, node: u32, pair: usize) -> bool {
        let row = &self.free[node as usize * self.n_mark_words..];
        has(row, self.n_marks + pair)
    }
}

/// A fair loop: its nodes with the turns that leave them, and the level of the first.
pub struct Loop<const W: usize> {
    /// The first node.
    pub start: Packed<W>,
    /// Its level.
    pub depth: usize,
    /// The turns of the loop.
    pub turns: Vec<PackedTurn>,
}

/// What is between a node and a loop near it.
pub struct NearLoop<const W: usize> {
    /// The turns from the node to the loop.
    pub before: Vec<PackedTurn>,
    /// The loop, in steps from the node.
    pub found: Loop<W>,
}

/// A fair loop among the nodes nearest to one, at most so many; `None` where there is none, or no memory for them.
///
/// # Errors
/// A limit that was reached, other than that.
pub fn find_near<const W: usize>(
    leaver: &mut Leaver<'_, W>,
    seed: &Packed<W>,
    n_most: usize,
    meter: &Meter<'_>,
) -> Result<Option<NearLoop<W>>, StopReason> {
    let n_words = leaver.machine.codec.layout.n_words;
    let packed = |node: &Packed<W>, turn: TurnNumber| PackedTurn { state: node[..n_words].to_vec(), turn };
    // Each node with its distance; by node, the one before it, and the turn.
    let mut nodes = vec![(0, *seed)];
    let mut before: FxHashMap<Packed<W>, Option<(u32, TurnNumber)>> = FxHashMap::from_iter([(*seed, None)]);
    let mut at = 0;
    while at < nodes.len() && nodes.len() < n_most {
        let (distance, node) = nodes[at];
        leaver.leave(&node)?;
        for (target, &turn) in leaver.edges.targets.iter().zip(&leaver.edges.turns) {
            if let Entry::Vacant(unknown) = before.entry(*target) {
                unknown.insert(Some((at as u32, turn)));
                nodes.push((distance + 1, *target));
            }
        }
        at += 1;
        let bytes = nodes.len() as u64 * bytes_of_node::<W>(leaver.n_mark_words);
        if at % 64 == 0 && meter.permits(bytes).is_err() {
            return if meter.permits(0).is_ok() { Ok(None) } else { Err(reason_of(meter)) };
        }
    }
    let Some(found) = find(leaver, nodes.clone(), meter)? else { return Ok(None) };
    let (mut turns, mut node) = (Vec::new(), found.start);
    while let Some((number, turn)) = before.get(&node).copied().flatten() {
        node = nodes[number as usize].1;
        turns.push(packed(&node, turn));
    }
    turns.reverse();
    Ok(Some(NearLoop { before: turns, found }))
}

/// What a node takes here, with its edges, at most in most cases: twice in lists and once in a table, and a few edges that lead to others.
pub fn bytes_of_node<const W: usize>(n_mark_words: usize) -> u64 {
    (4 * size_of::<Packed<W>>() + 4 * (24 + 8 * n_mark_words)) as u64
}

/// Why a search has to end.
fn reason_of(meter: &Meter<'_>) -> StopReason {
    meter.reason().or(meter.permits(0).err()).unwrap_or(StopReason::Cancelled)
}

/// A fair loop among the nodes that remain; `None` where there is none.
///
/// # Errors
/// A limit that was reached.
pub fn find<const W: usize>(
    leaver: &mut Leaver<'_, W>,
    mut nodes: Vec<(usize, Packed<W>)>,
    meter: &Meter<'_>,
) -> Result<Option<Loop<W>>, StopReason> {
    // The component's node that is first here is where the loop begins.
    nodes.sort_unstable();
    let numbers: FxHashMap<Packed<W>, u32> =
        nodes.iter().enumerate().map(|(number, (_, node))| (*node, number as u32)).collect();
    let mut remains = Remains {
        starts: vec![0],
        targets: Vec::new(),
        turns: Vec::new(),
        marks: Vec::new(),
        free: Vec::new(),
        n_marks: leaver.rules.n_marks(),
        n_pairs: leaver.rules.n_pairs(),
        n_mark_words: leaver.n_mark_words,
    };
    let bytes_of_nodes = nodes.len() * 4 * size_of::<Packed<W>>();
    for (number, (_, node)) in nodes.iter().enumerate() {
        leaver.leave(node)?;
        remains.free.extend_from_slice(&leaver.edges.free);
        for (nth, target) in leaver.edges.targets.iter().enumerate() {
            if let Some(&target) = numbers.get(target) {
                remains.targets.push(target);
                remains.turns.push(leaver.edges.turns[nth]);
                remains.marks.extend_from_slice(leaver.marks(nth));
            }
        }
        remains.starts.push(remains.targets.len());
        let bytes = bytes_of_nodes + remains.targets.len() * (24 + 8 * remains.n_mark_words);
        if number % 256 == 0 && !meter.may_go_on(bytes as u64) {
            return Err(meter.reason().unwrap_or(StopReason::Cancelled));
        }
    }
    let Some(component) = emptiness::fair_component(&remains, meter)? else { return Ok(None) };
    let found = lasso::through(&remains, &component);
    let n_words = leaver.machine.codec.layout.n_words;
    let packed = |&(node, edge): &lasso::TakenEdge| PackedTurn {
        state: nodes[node as usize].1[..n_words].to_vec(),
        turn: remains.turns[remains.starts[node as usize] + edge as usize],
    };
    let (depth, start) = nodes[found.turning[0].0 as usize];
    Ok(Some(Loop { start, depth, turns: found.turning.iter().map(packed).collect() }))
}

/// A run that was sent, in the user's terms; `None` where its turns are not those of the program.
pub fn trace(model: &Model, lasso: &PackedLasso) -> Option<Trace> {
    let codec = Codec::new(model, UnrollLimits::default());
    let n_words = codec.layout.n_words;
    if lasso.loop_from >= lasso.turns.len() || lasso.turns.iter().any(|turn| turn.state.len() != n_words) {
        return None;
    }
    let turns = with_width(n_words, Unpacking { codec: &codec, lasso }).ok()??;
    let unpack = |turn: &PackedTurn| codec.unpack(&turn.state);
    let mut states: Vec<State> = lasso.turns.iter().map(unpack).collect();
    states.push(unpack(&lasso.turns[lasso.loop_from]));
    Some(Trace { states, turns, end: TraceEnd::Loop, loop_from: Some(lasso.loop_from) })
}

/// The turns of a run, by their numbers.
struct Unpacking<'u> {
    codec: &'u Codec<'u>,
    lasso: &'u PackedLasso,
}

impl ForWidth for Unpacking<'_> {
    type Output = Option<Vec<Turn>>;

    fn run<const W: usize>(self) -> Self::Output {
        let machine = Machine { codec: self.codec, code: Compiler::new(self.codec).finish() };
        let predicates = Predicates::new(self.codec.model);
        let (mut turns, scratch) = (TurnTaker::new(&machine, &predicates), machine.scratch::<W>());
        let mut leaving = LeavingTurns::default();
        let PackedLasso { turns: taken, loop_from } = self.lasso;
        let turn = |(at, packed): (usize, &PackedTurn)| {
            let next = taken.get(at + 1).unwrap_or(&taken[*loop_from]);
            match packed.turn {
                TurnNumber::Step(nth) => {
                    turns.take(&widened(&packed.state), &scratch, &mut leaving).ok()?;
                    let (class, after) = leaving.steps.get(nth)?;
                    (*after == widened::<W>(&next.state)).then(|| turns.classes[*class as usize].clone())
                }
                TurnNumber::Still(process) => {
                    let is_one = process < self.codec.model.processes.len() && packed.state == next.state;
                    is_one.then(|| Turn::StandStill(ProcessId::new(process)))
                }
            }
        };
        taken.iter().enumerate().map(turn).collect()
    }
}
