//! The ways to violate a temporal property, for a checker: short, slow and without any simplification.
//!
//! In: a property of a Model. Out: the list of its violations, each an instance of the property and a set of fairness assumptions,
//! with an automaton that accepts the words of states on which the instance is false. Claims of [`crate::ranks`] are about these
//! automata, and name violations, states and marks by what they are ([`ReferenceViolation::name`], [`AutomatonNames`]). An engine searches with smaller automata that it makes otherwise;
//! here nothing is shared with it, so that a mistake there cannot hide itself.
//!
//! A conjunction is violated by violating one of its parts: `&&`, `forall`, `always` and `eventually always` over them fall apart. What is left is
//! negated, brought to normal form and expanded (`tableau.rs`).

mod names;
mod tableau;

use std::rc::Rc;

use base::StopReason;
use model::Model;
use model::eval::{State, StepFault, Viewpoint, initial_states};
use model::expr::{Access, Binding, Domain, Expr, ExprKind, Quantifier, Whose};
use model::fairness::FairnessId;
use model::property::{BooleanOp, Formula, Property, UnaryTemporal};
use model::value::Value;

use crate::ranks::ViolationName;
use tableau::TableauNode;

pub use names::{AutomatonNames, UsedNames};

/// One way to violate a property: a run that satisfies all the fairness assumptions and whose states the automaton accepts.
#[derive(Clone, Debug)]
pub struct ReferenceViolation {
    /// The values of the outer bound variables, by name, outermost first.
    pub instance: Vec<(String, Value)>,
    /// Accepts the words of states that violate the instance.
    pub automaton: Rc<ReferenceAutomaton>,
    /// What the run satisfies besides.
    pub fairness: Vec<FairnessId>,
    /// Which part of the conjunction is violated: at each `&&` on the way to it, 0 for the left side and 1 for the right one.
    pub part: Vec<usize>,
}

impl ReferenceViolation {
    /// What claims call it.
    pub fn name(&self, model: &Model) -> ViolationName {
        let instance = self.instance.iter().map(|(name, value)| (name.clone(), model::print::value(model, *value)));
        ViolationName { part: self.part.clone(), instance: instance.collect(), fairness: self.fairness.clone() }
    }
}

/// An automaton with marks on its edges: it accepts a word if it can read it and take edges with each mark again and again.
/// It starts in state 0.
#[derive(Clone, Debug, Default)]
pub struct ReferenceAutomaton {
    /// What its edges read.
    pub atoms: Vec<StateCondition>,
    /// For each state the edges that leave it.
    pub states: Vec<Vec<ReferenceEdge>>,
    /// How many marks there are.
    pub n_marks: usize,
    /// The formulas that states and marks are made of.
    formulas: Vec<TableauNode>,
    /// For each state those that have to be true of the rest of the word.
    obligations: Vec<Vec<usize>>,
    /// For each mark its `until`.
    untils: Vec<usize>,
}

/// A condition on one state of the program.
#[derive(Clone, Debug)]
pub struct StateCondition {
    /// The boolean expression.
    pub expr: Expr,
    /// The values of the variables that are bound around it.
    pub bound: Vec<Value>,
}

/// An edge, which reads one state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReferenceEdge {
    /// The atoms that it reads, ascending, and the truth that they need to have.
    pub literals: Vec<(usize, bool)>,
    /// The marks that it carries, ascending.
    pub marks: Vec<usize>,
    /// Where it leads.
    pub target: usize,
}

impl StateCondition {
    /// Whether it is true in a state.
    ///
    /// # Errors
    /// Where the expression has no value.
    pub fn truth(&self, model: &Model, state: &State) -> Result<bool, StepFault> {
        Viewpoint::of_instance(model, state, &self.bound).truth(&self.expr)
    }
}

/// The ways to violate a temporal property: for each part of it, in the order of the text and of the values of bound variables, one
/// for each set of fairness assumptions.
///
/// # Errors
/// Where a part is given as an automaton, or an automaton becomes too large.
pub fn violations(
    model: &Model,
    property: &Property,
    formula: &Formula,
) -> Result<Vec<ReferenceViolation>, StopReason> {
    let scope = BindingScope { model, state: initial_states(model).next().expect("a program has an initial state") };
    let mut parts = Vec::new();
    let formula = formula.spread();
    scope.split(&formula, &ConjunctContext::default(), &mut parts);
    let mut found = Vec::new();
    for (part, around) in parts {
        let automaton = Rc::new(tableau::of_negation(&scope, part, &around)?);
        found.extend(property.under.any_of.iter().map(|fairness| ReferenceViolation {
            instance: around.names.clone(),
            automaton: Rc::clone(&automaton),
            fairness: fairness.clone(),
            part: around.part.clone(),
        }));
    }
    Ok(found)
}

/// What is around a part of a conjunction.
#[derive(Clone, Debug, Default)]
struct ConjunctContext {
    /// The values of the bound variables, outermost first.
    bound: Vec<Value>,
    names: Vec<(String, Value)>,
    /// Whether an `always` does.
    always: bool,
    /// The sides taken at each `&&`.
    part: Vec<usize>,
}

/// Where the domains of bound variables and their filters are evaluated.
struct BindingScope<'m> {
    model: &'m Model,
    /// Any state: what is evaluated in it does not read it.
    state: State,
}

impl BindingScope<'_> {
    fn split<'f>(
        &self,
        formula: &'f Formula,
        around: &ConjunctContext,
        found: &mut Vec<(&'f Formula, ConjunctContext)>,
    ) {
        match formula {
            Formula::Boolean(BooleanOp::And, left, right) => {
                for (side, conjunct) in [left, right].into_iter().enumerate() {
                    let part = around.part.iter().copied().chain([side]).collect();
                    self.split(conjunct, &ConjunctContext { part, ..around.clone() }, found);
                }
            }
            Formula::Unary(UnaryTemporal::Always, inner) => {
                self.split(inner, &ConjunctContext { always: true, ..around.clone() }, found);
            }
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body }
                if !filter.as_ref().is_some_and(reads_state) && !bindings.iter().any(depends_on_state) =>
            {
                self.for_each_instance(bindings, &around.bound, &mut |values| {
                    if filter.as_ref().is_none_or(|filter| self.truth(filter, values)) {
                        let names = bindings.iter().map(|one| (one.name.clone(), values[one.var.0 as usize]));
                        let names = around.names.iter().cloned().chain(names).collect();
                        let around = ConjunctContext { bound: values.to_vec(), names, ..around.clone() };
                        self.split(body, &around, found);
                    }
                });
            }
            _ => found.push((formula, around.clone())),
        }
    }

    /// Shows all values of bound variables, after those around them.
    fn for_each_instance(&self, rest: &[Binding], bound: &[Value], show: &mut dyn FnMut(&[Value])) {
        let Some((binding, inner)) = rest.split_first() else { return show(bound) };
        let around = &bound[..binding.var.0 as usize];
        let domain = Viewpoint::of_instance(self.model, &self.state, around).domain(&binding.domain);
        for value in domain.into_iter().flatten() {
            self.for_each_instance(inner, &[around, &[value]].concat(), show);
        }
    }

    /// The truth of a filter that does not read the state; one without a value leaves nothing out.
    fn truth(&self, filter: &Expr, bound: &[Value]) -> bool {
        Viewpoint::of_instance(self.model, &self.state, bound).truth(filter).unwrap_or(true)
    }
}

/// Whether the values of a bound variable depend on the state.
fn depends_on_state(binding: &Binding) -> bool {
    match &binding.domain {
        Domain::Range(lo, hi) => reads_state(lo) || reads_state(hi),
        Domain::Family(_) | Domain::Enum(_) => false,
    }
}

/// Whether the value of an expression depends on the state.
fn reads_state(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => false,
        ExprKind::Read(Access { whose: Whose::Shared | Whose::Mine | Whose::Frame | Whose::Of(_), .. })
        | ExprKind::At { .. } => true,
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => {
            reads_state(inner)
        }
        ExprKind::Binary(_, left, right) => reads_state(left) || reads_state(right),
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().any(|part| reads_state(part)),
        ExprKind::Quantified(inner) => {
            inner.bindings.iter().any(depends_on_state)
                || inner.filter.as_ref().is_some_and(reads_state)
                || reads_state(&inner.body)
        }
    }
}
