//! Visits the parts of expressions, and the expressions of a Model.
//!
//! [`each_part`] shows an expression and everything inside it, [`each_text`] the expressions of a program's text. [`each_expr_mut`] gives every outermost expression of a program to a
//! function that may change it; each expression once.

use crate::Model;
use crate::control::{Action, ActionKind, ReceivePattern, Stmt, StmtKind, SyncSide};
use crate::expr::{Access, Binding, Domain, Expr, ExprKind, Whose};
use crate::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use crate::property::{Formula, PropertyKind};
use crate::statements::statements;
use crate::variable::Init;

/// Shows every part of an expression, the whole first.
pub fn each_part(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
        ExprKind::Read(access) => access_parts(access, visit),
        ExprKind::At { who: inner, .. }
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::IndexOf(inner)
        | ExprKind::ToProcess(_, inner) => each_part(inner, visit),
        ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|part| each_part(part, visit)),
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| each_part(part, visit)),
        ExprKind::Quantified(quantified) => {
            for binding in &quantified.bindings {
                if let Domain::Range(lo, hi) = &binding.domain {
                    each_part(lo, visit);
                    each_part(hi, visit);
                }
            }
            quantified.filter.iter().for_each(|filter| each_part(filter, visit));
            each_part(&quantified.body, visit);
        }
    }
}

/// Shows every part of the expressions in an access: whose it is, and its indices.
pub fn access_parts(access: &Access, visit: &mut dyn FnMut(&Expr)) {
    if let Whose::Of(who) = &access.whose {
        each_part(who, visit);
    }
    access.indices.iter().for_each(|index| each_part(index, visit));
}

/// Changes the expressions directly inside of an expression.
pub fn each_child_mut(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    match &mut expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
        ExprKind::Read(access) => access_mut(access, change),
        ExprKind::At { who: inner, .. }
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::IndexOf(inner)
        | ExprKind::ToProcess(_, inner) => change(inner),
        ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|part| change(part)),
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| change(part)),
        ExprKind::Quantified(quantified) => {
            quantified.bindings.iter_mut().for_each(|binding| binding_mut(binding, change));
            quantified.filter.iter_mut().for_each(&mut *change);
            change(&mut quantified.body);
        }
    }
}

/// Changes every outermost expression of a program.
pub fn each_expr_mut(model: &mut Model, change: &mut dyn FnMut(&mut Expr)) {
    model.vars.iter_mut().for_each(|var| init_mut(&mut var.init, change));
    model.actions.iter_mut().for_each(|action| action_mut(action, change));
    model.loops.iter_mut().for_each(|counted| domain_mut(&mut counted.domain, change));
    model.fairness.iter_mut().for_each(|pair| pair_mut(pair, change));
    for property in model.properties.iter_mut() {
        match &mut property.kind {
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => change(expr),
            PropertyKind::Temporal(formula) => formula_mut(formula, change),
            PropertyKind::RaceFree(_) | PropertyKind::NoErrors | PropertyKind::DeadlockFree => {}
        }
    }
    model.hints.iter_mut().for_each(|hint| change(&mut hint.fact));
    model.initially.iter_mut().for_each(change);
}

fn access_mut(access: &mut Access, change: &mut dyn FnMut(&mut Expr)) {
    if let Whose::Of(who) = &mut access.whose {
        change(who);
    }
    access.indices.iter_mut().for_each(change);
}

fn domain_mut(domain: &mut Domain, change: &mut dyn FnMut(&mut Expr)) {
    if let Domain::Range(lo, hi) = domain {
        change(lo);
        change(hi);
    }
}

fn binding_mut(binding: &mut Binding, change: &mut dyn FnMut(&mut Expr)) {
    domain_mut(&mut binding.domain, change);
}

fn init_mut(init: &mut Init, change: &mut dyn FnMut(&mut Expr)) {
    match init {
        Init::First | Init::Any => {}
        Init::Fill(value) => change(value),
        Init::Elements(elements) => elements.iter_mut().for_each(|element| init_mut(element, change)),
    }
}

fn action_mut(action: &mut Action, change: &mut dyn FnMut(&mut Expr)) {
    action.guard.iter_mut().for_each(&mut *change);
    match action.sync.as_mut().map(|sync| &mut sync.side) {
        None => {}
        Some(SyncSide::Send(values)) => values.iter_mut().for_each(&mut *change),
        Some(SyncSide::Receive(patterns)) => patterns.iter_mut().for_each(|pattern| match pattern {
            ReceivePattern::Into(target) => access_mut(target, change),
            ReceivePattern::Equal(value) => change(value),
            ReceivePattern::Ignored => {}
        }),
    }
    body_mut(&mut action.body, change);
    match &mut action.kind {
        ActionKind::Plain | ActionKind::Idle => {}
        ActionKind::Return { value } => value.iter_mut().for_each(change),
        ActionKind::Call { arguments, result, .. } => {
            arguments.iter_mut().for_each(&mut *change);
            result.iter_mut().for_each(|target| access_mut(target, change));
        }
    }
}

fn body_mut(body: &mut [Stmt], change: &mut dyn FnMut(&mut Expr)) {
    for statement in body {
        match &mut statement.kind {
            StmtKind::Assign(stores) => {
                for (target, value) in stores {
                    access_mut(target, change);
                    change(value);
                }
            }
            StmtKind::AssignAny(target, range) => {
                access_mut(target, change);
                if let Some((lo, hi)) = range {
                    change(lo);
                    change(hi);
                }
            }
            StmtKind::Await(test) | StmtKind::Assert(test) => change(test),
            StmtKind::Acquire(target) | StmtKind::Release(target) => access_mut(target, change),
            StmtKind::If(test, yes, no) => {
                change(test);
                body_mut(yes, change);
                body_mut(no, change);
            }
            StmtKind::Either(blocks) => blocks.iter_mut().for_each(|block| body_mut(block, change)),
            StmtKind::For(binding, block) => {
                binding_mut(binding, change);
                body_mut(block, change);
            }
        }
    }
}

fn pair_mut(pair: &mut FairnessPair, change: &mut dyn FnMut(&mut Expr)) {
    let before = pair.often.iter_mut().filter_map(|edge| match edge {
        EdgePredicate::Before(predicate) => Some(predicate),
        EdgePredicate::Scheduled(_) | EdgePredicate::Moves(..) | EdgePredicate::SomebodyMoves => None,
    });
    for predicate in pair.always.iter_mut().chain(before) {
        match predicate {
            StatePredicate::Holds(expr) | StatePredicate::Fails(expr) => change(expr),
            StatePredicate::Unable(..) | StatePredicate::NobodyAble => {}
        }
    }
}

fn formula_mut(formula: &mut Formula, change: &mut dyn FnMut(&mut Expr)) {
    match formula {
        Formula::Now(expr) => change(expr),
        Formula::Not(inner) | Formula::Unary(_, inner) => formula_mut(inner, change),
        Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => {
            formula_mut(left, change);
            formula_mut(right, change);
        }
        Formula::Quantified { bindings, filter, body, .. } => {
            bindings.iter_mut().for_each(|binding| binding_mut(binding, change));
            filter.iter_mut().for_each(&mut *change);
            formula_mut(body, change);
        }
        Formula::NeverAccepts(automaton) => {
            automaton.edges.iter_mut().filter_map(|edge| edge.guard.as_mut()).for_each(change);
        }
    }
}

/// Shows every outermost expression of the texts of processes and procedures, their variables' initial values and their loops; not
/// those of properties, fairness and hints.
pub fn each_text(model: &Model, visit: &mut dyn FnMut(&Expr)) {
    model.vars.iter().for_each(|var| init(&var.init, visit));
    model.loops.iter().for_each(|counted| domain(&counted.domain, visit));
    for action in &model.actions {
        action.guard.iter().for_each(&mut *visit);
        match action.sync.as_ref().map(|sync| &sync.side) {
            None => {}
            Some(SyncSide::Send(values)) => values.iter().for_each(&mut *visit),
            Some(SyncSide::Receive(patterns)) => patterns.iter().for_each(|pattern| match pattern {
                ReceivePattern::Into(target) => access(target, visit),
                ReceivePattern::Equal(value) => visit(value),
                ReceivePattern::Ignored => {}
            }),
        }
        body(&action.body, visit);
        match &action.kind {
            ActionKind::Plain | ActionKind::Idle => {}
            ActionKind::Return { value } => value.iter().for_each(&mut *visit),
            ActionKind::Call { arguments, result, .. } => {
                arguments.iter().for_each(&mut *visit);
                result.iter().for_each(|target| access(target, visit));
            }
        }
    }
}

fn access(access: &Access, visit: &mut dyn FnMut(&Expr)) {
    if let Whose::Of(who) = &access.whose {
        visit(who);
    }
    access.indices.iter().for_each(visit);
}

fn domain(domain: &Domain, visit: &mut dyn FnMut(&Expr)) {
    if let Domain::Range(lo, hi) = domain {
        visit(lo);
        visit(hi);
    }
}

fn init(start: &Init, visit: &mut dyn FnMut(&Expr)) {
    match start {
        Init::First | Init::Any => {}
        Init::Fill(value) => visit(value),
        Init::Elements(elements) => elements.iter().for_each(|element| init(element, visit)),
    }
}

fn body(body: &[Stmt], visit: &mut dyn FnMut(&Expr)) {
    for statement in statements(body) {
        statement.targets().into_iter().for_each(|target| access(target, visit));
        statement.expressions().into_iter().for_each(&mut *visit);
    }
}
