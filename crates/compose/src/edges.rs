//! Labelled edges of what one process sees, and sets of them.
//!
//! In: for each step of the whole program the edge that it is in the view of a process: between two of its view states, with its movers
//! as far as the view shows it. A step that changes nothing in the view is an edge, too (a stutter). Out: sets of edges, the
//! currency of methods that reason about what happens for ever; and whether edges of two views may be the same step.

use std::collections::BTreeSet;

use model::process::ProcessId;

/// The processes of a step, as the view of a process shows them; `A` names actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeLabel<A> {
    /// The process itself, by this action.
    Own(A),
    /// Another process that can touch what the view shows.
    External {
        /// The process that took the step.
        mover: ProcessId,
        /// By which action.
        action: A,
    },
    /// Some process that touches nothing in the view: a stutter.
    Elsewhere,
}

/// One edge between view states, which are named by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewEdge<A> {
    /// The view state before.
    pub from: u32,
    /// The view state after.
    pub to: u32,
    /// The processes of the step.
    pub label: EdgeLabel<A>,
}

impl<A> ViewEdge<A> {
    /// Whether nothing changes in the view.
    pub fn is_stutter(&self) -> bool {
        self.from == self.to
    }
}

/// A set of edges of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeSet<A> {
    /// The process whose view it is.
    viewer: ProcessId,
    edges: BTreeSet<ViewEdge<A>>,
}

impl<A: Copy + Ord> EdgeSet<A> {
    /// No edge of the view of a process.
    pub fn none(viewer: ProcessId) -> Self {
        EdgeSet { viewer, edges: BTreeSet::new() }
    }

    /// The process whose view it is.
    pub fn viewer(&self) -> ProcessId {
        self.viewer
    }

    /// Adds the edge of a step by a mover; the viewer's own steps become own edges. `false` where it was there.
    pub fn add_step(&mut self, (from, to): (u32, u32), mover: ProcessId, action: A) -> bool {
        let label = if mover == self.viewer { EdgeLabel::Own(action) } else { EdgeLabel::External { mover, action } };
        self.edges.insert(ViewEdge { from, to, label })
    }

    /// Adds the stutter of a step that touches nothing in the view.
    pub fn add_elsewhere(&mut self, at: u32) -> bool {
        self.edges.insert(ViewEdge { from: at, to: at, label: EdgeLabel::Elsewhere })
    }

    /// The edges in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ViewEdge<A>> {
        self.edges.iter()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The edges that a condition keeps.
    pub fn restricted(&self, keep: impl Fn(&ViewEdge<A>) -> bool) -> Self {
        EdgeSet { viewer: self.viewer, edges: self.edges.iter().filter(|edge| keep(edge)).copied().collect() }
    }

    /// The edges that may be the same step as some edge of this set, in the set of another view. `touches` says whether a process
    /// can touch what a viewer sees; values in common are for the caller to compare.
    pub fn compatible(&self, other: &EdgeSet<A>, touches: impl Fn(ProcessId, ProcessId) -> bool) -> Self {
        other.restricted(|theirs| {
            self.edges.iter().any(|ours| match (mover(self.viewer, ours.label), mover(other.viewer, theirs.label)) {
                (Some(one), Some(another)) => one == another,
                (Some((mover, _)), None) => !touches(mover, other.viewer),
                (None, Some((mover, _))) => !touches(mover, self.viewer),
                (None, None) => true,
            })
        })
    }
}

/// The process of the step and its action, where the view of a process shows it.
fn mover<A: Copy>(viewer: ProcessId, label: EdgeLabel<A>) -> Option<(ProcessId, A)> {
    match label {
        EdgeLabel::Own(action) => Some((viewer, action)),
        EdgeLabel::External { mover, action } => Some((mover, action)),
        EdgeLabel::Elsewhere => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(index: usize) -> ProcessId {
        ProcessId::new(index)
    }

    /// Three processes in a row: 0 and 1 share a cell, 1 and 2 share one. The view of the process, with a step of each.
    fn view(viewer: usize) -> EdgeSet<char> {
        let mut edges = EdgeSet::none(process(viewer));
        for mover in (0..3).filter(|&mover| touches(process(mover), process(viewer))) {
            edges.add_step((0, 1), process(mover), 'a');
            edges.add_step((1, 1), process(mover), 'b');
        }
        edges.add_elsewhere(0);
        edges
    }

    fn touches(mover: ProcessId, viewer: ProcessId) -> bool {
        mover.index().abs_diff(viewer.index()) <= 1
    }

    fn shown(edges: &EdgeSet<char>) -> String {
        let one = |edge: &ViewEdge<char>| match edge.label {
            EdgeLabel::Own(action) => format!("own {action}"),
            EdgeLabel::External { mover, action } => format!("{} {action}", mover.index()),
            EdgeLabel::Elsewhere => "elsewhere".to_string(),
        };
        edges.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_step_is_own_in_one_view_external_or_elsewhere_in_others() {
        let own = view(0).restricted(|edge| edge.label == EdgeLabel::Own('a'));
        assert_eq!(shown(&own.compatible(&view(1), touches)), "0 a");
        assert_eq!(shown(&own.compatible(&view(2), touches)), "elsewhere");
        let neighbours = view(0).restricted(|edge| matches!(edge.label, EdgeLabel::External { action: 'b', .. }));
        assert_eq!(shown(&neighbours.compatible(&view(2), touches)), "1 b");
    }

    #[test]
    fn stutters_are_edges_and_each_edge_is_there_once() {
        let mut edges = view(1);
        assert!(!edges.add_elsewhere(0) && edges.add_elsewhere(1));
        assert!(!edges.add_step((0, 1), process(1), 'a'));
        assert_eq!(edges.iter().filter(|edge| edge.is_stutter()).count(), 5);
        assert!(edges.restricted(|_| false).is_empty() && edges.viewer() == process(1));
    }
}
