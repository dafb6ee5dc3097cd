//! Which variable an expression names, as far as structs, sets and arrays are concerned.

use base::{Diagnostic, Span};

use super::{Elaborator, Leaf, names};
use crate::codes::check as code;
use crate::pw::ast::{BinaryOp, Expr, ExprKind, Ident, StructDecl, Type, TypeKind};

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Whose it is, if that is written: `P[k]` of `P[k].x`.
    owner: Option<Expr>,
    /// The name with the fields that follow it.
    name: String,
    /// The indices as written.
    indices: Vec<Expr>,
    /// The type of this part.
    pub ty: Type,
    /// Whether a field of a struct is named.
    pub is_field: bool,
    span: Span,
}

impl Elaborator<'_> {
    /// The variable that holds a part of it.
    pub(super) fn part(&mut self, placed: &Placed, leaf: &Leaf) -> Expr {
        let ident = Ident { name: format!("{}{}", placed.name, leaf.suffix), span: placed.span };
        let whole = match &placed.owner {
            Some(owner) => ExprKind::Field { base: Box::new(self.expr(owner)), field: ident },
            None => ExprKind::Name(ident),
        };
        let whole = Expr { kind: whole, span: placed.span };
        placed.indices.iter().fold(whole, |base, index| names::index(base, self.expr(index)))
    }

    /// The variable, if it is one.
    pub(super) fn whole(&mut self, placed: &Placed) -> Expr {
        self.part(placed, &Leaf::plain(placed.ty.clone()))
    }

    /// The variable that an expression names, if it is declared and its type is known.
    pub(super) fn place(&mut self, expr: &Expr) -> Option<Placed> {
        match &expr.kind {
            ExprKind::Name(name) => {
                if self.bound.contains(&name.name) || self.lets.iter().any(|(known, _)| *known == name.name) {
                    return None;
                }
                let ty = self.own.get(&name.name).or_else(|| self.shared.get(&*name.name))?.clone();
                let name = name.name.clone();
                Some(Placed { owner: None, name, indices: Vec::new(), ty, is_field: false, span: expr.span })
            }
            ExprKind::Index { base, index } => {
                let mut placed = self.place(base)?;
                let TypeKind::Array { element, .. } = placed.ty.kind else { return None };
                placed.indices.push((**index).clone());
                Some(Placed { ty: *element, span: expr.span, ..placed })
            }
            ExprKind::Field { base, field } => self.field(base, field, expr.span),
            _ => None,
        }
    }

    fn field(&mut self, base: &Expr, field: &Ident, span: Span) -> Option<Placed> {
        let placed = self.place(base);
        if let Some(placed) = &placed
            && let Some(of) = self.struct_of(&placed.ty)
        {
            let Some(found) = of.fields.iter().find(|known| known.name.name == field.name) else {
                let message = format!("`{}` has no `{}`", of.name.name, field.name);
                let diagnostic = Diagnostic::error(code::UNKNOWN_FIELD, field.span, message);
                let known = of.fields.iter().map(|known| known.name.name.as_str());
                let near = base::diagnostic::nearest_name(&field.name, known);
                self.diagnostics.push(match near {
                    Some(near) => diagnostic.suggest(format!("did you mean `{near}`?"), field.span, near),
                    None => diagnostic.note(of.name.span, "declared here"),
                });
                // It goes on as if the first field were named, so that one mistake is reported once.
                let found = of.fields.first()?;
                let (ty, name) = (self.resolved(&found.ty, 0), format!("{}.{}", placed.name, found.name.name));
                return Some(Placed { name, ty, is_field: true, span, ..placed.clone() });
            };
            let ty = self.resolved(&found.ty, 0);
            let name = format!("{}.{}", placed.name, field.name);
            return Some(Placed { name, ty, is_field: true, span, ..placed.clone() });
        }
        let family = match (&base.kind, &placed) {
            (ExprKind::Index { base, .. }, None) => match &base.kind {
                ExprKind::Name(name) => Some(name.name.clone()),
                _ => None,
            },
            (ExprKind::Name(name), None) => Some(name.name.clone()),
            (_, Some(placed)) => match &placed.ty.kind {
                TypeKind::Pid { family: Some(family), .. } => Some(family.name.clone()),
                TypeKind::Pid { family: None, .. } => self.indices.first().map(|(name, _)| name.to_string()),
                _ => None,
            },
            _ => None,
        }?;
        let (_, members) = self.members.iter().find(|(name, _)| **name == *family)?;
        let ty = members.get(&*field.name)?.clone();
        let owner = Some(base.clone());
        Some(Placed { owner, name: field.name.clone(), indices: Vec::new(), ty, is_field: false, span })
    }

    /// The set that an expression names.
    pub(super) fn set(&mut self, expr: &Expr) -> Option<Placed> {
        self.place(expr).filter(|placed| matches!(placed.ty.kind, TypeKind::Set(_)))
    }

    /// A value of a type, part by part; reports what has no parts of that type.
    pub(super) fn split(&mut self, value: &Expr, ty: &Type) -> Option<Vec<Expr>> {
        if let Some(of) = self.struct_of(ty) {
            return match &value.kind {
                ExprKind::Record { name, fields } if name.name == of.name.name => {
                    let given: Vec<&Ident> = fields.iter().map(|field| &field.name).collect();
                    let order = self.in_order(of, &given, value.span)?;
                    let arguments = order.into_iter().map(|at| fields[at].value.clone()).collect();
                    let apply = ExprKind::Apply { name: name.clone(), arguments };
                    self.split(&Expr { kind: apply, span: value.span }, ty)
                }
                ExprKind::Apply { name, arguments } if name.name == of.name.name => {
                    self.has_fields(of, arguments.len(), value.span)?;
                    let mut parts = Vec::new();
                    for (argument, field) in arguments.iter().zip(&of.fields) {
                        let ty = self.resolved(&field.ty, 0);
                        parts.extend(self.split(argument, &ty)?);
                    }
                    Some(parts)
                }
                _ => {
                    let same = self.place(value).filter(|placed| {
                        self.struct_of(&placed.ty).is_some_and(|other| other.name.name == of.name.name)
                    });
                    let Some(placed) = same else {
                        let message = format!("a `{}` is needed here", of.name.name);
                        let fields: Vec<&str> = of.fields.iter().map(|field| field.name.name.as_str()).collect();
                        let help = format!("write `{}({})`", of.name.name, fields.join(", "));
                        self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, value.span, message).help(help));
                        return None;
                    };
                    let leaves = self.leaves(&placed.ty.clone());
                    Some(leaves.iter().map(|leaf| self.part(&placed, leaf)).collect())
                }
            };
        }
        match (&ty.kind, &value.kind) {
            // An array of structs: by its elements, by its indices, or all alike.
            (TypeKind::Array { element, .. }, ExprKind::Array(elements)) if self.has_structs(element) => {
                let split: Option<Vec<Vec<Expr>>> = elements.iter().map(|part| self.split(part, element)).collect();
                let split = split?;
                let n_leaves = self.leaves(element).len();
                let row = |at: usize| {
                    let parts = split.iter().filter_map(|parts| parts.get(at).cloned()).collect();
                    Expr { kind: ExprKind::Array(parts), span: value.span }
                };
                Some((0..n_leaves).map(row).collect())
            }
            (TypeKind::Array { element, .. }, ExprKind::ByIndex { variable, value: each })
                if self.has_structs(element) =>
            {
                self.bound.push(variable.name.clone());
                let parts = self.split(each, element);
                self.bound.pop();
                let by_index = |part| ExprKind::ByIndex { variable: variable.clone(), value: Box::new(part) };
                Some(parts?.into_iter().map(|part| Expr { kind: by_index(part), span: value.span }).collect())
            }
            (TypeKind::Array { element, .. }, _) if self.has_structs(element) => self.split(value, element),
            // A set, or an array of sets that are all alike: each possible element by its number.
            (TypeKind::Array { element, .. }, ExprKind::Set(_)) if has_sets(element) => {
                let parts = self.split(value, element)?;
                let each = |(at, part)| {
                    let variable = Ident { name: format!("j{at}@"), span: value.span };
                    ExprKind::ByIndex { variable, value: Box::new(part) }
                };
                let is_plain = matches!(&value.kind, ExprKind::Set(elements) if elements.is_empty());
                let all = parts.into_iter().enumerate();
                Some(
                    all.map(
                        |(at, part)| if is_plain { part } else { Expr { kind: each((at, part)), span: value.span } },
                    )
                    .collect(),
                )
            }
            (TypeKind::Set(_), ExprKind::Set(elements)) => {
                let span = value.span;
                if elements.is_empty() {
                    return Some(vec![names::truth(false, span)]);
                }
                let is = |element| names::binary(BinaryOp::Equal, names::name("k@", span), element, span);
                let elements = self.exprs(elements).into_iter().map(|element| self.position(ty, element));
                let inside = elements.map(is).collect();
                let inside = Box::new(names::combined(BinaryOp::Or, inside, span));
                let variable = Ident { name: "k@".to_owned(), span };
                Some(vec![Expr { kind: ExprKind::ByIndex { variable, value: inside }, span }])
            }
            _ => Some(vec![self.expr(value)]),
        }
    }

    /// Reports more or fewer values than a struct has fields.
    pub(super) fn has_fields(&mut self, of: &StructDecl, n_given: usize, span: Span) -> Option<()> {
        let n_fields = of.fields.len();
        if n_given == n_fields {
            return Some(());
        }
        let message = format!("`{}` has {n_fields} fields, but {} given", of.name.name, names::are(n_given));
        let diagnostic = Diagnostic::error(code::BAD_STRUCT, span, message);
        self.diagnostics.push(diagnostic.note(of.name.span, "declared here"));
        None
    }

    /// Where each field of a declaration stands in `Msg(kind: ask, from: i)`; reports a field that is missing, unknown or given twice.
    #[inline(never)]
    pub(super) fn in_order(&mut self, of: &StructDecl, fields: &[&Ident], span: Span) -> Option<Vec<usize>> {
        let n_before = self.diagnostics.len();
        for (at, given) in fields.iter().enumerate() {
            let known = of.fields.iter().map(|known| known.name.name.as_str());
            let message = match () {
                () if !known.clone().any(|name| name == given.name) => {
                    format!("`{}` has no `{}`", of.name.name, given.name)
                }
                () if fields[..at].iter().any(|other| other.name == given.name) => {
                    format!("`{}` is given twice", given.name)
                }
                () => continue,
            };
            let diagnostic = Diagnostic::error(code::UNKNOWN_FIELD, given.span, message);
            self.diagnostics.push(match base::diagnostic::nearest_name(&given.name, known) {
                Some(near) if near != given.name => {
                    diagnostic.suggest(format!("did you mean `{near}`?"), given.span, near)
                }
                _ => diagnostic.note(of.name.span, "declared here"),
            });
        }
        let position = |name: &str| fields.iter().position(|given| given.name == name);
        let missing: Vec<String> = of
            .fields
            .iter()
            .filter(|field| position(&field.name.name).is_none())
            .map(|field| format!("`{}`", field.name.name))
            .collect();
        if !missing.is_empty() && self.diagnostics.len() == n_before {
            let message = format!("no value is given for {}", missing.join(", "));
            let diagnostic = Diagnostic::error(code::BAD_STRUCT, span, message);
            self.diagnostics.push(diagnostic.note(of.name.span, "declared here"));
        }
        of.fields.iter().map(|field| position(&field.name.name)).collect()
    }

    /// Whether values of a type have parts.
    pub(super) fn has_structs(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Array { element, .. } => self.has_structs(element),
            _ => self.struct_of(ty).is_some(),
        }
    }
}

/// Whether a type is a set, or an array of sets.
fn has_sets(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Array { element, .. } => has_sets(element),
        kind => matches!(kind, TypeKind::Set(_)),
    }
}
