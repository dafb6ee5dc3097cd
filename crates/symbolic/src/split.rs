//! The strongest split invariants, process by process.
//!
//! In: for each process a set of view states. Out: the least sets that contain these and are closed under the process's own
//! steps and under what the others' steps look like from there. A step of somebody else is an [`Effect`]: the states before it
//! without the mover's local part, and the updates that can be seen. Each process is closed under the effects known so far before
//! the next one is looked at, and only what is new, of states or of effects, is worked on; the order does not change the result.

use std::collections::HashMap;

use base::{Budget, StopReason};
use compose::backend::{Backend, Movers};
use model::process::ProcessId;

use crate::bdd::{Bdd, Cube};
use crate::commands::Updates;
use crate::encoding::Part;
use crate::local::LocalSets;

/// What some steps look like to one process: where they can be taken, and what it sees of the updates.
struct Effect {
    changed: Cube,
    after: Cube,
    /// The states before the steps, as far as the process sees them.
    looks: Bdd,
    /// The process's set and `looks` when the effect was last applied.
    done: (Bdd, Bdd),
}

/// Steps whose effects depend on the local states of others than the one who looks.
struct Summary {
    guard: Bdd,
    /// The movers beside the one who looks.
    others: Vec<ProcessId>,
    hidden: Cube,
    /// Who looks, and the effect at which it shows.
    shows: Vec<(ProcessId, usize)>,
    /// The set of the one other when this was last looked at.
    done: Bdd,
}

/// The fixpoint on its way.
struct Closing<'a, 'm> {
    sets: &'a mut LocalSets<'m>,
    budget: &'a Budget,
    /// For each process its set.
    thetas: &'a mut [Bdd],
    /// For each process what can happen to it.
    effects: Vec<Vec<Effect>>,
    summaries: Vec<Summary>,
    /// For each process the summaries that depend on its set.
    depending: Vec<Vec<usize>>,
}

impl LocalSets<'_> {
    /// Makes the sets, one for each process, the least ones that contain what they have and are closed under all steps.
    pub fn close_split(&mut self, thetas: &mut [Bdd], budget: &Budget) -> Result<(), StopReason> {
        let n_processes = thetas.len();
        let mut closing = Closing {
            sets: self,
            budget,
            thetas,
            effects: (0..n_processes).map(|_| Vec::new()).collect(),
            summaries: Vec::new(),
            depending: vec![Vec::new(); n_processes],
        };
        closing.gather()?;
        closing.close()
    }
}

impl Closing<'_, '_> {
    /// Lists what can happen to each process.
    fn gather(&mut self) -> Result<(), StopReason> {
        let all: Vec<ProcessId> = self.sets.system().model.processes.ids().collect();
        let mut effect_of: Vec<HashMap<Updates, usize>> = vec![HashMap::new(); all.len()];
        let mut summary_of: HashMap<(Movers, usize, Vec<Part>), usize> = HashMap::new();
        for movers in self.sets.movers() {
            let commands = self.sets.commands.get(&movers).cloned().unwrap_or_default();
            for &process in &all {
                if !self.sets.disturbs(movers, &[process]) {
                    continue;
                }
                let others: Vec<ProcessId> = movers.processes().filter(|&mover| mover != process).collect();
                let hidden_parts = self.sets.hidden_parts(movers, process);
                let hidden = self.sets.bdd(self.sets.system().encoding.bits(hidden_parts.iter().copied()))?;
                for (at, command) in commands.iter().enumerate() {
                    let visible: Updates =
                        command.updates.iter().copied().filter(|&(part, _)| self.sets.sees(&[process], part)).collect();
                    if visible.is_empty() {
                        continue;
                    }
                    let effect = self.effect(process, visible, &mut effect_of[process.index()])?;
                    if others.is_empty() {
                        let space = &self.sets.system().encoding.space;
                        let looks = self.sets.bdd(space.exists(&command.guard, &hidden))?;
                        self.add(process, effect, &looks)?;
                        continue;
                    }
                    let key = (movers, at, hidden_parts.clone());
                    let summary = *summary_of.entry(key).or_insert_with(|| {
                        let done = self.sets.empty();
                        let (guard, others) = (command.guard.clone(), others.clone());
                        others.iter().for_each(|other| self.depending[other.index()].push(self.summaries.len()));
                        self.summaries.push(Summary { guard, others, hidden: hidden.clone(), shows: Vec::new(), done });
                        self.summaries.len() - 1
                    });
                    self.summaries[summary].shows.push((process, effect));
                }
            }
        }
        Ok(())
    }

    /// The effect of a process with these updates.
    fn effect(
        &mut self,
        process: ProcessId,
        visible: Updates,
        known: &mut HashMap<Updates, usize>,
    ) -> Result<usize, StopReason> {
        if let Some(&effect) = known.get(&visible) {
            return Ok(effect);
        }
        let (changed, after) = self.sets.cubes_of(visible.clone())?;
        let empty = self.sets.empty();
        let effects = &mut self.effects[process.index()];
        effects.push(Effect { changed, after, looks: empty.clone(), done: (empty.clone(), empty) });
        known.insert(visible, effects.len() - 1);
        Ok(effects.len() - 1)
    }

    /// Adds states before an effect; whether they are new.
    fn add(&mut self, process: ProcessId, effect: usize, looks: &Bdd) -> Result<bool, StopReason> {
        let effect = &mut self.effects[process.index()][effect];
        let all = self.sets.bdd(self.sets.system().encoding.space.or(&effect.looks, looks))?;
        let is_new = all != effect.looks;
        effect.looks = all;
        Ok(is_new)
    }

    fn close(&mut self) -> Result<(), StopReason> {
        let all: Vec<ProcessId> = self.sets.system().model.processes.ids().collect();
        let mut open = vec![true; all.len()];
        while open.contains(&true) {
            for &process in &all {
                if !std::mem::take(&mut open[process.index()]) {
                    continue;
                }
                self.saturate(process)?;
                for at in 0..self.depending[process.index()].len() {
                    let summary = self.depending[process.index()][at];
                    self.look_again(summary, &mut open)?;
                }
            }
        }
        Ok(())
    }

    /// Closes the set of one process under the effects as they are now.
    fn saturate(&mut self, process: ProcessId) -> Result<(), StopReason> {
        let at = process.index();
        let mut idle = 0;
        let mut next = 0;
        while idle < self.effects[at].len() {
            let grown = self.apply(at, next)?;
            idle = if grown { 0 } else { idle + 1 };
            next = (next + 1) % self.effects[at].len();
        }
        Ok(())
    }

    /// Applies an effect to what is new since it was last applied; whether the process's set has grown.
    fn apply(&mut self, at: usize, effect: usize) -> Result<bool, StopReason> {
        let effect = &mut self.effects[at][effect];
        let theta = &self.thetas[at];
        let (old_theta, old_looks) = &effect.done;
        if old_theta == theta && *old_looks == effect.looks {
            return Ok(false);
        }
        let space = &self.sets.system().encoding.space;
        let moved = || {
            let fresh = space.minus(theta, old_theta)?;
            let by_states = space.and_exists(&fresh, &effect.looks, &effect.changed)?;
            let fresh = space.minus(&effect.looks, old_looks)?;
            let by_looks = space.and_exists(old_theta, &fresh, &effect.changed)?;
            let moved = space.and(&space.or(&by_states, &by_looks)?, &space.set_of(&effect.after))?;
            space.or(theta, &moved)
        };
        let all = self.sets.bdd(moved())?;
        effect.done = (theta.clone(), effect.looks.clone());
        let grown = all != *theta;
        self.thetas[at] = all;
        space.tidy();
        self.budget.check(self.sets.memory_bytes())?;
        Ok(grown)
    }

    /// Takes what is new in the sets of movers into account; marks those to whom it shows.
    fn look_again(&mut self, summary: usize, open: &mut [bool]) -> Result<(), StopReason> {
        let Summary { guard, others, hidden, done, .. } = &self.summaries[summary];
        let space = &self.sets.system().encoding.space;
        let latest = self.thetas[others[0].index()].clone();
        let looks = match others.as_slice() {
            [_] => {
                let fresh = self.sets.bdd(space.minus(&latest, done))?;
                self.sets.bdd(space.and_exists(guard, &fresh, hidden))?
            }
            others => {
                let mut before = guard.clone();
                for other in others {
                    before = self.sets.bdd(space.and(&before, &self.thetas[other.index()]))?;
                }
                self.sets.bdd(space.exists(&before, hidden))?
            }
        };
        self.summaries[summary].done = latest;
        if looks.is_empty() {
            return Ok(());
        }
        for at in 0..self.summaries[summary].shows.len() {
            let (process, effect) = self.summaries[summary].shows[at];
            open[process.index()] |= self.add(process, effect, &looks)?;
        }
        self.budget.check(self.sets.memory_bytes())
    }
}
