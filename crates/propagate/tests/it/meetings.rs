//! Processes that meet: what is proved of known protocols with rendezvous, that their false twins are not, and proofs with one thing in them that is not so.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::Claim;
use evidence::propagation::Sights;
use evidence::{Certificate, Evidence};
use model::Model;
use propagate::Propagate;

fn load(name: &str, text: &str) -> Model {
    let loaded = lang::load(&SourceFile::new(name, text), &[]);
    loaded.unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}")).model
}

/// The proof of a property, if there is one; it is checked.
fn proof(model: &Model, property: &str) -> Option<Certificate> {
    let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    let engine = Propagate::default();
    assert_eq!(engine.supports(model, id), Ok(()), "{property}");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match engine.run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            let checked = certificate::check(model, asked, &proof, &Budget::unlimited());
            checked.unwrap_or_else(|wrong| panic!("{property}: {wrong}"));
            Some(*proof)
        }
        Verdict::Unknown(_) => None,
        other => panic!("{property}: {other:?}"),
    }
}

/// A token goes round by rendezvous.
fn token_ring(n: usize) -> String {
    format!(
        "program ring {{
           chan c[{n}]: [0] of ();
           process P[i in 0..<{n}] {{
             if i != 0 {{ first: receive c[i](); }}
             loop {{ crit: skip; pass: send c[(i + 1) % {n}](); wait: receive c[i](); }}
           }}
           property live: forall i in P: P[i]@wait ~> P[i]@crit under weak P[*];
           property lazy: forall i in P: P[i]@wait ~> P[i]@crit under weak P[0];
           property turns: always eventually P[1]@crit under weak P[*];
         }}"
    )
}

#[test]
fn a_token_that_is_handed_on_comes_round() {
    for n in [2, 3, 5] {
        let model = load("ring.pw", &token_ring(n));
        assert!(proof(&model, "live").is_some() && proof(&model, "turns").is_some(), "{n} processes");
        assert!(proof(&model, "lazy").is_none(), "{n} processes");
    }
}

/// Clients take what a server gives, one after the other.
const SERVER: &str = "program server {
    chan get: [0] of ();
    chan put: [0] of ();
    process C[i in 0..<3] { loop { rest: idle; ask: send get(); have: skip; back: send put(); } }
    process S { loop { free: receive get(); lent: receive put(); } }
    property live: forall i in C: C[i]@ask ~> C[i]@have under weak C[*], weak S, strong C[*]@ask;
    property starves: forall i in C: C[i]@ask ~> C[i]@have under weak C[*], weak S;
    property returned: S@lent ~> S@free under weak C[*], weak S;
    property kept: S@lent ~> S@free under weak S;
}";

#[test]
fn a_server_serves_everybody_who_is_strongly_fair() {
    let model = load("server.pw", SERVER);
    let proved = ["live", "starves", "returned", "kept"].map(|name| proof(&model, name).is_some());
    assert_eq!(proved, [true, false, true, false]);
}

/// Promela: receivers that take certain messages only.
#[test]
fn messages_by_name_are_answered() {
    let text = "mtype = { ask, nak, ack };
        chan up = [0] of { mtype };
        chan down = [0] of { mtype };
        bool asked, got;
        active proctype A() {
          do
          :: asked = true; up!ask; if :: down?ack -> got = true :: down?nak -> got = false fi; asked = false
          od
        }
        active proctype B() { do :: up?ask -> if :: down!ack :: down!nak fi od }
        ltl answered { [] (asked -> <> !asked) }
        ltl granted { [] (asked -> <> got) }";
    let model = load("ask.pml", text);
    assert!(proof(&model, "answered").is_some() && proof(&model, "granted").is_none());
}

/// The proof with other sights.
fn with_sights(proof: &Certificate, change: impl Fn(&mut Sights)) -> Certificate {
    let mut proof = proof.clone();
    for fact in &mut proof.facts {
        if let Claim::Sights(sights) = &mut fact.claim {
            change(sights);
        }
    }
    proof
}

/// Who does not see a partner does not know when it can send or receive, and who weighs something by itself gets it from nowhere.
#[test]
fn sights_without_partners_and_wrong_sums_are_refused() {
    let model = load("ring.pw", &token_ring(3));
    let asked = model.properties.iter().find(|one| one.name == "live").unwrap();
    let proof = proof(&model, "live").unwrap();
    let refused = |changed: &Certificate| {
        certificate::check(&model, asked, changed, &Budget::unlimited()).expect_err("it is not so").to_string()
    };
    for process in 0..3 {
        for at in 0..2 {
            let changed = with_sights(&proof, |sights| _ = sights.seen[process].controls.remove(at));
            let said = refused(&changed);
            assert!(said.contains("what it is said to see"), "{said}");
        }
    }
    let Claim::Sights(sights) = &proof.facts[0].claim else { panic!("what processes see comes first") };
    for sum in 0..sights.additive.len() {
        for process in 0..sights.additive[sum].processes.len() {
            let changed = with_sights(&proof, |sights| {
                sights.additive[sum].processes[process].weights.iter_mut().for_each(|one| one.weight *= 2);
                sights.additive[sum].processes[process].weights[0].weight += 1;
            });
            refused(&changed);
            let changed = with_sights(&proof, |sights| _ = sights.additive[sum].processes.remove(process));
            refused(&changed);
        }
    }
}
