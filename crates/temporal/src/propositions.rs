//! Propositions: the boolean expressions of a formula, each once.
//!
//! Two expressions are one proposition if they have the same structure, with the same values for the bound variables around them; their
//! spans do not matter. What people read is no key: two expressions may be printed in the same way.

use ltl::AtomId;
use model::Model;
use std::fmt::Write;

use model::expr::{Access, Domain, Expr, ExprKind, Whose};
use model::print::Printer;
use model::value::Value;
use rustc_hash::FxHashMap;

/// A boolean expression with values for the bound variables around it.
#[derive(Clone, Debug)]
pub struct Proposition {
    /// The expression.
    pub expr: Expr,
    /// The values of the bound variables around it, outermost first.
    pub bound: Vec<Value>,
    /// As the user would write it: `P[0]@crit`.
    pub text: String,
    /// The same for propositions of the same structure, and only for them.
    pub key: String,
}

/// Propositions by the number of their atom.
#[derive(Clone, Debug, Default)]
pub struct Propositions {
    list: Vec<Proposition>,
    by_key: FxHashMap<String, AtomId>,
}

impl Propositions {
    /// The atom of an expression.
    pub fn atom(&mut self, model: &Model, expr: &Expr, bound: &[Value]) -> AtomId {
        let mut key = String::new();
        Key { bound, text: &mut key }.expr(expr);
        if let Some(&atom) = self.by_key.get(&key) {
            return atom;
        }
        let atom = AtomId::new(self.list.len());
        self.by_key.insert(key.clone(), atom);
        let mut printer = bound.iter().fold(Printer::new(model), |printer, &value| printer.bind_value(value));
        let text = printer.expr(expr);
        self.list.push(Proposition { expr: expr.clone(), bound: bound.to_vec(), text, key });
        atom
    }

    /// All of them, by number.
    pub fn into_list(self) -> Vec<Proposition> {
        self.list
    }
}

/// Writes down how an expression is built.
struct Key<'k> {
    /// The values of the outer bound variables; inner ones are written by number.
    bound: &'k [Value],
    text: &'k mut String,
}

impl Key<'_> {
    fn put(&mut self, part: impl std::fmt::Debug) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{part:?} ");
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(value) => self.put(("const", value)),
            ExprKind::Parameter(id) => self.put(("parameter", id)),
            ExprKind::Myself => self.put("me"),
            ExprKind::Bound(var) => match self.bound.get(var.0 as usize).copied() {
                Some(value) => self.put(("const", value)),
                None => self.put(("bound", var.0)),
            },
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, places, .. } => {
                self.put(("at", places));
                self.expr(who);
            }
            ExprKind::Not(inner) => self.all("not", [&**inner]),
            ExprKind::Negate(inner) => self.all("negate", [&**inner]),
            ExprKind::Binary(op, left, right) => self.all(op, [&**left, &**right]),
            ExprKind::If(test, yes, no) => self.all("if", [&**test, &**yes, &**no]),
            ExprKind::Quantified(inner) => {
                self.put((inner.quantifier, inner.bindings.len(), inner.filter.is_some()));
                for binding in &inner.bindings {
                    self.put(binding.var);
                    self.domain(&binding.domain);
                }
                inner.filter.iter().for_each(|filter| self.expr(filter));
                self.expr(&inner.body);
            }
            ExprKind::IndexOf(inner) => self.all("index", [&**inner]),
            ExprKind::ToProcess(family, inner) => self.all(("process", family), [&**inner]),
        }
    }

    fn all<'e>(&mut self, what: impl std::fmt::Debug, parts: impl IntoIterator<Item = &'e Expr>) {
        self.put(what);
        parts.into_iter().for_each(|part| self.expr(part));
    }

    fn access(&mut self, access: &Access) {
        self.put(("read", access.var, access.indices.len()));
        match &access.whose {
            Whose::Shared => self.put("shared"),
            Whose::Mine => self.put("mine"),
            Whose::Frame => self.put("frame"),
            Whose::Of(who) => self.all("of", [&**who]),
        }
        access.indices.iter().for_each(|index| self.expr(index));
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Range(lo, hi) => self.all("range", [&**lo, &**hi]),
            Domain::Family(family) => self.put(("family", family)),
            Domain::Enum(id) => self.put(("enum", id)),
        }
    }
}
