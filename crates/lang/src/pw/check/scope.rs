//! Scopes: what a bare name means at a point of the text.
//!
//! A scope is a base (the program, a family, a procedure), whose declarations the symbol tables know, and a chain of names
//! that were bound on the way down: counters of `for`, variables of quantifiers, parameters of definitions. The innermost
//! wins. Chains share their tails, so an argument of a definition can keep the scope that it was written in.

use std::rc::Rc;

use base::Span;
use model::control::ProcedureId;
use model::expr::BoundVar;
use model::process::FamilyId;
use model::variable::VarId;

use super::Ty;
use crate::pw::ast;

/// Which declarations are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Those of the program.
    Program,
    /// Those of the family, then those of the program.
    Family(FamilyId),
    /// Those of the procedure, then those of the program.
    Procedure(ProcedureId),
}

/// What a name that was bound on the way down means.
#[derive(Clone)]
pub(crate) enum Meaning<'a> {
    /// A variable of a quantifier, or of a `for` inside `atomic`.
    Bound(BoundVar, Ty),
    /// The counter of a `for`.
    Counter(VarId),
    /// A number: the index of an array that is given by its indices.
    Number(i64),
    /// A parameter of a definition.
    Argument(Rc<Argument<'a>>),
    /// A parameter of a definition that is checked by itself, without arguments.
    Anything,
}

/// What a parameter of a definition stands for: an expression, and where it was written.
pub(crate) struct Argument<'a> {
    /// The expression.
    pub expr: &'a ast::Expr,
    /// The scope that it was written in.
    pub scope: Scope<'a>,
    /// How many definitions were being expanded there.
    pub n_expanding: usize,
}

/// What a bare name means at a point of the text.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    /// Which declarations are visible.
    pub base: Base,
    innermost: Option<Rc<Link<'a>>>,
}

struct Link<'a> {
    name: &'a str,
    declared: Span,
    meaning: Meaning<'a>,
    outer: Option<Rc<Link<'a>>>,
}

impl<'a> Scope<'a> {
    /// The outermost scope of a base.
    pub fn new(base: Base) -> Self {
        Scope { base, innermost: None }
    }

    /// The scope with one more name bound.
    pub fn with(&self, name: &'a ast::Ident, meaning: Meaning<'a>) -> Self {
        let link = Link { name: &name.name, declared: name.span, meaning, outer: self.innermost.clone() };
        Scope { base: self.base, innermost: Some(Rc::new(link)) }
    }

    /// What the name was bound to on the way down, and where.
    pub fn bound(&self, name: &str) -> Option<(&Meaning<'a>, Span)> {
        self.links().find(|link| link.name == name).map(|link| (&link.meaning, link.declared))
    }

    /// The names that were bound on the way down, innermost first.
    pub fn bound_names(&self) -> impl Iterator<Item = &'a str> {
        self.links().map(|link| link.name)
    }

    fn links(&self) -> impl Iterator<Item = &Link<'a>> {
        std::iter::successors(self.innermost.as_deref(), |link| link.outer.as_deref())
    }
}
