//! That fairness assumptions have a value in every state of every size: a run in which one has none decides nothing about a property.
//!
//! In: a Model and the assumptions of a way to violate a property. Out: nothing, or a refusal that names the assumption. Only the shape of their expressions counts: they
//! compute nothing, look into no array, go through no numbers, and no number names a process.

use model::Model;
use model::fairness::FairnessId;

use super::defined::has_value;
use super::propagation::conditions::expressions;
use super::{CertificateError, Outcome};

/// Refuses assumptions that may have no value.
pub(super) fn check_values(model: &Model, assumed: &[FairnessId]) -> Outcome<()> {
    for &id in assumed {
        let pair = &model.fairness[id];
        if !expressions(pair).into_iter().all(has_value) {
            return Err(CertificateError::NotSupported(format!("`{}` may have no value", pair.name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base::SourceFile;

    use super::*;

    /// Whether the checker takes a condition for one that has a value in every state of every size.
    fn is_accepted(condition: &str) -> bool {
        let text = format!(
            "program p(N: 2..) {{ shared x: 0..=3; shared a: [0..=3; N]; shared o: pid(P)?; shared s: set of pid(P);
             process P[i in 0..<N] {{ public y: 0..=3; loop {{ l: skip; }} }}
             process Q {{ public z: 0..=1; loop {{ q: skip; }} }}
             property t: always x == 0 under strong ({condition}) => x == 1; }}"
        );
        let model = lang::load(&SourceFile::new("assumed.pw", &text), &[]).unwrap_or_else(|_| panic!("{text}")).model;
        let property = model.properties.iter().find(|one| one.name == "t").unwrap();
        check_values(&model, &property.under.any_of[0]).is_ok()
    }

    #[test]
    fn what_is_compared_has_a_value_and_what_is_computed_may_have_none() {
        for condition in [
            "x == 1",
            "!(x == 1) => x < 2",
            "Q.z == 1 || Q@q",
            "o == none",
            "forall k in P: P[k].y < 2 && P[k]@l",
            "if x == 1 then x == 2 else x == 3",
        ] {
            assert!(is_accepted(condition), "{condition}");
        }
        for condition in [
            "6 / x == 1",
            "x < 3 && x + 1 == 2",
            "-x == 0",
            "a[0] == 1",
            "a[x] == 1",
            "P[o].y == 1",
            "P[o]@l",
            "P[x].y == 1",
            "if 6 / x == 1 then true else false",
            "if x == 1 then 6 / x == 1 else true",
            "if x == 1 then true else 6 / x == 1",
            "forall k in 0..<3: x != k",
            "exists k in P: k < 1",
            "exists k in P: 6 / P[k].y == 1",
            "forall k in s: P[k].y == 1",
        ] {
            assert!(!is_accepted(condition), "{condition}");
        }
    }
}
