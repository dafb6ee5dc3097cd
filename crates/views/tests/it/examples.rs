//! The examples of the fragment: what is proved for every size, with how many processes in a view; and what is wrong is not.

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use views::ByViews;

fn load(name: &str) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    lang::load(&SourceFile::new(&path, &text), &[]).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

/// How many processes a view of the proof of a property shows, if there is a proof, which the checker accepts.
fn proved(name: &str, property: &str) -> Option<usize> {
    let model = load(name);
    let asked = model.properties.entries().find(|(_, one)| one.name == property).unwrap().0;
    let task = Task { model: &model, properties: vec![asked], budget: Budget::unlimited(), n_threads: 1 };
    let mut engine = ByViews::default();
    engine.settings().unwrap().set("processes", "2").unwrap();
    match engine.run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            audit::certificate::check(&model, &model.properties[asked], &proof, &Budget::unlimited())
                .unwrap_or_else(|error| panic!("{name}.{property}: {error}"));
            proof.views().map(|views| views.k)
        }
        Verdict::Unknown(_) => None,
        other => panic!("{name}.{property}: {other:?}"),
    }
}

#[test]
fn locks_and_caches_are_proved_for_every_size() {
    for (name, property, k) in [
        ("mux_sem", "mutex", 2),
        ("mux_sem", "no_errors", 2),
        ("mux_sem_last", "mutex", 1),
        ("mux_sem_last", "owner", 1),
        ("simple", "restored", 1),
        ("simple", "holder", 1),
        ("mesi", "coherent", 2),
        ("dijkstra", "mutex", 2),
        ("bakery_atomic", "mutex", 2),
        ("bakery_atomic", "unique", 2),
        // The home node copies the sharers in a loop over all clients, inside a step.
        ("german", "coherent", 2),
        ("german", "known", 2),
    ] {
        assert_eq!(proved(name, property), Some(k), "{name}.{property}");
    }
}

#[test]
fn what_is_wrong_is_not_proved() {
    for (name, property) in [
        ("burns_broken", "mutex"),
        ("mesi_broken", "coherent"),
        ("szymanski_broken", "mutex"),
        ("flag_readers_broken", "alone"),
        ("simple_broken", "holder"),
        ("german_broken", "coherent"),
    ] {
        let has = load(name).properties.iter().any(|one| one.name == property);
        assert!(!has || proved(name, property).is_none(), "{name}.{property}");
    }
    assert!(proved("burns_broken", "mutex").is_none());
}

#[test]
fn newer_examples_are_proved_for_every_size() {
    for (name, property) in [("flag_readers", "alone"), ("ticket_bounded", "mutex"), ("szymanski_atomic", "mutex")] {
        assert_eq!(proved(name, property), Some(2), "{name}.{property}");
    }
}
