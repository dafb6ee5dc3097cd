//! Why a property follows from invariants, as a certificate states it: its parts, each with the processes concerned.
//!
//! In: the questions of a property, none of which has a positive answer, and what each process sees. Out: the same as
//! [`Implied`] parts. A question about a clause names that clause; that no step fails is said of every step by itself, and that
//! there is no race of every two. Where processes can be exchanged and the property treats them alike, parts are those of
//! representatives. Whether the parts make up the property, and hold, is for a checker to find out.

use evidence::implication::{Implied, Part};
use model::Model;
use model::control::{ChannelId, Scope, SyncSide};
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::variable::CellId;

use crate::question::Question;
use crate::symmetry::Symmetry;

/// States why a property follows from invariants.
pub struct Statement<'a, 'm> {
    /// The program.
    pub model: &'m Model,
    /// How many processes each invariant speaks of.
    pub k: usize,
    /// Whether a group sees a cell.
    pub sees: &'a dyn Fn(&[ProcessId], CellId) -> bool,
    /// The exchanges under which invariants stand for others.
    pub symmetry: Option<&'a Symmetry<'m>>,
}

impl Statement<'_, '_> {
    /// The parts of a property: of the questions, which are all of its, and of steps.
    pub fn of(&self, property: &PropertyKind, questions: &[Question]) -> Vec<Implied> {
        let clause = |question: &Question| {
            let part = Part::Clause(question.clause.clone()?);
            Some(Implied { part, from: self.concerned(question) })
        };
        match property {
            PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => questions.iter().filter_map(clause).collect(),
            PropertyKind::NoErrors => {
                let first = steps(self.model).into_iter().filter(|movers| self.is_first(movers));
                first.map(|movers| Implied { from: self.filled(&movers), part: Part::NoFault(movers) }).collect()
            }
            PropertyKind::RaceFree(_) => self.no_races(),
            PropertyKind::DeadlockFree => {
                vec![Implied { part: Part::NoDeadlock, from: self.model.processes.ids().collect() }]
            }
            PropertyKind::Temporal(_) => Vec::new(),
        }
    }

    /// The processes of a question and further ones: so many that there are `k`, and such that see the cells.
    pub fn concerned(&self, question: &Question) -> Vec<ProcessId> {
        let mut concerned = self.filled(&question.processes);
        for &cell in &question.cells {
            // A cell that nobody sees may have any value.
            if !(self.sees)(&concerned, cell)
                && let Some(watcher) = self.model.processes.ids().find(|&process| (self.sees)(&[process], cell))
            {
                concerned.push(watcher);
            }
        }
        concerned.sort_unstable();
        concerned
    }

    /// The processes, ascending, with the first others where they are fewer than `k`.
    fn filled(&self, processes: &[ProcessId]) -> Vec<ProcessId> {
        let mut filled = processes.to_vec();
        filled.sort_unstable();
        filled.dedup();
        let missing = self.k.saturating_sub(filled.len());
        let others: Vec<ProcessId> =
            self.model.processes.ids().filter(|other| !filled.contains(other)).take(missing).collect();
        filled.extend(others);
        filled.sort_unstable();
        filled
    }

    fn is_first(&self, sequence: &[ProcessId]) -> bool {
        self.symmetry.is_none_or(|symmetry| symmetry.is_first(sequence, &[]))
    }

    /// Every two steps; one rendezvous with another of the same processes, too.
    fn no_races(&self) -> Vec<Implied> {
        let steps = steps(self.model);
        let mut found = Vec::new();
        for (at, one) in steps.iter().enumerate() {
            for other in &steps[at..] {
                let both = [one.as_slice(), other].concat();
                let stands = self.is_first(&both) || self.is_first(&[other.as_slice(), one].concat());
                if stands && (one != other || one.len() > 1) {
                    found.push(Implied { from: self.filled(&both), part: Part::NoRace(one.clone(), other.clone()) });
                }
            }
        }
        found
    }
}

/// A family that sends or receives, and over which channel.
type Side = (FamilyId, ChannelId);

/// The processes of every step that the texts allow: one, or who sends and who receives over a common channel.
fn steps(model: &Model) -> Vec<Vec<ProcessId>> {
    let mut all: Vec<Vec<ProcessId>> = model.processes.ids().map(|process| vec![process]).collect();
    let (mut senders, mut receivers): (Vec<Side>, Vec<Side>) = Default::default();
    for action in &model.actions {
        if let (Scope::Family(family), Some(sync)) = (action.scope, &action.sync) {
            match sync.side {
                SyncSide::Send(_) => senders.push((family, sync.channel)),
                SyncSide::Receive(_) => receivers.push((family, sync.channel)),
            }
        }
    }
    for sender in model.processes.ids() {
        for receiver in model.processes.ids().filter(|&receiver| receiver != sender) {
            let [from, to] = [sender, receiver].map(|process| model.processes[process].family);
            let sends = senders.iter().filter(|(family, _)| *family == from);
            if { sends }.any(|(_, channel)| receivers.contains(&(to, *channel))) {
                all.push(vec![sender, receiver]);
            }
        }
    }
    all
}
