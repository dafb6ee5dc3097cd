//! `--all-n` on programs made to tempt it: what fails at three, four or five processes only is not proved for every number of them.

use crate::support::Place;

/// Invariants called `not_…` are violated at some size; the others hold at every one.
const PROGRAMS: [&str; 10] = [
    // The third, the fourth, the last: counted, by number, by N.
    "program t(N: 2..) { shared c: 0..=3; process P[i in 0..<N] { a: atomic { await c < 3; c = c + 1; } b: skip; }
     invariant not_p: c < 3; invariant q: c <= 3; }",
    "program t(N: 2..) { shared x: bool; process P[i in 0..<N] { a: atomic { if i == 3 { x = true; } } } invariant not_p: !x; }",
    "program t(N: 2..) { shared x: bool; process P[i in 0..<N] { a: atomic { if N == 4 { x = true; } } } invariant not_p: !x; }",
    "program t(N: 2..) { shared x: bool; process P[i in 0..<N] { a: atomic { if i == N - 1 && i > 1 { x = true; } } }
     invariant not_p: !x; }",
    // Two witnesses, one of them not the first one's.
    "program t(N: 2..) { shared x: bool; process P[i in 0..<N] { public f: bool; a: f = true;
     b: await exists j: j != i && P[j].f && (exists k: k != i && k != j && P[k].f); c: x = true; } invariant not_p: !x; }",
    // More at a place than a view shows.
    "program t(N: 2..) { process P[i in 0..<N] { loop { a: skip; b: skip; } } invariant not_p: count(i: P[i]@b) <= 2; }",
    // Flags that are looked at before they are set, at once and one after the other.
    "program t(N: 2..) { process P[i in 0..<N] { public f: bool; loop { a: await forall j: j == i || !P[j].f; b: f = true; c: f = false; } }
     invariant not_p: count(i: P[i]@c) <= 1; }",
    "program t(N: 2..) { process P[i in 0..<N] { public f: bool; loop { for j in 0..<N { s: await j == i || !P[j].f; } a: f = true; c: f = false; } }
     invariant not_p: count(i: P[i]@c) <= 1; }",
    // Only those with smaller numbers are looked at.
    "program t(N: 2..) { process P[i in 0..<N] { public f: bool; loop { a: f = true; b: await forall j: j >= i || !P[j].f; c: f = false; } }
     invariant not_p: count(i: P[i]@c) <= 1; }",
    // A process that another one named in a cell.
    "program t(N: 3..) { shared o: pid(P) = any; process P[i in 0..<N] { public v: 0..=2;
     loop { a: v = 1; b: atomic { if P[o].v == 1 && o != i { v = 2; } } } } invariant not_p: forall i: P[i].v < 2; }",
];

#[test]
fn what_fails_at_some_size_is_not_proved_for_every_size() {
    for text in PROGRAMS {
        let place = Place::with("tempting.pw", text);
        let told = place.run("check tempting.pw --method views --all-n --timeout 20s -q");
        assert!([0, 1, 3].contains(&told.status), "{text}: {}{}", told.out, told.err);
        assert!(told.out.contains("not_p"), "{text}: {}", told.out);
        for line in told.out.lines().filter(|line| line.contains("not_p")) {
            assert!(!line.contains("PROVED") && !line.contains("HOLDS"), "{text}: {line}");
        }
    }
}

#[test]
fn parameters_that_stay_as_they_are_are_named_in_the_claim() {
    let text = "program t(N: 2.., M: 1..) { shared c: 0..=M; process P[i in 0..<N] { loop { a: atomic { await c < M; c = c + 1; } b: c = c - 1; } }
     invariant p: c <= M; }";
    let place = Place::with("two.pw", text);
    let told = place.run("check two.pw -D M=4 --property p --all-n -q");
    assert!(told.out.contains("for every N ≥ 2 with M = 4;"), "{}{}", told.out, told.err);
}

/// What goes wrong with five processes, and is small, is found where every size is asked about.
#[test]
fn sizes_beyond_the_least_ones_are_glanced_at() {
    let text = "program chain(N: 2..) {
      shared v: [0..=5; N];
      process S[i in 0..<N] { if i == 0 { put: v[i] = 1; } else { w: await v[i - 1] > 0; add: v[i] = v[i - 1] + 1; } done: skip; }
      invariant small: forall i: v[i] <= 4;
    }";
    let place = Place::with("chain.pw", text);
    place.run("check chain.pw --all-n --property small").exits(1).prints("chain  N = 5").prints("VIOLATED");
}
