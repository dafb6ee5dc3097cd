//! Views of cells checked: every obligation of `evidence::fine`, for the size at hand.
//!
//! In: a Model, a property, views. Out: how many obligations hold, or the first that does not. `plan` compares what local states consist of, `look` and `moves`
//! read the text for one process of which everything else is open, `view` checks each view by itself, or, where views are joint, with what `room` says of the
//! others; `sums` checks flows, and says which processes and cells go with them; `whole` that no state which all of them allow violates the property.

mod look;
mod moves;
mod plan;
mod room;
mod sums;
mod view;
mod whole;

use std::collections::BTreeMap;

use base::Budget;
use evidence::certificate::DischargedObligations;
use evidence::fine::{FineContent, FineProof};
use model::Model;
use model::expr::Expr;
use model::property::PropertyKind;

use super::pace::Pace;
use super::{CertificateError, Outcome, counts, races, words};
use look::{Decisions, End, Look, Names, Showing, Thing, Who, truth};
use plan::Plan;
use room::Room;
use sums::{Balance, Sum, ViewLedger};
use view::{Beside, Sight};
use whole::{Violation, Whole};

/// More ways through a property are not followed.
const MOST_WAYS: usize = 1 << 17;

/// Checks every obligation of views of cells.
pub(super) fn check(
    model: &Model,
    property: &PropertyKind,
    proof: &FineProof,
    budget: &Budget,
) -> Outcome<DischargedObligations> {
    let pace = Pace::new(budget);
    let plan = Plan::new(model, proof, &pace)?;
    let starts: Vec<usize> = plan.starts()?.into_iter().collect();
    let moves = moves::moves(&plan)?;
    let mut sights = Vec::new();
    let mut found = DischargedObligations::default();
    for view in &proof.views {
        sights.push(Sight::new(&plan, view)?);
    }
    let sums: Vec<Sum<'_>> = proof.flows.iter().map(|flow| Sum::new(&plan, flow)).collect::<Outcome<_>>()?;
    for sum in &sums {
        found = found.with(sum.check(&plan, &starts, &moves)?);
    }
    for (own, sight) in sights.iter().enumerate() {
        let rooms: Vec<Room<'_>> = match proof.is_joint {
            true => {
                (0..sights.len()).filter(|&other| other != own).map(|other| Room::new(sight, &sights[other])).collect()
            }
            false => Vec::new(),
        };
        let balances: Vec<Balance<'_>> = sums.iter().map(|sum| Balance::new(sum, sight)).collect();
        let ledger = ViewLedger::new(&sums, sight);
        let beside = Beside { rooms: &rooms, balances: &balances, ledger: &ledger };
        found = found.with(sight.check(&starts, &moves, &beside)?);
    }
    let (expr, bad) = match property {
        PropertyKind::RaceFree(var) => (races::no_race(model, *var)?, false),
        PropertyKind::Invariant(expr) => (counts::told_apart(expr, plan.family), false),
        PropertyKind::Reachable(expr) => (counts::told_apart(expr, plan.family), true),
        PropertyKind::NoErrors => {
            found.implication += 1;
            return match moves.can_fault {
                true => words::refused("no step of a listed local state may be a fault", "some step may be one"),
                false => Ok(found),
            };
        }
        _ => return Err(CertificateError::NotSupported("views of cells are about states".to_owned())),
    };
    let whole = Whole::new(&sights, &sums, &plan);
    for violation in violations(&plan, &expr, bad)? {
        found.implication += 1;
        if !excluded(&whole, &violation)? {
            return words::refused("no state that all views allow may violate the property", "one that they allow may");
        }
    }
    Ok(found)
}

/// Whether no state shows the violation; where sets of local states are too coarse to tell, their halves are asked.
fn excluded(whole: &Whole<'_, '_>, violation: &Violation) -> Outcome<bool> {
    let mut open = vec![violation.clone()];
    while let Some(one) = open.pop() {
        whole.plan.pace.did_one()?;
        if whole.excludes(&one)? {
            continue;
        }
        let size = |set: &Vec<bool>| set.iter().filter(|&&is_in| is_in).count();
        let Some(at) = one.processes.iter().position(|set| size(set) > 1) else { return Ok(false) };
        let half = size(&one.processes[at]) / 2;
        let mut parts = [one.clone(), one];
        let mut n = 0;
        for state in 0..parts[0].processes[at].len() {
            if parts[0].processes[at][state] {
                parts[usize::from(n < half)].processes[at][state] = false;
                n += 1;
            }
        }
        open.extend(parts);
    }
    Ok(true)
}

/// What states show in which the expression has the value that it must not have.
fn violations(plan: &Plan<'_>, expr: &Expr, bad: bool) -> Outcome<Vec<Violation>> {
    let refuse = || CertificateError::NotSupported("the property asks for more than views of cells show".to_owned());
    let mut found: Vec<Violation> = Vec::new();
    let mut decisions = Decisions::default();
    for _ in 0..MOST_WAYS {
        plan.pace.look()?;
        let mut look = Look::new(plan, Who::Nobody, &[], decisions);
        match look.value(expr) {
            _ if look.may_fault => return Err(refuse()),
            Ok(value) if value == truth(bad) => {
                for violation in shown(plan, &look) {
                    if !found.contains(&violation) {
                        found.push(violation);
                    }
                }
            }
            Ok(value) if value == truth(!bad) => {}
            Err(End::No) => {}
            Err(End::Stopped(reason)) => return Err((*reason).into()),
            Ok(_) | Err(End::Fault | End::Refused) => return Err(refuse()),
        }
        decisions = look.decisions;
        if !decisions.turn() {
            return Ok(found);
        }
    }
    Err(refuse())
}

fn shown(plan: &Plan<'_>, look: &Look<'_, '_>) -> Vec<Violation> {
    let n_states = plan.states.len();
    let mut everyone = vec![true; n_states];
    for set in &look.all {
        everyone.iter_mut().zip(set).for_each(|(one, &is_in)| *one &= is_in);
    }
    let mut plain =
        Violation { processes: Vec::new(), everyone, holds: Vec::new(), names: Vec::new(), somebody: Vec::new() };
    for &(column, thing) in &look.found {
        match thing {
            Thing::Value(value) => plain.holds.push((column, FineContent::Value(value))),
            Thing::Place(place) => plain.holds.push((column, FineContent::Place(place))),
            _ => plain.somebody.push(column),
        }
    }
    let Some(showing) = &look.some else { return vec![plain] };
    groups(showing, n_states)
        .into_iter()
        .map(|(processes, names)| Violation { processes, names, ..plain.clone() })
        .collect()
}

/// Local states that show the same are put together: of two processes, first those with the same partners.
fn groups(showing: &[Showing], n_states: usize) -> Vec<(Vec<Vec<bool>>, Names)> {
    let mut partners: BTreeMap<(Names, usize, usize), Vec<bool>> = BTreeMap::new();
    for one in showing {
        let key = (one.names.clone(), one.states.len(), one.states.first().copied().unwrap_or(0));
        let set = partners.entry(key).or_insert_with(|| vec![false; n_states]);
        if let Some(&other) = one.states.get(1) {
            set[other] = true;
        }
    }
    let mut firsts: BTreeMap<(Names, usize, Vec<bool>), Vec<bool>> = BTreeMap::new();
    for ((names, n, first), others) in partners {
        firsts.entry((names, n, others)).or_insert_with(|| vec![false; n_states])[first] = true;
    }
    let processes = |n: usize, first: Vec<bool>, others: Vec<bool>| match n {
        0 => Vec::new(),
        1 => vec![first],
        _ => vec![first, others],
    };
    firsts.into_iter().map(|((names, n, others), first)| (processes(n, first, others), names)).collect()
}
