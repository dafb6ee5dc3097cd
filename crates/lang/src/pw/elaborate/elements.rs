//! Elements of sets: which a set may have, and where in the array of truth values that it becomes each of them stands.
//!
//! In: the type of a set, and elements as they are written. Out: indices. Numbers and processes stand where their own number says; a value of an enumeration stands
//! at its position among the values: a constant by that number, anything else by a choice, `if c == red then 0 else if c == green then 1 else 2`.

use base::Diagnostic;

use super::places::Placed;
use super::{Elaborator, names};
use crate::codes::check as code;
use crate::pw::ast::{BinaryOp, Domain, EnumDecl, Expr, ExprKind, Ident, Range, RangeEnd, Type, TypeKind};

/// The number after the last one of a range.
fn after_last(range: &Range) -> Expr {
    match range.end {
        RangeEnd::Excluded => range.high.clone(),
        RangeEnd::Included => {
            names::binary(BinaryOp::Add, range.high.clone(), names::number(1, range.span), range.span)
        }
    }
}

impl<'a> Elaborator<'a> {
    /// How many elements a set may have; reports a type of which there are no sets.
    pub(super) fn n_elements(&mut self, element: &Type) -> Option<Expr> {
        if let Some(declared) = self.enum_of(element) {
            return Some(names::number(declared.values.len() as i64, element.span));
        }
        let range = match &element.kind {
            TypeKind::Range(range) => Some((**range).clone()),
            TypeKind::Pid { family, optional: false } => {
                let is_meant = |name: &str| family.as_ref().is_none_or(|family| family.name == name);
                let mut families = self.indices.iter().filter(|(name, _)| is_meant(name));
                families.next().filter(|_| families.next().is_none()).map(|(_, index)| index.range.clone())
            }
            _ => None,
        };
        let from_zero = range.filter(|range| matches!(range.low.kind, ExprKind::Int(0)));
        if let Some(range) = from_zero {
            return Some(after_last(&range));
        }
        self.lacks_types = true;
        let message = "there are sets of processes, of enumerations and of numbers from 0 on";
        let diagnostic = Diagnostic::error(code::BAD_SET, element.span, message);
        self.diagnostics.push(diagnostic.help("write `set of pid`, `set of pid(P)`, `set of Color` or `set of 0..<N`"));
        None
    }

    /// The enumeration that a type names.
    pub(super) fn enum_of(&self, ty: &Type) -> Option<&'a EnumDecl> {
        match &ty.kind {
            TypeKind::Named(name) => self.enums.iter().find(|known| known.name.name == name.name).copied(),
            _ => None,
        }
    }

    /// The enumeration that a set has elements of.
    fn enum_of_set(&self, set: &Type) -> Option<&'a EnumDecl> {
        match &set.kind {
            TypeKind::Set(element) => self.enum_of(element),
            _ => None,
        }
    }

    /// What the elements of a set are called where they are no numbers and no processes.
    pub(super) fn element_names(&self, element: &Type) -> Vec<String> {
        let Some(declared) = self.enum_of(element) else { return Vec::new() };
        let has = |other: &EnumDecl, value: &Ident| other.values.iter().any(|known| known.name == value.name);
        let name = |value: &Ident| match self.enums.iter().filter(|other| has(other, value)).count() {
            0 | 1 => value.name.clone(),
            _ => format!("{}.{}", declared.name.name, value.name),
        };
        declared.values.iter().map(name).collect()
    }

    /// The elements of two sets are not of one type: of different enumerations, or of one and of none.
    pub(super) fn differ(&self, one: &Type, other: &Type) -> bool {
        let name = |ty: &Type| self.enum_of_set(ty).map(|declared| declared.name.name.as_str());
        name(one) != name(other)
    }

    /// What a name ranges over: of the name of a type its values, anything else as it is.
    pub(super) fn values_of(&self, domain: &Domain) -> Domain {
        let Domain::Family(name) = domain else { return domain.clone() };
        let Some(ty) = self.aliases.get(&*name.name) else { return domain.clone() };
        match self.resolved(ty, 0).kind {
            TypeKind::Range(range) => Domain::Range(Range { span: name.span, ..*range }),
            TypeKind::Pid { family: Some(family), .. } => Domain::Family(Ident { span: name.span, ..family }),
            TypeKind::Pid { family: None, .. } => match self.indices.first() {
                Some((family, _)) => Domain::Family(Ident { name: (*family).to_owned(), span: name.span }),
                None => domain.clone(),
            },
            TypeKind::Named(named) => Domain::Family(Ident { span: name.span, ..named }),
            _ => domain.clone(),
        }
    }

    /// All possible elements of a set type.
    pub(super) fn domain_of(&mut self, ty: &Type) -> Option<Domain> {
        let TypeKind::Set(element) = &ty.kind else { return None };
        match &element.kind {
            TypeKind::Range(range) => Some(Domain::Range(self.range(range))),
            TypeKind::Pid { family: Some(family), .. } => Some(Domain::Family(family.clone())),
            TypeKind::Pid { family: None, .. } => {
                let name = self.indices.first()?.0.to_owned();
                Some(Domain::Family(Ident { name, span: element.span }))
            }
            TypeKind::Named(name) => self.enum_of(element).map(|_| Domain::Family(name.clone())),
            _ => None,
        }
    }

    /// Whether an element is inside a set: the cell that says so.
    pub(super) fn member(&mut self, set: &Placed, element: Expr) -> Expr {
        let at = self.position(&set.ty, element);
        names::index(self.whole(set), at)
    }

    /// Where an element stands in the array that a set becomes; reports a value of another enumeration.
    pub(super) fn position(&mut self, set: &Type, element: Expr) -> Expr {
        let Some(declared) = self.enum_of_set(set) else { return element };
        let span = element.span;
        let number = |at: usize| names::number(at as i64, span);
        if self.constant_of(declared, &element).is_none()
            && let Some(other) = self.enums.iter().find(|other| self.constant_of(other, &element).is_some())
        {
            let message = format!(
                "this set has values of `{}`, but this is a value of `{}`",
                declared.name.name, other.name.name
            );
            self.diagnostics.push(Diagnostic::error(code::WRONG_TYPE, span, message));
            return number(0);
        }
        if let Some(at) = self.constant_of(declared, &element) {
            return number(at);
        }
        let last = declared.values.len().saturating_sub(1);
        let before_last = declared.values.iter().enumerate().take(last).rev();
        before_last.fold(number(last), |otherwise, (at, value)| {
            let is = names::binary(BinaryOp::Equal, element.clone(), value_of(declared, value, &element), span);
            names::choice(is, number(at), otherwise)
        })
    }

    /// The value of an enumeration at a position that is counted by a loop.
    pub(super) fn value_at(declared: &EnumDecl, at: &Expr) -> Expr {
        let mut values =
            declared.values.iter().enumerate().rev().map(|(nth, value)| (nth, value_of(declared, value, at)));
        let Some((_, last)) = values.next() else { return names::truth(false, at.span) };
        values.fold(last, |otherwise, (nth, value)| {
            let is = names::binary(BinaryOp::Equal, at.clone(), names::number(nth as i64, at.span), at.span);
            names::choice(is, value, otherwise)
        })
    }

    /// Which value of an enumeration an expression is, if that is written.
    fn constant_of(&self, declared: &EnumDecl, element: &Expr) -> Option<usize> {
        let named = match &element.kind {
            ExprKind::Name(name) if !self.is_variable(&name.name) => name,
            ExprKind::Field { base, field } => match &base.kind {
                ExprKind::Name(name) if name.name == declared.name.name => field,
                _ => return None,
            },
            _ => return None,
        };
        declared.values.iter().position(|value| value.name == named.name)
    }

    fn is_variable(&self, name: &str) -> bool {
        self.own.contains_key(name) || self.shared.contains_key(name) || self.bound.iter().any(|bound| bound == name)
    }
}

/// A value of an enumeration, as an expression that stands where another one does.
fn value_of(declared: &EnumDecl, value: &Ident, beside: &Expr) -> Expr {
    let span = beside.span;
    if value.name == "none" {
        return Expr { kind: ExprKind::None, span };
    }
    let base = Box::new(names::name(declared.name.name.clone(), span));
    Expr { kind: ExprKind::Field { base, field: Ident { name: value.name.clone(), span } }, span }
}
