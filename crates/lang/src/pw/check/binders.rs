//! Quantifiers: `forall i: e`, `exists i != j: e`, `count(r in 0..<R: e)`.

use base::{Diagnostic, Span};
use model::expr::{BinaryOp as ModelOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier};

use super::bounds::Bounds;
use super::names::Named;
use super::ranges::Ranged;
use super::symbols::Symbol;
use super::totals::Total;
use super::{Checker, Meaning, Scope, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast::{self, Ident};

/// How many instances the bound variables of one expression may have together.
const MAX_INSTANCES: i64 = 10_000_000;

/// A bound variable around the expression at hand.
pub(crate) struct Binder {
    /// Between which numbers (or indices) its values lie.
    pub bounds: Option<Bounds>,
    /// Whether its range was written as numbers, even if it is that of a family.
    pub is_written: bool,
    /// How many instances this variable and those around it have together.
    pub n_instances: i64,
}

/// What stands before the colon of a quantifier, in the Model.
pub(crate) struct Bindings {
    /// The bound variables.
    pub bindings: Vec<Binding>,
    /// Which instances are meant.
    pub filter: Option<Expr>,
}

impl<'a> Checker<'a> {
    pub(super) fn quantified(
        &mut self,
        quantifier: ast::Quantifier,
        (binders, body): (&'a ast::Binders, &'a ast::Expr),
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let (quantifier, ty) = match quantifier {
            ast::Quantifier::ForAll => (Quantifier::Forall, Ty::Bool),
            ast::Quantifier::Exists => (Quantifier::Exists, Ty::Bool),
            ast::Quantifier::Count => (Quantifier::Count, Ty::Int),
            ast::Quantifier::Sum => return self.total(Total::Sum, (binders, body), scope, span),
            ast::Quantifier::Least => return self.total(Total::Least, (binders, body), scope, span),
            ast::Quantifier::Greatest => return self.total(Total::Greatest, (binders, body), scope, span),
        };
        let bound = self.bind(binders, scope, |checker, inner| checker.condition(body, inner));
        let Some((Bindings { bindings, filter }, body)) = bound else { return self.poison(span) };
        let quantified = Quantified { quantifier, bindings, filter, body };
        Typed::new(self.node(ExprKind::Quantified(Box::new(quantified)), span), ty)
    }

    /// Binds the variables of a quantifier around `inside`.
    pub fn bind<T>(
        &mut self,
        binders: &'a ast::Binders,
        scope: &Scope<'a>,
        inside: impl FnOnce(&mut Self, &Scope<'a>) -> T,
    ) -> Option<(Bindings, T)> {
        let ranged = self.binder_range(binders, scope);
        let is_bound = |at: usize, name: &Ident| at == 0 || !binders.distinct || !self.is_value(&name.name, scope);
        let bound: Vec<&'a Ident> =
            binders.names.iter().enumerate().filter(|&(at, name)| is_bound(at, name)).map(|(_, name)| name).collect();
        let depth = self.binders.len();
        let mut inner = scope.clone();
        let mut bindings = Vec::new();
        for name in &bound {
            self.warn_hidden(name, &inner);
            let meaning = match &ranged {
                None => Meaning::Anything,
                Some(ranged) => {
                    let binding = self.push_binder(name, ranged);
                    let meaning = Meaning::Bound(binding.var, ranged.ty);
                    bindings.push(binding);
                    meaning
                }
            };
            inner = inner.with(name, meaning);
        }
        let fits = self.check_instances(binders.span);
        let filter = self.filter(binders, &bound, &inner);
        let result = inside(self, &inner);
        self.binders.truncate(depth);
        (ranged.is_some() && fits).then_some((Bindings { bindings, filter }, result))
    }

    /// Adds a bound variable around what is checked next.
    pub fn push_binder(&mut self, name: &Ident, ranged: &Ranged) -> Binding {
        let var = BoundVar(self.binders.len() as u32);
        let n_outer = self.binders.last().map_or(1, |binder| binder.n_instances);
        let n_instances = n_outer.saturating_mul(ranged.size.max(1));
        self.binders.push(Binder { bounds: ranged.bounds, is_written: ranged.is_written, n_instances });
        Binding { var, name: name.name.clone(), domain: ranged.domain.clone() }
    }

    /// Whether the bound variables have few enough instances together; reports it if not.
    pub fn check_instances(&mut self, span: Span) -> bool {
        let fits = self.binders.last().is_none_or(|binder| binder.n_instances <= MAX_INSTANCES);
        if !fits {
            let message = format!("this range and those around it have more than {MAX_INSTANCES} instances together");
            self.report(
                Diagnostic::error(code::TOO_MANY_COPIES, span, message).help("each of them is looked at in each state"),
            );
        }
        fits
    }

    /// Whether a name stands for a value, so that `j != i` does not bind it.
    fn is_value(&self, name: &str, scope: &Scope<'a>) -> bool {
        match self.lookup(name, scope) {
            Some((Named::Symbol(symbol), _)) => {
                !matches!(symbol, Symbol::Enum(_) | Symbol::Family(_) | Symbol::Procedure(_))
            }
            Some(_) => true,
            None => false,
        }
    }

    fn binder_range(&mut self, binders: &'a ast::Binders, scope: &Scope<'a>) -> Option<Ranged> {
        match &binders.domain {
            Some(ast::Domain::Range(range)) => self.ranged(range, scope),
            Some(ast::Domain::Family(name)) => self.named_domain(name),
            // Elaboration has reported it.
            Some(ast::Domain::Set(_)) => None,
            None => match self.one_family() {
                Some(family) => Some(self.ranged_family(family)),
                None => {
                    self.report_no_domain(binders);
                    None
                }
            },
        }
    }

    fn named_domain(&mut self, name: &'a Ident) -> Option<Ranged> {
        match self.symbols.names.get(&*name.name).map(|&(symbol, _)| symbol) {
            Some(Symbol::Family(family)) => Some(self.ranged_family(family)),
            Some(Symbol::Enum(id)) => {
                let size = self.model.enums[id].values.len() as i64;
                let domain = Domain::Enum(id);
                let is_nonempty = size > 0;
                let ty = Ty::Enum(id);
                Some(Ranged { domain, ty, bounds: None, size, is_nonempty, starts_least: true, is_written: false })
            }
            Some(Symbol::Broken) => None,
            _ => {
                let message = format!("there is no process family or enumeration `{}`", name.name);
                let families = self.model.families.iter().map(|family| family.name.as_str());
                let known = families.chain(self.model.enums.iter().map(|of| of.name.as_str()));
                let diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message);
                self.report(self.with_nearest(diagnostic, name, known));
                None
            }
        }
    }

    fn report_no_domain(&mut self, binders: &ast::Binders) {
        let families: Vec<String> =
            self.model.families.iter().filter(|of| of.index.is_some()).map(|of| of.name.clone()).collect();
        let Some(name) = binders.names.last() else { return };
        let end = Span { start: binders.span.end, end: binders.span.end };
        let message = match families.is_empty() {
            true => format!("say what `{}` ranges over: the program has no process family", name.name),
            false => format!("say what `{}` ranges over: the program has several process families", name.name),
        };
        let diagnostic = Diagnostic::error(code::WHICH_DOMAIN, binders.span, message);
        self.report(match families.is_empty() {
            true => diagnostic.help("add a range, as in `forall k in 0..<3: …`"),
            false => families.iter().fold(diagnostic, |diagnostic, family| {
                diagnostic.suggest(format!("the processes of `{family}`"), end, format!(" in {family}"))
            }),
        });
    }

    /// The condition that `i != j` and `k != 0` put on the instances.
    fn filter(&mut self, binders: &'a ast::Binders, bound: &[&'a Ident], inner: &Scope<'a>) -> Option<Expr> {
        let mut conditions = Vec::new();
        let is_bound = |name: &Ident| bound.iter().any(|bound| bound.span == name.span);
        if binders.distinct {
            for (at, right) in binders.names.iter().enumerate() {
                for left in &binders.names[..at] {
                    if is_bound(left) || is_bound(right) {
                        let (left, right) = (self.binder_value(left, inner), self.binder_value(right, inner));
                        conditions.push(self.compare(ModelOp::NotEqual, left, right, binders.span));
                    }
                }
            }
        }
        for other in &binders.other_than {
            for name in bound {
                let left = self.binder_value(name, inner);
                let right = self.value(other, inner, Some(left.ty));
                conditions.push(self.compare(ModelOp::NotEqual, left, right, binders.span));
            }
        }
        conditions.into_iter().reduce(|left, right| self.operation(ModelOp::And, left, right, binders.span))
    }

    fn binder_value(&mut self, name: &'a Ident, scope: &Scope<'a>) -> Typed {
        let path = self.name_path(name, scope, None, name.span);
        self.path_value(path, name.span)
    }
}
