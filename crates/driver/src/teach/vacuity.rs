//! Whether what a property speaks of ever happens: each condition is asked as a `reachable`.
//!
//! In: a property that holds. Out: for each of its conditions, for which values of the bound variables it is true in a reachable
//! state. Where these are few each is asked, otherwise only whether there is one.

use base::Span;
use engine::insight::{Reached, Trigger};
use engine::{PropertyId, Verdict};
use model::eval::{Viewpoint, evaluate, initial_states};
use model::expr::{BinaryOp, Expr, ExprKind};
use model::fairness::Assumptions;
use model::property::{Expected, Property, PropertyKind};
use model::value::Value;
use model::visit::each_part;

use super::SimilarQuestions;
use super::triggers::{TriggerCondition, and, conditions};
use crate::mistake::Mistake;

/// So many instances are asked one by one.
const MOST_INSTANCES: usize = 24;

/// Asks for the conditions of a property.
pub(super) fn look(asking: &SimilarQuestions<'_>, property: &Property) -> Result<Vec<Trigger>, Box<Mistake>> {
    let conditions = conditions(asking.model, property);
    if conditions.is_empty() || asking.is_over() {
        return Ok(Vec::new());
    }
    let mut model = asking.variant();
    let mut asked: Vec<Vec<PropertyId>> = Vec::new();
    for condition in &conditions {
        let mut ask = |expr: Expr| {
            model.properties.push(Property {
                name: format!("{} reached", property.name),
                kind: PropertyKind::Reachable(expr),
                under: Assumptions::none(),
                expected: Expected::Holds,
                text: String::new(),
                doc: String::new(),
                span: Span::default(),
            })
        };
        asked.push(instances(asking, condition).into_iter().map(&mut ask).collect());
    }
    let all: Vec<PropertyId> = asked.iter().flatten().copied().collect();
    let mut verdicts = asking.ask_all(&model, &all)?.into_iter();
    let mut found = Vec::new();
    for (condition, asked) in conditions.into_iter().zip(asked) {
        let verdicts: Vec<Verdict> = verdicts.by_ref().take(asked.len()).collect();
        if has_no_instance(asking, &condition) {
            let variables = condition.bindings.iter().map(|binding| binding.name.clone()).collect();
            found.push(Trigger { reached: Reached::NoInstance, variables, text: condition.text });
            continue;
        }
        let mentioned = condition.mentioned();
        let is_split = asked.len() > 1 || mentioned.is_empty();
        found.push(Trigger {
            reached: reached(&verdicts, is_split),
            variables: mentioned.into_iter().map(|at| condition.bindings[at].name.clone()).collect(),
            text: condition.text,
        });
    }
    Ok(found)
}

fn reached(verdicts: &[Verdict], is_split: bool) -> Reached {
    let n_reached = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Holds(_))).count();
    let n_never = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Violated(_))).count();
    match (n_reached, n_never) {
        (_, n_never) if n_never == verdicts.len() => Reached::Never,
        (0, _) => Reached::Unknown,
        (n_reached, _) if n_reached == verdicts.len() && is_split => Reached::Always,
        (_, 1..) => Reached::Sometimes,
        _ => Reached::AtLeastOnce,
    }
}

/// Whether there are no values of the bound variables, whatever the state.
fn has_no_instance(asking: &SimilarQuestions<'_>, condition: &TriggerCondition) -> bool {
    let expr = Expr { kind: ExprKind::Const(Value::Bool(true)), span: condition.expr.span };
    let some = TriggerCondition { expr, ..condition.clone() }.for_some(None);
    let mut is_fixed = true;
    each_part(&some, &mut |part| {
        is_fixed &= matches!(
            part.kind,
            ExprKind::Const(_)
                | ExprKind::Bound(_)
                | ExprKind::Not(_)
                | ExprKind::Negate(_)
                | ExprKind::Binary(..)
                | ExprKind::IndexOf(_)
                | ExprKind::Quantified(_)
        );
    });
    let state = initial_states(asking.model).next().expect("a program has an initial state");
    is_fixed && evaluate(asking.model, &state, &some, None) == Ok(Value::Bool(false))
}

/// The condition for each choice of values of the variables that it speaks of, or for some.
fn instances(asking: &SimilarQuestions<'_>, condition: &TriggerCondition) -> Vec<Expr> {
    let state = initial_states(asking.model).next().expect("a program has an initial state");
    let pinned = condition.mentioned();
    let mut choices: Vec<Vec<Value>> = vec![Vec::new()];
    for (at, binding) in condition.bindings.iter().enumerate() {
        // The values of the others do not matter, but later variables have to be at their place.
        let most = if pinned.contains(&at) { usize::MAX } else { 1 };
        let mut more = Vec::new();
        for choice in &choices {
            let domain = Viewpoint::of_instance(asking.model, &state, choice).domain(&binding.domain);
            let values = domain.into_iter().flatten().take(most);
            more.extend(values.map(|value| [choice.as_slice(), &[value]].concat()));
        }
        choices = more;
        if choices.len() > MOST_INSTANCES {
            return vec![condition.for_some(None)];
        }
    }
    if pinned.is_empty() || choices.is_empty() {
        return vec![condition.for_some(None)];
    }
    let instance = |choice: &Vec<Value>| {
        let equal = |&at: &usize| {
            let (variable, span) = (condition.bindings[at].var, condition.expr.span);
            let one = |kind| Box::new(Expr { kind, span });
            let (bound, value) = (one(ExprKind::Bound(variable)), one(ExprKind::Const(choice[at])));
            Expr { kind: ExprKind::Binary(BinaryOp::Equal, bound, value), span }
        };
        condition.for_some(pinned.iter().map(equal).reduce(and))
    };
    choices.iter().map(instance).collect()
}
