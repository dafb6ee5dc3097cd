//! Limits on time and memory, cancellation, and why work stopped.
//!
//! Long work asks its [`Budget`] every few thousand steps; a limit that is reached is an ordinary answer, a
//! [`StopReason`], never an abort. Memory is what the work itself says that it holds, so that the same limit means the
//! same on every machine; `report` shows the process's own peak beside it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set once, from anywhere (a signal handler, another thread), to end work soon.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks all work that holds this token to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a piece of work may use.
#[derive(Clone, Debug)]
pub struct Budget {
    started: Instant,
    time: Option<Duration>,
    memory_bytes: Option<u64>,
    cancel: CancelToken,
}

impl Budget {
    /// No limits but cancellation.
    pub fn unlimited() -> Self {
        Self::new(None, None, CancelToken::default())
    }

    /// Limits that count from now.
    pub fn new(time: Option<Duration>, memory_bytes: Option<u64>, cancel: CancelToken) -> Self {
        Budget { started: Instant::now(), time, memory_bytes, cancel }
    }

    /// The reason to stop now, if there is one, for work that holds `memory_bytes`.
    pub fn check(&self, memory_bytes: u64) -> Result<(), StopReason> {
        if self.cancel.is_cancelled() {
            return Err(StopReason::Cancelled);
        }
        match self.time {
            Some(limit) if self.started.elapsed() >= limit => return Err(StopReason::TimeLimit(limit)),
            _ => {}
        }
        match self.memory_bytes {
            Some(limit) if memory_bytes > limit => Err(StopReason::MemoryLimit(limit)),
            _ => Ok(()),
        }
    }

    /// A part of what is left: at most this much time from now, the same memory, the same cancellation.
    pub fn slice(&self, time: Duration) -> Budget {
        let left = self.time.map(|limit| limit.saturating_sub(self.started.elapsed()));
        let time = left.map_or(time, |left| left.min(time));
        Budget { started: Instant::now(), time: Some(time), ..self.clone() }
    }

    /// How long ago the budget was made.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The limit on time, if there is one.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time
    }

    /// The limit on memory, if there is one.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory_bytes
    }
}

/// Why work ended without an answer. Each has a stable code for scripts and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked to stop (Ctrl-C).
    Cancelled,
    /// The time was used up.
    TimeLimit(Duration),
    /// The memory was used up, in bytes.
    MemoryLimit(u64),
    /// All nodes of decision diagrams that the memory has room for were used up.
    NodeLimit(u64),
    /// The automaton of a formula would have more states than this.
    AutomatonLimit(u64),
    /// The method's abstraction does not decide the question; the sentence says what does.
    TooCoarse(String),
    /// The chosen method does not answer this kind of question; the sentence says what does.
    NotSupported(String),
    /// The question itself could not be evaluated (an error inside a property's own expression).
    PropertyError(String),
}

impl StopReason {
    /// The stable code, as in the result document.
    pub fn code(&self) -> &'static str {
        match self {
            StopReason::Cancelled => "cancelled",
            StopReason::TimeLimit(_) => "time-limit",
            StopReason::MemoryLimit(_) => "memory-limit",
            StopReason::NodeLimit(_) => "node-limit",
            StopReason::AutomatonLimit(_) => "automaton-limit",
            StopReason::TooCoarse(_) => "too-coarse",
            StopReason::NotSupported(_) => "not-supported",
            StopReason::PropertyError(_) => "property-error",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Cancelled => write!(f, "interrupted"),
            StopReason::TimeLimit(limit) => write!(f, "the time limit of {} s was reached", limit.as_secs_f64()),
            StopReason::MemoryLimit(bytes) => write!(f, "the memory limit of {} MB was reached", bytes >> 20),
            StopReason::NodeLimit(n_nodes) => write!(f, "all {n_nodes} nodes of decision diagrams were used up"),
            StopReason::AutomatonLimit(n_states) => {
                write!(f, "the automaton of the formula is too large: more than {n_states} states")
            }
            StopReason::TooCoarse(why) | StopReason::NotSupported(why) | StopReason::PropertyError(why) => {
                write!(f, "{why}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_stops_with_its_own_reason() {
        let cancel = CancelToken::default();
        let budget = Budget::new(None, Some(100), cancel.clone());
        assert_eq!(budget.check(100), Ok(()));
        assert_eq!(budget.check(101), Err(StopReason::MemoryLimit(100)));
        cancel.cancel();
        assert_eq!(budget.check(0), Err(StopReason::Cancelled));
        let late = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
        assert_eq!(late.check(0), Err(StopReason::TimeLimit(Duration::ZERO)));
    }
}
