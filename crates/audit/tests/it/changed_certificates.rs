//! Changed certificates: accepted only if, by the rule word by word, they are still right.

use std::cell::Cell;

use crate::common::{Prepared, holds, prepared, properties, property};
use audit::certificate::{CertificateError, Means, check_by};
use evidence::Certificate;
use evidence::certificate::{LocalFact, SplitInvariant, StateSet};
use model::Model;
use model::property::PropertyKind;
use testkit::choices::Choices;
use testkit::expr::truth;
use testkit::local::definition::ClosureDefinition;
use testkit::local::meaning;
use testkit::{Product, RandomFeatures, for_each_program};

/// The ways in which certificates are changed.
const N_CHANGES: usize = 10;

fn invariant(certificate: &mut Certificate) -> &mut SplitInvariant {
    certificate.facts[0].claim.split_invariant_mut().expect("it is one")
}

/// Changes a certificate in one of several ways; `None` where there is nothing to change.
fn changed(certificate: &Certificate, way: usize, choices: &mut Choices) -> Option<Certificate> {
    let mut changed = certificate.clone();
    let claim = invariant(&mut changed);
    let n_members = claim.members.len();
    let at = choices.below(n_members);
    let n_processes = claim.points.len();
    let process = choices.below(n_processes);
    let StateSet::Rows(rows) = &mut claim.members[at].states else { return None };
    if rows.is_empty() {
        return None;
    }
    let row = choices.below(rows.len());
    match way {
        // A row is lost.
        0 => drop(rows.remove(row)),
        // A number is another one.
        1 => {
            let column = choices.below(rows[row].len());
            rows[row][column] = choices.below(4) as u32;
        }
        // A row is added.
        2 => {
            let mut new = rows[row].clone();
            let column = choices.below(new.len());
            new[column] = choices.below(3) as u32;
            rows.push(new);
        }
        // A column is lost.
        3 => {
            let column = choices.below(rows[row].len());
            for row in rows.iter_mut() {
                row.remove(column);
            }
            claim.members[at].columns.remove(column);
        }
        // Two members have each other's states.
        4 => {
            let other = choices.below(n_members);
            let states = claim.members[at].states.clone();
            claim.members[at].states = std::mem::replace(&mut claim.members[other].states, states);
        }
        // A member is lost, or there twice.
        5 if choices.chance(50) => drop(claim.members.remove(at)),
        5 => claim.members.push(claim.members[at].clone()),
        // Two control points have each other's numbers.
        6 => {
            let n_points = claim.points[process].len();
            let (one, other) = (choices.below(n_points), choices.below(n_points));
            claim.points[process].swap(one, other);
        }
        // An exposed fact is lost.
        7 => {
            let exposed = &mut claim.exposed[process];
            exposed.facts.pop()?;
            for block in &mut exposed.blocks {
                block.pop();
            }
        }
        // An exposed fact is another one.
        8 => match claim.exposed[process].facts.first_mut()? {
            LocalFact::Control(points) if points.is_empty() => points.push(0),
            LocalFact::Control(points) => points.clear(),
            LocalFact::Cell(..) | LocalFact::OneOf(_) => return None,
        },
        // Blocks have each other's numbers.
        _ => {
            let blocks = &mut claim.exposed[process].blocks;
            if blocks.len() < 2 {
                return None;
            }
            blocks.swap(0, 1);
        }
    }
    for member in &mut invariant(&mut changed).members {
        if let StateSet::Rows(rows) = &mut member.states {
            rows.sort_unstable();
            rows.dedup();
        }
    }
    Some(changed)
}

/// Checks by all means, from rows and from diagrams; they must agree.
fn verdict(model: &Model, asked: &model::property::Property, certificate: &Certificate) -> Result<Verdict, String> {
    let listed = check_by(Means::Listing, model, asked, certificate);
    let mut drawn = certificate.clone();
    if let Err(CertificateError::Malformed(_)) = listed {
    } else {
        let claim = invariant(&mut drawn);
        for at in 0..claim.members.len() {
            let sizes = meaning::sizes(model, claim, &claim.members[at]);
            let columns: Vec<usize> = (0..sizes.len()).rev().collect();
            if let StateSet::Rows(rows) = &claim.members[at].states
                && !rows.is_empty()
            {
                claim.members[at].states = meaning::drawn(&sizes, rows, &columns);
            }
        }
    }
    let others = [
        ("drawn rows", check_by(Means::Diagrams, model, asked, certificate)),
        ("listed diagram", check_by(Means::Listing, model, asked, &drawn)),
        ("diagram", check_by(Means::Diagrams, model, asked, &drawn)),
    ];
    for (means, other) in others {
        if class(&other) != class(&listed) {
            return Err(format!("`{}`: listed {listed:?}, {means} {other:?}", asked.name));
        }
    }
    Ok(class(&listed))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accepted,
    Refused,
    Malformed,
    Other,
}

fn class<T>(result: &Result<T, CertificateError>) -> Verdict {
    match result {
        Ok(_) => Verdict::Accepted,
        Err(CertificateError::Refused(_)) => Verdict::Refused,
        Err(CertificateError::Malformed(_)) => Verdict::Malformed,
        Err(_) => Verdict::Other,
    }
}

/// Whether the checker and the rule word by word have to agree, not only the one to be stricter: nothing is exposed, and all
/// see everything.
fn agree_exactly(prepared: &Prepared<'_>, way: usize) -> bool {
    let everything = testkit::local::LocalDefinition::new(prepared.local.model, 1).views;
    prepared.local.exposed.iter().all(Vec::is_empty) && prepared.local.views == everything && way != 3
}

#[test]
fn changed_certificates_are_accepted_only_if_they_are_still_right() {
    let (n_accepted, n_refused) = (Cell::new(0), Cell::new(0));
    for_each_program(12, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        let Some(product) = Product::explore(model, 100) else { return Ok(()) };
        let nothing = property(PropertyKind::Invariant(truth(true)), 99);
        let mut choices = Choices::from_seed(model.cells.len() as u64);
        for prepared in prepared(model) {
            for way in 0..N_CHANGES {
                let Some(changed) = changed(&prepared.certificate(&nothing), way, &mut choices) else { continue };
                let found = verdict(model, &nothing, &changed)?;
                if found == Verdict::Malformed {
                    continue;
                }
                let mut numbered = changed.clone();
                let right = ClosureDefinition::new(model, invariant(&mut numbered), 600).is_invariant();
                let strict = found == Verdict::Accepted && right == Some(false);
                let lenient = found == Verdict::Refused && right == Some(true) && agree_exactly(&prepared, way);
                if strict || lenient || found == Verdict::Other {
                    let why = check_by(Means::Listing, model, &nothing, &changed);
                    return Err(format!("change {way}: {why:?}, but right is {right:?}"));
                }
                if found == Verdict::Refused {
                    n_refused.set(n_refused.get() + 1);
                    continue;
                }
                n_accepted.set(n_accepted.get() + 1);
                for asked in properties(model) {
                    let implies = prepared.local.implies(&asked.kind);
                    let changed = Certificate { property: asked.name.clone(), implies, ..changed.clone() };
                    if verdict(model, &asked, &changed)? == Verdict::Accepted && !holds(model, &product, &asked) {
                        return Err(format!("change {way}: `{}` is proved and false", asked.name));
                    }
                }
            }
        }
        Ok(())
    });
    let counts = (n_accepted.get(), n_refused.get());
    assert!(counts.0 > 50 && counts.1 > 200, "accepted, refused: {counts:?}");
}

#[test]
fn a_certificate_of_another_property_is_refused() {
    for_each_program(10, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        let Some(prepared) = prepared(model).pop() else { return Ok(()) };
        let asked = properties(model);
        match check_by(Means::Listing, model, &asked[0], &prepared.certificate(&asked[1])) {
            Err(CertificateError::Malformed(what)) if what.starts_with("it is about") => Ok(()),
            found => Err(format!("{found:?}")),
        }
    });
}
