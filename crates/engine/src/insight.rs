//! What else was found out about an answer, so that it teaches: tried by asking similar questions.
//!
//! Of a violated temporal property, which assumptions would exclude such runs; of one that holds, which of its assumptions it
//! needs; and whether what a property speaks of ever happens. None of it is part of the verdict.

use evidence::Scope;

/// What was found out beside a verdict. What no engine examined is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Insight {
    /// Of a property that holds: what has to happen first for it to say something.
    pub triggers: Vec<Trigger>,
    /// Of a temporal property that holds: its assumptions.
    pub assumptions: Vec<Assumption>,
    /// Of a temporal property that is violated: assumptions that exclude the run that violates it, the best first.
    pub remedies: Vec<Remedy>,
    /// Of a property that is proved locally: larger sizes that are proved by the same invariants. An observation, never a proof for all sizes.
    pub other_sizes: Option<OtherSizes>,
    /// Of a property that holds at this size: the sizes at which it was proved beside that, by a proof that was checked.
    pub every_size: Option<Scope>,
    /// Of a property that is proved locally: how large the product is, which the proof did not explore.
    pub product: Option<ProductSize>,
}

/// How large the product of a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductSize {
    /// So many states, or more than so many.
    pub states: u64,
    /// Whether these are all.
    pub is_whole: bool,
}

/// Sizes of a program at which a property is proved by the same invariants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSizes {
    /// The parameter.
    pub parameter: String,
    /// Its values, beside the one that was asked for.
    pub same_for: Vec<i64>,
}

impl Insight {
    /// Whether the property holds only because what it speaks of never happens; `None` where that is not known.
    pub fn is_vacuous(&self) -> Option<bool> {
        if self.triggers.iter().any(|trigger| matches!(trigger.reached, Reached::Never | Reached::NoInstance)) {
            return Some(true);
        }
        let all_known = self.triggers.iter().all(|trigger| trigger.reached != Reached::Unknown);
        (!self.triggers.is_empty() && all_known).then_some(false)
    }

    /// The first remedy under which the property holds.
    pub fn cure(&self) -> Option<&Remedy> {
        self.remedies.iter().find(|remedy| remedy.outcome == AssumedOutcome::Holds)
    }
}

/// A condition without which a property says nothing: the `a` of `a ~> b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The condition, as the user wrote it.
    pub text: String,
    /// The variables that are bound around it and that it speaks of; all of them where there are no values for them.
    pub variables: Vec<String>,
    /// Whether it is ever true.
    pub reached: Reached,
}

/// For which values of the bound variables something happens in a reachable state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// For all of them.
    Always,
    /// For some, not for all.
    Sometimes,
    /// For some; it was not asked for which.
    AtLeastOnce,
    /// For none.
    Never,
    /// There are no such values.
    NoInstance,
    /// That was not found out.
    Unknown,
}

/// A fairness assumption of a property that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The assumption, as the user writes it.
    pub text: String,
    /// Whether the property needs it.
    pub need: Need,
}

/// Whether a property needs an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without it there is a run that violates the property, with a loop of so many steps.
    Needed(usize),
    /// It holds without it, and without all others that are not needed.
    NotNeeded,
    /// That was not found out.
    Unknown,
}

/// Assumptions that exclude the run that violates a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What is assumed in addition, as the user writes it.
    pub added: Vec<String>,
    /// All that is assumed then: the assumptions after `under`.
    pub under: String,
    /// What becomes of the property.
    pub outcome: AssumedOutcome,
}

/// What becomes of a property under more assumptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumedOutcome {
    /// It holds.
    Holds,
    /// Another run violates it, with a loop of so many steps.
    Violated(usize),
    /// That was not found out.
    Unknown,
}
