//! Programs written for the weak spots of what methods leave out: no method gives a verdict that the whole product contradicts.
//!
//! Each row is a program with the truth about its properties, in their order: `+` holds, `-` is violated. Every method, with its
//! evidence audited, says so or does not know. The rows of issue 12 were proved by methods that hold the processes of a family
//! for interchangeable, and accepted by the checker.

use std::time::Duration;

use base::{Budget, CancelToken, SourceFile, StopReason};
use driver::check::{Check, CheckLimits};
use driver::load::Loaded;
use driver::methods;
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::{Certificate, Evidence};
use local::fair::{ExplicitFll, LivenessRule};
use model::Model;
use propagate::Propagate;
use rings::ByRings;

/// Of its properties the first three are decided by states after one in which they have no value.
const WITHOUT_VALUE: &str = "program f { shared a: 0..=3 = 0;
     process P { loop { s: a = 1; t: a = 0; } }
     process Q[i in 0..<2] { loop { u: skip; v: skip; } }
     invariant q: 6 / a > 1 && false;
     reachable r: 6 / a > 1 && Q[1]@v;
     invariant s: !(Q[0]@v && 6 / a > 1);
     invariant t: 6 / a > 1;
     reachable u: 6 / a == 1;
     reachable v: 6 / a > 1 && a == 0; }";

/// Programs and the truth about their properties.
const PROGRAMS: [(&str, &str); 37] = [
    // No value at first, and decided by a later state; or not at all.
    (WITHOUT_VALUE, "-+-???"),
    // One part of the property is shown of each process, the other part is about one.
    (
        "program parts { process P[i in 0..<2] { a: skip; }
         property p: (eventually forall i: P[i]@end) && (P[0]@a ~> P[0]@end) under weak P[*]; }",
        "+",
    ),
    // Nothing is left of a claim where there is one process only; what it is demanded under may have no value all the same.
    (
        "program alone { shared s0: 0..=2; shared s1: -1..=0;
         process Q[k in 0..<1] { }
         reachable r0: (exists n in 0..=1: s0 != 1) && (exists q0 != q1 in Q: s1 != 0);
         reachable r1: 6 / s0 > 1 && (exists q0 != q1 in Q: s1 != 0);
         reachable r2: (exists n in 0..=1: 6 / s0 > n) && (exists q0 != q1 in Q: s1 != 0);
         invariant r3: 6 / s0 > 1 => (forall q0 != q1 in Q: s1 == 0);
         invariant r4: 6 / s0 > 1 || (forall q0 != q1 in Q: s1 == 0);
         invariant r5: (forall q0 != q1 in Q: s1 == 0) || 6 / s0 > 1;
         invariant r6: s0 == 0 <=> (forall q0 != q1 in Q: s1 == 0); }",
        "-????++",
    ),
    // The loop of a run satisfies one half of an assumption, and the other half has no value there.
    (
        "program half { shared o: pid(P)?;
         process P[i in 0..<2] { public x: 0..=1; loop { l0: skip; l1: idle; l2: skip; } }
         property t: always eventually P[1]@l2 under (weak P[*] or strong (P[o].x == 1) => P[0]@l1); }",
        "-",
    ),
    // Two ways to violate the property are one, and what is assumed has no image under permutations: no process has to go anywhere.
    (
        "program same { shared g: 0..=1; shared h: 0..=1; shared a: [0..=2; 3];
         process P[i in 0..<3] { loop { l0: skip; l1: a[i] = 0; l2: g = 1 - g; } }
         property t: forall v in P: (always h == 0) under weak (a[g] == 0), weak P[*]; }",
        "+",
    ),
    // An assumption has no value where others, whose control locations are not seen, do not decide it; nor has it, or the property, after what is waited for has come.
    (
        "program hidden { shared g: 0..=1;
         process P[i in 0..<3] { loop { l0: skip; l1: skip; } }
         property t: P[0]@l0 ~> P[0]@l1 under weak P[*], weak (P[1]@l0 || P[2]@l0 || 1 / g == 1);
         property u: P[0]@l0 ~> P[0]@l1 under weak P[*], strong (P[1]@l0 && P[2]@l0 && (P[1]@l1 || 1 / g == 1)) => P[0]@l0; }",
        "??",
    ),
    (
        "program afterwards { shared g: 0..=1; shared h: 0..=1;
         process P[i in 0..<3] { l0: g = 1; l1: h = 1; l2: skip; }
         property t: eventually g == 1 && 2 / (1 - h) > 0 under weak P[*];
         property u: eventually g == 1 under weak P[*], weak (g == 0 || 2 / (1 - h) > 0); }",
        "??",
    ),
    // The same where a part of what is not reached has no value: it has one in every reachable state.
    (
        "program reached { shared g: 0..=1 = 1;
         process P[i in 0..<3] { loop { l0: skip; l1: skip; } }
         property t: P[0]@l0 ~> P[0]@l1 under weak P[*], weak (P[1]@l0 || P[2]@l0 || 1 / g == 1);
         property u: P[0]@l0 ~> P[0]@l1 && 1 / g == 1 under weak P[*]; }",
        "++",
    ),
    // The same where another alternative is refuted with fewer assumptions, and where the rest of the assumption excludes nothing.
    (
        "program others { shared g: 0..=1;
         process P[i in 0..<3] { loop { l0: skip; l1: await g == 0; } }
         property t: forall j in P: (P[j]@l1 ~> P[j]@l0) under (weak P[*] or weak (1 / g == 1)), weak P[*]; }",
        "?",
    ),
    (
        "program unseen { shared g: 0..=1;
         process P { public x: 0..=1; loop { l0: skip; l3: x = 0; } }
         process Q[i in 0..<2] { public y: 0..=9; loop { q0: y = (y + 1) % 10; } }
         property t: always eventually P.x == 0 under strong (Q[0].y == 7) => (1 / g == 1); }",
        "?",
    ),
    // A fairness assumption has no value, at first or after a while: no run decides the property.
    (
        "program divides(N: 2..) { shared x: 0..=3; shared busy: bool;
         process P[i in 0..<N] { loop { ask: skip; get: atomic { await !busy; busy = true; } put: busy = false; } }
         property t: forall q in P: (P[q]@put ~> P[q]@ask) under weak (6 / x > 1), weak P[*]; }",
        "?",
    ),
    (
        "program later(N: 2..) { shared x: 0..=3 = 3; shared busy: bool;
         process P[i in 0..<N] { loop { ask: if x > 0 { x -= 1; } get: atomic { await !busy; busy = true; } put: busy = false; } }
         property t: forall q in P: (P[q]@put ~> P[q]@ask) under strong (x == 7 / x => busy), weak P[*]; }",
        "?",
    ),
    // What one property assumes of each process another one assumes of one of them.
    (
        "program p(N: 2..) { shared s: bool = true; shared t: bool;
         process P[i in 0..<N] { l0: await s || t; l1: t = false; }
         property each: forall q in P: P[q]@l0 ~> P[q]@l1 under every P[*];
         property one: eventually !s under weak P[0], every P[1]; }",
        "+-",
    ),
    // Two loops over all processes at once: the first step of the outer one is taken from the place before it.
    (
        "program loops(N: 2..) { shared last: pid;
         process P[i in 0..<N] {
           either { for a in P { q: last = i; for b in P { s: if a != b { w: skip; } else { y: skip; } } t: skip; } }
           or { z: skip; } }
         invariant p: forall i: !P[i]@w; }",
        "-",
    ),
    // The same with the loop that is entered so inside of the other one.
    (
        "program inner(N: 2..) { shared last: pid;
         process P[i in 0..<N] {
           for b in P { either { for a in P { s: if a != b { w: last = i; } else { y: skip; } } t: skip; } or { z: skip; } } }
         invariant p: forall i: !P[i]@w; }",
        "-",
    ),
    // The text indexes `a` by numbers, the property by processes.
    (
        "program issue_0012(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { s: a[1] = true; c: a[0] = false; } }
         invariant p: forall i: !(P[i]@c && a[i]); }",
        "-",
    ),
    // The same in the second dimension.
    (
        "program issue_0012_rows(N: 2..) { shared m: [[bool; N]; N];
         process P[i in 0..<N] { loop { s: m[i][1] = true; c: m[i][0] = false; } }
         invariant p: forall i: !(P[i]@c && m[i][i]); }",
        "-",
    ),
    // The same in a public array.
    (
        "program issue_0012_public(N: 2..) {
         process P[i in 0..<N] { public r: [bool; N]; loop { s: r[1] = true; c: r[0] = false; } }
         invariant p: forall i: !(P[i]@c && P[i].r[i]); }",
        "-",
    ),
    // The text never touches the array, whose elements start differently.
    (
        "program untouched(N: 2..) { shared a: [bool; 2] = [false, true];
         process P[i in 0..<N] { loop { s: skip; c: skip; } }
         invariant p: forall i: !(P[i]@c && a[i]); }",
        "-",
    ),
    // The reverse: the text indexes by processes, the property by a number.
    (
        "program reverse(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { s: a[i] = true; c: skip; }
         invariant p: !a[1];
         invariant q: !(P[0]@c && !a[0]); }",
        "-+",
    ),
    // A constant that breaks the symmetry, in the property only and in the text only.
    (
        "program constants(N: 2..) { shared t: pid(P) = any;
         process P[i in 0..<N] { loop { s: t = i; c: skip; } }
         invariant p: !(P[1]@c && t == P[0]); }",
        "-",
    ),
    // Two families index one array.
    (
        "program families(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { s: a[i] = true; c: skip; }
         process Q[i in 0..<N] { s: a[1] = false; d: skip; }
         invariant p: forall i in P: !(P[i]@c && !a[i]); }",
        "-",
    ),
    // An array as long as the family, by numbers in both.
    (
        "program numbers(N: 2..) { shared a: [bool; N]; shared k: 0..<2;
         process P[i in 0..<N] { loop { s: a[k] = true; k = 1 - k; c: a[k] = false; } }
         invariant p: forall i: !(P[i]@c && a[0]);
         invariant q: exists i: !a[i] || a[i]; }",
        "-+",
    ),
    // A temporal property that tells processes apart by a number.
    (
        "program runs(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { s: a[1] = true; c: a[0] = false; } }
         property p: forall i: always !(P[i]@c && a[i]);
         property q: forall i: eventually a[i] under every P[*]; }",
        "--",
    ),
    // Two processes together decide a quantifier, and a proof for every size needs both.
    (
        "program witnesses(N: 2..) { shared x: [0..=3; N]; shared d: bool;
         process P[i in 0..<N] {
           a: atomic { await !(exists j: x[j] == 1); x[i] = 1; } b: skip;
           e: atomic { if (exists j != k: x[j] == 1 && x[k] == 1) { d = true; } } }
         invariant p: !d; allow deadlock; }",
        "+",
    ),
    // Everybody starts with itself.
    (
        "program itself(N: 2..) { shared d: bool;
         process P[i in 0..<N] { local v: pid(P)? = i; public w: pid(P) = i; a: d = w != i; b: w = any; }
         invariant p: !d; invariant q: forall i: P[i]@a => P[i].w == i; invariant r: forall i: P[i].w == i; }",
        "++-",
    ),
    // What a process starts with is part of a sum, and may be anything.
    (
        "program anything { shared t: 0..=2;
         process P[i in 0..<2] { local v: bool = any;
           loop { a: atomic { await t < 2; t = t + 1; v = true; } b: atomic { await v; t = t - 1; v = false; } } }
         property p: always eventually t == 0 under weak P[*];
         property q: forall i: always eventually P[i]@a under weak P[*]; }",
        "-+",
    ),
    // There is nobody to speak of.
    (
        "program nobody { shared x: 0..=3 = 1; invariant p: x == 1; invariant q: x == 2; property t: always x == 1; }",
        "+-+",
    ),
    // A sum over processes that a turn changes, and that would exclude what the turn leads to.
    (
        "program sums(N: 2..) { shared t: 0..=3;
         process P[i in 0..<N] { public q: bool;
           loop { a: atomic { await t < 3; t = t + 1; q = true; } b: atomic { q = false; t = t - 1; } } }
         property a: always eventually t == 0 under weak P[*];
         property b: forall i: always eventually P[i]@a under weak P[*]; }",
        "-+",
    ),
    // The same where the sum begins again at zero.
    (
        "program modulo(N: 2..) { shared x: 0..=2;
         process P[i in 0..<N] { a: x = (x + 1) % 3; b: await x == 0 || x == 2; c: skip; }
         property a: forall i: eventually P[i]@c under weak P[*];
         property b: eventually always x == 0 under every P[*]; }",
        "+-",
    ),
    // Whom a loop takes is one of those that a quantifier is about.
    (
        "program taken(N: 2..) { shared x: 0..<N;
         process P[i in 0..<N] { public flag: bool;
           loop { s: flag = true;
             for k in 0..<N { v: if k != i { w: await forall j: j == i || j == k || !P[j].flag; } }
             crit: skip; u: flag = false; } }
         invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }",
        "-",
    ),
    // The index of a process is stored as a number, and is no fault.
    (
        "program stored(N: 3..) { shared x: 0..<N; shared m: lock;
         process P[i in 0..<N] { loop { a: acquire m; b: x = i; c: skip; e: release m; } }
         invariant p: forall i: !P[i]@c; }",
        "-",
    ),
    // The index of a process is that of a process of another family, too.
    (
        "program namesake(N: 2..) { shared m: lock; shared d: bool; shared y: 0..<N;
         process Q[k in 0..<3] { public f: bool; loop { q: f = !f; } }
         process P[i in 0..<N] { loop { a: acquire m; b: if Q[i].f { d = true; } c: skip; e: release m; } }
         invariant p: !d; invariant q: forall i in P: !P[i]@c; }",
        "--",
    ),
    // What a number holds is known to the process that it was copied from, and to nobody else.
    (
        "program copied(N: 2..) { shared cnt: 0..=N; shared x: pid(P); shared got, bad: bool;
         process P[i in 0..<N] { public n: 0..=30;
           k: cnt += 1; a: n = 5; b: if x == i { five: await false; } else { y: await got; z: bad = true; } }
         process S { local w: 0..=30; s1: await P[x].n >= 5; s2: w = P[x].n; s3: got = true; }
         allow deadlock;
         invariant p: forall i in P: !(bad && P[i]@five); }",
        "-",
    ),
    // A number of a range names a process of another family.
    (
        "program ranged(N: 2..) { shared m: lock; shared y: 0..<N; shared t: pid(Q);
         process Q[k in 0..<2] { public f: bool; loop { q: f = !f; } }
         process P[i in 0..<N] { loop { a: acquire m; b: t = any 0..=1; c: skip; e: release m; } }
         invariant p: forall i in P: !P[i]@c; invariant q: t == Q[0]; }",
        "--",
    ),
    // A step can be taken in more ways than are searched again.
    (
        "program ways { shared x: 0..=1; process P { loop { a: atomic { for k in 0..<12 { x = any; } } } } invariant p: x <= 1; }",
        "+",
    ),
    // Whether an instance is a fault depends on which process comes first.
    (
        "program order(N: 2..) { shared a: [bool; N]; shared d: bool;
         process P[i in 0..<N] { loop { s: a[i] = true; c: a[i] = false; } }
         process Q[k in 0..<2] { public f: bool; loop { t: f = !f; } }
         process M { m: atomic { if (forall k in 0..=1: exists j in P: a[j] || Q[k].f) { d = true; } } }
         invariant p: !d; }",
        "-",
    ),
];

/// A program of which views prove a property, and a word of it: with another one the proof has to be refused.
struct Borrowed {
    program: &'static str,
    property: &'static str,
    word: &'static str,
    other: &'static str,
}

const BORROWED: [Borrowed; 22] = [
    // The index of a process that is not seen, an element that only few processes have, and their number are what they are at one size.
    Borrowed {
        program: "program indices(N: 2..) { process P[i in 0..<N] { public f: bool;
            loop { a: await forall j: !P[j].f || 1 > 0; b: f = true; c: f = false; } } }",
        property: "no_errors",
        word: "1 > 0",
        other: "6 / (7 - j) > 0",
    },
    Borrowed {
        program: "program elements(N: 2..) { shared b: [0..=1; 5] = 1; process P[i in 0..<N] { public f: bool;
            loop { a: await forall j: !P[j].f || 1 > 0; b: f = true; c: f = false; } } }",
        property: "no_errors",
        word: "1 > 0",
        other: "b[j] == 1",
    },
    Borrowed {
        program: "program number(N: 2..) { process P[i in 0..<N] { public f: bool;
            loop { a: await forall j: !P[j].f || 1 > 0; b: f = true; c: f = false; } } }",
        property: "no_errors",
        word: "1 > 0",
        other: "6 / (7 - N) > 0",
    },
    // What is evaluated only because of a process that is not seen.
    Borrowed {
        program: "program behind(N: 2..) { shared x: 0..=3;
            process P[i in 0..<N] { public f: bool; a: f = true; w: await (forall j: j == i || !P[j].f) || 7 - x > 1; b: skip; } }",
        property: "no_errors",
        word: "7 - x",
        other: "7 / x",
    },
    // A constant is what it is at one size only.
    Borrowed {
        program: "program counted(N: 2..) { const K = 2; shared t: 0..=N;
         process P[i in 0..<N] { a: t += 1; b: await K != 2; c: skip; }
         invariant p: forall i: !P[i]@c; allow deadlock; }",
        property: "p",
        word: "K = 2",
        other: "K = count(i in P: true)",
    },
    // What processes start with depends on the size, and is no sum.
    Borrowed {
        program: "program square(N: 2..=40) { shared t: 0..=N;
         process P[i in 0..<N] { local x: 4..=2000; a: t += 1; b: await x != 4; c: skip; }
         invariant p: forall i: !P[i]@c; allow deadlock; }",
        property: "p",
        word: "4..=2000",
        other: "N*N..=2000",
    },
    // A quantifier stops at the mover itself, or is a fault of somebody who stands before it.
    Borrowed {
        program: "program v(N: 2..) { shared x: [0..=1; N];
         process P[i in 0..<N] { loop { a: x[i] = 1; b: await exists j: 1 * x[j] == 1; c: x[i] = 0; } } }",
        property: "no_errors",
        word: "1 * x",
        other: "1 / x",
    },
    // The same in a property, which then has no value in some state.
    Borrowed {
        program: "program v(N: 2..) { shared x: [0..=1; N] = 1;
         process P[i in 0..<N] { loop { a: x[i] = 0; b: skip; c: x[i] = 1; } }
         invariant p: exists j: 1 * x[j] >= 0; }",
        property: "p",
        word: "1 * x",
        other: "1 / x",
    },
    // One more process moves.
    Borrowed {
        program: "program v(N: 2..) { shared t: pid(P)?;
         process P[i in 0..<N] { loop { a: atomic { await t == none; t = i; } c: t = none; } }
         invariant p: forall i: P[i]@c => t == i; }",
        property: "p",
        word: "await t == none;",
        other: "await t == none || t != none;",
    },
    // Somebody who is not seen decides a quantifier.
    Borrowed {
        program: "program v(N: 2..) {
         process P[i in 0..<N] { public f: bool; public g: bool;
           loop { a: f = !f; b: atomic { if (exists j: j != i && P[j].f) { g = false; } } } }
         invariant p: forall i: !P[i].g; }",
        property: "p",
        word: "g = false",
        other: "g = true",
    },
    // Somebody who is not seen is looked at by name.
    Borrowed {
        program: "program v(N: 2..) { shared t: pid(P); shared f: [bool; N];
         process P[i in 0..<N] { public g: bool;
           loop { t = any; a: f[i] = !f[i]; b: atomic { if t != i && f[t] { g = false; } } } }
         invariant p: forall i: !P[i].g; }",
        property: "p",
        word: "g = false",
        other: "g = true",
    },
    // Another property.
    Borrowed {
        program: "program v(N: 2..) { shared t: pid(P)?;
         process P[i in 0..<N] { loop { a: atomic { await t == none; t = i; } c: t = none; } }
         invariant p: forall i: !(P[i]@c && t == none); }",
        property: "p",
        word: "&& t == none);",
        other: "&& t != none);",
    },
    // A step fails.
    Borrowed {
        program: "program v(N: 2..) { shared x: bool;
         process P[i in 0..<N] { loop { a: x = true; b: assert x || !x; } } }",
        property: "no_errors",
        word: "x || !x",
        other: "!x",
    },
    // Two processes violate what no single one does.
    Borrowed {
        program: "program v(N: 2..) {
         process P[i in 0..<N] { loop { a: skip; c: skip; } }
         invariant p: forall i != j: !(P[i]@c && P[j]@c && P[i]@a); }",
        property: "p",
        word: "&& P[i]@a",
        other: "",
    },
    // The number of processes is a number.
    Borrowed {
        program: "program v(N: 2..) { shared x: 0..=3;
         process P[i in 0..<N] { loop { a: atomic { await x < 2; x = x + 1; } } }
         invariant p: x <= 2; allow deadlock; }",
        property: "p",
        word: "await x < 2",
        other: "await x < N",
    },
    // It starts otherwise.
    Borrowed {
        program: "program v(N: 2..) { shared x: bool = true;
         process P[i in 0..<N] { loop { a: skip; } }
         invariant p: x; }",
        property: "p",
        word: "bool = true",
        other: "bool = false",
    },
    // It starts with the number of processes.
    Borrowed {
        program: "program v(N: 2..) { shared x: 0..=3 = 2;
         process P[i in 0..<N] { loop { a: skip; } }
         invariant p: x == 2; }",
        property: "p",
        word: "0..=3 = 2",
        other: "0..=3 = N",
    },
    // The index of a process names one of another family.
    Borrowed {
        program: "program v(N: 2..) { process Q[k in 0..<2] { public f: bool; loop { f = !f; } }
         process P[i in 0..<N] { a: assert Q[0].f && !Q[0].f; c: skip; }
         invariant p: forall i in P: !P[i]@c; }",
        property: "p",
        word: "Q[0].f && !Q[0].f",
        other: "Q[i].f || !Q[i].f",
    },
    // The index of a process is stored as a number.
    Borrowed {
        program: "program v(N: 2..) { shared x: 0..=3; shared y: 0..=3;
         process P[i in 0..<N] { a: x = y + 4; c: skip; }
         invariant p: forall i: !P[i]@c; }",
        property: "p",
        word: "y + 4",
        other: "i",
    },
    // A distance that is none at the least size.
    Borrowed {
        program: "program v(N: 7..) { shared a: [bool; N]; shared b: [bool; N];
         process P[i in 0..<N] { s: a[i + 0] = true; l: b[(i + 1) % N] = true; }
         invariant p: forall i: P[i]@l => a[i]; }",
        property: "p",
        word: "a[i + 0] = ",
        other: "a[(i + 7) % N] = ",
    },
    // The same for an index that is named outright.
    Borrowed {
        program: "program v(N: 9..) { shared a: [bool; N];
         process P[i in 0..<N] { s: a[if i == N - 1 then N - 1 else i] = true; l: skip; } }",
        property: "no_errors",
        word: "then N - 1",
        other: "then N + N - 10",
    },
    // Neighbours in a property that are one at the least size.
    Borrowed {
        program: "program v(N: 3..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { x: a[(i + 1) % N] = true; y: skip; } }
         invariant p: forall i: !(P[(i + 1) % N]@x && P[(i + 1) % N]@y); }",
        property: "p",
        word: "% N]@x && P[(i + 1) % N]",
        other: "% N]@x && P[(i + 6) % N]",
    },
];

/// A program with a property that is false at this size: it is not proved for every size.
struct Larger {
    program: &'static str,
    property: &'static str,
    size: i64,
}

const LARGER: [Larger; 20] = [
    // A constant counts the processes.
    Larger {
        program: "program counted(N: 2..) { const K = count(i in P: true); shared t: 0..=N;
         process P[i in 0..<N] { a: t += 1; b: await K != 2; c: skip; }
         invariant p: forall i: !P[i]@c; allow deadlock; }",
        property: "p",
        size: 3,
    },
    // The same in a property, by a long expression.
    Larger {
        program: "program long(N: 2..) {
         const A = N + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0; const B = A + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0;
         const C = B + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0; const K = C + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0;
         shared t: 0..=N; process P[i in 0..<N] { a: t += 1; }
         invariant p: K == 2; }",
        property: "p",
        size: 3,
    },
    // What processes start with is a number that is no sum of sizes.
    Larger {
        program: "program square(N: 2..=40) { shared t: 0..=N;
         process P[i in 0..<N] { local x: N*N..=2000; a: t += 1; b: await x != 4; c: skip; }
         invariant p: forall i: !P[i]@c; allow deadlock; }",
        property: "p",
        size: 3,
    },
    // The first step of a loop over all processes is taken from outside of it, from a choice: to whom it comes there is the first one.
    Larger {
        program: "program first_in_branch(N: 2..) { shared b: [bool; N];
         process P[i in 0..<N] { either { skip; } or { for k in 0..<N { b[k] = true; } } }
         invariant p: forall i: !b[i]; }",
        property: "p",
        size: 2,
    },
    // The same where the step stores the process, and goes no further.
    Larger {
        program: "program stored(N: 2..) { shared q: pid? = none;
         process P[i in 0..<N] { either { e: skip; } or { for k in 0..<N { y: q = k; z: skip; break; } } }
         invariant p: q == none; }",
        property: "p",
        size: 2,
    },
    // By another family.
    Larger {
        program: "program other(N: 2..) { shared x: bool; shared b: [bool; N];
         process P[i in 0..<N] { s: b[i] = true; a: await x; c: skip; }
         process Q { either { e: skip; } or { for k in 0..<N { y: await b[k]; } z: x = true; } }
         invariant p: forall i in P: !P[i]@c; allow deadlock; }",
        property: "p",
        size: 2,
    },
    // And for ever.
    Larger {
        program: "program always_so(N: 2..) { shared b: [bool; N]; shared n: 0..=1;
         process P[i in 0..<N] { either { e: skip; } or { for k in 0..<N { y: b[k] = true; } z: n = 1; } }
         property p: always (n == 0); }",
        property: "p",
        size: 2,
    },
    // The least size is larger than where words would repeat, and of one parity.
    Larger {
        program: "program parity(N: 20..) { shared a: [bool; N];
         process P[i in 0..<N] { l: await i == N - 1 && i % 2 == 0; bad: skip; m: a[i] = true; }
         invariant p: forall i: !P[i]@bad; allow deadlock; }",
        property: "p",
        size: 21,
    },
    // The same with a sum, which grows with the number of processes.
    Larger {
        program: "program sum(N: 6..) { shared x: 0..=6; process P[i in 0..<N] { l: x += 1; } allow deadlock; }",
        property: "no_errors",
        size: 7,
    },
    // A sum that has no value where the index is large.
    Larger {
        program: "program near_the_end(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] {
           l: await i + 9223372036854775787 - 9223372036854775787 == 0; m: a[(i + 1) % N] = true; }
         allow deadlock; }",
        property: "no_errors",
        size: 22,
    },
    // A distance that comes round to nothing at the least size.
    Larger {
        program: "program around(N: 21..) { shared a: [bool; N];
         process P[i in 0..<N] { x: a[(i + 21) % N] = true; y: skip; }
         invariant p: forall i: P[i]@y => a[i]; }",
        property: "p",
        size: 22,
    },
    // Two neighbours of a process in a property, which are one at the least size.
    Larger {
        program: "program one_at_three(N: 3..) {
         process P[i in 0..<N] { loop { x: skip; y: skip; } }
         invariant p: forall i: !(P[(i + 2) % N]@x && P[(i + N - 1) % N]@y); }",
        property: "p",
        size: 4,
    },
    // A process beyond the end is compared with one that is there.
    Larger {
        program: "program beyond(N: 9..) { shared a: [bool; N];
         process P[i in 0..<N] { s: await P[i + 5] != P[3]; l: a[(i + 1) % N] = true; }
         allow deadlock; }",
        property: "no_errors",
        size: 9,
    },
    // Who holds a lock is compared with a process that a number names.
    Larger {
        program: "program owner(N: 2..) { shared m: [lock; N]; shared x: 0..=3 = 2;
         process P[i in 0..<N] { s: acquire m[i]; t: await m[i].owner == P[x]; c: skip; }
         invariant p: forall i: !P[i]@c; allow deadlock; }",
        property: "p",
        size: 3,
    },
    // The same with its index.
    Larger {
        program: "program index(N: 2..) { shared m: [lock; N]; shared x: 0..=9 = 2;
         process P[i in 0..<N] { s: acquire m[i]; t: await m[i].owner != none; u: await m[i].owner == x; c: skip; }
         invariant p: forall i: !P[i]@c; allow deadlock; }",
        property: "p",
        size: 3,
    },
    // A number names a process that is not there at small sizes.
    Larger {
        program: "program named(N: 2..) { shared x: 0..=3 = 3; shared d: bool;
         process P[i in 0..<N] { s: d = P[x] == P[x]; }
         allow deadlock; }",
        property: "no_errors",
        size: 2,
    },
    // Small sizes are no exception that a search of one of them would show.
    Larger {
        program: "program round(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { x: a[i] = true; y: skip; }
         invariant p: forall i: !(P[i]@y && !a[(i + 4) % N]); }",
        property: "p",
        size: 5,
    },
    // Elements of one process that are seen at different distances: what one step puts into the other row is no token any more.
    Larger {
        program: "program rows(N: 3..) { shared a: [[bool; 2]; N];
         process P[i in 0..<N] {
           start: if i == 0 { a[i][0] = true; }
           loop { go: atomic { await a[i][0]; a[i][0] = false;
             if i == 3 { a[(i + 1) % N][1] = true; } else { a[(i + 1) % N][0] = true; } } } } }",
        property: "deadlock_free",
        size: 4,
    },
    // Another process is assumed to be fair at another size: the first one with two processes.
    Larger {
        program: "program another(N: 2..) { shared s: bool; process P[i in 0..<N] { loop { a: s = !s; b: skip; } }
         property p: P[0]@a ~> P[0]@b under weak P[N - 2]; }",
        property: "p",
        size: 3,
    },
    // The same of a process of another family.
    Larger {
        program: "program beside(N: 2..) { const K = N - 2; shared s: bool; process P[i in 0..<N] { loop { a: s = !s; b: skip; } }
         process Q[j in 0..<2] { loop { c: skip; d: skip; } } property p: always eventually Q[0]@d under every Q[K]; }",
        property: "p",
        size: 3,
    },
];

/// Programs with an index that is named outright where no step ever looks at it, and that is no distance: nothing is claimed that the checker refuses.
const NEVER_LOOKED_AT: [&str; 4] = [
    // By every other process.
    "program odd(N: 2..) { shared c: [0..=1; N];
     process P[i in 0..<N] { local x: 0..=1;
       loop { a: await x == 0 || c[if i % 2 == 0 then i else N - 1] == 1; b: c[(i + 1) % N] = 1; } }
     invariant p: forall i: P[i].x == 0; allow deadlock; }",
    // Beyond the end.
    "program beyond(N: 3..) { shared c: [0..=1; N];
     process P[i in 0..<N] {
       loop { a: atomic { await i == N - 1 && i == 0; c[if i == N - 2 then N else i + 1] = 0; } b: c[(i + 1) % N] = 0; } }
     invariant p: forall i: c[i] == 0; allow deadlock; }",
    // From the other end.
    "program across(N: 3..) { shared c: [0..=1; N];
     process P[i in 0..<N] {
       loop { a: await !false || c[if i == N - 2 then 1 else i + 1] == 1; b: c[(i + 1) % N] = 0; } }
     invariant p: forall i: c[i] == 0; allow deadlock; }",
    // In the property.
    "program told(N: 2..) { shared c: [0..=1; N];
     process P[i in 0..<N] { loop { b: c[(i + 1) % N] = 0; } }
     invariant p: forall i: !(i < 0 && c[if i < N - 1 then 0 else i] == 1); }",
];

/// Programs with something that the checker of proofs for every size does not follow: nothing is claimed of them.
const NOT_FOLLOWED: [&str; 9] = [
    // A number of a range names a process of another family, behind a quantifier.
    "program ranged(N: 2..) {
     process P[i in 0..<N] { public f: bool; public o: pid(Q);
       loop { a: await forall j in P: !P[j].f || (forall m in 0..<5: P[j].o == Q[m] || true); b: f = true; c: f = false; } }
     process Q[k in 0..<3] { loop { skip; } } }",
    // What is assumed of each process is assumed of one that the size names, too, and so belongs to it at no size.
    "program last(N: 2..) { shared a: [0..=2; N]; shared g: 0..=2;
     process P[i in 0..<N] { loop { l0: a[i] = 1; l1: g = 2; } }
     property t: forall v in P: (P[v]@l0 ~> !P[v]@l0) under weak P[N - 1], weak P[*]; }",
    // What all start with depends on how many they are.
    "program asks(N: 2..) { shared g: bool; shared z: 0..=1 = if forall k in P: k < 2 then 0 else 1;
     process P[i in 0..<N] { a: g = true; b: await z > 0; c: z = 0; }
     invariant p: forall i: !P[i]@c; allow deadlock; }",
    // What processes of another family start with depends on which they are.
    "program other(N: 2..) { shared x: bool;
     process P[i in 0..<N] { loop { a: await !x; b: skip; } }
     process Q[j in 0..<2] { public z: bool = j == 0; loop { c: await z; d: skip; } }
     invariant p: forall i in P: !(P[i]@b && x); }",
    // A process that is not there at small sizes starts with no value of its variable.
    "program beyond(N: 2..) { shared a: [bool; N];
     process P[i in 0..<N] { public z: 0..=1 = if i == 4 then 5 else 0;
       loop { a: a[(i + 1) % N] = true; b: await a[i]; c: a[i] = false; } }
     invariant p: forall i in P: P[i].z <= 3; allow deadlock; }",
    // The same of what all share, where numbers are counted.
    "program more(N: 2..) { shared x: 0..=3 = N - 1;
     process P[i in 0..<N] { loop { a: skip; b: skip; } }
     invariant p: x <= 3; }",
    // The least value of a variable is no sum of sizes.
    "program squares(N: 2..=40) { shared x: N*N..=2000;
     process P[i in 0..<N] { a: skip; b: await x != 4; c: skip; }
     invariant p: forall i: !P[i]@c; allow deadlock; }",
    // How many levels a sum has was found out for one size.
    // A process copies a number of another one, of which it knows less by itself than where both are seen.
    "program copies(N: 2..) { shared t: 0..=N; shared x: pid(P);
     process P[i in 0..<N] { public n: 0..=40; local m: 0..=40; k: t += 1; a: n = 7; c: m = P[x].n; }
     process S { s: x = any; }
     allow deadlock; invariant r: t <= N; }",
    "program levels(N: 2..) { shared a: [bool; N]; shared d: bool;
     process P[i in 0..<N] {
       loop { a: a[i] = true; b: atomic { if sum(k in 0..<N: if a[k] then 1 else 0) > 2 { d = true; } } } }
     invariant p: !d; }",
];

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("trust.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn limits() -> CheckLimits {
    CheckLimits {
        time: Some(Duration::from_secs(20)),
        memory_bytes: Some(1 << 30),
        disk: None,
        n_threads: 1,
        cancel: CancelToken::default(),
    }
}

/// The audited verdicts of a method on the properties that the text states.
fn verdicts(model: &Model, method: &str) -> Result<String, String> {
    let limits = limits();
    let written = |&id: &_| !model.properties[id].text.is_empty();
    let questions: Vec<_> = model.properties.ids().filter(written).collect();
    let checker = methods::checker(methods::find(method).unwrap());
    let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
    let checked = check.run(&Silent).map_err(|failure| failure.to_string())?;
    let mark = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => '+',
        Verdict::Violated(_) => '-',
        Verdict::Unknown(_) => '?',
    };
    Ok(checked.results.iter().map(|result| mark(&result.verdict)).collect())
}

#[test]
fn no_method_contradicts_the_whole_product() {
    let mut wrong = Vec::new();
    for (text, expected) in PROGRAMS {
        let model = load(text);
        assert_eq!(verdicts(&model, "mono").as_deref(), Ok(expected), "{text}");
        for method in methods::available() {
            match verdicts(&model, method.name) {
                Ok(found) if found.chars().zip(expected.chars()).all(|(one, truth)| one == '?' || one == truth) => {}
                other => wrong.push(format!("{}: {other:?}, not {expected}: {}", method.name, model.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A state in which a property has no value is no reason to end, for anybody who sees single states.
#[test]
fn states_without_a_value_hide_no_others() {
    let model = load(WITHOUT_VALUE);
    for method in ["auto", "mono", "stubborn", "ls3", "ls3+", "tmmc", "pairwise", "triple", "pushdown"] {
        assert_eq!(verdicts(&model, method).as_deref(), Ok("-+-???"), "{method}");
    }
}

#[test]
fn nothing_is_proved_for_every_size_that_is_false_at_one() {
    let limits = limits();
    for Larger { program: text, property, size } in LARGER {
        let source = SourceFile::new("trust.pw", text);
        let large = lang::load(&source, &[("N".to_owned(), size)]).unwrap().model;
        let id = driver::select::find(&large, property).unwrap();
        let checker = methods::checker(methods::find("mono").unwrap());
        let found =
            Check { model: &large, questions: &[id], checker: &*checker, limits: &limits }.run(&Silent).unwrap();
        assert!(matches!(found.results[0].verdict, Verdict::Violated(_)), "{text}");
        let Loaded::Program(program) = driver::load::instance(&source, &[]) else { panic!("{text}") };
        let id = driver::select::find(&program.model, property).unwrap();
        let driver::every_n::EverySizeAnswers { checked, .. } =
            driver::every_n::check(&program, &[id], &limits, &Silent).unwrap();
        assert!(!matches!(checked.results[0].verdict, Verdict::Holds(_)), "{text}");
    }
}

/// Thirty-four processes that each take their first step violate it: more than views have room for at once.
const MANY_NAMED: &str = "program named(N: 2..) { shared s: [pid?; 36] = none; shared c: 0..=36 = 0;
     process P[i in 0..<N] { a: atomic { await c < 36; s[c] = i; c = c + 1; } b: skip; }
     invariant few: c <= 33; }";

#[test]
fn nothing_is_proved_where_more_processes_are_named_than_views_have_room_for() {
    let limits = CheckLimits {
        time: Some(Duration::from_secs(60)),
        memory_bytes: Some(1 << 30),
        disk: None,
        n_threads: 1,
        cancel: CancelToken::default(),
    };
    let source = SourceFile::new("trust.pw", MANY_NAMED);
    let Loaded::Program(program) = driver::load::instance(&source, &[]) else { panic!("it is a program") };
    let id = driver::select::find(&program.model, "few").unwrap();
    let driver::every_n::EverySizeAnswers { checked, .. } =
        driver::every_n::check(&program, &[id], &limits, &Silent).unwrap();
    assert!(matches!(checked.results[0].verdict, Verdict::Unknown(_)), "{:?}", checked.results[0].verdict);
}

/// Three numbers of 256 values each, of which neither views nor windows see the end in a tenth of a second.
const LONG: &str = "program long(N: 2..) { shared a, b, c: 0..=255; shared busy: bool;
     process P[i in 0..<N] { local t: 0..=255; loop {
       s: atomic { await !busy; busy = true; a = (a + 1) % 256; } u: t = (t + a) % 256; v: b = (b + t) % 256; w: c = (c + b) % 256; x: busy = false; } }
     invariant p: a + b + c <= 765; invariant q: a + b >= 0; }";

#[test]
fn a_time_limit_is_said_as_it_was_given() {
    let limit = Duration::from_millis(100);
    let limits =
        CheckLimits { time: Some(limit), memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
    let source = SourceFile::new("trust.pw", LONG);
    let Loaded::Program(program) = driver::load::instance(&source, &[]) else { panic!("it is a program") };
    let questions: Vec<_> = program.model.properties.ids().collect();
    let driver::every_n::EverySizeAnswers { checked, .. } =
        driver::every_n::check(&program, &questions, &limits, &Silent).unwrap();
    let said = checked.results.iter().filter_map(|result| match &result.verdict {
        Verdict::Unknown(StopReason::TimeLimit(said)) => Some(*said),
        _ => None,
    });
    let said: Vec<Duration> = said.collect();
    assert!(!said.is_empty() && said.iter().all(|said| *said == limit), "{said:?}");
}

#[test]
fn what_is_not_looked_at_or_not_followed_is_no_mistake() {
    let limits = limits();
    for text in NEVER_LOOKED_AT.into_iter().chain(NOT_FOLLOWED) {
        let source = SourceFile::new("trust.pw", text);
        let Loaded::Program(program) = driver::load::instance(&source, &[]) else { panic!("{text}") };
        let questions: Vec<_> = program.model.properties.ids().collect();
        let checked = driver::every_n::check(&program, &questions, &limits, &Silent);
        assert!(checked.is_ok(), "{text}: {}", checked.err().map(|mistake| mistake.to_string()).unwrap_or_default());
    }
}

/// The proof of a property for every size, by views or by windows of neighbours.
fn proof(model: &Model, id: PropertyId) -> Option<Certificate> {
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let views = methods::checker(methods::find("views").unwrap()).check(&task, &Silent).unwrap();
    let rings = ByRings::for_every_size().run(&task, &Silent).unwrap();
    let verdicts = views.into_iter().map(|one| one.verdict).chain(rings.into_iter().map(|one| one.verdict));
    { verdicts }.find_map(|verdict| match verdict {
        Verdict::Holds(Evidence::Certificate(certificate)) => Some(*certificate),
        _ => None,
    })
}

#[test]
fn a_proof_of_one_program_is_none_of_another() {
    for Borrowed { program, property, word, other } in BORROWED {
        assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
        let (model, changed) = (load(program), load(&program.replace(word, other)));
        let id = driver::select::find(&model, property).unwrap();
        let certificate = proof(&model, id).unwrap_or_else(|| panic!("{program}"));
        let id = driver::select::find(&changed, property).unwrap();
        let checked = audit::certificate::check(&changed, &changed.properties[id], &certificate, &Budget::unlimited());
        assert!(checked.is_err(), "{word} is {other}: {checked:?}\n{program}");
    }
}

/// The proof is about three processes and more; with two the property is false.
#[test]
fn a_proof_for_larger_sizes_is_none_for_a_smaller_one() {
    let text = "program small(N: 2..) { shared a: [bool; N];
        process P[i in 0..<N] { l: await i == 0 && i == N - 2; bad: a[(i + 1) % N] = true; }
        invariant p: forall i: !P[i]@bad; allow deadlock; }";
    let accepts = |model: &Model| {
        let id = driver::select::find(model, "p").unwrap();
        let certificate = proof(model, id).unwrap();
        let text = evidence::proof_file::to_text(model, &certificate, "views");
        let file = evidence::proof_file::ProofFile::parse(text.as_bytes()).unwrap();
        driver::proof::check(file, model, &Budget::unlimited()).is_ok()
    };
    let larger = lang::load(&SourceFile::new("trust.pw", text), &[("N".to_owned(), 3)]).unwrap().model;
    assert!(accepts(&larger));
    assert!(!accepts(&load(text)));
}

/// Windows of neighbours prove it from five processes on; that it is false with two contradicts them as little as that it is searched for.
#[test]
fn a_claim_about_larger_sizes_is_not_confronted_with_a_smaller_one() {
    let model = load(
        "program campaign_700001449(N: 2..) { shared m: [lock; N];
         process P[i in 0..<N] { l0: acquire m[(i + N - 1) % N]; l1: release m[(i + 1) % N]; l2: await false; }
         invariant v0: forall i != j: !(P[i]@l2 && P[j]@l2); allow deadlock; }",
    );
    let questions = vec![driver::select::find(&model, "v0").unwrap()];
    let limits = limits();
    for (name, checker) in driver::every_n::provers() {
        let check = Check { model: &model, questions: &questions, checker: &checker, limits: &limits };
        let checked = check.run(&Silent).unwrap_or_else(|mistake| panic!("{name}: {mistake}"));
        let is_proved = matches!(checked.results[0].verdict, Verdict::Holds(_));
        assert_eq!(is_proved, name == "rings --all-n", "{name}");
    }
    assert_eq!(verdicts(&model, "mono").as_deref(), Ok("-"));
}

/// What is evaluated only because of a process that is not seen is a fault.
const FAULTS: [&str; 3] = [
    "program behind(N: 2..) { shared x: 0..=3;
     process P[i in 0..<N] { public f: bool; a: f = true; w: await (forall j: j == i || !P[j].f) || 6 / x > 1; b: skip; } }",
    "program implied(N: 2..) { shared x: 0..=3; shared g: [bool; N];
     process P[i in 0..<N] { a: g[i] = true; w: atomic { await (exists j: j != i && g[j]) => 6 / x > 1; } b: skip; } }",
    "program chosen(N: 2..) { shared o: pid?; shared g: [bool; N];
     process P[i in 0..<N] { public f: bool; a: g[i] = true; w: await if exists j: j != i && g[j] then P[o].f else true; b: skip; } }",
];

#[test]
fn a_process_that_is_not_seen_may_make_a_test_a_fault() {
    for text in FAULTS {
        let model = load(text);
        let questions = [driver::select::find(&model, "no_errors").unwrap()];
        let limits = limits();
        let ask = |checker: &dyn driver::checker::Checker| {
            let check = Check { model: &model, questions: &questions, checker, limits: &limits };
            check.run(&Silent).unwrap_or_else(|mistake| panic!("{mistake}")).results.remove(0).verdict
        };
        assert!(matches!(ask(&*methods::checker(methods::find("mono").unwrap())), Verdict::Violated(_)), "{text}");
        let views = ask(&*methods::checker(methods::find("views").unwrap()));
        assert!(!matches!(views, Verdict::Holds(_)), "{text}");
        for (_, prover) in driver::every_n::provers() {
            assert!(!matches!(ask(&prover), Verdict::Holds(_)), "{text}");
        }
    }
}

/// Which runs are fair cannot be said where an assumption has no value: a proof of one that always has is none of one that has not.
#[test]
fn assumptions_without_a_value_are_refused_by_the_checker() {
    let text = "program assumed(N: 3..) { shared x: 0..=3; shared busy: bool;
         process P[i in 0..<N] { loop { ask: skip; get: atomic { await !busy; busy = true; } put: busy = false; } }
         property t: forall q in P: (P[q]@put ~> P[q]@ask) under weak (x > 1), weak P[*]; }";
    let (model, changed) = (load(text), load(&text.replace("x > 1", "6 / x > 1")));
    let id = driver::select::find(&model, "t").unwrap();
    let provers: [&dyn Engine; 3] = [&Propagate::default(), &Propagate::for_every_size(), &ByRings::of_runs_here()];
    for (number, prover) in provers.into_iter().enumerate() {
        let ask = |model: &Model| {
            let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
            prover.run(&task, &Silent).unwrap().remove(0).verdict
        };
        let Verdict::Holds(Evidence::Certificate(certificate)) = ask(&model) else { panic!("prover {number}") };
        let check =
            |model: &Model| audit::certificate::check(model, &model.properties[id], &certificate, &Budget::unlimited());
        check(&model).unwrap_or_else(|refused| panic!("prover {number}: {refused:?}"));
        assert!(check(&changed).is_err(), "prover {number}: the checker does not see that an assumption has no value");
        assert!(!matches!(ask(&changed), Verdict::Holds(_)), "prover {number}");
    }
}

/// The same for ranks: what one process sees of the others decides where the first program's assumption may hold, and no run that violates the property gets to
/// where the second program's has no value.
#[test]
fn ranks_of_one_assumption_are_none_of_one_without_a_value() {
    let programs = [
        (
            "program hidden { shared g: 0..=1;
             process P[i in 0..<3] { loop { l0: skip; l1: skip; } }
             property t: P[0]@l0 ~> P[0]@l1 under weak P[*], weak (P[1]@l0 || P[2]@l0 || g == 1); }",
            ("g == 1", "1 / g == 1"),
        ),
        (
            "program after_property { shared g: 0..=1; shared h: 0..=1;
             process P[i in 0..<3] { l0: g = 1; l1: h = 1; l2: skip; }
             property t: eventually (g == 1 && h < 2) under weak P[*]; }",
            ("h < 2", "2 / (1 - h) > 0"),
        ),
        (
            "program after_assumption { shared g: 0..=1; shared h: 0..=1;
             process P[i in 0..<3] { l0: g = 1; l1: h = 1; l2: skip; }
             property t: eventually g == 1 under weak P[*], weak (g == 0 || h < 2); }",
            ("h < 2", "2 / (1 - h) > 0"),
        ),
    ];
    for (text, (word, other)) in programs {
        let (model, changed) = (load(text), load(&text.replace(word, other)));
        let id = driver::select::find(&model, "t").unwrap();
        for rule in [LivenessRule::FllA, LivenessRule::FllB] {
            let ask = |model: &Model| {
                let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
                ExplicitFll::new(rule).run(&task, &Silent).unwrap().remove(0).verdict
            };
            let Verdict::Holds(Evidence::Certificate(certificate)) = ask(&model) else { panic!("{rule:?}: {text}") };
            let check = |model: &Model| {
                audit::certificate::check(model, &model.properties[id], &certificate, &Budget::unlimited())
            };
            check(&model).unwrap_or_else(|refused| panic!("{rule:?}: {refused:?}"));
            assert!(check(&changed).is_err(), "{rule:?}: the checker does not see that something has no value: {text}");
            assert!(!matches!(ask(&changed), Verdict::Holds(_)), "{rule:?}: {text}");
        }
    }
}

/// The same where an alternative is the image of another one with fewer assumptions: what it assumes beside has to have a value, too.
#[test]
fn what_an_image_assumes_beside_has_a_value() {
    let text = "program others { shared g: 0..=1;
         process P[i in 0..<3] { loop { l0: skip; l1: await g == 0; } }
         property t: forall j in P: (P[j]@l1 ~> P[j]@l0) under (weak P[*] or weak (g < 2)), weak P[*]; }";
    let (model, changed) = (load(text), load(&text.replace("g < 2", "1 / g == 1")));
    let id = driver::select::find(&model, "t").unwrap();
    let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let verdict = Propagate::default().run(&task, &Silent).unwrap().remove(0).verdict;
    let Verdict::Holds(Evidence::Certificate(certificate)) = verdict else { panic!("{verdict:?}") };
    let check =
        |model: &Model| audit::certificate::check(model, &model.properties[id], &certificate, &Budget::unlimited());
    check(&model).unwrap_or_else(|refused| panic!("{refused:?}"));
    let refused = check(&changed).expect_err("an assumption of the image has no value").to_string();
    assert!(refused.contains("may have no value"), "{refused}");
}
