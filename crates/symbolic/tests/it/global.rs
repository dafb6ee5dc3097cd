//! Temporal verdicts with diagrams equal brute force, and what is expected of the examples; every lasso is replayed.

use std::cell::Cell;

use audit::{replay, temporal};
use base::{Budget, CancelToken, Feature, SourceFile, StopReason};
use engine::{Answer, Engine, Silent, Task, Verdict};
use evidence::{Evidence, SymbolicSearch};
use model::Model;
use model::property::{Expected, PropertyKind};
use symbolic::engines::{Symbolic, Tuned};
use testkit::temporal::with_temporal;

use crate::engines::{configured, has_two_choices};
use testkit::{Product, RandomFeatures, for_each_program};

const MAX_STATES: usize = 60;

fn answers(model: &Model) -> Vec<Answer> {
    configured(&[Symbolic::Global]).into_iter().flat_map(|engine| answers_of(engine, model)).collect()
}

fn answers_of(engine: Tuned, model: &Model) -> Vec<Answer> {
    let supported = |&id: &engine::PropertyId| engine.supports(model, id).is_ok();
    let properties = model.properties.ids().filter(supported).collect();
    let answers = engine.run(&Task { model, properties, budget: Budget::unlimited(), n_threads: 1 }, &Silent).unwrap();
    let is_followed = |answer: &Answer| match &answer.verdict {
        // An endless step is an error; runs beside it are not looked at.
        Verdict::Unknown(StopReason::NotSupported(missing)) if missing.feature == Feature::WholeChains => false,
        Verdict::Unknown(stop) => !has_two_choices(engine, stop),
        _ => true,
    };
    answers.into_iter().filter(is_followed).collect()
}

/// Compares the verdicts of `global` with brute force; says how many hold and are violated.
pub fn compare(n_programs: u64, shape: RandomFeatures) -> (u32, u32) {
    let (n_holds, n_violated) = (Cell::new(0), Cell::new(0));
    for_each_program(n_programs, shape, |_, model| {
        let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        for answer in answers(&asked) {
            let property = &asked.properties[answer.property];
            let PropertyKind::Temporal(formula) = &property.kind else { continue };
            let expected = temporal::is_violated(&asked, &product.states, formula, &property.under);
            let Ok(Some(expected)) = expected else { continue };
            match (&answer.verdict, expected) {
                (Verdict::Holds(Evidence::Symbolic(seen)), false) => {
                    let n_states = product.states.len() as u64;
                    if *seen != (SymbolicSearch::Whole { states: Some(n_states) }) {
                        return Err(format!("{n_states} states are reachable: {seen:?}"));
                    }
                    n_holds.set(n_holds.get() + 1);
                }
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
    (n_holds.get(), n_violated.get())
}

#[test]
fn verdicts_equal_brute_force() {
    let shape = RandomFeatures { n_statements: 3, procedures: false, ..RandomFeatures::everything() };
    let (n_holds, n_violated) = compare(300, shape);
    assert!(n_holds > 100 && n_violated > 100, "{n_holds} hold, {n_violated} are violated");
}

#[test]
fn verdicts_equal_brute_force_with_rendezvous() {
    let shape = RandomFeatures { n_statements: 4, procedures: false, rendezvous: true, ..RandomFeatures::everything() };
    let (n_holds, n_violated) = compare(200, shape);
    assert!(n_holds > 30 && n_violated > 30, "{n_holds} hold, {n_violated} are violated");
}

fn load(text: &str, parameters: &[(&str, i64)]) -> Model {
    let given: Vec<_> = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    lang::load(&SourceFile::new("test.pw", text), &given).expect("the program is right").model
}

/// The temporal properties of the examples, where the whole product is small.
#[test]
fn examples_are_decided_as_expected() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let (mut n_compared, mut n_violated) = (0, 0);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "pw")) {
        let text = std::fs::read_to_string(file).unwrap();
        let Some(model) = small_instance(&text) else { continue };
        for answer in answers(&model) {
            let property = &model.properties[answer.property];
            let name = format!("{}: {}", file.display(), property.name);
            match (&answer.verdict, property.expected) {
                (Verdict::Holds(_), Expected::Holds) => {}
                (Verdict::Violated(Evidence::Trace(trace)), Expected::Violated) => {
                    replay(&model, answer.property, trace).unwrap_or_else(|error| panic!("{name}: {error}"));
                    n_violated += 1;
                }
                (found, expected) => panic!("{name}: {found:?}, expected: {expected:?}"),
            }
            n_compared += 1;
        }
    }
    assert!(n_compared > 20 && n_violated > 5, "{n_compared} compared, {n_violated} violated");
}

/// The program with the first values of its parameters, where it has no procedures and few states.
fn small_instance(text: &str) -> Option<Model> {
    let given = ["N", "M", "K"].map(|name| (name, 2));
    let model = (0..=given.len()).find_map(|n_given| {
        let given: Vec<_> = given[..n_given].iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        lang::load(&SourceFile::new("example.pw", text), &given).ok()
    });
    let model = model?.model;
    let has_temporal = model.properties.iter().any(|property| matches!(property.kind, PropertyKind::Temporal(_)));
    (has_temporal && model.procedures.is_empty() && Product::explore(&model, 3000).is_some()).then_some(model)
}

#[test]
fn limits_are_answers() {
    let text = "program p(N: 2..) { shared x: sem = 1;
        process P[i in 0..<N] { loop { away: skip; enter: acquire x; crit: skip; leave: release x; } }
        property live: forall i: P[i]@enter ~> P[i]@crit under strong P[*]@enter, every P[*]; }";
    let model = load(text, &[("N", 12)]);
    let run = |budget: Budget| {
        let properties = model.properties.ids().filter(|&id| Symbolic::Global.supports(&model, id).is_ok()).collect();
        let task = Task { model: &model, properties, budget, n_threads: 1 };
        Symbolic::Global.run(&task, &Silent).unwrap().remove(0).verdict
    };
    let cancel = CancelToken::default();
    let little = Budget::new(None, Some(1 << 16), cancel.clone());
    assert!(matches!(run(little), Verdict::Unknown(StopReason::NodeLimit(_) | StopReason::MemoryLimit(_))));
    cancel.cancel();
    assert_eq!(run(Budget::new(None, None, cancel)), Verdict::Unknown(StopReason::Cancelled));
    assert!(matches!(run(Budget::unlimited()), Verdict::Holds(_)));
}

/// A step of more ways than there is room for, most of which have written the same.
#[test]
fn ways_through_a_step_that_wrote_the_same_are_one() {
    let text = "program top(N: 2..) {
        process P[i in 0..<N] {
            public number: 0..=12;
            loop {
                rest: idle;
                draw: atomic {
                    for k in 0..<N { number = max(number, P[k].number); }
                    await number < 2;
                    number = number + 1;
                }
                back: number = 0;
            }
        }
        property low:   forall i: always P[i].number <= 2;
        property high:  forall i: always P[i].number <= 1 expect violated;
    }";
    let model = load(text, &[("N", 6)]);
    let answers = answers(&model);
    assert!(answers.len() >= 2, "{answers:?}");
    for answer in answers {
        let property = &model.properties[answer.property];
        let PropertyKind::Temporal(_) = &property.kind else { continue };
        match property.name.as_str() {
            "low" => assert!(matches!(answer.verdict, Verdict::Holds(_)), "{:?}", answer.verdict),
            _ => assert!(matches!(answer.verdict, Verdict::Violated(_)), "{:?}", answer.verdict),
        }
    }
}
