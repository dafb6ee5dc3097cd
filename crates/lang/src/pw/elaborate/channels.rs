//! Channels: a length and a row of slots for each part of a message; the first message is in slot 0.
//!
//! Slots without a message hold the first value of their type, so that two states never differ by what nobody can receive any more.
//! A `pid` in a message is stored as `pid?`, whose first value is `none`: no process is special.

use base::{Diagnostic, Span};
use model::variable::VariableLook;

use super::{Elaborator, names};
use crate::codes::check as code;
use crate::pw::ast::{
    Assigned, BinaryOp, Block, ChannelDecl, ChannelKind, Expr, ExprKind, Ident, Item, Pattern, Range, RangeEnd,
    Statement, StatementKind, StorageClass, Type, TypeKind, VariableDecl,
};

/// A channel that an expression names.
pub(super) struct Channel<'a> {
    declared: &'a ChannelDecl,
    /// Which one of an array of channels, as written.
    indices: Vec<Expr>,
}

/// One part of a message that is one value.
struct Slot {
    /// The name of the row that holds it.
    row: String,
    /// Its type as declared.
    ty: Type,
}

impl<'a> Elaborator<'a> {
    /// The variables of a channel with a buffer; a rendezvous stays.
    pub(super) fn channel(&mut self, declared: &'a ChannelDecl) -> Vec<Item> {
        let slots = self.slots(declared);
        if is_rendezvous(declared) {
            let parts = slots.into_iter().map(|slot| slot.ty).collect();
            let lengths = declared.lengths.iter().map(|length| self.expr(length)).collect();
            return vec![Item::Channel(ChannelDecl { parts, lengths, ..declared.clone() })];
        }
        let span = declared.name.span;
        let capacity = self.expr(&declared.capacity);
        let count = Range { low: names::number(0, span), high: capacity.clone(), end: RangeEnd::Included, span };
        let count = Type { kind: TypeKind::Range(Box::new(count)), span: declared.capacity.span };
        let mut variables = vec![(format!("{}.len", declared.name.name), count)];
        for slot in slots {
            let ty = match slot.ty.kind {
                TypeKind::Pid { family, .. } => {
                    Type { kind: TypeKind::Pid { family, optional: true }, span: slot.ty.span }
                }
                _ => slot.ty,
            };
            variables.push((slot.row, array(ty, capacity.clone())));
        }
        let lengths: Vec<Expr> = declared.lengths.iter().map(|length| self.expr(length)).collect();
        let mut looks = 0..;
        let variable = |(name, ty): (String, Type)| {
            let look = match looks.next() {
                Some(0) => VariableLook::ChannelLength(declared.name.name.clone()),
                _ => VariableLook::ChannelRow(declared.name.name.clone()),
            };
            let ty = lengths.iter().rev().fold(ty, |ty, length| array(ty, length.clone()));
            let name = Ident { name, span };
            let (doc, class, span) = (declared.doc.clone(), StorageClass::Shared, declared.span);
            Item::Variable(VariableDecl { doc, class, name, ty, initial: None, look, indices_after: Vec::new(), span })
        };
        variables.into_iter().map(variable).collect()
    }

    fn slots(&mut self, declared: &ChannelDecl) -> Vec<Slot> {
        let mut slots = Vec::new();
        for (at, part) in declared.parts.iter().enumerate() {
            for leaf in self.leaves(part) {
                if matches!(leaf.ty.kind, TypeKind::Array { .. } | TypeKind::Lock | TypeKind::Sem { .. }) {
                    let message = "messages are made of single values: no arrays, sets, locks or semaphores";
                    self.diagnostics.push(Diagnostic::error(code::BAD_MESSAGE, part.span, message));
                    continue;
                }
                let row = match declared.parts.len() {
                    1 => format!("{}.msg{}", declared.name.name, leaf.suffix),
                    _ => format!("{}.{}{}", declared.name.name, at + 1, leaf.suffix),
                };
                slots.push(Slot { row, ty: leaf.ty });
            }
        }
        slots
    }

    /// The channel that an expression names.
    pub(super) fn channel_of(&mut self, expr: &Expr) -> Option<Channel<'a>> {
        match &expr.kind {
            ExprKind::Name(name) if !self.bound.contains(&name.name) && !self.own.contains_key(&name.name) => {
                let declared = self.channels.get(&*name.name).copied()?;
                Some(Channel { declared, indices: Vec::new() })
            }
            ExprKind::Index { base, index } => {
                let mut channel = self.channel_of(base)?;
                channel.indices.push((**index).clone());
                Some(channel)
            }
            _ => None,
        }
    }

    /// `c.len`, `c.msg[0]`, as proofs and traces write them.
    pub(super) fn channel_part(&mut self, expr: &Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Field { base, field } => {
                let (base, suffix) = match &base.kind {
                    ExprKind::Field { base, field: first } => (base, format!(".{}.{}", first.name, field.name)),
                    _ => (base, format!(".{}", field.name)),
                };
                let channel = self.channel_of(base)?;
                let channel = self.settled(channel);
                Some(channel.variable(&format!("{}{suffix}", channel.declared.name.name), expr.span))
            }
            ExprKind::Index { base, index } => {
                let base = self.channel_part(base)?;
                Some(names::index(base, self.expr(index)))
            }
            _ => None,
        }
    }

    pub(super) fn channel_query(&mut self, query: &str, of: &Expr, span: Span) -> Option<Expr> {
        let channel = self.channel_of(of)?;
        let channel = self.settled(channel);
        if is_rendezvous(channel.declared) {
            let message = "a rendezvous holds no messages";
            self.diagnostics.push(Diagnostic::error(code::BAD_MESSAGE, span, message));
            return Some(names::truth(false, span));
        }
        let length = channel.length(span);
        let capacity = self.expr(&channel.declared.capacity);
        Some(match query {
            "len" => length,
            "full" => names::binary(BinaryOp::Equal, length, capacity, span),
            _ => names::binary(BinaryOp::Equal, length, names::number(0, span), span),
        })
    }

    /// Reports a channel that is none, and messages that have more or fewer parts than declared.
    fn fits(&mut self, of: &Expr, n_parts: usize, span: Span) -> Option<Channel<'a>> {
        let Some(channel) = self.channel_of(of) else {
            let message = "there is no such channel";
            let diagnostic = Diagnostic::error(code::NO_CHANNEL, of.span, message);
            let near = match &of.kind {
                ExprKind::Name(name) => base::diagnostic::nearest_name(&name.name, self.channels.keys().copied()),
                _ => None,
            };
            self.diagnostics.push(match near {
                Some(near) => diagnostic.suggest(format!("did you mean `{near}`?"), of.span, near),
                None => diagnostic.help("channels are declared in the program: `chan c: [2] of (bool);`"),
            });
            return None;
        };
        let declared = channel.declared;
        let wrong = if channel.indices.len() != declared.lengths.len() {
            let (has, needs) = (channel.indices.len(), declared.lengths.len());
            Some(format!("`{}` needs {needs} indices, but {} given", declared.name.name, names::are(has)))
        } else if declared.parts.len() != n_parts {
            let needs = declared.parts.len();
            Some(format!("a message of `{}` has {needs} parts, but {} given", declared.name.name, names::are(n_parts)))
        } else {
            None
        };
        if let Some(message) = wrong {
            let diagnostic = Diagnostic::error(code::BAD_MESSAGE, span, message);
            self.diagnostics.push(diagnostic.note(declared.name.span, "declared here"));
            return None;
        }
        Some(self.settled(channel))
    }

    /// `send c(e, …);`
    pub(super) fn send(&mut self, of: &Expr, values: &[Expr], span: Span) -> StatementKind {
        let Some(channel) = self.fits(of, values.len(), span) else { return StatementKind::Skip };
        let mut parts = Vec::new();
        for (value, ty) in values.iter().zip(&channel.declared.parts) {
            let ty = self.resolved(ty, 0);
            parts.extend(self.split(value, &ty).unwrap_or_default());
        }
        if is_rendezvous(channel.declared) {
            let values = channel.indices.into_iter().chain(parts).collect();
            return StatementKind::Send { channel: names::name(channel.declared.name.name.clone(), of.span), values };
        }
        let length = channel.length(span);
        let capacity = self.expr(&channel.declared.capacity);
        let rows = self.slots(channel.declared);
        let rows = rows.iter().map(|slot| names::index(channel.variable(&slot.row, span), length.clone()));
        let more = names::binary(BinaryOp::Add, length.clone(), names::number(1, span), span);
        let targets = rows.chain([length.clone()]).collect();
        let values = parts.into_iter().chain([more]).map(Assigned::Value).collect();
        let is_free = names::binary(BinaryOp::Less, length, capacity, span);
        let sent = vec![
            names::statement(StatementKind::Await(is_free), span),
            names::statement(StatementKind::Assign { targets, values }, span),
        ];
        let sent = names::block(sent, span);
        match channel.declared.kind {
            ChannelKind::Lossy => {
                let lost = names::block(Vec::new(), span);
                let either = StatementKind::Either { branches: vec![sent, lost] };
                StatementKind::Atomic(names::block(vec![names::statement(either, span)], span))
            }
            ChannelKind::Ordered | ChannelKind::Unordered => StatementKind::Atomic(sent),
        }
    }

    /// `receive c(…);` and `peek c(…);`
    pub(super) fn receive(&mut self, of: &Expr, patterns: &[Pattern], keeps: bool, span: Span) -> StatementKind {
        let Some(channel) = self.fits(of, patterns.len(), span) else { return StatementKind::Skip };
        let Some(patterns) = self.part_patterns(&channel, patterns) else { return StatementKind::Skip };
        let declared = channel.declared;
        if is_rendezvous(declared) {
            if keeps {
                let message = "a rendezvous holds no message to look at";
                self.diagnostics.push(Diagnostic::error(code::BAD_MESSAGE, span, message));
            }
            let which = channel.indices.into_iter().map(Pattern::Equal);
            let patterns = which.chain(patterns).collect();
            let channel = names::name(declared.name.name.clone(), of.span);
            return StatementKind::Receive { channel, patterns, keeps: false };
        }
        let picked = match declared.kind {
            ChannelKind::Unordered => Some(self.picked(declared, span)),
            ChannelKind::Ordered | ChannelKind::Lossy => None,
        };
        StatementKind::Atomic(self.received(&channel, &patterns, picked, (keeps, span)))
    }

    /// A hidden number that says which message of an unordered channel is taken.
    fn picked(&mut self, declared: &ChannelDecl, span: Span) -> Expr {
        let name = format!("{}.pick", declared.name.name);
        if !self.own.contains_key(&name) {
            let capacity = self.expr(&declared.capacity);
            let range = names::range(names::number(0, span), capacity, span);
            let ty = Type { kind: TypeKind::Range(Box::new(range)), span };
            self.hide(Ident { name: name.clone(), span }, ty);
        }
        names::name(name, span)
    }

    /// The patterns for the single values that messages are made of.
    fn part_patterns(&mut self, channel: &Channel<'a>, patterns: &[Pattern]) -> Option<Vec<Pattern>> {
        let mut parts = Vec::new();
        for (pattern, ty) in patterns.iter().zip(&channel.declared.parts) {
            parts.extend(self.pattern(pattern, ty)?);
        }
        Some(parts)
    }

    /// The patterns for the single values that one part of a message, or a field of it, is made of.
    fn pattern(&mut self, pattern: &Pattern, ty: &Type) -> Option<Vec<Pattern>> {
        let ty = self.resolved(ty, 0);
        Some(match pattern {
            Pattern::Into(target) => self.split(target, &ty)?.into_iter().map(Pattern::Into).collect(),
            Pattern::Equal(value) => self.split(value, &ty)?.into_iter().map(Pattern::Equal).collect(),
            Pattern::Ignored(span) => vec![Pattern::Ignored(*span); self.leaves(&ty).len()],
            Pattern::Struct { name, fields, span } => {
                let Some(of) = self.struct_of(&ty).filter(|of| of.name.name == name.name) else {
                    let message = match self.struct_of(&ty) {
                        Some(of) => format!("this part of the message is a `{}`, not a `{}`", of.name.name, name.name),
                        None => format!("this part of the message is no struct, so `{}(…)` does not fit", name.name),
                    };
                    self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, name.span, message));
                    return None;
                };
                let given: Vec<&Ident> = fields.iter().filter_map(|field| field.name.as_ref()).collect();
                let order: Vec<usize> = match given.len() {
                    0 => {
                        self.has_fields(of, fields.len(), *span)?;
                        (0..fields.len()).collect()
                    }
                    n_given if n_given == fields.len() => self.in_order(of, &given, *span)?,
                    _ => {
                        let message = "either all fields are named, or none";
                        self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, *span, message));
                        return None;
                    }
                };
                let mut parts = Vec::new();
                for (at, field) in order.into_iter().zip(&of.fields) {
                    parts.extend(self.pattern(&fields[at].pattern, &field.ty)?);
                }
                parts
            }
        })
    }

    fn received(
        &mut self,
        channel: &Channel<'a>,
        patterns: &[Pattern],
        picked: Option<Expr>,
        (keeps, span): (bool, Span),
    ) -> Block {
        let length = channel.length(span);
        let rows: Vec<Expr> =
            self.slots(channel.declared).iter().map(|slot| channel.variable(&slot.row, span)).collect();
        let first = picked.clone().unwrap_or_else(|| names::number(0, span));
        let mut conditions = vec![names::binary(BinaryOp::Less, first.clone(), length.clone(), span)];
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for (pattern, row) in patterns.iter().zip(&rows) {
            let content = names::index(row.clone(), first.clone());
            match pattern {
                Pattern::Into(target) => {
                    targets.push(target.clone());
                    values.push(Assigned::Value(content));
                }
                Pattern::Equal(value) => {
                    conditions.push(names::binary(BinaryOp::Equal, content, value.clone(), value.span));
                }
                Pattern::Ignored(_) | Pattern::Struct { .. } => {}
            }
        }
        let arrived = names::combined(BinaryOp::And, conditions, span);
        let mut statements: Vec<Statement> = Vec::new();
        if let Some(picked) = &picked {
            let any = Assigned::Any { range: None, span };
            let kind = StatementKind::Assign { targets: vec![picked.clone()], values: vec![any] };
            statements.push(names::statement(kind, span));
        }
        statements.push(names::statement(StatementKind::Await(arrived), span));
        if !keeps {
            // The number of messages is one less in the same assignment, so that a target cannot see it halfway.
            targets.push(length.clone());
            let less = names::binary(BinaryOp::Subtract, length, names::number(1, span), span);
            values.push(Assigned::Value(less));
        }
        if !targets.is_empty() {
            statements.push(names::statement(StatementKind::Assign { targets, values }, span));
        }
        if !keeps {
            let capacity = self.expr(&channel.declared.capacity);
            statements.extend(shifted(&rows, &capacity, picked.as_ref(), span));
        }
        if let Some(picked) = picked {
            statements.push(names::assign(picked, names::number(0, span), span));
        }
        names::block(statements, span)
    }
}

impl Elaborator<'_> {
    /// The channel with its indices elaborated.
    fn settled<'c>(&mut self, channel: Channel<'c>) -> Channel<'c> {
        Channel { indices: self.exprs(&channel.indices), ..channel }
    }
}

impl Channel<'_> {
    fn variable(&self, name: &str, span: Span) -> Expr {
        self.indices.iter().fold(names::name(name, span), |base, index| names::index(base, index.clone()))
    }

    fn length(&self, span: Span) -> Expr {
        self.variable(&format!("{}.len", self.declared.name.name), span)
    }
}

/// Whether two processes meet on it.
fn is_rendezvous(declared: &ChannelDecl) -> bool {
    matches!(declared.capacity.kind, ExprKind::Int(0))
}

fn array(element: Type, length: Expr) -> Type {
    let span = element.span;
    Type { kind: TypeKind::Array { element: Box::new(element), length: Box::new(length) }, span }
}

/// Messages behind the one that was taken move up; the last slot is free.
fn shifted(rows: &[Expr], capacity: &Expr, picked: Option<&Expr>, span: Span) -> Vec<Statement> {
    let last = names::binary(BinaryOp::Subtract, capacity.clone(), names::number(1, span), span);
    let k = Ident { name: "k@".to_owned(), span };
    let here = names::name("k@", span);
    let next = names::binary(BinaryOp::Add, here.clone(), names::number(1, span), span);
    let moves = rows.iter().map(|row| {
        let (to, from) = (names::index(row.clone(), here.clone()), names::index(row.clone(), next.clone()));
        names::assign(to, from, span)
    });
    let moves = names::block(moves.collect(), span);
    let body = match picked {
        None => moves,
        Some(picked) => {
            let condition = names::binary(BinaryOp::GreaterEqual, here, picked.clone(), span);
            let kind = StatementKind::If { condition, then: moves, otherwise: None };
            names::block(vec![names::statement(kind, span)], span)
        }
    };
    let range = names::range(names::number(0, span), last.clone(), span);
    let mut statements = vec![names::statement(StatementKind::For { variable: k, range, body }, span)];
    for row in rows {
        let targets = vec![names::index(row.clone(), last.clone())];
        let values = vec![Assigned::First(span)];
        statements.push(names::statement(StatementKind::Assign { targets, values }, span));
    }
    statements
}
