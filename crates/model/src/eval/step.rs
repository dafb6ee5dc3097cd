//! Steps: which actions a process can take in a state, and what comes of them.
//!
//! In: a state. Out: the enabled steps, each with its successor or its fault, in the order of the text, without repeating
//! a (process, statement, successor). A guard is looked at in the state before the step; then the body runs; then control
//! moves. A fault in a guard is a step. A rendezvous is a step of two processes; the sender is the one that moves.

use std::cell::RefCell;
use std::collections::HashSet;

use super::body::{Mover, Path};
use super::{Footprint, Move, State, Step, StepFault, Touch};
use crate::Model;
use crate::control::{ActionId, ChannelId, StatementId, Sync, SyncSide};
use crate::expr::{Access, Expr};
use crate::process::ProcessId;

/// All enabled steps, process by process.
pub fn steps(model: &Model, state: &State) -> Vec<Step> {
    model.processes.ids().flat_map(|process| steps_of(model, state, process)).collect()
}

/// The enabled steps that a process makes: its own, and the rendezvous in which it sends.
pub fn steps_of(model: &Model, state: &State, process: ProcessId) -> Vec<Step> {
    touched_by_process(model, state, process).into_iter().map(|(step, _)| step).collect()
}

/// The enabled steps of all processes, each with the cells that it touches, in the order in which it does.
pub fn touched_by(model: &Model, state: &State) -> Vec<(Step, Vec<Touch>)> {
    model.processes.ids().flat_map(|process| touched_by_process(model, state, process)).collect()
}

/// The enabled steps that a process makes, each with the cells that it touches, in the order in which it does.
pub fn touched_by_process(model: &Model, state: &State, process: ProcessId) -> Vec<(Step, Vec<Touch>)> {
    enabled(Mover { model, me: process, watch: None }, state)
}

/// The same steps, and all that the process's attempts to step depended on and would change, those that came to nothing
/// included.
pub fn attempts_of(model: &Model, state: &State, process: ProcessId) -> (Vec<(Step, Vec<Touch>)>, Footprint) {
    let watch = RefCell::default();
    let steps = enabled(Mover { model, me: process, watch: Some(&watch) }, state);
    (steps, watch.into_inner())
}

/// A statement of the mover and one of its partner, and what comes of them: what makes a step different from others.
type StepKey = (StatementId, Option<(ProcessId, StatementId)>, Result<State, StepFault>);

fn enabled(mover: Mover<'_>, state: &State) -> Vec<(Step, Vec<Touch>)> {
    let Mover { model, me: process, .. } = mover;
    let mut seen: HashSet<StepKey> = HashSet::new();
    let statement = |action: ActionId| model.actions[action].statement;
    let mut found = Vec::new();
    for &action in &model.places[state.place(process)].actions {
        for (by, path) in mover.paths(action, state) {
            let step = Step { by, result: path.fault.map_or(Ok(path.state), Err) };
            let partner = by.partner.map(|(partner, theirs)| (partner, statement(theirs)));
            if seen.insert((statement(action), partner, step.result.clone())) {
                found.push((step, path.touched));
            }
        }
    }
    found
}

impl<'m> Mover<'m> {
    /// The paths of an action from its guard to its end; of a rendezvous, with each partner.
    fn paths(self, action: ActionId, state: &State) -> Vec<(Move, Path)> {
        let by = Move { process: self.me, action, partner: None };
        let Some(path) = self.open(action, state) else { return Vec::new() };
        if path.fault.is_some() {
            return vec![(by, path)];
        }
        let acted = &self.model.actions[action];
        match acted.sync.as_ref().map(|sync| (sync.channel, &sync.side)) {
            None => {
                let paths = self.run(&acted.body, path).into_iter().flat_map(|path| self.finish(action, path));
                paths.map(|path| (by, path)).collect()
            }
            // A receiver moves when a sender does; only a fault in its guard is its own.
            Some((_, SyncSide::Receive(_))) => Vec::new(),
            Some((channel, SyncSide::Send(values))) => {
                let mut met = Vec::new();
                for (partner, theirs, looked_at) in self.receivers(channel, state) {
                    let by = Move { partner: Some((partner.me, theirs)), ..by };
                    let mut path = path.clone();
                    path.touched.extend(looked_at);
                    met.extend(self.rendezvous(by, partner, values, path).into_iter().map(|path| (by, path)));
                }
                met
            }
        }
    }

    /// The actions of others that can receive on the channel now, with what their guards looked at.
    fn receivers(self, channel: ChannelId, state: &State) -> Vec<(Mover<'m>, ActionId, Vec<Touch>)> {
        let mut found = Vec::new();
        for me in self.model.processes.ids().filter(|&other| other != self.me) {
            let partner = Mover { me, ..self };
            for &action in &self.model.places[state.place(me)].actions {
                let receives = |sync: &Sync| sync.channel == channel && matches!(sync.side, SyncSide::Receive(_));
                if self.model.actions[action].sync.as_ref().is_some_and(receives)
                    && let Some(Path { fault: None, touched, .. }) = partner.open(action, state)
                {
                    found.push((partner, action, touched));
                }
            }
        }
        found
    }

    /// The start of a step: `None` where the guard is false.
    fn open(self, action: ActionId, state: &State) -> Option<Path> {
        let mut path = Path::new(state);
        let Some(guard) = &self.model.actions[action].guard else { return Some(path) };
        match self.look(&mut path, |view| view.truth(guard)) {
            Ok(true) => Some(path),
            Ok(false) => None,
            Err(fault) => Some(Path { fault: Some(fault), ..path }),
        }
    }

    /// Both guards are true. Values sent and cells that receive are evaluated in the old state; then the values are
    /// stored, then the receiver's body runs and its control moves, then the sender's.
    fn rendezvous(self, by: Move, partner: Mover<'_>, values: &[Expr], path: Path) -> Vec<Path> {
        let Some((_, theirs)) = by.partner else { unreachable!("a rendezvous has a partner") };
        let received = &self.model.actions[theirs];
        let Some(SyncSide::Receive(accesses)) = received.sync.as_ref().map(|sync| &sync.side) else {
            unreachable!("the partner of a sender receives")
        };
        path.attempt(|path| self.pass(values, partner, accesses, path))
            .into_iter()
            .flat_map(|path| partner.run(&received.body, path))
            .flat_map(|path| partner.finish(theirs, path))
            .flat_map(|path| self.run(&self.model.actions[by.action].body, path))
            .flat_map(|path| self.finish(by.action, path))
            .collect()
    }

    fn pass(
        self,
        values: &[Expr],
        partner: Mover<'_>,
        accesses: &[Access],
        path: &mut Path,
    ) -> Result<Vec<Path>, StepFault> {
        let sent =
            values.iter().map(|value| self.look(path, |view| view.value(value))).collect::<Result<Vec<_>, _>>()?;
        let targets = accesses
            .iter()
            .map(|access| partner.look(path, |view| view.locate(access)))
            .collect::<Result<Vec<_>, _>>()?;
        for ((location, access), value) in targets.into_iter().zip(accesses).zip(sent) {
            partner.store(path, location, value, access)?;
        }
        Ok(vec![path.clone()])
    }
}
