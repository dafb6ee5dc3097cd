//! Shortest runs to a goal, with the fewest context switches among the shortest.
//!
//! In: the levels of a search, and a goal that states of the last one (or their steps) meet. Out: a run. No parents are
//! stored, so the levels are walked backwards: the *cone* is the set of states on shortest runs to the goal, found level by
//! level by taking the steps of all states once more. For each state of the cone the fewest switches on the way to the goal
//! are known, and the processes that can move first on such a way; that is enough, because to go on with another process
//! costs one switch, and no way is worth more than one. Then the run is read off forwards, by the first process and the
//! first step where there are several, so that it does not depend on the order in which threads found states.
//!
//! The cone may be too large, or time too short for it: then any shortest run has to do, found backwards one state at a
//! time, which needs no memory.

use std::collections::HashMap;

use base::StopReason;
use evidence::Trace;
use model::process::ProcessId;
use rustc_hash::FxBuildHasher;

use crate::patience::Patience;
use crate::run::{self, StateRun};
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::StateGoal;
use packed::shard::Shard;

/// The search whose levels are walked.
#[derive(Clone, Copy)]
pub struct SearchLevels<'a, const W: usize> {
    /// The program.
    pub machine: &'a Machine<'a>,
    /// The states.
    pub states: &'a dyn LevelStates<W>,
    /// The limits.
    pub meter: &'a Meter<'a>,
}

/// What a search keeps the states of each level in.
pub trait LevelStates<const W: usize> {
    /// The states of a level.
    fn states<'s>(&'s self, depth: usize) -> Box<dyn Iterator<Item = Result<Packed<W>, StopReason>> + 's>;
}

impl<const W: usize> LevelStates<W> for Vec<Shard<W>> {
    fn states<'s>(&'s self, depth: usize) -> Box<dyn Iterator<Item = Result<Packed<W>, StopReason>> + 's> {
        Box::new(self.iter().flat_map(move |shard| shard.states(depth)))
    }
}

/// A set of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSet {
    first: u64,
    /// Processes from the 65th on.
    more: Box<[u64]>,
}

impl ProcessSet {
    fn none(n_processes: usize) -> Self {
        ProcessSet { first: 0, more: vec![0; n_processes.saturating_sub(1) / 64].into() }
    }

    fn all(n_processes: usize) -> Self {
        ProcessSet { first: u64::MAX, more: vec![u64::MAX; n_processes.saturating_sub(1) / 64].into() }
    }

    fn word(&mut self, process: ProcessId) -> &mut u64 {
        match process.index() / 64 {
            0 => &mut self.first,
            at => &mut self.more[at - 1],
        }
    }

    fn insert(&mut self, process: ProcessId) {
        *self.word(process) |= 1 << (process.index() % 64);
    }

    fn clear(&mut self) {
        self.first = 0;
        self.more.fill(0);
    }

    fn contains(&self, process: ProcessId) -> bool {
        let word = match process.index() / 64 {
            0 => self.first,
            at => self.more[at - 1],
        };
        (word >> (process.index() % 64)) & 1 != 0
    }

    fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|&word| word == 0)
    }
}

/// What is known about a state of the cone.
#[derive(Clone, Debug)]
struct Distance {
    /// Its level.
    depth: usize,
    /// The fewest switches on a shortest way from here to the goal.
    n_switches: u32,
    /// Who can move first on such a way.
    movers: ProcessSet,
}

impl Distance {
    /// The switches of a way that comes here by a step of the process.
    fn n_switches_after(&self, process: ProcessId) -> u32 {
        self.n_switches + u32::from(!self.movers.contains(process))
    }
}

type Cone<const W: usize> = HashMap<Packed<W>, Distance, FxBuildHasher>;

/// A shortest run to the goal, which states of this level meet.
pub fn trace<const W: usize>(levels: SearchLevels<'_, W>, goal: &StateGoal, depth: usize) -> Result<Trace, StopReason> {
    let walker = ConeWalker { levels, goal, scratch: levels.machine.scratch() };
    let run = match walker.cone(depth) {
        Ok(cone) => walker.forwards(&cone, depth),
        Err(reason) => walker.plain(depth, reason)?,
    };
    Ok(run.shown(levels.machine, goal))
}

struct ConeWalker<'a, const W: usize> {
    levels: SearchLevels<'a, W>,
    goal: &'a StateGoal,
    scratch: Scratch<W>,
}

impl<const W: usize> ConeWalker<'_, W> {
    fn n_processes(&self) -> usize {
        self.levels.machine.codec.model.processes.len()
    }

    /// The states of a level.
    fn states(&self, depth: usize) -> impl Iterator<Item = Result<Packed<W>, StopReason>> {
        self.levels.states.states(depth)
    }

    /// Whether a state meets the goal: then who may move next without a switch.
    fn at_goal(&self, state: &Packed<W>) -> Option<ProcessSet> {
        let machine = self.levels.machine;
        let meets = match self.goal {
            StateGoal::State(term, wanted) => machine.test(*term, state, &self.scratch) == Ok(*wanted),
            StateGoal::Race(var, watch) => watch.is_race(*var, state, machine, &self.scratch),
            StateGoal::Deadlock => run::is_deadlock(machine, state, &self.scratch),
            StateGoal::Fault => {
                let mut faults = FaultCollector { movers: ProcessSet::none(self.n_processes()) };
                let _continues = machine.expand(state, &self.scratch, &mut faults);
                return (!faults.movers.is_empty()).then_some(faults.movers);
            }
        };
        meets.then(|| ProcessSet::all(self.n_processes()))
    }

    /// All states on shortest runs to the goal.
    fn cone(&self, depth: usize) -> Result<Cone<W>, StopReason> {
        let mut cone = Cone::default();
        let mut checkpoint = Checkpoint { meter: self.levels.meter, n_steps: 0, bytes: 0 };
        for state in self.states(depth) {
            let state = state?;
            checkpoint.pass(&cone)?;
            if let Some(movers) = self.at_goal(&state) {
                cone.insert(state, Distance { depth, n_switches: 0, movers });
            }
        }
        for depth in (0..depth).rev() {
            for state in self.states(depth) {
                let state = state?;
                checkpoint.pass(&cone)?;
                let movers = ProcessSet::none(self.n_processes());
                let way = Distance { depth, n_switches: u32::MAX, movers };
                let mut ways = WayCollector { cone: &cone, way, meter: self.levels.meter, refused: None };
                let _continues = self.levels.machine.expand(&state, &self.scratch, &mut ways);
                let WayCollector { way, refused, .. } = ways;
                if let Some(reason) = refused {
                    return Err(reason);
                }
                if way.n_switches < u32::MAX {
                    cone.insert(state, way);
                }
            }
        }
        Ok(cone)
    }

    /// Reads a run off the cone.
    fn forwards(&self, cone: &Cone<W>, depth: usize) -> StateRun<W> {
        let machine = self.levels.machine;
        let fewest = cone.values().filter(|way| way.depth == 0).map(|way| way.n_switches).min();
        let is_best =
            |state: &Packed<W>| cone.get(state).is_some_and(|way| way.depth == 0 && Some(way.n_switches) == fewest);
        let first = InitialStates::new(machine.codec).find(is_best).expect("a run to the goal has a first state");
        let mut run = StateRun { states: vec![first], movers: Vec::new(), last: None };
        let mut state = first;
        for _ in 0..depth {
            let way = &cone[&state];
            let mover = self.next_mover(way, run.movers.last().copied());
            let mut onward = Onward { cone, way, next: None };
            let _found = machine.expand_process(mover, &state, &self.scratch, &mut onward);
            state = onward.next.expect("a state of the cone has a step to the next level of the cone");
            run.states.push(state);
            run.movers.push(mover);
        }
        if matches!(self.goal, StateGoal::Fault) {
            run.last = Some(self.next_mover(&cone[&state], run.movers.last().copied()));
        }
        run
    }

    /// The process that moved last if it can go on, else the first that can.
    fn next_mover(&self, way: &Distance, last: Option<ProcessId>) -> ProcessId {
        let processes = self.levels.machine.codec.model.processes.ids();
        last.into_iter()
            .chain(processes)
            .find(|&process| way.movers.contains(process))
            .expect("somebody moves on the way to the goal")
    }

    /// Any shortest run, found without memory; there is little time for it.
    fn plain(&self, depth: usize, reason: StopReason) -> Result<StateRun<W>, StopReason> {
        let mut patience = Patience::new(reason);
        let mut met = None;
        for state in self.states(depth) {
            let state = state?;
            patience.pass()?;
            if let Some(movers) = self.at_goal(&state) {
                met = Some((state, movers));
                break;
            }
        }
        let (goal, movers) = met.expect("a state of this level meets the goal");
        let mut run = StateRun { states: vec![goal], movers: Vec::new(), last: None };
        if matches!(self.goal, StateGoal::Fault) {
            run.last = Some(self.next_mover(&Distance { depth, n_switches: 0, movers }, None));
        }
        for depth in (0..depth).rev() {
            let (state, mover) = self.predecessor(depth, run.states[run.states.len() - 1], &mut patience)?;
            run.states.push(state);
            run.movers.push(mover);
        }
        run.states.reverse();
        run.movers.reverse();
        Ok(run)
    }

    /// A state of a level with a step to the target, and whose step it is.
    fn predecessor(
        &self,
        depth: usize,
        target: Packed<W>,
        patience: &mut Patience,
    ) -> Result<(Packed<W>, ProcessId), StopReason> {
        for state in self.states(depth) {
            let state = state?;
            patience.pass()?;
            let mut to = To { target, by: None, patience };
            let _found = self.levels.machine.expand(&state, &self.scratch, &mut to);
            if let Some(mover) = to.by {
                return Ok((state, mover));
            }
        }
        // There is one; only when time ran out in the middle of a state's steps it may have been missed.
        Err(patience.reason())
    }
}

/// Looks at the limits now and then.
struct Checkpoint<'a> {
    meter: &'a Meter<'a>,
    n_steps: u64,
    /// What the meter knows of the cone.
    bytes: u64,
}

impl Checkpoint<'_> {
    fn pass<const W: usize>(&mut self, cone: &Cone<W>) -> Result<(), StopReason> {
        self.n_steps += 1;
        if !self.n_steps.is_multiple_of(64) {
            return Ok(());
        }
        let entry = size_of::<Packed<W>>() + size_of::<Distance>() + 1;
        let bytes = (cone.capacity() * entry) as u64;
        self.meter.add(bytes.saturating_sub(self.bytes));
        self.bytes = self.bytes.max(bytes);
        // A map that grows holds its old and its new table for a moment.
        let grows = cone.len() + 64 > cone.capacity();
        self.meter.permits(if grows { 2 * bytes } else { 0 })
    }
}

impl Drop for Checkpoint<'_> {
    fn drop(&mut self) {
        self.meter.remove(self.bytes);
    }
}

/// Collects whose steps are faults.
struct FaultCollector {
    movers: ProcessSet,
}

impl<const W: usize> Sink<W> for FaultCollector {
    fn successor(&mut self, _process: ProcessId, _next: &Packed<W>) -> Flow {
        Flow::Continue(())
    }

    fn faults(&mut self, process: ProcessId, _n_faults: u64) -> Flow {
        self.movers.insert(process);
        Flow::Continue(())
    }
}

/// Collects the best ways from a state into the cone.
struct WayCollector<'a, const W: usize> {
    cone: &'a Cone<W>,
    way: Distance,
    meter: &'a Meter<'a>,
    refused: Option<StopReason>,
}

impl<const W: usize> Sink<W> for WayCollector<'_, W> {
    fn pause(&mut self, bytes: u64) -> Flow {
        self.refused = self.meter.permits(bytes).err();
        if self.refused.is_some() { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let Some(onward) = self.cone.get(next).filter(|onward| onward.depth == self.way.depth + 1) else {
            return Flow::Continue(());
        };
        let n_switches = onward.n_switches_after(process);
        if n_switches < self.way.n_switches {
            self.way.n_switches = n_switches;
            self.way.movers.clear();
        }
        if n_switches == self.way.n_switches {
            self.way.movers.insert(process);
        }
        Flow::Continue(())
    }
}

/// Finds the first step that goes on along a best way.
struct Onward<'a, const W: usize> {
    cone: &'a Cone<W>,
    way: &'a Distance,
    next: Option<Packed<W>>,
}

impl<const W: usize> Sink<W> for Onward<'_, W> {
    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let onward = self.cone.get(next).filter(|onward| onward.depth == self.way.depth + 1);
        if onward.is_some_and(|onward| onward.n_switches_after(process) == self.way.n_switches) {
            self.next = Some(*next);
            return Flow::Break(());
        }
        Flow::Continue(())
    }
}

/// Finds a step to one state.
struct To<'a, const W: usize> {
    target: Packed<W>,
    by: Option<ProcessId>,
    patience: &'a mut Patience,
}

impl<const W: usize> Sink<W> for To<'_, W> {
    fn pause(&mut self, _bytes: u64) -> Flow {
        if self.patience.is_over() { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        if *next == self.target {
            self.by = Some(process);
            return Flow::Break(());
        }
        Flow::Continue(())
    }
}
