//! Temporal verdicts of the whole product equal brute force, which shares nothing with them; every lasso is replayed.

use audit::{replay, temporal};
use base::Budget;
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use explicit::Mono;
use model::property::PropertyKind;
use testkit::temporal::with_temporal;
use testkit::{Product, Shape, for_each_program};

const MAX_STATES: usize = 60;

#[test]
fn verdicts_equal_brute_force() {
    let (n_holds, n_violated) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_each_program(300, Shape { n_statements: 3, ..Shape::everything() }, |_, model| {
        let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        let task = Task {
            model: &asked,
            properties: asked.properties.ids().collect(),
            budget: Budget::unlimited(),
            n_threads: 1,
        };
        for answer in Mono.run(&task, &Silent) {
            let property = &asked.properties[answer.property];
            let PropertyKind::Temporal(formula) = &property.kind else { continue };
            let expected = temporal::is_violated(&asked, &product.states, formula, &property.under);
            let Ok(Some(expected)) = expected else { continue };
            match (&answer.verdict, expected) {
                (Verdict::Holds(Evidence::Exploration(_)), false) => n_holds.set(n_holds.get() + 1),
                (Verdict::Violated(Evidence::Trace(trace)), true) => {
                    replay(&asked, answer.property, trace).map_err(|error| error.to_string())?;
                    n_violated.set(n_violated.get() + 1);
                }
                (found, expected) => {
                    let text = model::print::formula(&asked, formula);
                    return Err(format!("{text}: violated by brute force: {expected}, found: {found:?}"));
                }
            }
        }
        Ok(())
    });
    assert!(n_holds.get() > 100 && n_violated.get() > 100, "{n_holds:?} hold, {n_violated:?} are violated");
}
