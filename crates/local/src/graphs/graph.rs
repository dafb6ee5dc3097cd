//! One local state graph while it grows.
//!
//! Every local state that was added is **expanded**: the process's own steps from it are taken, and lead to local states of the
//! graph. External transitions and rendezvous come from joint searches, as offers, and are kept once each, in the order in which
//! they came, so that others can read what is new since their last round.

use model::control::ActionId;
use model::eval;
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::actions::{ActionNumber, Actions};
use crate::sets::Rows;
use engine::meter::Meter;
use packed::machine::{Flow, Machine, Scratch, Sink, SyncWith};
use packed::packing::Packed;
use packed::words::and;

/// The budget is checked after so many states.
const CHECK_EVERY: usize = 256;

/// A transition: the action, and the local state that it leads to.
pub type LocalEdge = (ActionNumber, u32);

/// Two processes that step together, as one of them keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RendezvousEdge {
    /// The action.
    pub action: ActionNumber,
    /// Where the process goes.
    pub target: u32,
    /// The partner, and its local states before and after.
    pub partner: u32,
    /// The partner's local state before.
    pub before: u32,
    /// The partner's local state after.
    pub after: u32,
}

/// A transition that a joint search found.
#[derive(Clone, Copy, Debug)]
pub struct Offer<const W: usize> {
    /// The local state.
    pub from: u32,
    /// The action of another process.
    pub action: ActionNumber,
    /// The local state after it.
    pub to: Packed<W>,
}

/// The local state graph of a process.
pub struct ProcessGraph<const W: usize> {
    /// The process.
    pub process: ProcessId,
    /// The bits that it sees.
    pub mask: Packed<W>,
    /// The local states, numbered.
    pub states: Rows<W>,
    /// How many of them are initial; these come first.
    pub n_initial: usize,
    /// By state: where its own transitions begin in `own`.
    own_starts: Vec<u32>,
    /// The process's own transitions.
    own: Vec<LocalEdge>,
    /// By state: the transitions of others, and rendezvous of the process, without the partner; sorted.
    pub external: Vec<Vec<LocalEdge>>,
    /// All of these, in the order in which they came.
    pub log: Vec<(u32, LocalEdge)>,
    /// By state: the meetings that the process takes part in.
    pub meetings: Vec<Vec<RendezvousEdge>>,
    /// All of them, in the order in which they came.
    pub meeting_log: Vec<(u32, RendezvousEdge)>,
    known_meetings: FxHashSet<(u32, RendezvousEdge)>,
    /// By state: the process's own steps from it that are a fault, where there are some.
    faulty: FxHashMap<u32, Vec<ActionNumber>>,
    /// What was counted of it.
    bytes: u64,
}

impl<const W: usize> ProcessGraph<W> {
    /// The graph of a process, with nothing in it.
    pub fn new(process: ProcessId, mask: Packed<W>) -> Self {
        ProcessGraph {
            process,
            mask,
            states: Rows::default(),
            n_initial: 0,
            own_starts: vec![0],
            own: Vec::new(),
            external: Vec::new(),
            log: Vec::new(),
            meetings: Vec::new(),
            meeting_log: Vec::new(),
            known_meetings: FxHashSet::default(),
            faulty: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// How many states are expanded.
    pub fn n_expanded(&self) -> usize {
        self.own_starts.len() - 1
    }

    /// The own transitions of a state.
    #[inline]
    pub fn own(&self, state: u32) -> &[LocalEdge] {
        let at = state as usize;
        &self.own[self.own_starts[at] as usize..self.own_starts[at + 1] as usize]
    }

    /// The number of a local state, which is added if need be.
    pub fn number(&mut self, state: &Packed<W>) -> u32 {
        self.states.number(and(state, &self.mask)).0
    }

    /// How many transitions there are.
    pub fn n_transitions(&self) -> u64 {
        (self.own.len() + self.log.len()) as u64
    }

    /// The process's own steps from a state that are a fault.
    #[inline]
    pub fn faulty(&self, state: u32) -> &[ActionNumber] {
        if self.faulty.is_empty() { &[] } else { self.faulty.get(&state).map_or(&[], Vec::as_slice) }
    }

    /// Adds a transition that is not the process's own alone.
    pub fn add_external(&mut self, from: u32, action: ActionNumber, to: u32) -> bool {
        lengthen(&mut self.external, from as usize);
        let edges = &mut self.external[from as usize];
        match edges.binary_search(&(action, to)) {
            Ok(_) => false,
            Err(at) => {
                edges.insert(at, (action, to));
                self.log.push((from, (action, to)));
                true
            }
        }
    }

    /// Whether a transition of others is there.
    pub fn has_external(&self, from: u32, action: ActionNumber, to: u32) -> bool {
        self.external[from as usize].binary_search(&(action, to)).is_ok()
    }

    /// The transitions of a state by an action that is not the process's own alone.
    #[inline]
    pub fn external_by(&self, state: u32, action: ActionNumber) -> &[LocalEdge] {
        let edges = &self.external[state as usize];
        let start = edges.partition_point(|edge| edge.0 < action);
        let n_edges = edges[start..].iter().take_while(|edge| edge.0 == action).count();
        &edges[start..start + n_edges]
    }

    /// Adds a rendezvous with a partner, and the transition that it is.
    pub fn add_meeting(&mut self, from: u32, meeting: RendezvousEdge) {
        if self.known_meetings.insert((from, meeting)) {
            lengthen(&mut self.meetings, from as usize);
            self.meetings[from as usize].push(meeting);
            self.meeting_log.push((from, meeting));
        }
        self.add_external(from, meeting.action, meeting.target);
    }

    /// Takes the own steps of all states that are not expanded, until all are. Stops when the meter says so.
    pub fn expand(&mut self, machine: &Machine<'_>, meter: &Meter<'_>, scratch: &Scratch<W>) -> Flow {
        let before = self.n_expanded();
        while self.n_expanded() < self.states.len() {
            let at = self.n_expanded();
            let state = *self.states.row(at as u32);
            let mut steps = OwnSteps {
                machine,
                meter,
                process: self.process,
                state: &state,
                action: 0,
                found: Vec::new(),
                faults: false,
            };
            machine.expand_with((self.process, SyncWith::Nobody), &state, scratch, &mut steps)?;
            let OwnSteps { found, faults, .. } = steps;
            let start = self.own.len();
            for (action, to) in found {
                let to = self.number(&to);
                if !self.own[start..].contains(&(action, to)) {
                    self.own.push((action, to));
                }
            }
            if faults {
                self.faulty.insert(at as u32, faulty_steps(machine, self.process, &state));
            }
            self.own_starts.push(self.own.len() as u32);
            if at.is_multiple_of(CHECK_EVERY) && !meter.may_go_on(0) {
                return Flow::Break(());
            }
        }
        lengthen(&mut self.external, self.states.len().saturating_sub(1));
        lengthen(&mut self.meetings, self.states.len().saturating_sub(1));
        meter.stored((self.n_expanded() - before) as u64);
        meter.expanded((self.n_expanded() - before) as u64);
        self.count(meter);
        if meter.may_go_on(0) { Flow::Continue(()) } else { Flow::Break(()) }
    }

    /// Reports to the meter what the graph takes.
    fn count(&mut self, meter: &Meter<'_>) {
        let states = self.states.bytes() + self.states.len() as u64 * 60;
        let edges = self.own.len() as u64 * 8 + self.log.len() as u64 * 24 + self.meeting_log.len() as u64 * 80;
        let now = states + edges;
        meter.add(now.saturating_sub(self.bytes));
        self.bytes = self.bytes.max(now);
    }
}

/// Makes a list long enough to have something at a position.
fn lengthen<T>(list: &mut Vec<Vec<T>>, at: usize) {
    if list.len() <= at {
        list.resize_with(at + 1, Vec::new);
    }
}

/// The step of a process's code that is an action at its control point.
pub fn step_of<const W: usize>(
    machine: &Machine<'_>,
    process: ProcessId,
    state: &Packed<W>,
    action: ActionId,
) -> ActionNumber {
    let point = machine.point(process, state);
    let found = (point.first..point.end).find(|&step| machine.code.steps[step as usize].action == action);
    found.expect("a process takes the steps of its control point")
}

/// The steps of a process's own that are a fault; faults are rare, and only `eval` knows whose they are.
fn faulty_steps<const W: usize>(machine: &Machine<'_>, process: ProcessId, state: &Packed<W>) -> Vec<ActionNumber> {
    let steps = eval::steps_of(machine.codec.model, &machine.codec.unpack(state), process);
    let faulty = steps.iter().filter(|step| step.result.is_err() && step.by.partner.is_none());
    let mut found: Vec<ActionNumber> = faulty.map(|step| step_of(machine, process, state, step.by.action)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Collects a process's own steps.
struct OwnSteps<'s, 'm, const W: usize> {
    machine: &'s Machine<'m>,
    meter: &'s Meter<'s>,
    process: ProcessId,
    state: &'s Packed<W>,
    /// The action whose paths come next.
    action: ActionNumber,
    found: Vec<(ActionNumber, Packed<W>)>,
    faults: bool,
}

impl<const W: usize> Sink<W> for OwnSteps<'_, '_, W> {
    fn begins(&mut self, action: ActionId, _partner: Option<(ProcessId, ActionId)>) {
        self.action = step_of(self.machine, self.process, self.state, action);
    }

    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.found.push((self.action, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.faults = true;
        Flow::Continue(())
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        let held = bytes + (self.found.len() * size_of::<Packed<W>>()) as u64;
        if self.meter.may_go_on(held) { Flow::Continue(()) } else { Flow::Break(()) }
    }
}

/// A step of two processes: the action, and the combined state after it.
pub type RendezvousStep<const W: usize> = (ActionNumber, Packed<W>);

/// The steps that a sender takes with a receiver from a combination of their local states; whether one is a fault.
pub fn meetings_of<const W: usize>(
    machine: &Machine<'_>,
    actions: &Actions<W>,
    (sender, receiver): (ProcessId, ProcessId),
    (state, scratch): (&Packed<W>, &Scratch<W>),
) -> (Vec<RendezvousStep<W>>, bool) {
    let mut steps = RendezvousSteps { machine, actions, sender, state, action: 0, found: Vec::new(), faults: false };
    let _goes_on = machine.expand_with((sender, SyncWith::Receiver(receiver)), state, scratch, &mut steps);
    (steps.found, steps.faults)
}

struct RendezvousSteps<'s, 'm, const W: usize> {
    machine: &'s Machine<'m>,
    actions: &'s Actions<W>,
    sender: ProcessId,
    state: &'s Packed<W>,
    action: ActionNumber,
    found: Vec<RendezvousStep<W>>,
    faults: bool,
}

impl<const W: usize> Sink<W> for RendezvousSteps<'_, '_, W> {
    fn begins(&mut self, action: ActionId, partner: Option<(ProcessId, ActionId)>) {
        if let Some((receiver, theirs)) = partner {
            let sends = step_of(self.machine, self.sender, self.state, action);
            let receives = step_of(self.machine, receiver, self.state, theirs);
            self.action = self.actions.meeting(sends, receives);
        }
    }

    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.found.push((self.action, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.faults = true;
        Flow::Continue(())
    }
}
