//! From a backend to answers: the methods that compute invariants of `k` processes each.
//!
//! In: a backend, `k` and a task. Out: an answer for each property. All properties share one set of invariants. What the
//! invariants leave open may still be decided by a real run of a few processes ([`crate::few_movers`]); otherwise it stays open.

use std::time::Instant;

use base::{Coarse, StopReason};
use engine::{Answer, Event, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::certificate::{Claim, Sights, SplitInvariant};
use evidence::implied::Implied;
use evidence::{Certificate, Evidence, SymbolicSearch, Trace};
use model::property::{Property, PropertyKind};

use crate::backend::Backend;
use crate::facts::{FactId, Facts};
use crate::few_movers;
use crate::k_index::{Fixpoint, InvariantDecision, Invariants, KIndexPlan, decide};
use crate::question::{Question, questions_up_to};
use crate::symmetry::Symmetry;

/// After so many questions that may have no value, and of which no run is found, the others are not asked.
pub const MOST_WITHOUT_VALUE: usize = 4;

/// What an attempt at a property comes to.
pub enum PropertyAttempt {
    /// None of the property's questions has a positive answer in a reachable state, by these invariants, and by how they imply that.
    Never(SplitInvariant, Vec<Implied>),
    /// The same, by invariants that leave out what these sums exclude.
    Relative(Sights, SplitInvariant, Vec<Implied>),
    /// None has, by a search of everything.
    Searched(SymbolicSearch),
    /// One has at the end of this run.
    Run(Trace),
    /// Not decided.
    Open(StopReason),
}

/// Computes invariants of `k` processes each, and answers all properties of the task with them. `statistics` measures the
/// backend after the fixpoint.
pub fn k_index<B: Backend>(
    backend: &mut B,
    k: usize,
    (task, observer): (&Task<'_>, &dyn Observer),
    statistics: impl Fn(&mut B, Option<&Invariants<B::Set>>) -> Statistics,
) -> Vec<Answer> {
    let mut since = Instant::now();
    let k = k.min(task.model.processes.len());
    // Sums may weigh processes differently that are symmetric.
    let symmetry = match backend.sums() {
        Some(_) => None,
        None => Symmetry::of(task.model).filter(|symmetry| backend.renames(symmetry)),
    };
    let invariants = strongest(backend, k, task, symmetry.as_ref());
    let mut answers = Vec::new();
    for &id in &task.properties {
        let outcome = match &invariants {
            Ok(invariants) => attempt(backend, invariants, (task, id), symmetry.as_ref()),
            Err(stop) => Err(stop.clone()),
        };
        // The first question pays for the invariants.
        let time = std::mem::replace(&mut since, Instant::now()).elapsed();
        let statistics = Statistics { time, ..statistics(backend, invariants.as_ref().ok()) };
        answers.push(answer((task, observer), id, outcome.unwrap_or_else(PropertyAttempt::Open), statistics));
    }
    answers
}

fn strongest<B: Backend>(
    backend: &mut B,
    k: usize,
    task: &Task<'_>,
    symmetry: Option<&Symmetry<'_>>,
) -> Result<Invariants<B::Set>, StopReason> {
    let plan = match symmetry {
        Some(symmetry) => KIndexPlan::of_first(backend, k, symmetry.clone(), &task.budget)?,
        None => KIndexPlan::of_all(backend, k, &task.budget)?,
    };
    let mut fixpoint = Fixpoint::of_plan(backend, plan, &task.budget)?;
    fixpoint.close(backend, &task.budget)?;
    Ok(fixpoint.invariants)
}

fn attempt<B: Backend>(
    backend: &mut B,
    invariants: &Invariants<B::Set>,
    (task, id): (&Task<'_>, PropertyId),
    symmetry: Option<&Symmetry<'_>>,
) -> Result<PropertyAttempt, StopReason> {
    let property = &task.model.properties[id].kind;
    let asked = questions_up_to(task.model, property, symmetry).unwrap_or_default();
    let find_run = |question: &Question| few_movers::find_run(task.model, property, question, &task.budget);
    let (mut left, mut n_without_value) = (asked.iter(), 0);
    let decision = loop {
        match decide(backend, invariants, left.by_ref(), (symmetry, &task.budget))? {
            // Another question may be answered where this one has no value.
            InvariantDecision::Fault(question) if n_without_value < MOST_WITHOUT_VALUE => {
                n_without_value += 1;
                if let Some(trace) = find_run(&question)? {
                    return Ok(PropertyAttempt::Run(trace));
                }
            }
            decision => break decision,
        }
    };
    Ok(match decision {
        InvariantDecision::Open(question) => match find_run(&question)? {
            Some(trace) => PropertyAttempt::Run(trace),
            None if n_without_value == 0 => PropertyAttempt::Open(over_approximates(invariants.k)),
            None => PropertyAttempt::Open(Coarse::NoValue.into()),
        },
        InvariantDecision::Fault(_) => PropertyAttempt::Open(Coarse::NoValue.into()),
        InvariantDecision::Proved if n_without_value > 0 => PropertyAttempt::Open(Coarse::NoValue.into()),
        InvariantDecision::Proved => {
            let invariant = backend.certify(invariants.k, &invariants.join())?;
            let claimed = symmetry.as_ref().map(|symmetry| symmetry.claim());
            let implies = invariants.implied(backend, (property, &asked), symmetry);
            let invariant = SplitInvariant { symmetry: claimed, ..invariant };
            match backend.sums() {
                Some(sums) => PropertyAttempt::Relative(sums.fact.clone(), invariant, implies),
                None => PropertyAttempt::Never(invariant, implies),
            }
        }
    })
}

/// A verdict with its evidence: a `reachable` holds by a run, all else is violated by it.
pub fn answer(
    (task, observer): (&Task<'_>, &dyn Observer),
    id: PropertyId,
    outcome: PropertyAttempt,
    statistics: Statistics,
) -> Answer {
    let property = &task.model.properties[id];
    let is_goal = matches!(property.kind, PropertyKind::Reachable(_));
    let verdict = match outcome {
        PropertyAttempt::Open(stop) => Verdict::Unknown(stop),
        PropertyAttempt::Never(invariant, implies) => never(property, None, (invariant, implies)),
        PropertyAttempt::Relative(sums, invariant, implies) => never(property, Some(sums), (invariant, implies)),
        PropertyAttempt::Searched(seen) => {
            let evidence = Evidence::Symbolic(seen);
            if is_goal { Verdict::Violated(evidence) } else { Verdict::Holds(evidence) }
        }
        PropertyAttempt::Run(trace) if is_goal => Verdict::Holds(Evidence::Trace(trace)),
        PropertyAttempt::Run(trace) => Verdict::Violated(Evidence::Trace(trace)),
    };
    let answer = Answer { property: id, verdict, statistics };
    if !matches!(answer.verdict, Verdict::Unknown(_)) {
        observer.event(Event::Decided(id));
        observer.answered(&answer);
    }
    answer
}

/// A proof that what a property asks for never happens.
fn never(property: &Property, sums: Option<Sights>, (invariant, implies): (SplitInvariant, Vec<Implied>)) -> Verdict {
    let mut facts = Facts::default();
    let uses: Vec<FactId> = sums.into_iter().map(|sums| facts.add(Claim::Sights(sums), &[])).collect();
    facts.add(Claim::SplitInvariant(invariant), &uses);
    let certificate = Certificate { implies, ..facts.into_certificate(&property.name) };
    let evidence = Evidence::Certificate(Box::new(certificate));
    match property.kind {
        PropertyKind::Reachable(_) => Verdict::Violated(evidence),
        _ => Verdict::Holds(evidence),
    }
}

fn over_approximates(k: usize) -> StopReason {
    match k {
        1 => Coarse::OneProcess,
        2 => Coarse::TwoProcesses,
        _ => Coarse::ThreeProcesses,
    }
    .into()
}
