//! Priorities and `enabled`: who may move depends on what other processes can do.
//!
//! In: the moves of all processes. Out: whether a process has an executable statement, as others see it, and the conditions that nobody of a higher
//! priority has one. SPIN asks this before every statement, also within an `atomic`, but not within a `d_step` that has begun. These conditions
//! read places and variables of other processes; where all priorities are the same there are none.

use std::collections::HashMap;

use base::Span;
use model::control::{PlaceId, Stmt};
use model::expr::{BinaryOp as ModelOp, Expr as ModelExpr, ExprKind as ModelKind};
use model::value::Value;
use model::variable::{Storage, VarId};

use super::super::graph::{Does, Graph};
use super::super::program::{Expr, ExprKind, Op, Program};
use super::Elaboration;
use super::expressions::View;
use super::partners::seen_by;
use super::steps::Move;
use super::terms::{self, all, any, assign, equal, not, number, read, shared};

/// The greatest priority.
const MOST: i64 = 255;

/// How the priorities of a program's processes differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Priorities {
    /// All processes have the same one, always.
    #[default]
    Same,
    /// Each process has its own, always.
    Fixed,
    /// They change, or processes are started while the program runs.
    Changing,
}

impl Priorities {
    /// What the text says of priorities.
    pub fn of(program: &Program, graphs: &[Graph]) -> Priorities {
        let edges = || graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges);
        let runs = edges().filter_map(|edge| match &edge.does {
            Does::Op(Op::Run { priority, .. }) => Some(*priority),
            _ => None,
        });
        let active = program.proctypes.iter().filter(|proctype| proctype.n_active > 0);
        let mut given: Vec<i64> = active.map(|proctype| proctype.priority).collect();
        let n_active = given.len();
        given.extend(runs);
        let is_set = edges().any(|edge| matches!(edge.does, Does::Op(Op::SetPriority { .. })));
        if is_set || given.len() > n_active && given.iter().any(|&priority| priority != given[0]) {
            return Priorities::Changing;
        }
        match given.iter().all(|&priority| priority == given[0]) {
            true => Priorities::Same,
            false => Priorities::Fixed,
        }
    }
}

/// What of a program looks at what others can do, or at their priorities.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    pub priorities: Priorities,
    /// Whether `enabled` stands somewhere.
    pub enabled: bool,
    /// Whether `get_priority` or `_priority` stands somewhere.
    pub asks: bool,
}

impl Looks {
    pub fn of(program: &Program, graphs: &[Graph]) -> Looks {
        let mut looks = Looks { priorities: Priorities::of(program, graphs), ..Looks::default() };
        super::all_expressions(program, graphs, &mut |expr| {
            looks.enabled |= matches!(expr.kind, ExprKind::Enabled(_));
            looks.asks |= matches!(expr.kind, ExprKind::Priority(_));
        });
        looks
    }

    /// Whether conditions of processes read what others can do.
    pub fn at_others(self) -> bool {
        self.enabled || self.priorities != Priorities::Same
    }
}

/// What counts as executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counted {
    /// Statements that wait for a `timeout`, where nothing else is executable.
    pub timeouts: bool,
    /// Only while the process is `provided` for.
    pub provided: bool,
}

/// What is known of priorities while a Model is made.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    pub looks: Looks,
    /// The priorities by pid, where they change; 0 where there is no process.
    var: Option<VarId>,
    /// Whether a process has an executable statement, by its position.
    enabled: HashMap<(usize, Counted), ModelExpr>,
    /// The processes for which that is being found out.
    open: Vec<usize>,
}

impl Ranks {
    pub fn new(looks: Looks) -> Ranks {
        Ranks { looks, ..Ranks::default() }
    }
}

impl Elaboration<'_> {
    /// Declares the priorities, where they change.
    pub(super) fn declare_priorities(&mut self) {
        let world = self.setting.world;
        if self.ranks.looks.at_others()
            && let Some(channel) = world.channels.iter().find(|channel| channel.capacity == 0)
        {
            let span = channel.span;
            self.not_read(span, "a channel without a buffer beside priorities or `enabled` (by SPIN neither)");
        }
        if self.ranks.looks.priorities != Priorities::Changing {
            return;
        }
        let n_pids = world.instances.iter().map(|instance| instance.pid + 1).max().unwrap_or(0);
        let mut values = vec![0; n_pids as usize];
        for instance in world.instances.iter().filter(|instance| instance.exists) {
            values[instance.pid as usize] = self.setting.program.proctypes[instance.proctype].priority;
        }
        let place = (Storage::Shared, Span::default());
        self.ranks.var = Some(self.add_var("_priority", place, (0, MOST), (&[n_pids as usize], &values)));
    }

    /// Gives a pid a priority, where these change.
    pub(super) fn ranked(&mut self, pid: ModelExpr, priority: i64, span: Span) -> Option<Stmt> {
        let var = self.ranks.var?;
        Some(assign(vec![(shared(var, vec![pid], span), number(priority, span))], span))
    }

    /// The priority of a process, by its position.
    fn rank_of(&self, at: usize, span: Span) -> ModelExpr {
        let instances = &self.setting.world.instances;
        // Where all are the same, one that exists at the start has it: the `priority` of a proctype is not that of its `run`s.
        let given_by = match self.ranks.looks.priorities {
            Priorities::Same => 0,
            _ => at,
        };
        match self.ranks.var {
            Some(var) => read(shared(var, vec![number(instances[at].pid, span)], span)),
            None => number(self.setting.program.proctypes[instances[given_by].proctype].priority, span),
        }
    }

    /// The priority of the process whose text it is.
    fn own_rank(&mut self, family: usize, span: Span) -> ModelExpr {
        let pid = self.pid(Some(family), span);
        match self.ranks.var {
            Some(var) => read(shared(var, vec![pid], span)),
            None => self.rank_of(self.setting.families[family].members[0], span),
        }
    }

    /// `get_priority(e)`, or `_priority`: 0 where there is no such process.
    pub(super) fn priority(&mut self, pid: Option<&Expr>, (view, span): (View, Span)) -> ModelExpr {
        let Some(pid) = pid else {
            return view.map_or_else(|| number(0, span), |family| self.own_rank(family, span));
        };
        let asked = self.number(pid, view).expr;
        let mut value = number(0, span);
        for at in 0..self.setting.world.instances.len() {
            let is_it = equal(asked.clone(), number(self.setting.world.instances[at].pid, span));
            let exists = match self.ranks.var {
                Some(_) => terms::truth(true, span),
                None => self.exists(at, span),
            };
            value = terms::choose(terms::and(is_it, exists), self.rank_of(at, span), value);
        }
        value
    }

    /// `set_priority(p, e)`, or `_priority = e`. A pid without a process changes nothing, and a priority that there is not is an error.
    pub(super) fn set_priority(
        &mut self,
        (pid, value): (Option<&Expr>, &Expr),
        family: usize,
        span: Span,
    ) -> Vec<Move> {
        let view = Some(family);
        let Some(var) = self.ranks.var else { return Vec::new() };
        let value = self.number(value, view);
        let Some(pid) = pid else {
            let target = shared(var, vec![self.pid(view, span)], span);
            return vec![Move { body: vec![assign(vec![(target, value.cut((0, MOST)))], span)], ..Move::default() }];
        };
        let pid = self.number(pid, view).expr;
        let Some(count) = self.n_processes else { return Vec::new() };
        let count = read(shared(count, Vec::new(), span));
        let exists = terms::and(
            terms::binary(ModelOp::GreaterEqual, pid.clone(), number(0, span)),
            terms::binary(ModelOp::Less, pid.clone(), count),
        );
        let missing = Move { guard: vec![not(exists.clone())], ..Move::default() };
        let is_known = value.range.0 >= 1 && value.range.1 <= MOST;
        let is_fine = match is_known {
            true => terms::truth(true, span),
            false => terms::and(
                terms::binary(ModelOp::GreaterEqual, value.expr.clone(), number(1, span)),
                terms::binary(ModelOp::LessEqual, value.expr.clone(), number(MOST, span)),
            ),
        };
        let body = vec![assign(vec![(shared(var, vec![pid], span), value.expr)], span)];
        let set = Move { guard: vec![exists.clone(), is_fine.clone()], body, ..Move::default() };
        let wrong = Move::error(vec![exists, not(is_fine)], span);
        let mut moves = vec![missing, set, wrong];
        for one in &mut moves {
            one.guard.retain(|condition| !terms::is(condition, true));
        }
        moves.retain(|one| !one.guard.iter().any(|condition| terms::is(condition, false)));
        moves
    }

    /// That nobody of a higher priority has an executable statement.
    pub(super) fn is_first(&mut self, family: usize, timeouts: bool, span: Span) -> Vec<ModelExpr> {
        if self.ranks.looks.priorities == Priorities::Same {
            return Vec::new();
        }
        let mine = self.own_rank(family, span);
        let mut found = Vec::new();
        for at in 0..self.setting.world.instances.len() {
            if self.setting.families[family].members[..] == [at] {
                continue;
            }
            let higher = terms::binary(ModelOp::Greater, self.rank_of(at, span), mine.clone());
            if terms::is(&higher, false) {
                continue;
            }
            let can = self.enabled_of(at, Counted { timeouts, provided: true });
            let condition = not(terms::and(higher, can));
            if !terms::is(&condition, true) {
                found.push(condition);
            }
        }
        found
    }

    /// `enabled(e)`. A process that asks about itself is an error.
    pub(super) fn enabled(&mut self, pid: &Expr, (view, span): (View, Span)) -> ModelExpr {
        let asked = self.number(pid, view).expr;
        let mut found = Vec::new();
        if let Some(family) = view {
            let mine = self.pid(Some(family), span);
            found.push(terms::and(equal(asked.clone(), mine), equal(terms::fault(span), number(0, span))));
        }
        for at in 0..self.setting.world.instances.len() {
            if view.is_some_and(|family| self.setting.families[family].members[..] == [at]) {
                continue;
            }
            let is_it = equal(asked.clone(), number(self.setting.world.instances[at].pid, span));
            if terms::is(&is_it, false) {
                continue;
            }
            let can = self.enabled_of(at, Counted { timeouts: false, provided: false });
            found.push(terms::and(is_it, can));
        }
        any(found, span)
    }

    /// Whether a process has an executable statement, as others see it.
    fn enabled_of(&mut self, at: usize, counted: Counted) -> ModelExpr {
        if let Some(known) = self.ranks.enabled.get(&(at, counted)) {
            return known.clone();
        }
        let span = Span::default();
        let Some(family) = self.setting.families.iter().position(|family| family.members.contains(&at)) else {
            return terms::truth(false, span);
        };
        if self.ranks.open.contains(&at) {
            let place = self.setting.program.proctypes[self.setting.families[family].proctype].span;
            self.not_read(place, "`enabled` of a process that asks the same of who asks");
            return terms::truth(false, span);
        }
        self.ranks.open.push(at);
        let graph = &self.setting.graphs[self.setting.families[family].proctype];
        let reached = graph.reached();
        let process = self.processes[at];
        let stands = |places: Vec<PlaceId>| {
            let who = Box::new(terms::constant(Value::Process(process), span));
            ModelExpr { kind: ModelKind::At { who, places, labels: vec!["enabled".into()] }, span }
        };
        let mut always = Vec::new();
        let mut found = Vec::new();
        for (node, declared) in graph.nodes.iter().enumerate() {
            if !reached[node] || declared.in_d_step {
                continue;
            }
            let Some(&place) = self.places.get(&(family, node)) else { continue };
            let mut ways = Vec::new();
            for position in 0..declared.edges.len() {
                let moves = self.unranked_moves(family, (node, position), counted.provided);
                let taken = moves.iter().filter(|one| counted.timeouts || !one.when_nobody);
                ways.extend(taken.map(|one| all(one.guard.iter().cloned(), span)));
            }
            if node == graph.end {
                ways.extend(self.is_youngest(family, span));
            }
            // The conditions of an `else` and of what stands beside it are true together.
            let has_else = declared.edges.iter().any(|edge| matches!(edge.does, Does::Else(of) if of == node));
            let is_free = !counted.provided
                || self.setting.program.proctypes[self.setting.families[family].proctype].provided.is_none();
            match any(ways, span) {
                _ if has_else && is_free => always.push(place),
                can if terms::is(&can, true) => always.push(place),
                can if terms::is(&can, false) => {}
                can => found.push(terms::and(stands(vec![place]), seen_by(&can, process))),
            }
        }
        if !always.is_empty() {
            found.insert(0, stands(always));
        }
        let can = any(found, span);
        self.ranks.open.pop();
        self.ranks.enabled.insert((at, counted), can.clone());
        can
    }
}
