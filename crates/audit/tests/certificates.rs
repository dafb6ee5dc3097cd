//! Certificates on random programs: true ones are accepted by both means, changed ones only if they are still right.

mod common;

use audit::certificate::{CertificateError, Means, check_by};
use common::{prepared, properties};
use testkit::local::definition::Rule;
use testkit::{Product, Shape, for_each_program};

/// Programs without procedures, of which local proofs know nothing.
fn shape() -> Shape {
    Shape { procedures: false, ..Shape::everything() }
}

#[test]
fn the_smallest_invariants_are_accepted_where_they_imply_the_property() {
    for_each_program(40, shape(), |_, model| {
        let Some(product) = Product::explore(model, 300) else { return Ok(()) };
        for prepared in prepared(model) {
            let certificate = prepared.certificate("");
            let rule = Rule::new(model, prepared.invariant(&certificate), 1000);
            if rule.is_invariant() == Some(false) {
                return Err("the smallest invariant is not invariant".to_string());
            }
            for property in properties(model) {
                let certificate = prepared.certificate(&property.name);
                let found = check_by(Means::Listing, model, &property, &certificate);
                let expected = rule.implies(&property.kind);
                let drawn = check_by(Means::Diagrams, model, &property, &certificate);
                if drawn.is_ok() != found.is_ok() {
                    return Err(format!("`{}`: listed {found:?}, drawn {drawn:?}", property.name));
                }
                let truth = common::holds(model, &product, &property);
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
