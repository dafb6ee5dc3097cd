//! Processes that a `run` starts, and deaths.
//!
//! A process that does not exist yet waits at `unborn` for a meeting with its creator, which passes the arguments. Where deaths are steps, a process
//! at its end dies when it is the youngest; then its pid is free again.

use base::Span;
use model::control::{Action, ActionKind, Next, PlaceId, ReceivePattern, Statement, Stmt, Sync, SyncSide, TextOwner};
use model::expr::{Access, Expr as ModelExpr, Whose};

use super::super::program::{LeafId, Start};
use super::Elaboration;
use super::channels::Made;
use super::terms::{self, assign, number};

impl Elaboration<'_> {
    /// Whether some member of a family may be started by a `run`.
    pub(super) fn is_started(&self, family: usize) -> bool {
        let members = &self.setting.families[family];
        let pids = members.members.iter().map(|&at| self.setting.world.instances[at].pid);
        pids.into_iter().any(|pid| self.starts.contains_key(&(members.proctype, pid)))
    }

    /// The actions with which the members of a family come to life.
    pub(super) fn births(&mut self, family: usize, unborn: PlaceId) {
        let members = self.setting.families[family].clone();
        let graph = &self.setting.graphs[members.proctype];
        let entry = self.places[&(family, graph.entry)];
        let declared = self.setting.program.proctypes[members.proctype].clone();
        let span = self.span(declared.span);
        for &at in &members.members {
            let pid = self.setting.world.instances[at].pid;
            let Some(&channel) = self.starts.get(&(members.proctype, pid)) else { continue };
            let mine = self.pid(Some(family), span);
            let guard = Some(terms::equal(mine, number(pid, span))).filter(|guard| !terms::is(guard, true));
            let pattern = |leaf: &LeafId| match self.locals.get(&(family, *leaf)) {
                Some(&var) => ReceivePattern::Into(Access { var, whose: Whose::Mine, indices: Vec::new(), span }),
                None => ReceivePattern::Ignored,
            };
            let patterns = declared.parameters.iter().map(pattern).collect();
            let body = self.start_values(family, &declared.leaves[declared.parameters.len()..], span);
            let text = format!("start {}", declared.name);
            let statement = self.model.statements.push(Statement { text, span });
            self.push_action(Action {
                scope: TextOwner::Family(self.family_ids[family]),
                source: unborn,
                statement,
                labels: Vec::new(),
                guard,
                sync: Some(Sync { channel, side: SyncSide::Receive(patterns) }),
                body,
                kind: ActionKind::Plain,
                next: Next::To(entry),
                goes_on: false,
                when_nobody: false,
            });
        }
    }

    /// What the leading declarations of a process do when it is created.
    fn start_values(&mut self, family: usize, leaves: &[LeafId], span: Span) -> Vec<Stmt> {
        let mut body = Vec::new();
        for &leaf in leaves {
            let Some(&var) = self.locals.get(&(family, leaf)) else { continue };
            let declared = self.setting.program.leaves[leaf].clone();
            let elements = super::element_positions(&declared.dims);
            let values: Vec<ModelExpr> = match &declared.init {
                Start::Zero | Start::Channel { .. } => continue,
                Start::Value(value) => {
                    let value = self.number(value, Some(family)).cut(declared.bounds());
                    vec![value; elements.len()]
                }
                Start::List(values) => {
                    values.iter().map(|value| self.number(value, Some(family)).cut(declared.bounds())).collect()
                }
            };
            let access = |at: Vec<usize>| {
                let indices = at.into_iter().map(|at| number(at as i64, span)).collect();
                Access { var, whose: Whose::Mine, indices, span }
            };
            let pairs: Vec<_> = elements.into_iter().map(access).zip(values).collect();
            body.push(assign(pairs, span));
        }
        body
    }

    /// The step in which a process at its end dies.
    pub(super) fn death(&mut self, family: usize, (end, dead): (PlaceId, PlaceId)) {
        let span = self.model.places[end].span;
        let Some(mut guard) = self.is_youngest(family, span) else { return };
        let proctype = self.setting.families[family].proctype;
        if let Some(provided) = &self.setting.program.proctypes[proctype].provided {
            guard = terms::and(self.truth(provided, Some(family)), guard);
        }
        let first = self.is_first(family, false, span);
        guard = terms::and(terms::all(first, span), guard);
        let mut body: Vec<Stmt> = self.cleared(family, span).into_iter().collect();
        let mine = self.pid(Some(family), span);
        body.extend(self.ranked(mine, 0, span));
        body.extend(self.emptied(family, span));
        if let Some(count) = self.n_processes {
            let access = terms::shared(count, Vec::new(), span);
            let fewer = terms::binary(model::expr::BinaryOp::Subtract, terms::read(access.clone()), number(1, span));
            body.push(assign(vec![(access, fewer)], span));
        }
        let statement = self.model.statements.push(Statement { text: "-end-".into(), span });
        self.push_action(Action {
            scope: TextOwner::Family(self.family_ids[family]),
            source: end,
            statement,
            labels: vec![super::OWN.to_owned()],
            guard: Some(guard),
            sync: None,
            body,
            kind: ActionKind::Plain,
            next: Next::To(dead),
            goes_on: false,
            when_nobody: false,
        });
    }

    /// The channels of a process that dies are empty when it is started again.
    fn emptied(&mut self, family: usize, span: Span) -> Option<Stmt> {
        let members = &self.setting.families[family];
        let mut pairs = Vec::new();
        for &leaf in &self.setting.program.proctypes[members.proctype].leaves {
            let declared = &self.setting.program.leaves[leaf];
            let Start::Channel { .. } = declared.init else { continue };
            for &channel in members.constants.get(&leaf).into_iter().flatten() {
                let Some(at) = super::families::position(channel, self.setting.world) else { continue };
                let Made::Buffer { length, rows, capacity } = &self.made[at] else { continue };
                pairs.push((terms::shared(*length, Vec::new(), span), number(0, span)));
                for &row in rows {
                    let slots = (0..*capacity).map(|at| terms::shared(row, vec![number(at as i64, span)], span));
                    pairs.extend(slots.map(|slot| (slot, number(0, span))));
                }
            }
        }
        (!pairs.is_empty()).then(|| assign(pairs, span))
    }
}
