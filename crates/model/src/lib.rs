//! The checked Model of a concurrent program, and the one definition of its steps.
//!
//! A front-end makes a [`Model`]; [`eval`] says what its initial states, steps and faults are. Everything else in the
//! workspace is an optimisation of `eval` and is compared with it.

pub mod canonical;
pub mod chain;
pub mod control;
pub mod eval;
pub mod expr;
pub mod fairness;
pub mod footprint;
pub mod instance;
pub mod layout;
pub mod machine;
pub mod points;
pub mod print;
pub mod process;
pub mod property;
pub mod resize;
pub mod size;
pub mod statements;
pub mod symmetry;
pub mod template;
pub mod types;
pub mod value;
pub mod variable;
pub mod view;
pub mod visit;

use std::sync::Arc;

use base::{IdVec, Span};

use control::{Action, Channel, Loop, Place, Procedure, Statement};
use fairness::FairnessPair;
use process::{Family, Process, ProcessId};
use property::Property;
use size::Forms;
pub use size::{GivenNumber, Parameter};
use types::{EnumType, TypeContext};
use variable::{Cell, CellId, Storage, Var, VarId};

/// A program, checked: one instance with all parameters given, and the template that it is an instance of.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The program's name.
    pub name: String,
    /// What the user wrote about it (`///`).
    pub doc: String,
    /// The parameters with their values.
    pub parameters: IdVec<Parameter>,
    /// What the call gives besides, as to macros of Promela: it tells instances apart, and nothing in the Model speaks of it.
    pub given: Vec<GivenNumber>,
    /// The enumerations.
    pub enums: IdVec<EnumType>,
    /// All variables of all storage classes.
    pub vars: IdVec<Var>,
    /// The state outside the stacks: the shared cells, then those of each process.
    pub cells: IdVec<Cell>,
    /// How many of the cells are shared.
    pub n_shared_cells: usize,
    /// The families, single processes among them.
    pub families: IdVec<Family>,
    /// The processes, family by family.
    pub processes: IdVec<Process>,
    /// The procedures.
    pub procedures: IdVec<Procedure>,
    /// The places of all families and procedures.
    pub places: IdVec<Place>,
    /// The actions of all families and procedures.
    pub actions: IdVec<Action>,
    /// The statements that the actions come from.
    pub statements: IdVec<Statement>,
    /// The `for` loops.
    pub loops: IdVec<Loop>,
    /// The channels.
    pub channels: IdVec<Channel>,
    /// Every fairness assumption that some property uses.
    pub fairness: IdVec<FairnessPair>,
    /// The questions, in the order of the text; the built-in ones first where they are not written down.
    pub properties: IdVec<Property>,
    /// What has to hold in an initial state, beside what each cell may start with.
    pub initially: Vec<expr::Expr>,
    /// Facts that the user offers to expose.
    pub hints: Vec<Hint>,
    /// The numbers in declarations that were computed from parameters.
    pub forms: Forms,
    /// The program before its parameters were replaced by their values, if it has any: see [`instance`].
    pub template: Option<Arc<Model>>,
}

/// `hint expose P[*]@crit;`: a fact about each of some processes that proofs may expose.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The processes.
    pub processes: Vec<ProcessId>,
    /// The fact, evaluated for each of them.
    pub fact: expr::Expr,
    /// Its span in the text.
    pub span: Span,
}

impl Model {
    /// Whether a step may be a chain of several actions.
    pub fn goes_on(&self) -> bool {
        self.actions.iter().any(|action| action.goes_on)
    }

    /// Whether an action is enabled only where nothing else is.
    pub fn has_when_nobody(&self) -> bool {
        self.actions.iter().any(|action| action.when_nobody)
    }

    /// Whether a receiver takes part for some values only, or ignores one.
    pub fn has_patterns(&self) -> bool {
        self.actions.iter().any(Action::has_patterns)
    }

    /// Whether a process may wait for ever somewhere but at its end and at `idle`.
    pub fn has_end_places(&self) -> bool {
        self.places.iter().any(|place| place.may_end)
    }

    /// What the domains of types depend on.
    pub fn type_context(&self) -> TypeContext<'_> {
        TypeContext { enums: &self.enums, processes: &self.processes }
    }

    /// The cells of a variable: the shared ones, or those of one process's copy.
    ///
    /// # Panics
    /// If the variable lives in frames, or belongs to a process and none is given.
    pub fn cells_of(&self, var: VarId, owner: Option<ProcessId>) -> impl ExactSizeIterator<Item = CellId> + use<> {
        let declared = &self.vars[var];
        let start = match declared.storage {
            Storage::Shared => 0,
            Storage::Public(_) | Storage::Local(_) => {
                self.processes[owner.expect("the variable belongs to a process")].first_cell
            }
            Storage::Frame(_) => panic!("`{}` lives in frames, not in cells", declared.name),
        };
        let first = start + declared.offset;
        (first..first + declared.ty.n_cells()).map(CellId::new)
    }
}
