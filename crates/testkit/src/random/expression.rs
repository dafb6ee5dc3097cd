//! Random expressions of each type.

use model::control::TextOwner;
use model::expr::{Access, BinaryOp, Domain, Expr, Quantifier};
use model::process::FamilyId;
use model::types::{ScalarType, Type};
use model::variable::{Role, Storage, VarId};

use super::{Holder, RandomMaker, Readable, Surroundings};
use crate::expr::*;

impl RandomMaker<'_> {
    /// A boolean expression.
    pub(super) fn truth(&mut self, around: &Surroundings, depth: usize) -> Expr {
        if depth == 0 {
            return self.simple_truth(around);
        }
        match self.choices.below(10) {
            0..=3 => self.simple_truth(around),
            4 => not(self.truth(around, depth - 1)),
            5..=7 => {
                let op = *self.choices.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Implies, BinaryOp::Iff]);
                binary(op, self.truth(around, depth - 1), self.truth(around, depth - 1))
            }
            8 => {
                let (test, yes) = (self.truth(around, depth - 1), self.truth(around, depth - 1));
                either_value(test, yes, self.truth(around, depth - 1))
            }
            _ => self.quantified(around, depth - 1),
        }
    }

    /// A comparison or a boolean variable.
    fn simple_truth(&mut self, around: &Surroundings) -> Expr {
        let readables = self.readables(around);
        let here =
            self.labels.iter().filter(|(scope, _)| *scope == around.scope && matches!(scope, TextOwner::Family(_)));
        let labels: Vec<String> = here.map(|(_, label)| label.clone()).collect();
        if !labels.is_empty() && self.choices.chance(8) {
            let label = self.choices.pick(&labels).clone();
            return standing(me(), Vec::new(), &[&label]);
        }
        if readables.is_empty() {
            return truth(true);
        }
        let readable = self.choices.pick(&readables).clone();
        let (access, ty) = self.access(&readable, around);
        let value = read(access);
        match ty {
            ScalarType::Bool => value,
            ScalarType::Range { .. } | ScalarType::Semaphore { .. } => {
                let ops = [BinaryOp::Equal, BinaryOp::NotEqual, BinaryOp::Less, BinaryOp::GreaterEqual];
                let op = *self.choices.pick(&ops);
                binary(op, value, self.number(around, 1))
            }
            ScalarType::Lock => equal(value, constant(model::value::Value::None)),
            _ => {
                let op = *self.choices.pick(&[BinaryOp::Equal, BinaryOp::NotEqual]);
                binary(op, value, self.value(ty, around))
            }
        }
    }

    fn quantified(&mut self, around: &Surroundings, depth: usize) -> Expr {
        let quantifier = *self.choices.pick(&[Quantifier::Forall, Quantifier::Exists]);
        let (domain, family) = self.domain();
        let at = around.bound.len() as u32;
        let mut inside = around.clone();
        inside.bound.push(family);
        let pairs = family.is_some() && self.choices.chance(30);
        if !pairs {
            return quantified(quantifier, at, domain, self.truth(&inside, depth));
        }
        inside.bound.push(family);
        let bindings = vec![binding(at, domain.clone()), binding(at + 1, domain)];
        let distinct = binary(BinaryOp::NotEqual, bound(at), bound(at + 1));
        filtered(quantifier, bindings, Some(distinct), self.truth(&inside, depth))
    }

    /// What a quantifier or a loop ranges over, and the family if it is one.
    pub(super) fn domain(&mut self) -> (Domain, Option<FamilyId>) {
        let n_families = self.draft.model.families.len();
        let family = FamilyId::new(self.choices.below(n_families));
        if self.draft.model.families[family].index.is_some() && self.choices.chance(60) {
            return (Domain::Family(family), Some(family));
        }
        let last = self.choices.below(3) as i64;
        (range(self.first_of_range(last), last), None)
    }

    /// Where a range of numbers up to `last` starts: a range that is a family's own would mean its processes.
    pub(super) fn first_of_range(&self, last: i64) -> i64 {
        let is_own =
            self.draft.model.families.iter().any(|family| family.index.is_some() && family.count() as i64 == last + 1);
        i64::from(is_own)
    }

    /// A numeric expression.
    pub(super) fn number(&mut self, around: &Surroundings, depth: usize) -> Expr {
        let leaf = depth == 0 || self.choices.chance(60);
        if leaf {
            return self.simple_number(around);
        }
        let inner = |random: &mut Self| random.number(around, depth - 1);
        match self.choices.below(8) {
            0 | 1 => add(inner(self), int(1)),
            2 => binary(BinaryOp::Subtract, inner(self), int(1)),
            3 => binary(*self.choices.pick(&[BinaryOp::Min, BinaryOp::Max]), inner(self), inner(self)),
            4 => binary(BinaryOp::Multiply, inner(self), inner(self)),
            5 => {
                let op = *self.choices.pick(&[BinaryOp::Remainder, BinaryOp::Divide]);
                let lowest = if self.shape.faults && self.choices.chance(10) { 0 } else { 2 };
                binary(op, inner(self), int(lowest + self.choices.below(2) as i64))
            }
            6 => negate(inner(self)),
            _ => {
                let (domain, family) = self.domain();
                let mut inside = around.clone();
                inside.bound.push(family);
                let body = self.truth(&inside, 0);
                quantified(Quantifier::Count, around.bound.len() as u32, domain, body)
            }
        }
    }

    fn simple_number(&mut self, around: &Surroundings) -> Expr {
        let numeric = |ty: &Type| matches!(ty.scalar(), ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        let readables: Vec<Readable> =
            self.readables(around).into_iter().filter(|readable| numeric(&readable.ty)).collect();
        match self.choices.below(4) {
            1 | 2 if !readables.is_empty() => {
                let readable = self.choices.pick(&readables).clone();
                read(self.access(&readable, around).0)
            }
            3 => self.index(around, 3),
            _ => int(self.choices.between(0, 2)),
        }
    }

    /// A value of the type, most often within it.
    pub(super) fn value(&mut self, ty: ScalarType, around: &Surroundings) -> Expr {
        match ty {
            ScalarType::Bool => self.truth(around, 1),
            ScalarType::Range { lo, hi } => match self.choices.below(6) {
                4 | 5 => {
                    let span = binary(BinaryOp::Remainder, self.number(around, 1), int(hi - lo + 1));
                    if lo == 0 { span } else { add(span, int(lo)) }
                }
                3 if self.shape.faults && self.choices.chance(40) => self.number(around, 2),
                _ => self.constant(ty),
            },
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => self.process(ty, family, around),
            _ => self.constant(ty),
        }
    }

    fn process(&mut self, ty: ScalarType, family: FamilyId, around: &Surroundings) -> Expr {
        let mut known: Vec<Expr> = Vec::new();
        if around.scope == TextOwner::Family(family) {
            known.push(me());
        }
        let is_member = |bound: &Option<FamilyId>| *bound == Some(family);
        known.extend((0..around.bound.len()).filter(|&at| is_member(&around.bound[at])).map(|at| bound(at as u32)));
        for readable in self.readables(around).into_iter().filter(|readable| readable.ty == Type::Scalar(ty)) {
            // A public one would need a process again.
            if !matches!(readable.place, Holder::Public(_)) {
                known.push(read(self.access(&readable, around).0));
            }
        }
        if known.is_empty() || self.choices.chance(40) {
            return self.constant(ty);
        }
        self.choices.pick(&known).clone()
    }

    /// A number below `len`, most often.
    fn index(&mut self, around: &Surroundings, len: usize) -> Expr {
        if self.shape.faults && self.choices.chance(4) {
            return int(len as i64);
        }
        let mut known: Vec<Expr> = (0..len).map(|at| int(at as i64)).collect();
        if let TextOwner::Family(family) = around.scope
            && self.fits_index(family, len as i64 - 1)
        {
            known.push(index_of(me()));
        }
        for (at, family) in around.bound.iter().enumerate() {
            if family.is_some_and(|family| self.fits_index(family, len as i64 - 1)) {
                known.push(index_of(bound(at as u32)));
            }
        }
        for readable in self.readables(around) {
            let var = read(match readable.place {
                Holder::Shared => shared(readable.var),
                Holder::Mine => mine(readable.var),
                Holder::Frame => frame(readable.var),
                Holder::Public(_) => continue,
            });
            match readable.ty {
                Type::Scalar(ScalarType::Range { lo: 0, hi }) if hi < len as i64 => known.push(var),
                Type::Scalar(ScalarType::Pid(family)) if self.fits_index(family, len as i64 - 1) => {
                    known.push(index_of(var));
                }
                _ => {}
            }
        }
        let index = self.choices.pick(&known).clone();
        match self.choices.below(10) {
            8 => binary(BinaryOp::Remainder, add(index, int(1)), int(len as i64)),
            9 => {
                let other = self.choices.pick(&known).clone();
                binary(BinaryOp::Remainder, add(index, other), int(len as i64))
            }
            _ => index,
        }
    }

    /// A scalar part of the variable.
    pub(super) fn access(&mut self, readable: &Readable, around: &Surroundings) -> (Access, ScalarType) {
        let whole = match readable.place {
            Holder::Shared => shared(readable.var),
            Holder::Mine => mine(readable.var),
            Holder::Frame => frame(readable.var),
            Holder::Public(family) => {
                let who = match self.draft.model.families[family].index {
                    Some(_) => self.process(ScalarType::Pid(family), family, around),
                    None => constant(model::value::Value::Process(self.draft.model.families[family].first)),
                };
                of(readable.var, who)
            }
        };
        let dimensions = readable.ty.dimensions();
        let access = dimensions.into_iter().fold(whole, |access, len| {
            let index = self.index(around, len);
            element(access, index)
        });
        (access, readable.ty.scalar())
    }

    /// The variables that a text can read.
    pub(super) fn readables(&self, around: &Surroundings) -> Vec<Readable> {
        let holders = |storage: Storage| match (storage, around.scope) {
            (Storage::Shared, _) => vec![Holder::Shared],
            (Storage::Local(owner), TextOwner::Family(family)) if owner == family => vec![Holder::Mine],
            (Storage::Public(owner), TextOwner::Family(family)) if owner == family => {
                vec![Holder::Mine, Holder::Public(owner)]
            }
            (Storage::Public(owner), _) => vec![Holder::Public(owner)],
            (Storage::Frame(owner), TextOwner::Procedure(procedure)) if owner == procedure => vec![Holder::Frame],
            _ => Vec::new(),
        };
        let entries = self.draft.model.vars.entries();
        let in_scope = |var: VarId, role: Role| !matches!(role, Role::Counter(_)) || around.counters.contains(&var);
        entries
            .filter(|(var, declared)| in_scope(*var, declared.role))
            .flat_map(|(var, declared)| {
                let held = move |place| Readable { var, ty: declared.ty.clone(), place };
                holders(declared.storage).into_iter().map(held)
            })
            .collect()
    }
}
