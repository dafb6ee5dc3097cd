//! Lists of `&&` and `||`: flattened, without what never decides, tests of one field joined.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;

use super::build::TRUTH;
use super::{Term, TermFacts, TermId, TermPool, TermSupport};
use crate::packing::Field;

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
}

/// A run of parts that cannot be a fault.
#[derive(Default)]
struct FaultFreeParts {
    /// Where it begins.
    start: usize,
    /// Where the test of each field is.
    tests: HashMap<Field, usize, FxBuildHasher>,
    /// The other parts.
    seen: HashSet<TermId, FxBuildHasher>,
}

impl TermPool {
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

    /// Flattens, drops what never decides, stops behind what always does, and joins tests of one field.
    fn gathered(&mut self, parts: &[TermId], connective: Connective) -> Vec<TermId> {
        let neutral = self.truth(connective == Connective::And);
        let mut gathered: Vec<TermId> = Vec::with_capacity(parts.len());
        // What is known of the run of parts since the last that may be a fault: only within it parts may change places.
        let mut run = FaultFreeParts::default();
        let mut open: Vec<TermId> = parts.iter().rev().copied().collect();
        while let Some(part) = open.pop() {
            let part = self.as_test(part);
            match (self.term(part), connective) {
                (Term::And(list), Connective::And) | (Term::Or(list), Connective::Or) => {
                    open.extend(self.list(list).iter().rev());
                }
                _ if part == neutral => {}
                (Term::Const(_), _) => {
                    gathered.truncate(run.start);
                    gathered.push(part);
                    break;
                }
                (Term::Fault, _) => {
                    gathered.push(part);
                    break;
                }
                (Term::In(field, set), _) => match run.tests.get(&field) {
                    Some(&at) => {
                        let Term::In(_, before) = self.term(gathered[at]) else { continue };
                        let joint = if connective == Connective::And { before & set } else { before | set };
                        let joint = self.in_set(field, joint);
                        if self.as_constant(joint).is_some() {
                            gathered[at] = neutral;
                            run.tests.remove(&field);
                            open.push(joint);
                        } else {
                            gathered[at] = joint;
                        }
                    }
                    None => {
                        run.tests.insert(field, gathered.len());
                        gathered.push(part);
                    }
                },
                _ => {
                    if run.seen.insert(part) {
                        gathered.push(part);
                    }
                    if self.may_fault(part) {
                        run = FaultFreeParts { start: gathered.len(), ..FaultFreeParts::default() };
                    }
                }
            }
        }
        gathered.retain(|&part| part != neutral);
        gathered
    }

    fn connected(&mut self, parts: Vec<TermId>, connective: Connective) -> TermId {
        match parts.as_slice() {
            [] => self.truth(connective == Connective::And),
            [only] => *only,
            _ => {
                let facts = TermFacts {
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

    /// Interns a list of parts as it is, with nothing joined or folded.
    pub(super) fn as_it_is(&mut self, parts: &[TermId], connective: Connective) -> TermId {
        match parts {
            [] => self.truth(connective == Connective::And),
            [only] => *only,
            _ => {
                let may_fault = parts.iter().any(|&part| self.may_fault(part));
                let list = self.make_list(parts);
                let term = if connective == Connective::And { Term::And(list) } else { Term::Or(list) };
                self.intern(term, TermFacts { may_fault, support: TermSupport::Many, range: TRUTH })
            }
        }
    }
}
