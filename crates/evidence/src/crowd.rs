//! Refutations for every size: why no fair run of any number of interchangeable processes violates a temporal property.
//!
//! **View graph.** The views are those of [`crate::views`] with one process each, numbered in their order: every process of every reachable
//! state projects to one of them. An *edge* is a turn as the view of a process shows it: the views before and after, the action, whether
//! the process itself takes it, another one (which one, where the view names it) or one of another family, and which of the named processes are
//! named afterwards. Where a process may be blocked it may stutter. Every run of any size is an infinite path for each of its
//! processes, and what one turn is in the views of two processes is *compatible*: the same action and mover, and the same shared part before
//! and after, names of processes included.
//!
//! **Sums** ([`CrowdSum`]): the left side, which depends on values that are shared only, is the sum over all processes of what each adds.
//! Both are 0 in the beginning, own edges change both by the same amount, edges of others do not change what the process adds, and edges of processes of
//! other families change neither. What a process adds is never negative, so views, and pairs of them, that add more than the left side are left out.
//!
//! **Rule.** Suppose that a fair run violates the property in a certain way. For a process `t` let `I_t` be the edges that its view shows
//! again and again; it lies in one fair component of any set that contains it, for the fairness of `t` itself (which was assumed of *each*
//! process) and of processes of other families. The first set is the product of the graph with the violation's automaton. A [`Branch`] for each of its
//! fair components says why `I_t` is not within it ([`Lasting`]). There is more than one process.

use serde::{Deserialize, Serialize};

use crate::plain::{AutomatonNames, UsedNames};
use crate::ranks::ViolationName;

/// No fair run of any size violates the property in one way; nor in the ways that are its images under permutations of processes.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdRefutation {
    /// The way to violate the property.
    pub violation: ViolationName,
    /// The states of the automaton that the branches speak of.
    pub automaton: AutomatonNames,
    /// Sums that hold in every reachable state.
    pub sums: Vec<CrowdSum>,
    /// One for each fair component of the product.
    pub branches: Vec<Branch>,
}

impl CrowdRefutation {
    /// The claim with the names that it uses, where states are numbered as in a table of all names.
    pub fn with_names_of(mut self, all: &AutomatonNames) -> Self {
        let mut names = UsedNames::new(all);
        name_states(&mut self.branches, &mut names);
        self.automaton = names.into_table();
        self
    }
}

fn name_states(branches: &mut [Branch], names: &mut UsedNames<'_>) {
    for branch in branches {
        branch.state = branch.state.map(|state| names.state(state));
        match &mut branch.because {
            Lasting::Others(branches) | Lasting::Named { branches, .. } | Lasting::Holder { branches, .. } => {
                name_states(branches, names);
            }
        }
    }
}

/// A sum over all processes, by view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrowdSum {
    /// The left side at each view.
    pub left: Vec<i64>,
    /// What the process of each view adds to the right side.
    pub right: Vec<i64>,
}

/// Why what a process does again and again is not within a fair component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// A view in the component.
    pub view: usize,
    /// The automaton's state beside it by its position in the table, in the product.
    pub state: Option<usize>,
    /// The views that the component lives in, and maybe more, ascending; none where they are not given. They tell people
    /// what lasts for ever; the checker refuses a list in which one is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<usize>,
    /// Why.
    pub because: Lasting,
}

/// What follows if what a process does again and again is within a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// Every other process does for ever what is compatible with the component, and fair; each edge of the component goes together with
    /// such an edge, of the process that steps where that is another one. The branches are for what is left of the component.
    Others(Vec<Branch>),
    /// In all of the component this shared cell names one and the same other process. The branches are for that process: what is compatible
    /// with the component, where the cell names it.
    Named {
        /// The column of the shared part.
        column: usize,
        /// The branches.
        branches: Vec<Branch>,
    },
    /// In all of the component the others add something to a sum, and no other process that adds nothing begins to, as far as it does what
    /// is compatible and fair. So some other process adds something for ever: the branches are for it.
    Holder {
        /// The sum.
        sum: usize,
        /// The branches.
        branches: Vec<Branch>,
    },
}
