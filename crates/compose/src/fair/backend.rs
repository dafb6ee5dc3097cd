//! What a representation of abstract processes must offer.
//!
//! The **store** is what all processes see: the shared and public cells, and of every process the block of its local states that the
//! exposed facts distinguish. The abstract process of a *focus* has its own turns and, for every other process, the changes of the store
//! that some of its local states allows; a rendezvous is one turn of two processes. A backend keeps for every process the local states at each store (its split invariant), and
//! says whether an abstract process has a fair run.

use base::StopReason;
use engine::{Halt, Statistics};
use evidence::certificate::{LocalFact, NoFairRun, Sights, SplitInvariant};
use model::eval::{State, Turn};
use model::process::ProcessId;

use super::locals::LocalState;

/// Which runs of the abstract process of the focus are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairRunQuery {
    /// The position of the violation in the property's list.
    pub violation: usize,
    /// Whether turns of the focus itself must carry the automaton's first mark infinitely often (any turn counts where it has none).
    pub focus_accepts: bool,
    /// Which automaton reads the stores.
    pub automaton: AutomatonChoice,
}

/// Which automaton of a violation reads the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomatonChoice {
    /// A small one.
    Simplified,
    /// That of [`evidence::plain`], about which claims are made.
    Reference,
}

/// What became of an attempt to write down a proof.
pub enum WrittenProof {
    /// The claim and the split invariant that it uses.
    Proof(SplitInvariant, Box<NoFairRun>),
    /// There is a proof, but the sets are too large to be explicit.
    TooLarge,
    /// With the plain automaton the abstract processes of these have fair runs: the rule is about an automaton, not about its words.
    Open(Vec<ProcessId>),
}

/// Which turns of other processes a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transitions {
    /// Those that some local state of the process allows.
    May,
    /// Those that every local state of the process, and of its partners, at the store allows.
    Must,
}

/// A point of an abstract run.
#[derive(Clone, Debug)]
pub struct AbstractPoint {
    /// The shared and public cells, and the local state of the focus; the rest of it means nothing.
    pub state: State,
    /// By process: the block that its local state is in.
    pub blocks: Vec<usize>,
}

/// A turn in an abstract run.
#[derive(Clone, Debug)]
pub struct AbstractTurn {
    /// The process that has the turn; of a rendezvous, the sender.
    pub mover: ProcessId,
    /// The receiver of a rendezvous.
    pub partner: Option<ProcessId>,
    /// The turn, where the focus has a part in it.
    pub own: Option<Turn>,
    /// The positions of the fairness assumptions that the turn itself satisfies.
    pub satisfied: Vec<usize>,
    /// Whether every local state of the mover, and of those with which it could have a rendezvous, allows it.
    pub is_must: bool,
}

/// A run of an abstract process that goes round for ever.
#[derive(Clone, Debug)]
pub struct AbstractRun {
    /// The process.
    pub focus: ProcessId,
    /// The points; after the last turn comes `points[loop_from]` again.
    pub points: Vec<AbstractPoint>,
    /// One turn for each point.
    pub turns: Vec<AbstractTurn>,
    /// Where the loop begins.
    pub loop_from: usize,
}

impl AbstractRun {
    /// The position of the point after a turn.
    pub fn after(&self, turn: usize) -> usize {
        if turn + 1 == self.points.len() { self.loop_from } else { turn + 1 }
    }
}

/// Local states by store, and abstract processes.
pub trait FairBackend {
    /// Forgets all exposed facts.
    fn forget(&mut self) -> Result<(), StopReason>;

    /// Makes facts visible to all processes; whether one of them splits a block.
    fn expose(&mut self, facts: &[(ProcessId, LocalFact)]) -> Result<bool, StopReason>;

    /// Computes the strongest split invariant for what is exposed now.
    fn close(&mut self) -> Result<(), StopReason>;

    /// A fair run of an abstract process, if there is one.
    ///
    /// # Errors
    /// A limit that was reached, or sets that contradict each other.
    fn fair_run(
        &mut self,
        focus: ProcessId,
        query: FairRunQuery,
        turns: Transitions,
    ) -> Result<Option<AbstractRun>, Halt>;

    /// The block that a local state of a process is in.
    fn block_of(&self, process: ProcessId, local: &LocalState) -> usize;

    /// The local states of a process at the store of a point.
    fn locals_at(&mut self, process: ProcessId, point: &AbstractPoint) -> Result<Vec<LocalState>, StopReason>;

    /// Writes down that the abstract processes of some have no fair run (`focus_accepts` as in [`FairRunQuery`]).
    fn prove(&mut self, violation: usize, focus_accepts: bool, foci: &[ProcessId]) -> Result<WrittenProof, StopReason>;

    /// Leaves out what these sums exclude when sets are computed again; what no sum excludes, where there are none. Whether it can.
    fn prune(&mut self, _sums: Option<&Sights>) -> bool {
        false
    }

    /// What the sets take and how large they are.
    fn statistics(&self) -> Statistics;
}
