//! What a property demands of runs, as both backends need it.
//!
//! In: a temporal property. Out: the ways to violate it, its fairness assumptions with their predicates taken apart, and the
//! facts about local states without which a process does not see what the property speaks of.

use std::rc::Rc;

use base::{Budget, Feature, IdVec, StopReason, Unsupported};
use engine::{Contradiction, Halt, PropertyId};
use evidence::certificate::{Exchanged, LocalFact, ViolationName};
use evidence::plain::ReferenceAutomaton;
use model::Model;
use model::eval::Turn;
use model::fairness::{EdgePredicate, FairnessId};
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use temporal::exchange::Exchanges;
use temporal::{Instance, Proposition, Propositions, Violation};

use super::locals::Locals;
use super::may::{May, local_cells, processes_read};
use crate::clause::Splitter;
use crate::clause::mention::Mentions;

/// A property whose local cells have more values than this is refused.
const MOST_VALUES: usize = 1 << 12;

/// A fairness assumption: from some point on `always`, or again and again one of the others.
#[derive(Clone, Debug)]
pub struct AssumptionPair {
    /// Which one of the Model's.
    pub id: FairnessId,
    /// Holds in every state from some point on.
    pub always: Option<May>,
    /// One of them holds in the state before a turn.
    pub before: Vec<May>,
    /// One of them is true of the turn itself, whatever the state.
    turns: Vec<EdgePredicate>,
}

/// What a property demands.
pub struct Conditions<'m> {
    /// The program.
    pub model: &'m Model,
    /// The property.
    pub property: &'m Property,
    /// The ways to violate it; none may have a run.
    pub violations: Vec<Violation>,
    /// The same violations with the automata that claims are about.
    pub plain: Vec<Violation>,
    /// What claims call each of them.
    pub names: Vec<ViolationName>,
    /// The automata that claims are about, which know the names of their states.
    pub automata: Vec<Rc<ReferenceAutomaton>>,
    /// Of which earlier violation each one is the image under a permutation: what excludes the one excludes the other.
    pub images: Vec<Option<(usize, Exchanged)>>,
    /// All fairness assumptions of the violations, each once.
    pub pairs: Vec<AssumptionPair>,
}

impl<'m> Conditions<'m> {
    /// Those of a temporal property.
    ///
    /// # Errors
    /// An automaton that is too large, a property that is not for local methods, or a contradiction.
    pub fn new(model: &'m Model, property: PropertyId, budget: &Budget) -> Result<Self, Halt> {
        let property = &model.properties[property];
        let PropertyKind::Temporal(formula) = &property.kind else {
            return Err(Contradiction::new("a question about runs is a temporal property", "it is not").into());
        };
        let violations = temporal::violations(model, property, formula, budget)?;
        if violations.iter().any(|violation| violation.real_steps_only) {
            return Err(StopReason::from(Feature::GivenAutomaton).into());
        }
        let mut ids: Vec<FairnessId> = violations.iter().flat_map(|violation| violation.fairness.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut pairs: Vec<AssumptionPair> = ids.into_iter().map(|id| AssumptionPair::new(model, id)).collect();
        let mut n_exprs = 0;
        for pair in &mut pairs {
            pair.always.iter_mut().chain(&mut pair.before).for_each(|may| may.count(&mut n_exprs));
        }
        let list = evidence::plain::violations(model, property, formula)?;
        let images = match Exchanges::of(model) {
            Some(exchanges) => exchanges.images(&list.iter().collect::<Vec<_>>()),
            None => vec![None; list.len()],
        };
        let automata = list.iter().map(|one| Rc::clone(&one.automaton)).collect();
        let (names, plain) = plain_violations(model, list);
        let same = |(a, b): (&Violation, &Violation)| a.instance == b.instance && a.fairness == b.fairness;
        if plain.len() != violations.len() || !plain.iter().zip(&violations).all(same) {
            let expected = "the small automata and the plain ones of a property are about the same violations";
            return Err(Contradiction::new(expected, "they are not").into());
        }
        Ok(Conditions { model, property, violations, plain, names, automata, images, pairs })
    }

    /// The positions in `pairs` of a violation's assumptions.
    pub fn pairs_of(&self, violation: &Violation) -> Vec<usize> {
        let position = |id: &FairnessId| self.pairs.iter().position(|pair| pair.id == *id);
        violation.fairness.iter().filter_map(position).collect()
    }

    /// The positions of the assumptions that a turn satisfies whatever the state, ascending.
    pub fn satisfied_by(&self, turn: &Turn) -> Vec<usize> {
        (0..self.pairs.len()).filter(|&at| self.pairs[at].is_met_by(self.model, turn)).collect()
    }

    /// The facts to expose so that every block decides every proposition of the violation.
    ///
    /// # Errors
    /// Cells with too many values.
    pub fn facts(&self, violation: &Violation, locals: &Locals<'_>) -> Result<Vec<(ProcessId, LocalFact)>, StopReason> {
        let mut facts = Vec::new();
        for proposition in &violation.propositions {
            let mentions = mentions(self.model, proposition);
            for (process, places) in &mentions.places {
                let points = locals.points(*process).iter().enumerate();
                let at = points.filter(|(_, point)| places.contains(&point.place)).map(|(number, _)| number);
                facts.push((*process, LocalFact::Control(at.collect())));
            }
            for cell in local_cells(self.model, &mentions) {
                let declared = &self.model.cells[cell];
                let owner = declared.owner.expect("local cells have an owner");
                let values = declared.ty.values(self.model.type_context()).take(MOST_VALUES + 1).collect::<Vec<_>>();
                if values.len() > MOST_VALUES {
                    return Err(Unsupported::about(Feature::ManyValues, &declared.name).into());
                }
                // Of all values but one it follows whether it is the last.
                let n_facts = values.len().saturating_sub(1);
                facts.extend(values.into_iter().take(n_facts).map(|value| (owner, LocalFact::Cell(cell, value))));
            }
        }
        facts.dedup();
        Ok(facts)
    }
}

/// The violations of [`evidence::plain`] in the form of the others.
fn plain_violations(
    model: &Model,
    list: Vec<evidence::plain::ReferenceViolation>,
) -> (Vec<ViolationName>, Vec<Violation>) {
    let names = list.iter().map(|one| one.name(model)).collect();
    let violation = |one: evidence::plain::ReferenceViolation| {
        let mut propositions = Propositions::default();
        let given = &one.automaton;
        let atoms: Vec<usize> =
            given.atoms.iter().map(|atom| propositions.atom(model, &atom.expr, &atom.bound).index()).collect();
        let mut states: IdVec<ltl::State> = IdVec::new();
        for edges in &given.states {
            let edge = |edge: &evidence::plain::ReferenceEdge| {
                let mut cube = ltl::Cube::default();
                for &(atom, wanted) in &edge.literals {
                    if wanted { cube.positive.insert(atoms[atom]) } else { cube.negative.insert(atoms[atom]) }
                }
                let label = ltl::Label { cubes: vec![cube] };
                ltl::Edge { label, marks: edge.marks.iter().copied().collect(), target: ltl::StateId::new(edge.target) }
            };
            states.push(ltl::State { edges: edges.iter().map(edge).collect() });
        }
        let automaton = ltl::Automaton { states, initial: ltl::StateId::new(0), n_marks: given.n_marks };
        Violation {
            instance: Instance { bindings: one.instance },
            automaton: Rc::new(automaton),
            propositions: propositions.into_list(),
            fairness: one.fairness,
            real_steps_only: false,
        }
    };
    (names, list.into_iter().map(violation).collect())
}

/// The processes whose local states a proposition reads.
pub fn support(model: &Model, proposition: &Proposition) -> Vec<ProcessId> {
    processes_read(model, &mentions(model, proposition)).into_iter().collect()
}

fn mentions(model: &Model, proposition: &Proposition) -> Mentions {
    let mut mentions = Mentions::default();
    Splitter::new(model, &|_: &[ProcessId]| true).mention(&proposition.expr, &proposition.bound, &mut mentions);
    mentions
}

impl AssumptionPair {
    fn new(model: &Model, id: FairnessId) -> Self {
        let declared = &model.fairness[id];
        let mut pair = AssumptionPair { id, always: None, before: Vec::new(), turns: Vec::new() };
        pair.always = declared.always.as_ref().map(|always| May::new(model, always));
        for often in &declared.often {
            match often {
                EdgePredicate::Before(predicate) => pair.before.push(May::new(model, predicate)),
                turn => pair.turns.push(turn.clone()),
            }
        }
        pair
    }

    fn is_met_by(&self, model: &Model, turn: &Turn) -> bool {
        self.turns.iter().any(|predicate| match predicate {
            EdgePredicate::Before(_) => false,
            EdgePredicate::Scheduled(process) => turn.processes().contains(process),
            EdgePredicate::Moves(process, labels) => turn.actions_of(*process).any(|action| {
                let carried = &model.actions[action].labels;
                labels.as_ref().is_none_or(|labels| carried.iter().any(|label| labels.contains(label)))
            }),
            EdgePredicate::SomebodyMoves => turn.step().is_some(),
        })
    }
}
