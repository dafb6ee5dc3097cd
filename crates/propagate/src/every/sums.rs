//! Sums for every size: a number that what is shared shows is a sum over all processes.
//!
//! In: the view graph. Out: sums that hold in every reachable state, whatever the number of processes. The left side is a number for each
//! view that depends on the values that are shared only, the right side what the process of the view adds; both are 0 in the beginning. A
//! guess is that one value of a cell weighs 1, or that a number weighs itself; what local states weigh then follows along own edges.
//! What does not hold together with the others is dropped (Houdini; Flanagan and Leino 2001).

use std::collections::{BTreeMap, BTreeSet};

use ::views::configuration::Item;
use evidence::crowd::CrowdSum;
use model::value::Value;
use rustc_hash::FxHashMap;

use super::edges::{Crowd, Edge, ME, Mover};

pub use evidence::crowd::CrowdSum as Sum;

/// A cell with more values than this is not weighed value by value.
const MOST_VALUES: usize = 6;

/// The sums that hold, and at which views all of them are possible.
pub fn sums(crowd: &Crowd<'_>) -> Vec<Sum> {
    let mut found: Vec<Sum> = Vec::new();
    for left in guesses(crowd) {
        if let Some(sum) = completed(crowd, left)
            && !found.contains(&sum)
        {
            found.push(sum);
        }
    }
    loop {
        let possible = possible(crowd, &found);
        let kept: Vec<Sum> = found.iter().filter(|sum| holds(crowd, sum, &possible)).cloned().collect();
        if kept.len() == found.len() {
            return kept;
        }
        found = kept;
    }
}

/// At which views sums leave the other processes something that they can have.
pub fn possible(crowd: &Crowd<'_>, sums: &[Sum]) -> Vec<bool> {
    (0..crowd.views.len()).map(|view| sums.iter().all(|sum| sum.left[view] >= sum.right[view])).collect()
}

/// Whether every edge changes both sides by the same amount.
fn holds(crowd: &Crowd<'_>, sum: &Sum, possible: &[bool]) -> bool {
    let is_kept = |edge: &Edge| {
        let left = sum.left[edge.to] - sum.left[edge.from];
        let right = sum.right[edge.to] - sum.right[edge.from];
        match edge.mover {
            Mover::Me => left == right,
            Mover::Other(_) => right == 0,
            Mover::Outside(_) => left == 0 && right == 0,
        }
    };
    crowd.edges.iter().filter(|edge| possible[edge.from]).all(is_kept)
}

/// Left sides, which are 0 in the beginning.
fn guesses(crowd: &Crowd<'_>) -> Vec<Vec<i64>> {
    let n_columns = crowd.ground.layout.shared.len();
    let mut found = Vec::new();
    for column in 0..n_columns {
        let values: BTreeSet<Item> = crowd.views.iter().map(|view| view.shared[column]).collect();
        if values.len() < 2 || !values.iter().all(|item| matches!(item, Item::Value(_))) {
            continue;
        }
        let mut weigh = |weight: &dyn Fn(Item) -> i64| {
            let weights: Vec<i64> = crowd.views.iter().map(|view| weight(view.shared[column])).collect();
            let starts: BTreeSet<i64> = crowd.initial.iter().map(|&view| weights[view]).collect();
            if let (Some(&start), 1) = (starts.first(), starts.len()) {
                found.push(weights.into_iter().map(|weight| weight - start).collect());
            }
        };
        if values.len() <= MOST_VALUES {
            for &value in &values {
                weigh(&|item| i64::from(item == value));
                weigh(&|item| -i64::from(item == value));
            }
        }
        if values.iter().all(|item| matches!(item, Item::Value(Value::Int(_)))) {
            let number = |item: Item| if let Item::Value(Value::Int(number)) = item { number } else { 0 };
            weigh(&number);
            weigh(&|item| -number(item));
        }
    }
    found
}

/// A left side with what processes add: along the steps of a process alone first, which are real.
fn completed(crowd: &Crowd<'_>, left: Vec<i64>) -> Option<CrowdSum> {
    let local = |view: usize| -> Vec<Item> {
        let blind = |item: &Item| if matches!(item, Item::Slot(_) | Item::Taken(_)) { Item::Taken(0) } else { *item };
        crowd.views[view].slots[ME as usize].iter().flatten().map(blind).collect()
    };
    let mut own: FxHashMap<usize, Vec<&Edge>> = FxHashMap::default();
    for edge in crowd.edges.iter().filter(|edge| edge.mover == Mover::Me) {
        own.entry(edge.from).or_default().push(edge);
    }
    let mut weights: BTreeMap<Vec<Item>, i64> = BTreeMap::new();
    let mut open: Vec<usize> = crowd.initial.clone();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    open.iter().for_each(|&view| _ = weights.insert(local(view), 0));
    let mut is_alone = true;
    loop {
        while let Some(view) = open.pop() {
            let Some(&before) = weights.get(&local(view)) else { continue };
            for edge in own.get(&view).into_iter().flatten() {
                let after = before + left[edge.to] - left[edge.from];
                if *weights.entry(local(edge.to)).or_insert(after) != after && is_alone {
                    return None;
                }
                if seen.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        is_alone = false;
        let more = (0..crowd.views.len()).filter(|view| !seen.contains(view) && weights.contains_key(&local(*view)));
        open = more.collect();
        if open.is_empty() {
            break;
        }
        seen.extend(&open);
    }
    let right: Vec<i64> = (0..crowd.views.len()).map(|view| weights.get(&local(view)).copied().unwrap_or(0)).collect();
    (right.iter().all(|&weight| weight >= 0) && right.iter().any(|&weight| weight > 0))
        .then_some(CrowdSum { left, right })
}
