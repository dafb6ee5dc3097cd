//! The strongest split invariants, process by process.
//!
//! In: for each process a set of view states. Out: the least sets that contain these and are closed under the process's
//! own steps and under the interference of the others. A step of another process is a [`SplitEffect`]: the states
//! before it without the mover's local part, and the updates that can be seen. Each process is closed under the effects
//! known so far before the next one is treated, and only what is new, of states or of effects, is worked on; the order
//! does not change the result.

use std::collections::HashMap;
use std::rc::Rc;

use base::{Budget, StopReason};
use compose::backend::{Backend, Movers};
use compose::k_index::KIndexPlan;
use compose::symmetry::Symmetry;
use model::process::ProcessId;

use crate::bdd::{Bdd, Cube, Renaming};
use crate::change::{DiagramUpdate, Updates};
use crate::commands::GuardedCommand;
use crate::encoding::FieldContent;
use crate::fair::order::RelationOrder;
use crate::local::LocalSets;

/// Some steps as one process sees them: where they can be taken, and what it sees of the updates.
struct SplitEffect {
    /// The first process that was found to have it.
    mover: Option<ProcessId>,
    change: DiagramUpdate,
    /// The states before the steps, as far as the process sees them; where values of wide cells are carried, with these.
    guard: Bdd,
    /// The process's set and `guard` when the effect was last applied.
    done: (Bdd, Bdd),
}

/// Steps whose effects depend on the local states of others than the watcher.
struct EffectSummary {
    guard: Bdd,
    /// The movers beside the watcher, by the positions of their sets.
    others: Vec<usize>,
    hidden: Cube,
    shows: Vec<Show>,
    /// The set of the one other when this was last applied.
    done: Bdd,
}

/// A watcher that sees a summary.
struct Show {
    /// The watcher, by the position of its set.
    watcher: usize,
    effect: usize,
    /// If a symmetric process represents the mover: the renaming to the mover, and the variables that it hides.
    image: Option<(Rc<Renaming>, Cube)>,
}

/// The fixpoint on its way.
struct SplitFixpoint<'a, 'm> {
    sets: &'a mut LocalSets<'m>,
    budget: &'a Budget,
    /// The processes whose sets are computed.
    watchers: Vec<ProcessId>,
    /// For each of them its set.
    thetas: &'a mut [Bdd],
    /// For each of them what can happen to it.
    effects: Vec<Vec<SplitEffect>>,
    /// For each of them which effect has these updates.
    known: Vec<HashMap<Updates, usize>>,
    summaries: Vec<EffectSummary>,
    /// For each of them the summaries that depend on its set.
    depending: Vec<Vec<usize>>,
}

impl LocalSets<'_> {
    /// Makes the sets the least ones that contain what they have and are closed under all steps.
    pub(crate) fn close_split(
        &mut self,
        plan: &KIndexPlan<'_>,
        thetas: &mut [Bdd],
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let watchers: Vec<ProcessId> = plan.groups[..plan.n_representatives].iter().map(|group| group[0]).collect();
        let n_watchers = watchers.len();
        let mut closing = SplitFixpoint {
            sets: self,
            budget,
            watchers,
            thetas,
            effects: (0..n_watchers).map(|_| Vec::new()).collect(),
            known: vec![HashMap::new(); n_watchers],
            summaries: Vec::new(),
            depending: vec![Vec::new(); n_watchers],
        };
        match &plan.symmetry {
            None => closing.gather()?,
            Some(symmetry) => closing.gather_images(symmetry)?,
        }
        closing.close()?;
        for at in plan.n_representatives..plan.groups.len() {
            let symmetry = plan.symmetry.as_ref().expect("only images are beyond the listed groups");
            let first = symmetry.representative(&plan.groups[at]);
            let from = plan.groups.iter().position(|group| *group == first).expect("every family is listed");
            let permutation = symmetry.permutation(&first, &plan.groups[at]);
            thetas[at] = self.renamed(&thetas[from].clone(), &first, (symmetry, &permutation))?;
        }
        Ok(())
    }
}

impl SplitFixpoint<'_, '_> {
    /// Lists what can happen to each process.
    fn gather(&mut self) -> Result<(), StopReason> {
        let mut summary_of: HashMap<(Movers, usize, Vec<FieldContent>), usize> = HashMap::new();
        for movers in self.sets.movers() {
            let commands = self.sets.commands.get(&movers).cloned().unwrap_or_default();
            for watcher in 0..self.watchers.len() {
                let process = self.watchers[watcher];
                if !self.sets.interferes(movers, &[process]) {
                    continue;
                }
                let others: Vec<usize> =
                    movers.processes().filter(|&mover| mover != process).map(ProcessId::index).collect();
                let hidden_parts = self.sets.hidden_parts(movers, process);
                let hidden = self.sets.bdd(self.sets.system().encoding.all_bits(hidden_parts.iter().copied()))?;
                for (at, command) in commands.iter().enumerate() {
                    let Some(effect) = self.effect(watcher, &command.updates, movers.process)? else { continue };
                    if others.is_empty() {
                        self.add_own(watcher, effect, (command, &hidden))?;
                        continue;
                    }
                    let summary = *summary_of
                        .entry((movers, at, hidden_parts.clone()))
                        .or_insert_with(|| self.summary(command, &others, &hidden));
                    self.summaries[summary].shows.push(Show { watcher, effect, image: None });
                }
            }
        }
        Ok(())
    }

    /// Gathers the interference with each process that represents its family, where others do what these do.
    fn gather_images(&mut self, symmetry: &Symmetry<'_>) -> Result<(), StopReason> {
        for first in 0..self.watchers.len() {
            let mover = self.watchers[first];
            let movers = Movers { process: mover, partner: None };
            let commands = self.sets.commands.get(&movers).cloned().unwrap_or_default();
            let nothing = self.sets.bdd(self.sets.system().encoding.bits([]))?;
            let own = self.sets.local_parts(mover);
            let own = self.sets.bdd(self.sets.system().encoding.all_bits(own))?;
            for command in &commands {
                if let Some(effect) = self.effect(first, &command.updates, mover)? {
                    self.add_own(first, effect, (command, &nothing))?;
                }
                let summary = self.summary(command, &[first], &own);
                let model = self.sets.system().model;
                for other in model.families[model.processes[mover].family].processes() {
                    self.show_images(summary, (symmetry, other), command)?;
                }
            }
        }
        Ok(())
    }

    /// Shows a summary of the first process of a family, as that of a symmetric one, to all others.
    fn show_images(
        &mut self,
        summary: usize,
        (symmetry, other): (&Symmetry<'_>, ProcessId),
        command: &GuardedCommand,
    ) -> Result<(), StopReason> {
        let permutation = symmetry.permutation(&[command.process], &[other]);
        let updates = self.sets.updates_image((symmetry, &permutation), &command.updates);
        for watcher in 0..self.watchers.len() {
            if self.watchers[watcher] == other {
                continue;
            }
            let Some(effect) = self.effect(watcher, &updates, other)? else { continue };
            let renaming = self.sets.renaming((symmetry, &permutation))?;
            let movers = Movers { process: other, partner: None };
            let hidden = self.sets.hidden_parts(movers, self.watchers[watcher]);
            let hidden = self.sets.bdd(self.sets.system().encoding.all_bits(hidden))?;
            self.summaries[summary].shows.push(Show { watcher, effect, image: Some((renaming, hidden)) });
        }
        Ok(())
    }

    fn summary(&mut self, command: &GuardedCommand, others: &[usize], hidden: &Cube) -> usize {
        let at = self.summaries.len();
        others.iter().for_each(|&other| self.depending[other].push(at));
        let (guard, done) = (command.guard.clone(), self.sets.empty());
        let (others, hidden) = (others.to_vec(), hidden.clone());
        self.summaries.push(EffectSummary { guard, others, hidden, shows: Vec::new(), done });
        at
    }

    /// The effect that these updates have on a watcher, if it sees any of them.
    fn effect(&mut self, watcher: usize, updates: &Updates, mover: ProcessId) -> Result<Option<usize>, StopReason> {
        let process = self.watchers[watcher];
        let visible: Updates = updates.iter().copied().filter(|&(part, _)| self.sets.sees(&[process], part)).collect();
        if visible.is_empty() {
            return Ok(None);
        }
        if let Some(&effect) = self.known[watcher].get(&visible) {
            return Ok(Some(effect));
        }
        let change = self.sets.change_of(visible.clone())?;
        let empty = self.sets.empty();
        let effects = &mut self.effects[watcher];
        let mover = Some(mover);
        effects.push(SplitEffect { mover, change, guard: empty.clone(), done: (empty.clone(), empty) });
        self.known[watcher].insert(visible, effects.len() - 1);
        Ok(Some(effects.len() - 1))
    }

    fn add_own(
        &mut self,
        watcher: usize,
        effect: usize,
        (command, hidden): (&GuardedCommand, &Cube),
    ) -> Result<(), StopReason> {
        let guard = self.sets.bdd(self.sets.system().encoding.space.exists(&command.guard, hidden))?;
        self.add(watcher, effect, &guard).map(|_| ())
    }

    /// Adds states before an effect; whether they are new.
    fn add(&mut self, watcher: usize, effect: usize, guard: &Bdd) -> Result<bool, StopReason> {
        let effect = &mut self.effects[watcher][effect];
        let all = self.sets.bdd(self.sets.system().encoding.space.or(&effect.guard, guard))?;
        let is_new = all != effect.guard;
        effect.guard = all;
        Ok(is_new)
    }

    fn close(&mut self) -> Result<(), StopReason> {
        let mut open = vec![true; self.watchers.len()];
        while open.contains(&true) {
            for watcher in 0..open.len() {
                if !std::mem::take(&mut open[watcher]) {
                    continue;
                }
                self.saturate(watcher)?;
                for at in 0..self.depending[watcher].len() {
                    self.update_summary(self.depending[watcher][at], &mut open)?;
                }
            }
        }
        Ok(())
    }

    /// Closes the set of one process under the effects as they are now.
    fn saturate(&mut self, at: usize) -> Result<(), StopReason> {
        let mut order = RelationOrder::new(self.effects[at].iter().map(|effect| effect.mover));
        while let Some(next) = order.edge() {
            let grown = self.apply(at, next)?;
            order.applied(grown);
        }
        Ok(())
    }

    /// Applies an effect to what is new since it was last applied; whether the process's set has grown.
    fn apply(&mut self, at: usize, effect: usize) -> Result<bool, StopReason> {
        let effect = &mut self.effects[at][effect];
        let theta = &self.thetas[at];
        let (old_theta, old_guard) = &effect.done;
        if old_theta == theta && *old_guard == effect.guard {
            return Ok(false);
        }
        let space = &self.sets.system().encoding.space;
        let moved = || {
            let fresh = space.minus(theta, old_theta)?;
            let by_states = space.and_exists(&fresh, &effect.guard, effect.change.changed())?;
            let fresh = space.minus(&effect.guard, old_guard)?;
            let by_guard = space.and_exists(old_theta, &fresh, effect.change.changed())?;
            let moved = effect.change.settled(space, &space.or(&by_states, &by_guard)?)?;
            space.or(theta, &moved)
        };
        let all = self.sets.bdd(moved())?;
        effect.done = (theta.clone(), effect.guard.clone());
        let grown = all != *theta;
        self.thetas[at] = all;
        space.tidy();
        self.budget.check(self.sets.memory_bytes())?;
        Ok(grown)
    }

    /// Takes what is new in the sets of movers into account; marks the watchers that see it.
    fn update_summary(&mut self, summary: usize, open: &mut [bool]) -> Result<(), StopReason> {
        let EffectSummary { guard, others, hidden, done, .. } = &self.summaries[summary];
        let space = &self.sets.system().encoding.space;
        let latest = self.thetas[others[0]].clone();
        let guard = match others.as_slice() {
            [_] => {
                let fresh = self.sets.bdd(space.minus(&latest, done))?;
                self.sets.bdd(space.and_exists(guard, &fresh, hidden))?
            }
            others => {
                let mut before = guard.clone();
                for other in others {
                    before = self.sets.bdd(space.and(&before, &self.thetas[*other]))?;
                }
                self.sets.bdd(space.exists(&before, hidden))?
            }
        };
        self.summaries[summary].done = latest;
        if guard.is_empty() {
            return Ok(());
        }
        for at in 0..self.summaries[summary].shows.len() {
            let Show { watcher, effect, image } = &self.summaries[summary].shows[at];
            let (watcher, effect) = (*watcher, *effect);
            let space = &self.sets.system().encoding.space;
            let guard = match image {
                None => guard.clone(),
                Some((renaming, hidden)) => {
                    let renamed = self.sets.bdd(space.rename(&guard, renaming))?;
                    self.sets.bdd(space.exists(&renamed, hidden))?
                }
            };
            open[watcher] |= self.add(watcher, effect, &guard)?;
        }
        self.budget.check(self.sets.memory_bytes())
    }
}
