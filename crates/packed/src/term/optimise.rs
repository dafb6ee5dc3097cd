//! Lists of tests as comparisons of whole words.
//!
//! A test of a field that singles out some of its bits is a comparison under a mask, and several of them on one word are
//! one comparison. In an `&&` these come first in each run of parts that cannot be a fault; an `||` of negated ones is the
//! negation of such a comparison. Pairwise exclusions become counts ([`super::pairs`]).

use std::collections::HashSet;

use super::build::n_bits;
use super::connect::Connective;
use super::pairs::{ExclusivePair, cliques};
use super::{ListId, Term, TermId, TermPool, WordTest};
use crate::packing::Field;

/// Fewer parts that exclude each other are tested pair by pair.
const MIN_CLIQUE: usize = 4;

impl TermPool {
    /// A term with the same value and the same faults that is evaluated faster.
    pub fn optimise(&mut self, id: TermId) -> TermId {
        if let Some(&done) = self.optimised.get(&id) {
            return done;
        }
        let better = match self.term(id) {
            Term::And(list) => {
                let parts = self.list(list).to_vec();
                let parts = self.count_exclusions(parts);
                let parts = self.optimise_all(&parts);
                let parts = self.merge_tests(&parts, Connective::And);
                self.as_it_is(&parts, Connective::And)
            }
            Term::Or(list) => {
                let parts = self.list(list).to_vec();
                let parts = self.optimise_all(&parts);
                let parts = self.merge_tests(&parts, Connective::Or);
                self.as_it_is(&parts, Connective::Or)
            }
            Term::In(field, set) => match self.cube(field, set) {
                Some(test) => {
                    let list = self.tests_list(&[test]);
                    self.safe_test(Term::Masked(list))
                }
                None => id,
            },
            _ => id,
        };
        self.optimised.insert(id, better);
        better
    }

    /// A condition as tests of words, which come first, and what else there is to test.
    pub fn split_guard(&mut self, id: TermId) -> (Vec<WordTest>, Option<TermId>) {
        let id = self.optimise(id);
        match self.term(id) {
            Term::Const(number) if number != 0 => (Vec::new(), None),
            Term::Masked(list) => (self.tests_of(list).to_vec(), None),
            Term::And(list) => {
                let parts = self.list(list).to_vec();
                match self.term(parts[0]) {
                    Term::Masked(tests) => {
                        let rest = self.as_it_is(&parts[1..], Connective::And);
                        (self.tests_of(tests).to_vec(), Some(rest))
                    }
                    _ => (Vec::new(), Some(id)),
                }
            }
            _ => (Vec::new(), Some(id)),
        }
    }

    pub(super) fn test_of(&self, field: Field, mask: u64, value: u64) -> WordTest {
        WordTest { word: field.word, mask: field.in_place(mask), value: field.in_place(value) }
    }

    pub(super) fn tests_list(&mut self, tests: &[WordTest]) -> ListId {
        // Equal lists are made again and again by the points of one process.
        let known = self.test_lists.get(tests).copied();
        known.unwrap_or_else(|| {
            let list = ListId { first: self.tests.len() as u32, len: tests.len() as u32 };
            self.tests.extend(tests);
            self.test_lists.insert(tests.to_vec(), list);
            list
        })
    }

    fn optimise_all(&mut self, parts: &[TermId]) -> Vec<TermId> {
        // Tests of one field stay as they are: `merge_tests` takes them together.
        let mut better =
            |&part: &TermId| if matches!(self.term(part), Term::In(..)) { part } else { self.optimise(part) };
        parts.iter().map(&mut better).collect()
    }

    /// Replaces exclusions of pairs by counts where many parts exclude each other.
    fn count_exclusions(&mut self, parts: Vec<TermId>) -> Vec<TermId> {
        if parts.len() < MIN_CLIQUE || parts.iter().any(|&part| self.may_fault(part)) {
            return parts;
        }
        let pairs: Vec<Option<ExclusivePair>> = parts.iter().map(|&part| self.exclusion(part)).collect();
        let found = cliques(pairs.iter().flatten().copied().collect(), MIN_CLIQUE);
        let clique_of = |id: TermId| found.iter().map(move |clique| clique.binary_search(&id).is_ok());
        let covered = |pair: &Option<ExclusivePair>| {
            pair.is_some_and(|(a, b)| clique_of(a).zip(clique_of(b)).any(|(has_a, has_b)| has_a && has_b))
        };
        let mut rest: Vec<TermId> =
            parts.iter().zip(&pairs).filter(|(_, pair)| !covered(pair)).map(|(&part, _)| part).collect();
        for clique in found {
            let list = self.make_list(&clique);
            rest.push(self.safe_test(Term::AtMostOne(list)));
        }
        rest
    }

    /// The two tests of which a part says that they do not both hold.
    fn exclusion(&mut self, part: TermId) -> Option<ExclusivePair> {
        let Term::Or(list) = self.term(part) else { return None };
        let &[a, b] = self.list(list) else { return None };
        let is_test = |id| matches!(self.term(id), Term::In(..));
        (is_test(a) && is_test(b)).then(|| {
            let (a, b) = (self.not(a), self.not(b));
            (a.min(b), a.max(b))
        })
    }

    /// Joins the tests that compare bits with bits, run by run of parts that cannot be a fault.
    fn merge_tests(&mut self, parts: &[TermId], connective: Connective) -> Vec<TermId> {
        let mut merged = Vec::new();
        let safe = |&a: &TermId, &b: &TermId| !self.may_fault(a) && !self.may_fault(b);
        let runs: Vec<&[TermId]> = parts.chunk_by(safe).collect();
        for run in runs {
            let mut tests: Vec<WordTest> = Vec::new();
            let mut rest = Vec::new();
            let mut seen = HashSet::new();
            for &part in run {
                match self.tests_in(part, connective) {
                    Some(found) => found.into_iter().for_each(|test| add_test(&mut tests, test)),
                    None if seen.insert(part) => rest.push(part),
                    None => {}
                }
            }
            if !tests.is_empty() {
                let list = self.tests_list(&tests);
                let term = if connective == Connective::And { Term::Masked(list) } else { Term::NotMasked(list) };
                merged.push(self.safe_test(term));
            }
            merged.extend(rest);
        }
        merged
    }

    /// The tests of words that a part of an `&&` is, or that a part of an `||` is the negation of.
    fn tests_in(&self, part: TermId, connective: Connective) -> Option<Vec<WordTest>> {
        match (self.term(part), connective) {
            (Term::Masked(list), Connective::And) | (Term::NotMasked(list), Connective::Or) => {
                Some(self.tests_of(list).to_vec())
            }
            (Term::In(field, set), Connective::And) => self.cube(field, set).map(|test| vec![test]),
            (Term::In(field, set), Connective::Or) => {
                self.cube(field, !set & self.all_raws(field)).map(|test| vec![test])
            }
            _ => None,
        }
    }

    /// The test that some bits of the field have some values, if that is what being in the set means.
    fn cube(&self, field: Field, set: u64) -> Option<WordTest> {
        debug_assert!(n_bits(field) <= 6);
        let member = u64::from(set.trailing_zeros());
        let same = |mask: u64, raw: u64| ((raw ^ member) & mask == 0) == ((set >> raw) & 1 != 0);
        (1..=field.mask)
            .find(|&mask| (0..=self.max_raw_of(field)).all(|raw| same(mask, raw)))
            .map(|mask| self.test_of(field, mask, member & mask))
    }
}

fn add_test(tests: &mut Vec<WordTest>, test: WordTest) {
    match tests.iter_mut().find(|known| known.word == test.word && known.mask & test.mask == 0) {
        Some(known) => {
            known.mask |= test.mask;
            known.value |= test.value;
        }
        None => tests.push(test),
    }
}
