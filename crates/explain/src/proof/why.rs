//! Why a property follows from the invariants, in one line.
//!
//! In: the property and what the proof says. Out: for mutual exclusion the sentence that two processes at once would contradict; in
//! general, that the property was compared with the sentences case by case. Whether it does follow is for `audit` to say.

use engine::PropertyId;
use model::Model;
use model::expr::{BinaryOp, Expr, ExprKind, Quantified, Quantifier};
use model::print::Printer;
use model::property::PropertyKind;

use super::LocalProof;

/// The line; `None` where there is nothing to add.
pub fn why(model: &Model, property: PropertyId, told: &LocalProof) -> Option<String> {
    let PropertyKind::Invariant(expr) = &model.properties[property].kind else { return None };
    let [part] = &told.parts[..] else { return None };
    let Exclusion { both, one, other } = Exclusion::of(model, expr)?;
    if let Some(nth) = part.always.iter().position(|text| allows_one(text, &one, &other)) {
        return Some(format!("{both} contradicts I{}", nth + 1));
    }
    let (_, texts) = part.places.iter().find(|(at, _)| one.iter().all(|label| at.contains(label)))?;
    let text = texts.iter().find(|text| forbids_other(text, &other))?;
    Some(format!("{both} contradicts what holds at {}: {text}", one.join(", ")))
}

/// `forall i != j: !(P[i]@a && P[j]@b)`.
struct Exclusion {
    /// `P[i]@a && P[j]@b`, in the user's words.
    both: String,
    /// The labels of one side.
    one: Vec<String>,
    /// The labels of the other.
    other: Vec<String>,
}

impl Exclusion {
    fn of(model: &Model, expr: &Expr) -> Option<Self> {
        let ExprKind::Quantified(quantified) = &expr.kind else { return None };
        let Quantified { quantifier: Quantifier::Forall, bindings, body, .. } = &**quantified else { return None };
        let ExprKind::Not(both) = &body.kind else { return None };
        let ExprKind::Binary(BinaryOp::And, one, other) = &both.kind else { return None };
        let side = |expr: &Expr| match &expr.kind {
            ExprKind::At { who, labels, .. } => match who.kind {
                ExprKind::Bound(bound) => Some((bound, labels.clone())),
                _ => None,
            },
            _ => None,
        };
        let ((first, one), (second, other)) = (side(one)?, side(other)?);
        let printer = bindings.iter().fold(Printer::new(model), |printer, binding| printer.bind_name(binding));
        (bindings.len() == 2 && first != second).then(|| Exclusion { both: { printer }.expr(both), one, other })
    }
}

/// Whether the sentence says that at most one process is at places among which these are.
fn allows_one(text: &str, one: &[String], other: &[String]) -> bool {
    text.starts_with("at most one ")
        && places(text).is_some_and(|at| one.iter().chain(other).all(|label| at.contains(&label.as_str())))
}

/// Whether the sentence says that no other process is at places among which these are.
fn forbids_other(text: &str, labels: &[String]) -> bool {
    text.starts_with("no other ")
        && places(text).is_some_and(|at| labels.iter().all(|label| at.contains(&label.as_str())))
}

/// The places in `…@{a, b}` or `…@a`, where they end the text.
fn places(text: &str) -> Option<Vec<&str>> {
    let (_, at) = text.split_once('@')?;
    let list = at.strip_prefix('{').map_or(Some(at), |rest| rest.strip_suffix('}'))?;
    Some(list.split(", ").collect())
}
