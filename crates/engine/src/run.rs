//! What one run over one program yields: the driver makes it, `report` shows it.

use std::fmt;
use std::time::Duration;

use base::{Diagnostic, SourceFile, StopReason};
use evidence::certificate::DischargedObligations;
use evidence::{Evidence, SymbolicSearch};
use model::Model;

use crate::denied::Denied;
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
    /// What all processors together worked on it, where the system reports it.
    pub processor_time: Option<Duration>,
    /// The method that the user asked for; the one that decided a property is with its result.
    pub method: &'static str,
}

/// A property, its answer, and whether the evidence was audited.
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
    /// Of what it is, what the user refuses whatever the verdict.
    pub denied: Vec<Denied>,
}

/// What the independent checker came to. Evidence that it refuses is an internal error, and never gets here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audit {
    /// There is no evidence, or none that is small enough to check.
    NotDone,
    /// The evidence was checked: a trace replayed, a small product searched again.
    Accepted,
    /// Every obligation of a local proof was discharged.
    Proof(DischargedObligations),
    /// A limit was reached before a local proof was judged.
    Stopped(StopReason),
}

impl Audit {
    /// Whether the evidence was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Audit::Accepted | Audit::Proof(_))
    }
}

/// Why a verdict rests on its method alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unaudited {
    /// The whole product is too large to be searched again.
    TooLarge,
    /// The method wrote no certificate.
    NoCertificate,
    /// A limit was reached before the certificate was judged.
    Stopped(StopReason),
}

impl Unaudited {
    /// A stable name for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Unaudited::TooLarge => "too-large",
            Unaudited::NoCertificate => "no-certificate",
            Unaudited::Stopped(reason) => reason.code(),
        }
    }
}

impl fmt::Display for Unaudited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unaudited::TooLarge => write!(f, "too large to be searched again by independent code"),
            Unaudited::NoCertificate => write!(f, "the method wrote no certificate for independent code to check"),
            Unaudited::Stopped(StopReason::NotSupported(why)) => write!(f, "{why}"),
            Unaudited::Stopped(reason) => write!(f, "{reason}"),
        }
    }
}

impl PropertyResult {
    /// Why only the method claims the verdict; `None` where the audit accepted the evidence, and where there is no verdict.
    pub fn unaudited(&self) -> Option<Unaudited> {
        let (Verdict::Holds(evidence) | Verdict::Violated(evidence)) = &self.verdict else { return None };
        match (&self.audit, evidence) {
            (Audit::Accepted | Audit::Proof(_), _) => None,
            (Audit::Stopped(reason), _) => Some(Unaudited::Stopped(reason.clone())),
            (Audit::NotDone, Evidence::Symbolic(SymbolicSearch::Local) | Evidence::Certificate(_)) => {
                Some(Unaudited::NoCertificate)
            }
            (Audit::NotDone, _) => Some(Unaudited::TooLarge),
        }
    }

    /// Notes which of these the result is, so that it counts as not expected.
    pub fn deny(&mut self, kinds: &[Denied]) {
        self.denied = Denied::ALL.into_iter().filter(|kind| kinds.contains(kind) && kind.is(self)).collect();
    }

    /// Whether the verdict is the one that the property's author expects, and nothing about it is refused; `None` where it is not decided.
    pub fn as_expected(&self, model: &Model) -> Option<bool> {
        self.has_expected_verdict(model).map(|is_expected| is_expected && self.denied.is_empty())
    }

    /// Whether the verdict is the one that the property's author expects; `None` where it is not decided.
    pub fn has_expected_verdict(&self, model: &Model) -> Option<bool> {
        use model::property::Expected::{Holds, Violated};
        let expected = model.properties[self.property].expected;
        match self.verdict {
            Verdict::Holds(_) => Some(expected == Holds),
            Verdict::Violated(_) => Some(expected == Violated),
            Verdict::Unknown(_) => None,
        }
    }
}
