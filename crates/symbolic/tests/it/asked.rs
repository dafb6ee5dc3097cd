//! Random questions about a program: boolean expressions over its cells and places, of which many have no value in some state.
//!
//! In: a Model and choices. Out: an expression with divisions, indices that may be outside, quantifiers and early stops; and the
//! Model with such properties added, those of cells that no process mentions among them.

use base::Span;
use model::Model;
use model::expr::{Access, BinaryOp, Expr, Quantifier};
use model::fairness::Assumptions;
use model::process::ProcessId;
use model::property::{Expected, Property, PropertyKind};
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{Init, Role, Storage, VarId};
use testkit::Draft;
use testkit::choices::Choices;
use testkit::expr::{
    add, binary, bound, constant, either_value, element, equal, int, not, of, quantified, range, read, shared,
    standing, truth,
};

/// Makes expressions.
pub struct Asked<'m> {
    pub model: &'m Model,
    pub choices: &'m mut Choices,
}

/// Adds a property without fairness.
pub fn add_property(model: &mut Model, name: &str, kind: PropertyKind) {
    let (under, expected) = (Assumptions::none(), Expected::Holds);
    let (text, doc, span) = (String::new(), String::new(), Span::default());
    model.properties.push(Property { name: name.to_string(), kind, under, expected, text, doc, span });
}

/// The program with a few more variables, which no process mentions.
pub fn with_idle_cells(draft: &Draft, choices: &mut Choices) -> Model {
    let mut draft = draft.clone();
    let range = |choices: &mut Choices| {
        let lo = choices.between(-1, 1);
        Type::Scalar(ScalarType::Range { lo, hi: lo + choices.between(0, 2) })
    };
    for nth in 0..choices.below(3) {
        let (name, ty) = (format!("u{nth}"), range(choices));
        let init = if choices.chance(50) { Init::Any } else { Init::First };
        match (choices.below(4), draft.model.families.ids().next()) {
            (0, Some(family)) => draft.public(family, &name, ty, init),
            (1, _) => draft.shared(&name, Type::Array { element: Box::new(ty), len: 2 }, init),
            _ => draft.shared(&name, ty, init),
        };
    }
    draft.finish()
}

impl Asked<'_> {
    /// A boolean expression, with `n_bound` numbers bound around it.
    pub fn truth(&mut self, depth: usize, n_bound: u32) -> Expr {
        if depth == 0 {
            return self.simple(n_bound);
        }
        match self.choices.below(12) {
            0..=2 => self.simple(n_bound),
            3 => not(self.truth(depth - 1, n_bound)),
            4..=8 => {
                let op = *self.choices.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Implies, BinaryOp::Iff]);
                binary(op, self.truth(depth - 1, n_bound), self.truth(depth - 1, n_bound))
            }
            9 => {
                let (test, yes) = (self.truth(depth - 1, n_bound), self.truth(depth - 1, n_bound));
                either_value(test, yes, self.truth(depth - 1, n_bound))
            }
            _ => {
                let quantifier = *self.choices.pick(&[Quantifier::Forall, Quantifier::Exists]);
                let last = self.choices.between(0, 2);
                quantified(quantifier, n_bound, range(0, last), self.truth(depth - 1, n_bound + 1))
            }
        }
    }

    fn simple(&mut self, n_bound: u32) -> Expr {
        match self.choices.below(6) {
            0 => self.place(),
            1 => self.other_cell(n_bound),
            _ => {
                let ops = [
                    BinaryOp::Equal,
                    BinaryOp::NotEqual,
                    BinaryOp::Less,
                    BinaryOp::LessEqual,
                    BinaryOp::Greater,
                    BinaryOp::GreaterEqual,
                ];
                let op = *self.choices.pick(&ops);
                binary(op, self.number(2, n_bound), self.number(1, n_bound))
            }
        }
    }

    fn place(&mut self) -> Expr {
        let process = ProcessId::new(self.choices.below(self.model.processes.len()));
        let scope = model::control::TextOwner::Family(self.model.processes[process].family);
        let places: Vec<_> = self.model.places.ids().filter(|&place| self.model.places[place].scope == scope).collect();
        standing(constant(Value::Process(process)), vec![*self.choices.pick(&places)], &["l"])
    }

    /// A number, now and then without a value.
    pub fn number(&mut self, depth: usize, n_bound: u32) -> Expr {
        if depth == 0 || self.choices.chance(50) {
            return self.simple_number(n_bound);
        }
        let (a, b) = (self.number(depth - 1, n_bound), self.number(depth - 1, n_bound));
        match self.choices.below(8) {
            0 | 1 => add(a, b),
            2 => binary(BinaryOp::Subtract, a, b),
            3 => binary(BinaryOp::Multiply, a, b),
            4 | 5 => binary(BinaryOp::Divide, a, b),
            6 => binary(BinaryOp::Remainder, a, b),
            _ => binary(*self.choices.pick(&[BinaryOp::Min, BinaryOp::Max]), a, b),
        }
    }

    fn simple_number(&mut self, n_bound: u32) -> Expr {
        let is_number = |ty: ScalarType| matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        match self.choices.below(5) {
            0 => int(self.choices.between(-1, 7)),
            1 if n_bound > 0 => bound(self.choices.below(n_bound as usize) as u32),
            _ => match self.access(is_number, n_bound) {
                Some(access) => read(access),
                None => int(self.choices.between(0, 3)),
            },
        }
    }

    /// A condition on a cell that is no number.
    fn other_cell(&mut self, n_bound: u32) -> Expr {
        let wanted = |ty: ScalarType| !matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        let Some(access) = self.access(wanted, n_bound) else { return truth(self.choices.chance(50)) };
        let ty = self.model.vars[access.var].ty.scalar();
        if ty == ScalarType::Bool {
            return read(access);
        }
        let values: Vec<Value> = ty.values(self.model.type_context()).collect();
        equal(read(access), constant(*self.choices.pick(&values)))
    }

    fn access(&mut self, wanted: impl Fn(ScalarType) -> bool, n_bound: u32) -> Option<Access> {
        let fits = |id: &VarId| {
            let var = &self.model.vars[*id];
            let lives = !matches!(var.storage, Storage::Frame(_)) && !matches!(var.role, Role::Counter(_));
            lives && wanted(var.ty.scalar())
        };
        let vars: Vec<VarId> = self.model.vars.ids().filter(fits).collect();
        let var = *self.choices.pick(if vars.is_empty() { return None } else { &vars });
        let access = match self.model.vars[var].storage {
            Storage::Public(family) | Storage::Local(family) => {
                let owners: Vec<ProcessId> = self.model.families[family].processes().collect();
                of(var, constant(Value::Process(*self.choices.pick(&owners))))
            }
            _ => shared(var),
        };
        let mut ty = &self.model.vars[var].ty;
        let mut access = access;
        while let Type::Array { element: inner, len } = ty {
            let index = match self.choices.below(4) {
                0 if n_bound > 0 => bound(self.choices.below(n_bound as usize) as u32),
                1 if self.choices.chance(30) => int(*len as i64),
                _ => int(self.choices.below(*len) as i64),
            };
            access = element(access, index);
            ty = inner;
        }
        Some(access)
    }
}
