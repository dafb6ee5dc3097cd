//! Finite trees of windows: what a state of some tree would be.
//!
//! In: windows of processes of a tree with their states, which of these are allowed, and what has to be shown. Out: whether there is a finite tree that
//! shows it. A state is below one of the parent's window if both agree on all that both see; processes without children have none below them.
//! What can be at the top of some tree, and what such a tree can show, is found from the leaves upwards.

use base::{Budget, StopReason};
use evidence::rings::RingValue;
use evidence::rings::tree::{LEFT, RIGHT};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::heap::is_root;
use crate::walk::Wanted;
use crate::windows::Windows;

/// Sets of signs, as bits.
type Shown = u32;

/// Whether there is such a tree.
///
/// # Errors
/// A limit.
pub fn exists(windows: &Windows<'_>, wanted: &Wanted, budget: &Budget) -> Result<bool, StopReason> {
    let mut trees = Trees {
        windows,
        below: windows.next.iter().map(|_| FxHashMap::default()).collect(),
        found: windows.theta.iter().map(|set| vec![FxHashSet::default(); set.states.len()]).collect(),
    };
    let all = (1 << wanted.signs.len()) - 1;
    loop {
        budget.check(0)?;
        let mut is_new = false;
        for (shape, set) in windows.theta.iter().enumerate() {
            for state in (0..set.states.len()).filter(|&state| wanted.allowed[shape][state]) {
                is_new |= trees.grow(shape, state, wanted);
            }
        }
        let is_whole = |(shape, states): (usize, &Vec<FxHashSet<Shown>>)| {
            is_root(windows.shapes[shape].word[0]) && states.iter().any(|shown| shown.contains(&all))
        };
        if trees.found.iter().enumerate().any(is_whole) {
            return Ok(true);
        }
        if !is_new {
            return Ok(false);
        }
    }
}

struct Trees<'w, 'a> {
    windows: &'w Windows<'a>,
    /// For each pair of parent and child: what trees below show, by what both see.
    below: Vec<FxHashMap<Vec<RingValue>, FxHashSet<Shown>>>,
    /// What trees show that have a window in a state at their top.
    found: Vec<Vec<FxHashSet<Shown>>>,
}

impl Trees<'_, '_> {
    /// Trees with this at the top; whether there are new ones.
    fn grow(&mut self, shape: usize, state: usize, wanted: &Wanted) -> bool {
        let n_children = self.windows.shapes[shape].word[0].right;
        let values = &self.windows.theta[shape].states[state];
        let mut shown: FxHashSet<Shown> = FxHashSet::from_iter([0]);
        for child in [LEFT, RIGHT].into_iter().take(n_children) {
            let mut with_child = FxHashSet::default();
            for (at, pair) in self.windows.next.iter().enumerate() {
                if pair.here == shape && pair.by == child {
                    let theirs = self.below[at].get(&Windows::key(pair, Some(values), None));
                    for theirs in theirs.into_iter().flatten() {
                        with_child.extend(shown.iter().map(|ours| ours | theirs));
                    }
                }
            }
            shown = with_child;
        }
        // This process shows nothing, or one of the signs: each is shown by another one.
        let signs = wanted.signs.iter().enumerate().filter(|(_, sign)| sign[shape][state]);
        let with_own = signs.flat_map(|(at, _)| shown.iter().map(move |one| one | 1 << at).collect::<Vec<Shown>>());
        shown = with_own.collect::<Vec<Shown>>().into_iter().chain(shown.iter().copied()).collect();
        let is_new = shown.iter().any(|one| !self.found[shape][state].contains(one));
        if is_new {
            for (at, pair) in self.windows.next.iter().enumerate().filter(|(_, pair)| pair.there == shape) {
                self.below[at].entry(Windows::key(pair, None, Some(values))).or_default().extend(&shown);
            }
            self.found[shape][state].extend(shown);
        }
        is_new
    }
}
