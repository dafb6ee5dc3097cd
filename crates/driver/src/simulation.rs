//! One run of a program, step by step: chosen at random from a seed, or by a person.
//!
//! In: a Model and who chooses. Out: the run so far as a [`Trace`], and which property it decides, if it does. Every step is
//! one of `model::eval`'s, so a simulated run is real by construction. The same seed gives the same run on every machine.

use audit::AuditError;
use base::StopReason;
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult};
use engine::{PropertyId, Statistics, Verdict};
use evidence::{Evidence, Trace, TraceEnd};
use model::Model;
use model::eval::{self, Move, State, Step};
use model::property::{Expected, PropertyKind};
use model::value::Value;

/// Of very many initial states, the random choice is among this many first ones.
const MOST_INITIAL_STATES: u128 = 1000;

/// A run in the making; there is always a present state.
pub struct Simulation<'m> {
    model: &'m Model,
    /// The run so far; the present state is the last.
    states: Vec<State>,
    /// `moves[k]` leads from `states[k]` to `states[k + 1]`.
    moves: Vec<Move>,
}

impl<'m> Simulation<'m> {
    /// Starts in an initial state.
    pub fn new(model: &'m Model, initial: State) -> Self {
        Simulation { model, states: vec![initial], moves: Vec::new() }
    }

    /// The present state.
    pub fn state(&self) -> &State {
        self.states.last().expect("there is always a present state")
    }

    /// How many steps were taken.
    pub fn n_steps(&self) -> usize {
        self.moves.len()
    }

    /// The steps that can be taken now, process by process; faulty ones are among them. Where `any` chooses from too many values
    /// to go through, likely ones are.
    pub fn choices(&self) -> Vec<Step> {
        likely_steps(self.model, self.state())
    }

    /// Takes a step to its successor.
    pub fn take(&mut self, by: Move, successor: State) {
        self.moves.push(by);
        self.states.push(successor);
    }

    /// Takes back the last step; false where there is none.
    pub fn undo(&mut self) -> bool {
        if self.moves.pop().is_none() {
            return false;
        }
        self.states.pop();
        true
    }

    /// The run so far, with what is shown at its end.
    pub fn trace(self, end: TraceEnd) -> Trace {
        Trace::finite(self.states, self.moves, end)
    }

    /// The first of the properties that the present state decides.
    ///
    /// # Errors
    /// An error inside a property's own expression.
    pub fn decides(&self, watched: &[PropertyId]) -> Result<Option<Decision>, (PropertyId, StopReason)> {
        for &property in watched {
            let end = decide(self.model, self.state(), property).map_err(|reason| (property, reason))?;
            if let Some(end) = end {
                return Ok(Some(Decision { property, end }));
            }
        }
        Ok(None)
    }
}

/// A property that a run decides, and what shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The property: a `reachable` holds, all others are violated.
    pub property: PropertyId,
    /// What is true of the last state.
    pub end: TraceEnd,
}

/// Why a random run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// A property is decided.
    Decided(PropertyId),
    /// A property cannot be evaluated.
    PropertyError(PropertyId, StopReason),
    /// All steps that were asked for were taken.
    Steps,
    /// Nobody can move, and nobody is watching for that.
    NobodyMoves,
}

/// The properties that end a run: those that are expected to hold and are violated by a single state or step.
pub fn watched_by_default(model: &Model) -> Vec<PropertyId> {
    let is_watched = |property: &PropertyId| {
        let property = &model.properties[*property];
        property.expected == Expected::Holds
            && !matches!(property.kind, PropertyKind::Reachable(_) | PropertyKind::Temporal(_))
    };
    model.properties.ids().filter(is_watched).collect()
}

/// A run of at most `n_steps` random steps that ends where one of the watched properties is decided.
pub fn random_run(model: &Model, watched: &[PropertyId], seed: u64, n_steps: usize) -> (Trace, Ending) {
    let mut random = Random(seed);
    let n_initial = eval::n_initial_states(model).clamp(1, MOST_INITIAL_STATES) as usize;
    let initial = eval::initial_states(model).nth(random.below(n_initial));
    let mut simulation = Simulation::new(model, initial.expect("there are that many initial states"));
    loop {
        match simulation.decides(watched) {
            Ok(None) => {}
            Ok(Some(decision)) => return (simulation.trace(decision.end), Ending::Decided(decision.property)),
            Err((property, reason)) => {
                return (simulation.trace(TraceEnd::State), Ending::PropertyError(property, reason));
            }
        }
        if simulation.n_steps() == n_steps {
            return (simulation.trace(TraceEnd::State), Ending::Steps);
        }
        match random.step(simulation.choices()) {
            Some((by, successor)) => simulation.take(by, successor),
            None => return (simulation.trace(TraceEnd::State), Ending::NobodyMoves),
        }
    }
}

/// The run as the answer to the property that it decides, replayed like any other evidence.
///
/// # Errors
/// The audit refuses it, which is a mistake of ours.
pub fn answer(model: &Model, property: PropertyId, trace: Trace) -> Result<PropertyResult, AuditError> {
    audit::replay(model, property, &trace)?;
    let evidence = Evidence::Trace(trace);
    let verdict = match model.properties[property].kind {
        PropertyKind::Reachable(_) => Verdict::Holds(evidence),
        _ => Verdict::Violated(evidence),
    };
    let (audit, statistics, insight) = (Audit::Accepted, Statistics::default(), Insight::default());
    Ok(PropertyResult { property, method: "sim", verdict, audit, statistics, insight, denied: Vec::new() })
}

/// What shows that the state decides the property, if it does.
fn decide(model: &Model, state: &State, property: PropertyId) -> Result<Option<TraceEnd>, StopReason> {
    let is_value = |expr, wanted| match eval::evaluate(model, state, expr, None) {
        Ok(value) => Ok((value == Value::Bool(wanted)).then_some(TraceEnd::State)),
        Err(fault) => Err(StopReason::PropertyError(fault.fault.to_string())),
    };
    match &model.properties[property].kind {
        PropertyKind::Invariant(expr) => is_value(expr, false),
        PropertyKind::Reachable(expr) => is_value(expr, true),
        PropertyKind::RaceFree(var) => Ok(eval::race(model, state, *var).map(TraceEnd::Race)),
        PropertyKind::DeadlockFree => Ok(eval::is_deadlock(model, state).then_some(TraceEnd::Deadlock)),
        PropertyKind::NoErrors => Ok(likely_steps(model, state).into_iter().find_map(|step| match step.result {
            Err(fault) => Some(TraceEnd::Fault { by: step.by, fault }),
            Ok(_) => None,
        })),
        PropertyKind::Temporal(_) => Ok(None),
    }
}

/// Steele, Lea and Flood's SplitMix64: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `n` - 1; the bias of the remainder does not matter for small `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// First a process, then one of its steps, so that a process with many choices does not crowd out the others.
    fn step(&mut self, choices: Vec<Step>) -> Option<(Move, State)> {
        let mut possible: Vec<(Move, State)> =
            choices.into_iter().filter_map(|step| Some((step.by, step.result.ok()?))).collect();
        let mut movers: Vec<_> = possible.iter().map(|(by, _)| by.process).collect();
        movers.dedup();
        if movers.is_empty() {
            return None;
        }
        let mover = movers[self.below(movers.len())];
        possible.retain(|(by, _)| by.process == mover);
        let chosen = self.below(possible.len());
        Some(possible.swap_remove(chosen))
    }
}

/// The steps of all processes; see [`eval::likely_steps_of`].
fn likely_steps(model: &Model, state: &State) -> Vec<Step> {
    model.processes.ids().flat_map(|process| eval::likely_steps_of(model, state, process, None)).collect()
}
