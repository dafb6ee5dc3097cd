//! Parts of properties, right ones and changed ones, over the smallest invariants: what the checker accepts is true, and the same by
//! both means.

use crate::common::holds;
use audit::certificate::{CertificateError, Means, check_by};
use base::SourceFile;
use evidence::Certificate;
use evidence::implication::{Demand, Implied, Part};
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use testkit::Product;
use testkit::choices::Choices;
use testkit::local::Local;
use testkit::program::{self, PROFILES};

/// Loses or changes a part, or whose invariants it is said to follow from.
fn change(parts: &mut Vec<Implied>, processes: &[ProcessId], choices: &mut Choices) {
    if parts.is_empty() {
        return;
    }
    let at = choices.below(parts.len());
    let any = |choices: &mut Choices| processes[choices.below(processes.len())];
    if choices.chance(30) {
        let lost = choices.below(parts[at].from.len().max(1));
        if lost < parts[at].from.len() {
            parts[at].from.remove(lost);
        }
        return;
    }
    if choices.chance(30) {
        parts.remove(at);
        return;
    }
    match &mut parts[at].part {
        Part::NoFault(movers) => movers[0] = any(choices),
        Part::NoRace(one, _) => one[0] = any(choices),
        Part::NoDeadlock => parts[at].part = Part::NoFault(vec![any(choices)]),
        Part::Clause(clause) => {
            let n_conditions = clause.conditions.len();
            let literal = match n_conditions > 0 && choices.chance(50) {
                true => &mut clause.conditions[choices.below(n_conditions)],
                false => &mut clause.claim,
            };
            match choices.below(4) {
                0 => literal.demand = *choices.pick(&[Demand::True, Demand::False, Demand::HasValue]),
                1 if n_conditions > 0 => drop(clause.conditions.remove(choices.below(n_conditions))),
                2 => drop(literal.path.pop()),
                _ => {
                    if let Some(value) = literal.bound.last_mut() {
                        *value = choices.pick(&["0", "1", "2", "P[0]", "P[1]", "Q[0]", "true"]).to_string();
                    }
                }
            }
        }
    }
}

fn class<T>(result: &Result<T, CertificateError>) -> &'static str {
    match result {
        Ok(_) => "accepted",
        Err(CertificateError::Refused(_)) => "refused",
        Err(CertificateError::Malformed(_)) => "malformed",
        Err(_) => "other",
    }
}

/// Asks both means about a property in parts; how many were accepted and refused.
fn judge(
    product: &Product,
    (local, certificate): (&Local<'_>, &Certificate),
    property: &Property,
    choices: &mut Choices,
) -> [usize; 2] {
    let model = local.model;
    let processes: Vec<ProcessId> = model.processes.ids().collect();
    let is_true = holds(model, product, property);
    let mut counts = [0, 0];
    for round in 0..6 {
        let mut implication = testkit::implication::some(model, &property.kind, choices);
        (0..round.min(2)).for_each(|_| change(&mut implication, &processes, choices));
        let stated = Certificate { property: property.name.clone(), implication, ..certificate.clone() };
        let listed = check_by(Means::Listing, model, property, &stated);
        let drawn = check_by(Means::Diagrams, model, property, &stated);
        assert_eq!(class(&listed), class(&drawn), "{listed:?}, {drawn:?}: {:#?}", stated.implication);
        assert!(
            listed.is_err() || is_true,
            "`{}` is accepted of {} and false: {:#?}",
            property.text,
            model.name,
            stated.implication
        );
        counts[usize::from(listed.is_err())] += 1;
    }
    counts
}

#[test]
fn parts_of_properties_prove_nothing_that_is_false() {
    let mut counts = [0, 0];
    for seed in 0..48 {
        let mut choices = Choices::from_seed(seed);
        let profile = &PROFILES[seed as usize % PROFILES.len()];
        let text = program::text(&mut choices, profile);
        let Ok(loaded) = lang::load(&SourceFile::new("random.pw", text.as_str()), &[]) else { continue };
        let model = &loaded.model;
        let is_wide = |cell: &model::variable::Cell| cell.ty.n_values(model.type_context()) > 16;
        if !model.procedures.is_empty() || model.cells.iter().any(is_wide) {
            continue;
        }
        let Some(product) = Product::explore(model, 80) else { continue };
        for k in 1..=model.processes.len().min(2) {
            let local = Local { limit: 60, ..Local::new(model, k) };
            let Some(sets) = local.invariant() else { continue };
            let certificate = local.certificate(&sets, "");
            for property in model.properties.iter().filter(|one| !matches!(one.kind, PropertyKind::Temporal(_))) {
                let [accepted, refused] = judge(&product, (&local, &certificate), property, &mut choices);
                counts = [counts[0] + accepted, counts[1] + refused];
            }
        }
    }
    assert!(counts[0] > 50 && counts[1] > 50, "accepted, refused: {counts:?}");
}
