//! Symmetry: may the processes of a family be permuted?
//!
//! In: a Model and a family. Out: the reasons why not; none means that every permutation of the family's processes maps
//! steps to steps and initial states to initial states. The check is syntactic. Processes of the family may be compared
//! with `==` and `!=`, stored, passed on, quantified over, and used as an index; an array that is indexed by them is
//! indexed by them only. Numbers made of them, constants among them and their order are reasons why not.

mod failure;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use base::Span;

use crate::Model;
use crate::control::{Action, ActionKind, ReceivePattern, SyncSide, TextOwner};
use crate::expr::Expr;
use crate::process::FamilyId;
use crate::types::ScalarType;
use crate::variable::{Init, Role, Storage, Var, VarId};

use walk::{AsymmetryWalk, IndexKind};

/// Why the processes of a family may not be permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asymmetry {
    /// What kind of reason it is.
    pub why: AsymmetryKind,
    /// Its span in the text.
    pub span: Span,
}

/// The kinds of reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsymmetryKind {
    /// A particular process is named.
    Constant,
    /// A process's index is used as a number: in arithmetic, in a comparison of order, or stored as one.
    Number,
    /// A number is used as a process.
    FromNumber,
    /// A loop takes the processes in their order.
    Order,
    /// A quantifier over the processes has a body that may fail, so that it shows which instance comes first.
    MayFail,
    /// The array is indexed by processes in one place and by numbers here.
    MixedIndex(VarId),
    /// The array is indexed by processes here, and by numbers or not at all in the program: a permutation of the processes
    /// does not move its elements.
    FixedElements(VarId),
    /// The variable starts with a particular process, or differently for different processes.
    Initial(VarId),
}

impl AsymmetryKind {
    /// In words, in the user's names.
    pub fn describe(&self, model: &Model) -> String {
        match self {
            AsymmetryKind::Constant => "one particular process is named".to_string(),
            AsymmetryKind::Number => "the index of a process is used as a number".to_string(),
            AsymmetryKind::FromNumber => "a number is used as a process".to_string(),
            AsymmetryKind::Order => "a loop takes the processes in their order".to_string(),
            AsymmetryKind::MayFail => {
                "a quantifier stops at the first process that decides, and another could fail".to_string()
            }
            AsymmetryKind::MixedIndex(var) => {
                format!("`{}` is indexed by processes elsewhere, and by a number here", model.vars[*var].name)
            }
            AsymmetryKind::FixedElements(var) => {
                format!("`{}` is indexed by a process here, and by no process in the program", model.vars[*var].name)
            }
            AsymmetryKind::Initial(var) => {
                format!("`{}` does not start alike for all processes", model.vars[*var].name)
            }
        }
    }
}

/// Why the processes of the family may not be permuted; empty where they may.
pub fn asymmetries(model: &Model, family: FamilyId) -> Vec<Asymmetry> {
    asymmetries_beside(model, family, 0)
}

/// Why the processes of the family other than the first so many may not be permuted. Permutations fix those: they may be
/// named, and an index may be compared with theirs.
pub fn asymmetries_beside(model: &Model, family: FamilyId, n_named: usize) -> Vec<Asymmetry> {
    if model.families[family].count() < 2 {
        return Vec::new();
    }
    let mut walk = AsymmetryWalk::new(model, family).beside(n_named);
    for action in &model.actions {
        walk.action(action);
    }
    for counted in &model.loops {
        walk.enter(counted.scope);
        walk.ordered_domain(&counted.domain, counted.span);
    }
    for (id, var) in model.vars.entries().filter(|(_, var)| !matches!(var.role, Role::Counter(_))) {
        walk.enter(match var.storage {
            Storage::Frame(procedure) => TextOwner::Procedure(procedure),
            Storage::Public(owner) | Storage::Local(owner) => TextOwner::Family(owner),
            Storage::Shared => TextOwner::Family(family),
        });
        walk.initial(id, var, &var.init);
    }
    walk.finish()
}

/// The dimensions of arrays that the program indexes by processes of the family: what a permutation of processes permutes,
/// besides the processes' own cells and stacks and the values that name processes.
pub fn process_dimensions(model: &Model, family: FamilyId) -> BTreeSet<(VarId, usize)> {
    let mut walk = AsymmetryWalk::new(model, family);
    model.actions.iter().for_each(|action| walk.action(action));
    walk.process_dimensions()
}

/// Why an expression that is evaluated for no process, as in a property, distinguishes the processes of the family. The program alone
/// says which elements a permutation moves, so the expression has to index the same dimensions by processes, and no others.
pub fn expr_asymmetries(model: &Model, family: FamilyId, expr: &Expr) -> Vec<Asymmetry> {
    expr_asymmetries_beside(model, family, 0, expr)
}

/// The same, where the first so many processes of the family stay where they are.
pub fn expr_asymmetries_beside(model: &Model, family: FamilyId, n_named: usize, expr: &Expr) -> Vec<Asymmetry> {
    if model.families[family].count() < 2 {
        return Vec::new();
    }
    let mut program = AsymmetryWalk::new(model, family);
    model.actions.iter().for_each(|action| program.action(action));
    let mut walk = AsymmetryWalk::new(model, family).beside(n_named);
    walk.indexed_by(&program);
    walk.look(expr);
    walk.refuse_beside(&program.process_dimensions());
    walk.finish()
}

impl AsymmetryWalk<'_> {
    fn action(&mut self, action: &Action) {
        self.enter(action.scope);
        if let Some(guard) = &action.guard {
            self.look(guard);
        }
        match action.sync.as_ref().map(|sync| &sync.side) {
            None => {}
            Some(SyncSide::Send(values)) => values.iter().for_each(|value| self.look(value)),
            Some(SyncSide::Receive(patterns)) => patterns.iter().for_each(|pattern| match pattern {
                ReceivePattern::Into(target) => self.access(target),
                ReceivePattern::Equal(value) => self.look(value),
                ReceivePattern::Ignored => {}
            }),
        }
        self.body(&action.body);
        match &action.kind {
            ActionKind::Plain | ActionKind::Idle | ActionKind::Return { value: None } => {}
            ActionKind::Return { value: Some(value) } => self.look(value),
            ActionKind::Call { arguments, result, .. } => {
                arguments.iter().for_each(|argument| self.look(argument));
                result.iter().for_each(|target| self.access(target));
            }
        }
    }

    fn initial(&mut self, id: VarId, var: &Var, init: &Init) {
        let names_first = matches!(var.ty.scalar(), ScalarType::Pid(family) if family == self.family);
        match init {
            Init::Any => {}
            Init::First if names_first => self.complain(AsymmetryKind::Initial(id), var.span),
            Init::First => {}
            Init::Fill(value) => {
                let before = self.n_complaints();
                self.look(value);
                if self.n_complaints() > before {
                    self.complain(AsymmetryKind::Initial(id), value.span);
                }
            }
            // Elements of an array that processes index must start with one value; the walk knows at the end which those are.
            Init::Elements(elements) => {
                let alike = elements.windows(2).all(|pair| pair[0] == pair[1]);
                if !alike {
                    self.uneven.insert(id, var.span);
                }
                elements.iter().for_each(|element| self.initial(id, var, element));
            }
        }
    }
}

/// How each dimension of each array is indexed, with the places where it is by a number.
type IndexUses = BTreeMap<(VarId, usize), Vec<(IndexKind, Span)>>;

/// Whether the variable has a dimension as long as the family, which processes may index: as long at every size, not by
/// accident at this one. A length that is no sum of parameters cannot be compared with the family's size.
fn spans_family(model: &Model, family: FamilyId, var: VarId, dimension: usize) -> bool {
    let starts_elsewhere = model.forms.first_indices.contains_key(&family);
    let family = &model.families[family];
    let starts_at_zero = !starts_elsewhere && family.index.as_ref().is_some_and(|range| range.first == 0);
    starts_at_zero && family.size.linear().is_some_and(|size| model.length_form(var, dimension) == Some(size))
}
