//! Automata as drawings, for GraphViz.
//!
//! In: an automaton and the names of its atoms. Out: a text in the DOT language. Marks are numbers in circles, or double circles where one mark belongs
//! to states.

use std::fmt::Write;

use crate::automaton::{Automaton, Edge, Label};
use crate::bits::Bits;
use crate::formula::Atoms;

/// The text of a drawing.
pub fn write(automaton: &Automaton, atoms: &Atoms, name: &str) -> String {
    let has_circles = automaton.n_marks == 1 && automaton.is_state_based();
    // Writing to a string does not fail, here and below.
    let mut text = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=circle];\n", quoted(name));
    let _ = writeln!(text, "  start [shape=point, label=\"\"];\n  start -> {};", automaton.initial.index());
    for state in automaton.states.ids() {
        let is_marked = has_circles && automaton.state_marks(state).is_some_and(|marks| !marks.is_empty());
        let shape = if is_marked { " [shape=doublecircle]" } else { "" };
        let _ = writeln!(text, "  {}{shape};", state.index());
    }
    for (id, state) in automaton.states.entries() {
        for edge in &state.edges {
            let words = words(edge, atoms, has_circles);
            let _ = writeln!(text, "  {} -> {} [label={}];", id.index(), edge.target.index(), quoted(&words));
        }
    }
    text += "}\n";
    text
}

fn words(edge: &Edge, atoms: &Atoms, has_circles: bool) -> String {
    let label = label_text(&edge.label, atoms);
    let marks = if has_circles { Bits::new() } else { edge.marks.clone() };
    let numbers: String = marks.iter().map(circled).collect();
    if numbers.is_empty() { label } else { format!("{label}\n{numbers}") }
}

/// The letters of an edge in words: `p && !q || r`.
pub fn label_text(label: &Label, atoms: &Atoms) -> String {
    let cubes =
        label.cubes.iter().map(|cube| {
            let literals: Vec<String> =
                cube.literals()
                    .into_iter()
                    .map(|(atom, value)| {
                        if value { atoms.name(atom).into_owned() } else { format!("!{}", negatable(&atoms.name(atom))) }
                    })
                    .collect();
            if literals.is_empty() { "true".to_owned() } else { literals.join(" && ") }
        });
    let cubes: Vec<String> = cubes.collect();
    if cubes.is_empty() { "false".to_owned() } else { cubes.join(" || ") }
}

/// A name after `!`: in parentheses if it is more than a name.
fn negatable(name: &str) -> String {
    if name.contains(' ') { format!("({name})") } else { name.to_owned() }
}

fn circled(mark: usize) -> String {
    match u32::try_from(mark).ok().and_then(|mark| char::from_u32(0x2460 + mark - 1)) {
        Some(circle) if (1..=20).contains(&mark) => circle.to_string(),
        _ if mark == 0 => "⓪".to_owned(),
        _ => format!("({mark})"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
