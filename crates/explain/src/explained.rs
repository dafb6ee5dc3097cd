//! A run with all that there is to understand about its answers, each thing found out once.
//!
//! In: a run after the audit, and what finding out may use. Out: an [`Explained`], which can be used wherever the run can. Each part of it is
//! computed when a report asks for it the first time, and kept: the terminal, the documents for scripts, the page and what is said about other sizes all
//! show the same.

use std::ops::Deref;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::insight::OtherSizes;
use engine::run::{PropertyResult, Run};
use engine::{PropertyId, Verdict};
use evidence::{Certificate, Evidence, Trace, TraceEnd};
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;

use crate::finding::Finding;
use crate::guarantees::{self, ProcessGuarantee};
use crate::owed::{Owed, owed};
use crate::proof::LocalProof;
use crate::proof::story::{Story, ViewGraph, story, view_graphs};
use crate::stale::{self, Cause};
use crate::steps::{StepView, step};
use crate::waiting::{Wait, cycle, waits};
use crate::why::{DecidingPart, why};

/// A run, and what was found out about its answers so far.
#[derive(Debug)]
pub struct Explained {
    run: Run,
    /// How much more time may be spent on finding out; `None` is any.
    time_left: Mutex<Option<Duration>>,
    cancel: CancelToken,
    /// One for each result, in their order.
    results: Vec<Explanation>,
}

/// What was found out about one answer so far.
#[derive(Debug, Default)]
struct Explanation {
    finding: OnceLock<Finding>,
    proof: OnceLock<Option<LocalProof>>,
    story: OnceLock<Option<Story>>,
    trace: OnceLock<Option<TraceExplanation>>,
    /// By process, where path edges are the proof.
    guarantees: Vec<OnceLock<ProcessGuarantee>>,
}

impl Deref for Explained {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl Explained {
    /// A run of which nothing was found out yet. The budget's time is counted while something is found out, and not before.
    pub fn new(run: Run, budget: &Budget) -> Self {
        let results = run.results.iter().map(|result| {
            let n_threads = certificate(result).and_then(Certificate::pushdown).map_or(0, |proof| proof.threads.len());
            Explanation { guarantees: (0..n_threads).map(|_| OnceLock::new()).collect(), ..Explanation::default() }
        });
        let results = results.collect();
        Explained { run, time_left: Mutex::new(budget.time_limit()), cancel: budget.cancel_token().clone(), results }
    }

    /// Finds something out in the time that is left.
    fn timed<T>(&self, find: impl FnOnce(&Budget) -> T) -> T {
        let mut left = self.time_left.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = Budget::new(*left, None, self.cancel.clone());
        let found = find(&budget);
        *left = left.map(|left| left.saturating_sub(budget.elapsed()));
        found
    }

    /// What there is to say about a result in one sentence.
    pub fn finding(&self, result: &PropertyResult) -> &Finding {
        self.of(result).finding.get_or_init(|| Finding::of(self, result))
    }

    /// What a local proof says; `None` where the evidence is no such proof.
    pub fn proof(&self, result: &PropertyResult) -> Option<&LocalProof> {
        if let Some(earlier) = self.earlier(result) {
            return self.proof(earlier);
        }
        let certificate = certificate(result)?;
        let explanation = |budget: &Budget| LocalProof::of(&self.run.model, &self.run.source, certificate, budget);
        self.of(result).proof.get_or_init(|| self.timed(explanation)).as_ref()
    }

    /// Why waiting ends, where the proof is about runs of every size.
    pub fn story(&self, result: &PropertyResult) -> Option<&Story> {
        let certificate = certificate(result)?;
        let explanation = |budget: &Budget| story(&self.run.model, certificate, budget);
        self.of(result).story.get_or_init(|| self.timed(explanation)).as_ref()
    }

    /// The views of a proof for every size as graphs, where they are few.
    pub fn view_graphs(&self, result: &PropertyResult) -> Vec<ViewGraph> {
        let Some(certificate) = certificate(result) else { return Vec::new() };
        self.timed(|budget| view_graphs(&self.run.model, certificate, budget))
    }

    /// A result before this one whose proof consists of the same invariants.
    pub fn earlier(&self, result: &PropertyResult) -> Option<&PropertyResult> {
        let proof = certificate(result)?;
        let before = self.run.results.iter().take_while(|other| other.property != result.property);
        { before }.find(|other| certificate(other).is_some_and(|known| known.facts == proof.facts))
    }

    /// What a process guarantees to the others, where path edges are the proof.
    pub fn guarantee(&self, result: &PropertyResult, process: ProcessId) -> Option<&ProcessGuarantee> {
        let proof = certificate(result)?.pushdown()?;
        let explanation = || guarantees::tell(&self.run.model, proof, process);
        Some(self.of(result).guarantees.get(process.index())?.get_or_init(explanation))
    }

    /// Of how many processes guarantees are known.
    pub fn n_guarantees(&self, result: &PropertyResult) -> usize {
        self.of(result).guarantees.len()
    }

    /// What the trace of a result shows; `None` where the evidence is no trace.
    pub fn trace(&self, result: &PropertyResult) -> Option<&TraceExplanation> {
        let explanation = || Some(TraceExplanation::of(&self.run, result, trace(result)?));
        self.of(result).trace.get_or_init(explanation).as_ref()
    }

    /// The trace of a result with its steps.
    pub fn explained_trace<'a>(&'a self, result: &'a PropertyResult) -> Option<ExplainedTrace<'a>> {
        Some(self.trace(result)?.steps.of_trace(&self.run.model, &self.run.source, trace(result)?))
    }

    /// Notes larger sizes at which a property is proved by the same invariants.
    pub fn note_other_sizes(&mut self, property: PropertyId, sizes: OtherSizes) {
        if let Some(result) = self.run.results.iter_mut().find(|result| result.property == property) {
            result.insight.other_sizes = Some(sizes);
        }
    }

    fn of(&self, result: &PropertyResult) -> &Explanation {
        let at = self.run.results.iter().position(|one| one.property == result.property);
        &self.results[at.expect("the result is one of the run's")]
    }
}

/// The certificate of a result, if that is its evidence.
pub fn certificate(result: &PropertyResult) -> Option<&Certificate> {
    match &result.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => Some(proof),
        _ => None,
    }
}

/// The trace of a result, if that is its evidence.
pub fn trace(result: &PropertyResult) -> Option<&Trace> {
    match &result.verdict {
        Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => Some(trace),
        _ => None,
    }
}

/// What a trace shows.
#[derive(Debug)]
pub struct TraceExplanation {
    /// Its steps.
    pub steps: ExplainedSteps,
    /// Which parts of an expression decide the property in the last state.
    pub why: Vec<DecidingPart>,
    /// What the run leaves undone, where it goes round for ever.
    pub owed: Option<Owed>,
    /// Which process waits for what, where the run ends in a deadlock.
    pub waits: Vec<Wait>,
    /// A cycle of processes that wait for each other, if there is one.
    pub cycle: Option<Vec<ProcessId>>,
    /// A read that came too early, where that is a likely cause.
    pub cause: Option<Cause>,
}

impl TraceExplanation {
    fn of(run: &Run, result: &PropertyResult, trace: &Trace) -> Self {
        let steps = ExplainedSteps::of(trace);
        let explanation = steps.of_trace(&run.model, &run.source, trace);
        let kind = &run.model.properties[result.property].kind;
        let parts = match (&trace.end, kind, trace.states.last()) {
            (TraceEnd::State, PropertyKind::Invariant(expr), Some(last)) => why(&run.model, last, expr, false),
            (TraceEnd::State, PropertyKind::Reachable(expr), Some(last)) => why(&run.model, last, expr, true),
            _ => Vec::new(),
        };
        let owed = match kind {
            PropertyKind::Temporal(formula) => owed(&run.model, formula, trace),
            _ => None,
        };
        let waits = if trace.end == TraceEnd::Deadlock { waits(&run.model, trace) } else { Vec::new() };
        let cause = stale::cause(result, &explanation);
        TraceExplanation { cycle: cycle(&waits), why: parts, owed, waits, cause, steps }
    }
}

/// The steps of a trace, each computed when it is asked for the first time.
#[derive(Debug)]
pub struct ExplainedSteps(Vec<OnceLock<StepView>>);

/// A trace with its steps.
#[derive(Clone, Copy, Debug)]
pub struct ExplainedTrace<'a> {
    /// The program.
    pub model: &'a Model,
    /// Its text.
    pub source: &'a SourceFile,
    /// The trace.
    pub trace: &'a Trace,
    steps: &'a ExplainedSteps,
}

impl ExplainedSteps {
    /// The steps of a trace, none of them computed yet.
    pub fn of(trace: &Trace) -> Self {
        ExplainedSteps((0..trace.n_steps()).map(|_| OnceLock::new()).collect())
    }

    /// The trace of which these are the steps, with them.
    pub fn of_trace<'a>(&'a self, model: &'a Model, source: &'a SourceFile, trace: &'a Trace) -> ExplainedTrace<'a> {
        ExplainedTrace { model, source, trace, steps: self }
    }
}

impl<'a> ExplainedTrace<'a> {
    /// The step from state number `at` to the next one.
    pub fn step(&self, at: usize) -> &'a StepView {
        let ExplainedTrace { model, source, trace, steps } = *self;
        steps.0[at].get_or_init(|| step(model, source, &trace.turns[at], [&trace.states[at], &trace.states[at + 1]]))
    }
}
