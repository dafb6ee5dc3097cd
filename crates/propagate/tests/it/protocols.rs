//! Known protocols: what is proved, for how many processes, and that their false twins are not.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use propagate::Propagate;

fn example(name: &str, parameters: &[(&str, i64)]) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let source = SourceFile::new(&path, std::fs::read_to_string(&path).expect("the example is there"));
    let parameters: Vec<(String, i64)> = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    lang::load(&source, &parameters).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

/// Whether a property is proved; the proof is checked.
fn is_proved(model: &Model, property: &str) -> bool {
    let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    let engine = Propagate::default();
    assert_eq!(engine.supports(model, id), Ok(()), "{property}");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let answer = engine.run(&task, &Silent).unwrap().remove(0);
    match &answer.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            certificate::check(model, asked, proof, &Budget::unlimited()).unwrap_or_else(|wrong| panic!("{wrong}"));
            true
        }
        Verdict::Unknown(_) => false,
        other => panic!("{property}: {other:?}"),
    }
}

#[test]
fn hungry_philosophers_eat_under_strong_fairness_and_starve_without() {
    for n in [2, 3, 6, 20] {
        let model = example("philosophers", &[("N", n)]);
        assert!(is_proved(&model, "live"), "N = {n}");
        assert!(!is_proved(&model, "snatched"), "N = {n}");
    }
}

#[test]
fn a_semaphore_is_given_to_everybody_who_is_strongly_fair() {
    for n in [2, 3, 8, 20] {
        let model = example("mux_sem", &[("N", n)]);
        assert!(is_proved(&model, "live") && is_proved(&model, "busy"), "N = {n}");
        assert!(!is_proved(&model, "unfair"), "N = {n}");
        let nondet = example("mux_sem_nondet", &[("N", n)]);
        let proved = ["live", "squat", "printed", "one"].map(|name| is_proved(&nondet, name));
        assert_eq!(proved, [true, false, false, true], "N = {n}");
    }
}
