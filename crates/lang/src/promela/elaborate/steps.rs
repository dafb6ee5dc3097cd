//! Edges of a graph to moves: what a process needs, and does, to take one.
//!
//! A move has a guard, which is looked at before it, a body, and possibly a meeting. One edge may be several moves: one for each channel that
//! a variable may hold, one for each slot that a message may stand in. `else`, `unless`, `provided` and the order of options within a
//! `d_step` are conditions of the guard.

use base::{Diagnostic, Span};
use model::control::{ReceivePattern, Stmt, StmtKind, Sync, SyncSide};
use model::expr::{BinaryOp as ModelOp, Expr as ModelExpr};

use super::super::ast::BinaryOp;
use super::super::graph::{Does, Edge, NodeId};
use super::super::program::{Expr, ExprKind, Op, ProctypeId, RunResult};
use super::Elaboration;
use super::channels::{Receive, Send};
use super::terms::{self, all, any, assign, not, number};
use crate::codes::promela as code;

/// When a move can be taken, as `else` sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Executable {
    /// Where its guard is true.
    #[default]
    Guard,
    /// Where somebody receives.
    Send,
    /// Not by itself: it receives.
    Never,
}

/// One way to take an edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Move {
    pub guard: Vec<ModelExpr>,
    pub sync: Option<Sync>,
    pub body: Vec<Stmt>,
    pub executable: Executable,
    /// Whether it can be taken only where nothing else can.
    pub when_nobody: bool,
    /// Whether it is a `run` for which no place is left.
    pub is_full: bool,
}

/// A `run`.
struct Run<'r> {
    proctype: ProctypeId,
    arguments: &'r [Expr],
    result: Option<&'r RunResult>,
    priority: i64,
}

impl Move {
    /// A move that is an error of the program.
    pub fn error(guard: Vec<ModelExpr>, span: Span) -> Move {
        let wrong = Stmt { kind: StmtKind::Assert(terms::truth(false, span)), span };
        Move { guard, body: vec![wrong], ..Move::default() }
    }

    /// The guard as one expression.
    pub fn condition(&self, span: Span) -> ModelExpr {
        all(self.guard.iter().cloned(), span)
    }
}

impl Elaboration<'_> {
    /// The moves of an edge.
    pub(super) fn moves(&mut self, family: usize, node: NodeId, position: usize) -> Vec<Move> {
        let mut moves = self.unranked_moves(family, (node, position), true);
        let proctype = self.setting.families[family].proctype;
        let here = &self.setting.graphs[proctype].nodes[node];
        if !here.in_d_step {
            let span = self.span(here.edges[position].span);
            for one in &mut moves {
                let first = self.is_first(family, one.when_nobody, span);
                one.guard.splice(0..0, first);
            }
        }
        moves
    }

    /// The moves of an edge, whoever has a higher priority; with what its process is `provided` for, or without.
    pub(super) fn unranked_moves(
        &mut self,
        family: usize,
        (node, position): (NodeId, usize),
        is_provided: bool,
    ) -> Vec<Move> {
        let proctype = self.setting.families[family].proctype;
        let edge = &self.setting.graphs[proctype].nodes[node].edges[position];
        let span = self.span(edge.span);
        let mut moves = self.plain_moves(family, (node, position), edge);
        let mut more = Vec::new();
        // A `d_step` that has begun does not ask again.
        let asks = is_provided && !self.setting.graphs[proctype].nodes[node].in_d_step;
        if let Some(provided) = self.setting.program.proctypes[proctype].provided.as_ref().filter(|_| asks) {
            more.push(self.truth(provided, Some(family)));
        }
        // Whether an escape sends at a meeting depends on who receives there, which is asked only where it matters.
        let is_asked = moves.iter().any(|one| one.executable != Executable::Never);
        let escaped: Vec<ModelExpr> = { edge.escapes.iter().filter(|_| is_asked) }
            .map(|&escape| not(self.any_executable(family, escape, &|edge| edge.escape.is_none())))
            .filter(|condition| !terms::is(condition, true))
            .collect();
        // Within a `d_step` the first option that is executable is taken.
        if let Some(d_step) = edge.d_step {
            let edges = &self.setting.graphs[proctype].nodes[node].edges;
            for earlier in edges[..position].iter().filter(|earlier| earlier.d_step == Some(d_step)) {
                let can = self.executable(family, earlier);
                more.push(not(can));
            }
        }
        more.extend(self.guards_of_d_step(family, node, edge));
        more.retain(|condition| !terms::is(condition, true));
        for one in &mut moves {
            // Who receives at a meeting moves with the sender, who does not look at the receiver's escapes.
            let meets = one.executable == Executable::Never;
            if meets {
                self.receives_in_escape(family, edge, one);
            }
            let escaped = escaped.iter().filter(|_| !meets);
            one.guard.splice(0..0, escaped.chain(&more).cloned());
            if one.guard.iter().any(|condition| terms::is(condition, false)) {
                one.guard = vec![terms::truth(false, span)];
            }
        }
        moves.retain(|one| !one.guard.iter().any(|condition| terms::is(condition, false)));
        let is_deterministic = self.setting.program.proctypes[proctype].is_deterministic;
        if is_deterministic && !self.setting.graphs[proctype].nodes[node].in_d_step {
            let choices = self.choices(family, (node, position), &moves);
            moves.extend(choices);
        }
        moves
    }

    /// The errors of a `D_proctype`, which are passed over: what an earlier statement of its place could be executed instead of.
    fn choices(&mut self, family: usize, (node, position): (NodeId, usize), moves: &[Move]) -> Vec<Move> {
        let proctype = self.setting.families[family].proctype;
        let edges = &self.setting.graphs[proctype].nodes[node].edges;
        let (edge, earlier) = (&edges[position], &edges[..position]);
        let span = self.span(edge.span);
        // Within its `d_step` a statement has been chosen.
        let earlier: Vec<&Edge> =
            earlier.iter().filter(|other| other.d_step.is_none() || other.d_step != edge.d_step).collect();
        if earlier.is_empty() || matches!(edge.does, Does::Else(_)) || self.options.ignores_assertions {
            return Vec::new();
        }
        let can: Vec<ModelExpr> = earlier.iter().map(|other| self.can_be_executed(family, other)).collect();
        let can = any(can, span);
        let wrong = Stmt { kind: StmtKind::Assert(terms::truth(false, span)), span };
        let mut found = Vec::new();
        for one in moves {
            let is_possible = match one.executable {
                // Who receives at a meeting has a choice between statements that receive the same message.
                Executable::Never => self.receives_instead(family, &earlier, one, span),
                Executable::Guard | Executable::Send => Some(can.clone()),
            };
            let Some(is_possible) = is_possible.filter(|possible| !terms::is(possible, false)) else { continue };
            let guard = one.guard.iter().cloned().chain([is_possible]).filter(|part| !terms::is(part, true)).collect();
            found.push(Move { guard, body: vec![wrong.clone()], ..one.clone() });
        }
        found
    }

    /// When one of these statements receives what a receive at a meeting does.
    fn receives_instead(&mut self, family: usize, others: &[&Edge], one: &Move, span: Span) -> Option<ModelExpr> {
        let channel = one.sync.as_ref().map(|sync| sync.channel);
        let mut found = None;
        for &other in others.iter().filter(|other| matches!(other.does, Does::Op(Op::Receive { .. }))) {
            let moves = self.plain_moves(family, (0, 0), other);
            for way in moves.iter().filter(|way| way.sync.as_ref().map(|sync| sync.channel) == channel) {
                match overlap(one, way) {
                    Overlap::None => {}
                    Overlap::All => found = Some(terms::truth(true, span)),
                    Overlap::Some => {
                        let what = "a `D_proctype` that may receive one message without a buffer in two ways";
                        self.not_read(other.span, what);
                    }
                }
            }
        }
        found
    }

    /// What SPIN tests before a `d_step` that begins with a choice: that one of its options with a condition, a send or a receive is
    /// executable, if there is such an option. Assignments do not count, although one of them may be taken then.
    fn guards_of_d_step(&mut self, family: usize, node: NodeId, edge: &Edge) -> Option<ModelExpr> {
        let proctype = self.setting.families[family].proctype;
        let here = &self.setting.graphs[proctype].nodes[node];
        let d_step = edge.d_step.filter(|_| !here.in_d_step)?;
        let tested =
            |does: &Does| matches!(does, Does::Else(_) | Does::Op(Op::Guard(_) | Op::Send { .. } | Op::Receive { .. }));
        let options: Vec<&Edge> = here.edges.iter().filter(|other| other.d_step == Some(d_step)).collect();
        let (guards, others): (Vec<&Edge>, Vec<&Edge>) = options.into_iter().partition(|other| tested(&other.does));
        if guards.is_empty() || others.is_empty() || guards.iter().any(|one| matches!(one.does, Does::Else(_))) {
            return None;
        }
        let span = self.span(edge.span);
        let can: Vec<ModelExpr> = guards.into_iter().map(|guard| self.executable(family, guard)).collect();
        Some(any(can, span))
    }

    /// A receive at a meeting whose escape receives from the same channel: the escape takes the messages that both match. Where which messages
    /// these are is not seen from the text, the receive is refused.
    fn receives_in_escape(&mut self, family: usize, edge: &Edge, one: &mut Move) {
        let proctype = self.setting.families[family].proctype;
        let graph = &self.setting.graphs[proctype];
        let channel = one.sync.as_ref().map(|sync| sync.channel);
        for other in edge.escapes.iter().flat_map(|&escape| &graph.nodes[escape].edges) {
            if !matches!(other.does, Does::Op(Op::Receive { .. })) || other.escape.is_some() {
                continue;
            }
            let moves = self.plain_moves(family, (0, 0), other);
            for other in moves.iter().filter(|other| other.sync.as_ref().map(|sync| sync.channel) == channel) {
                match overlap(one, other) {
                    Overlap::None => {}
                    Overlap::All => one.guard.push(terms::truth(false, self.span(edge.span))),
                    Overlap::Some => {
                        let what = "a receive without a buffer whose escape may receive the same message";
                        self.not_read(edge.span, what);
                    }
                }
            }
        }
    }

    /// The moves of an edge without what its surroundings demand.
    pub(super) fn plain_moves(&mut self, family: usize, (node, position): (NodeId, usize), edge: &Edge) -> Vec<Move> {
        let span = self.span(edge.span);
        let view = Some(family);
        match &edge.does {
            Does::Else(of) => {
                let proctype = self.setting.families[family].proctype;
                let others = self.setting.graphs[proctype].before_else(*of, edge);
                let others: Vec<ModelExpr> = others.iter().map(|other| self.executable(family, other)).collect();
                vec![Move { guard: vec![not(any(others, span))], ..Move::default() }]
            }
            Does::Op(Op::Skip | Op::Print) => vec![Move::default()],
            Does::Op(Op::Assert(_)) if self.options.ignores_assertions => vec![Move::default()],
            Does::Op(Op::Guard(expr)) => self.guard(expr, family),
            Does::Op(Op::Assert(expr)) => {
                // A failed assertion is an error, and passed over: there may be end states behind it.
                let holds = self.truth(expr, view);
                let fails = Stmt { kind: StmtKind::Assert(holds.clone()), span };
                let failed = Move { guard: vec![not(holds)], body: vec![fails], ..Move::default() };
                vec![Move::default(), failed]
            }
            Does::Op(Op::Assign(pairs)) => {
                let mut assigned = Vec::new();
                for (target, value) in pairs {
                    let bounds = self.setting.program.leaves[target.leaf].bounds();
                    self.warn_of_cut(value, bounds);
                    let value = self.number(value, view).cut(bounds);
                    if let Some(access) = self.access(target, view) {
                        assigned.push((access, value));
                    }
                }
                vec![Move { body: vec![assign(assigned, span)], ..Move::default() }]
            }
            Does::Op(Op::Send { channel, is_sorted, values }) => {
                self.send(&Send { channel, is_sorted: *is_sorted, values, span: edge.span }, view)
            }
            Does::Op(Op::Receive { channel, is_random, is_copy, patterns }) => {
                let (is_random, is_copy, span) = (*is_random, *is_copy, edge.span);
                self.receive(&Receive { channel, is_random, is_copy, patterns, span }, view)
            }
            Does::Op(Op::Run { proctype, arguments, result, priority }) => {
                let run = Run { proctype: *proctype, arguments, result: result.as_deref(), priority: *priority };
                self.run((node, position), &run, (family, edge))
            }
            Does::Op(Op::Event { .. }) => Vec::new(),
            Does::Op(Op::SetPriority { pid, value }) => self.set_priority((pid.as_deref(), value), family, span),
        }
    }

    /// A constant that its variable cannot hold.
    fn warn_of_cut(&mut self, value: &Expr, (lo, hi): (i64, i64)) {
        let Some(number) = super::super::resolve::constant(value) else { return };
        if number < lo || number > hi {
            let message = format!("{number} is cut to {}", super::super::values::cut(number, (lo, hi)));
            let diagnostic = Diagnostic::warning(code::CUT, value.span, message);
            self.report_once(diagnostic.at(format!("the variable holds {lo} to {hi}")));
        }
    }

    fn guard(&mut self, expr: &Expr, family: usize) -> Vec<Move> {
        let mut conditions = Vec::new();
        let when_nobody = conjuncts(expr, &mut conditions);
        if conditions.iter().any(|part| has_timeout(part)) {
            return self.guard_with_timeout(expr, family);
        }
        let guard: Vec<ModelExpr> = conditions.into_iter().map(|part| self.truth(part, Some(family))).collect();
        let guard = guard.into_iter().filter(|condition| !terms::is(condition, true)).collect();
        vec![Move { guard, when_nobody, ..Move::default() }]
    }

    /// A condition with `timeout` somewhere within: one move where it is true without the timeout, and one where only the timeout makes it true.
    fn guard_with_timeout(&mut self, expr: &Expr, family: usize) -> Vec<Move> {
        let plain = self.truth(&with_timeout(expr, false), Some(family));
        let late = self.truth(&with_timeout(expr, true), Some(family));
        let late = Move { guard: vec![not(plain.clone()), late], when_nobody: true, ..Move::default() };
        vec![Move { guard: vec![plain], ..Move::default() }, late]
    }

    /// A `run`: a meeting with the place for the new process, one for each pid that it may get.
    fn run(
        &mut self,
        site: (NodeId, usize),
        &Run { proctype, arguments, result, priority }: &Run<'_>,
        (family, edge): (usize, &Edge),
    ) -> Vec<Move> {
        let view = Some(family);
        let span = self.span(edge.span);
        let creator = self.setting.families[family].proctype;
        let Some(pids) = self.creation.pids.get(&(creator, site.0, site.1)).cloned() else { return Vec::new() };
        let parameters = self.setting.program.proctypes[proctype].parameters.clone();
        let values: Vec<ModelExpr> = arguments
            .iter()
            .zip(&parameters)
            .map(|(argument, &parameter)| {
                self.number(argument, view).cut(self.setting.program.leaves[parameter].bounds())
            })
            .collect();
        let mut moves = Vec::new();
        for &pid in &pids {
            let Some(&channel) = self.starts.get(&(proctype, pid)) else { continue };
            let mut guard = Vec::new();
            let mut body = Vec::new();
            if let Some(count) = self.n_processes {
                let count = terms::shared(count, Vec::new(), span);
                guard.push(terms::equal(terms::read(count.clone()), number(pid, span)));
                body.push(assign(vec![(count, number(pid + 1, span))], span));
            }
            if let Some(RunResult { target, value }) = result {
                let bounds = self.setting.program.leaves[target.leaf].bounds();
                let value = self.number(&value.with_started(pid), view).cut(bounds);
                body.extend(self.access(target, view).map(|access| assign(vec![(access, value)], span)));
            }
            body.extend(self.ranked(number(pid, span), priority, span));
            let sync = Some(Sync { channel, side: SyncSide::Send(values.clone()) });
            moves.push(Move { guard, sync, body, ..Move::default() });
        }
        if let (Some(full), Some(count), Some(&last)) = (self.full, self.n_processes, pids.last()) {
            let count = terms::read(terms::shared(count, Vec::new(), span));
            let guard = vec![terms::binary(ModelOp::Greater, count, number(last, span))];
            let body = vec![assign(vec![(terms::shared(full, Vec::new(), span), number(1, span))], span)];
            moves.push(Move { guard, body, is_full: true, ..Move::default() });
        }
        moves
    }

    /// Whether some edge of a place is executable.
    fn any_executable(&mut self, family: usize, node: NodeId, wanted: &dyn Fn(&Edge) -> bool) -> ModelExpr {
        let proctype = self.setting.families[family].proctype;
        let edges = &self.setting.graphs[proctype].nodes[node].edges;
        let span = self.span(self.setting.graphs[proctype].nodes[node].span);
        let found: Vec<ModelExpr> =
            edges.iter().filter(|edge| wanted(edge)).map(|edge| self.executable(family, edge)).collect();
        any(found, span)
    }

    /// Whether an edge is executable, as `else` sees it.
    fn executable(&mut self, family: usize, edge: &Edge) -> ModelExpr {
        if let Does::Op(Op::Send { .. } | Op::Receive { .. }) = &edge.does {
            let message = "`else` beside a send or receive: SPIN calls it dubious";
            self.report_once(Diagnostic::warning(code::ELSE_BESIDE_CHANNELS, edge.span, message));
        }
        self.can_be_executed(family, edge)
    }

    /// Whether an edge is executable, whatever stands before it.
    fn can_be_executed(&mut self, family: usize, edge: &Edge) -> ModelExpr {
        let span = self.span(edge.span);
        if let Does::Op(Op::Run { .. }) = &edge.does {
            return terms::truth(true, span);
        }
        let moves = self.plain_moves(family, (0, 0), edge);
        let mut found = Vec::new();
        for one in moves {
            match one.executable {
                Executable::Never => {}
                Executable::Send => {
                    let receives = self.has_receiver(family, &one, span);
                    found.push(receives);
                }
                // A `timeout` is true only where nothing else is executable, an `else` or the statements before an escape among it.
                Executable::Guard if one.when_nobody => {}
                Executable::Guard => found.push(one.condition(span)),
            }
        }
        any(found, span)
    }

    /// The move of a place within a `d_step` where nothing is executable: an error.
    pub(super) fn blocked(&mut self, family: usize, node: NodeId) -> Move {
        let proctype = self.setting.families[family].proctype;
        let span = self.span(self.setting.graphs[proctype].nodes[node].span);
        let can = self.any_executable(family, node, &|_| true);
        Move::error(vec![not(can)], span)
    }

    /// That nothing at a place is executable.
    pub(super) fn waits(&mut self, moves: &[&Move], span: Span) -> ModelExpr {
        not(any(moves.iter().map(|one| one.condition(span)), span))
    }

    /// Whether a process is the youngest.
    pub(super) fn is_youngest(&mut self, family: usize, span: Span) -> Option<ModelExpr> {
        let count = self.n_processes?;
        let pid = self.pid(Some(family), span);
        let next = terms::binary(ModelOp::Add, pid, number(1, span));
        Some(terms::equal(terms::read(terms::shared(count, Vec::new(), span)), next))
    }
}

/// Which messages of a receive at a meeting its escape receives, too.
enum Overlap {
    None,
    Some,
    All,
}

fn overlap(one: &Move, escape: &Move) -> Overlap {
    let patterns = |of: &Move| match of.sync.as_ref().map(|sync| &sync.side) {
        Some(SyncSide::Receive(patterns)) => patterns.clone(),
        _ => Vec::new(),
    };
    let mut covers = escape.guard.is_empty();
    for pair in patterns(one).iter().zip(&patterns(escape)) {
        match pair {
            (_, ReceivePattern::Ignored | ReceivePattern::Into(_)) => {}
            (ReceivePattern::Equal(mine), ReceivePattern::Equal(theirs)) => {
                if terms::is(&terms::equal(mine.clone(), theirs.clone()), false) {
                    return Overlap::None;
                }
                covers &= mine == theirs;
            }
            _ => covers = false,
        }
    }
    if covers { Overlap::All } else { Overlap::Some }
}

fn has_timeout(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part.kind, ExprKind::Timeout));
    found
}

/// A condition with `timeout` replaced by a truth value.
fn with_timeout(expr: &Expr, value: bool) -> Expr {
    let again = |inner: &Expr| Box::new(with_timeout(inner, value));
    let kind = match &expr.kind {
        ExprKind::Timeout => ExprKind::Const(i64::from(value)),
        ExprKind::Not(inner) => ExprKind::Not(again(inner)),
        ExprKind::Negate(inner) => ExprKind::Negate(again(inner)),
        ExprKind::Complement(inner) => ExprKind::Complement(again(inner)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, again(left), again(right)),
        ExprKind::If(test, yes, no) => ExprKind::If(again(test), again(yes), again(no)),
        other => other.clone(),
    };
    Expr { kind, span: expr.span }
}

/// The parts of a condition besides `timeout`; whether `timeout` is one of them.
fn conjuncts<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) -> bool {
    match &expr.kind {
        ExprKind::Timeout => true,
        ExprKind::Binary(BinaryOp::And, left, right) => {
            let left = conjuncts(left, found);
            conjuncts(right, found) || left
        }
        _ => {
            found.push(expr);
            false
        }
    }
}
