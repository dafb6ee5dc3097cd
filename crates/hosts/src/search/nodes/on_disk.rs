//! The nodes of a product on disk, where memory has no room for them (after Barnat, Brim and Šimeček 2007).
//!
//! In and out: as [`Nodes`] says. Levels are found as those of states are: a [shard](packed::shard), whose closed levels are sorted runs. When all are there, a table has a row for each node, sorted by
//! nodes: its level, how many edges lead to it, and its marks. Edges are taken once more to count them. In a pass nothing is looked up: nodes that have to be looked at stand one behind the other in a
//! file; what they tell their successors, and what arrives from other workers, is sorted and brought to the table in one reading, which yields the next nodes to look at.

use std::io;

use base::StopReason;
use engine::meter::Meter;
use packed::initial::{InitialStates, widened};
use packed::packing::Packed;
use packed::shard::{Shard, shard_of};
use packed::spill::Overflow;
use packed::store::BATCH;

use super::super::edges::Leaver;
use super::super::net::Net;
use super::super::recent::RecentStates;
use super::super::rows::{CombineRows, RowQueue, RowShape, RowSorter, RowTable};
use super::{CHECK_EVERY, GONE, MARKS, NODES, Nodes, Outbox, Pass, STOPPED, STRETCH};

/// The number of edges that lead to a node, where it is not alive any more.
const DEAD: u64 = u64::MAX;

/// A worker's nodes on disk.
pub struct NodesOnDisk<'a, 'm, const W: usize> {
    leaver: Leaver<'a, W>,
    meter: &'m Meter<'m>,
    disk: Overflow,
    /// The nodes by level.
    shard: Shard<W>,
    n_levels: usize,
    /// Nodes that were stored or sent a moment ago, while levels are found.
    recent: RecentStates<W>,
    /// What is known of each node; there when all levels are.
    table: Option<RowTable>,
    /// Nodes that the pass has to look at, each once, with the marks that reach it.
    queue: Option<RowQueue>,
    /// What nodes of this worker were told and do not know yet; none while levels are found.
    told: Option<RowSorter>,
    n_alive: u64,
    me: usize,
    n_workers: usize,
    /// Whether a node was named that no level has.
    is_contradicted: bool,
}

/// Where things stand in a row: behind the node its level, the number of edges that lead to it, the marks that reach it, and the pairs of which it is free.
#[derive(Clone, Copy, Debug)]
struct RowPlaces {
    n_key: usize,
    n_marks: usize,
}

impl RowPlaces {
    fn shape(self) -> RowShape {
        RowShape { n_key: self.n_key, n_words: self.n_key + 2 + 2 * self.n_marks }
    }

    fn level(self) -> usize {
        self.n_key
    }

    fn n_before(self) -> usize {
        self.n_key + 1
    }

    fn marks(self) -> std::ops::Range<usize> {
        self.n_key + 2..self.n_key + 2 + self.n_marks
    }

    fn free(self) -> std::ops::Range<usize> {
        self.n_key + 2 + self.n_marks..self.n_key + 2 + 2 * self.n_marks
    }
}

/// What one portion of edges is counted by, and one of marks joined.
fn add(sum: &mut [u64], more: &[u64]) {
    sum[0] += more[0];
}

fn join(marks: &mut [u64], more: &[u64]) {
    marks.iter_mut().zip(more).for_each(|(marks, more)| *marks |= more);
}

/// A level is told once.
fn keep(_level: &mut [u64], _same: &[u64]) {}

impl<'a, 'm, const W: usize> NodesOnDisk<'a, 'm, W> {
    /// The initial nodes that belong to this worker.
    pub fn new(leaver: Leaver<'a, W>, meter: &'m Meter<'m>, net: &Net<'_>, disk: Overflow) -> Self {
        let mut shard = Shard::new(leaver.automaton_word() + 1, meter);
        shard.overflow_to(disk.clone());
        let mut nodes = NodesOnDisk {
            leaver,
            meter,
            disk,
            shard,
            n_levels: 0,
            recent: RecentStates::default(),
            table: None,
            queue: None,
            told: None,
            n_alive: 0,
            me: net.me(),
            n_workers: net.n_workers(),
            is_contradicted: false,
        };
        let made = std::fs::create_dir_all(&nodes.disk.directory);
        nodes.note(made);
        let (at, mut batch) = (nodes.leaver.automaton_word(), Vec::with_capacity(BATCH));
        for (nth, state) in InitialStates::<W>::new(nodes.leaver.machine.codec).enumerate() {
            let mut node = state;
            node[at] = u64::from(nodes.leaver.rules.initial());
            if shard_of(&node, nodes.n_workers) == nodes.me {
                batch.push(node);
            }
            if batch.len() == BATCH {
                nodes.insert(&batch);
                batch.clear();
            }
            if nth % CHECK_EVERY == 0 && !meter.may_go_on(0) {
                break;
            }
        }
        nodes.insert(&batch);
        nodes
    }

    fn places(&self) -> RowPlaces {
        RowPlaces { n_key: self.leaver.automaton_word() + 1, n_marks: self.leaver.n_mark_words }
    }

    /// What the disk says; where it fails nobody goes on.
    fn note(&self, done: io::Result<()>) {
        if let Err(error) = done {
            // Whoever reached a limit before has said so.
            self.meter.stop(disk_error(&error));
        }
    }

    /// Whether to go on after so many nodes.
    fn may_go_on(&self, n_done: usize) -> io::Result<()> {
        match !n_done.is_multiple_of(CHECK_EVERY) || self.meter.may_go_on(0) {
            true => Ok(()),
            false => Err(stopped()),
        }
    }

    /// Stores nodes of the level that is being filled.
    fn insert(&mut self, nodes: &[Packed<W>]) {
        for batch in nodes.chunks(BATCH) {
            if self.meter.is_stopped() {
                return;
            }
            if let Err(reason) = self.shard.insert(batch, self.meter) {
                self.meter.stop(reason);
            }
        }
    }

    /// From now on nodes are told something of so many words.
    fn begin_telling(&mut self, n_words: usize, combine: CombineRows) {
        let n_key = self.places().n_key;
        let shape = RowShape { n_key, n_words: n_key + n_words };
        self.told = Some(RowSorter::new(&self.disk.directory, shape, self.disk.most_bytes / 4, combine));
    }

    /// Tells a node of this worker something.
    fn tell(&mut self, node: &[u64], what: &[u64]) {
        let n_key = self.places().n_key;
        if let Some(told) = &mut self.told {
            let done = told.push(&node[..n_key], what);
            self.note(done);
        }
    }

    /// Takes in a packet.
    fn take(&mut self, words: &[u64]) {
        let Some((&kind, words)) = words.split_first() else { return };
        match kind {
            NODES if self.told.is_none() => self.insert(words.as_chunks::<W>().0),
            NODES | GONE => words.chunks_exact(W).for_each(|node| self.tell(node, &[1])),
            MARKS => words.chunks_exact(W + self.leaver.n_mark_words).for_each(|row| self.tell(&row[..W], &row[W..])),
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

    /// Sends an entry to another worker with others of its kind; where that worker does not keep up, takes what arrives until it does.
    fn put(&mut self, outbox: &mut Outbox, to: usize, parts: &[&[u64]], net: &mut Net<'_>) {
        let Some(words) = outbox.put(to, parts) else { return };
        while !net.keeps_up(to) {
            net.wait();
            self.receive(net);
        }
        net.send(to, words);
    }

    /// Ends a round.
    fn close(&mut self, mut outbox: Outbox, was_stopped: bool, net: &mut Net<'_>) {
        outbox.flush(net);
        if self.meter.is_stopped() && !was_stopped {
            (0..self.n_workers).for_each(|to| net.send(to, vec![STOPPED]));
        }
        net.close(|words| self.take(&words));
    }

    /// Finds the edges of a node.
    fn leave(&mut self, node: &[u64]) -> io::Result<()> {
        let n_key = self.places().n_key;
        let left = self.leaver.leave(&widened(&node[..n_key]));
        left.map_err(|reason| {
            self.meter.stop(reason);
            stopped()
        })
    }

    /// A row for each node.
    fn make_table(&mut self) -> io::Result<RowTable> {
        let places = self.places();
        self.begin_telling(1, keep);
        for depth in 0..self.n_levels {
            let mut n_before = 0;
            loop {
                let nodes = self.shard.stretch(depth, n_before, STRETCH).map_err(|reason| {
                    self.meter.stop(reason);
                    stopped()
                })?;
                n_before += nodes.len() as u64;
                self.may_go_on(0)?;
                if nodes.is_empty() {
                    break;
                }
                nodes.iter().for_each(|node| self.tell(node, &[depth as u64]));
            }
        }
        let Some(levels) = self.told.take() else { return Err(stopped()) };
        RowTable::new(&self.disk.directory, places.shape(), levels.finish()?, |from, row| {
            row.extend_from_slice(from);
            row.resize(places.shape().n_words, 0);
        })
    }

    /// Takes the edges of all nodes once more, so that each knows how many lead to it.
    fn count_edges(&mut self, table: &mut RowTable, outbox: &mut Outbox, net: &mut Net<'_>) -> io::Result<()> {
        let places = self.places();
        let mut n_done = 0_usize;
        table.scan(|row| {
            self.may_go_on(n_done)?;
            self.leave(row)?;
            row[places.free()].copy_from_slice(&self.leaver.edges.free);
            for nth in 0..self.leaver.edges.targets.len() {
                let target = self.leaver.edges.targets[nth];
                match shard_of(&target, self.n_workers) {
                    to if to == self.me => self.tell(&target, &[1]),
                    to => self.put(outbox, to, &[&target], net),
                }
            }
            n_done += 1;
            if n_done.is_multiple_of(STRETCH) {
                self.receive(net);
            }
            Ok(true)
        })
    }

    /// Brings what nodes were told to the table.
    fn apply(&mut self, mut change: impl FnMut(&mut Self, &mut [u64], &[u64]) -> io::Result<()>) {
        let (Some(told), Some(mut table)) = (self.told.take(), self.table.take()) else { return };
        if self.meter.is_stopped() {
            return;
        }
        let done = told.finish().and_then(|told| table.change(told, |row, more| change(self, row, more)));
        self.is_contradicted |= done.as_ref().is_ok_and(|n_lost| *n_lost > 0);
        self.note(done.map(drop));
        self.table = Some(table);
    }

    /// Has the pass look at a node, by its row.
    fn push(&mut self, row: &[u64]) -> io::Result<()> {
        let places = self.places();
        let queued: Vec<u64> = row[..places.n_key].iter().chain(&row[places.marks()]).copied().collect();
        self.queue.as_mut().map_or(Ok(()), |queue| queue.push(&queued))
    }

    /// Takes a node out, by its row.
    fn remove(&mut self, row: &mut [u64]) -> io::Result<()> {
        row[self.places().n_before()] = DEAD;
        self.n_alive -= 1;
        self.push(row)
    }

    /// Shows all rows, of which some change, to begin a pass.
    fn begin(&mut self, mut visit: impl FnMut(&mut Self, &mut [u64]) -> io::Result<bool>) {
        let Some(mut table) = self.table.take() else { return };
        let n_words = self.places().n_key + self.leaver.n_mark_words;
        let done = RowQueue::new(&self.disk.directory, n_words).and_then(|queue| {
            self.queue = Some(queue);
            table.scan(|row| visit(self, row))
        });
        self.note(done);
        self.table = Some(table);
    }

    /// Looks at the nodes of the queue: what they tell their successors.
    fn look_at(&mut self, queue: RowQueue, pass: Pass, outbox: &mut Outbox, net: &mut Net<'_>) -> io::Result<()> {
        let (n_key, mut n_done) = (self.places().n_key, 0_usize);
        let mut marks = vec![0; self.leaver.n_mark_words];
        queue.drain(|row| {
            self.may_go_on(n_done)?;
            self.leave(row)?;
            for nth in 0..self.leaver.edges.targets.len() {
                let target = self.leaver.edges.targets[nth];
                let to = shard_of(&target, self.n_workers);
                marks.copy_from_slice(&row[n_key..]);
                join(&mut marks, self.leaver.marks(nth));
                match pass {
                    Pass::Removal if to == self.me => self.tell(&target, &[1]),
                    Pass::Removal => self.put(outbox, to, &[&target], net),
                    Pass::Marks if to == self.me => self.tell(&target, &marks),
                    Pass::Marks => self.put(outbox, to, &[&target, &marks], net),
                }
            }
            n_done += 1;
            if n_done.is_multiple_of(STRETCH) {
                self.receive(net);
            }
            Ok(())
        })
    }

    fn begin_pass(&mut self, pass: Pass) {
        match pass {
            Pass::Removal => self.begin_telling(1, add),
            Pass::Marks => self.begin_telling(self.leaver.n_mark_words, join),
        }
    }

    /// Brings what a pass told nodes to the table; who has to be looked at is queued.
    fn apply_pass(&mut self, pass: Pass) {
        let places = self.places();
        match RowQueue::new(&self.disk.directory, places.n_key + places.n_marks) {
            Ok(queue) => self.queue = Some(queue),
            Err(error) => self.note(Err(error)),
        }
        self.apply(|nodes, row, more| match (pass, row[places.n_before()]) {
            (_, DEAD) => Ok(()),
            (Pass::Removal, n_before) => {
                nodes.is_contradicted |= more[0] > n_before;
                row[places.n_before()] = n_before.saturating_sub(more[0]);
                if row[places.n_before()] == 0 { nodes.remove(row) } else { Ok(()) }
            }
            (Pass::Marks, _) => {
                let known = row[places.marks()].to_vec();
                join(&mut row[places.marks()], more);
                if row[places.marks()] == known { Ok(()) } else { nodes.push(row) }
            }
        });
    }
}

/// Why the search cannot go on without its disk.
fn disk_error(error: &io::Error) -> StopReason {
    StopReason::Disk(match error.kind() {
        io::ErrorKind::StorageFull => {
            "no space is left on disk for what memory has no room for of a temporal property".to_owned()
        }
        _ => format!("what memory has no room for of a temporal property cannot be kept on disk: {error}"),
    })
}

/// The work has been stopped, and the meter says why.
fn stopped() -> io::Error {
    io::Error::other("the search was stopped")
}

impl<'a, const W: usize> Nodes<'a, W> for NodesOnDisk<'a, '_, W> {
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
        self.shard.begin_level(self.meter);
        self.n_levels += 1;
        self.shard.level_len(self.n_levels - 1)
    }

    fn expand(&mut self, depth: usize, net: &mut Net<'_>) {
        let was_stopped = self.meter.is_stopped();
        let mut outbox = Outbox::new(NODES, self.n_workers);
        let (mut own, mut n_taken) = (Vec::with_capacity(BATCH), 0);
        'level: loop {
            // Copies, since what is stored may move to disk meanwhile.
            let stretch = match self.shard.stretch(depth, n_taken, STRETCH) {
                Ok(stretch) if stretch.is_empty() => break,
                Ok(stretch) => stretch,
                Err(reason) => break self.meter.stop(reason),
            };
            n_taken += stretch.len() as u64;
            for (nth, node) in stretch.iter().enumerate() {
                if self.may_go_on(nth).is_err() || self.leave(node).is_err() {
                    break 'level;
                }
                for nth in 0..self.leaver.edges.targets.len() {
                    let target = self.leaver.edges.targets[nth];
                    if self.recent.sees_again(&target) {
                        continue;
                    }
                    match shard_of(&target, self.n_workers) {
                        to if to == self.me => own.push(target),
                        to => self.put(&mut outbox, to, &[&target], net),
                    }
                }
                if own.len() >= BATCH {
                    self.insert(&own);
                    own.clear();
                }
            }
            self.receive(net);
        }
        self.insert(&own);
        self.close(outbox, was_stopped, net);
    }

    fn end_levels(&mut self, net: &mut Net<'_>) {
        let was_stopped = self.meter.is_stopped();
        let mut outbox = Outbox::new(NODES, self.n_workers);
        let made = self.make_table();
        self.begin_telling(1, add);
        let counted = made.and_then(|mut table| {
            self.n_alive = table.n_rows();
            self.count_edges(&mut table, &mut outbox, net)?;
            self.table = Some(table);
            Ok(())
        });
        self.note(counted);
        self.close(outbox, was_stopped, net);
        let places = self.places();
        self.apply(|_, row, more| {
            row[places.n_before()] += more[0];
            Ok(())
        });
    }

    fn begin_with_sources(&mut self) {
        let at = self.places().n_before();
        self.begin(|nodes, row| match row[at] {
            0 => nodes.remove(row).map(|()| true),
            _ => Ok(false),
        });
    }

    fn begin_marks(&mut self) {
        let places = self.places();
        self.begin(|nodes, row| {
            row[places.marks()].fill(0);
            if row[places.n_before()] != DEAD {
                nodes.push(row)?;
            }
            Ok(true)
        });
    }

    fn begin_with_unmarked(&mut self) {
        let places = self.places();
        let n_marks = self.leaver.rules.n_marks() + self.leaver.rules.n_pairs();
        self.begin(|nodes, row| {
            let has = |words: &[u64], mark: usize| words[mark / 64] >> (mark % 64) & 1 == 1;
            let has_all = |mark: usize| has(&row[places.marks()], mark) || has(&row[places.free()], mark);
            if row[places.n_before()] == DEAD || (0..n_marks).all(has_all) {
                return Ok(false);
            }
            nodes.remove(row).map(|()| true)
        });
    }

    fn run(&mut self, pass: Pass, net: &mut Net<'_>) {
        let was_stopped = self.meter.is_stopped();
        let mut outbox = Outbox::new(pass.kind(), self.n_workers);
        self.begin_pass(pass);
        while let Some(queue) = self.queue.take().filter(|queue| queue.n_rows() > 0) {
            let done = self.look_at(queue, pass, &mut outbox, net);
            self.note(done);
            outbox.flush(net);
            self.receive(net);
            if self.meter.is_stopped() {
                break;
            }
            self.apply_pass(pass);
            self.begin_pass(pass);
        }
        self.close(outbox, was_stopped, net);
        self.apply_pass(pass);
    }

    fn n_alive(&self) -> u64 {
        self.n_alive
    }

    fn n_queued(&self) -> u64 {
        self.queue.as_ref().map_or(0, RowQueue::n_rows)
    }

    fn is_contradicted(&self) -> bool {
        self.is_contradicted
    }

    fn show_alive(&mut self, show: &mut dyn FnMut(usize, &Packed<W>)) {
        let places = self.places();
        let Some(mut table) = self.table.take() else { return };
        let done = table.scan(|row| {
            if row[places.n_before()] != DEAD {
                show(row[places.level()] as usize, &widened(&row[..places.n_key]));
            }
            Ok(false)
        });
        self.note(done);
        self.table = Some(table);
    }

    fn least_before(&mut self, target: &Packed<W>, depth: usize) -> Option<Packed<W>> {
        let mut least: Option<Packed<W>> = None;
        for (nth, node) in self.shard.states(depth).enumerate() {
            let node = match node {
                Ok(node) => node,
                Err(reason) => {
                    self.meter.stop(reason);
                    return None;
                }
            };
            if nth % CHECK_EVERY == 0 && !self.meter.may_go_on(0) {
                return None;
            }
            if least.is_none_or(|known| node < known) {
                if let Err(reason) = self.leaver.leave(&node) {
                    self.meter.stop(reason);
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
