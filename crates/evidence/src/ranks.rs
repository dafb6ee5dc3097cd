//! Claims that no run is fair and violates a temporal property: ranks that never rise, with a reason for each rank.
//!
//! **The abstract process** of a *focus*, over a split invariant with `k = 1` whose members see all shared and public cells and what
//! all processes expose (this part of a view state is the *store*). A node is a view state of the focus, by its position among the rows
//! of its member, with a state of the violation's automaton ([`crate::plain`]), which reads the state before each turn; states and marks of the automaton are positions in a
//! table of their names. Its edges are
//! the turns of the focus, and for every other process its turns from each of its view states with the same store, of which the focus
//! sees what becomes of the store. Turns are those of `eval`: steps, and stutters where there is none or at `idle`.
//!
//! **A rendezvous** is one turn of two processes. A *joint turn* of the focus is taken from its view state and any of the partner's with the
//! same store; one of two others from any of their view states with the store. It is a turn of both, for fairness and for what [`Variant::EveryProcess`]
//! demands. A process stutters where some choice of the other processes' view states with the same store gives it neither a step nor a rendezvous. Whether a process
//! has a step is likewise a matter of the local states of its partners.
//! No step goes on before or after a rendezvous.
//!
//! Where the invariant rests on sums, a turn that leads to no row of the focus is one of no run, and no edge.
//!
//! What a predicate says about local states of other processes *may* hold at a node if it does for some of their view states with
//! the same store. So the automaton can take an edge each of whose literals may hold; an edge carries the mark of a fairness pair if
//! it is a turn of the kind that has to happen infinitely often, or the predicate on the state before may hold; and a node is free
//! of a pair if what holds always from some point on may hold there.
//!
//! **Rule.** The nodes of a [`Focus`] contain all initial ones and all that edges lead to. No edge leads to a higher rank; edges
//! between nodes of one rank are as its [`RankReason`] says. A run then keeps to one rank from some point on, and there something that it
//! has to do again and again is missing, or it keeps to the nodes that are free of a pair, for which the ranks of a smaller
//! [`RankTree`] say the same. Every fair run that violates the property is a run of each abstract process, and does what
//! [`Variant`] demands in one (`OneProcess`) or in at least one of all of them (`EveryProcess`); so there is none.

use model::fairness::FairnessId;
use model::process::ProcessId;

use crate::plain::{AutomatonNames, UsedNames};

/// No fair run violates the property in this way.
#[derive(Clone, Debug, PartialEq)]
pub struct NoFairRun {
    /// The way to violate the property.
    pub violation: ViolationName,
    /// The states and marks of the automaton that the claim speaks of.
    pub automaton: AutomatonNames,
    /// What is demanded of runs.
    pub variant: Variant,
    /// The abstract processes without such a run. The fact uses one split invariant.
    pub foci: Vec<Focus>,
}

impl NoFairRun {
    /// The claim with the names that it uses, where states and marks are numbered as in a table of all names.
    pub fn with_names_of(mut self, all: &AutomatonNames) -> Self {
        let mut names = UsedNames::new(all);
        if let Variant::EveryProcess { mark: Some(mark) } = &mut self.variant {
            *mark = names.mark(*mark);
        }
        for focus in &mut self.foci {
            focus.nodes.iter_mut().for_each(|(_, state)| *state = names.state(*state as usize) as u32);
            focus.ranks.name_marks(&mut names);
        }
        self.automaton = names.into_table();
        self
    }
}

/// Names a way to violate a temporal property ([`crate::plain::ReferenceViolation`]) by what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViolationName {
    /// Which part of the conjunction: at each `&&` on the way to it from outside, 0 for the left side and 1 for the right one.
    pub part: Vec<usize>,
    /// The values of the outer bound variables, by name, outermost first, as the user writes them.
    pub instance: Vec<(String, String)>,
    /// The fairness assumptions that the run satisfies.
    pub fairness: Vec<FairnessId>,
}

/// What is demanded of runs, beyond being accepted and fair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Nothing: one focus is enough.
    OneProcess,
    /// Turns of the focus carry a mark of the automaton infinitely often: every process has to be a focus.
    EveryProcess {
        /// The mark, by its position in the table; any turn counts where there is none.
        mark: Option<usize>,
    },
}

/// An abstract process without a fair run.
#[derive(Clone, Debug, PartialEq)]
pub struct Focus {
    /// The process.
    pub process: ProcessId,
    /// The nodes, each once: a row of the process's member, and a state of the automaton by its position in the table.
    pub nodes: Vec<(u32, u32)>,
    /// The ranks of all nodes.
    pub ranks: RankTree,
}

/// Ranks of some nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankTree {
    /// The rank of each node, in the order of the nodes.
    pub ranks: Vec<u32>,
    /// For each rank why no fair run keeps to it.
    pub reasons: Vec<RankReason>,
}

impl RankTree {
    fn name_marks(&mut self, names: &mut UsedNames<'_>) {
        for reason in &mut self.reasons {
            match reason {
                RankReason::Missing(mark) => *mark = names.mark(*mark),
                RankReason::Pair(_, below) => below.name_marks(names),
                RankReason::Trivial | RankReason::Own => {}
            }
        }
    }
}

/// Why no fair run keeps to the nodes of a rank.
#[derive(Clone, Debug, PartialEq)]
pub enum RankReason {
    /// No edge stays among them.
    Trivial,
    /// No edge among them carries this mark of the automaton, by its position in the table.
    Missing(usize),
    /// No edge among them is a turn of the focus that carries the mark that [`Variant::EveryProcess`] names.
    Own,
    /// No edge among them carries the mark of the pair at this position in the violation's fairness; the tree ranks those of them
    /// that are free of the pair, in their order.
    Pair(usize, Box<RankTree>),
}
