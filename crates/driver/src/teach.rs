//! Answers that teach: what else is worth knowing about a verdict, tried by asking similar questions.
//!
//! In: the results of a check. Out: the same with their [`Insight`](engine::insight::Insight): whether what a property speaks of ever happens (`vacuity.rs`),
//! which assumptions of a temporal property it needs (`needs.rs`), and for a violated one, which assumptions would exclude
//! such runs (`remedies.rs`); whether it holds at every size (`every_size.rs`), or larger sizes are proved by the same invariants (`other_n.rs`), and how large the product is beside a local proof (`product_size.rs`). A similar question goes to a short search of the whole product, and then to the method that
//! decided the property, on one thread and through the same audit. All of them together take no more processor time than the property itself took, and a moment,
//! and the first that takes longer than the property is the last: the others would take as long.

pub mod every_size;
mod needs;
pub mod other_n;
mod product_size;
mod remedies;
mod triggers;
mod vacuity;

use std::cell::Cell;
use std::time::{Duration, Instant};

use base::StopReason;
use engine::run::PropertyResult;
use engine::{Method, PropertyId, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use model::fairness::Assumptions;
use model::property::PropertyKind;

use crate::auto::{Race, RaceEntry, RaceStanding, Shares, is_countable};
use crate::check::{Check, CheckLimits, Checked};
use crate::checker::SharedEngine;
use crate::methods;
use crate::mistake::Mistake;

/// What is allowed for each property beside the time that it took itself.
const A_MOMENT: Duration = Duration::from_millis(100);

/// What takes longer than this is not asked again and again.
const LONG: Duration = Duration::from_secs(1);

/// What a similar question may take beside twice the time of the property.
const A_BLINK: Duration = Duration::from_millis(25);

/// What the search of the whole product has for a similar question, before the method that decided the property is asked.
const A_GLIMPSE: Duration = Duration::from_millis(20);

/// The system counts what a whole process works in such parts.
const A_TICK: Duration = Duration::from_millis(10);

/// Among more processes such a search takes longer than that to be made ready.
const MOST_SEARCHED: usize = 64;

/// Finds out more about the answers.
///
/// # Errors
/// A mistake of ours.
pub fn teach(check: &Check<'_>, checked: &mut Checked) -> Result<(), Box<Mistake>> {
    let deadline = check.limits.time.map(|limit| Instant::now() + limit.saturating_sub(checked.time));
    let worked = checked.processor_time;
    let mut product = None;
    for result in &mut checked.results {
        if result.statistics.local_states.is_some()
            && matches!(result.verdict, Verdict::Holds(_))
            && check.model.processes.len() <= MOST_SEARCHED
        {
            let counted = product.get_or_insert_with(|| product_size::count(check.model, check.limits));
            result.insight.product.clone_from(counted);
        }
        let own = own_time(result, worked);
        SimilarQuestions::new(check, result, (own, share(&result.verdict, own)), deadline).look_at(result)?;
    }
    Ok(())
}

/// Finds out only whether what properties speak of ever happens, of those that were decided soon and for a moment: for tables of many.
///
/// # Errors
/// A mistake of ours.
pub fn teach_vacuity(check: &Check<'_>, checked: &mut Checked) -> Result<(), Box<Mistake>> {
    let deadline = check.limits.time.map(|limit| Instant::now() + limit);
    let worked = checked.processor_time;
    for result in &mut checked.results {
        let own = own_time(result, worked);
        if own >= LONG || !matches!(result.verdict, Verdict::Holds(_)) {
            continue;
        }
        let asking = SimilarQuestions::new(check, result, (own, own.min(A_MOMENT) + A_BLINK), deadline);
        result.insight.triggers = vacuity::look(&asking, &check.model.properties[result.property])?;
    }
    Ok(())
}

/// The time that a result took: on the clock, but not more than the processors worked.
fn own_time(result: &PropertyResult, worked: Option<Duration>) -> Duration {
    worked.map_or(result.statistics.time, |worked| result.statistics.time.min(worked + A_TICK))
}

/// What the processors may work on a result that took so long itself. What took long and holds is left alone: each similar question would take as long again.
fn share(verdict: &Verdict, own: Duration) -> Duration {
    match verdict {
        Verdict::Holds(_) if own > LONG => A_MOMENT,
        // Which assumptions would help takes several questions, and fewer are found only if there is time to leave some out.
        Verdict::Violated(_) => own.saturating_mul(4).saturating_add(A_MOMENT).min(own.saturating_add(LONG)),
        _ => own.saturating_add(A_MOMENT),
    }
}

/// Asks similar questions until the time for them is used up.
struct SimilarQuestions<'a> {
    model: &'a Model,
    /// The method that decided the property.
    engine: SharedEngine,
    limits: CheckLimits,
    /// What the property took.
    own: Duration,
    /// What the processors may still work on similar questions; nothing once one of them took too long.
    left: Cell<Duration>,
    /// When a limit on time is reached.
    deadline: Option<Instant>,
}

impl<'a> SimilarQuestions<'a> {
    /// Asks about a result that took so long, for so long.
    fn new(
        check: &Check<'a>,
        result: &PropertyResult,
        (own, left): (Duration, Duration),
        deadline: Option<Instant>,
    ) -> Self {
        let method = methods::find(result.method).unwrap_or(Method::Mono);
        let engine = methods::engine(method).unwrap_or_else(|| std::sync::Arc::new(product::Mono));
        let limits = CheckLimits { n_threads: 1, ..check.limits.clone() };
        SimilarQuestions { model: check.model, engine, limits, own, left: Cell::new(left), deadline }
    }

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
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.left.get().is_zero() || is_late || self.limits.cancel.is_cancelled()
    }

    /// What becomes of a property of a changed program in the time that is left.
    fn ask(&self, model: &Model, property: PropertyId) -> Result<Verdict, Box<Mistake>> {
        let mut verdicts = self.ask_all(model, &[property])?;
        Ok(verdicts.remove(0))
    }

    /// What becomes of several, by a short search and then by the method that decided the property, or by diagrams where it does not answer such questions.
    fn ask_all(&self, model: &Model, properties: &[PropertyId]) -> Result<Vec<Verdict>, Box<Mistake>> {
        let mut found: Vec<Verdict> = properties.iter().map(|_| Verdict::Unknown(StopReason::Cancelled)).collect();
        let long = self.own.saturating_mul(2).saturating_add(A_BLINK);
        let is_searched = self.engine.method() != Method::Mono && model.processes.len() <= MOST_SEARCHED;
        let search = is_searched.then(|| (methods::engine(Method::Mono), A_GLIMPSE));
        let engines = [search, Some((Some(self.engine.clone()), long)), Some((methods::engine(Method::Forward), long))];
        for (engine, most) in engines.into_iter().flatten() {
            let Some(engine) = engine else { continue };
            // Diagrams are asked what the method does not answer at all.
            let is_refused = |id| engine.method() != Method::Forward || self.engine.supports(model, id).is_err();
            let is_open = |&at: &usize| matches!(found[at], Verdict::Unknown(_)) && is_refused(properties[at]);
            let open: Vec<usize> = (0..found.len()).filter(is_open).collect();
            if open.is_empty() || self.is_over() {
                continue;
            }
            let asked: Vec<PropertyId> = open.iter().map(|&at| properties[at]).collect();
            for (at, verdict) in open.into_iter().zip(self.ask_engine(model, asked, (engine, most))?) {
                found[at] = verdict;
            }
        }
        Ok(found)
    }

    /// What an engine says, which may work so long. Where that is not enough, there is no time for more.
    fn ask_engine(
        &self,
        model: &Model,
        asked: Vec<PropertyId>,
        (engine, most): (SharedEngine, Duration),
    ) -> Result<Vec<Verdict>, Box<Mistake>> {
        let time = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limits = CheckLimits { time, ..self.limits.clone() };
        let step = RaceEntry { engine: engine.clone(), shares: Shares::same(1.0), n_threads: 1, one_by_one: false };
        // What is only seen on the clock has more of it, since other programs may be busy.
        let most = if is_countable(&step) { most } else { most.saturating_add(A_MOMENT) };
        let is_glimpse = engine.method() == Method::Mono && self.engine.method() != Method::Mono;
        let standing = RaceStanding::new(model, &asked);
        let task = Task { model, properties: asked, budget: limits.budget(), n_threads: 1 };
        let mut race = Race::new(&task, &Silent, standing, Default::default());
        let most = most.min(self.left.get());
        race.compete(&[step], Some(most));
        let left = self.left.get().saturating_sub(race.worked());
        self.left.set(if race.is_limited() && !is_glimpse { Duration::ZERO } else { left });
        Ok(race.results()?.into_iter().map(|result| result.verdict).collect())
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
