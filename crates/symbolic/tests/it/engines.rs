//! The methods on random programs: verdicts against brute force, and every proof through the independent checker.

use base::{Budget, Span, StopReason};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use model::expr::BinaryOp;
use model::fairness::Assumptions;
use model::process::ProcessId;
use model::property::{Expected, Property, PropertyKind};
use model::value::Value;
use symbolic::engines::{Config, Symbolic, Tuned};
use symbolic::reach::SearchDirection;
use symbolic::wide::MOST_ENUMERATED;
use testkit::choices::Choices;
use testkit::expr::{binary, constant, not, standing};
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

const NO_STACKS: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: false,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond::NOTHING,
};

const METHODS: [Symbolic; 5] = [
    Symbolic::Reach(SearchDirection::Forward),
    Symbolic::Reach(SearchDirection::Backward),
    Symbolic::KIndex(1),
    Symbolic::KIndex(2),
    Symbolic::Completion,
];

/// Each method with its numbers listed, and with its numbers as bits.
pub fn configured(methods: &[Symbolic]) -> Vec<Tuned> {
    let config = |listed_values| Config { listed_values, ..Config::default() };
    let with = |listed| methods.iter().map(move |&method| Tuned { method, config: config(listed) });
    with(MOST_ENUMERATED as usize).chain(with(1)).collect()
}

/// Whether a step chooses twice for one cell and both choices count, which numbers as bits do not follow.
pub fn has_two_choices(method: Tuned, stop: &StopReason) -> bool {
    method.config.listed_values == 1 && stop.to_string().contains("too many different outcomes")
}

fn add(model: &mut Model, name: &str, kind: PropertyKind) {
    let (under, expected) = (Assumptions::none(), Expected::Holds);
    let (text, doc, span) = (String::new(), String::new(), Span::default());
    model.properties.push(Property { name: name.to_string(), kind, under, expected, text, doc, span });
}

/// Two processes are never at two places at once, and the built-in properties.
pub fn with_questions(model: &Model, choices: &mut Choices) -> Model {
    let mut model = model.clone();
    let mut at = || {
        let process = ProcessId::new(choices.below(model.processes.len()));
        let scope = model::control::TextOwner::Family(model.processes[process].family);
        let places: Vec<_> = model.places.ids().filter(|&place| model.places[place].scope == scope).collect();
        standing(constant(Value::Process(process)), vec![*choices.pick(&places)], &["l"])
    };
    let both = binary(BinaryOp::And, at(), at());
    add(&mut model, "apart", PropertyKind::Invariant(not(both.clone())));
    add(&mut model, "together", PropertyKind::Reachable(both));
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

#[test]
fn verdicts_are_right_and_proofs_pass_the_independent_checker() {
    for_each_program(60, NO_STACKS, |_, bare| {
        let Some(product) = Product::explore(bare, 800) else { return Ok(()) };
        let model = with_questions(bare, &mut Choices::from_seed(product.states.len() as u64));
        for method in configured(&METHODS) {
            let properties = model.properties.ids().collect();
            let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
            for answer in method.run(&task, &Silent).map_err(|error| error.to_string())? {
                let property = &model.properties[answer.property];
                let complaint = |what: &str| Err(format!("{} on {}: {what}", method.name(), property.name));
                let happens = happens(&model, &product, &property.kind);
                let evidence = match answer.verdict {
                    Verdict::Holds(evidence) | Verdict::Violated(evidence) => evidence,
                    Verdict::Unknown(_) if matches!(method.method, Symbolic::KIndex(_)) => continue,
                    Verdict::Unknown(stop) if has_two_choices(method, &stop) => continue,
                    Verdict::Unknown(stop) => return complaint(&format!("undecided, {stop}")),
                };
                match evidence {
                    Evidence::Trace(trace) if happens => {
                        if let Err(error) = audit::replay(&model, answer.property, &trace) {
                            return complaint(&error.to_string());
                        }
                    }
                    Evidence::Certificate(proof) if !happens => {
                        let checked = audit::certificate::check(&model, property, &proof, &Budget::unlimited());
                        if let Err(error) = checked {
                            return complaint(&error.to_string());
                        }
                    }
                    _ => return complaint("a wrong verdict"),
                }
            }
        }
        Ok(())
    });
}
