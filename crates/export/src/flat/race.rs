//! Races as a term: two processes are about to touch one element, one of them writing.
//!
//! In: a flat program, whose steps know what they touch and when, and a variable. Out: when there is a race on it.

use model::Model;
use model::variable::VarId;

use super::{Flat, StepPart, TouchedElement};
use crate::term::{Term, VarNo};

/// A step, faulty or not.
struct RaceStep<'f> {
    movers: &'f [StepPart],
    when: Term,
    touched: Vec<&'f TouchedElement>,
}

/// When two processes each have an enabled step that touches the same element of the variable, one of them writing.
pub fn race(model: &Model, flat: &Flat, var: VarId) -> Term {
    let owners = std::iter::once(None).chain(model.processes.ids().map(Some));
    let copies: Vec<VarNo> = owners.filter_map(|owner| flat.places.get(&(var, owner)).copied()).collect();
    let parts = flat.steps.iter().map(|step| (&step.movers, &step.guard, &step.touched));
    let faults = flat.faults.iter().map(|fault| (&fault.movers, &fault.condition, &fault.touched));
    let parts: Vec<RaceStep<'_>> = parts
        .chain(faults)
        .map(|(movers, guard, touched)| RaceStep {
            movers,
            when: Term::all(movers.iter().map(|mover| Term::at(mover.process, vec![mover.source]))).and(guard),
            touched: touched.iter().filter(|touched| copies.contains(&touched.var)).collect(),
        })
        .filter(|part| !part.touched.is_empty())
        .collect();
    let mut found = Term::truth(false);
    for (at, one) in parts.iter().enumerate() {
        for other in parts[..at].iter().filter(|other| possible_together(one, other)) {
            let same_element = meeting(one, other);
            if !same_element.is(false) {
                found = found.or(&one.when.and(&other.when).and(&same_element));
            }
        }
    }
    found
}

/// Whether no process would have to be at two places.
fn possible_together(one: &RaceStep<'_>, other: &RaceStep<'_>) -> bool {
    let pairs = one.movers.iter().flat_map(|mover| other.movers.iter().map(move |theirs| (mover, theirs)));
    pairs.into_iter().all(|(mover, theirs)| mover.process != theirs.process || mover.source == theirs.source)
}

/// When the two touch one element for different processes, one of them writing.
fn meeting(one: &RaceStep<'_>, other: &RaceStep<'_>) -> Term {
    let mut found = Term::truth(false);
    for mine in &one.touched {
        for theirs in &other.touched {
            if mine.process != theirs.process && mine.var == theirs.var && (mine.writes || theirs.writes) {
                let same = Term::all(mine.index.iter().zip(&theirs.index).map(|(a, b)| a.equal(b)));
                found = found.or(&mine.when.and(&theirs.when).and(&same));
            }
        }
    }
    found
}
