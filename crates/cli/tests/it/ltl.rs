//! `piecewise ltl`: formulas in, automata out.

use crate::support::{Place, Told};

/// Makes a call whose words may have spaces in them.
fn run<const N: usize>(place: &Place, words: [&str; N]) -> Told {
    Told::new(&place.command(words).output().unwrap())
}

#[test]
fn a_formula_has_an_automaton_in_hoa() {
    let place = Place::new();
    let told = run(&place, ["ltl", "G(p -> F q)"]).exits(0).prints("HOA: v1\n").prints("AP: 2 \"p\" \"q\"\n");
    assert!(told.out.ends_with("--END--\n") && told.err.is_empty());
    run(&place, ["ltl", "always (p => eventually q)", "--acceptance", "state"]).exits(0).prints("state-acc");
    run(&place, ["ltl", "!p", "--negate", "--format", "human"]).exits(0).prints("simplified  p\n");
    run(&place, ["ltl", "[]p", "--format", "dot"]).exits(0).prints("digraph \"always p\" {");
    run(&place, ["ltl", "--", "-"]).exits(2).complains("expected a formula, found the end");
    run(&place, ["ltl", "<>p", "-o", "out.hoa"]).exits(0);
    assert!(std::fs::read_to_string(place.path().join("out.hoa")).unwrap().starts_with("HOA: v1"));
}

#[test]
fn wrong_formulas_are_refused_with_their_places() {
    let place = Place::new();
    for (formula, words) in [
        ("a U b U c", "E0108"),
        ("a -> b -> c", "E0107"),
        ("(a & b", "this parenthesis is never closed"),
        ("a & b)", "<formula>:1:6"),
        ("", "expected a formula, found the end"),
        ("a @ b", "`@` means nothing in a formula"),
    ] {
        run(&place, ["ltl", formula]).exits(2).complains(words);
    }
    run(&place, ["ltl", "a U b U c"]).exits(2).complains("(a U b) U c").complains("a U (b U c)");
    let deep = format!("{}p", "X ".repeat(2_000));
    run(&place, ["ltl", &deep]).exits(2).complains("nested more than 200 deep");
}

#[test]
fn an_automaton_that_is_too_large_is_not_decided() {
    let place = Place::new();
    let many: Vec<String> = (0..40).map(|k| format!("(p{k} U q{k})")).collect();
    run(&place, ["ltl", &many.join(" & "), "--timeout", "60s"]).exits(3).complains("there is no automaton: ");
}
