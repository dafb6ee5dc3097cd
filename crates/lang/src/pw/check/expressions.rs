//! Expressions of the syntax tree to expressions of the Model.

use base::{Diagnostic, Span};
use model::expr::{BinaryOp as ModelOp, Expr, ExprKind};
use model::types::EnumId;
use model::value::Value;

use super::{Checker, MAX_DEPTH, MAX_NODES, Scope, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast::{self, Extremum, UnaryOp};

impl<'a> Checker<'a> {
    /// What an expression means. `want` is the type that its surroundings prefer: it decides between values of different
    /// enumerations that have one name, and nothing else; the caller converts.
    pub fn value(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>, want: Option<Ty>) -> Typed {
        if !self.may_descend(expr.span) {
            return self.poison(expr.span);
        }
        self.depth += 1;
        let typed = self.value_inside(expr, scope, want);
        self.depth -= 1;
        typed
    }

    /// Whether the expression is neither too deep nor too large; reports the first that is.
    pub(super) fn may_descend(&mut self, span: Span) -> bool {
        self.n_nodes += 1;
        let message = if self.depth >= MAX_DEPTH {
            format!("this expression is nested more than {MAX_DEPTH} levels deep, definitions expanded")
        } else if self.n_nodes > MAX_NODES {
            format!("up to here, the expressions have more than {MAX_NODES} parts, definitions expanded")
        } else {
            return true;
        };
        if !std::mem::replace(&mut self.is_too_large, true) {
            let place = self.expanding.first().map_or(span, |outermost| outermost.used_at);
            let diagnostic = Diagnostic::error(code::EXPRESSION_TOO_LARGE, place, message);
            self.diagnostics.push(diagnostic.help("use fewer definitions inside definitions"));
        }
        false
    }

    /// A truth value.
    #[inline(never)]
    pub fn condition(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Expr {
        let typed = self.value(expr, scope, Some(Ty::Bool));
        self.need_condition(typed)
    }

    /// A number.
    pub fn number(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Expr {
        let typed = self.value(expr, scope, Some(Ty::Int));
        self.need_number(typed)
    }

    fn value_inside(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>, want: Option<Ty>) -> Typed {
        use ast::ExprKind::*;
        let span = expr.span;
        match &expr.kind {
            Bool(truth) => self.constant_of(Value::Bool(*truth), Ty::Bool, span),
            Int(number) => self.constant_of(Value::Int(*number), Ty::Int, span),
            None => self.none(want, span),
            Name(_) | Index { .. } | Field { .. } => {
                let path = self.path(expr, scope, want);
                self.path_value(path, span)
            }
            At { process, places } => self.at(process.as_deref(), places, scope, span),
            Star => self.misplaced(span, "`*` stands for all processes only in `P[*]`"),
            Unary { op, op_span, operand } => self.unary((*op, *op_span), operand, scope, span),
            Binary { op, op_span, left, right } => self.binary((*op, *op_span), (left, right), scope, span),
            If { condition, then, otherwise } => self.choice((condition, then, otherwise), scope, want, span),
            Quantified { quantifier, binders, body } => self.quantified(*quantifier, (binders, body), scope, span),
            Extremum { extremum, operands } => self.extremum(*extremum, operands, scope, span),
            Apply { name, arguments } => {
                let path = self.apply(name, arguments, scope, want);
                self.path_value(path, span)
            }
            // Elaboration has made single values of structs.
            Record { .. } => self.misplaced(span, "a struct stands only where one is assigned, sent or compared"),
            AsPid { operand, family } => self.as_pid(operand, family.as_ref(), scope, span),
            In { .. } | Set(_) => self.misplaced(span, "a set stands after `in`, or is assigned to a set"),
            Array(_) | Repeat { .. } | ByIndex { .. } => {
                self.misplaced(span, "an array by its elements is an initial value only")
            }
        }
    }

    pub(super) fn constant_of(&mut self, value: Value, ty: Ty, span: Span) -> Typed {
        Typed { expr: self.node(ExprKind::Const(value), span), ty }
    }

    fn misplaced(&mut self, span: Span, message: &str) -> Typed {
        self.report(Diagnostic::error(code::NO_VALUE, span, message));
        self.poison(span)
    }

    /// `none`: nobody, or a value of an enumeration, as its surroundings prefer.
    fn none(&mut self, want: Option<Ty>, span: Span) -> Typed {
        let candidates = self.symbols.enum_values.get("none").cloned().unwrap_or_default();
        match want {
            Some(Ty::Enum(id)) if candidates.iter().any(|&(of, _)| of == id) => {
                self.enum_value("none", &candidates, want, span)
            }
            Some(ty) if ty.is_process() => self.constant_of(Value::None, Ty::None, span),
            _ if candidates.is_empty() => self.constant_of(Value::None, Ty::None, span),
            _ => {
                self.report_ambiguous("none", &candidates, span);
                self.poison(span)
            }
        }
    }

    /// A value of an enumeration by its bare name.
    pub(super) fn enum_value(
        &mut self,
        name: &str,
        candidates: &[(EnumId, u32)],
        want: Option<Ty>,
        span: Span,
    ) -> Typed {
        let preferred = candidates.iter().find(|&&(of, _)| want == Some(Ty::Enum(of)));
        match (preferred, candidates) {
            (Some(&(of, at)), _) | (None, &[(of, at)]) => self.constant_of(Value::Enum(of, at), Ty::Enum(of), span),
            _ => {
                self.report_ambiguous(name, candidates, span);
                self.poison(span)
            }
        }
    }

    fn report_ambiguous(&mut self, name: &str, candidates: &[(EnumId, u32)], span: Span) {
        let mut diagnostic =
            Diagnostic::error(code::AMBIGUOUS_VALUE, span, format!("`{name}` may mean several things here"));
        for &(of, _) in candidates {
            let of = &self.model.enums[of].name;
            diagnostic = diagnostic.suggest(format!("the value of `{of}`"), span, format!("{of}.{name}"));
        }
        self.report(diagnostic);
    }

    fn unary(&mut self, op: (UnaryOp, Span), operand: &'a ast::Expr, scope: &Scope<'a>, span: Span) -> Typed {
        match op.0 {
            UnaryOp::Not => {
                let operand = self.condition(operand, scope);
                Typed::new(self.node(ExprKind::Not(Box::new(operand)), span), Ty::Bool)
            }
            UnaryOp::Negate => {
                let operand = self.number(operand, scope);
                Typed::new(self.node(ExprKind::Negate(Box::new(operand)), span), Ty::Int)
            }
            UnaryOp::Always | UnaryOp::Eventually | UnaryOp::Next => {
                self.report_temporal(op.1);
                self.poison(span)
            }
        }
    }

    /// Reports a temporal operator where only the present state is looked at.
    pub(super) fn report_temporal(&mut self, op_span: Span) {
        let message = "a temporal operator stands only in a `property`, and not inside a comparison or `count`";
        let diagnostic = Diagnostic::error(code::MISPLACED_TEMPORAL, op_span, message);
        self.report(
            diagnostic.help("an `invariant` already speaks of every state; for runs, write `property NAME: …;`"),
        );
    }

    /// `if c then a else b`: both sides are brought to one type.
    fn choice(
        &mut self,
        (condition, then, otherwise): (&'a ast::Expr, &'a ast::Expr, &'a ast::Expr),
        scope: &Scope<'a>,
        want: Option<Ty>,
        span: Span,
    ) -> Typed {
        let test = self.condition(condition, scope);
        let (yes, no) = self.pair(then, otherwise, scope, want);
        let (yes, no, ty) = match (yes.ty, no.ty) {
            (Ty::Poison, _) | (_, Ty::Poison) => return self.poison(span),
            (a, b) if a == b => (yes.expr, no.expr, a),
            (a, b) if a.is_process() && b.is_process() => match join_processes(a, b) {
                Some(ty) => (yes.expr, no.expr, ty),
                None => return self.no_common_type(&yes, &no, span),
            },
            (Ty::Int, Ty::None) | (Ty::None, Ty::Int) => return self.choice_of_none(test, (yes, no), want, span),
            (a, b) if (a == Ty::Int || a.is_process()) && (b == Ty::Int || b.is_process()) => {
                (self.need_number(yes), self.need_number(no), Ty::Int)
            }
            _ => return self.no_common_type(&yes, &no, span),
        };
        let kind = ExprKind::If(Box::new(test), Box::new(yes), Box::new(no));
        Typed::new(self.node(kind, span), ty)
    }

    /// `if c then 0 else none`: a number beside `none` is a process.
    fn choice_of_none(&mut self, test: Expr, (yes, no): (Typed, Typed), want: Option<Ty>, span: Span) -> Typed {
        let family = want.and_then(Ty::family).or_else(|| self.one_family());
        let Some(family) = family else { return self.no_common_type(&yes, &no, span) };
        match (self.need_process(yes, family), self.need_process(no, family)) {
            (Some(yes), Some(no)) => {
                let kind = ExprKind::If(Box::new(test), Box::new(yes), Box::new(no));
                Typed::new(self.node(kind, span), Ty::PidOrNone(family))
            }
            _ => self.poison(span),
        }
    }

    fn no_common_type(&mut self, yes: &Typed, no: &Typed, span: Span) -> Typed {
        let (yes_is, no_is) = (self.describe(yes.ty), self.describe(no.ty));
        let diagnostic =
            Diagnostic::error(code::WRONG_TYPE, span, "the two sides of `if … then … else` have different types");
        self.report(diagnostic.note(yes.expr.span, yes_is).note(no.expr.span, no_is));
        self.poison(span)
    }

    /// Two expressions that are about to meet: the type of one decides names of the other that may mean several things.
    pub(super) fn pair(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        scope: &Scope<'a>,
        want: Option<Ty>,
    ) -> (Typed, Typed) {
        if self.is_open(left, scope) {
            let right = self.value(right, scope, want);
            let left = self.value(left, scope, Some(right.ty).filter(|&ty| ty != Ty::Poison).or(want));
            (left, right)
        } else {
            let left = self.value(left, scope, want);
            let right = self.value(right, scope, Some(left.ty).filter(|&ty| ty != Ty::Poison).or(want));
            (left, right)
        }
    }

    /// Whether the expression is a name whose meaning depends on its surroundings.
    fn is_open(&self, expr: &ast::Expr, scope: &Scope<'a>) -> bool {
        match &expr.kind {
            ast::ExprKind::None => true,
            ast::ExprKind::Name(name) => {
                let n_values = self.symbols.enum_values.get(&*name.name).map_or(0, Vec::len);
                n_values > 1 && self.lookup(&name.name, scope).is_none()
            }
            ast::ExprKind::If { then, otherwise, .. } => self.is_open(then, scope) || self.is_open(otherwise, scope),
            _ => false,
        }
    }

    fn extremum(&mut self, extremum: Extremum, operands: &'a [ast::Expr], scope: &Scope<'a>, span: Span) -> Typed {
        let op = match extremum {
            Extremum::Min => ModelOp::Min,
            Extremum::Max => ModelOp::Max,
        };
        let mut result: Option<Expr> = None;
        for operand in operands {
            let operand = self.number(operand, scope);
            result = Some(match result {
                None => operand,
                Some(so_far) => self.node(ExprKind::Binary(op, Box::new(so_far), Box::new(operand)), span),
            });
        }
        result.map_or_else(|| self.poison(span), |expr| Typed::new(expr, Ty::Int))
    }

    /// `e as pid`: a number that is claimed to be a process, which the step checks.
    fn as_pid(
        &mut self,
        operand: &'a ast::Expr,
        family: Option<&'a ast::Ident>,
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let operand = self.value(operand, scope, None);
        let Some(family) = self.pid_family(family, span) else { return self.poison(span) };
        if operand.ty == Ty::Poison {
            return operand;
        }
        let ty = match operand.ty {
            Ty::PidOrNone(_) | Ty::Owner | Ty::None => Ty::PidOrNone(family),
            _ => Ty::Pid(family),
        };
        match self.need_process(operand, family) {
            Some(who) => Typed::new(Expr { span, ..who }, ty),
            None => self.poison(span),
        }
    }
}

/// The type that holds the processes of both.
fn join_processes(a: Ty, b: Ty) -> Option<Ty> {
    match (a.family(), b.family()) {
        (Some(left), Some(right)) if left != right => None,
        (Some(_), Some(_)) => Some(if matches!(a, Ty::Pid(_)) { b } else { a }),
        _ if a == Ty::Owner || b == Ty::Owner => Some(Ty::Owner),
        (Some(family), None) | (None, Some(family)) => Some(Ty::PidOrNone(family)),
        (None, None) => Some(Ty::None),
    }
}
