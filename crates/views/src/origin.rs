//! Where views come from: of a view that must not be, all steps that led to it, and what these relied on that views do not show.
//!
//! In: for each view the step that it was found by. Out: whether some step on the way to a configuration read what is hidden, and which columns, and whether some
//! needed a process that the view after it does not show. That says which views to try next, and is no part of a proof.

use std::collections::BTreeSet;

use evidence::views::ViewColumn;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fixpoint::each_subset;
use crate::packed::{Packed, Scratch, Shape, Slots};

/// The step that a view was found by.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The configuration in which it was taken: every `k` processes of it look like a view that was found before.
    pub row: Packed,
    /// The hidden columns that it read.
    pub hidden: Vec<ViewColumn>,
    /// Whether a process decided a quantifier that the view after the step does not show.
    pub is_witnessed: bool,
}

/// What the steps that led to a configuration relied on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reliance {
    /// Hidden columns, of which any contents were read.
    pub hidden: BTreeSet<ViewColumn>,
    /// Whether somebody decided a quantifier who was not seen afterwards.
    pub is_witnessed: bool,
}

/// For each view that is not an initial one where it comes from.
pub type Origins = FxHashMap<Packed, Origin>;

/// What the steps relied on that led to a configuration of `k` or more seen processes.
pub fn reliance(shape: &Shape, k: usize, origins: &Origins, last: &[u64]) -> Reliance {
    let mut found = Reliance::default();
    let mut met: FxHashSet<Packed> = FxHashSet::default();
    let mut open: Vec<Packed> = parts(shape, k, last);
    while let Some(view) = open.pop() {
        if !met.insert(view.clone()) {
            continue;
        }
        let Some(origin) = origins.get(&view) else { continue };
        found.hidden.extend(&origin.hidden);
        found.is_witnessed |= origin.is_witnessed;
        open.extend(parts(shape, k, &origin.row));
    }
    found
}

/// The views that a configuration is made of.
fn parts(shape: &Shape, k: usize, row: &[u64]) -> Vec<Packed> {
    let seen: Slots = Shape::seen(row);
    let mut scratch = Scratch::default();
    let mut found = Vec::new();
    each_subset(seen, k.min(seen.count_ones() as usize), &mut |chosen| {
        found.push(Packed::from(shape.part_in(row, chosen, &mut scratch)));
        true
    });
    found
}
