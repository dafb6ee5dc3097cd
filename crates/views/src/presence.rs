//! What views say of all processes: whether some process, seen or not, has one of some values in a column.
//!
//! In: a program. Out: such *presences*, read off the text: what a step that waits for `exists k: …` may rely on afterwards is that there is
//! somebody, whom no view of few processes need show. Where a view says so and shows nobody, whatever looks at all processes is evaluated with
//! one more process, which is one of those. How a step changes a presence is worked out from the processes that are seen before and after:
//! where these do not say, it may be either. This is the context of views in Abdulla, Haziza and Holík (STTT 2016), as truth values.

use model::Model;
use model::control::{Action, Stmt, StmtKind};
use model::expr::{Access, BinaryOp, BoundVar, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::value::Value;
use model::visit::each_part;

use crate::configuration::{Configuration, Item};
use crate::hiding::ViewColumn;
use crate::layout::{ElementArray, Layout, LocalColumn, Presence, holds_members, is_over, is_own};
use crate::sight::Ground;

/// At most so many presences are shown.
const MOST_PRESENCES: usize = 3;

/// Only columns of at most so many values are looked at.
const MOST_VALUES: u128 = 16;

/// The layout of views that say of all processes what steps wait for in somebody else. What that is about is not hidden.
pub fn with_presences(model: &Model, layout: &Layout) -> Layout {
    let present = presences(Ground::new(model, layout));
    let is_shown = |column: ViewColumn| present.iter().any(|one| column == ViewColumn::Local(one.column));
    let mut with = layout.clone();
    with.hidden.retain(|rule| !is_shown(rule.what));
    with.present = present;
    with
}

/// What steps of the program wait for in somebody else.
pub fn presences(ground: Ground<'_>) -> Vec<Presence> {
    let Ground { model, layout, .. } = ground;
    let mut found: Vec<Presence> = Vec::new();
    for action in model.actions.iter() {
        each_quantifier(layout, action, &mut |quantified, binding| {
            if quantified.quantifier != Quantifier::Exists {
                return;
            }
            for column in columns(ground, quantified, binding) {
                let Some(ty) = layout.local_type(model, layout.local[column]) else { continue };
                if ty.n_values(model.type_context()) > MOST_VALUES || holds_members(ty, layout.family) {
                    continue;
                }
                let values: Vec<Value> = ty.values(model.type_context()).collect();
                let case = |value: Value| Case { ground, binding, column, value };
                let is: Vec<Item> = { values.iter() }
                    .filter(|&&value| case(value).may_be(&quantified.body, true))
                    .map(|&value| Item::Value(value))
                    .collect();
                let presence = Presence { column, is };
                if !presence.is.is_empty() && presence.is.len() < values.len() && !found.contains(&presence) {
                    found.push(presence);
                }
            }
        });
    }
    found.truncate(MOST_PRESENCES);
    found
}

/// The presences whose columns an action looks at in all processes.
pub fn looked_for(ground: Ground<'_>, action: &Action) -> Vec<usize> {
    let layout = ground.layout;
    let mut looked_at = Vec::new();
    each_quantifier(layout, action, &mut |quantified, binding| looked_at.extend(columns(ground, quantified, binding)));
    (0..layout.present.len()).filter(|&at| looked_at.contains(&layout.present[at].column)).collect()
}

/// Whether some seen process of a configuration is one of those that a presence is about.
pub fn is_seen(layout: &Layout, config: &Configuration, presence: usize) -> bool {
    let Presence { column, is } = &layout.present[presence];
    config.slots.iter().flatten().any(|local| is.contains(&local[*column]))
}

/// What may be said of a presence after a step, given what was said before.
pub fn after(
    layout: &Layout,
    (before, after): (&Configuration, &Configuration),
    presence: usize,
    wrote_unseen: bool,
) -> &'static [bool] {
    let was = before.shared[layout.first_presence() + presence] == Item::Value(Value::Bool(true));
    if is_seen(layout, after, presence) {
        &[true]
    } else if wrote_unseen {
        &[false, true]
    } else if !was {
        &[false]
    } else if is_seen(layout, before, presence) {
        &[false, true]
    } else {
        &[true]
    }
}

/// Shows the quantifiers over the family, of one variable each, in the expressions of an action.
fn each_quantifier(layout: &Layout, action: &Action, visit: &mut dyn FnMut(&Quantified, BoundVar)) {
    let mut look = |expr: &Expr| {
        each_part(expr, &mut |part| {
            if let ExprKind::Quantified(quantified) = &part.kind
                && let [binding] = &quantified.bindings[..]
                && is_over(&binding.domain, layout.family)
            {
                visit(quantified, binding.var);
            }
        });
    };
    action.guard.iter().for_each(&mut look);
    tests(&action.body, &mut look);
}

/// Shows what the statements of a step, those of loops aside, test and store.
fn tests(body: &[Stmt], look: &mut dyn FnMut(&Expr)) {
    for statement in body {
        match &statement.kind {
            StmtKind::Assign(stores) => stores.iter().for_each(|(_, value)| look(value)),
            StmtKind::Await(test) | StmtKind::Assert(test) => look(test),
            StmtKind::If(test, yes, no) => {
                look(test);
                tests(yes, look);
                tests(no, look);
            }
            StmtKind::Either(blocks) => blocks.iter().for_each(|block| tests(block, look)),
            StmtKind::AssignAny(..) | StmtKind::Acquire(_) | StmtKind::Release(_) | StmtKind::For(..) => {}
        }
    }
}

/// The columns of the bound process that a quantifier looks at.
fn columns(ground: Ground<'_>, quantified: &Quantified, binding: BoundVar) -> Vec<usize> {
    let mut found = Vec::new();
    each_part(&quantified.body, &mut |part| {
        if let ExprKind::Read(access) = &part.kind
            && let Some(column) = column_of(ground, access, binding)
            && !found.contains(&column)
        {
            found.push(column);
        }
    });
    found
}

/// The column of the bound process at which an access of a single cell looks.
fn column_of(ground: Ground<'_>, access: &Access, binding: BoundVar) -> Option<usize> {
    let Ground { model, layout, .. } = ground;
    let is_bound = |who: &Expr| matches!(who.kind, ExprKind::Bound(var) if var == binding);
    match (&access.whose, &access.indices[..]) {
        (Whose::Of(who), []) if is_bound(who) => {
            let var = &model.vars[access.var];
            layout.local_column(LocalColumn::Own(var.offset)).filter(|_| is_own(var.storage, layout.family))
        }
        (Whose::Shared, [index]) if matches!(&index.kind, ExprKind::IndexOf(who) if is_bound(who)) => {
            let element = LocalColumn::Element(ElementArray { var: access.var, owner: None }, 0);
            layout.local_column(element).filter(|_| layout.rows.contains_key(&access.var))
        }
        _ => None,
    }
}

/// A value of one column of the bound process, all else being open.
struct Case<'a> {
    ground: Ground<'a>,
    binding: BoundVar,
    column: usize,
    value: Value,
}

impl Case<'_> {
    /// Whether an expression may have a truth value.
    fn may_be(&self, expr: &Expr, truth: bool) -> bool {
        match &expr.kind {
            ExprKind::Not(inner) => self.may_be(inner, !truth),
            ExprKind::Binary(BinaryOp::And, left, right) if truth => {
                self.may_be(left, true) && self.may_be(right, true)
            }
            ExprKind::Binary(BinaryOp::And, left, right) => self.may_be(left, false) || self.may_be(right, false),
            ExprKind::Binary(BinaryOp::Or, left, right) if truth => self.may_be(left, true) || self.may_be(right, true),
            ExprKind::Binary(BinaryOp::Or, left, right) => self.may_be(left, false) && self.may_be(right, false),
            ExprKind::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right) => {
                let sides = (self.known(left).or(self.known(right)), constant(left).or(constant(right)));
                match sides {
                    (Some(value), Some(other)) => ((value == other) == (*op == BinaryOp::Equal)) == truth,
                    _ => true,
                }
            }
            _ => self.known(expr).is_none_or(|value| value == Value::Bool(truth)),
        }
    }

    fn known(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Read(access) if column_of(self.ground, access, self.binding) == Some(self.column) => {
                Some(self.value)
            }
            _ => None,
        }
    }
}

fn constant(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Const(value) => Some(*value),
        _ => None,
    }
}
