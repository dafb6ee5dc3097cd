//! What is said about other sizes: a proof for every size where there is one, else an observation where the invariants read the same, and nothing else.

use std::fs;

use crate::support::{Place, root};
use serde_json::{Value as Json, json};

/// What the document says about other sizes, and what people are told.
fn observed(example: &str, call: &str) -> (Json, String) {
    let place = Place::new();
    place.write("p.pw", fs::read(root().join("examples").join(example)).unwrap());
    let told = place.run(&format!("check p.pw {call} --format human,json=out.json")).exits(0);
    let document: Json = serde_json::from_str(&place.read("out.json")).unwrap();
    assert_eq!(document["runs"][0]["results"][0]["verdict"], "holds");
    (document["runs"][0]["results"][0]["other_n"].clone(), told.out)
}

/// A semaphore that starts with a number which the size decides: outside of what is proved for every size.
const SEMAPHORE: &str = "program p(N: 2..) {
  shared x: 0..=1 = if N > 1 then 1 else 0;
  process P[i in 0..<N] { loop { out: skip; enter: atomic { await x == 1; x = 0; } crit: skip; leave: x = 1; } }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
}";

#[test]
fn invariants_that_do_not_mention_sizes_are_compared_with_the_next_two() {
    let place = Place::with("p.pw", SEMAPHORE);
    let call = "check p.pw -N 4 --property mutex --method completion --format human,json=out.json";
    let text = place.run(call).exits(0).out;
    let document: Json = serde_json::from_str(&place.read("out.json")).unwrap();
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&result["other_n"], &result["every_n"]), (&json!({"same_for": [5, 6]}), &Json::Null));
    let line = "Other N              the same invariants prove it for N = 5 and N = 6 (an";
    assert!(text.contains(line) && text.contains("observation, not a proof for all N)"), "{text}");
}

#[test]
fn a_proof_for_every_size_stands_beside_the_answer_for_one() {
    let every = json!({"kind": "all", "parameter": "N", "from": 2, "checked": []});
    for method in ["mono", "completion", "auto"] {
        let place = Place::new();
        place.write("p.pw", fs::read(root().join("examples/mux_sem.pw")).unwrap());
        let call = format!("check p.pw -N 4 --property mutex --method {method} --format human,json=out.json");
        let text = place.run(&call).exits(0).out;
        let document: Json = serde_json::from_str(&place.read("out.json")).unwrap();
        let result = &document["runs"][0]["results"][0];
        assert_eq!(result["scope"], json!({"kind": "instance"}), "{method}");
        assert_eq!((&result["every_n"], &result["other_n"]), (&every, &Json::Null), "{method}");
        assert!(text.contains("proved for every N ≥ 2; --all-n shows the proof"), "{method}: {text}");
    }
}

#[test]
fn what_fails_at_a_larger_size_is_not_said_to_hold_at_every_one() {
    // Three of them are too many.
    let place = Place::with(
        "p.pw",
        "program p(N: 2..) {
  shared c: 0..=3 = 0;
  process P[i in 0..<N] { once: if c < 3 { c = c + 1; } }
  invariant few: c < 3;
}",
    );
    let told = place.run("check p.pw -N 2 --property few --format json").exits(0).json();
    let result = &told["runs"][0]["results"][0];
    assert_eq!((&result["verdict"], &result["every_n"]), (&json!("holds"), &Json::Null), "{result:#}");
}

#[test]
fn invariants_that_mention_single_processes_are_not() {
    let (other, text) = observed("ticket.pw", "-N 3 --property deadlock_free --method completion");
    assert!(text.contains("P[1]"), "the proof speaks of single processes\n{text}");
    assert!(other.is_null() && !text.contains("Other N"), "{text}");
}

#[test]
fn invariants_that_mention_the_size_are_not_the_same() {
    let place = Place::with(
        "p.pw",
        "program p(N: 2..) { shared c: 0..=9; process P[i in 0..<N] { loop { c = N; } } invariant low: c == 0 || c == N; }",
    );
    let told = place.run("check p.pw -N 3 --property low --method split --format json").exits(0).json();
    assert!(told["runs"][0]["results"][0]["invariants"][0]["text"].as_str().unwrap().contains('3'), "{told}");
    assert_eq!(told["runs"][0]["results"][0]["other_n"], Json::Null);
}

#[test]
fn who_wants_quiet_does_not_wait_for_it() {
    let place = Place::new();
    place.write("p.pw", fs::read(root().join("examples/mux_sem.pw")).unwrap());
    let told = place.run("check p.pw -N 4 --property mutex --method completion -q --format json").exits(0);
    let result = &told.json()["runs"][0]["results"][0];
    assert_eq!((&result["other_n"], &result["every_n"]), (&Json::Null, &Json::Null));
}

/// In Promela the macros that the call gives tell instances apart, though they are no parameters.
#[test]
fn sizes_of_promela_are_told_apart() {
    let text = "#define N 2\nbyte c;\nactive [N] proctype P() { c++; assert(c <= 3); c-- }\n";
    let place = Place::with("count.pml", text);
    let json = place.run("check count.pml -N 2..4 --property no_errors --format json").exits(1).json();
    let told: Vec<_> = json["runs"].as_array().unwrap().iter().map(|run| run["parameters"]["N"].clone()).collect();
    assert_eq!(told, [2, 3, 4]);
    place.run("check count.pml -N 4 --property no_errors").exits(1).prints("count  N = 4").prints("count.pml -N 4 ");
    // Traces and proofs say which instance they are of.
    place.run("check count.pml -N 4..5 --property no_errors --trace runs").exits(1);
    place.run("replay runs/count.N4.no_errors.itf.json count.pml").exits(0);
    place.run("check count.pml -N 2 --property no_errors --method forward --proof proofs").exits(0);
    place.run("proof check proofs/count.no_errors.proof.json count.pml").exits(0).prints("in count, N = 2");
    place.run("proof check proofs/count.no_errors.proof.json count.pml -N 3").exits(2).complains("N = 2, not N = 3");
}
