//! The reference semantics: initial states, steps and faults of a Model. This alone defines what a program means.
//!
//! In: a [`Model`] and a [`State`]. Out: the steps that can be taken there, each with its successor or its
//! fault; values of expressions; which processes are enabled, stuck, terminated; races. The method is direct interpretation, without any
//! cleverness: slow, short, obviously right. Packed evaluators and encodings are compared with it. `docs/semantics.md` says
//! the same in words.
//!
//! Values of expressions are in `expression.rs`, bodies of steps in `body.rs`, the move of control (loops, calls, returns)
//! in `flow.rs`, what `any` chooses from in `choice.rs`, rendezvous and whole steps in `step.rs`, initial states in
//! `initial.rs`, questions about one state in
//! `query.rs`, infinite runs and fairness in `run.rs`.

mod body;
mod choice;
mod expression;
mod flow;
mod initial;
mod query;
mod run;
mod step;

use std::collections::BTreeSet;

use base::Span;

use crate::Model;
use crate::control::{ActionId, PlaceId};
use crate::process::ProcessId;
use crate::value::{Fault, Value};
use crate::variable::CellId;

pub use expression::{Viewpoint, evaluate};
pub use flow::{ControlFlow, Counters, control_after};
pub use initial::{
    InitialStates, MOST_CONSTRAINED, free_cells, initial_faults, initial_states, is_initial, n_initial_states,
};
pub use query::{Contender, Race, able, able_by, is_deadlock, is_idle, is_terminated, may_end, race, stuck_processes};
pub use run::{Turn, holds, is_true_of, likely_turns, turns};
pub use step::{
    attempts_of, attempts_up_to, likely_steps_of, likely_touched_along, likely_touched_by, local_attempts_up_to,
    receptions_of, steps, steps_of, steps_up_to, touched_by, touched_by_process,
};

/// A state of the whole program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The content of each cell of the Model, in its order.
    pub cells: Vec<Value>,
    /// The stack of each process; the bottom frame, which is first, is the process's own text.
    pub stacks: Vec<Vec<Frame>>,
}

/// One activation of a text: its control location, and the values of its locals.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Where control is.
    pub control: Control,
    /// The procedure's variables; empty at the bottom, whose variables are cells.
    pub slots: Vec<Value>,
}

/// Where control is in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Control {
    /// At a place. The top frame always is.
    At(PlaceId),
    /// Waiting for the call of this action to return; all frames below the top are.
    Calling(ActionId),
}

/// The process and its action, or a rendezvous, and where the step goes on, the links that follow in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    /// The process of the first link; of a rendezvous, the sender.
    pub process: ProcessId,
    /// Its action.
    pub action: ActionId,
    /// The receiver of a rendezvous and its action.
    pub partner: Option<(ProcessId, ActionId)>,
    /// What follows in the same step, each by the process to which the link before leaves control.
    pub then: Vec<Link>,
}

/// One action, or one rendezvous, of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// The process of the link; of a rendezvous, the sender.
    pub process: ProcessId,
    /// Its action.
    pub action: ActionId,
    /// The receiver of a rendezvous and its action.
    pub partner: Option<(ProcessId, ActionId)>,
}

impl From<Link> for Move {
    fn from(Link { process, action, partner }: Link) -> Self {
        Move { process, action, partner, then: Vec::new() }
    }
}

impl Move {
    /// One action of one process.
    pub fn alone(process: ProcessId, action: ActionId) -> Self {
        Link { process, action, partner: None }.into()
    }

    /// What it begins with; whether the step is enabled depends on this alone.
    pub fn first(&self) -> Link {
        Link { process: self.process, action: self.action, partner: self.partner }
    }

    /// Its actions and rendezvous, one after another.
    pub fn links(&self) -> impl Iterator<Item = Link> {
        std::iter::once(self.first()).chain(self.then.iter().copied())
    }

    /// Whether the process has a part in it.
    pub fn involves(&self, process: ProcessId) -> bool {
        self.links().any(|link| link.action_of(process).is_some())
    }

    /// The actions of a process in it.
    pub fn actions_of(&self, process: ProcessId) -> impl Iterator<Item = ActionId> {
        self.links().filter_map(move |link| link.action_of(process))
    }
}

impl Link {
    /// The processes that have a part in it.
    pub fn processes(self) -> impl Iterator<Item = ProcessId> {
        std::iter::once(self.process).chain(self.partner.map(|(partner, _)| partner))
    }

    /// The action of a process in it, if it has a part in it.
    pub fn action_of(self, process: ProcessId) -> Option<ActionId> {
        match self.partner {
            _ if self.process == process => Some(self.action),
            Some((partner, action)) if partner == process => Some(action),
            _ => None,
        }
    }

    /// The process that goes on after it in the same step, if one does.
    pub fn leaves_turn_to(self, model: &Model) -> Option<ProcessId> {
        let receiver = self.partner.filter(|&(_, action)| model.actions[action].goes_on).map(|(receiver, _)| receiver);
        receiver.or_else(|| model.actions[self.action].goes_on.then_some(self.process))
    }

    /// Whether it is enabled only where nothing else is.
    pub fn is_when_nobody(self, model: &Model) -> bool {
        let theirs = self.partner.map(|(_, action)| action);
        std::iter::once(self.action).chain(theirs).any(|action| model.actions[action].when_nobody)
    }
}

/// A step that is enabled in a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The processes and actions of the step.
    pub by: Move,
    /// The successor; a faulty step is enabled and has none.
    pub result: Result<State, StepFault>,
}

/// An error of the program, and where it happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepFault {
    /// What went wrong.
    pub fault: Fault,
    /// The part of the text that was being evaluated.
    pub span: Span,
}

/// One read or write of a cell in the course of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Touch {
    /// The process on whose behalf it happens.
    pub process: ProcessId,
    /// The cell.
    pub cell: CellId,
    /// Whether the cell is written; otherwise it is read.
    pub writes: bool,
}

/// What the attempts of a process to step depend on and change in a state, whether a step comes of them or not. Two states
/// that agree on all of it, and on the control locations of the process and of its partners, let it take the same steps. It is about
/// one state; [`crate::footprint`] says what an action may touch in any state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The cells that are read or written: also by guards that are false and by paths that end at an `await`.
    pub cells: BTreeSet<CellId>,
    /// The processes whose control locations are read: by `P@l`, or to decide whether any process is enabled.
    pub places: BTreeSet<ProcessId>,
    /// The processes whose control locations decide with whom there is a rendezvous: all that take the other side of a channel somewhere in their text.
    pub partners: BTreeSet<ProcessId>,
}

impl State {
    /// The place of the top frame of a process.
    pub fn place(&self, process: ProcessId) -> PlaceId {
        match self.top(process).control {
            Control::At(place) => place,
            Control::Calling(_) => unreachable!("only frames below the top wait for a call"),
        }
    }

    /// The top frame of a process.
    pub fn top(&self, process: ProcessId) -> &Frame {
        self.stacks[process.index()].last().expect("the bottom frame is never popped")
    }

    fn top_mut(&mut self, process: ProcessId) -> &mut Frame {
        self.stacks[process.index()].last_mut().expect("the bottom frame is never popped")
    }
}
