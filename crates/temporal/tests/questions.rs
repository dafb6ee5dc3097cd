//! Properties of programs as formulas over atoms.

use base::SourceFile;
use lang::load;
use ltl::syntax::{Style, print};
use model::eval::initial_states;
use model::property::PropertyKind;
use temporal::Question;

const PROGRAM: &str = "program t(N: 2..) {
  shared x: 0..=3 = 1;
  shared a: [bool; 2];
  process P[i in 0..<N] { loop { idle_: skip; crit: x = 0; } }
  property PROPERTY;
}";

/// The property of a program of two processes has this formula, and these atoms are true at the start.
fn check(property: &str, expected: &str, at_start: &[&str]) {
    let text = PROGRAM.replace("PROPERTY", &format!("p: {property}"));
    let loaded = load(&SourceFile::new("t.pw", text), &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let model = &loaded.model;
    let state = initial_states(model).next().expect("an initial state");
    let formula = model.properties.iter().find_map(|property| match &property.kind {
        PropertyKind::Temporal(formula) => Some(formula),
        _ => None,
    });
    let question = Question::new(model, formula.expect("a property"), &state).expect("a question");
    assert_eq!(print(&question.formulas, &question.atoms, question.root, Style::Keywords), expected, "{property}");
    let letter = question.letter(model, &state).expect("a letter");
    let true_atoms: Vec<String> = question
        .atoms
        .ids()
        .filter(|atom| letter.contains(atom.index()))
        .map(|atom| question.atoms.name(atom).into_owned())
        .collect();
    assert_eq!(true_atoms, at_start, "{property}");
}

#[test]
fn properties_become_formulas() {
    check("always eventually x == 0", "always eventually \"x == 0\"", &[]);
    check("x == 1 until !(x == 1)", "\"x == 1\" until !\"x == 1\"", &["x == 1"]);
    check(
        "forall i: P[i]@idle_ ~> P[i]@crit",
        "(\"P[0]@idle_\" ~> \"P[0]@crit\") && (\"P[1]@idle_\" ~> \"P[1]@crit\")",
        &["P[0]@idle_", "P[1]@idle_"],
    );
    check(
        "exists i != j: eventually (P[i]@crit && P[j]@crit)",
        "(eventually \"P[0]@crit && P[1]@crit\") || (eventually \"P[1]@crit && P[0]@crit\")"
            .replace(['(', ')'], "")
            .as_str(),
        &[],
    );
    check("always (exists i: P[i]@crit)", "always \"exists i: P[i]@crit\"", &[]);
}
