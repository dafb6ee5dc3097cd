//! Kinds of turns: what claims about fairness need to know of the last step.
//!
//! In: the fairness assumptions of all properties. Out: a number for each step and stutter, the same for those that no assumption
//! distinguishes, and for each assumption the numbers that satisfy it.

use model::Model;
use model::fairness::{EdgePredicate, FairnessId, FairnessPair};
use model::process::ProcessId;

use crate::ExportRefusal;
use crate::flat::Flat;
use crate::question::{Questions, step_is, stutter_is};
use crate::term::Term;

/// The kinds of turns.
#[derive(Clone, Debug, Default)]
pub struct TurnKinds {
    /// The kind of each step.
    steps: Vec<usize>,
    /// The kind of each process's stutter.
    still: Vec<usize>,
    /// For each pair: what it says of states, and the kinds of turns that satisfy it.
    pairs: Vec<PromelaFairness>,
}

/// A fairness assumption: from some point on always, or again and again.
#[derive(Clone, Debug)]
pub struct PromelaFairness {
    /// From some point on, always; `None` is never enough.
    pub always: Option<Term>,
    /// Again and again: a state in which this holds,
    pub often: Term,
    /// or one that a turn of one of these kinds led to.
    pub kinds: Vec<usize>,
}

impl TurnKinds {
    /// Finds the kinds. Kind 0 is before the first turn.
    pub fn of(model: &Model, flat: &Flat, questions: &mut Questions<'_>) -> TurnKinds {
        let mut used: Vec<FairnessId> =
            model.properties.iter().flat_map(|property| property.under.any_of.iter().flatten().copied()).collect();
        used.sort();
        used.dedup();
        // What each turn satisfies, pair by pair.
        let edges = |pair: &FairnessPair, holds: &dyn Fn(&EdgePredicate) -> bool| pair.often.iter().any(holds);
        let signature = |holds: &dyn Fn(&EdgePredicate) -> bool| -> Vec<bool> {
            used.iter().map(|&id| edges(&model.fairness[id], holds)).collect()
        };
        let mut kinds: Vec<Vec<bool>> = Vec::new();
        let mut number = |found: Vec<bool>| {
            let known = kinds.iter().position(|kind| *kind == found);
            1 + known.unwrap_or_else(|| {
                kinds.push(found);
                kinds.len() - 1
            })
        };
        let steps =
            flat.steps.iter().map(|step| number(signature(&|edge| step_is(model, &step.movers, edge)))).collect();
        let still = model.processes.ids().map(|process| number(signature(&|edge| stutter_is(process, edge)))).collect();
        if kinds.len() > 250 {
            let span = used.first().map(|&id| model.fairness[id].span).unwrap_or_default();
            questions.problems.push(ExportRefusal::new(span, "more fairness assumptions than a claim can tell apart"));
        }
        let mut pairs: Vec<PromelaFairness> = Vec::new();
        for (id, pair) in model.fairness.entries() {
            let mut condition = PromelaFairness { always: None, often: Term::truth(false), kinds: Vec::new() };
            if let Some(at) = used.iter().position(|&other| other == id) {
                condition.kinds = (0..kinds.len()).filter(|&kind| kinds[kind][at]).map(|kind| kind + 1).collect();
                condition.always = pair.always.as_ref().map(|always| questions.state_predicate(always));
                for edge in &pair.often {
                    if let EdgePredicate::Before(predicate) = edge {
                        condition.often = condition.often.or(&questions.state_predicate(predicate));
                    }
                }
            }
            pairs.push(condition);
        }
        TurnKinds { steps, still, pairs }
    }

    /// The kind of a step.
    pub fn of_step(&self, step_idx: usize) -> usize {
        self.steps[step_idx]
    }

    /// The kind of a process's stutter.
    pub fn of_stutter(&self, process: ProcessId) -> usize {
        self.still[process.index()]
    }

    /// What an assumption says.
    pub fn condition(&self, id: FairnessId) -> &PromelaFairness {
        &self.pairs[id.index()]
    }
}
