//! Loops over the family, inside a step, whose rounds have nothing to do with each other.
//!
//! In: the variable and the body of a loop. Out: whether every round writes only what belongs to the process that it takes, and reads of what
//! rounds write only that part. Then rounds commute: what the loop does to a seen process depends neither on the order nor on unseen
//! processes, and one round for each seen process is all there is to it.

use std::collections::BTreeSet;

use model::control::{Stmt, StmtKind};
use model::expr::{Access, BoundVar, Expr, ExprKind, Whose};
use model::statements::statements;
use model::variable::VarId;
use model::visit::{access_parts, each_part};

use crate::layout::Layout;

/// Whether the rounds of a loop over the family, with this variable and body, have nothing to do with each other.
pub fn is_pointwise(layout: &Layout, taken: BoundVar, body: &[Stmt]) -> bool {
    let mut rounds = Rounds { layout, taken, written: BTreeSet::new(), is_apart: true };
    rounds.targets(body);
    rounds.reads(body);
    rounds.is_apart
}

struct Rounds<'a> {
    layout: &'a Layout,
    taken: BoundVar,
    /// The variables that rounds write.
    written: BTreeSet<VarId>,
    is_apart: bool,
}

impl Rounds<'_> {
    /// Whether an access leads to what belongs to the process that the round takes.
    fn is_of_taken(&self, access: &Access) -> bool {
        let is_taken = |expr: &Expr| matches!(expr.kind, ExprKind::Bound(var) if var == self.taken);
        match (&access.whose, self.layout.rows.get(&access.var)) {
            (Whose::Of(who), None) => is_taken(who),
            (Whose::Shared | Whose::Mine, Some(&dimension)) => { access.indices.get(dimension) }
                .is_some_and(|index| matches!(&index.kind, ExprKind::IndexOf(who) if is_taken(who))),
            _ => false,
        }
    }

    fn target(&mut self, access: &Access) {
        self.is_apart &= self.is_of_taken(access);
        self.written.insert(access.var);
    }

    fn targets(&mut self, body: &[Stmt]) {
        statements(body).flat_map(Stmt::targets).for_each(|target| self.target(target));
    }

    fn read(&mut self, expr: &Expr) {
        let mut is_apart = true;
        each_part(expr, &mut |part| {
            if let ExprKind::Read(access) = &part.kind {
                is_apart &= !self.written.contains(&access.var) || self.is_of_taken(access);
            }
        });
        self.is_apart &= is_apart;
    }

    fn indices(&mut self, target: &Access) {
        let mut parts: Vec<Expr> = Vec::new();
        access_parts(target, &mut |part| parts.push(part.clone()));
        parts.iter().for_each(|part| self.read(part));
    }

    fn reads(&mut self, body: &[Stmt]) {
        for statement in body {
            match &statement.kind {
                StmtKind::Assign(stores) => stores.iter().for_each(|(target, value)| {
                    self.indices(target);
                    self.read(value);
                }),
                StmtKind::AssignAny(target, range) => {
                    self.indices(target);
                    range.iter().for_each(|(lo, hi)| {
                        self.read(lo);
                        self.read(hi);
                    });
                }
                StmtKind::Acquire(target) | StmtKind::Release(target) => self.indices(target),
                StmtKind::Await(test) | StmtKind::Assert(test) => self.read(test),
                StmtKind::If(test, yes, no) => {
                    self.read(test);
                    self.reads(yes);
                    self.reads(no);
                }
                StmtKind::Either(blocks) => blocks.iter().for_each(|block| self.reads(block)),
                StmtKind::For(binding, block) => {
                    if let model::expr::Domain::Range(lo, hi) = &binding.domain {
                        self.read(lo);
                        self.read(hi);
                    }
                    self.reads(block);
                }
            }
        }
    }
}
