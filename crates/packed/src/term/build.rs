//! Making terms, each once: the leaves, and what all others are made with.
//!
//! Nothing here changes where a term is a fault, or in which order faults occur: a part that may be a fault is never
//! dropped, and never moved before or behind another.

use super::{ListId, Locator, LocatorId, RowElement, Term, TermFacts, TermId, TermPool, TermSupport};
use crate::packing::{Field, NumberRange};

/// Fields with more bits are not tabulated: a set of their values does not fit a word.
pub(super) const TABLE_BITS: u32 = 6;

/// Bounds of a truth value.
pub(super) const TRUTH: (i64, i64) = (0, 1);
/// Bounds of any number.
pub(super) const ANY_NUMBER: (i64, i64) = (i64::MIN, i64::MAX);

impl TermPool {
    /// An empty pool for states with these fields, given by location with the numbers that they hold, and these processes,
    /// given by their index and the location of their first cell.
    pub fn new(locations: &[(Field, NumberRange)], processes: Vec<(i64, u32)>) -> Self {
        let fields = locations.iter().map(|&(field, _)| field).collect();
        let mut terms = TermPool { fields, processes, ..TermPool::default() };
        for &(field, numbers) in locations {
            terms.limit(field, numbers.max_raw());
        }
        terms
    }

    /// Sets how large the content of a field, less its base, can be.
    pub fn limit(&mut self, field: Field, max_raw: u64) {
        let known = self.max_raw.entry(field).or_default();
        *known = max_raw.max(*known);
    }

    /// A constant.
    pub fn constant(&mut self, number: i64) -> TermId {
        self.intern(
            Term::Const(number),
            TermFacts { may_fault: false, support: TermSupport::Nothing, range: (number, number) },
        )
    }

    /// A truth value.
    pub fn truth(&mut self, truth: bool) -> TermId {
        self.constant(i64::from(truth))
    }

    /// Always a fault.
    pub fn fault(&mut self) -> TermId {
        self.intern(Term::Fault, TermFacts { may_fault: true, support: TermSupport::Nothing, range: ANY_NUMBER })
    }

    /// The content of a field.
    pub fn read(&mut self, field: Field) -> TermId {
        if field.mask == 0 {
            return self.constant(field.zero);
        }
        let range = (field.zero, field.number(self.max_raw_of(field)));
        self.intern(Term::Read(field), TermFacts { may_fault: false, support: TermSupport::One(field), range })
    }

    /// The content of a computed location.
    pub fn read_at(&mut self, locator: LocatorId) -> TermId {
        self.intern(Term::ReadAt(locator), TermFacts { may_fault: true, support: TermSupport::Many, range: ANY_NUMBER })
    }

    /// The content of the location that is in a register.
    pub fn read_located(&mut self, register: u32) -> TermId {
        self.intern(
            Term::ReadLocated(register),
            TermFacts { may_fault: false, support: TermSupport::Many, range: ANY_NUMBER },
        )
    }

    /// A register.
    pub fn register(&mut self, register: u32) -> TermId {
        self.intern(
            Term::Register(register),
            TermFacts { may_fault: false, support: TermSupport::Many, range: ANY_NUMBER },
        )
    }

    /// A computed location.
    pub fn locator(&mut self, locator: Locator) -> LocatorId {
        let next = LocatorId(self.locators.len() as u32);
        let id = *self.locator_ids.entry(locator.clone()).or_insert(next);
        if id == next {
            let element = match (locator.owner, locator.indices.as_slice()) {
                (None, &[(index, len)]) => {
                    let index = self.as_field(index).zip(u32::try_from(len).ok());
                    index.map(|(index, len)| RowElement { first: locator.first, len, index })
                }
                _ => None,
            };
            self.elements.push(element);
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
        self.intern(
            Term::In(field, set),
            TermFacts { may_fault: false, support: TermSupport::One(field), range: TRUTH },
        )
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

    /// Interns a term whose facts are those of a test that cannot be a fault.
    pub(super) fn safe_test(&mut self, term: Term) -> TermId {
        self.intern(term, TermFacts { may_fault: false, support: TermSupport::Many, range: TRUTH })
    }

    pub(super) fn intern(&mut self, term: Term, facts: TermFacts) -> TermId {
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

/// How many bits a field has.
pub(super) fn n_bits(field: Field) -> u32 {
    64 - field.mask.leading_zeros()
}
