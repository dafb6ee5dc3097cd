//! Elaboration: structs, sets, channels and short forms in terms of the rest of the language.
//!
//! In: a parsed program. Out: a program that means the same without them, and diagnostics. The checker and everything after it know
//! variables, arrays and steps only, so whatever is proved of a program is proved of what stands here:
//!
//! | written | becomes |
//! |---|---|
//! | `type T = …;` | the type, wherever `T` stands |
//! | a variable of a `struct` | one variable for each field: `m.kind`, `m.from` |
//! | a `set of T` | an array of truth values, one for each possible element |
//! | `chan c: [n] of (T, …)` | `c.len`, and a row of n slots for each part of a message; sending and receiving are steps on these |
//! | `chan c: [0] of (T, …)` | stays: a rendezvous is a step of two processes |
//! | `either … else { … }` | a branch that waits until no other one can begin |
//! | `if cas(x, a, b) { … } else { … }` | a choice between the step that changes `x` and the step that finds another value |
//! | `some k in R where e { … }` | one step that chooses a value for a hidden variable, and forgets it |
//! | `let x = e;` in `atomic` | `e`, wherever `x` stands |
//! | `atomic { … goto l; … }` | a choice between steps, one for each exit |
//!
//! Names that elaboration makes have a dot or an `@` inside, so that no name of the user can be the same. What cannot be elaborated is
//! left as it is where the checker has a message for it.

mod channels;
mod elements;
mod exits;
mod expressions;
mod names;
mod places;
mod short_forms;
mod statements;

use std::collections::HashMap;

use base::Diagnostic;
use model::variable::VariableLook;

use super::ast::{
    Assigned, ChannelDecl, EnumDecl, Expr, FairnessItem, FairnessKind, Ident, Item, PatternIndex, ProcedureParameter,
    ProcessDecl, ProcessIndex, Program, PropertyDecl, PropertyKind, StorageClass, StructDecl, Type, TypeKind,
    VariableDecl,
};
use crate::codes::check as code;

/// How deeply types may stand for other types.
const MAX_TYPE_DEPTH: usize = 64;

/// Elaborates a program.
pub(super) fn elaborate(program: &Program) -> Elaborated {
    let mut elaborator = Elaborator::new(program);
    let mut elaborated = program.clone();
    elaborated.items = program.items.iter().flat_map(|item| elaborator.item(item)).collect();
    // An expression may be looked at twice.
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for diagnostic in elaborator.diagnostics {
        if !diagnostics
            .iter()
            .any(|known| known.code == diagnostic.code && known.primary.span == diagnostic.primary.span)
        {
            diagnostics.push(diagnostic);
        }
    }
    Elaborated { program: elaborated, diagnostics, lacks_types: elaborator.lacks_types }
}

/// What becomes of a program.
pub(super) struct Elaborated {
    /// A program without structs, sets and channels with a buffer.
    pub program: Program,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether a variable has a type that is none, so that nothing can be said of the places where it is used.
    pub lacks_types: bool,
}

/// What is known while a program is elaborated.
struct Elaborator<'a> {
    /// The structs by name.
    structs: HashMap<&'a str, &'a StructDecl>,
    /// The enumerations.
    enums: Vec<&'a EnumDecl>,
    /// What the names of types stand for.
    aliases: HashMap<&'a str, &'a Type>,
    /// The channels by name.
    channels: HashMap<&'a str, &'a ChannelDecl>,
    /// The definitions by name: they win over the words `cas`, `len`, `full`, `empty`, `size`.
    defines: Vec<&'a str>,
    /// The types of shared variables.
    shared: HashMap<&'a str, Type>,
    /// The variables of each process, with their types.
    members: Vec<(&'a str, HashMap<&'a str, Type>)>,
    /// The indices of the process families.
    indices: Vec<(&'a str, &'a ProcessIndex)>,
    /// The variables of the text at hand, with their types.
    own: HashMap<String, Type>,
    /// Names that quantifiers and loops bind around the expression at hand; innermost last.
    bound: Vec<String>,
    /// The types of the parameters of each procedure.
    procedures: HashMap<&'a str, Vec<Type>>,
    /// What `let` names stand for; innermost last.
    lets: Vec<(String, Expr)>,
    /// Variables that the text at hand needs besides its own.
    hidden: Vec<VariableDecl>,
    /// Whether a variable has a type that is none.
    lacks_types: bool,
    /// What is wrong.
    diagnostics: Vec<Diagnostic>,
}

/// A part of a variable that is one variable of its own.
#[derive(Clone, Debug)]
struct Leaf {
    /// What is added to the variable's name: nothing, or `.kind`.
    suffix: String,
    /// Its type, without structs and sets.
    ty: Type,
    /// How it is shown, which tells sets from other arrays.
    look: VariableLook,
    /// How many indices follow each part of its name: the variable's own, and each field's.
    indices: Vec<usize>,
}

impl Leaf {
    /// A variable that is one itself.
    fn plain(ty: Type) -> Self {
        Leaf { suffix: String::new(), ty, look: VariableLook::Plain, indices: vec![0] }
    }
}

impl<'a> Elaborator<'a> {
    fn new(program: &'a Program) -> Self {
        let mut elaborator = Elaborator {
            structs: HashMap::new(),
            enums: Vec::new(),
            aliases: HashMap::new(),
            channels: HashMap::new(),
            defines: Vec::new(),
            shared: HashMap::new(),
            members: Vec::new(),
            indices: Vec::new(),
            own: HashMap::new(),
            bound: Vec::new(),
            procedures: HashMap::new(),
            lets: Vec::new(),
            hidden: Vec::new(),
            lacks_types: false,
            diagnostics: Vec::new(),
        };
        let mut types: HashMap<&'a str, &'a Ident> = HashMap::new();
        for item in &program.items {
            let declared = match item {
                Item::Struct(declared) => {
                    elaborator.structs.insert(&declared.name.name, declared);
                    &declared.name
                }
                Item::Alias(declared) => {
                    elaborator.aliases.insert(&declared.name.name, &declared.ty);
                    &declared.name
                }
                Item::Channel(declared) => {
                    elaborator.channels.insert(&declared.name.name, declared);
                    &declared.name
                }
                Item::Enum(declared) => {
                    elaborator.enums.push(declared);
                    &declared.name
                }
                Item::Define(declared) => {
                    elaborator.defines.push(&declared.name.name);
                    &declared.name
                }
                Item::Variable(declared) => &declared.name,
                Item::Process(declared) => {
                    elaborator.indices.extend(declared.index.as_ref().map(|index| (&*declared.name.name, index)));
                    &declared.name
                }
                _ => continue,
            };
            if let Some(first) = types.insert(&declared.name, declared)
                && matches!(item, Item::Struct(_) | Item::Alias(_) | Item::Channel(_))
            {
                let message = format!("`{}` is declared twice", declared.name);
                let diagnostic = Diagnostic::error(code::DECLARED_TWICE, declared.span, message);
                elaborator.diagnostics.push(diagnostic.note(first.span, "first declared here"));
            }
        }
        for item in &program.items {
            if let Item::Struct(declared) = item {
                elaborator.check_struct(declared);
            }
        }
        for item in &program.items {
            match item {
                Item::Variable(declared) => {
                    elaborator.shared.insert(&declared.name.name, elaborator.resolved(&declared.ty, 0));
                }
                Item::Process(declared) => {
                    let types = declared.variables.iter().map(|var| (&*var.name.name, elaborator.resolved(&var.ty, 0)));
                    let types = types.collect();
                    elaborator.members.push((&declared.name.name, types));
                }
                Item::Procedure(declared) => {
                    let types = declared.parameters.iter().map(|one| elaborator.resolved(&one.ty, 0)).collect();
                    elaborator.procedures.insert(&declared.name.name, types);
                }
                _ => {}
            }
        }
        elaborator
    }

    fn item(&mut self, item: &'a Item) -> Vec<Item> {
        vec![match item {
            // Their types stand wherever they are used.
            Item::Struct(_) | Item::Alias(_) => return Vec::new(),
            Item::Channel(declared) => return self.channel(declared),
            Item::Variable(declared) => return self.variables(declared).into_iter().map(Item::Variable).collect(),
            Item::Process(declared) => Item::Process(self.process(declared)),
            Item::Procedure(declared) => {
                let mut text = declared.clone();
                text.parameters = declared.parameters.iter().flat_map(|one| self.parameter(one)).collect();
                text.result = text.result.map(|ty| self.plain_type(&ty, "the result of a procedure"));
                self.own =
                    declared.variables.iter().map(|var| (var.name.name.clone(), self.resolved(&var.ty, 0))).collect();
                let parameters = declared.parameters.iter();
                let typed = parameters.map(|one| (one.name.name.clone(), self.resolved(&one.ty, 0)));
                self.own.extend(typed.collect::<Vec<_>>());
                text.variables = declared.variables.iter().flat_map(|var| self.variables(var)).collect();
                text.body = self.block(&declared.body, false);
                text.variables.append(&mut self.hidden);
                self.own.clear();
                Item::Procedure(text)
            }
            Item::Const(declared) => {
                let mut declared = declared.clone();
                declared.ty = declared.ty.map(|ty| self.plain_type(&ty, "a constant"));
                declared.value = self.expr(&declared.value);
                Item::Const(declared)
            }
            Item::Define(declared) => {
                let n_bound = self.bound.len();
                self.bound.extend(declared.parameters.iter().map(|name| name.name.clone()));
                let mut declared = declared.clone();
                declared.body = self.expr(&declared.body);
                self.bound.truncate(n_bound);
                Item::Define(declared)
            }
            Item::Property(declared) => {
                if let PropertyKind::RaceFree(raced) = &declared.kind
                    && let Some(parts) = self.raced_parts(declared, raced)
                {
                    return parts.into_iter().map(Item::Property).collect();
                }
                let mut declared = declared.clone();
                declared.kind = match &declared.kind {
                    PropertyKind::Invariant(expr) => PropertyKind::Invariant(self.expr(expr)),
                    PropertyKind::Temporal(expr) => PropertyKind::Temporal(self.expr(expr)),
                    PropertyKind::Reachable(expr) => PropertyKind::Reachable(self.expr(expr)),
                    PropertyKind::RaceFree(expr) => PropertyKind::RaceFree(self.expr(expr)),
                    kind => kind.clone(),
                };
                if let Some(assumptions) = declared.under.as_mut().and_then(|under| under.assumptions.as_mut()) {
                    self.assumptions(assumptions);
                }
                Item::Property(declared)
            }
            Item::Fairness(declared) => {
                let mut declared = declared.clone();
                declared.items.iter_mut().for_each(|item| self.fairness(item));
                Item::Fairness(declared)
            }
            Item::Hint(declared) => {
                let mut declared = declared.clone();
                declared.exposed = declared.exposed.iter().map(|expr| self.expr(expr)).collect();
                Item::Hint(declared)
            }
            Item::Initially(condition) => Item::Initially(self.expr(condition)),
            Item::Enum(_) | Item::AllowDeadlock(_) | Item::Sizes(_) => item.clone(),
        }]
    }

    /// `race_free` of a variable with structs in it: a question for each of its fields.
    fn raced_parts(&mut self, declared: &PropertyDecl, raced: &Expr) -> Option<Vec<PropertyDecl>> {
        let placed = self.place(raced).filter(|placed| self.has_structs(&placed.ty))?;
        let written = crate::pw::printer::expr_to_string(raced);
        let whole = declared.name.as_ref().map_or(format!("race_free {written}"), |name| name.name.clone());
        let mut parts = Vec::new();
        for leaf in self.leaves(&placed.ty) {
            let kind = PropertyKind::RaceFree(self.part(&placed, &leaf));
            let name = Some(Ident { name: format!("{whole}{}", leaf.suffix), span: declared.span });
            parts.push(PropertyDecl { kind, name, ..declared.clone() });
        }
        Some(parts)
    }

    fn process(&mut self, declared: &'a ProcessDecl) -> ProcessDecl {
        let mut text = declared.clone();
        self.own = declared.variables.iter().map(|var| (var.name.name.clone(), self.resolved(&var.ty, 0))).collect();
        self.bound.extend(declared.index.as_ref().map(|index| index.name.name.clone()));
        text.variables = declared.variables.iter().flat_map(|var| self.variables(var)).collect();
        text.body = self.block(&declared.body, false);
        text.variables.append(&mut self.hidden);
        self.bound.clear();
        self.own.clear();
        text
    }

    fn assumptions(&mut self, assumptions: &mut super::ast::Assumptions) {
        use super::ast::Assumptions::{All, Either, One};
        match assumptions {
            One(item) => self.fairness(item),
            All(parts) | Either(parts) => parts.iter_mut().for_each(|part| self.assumptions(part)),
        }
    }

    fn fairness(&mut self, item: &mut FairnessItem) {
        match &mut item.kind {
            FairnessKind::WeakPredicate(expr) => *expr = self.expr(expr),
            FairnessKind::StrongPredicates { condition, response } => {
                *condition = self.expr(condition);
                *response = self.expr(response);
            }
            FairnessKind::Every(pattern)
            | FairnessKind::Weak { process: pattern, .. }
            | FairnessKind::Strong { process: pattern, .. } => {
                if let Some(PatternIndex::One(index)) = &mut pattern.index {
                    *index = self.expr(index);
                }
            }
            FairnessKind::Progress | FairnessKind::Set(_) => {}
        }
    }

    // Types.

    /// The type without names that stand for other types; structs keep theirs.
    fn resolved(&self, ty: &Type, depth: usize) -> Type {
        let kind = match &ty.kind {
            TypeKind::Named(name) if depth < MAX_TYPE_DEPTH => match self.aliases.get(&*name.name) {
                Some(alias) => return Type { span: ty.span, ..self.resolved(alias, depth + 1) },
                None => ty.kind.clone(),
            },
            TypeKind::Array { element, length } => {
                TypeKind::Array { element: Box::new(self.resolved(element, depth + 1)), length: length.clone() }
            }
            TypeKind::Set(element) => TypeKind::Set(Box::new(self.resolved(element, depth + 1))),
            kind => kind.clone(),
        };
        Type { kind, span: ty.span }
    }

    /// The struct that a type names.
    fn struct_of(&self, ty: &Type) -> Option<&'a StructDecl> {
        match &ty.kind {
            TypeKind::Named(name) => self.structs.get(&*name.name).copied(),
            _ => None,
        }
    }

    /// The parts of a variable of a type. A struct that holds itself has none beyond a certain depth; that is reported at its declaration.
    fn leaves(&mut self, ty: &Type) -> Vec<Leaf> {
        let ty = self.resolved(ty, 0);
        self.leaves_within(&ty, 0)
    }

    fn leaves_within(&mut self, ty: &Type, depth: usize) -> Vec<Leaf> {
        let array = |leaf: Leaf, length: &Expr| Leaf {
            ty: Type {
                kind: TypeKind::Array { element: Box::new(leaf.ty), length: Box::new(length.clone()) },
                span: ty.span,
            },
            indices: leaf.indices.iter().enumerate().map(|(at, n)| if at == 0 { n + 1 } else { *n }).collect(),
            ..leaf
        };
        if let Some(of) = self.struct_of(ty) {
            if depth > MAX_TYPE_DEPTH {
                return Vec::new();
            }
            let mut leaves = Vec::new();
            for field in &of.fields {
                let inner = self.resolved(&field.ty, 0);
                let inner = self.leaves_within(&inner, depth + 1);
                let named = |leaf: Leaf| Leaf {
                    suffix: format!(".{}{}", field.name.name, leaf.suffix),
                    indices: [0].into_iter().chain(leaf.indices).collect(),
                    ..leaf
                };
                leaves.extend(inner.into_iter().map(named));
            }
            return leaves;
        }
        match &ty.kind {
            TypeKind::Array { element, length } => {
                self.leaves_within(element, depth + 1).into_iter().map(|leaf| array(leaf, length)).collect()
            }
            TypeKind::Set(element) => match self.n_elements(element) {
                Some(length) => {
                    let ty = Type { kind: TypeKind::Bool, span: ty.span };
                    let look = VariableLook::Set(self.element_names(element));
                    vec![array(Leaf { look, ..Leaf::plain(ty) }, &length)]
                }
                None => Vec::new(),
            },
            _ => vec![Leaf::plain(ty.clone())],
        }
    }

    fn check_struct(&mut self, declared: &'a StructDecl) {
        for (at, field) in declared.fields.iter().enumerate() {
            if let Some(first) = declared.fields[..at].iter().find(|first| first.name.name == field.name.name) {
                let message = format!("two fields are called `{}`", field.name.name);
                let diagnostic = Diagnostic::error(code::DECLARED_TWICE, field.name.span, message);
                self.diagnostics.push(diagnostic.note(first.name.span, "the first one"));
            }
        }
        let mut open: Vec<&Type> = declared.fields.iter().map(|field| &field.ty).collect();
        let mut seen: Vec<&str> = Vec::new();
        while let Some(ty) = open.pop() {
            match &ty.kind {
                TypeKind::Array { element, .. } | TypeKind::Set(element) => open.push(element),
                TypeKind::Named(name) if name.name == declared.name.name => {
                    let message = format!("a `{}` would hold itself", name.name);
                    self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, name.span, message));
                    self.structs.remove(&*declared.name.name);
                    return;
                }
                TypeKind::Named(name) if !seen.contains(&&*name.name) => {
                    seen.push(&name.name);
                    open.extend(self.aliases.get(&*name.name));
                    let fields = self.structs.get(&*name.name).map(|of| of.fields.iter().map(|field| &field.ty));
                    open.extend(fields.into_iter().flatten());
                }
                _ => {}
            }
        }
    }

    /// The parameters that one of a procedure becomes: one for each field of a struct.
    fn parameter(&mut self, declared: &ProcedureParameter) -> Vec<ProcedureParameter> {
        let resolved = self.resolved(&declared.ty, 0);
        if self.struct_of(&resolved).is_none() {
            let ty = self.plain_type(&declared.ty, "a parameter of a procedure");
            return vec![ProcedureParameter { ty, ..declared.clone() }];
        }
        let leaves = self.leaves(&declared.ty);
        if leaves.iter().any(|leaf| matches!(leaf.ty.kind, TypeKind::Array { .. })) {
            let message = "a struct with arrays or sets inside is not passed to a procedure";
            self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, declared.ty.span, message));
        }
        let part = |leaf: Leaf| {
            let name = Ident { name: format!("{}{}", declared.name.name, leaf.suffix), span: declared.name.span };
            ProcedureParameter { name, ty: leaf.ty }
        };
        leaves.into_iter().map(part).collect()
    }

    /// A type of one value; reports structs and sets, which cannot stand there.
    fn plain_type(&mut self, ty: &Type, what: &str) -> Type {
        let resolved = self.resolved(ty, 0);
        if self.struct_of(&resolved).is_some() || matches!(resolved.kind, TypeKind::Set(_)) {
            let message = format!("{what} is one value, not a struct or set");
            let diagnostic = Diagnostic::error(code::BAD_STRUCT, ty.span, message);
            self.diagnostics.push(diagnostic.help("pass the fields one by one"));
            return Type { kind: TypeKind::Bool, span: ty.span };
        }
        resolved
    }

    // Variables.

    /// The variables that a declared one becomes.
    fn variables(&mut self, declared: &VariableDecl) -> Vec<VariableDecl> {
        let leaves = self.leaves(&declared.ty);
        let ty = self.resolved(&declared.ty, 0);
        let initials: Vec<Option<Assigned>> = match &declared.initial {
            Some(Assigned::Value(value)) => match self.split(value, &ty) {
                Some(parts) => parts.into_iter().map(|part| Some(Assigned::Value(part))).collect(),
                None => vec![None; leaves.len()],
            },
            initial => vec![initial.clone(); leaves.len()],
        };
        let variable = |(leaf, initial): (Leaf, Option<Assigned>)| VariableDecl {
            look: leaf.look,
            name: Ident { name: format!("{}{}", declared.name.name, leaf.suffix), span: declared.name.span },
            ty: leaf.ty,
            indices_after: leaf.indices[..leaf.indices.len() - 1].to_vec(),
            initial,
            ..declared.clone()
        };
        leaves.into_iter().zip(initials).map(variable).collect()
    }

    /// A variable that the text at hand needs besides its own.
    fn hide(&mut self, name: Ident, ty: Type) {
        let span = name.span;
        self.own.insert(name.name.clone(), ty.clone());
        let (class, look) = (StorageClass::Local, VariableLook::Hidden);
        let indices_after = Vec::new();
        self.hidden.push(VariableDecl { doc: None, class, name, ty, initial: None, look, indices_after, span });
    }
}
