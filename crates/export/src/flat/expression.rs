//! Expressions as terms: a value, and when it cannot be computed.
//!
//! In: an expression, the process that evaluates it, the values of bound variables, and what the step wrote so far. Out: a [`FlatValue`]: a term, and
//! a term for the faults, which is safe to evaluate from left to right, as is the value where there is no fault. Quantifiers are
//! written out; `&&`, `||`, `=>`, `if` read no more than `model::eval` does.

use std::collections::HashMap;

use base::Span;
use model::Model;
use model::eval::Counters;
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::machine::MachineOp;
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::Role;

use super::{Flat, TouchedElement, number_of, position};
use crate::ExportRefusal;
use crate::term::{NodeNo, Term, TermKind, TermOp, VarNo};

/// Other tools compute with 32 bits.
const NUMBERS: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// What kind of value it is; values of different kinds are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A truth value.
    Truth,
    /// A number.
    Number,
    /// A value of an enumeration.
    Word,
    /// A process or `none`.
    Process,
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub struct FlatValue {
    /// The value, where there is no fault.
    pub term: Term,
    /// When there is none.
    pub fault: Term,
    /// What kind of value.
    pub kind: ValueKind,
}

/// An element of a variable.
#[derive(Clone, Debug)]
pub(super) struct ElementTarget {
    pub var: VarNo,
    pub index: Vec<Term>,
    pub ty: ScalarType,
}

/// What a step wrote so far.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenElements {
    /// New values of elements, by position.
    pub cells: HashMap<(VarNo, usize), Term>,
    /// Variables of which one element, at an index that is not constant, has a new value, and nothing else.
    pub single: HashMap<VarNo, (Vec<Term>, Term)>,
}

/// Evaluates expressions for a process, or for none (properties).
#[derive(Clone, Debug)]
pub struct TermEvaluator<'m> {
    pub(super) model: &'m Model,
    pub(super) flat: &'m Flat,
    /// The process that evaluates.
    pub(super) me: Option<ProcessId>,
    /// The counters of the frame that evaluates.
    pub(super) counters: Counters,
    /// The values of the bound variables, outermost first.
    pub(super) bound: Vec<Value>,
    /// What the step wrote so far.
    pub(super) store: WrittenElements,
    /// The nodes at which processes are known to be.
    pub(super) node_of: HashMap<ProcessId, NodeNo>,
    /// When the part at hand is evaluated.
    context: Term,
    /// What was read and written so far.
    pub(super) touched: Vec<TouchedElement>,
    /// What cannot be said.
    pub(super) problems: Vec<ExportRefusal>,
}

impl<'m> TermEvaluator<'m> {
    /// Evaluates in the state as it is, for no process, with these values for the bound variables.
    pub fn new(model: &'m Model, flat: &'m Flat, bound: &[Value]) -> Self {
        TermEvaluator {
            model,
            flat,
            me: None,
            counters: Counters::new(),
            bound: bound.to_vec(),
            store: WrittenElements::default(),
            node_of: HashMap::new(),
            context: Term::truth(true),
            touched: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Evaluates for a process at a node.
    pub fn at_node(mut self, process: ProcessId, node: NodeNo) -> Self {
        self.me = Some(process);
        self.node_of.insert(process, node);
        self.counters = self.flat.nodes[process.index()][node].counters.clone();
        self
    }

    /// The element that an access means, if it is known whose.
    pub fn only_element(&mut self, access: &Access) -> Option<(VarNo, Vec<Term>)> {
        match &self.locate(access).0[..] {
            [(when, target)] if when.is(true) => Some((target.var, target.index.clone())),
            _ => None,
        }
    }

    /// What cannot be said of the expressions so far.
    pub fn into_problems(self) -> Vec<ExportRefusal> {
        self.problems
    }

    /// The condition under which what follows is evaluated.
    pub(super) fn set_context(&mut self, context: Term) {
        self.context = context;
    }

    fn problem(&mut self, span: Span, why: impl Into<String>) {
        self.problems.push(ExportRefusal::new(span, why.into()));
    }

    fn none(&self) -> Term {
        Term::number(self.model.processes.len() as i64)
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr) -> FlatValue {
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value),
            ExprKind::Parameter(id) => self.constant(Value::Int(self.model.parameters[*id].value)),
            ExprKind::Myself => self.constant(Value::Process(self.me.expect("only a process speaks of itself"))),
            ExprKind::Bound(var) => self.constant(self.bound[var.0 as usize]),
            ExprKind::Read(access) => self.read(access),
            ExprKind::At { who, places, .. } => {
                let who = self.value(who);
                let fault = who.fault.or(&who.term.equal(&self.none()));
                let is_at = |process: ProcessId| {
                    let nodes = self.flat.nodes_at(process, places);
                    let there = match self.node_of.get(&process) {
                        Some(node) => Term::truth(nodes.contains(node)),
                        None => Term::at(process, nodes),
                    };
                    who.term.equal(&Term::number(process.index() as i64)).and(&there)
                };
                let term = Term::any(self.model.processes.ids().map(is_at));
                FlatValue { term, fault, kind: ValueKind::Truth }
            }
            ExprKind::Not(inner) => {
                let inner = self.value(inner);
                FlatValue { term: inner.term.negation(), ..inner }
            }
            ExprKind::Negate(inner) => {
                let inner = self.number(inner);
                self.checked(inner.term.negate(), inner.fault, expr.span)
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::If(test, yes, no) => self.choice(test, yes, no),
            ExprKind::Quantified(quantified) => self.quantified(quantified),
            ExprKind::IndexOf(inner) => {
                let inner = self.value(inner);
                if inner.kind != ValueKind::Process {
                    return inner;
                }
                let fault = inner.fault.or(&inner.term.equal(&self.none()));
                FlatValue { term: self.index_of(&inner.term), fault, kind: ValueKind::Number }
            }
            ExprKind::ToProcess(family, inner) => {
                let inner = self.value(inner);
                self.process_of(*family, &inner)
            }
        }
    }

    fn constant(&self, value: Value) -> FlatValue {
        let number = number_of(self.model, value);
        let (term, kind) = match value {
            Value::Bool(truth) => (Term::truth(truth), ValueKind::Truth),
            Value::Int(_) => (Term::number(number), ValueKind::Number),
            Value::Enum(..) => (Term::number(number), ValueKind::Word),
            Value::None | Value::Process(_) => (Term::number(number), ValueKind::Process),
        };
        FlatValue { term, fault: Term::truth(false), kind }
    }

    /// The value of an expression that must be a number.
    pub(super) fn number(&mut self, expr: &Expr) -> FlatValue {
        let value = self.value(expr);
        match value.kind {
            // Only `none` can be where a number is needed.
            ValueKind::Process => {
                let fault = value.fault.or(&value.term.equal(&self.none()));
                FlatValue { fault, kind: ValueKind::Number, ..value }
            }
            _ => value,
        }
    }

    /// A number that other tools can compute.
    fn checked(&mut self, term: Term, fault: Term, span: Span) -> FlatValue {
        let (lo, hi) = term.bounds();
        if lo < NUMBERS.0 || hi > NUMBERS.1 {
            self.problem(span, "this may be a number beyond 32 bits, which other tools would cut");
        }
        FlatValue { term, fault, kind: ValueKind::Number }
    }

    /// Evaluates a part only where `when` holds.
    fn within<T>(&mut self, when: &Term, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.context.clone();
        self.context = outer.and(when);
        let seen = evaluate(self);
        self.context = outer;
        seen
    }

    fn choice(&mut self, test: &Expr, yes: &Expr, no: &Expr) -> FlatValue {
        let test = self.value(test);
        let sound = test.fault.negation();
        let yes = self.within(&sound.and(&test.term), |inner| inner.value(yes));
        let no = self.within(&sound.and(&test.term.negation()), |inner| inner.value(no));
        let fault = test.fault.or(&Term::choice(&test.term, &yes.fault, &no.fault));
        let kind = if test.term.is(false) { no.kind } else { yes.kind };
        FlatValue { term: Term::choice(&test.term, &yes.term, &no.term), fault, kind }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> FlatValue {
        let truth = |term, fault| FlatValue { term, fault, kind: ValueKind::Truth };
        if let BinaryOp::And | BinaryOp::Or | BinaryOp::Implies = op {
            let left = self.value(left);
            let goes_on = if op == BinaryOp::Or { left.term.negation() } else { left.term.clone() };
            let evaluated = left.fault.negation().and(&goes_on);
            let right = self.within(&evaluated, |inner| inner.value(right));
            let fault = left.fault.or(&goes_on.and(&right.fault));
            let term = match op {
                BinaryOp::And => left.term.and(&right.term),
                BinaryOp::Or => left.term.or(&right.term),
                _ => left.term.negation().or(&right.term),
            };
            return truth(term, fault);
        }
        if let BinaryOp::Iff | BinaryOp::Equal | BinaryOp::NotEqual = op {
            let (left, right) = self.both(left, right, Self::value);
            let same = left.kind == right.kind;
            let equal = if same { left.term.equal(&right.term) } else { Term::truth(false) };
            let term = if op == BinaryOp::NotEqual { equal.negation() } else { equal };
            return truth(term, left.fault.or(&right.fault));
        }
        let (left, right) = self.both(left, right, Self::number);
        let fault = left.fault.or(&right.fault);
        let (a, b) = (left.term, right.term);
        match op {
            BinaryOp::Less => truth(a.less(&b), fault),
            BinaryOp::LessEqual => truth(a.less_equal(&b), fault),
            BinaryOp::Greater => truth(b.less(&a), fault),
            BinaryOp::GreaterEqual => truth(b.less_equal(&a), fault),
            BinaryOp::Min => self.checked(Term::choice(&a.less_equal(&b), &a, &b), fault, span),
            BinaryOp::Max => self.checked(Term::choice(&a.less_equal(&b), &b, &a), fault, span),
            _ => self.arithmetic(op, (a, b), fault, span),
        }
    }

    fn both(
        &mut self,
        left: &Expr,
        right: &Expr,
        evaluate: fn(&mut Self, &Expr) -> FlatValue,
    ) -> (FlatValue, FlatValue) {
        let left = evaluate(self, left);
        let right = self.within(&left.fault.negation(), |inner| evaluate(inner, right));
        (left, right)
    }

    fn arithmetic(&mut self, op: BinaryOp, (a, b): (Term, Term), fault: Term, span: Span) -> FlatValue {
        let zero = Term::number(0);
        let by_zero = fault.or(&b.equal(&zero));
        match op {
            BinaryOp::Add => self.checked(Term::compute(TermOp::Add, &a, &b), fault, span),
            BinaryOp::Subtract => self.checked(Term::compute(TermOp::Subtract, &a, &b), fault, span),
            BinaryOp::Multiply => self.checked(Term::compute(TermOp::Multiply, &a, &b), fault, span),
            BinaryOp::Remainder => self.checked(euclidean_remainder(&a, &b), by_zero, span),
            BinaryOp::Divide => {
                let whole = Term::compute(TermOp::Subtract, &a, &euclidean_remainder(&a, &b));
                let natural = a.bounds().0 >= 0;
                let divided = if natural { &a } else { &whole };
                self.checked(Term::compute(TermOp::Machine(MachineOp::Quotient), divided, &b), by_zero, span)
            }
            BinaryOp::Machine(op) => {
                let fault = match op {
                    MachineOp::Quotient | MachineOp::Rest => by_zero,
                    MachineOp::ShiftLeft | MachineOp::ShiftRight => {
                        if b.bounds().0 < 0 || b.bounds().1 > 31 {
                            self.problem(span, "this may be a shift by more than 31 bits, on which other tools differ");
                        }
                        fault
                    }
                    _ => fault,
                };
                if op == MachineOp::ShiftRight && a.bounds().0 < 0 {
                    self.problem(span, "this may shift a number below 0, on which other tools differ");
                }
                self.checked(Term::compute(TermOp::Machine(op), &a, &b), fault, span)
            }
            _ => unreachable!("{op:?} is not arithmetic"),
        }
    }

    fn quantified(&mut self, quantified: &Quantified) -> FlatValue {
        let outer = self.bound.clone();
        let mut instances = Vec::new();
        self.instances(&quantified.bindings, &mut instances);
        let context = self.context.clone();
        // From left to right: whether some instance before stopped the evaluation, by its truth or by a fault.
        let (mut fault, mut open, mut found) = (Term::truth(false), Term::truth(true), Vec::new());
        for bound in instances {
            self.bound = bound;
            self.context = context.and(&open);
            let filter = quantified.filter.as_ref().map(|filter| self.value(filter));
            let (meant, no_filter) = match &filter {
                Some(filter) => (filter.term.clone(), filter.fault.clone()),
                None => (Term::truth(true), Term::truth(false)),
            };
            let evaluated = no_filter.negation().and(&meant);
            let body = self.within(&evaluated, |inner| inner.value(&quantified.body));
            fault = fault.or(&open.and(&no_filter.or(&meant.and(&body.fault))));
            let goes_on = match quantified.quantifier {
                Quantifier::Forall => meant.negation().or(&body.term),
                Quantifier::Exists => meant.and(&body.term).negation(),
                Quantifier::Count => Term::truth(true),
            };
            // What comes later is evaluated only where this instance did not decide.
            open = open.and(&goes_on);
            found.push(meant.and(&body.term));
            if quantified.quantifier == Quantifier::Forall {
                let last = found.len() - 1;
                found[last] = goes_on;
            }
        }
        (self.bound, self.context) = (outer, context);
        let (term, kind) = match quantified.quantifier {
            Quantifier::Forall => (Term::all(found), ValueKind::Truth),
            Quantifier::Exists => (Term::any(found), ValueKind::Truth),
            Quantifier::Count => {
                let one = |truth: &Term| Term::choice(truth, &Term::number(1), &Term::number(0));
                let sum =
                    found.iter().fold(Term::number(0), |sum, truth| Term::compute(TermOp::Add, &sum, &one(truth)));
                (sum, ValueKind::Number)
            }
        };
        FlatValue { term, fault, kind }
    }

    /// The values of bound variables for each instance, in order.
    pub(crate) fn instances(&mut self, bindings: &[Binding], found: &mut Vec<Vec<Value>>) {
        let Some((binding, inner)) = bindings.split_first() else {
            found.push(self.bound.clone());
            return;
        };
        for value in self.domain(&binding.domain) {
            self.bound.truncate(binding.var.0 as usize);
            self.bound.push(value);
            self.instances(inner, found);
        }
    }

    /// The values of a domain; its ends are constant where it is used.
    pub(super) fn domain(&mut self, domain: &Domain) -> Vec<Value> {
        match domain {
            Domain::Family(family) => self.model.families[*family].processes().map(Value::Process).collect(),
            Domain::Enum(id) => (0..self.model.enums[*id].values.len()).map(|at| Value::Enum(*id, at as u32)).collect(),
            Domain::Range(lo, hi) => {
                let (first, last) = (self.number(lo), self.number(hi));
                match (first.term.as_number(), last.term.as_number()) {
                    (Some(first), Some(last)) if last - first < 100_000 => (first..=last).map(Value::Int).collect(),
                    _ => {
                        self.problem(lo.span, "the ends of this range are not constant, or too far apart");
                        Vec::new()
                    }
                }
            }
        }
    }

    pub(super) fn index_of(&self, process: &Term) -> Term {
        let (lo, hi) = process.bounds();
        let named = |(id, _): &(ProcessId, &model::process::Process)| (lo..=hi).contains(&(id.index() as i64));
        let offsets: Vec<(i64, i64)> = self
            .model
            .processes
            .entries()
            .filter(named)
            .map(|(id, process)| (id.index() as i64, process.index - id.index() as i64))
            .collect();
        match offsets.split_last() {
            Some(((_, last), rest)) if rest.iter().all(|(_, offset)| offset == last) => {
                Term::compute(TermOp::Add, process, &Term::number(*last))
            }
            Some(((last_id, last), rest)) => {
                let end = Term::number(last_id + last);
                rest.iter().rev().fold(end, |no, (id, offset)| {
                    Term::choice(&process.equal(&Term::number(*id)), &Term::number(id + offset), &no)
                })
            }
            None => Term::number(0),
        }
    }

    fn process_of(&self, family: FamilyId, inner: &FlatValue) -> FlatValue {
        let members = &self.model.families[family];
        let first = members.first.index() as i64;
        let last = first + members.count() as i64 - 1;
        let (term, bad) = if inner.kind == ValueKind::Process {
            let outside = inner.term.between(first, last).negation();
            (inner.term.clone(), inner.term.equal(&self.none()).negation().and(&outside))
        } else {
            let shift = first - members.index.as_ref().map_or(0, |range| range.first);
            let term = Term::compute(TermOp::Add, &inner.term, &Term::number(shift));
            let bad = term.between(first, last).negation();
            (term, bad)
        };
        FlatValue { term, fault: inner.fault.or(&bad), kind: ValueKind::Process }
    }

    fn read(&mut self, access: &Access) -> FlatValue {
        let var = &self.model.vars[access.var];
        if let Role::Counter(_) = var.role {
            return match (&access.whose, self.counters.get(&access.var).copied()) {
                (Whose::Mine | Whose::Frame, Some(value)) => self.constant(value),
                _ => {
                    self.problem(access.span, "the counter of a loop of another process is no variable elsewhere");
                    self.constant(Value::Int(0))
                }
            };
        }
        let kind = match var.ty.scalar() {
            ScalarType::Bool => ValueKind::Truth,
            ScalarType::Range { .. } | ScalarType::Semaphore { .. } => ValueKind::Number,
            ScalarType::Enum(_) => ValueKind::Word,
            ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock => ValueKind::Process,
        };
        let (targets, fault) = self.locate(access);
        let sound = fault.negation();
        let mut found: Vec<(Term, Term)> = Vec::new();
        for (when, target) in targets {
            let term = self.within(&sound.and(&when), |inner| inner.load(&target));
            found.push((when, term));
        }
        let last = found.pop().map_or_else(|| Term::number(0), |(_, term)| term);
        let term = found.into_iter().rev().fold(last, |no, (when, yes)| Term::choice(&when, &yes, &no));
        FlatValue { term, fault, kind }
    }

    /// Where an access leads: each possible variable with its condition, and when there is none.
    pub(super) fn locate(&mut self, access: &Access) -> (Vec<(Term, ElementTarget)>, Term) {
        let var = &self.model.vars[access.var];
        let (mut owners, mut fault) = (Vec::new(), Term::truth(false));
        match &access.whose {
            Whose::Shared => owners.push((Term::truth(true), None)),
            Whose::Mine | Whose::Frame => owners.push((Term::truth(true), self.me)),
            Whose::Of(who) => {
                let who = self.value(who);
                fault = who.fault.or(&who.term.equal(&self.none()));
                let (model::variable::Storage::Public(family) | model::variable::Storage::Local(family)) = var.storage
                else {
                    unreachable!("only processes own variables")
                };
                for process in self.model.families[family].processes() {
                    let when = who.term.equal(&Term::number(process.index() as i64));
                    if !when.is(false) {
                        owners.push((when, Some(process)));
                    }
                }
            }
        }
        let mut index = Vec::new();
        for (at, len) in access.indices.iter().zip(var.ty.dimensions()) {
            let number = self.within(&fault.negation(), |inner| inner.number(at));
            fault = fault.or(&number.fault).or(&number.term.between(0, len as i64 - 1).negation());
            index.push(number.term);
        }
        let flat = self.flat;
        let target = |(when, owner): (Term, Option<ProcessId>)| {
            let target = ElementTarget { var: flat.var(access.var, owner), index: index.clone(), ty: var.ty.scalar() };
            (when, target)
        };
        (owners.into_iter().map(target).collect(), fault)
    }

    /// The content of an element, with what the step wrote so far.
    pub(super) fn load(&mut self, target: &ElementTarget) -> Term {
        self.touch(target, false);
        self.peek(target)
    }

    pub(super) fn touch(&mut self, target: &ElementTarget, writes: bool) {
        if let Some(process) = self.me {
            let (var, index) = (target.var, target.index.clone());
            self.touched.push(TouchedElement { process, var, index, when: self.context.clone(), writes });
        }
    }

    fn peek(&mut self, target: &ElementTarget) -> Term {
        let ElementTarget { var, index, .. } = target;
        if let Some((written, value)) = self.store.single.get(var) {
            if written == index {
                return value.clone();
            }
            self.spread(*var);
        }
        let dimensions = &self.flat.vars[*var].dimensions;
        let written = |offset: usize| self.store.cells.get(&(*var, offset)).cloned();
        if let Some(offset) = position(dimensions, index) {
            return written(offset).unwrap_or_else(|| self.flat.read(*var, index.clone()));
        }
        let changed: Vec<(usize, Vec<usize>)> =
            self.flat.vars[*var].elements().into_iter().enumerate().filter(|(at, _)| written(*at).is_some()).collect();
        changed.into_iter().rev().fold(self.flat.read(*var, index.clone()), |no, (offset, at)| {
            let yes = written(offset).expect("only what was written is asked for");
            Term::choice(&is_at(index, &at), &yes, &no)
        })
    }

    /// Stores a value in an element.
    pub(super) fn put(&mut self, target: &ElementTarget, value: Term) {
        self.touch(target, true);
        let ElementTarget { var, index, .. } = target;
        let elements = self.flat.vars[*var].elements();
        if let Some(offset) = position(&self.flat.vars[*var].dimensions, index) {
            self.spread(*var);
            self.store.cells.insert((*var, offset), value);
            return;
        }
        let is_fresh = (0..elements.len()).all(|offset| !self.store.cells.contains_key(&(*var, offset)));
        match self.store.single.get(var) {
            Some((written, _)) if written == index => {
                self.store.single.insert(*var, (index.clone(), value));
            }
            None if is_fresh => {
                self.store.single.insert(*var, (index.clone(), value));
            }
            _ => {
                self.spread(*var);
                self.put_anywhere(*var, index, &value);
            }
        }
    }

    fn put_anywhere(&mut self, var: VarNo, index: &[Term], value: &Term) {
        for (offset, at) in self.flat.vars[var].elements().into_iter().enumerate() {
            let constant = at.iter().map(|&at| Term::number(at as i64)).collect();
            let old = self.store.cells.get(&(var, offset)).cloned().unwrap_or_else(|| self.flat.read(var, constant));
            let new = Term::choice(&is_at(index, &at), value, &old);
            if new != old {
                self.store.cells.insert((var, offset), new);
            }
        }
    }

    /// Says of each element what the one write at a changing index means for it.
    pub(super) fn spread(&mut self, var: VarNo) {
        if let Some((index, value)) = self.store.single.remove(&var) {
            self.put_anywhere(var, &index, &value);
        }
    }
}

/// Whether an index is this position.
pub(super) fn is_at(index: &[Term], at: &[usize]) -> Term {
    Term::all(index.iter().zip(at).map(|(index, &at)| index.equal(&Term::number(at as i64))))
}

/// `a % b` with a result between 0 and |b|, out of C's.
fn euclidean_remainder(a: &Term, b: &Term) -> Term {
    let rest = Term::compute(TermOp::Machine(MachineOp::Rest), a, b);
    if a.bounds().0 >= 0 {
        return rest;
    }
    let size = match b.kind() {
        _ if b.bounds().0 >= 0 => b.clone(),
        TermKind::Number(_) => b.negate(),
        _ => Term::choice(&b.less(&Term::number(0)), &b.negate(), b),
    };
    let raised = Term::compute(TermOp::Add, &rest, &size);
    Term::choice(&rest.less(&Term::number(0)), &raised, &rest)
}
