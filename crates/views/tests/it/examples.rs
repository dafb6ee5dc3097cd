//! The examples of the fragment: what is proved for every size, with how many processes in a view; and what is wrong is not.

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::Claim;
use evidence::views::{Hiding, Item, LocalColumn, ViewColumn, ViewsProof};
use model::Model;
use model::value::Value;
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

/// Who has passed `await exists k: P[k].at == inner` relies on there being such a process, which no view of two has to show.
#[test]
fn views_say_that_there_is_somebody() {
    for property in ["mutex", "shut"] {
        assert_eq!(proved("szymanski", property), Some(2), "{property}");
    }
}

#[test]
fn changed_proofs_that_say_that_there_is_somebody_are_refused() {
    let model = load("szymanski");
    let (asked, property) = model.properties.entries().find(|(_, one)| one.name == "shut").unwrap();
    let task = Task { model: &model, properties: vec![asked], budget: Budget::unlimited(), n_threads: 1 };
    let answer = ByViews::default().run(&task, &Silent).unwrap().remove(0);
    let Verdict::Holds(Evidence::Certificate(proof)) = answer.verdict else { panic!("{:?}", answer.verdict) };
    let Claim::Views(views) = &proof.facts[0].claim else { panic!("no views") };
    assert!(!views.present.is_empty());
    let accepts = |views: ViewsProof| {
        let mut changed = (*proof).clone();
        changed.facts[0].claim = Claim::Views(views);
        audit::certificate::check(&model, property, &changed, &Budget::unlimited()).is_ok()
    };
    assert!(accepts(views.clone()));
    let n_columns = views.shared.len();
    // Each takes a check of the whole proof: some of the views will do.
    for at in (0..views.views.len()).step_by(29) {
        let mut fewer = views.clone();
        fewer.views.remove(at);
        assert!(!accepts(fewer), "without {:?}", views.views[at]);
        // Nobody, where the view says that there is somebody.
        for presence in 0..views.present.len() {
            let mut nobody = views.clone();
            let said = &mut nobody.views[at].shared[n_columns + presence];
            if *said == Item::Value(Value::Bool(true)) {
                *said = Item::Value(Value::Bool(false));
                assert!(!accepts(nobody), "{presence} in {:?}", views.views[at]);
            }
        }
    }
    for presence in 0..views.present.len() {
        let mut everybody = views.clone();
        everybody.present[presence].column = 0;
        assert!(!accepts(everybody), "a presence about control");
        let mut unsaid = views.clone();
        unsaid.present.remove(presence);
        assert!(!accepts(unsaid), "a truth value too many");
        let mut other = views.clone();
        other.present[presence].is.clear();
        assert!(!accepts(other), "a presence of nobody");
    }
    let mut unsaid = views.clone();
    unsaid.present.clear();
    unsaid.views.iter_mut().for_each(|view| view.shared.truncate(n_columns));
    unsaid.views.sort();
    unsaid.views.dedup();
    assert!(!accepts(unsaid), "without presences");
}

/// What is left open says what views do not exclude, in words of the program.
#[test]
fn what_views_allow_is_told() {
    for (name, property, told) in [
        ("burns_broken", "mutex", "views of two allow P[i]@crit, P[j]@crit, P[i].flag, P[j].flag"),
        ("mcs_broken", "deadlock_free", "nobody may have a step where "),
        ("simple_broken", "no_errors", "`assert x > 0` may be a fault"),
    ] {
        let model = load(name);
        let asked = model.properties.entries().find(|(_, one)| one.name == property).unwrap().0;
        let task = Task { model: &model, properties: vec![asked], budget: Budget::unlimited(), n_threads: 1 };
        let mut engine = ByViews::for_every_size();
        engine.settings().unwrap().set("processes", "2").unwrap();
        let answer = engine.run(&task, &Silent).unwrap().remove(0);
        let Verdict::Unknown(base::StopReason::Allowed(what)) = &answer.verdict else { panic!("{:?}", answer.verdict) };
        assert!(what.starts_with(told), "{name}.{property}: {what}");
    }
}

/// Data that is only copied decides nothing about who may write: views that would take many steps leave it out, and say so in the proof.
#[test]
fn data_that_is_only_copied_is_left_out() {
    let claim = |model: &Model, name: &str| {
        let asked = model.properties.entries().find(|(_, one)| one.name == name).unwrap().0;
        let task = Task { model, properties: vec![asked], budget: Budget::unlimited(), n_threads: 1 };
        let Verdict::Holds(Evidence::Certificate(proof)) =
            ByViews::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict
        else {
            panic!("{name} is not proved");
        };
        audit::certificate::check(model, &model.properties[asked], &proof, &Budget::unlimited()).unwrap();
        *proof
    };
    let is_veiled = |proof: &ViewsProof| proof.hidden.iter().any(|rule| rule.when.is_none());
    let (with, without) = (load("german_data"), load("german"));
    let proof = claim(&with, "coherent");
    let views = proof.views().unwrap();
    assert!(is_veiled(views));
    // What is left is the protocol without its data.
    let plain = claim(&without, "coherent");
    assert!(!is_veiled(plain.views().unwrap()));
    assert_eq!(views.views.len(), plain.views().unwrap().views.len());
    let is_accepted = |edit: fn(&mut ViewsProof)| {
        let mut changed = proof.clone();
        let Claim::Views(views) = &mut changed.facts[0].claim else { panic!("other facts") };
        edit(views);
        let property = with.properties.iter().find(|one| one.name == "coherent").unwrap();
        audit::certificate::check(&with, property, &changed, &Budget::unlimited()).is_ok()
    };
    assert!(is_accepted(|_| {}));
    let edits: [fn(&mut ViewsProof); 5] = [
        // A column that is never shown has values where it is not shown.
        |proof: &mut ViewsProof| {
            let rule = proof.hidden.iter_mut().find(|rule| rule.when.is_none()).unwrap();
            rule.is.push(Item::Value(Value::Bool(true)));
        },
        // A view shows it, or no rule hides it.
        |proof| proof.hidden.retain(|rule| rule.when.is_some()),
        // Where processes are is hidden, and with it what they do.
        |proof| proof.hidden.push(Hiding { what: ViewColumn::Local(0), when: None, is: Vec::new() }),
        |proof| proof.hidden.push(Hiding { what: ViewColumn::Local(99), when: None, is: Vec::new() }),
        // What decides who may write is hidden, too.
        |proof| {
            let at = (0..proof.local.len()).rfind(|&at| {
                let what = ViewColumn::Local(at);
                matches!(proof.local[at], LocalColumn::Element(..)) && proof.hidden.iter().all(|rule| rule.what != what)
            });
            let at = at.unwrap();
            proof.hidden.push(Hiding { what: ViewColumn::Local(at), when: None, is: Vec::new() });
            proof
                .views
                .iter_mut()
                .flat_map(|view| view.slots.iter_mut().flatten())
                .for_each(|local| local[at] = Item::Hidden);
        },
    ];
    for edit in edits {
        assert!(!is_accepted(edit));
    }
}

/// Views that admit a violation are not closed to their end: with `german_broken` they show it long before.
#[test]
fn what_is_wrong_is_given_up_soon() {
    let model = load("german_broken");
    let asked = model.properties.entries().find(|(_, one)| one.name == "coherent").unwrap().0;
    // A limit on work, not on time: to close them takes more than a hundred times as many looks.
    let budget = Budget::unlimited().with_looks(100);
    let task = Task { model: &model, properties: vec![asked], budget, n_threads: 1 };
    let answer = ByViews::for_every_size().run(&task, &Silent).unwrap().remove(0);
    assert!(matches!(answer.verdict, Verdict::Unknown(base::StopReason::Allowed(_))), "{:?}", answer.verdict);
}
