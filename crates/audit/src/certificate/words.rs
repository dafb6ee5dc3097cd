//! View states and obligations in the user's words.

use evidence::certificate::{Column, LocalFact};
use model::eval::{Link, Move, Turn};
use model::print;
use model::process::ProcessId;

use super::numbering::{Numbering, name};
use super::{CertificateError, Refusal};

/// A view state: `x = 0, P[0]@leave, P[1]@crit`.
pub(super) fn view(numbering: &Numbering<'_>, columns: &[Column], row: &[impl Copy + Into<u64>]) -> String {
    if columns.is_empty() {
        return "any state".to_owned();
    }
    let parts: Vec<String> =
        columns.iter().zip(row).map(|(&column, &number)| part(numbering, column, number.into())).collect();
    parts.join(", ")
}

fn part(numbering: &Numbering<'_>, column: Column, number: u64) -> String {
    let model = numbering.model;
    match column {
        Column::Cell(cell) => {
            format!("{} = {}", model.cells[cell].name, print::value(model, numbering.value_of(cell, number)))
        }
        Column::Control(process) => format!("{}@{}", name(model, process), point(numbering, process, number as u32)),
        Column::Exposed(process) => {
            let facts = numbering.facts(process).iter().zip(numbering.block(process, number as u32));
            let shown: Vec<String> = facts.map(|(fact, &holds)| local_fact(numbering, process, fact, holds)).collect();
            if shown.is_empty() { format!("{} anywhere", name(model, process)) } else { shown.join(" and ") }
        }
    }
}

/// A control point: its place, and the values of the counters where there are any.
fn point(numbering: &Numbering<'_>, process: ProcessId, number: u32) -> String {
    let point = &numbering.points(process)[number as usize];
    let place = &numbering.model.places[point.place].name;
    if point.counters.is_empty() {
        return place.clone();
    }
    let counters: Vec<String> = point.counters.iter().map(|(_, value)| print::value(numbering.model, *value)).collect();
    format!("{place}[{}]", counters.join(", "))
}

fn local_fact(numbering: &Numbering<'_>, process: ProcessId, fact: &LocalFact, holds: bool) -> String {
    let model = numbering.model;
    let text = match fact {
        LocalFact::Control(points) => {
            let points: Vec<String> = points.iter().map(|&at| point(numbering, process, at as u32)).collect();
            format!("{}@{{{}}}", name(model, process), points.join(", "))
        }
        LocalFact::Cell(cell, value) => format!("{} = {}", model.cells[*cell].name, print::value(model, *value)),
        LocalFact::OneOf(lists) => {
            let all = |facts: &Vec<LocalFact>| {
                let texts = facts.iter().map(|fact| local_fact(numbering, process, fact, true));
                texts.collect::<Vec<String>>().join(" and ")
            };
            format!("({})", lists.iter().map(all).collect::<Vec<String>>().join(" or "))
        }
    };
    if holds { text } else { format!("not {text}") }
}

/// A step: "the step `release x` of P[0]".
pub(super) fn step(numbering: &Numbering<'_>, by: &Move) -> String {
    by.links().map(|one| link(numbering, one)).collect::<Vec<String>>().join(", then ")
}

/// One action or rendezvous of a step, likewise.
pub(super) fn link(numbering: &Numbering<'_>, by: Link) -> String {
    let model = numbering.model;
    let statement = |action| &model.statements[model.actions[action].statement].text;
    let own = format!("the step `{}` of {}", statement(by.action), name(model, by.process));
    match by.partner {
        None => own,
        Some((partner, action)) => format!("{own} with `{}` of {}", statement(action), name(model, partner)),
    }
}

/// A turn: a step, or "P[0] standing still".
pub(super) fn turn(numbering: &Numbering<'_>, turn: &Turn) -> String {
    match turn {
        Turn::Step(by) => step(numbering, by),
        Turn::StandStill(process) => format!("{} standing still", name(numbering.model, *process)),
    }
}

/// A refusal of an obligation.
pub(super) fn refused<T>(obligation: impl Into<String>, finding: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError::Refused(Refusal { obligation: obligation.into(), finding: finding.into() }))
}
