//! Explicit local sets first, decision diagrams where they grow too large for that.
//!
//! In: a task. Out: an answer for each property. Explicit sets are many times faster as long as there are not too many view
//! states; what they do not decide because of their size is put to diagrams.

use std::sync::Arc;

use base::StopReason;
use engine::settings::{Bytes, Settings};
use engine::{Answer, Engine, EngineError, Method, Observer, PropertyId, Task, Verdict};
use local::ExplicitKIndex;
use local::fair::{ExplicitFll, LivenessRule, PrunedFll, ShownBefore};
use symbolic::engines::Symbolic;

use crate::checker::SharedEngine;
use crate::with_sums::{ShownFacts, sums_in_time};

engine::config! {
    /// What bounds methods that list their sets first.
    pub struct Config {
        /// What listed sets may take, where `--memory` allows twice as much; larger ones become decision diagrams. Abstract processes
        /// have less than groups of processes: where they take more, there are too many stores for listing them.
        pub listed: Bytes = Bytes(192 << 20),
    }
}

/// An explicit engine that gives up above a cap, then a symbolic one.
#[derive(Clone, Debug)]
pub struct ExplicitThenSymbolic {
    /// What is computed.
    sets: SetSearch,
    /// What bounds it.
    config: Config,
    /// What other methods showed of the same questions.
    shown: Option<Arc<ShownFacts>>,
}

/// What is computed in both representations.
#[derive(Clone, Copy, Debug)]
enum SetSearch {
    /// The strongest invariants of so many processes each.
    KIndex(usize),
    /// Local proofs of temporal properties.
    Fair(LivenessRule),
}

impl ExplicitThenSymbolic {
    /// The strongest invariants of `k` processes each.
    pub fn k_index(k: usize) -> Self {
        ExplicitThenSymbolic { sets: SetSearch::KIndex(k), config: Config::default(), shown: None }
    }

    /// Local proofs of temporal properties.
    pub fn fair(rule: LivenessRule) -> Self {
        ExplicitThenSymbolic { sets: SetSearch::Fair(rule), config: Config { listed: Bytes(48 << 20) }, shown: None }
    }

    /// The same, where what others show is not shown again.
    pub fn knowing(self, shown: &Arc<ShownFacts>) -> Self {
        ExplicitThenSymbolic { shown: Some(Arc::clone(shown)), ..self }
    }

    /// The explicit engine, which gives up where its sets take more than the cap.
    fn explicit(&self, cap_bytes: u64) -> SharedEngine {
        match self.sets {
            SetSearch::KIndex(k) => Arc::new(ExplicitKIndex { k, cap_bytes }),
            SetSearch::Fair(rule) => {
                let shown = self
                    .shown
                    .clone()
                    .map(|shown| -> Arc<ShownBefore> { Arc::new(move |property| shown.of(property)) });
                Arc::new(PrunedFll { fll: ExplicitFll { rule, cap_bytes }, sums: sums_in_time, shown })
            }
        }
    }

    fn symbolic(&self) -> Symbolic {
        match self.sets {
            SetSearch::KIndex(k) => Symbolic::KIndex(k),
            SetSearch::Fair(rule) => Symbolic::Fair(rule),
        }
    }
}

impl Engine for ExplicitThenSymbolic {
    fn method(&self) -> Method {
        self.explicit(self.config.listed.0).method()
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let Bytes(most) = self.config.listed;
        let cap_bytes = match self.sets {
            // Joint turns are followed by explicit sets alone.
            SetSearch::Fair(_) if !task.model.channels.is_empty() => u64::MAX,
            _ => task.budget.memory_limit().map_or(most, |limit| most.min(limit / 2)),
        };
        let answers = self.explicit(cap_bytes).run(task, observer)?;
        let outgrew = |answer: &Answer| answer.verdict == Verdict::Unknown(StopReason::MemoryLimit(cap_bytes));
        let properties: Vec<PropertyId> =
            answers.iter().filter(|answer| outgrew(answer)).map(|answer| answer.property).collect();
        if properties.is_empty() {
            return Ok(answers);
        }
        let task = Task { properties, ..task.clone() };
        let mut symbolic = self.symbolic().run(&task, observer)?.into_iter();
        let take = |answer| if outgrew(&answer) { symbolic.next().unwrap_or(answer) } else { answer };
        Ok(answers.into_iter().map(take).collect())
    }
}
