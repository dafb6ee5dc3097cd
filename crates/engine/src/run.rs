//! What one run over one program yields: the driver makes it, `report` shows it.

use std::time::Duration;

use base::{Diagnostic, SourceFile, StopReason};
use evidence::certificate::Obligations;
use model::Model;

use crate::insight::Insight;
use crate::{PropertyId, Statistics, Verdict};

/// One program, one instance, all its questions answered.
#[derive(Clone, Debug)]
pub struct Run {
    /// The text, with the name that the user gave for it.
    pub source: SourceFile,
    /// The checked program.
    pub model: Model,
    /// What the front-end warns of.
    pub warnings: Vec<Diagnostic>,
    /// One for each property that was asked for, in the order of the text.
    pub results: Vec<PropertyResult>,
    /// How long all of it took.
    pub time: Duration,
}

/// A question, its answer, and whether the evidence was checked by somebody else.
#[derive(Clone, Debug)]
pub struct PropertyResult {
    /// The question.
    pub property: PropertyId,
    /// The method that answered.
    pub method: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// Whether the independent checker accepted the evidence, and on what.
    pub audit: Audit,
    /// What it took.
    pub statistics: Statistics,
    /// What else was found out.
    pub insight: Insight,
}

/// What the independent checker came to. Evidence that it refuses is an internal error, and never gets here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audit {
    /// There is no evidence, or none that is small enough to look at again.
    NotDone,
    /// The evidence was looked at again: a trace replayed, a small product searched.
    Accepted,
    /// Every obligation of a local proof was discharged.
    Proof(Obligations),
    /// A limit was reached before a local proof was judged.
    Stopped(StopReason),
}

impl Audit {
    /// Whether the evidence was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Audit::Accepted | Audit::Proof(_))
    }
}

impl PropertyResult {
    /// Whether the verdict is the one that the property's author expects; `None` where it is not decided.
    pub fn as_expected(&self, model: &Model) -> Option<bool> {
        use model::property::Expected::{Holds, Violated};
        let expected = model.properties[self.property].expected;
        match self.verdict {
            Verdict::Holds(_) => Some(expected == Holds),
            Verdict::Violated(_) => Some(expected == Violated),
            Verdict::Unknown(_) => None,
        }
    }
}
