//! We are wrong: what ends a check without a verdict, and what the user is asked to send.
//!
//! An engine that contradicts itself, evidence that its audit refuses, two methods that disagree. None of them is a limit, and none
//! lets a verdict through; the command line makes exit status 4 of them.

use std::fmt;

use audit::AuditError;
use engine::error::title;
use engine::run::PropertyResult;
use engine::{EngineError, Verdict};
use model::Model;

use crate::auditor::{AuditFailure, word};

/// A mistake of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Evidence that its audit refused, or two methods that disagree.
    Refused(AuditFailure),
    /// An engine that contradicts itself.
    Contradiction(EngineError),
}

impl Mistake {
    /// Two answers to one question of which one says that the property holds and the other that it does not: one of them is wrong, and so are we.
    pub fn between(model: &Model, before: &PropertyResult, after: &PropertyResult) -> Option<Box<Mistake>> {
        use Verdict::{Holds, Violated};
        if !matches!((&before.verdict, &after.verdict), (Holds(_), Violated(_)) | (Violated(_), Holds(_))) {
            return None;
        }
        let says =
            |result: &PropertyResult| format!("method `{}` says that it {}", result.method, word(&result.verdict));
        let failure = AuditFailure {
            program: title(model),
            property: model.properties[after.property].name.clone(),
            method: after.method,
            verdict: word(&after.verdict),
            error: AuditError::new(says(after), says(before)),
        };
        Some(failure.into())
    }
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
