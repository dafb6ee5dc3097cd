//! Compiled expressions: terms over the fields of a packed state.
//!
//! A [`Term`] computes a number (see [`crate::packing`] for how values are coded) or a fault. Terms are in one pool, each
//! once, and name their parts by position; a term is evaluated by a plain recursion that neither allocates nor calls
//! through pointers. What an expression is in the language is gone: own index, loop counters and bound variables are
//! constants, quantifiers are lists (or, where they would be too long, loops over a register).
//!
//! `build.rs`, `operators.rs` and `connect.rs` make terms and fold what is constant; `optimise.rs` turns lists of tests into
//! comparisons of whole words; evaluation is here.

mod arithmetic;
mod build;
mod connect;
mod operators;
mod optimise;
mod pairs;

use std::cell::Cell;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::packing::Field;

pub use arithmetic::ArithmeticOp;

/// Names a term of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u32);

/// Names a list of terms of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListId {
    first: u32,
    len: u32,
}

/// Names a computed location of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocatorId(u32);

/// The evaluation has an error of the program. Which one it is, `model::eval` says on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faulty;

/// A number, or an error of the program.
pub type TermValue = Result<i64, Faulty>;

/// A compiled expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A constant.
    Const(i64),
    /// Always a fault.
    Fault,
    /// The content of a field.
    Read(Field),
    /// The content of the field at a computed location.
    ReadAt(LocatorId),
    /// The content of the field whose location is in a register.
    ReadLocated(u32),
    /// A register.
    Register(u32),
    /// Whether the content of a field of at most 6 bits, less its base, is in a set of bits.
    In(Field, u64),
    /// Whether the content of a field, less its base, is in the set that begins at this position of `TermPool::sets`.
    InSet(Field, u32),
    /// What `TermPool::values` has at this position plus the content of a field less its base.
    Lookup(Field, u32),
    /// Whether all tests of words hold.
    Masked(ListId),
    /// Whether some test of a word fails.
    NotMasked(ListId),
    /// Whether all hold, up to the first that does not.
    And(ListId),
    /// Whether one holds, up to the first that does.
    Or(ListId),
    /// Whether at most one holds; none of them can be a fault.
    AtMostOne(ListId),
    /// How many hold.
    Count(ListId),
    /// Whether it does not hold.
    Not(TermId),
    /// A comparison or arithmetic.
    Binary(ArithmeticOp, TermId, TermId),
    /// The negative.
    Negate(TermId),
    /// The second where the first holds, else the third.
    If(TermId, TermId, TermId),
    /// The index of a process; of `none`, a fault.
    IndexOf(TermId),
    /// The process of the range whose index is the number, where the first one's is given; else a fault.
    ProcessAt(TermId, i64, ProcessRange),
    /// The process itself if it is in the range, or `none`; else a fault.
    ProcessWithin(TermId, ProcessRange),
    /// The term of the list that the process picks; a fault where it is `none`.
    Pick(TermId, ListId),
    /// A quantifier over too many values to make a list of.
    Quantified(u32),
}

/// The numbers of the processes of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessRange {
    /// That of the first.
    pub first: i64,
    /// That of the last.
    pub last: i64,
}

/// A test of one word: `word & mask == value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WordTest {
    /// Which word.
    pub word: u32,
    /// The bits that matter.
    pub mask: u64,
    /// What they are to be.
    pub value: u64,
}

impl WordTest {
    /// A test that always holds.
    pub const TRUE: WordTest = WordTest { word: 0, mask: 0, value: 0 };

    /// Whether the state passes.
    pub fn holds(self, state: &[u64]) -> bool {
        state[self.word as usize] & self.mask == self.value
    }
}

/// A location that depends on the state: a row of fields and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Locator {
    /// The location of the first element; that of a variable within its process's cells where there is an owner.
    pub first: u32,
    /// The process whose copy is meant.
    pub owner: Option<TermId>,
    /// For each dimension the index and the length.
    pub indices: Vec<(TermId, usize)>,
}

/// An element of a row whose index is the content of a field.
#[derive(Clone, Copy, Debug)]
struct RowElement {
    first: u32,
    len: u32,
    index: Field,
}

/// A quantifier that is evaluated by running through its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantification {
    /// What becomes of the body.
    pub quantifier: model::expr::Quantifier,
    /// The register of the bound variable.
    pub register: u32,
    /// The first and the last value.
    pub ends: (TermId, TermId),
    /// The body; instances that are left out make it true for `forall` and false for the others. For `count`, a number.
    pub body: TermId,
}

/// What terms read: a state, and registers that evaluation itself uses.
#[derive(Clone, Copy)]
pub struct TermInput<'a> {
    /// The state.
    pub state: &'a [u64],
    /// The registers.
    pub registers: &'a [Cell<i64>],
}

/// A pool of terms.
#[derive(Default)]
pub struct TermPool {
    terms: Vec<Term>,
    /// What is known about each term.
    facts: Vec<TermFacts>,
    ids: HashMap<Term, TermId, FxBuildHasher>,
    /// The terms of all lists; for `Masked`, positions in `tests`.
    listed: Vec<TermId>,
    lists: HashMap<Vec<TermId>, ListId, FxBuildHasher>,
    tests: Vec<WordTest>,
    test_lists: HashMap<Vec<WordTest>, ListId, FxBuildHasher>,
    locators: Vec<Locator>,
    /// By locator: what it is, where it is simple.
    elements: Vec<Option<RowElement>>,
    locator_ids: HashMap<Locator, LocatorId, FxBuildHasher>,
    quantifications: Vec<Quantification>,
    /// Bit sets, one behind the other, and where each begins.
    sets: Vec<u64>,
    set_ids: HashMap<Vec<u64>, u32, FxBuildHasher>,
    /// Tables of numbers, one behind the other, and where each begins.
    values: Vec<i64>,
    value_ids: HashMap<Vec<i64>, u32, FxBuildHasher>,
    /// What `optimise` has made of a term.
    optimised: HashMap<TermId, TermId, FxBuildHasher>,
    /// By location: where to find each cell and slot.
    fields: Vec<Field>,
    /// By process: its index, and the location of its first cell.
    processes: Vec<(i64, u32)>,
    /// The greatest content of each field, less its base.
    max_raw: HashMap<Field, u64, FxBuildHasher>,
}

/// What is known about a term without a state.
#[derive(Clone, Copy, Debug)]
struct TermFacts {
    /// Whether it may be a fault.
    may_fault: bool,
    /// What it depends on.
    support: TermSupport,
    /// A lower and an upper bound of its value.
    range: (i64, i64),
}

/// What a term depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermSupport {
    Nothing,
    One(Field),
    Many,
}

impl TermPool {
    /// How many terms there are: a measure of the work of making them.
    pub fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// Whether the value of a term depends on one field at most, and not on this one.
    pub fn is_apart_from(&self, id: TermId, field: Field) -> bool {
        match self.facts[id.0 as usize].support {
            TermSupport::Nothing => true,
            TermSupport::One(one) => one != field,
            TermSupport::Many => false,
        }
    }

    /// Whether the value of a term depends on one field at most: not on registers either.
    pub fn reads_one_field_at_most(&self, id: TermId) -> bool {
        self.facts[id.0 as usize].support != TermSupport::Many
    }

    /// The field whose content a term is.
    pub fn as_field(&self, id: TermId) -> Option<Field> {
        match self.terms[id.0 as usize] {
            Term::Read(field) => Some(field),
            _ => None,
        }
    }

    /// What a term adds to the content of a field, if it is such a sum.
    pub fn added_to(&self, id: TermId, field: Field) -> Option<i64> {
        let (is_field, constant) = (|id| self.as_field(id) == Some(field), |id| self.as_constant(id));
        match self.terms[id.0 as usize] {
            Term::Binary(ArithmeticOp::Add, left, right) if is_field(left) => constant(right),
            Term::Binary(ArithmeticOp::Add, left, right) if is_field(right) => constant(left),
            Term::Binary(ArithmeticOp::Subtract, left, right) if is_field(left) => constant(right)?.checked_neg(),
            Term::Lookup(of, first) if of == field => {
                let added = |raw: u64| self.values[first as usize + raw as usize].checked_sub(field.number(raw));
                let add = added(0)?;
                (0..=self.max_raw_of(field)).all(|raw| added(raw) == Some(add)).then_some(add)
            }
            _ => None,
        }
    }

    /// Whether a term holds.
    pub fn test(&self, id: TermId, view: TermInput<'_>) -> Result<bool, Faulty> {
        Ok(match self.terms[id.0 as usize] {
            Term::In(field, set) => (set >> field.raw(view.state)) & 1 != 0,
            Term::Masked(list) => self.masked(list, view.state),
            Term::NotMasked(list) => !self.masked(list, view.state),
            Term::And(list) => {
                for &part in self.list(list) {
                    if !self.test_part(part, view)? {
                        return Ok(false);
                    }
                }
                true
            }
            Term::Or(list) => {
                for &part in self.list(list) {
                    if self.test_part(part, view)? {
                        return Ok(true);
                    }
                }
                false
            }
            Term::AtMostOne(list) => {
                let mut one = false;
                for &part in self.list(list) {
                    if self.test(part, view)? {
                        if one {
                            return Ok(false);
                        }
                        one = true;
                    }
                }
                true
            }
            Term::InSet(field, first) => {
                let raw = field.raw(view.state);
                (self.sets[first as usize + (raw >> 6) as usize] >> (raw & 63)) & 1 != 0
            }
            Term::Not(inner) => !self.test(inner, view)?,
            Term::Binary(op, left, right) => op.apply(self.part(left, view)?, self.part(right, view)?)? != 0,
            _ => self.number(id, view)? != 0,
        })
    }

    /// Whether a term holds, without a call for what most conditions are: tests of one field, and comparisons of words.
    #[inline]
    pub fn test_part(&self, id: TermId, view: TermInput<'_>) -> Result<bool, Faulty> {
        match self.terms[id.0 as usize] {
            Term::In(field, set) => Ok((set >> field.raw(view.state)) & 1 != 0),
            Term::Masked(list) => Ok(self.masked(list, view.state)),
            Term::NotMasked(list) => Ok(!self.masked(list, view.state)),
            _ => self.test(id, view),
        }
    }

    /// The value of a term, without a call for what most parts of terms are: constants and contents of fields.
    #[inline]
    pub fn part(&self, id: TermId, view: TermInput<'_>) -> TermValue {
        match self.terms[id.0 as usize] {
            Term::Const(number) => Ok(number),
            Term::Read(field) => Ok(field.get(view.state)),
            _ => self.number(id, view),
        }
    }

    /// The value of a term.
    pub fn number(&self, id: TermId, view: TermInput<'_>) -> TermValue {
        match self.terms[id.0 as usize] {
            Term::Const(number) => Ok(number),
            Term::Fault => Err(Faulty),
            Term::Read(field) => Ok(field.get(view.state)),
            Term::ReadAt(locator) => Ok(self.fields[self.locate(locator, view)? as usize].get(view.state)),
            Term::ReadLocated(register) => {
                Ok(self.fields[view.registers[register as usize].get() as usize].get(view.state))
            }
            Term::Register(register) => Ok(view.registers[register as usize].get()),
            Term::Lookup(field, first) => Ok(self.values[first as usize + field.raw(view.state) as usize]),
            Term::Binary(op, left, right) => op.apply(self.part(left, view)?, self.part(right, view)?),
            Term::Negate(inner) => self.number(inner, view)?.checked_neg().ok_or(Faulty),
            Term::If(test, yes, no) => self.number(if self.test(test, view)? { yes } else { no }, view),
            Term::Count(list) => {
                self.list(list).iter().try_fold(0, |n, &part| Ok(n + i64::from(self.test(part, view)?)))
            }
            Term::IndexOf(inner) => self.process(inner, view).map(|at| self.processes[at].0),
            Term::ProcessAt(inner, first_index, range) => {
                let offset = self.number(inner, view)?.checked_sub(first_index).ok_or(Faulty)?;
                let fits = 0 <= offset && offset <= range.last - range.first;
                if fits { Ok(range.first + offset) } else { Err(Faulty) }
            }
            Term::ProcessWithin(inner, range) => match self.number(inner, view)? {
                number if number == 0 || (range.first..=range.last).contains(&number) => Ok(number),
                _ => Err(Faulty),
            },
            Term::Pick(who, list) => self.number(self.list(list)[self.process(who, view)?], view),
            Term::Quantified(at) => self.run_through(self.quantifications[at as usize], view),
            Term::In(..)
            | Term::InSet(..)
            | Term::Masked(_)
            | Term::NotMasked(_)
            | Term::And(_)
            | Term::Or(_)
            | Term::AtMostOne(_)
            | Term::Not(_) => self.test(id, view).map(i64::from),
        }
    }

    /// The location that a locator leads to.
    pub fn locate(&self, id: LocatorId, view: TermInput<'_>) -> Result<u32, Faulty> {
        if let Some(RowElement { first, len, index }) = self.elements[id.0 as usize] {
            let index = index.get(view.state);
            return if (0..i64::from(len)).contains(&index) { Ok(first + index as u32) } else { Err(Faulty) };
        }
        let locator = &self.locators[id.0 as usize];
        let first = match locator.owner {
            None => locator.first,
            Some(owner) => self.processes[self.process(owner, view)?].1 + locator.first,
        };
        let mut offset = 0;
        for &(index, len) in &locator.indices {
            let index = usize::try_from(self.part(index, view)?).map_err(|_| Faulty)?;
            if index >= len {
                return Err(Faulty);
            }
            offset = offset * len + index;
        }
        Ok(first + offset as u32)
    }

    /// The field at a location.
    pub fn field(&self, location: u32) -> Field {
        self.fields[location as usize]
    }

    fn run_through(&self, quantification: Quantification, view: TermInput<'_>) -> TermValue {
        use model::expr::Quantifier;
        let (first, last) = (self.number(quantification.ends.0, view)?, self.number(quantification.ends.1, view)?);
        let register = &view.registers[quantification.register as usize];
        let mut count = 0;
        for value in first..=last {
            register.set(value);
            match quantification.quantifier {
                Quantifier::Forall if !self.test(quantification.body, view)? => return Ok(0),
                Quantifier::Exists if self.test(quantification.body, view)? => return Ok(1),
                Quantifier::Count => count += self.number(quantification.body, view)?,
                Quantifier::Forall | Quantifier::Exists => {}
            }
        }
        Ok(match quantification.quantifier {
            Quantifier::Forall => 1,
            Quantifier::Exists => 0,
            Quantifier::Count => count,
        })
    }

    /// The position of a process; `none` is a fault.
    fn process(&self, id: TermId, view: TermInput<'_>) -> Result<usize, Faulty> {
        match self.number(id, view)? {
            0 => Err(Faulty),
            number => Ok(number as usize - 1),
        }
    }

    fn masked(&self, list: ListId, state: &[u64]) -> bool {
        self.tests_of(list).iter().all(|test| test.holds(state))
    }

    fn list(&self, list: ListId) -> &[TermId] {
        &self.listed[list.first as usize..(list.first + list.len) as usize]
    }

    fn tests_of(&self, list: ListId) -> &[WordTest] {
        &self.tests[list.first as usize..(list.first + list.len) as usize]
    }
}
