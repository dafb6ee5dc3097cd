//! DVE: what each part of the language means, on models small enough to be counted by hand.
//!
//! `facts` explores the whole product by the reference semantics: states, transitions, deadlocks, faulty steps, and the goals
//! and asserts that are true.

use base::{Diagnostic, SourceFile};
use lang::dve::Goal;
use model::eval::{State, evaluate};
use model::expr::Expr;
use model::property::{Formula, PropertyKind};
use model::value::Value;
use testkit::Product;

fn facts(text: &str) -> String {
    facts_of(text, &[])
}

/// The facts of a model with goals; of one that is wrong, the codes.
fn facts_of(text: &str, goals: &[&str]) -> String {
    let goal = |text: &&str| Goal { name: (*text).to_string(), source: SourceFile::new("--goal", *text) };
    let goals: Vec<Goal> = goals.iter().map(goal).collect();
    let codes = |found: &[Diagnostic]| found.iter().map(|one| one.code).collect::<Vec<_>>().join(" ");
    let loaded = match lang::load_with_goals(&SourceFile::new("test.dve", text), &[], &goals) {
        Ok(loaded) => loaded,
        Err(refused) => return refused.iter().map(|one| codes(&one.diagnostics)).collect::<Vec<_>>().join(" / "),
    };
    let model = &loaded.model;
    let product = Product::explore(model, 100_000).expect("test models are small");
    let mut facts = format!("{} states, {} transitions", product.states.len(), product.n_transitions());
    for (count, what) in [(product.deadlocks.len(), "deadlocks"), (product.n_faults(), "faults")] {
        if count > 0 {
            facts += &format!(", {count} {what}");
        }
    }
    let is_true = |expr: &Expr, state: &State| evaluate(model, state, expr, None) == Ok(Value::Bool(true));
    let holds = |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(expr) => product.states.iter().all(|state| is_true(expr, state)),
        PropertyKind::Reachable(expr) => product.states.iter().any(|state| is_true(expr, state)),
        _ => false,
    };
    let names: Vec<&str> =
        model.properties.iter().filter(|one| holds(&one.kind)).map(|one| one.name.as_str()).collect();
    if !names.is_empty() {
        facts += &format!(": {}", names.join(", "));
    }
    if !loaded.warnings.is_empty() {
        facts += &format!("; {}", codes(&loaded.warnings));
    }
    facts
}

/// A model of one process that computes `result` in one step and stops.
fn computed(declarations: &str, expression: &str, expected: &str) {
    let text = format!(
        "int result; {declarations}
         process P {{ state a, b; init a; trans a -> b {{ effect result = {expression}; }}; }}
         system async;"
    );
    let goal = format!("P.b && result == {expected}");
    assert_eq!(facts_of(&text, &[&goal]), format!("2 states, 1 transitions, 1 deadlocks: {goal}"), "{expression}");
}

/// The same where the step is an error of the program.
fn faulty(declarations: &str, expression: &str) {
    let text = format!(
        "int result; {declarations}
         process P {{ state a, b; init a; trans a -> b {{ effect result = {expression}; }}; }}
         system async;"
    );
    assert_eq!(facts(&text), "1 states, 0 transitions, 1 faults", "{expression}");
}

#[test]
fn expressions_are_those_of_c() {
    for (expression, expected) in [
        ("7 / 2", "3"),
        ("(0 - 7) / 2", "-3"),
        ("-7 % 2", "-1"),
        ("7 % -2", "1"),
        ("6 & 3", "2"),
        ("6 | 3", "7"),
        ("6 ^ 3", "5"),
        ("~6", "-7"),
        ("1 << 4", "16"),
        ("-5 >> 1", "-3"),
        ("not 3", "0"),
        ("!0", "1"),
        ("not 0 + 1", "2"),
        ("2 && 4", "1"),
        ("0 || 7", "1"),
        ("0 imply 0", "1"),
        ("3 imply 0", "0"),
        ("1 imply 0 imply 0", "1"),
        ("(3 > 2) + (2 > 1) + (1 > 2)", "2"),
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("10 - 3 - 2", "5"),
        ("1 + 1 << 2", "8"),
        ("3 == 3 & 1", "1"),
        ("true + true", "2"),
        ("P.a", "0"),
        ("P.b", "1"),
        ("(3 > 2) == (5 > 4)", "1"),
        ("(3 > 2) == 1", "1"),
    ] {
        computed("", expression, expected);
    }
}

#[test]
fn constants_arrays_and_initial_values() {
    computed("const byte K = 3; int t[K] = {K, -1};", "t[0] * 100 + t[1] * 10 + t[2]", "290");
    computed("const int T[3] = {5, -6, 7}; byte i = 1;", "T[i] + T[2]", "1");
    computed("byte x = 4, y = x + 1;", "x * 10 + y", "45");
    computed("byte t[3] = {1, 2, 3};", "t[t[0]]", "2");
    let dropped = "byte a[2] = {1, 2, 3}; process P { state l; init l; } system async;";
    assert_eq!(facts(dropped), "1 states, 0 transitions, 1 deadlocks; W0701");
}

#[test]
fn errors_have_no_successor() {
    faulty("byte t[2], i = 2;", "t[i]");
    faulty("int i = -1; byte t[2];", "t[i]");
    faulty("byte z;", "1 / z");
    faulty("byte z;", "1 % z");
    faulty("", "32768");
    faulty("int n = -1;", "1 << n");
    computed("byte z;", "z == 0 || 1 / z", "1");
    computed("byte z;", "z != 0 && 1 / z", "0");
    computed("byte z;", "z imply 1 / z", "1");
    let counter = "byte x = 254; process P { state l; init l; trans l -> l { effect x = x + 1; }; } system async;";
    assert_eq!(facts(counter), "2 states, 1 transitions, 1 faults");
    // An error in a guard is a step, and an error.
    let guard = "byte z; process P { state l; init l; trans l -> l { guard 1 / z > 0; }; } system async;";
    assert_eq!(facts(guard), "1 states, 0 transitions, 1 faults");
}

#[test]
fn effects_happen_one_after_the_other() {
    let swap =
        "byte x = 1, y = 2; process P { state a, b; init a; trans a -> b { effect x = y, y = x; }; } system async;";
    assert_eq!(facts_of(swap, &["x == 2 && y == 2"]), "2 states, 1 transitions, 1 deadlocks: x == 2 && y == 2");
}

#[test]
fn sources_may_be_left_out_and_guards_listed() {
    let text = "byte x; process P { state a, b, c; init a; trans a -> b { guard x == 0, true; }, -> c { effect x = 1; }, b -> a {}; }
                system async;";
    // a0, b0, c1: a -> b, a -> c, b -> a.
    assert_eq!(facts(text), "3 states, 3 transitions, 1 deadlocks");
}

#[test]
fn two_transitions_that_do_the_same_are_two() {
    let text = "process P { state a, b; init a; trans a -> b {}, a -> b {}; } system async;";
    assert_eq!(facts(text), "2 states, 2 transitions, 1 deadlocks");
}

#[test]
fn a_rendezvous_is_a_step_of_two() {
    let text = "channel c; byte x;
        process S { byte v = 7; state a, b; init a; trans a -> b { sync c!v + 1; effect x = x * 10 + 2; }; }
        process R { byte w; state a, b; init a; trans a -> b { sync c?w; effect x = x * 10 + w; }; }
        process R2 { byte w; state a, b; init a; trans a -> b { guard w == 1; sync c?w; }; }
        system async;";
    // One partner can take part. The receiver's effects come first and see what was received.
    assert_eq!(facts_of(text, &["x == 82 && R->w == 8"]), "2 states, 1 transitions, 1 deadlocks: x == 82 && R->w == 8");
}

#[test]
fn nobody_meets_himself_and_every_pair_is_a_step() {
    let alone =
        "channel c; process P { state a, b; init a; trans a -> b { sync c!; }, a -> b { sync c?; }; } system async;";
    assert_eq!(facts(alone), "1 states, 0 transitions, 1 deadlocks");
    let two = "channel c;
        process P { state a, b; init a; trans a -> b { sync c!; }, a -> b { sync c?; }; }
        process Q { state a, b; init a; trans a -> b { sync c!; }, a -> b { sync c?; }, a -> a { sync c?; }; }
        system async;";
    // P sends to each of the two receives of Q; Q sends to P.
    assert_eq!(facts(two), "3 states, 3 transitions, 2 deadlocks");
}

#[test]
fn control_moves_before_effects() {
    let text = "channel c; byte x;
        process S { state a, b; init a; trans a -> b { sync c!; effect x = x + R.b + 10 * S.b; }; }
        process R { state a, b; init a; trans a -> b { sync c?; effect x = 100 * R.b + 50 * S.a; }; }
        system async;";
    assert_eq!(facts_of(text, &["x == 161"]), "2 states, 1 transitions, 1 deadlocks: x == 161");
}

#[test]
fn indices_of_receivers_are_those_before_the_step() {
    let text = "channel c; byte a[3], i = 1;
        process S { state p, q; init p; trans p -> q { sync c!5; effect i = 2; }; }
        process R { state p, q; init p; trans p -> q { sync c?a[i]; effect i = 0; }; }
        system async;";
    assert_eq!(facts_of(text, &["a[1] == 5 && i == 2"]), "2 states, 1 transitions, 1 deadlocks: a[1] == 5 && i == 2");
}

#[test]
fn typed_channels_cut_what_is_sent() {
    let text = |size: u8| {
        format!(
            "channel {{byte, int}} c[{size}]; int r, q;
             process S {{ state a, b; init a; trans a -> b {{ sync c!{{259, 65535}}; }}; }}
             process R {{ state a, b; init a; trans a -> b {{ sync c?{{r, q}}; }}; }}
             system async;"
        )
    };
    let goal = "r == 3 && q == -1";
    assert_eq!(facts_of(&text(0), &[goal]), format!("2 states, 1 transitions, 1 deadlocks: {goal}"));
    assert_eq!(facts_of(&text(1), &[goal]), format!("3 states, 2 transitions, 1 deadlocks: {goal}"));
}

#[test]
fn buffers_are_queues() {
    let text = "channel {byte} c[2]; byte out;
        process S { byte n; state a; init a; trans a -> a { guard n < 3; sync c!n + 1; effect n = n + 1; }; }
        process R { byte v; state a; init a; trans a -> a { sync c?v; effect out = v; }; }
        system async;";
    // (sent, received) with 0 <= sent - received <= 2 and sent <= 3: 0/0 1/0 2/0 1/1 2/1 3/1 2/2 3/2 3/3.
    assert_eq!(
        facts_of(text, &["out == 3", "S->n == 3 && out == 0"]),
        "9 states, 10 transitions, 1 deadlocks: out == 3"
    );
    // The first message comes first, and slots that are free again hold 0.
    let order = "channel {byte} c[3]; byte x;
        process S { state a, b, d; init a; trans a -> b { sync c!1; }, b -> d { sync c!2; }; }
        process R { byte v; state a, b, d; init a; trans a -> b { guard S.d; sync c?v; effect x = v; }, b -> d { sync c?v; effect x = x * 10 + v; }; }
        system async;";
    assert_eq!(facts_of(order, &["x == 12"]), "5 states, 4 transitions, 1 deadlocks: x == 12");
    // The channel's part of the step comes before the effects.
    let before = "channel {byte} c[1]; byte x = 1;
        process S { state a, b; init a; trans a -> b { sync c!x; effect x = 9; }, b -> b { sync c?x; effect x = x + 1; }; }
        system async;";
    assert_eq!(facts_of(before, &["x == 2"]), "3 states, 2 transitions, 1 deadlocks: x == 2");
}

#[test]
fn committed_locations_go_first() {
    let text = |commit: &str| {
        format!(
            "byte x;
             process P {{ state a, b, c; init a; {commit} trans a -> b {{}}, b -> c {{}}; }}
             process Q {{ state a, b; init a; trans a -> b {{}}; }}
             system async;"
        )
    };
    assert_eq!(facts(&text("")), "6 states, 7 transitions, 1 deadlocks");
    // At P.b only P moves: Q does not move in (b, a).
    assert_eq!(facts(&text("commit b;")), "6 states, 6 transitions, 1 deadlocks");
    // A committed process that is stuck stops everybody.
    let stuck = "process P { state a, b; init a; commit b; trans a -> b {}; }
        process Q { state a, b; init a; trans a -> b {}, b -> a {}; } system async;";
    assert_eq!(facts(stuck), "4 states, 4 transitions, 2 deadlocks");
    // A rendezvous needs both partners committed.
    let meeting = |commit: &str| {
        format!(
            "channel c;
             process P {{ state a, b; init a; commit a; trans a -> b {{ sync c!; }}; }}
             process Q {{ state a, b; init a; {commit} trans a -> b {{ sync c?; }}; }}
             system async;"
        )
    };
    assert_eq!(facts(&meeting("")), "1 states, 0 transitions, 1 deadlocks");
    assert_eq!(facts(&meeting("commit a;")), "2 states, 1 transitions, 1 deadlocks");
}

#[test]
fn asserts_hold_where_their_process_stands() {
    let text = "byte x;
        process P { byte y = 1; state a, b; init a; assert a: x == 0, b: x == 1 && y == 1, b: y == 0, b: x;
                    trans a -> b { effect x = 1; }; }
        system async;";
    assert_eq!(facts(text), "2 states, 1 transitions, 1 deadlocks: assert P.a, assert P.b, assert P.b 3");
}

#[test]
fn the_property_process_is_no_process_of_the_model() {
    let text = "byte x;
        process P { byte y; state a; init a; trans a -> a { effect x = 1 - x; }; }
        process Watch { state q, r; init q; accept r; trans q -> q {}, q -> r { guard P->y == 0 && x; }, r -> r { guard P.a; }; }
        system async property Watch;";
    assert_eq!(facts(text), "2 states, 2 transitions");
    let model = lang::load(&SourceFile::new("t.dve", text), &[]).expect("it is right").model;
    let property = model.properties.iter().last().expect("there is one");
    let PropertyKind::Temporal(Formula::NeverAccepts(automaton)) = &property.kind else { panic!("{property:?}") };
    assert_eq!((property.name.as_str(), automaton.initial, automaton.edges.len()), ("Watch", 0, 3));
    let accepting: Vec<bool> = automaton.locations.iter().map(|location| location.accepting).collect();
    assert_eq!(accepting, [false, true]);
    let assumed: Vec<&str> = model.fairness.iter().map(|pair| pair.name.as_str()).collect();
    assert_eq!(assumed, ["progress"]);
}

#[test]
fn goals_that_name_nothing_are_refused_each_in_its_own_text() {
    let text = "byte x; process P { byte y; state a; init a; } system async;";
    let states = "1 states, 0 transitions, 1 deadlocks";
    assert_eq!(facts_of(text, &["x == 0;"]), format!("{states}: x == 0;"));
    assert_eq!(facts_of(text, &["P.a + P.a > 1 && P->y == x"]), format!("{states}: P.a + P.a > 1 && P->y == x"));
    assert_eq!(facts_of(text, &["P.b", "Q.a", "", "x == 0 1", "y == 0"]), "E0702 / E0702 / E0601 / E0601 / E0702");
}

#[test]
fn names_are_the_processes_own() {
    let text = "process P { byte v; state a; init a; trans a -> a { effect v = 1 - v; }; }
        process Q { byte v; state a; init a; trans a -> a { guard P.a; effect v = 1 - v; }; } system async;";
    assert_eq!(facts_of(text, &["P->v == 1 && Q->v == 0"]), "4 states, 8 transitions: P->v == 1 && Q->v == 0");
    let hidden = "byte v; process P { byte v; state a; init a; trans a -> a { effect v = 1 - v; }; } system async;";
    assert_eq!(facts_of(hidden, &["v == 1"]), "2 states, 2 transitions; W0702");
    // A location may have any name.
    let both =
        "byte done; process P { state done; init done; trans done -> done { effect done = 1 - done; }; } system async;";
    assert_eq!(facts_of(both, &["done && P.done"]), "2 states, 2 transitions: done && P.done");
}

#[test]
fn several_mistakes_are_told_at_once() {
    let text = "byte x = 300, y[0];
        process P { state a, a; init c; trans a -> d { guard z; sync q!; effect w = 1; }; } system async;";
    assert_eq!(facts(text), "E0706 E0705 E0701 E0702 E0702 E0702 E0702 E0702");
    let text = "byte x process P { state a; init a trans a -> { }, a -> a { guard ); }; } process Q state a; }
        system;";
    assert_eq!(facts(text), "E0601 E0601 E0601 E0601 E0601 E0601");
}
