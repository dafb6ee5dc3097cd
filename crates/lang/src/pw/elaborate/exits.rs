//! `atomic` blocks with several exits: jumps out of one step.
//!
//! In: the elaborated block of an `atomic` in which `goto`, `break` or `continue` stand. Out: an `either` with a branch for each exit, and one for the
//! end of the block where control can come to it. A branch is one step: what is done on the way to its exit, with an `await` for each test on
//! the way. An `await` that is false ends its path, so exactly those steps remain that the block has, each with its exit.

use base::{Diagnostic, Span};

use super::{Elaborator, names};
use crate::codes::check as code;
use crate::pw::ast::{Block, Expr, Statement, StatementKind};

/// More exits than this are refused: each is a copy of what leads to it.
const MOST_EXITS: usize = 32;

/// What is done on the way to an exit, and the exit.
struct Leaving {
    body: Vec<Statement>,
    exit: Statement,
}

/// The ways through a block.
struct Ways {
    /// To its exits.
    leaving: Vec<Leaving>,
    /// To its end, if there is one.
    through: Option<Vec<Statement>>,
}

impl Elaborator<'_> {
    /// The statement that an `atomic` with this elaborated block is.
    pub(super) fn one_step(&mut self, block: Block, span: Span) -> StatementKind {
        if !block.statements.iter().any(leaves) {
            return StatementKind::Atomic(block);
        }
        let Ways { leaving, through } = ways(&block.statements);
        if leaving.len() > MOST_EXITS {
            let message = format!("this step has {} exits; at most {MOST_EXITS} are followed", leaving.len());
            self.diagnostics.push(Diagnostic::error(code::NOT_IN_ATOMIC, span, message));
            return StatementKind::Skip;
        }
        let step = |mut body: Vec<Statement>| {
            if body.is_empty() {
                body.push(names::statement(StatementKind::Skip, span));
            }
            names::statement(StatementKind::Atomic(names::block(body, span)), span)
        };
        let mut branches: Vec<Block> = Vec::new();
        for Leaving { body, exit } in leaving {
            branches.push(names::block(vec![step(body), exit], span));
        }
        branches.extend(through.map(|body| names::block(vec![step(body)], span)));
        StatementKind::Either { branches }
    }
}

/// Does something more before each exit of a block.
pub(super) fn before_exits(block: &mut Block, more: &Statement) {
    let mut statements = Vec::new();
    for mut statement in std::mem::take(&mut block.statements) {
        match &mut statement.kind {
            StatementKind::Goto(_) | StatementKind::Break | StatementKind::Continue => statements.push(more.clone()),
            StatementKind::If { then, otherwise, .. } => {
                before_exits(then, more);
                otherwise.iter_mut().for_each(|block| before_exits(block, more));
            }
            StatementKind::Either { branches } => branches.iter_mut().for_each(|block| before_exits(block, more)),
            StatementKind::Atomic(inner) => before_exits(inner, more),
            _ => {}
        }
        statements.push(statement);
    }
    block.statements = statements;
}

/// Whether control may leave the step within a statement, where that can be followed: not out of a `for`.
fn leaves(statement: &Statement) -> bool {
    let any = |block: &Block| block.statements.iter().any(leaves);
    match &statement.kind {
        StatementKind::Goto(_) | StatementKind::Break | StatementKind::Continue => true,
        StatementKind::If { then, otherwise, .. } => any(then) || otherwise.as_ref().is_some_and(any),
        StatementKind::Either { branches } => branches.iter().any(any),
        StatementKind::Atomic(block) => any(block),
        _ => false,
    }
}

fn ways(statements: &[Statement]) -> Ways {
    let (mut leaving, mut so_far) = (Vec::new(), Vec::new());
    for statement in statements {
        if !leaves(statement) {
            so_far.push(statement.clone());
            continue;
        }
        let span = statement.span;
        // Each alternative is what has to hold for it, and its ways.
        let alternatives: Vec<(Option<Expr>, Ways)> = match &statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                let otherwise = otherwise.as_ref().map_or(&[][..], |block| &block.statements);
                vec![
                    (Some(condition.clone()), ways(&then.statements)),
                    (Some(names::not(condition.clone())), ways(otherwise)),
                ]
            }
            StatementKind::Either { branches } => branches.iter().map(|one| (None, ways(&one.statements))).collect(),
            StatementKind::Atomic(block) => vec![(None, ways(&block.statements))],
            _ => {
                leaving.push(Leaving { body: so_far, exit: statement.clone() });
                return Ways { leaving, through: None };
            }
        };
        let mut going_on: Vec<Block> = Vec::new();
        for (condition, ways) in alternatives {
            let wait = condition.map(|condition| names::statement(StatementKind::Await(condition), span));
            let led = |body: Vec<Statement>| wait.iter().cloned().chain(body).collect::<Vec<Statement>>();
            for way in ways.leaving {
                let body = so_far.iter().cloned().chain(led(way.body)).collect();
                leaving.push(Leaving { body, exit: way.exit });
            }
            going_on.extend(ways.through.map(|body| names::block(led(body), span)));
        }
        match going_on.len() {
            0 => return Ways { leaving, through: None },
            1 => so_far.extend(going_on.into_iter().flat_map(|block| block.statements)),
            _ => so_far.push(names::statement(StatementKind::Either { branches: going_on }, span)),
        }
    }
    Ways { leaving, through: Some(so_far) }
}
