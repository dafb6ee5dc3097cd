//! Whoever does not answer a question names methods that do: each of them supports it, and answers it when asked.

use base::{Budget, Feature, SourceFile, StopReason};
use driver::methods;
use engine::methods::{advice, in_words};
use engine::{Method, PropertyId, Silent, Task, Verdict};
use model::Model;

/// Small programs of which every one has something that some methods do not follow, with what that is.
const PROGRAMS: [(&str, &str, &[Feature]); 5] = [
    (
        "plain.pw",
        "program plain(N: 2..) {
            shared x: 0..=1;
            process P[i in 0..<N] { loop { set: x = 1; reset: x = 0; } }
            invariant small: x <= 1;
            race_free x;
            property again: always eventually x == 1 under every P[*];
        }",
        &[Feature::Temporal, Feature::Safety, Feature::Races],
    ),
    (
        "fair.pw",
        "program fair(N: 2..) {
            shared lock: sem = 1;
            process P[i in 0..<N] { loop { enter: acquire lock; crit: skip; leave: release lock; } }
            property live: always eventually P[0]@crit under strong P[*];
        }",
        &[Feature::Fairness],
    ),
    (
        "calls.pw",
        "program calls {
            shared x: 0..=1;
            proc f() { x = 1; }
            process P { call f(); }
            process Q { loop { x = 0; } }
            invariant small: x <= 1;
            property ends: eventually x == 0 under every P;
        }",
        &[Feature::Procedures],
    ),
    (
        "meeting.dve",
        "channel c;
        byte x;
        process A { state a, b; init a; trans a -> b { sync c!; effect x = 1; }; }
        process B { state a, b; init a; trans a -> b { sync c?; }; }
        system async;",
        &[Feature::Rendezvous],
    ),
    (
        "reading.dve",
        "byte x;
        process A { state a, b; init a; trans a -> b { effect x = 1; }; }
        process B { state a, b; init a; trans a -> b { guard A.b; }; }
        system async;",
        &[Feature::Locations],
    ),
];

fn load(name: &str, text: &str) -> Model {
    let given = if text.contains("N:") { vec![("N".to_owned(), 2)] } else { Vec::new() };
    let goal = lang::dve::Goal { name: "goal".into(), source: SourceFile::new("goal", "x == 1") };
    let goals = if name.ends_with(".dve") { vec![goal] } else { Vec::new() };
    match lang::load_with_goals(&SourceFile::new(name, text), &given, &goals) {
        Ok(loaded) => loaded.model,
        Err(refused) => panic!("{name}: {:?}", refused.iter().flat_map(|one| &one.diagnostics).collect::<Vec<_>>()),
    }
}

fn answer(model: &Model, method: Method, property: PropertyId) -> Verdict {
    let task = Task { model, properties: vec![property], budget: Budget::unlimited(), n_threads: 1 };
    methods::checker(method).check(&task, &Silent).unwrap().remove(0).verdict
}

#[test]
fn whatever_the_text_shows_to_be_unsupported_the_advised_methods_answer() {
    for (name, text, expected) in PROGRAMS {
        let model = load(name, text);
        let mut seen: Vec<Feature> = Vec::new();
        for property in model.properties.ids() {
            for declared in methods::available() {
                let Err(reason) = declared.method.supports(&model, property) else { continue };
                let asked = format!("{name}, {}, {}", model.properties[property].name, declared.name);
                let StopReason::NotSupported(missing) = &reason else { panic!("{asked}: {reason}") };
                seen.push(missing.feature);
                assert_eq!(answer(&model, declared.method, property), Verdict::Unknown(reason.clone()), "{asked}");
                let advised = advice(&reason, &model, property);
                assert!(!advised.is_empty(), "{asked}: {reason}");
                for method in advised {
                    assert_eq!(method.supports(&model, property), Ok(()), "{asked}");
                    let verdict = answer(&model, method, property);
                    let is_answered = !matches!(verdict, Verdict::Unknown(_)) || !method.declaration().is_complete;
                    assert!(is_answered, "{asked}: `{}` says {verdict:?}", method.name());
                }
            }
        }
        for feature in expected {
            assert!(seen.contains(feature), "{name} does not show {feature:?}: {seen:?}");
        }
    }
}

#[test]
fn what_is_too_coarse_is_decided_by_the_advised_methods() {
    let model = load(
        "lock.pw",
        "program lock(N: 2..) {
            shared flag: [bool; N];
            process P[i in 0..<N] {
                loop { set: flag[i] = true; test: await forall k != i: !flag[k]; crit: skip; leave: flag[i] = false; }
            }
            invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
        }",
    );
    // Who came first is nothing that a sum tells.
    let mutex = model.properties.entries().find(|(_, property)| property.name == "mutex").unwrap().0;
    let Verdict::Unknown(reason) = answer(&model, Method::Split, mutex) else { panic!("one process is not enough") };
    let said =
        "what one process sees does not exclude a violation, which may not be a real one; try `completion` or `mono`";
    assert_eq!(in_words(&reason, &model, mutex), said);
    for method in advice(&reason, &model, mutex) {
        assert!(matches!(answer(&model, method, mutex), Verdict::Holds(_)), "{}", method.name());
    }
}

#[test]
fn limits_of_time_and_memory_advise_no_method() {
    let model = load(PROGRAMS[0].0, PROGRAMS[0].1);
    let property = model.properties.ids().next().unwrap();
    for reason in [StopReason::Cancelled, StopReason::MemoryLimit(1), StopReason::NodeLimit(1)] {
        assert!(advice(&reason, &model, property).is_empty());
        assert_eq!(in_words(&reason, &model, property), reason.to_string());
    }
}
