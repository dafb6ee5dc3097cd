//! Certificates of local proofs: invariants of one, two or three processes that are closed under the interference of the others.
//!
//! **Rule.** A certificate gives, for each set `K` of `k` processes, a set `theta[K]` of *view states*: values of the shared and
//! public cells that the processes of `K` can see, of their own cells, their control points, and the blocks that all processes
//! expose. It proves its property if
//!
//! 1. *initiality*: every initial state, projected to `K`, is in `theta[K]`, for every `K`;
//! 2. *step and non-interference*: for every `K` and every step by processes `M` (one, or the two of a rendezvous): take any
//!    combination of values for `E = K + M` of which every `k` processes are in their `theta`; each successor by the step,
//!    projected to `K`, is in `theta[K]`;
//! 3. *implication*: each part of the property follows from some processes: no combination of values of which every `k` of them are in
//!    their `theta` violates it. The certificate says which part from which processes ([`crate::implied`]).
//!
//! Then every reachable state projects into every `theta[K]`, by induction on runs, and the property holds. A step that changes
//! nothing that `K` sees needs no check. With a [`ClaimedSymmetry`] only one `K` is given for each choice of families; the others are its
//! images under permutations of each family's processes. The certificate says which elements of arrays go with the processes; the
//! checker applies these permutations to every text of the program and accepts them only where each text is its own image.
//!
//! **Sums.** A split invariant may use an earlier fact that sums hold in every reachable state ([`crate::propagation`]). Then the second and the third
//! obligation are relative to them: a successor that no reachable state can show, since some sum cannot hold there whatever is not shown, need not be in `theta[K]`, and a
//! combination of values like that need not satisfy anything. Every reachable state still projects into every `theta[K]`: the sums hold in it. Such an invariant has no
//! [`ClaimedSymmetry`].
//!
//! **Temporal properties.** Each way to violate the property ([`crate::plain::violations`], named by what it is) needs a claim that
//! no fair run violates it so; [`crate::ranks`] says what such a claim is and why it is one. Where a permutation of processes takes one violation
//! to another, what excludes the one excludes the other ([`Exchanged`]). Where the claims are about no way to violate the property, they are about those to violate a formula that
//! implies it (`Formula::stronger`: of `eventually forall i: p`, `forall i: eventually always p`).

use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, VarId};

use model::control::PlaceId;

use crate::implied::Implied;
use crate::scope::Scope;

pub use crate::propagation::{Additive, Refutation, Sights};
pub use crate::ranks::{Focus, NoFairRun, RankReason, RankTree, Variant, ViolationName};

/// How many obligations of each kind a checker discharged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DischargedObligations {
    /// Members that no permutation of processes changes, where members represent their images.
    pub symmetry: usize,
    /// Initial states are in the members.
    pub initiality: usize,
    /// Steps by the processes of a member lead into it.
    pub step: usize,
    /// Steps by other processes lead into it.
    pub non_interference: usize,
    /// What the property demands.
    pub implication: usize,
    /// Abstract processes in which no run is fair and violates the property.
    pub ranks: usize,
}

impl DischargedObligations {
    /// How many there are.
    pub fn total(&self) -> usize {
        self.symmetry + self.initiality + self.step + self.non_interference + self.implication + self.ranks
    }

    /// The obligations of both.
    pub fn with(self, other: DischargedObligations) -> DischargedObligations {
        DischargedObligations {
            symmetry: self.symmetry + other.symmetry,
            initiality: self.initiality + other.initiality,
            step: self.step + other.step,
            non_interference: self.non_interference + other.non_interference,
            implication: self.implication + other.implication,
            ranks: self.ranks + other.ranks,
        }
    }
}

/// A proof of one property, of one instance or of every size.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The property's name.
    pub property: String,
    /// For which sizes it is a proof.
    pub scope: Scope,
    /// What is proved on the way; each fact may use earlier ones, the last one implies the property.
    pub facts: Vec<Fact>,
    /// How it does, part by part, where the last fact is a split invariant or path edges; nothing otherwise.
    pub implies: Vec<Implied>,
}

impl Certificate {
    /// The last of its split invariants: what it says about states.
    pub fn invariant(&self) -> Option<&SplitInvariant> {
        self.facts.iter().rev().find_map(|fact| fact.claim.split_invariant())
    }

    /// The path edges that imply the property, if that is what the proof is.
    pub fn pushdown(&self) -> Option<&crate::pushdown::PushdownProof> {
        match &self.facts.last()?.claim {
            Claim::Pushdown(proof) => Some(proof),
            _ => None,
        }
    }

    /// The windows that imply the property, if that is what the proof is.
    pub fn rings(&self) -> Option<&crate::rings::RingsProof> {
        match &self.facts.last()?.claim {
            Claim::Rings(proof) => Some(proof),
            _ => None,
        }
    }

    /// The views that imply the property, if that is what the proof is.
    pub fn views(&self) -> Option<&crate::views::ViewsProof> {
        match &self.facts.last()?.claim {
            Claim::Views(proof) => Some(proof),
            _ => None,
        }
    }

    /// The views of cells that imply the property, if that is what the proof is.
    pub fn fine(&self) -> Option<&crate::fine::FineProof> {
        match &self.facts.last()?.claim {
            Claim::Fine(proof) => Some(proof),
            _ => None,
        }
    }

    /// The views and sums that imply the property, if that is what the proof is.
    pub fn counting(&self) -> Option<&crate::counting::CountingProof> {
        match &self.facts.last()?.claim {
            Claim::Counting(proof) => Some(proof),
            _ => None,
        }
    }

    /// The views that a refutation for every size is about, if the proof is one.
    pub fn crowd(&self) -> Option<&crate::views::ViewsProof> {
        match (&self.facts.first()?.claim, &self.facts.last()?.claim) {
            (Claim::Views(views), Claim::Crowd(_)) => Some(views),
            _ => None,
        }
    }
}

/// A step of a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What is claimed.
    pub claim: Claim,
    /// Positions of the earlier facts that its check may assume.
    pub uses: Vec<usize>,
}

/// What a fact claims.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// Every reachable state projects into every `theta`.
    SplitInvariant(SplitInvariant),
    /// No fair run violates a temporal property in one of the ways in which it can be violated.
    NoFairRun(NoFairRun),
    /// Every reachable state is, as each process sees it, in the activation of its top frame.
    Pushdown(crate::pushdown::PushdownProof),
    /// Processes see no more than this, and in every reachable state these sums over cells are sums over processes.
    Sights(Sights),
    /// No fair run violates a temporal property in one of the ways in which it can be violated, by what it would do in each view.
    Refutation(Refutation),
    /// No fair run violates a temporal property in one of these ways, since none does in another one, which the earlier fact shows.
    Exchanged(Exchanged),
    /// Any `k` processes of every reachable state, for every size, project to one of the views.
    Views(crate::views::ViewsProof),
    /// Any one or two processes of every reachable state project, beside a few shared cells, to a state of each view.
    Fine(crate::fine::FineProof),
    /// Each process of every reachable state, for every size, projects to one of the views, and these numbers are sums over processes.
    Counting(crate::counting::CountingProof),
    /// Every window of every reachable state of a ring or chain, for every size, is one of these.
    Rings(crate::rings::RingsProof),
    /// No fair run of any size violates a temporal property in one of the ways in which it can be violated.
    Crowd(crate::crowd::CrowdRefutation),
}

impl Claim {
    /// The split invariant, if it is one.
    pub fn split_invariant(&self) -> Option<&SplitInvariant> {
        match self {
            Claim::SplitInvariant(invariant) => Some(invariant),
            _ => None,
        }
    }

    /// The split invariant, if it is one, to be changed.
    pub fn split_invariant_mut(&mut self) -> Option<&mut SplitInvariant> {
        match self {
            Claim::SplitInvariant(invariant) => Some(invariant),
            _ => None,
        }
    }

    /// The ranks, if it is a claim about runs.
    pub fn no_fair_run(&self) -> Option<&NoFairRun> {
        match self {
            Claim::NoFairRun(claim) => Some(claim),
            _ => None,
        }
    }
}

/// Invariants of `k` processes each.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitInvariant {
    /// How many processes each invariant speaks of: 1, 2 or 3.
    pub k: usize,
    /// For each process its control points: what the numbers of `Column::Control` mean.
    pub points: Vec<Vec<ControlPoint>>,
    /// For each process what the others may see of its local state.
    pub exposed: Vec<Exposed>,
    /// The invariants, one for each set of `k` processes in ascending order, or for representatives.
    pub members: Vec<Member>,
    /// The permutations of processes under which members represent their images; `None` where every member is given.
    pub symmetry: Option<ClaimedSymmetry>,
}

/// All permutations of processes within their families, and what they move besides the processes' own cells and control and the
/// values that name processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedSymmetry {
    /// The dimensions of arrays whose elements go where processes go.
    pub dimensions: Vec<ProcessDimension>,
}

/// A permutation of processes takes runs to runs, fair ones to fair ones, and those that violate a property in the way that an earlier
/// fact excludes to those that violate it in another way. The checker applies it to every text of the program, to the fairness assumptions, and
/// to what the two ways read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// The way that follows.
    pub violation: ViolationName,
    /// The permutation, as transpositions of two processes each, the first one first.
    pub swaps: Vec<[ProcessId; 2]>,
    /// What permutations move besides.
    pub symmetry: ClaimedSymmetry,
}

/// A dimension of an array that has one element for each process of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessDimension {
    /// The array.
    pub var: VarId,
    /// Which of its dimensions, the outermost is 0.
    pub dimension: usize,
    /// The family whose processes the elements belong to.
    pub family: FamilyId,
}

/// A place with the values of the loop counters there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ControlPoint {
    /// The place.
    pub place: PlaceId,
    /// The counters of the process's text, each with its value.
    pub counters: Vec<(CellId, Value)>,
}

/// A partition of the local states of a process, visible to all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposed {
    /// The facts by which local states are distinguished.
    pub facts: Vec<LocalFact>,
    /// The blocks: which of the facts hold. A process without facts has one block.
    pub blocks: Vec<Vec<bool>>,
}

/// A fact about the local state of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocalFact {
    /// Its control location is one of these points, numbered as in `points`.
    Control(Vec<usize>),
    /// A local cell has this value.
    Cell(CellId, Value),
    /// In one of these lists all facts hold: any set of local states. An empty list holds always, no list never.
    OneOf(Vec<Vec<LocalFact>>),
}

impl LocalFact {
    /// The plain facts of which it is made.
    pub fn plain(&self) -> Vec<&LocalFact> {
        match self {
            LocalFact::Control(_) | LocalFact::Cell(..) => vec![self],
            LocalFact::OneOf(lists) => lists.iter().flatten().flat_map(LocalFact::plain).collect(),
        }
    }

    /// Whether it holds, where it is known which plain facts do.
    pub fn holds(&self, plain: &impl Fn(&LocalFact) -> bool) -> bool {
        match self {
            LocalFact::Control(_) | LocalFact::Cell(..) => plain(self),
            LocalFact::OneOf(lists) => lists.iter().any(|list| list.iter().all(|fact| fact.holds(plain))),
        }
    }

    /// The same fact with its plain facts changed.
    pub fn map(&self, change: &impl Fn(&LocalFact) -> LocalFact) -> LocalFact {
        match self {
            LocalFact::Control(_) | LocalFact::Cell(..) => change(self),
            LocalFact::OneOf(lists) => {
                let changed = |list: &Vec<LocalFact>| list.iter().map(|fact| fact.map(change)).collect();
                LocalFact::OneOf(lists.iter().map(changed).collect())
            }
        }
    }
}

/// The invariant of some processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The processes, ascending.
    pub processes: Vec<ProcessId>,
    /// What a view state consists of.
    pub columns: Vec<Column>,
    /// The view states.
    pub states: StateSet,
}

/// One component of a view state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// A cell, as a position among its type's values.
    Cell(CellId),
    /// The control of a process, as a position among its points.
    Control(ProcessId),
    /// The exposed block of a process, as a position among its blocks.
    Exposed(ProcessId),
}

/// A set of rows, one number for each column.
#[derive(Clone, Debug, PartialEq)]
pub enum StateSet {
    /// Explicit, in ascending order.
    Rows(Vec<Vec<u32>>),
    /// As a reduced ordered decision diagram over the columns' bits: each column has as many bits as its largest number needs,
    /// the highest first.
    Diagram {
        /// The bits from the top: column and bit (0 is the highest).
        order: Vec<(usize, u32)>,
        /// The nodes, children first: position in `order`, child where the bit is 0, child where it is 1. Child 0 is the empty
        /// set, 1 the full one, `n + 2` the node at position `n`. The last node is the set.
        nodes: Vec<(u32, u32, u32)>,
    },
}
