//! Steps as guarded changes: for each way through an action, the states in which it is taken and what it writes.
//!
//! In: the movers and their control points. Out: all [`Command`]s, the states in which a step fails, and those in which any
//! step is enabled. A statement is followed along every path, as `model::eval` does; where the path depends on a value, it is
//! split by that value, so that what is written is constant. A number of many bits is written as it is: the guard then says
//! how the bits after the step follow from those before it.

use std::collections::{BTreeMap, BTreeSet};

use biodivine_lib_bdd::Bdd;
use evidence::certificate::{Column, LocalFact};
use model::control::{Action, ActionId, LoopId, Next, ReceivePattern, Stmt, StmtKind, SyncSide};
use model::eval::Link;
use model::expr::{Access, Expr};
use model::process::ProcessId;
use model::value::{Fault, Value};
use model::variable::CellId;

use super::content::{Content, plain};
use super::store::Passing;
use super::value::{Evaluator, Scene, Touched};
use crate::certificate::Outcome;
use crate::certificate::movers::Movers;

/// A step from given control points: where it is possible, and what it changes.
pub(super) struct Command {
    /// The processes that step, and how.
    pub by: Link,
    /// The states in which it is possible; the movers' control is left out. It depends on what carried columns are after the step.
    pub guard: Bdd,
    /// What is changed: cells, and the control and exposed blocks of the movers; an error in words where a mover comes to a
    /// local state that the certificate does not list.
    pub changes: Result<Vec<(Column, u64)>, String>,
    /// The wide columns whose new numbers are in the guard.
    pub carried: Vec<Column>,
}

/// What movers can do from their control points.
pub(super) struct Commands {
    /// The steps with a successor.
    pub steps: Vec<Command>,
    /// The steps that fail.
    pub faults: Vec<(Link, Fault, Bdd)>,
    /// The states in which a step is enabled, failing or not.
    pub enabled: Bdd,
    /// The columns that are read or changed, with the states in which they are.
    pub footprint: BTreeMap<Column, Bdd>,
    /// The touches of the watched variable by enabled steps, each with the number of its step.
    pub touches: Vec<(usize, Touched)>,
}

/// A path through a step.
#[derive(Clone)]
pub(super) struct Path {
    /// The states from which it is taken.
    pub(super) states: Bdd,
    /// What is known on it: what was written, the control locations of the movers.
    pub(super) scene: Scene,
    /// The fault that ended it.
    pub(super) fault: Option<Fault>,
    pub(super) touched: Vec<Touched>,
    /// The wide cells for which a value was chosen on it.
    pub(super) chosen: BTreeSet<CellId>,
}

/// Follows paths.
pub(super) struct Follower<'e, 'a> {
    pub evaluator: &'e mut Evaluator<'a>,
}

impl<'a> Follower<'_, 'a> {
    /// What the movers can do at these points, one for each of their processes.
    pub fn commands(mut self, movers: Movers, points: &[u32]) -> Outcome<Commands> {
        let start = self.start(movers, points);
        let mut commands = Commands {
            steps: Vec::new(),
            faults: Vec::new(),
            enabled: self.evaluator.variables.empty(),
            footprint: BTreeMap::new(),
            touches: Vec::new(),
        };
        let choices = self.evaluator.variables.choices();
        for (number, (by, path)) in self.paths(movers, &start)?.into_iter().enumerate() {
            let states = self.evaluator.algebra.exists(&path.states, &choices)?;
            commands.enabled = self.evaluator.algebra.or(&commands.enabled, &states)?;
            for touched in &path.touched {
                let both = self.evaluator.algebra.and(&touched.states, &path.states)?;
                let states = self.evaluator.algebra.exists(&both, &choices)?;
                commands.touches.push((number, Touched { states, ..touched.clone() }));
            }
            match path.fault {
                Some(fault) => commands.faults.push((by, fault, states)),
                None => commands.steps.extend(self.command(movers, by, path)?),
            }
        }
        for (column, states) in std::mem::take(&mut self.evaluator.footprint) {
            commands.footprint.insert(column, self.evaluator.algebra.exists(&states, &choices)?);
        }
        Ok(commands)
    }

    fn start(&self, movers: Movers, points: &[u32]) -> Path {
        let mut scene = Scene::default();
        for (process, &number) in movers.processes().into_iter().zip(points) {
            let point = &self.evaluator.numbering.points(process)[number as usize];
            scene.places.insert(process, point.place);
            scene.cells.extend(point.counters.iter().map(|&(cell, value)| (cell, Content::Value(value))));
        }
        Path {
            states: self.evaluator.variables.full(),
            scene,
            fault: None,
            touched: Vec::new(),
            chosen: BTreeSet::new(),
        }
    }

    /// The paths that end a step.
    fn paths(&mut self, movers: Movers, start: &Path) -> Outcome<Vec<(Link, Path)>> {
        let model = self.evaluator.model();
        let mut found = Vec::new();
        match movers {
            Movers::One(process) => {
                for &action in &model.places[start.scene.places[&process]].actions {
                    let by = Link { process, action, partner: None };
                    let acted: &'a Action = &model.actions[action];
                    let mut paths = self.open(process, acted, start)?;
                    if acted.sync.is_some() {
                        // Alone, only a fault in the guard is a step.
                        paths.retain(|path| path.fault.is_some());
                    } else {
                        paths = self.complete(process, acted, paths)?;
                    }
                    found.extend(paths.into_iter().map(|path| (by, path)));
                }
            }
            Movers::Two { sender, receiver } => {
                for &action in &model.places[start.scene.places[&sender]].actions {
                    for &theirs in &model.places[start.scene.places[&receiver]].actions {
                        let by = Link { process: sender, action, partner: Some((receiver, theirs)) };
                        let paths = self.rendezvous((sender, action), (receiver, theirs), start)?;
                        found.extend(paths.into_iter().map(|path| (by, path)));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The states in which the guard is true, and those in which it fails.
    fn open(&mut self, me: ProcessId, action: &'a Action, start: &Path) -> Outcome<Vec<Path>> {
        match &action.guard {
            None => Ok(vec![start.clone()]),
            Some(guard) => self.test(me, guard, start.clone(), |path| Ok(vec![path]), |_| Ok(Vec::new())),
        }
    }

    /// The body, then the move of control.
    fn complete(&mut self, me: ProcessId, action: &'a Action, paths: Vec<Path>) -> Outcome<Vec<Path>> {
        let paths = self.run_all(me, &action.body, paths)?;
        self.each(paths, |follower, path| follower.follow(me, &action.next, path))
    }

    fn rendezvous(
        &mut self,
        (sender, action): (ProcessId, ActionId),
        (receiver, theirs): (ProcessId, ActionId),
        start: &Path,
    ) -> Outcome<Vec<Path>> {
        let model = self.evaluator.model();
        let (sending, receiving): (&'a Action, &'a Action) = (&model.actions[action], &model.actions[theirs]);
        let (Some(out), Some(into)) = (&sending.sync, &receiving.sync) else { return Ok(Vec::new()) };
        let (SyncSide::Send(values), SyncSide::Receive(patterns)) = (&out.side, &into.side) else {
            return Ok(Vec::new());
        };
        if out.channel != into.channel {
            return Ok(Vec::new());
        }
        let mut met = Vec::new();
        for path in self.open(sender, sending, start)?.into_iter().filter(|path| path.fault.is_none()) {
            met.extend(self.open(receiver, receiving, &path)?.into_iter().filter(|path| path.fault.is_none()));
        }
        let passed = self.each(met, |follower, path| follower.pass((sender, values), (receiver, patterns), path))?;
        let received = self.complete(receiver, receiving, passed)?;
        self.complete(sender, sending, received)
    }

    /// All values are evaluated first, then what receives them one after another, then the values are stored.
    fn pass(
        &mut self,
        (sender, values): (ProcessId, &'a [Expr]),
        (receiver, patterns): (ProcessId, &'a [ReceivePattern]),
        path: Path,
    ) -> Outcome<Vec<Path>> {
        let mut partial: Vec<(Vec<Content>, Path)> = vec![(vec![], path)];
        let mut failed = Vec::new();
        for value in values {
            let mut longer = Vec::new();
            for (sent, path) in partial {
                for (value, path) in self.value(sender, value, path, &mut failed)? {
                    longer.push(([sent.as_slice(), &[value]].concat(), path));
                }
            }
            partial = longer;
        }
        for (sent, path) in partial {
            let mut met: Vec<(Vec<(CellId, Content)>, Path)> = vec![(vec![], path)];
            for (pattern, value) in patterns.iter().zip(sent) {
                let mut longer = Vec::new();
                for (stores, path) in met {
                    match pattern {
                        ReceivePattern::Into(target) => {
                            for (cell, path) in self.locate(receiver, target, path, &mut failed)? {
                                longer.push(([stores.as_slice(), &[(cell, value.clone())]].concat(), path));
                            }
                        }
                        ReceivePattern::Equal(wanted) => {
                            for (wanted, path) in self.value(receiver, wanted, path, &mut failed)? {
                                let states = self.where_same(&wanted, &value, &path.states)?;
                                longer.push((stores.clone(), Path { states, ..path }));
                            }
                        }
                        ReceivePattern::Ignored => longer.push((stores, path)),
                    }
                }
                met = longer;
            }
            for (stores, path) in met {
                failed.extend(self.store_all(receiver, stores, path)?);
            }
        }
        Ok(failed)
    }

    /// The states among some in which two contents are the same.
    fn where_same(&self, one: &Content, other: &Content, states: &Bdd) -> Outcome<Bdd> {
        if let (Content::Value(one), Content::Value(other)) = (one, other) {
            return Ok(if one == other { states.clone() } else { self.evaluator.variables.empty() });
        }
        let words = self.evaluator.words();
        let same = words.equal(&self.evaluator.as_word(one), &self.evaluator.as_word(other))?;
        self.evaluator.algebra.and(states, &same)
    }

    /// Stores contents one after the other.
    fn store_all(
        &mut self,
        me: ProcessId,
        stores: impl IntoIterator<Item = (CellId, Content)>,
        path: Path,
    ) -> Outcome<Vec<Path>> {
        stores.into_iter().try_fold(vec![path], |paths, (cell, content)| {
            self.each(paths, |follower, path| follower.store(me, cell, content.clone(), path))
        })
    }

    fn run_all(&mut self, me: ProcessId, body: &'a [Stmt], paths: Vec<Path>) -> Outcome<Vec<Path>> {
        body.iter().try_fold(paths, |paths, stmt| self.each(paths, |follower, path| follower.statement(me, stmt, path)))
    }

    /// Goes on with every path that has not failed.
    pub(super) fn each(
        &mut self,
        paths: Vec<Path>,
        mut go_on: impl FnMut(&mut Self, Path) -> Outcome<Vec<Path>>,
    ) -> Outcome<Vec<Path>> {
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            if path.fault.is_some() {
                found.push(path);
            } else if !path.states.is_false() {
                found.extend(go_on(self, path)?);
            }
        }
        Ok(found)
    }

    fn statement(&mut self, me: ProcessId, stmt: &'a Stmt, path: Path) -> Outcome<Vec<Path>> {
        match &stmt.kind {
            StmtKind::Assign(pairs) => self.assign(me, pairs, path),
            StmtKind::AssignAny(access, range) => self.assign_any(me, access, range.as_ref(), path),
            StmtKind::Await(test) => self.test(me, test, path, |path| Ok(vec![path]), |_| Ok(Vec::new())),
            StmtKind::Assert(test) => {
                let fail = |path| Ok(vec![Path { fault: Some(Fault::AssertFailed), ..path }]);
                self.test(me, test, path, |path| Ok(vec![path]), fail)
            }
            StmtKind::Acquire(access) => self.change(me, access, path, Passing::Acquire),
            StmtKind::Release(access) => self.change(me, access, path, Passing::Release),
            StmtKind::If(test, yes, no) => {
                let mut branches = Vec::new();
                for (path, truth) in self.branch(me, test, path)? {
                    match truth {
                        Some(true) => branches.extend(self.run_all(me, yes, vec![path])?),
                        Some(false) => branches.extend(self.run_all(me, no, vec![path])?),
                        None => branches.push(path),
                    }
                }
                Ok(branches)
            }
            StmtKind::Either(blocks) => {
                let mut found = Vec::new();
                for block in blocks {
                    found.extend(self.run_all(me, block, vec![path.clone()])?);
                }
                Ok(found)
            }
            StmtKind::For(binding, block) => {
                let mut found = Vec::new();
                for (values, path) in self.domain(me, &binding.domain, path, &mut found)? {
                    let mut paths = vec![path];
                    let mut next = values.first().copied();
                    while let Some(value) = next {
                        for path in paths.iter_mut().filter(|path| path.fault.is_none()) {
                            path.scene.bound.truncate(binding.var.0 as usize);
                            path.scene.bound.push(value);
                        }
                        paths = self.run_all(me, block, paths)?;
                        next = values.after(value);
                    }
                    found.extend(paths);
                }
                Ok(found)
            }
        }
    }

    fn assign(&mut self, me: ProcessId, pairs: &'a [(Access, Expr)], path: Path) -> Outcome<Vec<Path>> {
        let mut failed = Vec::new();
        let mut partial: Vec<(Vec<(CellId, Content)>, Path)> = vec![(Vec::new(), path)];
        for (access, value) in pairs {
            let mut longer = Vec::new();
            for (stores, path) in partial {
                for (cell, path) in self.locate(me, access, path, &mut failed)? {
                    for (value, path) in self.value(me, value, path, &mut failed)? {
                        longer.push(([stores.as_slice(), &[(cell, value)]].concat(), path));
                    }
                }
            }
            partial = longer;
        }
        for (stores, path) in partial {
            failed.extend(self.store_all(me, stores, path)?);
        }
        Ok(failed)
    }

    /// Moves control along `next`.
    fn follow(&mut self, me: ProcessId, next: &'a Next, path: Path) -> Outcome<Vec<Path>> {
        let model = self.evaluator.model();
        let mut found = Vec::new();
        let mut open = vec![(next, path)];
        while let Some((next, mut path)) = open.pop() {
            match next {
                Next::To(place) => {
                    path.scene.places.insert(me, *place);
                    found.push(path);
                }
                Next::Leave { loops, then } => {
                    for &left in loops {
                        self.reset(self.counter(me, left), &mut path);
                    }
                    open.push((then, path));
                }
                Next::Enter { enter: id, skip: past } | Next::Again { again: id, done: past } => {
                    let cell = self.counter(me, *id);
                    for (values, mut path) in self.domain(me, &model.loops[*id].domain, path, &mut found)? {
                        let following = match next {
                            Next::Enter { .. } => values.first().copied(),
                            _ => values.after(plain(path.scene.cells[&cell].clone())),
                        };
                        match following {
                            Some(value) => {
                                path.scene.cells.insert(cell, Content::Value(value));
                                open.push((&model.loops[*id].body, path));
                            }
                            None => {
                                if matches!(next, Next::Again { .. }) {
                                    self.reset(cell, &mut path);
                                }
                                open.push((past, path));
                            }
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    fn counter(&self, me: ProcessId, id: LoopId) -> CellId {
        let model = self.evaluator.model();
        model.cells_of(model.loops[id].counter, Some(me)).next().expect("a counter is one cell")
    }

    fn reset(&self, counter: CellId, path: &mut Path) {
        let model = self.evaluator.model();
        let first = model.cells[counter].ty.first_value(model.type_context()).expect("types have values");
        path.scene.cells.insert(counter, Content::Value(first));
    }

    fn test(
        &mut self,
        me: ProcessId,
        test: &'a Expr,
        path: Path,
        yes: impl Fn(Path) -> Outcome<Vec<Path>>,
        no: impl Fn(Path) -> Outcome<Vec<Path>>,
    ) -> Outcome<Vec<Path>> {
        let mut found = Vec::new();
        for (path, truth) in self.branch(me, test, path)? {
            found.extend(match truth {
                Some(true) => yes(path)?,
                Some(false) => no(path)?,
                None => vec![path],
            });
        }
        Ok(found)
    }

    /// The path where a test is true, where it is false, and (with its fault) where it fails.
    fn branch(&mut self, me: ProcessId, test: &'a Expr, path: Path) -> Outcome<Vec<(Path, Option<bool>)>> {
        let scene = Scene { me: Some(me), ..path.scene.clone() };
        let truth = self.evaluator.truth(test, &scene, &path.states)?;
        let touched = [path.touched.as_slice(), &std::mem::take(&mut self.evaluator.touched)].concat();
        let (scene, chosen) = (&path.scene, &path.chosen);
        let part = |states: Bdd, fault| Path {
            states,
            scene: scene.clone(),
            fault,
            touched: touched.clone(),
            chosen: chosen.clone(),
        };
        let mut found = vec![(part(truth.yes, None), Some(true)), (part(truth.no, None), Some(false))];
        found.extend(truth.faults.into_iter().map(|(fault, states)| (part(states, Some(fault)), None)));
        found.retain(|(path, _)| !path.states.is_false());
        Ok(found)
    }

    pub(super) fn value(
        &mut self,
        me: ProcessId,
        expr: &'a Expr,
        path: Path,
        failed: &mut Vec<Path>,
    ) -> Outcome<Vec<(Content, Path)>> {
        let scene = Scene { me: Some(me), ..path.scene.clone() };
        let cases = self.evaluator.value(expr, &scene, &path.states)?;
        Ok(self.split(cases, path, failed))
    }

    pub(super) fn locate(
        &mut self,
        me: ProcessId,
        access: &'a Access,
        path: Path,
        failed: &mut Vec<Path>,
    ) -> Outcome<Vec<(CellId, Path)>> {
        let scene = Scene { me: Some(me), ..path.scene.clone() };
        let cases = self.evaluator.locate(access, &scene, &path.states)?;
        Ok(self.split(cases, path, failed))
    }

    fn domain(
        &mut self,
        me: ProcessId,
        domain: &'a model::expr::Domain,
        path: Path,
        failed: &mut Vec<Path>,
    ) -> Outcome<Vec<(super::value::Values, Path)>> {
        let scene = Scene { me: Some(me), ..path.scene.clone() };
        let mut faults = Vec::new();
        let cases = self.evaluator.domain(domain, &scene, &path.states, &mut faults)?;
        let cases = cases.into_iter().map(|(values, states)| (Ok(values), states));
        let faults = faults.into_iter().map(|(fault, states)| (Err(fault), states));
        Ok(self.split(cases.chain(faults), path, failed))
    }

    /// One path for each case; those that fail are put aside.
    fn split<T>(
        &mut self,
        cases: impl IntoIterator<Item = (Result<T, Fault>, Bdd)>,
        path: Path,
        failed: &mut Vec<Path>,
    ) -> Vec<(T, Path)> {
        let touched = [path.touched.as_slice(), &std::mem::take(&mut self.evaluator.touched)].concat();
        let mut found = Vec::new();
        for (case, states) in cases {
            let (scene, chosen) = (path.scene.clone(), path.chosen.clone());
            let part = Path { states, scene, fault: None, touched: touched.clone(), chosen };
            match case {
                Ok(what) => found.push((what, part)),
                Err(fault) => failed.push(Path { fault: Some(fault), ..part }),
            }
        }
        found
    }

    /// The commands of a complete path: one for each exposed block that each mover can come to.
    fn command(&mut self, movers: Movers, by: Link, path: Path) -> Outcome<Vec<Command>> {
        let numbering = self.evaluator.numbering;
        let model = numbering.model;
        let mut changes: Vec<(Column, u64)> = Vec::new();
        let (mut carried, mut relation) = (Vec::new(), self.evaluator.variables.full());
        let is_counter =
            |cell: CellId| matches!(model.vars[model.cells[cell].var].role, model::variable::Role::Counter(_));
        for (&cell, content) in path.scene.cells.iter().filter(|(cell, _)| !is_counter(**cell)) {
            let column = Column::Cell(cell);
            match content {
                Content::Value(value) => changes.push((column, numbering.wide_number_of(cell, *value))),
                // What no process sees needs no number.
                Content::Word(_) if !self.evaluator.variables.has(column) => {}
                Content::Word(word) => {
                    let next = self.evaluator.variables.next(column);
                    let told = self.evaluator.words().is_told_by(word, self.evaluator.least(cell), next)?;
                    relation = self.evaluator.algebra.and(&relation, &told)?;
                    carried.push(column);
                }
            }
        }
        let mut commands = vec![(path.states.clone(), Ok(changes))];
        for mover in movers.processes() {
            let place = path.scene.places[&mover];
            let point = numbering.point_at(mover, place, |counter| plain(path.scene.cells[&counter].clone()));
            let Some(point) = point else {
                let what = format!("leads {} to a control point that is not listed", model.processes[mover].name);
                commands = commands.into_iter().map(|(states, _)| (states, Err(what.clone()))).collect();
                continue;
            };
            let mut split = Vec::new();
            for (facts, states) in self.blocks(mover, point, &path)? {
                let block = numbering.block_of(mover, &facts);
                for (guard, changes) in &commands {
                    let guard = self.evaluator.algebra.and(guard, &states)?;
                    if guard.is_false() {
                        continue;
                    }
                    let changes = match (changes.clone(), block) {
                        (Err(what), _) => Err(what),
                        (Ok(_), None) => Err(format!(
                            "leads {} to a local state that is in no exposed block",
                            model.processes[mover].name
                        )),
                        (Ok(mut changes), Some(block)) => {
                            changes.extend([
                                (Column::Control(mover), u64::from(point)),
                                (Column::Exposed(mover), u64::from(block)),
                            ]);
                            Ok(changes)
                        }
                    };
                    split.push((guard, changes));
                }
            }
            commands = split;
        }
        let choices = self.evaluator.variables.choices();
        let command = |(guard, changes): (Bdd, Result<_, String>)| {
            let guard = self.evaluator.algebra.and(&guard, &relation)?;
            let guard = self.evaluator.algebra.exists(&guard, &choices)?;
            Ok(Command { by, guard, changes, carried: carried.clone() })
        };
        commands.into_iter().map(command).collect()
    }

    /// Which of a mover's exposed facts hold after the step, with the states before it in which that is so.
    fn blocks(&mut self, mover: ProcessId, point: u32, path: &Path) -> Outcome<Vec<(Vec<bool>, Bdd)>> {
        let mut blocks = vec![(Vec::new(), path.states.clone())];
        for fact in self.evaluator.numbering.facts(mover) {
            let holds = self.after(fact, point, path)?;
            let mut split = Vec::new();
            for (facts, states) in blocks {
                let with = |holds: bool| [facts.as_slice(), &[holds]].concat();
                match &holds {
                    Ok(holds) => split.push((with(*holds), states)),
                    Err(condition) => {
                        split.push((with(true), self.evaluator.algebra.and(&states, condition)?));
                        split.push((with(false), self.evaluator.algebra.and_not(&states, condition)?));
                    }
                }
            }
            blocks = split;
            blocks.retain(|(_, states)| !states.is_false());
        }
        Ok(blocks)
    }

    /// Whether a fact about a mover holds after the step; where that depends on the state before it, the states in which it does.
    fn after(&self, fact: &LocalFact, point: u32, path: &Path) -> Outcome<Result<bool, Bdd>> {
        let (variables, algebra) = (self.evaluator.variables, self.evaluator.algebra);
        Ok(match fact {
            LocalFact::Control(points) => Ok(points.contains(&(point as usize))),
            LocalFact::Cell(cell, value) => match (path.scene.cells.get(cell), value) {
                (Some(Content::Value(known)), _) => Ok(known == value),
                (Some(Content::Word(word)), Value::Int(number)) => {
                    let words = self.evaluator.words();
                    Err(words.equal(word, &words.constant(i128::from(*number)))?)
                }
                (Some(Content::Word(_)), _) => Ok(false),
                (None, _) => {
                    let number = self.evaluator.numbering.wide_number_of(*cell, *value);
                    Err(variables.equals(Column::Cell(*cell), number))
                }
            },
            LocalFact::OneOf(lists) => {
                let states = |holds: Result<bool, Bdd>| match holds {
                    Ok(true) => variables.full(),
                    Ok(false) => variables.empty(),
                    Err(states) => states,
                };
                let mut some = variables.empty();
                for list in lists {
                    let mut all = variables.full();
                    for fact in list {
                        all = algebra.and(&all, &states(self.after(fact, point, path)?))?;
                    }
                    some = algebra.or(&some, &all)?;
                }
                Err(some)
            }
        })
    }
}
