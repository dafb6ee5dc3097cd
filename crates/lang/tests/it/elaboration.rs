//! Structs, sets, channels and short forms mean what the programs mean that say the same without them.

use crate::product::{facts, facts_with, same};

/// Both programs have the same whole product and the same true properties.
fn check(short: &str, long: &str) {
    assert_eq!(facts(short), facts(long), "\n{short}\n{long}");
}

#[test]
fn a_struct_is_its_fields() {
    check(
        "program p { enum K { a, b } struct M { k: K, n: 0..=2 } shared m: M = M(b, 1); shared q: [M; 2];
         process P { m = M(a, m.n + 1); q[1] = m; q[0].n = q[1].n; if m == q[1] { m.n = 0; } }
         invariant i: q[0].n <= m.n || m != M(a, 0); reachable r: q[0].n == 2 && q[1] == M(a, 2); }",
        "program p { enum K { a, b } shared mk: K = b; shared mn: 0..=2 = 1; shared qk: [K; 2]; shared qn: [0..=2; 2];
         process P { mk, mn = a, mn + 1; qk[1], qn[1] = mk, mn; qn[0] = qn[1]; if mk == qk[1] && mn == qn[1] { mn = 0; } }
         invariant i: qn[0] <= mn || !(mk == a && mn == 0); reachable r: qn[0] == 2 && qk[1] == a && qn[1] == 2; }",
    );
}

#[test]
fn structs_nest_and_belong_to_processes() {
    check(
        "program p(N: 2..) { struct A { x: 0..=1, y: bool } struct B { a: A, on: [bool; 2] } type Pair = [B; 2];
         process P[i in 0..<N] { public b: Pair; local t: A; b[0].a.x = i; t = b[0].a; b[1].a = t; b[1].on[i] = true; }
         invariant i: forall i: P[i].b[1].a.x <= i && (P[i].b[1].on[0] => i == 0); }",
        "program p(N: 2..) {
         process P[i in 0..<N] { public x: [0..=1; 2]; public y: [bool; 2]; public on: [[bool; 2]; 2];
           local tx: 0..=1; local ty: bool;
           x[0] = i; tx, ty = x[0], y[0]; x[1], y[1] = tx, ty; on[1][i] = true; }
         invariant i: forall i: P[i].x[1] <= i && (P[i].on[1][0] => i == 0); }",
    );
}

#[test]
fn a_set_is_an_array_of_truth_values() {
    check(
        "program p(N: 2..) { shared s: set of pid; shared t: set of 0..=2;
         process P[i in 0..<N] { insert s(i); await size(s) == N; t = {0, 2}; remove t(0); remove s(i); }
         invariant a: forall k in s: !P[k]@end; invariant b: empty(s) => exists k in t: k == 2; reachable c: empty(s) && size(t) == 1; }",
        "program p(N: 2..) { shared s: [bool; N]; shared t: [bool; 3];
         process P[i in 0..<N] { s[i] = true; await count(k: s[k]) == N; atomic { t[0], t[1], t[2] = true, false, true; } t[0] = false; s[i] = false; }
         invariant a: forall k: s[k] => !P[k]@end; invariant b: (forall k: !s[k]) => t[2]; reachable c: (forall k: !s[k]) && count(k in 0..<3: t[k]) == 1; }",
    );
}

#[test]
fn sets_start_with_elements() {
    check(
        "program p(N: 2..) { shared s: set of 0..<N = {0, 1}; shared t: [set of pid; 2] = {1}; shared u: [set of 0..<2; 2] = {};
         process P[i in 0..<N] { public own: set of pid = {i}; remove s(i); insert t[0](i); insert u[1](i); }
         invariant a: (0 in s || P[0]@end) && forall i: P[i].own == {i} && (P[i].own != s || size(s) == 1);
         invariant b: t[1] == {1} && u[0] == {} && 1 in t[0] && 1 in t[1] && !(0 in t[1]) && empty(u[0]); reachable c: empty(s) && size(t[0]) == 2; }",
        "program p(N: 2..) { shared s: [bool; N] = [k: k == 0 || k == 1]; shared t: [[bool; N]; 2] = [j: [k: k == 1]]; shared u: [[bool; 2]; 2];
         process P[i in 0..<N] { public own: [bool; N] = [k: k == i]; s[i] = false; t[0][i] = true; u[1][i] = true; }
         invariant a: (s[0] || P[0]@end) && forall i: P[i].own[i] && count(k: P[i].own[k]) == 1;
         invariant b: t[0][1] && t[1][1] && !t[1][0] && !u[0][0] && !u[0][1]; reachable c: !s[0] && !s[1] && count(k: t[0][k]) == 2; }",
    );
}

#[test]
fn structs_are_made_by_names_and_passed_to_procedures() {
    check(
        "program p { enum K { a, b } struct M { k: K, n: 0..=2 } shared m: M = M(n: 1, k: b); shared last: K;
         proc f(x: M, more: 0..=1) { local y: M; y = x; y.n = x.n + more; m = y; last = x.k; }
         process P { call f(M(n: 0, k: a), 1); call f(m, 1); }
         reachable r: m == M(k: a, n: 2) && last == a; invariant i: m != M(k: b, n: 2); }",
        "program p { enum K { a, b } shared mk: K = b; shared mn: 0..=2 = 1; shared last: K;
         proc f(xk: K, xn: 0..=2, more: 0..=1) { local yk: K; local yn: 0..=2; yk, yn = xk, xn; yn = xn + more; mk, mn = yk, yn; last = xk; }
         process P { call f(a, 0, 1); call f(mk, mn, 1); }
         reachable r: mk == a && mn == 2 && last == a; invariant i: !(mk == b && mn == 2); }",
    );
}

#[test]
fn sums_and_extremes_are_those_of_the_values() {
    // Bounds that are negative, a filter by a process, a set, values of others, an empty range.
    check(
        "program p(N: 2..) { shared x: [-2..=2; 3] = [1, -2, 0]; shared s: set of 0..<3 = {1, 2};
         process P[i in 0..<N] { public y: 0..=2 = i; x[i] = sum(k in 0..<3: x[k]) + max(k in 0..<3: x[k]); y = min(k in 0..<3: x[k] + 2); }
         invariant a: sum(k in 0..<3: x[k] * x[k]) <= 12; reachable b: max(i: P[i].y) == 1; invariant c: sum(k in s: k + x[k]) >= -1;
         reachable d: sum(i: P[i].y) == 3; invariant e: sum(k in 0..<0: x[k]) == 0 && max(k in 0..<0: x[k]) == -2 && min(k in 0..<0: x[k]) == 2; }",
        "program p(N: 2..) { shared x: [-2..=2; 3] = [1, -2, 0]; shared s: [bool; 3] = [false, true, true];
         process P[i in 0..<N] { public y: 0..=2 = i; x[i] = x[0] + x[1] + x[2] + max(x[0], x[1], x[2]); y = min(x[0] + 2, x[1] + 2, x[2] + 2); }
         invariant a: x[0] * x[0] + x[1] * x[1] + x[2] * x[2] <= 12; reachable b: max(P[0].y, P[1].y) == 1;
         invariant c: (if s[0] then x[0] else 0) + (if s[1] then 1 + x[1] else 0) + (if s[2] then 2 + x[2] else 0) >= -1;
         reachable d: P[0].y + P[1].y == 3; invariant e: true; }",
    );
}

#[test]
fn places_without_labels_are_named_by_their_lines() {
    check(
        "program p { shared x: bool; process P[i in 0..<2] {
           x = true;
           x = false; skip;
         } invariant a: forall i: !P[i]@2 || P[i]@{2:12, 3:12}; reachable b: P[0]@3:12 && P[1]@3:23; }",
        "program p { shared x: bool; process P[i in 0..<2] {
           a: x = true;
           b: x = false; c: skip;
         } invariant a: forall i: !P[i]@a || P[i]@{a, b}; reachable b: P[0]@b && P[1]@c; }",
    );
}

#[test]
fn a_channel_is_a_queue() {
    check(
        "program p { chan c: [2] of (0..=2); shared sum: 0..=6;
         process A { for k in 0..<3 { send c(k); } } process B { local x: 0..=2; for k in 0..<3 { receive c(x); sum += x; } }
         invariant i: len(c) <= 2; reachable f: full(c); reachable e: sum == 3 && empty(c); }",
        "program p { shared n: 0..=2; shared a, b: 0..=2; shared sum: 0..=6;
         process A { for k in 0..<3 { atomic { await n < 2; if n == 0 { a = k; } else { b = k; } n = n + 1; } } }
         process B { local x: 0..=2; for k in 0..<3 { atomic { await n > 0; x = a; a = b; b = 0; n = n - 1; } sum = sum + x; } }
         invariant i: n <= 2; reachable f: n == 2; reachable e: sum == 3 && n == 0; }",
    );
}

#[test]
fn a_receiver_may_take_certain_messages_only_and_look_without_taking() {
    // The first message is (1, true): nobody takes it by 0, and looking changes nothing.
    let program = |pattern: &str| {
        format!(
            "program p {{ chan c: [1] of (0..=1, bool); shared got: bool; allow deadlock;
             process A {{ send c(1, true); }} process B {{ {pattern} }}
             reachable done: B@end; reachable left: B@end && len(c) == 1; reachable true_: got; }}"
        )
    };
    let named = |pattern: &str| facts(&program(pattern)).split(": ").nth(1).unwrap_or_default().to_string();
    assert_eq!(named("receive c(= 0, got);"), "");
    assert_eq!(named("receive c(= 1, got);"), "done true_");
    assert_eq!(named("receive c(_, = true);"), "done");
    assert_eq!(named("peek c(= 1, got);"), "done left true_");
}

#[test]
fn lossy_channels_lose_and_unordered_ones_overtake() {
    let named = |kind: &str| {
        let program = format!(
            "program p {{ chan c: {kind} [2] of (0..=3); shared over: bool; shared first: 0..=3; allow deadlock;
             process A {{ send c(1); send c(2); over = true; }} process B {{ await over; receive c(first); }}
             reachable one: first == 1; reachable two: first == 2; reachable lost: over && empty(c) && !B@end; }}"
        );
        facts(&program).split(": ").nth(1).unwrap_or_default().to_string()
    };
    assert_eq!(named(""), "one");
    assert_eq!(named("lossy"), "one two lost");
    assert_eq!(named("unordered"), "one two");
}

#[test]
fn a_rendezvous_is_one_step_of_two_processes() {
    let program = "program p { chan c[2]: [0] of (0..=3, bool); shared x, y: 0..=3; allow deadlock;
         process A { send c[1](3, true); } process B { receive c[1](x, = true); } process C { receive c[0](y, _); }
         invariant together: A@end <=> B@end; reachable three: x == 3; invariant never: !C@end; }";
    assert_eq!(facts(program), "2 states, 1 transitions, 1 deadlocks: together three never");
}

#[test]
fn compare_and_swap_is_one_step() {
    same(
        "program p { shared x: 0..=2; shared n: 0..=2; process P[i in 0..<2] { if cas(x, 0, 1) { n += 1; } else { n += 0; } } }",
        "program p { shared x: 0..=2; shared n: 0..=2; process P[i in 0..<2] {
           either { atomic { await x == 0; x = 1; } n = n + 1; } or { await x != 0; n = n + 0; } } }",
    );
    same(
        "program p { shared x: 0..=2; process P { local b: bool; while cas(x, 0, 1) { x = 0; } b = cas(x, 1, 2); } }",
        "program p { shared x: 0..=2; process P { local b: bool;
           loop { either { atomic { await x == 0; x = 1; } x = 0; } or { await x != 0; break; } }
           atomic { if x == 1 { x = 2; b = true; } else { b = false; } } } }",
    );
}

#[test]
fn compare_and_swap_is_negated_awaited_and_stands_alone() {
    same(
        "program p { shared x: 0..=2; shared n: 0..=2; process P[i in 0..<2] { if !cas(x, 0, 1) { n += 1; } else { n += 0; } } }",
        "program p { shared x: 0..=2; shared n: 0..=2; process P[i in 0..<2] { if cas(x, 0, 1) { n += 0; } else { n += 1; } } }",
    );
    same(
        "program p { shared x: 0..=1; process P[i in 0..<2] { loop { while !cas(x, 0, 1) { skip; } crit: skip; x = 0; } }
         invariant mutex: !(P[0]@crit && P[1]@crit); }",
        "program p { shared x: 0..=1; process P[i in 0..<2] { loop {
           loop { either { atomic { await x == 0; x = 1; } break; } or { await x != 0; skip; } } crit: skip; x = 0; } }
         invariant mutex: !(P[0]@crit && P[1]@crit); }",
    );
    same(
        "program p { shared x: 0..=2; process P[i in 0..<2] { await cas(x, 0, 1); cas(x, 1, 2); x = 0; } }",
        "program p { shared x: 0..=2; process P[i in 0..<2] { atomic { await x == 0; x = 1; }
           either { atomic { await x == 1; x = 2; } } or { await x != 1; } x = 0; } }",
    );
    same(
        "program p { shared x: 0..=2; shared n: 0..=2; process P[i in 0..<2] { atomic { if !cas(x, 0, 1) { n += 1; } cas(x, 1, 2); } } }",
        "program p { shared x: 0..=2; shared n: 0..=2; process P[i in 0..<2] {
           atomic { if x == 0 { x = 1; } else { n += 1; } if x == 1 { x = 2; } } } }",
    );
    // What `let` names is the value before the `cas`.
    same(
        "program p { shared x: 0..=2; shared y: 0..=2; process P { atomic { let old = x; if !cas(x, 0, 1) { skip; } y = old; } } }",
        "program p { shared x: 0..=2; shared y: 0..=2; process P { atomic { y = x; if x == 0 { x = 1; } } } }",
    );
}

#[test]
fn else_is_taken_where_nothing_can_be_chosen() {
    same(
        "program p { shared s: set of 0..<3 = {1}; shared n: 0..=2;
         process P { either { some k in s where k > 0 { remove s(k); } n = 1; } else { n = 2; } } process Q { insert s(2); remove s(1); } }",
        "program p { shared s: [bool; 3] = [false, true, false]; shared n: 0..=2;
         process P { either { either { atomic { await s[1]; s[1] = false; } } or { atomic { await s[2]; s[2] = false; } } n = 1; }
           or { await !s[1] && !s[2]; n = 2; } } process Q { s[2] = true; s[1] = false; } }",
    );
    same(
        "program p(N: 2..) { shared a: [bool; N]; process P[i in 0..<N] { either { some k in P where k != i && !a[k] { a[k] = true; } } else { a[i] = false; } } }",
        "program p(N: 2..) { shared a: [bool; N]; process P[i in 0..<N] { either { atomic { await !a[1 - i]; a[1 - i] = true; } } or { await a[1 - i]; a[i] = false; } } }",
    );
}

#[test]
fn else_is_taken_where_nothing_else_can_begin() {
    same(
        "program p { shared x: 0..=2; shared m: sem; chan c: [1] of (bool);
         process P { either { await x == 1; } or { acquire m; } or { receive c(_); } else { x = 2; } } process Q { x = 1; send c(true); release m; } allow deadlock; }",
        "program p { shared x: 0..=2; shared m: sem; shared n: 0..=1; shared b: bool;
         process P { either { await x == 1; } or { acquire m; } or { atomic { await n > 0; b = false; n = 0; } } or { await !(x == 1 || m > 0 || n > 0); x = 2; } }
         process Q { x = 1; atomic { await n == 0; b = true; n = 1; } release m; } allow deadlock; }",
    );
}

#[test]
fn some_chooses_in_one_step_and_leaves_no_trace() {
    same(
        "program p(N: 3..) { shared a: [bool; N]; process P[i in 0..<N] { some k in P where k != i && !a[k] { a[k] = true; } } allow deadlock; }",
        "program p(N: 3..) { shared a: [bool; N]; process P[i in 0..<N] {
           either { atomic { await i != 0 && !a[0]; a[0] = true; } } or { atomic { await i != 1 && !a[1]; a[1] = true; } } or { atomic { await i != 2 && !a[2]; a[2] = true; } }
         } allow deadlock; }",
    );
    same(
        "program p { shared s: 0..=3; process P { some k in 1..=3 where k != 2 { s = k; } } }",
        "program p { shared s: 0..=3; process P { either { s = 1; } or { s = 3; } } }",
    );
}

#[test]
fn a_step_may_be_left_at_several_places() {
    same(
        "program p { shared n: 0..=2 = 2; shared s: bool; process P[i in 0..<2] { loop {
           atomic { n -= 1; if n == 0 { n = 2; s = !s; goto done; } } await s; done: skip; } } }",
        "program p { shared n: 0..=2 = 2; shared s: bool; process P[i in 0..<2] { loop {
           either { atomic { n = n - 1; await n == 0; n = 2; s = !s; } goto done; }
           or { atomic { n = n - 1; await n != 0; } } await s; done: skip; } } }",
    );
    same(
        "program p { shared x, y: 0..=3; process P { loop {
           atomic { x = any; if x == 0 { y = 1; break; } else if x == 1 { y = 2; continue; } either { y = 3; break; } or { y = 0; } x = 0; } x = 3; } y = 0; } }",
        "program p { shared x, y: 0..=3; process P { loop { either { atomic { x = 0; y = 1; } break; } or { atomic { x = 1; y = 2; } }
           or { atomic { x = any 2..=3; y = 3; } break; } or { atomic { x = 0; y = 0; } x = 3; } } y = 0; } }",
    );
    same(
        "program p { shared a: [bool; 3]; process P { loop { some k in 0..<3 where !a[k] { a[k] = true; if k == 1 { break; } } } a[0] = false; } allow deadlock; }",
        "program p { shared a: [bool; 3]; process P { loop { either { atomic { await !a[1]; a[1] = true; } break; }
           or { atomic { await !a[0]; a[0] = true; } } or { atomic { await !a[2]; a[2] = true; } } } a[0] = false; } allow deadlock; }",
    );
    assert_eq!(facts("program p { process P { loop { atomic { for k in 0..<2 { break; } } } } }"), "E0307");
}

#[test]
fn initial_states_may_be_constrained() {
    let text = "program p(N: 2..) { shared x: [0..<N; N] = any; initially forall i != j: x[i] != x[j]; process P[i in 0..<N] { skip; } \
                invariant apart: forall i != j: x[i] != x[j]; }";
    assert_eq!(facts(text), "8 states, 8 transitions: apart");
    assert_eq!(facts_with(text, &[("N", 3)]), "48 states, 72 transitions: apart");
    for (text, code) in [
        ("shared x: 0..=2; initially x > 0; process P { skip; }", "E0219"),
        ("shared x: 0..=2 = any; initially eventually x > 0; process P { skip; }", "E0219"),
        ("shared x: [bool; 40] = any; initially x[0]; process P { skip; }", "E0219"),
        ("shared x: 0..=2 = any; initially 2 / x > 0; process P { skip; }", "E0219"),
    ] {
        assert_eq!(facts(&format!("program p {{ {text} }}")), code, "{text}");
    }
}

#[test]
fn let_names_a_value_within_a_step() {
    same(
        "program p { shared x, y: 0..=4 = 1; process P { atomic { let z = x + 1; y = z + z; } } }",
        "program p { shared x, y: 0..=4 = 1; process P { y = x + 1 + (x + 1); } }",
    );
    assert_eq!(facts("program p { shared x: 0..=9; process P { let y = x; x = y; } }"), "E0316 E0202");
}

#[test]
fn places_to_end_at_and_defaults() {
    let program = "program p(N: 1.. = 2) { process P[i in 0..<N] { end wait: await false; } }";
    assert_eq!(facts(program), "1 states, 0 transitions");
    assert_eq!(facts(&program.replace("end wait", "wait")), "1 states, 0 transitions, 1 deadlocks");
    let sized = "program p(N: 1.. = 3) { process P[i in 0..<N] { skip; } }";
    assert_eq!(facts(sized), "8 states, 12 transitions");
    assert_eq!(facts_with(sized, &[("N", 1)]), "2 states, 1 transitions");
    assert_eq!(facts("program p(N: 2.. = 1) { process P[i in 0..<N] { skip; } }"), "E0501");
}

#[test]
fn arrays_by_their_indices() {
    same(
        "program p { shared a: [0..=9; 4] = [k: 2 * k + 1]; process P { await a[3] == 7; a[0] = 0; } allow deadlock; }",
        "program p { shared a: [0..=9; 4] = [1, 3, 5, 7]; process P { await a[3] == 7; a[0] = 0; } allow deadlock; }",
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    for (text, codes) in [
        ("struct S { s: S } shared x: S; process P { skip; }", "E0311 E0221"),
        ("struct S { a: bool } shared x: S; process P { await x; }", "E0311"),
        ("struct S { a: bool } shared x: S; process P { x.b = true; }", "E0209"),
        ("shared s: set of bool; process P { skip; }", "E0312"),
        ("shared x: bool; process P { await x in x; }", "E0312"),
        ("enum C { a, b } shared s: set of C; shared u: set of 0..<2; process P { s = u; }", "E0312"),
        ("enum C { a, b } shared s: set of C; shared u: set of 0..<2; process P { await s == u; }", "E0312"),
        ("chan c: [1] of ([bool; 2]); process P { skip; }", "E0314"),
        ("process P { send c(1); }", "E0313"),
        ("chan c: [0] of (bool); process P { atomic { send c(true); } }", "E0307"),
        ("chan c: [0] of (bool); shared x: 0..=3; process P { receive c(x); }", "E0203"),
        ("chan c: [0] of (bool); shared x: bool; process P { x = c; }", "E0207"),
    ] {
        assert_eq!(facts(&format!("program p {{ {text} }}")), codes, "{text}");
    }
}

#[test]
fn what_refers_to_itself_or_nests_deeply_is_answered() {
    let nested = format!("{}0{}", "a[".repeat(150), "]".repeat(150));
    assert_eq!(
        facts(&format!(
            "program p {{ struct S {{ x: 0..=1 }} shared a: [0..=1; 2]; process P {{ await {nested} == 0; }} }}"
        )),
        "2 states, 1 transitions"
    );
    let fields = format!("{}0{}", "a[".repeat(150), "].x".repeat(150));
    assert_eq!(
        facts(&format!(
            "program p {{ struct S {{ x: 0..=1 }} shared a: [S; 2]; process P {{ await {fields} == 0; }} }}"
        )),
        "2 states, 1 transitions"
    );
    for text in [
        "shared x: S; struct S { a: S, b: S }",
        "shared x: S; struct S { a: T, b: T } struct T { a: [S; 2], b: S }",
        "type A = A; shared x: A;",
        "type A = [A; 2]; shared x: A;",
        "struct S { a: [bool; x == x] } shared x: S;",
        "struct S { a: set of 0..<(x == x) } shared x: S;",
        "process Q { sned; }",
        "process Q { sedn (1); somme; inserrt [; }",
        "typ; typee = 3;",
    ] {
        assert!(facts(&format!("program p {{ {text} process P {{ skip; }} }}")).starts_with('E'), "{text}");
    }
}

#[test]
fn patterns_look_into_structs() {
    check(
        "program p { enum K { a, b } struct M { k: K, n: 0..=2 } chan c: [2] of (M); chan d: [0] of (M, bool); shared x: 0..=2; shared y: K;
         process S { send c(M(b, 2)); send c(M(a, 1)); send d(M(a, 1), true); send d(M(n: 0, k: b), false); }
         process R { receive c(M(= b, x)); peek c(M(n: x, k: _)); receive c(M(k: y, n: = x)); receive d(M(= a, x), _); receive d(M(y, _), = false); } }",
        "program p { enum K { a, b } chan c: [2] of (K, 0..=2); chan d: [0] of (K, 0..=2, bool); shared x: 0..=2; shared y: K;
         process S { send c(b, 2); send c(a, 1); send d(a, 1, true); send d(b, 0, false); }
         process R { receive c(= b, x); peek c(_, x); receive c(y, = x); receive d(= a, x, _); receive d(y, _, = false); } }",
    );
}

#[test]
fn a_struct_is_compared_and_swapped_as_a_whole() {
    check(
        "program p(N: 2..) { struct Top { node: 0..=2, tag: 0..<2 } shared top: Top = Top(0, 0); shared won: [bool; N];
         process P[i in 0..<N] { local t: Top; t = top; won[i] = cas(top, t, Top(tag: 1 - t.tag, node: i)); t = top;
           if cas(top, t, Top(2, 0)) { won[i] = false; } while cas(top, Top(2, 0), t) { t = Top(0, 1); } }
         reachable r: forall i: won[i]; }",
        "program p(N: 2..) { shared node: 0..=2; shared tag: 0..<2; shared won: [bool; N];
         process P[i in 0..<N] { local n: 0..=2; local t: 0..<2; n, t = node, tag;
           atomic { if node == n && tag == t { node, tag = i, 1 - t; won[i] = true; } else { won[i] = false; } }
           n, t = node, tag;
           either { atomic { await node == n && tag == t; node, tag = 2, 0; } won[i] = false; } or { await !(node == n && tag == t); }
           loop { either { atomic { await node == 2 && tag == 0; node, tag = n, t; } n, t = 0, 1; } or { await !(node == 2 && tag == 0); break; } } }
         reachable r: forall i: won[i]; }",
    );
}

#[test]
fn a_let_is_the_value_that_it_was() {
    // What `cas` and the fields of a received struct change is changed as well as what an assignment changes.
    check(
        "program p { struct M { k: bool, n: 0..=3 } chan c: [1] of (M); shared x: 0..=3; shared n: 0..=3 = 1; shared y: 0..=3; shared k, d: bool;
         process P { send c(M(true, 2));
           a: atomic { let old = n; receive c(M(k, n)); y = old; }
           b: atomic { let old = x; if cas(x, 0, 1) { y = old; } else { goto e; } assert old == 0; }
           e: atomic { let old = x; d = cas(x, 1, 3); let now = x; if old == 3 { goto f; } y = now; x = old; if y == old { goto e; } }
           f: skip; }
         invariant i: P@b => y == 1; invariant j: P@f => x == 1 && y == 3; }",
        "program p { chan c: [1] of (bool, 0..=3); shared x: 0..=3; shared n: 0..=3 = 1; shared y: 0..=3; shared k, d: bool;
         process P { send c(true, 2);
           a: atomic { y = n; receive c(k, n); }
           b: atomic { if x == 0 { x = 1; y = 0; } else { goto e; } }
           e: atomic { if x == 3 { d = false; goto f; } if x == 1 { d = true; y = 3; x = 1; } else { d = false; y = x; goto e; } }
           f: skip; }
         invariant i: P@b => y == 1; invariant j: P@f => x == 1 && y == 3; }",
    );
}

#[test]
fn a_let_remembers_what_a_test_said() {
    check(
        "program p(N: 2..) { shared s: set of pid; chan c: [2] of (bool); shared x: 0..=2; shared first: pid?;
         process P[i in 0..<N] {
           a: atomic { let none_yet = empty(s); let inside = i in s; insert s(i); if none_yet && !inside { first = i; goto e; } }
           b: atomic { let low = x < 2; let room = !full(c); x += 1; send c(low); if !room || !low { goto e; } x = 0; }
           e: skip; }
         reachable r: forall i: P[i]@end; invariant one: count(i: i in s) > 0 => first != none; }",
        "program p(N: 2..) { shared s: set of pid; chan c: [2] of (bool); shared x: 0..=2; shared first: pid?;
         process P[i in 0..<N] {
           a: atomic { if empty(s) && !(i in s) { insert s(i); first = i; goto e; } insert s(i); }
           b: atomic { if x < 2 { x += 1; send c(true); } else { x += 1; send c(false); goto e; } x = 0; }
           e: skip; }
         reachable r: forall i: P[i]@end; invariant one: count(i: i in s) > 0 => first != none; }",
    );
}

#[test]
fn a_loop_goes_through_a_family_or_a_set() {
    check(
        "program p(N: 2..) { enum K { a, b, c } shared s: set of 0..<3 = {0, 2}; shared n: 0..=9; shared f: [bool; N]; shared k: K;
         process P[i in 0..<N] { for k in P { f[k] = true; } atomic { for k in s { n += k; } }
           if i == 0 { for k in s { remove s(k); } some j in K where j != b { k = j; } } }
         reachable r: forall i: P[i]@end; }",
        "program p(N: 2..) { enum K { a, b, c } shared s: [bool; 3] = [true, false, true]; shared n: 0..=9; shared f: [bool; N]; shared k: K;
         process P[i in 0..<N] { for k in 0..<N { f[k] = true; } atomic { for k in 0..<3 { if s[k] { n += k; } } }
           if i == 0 { for k in 0..<3 { if s[k] { s[k] = false; } } either { k = a; } or { k = c; } } }
         reachable r: forall i: P[i]@end; }",
    );
}

#[test]
fn a_set_of_an_enumeration_is_an_array_by_its_values() {
    check(
        "program p { enum C { a, b, c } shared s: set of C = {a, c}; shared t: set of C; shared x: C;
         process P { x = any; insert t(x); remove s(C.c); if x in s && !(b in t) { s = t; }
           for k in t { if k == c { x = a; } } for k in C { if k == b { x = k; } } atomic { for k in s { x = k; } } }
         process Q { some k in s where k != x { insert t(k); } }
         invariant i: forall k in s: k != c || size(t) <= 1; reachable r: t == {b, c}; reachable q: s == t; invariant e: !empty(t) || x == a; }",
        "program p { enum C { a, b, c } shared s: [bool; 3] = [true, false, true]; shared t: [bool; 3]; shared x: C;
         define at(v) = if v == a then 0 else if v == b then 1 else 2;
         process P { x = any; t[at(x)] = true; s[2] = false; if s[at(x)] && !t[1] { s[0], s[1], s[2] = t[0], t[1], t[2]; }
           for k in 0..<3 { if t[k] { if k == 2 { x = a; } } } for k in 0..<3 { if k == 1 { x = b; } }
           atomic { for k in 0..<3 { if s[k] { x = if k == 0 then a else if k == 1 then b else c; } } } }
         process Q { either { atomic { await s[0] && x != a; t[0] = true; } } or { atomic { await s[1] && x != b; t[1] = true; } }
           or { atomic { await s[2] && x != c; t[2] = true; } } }
         invariant i: !s[2] || count(k in 0..<3: t[k]) <= 1; reachable r: !t[0] && t[1] && t[2];
         reachable q: forall k in 0..<3: s[k] == t[k]; invariant e: t[0] || t[1] || t[2] || x == a; }",
    );
}

#[test]
fn the_name_of_a_type_is_what_it_ranges_over() {
    check(
        "program p(N: 2..) { type Level = 0..=2; type Who = pid; enum K { a, b } type Kind = K; shared x: [bool; 3]; shared w: pid?; shared k: K;
         process P[i in 0..<N] { some l in Level where !x[l] { x[l] = true; } for l in Level { x[l] = false; } some v in Who where v != i { w = v; }
           some j in Kind { k = j; } }
         invariant a: (exists l in Level: x[l]) => exists v in Who: !P[v]@end; }",
        "program p(N: 2..) { enum K { a, b } shared x: [bool; 3]; shared w: pid?; shared k: K;
         process P[i in 0..<N] { some l in 0..=2 where !x[l] { x[l] = true; } for l in 0..=2 { x[l] = false; } some v in P where v != i { w = v; }
           some j in K { k = j; } }
         invariant a: (exists l in 0..=2: x[l]) => exists v in P: !P[v]@end; }",
    );
}
