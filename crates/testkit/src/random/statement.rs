//! Random statements and texts.

use model::control::{ProcedureId, Stmt, StmtKind, TextOwner};
use model::expr::{Access, BinaryOp, Domain};
use model::process::FamilyId;
use model::types::ScalarType;
use model::variable::Role;

use super::{Holder, RandomMaker, Readable, Surroundings};
use crate::expr::*;
use crate::text::*;

impl RandomMaker<'_> {
    /// The text of a family: often a loop, sometimes one that ends.
    pub(super) fn family_text(&mut self, family: FamilyId) -> Vec<TextStatement> {
        let around = Surroundings::new(TextOwner::Family(family));
        let n_statements = 1 + self.choices.below(self.shape.n_statements);
        let mut texts = self.texts(&around, n_statements, Inside { depth: 2, breakable: false });
        // What needs two to come about, or is declared, is used on purpose, not by luck.
        if !self.callable.is_empty() && self.choices.chance(60) {
            texts.insert(0, self.a_call(&around));
        }
        if !self.channels.is_empty() && self.choices.chance(80) {
            texts.insert(0, self.both_sides(&around));
        }
        match self.choices.below(3) {
            0 => texts,
            _ => vec![TextStatement::Loop(begun(texts))],
        }
    }

    /// The text of a procedure, which calls itself with a smaller number, if at all.
    pub(super) fn procedure_text(&mut self, procedure: ProcedureId) -> Vec<TextStatement> {
        let around = Surroundings::new(TextOwner::Procedure(procedure));
        let callable = std::mem::take(&mut self.callable);
        let n_statements = 1 + self.choices.below(2);
        let mut texts = self.texts(&around, n_statements, Inside { depth: 1, breakable: false });
        self.callable = callable;
        let declared = &self.draft.model.procedures[procedure];
        let (depth, result) = (declared.vars[0], declared.result);
        if self.choices.chance(50) {
            let less = binary(BinaryOp::Subtract, read(frame(depth)), int(1));
            let test = binary(BinaryOp::Greater, read(frame(depth)), int(0));
            let deeper = call(procedure, vec![less], None);
            texts.push(TextStatement::If(None, test, vec![deeper], vec![]));
        }
        match result {
            Some(ty) if !(self.shape.faults && self.choices.chance(10)) => {
                let value = self.value(ty, &around);
                texts.push(give(Some(value)));
            }
            None if self.choices.chance(30) => texts.push(give(None)),
            _ => {}
        }
        texts
    }

    fn texts(&mut self, around: &Surroundings, n_statements: usize, inside: Inside) -> Vec<TextStatement> {
        (0..n_statements).flat_map(|_| self.text(around, inside)).collect()
    }

    /// One statement, or two that belong together.
    fn text(&mut self, around: &Surroundings, inside: Inside) -> Vec<TextStatement> {
        let deeper = Inside { depth: inside.depth.saturating_sub(1), ..inside };
        match self.choices.below(16) {
            0..=4 => vec![self.step(around)],
            5 => vec![self.maybe_labelled(idle(), around)],
            6 | 7 => self.critical_section(around),
            8 if !self.channels.is_empty() => vec![self.meeting(around)],
            9 if !self.callable.is_empty() => vec![self.a_call(around)],
            10 if inside.depth > 0 => {
                let test = self.truth(around, 1);
                let (yes, no) = (self.block(around, deeper), self.block(around, deeper));
                vec![TextStatement::If(None, test, yes, no)]
            }
            11 if inside.depth > 0 => {
                let test = self.truth(around, 1);
                vec![TextStatement::While(None, test, self.block(around, Inside { breakable: true, ..deeper }))]
            }
            12 | 13 if inside.depth > 0 => {
                let n_branches = 2 + self.choices.below(2);
                let branches = (0..n_branches).map(|_| begun(self.block(around, deeper))).collect();
                vec![TextStatement::Either(branches)]
            }
            14 if inside.depth > 0 => vec![self.counted_loop(around, deeper)],
            15 if inside.breakable => {
                vec![if self.choices.chance(50) { TextStatement::Break } else { TextStatement::Continue }]
            }
            _ => vec![self.step(around)],
        }
    }

    fn block(&mut self, around: &Surroundings, inside: Inside) -> Vec<TextStatement> {
        let n_statements = self.choices.below(3);
        self.texts(around, n_statements, inside)
    }

    fn counted_loop(&mut self, around: &Surroundings, inside: Inside) -> TextStatement {
        let name = format!("k{}", self.draft.model.loops.len());
        let (domain, ty) = match self.domain() {
            (domain, Some(family)) => (domain, ScalarType::Pid(family)),
            (_, None) => {
                let last = self.choices.between(-1, 2);
                let first = self.choices.between(self.first_of_range(last), 1);
                // Some loops start at the process's own index.
                let first = match around.scope {
                    TextOwner::Family(family) if self.fits_index(family, 2) && self.choices.chance(40) => {
                        index_of(me())
                    }
                    _ => int(first),
                };
                (Domain::Range(Box::new(first), Box::new(int(last))), ScalarType::Range { lo: 0, hi: 2 })
            }
        };
        let (id, counter) = self.draft.counter(around.scope, &name, domain, ty);
        let mut around = around.clone();
        around.counters.push(counter);
        let body = self.texts(&around, 1, Inside { breakable: true, ..inside });
        TextStatement::For(id, body)
    }

    /// `acquire` and `release` around a statement.
    fn critical_section(&mut self, around: &Surroundings) -> Vec<TextStatement> {
        let Some(lock) = self.lock(around) else { return vec![self.step(around)] };
        let middle = self.step(around);
        let acquire = atomic(vec![stmt(StmtKind::Acquire(lock.clone()))]);
        let release = atomic(vec![stmt(StmtKind::Release(lock))]);
        vec![self.maybe_labelled(acquire, around), middle, release]
    }

    fn lock(&mut self, around: &Surroundings) -> Option<Access> {
        let is_lock = |ty: ScalarType| matches!(ty, ScalarType::Semaphore { .. } | ScalarType::Lock);
        let locks: Vec<Readable> =
            self.readables(around).into_iter().filter(|readable| is_lock(readable.ty.scalar())).collect();
        if locks.is_empty() {
            return None;
        }
        let lock = self.choices.pick(&locks).clone();
        Some(self.access(&lock, around).0)
    }

    /// Sends or receives, whichever finds a partner.
    fn both_sides(&mut self, around: &Surroundings) -> TextStatement {
        TextStatement::Either(vec![vec![self.meeting(around)], vec![self.meeting(around)]])
    }

    fn meeting(&mut self, around: &Surroundings) -> TextStatement {
        let (channel, ty) = *self.choices.pick(&self.channels);
        let body = if self.choices.chance(40) { vec![self.stmt(around, 0)] } else { vec![] };
        let guard = self.choices.chance(30).then(|| self.truth(around, 1));
        let target = self.target(around, |candidate| matches!(candidate, ScalarType::Range { .. }));
        let text = match target {
            Some((target, _)) if self.choices.chance(50) => receive(channel, vec![target], body),
            _ => {
                let value = self.value(ty, around);
                send(channel, vec![value], body)
            }
        };
        match guard {
            Some(guard) => text.when(guard),
            None => text,
        }
    }

    fn a_call(&mut self, around: &Surroundings) -> TextStatement {
        let procedure = *self.choices.pick(&self.callable);
        let declared = &self.draft.model.procedures[procedure];
        let (parameter, result) = (declared.vars[0], declared.result);
        let argument = self.value(self.draft.model.vars[parameter].ty.scalar(), around);
        let wide = |ty: ScalarType| matches!(ty, ScalarType::Range { lo: 0, hi } if hi >= 2);
        let target = result.and_then(|_| self.target(around, wide)).map(|(target, _)| target);
        let into = target.filter(|_| self.choices.chance(70));
        self.maybe_labelled(call(procedure, vec![argument], into), around)
    }

    /// A simple step or an `atomic` one.
    fn step(&mut self, around: &Surroundings) -> TextStatement {
        let text = match self.choices.below(10) {
            0 => skip(),
            1..=5 => atomic(vec![self.stmt(around, 0)]),
            6 | 7 => wait(self.truth(around, 2)),
            _ => {
                let n_statements = 1 + self.choices.below(3);
                atomic((0..n_statements).map(|_| self.stmt(around, 1)).collect())
            }
        };
        self.maybe_labelled(text, around)
    }

    fn maybe_labelled(&mut self, text: TextStatement, around: &Surroundings) -> TextStatement {
        if !self.choices.chance(40) {
            return text;
        }
        let label = format!("l{}", self.labels.len());
        let text = text.label(&label);
        self.labels.push((around.scope, label));
        text
    }

    /// A statement within a step.
    fn stmt(&mut self, around: &Surroundings, depth: usize) -> Stmt {
        let kind = match self.choices.below(if depth == 0 { 9 } else { 14 }) {
            6 => StmtKind::Await(self.truth(around, 1)),
            7 if self.shape.faults && self.choices.chance(50) => StmtKind::Assert(self.truth(around, 1)),
            8 => match self.lock(around) {
                Some(lock) if self.choices.chance(80) || !self.shape.faults => StmtKind::Acquire(lock),
                Some(lock) => StmtKind::Release(lock),
                None => self.assignment(around),
            },
            9 | 10 => {
                let test = self.truth(around, 1);
                StmtKind::If(test, self.stmts(around, depth - 1), self.stmts(around, depth - 1))
            }
            11 | 12 => StmtKind::Either(vec![self.stmts(around, depth - 1), self.stmts(around, depth - 1)]),
            13 => {
                let (domain, family) = self.domain();
                let mut inside = around.clone();
                inside.bound.push(family);
                StmtKind::For(binding(around.bound.len() as u32, domain), self.stmts(&inside, depth - 1))
            }
            _ => self.assignment(around),
        };
        stmt(kind)
    }

    fn stmts(&mut self, around: &Surroundings, depth: usize) -> Vec<Stmt> {
        (0..1 + self.choices.below(2)).map(|_| self.stmt(around, depth)).collect()
    }

    fn assignment(&mut self, around: &Surroundings) -> StmtKind {
        let Some((target, ty)) = self.target(around, |_| true) else { return StmtKind::Await(truth(true)) };
        match self.choices.below(8) {
            5 => StmtKind::AssignAny(target, None),
            6 if matches!(ty, ScalarType::Range { .. }) => {
                let ScalarType::Range { lo, hi } = ty else { unreachable!("just checked") };
                let last = if self.shape.faults && self.choices.chance(10) { hi + 1 } else { hi };
                StmtKind::AssignAny(target, Some((int(self.choices.between(lo, hi)), int(last))))
            }
            7 => {
                let value = self.value(ty, around);
                let second = self.target(around, |_| true).filter(|(second, _)| second.var != target.var);
                let Some((second, second_ty)) = second else {
                    return StmtKind::Assign(vec![(target, value)]);
                };
                let second_value = self.value(second_ty, around);
                StmtKind::Assign(vec![(target, value), (second, second_value)])
            }
            _ => {
                let value = self.value(ty, around);
                StmtKind::Assign(vec![(target, value)])
            }
        }
    }

    /// Something that the text may assign to.
    fn target(&mut self, around: &Surroundings, wanted: impl Fn(ScalarType) -> bool) -> Option<(Access, ScalarType)> {
        let fixed = |ty: ScalarType| matches!(ty, ScalarType::Semaphore { .. } | ScalarType::Lock);
        let candidates: Vec<Readable> = self
            .readables(around)
            .into_iter()
            .filter(|readable| !matches!(readable.place, Holder::Public(_)))
            .filter(|readable| !matches!(self.draft.model.vars[readable.var].role, Role::Counter(_)))
            .filter(|readable| wanted(readable.ty.scalar()) && !fixed(readable.ty.scalar()))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let target = self.choices.pick(&candidates).clone();
        Some(self.access(&target, around))
    }
}

/// The position of a statement.
#[derive(Clone, Copy)]
struct Inside {
    /// How many more blocks may be opened.
    depth: usize,
    /// Whether a loop is around it.
    breakable: bool,
}

/// The texts, beginning with a step: what a `loop` or a branch of `either` needs.
fn begun(mut texts: Vec<TextStatement>) -> Vec<TextStatement> {
    if !matches!(texts.first(), Some(TextStatement::Step(_) | TextStatement::If(..) | TextStatement::While(..))) {
        texts.insert(0, skip());
    }
    texts
}
