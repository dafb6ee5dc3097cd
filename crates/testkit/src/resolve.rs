//! The places of labels: an expression of a draft names labels only, and learns its places when all texts are known.

use base::IdVec;
use model::Model;
use model::control::{Action, ActionKind, Place, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner};
use model::expr::{Access, Binding, Domain, Expr, ExprKind, Whose};

/// Gives every `@l` of the program's texts the places of its own text that carry the label.
pub(crate) fn resolve_labels(model: &mut Model) {
    let places = std::mem::take(&mut model.places);
    for action in model.actions.iter_mut() {
        Resolver { places: &places, scope: action.scope }.action(action);
    }
    model.places = places;
}

struct Resolver<'p> {
    places: &'p IdVec<Place>,
    scope: TextOwner,
}

impl Resolver<'_> {
    fn action(&self, action: &mut Action) {
        action.guard.iter_mut().for_each(|guard| self.expr(guard));
        match action.sync.as_mut().map(|sync| &mut sync.side) {
            None => {}
            Some(SyncSide::Send(values)) => self.exprs(values),
            Some(SyncSide::Receive(patterns)) => patterns.iter_mut().for_each(|pattern| match pattern {
                ReceivePattern::Into(target) => self.access(target),
                ReceivePattern::Equal(value) => self.expr(value),
                ReceivePattern::Ignored => {}
            }),
        }
        self.body(&mut action.body);
        match &mut action.kind {
            ActionKind::Plain | ActionKind::Idle | ActionKind::Return { value: None } => {}
            ActionKind::Return { value: Some(value) } => self.expr(value),
            ActionKind::Call { arguments, result, .. } => {
                self.exprs(arguments);
                result.iter_mut().for_each(|target| self.access(target));
            }
        }
    }

    fn body(&self, body: &mut [Stmt]) {
        for stmt in body {
            match &mut stmt.kind {
                StmtKind::Assign(pairs) => {
                    for (target, value) in pairs {
                        self.access(target);
                        self.expr(value);
                    }
                }
                StmtKind::AssignAny(target, range) => {
                    self.access(target);
                    range.iter_mut().for_each(|(lo, hi)| {
                        self.expr(lo);
                        self.expr(hi);
                    });
                }
                StmtKind::Await(test) | StmtKind::Assert(test) => self.expr(test),
                StmtKind::Acquire(target) | StmtKind::Release(target) => self.access(target),
                StmtKind::If(test, yes, no) => {
                    self.expr(test);
                    self.body(yes);
                    self.body(no);
                }
                StmtKind::Either(blocks) => blocks.iter_mut().for_each(|block| self.body(block)),
                StmtKind::For(binding, block) => {
                    self.binding(binding);
                    self.body(block);
                }
            }
        }
    }

    fn exprs(&self, exprs: &mut [Expr]) {
        exprs.iter_mut().for_each(|expr| self.expr(expr));
    }

    fn expr(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, places, labels } => {
                self.expr(who);
                let carries = |place: &Place| place.labels.iter().any(|label| labels.contains(label));
                let here = self.places.entries().filter(|(_, place)| place.scope == self.scope && carries(place));
                *places = here.map(|(id, _)| id).collect();
            }
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.expr(inner),
            ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => self.expr(inner),
            ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|side| self.expr(side)),
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Quantified(quantified) => {
                quantified.bindings.iter_mut().for_each(|binding| self.binding(binding));
                quantified.filter.iter_mut().for_each(|filter| self.expr(filter));
                self.expr(&mut quantified.body);
            }
        }
    }

    fn binding(&self, binding: &mut Binding) {
        if let Domain::Range(lo, hi) = &mut binding.domain {
            self.expr(lo);
            self.expr(hi);
        }
    }

    fn access(&self, access: &mut Access) {
        if let Whose::Of(who) = &mut access.whose {
            self.expr(who);
        }
        self.exprs(&mut access.indices);
    }
}
