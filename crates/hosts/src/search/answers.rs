//! Verdicts of a search on many hosts: an engine whose search runs elsewhere.
//!
//! In: a task, and who searches. Out: an answer for each question, as method `mono` gives it on one machine: a run that is found is replayed by the reference
//! semantics, and what no state decides follows from a search that saw everything. A limit anywhere, or a host that is lost, leaves what is open unknown.

use std::sync::{Mutex, PoisonError};

use base::{Budget, StopReason};
use engine::{Answer, Contradiction, Engine, EngineError, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, Exploration};
use model::Model;
use model::property::PropertyKind;
use packed::codec::{Codec, UnrollLimits};

use super::Failure;
use super::fair::FairAnswer;
use super::lasso;
use super::levels::{Finding, HostShare, Outcome};

/// Searches the whole product, somewhere.
pub trait Searcher: Send + Sync {
    /// What was seen.
    ///
    /// # Errors
    /// A call that is wrong, or a host that was lost.
    fn search(&self, budget: &Budget, observer: &dyn Observer) -> Result<Outcome, Failure>;
}

/// Whether a question is answered by fair runs, when all states are known.
pub fn is_temporal(model: &Model, property: PropertyId) -> bool {
    matches!(model.properties[property].kind, PropertyKind::Temporal(_))
}

/// Method `mono` on many hosts.
pub struct OnHosts {
    /// Who searches, for the questions of `asked`.
    pub searcher: Box<dyn Searcher>,
    /// The questions; those that are temporal, and the others, are in the order of the outcome's findings.
    pub asked: Vec<PropertyId>,
    /// What is left when the search has ended.
    left: Mutex<RunLeftovers>,
}

/// What an engine cannot say by its answers.
#[derive(Clone, Debug, Default)]
struct RunLeftovers {
    refused: Option<String>,
    shares: Vec<HostShare>,
}

impl OnHosts {
    /// An engine for these questions.
    pub fn new(searcher: Box<dyn Searcher>, asked: Vec<PropertyId>) -> Self {
        OnHosts { searcher, asked, left: Mutex::default() }
    }

    /// What is wrong with the call, if it turned out to be.
    pub fn refused(&self) -> Option<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }

    /// What each host took part with.
    pub fn shares(&self) -> Vec<HostShare> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).shares.clone()
    }
}

impl Engine for OnHosts {
    fn method(&self) -> Method {
        Method::Mono
    }

    fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        self.method().supports(model, property)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let outcome = match self.searcher.search(&task.budget, observer) {
            Ok(outcome) => outcome,
            Err(failure) => {
                let reason = failure.reason().unwrap_or_else(|why| {
                    self.left.lock().unwrap_or_else(PoisonError::into_inner).refused = Some(why);
                    StopReason::Cancelled
                });
                return Ok(task.undecided(&reason));
            }
        };
        self.left.lock().unwrap_or_else(PoisonError::into_inner).shares.clone_from(&outcome.hosts);
        let answer = |&property: &PropertyId| {
            let is_temporal = is_temporal(task.model, property);
            let alike = self.asked.iter().filter(|&&asked| self::is_temporal(task.model, asked) == is_temporal);
            let at = alike.copied().position(|asked| asked == property);
            match is_temporal {
                true => {
                    let contradicted =
                        |contradiction| EngineError::new(self.method().name(), (task.model, property), contradiction);
                    temporal_answer(task.model, property, &outcome, at).map_err(contradicted)
                }
                false => Ok(answer_of(task.model, property, &outcome, at)),
            }
        };
        task.properties.iter().map(answer).collect()
    }
}

/// The answer to a temporal question.
fn temporal_answer(
    model: &Model,
    property: PropertyId,
    outcome: &Outcome,
    at: Option<usize>,
) -> Result<Answer, Contradiction> {
    let found = at.and_then(|at| outcome.temporal.get(at));
    let verdict = match found.map(|finding| &finding.answer) {
        Some(FairAnswer::Holds) if outcome.exploration.complete && outcome.stopped.is_none() => {
            Verdict::Holds(Evidence::Exploration(outcome.exploration.clone()))
        }
        Some(FairAnswer::Violated(run)) => {
            let trace = lasso::trace(model, run);
            let expected = "a run that was found is one of the program";
            let trace = trace.ok_or_else(|| Contradiction::new(expected, "its turns are not found again"))?;
            Verdict::Violated(Evidence::Trace(trace))
        }
        Some(FairAnswer::Contradiction(expected, found)) => return Err(Contradiction::new(expected, found)),
        Some(FairAnswer::Unknown(stop)) => Verdict::Unknown(stop.reason()),
        Some(FairAnswer::Holds) | None => {
            let reason = outcome.stopped.as_ref().map(|stop| stop.reason());
            Verdict::Unknown(reason.unwrap_or(StopReason::Cancelled))
        }
    };
    let time = outcome.time + found.map(|finding| finding.time).unwrap_or_default();
    let statistics = Statistics { time, ..statistics(&outcome.exploration, &outcome.hosts) };
    Ok(Answer { property, verdict, statistics })
}

fn answer_of(model: &Model, property: PropertyId, outcome: &Outcome, at: Option<usize>) -> Answer {
    let is_reachable = matches!(model.properties[property].kind, PropertyKind::Reachable(_));
    let (verdict, explored, time) = match at.and_then(|at| outcome.findings.get(at)) {
        Some(Some(finding)) => {
            let verdict = match trace_of(model, property, finding) {
                Ok(trace) if is_reachable => Verdict::Holds(trace),
                Ok(trace) => Verdict::Violated(trace),
                Err(reason) => Verdict::Unknown(reason),
            };
            (verdict, &finding.explored, finding.time)
        }
        asked => {
            let explored = Evidence::Exploration(outcome.exploration.clone());
            // What was not asked is not decided, whatever was seen.
            let is_decided = asked.is_some() && outcome.exploration.complete && outcome.stopped.is_none();
            let verdict = match is_decided {
                true if is_reachable => Verdict::Violated(explored),
                true => Verdict::Holds(explored),
                false => {
                    let reason = outcome.stopped.as_ref().map(|stop| stop.reason());
                    Verdict::Unknown(reason.unwrap_or(StopReason::Cancelled))
                }
            };
            (verdict, &outcome.exploration, outcome.time)
        }
    };
    let statistics = Statistics { time, ..statistics(explored, &outcome.hosts) };
    Answer { property, verdict, statistics }
}

fn statistics(explored: &Exploration, hosts: &[HostShare]) -> Statistics {
    Statistics {
        peak_memory_bytes: Some(hosts.iter().map(|share| share.peak_memory_bytes).sum()),
        global_states: Some(explored.states),
        global_transitions: Some(explored.transitions),
        depth: Some(explored.depth),
        ..Statistics::default()
    }
}

/// The run of a finding, replayed by the reference semantics.
fn trace_of(model: &Model, property: PropertyId, finding: &Finding) -> Result<Evidence, StopReason> {
    let run = finding.run.as_ref().map_err(|stop| stop.reason())?;
    let codec = Codec::new(model, UnrollLimits::default());
    let n_words = codec.layout.n_words;
    let not_again = || StopReason::PropertyError("the run was not found again by the reference semantics".to_owned());
    if run.iter().any(|state| state.len() != n_words) {
        return Err(not_again());
    }
    let states = run.iter().map(|state| codec.unpack(state)).collect();
    let trace = evidence::trace::trace_through(model, states, &model.properties[property].kind);
    // Where `any` chooses from many values, a step may not be found again.
    trace.map(Evidence::Trace).ok_or_else(not_again)
}
