//! The standing of a race: what is decided, what was tried, and which methods run.
//!
//! A question is open until there is an audited answer. Of two answers that agree, a proof or a run counts more than a search that saw
//! nothing, which leaves nothing to read.

use std::time::Duration;

use base::StopReason;
use engine::run::{Audit, PropertyResult};
use engine::{Answer, Attempt, AttemptOutcome, PropertyId, Verdict};
use evidence::Evidence;
use model::Model;

use crate::mistake::Mistake;

/// The method that searches the whole product, level by level.
pub const WHOLE_PRODUCT: &str = "mono";

/// The standing of a race.
pub struct RaceStanding<'m> {
    model: &'m Model,
    /// For each question.
    questions: Vec<QuestionStanding>,
    /// A mistake of ours: evidence that was refused, methods that disagree, an engine that contradicts itself.
    pub failure: Option<Box<Mistake>>,
}

/// The standing of one question.
struct QuestionStanding {
    id: PropertyId,
    /// The best answer so far, and when it came.
    found: Option<(PropertyResult, Duration)>,
    /// The answer of the search of the whole product, or else of the method that ended last, without a verdict.
    unknown: Option<Answer>,
    tried: Vec<Attempt>,
}

impl<'m> RaceStanding<'m> {
    /// Nothing is decided, and no method has started.
    pub fn new(model: &'m Model, questions: &[PropertyId]) -> Self {
        let question = |&id: &PropertyId| QuestionStanding { id, found: None, unknown: None, tried: Vec::new() };
        let questions = questions.iter().map(question).collect();
        RaceStanding { model, questions, failure: None }
    }

    /// The questions without an answer.
    pub fn open(&self) -> Vec<PropertyId> {
        self.questions.iter().filter(|question| question.found.is_none()).map(|question| question.id).collect()
    }

    /// The questions that were answered by a search of the whole product, of at most so many states, which left nothing to read.
    pub fn searched(&self, most_states: u64) -> Vec<PropertyId> {
        let is_small = |found: &PropertyResult| {
            found.method == WHOLE_PRODUCT && found.statistics.global_states.is_some_and(|states| states <= most_states)
        };
        let is_searched = |question: &&QuestionStanding| {
            question.found.as_ref().is_some_and(|(found, _)| is_search(found) && is_small(found))
        };
        self.questions.iter().filter(is_searched).map(|question| question.id).collect()
    }

    /// Whether a question has an answer.
    pub fn is_found(&self, property: PropertyId) -> bool {
        self.questions.iter().any(|question| question.id == property && question.found.is_some())
    }

    /// The best answer to a question so far.
    pub fn found(&self, property: PropertyId) -> Option<&PropertyResult> {
        let question = self.questions.iter().find(|question| question.id == property)?;
        question.found.as_ref().map(|(result, _)| result)
    }

    /// A method answered, and the audit agreed. Whether the question had no answer before.
    pub fn decided(&mut self, result: PropertyResult, attempt: Attempt) -> bool {
        let at = attempt.ended;
        let Some(question) = self.questions.iter_mut().find(|question| question.id == result.property) else {
            return false;
        };
        question.tried.push(attempt);
        match &question.found {
            None => {
                question.found = Some((result, at));
                return true;
            }
            Some((before, _)) => match Mistake::between(self.model, before, &result) {
                Some(mistake) => {
                    self.failure.get_or_insert(mistake);
                }
                None if is_search(before) && !is_search(&result) => question.found = Some((result, at)),
                None => {}
            },
        }
        false
    }

    /// A method did not decide the question.
    pub fn left_open(&mut self, answer: Answer, attempt: Attempt, is_search: bool) {
        let Some(question) = self.questions.iter_mut().find(|question| question.id == answer.property) else { return };
        question.tried.push(attempt);
        if is_search || question.unknown.is_none() {
            question.unknown = Some(answer);
        }
    }

    /// A method was stopped before it reported on the question.
    pub fn tried(&mut self, property: PropertyId, attempt: Attempt) {
        if let Some(question) = self.questions.iter_mut().find(|question| question.id == property) {
            question.tried.push(attempt);
        }
    }

    /// The results, in the order of the questions; the reason is for what no method decided because everything had to end.
    pub fn results(self, stopped: Option<&StopReason>, elapsed: Duration) -> Vec<PropertyResult> {
        let result = |question: QuestionStanding| {
            let mut result = match question.found {
                Some((mut result, at)) => {
                    result.statistics.time = at;
                    result
                }
                None => unknown(question.id, question.unknown, stopped, elapsed),
            };
            result.statistics.tried = question.tried;
            result
        };
        self.questions.into_iter().map(result).collect()
    }
}

fn unknown(
    property: PropertyId,
    answer: Option<Answer>,
    stopped: Option<&StopReason>,
    elapsed: Duration,
) -> PropertyResult {
    let (last, mut statistics) = match answer {
        Some(Answer { verdict: Verdict::Unknown(reason), statistics, .. }) => (reason, statistics),
        _ => (StopReason::Cancelled, Default::default()),
    };
    statistics.time = elapsed;
    let is_the_programs = matches!(last, StopReason::PropertyError(_));
    let reason = stopped.filter(|_| !is_the_programs).cloned().unwrap_or(last);
    PropertyResult {
        property,
        method: "auto",
        verdict: Verdict::Unknown(reason),
        audit: Audit::NotDone,
        statistics,
        insight: Default::default(),
        denied: Vec::new(),
    }
}

/// Whether the verdict rests on a search that saw nothing, which leaves no proof to read.
fn is_search(result: &PropertyResult) -> bool {
    match &result.verdict {
        Verdict::Holds(evidence) | Verdict::Violated(evidence) => {
            !matches!(evidence, Evidence::Trace(_) | Evidence::Certificate(_))
        }
        Verdict::Unknown(_) => false,
    }
}

/// An attempt that ended so.
pub fn attempt(method: &'static str, ended: Duration, took: Duration, outcome: AttemptOutcome) -> Attempt {
    Attempt { method, ended, took, outcome }
}

#[cfg(test)]
mod tests {
    use evidence::Exploration;

    use super::*;

    #[test]
    fn methods_that_disagree_are_a_failure_that_names_both() {
        let source =
            base::SourceFile::new("p.pw", "program p { shared x: 0..=1; process A { x = 1; } invariant low: x == 0; }");
        let model = lang::load(&source, &[]).unwrap().model;
        let property = model.properties.entries().find(|(_, one)| one.name == "low").unwrap().0;
        let seen = Exploration { states: 2, transitions: 1, deadlocks: 0, errors: 0, depth: 1, complete: true };
        let by = |method, verdict| PropertyResult {
            property,
            method,
            verdict,
            audit: Audit::NotDone,
            statistics: Default::default(),
            insight: Default::default(),
            denied: Vec::new(),
        };
        let decided = || attempt("mono", Duration::ZERO, Duration::ZERO, AttemptOutcome::Decided);
        let mut standing = RaceStanding::new(&model, &[property]);
        assert!(standing.decided(by("mono", Verdict::Holds(Evidence::Exploration(seen.clone()))), decided()));
        assert!(!standing.decided(by("forward", Verdict::Holds(Evidence::Exploration(seen.clone()))), decided()));
        assert!(standing.failure.is_none());
        standing.decided(by("tmmc", Verdict::Violated(Evidence::Exploration(seen.clone()))), decided());
        let failure = standing.failure.unwrap().to_string();
        assert!(failure.contains("`tmmc`") && failure.contains("`mono`") && failure.contains("`low`"), "{failure}");
    }
}
