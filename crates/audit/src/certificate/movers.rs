//! Which processes can step together: one process, or the two sides of a rendezvous.

use std::collections::BTreeSet;

use model::Model;
use model::control::{SyncSide, TextOwner};
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
    /// All that a program has: each process, and each two of which the text of the one sends on a channel on which the text of
    /// the other receives.
    pub fn all(model: &Model) -> Vec<Movers> {
        let mut all: Vec<Movers> = model.processes.ids().map(Movers::One).collect();
        for meeting in meetings(model) {
            for sender in model.families[meeting.from].processes() {
                let others = model.families[meeting.to].processes().filter(|&receiver| receiver != sender);
                all.extend(others.map(|receiver| Movers::Two { sender, receiver }));
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

/// Two families, of which processes of the one send what processes of the other may receive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    from: FamilyId,
    to: FamilyId,
}

/// All of them: for each statement that sends, each that receives on the same channel.
fn meetings(model: &Model) -> BTreeSet<Meeting> {
    let mut found = BTreeSet::new();
    let sides = || model.actions.iter().filter(|action| action.sync.is_some());
    for send in sides() {
        for receive in sides() {
            if let (TextOwner::Family(from), TextOwner::Family(to)) = (send.scope, receive.scope)
                && let (Some(one), Some(other)) = (&send.sync, &receive.sync)
                && let (SyncSide::Send(_), SyncSide::Receive(_)) = (&one.side, &other.side)
                && one.channel == other.channel
            {
                found.insert(Meeting { from, to });
            }
        }
    }
    found
}

/// The union of two ascending lists.
pub(super) fn union(one: &[ProcessId], other: &[ProcessId]) -> Vec<ProcessId> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}
