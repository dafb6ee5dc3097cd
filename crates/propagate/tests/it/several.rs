//! What is said of several processes at once: conditions of which each view shows a part, and processes that have to be looked at together.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::settings::Settings;
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::Claim;
use evidence::{Certificate, Evidence};
use model::Model;
use model::property::Property;
use propagate::Propagate;

fn loaded(text: &str, n: i64) -> Model {
    let parameters = if text.contains("(N:") { vec![("N".to_owned(), n)] } else { Vec::new() };
    lang::load(&SourceFile::new("several.pw", text), &parameters).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

/// The proof of a property, which the checker accepts, if there is one.
fn proof(model: &Model, property: &str, engine: &Propagate) -> Option<Certificate> {
    let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    assert_eq!(engine.supports(model, id), Ok(()), "{property}");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match engine.run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            certificate::check(model, asked, &proof, &Budget::unlimited()).unwrap_or_else(|wrong| panic!("{wrong}"));
            Some(*proof)
        }
        Verdict::Unknown(_) => None,
        other => panic!("{property}: {other:?}"),
    }
}

fn is_proved(model: &Model, property: &str) -> bool {
    proof(model, property, &Propagate::default()).is_some()
}

/// The most processes that a view of the property shows.
fn most_members(proof: &Certificate) -> usize {
    let members = |claim: &Claim| if let Claim::Refutation(claim) = claim { claim.members.len() } else { 0 };
    proof.facts.iter().map(|fact| members(&fact.claim)).max().unwrap_or(0)
}

fn without_fairness(property: &Property, proof: &Certificate) -> (Property, Certificate) {
    let (mut property, mut proof) = (property.clone(), proof.clone());
    property.under.any_of.iter_mut().for_each(Vec::clear);
    for fact in &mut proof.facts {
        if let Claim::Refutation(claim) = &mut fact.claim {
            claim.violation.fairness.clear();
        }
    }
    (property, proof)
}

const SWITCHES: &str = "program switches(N: 1..) {
    process P[i in 0..<N] { loop { off: skip; on: skip; } }
    process Clock { loop { tick: skip; } }
    property some:   always eventually exists i in P: P[i]@on under weak P[*];
    property first:  (exists i in P: P[i]@off) ~> (exists i in P: P[i]@on) under weak P[*];
    property all:    always eventually forall i in P: P[i]@on under weak P[*] expect violated;
    property nobody: always eventually !(exists i in P: P[i]@on) under weak P[*] expect violated;
}";

/// That nobody is on for ever is so of each one by itself; the states of all together are not listed.
#[test]
fn what_nobody_does_each_one_does_not() {
    for n in [2, 5, 30] {
        let model = loaded(SWITCHES, n);
        for property in ["some", "first"] {
            let proof = proof(&model, property, &Propagate::default()).expect(property);
            let (_, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("it is there");
            let (asked, proof) = without_fairness(asked, &proof);
            assert!(certificate::check(&model, &asked, &proof, &Budget::unlimited()).is_err(), "{property}, N = {n}");
        }
    }
    for n in [2, 5] {
        assert!(!is_proved(&loaded(SWITCHES, n), "all") && !is_proved(&loaded(SWITCHES, n), "nobody"), "N = {n}");
    }
}

const ENDING: &str = "program ending(N: 1..) {
    shared m: lock;
    process P[i in 0..<N] { enter: acquire m; work: skip; leave: release m; }
    property all:    eventually forall i: P[i]@end under weak P[*], strong P[*]@enter;
    property unfair: eventually forall i: P[i]@end expect violated;
    property inside: eventually forall i: P[i]@work under weak P[*], strong P[*]@enter expect violated;
}";

/// That all have ended is so eventually if each one has from some point on, at one size and at every size.
#[test]
fn all_end_where_each_one_does() {
    for n in [2, 5, 30] {
        let model = loaded(ENDING, n);
        let proof = proof(&model, "all", &Propagate::default()).expect("it is true");
        assert!(!proof.scope.is_instance(), "N = {n}");
        for property in ["unfair", "inside"] {
            let (_, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("it is there");
            let proof = Certificate { property: property.to_owned(), ..proof.clone() };
            assert!(certificate::check(&model, asked, &proof, &Budget::unlimited()).is_err(), "{property}, N = {n}");
        }
        let (_, asked) = model.properties.entries().find(|(_, one)| one.name == "all").expect("it is there");
        let (asked, changed) = without_fairness(asked, &proof);
        assert!(certificate::check(&model, &asked, &changed, &Budget::unlimited()).is_err(), "N = {n}");
    }
    // Tied to a size by a third family: the same at one size.
    let text = ENDING.replace("shared m", "process Q { stop: skip; }\n    shared m");
    let text = text.replace("forall i:", "forall i in P:");
    let tied = text.replace("work: skip;", "work: await i < N;");
    for n in [2, 4] {
        assert!(is_proved(&loaded(&tied, n), "all"), "N = {n}");
        assert!(!is_proved(&loaded(&tied, n), "unfair") && !is_proved(&loaded(&tied, n), "inside"), "N = {n}");
    }
}

/// An assumption about somebody among all says something of each.
#[test]
fn processes_end_where_nobody_counts_up_for_ever() {
    let path = format!("{}/../../examples/cond_term.pw", env!("CARGO_MANIFEST_DIR"));
    let source = SourceFile::new(&path, std::fs::read_to_string(&path).expect("the example is there"));
    for n in [2, 6, 20] {
        let parameters = [("N".to_owned(), n), ("M".to_owned(), 6)];
        let model = lang::load(&source, &parameters).expect("it is a program").model;
        assert!(is_proved(&model, "ends") && !is_proved(&model, "may_not"), "N = {n}");
    }
}

const DEKKER: &str = "program dekker {
    shared want: [bool; 2];
    shared turn: 0..=1;
    process P[i in 0..<2] {
        loop {
            rest: idle;
            set:  want[i] = true;
            test: while want[1 - i] {
                look: if turn != i { back: want[i] = false; wait: await turn == i; again: want[i] = true; }
            }
            crit:  skip;
            give:  turn = 1 - i;
            leave: want[i] = false;
        }
    }
    property live: forall i: P[i]@set ~> P[i]@crit under weak P[*];
}";

/// What neither of two processes knows by itself, both know together; where the one who has been in does not give the turn away, nothing helps.
#[test]
fn two_who_wait_for_each_other_are_looked_at_together() {
    let model = loaded(DEKKER, 2);
    let proof_of_both = proof(&model, "live", &Propagate::default()).expect("it is true");
    assert_eq!(most_members(&proof_of_both), 2);
    let mut alone = Propagate::default();
    alone.config.set("together", "1").expect("it is a setting");
    assert!(proof(&model, "live", &alone).is_none());
    let (_, asked) = model.properties.entries().find(|(_, one)| one.name == "live").expect("it is there");
    let (asked, changed) = without_fairness(asked, &proof_of_both);
    assert!(certificate::check(&model, &asked, &changed, &Budget::unlimited()).is_err());
    let unfair = loaded(&DEKKER.replace("turn = 1 - i;", "skip;"), 2);
    assert!(!is_proved(&unfair, "live"));
    let (_, asked) = unfair.properties.entries().find(|(_, one)| one.name == "live").expect("it is there");
    assert!(certificate::check(&unfair, asked, &proof_of_both, &Budget::unlimited()).is_err());
}
