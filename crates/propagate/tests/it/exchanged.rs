//! Where processes are alike, one of them is refuted and the others are its images; the checker looks for itself whether they are.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::certificate::{Claim, Exchanged, Fact};
use evidence::{Certificate, Evidence};
use model::Model;
use model::process::ProcessId;
use model::property::Property;
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
