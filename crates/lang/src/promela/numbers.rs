//! The numbers of places as SPIN gives them: `pc_value` is one of them.
//!
//! In: the body of a proctype. Out: a number in each statement, counted as SPIN reads: the parts of a block before the block itself. A choice has one
//! more for its end, a loop two, and a jump with a label that matters one for a step before it. The end of the text has the last one.

use super::program::{Stmt, StmtKind};

/// Numbers the statements of a body; the number of its end.
pub(super) fn count(body: &mut [Stmt]) -> usize {
    let mut next = 1;
    number(body, &mut next);
    next
}

fn number(body: &mut [Stmt], next: &mut usize) {
    for statement in body {
        match &mut statement.kind {
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter_mut().for_each(|option| number(option, next));
            }
            StmtKind::Atomic(inner) | StmtKind::DStep(inner) | StmtKind::Block(inner) => number(inner, next),
            StmtKind::Unless(main, escape) => {
                number(main, next);
                number(escape, next);
            }
            StmtKind::Op(_) | StmtKind::Else | StmtKind::Goto(_) | StmtKind::Break => {}
        }
        statement.number = *next;
        *next += n_numbers(statement);
    }
}

/// How many numbers a statement takes, besides those of its parts.
fn n_numbers(statement: &Stmt) -> usize {
    match &statement.kind {
        StmtKind::If(_) | StmtKind::Unless(..) => 2,
        StmtKind::Do(_) => 3,
        StmtKind::Goto(_) | StmtKind::Break if has_role(statement) => 2,
        _ => 1,
    }
}

fn has_role(statement: &Stmt) -> bool {
    let is_role = |label: &String| ["end", "progress", "accept"].iter().any(|role| label.starts_with(role));
    statement.labels.iter().any(is_role)
}

/// The number of the place where a jump is a step.
pub(super) fn of_jump(statement: &Stmt) -> usize {
    statement.number + usize::from(has_role(statement))
}

/// The number of the place behind a choice, a loop or an `unless`.
pub(super) fn behind(statement: &Stmt) -> usize {
    statement.number + n_numbers(statement) - 1
}
