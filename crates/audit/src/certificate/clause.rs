//! A property taken apart into clauses, each about as few processes as possible.
//!
//! In: a boolean expression that has to be true (or false) in every state. Out: clauses whose conjunction says the same:
//! conjunctions and `forall` are split, `a => (b && c)` and `a <=> b` become two implications, and `count(i: e) <= n` says that of any
//! `n + 1` instances one is false. A clause is checked against the join of just the processes that it mentions.

use std::collections::BTreeSet;
use std::rc::Rc;

use model::Model;
use model::eval::{State, StepFault, Viewpoint, initial_states};
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::print::Printer;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, Storage};

use super::Outcome;

/// Instances of `count(…) <= n` are told apart by subsets of `n + 1`; more of them than this are left together.
const MOST_SUBSETS: usize = 100_000;

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

/// In every state in which the conditions hold, looked at in turn, the claim holds.
#[derive(Clone, Debug)]
pub(super) struct Clause<'e> {
    pub conditions: Vec<Literal<'e>>,
    pub claim: Literal<'e>,
}

/// What a clause looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    /// The processes whose place or cells it may look at.
    pub processes: BTreeSet<ProcessId>,
    /// Those of them whose place it may look at.
    pub controls: BTreeSet<ProcessId>,
    /// The cells.
    pub cells: BTreeSet<CellId>,
}

impl Wanted {
    fn negated(self) -> Wanted {
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

    /// The processes that are bound to variables, in the order of the text.
    pub fn processes(&self) -> Vec<ProcessId> {
        self.literals().flat_map(|literal| literal.bound.iter().copied().filter_map(as_process)).collect()
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
    /// Which instances are shown, by the processes bound so far; all where this is not given.
    chosen: Option<Chosen<'m>>,
}

/// Whether instances that begin with these processes are shown. What is not chosen is not chosen with more processes either.
pub(super) type Chosen<'m> = &'m dyn Fn(&[ProcessId]) -> bool;

/// Told each clause in turn.
pub(super) type Visit<'v, 'e> = &'v mut dyn FnMut(Clause<'e>) -> Outcome<()>;

impl<'m> Splitter<'m> {
    /// A splitter for properties of the program.
    pub fn new(model: &'m Model) -> Self {
        let state = initial_states(model).next().expect("a program has an initial state");
        Splitter { model, state, chosen: None }
    }

    /// The same, for properties that treat all processes alike: instances whose processes are not chosen may be left out.
    pub fn choosing(self, chosen: Chosen<'m>) -> Self {
        Splitter { chosen: Some(chosen), ..self }
    }

    /// Shows the clauses of an expression that has to meet the demand.
    pub fn clauses<'e>(&self, expr: &'e Expr, demand: Wanted, visit: Visit<'_, 'e>) -> Outcome<()> {
        self.split(Clause { conditions: Vec::new(), claim: Literal { expr, bound: Rc::new([]), demand } }, visit)
    }

    fn split<'e>(&self, clause: Clause<'e>, visit: Visit<'_, 'e>) -> Outcome<()> {
        let Literal { expr, bound, demand } = clause.claim.clone();
        let part = |expr: &'e Expr, demand: Wanted| Literal { expr, bound: bound.clone(), demand };
        let mut under = |condition: Literal<'e>, claim: Literal<'e>| {
            self.assume(clause.conditions.clone(), condition, true, &mut |conditions| {
                self.split(Clause { conditions, claim: claim.clone() }, visit)
            })
        };
        match (&expr.kind, demand) {
            (ExprKind::Not(inner), _) => self.split(Clause { claim: part(inner, demand.negated()), ..clause }, visit),
            (ExprKind::Binary(op, a, b), Wanted::True | Wanted::False) => match (op, demand) {
                (BinaryOp::And, Wanted::True) | (BinaryOp::Or, Wanted::False) => {
                    self.split(Clause { claim: part(a, demand), ..clause.clone() }, visit)?;
                    self.split(Clause { claim: part(b, demand), ..clause }, visit)
                }
                (BinaryOp::Implies, Wanted::False) => {
                    self.split(Clause { claim: part(a, Wanted::True), ..clause.clone() }, visit)?;
                    self.split(Clause { claim: part(b, Wanted::False), ..clause }, visit)
                }
                (BinaryOp::Implies, _) => under(part(a, Wanted::True), part(b, Wanted::True)),
                (BinaryOp::Or, _) => under(part(a, Wanted::False), part(b, Wanted::True)),
                (BinaryOp::And, _) => under(part(a, Wanted::True), part(b, Wanted::False)),
                (BinaryOp::Iff, Wanted::True) => {
                    under(part(a, Wanted::True), part(b, Wanted::True))?;
                    under(part(a, Wanted::False), part(b, Wanted::False))
                }
                (BinaryOp::LessEqual | BinaryOp::Less, Wanted::True) => self.at_most(clause, (*op, a, b), visit),
                _ => visit(clause),
            },
            (ExprKind::If(test, yes, no), Wanted::True | Wanted::False) => {
                under(part(test, Wanted::True), part(yes, demand))?;
                under(part(test, Wanted::False), part(no, demand))
            }
            (ExprKind::Quantified(quantified), Wanted::True | Wanted::False) if is_conjunction(quantified, demand) => {
                // Under conditions, their processes would come first.
                let chosen = self.chosen.filter(|_| clause.conditions.is_empty());
                self.each_instance(quantified, (&bound, chosen), &mut |instance, filter| {
                    let conditions = clause.conditions.iter().cloned().chain(filter).collect();
                    let claim = Literal { expr: &quantified.body, bound: instance, demand };
                    self.split(Clause { conditions, claim }, visit)
                })
            }
            _ => visit(clause),
        }
    }

    /// Adds a condition. One that says that some instance holds is taken instance by instance, if that is still allowed: each
    /// speaks of fewer processes than all together. Instances that can be faults stay together: those after one that holds are
    /// not evaluated.
    fn assume<'e>(
        &self,
        conditions: Vec<Literal<'e>>,
        condition: Literal<'e>,
        by_instance: bool,
        then: &mut dyn FnMut(Vec<Literal<'e>>) -> Outcome<()>,
    ) -> Outcome<()> {
        let Literal { expr, bound, demand } = &condition;
        match (&expr.kind, demand) {
            (ExprKind::Not(inner), _) => {
                let inner = Literal { expr: inner, bound: bound.clone(), demand: demand.negated() };
                self.assume(conditions, inner, by_instance, then)
            }
            (ExprKind::Quantified(quantified), Wanted::True | Wanted::False)
                if by_instance
                    && is_conjunction(quantified, demand.negated())
                    && self.all_have_values(quantified, bound) =>
            {
                self.each_instance(quantified, (bound, None), &mut |instance, filter| {
                    let conditions = conditions.iter().cloned().chain(filter).collect();
                    let body = Literal { expr: &quantified.body, bound: instance, demand: *demand };
                    self.assume(conditions, body, false, then)
                })
            }
            _ => then([conditions, vec![condition]].concat()),
        }
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

    /// `count(i: e) <= n` with a constant `n` and no filter.
    fn at_most<'e>(
        &self,
        clause: Clause<'e>,
        (op, count, bound_expr): (BinaryOp, &'e Expr, &'e Expr),
        visit: Visit<'_, 'e>,
    ) -> Outcome<()> {
        let bound = clause.claim.bound.clone();
        let (ExprKind::Quantified(counted), Some(Ok(Value::Int(most)))) =
            (&count.kind, self.constant(bound_expr, &bound))
        else {
            return visit(clause);
        };
        let most = if op == BinaryOp::Less { most - 1 } else { most };
        let mut instances = Vec::new();
        let listed = self.bind_each(&counted.bindings, bound.to_vec(), &mut |instance| {
            instances.push(instance);
            Ok(())
        });
        let Some(size) = usize::try_from(most).ok().map(|most| most + 1).filter(|&size| size <= 3) else {
            return visit(clause);
        };
        let n_subsets =
            (0..size).fold(1, |product: usize, at| product.saturating_mul(instances.len() - at.min(instances.len())));
        if counted.quantifier != Quantifier::Count
            || counted.filter.is_some()
            || listed.is_err()
            || n_subsets > MOST_SUBSETS
        {
            return visit(clause);
        }
        let literal = |at: usize, demand| Literal { expr: &counted.body, bound: instances[at].clone(), demand };
        for at in 0..instances.len() {
            visit(Clause { claim: literal(at, Wanted::HasValue), conditions: clause.conditions.clone() })?;
        }
        let places: Vec<ProcessId> = (0..instances.len()).map(ProcessId::new).collect();
        for subset in super::claimed::subsets(&places, size) {
            let (last, first) = subset.split_last().expect("there is one more than none");
            let mut conditions = clause.conditions.clone();
            conditions.extend(first.iter().map(|at| literal(at.index(), Wanted::True)));
            visit(Clause { conditions, claim: literal(last.index(), Wanted::False) })?;
        }
        Ok(())
    }

    /// Shows each instance with its filter, if that depends on the state; instances that the filter leaves out are not shown.
    fn each_instance<'e>(
        &self,
        quantified: &'e Quantified,
        (bound, chosen): (&Rc<[Value]>, Option<Chosen<'_>>),
        visit: &mut dyn FnMut(Rc<[Value]>, Option<Literal<'e>>) -> Outcome<()>,
    ) -> Outcome<()> {
        self.bind_chosen(&quantified.bindings, bound.to_vec(), chosen, &mut |instance| {
            let Some(filter) = &quantified.filter else { return visit(instance, None) };
            match self.constant(filter, &instance) {
                Some(Ok(Value::Bool(true))) => visit(instance, None),
                Some(Ok(Value::Bool(false))) => Ok(()),
                _ => {
                    let literal = Literal { expr: filter, bound: instance.clone(), demand: Wanted::True };
                    visit(instance, Some(literal))
                }
            }
        })
    }

    fn bind_each(
        &self,
        bindings: &[Binding],
        bound: Vec<Value>,
        visit: &mut dyn FnMut(Rc<[Value]>) -> Outcome<()>,
    ) -> Outcome<()> {
        self.bind_chosen(bindings, bound, None, visit)
    }

    fn bind_chosen(
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

    fn domain(&self, domain: &Domain, bound: &[Value]) -> Outcome<Vec<Value>> {
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
    fn constant(&self, expr: &Expr, bound: &[Value]) -> Option<Result<Value, StepFault>> {
        is_constant(expr).then(|| {
            let mut view = Viewpoint::new(self.model, &self.state, None);
            view.bound = bound.to_vec();
            view.value(expr)
        })
    }

    /// What the clause looks at, at most.
    pub fn mentions(&self, clause: &Clause<'_>) -> Outcome<Mentions> {
        let mut mentions = Mentions::default();
        for literal in clause.literals() {
            self.mention(literal.expr, &literal.bound, &mut mentions)?;
        }
        Ok(mentions)
    }

    /// What an expression looks at, at most.
    pub fn mentions_of(&self, expr: &Expr) -> Outcome<Mentions> {
        self.mentions_within(expr, &[])
    }

    /// What an expression looks at, at most, with values for the variables bound around it.
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
                    // Anybody may call a procedure.
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
fn is_conjunction(quantified: &Quantified, demand: Wanted) -> bool {
    matches!((quantified.quantifier, demand), (Quantifier::Forall, Wanted::True) | (Quantifier::Exists, Wanted::False))
}

fn as_process(value: Value) -> Option<ProcessId> {
    match value {
        Value::Process(id) => Some(id),
        _ => None,
    }
}

/// Whether an expression has the same value in every state, for given values of its bound variables.
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Bound(_) => true,
        ExprKind::Myself | ExprKind::Read(_) | ExprKind::At { .. } | ExprKind::Quantified(_) => false,
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => {
            is_constant(inner)
        }
        ExprKind::Binary(_, a, b) => is_constant(a) && is_constant(b),
        ExprKind::If(test, yes, no) => is_constant(test) && is_constant(yes) && is_constant(no),
    }
}
