//! Expressions: fields of structs, sets, channels, names of `let`.

use base::{Diagnostic, Span};

use super::{Elaborator, names};
use crate::codes::check as code;
use crate::pw::ast::{
    BinaryOp, Binders, Domain, Expr, ExprKind, Ident, Members, Quantifier, Range, RangeEnd, TypeKind,
};

impl Elaborator<'_> {
    /// An expression in terms of plain variables.
    pub(super) fn expr(&mut self, expr: &Expr) -> Expr {
        let kind = match &expr.kind {
            ExprKind::Name(name) => return self.name(name, expr),
            ExprKind::Index { .. } | ExprKind::Field { .. } => return self.path(expr),
            ExprKind::Binary { op, op_span, left, right } => {
                if matches!(op, BinaryOp::Equal | BinaryOp::Unequal)
                    && let Some(compared) = self.compared(*op, left, right, expr.span)
                {
                    return compared;
                }
                let (left, right) = (Box::new(self.expr(left)), Box::new(self.expr(right)));
                ExprKind::Binary { op: *op, op_span: *op_span, left, right }
            }
            ExprKind::In { element, members } => return self.membership(element, members, expr.span),
            ExprKind::Apply { name, arguments } => {
                if let Some(found) = self.asked(name, arguments, expr.span) {
                    return found;
                }
                ExprKind::Apply { name: name.clone(), arguments: self.exprs(arguments) }
            }
            ExprKind::Record { name, .. } => return self.misplaced_record(name, expr),
            ExprKind::Quantified { quantifier, binders, body } => {
                return self.quantified(*quantifier, binders, body, expr.span);
            }
            ExprKind::Unary { op, op_span, operand } => {
                ExprKind::Unary { op: *op, op_span: *op_span, operand: Box::new(self.expr(operand)) }
            }
            ExprKind::AsPid { operand, family } => {
                ExprKind::AsPid { operand: Box::new(self.expr(operand)), family: family.clone() }
            }
            ExprKind::If { condition, then, otherwise } => ExprKind::If {
                condition: Box::new(self.expr(condition)),
                then: Box::new(self.expr(then)),
                otherwise: Box::new(self.expr(otherwise)),
            },
            ExprKind::Extremum { extremum, operands } => {
                ExprKind::Extremum { extremum: *extremum, operands: self.exprs(operands) }
            }
            ExprKind::At { process, places } => {
                let process = process.as_ref().map(|process| Box::new(self.expr(process)));
                ExprKind::At { process, places: places.clone() }
            }
            ExprKind::Array(elements) => ExprKind::Array(self.exprs(elements)),
            ExprKind::Set(elements) => ExprKind::Set(self.exprs(elements)),
            ExprKind::Repeat { value, length } => {
                ExprKind::Repeat { value: Box::new(self.expr(value)), length: Box::new(self.expr(length)) }
            }
            ExprKind::ByIndex { variable, value } => {
                self.bound.push(variable.name.clone());
                let value = Box::new(self.expr(value));
                self.bound.pop();
                ExprKind::ByIndex { variable: variable.clone(), value }
            }
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::None | ExprKind::Star => expr.kind.clone(),
        };
        Expr { kind, span: expr.span }
    }

    pub(super) fn exprs(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn range(&mut self, range: &Range) -> Range {
        Range { low: self.expr(&range.low), high: self.expr(&range.high), ..range.clone() }
    }

    fn name(&mut self, name: &Ident, expr: &Expr) -> Expr {
        if !self.bound.contains(&name.name)
            && let Some((_, value)) = self.lets.iter().rev().find(|(known, _)| *known == name.name)
        {
            return Expr { kind: value.kind.clone(), span: expr.span };
        }
        match self.place(expr) {
            Some(placed) if self.struct_of(&placed.ty).is_some() => self.whole_struct(expr),
            _ => expr.clone(),
        }
    }

    fn path(&mut self, expr: &Expr) -> Expr {
        match (self.channel_part(expr), self.place(expr)) {
            (Some(part), _) => part,
            (None, Some(placed)) if self.struct_of(&placed.ty).is_some() => self.whole_struct(expr),
            (None, Some(placed)) if placed.is_field => self.whole(&placed),
            _ => {
                let kind = match &expr.kind {
                    ExprKind::Index { base, index } => {
                        ExprKind::Index { base: Box::new(self.expr(base)), index: Box::new(self.expr(index)) }
                    }
                    ExprKind::Field { base, field } => {
                        ExprKind::Field { base: Box::new(self.expr(base)), field: field.clone() }
                    }
                    kind => kind.clone(),
                };
                Expr { kind, span: expr.span }
            }
        }
    }

    /// A struct by its fields where a value is needed. Not part of `expr`, whose frames are many in deep expressions.
    #[inline(never)]
    fn misplaced_record(&mut self, name: &Ident, expr: &Expr) -> Expr {
        if self.structs.contains_key(&*name.name) {
            return self.whole_struct(expr);
        }
        let message = format!("there is no struct `{}`", name.name);
        self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, name.span, message));
        names::truth(false, expr.span)
    }

    fn whole_struct(&mut self, expr: &Expr) -> Expr {
        let message = "a struct as a whole can be assigned, sent and compared with `==`";
        let diagnostic = Diagnostic::error(code::BAD_STRUCT, expr.span, message);
        self.diagnostics.push(diagnostic.help("name one of its fields"));
        names::truth(false, expr.span)
    }

    /// `s == t` and `s == {a, b}` where these are sets.
    #[inline(never)]
    fn compared_sets(&mut self, left: &Expr, right: &Expr, span: Span) -> Option<Expr> {
        let set = self.set(left).or_else(|| self.set(right))?;
        let domain = self.domain_of(&set.ty)?;
        let ty = set.ty.clone();
        let mut inside = |side: &Expr| {
            if let Some(placed) = self.set(side) {
                return (!self.differ(&ty, &placed.ty)).then(|| self.member(&placed, names::name("k@", span)));
            }
            let ExprKind::Set(elements) = &side.kind else { return None };
            let is = |element| names::binary(BinaryOp::Equal, names::name("k@", span), element, span);
            Some(names::combined(BinaryOp::Or, self.exprs(elements).into_iter().map(is).collect(), span))
        };
        let (Some(left), Some(right)) = (inside(left), inside(right)) else {
            let message = "a set is compared with a set of the same type, or with `{…}`";
            self.diagnostics.push(Diagnostic::error(code::BAD_SET, span, message));
            return Some(names::truth(false, span));
        };
        let names = vec![Ident { name: "k@".to_owned(), span }];
        let binders = Binders { names, distinct: false, other_than: Vec::new(), domain: Some(domain), span };
        let body = Box::new(names::binary(BinaryOp::Iff, left, right, span));
        let kind = ExprKind::Quantified { quantifier: Quantifier::ForAll, binders: Box::new(binders), body };
        Some(Expr { kind, span })
    }

    /// `a == b` where these are structs or sets.
    fn compared(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Option<Expr> {
        if let Some(equal) = self.compared_sets(left, right, span) {
            return Some(if op == BinaryOp::Equal { equal } else { names::not(equal) });
        }
        let ty = [left, right].into_iter().find_map(|side| match &side.kind {
            ExprKind::Apply { name, .. } | ExprKind::Record { name, .. } if self.structs.contains_key(&*name.name) => {
                let kind = TypeKind::Named(name.clone());
                Some(crate::pw::ast::Type { kind, span: name.span })
            }
            _ => self.place(side).map(|placed| placed.ty).filter(|ty| self.struct_of(ty).is_some()),
        })?;
        if self.leaves(&ty).iter().any(|leaf| matches!(leaf.ty.kind, TypeKind::Array { .. })) {
            let message = "structs with arrays or sets inside are not compared as a whole";
            self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, span, message));
            return Some(names::truth(false, span));
        }
        let (Some(left), Some(right)) = (self.split(left, &ty), self.split(right, &ty)) else {
            return Some(names::truth(false, span));
        };
        let parts = left.into_iter().zip(right).map(|(left, right)| names::binary(BinaryOp::Equal, left, right, span));
        let equal = names::combined(BinaryOp::And, parts.collect(), span);
        Some(if op == BinaryOp::Equal { equal } else { names::not(equal) })
    }

    fn membership(&mut self, element: &Expr, members: &Members, span: Span) -> Expr {
        let member = self.expr(element);
        match members {
            Members::Range(range) => {
                let (low, high) = (self.expr(&range.low), self.expr(&range.high));
                let below = if range.end == RangeEnd::Included { BinaryOp::LessEqual } else { BinaryOp::Less };
                let above = names::binary(BinaryOp::LessEqual, low, member.clone(), span);
                names::binary(BinaryOp::And, above, names::binary(below, member, high, span), span)
            }
            Members::Set(set) => match (&set.kind, self.set(set)) {
                (_, Some(placed)) => Expr { span, ..self.member(&placed, member) },
                (ExprKind::Set(elements), None) => {
                    let equal = |other| names::binary(BinaryOp::Equal, member.clone(), other, span);
                    let parts = self.exprs(elements).into_iter().map(equal).collect();
                    names::combined(BinaryOp::Or, parts, span)
                }
                (_, None) => {
                    let message = "only a set, `{…}` or a range can stand after `in`";
                    self.diagnostics.push(Diagnostic::error(code::BAD_SET, set.span, message));
                    names::truth(false, span)
                }
            },
        }
    }

    /// `len(c)`, `full(c)`, `empty(c)`, `empty(s)`, `size(s)`, if the program has no definition of that name.
    fn asked(&mut self, name: &Ident, arguments: &[Expr], span: Span) -> Option<Expr> {
        if self.defines.contains(&&*name.name) {
            return None;
        }
        if self.structs.contains_key(&*name.name) {
            return Some(self.whole_struct(&Expr { kind: ExprKind::None, span }));
        }
        let [of] = arguments else { return None };
        match &*name.name {
            "len" | "full" | "empty" if self.channel_of(of).is_some() => self.channel_query(&name.name, of, span),
            "size" | "empty" => {
                let Some(set) = self.set(of) else { return Some(self.misasked(name, of, span)) };
                let k = Ident { name: "k@".to_owned(), span };
                let member = self.member(&set, names::name("k@", span));
                let domain = self.domain_of(&set.ty)?;
                let binders =
                    Binders { names: vec![k], distinct: false, other_than: Vec::new(), domain: Some(domain), span };
                let (quantifier, body) = match &*name.name {
                    "size" => (Quantifier::Count, member),
                    _ => (Quantifier::ForAll, names::not(member)),
                };
                let kind = ExprKind::Quantified { quantifier, binders: Box::new(binders), body: Box::new(body) };
                Some(Expr { kind, span })
            }
            "len" | "full" => Some(self.misasked(name, of, span)),
            _ => None,
        }
    }

    /// Reports `len`, `full`, `empty` or `size` of something that has none.
    fn misasked(&mut self, name: &Ident, of: &Expr, span: Span) -> Expr {
        let is_number = matches!(&*name.name, "len" | "size");
        let (message, other) = match &*name.name {
            "size" if self.channel_of(of).is_some() => ("`size` is asked of sets, and this is a channel", "len"),
            "size" => ("`size` is asked of sets, and this is none", ""),
            "len" if self.set(of).is_some() => ("`len` is asked of channels, and this is a set", "size"),
            "len" => ("`len` is asked of channels, and this is none", ""),
            "full" => ("`full` is asked of channels, and this is none", ""),
            _ => ("`empty` is asked of channels and sets, and this is neither", ""),
        };
        let diagnostic = Diagnostic::error(code::BAD_SET, of.span, message);
        self.diagnostics.push(match other {
            "" => diagnostic,
            other => diagnostic.suggest(format!("write `{other}`"), name.span, other),
        });
        if is_number { names::number(0, span) } else { names::truth(false, span) }
    }

    fn quantified(&mut self, quantifier: Quantifier, binders: &Binders, body: &Expr, span: Span) -> Expr {
        let mut binders = binders.clone();
        binders.other_than = self.exprs(&binders.other_than);
        binders.domain = binders.domain.as_ref().map(|domain| self.values_of(domain));
        let set = match &binders.domain {
            Some(Domain::Family(name)) => self.set(&names::name(name.name.clone(), name.span)),
            Some(Domain::Set(set)) => {
                let found = self.set(set);
                if found.is_none() {
                    let message = "quantifiers range over families, enumerations, numbers and sets";
                    self.diagnostics.push(Diagnostic::error(code::BAD_SET, set.span, message));
                    binders.domain = None;
                }
                found
            }
            _ => None,
        };
        match (&set, &binders.domain) {
            (Some(set), _) => binders.domain = self.domain_of(&set.ty),
            (None, Some(Domain::Range(range))) => binders.domain = Some(Domain::Range(self.range(&range.clone()))),
            _ => {}
        }
        self.refuse_capture(&binders.names);
        let n_bound = self.bound.len();
        self.bound.extend(binders.names.iter().map(|name| name.name.clone()));
        let mut body = self.expr(body);
        self.bound.truncate(n_bound);
        if let Some(set) = set {
            let names = binders.names.iter().map(|name| names::name(name.name.clone(), name.span));
            let inside = names.map(|name| self.member(&set, name)).collect();
            let inside = names::combined(BinaryOp::And, inside, binders.span);
            body = self.of_members(quantifier, (inside, body), binders.span);
        }
        Expr { kind: ExprKind::Quantified { quantifier, binders: Box::new(binders), body: Box::new(body) }, span }
    }

    /// What is said of those that are inside a set.
    #[inline(never)]
    fn of_members(&mut self, quantifier: Quantifier, (inside, body): (Expr, Expr), span: Span) -> Expr {
        let body_span = body.span;
        match quantifier {
            Quantifier::ForAll => names::binary(BinaryOp::Implies, inside, body, body_span),
            Quantifier::Exists | Quantifier::Count => names::binary(BinaryOp::And, inside, body, body_span),
            Quantifier::Sum => names::choice(inside, body, names::number(0, body_span)),
            Quantifier::Least | Quantifier::Greatest => {
                let message = "the least and the greatest of a set's elements are not known: it may be empty";
                let diagnostic = Diagnostic::error(code::BAD_SET, span, message);
                self.diagnostics.push(diagnostic.help("range over numbers or a family instead"));
                body
            }
        }
    }

    /// Reports a bound name that stands in what a `let` around it stands for.
    pub(super) fn refuse_capture(&mut self, bound: &[Ident]) {
        for name in bound {
            let mut is_caught = false;
            for (_, value) in &self.lets {
                let mut mentioned = Vec::new();
                names::mentioned(value, &mut mentioned);
                is_caught |= mentioned.contains(&name.name);
            }
            if is_caught {
                let message = format!("`{}` stands in a `let` around this and cannot be bound again here", name.name);
                let diagnostic = Diagnostic::error(code::BAD_LET, name.span, message);
                self.diagnostics.push(diagnostic.help("choose another name"));
            }
        }
    }
}
