//! What statements store: values, choices, locks and semaphores, on every path of a step.
//!
//! In: the cells that an access can mean and the values that they get. Out: one path for each of few values, or one with a number
//! where a wide cell gets one of many. A value that the cell's type does not have is a fault.

use std::collections::BTreeMap;
use std::rc::Rc;

use model::Model;
use model::expr::{Access, Expr};
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;

use super::{CommandPath, CommandStop, CommandTranslation, MAX_PATHS};
use crate::bdd::Bdd;
use crate::encoding::Encoding;
use crate::evaluate::{Evaluator, KnownContent, StateNumbers, SymbolicTerm, ValueCases};
use crate::number::{BitArithmetic, BitNumber};

/// A wide cell that gets one of at most this many values is still updated by constants.
const FEW_VALUES: usize = 8;

impl CommandTranslation<'_> {
    /// `x = any` and `x = any lo..=hi`.
    pub(super) fn assign_any(
        &mut self,
        access: &Access,
        range: Option<&(Expr, Expr)>,
        path: CommandPath,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        let cells = evaluator.locate(access)?;
        let range =
            range.map(|(lo, hi)| Ok::<_, CommandStop>((evaluator.term(lo)?, evaluator.term(hi)?))).transpose()?;
        self.err_on(&path, &cells.fault)?;
        let path = CommandPath { when: self.encoding.space.minus(&path.when, &cells.fault)?, ..path };
        if cells.values.is_empty() {
            return Ok(Vec::new());
        }
        let is_wide =
            |cell: &Value| matches!(cell, Value::Int(cell) if self.encoding.is_wide(CellId::new(*cell as usize)));
        if cells.values.keys().any(is_wide) {
            return self.choose_wide(&cells, range, &path, evaluator);
        }
        let ty = self.model.vars[access.var].ty.scalar();
        if ty.n_values(self.model.type_context()) > MAX_PATHS as u128 {
            return Err(CommandStop::TooManyCases(self.statement));
        }
        let all = self.encoding.space.all();
        let each = |this: &mut Self, path: &CommandPath, value: Value| {
            this.store_all(vec![path.clone()], &cells, &constant((value, all.clone()), this.encoding))
        };
        let mut paths = Vec::new();
        match range {
            None => {
                for value in ty.values(self.model.type_context()) {
                    paths.extend(each(self, &path, value)?);
                }
            }
            Some((SymbolicTerm::Cases(lo), SymbolicTerm::Cases(hi))) => {
                self.err_on(&path, &lo.fault)?;
                self.err_on(&path, &hi.fault)?;
                for (first, when_first) in &lo.values {
                    for (last, when_last) in &hi.values {
                        let when = self.encoding.space.and(when_first, when_last)?;
                        let narrowed = self.narrow(&path, &when)?;
                        for value in self.between(*first, *last, ty) {
                            paths.extend(each(self, &narrowed, value)?);
                        }
                    }
                }
            }
            Some((lo, hi)) => {
                let bounds = self.bounds((lo, hi), ty, &path, evaluator)?;
                for value in ty.values(self.model.type_context()) {
                    let Some(number) = number_of(self.model, value) else { continue };
                    let number = evaluator.math().constant(number);
                    let when = evaluator.math().between(&number, &bounds.lo, &bounds.hi)?;
                    let narrowed = self.narrow(&bounds.path, &when)?;
                    paths.extend(each(self, &narrowed, value)?);
                }
            }
        }
        Ok(paths)
    }

    /// `any` for wide cells: one path for each cell that is meant, with the bits of a choice.
    fn choose_wide(
        &mut self,
        cells: &ValueCases,
        range: Option<(SymbolicTerm, SymbolicTerm)>,
        path: &CommandPath,
        evaluator: &Evaluator<'_>,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        let mut paths = Vec::new();
        for (cell, when) in &cells.values {
            let cell = cell_of(*cell);
            self.writes.insert(cell);
            let mut path = self.narrow(path, when)?;
            let mut within = self.encoding.space.all();
            let free = !path.chosen.contains(&cell) || self.forgets_choice(&mut path, cell)?;
            let choice = self.encoding.choice(cell)?.filter(|_| free);
            let Some((number, valid)) = choice else { return Err(CommandStop::TooManyCases(self.statement)) };
            if let Some(range) = range.clone() {
                let bounds = self.bounds(range, self.model.cells[cell].ty, &path, evaluator)?;
                within = evaluator.math().between(&number, &bounds.lo, &bounds.hi)?;
                path = bounds.path;
            }
            let mut path = self.narrow(&path, &self.encoding.space.and(&valid, &within)?)?;
            if !path.when.is_empty() {
                path.chosen.insert(cell);
                path.written.insert(cell, KnownContent::Number(Rc::new(number)));
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// Forgets an earlier choice for a cell, which is about to be overwritten; not where another cell holds what was chosen: a
    /// second choice would then need bits of its own.
    fn forgets_choice(&self, path: &mut CommandPath, cell: CellId) -> Result<bool, CommandStop> {
        let space = &self.encoding.space;
        let bits = self.encoding.choice_of(cell)?;
        for (_, known) in path.written.iter().filter(|(other, _)| **other != cell) {
            let KnownContent::Number(number) = known else { continue };
            for at in 0..number.width() {
                if space.exists(number.bit(at), &bits)? != *number.bit(at) {
                    return Ok(false);
                }
            }
        }
        path.when = space.exists(&path.when, &bits)?;
        Ok(true)
    }

    /// The bounds of `any` as numbers, and the path on which they have values. A range that is not empty and reaches beyond the
    /// type is a fault beside what can be chosen.
    fn bounds(
        &mut self,
        (lo, hi): (SymbolicTerm, SymbolicTerm),
        ty: ScalarType,
        path: &CommandPath,
        evaluator: &Evaluator<'_>,
    ) -> Result<AnyBounds, CommandStop> {
        let (lo, hi) = (evaluator.as_numbers(lo)?, evaluator.as_numbers(hi)?);
        let (space, math) = (&self.encoding.space, evaluator.math());
        let faulty = space.or(&lo.fault, &hi.fault)?;
        let (first, last) = numbers_of(self.model, ty);
        let (first, last) = (math.constant(first), math.constant(last));
        let inside = space.and(&math.between(&lo.number, &first, &last)?, &math.between(&hi.number, &first, &last)?)?;
        let beyond = space.minus(&math.at_most(&lo.number, &hi.number)?, &inside)?;
        self.err_on(path, &space.or(&faulty, &space.minus(&beyond, &faulty)?)?)?;
        let path = CommandPath { when: space.minus(&path.when, &faulty)?, ..path.clone() };
        Ok(AnyBounds { lo: lo.number, hi: hi.number, path })
    }

    /// The values of a range as values of the type; one that the type does not have represents all such.
    fn between(&self, first: Value, last: Value, ty: ScalarType) -> Vec<Value> {
        let number = |value| match value {
            Value::Process(process) => self.model.processes[process].index,
            Value::Int(number) => number,
            other => unreachable!("front-ends check types: `any` ranges over numbers, not {other:?}"),
        };
        let (first, last) = (number(first), number(last));
        let context = self.model.type_context();
        let inside = |value: &Value| *value != Value::None && (first..=last).contains(&number(*value));
        let mut values: Vec<Value> = ty.values(context).filter(inside).collect();
        if (values.len() as i128) < i128::from(last) - i128::from(first) + 1 {
            // Outside the type: any such value is the same fault.
            let outside = (first..=last).find(|&n| !values.iter().any(|&value| number(value) == n));
            values.extend(outside.map(Value::Int));
        }
        values
    }

    /// `acquire` and `release` on a lock or a semaphore.
    pub(super) fn pass(
        &mut self,
        access: &Access,
        path: CommandPath,
        evaluator: &mut Evaluator<'_>,
        take: bool,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        let me = evaluator.me.expect("a step has a mover");
        let ty = self.model.vars[access.var].ty.scalar();
        let cells = evaluator.locate(access)?;
        let held = evaluator.term(&Expr { kind: model::expr::ExprKind::Read(access.clone()), span: access.span })?;
        self.err_on(&path, &cells.fault)?;
        let held = match held {
            SymbolicTerm::Cases(held) => held,
            SymbolicTerm::Numbers(held) => return self.pass_wide(&cells, (held.number, ty), path, take),
        };
        let mut paths = Vec::new();
        for (value, when) in &held.values {
            let after = match (ty, *value, take) {
                (ScalarType::Semaphore { .. }, Value::Int(n), true) => (n > 0).then(|| Value::Int(n - 1)),
                (ScalarType::Semaphore { max }, Value::Int(n), false) => (n < max).then(|| Value::Int(n + 1)),
                (_, Value::None, true) => Some(Value::Process(me)),
                (_, Value::Process(owner), false) if owner == me => Some(Value::None),
                _ => None,
            };
            let narrowed = self.narrow(&path, when)?;
            match after {
                Some(after) => {
                    let stored = constant((after, self.encoding.space.all()), self.encoding);
                    paths.extend(self.store_all(vec![narrowed], &cells, &stored)?);
                }
                // Nothing to take: no path. Nothing to give back: a fault.
                None if take => {}
                None => self.err(&narrowed.when)?,
            }
        }
        Ok(paths)
    }

    /// `acquire` and `release` on a semaphore with many units.
    fn pass_wide(
        &mut self,
        cells: &ValueCases,
        (held, ty): (BitNumber, ScalarType),
        path: CommandPath,
        take: bool,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        let (space, math) = (&self.encoding.space, BitArithmetic { space: &self.encoding.space });
        let path = CommandPath { when: space.minus(&path.when, &cells.fault)?, ..path };
        let end = if take { 0 } else { numbers_of(self.model, ty).1 };
        let at_end = math.equals(&held, end)?;
        let number = math.add(&held, &math.constant(if take { -1 } else { 1 }))?;
        if !take {
            self.err_on(&path, &at_end)?;
        }
        let open = CommandPath { when: space.minus(&path.when, &at_end)?, ..path };
        self.store_all(vec![open], cells, &SymbolicTerm::Numbers(StateNumbers { number, fault: space.empty() }))
    }

    /// Stores each value in each cell that is meant; a value that the cell's type does not have is a fault.
    pub(super) fn store_all(
        &mut self,
        paths: Vec<CommandPath>,
        cells: &ValueCases,
        values: &SymbolicTerm,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        let mut stored = Vec::new();
        let value_fault = match values {
            SymbolicTerm::Cases(cases) => &cases.fault,
            SymbolicTerm::Numbers(numbers) => &numbers.fault,
        };
        for path in paths {
            if stored.len() > MAX_PATHS {
                return Err(CommandStop::TooManyCases(self.statement));
            }
            self.err_on(&path, &cells.fault)?;
            let path = CommandPath { when: self.encoding.space.minus(&path.when, &cells.fault)?, ..path };
            self.err_on(&path, value_fault)?;
            let path = CommandPath { when: self.encoding.space.minus(&path.when, value_fault)?, ..path };
            for (cell, when_cell) in &cells.values {
                let cell = cell_of(*cell);
                self.writes.insert(cell);
                let path = self.narrow(&path, when_cell)?;
                match (values, self.encoding.is_wide(cell)) {
                    (SymbolicTerm::Cases(cases), false) => self.store_cases(&path, cell, cases, &mut stored)?,
                    (SymbolicTerm::Cases(cases), true) if cases.values.len() <= FEW_VALUES => {
                        self.store_cases(&path, cell, cases, &mut stored)?;
                    }
                    (SymbolicTerm::Cases(cases), true) => {
                        let numbers = cases.values.iter().filter_map(|(value, states)| match value {
                            Value::Int(number) => Some((*number, states)),
                            _ => None,
                        });
                        let number = BitArithmetic { space: &self.encoding.space }.of_cases(numbers)?;
                        self.store_number(&path, cell, &number, &mut stored)?;
                    }
                    (SymbolicTerm::Numbers(numbers), true) => {
                        self.store_number(&path, cell, &numbers.number, &mut stored)?
                    }
                    (SymbolicTerm::Numbers(numbers), false) => {
                        let cases = self.cases_for(cell, &numbers.number)?;
                        self.err_on(&path, &cases.fault)?;
                        self.store_cases(&path, cell, &cases, &mut stored)?;
                    }
                }
            }
        }
        Ok(stored)
    }

    fn store_cases(
        &mut self,
        path: &CommandPath,
        cell: CellId,
        values: &ValueCases,
        stored: &mut Vec<CommandPath>,
    ) -> Result<(), CommandStop> {
        for (value, when) in &values.values {
            let mut path = self.narrow(path, when)?;
            if path.when.is_empty() {
                continue;
            }
            if !self.model.cells[cell].ty.contains(*value, self.model.type_context()) {
                self.err(&path.when)?;
                continue;
            }
            path.written.insert(cell, KnownContent::Value(*value));
            stored.push(path);
        }
        Ok(())
    }

    /// Stores a number of many values in a wide cell.
    fn store_number(
        &mut self,
        path: &CommandPath,
        cell: CellId,
        number: &BitNumber,
        stored: &mut Vec<CommandPath>,
    ) -> Result<(), CommandStop> {
        let math = BitArithmetic { space: &self.encoding.space };
        let (first, last) = numbers_of(self.model, self.model.cells[cell].ty);
        let inside = math.between(number, &math.constant(first), &math.constant(last))?;
        self.err_on(path, &self.encoding.space.not(&inside)?)?;
        let mut path = self.narrow(path, &inside)?;
        if !path.when.is_empty() {
            path.written.insert(cell, KnownContent::Number(Rc::new(number.clone())));
            stored.push(path);
        }
        Ok(())
    }

    /// A number of many values by the values of a cell that has few; a fault elsewhere.
    fn cases_for(&self, cell: CellId, number: &BitNumber) -> Result<ValueCases, CommandStop> {
        let (space, math) = (&self.encoding.space, BitArithmetic { space: &self.encoding.space });
        let mut cases = ValueCases { values: BTreeMap::new(), fault: space.all() };
        for (_, value) in self.encoding.values(cell) {
            let Value::Int(wanted) = value else { continue };
            let states = math.equals(number, i128::from(wanted))?;
            cases.fault = space.minus(&cases.fault, &states)?;
            cases.values.insert(value, states);
        }
        Ok(cases)
    }
}

/// The bounds of `any`, and the path on which they have values.
struct AnyBounds {
    lo: BitNumber,
    hi: BitNumber,
    path: CommandPath,
}

/// A number, or the index of a process.
fn number_of(model: &Model, value: Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(number)),
        Value::Process(process) => Some(i128::from(model.processes[process].index)),
        Value::Bool(_) | Value::Enum(..) | Value::None => None,
    }
}

/// The least and the greatest number of a type, or index of its processes.
fn numbers_of(model: &Model, ty: ScalarType) -> (i128, i128) {
    match ty {
        ScalarType::Range { lo, hi } => (i128::from(lo), i128::from(hi)),
        ScalarType::Semaphore { max } => (0, i128::from(max)),
        _ => {
            let mut indices = ty.values(model.type_context()).filter_map(|value| number_of(model, value));
            let first = indices.next().unwrap_or(0);
            (first, indices.last().unwrap_or(first))
        }
    }
}

/// A cell, which appears as a number.
fn cell_of(value: Value) -> CellId {
    let Value::Int(cell) = value else { unreachable!("cells appear as numbers") };
    CellId::new(cell as usize)
}

/// One value in all states.
fn constant((value, when): (Value, Bdd), encoding: &Encoding) -> SymbolicTerm {
    SymbolicTerm::Cases(ValueCases { values: BTreeMap::from([(value, when)]), fault: encoding.space.empty() })
}
