//! Nothing is proved that is false: random programs with random properties and every form of fairness, compared with the search of the
//! whole product; every proof is checked.

use std::cell::Cell;

use audit::certificate;
use audit::temporal::is_violated;
use base::Budget;
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::property::PropertyKind;
use propagate::Propagate;
use testkit::beyond::Beyond;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

const MAX_STATES: usize = 600;

#[test]
fn what_is_proved_holds_in_the_whole_product() {
    compare(300, RandomFeatures { n_statements: 3, ..RandomFeatures::everything() });
}

/// Steps that go on over several actions and rendezvous, and receivers of certain values.
#[test]
fn what_is_proved_of_steps_that_go_on_holds_in_the_whole_product() {
    let beyond = Beyond { chains: true, patterns: true, ..Beyond::NOTHING };
    let features = RandomFeatures { n_statements: 3, procedures: false, beyond, ..RandomFeatures::everything() };
    compare(300, features);
}

fn compare(n_programs: u64, features: RandomFeatures) {
    let (n_proved, n_open, n_false) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_each_program(n_programs, features, |_, model| {
        let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        let temporal: Vec<_> =
            asked.properties.entries().filter(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_))).collect();
        for (id, property) in temporal {
            let engine = Propagate::default();
            if engine.supports(&asked, id).is_err() {
                continue;
            }
            let task = Task { model: &asked, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
            let PropertyKind::Temporal(formula) = &property.kind else { unreachable!() };
            let holds = match is_violated(&asked, &product.states, formula, &property.under) {
                Ok(Some(is_violated)) => !is_violated,
                Ok(None) | Err(_) => continue,
            };
            let answer = engine.run(&task, &Silent).map_err(|error| error.to_string())?.remove(0);
            let text = || model::print::formula(&asked, formula);
            match (&answer.verdict, holds) {
                (Verdict::Holds(Evidence::Certificate(proof)), true) => {
                    certificate::check(&asked, property, proof, &Budget::unlimited())
                        .map_err(|error| format!("{}: {error}", text()))?;
                    n_proved.set(n_proved.get() + 1);
                }
                (Verdict::Unknown(_), true) => n_open.set(n_open.get() + 1),
                (Verdict::Unknown(_), false) => n_false.set(n_false.get() + 1),
                (found, _) => return Err(format!("{}: holds: {holds}, found: {found:?}", text())),
            }
        }
        Ok(())
    });
    println!("{n_proved:?} proved, {n_open:?} true ones open, {n_false:?} false");
    assert!(n_proved.get() > 50 && n_false.get() > 50, "{n_proved:?} proved, {n_open:?} open, {n_false:?} false");
}
