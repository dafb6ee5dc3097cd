//! Instances of a property of which one is looked at for all that are alike.
//!
//! In: the ways to violate a property. Out: those of which one stands for each class of alike ones. Two are alike if a permutation of the processes of one family takes one to the other: the program
//! does not tell these processes apart (`model::symmetry`), neither do the propositions but for the processes that the instance names, and the
//! fairness assumptions are the same set after any permutation. Then fair runs that violate one become fair runs that violate the other.

use std::rc::Rc;

use model::Model;
use model::expr::ExprKind;
use model::fairness::{EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::{FamilyId, ProcessId};
use model::symmetry::{asymmetries, expr_asymmetries};
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use temporal::Violation;

/// What alike violations have in common: the automaton, the assumptions, and each proposition with the processes that the instance names in the order in
/// which they come.
type ViolationKey<'v> = (*const ltl::Automaton, &'v [FairnessId], Vec<(&'v ExprKind, Vec<usize>)>);

/// The first of each class of alike violations.
pub fn representatives<'v>(model: &Model, violations: &'v [Violation]) -> Vec<&'v Violation> {
    let mut families = Families { model, is_symmetric: FxHashMap::default(), is_closed: FxHashMap::default() };
    let mut seen: FxHashSet<ViolationKey<'v>> = FxHashSet::default();
    let mut alike: FxHashMap<(&'v ExprKind, FamilyId), bool> = FxHashMap::default();
    let mut is_first = |violation: &&'v Violation| {
        let Some(family) = families.exchangeable(violation) else { return true };
        let mut is_alike = |proposition: &'v temporal::Proposition| {
            *alike
                .entry((&proposition.expr.kind, family))
                .or_insert_with(|| expr_asymmetries(model, family, &proposition.expr).is_empty())
        };
        !violation.propositions.iter().all(&mut is_alike) || seen.insert(key(violation))
    };
    violations.iter().filter(|violation| is_first(violation)).collect()
}

fn key(violation: &Violation) -> ViolationKey<'_> {
    let mut order: Vec<Value> = Vec::new();
    let mut number = |value: &Value| match order.iter().position(|known| known == value) {
        Some(at) => at,
        None => {
            order.push(*value);
            order.len() - 1
        }
    };
    let mut propositions = Vec::new();
    for proposition in &violation.propositions {
        propositions.push((&proposition.expr.kind, proposition.bound.iter().map(&mut number).collect()));
    }
    (Rc::as_ptr(&violation.automaton), &violation.fairness, propositions)
}

struct Families<'m> {
    model: &'m Model,
    is_symmetric: FxHashMap<FamilyId, bool>,
    /// Whether a set of assumptions stays the same when processes of a family change places.
    is_closed: FxHashMap<(FamilyId, Vec<FairnessId>), bool>,
}

impl Families<'_> {
    /// The family of all processes that an instance names, if these can be exchanged in the program and in the assumptions.
    fn exchangeable(&mut self, violation: &Violation) -> Option<FamilyId> {
        let model = self.model;
        let mut family = None;
        for value in violation.propositions.iter().flat_map(|proposition| &proposition.bound) {
            let Value::Process(process) = value else { return None };
            let own = model.processes[*process].family;
            if *family.get_or_insert(own) != own {
                return None;
            }
        }
        let family = family.filter(|_| model.initially.is_empty() && !violation.real_steps_only)?;
        let is_symmetric = self.is_symmetric.entry(family).or_insert_with(|| asymmetries(model, family).is_empty());
        let is_closed = self
            .is_closed
            .entry((family, violation.fairness.clone()))
            .or_insert_with(|| is_closed(model, family, &violation.fairness));
        (*is_symmetric && *is_closed).then_some(family)
    }
}

/// Whether neighbours in a family may change places in a set of assumptions; then all may.
fn is_closed(model: &Model, family: FamilyId, fairness: &[FairnessId]) -> bool {
    let written = |exchange: (ProcessId, ProcessId)| -> Option<FxHashSet<WrittenPair<'_>>> {
        fairness.iter().map(|&id| written(&model.fairness[id], exchange)).collect()
    };
    let processes: Vec<ProcessId> = model.families[family].processes().collect();
    let Some(&first) = processes.first() else { return false };
    let Some(as_it_is) = written((first, first)) else { return false };
    processes.windows(2).all(|pair| written((pair[0], pair[1])).as_ref() == Some(&as_it_is))
}

/// A pair in a form that can be compared: what always, what often.
type WrittenPair<'p> = (Option<PredicatePart<'p>>, Vec<PredicatePart<'p>>);
/// The kind of a predicate, whom it is about, and the labels that count.
type PredicatePart<'p> = (u8, Option<ProcessId>, Option<&'p [String]>);

/// A pair after two processes changed places; `None` for one with expressions.
fn written(pair: &FairnessPair, (one, other): (ProcessId, ProcessId)) -> Option<WrittenPair<'_>> {
    let place = |process: ProcessId| match process {
        _ if process == one => other,
        _ if process == other => one,
        _ => process,
    };
    let always = match &pair.always {
        None => None,
        Some(predicate) => Some(state_part(predicate, 0, &place)?),
    };
    let mut often = Vec::new();
    for predicate in &pair.often {
        often.push(match predicate {
            EdgePredicate::Before(predicate) => state_part(predicate, 2, &place)?,
            EdgePredicate::Scheduled(process) => (4, Some(place(*process)), None),
            EdgePredicate::Moves(process, labels) => (5, Some(place(*process)), labels.as_deref()),
            EdgePredicate::SomebodyMoves => (6, None, None),
        });
    }
    often.sort_unstable();
    Some((always, often))
}

fn state_part<'p>(
    predicate: &'p StatePredicate,
    kind: u8,
    place: &impl Fn(ProcessId) -> ProcessId,
) -> Option<PredicatePart<'p>> {
    match predicate {
        StatePredicate::Holds(_) | StatePredicate::Fails(_) => None,
        StatePredicate::Unable(process, labels) => Some((kind, Some(place(*process)), labels.as_deref())),
        StatePredicate::NobodyAble => Some((kind + 1, None, None)),
    }
}
