//! Moves to actions: blocks that are one step become one action for each way through them.
//!
//! In: the moves of all places of a family. Out: the actions of its places. After a move that goes on, the moves of the next place are
//! put behind it: their guards are asked before the first one where that is the same (`before.rs`), and become `await`s elsewhere. Where the process
//! may have to wait within its block, one more action ends there. Loops, and meetings behind the first statement, are left to the Model: their
//! actions go on (`Action::goes_on`).

use base::Span;
use model::control::{
    Action, ActionKind, ChannelId, Next, PlaceId, Statement, Stmt, StmtKind, Sync, SyncSide, TextOwner,
};
use model::expr::Expr as ModelExpr;

use super::super::graph::{Does, NodeId};
use super::Elaboration;
use super::before;
use super::steps::{Executable, Move};
use super::terms::{self, all, assign, number};

/// The most actions that the moves of one edge may become.
const MOST_WAYS: usize = 48;
/// The longest way through a block that is one action.
const LONGEST_WAY: usize = 60;
/// A longer text is shortened.
const MAX_TEXT: usize = 100;
/// Larger arrays are not cleared when their process ends.
const MOST_CLEARED: usize = 64;

/// A move with where it leads.
#[derive(Clone, Debug)]
struct Chain {
    one: Move,
    target: NodeId,
    goes_on: bool,
    /// The places that were passed.
    passed: Vec<NodeId>,
    texts: Vec<String>,
    span: Span,
}

/// The moves of a place.
#[derive(Clone, Debug, Default)]
struct Here {
    ways: Vec<Chain>,
    /// Whether one of them always can be taken.
    is_never_stuck: bool,
    /// That the process is the last one to have taken a statement, where the program asks who that is and statements are taken one by one.
    marks_last: Option<Stmt>,
}

impl Elaboration<'_> {
    /// Makes the actions of a family.
    pub(super) fn actions(&mut self, family: usize) {
        let proctype = self.setting.families[family].proctype;
        let graph = &self.setting.graphs[proctype];
        let all: Vec<Here> = (0..graph.nodes.len()).map(|node| self.here(family, node)).collect();
        let mut open: Vec<NodeId> = self.entries(family);
        let mut seen = vec![false; graph.nodes.len()];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            for start in &all[node].ways {
                let mut ways = Vec::new();
                if !self.extend(start.clone(), &all, &mut ways) {
                    ways = vec![start.clone()];
                }
                fail_once(&mut ways);
                for way in ways {
                    open.push(way.target);
                    self.action(family, node, way);
                }
            }
        }
    }

    /// Where the members of a family begin: where they stand at the start, and where those begin that are started later.
    fn entries(&self, family: usize) -> Vec<NodeId> {
        let members = &self.setting.families[family];
        let entry = self.setting.graphs[members.proctype].entry;
        let started = self.is_started(family).then_some(entry);
        members.members.iter().map(|&at| self.setting.world.instances[at].place).chain(started).collect()
    }

    fn here(&mut self, family: usize, node: NodeId) -> Here {
        let proctype = self.setting.families[family].proctype;
        let graph = &self.setting.graphs[proctype];
        // Who is `provided` for, or has a higher priority than others, may have to wait anywhere.
        let is_provided = self.setting.program.proctypes[proctype].provided.is_some();
        let is_free = !is_provided && self.ranks.looks.priorities == super::priorities::Priorities::Same;
        let span = graph.nodes[node].span;
        let mine = self.last.map(|last| (terms::shared(last, Vec::new(), span), self.pid(Some(family), span)));
        let graph = &self.setting.graphs[proctype];
        let mut here = Here { marks_last: mine.map(|pair| terms::assign(vec![pair], span)), ..Here::default() };
        for (position, edge) in graph.nodes[node].edges.iter().enumerate() {
            let is_else_of_all = matches!(edge.does, Does::Else(of) if of == node) && edge.escapes.is_empty();
            here.is_never_stuck |= is_else_of_all && is_free;
            for one in self.moves(family, node, position) {
                // Who sends at a meeting does not go on: the receiver does, or nobody. Who starts a process does.
                let sends = matches!(one.sync.as_ref().map(|sync| &sync.side), Some(SyncSide::Send(_)));
                let is_run = matches!(edge.does, Does::Op(super::super::program::Op::Run { .. }));
                let sends = sends && !is_run;
                let goes_on = graph.goes_on(edge);
                here.is_never_stuck |= one.guard.is_empty() && one.sync.is_none() && !one.when_nobody;
                here.ways.push(Chain {
                    one,
                    target: edge.target,
                    goes_on: goes_on && !sends,
                    passed: vec![node],
                    texts: vec![edge.text.clone()],
                    span: edge.span,
                });
            }
        }
        if graph.nodes[node].in_d_step {
            here.marks_last = None;
            let one = self.blocked(family, node);
            let span = graph.nodes[node].span;
            if !one.guard.iter().any(|condition| terms::is(condition, false)) {
                let texts = vec!["d_step".to_owned()];
                here.ways.push(Chain { one, target: node, goes_on: false, passed: vec![node], texts, span });
            }
            here.is_never_stuck = true;
        }
        here
    }

    /// Puts what follows behind a way that goes on; `false` where that is too much.
    fn extend(&mut self, way: Chain, all_places: &[Here], found: &mut Vec<Chain>) -> bool {
        if found.len() > MOST_WAYS || way.passed.len() > LONGEST_WAY {
            return false;
        }
        let is_left_to_model = self.options.single_steps;
        if !way.goes_on {
            found.push(way);
            return true;
        }
        let next = &all_places[way.target];
        let is_receive = |one: &Move| one.executable == Executable::Never;
        if next.ways.iter().all(|next| is_receive(&next.one)) {
            found.push(Chain { goes_on: false, ..way });
            return true;
        }
        let needs_model = |next: &Chain| next.one.when_nobody || next.one.sync.is_some();
        if is_left_to_model || way.passed.contains(&way.target) || next.ways.iter().any(needs_model) {
            found.push(way);
            return true;
        }
        // Within a region, too, whoever has taken a statement is the last one.
        let mut way = way;
        if let Some(marked) = next.marks_last.clone().filter(|_| self.moves_last(way.one.sync.as_ref())) {
            way.one.body.push(marked);
        }
        for following in &next.ways {
            let Some(longer) = self.joined(&way, following) else { continue };
            if !self.extend(longer, all_places, found) {
                return false;
            }
        }
        if !next.is_never_stuck {
            let span = self.span(way.span);
            let moves: Vec<&Move> = next.ways.iter().map(|next| &next.one).collect();
            let waits = self.waits(&moves, span);
            let mut stopped = Chain { goes_on: false, ..way };
            if !terms::is(&waits, false) && self.demand(&mut stopped.one, waits, span) {
                found.push(stopped);
            }
        }
        true
    }

    /// A way with another one behind it; none where that cannot be taken then.
    fn joined(&mut self, way: &Chain, following: &Chain) -> Option<Chain> {
        let span = self.span(following.span);
        let mut joined = way.clone();
        for condition in &following.one.guard {
            if !self.demand(&mut joined.one, condition.clone(), span) {
                return None;
            }
        }
        joined.one.body.extend(following.one.body.iter().cloned());
        joined.one.is_full |= following.one.is_full;
        joined.passed.push(way.target);
        joined.texts.extend(following.texts.iter().cloned());
        Some(Chain { target: following.target, goes_on: following.goes_on, ..joined })
    }

    /// Lets a move wait for a condition behind its body: before it, where what must hold there is known. Of the ways through a block each begins alike
    /// and one of them can always be taken, so that none is begun in vain; `false` where the condition never holds.
    fn demand(&self, one: &mut Move, condition: ModelExpr, span: Span) -> bool {
        let asked_before =
            if one.sync.is_none() { before::before(&one.body, &condition, &self.model.vars) } else { None };
        let Some(condition) = asked_before else {
            one.body.push(Stmt { kind: StmtKind::Await(condition), span });
            return true;
        };
        let condition = before::given(&condition, &one.guard);
        if !terms::is(&condition, true) {
            one.guard.push(condition.clone());
        }
        !terms::is(&condition, false)
    }

    fn action(&mut self, family: usize, node: NodeId, way: Chain) {
        let span = self.span(way.span);
        let proctype = self.setting.families[family].proctype;
        let mut body = way.one.body;
        if way.target == self.setting.graphs[proctype].end && !self.options.deaths && !way.goes_on {
            body.extend(self.cleared(family, span));
        }
        let mut labels = match way.one.executable {
            Executable::Never => Vec::new(),
            _ => vec![super::OWN.to_owned()],
        };
        if way.one.is_full {
            labels.push(super::FULL.to_owned());
        }
        let guard = Some(all(way.one.guard, span)).filter(|guard| !terms::is(guard, true));
        let (source, target) = (self.places[&(family, node)], self.places[&(family, way.target)]);
        let statement = self.model.statements.push(Statement { text: joined_text(&way.texts), span });
        self.push_action(Action {
            scope: TextOwner::Family(self.family_ids[family]),
            source,
            statement,
            labels,
            guard,
            sync: way.one.sync,
            body,
            kind: ActionKind::Plain,
            next: Next::To(target),
            goes_on: way.goes_on,
            when_nobody: way.one.when_nobody,
        });
    }

    pub(super) fn push_action(&mut self, mut action: Action) {
        let source: PlaceId = action.source;
        if let (Some(last), TextOwner::Family(id)) = (self.last, action.scope)
            && self.moves_last(action.sync.as_ref())
        {
            let span = self.model.places[source].span;
            let family = self.family_ids.iter().position(|&known| known == id);
            let mine = self.pid(family, span);
            action.body.push(terms::assign(vec![(terms::shared(last, Vec::new(), span), mine)], span));
        }
        let action = self.model.actions.push(action);
        self.model.places[source].actions.push(action);
    }

    /// Whether a process is the one who moved last after an action: at a meeting who receives, at a `run` who starts the other.
    fn moves_last(&self, sync: Option<&Sync>) -> bool {
        let is_start = |channel: ChannelId| self.starts.values().any(|&start| start == channel);
        sync.is_none_or(|sync| matches!(sync.side, SyncSide::Receive(_)) != is_start(sync.channel))
    }

    /// Sets the variables of a process that ends to 0.
    pub(super) fn cleared(&mut self, family: usize, span: Span) -> Option<Stmt> {
        let proctype = self.setting.families[family].proctype;
        let mut pairs = Vec::new();
        for &leaf in &self.setting.program.proctypes[proctype].leaves {
            let Some(&var) = self.locals.get(&(family, leaf)) else { continue };
            let declared = &self.setting.program.leaves[leaf];
            if self.seen_from_outside.contains(&leaf) && !self.options.deaths {
                continue;
            }
            if declared.n_elements() > MOST_CLEARED && !self.options.deaths {
                continue;
            }
            for at in super::element_positions(&declared.dims) {
                let indices = at.into_iter().map(|at| number(at as i64, span)).collect();
                let access = model::expr::Access { var, whose: model::expr::Whose::Mine, indices, span };
                pairs.push((access, number(0, span)));
            }
        }
        (!pairs.is_empty()).then(|| assign(pairs, span))
    }
}

/// Ways that begin alike would each run into an assertion that fails there: one of them does, and others that can be taken only where that one can
/// wait for it instead, so that a failure counts once.
fn fail_once(ways: &mut [Chain]) {
    let is_assert = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Assert(_));
    if ways.len() < 2 || !ways.iter().any(|way| way.one.body.iter().any(is_assert)) {
        return;
    }
    let bodies: Vec<Vec<Stmt>> = ways.iter().map(|way| way.one.body.clone()).collect();
    let guards: Vec<Vec<ModelExpr>> = ways.iter().map(|way| way.one.guard.clone()).collect();
    let is_before = |other: usize, at: usize| (guards[other].len(), other) < (guards[at].len(), at);
    for (at, way) in ways.iter_mut().enumerate() {
        let weaker = (0..bodies.len()).filter(|&other| is_before(other, at));
        let weaker = weaker.filter(|&other| guards[other].iter().all(|condition| guards[at].contains(condition)));
        let is_alike = |other: usize| {
            let pairs = bodies[other].iter().zip(&bodies[at]);
            pairs.take_while(|(one, same)| one.span == same.span && one == same).count()
        };
        let Some(n_alike) = weaker.map(is_alike).max() else { continue };
        for stmt in &mut way.one.body[..n_alike] {
            if let StmtKind::Assert(condition) = &stmt.kind {
                stmt.kind = StmtKind::Await(condition.clone());
            }
        }
    }
}

fn joined_text(texts: &[String]) -> String {
    let text = texts.join("; ");
    if text.chars().count() <= MAX_TEXT {
        return text;
    }
    text.chars().take(MAX_TEXT - 1).chain(['…']).collect()
}
