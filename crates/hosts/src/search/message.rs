//! What process 0 of a search tells who started it: one line of JSON each, on its standard output.
//!
//! In: that all processes are connected, each level, signs of life, and how it ended. Out: the same at the launcher.

use std::fmt;
use std::sync::Arc;

use evidence::Exploration;
use serde::{Deserialize, Serialize};

use super::Failure;
use super::levels::Outcome;

/// A line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// All processes are connected.
    Connected,
    /// The process is alive.
    Alive,
    /// A level was closed.
    Level(Progress),
    /// The search has ended.
    Ended(Box<Outcome>),
    /// The search has failed.
    Failed(Failure),
}

impl Message {
    /// As a line.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("what is told is plain data");
        line.push('\n');
        line
    }

    /// A line that is one.
    pub fn read(line: &str) -> Option<Message> {
        serde_json::from_str(line).ok()
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// States, all processes together.
    pub states: u64,
    /// States of the level that was closed.
    pub frontier: u64,
    /// Steps from the initial states.
    pub depth: u64,
    /// What the data of all processes takes.
    pub memory_bytes: u64,
}

/// Hears of each level.
#[derive(Clone)]
pub struct Teller(pub Arc<dyn Fn(Progress) + Send + Sync>);

impl fmt::Debug for Teller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Teller")
    }
}

/// The fields of an exploration, as they are sent.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Exploration")]
pub struct ExplorationForm {
    states: u64,
    transitions: u64,
    deadlocks: u64,
    errors: u64,
    depth: u64,
    complete: bool,
}
