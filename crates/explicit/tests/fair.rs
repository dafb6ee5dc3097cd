//! Local verdicts about temporal properties equal those of the whole product, for every rule; every run that is found is replayed,
//! every proof checked.

use std::cell::Cell;

use audit::{certificate, replay};
use base::{Budget, StopReason};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use explicit::Mono;
use explicit::fair::{Fair, Rule};
use model::property::PropertyKind;
use testkit::temporal::with_temporal;
use testkit::{Product, Shape, for_each_program};

const MAX_STATES: usize = 400;

#[test]
fn verdicts_equal_those_of_the_whole_product() {
    let counts: [(Rule, Cell<usize>, Cell<usize>); 3] =
        [Rule::Ll, Rule::FllA, Rule::FllB].map(|rule| (rule, Cell::new(0), Cell::new(0)));
    let n_refined = Cell::new(0);
    for_each_program(400, Shape { n_statements: 3, ..Shape::everything() }, |_, model| {
        let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        let temporal: Vec<_> = asked.properties.entries().filter(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_))).collect();
        for (id, property) in temporal {
            let task = Task { model: &asked, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
            let expected = match &Mono.run(&task, &Silent)[0].verdict {
                Verdict::Holds(_) => true,
                Verdict::Violated(_) => false,
                Verdict::Unknown(_) => continue,
            };
            for (rule, n_holds, n_violated) in &counts {
                let engine = Fair::new(*rule);
                if engine.supports(&asked, id).is_err() {
                    continue;
                }
                let answer = engine.run(&task, &Silent).remove(0);
                n_refined.set(n_refined.get() + usize::from(answer.statistics.refinements > Some(0)));
                match (&answer.verdict, expected) {
                    (Verdict::Holds(Evidence::Certificate(proof)), true) => {
                        certificate::check(&asked, property, proof, &Budget::unlimited())
                            .map_err(|error| format!("{rule:?}: {error}"))?;
                        n_holds.set(n_holds.get() + 1);
                    }
                    (Verdict::Violated(Evidence::Trace(trace)), false) => {
                        replay(&asked, id, trace).map_err(|error| error.to_string())?;
                        n_violated.set(n_violated.get() + 1);
                    }
                    (Verdict::Unknown(StopReason::PropertyError(_)), _) => {}
                    (found, expected) => {
                        let PropertyKind::Temporal(formula) = &property.kind else { unreachable!() };
                        let text = model::print::formula(&asked, formula);
                        return Err(format!("{rule:?}: {text}: holds: {expected}, found: {found:?}"));
                    }
                }
            }
        }
        Ok(())
    });
    for (rule, n_holds, n_violated) in &counts {
        println!("{rule:?}: {n_holds:?} hold, {n_violated:?} are violated, {n_refined:?} refined");
        assert!(n_holds.get() > 50 && n_violated.get() > 50, "{rule:?}: {n_holds:?} hold, {n_violated:?} are violated");
    }
    assert!(n_refined.get() > 50, "{n_refined:?} needed refinement");
}
