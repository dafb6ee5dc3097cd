//! The search equals brute force: counts, verdicts, lengths and switches of counterexamples, with one thread and with two.

use base::{Budget, StopReason};
use engine::{Answer, Engine, PropertyId, Silent, Task, Verdict};
use evidence::{Evidence, Trace, TraceEnd};
use model::Model;
use model::eval::{self, State, evaluate};
use model::property::PropertyKind;
use model::types::ScalarType;
use model::value::Value;
use model::variable::Storage;
use product::{Mono, explore};
use testkit::conditions::ConditionMaker;
use testkit::oracle::GoalDistance;
use testkit::samples::add_property;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

const MAX_STATES: usize = 1_500;

/// The program with questions of every kind that `mono` answers.
pub(crate) fn with_questions(model: &Model) -> Model {
    let mut asked = model.clone();
    add_property(&mut asked, "no_errors", PropertyKind::NoErrors);
    add_property(&mut asked, "deadlock_free", PropertyKind::DeadlockFree);
    let mut conditions = ConditionMaker::new(model, model.places.len() as u64 * 31 + model.cells.len() as u64);
    for n in 0..3 {
        let condition = conditions.condition(2);
        add_property(&mut asked, &format!("always{n}"), PropertyKind::Invariant(condition));
        let condition = conditions.condition(1 + n);
        add_property(&mut asked, &format!("sometimes{n}"), PropertyKind::Reachable(condition));
    }
    for (id, var) in model.vars.entries() {
        let is_data = !matches!(var.ty.scalar(), ScalarType::Lock | ScalarType::Semaphore { .. });
        if is_data && !matches!(var.storage, Storage::Frame(_)) {
            add_property(&mut asked, &format!("race_free {}", var.name), PropertyKind::RaceFree(id));
        }
    }
    asked
}

/// What is to be found.
#[derive(Debug, PartialEq)]
enum Expected {
    Run(GoalDistance),
    Nothing,
    PropertyError,
}

fn expected(model: &Model, product: &Product, property: PropertyId) -> Expected {
    let run_to = |wanted: &dyn Fn(&State) -> bool| product.distance_to(wanted).map_or(Expected::Nothing, Expected::Run);
    match &model.properties[property].kind {
        PropertyKind::NoErrors => match product.distance_to_fault() {
            None => Expected::Nothing,
            Some(distance) => Expected::Run(distance),
        },
        PropertyKind::DeadlockFree => run_to(&|state| eval::is_deadlock(model, state)),
        PropertyKind::RaceFree(var) => run_to(&|state| eval::race(model, state, *var).is_some()),
        PropertyKind::Invariant(condition) | PropertyKind::Reachable(condition) => {
            let is_reachable = matches!(model.properties[property].kind, PropertyKind::Reachable(_));
            let decides = Value::Bool(is_reachable);
            let run = product.distance_to(|state| evaluate(model, state, condition, None) == Ok(decides));
            let error = product.distance_to(|state| evaluate(model, state, condition, None).is_err());
            // A state in which it has no value is passed by.
            match (run, error) {
                (Some(run), _) => Expected::Run(run),
                (None, Some(_)) => Expected::PropertyError,
                (None, None) => Expected::Nothing,
            }
        }
        PropertyKind::Temporal(_) => unreachable!("not asked"),
    }
}

fn found(model: &Model, answer: &Answer) -> Result<Expected, String> {
    let is_reachable = matches!(model.properties[answer.property].kind, PropertyKind::Reachable(_));
    match &answer.verdict {
        Verdict::Unknown(StopReason::PropertyError(_)) => Ok(Expected::PropertyError),
        Verdict::Unknown(reason) => Err(format!("stopped: {reason}")),
        Verdict::Holds(Evidence::Exploration(explored)) if !is_reachable && explored.complete => Ok(Expected::Nothing),
        Verdict::Violated(Evidence::Exploration(explored)) if is_reachable && explored.complete => {
            Ok(Expected::Nothing)
        }
        Verdict::Holds(Evidence::Trace(trace)) if is_reachable => Ok(Expected::Run(distance(trace))),
        Verdict::Violated(Evidence::Trace(trace)) if !is_reachable => Ok(Expected::Run(distance(trace))),
        other => Err(format!("evidence does not fit: {other:?}")),
    }
}

/// The length of a trace and its switches, a faulty step at its end included.
fn distance(trace: &Trace) -> GoalDistance {
    let mut movers: Vec<_> = trace.turns.iter().map(|turn| turn.process()).collect();
    if let TraceEnd::Fault { by, .. } = &trace.end {
        movers.push(by.process);
    }
    let n_switches = movers.windows(2).filter(|pair| pair[0] != pair[1]).count();
    GoalDistance { n_steps: movers.len(), n_switches }
}

fn answers(model: &Model, n_threads: usize) -> Vec<Answer> {
    let properties = model.properties.ids().collect();
    Mono.run(&Task { model, properties, budget: Budget::unlimited(), n_threads }, &Silent).unwrap()
}

fn check(model: &Model) -> Result<(), String> {
    let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
    let model = &with_questions(model);
    let (explored, _, stopped) = explore(model, &Budget::unlimited(), 1, &Silent);
    let counts = (explored.states, explored.transitions, explored.deadlocks, explored.errors, explored.depth);
    let true_counts = (
        product.states.len() as u64,
        product.n_transitions() as u64,
        product.deadlocks.len() as u64,
        product.n_faults() as u64,
        product.depth() as u64,
    );
    if counts != true_counts || !explored.complete || stopped.is_some() {
        return Err(format!("explored {explored:?}, not {true_counts:?}"));
    }
    let (one, two) = (answers(model, 1), answers(model, 3));
    // Beside a temporal property the same is decided on the way to its graph.
    let beside = answers(&with_temporal(model, product.states.len() as u64, 1), 1);
    for ((answer, parallel), beside) in one.iter().zip(&two).zip(&beside) {
        let name = &model.properties[answer.property].name;
        let expected = expected(model, &product, answer.property);
        let found = found(model, answer).map_err(|error| format!("{name}: {error}"))?;
        if found != expected {
            return Err(format!("{name}: found {found:?}, not {expected:?}"));
        }
        if answer.verdict != parallel.verdict {
            return Err(format!("{name}: {:?}\nwith three threads {:?}", answer.verdict, parallel.verdict));
        }
        if (answer.property, &answer.verdict) != (beside.property, &beside.verdict) {
            return Err(format!("{name}: {:?}\nbeside a temporal property {:?}", answer.verdict, beside.verdict));
        }
    }
    Ok(())
}

#[test]
fn the_search_equals_brute_force() {
    for_each_program(300, RandomFeatures::everything(), |_, model| check(model));
}
