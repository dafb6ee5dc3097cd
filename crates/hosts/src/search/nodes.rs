//! One worker's part of a product: the nodes that it owns, and what is still known of each.
//!
//! In: what finds the edges of one violation's product (`edges.rs`), and nodes that belong to this worker. Out: the nodes level by level, and then, in passes, which marks reach a node and which nodes have no predecessor
//! left. Edges are not stored: they are found again by taking steps. In a pass a worker goes on with what it has until nothing is left, and sends the rest to the owners; when all have nothing left,
//! the pass is over. [`in_memory`] keeps nodes in a store, [`on_disk`] in files, where memory is short.

pub mod in_memory;
pub mod on_disk;

use engine::meter::Meter;
use packed::packing::Packed;

use super::edges::Leaver;
use super::net::Net;

/// So many entries are sent to another worker at once.
const SENT_BATCH: usize = 512;

/// After so many nodes a worker receives what has arrived.
const STRETCH: usize = 256;

/// Limits are looked at after so many nodes.
const CHECK_EVERY: usize = 64;

/// The first word of a packet: nodes that an edge leads to; nodes with marks that reach them; nodes that lost a predecessor; somebody has stopped.
const NODES: u64 = 0;
const MARKS: u64 = 1;
const GONE: u64 = 2;
const STOPPED: u64 = 3;

/// What a pass does with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Its successors are reached by the marks that reach it, and by those of the edges.
    Marks,
    /// Its successors have a predecessor less.
    Removal,
}

impl Pass {
    /// The kind of its packets.
    fn kind(self) -> u64 {
        match self {
            Pass::Marks => MARKS,
            Pass::Removal => GONE,
        }
    }
}

/// A worker's nodes.
pub trait Nodes<'a, const W: usize> {
    /// Finds edges.
    fn leaver(&mut self) -> &mut Leaver<'a, W>;

    /// The limits of this worker.
    fn meter(&self) -> &Meter<'_>;

    /// How many words the marks of an edge take.
    fn n_mark_words(&self) -> usize;

    /// Ends the level that was filled; how many nodes it has.
    fn begin_level(&mut self) -> u64;

    /// Takes all edges of a level, and ends the round.
    fn expand(&mut self, depth: usize, net: &mut Net<'_>);

    /// All levels are there: finds out what passes need to know, and ends a round where that takes one.
    fn end_levels(&mut self, net: &mut Net<'_>);

    /// Has a pass of removal look at nodes to which no edge leads.
    fn begin_with_sources(&mut self);

    /// Has a pass find the marks that reach each node.
    fn begin_marks(&mut self);

    /// Has a pass of removal look at nodes that a mark does not reach which they need: all that are demanded, and those of pairs of which they are not free.
    fn begin_with_unmarked(&mut self);

    /// Looks at queued nodes until there are none, and ends the round; what arrives then is queued for the next one.
    fn run(&mut self, pass: Pass, net: &mut Net<'_>);

    /// How many nodes may still be on, or behind, a fair loop.
    fn n_alive(&self) -> u64;

    /// How many nodes the pass still has to look at.
    fn n_queued(&self) -> u64;

    /// Whether the nodes of this worker contradict what others say of them.
    fn is_contradicted(&self) -> bool;

    /// Shows the nodes that are alive, each with its level.
    fn show_alive(&mut self, show: &mut dyn FnMut(usize, &Packed<W>));

    /// The least node of a level with an edge to the target.
    fn least_before(&mut self, target: &Packed<W>, depth: usize) -> Option<Packed<W>>;
}

/// What goes to other workers, gathered.
struct Outbox {
    kind: u64,
    words: Vec<Vec<u64>>,
}

impl Outbox {
    fn new(kind: u64, n_workers: usize) -> Self {
        Outbox { kind, words: vec![Vec::new(); n_workers] }
    }

    /// Adds an entry for a worker; a packet, once it is full.
    fn put(&mut self, to: usize, parts: &[&[u64]]) -> Option<Vec<u64>> {
        let words = &mut self.words[to];
        if words.is_empty() {
            words.push(self.kind);
        }
        parts.iter().for_each(|part| words.extend_from_slice(part));
        let n_words: usize = parts.iter().map(|part| part.len()).sum();
        (words.len() > SENT_BATCH * n_words).then(|| std::mem::take(words))
    }

    fn flush(&mut self, net: &mut Net<'_>) {
        for (to, words) in self.words.iter_mut().enumerate().filter(|(_, words)| !words.is_empty()) {
            net.send(to, std::mem::take(words));
        }
    }
}
