//! Steps: which actions a process can take in a state, and what comes of them.
//!
//! In: a state. Out: the enabled steps, each with its successor or its fault, in the order of the text, without repeating
//! a (process, statement, successor). A guard is looked at in the state before the step; then the body runs; then control
//! moves. A fault in a guard is a step. A rendezvous is a step of two processes; the sender is the one that moves.
//!
//! A step is a chain of such links where an action goes on: the process that the last link leaves the turn to takes any of its
//! enabled actions, and where it has none the chain ends. Whether a step is enabled depends on its first link alone. A chain that
//! comes back to a state that it has passed, with the same process to go on, is a fault.

use std::cell::RefCell;
use std::collections::HashSet;

use super::body::{Mover, Path};
use super::{Footprint, Link, Move, State, Step, StepFault, Touch};
use crate::Model;
use crate::control::{ActionId, ChannelId, Pattern, StatementId, Sync, SyncSide};
use crate::expr::Expr;
use crate::process::ProcessId;
use crate::value::Fault;

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

/// A statement of the mover and one of its partner.
type LinkKey = (StatementId, Option<(ProcessId, StatementId)>);

/// The statements of a step and what comes of them: what makes it different from others.
type StepKey = (Vec<LinkKey>, Result<State, StepFault>);

fn enabled(mover: Mover<'_>, state: &State) -> Vec<(Step, Vec<Touch>)> {
    let model = mover.model;
    let mut seen: HashSet<StepKey> = HashSet::new();
    let statement = |action: ActionId| model.actions[action].statement;
    let key = |link: Link| (statement(link.action), link.partner.map(|(partner, theirs)| (partner, statement(theirs))));
    let mut found = Vec::new();
    for Chain { by, path, .. } in mover.chains(state) {
        let step = Step { by, result: path.fault.map_or(Ok(path.state), Err) };
        if seen.insert((step.by.links().map(key).collect(), step.result.clone())) {
            found.push((step, path.touched));
        }
    }
    found
}

/// A step under way.
struct Chain {
    /// Its links so far.
    by: Move,
    /// Where they lead.
    path: Path,
    /// Who had the turn in which state after each link but the last.
    passed: Vec<(ProcessId, State)>,
}

impl Chain {
    /// The chain without its end, and the process that goes on with it; `Err` where it is over.
    fn open(mut self, model: &Model) -> Result<(Chain, ProcessId), Chain> {
        let last = self.by.then.last().copied().unwrap_or(self.by.first());
        let Some(holder) = last.leaves_turn_to(model).filter(|_| self.path.fault.is_none()) else { return Err(self) };
        let here = (holder, self.path.state.clone());
        if self.passed.contains(&here) {
            let span = model.statements[model.actions[last.action].statement].span;
            self.path.fault = Some(StepFault { fault: Fault::Endless, span });
            return Err(self);
        }
        self.passed.push(here);
        Ok((self, holder))
    }

    /// The chain with one more link.
    fn with(&self, link: Link, path: Path) -> Chain {
        let mut by = self.by.clone();
        by.then.push(link);
        let touched = self.path.touched.iter().copied().chain(path.touched.iter().copied()).collect();
        Chain { by, path: Path { touched, ..path }, passed: self.passed.clone() }
    }
}

impl<'m> Mover<'m> {
    /// All steps, from their first link to their end, depth first in the order of the text.
    fn chains(self, state: &State) -> Vec<Chain> {
        let begin = |(link, path): (Link, Path)| Chain { by: link.into(), path, passed: Vec::new() };
        let mut open: Vec<Chain> = self.first_links(state).into_iter().rev().map(begin).collect();
        let mut found = Vec::new();
        while let Some(chain) = open.pop() {
            let (chain, holder) = match chain.open(self.model) {
                Ok(going_on) => going_on,
                Err(over) => {
                    found.push(over);
                    continue;
                }
            };
            let follower = Mover { me: holder, ..self };
            let next = follower.links(&chain.path.state);
            let next: Vec<_> = next.into_iter().filter(|(link, _)| !link.is_when_nobody(self.model)).collect();
            match next.is_empty() {
                true => found.push(chain),
                false => open.extend(next.into_iter().rev().map(|(link, path)| chain.with(link, path))),
            }
        }
        found
    }

    /// The links with which the process can begin a step.
    fn first_links(self, state: &State) -> Vec<(Link, Path)> {
        let links = self.links(state).into_iter();
        let (marked, plain): (Vec<_>, Vec<_>) = links.partition(|(link, _)| link.is_when_nobody(self.model));
        match plain.is_empty() && !marked.is_empty() && self.nobody_else(state) {
            true => marked,
            false => plain,
        }
    }

    /// Whether no other process has an action, or a rendezvous that it sends in, without the mark.
    fn nobody_else(self, state: &State) -> bool {
        if let Some(watch) = self.watch {
            watch.borrow_mut().places.extend(self.model.processes.ids());
        }
        let is_able = |me| Mover { me, ..self }.links(state).iter().any(|(link, _)| !link.is_when_nobody(self.model));
        // All are asked, also after one that is able, so that what is watched does not depend on their order.
        self.model.processes.ids().filter(|&other| other != self.me).filter(|&other| is_able(other)).count() == 0
    }

    /// What the process can do next, the mark `when_nobody` aside.
    fn links(self, state: &State) -> Vec<(Link, Path)> {
        let actions = &self.model.places[state.place(self.me)].actions;
        actions.iter().flat_map(|&action| self.paths(action, state)).collect()
    }

    /// The paths of an action from its guard to its end; of a rendezvous, with each partner.
    fn paths(self, action: ActionId, state: &State) -> Vec<(Link, Path)> {
        let by = Link { process: self.me, action, partner: None };
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
                    let by = Link { partner: Some((partner.me, theirs)), ..by };
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

    /// Both guards are true. Values sent and what receives them are evaluated in the old state; then the values are
    /// stored, then the receiver's body runs and its control moves, then the sender's.
    fn rendezvous(self, by: Link, partner: Mover<'_>, values: &[Expr], path: Path) -> Vec<Path> {
        let Some((_, theirs)) = by.partner else { unreachable!("a rendezvous has a partner") };
        let received = &self.model.actions[theirs];
        let Some(SyncSide::Receive(patterns)) = received.sync.as_ref().map(|sync| &sync.side) else {
            unreachable!("the partner of a sender receives")
        };
        path.attempt(|path| self.pass(values, partner, patterns, path))
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
        patterns: &[Pattern],
        path: &mut Path,
    ) -> Result<Vec<Path>, StepFault> {
        let sent =
            values.iter().map(|value| self.look(path, |view| view.value(value))).collect::<Result<Vec<_>, _>>()?;
        let mut stores = Vec::new();
        for (pattern, value) in patterns.iter().zip(sent) {
            match pattern {
                Pattern::Into(access) => {
                    stores.push((partner.look(path, |view| view.locate(access))?, access, value));
                }
                Pattern::Equal(wanted) if partner.look(path, |view| view.value(wanted))? != value => {
                    return Ok(Vec::new());
                }
                Pattern::Equal(_) | Pattern::Ignored => {}
            }
        }
        for (location, access, value) in stores {
            partner.store(path, location, value, access)?;
        }
        Ok(vec![path.clone()])
    }
}
