//! View graphs: all edges that a view can show, with the mover as far as it shows that.
//!
//! In: closed views. Out: for a view its graph, in which a turn of a member or of another process that sees something of the view has its
//! own label, and all others are elsewhere; turns that change nothing in the view are edges, too. Every run is an infinite path of it.

use std::collections::BTreeSet;

use base::{Feature, StopReason, Unsupported};
use engine::{Contradiction, Halt};
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};
use streett::{GraphArc, MarkedGraph};

use crate::views::{Row, TurnIdx, ViewIdx, Views};

/// The process that stepped, as a view shows it.
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
    pub graph: MarkedGraph,
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
    for turn in unseen_joint_turns(views, of) {
        found.extend((0..view.rows.len() as u32).map(|row| (row, Label::Turn(turn), row)));
    }
    let is_other = |process: &&ProcessId| !view.members.contains(process) && views.is_made(**process);
    for process in view.touching.iter().filter(is_other) {
        external(views, of, process.index(), &mut found)?;
        if found.len() > most_edges {
            return Err(StopReason::from(Unsupported::about(Feature::Numbers, "edges")).into());
        }
    }
    let mut list: Vec<(u32, Label, u32)> = found.into_iter().collect();
    list.sort_unstable();
    let arcs = list.iter().map(|&(from, _, to)| GraphArc { from, to }).collect();
    let graph = MarkedGraph::new(view.rows.len(), arcs);
    Ok(ViewGraph { graph, labels: list.into_iter().map(|(_, label, _)| label).collect() })
}

/// The turns of several processes, of which one sees something of a view, but not the one whose step it is: it changes nothing there, since it sees all
/// that it changes.
fn unseen_joint_turns(views: &Views<'_>, of: ViewIdx) -> BTreeSet<TurnIdx> {
    if views.model.channels.is_empty() {
        return BTreeSet::new();
    }
    let view = &views.list[of];
    let is_one = |turn: &TurnIdx| {
        let turn = &views.turns[*turn as usize];
        !view.is_touched_by(turn.process()) && turn.processes().into_iter().any(|process| view.is_touched_by(process))
    };
    // Those that views show now; some were taken before sums excluded where.
    let alone = views.list.iter().take(views.model.processes.len());
    let taken: BTreeSet<TurnIdx> = alone.flat_map(|view| view.turns.iter().flatten()).map(|own| own.turn).collect();
    taken.into_iter().filter(is_one).collect()
}

/// What a turn of another process does to what a view shows, as far as the view and additive invariants decide.
struct Effect {
    turn: TurnIdx,
    /// Rows of the other process before and after it; there may be others with the same projection.
    from: u32,
    to: u32,
    /// What both show after it.
    after: Row,
}

/// Adds the turns of another process, from each of its view states that agrees on what both show.
fn external(
    views: &Views<'_>,
    seer: ViewIdx,
    actor: ViewIdx,
    found: &mut FxHashSet<(u32, Label, u32)>,
) -> Result<(), Halt> {
    let (common, fitting) = (views.common(actor, seer), views.fitting(actor, seer));
    let (view, acting) = (&views.list[seer], &views.list[actor]);
    let fit = |row: u32, own: u32| fitting.fits(&acting.shares[row as usize], &view.shares[own as usize]);
    let effects = effects(views, actor, &common.left);
    let mut after = Row::default();
    for row in 0..view.rows.len() as u32 {
        let shown = view.shown(row, &common.right);
        for effect in effects.get(&shown).map_or(&[][..], Vec::as_slice) {
            if !fit(effect.from, row) {
                continue;
            }
            let to = if effect.after == shown {
                Some(row)
            } else {
                after.clone_from(&view.rows[row as usize]);
                common.right.iter().zip(&effect.after).for_each(|(&at, &number)| after[at] = number);
                view.number_of(&after)
            };
            match to {
                Some(to) if fit(effect.to, to) => {
                    found.insert((row, Label::Turn(effect.turn), to));
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
    Ok(())
}

/// The turns of a process by what another view shows before them; those with the same projection, once.
fn effects(views: &Views<'_>, actor: ViewIdx, places: &[usize]) -> FxHashMap<Row, Vec<Effect>> {
    let acting = &views.list[actor];
    let mut shares = Numbers::default();
    let shares: Vec<u32> = acting.shares.iter().map(|one| shares.number(one)).collect();
    let mut shown = Numbers::default();
    let shown: Vec<u32> = (0..acting.rows.len() as u32).map(|row| shown.number(&acting.shown(row, places))).collect();
    let mut known: FxHashSet<(TurnIdx, [u32; 4])> = FxHashSet::default();
    let mut found: FxHashMap<Row, Vec<Effect>> = FxHashMap::default();
    for from in 0..acting.rows.len() as u32 {
        for own in &acting.turns[from as usize] {
            let (before, after) = (from as usize, own.to as usize);
            if known.insert((own.turn, [shown[before], shown[after], shares[before], shares[after]])) {
                let effect = Effect { turn: own.turn, from, to: own.to, after: acting.shown(own.to, places) };
                found.entry(acting.shown(from, places)).or_default().push(effect);
            }
        }
    }
    found
}

/// Numbers for values, in the order in which they come up.
struct Numbers<T> {
    known: FxHashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { known: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    fn number(&mut self, value: &T) -> u32 {
        if let Some(&known) = self.known.get(value) {
            return known;
        }
        let next = self.known.len() as u32;
        self.known.insert(value.clone(), next);
        next
    }
}

/// Which edges of two views can be the same turn.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The class of each edge of the one view, and of the other; edges of one class are compatible with the same ones.
    left: Vec<u32>,
    right: Vec<u32>,
    /// For each class of the one view the classes of the other that go with it.
    fits: Vec<Vec<u32>>,
    n_right: usize,
}

/// What of an edge another view shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Aspect {
    kind: Kind,
    before: Side,
    after: Side,
}

/// The process that has the turn of an edge of one view, as far as two views show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Both show it.
    Both(TurnIdx),
    /// Only this view shows it.
    Here,
    /// This view does not show it.
    Elsewhere,
}

/// One end of an edge, by numbers: what both views show, and what additive invariants say there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Side {
    shown: u32,
    shares: u32,
}

/// What classes that go together agree on: what both show before and after, and which process has the turn, where both show that.
type Agreed = (u32, u32, Option<TurnIdx>);

impl Aspect {
    fn agreed(&self) -> Agreed {
        let turn = if let Kind::Both(turn) = self.kind { Some(turn) } else { None };
        (self.before.shown, self.after.shown, turn)
    }
}

impl Pairing {
    /// Compares the edges of two views.
    pub fn new(
        views: &Views<'_>,
        (left, left_graph): (ViewIdx, &ViewGraph),
        (right, right_graph): (ViewIdx, &ViewGraph),
    ) -> Self {
        let common = views.common(left, right);
        let mut shown = Numbers::default();
        let one = Classes::new(views, (left, left_graph), right, (&common.left, &mut shown));
        let other = Classes::new(views, (right, right_graph), left, (&common.right, &mut shown));
        let outside = |process: model::process::ProcessId| {
            !views.list[left].is_touched_by(process) && !views.list[right].is_touched_by(process)
        };
        let third = views.model.processes.ids().any(outside);
        let mut by_agreed: FxHashMap<Agreed, Vec<u32>> = FxHashMap::default();
        for (class, (aspect, _)) in one.aspects.iter().enumerate() {
            by_agreed.entry(aspect.agreed()).or_default().push(class as u32);
        }
        let same = |a: Kind, b: Kind| match (a, b) {
            (Kind::Both(a), Kind::Both(b)) => a == b,
            (Kind::Here, Kind::Elsewhere) | (Kind::Elsewhere, Kind::Here) => true,
            (Kind::Elsewhere, Kind::Elsewhere) => third,
            _ => false,
        };
        // Whether rows fit depends on what additive invariants say there, and on nothing else.
        let mut known: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        let fitting = views.fitting(left, right);
        let (left_shares, right_shares) = (&views.list[left].shares, &views.list[right].shares);
        let mut fit = |(a, row): (Side, u32), (b, other_row): (Side, u32)| {
            let fits = || fitting.fits(&left_shares[row as usize], &right_shares[other_row as usize]);
            *known.entry((a.shares, b.shares)).or_insert_with(fits)
        };
        let mut fits = vec![Vec::new(); one.aspects.len()];
        for (number, (aspect, arc)) in other.aspects.iter().enumerate() {
            let candidates = by_agreed.get(&aspect.agreed()).map_or(&[][..], Vec::as_slice);
            for &class in candidates {
                let (theirs, their_arc) = &one.aspects[class as usize];
                if same(theirs.kind, aspect.kind)
                    && fit((theirs.before, their_arc.from), (aspect.before, arc.from))
                    && fit((theirs.after, their_arc.to), (aspect.after, arc.to))
                {
                    fits[class as usize].push(number as u32);
                }
            }
        }
        Pairing { n_right: other.aspects.len(), left: one.of_edge, right: other.of_edge, fits }
    }

    /// Which edges of the right view are compatible with an edge of the left one that is named, by edge; the answer names edges of
    /// the right view by their number.
    pub fn compatible(&self, left: impl Iterator<Item = usize>) -> impl Fn(usize) -> bool {
        let mut present = vec![false; self.fits.len()];
        let mut allowed = vec![false; self.n_right];
        for edge in left {
            let class = self.left[edge] as usize;
            if !std::mem::replace(&mut present[class], true) {
                self.fits[class].iter().for_each(|&other| allowed[other as usize] = true);
            }
        }
        move |edge| allowed[self.right[edge] as usize]
    }
}

/// The edges of one view by what another shows of them.
struct Classes {
    of_edge: Vec<u32>,
    /// Each class, with an edge of it.
    aspects: Vec<(Aspect, GraphArc)>,
}

impl Classes {
    /// The classes of the edges of a view; what both show, at these places of its rows, has numbers in common with the other view.
    fn new(
        views: &Views<'_>,
        (of, graph): (ViewIdx, &ViewGraph),
        other: ViewIdx,
        (places, shown): (&[usize], &mut Numbers<Row>),
    ) -> Self {
        let (view, other) = (&views.list[of], &views.list[other]);
        let shows = |turn: TurnIdx| {
            views.turns[turn as usize].processes().into_iter().any(|process| other.is_touched_by(process))
        };
        let mut shown_turns: FxHashMap<TurnIdx, bool> = FxHashMap::default();
        let mut numbers: FxHashMap<Aspect, u32> = FxHashMap::default();
        let mut classes = Classes { of_edge: Vec::with_capacity(graph.labels.len()), aspects: Vec::new() };
        let mut shares = Numbers::default();
        let side = |row: u32| Side {
            shown: shown.number(&view.shown(row, places)),
            shares: shares.number(&view.shares[row as usize]),
        };
        let sides: Vec<Side> = (0..view.rows.len() as u32).map(side).collect();
        for (edge, &label) in graph.labels.iter().enumerate() {
            let arc = graph.graph.arc(edge);
            let kind = match label {
                Label::Turn(turn) if *shown_turns.entry(turn).or_insert_with(|| shows(turn)) => Kind::Both(turn),
                Label::Turn(_) => Kind::Here,
                Label::Elsewhere => Kind::Elsewhere,
            };
            let aspect = Aspect { kind, before: sides[arc.from as usize], after: sides[arc.to as usize] };
            let next = classes.aspects.len() as u32;
            let class = *numbers.entry(aspect).or_insert(next);
            if class == next {
                classes.aspects.push((aspect, arc));
            }
            classes.of_edge.push(class);
        }
        classes
    }
}
