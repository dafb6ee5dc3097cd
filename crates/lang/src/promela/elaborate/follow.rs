//! The paths of one process and the `run`s on them, with intervals for what its own variables hold.
//!
//! In: the graph of a process and what is known of its variables at first. Out: every `run` that it may take, with how many came before; or the
//! `run` that comes again and again. A path is left out only where a condition cannot hold. What other processes change is not known, but within
//! one expression it does not change: in `(n < K -> n : K)` the first `n` is less than `K`.

use std::collections::{BTreeMap, HashSet};

use base::Span;

use super::super::ast::BinaryOp;
use super::super::graph::{Does, Edge, Graph, NodeId};
use super::super::program::{Expr, ExprKind, LeafId, Op, Pattern, ProctypeId, Program, Ref, Start};
use super::super::values;
use super::creation::{Event, MAX_PROCESSES};
use super::ranges::{self, Interval};
use super::world::{Instance, World};

/// How many positions of a process are followed.
const MAX_POSITIONS: usize = 20_000;
/// The two truth values.
const TRUTH: Interval = (0, 1);
/// All numbers of 32 bits.
const ALL: Interval = (i32::MIN as i64, i32::MAX as i64);

/// What is known about the variables of a process: an interval for each element.
pub(super) type Facts = BTreeMap<LeafId, Vec<Interval>>;

/// A process whose paths are followed.
pub(super) struct Follower<'p> {
    pub program: &'p Program,
    pub graph: &'p Graph,
    pub instance: &'p Instance,
    /// The global variables that nothing changes.
    pub constants: &'p HashSet<LeafId>,
    pub world: &'p World,
    /// Whether intervals are kept, or only values that are known exactly: fewer positions.
    pub intervals: bool,
}

impl Follower<'_> {
    /// Nothing is known of a variable but its type.
    pub fn unknown(&self, leaf: LeafId) -> Vec<Interval> {
        let declared = &self.program.leaves[leaf];
        vec![declared.bounds(); declared.n_elements()]
    }

    /// What is known of a process that is started with these arguments.
    pub fn newborn(&self, mut facts: Facts, arguments: &[Option<i64>]) -> Facts {
        let declared = &self.program.proctypes[self.instance.proctype];
        for (&parameter, value) in declared.parameters.iter().zip(arguments) {
            let bounds = self.program.leaves[parameter].bounds();
            if let Some(value) = value.map(|value| values::cut(value, bounds)) {
                facts.insert(parameter, vec![(value, value)]);
            }
        }
        for &leaf in declared.leaves.iter().filter(|leaf| !declared.parameters.contains(leaf)) {
            let bounds = self.program.leaves[leaf].bounds();
            let start = match &self.program.leaves[leaf].init {
                Start::Zero => (0, 0),
                Start::Value(value) => stored(self.value(value, &facts), bounds),
                Start::List(_) | Start::Channel { .. } => continue,
            };
            facts.insert(leaf, vec![start; self.program.leaves[leaf].n_elements()]);
        }
        facts
    }

    /// Follows all paths; the `run`s on them, or the one that comes again and again.
    pub fn follow(
        &self,
        facts: Facts,
        limit: &dyn Fn(ProctypeId) -> Option<usize>,
    ) -> Result<Vec<Event>, (String, Span)> {
        let mut seen: HashSet<(NodeId, Facts, usize)> = HashSet::new();
        let mut open = vec![(self.instance.place, facts, 0usize)];
        let mut events: Vec<Event> = Vec::new();
        while let Some(position) = open.pop() {
            if !seen.insert(position.clone()) {
                continue;
            }
            let (node, facts, n_before) = position;
            for (at, edge) in self.graph.nodes[node].edges.iter().enumerate() {
                let Some(mut after) = self.after(edge, &facts, node) else { continue };
                let mut n_after = n_before;
                if let Does::Op(Op::Run { proctype, arguments, result, .. }) = &edge.does {
                    let bounded = limit(*proctype);
                    if bounded.is_some_and(|limit| n_before >= limit) {
                        continue;
                    }
                    if n_before >= MAX_PROCESSES || seen.len() > MAX_POSITIONS {
                        return Err((self.program.proctypes[*proctype].name.clone(), edge.span));
                    }
                    let site = (self.instance.proctype, node, at);
                    let known = |argument: &Expr| single(self.value(argument, &facts));
                    let arguments = arguments.iter().map(known).collect();
                    events.push(Event { site, proctype: *proctype, n_before, arguments });
                    if let Some(result) = result {
                        self.store(&result.target, ALL, &mut after);
                    }
                    n_after += 1;
                }
                open.push((edge.target, after, n_after));
            }
            if seen.len() > MAX_POSITIONS {
                let mut edges = self.graph.nodes.iter().flat_map(|node| &node.edges);
                let run = edges.find_map(|edge| match &edge.does {
                    Does::Op(Op::Run { proctype, .. }) => {
                        Some((self.program.proctypes[*proctype].name.clone(), edge.span))
                    }
                    _ => None,
                });
                return Err(run.unwrap_or_default());
            }
        }
        Ok(events)
    }

    /// What is known after an edge; `None` where it cannot be taken.
    fn after(&self, edge: &Edge, facts: &Facts, node: NodeId) -> Option<Facts> {
        let mut after = facts.clone();
        match &edge.does {
            Does::Op(Op::Guard(expr)) => {
                self.refine(expr, true, &mut after, Scope::Own)?;
            }
            Does::Op(Op::Assign(pairs)) => {
                for (target, value) in pairs {
                    let value = self.value(value, facts);
                    self.store(target, value, &mut after);
                }
            }
            Does::Op(Op::Receive { patterns, .. }) => {
                for pattern in patterns {
                    if let Pattern::Store(target) = pattern {
                        self.store(target, ALL, &mut after);
                    }
                }
            }
            Does::Else(of) if *of == node => {
                for before in self.graph.before_else(node, edge) {
                    match &before.does {
                        Does::Op(Op::Guard(expr)) => self.refine(expr, false, &mut after, Scope::Own)?,
                        Does::Op(Op::Send { .. } | Op::Receive { .. } | Op::Run { .. }) | Does::Else(_) => {}
                        Does::Op(_) => return None,
                    }
                }
            }
            _ => {}
        }
        Some(after)
    }

    /// Keeps what a condition leaves over; `None` where nothing is left.
    fn refine(&self, expr: &Expr, truth: bool, facts: &mut Facts, scope: Scope) -> Option<()> {
        let (lo, hi) = self.value(expr, facts);
        if if truth { (lo, hi) == (0, 0) } else { lo > 0 || hi < 0 } {
            return None;
        }
        if !self.intervals {
            return Some(());
        }
        match &expr.kind {
            ExprKind::Not(inner) => self.refine(inner, !truth, facts, scope),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                if truth == (*op == BinaryOp::And) {
                    self.refine(left, truth, facts, scope)?;
                    self.refine(right, truth, facts, scope)?;
                }
                Some(())
            }
            ExprKind::Binary(op, left, right) => {
                let op = if truth { Some(*op) } else { opposite(*op) };
                let (Some(op), Some(mirrored)) = (op, op.and_then(mirrored)) else { return Some(()) };
                let bound = self.value(right, facts);
                self.narrow(left, op, bound, facts, scope)?;
                let bound = self.value(left, facts);
                self.narrow(right, mirrored, bound, facts, scope)
            }
            ExprKind::Read(_) if !truth => self.narrow(expr, BinaryOp::Equal, (0, 0), facts, scope),
            _ => Some(()),
        }
    }

    /// Keeps the values of a variable that compare so with some value of an interval.
    fn narrow(
        &self,
        expr: &Expr,
        op: BinaryOp,
        (least, most): Interval,
        facts: &mut Facts,
        scope: Scope,
    ) -> Option<()> {
        let ExprKind::Read(one) = &expr.kind else { return Some(()) };
        if self.program.leaves[one.leaf].owner.is_none() && scope == Scope::Own {
            return Some(());
        }
        let Some(at) = self.position(one, facts) else { return Some(()) };
        let (lo, hi) = self.value(expr, facts);
        let (lo, hi) = match op {
            BinaryOp::Less => (lo, hi.min(most - 1)),
            BinaryOp::LessEqual => (lo, hi.min(most)),
            BinaryOp::Greater => (lo.max(least + 1), hi),
            BinaryOp::GreaterEqual => (lo.max(least), hi),
            BinaryOp::Equal => (lo.max(least), hi.min(most)),
            _ => (lo, hi),
        };
        if lo > hi {
            return None;
        }
        let row = facts.entry(one.leaf).or_insert_with(|| self.unknown(one.leaf));
        if let Some(cell) = row.get_mut(at) {
            *cell = (lo, hi);
        }
        Some(())
    }

    fn store(&self, target: &Ref, value: Interval, facts: &mut Facts) {
        let position = self.position(target, facts);
        let bounds = self.program.leaves[target.leaf].bounds();
        let value = stored(value, bounds);
        let value = if self.intervals || single(value).is_some() { value } else { bounds };
        let Some(row) = facts.get_mut(&target.leaf) else { return };
        match position.and_then(|at| row.get_mut(at)) {
            Some(cell) => *cell = value,
            None => row.fill(bounds),
        }
    }

    fn position(&self, one: &Ref, facts: &Facts) -> Option<usize> {
        let mut at = 0;
        for (index, &len) in one.indices.iter().zip(&self.program.leaves[one.leaf].dims) {
            let index = single(self.value(index, facts))?;
            let index = usize::try_from(index).ok().filter(|&index| index < len)?;
            at = at * len + index;
        }
        Some(at)
    }

    /// The values that an expression can have.
    fn value(&self, expr: &Expr, facts: &Facts) -> Interval {
        match &expr.kind {
            ExprKind::Const(value) => (*value, *value),
            ExprKind::Read(one) => self.read(one, facts),
            ExprKind::Not(inner) => match self.value(inner, facts) {
                (0, 0) => (1, 1),
                (lo, hi) if lo > 0 || hi < 0 => (0, 0),
                _ => TRUTH,
            },
            ExprKind::Negate(inner) => {
                let (lo, hi) = self.value(inner, facts);
                ranges::wrapped((-hi, -lo))
            }
            ExprKind::Complement(inner) => {
                let (lo, hi) = self.value(inner, facts);
                (!hi, !lo)
            }
            ExprKind::Binary(op, left, right) => binary(*op, self.value(left, facts), self.value(right, facts)),
            ExprKind::If(test, yes, no) => {
                let branch = |expr: &Expr, truth: bool| {
                    let mut facts = facts.clone();
                    self.refine(test, truth, &mut facts, Scope::Expression)?;
                    Some(self.value(expr, &facts))
                };
                match (branch(yes, true), branch(no, false)) {
                    (Some((a, b)), Some((c, d))) => (a.min(c), b.max(d)),
                    (one, other) => one.or(other).unwrap_or(ALL),
                }
            }
            ExprKind::Pid => (self.instance.pid, self.instance.pid),
            _ => ALL,
        }
    }

    fn read(&self, one: &Ref, facts: &Facts) -> Interval {
        let bounds = self.program.leaves[one.leaf].bounds();
        let Some(at) = self.position(one, facts) else { return bounds };
        if let Some(row) = facts.get(&one.leaf) {
            return row.get(at).copied().unwrap_or(bounds);
        }
        let constant = self.constants.contains(&one.leaf).then(|| self.world.globals.get(&one.leaf)?.get(at)).flatten();
        constant.map_or(bounds, |&value| (value, value))
    }
}

/// For how long a condition says something about variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// From now on, of the process's own.
    Own,
    /// Within one expression, of all.
    Expression,
}

fn single((lo, hi): Interval) -> Option<i64> {
    (lo == hi).then_some(lo)
}

/// What is left of a value that is cut to a type.
fn stored(value: Interval, bounds: Interval) -> Interval {
    match single(value) {
        Some(value) => (values::cut(value, bounds), values::cut(value, bounds)),
        None => ranges::cut(value, bounds),
    }
}

fn binary(op: BinaryOp, left: Interval, right: Interval) -> Interval {
    let ((a, b), (c, d)) = (left, right);
    if let (Some(left), Some(right)) = (single(left), single(right)) {
        return values::apply(op, left, right).map_or(ALL, |value| (value, value));
    }
    let is_true = |(lo, hi): Interval| lo > 0 || hi < 0;
    let decided = |yes: bool, no: bool| match (yes, no) {
        (true, _) => (1, 1),
        (_, true) => (0, 0),
        _ => TRUTH,
    };
    match op {
        BinaryOp::And => decided(is_true(left) && is_true(right), left == (0, 0) || right == (0, 0)),
        BinaryOp::Or => decided(is_true(left) || is_true(right), left == (0, 0) && right == (0, 0)),
        BinaryOp::Less => decided(b < c, a >= d),
        BinaryOp::LessEqual => decided(b <= c, a > d),
        BinaryOp::Greater => decided(a > d, b <= c),
        BinaryOp::GreaterEqual => decided(a >= d, b < c),
        BinaryOp::Equal => decided(false, b < c || a > d),
        BinaryOp::NotEqual => decided(b < c || a > d, false),
        _ => ranges::binary(op, left, right),
    }
}

/// The comparison that holds where this one does not.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        _ => return None,
    })
}

/// The same comparison with its sides changed.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        BinaryOp::Equal | BinaryOp::NotEqual => op,
        _ => return None,
    })
}
