//! Fair runs in graphs of edges that update some bits: which nodes can start one (Kesten, Pnueli and Raviv 1998).
//!
//! In: edges over sets of bit vectors, the moves of a small automaton that reads the vector before each edge, and
//! conditions. Out: the greatest set of nodes from which a run can go on for ever inside the set and satisfy every condition; it
//! is empty, or each of its terminal components has a fair run. A node is a vector with a state of the automaton; a set
//! of nodes is kept as one diagram for each such state. No scheduler is a variable: a condition names the edges and moves of the automaton
//! that satisfy it.
//!
//! A node that can start a fair run is never removed. A condition removes the nodes that cannot reach an edge that satisfies it.
//! Most of the time hardly any node has to be reached: what is searched for shrinks with each image, and no image is taken
//! where nothing of it is left.

mod component;
pub mod lasso;
mod layers;
pub(crate) mod order;
pub mod violation;

use base::StopReason;
use ltl::Automaton;
use model::process::ProcessId;

use crate::bdd::{Bdd, OutOfNodes, Space};
use crate::change::DiagramUpdate;

use layers::Layers;
use order::RelationOrder;

/// An edge relation: some updates, made in some states.
#[derive(Clone)]
pub struct EdgeRelation {
    /// The states in which it can be taken; where it carries new values of wide cells, with these.
    pub guard: Bdd,
    /// What changes; `None` if nothing does.
    pub update: Option<DiagramUpdate>,
    /// The process that takes it; neighbours of one mover are applied until they bring nothing more.
    pub mover: Option<ProcessId>,
}

/// A move of the automaton.
#[derive(Clone)]
pub struct GuardedMove {
    /// The state that it leaves.
    pub from: usize,
    /// The state that it leads to.
    pub to: usize,
    /// The vectors that it reads.
    pub label: Bdd,
}

impl GuardedMove {
    /// The edges of an automaton, state by state, whose atoms are true of these vectors.
    pub fn of(automaton: &Automaton, space: &Space, atoms: &[Bdd]) -> Result<Vec<GuardedMove>, OutOfNodes> {
        let opposites = atoms.iter().map(|atom| space.not(atom)).collect::<Result<Vec<_>, _>>()?;
        let mut moves = Vec::new();
        for (from, state) in automaton.states.iter().enumerate() {
            for edge in &state.edges {
                let mut label = space.empty();
                for cube in &edge.label.cubes {
                    let read = cube.literals().into_iter().try_fold(space.all(), |read, (atom, positive)| {
                        let literals = if positive { atoms } else { &opposites };
                        space.and(&read, &literals[atom.index()])
                    })?;
                    label = space.or(&label, &read)?;
                }
                moves.push(GuardedMove { from, to: edge.target.index(), label });
            }
        }
        Ok(moves)
    }
}

/// What a fair run must do: take infinitely often an edge that satisfies it, or stay for ever in nodes that are free of it.
#[derive(Clone)]
pub struct FairnessCondition {
    /// The vectors that are free of it; `None` is none.
    pub free: Option<Bdd>,
    /// An edge satisfies it if one of these admits it.
    pub filters: Vec<EdgeFilter>,
}

/// Some edges: those that satisfy all that is given.
#[derive(Clone, Default)]
pub struct EdgeFilter {
    /// They leave these vectors.
    pub from: Option<Bdd>,
    /// They are of these relations, by number.
    pub edges: Option<Vec<usize>>,
    /// The automaton makes one of these moves, by number.
    pub moves: Option<Vec<usize>>,
}

/// A set of nodes: for each state of the automaton a set of vectors.
pub type NodeSets = Vec<Bdd>;

/// A graph.
pub struct SymbolicGraph<'g> {
    /// Where the sets live.
    pub space: &'g Space,
    /// The relations; those that change nothing first, since they cost least.
    pub edges: &'g [EdgeRelation],
    /// The moves of the automaton.
    pub moves: Vec<GuardedMove>,
    /// How many states the automaton has.
    pub n_states: usize,
    /// Asked after each image: whether to stop.
    pub pause: &'g dyn Fn() -> Result<(), StopReason>,
}

impl SymbolicGraph<'_> {
    /// No nodes.
    pub fn nothing(&self) -> NodeSets {
        vec![self.space.empty(); self.n_states]
    }

    /// The nodes from which a fair run can go on among the nodes given.
    pub fn fair(&self, nodes: NodeSets, conditions: &[FairnessCondition]) -> Result<NodeSets, StopReason> {
        let mut left = nodes;
        let graph = self.without_idle_labels(&left)?;
        let (mut n_stable, mut next) = (0, 0);
        while n_stable <= conditions.len() && !is_nothing(&left) {
            let removed = match next {
                0 => graph.trim(&mut left)?,
                nth => graph.condition(&mut left, &conditions[nth - 1])?,
            };
            // Going on to the end is stable at once; a condition has to be evaluated again in what is left.
            n_stable = if removed { usize::from(next == 0) } else { n_stable + 1 };
            next = (next + 1) % (conditions.len() + 1);
        }
        Ok(left)
    }

    /// The same graph on these nodes, where a label that none of them contradicts need not be evaluated.
    fn without_idle_labels(&self, nodes: &NodeSets) -> Result<SymbolicGraph<'_>, StopReason> {
        let moves = self.moves.iter().map(|step| {
            let is_idle = self.bdd(self.space.minus(&nodes[step.from], &step.label))?.is_empty();
            Ok(GuardedMove { label: if is_idle { self.space.all() } else { step.label.clone() }, ..*step })
        });
        Ok(SymbolicGraph { moves: moves.collect::<Result<_, StopReason>>()?, ..*self })
    }

    /// Removes nodes from which no run goes on for ever; says whether there were any.
    fn trim(&self, left: &mut NodeSets) -> Result<bool, StopReason> {
        let mut removed = false;
        loop {
            let mut stuck = left.clone();
            self.sources(left, &EdgeFilter::default(), &mut stuck, None)?;
            if is_nothing(&stuck) {
                return Ok(removed);
            }
            removed = true;
            *left = self.minus(left, &stuck)?;
        }
    }

    /// Removes nodes that are not free of a condition and cannot satisfy it; says whether there were any.
    fn condition(&self, left: &mut NodeSets, condition: &FairnessCondition) -> Result<bool, StopReason> {
        let mut wanted = left.clone();
        if let Some(free) = &condition.free {
            for set in &mut wanted {
                *set = self.bdd(self.space.minus(set, free))?;
            }
        }
        if is_nothing(&wanted) {
            return Ok(false);
        }
        let far = self.cannot_reach(left, condition, wanted)?;
        *left = self.minus(left, &far)?;
        Ok(!is_nothing(&far))
    }

    /// Those of the wanted nodes that cannot get to an edge which satisfies the condition, all among the nodes given.
    fn cannot_reach(
        &self,
        nodes: &NodeSets,
        condition: &FairnessCondition,
        mut wanted: NodeSets,
    ) -> Result<NodeSets, StopReason> {
        let mut rest = nodes.clone();
        for filter in &condition.filters {
            self.sources(nodes, filter, &mut rest, Some(&mut wanted))?;
            if is_nothing(&wanted) {
                return Ok(wanted);
            }
        }
        let mut found = self.minus(nodes, &rest)?;
        self.pull(&mut found, &mut rest, |graph, _, rest| {
            wanted = graph.both(&wanted, rest)?;
            Ok(is_nothing(&wanted))
        })?;
        Ok(wanted)
    }

    /// The nodes among those given from which an edge of this kind leads to one of them.
    pub fn sources_of(&self, nodes: &NodeSets, filter: &EdgeFilter) -> Result<NodeSets, StopReason> {
        let mut rest = nodes.clone();
        self.sources(nodes, filter, &mut rest, None)?;
        self.minus(nodes, &rest)
    }

    /// Takes away from `rest`, and from `wanted`, the nodes from which an edge of this kind leads to one of the nodes; stops when
    /// nothing is wanted any more. With only `from` given every node has a successor already (`trim` removed the others), so no image is taken.
    fn sources(
        &self,
        nodes: &NodeSets,
        filter: &EdgeFilter,
        rest: &mut NodeSets,
        mut wanted: Option<&mut NodeSets>,
    ) -> Result<(), StopReason> {
        if let (Some(from), None, None, true) = (&filter.from, &filter.edges, &filter.moves, wanted.is_some()) {
            for set in rest.iter_mut().chain(wanted.into_iter().flatten()) {
                *set = self.bdd(self.space.minus(set, from))?;
            }
            return Ok(());
        }
        let all: Vec<usize> = (0..self.edges.len()).collect();
        for &edge in filter.edges.as_ref().unwrap_or(&all) {
            for to in (0..self.n_states).filter(|&to| !nodes[to].is_empty()) {
                let moves =
                    (0..self.moves.len()).filter(|nth| filter.moves.as_ref().is_none_or(|list| list.contains(nth)));
                let moves: Vec<&GuardedMove> = moves.map(|nth| &self.moves[nth]).filter(|step| step.to == to).collect();
                let mut before = None;
                for step in moves {
                    let mut here = self.bdd(self.space.and(&rest[step.from], &self.edges[edge].guard))?;
                    if let Some(from) = &filter.from {
                        here = self.bdd(self.space.and(&here, from))?;
                    }
                    let new = self.leading(here, (edge, step), &nodes[to], &mut before)?;
                    if new.is_empty() {
                        continue;
                    }
                    rest[step.from] = self.bdd(self.space.minus(&rest[step.from], &new))?;
                    if let Some(wanted) = wanted.as_deref_mut() {
                        wanted[step.from] = self.bdd(self.space.minus(&wanted[step.from], &new))?;
                    }
                }
            }
            (self.pause)()?;
            if is_nothing(wanted.as_deref().unwrap_or(rest)) {
                break;
            }
        }
        Ok(())
    }

    /// Those of the vectors, in all of which the edge can be taken, from which it leads into a set.
    fn leading(
        &self,
        here: Bdd,
        (edge, step): (usize, &GuardedMove),
        into: &Bdd,
        before: &mut Option<Bdd>,
    ) -> Result<Bdd, StopReason> {
        if here.is_empty() {
            return Ok(here);
        }
        let update = self.edges[edge].update.as_ref();
        let before = match before {
            Some(before) => before,
            None => before.insert(match update {
                Some(update) => self.bdd(update.put(self.space, into))?,
                None => into.clone(),
            }),
        };
        let new = self.bdd(match update {
            Some(update) => update.before(self.space, &here, before),
            None => self.space.and(&here, before),
        })?;
        if step.label.is_all() { Ok(new) } else { self.bdd(self.space.and(&new, &step.label)) }
    }

    /// Moves to `found` what of `rest` leads there, until nothing does or `enough` says so: called, after each image that
    /// brought something, with both.
    fn pull(
        &self,
        found: &mut NodeSets,
        rest: &mut NodeSets,
        mut enough: impl FnMut(&Self, &NodeSets, &NodeSets) -> Result<bool, StopReason>,
    ) -> Result<(), StopReason> {
        // For each relation what was found when it was last applied.
        let mut done: Vec<NodeSets> = vec![self.nothing(); self.edges.len()];
        let mut order = RelationOrder::new(self.edges.iter().map(|edge| edge.mover));
        while let Some(edge) = order.edge().filter(|_| !is_nothing(rest)) {
            let mut brought = false;
            // A snapshot: states found by this image are not used by it, so that one call is one step.
            let known = std::mem::replace(&mut done[edge], found.clone());
            for to in (0..self.n_states).filter(|&to| known[to] != done[edge][to]) {
                let mut before = None;
                for step in self.moves.iter().filter(|step| step.to == to) {
                    // What changes nothing at all leads to where it comes from.
                    if self.edges[edge].update.is_none() && step.from == to {
                        continue;
                    }
                    let here = self.bdd(self.space.and(&rest[step.from], &self.edges[edge].guard))?;
                    let new = self.leading(here, (edge, step), &done[edge][to], &mut before)?;
                    if !new.is_empty() {
                        brought = true;
                        found[step.from] = self.bdd(self.space.or(&found[step.from], &new))?;
                        rest[step.from] = self.bdd(self.space.minus(&rest[step.from], &new))?;
                    }
                }
            }
            order.applied(brought);
            (self.pause)()?;
            if brought && enough(self, found, rest)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Everything that can be reached, through nodes of `within` only where it is given.
    pub fn forward(&self, from: NodeSets, within: Option<&NodeSets>) -> Result<NodeSets, StopReason> {
        let mut found = from;
        let mut done: Vec<NodeSets> = vec![self.nothing(); self.edges.len()];
        let mut order = RelationOrder::new(self.edges.iter().map(|edge| edge.mover));
        while let Some(edge) = order.edge() {
            let before = found.clone();
            for from in 0..self.n_states {
                let fresh = self.bdd(self.space.minus(&found[from], &done[edge][from]))?;
                done[edge][from] = found[from].clone();
                self.push(&fresh, (edge, from), &mut found, within)?;
            }
            order.applied(before != found);
            (self.pause)()?;
        }
        Ok(found)
    }

    /// Adds where an edge leads from some vectors in a state of the automaton.
    fn push(
        &self,
        fresh: &Bdd,
        (edge, from): (usize, usize),
        found: &mut NodeSets,
        within: Option<&NodeSets>,
    ) -> Result<(), StopReason> {
        let here = self.bdd(self.space.and(fresh, &self.edges[edge].guard))?;
        if here.is_empty() {
            return Ok(());
        }
        for step in self.moves.iter().filter(|step| step.from == from) {
            let moved = match &self.edges[edge].update {
                None => self.bdd(self.space.and(&here, &step.label))?,
                Some(update) => self.bdd(update.image(self.space, &step.label, &here))?,
            };
            let moved = match within {
                Some(within) => self.bdd(self.space.and(&moved, &within[step.to]))?,
                None => moved,
            };
            found[step.to] = self.bdd(self.space.or(&found[step.to], &moved))?;
        }
        Ok(())
    }

    /// The nodes of both sets.
    pub fn both(&self, a: &NodeSets, b: &NodeSets) -> Result<NodeSets, StopReason> {
        a.iter().zip(b).map(|(a, b)| self.bdd(self.space.and(a, b))).collect()
    }

    /// The nodes of the first set that are not in the second.
    pub fn minus(&self, a: &NodeSets, b: &NodeSets) -> Result<NodeSets, StopReason> {
        a.iter().zip(b).map(|(a, b)| self.bdd(self.space.minus(a, b))).collect()
    }

    /// Makes an operation's lack of nodes the reason to stop.
    pub(crate) fn bdd<T>(&self, result: Result<T, OutOfNodes>) -> Result<T, StopReason> {
        result.map_err(|OutOfNodes| StopReason::NodeLimit(self.space.capacity() as u64))
    }
}

/// Whether there is no node in the set.
pub fn is_nothing(nodes: &NodeSets) -> bool {
    nodes.iter().all(Bdd::is_empty)
}
