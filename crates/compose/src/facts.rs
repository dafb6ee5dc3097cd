//! Facts: what was proved about a program so far, for every method to use.
//!
//! In: claims, each with the facts that its check may assume. Out: ids under which later proofs name them, and the certificate of a
//! property: all that was proved on the way, in order. Only closed facts are here: one is added when its proof is complete, and it
//! can name earlier ones only, since there is no id of a later one yet; so the order of the list is well-founded.

use base::{Id, IdVec};
use evidence::certificate::{Claim, Fact};
use evidence::{Certificate, Scope};

/// Names a fact of a store.
pub type FactId = Id<ClosedFact>;

/// A fact whose proof is complete.
#[derive(Clone, Debug)]
pub struct ClosedFact {
    /// What is claimed, with what its checker needs.
    claim: Claim,
    /// The earlier facts that its check may assume.
    uses: Vec<FactId>,
}

/// The kinds of facts: what a method can use one for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// Sets of view states of one process each: may be intersected with any other local set.
    LocalSet,
    /// Sets of view states of `k` processes each.
    KIndex(usize),
    /// Path edges of programs with procedures.
    PathEdges,
    /// Sums over cells that are sums over processes.
    Sums,
    /// No fair run stays in a set of edges for ever: may be dropped from fair components.
    Lemma,
}

impl ClosedFact {
    /// What kind of fact it is.
    pub fn kind(&self) -> FactKind {
        match &self.claim {
            Claim::SplitInvariant(invariant) if invariant.k == 1 => FactKind::LocalSet,
            Claim::SplitInvariant(invariant) => FactKind::KIndex(invariant.k),
            Claim::NoFairRun(_) | Claim::Refutation(_) | Claim::Exchanged(_) | Claim::Crowd(_) => FactKind::Lemma,
            Claim::Sights(_) => FactKind::Sums,
            Claim::Pushdown(_) => FactKind::PathEdges,
            Claim::Views(proof) => FactKind::KIndex(proof.k),
            Claim::Rings(proof) => FactKind::KIndex(proof.width),
            Claim::Fine(_) => FactKind::KIndex(2),
            Claim::Counting(_) => FactKind::Sums,
        }
    }

    /// What is claimed.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The earlier facts that its check may assume.
    pub fn uses(&self) -> &[FactId] {
        &self.uses
    }
}

/// The facts that were proved about one program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    closed: IdVec<ClosedFact>,
}

impl Facts {
    /// Adds a fact whose proof is complete.
    ///
    /// # Panics
    /// If a fact that it uses is not in this store.
    pub fn add(&mut self, claim: Claim, uses: &[FactId]) -> FactId {
        assert!(uses.iter().all(|&used| self.closed.get(used).is_some()), "a proof uses facts that are proved");
        self.closed.push(ClosedFact { claim, uses: uses.to_vec() })
    }

    /// A fact.
    pub fn get(&self, id: FactId) -> &ClosedFact {
        &self.closed[id]
    }

    /// The facts of a kind, in the order in which they were proved.
    pub fn of_kind(&self, kind: FactKind) -> impl Iterator<Item = FactId> {
        self.closed.entries().filter(move |(_, fact)| fact.kind() == kind).map(|(id, _)| id)
    }

    /// The certificate of a property that the last fact implies, for this instance.
    pub fn into_certificate(self, property: &str) -> Certificate {
        let fact = |closed: &ClosedFact| Fact {
            claim: closed.claim.clone(),
            uses: closed.uses.iter().map(|used| used.index()).collect(),
        };
        let facts = self.closed.iter().map(fact).collect();
        Certificate { property: property.to_owned(), scope: Scope::Instance, facts, implies: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use evidence::certificate::SplitInvariant;

    use super::*;

    fn invariant(k: usize) -> Claim {
        Claim::SplitInvariant(SplitInvariant {
            k,
            symmetry: None,
            points: Vec::new(),
            exposed: Vec::new(),
            members: Vec::new(),
        })
    }

    #[test]
    fn facts_stand_in_the_order_of_their_proofs() {
        let mut facts = Facts::default();
        let first = facts.add(invariant(1), &[]);
        let second = facts.add(invariant(2), &[first]);
        assert_eq!((facts.get(first).kind(), facts.get(second).kind()), (FactKind::LocalSet, FactKind::KIndex(2)));
        assert_eq!(facts.of_kind(FactKind::LocalSet).collect::<Vec<_>>(), [first]);
        let certificate = facts.into_certificate("mutex");
        assert_eq!(certificate.facts.iter().map(|fact| fact.uses.clone()).collect::<Vec<_>>(), [vec![], vec![0]]);
        assert!(certificate.scope.is_instance());
    }

    #[test]
    #[should_panic(expected = "a proof uses facts that are proved")]
    fn a_fact_that_is_not_proved_is_not_used() {
        let mut other = Facts::default();
        other.add(invariant(1), &[]);
        let unknown = other.add(invariant(1), &[]);
        Facts::default().add(invariant(1), &[unknown]);
    }
}
