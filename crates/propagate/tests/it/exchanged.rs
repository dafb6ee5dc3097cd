//! Where processes are alike, one of them is refuted and the others are its images; the checker looks for itself whether they are.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::certificate::{Claim, ClaimedSymmetry, Exchanged, Fact};
use evidence::{Certificate, Evidence};
use model::Model;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use propagate::Propagate;

/// Tickets; what the processes differ in is put in place of `DIFFERS`.
fn tickets(n: usize, differs: &str, property: &str) -> Model {
    let text = format!(
        "program tickets {{
  shared next: 0..<{n};
  shared serving: 0..<{n};
  shared told: 0..=1;
  process P[i in 0..<{n}] {{
    local mine: 0..<{n};
    loop {{
      take:  mine, next = next, (next + 1) % {n};
      wait:  await serving == mine;
      crit:  {differs};
      leave: serving, mine = (serving + 1) % {n}, 0;
    }}
  }}
  property live: {property};
}}"
    );
    lang::load(&SourceFile::new("tickets.pw", text), &[]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

const LIVE: &str = "forall i: P[i]@wait ~> P[i]@crit under weak P[*]";

fn live(model: &Model) -> (PropertyId, &Property) {
    model.properties.entries().find(|(_, property)| property.name == "live").expect("the property is there")
}

fn proof(model: &Model) -> Certificate {
    let (id, _) = live(model);
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match Propagate::default().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => *proof,
        other => panic!("{other:?}"),
    }
}

fn is_accepted(model: &Model, proof: &Certificate) -> bool {
    certificate::check(model, live(model).1, proof, &Budget::unlimited()).is_ok()
}

/// How many ways are refuted, and how many are images.
fn counts(proof: &Certificate) -> (usize, usize) {
    let is_image = |fact: &&Fact| matches!(fact.claim, Claim::Exchanged(_));
    let is_refuted = |fact: &&Fact| matches!(fact.claim, Claim::Refutation(_));
    (proof.facts.iter().filter(is_refuted).count(), proof.facts.iter().filter(is_image).count())
}

fn first_image(proof: &mut Certificate) -> &mut Exchanged {
    let is_image = |fact: &Fact| matches!(fact.claim, Claim::Exchanged(_));
    let at = proof.facts.iter().position(is_image).expect("there is an image");
    match &mut proof.facts[at].claim {
        Claim::Exchanged(claim) => claim,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_process_is_refuted_for_all_that_are_alike() {
    let model = tickets(3, "skip", LIVE);
    let proof = proof(&model);
    assert_eq!(counts(&proof), (1, 2));
    assert!(is_accepted(&model, &proof));
}

#[test]
fn processes_that_differ_are_refuted_one_by_one() {
    let model = tickets(3, "if i == 0 { told = 1; }", LIVE);
    let proof = proof(&model);
    assert_eq!(counts(&proof), (3, 0));
    assert!(is_accepted(&model, &proof));
}

/// An image of a program whose processes are alike, said of one whose processes differ, or of another way to violate the property, is none.
#[test]
fn images_of_what_differs_are_refused() {
    let model = tickets(3, "skip", LIVE);
    let proof = proof(&model);
    let differing = tickets(3, "if i == 2 { told = 1; await serving != mine; }", LIVE);
    assert!(!is_accepted(&differing, &proof), "the last process waits in vain");
    let weaker = tickets(3, "skip", "forall i: P[i]@wait ~> P[i]@crit under weak P[0], weak P[1]");
    assert!(!is_accepted(&weaker, &proof), "the last process may never leave");
    let changes: [fn(&mut Certificate); 4] = [
        |proof| first_image(proof).swaps.clear(),
        |proof| first_image(proof).swaps = vec![[ProcessId::new(1), ProcessId::new(2)]],
        |proof| first_image(proof).swaps.push([ProcessId::new(0), ProcessId::new(7)]),
        |proof| {
            let last = proof.facts.len() - 1;
            proof.facts[last].uses = vec![0];
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut changed = proof.clone();
        change(&mut changed);
        assert!(!is_accepted(&model, &changed), "change {at}");
    }
}

/// A property about one process of several is not one about the others.
#[test]
fn a_lemma_about_one_process_is_not_one_about_a_pair() {
    let model = tickets(3, "skip", "forall i, j: (P[i]@wait && P[j]@take) ~> P[i]@crit under weak P[*]");
    let proof = proof(&model);
    let (refuted, images) = counts(&proof);
    assert!(refuted == 2 && images == 7, "{refuted} are refuted and {images} images: i == j and i != j are different");
    assert!(is_accepted(&model, &proof));
}

/// A program of two processes in which `one` is true, and `live`, of which `one` is the first way to be violated, is not.
struct Stretched {
    text: &'static str,
    one: &'static str,
    live: &'static str,
    swaps: &'static [[usize; 2]],
    /// What the checker says.
    says: &'static str,
}

const STRETCHED: [Stretched; 4] = [
    // The scheduler is fair to the first process only.
    Stretched {
        text: "a: skip; c: skip;",
        one: "P[0]@a ~> P[0]@c under every P[0]",
        live: "forall i: P[i]@a ~> P[i]@c under every P[0]",
        swaps: &[[0, 1]],
        says: "image among those of the other way",
    },
    // An assumption that is a predicate names it.
    Stretched {
        text: "a: skip; c: skip;",
        one: "always eventually P[0]@c under weak (P[0]@c)",
        live: "forall i: always eventually P[i]@c under weak (P[0]@c)",
        swaps: &[[0, 1]],
        says: "image among those of the other way",
    },
    // The second process does something else.
    Stretched {
        text: "a: skip; b: if i == 1 { w: await false; } c: skip;",
        one: "P[0]@a ~> P[0]@c under every P[*]",
        live: "forall i: P[i]@a ~> P[i]@c under every P[*]",
        swaps: &[[0, 1]],
        says: "takes processes for alike",
    },
    // What is looked at is the same, and what is asked of it is not.
    Stretched {
        text: "a: skip; c: skip;",
        one: "always eventually P[0]@c under every P[0]",
        live: "(always eventually P[0]@c) && (always P[0]@c) under every P[0]",
        swaps: &[],
        says: "have to be alike",
    },
];

#[test]
fn what_is_true_of_one_process_is_not_stretched() {
    for Stretched { text, one, live, swaps, says } in STRETCHED {
        let program = format!(
            "program stretched {{ process P[i in 0..<2] {{ loop {{ {text} }} }} property one: {one}; property live: {live}; }}"
        );
        let model = lang::load(&SourceFile::new("stretched.pw", program), &[]).unwrap().model;
        let find = |name: &str| model.properties.entries().find(|(_, property)| property.name == name).unwrap();
        let task = Task { model: &model, properties: vec![find("one").0], budget: Budget::unlimited(), n_threads: 1 };
        let verdict = Propagate::default().run(&task, &Silent).unwrap().remove(0).verdict;
        let Verdict::Holds(Evidence::Certificate(mut proof)) = verdict else { panic!("{one}: {verdict:?}") };
        let property = find("live").1;
        let PropertyKind::Temporal(formula) = &property.kind else { panic!("{live} is about runs") };
        let ways = evidence::plain::violations(&model, property, formula).unwrap();
        let ways: Vec<_> = ways.iter().map(|way| way.name(&model)).collect();
        proof.property = "live".to_owned();
        let last = proof.facts.len() - 1;
        let Claim::Refutation(first) = &mut proof.facts[last].claim else { panic!("{one}: no refutation") };
        first.violation = ways[0].clone();
        let swaps: Vec<_> = swaps.iter().map(|two| two.map(ProcessId::new)).collect();
        for way in &ways[1..] {
            let symmetry = ClaimedSymmetry { dimensions: Vec::new() };
            let claim = Exchanged { violation: way.clone(), swaps: swaps.clone(), symmetry };
            proof.facts.push(Fact { claim: Claim::Exchanged(claim), uses: vec![last] });
        }
        let refused = certificate::check(&model, property, &proof, &Budget::unlimited()).unwrap_err().to_string();
        assert!(refused.contains(says), "{live}: {refused}");
    }
}

/// Processes that go over all of them inside a step.
fn scanning(inside: &str) -> Model {
    let text = format!(
        "program scanning {{
  process P[i in 0..<3] {{
    public n: 0..=2;
    public wide: 0..=3;
    loop {{
      take:  atomic {{ for k in 0..<3 {{ {inside} }} }}
      wait:  n = if n < 2 then n + 1 else 0;
      crit:  wide = n;
    }}
  }}
  property live: forall i: P[i]@wait ~> P[i]@crit under weak P[*];
}}"
    );
    lang::load(&SourceFile::new("scanning.pw", &text), &[]).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}")).model
}

/// Whether exchanging the first two processes, or all in a round, takes every step of a reachable state to one of its image.
fn is_symmetric(model: &Model) -> bool {
    let product = testkit::Product::explore(model, 20_000).expect("it is small");
    let rounds = [[1, 0, 2], [1, 2, 0]];
    rounds.iter().all(|round| {
        let goes = |process: ProcessId| ProcessId::new(round[process.index()]);
        let image = |state: &model::eval::State| {
            testkit::permutation::permuted(model, &std::collections::BTreeMap::new(), goes, state)
        };
        let after = |state: &model::eval::State, map: &dyn Fn(&model::eval::State) -> model::eval::State| {
            let steps = model::eval::steps(model, state);
            let n_faults = steps.iter().filter(|step| step.result.is_err()).count();
            let states = steps.iter().filter_map(|step| step.result.as_ref().ok()).map(map);
            (states.collect::<std::collections::BTreeSet<_>>(), n_faults)
        };
        product.states.iter().all(|state| after(state, &image) == after(&image(state), &Clone::clone))
    })
}

#[test]
fn the_greatest_of_all_is_the_same_in_any_order() {
    let alike = scanning("n = max(n, P[k].n);");
    let shown = proof(&alike);
    for inside in ["n = max(n, P[k].n);", "n = max(P[k].n, n);", "n = min(n, P[k].n);", "wide = max(wide, P[k].n);"] {
        let model = scanning(inside);
        let found = proof(&model);
        assert_eq!(counts(&found), (1, 2), "{inside}");
        assert!(is_accepted(&model, &found) && is_symmetric(&model), "{inside}");
    }
    // The last one decides, or a certain one, or one that does not fit.
    for inside in [
        "n = P[k].n;",
        "n = max(P[k].n, P[k].n);",
        "n = max(n, P[0].n);",
        "n = max(n, P[k].wide);",
        "n = max(wide, P[k].n);",
        "n = (n + P[k].n) % 3;",
        "n = max(n, k);",
        "n = max(n, P[k].n); wide = n;",
        "if P[k].n > 0 { n = max(n, P[k].n); }",
    ] {
        let model = scanning(inside);
        assert!(!is_accepted(&model, &shown), "{inside}");
        let found = proof(&model);
        assert!(counts(&found).1 == 0 && is_accepted(&model, &found), "{inside}");
    }
}
