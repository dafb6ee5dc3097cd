//! A property taken apart into clauses, each about as few processes as possible.
//!
//! In: a boolean expression that has to be true (or false) in every state. Out: questions of which none may have a positive
//! answer: conjunctions and `forall` are split, `a => (b && c)` and `a <=> b` become implications, and `count(i: e) <= n` says
//! that of any `n + 1` instances one is false. A question of a clause is "its conditions hold, and its claim does not"; in it
//! the variables bound around a part are replaced by their values.

pub(crate) mod mention;
mod substitute;

use std::rc::Rc;

use base::Span;
use evidence::implied::{Choice, Cut};
use model::Model;
use model::eval::{State, Viewpoint, initial_states};
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::ProcessId;
use model::value::Value;

use crate::k_index::groups;
use crate::question::{Pattern, Question};
pub(crate) use substitute::closed;

/// Instances of `count(…) <= n` are distinguished by subsets of `n + 1`; more of them than this are left together.
const MOST_SUBSETS: usize = 100_000;

/// What is demanded of a boolean expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is true.
    True,
    /// It is false.
    False,
    /// It can be evaluated.
    HasValue,
}

impl Wanted {
    fn negated(self) -> Wanted {
        match self {
            Wanted::True => Wanted::False,
            Wanted::False => Wanted::True,
            Wanted::HasValue => Wanted::HasValue,
        }
    }
}

/// A demand on one instance of an expression.
#[derive(Clone)]
struct Literal<'e> {
    expr: &'e Expr,
    /// The values of the variables bound around it, outermost first.
    bound: Rc<[Value]>,
    demand: Wanted,
}

/// In every state in which the conditions hold, evaluated in order, the claim holds.
#[derive(Clone)]
struct Clause<'e> {
    conditions: Vec<Literal<'e>>,
    claim: Literal<'e>,
    /// The way to it from the property.
    cuts: Vec<Cut>,
}

impl Clause<'_> {
    /// The way to it with one more step.
    fn cut(&self, cut: Cut) -> Vec<Cut> {
        [self.cuts.as_slice(), &[cut]].concat()
    }
}

/// What is demanded where a condition holds.
#[derive(Clone)]
struct ClauseImplication<'e> {
    /// What holds besides, evaluated before.
    conditions: Vec<Literal<'e>>,
    condition: Literal<'e>,
    claim: Literal<'e>,
    cuts: Vec<Cut>,
}

/// An instance of a quantifier.
struct ClauseInstance<'e> {
    /// The values of the variables bound around its body, outermost first.
    bound: Rc<[Value]>,
    /// Its filter, if that depends on the state.
    filter: Option<Literal<'e>>,
    /// What a proof calls it.
    choice: Choice,
}

/// Which instances are considered, by the processes bound so far.
type Chosen<'m> = &'m dyn Fn(&[ProcessId]) -> bool;

/// Takes properties apart.
pub struct Splitter<'m> {
    model: &'m Model,
    /// Any state: constants have the same value in all.
    state: State,
    chosen: Chosen<'m>,
    found: Vec<Question>,
}

impl<'m> Splitter<'m> {
    /// A splitter that leaves out instances whose processes are not chosen.
    pub fn new(model: &'m Model, chosen: Chosen<'m>) -> Self {
        let state = initial_states(model).next().expect("a program has an initial state");
        Splitter { model, state, chosen, found: Vec::new() }
    }

    /// The questions of an expression that has to have the truth that is wanted.
    pub fn questions(mut self, expr: &Expr, demand: Wanted) -> Vec<Question> {
        let claim = Literal { expr, bound: Rc::new([]), demand };
        self.split(Clause { conditions: Vec::new(), claim, cuts: Vec::new() });
        self.found
    }

    fn split<'e>(&mut self, clause: Clause<'e>) {
        let Literal { expr, bound, demand } = clause.claim.clone();
        let part = |expr: &'e Expr, demand: Wanted| Literal { expr, bound: bound.clone(), demand };
        match (&expr.kind, demand) {
            (ExprKind::Not(inner), _) => self.split(Clause { claim: part(inner, demand.negated()), ..clause }),
            (ExprKind::Binary(op, a, b), Wanted::True | Wanted::False) => match (op, demand) {
                (BinaryOp::And, Wanted::True) | (BinaryOp::Or, Wanted::False) => {
                    self.split_both(&clause, part(a, demand), part(b, demand));
                }
                (BinaryOp::Implies, Wanted::False) => {
                    self.split_both(&clause, part(a, Wanted::True), part(b, Wanted::False));
                }
                (BinaryOp::Implies, _) => self.under(&clause, None, part(a, Wanted::True), part(b, Wanted::True)),
                (BinaryOp::Or, _) => self.under(&clause, None, part(a, Wanted::False), part(b, Wanted::True)),
                (BinaryOp::And, _) => self.under(&clause, None, part(a, Wanted::True), part(b, Wanted::False)),
                (BinaryOp::Iff, Wanted::True) => {
                    self.under(&clause, Some(Cut::Left), part(a, Wanted::True), part(b, Wanted::True));
                    self.under(&clause, Some(Cut::Right), part(a, Wanted::False), part(b, Wanted::False));
                }
                (BinaryOp::LessEqual | BinaryOp::Less, Wanted::True) => self.at_most(clause, *op, (a, b)),
                _ => self.ask(&clause),
            },
            (ExprKind::If(test, yes, no), Wanted::True | Wanted::False) => {
                self.under(&clause, Some(Cut::Left), part(test, Wanted::True), part(yes, demand));
                self.under(&clause, Some(Cut::Right), part(test, Wanted::False), part(no, demand));
            }
            (ExprKind::Quantified(quantified), Wanted::True | Wanted::False) if is_conjunction(quantified, demand) => {
                let instances = self.instances(quantified, &bound, &clause.conditions);
                // Conditions may be faults also where no instance is left.
                let is_about_some = |instances: &Vec<_>| !instances.is_empty() || clause.conditions.is_empty();
                let Some(instances) = instances.filter(is_about_some) else {
                    return self.ask(&clause);
                };
                for ClauseInstance { bound, filter, choice } in instances {
                    let cuts = clause.cut(Cut::Instance(choice));
                    let conditions = clause.conditions.iter().cloned().chain(filter).collect();
                    let claim = Literal { expr: &quantified.body, bound, demand };
                    self.split(Clause { conditions, claim, cuts });
                }
            }
            _ => self.ask(&clause),
        }
    }

    /// Both are demanded. The second is evaluated only where the first is as it should be; where it can be a fault that matters.
    fn split_both<'e>(&mut self, clause: &Clause<'e>, a: Literal<'e>, b: Literal<'e>) {
        let alone = |claim: &Literal<'e>, cut: Cut| {
            let (conditions, cuts) = (clause.conditions.clone(), clause.cut(cut));
            Clause { conditions, claim: claim.clone(), cuts }
        };
        self.split(alone(&a, Cut::Left));
        match b.expr.can_fault() {
            true => self.under(clause, Some(Cut::RightUnderLeft), a, b),
            false => self.split(alone(&b, Cut::Right)),
        }
    }

    /// A claim where a condition holds, after a step of the way if there is one.
    fn under<'e>(&mut self, clause: &Clause<'e>, cut: Option<Cut>, condition: Literal<'e>, claim: Literal<'e>) {
        let cuts = clause.cuts.iter().cloned().chain(cut).collect();
        self.assume(ClauseImplication { conditions: clause.conditions.clone(), condition, claim, cuts }, true);
    }

    /// Adds a condition. One that says that some instance holds is taken instance by instance, if that is still allowed: each
    /// speaks of fewer processes than all together. Where instances can be faults they stay together: those after one that
    /// holds are not evaluated.
    fn assume<'e>(&mut self, implication: ClauseImplication<'e>, by_instance: bool) {
        let Literal { expr, bound, demand } = implication.condition.clone();
        match (&expr.kind, demand) {
            (ExprKind::Not(inner), _) => {
                let condition = Literal { expr: inner, bound, demand: demand.negated() };
                self.assume(ClauseImplication { condition, ..implication }, by_instance);
            }
            (ExprKind::Quantified(quantified), Wanted::True | Wanted::False)
                if by_instance && is_conjunction(quantified, demand.negated()) =>
            {
                let instances = self.instances(quantified, &bound, &implication.conditions);
                let Some(instances) = instances.filter(|instances| self.have_values(quantified, instances)) else {
                    return self.conclude(implication);
                };
                for ClauseInstance { bound, filter, choice } in instances {
                    let case = ClauseImplication {
                        conditions: implication.conditions.iter().cloned().chain(filter).collect(),
                        condition: Literal { expr: &quantified.body, bound, demand },
                        claim: implication.claim.clone(),
                        cuts: implication.cuts.iter().cloned().chain([Cut::Case(choice)]).collect(),
                    };
                    self.assume(case, false);
                }
            }
            _ => self.conclude(implication),
        }
    }

    /// The condition becomes one of the clause.
    fn conclude(&mut self, implication: ClauseImplication<'_>) {
        let ClauseImplication { mut conditions, condition, claim, mut cuts } = implication;
        conditions.push(condition);
        cuts.push(Cut::Then);
        self.split(Clause { conditions, claim, cuts });
    }

    /// `count(i: e) <= n` with a constant `n` and no filter.
    fn at_most<'e>(&mut self, clause: Clause<'e>, op: BinaryOp, (count, most): (&'e Expr, &'e Expr)) {
        let bound = clause.claim.bound.clone();
        let (ExprKind::Quantified(counted), Some(Value::Int(most))) = (&count.kind, self.constant(most, &bound)) else {
            return self.ask(&clause);
        };
        let most = if op == BinaryOp::Less { most - 1 } else { most };
        let size = usize::try_from(most).ok().map(|most| most + 1).filter(|&size| size <= 3);
        let plain = counted.quantifier == Quantifier::Count && counted.filter.is_none();
        let (Some(size), true, Some(instances)) = (size, plain, self.all_instances(counted, &bound)) else {
            return self.ask(&clause);
        };
        let n_subsets =
            (0..size).fold(1, |product: usize, at| product.saturating_mul(instances.len() - at.min(instances.len())));
        if n_subsets > MOST_SUBSETS {
            return self.ask(&clause);
        }
        let literal = |at: usize, demand| Literal { expr: &counted.body, bound: instances[at].clone(), demand };
        let choice = |at: usize| self.choice(&counted.bindings, &instances[at]);
        let choices: Vec<Choice> = (0..instances.len()).map(choice).collect();
        for (at, choice) in choices.iter().enumerate() {
            let (claim, cuts) = (literal(at, Wanted::HasValue), clause.cut(Cut::HasValue(choice.clone())));
            self.ask(&Clause { claim, conditions: clause.conditions.clone(), cuts });
        }
        // Instances are named as processes are, by position: all that is asked of `groups` is to choose.
        let places: Vec<ProcessId> = (0..instances.len()).map(ProcessId::new).collect();
        for subset in groups(&places, size) {
            let (last, first) = subset.split_last().expect("there is one more than none");
            let mut conditions = clause.conditions.clone();
            conditions.extend(first.iter().map(|at| literal(at.index(), Wanted::True)));
            let chosen = subset.iter().map(|at| choices[at.index()].clone()).collect();
            let cuts = clause.cut(Cut::NotAll(chosen));
            self.ask(&Clause { conditions, claim: literal(last.index(), Wanted::False), cuts });
        }
    }

    /// The chosen instances, each with its filter if that depends on the state; `None` where they change with the state.
    fn instances<'e>(
        &self,
        quantified: &'e Quantified,
        bound: &Rc<[Value]>,
        conditions: &[Literal<'e>],
    ) -> Option<Vec<ClauseInstance<'e>>> {
        let before: Vec<ProcessId> =
            conditions.iter().flat_map(|literal| literal.bound.iter().copied().filter_map(as_process)).collect();
        let mut found = Vec::new();
        self.bind_each(&quantified.bindings, bound.to_vec(), Some(&before), &mut |instance| {
            let bound: Rc<[Value]> = instance.into();
            let filter = match &quantified.filter {
                None => None,
                Some(filter) => match self.constant(filter, &bound) {
                    Some(Value::Bool(true)) => None,
                    Some(Value::Bool(false)) => return,
                    _ => Some(Literal { expr: filter, bound: bound.clone(), demand: Wanted::True }),
                },
            };
            let choice = self.choice(&quantified.bindings, &bound);
            found.push(ClauseInstance { bound, filter, choice });
        })?;
        Some(found)
    }

    /// What a proof calls the instance with these values.
    fn choice(&self, bindings: &[Binding], bound: &[Value]) -> Choice {
        let value = |one: &Binding| model::print::value(self.model, bound[one.var.0 as usize]);
        bindings.iter().map(|one| (one.name.clone(), value(one))).collect()
    }

    /// Whether no instance is a fault in any state, as far as the text alone decides.
    fn have_values(&self, quantified: &Quantified, instances: &[ClauseInstance<'_>]) -> bool {
        instances.iter().all(|ClauseInstance { bound, filter, .. }| {
            let filtered = filter.as_ref().is_none_or(|filter| self.has_value(filter.expr, bound));
            filtered && self.has_value(&quantified.body, bound)
        })
    }

    /// Whether an instance of an expression is a fault in no state; `false` where that is not known.
    fn has_value(&self, expr: &Expr, bound: &[Value]) -> bool {
        let all = |parts: &[&Expr]| parts.iter().all(|part| self.has_value(part, bound));
        match &expr.kind {
            _ if !expr.can_fault() || self.constant(expr, bound).is_some() => true,
            ExprKind::Read(access) => {
                let dimensions = self.model.vars[access.var].ty.dimensions();
                let is_inside = |(index, len): (&Expr, usize)| match self.constant(index, bound) {
                    Some(Value::Int(at)) => 0 <= at && at < len as i64,
                    _ => false,
                };
                let owned = match &access.whose {
                    Whose::Of(who) => self.constant(who, bound).is_some_and(|who| who != Value::None),
                    Whose::Shared | Whose::Mine | Whose::Frame => true,
                };
                owned && access.indices.iter().zip(dimensions).all(is_inside)
            }
            ExprKind::At { who, .. } => self.constant(who, bound).is_some_and(|who| who != Value::None),
            ExprKind::Not(inner) => self.has_value(inner, bound),
            ExprKind::Binary(op, a, b) if !op.computes() => all(&[a, b]),
            ExprKind::If(test, yes, no) => all(&[test, yes, no]),
            ExprKind::Quantified(inner) => match self.all_instances(inner, bound) {
                Some(instances) => instances.iter().all(|bound| {
                    let filtered = inner.filter.as_ref().is_none_or(|filter| self.has_value(filter, bound));
                    filtered && self.has_value(&inner.body, bound)
                }),
                None => false,
            },
            _ => false,
        }
    }

    /// All instances, chosen or not, whatever the filter.
    fn all_instances(&self, quantified: &Quantified, bound: &[Value]) -> Option<Vec<Rc<[Value]>>> {
        let mut found = Vec::new();
        self.bind_each(&quantified.bindings, bound.to_vec(), None, &mut |instance| found.push(instance.into()))?;
        Some(found)
    }

    /// Binds variables in all ways; with `before`, only to processes that, after those, are chosen.
    pub(crate) fn bind_each(
        &self,
        bindings: &[Binding],
        bound: Vec<Value>,
        before: Option<&[ProcessId]>,
        visit: &mut dyn FnMut(Vec<Value>),
    ) -> Option<()> {
        if let Some(before) = before {
            let sequence: Vec<ProcessId> =
                before.iter().copied().chain(bound.iter().copied().filter_map(as_process)).collect();
            if !(self.chosen)(&sequence) {
                return Some(());
            }
        }
        let Some((binding, inner)) = bindings.split_first() else {
            visit(bound);
            return Some(());
        };
        for value in self.domain(&binding.domain, &bound)? {
            let mut bound = bound.clone();
            bound.truncate(binding.var.0 as usize);
            bound.push(value);
            self.bind_each(inner, bound, before, visit)?;
        }
        Some(())
    }

    /// The values of a domain that does not depend on the state.
    fn domain(&self, domain: &Domain, bound: &[Value]) -> Option<Vec<Value>> {
        if let Domain::Range(lo, hi) = domain
            && !(is_constant(lo) && is_constant(hi))
        {
            return None;
        }
        let mut view = Viewpoint::new(self.model, &self.state, None);
        view.bound = bound.to_vec();
        view.domain(domain).ok().map(Iterator::collect)
    }

    /// The value of an expression that does not depend on the state.
    pub(crate) fn constant(&self, expr: &Expr, bound: &[Value]) -> Option<Value> {
        is_constant(expr)
            .then(|| {
                let mut view = Viewpoint::new(self.model, &self.state, None);
                view.bound = bound.to_vec();
                view.value(expr).ok()
            })
            .flatten()
    }

    /// Asks whether the clause is violated.
    fn ask(&mut self, clause: &Clause<'_>) {
        let literals = clause.conditions.iter().chain([&clause.claim]);
        let sequence: Vec<ProcessId> =
            literals.flat_map(|literal| literal.bound.iter().copied().filter_map(as_process)).collect();
        if !(self.chosen)(&sequence) {
            return;
        }
        let mut mentions = mention::Mentions::default();
        for literal in clause.conditions.iter().chain([&clause.claim]) {
            self.mention(literal.expr, &literal.bound, &mut mentions);
        }
        let claim = closed(clause.claim.expr, &clause.claim.bound);
        let wanted = clause.claim.demand == Wanted::False;
        let (expr, wanted) = match (clause.conditions.as_slice(), clause.claim.demand) {
            ([], Wanted::True | Wanted::False) => (claim, wanted),
            (conditions, demand) => {
                let wrong = match demand {
                    Wanted::True => negation(claim),
                    Wanted::False => claim,
                    // Nothing is wrong but a fault.
                    Wanted::HasValue => conjunction(claim, constant(false)),
                };
                let conditions = conditions.iter().rev().map(|literal| {
                    let expr = closed(literal.expr, &literal.bound);
                    if literal.demand == Wanted::False { negation(expr) } else { expr }
                });
                (conditions.fold(wrong, |rest, condition| conjunction(condition, rest)), true)
            }
        };
        let pattern = Pattern::Truth { expr, bound: Vec::new(), wanted };
        let mention::Mentions { processes, cells, .. } = mentions;
        let (processes, cuts) = (processes.into_iter().collect(), clause.cuts.clone());
        self.found.push(Question { processes, cells, pattern, cuts });
    }
}

fn constant(truth: bool) -> Expr {
    Expr { kind: ExprKind::Const(Value::Bool(truth)), span: Span::default() }
}

fn negation(expr: Expr) -> Expr {
    let span = expr.span;
    Expr { kind: ExprKind::Not(Box::new(expr)), span }
}

fn conjunction(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(a), Box::new(b)), span }
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
