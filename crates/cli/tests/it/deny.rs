//! `check --deny`: results that count as not expected whatever the verdict, in every format; and what is said without it.

use crate::support::Place;

/// A lock that holds, with a product that is too large to be searched again from nine processes on; a condition that is never true, and an assumption that nobody needs.
const LOCK: &str = "\
program lock(N: 2..) {
  shared x: sem = 1;
  shared _down: bool;
  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      trying:  acquire x;
      crit:    skip;
      leave:   release x;
    }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
  invariant never: _down => x == 0;
  property live: always (x == 0 => eventually x == 1) under weak P[*], strong P[*]@trying;
}
";

fn place() -> Place {
    Place::with("lock.pw", LOCK)
}

/// What a result of the document says.
fn result(place: &Place, call: &str, status: i32) -> serde_json::Value {
    let document = place.run(call).exits(status).json();
    document["runs"][0]["results"][0].clone()
}

#[test]
fn what_nobody_checked_says_so_in_its_first_line_and_can_be_denied() {
    let place = place();
    let told = place.run("check lock.pw --property mutex -N 9 --method mono").exits(0);
    let first = told.out.lines().find(|line| line.contains("HOLDS")).unwrap();
    assert!(first.contains("invariant mutex (unaudited)"), "{}", told.out);
    let told = place.run("check lock.pw --property mutex -N 9 --method mono -q").exits(0);
    assert!(told.out.lines().next().unwrap().contains("(unaudited)"), "{}", told.out);
    let told = place.run("check lock.pw --property mutex -N 9 --method mono --deny unaudited").exits(1);
    assert!(told.out.contains("not accepted: --deny unaudited"), "{}", told.out);
    let told = place.run("check lock.pw --property mutex -N 9 --method mono --deny unaudited -q").exits(1);
    assert!(told.out.contains("(not accepted: --deny unaudited)"), "{}", told.out);
    let told = place.run("check lock.pw -N 9..10 --property mutex --method mono --deny unaudited").exits(1);
    assert!(told.out.contains("\u{b0}"), "{}", told.out);
    // What was checked again is accepted.
    for method in ["mono", "completion"] {
        let told = place.run(&format!("check lock.pw --property mutex --method {method} --deny unaudited")).exits(0);
        assert!(!told.out.contains("unaudited"), "{}", told.out);
    }
}

#[test]
fn every_format_says_what_is_denied() {
    let place = place();
    let call = "check lock.pw --property mutex -N 9 --method mono --format json";
    let free = result(&place, call, 0);
    assert_eq!((&free["audited"], &free["as_expected"]), (&false.into(), &true.into()), "{free}");
    assert_eq!(free["denied"].as_array().unwrap().len(), 0);
    let denied = result(&place, &format!("{call} --deny vacuous,unaudited"), 1);
    assert_eq!((&denied["as_expected"], &denied["denied"][0]), (&false.into(), &"unaudited".into()), "{denied}");
    assert_eq!((&denied["verdict"], &denied["audit_reason"]["code"]), (&"holds".into(), &"too-large".into()));
    let call = "check lock.pw --property mutex -N 9 --method mono --deny unaudited --report r.html \
                --format sarif=s.json,junit=j.xml,github=g.txt";
    place.run(call).exits(1);
    let sarif: serde_json::Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "error", "{sarif}");
    assert_eq!(sarif["runs"][0]["properties"]["verdicts"][0]["audited"], false, "{sarif}");
    for (file, word) in [
        ("s.json", "which `--deny unaudited` does not accept"),
        ("j.xml", "<failure"),
        ("g.txt", "::error"),
        ("r.html", "not accepted: --deny unaudited"),
    ] {
        assert!(place.read(file).contains(word), "{file}: {}", place.read(file));
    }
}

#[test]
fn vacuous_properties_and_assumptions_that_are_not_needed_can_be_denied() {
    let place = place();
    for (property, kind) in [("never", "vacuous"), ("live", "unused")] {
        let call = format!("check lock.pw --property {property} --method mono -q");
        place.run(&call).exits(0);
        let told = place.run(&format!("{call} --deny {kind}")).exits(1);
        assert!(told.out.contains(&format!("(not accepted: --deny {kind})")), "{}", told.out);
        let other = if kind == "unused" { "vacuous" } else { "unused" };
        place.run(&format!("{call} --deny {other},unaudited")).exits(0);
    }
}

#[test]
fn what_cannot_be_denied_is_refused() {
    let told = place().run("check lock.pw --deny wrong").exits(2);
    for word in ["wrong", "vacuous", "unused", "unaudited"] {
        assert!(told.err.contains(word), "{}", told.err);
    }
}
