//! Method `auto`: several methods race, and the first audited answer to a question is the answer.
//!
//! In: a task. Out: a result for each question, with the method that decided it and all that were tried. Small programs are decided by a
//! search of the whole product, and proved by one or two processes where that works (`small.rs`), the same on every machine. For others, which
//! share of the work each method has is in `plan.rs`, by what the Model shows; `race.rs` gives them turns under one budget (`runner.rs`), and stops
//! methods that work only on what is decided.

mod plan;
mod processor;
mod race;
mod runner;
mod shares;
mod small;
mod standing;

use std::time::Duration;

use engine::run::PropertyResult;
use engine::settings::{Bytes, Settings};
use engine::{Observer, Task};

pub(crate) use plan::RaceEntry;
pub use plan::class;
pub(crate) use race::{Race, is_countable};
pub(crate) use shares::Shares;
pub(crate) use standing::RaceStanding;

use crate::checker::Checker;
use crate::mistake::Mistake;
use crate::set_up;

engine::config! {
    /// What bounds the turns of methods in `auto`.
    pub struct Config {
        /// What the search of the whole product of a small program has alone, or a part of it where there are more than a few processes. The promise of `auto` allows 50 ms.
        pub moment: Duration = Duration::from_millis(25),
        /// Local sets of small programs take no more than this, and some milliseconds.
        pub small: Bytes = Bytes(256 << 10),
        /// A local proof about a small program is left where more pairs of local states would have to be checked: that takes some tens of milliseconds.
        pub small_checks: usize = 4_000_000,
        /// A program of more processes is not small, and takes longer than a moment to be made ready for a search.
        pub small_processes: usize = 64,
        /// Among more processes there are too many pairs for a joint search of each, and so for what is reduced by them.
        pub paired_processes: usize = 40,
        /// Local proofs with more joint states of two processes take longer to be checked again than the whole product to be searched.
        pub joint_states: usize = 300_000,
        /// Local sets of one process that take more are given up.
        pub local_sets: Bytes = Bytes(512 << 20),
        /// A turn of a method takes about so long at first.
        pub first_turn: Duration = Duration::from_millis(2),
        /// The first turn of a method with diagrams takes so long for each process, of which a hundred were measured: it has to wait until that is its share.
        pub building: Duration = Duration::from_millis(1),
        /// Later turns take one of so many parts of what all methods took so far.
        pub turn_part: usize = 16,
        /// A method that succeeds soon or not at all has its first share for so long, and then its later one.
        pub quick: Duration = Duration::from_millis(60),
        /// Until all methods have worked so long together, none gets ahead of its share because a thread is free.
        pub thrifty: Duration = Duration::from_secs(4),
        /// A process that sees more bits of the shared state than this has too many view states to be listed.
        pub narrow_view: usize = 20,
    }
}

/// Picks among the other methods.
#[derive(Clone, Copy, Debug, Default)]
pub struct Auto {
    /// What bounds the turns of methods.
    config: Config,
}

impl Checker for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn check(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<PropertyResult>, Box<Mistake>> {
        let standing = RaceStanding::new(task.model, &task.properties);
        if let Err(reason) = set_up::room_for(task.model, &task.budget) {
            return Ok(standing.results(Some(&reason), task.budget.elapsed()));
        }
        let mut race = Race::new(task, observer, standing, self.config);
        race.line_up(&plan::steps(task.model, &task.properties, task.n_threads, &self.config));
        small::head_start(task.model.processes.len(), &self.config).inspect(|&most| race.head_start(most));
        race.go_on();
        small::prove(task, observer, &self.config, race.standing());
        race.results()
    }
}

#[cfg(test)]
mod tests {
    use base::{Budget, SourceFile, StopReason};
    use engine::{AttemptOutcome, PropertyId, Silent, Verdict};
    use model::Model;

    use super::*;
    use crate::auditor::word;
    use crate::checker::Single;

    fn check(model: &Model, name: &str, n_threads: usize) -> PropertyResult {
        let named = |name: &str| model.properties.entries().find(|(_, property)| property.name == name).unwrap().0;
        let task = Task { model, properties: vec![named(name)], budget: Budget::unlimited(), n_threads };
        Auto::default().check(&task, &Silent).unwrap().remove(0)
    }

    fn load(name: &str, text: &str) -> Model {
        lang::load(&SourceFile::new(name, text), &[]).unwrap().model
    }

    /// One process cannot exclude that two are inside, where the question has no value; two can.
    #[test]
    fn a_fault_where_nobody_gets_is_not_the_last_word() {
        let text = "program lock {
            shared x: sem = 1;
            process P[i in 0..<20] { loop { away: skip; enter: acquire x; crit: skip; leave: release x; } }
            invariant mutex: forall i != j: 1 / (if P[i]@crit && P[j]@crit then 0 else 1) == 1;
        }";
        for n_threads in [1, 2] {
            let result = check(&load("lock.pw", text), "mutex", n_threads);
            assert!(matches!(result.verdict, Verdict::Holds(_)), "{result:?}");
            assert_ne!(result.method, "mono", "the product has 22 million states");
        }
    }

    /// A fault in a state that a search reaches is the last word, whatever else is tried.
    #[test]
    fn a_fault_that_is_reached_is_the_answer() {
        let text = "program p { shared x: 0..=3; process A { loop { x = (x + 1) % 4; } } invariant odd: 6 / x > 1; }";
        let result = check(&load("p.pw", text), "odd", 2);
        assert!(matches!(result.verdict, Verdict::Unknown(StopReason::PropertyError(_))), "{result:?}");
    }

    #[test]
    fn what_was_tried_is_told_and_one_decided() {
        let text = "program lock {
            shared x: sem = 1;
            process P[i in 0..<3] { loop { away: skip; enter: acquire x; crit: skip; leave: release x; } }
            invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
        }";
        let result = check(&load("lock.pw", text), "mutex", 2);
        let tried = &result.statistics.tried;
        let decided: Vec<_> = tried.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Decided).collect();
        assert!(decided.iter().any(|attempt| attempt.method == result.method), "{tried:?}");
        assert!(tried.is_sorted_by_key(|attempt| attempt.ended), "{tried:?}");
    }

    /// Small programs are decided before there is a race, so it is run by itself: whichever method wins, the verdicts are those of the whole product.
    #[test]
    fn whoever_wins_a_race_verdicts_are_those_of_the_whole_product() {
        let n_compared = std::cell::Cell::new(0);
        testkit::for_each_program(
            40,
            testkit::RandomFeatures { n_statements: 3, ..testkit::RandomFeatures::everything() },
            |_, model| {
                let Some(product) = testkit::Product::explore(model, 150) else { return Ok(()) };
                let model = &testkit::temporal::with_temporal(model, product.states.len() as u64, 2);
                let properties: Vec<PropertyId> = model.properties.ids().collect();
                for n_threads in [1, 2] {
                    let budget = Budget::unlimited();
                    let task = Task { model, properties: properties.clone(), budget, n_threads };
                    let config = Config::default();
                    let steps = plan::steps(model, &properties, n_threads, &config);
                    let mut race = Race::new(&task, &Silent, RaceStanding::new(model, &properties), config);
                    race.compete(&steps, None);
                    let raced = race.results().map_err(|failure| failure.to_string())?;
                    let searched = Single(std::sync::Arc::new(product::Mono))
                        .check(&task, &Silent)
                        .map_err(|failure| failure.to_string())?;
                    for (one, other) in raced.iter().zip(&searched) {
                        let words = (word(&one.verdict), word(&other.verdict));
                        if one.property != other.property || words.0 != words.1 {
                            return Err(format!("{}: {words:?}", model.properties[other.property].name));
                        }
                        n_compared.set(n_compared.get() + 1);
                    }
                }
                Ok(())
            },
        );
        assert!(n_compared.get() > 100, "{}", n_compared.get());
    }

    /// Both can wait for ever, which no local state shows; which one is inside shows locally.
    const WAITING: &str = "byte a, b;
        process P { state out, one, in; init out; trans out -> one { guard a == 0; effect a = 1; },
          one -> in { guard b == 0; effect b = 1; }, in -> out { effect a = 0, b = 0; }; }
        process Q { state out, one, in; init out; trans out -> one { guard b == 0; effect b = 1; },
          one -> in { guard a == 0; effect a = 1; }, in -> out { effect a = 0, b = 0; }; }
        process R { byte n; state r; init r; trans r -> r { guard n < 3; effect n = n + 1; }; }
        system async;";

    #[test]
    fn every_question_of_a_mixed_task_is_answered_in_its_order() {
        let goal = |text: &str| lang::dve::Goal { name: text.into(), source: SourceFile::new("goal", text) };
        let goals = [goal("P.in && Q.in"), goal("P.one && Q.one && R->n == 3")];
        let model = lang::load_with_goals(&SourceFile::new("waiting.dve", WAITING), &[], &goals).unwrap().model;
        let properties: Vec<PropertyId> = model.properties.ids().collect();
        for n_threads in [1, 2] {
            let budget = Budget::unlimited();
            let task = Task { model: &model, properties: properties.clone(), budget, n_threads };
            let results = Auto::default().check(&task, &Silent).unwrap();
            assert_eq!(results.iter().map(|result| result.property).collect::<Vec<_>>(), properties);
            let verdicts: Vec<bool> =
                results.iter().map(|result| matches!(result.verdict, Verdict::Holds(_))).collect();
            assert_eq!(verdicts[1..], [false, true], "{results:?}");
        }
    }

    #[test]
    fn an_interrupted_race_says_so_and_ends_soon() {
        let text = "program big {
            shared x: [0..=200; 6] = 0;
            process P[i in 0..<6] { loop { either { x[i] = (x[i] + 1) % 201; } or { x[i] = x[(i + 1) % 6]; } } }
            invariant far: !(forall k: x[k] == 200 - k);
        }";
        let model = load("big.pw", text);
        let budget = Budget::new(Some(std::time::Duration::from_millis(300)), None, Default::default());
        let property = model.properties.entries().find(|(_, property)| property.name == "far").unwrap().0;
        let task = Task { model: &model, properties: vec![property], budget: budget.clone(), n_threads: 2 };
        let result = Auto::default().check(&task, &Silent).unwrap().remove(0);
        assert!(matches!(result.verdict, Verdict::Unknown(StopReason::TimeLimit(_))), "{result:?}");
        assert!(budget.elapsed().as_secs() < 10);
    }
}
