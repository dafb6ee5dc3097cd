//! The workers of a search and what they tell each other: one timely dataflow, in which the timestamp is the round.
//!
//! In: packets of words, each for one worker. Out: the packets of a round at the worker that they are for, and the moment from which on no packet of the
//! round can follow, which is what timely's progress tracking says of the operator that receives them. A round is a level of the search, a question of worker 0 to
//! all, or the answers to it.
//!
//! timely has no back-pressure of its own, so there are credits: whoever has taken packets says so to those who sent them, by a second dataflow, and who has sent a
//! worker [`CREDITS`] packets that it has not taken yet waits, and takes what has arrived meanwhile. So nobody waits for ever: all who wait take packets.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::container::NoopBuilder;
use timely::dataflow::ProbeHandle;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};
use timely::dataflow::operators::core::input::{Handle, Input};
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::probe::Probe;
use timely::worker::Worker;

/// A worker that waits looks around so often.
const GLANCE: Duration = Duration::from_millis(50);

/// So many workers tell each other what they know without going by way of worker 0.
const FEW_WORKERS: usize = 32;

/// The most packets that may be under way from one worker to another before the sender waits.
const CREDITS: u64 = 256;

/// So many packets of one worker are acknowledged at once.
const ACKNOWLEDGED: u64 = 64;

/// Words for one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The worker.
    pub to: u32,
    /// The worker that sends them.
    pub from: u32,
    /// The words, at least one.
    pub words: Vec<u64>,
}

impl Accountable for Packet {
    fn record_count(&self) -> i64 {
        i64::from(!self.words.is_empty())
    }
}

/// Words are sent as they are, after the numbers of the workers; all hosts have the same order of bytes, which the first words between them compare.
impl ContainerBytes for Packet {
    fn from_bytes(bytes: Bytes) -> Self {
        let (workers, rest) = bytes.split_at(bytes.len().min(8));
        let workers = workers.try_into().map_or(0, u64::from_ne_bytes);
        let n_words = rest.len() / 8;
        let mut words = vec![0; n_words];
        bytemuck::cast_slice_mut(&mut words).copy_from_slice(&rest[..8 * n_words]);
        Packet { to: workers as u32, from: (workers >> 32) as u32, words }
    }

    fn length_in_bytes(&self) -> usize {
        8 * (1 + self.words.len())
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        // The writer is a buffer that timely has made as long as was asked for.
        let written = writer
            .write_all(bytemuck::bytes_of(&(u64::from(self.to) | u64::from(self.from) << 32)))
            .and_then(|()| writer.write_all(bytemuck::cast_slice(&self.words)));
        debug_assert!(written.is_ok());
    }
}

/// Gives each packet to its worker.
struct Router;

impl Distributor<Packet> for Router {
    fn partition<T: Clone, P: Push<Message<T, Packet>>>(&mut self, packet: &mut Packet, time: &T, pushers: &mut [P]) {
        let to = packet.to as usize;
        Message::push_at(packet, time.clone(), &mut pushers[to]);
    }

    fn flush<T: Clone, P: Push<Message<T, Packet>>>(&mut self, _time: &T, _pushers: &mut [P]) {}
}

/// A packet that arrived.
struct Arrived {
    round: u64,
    from: usize,
    words: Vec<u64>,
}

/// Packets that arrived and were not taken yet.
type Inbox = Rc<RefCell<VecDeque<Arrived>>>;

/// By worker, how many packets were sent to it that it has not taken yet, as far as is known.
type UnderWay = Rc<RefCell<Vec<u64>>>;

/// One worker's end of the network.
pub struct Net<'w> {
    worker: &'w mut Worker,
    input: Handle<u64, NoopBuilder<Packet>>,
    probe: ProbeHandle<u64>,
    inbox: Inbox,
    /// Acknowledgements leave here.
    thanks: Handle<u64, NoopBuilder<Packet>>,
    under_way: UnderWay,
    /// By worker, how many of its packets were taken and not acknowledged.
    n_taken: Vec<u64>,
    /// The round in which packets are sent and received now.
    round: u64,
    /// The workers of this process are `own_workers`; what goes to the others is counted.
    own_workers: std::ops::Range<usize>,
    sent_bytes: u64,
}

impl<'w> Net<'w> {
    /// Builds the dataflow. The workers of this process are so many.
    pub fn new(worker: &'w mut Worker, n_threads: usize) -> Self {
        let inbox = Inbox::default();
        let received = Rc::clone(&inbox);
        let (input, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let (input, packets) = scope.new_input_with_builder::<NoopBuilder<Packet>>();
            let pact = DistributorPact(|_n_workers| Router);
            let nothing = packets.unary::<NoopBuilder<Packet>, _, _, _>(pact, "owners", |_capability, _info| {
                move |input, _output| {
                    input.for_each(|capability, packet| {
                        let (from, words) = (packet.from as usize, std::mem::take(&mut packet.words));
                        received.borrow_mut().push_back(Arrived { round: *capability.time(), from, words });
                    });
                }
            });
            (input, nothing.probe().0)
        });
        let n_workers = worker.peers();
        let under_way: UnderWay = Rc::new(RefCell::new(vec![0; n_workers]));
        let thanks = acknowledgements(worker, &under_way);
        let first = worker.index() / n_threads * n_threads;
        Net {
            worker,
            input,
            probe,
            inbox,
            thanks,
            under_way,
            n_taken: vec![0; n_workers],
            round: 0,
            own_workers: first..first + n_threads,
            sent_bytes: 0,
        }
    }

    /// Which worker this is.
    pub fn me(&self) -> usize {
        self.worker.index()
    }

    /// How many workers there are, in all processes.
    pub fn n_workers(&self) -> usize {
        self.worker.peers()
    }

    /// What was sent to other processes.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Sends words to a worker, in this round.
    pub fn send(&mut self, to: usize, words: Vec<u64>) {
        if !self.own_workers.contains(&to) {
            self.sent_bytes += 8 * (1 + words.len() as u64);
        }
        self.under_way.borrow_mut()[to] += 1;
        self.input.send_batch(&mut Packet { to: to as u32, from: self.me() as u32, words });
    }

    /// Whether a worker keeps up with what is sent to it. Where it does not, whoever sends much should take what arrives ([`Net::receive`]) and wait
    /// ([`Net::wait`]) until it does.
    pub fn keeps_up(&self, to: usize) -> bool {
        self.under_way.borrow()[to] < CREDITS
    }

    /// Waits a moment for something to arrive.
    pub fn wait(&mut self) {
        self.worker.step_or_park(Some(GLANCE));
    }

    /// Lets timely work for a moment, so that packets leave and arrive.
    pub fn work(&mut self) {
        self.worker.step();
    }

    /// The next packet of this round that has arrived.
    pub fn receive(&mut self) -> Option<Vec<u64>> {
        let arrived = {
            let mut inbox = self.inbox.borrow_mut();
            // Others may be a round ahead.
            let at = inbox.iter().position(|arrived| arrived.round == self.round)?;
            inbox.remove(at)?
        };
        self.acknowledge(arrived.from);
        Some(arrived.words)
    }

    /// A packet of a worker was taken; now and then it is told so.
    fn acknowledge(&mut self, from: usize) {
        self.n_taken[from] += 1;
        if self.n_taken[from] == ACKNOWLEDGED {
            self.n_taken[from] = 0;
            self.thanks.send_batch(&mut Packet { to: from as u32, from: self.me() as u32, words: vec![ACKNOWLEDGED] });
        }
    }

    /// Ends the round: takes what still arrives, until timely says that nothing can follow.
    pub fn close(&mut self, mut take: impl FnMut(Vec<u64>)) {
        let next = self.round + 1;
        self.input.advance_to(next);
        loop {
            while let Some(words) = self.receive() {
                take(words);
            }
            if !self.probe.less_than(&next) {
                break;
            }
            self.worker.step_or_park(Some(GLANCE));
        }
        while let Some(words) = self.receive() {
            take(words);
        }
        self.round = next;
    }

    /// Brings a value of each worker to worker 0, by worker; the others get nothing.
    pub fn gather<T: Serialize + DeserializeOwned>(&mut self, value: &T) -> Vec<T> {
        let mut words = vec![self.me() as u64];
        words.extend(to_words(value));
        self.send(0, words);
        self.values()
    }

    /// Brings a value of each worker to all, by worker. With many workers it goes by way of worker 0, since the messages between all pairs would be many more.
    ///
    /// # Panics
    /// Where the workers do not agree on what comes next.
    pub fn share<T: Serialize + DeserializeOwned>(&mut self, value: &T) -> Vec<T> {
        if self.n_workers() > FEW_WORKERS {
            let values = self.gather(value);
            return self.tell_all((self.me() == 0).then_some(&values));
        }
        let mut words = vec![self.me() as u64];
        words.extend(to_words(value));
        (0..self.n_workers()).for_each(|to| self.send(to, words.clone()));
        self.values()
    }

    /// The values that workers send in this round, by worker.
    fn values<T: DeserializeOwned>(&mut self) -> Vec<T> {
        let mut values: Vec<(u64, T)> = Vec::new();
        self.close(|words| {
            if let Some((&from, rest)) = words.split_first()
                && let Some(value) = of_words(rest)
            {
                values.push((from, value));
            }
        });
        values.sort_by_key(|(from, _)| *from);
        values.into_iter().map(|(_, value)| value).collect()
    }

    /// Brings a value of worker 0 to all.
    ///
    /// # Panics
    /// Where worker 0 says nothing, or something else: the workers do not agree on what comes next.
    pub fn tell_all<T: Serialize + DeserializeOwned>(&mut self, value: Option<&T>) -> T {
        if let Some(value) = value {
            let words = to_words(value);
            for to in 0..self.n_workers() {
                self.send(to, words.clone());
            }
        }
        let mut told = None;
        self.close(|words| told = of_words(&words));
        told.expect("worker 0 tells all what comes next")
    }
}

/// The dataflow by which workers say what they have taken.
fn acknowledgements(worker: &mut Worker, under_way: &UnderWay) -> Handle<u64, NoopBuilder<Packet>> {
    let known = Rc::clone(under_way);
    worker.dataflow::<u64, _, _>(|scope| {
        let (thanks, packets) = scope.new_input_with_builder::<NoopBuilder<Packet>>();
        let pact = DistributorPact(|_n_workers| Router);
        packets.unary::<NoopBuilder<Packet>, _, _, _>(pact, "acknowledgements", |_capability, _info| {
            move |input, _output| {
                input.for_each(|_capability, packet| {
                    let n_taken: u64 = packet.words.iter().sum();
                    let under_way = &mut known.borrow_mut()[packet.from as usize];
                    *under_way = under_way.saturating_sub(n_taken);
                });
            }
        });
        thanks
    })
}

/// A value as words: how many bytes, and the bytes.
fn to_words<T: Serialize>(value: &T) -> Vec<u64> {
    let bytes = serde_json::to_vec(value).expect("what workers tell each other is plain data");
    let mut words = vec![bytes.len() as u64];
    words.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    }));
    words
}

fn of_words<T: DeserializeOwned>(words: &[u64]) -> Option<T> {
    let (&length, words) = words.split_first()?;
    let bytes: &[u8] = bytemuck::cast_slice(words);
    serde_json::from_slice(bytes.get(..usize::try_from(length).ok()?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_as_words_and_other_words_are_no_values() {
        for text in ["", "seven b", "eight by", "nine byte"] {
            assert_eq!(of_words::<String>(&to_words(&text)).as_deref(), Some(text));
        }
        for words in [&[][..], &[u64::MAX], &[9, 1], &[3, 0x20_2020]] {
            assert_eq!(of_words::<String>(words), None);
        }
    }

    #[test]
    fn packets_survive_as_bytes() {
        let packet = Packet { to: 3, from: 70_000, words: vec![1, u64::MAX, 0] };
        let mut bytes = Vec::new();
        packet.into_bytes(&mut bytes);
        assert_eq!(bytes.len(), packet.length_in_bytes());
        let mut slab = timely::bytes::arc::BytesMut::from(bytes);
        let n_bytes = slab.len();
        assert_eq!(Packet::from_bytes(slab.extract_to(n_bytes)), packet);
    }

    /// All send much more at once than may be under way; who waits takes what arrives, so that all get through, and no more than the credits are ever under way.
    #[test]
    fn who_sends_too_much_waits_and_nobody_waits_for_ever() {
        let guards = timely::execute(timely::Config::process(3), |worker| {
            let mut net = Net::new(worker, 3);
            let (me, n_workers, mut n_seen, mut most) = (net.me(), net.n_workers(), 0_u64, 0);
            for number in 0..5_000_u64 {
                for to in (0..n_workers).filter(|&to| to != me) {
                    while !net.keeps_up(to) {
                        net.wait();
                        while net.receive().is_some() {
                            n_seen += 1;
                        }
                    }
                    net.send(to, vec![number]);
                    most = most.max(net.under_way.borrow()[to]);
                }
            }
            net.close(|_| n_seen += 1);
            (n_seen, most)
        });
        for result in guards.unwrap().join() {
            assert_eq!(result.unwrap(), (10_000, CREDITS));
        }
    }

    /// Each worker sends its number to all others in some rounds; nothing is lost, and nothing arrives in another round.
    #[test]
    fn rounds_are_exact() {
        let guards = timely::execute(timely::Config::process(3), |worker| {
            let mut net = Net::new(worker, 3);
            let (me, n_workers) = (net.me() as u64, net.n_workers());
            for round in 0..200u64 {
                for to in 0..n_workers {
                    net.send(to, vec![round, me]);
                }
                let mut seen = Vec::new();
                net.close(|words| seen.push((words[0], words[1])));
                seen.sort_unstable();
                assert_eq!(seen, (0..n_workers as u64).map(|from| (round, from)).collect::<Vec<_>>());
            }
            assert_eq!(net.share(&me), (0..n_workers as u64).collect::<Vec<_>>());
            let all = net.gather(&me);
            let sum: u64 = net.tell_all((me == 0).then(|| all.iter().sum::<u64>()).as_ref());
            (me, sum, net.sent_bytes())
        });
        let results: Vec<_> = guards.unwrap().join().into_iter().map(|result| result.unwrap()).collect();
        assert_eq!(results, [(0, 3, 0), (1, 3, 0), (2, 3, 0)]);
    }
}
