//! Temporal verdicts of the whole product equal brute force, which shares nothing with them; every lasso is replayed.

use audit::{replay, temporal};
use base::Budget;
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::property::PropertyKind;
use product::Mono;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

const MAX_STATES: usize = 60;

#[test]
fn verdicts_equal_brute_force() {
    compare_with_brute_force(RandomFeatures { n_statements: 3, ..RandomFeatures::everything() });
}

/// Steps that go on, and actions for where nobody can move.
#[test]
fn verdicts_beyond_texts_equal_brute_force() {
    compare_with_brute_force(RandomFeatures { n_statements: 3, ..RandomFeatures::beyond_texts() });
}

fn compare_with_brute_force(shape: RandomFeatures) {
    let (n_holds, n_violated) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_each_program(300, shape, |_, model| {
        let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        let task = Task {
            model: &asked,
            properties: asked.properties.ids().collect(),
            budget: Budget::unlimited(),
            n_threads: 1,
        };
        for answer in Mono.run(&task, &Silent).unwrap() {
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

/// `eventually always` over a conjunction is looked at part by part; brute force looks at it as it stands.
#[test]
fn parts_of_eventually_always_are_those_of_the_whole() {
    let text = "program settle(N: 2..) {
        shared x: 0..=2;
        process P[i in 0..<N] {
            local done: bool;
            up:   await x < 2;
            add:  x = min(x + 1, 2);
            end:  done = true;
            if i == 0 { loop { flip: done = false; back: done = true; } }
        }
        property all:    eventually always forall i: P[i].done under every P[*] expect violated;
        property others: eventually always forall i: i == 0 || P[i].done under every P[*];
        property both:   eventually always (x == 2 && P[1].done) under every P[*];
        property one:    eventually always (x == 2 && P[0].done) under every P[*] expect violated;
        property inside: always (eventually always (x >= 1 && x == 2)) under every P[*];
        property never:  eventually always forall i: !P[i].done && x < 2 expect violated;
        property spread: forall i: eventually always (P[i]@{flip, back} || P[i].done) under every P[*];
    }";
    let model = lang::load(&base::SourceFile::new("settle.pw", text), &[]).expect("it is a program").model;
    let product = Product::explore(&model, 5_000).expect("it is small");
    let asked = model.properties.entries().filter(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_)));
    let properties: Vec<_> = asked.map(|(id, _)| id).collect();
    assert_eq!(properties.len(), 7);
    let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
    for answer in Mono.run(&task, &Silent).unwrap() {
        let property = &model.properties[answer.property];
        let PropertyKind::Temporal(formula) = &property.kind else { unreachable!("only these were asked") };
        let violated = temporal::is_violated(&model, &product.states, formula, &property.under);
        let violated = violated.expect("it has a value").expect("it is small enough");
        let expected = property.expected == model::property::Expected::Violated;
        assert_eq!(violated, expected, "{} by brute force", property.name);
        assert_eq!(matches!(answer.verdict, Verdict::Violated(_)), violated, "{}", property.name);
    }
}

/// Instances that a permutation of processes takes to each other are looked at once, and only these.
#[test]
fn instances_are_alike_only_where_program_property_and_fairness_are() {
    let text = "program gates(N: 3..) {
        shared turn: pid? = none;
        shared open: [bool; N];
        process P[i in 0..<N] {
            loop {
                rest: idle;
                ask:  await turn == none;
                take: atomic { await turn == none; turn = i; }
                use:  open[i] = true;
                shut: open[i] = false;
                give: turn = none;
            }
        }
        fairness all { strong P[*]; }
        fairness one { strong P[0]; weak P[1]; weak P[2]; }
        property served:  forall i: P[i]@ask ~> P[i]@use under all;
        property some:    forall i: P[i]@ask ~> P[i]@use under one expect violated;
        property pairs:   forall i: forall j: i != j => (P[i]@use ~> (!open[j] || P[j]@give)) under all;
        property never:   forall i: forall j: always (P[i]@use => !open[j]) under all;
        property first:   forall i: (i == 0 && P[i]@ask) ~> P[i]@use under one;
        property later:   forall i: (i != 0 && P[i]@ask) ~> P[i]@use under one expect violated;
    }";
    let model = lang::load(&base::SourceFile::new("gates.pw", text), &[]).map_err(|e| format!("{e:?}")).unwrap().model;
    let product = Product::explore(&model, 5_000).expect("it is small");
    let asked = model.properties.entries().filter(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_)));
    let properties: Vec<_> = asked.map(|(id, _)| id).collect();
    let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
    for answer in Mono.run(&task, &Silent).unwrap() {
        let property = &model.properties[answer.property];
        let PropertyKind::Temporal(formula) = &property.kind else { unreachable!("only these were asked") };
        let violated = temporal::is_violated(&model, &product.states, formula, &property.under);
        let violated = violated.expect("it has a value").expect("it is small enough");
        let expected = property.expected == model::property::Expected::Violated;
        assert_eq!(violated, expected, "{} by brute force", property.name);
        assert_eq!(matches!(answer.verdict, Verdict::Violated(_)), violated, "{}", property.name);
    }
}
