//! Names, elements and fields: `turn`, `level[i]`, `P[k].x`, `m.owner`, `Vote.none`.
//!
//! A chain of names, indices and fields is followed from its left end; what it leads to is a [`Path`]. What comes after a dot
//! is in `fields.rs`, and what comes after an `@` in `places.rs`.

use base::{Diagnostic, Span};
use model::expr::{Access, Expr, ExprKind, Whose};
use model::process::FamilyId;
use model::types::{EnumId, ScalarType, Type};
use model::value::Value;
use model::variable::{Storage, VarId};

use super::names::Named;
use super::symbols::{Need, ParameterValue};
use super::{Base, Checker, Meaning, Scope, Standpoint, Symbol, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast::{self, Ident};

/// What a chain of names, indices and fields leads to.
pub(crate) enum Path {
    /// A variable, or a part of one.
    Variable(VariablePath),
    /// A process.
    Process(FamilyId, Expr),
    /// A family without an index.
    Family(FamilyId),
    /// An enumeration.
    Enum(EnumId),
    /// A value.
    Value(Typed),
    /// Something wrong that was reported.
    Poison,
}

/// A variable, or a part of one.
pub(crate) struct VariablePath {
    /// The variable.
    pub var: VarId,
    /// Whose copy.
    pub whose: Whose,
    /// Numbers, at most one for each dimension.
    pub indices: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

impl VariablePath {
    /// The scalar part that it is.
    pub fn access(self) -> Access {
        Access { var: self.var, whose: self.whose, indices: self.indices, span: self.span }
    }
}

impl<'a> Checker<'a> {
    /// Follows a chain of names, indices and fields.
    pub fn path(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>, want: Option<Ty>) -> Path {
        match &expr.kind {
            ast::ExprKind::Name(name) => self.name_path(name, scope, want, expr.span),
            ast::ExprKind::Index { base, index } => {
                let base = self.deeper(base, scope);
                self.index_path(base, index, scope, expr.span)
            }
            ast::ExprKind::Field { base, field } => {
                let base = self.deeper(base, scope);
                self.field_path(base, field, expr.span)
            }
            ast::ExprKind::Apply { name, arguments } => self.apply(name, arguments, scope, want),
            _ => Path::Value(self.value(expr, scope, want)),
        }
    }

    fn deeper(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Path {
        self.argument_path(expr, scope, None)
    }

    /// One level down: a part of a chain, or what a parameter of a definition stands for.
    pub(super) fn argument_path(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>, want: Option<Ty>) -> Path {
        if !self.may_descend(expr.span) {
            return Path::Poison;
        }
        self.depth += 1;
        let path = self.path(expr, scope, want);
        self.depth -= 1;
        path
    }

    /// The value of what a chain leads to.
    pub fn path_value(&mut self, path: Path, span: Span) -> Typed {
        match path {
            Path::Value(typed) => typed,
            Path::Process(family, who) => Typed::new(Expr { span, ..who }, Ty::Pid(family)),
            Path::Variable(variable) => self.read(variable),
            Path::Family(family) => {
                self.report_missing_index(family, span);
                self.poison(span)
            }
            Path::Enum(id) => {
                let name = &self.model.enums[id].name;
                let message = format!("`{name}` is an enumeration, not a value");
                let first = self.model.enums[id].values.first();
                let example = first.map(|value| format!("one of its values is `{name}.{value}`"));
                let diagnostic = Diagnostic::error(code::NO_VALUE, span, message);
                self.report(example.into_iter().fold(diagnostic, Diagnostic::help));
                self.poison(span)
            }
            Path::Poison => self.poison(span),
        }
    }

    pub(super) fn report_missing_index(&mut self, family: FamilyId, span: Span) {
        let name = self.model.families[family].name.clone();
        let declared = self.model.families[family].span;
        let message = format!("`{name}` is a family of processes: say which one");
        let end = Span { start: span.end, end: span.end };
        let diagnostic = Diagnostic::error(code::WHICH_PROCESS, span, message).note(declared, "declared here");
        self.report(diagnostic.suggest("name a process by its index", end, "[0]"));
    }

    pub(super) fn name_path(&mut self, name: &'a Ident, scope: &Scope<'a>, want: Option<Ty>, span: Span) -> Path {
        match self.lookup(&name.name, scope).map(|(named, _)| named) {
            Some(Named::Bound(Meaning::Bound(var, ty))) => {
                Path::Value(Typed::new(self.node(ExprKind::Bound(var), span), ty))
            }
            Some(Named::Bound(Meaning::Number(number))) => {
                Path::Value(self.constant_of(Value::Int(number), Ty::Int, span))
            }
            Some(Named::Bound(Meaning::Counter(var))) | Some(Named::Local(Some(var))) => self.own_path(var, span),
            Some(Named::Bound(Meaning::Argument(argument))) => {
                self.in_argument(&argument, |checker, expr, scope| checker.argument_path(expr, scope, want))
            }
            Some(Named::Bound(Meaning::Anything) | Named::Local(None)) => Path::Poison,
            Some(Named::Index(family)) => Path::Value(Typed::new(self.node(ExprKind::Myself, span), Ty::Pid(family))),
            Some(Named::Symbol(symbol)) => self.symbol_path(name, symbol, want, span),
            None => self.other_name(name, scope, want, span),
        }
    }

    fn symbol_path(&mut self, name: &'a Ident, symbol: Symbol, want: Option<Ty>, span: Span) -> Path {
        match symbol {
            Symbol::Parameter(position) => match self.symbols.parameters[position] {
                ParameterValue::Known(id) => Path::Value(Typed::new(self.node(ExprKind::Parameter(id), span), Ty::Int)),
                ParameterValue::Broken => Path::Poison,
                ParameterValue::Unknown => {
                    let message = format!("the value of `{}` is not known here yet", name.name);
                    let diagnostic = Diagnostic::error(code::NOT_CONSTANT, span, message);
                    self.report(diagnostic.help("a parameter's bounds may use the parameters before it"));
                    Path::Poison
                }
            },
            Symbol::Constant(index) => Path::Value(self.constant(index, span)),
            Symbol::Enum(id) => Path::Enum(id),
            Symbol::Define(index) => self.expand((index, span), &[], &Scope::new(Base::Program), want),
            Symbol::Variable(var) => {
                let path = VariablePath { var, whose: Whose::Shared, indices: Vec::new(), span };
                if self.may_read_state(span) { Path::Variable(path) } else { Path::Poison }
            }
            Symbol::Pending => {
                self.may_read_state(span);
                Path::Poison
            }
            Symbol::Family(family) => match &self.model.families[family].index {
                Some(_) => Path::Family(family),
                None => {
                    let process = Value::Process(self.model.families[family].first);
                    Path::Process(family, self.node(ExprKind::Const(process), span))
                }
            },
            Symbol::Procedure(_) => {
                let message = format!("`{}` is a procedure, not a value", name.name);
                let diagnostic = Diagnostic::error(code::NO_VALUE, span, message);
                self.report(diagnostic.help(format!("to use its result, write `x = call {}(…);`", name.name)));
                Path::Poison
            }
            Symbol::Channel(_) => {
                let message = format!("`{}` is a channel, not a value", name.name);
                let diagnostic = Diagnostic::error(code::NO_VALUE, span, message);
                self.report(diagnostic.help(format!("write `send {}(…);` or `receive {}(…);`", name.name, name.name)));
                Path::Poison
            }
            Symbol::Broken => Path::Poison,
        }
    }

    /// A name that no declaration in sight has: a value of an enumeration, or the public variable of whoever calls.
    fn other_name(&mut self, name: &'a Ident, scope: &Scope<'a>, want: Option<Ty>, span: Span) -> Path {
        if let Some(candidates) = self.symbols.enum_values.get(&*name.name).cloned() {
            return Path::Value(self.enum_value(&name.name, &candidates, want, span));
        }
        if let (Standpoint::Procedure(procedure), Base::Procedure(_)) = (self.standpoint, scope.base) {
            let is_public = |var: VarId| matches!(self.model.vars[var].storage, Storage::Public(_));
            let mut owners = self.owners_of(&name.name).into_iter().filter(|&(_, var)| is_public(var));
            if let (Some((family, var)), None) = (owners.next(), owners.next()) {
                self.symbols.needs.push(Need { procedure, family, var, span });
                return Path::Variable(VariablePath { var, whose: Whose::Mine, indices: Vec::new(), span });
            }
        }
        self.report_unknown(name, scope);
        Path::Poison
    }

    /// A variable of the text that the expression stands in.
    fn own_path(&mut self, var: VarId, span: Span) -> Path {
        let whose = match self.model.vars[var].storage {
            Storage::Frame(_) => Whose::Frame,
            _ => Whose::Mine,
        };
        // The counter of a loop is a constant in each copy of the loop's body; bounds may use it.
        if self.counts(var).is_none() && !self.may_read_state(span) {
            return Path::Poison;
        }
        Path::Variable(VariablePath { var, whose, indices: Vec::new(), span })
    }

    /// Whether the expression at hand may read variables and places; reports it if not.
    pub(super) fn may_read_state(&mut self, span: Span) -> bool {
        let needed = match self.standpoint {
            Standpoint::Constant => "a constant is needed here",
            Standpoint::Initial(None) => "an initial value is made of constants",
            Standpoint::Initial(Some(_)) => "an initial value is made of constants and the process's own index",
            _ => return true,
        };
        let diagnostic =
            Diagnostic::error(code::NOT_CONSTANT, span, format!("{needed}, but this changes as the program runs"));
        self.report(diagnostic);
        false
    }

    fn index_path(&mut self, base: Path, index: &'a ast::Expr, scope: &Scope<'a>, span: Span) -> Path {
        match base {
            Path::Family(family) if matches!(index.kind, ast::ExprKind::Star) => self.star(family, span),
            Path::Family(family) => {
                let index = self.value(index, scope, Some(Ty::Int));
                match self.need_process(index, family) {
                    Some(who) => Path::Process(family, who),
                    None => Path::Poison,
                }
            }
            Path::Variable(mut variable) => {
                let index = self.number(index, scope);
                let dimensions = self.model.vars[variable.var].ty.dimensions();
                if variable.indices.len() == dimensions.len() {
                    return self.not_an_array(&variable, span);
                }
                variable.indices.push(index);
                Path::Variable(VariablePath { span, ..variable })
            }
            Path::Poison => {
                self.value(index, scope, None);
                Path::Poison
            }
            Path::Process(..) | Path::Enum(_) | Path::Value(_) => {
                self.value(index, scope, None);
                self.report(Diagnostic::error(
                    code::NOT_INDEXED,
                    span,
                    "only arrays and process families have an index",
                ));
                Path::Poison
            }
        }
    }

    fn not_an_array(&mut self, variable: &VariablePath, span: Span) -> Path {
        let declared = &self.model.vars[variable.var];
        let message = match variable.indices.len() {
            0 => format!("`{}` is no array", declared.name),
            n => format!("`{}` has {n} dimension{}", declared.name, if n == 1 { "" } else { "s" }),
        };
        self.report(Diagnostic::error(code::NOT_INDEXED, span, message).note(declared.span, "declared here"));
        Path::Poison
    }

    /// `P[*]` in a hint: each process of the family in turn.
    fn star(&mut self, family: FamilyId, span: Span) -> Path {
        let is_other = self.starred.is_some_and(|starred| starred != family);
        if self.standpoint != Standpoint::Hint || is_other {
            let message = match is_other {
                true => "a hint speaks of the processes of one family",
                false => "`*` stands for all processes only in hints, fairness and `race_free`",
            };
            self.report(Diagnostic::error(code::NO_VALUE, span, message));
            return Path::Poison;
        }
        self.starred = Some(family);
        Path::Process(family, self.node(ExprKind::Myself, span))
    }

    /// Whether the expression is the process that evaluates it.
    pub(super) fn is_myself(&self, family: FamilyId, who: &Expr) -> bool {
        match self.standpoint {
            Standpoint::Family(own) => {
                own == family && (matches!(who.kind, ExprKind::Myself) || self.model.families[family].index.is_none())
            }
            Standpoint::Hint => matches!(who.kind, ExprKind::Myself),
            _ => false,
        }
    }

    pub(crate) fn is_lock(&self, variable: &VariablePath) -> bool {
        let ty = &self.model.vars[variable.var].ty;
        ty.scalar() == ScalarType::Lock && ty.dimensions().len() == variable.indices.len()
    }

    /// The content of a variable.
    pub(super) fn read(&mut self, variable: VariablePath) -> Typed {
        let span = variable.span;
        if !self.is_whole_scalar(&variable) {
            return self.poison(span);
        }
        let scalar = self.model.vars[variable.var].ty.scalar();
        if scalar == ScalarType::Lock {
            let end = Span { start: span.end, end: span.end };
            let diagnostic = Diagnostic::error(code::LOCK_READ, span, "a lock has no value of its own");
            self.report(diagnostic.fix("ask for its owner, which is `none` while it is free", end, ".owner"));
            return self.poison(span);
        }
        Typed::new(self.node(ExprKind::Read(variable.access()), span), Ty::of(scalar))
    }

    /// Whether all indices of an array are given; reports it if not.
    pub(crate) fn is_whole_scalar(&mut self, variable: &VariablePath) -> bool {
        let declared = &self.model.vars[variable.var];
        let missing = declared.ty.dimensions().len() - variable.indices.len();
        if missing == 0 {
            return true;
        }
        let Type::Array { len, .. } = &declared.ty else { return true };
        let message = match variable.indices.len() {
            0 => format!("`{}` is an array; its elements are used one by one", declared.name),
            n => format!("`{}` needs {missing} more index{}", declared.name, if n + missing > 1 { "" } else { "es" }),
        };
        let help = format!("its indices are 0..={}; to treat all of them, use `for` or `forall`", len - 1);
        self.report(
            Diagnostic::error(code::WHOLE_ARRAY, variable.span, message)
                .note(declared.span, "declared here")
                .help(help),
        );
        false
    }
}
