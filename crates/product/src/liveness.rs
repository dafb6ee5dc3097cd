//! Temporal properties on the whole product: the graph of all states, and fair loops in its products with automata.
//!
//! In: a task's temporal properties, and others to be decided on the way. Out: for each a lasso that violates it, or the exploration that shows that there is none; for the others what the search says.
//! The states and turns (`turns.rs`) are stored once (`graph.rs`), with what the properties' propositions and fairness assumptions look at
//! (`predicates.rs`). Each way to violate a property is a product with an automaton (`rules.rs`, `product.rs`), searched for a component
//! that satisfies all demands (`streett::emptiness`), one for all that are alike (`alike.rs`); the run through it is made short (`streett::lasso`). A search on many hosts
//! makes the same product, of the same turns and rules, in the memories of all.

pub mod alike;
mod graph;
pub mod predicates;
pub(crate) mod product;
pub mod rules;
pub mod turns;

use std::time::Instant;

use base::StopReason;
use engine::{Answer, Event, PropertyId, Statistics, Task, Verdict};
use evidence::{Evidence, Trace, TraceEnd};
use model::Model;
use model::eval::State;
use model::property::{Formula, PropertyKind};
use temporal::Violation;

use crate::mono::is_room;
use crate::search::SearchOutcome;
use engine::meter::Meter;
use graph::{Explorer, StateGraph};
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::questions::StateQuestion;
use packed::width::{ForWidth, with_width};
use predicates::Predicates;
use product::LivenessProduct;
use streett::emptiness;
use streett::lasso::{self, FairLasso};

/// Answers the temporal properties among those of a task, and the others that are named, on the same graph; the rest is not looked at.
/// A graph that would take more than `most_bytes` is given up: its temporal properties have no answer then.
pub(crate) fn run(task: &Task<'_>, others: &[PropertyId], meter: &Meter<'_>, most_bytes: Option<u64>) -> Vec<Answer> {
    let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
    let started = Instant::now();
    let asked: Vec<AskedProperty> = task.properties.iter().filter_map(|&id| AskedProperty::new(task, id)).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let properties: Vec<PropertyId> = asked.iter().map(|asked| asked.property).chain(others.iter().copied()).collect();
    match with_width(codec.layout.n_words, LivenessJob { codec: &codec, asked, others, meter, most_bytes, started }) {
        Ok(answers) => answers,
        Err(reason) => properties.into_iter().map(|property| unknown(property, reason.clone())).collect(),
    }
}

/// An expression of a property, or of the fairness that it assumes, is a fault in a reachable state.
pub fn no_value() -> StopReason {
    StopReason::PropertyError("evaluating it fails in a reachable state: an error".to_owned())
}

fn unknown(property: PropertyId, reason: StopReason) -> Answer {
    Answer { property, verdict: Verdict::Unknown(reason), statistics: Statistics::default() }
}

/// A property and the ways to violate it.
struct AskedProperty {
    property: PropertyId,
    violations: Result<Vec<Violation>, StopReason>,
}

impl AskedProperty {
    fn new(task: &Task<'_>, property: PropertyId) -> Option<Self> {
        let formula = formula_of(task.model, property)?;
        let violations = temporal::violations(task.model, &task.model.properties[property], formula, &task.budget);
        Some(AskedProperty { property, violations })
    }
}

fn formula_of(model: &Model, property: PropertyId) -> Option<&Formula> {
    match &model.properties[property].kind {
        PropertyKind::Temporal(formula) => Some(formula),
        _ => None,
    }
}

struct LivenessJob<'j> {
    codec: &'j Codec<'j>,
    asked: Vec<AskedProperty>,
    /// Properties that are not temporal.
    others: &'j [PropertyId],
    meter: &'j Meter<'j>,
    /// What the graph may take, where it is better given up than completed.
    most_bytes: Option<u64>,
    started: Instant,
}

impl ForWidth for LivenessJob<'_> {
    type Output = Vec<Answer>;

    fn run<const W: usize>(self) -> Vec<Answer> {
        let mut compiler = Compiler::new(self.codec);
        let mut predicates = Predicates::new(self.codec.model);
        for violation in self.asked.iter().flat_map(|asked| asked.violations.iter().flatten()) {
            predicates.add(&mut compiler, violation);
        }
        let compile = |&id: &PropertyId| StateQuestion::new(self.codec.model, id, &mut compiler);
        let questions: Vec<StateQuestion> = self.others.iter().filter_map(compile).collect();
        let machine = Machine { codec: self.codec, code: compiler.finish() };
        let mut explorer = Explorer::<W>::new(&machine, &predicates, &questions, self.meter);
        let mut answers: Vec<Option<Answer>> = self.asked.iter().map(|_| None).collect();
        let mut most_states = FIRST_LOOK;
        let complete = loop {
            let room = self.room_for(explorer.graph.states.len());
            match explorer.explore(most_states.min(room), self.meter) {
                Ok(false) if room < most_states => {
                    let reason = StopReason::MemoryLimit(self.meter.memory_limit().unwrap_or_default());
                    let others = self.others(&explorer, Some(&reason));
                    return answers.into_iter().flatten().chain(others).collect();
                }
                Ok(false) => most_states = most_states.saturating_mul(BETWEEN_LOOKS),
                end => break end.map(drop),
            }
            // A violation that is near needs no more of the graph; in the order of the instances, since others are often violated with the first.
            for (asked, answer) in self.asked.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
                let Ok(violations) = &asked.violations else { continue };
                let near = &alike::representatives(self.codec.model, violations)[..];
                let verdict = self.decide(&machine, &explorer.graph, &predicates, &near[..near.len().min(N_NEAR)]);
                if let Verdict::Violated(_) = verdict {
                    *answer = Some(self.answer(asked, verdict, Some(&explorer.graph)));
                }
            }
            if answers.iter().all(Option::is_some) {
                // Nothing more is asked of the graph; the others go on to its end, or until they are decided.
                most_states = usize::MAX;
                if explorer.findings().iter().all(Option::is_some) {
                    break Ok(());
                }
            }
        };
        let others = self.others(&explorer, complete.as_ref().err());
        let decide = |(asked, answer): (&AskedProperty, Option<Answer>)| match (answer, &complete, &asked.violations) {
            (Some(answer), ..) => answer,
            (None, _, Err(reason)) | (None, Err(reason), _) => {
                let seen = complete.is_ok().then_some(&explorer.graph);
                self.answer(asked, Verdict::Unknown(reason.clone()), seen)
            }
            (None, Ok(()), Ok(violations)) => {
                let violations = alike::representatives(self.codec.model, violations);
                let verdict = self.decide(&machine, &explorer.graph, &predicates, &violations);
                self.answer(asked, verdict, Some(&explorer.graph))
            }
        };
        self.asked.iter().zip(answers).map(decide).chain(others).collect()
    }
}

/// After so many states the graph is searched for the first time.
const FIRST_LOOK: usize = 1 << 12;
/// So many times as many states are explored before it is searched again.
const BETWEEN_LOOKS: usize = 16;
/// So many instances of each property are looked at before everything is explored.
const N_NEAR: usize = 2;

impl LivenessJob<'_> {
    /// How many states the graph may have, from what those that it has take.
    fn room_for(&self, n_states: usize) -> usize {
        let bytes = self.meter.bytes();
        match self.most_bytes {
            Some(most) if n_states > 0 && bytes > 0 => {
                usize::try_from(u128::from(most) * n_states as u128 / u128::from(bytes)).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        }
    }

    /// The answers to the properties that are not temporal. Those that a limit leaves open are not told yet.
    fn others<const W: usize>(&self, explorer: &Explorer<'_, W>, stopped: Option<&StopReason>) -> Vec<Answer> {
        let (exploration, time) = (explorer.graph.exploration(), self.started.elapsed());
        let findings = explorer.findings().to_vec();
        // What had no room here is asked again of a search that stores less.
        let without_value = match stopped {
            Some(reason) if is_room(reason) => vec![None; findings.len()],
            _ => explorer.without_value().to_vec(),
        };
        let outcome = SearchOutcome { findings, without_value, exploration, stopped: stopped.cloned(), time };
        let answer = |(at, &property)| outcome.answer(self.codec.model, property, at, self.meter);
        let answers: Vec<Answer> = self.others.iter().enumerate().map(answer).collect();
        let decided = answers.iter().filter(|answer| !matches!(answer.verdict, Verdict::Unknown(_)));
        decided.for_each(|answer| self.meter.answered(answer));
        answers
    }

    fn answer<const W: usize>(&self, asked: &AskedProperty, verdict: Verdict, seen: Option<&StateGraph<W>>) -> Answer {
        // Where it has no value, nothing else will be said.
        if !matches!(&verdict, Verdict::Unknown(reason) if !matches!(reason, StopReason::PropertyError(_))) {
            self.meter.tell(Event::Decided(asked.property));
        }
        let seen = seen.map(StateGraph::exploration);
        let answer = Answer {
            property: asked.property,
            verdict,
            statistics: Statistics {
                time: self.started.elapsed(),
                peak_memory_bytes: Some(self.meter.peak_bytes()),
                global_states: seen.as_ref().map(|seen| seen.states),
                global_transitions: seen.as_ref().map(|seen| seen.transitions),
                depth: seen.as_ref().map(|seen| seen.depth),
                ..Statistics::default()
            },
        };
        self.meter.answered(&answer);
        answer
    }

    /// Looks for a fair loop in each product.
    fn decide<const W: usize>(
        &self,
        machine: &Machine<'_>,
        graph: &StateGraph<W>,
        predicates: &Predicates,
        violations: &[&Violation],
    ) -> Verdict {
        for violation in violations {
            let product = match LivenessProduct::new(machine.codec.model, graph, predicates, violation) {
                Ok(product) => product,
                Err(reason) => return Verdict::Unknown(reason),
            };
            match emptiness::fair_component(&product, self.meter) {
                Err(reason) => return Verdict::Unknown(reason),
                Ok(None) => {}
                Ok(Some(component)) => {
                    let trace = shown(machine, &product, &lasso::through(&product, &component));
                    return Verdict::Violated(Evidence::Trace(trace));
                }
            }
        }
        match graph.exploration() {
            explored if explored.complete => Verdict::Holds(Evidence::Exploration(explored)),
            _ => Verdict::Unknown(StopReason::Cancelled),
        }
    }
}

/// A lasso in the user's terms.
fn shown<const W: usize>(machine: &Machine<'_>, product: &LivenessProduct<'_, W>, lasso: &FairLasso) -> Trace {
    let codec = machine.codec;
    let taken = || lasso.stem.iter().chain(&lasso.turning);
    let unpack = |node: u32| codec.unpack(&product.graph.states[product.state_of(node)]);
    let mut states: Vec<State> = taken().map(|&(node, _)| unpack(node)).collect();
    states.push(unpack(lasso.turning[0].0));
    let turns = taken().map(|&(node, edge)| product.turn(node, edge)).collect();
    Trace { states, turns, end: TraceEnd::Loop, loop_from: Some(lasso.stem.len()) }
}
