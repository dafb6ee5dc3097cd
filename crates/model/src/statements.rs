//! The statements of a step, those inside of others included, and what each of them mentions.
//!
//! In: a body. Out: its statements in the order of the text, each before those inside of it; the blocks of a statement, its targets and its outermost expressions. What a block
//! is for (one of two, any, one round after the other) is lost by that: who needs it follows the blocks.

use std::iter;

use crate::control::{Stmt, StmtKind};
use crate::expr::{Access, Domain, Expr};

/// The statements of a body and all inside of them, each before those inside of it.
pub fn statements(body: &[Stmt]) -> impl Iterator<Item = &Stmt> {
    let mut open: Vec<&Stmt> = body.iter().rev().collect();
    iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(next.blocks().into_iter().rev().flat_map(|block| block.iter().rev()));
        Some(next)
    })
}

impl Stmt {
    /// The blocks directly inside of it.
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        match &self.kind {
            StmtKind::If(_, yes, no) => vec![yes, no],
            StmtKind::Either(blocks) => blocks.iter().map(Vec::as_slice).collect(),
            StmtKind::For(_, block) => vec![block],
            StmtKind::Assign(_)
            | StmtKind::AssignAny(..)
            | StmtKind::Await(_)
            | StmtKind::Assert(_)
            | StmtKind::Acquire(_)
            | StmtKind::Release(_) => Vec::new(),
        }
    }

    /// What it stores into, takes or gives back; not what is inside of its blocks.
    pub fn targets(&self) -> Vec<&Access> {
        match &self.kind {
            StmtKind::Assign(stores) => stores.iter().map(|(target, _)| target).collect(),
            StmtKind::AssignAny(target, _) | StmtKind::Acquire(target) | StmtKind::Release(target) => vec![target],
            StmtKind::Await(_) | StmtKind::Assert(_) | StmtKind::If(..) | StmtKind::Either(_) | StmtKind::For(..) => {
                Vec::new()
            }
        }
    }

    /// Its values, tests and ends of ranges; not those in its targets or inside of its blocks.
    pub fn expressions(&self) -> Vec<&Expr> {
        match &self.kind {
            StmtKind::Assign(stores) => stores.iter().map(|(_, value)| value).collect(),
            StmtKind::AssignAny(_, range) => range.iter().flat_map(|(lo, hi)| [lo, hi]).collect(),
            StmtKind::Await(test) | StmtKind::Assert(test) | StmtKind::If(test, ..) => vec![test],
            StmtKind::For(binding, _) => match &binding.domain {
                Domain::Range(lo, hi) => vec![lo, hi],
                Domain::Family(_) | Domain::Enum(_) => Vec::new(),
            },
            StmtKind::Acquire(_) | StmtKind::Release(_) | StmtKind::Either(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;
    use crate::expr::ExprKind;
    use crate::value::Value;

    fn at(place: usize, kind: StmtKind) -> Stmt {
        Stmt { kind, span: Span::new(place, place) }
    }

    #[test]
    fn statements_come_in_the_order_of_the_text() {
        let truth = Expr { kind: ExprKind::Const(Value::Bool(true)), span: Span::default() };
        let wait = |place| at(place, StmtKind::Await(truth.clone()));
        let body = [
            wait(0),
            at(
                1,
                StmtKind::If(
                    truth.clone(),
                    vec![wait(2), wait(3)],
                    vec![at(4, StmtKind::Either(vec![vec![wait(5)], vec![wait(6)]]))],
                ),
            ),
            wait(7),
        ];
        let places: Vec<u32> = statements(&body).map(|statement| statement.span.start).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(statements(&body).flat_map(Stmt::expressions).count(), 7);
    }
}
