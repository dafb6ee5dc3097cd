//! Random temporal properties with random fairness, for any Model.
//!
//! In: a Model and a seed. Out: the Model with some properties added, over places of processes and values of simple variables.
//! Every operator and every form of fairness occurs. Expressions always have a value.

use base::Span;
use model::Model;
use model::expr::{Binding, Expr, Quantifier};
use model::fairness::{Assumptions, EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::ProcessId;
use model::property::{BinaryTemporal, BooleanOp, Formula, PropertyKind, UnaryTemporal};
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{Role, Storage, VarId};

use crate::choices::Choices;
use crate::expr::{binding, bound, constant, equal, int, of, read, shared, standing};
use crate::samples::add_property;

/// The Model with `n_properties` temporal properties.
pub fn with_temporal(model: &Model, seed: u64, n_properties: usize) -> Model {
    let mut asked = model.clone();
    let mut random = FormulaMaker { model, choices: Choices::from_seed(seed), n_temporal: 0 };
    for nth in 0..n_properties {
        random.n_temporal = 0;
        let formula = random.property();
        let any_of = (0..=random.choices.below(2)).map(|_| random.fairness(&mut asked)).collect();
        let id = add_property(&mut asked, &format!("temporal{nth}"), PropertyKind::Temporal(formula));
        asked.properties[id].under = Assumptions { any_of };
    }
    asked
}

/// Brute force guesses the truth of each temporal operator: so many are affordable.
const MOST_TEMPORAL: usize = 3;

struct FormulaMaker<'m> {
    model: &'m Model,
    choices: Choices,
    /// How many temporal operators the formula at hand has.
    n_temporal: usize,
}

impl FormulaMaker<'_> {
    /// A formula, now and then for all processes of a family.
    fn property(&mut self) -> Formula {
        let families: Vec<_> = self.model.families.entries().filter(|(_, family)| family.count() > 1).collect();
        if families.is_empty() || self.choices.chance(70) {
            return self.formula(3, None);
        }
        let (id, _) = *self.choices.pick(&families);
        let bindings: Vec<Binding> = vec![binding(0, model::expr::Domain::Family(id))];
        let quantifier = if self.choices.chance(70) { Quantifier::Forall } else { Quantifier::Exists };
        let body = Box::new(self.formula(2, Some(id)));
        Formula::Quantified { quantifier, bindings, filter: None, body }
    }

    fn formula(&mut self, depth: usize, family: Option<model::process::FamilyId>) -> Formula {
        if depth == 0 || self.n_temporal >= MOST_TEMPORAL {
            return Formula::Now(self.atom(family));
        }
        match self.choices.below(10) {
            0 => Formula::Now(self.atom(family)),
            1 => Formula::Not(Box::new(self.formula(depth - 1, family))),
            2 | 3 => {
                let ops = [BooleanOp::And, BooleanOp::Or, BooleanOp::Implies, BooleanOp::Iff];
                let op = *self.choices.pick(&ops);
                let (left, right) = (self.formula(depth - 1, family), self.formula(depth - 1, family));
                Formula::Boolean(op, Box::new(left), Box::new(right))
            }
            4..=7 => {
                self.n_temporal += 1;
                let ops = [UnaryTemporal::Always, UnaryTemporal::Eventually, UnaryTemporal::Next];
                let op = if self.choices.chance(10) { ops[2] } else { ops[self.choices.below(2)] };
                Formula::Unary(op, Box::new(self.formula(depth - 1, family)))
            }
            _ => {
                let ops = [
                    BinaryTemporal::Until,
                    BinaryTemporal::WeakUntil,
                    BinaryTemporal::Releases,
                    BinaryTemporal::StrongReleases,
                    BinaryTemporal::LeadsTo,
                ];
                self.n_temporal += 2;
                let op = *self.choices.pick(&ops);
                let (left, right) = (self.formula(depth - 1, family), self.formula(depth - 1, family));
                Formula::Binary(op, Box::new(left), Box::new(right))
            }
        }
    }

    /// A simple condition, about the bound process where there is one.
    fn atom(&mut self, family: Option<model::process::FamilyId>) -> Expr {
        if self.choices.chance(40)
            && let Some(condition) = self.variable()
        {
            return condition;
        }
        let (who, family) = match family {
            Some(family) if self.choices.chance(70) => (bound(0), family),
            _ => {
                let process = self.process();
                (constant(Value::Process(process)), self.model.processes[process].family)
            }
        };
        let scope = model::control::TextOwner::Family(family);
        let places: Vec<_> = self.model.places.entries().filter(|(_, place)| place.scope == scope).collect();
        let n_places = 1 + self.choices.below(2);
        let some = (0..n_places).map(|_| self.choices.pick(&places).0).collect();
        standing(who, some, &[])
    }

    fn variable(&mut self) -> Option<Expr> {
        let is_simple = |id: &VarId| {
            let var = &self.model.vars[*id];
            let simple = matches!(var.ty, Type::Scalar(ScalarType::Bool | ScalarType::Range { .. }));
            simple && !matches!(var.storage, Storage::Frame(_)) && !matches!(var.role, Role::Counter(_))
        };
        let simple: Vec<VarId> = self.model.vars.ids().filter(is_simple).collect();
        if simple.is_empty() {
            return None;
        }
        let id = *self.choices.pick(&simple);
        let access = match self.model.vars[id].storage {
            Storage::Public(family) | Storage::Local(family) => {
                let owners: Vec<ProcessId> = self.model.families[family].processes().collect();
                of(id, constant(Value::Process(*self.choices.pick(&owners))))
            }
            _ => shared(id),
        };
        Some(match self.model.vars[id].ty.scalar() {
            ScalarType::Range { lo, hi } => equal(read(access), int(self.choices.between(lo, hi))),
            _ => read(access),
        })
    }

    fn process(&mut self) -> ProcessId {
        ProcessId::new(self.choices.below(self.model.processes.len()))
    }

    /// A set of assumptions, each of which is added to the Model.
    fn fairness(&mut self, model: &mut Model) -> Vec<FairnessId> {
        (0..self.choices.below(4)).map(|_| model.fairness.push(self.pair())).collect()
    }

    fn pair(&mut self) -> FairnessPair {
        let process = self.process();
        let labels = self.labels(process);
        let (always, often) = match self.choices.below(6) {
            0 => (None, vec![EdgePredicate::Scheduled(process)]),
            1 => {
                let unable = StatePredicate::Unable(process, labels.clone());
                (None, vec![EdgePredicate::Before(unable), EdgePredicate::Moves(process, labels)])
            }
            2 => {
                let unable = StatePredicate::Unable(process, labels.clone());
                (Some(unable), vec![EdgePredicate::Moves(process, labels)])
            }
            3 => (None, vec![EdgePredicate::Before(StatePredicate::Holds(self.atom(None)))]),
            4 => {
                let never = StatePredicate::Fails(self.atom(None));
                (Some(never), vec![EdgePredicate::Before(StatePredicate::Holds(self.atom(None)))])
            }
            _ => {
                let before = EdgePredicate::Before(StatePredicate::NobodyAble);
                (None, vec![before, EdgePredicate::SomebodyMoves])
            }
        };
        FairnessPair { owner: Some(process), always, often, name: "random".to_owned(), span: Span::default() }
    }

    /// Labels of the process's actions, or none.
    fn labels(&mut self, process: ProcessId) -> Option<Vec<String>> {
        let scope = model::control::TextOwner::Family(self.model.processes[process].family);
        let actions = self.model.actions.iter().filter(|action| action.scope == scope);
        let labels: Vec<&String> = actions.flat_map(|action| &action.labels).collect();
        if labels.is_empty() || self.choices.chance(50) {
            return None;
        }
        Some(vec![(*self.choices.pick(&labels)).clone()])
    }
}
