//! Writes automata.
//!
//! In: an automaton, the names of its atoms, and a name. Out: its text. Marks are on states where they can be, else on edges.

use std::fmt::Write;

use crate::automaton::{Automaton, Label, StateId};
use crate::bits::Bits;
use crate::formula::{AtomId, Atoms};

/// The text of an automaton.
pub fn write(automaton: &Automaton, atoms: &Atoms, name: &str) -> String {
    let used: Vec<usize> = automaton.atoms().iter().collect();
    let mut text = String::from("HOA: v1\n");
    // Writing to a string does not fail, here and below.
    if !name.is_empty() {
        let _ = writeln!(text, "name: {}", quoted(name));
    }
    let _ = writeln!(text, "tool: \"piecewise\" {}", quoted(env!("CARGO_PKG_VERSION")));
    let _ = writeln!(text, "States: {}", automaton.states.len());
    let _ = writeln!(text, "Start: {}", automaton.initial.index());
    let names: String = used.iter().map(|&atom| format!(" {}", quoted(&atoms.name(AtomId::new(atom))))).collect();
    let _ = writeln!(text, "AP: {}{names}", used.len());
    text += &acceptance(automaton.n_marks);
    let is_state_based = automaton.is_state_based();
    let place = if is_state_based { "state-acc" } else { "trans-acc" };
    let _ = writeln!(text, "properties: trans-labels explicit-labels {place}{}", more_properties(automaton));
    text += "--BODY--\n";
    for (state, edges) in automaton.states.entries().map(|(id, state)| (id, &state.edges)) {
        let state_marks = if is_state_based { state_marks(automaton, state) } else { Bits::new() };
        let _ = writeln!(text, "State: {}{}", state.index(), marks(&state_marks));
        for edge in edges {
            let edge_marks = if is_state_based { Bits::new() } else { edge.marks.clone() };
            let _ = writeln!(text, "[{}] {}{}", label(&edge.label, &used), edge.target.index(), marks(&edge_marks));
        }
    }
    text += "--END--\n";
    text
}

fn acceptance(n_marks: usize) -> String {
    let sets: Vec<String> = (0..n_marks).map(|mark| format!("Inf({mark})")).collect();
    match n_marks {
        0 => "acc-name: all\nAcceptance: 0 t\n".to_owned(),
        1 => "acc-name: Buchi\nAcceptance: 1 Inf(0)\n".to_owned(),
        _ => format!("acc-name: generalized-Buchi {n_marks}\nAcceptance: {n_marks} {}\n", sets.join("&")),
    }
}

fn more_properties(automaton: &Automaton) -> &'static str {
    if automaton.is_deterministic() { " deterministic" } else { "" }
}

fn state_marks(automaton: &Automaton, state: StateId) -> Bits {
    automaton.state_marks(state).unwrap_or_default()
}

fn marks(marks: &Bits) -> String {
    if marks.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = marks.iter().map(|mark| mark.to_string()).collect();
    format!(" {{{}}}", numbers.join(" "))
}

fn label(label: &Label, used: &[usize]) -> String {
    let literal = |(atom, value): (AtomId, bool)| {
        let number = used.binary_search(&atom.index()).expect("atoms of labels are used");
        if value { number.to_string() } else { format!("!{number}") }
    };
    let cube = |literals: Vec<(AtomId, bool)>| match literals.len() {
        0 => "t".to_owned(),
        _ => literals.into_iter().map(literal).collect::<Vec<_>>().join("&"),
    };
    match label.cubes.len() {
        0 => "f".to_owned(),
        _ => label.cubes.iter().map(|one| cube(one.literals())).collect::<Vec<_>>().join(" | "),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
