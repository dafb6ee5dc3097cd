//! What a representation of local sets must offer.
//!
//! A *group* is a few processes, ascending. Its **view** is what they see: the shared and public cells that they mention, their own
//! cells and control, and the exposed facts of all processes. A [`Backend::Set`] over a group is a set of values of its view. Sets of
//! different groups are never made one; the backend answers questions about their *join*, the combinations of values of
//! which every group's part is in its set.

use base::{Budget, StopReason};
use evidence::certificate::{LocalFact, SplitInvariant};
use model::Model;
use model::eval::{self, State};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::CellId;

use crate::k_index::KIndexPlan;
use crate::question::Question;
use crate::sums::Sums;
use crate::symmetry::{Permutation, Symmetry};

/// The processes that take a step: one, or the two of a rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Movers {
    /// The process that steps; of a rendezvous, the sender.
    pub process: ProcessId,
    /// The receiver of a rendezvous.
    pub partner: Option<ProcessId>,
}

impl Movers {
    /// The one or two processes.
    pub fn processes(self) -> impl Iterator<Item = ProcessId> {
        std::iter::once(self.process).chain(self.partner)
    }
}

/// The sets of some groups.
pub type Join<'a, S> = &'a [(&'a [ProcessId], &'a S)];

/// Sets of view states of groups of processes.
pub trait Backend {
    /// A set over a group's view. The group is not part of it.
    type Set: Clone;

    /// The program.
    fn model(&self) -> &Model;

    /// All that can take a step.
    fn movers(&self) -> Vec<Movers>;

    /// Whether a step of the movers can change anything that the group sees.
    fn interferes(&self, movers: Movers, group: &[ProcessId]) -> bool;

    /// The empty set.
    fn empty(&self) -> Self::Set;

    /// Whether the set is empty.
    fn is_empty(&self, set: &Self::Set) -> bool;

    /// The initial states as the group sees them.
    fn initial(&mut self, group: &[ProcessId]) -> Result<Self::Set, StopReason>;

    /// The combinations in the join from which the movers step, after their steps, as the group `onto` sees them.
    /// The movers are among the join's groups.
    fn post(&mut self, movers: Movers, join: Join<'_, Self::Set>, onto: &[ProcessId]) -> Result<Self::Set, StopReason>;

    /// The union of two sets over one group.
    fn union(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason>;

    /// What is in the first and not in the second, over one group.
    fn minus(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason>;

    /// Makes the sets the least ones that contain what they have and are closed under the rules, in a way of the backend's
    /// own; `false` where it has none, and rules are applied one by one.
    fn close(&mut self, _plan: &KIndexPlan, _sets: &mut [Self::Set], _budget: &Budget) -> Result<bool, StopReason> {
        Ok(false)
    }

    /// Whether sets can be renamed, for these permutations of processes.
    fn renames(&self, symmetry: &Symmetry<'_>) -> bool;

    /// The image of a set over a group under a permutation of processes: a set over the group's image. Only where
    /// [`Backend::renames`] allows it.
    fn renamed(
        &mut self,
        set: &Self::Set,
        group: &[ProcessId],
        by: (&Symmetry<'_>, &Permutation),
    ) -> Result<Self::Set, StopReason>;

    /// Whether a group sees a cell.
    fn sees(&self, group: &[ProcessId], cell: CellId) -> bool;

    /// Whether some combination in the join answers the question.
    fn answers(&mut self, question: &Question, join: Join<'_, Self::Set>) -> Result<Answered, StopReason>;

    /// The proof as data: the sets of all groups of `k` processes.
    fn certify(&mut self, k: usize, sets: Join<'_, Self::Set>) -> Result<SplitInvariant, StopReason>;

    /// How many view states a set over the group has; `None` where it does not fit.
    fn n_states(&self, group: &[ProcessId], set: &Self::Set) -> Option<u64>;

    /// What all data takes now.
    fn memory_bytes(&self) -> u64;

    /// The sums that the sets leave view states out by; a proof has to name them.
    fn sums(&self) -> Option<&Sums> {
        None
    }
}

/// What the join says about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// No combination answers it.
    No,
    /// Some combination does; it may not be reachable.
    Maybe,
    /// The question itself is a fault in some combination, in these words.
    Fault(String),
}

/// A backend whose processes can expose facts about their local states, and that has sets of whole states.
pub trait Refinable: Backend {
    /// Makes the facts visible to all processes; whether one of them was new.
    fn expose(&mut self, facts: &[(ProcessId, LocalFact)]) -> Result<bool, StopReason>;

    /// The facts exposed so far, process by process.
    fn exposed(&self) -> Vec<(ProcessId, LocalFact)>;

    /// The initial states, whole.
    fn initial_states(&mut self) -> Result<Self::Set, StopReason>;

    /// The whole states that decide a property, and those in which it has no value.
    fn deciding(&mut self, property: &PropertyKind) -> Result<Deciding<Self::Set>, StopReason>;

    /// The whole states of a set that agree with the join.
    fn within(&mut self, states: &Self::Set, join: Join<'_, Self::Set>) -> Result<Self::Set, StopReason>;

    /// The whole states that agree with the join and from which some step leads into the set.
    fn before(&mut self, states: &Self::Set, join: Join<'_, Self::Set>) -> Result<Self::Set, StopReason>;

    /// One state of a set of whole states.
    fn sample(&mut self, states: &Self::Set) -> Option<State>;

    /// Whether a set of whole states contains the state.
    fn contains(&self, states: &Self::Set, state: &State) -> bool;

    /// A successor of a state in one of some sets of whole states.
    fn successor_within(&mut self, state: &State, sets: &[Self::Set]) -> Result<Option<State>, StopReason> {
        Ok(self.enumerated_successor_within(state, sets))
    }

    /// The same by enumerating all successors.
    fn enumerated_successor_within(&self, state: &State, sets: &[Self::Set]) -> Option<State> {
        let mut successors = eval::steps(self.model(), state).into_iter().filter_map(|step| step.result.ok());
        successors.find(|next| sets.iter().any(|set| self.contains(set, next)))
    }

    /// The facts of a prime implicant: the fewest local facts of the state, by leaving out one after the other, that together
    /// with its shared cells lie inside the set.
    fn prime_facts(&mut self, inside: &Self::Set, state: &State) -> Result<Prime<Self::Set>, StopReason>;
}

/// What whole states say about a property; the sets are disjoint.
pub struct Deciding<S> {
    /// Where it is decided: an invariant is false, a goal is true, a step fails.
    pub decided: S,
    /// Where evaluating it is a fault.
    pub faulty: S,
}

/// A prime implicant over local variables.
pub struct Prime<S> {
    /// Its facts.
    pub facts: Vec<(ProcessId, LocalFact)>,
    /// The states in which all of them hold, whatever the shared cells are.
    pub satisfying: S,
    /// The states of `satisfying` whose shared valuation lies inside the set for every local state that satisfies `facts`.
    pub inside: S,
}
