//! Whether the rounds of a loop over the family, inside a step, keep apart: the checker's reading of what a round touches.
//!
//! In: a loop. Out: whether each round writes only cells of the process that it takes, and whether whatever it reads is either such a cell, or a
//! cell of a variable that no round writes. Then a round finds the same whichever rounds were before it, and leaves the same to those after it.

use std::collections::BTreeSet;

use model::control::{Stmt, StmtKind};
use model::expr::{Access, Binding, Domain, Expr, ExprKind, Whose};
use model::variable::VarId;

use super::text::{Text, access_parts, parts};

/// Whether the rounds keep apart.
pub(super) fn keep_apart(text: &Text<'_>, binding: &Binding, block: &[Stmt]) -> bool {
    let (mut written, mut read) = (Vec::new(), Vec::new());
    touched(block, &mut written, &mut read);
    let is_taken = |who: &Expr| who.kind == ExprKind::Bound(binding.var);
    let is_its_own = |access: &Access| match text.rows.get(&access.var) {
        Some(&dimension) => {
            matches!(access.whose, Whose::Shared | Whose::Mine)
                && matches!(&access.indices[dimension].kind, ExprKind::IndexOf(who) if is_taken(who))
        }
        None => matches!(&access.whose, Whose::Of(who) if is_taken(who)),
    };
    let variables: BTreeSet<VarId> = written.iter().map(|access| access.var).collect();
    written.iter().all(|access| is_its_own(access))
        && read.iter().all(|access| is_its_own(access) || !variables.contains(&access.var))
}

/// The accesses that a block writes, and those that it reads.
fn touched<'t>(block: &'t [Stmt], written: &mut Vec<&'t Access>, read: &mut Vec<&'t Access>) {
    for statement in block {
        let mut looked_at: Vec<&Expr> = Vec::new();
        let mut targets: Vec<&Access> = Vec::new();
        match &statement.kind {
            StmtKind::Assign(stores) => {
                for (target, value) in stores {
                    targets.push(target);
                    looked_at.push(value);
                }
            }
            StmtKind::AssignAny(target, range) => {
                targets.push(target);
                looked_at.extend(range.iter().flat_map(|(lo, hi)| [lo, hi]));
            }
            StmtKind::Acquire(target) | StmtKind::Release(target) => targets.push(target),
            StmtKind::Await(test) | StmtKind::Assert(test) => looked_at.push(test),
            StmtKind::If(test, yes, no) => {
                looked_at.push(test);
                touched(yes, written, read);
                touched(no, written, read);
            }
            StmtKind::Either(blocks) => blocks.iter().for_each(|block| touched(block, written, read)),
            StmtKind::For(inner, block) => {
                if let Domain::Range(lo, hi) = &inner.domain {
                    looked_at.extend([&**lo, &**hi]);
                }
                touched(block, written, read);
            }
        }
        looked_at.extend(targets.iter().flat_map(|target| access_parts(target)));
        let reads = looked_at.into_iter().flat_map(parts).filter_map(|part| match &part.kind {
            ExprKind::Read(access) => Some(access),
            _ => None,
        });
        read.extend(reads);
        written.extend(targets);
    }
}

#[cfg(test)]
mod tests {
    use base::SourceFile;
    use model::Model;

    use super::*;

    /// Whether the rounds of the only loop inside a step of the program keep apart.
    fn check(body: &str) -> bool {
        let text = format!(
            "program rounds(N: 2..) {{ shared a: [0..=1; N]; shared b: [0..=1; N]; shared q: pid(P); shared x: 0..=1;
               process P[i in 0..<N] {{ public f: 0..=1; public g: 0..=1; loop {{ s: atomic {{ for k in P {{ {body} }} }} }} }} }}"
        );
        let model: Model = match lang::load(&SourceFile::new("rounds.pw", &text), &[]) {
            Ok(loaded) => loaded.model,
            Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
        };
        let mut text = Text::of_first_family(&model);
        let arrays = text.written.vars.entries().filter(|(_, var)| ["a", "b"].contains(&var.name.as_str()));
        text.rows = arrays.map(|(var, _)| (var, 0)).collect();
        let steps = text.written.actions.iter().flat_map(|action| &action.body);
        let found: Vec<bool> = steps
            .filter_map(|statement| match &statement.kind {
                StmtKind::For(binding, block) => Some(keep_apart(&text, binding, block)),
                _ => None,
            })
            .collect();
        assert_eq!(found.len(), 1, "{body}");
        found[0]
    }

    #[test]
    fn rounds_that_touch_their_own_process_keep_apart() {
        assert!(check("a[k] = 1 - a[k];"));
        assert!(check("a[k] = b[k];"));
        assert!(check("a[k] = b[i];"));
        assert!(check("if x == 1 { a[k] = 0; }"));
    }

    /// What one round writes another one may find.
    #[test]
    fn rounds_that_read_what_others_write_do_not() {
        assert!(!check("a[k] = a[i];"));
        assert!(!check("if a[i] == 0 { a[k] = 1; }"));
        assert!(!check("a[k] = a[q];"));
    }

    /// Cells of others, or of all, may be written by several rounds.
    #[test]
    fn rounds_that_write_elsewhere_do_not() {
        assert!(!check("a[i] = 1;"));
        assert!(!check("a[q] = 1;"));
        assert!(!check("x = 1 - x;"));
    }
}
