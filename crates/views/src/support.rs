//! On how many processes a step depends, besides its mover.
//!
//! In: an action. Out: bounds that show in its text: how many processes decide its quantifiers, one each; and at the contents of how many
//! processes, named by cells, it looks. A state can be cut down to these processes without disabling the step.

use model::control::{Action, Stmt, StmtKind, TextOwner};
use model::expr::{Access, Expr, ExprKind, Whose};
use model::statements::statements;
use model::visit::each_part;

use crate::fragment::{n_witnesses, n_witnesses_of};
use crate::layout::{Layout, is_over};

/// On how many processes a step depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// Those that decide quantifiers.
    pub witnesses: usize,
    /// Those whose contents matter; `None` where there is no bound.
    pub looked_at: Option<usize>,
}

/// On how many processes an action depends.
pub fn support(layout: &Layout, action: &Action) -> Support {
    let family = layout.family;
    let witnesses = action.guard.as_ref().map_or(0, |guard| n_witnesses(family, guard));
    let looked_at = action.guard.as_ref().map_or(Some(0), |guard| named(layout, &[guard], &[]));
    Support {
        witnesses: witnesses + n_witnesses_of(family, &action.body),
        looked_at: sum(looked_at, body(layout, &action.body)),
    }
}

fn sum(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    Some(one? + other?)
}

fn body(layout: &Layout, statements: &[Stmt]) -> Option<usize> {
    let most = |blocks: &[&Vec<Stmt>]| {
        blocks.iter().map(|block| body(layout, block)).try_fold(0, |most: usize, one| Some(most.max(one?)))
    };
    statements.iter().try_fold(0, |total, statement| {
        let one = match &statement.kind {
            StmtKind::Assign(stores) => {
                let values: Vec<&Expr> = stores.iter().map(|(_, value)| value).collect();
                let targets: Vec<&Expr> = stores.iter().flat_map(|(target, _)| parts(target)).collect();
                named(layout, &[values, targets].concat(), &[])
            }
            StmtKind::AssignAny(target, range) => {
                let ends = range.iter().flat_map(|(lo, hi)| [lo, hi]);
                named(layout, &ends.chain(parts(target)).collect::<Vec<_>>(), &[])
            }
            StmtKind::Await(test) | StmtKind::Assert(test) => named(layout, &[test], &[]),
            StmtKind::Acquire(target) | StmtKind::Release(target) => named(layout, &parts(target), &[target]),
            StmtKind::If(test, yes, no) => sum(named(layout, &[test], &[]), most(&[yes, no])),
            StmtKind::Either(blocks) => most(&blocks.iter().collect::<Vec<_>>()),
            // Inside, contents are guessed.
            StmtKind::For(binding, _) if is_over(&binding.domain, layout.family) => Some(0),
            StmtKind::For(_, block) => body(layout, block).filter(|&looked_at| looked_at == 0),
        };
        sum(Some(total), one)
    })
}

/// The expressions within an access.
fn parts(access: &Access) -> Vec<&Expr> {
    let whose = match &access.whose {
        Whose::Of(who) => Some(&**who),
        _ => None,
    };
    whose.into_iter().chain(&access.indices).collect()
}

/// How many processes, named by something else than a variable of a quantifier or the mover, are looked at by expressions that are evaluated
/// in one state, and by accesses.
fn named(layout: &Layout, expressions: &[&Expr], accesses: &[&Access]) -> Option<usize> {
    let mut named = Named { layout, found: Vec::new(), is_bounded: true };
    accesses.iter().for_each(|access| named.access(access));
    for expr in expressions {
        each_part(expr, &mut |part| match &part.kind {
            ExprKind::Read(access) => named.access(access),
            ExprKind::At { who, .. } => named.process(who),
            _ => {}
        });
    }
    named.is_bounded.then_some(named.found.len())
}

struct Named<'a> {
    layout: &'a Layout,
    found: Vec<Expr>,
    is_bounded: bool,
}

impl Named<'_> {
    fn process(&mut self, who: &Expr) {
        if matches!(who.kind, ExprKind::Myself | ExprKind::Bound(_)) || self.found.contains(who) {
            return;
        }
        each_part(who, &mut |part| self.is_bounded &= !matches!(part.kind, ExprKind::Bound(_)));
        self.found.push(who.clone());
    }

    fn access(&mut self, access: &Access) {
        if let Whose::Of(who) = &access.whose {
            self.process(who);
        }
        let row = self.layout.rows.get(&access.var);
        for (dimension, index) in access.indices.iter().enumerate() {
            match &index.kind {
                ExprKind::IndexOf(who) => self.process(who),
                // A process that the text names by a number.
                _ if row == Some(&dimension) => self.process(index),
                _ => {}
            }
        }
    }
}

/// Whether a step of a process of the family changes nothing but its own local state: nobody else's view of anything changes.
pub fn is_private(layout: &Layout, action: &Action) -> bool {
    action.scope == TextOwner::Family(layout.family) && writes_own(layout, &action.body)
}

fn writes_own(layout: &Layout, body: &[Stmt]) -> bool {
    let is_own = |target: &Access| match &target.whose {
        Whose::Mine => true,
        Whose::Shared => {
            let dimension = layout.rows.get(&target.var);
            let index = dimension.and_then(|&dimension| target.indices.get(dimension));
            index.is_some_and(
                |index| matches!(&index.kind, ExprKind::IndexOf(who) if matches!(who.kind, ExprKind::Myself)),
            )
        }
        Whose::Of(who) => matches!(who.kind, ExprKind::Myself),
        Whose::Frame => false,
    };
    statements(body).flat_map(Stmt::targets).all(is_own)
}
