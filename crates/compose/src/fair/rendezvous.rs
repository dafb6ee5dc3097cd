//! What to expose of two processes that could have a rendezvous.
//!
//! In: an abstract run, and a turn in it that only some local states of the processes allow that could take part in it. Out: facts about one of them: which
//! local states allow the turn with some local states of the other; where all do, which ones allow it with one of them. A stutter is allowed by
//! local states that give the mover no rendezvous. Where no turn and no fairness assumption says what to expose, any local states
//! that the run leaves open are told apart, so that there is an end: what is exposed at all points is a run of the program.

use base::StopReason;
use evidence::certificate::LocalFact;
use model::control::{ChannelId, SyncSide, TextOwner};
use model::eval::{Turn, likely_steps_of};
use model::process::ProcessId;

use super::backend::{AbstractPoint, AbstractRun, FairBackend};
use super::facts::separating_fact;
use super::locals::LocalState;
use super::refine::{ProcessFacts, Refinement};

/// A process with some of its local states.
struct Side {
    process: ProcessId,
    locals: Vec<LocalState>,
}

impl<B: FairBackend> Refinement<'_, '_, B> {
    /// The processes with which one may have a rendezvous, whichever sends.
    pub(super) fn partners(&self, process: ProcessId) -> Vec<ProcessId> {
        let model = self.locals.model;
        let sides = |process: ProcessId| {
            let family = TextOwner::Family(model.processes[process].family);
            let own = model.actions.iter().filter(move |action| action.scope == family);
            own.filter_map(|action| action.sync.as_ref())
                .map(|sync| (sync.channel, matches!(sync.side, SyncSide::Send(_))))
        };
        let can_step_with = |other: &ProcessId| {
            let fits = |(channel, sends): (ChannelId, bool)| sides(*other).any(|theirs| theirs == (channel, !sends));
            *other != process && sides(process).any(fits)
        };
        model.processes.ids().filter(can_step_with).collect()
    }

    /// Facts for a rendezvous, or for a stutter of the focus.
    pub(super) fn of_joint_turn(&mut self, run: &AbstractRun, at: usize) -> Result<ProcessFacts, StopReason> {
        let turn = &run.turns[at];
        let Some(partner) = turn.partner else { return self.of_stutter(run, at) };
        let (point, next) = (&run.points[at], &run.points[run.after(at)]);
        let sender = self.side(run, turn.mover, point)?;
        let receiver = self.side(run, partner, point)?;
        let mut allowed = Vec::new();
        for ours in &sender.locals {
            let row = receiver.locals.iter();
            allowed.push(row.map(|theirs| self.allows_joint(run, at, [ours, theirs], (point, next))).collect());
        }
        Ok(self.telling(&sender, &receiver, &allowed))
    }

    /// Facts for a stutter that a rendezvous could prevent.
    pub(super) fn of_stutter(&mut self, run: &AbstractRun, at: usize) -> Result<ProcessFacts, StopReason> {
        let (mover, point) = (run.turns[at].mover, &run.points[at]);
        let own = self.side(run, mover, point)?;
        for partner in self.partners(mover) {
            let other = self.side(run, partner, point)?;
            let mut free = Vec::new();
            for ours in &own.locals {
                let row = other.locals.iter();
                free.push(row.map(|theirs| !self.have_rendezvous([mover, partner], [ours, theirs], point)).collect());
            }
            let facts = self.telling(&own, &other, &free);
            if !facts.is_empty() {
                return Ok(facts);
            }
        }
        Ok(ProcessFacts::new())
    }

    /// A fact that distinguishes local states which the points of a run leave open, those of the loop first.
    pub(super) fn of_points(&mut self, run: &AbstractRun) -> Result<ProcessFacts, StopReason> {
        for at in (run.loop_from..run.points.len()).chain(0..run.loop_from) {
            for process in self.locals.model.processes.ids().filter(|&process| process != run.focus) {
                let locals = self.backend.locals_at(process, &run.points[at])?;
                let Some(first) = locals.first().cloned() else { continue };
                let is_inside = |local: &LocalState| local.point == first.point;
                let (mut inside, mut outside): (Vec<_>, Vec<_>) = locals.into_iter().partition(is_inside);
                if outside.is_empty() {
                    outside = inside.split_off(1);
                }
                if !outside.is_empty() {
                    return Ok(vec![(process, separating_fact(self.locals, process, &inside, &outside))]);
                }
            }
        }
        Ok(ProcessFacts::new())
    }

    /// The local states of a process at a point of a run.
    fn side(&mut self, run: &AbstractRun, process: ProcessId, point: &AbstractPoint) -> Result<Side, StopReason> {
        let locals = match process == run.focus {
            true => vec![self.locals.read(process, &point.state)],
            false => self.backend.locals_at(process, point)?,
        };
        Ok(Side { process, locals })
    }

    /// Whether two local states allow the rendezvous of a turn.
    fn allows_joint(
        &self,
        run: &AbstractRun,
        at: usize,
        [ours, theirs]: [&LocalState; 2],
        (point, next): (&AbstractPoint, &AbstractPoint),
    ) -> bool {
        let turn = &run.turns[at];
        let Some(partner) = turn.partner else { return false };
        let placed = [(turn.mover, ours.clone()), (partner, theirs.clone())];
        let state = self.locals.with_others_ended(&point.state, &placed);
        likely_steps_of(self.locals.model, &state, turn.mover, Some(&next.state)).into_iter().any(|step| {
            let Ok(after) = step.result else { return false };
            if step.by.partner.map(|(partner, _)| partner) != Some(partner) {
                return false;
            }
            let is_there = |process: ProcessId| {
                let local = self.locals.read(process, &after);
                match process == run.focus {
                    true => local == self.locals.read(process, &next.state),
                    false => self.backend.block_of(process, &local) == next.blocks[process.index()],
                }
            };
            let by = Turn::Step(step.by);
            let is_asked_for = match &turn.own {
                Some(own) => by == *own,
                None => self.conditions.satisfied_by(&by) == turn.satisfied,
            };
            is_asked_for && is_there(turn.mover) && is_there(partner) && self.locals.same_store(&after, &next.state)
        })
    }

    /// Whether two processes in these local states have a rendezvous, whichever sends, be it a fault.
    fn have_rendezvous(
        &self,
        [one, other]: [ProcessId; 2],
        [ours, theirs]: [&LocalState; 2],
        point: &AbstractPoint,
    ) -> bool {
        let state = self.locals.with_others_ended(&point.state, &[(one, ours.clone()), (other, theirs.clone())]);
        [one, other].into_iter().any(|sender| {
            let steps = likely_steps_of(self.locals.model, &state, sender, None);
            steps.iter().any(|step| step.by.partner.is_some())
        })
    }

    /// A fact about one of two processes where only some pairs of their local states are as they should be: `good`, by the first one's.
    fn telling(&self, one: &Side, other: &Side, good: &[Vec<bool>]) -> ProcessFacts {
        let split = |side: &Side, is_good: &dyn Fn(usize) -> bool| -> Option<(ProcessId, LocalFact)> {
            let (inside, outside): (Vec<usize>, Vec<usize>) = (0..side.locals.len()).partition(|&at| is_good(at));
            if inside.is_empty() || outside.is_empty() {
                return None;
            }
            let [inside, outside] = [inside, outside]
                .map(|list| list.into_iter().map(|at| side.locals[at].clone()).collect::<Vec<LocalState>>());
            Some((side.process, separating_fact(self.locals, side.process, &outside, &inside)))
        };
        let of_one = split(one, &|at| good[at].contains(&true));
        let of_other = || split(other, &|at| good.iter().any(|row| row[at]));
        let of_mixed = || good.iter().find_map(|row| split(other, &|at| row[at]));
        let of_column = || (0..other.locals.len()).find_map(|column| split(one, &|at| good[at][column]));
        of_one.or_else(of_other).or_else(of_mixed).or_else(of_column).into_iter().collect()
    }
}
