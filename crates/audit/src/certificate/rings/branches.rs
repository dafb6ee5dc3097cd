//! Finite trees of windows that violate a property.
//!
//! In: checked windows of processes of a tree, and what each state shows. Out: whether some finite tree shows what a violating state shows. Trees are made
//! layer by layer: first those of one process, which has no children; then those whose children are at the top of trees that
//! were made before. Of a tree is known what is at its top, and what it shows.

use std::collections::{BTreeMap, BTreeSet};

use evidence::rings::tree::{LEFT, RIGHT};

use super::round::Round;
use super::{Beside, Checker, Values};
use crate::certificate::Outcome;

/// What a tree shows, each at another of its processes.
type TestResults = Vec<bool>;

/// Whether there is such a tree.
pub(super) fn exist(checker: &Checker<'_>, round: &Round) -> Outcome<bool> {
    let sets = &checker.proof.windows;
    let links: Vec<(Beside, Vec<(usize, usize)>)> =
        checker.beside(&[LEFT, RIGHT]).into_iter().map(|beside| (beside, checker.common(beside))).collect();
    // For each link: what trees show that fit below, by what parent and child both see.
    let mut below: Vec<BTreeMap<Values, BTreeSet<TestResults>>> = vec![BTreeMap::new(); links.len()];
    let mut made: BTreeSet<(usize, usize, TestResults)> = BTreeSet::new();
    loop {
        checker.budget.check(0)?;
        let mut layer: Vec<(usize, usize, TestResults)> = Vec::new();
        for (window, set) in sets.iter().enumerate() {
            let children = &[LEFT, RIGHT][..set.word[0].right.min(2)];
            for (number, state) in set.states.iter().enumerate() {
                let stop = &round.stops[window][number];
                if !stop.may_pass {
                    continue;
                }
                let mut shown: BTreeSet<TestResults> = BTreeSet::from([vec![false; round.n_shown]]);
                for child in children {
                    let ways = links.iter().zip(&below);
                    let ways = ways.filter(|((link, _), _)| link.here == window && link.by == *child);
                    let theirs = ways.filter_map(|((_, common), below)| {
                        below.get(&common.iter().map(|&(at, _)| state[at]).collect::<Values>())
                    });
                    let theirs: BTreeSet<&TestResults> = theirs.flatten().collect();
                    shown = shown.iter().flat_map(|ours| theirs.iter().map(|theirs| either(ours, theirs))).collect();
                }
                for one in shown {
                    let own = (0..round.n_shown).filter(|&sign| stop.shows[sign]).map(|sign| {
                        let mut with = one.clone();
                        with[sign] = true;
                        with
                    });
                    let all: Vec<TestResults> = own.chain([one.clone()]).collect();
                    layer.extend(all.into_iter().map(|one| (window, number, one)));
                }
            }
        }
        let n_before = made.len();
        for tree in layer {
            let (window, number, shown) = &tree;
            let is_root = sets[*window].word[0].left == 0;
            if is_root && shown.iter().all(|shown| *shown) {
                return Ok(true);
            }
            if made.contains(&tree) {
                continue;
            }
            let state = &sets[*window].states[*number];
            for ((link, common), below) in links.iter().zip(&mut below).filter(|((link, _), _)| link.there == *window) {
                let seen: Values = common.iter().map(|&(_, at)| link.value(state[at])).collect();
                below.entry(seen).or_default().insert(shown.clone());
            }
            made.insert(tree);
        }
        if made.len() == n_before {
            return Ok(false);
        }
    }
}

fn either(ours: &TestResults, theirs: &TestResults) -> TestResults {
    ours.iter().zip(theirs).map(|(one, other)| *one || *other).collect()
}
