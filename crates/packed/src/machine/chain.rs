//! Steps beyond single actions: chains of actions that go on, and actions for where no process is enabled otherwise.
//!
//! In: a packed state. Out: to a [`Sink`], each step once, when its chain has come to its end. A link that ends its step goes to the sink at once; the others are gathered, and
//! their chains followed depth first in the order of the text, as `eval` does, so that one path is kept, and not one for each chain. A chain that comes
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
use crate::code::{Move, PointSteps, SyncStep};
use crate::packing::Packed;

/// Which links are taken, by the mark `when_nobody`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
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

/// So many passed states, or steps, are searched one by one.
const FEW: usize = 32;

/// A link and the state it leads to.
#[derive(Clone, Copy)]
pub(super) struct LinkEnd<const W: usize> {
    link: Link,
    state: Packed<W>,
}

/// Gathers links; the limits are those of the sink that waits for whole steps.
struct Gather<'s, const W: usize> {
    outer: &'s mut dyn Sink<W>,
    link: Option<(ActionId, Option<(ProcessId, ActionId)>)>,
    ends: &'s mut Vec<LinkEnd<W>>,
    /// By action whether it goes on, where those that do not are steps for the sink.
    passes: Option<&'s [bool]>,
    n_passed: u64,
}

impl<const W: usize> Sink<W> for Gather<'_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        self.link = Some((action, partner));
    }

    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        let (action, partner) = self.link.expect("a link begins before it leads anywhere");
        if let Some(goes_on) = self.passes
            && !goes_on[action.index()]
            && !partner.is_some_and(|(_, theirs)| goes_on[theirs.index()])
        {
            self.n_passed += 1;
            self.outer.begins(action, partner);
            return self.outer.successor(process, next);
        }
        self.ends.push(LinkEnd { link: Link { process, action, partner }, state: *next });
        Flow::Continue(())
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        self.outer.pause(bytes + (self.ends.capacity() * size_of::<LinkEnd<W>>()) as u64)
    }

    fn out_of_stacks(&mut self) {
        self.outer.out_of_stacks();
    }
}

/// A link that is not followed yet, and how many links its chain has before it.
struct OpenEnd<const W: usize> {
    n_before: usize,
    end: LinkEnd<W>,
}

/// The chains of a step, followed depth first.
pub(super) struct ChainWalk<const W: usize> {
    open: Vec<OpenEnd<W>>,
    /// The links of the chain at hand.
    links: Vec<Link>,
    /// Which process had control in which state after each of them but the last.
    passed: Vec<(ProcessId, Packed<W>)>,
    /// All of those, where there are more than a few.
    many: FxHashSet<(ProcessId, Packed<W>)>,
    /// The steps that the sink was told, as far as later ones may be the same.
    told: ToldSteps<W>,
}

impl<const W: usize> Default for ChainWalk<W> {
    fn default() -> Self {
        ChainWalk {
            open: Vec::new(),
            links: Vec::new(),
            passed: Vec::new(),
            many: FxHashSet::default(),
            told: ToldSteps::default(),
        }
    }
}

impl<const W: usize> ChainWalk<W> {
    /// Opens what was gathered, the first of them to be followed next.
    fn open(&mut self, ends: &mut Vec<LinkEnd<W>>) {
        let n_before = self.links.len();
        self.open.extend(ends.drain(..).rev().map(|end| OpenEnd { n_before, end }));
    }

    /// The next link, now the last of the chain at hand.
    fn next(&mut self) -> Option<LinkEnd<W>> {
        let OpenEnd { n_before, end } = self.open.pop()?;
        self.links.truncate(n_before);
        self.links.push(end.link);
        match self.many.is_empty() {
            true => self.passed.truncate(n_before),
            false => {
                for gone in self.passed.drain(n_before..) {
                    self.many.remove(&gone);
                }
                if n_before < FEW {
                    self.many.clear();
                }
            }
        }
        Some(end)
    }

    /// Whether the chain at hand was not here before.
    fn pass(&mut self, here: (ProcessId, Packed<W>)) -> bool {
        let is_new = match self.passed.len() < FEW {
            true => !self.passed.contains(&here),
            false => {
                if self.many.is_empty() {
                    self.many.extend(self.passed.iter().copied());
                }
                self.many.insert(here)
            }
        };
        if is_new {
            self.passed.push(here);
        }
        is_new
    }

    /// Empties it for the next step; whether it is small enough to be kept.
    fn clear(&mut self) -> bool {
        self.links.clear();
        self.passed.clear();
        self.many.clear();
        self.told.clear();
        self.open.capacity().max(self.passed.capacity()).max(self.told.steps.capacity()) <= MAX_KEPT
    }

    fn bytes(&self) -> u64 {
        (self.open.capacity() * size_of::<OpenEnd<W>>() + self.told.keys.capacity() * size_of::<StepKey<W>>()) as u64
    }
}

/// The statements of a link.
type LinkKey = (StatementId, Option<(ProcessId, StatementId)>);

/// The statements of a step and where it leads: what makes it different from others.
type StepKey<const W: usize> = (Vec<LinkKey>, Packed<W>);

/// Steps that are compared with later ones.
struct ToldSteps<const W: usize> {
    /// The first few of them.
    steps: Vec<StepKey<W>>,
    /// All of them, where there are more.
    keys: FxHashSet<StepKey<W>>,
}

impl<const W: usize> Default for ToldSteps<W> {
    fn default() -> Self {
        ToldSteps { steps: Vec::new(), keys: FxHashSet::default() }
    }
}

impl<const W: usize> ToldSteps<W> {
    /// Whether a step is none of them; it is one from now on.
    fn insert(&mut self, state: &Packed<W>, key: impl Iterator<Item = LinkKey> + Clone) -> bool {
        if self.steps.len() < FEW {
            let is_same = |(links, other): &StepKey<W>| other == state && links.iter().copied().eq(key.clone());
            let is_new = !self.steps.iter().any(is_same);
            if is_new {
                self.steps.push((key.collect(), *state));
            }
            return is_new;
        }
        if self.keys.is_empty() {
            self.keys.extend(self.steps.iter().cloned());
        }
        self.keys.insert((key.collect(), *state))
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.keys.clear();
    }
}

/// What a process did in one link.
struct LinkCounts {
    n_faults: u64,
    /// Steps of one link that the sink was told.
    n_passed: u64,
}

/// The process whose steps are taken, by which mark, and its partners.
type ChainOf = (ProcessId, Marked, SyncWith);

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
                let point = self.steps_at(process, state);
                can_move |= self.run_point((process, point, marked), state, scratch, sink)?;
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
        let point = self.steps_at(process, state);
        if self.run_point((process, point, Marked::No), state, scratch, sink)? {
            return ControlFlow::Continue(true);
        }
        for other in (0..self.code.points.len()).map(ProcessId::new).filter(|&other| other != process) {
            let mut ends = scratch.ends.take();
            let links = (other, Marked::No, SyncWith::Anybody);
            let counts = self.links(links, state, (scratch, &mut ends, None), sink)?;
            let can_move = counts.n_faults > 0 || !ends.is_empty();
            ends.clear();
            scratch.ends.set(ends);
            if can_move {
                return ControlFlow::Continue(false);
            }
        }
        self.run_point((process, point, Marked::Yes), state, scratch, sink)
    }

    /// Passes the sink the steps of one process that begin with some links; whether there are any. Without partners, chains are cut
    /// where the process could send.
    pub(super) fn chains<const W: usize>(
        &self,
        (process, marked, company): ChainOf,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), bool> {
        let mut ends = scratch.ends.take();
        let may_repeat = self.steps_at(process, state).may_repeat;
        // Most links end their step, and most steps of one link repeat no other.
        let passes = (!may_repeat).then_some(self.code.goes_on.as_slice());
        let first = self.links((process, marked, company), state, (scratch, &mut ends, passes), sink)?;
        let LinkCounts { mut n_faults, n_passed: mut n_told } = first;
        let mut n_links = 0_usize;
        if !ends.is_empty() {
            let mut walk = scratch.walk.take();
            walk.open(&mut ends);
            while let Some(LinkEnd { link, state }) = walk.next() {
                n_links += 1;
                if n_links.is_multiple_of(PAUSE_EVERY) {
                    sink.pause(walk.bytes())?;
                }
                let Some(holder) = self.holder_after(&link) else {
                    n_told += self.tell(&state, may_repeat, &mut walk, sink)?;
                    continue;
                };
                if !walk.pass((holder, state)) {
                    n_faults += 1;
                    continue;
                }
                let next = (holder, Marked::No, company);
                let LinkCounts { n_faults: n_faults_next, .. } =
                    self.links(next, &state, (scratch, &mut ends, None), sink)?;
                n_faults += n_faults_next;
                let is_stuck = n_faults_next == 0 && ends.is_empty();
                if is_stuck || company == SyncWith::Nobody && self.may_send(holder, &state, scratch) {
                    // What comes next may be the same.
                    n_told += self.tell(&state, may_repeat, &mut walk, sink)?;
                }
                walk.open(&mut ends);
            }
            if walk.clear() {
                scratch.walk.set(walk);
            }
        }
        if ends.capacity() <= MAX_KEPT {
            scratch.ends.set(ends);
        }
        if n_faults > 0 {
            // `eval` keeps all ways of a step with what they touch, which may be much more than what is kept here.
            let is_whole = company == SyncWith::Anybody && n_links <= MOST_COMPARED;
            let n_faults = if is_whole { self.distinct_faults(n_faults, process, state) } else { n_faults };
            sink.faults(process, n_faults)?;
        }
        ControlFlow::Continue(n_faults > 0 || n_told > 0)
    }

    /// The process that goes on after a link, if one does.
    fn holder_after(&self, link: &Link) -> Option<ProcessId> {
        let goes_on = |action: ActionId| self.code.goes_on[action.index()];
        match link.partner {
            Some((receiver, theirs)) if goes_on(theirs) => Some(receiver),
            _ => goes_on(link.action).then_some(link.process),
        }
    }

    /// Tells the sink the chain at hand, which leads to this state, if it has not been told; how many steps that is.
    fn tell<const W: usize>(
        &self,
        state: &Packed<W>,
        may_repeat: bool,
        walk: &mut ChainWalk<W>,
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), u64> {
        let ChainWalk { open, links, told, .. } = walk;
        let (first, then) = links.split_first().expect("a chain has a link");
        if !then.is_empty() || may_repeat {
            let actions = &self.codec.model.actions;
            let statement = |action: ActionId| actions[action].statement;
            let key =
                |link: &Link| (statement(link.action), link.partner.map(|(who, theirs)| (who, statement(theirs))));
            // Most steps are the only ones, and compared with nothing.
            let is_only = open.is_empty() && told.steps.is_empty();
            if !is_only && !told.insert(state, links.iter().map(key)) {
                return ControlFlow::Continue(0);
            }
        }
        sink.begins(first.action, first.partner);
        sink.goes_on(then);
        sink.successor(first.process, state)?;
        ControlFlow::Continue(1)
    }

    /// Whether a process could go on by sending, if another received.
    fn may_send<const W: usize>(&self, process: ProcessId, state: &Packed<W>, scratch: &Scratch<W>) -> bool {
        let point = self.point(process, state);
        self.code.steps[point.first as usize..point.end as usize].iter().any(|step| {
            let sends = matches!(step.sync.as_deref(), Some(SyncStep::Send(..)));
            sends && !step.when_nobody && self.is_enabled(step, state, scratch) == Ok(true)
        })
    }

    /// The moves of a control point with some mark.
    #[inline]
    pub(super) fn moves_at(&self, point: &PointSteps, marked: Marked) -> &[Move] {
        let range = match marked {
            Marked::Either => point.first_move..point.end_marked,
            Marked::No => point.first_move..point.end_move,
            Marked::Yes => point.end_move..point.end_marked,
        };
        &self.code.moves[range.start as usize..range.end as usize]
    }

    /// Gathers what a process can do next, or passes it to the sink where it ends a step of one link.
    fn links<const W: usize>(
        &self,
        (process, marked, company): ChainOf,
        state: &Packed<W>,
        (scratch, ends, passes): (&Scratch<W>, &mut Vec<LinkEnd<W>>, Option<&[bool]>),
        sink: &mut dyn Sink<W>,
    ) -> ControlFlow<(), LinkCounts> {
        let point = self.steps_at(process, state);
        let steps = &self.code.steps[point.first as usize..point.end as usize];
        let Some(first) = steps.first() else { return ControlFlow::Continue(LinkCounts { n_faults: 0, n_passed: 0 }) };
        let mut gather = Gather { outer: sink, link: None, ends, passes, n_passed: 0 };
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
        match company {
            SyncWith::Anybody => self.try_moves(self.moves_at(point, marked), state, &mut paths)?,
            _ => steps.iter().try_for_each(|step| self.take(step, state, &mut paths))?,
        }
        let n_faults = paths.n_faults;
        ControlFlow::Continue(LinkCounts { n_faults, n_passed: gather.n_passed })
    }
}
