//! Properties taken apart in one of the many ways that `evidence::implication` allows.
//!
//! In: a property, and choices. Out: parts of which it is made, all of them said to follow from all processes. Where to stop, which
//! condition to keep and which to split is chosen at random; nothing is asked about processes or symmetry. Checkers are compared
//! with this: they accept what comes out, and nothing of which a part is missing that matters.

use evidence::implication::{Clause, Demand, Implied, Literal, Part};
use model::Model;
use model::eval::{State, Viewpoint, initial_states};
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;

use crate::choices::Choices;

/// The property as one part where it is one expression, or the parts of its steps; from all processes.
pub fn whole(model: &Model, property: &PropertyKind) -> Vec<Implied> {
    let everybody: Vec<ProcessId> = model.processes.ids().collect();
    let steps = || {
        let single = everybody.iter().map(|&process| vec![process]);
        single.chain(meetings(model)).collect::<Vec<Vec<ProcessId>>>()
    };
    let implied = |part: Part| Implied { part, from: everybody.clone() };
    match property {
        PropertyKind::Invariant(_) => vec![Implied::whole(Demand::True, everybody)],
        PropertyKind::Reachable(_) => vec![Implied::whole(Demand::False, everybody)],
        PropertyKind::NoErrors => steps().into_iter().map(|movers| implied(Part::NoFault(movers))).collect(),
        PropertyKind::RaceFree(_) => {
            let steps = steps();
            let pairs = steps.iter().enumerate().flat_map(|(at, one)| {
                let others = steps[at..].iter().filter(|other| *other != one || one.len() > 1);
                others.map(|other| implied(Part::NoRace(one.clone(), other.clone()))).collect::<Vec<Implied>>()
            });
            pairs.collect()
        }
        PropertyKind::DeadlockFree => vec![implied(Part::NoDeadlock)],
        PropertyKind::Temporal(_) => Vec::new(),
    }
}

/// A property of one expression in some of its clauses, all from all processes; other properties as [`whole`].
pub fn some(model: &Model, property: &PropertyKind, choices: &mut Choices) -> Vec<Implied> {
    let (expr, demand) = match property {
        PropertyKind::Invariant(expr) => (expr, Demand::True),
        PropertyKind::Reachable(expr) => (expr, Demand::False),
        _ => return whole(model, property),
    };
    let state = initial_states(model).next().expect("a program has an initial state");
    let everybody: Vec<ProcessId> = model.processes.ids().collect();
    let mut taking = Taking { model, state, choices, found: Vec::new() };
    taking.take(&[], &Place { expr, path: Vec::new(), bound: Vec::new(), demand });
    let implied = |clause| Implied { part: Part::Clause(clause), from: everybody.clone() };
    taking.found.into_iter().map(implied).collect()
}

/// Who can meet: a sender and a receiver over a common channel.
fn meetings(model: &Model) -> Vec<Vec<ProcessId>> {
    use model::control::{Scope, SyncSide};
    let uses = |process: ProcessId, channel, sends: bool| {
        model.actions.iter().any(|action| {
            let is_side = |sync: &model::control::Sync| {
                sync.channel == channel && matches!(sync.side, SyncSide::Send(_)) == sends
            };
            action.scope == Scope::Family(model.processes[process].family) && action.sync.as_ref().is_some_and(is_side)
        })
    };
    let mut found = Vec::new();
    for sender in model.processes.ids() {
        for receiver in model.processes.ids().filter(|&other| other != sender) {
            if model.channels.ids().any(|channel| uses(sender, channel, true) && uses(receiver, channel, false)) {
                found.push(vec![sender, receiver]);
            }
        }
    }
    found
}

/// A demand on an instance of a part of the expression.
#[derive(Clone)]
struct Place<'e> {
    expr: &'e Expr,
    path: Vec<usize>,
    bound: Vec<Value>,
    demand: Demand,
}

impl<'e> Place<'e> {
    fn operand(&self, at: usize, expr: &'e Expr, demand: Demand) -> Place<'e> {
        Place { expr, path: [self.path.as_slice(), &[at]].concat(), bound: self.bound.clone(), demand }
    }
}

struct Taking<'m, 'c> {
    model: &'m Model,
    /// Any state.
    state: State,
    choices: &'c mut Choices,
    found: Vec<Clause>,
}

impl<'m> Taking<'m, '_> {
    fn state_it(&mut self, conditions: &[Place<'m>], claim: &Place<'m>) {
        let literal = |place: &Place<'m>| Literal {
            path: place.path.clone(),
            bound: place.bound.iter().map(|&value| model::print::value(self.model, value)).collect(),
            demand: place.demand,
        };
        let clause = Clause { conditions: conditions.iter().map(literal).collect(), claim: literal(claim) };
        self.found.push(clause);
    }

    fn take(&mut self, conditions: &[Place<'m>], claim: &Place<'m>) {
        let demand = claim.demand;
        if demand == Demand::HasValue || self.choices.chance(15) {
            return self.state_it(conditions, claim);
        }
        match (&claim.expr.kind, demand) {
            (ExprKind::Not(inner), _) => self.take(conditions, &claim.operand(0, inner, demand.negated())),
            (ExprKind::Binary(op, a, b), _) => {
                let (left, right) = (|demand| claim.operand(0, a, demand), |demand| claim.operand(1, b, demand));
                let [on, off] = [Demand::True, Demand::False];
                match (op, demand) {
                    (BinaryOp::And, Demand::True) => self.both(conditions, &left(on), &right(on)),
                    (BinaryOp::Or, Demand::False) => self.both(conditions, &left(off), &right(off)),
                    (BinaryOp::Implies, Demand::False) => self.both(conditions, &left(on), &right(off)),
                    (BinaryOp::And, _) => self.under(conditions, left(on), &right(off)),
                    (BinaryOp::Or, _) => self.under(conditions, left(off), &right(on)),
                    (BinaryOp::Implies, _) => self.under(conditions, left(on), &right(on)),
                    (BinaryOp::Iff, Demand::True) => {
                        self.under(conditions, left(on), &right(on));
                        self.under(conditions, left(off), &right(off));
                    }
                    (BinaryOp::LessEqual, Demand::True) => self.at_most(conditions, claim, (a, b)),
                    _ => self.state_it(conditions, claim),
                }
            }
            (ExprKind::If(test, yes, no), _) => {
                self.under(conditions, claim.operand(0, test, Demand::True), &claim.operand(1, yes, demand));
                self.under(conditions, claim.operand(0, test, Demand::False), &claim.operand(2, no, demand));
            }
            (ExprKind::Quantified(quantified), _)
                if (quantified.quantifier == Quantifier::Forall && demand == Demand::True)
                    || (quantified.quantifier == Quantifier::Exists && demand == Demand::False) =>
            {
                let Some(instances) = self.instances(quantified, claim) else {
                    return self.state_it(conditions, claim);
                };
                for (filter, body) in instances {
                    self.take(&conditions.iter().cloned().chain(filter).collect::<Vec<_>>(), &body);
                }
            }
            _ => self.state_it(conditions, claim),
        }
    }

    fn both(&mut self, conditions: &[Place<'m>], first: &Place<'m>, second: &Place<'m>) {
        self.take(conditions, first);
        match self.choices.chance(50) {
            true => self.take(conditions, second),
            false => self.take(&[conditions, std::slice::from_ref(first)].concat(), second),
        }
    }

    fn under(&mut self, conditions: &[Place<'m>], condition: Place<'m>, claim: &Place<'m>) {
        let demand = condition.demand;
        match &condition.expr.kind {
            ExprKind::Not(inner) => self.under(conditions, condition.operand(0, inner, demand.negated()), claim),
            ExprKind::Quantified(quantified)
                if ((quantified.quantifier == Quantifier::Exists && demand == Demand::True)
                    || (quantified.quantifier == Quantifier::Forall && demand == Demand::False))
                    && self.choices.chance(60) =>
            {
                let Some(instances) = self.instances(quantified, &condition) else {
                    return self.take(&[conditions, &[condition]].concat(), claim);
                };
                for (filter, body) in instances {
                    let conditions: Vec<Place<'m>> = conditions.iter().cloned().chain(filter).collect();
                    self.under(&conditions, body, claim);
                }
            }
            _ => self.take(&[conditions, &[condition]].concat(), claim),
        }
    }

    fn at_most(&mut self, conditions: &[Place<'m>], claim: &Place<'m>, (count, most): (&'m Expr, &'m Expr)) {
        let (ExprKind::Quantified(counted), ExprKind::Const(Value::Int(most @ 0..=2))) = (&count.kind, &most.kind)
        else {
            return self.state_it(conditions, claim);
        };
        let plain = counted.quantifier == Quantifier::Count && counted.filter.is_none();
        let whole = claim.operand(0, count, Demand::False);
        let Some(instances) = plain.then(|| self.instances(counted, &whole)).flatten() else {
            return self.state_it(conditions, claim);
        };
        let bodies: Vec<Place<'m>> = instances.into_iter().map(|(_, body)| body).collect();
        for body in &bodies {
            self.state_it(conditions, &Place { demand: Demand::HasValue, ..body.clone() });
        }
        let places: Vec<ProcessId> = (0..bodies.len()).map(ProcessId::new).collect();
        for subset in crate::local::subsets(&places, *most as usize + 1) {
            let chosen: Vec<Place<'m>> = subset.iter().map(|at| bodies[at.index()].clone()).collect();
            let (last, first) = chosen.split_last().expect("there is one");
            let first = first.iter().map(|body| Place { demand: Demand::True, ..body.clone() });
            self.state_it(&conditions.iter().cloned().chain(first).collect::<Vec<_>>(), last);
        }
    }

    /// The instances that a filter without a value in any state, or without any state, lets through; `None` where they change.
    fn instances(&self, quantified: &'m Quantified, whole: &Place<'m>) -> Option<Vec<(Option<Place<'m>>, Place<'m>)>> {
        let mut all = vec![whole.bound.clone()];
        for binding in &quantified.bindings {
            let longer = all.iter().map(|bound| self.values(binding, bound)).collect::<Option<Vec<_>>>()?;
            all = longer.concat();
        }
        let mut found = Vec::new();
        for bound in all {
            let at = |operand, expr, demand| Place { bound: bound.clone(), ..whole.operand(operand, expr, demand) };
            let body = at(0, &quantified.body, whole.demand);
            match &quantified.filter {
                None => found.push((None, body)),
                Some(filter) if is_fixed(filter) => {
                    match Viewpoint::of_instance(self.model, &self.state, &bound).truth(filter) {
                        Ok(true) => found.push((None, body)),
                        Ok(false) => {}
                        Err(_) => found.push((Some(at(1, filter, Demand::True)), body)),
                    }
                }
                Some(filter) => found.push((Some(at(1, filter, Demand::True)), body)),
            }
        }
        Some(found)
    }

    fn values(&self, binding: &Binding, bound: &[Value]) -> Option<Vec<Vec<Value>>> {
        if let Domain::Range(lo, hi) = &binding.domain
            && !(is_fixed(lo) && is_fixed(hi))
        {
            return None;
        }
        let around = &bound[..binding.var.0 as usize];
        let domain = Viewpoint::of_instance(self.model, &self.state, around).domain(&binding.domain).ok()?;
        Some(domain.map(|value| [around, &[value]].concat()).collect())
    }
}

/// Whether no part of an expression looks at a state.
fn is_fixed(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Bound(_) => true,
        ExprKind::Binary(_, a, b) => is_fixed(a) && is_fixed(b),
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) => is_fixed(inner),
        ExprKind::ToProcess(_, inner) => is_fixed(inner),
        ExprKind::If(test, yes, no) => is_fixed(test) && is_fixed(yes) && is_fixed(no),
        ExprKind::Myself | ExprKind::Read(_) | ExprKind::At { .. } | ExprKind::Quantified(_) => false,
    }
}
