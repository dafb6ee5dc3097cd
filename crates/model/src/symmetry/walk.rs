//! The walk through expressions and statements that collects reasons against symmetry.

use std::collections::{BTreeMap, BTreeSet};

use base::Span;

use super::failure::may_fail;
use super::{Asymmetry, AsymmetryKind, IndexUses, spans_family};
use crate::Model;
use crate::control::{Stmt, StmtKind, TextOwner};
use crate::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantifier, Whose};
use crate::process::{FamilyId, ProcessId};
use crate::types::ScalarType;
use crate::value::Value;
use crate::variable::VarId;

/// What a dimension of an array is indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexKind {
    /// A process of the family.
    Process,
    /// A process that the text names, by a number.
    Named,
    /// A number.
    Number,
}

/// Whether an expression yields a process of the family.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FamilyMembership {
    Yes,
    No,
}

/// What was found so far.
pub(super) struct AsymmetryWalk<'m> {
    model: &'m Model,
    pub family: FamilyId,
    /// So many processes of the family, the first ones, stay where they are, and may be named.
    n_named: i64,
    /// The text that is walked through, and so the process that `Myself` is.
    scope: Option<TextOwner>,
    /// Which bound variables are processes of the family, outermost first.
    bound: Vec<FamilyMembership>,
    complaints: Vec<Asymmetry>,
    uses: IndexUses,
    /// Variables whose elements do not start with one value, and where they are declared.
    pub uneven: BTreeMap<VarId, Span>,
}

impl<'m> AsymmetryWalk<'m> {
    pub fn new(model: &'m Model, family: FamilyId) -> Self {
        AsymmetryWalk {
            model,
            family,
            n_named: 0,
            scope: None,
            bound: Vec::new(),
            complaints: Vec::new(),
            uses: IndexUses::new(),
            uneven: BTreeMap::new(),
        }
    }

    /// The same walk, where the first processes of the family may be named.
    pub fn beside(self, n_named: usize) -> Self {
        AsymmetryWalk { n_named: n_named as i64, ..self }
    }

    /// Goes on in this text.
    pub fn enter(&mut self, scope: TextOwner) {
        self.scope = Some(scope);
    }

    /// Knows how another walk saw arrays indexed.
    pub fn indexed_by(&mut self, other: &AsymmetryWalk<'_>) {
        for (dimension, uses) in &other.uses {
            let by_process = uses.iter().filter(|(kind, _)| *kind == IndexKind::Process);
            self.uses.entry(*dimension).or_default().extend(by_process);
        }
    }

    /// The dimensions that are indexed by processes of the family.
    pub fn process_dimensions(&self) -> BTreeSet<(VarId, usize)> {
        let by_process = |uses: &[(IndexKind, Span)]| uses.iter().any(|(kind, _)| *kind == IndexKind::Process);
        self.uses.iter().filter(|(_, uses)| by_process(uses)).map(|(dimension, _)| *dimension).collect()
    }

    /// Complains about dimensions that are indexed by processes and are none of these.
    pub fn refuse_beside(&mut self, moved: &BTreeSet<(VarId, usize)>) {
        let is_fixed = |(dimension, _): &(&(VarId, usize), &Vec<(IndexKind, Span)>)| !moved.contains(dimension);
        let fixed: Vec<(VarId, Span)> = { self.uses.iter().filter(is_fixed) }
            .flat_map(|((var, _), uses)| uses.iter().map(move |&(kind, span)| (*var, kind, span)))
            .filter(|(_, kind, _)| *kind == IndexKind::Process)
            .map(|(var, _, span)| (var, span))
            .collect();
        for (var, span) in fixed {
            self.complain(AsymmetryKind::FixedElements(var), span);
        }
    }

    pub fn complain(&mut self, why: AsymmetryKind, span: Span) {
        let complaint = Asymmetry { why, span };
        if !self.complaints.contains(&complaint) {
            self.complaints.push(complaint);
        }
    }

    pub fn n_complaints(&self) -> usize {
        self.complaints.len()
    }

    /// The complaints, those about whole arrays added, in the order of the text.
    pub fn finish(mut self) -> Vec<Asymmetry> {
        for ((var, _), uses) in std::mem::take(&mut self.uses) {
            if !uses.iter().any(|(kind, _)| *kind == IndexKind::Process) {
                continue;
            }
            for (_, span) in uses.iter().filter(|(kind, _)| *kind == IndexKind::Number) {
                self.complain(AsymmetryKind::MixedIndex(var), *span);
            }
            if let Some(&span) = self.uneven.get(&var) {
                self.complain(AsymmetryKind::Initial(var), span);
            }
        }
        self.complaints.sort_by_key(|complaint| complaint.span);
        self.complaints
    }

    pub fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign(pairs) => {
                    for (target, value) in pairs {
                        self.access(target);
                        self.look(value);
                    }
                }
                StmtKind::AssignAny(target, range) => {
                    self.access(target);
                    let holds_process = self.type_is_member(target.var);
                    if let Some((lo, hi)) = range {
                        self.look(lo);
                        self.look(hi);
                        if holds_process {
                            self.complain(AsymmetryKind::FromNumber, lo.span);
                        }
                    }
                }
                StmtKind::Await(test) | StmtKind::Assert(test) => self.look(test),
                StmtKind::Acquire(target) | StmtKind::Release(target) => self.access(target),
                StmtKind::If(test, yes, no) => {
                    self.look(test);
                    self.body(yes);
                    self.body(no);
                }
                StmtKind::Either(blocks) => blocks.iter().for_each(|block| self.body(block)),
                StmtKind::For(binding, block) => {
                    self.ordered_domain(&binding.domain, stmt.span);
                    self.bind(binding);
                    self.body(block);
                }
            }
        }
    }

    /// A domain whose order matters.
    pub fn ordered_domain(&mut self, domain: &Domain, span: Span) {
        self.domain(domain);
        if self.is_over_family(domain) {
            self.complain(AsymmetryKind::Order, span);
        }
    }

    pub fn access(&mut self, access: &Access) {
        if let Whose::Of(who) = &access.whose {
            self.look(who);
        }
        for (dimension, index) in access.indices.iter().enumerate() {
            let kind = match &index.kind {
                ExprKind::IndexOf(process) if self.member(process) == FamilyMembership::Yes => {
                    self.look(process);
                    IndexKind::Process
                }
                ExprKind::Const(Value::Int(number)) if (0..self.n_named).contains(number) => IndexKind::Named,
                _ => {
                    self.look(index);
                    IndexKind::Number
                }
            };
            let spans = spans_family(self.model, self.family, access.var, dimension);
            if kind == IndexKind::Process && !spans {
                // Some processes would be outside, or there would be elements for none.
                self.complain(AsymmetryKind::Number, index.span);
            }
            self.uses.entry((access.var, dimension)).or_default().push((kind, index.span));
        }
    }

    pub fn look(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) if self.is_named(*id) => {}
            ExprKind::Const(_) if self.member(expr) == FamilyMembership::Yes => {
                self.complain(AsymmetryKind::Constant, expr.span)
            }
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, .. } => self.look(who),
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.look(inner),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| self.look(part)),
            ExprKind::Quantified(quantified) => {
                let outer = self.bound.clone();
                for binding in &quantified.bindings {
                    self.domain(&binding.domain);
                    self.bind(binding);
                }
                quantified.filter.iter().for_each(|filter| self.look(filter));
                self.look(&quantified.body);
                let over_family = quantified.bindings.iter().any(|binding| self.is_over_family(&binding.domain));
                if over_family && quantified.quantifier != Quantifier::Count && may_fail(self.model, expr) {
                    self.complain(AsymmetryKind::MayFail, expr.span);
                }
                self.bound = outer;
            }
            ExprKind::IndexOf(process) => {
                self.look(process);
                if self.member(process) == FamilyMembership::Yes {
                    self.complain(AsymmetryKind::Number, expr.span);
                }
            }
            ExprKind::ToProcess(family, inner) => {
                self.look(inner);
                let is_named =
                    matches!(inner.kind, ExprKind::Const(Value::Int(number)) if (0..self.n_named).contains(&number));
                if *family == self.family && self.member(inner) == FamilyMembership::No && !is_none(inner) && !is_named
                {
                    self.complain(AsymmetryKind::FromNumber, expr.span);
                }
            }
        }
    }

    /// Two indices of processes may be compared with each other, as the processes may.
    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        match (op, &left.kind, &right.kind) {
            (BinaryOp::Equal | BinaryOp::NotEqual, ExprKind::IndexOf(left), ExprKind::IndexOf(right))
                if self.member(left) == FamilyMembership::Yes && self.member(right) == FamilyMembership::Yes =>
            {
                self.look(left);
                self.look(right);
            }
            (_, ExprKind::IndexOf(process), ExprKind::Const(Value::Int(number)))
                if self.member(process) == FamilyMembership::Yes && self.tells_named_apart(op, *number) =>
            {
                self.look(process);
            }
            (_, ExprKind::Const(Value::Int(number)), ExprKind::IndexOf(process))
                if self.member(process) == FamilyMembership::Yes && self.tells_named_apart(op.mirrored(), *number) =>
            {
                self.look(process);
            }
            _ => {
                self.look(left);
                self.look(right);
            }
        }
    }

    /// Whether an index compared with a number distinguishes only processes that may be named: it is the same for all others.
    fn tells_named_apart(&self, op: BinaryOp, number: i64) -> bool {
        match op {
            _ if self.n_named == 0 => false,
            BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::LessEqual | BinaryOp::Greater => number < self.n_named,
            BinaryOp::Less | BinaryOp::GreaterEqual => number <= self.n_named,
            _ => false,
        }
    }

    fn is_named(&self, id: ProcessId) -> bool {
        let process = &self.model.processes[id];
        process.family == self.family && (0..self.n_named).contains(&process.index)
    }

    fn is_over_family(&self, domain: &Domain) -> bool {
        matches!(domain, Domain::Family(family) if *family == self.family)
    }

    fn domain(&mut self, domain: &Domain) {
        if let Domain::Range(lo, hi) = domain {
            self.look(lo);
            self.look(hi);
        }
    }

    fn bind(&mut self, binding: &Binding) {
        let is_member = self.is_over_family(&binding.domain);
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(if is_member { FamilyMembership::Yes } else { FamilyMembership::No });
    }

    /// Whether the expression may yield a process of the family; where that cannot be seen, it may.
    fn member(&self, expr: &Expr) -> FamilyMembership {
        let yes = match &expr.kind {
            ExprKind::Const(Value::Process(id)) => self.model.processes[*id].family == self.family,
            ExprKind::Myself => !matches!(self.scope, Some(TextOwner::Family(family)) if family != self.family),
            ExprKind::Bound(var) => {
                self.bound.get(var.0 as usize).is_none_or(|member| *member == FamilyMembership::Yes)
            }
            ExprKind::Read(access) => self.type_is_member(access.var),
            ExprKind::If(_, yes, no) => {
                self.member(yes) == FamilyMembership::Yes || self.member(no) == FamilyMembership::Yes
            }
            ExprKind::ToProcess(family, _) => *family == self.family,
            _ => false,
        };
        if yes { FamilyMembership::Yes } else { FamilyMembership::No }
    }

    fn type_is_member(&self, var: VarId) -> bool {
        match self.model.vars[var].ty.scalar() {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => family == self.family,
            ScalarType::Lock => true,
            _ => false,
        }
    }
}

fn is_none(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(Value::None))
}
