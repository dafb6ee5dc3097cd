//! A program as diagrams: initial states, commands, images; and back from bit vectors to states.
//!
//! In: a Model without procedures. Out: a [`SymbolicSystem`] on which the whole-product searches and the local sets work.

use std::collections::BTreeSet;

use base::{Feature, StopReason, Unsupported};
use model::Model;
use model::control::PlaceId;
use model::eval::{self, Control, Frame, State};
use model::expr::Expr;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role, VarId};

use crate::bdd::{Bdd, OutOfNodes};
use crate::commands::{CommandStop, GuardedCommand, ProcessCommands, StepSite, StepTests, Touches, commands};
use crate::encoding::{Encoding, FieldContent, FieldSizes};
use crate::evaluate::{Evaluator, NoDiagram, Truth};
use crate::points::SymbolicPoints;
use crate::under_way::{self, AT_REST};
use crate::wide::{MOST_ENUMERATED, Wide};

/// A node takes about this many bytes, its share of tables and caches included.
const BYTES_PER_NODE: u64 = 40;

/// A program as diagrams.
pub struct SymbolicSystem<'m> {
    /// The program.
    pub model: &'m Model,
    /// The control points of its processes.
    pub points: SymbolicPoints,
    /// The fields of its states.
    pub encoding: Encoding,
    /// All bit vectors that are states: no field has a number beyond its values.
    pub valid: Bdd,
    /// The vectors in which no step is under way: the others are no states of the program.
    pub at_rest: Bdd,
    /// The initial states.
    pub initial: Bdd,
    /// What each process can do.
    pub processes: Vec<ProcessCommands>,
    /// How many nodes there is room for.
    n_nodes: usize,
}

/// How a program becomes diagrams.
pub struct SystemPlan<'p> {
    /// For each process how many blocks it may expose.
    pub n_blocks: &'p [usize],
    /// How many nodes there is room for.
    pub n_nodes: usize,
    /// By which tests steps are distinguished.
    pub tests: &'p StepTests,
    /// Cells with more values than this are numbers of bits.
    pub most_enumerated: u128,
    /// Whether steps are those of the whole program: over several actions, and by actions with the mark `when_nobody` where nobody else can move.
    /// Otherwise the mark counts as true, and steps over several actions are refused.
    pub is_whole: bool,
}

impl<'m> SymbolicSystem<'m> {
    /// How many nodes fit into this much memory.
    pub fn nodes_within(bytes: u64) -> usize {
        (bytes / BYTES_PER_NODE).clamp(1 << 14, 1 << 30) as usize
    }

    /// Encodes a program, with room for `n_blocks` exposed blocks for each process and for `n_nodes` nodes.
    pub fn new(model: &'m Model, n_blocks: &[usize], n_nodes: usize) -> Result<Self, StopReason> {
        let tests = StepTests::default();
        SymbolicSystem::planned(
            model,
            &SystemPlan { n_blocks, n_nodes, tests: &tests, most_enumerated: MOST_ENUMERATED, is_whole: false },
        )
    }

    /// Encodes a program as planned. Where a statement has too many outcomes to list, all numbers are bits.
    pub fn planned(model: &'m Model, plan: &SystemPlan<'_>) -> Result<Self, StopReason> {
        if !model.procedures.is_empty() {
            return Err(Feature::Procedures.into());
        }
        if model.goes_on() && !plan.is_whole {
            return Err(Feature::Chains.into());
        }
        let points = SymbolicPoints::new(model)?;
        let encoded = match SymbolicSystem::encoded(model, points.clone(), plan) {
            Err(CommandStop::TooManyCases(_)) if plan.most_enumerated > 1 => {
                SymbolicSystem::encoded(model, points, &SystemPlan { most_enumerated: 1, ..*plan })
            }
            encoded => encoded,
        };
        encoded.map_err(|stop| reason(model, stop, plan.n_nodes))
    }

    fn encoded(model: &'m Model, points: SymbolicPoints, plan: &SystemPlan<'_>) -> Result<Self, CommandStop> {
        let SystemPlan { n_blocks, n_nodes, tests, most_enumerated, is_whole } = *plan;
        let n_points: Vec<usize> = model.processes.ids().map(|process| points.of(process).len()).collect();
        let sizes = FieldSizes { n_points: &n_points, n_blocks, has_turns: model.goes_on() };
        let encoding = Encoding::new(model, Wide::of(model, most_enumerated), sizes, n_nodes);
        let mut processes = commands(model, &points, &encoding, tests)?;
        match is_whole {
            true => under_way::restrict(model, &encoding, &mut processes)?,
            false => under_way::take_marks_as_true(&encoding, &mut processes)?,
        }
        let at_rest = encoding.equals(FieldContent::Turn, AT_REST)?;
        let (valid, initial) = (encoding.valid()?, initial(model, &points, &encoding)?);
        Ok(SymbolicSystem { valid, at_rest, model, points, encoding, initial, processes, n_nodes })
    }

    /// The states after one command.
    pub fn after(&self, command: &GuardedCommand, from: &Bdd) -> Result<Bdd, OutOfNodes> {
        command.change.image(&self.encoding.space, from, &command.guard)
    }

    /// The states from which one command leads into the set.
    pub fn before(&self, command: &GuardedCommand, into: &Bdd) -> Result<Bdd, OutOfNodes> {
        let space = &self.encoding.space;
        let before = command.change.preimage(space, &command.guard, into)?;
        // A part that is written without being read could have been anything, but no number beyond its values.
        space.and(&before, &self.valid)
    }

    /// A successor of a state in the first of some sets that has one.
    pub fn successor_within(&self, state: &State, sets: &[Bdd]) -> Result<Option<State>, OutOfNodes> {
        let space = &self.encoding.space;
        let here = self.encode(state)?;
        let ahead = self.commands().map(|command| self.after(command, &here)).collect::<Result<Vec<Bdd>, _>>()?;
        let ahead = space.any(&ahead)?;
        for set in sets {
            let both = space.and(&ahead, set)?;
            if !both.is_empty() {
                return Ok(self.pick(&both));
            }
        }
        Ok(None)
    }

    /// The commands of all processes.
    pub fn commands(&self) -> impl Iterator<Item = &GuardedCommand> {
        self.processes.iter().flat_map(|process| &process.commands)
    }

    /// Where a property's expression is true, and where it is a fault.
    pub fn truth(&self, expr: &Expr) -> Result<Truth, StopReason> {
        self.truth_of(expr, &[])
    }

    /// The same with values for the variables bound around it.
    pub fn truth_of(&self, expr: &Expr, bound: &[Value]) -> Result<Truth, StopReason> {
        let mut evaluator = Evaluator::new(self.model, &self.points, &self.encoding, None);
        evaluator.bound = bound.to_vec();
        evaluator.truth(expr).map_err(|why| match why {
            NoDiagram::OutOfNodes => self.out_of_nodes(),
            NoDiagram::TooManyRounds => Feature::ManyRounds.into(),
        })
    }

    /// The states in which no process is enabled and some process is stuck.
    pub fn deadlocks(&self) -> Result<Bdd, OutOfNodes> {
        let space = &self.encoding.space;
        let mut stuck = space.empty();
        for (process, declared) in self.model.processes.entries() {
            let may_end = self.model.places.entries().filter(|(_, place)| place.may_end).map(|(id, _)| id);
            let ends: Vec<PlaceId> = may_end.chain([self.model.families[declared.family].end]).collect();
            let end = self.points.of(process).at_places(&ends);
            let ended = self.encoding.one_of(FieldContent::Control(process), end)?;
            stuck = space.or(&stuck, &space.not(&ended)?)?;
        }
        let stuck = space.and(&stuck, &self.at_rest)?;
        self.processes.iter().try_fold(stuck, |stuck, process| space.minus(&stuck, &process.enabled))
    }

    /// The states in which two processes may be about to touch one cell of the variable, one of them writing. What an action
    /// can touch is taken action by action, so there can be more such states than races.
    pub fn race(&self, var: VarId, a: ProcessId, b: ProcessId) -> Result<Bdd, OutOfNodes> {
        let space = &self.encoding.space;
        let of_var = |cells: &BTreeSet<CellId>| -> BTreeSet<CellId> {
            cells.iter().copied().filter(|&cell| self.model.cells[cell].var == var).collect()
        };
        let sites = || self.processes.iter().flat_map(|process| &process.sites);
        // The steps in which a process has a part, its own and those in which it receives.
        let parts = |process: ProcessId| -> Vec<(&StepSite, &Touches)> {
            let part = |site: &'_ StepSite| site.sides.iter().position(|(who, _)| *who == process);
            sites().filter_map(|site| part(site).map(|at| (site, &site.sides[at].1))).collect()
        };
        let theirs = parts(b);
        let mut race = space.empty();
        for (my_step, mine) in parts(a) {
            let my_writes = of_var(&mine.writes);
            for &(their_step, theirs) in &theirs {
                // The processes of one step do not race.
                if std::ptr::eq(my_step, their_step) && !my_step.has_choices {
                    continue;
                }
                let their_writes = of_var(&theirs.writes);
                let clash = my_writes.iter().any(|cell| theirs.reads.contains(cell) || their_writes.contains(cell))
                    || their_writes.iter().any(|cell| mine.reads.contains(cell));
                if clash {
                    race = space.or(&race, &space.and(&my_step.enabled, &their_step.enabled)?)?;
                }
            }
        }
        Ok(race)
    }

    /// How many states of the program the set has, where that can be counted.
    pub fn n_states(&self, set: &Bdd) -> Result<Option<u64>, OutOfNodes> {
        let encoding = &self.encoding;
        let parts = encoding.parts().iter().filter(|part| !matches!(part, FieldContent::Exposed(_)));
        let bits: Vec<u32> = parts.flat_map(|&part| encoding.field(part).bits()).collect();
        Ok(encoding.space.and(set, &self.at_rest)?.count_over(&bits))
    }

    /// One state of the set.
    pub fn pick(&self, set: &Bdd) -> Option<State> {
        self.encoding.space.pick(set).map(|vector| self.decode(&vector))
    }

    /// The reason to stop when the nodes are used up.
    pub fn out_of_nodes(&self) -> StopReason {
        StopReason::NodeLimit(self.n_nodes as u64)
    }

    /// What this many nodes take.
    pub fn bytes(&self, n_nodes: u64) -> u64 {
        SymbolicSystem::bytes_of(n_nodes)
    }

    /// What this many nodes take in any system.
    pub fn bytes_of(n_nodes: u64) -> u64 {
        n_nodes * BYTES_PER_NODE
    }

    /// The bit vector of a state; exposed blocks are 0.
    pub fn vector(&self, state: &State) -> Vec<bool> {
        let mut vector = vec![false; self.encoding.space.n_bits() as usize];
        for (part, value) in self.values_of(state) {
            for (bit, is_set) in self.encoding.field(part).literals(value) {
                vector[bit as usize] = is_set;
            }
        }
        vector
    }

    /// The set of one state, whatever is exposed.
    pub fn encode(&self, state: &State) -> Result<Bdd, OutOfNodes> {
        Ok(self.encoding.space.set_of(&self.encoding.assignment(self.values_of(state))?))
    }

    /// The set of one vector of states, whatever is exposed.
    pub(crate) fn set_of_vector(&self, vector: &[bool]) -> Result<Bdd, OutOfNodes> {
        let encoding = &self.encoding;
        let parts = encoding.parts().iter().filter(|part| !matches!(part, FieldContent::Exposed(_)));
        let values = parts.map(|&part| (part, encoding.field(part).read(vector)));
        Ok(encoding.space.set_of(&encoding.assignment(values)?))
    }

    fn values_of(&self, state: &State) -> impl Iterator<Item = (FieldContent, u64)> {
        let cells = self.model.cells.ids().filter(|&cell| !self.is_counter(cell)).map(|cell| {
            let position = self.encoding.position(cell, state.cells[cell.index()]);
            (FieldContent::Cell(cell), position.expect("a cell holds a value of its type"))
        });
        let control =
            self.model.processes.ids().map(|process| {
                (FieldContent::Control(process), self.points.of(process).number_in(state, process) as u64)
            });
        cells.chain(control).chain([(FieldContent::Turn, AT_REST)])
    }

    /// The state of a bit vector.
    pub fn decode(&self, vector: &[bool]) -> State {
        let mut state = eval::initial_states(self.model).next().expect("a program has an initial state");
        for cell in self.model.cells.ids().filter(|&cell| !self.is_counter(cell)) {
            let position = self.encoding.field(FieldContent::Cell(cell)).read(vector);
            state.cells[cell.index()] = self.encoding.value(cell, position);
        }
        for process in self.model.processes.ids() {
            let point = self
                .points
                .of(process)
                .point(self.encoding.field(FieldContent::Control(process)).read(vector) as usize);
            for &(cell, value) in &point.counters {
                state.cells[cell.index()] = value;
            }
            state.stacks[process.index()] = vec![Frame { control: Control::At(point.place), slots: Vec::new() }];
        }
        state
    }

    pub(crate) fn is_counter(&self, cell: CellId) -> bool {
        matches!(self.model.vars[self.model.cells[cell].var].role, Role::Counter(_))
    }
}

/// Each cell has the value that it starts with, or any; each process is at its entry.
fn initial(model: &Model, points: &SymbolicPoints, encoding: &Encoding) -> Result<Bdd, OutOfNodes> {
    let first = eval::initial_states(model).next().expect("a program has an initial state");
    let free = eval::free_cells(model);
    let mut fixed = Vec::new();
    let mut initial = encoding.space.all();
    for (cell, declared) in model.cells.entries() {
        if matches!(model.vars[declared.var].role, Role::Counter(_)) {
            continue;
        }
        if free.contains(&cell) {
            let anything = encoding.any_of(FieldContent::Cell(cell))?;
            initial = encoding.space.and(&initial, &anything)?;
        } else {
            let position = encoding.position(cell, first.cells[cell.index()]);
            fixed.push((FieldContent::Cell(cell), position.expect("a cell holds a value of its type")));
        }
    }
    fixed.extend(
        model.processes.ids().map(|process| (FieldContent::Control(process), points.of(process).entry() as u64)),
    );
    fixed.push((FieldContent::Turn, AT_REST));
    encoding.space.and(&initial, &encoding.space.set_of(&encoding.assignment(fixed)?))
}

/// In words that a user can act on.
fn reason(model: &Model, stop: CommandStop, n_nodes: usize) -> StopReason {
    match stop {
        CommandStop::OutOfNodes => StopReason::NodeLimit(n_nodes as u64),
        CommandStop::TooManyCases(statement) => {
            Unsupported::about(Feature::ManyOutcomes, &model.statements[statement].text).into()
        }
        CommandStop::TooManyRounds => Feature::ManyRounds.into(),
    }
}
