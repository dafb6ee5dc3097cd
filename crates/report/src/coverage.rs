//! What `explore --coverage` and `explore --dot` say: statements that are never reached, how often others are, a small state graph.

use base::{SourceFile, StopReason};
use explain::names::{line, shared_variables, state_line};
use explain::steps::statements_of;
use model::Model;
use model::control::StatementId;
use model::eval::{Move, State};
use model::variable::VarId;

use crate::explore::{CoverageDocument, StatementCount};
use crate::numbers::{count, counted};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, pad_left};

/// What was seen of a program.
#[derive(Clone, Copy, Debug)]
pub struct Covered<'a> {
    /// The text.
    pub source: &'a SourceFile,
    /// The program.
    pub model: &'a Model,
    /// The states.
    pub states: &'a [State],
    /// How often each statement was taken, in the order of the text.
    pub statements: &'a [(StatementId, u64)],
    /// Variables that have one value in all states.
    pub constant: &'a [VarId],
    /// Why not everything was seen.
    pub stopped: Option<&'a StopReason>,
}

/// For people.
pub fn text(covered: &Covered<'_>, style: &Style) -> String {
    let Covered { source, model, statements, .. } = *covered;
    let mut out = String::new();
    let never = statements.iter().filter(|(_, taken)| *taken == 0).count();
    let head = match (covered.stopped, never) {
        (Some(_), _) => {
            let states = counted(covered.states.len() as u64, "state", "states");
            style.paint(Ink::Doubt, &format!("{} coverage of the first {states} only", style.mark(Mark::Unknown)))
        }
        (None, 0) => style.paint(Ink::Good, &format!("{} every statement is reached", style.mark(Mark::Holds))),
        (None, never) => {
            let never = counted(never as u64, "statement is", "statements are");
            style.paint(Ink::Doubt, &format!("{} {never} never reached", style.mark(Mark::Warning)))
        }
    };
    out.push_str(&format!("{head}\n"));
    let numbers: Vec<String> = statements.iter().map(|(_, taken)| count(*taken)).collect();
    let column = numbers.iter().map(|number| number.chars().count()).max().unwrap_or(0).max("taken".len());
    out.push_str(&format!("  {}  {:>4}  statement\n", pad_left("taken", column), "line"));
    for ((statement, taken), number) in statements.iter().zip(&numbers) {
        let declared = &model.statements[*statement];
        let row =
            format!("  {}  {:>4}  {}", pad_left(number, column), line(source, declared.span), clean(&declared.text));
        let row = cut(&row, style.width, style);
        out.push_str(&if *taken == 0 { style.paint(Ink::Doubt, &row) } else { row });
        out.push('\n');
    }
    for &var in covered.constant {
        let name = clean(&model.vars[var].name);
        let value = covered.states.first().and_then(|state| {
            shared_variables(model, state).into_iter().find(|(shared, _)| *shared == model.vars[var].name)
        });
        let value = value.map_or(String::new(), |(_, value)| format!(": it is always {value}"));
        out.push_str(&format!("  {} `{name}` never changes{value}\n", style.painted(Ink::Doubt, Mark::Warning)));
    }
    out
}

/// For scripts.
pub fn document(covered: &Covered<'_>) -> CoverageDocument {
    let Covered { source, model, statements, .. } = *covered;
    let statement = |(id, taken): &(StatementId, u64)| {
        let declared = &model.statements[*id];
        StatementCount { line: line(source, declared.span), statement: declared.text.clone(), taken: *taken }
    };
    CoverageDocument {
        statements: statements.iter().map(statement).collect(),
        never_change: covered.constant.iter().map(|&var| model.vars[var].name.clone()).collect(),
        complete: covered.stopped.is_none(),
    }
}

/// A drawing for Graphviz: a node for each state, an edge for each step.
pub fn dot(model: &Model, states: &[State], steps: impl Iterator<Item = (usize, usize, Move)>) -> String {
    let quoted = |text: &str| format!("\"{}\"", clean(text).replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = format!("digraph {} {{\n  node [shape=box, fontname=monospace];\n", quoted(&model.name));
    for (number, state) in states.iter().enumerate() {
        let label = quoted(&state_line(model, state)).replace("  ", "\\n");
        let first = if number == 0 { ", penwidth=2" } else { "" };
        out.push_str(&format!("  s{number} [label={label}{first}];\n"));
    }
    for (from, to, by) in steps {
        let label = quoted(&format!("{}: {}", model.processes[by.process].name, statements_of(model, &by)));
        out.push_str(&format!("  s{from} -> s{to} [label={label}];\n"));
    }
    out + "}\n"
}
