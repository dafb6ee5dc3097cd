//! Method `auto` for programs in DVE: local state graphs first, then the reduced whole product (the framework of Zheng's LS3).
//!
//! In: a task. Out: an answer for each property, with the method that decided it. Safety is asked of local state graphs, which take
//! no longer for many processes than for few; what they leave open, of as much of the whole product as reduction
//! leaves; and what is open then, temporal properties among it, of the method that other programs begin with.

use std::time::Duration;

use base::StopReason;
use engine::{Answer, Engine, Observer, PropertyId, Task, Verdict};
use explicit::Stubborn;
use explicit::local::Ls3;
use model::Model;

use crate::auto::Auto;

/// Local proofs with more joint states take longer to be checked again than the whole product to be searched.
const MOST_PAIRS: u64 = 300_000;

/// Picks among the other methods.
#[derive(Clone, Copy, Debug)]
pub struct LocalFirst;

fn stages() -> [(Box<dyn Engine>, Duration); 3] {
    let graphs = |with_witness| -> Box<dyn Engine> { Box::new(Ls3 { with_witness, most_pairs: MOST_PAIRS }) };
    [
        (graphs(false), Duration::from_secs(5)),
        (graphs(true), Duration::from_secs(5)),
        (Box::new(Stubborn), Duration::from_secs(20)),
    ]
}

impl Engine for LocalFirst {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        Auto.supports(model, property)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Vec<Answer> {
        let mut open = task.properties.clone();
        let mut decided: Vec<Answer> = Vec::new();
        for (engine, time) in stages() {
            let asked: Vec<PropertyId> =
                open.iter().copied().filter(|&id| engine.supports(task.model, id).is_ok()).collect();
            if asked.is_empty() || task.budget.check(0).is_err() {
                continue;
            }
            let left = task.budget.time_limit().map(|limit| limit.saturating_sub(task.budget.elapsed()));
            let time = left.map_or(time, |left| time.min(left / 3));
            let slice = Task { properties: asked, budget: task.budget.slice(time), ..task.clone() };
            for mut answer in engine.run(&slice, observer) {
                if !matches!(answer.verdict, Verdict::Unknown(_)) {
                    answer.statistics.method = Some(engine.name());
                    decided.push(answer);
                }
            }
            open.retain(|id| !decided.iter().any(|answer| answer.property == *id));
        }
        if !open.is_empty() {
            decided.extend(Auto.run(&Task { properties: open, ..task.clone() }, observer));
        }
        decided.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
        decided
    }
}

#[cfg(test)]
mod tests {
    use base::{Budget, SourceFile};
    use engine::Silent;

    use super::*;

    /// Both can wait for ever, which no local state shows; who is inside shows locally.
    const TEXT: &str = "byte a, b;
        process P { state out, one, in; init out; trans out -> one { guard a == 0; effect a = 1; },
          one -> in { guard b == 0; effect b = 1; }, in -> out { effect a = 0, b = 0; }; }
        process Q { state out, one, in; init out; trans out -> one { guard b == 0; effect b = 1; },
          one -> in { guard a == 0; effect a = 1; }, in -> out { effect a = 0, b = 0; }; }
        process R { byte n; state r; init r; trans r -> r { guard n < 3; effect n = n + 1; }; }
        system async;";

    #[test]
    fn each_question_goes_as_far_as_it_has_to() {
        let goal = |text: &str| lang::dve::Goal { name: text.into(), source: SourceFile::new("goal", text) };
        let goals = [goal("P.in && Q.in"), goal("P.one && Q.one && R->n == 3")];
        let source = SourceFile::new("waiting.dve", TEXT);
        let model = lang::load_with_goals(&source, &[], &goals).unwrap().model;
        let properties = model.properties.ids().collect();
        let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
        let answers = LocalFirst.run(&task, &Silent);
        let methods: Vec<_> = answers.iter().map(|answer| answer.statistics.method.unwrap()).collect();
        assert_eq!(methods[..2], ["ls3", "ls3"], "{answers:?}");
        assert!(answers.iter().all(|answer| !matches!(answer.verdict, Verdict::Unknown(_))), "{answers:?}");
        assert!(matches!(answers[1].verdict, Verdict::Violated(_)) && matches!(answers[2].verdict, Verdict::Holds(_)));
    }
}
