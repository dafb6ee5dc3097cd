//! Certificates for programs with procedures: path edges, callers, guarantees.
//!
//! A *local state* of a process is what it sees of the store (shared and public cells, and the facts that processes expose), its own
//! cells, and its top frame. An *activation* is a set of local states: number 0 belongs to the process's own text, every other one
//! starts in a local state in which a procedure begins. The stack below the top frame is not part of a local state; an activation says
//! its callers instead: from which local state, and which frame waits.
//!
//! **Rule.** A certificate proves its property if, for every process `t`,
//!
//! 1. *initiality*: every initial state, as `t` sees it, is in activation 0;
//! 2. *step*: from a local state of an activation every step of `t` that neither calls nor returns leads into the same activation; and
//!    every step of `t`, whatever its kind, that changes what others see is in the guarantee of `t`;
//! 3. *call*: where a step of `t` from a local state `c` calls a procedure, there is an activation that starts in the local state in
//!    which the procedure begins, contains it, and has `c` with the waiting frame among its callers;
//! 4. *return*: where a local state `x` of an activation returns, then for each of its callers `c` with frame `f` the local state after
//!    the return to `f` is in every activation that contains `c`;
//! 5. *non-interference*: for every local state of an activation of `t` and every guarantee of another process that agrees with it on
//!    what both see, the local state after the change is in the same activation;
//! 6. *implication*: no combination of local states of the processes concerned that agree on what they see in common violates the
//!    property; a process returns to the frames of its callers only.
//!
//! Then every reachable state, as `t` sees it, is in the activation to which its top frame belongs, and below it wait frames of callers:
//! by induction on runs. So the property holds, however deep stacks get. While a procedure runs, the counters of loops in the
//! process's own text are read by no process: they wait with the frame, and have their first values meanwhile.

use model::control::{PlaceId, ProcedureId};
use model::eval::Frame;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

/// Path edges, callers and guarantees of all processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushdownProof {
    /// What processes expose to each other; fact `n` is bit `n` of every [`LocalRow::exposed`].
    pub exposed: Vec<ExposedFact>,
    /// One for each process, in their order.
    pub threads: Vec<ThreadProof>,
}

/// A fact about the local store of one process that all processes see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExposedFact {
    /// Whose.
    pub process: ProcessId,
    /// What.
    pub part: LocalPart,
}

/// What a fact says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocalPart {
    /// The top frame is at one of these places.
    Place(Vec<PlaceId>),
    /// An own cell has one of these values.
    Cell(CellId, Vec<Value>),
    /// The top frame is that of a procedure, and the slot at this position has one of these values.
    Slot(ProcedureId, usize, Vec<Value>),
}

/// What is claimed of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadProof {
    /// The cells that a local state has: those that the process sees, ascending.
    pub cells: Vec<CellId>,
    /// The top frames that local states name.
    pub tops: Vec<Frame>,
    /// The frames that wait for a call to return.
    pub waiting: Vec<WaitingCall>,
    /// The local states.
    pub states: Vec<LocalRow>,
    /// The activations; the first one is that of the process's own text.
    pub activations: Vec<Activation>,
    /// The cells that a guarantee speaks of: those of `cells` that another process sees, ascending.
    pub store: Vec<CellId>,
    /// How the process may change them, each change once.
    pub guarantee: Vec<(StoreRow, StoreRow)>,
}

/// A frame that waits, and the loop counters of the process's own text that wait with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitingCall {
    /// The frame.
    pub frame: Frame,
    /// The counters, where the frame is that of the process's own text.
    pub counters: Vec<(CellId, Value)>,
}

/// A local state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalRow {
    /// For each cell the position of its value among those of its type.
    pub cells: Vec<u32>,
    /// The facts that hold, as bits.
    pub exposed: u64,
    /// The position of the top frame.
    pub top: u32,
}

/// What others see of a local state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreRow {
    /// For each cell of the store the position of its value among those of its type.
    pub cells: Vec<u32>,
    /// The facts that hold, as bits.
    pub exposed: u64,
}

/// Local states that are reached with one stack below the top frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activation {
    /// The local state in which it starts; `None` for the process's own text.
    pub start: Option<u32>,
    /// Positions of its local states, ascending: the path edges.
    pub states: Vec<u32>,
    /// Its callers: positions of a local state and of the frame that waits.
    pub callers: Vec<(u32, u32)>,
}

impl PushdownProof {
    /// How many path edges there are.
    pub fn n_path_edges(&self) -> usize {
        self.threads.iter().flat_map(|thread| &thread.activations).map(|one| one.states.len()).sum()
    }
}
