//! Steps between nodes, and which processes can take one.
//!
//! In: the nodes of a Model's processes. Out: for each action at each node its steps and its faults; for a rendezvous, with each
//! partner at each node. Then, as terms over the state: which process is enabled, which may stutter, where none is enabled.

use model::Model;
use model::control::{ActionId, ActionKind, ReceivePattern, SyncSide, TextOwner};
use model::expr::Expr;
use model::process::ProcessId;
use model::types::ScalarType;
use model::variable::{Init, Role, Var, VarId};

use super::body::{BodyRunner, FlatPath, MOST_PATHS, first_term, outside, put};
use super::expression::{ElementTarget, TermEvaluator};
use super::{FaultStep, Flat, FlatStep, StepPart, Update, is_idle, leaves};
use crate::ExportRefusal;
use crate::term::{NodeNo, Term};

impl Flat {
    pub(super) fn make_steps(&mut self, model: &Model) -> Result<(), Vec<ExportRefusal>> {
        let (mut steps, mut faults, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for process in model.processes.ids() {
            for (source, node) in self.nodes[process.index()].entries() {
                for &action in &model.places[node.place].actions {
                    let maker = StepMaker { model, flat: self, side: MovingSide { process, source, action } };
                    for made in maker.make() {
                        steps.extend(made.steps);
                        faults.extend(made.faults);
                        problems.extend(made.problems);
                    }
                }
            }
        }
        (self.steps, self.faults) = (steps, faults);
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// A process, its node, and its action.
#[derive(Clone, Copy, Debug)]
struct MovingSide {
    process: ProcessId,
    source: NodeNo,
    action: ActionId,
}

struct StepMaker<'m> {
    model: &'m Model,
    flat: &'m Flat,
    side: MovingSide,
}

struct MadeSteps {
    steps: Vec<FlatStep>,
    faults: Vec<FaultStep>,
    problems: Vec<ExportRefusal>,
}

impl<'m> StepMaker<'m> {
    /// The steps of the action; of a rendezvous, with each partner, if it sends.
    fn make(&self) -> Vec<MadeSteps> {
        let acted = &self.model.actions[self.side.action];
        let Some(sync) = &acted.sync else { return vec![self.alone(true)] };
        let mut found = vec![self.alone(false)];
        let SyncSide::Send(values) = &sync.side else { return found };
        for process in self.model.processes.ids().filter(|&other| other != self.side.process) {
            for (source, node) in self.flat.nodes[process.index()].entries() {
                for &action in &self.model.places[node.place].actions {
                    if let Some(theirs) = &self.model.actions[action].sync
                        && theirs.channel == sync.channel
                        && let SyncSide::Receive(patterns) = &theirs.side
                    {
                        found.push(self.rendezvous(MovingSide { process, source, action }, values, patterns));
                    }
                }
            }
        }
        found
    }

    fn start(&self, sides: &[MovingSide]) -> FlatPath<'m> {
        let mut eval = TermEvaluator::new(self.model, self.flat, &[]);
        eval.node_of = sides.iter().map(|side| (side.process, side.source)).collect();
        FlatPath { alive: Term::truth(true), eval }.acts_for(self.side.process)
    }

    /// A step of one process; without its body, only what can go wrong in the guard.
    fn alone(&self, is_whole: bool) -> MadeSteps {
        let mut runner = BodyRunner::default();
        let mut path = self.start(&[self.side]);
        let acted = &self.model.actions[self.side.action];
        if let Some(guard) = &acted.guard {
            let test = runner.value(guard, &mut path);
            BodyRunner::only_where(&mut path, &test.term);
        }
        let mut ended = Vec::new();
        if is_whole && !path.alive.is(false) {
            for path in runner.run(&acted.body, path) {
                ended.extend(self.finish(&mut runner, self.side, path));
            }
        }
        self.made(&[self.side], runner, ended)
    }

    fn rendezvous(&self, partner: MovingSide, values: &[Expr], patterns: &[ReceivePattern]) -> MadeSteps {
        let mut runner = BodyRunner::default();
        let (ours, theirs) = (&self.model.actions[self.side.action], &self.model.actions[partner.action]);
        let mut path = self.start(&[self.side, partner]);
        // Faults in guards are steps of one process alone; here there is none.
        for (acted, process) in [(ours, self.side.process), (theirs, partner.process)] {
            path = path.acts_for(process);
            if let Some(guard) = &acted.guard {
                let test = path.eval.value(guard);
                BodyRunner::only_where(&mut path, &test.fault.negation().and(&test.term));
            }
        }
        path = path.acts_for(self.side.process);
        let sent: Vec<Term> = values.iter().map(|value| runner.value(value, &mut path).term).collect();
        path = path.acts_for(partner.process);
        let mut stores = Vec::new();
        for (pattern, value) in patterns.iter().zip(&sent) {
            match pattern {
                ReceivePattern::Into(access) => stores.push((runner.locate(access, &mut path), value)),
                ReceivePattern::Equal(wanted) => {
                    let wanted = runner.value(wanted, &mut path).term;
                    BodyRunner::only_where(&mut path, &wanted.equal(value));
                }
                ReceivePattern::Ignored => {}
            }
        }
        for (targets, value) in stores {
            runner.store(&mut path, &targets, value);
        }
        let mut ended = Vec::new();
        if !path.alive.is(false) {
            for path in runner.run(&theirs.body, path) {
                for path in self.finish(&mut runner, partner, path) {
                    for path in runner.run(&ours.body, path.acts_for(self.side.process)) {
                        ended.extend(self.finish(&mut runner, self.side, path));
                    }
                }
            }
        }
        self.made(&[self.side, partner], runner, ended)
    }

    fn made(&self, sides: &[MovingSide], runner: BodyRunner, ended: Vec<FlatPath<'m>>) -> MadeSteps {
        let mover = |side: &MovingSide, target| StepPart {
            process: side.process,
            source: side.source,
            target,
            action: side.action,
        };
        let steps = ended.into_iter().filter(|path| !path.alive.is(false)).map(|path| FlatStep {
            movers: sides.iter().map(|side| mover(side, path.eval.node_of[&side.process])).collect(),
            updates: updates(self.flat, &path),
            guard: path.alive,
            touched: path.eval.touched,
        });
        let steps = steps.collect();
        let faults = runner.faults.into_iter().map(|(condition, touched)| FaultStep {
            movers: sides.iter().map(|side| mover(side, side.source)).collect(),
            condition,
            touched,
        });
        MadeSteps { steps, faults: faults.collect(), problems: runner.problems }
    }

    /// Moves control as the action says.
    fn finish(&self, runner: &mut BodyRunner, side: MovingSide, mut path: FlatPath<'m>) -> Vec<FlatPath<'m>> {
        let acted = &self.model.actions[side.action];
        let mut paths = match &acted.kind {
            ActionKind::Plain | ActionKind::Idle => vec![path],
            ActionKind::Call { procedure, arguments, .. } => {
                let callee = &self.model.procedures[*procedure];
                let mut slots = Vec::new();
                for (argument, &parameter) in arguments.iter().zip(&callee.vars) {
                    let value = runner.value(argument, &mut path).term;
                    runner.fails(&mut path, &outside(self.model, self.model.vars[parameter].ty.scalar(), &value));
                    slots.push((parameter, value));
                }
                for (parameter, value) in slots {
                    self.put_element(&mut path, (side.process, parameter), 0, &value);
                }
                self.start_locals(runner, side.process, &callee.vars[callee.n_parameters..], path)
            }
            ActionKind::Return { value } => self.give_back(runner, side, value.as_ref(), path),
        };
        paths.retain(|path| !path.alive.is(false));
        let target = self.flat.target(self.model, (side.process, side.source), side.action);
        match target {
            Ok(target) => {
                for path in &mut paths {
                    path.eval.node_of.insert(side.process, target);
                }
                paths
            }
            // The bounds of a loop cannot be evaluated: the step fails, however it came here.
            Err(_) => {
                for mut path in paths {
                    runner.fails(&mut path, &Term::truth(true));
                }
                Vec::new()
            }
        }
    }

    fn put_element(&self, path: &mut FlatPath<'_>, (process, id): (ProcessId, VarId), offset: usize, value: &Term) {
        let var = self.flat.var(id, Some(process));
        let index = self.flat.vars[var].elements()[offset].iter().map(|&at| Term::number(at as i64)).collect();
        let target = ElementTarget { var, index, ty: self.model.vars[id].ty.scalar() };
        put(path, &[(Term::truth(true), target)], value);
    }

    /// Starts the locals of a call anew, one after the other.
    fn start_locals(
        &self,
        runner: &mut BodyRunner,
        process: ProcessId,
        locals: &[VarId],
        path: FlatPath<'m>,
    ) -> Vec<FlatPath<'m>> {
        let mut paths = vec![path];
        for &id in locals {
            let var = &self.model.vars[id];
            if matches!(var.role, Role::Counter(_)) {
                continue;
            }
            let inits = leaf_inits(&var.init, var);
            for (offset, init) in inits.into_iter().enumerate() {
                let mut next = Vec::new();
                for mut path in paths {
                    for value in self.start_values(runner, var, init, &mut path) {
                        let mut one = path.clone();
                        self.put_element(&mut one, (process, id), offset, &value);
                        next.push(one);
                    }
                }
                paths = next;
            }
        }
        paths
    }

    fn start_values(&self, runner: &mut BodyRunner, var: &Var, init: &Init, path: &mut FlatPath<'m>) -> Vec<Term> {
        let ty = var.ty.scalar();
        match init {
            Init::Any if ty.n_values(self.model.type_context()) > MOST_PATHS as u128 => {
                runner
                    .problems
                    .push(ExportRefusal::new(var.span, format!("more than {MOST_PATHS} ways through one step")));
                vec![first_term(self.model, ty)]
            }
            Init::Any => {
                let term = |value| {
                    let number = super::number_of(self.model, value);
                    if ty == ScalarType::Bool { Term::truth(number != 0) } else { Term::number(number) }
                };
                ty.values(self.model.type_context()).map(term).collect()
            }
            Init::Fill(expr) => {
                let value = runner.value(expr, path).term;
                runner.fails(path, &outside(self.model, ty, &value));
                vec![value]
            }
            Init::First | Init::Elements(_) => vec![first_term(self.model, ty)],
        }
    }

    /// Gives the result to the caller; the variables of the call go back to where they are between calls.
    fn give_back(
        &self,
        runner: &mut BodyRunner,
        side: MovingSide,
        value: Option<&Expr>,
        mut path: FlatPath<'m>,
    ) -> Vec<FlatPath<'m>> {
        let TextOwner::Procedure(procedure) = self.model.actions[side.action].scope else {
            unreachable!("front-ends keep `return` in procedures")
        };
        let callee = &self.model.procedures[procedure];
        let result = value.map(|value| runner.value(value, &mut path).term);
        match (callee.result, &result) {
            (Some(_), None) => {
                runner.fails(&mut path, &Term::truth(true));
            }
            (Some(ty), Some(value)) => {
                runner.fails(&mut path, &outside(self.model, ty, value));
            }
            _ => {}
        }
        for &id in &callee.vars {
            let var = &self.model.vars[id];
            if !matches!(var.role, Role::Counter(_)) {
                let first = first_term(self.model, var.ty.scalar());
                (0..leaves(&var.ty)).for_each(|offset| self.put_element(&mut path, (side.process, id), offset, &first));
            }
        }
        let node = &self.flat.nodes[side.process.index()][side.source];
        let (call, counters) = node.callers.last().expect("a return stands in a procedure that was called");
        if let (ActionKind::Call { result: Some(access), .. }, Some(value)) = (&self.model.actions[*call].kind, result)
        {
            path.eval.counters.clone_from(counters);
            let targets = runner.locate(access, &mut path);
            runner.store(&mut path, &targets, &value);
        }
        vec![path]
    }
}

/// What each scalar part of a variable starts with: never `Init::Elements`.
fn leaf_inits<'a>(init: &'a Init, var: &Var) -> Vec<&'a Init> {
    fn below<'a>(init: &'a Init, ty: &model::types::Type) -> Vec<&'a Init> {
        match (init, ty) {
            (Init::Elements(inits), model::types::Type::Array { element, len }) => {
                (0..*len).flat_map(|at| below(inits.get(at).unwrap_or(&Init::First), element)).collect()
            }
            _ => vec![init; ty.n_cells()],
        }
    }
    below(init, &var.ty)
}

/// What a path changed.
fn updates(flat: &Flat, path: &FlatPath<'_>) -> Vec<Update> {
    let mut found: Vec<Update> = Vec::new();
    let mut cells: Vec<_> = path.eval.store.cells.iter().collect();
    cells.sort_by_key(|(key, _)| **key);
    for (&(var, offset), value) in cells {
        let index: Vec<Term> = flat.vars[var].elements()[offset].iter().map(|&at| Term::number(at as i64)).collect();
        if *value != flat.read(var, index.clone()) {
            found.push(Update { var, index, value: value.clone() });
        }
    }
    let mut single: Vec<_> = path.eval.store.single.iter().collect();
    single.sort_by_key(|(var, _)| **var);
    found.extend(single.into_iter().map(|(&var, (index, value))| Update {
        var,
        index: index.clone(),
        value: value.clone(),
    }));
    found
}

/// That the movers of a step, those of one process aside, are at their sources.
fn others_at_sources(movers: &[StepPart], process: ProcessId) -> Term {
    let others = movers.iter().filter(|mover| mover.process != process);
    Term::all(others.map(|mover| Term::at(mover.process, vec![mover.source])))
}

/// When a process takes part in a step, faulty or not, in which its action is wanted.
pub fn takes_part(flat: &Flat, process: ProcessId, wanted: impl Fn(ActionId) -> bool) -> Term {
    let parts = flat.steps.iter().map(|step| (&step.movers, &step.guard));
    let parts: Vec<_> = parts.chain(flat.faults.iter().map(|fault| (&fault.movers, &fault.condition))).collect();
    let mut at = Vec::new();
    for node in flat.nodes[process.index()].ids() {
        let here = parts.iter().filter(|(movers, _)| {
            movers.iter().any(|mover| mover.process == process && mover.source == node && wanted(mover.action))
        });
        let open = Term::any(here.map(|(movers, guard)| others_at_sources(movers, process).and(guard)));
        at.push((node, open));
    }
    let always = Term::at(process, at.iter().filter(|(_, open)| open.is(true)).map(|(node, _)| *node).collect());
    let sometimes = at.iter().filter(|(_, open)| !open.is(true) && !open.is(false));
    sometimes.fold(always, |any, (node, open)| any.or(&Term::at(process, vec![*node]).and(open)))
}

/// When a process is enabled: a step other than leaving `idle`.
pub fn able(model: &Model, flat: &Flat, process: ProcessId) -> Term {
    takes_part(flat, process, |action| !is_idle(model, action))
}

/// When a process is able to take a step that carries one of the labels.
pub fn able_by(model: &Model, flat: &Flat, process: ProcessId, labels: &[String]) -> Term {
    let carries = |action: ActionId| model.actions[action].labels.iter().any(|label| labels.contains(label));
    takes_part(flat, process, |action| !is_idle(model, action) && carries(action))
}

/// When a process may stutter.
pub fn may_stutter(flat: &Flat, process: ProcessId) -> Term {
    let nodes = &flat.nodes[process.index()];
    let idle = nodes.entries().filter(|(_, node)| node.is_idle).map(|(id, _)| id).collect();
    Term::at(process, idle).or(&takes_part(flat, process, |_| true).negation())
}

/// The nodes at which a process that is not enabled is not stuck.
pub fn stuck_free_nodes(flat: &Flat, process: ProcessId) -> Vec<NodeNo> {
    let nodes = &flat.nodes[process.index()];
    nodes.entries().filter(|(_, node)| node.is_end || node.is_idle || node.may_end).map(|(id, _)| id).collect()
}

/// When no process is enabled and some process is blocked.
pub fn deadlock(model: &Model, flat: &Flat) -> Term {
    let none_enabled = Term::all(model.processes.ids().map(|process| takes_part(flat, process, |_| true).negation()));
    let stuck = |process: ProcessId| Term::at(process, stuck_free_nodes(flat, process)).negation();
    none_enabled.and(&Term::any(model.processes.ids().map(stuck)))
}
