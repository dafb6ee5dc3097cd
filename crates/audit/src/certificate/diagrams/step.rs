//! Steps as guarded changes to constants: for each way through an action, the states in which it is taken and what it writes.
//!
//! In: the movers and their control points. Out: all [`Command`]s, the states in which a step fails, and those in which any
//! step is enabled. A statement is followed along every path, as `model::eval` does; where the path depends on a value, it is
//! split by that value, so that what is written is always constant.

use std::collections::BTreeMap;

use biodivine_lib_bdd::Bdd;
use evidence::certificate::{Column, LocalFact};
use model::control::{Action, ActionId, LoopId, Next, Pattern, Stmt, StmtKind, SyncSide};
use model::eval::Link;
use model::expr::{Access, Expr};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::{Fault, Value};
use model::variable::CellId;

use super::value::{Evaluator, Scene, Touched, as_number};
use crate::certificate::Outcome;
use crate::certificate::movers::Movers;

/// A step from given control points: where it is possible, and what it changes.
pub(super) struct Command {
    /// Who moves, and how.
    pub by: Link,
    /// The states in which it is possible; the movers' control is left out.
    pub guard: Bdd,
    /// What is changed: cells, and the control and exposed blocks of the movers; an error in words where a mover comes to a
    /// local state that the certificate does not list.
    pub changes: Result<Vec<(Column, u32)>, String>,
}

/// What movers can do from their control points.
pub(super) struct Commands {
    /// The steps with a successor.
    pub steps: Vec<Command>,
    /// The steps that fail.
    pub faults: Vec<(Link, Fault, Bdd)>,
    /// The states in which a step is enabled, failing or not.
    pub enabled: Bdd,
    /// The columns that are looked at or changed, with the states in which they are.
    pub footprint: BTreeMap<Column, Bdd>,
    /// The touches of the watched variable by enabled steps, each with the number of its step.
    pub touches: Vec<(usize, Touched)>,
}

/// A path through a step.
#[derive(Clone)]
struct Path {
    /// The states from which it is taken.
    states: Bdd,
    /// What is known on it: what was written, where the movers stand.
    scene: Scene,
    /// The fault that ended it.
    fault: Option<Fault>,
    touched: Vec<Touched>,
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
        for (number, (by, path)) in self.paths(movers, &start)?.into_iter().enumerate() {
            commands.enabled = self.evaluator.algebra.or(&commands.enabled, &path.states)?;
            for touched in &path.touched {
                let states = self.evaluator.algebra.and(&touched.states, &path.states)?;
                commands.touches.push((number, Touched { states, ..touched.clone() }));
            }
            match path.fault {
                Some(fault) => commands.faults.push((by, fault, path.states)),
                None => commands.steps.extend(self.command(movers, by, path)?),
            }
        }
        commands.footprint = std::mem::take(&mut self.evaluator.footprint);
        Ok(commands)
    }

    fn start(&self, movers: Movers, points: &[u32]) -> Path {
        let mut scene = Scene::default();
        for (process, &number) in movers.processes().into_iter().zip(points) {
            let point = &self.evaluator.numbering.points(process)[number as usize];
            scene.places.insert(process, point.place);
            scene.cells.extend(point.counters.iter().copied());
        }
        Path { states: self.evaluator.variables.full(), scene, fault: None, touched: Vec::new() }
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
        (receiver, patterns): (ProcessId, &'a [Pattern]),
        path: Path,
    ) -> Outcome<Vec<Path>> {
        let mut partial: Vec<(Vec<Value>, Path)> = vec![(vec![], path)];
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
            let mut met: Vec<(Vec<(CellId, Value)>, Path)> = vec![(vec![], path)];
            for (pattern, value) in patterns.iter().zip(sent) {
                let mut longer = Vec::new();
                for (stores, path) in met {
                    match pattern {
                        Pattern::Into(target) => {
                            for (cell, path) in self.locate(receiver, target, path, &mut failed)? {
                                longer.push(([stores.as_slice(), &[(cell, value)]].concat(), path));
                            }
                        }
                        Pattern::Equal(wanted) => {
                            let found = self.value(receiver, wanted, path, &mut failed)?.into_iter();
                            let equal = found.filter(|(wanted, _)| *wanted == value);
                            longer.extend(equal.map(|(_, path)| (stores.clone(), path)));
                        }
                        Pattern::Ignored => longer.push((stores, path)),
                    }
                }
                met = longer;
            }
            for (stores, mut path) in met {
                for (cell, value) in stores {
                    if path.fault.is_none() {
                        self.store(receiver, cell, value, &mut path)?;
                    }
                }
                failed.push(path);
            }
        }
        Ok(failed)
    }

    fn run_all(&mut self, me: ProcessId, body: &'a [Stmt], paths: Vec<Path>) -> Outcome<Vec<Path>> {
        body.iter().try_fold(paths, |paths, stmt| self.each(paths, |follower, path| follower.statement(me, stmt, path)))
    }

    /// Goes on with every path that has not failed.
    fn each(
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
            StmtKind::Acquire(access) => self.change(me, access, path, |ty, held| match (ty, held) {
                (ScalarType::Lock, Value::None) => Some(Ok(Value::Process(me))),
                (ScalarType::Semaphore { .. }, Value::Int(n)) if n > 0 => Some(Ok(Value::Int(n - 1))),
                _ => None,
            }),
            StmtKind::Release(access) => self.change(me, access, path, |ty, held| match (ty, held) {
                (ScalarType::Semaphore { max }, Value::Int(n)) if n < max => Some(Ok(Value::Int(n + 1))),
                (ScalarType::Semaphore { .. }, _) => Some(Err(Fault::SemaphoreFull { semaphore: String::new() })),
                (_, held) if held == Value::Process(me) => Some(Ok(Value::None)),
                _ => Some(Err(Fault::NotHeld { lock: String::new() })),
            }),
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
        let mut partial: Vec<(Vec<(CellId, Value)>, Path)> = vec![(Vec::new(), path)];
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
        for (stores, mut path) in partial {
            for (cell, value) in stores {
                if path.fault.is_none() {
                    self.store(me, cell, value, &mut path)?;
                }
            }
            failed.push(path);
        }
        Ok(failed)
    }

    fn assign_any(
        &mut self,
        me: ProcessId,
        access: &'a Access,
        range: Option<&'a (Expr, Expr)>,
        path: Path,
    ) -> Outcome<Vec<Path>> {
        let model = self.evaluator.model();
        let as_index = |value: Value| match value {
            Value::Process(id) => model.processes[id].index,
            other => as_number(other).unwrap_or_default(),
        };
        let mut found = Vec::new();
        for (cell, path) in self.locate(me, access, path, &mut found)? {
            let mut bounded: Vec<(Option<(i64, i64)>, Path)> = Vec::new();
            match range {
                None => bounded.push((None, path)),
                Some((lo, hi)) => {
                    for (lo, path) in self.value(me, lo, path, &mut found)? {
                        for (hi, path) in self.value(me, hi, path, &mut found)? {
                            bounded.push((Some((as_index(lo), as_index(hi))), path));
                        }
                    }
                }
            }
            let ty = model.cells[cell].ty;
            for (bounds, path) in bounded {
                for value in ty.values(model.type_context()) {
                    let wanted = |(lo, hi): (i64, i64)| value != Value::None && (lo..=hi).contains(&as_index(value));
                    if bounds.is_none_or(wanted) {
                        let mut path = path.clone();
                        self.put(me, cell, value, &mut path)?;
                        found.push(path);
                    }
                }
                let belongs = |number: i64| match ty {
                    ScalarType::Pid(family) | ScalarType::PidOrNone(family) => {
                        model.families[family].process_at(number).is_some()
                    }
                    _ => ty.contains(Value::Int(number), model.type_context()),
                };
                if let Some((lo, hi)) = bounds
                    && lo <= hi
                    && let Some(outside) = [lo, hi].into_iter().find(|&end| !belongs(end))
                {
                    found.push(Path { fault: Some(self.out_of_range(cell, outside.to_string())), ..path });
                }
            }
        }
        Ok(found)
    }

    /// Gives a cell a value that depends on its old one; `None` is no path.
    fn change(
        &mut self,
        me: ProcessId,
        access: &'a Access,
        path: Path,
        new_value: impl Fn(ScalarType, Value) -> Option<Result<Value, Fault>>,
    ) -> Outcome<Vec<Path>> {
        let mut found = Vec::new();
        for (cell, path) in self.locate(me, access, path, &mut found)? {
            let scene = Scene { me: Some(me), ..path.scene.clone() };
            let loaded = self.evaluator.load(cell, &scene, &path.states)?;
            let touched = std::mem::take(&mut self.evaluator.touched);
            for (held, states) in loaded {
                let mut path = Path { states, touched: [path.touched.as_slice(), &touched].concat(), ..path.clone() };
                match new_value(self.evaluator.model().cells[cell].ty, held) {
                    None => continue,
                    Some(Ok(value)) => self.put(me, cell, value, &mut path)?,
                    Some(Err(fault)) => path.fault = Some(fault),
                }
                found.push(path);
            }
        }
        Ok(found)
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
                            _ => values.after(path.scene.cells[&cell]),
                        };
                        match following {
                            Some(value) => {
                                path.scene.cells.insert(cell, value);
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
        path.scene.cells.insert(counter, first);
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
        let touched = [path.touched, std::mem::take(&mut self.evaluator.touched)].concat();
        let part = |states: Bdd, fault| Path { states, scene: path.scene.clone(), fault, touched: touched.clone() };
        let mut found = vec![(part(truth.yes, None), Some(true)), (part(truth.no, None), Some(false))];
        found.extend(truth.faults.into_iter().map(|(fault, states)| (part(states, Some(fault)), None)));
        found.retain(|(path, _)| !path.states.is_false());
        Ok(found)
    }

    fn value(
        &mut self,
        me: ProcessId,
        expr: &'a Expr,
        path: Path,
        failed: &mut Vec<Path>,
    ) -> Outcome<Vec<(Value, Path)>> {
        let scene = Scene { me: Some(me), ..path.scene.clone() };
        let cases = self.evaluator.value(expr, &scene, &path.states)?;
        Ok(self.split(cases, path, failed))
    }

    fn locate(
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
        let touched = [path.touched, std::mem::take(&mut self.evaluator.touched)].concat();
        let mut found = Vec::new();
        for (case, states) in cases {
            let part = Path { states, scene: path.scene.clone(), fault: None, touched: touched.clone() };
            match case {
                Ok(what) => found.push((what, part)),
                Err(fault) => failed.push(Path { fault: Some(fault), ..part }),
            }
        }
        found
    }

    /// Stores a value if the cell's type has it.
    fn store(&mut self, me: ProcessId, cell: CellId, value: Value, path: &mut Path) -> Outcome<()> {
        let model = self.evaluator.model();
        if model.cells[cell].ty.contains(value, model.type_context()) {
            return self.put(me, cell, value, path);
        }
        path.fault = Some(self.out_of_range(cell, model::print::value(model, value)));
        Ok(())
    }

    fn put(&mut self, me: ProcessId, cell: CellId, value: Value, path: &mut Path) -> Outcome<()> {
        let scene = Scene { me: Some(me), ..Scene::default() };
        self.evaluator.touch(cell, true, &scene, &path.states)?;
        path.touched.append(&mut self.evaluator.touched);
        path.scene.cells.insert(cell, value);
        Ok(())
    }

    fn out_of_range(&self, cell: CellId, value: String) -> Fault {
        Fault::OutOfRange { target: self.evaluator.model().cells[cell].name.clone(), value }
    }

    /// The commands of a complete path: one for each exposed block that each mover can come to.
    fn command(&mut self, movers: Movers, by: Link, path: Path) -> Outcome<Vec<Command>> {
        let numbering = self.evaluator.numbering;
        let model = numbering.model;
        let mut changes: Vec<(Column, u32)> = Vec::new();
        let is_counter =
            |cell: CellId| matches!(model.vars[model.cells[cell].var].role, model::variable::Role::Counter(_));
        for (&cell, &value) in path.scene.cells.iter().filter(|(cell, _)| !is_counter(**cell)) {
            changes.push((Column::Cell(cell), numbering.number_of(cell, value)));
        }
        let mut commands = vec![(path.states.clone(), Ok(changes))];
        for mover in movers.processes() {
            let place = path.scene.places[&mover];
            let point = numbering.point_at(mover, place, |counter| path.scene.cells[&counter]);
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
                            changes.extend([(Column::Control(mover), point), (Column::Exposed(mover), block)]);
                            Ok(changes)
                        }
                    };
                    split.push((guard, changes));
                }
            }
            commands = split;
        }
        let command = |(guard, changes)| Command { by, guard, changes };
        Ok(commands.into_iter().map(command).collect())
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
            LocalFact::Cell(cell, value) => match path.scene.cells.get(cell) {
                Some(known) => Ok(known == value),
                None => Err(variables.equals(Column::Cell(*cell), self.evaluator.numbering.number_of(*cell, *value))),
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
