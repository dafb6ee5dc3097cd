//! The nodes of a product in a store, with what is known of each beside it.
//!
//! In and out: as [`Nodes`] says. Edges that lead to a node are counted as they are found, so that passes begin at once.

use std::collections::VecDeque;

use base::StopReason;
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::packing::Packed;
use packed::shard::shard_of;
use packed::store::{StateSet, StateStore};

use super::super::edges::Leaver;
use super::super::net::Net;
use super::{CHECK_EVERY, GONE, MARKS, NODES, Nodes, Outbox, Pass, STOPPED, STRETCH};

/// A worker's nodes in memory.
pub struct NodesInMemory<'a, 'm, const W: usize> {
    /// Finds edges.
    leaver: Leaver<'a, W>,
    /// The limits of this worker.
    meter: &'m Meter<'m>,
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

impl<'a, 'm, const W: usize> NodesInMemory<'a, 'm, W> {
    /// The initial nodes that belong to this worker.
    pub fn new(leaver: Leaver<'a, W>, meter: &'m Meter<'m>, net: &Net<'_>) -> Self {
        let mut nodes = NodesInMemory {
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

    /// The positions of a level.
    fn level(&self, depth: usize) -> std::ops::Range<usize> {
        self.level_starts[depth]..self.level_starts[depth + 1]
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

    /// Ends a round.
    fn close(&mut self, mut outbox: Outbox, was_stopped: bool, net: &mut Net<'_>) {
        outbox.flush(net);
        if self.meter.is_stopped() && !was_stopped {
            (0..self.n_workers).for_each(|to| net.send(to, vec![STOPPED]));
        }
        net.close(|words| self.take(&words));
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
}

impl<'a, const W: usize> Nodes<'a, W> for NodesInMemory<'a, '_, W> {
    fn leaver(&mut self) -> &mut Leaver<'a, W> {
        &mut self.leaver
    }

    fn meter(&self) -> &Meter<'_> {
        self.meter
    }

    fn n_mark_words(&self) -> usize {
        self.leaver.n_mark_words
    }

    fn begin_level(&mut self) -> u64 {
        self.level_starts.push(self.is_alive.len());
        self.level(self.level_starts.len() - 2).len() as u64
    }

    fn expand(&mut self, depth: usize, net: &mut Net<'_>) {
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

    fn end_levels(&mut self, _net: &mut Net<'_>) {}

    fn begin_with_sources(&mut self) {
        for position in 0..self.is_alive.len() {
            if self.is_alive[position] && self.n_before[position] == 0 {
                self.remove(position);
            }
        }
    }

    fn begin_marks(&mut self) {
        self.marks.fill(0);
        for position in 0..self.is_alive.len() {
            self.is_queued[position] = self.is_alive[position];
            if self.is_alive[position] {
                self.queue.push_back(position as u32);
            }
        }
    }

    fn begin_with_unmarked(&mut self) {
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

    fn run(&mut self, pass: Pass, net: &mut Net<'_>) {
        let was_stopped = self.meter.is_stopped();
        let mut outbox = Outbox::new(pass.kind(), self.n_workers);
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

    fn n_alive(&self) -> u64 {
        self.n_alive
    }

    fn n_queued(&self) -> u64 {
        self.queue.len() as u64
    }

    fn is_contradicted(&self) -> bool {
        self.is_contradicted
    }

    fn show_alive(&mut self, show: &mut dyn FnMut(usize, &Packed<W>)) {
        for depth in 0..self.level_starts.len() - 1 {
            for position in self.level(depth).filter(|&position| self.is_alive[position]) {
                show(depth, self.store.get(position));
            }
        }
    }

    fn least_before(&mut self, target: &Packed<W>, depth: usize) -> Option<Packed<W>> {
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
