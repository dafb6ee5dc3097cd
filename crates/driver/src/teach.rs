//! Answers that teach: what else is worth knowing about a verdict, tried by asking similar questions.
//!
//! In: the results of a check. Out: the same with their [`Insight`](engine::insight::Insight): whether what a property speaks of ever happens (`vacuity.rs`),
//! which assumptions of a temporal property it needs (`needs.rs`), and for a violated one, which assumptions would exclude
//! such runs (`remedies.rs`); and whether larger sizes are proved by the same invariants (`other_n.rs`). A similar question goes to a short search of the whole product, and then to the method that
//! decided the property, on one thread and through the same audit; nothing races for it. It takes no longer than the property itself took, and a moment.

mod needs;
pub mod other_n;
mod remedies;
mod triggers;
mod vacuity;

use std::time::{Duration, Instant};

use base::StopReason;
use engine::run::PropertyResult;
use engine::{Method, PropertyId, Silent, Verdict};
use evidence::Evidence;
use model::Model;
use model::fairness::Assumptions;
use model::property::PropertyKind;

use crate::check::{Check, Checked, Limits};
use crate::methods;
use crate::mistake::Mistake;

/// What is allowed for each property beside the time that it took itself.
const A_MOMENT: Duration = Duration::from_millis(100);
/// What took less than this can be asked many times in no time; only a machine that stalls lets it take this long.
const QUICK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(600));

/// What takes longer than this is not asked again and again.
const LONG: Duration = Duration::from_secs(1);

/// What the search of the whole product has for a similar question, before the method that decided the property is asked.
const A_GLIMPSE: Duration = Duration::from_millis(30);

/// Among more processes such a search takes longer than that to be made ready.
const MOST_SEARCHED: usize = 64;

/// Finds out more about the answers.
///
/// # Errors
/// A mistake of ours.
pub fn teach(check: &Check<'_>, checked: &mut Checked) -> Result<(), Box<Mistake>> {
    let started = Instant::now();
    for result in &mut checked.results {
        let left = check.limits.time.map(|limit| limit.saturating_sub(checked.time + started.elapsed()));
        let share = share(result);
        let asking = Asking {
            model: check.model,
            method: methods::find(result.method).unwrap_or(Method::Mono),
            limits: &Limits { n_threads: 1, ..check.limits.clone() },
            deadline: Instant::now() + left.map_or(share, |left| left.min(share)),
        };
        asking.look_at(result)?;
    }
    Ok(())
}

/// Finds out only whether what properties speak of ever happens, and only of those that were decided at once: for tables of many.
///
/// # Errors
/// A mistake of ours.
pub fn teach_vacuity(check: &Check<'_>, checked: &mut Checked) -> Result<(), Box<Mistake>> {
    let (quick, enough) = QUICK;
    for result in &mut checked.results {
        if result.statistics.time >= quick || !matches!(result.verdict, Verdict::Holds(_)) {
            continue;
        }
        let deadline = Instant::now() + check.limits.time.map_or(enough, |limit| limit.min(enough));
        let method = methods::find(result.method).unwrap_or(Method::Mono);
        let limits = &Limits { n_threads: 1, ..check.limits.clone() };
        let asking = Asking { model: check.model, method, limits, deadline };
        result.insight.triggers = vacuity::look(&asking, &check.model.properties[result.property])?;
    }
    Ok(())
}

/// How long may be spent on a result. What took long and holds is left alone: each similar question would take as long again.
fn share(result: &PropertyResult) -> Duration {
    let (quick, enough) = QUICK;
    match result.verdict {
        _ if result.statistics.time < quick => enough,
        Verdict::Holds(_) if result.statistics.time > LONG => A_MOMENT,
        // Which assumptions would help takes several questions, and fewer are found only if there is time to leave some out.
        Verdict::Violated(_) => {
            let time = result.statistics.time;
            time.saturating_mul(16).saturating_add(A_MOMENT).min(time.saturating_add(LONG))
        }
        _ => result.statistics.time.saturating_add(A_MOMENT),
    }
}

/// Asks similar questions until a deadline.
struct Asking<'a> {
    model: &'a Model,
    /// The method that decided the property.
    method: Method,
    limits: &'a Limits,
    deadline: Instant,
}

impl Asking<'_> {
    fn look_at(&self, result: &mut PropertyResult) -> Result<(), Box<Mistake>> {
        let property = &self.model.properties[result.property];
        match (&result.verdict, &property.kind) {
            (Verdict::Holds(_), PropertyKind::Invariant(_) | PropertyKind::Temporal(_)) => {
                result.insight.triggers = vacuity::look(self, property)?;
                if matches!(property.kind, PropertyKind::Temporal(_)) {
                    result.insight.assumptions = needs::look(self, result.property)?;
                }
            }
            (Verdict::Violated(Evidence::Trace(trace)), PropertyKind::Temporal(_)) => {
                result.insight.remedies = remedies::look(self, result, trace)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || self.limits.cancel.is_cancelled()
    }

    /// What becomes of a property of a changed program in the time that is left.
    fn ask(&self, model: &Model, property: PropertyId) -> Result<Verdict, Box<Mistake>> {
        let mut verdicts = self.ask_all(model, &[property])?;
        Ok(verdicts.remove(0))
    }

    /// What becomes of several, by a short search and then by the method that decided the property, or by diagrams where it does not answer such questions.
    fn ask_all(&self, model: &Model, properties: &[PropertyId]) -> Result<Vec<Verdict>, Box<Mistake>> {
        let stopped = || Verdict::Unknown(StopReason::Cancelled);
        let mut found: Vec<Verdict> = properties.iter().map(|_| stopped()).collect();
        let search = (Method::Mono, Some(A_GLIMPSE));
        let is_searched = self.method != Method::Mono && model.processes.len() <= MOST_SEARCHED;
        let methods = [is_searched.then_some(search), Some((self.method, None)), Some((Method::Forward, None))];
        for (method, time) in methods.into_iter().flatten() {
            let checker = methods::checker(method);
            let is_open = |at: &usize| matches!(found[*at], Verdict::Unknown(_));
            let is_refused = |at: &usize| {
                let reason = |verdict: &Verdict| matches!(verdict, Verdict::Unknown(StopReason::NotSupported(_)));
                method != Method::Forward || reason(&found[*at])
            };
            let open: Vec<usize> = (0..found.len()).filter(is_open).filter(is_refused).collect();
            let left = self.deadline.saturating_duration_since(Instant::now());
            if open.is_empty() || left.is_zero() {
                continue;
            }
            let limits = Limits { time: Some(time.map_or(left, |time| left.min(time))), ..self.limits.clone() };
            let questions: Vec<PropertyId> = open.iter().map(|&at| properties[at]).collect();
            let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
            for (at, result) in open.into_iter().zip(check.run(&Silent)?.results) {
                found[at] = result.verdict;
            }
        }
        Ok(found)
    }

    /// The program, to be changed: what will be asked of it was not written in its text, so it has no template.
    fn variant(&self) -> Model {
        Model { template: None, ..self.model.clone() }
    }

    /// The program in which a property assumes something else.
    fn assuming(&self, property: PropertyId, under: Assumptions) -> Model {
        let mut model = self.variant();
        model.properties[property].under = under;
        model
    }
}

/// How many turns the loop of a run has.
fn loop_turns(verdict: &Verdict) -> Option<usize> {
    let Verdict::Violated(Evidence::Trace(trace)) = verdict else { return None };
    Some(trace.turns.len() - trace.loop_from?)
}
