//! What has to happen first for a property to say something: the `a` of `a ~> b`, of `always (a => …)`, both sides of `!(a && b)`.
//!
//! In: a property. Out: these conditions, each with the variables that are bound around it.

use model::Model;
use model::expr::{BinaryOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::print::Printer;
use model::property::{BinaryTemporal, BooleanOp, Formula, Property, PropertyKind, UnaryTemporal};

/// A condition.
#[derive(Clone, Debug)]
pub(super) struct TriggerCondition {
    /// The condition.
    pub expr: Expr,
    /// The variables that are bound around it, outermost first.
    pub bindings: Vec<Binding>,
    /// Which instances are meant.
    pub filter: Option<Expr>,
    /// The condition in the user's names.
    pub text: String,
}

impl TriggerCondition {
    /// The positions of the bound variables that it speaks of.
    pub fn mentioned(&self) -> Vec<usize> {
        let mentions = |at: &usize| speaks_of(&self.expr, self.bindings[*at].var);
        (0..self.bindings.len()).filter(mentions).collect()
    }

    /// That it is true for some instance that the further condition leaves.
    pub fn for_some(&self, further: Option<Expr>) -> Expr {
        if self.bindings.is_empty() {
            return self.expr.clone();
        }
        let filter = [self.filter.clone(), further].into_iter().flatten().reduce(and);
        let kind = ExprKind::Quantified(Box::new(Quantified {
            quantifier: Quantifier::Exists,
            bindings: self.bindings.clone(),
            filter,
            body: self.expr.clone(),
        }));
        Expr { kind, span: self.expr.span }
    }
}

/// The conditions of a property, each once.
pub(super) fn conditions(model: &Model, property: &Property) -> Vec<TriggerCondition> {
    let mut finder = TriggerFinder { model, found: Vec::new() };
    match &property.kind {
        PropertyKind::Invariant(expr) => finder.in_expr(expr, &TriggerContext::default()),
        PropertyKind::Temporal(formula) => finder.in_formula(formula, &TriggerContext::default(), false),
        _ => {}
    }
    finder.found
}

#[derive(Clone, Default)]
struct TriggerContext {
    bindings: Vec<Binding>,
    filter: Option<Expr>,
}

impl TriggerContext {
    fn within(&self, bindings: &[Binding], filter: Option<&Expr>) -> TriggerContext {
        TriggerContext {
            bindings: self.bindings.iter().chain(bindings).cloned().collect(),
            filter: self.filter.iter().chain(filter).cloned().reduce(and),
        }
    }
}

struct TriggerFinder<'m> {
    model: &'m Model,
    found: Vec<TriggerCondition>,
}

impl TriggerFinder<'_> {
    fn in_formula(&mut self, formula: &Formula, around: &TriggerContext, always: bool) {
        match formula {
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body } => {
                self.in_formula(body, &around.within(bindings, filter.as_ref()), always);
            }
            Formula::Unary(UnaryTemporal::Always, inner) => self.in_formula(inner, around, true),
            Formula::Boolean(BooleanOp::And, left, right) => {
                self.in_formula(left, around, always);
                self.in_formula(right, around, always);
            }
            Formula::Binary(BinaryTemporal::LeadsTo, left, _) => {
                if let Formula::Now(condition) = &**left {
                    self.add(condition, around);
                }
            }
            Formula::Boolean(BooleanOp::Implies, left, _) if always => {
                if let Formula::Now(condition) = &**left {
                    self.add(condition, around);
                }
            }
            Formula::Now(expr) if always => self.in_expr(expr, around),
            _ => {}
        }
    }

    fn in_expr(&mut self, expr: &Expr, around: &TriggerContext) {
        match &expr.kind {
            ExprKind::Quantified(inner) if inner.quantifier == Quantifier::Forall => {
                self.in_expr(&inner.body, &around.within(&inner.bindings, inner.filter.as_ref()));
            }
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.in_expr(left, around);
                self.in_expr(right, around);
            }
            ExprKind::Binary(BinaryOp::Implies, left, _) => self.add(left, around),
            ExprKind::Not(inner) => {
                let parts = conjuncts(inner);
                if parts.len() > 1 {
                    parts.into_iter().for_each(|part| self.add(part, around));
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, expr: &Expr, around: &TriggerContext) {
        if matches!(expr.kind, ExprKind::Const(_)) {
            return;
        }
        let named = |bindings: &[Binding]| {
            let printer = bindings.iter().fold(Printer::new(self.model), |printer, one| printer.bind_name(one));
            explain::totals::as_written(&{ printer }.expr(expr))
        };
        let condition = TriggerCondition {
            expr: expr.clone(),
            bindings: around.bindings.clone(),
            filter: around.filter.clone(),
            text: named(&around.bindings),
        };
        // Both sides of `!(P[i]@crit && P[j]@crit)` say the same of different variables.
        let alike = |condition: &TriggerCondition| {
            let mut bindings = condition.bindings.clone();
            let mentioned = condition.mentioned();
            mentioned.iter().enumerate().for_each(|(nth, &at)| bindings[at].name = format!("#{nth}"));
            let domains: Vec<String> = mentioned.iter().map(|&at| format!("{:?}", bindings[at].domain)).collect();
            let printer = bindings.iter().fold(Printer::new(self.model), |printer, one| printer.bind_name(one));
            ({ printer }.expr(&condition.expr), domains)
        };
        let key = alike(&condition);
        if !self.found.iter().any(|known| alike(known) == key) {
            self.found.push(condition);
        }
    }
}

fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => [conjuncts(left), conjuncts(right)].concat(),
        _ => vec![expr],
    }
}

/// Both.
pub(super) fn and(left: Expr, right: Expr) -> Expr {
    let span = left.span;
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span }
}

/// Whether an expression speaks of a bound variable.
fn speaks_of(expr: &Expr, var: BoundVar) -> bool {
    let any = |parts: &[&Expr]| parts.iter().any(|part| speaks_of(part, var));
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself => false,
        ExprKind::Bound(other) => *other == var,
        ExprKind::Read(access) => {
            let whose = if let Whose::Of(who) = &access.whose { speaks_of(who, var) } else { false };
            whose || access.indices.iter().any(|index| speaks_of(index, var))
        }
        ExprKind::At { who, .. } => speaks_of(who, var),
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => {
            speaks_of(inner, var)
        }
        ExprKind::Binary(_, left, right) => any(&[left, right]),
        ExprKind::If(test, yes, no) => any(&[test, yes, no]),
        ExprKind::Quantified(inner) => {
            let in_domain = |binding: &Binding| match &binding.domain {
                Domain::Range(lo, hi) => any(&[lo, hi]),
                Domain::Family(_) | Domain::Enum(_) => false,
            };
            inner.bindings.iter().any(in_domain)
                || inner.filter.as_ref().is_some_and(|filter| speaks_of(filter, var))
                || speaks_of(&inner.body, var)
        }
    }
}
