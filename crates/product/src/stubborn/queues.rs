//! Sends and receives of buffered channels: what is known to commute although both write the channel.
//!
//! In: the actions of a program. Out: for each action the channel that it appends to, or takes a message from. A send puts a message behind the last one and asks
//! only whether there is room; a receive looks at messages up to one position, takes the one there away, and moves up those behind. Where both
//! are enabled there is room, and a message at that position; so neither sees what the other changes, and either order leaves the same row.
//! Anything else that an action says about the channel (`len`, `full`, a second send) makes it an action like others.

use std::slice;

use model::Model;
use model::control::{Action, ActionKind, Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::statements::statements;
use model::value::Value;
use model::variable::{CellId, Storage, VarId, VariableLook};
use model::visit::{access_parts, each_part};

/// A channel with a buffer.
pub struct Queue {
    length: VarId,
    rows: Vec<VarId>,
    /// How many messages a row has room for.
    capacity: i64,
    /// The cells of both.
    pub cells: Vec<CellId>,
}

/// What an action does to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUse {
    /// Puts a message behind the last one, and knows no more of the channel than that there is room.
    Append,
    /// Takes a message away, and knows no more than what is up to it.
    Take,
}

/// How a channel is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mention {
    /// In any way.
    Any,
    /// It is written.
    Written,
}

/// The buffered channels of a program: one variable for the number of messages, and rows of slots. Arrays of channels are not among them.
pub fn queues(model: &Model) -> Vec<Queue> {
    let is_plain = |id: VarId| matches!(model.vars[id].storage, Storage::Shared);
    let name = |id: VarId| match &model.vars[id].look {
        VariableLook::ChannelLength(name) => Some((name, true)),
        VariableLook::ChannelRow(name) => Some((name, false)),
        _ => None,
    };
    let lengths = model.vars.ids().filter(|&id| name(id).is_some_and(|(_, is_length)| is_length) && is_plain(id));
    let queue = |length: VarId| {
        let of = name(length)?.0;
        let rows: Vec<VarId> = model.vars.ids().filter(|&id| name(id) == Some((of, false))).collect();
        let is_single = model.vars[length].ty.n_cells() == 1 && rows.iter().all(|&row| is_plain(row));
        let namesakes = model.vars.ids().filter(|&id| name(id) == Some((of, true))).count();
        let capacity = model.vars[*rows.first()?].ty.n_cells();
        let is_even = rows.iter().all(|&row| model.vars[row].ty.n_cells() == capacity);
        let cells = rows.iter().chain([&length]).flat_map(|&var| model.cells_of(var, None)).collect();
        (is_single && is_even && namesakes == 1).then_some(Queue { length, rows, capacity: capacity as i64, cells })
    };
    lengths.filter_map(queue).collect()
}

impl Queue {
    /// What an action does to the channel, where it is one of the two things that commute.
    pub fn use_of(&self, action: &Action) -> Option<QueueUse> {
        if action.sync.is_some() || !matches!(action.kind, ActionKind::Plain) || action.goes_on {
            return None;
        }
        let mut changes =
            action.body.iter().enumerate().filter(|(_, stmt)| self.is_mentioned_by(stmt, Mention::Written));
        let (Some((at, change)), None) = (changes.next(), changes.next()) else { return None };
        let StmtKind::Assign(pairs) = &change.kind else { return None };
        let (before, after) = (&action.body[..at], &action.body[at + 1..]);
        if after.iter().any(|stmt| self.is_mentioned_by(stmt, Mention::Any)) {
            return None;
        }
        let mut awaited: Vec<&Expr> = Vec::new();
        action.guard.iter().for_each(|guard| conjuncts(guard, &mut awaited));
        if self.is_append(pairs) {
            let is_room = |part: &&Expr| self.is_room(part);
            let others = awaited.iter().filter(|part| !is_room(part)).all(|part| !self.is_mentioned_in(part));
            let has_room = awaited.iter().any(is_room);
            return (has_room && others && before.iter().all(|stmt| !self.is_mentioned_by(stmt, Mention::Any)))
                .then_some(QueueUse::Append);
        }
        let position = self.taken(pairs)?;
        let has_message = awaited.iter().any(|part| self.holds_more_than(part).is_some_and(|least| least >= position));
        let is_within = awaited.iter().all(|part| self.looks_up_to(part, position))
            && before.iter().all(|stmt| self.statement_looks_up_to(stmt, position));
        (has_message && is_within).then_some(QueueUse::Take)
    }

    fn owns(&self, var: VarId) -> bool {
        var == self.length || self.rows.contains(&var)
    }

    /// Whether a statement, or one inside it, mentions the channel.
    fn is_mentioned_by(&self, stmt: &Stmt, how: Mention) -> bool {
        let reads = |expr: &Expr| how == Mention::Any && self.is_mentioned_in(expr);
        let target = |access: &Access| {
            let mut found = self.owns(access.var);
            access_parts(access, &mut |part| found |= how == Mention::Any && self.is_read_at(part));
            found
        };
        statements(slice::from_ref(stmt))
            .any(|inner| inner.targets().into_iter().any(target) || inner.expressions().into_iter().any(reads))
    }

    fn is_mentioned_in(&self, expr: &Expr) -> bool {
        let mut found = false;
        each_part(expr, &mut |part| found |= self.is_read_at(part));
        found
    }

    /// Whether the expression itself, not one inside it, reads the channel.
    fn is_read_at(&self, part: &Expr) -> bool {
        matches!(&part.kind, ExprKind::Read(access) if self.owns(access.var))
    }

    fn is_length(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Read(access) if access.var == self.length && is_whole(access))
    }

    /// `length < capacity`, where that is the length of the rows.
    fn is_room(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Binary(BinaryOp::Less, left, right) if self.is_length(left) && number(right).is_some_and(|most| most <= self.capacity))
    }

    /// How many messages there are more than, where the expression says that.
    fn holds_more_than(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Greater, left, right) if self.is_length(left) => number(right),
            _ => None,
        }
    }

    /// `row[length] = …` for each row, and one message more.
    fn is_append(&self, pairs: &[(Access, Expr)]) -> bool {
        let is_more = |value: &Expr| matches!(&value.kind, ExprKind::Binary(BinaryOp::Add, left, right) if self.is_length(left) && number(right) == Some(1));
        let fits = |(target, value): &(Access, Expr)| match () {
            () if target.var == self.length => is_whole(target) && is_more(value),
            () if self.rows.contains(&target.var) => {
                let [index] = &target.indices[..] else { return false };
                matches!(target.whose, Whose::Shared) && self.is_length(index) && !self.is_mentioned_in(value)
            }
            () => false,
        };
        pairs.iter().all(fits) && self.each_is_written_once(pairs, |_| 1)
    }

    /// The position of the message that is taken away: all slots from there on move up.
    fn taken(&self, pairs: &[(Access, Expr)]) -> Option<i64> {
        let slot = |access: &Access| match &access.indices[..] {
            [index] if matches!(access.whose, Whose::Shared) => number(index),
            _ => None,
        };
        let position = pairs
            .iter()
            .filter(|(target, _)| target.var != self.length)
            .filter_map(|(target, _)| slot(target))
            .min()?;
        let (last, n_slots) = (self.capacity - 1, self.capacity - position);
        let is_fewer = |value: &Expr| matches!(&value.kind, ExprKind::Binary(BinaryOp::Subtract, left, right) if self.is_length(left) && number(right) == Some(1));
        let fits = |(target, value): &(Access, Expr)| {
            if target.var == self.length {
                return is_whole(target) && is_fewer(value);
            }
            let Some(at) = slot(target).filter(|_| self.rows.contains(&target.var)) else { return false };
            match &value.kind {
                ExprKind::Read(next) => at < last && next.var == target.var && slot(next) == Some(at + 1),
                ExprKind::Const(_) => at == last,
                _ => false,
            }
        };
        let is_whole_row =
            self.each_is_written_once(pairs, |row| if row == self.length { 1 } else { n_slots as usize });
        (pairs.iter().all(fits) && is_whole_row).then_some(position)
    }

    /// Whether each variable of the channel is written so many times, at different places, and nothing else is.
    fn each_is_written_once(&self, pairs: &[(Access, Expr)], wanted: impl Fn(VarId) -> usize) -> bool {
        let writes = |var: VarId| pairs.iter().filter(move |(target, _)| target.var == var);
        let is_right = |&var: &VarId| {
            let targets: Vec<&Access> = writes(var).map(|(target, _)| target).collect();
            let differ = targets
                .iter()
                .enumerate()
                .all(|(at, one)| targets[..at].iter().all(|other| one.indices != other.indices));
            targets.len() == wanted(var) && differ
        };
        let vars = self.rows.iter().chain([&self.length]);
        vars.clone().all(is_right) && vars.map(|&var| wanted(var)).sum::<usize>() == pairs.len()
    }

    /// Whether all that an expression says of the channel is about messages up to a position: `length > k` and slots up to there.
    fn looks_up_to(&self, expr: &Expr, position: i64) -> bool {
        if let Some(least) = self.holds_more_than(expr) {
            return 0 <= least && least <= position;
        }
        match &expr.kind {
            ExprKind::Read(access) if self.owns(access.var) => match &access.indices[..] {
                [index] if access.var != self.length => {
                    matches!(access.whose, Whose::Shared) && number(index).is_some_and(|at| 0 <= at && at <= position)
                }
                _ => false,
            },
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.looks_up_to(inner, position),
            ExprKind::Binary(_, left, right) => self.looks_up_to(left, position) && self.looks_up_to(right, position),
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().all(|part| self.looks_up_to(part, position)),
            _ => !self.is_mentioned_in(expr),
        }
    }

    fn statement_looks_up_to(&self, stmt: &Stmt, position: i64) -> bool {
        match &stmt.kind {
            StmtKind::Assign(pairs) => pairs.iter().all(|(target, value)| {
                let indices = target.indices.iter().all(|index| !self.is_mentioned_in(index));
                let is_apart = match &target.whose {
                    Whose::Of(who) => !self.is_mentioned_in(who),
                    _ => true,
                };
                indices && is_apart && self.looks_up_to(value, position)
            }),
            _ => !self.is_mentioned_by(stmt, Mention::Any),
        }
    }
}

/// Whether the access is to a variable that is one shared cell.
fn is_whole(access: &Access) -> bool {
    access.indices.is_empty() && matches!(access.whose, Whose::Shared)
}

fn number(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Const(Value::Int(number)) => Some(number),
        _ => None,
    }
}

fn conjuncts<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            conjuncts(left, parts);
            conjuncts(right, parts);
        }
        _ => parts.push(expr),
    }
}
