//! View graphs: all edges that a view can show, with who moved as far as it shows that.
//!
//! In: closed views. Out: for a view its graph, in which a turn of a member or of another process that sees something of the view has its
//! own label, and all others are elsewhere; turns that change nothing in the view are edges, too. Every run is an infinite path of it.

use base::{Feature, StopReason, Unsupported};
use engine::{Contradiction, Halt};
use rustc_hash::{FxHashMap, FxHashSet};
use streett::{Arc, Graph};

use crate::views::{Row, TurnIdx, ViewIdx, Views};

/// Who moved, as a view shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// This turn, of a process that sees something of the view.
    Turn(TurnIdx),
    /// A turn of a process that sees nothing of it.
    Elsewhere,
}

/// The graph of a view.
#[derive(Clone, Debug)]
pub struct ViewGraph {
    /// Nodes are rows.
    pub graph: Graph,
    /// By edge.
    pub labels: Vec<Label>,
}

/// The graph of a view.
///
/// # Errors
/// A limit, or a contradiction.
pub fn view_graph(views: &Views<'_>, of: ViewIdx, most_edges: usize) -> Result<ViewGraph, Halt> {
    let view = &views.list[of];
    let mut found: FxHashSet<(u32, Label, u32)> = FxHashSet::default();
    for (row, turns) in view.turns.iter().enumerate() {
        found.extend(turns.iter().map(|own| (row as u32, Label::Turn(own.turn), own.to)));
        if view.touching.len() < views.model.processes.len() {
            found.insert((row as u32, Label::Elsewhere, row as u32));
        }
    }
    for process in view.touching.iter().filter(|process| !view.members.contains(process)) {
        external(views, of, process.index(), &mut found)?;
        if found.len() > most_edges {
            return Err(StopReason::from(Unsupported::about(Feature::Numbers, "edges")).into());
        }
    }
    let mut list: Vec<(u32, Label, u32)> = found.into_iter().collect();
    list.sort_unstable();
    let arcs = list.iter().map(|&(from, _, to)| Arc { from, to }).collect();
    let graph = Graph::new(view.rows.len(), arcs);
    Ok(ViewGraph { graph, labels: list.into_iter().map(|(_, label, _)| label).collect() })
}

/// Adds the turns of another process, from each of its view states that agrees on what both show.
fn external(
    views: &Views<'_>,
    seer: ViewIdx,
    actor: ViewIdx,
    found: &mut FxHashSet<(u32, Label, u32)>,
) -> Result<(), Halt> {
    let common = views.common(actor, seer);
    let (view, acting) = (&views.list[seer], &views.list[actor]);
    let mut by_shown: FxHashMap<Row, Vec<u32>> = FxHashMap::default();
    for row in 0..acting.rows.len() as u32 {
        by_shown.entry(acting.shown(row, &common.left)).or_default().push(row);
    }
    for row in 0..view.rows.len() as u32 {
        let shown = view.shown(row, &common.right);
        for &from in by_shown.get(&shown).map_or(&[][..], Vec::as_slice) {
            if !views.fit((actor, from), (seer, row)) {
                continue;
            }
            for own in &acting.turns[from as usize] {
                let after = acting.shown(own.to, &common.left);
                let to = if after == shown {
                    Some(row)
                } else {
                    view.number_of(&changed(&view.rows[row as usize], &common.right, &after))
                };
                match to {
                    Some(to) if views.fit((actor, own.to), (seer, to)) => {
                        found.insert((row, Label::Turn(own.turn), to));
                    }
                    Some(_) => {}
                    None if views.weights.is_empty() => {
                        let expected = "the view states of a process are closed under turns of others";
                        return Err(Contradiction::new(expected, "they are not").into());
                    }
                    // Additive invariants exclude it.
                    None => {}
                }
            }
        }
    }
    Ok(())
}

fn changed(row: &Row, places: &[usize], shown: &[u32]) -> Row {
    let mut after = row.clone();
    places.iter().zip(shown).for_each(|(&at, &number)| after[at] = number);
    after
}

/// Which edges of two views can be the same turn.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The class of each edge of the one view, and of the other; edges of one class are compatible with the same ones.
    left: Vec<u32>,
    right: Vec<u32>,
    /// For each class of the other view the classes of the one that go with it.
    fits: Vec<Vec<u32>>,
    n_left: usize,
}

/// What of an edge another view can tell.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Aspect {
    kind: Kind,
    before: Side,
    after: Side,
}

/// Whose turn an edge of one view is, as far as two views show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Both show it.
    Both(TurnIdx),
    /// Only this view shows it.
    Here,
    /// This view does not show it.
    Elsewhere,
}

/// One end of an edge: what both views show, and a row that stands for what additive invariants say.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Side {
    shown: Row,
    shares: crate::weights::Shares,
}

impl Pairing {
    /// Compares the edges of two views.
    pub fn new(
        views: &Views<'_>,
        (left, left_graph): (ViewIdx, &ViewGraph),
        (right, right_graph): (ViewIdx, &ViewGraph),
    ) -> Self {
        let common = views.common(left, right);
        let one = Classes::new(views, (left, left_graph), right, &common.left);
        let other = Classes::new(views, (right, right_graph), left, &common.right);
        let outside = |process: model::process::ProcessId| {
            !views.list[left].is_touched_by(process) && !views.list[right].is_touched_by(process)
        };
        let third = views.model.processes.ids().any(outside);
        let mut by_shown: FxHashMap<(&Row, &Row), Vec<usize>> = FxHashMap::default();
        for (class, (aspect, _)) in one.aspects.iter().enumerate() {
            by_shown.entry((&aspect.before.shown, &aspect.after.shown)).or_default().push(class);
        }
        let same = |a: Kind, b: Kind| match (a, b) {
            (Kind::Both(a), Kind::Both(b)) => a == b,
            (Kind::Here, Kind::Elsewhere) | (Kind::Elsewhere, Kind::Here) => true,
            (Kind::Elsewhere, Kind::Elsewhere) => third,
            _ => false,
        };
        let fits = other.aspects.iter().map(|(aspect, arc)| {
            let candidates = by_shown.get(&(&aspect.before.shown, &aspect.after.shown)).map_or(&[][..], Vec::as_slice);
            let fits = |&&class: &&usize| {
                let (theirs, their_arc) = &one.aspects[class];
                same(theirs.kind, aspect.kind)
                    && views.fit((left, their_arc.from), (right, arc.from))
                    && views.fit((left, their_arc.to), (right, arc.to))
            };
            candidates.iter().filter(fits).map(|&class| class as u32).collect()
        });
        let fits = fits.collect();
        Pairing { n_left: one.aspects.len(), left: one.of_edge, right: other.of_edge, fits }
    }

    /// Which edges of the right view are compatible with an edge of the left one that is named, by edge; the answer names edges of
    /// the right view by their number.
    pub fn compatible(&self, left: impl Iterator<Item = usize>) -> impl Fn(usize) -> bool {
        let mut present = vec![false; self.n_left];
        left.for_each(|edge| present[self.left[edge] as usize] = true);
        let allowed: Vec<bool> =
            self.fits.iter().map(|fits| fits.iter().any(|&class| present[class as usize])).collect();
        move |edge| allowed[self.right[edge] as usize]
    }
}

/// The edges of one view by what another can tell of them.
struct Classes {
    of_edge: Vec<u32>,
    /// Each class, with an edge of it.
    aspects: Vec<(Aspect, Arc)>,
}

impl Classes {
    fn new(views: &Views<'_>, (of, graph): (ViewIdx, &ViewGraph), other: ViewIdx, places: &[usize]) -> Self {
        let (view, other) = (&views.list[of], &views.list[other]);
        let shows = |turn: TurnIdx| {
            views.turns[turn as usize].processes().into_iter().any(|process| other.is_touched_by(process))
        };
        let mut numbers: FxHashMap<Aspect, u32> = FxHashMap::default();
        let mut classes = Classes { of_edge: Vec::new(), aspects: Vec::new() };
        let side = |row: u32| Side { shown: view.shown(row, places), shares: view.shares[row as usize].clone() };
        let sides: Vec<Side> = (0..view.rows.len() as u32).map(side).collect();
        for (edge, &label) in graph.labels.iter().enumerate() {
            let arc = graph.graph.arc(edge);
            let kind = match label {
                Label::Turn(turn) if shows(turn) => Kind::Both(turn),
                Label::Turn(_) => Kind::Here,
                Label::Elsewhere => Kind::Elsewhere,
            };
            let aspect =
                Aspect { kind, before: sides[arc.from as usize].clone(), after: sides[arc.to as usize].clone() };
            let next = classes.aspects.len() as u32;
            let class = *numbers.entry(aspect.clone()).or_insert(next);
            if class == next {
                classes.aspects.push((aspect, arc));
            }
            classes.of_edge.push(class);
        }
        classes
    }
}
