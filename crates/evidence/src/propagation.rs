//! Refutations by propagation: why no fair run violates a temporal property, by what each process would see again and again.
//!
//! **Views.** A process *sees* its control, its own cells, the shared and public cells that its text may touch, and the control of
//! processes whose control locations its text reads. A view of some processes shows what they see, and further cells and controls where the property
//! speaks of them; a *view state* is what it shows of a state. A row of numbers encodes a view state: first the cells, ascending,
//! each as a position among its type's values, then the controls, ascending by process, each as the number of a place.
//!
//! The view states of all processes are the smallest sets that contain what views show of initial states and are closed under turns of
//! the view's processes and under turns of each other process from each of its view states that agrees on what both see. Every
//! reachable state shows each view one of these. A **rendezvous** is a turn of its sender; of those with whom a process may meet it sees, too, where they are, and
//! what their side of it may touch (and where that goes on in the same step, all that they see), so that it sees all that its steps, and whether it can receive,
//! depend on or change. A view whose sender sees nothing of it, but another one of the turn does, is left as it is by the turn, and has an edge for it. An *edge* of a view is a turn: the view states before and after it, and which process had it
//! and by which action, where one of the processes concerned sees something that the view shows, or *elsewhere* where none
//! does. Every run is an infinite path in each view, and the edges that one turn is in two views are *compatible*: the same turn where
//! both show which process had it, and the same content of what both show, before and after.
//!
//! **Additive invariants** ([`Additive`]): a sum over cells, or over a few cells together, is a sum over processes. They hold if
//! they hold initially and every turn of a process from one of its view states changes both sides by the same amount, with what those weigh whom it meets. View states in
//! which other processes and cells that are not shown would have to make up less or more than they can, and pairs of view states
//! of which one shows all cells and in which other processes would have to, are left out.
//!
//! **Rule.** Suppose that a fair run violates the property in a certain way. Let `I_v` be the edges of view `v` that it takes again and
//! again. Sets `D_v` that contain `I_v` are kept: in the beginning all edges. The view of the property goes with the violation's
//! automaton ([`crate::plain`]): its edges are those of the product. That view may show other processes besides, and may leave out what the property speaks of, which may be anything then, if it has a value in every state.
//! What a condition says of more than a view shows counts as far as it shows that (Kleene's three values). So each view knows what the acceptance of the automaton demands: the literals that all edges read on which it
//! goes round in the end are true from some point on, and those of all edges with one mark again and again; beside crowds this is not used. Each [`RefutationStep`] makes a set smaller and keeps `I_v` in it, or
//! distinguishes cases; the last one leaves a set empty. So there is no such run.
//!
//! **Crowds** ([`Sights::crowds`]). Permutations of a crowd's processes take the program to itself, move nothing but these processes' own cells and control,
//! which no other process sees, and change no value; the fairness assumptions are images of each other. Then the view states of one are those of all. The set of a
//! crowd's first process represents those of all its processes: `I_p` of each lies in its image. Its edges do not say which other process
//! of a crowd took the step. An edge of a process of a crowd is compatible with that set if it is with the edge of the process itself and with that of
//! another one. Steps treat all of a crowd symmetrically, until one leaves it ([`RefutationStep::Single`], or as the process of a case, which represents those of all
//! others); at least three stay.

use model::Model;
use model::control::PlaceId;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

use crate::plain::{AutomatonNames, UsedNames};
use crate::ranks::ViolationName;

/// What processes see, and sums that hold in every reachable state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sights {
    /// For each process, in the order of the program, what it sees besides its control and its own cells.
    pub seen: Vec<ProcessSight>,
    /// The additive invariants.
    pub additive: Vec<Additive>,
    /// Processes of one family each that are interchangeable: one set of edges speaks of all of a crowd.
    pub crowds: Vec<Vec<ProcessId>>,
}

/// What a process sees besides its control and its own cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSight {
    /// Shared cells, public cells of others, and what those have of their own whom it may meet.
    pub cells: Vec<CellId>,
    /// The processes whose control locations it shows.
    pub controls: Vec<ProcessId>,
}

/// `constant + sum of the cells' weights + sum of the groups' weights = sum of the processes' weights`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Additive {
    /// What the left side has besides the cells.
    pub constant: i64,
    /// The cells of the left side.
    pub cells: Vec<CellWeights>,
    /// Cells that are weighed together, on the left side, too.
    pub groups: Vec<GroupWeights>,
    /// The processes of the right side; those that are not here weigh nothing.
    pub processes: Vec<ProcessWeights>,
}

/// What the values of a cell weigh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellWeights {
    /// The cell.
    pub cell: CellId,
    /// Each value that can occur.
    pub weights: Vec<(Value, i64)>,
}

/// What the values of some cells weigh together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWeights {
    /// The cells.
    pub cells: Vec<CellId>,
    /// Each choice of values that can occur.
    pub weights: Vec<(Vec<Value>, i64)>,
}

/// What the local states of a process weigh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessWeights {
    /// The process.
    pub process: ProcessId,
    /// The cells of its own that matter, beside its control.
    pub cells: Vec<CellId>,
    /// Each place with values of the cells that can occur.
    pub weights: Vec<LocalWeight>,
}

impl ProcessWeights {
    /// The same for another process of the family.
    pub fn of_another(&self, model: &Model, process: ProcessId) -> ProcessWeights {
        let firsts = [self.process, process].map(|one| model.processes[one].first_cell);
        let cell = |cell: &CellId| CellId::new(cell.index() - firsts[0] + firsts[1]);
        ProcessWeights { process, cells: self.cells.iter().map(cell).collect(), weights: self.weights.clone() }
    }
}

/// What a local state weighs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalWeight {
    /// The place of the control location.
    pub place: PlaceId,
    /// The values of the cells.
    pub values: Vec<Value>,
    /// The weight.
    pub weight: i64,
}

/// No fair run violates the property in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Refutation {
    /// The way to violate the property.
    pub violation: ViolationName,
    /// The states of the automaton that the steps speak of.
    pub automaton: AutomatonNames,
    /// The processes of the property's view.
    pub members: Vec<ProcessId>,
    /// The cells that it shows besides, where the property speaks of them.
    pub cells: Vec<CellId>,
    /// The processes whose control it shows besides.
    pub controls: Vec<ProcessId>,
    /// The steps. The last one leaves a set empty, or distinguishes cases in all of which this is so.
    pub steps: Vec<RefutationStep>,
}

impl Refutation {
    /// The claim with the names that it uses, where states are numbered as in a table of all names.
    pub fn with_names_of(mut self, all: &AutomatonNames) -> Self {
        let mut names = UsedNames::new(all);
        name_states(&mut self.steps, &mut names);
        self.automaton = names.into_table();
        self
    }
}

fn name_states(steps: &mut [RefutationStep], names: &mut UsedNames<'_>) {
    for step in steps {
        match step {
            RefutationStep::Split { cases, .. } => {
                for case in cases {
                    let states = case.points.iter_mut().filter_map(|point| point.state.as_mut());
                    states.for_each(|state| *state = names.state(*state as usize) as u32);
                    name_states(&mut case.steps, names);
                }
            }
            RefutationStep::Holder { cases, .. } | RefutationStep::Scheduled(cases) => {
                cases.iter_mut().for_each(|case| name_states(&mut case.steps, names));
            }
            RefutationStep::Fair(_)
            | RefutationStep::Compatible { .. }
            | RefutationStep::Unequal(_)
            | RefutationStep::Single(_) => {}
        }
    }
}

/// Whose edges a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeOwner {
    /// The product of the property's view with the automaton.
    Property,
    /// The view of a process.
    Process(ProcessId),
}

/// A step of a refutation.
#[derive(Clone, Debug, PartialEq)]
pub enum RefutationStep {
    /// Keeps the fair components of a set: `I_v` is strongly connected and satisfies every fairness assumption.
    Fair(EdgeOwner),
    /// Keeps in one set what is compatible with an edge of another.
    Compatible {
        /// The set that is examined.
        from: EdgeOwner,
        /// The set that becomes smaller.
        to: EdgeOwner,
    },
    /// `I_v` lies in one of the fair components of a set: one case for each, or for some of them together.
    Split {
        /// The set.
        of: EdgeOwner,
        /// The cases.
        cases: Vec<RefutationCase>,
    },
    /// In all of a set the others weigh something together, so that some other process has a positive weight, and no other process that
    /// has none gets one. So some other process keeps one for ever: a case for each.
    Holder {
        /// The set.
        of: EdgeOwner,
        /// The additive invariant, by its position.
        invariant: usize,
        /// The cases.
        cases: Vec<HolderCase>,
    },
    /// Some process is scheduled infinitely often: a case for each.
    Scheduled(Vec<HolderCase>),
    /// The two sides of an additive invariant, by its position, cannot be equal.
    Unequal(usize),
    /// A process leaves its crowd: from here on it has a set of its own, and its steps are distinguished from those of others of its crowd.
    Single(ProcessId),
}

/// Some fair components, and what follows in all of them together.
#[derive(Clone, Debug, PartialEq)]
pub struct RefutationCase {
    /// A point in each.
    pub points: Vec<NodePoint>,
    /// The steps.
    pub steps: Vec<RefutationStep>,
}

/// A node of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePoint {
    /// The view state.
    pub row: Vec<u32>,
    /// The automaton's state by its position in the table, for the property's view.
    pub state: Option<u32>,
}

/// A process that the case is about, and what follows.
#[derive(Clone, Debug, PartialEq)]
pub struct HolderCase {
    /// The process.
    pub process: ProcessId,
    /// The steps.
    pub steps: Vec<RefutationStep>,
}
