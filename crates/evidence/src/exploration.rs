//! What a search of the whole product saw.
//!
//! This is no certificate: to check it one has to search again. It is named for what it is, and `audit` recounts small ones.

/// The size of a searched state space. States are distinct; transitions are distinct as (state, process, statement,
/// successor), real steps only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// Reachable states found.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// States in which no process is enabled and some process is blocked.
    pub deadlocks: u64,
    /// Steps that are a fault.
    pub errors: u64,
    /// Steps on the longest of the shortest paths.
    pub depth: u64,
    /// Whether everything reachable was seen.
    pub complete: bool,
}

/// What a search with sets of states saw, which are not examined one by one and can be too large to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolicSearch {
    /// All reachable states of the whole product at once.
    Whole {
        /// How many there are; `None` where there are too many to count.
        states: Option<u64>,
    },
    /// What each process sees of all runs, one process at a time.
    Local,
}
