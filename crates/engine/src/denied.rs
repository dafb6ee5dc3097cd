//! What a user does not accept although the verdict is the expected one: `--deny vacuous,unused,unaudited`.
//!
//! In: a result, with what else was found out about it. Out: which of the refused kinds it is of. The table of the kinds is here; help, documents and
//! the reports take their words from it.

use std::fmt;

use crate::insight::Need;
use crate::run::PropertyResult;

/// A kind of result that can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Denied {
    /// The property holds only because what it speaks of never happens.
    Vacuous,
    /// The property has an assumption that it does not need.
    Unused,
    /// No independent code checked the verdict: only the method claims it.
    Unaudited,
}

impl Denied {
    /// All of them.
    pub const ALL: [Denied; 3] = [Denied::Vacuous, Denied::Unused, Denied::Unaudited];

    /// What it is called on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Denied::Vacuous => "vacuous",
            Denied::Unused => "unused",
            Denied::Unaudited => "unaudited",
        }
    }

    /// What it is, for help.
    pub fn about(self) -> &'static str {
        match self {
            Denied::Vacuous => "Properties that hold only because what they speak of never happens",
            Denied::Unused => "Properties with an assumption that they do not need",
            Denied::Unaudited => "Verdicts for which nobody but the method vouches",
        }
    }

    /// Whether it can be known only by asking more questions about the answer.
    pub fn needs_insight(self) -> bool {
        self != Denied::Unaudited
    }

    /// Whether a result is of this kind. What was not found out is not refused.
    pub fn is(self, result: &PropertyResult) -> bool {
        match self {
            Denied::Vacuous => result.insight.is_vacuous() == Some(true),
            Denied::Unused => result.insight.assumptions.iter().any(|one| one.need == Need::NotNeeded),
            Denied::Unaudited => result.unaudited().is_some(),
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
