//! Real runs of the program with its stacks: few switches between processes and shallow stacks first.
//!
//! In: questions that path edges leave open. Out: for those that are decided, the states of a run that does it. A run costs the number
//! of its context switches plus the height of its highest stack, and cheap runs are searched first: whatever is decided by a finite run
//! is found sooner or later, since only finitely many states are as cheap. That nothing is found says nothing.
//!
//! A search may be *guided*: then a process steps only between local stores that the path edges needed on the way to what they could
//! not exclude.

use std::collections::VecDeque;

use base::{Budget, StopReason};
use hashbrown::HashTable;
use model::eval::State;
use model::process::ProcessId;
use rustc_hash::FxHashSet;

use crate::saturate::Saturation;
use crate::thread::{LocalStateId, Origin};
use local::ids::LocalId;
use packed::hash::hash;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::{StateGoal, StateQuestion};
use packed::words::and;

/// The budget is checked after so many states were expanded, or so many found.
const CHECK_EVERY: usize = 64;
const CHECK_EVERY_FOUND: usize = 1024;

/// So many initial states are tried.
const MOST_STARTS: usize = 4096;

/// A search of real states.
pub struct RealRuns<'a, const W: usize> {
    machine: &'a Machine<'a>,
    questions: &'a [StateQuestion],
    scratch: Scratch<W>,
    nodes: Vec<RunNode<W>>,
    index: HashTable<u32>,
    /// By cost: the states to be expanded.
    open: Vec<VecDeque<u32>>,
    /// By process and number of a stack: its height.
    heights: Vec<Vec<u32>>,
    /// By question: the states of a run that decides it.
    pub decisions: Vec<Option<Vec<State>>>,
    /// By question: whether its expression has no value in a state that was found. Another state may decide it.
    pub without_value: Vec<bool>,
}

/// A state of the program, and how it was reached.
struct RunNode<const W: usize> {
    state: Packed<W>,
    /// The position of the one before; of an initial state, its own.
    parent: u32,
    /// The process that stepped last, plus 1.
    last: u32,
    switches: u32,
}

/// What leaves a state by one process.
struct ProcessMoves<const W: usize> {
    found: Vec<Packed<W>>,
    faulty: bool,
}

impl<const W: usize> Sink<W> for ProcessMoves<W> {
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.found.push(*next);
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.faulty = true;
        Flow::Continue(())
    }
}

impl<'a, const W: usize> RealRuns<'a, W> {
    /// A search that has seen nothing, for those of the questions that are not decided.
    pub fn new(machine: &'a Machine<'a>, questions: &'a [StateQuestion]) -> Self {
        let n_processes = machine.code.points.len();
        RealRuns {
            machine,
            questions,
            scratch: machine.scratch(),
            nodes: Vec::new(),
            index: HashTable::new(),
            open: Vec::new(),
            heights: vec![vec![0]; n_processes],
            decisions: questions.iter().map(|_| None).collect(),
            without_value: vec![false; questions.len()],
        }
    }

    /// A search for the same questions that has seen nothing.
    pub fn afresh(&self) -> Self {
        RealRuns::new(self.machine, self.questions)
    }

    /// Searches until the questions at these positions are decided, or so many states were seen. A search that was ended goes on.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn search(
        &mut self,
        wanted: &[usize],
        (most_states, budget): (usize, &Budget),
        guide: Option<&Guide<'_, W>>,
    ) -> Result<(), StopReason> {
        if self.nodes.is_empty() {
            for state in InitialStates::new(self.machine.codec).take(MOST_STARTS) {
                self.visit(state, None, 0, wanted);
            }
        }
        let (mut n_expanded, mut n_found) = (0, 0);
        while let Some(node) = self.next() {
            if self.nodes.len() > most_states || wanted.iter().all(|&question| self.decisions[question].is_some()) {
                self.open[0].push_front(node);
                return Ok(());
            }
            n_expanded += 1;
            if n_expanded % CHECK_EVERY == 0 || self.nodes.len() > n_found + CHECK_EVERY_FOUND {
                n_found = self.nodes.len();
                budget.check(self.bytes())?;
            }
            self.expand(node, wanted, guide);
        }
        Ok(())
    }

    /// What the search holds.
    pub fn bytes(&self) -> u64 {
        (self.nodes.capacity() * (size_of::<RunNode<W>>() + 4) + self.index.capacity() * 5) as u64
            + self.machine.stack_bytes()
    }

    fn next(&mut self) -> Option<u32> {
        self.open.iter_mut().find_map(VecDeque::pop_front)
    }

    fn expand(&mut self, at: u32, wanted: &[usize], guide: Option<&Guide<'_, W>>) {
        let RunNode { state, last, switches, .. } = self.nodes[at as usize];
        let mut can_move = false;
        for number in 0..self.heights.len() {
            let process = ProcessId::new(number);
            let mut moves = ProcessMoves { found: Vec::new(), faulty: false };
            let _ = self.machine.expand_process(process, &state, &self.scratch, &mut moves);
            can_move |= moves.faulty || !moves.found.is_empty();
            if moves.faulty {
                self.decide(at, wanted, |goal| matches!(goal, StateGoal::Fault));
            }
            if guide.is_some_and(|guide| !guide.allows(number, &state)) {
                continue;
            }
            let mover = number as u32 + 1;
            let switches = switches + u32::from(last != 0 && last != mover);
            for next in moves.found {
                if guide.is_none_or(|guide| guide.allows(number, &next)) {
                    self.visit(next, Some((at, mover)), switches, wanted);
                }
            }
        }
        if !can_move && self.machine.somebody_waits(&state) {
            self.decide(at, wanted, |goal| matches!(goal, StateGoal::Deadlock));
        }
    }

    fn visit(&mut self, state: Packed<W>, from: Option<(u32, u32)>, switches: u32, wanted: &[usize]) {
        let last = from.map_or(0, |(_, mover)| mover);
        let key = hash(&state) ^ u64::from(last).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let nodes = &self.nodes;
        let same = |&at: &u32| nodes[at as usize].last == last && nodes[at as usize].state == state;
        let rehash = |&at: &u32| {
            let node = &nodes[at as usize];
            hash(&node.state) ^ u64::from(node.last).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let at = nodes.len() as u32;
        match self.index.entry(key, same, rehash) {
            hashbrown::hash_table::Entry::Occupied(_) => return,
            hashbrown::hash_table::Entry::Vacant(free) => free.insert(at),
        };
        self.nodes.push(RunNode { state, parent: from.map_or(at, |(parent, _)| parent), last, switches });
        let cost = (switches + self.height(&state)) as usize;
        while self.open.len() <= cost {
            self.open.push(VecDeque::new());
        }
        self.open[cost].push_back(at);
        for &question in wanted.iter().filter(|&&question| self.decisions[question].is_none()).collect::<Vec<_>>() {
            match &self.questions[question].goal {
                StateGoal::State(term, truth) => match self.machine.test(*term, &state, &self.scratch) {
                    Ok(found) if found == *truth => self.decisions[question] = Some(self.run_to(at)),
                    Ok(_) => {}
                    Err(_) => self.without_value[question] = true,
                },
                StateGoal::Race(var, watch) if watch.is_race(*var, &state, self.machine, &self.scratch) => {
                    self.decisions[question] = Some(self.run_to(at));
                }
                StateGoal::Race(..) | StateGoal::Fault | StateGoal::Deadlock => {}
            }
        }
    }

    fn decide(&mut self, at: u32, wanted: &[usize], decides: impl Fn(&StateGoal) -> bool) {
        for &question in wanted {
            if self.decisions[question].is_none() && decides(&self.questions[question].goal) {
                self.decisions[question] = Some(self.run_to(at));
            }
        }
    }

    fn run_to(&self, mut at: u32) -> Vec<State> {
        let mut states = vec![self.machine.codec.unpack(&self.nodes[at as usize].state)];
        while self.nodes[at as usize].parent != at {
            at = self.nodes[at as usize].parent;
            states.push(self.machine.codec.unpack(&self.nodes[at as usize].state));
        }
        states.reverse();
        states
    }

    /// How high the highest stack is.
    fn height(&mut self, state: &Packed<W>) -> u32 {
        let mut highest = 0;
        for (process, heights) in self.heights.iter_mut().enumerate() {
            let Some(frames) = &self.machine.codec.layout.frames[process] else { continue };
            let mut waiting = Vec::new();
            let mut stack = frames.stack.raw(state) as usize;
            while heights.get(stack).is_none_or(|&height| height == 0) && stack != 0 {
                waiting.push(stack);
                stack = self.machine.codec.stacks[process].stack(stack as u32).below as usize;
            }
            let mut height = if stack == 0 { 0 } else { heights[stack] };
            while let Some(stack) = waiting.pop() {
                height += 1;
                if heights.len() <= stack {
                    heights.resize(stack + 1, 0);
                }
                heights[stack] = height;
            }
            highest = highest.max(height);
        }
        highest
    }
}

/// The local stores that were needed on the way to some local states.
pub struct Guide<'s, const W: usize> {
    saturation: &'s Saturation<'s, W>,
    /// By process: the numbers of local stores.
    needed: Vec<FxHashSet<LocalId>>,
}

impl<'s, const W: usize> Guide<'s, W> {
    /// The path back from local states, each of a process, along the origin of each.
    pub fn to(saturation: &'s Saturation<'s, W>, targets: &[(usize, LocalStateId)]) -> Self {
        let mut needed: Vec<FxHashSet<LocalId>> = vec![FxHashSet::default(); saturation.threads.len()];
        let mut seen: FxHashSet<(usize, LocalStateId)> = targets.iter().copied().collect();
        let mut open: Vec<(usize, LocalStateId)> = targets.to_vec();
        while let Some((process, state)) = open.pop() {
            let thread = &saturation.threads[process];
            needed[process].insert(thread.states[state.index()].1);
            let before: Vec<(usize, LocalStateId)> = match thread.origins[state.index()] {
                Origin::Start => Vec::new(),
                Origin::Step(from) | Origin::Called(from) => vec![(process, from)],
                Origin::Returned(caller, exit) => vec![(process, caller), (process, exit)],
                Origin::Interference(from) => {
                    let (store, after) = (thread.states[from.index()].0, thread.states[state.index()].0);
                    let causes = thread.changed_by_others[store.index()].iter().find(|(target, _)| *target == after);
                    let causes = causes.map(|(_, cause)| (cause.process.index(), cause.from));
                    if let Some((mover, from)) = causes {
                        let moved = &saturation.threads[mover];
                        needed[mover].extend(moved.edges_from(from).map(|to| moved.states[to.index()].1));
                        let entries = moved.entries.iter().flatten();
                        let called = entries.filter(|entry| moved.origins[entry.index()] == Origin::Called(from));
                        needed[mover].extend(called.map(|entry| moved.states[entry.index()].1));
                    }
                    causes.into_iter().chain([(process, from)]).collect()
                }
            };
            open.extend(before.into_iter().filter(|&one| seen.insert(one)));
        }
        Guide { saturation, needed }
    }

    /// Whether a process has a local store that was needed.
    fn allows(&self, process: usize, state: &Packed<W>) -> bool {
        let thread = &self.saturation.threads[process];
        let local = thread.locals.position(&and(state, &thread.local_mask));
        local.is_some_and(|local| self.needed[process].contains(&local))
    }
}
