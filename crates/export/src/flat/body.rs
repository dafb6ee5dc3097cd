//! Bodies of steps, run on terms: statements in sequence, one path for each way through their choices.
//!
//! In: a [`FlatPath`], which is when it is gone and what was written on it. Out: all paths through the statements. What can fail on the way is
//! noted as a fault with its condition. An `if` whose branches have one path each stays one path, with a choice in what it writes.

use model::Model;
use model::control::{Stmt, StmtKind};
use model::expr::{Access, Expr};
use model::process::ProcessId;
use model::types::ScalarType;

use super::expression::{ElementTarget, FlatValue, TermEvaluator};
use super::{TouchedElement, bounds_of, first_number, number_of};
use crate::ExportRefusal;
use crate::term::{Term, TermOp};

/// More ways than this through one step are refused.
pub(super) const MOST_PATHS: usize = 5_000;

/// A step under way.
#[derive(Clone, Debug)]
pub(super) struct FlatPath<'m> {
    /// When it comes this far.
    pub alive: Term,
    /// What was written, and the process that evaluates.
    pub eval: TermEvaluator<'m>,
}

/// What running makes besides paths.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyRunner {
    /// When something failed, with what was touched until then.
    pub faults: Vec<(Term, Vec<TouchedElement>)>,
    pub problems: Vec<ExportRefusal>,
}

impl<'m> FlatPath<'m> {
    /// Goes on for a process.
    pub fn acts_for(mut self, process: ProcessId) -> Self {
        self.eval.me = Some(process);
        self.eval.bound.clear();
        let node = self.eval.node_of[&process];
        self.eval.counters = self.eval.flat.nodes[process.index()][node].counters.clone();
        self
    }

    fn model(&self) -> &'m Model {
        self.eval.model
    }
}

impl BodyRunner {
    /// All paths through the statements.
    pub fn run<'m>(&mut self, body: &[Stmt], path: FlatPath<'m>) -> Vec<FlatPath<'m>> {
        body.iter().fold(vec![path], |paths, stmt| {
            let mut found: Vec<FlatPath<'m>> = paths.into_iter().flat_map(|path| self.statement(stmt, path)).collect();
            if found.len() > MOST_PATHS {
                self.problems
                    .push(ExportRefusal::new(stmt.span, format!("more than {MOST_PATHS} ways through one step")));
                found.truncate(1);
            }
            found
        })
    }

    /// Ends the path where the fault is; whether it goes on elsewhere.
    pub fn fails(&mut self, path: &mut FlatPath<'_>, fault: &Term) -> bool {
        self.problems.append(&mut path.eval.problems);
        let when = path.alive.and(fault);
        if !when.is(false) {
            self.faults.push((when, path.eval.touched.clone()));
        }
        path.alive = path.alive.and(&fault.negation());
        path.eval.set_context(path.alive.clone());
        !path.alive.is(false)
    }

    /// The value of an expression, where there is one.
    pub fn value(&mut self, expr: &Expr, path: &mut FlatPath<'_>) -> FlatValue {
        path.eval.set_context(path.alive.clone());
        let value = path.eval.value(expr);
        self.fails(path, &value.fault);
        value
    }

    /// Goes on only where the term holds.
    pub fn only_where(path: &mut FlatPath<'_>, term: &Term) {
        path.alive = path.alive.and(term);
        path.eval.set_context(path.alive.clone());
    }

    pub fn locate(&mut self, access: &Access, path: &mut FlatPath<'_>) -> Vec<(Term, ElementTarget)> {
        path.eval.set_context(path.alive.clone());
        let (targets, fault) = path.eval.locate(access);
        self.fails(path, &fault);
        targets
    }

    /// Stores a value where the type of the element has it.
    pub fn store(&mut self, path: &mut FlatPath<'_>, targets: &[(Term, ElementTarget)], value: &Term) {
        if let Some((_, target)) = targets.first() {
            let outside = outside(path.model(), target.ty, value);
            self.fails(path, &outside);
        }
        put(path, targets, value);
    }

    fn statement<'m>(&mut self, stmt: &Stmt, mut path: FlatPath<'m>) -> Vec<FlatPath<'m>> {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let mut stores = Vec::new();
                for (access, value) in pairs {
                    let targets = self.locate(access, &mut path);
                    stores.push((targets, self.value(value, &mut path).term));
                }
                for (targets, value) in stores {
                    self.store(&mut path, &targets, &value);
                }
            }
            StmtKind::AssignAny(access, range) => return self.assign_any(access, range.as_ref(), path),
            StmtKind::Await(test) => {
                let test = self.value(test, &mut path);
                Self::only_where(&mut path, &test.term);
            }
            StmtKind::Assert(test) => {
                let test = self.value(test, &mut path);
                self.fails(&mut path, &test.term.negation());
            }
            StmtKind::Acquire(access) => self.acquire(access, &mut path),
            StmtKind::Release(access) => self.release(access, &mut path),
            StmtKind::If(test, yes, no) => return self.branch(test, (yes, no), path),
            StmtKind::Either(blocks) => {
                return blocks.iter().flat_map(|block| self.run(block, path.clone())).collect();
            }
            StmtKind::For(binding, block) => {
                let values = path.eval.domain(&binding.domain);
                return values.into_iter().fold(vec![path], |paths, value| {
                    let round = |mut path: FlatPath<'m>| {
                        path.eval.bound.truncate(binding.var.0 as usize);
                        path.eval.bound.push(value);
                        self.run(block, path)
                    };
                    paths.into_iter().flat_map(round).collect()
                });
            }
        }
        if path.alive.is(false) { Vec::new() } else { vec![path] }
    }

    fn branch<'m>(&mut self, test: &Expr, blocks: (&[Stmt], &[Stmt]), mut path: FlatPath<'m>) -> Vec<FlatPath<'m>> {
        let test = self.value(test, &mut path).term;
        let (base, n_touched) = (path.alive.clone(), path.eval.touched.len());
        let (mut one, mut other) = (path.clone(), path);
        Self::only_where(&mut one, &test);
        Self::only_where(&mut other, &test.negation());
        let whole = [one.alive.clone(), other.alive.clone()];
        let mut taken = if one.alive.is(false) { Vec::new() } else { self.run(blocks.0, one) };
        let mut left = if other.alive.is(false) { Vec::new() } else { self.run(blocks.1, other) };
        if taken.len() != 1 || left.len() != 1 {
            taken.extend(left);
            return taken;
        }
        let (Some(yes), Some(no)) = (taken.pop(), left.pop()) else { return Vec::new() };
        let is_whole = yes.alive == whole[0] && no.alive == whole[1];
        let alive = if is_whole { base } else { yes.alive.or(&no.alive) };
        vec![merge(&test, yes, (no, n_touched), alive)]
    }

    fn assign_any<'m>(
        &mut self,
        access: &Access,
        range: Option<&(Expr, Expr)>,
        mut path: FlatPath<'m>,
    ) -> Vec<FlatPath<'m>> {
        let targets = self.locate(access, &mut path);
        let ends = range.map(|(lo, hi)| {
            let lo = self.index_value(lo, &mut path);
            (lo, self.index_value(hi, &mut path))
        });
        let model = path.model();
        let ty = model.vars[access.var].ty.scalar();
        if let Some((lo, hi)) = &ends {
            let (least, most) = index_bounds(model, ty);
            let outside = lo.between(least, most).and(&hi.between(least, most)).negation();
            // One fault beside the values that are inside: the path goes on where it is.
            let when = path.alive.and(&lo.less_equal(hi)).and(&outside);
            if !when.is(false) {
                self.faults.push((when, path.eval.touched.clone()));
            }
        }
        if ty.n_values(model.type_context()) > MOST_PATHS as u128 {
            self.problems
                .push(ExportRefusal::new(access.span, format!("more than {MOST_PATHS} ways through one step")));
            return vec![path];
        }
        let mut found = Vec::new();
        for value in ty.values(model.type_context()) {
            let mut one = path.clone();
            if let Some((lo, hi)) = &ends {
                let number = match value {
                    model::value::Value::None => continue,
                    model::value::Value::Process(id) => model.processes[id].index,
                    other => number_of(model, other),
                };
                let number = Term::number(number);
                Self::only_where(&mut one, &lo.less_equal(&number).and(&number.less_equal(hi)));
            }
            if !one.alive.is(false) {
                let number = number_of(model, value);
                let term = if ty == ScalarType::Bool { Term::truth(number != 0) } else { Term::number(number) };
                put(&mut one, &targets, &term);
                found.push(one);
            }
        }
        found
    }

    /// A number, or the index of a process.
    fn index_value(&mut self, expr: &Expr, path: &mut FlatPath<'_>) -> Term {
        let value = self.value(expr, path);
        if value.kind == super::expression::ValueKind::Process {
            return path.eval.index_of(&value.term);
        }
        value.term
    }

    fn acquire(&mut self, access: &Access, path: &mut FlatPath<'_>) {
        let targets = self.locate(access, path);
        for (when, target) in &targets {
            let held = path.eval.load(target);
            let (open, taken) = match target.ty {
                ScalarType::Semaphore { .. } => {
                    (Term::number(0).less(&held), Term::compute(TermOp::Subtract, &held, &Term::number(1)))
                }
                _ => {
                    let me = path.eval.me.expect("a process acquires").index() as i64;
                    (held.equal(&path.eval.none_value()), Term::number(me))
                }
            };
            Self::only_where(path, &when.negation().or(&open));
            put(path, &[(when.clone(), target.clone())], &taken);
        }
    }

    fn release(&mut self, access: &Access, path: &mut FlatPath<'_>) {
        let targets = self.locate(access, path);
        for (when, target) in &targets {
            let held = path.eval.load(target);
            let (wrong, free) = match target.ty {
                ScalarType::Semaphore { max } => {
                    (Term::number(max).less_equal(&held), Term::compute(TermOp::Add, &held, &Term::number(1)))
                }
                _ => {
                    let me = path.eval.me.expect("a process releases").index() as i64;
                    (held.equal(&Term::number(me)).negation(), path.eval.none_value())
                }
            };
            self.fails(path, &when.and(&wrong));
            put(path, &[(when.clone(), target.clone())], &free);
        }
    }
}

impl TermEvaluator<'_> {
    /// The number that encodes `none`.
    pub(super) fn none_value(&self) -> Term {
        Term::number(self.model.processes.len() as i64)
    }
}

/// Stores a value that the type has.
pub(super) fn put(path: &mut FlatPath<'_>, targets: &[(Term, ElementTarget)], value: &Term) {
    path.eval.set_context(path.alive.clone());
    for (when, target) in targets {
        if when.is(true) {
            path.eval.put(target, value.clone());
        } else {
            let old = path.eval.load(target);
            path.eval.put(target, Term::choice(when, value, &old));
        }
    }
}

/// When a value is outside a type.
pub(super) fn outside(model: &Model, ty: ScalarType, value: &Term) -> Term {
    let (lo, hi) = bounds_of(model, ty);
    match ty {
        ScalarType::Bool | ScalarType::Enum(_) | ScalarType::Lock => Term::truth(false),
        ScalarType::Range { .. } | ScalarType::Semaphore { .. } | ScalarType::Pid(_) => {
            value.between(lo, hi).negation()
        }
        ScalarType::PidOrNone(family) => {
            let last = lo + model.families[family].count() as i64 - 1;
            let none = Term::number(hi);
            value.between(lo, last).or(&value.equal(&none)).negation()
        }
    }
}

/// The least and the greatest index of a process of the type, or number.
fn index_bounds(model: &Model, ty: ScalarType) -> (i64, i64) {
    match ty {
        ScalarType::Pid(family) | ScalarType::PidOrNone(family) => {
            let family = &model.families[family];
            let first = family.index.as_ref().map_or(0, |range| range.first);
            (first, first + family.count() as i64 - 1)
        }
        _ => bounds_of(model, ty),
    }
}

/// One path out of the two of an `if`.
fn merge<'m>(
    test: &Term,
    mut yes: FlatPath<'m>,
    (mut no, n_touched): (FlatPath<'m>, usize),
    alive: Term,
) -> FlatPath<'m> {
    let vars: Vec<_> = yes.eval.store.single.keys().chain(no.eval.store.single.keys()).copied().collect();
    for var in vars {
        if yes.eval.store.single.get(&var) != no.eval.store.single.get(&var) {
            yes.eval.spread(var);
            no.eval.spread(var);
        }
    }
    let flat = yes.eval.flat;
    let mut keys: Vec<_> = yes.eval.store.cells.keys().chain(no.eval.store.cells.keys()).copied().collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let (var, offset) = key;
        let old = || {
            let at = &flat.vars[var].elements()[offset];
            flat.read(var, at.iter().map(|&at| Term::number(at as i64)).collect())
        };
        let value = |path: &FlatPath<'m>| path.eval.store.cells.get(&key).cloned().unwrap_or_else(old);
        let merged = Term::choice(test, &value(&yes), &value(&no));
        yes.eval.store.cells.insert(key, merged);
    }
    yes.eval.touched.extend(no.eval.touched.drain(n_touched..));
    yes.alive = alive;
    yes.eval.set_context(yes.alive.clone());
    yes
}

/// The number of the first value of a type, as a term.
pub(super) fn first_term(model: &Model, ty: ScalarType) -> Term {
    let number = first_number(model, ty);
    if ty == ScalarType::Bool { Term::truth(number != 0) } else { Term::number(number) }
}
