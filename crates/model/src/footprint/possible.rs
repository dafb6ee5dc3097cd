//! What an expression may yield when the content of every cell is unknown, and what it reads on the way.
//!
//! Bound variables are followed value by value, so that `forall j != i: !flag[j]` reads every flag but one's own; a domain
//! that is too long, or not known, is followed as an interval.

use std::collections::BTreeSet;

use crate::Model;
use crate::eval::Counters;
use crate::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Whose};
use crate::process::{FamilyId, ProcessId};
use crate::types::ScalarType;
use crate::value::Value;
use crate::variable::{CellId, Role, Storage};

/// Longer domains are not followed value by value.
const DOMAIN_LIMIT: i64 = 256;

/// The values that an expression may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Possible {
    /// Just this one.
    One(Value),
    /// Some number from the first to the second, both included.
    Between(i64, i64),
    /// A process of the family, or `none`.
    Member(FamilyId),
    /// Any value.
    Anything,
}

/// Abstract evaluation of expressions and statements of one process; what they touch adds up.
pub(super) struct AbstractEval<'m> {
    pub model: &'m Model,
    pub me: ProcessId,
    counters: Counters,
    bound: Vec<Possible>,
    pub reads: BTreeSet<CellId>,
    pub writes: BTreeSet<CellId>,
    pub looks_at: BTreeSet<ProcessId>,
}

impl<'m> AbstractEval<'m> {
    pub fn new(model: &'m Model, me: ProcessId, counters: &Counters) -> Self {
        AbstractEval {
            model,
            me,
            counters: counters.clone(),
            bound: Vec::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            looks_at: BTreeSet::new(),
        }
    }

    /// What the expression may yield.
    pub fn look(&mut self, expr: &Expr) -> Possible {
        match &expr.kind {
            ExprKind::Const(value) => Possible::One(*value),
            ExprKind::Parameter(id) => Possible::One(Value::Int(self.model.parameters[*id].value)),
            ExprKind::Myself => Possible::One(Value::Process(self.me)),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).copied().unwrap_or(Possible::Anything),
            ExprKind::Read(access) => self.load(access),
            ExprKind::At { who, .. } => {
                let who = self.look(who);
                self.look_at_control(who);
                Possible::Anything
            }
            ExprKind::Not(inner) => known_truth(self.truth(inner).map(|truth| !truth)),
            ExprKind::Negate(inner) => match interval(self.look(inner)) {
                Some((lo, hi)) => between(hi.checked_neg(), lo.checked_neg()),
                None => Possible::Anything,
            },
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::If(test, yes, no) => match self.truth(test) {
                Some(true) => self.look(yes),
                Some(false) => self.look(no),
                None => {
                    let (yes, no) = (self.look(yes), self.look(no));
                    join(yes, no)
                }
            },
            ExprKind::Quantified(quantified) => self.quantified(quantified, &quantified.bindings),
            ExprKind::IndexOf(inner) => {
                let inner = self.look(inner);
                self.index_of(inner)
            }
            ExprKind::ToProcess(family, inner) => match self.look(inner) {
                Possible::One(Value::Int(index)) => match self.model.families[*family].process_at(index) {
                    Some(id) => Possible::One(Value::Process(id)),
                    None => Possible::Member(*family),
                },
                one @ Possible::One(_) => one,
                _ => Possible::Member(*family),
            },
        }
    }

    /// The truth of the expression, where it does not depend on the state.
    pub fn truth(&mut self, expr: &Expr) -> Option<bool> {
        match self.look(expr) {
            Possible::One(Value::Bool(truth)) => Some(truth),
            _ => None,
        }
    }

    /// Notes the cells that the access may read; its content is any value of its type.
    pub fn load(&mut self, access: &Access) -> Possible {
        let var = &self.model.vars[access.var];
        if let (Role::Counter(_), Some(&value)) = (var.role, self.counters.get(&access.var)) {
            return Possible::One(value);
        }
        let cells = self.cells(access);
        if !matches!(var.role, Role::Counter(_)) {
            self.reads.extend(cells);
        }
        match var.ty.scalar() {
            ScalarType::Range { lo, hi } => Possible::Between(lo, hi),
            ScalarType::Semaphore { max } => Possible::Between(0, max),
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => Possible::Member(family),
            ScalarType::Bool | ScalarType::Enum(_) | ScalarType::Lock => Possible::Anything,
        }
    }

    /// Notes the cells that may be written, and those that its indices read.
    pub fn store(&mut self, access: &Access) {
        let cells = self.cells(access);
        self.writes.extend(cells);
    }

    /// Runs for each value that the variable may take.
    pub fn for_each_value(&mut self, binding: &Binding, mut run: impl FnMut(&mut Self)) {
        for value in self.domain(&binding.domain) {
            self.bound.truncate(binding.var.0 as usize);
            self.bound.push(value);
            run(self);
        }
        self.bound.truncate(binding.var.0 as usize);
    }

    /// Notes what the bounds of a domain read.
    pub fn look_at_domain(&mut self, domain: &Domain) {
        self.domain(domain);
    }

    /// The cells that an access may mean; none in frames.
    fn cells(&mut self, access: &Access) -> Vec<CellId> {
        let model = self.model;
        let var = &model.vars[access.var];
        let owners: Vec<Option<ProcessId>> = match (&access.whose, var.storage) {
            (Whose::Mine, _) => vec![Some(self.me)],
            (Whose::Of(who), Storage::Public(family) | Storage::Local(family)) => match self.look(who) {
                Possible::One(Value::Process(id)) => vec![Some(id)],
                Possible::One(_) => Vec::new(),
                _ => model.families[family].processes().map(Some).collect(),
            },
            _ => vec![None],
        };
        let mut offsets = vec![0];
        for (index, len) in access.indices.iter().zip(var.ty.dimensions()) {
            let possible = self.look(index);
            let (lo, hi) = interval(possible).unwrap_or((0, i64::MAX));
            let wanted = lo.max(0)..=hi.min(len as i64 - 1);
            offsets = offsets.into_iter().flat_map(|at| wanted.clone().map(move |i| at * len + i as usize)).collect();
        }
        if let Storage::Frame(_) = var.storage {
            return Vec::new();
        }
        let mut cells = Vec::new();
        for owner in owners {
            let first = model.cells_of(access.var, owner).next().map_or(0, CellId::index);
            cells.extend(offsets.iter().map(|offset| CellId::new(first + offset)));
        }
        cells
    }

    fn look_at_control(&mut self, who: Possible) {
        let model = self.model;
        match who {
            Possible::One(Value::Process(id)) => self.looks_at.extend([id]),
            Possible::One(_) => {}
            Possible::Member(family) => self.looks_at.extend(model.families[family].processes()),
            Possible::Between(..) | Possible::Anything => self.looks_at.extend(model.processes.ids()),
        }
        self.looks_at.remove(&self.me);
    }

    fn index_of(&self, process: Possible) -> Possible {
        match process {
            Possible::One(Value::Process(id)) => Possible::One(Value::Int(self.model.processes[id].index)),
            Possible::Member(family) => {
                let family = &self.model.families[family];
                let first = family.index.as_ref().map_or(0, |range| range.first);
                Possible::Between(first, first + family.count() as i64 - 1)
            }
            Possible::One(Value::None) | Possible::Anything => Possible::Anything,
            number => number,
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Possible {
        // The right side is not evaluated where the left one decides.
        let decisive = match op {
            BinaryOp::And => Some((false, false)),
            BinaryOp::Or => Some((true, true)),
            BinaryOp::Implies => Some((false, true)),
            _ => None,
        };
        if let Some((deciding, outcome)) = decisive {
            return match self.truth(left) {
                Some(truth) if truth == deciding => Possible::One(Value::Bool(outcome)),
                Some(_) => known_truth(self.truth(right)),
                None => {
                    self.look(right);
                    Possible::Anything
                }
            };
        }
        let (a, b) = (self.look(left), self.look(right));
        match (op, a, b) {
            (BinaryOp::Equal, Possible::One(a), Possible::One(b)) => Possible::One(Value::Bool(a == b)),
            (BinaryOp::NotEqual, Possible::One(a), Possible::One(b)) => Possible::One(Value::Bool(a != b)),
            _ => match (interval(a), interval(b)) {
                (Some(a), Some(b)) => combine(op, a, b),
                _ => Possible::Anything,
            },
        }
    }

    fn quantified(&mut self, quantified: &Quantified, bindings: &[Binding]) -> Possible {
        match bindings.split_first() {
            Some((binding, inner)) => self.for_each_value(binding, |glance| {
                glance.quantified(quantified, inner);
            }),
            None => {
                let meant = quantified.filter.as_ref().and_then(|filter| self.truth(filter));
                if meant != Some(false) {
                    self.look(&quantified.body);
                }
            }
        }
        Possible::Anything
    }

    /// The values of a domain, or one interval for all.
    fn domain(&mut self, domain: &Domain) -> Vec<Possible> {
        match domain {
            Domain::Family(family) => {
                let processes = self.model.families[*family].processes();
                processes.map(|id| Possible::One(Value::Process(id))).collect()
            }
            Domain::Enum(id) => {
                let n_values = self.model.enums[*id].values.len();
                (0..n_values).map(|at| Possible::One(Value::Enum(*id, at as u32))).collect()
            }
            Domain::Range(lo, hi) => match (self.look(lo), self.look(hi)) {
                (Possible::One(Value::Int(lo)), Possible::One(Value::Int(hi)))
                    if hi.checked_sub(lo).is_some_and(|length| length < DOMAIN_LIMIT) =>
                {
                    (lo..=hi).map(|number| Possible::One(Value::Int(number))).collect()
                }
                (lo, hi) => {
                    let lo = interval(lo).map_or(i64::MIN, |(lo, _)| lo);
                    let hi = interval(hi).map_or(i64::MAX, |(_, hi)| hi);
                    vec![Possible::Between(lo, hi)]
                }
            },
        }
    }
}

fn known_truth(truth: Option<bool>) -> Possible {
    truth.map_or(Possible::Anything, |truth| Possible::One(Value::Bool(truth)))
}

/// The numbers that are possible; `None` where that is not known.
fn interval(possible: Possible) -> Option<(i64, i64)> {
    match possible {
        Possible::One(Value::Int(number)) => Some((number, number)),
        Possible::Between(lo, hi) => Some((lo, hi)),
        _ => None,
    }
}

fn between(lo: Option<i64>, hi: Option<i64>) -> Possible {
    match (lo, hi) {
        (Some(lo), Some(hi)) if lo == hi => Possible::One(Value::Int(lo)),
        (Some(lo), Some(hi)) => Possible::Between(lo, hi),
        _ => Possible::Anything,
    }
}

fn join(a: Possible, b: Possible) -> Possible {
    match (interval(a), interval(b)) {
        (Some((a_lo, a_hi)), Some((b_lo, b_hi))) => between(Some(a_lo.min(b_lo)), Some(a_hi.max(b_hi))),
        _ if a == b => a,
        _ => Possible::Anything,
    }
}

/// The operator on intervals; beyond 64 bits, and for what is not worked out here, anything.
fn combine(op: BinaryOp, (a_lo, a_hi): (i64, i64), (b_lo, b_hi): (i64, i64)) -> Possible {
    let always = |yes: bool, no: bool| known_truth(if yes { Some(true) } else { no.then_some(false) });
    match op {
        BinaryOp::Add => between(a_lo.checked_add(b_lo), a_hi.checked_add(b_hi)),
        BinaryOp::Subtract => between(a_lo.checked_sub(b_hi), a_hi.checked_sub(b_lo)),
        BinaryOp::Multiply => {
            let products: Option<Vec<i64>> = [(a_lo, b_lo), (a_lo, b_hi), (a_hi, b_lo), (a_hi, b_hi)]
                .iter()
                .map(|(a, b)| a.checked_mul(*b))
                .collect();
            products.map_or(Possible::Anything, |all| between(all.iter().min().copied(), all.iter().max().copied()))
        }
        BinaryOp::Divide if b_lo > 0 => {
            let quotients = [(a_lo, b_lo), (a_lo, b_hi), (a_hi, b_lo), (a_hi, b_hi)].map(|(a, b)| a.div_euclid(b));
            between(quotients.iter().min().copied(), quotients.iter().max().copied())
        }
        BinaryOp::Remainder if a_lo == a_hi && b_lo == b_hi && b_lo != 0 => {
            let rest = a_lo.wrapping_rem_euclid(b_lo);
            between(Some(rest), Some(rest))
        }
        BinaryOp::Remainder if b_lo > 0 => between(Some(0), Some(b_hi - 1)),
        BinaryOp::Min => between(Some(a_lo.min(b_lo)), Some(a_hi.min(b_hi))),
        BinaryOp::Max => between(Some(a_lo.max(b_lo)), Some(a_hi.max(b_hi))),
        BinaryOp::Machine(op) => match op.bounds((a_lo, a_hi), (b_lo, b_hi)) {
            Some((lo, hi)) => between(Some(lo), Some(hi)),
            None => Possible::Anything,
        },
        BinaryOp::Less => always(a_hi < b_lo, a_lo >= b_hi),
        BinaryOp::LessEqual => always(a_hi <= b_lo, a_lo > b_hi),
        BinaryOp::Greater => always(a_lo > b_hi, a_hi <= b_lo),
        BinaryOp::GreaterEqual => always(a_lo >= b_hi, a_hi < b_lo),
        _ => Possible::Anything,
    }
}
