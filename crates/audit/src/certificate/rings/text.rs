//! What the written text does with the index of a process and with the size.
//!
//! In: a program as written, and what a certificate claims about types. Out: the size parameter, or a refusal. Processes of one type do the same,
//! relative to where they stand, if `i` and `N` occur only in elements and neighbours `i + c` and `(i + c) % N`, and in comparisons that the
//! distances from the ends and the residue decide which the types keep. In trees elements and neighbours are those of `i`, of `(i - 1) / 2`, `2 i + 1` and
//! `2 i + 2`; a comparison is looked at for every process of every size up to where types repeat.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use evidence::rings::{Network, ProcessType, RingsProof, tree};
use model::Model;
use model::control::{Action, ActionKind, Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Whose};
use model::instance::static_value;
use model::process::{FamilyId, ProcessId};
use model::size::{ParameterId, Size};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Init, Storage, VarId};
use model::visit::each_part;

use super::said::Said;
use super::sizes::{Sized, Sizes};
use crate::certificate::parameters::names_parameter;
use crate::certificate::{CertificateError, Outcome};

/// Numbers beyond this, also on the way to a form, are no distances: they come near the ends of 64 bits, where a sum has no value.
const GREATEST_NUMBER: i64 = 1 << 31;

/// The text of a ring.
pub(super) struct Text<'m> {
    /// The parameter that is the size.
    pub(super) size: ParameterId,
    written: &'m Model,
    family: FamilyId,
    proof: &'m RingsProof,
    /// The least size that is spoken of.
    from: i64,
    /// Indices that are chosen by tests, some of which may be named outright, with the distances that they may stand for.
    chosen: Vec<(Expr, RangeInclusive<i64>)>,
    /// Whether the text is a property's: there places of neighbours are asked for, and the owners of locks.
    is_property: bool,
}

/// A number as so many times `i`, so many times `N`, and a rest.
#[derive(Clone, Copy)]
struct Form {
    index: i64,
    size: i64,
    rest: i64,
}

fn refused<T>(what: impl Into<String>) -> Outcome<T> {
    Err(CertificateError::NotSymmetric(what.into()))
}

impl<'m> Text<'m> {
    pub(super) fn new(model: &'m Model, proof: &'m RingsProof, said: &Said) -> Outcome<Text<'m>> {
        let written = model.template();
        let mut families = written.families.entries();
        let (Some((family, declared)), None) = (families.next(), families.next()) else {
            return refused("there is more than one family");
        };
        let Size::Parameter(size) = declared.size else { return refused("the size of the family is no parameter") };
        let starts_at_0 = declared.index.as_ref().is_some_and(|index| index.first == 0);
        let unheard =
            written.actions.iter().any(|action| action.goes_on || action.when_nobody || action.sync.is_some());
        if written.forms.opaque.contains(&size) {
            return refused("a constant has the value that it has at one size");
        }
        if proof.family != family || !starts_at_0 || unheard || !written.forms.first_indices.is_empty() {
            return refused("its processes are not those of a ring");
        }
        if !written.procedures.is_empty() || !written.channels.is_empty() {
            return refused("there are procedures or channels");
        }
        let from = proof.from().max(model.parameters[size].least);
        let mut text = Text { size, written, family, proof, from, chosen: Vec::new(), is_property: false };
        for id in written.vars.ids() {
            text.variable(id)?;
        }
        for counted in &written.loops {
            text.domain(&counted.domain)?;
        }
        for action in &written.actions {
            text.action(action)?;
        }
        text.is_property = true;
        for (part, _) in said.at.iter().flat_map(|shown| &shown.parts) {
            text.plain(part)?;
        }
        Ok(text)
    }

    fn variable(&mut self, id: VarId) -> Outcome<()> {
        let var = &self.written.vars[id];
        let rows = (0..var.ty.dimensions().len()).filter(|&dimension| self.is_row(id, dimension)).count();
        let scalar = var.ty.scalar();
        if self.is_naming(id) {
            return Ok(());
        }
        if matches!(scalar, ScalarType::Pid(_) | ScalarType::PidOrNone(_)) {
            return refused(format!("`{}` holds processes", var.name));
        }
        let is_shared = var.storage == Storage::Shared;
        let is_tree = self.proof.network == Network::Tree;
        if rows > 1 || rows == 1 && !is_shared || rows == 0 && is_shared && (is_tree || scalar == ScalarType::Lock) {
            return refused(format!("`{}` has elements that are not those of single processes", var.name));
        }
        for dimension in 0..var.ty.dimensions().len() {
            let form = self.written.forms.lengths.get(&(id, dimension));
            if form.is_some_and(|form| self.mentions_size(form)) && !self.is_row(id, dimension) {
                return refused(format!("the length of `{}` depends on the size", var.name));
            }
        }
        if let Some(bounds) = self.written.forms.bounds.get(&id)
            && (self.mentions_size(&bounds.least) || self.mentions_size(&bounds.greatest))
        {
            return refused(format!("the values of `{}` depend on the size", var.name));
        }
        match &var.init {
            Init::First | Init::Any => Ok(()),
            Init::Fill(value) => self.plain(value),
            Init::Elements(_) => refused(format!("`{}` starts with a list", var.name)),
        }
    }

    /// Whether a variable is one cell for all that names a process of the ring, at first process 0.
    fn is_naming(&self, id: VarId) -> bool {
        let var = &self.written.vars[id];
        let holds = var.ty.dimensions().is_empty() && var.ty.scalar() == ScalarType::Pid(self.family);
        let begins = match &var.init {
            Init::First => true,
            Init::Fill(value) => self
                .placed(value)
                .is_some_and(|form| !self.is_itself(value) && (form.index, form.size, form.rest) == (0, 0, 0)),
            Init::Any | Init::Elements(_) => false,
        };
        holds && begins && var.storage == Storage::Shared && self.proof.network == Network::Line
    }

    /// A process near the one that runs the text, or of which the property speaks: by a distance that the proof claims (of a property it is asked besides whether
    /// the window shows it), and that the ends of the ring do not cut short unless types tell so.
    fn near(&self, who: &Expr) -> Outcome<()> {
        if self.is_itself(who) {
            return Ok(());
        }
        let not = || refused("a cell that names a process is compared with, or set to, one that is not near");
        let ExprKind::ToProcess(family, index) = &who.kind else { return not() };
        let (number, wraps) = match &index.kind {
            ExprKind::Binary(BinaryOp::Remainder, number, modulus) => {
                let modulus = self.form(modulus);
                if modulus.is_none_or(|form| (form.index, form.size, form.rest) != (0, 1, 0)) {
                    return not();
                }
                (number, true)
            }
            _ => (index, false),
        };
        let Some(Form { index: 1, size, rest }) = self.form(number) else { return not() };
        let is_told = match rest {
            _ if wraps => true,
            0 => true,
            1.. => self.proof.distances.right as i64 >= rest,
            _ => self.proof.distances.left as i64 >= -rest,
        };
        let is_near = self.reach().contains(&rest) && (wraps || size == 0);
        if *family == self.family && is_told && is_near { Ok(()) } else { not() }
    }

    fn mentions_size(&self, expr: &Expr) -> bool {
        names_parameter(expr, |parameter| parameter == self.size)
    }

    fn is_row(&self, var: VarId, dimension: usize) -> bool {
        let size = self.written.families[self.family].size.linear();
        size.is_some() && self.written.length_form(var, dimension) == size
    }

    fn action(&mut self, action: &Action) -> Outcome<()> {
        if matches!(action.kind, ActionKind::Call { .. }) {
            return refused("there are calls");
        }
        action.guard.iter().try_for_each(|guard| self.plain(guard))?;
        self.body(&action.body)
    }

    fn body(&mut self, body: &[Stmt]) -> Outcome<()> {
        body.iter().try_for_each(|statement| match &statement.kind {
            StmtKind::Assign(stores) => stores.iter().try_for_each(|(target, value)| {
                if self.is_naming(target.var) {
                    return self.near(value);
                }
                self.access(target)?;
                self.plain(value)
            }),
            StmtKind::AssignAny(target, range) => {
                self.access(target)?;
                range.iter().try_for_each(|(lo, hi)| {
                    self.plain(lo)?;
                    self.plain(hi)
                })
            }
            StmtKind::Await(test) | StmtKind::Assert(test) => self.plain(test),
            StmtKind::Acquire(target) | StmtKind::Release(target) => self.access(target),
            StmtKind::If(test, yes, no) => {
                self.plain(test)?;
                self.body(yes)?;
                self.body(no)
            }
            StmtKind::Either(blocks) => blocks.iter().try_for_each(|block| self.body(block)),
            StmtKind::For(binding, block) => {
                self.domain(&binding.domain)?;
                self.body(block)
            }
        })
    }

    fn domain(&mut self, domain: &Domain) -> Outcome<()> {
        match domain {
            Domain::Family(_) => refused("all processes are looked at"),
            Domain::Enum(_) => Ok(()),
            Domain::Range(lo, hi) => {
                self.plain(lo)?;
                self.plain(hi)
            }
        }
    }

    fn access(&mut self, access: &Access) -> Outcome<()> {
        if self.is_naming(access.var) {
            return refused("what a cell names is used for something else than a comparison");
        }
        match &access.whose {
            Whose::Shared | Whose::Mine => {}
            Whose::Of(who) => self.neighbour(who)?,
            Whose::Frame => return refused("there are frames"),
        }
        for (dimension, index) in access.indices.iter().enumerate() {
            match self.is_row(access.var, dimension) {
                true => self.index(index, false)?,
                false => self.plain(index)?,
            }
        }
        Ok(())
    }

    /// A process that is named: the one itself, or one at a distance.
    fn neighbour(&mut self, who: &Expr) -> Outcome<()> {
        match &who.kind {
            _ if self.is_itself(who) => Ok(()),
            ExprKind::ToProcess(_, index) => self.index(index, false),
            _ => refused("a process is named by something else than a distance"),
        }
    }

    /// `i`, or in a property the process that it speaks of.
    fn is_itself(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Myself => true,
            ExprKind::Bound(_) => self.is_property,
            ExprKind::ToProcess(_, inner) | ExprKind::IndexOf(inner) => self.is_itself(inner),
            _ => false,
        }
    }

    /// The distances that an index may stand for: those of the proof; from a process of a window, all that the window sees.
    fn reach(&self) -> RangeInclusive<i64> {
        let beside = if self.is_property { self.proof.width as i64 - 1 } else { 0 };
        self.proof.least - beside..=self.proof.greatest + beside
    }

    /// An index at a distance from `i`, or one of several, chosen by tests.
    fn index(&mut self, expr: &Expr, may_be_named: bool) -> Outcome<()> {
        if self.proof.network == Network::Tree {
            return self.relative(expr);
        }
        if let ExprKind::Binary(BinaryOp::Remainder, number, modulus) = &expr.kind {
            let modulus = self.form(modulus);
            let is_size = modulus.is_some_and(|form| (form.index, form.size, form.rest) == (0, 1, 0));
            return match self.form(number) {
                Some(form) if is_size && form.index == 1 && self.reach().contains(&form.rest) => Ok(()),
                _ => refused("an index is no distance"),
            };
        }
        if let ExprKind::If(test, yes, no) = &expr.kind {
            let ExprKind::Binary(op, left, right) = &test.kind else { return refused("an index is no distance") };
            if !self.test(*op, left, right)? {
                return refused("an index is no distance");
            }
            self.chosen.push((expr.clone(), self.reach()));
            self.index(yes, true)?;
            return self.index(no, true);
        }
        match self.form(expr) {
            Some(Form { index: 1, size: 0, rest: 0 }) => Ok(()),
            // Beyond an end there is nothing, which the distances from the ends must show.
            Some(Form { index: 1, size: 0, rest }) => {
                let is_told = if rest < 0 {
                    self.proof.distances.left as i64 >= -rest
                } else {
                    self.proof.distances.right as i64 >= rest
                };
                let is_near = self.reach().contains(&rest);
                if is_told && is_near { Ok(()) } else { refused("the ends do not show in the types") }
            }
            Some(form) if may_be_named && form.index == 0 && matches!(form.size, 0 | 1) => Ok(()),
            _ => refused("an index is no distance"),
        }
    }

    /// In a tree: an index of the process itself, of its parent or of a child, or one of these, chosen by tests.
    fn relative(&self, expr: &Expr) -> Outcome<()> {
        let is = |expr: &Expr, wanted: (i64, i64)| {
            self.form(expr).is_some_and(|form| form.size == 0 && (form.index, form.rest) == wanted)
        };
        match &expr.kind {
            ExprKind::If(test, yes, no) => {
                let ExprKind::Binary(op, left, right) = &test.kind else { return refused("an index is no relative") };
                if !self.test(*op, left, right)? {
                    return refused("an index is no relative");
                }
                self.relative(yes)?;
                self.relative(no)
            }
            ExprKind::Binary(BinaryOp::Divide, number, two) if is(number, (1, -1)) && is(two, (0, 2)) => Ok(()),
            _ if [(1, 0), (2, 1), (2, 2)].into_iter().any(|wanted| is(expr, wanted)) => Ok(()),
            _ => refused("an index is that of no parent and no child"),
        }
    }

    /// In a tree: whether a comparison of a sum with 0 comes out alike for all processes of one type.
    fn is_decided(&self, op: BinaryOp, difference: Form) -> bool {
        let is_plain = matches!((difference.index, difference.size), (1 | -1, 0) | (2, -1) | (-2, 1));
        if !is_plain || difference.rest.abs() > 8 {
            return false;
        }
        let mut outcomes: BTreeMap<(bool, i64, i64), bool> = BTreeMap::new();
        for size in 1..=tree::SIZES as i64 {
            for index in 0..size {
                let number = difference.index * index + difference.size * size + difference.rest;
                let outcome = match op {
                    BinaryOp::Equal => number == 0,
                    BinaryOp::NotEqual => number != 0,
                    BinaryOp::Less => number < 0,
                    BinaryOp::LessEqual => number <= 0,
                    BinaryOp::Greater => number > 0,
                    _ => number >= 0,
                };
                let children = (2 * index + 1..=2 * index + 2).filter(|&child| child < size).count();
                let of = (index == 0, index % 2, children as i64);
                if *outcomes.entry(of).or_insert(outcome) != outcome {
                    return false;
                }
            }
        }
        true
    }

    fn form(&self, expr: &Expr) -> Option<Form> {
        let sum = |one: Form, other: Form, times: i64| {
            Some(Form {
                index: one.index.checked_add(other.index.checked_mul(times)?)?,
                size: one.size.checked_add(other.size.checked_mul(times)?)?,
                rest: one.rest.checked_add(other.rest.checked_mul(times)?)?,
            })
        };
        let nothing = Form { index: 0, size: 0, rest: 0 };
        let number = |form: Form| (form.index == 0 && form.size == 0).then_some(form.rest);
        let found = match &expr.kind {
            ExprKind::Const(Value::Int(rest)) => Some(Form { rest: *rest, ..nothing }),
            ExprKind::Parameter(id) if *id == self.size => Some(Form { size: 1, ..nothing }),
            ExprKind::IndexOf(_) | ExprKind::Myself | ExprKind::Bound(_) if self.is_itself(expr) => {
                Some(Form { index: 1, ..nothing })
            }
            ExprKind::Negate(inner) => sum(nothing, self.form(inner)?, -1),
            ExprKind::Binary(BinaryOp::Add, one, other) => sum(self.form(one)?, self.form(other)?, 1),
            ExprKind::Binary(BinaryOp::Subtract, one, other) => sum(self.form(one)?, self.form(other)?, -1),
            ExprKind::Binary(BinaryOp::Multiply, one, other) => {
                let (one, other) = (self.form(one)?, self.form(other)?);
                match (number(one), number(other)) {
                    (Some(times), _) => sum(nothing, other, times),
                    (_, Some(times)) => sum(nothing, one, times),
                    (None, None) => None,
                }
            }
            _ => None,
        };
        let is_small = |number: i64| number.unsigned_abs() <= GREATEST_NUMBER.unsigned_abs();
        found.filter(|form| is_small(form.index) && is_small(form.size) && is_small(form.rest))
    }

    /// A process or a number, by its index.
    fn placed(&self, expr: &Expr) -> Option<Form> {
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) => Some(Form { index: 0, size: 0, rest: id.index() as i64 }),
            // A number that is no process at some size is a fault there, which no type shows.
            ExprKind::ToProcess(_, inner) => self.form(inner).filter(|form| match (form.index, form.size) {
                (1, 0) => form.rest == 0,
                (0, 0) => (0..self.from).contains(&form.rest),
                (0, 1) => (-self.from..0).contains(&form.rest),
                _ => false,
            }),
            _ => self.form(expr),
        }
    }

    /// Whether a comparison is a test of where a process stands; then the types must decide it.
    fn test(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Outcome<bool> {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Remainder};
        if !matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual) {
            return Ok(false);
        }
        for (one, other) in [(left, right), (right, left)] {
            let ExprKind::Binary(Remainder, number, modulus) = &one.kind else { continue };
            let (Some(number), Some(modulus), Some(other)) = (self.form(number), self.form(modulus), self.form(other))
            else {
                continue;
            };
            let is_plain = number.index == 1 && number.size == 0 && (modulus.index, modulus.size) == (0, 0);
            if is_plain && (other.index, other.size) == (0, 0) && modulus.rest > 0 && matches!(op, Equal | NotEqual) {
                if self.proof.network == Network::Tree && modulus.rest != 2 {
                    return refused("a residue does not show in the types");
                }
                return match self.proof.distances.modulus as i64 % modulus.rest {
                    0 => Ok(true),
                    _ => refused("a residue does not show in the types"),
                };
            }
        }
        let (Some(left), Some(right)) = (self.placed(left), self.placed(right)) else { return Ok(false) };
        if self.proof.network == Network::Tree {
            if (left.index, left.size) == (right.index, right.size) {
                return Ok(false);
            }
            let (index, size, rest) = (left.index - right.index, left.size - right.size, left.rest - right.rest);
            return match self.is_decided(op, Form { index, size, rest }) {
                true => Ok(true),
                false => refused("a test of where a process stands does not show in the types"),
            };
        }
        let sign = match left.index - right.index {
            1 => 1,
            -1 => -1,
            _ => return Ok(false),
        };
        // `i` is compared with this.
        let (size, rest) = (-sign * (left.size - right.size), -sign * (left.rest - right.rest));
        let is_told = match size {
            0 => (self.proof.distances.left as i64) > rest,
            1 => (self.proof.distances.right as i64) > -rest,
            _ => return Ok(false),
        };
        if is_told { Ok(true) } else { refused("a test of where a process stands does not show in the types") }
    }

    /// An expression in which `i` and `N` are no values.
    fn plain(&mut self, expr: &Expr) -> Outcome<()> {
        match &expr.kind {
            ExprKind::Const(Value::Process(_)) => refused("a process is a value"),
            ExprKind::Const(_) => Ok(()),
            ExprKind::Parameter(id) if *id == self.size => refused("the size is a value"),
            ExprKind::Parameter(_) => Ok(()),
            ExprKind::Myself => refused("the index of a process is a value"),
            ExprKind::Bound(_) if self.is_property => refused("the index of a process is a value"),
            ExprKind::Bound(_) => Ok(()),
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, .. } if self.is_property => self.neighbour(who),
            ExprKind::At { who, .. } if self.is_itself(who) => Ok(()),
            ExprKind::At { .. } => refused("a process asks where another one stands"),
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.plain(inner),
            ExprKind::IndexOf(_) | ExprKind::ToProcess(..) => refused("the index of a process is a value"),
            ExprKind::Binary(op, left, right) => {
                if self.test(*op, left, right)? {
                    return Ok(());
                }
                for (one, other) in [(left, right), (right, left)] {
                    if let ExprKind::Read(access) = &one.kind
                        && matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
                        && self.is_naming(access.var)
                    {
                        return self.near(other);
                    }
                    if self.is_property && matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) && self.is_itself(other) {
                        let is_lock = |access: &Access| self.written.vars[access.var].ty.scalar() == ScalarType::Lock;
                        if let ExprKind::Read(access) = &one.kind
                            && is_lock(access)
                        {
                            return self.access(access);
                        }
                    }
                }
                self.plain(left)?;
                self.plain(right)
            }
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().try_for_each(|part| self.plain(part)),
            ExprKind::Quantified(_) if self.is_property => refused("a property looks at all processes from one"),
            ExprKind::Quantified(quantified) => {
                quantified.bindings.iter().try_for_each(|binding| self.domain(&binding.domain))?;
                quantified.filter.iter().try_for_each(|filter| self.plain(filter))?;
                self.plain(&quantified.body)
            }
        }
    }

    /// An index that is named outright is one that only processes use which types tell apart from all others by an end; it is there at
    /// every size, and stands for one distance at all of them.
    pub(super) fn check_named(&self, sizes: &Sizes, proof: &RingsProof) -> Outcome<()> {
        for (expr, reach) in &self.chosen {
            let mut distances: BTreeMap<ProcessType, Vec<i64>> = BTreeMap::new();
            for sized in &sizes.all {
                for at in 0..sized.count {
                    let reached = reached(expr, sized, at)?;
                    if self.form(&reached).is_none_or(|form| form.index != 0) {
                        continue;
                    }
                    let is_told = at < proof.distances.left || sized.count - 1 - at < proof.distances.right;
                    let count = sized.count as i64;
                    let value = match static_value(&sized.model, &reached, Some(ProcessId::new(at))) {
                        Ok(Value::Int(value)) if is_told && (0..count).contains(&value) => value,
                        _ => return refused("an index is named by processes that are not told apart"),
                    };
                    let found =
                        distances.entry(sizes.type_at(sized.count, at)).or_insert_with(|| reach.clone().collect());
                    found.retain(|&distance| (at as i64 + distance).rem_euclid(count) == value);
                }
            }
            if distances.values().any(Vec::is_empty) {
                return refused("an index that is named outright is no distance");
            }
        }
        Ok(())
    }
}

/// What a choice by tests of where a process stands comes to for one process.
fn reached(expr: &Expr, sized: &Sized, at: usize) -> Outcome<Expr> {
    let mut reached = expr.clone();
    while let ExprKind::If(test, yes, no) = &reached.kind {
        let mut test = (**test).clone();
        name(&mut test, at);
        reached = match static_value(&sized.model, &test, Some(ProcessId::new(at))) {
            Ok(Value::Bool(true)) => (**yes).clone(),
            Ok(Value::Bool(false)) => (**no).clone(),
            _ => return refused("a test of where a process stands has no value"),
        };
    }
    Ok(reached)
}

/// The process that a property speaks of, by its index.
fn name(expr: &mut Expr, at: usize) {
    let mut mentions = false;
    each_part(expr, &mut |part| mentions |= matches!(part.kind, ExprKind::Bound(_)));
    if !mentions {
        return;
    }
    if matches!(expr.kind, ExprKind::Bound(_)) {
        expr.kind = ExprKind::Const(Value::Process(ProcessId::new(at)));
        return;
    }
    model::visit::each_child_mut(expr, &mut |part| name(part, at));
}
