//! What the names of a program's declarations mean.

use std::collections::{HashMap, HashSet};

use base::{Id, Span};
use model::control::{ChannelId, PlaceId, ProcedureId, TextOwner as TextScope};
use model::expr::Expr;
use model::process::FamilyId;
use model::size::ParameterId;
use model::types::{EnumId, ScalarType};
use model::variable::VarId;

use super::{Ty, Typed};
use crate::pw::ast;

/// What a name of the program's outermost level means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A parameter, by its position.
    Parameter(usize),
    /// A constant, by its position in [`Symbols::constants`].
    Constant(usize),
    /// An enumeration.
    Enum(EnumId),
    /// A definition, by its position in [`Symbols::defines`].
    Define(usize),
    /// A shared variable.
    Variable(VarId),
    /// A family or a single process.
    Family(FamilyId),
    /// A procedure.
    Procedure(ProcedureId),
    /// A channel on which processes meet.
    Channel(ChannelId),
    /// A shared variable whose type is not known yet.
    Pending,
    /// Something whose declaration is wrong.
    Broken,
}

/// How far the value of a parameter is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterValue {
    /// Not yet.
    Unknown,
    /// It has a value in this instance.
    Known(ParameterId),
    /// Its declaration is wrong.
    Broken,
}

/// How far the value of a constant is known.
pub(crate) enum Constant<'a> {
    /// Not looked at yet.
    Unknown(&'a ast::ConstDecl),
    /// Being computed: who needs it now needs itself.
    Open,
    /// Known.
    Known(Typed),
}

/// What is declared in the text of a family or procedure.
#[derive(Default)]
pub(crate) struct Locals<'a> {
    /// Variables and parameters; `None` for one whose declaration is wrong.
    pub vars: HashMap<&'a str, Option<VarId>>,
    /// Labels, with where each stands first.
    pub labels: HashMap<&'a str, Span>,
    /// Whether it is a procedure with a result, be its type right or wrong.
    pub has_result: bool,
}

/// A procedure's use of a public variable by its bare name: it must be called by the variable's owners only.
pub(crate) struct Need {
    /// The procedure.
    pub procedure: ProcedureId,
    /// The owners.
    pub family: FamilyId,
    /// The variable.
    pub var: VarId,
    /// Where it is used.
    pub span: Span,
}

/// All that names can mean.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    /// The names of the outermost level, with where each is declared.
    pub names: HashMap<&'a str, (Symbol, Span)>,
    /// The values of enumerations by name.
    pub enum_values: HashMap<&'a str, Vec<(EnumId, u32)>>,
    /// The parameters.
    pub parameters: Vec<ParameterValue>,
    /// The constants.
    pub constants: Vec<Constant<'a>>,
    /// The constants as written.
    pub constant_decls: Vec<&'a ast::ConstDecl>,
    /// The definitions.
    pub defines: Vec<&'a ast::DefineDecl>,
    /// Which of the definitions speak of runs: their bodies, expanded, have a temporal operator.
    pub temporal_defines: Vec<bool>,
    /// The whole declaration of each variable of a process.
    pub declarations: HashMap<VarId, Span>,
    /// What is declared in each family.
    pub families: Vec<Locals<'a>>,
    /// What is declared in each procedure.
    pub procedures: Vec<Locals<'a>>,
    /// The types of what is passed on each channel; `None` if they are wrong.
    pub channels: Vec<Option<Vec<ScalarType>>>,
    /// Families whose size is wrong; they are checked with one process.
    pub broken_families: HashSet<FamilyId>,
    /// The index of each family as written.
    pub indices: Vec<Option<&'a ast::ProcessIndex>>,
    /// Public variables that procedures use by their bare names.
    pub needs: Vec<Need>,
    /// The places that carry a label, by text and label; complete when all control is laid out.
    pub label_places: HashMap<(TextScope, String), Vec<PlaceId>>,
}

impl<'a> Symbols<'a> {
    /// What is declared in a family.
    pub fn family(&self, id: FamilyId) -> &Locals<'a> {
        &self.families[id.index()]
    }

    /// What is declared in a procedure.
    pub fn procedure(&self, id: ProcedureId) -> &Locals<'a> {
        &self.procedures[id.index()]
    }

    /// The places of the texts that carry the label.
    pub fn places_in(&self, scopes: impl IntoIterator<Item = TextScope>, label: &str) -> Vec<PlaceId> {
        let carrying = |scope| self.label_places.get(&(scope, label.to_string())).into_iter().flatten().copied();
        let mut places: Vec<PlaceId> = scopes.into_iter().flat_map(carrying).collect();
        places.sort();
        places.dedup();
        places
    }

    /// The scopes whose labels a process of the family can stand at: its own text, and that of every procedure.
    pub fn texts_of(&self, family: FamilyId) -> impl Iterator<Item = TextScope> + use<> {
        let procedures = (0..self.procedures.len()).map(Id::new).map(TextScope::Procedure);
        std::iter::once(TextScope::Family(family)).chain(procedures)
    }

    /// Whether the family's text or some procedure has the label.
    pub fn has_label(&self, family: FamilyId, label: &str) -> bool {
        self.family(family).labels.contains_key(label)
            || self.procedures.iter().any(|procedure| procedure.labels.contains_key(label))
    }
}

/// A constant expression with its type.
impl Typed {
    /// An expression of a known type.
    pub fn new(expr: Expr, ty: Ty) -> Self {
        Typed { expr, ty }
    }
}
