//! Edges of views, by definition: which there are, which can be the same turn, which lie in fair components.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::eval::Turn;
use model::process::ProcessId;

use super::views::{Item, View, Views, common};
use crate::certificate::{CertificateError, Outcome};

/// An edge: `None` where a process moved that sees nothing of the view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub turn: Option<Turn>,
}

/// More edges than this in one view are not looked at.
const MOST_EDGES: usize = 10_000_000;

/// All edges of a view.
pub(super) fn edges(views: &Views<'_>, view: &View) -> Outcome<Vec<Edge>> {
    let mut found: BTreeSet<Edge> = BTreeSet::new();
    let everybody = view.touching.len() == views.model.processes.len();
    for (from, options) in view.options.iter().enumerate() {
        let number = |row: &Vec<u32>| view.number(row);
        let own = |(turn, to): &(Turn, Vec<u32>)| Some(Edge { from, to: number(to)?, turn: Some(turn.clone()) });
        found.extend(options.turns.iter().filter_map(own));
        if !everybody {
            found.insert(Edge { from, to: from, turn: None });
        }
    }
    for actor in view.touching.iter().filter(|actor| !view.members.contains(actor)) {
        let actor = &views.list[actor.index()];
        let items = common(view, actor);
        let mut rows: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for (row, content) in actor.rows.iter().enumerate() {
            rows.entry(actor.shown(content, &items)).or_default().push(row);
        }
        for (from, content) in view.rows.iter().enumerate() {
            for &row in rows.get(&view.shown(content, &items)).into_iter().flatten() {
                if !views.weights.fit((view, from), (actor, row)) {
                    continue;
                }
                for (turn, after) in &actor.options[row].turns {
                    let Some(their) = actor.number(after) else { continue };
                    let Some(to) = view.number(&view.changed(content, &items, &actor.shown(after, &items))) else {
                        continue;
                    };
                    if views.weights.fit((view, to), (actor, their)) {
                        found.insert(Edge { from, to, turn: Some(turn.clone()) });
                    }
                }
            }
        }
        if found.len() > MOST_EDGES {
            return Err(CertificateError::NotSupported("there are too many edges".to_owned()));
        }
    }
    Ok(found.into_iter().collect())
}

/// What two views show of an edge: what both show before and after it, and whose turn it is, where both do.
type Aspect<'e> = (&'e [u32], &'e [u32], Option<&'e Turn>);

/// Which of some edges of a view can be the same turn as one of some edges of another.
pub(super) fn compatible(
    views: &Views<'_>,
    (one, edges): (&View, &[&Edge]),
    (other, candidates): (&View, &[Edge]),
) -> Vec<bool> {
    let items = common(one, other);
    let outside = |process: ProcessId| !one.touching.contains(&process) && !other.touching.contains(&process);
    let third = views.model.processes.ids().any(outside);
    let shown = |view: &View| -> Vec<Vec<u32>> { view.rows.iter().map(|row| view.shown(row, &items)).collect() };
    let (one_shown, other_shown) = (shown(one), shown(other));
    let mut known: HashMap<Aspect<'_>, BTreeSet<(usize, usize, bool)>> = HashMap::new();
    for edge in edges {
        let turn = edge.turn.as_ref().filter(|turn| shows(other, turn));
        let key = (&one_shown[edge.from][..], &one_shown[edge.to][..], turn);
        known.entry(key).or_default().insert((edge.from, edge.to, edge.turn.is_some()));
    }
    // Many edges have the same ends.
    let fitting: RefCell<HashMap<(usize, usize), bool>> = RefCell::default();
    let fit = |row: usize, other_row: usize| {
        let fits = || views.weights.fit((one, row), (other, other_row));
        *fitting.borrow_mut().entry((row, other_row)).or_insert_with(fits)
    };
    let is_compatible = |edge: &Edge| {
        let turn = edge.turn.as_ref().filter(|turn| shows(one, turn));
        let key = (&other_shown[edge.from][..], &other_shown[edge.to][..], turn);
        known.get(&key).into_iter().flatten().any(|&(from, to, is_shown)| {
            // Where they do not both show whose turn it is: one does, or somebody else moves whom neither shows.
            let same = turn.is_some()
                || match (is_shown, edge.turn.is_some()) {
                    (true, true) => false,
                    (false, false) => third,
                    _ => true,
                };
            same && fit(from, edge.from) && fit(to, edge.to)
        })
    };
    candidates.iter().map(is_compatible).collect()
}

/// Whether a view shows whose turn it is.
fn shows(view: &View, turn: &Turn) -> bool {
    view.touching.contains(&turn.process()) || !turn.processes().is_disjoint(&view.touching)
}

/// From some point on only at nodes of `stays`, or again and again an edge of `often`.
#[derive(Clone)]
pub(in crate::certificate) struct Condition {
    pub stays: Option<Vec<bool>>,
    pub often: Vec<bool>,
}

/// The fair components of a set of edges, given by their ends: each a list of edges.
pub(in crate::certificate) fn fair_components(
    ends: &[(usize, usize)],
    within: &[bool],
    conditions: &[Condition],
) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let all: Vec<usize> = (0..ends.len()).filter(|&edge| within[edge]).collect();
    let mut open = vec![all];
    while let Some(edges) = open.pop() {
        for component in components(ends, &edges) {
            let missed = |condition: &&Condition| !component.iter().any(|&edge| condition.often[edge]);
            let stays = |condition: &Condition, node: usize| condition.stays.as_ref().is_some_and(|stays| stays[node]);
            let is_left = |edge: &usize| {
                let (from, to) = ends[*edge];
                conditions.iter().filter(missed).all(|condition| stays(condition, from) && stays(condition, to))
            };
            let left: Vec<usize> = component.iter().copied().filter(is_left).collect();
            if left.len() == component.len() {
                found.push(component);
            } else {
                open.push(left);
            }
        }
    }
    found
}

/// The strongly connected components of some edges: an edge lies in one if its end leads back to its beginning.
fn components(ends: &[(usize, usize)], edges: &[usize]) -> Vec<Vec<usize>> {
    let (mut forward, mut backward): (BTreeMap<usize, Vec<usize>>, BTreeMap<usize, Vec<usize>>) = Default::default();
    for &edge in edges {
        let (from, to) = ends[edge];
        forward.entry(from).or_default().push(to);
        backward.entry(to).or_default().push(from);
    }
    let order = finished(&forward);
    let mut component: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, &root) in order.iter().rev().enumerate() {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if let std::collections::btree_map::Entry::Vacant(new) = component.entry(node) {
                new.insert(number);
                open.extend(backward.get(&node).into_iter().flatten().filter(|before| !component.contains_key(before)));
            }
        }
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &edge in edges {
        let (from, to) = ends[edge];
        if component[&from] == component[&to] {
            found.entry(component[&from]).or_default().push(edge);
        }
    }
    found.into_values().collect()
}

/// All nodes in the order in which a depth-first search leaves them (Kosaraju and Sharir).
fn finished(forward: &BTreeMap<usize, Vec<usize>>) -> Vec<usize> {
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    let nodes = forward.iter().flat_map(|(&from, to)| std::iter::once(from).chain(to.iter().copied()));
    for root in nodes {
        if !seen.insert(root) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, at)) = path.last_mut() {
            match forward.get(node).and_then(|next| next.get(*at)) {
                Some(&next) => {
                    *at += 1;
                    if seen.insert(next) {
                        path.push((next, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    order
}

/// The items that a view shows, where a condition speaks of cells and controls.
pub(super) fn shows_all(view: &View, items: &BTreeSet<Item>) -> bool {
    items.iter().all(|item| view.items.binary_search(item).is_ok())
}
