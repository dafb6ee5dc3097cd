//! Local sets as diagrams: the symbolic backend of `compose`.
//!
//! In: a [`SymbolicSystem`]. Out: sets of view states of groups of processes, and the answers that `compose` needs. A step of a process outside
//! a group is first projected to the group's view: the states before it without the mover's local part, and the updates
//! that the group sees. Exposed facts of a process are one block number per process, a part that its steps keep up to date.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{Budget, StopReason};
use compose::backend::{Answered, Backend, Deciding, Join, Movers};
use compose::k_index::KIndexPlan;
use compose::question::{Pattern, Question, questions};
use compose::symmetry::{Permutation, Symmetry};
pub use engine::SharedView;
use evidence::certificate::{Column, ControlPoint, Exposed, Member, SplitInvariant, StateSet};
use model::Model;
use model::eval;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::{CellId, Storage};

use crate::bdd::{Bdd, Cube, OutOfNodes, Renaming};
use crate::change::{After, DiagramUpdate, Updates};
use crate::commands::GuardedCommand;
use crate::encoding::{FieldContent, bits_for};
use crate::system::SymbolicSystem;
use crate::watchdog::Gauge;

/// Sets with at most this many states are written down row by row.
const MOST_ROWS: u64 = 4096;

/// Local sets of a program.
pub struct LocalSets<'m> {
    pub(crate) system: SymbolicSystem<'m>,
    views: SharedView,
    /// Shared and public cells that no process mentions and that start with one value: all processes see them, since they keep it.
    constants: HashSet<CellId>,
    /// For each process what is exposed of it.
    pub(crate) exposed: Vec<Exposed>,
    /// For each process and block the local states in it.
    pub(crate) blocks: Vec<Vec<Bdd>>,
    /// The commands, with updates of exposed blocks, by their movers.
    pub(crate) commands: HashMap<Movers, Vec<GuardedCommand>>,
    /// Updates as operations on diagrams.
    changes: HashMap<Updates, DiagramUpdate>,
    /// Sets of parts as cubes.
    hidden: HashMap<(Movers, Vec<ProcessId>), Cube>,
    /// Permutations of processes as renamings of sets.
    pub(crate) renamings: HashMap<Permutation, Rc<Renaming>>,
    /// The initial states with their exposed blocks, once they were computed.
    initial: Option<Bdd>,
    /// The states with their exposed blocks, once they were computed.
    tie: Option<Bdd>,
    /// The most nodes seen in use.
    peak_nodes: Cell<u64>,
    /// Where others read how far the work is.
    pub(crate) gauge: Arc<Gauge>,
}

impl<'m> LocalSets<'m> {
    /// Local sets in which nothing is exposed yet.
    pub fn new(system: SymbolicSystem<'m>, views: SharedView) -> Result<Self, StopReason> {
        let n_processes = system.model.processes.len();
        let nothing = Exposed { facts: Vec::new(), blocks: vec![Vec::new()] };
        let mut sets = LocalSets {
            views,
            constants: constants(&system),
            exposed: vec![nothing; n_processes],
            blocks: vec![vec![system.encoding.space.all()]; n_processes],
            commands: HashMap::new(),
            changes: HashMap::new(),
            hidden: HashMap::new(),
            renamings: HashMap::new(),
            initial: None,
            tie: None,
            peak_nodes: Cell::new(0),
            gauge: Arc::default(),
            system,
        };
        sets.refresh_commands()?;
        Ok(sets)
    }

    /// The system behind the sets.
    pub fn system(&self) -> &SymbolicSystem<'m> {
        &self.system
    }

    /// The same, separating_fact others by a gauge how far the work is.
    #[must_use]
    pub(crate) fn measured_by(mut self, gauge: &Arc<Gauge>) -> Self {
        self.gauge = Arc::clone(gauge);
        self
    }

    /// What a process sees of the shared store.
    pub fn views(&self) -> SharedView {
        self.views
    }

    /// The most nodes that were in use, as far as was noted.
    pub fn peak_nodes(&self) -> u64 {
        self.peak_nodes.get()
    }

    /// This many nodes are in use.
    pub fn note_nodes(&self, n_nodes: u64) {
        self.gauge.nodes.store(n_nodes, Ordering::Relaxed);
        self.gauge.memory_bytes.store(self.system.bytes(n_nodes), Ordering::Relaxed);
        self.peak_nodes.set(self.peak_nodes.get().max(n_nodes));
    }

    /// The states that decide a property, and those in which it has no value.
    pub fn decided_and_faulty(&self, property: &PropertyKind) -> Result<Deciding<Bdd>, StopReason> {
        let space = &self.system.encoding.space;
        let (mut decided, mut faulty) = (space.empty(), space.empty());
        for question in questions(self.system.model, property).unwrap_or_default() {
            let (states, fault) = self.pattern(&question.pattern)?;
            decided = self.bdd(space.or(&decided, &states))?;
            faulty = self.bdd(space.or(&faulty, &fault))?;
        }
        // A question about one part of the property may be a fault where another part decides it, and the reverse: then the
        // property as a whole says which it is.
        if !faulty.is_empty()
            && let PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) = property
        {
            let truth = self.system.truth(expr)?;
            decided = match property {
                PropertyKind::Reachable(_) => truth.yes,
                _ => self.bdd(space.or(&truth.yes, &truth.fault).and_then(|rest| space.not(&rest)))?,
            };
            faulty = truth.fault;
        }
        let valid = |set: &Bdd| self.bdd(space.and(set, &self.system.valid));
        Ok(Deciding { decided: valid(&decided)?, faulty: valid(&faulty)? })
    }

    /// Makes an operation's lack of nodes the reason to stop.
    pub(crate) fn bdd<T>(&self, result: Result<T, OutOfNodes>) -> Result<T, StopReason> {
        result.map_err(|_| self.system.out_of_nodes())
    }

    /// The parts that a group sees, in the order of their bits.
    pub(crate) fn view(&self, group: &[ProcessId]) -> Vec<FieldContent> {
        self.system.encoding.parts().iter().copied().filter(|&part| self.sees(group, part)).collect()
    }

    /// The parts that the movers see and the process does not.
    pub(crate) fn hidden_parts(&self, movers: Movers, process: ProcessId) -> Vec<FieldContent> {
        let mut parts = BTreeSet::new();
        for mover in movers.processes() {
            let touched = self.system.processes[mover.index()].touched.iter().copied();
            let cells = self.own_cells(mover).chain(touched).filter(|&cell| !self.system.is_counter(cell));
            parts.extend(cells.map(FieldContent::Cell));
            parts.insert(FieldContent::Control(mover));
        }
        parts.into_iter().filter(|&part| !self.sees(&[process], part)).collect()
    }

    /// The control and the locals of a process.
    pub(crate) fn local_parts(&self, process: ProcessId) -> Vec<FieldContent> {
        let model = self.system.model;
        let is_local = |cell: &CellId| matches!(model.vars[model.cells[*cell].var].storage, Storage::Local(_));
        let locals = self.own_cells(process).filter(is_local).filter(|&cell| !self.system.is_counter(cell));
        locals.map(FieldContent::Cell).chain([FieldContent::Control(process)]).collect()
    }

    fn own_cells(&self, process: ProcessId) -> impl Iterator<Item = CellId> {
        let declared = &self.system.model.processes[process];
        let n_cells = self.system.model.families[declared.family].n_cells;
        (declared.first_cell..declared.first_cell + n_cells).map(CellId::new)
    }

    /// Whether a group sees a part.
    pub(crate) fn sees(&self, group: &[ProcessId], part: FieldContent) -> bool {
        match part {
            FieldContent::Control(process) => group.contains(&process),
            FieldContent::Exposed(process) => self.exposed[process.index()].blocks.len() > 1,
            FieldContent::Turn => false,
            FieldContent::Cell(cell) => {
                let model = self.system.model;
                let declared = &model.cells[cell];
                let local = matches!(model.vars[declared.var].storage, Storage::Local(_) | Storage::Frame(_));
                let own = declared.owner.is_some_and(|owner| group.contains(&owner));
                let mentions = |process: &ProcessId| self.system.processes[process.index()].touched.contains(&cell);
                let by_all = self.views == SharedView::Whole || self.constants.contains(&cell);
                own || !local && (by_all || group.iter().any(mentions))
            }
        }
    }

    /// Splits commands by the blocks to which they lead.
    pub(crate) fn refresh_commands(&mut self) -> Result<(), StopReason> {
        let mut commands: HashMap<Movers, Vec<GuardedCommand>> = HashMap::new();
        for command in self.system.commands() {
            let movers = Movers { process: command.process, partner: command.partner };
            let mut split = vec![command.clone()];
            for mover in movers.processes() {
                if self.exposed[mover.index()].blocks.len() > 1 {
                    let parts = split.iter().map(|command| self.bdd(self.by_block(command, mover)));
                    split = parts.collect::<Result<Vec<_>, _>>()?.concat();
                }
            }
            commands.entry(movers).or_default().extend(split);
        }
        self.commands = commands;
        self.changes.clear();
        self.hidden.clear();
        (self.initial, self.tie) = (None, None);
        Ok(())
    }

    /// The command where it keeps the mover's block, and for each other block the command where it leads to it.
    fn by_block(&self, command: &GuardedCommand, mover: ProcessId) -> Result<Vec<GuardedCommand>, OutOfNodes> {
        let (space, encoding) = (&self.system.encoding.space, &self.system.encoding);
        let mut split = Vec::new();
        let mut keeping = space.empty();
        for (block, states) in self.blocks[mover.index()].iter().enumerate() {
            let leading = space.and(&command.guard, &command.change.put(space, states)?)?;
            keeping = space.or(&keeping, &space.and(&leading, states)?)?;
            let moving = space.minus(&leading, states)?;
            if !moving.is_empty() {
                let mut updates = command.updates.clone();
                updates.push((FieldContent::Exposed(mover), After::Is(block as u64)));
                updates.sort_unstable();
                let change = DiagramUpdate::new(encoding, &updates)?;
                split.push(GuardedCommand { guard: moving, updates, change, ..command.clone() });
            }
        }
        if !keeping.is_empty() {
            split.push(GuardedCommand { guard: keeping, ..command.clone() });
        }
        Ok(split)
    }

    /// Each exposed block is that of the process's local state.
    fn tie(&self) -> Result<Bdd, OutOfNodes> {
        let (space, encoding) = (&self.system.encoding.space, &self.system.encoding);
        self.system.model.processes.ids().rev().try_fold(space.all(), |tie, process| {
            let blocks = &self.blocks[process.index()];
            if blocks.len() == 1 {
                return Ok(tie);
            }
            let tied = blocks.iter().enumerate().try_fold(space.empty(), |tied, (block, states)| {
                let one = space.and(states, &encoding.equals(FieldContent::Exposed(process), block as u64)?)?;
                space.or(&tied, &one)
            })?;
            space.and(&tied, &tie)
        })
    }

    /// As [`LocalSets::tie`], made once.
    pub(crate) fn tied(&mut self) -> Result<Bdd, StopReason> {
        if self.tie.is_none() {
            self.tie = Some(self.bdd(self.tie())?);
        }
        Ok(self.tie.clone().expect("just made"))
    }

    /// The initial states with their exposed blocks.
    fn tied_initial(&mut self) -> Result<Bdd, StopReason> {
        let tie = self.tied()?;
        self.bdd(self.system.encoding.space.and(&self.system.initial, &tie))
    }

    /// The change that updates make.
    pub(crate) fn change_of(&mut self, updates: Updates) -> Result<DiagramUpdate, StopReason> {
        if let Some(change) = self.changes.get(&updates) {
            return Ok(change.clone());
        }
        let change = self.bdd(DiagramUpdate::new(&self.system.encoding, &updates))?;
        self.changes.insert(updates, change.clone());
        Ok(change)
    }

    /// The parts that the movers see and the group does not.
    fn hidden_from(&mut self, movers: Movers, join: Join<'_, Bdd>, group: &[ProcessId]) -> Result<Cube, StopReason> {
        let key = (movers, group.to_vec());
        if let Some(cube) = self.hidden.get(&key) {
            return Ok(cube.clone());
        }
        let mut together: Vec<ProcessId> = join.iter().flat_map(|(processes, _)| processes.iter().copied()).collect();
        together.extend(movers.processes());
        let parts: Vec<FieldContent> =
            self.view(&together).into_iter().filter(|&part| !self.sees(group, part)).collect();
        let cube = self.bdd(self.system.encoding.all_bits(parts))?;
        self.hidden.insert(key, cube.clone());
        Ok(cube)
    }

    /// The states that a pattern describes, and where asking is a fault.
    pub(crate) fn pattern(&self, pattern: &Pattern) -> Result<(Bdd, Bdd), StopReason> {
        let space = &self.system.encoding.space;
        let states = match pattern {
            Pattern::Truth { expr, bound, wanted } => {
                let truth = self.system.truth_of(expr, bound)?;
                let yes = match wanted {
                    true => truth.yes,
                    false => self.bdd(space.or(&truth.yes, &truth.fault).and_then(|rest| space.not(&rest)))?,
                };
                return Ok((yes, truth.fault));
            }
            Pattern::Fault(process) => self.system.processes[process.index()].fault.clone(),
            Pattern::Deadlock => self.bdd(self.system.deadlocks())?,
            Pattern::Race(var, a, b) => self.bdd(self.system.race(*var, *a, *b))?,
        };
        Ok((states, space.empty()))
    }
}

impl Backend for LocalSets<'_> {
    type Set = Bdd;

    fn model(&self) -> &Model {
        self.system.model
    }

    fn movers(&self) -> Vec<Movers> {
        let movers: BTreeSet<Movers> = self.commands.keys().copied().collect();
        movers.into_iter().collect()
    }

    fn interferes(&self, movers: Movers, group: &[ProcessId]) -> bool {
        let Some(commands) = self.commands.get(&movers) else { return false };
        commands.iter().any(|command| command.updates.iter().any(|&(part, _)| self.sees(group, part)))
    }

    fn empty(&self) -> Bdd {
        self.system.encoding.space.empty()
    }

    fn is_empty(&self, set: &Bdd) -> bool {
        set.is_empty()
    }

    fn initial(&mut self, group: &[ProcessId]) -> Result<Bdd, StopReason> {
        let hidden: Vec<FieldContent> =
            self.system.encoding.parts().iter().copied().filter(|&part| !self.sees(group, part)).collect();
        let hidden = self.bdd(self.system.encoding.bits(hidden))?;
        let initial = match self.initial.take() {
            Some(initial) => initial,
            None => self.tied_initial()?,
        };
        let seen = self.bdd(self.system.encoding.space.exists(&initial, &hidden));
        self.initial = Some(initial);
        seen
    }

    fn post(&mut self, movers: Movers, join: Join<'_, Bdd>, onto: &[ProcessId]) -> Result<Bdd, StopReason> {
        self.system.encoding.space.tidy();
        let hidden = self.hidden_from(movers, join, onto)?;
        let commands = self.commands.remove(&movers).unwrap_or_default();
        let result = self.post_commands(&commands, join, (onto, &hidden));
        self.commands.insert(movers, commands);
        result
    }

    fn union(&mut self, a: &Bdd, b: &Bdd) -> Result<Bdd, StopReason> {
        self.bdd(self.system.encoding.space.or(a, b))
    }

    fn minus(&mut self, a: &Bdd, b: &Bdd) -> Result<Bdd, StopReason> {
        self.bdd(self.system.encoding.space.minus(a, b))
    }

    /// For k = 1, `split.rs` computes the fixpoint effect by effect; other k go rule by rule.
    fn close(&mut self, plan: &KIndexPlan<'_>, sets: &mut [Bdd], budget: &Budget) -> Result<bool, StopReason> {
        if plan.k != 1 {
            return Ok(false);
        }
        self.close_split(plan, sets, budget)?;
        Ok(true)
    }

    /// A rendezvous has two movers, which can be of one family: these are not permuted here.
    fn renames(&self, symmetry: &Symmetry<'_>) -> bool {
        self.system.model.channels.is_empty() && self.same_numbers(symmetry)
    }

    fn renamed(
        &mut self,
        set: &Bdd,
        _group: &[ProcessId],
        by: (&Symmetry<'_>, &Permutation),
    ) -> Result<Bdd, StopReason> {
        let renaming = self.renaming(by)?;
        self.bdd(self.system.encoding.space.rename(set, &renaming))
    }

    fn sees(&self, group: &[ProcessId], cell: CellId) -> bool {
        LocalSets::sees(self, group, FieldContent::Cell(cell))
    }

    fn answers(&mut self, question: &Question, join: Join<'_, Bdd>) -> Result<Answered, StopReason> {
        let space = &self.system.encoding.space;
        let (states, fault) = self.pattern(&question.pattern)?;
        let intersection = |set: &Bdd| {
            join.iter().try_fold(
                set.clone(),
                |rest, (_, local)| if rest.is_empty() { Ok(rest) } else { space.and(&rest, local) },
            )
        };
        if !self.bdd(intersection(&fault))?.is_empty() {
            return Ok(Answered::Fault(String::from("evaluating the property is an error in some state")));
        }
        Ok(if self.bdd(intersection(&states))?.is_empty() { Answered::No } else { Answered::Maybe })
    }

    fn certify(&mut self, k: usize, sets: Join<'_, Bdd>) -> Result<SplitInvariant, StopReason> {
        let n_states: Option<u64> = sets.iter().map(|(group, set)| self.n_states(group, set)).sum();
        let fits = |&part: &FieldContent| self.system.encoding.field(part).n_values <= 1 << u32::BITS;
        let by_rows = n_states.is_some_and(|n_states| n_states <= MOST_ROWS)
            && sets.iter().all(|(group, _)| self.view(group).iter().all(fits));
        let members = (sets.iter())
            .map(|(group, set)| {
                let view = self.view(group);
                let states = if by_rows { self.rows(&view, set) } else { self.bdd(self.diagram(&view, set))? };
                Ok(Member { processes: group.to_vec(), columns: view.into_iter().map(column).collect(), states })
            })
            .collect::<Result<Vec<_>, StopReason>>()?;
        let points = self.system.model.processes.ids().map(|process| {
            let points = self.system.points.of(process);
            let one = |number| {
                let point = points.point(number);
                ControlPoint { place: point.place, counters: point.counters.clone() }
            };
            (0..points.len()).map(one).collect()
        });
        Ok(SplitInvariant { k, points: points.collect(), exposed: self.exposed.clone(), members, symmetry: None })
    }

    fn n_states(&self, group: &[ProcessId], set: &Bdd) -> Option<u64> {
        let bits = self.view(group).into_iter().flat_map(|part| self.system.encoding.field(part).bits());
        set.count_over(&bits.collect::<Vec<u32>>())
    }

    fn memory_bytes(&self) -> u64 {
        let n_nodes = self.system.encoding.space.n_nodes() as u64;
        self.note_nodes(n_nodes);
        self.system.bytes(n_nodes)
    }
}

impl LocalSets<'_> {
    /// Updates with the same projection to the group are made together.
    fn post_commands(
        &mut self,
        commands: &[GuardedCommand],
        join: Join<'_, Bdd>,
        (onto, hidden): (&[ProcessId], &Cube),
    ) -> Result<Bdd, StopReason> {
        let mut seen: HashMap<Updates, Bdd> = HashMap::new();
        let (own, others): (Vec<_>, Vec<_>) = join.iter().partition(|(group, _)| *group == onto);
        for command in commands {
            let visible: Updates = command.updates.iter().copied().filter(|&(part, _)| self.sees(onto, part)).collect();
            if visible.is_empty() {
                continue;
            }
            let space = &self.system.encoding.space;
            let guard = match others.split_last() {
                None => self.bdd(space.exists(&command.guard, hidden))?,
                Some(((_, last), rest)) => {
                    let before =
                        rest.iter().try_fold(command.guard.clone(), |before, (_, set)| space.and(&before, set));
                    self.bdd(before.and_then(|before| space.and_exists(&before, last, hidden)))?
                }
            };
            let union = seen.entry(visible).or_insert_with(|| space.empty());
            *union = self.system.encoding.space.or(union, &guard).map_err(|_| self.system.out_of_nodes())?;
        }
        let mut result = self.system.encoding.space.empty();
        for (visible, guard) in seen {
            let change = self.change_of(visible)?;
            let space = &self.system.encoding.space;
            let moved = match own.first() {
                Some((_, own)) => change.image(space, own, &guard),
                None => change.settled_from(space, &guard),
            };
            result = self.bdd(moved.and_then(|moved| space.or(&result, &moved)))?;
        }
        Ok(result)
    }

    fn rows(&self, view: &[FieldContent], set: &Bdd) -> StateSet {
        let fields: Vec<_> = view.iter().map(|&part| self.system.encoding.field(part)).collect();
        let bits: Vec<u32> = fields.iter().flat_map(|field| field.bits()).collect();
        let n_bits = self.system.encoding.space.n_bits() as usize;
        let mut rows: Vec<Vec<u32>> = (set.vectors(&bits, n_bits, MOST_ROWS as usize).iter())
            .map(|vector| fields.iter().map(|field| field.read(vector) as u32).collect())
            .collect();
        rows.sort_unstable();
        StateSet::Rows(rows)
    }

    /// Fields of blocks have room for more blocks than there are; the bits that are 0 in all of these are left out.
    fn diagram(&self, view: &[FieldContent], set: &Bdd) -> Result<StateSet, OutOfNodes> {
        let mut bits: Vec<(u32, (usize, u32))> = Vec::new();
        let mut always_0 = Vec::new();
        for (column, &part) in view.iter().enumerate() {
            let field = self.system.encoding.field(part);
            let n_values = match part {
                FieldContent::Exposed(process) => self.exposed[process.index()].blocks.len() as u128,
                FieldContent::Cell(_) | FieldContent::Control(_) | FieldContent::Turn => field.n_values,
            };
            let n_left_out = field.bits().count() - bits_for(n_values) as usize;
            always_0.extend(field.bits().take(n_left_out));
            bits.extend(field.bits().skip(n_left_out).zip(0..).map(|(bit, at)| (bit, (column, at))));
        }
        bits.sort_unstable();
        let position: HashMap<u32, u32> = bits.iter().zip(0..).map(|(&(bit, _), at)| (bit, at)).collect();
        let order = bits.into_iter().map(|(_, place)| place).collect();
        let space = &self.system.encoding.space;
        let set = space.exists(set, &space.bits(always_0)?)?;
        let nodes = set.table().into_iter().map(|(bit, low, high)| (position[&bit], low as u32, high as u32)).collect();
        Ok(StateSet::Diagram { order, nodes })
    }
}

/// The cells that no process mentions and that start with one value. Of the others that no process mentions nothing is known.
fn constants(system: &SymbolicSystem<'_>) -> HashSet<CellId> {
    let free = eval::free_cells(system.model);
    let is_mentioned = |cell: &CellId| system.processes.iter().any(|process| process.touched.contains(cell));
    system.model.cells.ids().filter(|cell| !free.contains(cell) && !is_mentioned(cell)).collect()
}

fn column(part: FieldContent) -> Column {
    match part {
        FieldContent::Cell(cell) => Column::Cell(cell),
        FieldContent::Control(process) => Column::Control(process),
        FieldContent::Exposed(process) => Column::Exposed(process),
        FieldContent::Turn => unreachable!("nobody sees whose turn it is"),
    }
}
