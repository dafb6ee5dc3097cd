//! One run of a program, step by step: chosen at random from a seed, or by a person.
//!
//! In: a Model and choices. Out: the run so far as a [`Trace`], and which property it decides, if it does. Every step is
//! one of `model::eval`'s, so a simulated run is real by construction. The same seed gives the same run on every machine.

use audit::AuditError;
use base::{SourceFile, StopReason};
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult};
use engine::{PropertyId, Statistics, Verdict};
use evidence::{Evidence, Trace, TraceEnd};
use model::Model;
use model::eval::{self, Move, State, Step, Turn};
use model::expr::{BinaryOp, Expr, ExprKind};
use model::property::{Expected, PropertyKind};
use model::value::Value;

use crate::load::{self, Loaded};

/// Of very many initial states, the random choice is among this many first ones.
const MOST_INITIAL_STATES: u128 = 1000;

/// A run in the making; there is always a present state.
pub struct Simulation<'m> {
    model: &'m Model,
    /// The run so far; the present state is the last.
    states: Vec<State>,
    /// `moves[k]` leads from `states[k]` to `states[k + 1]`.
    moves: Vec<Move>,
    /// Steps that were taken back, the last one first to be taken again.
    undone: Vec<(Move, State)>,
}

impl<'m> Simulation<'m> {
    /// Starts in an initial state.
    pub fn new(model: &'m Model, initial: State) -> Self {
        Simulation { model, states: vec![initial], moves: Vec::new(), undone: Vec::new() }
    }

    /// Goes along a run from a file, as far as it has steps; each must be one that can be taken.
    ///
    /// # Errors
    /// The step that cannot.
    pub fn along(model: &'m Model, trace: &Trace) -> Result<Self, String> {
        let first = trace.states.first().ok_or("the trace has no states")?;
        if !eval::initial_states(model).take(MOST_INITIAL_STATES as usize).any(|state| state == *first) {
            return Err("the first state of the trace is no initial state".to_owned());
        }
        let mut simulation = Simulation::new(model, first.clone());
        for (nth, (turn, after)) in trace.turns.iter().zip(&trace.states[1..]).enumerate() {
            let Turn::Step(by) = turn else {
                match after == simulation.state() {
                    true => continue,
                    false => return Err(format!("turn {} of the trace changes the state without a step", nth + 1)),
                }
            };
            let process = by.process;
            let mut steps = eval::likely_steps_of(model, simulation.state(), process, Some(after)).into_iter();
            let taken = steps.find(|step| step.by == *by && step.result.as_ref() == Ok(after));
            let Some(taken) = taken else { return Err(format!("step {} of the trace cannot be taken", nth + 1)) };
            simulation.take(taken.by, after.clone());
        }
        Ok(simulation)
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
        self.undone.clear();
        self.moves.push(by);
        self.states.push(successor);
    }

    /// Takes a step at random; false where no process is enabled.
    pub fn take_random(&mut self, random: &mut SplitMix64) -> bool {
        match random.step(self.choices()) {
            Some((by, successor)) => {
                self.take(by, successor);
                true
            }
            None => false,
        }
    }

    /// Takes back the last step; false where there is none.
    pub fn undo(&mut self) -> bool {
        let Some(by) = self.moves.pop() else { return false };
        self.undone.extend(self.states.pop().map(|state| (by, state)));
        true
    }

    /// Takes again the step that was taken back last; false where there is none.
    pub fn redo(&mut self) -> bool {
        let Some((by, state)) = self.undone.pop() else { return false };
        self.moves.push(by);
        self.states.push(state);
        true
    }

    /// The run so far, which goes on.
    pub fn so_far(&self) -> Trace {
        Trace::finite(self.states.clone(), self.moves.clone(), TraceEnd::State)
    }

    /// The run so far, with what is shown at its end.
    pub fn trace(self, end: TraceEnd) -> Trace {
        Trace::finite(self.states, self.moves, end)
    }

    /// The first of the properties that the present state decides.
    ///
    /// # Errors
    /// An error inside a property's own expression.
    pub fn decides(&self, watched: &[PropertyId]) -> Result<Option<SimulatedDecision>, (PropertyId, StopReason)> {
        for &property in watched {
            let end = decide(self.model, self.state(), property).map_err(|reason| (property, reason))?;
            if let Some(end) = end {
                return Ok(Some(SimulatedDecision { property, end }));
            }
        }
        Ok(None)
    }
}

/// A property that a run decides, and what shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedDecision {
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
    /// No process is enabled, and no property asks for that.
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
    let mut random = SplitMix64(seed);
    let n_initial = match model.initially.is_empty() {
        true => eval::n_initial_states(model).clamp(1, MOST_INITIAL_STATES) as usize,
        false => eval::initial_states(model).take(MOST_INITIAL_STATES as usize).count(),
    };
    let initial = eval::initial_states(model).nth(random.below(n_initial));
    let simulation = Simulation::new(model, initial.expect("there are that many initial states"));
    go_on(simulation, watched, &mut random, n_steps)
}

/// A run that goes on with at most so many random steps.
pub fn random_run_from(
    simulation: Simulation<'_>,
    watched: &[PropertyId],
    seed: u64,
    n_steps: usize,
) -> (Trace, Ending) {
    go_on(simulation, watched, &mut SplitMix64(seed), n_steps)
}

fn go_on(
    mut simulation: Simulation<'_>,
    watched: &[PropertyId],
    random: &mut SplitMix64,
    n_steps: usize,
) -> (Trace, Ending) {
    let last = simulation.n_steps() + n_steps;
    loop {
        match simulation.decides(watched) {
            Ok(None) => {}
            Ok(Some(decision)) => return (simulation.trace(decision.end), Ending::Decided(decision.property)),
            Err((property, reason)) => {
                return (simulation.trace(TraceEnd::State), Ending::PropertyError(property, reason));
            }
        }
        if simulation.n_steps() >= last {
            return (simulation.trace(TraceEnd::State), Ending::Steps);
        }
        if !simulation.take_random(random) {
            return (simulation.trace(TraceEnd::State), Ending::NobodyMoves);
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

/// An expression over the names of a program, to be evaluated in its states.
pub struct Watch {
    /// The program with the expression in it.
    model: Model,
    expr: Expr,
}

impl Watch {
    /// Reads an expression as the program's text would have it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(source: &SourceFile, model: &Model, text: &str) -> Result<Self, String> {
        let end = source.text().rfind('}').ok_or("expressions are read in programs of the Piecewise language")?;
        let (before, after) = source.text().split_at(end);
        let asked = format!("{before}\n invariant {WATCHED}: ({text}) == ({text});\n{after}");
        let given: Vec<(String, i64)> = model.parameters.iter().map(|one| (one.name.clone(), one.value)).collect();
        let program = match load::instance(&SourceFile::new(source.name(), asked), &given) {
            Loaded::Program(program) => program,
            Loaded::Refused(refusal) => {
                let first = refusal.diagnostics.first().map(|one| one.message.clone());
                return Err(first.unwrap_or_else(|| "this is no expression".to_owned()));
            }
        };
        let found = program.model.properties.iter().find(|property| property.name == WATCHED);
        let expr = match found.map(|property| &property.kind) {
            Some(PropertyKind::Invariant(Expr { kind: ExprKind::Binary(BinaryOp::Equal, left, _), .. })) => {
                (**left).clone()
            }
            _ => return Err("this is no expression".to_owned()),
        };
        Ok(Watch { model: program.model, expr })
    }

    /// Its value in a state, as the user writes values.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value(&self, state: &State) -> Result<String, String> {
        let value = eval::evaluate(&self.model, state, &self.expr, None).map_err(|fault| fault.fault.to_string())?;
        Ok(model::print::value(&self.model, value))
    }
}

/// The name of an expression that is evaluated.
const WATCHED: &str = "the_expression_of_a_watch";

/// Steele, Lea and Flood's SplitMix64: small, and the same on every machine.
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

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
