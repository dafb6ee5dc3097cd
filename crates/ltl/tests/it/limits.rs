//! Many atoms, many marks, deep formulas, and automata that are too large: an answer or a reason, never an overflow.

use crate::support::{names, parse};
use base::{Budget, CancelToken, SourceFile, StopReason};
use ltl::{
    Acceptance, Automaton, Bits, Formulas, Lasso, Simplifier, Translation, Unary, hoa, reduce_automaton, translate,
};
use std::time::Duration;

fn automaton(text: &str, translation: &Translation) -> Result<Automaton, StopReason> {
    let (mut atoms, mut formulas) = (names(0), Formulas::new());
    let root = parse(&mut formulas, &mut atoms, text);
    translate(&mut formulas, root, translation, &Budget::unlimited())
}

fn joined(n: usize, between: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(between)
}

#[test]
fn more_than_64_atoms_and_marks() {
    let all = automaton(&joined(100, " & ", |k| format!("p{k}")), &Translation::default()).expect("two states");
    let word = |n: usize| Lasso::new(vec![Bits::below(n)], vec![Bits::new()]).expect("a loop");
    assert!(all.accepts(&word(100)) && !all.accepts(&word(99)));
    let one_mark = Translation { acceptance: Acceptance::Buchi, ..Translation::default() };
    let again = automaton(&joined(8, " & ", |k| format!("G F p{k}")), &one_mark).expect("one state a mark");
    assert_eq!((again.states.len(), again.n_marks), (8, 1));
    let sets = |n: usize| joined(n, " ", |k| k.to_string());
    let text = |n: usize| {
        let condition = joined(70, "&", |k| format!("Inf({k})"));
        let edge = format!("[t] 0 {{{}}}", sets(n));
        format!("HOA: v1 AP: 0 Start: 0 Acceptance: 70 {condition} --BODY-- State: 0 {edge} --END--")
    };
    for (n, accepts) in [(70, true), (69, false)] {
        let read = hoa::read(&SourceFile::new("marks.hoa", text(n))).expect("an automaton").automaton;
        assert_eq!(read.accepts(&word(0)), accepts);
        let small = reduce_automaton(&read, &Translation::default(), &Budget::unlimited()).expect("a smaller one");
        assert_eq!((small.n_marks, small.accepts(&word(0))), (0, accepts));
    }
}

/// The negation of "every one of 60 is answered" has a state for each of them and one more, although the formula itself explodes.
#[test]
fn negated_conjunctions_are_small() {
    let answered = joined(60, " & ", |k| format!("G (p{k} -> F q{k})"));
    let automaton = automaton(&format!("!({answered})"), &Translation::default()).expect("a small automaton");
    assert_eq!(automaton.states.len(), 61);
}

#[test]
fn an_automaton_that_is_too_large_has_a_reason() {
    let many = joined(40, " & ", |k| format!("(p{k} U q{k})"));
    assert_eq!(automaton(&many, &Translation::default()), Err(StopReason::AutomatonLimit(10_000)));
    let few = Translation { max_states: 3, ..Translation::default() };
    assert_eq!(automaton("X X X X X p", &few), Err(StopReason::AutomatonLimit(3)));
}

#[test]
fn a_budget_ends_the_work() {
    let (mut atoms, mut formulas) = (names(0), Formulas::new());
    let root = parse(&mut formulas, &mut atoms, "G(p -> F q)");
    let no_time = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
    let result = translate(&mut formulas, root, &Translation::default(), &no_time);
    assert_eq!(result, Err(StopReason::TimeLimit(Duration::ZERO)));
}

#[test]
fn formulas_of_any_depth_are_printed_evaluated_and_normalised() {
    let (mut atoms, mut formulas) = (names(1), Formulas::new());
    let mut root = parse(&mut formulas, &mut atoms, "p0");
    for _ in 0..50_000 {
        root = formulas.unary(Unary::Next, root);
        root = formulas.unary(Unary::Not, root);
    }
    let word = Lasso::new(vec![], vec![Bits::below(1)]).expect("a loop");
    assert!(word.satisfies(&formulas, root));
    assert_eq!(crate::support::show(&formulas, &atoms, root).len(), 3 * 50_000 + 2);
    let normal = Simplifier::new(&mut formulas).normal_form(root);
    assert!(crate::support::is_normal(&formulas, normal) && word.satisfies(&formulas, normal));
}
