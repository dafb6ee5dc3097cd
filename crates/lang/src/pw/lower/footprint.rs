//! Which variables an expression reads.

use model::expr::{Domain, Expr, ExprKind, Whose};
use model::variable::VarId;

/// Whether the expression reads one of the variables.
pub(super) fn reads_any(expr: &Expr, vars: &[VarId]) -> bool {
    let reads = |part: &Expr| reads_any(part, vars);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => false,
        ExprKind::Read(access) => {
            let owner_reads = matches!(&access.whose, Whose::Of(who) if reads(who));
            vars.contains(&access.var) || owner_reads || access.indices.iter().any(reads)
        }
        ExprKind::At { who, .. } => reads(who),
        ExprKind::Not(part) | ExprKind::Negate(part) | ExprKind::IndexOf(part) | ExprKind::ToProcess(_, part) => {
            reads(part)
        }
        ExprKind::Binary(_, left, right) => reads(left) || reads(right),
        ExprKind::If(test, yes, no) => reads(test) || reads(yes) || reads(no),
        ExprKind::Quantified(quantified) => {
            let reads_domain = |domain: &Domain| matches!(domain, Domain::Range(lo, hi) if reads(lo) || reads(hi));
            quantified.bindings.iter().any(|binding| reads_domain(&binding.domain))
                || quantified.filter.iter().any(reads)
                || reads(&quantified.body)
        }
    }
}
