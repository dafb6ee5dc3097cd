//! Proofs on disk: written whole, checked again, refused where they are not what they say.

use std::fs;

use crate::support::{Place, Told};
use serde_json::{Value as Json, json};

/// A lock with one semaphore, without procedures.
const LOCK: &str = "\
program lock(N: 2..) {
  shared x: sem = 1;
  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      trying:  acquire x;
      crit:    skip;
      leave:   release x;
    }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
  invariant wrong: forall i: !P[i]@leave expect violated;
  reachable both: exists i != j: P[i]@crit && P[j]@leave expect violated;
  property live: always eventually x == 0;
}
";

/// A directory with the program and the proofs of what is proved.
fn proved() -> Place {
    let place = Place::with("lock.pw", LOCK);
    place.run("check lock.pw -N 3 --method completion --property mutex --property both --proof out -q").exits(0);
    place
}

fn check(place: &Place) -> Told {
    place.run("proof check out/lock.mutex.proof.json lock.pw")
}

/// The proof of `mutex`, changed, and without the digest that would tell.
fn changed(place: &Place, change: impl Fn(&mut Json)) {
    let mut proof: Json = serde_json::from_str(&place.read("out/lock.mutex.proof.json")).unwrap();
    proof.as_object_mut().unwrap().remove("digest");
    change(&mut proof);
    place.write("out/lock.mutex.proof.json", proof.to_string());
}

#[test]
fn proofs_are_written_for_what_is_proved_and_for_nothing_else() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run("check lock.pw -N 3 --method completion --proof a/b --format json").exits(3);
    let json = told.json();
    let result = |name: &str| {
        let results = json["runs"][0]["results"].as_array().unwrap();
        results.iter().find(|result| result["property"] == name).unwrap().clone()
    };
    assert_eq!(result("mutex")["proof"], "a/b/lock.mutex.proof.json");
    assert_eq!((&result("mutex")["proof_checked"], &result("mutex")["audited"]), (&json!(true), &json!(true)));
    for name in ["wrong", "live"] {
        assert_eq!((&result(name)["proof"], &result(name)["proof_checked"]), (&Json::Null, &json!(false)), "{name}");
    }
    assert_eq!(std::fs::read_dir(place.path().join("a/b")).unwrap().count(), 4);
    place.run("check lock.pw --method mono --proof c").exits(0);
    assert_eq!(std::fs::read_dir(place.path().join("c")).unwrap().count(), 0, "a search leaves no proof");
}

#[test]
fn a_sweep_tells_its_instances_apart() {
    let place = Place::with("lock.pw", LOCK);
    place.run("check lock.pw -N 2..4 --method completion --property mutex --proof out").exits(0);
    for size in 2..=4 {
        let call = format!("proof check out/lock.N{size}.mutex.proof.json lock.pw");
        place.run(&call).exits(0).prints(&format!("mutex holds in lock, N = {size}"));
    }
}

#[test]
fn a_proof_is_accepted_in_words_and_in_json() {
    let place = proved();
    let told = check(&place).exits(0).prints("proof accepted: mutex holds in lock, N = 3");
    assert!(told.out.contains("obligations hold: "), "{}", told.out);
    assert_eq!(told.err, "");
    assert_eq!(place.run("proof check -q out/lock.mutex.proof.json lock.pw").exits(0).out.lines().count(), 1);
    place.run("proof check out/lock.mutex.proof.json lock.pw -N 3").exits(0);
    place.run("proof check out/lock.both.proof.json lock.pw").exits(0).prints("both is never reached");
    let json = place.run("proof check out/lock.mutex.proof.json lock.pw --format json").exits(0).json();
    assert_eq!((&json["schema"], &json["accepted"]), (&json!("piecewise-proof-check/1"), &json!(true)));
    assert_eq!((&json["parameters"], &json["property"]), (&json!({"N": 3}), &json!("mutex")));
    assert!(json["obligations"]["total"].as_u64().unwrap() > 3, "{json}");
}

/// A proof for every size says so, and a size that it is about may be named.
#[test]
fn a_proof_for_every_size_says_which_sizes_it_is_about() {
    let place = Place::with("lock.pw", LOCK);
    place.run("check lock.pw --all-n --property mutex --proof out").exits(0);
    let call = "proof check out/lock.mutex.proof.json lock.pw";
    place.run(call).exits(0).prints("mutex holds in lock, for every N ≥ 2");
    place.run(&format!("{call} -N 50")).exits(0).prints("mutex holds in lock, for every N ≥ 2");
    let json = place.run(&format!("{call} --format json")).exits(0).json();
    assert_eq!(json["scope"], json!({"kind": "all", "parameter": "N", "from": 2, "checked": []}));
}

#[test]
fn comments_layout_and_other_properties_do_not_matter_and_all_else_does() {
    let place = proved();
    place.write(
        "lock.pw",
        LOCK.replace("loop {", "// for ever\n    loop  {\n").replace("invariant wrong", "invariant w"),
    );
    check(&place).exits(0);
    for (from, to) in [
        ("= 1;", "= 0;"),
        ("crit:    skip", "crit:    idle"),
        ("release x", "skip"),
        ("i != j: !(P[i]@crit && P[j]@crit)", "i != j: !(P[i]@crit && P[j]@leave)"),
    ] {
        place.write("lock.pw", LOCK.replacen(from, to, 1));
        let told = check(&place).exits(2).complains("has changed since it was written");
        assert_eq!(told.out, "", "{from}");
    }
    place.write("lock.pw", LOCK.replace("mutex", "mutual"));
    check(&place).exits(2).complains("which the program does not ask");
    place.write("lock.pw", LOCK.replace("program lock", "program other"));
    check(&place).exits(2).complains("it was written for \"lock\", this is other");
    place.write("lock.pw", LOCK.replace("(N: 2..)", "(N: 4..)"));
    check(&place).exits(2).complains("it is about N = 3");
    place.write("lock.pw", "program lock {");
    check(&place).exits(2).complains("error[");
}

#[test]
fn another_instance_is_refused() {
    let place = proved();
    place.run("proof check out/lock.mutex.proof.json lock.pw -N 4").exits(2).complains("about N = 3, not N = 4");
    place.run("proof check out/lock.mutex.proof.json lock.pw -D M=4").exits(2).complains("without a parameter `M`");
    changed(&place, |proof| proof["parameters"]["N"] = json!(2));
    check(&place).exits(2).complains("has changed since it was written");
}

#[test]
fn damaged_files_are_refused() {
    let place = proved();
    let text = place.read("out/lock.mutex.proof.json");
    for cut in [0, 1, text.len() / 3, text.len() / 2, text.len() - 3] {
        place.write("out/lock.mutex.proof.json", &text[..cut]);
        check(&place).exits(2).complains("ends too early");
    }
    for (from, to, words) in [
        ("piecewise-proof/5", "piecewise-proof/9", "its format is"),
        ("piecewise-proof/5", "piecewise-proof/4", "older format piecewise-proof/4"),
        ("\"uses\": []", "\"uses\": [0]", "its digest does not match"),
        ("\"k\": 1", "\"k\": 1, \"l\": 1", "unknown field `l`"),
        ("\"rows\"", "\"cows\"", "unknown variant `cows`"),
        ("[", "]", "not a JSON file"),
    ] {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text, "{from}");
        place.write("out/lock.mutex.proof.json", edited);
        check(&place).exits(2).complains(words);
    }
}

#[test]
fn a_proof_that_does_not_hold_says_which_obligation_fails() {
    let place = proved();
    changed(&place, |_| {});
    check(&place).exits(0);
    changed(&place, |proof| {
        let rows = proof["facts"][0]["members"][0]["states"]["rows"].as_array_mut().unwrap();
        rows.pop();
    });
    let told = check(&place).exits(1).prints("the proof does not hold").prints("it has to be so");
    assert!(told.out.contains("P[0]"), "the witness is in the user's names: {}", told.out);
    let json = place.run("proof check out/lock.mutex.proof.json lock.pw --format json").exits(1).json();
    assert_eq!((&json["accepted"], &json["verdict"]), (&json!(false), &json!("does-not-hold")));
    assert!(json["failure"]["finding"].is_string());
    changed(&place, |proof| proof["property"] = json!("wrong"));
    check(&place).exits(2).complains("has changed");
}

#[test]
fn limits_are_honoured() {
    let place = Place::with("lock.pw", LOCK);
    place.run("check lock.pw -N 8 --method completion --property mutex --proof out -q").exits(0);
    let told = place.run("proof check out/lock.mutex.proof.json lock.pw --timeout 1ms").exits(3);
    assert!(told.out.contains("not checked to the end"), "{}", told.out);
    let told = place.run("proof check out/lock.mutex.proof.json lock.pw --timeout 1ms --format json").exits(3);
    assert_eq!(told.json()["reason"]["code"], "time-limit");
    place.run("proof show out/lock.mutex.proof.json lock.pw --timeout 1ms").exits(3).complains("not checked");
}

/// The proof is about three processes and more. That two were searched is written into it by hand; with two the property is false.
#[test]
fn sizes_that_a_proof_says_were_searched_are_searched_again() {
    let text = |least: usize, test: &str| {
        format!(
            "program small(N: {least}..) {{ shared a: [bool; N];
             process P[i in 0..<N] {{ l: await i == 0 && {test}; bad: a[(i + 1) % N] = true; }}
             invariant p: forall i: !P[i]@bad; allow deadlock; }}"
        )
    };
    let stated = |place: &Place| {
        let mut proof: Json = serde_json::from_str(&place.read("out/small.p.proof.json")).unwrap();
        proof.as_object_mut().unwrap().remove("digest");
        proof["scope"]["checked"] = json!([2, 1]);
        place.write("out/small.p.proof.json", proof.to_string());
    };
    let place = Place::with("small.pw", &text(3, "i == N - 2"));
    place.run("check small.pw --all-n --property p --proof out -q").exits(0);
    place.run("proof show out/small.p.proof.json small.pw").exits(0).prints("every N ≥ 3");
    stated(&place);
    // Two is no size of the program: nothing is said about it.
    place.run("proof show out/small.p.proof.json small.pw").exits(0).prints("every N ≥ 3");
    place.write("small.pw", text(2, "i == N - 2"));
    place.run("proof show out/small.p.proof.json small.pw").exits(2).complains("at sizes that the proof is not about");
    let place = Place::with("small.pw", &text(3, "i == N"));
    place.run("check small.pw --all-n --property p --proof out -q").exits(0);
    stated(&place);
    place.write("small.pw", text(2, "i == N"));
    place.run("proof show out/small.p.proof.json small.pw").exits(0).prints("every N ≥ 2 (N = 2 by search)");
}

/// That sizes were searched is written into a proof by hand. One that is named in the call and too large to be searched again is not said to be proved, and one that the
/// proof is not about is refused.
#[test]
fn a_size_that_the_call_names_is_one_that_is_known_to_be_proved() {
    let text = "program wide(N: 2..) { shared m: lock; process P[i in 0..<N] { local x: 0..=14; \
        loop { c: x = (x + 1) % 15; a: acquire m; crit: skip; release m; } } \
        invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }";
    let place = Place::with("wide.pw", text);
    place.run("check wide.pw --all-n --property mutex --proof out -q").exits(0);
    let mut proof: Json = serde_json::from_str(&place.read("out/wide.mutex.proof.json")).unwrap();
    proof.as_object_mut().unwrap().remove("digest");
    proof["scope"] = json!({"kind": "all", "parameter": "N", "from": 5, "checked": [3]});
    place.write("out/wide.mutex.proof.json", proof.to_string());
    let call = "proof check out/wide.mutex.proof.json wide.pw";
    place.run(call).exits(0).prints("for every N ≥ 5");
    place.run(&format!("{call} -N 6")).exits(0).prints("for every N ≥ 5");
    place.run(&format!("{call} -N 3")).exits(3).prints("N = 3 was not searched");
    place.run(&format!("{call} -N 4")).exits(2).complains("the proof is about every N ≥ 5, not N = 4");
}

/// A proof is shown without naming its program where there is one file that it can be about.
#[test]
fn the_program_of_a_proof_is_found() {
    let place = Place::new();
    for directory in ["models", "others", "out"] {
        fs::create_dir(place.path().join(directory)).unwrap();
    }
    let text = "program lock(N: 2..) { shared m: lock; process P[i in 0..<N] { loop { acquire m; crit: skip; release m; } } \
        invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }";
    place.write("models/lock.pw", text);
    place.run("check models/lock.pw --property mutex --method pairwise --proof out -q").exits(0);
    place.run("proof show out/lock.mutex.proof.json").exits(0).prints("models/lock.pw").prints("invariant relied1: ");
    // Which of two is meant has to be said.
    place.write("others/lock.pw", text);
    place.run("proof show out/lock.mutex.proof.json").exits(2).complains("name its file");
    place.run("proof show out/lock.mutex.proof.json others/lock.pw").exits(0);
    // One that is there is about another program.
    fs::remove_file(place.path().join("models/lock.pw")).unwrap();
    place.write("others/lock.pw", text.replace("acquire m", "skip"));
    place.run("proof show out/lock.mutex.proof.json").exits(2).complains("another program");
}
