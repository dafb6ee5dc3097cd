//! Local state graphs as results: what each process can see happen, counted and drawn.

use std::time::Duration;

use base::StopReason;
use model::process::ProcessId;

/// The local state graphs of a program.
#[derive(Clone, Debug)]
pub struct LocalGraphs {
    /// By process.
    pub graphs: Vec<LocalGraph>,
    /// Why they are not complete, if they are not.
    pub stopped: Option<StopReason>,
    /// How many joint states of two processes were found, where the engine searched for them.
    pub joint_states: Option<u64>,
    /// How long it took.
    pub time: Duration,
    /// The most memory that the data took.
    pub peak_memory_bytes: u64,
}

/// The local state graph of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalGraph {
    /// The process.
    pub process: ProcessId,
    /// How many local states there are.
    pub n_states: u64,
    /// How many transitions: distinct (state, action, state).
    pub n_transitions: u64,
    /// The graph itself, if it was asked for.
    pub drawing: Option<Drawing>,
}

/// A graph with names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The local states, each with its place and the cells that it sees; the initial ones come first.
    pub states: Vec<DrawnState>,
    /// The transitions.
    pub edges: Vec<DrawnEdge>,
    /// How many of the states are initial.
    pub n_initial: usize,
}

/// A local state with names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawnState {
    /// The place of its control location.
    pub place: String,
    /// What it sees: names of cells and what is in them.
    pub cells: Vec<(String, String)>,
}

/// A transition with names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawnEdge {
    /// From which state, by position.
    pub from: u32,
    /// To which state.
    pub to: u32,
    /// The processes of the step; of a rendezvous, the sender first.
    pub movers: Vec<ProcessId>,
    /// What the user wrote for the step.
    pub text: String,
}
