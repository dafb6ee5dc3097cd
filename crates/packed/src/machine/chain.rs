//! Steps beyond single actions: chains of actions that go on, and actions for where no process is enabled otherwise.
//!
//! In: a packed state. Out: to a [`Sink`], each step once, when its chain has come to its end. The links of a chain are gathered by
//! the machine as it takes them one at a time; chains are followed depth first in the order of the text, as `eval` does. A chain that comes
//! back to a state that it has passed, with the same process to go on, is a fault.
//!
//! For local sets a chain is cut where it would need another process: see `model::eval::local_attempts_up_to`, which defines that.

use std::ops::ControlFlow;

use model::control::{ActionId, StatementId};
use model::eval::Link;
use model::process::ProcessId;
use rustc_hash::FxHashSet;

use super::paths::{MAX_KEPT, Paths};
use super::{Flow, Machine, Scratch, Sink, SyncWith};
use crate::code::SyncStep;
use crate::packing::Packed;

/// Which links are taken, by the mark `when_nobody`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// All.
    Either,
    /// Those without the mark.
    No,
    /// Those with it.
    Yes,
}

impl Marked {
    /// Whether a link is one of them.
    #[inline]
    pub fn admits(self, when_nobody: bool) -> bool {
        match self {
            Marked::Either => true,
            Marked::No => !when_nobody,
            Marked::Yes => when_nobody,
        }
    }
}

/// The sink is asked after so many links.
const PAUSE_EVERY: usize = 256;

/// Faults of a step with more links than this are counted way by way.
const MOST_COMPARED: usize = 4096;

/// So many passed states are searched one by one.
const FEW: usize = 32;

/// A link and the state it leads to.
pub(super) type LinkEnd<const W: usize> = (Link, Packed<W>);

/// Gathers links; the limits are those of the sink that waits for whole steps.
struct Gather<'s, const W: usize> {
    outer: &'s mut dyn Sink<W>,
    link: Option<(ActionId, Option<(ProcessId, ActionId)>)>,
    ends: &'s mut Vec<LinkEnd<W>>,
}

impl<const W: usize> Sink<W> for Gather<'_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        self.link = Some((action, partner));
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let (action, partner) = self.link.expect("a link begins before it leads anywhere");
        self.ends.push((Link { process, action, partner }, *next));
        Flow::Continue(())
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        self.outer.pause(bytes + (self.ends.capacity() * size_of::<LinkEnd<W>>()) as u64)
    }

    fn out_of_stacks(&mut self) {
        self.outer.out_of_stacks();
    }
}

/// A step under way.
#[derive(Clone)]
pub(super) struct Chain<const W: usize> {
    first: Link,
    then: Vec<Link>,
    state: Packed<W>,
    passed: Passed<W>,
}

impl<const W: usize> Chain<W> {
    /// The step with one link more.
    fn then(mut self, link: Link, state: Packed<W>) -> Self {
        self.then.push(link);
        Chain { state, ..self }
    }
}

/// Which process had control in which state after each link but the last.
#[derive(Clone, Default)]
struct Passed<const W: usize> {
    few: Vec<(ProcessId, Packed<W>)>,
    /// All of them, where there are more than a few.
    many: FxHashSet<(ProcessId, Packed<W>)>,
}

impl<const W: usize> Passed<W> {
    /// Whether it was not passed before.
    fn insert(&mut self, here: (ProcessId, Packed<W>)) -> bool {
        if self.few.len() < FEW {
            let is_new = !self.few.contains(&here);
            self.few.push(here);
            return is_new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().copied());
        }
        self.many.insert(here)
    }
}

/// The statements of a step and where it leads: what makes it different from others.
type StepKey<const W: usize> = (Vec<(StatementId, Option<(ProcessId, StatementId)>)>, Packed<W>);

/// The steps that the sink was told. Most often there is one, which is compared with nothing.
struct Told<const W: usize> {
    n_told: usize,
    /// Whether steps of one link may repeat each other; where they do not, they are compared with nothing either.
    may_repeat: bool,
    /// The first of those that are compared.
    first: Option<Chain<W>>,
    /// All of those, where there are several.
    keys: FxHashSet<StepKey<W>>,
}

/// Passes the sink a step.
fn pass<const W: usize>(first: &Link, then: &[Link], state: &Packed<W>, sink: &mut dyn Sink<W>) -> Flow {
    sink.begins(first.action, first.partner);
    sink.goes_on(then);
    sink.successor(first.process, state)
}

impl Machine<'_> {
    /// Passes the sink all that leaves the state of a program with actions for where no process is enabled otherwise; whether there is anything.
    pub(super) fn expand_marked<const W: usize>(
        &self,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let mut can_move = false;
        for marked in [Marked::No, Marked::Yes] {
            for process in (0..self.code.points.len()).map(ProcessId::new) {
                can_move |= match (self.point(process, state).marks, marked) {
                    (false, Marked::Yes) => false,
                    (false, _) => self.run_process(process, state, scratch, sink)?,
                    (true, _) => self.chains((process, marked, SyncWith::Anybody), state, scratch, sink)?,
                };
            }
            if can_move {
                break;
            }
        }
        ControlFlow::Continue(can_move)
    }

    /// Shows the sink the steps of one process at a point with marks; whether there are any.
    pub(super) fn expand_marked_process<const W: usize>(
        &self,
        process: ProcessId,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        if self.chains((process, Marked::No, SyncWith::Anybody), state, scratch, sink)? {
            return ControlFlow::Continue(true);
        }
        for other in (0..self.code.points.len()).map(ProcessId::new).filter(|&other| other != process) {
            let mut ends = scratch.ends.take();
            let n_faults = self.links((other, Marked::No, SyncWith::Anybody), state, (scratch, &mut ends), sink)?;
            let can_move = n_faults > 0 || !ends.is_empty();
            ends.clear();
            scratch.ends.set(ends);
            if can_move {
                return ControlFlow::Continue(false);
            }
        }
        self.chains((process, Marked::Yes, SyncWith::Anybody), state, scratch, sink)
    }

    /// Passes the sink the steps of one process that begin with some links; whether there are any. Without partners, chains are cut
    /// where the process could send.
    pub(super) fn chains<const W: usize>(
        &self,
        (process, marked, company): (ProcessId, Marked, SyncWith),
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let mut ends = scratch.ends.take();
        let mut n_faults = self.links((process, marked, company), state, (scratch, &mut ends), sink)?;
        let may_repeat = self.point(process, state).may_repeat;
        let mut told = Told { n_told: 0, may_repeat, first: None, keys: FxHashSet::default() };
        if !may_repeat {
            // Most links end their step.
            let is_last = |(link, _): &LinkEnd<W>| link.leaves_turn_to(self.codec.model).is_none();
            let n_last = ends.iter().take_while(|end| is_last(end)).count();
            for (link, next) in ends.drain(..n_last) {
                told.n_told += 1;
                pass(&link, &[], &next, sink)?;
            }
        }
        let begin = |(first, state)| Chain { first, then: Vec::new(), state, passed: Passed::default() };
        let mut open = scratch.open.take();
        open.extend(ends.drain(..).rev().map(begin));
        let mut n_links = 0_usize;
        while let Some(mut chain) = open.pop() {
            n_links += 1;
            if n_links.is_multiple_of(PAUSE_EVERY) {
                sink.pause(((told.keys.capacity() + open.capacity()) * size_of::<StepKey<W>>()) as u64)?;
            }
            let last = chain.then.last().copied().unwrap_or(chain.first);
            let Some(holder) = last.leaves_turn_to(self.codec.model) else {
                self.tell(chain, &mut told, sink)?;
                continue;
            };
            if !chain.passed.insert((holder, chain.state)) {
                n_faults += 1;
                continue;
            }
            let n_faults_next = self.links((holder, Marked::No, company), &chain.state, (scratch, &mut ends), sink)?;
            n_faults += n_faults_next;
            let is_stuck = n_faults_next == 0 && ends.is_empty();
            if is_stuck || company == SyncWith::Nobody && self.may_send(holder, &chain.state, scratch) {
                self.tell(chain.clone(), &mut told, sink)?;
            }
            let mut ends = ends.drain(..);
            let nearest = ends.next();
            open.extend(ends.rev().map(|(link, state)| chain.clone().then(link, state)));
            open.extend(nearest.map(|(link, state)| chain.then(link, state)));
        }
        if ends.capacity().max(open.capacity()) <= MAX_KEPT {
            scratch.ends.set(ends);
            scratch.open.set(open);
        }
        if n_faults > 0 {
            // `eval` keeps all ways of a step with what they touch, which may be much more than what is kept here.
            let is_whole = company == SyncWith::Anybody && n_links <= MOST_COMPARED;
            let n_faults = if is_whole { self.distinct_faults(n_faults, process, state) } else { n_faults };
            sink.faults(process, n_faults)?;
        }
        ControlFlow::Continue(n_faults > 0 || told.n_told > 0)
    }

    fn tell<const W: usize>(&self, chain: Chain<W>, told: &mut Told<W>, sink: &mut dyn Sink<W>) -> Flow {
        if chain.then.is_empty() && !told.may_repeat {
            told.n_told += 1;
            return pass(&chain.first, &[], &chain.state, sink);
        }
        if let Some(first) = &told.first {
            if told.keys.is_empty() {
                told.keys.insert(self.key(first));
            }
            if !told.keys.insert(self.key(&chain)) {
                return Flow::Continue(());
            }
        }
        pass(&chain.first, &chain.then, &chain.state, sink)?;
        told.n_told += 1;
        told.first.get_or_insert(chain);
        Flow::Continue(())
    }

    fn key<const W: usize>(&self, chain: &Chain<W>) -> StepKey<W> {
        let actions = &self.codec.model.actions;
        let statement = |action: ActionId| actions[action].statement;
        let key = |link: &Link| (statement(link.action), link.partner.map(|(who, theirs)| (who, statement(theirs))));
        (std::iter::once(&chain.first).chain(&chain.then).map(key).collect(), chain.state)
    }

    /// Whether a process could go on by sending, if another received.
    fn may_send<const W: usize>(&self, process: ProcessId, state: &Packed<W>, scratch: &Scratch<W>) -> bool {
        let point = self.point(process, state);
        self.code.steps[point.first as usize..point.end as usize].iter().any(|step| {
            let sends = matches!(step.sync.as_deref(), Some(SyncStep::Send(..)));
            sends && !step.when_nobody && self.is_enabled(step, state, scratch) == Ok(true)
        })
    }

    /// Gathers what a process can do next; how many of its steps are faults.
    fn links<const W: usize>(
        &self,
        (process, marked, company): (ProcessId, Marked, SyncWith),
        state: &Packed<W>,
        (scratch, ends): (&Scratch<W>, &mut Vec<LinkEnd<W>>),
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), u64> {
        let point = self.point(process, state);
        let steps = &self.code.steps[point.first as usize..point.end as usize];
        let Some(first) = steps.first() else { return ControlFlow::Continue(0) };
        let mut gather = Gather { outer: sink, link: None, ends };
        let mut paths = Paths {
            sink: &mut gather,
            scratch,
            process,
            company,
            marked,
            n_faults: 0,
            n_successors: 0,
            known: None,
            statement: first.statement,
            partner: None,
        };
        for step in steps {
            self.take(step, state, &mut paths)?;
        }
        ControlFlow::Continue(paths.n_faults)
    }
}
