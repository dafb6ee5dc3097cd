//! Channels: meetings of two processes, and buffers.
//!
//! A channel without a buffer is a channel of the Model. A buffered one is shared variables: how many messages there are, and for
//! each value of a message a row of slots, the first message first, unused slots 0. Sending and receiving are then parts of
//! a step of one process, before its effects. A typed channel cuts what is sent to its type, as C does.

use base::{Diagnostic, Span};
use model::control::{self, ChannelId, ReceivePattern, Stmt, StmtKind, SyncSide};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::machine::MachineOp;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Storage, VarId};

use super::super::ast::{self, Side};
use super::declarations::range_of;
use super::expressions::{Standpoint, binary};
use super::symbols::Symbol;
use super::{Lowering, number};
use crate::codes::dve as code;

/// How many messages a buffer may hold: every step that receives moves all of them.
const MAX_BUFFER: usize = 1000;

/// The channels of a file, in its order.
pub(super) type Channels = Vec<Channel>;

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    kind: Kind,
    /// The types of the values; an untyped channel has none.
    types: Option<Vec<ast::Type>>,
    /// How many values a message has, and where that is seen.
    arity: Option<(usize, Span)>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Two processes meet.
    Meeting(ChannelId),
    /// How many messages are there, the rows of slots, and their length.
    Buffer { count: VarId, slots: Vec<VarId>, len: usize },
}

/// What a `sync` adds to an action.
#[derive(Default)]
pub(super) struct SyncPart {
    /// A condition besides the guard.
    pub condition: Option<Expr>,
    /// The rendezvous.
    pub sync: Option<control::Sync>,
    /// What is done before the effects.
    pub body: Vec<Stmt>,
}

impl Lowering<'_> {
    /// Declares a channel.
    pub fn channel(&mut self, declared: &ast::Channel) {
        let name = &declared.name;
        let len = match &declared.typed {
            None => Some(0),
            Some((types, size)) => {
                let len = self.size(size, None, (0, MAX_BUFFER));
                len.filter(|len| {
                    *len == 0 || self.count_cells(len.saturating_mul(types.len()) + 1, name.span).is_some()
                })
            }
        };
        let Some(len) = len else { return self.define(None, name, Symbol::Broken) };
        let types = declared.typed.as_ref().map(|(types, _)| types.clone());
        let arity = types.as_ref().map(|types| (types.len(), name.span));
        let kind = match len {
            0 => Kind::Meeting(self.model.channels.push(control::Channel { name: name.text.clone(), span: name.span })),
            _ => self.buffer(name, types.as_deref().unwrap_or_default(), len),
        };
        self.channels.push(Channel { kind, types, arity });
        self.define(None, name, Symbol::Channel(self.channels.len() - 1));
    }

    fn buffer(&mut self, name: &ast::Name, types: &[ast::Type], len: usize) -> Kind {
        let place = (Storage::Shared, name.span);
        let count = self.add_var(&format!("{}.length", name.text), place, (0, len as i64), None, &[0]);
        let mut slots = Vec::new();
        for (at, &ty) in types.iter().enumerate() {
            let row = if types.len() == 1 { name.text.clone() } else { format!("{}.{}", name.text, at + 1) };
            slots.push(self.add_var(&row, place, range_of(ty), Some(len), &vec![0; len]));
        }
        Kind::Buffer { count, slots, len }
    }

    /// What a `sync` of a process adds to its action; `None` where it is wrong.
    pub fn sync(&mut self, sync: &ast::Sync, standpoint: Standpoint) -> Option<SyncPart> {
        let position = match self.look_up(standpoint.process, &sync.channel) {
            Symbol::Channel(position) => position,
            Symbol::Broken => return None,
            _ => {
                let message = format!("`{}` is no channel", sync.channel.text);
                self.report(Diagnostic::error(code::NOT_A_CHANNEL, sync.channel.span, message));
                return None;
            }
        };
        self.check_arity(position, sync)?;
        let Channel { kind, types, .. } = self.channels[position].clone();
        let types = types.as_deref();
        match (&sync.side, kind) {
            (Side::Send(values), Kind::Meeting(channel)) => {
                let values = self.sent(values, types, standpoint);
                Some(meeting(channel, SyncSide::Send(values)))
            }
            (Side::Receive(targets), Kind::Meeting(channel)) => {
                let targets = self.receivers(targets, standpoint)?;
                let patterns = targets.into_iter().map(ReceivePattern::Into).collect();
                Some(meeting(channel, SyncSide::Receive(patterns)))
            }
            (Side::Send(values), Kind::Buffer { count, slots, len }) => {
                let values = self.sent(values, types, standpoint);
                Some(send(values, (count, &slots, len), sync.span))
            }
            (Side::Receive(targets), Kind::Buffer { count, slots, len }) => {
                let targets = self.receivers(targets, standpoint)?;
                Some(receive(targets, (count, &slots, len), sync.span))
            }
        }
    }

    /// Every use of a channel passes the same number of values.
    fn check_arity(&mut self, position: usize, sync: &ast::Sync) -> Option<()> {
        let n_values = match &sync.side {
            Side::Send(values) => values.len(),
            Side::Receive(targets) => targets.len(),
        };
        match self.channels[position].arity {
            Some((expected, place)) if expected != n_values => {
                let count = |n: usize| if n == 1 { "1 value".to_string() } else { format!("{n} values") };
                let message = format!("`{}` passes {}, not {}", sync.channel.text, count(expected), count(n_values));
                let diagnostic = Diagnostic::error(code::WRONG_ARITY, sync.span, message);
                self.report(diagnostic.note(place, format!("{} here", count(expected))));
                None
            }
            Some(_) => Some(()),
            None => {
                self.channels[position].arity = Some((n_values, sync.span));
                Some(())
            }
        }
    }

    fn sent(&mut self, values: &[ast::Expr], types: Option<&[ast::Type]>, standpoint: Standpoint) -> Vec<Expr> {
        let values: Vec<Expr> = values.iter().map(|value| self.number(value, standpoint)).collect();
        match types {
            None => values,
            Some(types) => values.into_iter().zip(types).map(|(value, &ty)| self.cut(value, ty)).collect(),
        }
    }

    fn receivers(&mut self, targets: &[ast::Target], standpoint: Standpoint) -> Option<Vec<Access>> {
        // All of them are looked at, so that all that is wrong is said.
        let targets: Vec<_> = targets.iter().map(|target| self.target(target, standpoint)).collect();
        targets.into_iter().collect()
    }

    /// The value cut to a type, where it may need it.
    fn cut(&self, value: Expr, ty: ast::Type) -> Expr {
        let (lo, hi) = range_of(ty);
        let fits = match &value.kind {
            ExprKind::Const(Value::Int(number)) => (lo..=hi).contains(number),
            ExprKind::Read(access) => match self.model.vars[access.var].ty.scalar() {
                ScalarType::Range { lo: least, hi: most } => lo <= least && most <= hi,
                _ => false,
            },
            _ => false,
        };
        if fits {
            return value;
        }
        let span = value.span;
        let and = |value, mask| binary(BinaryOp::Machine(MachineOp::BitAnd), value, number(mask, span), span);
        match ty {
            ast::Type::Byte => and(value, hi),
            ast::Type::Int => {
                let raised = binary(BinaryOp::Add, value, number(-lo, span), span);
                binary(BinaryOp::Subtract, and(raised, hi - lo), number(-lo, span), span)
            }
        }
    }
}

fn meeting(channel: ChannelId, side: SyncSide) -> SyncPart {
    SyncPart { sync: Some(control::Sync { channel, side }), ..SyncPart::default() }
}

/// Not full; then the values go to the slots behind the last message.
fn send(values: Vec<Expr>, (count, slots, len): (VarId, &[VarId], usize), span: Span) -> SyncPart {
    let length = read(count, Vec::new(), span);
    let condition = binary(BinaryOp::Less, length.clone(), number(len as i64, span), span);
    let mut pairs: Vec<(Access, Expr)> =
        slots.iter().zip(values).map(|(&row, value)| (shared(row, vec![length.clone()], span), value)).collect();
    pairs.push((shared(count, Vec::new(), span), binary(BinaryOp::Add, length, number(1, span), span)));
    SyncPart { condition: Some(condition), sync: None, body: vec![Stmt { kind: StmtKind::Assign(pairs), span }] }
}

/// Not empty; then the first message goes to the targets, and the others move up.
fn receive(targets: Vec<Access>, (count, slots, len): (VarId, &[VarId], usize), span: Span) -> SyncPart {
    let length = read(count, Vec::new(), span);
    let condition = binary(BinaryOp::Greater, length.clone(), number(0, span), span);
    let slot = |row: VarId, at: usize| read(row, vec![number(at as i64, span)], span);
    let mut pairs: Vec<(Access, Expr)> = Vec::new();
    for (&row, target) in slots.iter().zip(targets) {
        pairs.push((target, slot(row, 0)));
        for at in 0..len {
            let next = if at + 1 < len { slot(row, at + 1) } else { number(0, span) };
            pairs.push((shared(row, vec![number(at as i64, span)], span), next));
        }
    }
    pairs.push((shared(count, Vec::new(), span), binary(BinaryOp::Subtract, length, number(1, span), span)));
    SyncPart { condition: Some(condition), sync: None, body: vec![Stmt { kind: StmtKind::Assign(pairs), span }] }
}

fn shared(var: VarId, indices: Vec<Expr>, span: Span) -> Access {
    Access { var, whose: Whose::Shared, indices, span }
}

fn read(var: VarId, indices: Vec<Expr>, span: Span) -> Expr {
    Expr { kind: ExprKind::Read(shared(var, indices, span)), span }
}
