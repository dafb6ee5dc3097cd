//! Steps: which actions a process can take in a state, and what comes of them.
//!
//! In: a state. Out: the enabled steps, each with its successor or its fault, in the order of the text, without repeating
//! a (process, statement, successor). A guard is evaluated in the state before the step; then the body runs; then control
//! moves. A fault in a guard is a step. A rendezvous is a step of two processes; the sender is the one that is scheduled.
//!
//! A step is a chain of such links where an action goes on: the process to which the last link leaves control takes any of its
//! enabled actions, and where it has none the chain ends. Whether a step is enabled depends on its first link alone. A chain that
//! comes back to a state that it has passed, with the same process to go on, is a fault.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::body::{Mover, Paths, StepPath};
use super::choice::Choosing;
use super::{Footprint, Link, Move, State, Step, StepFault, Touch};
use crate::Model;
use crate::control::{Action, ActionId, ChannelId, ReceivePattern, StatementId, Sync, SyncSide, TextOwner};
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
    enabled(Mover::new(model, process), state)
}

/// The enabled steps of all processes; `None` where there are more than `most` ways to take one.
pub fn steps_up_to(model: &Model, state: &State, most: usize) -> Option<Vec<Step>> {
    let mut found = Vec::new();
    for process in model.processes.ids() {
        found.extend(up_to(Mover::new(model, process), state, most)?.into_iter().map(|(step, _)| step));
    }
    Some(found)
}

/// Enabled steps that a process makes: all of them, but where `any` chooses from too many values to go through, those with likely
/// ones. Every one is a step; one to the state that is aimed at is among them if the values chosen on the way are still there.
pub fn likely_steps_of(model: &Model, state: &State, process: ProcessId, aim: Option<&State>) -> Vec<Step> {
    likely_touched_by(model, state, process, aim).into_iter().map(|(step, _)| step).collect()
}

/// The same, each with the cells that it touches.
pub fn likely_touched_by(
    model: &Model,
    state: &State,
    process: ProcessId,
    aim: Option<&State>,
) -> Vec<(Step, Vec<Touch>)> {
    let choosing = Choosing::Likely { aim, action: None };
    enabled(Mover { choosing, ..Mover::new(model, process) }, state)
}

/// The steps by exactly these actions and rendezvous, one after the other, each with the cells that it touches: those of [`likely_touched_by`] whose
/// links are the move's. No other chain is followed, however many there are.
pub fn likely_touched_along(model: &Model, state: &State, by: &Move, aim: Option<&State>) -> Vec<(Step, Vec<Touch>)> {
    let along: Vec<Link> = by.links().collect();
    let choosing = Choosing::Likely { aim, action: None };
    let mover = Mover { choosing, ..Mover::new(model, by.process) };
    let first = mover.first_links(state).filter(|(link, _)| *link == along[0]);
    let first = first.map(|(link, path)| Chain { by: link.into(), path, passed: Vec::new() });
    let chains = Chains { mover, is_alone: false, along: Some(&along), open: vec![Box::new(first)] };
    distinct(model, chains.filter(|chain| chain.by == *by))
}

/// Whether any process has a step in a state.
pub(super) fn has_any_step(model: &Model, state: &State) -> bool {
    model.processes.ids().any(|process| Mover::new(model, process).first_links(state).next().is_some())
}

/// Whether there is a step in a state that begins with an action of a process that counts, alone or in a rendezvous.
pub(super) fn has_step(model: &Model, state: &State, process: ProcessId, counts: impl Fn(ActionId) -> bool) -> bool {
    let counts = |link: Link| link.action_of(process).is_some_and(&counts);
    model.processes.ids().any(|mover| Mover::new(model, mover).begins(state, counts))
}

/// Steps, each with what it touches, and all that the attempts to step depended on and would change.
pub type Attempts = (Vec<(Step, Vec<Touch>)>, Footprint);

/// The same steps, and all that the process's attempts to step depended on and would change, those that came to nothing
/// included.
pub fn attempts_of(model: &Model, state: &State, process: ProcessId) -> Attempts {
    let watch = RefCell::default();
    let steps = enabled(Mover { watch: Some(&watch), ..Mover::new(model, process) }, state);
    (steps, watch.into_inner())
}

/// The actions by which a process can receive in a state, each with some sender, and all that this depends on. The steps themselves are
/// the senders'.
pub fn receptions_of(model: &Model, state: &State, process: ProcessId) -> (Vec<ActionId>, Footprint) {
    let watch = RefCell::default();
    let receiver = Mover { watch: Some(&watch), ..Mover::new(model, process) };
    let receives = |&action: &ActionId| receiver.is_received(action, state);
    let found = model.places[state.place(process)].actions.iter().copied().filter(receives).collect();
    (found, watch.into_inner())
}

/// The same; `None` where there are more than `most` ways to take a step.
pub fn attempts_up_to(model: &Model, state: &State, process: ProcessId, most: usize) -> Option<Attempts> {
    let watch = RefCell::default();
    let steps = up_to(Mover { watch: Some(&watch), ..Mover::new(model, process) }, state, most)?;
    Some((steps, watch.into_inner()))
}

/// What a process can do as far as its own state decides, and all that its attempts depended on and would change; `None` where there are more
/// than `most` ways. Every step of the program is a sequence of such steps: a chain goes on by the process's own actions alone, and is cut
/// after a rendezvous and wherever the process could send; the mark `when_nobody` of a first action is taken as true. The
/// states in between are then states, too.
pub fn local_attempts_up_to(model: &Model, state: &State, process: ProcessId, most: usize) -> Option<Attempts> {
    let watch = RefCell::default();
    let mover = Mover { watch: Some(&watch), ..Mover::new(model, process) };
    let mut chains = mover.local_chains(state);
    let first: Vec<Chain> = chains.by_ref().take(most).collect();
    let all = chains.next().is_none();
    drop(chains);
    all.then(|| (distinct(model, first), watch.into_inner()))
}

/// A statement of the mover and one of its partner.
type LinkKey = (StatementId, Option<(ProcessId, StatementId)>);

/// Steps of the same statements up to this many are compared one by one.
const MOST_COMPARED: usize = 8;

/// The statements of a step and what comes of them: what makes it different from others.
type StepKey = (Vec<LinkKey>, Result<State, StepFault>);

fn enabled(mover: Mover<'_>, state: &State) -> Vec<(Step, Vec<Touch>)> {
    distinct(mover.model, mover.chains(state))
}

/// As [`enabled`]; `None` where there are more than `most` paths.
fn up_to(mover: Mover<'_>, state: &State, most: usize) -> Option<Vec<(Step, Vec<Touch>)>> {
    let mut chains = mover.chains(state);
    let first: Vec<Chain> = chains.by_ref().take(most).collect();
    chains.next().is_none().then(|| distinct(mover.model, first))
}

/// The steps at the end of chains, each once.
fn distinct(model: &Model, chains: impl IntoIterator<Item = Chain>) -> Vec<(Step, Vec<Touch>)> {
    let statement = |action: ActionId| model.actions[action].statement;
    let key = |link: Link| (statement(link.action), link.partner.map(|(partner, theirs)| (partner, statement(theirs))));
    let mut found: Vec<(Step, Vec<Touch>)> = Vec::new();
    // States are large: they are compared where the statements are the same, and hashed where there are many.
    let mut by_links: HashMap<Vec<LinkKey>, Vec<usize>> = HashMap::new();
    let mut many: HashSet<StepKey> = HashSet::new();
    for Chain { by, path, .. } in chains {
        let step = Step { by, result: path.fault.map_or(Ok(path.state), Err) };
        let links: Vec<LinkKey> = step.by.links().map(key).collect();
        let alike = by_links.entry(links.clone()).or_default();
        let is_new = if alike.len() < MOST_COMPARED {
            alike.iter().all(|&at| found[at].0.result != step.result)
        } else {
            if alike.len() == MOST_COMPARED {
                many.extend(alike.iter().map(|&at| (links.clone(), found[at].0.result.clone())));
            }
            many.insert((links, step.result.clone()))
        };
        if is_new {
            alike.push(found.len());
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
    path: StepPath,
    /// Which process had control in which state after each link but the last.
    passed: Vec<Rc<(ProcessId, State)>>,
}

impl Chain {
    /// The chain without its end, and the process that goes on with it; `Err` where it is over.
    #[allow(clippy::result_large_err)]
    fn open(mut self, model: &Model) -> Result<(Chain, ProcessId), Chain> {
        let last = self.by.then.last().copied().unwrap_or(self.by.first());
        let Some(holder) = last.leaves_turn_to(model).filter(|_| self.path.fault.is_none()) else { return Err(self) };
        let here = Rc::new((holder, self.path.state.clone()));
        if self.passed.contains(&here) {
            let span = model.statements[model.actions[last.action].statement].span;
            self.path.fault = Some(StepFault { fault: Fault::Endless, span });
            return Err(self);
        }
        self.passed.push(here);
        Ok((self, holder))
    }

    /// The chain with one more link.
    fn with(&self, link: Link, path: StepPath) -> Chain {
        let mut by = self.by.clone();
        by.then.push(link);
        let touched = self.path.touched.iter().copied().chain(path.touched.iter().copied()).collect();
        Chain { by, path: StepPath { touched, ..path }, passed: self.passed.clone() }
    }
}

/// Steps, one after the other, depth first in the order of the text.
struct Chains<'m> {
    mover: Mover<'m>,
    /// Whether chains are cut where another process is needed.
    is_alone: bool,
    /// The links that are followed, where one way is asked about.
    along: Option<&'m [Link]>,
    /// At each depth the chains that are still to be gone on with.
    open: Vec<Box<dyn Iterator<Item = Chain> + 'm>>,
}

impl Iterator for Chains<'_> {
    type Item = Chain;

    fn next(&mut self) -> Option<Chain> {
        let model = self.mover.model;
        loop {
            let Some(chain) = self.open.last_mut()?.next() else {
                self.open.pop();
                continue;
            };
            let meets = chain.by.partner.is_some();
            let (chain, holder) = match chain.open(model) {
                Ok((over, _)) if self.is_alone && meets => return Some(over),
                Ok(going_on) => going_on,
                Err(over) => return Some(over),
            };
            if self.is_alone {
                match self.alone(chain) {
                    Some(cut) => return Some(cut),
                    None => continue,
                }
            }
            let follower = Mover { me: holder, ..self.mover };
            let links = follower.links(&chain.path.state);
            let mut next = links.filter(|(link, _)| !link.is_when_nobody(model)).peekable();
            if next.peek().is_none() {
                return Some(chain);
            }
            let (along, at) = (self.along, chain.by.then.len() + 1);
            let next = next.filter(move |(link, _)| along.is_none_or(|along| along.get(at) == Some(link)));
            self.open.push(Box::new(next.map(move |(link, path)| chain.with(link, path))));
        }
    }
}

impl Chains<'_> {
    /// Goes on with the process's own actions; the chain itself where it may end here, since there is none or the process could send.
    fn alone(&mut self, chain: Chain) -> Option<Chain> {
        let mover = self.mover;
        let own = |(link, _): &(Link, StepPath)| link.partner.is_none() && !link.is_when_nobody(mover.model);
        let next: Vec<(Link, StepPath)> = mover.links(&chain.path.state).filter(own).collect();
        let may_end = next.is_empty() || mover.may_send(&chain.path.state);
        let longer: Vec<Chain> = next.into_iter().map(|(link, path)| chain.with(link, path)).collect();
        self.open.push(Box::new(longer.into_iter()));
        may_end.then_some(chain)
    }
}

/// Links with where they lead, one after the other.
type Links<'m> = Box<dyn Iterator<Item = (Link, StepPath)> + 'm>;

impl<'m> Mover<'m> {
    /// All steps, from their first link to their end.
    fn chains(self, state: &State) -> Chains<'m> {
        let first = self.first_links(state);
        let first = first.map(|(link, path)| Chain { by: link.into(), path, passed: Vec::new() });
        Chains { mover: self, is_alone: false, along: None, open: vec![Box::new(first)] }
    }

    /// The same as far as the process's own state decides: see [`local_attempts_up_to`].
    fn local_chains(self, state: &State) -> Chains<'m> {
        let first = self.links(state);
        let first = first.map(|(link, path)| Chain { by: link.into(), path, passed: Vec::new() });
        Chains { mover: self, is_alone: true, along: None, open: vec![Box::new(first)] }
    }

    /// Whether the process could go on by sending, if another received.
    fn may_send(self, state: &State) -> bool {
        self.model.places[state.place(self.me)].actions.iter().any(|&id| {
            let action = &self.model.actions[id];
            let sends = action.sync.as_ref().is_some_and(|sync| matches!(sync.side, SyncSide::Send(_)));
            sends && !action.when_nobody && self.open(id, state).is_some_and(|path| path.fault.is_none())
        })
    }

    /// The links with which the process can begin a step.
    fn first_links(self, state: &State) -> Links<'m> {
        let is_marked = |link: Link| link.is_when_nobody(self.model);
        let mut plain = self.links(state).filter(move |(link, _)| !is_marked(*link)).peekable();
        if plain.peek().is_some() {
            return Box::new(plain);
        }
        let mut marked = self.links(state).filter(move |(link, _)| is_marked(*link)).peekable();
        match marked.peek().is_some() && self.nobody_else(state) {
            true => Box::new(marked),
            false => Box::new(std::iter::empty()),
        }
    }

    /// Whether the process can begin a step with a link that counts; no link is followed along more than one path.
    fn begins(self, state: &State, counts: impl Fn(Link) -> bool) -> bool {
        let counted = self.ways(state).into_iter().filter(|(link, _)| counts(*link));
        let (marked, plain): (Vec<_>, Vec<_>) = counted.partition(|(link, _)| link.is_when_nobody(self.model));
        let leads_somewhere = |(_, mut paths): (Link, Paths<'m>)| paths.next().is_some();
        plain.into_iter().any(leads_somewhere)
            || (marked.into_iter().any(leads_somewhere) && !self.is_able(state) && self.nobody_else(state))
    }

    /// Whether no other process has an action, or a rendezvous that it sends in, without the mark.
    fn nobody_else(self, state: &State) -> bool {
        if let Some(watch) = self.watch {
            watch.borrow_mut().places.extend(self.model.processes.ids());
        }
        // All are asked, also after one that is able, so that what is watched does not depend on their order.
        let others = self.model.processes.ids().filter(|&other| other != self.me);
        others.filter(|&me| Mover { me, ..self }.is_able(state)).count() == 0
    }

    /// Whether the process has an action, or a rendezvous that it sends in, without the mark.
    fn is_able(self, state: &State) -> bool {
        let mut plain = self.ways(state).into_iter().filter(|(link, _)| !link.is_when_nobody(self.model));
        match self.watch {
            Some(_) => plain.map(|(_, paths)| paths.count()).sum::<usize>() > 0,
            None => plain.any(|(_, mut paths)| paths.next().is_some()),
        }
    }

    /// What the process can do next, the mark `when_nobody` aside.
    fn links(self, state: &State) -> Links<'m> {
        let ways = self.ways(state).into_iter();
        Box::new(ways.flat_map(|(link, paths)| paths.map(move |path| (link, path))))
    }

    /// The same, link by link, each with its paths.
    fn ways(self, state: &State) -> Vec<(Link, Paths<'m>)> {
        let actions = &self.model.places[state.place(self.me)].actions;
        actions.iter().flat_map(|&action| self.within(action).ways_of(action, state)).collect()
    }

    /// The same mover in the text of an action.
    fn within(self, action: ActionId) -> Self {
        Mover { choosing: self.choosing.within(&self.model.actions[action]), ..self }
    }

    /// The paths of an action from its guard to its end; of a rendezvous, with each partner.
    fn ways_of(self, action: ActionId, state: &State) -> Vec<(Link, Paths<'m>)> {
        let by = Link { process: self.me, action, partner: None };
        let Some(path) = self.open(action, state) else { return Vec::new() };
        if path.fault.is_some() {
            return vec![(by, path.alone())];
        }
        let acted = &self.model.actions[action];
        match acted.sync.as_ref().map(|sync| (sync.channel, &sync.side)) {
            None => {
                let paths = self.run(&acted.body, path).flat_map(move |path| self.finish(action, path));
                vec![(by, Box::new(paths))]
            }
            // A receiver steps when a sender does; only a fault in its guard is its own.
            Some((_, SyncSide::Receive(_))) => Vec::new(),
            Some((channel, SyncSide::Send(values))) => {
                let meet = |(partner, theirs, looked_at): (Mover<'m>, ActionId, Vec<Touch>)| {
                    let by = Link { partner: Some((partner.me, theirs)), ..by };
                    let mut path = path.clone();
                    path.touched.extend(looked_at);
                    (by, self.rendezvous(by, partner.within(theirs), values, path))
                };
                self.receivers(channel, state).into_iter().map(meet).collect()
            }
        }
    }

    /// Whether the process can receive by an action now: its guard is true, and some other process sends what it takes.
    fn is_received(self, action: ActionId, state: &State) -> bool {
        let Some(sync) = &self.model.actions[action].sync else { return false };
        let is_open = |path: Option<StepPath>| path.filter(|path| path.fault.is_none());
        if matches!(sync.side, SyncSide::Send(_)) || is_open(self.open(action, state)).is_none() {
            return false;
        }
        self.note_partners(sync.channel, |side| matches!(side, SyncSide::Send(_)));
        let others = self.model.processes.ids().filter(|&other| other != self.me);
        { others }.any(|other| {
            let sender = Mover { me: other, ..self };
            self.model.places[state.place(other)].actions.iter().any(|&theirs| {
                let values = match &self.model.actions[theirs].sync {
                    Some(Sync { channel, side: SyncSide::Send(values) }) if *channel == sync.channel => values,
                    _ => return false,
                };
                let by = Link { process: other, action: theirs, partner: Some((self.me, action)) };
                let path = is_open(sender.open(theirs, state));
                path.is_some_and(|path| sender.rendezvous(by, self, values, path).next().is_some())
            })
        })
    }

    /// Notes the processes that take such a side of a channel somewhere in their text, or may call one that does.
    fn note_partners(self, channel: ChannelId, is_other_side: impl Fn(&SyncSide) -> bool) {
        let Some(watch) = self.watch else { return };
        let meets = |action: &Action| {
            action.sync.as_ref().is_some_and(|sync| sync.channel == channel && is_other_side(&sync.side))
        };
        for action in self.model.actions.iter().filter(|action| meets(action)) {
            let others = self.model.processes.ids().filter(|&other| {
                let is_of = |family| self.model.processes[other].family == family;
                other != self.me && !matches!(action.scope, TextOwner::Family(family) if !is_of(family))
            });
            watch.borrow_mut().partners.extend(others);
        }
    }

    /// The actions of others that can receive on the channel now, with what their guards read.
    fn receivers(self, channel: ChannelId, state: &State) -> Vec<(Mover<'m>, ActionId, Vec<Touch>)> {
        self.note_partners(channel, |side| matches!(side, SyncSide::Receive(_)));
        let mut found = Vec::new();
        for me in self.model.processes.ids().filter(|&other| other != self.me) {
            let partner = Mover { me, ..self };
            for &action in &self.model.places[state.place(me)].actions {
                let receives = |sync: &Sync| sync.channel == channel && matches!(sync.side, SyncSide::Receive(_));
                if self.model.actions[action].sync.as_ref().is_some_and(receives)
                    && let Some(StepPath { fault: None, touched, .. }) = partner.open(action, state)
                {
                    found.push((partner, action, touched));
                }
            }
        }
        found
    }

    /// The start of a step: `None` where the guard is false.
    fn open(self, action: ActionId, state: &State) -> Option<StepPath> {
        let mut path = StepPath::new(state);
        let Some(guard) = &self.model.actions[action].guard else { return Some(path) };
        match self.look(&mut path, |view| view.truth(guard)) {
            Ok(true) => Some(path),
            Ok(false) => None,
            Err(fault) => Some(StepPath { fault: Some(fault), ..path }),
        }
    }

    /// Both guards are true. Values sent and what receives them are evaluated in the old state; then the values are
    /// stored, then the receiver's body runs and its control moves, then the sender's.
    fn rendezvous(self, by: Link, partner: Mover<'m>, values: &[Expr], path: StepPath) -> Paths<'m> {
        let Some((_, theirs)) = by.partner else { unreachable!("a rendezvous has a partner") };
        let received = &self.model.actions[theirs];
        let Some(SyncSide::Receive(patterns)) = received.sync.as_ref().map(|sync| &sync.side) else {
            unreachable!("the partner of a sender receives")
        };
        let paths = path
            .attempt(|path| self.pass(values, partner, patterns, path))
            .flat_map(move |path| partner.run(&received.body, path))
            .flat_map(move |path| partner.finish(theirs, path))
            .flat_map(move |path| self.run(&self.model.actions[by.action].body, path))
            .flat_map(move |path| self.finish(by.action, path));
        Box::new(paths)
    }

    fn pass(
        self,
        values: &[Expr],
        partner: Mover<'_>,
        patterns: &[ReceivePattern],
        path: &mut StepPath,
    ) -> Result<Paths<'m>, StepFault> {
        let sent =
            values.iter().map(|value| self.look(path, |view| view.value(value))).collect::<Result<Vec<_>, _>>()?;
        let mut stores = Vec::new();
        for (pattern, value) in patterns.iter().zip(sent) {
            match pattern {
                ReceivePattern::Into(access) => {
                    stores.push((partner.look(path, |view| view.locate(access))?, access, value));
                }
                ReceivePattern::Equal(wanted) if partner.look(path, |view| view.value(wanted))? != value => {
                    return Ok(Box::new(std::iter::empty()));
                }
                ReceivePattern::Equal(_) | ReceivePattern::Ignored => {}
            }
        }
        for (location, access, value) in stores {
            partner.store(path, location, value, access)?;
        }
        Ok(path.clone().alone())
    }
}
