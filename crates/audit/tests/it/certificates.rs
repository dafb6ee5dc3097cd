//! Certificates on random programs: true ones are accepted by both means, changed ones only if they are still right.

use std::cell::Cell;
use std::collections::HashSet;

use crate::common::{Prepared, prepared, properties};
use audit::certificate::{CertificateError, Means, check_by};
use evidence::Certificate;
use evidence::certificate::{ClaimedSymmetry, ProcessDimension};
use model::Model;
use model::symmetry::{asymmetries, process_dimensions};
use testkit::local::LocalDefinition;
use testkit::local::definition::ClosureDefinition;
use testkit::{Product, RandomFeatures, for_each_program};

/// Programs without procedures, of which local proofs know nothing.
fn shape() -> RandomFeatures {
    RandomFeatures { procedures: false, ..RandomFeatures::everything() }
}

#[test]
fn the_smallest_invariants_are_accepted_where_they_imply_the_property() {
    for_each_program(25, shape(), |_, model| {
        let Some(product) = Product::explore(model, 300) else { return Ok(()) };
        for prepared in prepared(model) {
            let certificate = prepared.local.certificate(&prepared.sets, "");
            let rule = ClosureDefinition::new(model, prepared.invariant(&certificate), 1000);
            if rule.is_invariant() == Some(false) {
                return Err("the smallest invariant is not invariant".to_string());
            }
            for property in properties(model) {
                let certificate = prepared.certificate(&property);
                let found = check_by(Means::Listing, model, &property, &certificate);
                let expected = rule.implies(&property.kind);
                let drawn = check_by(Means::Diagrams, model, &property, &certificate);
                if drawn.is_ok() != found.is_ok() {
                    return Err(format!("`{}`: listed {found:?}, drawn {drawn:?}", property.name));
                }
                let truth = crate::common::holds(model, &product, &property);
                match (&found, expected) {
                    (Ok(_), _) if !truth => return Err(format!("`{}` is proved and false", property.name)),
                    (Ok(_), Some(false)) => return Err(format!("`{}` is accepted and not implied", property.name)),
                    (Err(CertificateError::Refused(why)), Some(true)) if prepared.is_exact(&property) => {
                        return Err(format!("`{}` is refused and implied: {why:?}", property.name));
                    }
                    (Err(CertificateError::Refused(_)) | Ok(_), _) => {}
                    (Err(other), _) => return Err(format!("{other}")),
                }
            }
        }
        Ok(())
    });
}

/// One member for each choice of families stands for its images.
fn by_symmetry(model: &Model, certificate: &Certificate) -> Certificate {
    let mut reduced = certificate.clone();
    let invariant = reduced.facts[0].claim.split_invariant_mut().expect("it is one");
    let mut seen = HashSet::new();
    invariant.members.retain(|member| {
        seen.insert(member.processes.iter().map(|&process| model.processes[process].family).collect::<Vec<_>>())
    });
    let dimensions = |family| process_dimensions(model, family).into_iter().map(move |dimension| (dimension, family));
    let stated = model.families.ids().flat_map(dimensions);
    let stated = stated.map(|((var, dimension), family)| ProcessDimension { var, dimension, family });
    invariant.symmetry = Some(ClaimedSymmetry { dimensions: stated.collect() });
    reduced
}

#[test]
fn members_that_stand_for_their_images_say_what_all_members_say() {
    let n_compared = Cell::new(0);
    for_each_program(80, shape(), |_, model| {
        let symmetric = model.families.ids().all(|family| asymmetries(model, family).is_empty());
        if !symmetric || model.families.iter().all(|family| family.count() < 2) {
            return Ok(());
        }
        for prepared in prepared(model) {
            for property in properties(model) {
                let certificate = prepared.certificate(&property);
                let reduced = by_symmetry(model, &certificate);
                for means in [Means::Listing, Means::Diagrams] {
                    let all = check_by(means, model, &property, &certificate);
                    match check_by(means, model, &property, &reduced) {
                        Err(CertificateError::NotSymmetric(_)) => {}
                        found if found.is_ok() == all.is_ok() => n_compared.set(n_compared.get() + 1),
                        found => return Err(format!("`{}`: all {all:?}, some {found:?}", property.name)),
                    }
                }
            }
        }
        Ok(())
    });
    assert!(n_compared.get() > 100, "only {} compared", n_compared.get());
}

#[test]
fn members_stand_for_images_only_where_processes_are_alike() {
    for_each_program(60, shape(), |_, model| {
        let local = LocalDefinition { limit: 100, ..LocalDefinition::new(model, 1) };
        let Some(sets) = local.invariant() else { return Ok(()) };
        let property = &properties(model)[0];
        let reduced = by_symmetry(model, &Prepared { local: local.clone(), sets }.certificate(property));
        let symmetric = model.families.ids().all(|family| asymmetries(model, family).is_empty());
        match check_by(Means::Listing, model, property, &reduced) {
            Err(CertificateError::NotSymmetric(_)) => Ok(()),
            _ if symmetric => Ok(()),
            found => Err(format!("an asymmetric program: {found:?}")),
        }
    });
}
