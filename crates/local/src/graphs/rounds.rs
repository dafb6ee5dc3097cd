//! The joint searches of all pairs, round by round, until no graph grows (LS3, repaired; LS3+).
//!
//! In: a program. Out: the local state graphs, and the joint states of every two processes that share something. A round has
//! three parts, each of which runs on all threads. The graphs take in what joint searches have offered them, and expand what is
//! new; with witnesses, third processes interfere with pairs (`witness.rs`); each pair goes on with its joint search
//! from where it was. No thread reads what another one writes, and rounds have the same outcome with any number of threads.
//!
//! Every reachable state projects into the graphs and the joint states: by induction on runs. A step by `a` of a process `k`
//! from a state whose projections are there is an own step of `k`'s graph; for another process that sees it, the pair with
//! `k`, whose joint state is there, offers the transition; and for any two processes one of the rules of `joint.rs` applies.

use base::Coarse;
use model::process::ProcessId;

use super::actions::Actions;
use super::graph::{Offer, ProcessGraph, RendezvousEdge};
use super::joint::{Joint, JointStep, Surroundings};
use super::{team, witness};
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine};
use packed::words::{and, or};

/// Rounds with less to do are not worth starting threads for.
const MIN_PARALLEL: usize = 500;

/// The searches under way.
pub struct Rounds<'r, const W: usize> {
    machine: &'r Machine<'r>,
    actions: &'r Actions<W>,
    meter: &'r Meter<'r>,
    /// By process.
    pub graphs: Vec<ProcessGraph<W>>,
    /// The pairs of processes that share something.
    pub joints: Vec<Joint<W>>,
    /// With more joint states than this the searches are given up.
    most_pairs: u64,
    /// By two processes: the position of their joint search.
    pub pairs: Vec<Vec<Option<usize>>>,
}

impl<'r, const W: usize> Rounds<'r, W> {
    /// Nothing found yet.
    pub fn new(machine: &'r Machine<'r>, actions: &'r Actions<W>, meter: &'r Meter<'r>) -> Self {
        let n_processes = actions.n_processes();
        let graphs = (0..n_processes).map(|at| ProcessGraph::new(ProcessId::new(at), actions.masks[at])).collect();
        let pairs = vec![vec![None; n_processes]; n_processes];
        Rounds { machine, actions, meter, graphs, joints: Vec::new(), most_pairs: u64::MAX, pairs }
    }

    /// The same, given up where there are more joint states than this.
    pub fn at_most(self, most_pairs: u64) -> Self {
        Rounds { most_pairs, ..self }
    }

    /// Searches until nothing is new, or the meter stops it.
    pub fn run(mut self, with_witness: bool, n_threads: usize) -> Self {
        let _stopped = self.search(with_witness, n_threads);
        self
    }

    fn search(&mut self, with_witness: bool, n_threads: usize) -> Flow {
        self.start(with_witness)?;
        loop {
            self.grow(n_threads)?;
            if with_witness {
                self.ask_witnesses(n_threads)?;
            }
            self.search_pairs(with_witness, n_threads)?;
            let is_done = |joint: &Joint<W>| {
                joint.is_idle(&self.graphs)
                    && joint.offers.iter().all(Vec::is_empty)
                    && joint.news.as_ref().is_none_or(Vec::is_empty)
            };
            if self.joints.iter().all(is_done) {
                return Flow::Continue(());
            }
            if self.joints.iter().map(Joint::n_pairs).sum::<u64>() > self.most_pairs {
                self.meter.stop(Coarse::ManyPairs.into());
                return Flow::Break(());
            }
        }
    }

    /// The initial states as each process, and each pair, sees them.
    fn start(&mut self, with_witness: bool) -> Flow {
        for graph in &mut self.graphs {
            for (nth, state) in InitialStates::within(self.machine.codec, &graph.mask).enumerate() {
                graph.number(&state);
                if nth % 1024 == 1023 && !self.meter.may_go_on(graph.states.bytes()) {
                    return Flow::Break(());
                }
            }
            graph.n_initial = graph.states.len();
        }
        let n_processes = self.graphs.len();
        for one in 0..n_processes {
            for other in one + 1..n_processes {
                if !self.actions.shares(one, other) {
                    continue;
                }
                let at = Some(self.joints.len());
                (self.pairs[one][other], self.pairs[other][one]) = (at, at);
                let mut joint = Joint::new([one, other], self.actions, with_witness);
                let [ours, theirs] = [self.graphs[one].mask, self.graphs[other].mask];
                for (nth, state) in InitialStates::within(self.machine.codec, &or(&ours, &theirs)).enumerate() {
                    let number = |at: usize| self.graphs[at].states.position(&and(&state, &self.graphs[at].mask));
                    let [one, other] = [number(one), number(other)].map(|found| found.expect("it was added above"));
                    joint.inbox.push((one, other));
                    if nth % 1024 == 1023 && !self.meter.may_go_on(8 * joint.inbox.len() as u64) {
                        return Flow::Break(());
                    }
                }
                self.joints.push(joint);
            }
        }
        Flow::Continue(())
    }

    /// The graphs take in what they are offered, and expand what is new.
    fn grow(&mut self, n_threads: usize) -> Flow {
        let mut offered: Vec<Vec<Offer<W>>> = self.graphs.iter().map(|_| Vec::new()).collect();
        for at in 0..self.joints.len() {
            for rendezvous in self.joints[at].take_rendezvous() {
                self.add_rendezvous(at, rendezvous);
            }
            let joint = &mut self.joints[at];
            for side in 0..2 {
                offered[joint.processes[side]].append(&mut joint.offers[side]);
            }
        }
        let n_offers: usize = offered.iter().map(Vec::len).sum();
        let parts: Vec<(&mut ProcessGraph<W>, Vec<Offer<W>>)> = self.graphs.iter_mut().zip(offered).collect();
        let (machine, meter) = (self.machine, self.meter);
        let threads = if n_offers < MIN_PARALLEL { 1 } else { n_threads };
        team::each(
            parts,
            threads,
            || machine.scratch::<W>(),
            |(graph, offers), scratch| {
                for offer in offers {
                    let to = graph.number(&offer.to);
                    graph.add_external(offer.from, offer.action, to);
                }
                graph.expand(machine, meter, scratch)
            },
        )
    }

    /// Both graphs have the transition, and the pair where it leads.
    fn add_rendezvous(&mut self, at: usize, rendezvous: JointStep<W>) {
        let [one, other] = self.joints[at].processes;
        let targets = [one, other].map(|process| self.graphs[process].number(&rendezvous.after));
        self.joints[at].add_after(targets);
        let [before, theirs] = rendezvous.before;
        let [target, after] = targets;
        let action = rendezvous.action;
        self.graphs[one]
            .add_meeting(before, RendezvousEdge { action, target, partner: other as u32, before: theirs, after });
        let meeting = RendezvousEdge { action, target: after, partner: one as u32, before, after: target };
        self.graphs[other].add_meeting(theirs, meeting);
    }

    fn ask_witnesses(&mut self, n_threads: usize) -> Flow {
        let mut received: Vec<Vec<(u32, u32)>> = self.joints.iter().map(|_| Vec::new()).collect();
        let n_news: usize = self.joints.iter().filter_map(|joint| joint.news.as_ref()).map(Vec::len).sum();
        let parts: Vec<(usize, &mut Vec<(u32, u32)>)> = received.iter_mut().enumerate().collect();
        let threads = if n_news < MIN_PARALLEL { 1 } else { n_threads };
        let rounds = &*self;
        let flow = team::each(
            parts,
            threads,
            || (),
            |(at, received), ()| {
                witness::pairs(rounds, at, received);
                if rounds.meter.may_go_on((8 * received.len()) as u64) { Flow::Continue(()) } else { Flow::Break(()) }
            },
        );
        for (joint, received) in self.joints.iter_mut().zip(received) {
            joint.inbox.extend(received);
            joint.news.iter_mut().for_each(Vec::clear);
        }
        flow
    }

    fn search_pairs(&mut self, with_witness: bool, n_threads: usize) -> Flow {
        let (machine, actions, meter) = (self.machine, self.actions, self.meter);
        let around = Surroundings { machine, actions, graphs: &self.graphs, meter, with_witness };
        let mut parts: Vec<&mut Joint<W>> = self.joints.iter_mut().collect();
        // The largest first, so that no thread is left with it at the end.
        parts.sort_by_key(|joint| std::cmp::Reverse(joint.n_open(around.graphs)));
        let n_open: usize = parts.iter().map(|joint| joint.n_open(around.graphs)).sum();
        let threads = if n_open < MIN_PARALLEL { 1 } else { n_threads };
        team::each(parts, threads, || machine.scratch::<W>(), |joint, scratch| joint.search(&around, scratch))
    }

    /// The actions.
    pub fn actions(&self) -> &'r Actions<W> {
        self.actions
    }

    /// The joint states of two processes, if they share something.
    pub fn joint(&self, one: usize, other: usize) -> Option<&Joint<W>> {
        self.pairs[one][other].map(|at| &self.joints[at])
    }
}
