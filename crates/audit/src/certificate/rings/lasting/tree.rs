//! Places to stay that are in no finite tree.
//!
//! In: places to stay of processes of a tree. Out: those that are excluded. Each process of a run has one; that of a parent and that of a child go together. *Rooted* is
//! what has, below it, for each of its children something that goes together with it and is rooted: this begins with processes that have no
//! children. *Hung* is what belongs to the root, or goes together with something above it that is hung and whose other children have something
//! rooted. What is not both is in no tree.

use std::collections::{BTreeMap, BTreeSet};

use evidence::rings::tree::{LEFT, PARENT, RIGHT};
use evidence::rings::{Network, ProcessType};

use super::{Checker, Direction, MOST_PLACES, Search};
use crate::certificate::{CertificateError, Outcome};

/// The names by which windows of a tree tell who moves: those one edge away, and those further away where they can touch the window.
pub(super) fn told(checker: &Checker<'_>) -> BTreeSet<i64> {
    let near = BTreeSet::from([0, PARENT, LEFT, RIGHT]);
    if checker.proof.network == Network::Line {
        return near;
    }
    let all: BTreeSet<i64> = checker.distances().into_iter().chain([0]).collect();
    let far: Vec<i64> = all.difference(&near).copied().collect();
    let touch = checker.beside(&far).into_iter().any(|beside| !checker.common(beside).is_empty());
    if touch { all } else { near }
}

/// The children and the parent of a process of a type.
pub(super) fn ways(of: ProcessType) -> Vec<Direction> {
    let mut found: Vec<Direction> =
        (0..of.right).map(|child| Direction { is_right: true, by: [LEFT, RIGHT][child] }).collect();
    if of.left > 0 {
        found.push(Direction { is_right: false, by: if of.residue == 0 { RIGHT } else { LEFT } });
    }
    found
}

impl Search<'_, '_, '_> {
    /// Excludes what is in no finite tree; whether there was something.
    pub(super) fn cut_down(&mut self) -> Outcome<bool> {
        let mut around: Vec<BTreeMap<Direction, BTreeSet<usize>>> = Vec::new();
        while around.len() < self.places.len() {
            self.stage.checker.budget.check(0)?;
            if self.places.len() > MOST_PLACES {
                return Err(CertificateError::NotSupported("there are too many places to stay".to_owned()));
            }
            let at = around.len();
            if self.is_within(at) {
                self.places[at].is_excluded = true;
            }
            let ways = if self.is_judged(at) { Vec::new() } else { self.ways(at) };
            around.push(ways.into_iter().map(|way| (way, self.beside(at, way))).collect());
        }
        let asked: BTreeSet<usize> = (0..self.places.len()).filter(|&at| !self.is_judged(at)).collect();
        let mut rooted: BTreeSet<usize> = BTreeSet::new();
        while let Some(more) = more(&asked, &rooted, |at| {
            let mut below = around[at].iter().filter(|(way, _)| way.is_right);
            below.all(|(_, below)| !below.is_disjoint(&rooted))
        }) {
            rooted.extend(more);
        }
        let mut hung: BTreeSet<usize> = BTreeSet::new();
        while let Some(more) = more(&asked, &hung, |at| {
            let Some((way, above)) = around[at].iter().find(|(way, _)| !way.is_right) else { return true };
            above.intersection(&hung).any(|&above| {
                let mut others = around[above].iter().filter(|(other, _)| other.is_right && other.by != way.by);
                others.all(|(_, below)| !below.is_disjoint(&rooted))
            })
        }) {
            hung.extend(more);
        }
        let left: Vec<usize> = asked.into_iter().filter(|at| !(rooted.contains(at) && hung.contains(at))).collect();
        left.iter().for_each(|&at| self.places[at].is_excluded = true);
        Ok(!left.is_empty())
    }

    /// Whether nothing more is to be known of it: it is excluded, or is represented by its parts.
    fn is_judged(&self, at: usize) -> bool {
        self.places[at].is_excluded || self.places[at].parts.is_some()
    }
}

/// What belongs to a set besides what is in it already.
fn more(asked: &BTreeSet<usize>, known: &BTreeSet<usize>, belongs: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
    let found: Vec<usize> = asked.difference(known).copied().filter(|&at| belongs(at)).collect();
    (!found.is_empty()).then_some(found)
}
