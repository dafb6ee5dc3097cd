//! Hints: facts that proofs may look at, `hint expose P[*]@crit;`.

use base::Diagnostic;
use model::Hint;
use model::expr::{Expr, ExprKind, Whose};
use model::process::ProcessId;
use model::value::Value;

use crate::codes::check as code;
use crate::pw::ast::{self, Item};
use crate::pw::check::{Base, Checker, Scope, Standpoint, Ty};

/// Lowers all hints.
pub(super) fn lower(checker: &mut Checker<'_>) {
    let program = checker.program;
    for item in &program.items {
        let Item::Hint(declared) = item else { continue };
        for exposed in &declared.exposed {
            lower_one(checker, exposed);
        }
    }
}

fn lower_one<'a>(checker: &mut Checker<'a>, exposed: &'a ast::Expr) {
    checker.starred = None;
    let typed = checker.standing(Standpoint::Hint, |checker| checker.value(exposed, &Scope::new(Base::Program), None));
    if typed.ty == Ty::Poison {
        return;
    }
    let processes = match checker.starred.take() {
        Some(family) => checker.model.families[family].processes().collect(),
        None => named_processes(checker, &typed.expr),
    };
    if processes.is_empty() {
        let message = "this hint names no process whose locals or places could be exposed";
        let diagnostic = Diagnostic::error(code::EMPTY_HINT, exposed.span, message);
        checker.report(diagnostic.help("what is shared or public is visible anyway; write `P[*]@crit` or `P[*].x`"));
        return;
    }
    checker.model.hints.push(Hint { processes, fact: typed.expr, span: exposed.span });
}

/// The processes that an expression names by constants: those that it is about.
fn named_processes(checker: &Checker<'_>, expr: &Expr) -> Vec<ProcessId> {
    let mut found = Vec::new();
    collect(checker, expr, &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect(checker: &Checker<'_>, expr: &Expr, found: &mut Vec<ProcessId>) {
    let mut owner = |who: &Expr| {
        if let Some(Value::Process(id)) = checker.known(who) {
            found.push(id);
        }
    };
    match &expr.kind {
        ExprKind::At { who, .. } => owner(who),
        ExprKind::Read(access) => {
            if let Whose::Of(who) = &access.whose {
                owner(who);
            }
            access.indices.iter().for_each(|index| collect(checker, index, found));
        }
        ExprKind::Not(part) | ExprKind::Negate(part) | ExprKind::IndexOf(part) | ExprKind::ToProcess(_, part) => {
            collect(checker, part, found);
        }
        ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|part| collect(checker, part, found)),
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| collect(checker, part, found)),
        ExprKind::Const(_)
        | ExprKind::Parameter(_)
        | ExprKind::Myself
        | ExprKind::Bound(_)
        | ExprKind::Quantified(_) => {}
    }
}
