//! Expressions as diagrams: for each value that an expression can have, the states in which it has it.
//!
//! In: an expression, for a process or for none. Out: a [`Truth`] for boolean expressions, a [`SymbolicTerm`] for others; both say
//! where evaluation is a fault, with the same early stops as `model::eval`. Where values are few, a term is a partition of the
//! states by value, which is exact for every operator. What depends on wide cells is a number of bits instead, and so is what
//! would have too many cases.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::Model;
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::machine::MachineOp;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Storage};

use crate::bdd::{Bdd, OutOfNodes};
use crate::encoding::{Encoding, FieldContent};
use crate::number::{BitArithmetic, BitNumber, Shift};
use crate::points::SymbolicPoints;

/// Where a boolean expression is true, and where its evaluation is a fault; elsewhere it is false.
#[derive(Clone)]
pub struct Truth {
    /// True.
    pub yes: Bdd,
    /// A fault. Disjoint from `yes`.
    pub fault: Bdd,
}

/// For each value the states in which the expression has it; the sets are disjoint.
#[derive(Clone)]
pub struct ValueCases {
    /// The values with non-empty sets.
    pub values: BTreeMap<Value, Bdd>,
    /// Where evaluation is a fault.
    pub fault: Bdd,
}

/// A number in each state, as bits.
#[derive(Clone)]
pub struct StateNumbers {
    /// The number; anything where evaluation is a fault.
    pub number: BitNumber,
    /// Where evaluation is a fault.
    pub fault: Bdd,
}

/// What an expression yields.
#[derive(Clone)]
pub enum SymbolicTerm {
    /// Few values.
    Cases(ValueCases),
    /// Too many values to list.
    Numbers(StateNumbers),
}

impl SymbolicTerm {
    /// Where evaluation is a fault.
    pub fn fault(&self) -> &Bdd {
        match self {
            SymbolicTerm::Cases(cases) => &cases.fault,
            SymbolicTerm::Numbers(numbers) => &numbers.fault,
        }
    }
}

/// The content of a cell that is known.
#[derive(Clone)]
pub enum KnownContent {
    /// The same in all states.
    Value(Value),
    /// A number that depends on the state before the step.
    Number(Rc<BitNumber>),
}

/// Where a quantifier or a loop has more rounds than this, nothing is built.
const MOST_ROUNDS: i128 = 1 << 16;

/// Two partitions of the states with more pairs of values than this are combined as numbers.
const MOST_PAIRS: usize = 1 << 14;

/// Why an expression could not be turned into diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDiagram {
    /// The nodes are used up.
    OutOfNodes,
    /// A quantifier or a loop ranges over too many values.
    TooManyRounds,
}

impl From<OutOfNodes> for NoDiagram {
    fn from(_: OutOfNodes) -> Self {
        NoDiagram::OutOfNodes
    }
}

/// Evaluates expressions in the middle of a step: some cells are known because the step has written them.
#[derive(Clone)]
pub struct Evaluator<'a> {
    /// The program.
    pub model: &'a Model,
    /// Its control points.
    pub points: &'a SymbolicPoints,
    /// Its fields.
    pub encoding: &'a Encoding,
    /// The process that evaluates; none for properties.
    pub me: Option<ProcessId>,
    /// Cells with a known content: counters, and what was written before in this step.
    pub known: BTreeMap<CellId, KnownContent>,
    /// The values of the bound variables, outermost first.
    pub bound: Vec<Value>,
    /// Every cell that was read, gathered by all evaluators of one process.
    pub touched: Rc<RefCell<BTreeSet<CellId>>>,
}

type Result<T> = std::result::Result<T, NoDiagram>;

impl Evaluator<'_> {
    /// An evaluator that knows nothing of the state.
    pub fn new<'a>(
        model: &'a Model,
        points: &'a SymbolicPoints,
        encoding: &'a Encoding,
        me: Option<ProcessId>,
    ) -> Evaluator<'a> {
        Evaluator { model, points, encoding, me, known: BTreeMap::new(), bound: Vec::new(), touched: Rc::default() }
    }

    /// Where a boolean expression is true.
    pub fn truth(&mut self, expr: &Expr) -> Result<Truth> {
        let space = &self.encoding.space;
        match &expr.kind {
            ExprKind::Const(Value::Bool(value)) => {
                Ok(Truth { yes: if *value { space.all() } else { space.empty() }, fault: space.empty() })
            }
            ExprKind::At { who, places, .. } => {
                let who = self.cases(who)?;
                let mut truth = Truth { yes: space.empty(), fault: who.fault };
                for (process, when) in who.values {
                    let Value::Process(process) = process else {
                        truth.fault = space.or(&truth.fault, &when)?;
                        continue;
                    };
                    let points = self.points.of(process).at_places(places);
                    let there = self.encoding.one_of(FieldContent::Control(process), points)?;
                    truth.yes = space.or(&truth.yes, &space.and(&when, &there)?)?;
                }
                Ok(truth)
            }
            ExprKind::Not(inner) => {
                let inner = self.truth(inner)?;
                self.negate(inner)
            }
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                self.both(a, b)
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                self.either(a, b)
            }
            ExprKind::Binary(BinaryOp::Implies, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                let a = self.negate(a)?;
                self.either(a, b)
            }
            ExprKind::Quantified(quantified) if quantified.quantifier != Quantifier::Count => {
                self.quantified(quantified)
            }
            _ => match self.term(expr)? {
                SymbolicTerm::Cases(mut cases) => {
                    let yes = cases.values.remove(&Value::Bool(true)).unwrap_or_else(|| space.empty());
                    Ok(Truth { yes, fault: cases.fault })
                }
                SymbolicTerm::Numbers(_) => unreachable!("front-ends check types: a number is no truth value"),
            },
        }
    }

    /// What an expression yields.
    pub fn term(&mut self, expr: &Expr) -> Result<SymbolicTerm> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(SymbolicTerm::Cases(self.always(*value))),
            ExprKind::Parameter(id) => {
                Ok(SymbolicTerm::Cases(self.always(Value::Int(self.model.parameters[*id].value))))
            }
            ExprKind::Myself => {
                let me = self.me.expect("front-ends use `Myself` in process text");
                Ok(SymbolicTerm::Cases(self.always(Value::Process(me))))
            }
            ExprKind::Bound(var) => Ok(SymbolicTerm::Cases(self.always(self.bound[var.0 as usize]))),
            ExprKind::Read(access) => {
                let cells = self.locate(access)?;
                self.choose_term(cells, |this, cell| this.content(cell))
            }
            ExprKind::Negate(inner) => match self.term(inner)? {
                SymbolicTerm::Cases(inner) => {
                    self.map(inner, |value| as_number(value)?.checked_neg().map(Value::Int)).map(SymbolicTerm::Cases)
                }
                SymbolicTerm::Numbers(inner) => {
                    let number = self.math().negate(&inner.number)?;
                    self.exact(number, inner.fault)
                }
            },
            ExprKind::IndexOf(inner) => {
                let model = self.model;
                match self.term(inner)? {
                    SymbolicTerm::Cases(inner) => (self.map(inner, |value| match value {
                        Value::Process(process) => Some(Value::Int(model.processes[process].index)),
                        Value::Int(_) => Some(value),
                        _ => None,
                    }))
                    .map(SymbolicTerm::Cases),
                    numbers => Ok(numbers),
                }
            }
            ExprKind::ToProcess(family, inner) => {
                let model = self.model;
                let members = &model.families[*family];
                let inner = match self.term(inner)? {
                    SymbolicTerm::Cases(cases) => cases,
                    SymbolicTerm::Numbers(numbers) => {
                        let indices = members.processes().map(|process| model.processes[process].index);
                        self.enumerated(&numbers, indices)?
                    }
                };
                let mapped = self.map(inner, |value| match value {
                    Value::None => Some(Value::None),
                    Value::Int(index) => members.process_at(index).map(Value::Process),
                    Value::Process(process) => (model.processes[process].family == *family).then_some(value),
                    _ => None,
                });
                mapped.map(SymbolicTerm::Cases)
            }
            ExprKind::If(test, yes, no) => {
                let test = self.truth(test)?;
                let (yes, no) = (self.term(yes)?, self.term(no)?);
                let choice = self.as_cases(test)?;
                self.choose_term(choice, |_, value| {
                    Ok(if value == Value::Bool(true) { yes.clone() } else { no.clone() })
                })
            }
            ExprKind::Quantified(quantified) if quantified.quantifier == Quantifier::Count => {
                self.count(quantified).map(SymbolicTerm::Cases)
            }
            ExprKind::Binary(op, a, b) if !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Implies) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                self.binary(*op, a, b)
            }
            ExprKind::Binary(..) | ExprKind::Not(_) | ExprKind::At { .. } | ExprKind::Quantified(_) => {
                let truth = self.truth(expr)?;
                self.as_cases(truth).map(SymbolicTerm::Cases)
            }
        }
    }

    /// Where two terms are equal.
    pub fn same(&mut self, a: SymbolicTerm, b: SymbolicTerm) -> Result<Truth> {
        match self.binary(BinaryOp::Equal, a, b)? {
            SymbolicTerm::Cases(mut cases) => {
                let nowhere = self.encoding.space.empty();
                Ok(Truth { yes: cases.values.remove(&Value::Bool(true)).unwrap_or(nowhere), fault: cases.fault })
            }
            SymbolicTerm::Numbers(_) => unreachable!("a comparison is no number"),
        }
    }

    /// A strict operator.
    fn binary(&mut self, op: BinaryOp, a: SymbolicTerm, b: SymbolicTerm) -> Result<SymbolicTerm> {
        let (a, b) = match (a, b) {
            (SymbolicTerm::Cases(a), SymbolicTerm::Cases(b))
                if a.values.len() * b.values.len() <= MOST_PAIRS || !is_number(&a) =>
            {
                let combined = self.choose(a, |this, left| this.map(b.clone(), |right| apply(op, left, right)));
                return combined.map(SymbolicTerm::Cases);
            }
            (a, b) => (self.as_numbers(a)?, self.as_numbers(b)?),
        };
        let (space, math) = (&self.encoding.space, self.math());
        let fault = space.or(&a.fault, &b.fault)?;
        let (a, b) = (a.number, b.number);
        let truth = match op {
            BinaryOp::Equal => math.same(&a, &b)?,
            BinaryOp::NotEqual => space.not(&math.same(&a, &b)?)?,
            BinaryOp::Less => math.less(&a, &b)?,
            BinaryOp::LessEqual => math.at_most(&a, &b)?,
            BinaryOp::Greater => math.less(&b, &a)?,
            BinaryOp::GreaterEqual => math.at_most(&b, &a)?,
            _ => {
                let (number, undefined) = self.compute(op, &a, &b)?;
                return self.exact(number, space.or(&fault, &undefined)?);
            }
        };
        self.as_cases(Truth { yes: space.minus(&truth, &fault)?, fault }).map(SymbolicTerm::Cases)
    }

    /// An operator on numbers, and where it has no result.
    fn compute(&self, op: BinaryOp, a: &BitNumber, b: &BitNumber) -> Result<(BitNumber, Bdd)> {
        let (space, math) = (&self.encoding.space, self.math());
        let by_zero = || math.equals(b, 0);
        let bad_shift = || space.not(&math.between(b, &math.constant(0), &math.constant(63))?);
        let nowhere = space.empty();
        Ok(match op {
            BinaryOp::Add => (math.add(a, b)?, nowhere),
            BinaryOp::Subtract => (math.subtract(a, b)?, nowhere),
            BinaryOp::Multiply => (math.multiply(a, b)?, nowhere),
            BinaryOp::Divide => (math.divide_euclid(a, b)?.quotient, by_zero()?),
            BinaryOp::Remainder => (math.divide_euclid(a, b)?.rest, by_zero()?),
            BinaryOp::Min => (math.min(a, b)?, nowhere),
            BinaryOp::Max => (math.max(a, b)?, nowhere),
            BinaryOp::Machine(MachineOp::Quotient) => (math.divide_cut(a, b)?.quotient, by_zero()?),
            BinaryOp::Machine(MachineOp::Rest) => (math.divide_cut(a, b)?.rest, by_zero()?),
            BinaryOp::Machine(MachineOp::BitAnd) => (math.bitwise(a, b, |a, b| space.and(a, b))?, nowhere),
            BinaryOp::Machine(MachineOp::BitOr) => (math.bitwise(a, b, |a, b| space.or(a, b))?, nowhere),
            BinaryOp::Machine(MachineOp::BitXor) => {
                (math.bitwise(a, b, |a, b| space.not(&space.same(a, b)?))?, nowhere)
            }
            BinaryOp::Machine(MachineOp::ShiftLeft) => (math.shift(a, b, Shift::Left)?, bad_shift()?),
            BinaryOp::Machine(MachineOp::ShiftRight) => (math.shift(a, b, Shift::Right)?, bad_shift()?),
            other => unreachable!("{other:?} computes no number"),
        })
    }

    /// A number, which is a fault beyond 64 bits.
    fn exact(&self, number: BitNumber, fault: Bdd) -> Result<SymbolicTerm> {
        let space = &self.encoding.space;
        let beyond = space.not(&self.math().fits(&number)?)?;
        Ok(SymbolicTerm::Numbers(StateNumbers { number, fault: space.or(&fault, &beyond)? }))
    }

    /// A term as bits; what is no number is a fault.
    pub fn as_numbers(&self, term: SymbolicTerm) -> Result<StateNumbers> {
        let cases = match term {
            SymbolicTerm::Numbers(numbers) => return Ok(numbers),
            SymbolicTerm::Cases(cases) => cases,
        };
        let space = &self.encoding.space;
        let none = cases.values.iter().filter(|(value, _)| as_number(**value).is_none()).map(|(_, states)| states);
        let fault = space.or(&cases.fault, &space.any(none)?)?;
        let numbers = cases.values.iter().filter_map(|(value, states)| Some((as_number(*value)?, states)));
        Ok(StateNumbers { number: self.math().of_cases(numbers)?, fault })
    }

    /// A number by cases, for some values; elsewhere it is a fault.
    pub fn enumerated(&self, numbers: &StateNumbers, values: impl IntoIterator<Item = i64>) -> Result<ValueCases> {
        let (space, math) = (&self.encoding.space, self.math());
        let mut cases = ValueCases { values: BTreeMap::new(), fault: space.all() };
        for value in values {
            let states = space.minus(&math.equals(&numbers.number, i128::from(value))?, &numbers.fault)?;
            if !states.is_empty() {
                cases.fault = space.minus(&cases.fault, &states)?;
                cases.values.insert(Value::Int(value), states);
            }
        }
        Ok(cases)
    }

    /// Arithmetic on the numbers of this program.
    pub fn math(&self) -> BitArithmetic<'_> {
        BitArithmetic { space: &self.encoding.space }
    }

    /// An expression that yields few values: a process, a value of an enumeration.
    fn cases(&mut self, expr: &Expr) -> Result<ValueCases> {
        match self.term(expr)? {
            SymbolicTerm::Cases(cases) => Ok(cases),
            SymbolicTerm::Numbers(_) => unreachable!("front-ends check types: a number is no process"),
        }
    }

    /// For each cell that an access can mean, the states in which it does; a fault where an index is outside.
    /// Cells appear as numbers, their positions in the Model.
    pub fn locate(&mut self, access: &Access) -> Result<ValueCases> {
        let var = &self.model.vars[access.var];
        let mut located = match (&access.whose, var.storage) {
            (Whose::Shared, _) => self.always(Value::Int(var.offset as i64)),
            (Whose::Mine, _) => {
                let me = self.me.expect("front-ends use `Mine` in process text");
                self.always(Value::Int((self.model.processes[me].first_cell + var.offset) as i64))
            }
            (Whose::Of(who), Storage::Public(family) | Storage::Local(family)) => {
                let model = self.model;
                let who = match self.term(who)? {
                    SymbolicTerm::Cases(cases) => cases,
                    SymbolicTerm::Numbers(numbers) => {
                        let members = model.families[family].processes();
                        self.enumerated(&numbers, members.map(|process| model.processes[process].index))?
                    }
                };
                self.map(who, |value| {
                    let process = match value {
                        Value::Process(process) if model.processes[process].family == family => process,
                        Value::Int(index) => model.families[family].process_at(index)?,
                        _ => return None,
                    };
                    Some(Value::Int((model.processes[process].first_cell + var.offset) as i64))
                })?
            }
            (Whose::Of(_) | Whose::Frame, _) => unreachable!("programs with procedures are refused before"),
        };
        let mut stride = var.ty.n_cells() as i64;
        for (index, len) in access.indices.iter().zip(var.ty.dimensions()) {
            stride /= len.max(1) as i64;
            let index = match self.term(index)? {
                SymbolicTerm::Cases(cases) => cases,
                SymbolicTerm::Numbers(numbers) => self.enumerated(&numbers, 0..len as i64)?,
            };
            located = self.choose(located, |this, base| {
                this.map(index.clone(), |at| {
                    let at = as_number(at).filter(|&at| 0 <= at && at < len as i64)?;
                    Some(Value::Int(as_number(base)? + at * stride))
                })
            })?;
        }
        Ok(located)
    }

    /// The values of a variable's domain, which does not depend on the state; `None` where its bounds are a fault.
    pub fn domain(&mut self, domain: &Domain) -> Result<Option<Vec<Value>>> {
        let model = self.model;
        Ok(Some(match domain {
            Domain::Family(family) => model.families[*family].processes().map(Value::Process).collect(),
            Domain::Enum(id) => (0..model.enums[*id].values.len()).map(|at| Value::Enum(*id, at as u32)).collect(),
            Domain::Range(lo, hi) => match (self.constant(lo)?, self.constant(hi)?) {
                (Some(lo), Some(hi)) if i128::from(hi) - i128::from(lo) >= MOST_ROUNDS => {
                    return Err(NoDiagram::TooManyRounds);
                }
                (Some(lo), Some(hi)) => (lo..=hi).map(Value::Int).collect(),
                _ => return Ok(None),
            },
        }))
    }

    /// The value of a bound, which front-ends make the same in all states.
    fn constant(&mut self, expr: &Expr) -> Result<Option<i64>> {
        Ok(match self.term(expr)? {
            SymbolicTerm::Cases(cases) => cases.values.keys().next().copied().and_then(as_number),
            SymbolicTerm::Numbers(numbers) => numbers.number.constant().and_then(|value| i64::try_from(value).ok()),
        })
    }

    fn content(&self, cell: Value) -> Result<SymbolicTerm> {
        let cell = CellId::new(as_number(cell).expect("cells appear as numbers") as usize);
        self.touched.borrow_mut().insert(cell);
        let nowhere = self.encoding.space.empty();
        match self.known.get(&cell) {
            Some(KnownContent::Value(value)) => return Ok(SymbolicTerm::Cases(self.always(*value))),
            Some(KnownContent::Number(number)) => {
                return Ok(SymbolicTerm::Numbers(StateNumbers { number: number.as_ref().clone(), fault: nowhere }));
            }
            None => {}
        }
        if self.encoding.is_wide(cell) {
            return Ok(SymbolicTerm::Numbers(StateNumbers { number: self.encoding.number(cell)?, fault: nowhere }));
        }
        let values = self.encoding.values(cell);
        let values =
            values.map(|(position, value)| Ok((value, self.encoding.equals(FieldContent::Cell(cell), position)?)));
        Ok(SymbolicTerm::Cases(ValueCases { values: values.collect::<Result<_>>()?, fault: nowhere }))
    }

    fn quantified(&mut self, quantified: &Quantified) -> Result<Truth> {
        let space = &self.encoding.space;
        let all = quantified.quantifier == Quantifier::Forall;
        let start = Truth { yes: if all { space.all() } else { space.empty() }, fault: space.empty() };
        self.instances(quantified, start, |this, so_far, kept, body| {
            // An instance that the filter leaves out is as good as one that decides nothing.
            match all {
                true => {
                    let left_out = this.negate(kept)?;
                    let instance = this.either(left_out, body)?;
                    this.both(so_far, instance)
                }
                false => {
                    let instance = this.both(kept, body)?;
                    this.either(so_far, instance)
                }
            }
        })
    }

    fn count(&mut self, quantified: &Quantified) -> Result<ValueCases> {
        let zero = self.always(Value::Int(0));
        self.instances(quantified, zero, |this, so_far, kept, body| {
            let counted = this.both(kept, body)?;
            let counted = this.as_cases(counted)?;
            this.choose(so_far, |this, sum| {
                this.map(counted.clone(), |hit| Some(Value::Int(as_number(sum)? + i64::from(hit == Value::Bool(true)))))
            })
        })
    }

    /// Folds over the instances of a quantifier in order, with the filter's and the body's truth.
    fn instances<T>(
        &mut self,
        quantified: &Quantified,
        start: T,
        mut fold: impl FnMut(&mut Self, T, Truth, Truth) -> Result<T>,
    ) -> Result<T> {
        let depth = self.bound.len();
        let result = self.instances_from(&quantified.bindings, quantified, start, &mut fold);
        self.bound.truncate(depth);
        result
    }

    fn instances_from<T>(
        &mut self,
        bindings: &[Binding],
        quantified: &Quantified,
        so_far: T,
        fold: &mut impl FnMut(&mut Self, T, Truth, Truth) -> Result<T>,
    ) -> Result<T> {
        let Some((binding, inner)) = bindings.split_first() else {
            let always = Truth { yes: self.encoding.space.all(), fault: self.encoding.space.empty() };
            let kept = quantified.filter.as_ref().map_or(Ok(always), |filter| self.truth(filter))?;
            // A filter does not read the state: where it is false there is nothing to build.
            let body = match kept.yes.is_empty() {
                true => Truth { yes: self.encoding.space.empty(), fault: self.encoding.space.empty() },
                false => self.truth(&quantified.body)?,
            };
            return fold(self, so_far, kept, body);
        };
        let depth = binding.var.0 as usize;
        let Some(values) = self.domain(&binding.domain)? else {
            // An instance that is a fault.
            let (all, empty) = (self.encoding.space.all(), self.encoding.space.empty());
            let kept = Truth { yes: all.clone(), fault: empty.clone() };
            return fold(self, so_far, kept, Truth { yes: empty, fault: all });
        };
        values.into_iter().try_fold(so_far, |so_far, value| {
            self.bound.truncate(depth);
            self.bound.push(value);
            self.instances_from(inner, quantified, so_far, fold)
        })
    }

    fn always(&self, value: Value) -> ValueCases {
        let space = &self.encoding.space;
        ValueCases { values: BTreeMap::from([(value, space.all())]), fault: space.empty() }
    }

    /// Each value by a function; a fault where there is none.
    fn map(&self, cases: ValueCases, function: impl Fn(Value) -> Option<Value>) -> Result<ValueCases> {
        let space = &self.encoding.space;
        let mut mapped = ValueCases { values: BTreeMap::new(), fault: cases.fault };
        for (value, when) in cases.values {
            let target = match function(value) {
                Some(value) => mapped.values.entry(value).or_insert_with(|| space.empty()),
                None => &mut mapped.fault,
            };
            *target = space.or(target, &when)?;
        }
        Ok(mapped)
    }

    /// For each value the cases that follow from it.
    fn choose(
        &mut self,
        cases: ValueCases,
        mut then: impl FnMut(&mut Self, Value) -> Result<ValueCases>,
    ) -> Result<ValueCases> {
        let mut chosen = ValueCases { values: BTreeMap::new(), fault: cases.fault };
        for (value, when) in cases.values {
            let following = then(self, value)?;
            self.include(&mut chosen, &when, following)?;
        }
        Ok(chosen)
    }

    /// For each value the term that follows from it.
    fn choose_term(
        &mut self,
        cases: ValueCases,
        mut then: impl FnMut(&mut Self, Value) -> Result<SymbolicTerm>,
    ) -> Result<SymbolicTerm> {
        let mut found = Vec::new();
        for (value, when) in cases.values {
            found.push((when, then(self, value)?));
        }
        if found.iter().all(|(_, term)| matches!(term, SymbolicTerm::Cases(_))) {
            let mut chosen = ValueCases { values: BTreeMap::new(), fault: cases.fault };
            for (when, term) in found {
                let SymbolicTerm::Cases(following) = term else { unreachable!("all are cases") };
                self.include(&mut chosen, &when, following)?;
            }
            return Ok(SymbolicTerm::Cases(chosen));
        }
        let space = &self.encoding.space;
        let mut chosen = StateNumbers { number: self.math().constant(0), fault: cases.fault };
        for (when, term) in found {
            let following = self.as_numbers(term)?;
            chosen.fault = space.or(&chosen.fault, &space.and(&when, &following.fault)?)?;
            chosen.number = self.math().select(&when, &following.number, &chosen.number)?;
        }
        Ok(SymbolicTerm::Numbers(chosen))
    }

    /// Adds cases on some states.
    fn include(&self, chosen: &mut ValueCases, when: &Bdd, following: ValueCases) -> Result<()> {
        let space = &self.encoding.space;
        chosen.fault = space.or(&chosen.fault, &space.and(when, &following.fault)?)?;
        for (value, also) in following.values {
            let both = space.and(when, &also)?;
            if !both.is_empty() {
                let target = chosen.values.entry(value).or_insert_with(|| space.empty());
                *target = space.or(target, &both)?;
            }
        }
        Ok(())
    }

    /// Where it is false, too.
    pub fn as_cases(&self, truth: Truth) -> Result<ValueCases> {
        let no = self.negate(truth.clone())?.yes;
        let values = [(Value::Bool(true), truth.yes), (Value::Bool(false), no)];
        Ok(ValueCases { values: values.into_iter().filter(|(_, when)| !when.is_empty()).collect(), fault: truth.fault })
    }

    fn negate(&self, truth: Truth) -> Result<Truth> {
        let space = &self.encoding.space;
        let decided = space.or(&truth.yes, &truth.fault)?;
        Ok(Truth { yes: space.not(&decided)?, fault: truth.fault })
    }

    /// `a && b`: `b` does not count where `a` is false.
    fn both(&self, a: Truth, b: Truth) -> Result<Truth> {
        let space = &self.encoding.space;
        let late = space.and(&a.yes, &b.fault)?;
        Ok(Truth { yes: space.and(&a.yes, &b.yes)?, fault: space.or(&a.fault, &late)? })
    }

    /// `a || b`: `b` does not count where `a` is true.
    fn either(&self, a: Truth, b: Truth) -> Result<Truth> {
        let space = &self.encoding.space;
        let decided = space.or(&a.yes, &a.fault)?;
        let (yes, fault) = (space.minus(&b.yes, &decided)?, space.minus(&b.fault, &decided)?);
        Ok(Truth { yes: space.or(&a.yes, &yes)?, fault: space.or(&a.fault, &fault)? })
    }
}

/// Whether values are numbers; all of an expression's values are of one kind.
fn is_number(cases: &ValueCases) -> bool {
    cases.values.keys().any(|value| matches!(value, Value::Int(_)))
}

/// A number, or `None` for what is none.
fn as_number(value: Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

/// A strict operator on two values; `None` is a fault.
fn apply(op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let numbers = || Some((as_number(a)?, as_number(b)?));
    let compare = |test: fn(&i64, &i64) -> bool| numbers().map(|(a, b)| Value::Bool(test(&a, &b)));
    let compute = |function: fn(i64, i64) -> Option<i64>| numbers().and_then(|(a, b)| function(a, b)).map(Value::Int);
    match op {
        BinaryOp::Iff | BinaryOp::Equal => Some(Value::Bool(a == b)),
        BinaryOp::NotEqual => Some(Value::Bool(a != b)),
        BinaryOp::Less => compare(i64::lt),
        BinaryOp::LessEqual => compare(i64::le),
        BinaryOp::Greater => compare(i64::gt),
        BinaryOp::GreaterEqual => compare(i64::ge),
        BinaryOp::Add => compute(i64::checked_add),
        BinaryOp::Subtract => compute(i64::checked_sub),
        BinaryOp::Multiply => compute(i64::checked_mul),
        BinaryOp::Divide => compute(i64::checked_div_euclid),
        // Only i64::MIN % -1 wraps, and its exact result is the wrapped one, 0.
        BinaryOp::Remainder => compute(|a, b| (b != 0).then(|| a.wrapping_rem_euclid(b))),
        BinaryOp::Min => compute(|a, b| Some(a.min(b))),
        BinaryOp::Max => compute(|a, b| Some(a.max(b))),
        BinaryOp::Machine(op) => numbers().and_then(|(a, b)| op.apply(a, b).ok()).map(Value::Int),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => {
            unreachable!("these stop early and are no strict operators")
        }
    }
}
