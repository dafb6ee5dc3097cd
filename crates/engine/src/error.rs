//! We are wrong: what an engine reports when two things that it knows cannot both be true.
//!
//! Deep inside an engine work ends with a [`Halt`]: a limit, which is an ordinary answer, or a [`Contradiction`]. At the engine's
//! boundary a contradiction becomes an [`EngineError`], which names the program, the property and the method, so that the report of it
//! says what has to be run again to see it. There is no verdict then, and no evidence is made up.

use std::fmt;

use base::StopReason;
use model::Model;

use crate::PropertyId;

/// Two things that cannot both be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// What has to be so: a theorem, or what another part of the engine computed.
    pub expected: String,
    /// What the engine found instead.
    pub found: String,
}

impl Contradiction {
    /// What has to be so, and what was found instead.
    pub fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Contradiction { expected: expected.into(), found: found.into() }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, but {}", self.expected, self.found)
    }
}

/// Why an engine's work ends without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A limit was reached, or the method does not decide it: an ordinary answer.
    Stopped(StopReason),
    /// The engine contradicts itself.
    Contradiction(Contradiction),
}

impl From<StopReason> for Halt {
    fn from(reason: StopReason) -> Self {
        Halt::Stopped(reason)
    }
}

impl From<Contradiction> for Halt {
    fn from(contradiction: Contradiction) -> Self {
        Halt::Contradiction(contradiction)
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::Stopped(reason) => write!(f, "{reason}"),
            Halt::Contradiction(contradiction) => write!(f, "{contradiction}"),
        }
    }
}

impl Halt {
    /// The limit that was reached.
    ///
    /// # Errors
    /// The contradiction, if it is one.
    pub fn stopped(self) -> Result<StopReason, Contradiction> {
        match self {
            Halt::Stopped(reason) => Ok(reason),
            Halt::Contradiction(contradiction) => Err(contradiction),
        }
    }
}

/// An engine that contradicts itself, with what it takes to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineError {
    /// The method.
    pub method: &'static str,
    /// The program's name and parameters.
    pub program: String,
    /// The property.
    pub property: String,
    /// What cannot be true.
    pub contradiction: Contradiction,
}

impl EngineError {
    /// A method contradicts itself on a property of a program.
    pub fn new(method: &'static str, (model, property): (&Model, PropertyId), contradiction: Contradiction) -> Self {
        let property = model.properties[property].name.clone();
        EngineError { method, program: title(model), property, contradiction }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EngineError { method, program, property, contradiction } = self;
        write!(f, "in {program}, method `{method}` contradicts itself on `{property}`: {contradiction}")
    }
}

impl std::error::Error for EngineError {}

/// The program's name with its parameters, as internal errors name it.
pub fn title(model: &Model) -> String {
    let parameters = model.numbers().map(|(name, value)| format!(", {name} = {value}"));
    format!("{}{}", model.name, parameters.collect::<String>())
}
