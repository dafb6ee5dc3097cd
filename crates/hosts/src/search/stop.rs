//! Why a search ended early, in a form that workers and processes send each other.
//!
//! In: a [`StopReason`] of a worker. Out: the same elsewhere, with the name of the host where the limit was reached.

use std::time::Duration;

use base::{Feature, StopReason, Unsupported};
use serde::{Deserialize, Serialize};

/// A limit, as workers tell each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// The user wants to end, or another worker has stopped.
    Cancelled,
    /// The time, in milliseconds.
    Time(u64),
    /// The memory, in bytes.
    Memory(u64),
    /// The disk, in words.
    Disk(String),
    /// What has no number any more.
    Numbers,
    /// Words about a property whose expression has no value.
    Property(String),
    /// Fair runs are among more nodes of a product than one process looks through.
    Remains(u64),
    /// A formula's automaton would have more states than this.
    Automaton(u64),
    /// A limit of one host, which stops all.
    OnHost(String, Box<Stop>),
}

impl Stop {
    /// A limit in a form that can be sent.
    pub fn new(reason: &StopReason) -> Self {
        match reason {
            StopReason::Cancelled => Stop::Cancelled,
            StopReason::TimeLimit(time) => Stop::Time(time.as_millis() as u64),
            StopReason::MemoryLimit(bytes) => Stop::Memory(*bytes),
            StopReason::Disk(why) => Stop::Disk(why.clone()),
            StopReason::PropertyError(why) => Stop::Property(why.clone()),
            StopReason::AutomatonLimit(most) => Stop::Automaton(*most),
            _ => Stop::Numbers,
        }
    }

    /// The limit of a worker, with its host where that matters.
    pub fn on(self, host: &str) -> Stop {
        match self {
            Stop::Memory(_) | Stop::Numbers | Stop::Disk(_) => Stop::OnHost(host.to_owned(), Box::new(self)),
            Stop::Cancelled
            | Stop::Time(_)
            | Stop::Property(_)
            | Stop::Remains(_)
            | Stop::Automaton(_)
            | Stop::OnHost(..) => self,
        }
    }

    /// Whether it is one of memory.
    pub fn is_memory(&self) -> bool {
        match self {
            Stop::Memory(_) => true,
            Stop::OnHost(_, stop) => stop.is_memory(),
            _ => false,
        }
    }

    /// The reason of an answer.
    pub fn reason(&self) -> StopReason {
        match self {
            Stop::Cancelled => StopReason::Cancelled,
            Stop::Time(time) => StopReason::TimeLimit(Duration::from_millis(*time)),
            Stop::Memory(bytes) => StopReason::MemoryLimit(*bytes),
            Stop::Disk(why) => StopReason::Disk(why.clone()),
            Stop::Numbers => Unsupported::about(Feature::Numbers, "states").into(),
            Stop::Property(why) => StopReason::PropertyError(why.clone()),
            Stop::Remains(n_nodes) => {
                let why = format!(
                    "fair runs are among {n_nodes} states of the product with the property's automaton, more than one process looks through for a run to show"
                );
                Unsupported::about(Feature::Checking, why).into()
            }
            Stop::Automaton(most) => StopReason::AutomatonLimit(*most),
            Stop::OnHost(host, stop) => StopReason::OnHost { host: host.clone(), reason: Box::new(stop.reason()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_the_same_elsewhere_and_names_its_host() {
        let there_and_back = |reason: StopReason| Stop::new(&reason).on("node1").reason();
        assert_eq!(there_and_back(StopReason::Cancelled), StopReason::Cancelled);
        let time = StopReason::TimeLimit(Duration::from_millis(1500));
        assert_eq!(there_and_back(time.clone()), time);
        let memory = there_and_back(StopReason::MemoryLimit(64 << 20));
        assert_eq!(memory.code(), "memory-limit");
        assert!(memory.to_string().starts_with("on host node1: the memory limit of 64"), "{memory}");
        let automaton = StopReason::AutomatonLimit(7);
        assert_eq!(there_and_back(automaton.clone()), automaton);
        let many = Stop::Remains(9).on("node1").reason();
        assert!(many.to_string().starts_with("fair runs are among 9 states of the product"), "{many}");
        let full = StopReason::Disk("no space is left".to_owned());
        assert_eq!(there_and_back(full).to_string(), "on host node1: no space is left");
    }
}
