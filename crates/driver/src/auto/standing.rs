//! How a race stands: what is decided, what was tried, and who is running.
//!
//! A question is *found* when there is an audited answer, and *settled* when nothing better is waited for. A search that saw no
//! violation gives local proofs a moment, as long as somebody is still at one; and a run that a local method found gives a moment to the search of the
//! whole product, whose runs are the shortest. So small programs get the same answers on every machine.

use std::time::Duration;

use audit::AuditError;
use base::{CancelToken, StopReason};
use engine::run::{Audit, PropertyResult};
use engine::{Answer, Attempt, AttemptOutcome, PropertyId, Verdict};
use evidence::Evidence;
use model::Model;

use crate::auditor::{AuditFailure, title, word};

/// What an answer gives to a better one that is under way. Little enough for nobody to notice.
const PATIENCE: Duration = Duration::from_millis(30);

/// The method that searches the whole product, level by level.
pub const WHOLE_PRODUCT: &str = "mono";

/// How a race stands.
pub struct Standing<'m> {
    model: &'m Model,
    /// For each question.
    questions: Vec<Question>,
    /// Who works on what.
    running: Vec<Running>,
    /// Whether a better answer is waited for at all.
    prefers: bool,
    /// Rows that are not through.
    pub n_rows: usize,
    /// Rows that may still come to a proof that is worth waiting for.
    pub n_proving: usize,
    /// Whether the whole product is still being searched.
    pub is_searching: bool,
    /// Evidence that was refused, or methods that disagree.
    pub failure: Option<Box<AuditFailure>>,
}

/// How one question stands.
struct Question {
    id: PropertyId,
    /// The best answer so far, and when it came.
    found: Option<(PropertyResult, Duration)>,
    /// The answer of the search of the whole product, or else of whoever ended last, without a verdict.
    unknown: Option<Answer>,
    tried: Vec<Attempt>,
}

/// A method at work.
struct Running {
    row: usize,
    asked: Vec<PropertyId>,
    cancel: CancelToken,
}

impl<'m> Standing<'m> {
    /// Nothing is decided, and nobody has started.
    pub fn new(model: &'m Model, questions: &[PropertyId], prefers: bool) -> Self {
        let question = |&id: &PropertyId| Question { id, found: None, unknown: None, tried: Vec::new() };
        let questions = questions.iter().map(question).collect();
        Standing {
            model,
            questions,
            running: Vec::new(),
            prefers,
            n_rows: 0,
            n_proving: 0,
            is_searching: false,
            failure: None,
        }
    }

    /// The questions that somebody may still work on.
    pub fn open(&self, now: Duration) -> Vec<PropertyId> {
        self.questions.iter().filter(|question| !self.is_settled(question, now)).map(|question| question.id).collect()
    }

    /// Whether there is nothing left to do.
    pub fn is_over(&self, now: Duration) -> bool {
        self.failure.is_some() || self.n_rows == 0 || self.open(now).is_empty()
    }

    /// Whether a question has an answer.
    pub fn is_found(&self, property: PropertyId) -> bool {
        self.questions.iter().any(|question| question.id == property && question.found.is_some())
    }

    fn is_settled(&self, question: &Question, now: Duration) -> bool {
        match &question.found {
            None => false,
            Some((result, at)) => {
                let better = match Rank::of(result) {
                    Rank::Search => self.n_proving > 0,
                    Rank::Run => self.is_searching && self.prefers,
                    Rank::Best => false,
                };
                !(better && now < *at + PATIENCE)
            }
        }
    }

    /// Somebody starts to work.
    pub fn starts(&mut self, row: usize, asked: Vec<PropertyId>, cancel: CancelToken) {
        self.running.push(Running { row, asked, cancel });
    }

    /// Somebody has ended.
    pub fn ends(&mut self, row: usize) {
        self.running.retain(|running| running.row != row);
    }

    /// Stops whoever works on settled questions only.
    pub fn stop_idle(&self, now: Duration) {
        let open = self.open(now);
        for running in &self.running {
            if self.is_over(now) || running.asked.iter().all(|id| !open.contains(id)) {
                running.cancel.cancel();
            }
        }
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
            Some((before, _)) if disagree(&before.verdict, &result.verdict) => {
                let failure = disagreement(self.model, before, &result);
                self.failure.get_or_insert_with(|| Box::new(failure));
            }
            Some((before, _)) if Rank::of(before) < Rank::of(&result) => {
                question.found = Some((result, at));
            }
            Some(_) => {}
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

    /// The results, in the order of the questions; the reason is for what nobody decided because everything had to end.
    pub fn results(self, stopped: Option<&StopReason>, elapsed: Duration) -> Vec<PropertyResult> {
        let result = |question: Question| {
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
    }
}

/// How much an answer tells, beside its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A search that saw nothing, which leaves no proof to read.
    Search,
    /// A run that somebody found who does not look for the shortest.
    Run,
    /// A proof, or a shortest run.
    Best,
}

impl Rank {
    fn of(result: &PropertyResult) -> Rank {
        match &result.verdict {
            Verdict::Holds(evidence) | Verdict::Violated(evidence) => match evidence {
                Evidence::Trace(_) if result.method != WHOLE_PRODUCT => Rank::Run,
                Evidence::Trace(_) | Evidence::Certificate(_) => Rank::Best,
                Evidence::Exploration(_) | Evidence::Symbolic(_) | Evidence::Reduced(_) => Rank::Search,
            },
            Verdict::Unknown(_) => Rank::Best,
        }
    }
}

/// Whether one says that the property holds and the other that it does not.
fn disagree(one: &Verdict, other: &Verdict) -> bool {
    use Verdict::{Holds, Violated};
    matches!((one, other), (Holds(_), Violated(_)) | (Violated(_), Holds(_)))
}

/// Two methods that disagree: one of them is wrong, and so are we.
fn disagreement(model: &Model, before: &PropertyResult, after: &PropertyResult) -> AuditFailure {
    let says = |result: &PropertyResult| format!("method `{}` says that it {}", result.method, word(&result.verdict));
    AuditFailure {
        program: title(model),
        property: model.properties[after.property].name.clone(),
        method: after.method,
        verdict: word(&after.verdict),
        error: AuditError::new(says(after), says(before)),
    }
}

/// An attempt that ended so.
pub fn attempt(method: &'static str, ended: Duration, took: Duration, outcome: AttemptOutcome) -> Attempt {
    Attempt { method, ended, took, outcome }
}
