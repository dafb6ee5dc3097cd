//! What programs mean: small programs, and what brute force finds out about them.
//!
//! Each case is a program and one line: how many states, transitions, deadlocks and faulty steps its whole product has, then the
//! invariants and goals that are true. Numbers are worked out by hand, or by a twin of the program that says the same in simpler statements.

use crate::product::{facts, facts_with, same};

#[test]
fn the_papers_mutual_exclusion() {
    let mux_sem = "program mux_sem(N: 2..) {
        shared x: sem = 1;
        process P[i in 0..<N] { loop { noncrit: skip; trying: acquire x; crit: skip; leave: release x; } }
        invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
        reachable contend: exists i != j: P[i]@trying && P[j]@crit;
        reachable both: exists i != j: P[i]@crit && P[j]@{crit, leave};
    }";
    // Nobody inside: 2^N; one inside, at one of two places, the others outside: N * 2 * 2^(N-1).
    assert_eq!(facts(mux_sem), "12 states, 20 transitions: mutex contend");
    assert_eq!(facts_with(mux_sem, &[("N", 3)]), "32 states, 72 transitions: mutex contend");
    assert_eq!(facts_with(mux_sem, &[("N", 1)]), "E0501");
}

#[test]
fn labels_name_the_place_before_their_statement() {
    let program = "program p {
        shared x: bool;
        process P { outer: loop { a: b: x = true; either { c: x = false; } or { d: skip; } } }
        process Q { each: for k in 0..<2 { inner: skip; } choice: either { left: skip; } or { skip; } }
        invariant same: P@a <=> P@b;
        invariant outermost: P@outer <=> P@a;
        invariant branch: P@c <=> P@d;
        invariant choice: Q@choice <=> Q@left;
        invariant copies: Q@each <=> Q@inner;
        reachable second: Q@inner && P@c;
        reachable over: !Q@{each, inner, choice, left};
    }";
    // P: before `a`, then before the choice, with x true; back with x true or false. Q: two rounds, the choice, the end.
    assert_eq!(facts(program), "12 states, 28 transitions: same outermost branch choice copies second over");
}

#[test]
fn only_the_branch_that_has_a_label_carries_it() {
    let program = "program p {
        shared x: 0..=2;
        process P { wait: either { one: x = 1; } or { two: x = 2; } or { await x == 2; } }
        process Q { skip; }
    }";
    let model = crate::product::model(program);
    let labels: Vec<String> = model.actions.iter().map(|action| action.labels.join(" ")).collect();
    assert_eq!(labels, ["wait one", "wait two", "wait", ""]);
    assert_eq!(
        model.places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(),
        ["wait", "3:90", "4:21", "4:27"]
    );
    assert_eq!(model.places.iter().next().map(|place| place.labels.join(" ")), Some("wait one two".to_string()));
}

#[test]
fn a_loop_over_values_is_its_body_once_for_each() {
    same(
        "program p(N: 3..) { shared a: [0..=2; N]; process P[i in 0..<N] { for k in 0..<3 { a[k] = k; await a[i] > 0 || i < 2; } } }",
        "program p(N: 3..) { shared a: [0..=2; N]; process P[i in 0..<N] {
            a[0] = 0; await a[i] > 0 || i < 2; a[1] = 1; await a[i] > 0 || i < 2; a[2] = 2; await a[i] > 0 || i < 2; } }",
    );
    // Inner bounds may use the process's index and the variables of loops around.
    same(
        "program p { shared x: 0..=9; process P[i in 0..<2] { for j in i..=1 { for k in 0..<j { x = (x + j + k) % 10; } } } }",
        "program p { shared x: 0..=9; process A { x = (x + 1) % 10; } process B { x = (x + 1) % 10; } }",
    );
    // Nested loops whose inner one may be empty pass on without a step.
    same(
        "program p { shared x: 0..=9; process P { for a in 0..<3 { for b in 0..<a { x = x + 1; } } } }",
        "program p { shared x: 0..=9; process P { x = x + 1; x = x + 1; x = x + 1; } }",
    );
    same("program p { process P { for k in 3..<3 { skip; } } }", "program p { process P { } }");
}

#[test]
fn leaving_a_loop_forgets_its_counter() {
    let program = "program p {
        shared x: 0..=3;
        process P { loop { for k in 0..<4 { if k == 2 { break; } x = k; } x = 0; } }
        invariant small: x < 2;
    }";
    // Places: the test at k = 0, 1, 2, the assignment at k = 0, 1, and the reset; x is 0 at the first round, or has its last value.
    assert_eq!(facts(program), "6 states, 6 transitions: small");
    same(program, &program.replace("break;", "goto out;").replace("x = 0;", "out: x = 0;"));
    same(
        "program p { shared x: 0..=9; process P { for k in 0..<3 { if k == 1 { continue; } x = x + k; } } }",
        "program p { shared x: 0..=9; process P { skip; x = x + 0; skip; skip; x = x + 2; } }",
    );
    same(
        "program p { shared x: 0..=9; process P { again: for k in 0..<3 { x = k; if x == 1 { goto again; } } } }",
        "program p { shared x: 0..=9; process P { loop { x = 0; skip; x = 1; skip; } } }",
    );
}

#[test]
fn a_choice_is_made_by_its_first_step() {
    // Two awaits that exclude each other: no step before the choice.
    same(
        "program p { shared x: bool = any; process P { either { await x; x = false; } or { await !x; x = true; } } }",
        "program p { shared x: bool = any; process P { skip; x = !x; } }",
    );
    // A branch that is empty, or begins with a jump, begins with a step that does nothing.
    assert_eq!(facts("program p { process P { either { } or { } } }"), "2 states, 2 transitions");
    assert_eq!(facts("program p { process P { loop { if * { break; } } } }"), "2 states, 2 transitions");
    assert_eq!(
        facts("program p { process P { a: either { skip; goto a; } or { goto a; } } }"),
        "1 states, 2 transitions"
    );
    // A loop in a branch is entered by its first step, and goes on without the other branches.
    let program = "program p { shared x: 0..=1;
        process P { either { loop { a: x = 1; } } or { b: x = 0; } end: skip; }
        reachable only: P@a && !P@b; reachable both: P@a && P@b; }";
    assert_eq!(facts(program), "4 states, 4 transitions: only both");
    // A choice in a choice is one choice.
    same(
        "program p { shared x: 0..=3; process P { either { either { x = 1; } or { x = 2; } } or { x = 3; } } }",
        "program p { shared x: 0..=3; process P { either { x = 1; } or { x = 2; } or { x = 3; } } }",
    );
    // A `for` in a branch is entered by its first step, too.
    same(
        "program p { shared x: 0..=9; process P { either { for k in 0..<2 { x = x + 2 * k; } } or { x = 7; } } }",
        "program p { shared x: 0..=9; process P { either { x = x + 0; x = x + 2; } or { x = 7; } } }",
    );
}

#[test]
fn tests_are_steps_and_loops_are_not() {
    assert_eq!(facts("program p { shared x: bool; process P { while !x { x = true; } } }"), "4 states, 3 transitions");
    assert_eq!(facts("program p { shared x: bool; process P { if x { skip; } else { } } }"), "2 states, 1 transitions");
    assert_eq!(facts("program p { process P { loop { loop { skip; } } } }"), "1 states, 1 transitions");
    assert_eq!(facts("program p { shared x: bool; process P { while x { } } }"), "2 states, 1 transitions");
}

#[test]
fn an_atomic_block_is_one_step() {
    let program = "program p {
        shared a, b: 0..=3;
        process P { atomic { a = 1; if a == 1 { b = 2; } else { assert false; } for k in 0..<2 { a = a + k; } } }
        invariant sum: a == b;
    }";
    assert_eq!(facts(program), "2 states, 1 transitions: sum");
    // An `await` sees what was assigned before it, and a path on which it is false is no path.
    let program = "program p {
        shared a: 0..=3; shared m: lock;
        process P { atomic { a = any 1..=3; await a > 1; either { acquire m; } or { await a == 2; atomic { release m; } } } }
        reachable two: a == 2; reachable one: a == 1;
    }";
    // a = 2 or 3 with the lock; a = 2 without it is the release of a lock that is not held.
    assert_eq!(facts(program), "3 states, 2 transitions, 1 faults: two");
}

#[test]
fn assignments_at_once_see_the_old_values() {
    let program = "program p {
        shared a: 0..=3 = 1; shared b: 0..=3 = 2; shared s: [0..=3; 4];
        process P { a, b, s[a] = b, a, 3; s[a], a = a, any 0..=1; }
        invariant swapped: !P@done || a == 2 && b == 1 && s[1] == 3;
        reachable stored: s[2] == 2 && a == 0;
    }";
    assert_eq!(facts(&program.replace("s[a], a", "done: s[a], a")), "4 states, 3 transitions: swapped stored");
}

#[test]
fn procedures_call_return_and_recur() {
    let program = "program p {
        shared r: 0..=24;
        proc factorial(n: 0..=4) -> 0..=24 { local below: 0..=24; if n == 0 { return 1; } below = call factorial(n - 1); return n * below; }
        process P { r = call factorial(4); done: skip; }
        reachable result: P@done && r == 24;
        invariant none_but: r == 0 || r == 24;
    }";
    // call; then for n = 4..1: test, call; for 0: test, return; then four returns; then `done`.
    assert_eq!(facts(program), "17 states, 16 transitions: result none_but");
    // Labels in a procedure are true for whoever runs it; those of the caller are not, meanwhile.
    let program = "program p {
        proc f() { crit: skip; }
        process P { crit: call f(); after: skip; }
        reachable inside: P@crit && !P@after;
        invariant one: !(P@crit && P@after);
    }";
    // Before the call, in it, at its end, after it, at the end of all.
    assert_eq!(facts(program), "5 states, 4 transitions: inside one");
    // Locks are acquired for the caller; a public variable is the caller's own.
    let program = "program p(N: 2..) {
        shared m: lock;
        proc enter(n: 0..=3) { acquire m; level = n; }
        process P[i in 0..<N] { public level: 0..=3; call enter(i + 1); in: release m; }
        invariant own: forall i: P[i]@in => m.owner == i && P[i].level == i + 1;
    }";
    assert!(facts(program).ends_with(": own"), "{}", facts(program));
    let missing =
        "program p { shared x: bool; proc f() -> bool { if x { return true; } } process P { x = call f(); } }";
    assert_eq!(facts(missing), "3 states, 2 transitions, 1 faults; W0302");
}

#[test]
fn processes_are_compared_and_counted() {
    let program = "program p(N: 3..) {
        shared turn: pid; shared last: pid? = none; shared n: 0..<N;
        process P[i in 0..<N] {
            await turn == i; last = i; turn = (i + 1) % N; n = i;
        }
        invariant numbers: turn == 0 || turn > 0 && turn != none && turn + 1 <= N;
        invariant nobody: last == none => forall i: last != i;
        reachable third: last == 2 && turn == 0 && n == P[2];
        invariant beyond: last != 7 && turn != 7 && last != n + 9;
        reachable kth: exists k in 0..<N: turn == k && last == k;
        invariant counted: count(i: turn == i) == 1 && count(i != j: turn == i && turn == j) == 0;
    }";
    let found = facts(program);
    assert!(found.ends_with(": numbers nobody third beyond kth counted"), "{found}");
    // A number beside `none` is a process; a process writes its own variables by its own name, too.
    let program = "program p(N: 2..) {
        shared last: pid?; shared x: bool;
        process P[i in 0..<N] { public k: 0..=3; last = if x then 1 else none; P[i].k = if last == none then 3 else last; x = true; }
        invariant one: last == none || last == 1;
        reachable both: P[0].k == 3 && P[1].k == 1;
    }";
    assert!(facts(program).ends_with(": one both"), "{}", facts(program));
    // The index of `none` is an error of the step.
    assert!(facts("program p { shared l: pid?; process P[i in 0..<2] { l = l + 1; } }").contains("2 faults"));
    // So is a number that is no process.
    assert!(facts("program p { shared t: pid; process P[i in 0..<2] { t = i + 1; } }").contains("faults"));
}

#[test]
fn owners_of_locks_are_processes_of_any_family() {
    let program = "program p {
        shared m: lock;
        process P[i in 0..<2] { acquire m; in: release m; }
        process Q[j in 0..<2] { acquire m; in: release m; }
        process Monitor { acquire m; in: release m; }
        invariant mine: forall i in P: P[i]@in <=> m.owner == P[i];
        invariant theirs: forall j in Q: Q[j]@in <=> m.owner == Q[j];
        invariant single: Monitor@in <=> m.owner == Monitor;
        invariant free: m.owner == none <=> !Monitor@in && !(exists i in P: P[i]@in) && !(exists j in Q: Q[j]@in);
    }";
    // Five processes at one of: before, inside (at most one), after: 2^5 + 5 * 2^4.
    assert_eq!(facts(program), "112 states, 160 transitions: mine theirs single free");
}

#[test]
fn a_written_range_that_happens_to_be_a_familys_is_still_of_numbers() {
    let program = "program p {
        shared last: pid(W)?; shared n: 0..=2;
        process R[i in 0..<2] { for k in 0..<2 { last = k; n = k; } }
        process W[j in 0..<3] { await exists k in 0..<2: last == k; }
        invariant numbers: last == none || exists k in 0..<2: last == k && (n == k || true);
        reachable first: exists k in 0..<2: last == k && W[k]@done && n == 1;
    }";
    let program = program.replace("await", "done: await");
    assert!(facts(&program).ends_with(": numbers first"), "{}", facts(&program));
    assert_eq!(
        facts(
            &program
                .replace("last == k }", "R[k] == last }")
                .replace("exists k in 0..<2: last == k;", "exists k in R: last == k;")
        ),
        "E0205"
    );
}

#[test]
fn goto_leads_to_its_statement_only() {
    let program = "program p {
        shared x: 0..=2;
        process P { goto b; either { a: x = 1; } or { b: x = 2; } }
        reachable one: x == 1; reachable two: x == 2; reachable choice: P@a && P@b;
    }";
    assert_eq!(facts(program), "2 states, 1 transitions: two; W0301");
    assert_eq!(facts(&program.replace("goto b;", "")), "3 states, 2 transitions: one two choice");
}

#[test]
fn values_of_enumerations_are_told_apart_by_their_surroundings() {
    let program = "program p {
        enum Vote { none, yes, no }
        enum Lamp { red, none }
        shared vote: Vote; shared lamp: Lamp; shared who: pid?;
        process P[i in 0..<1] { await vote == none && none != lamp && who == none; lamp = none; vote = if lamp == none then yes else none; }
        reachable done: vote == yes && lamp == Lamp.none && Vote.none != vote;
        invariant some: exists v in Vote: vote == v;
        invariant kinds: count(v in Vote: true) == 3;
    }";
    assert_eq!(facts(program), "4 states, 3 transitions: done some kinds");
}

#[test]
fn definitions_mean_what_they_mean_where_they_stand() {
    let program = "program p(N: 2..) {
        shared x: 0..=9; shared flag: [bool; N];
        const K = N + 1;
        define near(k) = exists j: j == k && flag[j];
        define all(j) = forall k: near(j) || near(k);
        define twice(e) = e + e;
        define limit = twice(twice(K));
        process P[j in 0..<N] { local k: 0..=9 = twice(j + 1); flag[j] = near(j) || k < limit; x = min(x + twice(k), 9, limit); }
        invariant hygiene: forall j: near(j) <=> flag[j];
        invariant most: x <= 9 && limit == 12;
        reachable everybody: forall i: all(i);
    }";
    assert!(facts(program).ends_with(": hygiene most everybody"), "{}", facts(program));
}

#[test]
fn a_quantifier_binds_what_is_new() {
    let program = "program p(N: 3..) {
        shared flag: [bool; N];
        process P[i in 0..<N] { await forall j != i: !flag[j]; flag[i] = true; }
        invariant pairs: forall i != j: !(flag[i] && flag[j]) || N > 1;
        invariant one: forall i: flag[i] => exists k in 0..<N: flag[k] && k == i;
        invariant apart: forall k != 0: k > 0;
        invariant three: count(a, b in 0..<N: a < b) == 3 && count(a != b != c: true) == 6;
        reachable two: exists i != j: flag[i] && flag[j];
    }";
    assert!(facts(program).ends_with(": pairs one apart three two"), "{}", facts(program));
}

#[test]
fn variables_start_with_their_initial_values() {
    let program = "program p {
        const Size = 2;
        enum Colour { red, green }
        shared a: [0..=9; 3] = [1, 2, 3]; shared b: [[bool; 2]; Size] = [[true; 2]; 2]; shared c: [Colour; 2] = green;
        shared d: -3..=3; shared s: sem(4); shared m: lock = P[1]; shared t: pid = 1;
        process P[i in 0..<2] { public k: 0..=9 = 3 * i + 1; local free: bool = any; skip; }
        invariant arrays: a[0] == 1 && a[2] == 3 && (forall i, j in 0..<2: b[i][j]) && c[1] == green;
        invariant firsts: d == -3 && s == 0 && m.owner == 1 && t == P[1];
        invariant own: forall i: P[i].k == 3 * i + 1;
        reachable unlike: P[0].free && !P[1].free;
    }";
    assert_eq!(facts(program), "16 states, 16 transitions: arrays firsts own unlike");
}

#[test]
fn errors_of_the_program_are_found_in_its_steps() {
    let faulty = |statement: &str| {
        facts(&format!(
            "program p {{ shared x: 0..=3; shared a: [bool; 2]; shared s: sem = 1; process P {{ {statement} }} }}"
        ))
    };
    assert_eq!(faulty("x = 4;"), "1 states, 0 transitions, 1 faults");
    assert_eq!(faulty("a[x + 2] = true;"), "1 states, 0 transitions, 1 faults");
    assert_eq!(faulty("x = 1 / x;"), "1 states, 0 transitions, 1 faults");
    assert_eq!(faulty("await 1 % x == 0;"), "1 states, 0 transitions, 1 faults");
    assert_eq!(faulty("release s;"), "1 states, 0 transitions, 1 faults");
    assert_eq!(faulty("x = 9223372036854775807 + 1;"), "1 states, 0 transitions, 1 faults");
    assert_eq!(faulty("await x > 0 && 1 / x == 1 || true;"), "2 states, 1 transitions");
    assert_eq!(faulty("x = -1 / 2 + 1;"), "2 states, 1 transitions");
}

#[test]
fn a_process_reads_its_own_places() {
    let program = "program p(N: 2..) {
        shared x: bool;
        process P[i in 0..<N] { a: x = @a; b: x = P[i]@a || P[i]@{b, c}; c: skip; }
        invariant known: !P[0]@{b, c} && !P[1]@{b, c} || x || true;
    }";
    assert!(facts(program).ends_with(": known"), "{}", facts(program));
}
