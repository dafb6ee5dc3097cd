//! Local sets listed first, as decision diagrams where they grow too large for that.
//!
//! In: a task. Out: an answer for each property. Listed sets are many times faster as long as there are not too many view
//! states; what they do not decide because of their size is put to diagrams.

use base::StopReason;
use engine::{Answer, Engine, Observer, PropertyId, Task};
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

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Vec<Answer> {
        let cap_bytes = task.budget.memory_limit().map_or(LISTED_BYTES, |limit| LISTED_BYTES.min(limit / 2));
        let listed = Local { k: self.k, cap_bytes };
        let answers = listed.run(task, observer);
        let properties: Vec<PropertyId> =
            answers.iter().filter(|answer| listed.outgrew(answer)).map(|answer| answer.property).collect();
        if properties.is_empty() {
            return answers;
        }
        let task = Task { properties, ..task.clone() };
        let mut drawn = Symbolic::KIndex(self.k).run(&task, observer).into_iter();
        let take = |answer| if listed.outgrew(&answer) { drawn.next().unwrap_or(answer) } else { answer };
        answers.into_iter().map(take).collect()
    }
}
