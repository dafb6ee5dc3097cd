//! Programs that name processes (`i == 0`, `P[0].open`, `flag[0]`): what is proved of them for every size, what is not, and which proofs of them
//! the checker refuses.

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim};
use evidence::views::{Item, ViewsProof};
use evidence::{Evidence, Scope};
use model::Model;
use model::property::Property;
use views::ByViews;
use views::engine::obstacle;

fn load(text: &str, n: i64) -> Model {
    lang::load(&SourceFile::new("t.pw", text), &[("N".to_owned(), n)]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

fn example(name: &str) -> String {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The proof of a property, if there is one.
fn proof(model: &Model, property: &str) -> Option<Certificate> {
    let asked = model.properties.entries().find(|(_, one)| one.name == property).unwrap().0;
    let task = Task { model, properties: vec![asked], budget: Budget::unlimited(), n_threads: 1 };
    let mut engine = ByViews::for_every_size();
    engine.settings().unwrap().set("processes", "2").unwrap();
    match engine.run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => Some(*proof),
        Verdict::Unknown(_) => None,
        other => panic!("{property}: {other:?}"),
    }
}

fn property<'m>(model: &'m Model, name: &str) -> &'m Property {
    model.properties.iter().find(|one| one.name == name).unwrap()
}

fn accepts(model: &Model, name: &str, proof: &Certificate) -> bool {
    audit::certificate::check(model, property(model, name), proof, &Budget::unlimited()).is_ok()
}

/// How many processes are named, and from which size on it is proved.
fn proved(text: &str, name: &str) -> Option<(usize, i64)> {
    let model = load(text, 3);
    let proof = proof(&model, name)?;
    assert!(accepts(&model, name, &proof), "{name} of {text}");
    let Scope::AllSizes { from, .. } = proof.scope else { panic!("{:?}", proof.scope) };
    Some((proof.views()?.named.len(), from))
}

#[test]
fn a_coordinator_is_proved_for_every_number_of_clients() {
    let text = example("coordinator");
    for name in ["no_errors", "mutex", "asked", "server", "shop"] {
        assert_eq!(proved(&text, name), Some((1, 2)), "{name}");
    }
}

#[test]
fn a_wrong_coordinator_is_not() {
    let text = example("coordinator_broken");
    assert_eq!(proved(&text, "mutex"), None);
    assert_eq!(proved(&text, "asked"), None);
    assert_eq!(proved(&text, "server"), Some((1, 3)));
}

/// A program in which each process goes once from `a` to `b`, where the text says that it may.
fn steps(test: &str, property: &str) -> String {
    format!(
        "program t(N: 2..) {{ shared flag: [bool; N] = false; shared q: pid = 1;
           process P[i in 0..<N] {{ a: await {test}; b: flag[i] = true; c: await flag[q]; }}
           invariant v: {property}; }}"
    )
}

#[test]
fn tests_of_indices_say_who_may_move() {
    // The test, what is true for it, and how many processes it names; what is not true of it.
    for (test, right, n_named, wrong) in [
        ("i == 0", "forall i: P[i]@b => i == 0", 1, "forall i: !P[i]@b"),
        ("i != 0", "!P[0]@b", 1, "forall i: !P[i]@b"),
        ("i > 0", "!P[0]@b", 1, "forall i: i == 1 => !P[i]@b"),
        ("1 > i", "forall i: flag[i] => i == 0", 1, "!flag[0]"),
        ("i >= 2", "!P[0]@b && !P[1]@b", 2, "forall i: !P[i]@b"),
        ("1 >= i", "forall i: flag[i] => i < 2", 2, "!P[1]@b"),
        ("flag[0]", "forall i: !flag[i]", 1, "flag[0]"),
        ("i == 0 || flag[0]", "forall i: flag[i] => flag[0]", 1, "forall i: flag[i] => i == 0"),
        ("q == i", "forall i: flag[i] => i == 1", 2, "!flag[1]"),
    ] {
        assert_eq!(proved(&steps(test, right), "v"), Some((n_named, 2)), "{test}: {right}");
        assert_eq!(proved(&steps(test, wrong), "v"), None, "{test}: {wrong}");
    }
}

#[test]
fn what_names_too_many_is_outside_with_its_line() {
    for (test, why) in [
        ("i == 2", "`P[2]` is named: it is not like the others"),
        ("i % 2 == 0", "the index of a process is used as a number: its neighbours are not like the others"),
        ("i == N - 1", "`P[N - 1]` is named: it is not like the others"),
    ] {
        let model = load(&steps(test, "true"), 3);
        let asked = model.properties.entries().find(|(_, one)| one.name == "v").unwrap().0;
        let reason = obstacle(&model, asked).unwrap();
        assert_eq!(reason.text, why, "{test}");
        assert!(!reason.span.is_empty());
    }
}

/// What is found out for one size only can be written in another way, which the answer says and which is inside.
#[test]
fn what_is_made_for_one_size_is_told_with_another_way_to_write_it() {
    let program = |text: &str| format!("program t(N: 2..) {{ {text} invariant v: true; }}");
    for (listed, why, inside) in [
        (
            "shared x: [bool; N] = [k: k == 0]; process P[i in 0..<N] { a: x[i] = true; }",
            "the elements of `x` are listed for each size anew: let each process set its own in a first step",
            "shared x: [bool; N]; process P[i in 0..<N] { first: if i == 0 { x[i] = true; } a: x[i] = true; }",
        ),
        (
            "process P[i in 0..<N] { public x: 0..=2; a: x = max(k: P[k].x); }",
            "a `sum`, `min` or `max` of several values is made for one size: go through them with a loop in `atomic`",
            "process P[i in 0..<N] { public x: 0..=2; a: atomic { for k in 0..<N { x = max(x, P[k].x); } } }",
        ),
    ] {
        let obstacle_of = |text: &str| {
            let model = load(&program(text), 3);
            let asked = model.properties.entries().find(|(_, one)| one.name == "v").unwrap().0;
            obstacle(&model, asked)
        };
        let reason = obstacle_of(listed).unwrap();
        assert_eq!(reason.text, why);
        assert!(!reason.span.is_empty());
        assert_eq!(obstacle_of(inside), None, "{inside}");
    }
}

/// Who keeps a process as a number is told how to write it, and what is written so is proved.
#[test]
fn a_number_that_is_used_as_a_process_is_better_declared_as_one() {
    let turn = |ty: &str, other: &str| {
        format!(
            "program t(N: 2..) {{ shared turn: {ty}; \
             process P[i in 0..<N] {{ loop {{ wait: await turn == i; crit: skip; pass: turn = any; }} }} {other} \
             invariant v: forall i != j in P: !(P[i]@crit && P[j]@crit); }}"
        )
    };
    for (ty, other) in [("pid", ""), ("pid(P)", "process Q[j in 0..<2] { skip; }")] {
        let model = load(&turn("0..<N", other), 3);
        let asked = model.properties.entries().find(|(_, one)| one.name == "v").unwrap().0;
        let reason = obstacle(&model, asked).unwrap();
        assert_eq!(reason.text, format!("`turn` is a number, and is used as a process: declare it as `{ty}`"));
        assert!(proof(&model, "v").is_none());
        let model = load(&turn(ty, other), 3);
        assert!(accepts(&model, "v", &proof(&model, "v").unwrap()));
    }
}

#[test]
fn changed_proofs_that_name_processes_are_refused() {
    let model = load(&example("coordinator"), 3);
    for name in ["mutex", "server"] {
        let right = proof(&model, name).unwrap();
        let views = right.views().unwrap();
        assert_eq!(views.named.len(), 1);
        let with = |views: ViewsProof| {
            let mut changed = right.clone();
            changed.facts[0].claim = Claim::Views(views);
            accepts(&model, name, &changed)
        };
        assert!(with(views.clone()));
        for at in 0..views.views.len() {
            let mut fewer = views.clone();
            fewer.views.remove(at);
            assert!(!with(fewer), "without {:?}", views.views[at]);
            let mut unnamed = views.clone();
            unnamed.views[at].shared[views.shared.len()] = Item::Slot(9);
            assert!(!with(unnamed), "an unknown process in {:?}", views.views[at]);
        }
        // Another process is named, or none, or none in the views either.
        let mut second = views.clone();
        second.named[0] = base::Id::new(second.named[0].index() + 1);
        assert!(!with(second));
        let mut nobody = views.clone();
        nobody.named.clear();
        assert!(!with(nobody.clone()));
        nobody.views.iter_mut().for_each(|view| view.shared.truncate(views.shared.len()));
        assert!(!with(nobody));
        let mut twice = views.clone();
        twice.named.push(base::Id::new(twice.named[0].index() + 1));
        assert!(!with(twice.clone()));
        twice.views.iter_mut().for_each(|view| view.shared.push(view.shared[views.shared.len()]));
        assert!(!with(twice), "two names for one process");
    }
}

/// A claim about sizes at which a named process is not there is refused.
#[test]
fn claims_begin_where_named_processes_are() {
    let text = "program t(N: 1..) { shared q: pid = 0; process P[i in 0..<N] { a: await i < 2; b: skip; c: skip; }
                invariant v: forall i: P[i]@b => i < 2; }";
    let model = load(text, 3);
    let mut right = proof(&model, "v").unwrap();
    assert!(accepts(&model, "v", &right));
    let Scope::AllSizes { from, .. } = &mut right.scope else { panic!("{:?}", right.scope) };
    assert_eq!(*from, 2);
    *from = 1;
    assert!(!accepts(&model, "v", &right));
}

/// What a process of another family keeps about the process that a cell names is looked at by name, whoever keeps it.
#[test]
fn what_others_keep_about_a_named_process_is_looked_at() {
    let text = "program t(N: 2..) {
        shared q: pid = 0;
        process P[i in 0..<N] { loop { a: q = i; } }
        process H { local seen: [bool; N]; local c: pid = 0;
          loop { h: c = q; m: seen[c] = true; g: atomic { await seen[c]; c = any; } k: await !seen[c]; } }
        invariant v: forall i: !(H@g && H.c == i && !H.seen[i]); }";
    let model = load(text, 3);
    let right = proof(&model, "v").unwrap();
    assert!(accepts(&model, "v", &right));
    let views = right.views().unwrap();
    for at in 0..views.views.len() {
        let mut fewer = right.clone();
        let mut changed = views.clone();
        changed.views.remove(at);
        fewer.facts[0].claim = Claim::Views(changed);
        assert!(!accepts(&model, "v", &fewer), "without {:?}", views.views[at]);
    }
}

/// Numbers of many values are chosen from without going through them; of too many values there is no view, and an answer at once.
#[test]
fn a_choice_from_wide_numbers_is_not_gone_through() {
    let text = |hi: i64, any: &str| {
        format!(
            "program t(N: 2..) {{ shared x: 0..={hi}; shared l: lock; \
             process P[i in 0..<N] {{ loop {{ acquire l; c: x = {any}; release l; }} }} \
             invariant v: forall i != j: !(P[i]@c && P[j]@c); }}"
        )
    };
    for any in ["any", "any 3..=5", "any 4294967290..=4294967299"] {
        let model = load(&text(4_294_967_295, any), 2);
        assert!(proof(&model, "v").is_none_or(|proof| accepts(&model, "v", &proof)), "{any}");
    }
    for any in ["any", "any 3..=5", "any 0..=4"] {
        let model = load(&text(5, any), 2);
        let proof = proof(&model, "v").unwrap_or_else(|| panic!("{any}"));
        assert!(accepts(&model, "v", &proof), "{any}");
    }
}
