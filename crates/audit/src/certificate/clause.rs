//! Clauses of properties, and what they read.
//!
//! In: an expression with values for the variables bound around it. Out: the processes and cells that it may read; the values of
//! bound variables; the value of what does not depend on the state. Which clauses a property has is for its proof to say
//! (`coverage`); a clause is checked against the join of just the processes that it mentions.

use std::collections::BTreeSet;
use std::rc::Rc;

use model::Model;
use model::eval::{State, StepFault, Viewpoint, initial_states};
use model::expr::{Access, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::print::Printer;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, Storage};
use model::visit::each_part;

use super::Outcome;

/// What is demanded of a boolean expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It is true.
    True,
    /// It is false.
    False,
    /// It can be evaluated.
    HasValue,
}

/// A demand on one instance of an expression.
#[derive(Clone, Debug)]
pub(super) struct Literal<'e> {
    pub expr: &'e Expr,
    /// The values of the variables bound around it, outermost first.
    pub bound: Rc<[Value]>,
    pub demand: Wanted,
}

/// In every state in which the conditions hold, evaluated in order, the claim holds.
#[derive(Clone, Debug)]
pub(super) struct Clause<'e> {
    pub conditions: Vec<Literal<'e>>,
    pub claim: Literal<'e>,
}

/// What a clause reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    /// The processes whose place or cells it may read.
    pub processes: BTreeSet<ProcessId>,
    /// Those of them whose place it may read.
    pub controls: BTreeSet<ProcessId>,
    /// The cells.
    pub cells: BTreeSet<CellId>,
}

impl Wanted {
    /// What is demanded of an expression where this is demanded of its negation.
    pub fn negated(self) -> Wanted {
        match self {
            Wanted::True => Wanted::False,
            Wanted::False => Wanted::True,
            Wanted::HasValue => Wanted::HasValue,
        }
    }

    /// Whether a truth value is what is demanded.
    pub fn is_met_by(self, truth: bool) -> bool {
        match self {
            Wanted::True => truth,
            Wanted::False => !truth,
            Wanted::HasValue => true,
        }
    }
}

impl Clause<'_> {
    /// All literals, the claim last.
    pub fn literals(&self) -> impl Iterator<Item = &Literal<'_>> {
        self.conditions.iter().chain([&self.claim])
    }

    /// The clause in the user's names.
    pub fn text(&self, model: &Model) -> String {
        let shown = |literal: &Literal<'_>| {
            let printer = literal.bound.iter().fold(Printer::new(model), |printer, &value| printer.bind_value(value));
            let text = { printer }.expr(literal.expr);
            match literal.demand {
                Wanted::True => text,
                Wanted::False => format!("!({text})"),
                Wanted::HasValue => format!("{text} has a value"),
            }
        };
        let conditions: Vec<String> = self.conditions.iter().map(shown).collect();
        let claim = shown(&self.claim);
        if conditions.is_empty() { claim } else { format!("{} => {claim}", conditions.join(" && ")) }
    }
}

/// Takes properties apart.
pub(super) struct Splitter<'m> {
    model: &'m Model,
    /// Any state: constants have the same value in all.
    state: State,
}

/// Whether instances that begin with these processes are shown. What is not chosen is not chosen with more processes either.
pub(super) type Chosen<'m> = &'m dyn Fn(&[ProcessId]) -> bool;

impl<'m> Splitter<'m> {
    /// The program.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// A splitter for properties of the program.
    pub fn new(model: &'m Model) -> Self {
        let state = initial_states(model).next().expect("a program has an initial state");
        Splitter { model, state }
    }

    /// Whether no instance of a quantifier is a fault in any state, as far as its text tells.
    fn all_have_values(&self, quantified: &Quantified, bound: &[Value]) -> bool {
        let Quantified { bindings, filter, body, .. } = quantified;
        let mut all = true;
        let listed = self.bind_each(bindings, bound.to_vec(), &mut |instance| {
            all &= filter.as_ref().is_none_or(|filter| self.has_value(filter, &instance));
            all &= self.has_value(body, &instance);
            Ok(())
        });
        all && listed.is_ok()
    }

    /// Whether an expression is a fault in no state; `false` where its text does not tell.
    pub fn has_value(&self, expr: &Expr, bound: &[Value]) -> bool {
        let is_somebody = |who: &Expr| matches!(self.constant(who, bound), Some(Ok(Value::Process(_))));
        match &expr.kind {
            _ if is_constant(expr) => matches!(self.constant(expr, bound), Some(Ok(_))),
            ExprKind::Read(access) => {
                let dimensions = self.model.vars[access.var].ty.dimensions();
                let is_inside = |(index, len): (&Expr, usize)| {
                    let at = self.constant(index, bound);
                    matches!(at, Some(Ok(Value::Int(at))) if usize::try_from(at).is_ok_and(|at| at < len))
                };
                let is_owned = !matches!(&access.whose, Whose::Of(who) if !is_somebody(who));
                is_owned && access.indices.iter().zip(dimensions).all(is_inside)
            }
            ExprKind::At { who, .. } => is_somebody(who),
            ExprKind::Not(inner) => self.has_value(inner, bound),
            ExprKind::Binary(op, a, b) => !op.computes() && self.has_value(a, bound) && self.has_value(b, bound),
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().all(|part| self.has_value(part, bound)),
            ExprKind::Quantified(inner) => self.all_have_values(inner, bound),
            _ => false,
        }
    }

    /// Shows all values of bound variables, after those around them.
    pub fn bind_each(
        &self,
        bindings: &[Binding],
        bound: Vec<Value>,
        visit: &mut dyn FnMut(Rc<[Value]>) -> Outcome<()>,
    ) -> Outcome<()> {
        self.bind_chosen(bindings, bound, None, visit)
    }

    /// The same for those that are chosen.
    pub fn bind_chosen(
        &self,
        bindings: &[Binding],
        bound: Vec<Value>,
        chosen: Option<Chosen<'_>>,
        visit: &mut dyn FnMut(Rc<[Value]>) -> Outcome<()>,
    ) -> Outcome<()> {
        let processes = || bound.iter().copied().filter_map(as_process).collect::<Vec<ProcessId>>();
        if chosen.is_some_and(|chosen| !chosen(&processes())) {
            return Ok(());
        }
        let Some((binding, inner)) = bindings.split_first() else { return visit(bound.into()) };
        for value in self.domain(&binding.domain, &bound)? {
            let mut bound = bound.clone();
            bound.truncate(binding.var.0 as usize);
            bound.push(value);
            self.bind_chosen(inner, bound, chosen, visit)?;
        }
        Ok(())
    }

    /// The values of a domain that does not depend on the state.
    pub fn domain(&self, domain: &Domain, bound: &[Value]) -> Outcome<Vec<Value>> {
        let not_constant = |what: String| Err(super::CertificateError::NotSupported(what));
        if let Domain::Range(lo, hi) = domain
            && !(is_constant(lo) && is_constant(hi))
        {
            return not_constant("a quantifier of the property ranges over values that change".to_owned());
        }
        let mut view = Viewpoint::new(self.model, &self.state, None);
        view.bound = bound.to_vec();
        match view.domain(domain) {
            Ok(values) => Ok(values.collect()),
            Err(fault) => not_constant(format!("the range of a quantifier has no value: {}", fault.fault)),
        }
    }

    /// The value of an expression that does not depend on the state.
    pub fn constant(&self, expr: &Expr, bound: &[Value]) -> Option<Result<Value, StepFault>> {
        is_constant(expr).then(|| {
            let mut view = Viewpoint::new(self.model, &self.state, None);
            view.bound = bound.to_vec();
            view.value(expr)
        })
    }

    /// What the clause reads, at most.
    pub fn mentions(&self, clause: &Clause<'_>) -> Outcome<Mentions> {
        let mut mentions = Mentions::default();
        for literal in clause.literals() {
            self.mention(literal.expr, &literal.bound, &mut mentions)?;
        }
        Ok(mentions)
    }

    /// What an expression reads, at most.
    pub fn mentions_of(&self, expr: &Expr) -> Outcome<Mentions> {
        self.mentions_within(expr, &[])
    }

    /// What an expression reads, at most, with values for the variables bound around it.
    pub fn mentions_within(&self, expr: &Expr, bound: &[Value]) -> Outcome<Mentions> {
        let mut mentions = Mentions::default();
        self.mention(expr, bound, &mut mentions)?;
        Ok(mentions)
    }

    fn mention(&self, expr: &Expr, bound: &[Value], into: &mut Mentions) -> Outcome<()> {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => Ok(()),
            ExprKind::Read(access) => self.mention_access(access, bound, into),
            ExprKind::At { who, places, .. } => {
                let families = places.iter().flat_map(|&place| match self.model.places[place].scope {
                    model::control::TextOwner::Family(family) => vec![family],
                    // Any process may call a procedure.
                    model::control::TextOwner::Procedure(_) => self.model.families.ids().collect(),
                });
                let families: BTreeSet<FamilyId> = families.collect();
                let processes: Vec<ProcessId> = match self.constant(who, bound) {
                    Some(value) => value.into_iter().filter_map(as_process).collect(),
                    None => families.iter().flat_map(|&family| self.model.families[family].processes()).collect(),
                };
                into.controls.extend(&processes);
                into.processes.extend(processes);
                self.mention(who, bound, into)
            }
            ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => self.mention(inner, bound, into),
            ExprKind::Binary(_, a, b) => {
                self.mention(a, bound, into)?;
                self.mention(b, bound, into)
            }
            ExprKind::If(test, yes, no) => {
                [test, yes, no].into_iter().try_for_each(|part| self.mention(part, bound, into))
            }
            ExprKind::Quantified(quantified) => self.bind_each(&quantified.bindings, bound.to_vec(), &mut |instance| {
                if let Some(filter) = &quantified.filter {
                    self.mention(filter, &instance, into)?;
                    if let Some(Ok(Value::Bool(false))) = self.constant(filter, &instance) {
                        return Ok(());
                    }
                }
                self.mention(&quantified.body, &instance, into)
            }),
        }
    }

    fn mention_access(&self, access: &Access, bound: &[Value], into: &mut Mentions) -> Outcome<()> {
        access.indices.iter().try_for_each(|index| self.mention(index, bound, into))?;
        let var = &self.model.vars[access.var];
        let owners: Vec<Option<ProcessId>> = match (&access.whose, var.storage) {
            (Whose::Of(who), Storage::Public(family) | Storage::Local(family)) => {
                self.mention(who, bound, into)?;
                match self.constant(who, bound) {
                    Some(value) => value.into_iter().filter_map(as_process).map(Some).collect(),
                    None => self.model.families[family].processes().map(Some).collect(),
                }
            }
            _ => vec![None],
        };
        into.processes.extend(owners.iter().flatten());
        let positions = self.positions(access, bound);
        for owner in owners {
            let cells: Vec<CellId> = self.model.cells_of(access.var, owner).collect();
            into.cells.extend(positions.iter().filter_map(|&at| cells.get(at)));
        }
        Ok(())
    }

    /// The positions within the variable that the indices may lead to.
    fn positions(&self, access: &Access, bound: &[Value]) -> Vec<usize> {
        let dimensions = self.model.vars[access.var].ty.dimensions();
        access.indices.iter().zip(dimensions).fold(vec![0], |starts, (index, len)| {
            let range = match self.constant(index, bound) {
                Some(Ok(Value::Int(at))) => {
                    usize::try_from(at).ok().filter(|&at| at < len).map_or(0..0, |at| at..at + 1)
                }
                Some(_) => 0..0,
                None => 0..len,
            };
            starts.iter().flat_map(|&start| range.clone().map(move |at| start * len + at)).collect()
        })
    }
}

/// Whether the demand says something about every instance.
pub(super) fn is_conjunction(quantified: &Quantified, demand: Wanted) -> bool {
    match quantified.quantifier {
        Quantifier::Forall => demand == Wanted::True,
        Quantifier::Exists => demand == Wanted::False,
        _ => false,
    }
}

/// The process that a value is.
pub(super) fn as_process(value: Value) -> Option<ProcessId> {
    if let Value::Process(process) = value { Some(process) } else { None }
}

/// Whether an expression has the same value in every state, for given values of its bound variables: no part of it looks at the state, or at
/// who evaluates it. (What a quantifier ranges over is not asked for.)
fn is_constant(expr: &Expr) -> bool {
    let mut looks = false;
    each_part(expr, &mut |part| {
        let is_of_state = matches!(part.kind, ExprKind::Myself | ExprKind::Read(_) | ExprKind::At { .. });
        looks |= is_of_state || matches!(part.kind, ExprKind::Quantified(_));
    });
    !looks
}
