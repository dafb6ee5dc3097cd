//! A program under construction: declarations first, then the texts, then [`Draft::finish`].

use std::collections::BTreeMap;

use base::Span;
use model::Model;
use model::control::{Channel, ChannelId, Loop, LoopId, Next, PlaceId, Procedure, ProcedureId, TextOwner};
use model::expr::Domain;
use model::process::{Family, FamilyId, IndexRange, Process};
use model::size::Size;
use model::types::{EnumId, EnumType, ScalarType, Type};
use model::variable::{Init, Role, Storage, Var, VarId};

use crate::text::TextStatement;

/// A program whose texts are still statements.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The declarations; places and actions come with [`finish`](Draft::finish).
    pub model: Model,
    pub(crate) family_texts: Vec<Vec<TextStatement>>,
    pub(crate) procedure_texts: Vec<Vec<TextStatement>>,
}

impl Draft {
    /// An empty program.
    pub fn new() -> Self {
        Draft::default()
    }

    /// Declares an enumeration.
    pub fn enumeration(&mut self, name: &str, values: &[&str]) -> EnumId {
        let values = values.iter().map(ToString::to_string).collect();
        self.model.enums.push(EnumType { name: name.to_string(), values, span: Span::default() })
    }

    /// Declares a family with indices from 0, and its processes.
    pub fn family(&mut self, name: &str, count: usize) -> FamilyId {
        self.add_family(name, Some(IndexRange { name: "i".to_string(), first: 0, count }))
    }

    /// Declares a single process.
    pub fn single(&mut self, name: &str) -> FamilyId {
        self.add_family(name, None)
    }

    fn add_family(&mut self, name: &str, index: Option<IndexRange>) -> FamilyId {
        let nowhere = PlaceId::new(0);
        let family = Family {
            name: name.to_string(),
            size: index.as_ref().map_or(Size::One, |range| Size::Fixed(range.count)),
            index,
            vars: Vec::new(),
            entry: Next::To(nowhere),
            end: nowhere,
            first: self.model.processes.next_id(),
            n_cells: 0,
            doc: String::new(),
            span: Span::default(),
        };
        let (count, indexed) = (family.count(), family.index.is_some());
        let id = self.model.families.push(family);
        for index in 0..count {
            let name = if indexed { format!("{name}[{index}]") } else { name.to_string() };
            self.model.processes.push(Process { family: id, index: index as i64, name, first_cell: 0 });
        }
        self.family_texts.push(Vec::new());
        id
    }

    /// Declares a shared variable.
    pub fn shared(&mut self, name: &str, ty: Type, init: Init) -> VarId {
        self.var(name, Storage::Shared, ty, init)
    }

    /// Declares a public variable of a family.
    pub fn public(&mut self, family: FamilyId, name: &str, ty: Type, init: Init) -> VarId {
        let var = self.var(name, Storage::Public(family), ty, init);
        self.model.families[family].vars.push(var);
        var
    }

    /// Declares a local variable of a family.
    pub fn local(&mut self, family: FamilyId, name: &str, ty: Type, init: Init) -> VarId {
        let var = self.var(name, Storage::Local(family), ty, init);
        self.model.families[family].vars.push(var);
        var
    }

    /// Declares a procedure with its parameters.
    pub fn procedure(
        &mut self,
        name: &str,
        parameters: &[(&str, ScalarType)],
        result: Option<ScalarType>,
    ) -> (ProcedureId, Vec<VarId>) {
        let id = self.model.procedures.next_id();
        let vars: Vec<VarId> = parameters
            .iter()
            .map(|(name, ty)| {
                let var = self.var(name, Storage::Frame(id), Type::Scalar(*ty), Init::First);
                self.model.vars[var].role = Role::Parameter;
                var
            })
            .collect();
        self.model.procedures.push(Procedure {
            name: name.to_string(),
            vars: vars.clone(),
            n_parameters: vars.len(),
            result,
            entry: Next::To(PlaceId::new(0)),
            n_slots: 0,
            doc: String::new(),
            span: Span::default(),
        });
        self.procedure_texts.push(Vec::new());
        (id, vars)
    }

    /// Declares a local variable of a procedure.
    pub fn frame_local(&mut self, procedure: ProcedureId, name: &str, ty: Type, init: Init) -> VarId {
        let var = self.var(name, Storage::Frame(procedure), ty, init);
        self.model.procedures[procedure].vars.push(var);
        var
    }

    /// Declares a `for` loop and its counter, whose type is `ty`.
    pub fn counter(&mut self, scope: TextOwner, name: &str, domain: Domain, ty: ScalarType) -> (LoopId, VarId) {
        let ty = Type::Scalar(ty);
        let var = match scope {
            TextOwner::Family(family) => self.local(family, name, ty, Init::First),
            TextOwner::Procedure(procedure) => self.frame_local(procedure, name, ty, Init::First),
        };
        let body = Next::To(PlaceId::new(0));
        let id = self.model.loops.push(Loop { scope, counter: var, domain, body, span: Span::default() });
        self.model.vars[var].role = Role::Counter(id);
        (id, var)
    }

    /// Declares a channel.
    pub fn channel(&mut self, name: &str) -> ChannelId {
        self.model.channels.push(Channel { name: name.to_string(), span: Span::default() })
    }

    /// Gives a family its text.
    pub fn text(&mut self, family: FamilyId, text: Vec<TextStatement>) {
        self.family_texts[family.index()] = text;
    }

    /// Gives a procedure its text.
    pub fn procedure_text(&mut self, procedure: ProcedureId, text: Vec<TextStatement>) {
        self.procedure_texts[procedure.index()] = text;
    }

    fn var(&mut self, name: &str, storage: Storage, ty: Type, init: Init) -> VarId {
        self.model.vars.push(Var {
            name: name.to_string(),
            storage,
            role: Role::Declared,
            ty,
            init,
            offset: 0,
            shown: BTreeMap::new(),
            look: model::variable::VariableLook::Plain,
            indices_after: Vec::new(),
            doc: String::new(),
            span: Span::default(),
        })
    }
}

/// `lo..=hi`
pub fn range_type(lo: i64, hi: i64) -> Type {
    Type::Scalar(ScalarType::Range { lo, hi })
}

/// `[T; len]`
pub fn array_type(element: Type, len: usize) -> Type {
    Type::Array { element: Box::new(element), len }
}
