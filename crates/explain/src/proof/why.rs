//! Why a property follows from the invariants, in one line.
//!
//! In: the property and what the proof says. Out: for mutual exclusion the sentence that two processes at once would contradict; in
//! general, that the property was compared with the sentences case by case. Whether it does follow is for `audit` to say.

use engine::PropertyId;
use model::Model;
use model::control::PlaceId;
use model::expr::{BinaryOp, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::print::Printer;
use model::process::FamilyId;
use model::property::PropertyKind;

use super::LocalProof;
use super::formula::{NamedProcess, PlaceName, Quantity, SentenceFormula};

/// The line; `None` where there is nothing to add.
pub fn why(model: &Model, property: PropertyId, explanation: &LocalProof) -> Option<String> {
    let PropertyKind::Invariant(expr) = &model.properties[property].kind else { return None };
    let [part] = &explanation.parts[..] else { return None };
    let exclusion = PlaceExclusion::of(model, expr)?;
    let both = &exclusion.both;
    if let Some(nth) = part.always.iter().position(|one| exclusion.is_excluded(&one.formula)) {
        return Some(format!("{both} contradicts I{}", nth + 1));
    }
    let at = part.places.iter().find(|at| contains(&at.spots, &exclusion.one)).filter(|_| part.is_all)?;
    let says = at.says.iter().find(|one| exclusion.is_other_excluded(&one.formula))?;
    Some(format!("{both} contradicts what holds at {}: {}", exclusion.labels.join(", "), says.text))
}

/// `forall i != j: !(P[i]@a && P[j]@b)`.
struct PlaceExclusion {
    /// `P[i]@a && P[j]@b`, in the user's words.
    both: String,
    family: FamilyId,
    /// The places of one side.
    one: Vec<PlaceId>,
    /// Their labels.
    labels: Vec<String>,
    /// The places of the other.
    other: Vec<PlaceId>,
}

impl PlaceExclusion {
    fn of(model: &Model, expr: &Expr) -> Option<Self> {
        let ExprKind::Quantified(quantified) = &expr.kind else { return None };
        let Quantified { quantifier: Quantifier::Forall, bindings, body, .. } = &**quantified else { return None };
        let ExprKind::Not(both) = &body.kind else { return None };
        let ExprKind::Binary(BinaryOp::And, one, other) = &both.kind else { return None };
        let side = |expr: &Expr| match &expr.kind {
            ExprKind::At { who, places, labels } => match who.kind {
                ExprKind::Bound(bound) => Some((bound, places.clone(), labels.clone())),
                _ => None,
            },
            _ => None,
        };
        let ((first, one, labels), (second, other, _)) = (side(one)?, side(other)?);
        let family = match bindings.first()?.domain {
            Domain::Family(family) => family,
            _ => return None,
        };
        let printer = bindings.iter().fold(Printer::new(model), |printer, binding| printer.bind_name(binding));
        let both = { printer }.expr(both);
        (bindings.len() == 2 && first != second).then_some(PlaceExclusion { both, family, one, labels, other })
    }

    /// Whether the formula says that at most one process is at places among which those of both sides are.
    fn is_excluded(&self, formula: &SentenceFormula) -> bool {
        let SentenceFormula::Quantified(said) = formula else { return false };
        let SentenceFormula::At(NamedProcess::Letter(letter), spots) = &*said.body else { return false };
        said.quantity == Quantity::AtMost(1)
            && said.except.is_empty()
            && (said.family, &said.letters[..]) == (self.family, &[letter.at])
            && contains(spots, &self.one)
            && contains(spots, &self.other)
    }

    /// Whether the formula says that no other process is at places among which those of the other side are.
    fn is_other_excluded(&self, formula: &SentenceFormula) -> bool {
        let SentenceFormula::Quantified(said) = formula else { return false };
        let SentenceFormula::Not(body) = &*said.body else { return false };
        let SentenceFormula::At(NamedProcess::Letter(letter), spots) = &**body else { return false };
        let [NamedProcess::Letter(own)] = said.except[..] else { return false };
        said.quantity == Quantity::ForAll
            && own.at == 0
            && (said.family, &said.letters[..]) == (self.family, &[letter.at])
            && contains(spots, &self.other)
    }
}

/// Whether all of these places are meant, in every round of the loops around them.
fn contains(spots: &[PlaceName], places: &[PlaceId]) -> bool {
    let is_meant = |place: &PlaceId| spots.iter().any(|spot| spot.place == *place && spot.counters.is_none());
    places.iter().all(is_meant)
}
