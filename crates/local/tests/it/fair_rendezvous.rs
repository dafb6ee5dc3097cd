//! Rendezvous in local proofs of temporal properties: known protocols and their false twins, and proofs with one thing in them that is not so.

use audit::{certificate, replay};
use base::{Budget, Feature, SourceFile, StopReason};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::Claim;
use evidence::{Certificate, Evidence};
use local::fair::{ExplicitFll, LivenessRule};
use model::Model;

const RULES: [LivenessRule; 2] = [LivenessRule::FllA, LivenessRule::FllB];

fn load(name: &str, text: &str) -> Model {
    let loaded = lang::load(&SourceFile::new(name, text), &[]);
    loaded.unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}")).model
}

/// The proof of a property, or nothing where a run violates it; both are checked.
fn proof(model: &Model, property: &str, rule: LivenessRule) -> Option<Certificate> {
    let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    let engine = ExplicitFll::new(rule);
    assert_eq!(engine.supports(model, id), Ok(()), "{property}");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match engine.run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            let checked = certificate::check(model, asked, &proof, &Budget::unlimited());
            checked.unwrap_or_else(|wrong| panic!("{property} by {rule:?}: {wrong}"));
            Some(*proof)
        }
        Verdict::Violated(Evidence::Trace(trace)) => {
            replay(model, id, &trace).unwrap_or_else(|wrong| panic!("{property} by {rule:?}: {wrong}"));
            None
        }
        other => panic!("{property} by {rule:?}: {other:?}"),
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
    for n in [2, 3, 4] {
        let model = load("ring.pw", &token_ring(n));
        for rule in RULES {
            let proved = ["live", "turns", "lazy"].map(|name| proof(&model, name, rule).is_some());
            assert_eq!(proved, [true, true, false], "{n} processes by {rule:?}");
        }
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
    property goes_on: S@lent ~> S@free under progress;
}";

#[test]
fn a_server_serves_everybody_who_is_strongly_fair() {
    let model = load("server.pw", SERVER);
    for rule in RULES {
        let proved = ["live", "starves", "returned", "kept", "goes_on"].map(|name| proof(&model, name, rule).is_some());
        assert_eq!(proved, [true, false, true, false, true], "{rule:?}");
    }
}

/// Without fairness but that of scheduling.
#[test]
fn who_has_turns_hands_on() {
    let text = "program p {
        chan c: [0] of (bool);
        shared g: bool;
        process A { loop { a: send c(true); b: send c(false); } }
        process B { loop { r: receive c(g); } }
        property again: always eventually g under every A;
        property by_receiver: always eventually !g under every B;
        property stays: eventually always g under every A, every B;
    }";
    let model = load("p.pw", text);
    let proved = ["again", "by_receiver", "stays"].map(|name| proof(&model, name, LivenessRule::Ll).is_some());
    assert_eq!(proved, [true, true, false]);
}

/// Promela: receivers that take certain messages only.
const ASK: &str = "mtype = { ask, nak, ack };
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

#[test]
fn messages_by_name_are_answered() {
    let model = load("ask.pml", ASK);
    for rule in RULES {
        assert!(proof(&model, "answered", rule).is_some() && proof(&model, "granted", rule).is_none(), "{rule:?}");
    }
}

/// More than two processes may take part in a step that goes on after a rendezvous.
#[test]
fn steps_that_go_on_after_a_rendezvous_are_left_to_others() {
    let text = "chan c = [0] of { byte }; chan d = [0] of { byte }; bool got;
        active proctype A() { c!1 }
        active proctype B() { byte x; atomic { c?x; d!x } }
        active proctype C() { byte y; d?y; got = true }
        ltl gets { <> got }";
    let model = load("chain.pml", text);
    let id = model.properties.entries().find(|(_, one)| one.name == "gets").unwrap().0;
    for rule in RULES {
        let missing = ExplicitFll::new(rule).supports(&model, id).unwrap_err();
        assert_eq!(missing, StopReason::from(Feature::ChainedRendezvous), "{rule:?}");
    }
}

/// Each node of a proof is needed, and a proof is one for its own assumptions alone.
#[test]
fn proofs_with_a_node_less_or_other_assumptions_are_refused() {
    let model = load("server.pw", SERVER);
    let asked = |name: &str| model.properties.iter().find(|one| one.name == name).unwrap();
    for rule in RULES {
        let proof = proof(&model, "live", rule).expect("it is true");
        let check = |name: &str, changed: &Certificate| {
            certificate::check(&model, asked(name), changed, &Budget::unlimited()).map(|_| ())
        };
        let n_nodes = |claim: &Claim| match claim {
            Claim::NoFairRun(claim) => claim.foci.iter().map(|focus| focus.nodes.len()).collect(),
            _ => Vec::new(),
        };
        let mut n_tried = 0;
        for (at, fact) in proof.facts.iter().enumerate() {
            for (focus, n_nodes) in n_nodes(&fact.claim).into_iter().enumerate() {
                for node in (0..n_nodes).step_by(n_nodes / 40 + 1) {
                    let mut changed = proof.clone();
                    let Claim::NoFairRun(claim) = &mut changed.facts[at].claim else { unreachable!() };
                    claim.foci[focus].nodes.remove(node);
                    claim.foci[focus].ranks.ranks.remove(node);
                    assert!(check("live", &changed).is_err(), "{rule:?}: without node {node} of {focus}");
                    n_tried += 1;
                }
            }
        }
        assert!(n_tried > 20, "{n_tried}");
        let mut other = proof.clone();
        other.property = "starves".to_owned();
        for fact in &mut other.facts {
            if let Claim::NoFairRun(claim) = &mut fact.claim {
                let starves = &model.properties.iter().find(|one| one.name == "starves").unwrap().under.any_of[0];
                claim.violation.fairness.retain(|pair| starves.contains(pair));
            }
        }
        assert!(check("starves", &other).is_err(), "{rule:?}");
    }
}
