//! Names of the states and marks of an automaton: what they are, and not where they stand.
//!
//! In: an automaton of [`super`]. Out: for each state the formulas that have to be true of the rest of the word, and for each mark the `until` that
//! edges without it put off, as texts in the user's names. Atoms stand in brackets, with the values of the variables bound around them; where two of them read the same, all that `eval` reads
//! of them stands beside (`model::canonical`). So different states have different names. Claims have a table of those that they use ([`UsedNames`]), and positions in it.

use std::collections::{BTreeSet, HashMap};

use model::Model;
use model::print::Printer;
use serde::{Deserialize, Serialize};

use super::tableau::TableauNode;
use super::{ReferenceAutomaton, StateCondition};

/// Names of states and marks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutomatonNames {
    /// Each state: the formulas that have to be true of the rest of the word.
    pub states: Vec<BTreeSet<String>>,
    /// Each mark: the `until` that it belongs to.
    pub marks: Vec<String>,
}

impl ReferenceAutomaton {
    /// The names of all states and marks, in the order in which they are numbered here.
    pub fn names(&self, model: &Model) -> AutomatonNames {
        let texts = FormulaTexts { nodes: &self.formulas, atoms: atom_texts(model, &self.atoms) };
        AutomatonNames {
            states: self.obligations.iter().map(|all| all.iter().map(|&one| texts.text(one)).collect()).collect(),
            marks: self.untils.iter().map(|&until| texts.text(until)).collect(),
        }
    }
}

/// A text for each atom, no two alike.
fn atom_texts(model: &Model, atoms: &[StateCondition]) -> Vec<String> {
    let text = |atom: &StateCondition| {
        let printer = atom.bound.iter().fold(Printer::new(model), |printer, &value| printer.bind_value(value));
        { printer }.expr(&atom.expr)
    };
    let texts: Vec<String> = atoms.iter().map(text).collect();
    let mut n_alike: HashMap<&str, usize> = HashMap::new();
    texts.iter().for_each(|text| *n_alike.entry(text).or_default() += 1);
    let told_apart = |(text, atom): (&String, &StateCondition)| match n_alike[text.as_str()] {
        1 => text.clone(),
        _ => format!("{text}: {}", model::canonical::instance(model, &atom.expr, &atom.bound)),
    };
    texts.iter().zip(atoms).map(told_apart).collect()
}

/// Formulas as texts.
struct FormulaTexts<'a> {
    nodes: &'a [TableauNode],
    atoms: Vec<String>,
}

impl FormulaTexts<'_> {
    fn text(&self, formula: usize) -> String {
        let mut out = String::new();
        self.write(formula, &mut out);
        out
    }

    fn write(&self, formula: usize, out: &mut String) {
        match self.nodes[formula] {
            TableauNode::Constant(truth) => out.push_str(if truth { "true" } else { "false" }),
            TableauNode::Literal(atom, wanted) => {
                out.push_str(if wanted { "[" } else { "![" });
                out.push_str(&self.atoms[atom]);
                out.push(']');
            }
            TableauNode::Next(inner) => self.prefixed("next ", inner, out),
            TableauNode::Until(left, inner) if self.nodes[left] == TableauNode::Constant(true) => {
                self.prefixed("eventually ", inner, out);
            }
            TableauNode::Release(left, inner) if self.nodes[left] == TableauNode::Constant(false) => {
                self.prefixed("always ", inner, out);
            }
            TableauNode::And(left, right) => self.both(left, "&&", right, out),
            TableauNode::Or(left, right) => self.both(left, "||", right, out),
            TableauNode::Until(left, right) => self.both(left, "until", right, out),
            TableauNode::Release(left, right) => self.both(left, "releases", right, out),
        }
    }

    fn prefixed(&self, word: &str, inner: usize, out: &mut String) {
        out.push_str(word);
        self.write(inner, out);
    }

    fn both(&self, left: usize, word: &str, right: usize, out: &mut String) {
        out.push('(');
        self.write(left, out);
        out.push(' ');
        out.push_str(word);
        out.push(' ');
        self.write(right, out);
        out.push(')');
    }
}

/// The names that a claim uses, in the order in which it does.
pub struct UsedNames<'a> {
    all: &'a AutomatonNames,
    states: HashMap<usize, usize>,
    marks: HashMap<usize, usize>,
    used: AutomatonNames,
}

impl<'a> UsedNames<'a> {
    /// None yet, of those of an automaton.
    pub fn new(all: &'a AutomatonNames) -> Self {
        UsedNames { all, states: HashMap::new(), marks: HashMap::new(), used: AutomatonNames::default() }
    }

    /// The position of a state in the table.
    pub fn state(&mut self, state: usize) -> usize {
        *self.states.entry(state).or_insert_with(|| {
            self.used.states.push(self.all.states[state].clone());
            self.used.states.len() - 1
        })
    }

    /// The position of a mark in the table.
    pub fn mark(&mut self, mark: usize) -> usize {
        *self.marks.entry(mark).or_insert_with(|| {
            self.used.marks.push(self.all.marks[mark].clone());
            self.used.marks.len() - 1
        })
    }

    /// The table.
    pub fn into_table(self) -> AutomatonNames {
        self.used
    }
}
