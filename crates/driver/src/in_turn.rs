//! Two engines for one method: the second is asked what the first leaves open.
//!
//! In: a task, and the two. Out: an answer for each property. What is decided is passed on when it is known; what the first leaves open is not an answer yet,
//! and is passed on at the end, as the one or the other left it.

use engine::{Answer, EngineError, Event, Observer, PropertyId, Task, Verdict};

/// One after the other.
pub struct InTurn<First, Second> {
    pub first: First,
    pub second: Second,
    /// Whether of two answers that leave a question open the second one says more.
    pub says_more: fn(first: &Answer, second: &Answer) -> bool,
}

/// Passes on what is decided, and how far the work is.
struct Decisions<'o>(&'o dyn Observer);

impl Observer for Decisions<'_> {
    fn event(&self, event: Event) {
        if !matches!(event, Event::Decided(_)) {
            self.0.event(event);
        }
    }

    fn answered(&self, answer: &Answer) {
        if !is_open(answer) {
            pass_on(answer, self.0);
        }
    }
}

fn is_open(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Unknown(_))
}

fn pass_on(answer: &Answer, observer: &dyn Observer) {
    observer.event(Event::Decided(answer.property));
    observer.answered(answer);
}

impl<First, Second> InTurn<First, Second>
where
    First: FnOnce(&Task<'_>, &dyn Observer) -> Result<Vec<Answer>, EngineError>,
    Second: FnOnce(&Task<'_>, &dyn Observer) -> Result<Vec<Answer>, EngineError>,
{
    /// Asks the one, and the other what is open.
    pub fn run(self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let decisions = Decisions(observer);
        let mut answers = (self.first)(task, &decisions)?;
        let properties: Vec<PropertyId> =
            answers.iter().filter(|answer| is_open(answer)).map(|answer| answer.property).collect();
        if properties.is_empty() {
            return Ok(answers);
        }
        for found in (self.second)(&Task { properties, ..task.clone() }, &decisions)? {
            let left = answers.iter_mut().find(|answer| answer.property == found.property && is_open(answer));
            if let Some(left) = left
                && (!is_open(&found) || (self.says_more)(left, &found))
            {
                *left = found;
            }
        }
        answers.iter().filter(|answer| is_open(answer)).for_each(|answer| pass_on(answer, observer));
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use base::{Budget, StopReason};
    use engine::Statistics;
    use evidence::{Evidence, Exploration};
    use model::Model;

    use super::*;

    /// What is told, and when.
    #[derive(Default)]
    struct Told(Mutex<Vec<(PropertyId, bool)>>);

    impl Observer for Told {
        fn event(&self, _: Event) {}

        fn answered(&self, answer: &Answer) {
            self.0.lock().unwrap().push((answer.property, is_open(answer)));
        }
    }

    fn holds() -> Verdict {
        let seen = Exploration { states: 2, transitions: 1, deadlocks: 0, errors: 0, depth: 1, complete: true };
        Verdict::Holds(Evidence::Exploration(seen))
    }

    fn open(bytes: u64) -> Verdict {
        Verdict::Unknown(StopReason::MemoryLimit(bytes))
    }

    /// Answers so to each property.
    fn says(
        verdict: impl Fn(PropertyId) -> Verdict,
    ) -> impl Fn(&Task<'_>, &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        move |task, observer| {
            let answer = |&property: &PropertyId| {
                let answer = Answer { property, verdict: verdict(property), statistics: Statistics::default() };
                observer.answered(&answer);
                answer
            };
            Ok(task.properties.iter().map(answer).collect())
        }
    }

    /// The first engine decides the first of three questions, the second one the second.
    fn asked(says_more: fn(&Answer, &Answer) -> bool) -> (Vec<Answer>, Vec<(PropertyId, bool)>) {
        let properties: Vec<_> = (0..3).map(PropertyId::new).collect();
        let model = Model::default();
        let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
        let first = says(|property| if property.index() == 0 { holds() } else { open(1) });
        let second = says(|property| match property.index() {
            0 => panic!("what is decided is asked again"),
            1 => holds(),
            _ => open(2),
        });
        let told = Told::default();
        let answers = InTurn { first, second, says_more }.run(&task, &told).unwrap();
        (answers, told.0.into_inner().unwrap())
    }

    #[test]
    fn the_second_is_asked_what_the_first_leaves_open_and_each_answer_is_told_once() {
        let (answers, told) = asked(|_, _| false);
        assert_eq!(answers.iter().map(is_open).collect::<Vec<_>>(), [false, false, true]);
        let told: Vec<_> = told.into_iter().map(|(property, is_open)| (property.index(), is_open)).collect();
        assert_eq!(told, [(0, false), (1, false), (2, true)]);
    }

    #[test]
    fn of_two_reasons_the_one_that_says_more_is_kept() {
        let reason = |answer: &Answer| match &answer.verdict {
            Verdict::Unknown(StopReason::MemoryLimit(bytes)) => *bytes,
            _ => panic!("decided"),
        };
        assert_eq!(reason(&asked(|_, _| false).0[2]), 1);
        assert_eq!(reason(&asked(|_, _| true).0[2]), 2);
    }
}
