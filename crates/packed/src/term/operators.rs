//! Making terms of operators: folded where they are constant, tabulated where they depend on one small field.

use std::cell::Cell;

use model::expr::{BinaryOp, Quantifier};

use super::arithmetic::interval;
use super::build::{ANY_NUMBER, TABLE_BITS, TRUTH, n_bits};
use super::{
    ArithmeticOp, Faulty, ListId, ProcessRange, Quantification, Term, TermFacts, TermId, TermInput, TermPool,
    TermSupport,
};
use crate::packing::Field;

impl TermPool {
    /// A binary operator of the language.
    pub fn binary(&mut self, op: BinaryOp, left: TermId, right: TermId) -> TermId {
        match op {
            BinaryOp::And => self.and(&[left, right]),
            BinaryOp::Or => self.or(&[left, right]),
            BinaryOp::Implies => {
                let not_left = self.not(left);
                self.or(&[not_left, right])
            }
            BinaryOp::Iff | BinaryOp::Equal => self.arithmetic(ArithmeticOp::Equal, left, right),
            BinaryOp::NotEqual => self.arithmetic(ArithmeticOp::NotEqual, left, right),
            BinaryOp::Less => self.arithmetic(ArithmeticOp::Less, left, right),
            BinaryOp::LessEqual => self.arithmetic(ArithmeticOp::LessEqual, left, right),
            // Faults are not distinguished here, so the sides may change places.
            BinaryOp::Greater => self.arithmetic(ArithmeticOp::Less, right, left),
            BinaryOp::GreaterEqual => self.arithmetic(ArithmeticOp::LessEqual, right, left),
            BinaryOp::Add => self.arithmetic(ArithmeticOp::Add, left, right),
            BinaryOp::Subtract => self.arithmetic(ArithmeticOp::Subtract, left, right),
            BinaryOp::Multiply => self.arithmetic(ArithmeticOp::Multiply, left, right),
            BinaryOp::Divide => self.arithmetic(ArithmeticOp::Divide, left, right),
            BinaryOp::Remainder => self.arithmetic(ArithmeticOp::Remainder, left, right),
            BinaryOp::Min => self.arithmetic(ArithmeticOp::Min, left, right),
            BinaryOp::Max => self.arithmetic(ArithmeticOp::Max, left, right),
            BinaryOp::Machine(op) => self.arithmetic(ArithmeticOp::Machine(op), left, right),
        }
    }

    /// A comparison or arithmetic.
    pub fn arithmetic(&mut self, op: ArithmeticOp, left: TermId, right: TermId) -> TermId {
        let (a, b) = (self.range(left), self.range(right));
        let range = interval(op, a, b);
        let own_fault = match op {
            ArithmeticOp::Divide | ArithmeticOp::Remainder => b.0 <= 0 && b.1 >= 0 || a.0 == i64::MIN,
            ArithmeticOp::Machine(op) => op.may_fault(a, b),
            _ => range.is_none(),
        };
        let facts = TermFacts {
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
        self.compound(Term::Negate(inner), TermFacts { may_fault, support: self.joint_support(&[inner]), range })
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
        let facts = TermFacts {
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
            Term::Binary(ArithmeticOp::Equal, a, b) => self.arithmetic(ArithmeticOp::NotEqual, a, b),
            Term::Binary(ArithmeticOp::NotEqual, a, b) => self.arithmetic(ArithmeticOp::Equal, a, b),
            Term::Binary(ArithmeticOp::Less, a, b) => self.arithmetic(ArithmeticOp::LessEqual, b, a),
            Term::Binary(ArithmeticOp::LessEqual, a, b) => self.arithmetic(ArithmeticOp::Less, b, a),
            _ => {
                let facts = TermFacts { range: TRUTH, ..self.facts[inner.0 as usize] };
                self.compound(Term::Not(inner), facts)
            }
        }
    }

    /// How many hold.
    pub fn count(&mut self, parts: &[TermId]) -> TermId {
        let parts: Vec<TermId> = parts.iter().map(|&part| self.as_test(part)).collect();
        let parts = parts.as_slice();
        let facts = TermFacts {
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
        self.compound(Term::IndexOf(inner), TermFacts { may_fault, support: self.joint_support(&[inner]), range })
    }

    /// The process of a range whose index is a number, where that of the first is `first_index`; else a fault.
    pub fn process_at(&mut self, inner: TermId, first_index: i64, range: ProcessRange) -> TermId {
        let facts =
            TermFacts { may_fault: true, support: self.joint_support(&[inner]), range: (range.first, range.last) };
        self.compound(Term::ProcessAt(inner, first_index, range), facts)
    }

    /// `none`, or a process of the range; any other is a fault.
    pub fn process_within(&mut self, inner: TermId, range: ProcessRange) -> TermId {
        let (lo, hi) = self.range(inner);
        let surely_within = hi <= range.last && (lo >= range.first || lo >= 0 && range.first <= 1);
        if surely_within {
            return inner;
        }
        let facts = TermFacts { may_fault: true, support: self.joint_support(&[inner]), range: (0, range.last) };
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
        self.compound(Term::Pick(who, list), TermFacts { may_fault, support: TermSupport::Many, range })
    }

    /// A quantifier over a register.
    pub fn quantified(&mut self, quantification: Quantification) -> TermId {
        let known = self.quantifications.iter().position(|other| *other == quantification);
        let at = known.unwrap_or_else(|| {
            self.quantifications.push(quantification);
            self.quantifications.len() - 1
        });
        let (first, last) = quantification.ends;
        let facts = TermFacts {
            may_fault: [first, last, quantification.body].into_iter().any(|id| self.may_fault(id)),
            support: TermSupport::Many,
            range: match quantification.quantifier {
                Quantifier::Count => (0, i64::MAX),
                _ => TRUTH,
            },
        };
        self.intern(Term::Quantified(at as u32), facts)
    }

    /// A truth value that is read from a small field, as a test of that field.
    pub(super) fn as_test(&mut self, id: TermId) -> TermId {
        match self.term(id) {
            Term::Read(field) if n_bits(field) <= TABLE_BITS => self.tabulated(id, field).unwrap_or(id),
            _ => id,
        }
    }

    fn negated(&mut self, list: ListId) -> Vec<TermId> {
        let parts = self.list(list).to_vec();
        parts.into_iter().map(|part| self.not(part)).collect()
    }

    pub(super) fn joint_support(&self, parts: &[TermId]) -> TermSupport {
        parts.iter().fold(TermSupport::Nothing, |joint, part| match (joint, self.facts[part.0 as usize].support) {
            (TermSupport::Nothing, support) | (support, TermSupport::Nothing) => support,
            (a, b) if a == b => a,
            _ => TermSupport::Many,
        })
    }

    /// A comparison of a wide field with a constant becomes a test of its word.
    fn equal_to_constant(&mut self, op: ArithmeticOp, left: TermId, right: TermId) -> Option<TermId> {
        let (field, number) = match (self.term(left), self.term(right)) {
            (Term::Read(field), Term::Const(number)) | (Term::Const(number), Term::Read(field)) => (field, number),
            _ => return None,
        };
        if n_bits(field) <= TABLE_BITS || !matches!(op, ArithmeticOp::Equal | ArithmeticOp::NotEqual) {
            return None;
        }
        let raw = field.raw_of(number);
        if field.number(raw) != number {
            return Some(self.truth(op == ArithmeticOp::NotEqual));
        }
        let test = self.test_of(field, field.mask, raw);
        let list = self.tests_list(&[test]);
        let term = if op == ArithmeticOp::Equal { Term::Masked(list) } else { Term::NotMasked(list) };
        Some(self.safe_test(term))
    }

    /// Interns a term of several parts: as a constant, as a table of one small field, or as it is.
    pub(super) fn compound(&mut self, term: Term, facts: TermFacts) -> TermId {
        let id = self.intern(term, facts);
        match facts.support {
            TermSupport::Nothing => match self.number(id, TermInput { state: &[], registers: &[] }) {
                Ok(number) => self.constant(number),
                Err(Faulty) => self.fault(),
            },
            TermSupport::One(field) if n_bits(field) <= TABLE_BITS => self.tabulated(id, field).unwrap_or(id),
            _ => id,
        }
    }

    /// A set or a table in place of a term of one field, if it is nowhere a fault.
    fn tabulated(&mut self, id: TermId, field: Field) -> Option<TermId> {
        let mut state = vec![0; field.word as usize + 1];
        let registers: [Cell<i64>; 0] = [];
        let mut value = |raw: u64| {
            state[field.word as usize] = field.in_place(raw);
            self.number(id, TermInput { state: &state, registers: &registers })
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
        let facts = TermFacts { may_fault: false, support: TermSupport::One(field), range: (lo, hi) };
        Some(self.intern(Term::Lookup(field, first), facts))
    }
}
