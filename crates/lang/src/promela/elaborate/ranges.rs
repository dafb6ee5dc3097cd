//! The numbers that variables and messages can hold, as intervals.
//!
//! In: all edges of all families. Out: for each leaf and each field of a channel an interval that contains every value it can get. Values flow
//! along assignments, messages and arguments; guards are not looked at. A leaf that keeps growing is widened to the bounds of its type.

use std::collections::HashMap;

use super::super::ast::{BinaryOp, Query};
use super::super::graph::Does;
use super::super::program::{Expr, ExprKind, LeafId, Op, Pattern, Ref, Start, field_bounds};
use super::families::{ChannelSets, Setting, position};

/// An interval, both ends included.
pub(super) type Interval = (i64, i64);

/// All numbers of 32 bits.
const ALL: Interval = (i32::MIN as i64, i32::MAX as i64);
/// How often an interval grows before it is widened.
const PATIENCE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Leaf(LeafId),
    /// A field of a channel, by their positions.
    Field(usize, usize),
}

/// Intervals of everything that holds numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    found: HashMap<Holder, (Interval, usize)>,
}

impl Ranges {
    /// Computes all intervals.
    pub fn new(setting: Setting<'_>, sets: &ChannelSets) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.start(setting);
        loop {
            let before = ranges.found.clone();
            for (family, members) in setting.families.iter().enumerate() {
                for edge in setting.graphs[members.proctype].nodes.iter().flat_map(|node| &node.edges) {
                    if let Does::Op(op) = &edge.does {
                        ranges.pass_on(op, family, (setting, sets));
                    }
                }
                ranges.births(family, setting);
            }
            let same = before.len() == ranges.found.len()
                && before.iter().all(|(holder, (interval, _))| ranges.found[holder].0 == *interval);
            if same {
                return ranges;
            }
        }
    }

    fn start(&mut self, setting: Setting<'_>) {
        let rows = setting.world.globals.iter();
        let locals = setting.world.instances.iter().flat_map(|instance| instance.values.iter());
        for (&leaf, row) in rows.chain(locals) {
            for &value in row {
                self.join(Holder::Leaf(leaf), (value, value), ALL);
            }
        }
        for (at, channel) in setting.world.channels.iter().enumerate() {
            for field in 0..channel.fields.len() {
                self.join(Holder::Field(at, field), (0, 0), ALL);
                for message in &channel.contents {
                    self.join(Holder::Field(at, field), (message[field], message[field]), ALL);
                }
            }
        }
    }

    /// What the variables of a process that is created start with.
    fn births(&mut self, family: usize, setting: Setting<'_>) {
        if setting.families[family].exists {
            return;
        }
        for &leaf in &setting.program.proctypes[setting.families[family].proctype].leaves {
            match &setting.program.leaves[leaf].init {
                Start::Value(value) => {
                    let interval = self.of(value, family, setting);
                    self.store(leaf, interval, setting);
                }
                Start::List(values) => {
                    for value in values {
                        let interval = self.of(value, family, setting);
                        self.store(leaf, interval, setting);
                    }
                }
                Start::Zero | Start::Channel { .. } => {}
            }
        }
    }

    fn join(&mut self, holder: Holder, (lo, hi): Interval, (least, most): Interval) {
        match self.found.get_mut(&holder) {
            None => {
                self.found.insert(holder, ((lo, hi), 0));
            }
            Some(((known_lo, known_hi), n_grown)) => {
                if lo >= *known_lo && hi <= *known_hi {
                    return;
                }
                *n_grown += 1;
                let is_impatient = *n_grown > PATIENCE;
                if lo < *known_lo {
                    *known_lo = if is_impatient { least } else { lo };
                }
                if hi > *known_hi {
                    *known_hi = if is_impatient { most } else { hi };
                }
            }
        }
    }

    fn store(&mut self, leaf: LeafId, interval: Interval, setting: Setting<'_>) {
        let bounds = setting.program.leaves[leaf].bounds();
        self.join(Holder::Leaf(leaf), cut(interval, bounds), bounds);
    }

    fn pass_on(&mut self, op: &Op, family: usize, (setting, sets): (Setting<'_>, &ChannelSets)) {
        match op {
            Op::Assign(pairs) => {
                for (target, value) in pairs {
                    let interval = self.of(value, family, setting);
                    self.store(target.leaf, interval, setting);
                }
            }
            Op::Run { proctype, arguments, result, .. } => {
                for (&parameter, argument) in setting.program.proctypes[*proctype].parameters.iter().zip(arguments) {
                    let interval = self.of(argument, family, setting);
                    self.store(parameter, interval, setting);
                }
                if let Some(result) = result {
                    let interval = self.of(&result.value, family, setting);
                    self.store(result.target.leaf, interval, setting);
                }
            }
            Op::Send { channel, values, .. } => {
                for number in sets.held(channel, family, setting) {
                    let Some(at) = position(number, setting.world) else { continue };
                    let fields = &setting.world.channels[at].fields;
                    for (field, value) in values.iter().take(fields.len()).enumerate() {
                        let interval = self.of(value, family, setting);
                        let bounds = field_bounds(fields, field);
                        self.join(Holder::Field(at, field), cut(interval, bounds), bounds);
                    }
                }
            }
            Op::Receive { channel, patterns, .. } => {
                for number in sets.held(channel, family, setting) {
                    let Some(at) = position(number, setting.world) else { continue };
                    for (field, pattern) in patterns.iter().enumerate() {
                        if let Pattern::Store(target) = pattern {
                            // What is not there is 0.
                            let interval = self.field(at, field);
                            self.store(target.leaf, interval, setting);
                        }
                    }
                }
            }
            Op::Skip | Op::Print | Op::Guard(_) | Op::Assert(_) | Op::SetPriority { .. } | Op::Event { .. } => {}
        }
    }

    /// The numbers that a leaf can hold.
    pub fn leaf(&self, leaf: LeafId) -> Interval {
        self.found.get(&Holder::Leaf(leaf)).map_or((0, 0), |(interval, _)| *interval)
    }

    /// The numbers that a field of a channel can hold.
    pub fn field(&self, channel: usize, field: usize) -> Interval {
        self.found.get(&Holder::Field(channel, field)).map_or((0, 0), |(interval, _)| *interval)
    }

    /// The numbers that a variable can hold, seen from a family.
    pub fn read(&self, one: &Ref, family: Option<usize>, setting: Setting<'_>) -> Interval {
        let known = family.map(|family| &setting.families[family]);
        if let Some(row) = known.and_then(|family| family.constants.get(&one.leaf)) {
            let (lo, hi) = (row.iter().min(), row.iter().max());
            return (lo.copied().unwrap_or(0), hi.copied().unwrap_or(0));
        }
        self.leaf(one.leaf)
    }

    /// The numbers that an expression can have.
    fn of(&self, expr: &Expr, family: usize, setting: Setting<'_>) -> Interval {
        self.of_expr(expr, Some(family), setting)
    }

    /// The same, also for an expression outside all processes.
    pub fn of_expr(&self, expr: &Expr, family: Option<usize>, setting: Setting<'_>) -> Interval {
        let of = |expr: &Expr| self.of_expr(expr, family, setting);
        match &expr.kind {
            ExprKind::Const(value) => (*value, *value),
            ExprKind::Read(one) => self.read(one, family, setting),
            ExprKind::Not(_)
            | ExprKind::Poll { .. }
            | ExprKind::Timeout
            | ExprKind::NonProgress
            | ExprKind::Enabled(_)
            | ExprKind::At { .. } => (0, 1),
            ExprKind::StateNumber(_) => {
                let ends = setting.program.proctypes.iter().map(|proctype| proctype.end_number as i64);
                (0, ends.max().unwrap_or(0))
            }
            ExprKind::Negate(inner) => {
                let (lo, hi) = of(inner);
                wrapped((-hi, -lo))
            }
            ExprKind::Complement(inner) => {
                let (lo, hi) = of(inner);
                (!hi, !lo)
            }
            ExprKind::Binary(op, left, right) => binary(*op, of(left), of(right)),
            ExprKind::If(_, yes, no) => {
                let (yes, no) = (of(yes), of(no));
                (yes.0.min(no.0), yes.1.max(no.1))
            }
            ExprKind::Query(Query::Len, _) => (0, 255),
            ExprKind::Query(..) => (0, 1),
            ExprKind::NrPr | ExprKind::Last | ExprKind::Priority(_) | ExprKind::Started => (0, 255),
            ExprKind::Pid => match family.map(|family| &setting.families[family]) {
                Some(family) => (family.first_pid, family.first_pid + family.members.len() as i64 - 1),
                None => (0, 255),
            },
            ExprKind::Remote { variable, .. } => self.leaf(variable.leaf),
        }
    }
}

/// An interval of what is left of numbers that are cut to a type.
pub(super) fn cut((lo, hi): Interval, (least, most): Interval) -> Interval {
    if lo >= least && hi <= most { (lo, hi) } else { (least, most) }
}

/// An interval of numbers cut to 32 bits.
pub(super) fn wrapped(interval: Interval) -> Interval {
    cut(interval, ALL)
}

/// The numbers that an operator can yield, cut to 32 bits.
pub(super) fn binary(op: BinaryOp, left: Interval, right: Interval) -> Interval {
    wrapped(exact(op, left, right))
}

/// The numbers that an operator can yield before they are cut.
pub(super) fn exact(op: BinaryOp, (a, b): Interval, (c, d): Interval) -> Interval {
    let corners = |apply: fn(i64, i64) -> i64| {
        let all = [apply(a, c), apply(a, d), apply(b, c), apply(b, d)];
        (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
    };
    // All numbers with as many bits as the greatest of both.
    let bits = || (1i64 << (64 - b.max(d).leading_zeros())) - 1;
    let is_natural = a >= 0 && c >= 0;
    match op {
        BinaryOp::Add => (a + c, b + d),
        BinaryOp::Subtract => (a - d, b - c),
        BinaryOp::Multiply => corners(|x, y| x * y),
        BinaryOp::Divide if is_natural => (0, b),
        BinaryOp::Divide => {
            let most = a.abs().max(b.abs());
            (-most, most)
        }
        BinaryOp::Remainder => {
            let most = (c.abs().max(d.abs()) - 1).max(0).min(a.abs().max(b.abs()));
            (if a < 0 { -most } else { 0 }, if b > 0 { most } else { 0 })
        }
        BinaryOp::BitAnd if is_natural => (0, b.min(d)),
        BinaryOp::BitAnd if c >= 0 => (0, d),
        BinaryOp::BitAnd if a >= 0 => (0, b),
        BinaryOp::BitOr | BinaryOp::BitXor if is_natural => (0, bits()),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => ALL,
        BinaryOp::ShiftLeft if is_natural && d < 32 => (a << c, b << d),
        BinaryOp::ShiftLeft => (ALL.0 << 31, ALL.1 << 31),
        BinaryOp::ShiftRight if a >= 0 => (0, b),
        BinaryOp::ShiftRight => (a, b.max(0)),
        _ => (0, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::values;
    use super::*;

    #[test]
    fn results_lie_within_their_intervals() {
        let ops = [
            BinaryOp::Add,
            BinaryOp::Subtract,
            BinaryOp::Multiply,
            BinaryOp::Divide,
            BinaryOp::Remainder,
            BinaryOp::BitAnd,
            BinaryOp::BitOr,
            BinaryOp::BitXor,
            BinaryOp::ShiftLeft,
            BinaryOp::ShiftRight,
            BinaryOp::Less,
        ];
        let ends = [-9, -4, -1, 0, 1, 3, 6, 40];
        let all: Vec<Interval> =
            ends.iter().flat_map(|&lo| ends.iter().map(move |&hi| (lo, hi))).filter(|(lo, hi)| lo <= hi).collect();
        for op in ops {
            for &left in &all {
                for &right in &all {
                    let (lo, hi) = binary(op, left, right);
                    for a in left.0..=left.1 {
                        for b in right.0..=right.1 {
                            if let Some(value) = values::apply(op, a, b) {
                                assert!(lo <= value && value <= hi, "{a} {op:?} {b} = {value}, not in {lo}..{hi}");
                            }
                        }
                    }
                }
            }
        }
    }
}
