//! Reachability on the whole product, forward and backward: the papers' baselines.
//!
//! In: a [`SymbolicSystem`] and a set of bad states. Out: a run from an initial state to a bad one, or an inductive set that
//! contains the initial states and no bad one. Images are taken command by command, each from what that command was not
//! yet applied to, and added at once ("chaining"), one process after the other, which needs far fewer rounds than going
//! level by level. The sets on the way are kept, so that a run can be read off them.

use base::{Budget, StopReason};
use model::eval::{self, State};

use crate::bdd::{Bdd, OutOfNodes};
use crate::commands::GuardedCommand;
use crate::fair::order::RelationOrder;
use crate::system::SymbolicSystem;

/// Which way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchDirection {
    /// From the initial states.
    Forward,
    /// From the bad states.
    Backward,
}

/// What a search found.
pub enum Reach {
    /// No bad state is reachable: the set is inductive, contains the initial states, and no bad one.
    Safe(Bdd),
    /// The states of a run from an initial state to a bad one; where the bad vector is in the middle of a step, to the last state before it.
    Run(Vec<State>),
}

/// Searches until nothing is new or a bad state is reached; reports the numbers of rounds and nodes to `watch`.
pub fn search(
    system: &SymbolicSystem<'_>,
    bad: &Bdd,
    direction: SearchDirection,
    limits: (&Budget, &dyn Fn(u64, u64)),
) -> Result<Reach, StopReason> {
    let bad = &system.encoding.space.and(bad, &system.valid).map_err(|_| system.out_of_nodes())?;
    let mut search = Reachability { system, direction, rings: Vec::new(), budget: limits.0, watch: limits.1 };
    let (from, to) = match direction {
        SearchDirection::Forward => (&system.initial, bad),
        SearchDirection::Backward => (bad, &system.initial),
    };
    let closed = search.close(from, to)?;
    match closed {
        Closed::Intersects(vector) => {
            let run = if system.encoding.has_turns() {
                search.run_by_actions(vector)
            } else {
                search.run(system.decode(&vector))
            };
            Ok(Reach::Run(run.map_err(|_| system.out_of_nodes())?))
        }
        Closed::Apart(set) => Ok(Reach::Safe(match direction {
            SearchDirection::Forward => set,
            SearchDirection::Backward => {
                system.encoding.space.minus(&system.valid, &set).map_err(|_| system.out_of_nodes())?
            }
        })),
    }
}

enum Closed {
    /// A vector of the target.
    Intersects(Vec<bool>),
    /// Everything that was found.
    Apart(Bdd),
}

struct Reachability<'a, 'm> {
    system: &'a SymbolicSystem<'m>,
    direction: SearchDirection,
    /// What was found after each image, growing.
    rings: Vec<Bdd>,
    budget: &'a Budget,
    watch: &'a dyn Fn(u64, u64),
}

impl Reachability<'_, '_> {
    fn close(&mut self, from: &Bdd, to: &Bdd) -> Result<Closed, StopReason> {
        let space = &self.system.encoding.space;
        let out = |_: OutOfNodes| self.system.out_of_nodes();
        let commands: Vec<&GuardedCommand> = self.system.commands().collect();
        // For each command the states that it was applied to.
        let mut done = vec![space.empty(); commands.len()];
        let mut found = from.clone();
        self.rings.push(found.clone());
        if let Some(vector) = space.pick(&space.and(&found, to).map_err(out)?) {
            return Ok(Closed::Intersects(vector));
        }
        let mut order = RelationOrder::new(commands.iter().map(|command| Some(command.process)));
        while let Some(next) = order.edge() {
            let fresh = space.minus(&found, &done[next]).map_err(out)?;
            done[next] = found.clone();
            let all = space.or(&found, &self.image(commands[next], &fresh).map_err(out)?).map_err(out)?;
            order.applied(all != found);
            if all != found {
                found = all;
                self.rings.push(found.clone());
                // What was found before is not in the target.
                if let Some(vector) = space.pick(&space.and(&found, to).map_err(out)?) {
                    return Ok(Closed::Intersects(vector));
                }
            }
            space.tidy();
            let n_nodes = space.n_nodes() as u64;
            (self.watch)(self.rings.len() as u64, n_nodes);
            self.budget.check(self.system.bytes(n_nodes))?;
        }
        Ok(Closed::Apart(found))
    }

    fn image(&self, command: &GuardedCommand, from: &Bdd) -> Result<Bdd, OutOfNodes> {
        match self.direction {
            _ if from.is_empty() => Ok(self.system.encoding.space.empty()),
            SearchDirection::Forward => self.system.after(command, from),
            SearchDirection::Backward => self.system.before(command, from),
        }
    }

    /// The run through a state of the last ring: back along the rings on the reference semantics.
    fn run(&self, bad: State) -> Result<Vec<State>, OutOfNodes> {
        let mut run = vec![bad];
        let mut ring = self.ring_of(&run[0]);
        while ring > 0 {
            let last = run.last().expect("a run has a state");
            let next = match self.direction {
                SearchDirection::Backward if self.system.encoding.has_choices() => self.step_within(last, ring - 1)?,
                SearchDirection::Backward => self.successor_within(last, ring - 1),
                SearchDirection::Forward => self.predecessor_within(last, ring - 1)?,
            };
            self.system.encoding.space.tidy();
            // Rings are built by images of commands, which are compared with the reference semantics for ever; should they
            // differ, the run is cut short here and `audit` refuses it.
            let Some(next) = next else { break };
            ring = self.ring_of(&next);
            run.push(next);
        }
        if self.direction == SearchDirection::Forward {
            run.reverse();
        }
        Ok(run)
    }

    fn ring_of(&self, state: &State) -> usize {
        self.ring_of_vector(&self.system.vector(state))
    }

    fn ring_of_vector(&self, vector: &[bool]) -> usize {
        self.rings.partition_point(|ring| !ring.contains(vector))
    }

    /// The run through a vector of the last ring where steps have several actions: from vector to vector along the rings. Its states are the
    /// vectors at rest.
    fn run_by_actions(&self, bad: Vec<bool>) -> Result<Vec<State>, OutOfNodes> {
        let space = &self.system.encoding.space;
        let mut ring = self.ring_of_vector(&bad);
        let mut run = vec![bad];
        while ring > 0 {
            let last = run.last().expect("a run has a vector");
            let here = self.system.set_of_vector(last)?;
            let mut next = None;
            for command in self.system.commands() {
                let near = match self.direction {
                    SearchDirection::Forward => self.system.before(command, &here)?,
                    SearchDirection::Backward => self.system.after(command, &here)?,
                };
                next = space.pick(&space.and(&near, &self.rings[ring - 1])?);
                if next.is_some() {
                    break;
                }
            }
            space.tidy();
            // As above: should diagrams contradict each other, `audit` refuses the run.
            let Some(next) = next else { break };
            ring = self.ring_of_vector(&next);
            run.push(next);
        }
        if self.direction == SearchDirection::Forward {
            run.reverse();
        }
        let states = run.iter().filter(|vector| self.system.at_rest.contains(vector));
        Ok(states.map(|vector| self.system.decode(vector)).collect())
    }

    fn successor_within(&self, state: &State, ring: usize) -> Option<State> {
        let successors = eval::steps(self.system.model, state).into_iter().filter_map(|step| step.result.ok());
        successors.min_by_key(|state| self.ring_of(state)).filter(|state| self.ring_of(state) <= ring)
    }

    /// As [`Reachability::successor_within`], where a state has too many successors to list.
    fn step_within(&self, state: &State, ring: usize) -> Result<Option<State>, OutOfNodes> {
        self.system.successor_within(state, &self.rings[..=ring])
    }

    fn predecessor_within(&self, state: &State, ring: usize) -> Result<Option<State>, OutOfNodes> {
        let space = &self.system.encoding.space;
        let here = self.system.encode(state)?;
        for command in self.system.commands() {
            let before = self.system.before(command, &here)?;
            if let Some(found) = self.system.pick(&space.and(&before, &self.rings[ring])?) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
