//! What views say of all processes: the checker's reading of the truth values at the end of their shared part.
//!
//! In: presences, each of which is about processes with one of some values in a column. Out: whether they are presences at all; what may be said of
//! them where a program starts, and after a step. Nothing has to be known about why they are shown: each is a function of the state.

use evidence::views::{Item, LocalColumn, Presence};
use model::control::{Action, Stmt, StmtKind};
use model::expr::{Expr, ExprKind};
use model::value::Value;
use model::variable::VarId;

use super::scene::Scene;
use super::text::{Text, access_parts, parts};
use crate::certificate::{CertificateError, Outcome};
use evidence::views::ViewColumn;

/// Whether the presences of a proof are presences.
pub(super) fn check(text: &Text<'_>) -> Outcome<()> {
    for Presence { column, is } in &text.present {
        let is_cell = matches!(text.local.get(*column), Some(LocalColumn::Own(_) | LocalColumn::Element(..)));
        let is_hidden = text.hidden.iter().any(|rule| rule.what == ViewColumn::Local(*column));
        let is_plain = |item: &Item| match item {
            Item::Value(Value::Process(_)) => false,
            Item::Value(_) => true,
            Item::Slot(_) | Item::Place(_) | Item::Taken(_) | Item::Hidden => false,
        };
        if !is_cell || is_hidden || !is.iter().all(is_plain) || variable(text, *column).is_none() {
            return Err(CertificateError::Malformed(
                "it says of all processes what views do not show of one".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The variable that a column shows; `None` where it is the counter of a loop.
fn variable(text: &Text<'_>, column: usize) -> Option<VarId> {
    let cell = text.cell_of(text.model.families[text.family].first, text.local[column])?;
    let var = text.model.cells[cell].var;
    text.model.loops.iter().all(|counted| counted.counter != var).then_some(var)
}

/// Whether a process that is seen is one of those that the presence is about.
fn shows(text: &Text<'_>, scene: &Scene, presence: usize) -> bool {
    let Presence { column, is } = &text.present[presence];
    scene.slots.iter().flatten().any(|local| is.contains(&local[*column]))
}

/// Whether a scene says that there is such a process.
fn says(text: &Text<'_>, scene: &Scene, presence: usize) -> bool {
    scene.shared[text.said_at(presence)] == Item::Value(Value::Bool(true))
}

/// A process that the scene says is there, and that is not seen, if the action looks at all processes in this respect.
pub(super) fn absent(text: &Text<'_>, scene: &Scene, action: &Action) -> Option<usize> {
    (0..text.present.len()).find(|&presence| {
        says(text, scene, presence) && !shows(text, scene, presence) && looks_at(text, action, presence)
    })
}

/// Whether a scene of one process shows one that the presence is about.
pub(super) fn is_one(text: &Text<'_>, one: &Scene, presence: usize) -> bool {
    shows(text, one, presence)
}

/// Whether a quantifier of an action reads the variable of a presence.
fn looks_at(text: &Text<'_>, action: &Action, presence: usize) -> bool {
    let variable = variable(text, text.present[presence].column);
    let reads = |expr: &Expr| {
        parts(expr).iter().any(|part| matches!(&part.kind, ExprKind::Read(access) if Some(access.var) == variable))
    };
    let asks = |expr: &Expr| {
        parts(expr).iter().any(|part| match &part.kind {
            ExprKind::Quantified(quantified) => reads(&quantified.body),
            _ => false,
        })
    };
    action.guard.as_ref().is_some_and(asks) || block_asks(&action.body, &asks)
}

fn block_asks(block: &[Stmt], asks: &dyn Fn(&Expr) -> bool) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::Assign(stores) => {
            stores.iter().any(|(target, value)| asks(value) || access_parts(target).into_iter().any(asks))
        }
        StmtKind::Await(test) | StmtKind::Assert(test) => asks(test),
        StmtKind::If(test, yes, no) => asks(test) || block_asks(yes, asks) || block_asks(no, asks),
        StmtKind::Either(blocks) => blocks.iter().any(|block| block_asks(block, asks)),
        StmtKind::AssignAny(..) | StmtKind::Acquire(_) | StmtKind::Release(_) | StmtKind::For(..) => false,
    })
}

/// The scene after a step, with everything that may be said of presences then: what was not seen is as it was, unless the step wrote there.
pub(super) fn after(text: &Text<'_>, before: &Scene, after: Scene, wrote_unseen: bool) -> Vec<Scene> {
    let is_shown: Vec<bool> = (0..text.present.len()).map(|presence| shows(text, &after, presence)).collect();
    let mut all = vec![after];
    for (presence, is_shown) in is_shown.into_iter().enumerate() {
        let may_be_unseen = wrote_unseen || says(text, before, presence);
        let is_unseen_for_sure = !wrote_unseen && says(text, before, presence) && !shows(text, before, presence);
        let may = [(true, is_shown || may_be_unseen), (false, !is_shown && !is_unseen_for_sure)];
        let mut more = Vec::new();
        for (said, _) in may.into_iter().filter(|(_, may)| *may) {
            more.extend(all.iter().cloned().map(|mut scene| {
                scene.shared[text.said_at(presence)] = Item::Value(Value::Bool(said));
                scene
            }));
        }
        all = more;
    }
    all
}

/// Whether a scene of seen processes, that all start alike where cells do not start anywhere, has somebody that a presence is about; `None` where
/// that is open.
pub(super) fn at_start(text: &Text<'_>, scene: &Scene, presence: usize, starts_anywhere: bool) -> Option<bool> {
    if shows(text, scene, presence) { Some(true) } else { (!starts_anywhere).then_some(false) }
}
