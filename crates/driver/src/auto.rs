//! Method `auto`: one method after the other, each for a while, until every question is answered.
//!
//! In: a task. Out: an answer for each property, with the method that decided it. The whole product is searched first, for a
//! moment: small programs are decided there, with shortest runs. What is left goes to the local methods, from the coarsest to the one
//! that refines; then the whole product has all the time that is left. Temporal properties have methods of their own.

use std::time::Duration;

use base::StopReason;
use engine::{Answer, Engine, Observer, PropertyId, Task, Verdict};
use explicit::Mono;
use explicit::fair::{Fair, Rule};
use explicit::local::Local;
use explicit::pushdown::Pushdown;
use model::Model;
use symbolic::engines::Symbolic;
use symbolic::reach::Direction;

use crate::listed_first::ListedFirst;

/// Picks among the other methods.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

/// What is tried in turn before the whole product is searched to the end, and for how long at most. Each method answers those
/// questions that are of its kind.
fn stages(model: &Model) -> Vec<(Box<dyn Engine>, Duration)> {
    let mut stages: Vec<(Box<dyn Engine>, Duration)> = vec![(Box::new(Mono), Duration::from_millis(100))];
    if !model.procedures.is_empty() {
        // Stacks may have no bound, and other local methods know nothing of them.
        stages.push((Box::new(Pushdown), Duration::from_secs(20)));
    }
    stages.extend(local_stages());
    stages
}

fn local_stages() -> [(Box<dyn Engine>, Duration); 7] {
    let fair = |rule| Box::new(Fair { rule, cap_bytes: 1 << 30 });
    [
        (Box::new(Local { k: 1, cap_bytes: 512 << 20 }), Duration::from_secs(5)),
        (Box::new(ListedFirst { k: 2 }), Duration::from_secs(10)),
        (Box::new(Symbolic::Reach(Direction::Forward)), Duration::from_secs(10)),
        (Box::new(Symbolic::Completion), Duration::from_secs(10)),
        (fair(Rule::FllB), Duration::from_secs(10)),
        (fair(Rule::FllA), Duration::from_secs(10)),
        (Box::new(Symbolic::Global), Duration::from_secs(20)),
    ]
}

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn supports(&self, _model: &Model, _property: PropertyId) -> Result<(), StopReason> {
        Ok(())
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Vec<Answer> {
        let mut open = task.properties.clone();
        let mut decided: Vec<Answer> = Vec::new();
        let mut first_search: Vec<Answer> = Vec::new();
        for (engine, time) in stages(task.model) {
            let asked: Vec<PropertyId> =
                open.iter().copied().filter(|&id| engine.supports(task.model, id).is_ok()).collect();
            if asked.is_empty() || task.budget.check(0).is_err() {
                continue;
            }
            // Where time is short, the last search of the whole product must have some of it.
            let left = task.budget.time_limit().map(|limit| limit.saturating_sub(task.budget.elapsed()));
            let time = left.map_or(time, |left| time.min(left / 4));
            let slice = Task { properties: asked, budget: task.budget.slice(time), ..task.clone() };
            let answers: Vec<Answer> =
                engine.run(&slice, observer).into_iter().map(|answer| named(answer, &*engine)).collect();
            if first_search.is_empty() {
                first_search.clone_from(&answers);
            }
            decided.extend(answers.into_iter().filter(|answer| is_final(answer, &*engine)));
            open.retain(|id| !decided.iter().any(|answer| answer.property == *id));
        }
        if let Err(reason) = task.budget.check(0) {
            let left = first_search.into_iter().filter(|answer| open.contains(&answer.property));
            decided.extend(left.map(|answer| Answer { verdict: Verdict::Unknown(reason.clone()), ..answer }));
            open.retain(|id| !decided.iter().any(|answer| answer.property == *id));
        }
        if !open.is_empty() {
            let rest = Task { properties: open, ..task.clone() };
            decided.extend(Mono.run(&rest, observer).into_iter().map(|answer| named(answer, &Mono)));
        }
        decided.sort_by_key(|answer| task.properties.iter().position(|&id| id == answer.property));
        decided
    }
}

/// Whether no other method can do better. An expression without a value in a reachable state is the program's mistake, which no
/// other method mends; but only the search of the whole product knows that the state is reachable.
fn is_final(answer: &Answer, engine: &dyn Engine) -> bool {
    match &answer.verdict {
        Verdict::Unknown(StopReason::PropertyError(_)) => engine.name() == Mono.name(),
        Verdict::Unknown(_) => false,
        Verdict::Holds(_) | Verdict::Violated(_) => true,
    }
}

/// The answer with the name of who gave it.
fn named(mut answer: Answer, engine: &dyn Engine) -> Answer {
    answer.statistics.method = Some(engine.name());
    answer
}

#[cfg(test)]
mod tests {
    use base::{Budget, SourceFile};
    use engine::Silent;

    use super::*;

    /// One process cannot exclude that two are inside, where the question has no value; two can.
    #[test]
    fn a_fault_where_nobody_gets_is_not_the_last_word() {
        let text = "program lock {
            shared x: sem = 1;
            process P[i in 0..<20] { loop { away: skip; enter: acquire x; crit: skip; leave: release x; } }
            invariant mutex: forall i != j: 1 / (if P[i]@crit && P[j]@crit then 0 else 1) == 1;
        }";
        let model = lang::load(&SourceFile::new("lock.pw", text), &[]).unwrap().model;
        let named = |name: &str| model.properties.entries().find(|(_, property)| property.name == name).unwrap().0;
        let task = Task { model: &model, properties: vec![named("mutex")], budget: Budget::unlimited(), n_threads: 1 };
        let answers = Auto.run(&task, &Silent);
        assert!(matches!(answers[0].verdict, Verdict::Holds(_)), "{:?}", answers[0]);
        assert_ne!(answers[0].statistics.method, Some("mono"), "the product has 22 million states");
    }
}
