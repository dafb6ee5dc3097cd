//! Flat programs: what other tools' languages can say of a Model.
//!
//! In: a Model. Out: variables of numbers and truth values, for each process its **nodes** (a place in one round of the loops and
//! in one chain of calls around it), and the steps between nodes: a guard and simultaneous updates, both over the state before the step.
//! A body is run symbolically, once for each way through its choices; what can go wrong becomes a **fault**, a condition of its own.
//! So a target only has to print terms, and what it prints means what `model::eval` means: the states of the flat
//! program are those of the Model, one for one.
//!
//! `nodes.rs` finds the nodes, `expression.rs` turns expressions into terms, `body.rs` runs statements, `step.rs` makes steps and says
//! which processes are enabled, `race.rs` which of them touch what at once.

mod body;
mod expression;
mod nodes;
mod race;
mod step;

use base::{IdVec, Span};
use model::Model;
use model::control::{ActionId, ActionKind, PlaceId};
use model::eval::{Counters, free_cells, initial_states};
use model::process::ProcessId;
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{Role, Storage, VarId};
use std::collections::HashMap;

use crate::ExportRefusal;
use crate::term::{NodeNo, Term, VarNo, VariableRead};
pub use expression::{FlatValue, TermEvaluator};
pub use race::race;
pub use step::{able, able_by, deadlock, may_stutter, stuck_free_nodes, takes_part};

/// A program without stacks, faults inside expressions, or choices inside steps.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    /// The variables: the shared ones, then process by process, then those of the procedures that a process calls.
    pub vars: IdVec<FlatVar>,
    /// The nodes of each process.
    pub nodes: Vec<IdVec<ControlNode>>,
    /// Where each process starts.
    pub entries: Vec<NodeNo>,
    /// The steps that have a successor, process by process.
    pub steps: Vec<FlatStep>,
    /// The steps that fail.
    pub faults: Vec<FaultStep>,
    /// Where the variables of processes and procedures are.
    places: HashMap<(VarId, Option<ProcessId>), VarNo>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct FlatVar {
    /// As the user writes it: `flag`, `P[0].level`.
    pub display: String,
    /// The type of each element.
    pub ty: ScalarType,
    /// The lengths of its dimensions; empty for a scalar.
    pub dimensions: Vec<usize>,
    /// What each element starts with, in layout order; `None` is anything.
    pub init: Vec<Option<i64>>,
    /// The least and the greatest number; (0, 1) for truth values.
    pub bounds: (i64, i64),
    /// The process that it belongs to, if it does.
    pub owner: Option<ProcessId>,
    /// Where it is declared.
    pub span: Span,
}

/// Where control of a process can be.
#[derive(Clone, Debug)]
pub struct ControlNode {
    /// The place of the top frame.
    pub place: PlaceId,
    /// The counters of the loops of the top frame.
    pub counters: Counters,
    /// The calls that wait below, outermost first, each with its frame's counters.
    pub callers: Vec<(ActionId, Counters)>,
    /// Whether the process has terminated.
    pub is_end: bool,
    /// Whether it may stay for ever.
    pub is_idle: bool,
    /// Whether a process that waits here is not stuck.
    pub may_end: bool,
}

/// A step with its successor.
#[derive(Clone, Debug)]
pub struct FlatStep {
    /// The processes of the step; of a rendezvous, the sender first. Each with its action and its way.
    pub movers: Vec<StepPart>,
    /// When it can be taken, given that the movers are at their sources.
    pub guard: Term,
    /// What changes, all at once.
    pub updates: Vec<Update>,
    /// What it reads and writes.
    touched: Vec<TouchedElement>,
}

/// One process's part in a step.
#[derive(Clone, Copy, Debug)]
pub struct StepPart {
    /// The process.
    pub process: ProcessId,
    /// Its control location before.
    pub source: NodeNo,
    /// Its control location afterwards; of a fault, where it stays.
    pub target: NodeNo,
    /// Its action.
    pub action: ActionId,
}

/// A new value for an element of a variable.
#[derive(Clone, Debug)]
pub struct Update {
    /// The variable.
    pub var: VarNo,
    /// One number for each dimension.
    pub index: Vec<Term>,
    /// The new value.
    pub value: Term,
}

/// A step that fails.
#[derive(Clone, Debug)]
pub struct FaultStep {
    /// The processes of the step.
    pub movers: Vec<StepPart>,
    /// When it fails, given that the movers are at their sources.
    pub condition: Term,
    touched: Vec<TouchedElement>,
}

/// An element that a step reads or writes, and when it does.
#[derive(Clone, Debug)]
pub(crate) struct TouchedElement {
    process: ProcessId,
    var: VarNo,
    index: Vec<Term>,
    when: Term,
    writes: bool,
}

/// Refuses steps that the flat form does not have: chains of actions, and actions that wait for all processes.
fn follows(model: &Model) -> Result<(), Vec<ExportRefusal>> {
    let refused = model.actions.iter().filter_map(|action| {
        let span = model.statements[action.statement].span;
        match (action.goes_on, action.when_nobody) {
            (true, _) => Some(ExportRefusal::new(span, "this goes on with the next statement in the same step")),
            (_, true) => Some(ExportRefusal::new(span, "this waits until nobody else can move")),
            (false, false) => None,
        }
    });
    let starts = model
        .initially
        .iter()
        .map(|condition| ExportRefusal::new(condition.span, "this relates what several cells start with"));
    let refused: Vec<ExportRefusal> = refused.chain(starts).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

impl Flat {
    /// The flat program of a Model.
    ///
    /// # Errors
    /// Everything that prevents it.
    pub fn of(model: &Model) -> Result<Flat, Vec<ExportRefusal>> {
        follows(model)?;
        let mut flat = Flat::default();
        flat.find_nodes(model)?;
        flat.declare(model);
        flat.make_steps(model)?;
        Ok(flat)
    }

    fn declare(&mut self, model: &Model) {
        let free = free_cells(model);
        let initial = initial_states(model).next().expect("a program has an initial state");
        let owners = std::iter::once(None).chain(model.processes.ids().map(Some));
        for owner in owners {
            for (id, var) in model.vars.entries() {
                let mine = match (var.storage, owner) {
                    (Storage::Shared, None) => true,
                    (Storage::Public(family) | Storage::Local(family), Some(owner)) => {
                        model.processes[owner].family == family
                    }
                    _ => false,
                };
                if !mine || matches!(var.role, Role::Counter(_)) {
                    continue;
                }
                let start = |cell: model::variable::CellId| {
                    (!free.contains(&cell)).then(|| number_of(model, initial.cells[cell.index()]))
                };
                let init = model.cells_of(id, owner).map(start).collect();
                self.declare_one(model, id, owner, init);
            }
        }
        for process in model.processes.ids() {
            for procedure in model::points::called_procedures(model, process) {
                for &id in &model.procedures[procedure].vars {
                    if !matches!(model.vars[id].role, Role::Counter(_)) {
                        let first = first_number(model, model.vars[id].ty.scalar());
                        self.declare_one(model, id, Some(process), vec![Some(first); model.vars[id].ty.n_cells()]);
                    }
                }
            }
        }
    }

    fn declare_one(&mut self, model: &Model, id: VarId, owner: Option<ProcessId>, init: Vec<Option<i64>>) {
        let var = &model.vars[id];
        let inside = match var.storage {
            Storage::Frame(procedure) => format!("{}.", model.procedures[procedure].name),
            _ => String::new(),
        };
        let owned = owner.map_or(String::new(), |owner| format!("{}.", model.processes[owner].name));
        let ty = var.ty.scalar();
        let declared = FlatVar {
            display: format!("{owned}{inside}{}", var.name),
            ty,
            dimensions: var.ty.dimensions(),
            init,
            bounds: bounds_of(model, ty),
            owner,
            span: var.span,
        };
        let number = self.vars.push(declared);
        self.places.insert((id, owner), number);
    }

    /// The copy of a variable that a process has, or the shared one.
    fn var(&self, id: VarId, owner: Option<ProcessId>) -> VarNo {
        *self.places.get(&(id, owner)).expect("every variable that is not a counter is declared")
    }

    /// A read of an element.
    fn read(&self, var: VarNo, index: Vec<Term>) -> Term {
        let declared = &self.vars[var];
        Term::read(VariableRead { var, index, bounds: declared.bounds, is_truth: declared.ty == ScalarType::Bool })
    }

    /// The nodes of a process whose top frame is at one of the places.
    fn nodes_at(&self, process: ProcessId, places: &[PlaceId]) -> Vec<NodeNo> {
        let nodes = &self.nodes[process.index()];
        nodes.entries().filter(|(_, node)| places.contains(&node.place)).map(|(id, _)| id).collect()
    }

    /// Whether some step can fail.
    pub fn can_fail(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Whether some variable starts anywhere.
    pub fn starts_anywhere(&self) -> bool {
        self.vars.iter().any(|var| var.init.contains(&None))
    }
}

impl FlatVar {
    /// The elements, each with its indices, in layout order.
    pub fn elements(&self) -> Vec<Vec<usize>> {
        self.dimensions.iter().fold(vec![Vec::new()], |found, &len| {
            let extend = |index: Vec<usize>| (0..len).map(move |at| [index.clone(), vec![at]].concat());
            found.into_iter().flat_map(extend).collect()
        })
    }
}

/// Whether the action leaves `idle`.
pub(crate) fn is_idle(model: &Model, action: ActionId) -> bool {
    matches!(model.actions[action].kind, ActionKind::Idle)
}

/// The number that encodes a value; truth values are 0 and 1.
pub(crate) fn number_of(model: &Model, value: Value) -> i64 {
    match value {
        Value::Bool(truth) => i64::from(truth),
        Value::Int(number) => number,
        Value::Enum(_, at) => i64::from(at),
        Value::None => model.processes.len() as i64,
        Value::Process(id) => id.index() as i64,
    }
}

fn first_number(model: &Model, ty: ScalarType) -> i64 {
    number_of(model, ty.first_value(model.type_context()).expect("types have values"))
}

/// The least and the greatest number that encodes a value of the type.
fn bounds_of(model: &Model, ty: ScalarType) -> (i64, i64) {
    let none = model.processes.len() as i64;
    let members = |family: model::process::FamilyId| {
        let family = &model.families[family];
        let first = family.first.index() as i64;
        (first, first + family.count() as i64 - 1)
    };
    match ty {
        ScalarType::Bool => (0, 1),
        ScalarType::Range { lo, hi } => (lo, hi),
        ScalarType::Semaphore { max } => (0, max),
        ScalarType::Enum(id) => (0, model.enums[id].values.len() as i64 - 1),
        ScalarType::Pid(family) => members(family),
        ScalarType::PidOrNone(family) => (members(family).0, none),
        ScalarType::Lock => (0, none),
    }
}

/// A scalar part's position from its constant indices.
pub(crate) fn position(dimensions: &[usize], index: &[Term]) -> Option<usize> {
    let mut offset = 0;
    for (index, len) in index.iter().zip(dimensions) {
        let at = usize::try_from(index.as_number()?).ok().filter(|at| at < len)?;
        offset = offset * len + at;
    }
    Some(offset)
}

/// The scalar parts of a type.
fn leaves(ty: &Type) -> usize {
    ty.n_cells()
}
