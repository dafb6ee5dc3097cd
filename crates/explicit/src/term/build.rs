//! Making terms: each once, folded where it is constant, tabulated where it depends on one small field.
//!
//! Nothing here changes where a term is a fault, or in which order faults are met: a part that may be a fault is never
//! dropped, and never moved before or behind another.

use std::cell::Cell;

use model::expr::BinaryOp;

use super::{
    Facts, Faulty, ListId, Locator, LocatorId, Number, ProcessRange, Quantification, Support, Term, TermId, Terms, View,
};
use crate::packing::{Field, Numbers};

/// Fields with more bits are not tabulated: a set of their values does not fit a word.
const TABLE_BITS: u32 = 6;

/// Binary operators on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Min,
    Max,
}

impl Arithmetic {
    /// The result, exact, or a fault.
    pub fn apply(self, a: i64, b: i64) -> Number {
        let exact = match self {
            Arithmetic::Equal => Some(i64::from(a == b)),
            Arithmetic::NotEqual => Some(i64::from(a != b)),
            Arithmetic::Less => Some(i64::from(a < b)),
            Arithmetic::LessEqual => Some(i64::from(a <= b)),
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
            Arithmetic::Divide => a.checked_div_euclid(b),
            Arithmetic::Remainder if b == 0 => None,
            // Only i64::MIN % -1 wraps, and its exact result is the wrapped one, 0.
            Arithmetic::Remainder => Some(a.wrapping_rem_euclid(b)),
            Arithmetic::Min => Some(a.min(b)),
            Arithmetic::Max => Some(a.max(b)),
        };
        exact.ok_or(Faulty)
    }

    fn is_test(self) -> bool {
        matches!(self, Arithmetic::Equal | Arithmetic::NotEqual | Arithmetic::Less | Arithmetic::LessEqual)
    }
}

const TRUTH: (i64, i64) = (0, 1);
const ANY_NUMBER: (i64, i64) = (i64::MIN, i64::MAX);

/// Leaves and what surrounds them.
impl Terms {
    /// An empty pool for states with these fields, given by location with the numbers that they hold, and these processes,
    /// given by their index and the location of their first cell.
    pub fn new(locations: &[(Field, Numbers)], processes: Vec<(i64, u32)>) -> Self {
        let fields = locations.iter().map(|&(field, _)| field).collect();
        let mut terms = Terms { fields, processes, ..Terms::default() };
        for &(field, numbers) in locations {
            terms.limit(field, numbers.hi.wrapping_sub(numbers.lo) as u64);
        }
        terms
    }

    /// Tells how large the content of a field, less its base, can be.
    pub fn limit(&mut self, field: Field, max_raw: u64) {
        let known = self.max_raw.entry(field).or_default();
        *known = max_raw.max(*known);
    }

    /// A constant.
    pub fn constant(&mut self, number: i64) -> TermId {
        self.intern(Term::Const(number), Facts { may_fault: false, support: Support::Nothing, range: (number, number) })
    }

    /// A truth value.
    pub fn truth(&mut self, truth: bool) -> TermId {
        self.constant(i64::from(truth))
    }

    /// Always a fault.
    pub fn fault(&mut self) -> TermId {
        self.intern(Term::Fault, Facts { may_fault: true, support: Support::Nothing, range: ANY_NUMBER })
    }

    /// The content of a field.
    pub fn read(&mut self, field: Field) -> TermId {
        if field.mask == 0 {
            return self.constant(field.base);
        }
        let max = self.max_raw_of(field) as i64;
        let range = (field.base, field.base.wrapping_add(max));
        self.intern(Term::Read(field), Facts { may_fault: false, support: Support::One(field), range })
    }

    /// The content of a computed location.
    pub fn read_at(&mut self, locator: LocatorId) -> TermId {
        self.intern(Term::ReadAt(locator), Facts { may_fault: true, support: Support::Many, range: ANY_NUMBER })
    }

    /// The content of the location that is in a register.
    pub fn read_located(&mut self, register: u32) -> TermId {
        self.intern(Term::ReadLocated(register), Facts { may_fault: false, support: Support::Many, range: ANY_NUMBER })
    }

    /// A register.
    pub fn register(&mut self, register: u32) -> TermId {
        self.intern(Term::Register(register), Facts { may_fault: false, support: Support::Many, range: ANY_NUMBER })
    }

    /// A computed location.
    pub fn locator(&mut self, locator: Locator) -> LocatorId {
        let next = LocatorId(self.locators.len() as u32);
        let id = *self.locator_ids.entry(locator.clone()).or_insert(next);
        if id == next {
            self.locators.push(locator);
        }
        id
    }

    /// Whether the content of a field, less its base, is one of these.
    pub fn is_one_of(&mut self, field: Field, raws: impl Iterator<Item = u64>) -> TermId {
        if n_bits(field) <= TABLE_BITS {
            let set = raws.fold(0, |set, raw| set | 1 << raw);
            return self.in_set(field, set);
        }
        let raws: Vec<u64> = raws.collect();
        if raws.is_empty() {
            return self.truth(false);
        }
        let mut words = vec![0; (field.mask >> 6) as usize + 1];
        for raw in raws {
            words[(raw >> 6) as usize] |= 1 << (raw & 63);
        }
        let next = self.sets.len() as u32;
        let first = *self.set_ids.entry(words.clone()).or_insert(next);
        if first == next {
            self.sets.extend(words);
        }
        self.safe_test(Term::InSet(field, first))
    }

    /// The number of a constant term.
    pub fn as_constant(&self, id: TermId) -> Option<i64> {
        match self.terms[id.0 as usize] {
            Term::Const(number) => Some(number),
            _ => None,
        }
    }

    /// Whether a term is a fault in every state.
    pub fn is_fault(&self, id: TermId) -> bool {
        self.terms[id.0 as usize] == Term::Fault
    }

    /// Whether a term may be a fault.
    pub fn may_fault(&self, id: TermId) -> bool {
        self.facts[id.0 as usize].may_fault
    }

    /// Bounds of a term's value.
    pub fn range(&self, id: TermId) -> (i64, i64) {
        self.facts[id.0 as usize].range
    }

    pub(super) fn in_set(&mut self, field: Field, set: u64) -> TermId {
        let set = set & self.all_raws(field);
        if set == 0 || set == self.all_raws(field) {
            return self.truth(set != 0);
        }
        self.intern(Term::In(field, set), Facts { may_fault: false, support: Support::One(field), range: TRUTH })
    }

    /// The set of all contents, less the base, of a field of few bits.
    pub(super) fn all_raws(&self, field: Field) -> u64 {
        u64::MAX >> (63 - self.max_raw_of(field))
    }

    pub(super) fn max_raw_of(&self, field: Field) -> u64 {
        self.max_raw.get(&field).copied().unwrap_or(field.mask)
    }

    pub(super) fn term(&self, id: TermId) -> Term {
        self.terms[id.0 as usize]
    }

    fn intern(&mut self, term: Term, facts: Facts) -> TermId {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        let id = TermId(u32::try_from(self.terms.len()).expect("compilation stops long before 2^32 terms"));
        self.terms.push(term);
        self.facts.push(facts);
        self.ids.insert(term, id);
        id
    }

    pub(super) fn make_list(&mut self, parts: &[TermId]) -> ListId {
        if let Some(&list) = self.lists.get(parts) {
            return list;
        }
        let list = ListId { first: self.listed.len() as u32, len: parts.len() as u32 };
        self.listed.extend(parts);
        self.lists.insert(parts.to_vec(), list);
        list
    }
}

/// Operators.
impl Terms {
    /// A binary operator of the language.
    pub fn binary(&mut self, op: BinaryOp, left: TermId, right: TermId) -> TermId {
        match op {
            BinaryOp::And => self.and(&[left, right]),
            BinaryOp::Or => self.or(&[left, right]),
            BinaryOp::Implies => {
                let not_left = self.not(left);
                self.or(&[not_left, right])
            }
            BinaryOp::Iff | BinaryOp::Equal => self.arithmetic(Arithmetic::Equal, left, right),
            BinaryOp::NotEqual => self.arithmetic(Arithmetic::NotEqual, left, right),
            BinaryOp::Less => self.arithmetic(Arithmetic::Less, left, right),
            BinaryOp::LessEqual => self.arithmetic(Arithmetic::LessEqual, left, right),
            // Faults are all alike here, so the sides may change places.
            BinaryOp::Greater => self.arithmetic(Arithmetic::Less, right, left),
            BinaryOp::GreaterEqual => self.arithmetic(Arithmetic::LessEqual, right, left),
            BinaryOp::Add => self.arithmetic(Arithmetic::Add, left, right),
            BinaryOp::Subtract => self.arithmetic(Arithmetic::Subtract, left, right),
            BinaryOp::Multiply => self.arithmetic(Arithmetic::Multiply, left, right),
            BinaryOp::Divide => self.arithmetic(Arithmetic::Divide, left, right),
            BinaryOp::Remainder => self.arithmetic(Arithmetic::Remainder, left, right),
            BinaryOp::Min => self.arithmetic(Arithmetic::Min, left, right),
            BinaryOp::Max => self.arithmetic(Arithmetic::Max, left, right),
        }
    }

    /// A comparison or arithmetic.
    pub fn arithmetic(&mut self, op: Arithmetic, left: TermId, right: TermId) -> TermId {
        let (a, b) = (self.range(left), self.range(right));
        let range = interval(op, a, b);
        let own_fault = match op {
            Arithmetic::Divide | Arithmetic::Remainder => b.0 <= 0 && b.1 >= 0 || a.0 == i64::MIN,
            _ => range.is_none(),
        };
        let facts = Facts {
            may_fault: own_fault || self.may_fault(left) || self.may_fault(right),
            support: self.joint_support(&[left, right]),
            range: range.unwrap_or(ANY_NUMBER),
        };
        if op.is_test()
            && let (number, number_again) = facts.range
            && number == number_again
            && !facts.may_fault
        {
            return self.constant(number);
        }
        self.equal_to_constant(op, left, right).unwrap_or_else(|| self.compound(Term::Binary(op, left, right), facts))
    }

    /// `-e`.
    pub fn negate(&mut self, inner: TermId) -> TermId {
        let (lo, hi) = self.range(inner);
        let may_fault = self.may_fault(inner) || lo == i64::MIN;
        let range = if lo == i64::MIN { ANY_NUMBER } else { (-hi, -lo) };
        self.compound(Term::Negate(inner), Facts { may_fault, support: self.joint_support(&[inner]), range })
    }

    /// `if test then yes else no`.
    pub fn conditional(&mut self, test: TermId, yes: TermId, no: TermId) -> TermId {
        let test = self.as_test(test);
        match self.as_constant(test) {
            Some(0) => return no,
            Some(_) => return yes,
            None => {}
        }
        let (a, b) = (self.range(yes), self.range(no));
        let facts = Facts {
            may_fault: [test, yes, no].into_iter().any(|part| self.may_fault(part)),
            support: self.joint_support(&[test, yes, no]),
            range: (a.0.min(b.0), a.1.max(b.1)),
        };
        self.compound(Term::If(test, yes, no), facts)
    }

    /// `!e`, pushed inwards.
    pub fn not(&mut self, inner: TermId) -> TermId {
        let inner = self.as_test(inner);
        match self.term(inner) {
            Term::Const(number) => self.truth(number == 0),
            Term::Fault => inner,
            Term::Masked(list) => self.safe_test(Term::NotMasked(list)),
            Term::NotMasked(list) => self.safe_test(Term::Masked(list)),
            Term::In(field, set) => self.in_set(field, !set),
            Term::Not(back) => back,
            Term::And(list) => {
                let parts = self.negated(list);
                self.or(&parts)
            }
            Term::Or(list) => {
                let parts = self.negated(list);
                self.and(&parts)
            }
            Term::Binary(Arithmetic::Equal, a, b) => self.arithmetic(Arithmetic::NotEqual, a, b),
            Term::Binary(Arithmetic::NotEqual, a, b) => self.arithmetic(Arithmetic::Equal, a, b),
            Term::Binary(Arithmetic::Less, a, b) => self.arithmetic(Arithmetic::LessEqual, b, a),
            Term::Binary(Arithmetic::LessEqual, a, b) => self.arithmetic(Arithmetic::Less, b, a),
            _ => {
                let facts = Facts { range: TRUTH, ..self.facts[inner.0 as usize] };
                self.compound(Term::Not(inner), facts)
            }
        }
    }

    /// All hold; evaluated from the left up to the first that does not.
    pub fn and(&mut self, parts: &[TermId]) -> TermId {
        let parts = self.gathered(parts, Connective::And);
        self.connected(parts, Connective::And)
    }

    /// One holds; evaluated from the left up to the first that does.
    pub fn or(&mut self, parts: &[TermId]) -> TermId {
        let parts = self.gathered(parts, Connective::Or);
        self.connected(parts, Connective::Or)
    }

    /// How many hold.
    pub fn count(&mut self, parts: &[TermId]) -> TermId {
        let parts: Vec<TermId> = parts.iter().map(|&part| self.as_test(part)).collect();
        let parts = parts.as_slice();
        let facts = Facts {
            may_fault: parts.iter().any(|&part| self.may_fault(part)),
            support: self.joint_support(parts),
            range: (0, parts.len() as i64),
        };
        let list = self.make_list(parts);
        self.compound(Term::Count(list), facts)
    }

    /// The index of a process; of `none`, a fault.
    pub fn index_of(&mut self, inner: TermId) -> TermId {
        let indices = self.processes.iter().map(|&(index, _)| index);
        let range = (indices.clone().min().unwrap_or(0), indices.max().unwrap_or(0));
        let may_fault = self.may_fault(inner) || self.range(inner).0 <= 0;
        self.compound(Term::IndexOf(inner), Facts { may_fault, support: self.joint_support(&[inner]), range })
    }

    /// The process of a range whose index is a number, where that of the first is `first_index`; else a fault.
    pub fn process_at(&mut self, inner: TermId, first_index: i64, range: ProcessRange) -> TermId {
        let facts = Facts { may_fault: true, support: self.joint_support(&[inner]), range: (range.first, range.last) };
        self.compound(Term::ProcessAt(inner, first_index, range), facts)
    }

    /// `none`, or a process of the range; any other is a fault.
    pub fn process_within(&mut self, inner: TermId, range: ProcessRange) -> TermId {
        let (lo, hi) = self.range(inner);
        let surely_within = hi <= range.last && (lo >= range.first || lo >= 0 && range.first <= 1);
        if surely_within {
            return inner;
        }
        let facts = Facts { may_fault: true, support: self.joint_support(&[inner]), range: (0, range.last) };
        self.compound(Term::ProcessWithin(inner, range), facts)
    }

    /// The term that a process picks from a list with one for each process; a fault where it is `none`.
    pub fn pick(&mut self, who: TermId, options: &[TermId]) -> TermId {
        if self.is_fault(who) {
            return who;
        }
        let list = self.make_list(options);
        let may_fault = self.may_fault(who) || self.range(who).0 <= 0 || options.iter().any(|&id| self.may_fault(id));
        let range = options.iter().fold((i64::MAX, i64::MIN), |(lo, hi), &id| {
            let (a, b) = self.range(id);
            (lo.min(a), hi.max(b))
        });
        self.compound(Term::Pick(who, list), Facts { may_fault, support: Support::Many, range })
    }

    /// A quantifier over a register.
    pub fn quantified(&mut self, quantification: Quantification) -> TermId {
        let known = self.quantifications.iter().position(|other| *other == quantification);
        let at = known.unwrap_or_else(|| {
            self.quantifications.push(quantification);
            self.quantifications.len() - 1
        });
        let (first, last) = quantification.ends;
        let facts = Facts {
            may_fault: [first, last, quantification.body].into_iter().any(|id| self.may_fault(id)),
            support: Support::Many,
            range: match quantification.quantifier {
                model::expr::Quantifier::Count => (0, i64::MAX),
                _ => TRUTH,
            },
        };
        self.intern(Term::Quantified(at as u32), facts)
    }

    /// A truth value that is read from a small field, as a test of that field.
    fn as_test(&mut self, id: TermId) -> TermId {
        match self.term(id) {
            Term::Read(field) if n_bits(field) <= TABLE_BITS => self.tabulated(id, field).unwrap_or(id),
            _ => id,
        }
    }

    fn negated(&mut self, list: ListId) -> Vec<TermId> {
        let parts = self.list(list).to_vec();
        parts.into_iter().map(|part| self.not(part)).collect()
    }

    fn joint_support(&self, parts: &[TermId]) -> Support {
        parts.iter().fold(Support::Nothing, |joint, part| match (joint, self.facts[part.0 as usize].support) {
            (Support::Nothing, support) | (support, Support::Nothing) => support,
            (a, b) if a == b => a,
            _ => Support::Many,
        })
    }

    /// A comparison of a wide field with a constant becomes a test of its word.
    fn equal_to_constant(&mut self, op: Arithmetic, left: TermId, right: TermId) -> Option<TermId> {
        let (field, number) = match (self.term(left), self.term(right)) {
            (Term::Read(field), Term::Const(number)) | (Term::Const(number), Term::Read(field)) => (field, number),
            _ => return None,
        };
        if n_bits(field) <= TABLE_BITS || !matches!(op, Arithmetic::Equal | Arithmetic::NotEqual) {
            return None;
        }
        let test = self.test_of(field, field.mask, field.raw_of(number));
        let list = self.tests_list(&[test]);
        let term = if op == Arithmetic::Equal { Term::Masked(list) } else { Term::NotMasked(list) };
        Some(self.safe_test(term))
    }

    /// Interns a term of several parts: as a constant, as a table of one small field, or as it is.
    fn compound(&mut self, term: Term, facts: Facts) -> TermId {
        let id = self.intern(term, facts);
        match facts.support {
            Support::Nothing => match self.number(id, View { state: &[], registers: &[] }) {
                Ok(number) => self.constant(number),
                Err(Faulty) => self.fault(),
            },
            Support::One(field) if n_bits(field) <= TABLE_BITS => self.tabulated(id, field).unwrap_or(id),
            _ => id,
        }
    }

    /// A set or a table in place of a term of one field, if it is nowhere a fault.
    fn tabulated(&mut self, id: TermId, field: Field) -> Option<TermId> {
        let mut state = vec![0; field.word as usize + 1];
        let registers: [Cell<i64>; 0] = [];
        let mut value = |raw: u64| {
            state[field.word as usize] = field.in_place(raw);
            self.number(id, View { state: &state, registers: &registers })
        };
        let values: Vec<i64> = (0..=self.max_raw_of(field)).map(&mut value).collect::<Result<_, Faulty>>().ok()?;
        if self.range(id) == TRUTH {
            let truths = values.iter().enumerate().filter(|&(_, &value)| value != 0);
            let set = truths.fold(0, |set, (raw, _)| set | 1 << raw);
            return Some(self.in_set(field, set));
        }
        let (lo, hi) = values.iter().fold((i64::MAX, i64::MIN), |(lo, hi), &value| (lo.min(value), hi.max(value)));
        if lo == hi {
            return Some(self.constant(lo));
        }
        let next = self.values.len() as u32;
        let first = *self.value_ids.entry(values.clone()).or_insert(next);
        if first == next {
            self.values.extend(values);
        }
        let facts = Facts { may_fault: false, support: Support::One(field), range: (lo, hi) };
        Some(self.intern(Term::Lookup(field, first), facts))
    }
}

/// Lists of `&&` and `||`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
}

impl Terms {
    /// Flattens, drops what never decides, stops behind what always does, and joins tests of one field.
    fn gathered(&mut self, parts: &[TermId], connective: Connective) -> Vec<TermId> {
        let mut gathered: Vec<TermId> = Vec::with_capacity(parts.len());
        // Tests may be joined with others of the run of parts since the last that may be a fault.
        let mut run_start = 0;
        let mut open: Vec<TermId> = parts.iter().rev().copied().collect();
        while let Some(part) = open.pop() {
            let part = self.as_test(part);
            match (self.term(part), connective) {
                (Term::And(list), Connective::And) | (Term::Or(list), Connective::Or) => {
                    open.extend(self.list(list).iter().rev());
                }
                (Term::Const(number), _) if (number != 0) == (connective == Connective::And) => {}
                (Term::Const(_) | Term::Fault, _) => {
                    if matches!(self.term(part), Term::Const(_)) {
                        gathered.truncate(run_start);
                    }
                    gathered.push(part);
                    return gathered;
                }
                (Term::In(field, set), _) => {
                    let same_field = |&id: &TermId| matches!(self.term(id), Term::In(other, _) if other == field);
                    match gathered[run_start..].iter().position(same_field) {
                        Some(at) => {
                            let Term::In(_, before) = self.term(gathered[run_start + at]) else { continue };
                            let joint = if connective == Connective::And { before & set } else { before | set };
                            let joint = self.in_set(field, joint);
                            gathered.remove(run_start + at);
                            open.push(joint);
                        }
                        None => gathered.push(part),
                    }
                }
                _ if gathered[run_start..].contains(&part) => {}
                _ => {
                    gathered.push(part);
                    if self.may_fault(part) {
                        run_start = gathered.len();
                    }
                }
            }
        }
        gathered
    }

    fn connected(&mut self, parts: Vec<TermId>, connective: Connective) -> TermId {
        match parts.as_slice() {
            [] => self.truth(connective == Connective::And),
            [only] => *only,
            _ => {
                let facts = Facts {
                    may_fault: parts.iter().any(|&part| self.may_fault(part)),
                    support: self.joint_support(&parts),
                    range: TRUTH,
                };
                let list = self.make_list(&parts);
                let term = if connective == Connective::And { Term::And(list) } else { Term::Or(list) };
                self.compound(term, facts)
            }
        }
    }

    /// Interns a term whose facts are those of a test that cannot be a fault.
    pub(super) fn safe_test(&mut self, term: Term) -> TermId {
        self.intern(term, Facts { may_fault: false, support: Support::Many, range: TRUTH })
    }

    /// Interns a list of parts as it is, with nothing joined or folded.
    pub(super) fn as_it_is(&mut self, parts: &[TermId], connective: Connective) -> TermId {
        match parts {
            [] => self.truth(connective == Connective::And),
            [only] => *only,
            _ => {
                let may_fault = parts.iter().any(|&part| self.may_fault(part));
                let list = self.make_list(parts);
                let term = if connective == Connective::And { Term::And(list) } else { Term::Or(list) };
                self.intern(term, Facts { may_fault, support: Support::Many, range: TRUTH })
            }
        }
    }
}

pub(super) fn n_bits(field: Field) -> u32 {
    64 - field.mask.leading_zeros()
}

/// Bounds of the result, or `None` where it may be beyond 64 bits.
fn interval(op: Arithmetic, (a, b): (i64, i64), (c, d): (i64, i64)) -> Option<(i64, i64)> {
    let truth = |surely: bool, never: bool| Some((i64::from(surely), i64::from(!never)));
    match op {
        Arithmetic::Equal => truth(a == b && c == d && a == c, b < c || d < a),
        Arithmetic::NotEqual => truth(b < c || d < a, a == b && c == d && a == c),
        Arithmetic::Less => truth(b < c, a >= d),
        Arithmetic::LessEqual => truth(b <= c, a > d),
        Arithmetic::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        Arithmetic::Subtract => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        Arithmetic::Multiply => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((corners.into_iter().min()?, corners.into_iter().max()?))
        }
        Arithmetic::Divide => Some(ANY_NUMBER),
        Arithmetic::Remainder if c > 0 => Some((0, d - 1)),
        Arithmetic::Remainder => Some(ANY_NUMBER),
        Arithmetic::Min => Some((a.min(c), b.min(d))),
        Arithmetic::Max => Some((a.max(c), b.max(d))),
    }
}
