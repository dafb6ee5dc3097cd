//! One level with several threads, each owner of a shard.
//!
//! Every thread takes the steps of its own shard's states of the level. Successors that belong to another shard are sent
//! there; what arrives is stored between the steps. When a thread has no more states it tells all others, and waits until
//! they have told it, so that nothing is left under way when the level ends. Nothing is shared but the code and the meter.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use base::StopReason;

use crate::expand::{Delivery, Expander, SearchCounts, SharedLevel, StateFinder};
use engine::meter::Meter;
use packed::machine::Flow;
use packed::packing::Packed;
use packed::questions::Hits;
use packed::shard::Shard;
use packed::store::BATCH;

/// How many states a message has, at most.
const MESSAGE: usize = 4 * BATCH;

/// How many messages can wait for a thread; when there are more, the sender stores its own first.
const MAILBOX: usize = 64;

/// How often a waiting thread looks whether the search was stopped.
const PATIENCE: Duration = Duration::from_millis(20);

enum ShardMessage<const W: usize> {
    /// Successors that belong to the receiver's shard.
    States(Vec<Packed<W>>),
    /// The sender has no more.
    End,
}

/// Expands a level; what was counted and hit.
pub fn expand_level<const W: usize>(
    level: SharedLevel<'_>,
    depth: usize,
    shards: &mut [Shard<W>],
) -> (SearchCounts, Hits<W>) {
    let (senders, inboxes): (Vec<_>, Vec<_>) = shards.iter().map(|_| sync_channel(MAILBOX)).unzip();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (own, (shard, inbox)) in shards.iter_mut().zip(inboxes).enumerate() {
            let post = Mailbox { own, shard, senders: senders.clone(), inbox, n_ended: 0 };
            threads.push(scope.spawn(move || work(level, depth, post)));
        }
        // The last sender to each thread must be another thread, so that nobody waits for this one.
        drop(senders);
        let mut counts = SearchCounts::default();
        let mut hits = Hits::new(level.n_questions);
        for thread in threads {
            match thread.join() {
                Ok((more_counts, more_hits)) => {
                    counts.add(more_counts);
                    hits.merge(&more_hits);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (counts, hits)
    })
}

fn work<const W: usize>(level: SharedLevel<'_>, depth: usize, post: Mailbox<'_, W>) -> (SearchCounts, Hits<W>) {
    let _guard = StopOnPanic(level.meter);
    let mut expander = level.expander(post, MESSAGE);
    let scratch = level.machine.scratch();
    let mut expand_all = || {
        let mut n_taken = 0;
        loop {
            // Copies, since what is stored may move to disk meanwhile.
            let stretch = level.stretch(expander.delivery.shard, depth, &mut n_taken)?;
            if stretch.is_empty() {
                break;
            }
            for (nth, state) in stretch.iter().enumerate() {
                expander.expand(state, &scratch)?;
                if nth.is_multiple_of(16) {
                    let Expander { delivery, finder, .. } = &mut expander;
                    delivery.store_arrived(finder)?;
                }
            }
        }
        expander.finish()
    };
    // Where the search is stopped, the reason is in the meter.
    let _stopped = expand_all();
    let Expander { delivery, finder, counts, .. } = &mut expander;
    delivery.end(finder, level.meter);
    (*counts, std::mem::take(&mut finder.hits))
}

/// A thread's shard, and its ways to the others.
struct Mailbox<'s, const W: usize> {
    own: usize,
    shard: &'s mut Shard<W>,
    senders: Vec<SyncSender<ShardMessage<W>>>,
    inbox: Receiver<ShardMessage<W>>,
    /// How many of the others have no more states.
    n_ended: usize,
}

impl<const W: usize> Delivery<W> for Mailbox<'_, W> {
    fn n_shards(&self) -> usize {
        self.senders.len()
    }

    fn deliver(&mut self, shard: usize, batch: &mut Vec<Packed<W>>, finder: &mut StateFinder<'_, W>) -> Flow {
        if shard == self.own {
            let result = finder.insert(self.shard, batch);
            batch.clear();
            return result;
        }
        let mut message = ShardMessage::States(std::mem::replace(batch, Vec::with_capacity(MESSAGE)));
        loop {
            match self.senders[shard].try_send(message) {
                Ok(()) => return Flow::Continue(()),
                // The other thread is gone, which happens only when the search is stopped.
                Err(TrySendError::Disconnected(_)) => return Flow::Break(()),
                Err(TrySendError::Full(back)) => {
                    message = back;
                    if !self.store_arrived(finder)? {
                        // The other thread may wait for the search's next turn; then this one waits, too.
                        finder.look_up()?;
                        thread::yield_now();
                    }
                }
            }
        }
    }
}

impl<const W: usize> Mailbox<'_, W> {
    /// Stores all that has arrived; whether something had.
    fn store_arrived(&mut self, finder: &mut StateFinder<'_, W>) -> std::ops::ControlFlow<(), bool> {
        let mut any = false;
        loop {
            match self.inbox.try_recv() {
                Ok(message) => {
                    any = true;
                    self.store(message, finder)?;
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                    return Flow::Continue(()).map_continue(|()| any);
                }
            }
        }
    }

    fn store(&mut self, message: ShardMessage<W>, finder: &mut StateFinder<'_, W>) -> Flow {
        match message {
            ShardMessage::States(states) => finder.insert(self.shard, &states),
            ShardMessage::End => {
                self.n_ended += 1;
                Flow::Continue(())
            }
        }
    }

    /// Tells the others that there is no more, and stores what they send until they have told the same.
    fn end(&mut self, finder: &mut StateFinder<'_, W>, meter: &Meter<'_>) {
        let others = self.senders.len() - 1;
        let mut untold: Vec<usize> = (0..self.senders.len()).filter(|&shard| shard != self.own).collect();
        loop {
            untold
                .retain(|&shard| matches!(self.senders[shard].try_send(ShardMessage::End), Err(TrySendError::Full(_))));
            // All the others may have ended before this thread told them: nothing more will come.
            if self.n_ended == others && untold.is_empty() {
                return;
            }
            match self.inbox.recv_timeout(PATIENCE) {
                Ok(message) => {
                    // When the search is stopped, messages are taken and dropped, so that nobody waits to send.
                    if !meter.is_stopped() {
                        let _stopped = self.store(message, finder);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if meter.is_stopped() {
                return;
            }
        }
    }
}

/// Stops the search if its thread panics, so that the others do not wait for it.
struct StopOnPanic<'a>(&'a Meter<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop(StopReason::Cancelled);
        }
    }
}
