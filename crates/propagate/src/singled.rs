//! Sets of edges that speak of crowds, and processes that leave them.
//!
//! In: sets in which the edges of a crowd's first process represent those of all. In the view of any other process, what a process of the crowd does is labelled as turns of
//! its first one, and in the view of the first one as turns of the second. Out: what is compatible with such sets; sets in which one process has left its crowd, so that
//! there are edges with its own turns besides, wherever there were some of the crowd.

use std::rc::Rc;

use engine::{Contradiction, Halt};
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use streett::EdgeBits;

use crate::graph::{Label, ViewGraph};
use crate::refute::{Node, Refuter, Sets};
use crate::views::ViewIdx;

/// Edges by what they are.
#[derive(Default)]
pub(crate) struct Lookups {
    of_view: FxHashMap<ViewIdx, Rc<EdgesOfView>>,
    of_product: Option<Rc<EdgesOfProduct>>,
}

/// By row before, row after and label.
type EdgesOfView = FxHashMap<(u32, u32, Label), u32>;

/// By node before, node after and edge of the view; there is one for each edge of the automaton, always in the same order.
type EdgesOfProduct = FxHashMap<(u32, u32, u32), Vec<u32>>;

impl Refuter<'_, '_> {
    /// Whether the set of a spot represents those of a crowd.
    pub(crate) fn is_crowd(&self, spot: usize) -> bool {
        self.crowd_at(spot).is_some()
    }

    fn crowd_at(&self, spot: usize) -> Option<usize> {
        let crowd = *self.crowd_of.get(spot)?;
        crowd.filter(|&crowd| self.question.crowds[crowd].first().index() == spot)
    }

    /// Whether a process has a set: it is in no crowd, has left it, or represents it.
    pub(crate) fn has_set(&self, process: ProcessId, sets: &Sets) -> bool {
        let Some(number) = self.crowd_of[process.index()] else { return true };
        let crowd = &self.question.crowds[number];
        crowd.first() == process || crowd.spares()[..sets.singled[number]].contains(&process)
    }

    /// How many processes the set of a spot speaks of.
    pub(crate) fn n_at(&self, spot: usize, sets: &Sets) -> i64 {
        let left = |crowd: usize| self.question.crowds[crowd].processes.len() - sets.singled[crowd];
        self.crowd_at(spot).map_or(1, |crowd| left(crowd) as i64)
    }

    /// Whether edges with turns of a process are part of the sets of a spot.
    fn is_told(&self, spot: usize, process: ProcessId, sets: &Sets) -> bool {
        let Some(number) = self.crowd_of[process.index()] else { return true };
        let crowd = &self.question.crowds[number];
        self.has_set(process, sets) || (process == crowd.second() && crowd.first().index() == spot)
    }

    /// The process that has the turn of an edge of a view, where the view shows it.
    fn mover(&self, graph: &ViewGraph, edge: usize) -> Option<ProcessId> {
        match graph.labels[edge] {
            Label::Turn(turn) => Some(self.shop.views.turns[turn as usize].process()),
            Label::Elsewhere => None,
        }
    }

    /// All edges of a spot that sets can have.
    pub(crate) fn told_edges(&mut self, spot: usize, sets: &Sets) -> Result<EdgeBits, Halt> {
        let graph = self.shop.graph(self.view(spot))?;
        let is_told = |base: usize| self.mover(&graph, base).is_none_or(|process| self.is_told(spot, process, sets));
        Ok(match spot == self.root() {
            false => EdgeBits::where_true(graph.graph.n_edges(), is_told),
            true => {
                let base = &self.question.product.base;
                EdgeBits::where_true(base.len(), |edge| is_told(base[edge] as usize))
            }
        })
    }

    fn lookup(&mut self, view: ViewIdx) -> Result<Rc<EdgesOfView>, Halt> {
        if let Some(known) = self.lookups.of_view.get(&view) {
            return Ok(Rc::clone(known));
        }
        let graph = self.shop.graph(view)?;
        let key = |edge: usize| (graph.graph.arc(edge).from, graph.graph.arc(edge).to, graph.labels[edge]);
        let made: EdgesOfView = (0..graph.graph.n_edges()).map(|edge| (key(edge), edge as u32)).collect();
        let made = Rc::new(made);
        self.lookups.of_view.insert(view, Rc::clone(&made));
        Ok(made)
    }

    fn lookup_product(&mut self) -> Rc<EdgesOfProduct> {
        let product = self.question.product;
        let made = self.lookups.of_product.get_or_insert_with(|| {
            let mut made = EdgesOfProduct::default();
            for (edge, &base) in product.base.iter().enumerate() {
                let arc = product.graph.arc(edge);
                made.entry((arc.from, arc.to, base)).or_default().push(edge as u32);
            }
            Rc::new(made)
        });
        Rc::clone(made)
    }

    /// For each edge of a view with a turn of one process the edge with the same turn of another; to every other edge none.
    fn parallel(&mut self, view: ViewIdx, from: ProcessId, to: ProcessId) -> Result<Vec<Option<u32>>, Halt> {
        let (graph, lookup) = (self.shop.graph(view)?, self.lookup(view)?);
        let other = |edge: usize| {
            let Label::Turn(turn) = graph.labels[edge] else { return None };
            let turn = self.mover(&graph, edge).filter(|&process| process == from).map(|_| turn)?;
            let arc = graph.graph.arc(edge);
            lookup.get(&(arc.from, arc.to, Label::Turn(self.shop.views.turn_of(turn, to)?))).copied()
        };
        Ok((0..graph.graph.n_edges()).map(other).collect())
    }

    /// What of the set of a spot is compatible with that of another, where there are crowds.
    pub(crate) fn compatible_in_crowds(&mut self, from: usize, to: usize, sets: &Sets) -> Result<EdgeBits, Halt> {
        let crowds = self.question.crowds;
        let (from_view, to_view) = (self.view(from), self.view(to));
        let pairing = self.shop.pairing(from_view, to_view)?;
        let mut left = self.base_edges(from, sets)?;
        // The first of a crowd sees others of it as the second.
        for crowd in crowds.iter().filter(|crowd| crowd.first().index() == to && crowd.first().index() != from) {
            let parallel = self.parallel(from_view, crowd.first(), crowd.second())?;
            let more: Vec<u32> = left.iter().filter_map(|edge| parallel[edge]).collect();
            more.into_iter().for_each(|edge| left.insert(edge as usize));
        }
        let is_compatible = pairing.compatible(left.iter());
        let mut kept = (*self.edges(to, sets)?).clone();
        let graph = self.shop.graph(to_view)?;
        // For the process of the crowd that stepped it was its own turn, and for each other one that of another.
        let of_crowd = self.crowd_at(from).map(|crowd| &crowds[crowd]);
        let parallel = match of_crowd {
            Some(crowd) => self.parallel(to_view, crowd.first(), crowd.second())?,
            None => Vec::new(),
        };
        let is_root = to == self.root();
        kept.retain(|edge| {
            let base = if is_root { self.question.product.base[edge] as usize } else { edge };
            let by_crowd = of_crowd.is_some_and(|crowd| self.mover(&graph, base) == Some(crowd.first()));
            is_compatible(base) && (!by_crowd || parallel[base].is_some_and(|other| is_compatible(other as usize)))
        });
        Ok(kept)
    }

    /// The sets after one process has left the crowd of a spot, and which; `None` where none can leave any more.
    pub(crate) fn single(&mut self, spot: usize, sets: &Sets) -> Result<Option<(Sets, ProcessId)>, Halt> {
        let Some(number) = self.crowd_at(spot) else { return Ok(None) };
        let crowd = &self.question.crowds[number];
        let Some(&one) = crowd.spares().get(sets.singled[number]) else { return Ok(None) };
        let mut after = sets.clone();
        after.singled[number] += 1;
        for other in 0..sets.current.len() {
            let Some(version) = sets.current[other] else { continue };
            let somebody = if other == spot { crowd.second() } else { crowd.first() };
            let parallel = self.parallel(self.view(other), somebody, one)?;
            let mut edges = (*self.versions[version].edges).clone();
            let more: Vec<u32> = match other == self.root() {
                false => edges.iter().filter_map(|edge| parallel[edge]).collect(),
                true => {
                    let lookup = self.lookup_product();
                    let product = self.question.product;
                    let copy = |edge: usize| {
                        let (arc, base) = (product.graph.arc(edge), product.base[edge]);
                        let at = lookup.get(&(arc.from, arc.to, base))?.iter().position(|&one| one as usize == edge)?;
                        lookup.get(&(arc.from, arc.to, parallel[base as usize]?))?.get(at).copied()
                    };
                    edges.iter().filter_map(copy).collect()
                }
            };
            more.into_iter().for_each(|edge| edges.insert(edge as usize));
            after.current[other] = Some(self.reworded(version, edges));
        }
        if let Some(version) = sets.current[spot] {
            let edges = Rc::clone(&self.versions[version].edges);
            let moved = self.moved((spot, one.index()), &edges)?;
            after.current[one.index()] = Some(self.reworded(version, moved));
        }
        Ok(Some((after, one)))
    }

    /// Edges of a crowd, as they are those of one that leaves it.
    pub(crate) fn moved(&mut self, (from, to): (usize, usize), edges: &EdgeBits) -> Result<EdgeBits, Halt> {
        let wrong = || Halt::from(Contradiction::new("processes of a crowd do the same", "they do not"));
        let Some(number) = self.crowd_at(from) else { return Err(wrong()) };
        let crowd = &self.question.crowds[number];
        let (graph, lookup) = (self.shop.graph(from)?, self.lookup(to)?);
        let mut moved = EdgeBits::none(self.shop.graph(to)?.graph.n_edges());
        let views = &self.shop.views;
        let row = |row: u32| views.list[to].number_of(&views.list[from].rows[row as usize]);
        let label = |label: Label| match label {
            Label::Elsewhere => Some(Label::Elsewhere),
            Label::Turn(turn) => {
                let process = views.turns[turn as usize].process();
                let turn = if process == crowd.first() {
                    views.turn_of(turn, ProcessId::new(to))?
                } else if process == crowd.second() {
                    views.turn_of(turn, crowd.first())?
                } else {
                    turn
                };
                Some(Label::Turn(turn))
            }
        };
        for edge in edges.iter() {
            let arc = graph.graph.arc(edge);
            let key = row(arc.from).zip(row(arc.to)).zip(label(graph.labels[edge]));
            let found = key.and_then(|((before, after), label)| lookup.get(&(before, after, label)));
            moved.insert(*found.ok_or_else(wrong)? as usize);
        }
        Ok(moved)
    }

    /// Refutes the fair components of the set of one process of a crowd, which leaves it.
    pub(crate) fn components_of_one(
        &mut self,
        spot: usize,
        sets: &Sets,
        depth: usize,
    ) -> Result<Option<Option<Node>>, Halt> {
        if self.fair_components(spot, sets)?.len() < 2 {
            return Ok(None);
        }
        let Some((after, one)) = self.single(spot, sets)? else { return Ok(None) };
        let step = self.leaves(one);
        let found = self.components(one.index(), &after, depth)?;
        Ok(found.map(|node| {
            node.map(|mut node| {
                node.steps.insert(0, step);
                node
            })
        }))
    }
}
