//! Why evidence is refused: what it claims, and what the reference semantics says instead.

use std::fmt;

/// Evidence that failed its check. Both sides are said, so that the message is enough to start looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditError {
    /// The position in the trace that is wrong, counted in states from 0; `None` where it is not about one.
    pub position: Option<usize>,
    /// What the evidence claims.
    pub claim: String,
    /// What the reference semantics says.
    pub finding: String,
}

impl AuditError {
    /// A claim that is not about one position of a trace.
    pub fn new(claim: impl Into<String>, finding: impl Into<String>) -> Self {
        AuditError { position: None, claim: claim.into(), finding: finding.into() }
    }

    /// A claim about a state of a trace.
    pub fn at(position: usize, claim: impl Into<String>, finding: impl Into<String>) -> Self {
        AuditError { position: Some(position), claim: claim.into(), finding: finding.into() }
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            write!(f, "state {position}: ")?;
        }
        write!(f, "the evidence claims that {}; the reference semantics says that {}", self.claim, self.finding)
    }
}

impl std::error::Error for AuditError {}
