//! Steps as commands with constant updates: where it can be taken, and which parts get which values.
//!
//! In: the actions of a Model at their control points. Out: for each process a list of [`GuardedCommand`]s, those with equal updates
//! merged, and the states in which it has a faulty step. `x = x + 1` is one command for each value of `x`: an image is then
//! two operations on diagrams without a second copy of the variables, which was 1.2–5.5 times as fast as relational products
//! on these programs. A wide `x` has too many values for that: its command is one, whose guard says how the bits after the step
//! follow from those before. A rendezvous is a command of two processes, kept with its sender.

mod store;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::Model;
use model::control::{ActionId, ReceivePattern, StatementId, Stmt, StmtKind, SyncSide};
use model::eval::Link;
use model::expr::Expr;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

use crate::bdd::{Bdd, Cube, OutOfNodes};
use crate::change::{After, DiagramUpdate, Updates};
use crate::encoding::{Encoding, FieldContent};
use crate::evaluate::{Evaluator, KnownContent, NoDiagram, SymbolicTerm};
use crate::number::BitNumber;
use crate::points::SymbolicPoints;
use crate::under_way::{AT_REST, turn_of};

/// More paths than this through one action are refused: its updates are no small set of constants.
const MAX_PATHS: usize = 1 << 14;

/// Tests of steps: whether a process takes a step that carries one of the labels. Steps that differ in what they satisfy
/// are never merged.
#[derive(Clone, Debug, Default)]
pub struct StepTests(pub Vec<(ProcessId, Vec<String>)>);

impl StepTests {
    /// The tests that a step satisfies, by number.
    pub fn satisfied_by(&self, model: &Model, by: &Link) -> Vec<usize> {
        let carries = |action: ActionId, labels: &[String]| {
            model.actions[action].labels.iter().any(|label| labels.contains(label))
        };
        let satisfied = |(process, labels): &(ProcessId, Vec<String>)| match by.partner {
            _ if by.process == *process => carries(by.action, labels),
            Some((partner, action)) if partner == *process => carries(action, labels),
            _ => false,
        };
        (0..self.0.len()).filter(|&test| satisfied(&self.0[test])).collect()
    }
}

/// A step with constant updates.
#[derive(Clone)]
pub struct GuardedCommand {
    /// The process that steps; of a rendezvous, the sender.
    pub process: ProcessId,
    /// The receiver of a rendezvous.
    pub partner: Option<ProcessId>,
    /// The tests of steps that it satisfies, by number.
    pub satisfied: Vec<usize>,
    /// One of the actions or rendezvous that it represents, all of which satisfy the same tests; `None` where it ends a step that is under way.
    pub by: Option<Link>,
    /// The states in which the step can be taken; where it carries new values of wide cells, with these.
    pub guard: Bdd,
    /// What the parts are afterwards, in the order of the parts.
    pub updates: Updates,
    /// The updates as operations on diagrams.
    pub change: DiagramUpdate,
}

/// What one process can do.
pub struct ProcessCommands {
    /// Its commands.
    pub commands: Vec<GuardedCommand>,
    /// The states in which it has a faulty step.
    pub fault: Bdd,
    /// The same of actions with the mark `when_nobody`, whoever else can move.
    pub marked_fault: Bdd,
    /// The states in which it has a step, faulty ones included; of a rendezvous, as the sender.
    pub enabled: Bdd,
    /// Every cell that its steps read or write, its partners' in a rendezvous included.
    pub touched: BTreeSet<CellId>,
    /// What its steps can touch: action by action, and of a rendezvous, as the sender, receiver by receiver.
    pub sites: Vec<StepSite>,
    /// For each kind of step the states in which there is one, faulty ones included.
    pub offers: BTreeMap<Link, Bdd>,
}

/// A step from certain control locations: an action, or a rendezvous of two.
pub struct StepSite {
    /// The states in which it is enabled.
    pub enabled: Bdd,
    /// What each process that has a part in it can touch.
    pub sides: Vec<(ProcessId, Touches)>,
    /// Whether there may be several such steps in one state.
    pub has_choices: bool,
}

/// What one process can touch in a step.
#[derive(Default)]
pub struct Touches {
    /// The cells that it can read.
    pub reads: BTreeSet<CellId>,
    /// The cells that it can write.
    pub writes: BTreeSet<CellId>,
}

/// Why a program could not be turned into commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandStop {
    /// The nodes are used up.
    OutOfNodes,
    /// The statement has too many different outcomes.
    TooManyCases(StatementId),
    /// A quantifier or a loop within a step has too many rounds.
    TooManyRounds,
}

impl From<NoDiagram> for CommandStop {
    fn from(why: NoDiagram) -> Self {
        match why {
            NoDiagram::OutOfNodes => CommandStop::OutOfNodes,
            NoDiagram::TooManyRounds => CommandStop::TooManyRounds,
        }
    }
}

impl From<OutOfNodes> for CommandStop {
    fn from(_: OutOfNodes) -> Self {
        CommandStop::OutOfNodes
    }
}

/// The commands of every process; steps that satisfy different tests are kept apart.
pub fn commands(
    model: &Model,
    points: &SymbolicPoints,
    encoding: &Encoding,
    tests: &StepTests,
) -> Result<Vec<ProcessCommands>, CommandStop> {
    let of = |process| {
        CommandTranslation { tests, ..CommandTranslation::new(model, points, encoding, process)? }.translate()
    };
    model.processes.ids().map(of).collect()
}

/// Nothing is tested.
static NO_TESTS: StepTests = StepTests(Vec::new());

/// What steps must have in common to be one command.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Merged {
    partner: Option<ProcessId>,
    /// The tests that they satisfy.
    satisfied: Vec<usize>,
    /// Whether they have the mark `when_nobody`.
    is_marked: bool,
    updates: Updates,
}

/// A state in the middle of a step, on the states `when` before it.
#[derive(Clone)]
struct CommandPath {
    /// Where wide cells were given any value, with the bits of what was chosen.
    when: Bdd,
    written: BTreeMap<CellId, KnownContent>,
    /// The wide cells for which a value was chosen.
    chosen: BTreeSet<CellId>,
}

impl CommandPath {
    fn new(when: Bdd) -> Self {
        CommandPath { when, written: BTreeMap::new(), chosen: BTreeSet::new() }
    }
}

/// An action at a control point.
#[derive(Clone, Copy)]
struct ActionSite {
    process: ProcessId,
    point: usize,
    action: ActionId,
    /// Where it leads; nowhere if the bounds of a loop are a fault.
    target: Option<usize>,
}

struct CommandTranslation<'a> {
    model: &'a Model,
    points: &'a SymbolicPoints,
    encoding: &'a Encoding,
    process: ProcessId,
    tests: &'a StepTests,
    /// One of the steps and the states in which it can be taken, so far.
    found: BTreeMap<Merged, (Link, Bdd)>,
    /// The step being translated.
    by: Link,
    offers: BTreeMap<Link, Bdd>,
    fault: Bdd,
    marked_fault: Bdd,
    enabled: Bdd,
    /// What the action being translated reads and writes.
    reads: Rc<RefCell<BTreeSet<CellId>>>,
    writes: BTreeSet<CellId>,
    sites: Vec<StepSite>,
    /// The statement being translated.
    statement: StatementId,
    /// The bits of all choices for wide cells.
    choices: Option<Cube>,
}

impl<'a> CommandTranslation<'a> {
    fn new(
        model: &'a Model,
        points: &'a SymbolicPoints,
        encoding: &'a Encoding,
        process: ProcessId,
    ) -> Result<Self, OutOfNodes> {
        let empty = encoding.space.empty();
        let statement = StatementId::new(0);
        Ok(CommandTranslation {
            choices: encoding.choices()?,
            model,
            points,
            encoding,
            process,
            tests: &NO_TESTS,
            found: BTreeMap::new(),
            by: Link { process, action: ActionId::new(0), partner: None },
            offers: BTreeMap::new(),
            fault: empty.clone(),
            marked_fault: empty.clone(),
            enabled: empty,
            reads: Rc::default(),
            writes: BTreeSet::new(),
            sites: Vec::new(),
            statement,
        })
    }

    fn translate(mut self) -> Result<ProcessCommands, CommandStop> {
        for point in 0..self.points.of(self.process).len() {
            for &(action, target) in &self.points.of(self.process).point(point).exits {
                let before = std::mem::replace(&mut self.enabled, self.encoding.space.empty());
                self.action(ActionSite { process: self.process, point, action, target })?;
                self.enabled = self.encoding.space.or(&self.enabled, &before)?;
            }
        }
        let encoding = self.encoding;
        let commands = self.found.into_iter().map(|(Merged { partner, satisfied, updates, .. }, (by, guard))| {
            let change = DiagramUpdate::new(encoding, &updates)?;
            Ok(GuardedCommand { process: self.process, partner, satisfied, by: Some(by), guard, updates, change })
        });
        let commands = commands.collect::<Result<Vec<_>, CommandStop>>()?;
        let sides = self.sites.iter().flat_map(|site| &site.sides);
        let touched = sides.flat_map(|(_, side)| side.reads.iter().chain(&side.writes)).copied().collect();
        Ok(ProcessCommands {
            commands,
            fault: self.fault,
            marked_fault: self.marked_fault,
            enabled: self.enabled,
            touched,
            sites: self.sites,
            offers: self.offers,
        })
    }

    fn action(&mut self, site: ActionSite) -> Result<(), CommandStop> {
        let action = &self.model.actions[site.action];
        self.statement = action.statement;
        self.by = Link { process: site.process, action: site.action, partner: None };
        let mut own = Touches::default();
        let opened = self.on_side(&mut own, |this| this.open(site))?;
        let sync = action.sync.as_ref().map(|sync| &sync.side);
        if sync.is_none() {
            self.on_side(&mut own, |this| {
                let paths = this.run(&action.body, vec![opened.clone()], &mut this.evaluator(site))?;
                this.finish(paths, None, &[site])
            })?;
        }
        let guard = own.reads.clone();
        let (enabled, has_choices) = (self.enabled.clone(), chooses(&action.body));
        self.sites.push(StepSite { enabled, sides: vec![(site.process, own)], has_choices });
        match sync {
            None | Some(SyncSide::Receive(_)) => Ok(()),
            Some(SyncSide::Send(values)) => self.rendezvous((site, guard), opened, values),
        }
    }

    /// Does something on the part of one process of a step, whose cells these are.
    fn on_side<T>(
        &mut self,
        side: &mut Touches,
        what: impl FnOnce(&mut Self) -> Result<T, CommandStop>,
    ) -> Result<T, CommandStop> {
        std::mem::swap(&mut *self.reads.borrow_mut(), &mut side.reads);
        std::mem::swap(&mut self.writes, &mut side.writes);
        let done = what(self);
        std::mem::swap(&mut *self.reads.borrow_mut(), &mut side.reads);
        std::mem::swap(&mut self.writes, &mut side.writes);
        done
    }

    /// The guard at a control point, in the state before the step. A fault in it is a step.
    fn open(&mut self, site: ActionSite) -> Result<CommandPath, CommandStop> {
        let space = &self.encoding.space;
        let here = self.encoding.equals(FieldContent::Control(site.process), site.point as u64)?;
        let guard = &self.model.actions[site.action].guard;
        let Some(guard) = guard else { return Ok(CommandPath::new(here)) };
        let guard = self.evaluator(site).truth(guard)?;
        let when = space.and(&here, &guard.yes)?;
        let fault = space.and(&here, &guard.fault)?;
        self.err(&fault)?;
        Ok(CommandPath::new(when))
    }

    /// The steps with each receiver; the sender's guard reads these cells.
    fn rendezvous(
        &mut self,
        (sender, guard): (ActionSite, BTreeSet<CellId>),
        opened: CommandPath,
        values: &[Expr],
    ) -> Result<(), CommandStop> {
        let acted = &self.model.actions[sender.action];
        for receiver in self.receivers(sender.action) {
            let before = std::mem::replace(&mut self.enabled, self.encoding.space.empty());
            self.by.partner = Some((receiver.process, receiver.action));
            let received = &self.model.actions[receiver.action];
            let Some(SyncSide::Receive(patterns)) = received.sync.as_ref().map(|sync| &sync.side) else {
                unreachable!("receivers receive")
            };
            let (mut sending, mut receiving) =
                (Touches { reads: guard.clone(), ..Touches::default() }, Touches::default());
            let sent = self.on_side(&mut sending, |this| {
                let values = values.iter().map(|value| this.evaluator(sender).term(value));
                Ok(values.collect::<Result<Vec<_>, _>>()?)
            })?;
            let paths = self.on_side(&mut receiving, |this| {
                let space = &this.encoding.space;
                let here = this.encoding.equals(FieldContent::Control(receiver.process), receiver.point as u64)?;
                let guard = received.guard.as_ref().map(|guard| this.evaluator(receiver).truth(guard)).transpose()?;
                let ready = guard.map_or(Ok(here.clone()), |guard| space.and(&here, &guard.yes))?;
                let opened_both = CommandPath::new(space.and(&opened.when, &ready)?);
                let paths = this.passed(sent, (receiver, patterns), opened_both)?;
                this.run(&received.body, paths, &mut this.evaluator(receiver))
            })?;
            // The sender's body sees what the receiver did, but not that its control location has changed: labels are for properties.
            let paths = self.on_side(&mut sending, |this| this.run(&acted.body, paths, &mut this.evaluator(sender)))?;
            self.finish(paths, Some(receiver.process), &[sender, receiver])?;
            let sides = vec![(sender.process, sending), (receiver.process, receiving)];
            let has_choices = chooses(&acted.body) || chooses(&received.body);
            self.sites.push(StepSite { enabled: self.enabled.clone(), sides, has_choices });
            self.enabled = self.encoding.space.or(&self.enabled, &before)?;
        }
        Ok(())
    }

    /// The paths on which the receiver has taken the values. All are evaluated first, in the old state, then what receives them, up to the
    /// first that differs; what is received is stored in the end.
    fn passed(
        &mut self,
        sent: Vec<SymbolicTerm>,
        (receiver, patterns): (ActionSite, &[ReceivePattern]),
        mut path: CommandPath,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        for value in &sent {
            path = self.without(path, value.fault())?;
        }
        let mut stores = Vec::new();
        for (value, pattern) in sent.into_iter().zip(patterns) {
            match pattern {
                ReceivePattern::Into(access) => {
                    let cells = self.evaluator(receiver).locate(access)?;
                    path = self.without(path, &cells.fault)?;
                    stores.push((cells, value));
                }
                ReceivePattern::Equal(wanted) => {
                    let mut evaluator = self.evaluator(receiver);
                    let wanted = evaluator.term(wanted)?;
                    let same = evaluator.same(wanted, value)?;
                    path = self.without(path, &same.fault)?;
                    path = self.narrow(&path, &same.yes)?;
                }
                ReceivePattern::Ignored => {}
            }
        }
        stores.into_iter().try_fold(vec![path], |paths, (cells, value)| self.store_all(paths, &cells, &value))
    }

    /// The path where there is no fault; where there is one the step is faulty.
    fn without(&mut self, path: CommandPath, fault: &Bdd) -> Result<CommandPath, CommandStop> {
        self.err_on(&path, fault)?;
        Ok(CommandPath { when: self.encoding.space.minus(&path.when, fault)?, ..path })
    }

    fn receivers(&self, sender: ActionId) -> Vec<ActionSite> {
        let channel = self.model.actions[sender].sync.as_ref().map(|sync| sync.channel);
        let mut sites = Vec::new();
        for process in self.model.processes.ids().filter(|&process| process != self.process) {
            for point in 0..self.points.of(process).len() {
                for &(action, target) in &self.points.of(process).point(point).exits {
                    let sync = self.model.actions[action].sync.as_ref();
                    if sync
                        .is_some_and(|sync| Some(sync.channel) == channel && matches!(sync.side, SyncSide::Receive(_)))
                    {
                        sites.push(ActionSite { process, point, action, target });
                    }
                }
            }
        }
        sites
    }

    fn evaluator(&self, site: ActionSite) -> Evaluator<'a> {
        let mut evaluator = Evaluator::new(self.model, self.points, self.encoding, Some(site.process));
        evaluator.touched = Rc::clone(&self.reads);
        let counters = &self.points.of(site.process).point(site.point).counters;
        evaluator.known = counters.iter().map(|&(cell, value)| (cell, KnownContent::Value(value))).collect();
        evaluator
    }

    fn run(
        &mut self,
        body: &[Stmt],
        paths: Vec<CommandPath>,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        let mut paths = paths;
        for stmt in body {
            let mut next = Vec::new();
            for path in paths.into_iter().filter(|path| !path.when.is_empty()) {
                next.extend(
                    self.with_path(&path, evaluator, |this, evaluator| this.statement(stmt, path.clone(), evaluator))?,
                );
                if next.len() > 2 * MAX_PATHS {
                    next = self.few(next)?;
                }
            }
            paths = self.few(next)?;
        }
        Ok(paths)
    }

    /// The paths joined, where these are not too many.
    fn few(&self, paths: Vec<CommandPath>) -> Result<Vec<CommandPath>, CommandStop> {
        let paths = self.joined(paths)?;
        if paths.len() > MAX_PATHS {
            return Err(CommandStop::TooManyCases(self.statement));
        }
        Ok(paths)
    }

    /// One path for all that have written the same: what follows does not depend on how that came about.
    fn joined(&self, paths: Vec<CommandPath>) -> Result<Vec<CommandPath>, CommandStop> {
        /// What each cell was given: a value, or a number of many values by its place in memory.
        type Written = Vec<(CellId, Result<Value, *const BitNumber>)>;
        if paths.len() < 2 {
            return Ok(paths);
        }
        let mut places: BTreeMap<(Written, BTreeSet<CellId>), usize> = BTreeMap::new();
        let mut joined: Vec<CommandPath> = Vec::new();
        for path in paths {
            let written = |(&cell, known): (&CellId, &KnownContent)| match known {
                KnownContent::Value(value) => (cell, Ok(*value)),
                KnownContent::Number(number) => (cell, Err(Rc::as_ptr(number))),
            };
            let fresh = joined.len();
            let key = (path.written.iter().map(written).collect(), path.chosen.clone());
            match *places.entry(key).or_insert(fresh) {
                at if at == fresh => joined.push(path),
                at => joined[at].when = self.encoding.space.or(&joined[at].when, &path.when)?,
            }
        }
        Ok(joined)
    }

    /// Evaluates with what the path has written.
    fn with_path<T>(
        &mut self,
        path: &CommandPath,
        evaluator: &mut Evaluator<'_>,
        work: impl FnOnce(&mut Self, &mut Evaluator<'_>) -> Result<T, CommandStop>,
    ) -> Result<T, CommandStop> {
        let known = evaluator.known.clone();
        evaluator.known.extend(path.written.iter().map(|(&cell, known)| (cell, known.clone())));
        let result = work(self, evaluator);
        evaluator.known = known;
        result
    }

    fn statement(
        &mut self,
        stmt: &Stmt,
        path: CommandPath,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let mut evaluated = Vec::new();
                for (access, value) in pairs {
                    evaluated.push((evaluator.locate(access)?, evaluator.term(value)?));
                }
                evaluated
                    .into_iter()
                    .try_fold(vec![path], |paths, (cells, values)| self.store_all(paths, &cells, &values))
            }
            StmtKind::AssignAny(access, range) => self.assign_any(access, range.as_ref(), path, evaluator),
            StmtKind::Await(test) => {
                let truth = evaluator.truth(test)?;
                self.err_on(&path, &truth.fault)?;
                Ok(vec![self.narrow(&path, &truth.yes)?])
            }
            StmtKind::Assert(test) => {
                let truth = evaluator.truth(test)?;
                let failed = self.encoding.space.minus(&path.when, &truth.yes)?;
                self.err(&failed)?;
                Ok(vec![self.narrow(&path, &truth.yes)?])
            }
            StmtKind::Acquire(access) => self.pass(access, path, evaluator, true),
            StmtKind::Release(access) => self.pass(access, path, evaluator, false),
            StmtKind::If(test, yes, no) => {
                let truth = evaluator.truth(test)?;
                self.err_on(&path, &truth.fault)?;
                let cases = evaluator.as_cases(truth)?;
                let mut paths = Vec::new();
                for (value, when) in &cases.values {
                    let block = if *value == Value::Bool(true) { yes } else { no };
                    let path = self.narrow(&path, when)?;
                    paths.extend(self.rerun(block, path, evaluator)?);
                }
                Ok(paths)
            }
            StmtKind::Either(blocks) => {
                let mut paths = Vec::new();
                for block in blocks {
                    paths.extend(self.rerun(block, path.clone(), evaluator)?);
                }
                Ok(paths)
            }
            StmtKind::For(binding, block) => {
                let depth = binding.var.0 as usize;
                let Some(values) = evaluator.domain(&binding.domain)? else {
                    self.err(&path.when)?;
                    return Ok(Vec::new());
                };
                let mut paths = vec![path];
                for value in values {
                    evaluator.bound.truncate(depth);
                    evaluator.bound.push(value);
                    let mut next = Vec::new();
                    for path in paths {
                        next.extend(self.rerun(block, path, evaluator)?);
                    }
                    paths = self.joined(next)?;
                }
                evaluator.bound.truncate(depth);
                Ok(paths)
            }
        }
    }

    /// A block within a statement: the evaluator already knows what an outer path has written, and that is overwritten.
    fn rerun(
        &mut self,
        block: &[Stmt],
        path: CommandPath,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Vec<CommandPath>, CommandStop> {
        self.run(block, vec![path], evaluator)
    }

    fn narrow(&self, path: &CommandPath, when: &Bdd) -> Result<CommandPath, CommandStop> {
        Ok(CommandPath { when: self.encoding.space.and(&path.when, when)?, ..path.clone() })
    }

    fn err_on(&mut self, path: &CommandPath, fault: &Bdd) -> Result<(), CommandStop> {
        let fault = self.encoding.space.and(&path.when, fault)?;
        self.err(&fault)
    }

    fn err(&mut self, fault: &Bdd) -> Result<(), CommandStop> {
        if fault.is_empty() {
            return Ok(());
        }
        let fault = self.whatever_is_chosen(fault)?;
        let faults = if self.by.is_when_nobody(self.model) { &mut self.marked_fault } else { &mut self.fault };
        *faults = self.encoding.space.or(faults, &fault)?;
        self.offer(&fault)
    }

    /// There is a step in these states.
    fn offer(&mut self, states: &Bdd) -> Result<(), CommandStop> {
        let space = &self.encoding.space;
        self.enabled = space.or(&self.enabled, states)?;
        let offered = self.offers.entry(self.by).or_insert_with(|| space.empty());
        *offered = space.or(offered, states)?;
        Ok(())
    }

    /// The states in which some choice for wide cells leads there.
    fn whatever_is_chosen(&self, states: &Bdd) -> Result<Bdd, OutOfNodes> {
        match &self.choices {
            None => Ok(states.clone()),
            Some(choices) => self.encoding.space.exists(states, choices),
        }
    }

    fn finish(
        &mut self,
        paths: Vec<CommandPath>,
        partner: Option<ProcessId>,
        sites: &[ActionSite],
    ) -> Result<(), CommandStop> {
        let target = |site: &ActionSite| Some((FieldContent::Control(site.process), After::Is(site.target? as u64)));
        let control: Option<Updates> = sites.iter().map(target).collect();
        let Some(mut control) = control else {
            return paths.iter().try_for_each(|path| self.err(&path.when));
        };
        let space = &self.encoding.space;
        if self.encoding.has_turns() {
            let turn = self.by.leaves_turn_to(self.model).map_or(AT_REST, turn_of);
            control.push((FieldContent::Turn, After::Is(turn)));
        }
        let (satisfied, is_marked) =
            (self.tests.satisfied_by(self.model, &self.by), self.by.is_when_nobody(self.model));
        for path in paths.into_iter().filter(|path| !path.when.is_empty()) {
            let mut updates = control.clone();
            let mut when = path.when.clone();
            for (&cell, known) in &path.written {
                updates.push(match known {
                    KnownContent::Value(value) => {
                        let position =
                            self.encoding.position(cell, *value).expect("only values of the type are stored");
                        (FieldContent::Cell(cell), After::Is(position))
                    }
                    KnownContent::Number(number) => {
                        when = space.and(&when, &self.encoding.next_is(cell, number)?)?;
                        (FieldContent::Cell(cell), After::Carried)
                    }
                });
            }
            updates.sort_unstable();
            let when = self.whatever_is_chosen(&when)?;
            let states = self.whatever_is_chosen(&path.when)?;
            self.offer(&states)?;
            let merged = Merged { partner, satisfied: satisfied.clone(), is_marked, updates };
            let (_, guard) = self.found.entry(merged).or_insert_with(|| (self.by, space.empty()));
            *guard = space.or(guard, &when)?;
        }
        Ok(())
    }
}

/// Whether statements may be executed in several ways.
fn chooses(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::AssignAny(..) | StmtKind::Either(_) => true,
        StmtKind::If(_, yes, no) => chooses(yes) || chooses(no),
        StmtKind::For(_, inner) => chooses(inner),
        StmtKind::Assign(_)
        | StmtKind::Await(_)
        | StmtKind::Assert(_)
        | StmtKind::Acquire(_)
        | StmtKind::Release(_) => false,
    })
}
