//! Random Promela programs, as trees of lines that can be made smaller.
//!
//! In: choices. Out: a [`Promela`], two or three processes over small variables and channels, with what the language has to go wrong:
//! numbers near the ends of their types, meetings and buffers, `atomic` and `d_step` that may block, `else`, `timeout`, `unless`, `run`, jumps,
//! and one question. [`Promela::text`] writes it down; [`Promela::smaller`] gives programs with a part less.

mod asked;
mod declared;
mod parts;
mod talk;

use std::fmt::Write;

use crate::choices::Choices;
use parts::PromelaMaker;

/// What is asked about a program besides assertions and end states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromelaQuestion {
    /// An `ltl` block of this formula, called `p`.
    Ltl(String),
    /// A `never` claim with this body.
    Never(String),
    /// `accept` labels.
    Acceptance,
    /// `progress` labels.
    Progress,
}

/// A random program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promela {
    /// Declarations, one on each line.
    pub globals: Vec<String>,
    /// Its processes.
    pub processes: Vec<PromelaProcess>,
    /// What is asked.
    pub asked: Option<PromelaQuestion>,
}

/// A proctype, or `init`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromelaProcess {
    /// The text before the body.
    pub head: String,
    /// Its body.
    pub body: Vec<PromelaStatement>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromelaStatement {
    /// A line of text.
    Line(String),
    /// `if` or `do` with its options.
    Choice {
        /// Labels before it.
        label: String,
        /// `if` or `do`.
        word: &'static str,
        /// The options.
        options: Vec<Vec<PromelaStatement>>,
    },
    /// A block of statements behind a word.
    Block {
        /// Labels and the word before the brace.
        head: String,
        /// What is inside.
        body: Vec<PromelaStatement>,
        /// The escape of an `unless`.
        escape: Option<Vec<PromelaStatement>>,
    },
}

impl Promela {
    /// A random program.
    pub fn random(choices: &mut Choices) -> Promela {
        PromelaMaker::new(choices).program()
    }

    /// The program as SPIN reads it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.globals {
            out.push_str(line);
            out.push('\n');
        }
        for process in &self.processes {
            let _ = writeln!(out, "{} {{", process.head);
            write_body(&process.body, 1, &mut out);
            out.push_str("}\n");
        }
        match &self.asked {
            Some(PromelaQuestion::Ltl(formula)) => {
                let _ = writeln!(out, "ltl p {{ {formula} }}");
            }
            Some(PromelaQuestion::Never(body)) => {
                let _ = writeln!(out, "never {{ {body} }}");
            }
            _ => {}
        }
        out
    }

    /// Programs with one part less, the boldest first.
    pub fn smaller(&self) -> Vec<Promela> {
        let mut found = Vec::new();
        for at in 0..self.processes.len() {
            let mut less = self.clone();
            less.processes.remove(at);
            found.push(less);
        }
        for (at, process) in self.processes.iter().enumerate() {
            for body in smaller_bodies(&process.body) {
                let mut less = self.clone();
                less.processes[at].body = body;
                found.push(less);
            }
            if process.head.contains("active [2]") {
                let mut less = self.clone();
                less.processes[at].head = process.head.replace("active [2]", "active");
                found.push(less);
            }
        }
        for at in 0..self.globals.len() {
            let mut less = self.clone();
            less.globals.remove(at);
            found.push(less);
        }
        found
    }
}

fn write_body(body: &[PromelaStatement], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    if body.is_empty() {
        let _ = writeln!(out, "{indent}skip;");
    }
    for node in body {
        match node {
            PromelaStatement::Line(line) => {
                let _ = writeln!(out, "{indent}{line};");
            }
            PromelaStatement::Choice { label, word, options } => {
                let _ = writeln!(out, "{indent}{label}{word}");
                for option in options {
                    let _ = writeln!(out, "{indent}::");
                    write_body(option, depth + 1, out);
                }
                let _ = writeln!(out, "{indent}{};", if *word == "if" { "fi" } else { "od" });
            }
            PromelaStatement::Block { head, body, escape } => {
                let _ = writeln!(out, "{indent}{head} {{");
                write_body(body, depth + 1, out);
                match escape {
                    None => {
                        let _ = writeln!(out, "{indent}}};");
                    }
                    Some(escape) => {
                        let _ = writeln!(out, "{indent}}} unless {{");
                        write_body(escape, depth + 1, out);
                        let _ = writeln!(out, "{indent}}};");
                    }
                }
            }
        }
    }
}

/// Bodies with one part less.
fn smaller_bodies(body: &[PromelaStatement]) -> Vec<Vec<PromelaStatement>> {
    let mut found = Vec::new();
    let put = |at: usize, new: Vec<PromelaStatement>| [&body[..at], &new, &body[at + 1..]].concat();
    for at in 0..body.len() {
        if body.len() > 1 {
            found.push(put(at, Vec::new()));
        }
    }
    for (at, node) in body.iter().enumerate() {
        match node {
            PromelaStatement::Line(_) => {}
            PromelaStatement::Choice { label, word, options } => {
                for (position, option) in options.iter().enumerate() {
                    let rebuilt = |options: Vec<Vec<PromelaStatement>>| PromelaStatement::Choice {
                        label: label.clone(),
                        word,
                        options,
                    };
                    found.push(put(at, option.clone()));
                    if options.len() > 1 {
                        let mut fewer = options.clone();
                        fewer.remove(position);
                        found.push(put(at, vec![rebuilt(fewer)]));
                    }
                    for smaller in smaller_bodies(option) {
                        let mut changed = options.clone();
                        changed[position] = smaller;
                        found.push(put(at, vec![rebuilt(changed)]));
                    }
                }
            }
            PromelaStatement::Block { head, body: inner, escape } => {
                found.push(put(at, inner.clone()));
                for body in smaller_bodies(inner) {
                    found.push(put(
                        at,
                        vec![PromelaStatement::Block { head: head.clone(), body, escape: escape.clone() }],
                    ));
                }
                if let Some(escape) = escape {
                    found.push(put(
                        at,
                        vec![PromelaStatement::Block { head: head.clone(), body: inner.clone(), escape: None }],
                    ));
                    for escape in smaller_bodies(escape) {
                        let (head, body, escape) = (head.clone(), inner.clone(), Some(escape));
                        found.push(put(at, vec![PromelaStatement::Block { head, body, escape }]));
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_programs_and_smaller_ones_are_smaller() {
        for seed in 0..20 {
            let program = Promela::random(&mut Choices::from_seed(seed));
            assert_eq!(program, Promela::random(&mut Choices::from_seed(seed)));
            let length = program.text().len();
            assert!(program.smaller().iter().all(|less| less.text().len() < length + 8), "{}", program.text());
        }
    }
}
