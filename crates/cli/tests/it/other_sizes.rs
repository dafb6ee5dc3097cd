//! What is said about other sizes: an observation where the invariants read the same, and nothing else.

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

#[test]
fn invariants_that_do_not_mention_sizes_are_compared_with_the_next_two() {
    let (other, text) = observed("mux_sem.pw", "-N 4 --property mutex --method completion");
    assert_eq!(other, json!({"same_for": [5, 6]}));
    let line = "Other N              the same invariants prove it for N = 5 and N = 6 (an";
    assert!(text.contains(line) && text.contains("observation, not a proof for all N)"), "{text}");
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
fn a_search_of_the_whole_product_says_nothing_about_other_sizes() {
    let (other, text) = observed("mux_sem.pw", "-N 3 --property mutex --method mono");
    assert!(other.is_null() && !text.contains("Other N"), "{text}");
}

#[test]
fn who_wants_quiet_does_not_wait_for_it() {
    let place = Place::new();
    place.write("p.pw", fs::read(root().join("examples/mux_sem.pw")).unwrap());
    let told = place.run("check p.pw -N 4 --property mutex --method completion -q --format json").exits(0);
    assert_eq!(told.json()["runs"][0]["results"][0]["other_n"], Json::Null);
}
