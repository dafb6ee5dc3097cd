//! Values of expressions as partitions of states: for each value, the states in which the expression has it.
//!
//! In: an expression, who evaluates it, and the states of interest. Out: cases, each a value, a number of many bits or a fault with
//! its states; they are disjoint, and together all states of interest except those in which something is read that no
//! column shows. This follows `model::eval` rule by rule, from left to right with early stops, and shares nothing with any
//! engine's encoding. Every column that is read is noted with the states in which it is.

use std::collections::BTreeMap;
use std::hash::Hash;

use biodivine_lib_bdd::Bdd;
use evidence::certificate::Column;
use model::Model;
use model::control::PlaceId;
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::value::{Fault, Value};
use model::variable::{CellId, Role, VarId};
use rustc_hash::FxHashMap;

use super::algebra::Algebra;
use super::content::{
    Content, Yield, as_number, as_process, combine, is_numeric, is_true, myself, number, plain, position, to_process,
    truth_of,
};
use super::variables::Variables;
use super::word::{Word, Words};
use crate::certificate::Outcome;
use crate::certificate::numbering::Numbering;

/// A partition of states.
pub(super) struct Cases<T> {
    items: Vec<(T, Bdd)>,
    positions: FxHashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Cases<T> {
    pub fn new() -> Self {
        Cases { items: Vec::new(), positions: FxHashMap::default() }
    }

    /// One case for all.
    pub fn always(what: T, states: Bdd) -> Self {
        Cases { positions: FxHashMap::from_iter([(what.clone(), 0)]), items: vec![(what, states)] }
    }

    /// Adds states to a case.
    pub fn add(&mut self, what: T, states: Bdd, algebra: &Algebra<'_>) -> Outcome<()> {
        if states.is_false() {
            return Ok(());
        }
        match self.positions.get(&what) {
            Some(&at) => self.items[at].1 = algebra.or(&self.items[at].1, &states)?,
            None => {
                self.positions.insert(what.clone(), self.items.len());
                self.items.push((what, states));
            }
        }
        Ok(())
    }
}

impl<T> IntoIterator for Cases<T> {
    type Item = (T, Bdd);
    type IntoIter = std::vec::IntoIter<(T, Bdd)>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

/// What is fixed while an expression is evaluated.
#[derive(Clone, Default)]
pub(super) struct Scene {
    /// The process that evaluates, if one does.
    pub me: Option<ProcessId>,
    /// The values of the bound variables, outermost first.
    pub bound: Vec<Value>,
    /// The cells whose contents are known: counters, and what was written in the same step.
    pub cells: BTreeMap<CellId, Content>,
    /// The processes whose places are known.
    pub places: BTreeMap<ProcessId, PlaceId>,
}

/// An access to a cell, with the states in which it happens.
#[derive(Clone)]
pub(super) struct Touched {
    pub process: ProcessId,
    pub cell: CellId,
    pub writes: bool,
    pub states: Bdd,
}

/// Evaluates expressions.
pub(super) struct Evaluator<'a> {
    pub numbering: &'a Numbering<'a>,
    pub variables: &'a Variables,
    pub algebra: &'a Algebra<'a>,
    /// The columns that were read or changed, with the states in which they were.
    pub footprint: BTreeMap<Column, Bdd>,
    /// The variable whose touches are noted.
    pub watched: Option<VarId>,
    /// The touches of the watched variable.
    pub touched: Vec<Touched>,
}

/// The states in which a boolean expression is true, and those in which it is false.
pub(super) struct Truth {
    pub yes: Bdd,
    pub no: Bdd,
    pub faults: Vec<(Fault, Bdd)>,
}

impl<'a> Evaluator<'a> {
    pub fn model(&self) -> &'a Model {
        self.numbering.model
    }

    /// The values of an expression.
    pub fn value(&mut self, expr: &Expr, scene: &Scene, under: &Bdd) -> Outcome<Cases<Yield>> {
        if under.is_false() {
            return Ok(Cases::new());
        }
        match &expr.kind {
            ExprKind::Const(value) => Ok(Cases::always(Ok(Content::Value(*value)), under.clone())),
            ExprKind::Parameter(id) => {
                let value = self.model().parameters[*id].value;
                Ok(Cases::always(Ok(Content::Value(Value::Int(value))), under.clone()))
            }
            ExprKind::Myself => Ok(Cases::always(Ok(Content::Value(Value::Process(myself(scene)))), under.clone())),
            ExprKind::Bound(var) => Ok(Cases::always(Ok(Content::Value(scene.bound[var.0 as usize])), under.clone())),
            ExprKind::Read(access) => self.read(access, scene, under),
            ExprKind::At { who, places, .. } => self.at(who, places, scene, under),
            ExprKind::Not(inner) => self.map(inner, scene, under, |_, value| Ok(Value::Bool(!is_true(value)))),
            ExprKind::Negate(inner) => {
                let zero = Expr { kind: ExprKind::Const(Value::Int(0)), span: inner.span };
                self.binary(BinaryOp::Subtract, &zero, inner, scene, under)
            }
            ExprKind::IndexOf(inner) => self.map(inner, scene, under, |model, value| match value {
                Value::Process(id) => Ok(Value::Int(model.processes[id].index)),
                Value::None => Err(Fault::NoneUsed),
                number => Ok(number),
            }),
            ExprKind::ToProcess(family, inner) => self.as_process_of(*family, inner, scene, under),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, scene, under),
            ExprKind::If(test, yes, no) => {
                let truth = self.truth(test, scene, under)?;
                let mut cases = self.failing(truth.faults)?;
                for (branch, states) in [(yes, truth.yes), (no, truth.no)] {
                    for (value, states) in self.value(branch, scene, &states)? {
                        cases.add(value, states, self.algebra)?;
                    }
                }
                Ok(cases)
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified, scene, under),
        }
    }

    /// The truth of a boolean expression.
    pub fn truth(&mut self, expr: &Expr, scene: &Scene, under: &Bdd) -> Outcome<Truth> {
        let mut truth = Truth { yes: self.variables.empty(), no: self.variables.empty(), faults: Vec::new() };
        for (value, states) in self.value(expr, scene, under)? {
            match value {
                Ok(Content::Value(Value::Bool(true))) => truth.yes = self.algebra.or(&truth.yes, &states)?,
                Ok(Content::Value(Value::Bool(false))) => truth.no = self.algebra.or(&truth.no, &states)?,
                Ok(_) => unreachable!("front-ends check types: a number is no truth value"),
                Err(fault) => truth.faults.push((fault, states)),
            }
        }
        Ok(truth)
    }

    fn truths(&mut self, truth: Truth) -> Outcome<Cases<Yield>> {
        let mut cases = self.failing(truth.faults)?;
        cases.add(truth_of(true), truth.yes, self.algebra)?;
        cases.add(truth_of(false), truth.no, self.algebra)?;
        Ok(cases)
    }

    fn failing(&self, faults: Vec<(Fault, Bdd)>) -> Outcome<Cases<Yield>> {
        let mut cases = Cases::new();
        for (fault, states) in faults {
            cases.add(Err(fault), states, self.algebra)?;
        }
        Ok(cases)
    }

    fn map(
        &mut self,
        inner: &Expr,
        scene: &Scene,
        under: &Bdd,
        change: impl Fn(&Model, Value) -> Result<Value, Fault>,
    ) -> Outcome<Cases<Yield>> {
        let mut cases = Cases::new();
        for (value, states) in self.value(inner, scene, under)? {
            let changed = value.and_then(|content| match content {
                Content::Value(value) => change(self.model(), value).map(Content::Value),
                Content::Word(word) => Ok(Content::Word(word)),
            });
            cases.add(changed, states, self.algebra)?;
        }
        Ok(cases)
    }

    /// A number or process as a process of a family.
    fn as_process_of(&mut self, family: FamilyId, inner: &Expr, scene: &Scene, under: &Bdd) -> Outcome<Cases<Yield>> {
        let model = self.model();
        let mut cases = Cases::new();
        for (value, states) in self.value(inner, scene, under)? {
            match value {
                Ok(Content::Word(word)) => {
                    let members = &model.families[family];
                    let indices = members.processes().map(|process| model.processes[process].index);
                    let (found, rest) = self.split_word(&word, &states, indices)?;
                    for (index, states) in found {
                        let process = to_process(model, family, Value::Int(index)).map(Content::Value);
                        cases.add(process, states, self.algebra)?;
                    }
                    if let Some(index) = self.example(&word, &rest) {
                        let fault = to_process(model, family, Value::Int(index)).map(Content::Value);
                        cases.add(fault, rest, self.algebra)?;
                    }
                }
                value => {
                    let process = value.and_then(|content| to_process(model, family, plain(content)));
                    cases.add(process.map(Content::Value), states, self.algebra)?;
                }
            }
        }
        Ok(cases)
    }

    /// The states in which a word is each of some numbers, and those in which it is none of them.
    pub fn split_word(
        &self,
        word: &Word,
        states: &Bdd,
        numbers: impl IntoIterator<Item = i64>,
    ) -> Outcome<(Vec<(i64, Bdd)>, Bdd)> {
        let words = self.words();
        let (mut found, mut rest) = (Vec::new(), states.clone());
        for number in numbers {
            let same = words.equal(word, &words.constant(i128::from(number)))?;
            let there = self.algebra.and(&rest, &same)?;
            if !there.is_false() {
                rest = self.algebra.and_not(&rest, &there)?;
                found.push((number, there));
            }
        }
        Ok((found, rest))
    }

    /// The number that a word is in some state of a set, if it has one.
    pub fn example(&self, word: &Word, states: &Bdd) -> Option<i64> {
        states.sat_witness().map(|valuation| word.number(&valuation))
    }

    /// Computes with numbers of many bits.
    pub fn words(&self) -> Words<'a> {
        Words { variables: self.variables, algebra: self.algebra }
    }

    /// A number as bits.
    pub fn as_word(&self, content: &Content) -> Word {
        match content {
            Content::Word(word) => word.clone(),
            Content::Value(Value::Int(number)) => self.words().constant(i128::from(*number)),
            Content::Value(Value::Process(id)) => self.words().constant(i128::from(self.model().processes[*id].index)),
            Content::Value(other) => unreachable!("front-ends check types: {other:?} is no number"),
        }
    }

    fn at(&mut self, who: &Expr, places: &[PlaceId], scene: &Scene, under: &Bdd) -> Outcome<Cases<Yield>> {
        let mut cases = Cases::new();
        for (who, states) in self.value(who, scene, under)? {
            let process = match who.and_then(|who| as_process(plain(who))) {
                Ok(process) => process,
                Err(fault) => {
                    cases.add(Err(fault), states, self.algebra)?;
                    continue;
                }
            };
            if let Some(place) = scene.places.get(&process) {
                cases.add(truth_of(places.contains(place)), states, self.algebra)?;
                continue;
            }
            let column = Column::Control(process);
            self.note(column, &states)?;
            if !self.variables.has(column) {
                continue;
            }
            let mut there = self.variables.empty();
            for (point, number) in self.numbering.points(process).iter().zip(0..) {
                if places.contains(&point.place) {
                    there = self.algebra.or(&there, &self.variables.equals(column, number))?;
                }
            }
            cases.add(truth_of(true), self.algebra.and(&states, &there)?, self.algebra)?;
            cases.add(truth_of(false), self.algebra.and_not(&states, &there)?, self.algebra)?;
        }
        Ok(cases)
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, scene: &Scene, under: &Bdd) -> Outcome<Cases<Yield>> {
        if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Implies) {
            let Truth { yes, no, faults } = self.truth(left, scene, under)?;
            // Where the left side decides, and what it decides.
            let (open, decided, decision) = match op {
                BinaryOp::And => (yes, no, false),
                BinaryOp::Or => (no, yes, true),
                _ => (yes, no, true),
            };
            let mut truth = self.truth(right, scene, &open)?;
            truth.faults.extend(faults);
            let side = if decision { &mut truth.yes } else { &mut truth.no };
            *side = self.algebra.or(side, &decided)?;
            return self.truths(truth);
        }
        let mut cases = Cases::new();
        let mut lefts = Vec::new();
        let mut open = self.variables.empty();
        for (value, states) in self.value(left, scene, under)? {
            // A left side that is no number fails before the right side is evaluated.
            let usable = if is_numeric(op) { value.and_then(number) } else { value };
            match usable {
                Ok(value) => {
                    open = self.algebra.or(&open, &states)?;
                    lefts.push((value, states));
                }
                Err(fault) => cases.add(Err(fault), states, self.algebra)?,
            }
        }
        let mut rights = Vec::new();
        for (value, states) in self.value(right, scene, &open)? {
            match if is_numeric(op) { value.and_then(number) } else { value } {
                Ok(value) => rights.push((value, states)),
                Err(fault) => cases.add(Err(fault), states, self.algebra)?,
            }
        }
        let is_word = |(content, _): &(Content, Bdd)| matches!(content, Content::Word(_));
        if lefts.iter().chain(&rights).any(is_word) {
            self.combine_words(op, &lefts, &rights, &mut cases)?;
            return Ok(cases);
        }
        for (right, right_states) in &rights {
            for (left, left_states) in &lefts {
                let states = self.algebra.and(left_states, right_states)?;
                if !states.is_false() {
                    let value = combine(op, plain(left.clone()), plain(right.clone())).map(Content::Value);
                    cases.add(value, states, self.algebra)?;
                }
            }
        }
        Ok(cases)
    }

    /// A strict operator where one of its sides has many values: both become one number of bits.
    fn combine_words(
        &self,
        op: BinaryOp,
        lefts: &[(Content, Bdd)],
        rights: &[(Content, Bdd)],
        cases: &mut Cases<Yield>,
    ) -> Outcome<()> {
        let words = self.words();
        let one = |sides: &[(Content, Bdd)]| -> Outcome<(Word, Bdd)> {
            let parts: Vec<(Word, Bdd)> =
                sides.iter().map(|(content, states)| (self.as_word(content), states.clone())).collect();
            let all =
                parts.iter().try_fold(self.variables.empty(), |all, (_, states)| self.algebra.or(&all, states))?;
            Ok((words.together(&parts)?, all))
        };
        let ((left, left_states), (right, right_states)) = (one(lefts)?, one(rights)?);
        let mut states = self.algebra.and(&left_states, &right_states)?;
        if let Some(truth) = words.compare(op, &left, &right)? {
            cases.add(truth_of(true), self.algebra.and(&states, &truth)?, self.algebra)?;
            return cases.add(truth_of(false), self.algebra.and_not(&states, &truth)?, self.algebra);
        }
        let computed = words.compute(op, &left, &right)?;
        for (fault, failing) in computed.faults {
            cases.add(Err(fault), self.algebra.and(&states, &failing)?, self.algebra)?;
            states = self.algebra.and_not(&states, &failing)?;
        }
        cases.add(Ok(Content::Word(computed.word)), states, self.algebra)
    }

    fn quantified(&mut self, quantified: &Quantified, scene: &Scene, under: &Bdd) -> Outcome<Cases<Yield>> {
        let stop_at = match quantified.quantifier {
            Quantifier::Forall => Some(false),
            Quantifier::Exists => Some(true),
            Quantifier::Count => None,
        };
        let mut tally =
            Tally { stop_at, stopped: self.variables.empty(), counts: vec![under.clone()], faults: Vec::new() };
        let open = self.instances(quantified, &quantified.bindings, scene, under, &mut tally)?;
        if let Some(stop_at) = stop_at {
            let (yes, no) = if stop_at { (tally.stopped, open) } else { (open, tally.stopped) };
            return self.truths(Truth { yes, no, faults: tally.faults });
        }
        let mut cases = self.failing(tally.faults)?;
        for (states, count) in tally.counts.into_iter().zip(0..) {
            let count = Content::Value(Value::Int(count));
            cases.add(Ok(count), self.algebra.and(&states, &open)?, self.algebra)?;
        }
        Ok(cases)
    }

    /// Evaluates the instances in order; the states in which none of them ended the evaluation.
    fn instances(
        &mut self,
        quantified: &Quantified,
        bindings: &[Binding],
        scene: &Scene,
        under: &Bdd,
        tally: &mut Tally,
    ) -> Outcome<Bdd> {
        let Some((binding, inner)) = bindings.split_first() else {
            return self.instance(quantified, scene, under, tally);
        };
        let mut done = self.variables.empty();
        for (values, states) in self.domain(&binding.domain, scene, under, &mut tally.faults)? {
            let mut open = states;
            let mut next = values.first().copied();
            while let Some(value) = next {
                if open.is_false() {
                    break;
                }
                let mut scene = scene.clone();
                scene.bound.truncate(binding.var.0 as usize);
                scene.bound.push(value);
                open = self.instances(quantified, inner, &scene, &open, tally)?;
                next = values.after(value);
            }
            done = self.algebra.or(&done, &open)?;
        }
        Ok(done)
    }

    fn instance(&mut self, quantified: &Quantified, scene: &Scene, under: &Bdd, tally: &mut Tally) -> Outcome<Bdd> {
        let (mut meant, mut open) = (under.clone(), self.variables.empty());
        if let Some(filter) = &quantified.filter {
            let truth = self.truth(filter, scene, under)?;
            tally.faults.extend(truth.faults);
            (meant, open) = (truth.yes, truth.no);
        }
        let Truth { yes, no, faults } = self.truth(&quantified.body, scene, &meant)?;
        tally.faults.extend(faults);
        match tally.stop_at {
            Some(stop_at) => {
                let (stop, on) = if stop_at { (yes, no) } else { (no, yes) };
                tally.stopped = self.algebra.or(&tally.stopped, &stop)?;
                self.algebra.or(&open, &on)
            }
            None => {
                // One more in the states in which the instance holds.
                let mut counts = vec![self.variables.empty(); tally.counts.len() + 1];
                for (at, states) in tally.counts.iter().enumerate() {
                    counts[at] = self.algebra.or(&counts[at], &self.algebra.and_not(states, &yes)?)?;
                    counts[at + 1] = self.algebra.and(states, &yes)?;
                }
                if counts.last().is_some_and(Bdd::is_false) {
                    counts.pop();
                }
                tally.counts = counts;
                let on = self.algebra.or(&yes, &no)?;
                self.algebra.or(&open, &on)
            }
        }
    }

    /// The values of a domain; where its bounds depend on the state, in each case.
    pub fn domain(
        &mut self,
        domain: &Domain,
        scene: &Scene,
        under: &Bdd,
        faults: &mut Vec<(Fault, Bdd)>,
    ) -> Outcome<Vec<(Values, Bdd)>> {
        let model = self.model();
        match domain {
            Domain::Family(family) => {
                let mut processes = model.families[*family].processes().map(Value::Process);
                let first = processes.next();
                Ok(vec![(Values(first.map(|first| (first, processes.last().unwrap_or(first)))), under.clone())])
            }
            Domain::Enum(id) => {
                let last = (model.enums[*id].values.len() as u32).checked_sub(1);
                Ok(vec![(Values(last.map(|last| (Value::Enum(*id, 0), Value::Enum(*id, last)))), under.clone())])
            }
            Domain::Range(lo, hi) => {
                let mut found = Vec::new();
                for (lo, states) in self.value(lo, scene, under)? {
                    let lo = match lo.and_then(|lo| as_number(plain(lo))) {
                        Ok(lo) => lo,
                        Err(fault) => {
                            faults.push((fault, states));
                            continue;
                        }
                    };
                    for (hi, states) in self.value(hi, scene, &states)? {
                        match hi.and_then(|hi| as_number(plain(hi))) {
                            Ok(hi) => {
                                let ends = (lo <= hi).then_some((Value::Int(lo), Value::Int(hi)));
                                found.push((Values(ends), states));
                            }
                            Err(fault) => faults.push((fault, states)),
                        }
                    }
                }
                Ok(found)
            }
        }
    }

    fn read(&mut self, access: &Access, scene: &Scene, under: &Bdd) -> Outcome<Cases<Yield>> {
        let mut cases = Cases::new();
        for (cell, states) in self.locate(access, scene, under)? {
            match cell {
                Err(fault) => cases.add(Err(fault), states, self.algebra)?,
                Ok(cell) => {
                    for (content, states) in self.load(cell, scene, &states)? {
                        cases.add(Ok(content), states, self.algebra)?;
                    }
                }
            }
        }
        Ok(cases)
    }

    /// The cells to which an access leads.
    pub fn locate(&mut self, access: &Access, scene: &Scene, under: &Bdd) -> Outcome<Cases<Result<CellId, Fault>>> {
        let model = self.model();
        let mut found = Cases::new();
        let owners: Vec<(Result<Option<ProcessId>, Fault>, Bdd)> = match &access.whose {
            Whose::Shared => vec![(Ok(None), under.clone())],
            Whose::Mine => vec![(Ok(Some(myself(scene))), under.clone())],
            Whose::Frame => unreachable!("programs with procedures are refused"),
            Whose::Of(who) => {
                let cases = self.value(who, scene, under)?.into_iter();
                cases.map(|(who, states)| (who.and_then(|who| as_process(plain(who))).map(Some), states)).collect()
            }
        };
        let dimensions = model.vars[access.var].ty.dimensions();
        for (owner, states) in owners {
            let owner = match owner {
                Ok(owner) => owner,
                Err(fault) => {
                    found.add(Err(fault), states, self.algebra)?;
                    continue;
                }
            };
            let mut offsets: Cases<usize> = Cases::always(0, states);
            for (index, &len) in access.indices.iter().zip(&dimensions) {
                let mut longer = Cases::new();
                for (offset, states) in offsets {
                    for (index, states) in self.value(index, scene, &states)? {
                        for (index, states) in self.indices(index, states, len)? {
                            match index.and_then(|index| position(model, access.var, index, len)) {
                                Ok(at) => longer.add(offset * len + at, states, self.algebra)?,
                                Err(fault) => found.add(Err(fault), states, self.algebra)?,
                            }
                        }
                    }
                }
                offsets = longer;
            }
            for (offset, states) in offsets {
                let cell = model.cells_of(access.var, owner).nth(offset).expect("indices were checked");
                found.add(Ok(cell), states, self.algebra)?;
            }
        }
        Ok(found)
    }

    /// What an index can be: one of many values by itself where it is inside, and outside some number that is.
    fn indices(&self, index: Yield, states: Bdd, len: usize) -> Outcome<Vec<(Result<i64, Fault>, Bdd)>> {
        let word = match index {
            Ok(Content::Word(word)) => word,
            index => return Ok(vec![(index.and_then(|index| as_number(plain(index))), states)]),
        };
        let (found, rest) = self.split_word(&word, &states, 0..len as i64)?;
        let outside = self.example(&word, &rest).map(|index| (Ok(index), rest));
        Ok(found.into_iter().map(|(index, states)| (Ok(index), states)).chain(outside).collect())
    }

    /// The contents of a cell.
    pub fn load(&mut self, cell: CellId, scene: &Scene, under: &Bdd) -> Outcome<Vec<(Content, Bdd)>> {
        self.touch(cell, false, scene, under)?;
        if let Some(content) = scene.cells.get(&cell) {
            return Ok(vec![(content.clone(), under.clone())]);
        }
        let column = Column::Cell(cell);
        if !self.variables.has(column) {
            return Ok(Vec::new());
        }
        if self.variables.is_wide(column) {
            // Numbers beyond the type have no meaning.
            let states = self.algebra.and(under, &self.variables.valid(column, self.algebra)?)?;
            let word = self.words().above(self.least(cell), self.variables.of(column))?;
            return Ok(vec![(Content::Word(word), states)]);
        }
        let mut found = Vec::new();
        let size = self.numbering.n_values(column);
        self.split(column, 0, (0, under.clone()), &mut |number, states| {
            // Numbers beyond the type have no meaning.
            if u128::from(number) < size {
                found.push((number, states));
            }
        })?;
        let content = |number: u32| Content::Value(self.numbering.value_of(cell, number));
        Ok(found.into_iter().map(|(number, states)| (content(number), states)).collect())
    }

    /// The least number of a cell.
    pub fn least(&self, cell: CellId) -> i64 {
        match self.numbering.value_of(cell, 0_u32) {
            Value::Int(least) => least,
            other => unreachable!("only numbers have many values, not {other:?}"),
        }
    }

    /// Splits states by the number of a column, bit by bit.
    fn split(
        &self,
        column: Column,
        bit: usize,
        (number, states): (u32, Bdd),
        found: &mut dyn FnMut(u32, Bdd),
    ) -> Outcome<()> {
        if states.is_false() {
            return Ok(());
        }
        let Some(&variable) = self.variables.of(column).get(bit) else {
            found(number, states);
            return Ok(());
        };
        for (set, literal) in [(0, false), (1, true)] {
            let half = states.var_select(variable, literal);
            self.split(column, bit + 1, (number << 1 | set, half), found)?;
        }
        Ok(())
    }

    /// Notes that a cell is read or changed. Counters are part of control.
    pub fn touch(&mut self, cell: CellId, writes: bool, scene: &Scene, states: &Bdd) -> Outcome<()> {
        let var = self.model().cells[cell].var;
        if let (Some(process), true) = (scene.me, self.watched == Some(var)) {
            self.touched.push(Touched { process, cell, writes, states: states.clone() });
        }
        if matches!(self.model().vars[var].role, Role::Counter(_)) {
            return Ok(());
        }
        self.note(Column::Cell(cell), states)
    }

    fn note(&mut self, column: Column, states: &Bdd) -> Outcome<()> {
        let noted = match self.footprint.get(&column) {
            Some(before) => self.algebra.or(before, states)?,
            None => states.clone(),
        };
        self.footprint.insert(column, noted);
        Ok(())
    }
}

/// What is known of a quantifier while its instances are evaluated.
struct Tally {
    /// The truth of an instance that ends the look.
    stop_at: Option<bool>,
    /// The states in which it ended.
    stopped: Bdd,
    /// For each number of instances that hold, the states in which it is that many so far.
    counts: Vec<Bdd>,
    faults: Vec<(Fault, Bdd)>,
}

/// The values from a first to a last one, or none.
pub(super) struct Values(pub Option<(Value, Value)>);

impl Values {
    /// The first value.
    pub fn first(&self) -> Option<&Value> {
        self.0.as_ref().map(|(first, _)| first)
    }

    /// The value after this one.
    pub fn after(&self, value: Value) -> Option<Value> {
        let (_, last) = self.0?;
        (value != last).then(|| match value {
            Value::Int(number) => Value::Int(number + 1),
            Value::Process(id) => Value::Process(ProcessId::new(id.index() + 1)),
            Value::Enum(id, at) => Value::Enum(id, at + 1),
            Value::Bool(_) | Value::None => unreachable!("no domain has {value:?}"),
        })
    }
}
