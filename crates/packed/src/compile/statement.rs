//! Bodies of steps to instructions.

use model::control::{Stmt, StmtKind};
use model::expr::{Access, Binding, Expr, ExprKind};
use model::types::ScalarType;
use model::visit;

use super::expression::AccessLocation;
use super::{Bound, CompileContext, Compiler, NumberCode};
use crate::code::{BitCopy, CompiledChoice, FieldAdd, Fork, Instruction, StoreTarget, WordWrite};
use crate::packing::{Field, NumberRange};
use crate::term::{ArithmeticOp, TermId};

/// One store of an assignment of several.
struct PendingStore<'a> {
    access: &'a Access,
    target: StoreTarget,
    /// What is stored: a register, where something that is stored before would change it.
    value: TermId,
    /// Bounds of the value.
    range: (i64, i64),
}

impl Compiler<'_, '_> {
    /// The statements in sequence.
    pub(super) fn body(&mut self, body: &[Stmt], context: &mut CompileContext) {
        for stmt in body {
            self.statement(stmt, context);
        }
    }

    /// Stores a number, checked, at a location.
    pub(super) fn store(
        &mut self,
        location: AccessLocation,
        value: TermId,
        ty: ScalarType,
        context: &mut CompileContext,
    ) {
        let numbers = self.numbers_of(ty);
        let Some(target) = self.target(location, context) else { return self.emit(Instruction::Fail) };
        self.store_in(target, (value, self.terms.range(value)), numbers);
    }

    /// Stores a number between two bounds, checked, where a target says.
    fn store_in(&mut self, target: StoreTarget, (value, (lo, hi)): (TermId, (i64, i64)), numbers: NumberRange) {
        if let (StoreTarget::Field(field), Some(number)) = (target, self.terms.as_constant(value)) {
            return match numbers.contains(number) {
                true => self.emit_write(WordWrite::new(field, number)),
                false => self.emit(Instruction::Fail),
            };
        }
        let surely_fits =
            numbers.lo <= lo && hi <= numbers.hi && (lo >= numbers.after_gap || numbers.after_gap <= numbers.lo + 1);
        if let StoreTarget::Field(field) = target {
            let from = self.terms.as_field(value).filter(|_| surely_fits);
            if let Some(copy) = from.and_then(|from| BitCopy::new(field, from)) {
                return self.emit_copy(copy);
            }
            let add = self.terms.added_to(value, field);
            if let Some(change) = add.and_then(|add| FieldAdd::new(field, add, numbers)) {
                return self.emit(Instruction::Add(change));
            }
        }
        let index = self.numbers_index(numbers);
        self.emit(if surely_fits { Instruction::Put(target, value) } else { Instruction::Store(target, value, index) });
    }

    pub(super) fn numbers_of(&self, ty: ScalarType) -> NumberRange {
        NumberRange::of(ty, self.model.type_context())
    }

    pub(super) fn field_at(&self, location: u32) -> Field {
        self.codec.layout.locations[location as usize].0
    }

    /// Emits what chooses a number of a type, or of a range of it.
    pub(super) fn choose(
        &mut self,
        target: StoreTarget,
        ty: ScalarType,
        bounds: Option<(TermId, TermId)>,
        context: &CompileContext,
    ) {
        let offset = match ty {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => {
                let family = &self.model.families[family];
                family.first.index() as i64 + 1 - family.index.as_ref().map_or(0, |index| index.first)
            }
            _ => 0,
        };
        let numbers = self.numbers_of(ty);
        self.choices.push(CompiledChoice { target, numbers, bounds, offset, n_live: context.next_register });
        self.emit(Instruction::Any(self.choices.len() as u32 - 1));
        self.label();
    }

    fn statement(&mut self, stmt: &Stmt, context: &mut CompileContext) {
        let next_register = context.next_register;
        match &stmt.kind {
            StmtKind::Assign(pairs) => match pairs.as_slice() {
                [(access, value)] => {
                    let location = self.locate(access, context);
                    let value = self.expression(value, context);
                    self.store(location, value, self.type_of(access), context);
                }
                _ => self.assign_together(pairs, context),
            },
            StmtKind::AssignAny(access, range) => self.assign_any(access, range.as_ref(), context),
            StmtKind::Await(test) => {
                let test = self.condition(test, context);
                self.require(test);
            }
            StmtKind::Assert(test) => {
                let test = self.condition(test, context);
                self.check(test);
            }
            StmtKind::Acquire(access) => self.acquire(access, context),
            StmtKind::Release(access) => self.release(access, context),
            StmtKind::If(test, yes, no) => self.branch(test, yes, no, context),
            StmtKind::Either(blocks) => self.fork(blocks, context),
            StmtKind::For(binding, block) => self.repeat(binding, block, context),
        }
        context.next_register = next_register;
    }

    /// The term of a condition, made fast.
    pub(super) fn condition(&mut self, test: &Expr, context: &mut CompileContext) -> TermId {
        let term = self.expression(test, context);
        self.terms.optimise(term)
    }

    fn require(&mut self, test: TermId) {
        if self.terms.as_constant(test) != Some(1) {
            self.emit(Instruction::Require(test));
        }
    }

    fn check(&mut self, test: TermId) {
        match self.terms.as_constant(test) {
            Some(1) => {}
            Some(_) => self.emit(Instruction::Fail),
            None => self.emit(Instruction::Check(test)),
        }
    }

    fn type_of(&self, access: &Access) -> ScalarType {
        self.model.vars[access.var].ty.scalar()
    }

    /// A target that is evaluated now and used later; `None` where it is a fault.
    fn target(&mut self, location: AccessLocation, context: &mut CompileContext) -> Option<StoreTarget> {
        match location {
            AccessLocation::Fixed(location) => Some(StoreTarget::Field(self.field_at(location))),
            AccessLocation::Computed(locator) => {
                let register = self.take_register(context);
                self.emit(Instruction::Locate(register, locator));
                Some(StoreTarget::Located(register))
            }
            AccessLocation::Fault => None,
        }
    }

    /// All locations and values first, then the stores. A value that no earlier store changes is computed when it is stored.
    fn assign_together(&mut self, pairs: &[(Access, Expr)], context: &mut CompileContext) {
        let mut stores: Vec<PendingStore<'_>> = Vec::with_capacity(pairs.len());
        for (access, value) in pairs {
            let location = self.locate(access, context);
            let Some(target) = self.target(location, context) else { return self.emit(Instruction::Fail) };
            let term = self.expression(value, context);
            let range = self.terms.range(term);
            let waits = stores.iter().all(|earlier| self.is_kept(earlier, (value, term)));
            let value = match waits && self.terms.reads_one_field_at_most(term) {
                true => term,
                false => {
                    let register = self.take_register(context);
                    self.emit(Instruction::Let(register, term));
                    self.terms.register(register)
                }
            };
            stores.push(PendingStore { access, target, value, range });
        }
        for PendingStore { access, target, value, range } in stores {
            self.store_in(target, (value, range), self.numbers_of(self.type_of(access)));
        }
    }

    /// Whether a store leaves the value of an expression as it is.
    fn is_kept(&self, store: &PendingStore<'_>, (value, term): (&Expr, TermId)) -> bool {
        match store.target {
            StoreTarget::Field(field) => self.terms.is_apart_from(term, field),
            StoreTarget::Located(_) => {
                let mut is_kept = true;
                visit::each_part(value, &mut |part| {
                    is_kept &= !matches!(&part.kind, ExprKind::Read(read) if read.var == store.access.var);
                });
                is_kept
            }
        }
    }

    fn assign_any(&mut self, access: &Access, range: Option<&(Expr, Expr)>, context: &mut CompileContext) {
        let location = self.locate(access, context);
        let Some(target) = self.target(location, context) else { return self.emit(Instruction::Fail) };
        let bounds = range.map(|(lo, hi)| (self.index_number(lo, context), self.index_number(hi, context)));
        self.choose(target, self.type_of(access), bounds, context);
    }

    /// A number, or the index of a process.
    fn index_number(&mut self, expr: &Expr, context: &mut CompileContext) -> TermId {
        let kind = self.kind(expr, context);
        let term = self.expression(expr, context);
        if kind == NumberCode::Process { self.terms.index_of(term) } else { term }
    }

    fn content(&mut self, target: StoreTarget) -> TermId {
        match target {
            StoreTarget::Field(field) => self.terms.read(field),
            StoreTarget::Located(register) => self.terms.read_located(register),
        }
    }

    fn acquire(&mut self, access: &Access, context: &mut CompileContext) {
        let location = self.locate(access, context);
        let Some(target) = self.target(location, context) else { return self.emit(Instruction::Fail) };
        let content = self.content(target);
        let zero = self.terms.constant(0);
        match self.type_of(access) {
            ScalarType::Lock => {
                let is_free = self.terms.arithmetic(ArithmeticOp::Equal, content, zero);
                self.require(is_free);
                let me = self.terms.constant(context.myself().index() as i64 + 1);
                self.put(target, me);
            }
            ScalarType::Semaphore { max } => {
                let is_open = self.terms.arithmetic(ArithmeticOp::Less, zero, content);
                self.require(is_open);
                let one = self.terms.constant(1);
                let less = if max == 1 { zero } else { self.terms.arithmetic(ArithmeticOp::Subtract, content, one) };
                self.put(target, less);
            }
            _ => self.emit(Instruction::Require(zero)),
        }
    }

    fn release(&mut self, access: &Access, context: &mut CompileContext) {
        let location = self.locate(access, context);
        let Some(target) = self.target(location, context) else { return self.emit(Instruction::Fail) };
        let content = self.content(target);
        match self.type_of(access) {
            ScalarType::Semaphore { max } => {
                let bound = self.terms.constant(max);
                let one = self.terms.constant(1);
                let has_room = self.terms.arithmetic(ArithmeticOp::Less, content, bound);
                self.check(has_room);
                let more = if max == 1 { one } else { self.terms.arithmetic(ArithmeticOp::Add, content, one) };
                self.put(target, more);
            }
            _ => {
                let me = self.terms.constant(context.myself().index() as i64 + 1);
                let is_mine = self.terms.arithmetic(ArithmeticOp::Equal, content, me);
                self.check(is_mine);
                let zero = self.terms.constant(0);
                self.put(target, zero);
            }
        }
    }

    /// Stores a number that was seen to fit.
    pub(super) fn put(&mut self, target: StoreTarget, value: TermId) {
        match (target, self.terms.as_constant(value)) {
            (StoreTarget::Field(field), Some(number)) => self.emit_write(WordWrite::new(field, number)),
            _ => self.emit(Instruction::Put(target, value)),
        }
    }

    fn branch(&mut self, test: &Expr, yes: &[Stmt], no: &[Stmt], context: &mut CompileContext) {
        let test = self.condition(test, context);
        match self.terms.as_constant(test) {
            Some(0) => return self.body(no, context),
            Some(_) => return self.body(yes, context),
            None => {}
        }
        let unless = self.instructions.len();
        self.emit(Instruction::Unless(test, 0));
        self.label();
        self.body(yes, context);
        let jump = self.instructions.len();
        self.emit(Instruction::Jump(0));
        let otherwise = self.label();
        self.instructions[unless] = Instruction::Unless(test, otherwise);
        self.body(no, context);
        let end = self.label();
        self.instructions[jump] = Instruction::Jump(end);
    }

    fn fork(&mut self, blocks: &[Vec<Stmt>], context: &mut CompileContext) {
        let index = self.forks.len();
        self.forks.push(Fork { targets: Vec::new(), n_live: context.next_register });
        self.emit(Instruction::Fork(index as u32));
        let mut targets = Vec::new();
        let mut jumps = Vec::new();
        for block in blocks {
            targets.push(self.label());
            self.body(block, context);
            jumps.push(self.instructions.len());
            self.emit(Instruction::Jump(0));
        }
        let end = self.label();
        for jump in jumps {
            self.instructions[jump] = Instruction::Jump(end);
        }
        self.forks[index].targets = targets;
    }

    /// A `for` inside a step: written out where its values are constant and not too many.
    fn repeat(&mut self, binding: &Binding, block: &[Stmt], context: &mut CompileContext) {
        let (first, last, kind) = self.domain_ends(&binding.domain, context);
        if self.terms.is_fault(first) || self.terms.is_fault(last) {
            return self.emit(Instruction::Fail);
        }
        let depth = context.bound.len();
        context.bound.truncate(binding.var.0 as usize);
        match (self.terms.as_constant(first), self.terms.as_constant(last)) {
            (Some(first), Some(last)) if self.may_unroll(n_between(first, last)) => {
                self.n_unrolled += n_between(first, last);
                for number in first..=last {
                    let term = self.terms.constant(number);
                    context.bound.push(Bound { term, kind });
                    self.body(block, context);
                    context.bound.pop();
                }
            }
            _ => self.count_through((first, last, kind), block, context),
        }
        context.bound.truncate(depth);
    }

    fn count_through(
        &mut self,
        (first, last, kind): (TermId, TermId, NumberCode),
        block: &[Stmt],
        context: &mut CompileContext,
    ) {
        let register = self.take_register(context);
        self.take_register(context);
        let term = self.terms.register(register);
        context.bound.push(Bound { term, kind });
        let enter = self.instructions.len();
        self.emit(Instruction::Enter(register, first, last, 0));
        let start = self.label();
        self.body(block, context);
        self.emit(Instruction::Again(register, start));
        let exit = self.label();
        self.instructions[enter] = Instruction::Enter(register, first, last, exit);
    }
}

/// How many numbers there are from the first to the last; at most as many as memory can hold.
pub(super) fn n_between(first: i64, last: i64) -> usize {
    usize::try_from((i128::from(last) - i128::from(first) + 1).max(0)).unwrap_or(usize::MAX)
}
