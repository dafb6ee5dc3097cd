//! Which processes can step together: one process, or the two sides of a rendezvous.

use std::collections::HashSet;

use model::Model;
use model::control::{ChannelId, SyncSide, TextOwner};
use model::eval::Move;
use model::process::{FamilyId, ProcessId};

/// The processes of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Movers {
    /// A process by itself.
    One(ProcessId),
    /// A rendezvous.
    Two {
        /// The side that sends.
        sender: ProcessId,
        /// The side that receives.
        receiver: ProcessId,
    },
}

impl Movers {
    /// All that a program has; pairs only where their texts name a common channel.
    pub fn all(model: &Model) -> Vec<Movers> {
        let mut sends: HashSet<(FamilyId, ChannelId)> = HashSet::new();
        let mut receives: HashSet<(FamilyId, ChannelId)> = HashSet::new();
        for action in &model.actions {
            if let (TextOwner::Family(family), Some(sync)) = (action.scope, &action.sync) {
                match sync.side {
                    SyncSide::Send(_) => sends.insert((family, sync.channel)),
                    SyncSide::Receive(_) => receives.insert((family, sync.channel)),
                };
            }
        }
        let family = |process: ProcessId| model.processes[process].family;
        let can_meet = |sender, receiver| {
            let common = |channel: ChannelId| {
                sends.contains(&(family(sender), channel)) && receives.contains(&(family(receiver), channel))
            };
            sender != receiver && model.channels.ids().any(common)
        };
        let mut all: Vec<Movers> = model.processes.ids().map(Movers::One).collect();
        if !sends.is_empty() {
            for sender in model.processes.ids() {
                let met = model.processes.ids().filter(|&receiver| can_meet(sender, receiver));
                all.extend(met.map(|receiver| Movers::Two { sender, receiver }));
            }
        }
        all
    }

    /// The processes, ascending.
    pub fn processes(self) -> Vec<ProcessId> {
        match self {
            Movers::One(process) => vec![process],
            Movers::Two { sender, receiver } => vec![sender.min(receiver), sender.max(receiver)],
        }
    }

    /// The processes in the order of their parts: who sends, who receives.
    pub fn sequence(self) -> Vec<ProcessId> {
        match self {
            Movers::One(process) => vec![process],
            Movers::Two { sender, receiver } => vec![sender, receiver],
        }
    }

    /// The process whose step it is in `eval`.
    pub fn leader(self) -> ProcessId {
        match self {
            Movers::One(process) => process,
            Movers::Two { sender, .. } => sender,
        }
    }

    /// Whether these are the processes of a move.
    pub fn make(self, by: &Move) -> bool {
        let partner = by.partner.map(|(partner, _)| partner);
        match self {
            Movers::One(process) => by.process == process && partner.is_none(),
            Movers::Two { sender, receiver } => by.process == sender && partner == Some(receiver),
        }
    }
}

/// The union of two ascending lists.
pub(super) fn union(one: &[ProcessId], other: &[ProcessId]) -> Vec<ProcessId> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}
