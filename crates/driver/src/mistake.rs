//! We are wrong: what ends a check without a verdict, and what the user is asked to send.
//!
//! An engine that contradicts itself, evidence that its audit refuses, two methods that disagree. None of them is a limit, and none
//! lets a verdict through; the command line makes exit status 4 of them.

use std::fmt;

use engine::EngineError;

use crate::auditor::AuditFailure;

/// A mistake of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Evidence that its audit refused, or two methods that disagree.
    Refused(AuditFailure),
    /// An engine that contradicts itself.
    Contradiction(EngineError),
}

impl From<AuditFailure> for Box<Mistake> {
    fn from(failure: AuditFailure) -> Self {
        Box::new(Mistake::Refused(failure))
    }
}

impl From<EngineError> for Box<Mistake> {
    fn from(error: EngineError) -> Self {
        Box::new(Mistake::Contradiction(error))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::Refused(failure) => write!(f, "{failure}"),
            Mistake::Contradiction(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Mistake {}
