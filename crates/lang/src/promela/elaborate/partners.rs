//! Who receives at a meeting: what `else` and escapes beside a send without a buffer look at.
//!
//! In: a send at a meeting. Out: the condition that another process stands at a receive that takes its message. SPIN tries the send before it takes the
//! `else`, so that the condition is exact. It reads places of other processes, and their variables where a receive compares with these.

use std::collections::HashSet;

use base::Span;
use model::control::{ReceivePattern, Sync, SyncSide};
use model::expr::{Access, Expr as ModelExpr, ExprKind as ModelKind, Whose};
use model::process::ProcessId;
use model::value::Value;

use super::super::graph::{Does, Graph};
use super::super::program::{Expr, ExprKind, LeafId, Op, Pattern as ProgramPattern, Ref};
use super::Elaboration;
use super::steps::Move;
use super::terms::{self, all, any, equal, not};

/// A send may depend on who receives, whose options depend on other sends, and so on; deeper than this it depends on itself.
const MOST_NESTED: usize = 4;

impl Elaboration<'_> {
    /// Whether some other process takes what a send offers.
    pub(super) fn has_receiver(&mut self, sender: usize, send: &Move, span: Span) -> ModelExpr {
        let Some(Sync { channel, side: SyncSide::Send(values) }) = &send.sync else {
            return terms::truth(true, span);
        };
        if self.n_sends_asked == MOST_NESTED {
            let place = self.setting.program.proctypes[self.setting.families[sender].proctype].span;
            self.not_read(place, "a send without a buffer that depends on itself");
            return terms::truth(false, span);
        }
        self.n_sends_asked += 1;
        let is_met = |one: &Move| matches!(&one.sync, Some(Sync { channel: other, side: SyncSide::Receive(_) }) if other == channel);
        let mut found = Vec::new();
        for family in 0..self.setting.families.len() {
            let graph = &self.setting.graphs[self.setting.families[family].proctype];
            for (node, declared) in graph.nodes.iter().enumerate() {
                for (position, edge) in declared.edges.iter().enumerate() {
                    if !matches!(edge.does, Does::Op(Op::Receive { .. })) {
                        continue;
                    }
                    if !self.plain_moves(family, (node, position), edge).iter().any(is_met) {
                        continue;
                    }
                    for receive in self.moves(family, node, position) {
                        let Some(Sync { channel: other, side: SyncSide::Receive(patterns) }) = &receive.sync else {
                            continue;
                        };
                        if other == channel {
                            let wanted = receive.condition(span);
                            found.extend(self.standing(sender, (family, node), &wanted, (patterns, values)));
                        }
                    }
                }
            }
        }
        self.n_sends_asked -= 1;
        let receives = any(found, span);
        terms::and(send.condition(span), receives)
    }

    /// For each member of a family: whether it stands at a place and takes a message there.
    fn standing(
        &mut self,
        sender: usize,
        (family, node): (usize, usize),
        wanted: &ModelExpr,
        (patterns, values): (&[ReceivePattern], &[ModelExpr]),
    ) -> Vec<ModelExpr> {
        let span = wanted.span;
        let Some(&place) = self.places.get(&(family, node)) else { return Vec::new() };
        let members = self.setting.families[family].members.clone();
        let is_alone = members.len() == 1;
        let mut found = Vec::new();
        for at in members {
            if family == sender && is_alone {
                continue;
            }
            let process = self.processes[at];
            let who = terms::constant(Value::Process(process), span);
            let labels = vec![self.model.places[place].name.clone()];
            let stands = ModelKind::At { who: Box::new(who.clone()), places: vec![place], labels };
            let mut conditions = vec![ModelExpr { kind: stands, span }];
            if family == sender {
                let myself = ModelExpr { kind: ModelKind::Myself, span };
                conditions.insert(0, not(equal(myself, who)));
            }
            conditions.push(seen_by(wanted, process));
            for (pattern, value) in patterns.iter().zip(values) {
                if let ReceivePattern::Equal(expr) = pattern {
                    conditions.push(equal(seen_by(expr, process), value.clone()));
                }
            }
            conditions.retain(|condition| !terms::is(condition, true));
            found.push(all(conditions, span));
        }
        found
    }
}

/// An expression of a process as others see it.
pub(super) fn seen_by(expr: &ModelExpr, process: ProcessId) -> ModelExpr {
    let span = expr.span;
    let again = |inner: &ModelExpr| Box::new(seen_by(inner, process));
    let it = || ModelExpr { kind: ModelKind::Const(Value::Process(process)), span };
    let kind = match &expr.kind {
        ModelKind::Myself => return it(),
        ModelKind::Read(access) => {
            let whose = match &access.whose {
                Whose::Mine => Whose::Of(Box::new(it())),
                Whose::Of(who) => Whose::Of(again(who)),
                other => other.clone(),
            };
            let indices = access.indices.iter().map(|index| seen_by(index, process)).collect();
            ModelKind::Read(Access { var: access.var, whose, indices, span: access.span })
        }
        ModelKind::At { who, places, labels } => {
            ModelKind::At { who: again(who), places: places.clone(), labels: labels.clone() }
        }
        ModelKind::Not(inner) => ModelKind::Not(again(inner)),
        ModelKind::Negate(inner) => ModelKind::Negate(again(inner)),
        ModelKind::Binary(op, left, right) => ModelKind::Binary(*op, again(left), again(right)),
        ModelKind::If(test, yes, no) => ModelKind::If(again(test), again(yes), again(no)),
        ModelKind::IndexOf(inner) => ModelKind::IndexOf(again(inner)),
        ModelKind::ToProcess(family, inner) => ModelKind::ToProcess(*family, again(inner)),
        // Elaboration makes no quantifiers, and constants are the same for everybody.
        ModelKind::Const(_) | ModelKind::Parameter(_) | ModelKind::Bound(_) | ModelKind::Quantified(_) => {
            return expr.clone();
        }
    };
    ModelExpr { kind, span }
}

/// The variables that a receive compares with, where an `else` or an escape may have to look at receivers.
pub(super) fn compared_by_receivers(graphs: &[Graph]) -> HashSet<LeafId> {
    let sends = |does: &Does| matches!(does, Does::Op(Op::Send { .. }));
    let looks = graphs.iter().flat_map(|graph| &graph.nodes).any(|node| {
        let has_else = node.edges.iter().any(|edge| matches!(edge.does, Does::Else(_)) || edge.escape.is_some());
        has_else && node.edges.iter().any(|edge| sends(&edge.does))
    });
    let mut found = HashSet::new();
    if !looks {
        return found;
    }
    let mut look = |expr: &Expr| {
        if let ExprKind::Read(one) = &expr.kind {
            found.insert(one.leaf);
        }
    };
    for edge in graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges) {
        let Does::Op(Op::Receive { channel, patterns, .. }) = &edge.does else { continue };
        look_at(channel, &mut look);
        for pattern in patterns {
            if let ProgramPattern::Match(expr) = pattern {
                expr.walk(&mut look);
            }
        }
    }
    found
}

fn look_at(one: &Ref, look: &mut impl FnMut(&Expr)) {
    look(&Expr { kind: ExprKind::Read(one.clone()), span: one.span });
    one.indices.iter().for_each(|index| index.walk(look));
}
