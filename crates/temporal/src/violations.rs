//! From a property to the ways in which a run can violate it.
//!
//! A conjunction is violated by violating one of its parts: `&&`, `forall`, and `always` and `eventually always` over them fall
//! apart, `a ~> b` stays.
//! The negation of each part becomes an automaton. Parts that differ only in what their atoms mean share it.

use std::rc::Rc;

use base::{Budget, StopReason};
use ltl::{Automaton, Binary, FormulaId, Formulas, Translation, Unary};
use model::Model;
use model::eval::{State, Viewpoint, initial_states};
use model::expr::{Binding, Expr, ExprKind, Quantifier};
use model::fairness::FairnessId;
use model::property::{Automaton as Given, BinaryTemporal, BooleanOp, Formula, Property, UnaryTemporal};
use model::value::Value;
use rustc_hash::FxHashMap;

use crate::propositions::{Proposition, Propositions};

/// One way to violate a property: a fair run whose states the automaton accepts.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Which instance of the property is violated.
    pub instance: Instance,
    /// Accepts the words of states that violate the instance.
    pub automaton: Rc<Automaton>,
    /// What the automaton's atoms mean, by number.
    pub propositions: Vec<Proposition>,
    /// What the run must satisfy: all of these.
    pub fairness: Vec<FairnessId>,
    /// Whether the run stutters only where no process is enabled: the runs that automata given as such read.
    pub real_steps_only: bool,
}

/// The values of the outer bound variables of a property, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    /// The values, outermost first.
    pub bindings: Vec<(String, Value)>,
}

/// The ways to violate a temporal property.
///
/// # Errors
/// An automaton that is too large, or a limit that was reached.
pub fn violations(
    model: &Model,
    property: &Property,
    formula: &Formula,
    budget: &Budget,
) -> Result<Vec<Violation>, StopReason> {
    let state = initial_states(model).next().expect("a program has an initial state");
    let formula = formula.spread();
    let mut parts = ConjunctionSplitter { model, state: &state, found: Vec::new() };
    parts.split(&formula, &ConjunctionContext::default());
    let mut formulas = Formulas::new();
    let mut automata: FxHashMap<FormulaId, Rc<Automaton>> = FxHashMap::default();
    let mut found = Vec::new();
    for (part, around) in parts.found {
        if let (Formula::NeverAccepts(given), false) = (part, around.always) {
            let (automaton, propositions) = given_automaton(model, given, &around.bound);
            let instance = Instance { bindings: around.names.clone() };
            found.extend(property.under.any_of.iter().map(|fairness| Violation {
                instance: instance.clone(),
                automaton: Rc::clone(&automaton),
                propositions: propositions.clone(),
                fairness: fairness.clone(),
                real_steps_only: true,
            }));
            continue;
        }
        if has_automaton(part) {
            let why = "an automaton stands inside a formula".to_owned();
            return Err(StopReason::PropertyError(why));
        }
        let mut writer =
            FormulaWriter { model, state: &state, formulas: &mut formulas, propositions: Propositions::default() };
        let mut root = writer.formula(part, &around.bound);
        if around.always {
            root = writer.formulas.unary(Unary::Always, root);
        }
        let negation = writer.formulas.unary(Unary::Not, root);
        let propositions = writer.propositions.into_list();
        let automaton = match automata.get(&negation) {
            Some(known) => Rc::clone(known),
            None => {
                let made = Rc::new(ltl::translate(&mut formulas, negation, &Translation::default(), budget)?);
                automata.insert(negation, Rc::clone(&made));
                made
            }
        };
        for fairness in &property.under.any_of {
            found.push(Violation {
                instance: Instance { bindings: around.names.clone() },
                automaton: Rc::clone(&automaton),
                propositions: propositions.clone(),
                fairness: fairness.clone(),
                real_steps_only: false,
            });
        }
    }
    Ok(found)
}

/// Whether some part of a formula is an automaton.
fn has_automaton(formula: &Formula) -> bool {
    match formula {
        Formula::Now(_) => false,
        Formula::Not(inner) | Formula::Unary(_, inner) | Formula::Quantified { body: inner, .. } => {
            has_automaton(inner)
        }
        Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => {
            has_automaton(left) || has_automaton(right)
        }
        Formula::NeverAccepts(_) => true,
    }
}

/// An automaton of the Model as one over atoms: each guard is an atom, and the edges that leave accepting locations carry the mark.
fn given_automaton(model: &Model, given: &Given, bound: &[Value]) -> (Rc<Automaton>, Vec<Proposition>) {
    let mut propositions = Propositions::default();
    let mut states: base::IdVec<ltl::State> = base::IdVec::new();
    for _ in &given.locations {
        states.push(ltl::State::default());
    }
    for edge in &given.edges {
        let mut cube = ltl::Cube::default();
        if let Some(guard) = &edge.guard {
            cube.positive.insert(propositions.atom(model, guard, bound).index());
        }
        let marks = given.locations[edge.source].accepting.then_some(0).into_iter().collect();
        let label = ltl::Label { cubes: vec![cube] };
        states[ltl::StateId::new(edge.source)].edges.push(ltl::Edge {
            label,
            marks,
            target: ltl::StateId::new(edge.target),
        });
    }
    let automaton = Automaton { states, initial: ltl::StateId::new(given.initial), n_marks: 1 };
    (Rc::new(automaton), propositions.into_list())
}

/// What is around a part of a conjunction.
#[derive(Clone, Debug, Default)]
struct ConjunctionContext {
    /// The values of the bound variables, outermost first.
    bound: Vec<Value>,
    names: Vec<(String, Value)>,
    /// Whether an `always` does.
    always: bool,
}

/// Takes a conjunction apart.
struct ConjunctionSplitter<'f> {
    model: &'f Model,
    /// Any state: domains and filters do not read it.
    state: &'f State,
    found: Vec<(&'f Formula, ConjunctionContext)>,
}

impl<'f> ConjunctionSplitter<'f> {
    fn split(&mut self, formula: &'f Formula, around: &ConjunctionContext) {
        match formula {
            Formula::Boolean(BooleanOp::And, left, right) => {
                self.split(left, around);
                self.split(right, around);
            }
            Formula::Unary(UnaryTemporal::Always, inner) => {
                self.split(inner, &ConjunctionContext { always: true, ..around.clone() });
            }
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body } => {
                self.instances(bindings, filter.as_ref(), body, around);
            }
            _ => self.found.push((formula, around.clone())),
        }
    }

    fn instances(
        &mut self,
        rest: &'f [Binding],
        filter: Option<&'f Expr>,
        body: &'f Formula,
        around: &ConjunctionContext,
    ) {
        let Some((binding, inner)) = rest.split_first() else {
            if is_meant(self.model, self.state, filter, &around.bound) {
                self.split(body, around);
            }
            return;
        };
        for value in values(self.model, self.state, binding, &around.bound) {
            let mut around = around.clone();
            around.bound.truncate(binding.var.0 as usize);
            around.bound.push(value);
            around.names.push((binding.name.clone(), value));
            self.instances(inner, filter, body, &around);
        }
    }
}

/// Writes a Model's formula as one over atoms.
struct FormulaWriter<'m> {
    model: &'m Model,
    state: &'m State,
    formulas: &'m mut Formulas,
    propositions: Propositions,
}

impl FormulaWriter<'_> {
    fn formula(&mut self, formula: &Formula, bound: &[Value]) -> FormulaId {
        match formula {
            Formula::Now(expr) => self.now(expr, bound),
            Formula::Not(inner) => {
                let inner = self.formula(inner, bound);
                self.formulas.unary(Unary::Not, inner)
            }
            Formula::Boolean(op, left, right) => {
                let (left, right) = (self.formula(left, bound), self.formula(right, bound));
                match op {
                    BooleanOp::And => self.formulas.and([left, right]),
                    BooleanOp::Or => self.formulas.or([left, right]),
                    BooleanOp::Implies => self.formulas.binary(Binary::Implies, left, right),
                    BooleanOp::Iff => self.formulas.binary(Binary::Iff, left, right),
                }
            }
            Formula::Unary(op, inner) => {
                let inner = self.formula(inner, bound);
                let op = match op {
                    UnaryTemporal::Next => Unary::Next,
                    UnaryTemporal::Always => Unary::Always,
                    UnaryTemporal::Eventually => Unary::Eventually,
                };
                self.formulas.unary(op, inner)
            }
            Formula::Binary(op, left, right) => {
                let (left, right) = (self.formula(left, bound), self.formula(right, bound));
                let op = match op {
                    BinaryTemporal::Until => Binary::Until,
                    BinaryTemporal::WeakUntil => Binary::WeakUntil,
                    BinaryTemporal::Releases => Binary::Releases,
                    BinaryTemporal::StrongReleases => Binary::StrongReleases,
                    BinaryTemporal::LeadsTo => Binary::LeadsTo,
                };
                self.formulas.binary(op, left, right)
            }
            Formula::NeverAccepts(_) => unreachable!("formulas with automata inside are refused"),
            Formula::Quantified { quantifier, bindings, filter, body } => {
                let mut instances = Vec::new();
                self.instances(bindings, (filter.as_ref(), body), bound, &mut instances);
                match quantifier {
                    Quantifier::Forall => self.formulas.and(instances),
                    Quantifier::Exists | Quantifier::Count => self.formulas.or(instances),
                }
            }
        }
    }

    fn instances(
        &mut self,
        rest: &[Binding],
        over: (Option<&Expr>, &Formula),
        bound: &[Value],
        found: &mut Vec<FormulaId>,
    ) {
        let (filter, body) = over;
        let Some((binding, inner)) = rest.split_first() else {
            if is_meant(self.model, self.state, filter, bound) {
                let instance = self.formula(body, bound);
                found.push(instance);
            }
            return;
        };
        for value in values(self.model, self.state, binding, bound) {
            let mut bound = bound[..binding.var.0 as usize].to_vec();
            bound.push(value);
            self.instances(inner, over, &bound, found);
        }
    }

    /// A negation is the formula's business, so that `!p` and `p` are one atom.
    fn now(&mut self, expr: &Expr, bound: &[Value]) -> FormulaId {
        match &expr.kind {
            ExprKind::Not(inner) => {
                let inner = self.now(inner, bound);
                self.formulas.unary(Unary::Not, inner)
            }
            ExprKind::Const(Value::Bool(truth)) => self.formulas.constant(*truth),
            _ => {
                let atom = self.propositions.atom(self.model, expr, bound);
                self.formulas.atom(atom)
            }
        }
    }
}

/// The values of a bound variable.
fn values(model: &Model, state: &State, binding: &Binding, bound: &[Value]) -> Vec<Value> {
    let values = Viewpoint::of_instance(model, state, bound).domain(&binding.domain);
    values.map(Iterator::collect).unwrap_or_default()
}

fn is_meant(model: &Model, state: &State, filter: Option<&Expr>, bound: &[Value]) -> bool {
    filter.is_none_or(|filter| Viewpoint::of_instance(model, state, bound).truth(filter).unwrap_or(true))
}
