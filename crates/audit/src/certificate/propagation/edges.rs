//! Edges of views, by definition: which there are, which can be the same turn, which lie in fair components.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use model::eval::Turn;
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::views::{Item, View, Views, changed, common, shown};
use super::weights::Share;
use crate::certificate::{CertificateError, Outcome};

/// An edge: `None` where a process moved that sees nothing of the view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub turn: Option<Turn>,
}

/// More edges than this in one view are not examined.
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
    // Who takes such a turn changes nothing but what it sees, so nothing of the view; but another one that has a part in it sees something of that.
    let is_beside = |turn: &Turn| !view.touching.contains(&turn.process()) && shows(view, turn);
    for turn in views.joint_turns.iter().filter(|turn| is_beside(turn)) {
        found.extend((0..view.rows.len()).map(|row| Edge { from: row, to: row, turn: Some(turn.clone()) }));
    }
    for actor in view.touching.iter().filter(|actor| !view.members.contains(actor)) {
        let actor = &views.list[actor.index()];
        let items = common(view, actor);
        let (places, actor_places) = (view.places(&items), actor.places(&items));
        let fitting = views.weights.fitting(view, actor);
        let mut rows: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for (row, content) in actor.rows.iter().enumerate() {
            rows.entry(shown(content, &actor_places)).or_default().push(row);
        }
        for (from, content) in view.rows.iter().enumerate() {
            for &row in rows.get(&shown(content, &places)).into_iter().flatten() {
                if !fitting.fits(&view.shares[from], &actor.shares[row]) {
                    continue;
                }
                for (turn, after) in &actor.options[row].turns {
                    let Some(their) = actor.number(after) else { continue };
                    let Some(to) = view.number(&changed(content, &places, &shown(after, &actor_places))) else {
                        continue;
                    };
                    if fitting.fits(&view.shares[to], &actor.shares[their]) {
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

/// Which edges of two views can be the same turn. Edges of one class are compatible with the same edges of the other view: both views show the same
/// of them, and additive invariants say the same before and after them.
pub(super) struct Meeting {
    /// The class of each edge of the one view, and of the other.
    one: Vec<usize>,
    other: Vec<usize>,
    /// For each class of the other view those of the one that go with it.
    fits: Vec<Vec<usize>>,
    n_one: usize,
}

/// A class of edges: numbers of what both views show before and after, of the turn where both show it, and of what invariants say before and after.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    shown: (usize, usize),
    turn: Option<usize>,
    /// Whether the view shows whose turn it is.
    is_shown: bool,
    shares: (usize, usize),
}

/// The classes of the edges of one view.
#[derive(Default)]
struct Classes<'v> {
    of_edge: Vec<usize>,
    list: Vec<Class>,
    numbers: FxHashMap<Class, usize>,
    /// By number.
    shares: Vec<&'v [Share]>,
}

/// Numbers for values.
struct Numbering<T> {
    known: FxHashMap<T, usize>,
}

impl<T: Eq + Hash> Numbering<T> {
    fn new() -> Self {
        Numbering { known: FxHashMap::default() }
    }

    fn number(&mut self, value: T) -> usize {
        let next = self.known.len();
        *self.known.entry(value).or_insert(next)
    }
}

impl Meeting {
    /// Compares all edges of two views.
    pub fn new(views: &Views<'_>, (one, edges): (&View, &[Edge]), (other, others): (&View, &[Edge])) -> Self {
        let items = common(one, other);
        let outside = |process: ProcessId| !one.touching.contains(&process) && !other.touching.contains(&process);
        let third = views.model.processes.ids().any(outside);
        let (mut rows, mut turns) = (Numbering::new(), Numbering::new());
        let left = Classes::new((one, edges), (other, &items), &mut rows, &mut turns);
        let right = Classes::new((other, others), (one, &items), &mut rows, &mut turns);
        let mut alike: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (number, class) in left.list.iter().enumerate() {
            alike.entry((class.shown, class.turn)).or_default().push(number);
        }
        let fitting = views.weights.fitting(one, other);
        let mut known: FxHashMap<(usize, usize), bool> = FxHashMap::default();
        let mut fit =
            |a: usize, b: usize| *known.entry((a, b)).or_insert_with(|| fitting.fits(left.shares[a], right.shares[b]));
        let mut fits = Vec::new();
        for class in &right.list {
            let mut found = alike.get(&(class.shown, class.turn)).cloned().unwrap_or_default();
            found.retain(|&number| {
                let their = &left.list[number];
                // Where they do not both show which process has the turn: one does, or a process steps that neither shows.
                let same = class.turn.is_some()
                    || match (their.is_shown, class.is_shown) {
                        (true, true) => false,
                        (false, false) => third,
                        _ => true,
                    };
                same && fit(their.shares.0, class.shares.0) && fit(their.shares.1, class.shares.1)
            });
            fits.push(found);
        }
        Meeting { n_one: left.list.len(), one: left.of_edge, other: right.of_edge, fits }
    }

    /// For each edge of the other view whether it can be the same turn as one of some edges of the one.
    pub fn compatible(&self, edges: &[usize]) -> Vec<bool> {
        let mut present = vec![false; self.n_one];
        edges.iter().for_each(|&edge| present[self.one[edge]] = true);
        let fits: Vec<bool> = self.fits.iter().map(|fits| fits.iter().any(|&class| present[class])).collect();
        self.other.iter().map(|&class| fits[class]).collect()
    }
}

impl<'v> Classes<'v> {
    fn new(
        (view, edges): (&'v View, &'v [Edge]),
        (other, items): (&View, &[Item]),
        rows: &mut Numbering<Vec<u32>>,
        turns: &mut Numbering<&'v Turn>,
    ) -> Self {
        let places = view.places(items);
        let of_row: Vec<usize> = view.rows.iter().map(|row| rows.number(shown(row, &places))).collect();
        let mut classes = Classes::default();
        let mut numbers = Numbering::new();
        let mut of_share = Vec::new();
        for shares in &view.shares {
            let number = numbers.number(&shares[..]);
            if number == classes.shares.len() {
                classes.shares.push(shares);
            }
            of_share.push(number);
        }
        for edge in edges {
            let turn = edge.turn.as_ref().filter(|turn| shows(other, turn)).map(|turn| turns.number(turn));
            let class = Class {
                shown: (of_row[edge.from], of_row[edge.to]),
                turn,
                is_shown: edge.turn.is_some(),
                shares: (of_share[edge.from], of_share[edge.to]),
            };
            let next = classes.list.len();
            let number = *classes.numbers.entry(class).or_insert(next);
            if number == next {
                classes.list.push(class);
            }
            classes.of_edge.push(number);
        }
        classes
    }
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
