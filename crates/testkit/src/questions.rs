//! Questions about random programs, and what brute force says about them.

use crate::Product;
use crate::choices::Choices;
use crate::expr::{binary, constant, int, not, read, shared, standing};
use base::Span;
use model::Model;
use model::expr::BinaryOp;
use model::fairness::Assumptions;
use model::process::ProcessId;
use model::property::{Expected, Property, PropertyKind};
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::Storage;

/// Adds a property that is expected to hold.
pub fn add(model: &mut Model, name: &str, kind: PropertyKind) {
    let (under, expected) = (Assumptions::none(), Expected::Holds);
    let (text, doc, span) = (String::new(), String::new(), Span::default());
    model.properties.push(Property { name: name.to_string(), kind, under, expected, text, doc, span });
}

/// Two processes at two places at once, a value of a shared cell, and the built-in properties.
pub fn with_questions(model: &Model, choices: &mut Choices) -> Model {
    let mut model = model.clone();
    model.properties = base::IdVec::new();
    let mut at = || {
        let process = ProcessId::new(choices.below(model.processes.len()));
        let scope = model::control::TextOwner::Family(model.processes[process].family);
        let places: Vec<_> = model.places.ids().filter(|&place| model.places[place].scope == scope).collect();
        standing(constant(Value::Process(process)), vec![*choices.pick(&places)], &["l"])
    };
    let both = binary(BinaryOp::And, at(), at());
    let numbers = model.vars.entries().filter(|(_, var)| {
        matches!(var.storage, Storage::Shared) && matches!(var.ty, Type::Scalar(ScalarType::Range { .. }))
    });
    let number = numbers.map(|(id, _)| id).next();
    let one = at();
    add(&mut model, "apart", PropertyKind::Invariant(not(both.clone())));
    add(&mut model, "together", PropertyKind::Reachable(both));
    add(&mut model, "there", PropertyKind::Reachable(one.clone()));
    if let Some(var) = number {
        let small = binary(BinaryOp::Less, read(shared(var)), int(1));
        add(&mut model, "small", PropertyKind::Invariant(small.clone()));
        let mixed = binary(BinaryOp::Or, small, not(one));
        add(&mut model, "mixed", PropertyKind::Invariant(mixed));
    }
    add(&mut model, "no_errors", PropertyKind::NoErrors);
    add(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
    model
}

/// Whether something reachable decides the property: violates it, or is the goal.
pub fn happens(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    let holds = |expr, state| model::eval::evaluate(model, state, expr, None) == Ok(Value::Bool(true));
    match kind {
        PropertyKind::Invariant(expr) => product.states.iter().any(|state| !holds(expr, state)),
        PropertyKind::Reachable(expr) => product.states.iter().any(|state| holds(expr, state)),
        PropertyKind::NoErrors => product.faults.iter().any(|faults| !faults.is_empty()),
        PropertyKind::DeadlockFree => !product.deadlocks.is_empty(),
        PropertyKind::RaceFree(_) | PropertyKind::Temporal(_) => unreachable!("not asked here"),
    }
}
