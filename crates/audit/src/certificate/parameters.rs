//! Which parameters of the program an expression names.

use model::expr::{Expr, ExprKind};
use model::size::ParameterId;
use model::visit::each_part;

/// Whether one of the parameters that are asked for occurs in an expression.
pub(super) fn names_parameter(expr: &Expr, is_asked: impl Fn(ParameterId) -> bool) -> bool {
    let mut is_named = false;
    each_part(expr, &mut |part| is_named |= matches!(part.kind, ExprKind::Parameter(id) if is_asked(id)));
    is_named
}
