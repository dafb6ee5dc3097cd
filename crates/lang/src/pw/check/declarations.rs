//! Declarations: what the program's items make known, in the order in which they depend on each other.
//!
//! All names of the outermost level are entered first, so that an item may use others that stand further down. Then come
//! enumerations, parameters, families (their ranges compute the constants that they need), constants, variables, and the
//! headers of procedures. Statements and properties are lowered afterwards.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use model::control::{Channel, Next, PlaceId, Procedure, ProcedureId, TextOwner as TextScope};
use model::process::{Family, FamilyId, IndexRange, Process, ProcessId};
use model::size::Size;
use model::types::{EnumType, ScalarType, Type};
use model::variable::{Init, Role, Storage, Var, VarId};

use super::symbols::{Constant, Locals, ParameterValue, Symbol};
use super::types::MAX_CELLS;
use super::{Base, Checker, Scope};
use crate::codes::check as code;
use crate::pw::ast::{self, Ident, Item, RangeEnd, Statement, StatementKind, StorageClass};

/// How many processes a program may have.
const MAX_PROCESSES: usize = 10_000;

impl<'a> Checker<'a> {
    /// Enters all names, and what is known before any parameter has a value.
    pub fn enter_names(&mut self) {
        let program = self.program;
        for (position, parameter) in program.parameters.iter().enumerate() {
            self.enter(&parameter.name, Symbol::Parameter(position));
            self.symbols.parameters.push(ParameterValue::Unknown);
        }
        for item in &program.items {
            match item {
                Item::Const(declared) => {
                    self.enter(&declared.name, Symbol::Constant(self.symbols.constants.len()));
                    self.symbols.constants.push(Constant::Unknown(declared));
                    self.symbols.constant_decls.push(declared);
                }
                Item::Enum(declared) => self.enter_enum(declared),
                Item::Define(declared) => {
                    self.enter(&declared.name, Symbol::Define(self.symbols.defines.len()));
                    self.symbols.defines.push(declared);
                    self.report_repeated(&declared.parameters, "parameter");
                }
                Item::Variable(declared) => drop(self.enter(&declared.name, Symbol::Pending)),
                Item::Process(declared) => self.enter_family(declared),
                Item::Procedure(declared) => self.enter_procedure(declared),
                Item::Channel(declared) => {
                    let (name, span) = (declared.name.name.clone(), declared.name.span);
                    let id = self.model.channels.push(Channel { name, span });
                    self.enter(&declared.name, Symbol::Channel(id));
                    self.symbols.channels.push(None);
                }
                // Elaborated.
                Item::Struct(_) | Item::Alias(_) => {}
                Item::Property(_) | Item::Fairness(_) | Item::Hint(_) => {}
                Item::AllowDeadlock(_) | Item::Sizes(_) | Item::Initially(_) => {}
            }
        }
        self.report_hidden_values();
        self.find_temporal_defines();
    }

    /// Declares families, constants, variables and procedures. The parameters have their values.
    pub fn declare(&mut self) {
        self.declare_families();
        for index in 0..self.symbols.constants.len() {
            self.constant(index, self.symbols.constant_decls[index].name.span);
        }
        let program = self.program;
        for item in &program.items {
            if let Item::Variable(declared) = item {
                self.declare_shared(declared);
            }
        }
        let mut family = self.model.families.ids();
        let mut procedure = self.model.procedures.ids();
        let mut channel = 0..self.symbols.channels.len();
        for item in &program.items {
            match item {
                Item::Channel(declared) => {
                    if let Some(at) = channel.next() {
                        self.symbols.channels[at] = self.message_types(declared);
                    }
                }
                Item::Process(declared) => {
                    if let Some(id) = family.next() {
                        self.declare_family_text(id, declared);
                    }
                }
                Item::Procedure(declared) => {
                    if let Some(id) = procedure.next() {
                        self.declare_procedure_text(id, declared);
                    }
                }
                _ => {}
            }
        }
    }

    /// The types of what is passed on a channel: which one of an array it is, and the parts of the message.
    fn message_types(&mut self, declared: &'a ast::ChannelDecl) -> Option<Vec<ScalarType>> {
        let mut types = Vec::new();
        for length in &declared.lengths {
            let hi = self.constant_number(length, "the length of an array")?.saturating_sub(1).max(0);
            types.push(ScalarType::Range { lo: 0, hi });
        }
        for part in &declared.parts {
            types.push(self.scalar_type(part)?);
        }
        Some(types)
    }

    /// Enters a name of the outermost level; `false` if it is taken.
    fn enter(&mut self, name: &'a Ident, symbol: Symbol) -> bool {
        if let Some(&(_, first)) = self.symbols.names.get(&*name.name) {
            self.report_twice(name, first);
            return false;
        }
        self.symbols.names.insert(&name.name, (symbol, name.span));
        true
    }

    fn report_twice(&mut self, name: &Ident, first: Span) {
        let diagnostic =
            Diagnostic::error(code::DECLARED_TWICE, name.span, format!("`{}` is declared twice", name.name));
        self.report(diagnostic.note(first, "first declared here").help("choose another name for one of them"));
    }

    fn report_repeated(&mut self, names: &'a [Ident], what: &str) {
        for (at, name) in names.iter().enumerate() {
            if let Some(first) = names[..at].iter().find(|other| other.name == name.name) {
                let message = format!("two {what}s are called `{}`", name.name);
                self.report(
                    Diagnostic::error(code::DECLARED_TWICE, name.span, message).note(first.span, "the first one"),
                );
            }
        }
    }

    fn enter_enum(&mut self, declared: &'a ast::EnumDecl) {
        let values: Vec<String> = declared.values.iter().map(|value| value.name.clone()).collect();
        let id = self.model.enums.push(EnumType { name: declared.name.name.clone(), values, span: declared.name.span });
        let symbol = if declared.values.is_empty() { Symbol::Broken } else { Symbol::Enum(id) };
        self.enter(&declared.name, symbol);
        if declared.values.is_empty() {
            let message = format!("the enumeration `{}` has no values", declared.name.name);
            self.report(
                Diagnostic::error(code::EMPTY_ENUM, declared.span, message)
                    .help("write at least one name in the braces"),
            );
        }
        self.report_repeated(&declared.values, "value");
        for (at, value) in declared.values.iter().enumerate() {
            let candidates = self.symbols.enum_values.entry(&value.name).or_default();
            if candidates.last().is_none_or(|&(of, _)| of != id) {
                candidates.push((id, at as u32));
            }
        }
    }

    /// Values of enumerations are visible in the whole program, so its other names must not hide them.
    fn report_hidden_values(&mut self) {
        let program = self.program;
        for item in &program.items {
            let Item::Enum(declared) = item else { continue };
            for value in &declared.values {
                if let Some(&(_, other)) = self.symbols.names.get(&*value.name) {
                    self.report_twice(value, other);
                }
            }
        }
    }

    fn enter_family(&mut self, declared: &'a ast::ProcessDecl) {
        let id = self.model.families.push(Family {
            name: declared.name.name.clone(),
            index: None,
            size: Size::One,
            vars: Vec::new(),
            entry: Next::To(PlaceId::new(0)),
            end: PlaceId::new(0),
            first: ProcessId::new(0),
            n_cells: 0,
            doc: text_of(&declared.doc),
            span: declared.name.span,
        });
        self.enter(&declared.name, Symbol::Family(id));
        self.symbols.families.push(Locals::default());
        self.symbols.indices.push(declared.index.as_ref());
        if let Some(index) = &declared.index {
            // Known to be a family before its size is: `pid` and quantifiers look for the one family.
            let name = index.name.name.clone();
            self.model.families[id].index = Some(IndexRange { name, first: 0, count: 1 });
        }
    }

    fn enter_procedure(&mut self, declared: &'a ast::ProcedureDecl) {
        let id = self.model.procedures.push(Procedure {
            name: declared.name.name.clone(),
            vars: Vec::new(),
            n_parameters: declared.parameters.len(),
            result: None,
            entry: Next::To(PlaceId::new(0)),
            n_slots: 0,
            doc: text_of(&declared.doc),
            span: declared.name.span,
        });
        self.enter(&declared.name, Symbol::Procedure(id));
        self.symbols.procedures.push(Locals { has_result: declared.result.is_some(), ..Locals::default() });
    }

    fn declare_families(&mut self) {
        let program = self.program;
        let declared = program.items.iter().filter_map(|item| match item {
            Item::Process(declared) => Some(declared),
            _ => None,
        });
        for (id, declared) in self.model.families.ids().zip(declared) {
            let Some(index) = &declared.index else { continue };
            match self.index_range(&index.range) {
                Some((first, count)) => {
                    self.model.families[id].index = Some(IndexRange { name: index.name.name.clone(), first, count });
                    self.keep_family_forms(id, &index.range, count);
                }
                None => self.shrink(id),
            }
        }
        let n_processes: usize = self.model.families.iter().map(Family::count).sum();
        if n_processes > MAX_PROCESSES {
            let message = format!("the program has {n_processes} processes; at most {MAX_PROCESSES} are possible");
            self.report(Diagnostic::error(code::BAD_FAMILY_SIZE, program.name.span, message));
            self.model.families.ids().for_each(|id| self.shrink(id));
        }
        for id in self.model.families.ids() {
            let family = &mut self.model.families[id];
            family.first = self.model.processes.next_id();
            let first_index = family.index.as_ref().map_or(0, |index| index.first);
            for offset in 0..family.count() {
                let index = first_index + offset as i64;
                let name = match family.index {
                    Some(_) => format!("{}[{index}]", family.name),
                    None => family.name.clone(),
                };
                self.model.processes.push(Process { family: id, index, name, first_cell: 0 });
            }
        }
    }

    /// Goes on with one process where the size of a family is wrong.
    fn shrink(&mut self, id: FamilyId) {
        self.symbols.broken_families.insert(id);
        if let Some(index) = &mut self.model.families[id].index {
            index.count = 1;
        }
    }

    /// The first index and how many there are.
    fn index_range(&mut self, range: &'a ast::Range) -> Option<(i64, usize)> {
        let first = self.constant_number(&range.low, "the first index");
        let end = self.constant_number(&range.high, "the last index");
        let (first, end) = (first?, end?);
        let count = i128::from(end) - i128::from(first) + i128::from(range.end == RangeEnd::Included);
        if count < 1 {
            let message = "this family has no processes in this instance";
            self.report(
                Diagnostic::error(code::BAD_FAMILY_SIZE, range.span, message).help("a family has at least one process"),
            );
            return None;
        }
        if count > MAX_PROCESSES as i128 {
            let message = format!("this family has {count} processes; at most {MAX_PROCESSES} are possible");
            self.report(Diagnostic::error(code::BAD_FAMILY_SIZE, range.span, message));
            return None;
        }
        Some((first, usize::try_from(count).ok()?))
    }

    fn declare_shared(&mut self, declared: &'a ast::VariableDecl) {
        let symbol = match self.type_of(&declared.ty) {
            None => Symbol::Broken,
            Some(ty) => {
                let init = self.initial(declared, &ty, &Scope::new(Base::Program), None);
                Symbol::Variable(self.push_var(declared, Storage::Shared, ty, init))
            }
        };
        if let Some(entered) = self.symbols.names.get_mut(&*declared.name.name)
            && entered.1 == declared.name.span
        {
            entered.0 = symbol;
        }
    }

    fn push_var(&mut self, declared: &'a ast::VariableDecl, storage: Storage, ty: Type, init: Init) -> VarId {
        let id = self.model.vars.push(Var {
            name: declared.name.name.clone(),
            storage,
            role: Role::Declared,
            ty,
            init,
            offset: 0,
            shown: BTreeMap::new(),
            look: declared.look.clone(),
            indices_after: declared.indices_after.clone(),
            doc: text_of(&declared.doc),
            span: declared.name.span,
        });
        self.symbols.declarations.insert(id, declared.span);
        self.keep_type_forms(id, &declared.ty);
        id
    }

    fn declare_family_text(&mut self, id: FamilyId, declared: &'a ast::ProcessDecl) {
        let scope = Scope::new(Base::Family(id));
        for variable in &declared.variables {
            let storage = match variable.class {
                StorageClass::Public => Storage::Public(id),
                _ => Storage::Local(id),
            };
            if let Some(index) = declared.index.as_ref().filter(|index| index.name.name == variable.name.name) {
                self.report_twice(&variable.name, index.name.span);
            }
            let outermost = Scope::new(Base::Program);
            self.warn_hidden(&variable.name, &outermost);
            let var = self.type_of(&variable.ty).map(|ty| {
                let init = self.initial(variable, &ty, &scope, Some(id));
                self.push_var(variable, storage, ty, init)
            });
            self.model.families[id].vars.extend(var);
            self.enter_local(TextScope::Family(id), &variable.name, var);
        }
        self.enter_labels(TextScope::Family(id), &declared.body);
    }

    fn declare_procedure_text(&mut self, id: ProcedureId, declared: &'a ast::ProcedureDecl) {
        let text = TextScope::Procedure(id);
        for parameter in &declared.parameters {
            let var = self.passed_type(&parameter.ty).map(|ty| {
                let var = self.model.vars.push(Var {
                    name: parameter.name.name.clone(),
                    storage: Storage::Frame(id),
                    role: Role::Parameter,
                    ty: Type::Scalar(ty),
                    init: Init::First,
                    offset: 0,
                    shown: BTreeMap::new(),
                    look: model::variable::VariableLook::Plain,
                    indices_after: Vec::new(),
                    doc: String::new(),
                    span: parameter.name.span,
                });
                self.keep_type_forms(var, &parameter.ty);
                var
            });
            self.model.procedures[id].vars.extend(var);
            self.enter_local(text, &parameter.name, var);
        }
        self.model.procedures[id].result = declared.result.as_ref().and_then(|ty| self.passed_type(ty));
        for variable in &declared.variables {
            let var = self.type_of(&variable.ty).map(|ty| {
                let init = self.initial(variable, &ty, &Scope::new(Base::Procedure(id)), None);
                self.push_var(variable, Storage::Frame(id), ty, init)
            });
            self.model.procedures[id].vars.extend(var);
            self.enter_local(text, &variable.name, var);
        }
        self.enter_labels(text, &declared.body);
    }

    /// The type of a parameter or result: one value, and one that can be copied.
    fn passed_type(&mut self, ty: &'a ast::Type) -> Option<ScalarType> {
        let found = self.type_of(ty)?;
        let diagnostic = match found {
            Type::Scalar(ScalarType::Lock | ScalarType::Semaphore { .. }) => {
                Diagnostic::error(code::NOT_PASSED, ty.span, "locks and semaphores are not passed to procedures")
                    .help("pass the index of an array of them, and let the procedure use the shared array")
            }
            Type::Array { .. } => Diagnostic::error(code::NOT_PASSED, ty.span, "arrays are not passed to procedures")
                .help("pass an index, and let the procedure use the shared array"),
            Type::Scalar(scalar) => return Some(scalar),
        };
        self.report(diagnostic);
        None
    }

    fn locals(&mut self, text: TextScope) -> &mut Locals<'a> {
        match text {
            TextScope::Family(id) => &mut self.symbols.families[id.index()],
            TextScope::Procedure(id) => &mut self.symbols.procedures[id.index()],
        }
    }

    fn enter_local(&mut self, text: TextScope, name: &'a Ident, var: Option<VarId>) {
        let taken = self.locals(text).vars.insert(&name.name, var);
        if let Some(first) = taken {
            let first = first.map_or(name.span, |first| self.model.vars[first].span);
            self.report_twice(name, first);
        }
    }

    /// Enters the labels of a text; those inside `atomic` are no places.
    fn enter_labels(&mut self, text: TextScope, body: &'a ast::Block) {
        let mut blocks = vec![body];
        while let Some(block) = blocks.pop() {
            for statement in &block.statements {
                for label in &statement.labels {
                    self.enter_label(text, label);
                }
                blocks.extend(inner_blocks(statement));
            }
        }
    }

    fn enter_label(&mut self, text: TextScope, label: &'a Ident) {
        match self.locals(text).labels.get(&*label.name).copied() {
            None => drop(self.locals(text).labels.insert(&label.name, label.span)),
            Some(other) => {
                let (first, second) = (other.min(label.span), other.max(label.span));
                self.locals(text).labels.insert(&label.name, first);
                let message = format!("the label `{}` stands twice in this text", label.name);
                self.report(Diagnostic::error(code::LABEL_TWICE, second, message).note(first, "first here"));
            }
        }
    }

    /// Reports a program whose state is too large. Called when all variables are known, counters of loops included.
    pub fn check_size(&mut self) {
        let size = |vars: &[VarId]| vars.iter().map(|&var| self.model.vars[var].ty.n_cells()).sum::<usize>();
        let shared = self.model.vars.iter().filter(|var| var.storage == Storage::Shared);
        let n_shared: usize = shared.map(|var| var.ty.n_cells()).sum();
        let of_families = self.model.families.iter().map(|family| size(&family.vars).saturating_mul(family.count()));
        let n_cells = of_families.fold(n_shared, usize::saturating_add);
        let largest_frame = self.model.procedures.iter().map(|procedure| size(&procedure.vars)).max().unwrap_or(0);
        if n_cells.max(largest_frame) > MAX_CELLS {
            let message = format!("a state of this program has more than {MAX_CELLS} cells");
            let diagnostic = Diagnostic::error(code::TOO_MANY_CELLS, self.program.name.span, message);
            self.report(diagnostic.help("choose fewer processes or smaller arrays"));
        }
    }
}

/// The blocks of a statement whose labels are places.
fn inner_blocks(statement: &Statement) -> Vec<&ast::Block> {
    match &statement.kind {
        StatementKind::If { then, otherwise, .. } => std::iter::once(then).chain(otherwise).collect(),
        StatementKind::Either { branches } => branches.iter().collect(),
        StatementKind::While { body, .. } | StatementKind::Loop(body) | StatementKind::For { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// What the user says about something.
pub(crate) fn text_of(doc: &Option<ast::Doc>) -> String {
    doc.as_ref().map_or(String::new(), |doc| doc.text.clone())
}
