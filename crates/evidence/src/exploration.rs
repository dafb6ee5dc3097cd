//! What a search of the whole product saw.
//!
//! This is no certificate: to check it one has to search again. It is named for what it is, and `audit` recounts small ones.

/// The size of a searched state space. States are distinct; transitions are distinct as (state, process, statement,
/// successor), real steps only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Reachable states found.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// States in which nobody can move and somebody is stuck.
    pub deadlocks: u64,
    /// Steps that are a fault.
    pub errors: u64,
    /// Steps on the longest of the shortest paths.
    pub depth: u64,
    /// Whether everything reachable was seen.
    pub complete: bool,
}

/// What a search of the whole product as sets saw: all reachable states at once, which are not looked at one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicSearch {
    /// How many states are reachable; `None` where there are too many to count.
    pub states: Option<u64>,
}
