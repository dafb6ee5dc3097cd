//! Actions, what each may write, and which processes see it.
//!
//! An action is a step of one process at one control point, or a sender's and a receiver's together. What it may write is known
//! without a state (a superset); to a process that sees some of it the action is **external**.

use model::footprint::{Footprint, footprint, view};
use model::process::ProcessId;
use model::variable::CellId;
use rustc_hash::FxHashMap;

use packed::code::SyncStep;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::words::{add, and, is_zero, or};

/// The number of an action.
pub type ActionNumber = u32;

/// The actions of a program, and what processes see.
pub struct Actions<const W: usize> {
    /// By process: the bits of what it sees.
    pub masks: Vec<Packed<W>>,
    /// By action: the processes that take part, the sender first.
    pub movers: Vec<(ProcessId, Option<ProcessId>)>,
    /// By action: the bits that it may write, the control of its movers included.
    pub writes: Vec<Packed<W>>,
    /// By action: the bits that it may read, the control of its movers included.
    pub reads: Vec<Packed<W>>,
    /// By action: its steps in the code, the receiver's where there is one.
    pub steps: Vec<(u32, Option<u32>)>,
    /// By process and action: whether the process sees what the action may write, and does not take part.
    external: Vec<Vec<bool>>,
    /// The actions of two steps.
    meetings: FxHashMap<(u32, u32), ActionNumber>,
    /// By two processes: whether they see something in common, or can step together.
    shares: Vec<Vec<bool>>,
    /// By two processes: whether the first can send to the second.
    can_rendezvous: Vec<Vec<bool>>,
}

impl<const W: usize> Actions<W> {
    /// The actions of a compiled program.
    pub fn new(machine: &Machine<'_>) -> Self {
        let n_processes = machine.codec.model.processes.len();
        let mut actions = Actions {
            masks: vec![[0; W]; n_processes],
            movers: Vec::new(),
            writes: Vec::new(),
            reads: Vec::new(),
            steps: Vec::new(),
            external: Vec::new(),
            meetings: FxHashMap::default(),
            shares: Vec::new(),
            can_rendezvous: vec![vec![false; n_processes]; n_processes],
        };
        actions.add_steps(machine);
        actions.add_meetings(machine);
        let sees = |process: usize| {
            let is_external = |(&(mover, partner), writes): (&(ProcessId, Option<ProcessId>), &Packed<W>)| {
                let takes_part = mover.index() == process || partner.is_some_and(|other| other.index() == process);
                !takes_part && !is_zero(&and(writes, &actions.masks[process]))
            };
            actions.movers.iter().zip(&actions.writes).map(is_external).collect()
        };
        actions.external = (0..n_processes).map(sees).collect();
        actions.shares = (0..n_processes)
            .map(|one| {
                let share = |other: usize| {
                    let common = and(&actions.masks[one], &actions.masks[other]);
                    one != other
                        && (!is_zero(&common)
                            || actions.can_rendezvous[one][other]
                            || actions.can_rendezvous[other][one])
                };
                (0..n_processes).map(share).collect()
            })
            .collect();
        actions
    }

    fn add_steps(&mut self, machine: &Machine<'_>) {
        let (codec, model) = (machine.codec, machine.codec.model);
        let field = |cell: CellId| codec.layout.locations[cell.index()].0;
        for process in model.processes.ids() {
            let mut mask = [0; W];
            add(&mut mask, codec.layout.control[process.index()]);
            let first = model.processes[process].first_cell;
            let own = first..first + model.families[model.processes[process].family].n_cells;
            own.for_each(|cell| add(&mut mask, field(CellId::new(cell))));
            // What a step mentions that never can be taken is seen, too, so that all local methods see the same.
            view(model, process).into_iter().for_each(|cell| add(&mut mask, field(cell)));
            let points = codec.plan.points[process.index()].iter();
            for (point, steps) in points.zip(&machine.code.points[process.index()]) {
                let counter = |&(id, value)| (model.loops[id].counter, value);
                let counters = point.counters.iter().map(counter).collect();
                for step in steps.first..steps.end {
                    let action = machine.code.steps[step as usize].action;
                    let Footprint { reads, writes, looks_at, .. } = footprint(model, process, action, &counters);
                    let control = codec.layout.control[process.index()];
                    let (mut read, mut written) = ([0; W], [0; W]);
                    add(&mut read, control);
                    add(&mut written, control);
                    reads.iter().for_each(|&cell| add(&mut read, field(cell)));
                    looks_at.iter().for_each(|other| add(&mut read, codec.layout.control[other.index()]));
                    writes.iter().for_each(|&cell| add(&mut written, field(cell)));
                    looks_at.iter().for_each(|other| add(&mut mask, codec.layout.control[other.index()]));
                    debug_assert_eq!(self.movers.len(), step as usize);
                    self.movers.push((process, None));
                    self.reads.push(read);
                    self.writes.push(written);
                    self.steps.push((step, None));
                }
            }
            self.masks[process.index()] = mask;
        }
    }

    fn add_meetings(&mut self, machine: &Machine<'_>) {
        let side = |step: usize| machine.code.steps[step].sync.as_deref();
        let n_steps = machine.code.steps.len();
        let receives: Vec<usize> = (0..n_steps).filter(|&s| matches!(side(s), Some(SyncStep::Receive(..)))).collect();
        for sender in 0..n_steps {
            let Some(SyncStep::Send(channel, _)) = side(sender) else { continue };
            for &receiver in &receives {
                let Some(SyncStep::Receive(other, _)) = side(receiver) else { continue };
                let (from, to) = (self.movers[sender].0, self.movers[receiver].0);
                if channel != other || from == to {
                    continue;
                }
                self.can_rendezvous[from.index()][to.index()] = true;
                self.meetings.insert((sender as u32, receiver as u32), self.movers.len() as u32);
                self.movers.push((from, Some(to)));
                self.reads.push(or(&self.reads[sender], &self.reads[receiver]));
                self.writes.push(or(&self.writes[sender], &self.writes[receiver]));
                self.steps.push((sender as u32, Some(receiver as u32)));
            }
        }
    }

    /// How many processes there are.
    pub fn n_processes(&self) -> usize {
        self.masks.len()
    }

    /// How many actions there are.
    pub fn n_actions(&self) -> usize {
        self.movers.len()
    }

    /// Whether a process sees what an action of others may write.
    #[inline]
    pub fn is_external(&self, process: usize, action: ActionNumber) -> bool {
        self.external[process][action as usize]
    }

    /// Whether two processes see something in common, or can step together.
    #[inline]
    pub fn shares(&self, one: usize, other: usize) -> bool {
        self.shares[one][other]
    }

    /// Whether one process can send to another.
    pub fn can_rendezvous(&self, sender: usize, receiver: usize) -> bool {
        self.can_rendezvous[sender][receiver]
    }

    /// What two processes both see.
    pub fn common(&self, one: usize, other: usize) -> Packed<W> {
        and(&self.masks[one], &self.masks[other])
    }

    /// The action of a sender's and a receiver's step.
    pub fn meeting(&self, sender: u32, receiver: u32) -> ActionNumber {
        self.meetings[&(sender, receiver)]
    }

    /// Whether a process takes part in an action.
    #[inline]
    pub fn takes_part(&self, process: usize, action: ActionNumber) -> bool {
        let (mover, partner) = self.movers[action as usize];
        mover.index() == process || partner.is_some_and(|partner| partner.index() == process)
    }
}
