//! Local sets listed first, as decision diagrams where they grow too large for that.
//!
//! In: a task. Out: an answer for each property. Listed sets are many times faster as long as there are not too many view
//! states; what they do not decide because of their size is put to diagrams.

use base::StopReason;
use engine::{Answer, Engine, EngineError, Observer, PropertyId, Task};
use explicit::fair::{Fair, Rule};
use explicit::local::Local;
use model::Model;
use symbolic::engines::Symbolic;

/// Listed sets may take so much.
const LISTED_BYTES: u64 = 192 << 20;

/// The strongest invariants of `k` processes each.
#[derive(Clone, Copy, Debug)]
pub struct ListedFirst {
    /// How many processes each invariant speaks of.
    pub k: usize,
}

impl Engine for ListedFirst {
    fn name(&self) -> &'static str {
        Local::new(self.k).name()
    }

    fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        Local::new(self.k).supports(model, property)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let listed = Local { k: self.k, cap_bytes: cap(task, LISTED_BYTES) };
        let drawn = Symbolic::KIndex(self.k);
        one_then_other(task, observer, (&listed, &drawn), |answer| listed.outgrew(answer))
    }
}

/// Abstract processes may take so much: where they take more, there are too many stores for listing them.
const ABSTRACT_BYTES: u64 = 48 << 20;

/// Local proofs of temporal properties.
#[derive(Clone, Copy, Debug)]
pub struct FairListedFirst {
    /// Which method.
    pub rule: Rule,
}

impl Engine for FairListedFirst {
    fn name(&self) -> &'static str {
        Fair::new(self.rule).name()
    }

    fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        Fair::new(self.rule).supports(model, property)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let listed = Fair { rule: self.rule, cap_bytes: cap(task, ABSTRACT_BYTES) };
        let drawn = Symbolic::Fair(match self.rule {
            Rule::Ll => symbolic::local_fair::Rule::Ll,
            Rule::FllA => symbolic::local_fair::Rule::FllA,
            Rule::FllB => symbolic::local_fair::Rule::FllB,
        });
        one_then_other(task, observer, (&listed, &drawn), |answer| listed.outgrew(answer))
    }
}

/// What listed sets may take within the budget.
fn cap(task: &Task<'_>, bytes: u64) -> u64 {
    task.budget.memory_limit().map_or(bytes, |limit| bytes.min(limit / 2))
}

/// The answers of one engine, and of another where the sets of the first outgrew their cap.
fn one_then_other(
    task: &Task<'_>,
    observer: &dyn Observer,
    (listed, drawn): (&dyn Engine, &dyn Engine),
    outgrew: impl Fn(&Answer) -> bool,
) -> Result<Vec<Answer>, EngineError> {
    let answers = listed.run(task, observer)?;
    let properties: Vec<PropertyId> =
        answers.iter().filter(|answer| outgrew(answer)).map(|answer| answer.property).collect();
    if properties.is_empty() {
        return Ok(answers);
    }
    let task = Task { properties, ..task.clone() };
    let mut drawn = drawn.run(&task, observer)?.into_iter();
    let take = |answer| if outgrew(&answer) { drawn.next().unwrap_or(answer) } else { answer };
    Ok(answers.into_iter().map(take).collect())
}
