//! Channels: sends, receives and polls as conditions and changes of cells, or as meetings of two processes.
//!
//! A channel with a buffer is shared variables: how many messages there are, and for each field a row of slots, the first message at 0,
//! unused slots 0. A channel without one is a channel of the Model. Where a variable may hold several channels there is one step for each.

use base::{Diagnostic, Span};
use model::control::{self, ChannelId, ReceivePattern as ModelPattern, Stmt, StmtKind, Sync, SyncSide};
use model::expr::{Access, BinaryOp as ModelOp, Expr as ModelExpr, Whose};
use model::variable::{Storage, VarId, VariableLook};

use super::super::program::{Expr, ExprKind, Pattern, Ref, field_bounds};
use super::Elaboration;
use super::expressions::View;
use super::families::position;
use super::steps::{Executable, Move};
use super::terms::{self, Term, all, any, assign, equal, not, number, read, shared};
use crate::codes::promela as code;

/// A channel in the Model.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// How many messages there are, and a row of slots for each field.
    Buffer { length: VarId, rows: Vec<VarId>, capacity: usize },
    /// Two processes meet.
    Meeting(ChannelId),
}

/// A channel that a variable may hold.
pub(super) struct ChannelOption {
    /// When it holds it.
    pub conditions: Vec<ModelExpr>,
    /// Its position; `None` where the variable holds no channel, which is an error of the program.
    pub channel: Option<usize>,
}

/// A send.
pub(super) struct Send<'s> {
    pub channel: &'s Ref,
    pub is_sorted: bool,
    pub values: &'s [Expr],
    pub span: Span,
}

/// A receive.
pub(super) struct Receive<'s> {
    pub channel: &'s Ref,
    pub is_random: bool,
    pub is_copy: bool,
    pub patterns: &'s [Pattern],
    pub span: Span,
}

/// A buffer.
#[derive(Clone, Copy)]
struct Buffer<'b> {
    at: usize,
    length: VarId,
    rows: &'b [VarId],
    capacity: usize,
    span: Span,
}

impl Buffer<'_> {
    fn length(&self) -> ModelExpr {
        read(shared(self.length, Vec::new(), self.span))
    }

    fn slot(&self, field: usize, at: usize) -> ModelExpr {
        read(shared(self.rows[field], vec![number(at as i64, self.span)], self.span))
    }

    fn holds(&self, at: usize) -> ModelExpr {
        terms::binary(ModelOp::Greater, self.length(), number(at as i64, self.span))
    }

    /// Takes the message at a position away: the later ones move up.
    fn remove(&self, from: usize) -> Stmt {
        let mut pairs = Vec::new();
        for (field, &row) in self.rows.iter().enumerate() {
            for at in from..self.capacity {
                let next = if at + 1 < self.capacity { self.slot(field, at + 1) } else { number(0, self.span) };
                pairs.push((shared(row, vec![number(at as i64, self.span)], self.span), next));
            }
        }
        let fewer = terms::binary(ModelOp::Subtract, self.length(), number(1, self.span));
        pairs.push((shared(self.length, Vec::new(), self.span), fewer));
        assign(pairs, self.span)
    }

    /// Puts a message at a position: the later ones move down.
    fn insert(&self, position: usize, values: &[ModelExpr]) -> Stmt {
        let mut pairs = Vec::new();
        for (field, &row) in self.rows.iter().enumerate() {
            let target = |at: usize| shared(row, vec![number(at as i64, self.span)], self.span);
            pairs.push((target(position), values[field].clone()));
            pairs.extend((position + 1..self.capacity).map(|at| (target(at), self.slot(field, at - 1))));
        }
        let more = terms::binary(ModelOp::Add, self.length(), number(1, self.span));
        pairs.push((shared(self.length, Vec::new(), self.span), more));
        assign(pairs, self.span)
    }

    /// Whether the message at a position is greater than the values, field by field from the left.
    fn is_greater(&self, at: usize, values: &[ModelExpr]) -> ModelExpr {
        let mut greater = terms::truth(false, self.span);
        for (field, value) in values.iter().enumerate().rev() {
            let here = terms::binary(ModelOp::Greater, self.slot(field, at), value.clone());
            let same = equal(self.slot(field, at), value.clone());
            greater = terms::or(here, terms::and(same, greater));
        }
        greater
    }
}

impl Elaboration<'_> {
    /// Declares all channels.
    pub(super) fn declare_channels(&mut self) {
        for (at, channel) in self.setting.world.channels.iter().enumerate() {
            let span = self.span(channel.span);
            let made = if channel.capacity == 0 {
                let name = channel.name.clone();
                Made::Meeting(self.model.channels.push(control::Channel { name, span }))
            } else {
                let capacity = channel.capacity;
                let n_messages = channel.contents.len() as i64;
                let length = self.add_var(
                    &format!("len({})", channel.name),
                    (Storage::Shared, span),
                    (0, capacity as i64),
                    (&[], &[n_messages]),
                );
                self.model.vars[length].look = VariableLook::ChannelLength(channel.name.clone());
                let mut rows = Vec::new();
                for field in 0..channel.fields.len() {
                    let name = if channel.fields.len() == 1 {
                        channel.name.clone()
                    } else {
                        format!("{}.{}", channel.name, field + 1)
                    };
                    let mut values: Vec<i64> = channel.contents.iter().map(|message| message[field]).collect();
                    values.resize(capacity, 0);
                    let (lo, hi) = self.ranges.field(at, field);
                    let row =
                        self.add_var(&name, (Storage::Shared, span), (lo.min(0), hi.max(0)), (&[capacity], &values));
                    if let super::super::ast::Basic::Mtype(kind) = channel.fields[field] {
                        self.model.vars[row].shown = self.message_names(kind);
                    }
                    self.model.vars[row].look = VariableLook::ChannelRow(channel.name.clone());
                    rows.push(row);
                }
                Made::Buffer { length, rows, capacity }
            };
            self.made.push(made);
        }
    }

    /// The channels that a variable may hold.
    pub(super) fn channels_of(&mut self, one: &Ref, view: View) -> Vec<ChannelOption> {
        let span = self.span(one.span);
        let Some(family) = view.or_else(|| (!self.setting.families.is_empty()).then_some(0)) else { return Vec::new() };
        let held = self.sets.held(one, family, self.setting);
        let world = self.setting.world;
        if held.len() <= 1
            && !held.contains(&super::families::OTHER)
            && one.indices.iter().all(|index| super::super::resolve::constant(index).is_some())
        {
            let channel = held.first().and_then(|&number| position(number, world));
            return vec![ChannelOption { conditions: Vec::new(), channel }];
        }
        if let Some(row) = self.constant_row(one, Some(family)) {
            return self.elements(one, &row, view);
        }
        let value = self.read(one, view);
        let is = |channel: i64| equal(value.clone(), number(channel, span));
        let option = |channel: i64| {
            let conditions = match channel {
                super::families::OTHER => {
                    held.iter().filter(|&&other| other >= 0).map(|&other| not(is(other))).collect()
                }
                channel => vec![is(channel)],
            };
            ChannelOption { conditions, channel: position(channel, world) }
        };
        held.iter().map(|&channel| option(channel)).collect()
    }

    /// One option for each element of a constant row, and one for an index outside it.
    fn elements(&mut self, one: &Ref, row: &[i64], view: View) -> Vec<ChannelOption> {
        let span = self.span(one.span);
        let dims = self.setting.program.leaves[one.leaf].dims.clone();
        let indices: Vec<Term> = one.indices.iter().map(|index| self.number(index, view)).collect();
        let mut options = Vec::new();
        for (at, &channel) in row.iter().enumerate() {
            let mut rest = at;
            let mut conditions = Vec::new();
            for (index, &len) in indices.iter().zip(&dims).rev() {
                conditions.push(equal(index.expr.clone(), number((rest % len) as i64, span)));
                rest /= len;
            }
            conditions.retain(|condition| !terms::is(condition, true));
            if !conditions.iter().any(|condition| terms::is(condition, false)) {
                options.push(ChannelOption { conditions, channel: position(channel, self.setting.world) });
            }
        }
        for (index, &len) in indices.into_iter().zip(&dims) {
            if index.range.0 < 0 || index.range.1 >= len as i64 {
                let low = terms::binary(ModelOp::Less, index.expr.clone(), number(0, span));
                let high = terms::binary(ModelOp::GreaterEqual, index.expr, number(len as i64, span));
                options.push(ChannelOption { conditions: vec![terms::or(low, high)], channel: None });
            }
        }
        options
    }

    /// Whether a channel takes so many values. Too many are an error of the program when they are sent; where no other channel can be meant they are
    /// refused, as by SPIN.
    fn takes(&mut self, at: usize, (n_given, is_only_one): (usize, bool), span: Span) -> bool {
        let channel = &self.setting.world.channels[at];
        let n_fields = channel.fields.len();
        if n_given <= n_fields {
            return true;
        }
        if is_only_one {
            let message = format!("messages of `{}` have {n_fields} fields, not {n_given}", channel.name);
            let place = channel.span;
            self.report_once(Diagnostic::error(code::WRONG_NUMBER, span, message).note(place, "declared here"));
        }
        false
    }

    /// The steps of a send.
    pub(super) fn send(&mut self, send: &Send<'_>, view: View) -> Vec<Move> {
        let mut moves = Vec::new();
        let span = self.span(send.span);
        let options = self.channels_of(send.channel, view);
        let is_only_one = options.len() == 1;
        for ChannelOption { conditions, channel } in options {
            let Some(at) = channel else {
                moves.push(Move::error(conditions, span));
                continue;
            };
            let mut conditions = conditions;
            moves.extend(self.dead(at, &mut conditions, (view, span)));
            let is_right = self.takes(at, (send.values.len(), is_only_one), send.span);
            moves.extend(self.lost(at, &conditions, span));
            if !is_right {
                moves.push(Move::error(self.has_room(at, conditions, span), span));
                continue;
            }
            let fields = &self.setting.world.channels[at].fields;
            let n_fields = fields.len();
            let (mut whole, mut values): (Vec<ModelExpr>, Vec<ModelExpr>) = send
                .values
                .iter()
                .enumerate()
                .map(|(at, value)| {
                    let value = self.number(value, view);
                    (value.expr.clone(), value.cut(field_bounds(fields, at)))
                })
                .unzip();
            // SPIN reports too few values when they are sent, and goes on as if the others were 0.
            let is_short = values.len() < n_fields;
            whole.resize(n_fields, number(0, span));
            values.resize(n_fields, number(0, span));
            let mut ways = Vec::new();
            match self.made[at].clone() {
                Made::Meeting(channel) => {
                    let sync = Some(Sync { channel, side: SyncSide::Send(values) });
                    ways.push(Move { guard: conditions, sync, executable: Executable::Send, ..Move::default() });
                }
                Made::Buffer { length, rows, capacity } => {
                    let buffer = Buffer { at, length, rows: &rows, capacity, span };
                    let compared = send.is_sorted.then_some(&*whole);
                    let last = terms::binary(ModelOp::Subtract, buffer.length(), number(1, span));
                    let field = |at: usize| read(shared(rows[at], vec![last.clone()], span));
                    for one in buffered_send(buffer, &conditions, &values, compared) {
                        // The event is that of the last message, which has just been put there.
                        let (n_before, watched) = (one.body.len(), self.watched((at, true), &field, span));
                        ways.extend(self.watched_moves(one, n_before, watched));
                    }
                }
            }
            moves.extend(self.with_failures(ways, is_short, span));
        }
        moves
    }

    /// Moves that SPIN reports as errors and passes over, if they are wrong.
    fn with_failures(&self, mut ways: Vec<Move>, is_wrong: bool, span: Span) -> Vec<Move> {
        if is_wrong && !self.options.ignores_assertions {
            let wrong = Stmt { kind: StmtKind::Assert(terms::truth(false, span)), span };
            let failed = |way: &Move| Move { body: vec![wrong.clone()], ..way.clone() };
            let failed: Vec<Move> = ways.iter().map(failed).collect();
            ways.extend(failed);
        }
        ways
    }

    /// Whether the process that a channel belongs to exists, where it may have died before who looks. Then SPIN has no such channel any more: a send, and
    /// what asks whether there is room, is an error; so is a receive, if the program has channels without a buffer, which it tests before.
    pub(super) fn has_owner(&self, at: usize, view: View, span: Span) -> Option<ModelExpr> {
        let owner = self.setting.world.channels[at].owner?;
        let count = self.n_processes.filter(|_| self.options.deaths)?;
        let instances = &self.setting.world.instances;
        let outlives = |member: &usize| instances[*member].pid < owner.pid;
        let may_outlive = view.is_none_or(|family| self.setting.families[family].members.iter().any(outlives));
        // Who exists at the start and never ends is always there.
        let is_lasting = |one: &super::world::Instance| one.exists && !self.setting.graphs[one.proctype].may_end();
        let lasts = instances.iter().filter(|one| one.pid == owner.pid).all(is_lasting);
        let exists = || {
            let count = terms::read(shared(count, Vec::new(), span));
            terms::binary(ModelOp::Greater, count, number(owner.pid, span))
        };
        (may_outlive && !lasts).then(exists)
    }

    /// The error of using a channel whose process has died; otherwise the conditions say that it exists.
    fn dead(&self, at: usize, conditions: &mut Vec<ModelExpr>, (view, span): (View, Span)) -> Option<Move> {
        let exists = self.has_owner(at, view, span)?;
        let missing = conditions.iter().cloned().chain([not(exists.clone())]).collect();
        conditions.push(exists);
        Some(Move::error(missing, span))
    }

    /// A message that is lost since the buffer is full, where that is so: nobody looks at its values.
    fn lost(&self, at: usize, conditions: &[ModelExpr], span: Span) -> Option<Move> {
        let Made::Buffer { length, capacity, .. } = self.made[at] else { return None };
        let is_full = equal(read(shared(length, Vec::new(), span)), number(capacity as i64, span));
        let guard = conditions.iter().cloned().chain([is_full]).collect();
        self.options.is_lossy.then(|| Move { guard, ..Move::default() })
    }

    /// The conditions, and that a buffer is not full.
    fn has_room(&self, at: usize, mut conditions: Vec<ModelExpr>, span: Span) -> Vec<ModelExpr> {
        if let Made::Buffer { length, capacity, .. } = self.made[at] {
            let length = read(shared(length, Vec::new(), span));
            conditions.push(terms::binary(ModelOp::Less, length, number(capacity as i64, span)));
        }
        conditions
    }

    /// Whether a receive has more patterns than the messages of its channel have fields, of which SPIN reads none; only where there is a single field
    /// the others are 0.
    fn has_too_many(&self, at: usize, patterns: &[Pattern]) -> bool {
        let n_fields = self.setting.world.channels[at].fields.len();
        let is_single = n_fields == 1 && matches!(self.made[at], Made::Buffer { .. });
        patterns.len() > n_fields && !is_single
    }

    /// A receive with more patterns than its channel has fields is an error where there is a message.
    fn too_many_patterns(&self, at: usize, mut guard: Vec<ModelExpr>, span: Span) -> Move {
        match self.made[at] {
            Made::Buffer { length, .. } => {
                let length = read(shared(length, Vec::new(), span));
                guard.push(terms::binary(ModelOp::Greater, length, number(0, span)));
                Move::error(guard, span)
            }
            Made::Meeting(channel) => {
                let n_fields = self.setting.world.channels[at].fields.len();
                let side = SyncSide::Receive(vec![ModelPattern::Ignored; n_fields]);
                let sync = Some(Sync { channel, side });
                Move { sync, executable: Executable::Never, ..Move::error(guard, span) }
            }
        }
    }

    /// The steps of a receive.
    pub(super) fn receive(&mut self, receive: &Receive<'_>, view: View) -> Vec<Move> {
        let mut moves = Vec::new();
        let span = self.span(receive.span);
        let options = self.channels_of(receive.channel, view);
        for ChannelOption { conditions, channel } in options {
            let Some(at) = channel else {
                moves.push(Move::error(conditions, span));
                continue;
            };
            let mut conditions = conditions;
            if self.setting.world.channels.iter().any(|channel| channel.capacity == 0) {
                moves.extend(self.dead(at, &mut conditions, (view, span)));
            }
            if self.has_too_many(at, receive.patterns) {
                moves.push(self.too_many_patterns(at, conditions, span));
                continue;
            }
            let ways = match self.made[at].clone() {
                Made::Meeting(channel) => self.meeting(receive, (at, channel), conditions, view),
                Made::Buffer { length, rows, capacity } => {
                    let buffer = Buffer { at, length, rows: &rows, capacity, span };
                    self.buffered_receive(receive, buffer, &conditions, view)
                }
            };
            let is_wrong = receive.patterns.len() != self.setting.world.channels[at].fields.len() && !receive.is_copy;
            moves.extend(self.with_failures(ways, is_wrong, span));
        }
        moves
    }

    fn meeting(
        &mut self,
        receive: &Receive<'_>,
        (at, channel): (usize, ChannelId),
        guard: Vec<ModelExpr>,
        view: View,
    ) -> Vec<Move> {
        if receive.is_copy {
            self.not_read(receive.span, "`?<…>` on a channel without a buffer");
            return Vec::new();
        }
        let Some(family) = view else { return Vec::new() };
        let is_aside = self.is_taken_aside(receive, at) || self.trace.as_ref().is_some_and(|watch| watch.watches(at));
        let span = self.span(receive.span);
        let (mut patterns, mut body) = (Vec::new(), Vec::new());
        for (field, pattern) in receive.patterns.iter().enumerate() {
            let is_compared = self.trace.as_ref().is_some_and(|watch| watch.compares(at, field));
            patterns.push(match pattern {
                Pattern::Ignore if is_compared => {
                    let aside = self.aside((at, field), family, span);
                    body.push(assign(vec![(aside.clone(), number(0, span))], span));
                    ModelPattern::Into(aside)
                }
                Pattern::Ignore => ModelPattern::Ignored,
                Pattern::Match(expr) => ModelPattern::Equal(self.number(expr, view).expr),
                Pattern::Store(target) if is_aside => {
                    // The variables take their values one after another, as in SPIN.
                    let aside = self.aside((at, field), family, span);
                    let range = self.ranges.field(at, field);
                    let bounds = self.setting.program.leaves[target.leaf].bounds();
                    let value = Term { expr: terms::read(aside.clone()), range }.cut(bounds);
                    let Some(access) = self.access(target, view) else { continue };
                    body.push(assign(vec![(access, value)], span));
                    body.push(assign(vec![(aside.clone(), number(0, span))], span));
                    ModelPattern::Into(aside)
                }
                Pattern::Store(target) => match self.access(target, view) {
                    Some(access) => ModelPattern::Into(access),
                    None => continue,
                },
            });
        }
        patterns.resize(self.setting.world.channels[at].fields.len(), ModelPattern::Ignored);
        let field = |field: usize| match patterns.get(field) {
            Some(ModelPattern::Into(access)) => read(access.clone()),
            Some(ModelPattern::Equal(value)) => value.clone(),
            _ => number(0, span),
        };
        // First it is sent, then it is received.
        let events = [self.watched((at, false), &field, span), self.watched((at, true), &field, span)];
        let sync = Some(Sync { channel, side: SyncSide::Receive(patterns) });
        let mut moves = vec![Move { guard, sync, body, executable: Executable::Never, ..Move::default() }];
        for watched in events {
            let with = |one: Move| self.watched_moves(one, 0, watched.clone());
            moves = moves.into_iter().flat_map(with).collect();
        }
        moves
    }

    /// Whether what is received at a meeting is first taken aside: where a value is cut, or an index is changed by the same message.
    fn is_taken_aside(&self, receive: &Receive<'_>, at: usize) -> bool {
        let mut stored: Vec<usize> = Vec::new();
        for (field, pattern) in receive.patterns.iter().enumerate() {
            let Pattern::Store(target) = pattern else { continue };
            let mut depends = false;
            for index in &target.indices {
                index.walk(&mut |part| {
                    depends |= matches!(&part.kind, ExprKind::Read(one) if stored.contains(&one.leaf));
                });
            }
            let bounds = self.setting.program.leaves[target.leaf].bounds();
            let range = self.ranges.field(at, field);
            if depends || range.0 < bounds.0 || range.1 > bounds.1 {
                return true;
            }
            stored.push(target.leaf);
        }
        false
    }

    /// A variable of a family for a field of a message that is being received; 0 in all states.
    fn aside(&mut self, (at, field): (usize, usize), family: usize, span: Span) -> Access {
        let known = self.asides.get(&(family, at, field)).copied();
        let var = known.unwrap_or_else(|| {
            let id = self.family_ids[family];
            let (lo, hi) = self.ranges.field(at, field);
            let name = format!("{} received {}", self.setting.world.channels[at].name, field + 1);
            let var = self.add_var(&name, (Storage::Local(id), span), (lo.min(0), hi.max(0)), (&[], &[0]));
            self.model.families[id].vars.push(var);
            self.asides.insert((family, at, field), var);
            var
        });
        Access { var, whose: Whose::Mine, indices: Vec::new(), span }
    }

    /// Whether the message at a position matches.
    fn matches(&mut self, buffer: Buffer<'_>, at: usize, (patterns, view): (&[Pattern], View)) -> ModelExpr {
        let mut conditions = vec![buffer.holds(at)];
        for (field, pattern) in patterns.iter().enumerate() {
            if let Pattern::Match(expr) = pattern {
                let wanted = self.number(expr, view).expr;
                conditions.push(match field.min(buffer.rows.len().saturating_sub(1)) {
                    // What SPIN would compare is not there.
                    last if last != field && last > 0 => equal(terms::fault(buffer.span), number(0, buffer.span)),
                    last if last != field => equal(number(0, buffer.span), wanted),
                    field => equal(buffer.slot(field, at), wanted),
                });
            }
        }
        all(conditions, buffer.span)
    }

    fn buffered_receive(
        &mut self,
        receive: &Receive<'_>,
        buffer: Buffer<'_>,
        conditions: &[ModelExpr],
        view: View,
    ) -> Vec<Move> {
        let last = if receive.is_random { buffer.capacity } else { 1 };
        let matches: Vec<ModelExpr> = (0..last).map(|at| self.matches(buffer, at, (receive.patterns, view))).collect();
        let mut moves = Vec::new();
        for at in 0..last {
            let guard = conditions.iter().cloned();
            let guard = guard.chain(matches[..at].iter().cloned().map(not)).chain([matches[at].clone()]).collect();
            let mut body = Vec::new();
            // The variables take their values one after another, as in SPIN.
            for (field, pattern) in receive.patterns.iter().enumerate() {
                let Pattern::Store(target) = pattern else { continue };
                let Some(access) = self.access(target, view) else { continue };
                let bounds = self.setting.program.leaves[target.leaf].bounds();
                let value = match field < buffer.rows.len() {
                    true => {
                        let range = self.ranges.field(buffer.at, field);
                        Term { expr: buffer.slot(field, at), range }.cut(bounds)
                    }
                    false => number(0, buffer.span),
                };
                body.push(assign(vec![(access, value)], buffer.span));
            }
            if !receive.is_copy {
                body.push(buffer.remove(at));
            }
            let field = |at: usize| buffer.slot(at, 0);
            let watched = match receive.is_copy {
                true => None,
                false => self.watched((buffer.at, false), &field, buffer.span),
            };
            moves.extend(self.watched_moves(Move { guard, body, ..Move::default() }, 0, watched));
        }
        moves
    }

    /// Whether a receive would find a message.
    pub(super) fn poll(&mut self, channel: &Ref, is_random: bool, (patterns, view): (&[Pattern], View)) -> ModelExpr {
        let span = self.span(channel.span);
        let mut found = Vec::new();
        for ChannelOption { conditions, channel: position } in self.channels_of(channel, view) {
            let condition = all(conditions, span);
            let Some(at) = position else {
                found.push(terms::and(condition, equal(terms::fault(span), number(0, span))));
                continue;
            };
            let Made::Buffer { length, rows, capacity } = self.made[at].clone() else {
                // SPIN reports an error here, and goes on as if there were no message.
                if !self.options.ignores_assertions {
                    found.push(terms::and(condition, equal(terms::fault(span), number(0, span))));
                }
                continue;
            };
            let buffer = Buffer { at, length, rows: &rows, capacity, span };
            let last = if is_random { capacity } else { 1 };
            if let Some(exists) = self.has_owner(at, view, span).filter(|_| is_random) {
                let wrong = equal(terms::fault(span), number(0, span));
                found.push(terms::and(terms::and(condition.clone(), not(exists)), wrong));
            }
            let matches: Vec<ModelExpr> = (0..last).map(|at| self.matches(buffer, at, (patterns, view))).collect();
            found.push(terms::and(condition, any(matches, span)));
        }
        any(found, span)
    }
}

/// A send of `values`; a sorted one compares what the values were before they were cut with what is stored, as SPIN does.
fn buffered_send(
    buffer: Buffer<'_>,
    conditions: &[ModelExpr],
    values: &[ModelExpr],
    compared: Option<&[ModelExpr]>,
) -> Vec<Move> {
    let Buffer { span, capacity, .. } = buffer;
    let has_room = terms::binary(ModelOp::Less, buffer.length(), number(capacity as i64, span));
    let guard: Vec<ModelExpr> = conditions.iter().cloned().chain([has_room]).collect();
    let Some(compared) = compared else {
        let mut pairs: Vec<_> = buffer
            .rows
            .iter()
            .zip(values)
            .map(|(&row, value)| (shared(row, vec![buffer.length()], span), value.clone()))
            .collect();
        let more = terms::binary(ModelOp::Add, buffer.length(), number(1, span));
        pairs.push((shared(buffer.length, Vec::new(), span), more));
        return vec![Move { guard, body: vec![assign(pairs, span)], ..Move::default() }];
    };
    let stops = |at: usize| {
        let behind = terms::binary(ModelOp::LessEqual, buffer.length(), number(at as i64, span));
        terms::or(behind, buffer.is_greater(at, compared))
    };
    let position = |at: usize| {
        let before = (0..at).map(|earlier| not(stops(earlier)));
        let guard = guard.iter().cloned().chain(before).chain([stops(at)]).collect();
        Move { guard, body: vec![buffer.insert(at, values)], ..Move::default() }
    };
    (0..capacity).map(position).collect()
}
