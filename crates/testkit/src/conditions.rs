//! Random conditions on the states of a program: well typed, and now and then a fault.

use crate::choices::Choices;
use crate::expr::{
    binary, binding, bound, constant, either_value, element, equal, filtered, index_of, int, negate, not, of, range,
    read, shared, standing, to_process, truth,
};
use model::Model;
use model::expr::{Access, BinaryOp, Domain, Expr, Quantifier};
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Role, Storage, VarId};

/// Makes conditions on the states of one program.
pub struct ConditionMaker<'a> {
    /// The program.
    pub model: &'a Model,
    /// What is chosen.
    pub choices: Choices,
    /// The bound variables, outermost first: the family of a process, or a number.
    bound: Vec<Option<FamilyId>>,
}

impl<'a> ConditionMaker<'a> {
    /// Conditions on a program's states.
    pub fn new(model: &'a Model, seed: u64) -> Self {
        ConditionMaker { model, choices: Choices::from_seed(seed), bound: Vec::new() }
    }

    /// A condition about as deep as asked for.
    pub fn condition(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.simple_condition();
        }
        let depth = depth - 1;
        match self.choices.below(9) {
            0 => not(self.condition(depth)),
            1 | 2 => binary(BinaryOp::And, self.condition(depth), self.condition(depth)),
            3 | 4 => binary(BinaryOp::Or, self.condition(depth), self.condition(depth)),
            5 => {
                let op = *self.choices.pick(&[BinaryOp::Implies, BinaryOp::Iff, BinaryOp::Equal, BinaryOp::NotEqual]);
                binary(op, self.condition(depth), self.condition(depth))
            }
            6 => either_value(self.condition(depth), self.condition(depth), self.condition(depth)),
            7 => self.quantified(depth),
            _ => self.simple_condition(),
        }
    }

    fn simple_condition(&mut self) -> Expr {
        match self.choices.below(6) {
            0 | 1 => self.cell(|ty| ty == ScalarType::Bool).map_or(truth(true), read),
            2 => self.position(),
            3 => {
                let (a, b) = (self.process(), self.process());
                equal(a, b)
            }
            4 => match self.cell(|ty| matches!(ty, ScalarType::Enum(_))) {
                None => truth(false),
                Some(access) => {
                    let ScalarType::Enum(id) = self.model.vars[access.var].ty.scalar() else { unreachable!() };
                    let n_values = self.model.enums[id].values.len();
                    equal(read(access), constant(Value::Enum(id, self.choices.below(n_values) as u32)))
                }
            },
            _ => {
                let ops = [BinaryOp::Equal, BinaryOp::NotEqual, BinaryOp::Less, BinaryOp::LessEqual];
                let more = [BinaryOp::Greater, BinaryOp::GreaterEqual];
                let op = if self.choices.chance(30) { *self.choices.pick(&more) } else { *self.choices.pick(&ops) };
                binary(op, self.number(2), self.number(1))
            }
        }
    }

    fn number(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.choices.chance(40) {
            return match self.choices.below(4) {
                0 => int(self.choices.between(-1, 4)),
                1 => index_of(self.process()),
                _ => {
                    let is_number = |ty| matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
                    self.cell(is_number).map_or(int(1), read)
                }
            };
        }
        let depth = depth - 1;
        match self.choices.below(5) {
            0 => negate(self.number(depth)),
            1 => either_value(self.condition(1), self.number(depth), self.number(depth)),
            2 => self.count(),
            _ => {
                let ops = [
                    BinaryOp::Add,
                    BinaryOp::Subtract,
                    BinaryOp::Multiply,
                    BinaryOp::Divide,
                    BinaryOp::Remainder,
                    BinaryOp::Min,
                    BinaryOp::Max,
                ];
                let op = *self.choices.pick(&ops);
                binary(op, self.number(depth), self.number(depth))
            }
        }
    }

    fn process(&mut self) -> Expr {
        let n_processes = self.model.processes.len();
        let families: Vec<u32> =
            self.bound.iter().enumerate().filter(|(_, of)| of.is_some()).map(|(at, _)| at as u32).collect();
        match self.choices.below(5) {
            0 => constant(Value::None),
            1 if !families.is_empty() => bound(*self.choices.pick(&families)),
            2 | 3 => {
                let is_process = |ty| matches!(ty, ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock);
                self.cell(is_process).map_or(constant(Value::None), read)
            }
            _ => constant(Value::Process(ProcessId::new(self.choices.below(n_processes)))),
        }
    }

    /// A process of a family, or sometimes a fault.
    fn member(&mut self, family: FamilyId) -> Expr {
        let bound_members: Vec<u32> =
            self.bound.iter().enumerate().filter(|(_, of)| **of == Some(family)).map(|(at, _)| at as u32).collect();
        if !bound_members.is_empty() && self.choices.chance(60) {
            return bound(*self.choices.pick(&bound_members));
        }
        match self.choices.below(4) {
            0 => to_process(family, self.number(0)),
            1 => to_process(family, self.process()),
            _ => {
                let count = self.model.families[family].count();
                let at = self.model.families[family].first.index() + self.choices.below(count);
                constant(Value::Process(ProcessId::new(at)))
            }
        }
    }

    fn position(&mut self) -> Expr {
        let family = FamilyId::new(self.choices.below(self.model.families.len()));
        let who = self.member(family);
        let places: Vec<_> = self.model.places.ids().filter(|_| self.choices.chance(30)).collect();
        standing(who, places, &["somewhere"])
    }

    /// An access to a scalar of a type; its indices may be outside.
    fn cell(&mut self, wanted: impl Fn(ScalarType) -> bool) -> Option<Access> {
        let fits = |id: &VarId| {
            let var = &self.model.vars[*id];
            wanted(var.ty.scalar())
                && !matches!(var.role, Role::Counter(_))
                && !matches!(var.storage, Storage::Frame(_))
        };
        let vars: Vec<VarId> = self.model.vars.ids().filter(fits).collect();
        if vars.is_empty() {
            return None;
        }
        let id = *self.choices.pick(&vars);
        let var = &self.model.vars[id];
        let mut access = match var.storage {
            Storage::Public(family) | Storage::Local(family) => of(id, self.member(family)),
            _ => shared(id),
        };
        for len in var.ty.dimensions() {
            let index = if self.choices.chance(70) { int(self.choices.below(len) as i64) } else { self.number(1) };
            access = element(access, index);
        }
        Some(access)
    }

    fn count(&mut self) -> Expr {
        self.quantifier(Quantifier::Count, 0)
    }

    fn quantified(&mut self, depth: usize) -> Expr {
        let quantifier = *self.choices.pick(&[Quantifier::Forall, Quantifier::Exists]);
        self.quantifier(quantifier, depth)
    }

    fn quantifier(&mut self, quantifier: Quantifier, depth: usize) -> Expr {
        let outer = self.bound.len();
        let mut bindings = Vec::new();
        for _ in 0..1 + self.choices.below(2) {
            let family = FamilyId::new(self.choices.below(self.model.families.len()));
            let level = self.bound.len() as u32;
            if self.choices.chance(60) {
                bindings.push(binding(level, Domain::Family(family)));
                self.bound.push(Some(family));
            } else {
                let lo = self.choices.between(-1, 1);
                bindings.push(binding(level, range(lo, lo + self.choices.between(-1, 2))));
                self.bound.push(None);
            }
        }
        let filter = self.choices.chance(40).then(|| self.simple_condition());
        let body = self.condition(depth.min(2));
        self.bound.truncate(outer);
        filtered(quantifier, bindings, filter, body)
    }
}
