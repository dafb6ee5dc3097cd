//! Declarations: variables to leaves, `typedef`s taken apart.

use std::collections::HashMap;

use base::diagnostic::nearest_name;
use base::{Diagnostic, Span};

use super::super::ast::{self, Basic, Declaration, Init, Name, Type};
use super::super::program::{Expr, Leaf, LeafId, Start};
use super::{MAX_ELEMENTS, Resolver};
use crate::codes::promela as code;

/// How deep `typedef`s may contain each other.
const MAX_NESTING: usize = 20;
/// How many messages a buffer may hold: every step that receives moves all of them.
const MAX_CAPACITY: i64 = 255;

/// A declared variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// The length of an array.
    pub len: Option<usize>,
    pub parts: Parts,
    pub span: Span,
}

/// What a variable consists of.
#[derive(Clone, Debug)]
pub(super) enum Parts {
    Leaf(LeafId),
    Fields(Vec<(String, Variable)>),
    /// Something that is declared wrongly; that has been reported.
    Broken,
}

impl Variable {
    /// All leaves, in order.
    pub fn leaves(&self) -> Vec<LeafId> {
        match &self.parts {
            Parts::Leaf(leaf) => vec![*leaf],
            Parts::Fields(fields) => fields.iter().flat_map(|(_, field)| field.leaves()).collect(),
            Parts::Broken => Vec::new(),
        }
    }
}

/// The variables of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    names: HashMap<String, Variable>,
}

impl Scope {
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.names.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }
}

/// Where a variable stands while it is taken apart.
struct Outside<'n> {
    name: String,
    dims: Vec<usize>,
    depth: usize,
    declared: &'n Name,
}

impl<'f> Resolver<'f> {
    /// A variable outside all processes.
    pub(super) fn global(&mut self, declared: &'f Declaration) {
        if declared.is_hidden {
            let message = format!("`{}` is hidden in SPIN, and part of the state here", declared.name.text);
            self.report(Diagnostic::warning(code::HIDDEN, declared.name.span, message));
        }
        self.variable(declared);
    }

    /// Declares a variable in the current block.
    pub(super) fn variable(&mut self, declared: &'f Declaration) {
        let name = &declared.name;
        let outside = Outside { name: name.text.clone(), dims: Vec::new(), depth: 0, declared: name };
        let variable = self.take_apart(declared, outside);
        let known = self.scopes.last().and_then(|scope| scope.get(&name.text)).map(|known| known.span);
        if let Some(first) = known.filter(|_| !self.means_global(&name.text)) {
            let message = format!("`{}` is declared already", name.text);
            let diagnostic = Diagnostic::error(code::DECLARED_TWICE, name.span, message);
            return self.report(diagnostic.note(first, "declared here"));
        }
        if self.mtypes.contains_key(&name.text) && self.owner.is_none() {
            let message = format!("`{}` is the name of a message already", name.text);
            return self.report(Diagnostic::error(code::DECLARED_TWICE, name.span, message));
        }
        let global = self.scopes[0].get(&name.text).filter(|_| self.means_global(&name.text)).cloned();
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.text.clone(), global.unwrap_or(variable));
        }
    }

    /// Whether a name that is declared in a process means the global variable.
    pub(super) fn means_global(&self, name: &str) -> bool {
        self.owner.is_some() && self.global_names.iter().any(|known| known == name)
    }

    fn take_apart(&mut self, declared: &'f Declaration, outside: Outside<'_>) -> Variable {
        let span = outside.declared.span;
        let broken = Variable { len: None, parts: Parts::Broken, span };
        let mut dims = outside.dims.clone();
        let mut len = None;
        if let Some(size) = &declared.len {
            let Some(size) = self.size(size) else { return broken };
            len = Some(size);
            dims.push(size);
        }
        let basic = match &declared.ty {
            Type::Basic(basic) => *basic,
            Type::Named(name) => {
                let Some(&fields) = self.typedefs.get(&name.text) else {
                    self.unknown_type(name);
                    return broken;
                };
                if outside.depth >= MAX_NESTING {
                    let message = format!("`{}` contains types more than {MAX_NESTING} deep", name.text);
                    self.report(Diagnostic::error(code::TOO_LARGE, name.span, message));
                    return broken;
                }
                if declared.init.is_some() {
                    let message = format!("SPIN ignores the start value of the structure `{}`", outside.name);
                    self.report(Diagnostic::warning(code::IGNORED_START, span, message));
                }
                let mut parts = Vec::new();
                for field in fields {
                    let name = format!("{}.{}", outside.name, field.name.text);
                    let inside = Outside { name, dims: dims.clone(), depth: outside.depth + 1, ..outside };
                    parts.push((field.name.text.clone(), self.take_apart(field, inside)));
                }
                return Variable { len, parts: Parts::Fields(parts), span };
            }
        };
        let n_elements = dims.iter().fold(1usize, |n, &len| n.saturating_mul(len));
        self.n_elements = self.n_elements.saturating_add(n_elements);
        if self.n_elements > MAX_ELEMENTS {
            let message = format!("with `{}` there are more than {MAX_ELEMENTS} elements", outside.name);
            self.report(Diagnostic::error(code::TOO_LARGE, span, message));
            self.n_elements = 0;
            return broken;
        }
        let mut init = self.start(declared, basic);
        if let (Start::List(values), Some(len)) = (&mut init, len) {
            fill_up(values, len, n_elements);
        }
        let name = self.own_name(outside.name);
        let is_array = declared.len.is_some();
        let leaf = Leaf { name, ty: basic, dims, is_array, owner: self.owner, init, is_parameter: false, span };
        let id = self.program.leaves.len();
        self.program.leaves.push(leaf);
        if self.owner.is_some() {
            self.own_leaves.push(id);
        }
        Variable { len, parts: Parts::Leaf(id), span }
    }

    /// Variables of different blocks may have the same name.
    fn own_name(&self, name: String) -> String {
        let is_taken = |name: &str| self.own_leaves.iter().any(|&leaf| self.program.leaves[leaf].name == name);
        if self.owner.is_none() || !is_taken(&name) {
            return name;
        }
        let numbered = |n: usize| format!("{name} {n}");
        (2..).map(numbered).find(|name| !is_taken(name)).unwrap_or(name)
    }

    fn start(&mut self, declared: &'f Declaration, basic: Basic) -> Start {
        let span = declared.name.span;
        match &declared.init {
            None => Start::Zero,
            Some(Init::Channel { capacity, fields, span }) => {
                if basic != Basic::Chan {
                    let message = format!("`{}` is no channel", declared.name.text);
                    self.report(Diagnostic::error(code::NOT_A_CHANNEL, *span, message));
                    return Start::Zero;
                }
                let size = self.constant_of(capacity);
                let fields = self.field_types(fields);
                match size {
                    Some(size @ 0..=MAX_CAPACITY) => Start::Channel { capacity: size as usize, fields },
                    Some(size) => {
                        let message = format!("a channel holds from 0 to {MAX_CAPACITY} messages, not {size}");
                        self.report(Diagnostic::error(code::TOO_LARGE, capacity.span, message));
                        Start::Zero
                    }
                    None => Start::Zero,
                }
            }
            Some(Init::Value(value)) => match self.expression(value) {
                Some(value) => Start::Value(value),
                None => Start::Zero,
            },
            Some(Init::List(values)) => {
                if declared.len.is_none() {
                    let message = format!("`{}` is no array and starts with one value", declared.name.text);
                    self.report(Diagnostic::error(code::WRONG_NUMBER, span, message));
                }
                let values: Vec<Option<Expr>> = values.iter().map(|value| self.expression(value)).collect();
                Start::List(values.into_iter().flatten().collect())
            }
        }
    }

    /// The fields of a channel's messages; a structure is as many as it has parts.
    fn field_types(&mut self, types: &'f [Type]) -> Vec<Basic> {
        let mut fields = Vec::new();
        for ty in types {
            match ty {
                Type::Basic(basic) => fields.push(*basic),
                Type::Named(name) => self.fields_of(name, &mut fields, 0),
            }
        }
        fields
    }

    fn fields_of(&mut self, name: &Name, found: &mut Vec<Basic>, depth: usize) {
        let Some(&fields) = self.typedefs.get(&name.text) else { return self.unknown_type(name) };
        for field in fields {
            let n_elements = match &field.len {
                Some(len) => self.size(len).unwrap_or(0),
                None => 1,
            };
            match &field.ty {
                Type::Basic(basic) => found.extend(std::iter::repeat_n(*basic, n_elements)),
                Type::Named(_) if field.len.is_some() || depth >= MAX_NESTING => {
                    return self.not_read(field.name.span, "an array of structures within a message");
                }
                Type::Named(name) => self.fields_of(name, found, depth + 1),
            }
        }
    }

    fn unknown_type(&mut self, name: &Name) {
        let near = nearest_name(&name.text, self.typedefs.keys().map(String::as_str)).map(str::to_owned);
        self.unknown(name, format!("there is no type `{}`", name.text), near);
    }

    /// Reports a name that nothing declares.
    pub(super) fn unknown(&mut self, name: &Name, message: String, near: Option<String>) {
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message);
        if let Some(near) = near {
            diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"), name.span, near);
        }
        self.report(diagnostic);
    }

    /// The positive number that a variable outside all processes starts with: SPIN takes it where a number of elements or of processes stands.
    pub(super) fn start_value_of(&self, expr: &ast::Expr) -> Option<i64> {
        let ast::ExprKind::Var(variable) = &expr.kind else { return None };
        let [part] = &variable.parts[..] else { return None };
        let is_meant = |declared: &&Declaration| declared.name.text == part.name.text && declared.len.is_none();
        let globals = self.file.units.iter().filter_map(|unit| match unit {
            ast::Unit::Global(declared) => Some(declared),
            _ => None,
        });
        match &globals.into_iter().find(is_meant)?.init {
            Some(Init::Value(ast::Expr { kind: ast::ExprKind::Number(value), .. })) if *value > 0 => Some(*value),
            _ => None,
        }
    }

    /// The length of an array.
    fn size(&mut self, expr: &'f ast::Expr) -> Option<usize> {
        let value = match self.start_value_of(expr) {
            Some(value) => value,
            None => self.constant_of(expr)?,
        };
        let size = usize::try_from(value).ok().filter(|size| (1..=MAX_ELEMENTS).contains(size));
        if size.is_none() {
            let message = format!("an array has from 1 to {MAX_ELEMENTS} elements, not {value}");
            self.report(Diagnostic::error(code::TOO_LARGE, expr.span, message));
        }
        size
    }
}

/// SPIN starts the elements for which no value is given with the last one that is, in each part of a row of structures.
fn fill_up(values: &mut Vec<Expr>, len: usize, n_elements: usize) {
    let Some(last) = values.last().cloned() else { return };
    values.resize(len, last);
    *values = values.iter().cycle().take(n_elements).cloned().collect();
}
