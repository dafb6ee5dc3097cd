//! What may hold at a row of a process, whatever the local states of the others are.
//!
//! In: a condition on states. Out: whether it holds for some choice of view states of the others with the same store. A condition is
//! taken apart where that is exact: an alternative may hold if one side may, and two conditions that read different processes if
//! each may. The rest is tried, for all view states of the processes that it reads that differ in what it can see of them. A
//! condition that may have no value is tried at every row of a process, also where a part of it decides whether it may hold, and where no run that violates the property gets to: it is refused where it has none.

use std::collections::BTreeSet;

use base::Budget;
use evidence::certificate::Column;
use model::Model;
use model::control::PlaceId;
use model::eval::{Control, Frame, State, StepFault, Viewpoint, initial_states};
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::fairness::StatePredicate;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;
use rustc_hash::FxHashMap;

use super::turns::Turns;
use crate::certificate::clause::Splitter;
use crate::certificate::{CertificateError, Outcome, words};

/// A condition, taken apart.
pub(super) enum May {
    /// What cannot be taken apart.
    Whole(Whole),
    /// All of the parts, which read different processes, or one of them. Where a part has no value, the whole may have one.
    Parts(bool, Vec<May>, Whole),
    /// The process cannot take a step that counts.
    Unable(ProcessId, Option<Vec<String>>),
    /// None of these, all processes of a program with rendezvous, can take a step that counts.
    NobodyAble(BTreeSet<ProcessId>),
}

/// An expression that is to be true or false.
pub(super) struct Whole {
    number: usize,
    expr: Expr,
    bound: Vec<Value>,
    wanted: bool,
    /// The processes at whose local states it looks.
    processes: BTreeSet<ProcessId>,
    /// The cells at which it looks.
    cells: BTreeSet<CellId>,
    /// The sets of places that it asks about.
    places: Vec<Vec<PlaceId>>,
}

impl May {
    fn processes(&self) -> BTreeSet<ProcessId> {
        match self {
            May::Whole(whole) | May::Parts(_, _, whole) => whole.processes.clone(),
            May::Unable(process, _) => BTreeSet::from([*process]),
            May::NobodyAble(processes) => processes.clone(),
        }
    }
}

/// Why a condition was not judged.
enum Stop {
    /// It has no value.
    Fault(StepFault),
    Error(CertificateError),
}

impl From<CertificateError> for Stop {
    fn from(error: CertificateError) -> Self {
        Stop::Error(error)
    }
}

/// Takes conditions apart and judges them.
pub(super) struct Judge<'m> {
    model: &'m Model,
    splitter: Splitter<'m>,
    /// The state that expressions are evaluated in; filled as far as they read it.
    state: State,
    n_wholes: usize,
    budget: &'m Budget,
    /// By expression, process and store: rows that represent all that the expression can distinguish.
    told_apart: FxHashMap<(usize, ProcessId, u32), Vec<u32>>,
}

impl<'m> Judge<'m> {
    /// A judge of conditions of the program.
    pub fn new(model: &'m Model, budget: &'m Budget) -> Self {
        let state = initial_states(model).next().expect("a program has an initial state");
        Judge { model, splitter: Splitter::new(model), state, n_wholes: 0, budget, told_apart: FxHashMap::default() }
    }

    /// A predicate of a fairness assumption.
    pub fn predicate(&mut self, predicate: &StatePredicate) -> Outcome<May> {
        match predicate {
            StatePredicate::Holds(expr) => self.truth(expr, &[], true),
            StatePredicate::Fails(expr) => self.truth(expr, &[], false),
            StatePredicate::Unable(process, labels) => Ok(May::Unable(*process, labels.clone())),
            StatePredicate::NobodyAble if !self.model.channels.is_empty() => {
                Ok(May::NobodyAble(self.model.processes.ids().collect()))
            }
            StatePredicate::NobodyAble => {
                let everybody = self.model.processes.ids().map(|process| May::Unable(process, None)).collect();
                let never = Expr { kind: ExprKind::Const(Value::Bool(false)), span: base::Span::default() };
                Ok(May::Parts(true, everybody, self.whole(&never, &[], true)?))
            }
        }
    }

    /// That an expression has a truth value.
    pub fn truth(&mut self, expr: &Expr, bound: &[Value], wanted: bool) -> Outcome<May> {
        let parts = match &expr.kind {
            ExprKind::Not(inner) => return self.truth(inner, bound, !wanted),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), left, right) => {
                let left_wanted = wanted != (*op == BinaryOp::Implies);
                let parts = vec![self.truth(left, bound, left_wanted)?, self.truth(right, bound, wanted)?];
                Some(((*op == BinaryOp::And) == wanted, parts))
            }
            ExprKind::Quantified(inner) if inner.quantifier != Quantifier::Count => {
                match self.instances(inner, bound) {
                    Some(instances) => {
                        let parts = instances.iter().map(|instance| self.truth(&inner.body, instance, wanted));
                        let parts = parts.collect::<Outcome<Vec<May>>>()?;
                        Some(((inner.quantifier == Quantifier::Forall) == wanted, parts))
                    }
                    None => None,
                }
            }
            _ => None,
        };
        let whole = self.whole(expr, bound, wanted)?;
        let Some((is_all, parts)) = parts else { return Ok(May::Whole(whole)) };
        let mut seen = BTreeSet::new();
        let apart = !is_all || parts.iter().all(|part| part.processes().into_iter().all(|one| seen.insert(one)));
        Ok(if apart { May::Parts(is_all, parts, whole) } else { May::Whole(whole) })
    }

    /// The values of the bound variables for all instances that are meant; `None` where these depend on the state.
    fn instances(&self, quantified: &Quantified, bound: &[Value]) -> Option<Vec<Vec<Value>>> {
        let mut instances = vec![bound.to_vec()];
        for binding in &quantified.bindings {
            instances = self.bound_values(binding, &instances)?;
        }
        let Some(filter) = &quantified.filter else { return Some(instances) };
        if !looks_at_nothing(filter) {
            return None;
        }
        let mut meant = Vec::new();
        for instance in instances {
            if Viewpoint::of_instance(self.model, &self.state, &instance).truth(filter).ok()? {
                meant.push(instance);
            }
        }
        Some(meant)
    }

    /// All values of a bound variable after those around it; `None` where they depend on the state.
    fn bound_values(&self, binding: &Binding, instances: &[Vec<Value>]) -> Option<Vec<Vec<Value>>> {
        if let Domain::Range(lo, hi) = &binding.domain
            && !(looks_at_nothing(lo) && looks_at_nothing(hi))
        {
            return None;
        }
        let mut found = Vec::new();
        for instance in instances {
            let around = &instance[..binding.var.0 as usize];
            let domain = Viewpoint::of_instance(self.model, &self.state, around).domain(&binding.domain).ok()?;
            found.extend(domain.map(|value| [around, &[value]].concat()));
        }
        Some(found)
    }

    fn whole(&mut self, expr: &Expr, bound: &[Value], wanted: bool) -> Outcome<Whole> {
        let mentions = self.splitter.mentions_within(expr, bound)?;
        let mut places = Vec::new();
        collect_places(expr, &mut places);
        self.n_wholes += 1;
        let (number, bound) = (self.n_wholes, bound.to_vec());
        let (processes, cells) = (mentions.processes, mentions.cells);
        Ok(Whole { number, expr: expr.clone(), bound, wanted, processes, cells, places })
    }

    /// The expression has a value in every state that the rows of a process and those of the others show.
    pub fn check_value(
        &mut self,
        (expr, bound): (&Expr, &[Value]),
        turns: &mut Turns<'_>,
        focus: ProcessId,
    ) -> Outcome<()> {
        if self.splitter.has_value(expr, bound) {
            return Ok(());
        }
        let mut parts: Vec<(&Expr, Vec<Value>)> = Vec::new();
        match &expr.kind {
            ExprKind::Not(inner) => return self.check_value((inner, bound), turns, focus),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, left, right) => {
                parts.extend([left, right].map(|side| (&**side, bound.to_vec())));
            }
            ExprKind::Quantified(inner) if inner.quantifier != Quantifier::Count => {
                let instances = self.instances(inner, bound).into_iter().flatten();
                parts.extend(instances.map(|instance| (&inner.body, instance)));
            }
            _ => {}
        }
        // Where each part has a value, so does the whole; where one has none, an earlier one may decide.
        let mut have_values = !parts.is_empty();
        for (part, bound) in parts {
            have_values = have_values && self.check_value((part, &bound), turns, focus).is_ok();
        }
        if have_values {
            return Ok(());
        }
        let whole = May::Whole(self.whole(expr, bound, true)?);
        for row in 0..turns.rows(focus).list.len() as u32 {
            self.budget.check(0)?;
            self.may_hold(&whole, turns, (focus, row))?;
        }
        Ok(())
    }

    /// Whether a condition may hold at a row of a process.
    pub fn may_hold(&mut self, may: &May, turns: &mut Turns<'_>, at: (ProcessId, u32)) -> Outcome<bool> {
        self.judge(may, turns, at).or_else(|stop| match stop {
            Stop::Error(error) => Err(error),
            Stop::Fault(fault) => {
                let (focus, row) = at;
                let rows = turns.rows(focus);
                let view = words::view(turns.numbering, rows.columns, &rows.list[row as usize]);
                let obligation = "what the property speaks of has to have a value".to_owned();
                words::refused(obligation, format!("in {view} it has none: {}", fault.fault))
            }
        })
    }

    fn judge(&mut self, may: &May, turns: &mut Turns<'_>, at: (ProcessId, u32)) -> Result<bool, Stop> {
        match may {
            May::Whole(whole) => self.try_all(whole, turns, at),
            May::Parts(is_all, parts, whole) => {
                for part in parts {
                    match self.judge(part, turns, at) {
                        Ok(holds) if holds != *is_all => return Ok(holds),
                        Ok(_) => {}
                        Err(Stop::Fault(_)) => return self.try_all(whole, turns, at),
                        Err(error) => return Err(error),
                    }
                }
                Ok(*is_all)
            }
            May::Unable(process, labels) => Ok(turns.may_be_unable(*process, labels.as_deref(), at)?),
            May::NobodyAble(_) => Ok(turns.may_all_be_unable(at, self.budget)?),
        }
    }

    /// Whether some choice of view states of the others makes an expression what is wanted.
    fn try_all(&mut self, whole: &Whole, turns: &mut Turns<'_>, (focus, row): (ProcessId, u32)) -> Result<bool, Stop> {
        let store = turns.rows(focus).stores[row as usize];
        let others: Vec<ProcessId> = whole.processes.iter().copied().filter(|&other| other != focus).collect();
        let mut choices = Vec::new();
        for &other in &others {
            choices.push((other, self.told_apart(whole, turns, (other, store))));
        }
        fill(&mut self.state, turns, (focus, row));
        let mut found = false;
        self.try_each(whole, turns, &choices, &mut found)?;
        Ok(found)
    }

    fn try_each(
        &mut self,
        whole: &Whole,
        turns: &Turns<'_>,
        rest: &[(ProcessId, Vec<u32>)],
        found: &mut bool,
    ) -> Result<(), Stop> {
        let Some(((process, rows), rest)) = rest.split_first() else {
            let truth = Viewpoint::of_instance(self.model, &self.state, &whole.bound).truth(&whole.expr);
            *found |= truth.map_err(Stop::Fault)? == whole.wanted;
            return Ok(());
        };
        for &row in rows {
            fill(&mut self.state, turns, (*process, row));
            self.try_each(whole, turns, rest, found)?;
        }
        Ok(())
    }

    /// Rows of a process with a store, one for each class that the expression cannot tell apart.
    fn told_apart(&mut self, whole: &Whole, turns: &Turns<'_>, (process, store): (ProcessId, u32)) -> Vec<u32> {
        let key = (whole.number, process, store);
        if let Some(known) = self.told_apart.get(&key) {
            return known.clone();
        }
        let mut seen = BTreeSet::new();
        let own = |cell: &&CellId| self.model.cells[**cell].owner == Some(process);
        let cells: Vec<CellId> = whole.cells.iter().filter(own).copied().collect();
        let mut state = self.state.clone();
        let mut looks_new = |&row: &u32| {
            fill(&mut state, turns, (process, row));
            let place = state.place(process);
            let values: Vec<Value> = cells.iter().map(|cell| state.cells[cell.index()]).collect();
            let stands: Vec<bool> = whole.places.iter().map(|places| places.contains(&place)).collect();
            seen.insert((stands, values))
        };
        let rows: Vec<u32> =
            turns.rows(process).with_store(store).iter().copied().filter(|row| looks_new(row)).collect();
        self.told_apart.insert(key, rows.clone());
        rows
    }
}

/// Puts what a row says into a state.
fn fill(state: &mut State, turns: &Turns<'_>, (process, row): (ProcessId, u32)) {
    let rows = turns.rows(process);
    for (&column, &number) in rows.columns.iter().zip(&rows.list[row as usize]) {
        match column {
            Column::Cell(cell) => state.cells[cell.index()] = turns.numbering.value_of(cell, number),
            Column::Control(process) => {
                let point = &turns.numbering.points(process)[number as usize];
                state.stacks[process.index()] = vec![Frame { control: Control::At(point.place), slots: Vec::new() }];
                point.counters.iter().for_each(|&(counter, value)| state.cells[counter.index()] = value);
            }
            Column::Exposed(_) => {}
        }
    }
}

/// Whether an expression has the same value in all states; only simple ones are looked into.
fn looks_at_nothing(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Bound(_) => true,
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) => looks_at_nothing(inner),
        ExprKind::Binary(_, left, right) => looks_at_nothing(left) && looks_at_nothing(right),
        _ => false,
    }
}

/// The sets of places that an expression asks about.
fn collect_places(expr: &Expr, into: &mut Vec<Vec<PlaceId>>) {
    let mut all = |parts: &[&Expr]| parts.iter().for_each(|part| collect_places(part, into));
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
        ExprKind::Read(access) => {
            access.indices.iter().for_each(|index| collect_places(index, into));
            if let Whose::Of(who) = &access.whose {
                collect_places(who, into);
            }
        }
        ExprKind::At { who, places, .. } => {
            into.push(places.clone());
            collect_places(who, into);
        }
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => {
            all(&[inner]);
        }
        ExprKind::Binary(_, left, right) => all(&[left, right]),
        ExprKind::If(test, yes, no) => all(&[test, yes, no]),
        ExprKind::Quantified(inner) => {
            for binding in &inner.bindings {
                if let Domain::Range(lo, hi) = &binding.domain {
                    collect_places(lo, into);
                    collect_places(hi, into);
                }
            }
            inner.filter.iter().for_each(|filter| collect_places(filter, into));
            collect_places(&inner.body, into);
        }
    }
}
