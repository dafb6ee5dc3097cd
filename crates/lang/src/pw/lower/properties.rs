//! Properties: what the program's author asks, and the built-in questions.

use std::collections::HashMap;

use base::{Diagnostic, Span};
use model::fairness::Assumptions;
use model::property::{Expected, Property, PropertyKind};
use model::types::ScalarType;
use model::variable::VarId;

use super::fairness::FairnessSets;
use crate::codes::check as code;
use crate::pw::ast::{self, Item, PropertyDecl};
use crate::pw::check::{Base, Checker, Path, Scope, Standpoint, Symbol, text_of};

/// Lowers all properties, with their fairness.
pub(super) fn lower(checker: &mut Checker<'_>) {
    let mut fairness = FairnessSets::declare(checker);
    let program = checker.program;
    add_built_in(checker, program);
    let mut names: HashMap<String, Span> = HashMap::new();
    for item in &program.items {
        let Item::Property(declared) = item else { continue };
        let Some(property) = lower_one(checker, declared, &mut fairness) else { continue };
        let span = declared.name.as_ref().map_or(declared.span, |name| name.span);
        if is_name_of_another_question(&property) {
            let message = format!("`{}` is the name of a question that is asked of every program", property.name);
            checker
                .report(Diagnostic::error(code::PROPERTY_TWICE, span, message).help("give the property another name"));
        }
        if let Some(&first) = names.get(&property.name) {
            let message = format!("two properties are called `{}`", property.name);
            checker.report(Diagnostic::error(code::PROPERTY_TWICE, span, message).note(first, "the first one"));
        } else {
            names.insert(property.name.clone(), span);
        }
        checker.model.properties.push(property);
    }
}

/// Whether a property has the name of a built-in question, which it is not: by their names both are chosen, and proofs are kept.
fn is_name_of_another_question(property: &Property) -> bool {
    let built_in = [PropertyKind::NoErrors, PropertyKind::DeadlockFree].map(|kind| kind.keyword());
    built_in.contains(&property.name.as_str()) && property.kind.keyword() != property.name
}

/// The questions that are asked of every program, where they are not written down.
fn add_built_in(checker: &mut Checker<'_>, program: &ast::Program) {
    let is_written = |wanted: &ast::PropertyKind| {
        program.items.iter().any(|item| matches!(item, Item::Property(declared) if declared.kind == *wanted))
    };
    let allows_deadlock = program.items.iter().any(|item| matches!(item, Item::AllowDeadlock(_)));
    let mut built_in = Vec::new();
    if !is_written(&ast::PropertyKind::NoErrors) {
        built_in.push(PropertyKind::NoErrors);
    }
    if !is_written(&ast::PropertyKind::DeadlockFree) && !allows_deadlock {
        built_in.push(PropertyKind::DeadlockFree);
    }
    for kind in built_in {
        checker.model.properties.push(Property {
            name: kind.keyword().to_string(),
            kind,
            under: Assumptions::none(),
            expected: Expected::Holds,
            text: String::new(),
            doc: String::new(),
            span: Span::default(),
        });
    }
}

fn lower_one<'a>(
    checker: &mut Checker<'a>,
    declared: &'a PropertyDecl,
    fairness: &mut FairnessSets<'a>,
) -> Option<Property> {
    let scope = Scope::new(Base::Program);
    let mut under = Assumptions::none();
    let (kind, text) = match &declared.kind {
        ast::PropertyKind::Invariant(expr) => {
            let holds = checker.standing(Standpoint::Property, |checker| checker.condition(expr, &scope));
            (PropertyKind::Invariant(holds), checker.text(expr.span))
        }
        ast::PropertyKind::Reachable(expr) => {
            let holds = checker.standing(Standpoint::Property, |checker| checker.condition(expr, &scope));
            (PropertyKind::Reachable(holds), checker.text(expr.span))
        }
        ast::PropertyKind::Temporal(expr) => {
            let formula = checker.standing(Standpoint::Property, |checker| checker.formula(expr, &scope));
            under = fairness.of_property(checker, declared.under.as_ref());
            (PropertyKind::Temporal(formula), checker.text(expr.span))
        }
        ast::PropertyKind::RaceFree(expr) => {
            let text = checker.text(expr.span);
            (PropertyKind::RaceFree(raced_variable(checker, expr)?), text)
        }
        ast::PropertyKind::NoErrors => (PropertyKind::NoErrors, String::new()),
        ast::PropertyKind::DeadlockFree => (PropertyKind::DeadlockFree, String::new()),
    };
    let name = match (&declared.name, &kind) {
        (Some(name), _) => name.name.clone(),
        (None, PropertyKind::RaceFree(_)) => format!("race_free {text}"),
        (None, kind) => kind.keyword().to_string(),
    };
    let expected = match declared.expect {
        Some(expect) if !expect.holds => Expected::Violated,
        _ => Expected::Holds,
    };
    Some(Property { name, kind, under, expected, text, doc: text_of(&declared.doc), span: declared.span })
}

/// The variable that `race_free` speaks of: a shared one, or a public one of a family (`P[*].x`).
fn raced_variable<'a>(checker: &mut Checker<'a>, expr: &'a ast::Expr) -> Option<VarId> {
    let var = match &expr.kind {
        ast::ExprKind::Field { base, field } => {
            let family = match &base.kind {
                ast::ExprKind::Index { base, index } if matches!(index.kind, ast::ExprKind::Star) => {
                    family_name(checker, base)
                }
                _ => family_name(checker, base),
            };
            family.and_then(|family| checker.symbols.family(family).vars.get(&*field.name).copied().flatten())
        }
        ast::ExprKind::Name(_) => {
            let path =
                checker.standing(Standpoint::Property, |checker| checker.path(expr, &Scope::new(Base::Program), None));
            match path {
                Path::Variable(variable) => Some(variable.var),
                Path::Poison => return None,
                _ => None,
            }
        }
        _ => None,
    };
    let Some(var) = var else {
        let message = format!("`{}` is not a whole variable", checker.text(expr.span));
        let diagnostic = Diagnostic::error(code::NOT_RACED, expr.span, message);
        checker.report(diagnostic.help("`race_free` speaks of a variable with all its elements: `race_free x;`"));
        return None;
    };
    let declared = &checker.model.vars[var];
    if matches!(declared.ty.scalar(), ScalarType::Lock | ScalarType::Semaphore { .. }) {
        let message =
            format!("`{}` is there to be raced for: `race_free` is not for locks and semaphores", declared.name);
        checker.report(Diagnostic::error(code::NOT_RACED, expr.span, message).note(declared.span, "declared here"));
        return None;
    }
    Some(var)
}

fn family_name(checker: &Checker<'_>, expr: &ast::Expr) -> Option<model::process::FamilyId> {
    let ast::ExprKind::Name(name) = &expr.kind else { return None };
    match checker.symbols.names.get(&*name.name) {
        Some(&(Symbol::Family(family), _)) => Some(family),
        _ => None,
    }
}
