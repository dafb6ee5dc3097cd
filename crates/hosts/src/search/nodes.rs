//! One worker's part of a product: the nodes that it owns, and what is still known of each.
//!
//! In: the rules of one violation, and nodes that belong to this worker: a state of the program with a state of the automaton, which is one word more. Out: the nodes level by level, and then, in passes,
//! which marks reach a node and which nodes have no predecessor left. Edges are not stored: they are found again by taking steps. In a pass a worker goes on with what it has until nothing is left,
//! and sends the rest to the owners; when all have nothing left, the pass is over.

use std::collections::VecDeque;

use base::StopReason;
use engine::meter::Meter;
use model::eval::Turn;
use packed::initial::InitialStates;
use packed::machine::{Machine, Scratch};
use packed::packing::Packed;
use packed::shard::shard_of;
use packed::store::{StateSet, StateStore};
use product::liveness::rules::{ViolationRules, nth_still};
use product::liveness::turns::{LeavingTurns, TurnTaker, set};

use super::lasso::TurnNumber;
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
    fn automaton_word(&self) -> usize {
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

/// A worker's nodes.
pub struct Nodes<'a, 'm, const W: usize> {
    /// Finds edges.
    pub leaver: Leaver<'a, W>,
    /// The limits of this worker.
    pub meter: &'m Meter<'m>,
    store: StateStore<W>,
    /// Where each level begins; the last one is being filled.
    level_starts: Vec<usize>,
    /// By node: whether a fair loop may still lead to it.
    is_alive: Vec<bool>,
    n_alive: u64,
    /// By node: how many edges lead to it from nodes that are alive.
    n_before: Vec<u32>,
    /// By node: the marks that reach it from nodes that are alive, some words each.
    marks: Vec<u64>,
    /// By node: the pairs of which it is free, among the marks.
    free: Vec<u64>,
    /// Nodes that the pass has to look at, each once.
    queue: VecDeque<u32>,
    is_queued: Vec<bool>,
    me: usize,
    n_workers: usize,
    counted_bytes: u64,
    /// Whether a node was named that no level has.
    is_contradicted: bool,
}

impl<'a, 'm, const W: usize> Nodes<'a, 'm, W> {
    /// The initial nodes that belong to this worker.
    pub fn new(leaver: Leaver<'a, W>, meter: &'m Meter<'m>, net: &Net<'_>) -> Self {
        let mut nodes = Nodes {
            leaver,
            meter,
            store: StateStore::new(),
            level_starts: vec![0],
            is_alive: Vec::new(),
            n_alive: 0,
            n_before: Vec::new(),
            marks: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::new(),
            is_queued: Vec::new(),
            me: net.me(),
            n_workers: net.n_workers(),
            counted_bytes: 0,
            is_contradicted: false,
        };
        let at = nodes.leaver.automaton_word();
        for (nth, state) in InitialStates::<W>::new(nodes.leaver.machine.codec).enumerate() {
            let mut node = state;
            node[at] = u64::from(nodes.leaver.rules.initial());
            if shard_of(&node, nodes.n_workers) == nodes.me {
                nodes.number(&node);
            }
            if nth % CHECK_EVERY == 0 && !nodes.may_go_on() {
                break;
            }
        }
        nodes
    }

    /// Ends the level that was filled; how many nodes it has.
    pub fn begin_level(&mut self) -> u64 {
        self.level_starts.push(self.is_alive.len());
        self.level(self.level_starts.len() - 2).len() as u64
    }

    fn level(&self, depth: usize) -> std::ops::Range<usize> {
        self.level_starts[depth]..self.level_starts[depth + 1]
    }

    /// How many nodes may still be on, or behind, a fair loop.
    pub fn n_alive(&self) -> u64 {
        self.n_alive
    }

    /// How many nodes the pass still has to look at.
    pub fn n_queued(&self) -> u64 {
        self.queue.len() as u64
    }

    /// Whether the nodes of this worker contradict what others say of them.
    pub fn is_contradicted(&self) -> bool {
        self.is_contradicted
    }

    /// The nodes that are alive, each with its level.
    pub fn alive(&self) -> impl Iterator<Item = (usize, &Packed<W>)> {
        let levels = (0..self.level_starts.len() - 1).flat_map(|depth| self.level(depth).map(move |at| (depth, at)));
        levels.filter(|&(_, at)| self.is_alive[at]).map(|(depth, at)| (depth, self.store.get(at)))
    }

    /// Counts what is held, and looks at the limits.
    fn may_go_on(&mut self) -> bool {
        let per_node = 2 * 8 * self.leaver.n_mark_words + size_of::<u32>() + 2;
        let bytes = self.store.bytes()
            + (self.is_alive.len() * per_node) as u64
            + (self.queue.capacity() * size_of::<u32>()) as u64;
        self.meter.add(bytes.saturating_sub(self.counted_bytes));
        self.counted_bytes = self.counted_bytes.max(bytes);
        self.meter.may_go_on(0)
    }

    /// The number of a node, which may be new; `None` where a limit was reached.
    fn number(&mut self, node: &Packed<W>) -> Option<usize> {
        match self.store.bytes_with(1) {
            Some(_) => self.store.make_room(1),
            None => {
                self.meter.stop(base::Unsupported::about(base::Feature::Numbers, "states of a product").into());
                return None;
            }
        }
        let position = self.store.number(node);
        if position == self.is_alive.len() {
            self.is_alive.push(true);
            self.n_alive += 1;
            self.n_before.push(0);
            self.marks.extend(std::iter::repeat_n(0, self.leaver.n_mark_words));
            self.free.extend(std::iter::repeat_n(0, self.leaver.n_mark_words));
            self.is_queued.push(false);
        }
        Some(position)
    }

    /// The number of a node that some level has.
    fn known(&mut self, node: &Packed<W>) -> Option<usize> {
        let n_known = self.is_alive.len();
        let position = self.number(node).filter(|&position| position < n_known);
        self.is_contradicted |= position.is_none() && !self.meter.is_stopped();
        position
    }

    /// An edge leads to a node.
    fn arrive(&mut self, node: &Packed<W>) {
        if let Some(position) = self.number(node) {
            self.n_before[position] += 1;
        }
    }

    /// Some marks reach a node.
    fn reach(&mut self, node: &Packed<W>, marks: &[u64]) {
        let Some(position) = self.known(node) else { return };
        if !self.is_alive[position] {
            return;
        }
        let n_words = self.leaver.n_mark_words;
        let known = &mut self.marks[position * n_words..(position + 1) * n_words];
        let mut is_more = false;
        for (known, more) in known.iter_mut().zip(marks) {
            is_more |= more & !*known != 0;
            *known |= more;
        }
        if is_more && !self.is_queued[position] {
            self.is_queued[position] = true;
            self.queue.push_back(position as u32);
        }
    }

    /// A predecessor of a node is gone.
    fn lose(&mut self, node: &Packed<W>) {
        let Some(position) = self.known(node) else { return };
        if !self.is_alive[position] {
            return;
        }
        match self.n_before[position].checked_sub(1) {
            None => self.is_contradicted = true,
            Some(0) => self.remove(position),
            Some(left) => self.n_before[position] = left,
        }
    }

    fn remove(&mut self, position: usize) {
        self.n_before[position] = 0;
        self.is_alive[position] = false;
        self.n_alive -= 1;
        self.queue.push_back(position as u32);
    }

    /// Takes in a packet.
    fn take(&mut self, words: &[u64]) {
        let Some((&kind, words)) = words.split_first() else { return };
        let node = |words: &[u64]| -> Packed<W> { std::array::from_fn(|at| words[at]) };
        match kind {
            NODES => words.chunks_exact(W).for_each(|words| self.arrive(&node(words))),
            GONE => words.chunks_exact(W).for_each(|words| self.lose(&node(words))),
            MARKS => {
                let n_words = W + self.leaver.n_mark_words;
                words.chunks_exact(n_words).for_each(|words| self.reach(&node(words), &words[W..]));
            }
            // Another worker has reached a limit, and says which when the round ends.
            _ if !self.meter.is_stopped() => self.meter.stop(StopReason::Cancelled),
            _ => {}
        }
    }

    fn receive(&mut self, net: &mut Net<'_>) {
        net.work();
        while let Some(words) = net.receive() {
            self.take(&words);
        }
    }

    /// Finds the edges of a node; whether to go on.
    fn leave(&mut self, position: usize) -> bool {
        let node = *self.store.get(position);
        match self.leaver.leave(&node) {
            Ok(()) => true,
            Err(reason) => {
                self.meter.stop(reason);
                false
            }
        }
    }

    /// Takes all edges of a level, and ends the round.
    pub fn expand(&mut self, depth: usize, net: &mut Net<'_>) {
        let was_stopped = self.meter.is_stopped();
        let mut outbox = Outbox::new(NODES, self.n_workers);
        for (nth, position) in self.level(depth).enumerate() {
            if nth % CHECK_EVERY == 0 && !self.may_go_on() || !self.leave(position) {
                break;
            }
            let n_words = self.leaver.n_mark_words;
            self.free[position * n_words..(position + 1) * n_words].copy_from_slice(&self.leaver.edges.free);
            for nth in 0..self.leaver.edges.targets.len() {
                let target = self.leaver.edges.targets[nth];
                match shard_of(&target, self.n_workers) {
                    to if to == self.me => self.arrive(&target),
                    to => self.put(&mut outbox, to, &[&target], net),
                }
            }
            if nth % STRETCH == STRETCH - 1 {
                self.receive(net);
            }
        }
        self.close(outbox, was_stopped, net);
    }

    /// Ends a round.
    fn close(&mut self, mut outbox: Outbox, was_stopped: bool, net: &mut Net<'_>) {
        outbox.flush(net);
        if self.meter.is_stopped() && !was_stopped {
            (0..self.n_workers).for_each(|to| net.send(to, vec![STOPPED]));
        }
        net.close(|words| self.take(&words));
    }

    /// Has a pass of removal look at nodes to which no edge leads.
    pub fn begin_with_sources(&mut self) {
        for position in 0..self.is_alive.len() {
            if self.is_alive[position] && self.n_before[position] == 0 {
                self.remove(position);
            }
        }
    }

    /// Has a pass find the marks that reach each node.
    pub fn begin_marks(&mut self) {
        self.marks.fill(0);
        for position in 0..self.is_alive.len() {
            self.is_queued[position] = self.is_alive[position];
            if self.is_alive[position] {
                self.queue.push_back(position as u32);
            }
        }
    }

    /// Has a pass of removal look at nodes that a mark does not reach which they need: all that are demanded, and those of pairs of which they are not free.
    pub fn begin_with_unmarked(&mut self) {
        let n_words = self.leaver.n_mark_words;
        let n_marks = self.leaver.rules.n_marks() + self.leaver.rules.n_pairs();
        for position in 0..self.is_alive.len() {
            let row = |rows: &[u64], mark: usize| rows[position * n_words + mark / 64] >> (mark % 64) & 1 == 1;
            let has_all = |mark: usize| row(&self.marks, mark) || row(&self.free, mark);
            if self.is_alive[position] && !(0..n_marks).all(has_all) {
                self.remove(position);
            }
        }
    }

    /// Looks at queued nodes until there are none, and ends the round; what arrives then is queued for the next one.
    pub fn run(&mut self, pass: Pass, net: &mut Net<'_>) {
        let was_stopped = self.meter.is_stopped();
        let mut outbox = Outbox::new(if pass == Pass::Marks { MARKS } else { GONE }, self.n_workers);
        let mut n_done = 0_usize;
        loop {
            let Some(position) = self.queue.pop_front() else {
                outbox.flush(net);
                self.receive(net);
                if self.queue.is_empty() || self.meter.is_stopped() { break } else { continue }
            };
            let position = position as usize;
            self.is_queued[position] = false;
            if n_done.is_multiple_of(CHECK_EVERY) && !self.may_go_on() || !self.leave(position) {
                break;
            }
            for nth in 0..self.leaver.edges.targets.len() {
                self.tell(pass, position, nth, &mut outbox, net);
            }
            n_done += 1;
            if n_done.is_multiple_of(STRETCH) {
                self.receive(net);
            }
        }
        if self.meter.is_stopped() {
            self.queue.clear();
        }
        self.close(outbox, was_stopped, net);
    }

    /// Sends an entry to another worker with others of its kind; where that worker does not keep up, takes what arrives until it does.
    fn put(&mut self, outbox: &mut Outbox, to: usize, parts: &[&[u64]], net: &mut Net<'_>) {
        let Some(words) = outbox.put(to, parts) else { return };
        while !net.keeps_up(to) {
            net.wait();
            self.receive(net);
        }
        net.send(to, words);
    }

    /// Tells the target of an edge what the pass is about.
    fn tell(&mut self, pass: Pass, position: usize, nth: usize, outbox: &mut Outbox, net: &mut Net<'_>) {
        let target = self.leaver.edges.targets[nth];
        let to = shard_of(&target, self.n_workers);
        match pass {
            Pass::Removal if to == self.me => self.lose(&target),
            Pass::Removal => self.put(outbox, to, &[&target], net),
            Pass::Marks => {
                let n_words = self.leaver.n_mark_words;
                let before = &self.marks[position * n_words..(position + 1) * n_words];
                let marks: Vec<u64> = before.iter().zip(self.leaver.marks(nth)).map(|(a, b)| a | b).collect();
                if to == self.me {
                    self.reach(&target, &marks);
                } else {
                    self.put(outbox, to, &[&target, &marks], net);
                }
            }
        }
    }

    /// The least node of a level with an edge to the target.
    pub fn least_before(&mut self, target: &Packed<W>, depth: usize) -> Option<Packed<W>> {
        let mut least: Option<Packed<W>> = None;
        for (nth, position) in self.level(depth).enumerate() {
            if nth % CHECK_EVERY == 0 && !self.may_go_on() {
                return None;
            }
            let node = *self.store.get(position);
            if least.is_none_or(|known| node < known) {
                if !self.leave(position) {
                    return None;
                }
                if self.leaver.edges.targets.contains(target) {
                    least = Some(node);
                }
            }
        }
        least
    }
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
