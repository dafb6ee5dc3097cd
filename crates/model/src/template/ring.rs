//! The fragments of neighbours: rings and chains, in which a process touches only what is at fixed distances from it, and trees, in which it
//! touches what belongs to itself, to its parent and to its children.
//!
//! In: a template. Out: the distances, whether the last process and the first are neighbours (the seam), and the tests by which
//! processes differ; or what else the text does with an index, with the size or with process ids. The method is one walk in which
//! `i`, `N` and process ids are allowed in the forms of [`super::index`], or [`super::branch`], only.

use std::collections::BTreeSet;

use base::Span;

use super::branch;
use super::index::{self, IndexTest};
use super::{FragmentReason, Sized, bounded_by, sized_family};
use crate::Model;
use crate::control::{Action, ActionKind, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner};
use crate::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Whose};
use crate::process::FamilyId;
use crate::types::{ScalarType, Type};
use crate::value::Value;
use crate::variable::{Init, Storage, VarId};

/// A program of a ring or chain.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The family, and what its size is.
    pub sized: Sized,
    /// The distances at which a process touches elements and neighbours; 0 is its own.
    pub offsets: BTreeSet<i64>,
    /// Whether distances are taken modulo the size: the last process is a neighbour of the first.
    pub has_seam: bool,
    /// Whether some distance is not taken modulo the size: there is nothing beyond the ends.
    pub has_ends: bool,
    /// The tests by which processes differ: they make the types of processes.
    pub tests: BTreeSet<IndexTest>,
    /// Shared cells that name one process of the family, and are compared with, and set to, processes at fixed distances only.
    pub naming: BTreeSet<VarId>,
}

impl Neighbours {
    fn new(sized: Sized, offsets: BTreeSet<i64>) -> Neighbours {
        let (tests, naming) = (BTreeSet::new(), BTreeSet::new());
        Neighbours { sized, offsets, has_seam: false, has_ends: false, tests, naming }
    }
}

/// Whether each process touches only elements and neighbours at fixed distances from it.
///
/// # Errors
/// What else the text does with indices, the size or process ids.
pub fn neighbours(model: &Model) -> Result<Neighbours, Vec<FragmentReason>> {
    let sized = sized_family(model)?;
    let model = model.template();
    let found = Neighbours::new(sized, BTreeSet::from([0]));
    let reasons = bounded_by(model, sized.parameter);
    RingWalk { model, found, is_tree: false, is_inside: false, is_told: false, reasons }.all()
}

/// Whether each process touches only elements and neighbours of itself, of its parent and of its children in a binary tree, of which process 0 is the
/// root and `2 * i + 1` and `2 * i + 2` are the children of `i`.
///
/// # Errors
/// What else the text does with indices, the size or process ids.
pub fn tree(model: &Model) -> Result<Sized, Vec<FragmentReason>> {
    let sized = sized_family(model)?;
    let model = model.template();
    let found = Neighbours::new(sized, BTreeSet::new());
    let reasons = bounded_by(model, sized.parameter);
    RingWalk { model, found, is_tree: true, is_inside: false, is_told: false, reasons }.all().map(|found| found.sized)
}

/// Whether the text of some process names a parent or a child as trees do.
pub fn has_branches(model: &Model) -> bool {
    let mut found = false;
    let parameters: Vec<_> = model.template().families.iter().filter_map(|family| family.size.linear()).collect();
    let size = parameters.iter().find_map(|size| size.multiples.keys().next().copied());
    let Some(size) = size else { return false };
    crate::visit::each_text(model.template(), &mut |expr| found |= branch::is_of_tree(expr, size));
    found
}

/// As [`told_of_neighbours`], of a process of a tree.
///
/// # Errors
/// As there.
pub fn told_of_tree(model: &Model, sized: Sized, expr: &Expr) -> Result<(), Vec<FragmentReason>> {
    let found = Neighbours::new(sized, BTreeSet::new());
    let model = model.template();
    let mut walk = RingWalk { model, found, is_tree: true, is_inside: true, is_told: true, reasons: Vec::new() };
    walk.look(expr);
    if walk.reasons.is_empty() { Ok(()) } else { Err(walk.reasons) }
}

/// The tests and distances of an expression about one process, which is `i` there (`Myself`): what a property says about each.
///
/// # Errors
/// What else it does with indices, the size or process ids. That a lock is the process's may be asked.
pub fn told_of_neighbours(model: &Model, sized: Sized, expr: &Expr) -> Result<Neighbours, Vec<FragmentReason>> {
    let found = Neighbours::new(sized, BTreeSet::from([0]));
    let model = model.template();
    let mut walk = RingWalk { model, found, is_tree: false, is_inside: true, is_told: true, reasons: Vec::new() };
    walk.look(expr);
    match walk.reasons.is_empty() {
        true => Ok(walk.found),
        false => Err(walk.reasons),
    }
}

struct RingWalk<'m> {
    model: &'m Model,
    found: Neighbours,
    /// Whether neighbours are parents and children.
    is_tree: bool,
    /// Whether the text at hand is that of the family: only there `i` is an index of the ring.
    is_inside: bool,
    /// Whether the text is a property's: owners of locks may be compared with the process.
    is_told: bool,
    reasons: Vec<FragmentReason>,
}

impl RingWalk<'_> {
    /// All of the program.
    fn all(mut self) -> Result<Neighbours, Vec<FragmentReason>> {
        let (model, family) = (self.model, self.found.sized.family);
        self.variables();
        for counted in &model.loops {
            self.is_inside = counted.scope == TextOwner::Family(family);
            self.domain(&counted.domain, counted.span);
        }
        model.actions.iter().for_each(|action| self.action(action));
        self.reasons.dedup();
        match self.reasons.is_empty() {
            true => Ok(self.found),
            false => Err(self.reasons),
        }
    }

    fn refuse(&mut self, span: Span, text: impl Into<String>) {
        self.reasons.push(FragmentReason::new(span, text));
    }

    fn variables(&mut self) {
        for (id, var) in self.model.vars.entries() {
            self.is_inside = is_of(var.storage, self.found.sized.family);
            let holds = match var.ty.scalar() {
                _ if self.names_process(id) => {
                    self.found.naming.insert(id);
                    continue;
                }
                ScalarType::Pid(_) | ScalarType::PidOrNone(_) => "holds process ids",
                _ => {
                    self.init(&var.init);
                    continue;
                }
            };
            self.refuse(var.span, format!("`{}` {holds}", var.name));
        }
    }

    /// Whether a variable is one shared cell that names a process of the family, the first one to begin with.
    fn names_process(&self, id: VarId) -> bool {
        let (var, family) = (&self.model.vars[id], self.found.sized.family);
        let is_cell = matches!(var.ty, Type::Scalar(ScalarType::Pid(of)) if of == family);
        let starts_first = match &var.init {
            Init::First => true,
            Init::Fill(value) => match &value.kind {
                ExprKind::Const(Value::Process(id)) => *id == self.model.families[family].first,
                ExprKind::ToProcess(_, index) => matches!(index.kind, ExprKind::Const(Value::Int(0))),
                _ => false,
            },
            Init::Any | Init::Elements(_) => false,
        };
        is_cell && starts_first && var.storage == Storage::Shared && !self.is_tree
    }

    /// The process at a fixed distance that is compared with what a cell names, or that the cell is set to.
    fn named(&mut self, who: &Expr) {
        let sized = self.found.sized;
        let offset = match &who.kind {
            _ if !self.is_inside => None,
            _ if self.is_myself(who) => return,
            ExprKind::ToProcess(family, index) if *family == sized.family => index::offset(index, sized.parameter),
            _ => None,
        };
        match offset {
            Some(offset) => self.note(index::Indexed { offsets: vec![offset], tests: Vec::new() }),
            None => self.refuse(who.span, "a process is named by something else than `i` and a fixed distance"),
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::First | Init::Any => {}
            Init::Fill(value) => self.look(value),
            Init::Elements(elements) => elements.iter().for_each(|element| self.init(element)),
        }
    }

    fn action(&mut self, action: &Action) {
        self.is_inside = action.scope == TextOwner::Family(self.found.sized.family);
        action.guard.iter().for_each(|guard| self.look(guard));
        match action.sync.as_ref().map(|sync| &sync.side) {
            None => {}
            Some(SyncSide::Send(values)) => values.iter().for_each(|value| self.look(value)),
            Some(SyncSide::Receive(patterns)) => patterns.iter().for_each(|pattern| match pattern {
                ReceivePattern::Into(target) => self.access(target),
                ReceivePattern::Equal(value) => self.look(value),
                ReceivePattern::Ignored => {}
            }),
        }
        self.body(&action.body);
        // Programs with procedures are refused before.
        if let ActionKind::Call { arguments, .. } = &action.kind {
            arguments.iter().for_each(|argument| self.look(argument));
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for statement in body {
            match &statement.kind {
                StmtKind::Assign(stores) => {
                    for (target, value) in stores {
                        if self.names_process(target.var) {
                            self.named(value);
                            continue;
                        }
                        self.access(target);
                        self.look(value);
                    }
                }
                StmtKind::AssignAny(target, range) => {
                    self.access(target);
                    if let Some((lo, hi)) = range {
                        self.look(lo);
                        self.look(hi);
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
                    self.domain(&binding.domain, statement.span);
                    self.body(block);
                }
            }
        }
    }

    fn domain(&mut self, domain: &Domain, span: Span) {
        match domain {
            Domain::Family(family) if *family == self.found.sized.family => {
                let name = &self.model.families[*family].name;
                self.refuse(span, format!("all processes of `{name}` are looked at, not only neighbours"));
            }
            Domain::Family(_) | Domain::Enum(_) => {}
            Domain::Range(lo, hi) => {
                self.look(lo);
                self.look(hi);
            }
        }
    }

    fn access(&mut self, access: &Access) {
        if self.names_process(access.var) {
            let var = &self.model.vars[access.var];
            let text = format!("the process that `{}` names is used for something else than a comparison", var.name);
            self.refuse(var.span, text);
        }
        if let Whose::Of(who) = &access.whose {
            self.neighbour(who);
        }
        for (dimension, index) in access.indices.iter().enumerate() {
            self.index(access.var, dimension, index);
        }
    }

    /// The index of an array: at a fixed distance where the array has an element for each process, and free of `i` elsewhere.
    fn index(&mut self, var: VarId, dimension: usize, index: &Expr) {
        let size = self.model.families[self.found.sized.family].size.linear();
        let is_rows = size.is_some() && self.model.length_form(var, dimension) == size;
        match self.indexed(index).filter(|_| is_rows) {
            Some(indexed) => self.note(indexed),
            None if is_rows => {
                let (name, near) = (&self.model.vars[var].name, self.near());
                self.refuse(index.span, format!("`{name}` is indexed by something else than {near}"));
            }
            None => self.look(index),
        }
    }

    /// The neighbours that an index may name.
    fn indexed(&self, index: &Expr) -> Option<index::Indexed> {
        let sized = self.found.sized;
        match (self.is_inside, self.is_tree) {
            (false, _) => None,
            (true, false) => index::indexed(self.model, sized, index),
            (true, true) => branch::is_near(self.model, sized, index).then(index::Indexed::default),
        }
    }

    /// What an index may be, in words.
    fn near(&self) -> &'static str {
        if self.is_tree { "`i`, its parent and its children" } else { "`i` and a fixed distance" }
    }

    /// A process whose variables are read: at a fixed distance, or a process of another family.
    fn neighbour(&mut self, who: &Expr) {
        let sized = self.found.sized;
        match &who.kind {
            ExprKind::Myself => {}
            ExprKind::ToProcess(family, inner) if *family == sized.family => match self.indexed(inner) {
                Some(indexed) => self.note(indexed),
                None => self.refuse(who.span, format!("a process is named by something else than {}", self.near())),
            },
            ExprKind::Const(Value::Process(id)) if self.model.processes[*id].family != sized.family => {}
            _ => self.refuse(who.span, format!("a process is named by something else than {}", self.near())),
        }
    }

    /// Whether a comparison is a test of where the process is; it is noted.
    fn tests(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let sized = self.found.sized;
        if !self.is_inside {
            return false;
        }
        if self.is_tree {
            return branch::is_test(self.model, sized, op, left, right);
        }
        let test = index::test(self.model, sized, op, left, right);
        self.found.tests.extend(test);
        test.is_some()
    }

    /// `m.owner == i`.
    fn asks_for_owner(&self, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let is_lock =
            matches!(&left.kind, ExprKind::Read(access) if self.model.vars[access.var].ty.scalar() == ScalarType::Lock);
        is_lock && matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) && self.is_myself(right)
    }

    fn is_myself(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Myself => true,
            ExprKind::ToProcess(family, inner) => *family == self.found.sized.family && self.is_myself(inner),
            ExprKind::IndexOf(inner) => self.is_myself(inner),
            _ => false,
        }
    }

    fn note(&mut self, indexed: index::Indexed) {
        for offset in indexed.offsets {
            self.found.offsets.insert(offset.distance);
            self.found.has_seam |= offset.wraps;
            self.found.has_ends |= !offset.wraps && offset.distance != 0;
        }
        self.found.tests.extend(indexed.tests);
    }

    fn look(&mut self, expr: &Expr) {
        let sized = self.found.sized;
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) if self.model.processes[*id].family == sized.family => {
                let name = self.model.processes[*id].name.clone();
                self.refuse(expr.span, format!("`{name}` is a value here"));
            }
            ExprKind::Const(_) | ExprKind::Bound(_) => {}
            ExprKind::Parameter(id) if *id == sized.parameter => {
                let name = self.model.parameters[*id].name.clone();
                self.refuse(expr.span, format!("`{name}` is used as a number"));
            }
            ExprKind::Parameter(_) => {}
            ExprKind::Myself if !self.is_inside => {}
            ExprKind::Myself => self.refuse(expr.span, "the index of a process is a value here"),
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, .. } => self.neighbour(who),
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.look(inner),
            ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => {
                if !self.is_myself(inner) && self.is_inside {
                    self.refuse(expr.span, "a process and a number are taken for each other here");
                }
                self.look(inner);
            }
            ExprKind::Binary(op, left, right) => {
                if self.tests(*op, left, right) {
                    return;
                }
                for (one, other) in [(left, right), (right, left)] {
                    if let ExprKind::Read(access) = &one.kind
                        && self.names_process(access.var)
                        && matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
                    {
                        return self.named(other);
                    }
                }
                let is_owner = |one: &Expr, other: &Expr| self.is_told && self.asks_for_owner(*op, one, other);
                let (of_left, of_right) = (is_owner(left, right), is_owner(right, left));
                if !of_right {
                    self.look(left);
                }
                if !of_left {
                    self.look(right);
                }
            }
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| self.look(part)),
            ExprKind::Quantified(quantified) => {
                for binding in &quantified.bindings {
                    self.domain(&binding.domain, expr.span);
                }
                quantified.filter.iter().for_each(|filter| self.look(filter));
                self.look(&quantified.body);
            }
        }
    }
}

fn is_of(storage: Storage, family: FamilyId) -> bool {
    matches!(storage, Storage::Public(of) | Storage::Local(of) if of == family)
}
