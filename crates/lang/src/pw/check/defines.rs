//! Definitions: `define busy(k) = …;`, expanded where they are used.
//!
//! The names in a definition's body are those of the program, never those of the place where it is used; what its
//! parameters stand for is checked in the scope of the use, as often as the body mentions them.

use std::rc::Rc;

use base::{Diagnostic, Span};

use super::names::Named;
use super::symbols::Symbol;
use super::{Argument, Base, Checker, Expansion, Meaning, Path, Scope, Standpoint, Ty};
use crate::codes::check as code;
use crate::pw::ast::{self, Ident};

impl<'a> Checker<'a> {
    /// `name(arguments)`.
    pub(super) fn apply(
        &mut self,
        name: &'a Ident,
        arguments: &'a [ast::Expr],
        scope: &Scope<'a>,
        want: Option<Ty>,
    ) -> Path {
        match self.applied(name, arguments, scope) {
            Some(index) => self.expand((index, name.span), arguments, scope, want),
            None => Path::Poison,
        }
    }

    /// The definition that is applied; reports what is none, and looks at the arguments then.
    pub fn applied(&mut self, name: &'a Ident, arguments: &'a [ast::Expr], scope: &Scope<'a>) -> Option<usize> {
        let found = self.lookup(&name.name, scope).map(|(named, _)| named);
        let diagnostic = match found {
            Some(Named::Symbol(Symbol::Define(index))) => return Some(index),
            Some(Named::Symbol(Symbol::Procedure(_))) => {
                let message = format!("`{}` is a procedure, which a statement calls", name.name);
                let help = format!("write `x = call {}(…);`, and use `x`", name.name);
                Some(Diagnostic::error(code::NO_VALUE, name.span, message).help(help))
            }
            Some(Named::Symbol(Symbol::Broken) | Named::Bound(Meaning::Anything)) => None,
            None if name.name == "cas" => Some(misplaced_swap(name, arguments)),
            found => {
                let message = format!("there is no definition `{}`", name.name);
                let defined = self.symbols.defines.iter().map(|define| define.name.name.as_str());
                let diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message);
                let diagnostic = self.with_nearest(diagnostic, name, defined);
                let help = "arguments in parentheses are for definitions; an index stands in brackets";
                let is_other = found.is_some() && diagnostic.helps.is_empty();
                Some(if is_other { diagnostic.help(help) } else { diagnostic })
            }
        };
        if let Some(diagnostic) = diagnostic {
            self.report(diagnostic);
        }
        for argument in arguments {
            self.value(argument, scope, None);
        }
        None
    }

    /// What a definition stands for, at a use with these arguments.
    pub(super) fn expand(
        &mut self,
        (index, span): (usize, Span),
        arguments: &'a [ast::Expr],
        scope: &Scope<'a>,
        want: Option<Ty>,
    ) -> Path {
        let expanded = self
            .in_body((index, span), arguments, scope, |checker, body, inner| checker.argument_path(body, inner, want));
        match expanded {
            None => Path::Poison,
            Some(Path::Value(mut typed)) => {
                typed.expr.span = span;
                Path::Value(typed)
            }
            Some(Path::Variable(variable)) => Path::Variable(super::VariablePath { span, ..variable }),
            Some(path) => path,
        }
    }

    /// Does something with a definition's body, in the scope that its parameters make; `None` if the use is wrong.
    pub fn in_body<T>(
        &mut self,
        (index, span): (usize, Span),
        arguments: &'a [ast::Expr],
        scope: &Scope<'a>,
        work: impl FnOnce(&mut Self, &'a ast::Expr, &Scope<'a>) -> T,
    ) -> Option<T> {
        let define = self.symbols.defines[index];
        if define.parameters.len() != arguments.len() {
            let (wants, has) = (define.parameters.len(), arguments.len());
            let message = format!(
                "`{}` has {wants} parameter{}, but {has} argument{} given",
                define.name.name,
                if wants == 1 { "" } else { "s" },
                if has == 1 { " is" } else { "s are" }
            );
            self.report(
                Diagnostic::error(code::DEFINE_ARGUMENTS, span, message).note(define.name.span, "defined here"),
            );
            return None;
        }
        if self.expanding.iter().any(|expansion| expansion.define == index) {
            let message = format!("`{}` is defined by itself", define.name.name);
            let diagnostic = Diagnostic::error(code::DEFINED_BY_ITSELF, define.name.span, message);
            let help = "a definition is an abbreviation, which is written out; for recursion, use a procedure";
            self.diagnostics.push(diagnostic.note(span, "used here, on the way to itself").help(help));
            return None;
        }
        let n_expanding = self.expanding.len();
        let mut inner = Scope::new(Base::Program);
        for (parameter, expr) in define.parameters.iter().zip(arguments) {
            let argument = Argument { expr, scope: scope.clone(), n_expanding };
            inner = inner.with(parameter, Meaning::Argument(Rc::new(argument)));
        }
        self.expanding.push(Expansion { define: index, used_at: span });
        let result = work(self, &define.body, &inner);
        self.expanding.truncate(n_expanding);
        Some(result)
    }

    /// Does something with what a parameter stands for, in the scope that it was written in.
    pub fn in_argument<T>(
        &mut self,
        argument: &Argument<'a>,
        work: impl FnOnce(&mut Self, &'a ast::Expr, &Scope<'a>) -> T,
    ) -> T {
        let inner = self.expanding.split_off(argument.n_expanding.min(self.expanding.len()));
        let result = work(self, argument.expr, &argument.scope);
        self.expanding.extend(inner);
        result
    }

    /// Checks the definitions by themselves, so that one that is never used is checked, too.
    pub fn check_defines(&mut self) {
        for define in self.symbols.defines.clone() {
            let scope = define
                .parameters
                .iter()
                .fold(Scope::new(Base::Program), |scope, parameter| scope.with(parameter, Meaning::Anything));
            self.standing(Standpoint::Property, |checker| match checker.is_temporal(&define.body, &scope) {
                true => drop(checker.formula(&define.body, &scope)),
                false => drop(checker.value(&define.body, &scope, None)),
            });
        }
    }

    /// Finds out which definitions speak of runs: those with a temporal operator, and those that use such a one.
    pub fn find_temporal_defines(&mut self) {
        let n_defines = self.symbols.defines.len();
        self.symbols.temporal_defines = vec![false; n_defines];
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); n_defines];
        let mut found = Vec::new();
        for (index, define) in self.symbols.defines.iter().enumerate() {
            let mut parts = vec![&define.body];
            while let Some(part) = parts.pop() {
                if let ast::ExprKind::Name(name) | ast::ExprKind::Apply { name, .. } = &part.kind
                    && let Some(&(Symbol::Define(used), _)) = self.symbols.names.get(&*name.name)
                {
                    users[used].push(index);
                }
                let is_temporal = match &part.kind {
                    ast::ExprKind::Unary { op, .. } => op.is_temporal(),
                    ast::ExprKind::Binary { op, .. } => op.is_temporal(),
                    _ => false,
                };
                if is_temporal {
                    found.push(index);
                }
                part.for_each_child(|child| parts.push(child));
            }
        }
        while let Some(index) = found.pop() {
            if !std::mem::replace(&mut self.symbols.temporal_defines[index], true) {
                found.extend(&users[index]);
            }
        }
    }

    /// Whether an expression, definitions expanded, has a temporal operator.
    pub fn is_temporal(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> bool {
        self.n_looks += 1;
        if self.n_looks > super::MAX_LOOKS {
            return false;
        }
        let here = match &expr.kind {
            ast::ExprKind::Unary { op, .. } => op.is_temporal(),
            ast::ExprKind::Binary { op, .. } => op.is_temporal(),
            ast::ExprKind::Name(name) | ast::ExprKind::Apply { name, .. } => {
                match self.lookup(&name.name, scope).map(|(named, _)| named) {
                    Some(Named::Symbol(Symbol::Define(index))) => self.symbols.temporal_defines[index],
                    Some(Named::Bound(Meaning::Argument(argument))) => self.is_temporal(argument.expr, &argument.scope),
                    _ => false,
                }
            }
            _ => false,
        };
        let mut children = Vec::new();
        expr.for_each_child(|child| children.push(child));
        here || children.into_iter().any(|child| self.is_temporal(child, scope))
    }
}

/// `cas` changes a variable, so it is no part of an expression.
fn misplaced_swap(name: &Ident, arguments: &[ast::Expr]) -> Diagnostic {
    if arguments.len() != 3 {
        let message = "`cas` has three parts: a variable, the value that it should have, and the one that it gets";
        return Diagnostic::error(code::UNKNOWN_NAME, name.span, message).help("write `cas(x, 0, 1)`");
    }
    let message = "`cas` changes a variable, so it is no part of an expression";
    let help =
        "write `if cas(x, a, b) { … }`, `while !cas(x, a, b) { … }`, `await cas(x, a, b);` or `done = cas(x, a, b);`";
    Diagnostic::error(code::UNKNOWN_NAME, name.span, message).help(help)
}
