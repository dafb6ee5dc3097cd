//! Whether the clauses that a proof names say all that the property demands.
//!
//! In: a boolean expression that has to be true (or false) in every state, and ways to clauses of it, as a proof names them
//! (`evidence::implied`, which has the rule). Out: each named clause with the processes that are to imply it, or what is missing, or
//! named and not there. How to take the property apart is for the proof to say; here is only known which cuts say together what stands
//! at a place. Where the property is symmetric, an instance may be left out that a permutation of processes makes of one that
//! is named; the permutation leaves alone whom the way to that place has named.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use base::Budget;
use evidence::implied::{Choice, Cut, Implied};
use model::Model;
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::process::ProcessId;
use model::value::Value;

use super::clause::{Clause, Literal, Splitter, Wanted, as_process, is_conjunction};
use super::symmetry::{Kept, Orbit};
use super::{CertificateError, Outcome, words};

/// A clause that is still to be found, by the rest of the way to it.
#[derive(Clone, Copy)]
struct ClauseWay<'p> {
    cuts: &'p [Cut],
    /// The processes that are to imply it.
    from: &'p [ProcessId],
}

/// What is demanded where a condition holds.
#[derive(Clone)]
struct DemandedImplication<'e> {
    /// What holds besides, evaluated before.
    conditions: Vec<Literal<'e>>,
    condition: Literal<'e>,
    claim: Literal<'e>,
}

/// Told each named clause, and the processes that are to imply it.
pub(super) type ClauseFound<'v, 'e> = &'v mut dyn FnMut(&Clause<'e>, &[ProcessId]) -> Outcome<()>;

/// Finds the clauses that a proof names.
pub(super) struct ClauseCoverage<'a, 'm> {
    splitter: &'a Splitter<'m>,
    /// Whether all processes of a family are symmetric, to the program and to the property.
    alike: bool,
    budget: &'a Budget,
    /// The processes, as the user writes them.
    names: HashMap<String, ProcessId>,
}

impl<'a, 'm> ClauseCoverage<'a, 'm> {
    /// For a property that is symmetric in the processes of a family, or not.
    pub fn new(splitter: &'a Splitter<'m>, alike: bool, budget: &'a Budget) -> Self {
        let model = splitter.model();
        let named = |id: ProcessId| (model::print::value(model, Value::Process(id)), id);
        let names = model.processes.ids().map(named).collect();
        ClauseCoverage { splitter, alike, budget, names }
    }

    /// Shows the clauses that the parts name, if these say all that is demanded.
    pub fn clauses<'e>(
        &self,
        (expr, demand): (&'e Expr, Wanted),
        implies: &[Implied],
        found: ClauseFound<'_, 'e>,
    ) -> Outcome<()> {
        let way = |part: &'_ Implied| match part {
            Implied::Clause { .. } => Ok(()),
            _ => malformed("it names what follows for a property of another kind".to_owned()),
        };
        implies.iter().try_for_each(way)?;
        let ways = implies.iter().filter_map(|part| match part {
            Implied::Clause { cuts, from } => Some(ClauseWay { cuts, from }),
            _ => None,
        });
        let claim = Literal { expr, bound: Rc::new([]), demand };
        self.demand(Clause { conditions: Vec::new(), claim }, ways.collect(), found)
    }

    fn model(&self) -> &'m Model {
        self.splitter.model()
    }

    /// A demand, whole or taken apart.
    fn demand<'e>(&self, clause: Clause<'e>, ways: Vec<ClauseWay<'_>>, found: ClauseFound<'_, 'e>) -> Outcome<()> {
        self.budget.check(0)?;
        let Literal { expr, bound, demand } = clause.claim.clone();
        let part = |expr: &'e Expr, demand: Wanted| Literal { expr, bound: bound.clone(), demand };
        if let (ExprKind::Not(inner), _) = (&expr.kind, demand) {
            return self.demand(Clause { claim: part(inner, demand.negated()), ..clause }, ways, found);
        }
        if ways.iter().any(|way| way.cuts.is_empty()) {
            return match ways.iter().all(|way| way.cuts.is_empty()) {
                true => ways.iter().try_for_each(|way| found(&clause, way.from)),
                false => malformed(format!("it names `{}` whole and in parts", clause.text(self.model()))),
            };
        }
        // Where nothing is said, nothing may be demanded: a quantifier without instances.
        let is_open = ways.is_empty();
        let mut cuts = CutsByStep::of(ways);
        let when = |condition: Literal<'e>, claim: Literal<'e>| DemandedImplication {
            conditions: clause.conditions.clone(),
            condition,
            claim,
        };
        match (&expr.kind, demand) {
            (ExprKind::Binary(op, a, b), Wanted::True | Wanted::False) => match (op, demand) {
                (BinaryOp::And, Wanted::True) | (BinaryOp::Or, Wanted::False) => {
                    self.both(&clause, [part(a, demand), part(b, demand)], &mut cuts, found)?;
                }
                (BinaryOp::Implies, Wanted::False) => {
                    self.both(&clause, [part(a, Wanted::True), part(b, Wanted::False)], &mut cuts, found)?;
                }
                (BinaryOp::Implies, _) => {
                    self.implication(when(part(a, Wanted::True), part(b, Wanted::True)), &mut cuts, found)?;
                }
                (BinaryOp::Or, _) => {
                    self.implication(when(part(a, Wanted::False), part(b, Wanted::True)), &mut cuts, found)?;
                }
                (BinaryOp::And, _) => {
                    self.implication(when(part(a, Wanted::True), part(b, Wanted::False)), &mut cuts, found)?;
                }
                (BinaryOp::Iff, Wanted::True) => {
                    let [left, right] = [cuts.take(&Cut::Left), cuts.take(&Cut::Right)];
                    self.implied(when(part(a, Wanted::True), part(b, Wanted::True)), left, found)?;
                    self.implied(when(part(a, Wanted::False), part(b, Wanted::False)), right, found)?;
                }
                (BinaryOp::LessEqual | BinaryOp::Less, Wanted::True) => {
                    self.at_most(&clause, (*op, a, b), &mut cuts, found)?;
                }
                _ if is_open => return self.left_out(&clause),
                _ => {}
            },
            (ExprKind::If(test, yes, no), Wanted::True | Wanted::False) => {
                let [left, right] = [cuts.take(&Cut::Left), cuts.take(&Cut::Right)];
                self.implied(when(part(test, Wanted::True), part(yes, demand)), left, found)?;
                self.implied(when(part(test, Wanted::False), part(no, demand)), right, found)?;
            }
            (ExprKind::Quantified(quantified), Wanted::True | Wanted::False) if is_conjunction(quantified, demand) => {
                let named = cuts.instances(|cut| match cut {
                    Cut::Instance(choice) => Some(choice),
                    _ => None,
                });
                let around = (&clause.conditions[..], &bound);
                let instances = self.instances((quantified, around), named, || clause.text(self.model()))?;
                for (instance, ways) in instances {
                    let conditions = clause.conditions.iter().cloned().chain(instance.filter).collect();
                    let claim = Literal { expr: &quantified.body, bound: instance.bound, demand };
                    self.demand(Clause { conditions, claim }, ways, found)?;
                }
            }
            _ if is_open => return self.left_out(&clause),
            _ => {}
        }
        cuts.none_left(|| clause.text(self.model()))
    }

    /// Both have to be so.
    fn both<'e>(
        &self,
        clause: &Clause<'e>,
        [a, b]: [Literal<'e>; 2],
        cuts: &mut CutsByStep<'_>,
        found: ClauseFound<'_, 'e>,
    ) -> Outcome<()> {
        let conditions = || clause.conditions.clone();
        let (left, right, under) = (cuts.take(&Cut::Left), cuts.take(&Cut::Right), cuts.take(&Cut::RightUnderLeft));
        self.demand(Clause { conditions: conditions(), claim: a.clone() }, left, found)?;
        match under.is_empty() {
            true => self.demand(Clause { conditions: conditions(), claim: b }, right, found),
            false if right.is_empty() => {
                self.implied(DemandedImplication { conditions: conditions(), condition: a, claim: b }, under, found)
            }
            false => malformed(format!("it names the right side of `{}` twice", clause.text(self.model()))),
        }
    }

    /// The same with the ways to it not yet distinguished.
    fn implied<'e>(
        &self,
        implication: DemandedImplication<'e>,
        ways: Vec<ClauseWay<'_>>,
        found: ClauseFound<'_, 'e>,
    ) -> Outcome<()> {
        let clause = implication.clause();
        match ways.iter().any(|way| way.cuts.is_empty()) {
            false => {
                let mut cuts = CutsByStep::of(ways);
                self.implication(implication, &mut cuts, found)?;
                cuts.none_left(|| clause.text(self.model()))
            }
            true => malformed(format!("it does not say what follows in `{}`", clause.text(self.model()))),
        }
    }

    /// What follows from a condition: as it is, or where it says that some instance holds, case by case.
    fn implication<'e>(
        &self,
        implication: DemandedImplication<'e>,
        cuts: &mut CutsByStep<'_>,
        found: ClauseFound<'_, 'e>,
    ) -> Outcome<()> {
        let then = cuts.take(&Cut::Then);
        if !then.is_empty() {
            return self.demand(implication.clause(), then, found);
        }
        let Literal { expr, bound, demand } = implication.condition.clone();
        match (&expr.kind, demand) {
            (ExprKind::Not(inner), _) => {
                let condition = Literal { expr: inner, bound, demand: demand.negated() };
                self.implication(DemandedImplication { condition, ..implication }, cuts, found)
            }
            (ExprKind::Quantified(quantified), Wanted::True | Wanted::False)
                if is_conjunction(quantified, demand.negated()) =>
            {
                let named = cuts.instances(|cut| match cut {
                    Cut::Case(choice) => Some(choice),
                    _ => None,
                });
                let text = || implication.clause().text(self.model());
                let around = (&implication.conditions[..], &bound);
                for (instance, ways) in self.instances((quantified, around), named, text)? {
                    let conditions = implication.conditions.iter().cloned().chain(instance.filter).collect();
                    let condition = Literal { expr: &quantified.body, bound: instance.bound, demand };
                    let claim = implication.claim.clone();
                    self.implied(DemandedImplication { conditions, condition, claim }, ways, found)?;
                }
                Ok(())
            }
            _ => self.left_out(&implication.clause()),
        }
    }

    /// `count(i: e) <= n` with a constant `n` and no filter: every instance has a value, and of any `n + 1` one is false.
    fn at_most<'e>(
        &self,
        clause: &Clause<'e>,
        (op, count, bound_expr): (BinaryOp, &'e Expr, &'e Expr),
        cuts: &mut CutsByStep<'_>,
        found: ClauseFound<'_, 'e>,
    ) -> Outcome<()> {
        let bound = &clause.claim.bound;
        let Some((counted, size)) = self.counted(bound, (op, count, bound_expr)) else {
            return if cuts.0.is_empty() { self.left_out(clause) } else { Ok(()) };
        };
        let text = || clause.text(self.model());
        let values = cuts.instances(|cut| match cut {
            Cut::HasValue(choice) => Some(choice),
            _ => None,
        });
        let literal = |bound: Rc<[Value]>, demand| Literal { expr: &counted.body, bound, demand };
        for (instance, ways) in self.instances((counted, (&clause.conditions, bound)), values, text)? {
            let claim = literal(instance.bound, Wanted::HasValue);
            self.demand(Clause { conditions: clause.conditions.clone(), claim }, ways, found)?;
        }
        let prefix = prefix(&clause.conditions, bound);
        let mut named: BTreeSet<BTreeSet<Vec<Value>>> = BTreeSet::new();
        for (chosen, ways) in cuts.subsets() {
            let instances = chosen.iter().map(|choice| self.find(counted, bound, choice));
            let instances = instances.collect::<Option<Vec<Rc<[Value]>>>>();
            let distinct = |instances: &Vec<Rc<[Value]>>| instances.iter().collect::<BTreeSet<_>>().len() == size;
            let Some(instances) = instances.filter(distinct) else {
                return malformed(format!("it names instances that are not counted in `{}`", text()));
            };
            named.insert(self.canonical(&prefix, &instances).into_iter().collect());
            let (last, first) = instances.split_last().expect("there is one more than none");
            let mut conditions = clause.conditions.clone();
            conditions.extend(first.iter().map(|instance| literal(instance.clone(), Wanted::True)));
            self.demand(Clause { conditions, claim: literal(last.clone(), Wanted::False) }, ways, found)?;
        }
        let mut all: Vec<Rc<[Value]>> = Vec::new();
        self.splitter.bind_each(&counted.bindings, bound.to_vec(), &mut |instance| {
            all.push(instance);
            Ok(())
        })?;
        let places: Vec<ProcessId> = (0..all.len()).map(ProcessId::new).collect();
        for subset in super::claimed::subsets(&places, size) {
            self.budget.check(0)?;
            let instances: Vec<Rc<[Value]>> = subset.iter().map(|at| all[at.index()].clone()).collect();
            if !named.contains(&self.canonical(&prefix, &instances).into_iter().collect()) {
                return self.left_out(clause);
            }
        }
        Ok(())
    }

    /// What is counted, and how many at least have not to be true all; `None` where that depends on the state, or none has to.
    fn counted<'e>(
        &self,
        bound: &[Value],
        (op, count, most): (BinaryOp, &'e Expr, &'e Expr),
    ) -> Option<(&'e Quantified, usize)> {
        let (ExprKind::Quantified(counted), Some(Ok(Value::Int(most)))) =
            (&count.kind, self.splitter.constant(most, bound))
        else {
            return None;
        };
        let size = if op == BinaryOp::Less { Some(most) } else { most.checked_add(1) };
        let size = size.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0)?;
        (counted.quantifier == Quantifier::Count && counted.filter.is_none()).then_some((counted, size))
    }

    /// The instances of a quantifier that are named, each with the rest of the ways through it, if they are all there are: those that
    /// the filter admits, and of those that are images of each other one.
    fn instances<'e, 'p>(
        &self,
        (quantified, (conditions, bound)): (&'e Quantified, (&[Literal<'e>], &Rc<[Value]>)),
        named: Vec<(&'p Choice, Vec<ClauseWay<'p>>)>,
        text: impl Fn() -> String,
    ) -> Outcome<Vec<(CoveredInstance<'e>, Vec<ClauseWay<'p>>)>> {
        let prefix = prefix(conditions, bound);
        let mut covered: BTreeSet<Vec<Value>> = BTreeSet::new();
        let mut instances = Vec::new();
        for (choice, ways) in named {
            let values = self.find(quantified, bound, choice);
            let instance = values.and_then(|bound| self.admitted(quantified, bound));
            let Some(instance) = instance else {
                let shown: Vec<String> = choice.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                let shown = shown.join(", ");
                return malformed(format!("it names the instance {shown} of `{}`, which there is not", text()));
            };
            covered.extend(self.canonical(&prefix, std::slice::from_ref(&instance.bound)));
            instances.push((instance, ways));
        }
        // Instances are images of each other where those who are bound so far are: then one of them is looked at.
        let fixed: Vec<ProcessId> = prefix.iter().copied().filter_map(as_process).collect();
        let first_of: RefCell<BTreeMap<Orbit, Vec<ProcessId>>> = RefCell::default();
        let is_looked_at = |bound: &[ProcessId]| {
            let orbit = || Orbit::of(self.model(), bound, Kept { fixed: &fixed, set: &[] });
            !self.alike || *first_of.borrow_mut().entry(orbit()).or_insert_with(|| bound.to_vec()) == bound
        };
        self.splitter.bind_chosen(&quantified.bindings, bound.to_vec(), Some(&is_looked_at), &mut |bound| {
            self.budget.check(0)?;
            match self.admitted(quantified, bound) {
                Some(instance) if !covered.contains(instance.bound.as_ref()) => {
                    let clause = Clause {
                        conditions: Vec::new(),
                        claim: Literal { expr: &quantified.body, bound: instance.bound, demand: Wanted::True },
                    };
                    let what = clause.text(self.model());
                    not_covered(&text(), &format!("nothing is said about `{what}`"))
                }
                _ => Ok(()),
            }
        })?;
        Ok(instances)
    }

    /// An instance with its filter, if that depends on the state; `None` where the filter leaves it out.
    fn admitted<'e>(&self, quantified: &'e Quantified, bound: Rc<[Value]>) -> Option<CoveredInstance<'e>> {
        let filter = match &quantified.filter {
            None => None,
            Some(filter) => match self.splitter.constant(filter, &bound) {
                Some(Ok(Value::Bool(true))) => None,
                Some(Ok(Value::Bool(false))) => return None,
                _ => Some(Literal { expr: filter, bound: bound.clone(), demand: Wanted::True }),
            },
        };
        Some(CoveredInstance { bound, filter })
    }

    /// The values of a named instance, whatever the filter says.
    fn find(&self, quantified: &Quantified, around: &[Value], choice: &Choice) -> Option<Rc<[Value]>> {
        if quantified.bindings.len() != choice.len() {
            return None;
        }
        let mut bound = around.to_vec();
        for (binding, (name, text)) in quantified.bindings.iter().zip(choice) {
            if *name != binding.name {
                return None;
            }
            bound.truncate(binding.var.0 as usize);
            bound.push(self.value(binding, &bound, text)?);
        }
        Some(bound.into())
    }

    /// The value of a bound variable that the user writes so.
    fn value(&self, binding: &Binding, bound: &[Value], text: &str) -> Option<Value> {
        let model = self.model();
        match &binding.domain {
            Domain::Family(family) => {
                let process = *self.names.get(text)?;
                (model.processes[process].family == *family).then_some(Value::Process(process))
            }
            domain => {
                let values = self.splitter.domain(domain, bound).ok()?;
                values.into_iter().find(|value| model::print::value(model, *value) == text)
            }
        }
    }

    /// Of all instances, or sequences of them, that permutations which leave the processes of the prefix alone make of these, the first.
    fn canonical(&self, prefix: &[Value], instances: &[Rc<[Value]>]) -> Vec<Vec<Value>> {
        if !self.alike {
            return instances.iter().map(|instance| instance.to_vec()).collect();
        }
        let fixed: BTreeSet<ProcessId> = prefix.iter().copied().filter_map(as_process).collect();
        let mut goes: BTreeMap<ProcessId, ProcessId> = fixed.iter().map(|&process| (process, process)).collect();
        let mut of = |value: Value| {
            let Value::Process(process) = value else { return value };
            if let Some(&to) = goes.get(&process) {
                return Value::Process(to);
            }
            let family = &self.model().families[self.model().processes[process].family];
            let taken: BTreeSet<ProcessId> = goes.values().copied().collect();
            let to = family.processes().find(|other| !taken.contains(other)).expect("as many go as there are");
            goes.insert(process, to);
            Value::Process(to)
        };
        instances.iter().map(|instance| instance.iter().map(|&value| of(value)).collect()).collect()
    }

    fn left_out<T>(&self, clause: &Clause<'_>) -> Outcome<T> {
        not_covered(&clause.text(self.model()), "nothing is said about it, or not about all of its parts")
    }
}

/// An instance of a quantifier.
struct CoveredInstance<'e> {
    bound: Rc<[Value]>,
    /// Its filter, if that depends on the state.
    filter: Option<Literal<'e>>,
}

impl<'e> DemandedImplication<'e> {
    /// The condition as one of the clause.
    fn clause(&self) -> Clause<'e> {
        let conditions = [&self.conditions[..], std::slice::from_ref(&self.condition)].concat();
        Clause { conditions, claim: self.claim.clone() }
    }
}

/// Ways by their first step, which none of them is without.
struct CutsByStep<'p>(BTreeMap<&'p Cut, Vec<ClauseWay<'p>>>);

impl<'p> CutsByStep<'p> {
    fn of(ways: Vec<ClauseWay<'p>>) -> Self {
        let mut cuts: BTreeMap<&'p Cut, Vec<ClauseWay<'p>>> = BTreeMap::new();
        for ClauseWay { cuts: way, from } in ways {
            let (first, rest) = way.split_first().expect("those that end are looked at before");
            cuts.entry(first).or_default().push(ClauseWay { cuts: rest, from });
        }
        CutsByStep(cuts)
    }

    /// What follows one step.
    fn take(&mut self, cut: &Cut) -> Vec<ClauseWay<'p>> {
        self.0.remove(cut).unwrap_or_default()
    }

    /// What follows steps to an instance.
    fn instances(&mut self, choice: impl Fn(&'p Cut) -> Option<&'p Choice>) -> Vec<(&'p Choice, Vec<ClauseWay<'p>>)> {
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(cut, _)| choice(cut).is_some());
        self.0 = left;
        let taken: BTreeMap<&'p Cut, Vec<ClauseWay<'p>>> = taken;
        taken.into_iter().filter_map(|(cut, ways)| Some((choice(cut)?, ways))).collect()
    }

    /// What follows steps to instances that are not all true.
    fn subsets(&mut self) -> Vec<(&'p Vec<Choice>, Vec<ClauseWay<'p>>)> {
        let chosen = |cut: &'p Cut| match cut {
            Cut::NotAll(chosen) => Some(chosen),
            _ => None,
        };
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(cut, _)| chosen(cut).is_some());
        self.0 = left;
        let taken: BTreeMap<&'p Cut, Vec<ClauseWay<'p>>> = taken;
        taken.into_iter().filter_map(|(cut, ways)| Some((chosen(cut)?, ways))).collect()
    }

    /// No step is named that there is not.
    fn none_left(self, text: impl Fn() -> String) -> Outcome<()> {
        match self.0.is_empty() {
            true => Ok(()),
            false => malformed(format!("it names a part of `{}` that there is not", text())),
        }
    }
}

/// The values that the way to a place has named.
fn prefix(conditions: &[Literal<'_>], bound: &[Value]) -> Vec<Value> {
    conditions.iter().flat_map(|literal| literal.bound.iter()).chain(bound).copied().collect()
}

fn not_covered<T>(clause: &str, what: &str) -> Outcome<T> {
    words::refused(format!("the proof has to say what implies `{clause}`"), what)
}

fn malformed<T>(what: String) -> Outcome<T> {
    Err(CertificateError::Malformed(what))
}
