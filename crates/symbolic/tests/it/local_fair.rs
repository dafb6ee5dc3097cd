//! Local verdicts about temporal properties with diagrams equal brute force, for every rule; every run that is found is replayed.

use std::cell::Cell;

use audit::{replay, temporal};
use base::{Budget, SourceFile, StopReason};
use engine::{Answer, Engine, PropertyId, Silent, Task, Verdict};
use evidence::{Evidence, SymbolicSearch};
use model::Model;
use model::property::{Expected, PropertyKind};
use symbolic::engines::{Symbolic, Tuned};
use symbolic::local_fair::LivenessRule;
use testkit::temporal::with_temporal;

use crate::engines::{configured, has_two_choices};
use testkit::{Product, RandomFeatures, for_each_program};

const RULES: [LivenessRule; 3] = [LivenessRule::Ll, LivenessRule::FllA, LivenessRule::FllB];

/// The answer with numbers listed, and with numbers as bits.
fn answers(rule: LivenessRule, model: &Model, property: PropertyId) -> Vec<Answer> {
    let task = || Task { model, properties: vec![property], budget: Budget::unlimited(), n_threads: 1 };
    let engines = configured(&[Symbolic::Fair(rule)]).into_iter();
    let supporting = engines.filter(|engine| engine.supports(model, property).is_ok());
    let answered = supporting.map(|engine| (engine, engine.run(&task(), &Silent).unwrap().remove(0)));
    let is_followed = |(engine, answer): &(Tuned, Answer)| match &answer.verdict {
        Verdict::Unknown(stop) => !has_two_choices(*engine, stop),
        _ => true,
    };
    answered.filter(is_followed).map(|(_, answer)| answer).collect()
}

#[test]
fn verdicts_equal_brute_force() {
    let counts = RULES.map(|rule| (rule, Cell::new(0), Cell::new(0)));
    let n_refined = Cell::new(0);
    let shape =
        RandomFeatures { n_statements: 3, procedures: false, rendezvous: false, ..RandomFeatures::everything() };
    for_each_program(60, shape, |_, model| {
        let Some(product) = Product::explore(model, 60) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        for (id, property) in asked.properties.entries() {
            let PropertyKind::Temporal(formula) = &property.kind else { continue };
            let expected = temporal::is_violated(&asked, &product.states, formula, &property.under);
            let Ok(Some(is_violated)) = expected else { continue };
            for (rule, n_holds, n_violated) in &counts {
                for answer in answers(*rule, &asked, id) {
                    n_refined.set(n_refined.get() + usize::from(answer.statistics.refinements > Some(0)));
                    match (&answer.verdict, is_violated) {
                        (Verdict::Holds(Evidence::Symbolic(SymbolicSearch::Local)), false) => {
                            n_holds.set(n_holds.get() + 1);
                        }
                        (Verdict::Violated(Evidence::Trace(trace)), true) => {
                            replay(&asked, id, trace).map_err(|error| error.to_string())?;
                            n_violated.set(n_violated.get() + 1);
                        }
                        (Verdict::Unknown(StopReason::PropertyError(_)), _) => {}
                        (found, expected) => {
                            let text = model::print::formula(&asked, formula);
                            return Err(format!("{rule:?}: {text}: violated: {expected}, found: {found:?}"));
                        }
                    }
                }
            }
        }
        Ok(())
    });
    for (rule, n_holds, n_violated) in &counts {
        assert!(n_holds.get() > 4 && n_violated.get() > 4, "{rule:?}: {n_holds:?} hold, {n_violated:?} are violated");
    }
    assert!(n_refined.get() > 8, "{n_refined:?} needed refinement");
}

/// The papers' examples.
#[test]
fn examples_are_decided_as_expected() {
    let instances: [(&str, &[(&str, i64)]); 4] = [
        ("mux_sem", &[("N", 4)]),
        ("mux_sem_nondet", &[("N", 3)]),
        ("philosophers", &[("N", 4)]),
        ("cond_term", &[("N", 2), ("M", 3)]),
    ];
    for (name, parameters) in instances {
        let file = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        let given: Vec<_> = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let model = lang::load(&SourceFile::new("example.pw", text), &given).unwrap().model;
        for (id, property) in model.properties.entries() {
            for rule in RULES {
                let Some(answer) = answers(rule, &model, id).into_iter().next() else { continue };
                match (&answer.verdict, property.expected) {
                    (Verdict::Holds(_), Expected::Holds) => {}
                    (Verdict::Violated(Evidence::Trace(trace)), Expected::Violated) => {
                        replay(&model, id, trace).unwrap_or_else(|error| panic!("{name}: {}: {error}", property.name));
                    }
                    (found, _) => panic!("{name}: {}: {rule:?}: {found:?}", property.name),
                }
            }
        }
    }
}
