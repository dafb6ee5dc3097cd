//! Local proofs by brute force: the smallest split invariant, found by applying its rule until nothing new comes.
//!
//! In: a small Model without procedures, `k`, what each process sees of the shared and public cells, and which facts about
//! local states are exposed. Out: the least sets `theta[K]` that are closed under *initiality* and *step and
//! non-interference* as `evidence::certificate` states them. Combinations of values are joins of whole sets, every step is
//! taken by `model::eval` on a state filled arbitrarily where the combination says nothing. Nothing is packed, ordered or
//! shared with an engine: engines that claim to compute these sets are compared with [`LocalDefinition::invariant`] by their
//! [`meaning`], and checkers of certificates with [`definition`].
//!
//! Where several processes' texts read each other's places (`P@l` of another process), views are not enough and this
//! oracle does not apply.

pub mod definition;
pub mod meaning;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use evidence::Certificate;
use evidence::certificate::{Claim, Column, ControlPoint, Exposed, Fact, LocalFact, Member, SplitInvariant, StateSet};
use evidence::implied::Implied;
use model::Model;
use model::control::{PlaceId, Sync, SyncSide, TextOwner};
use model::eval::{Control, Frame, Move, State, initial_states, local_attempts_up_to, n_initial_states};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::{CellId, Role};

/// One component of a view state, without numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViewPart {
    /// The content of a cell.
    Value(Value),
    /// The control location of a process.
    Point(ControlPoint),
    /// Which of a process's facts hold.
    Block(Vec<bool>),
}

/// Values for some columns.
pub type Combination = BTreeMap<Column, ViewPart>;

/// The sets, by their processes.
pub type DefinedSets = BTreeMap<Vec<ProcessId>, BTreeSet<Combination>>;

/// A fact about local states that is exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expose {
    /// The process is at one of these places, whatever its counters are.
    At(Vec<PlaceId>),
    /// One of its cells has this value.
    Cell(CellId, Value),
}

/// What is to be computed.
#[derive(Clone, Debug)]
pub struct LocalDefinition<'m> {
    /// The program.
    pub model: &'m Model,
    /// How many processes each set speaks of.
    pub k: usize,
    /// What each process sees of the cells that are not its own.
    pub views: Vec<BTreeSet<CellId>>,
    /// What is exposed of each process.
    pub exposed: Vec<Vec<Expose>>,
    /// More combinations than this for some processes, and nothing is computed.
    pub limit: usize,
    /// What is filled in where a combination says nothing: cells as at some start, all processes ended.
    pub filling: State,
}

impl<'m> LocalDefinition<'m> {
    /// All processes see all shared and public cells; nothing is exposed.
    pub fn new(model: &'m Model, k: usize) -> Self {
        let n_processes = model.processes.len();
        let visible = |cell: &CellId| {
            let storage = model.vars[model.cells[*cell].var].storage;
            matches!(storage, model::variable::Storage::Shared | model::variable::Storage::Public(_))
        };
        let all: BTreeSet<CellId> = model.cells.ids().filter(visible).collect();
        let mut filling = initial_states(model).next().expect("a program has an initial state");
        for process in model.processes.ids() {
            place(&mut filling, process, model.families[model.processes[process].family].end);
        }
        LocalDefinition {
            model,
            k,
            views: vec![all; n_processes],
            exposed: vec![Vec::new(); n_processes],
            limit: 2000,
            filling,
        }
    }

    /// The smallest split invariant; `None` where there are too many combinations.
    pub fn invariant(&self) -> Option<DefinedSets> {
        let everybody: Vec<ProcessId> = self.model.processes.ids().collect();
        let members = subsets(&everybody, self.k);
        let mut sets: DefinedSets = members.iter().map(|member| (member.clone(), BTreeSet::new())).collect();
        (n_initial_states(self.model) <= self.limit as u128).then_some(())?;
        for state in initial_states(self.model) {
            for (member, set) in &mut sets {
                set.insert(self.project(&state, &self.columns(member)));
            }
        }
        // The combinations from which these movers' steps were already taken.
        let mut done: HashSet<(Vec<ProcessId>, Vec<ProcessId>, Combination)> = HashSet::new();
        loop {
            let before: usize = sets.values().map(BTreeSet::len).sum();
            for member in &members {
                for movers in self.movers() {
                    let both = union(member, &movers);
                    for combination in self.combinations(&sets, &both)? {
                        if done.insert((member.clone(), movers.clone(), combination.clone())) {
                            let successors = self.successors(&combination, &movers, &self.columns(member));
                            sets.get_mut(member).expect("all members are there").extend(successors);
                        }
                    }
                }
            }
            if sets.values().map(BTreeSet::len).sum::<usize>() == before {
                return Some(sets);
            }
        }
    }

    /// Single processes, and pairs of them where the program has channels.
    pub fn movers(&self) -> Vec<Vec<ProcessId>> {
        let everybody: Vec<ProcessId> = self.model.processes.ids().collect();
        let mut movers = subsets(&everybody, 1);
        if !self.model.channels.is_empty() {
            movers.extend(subsets(&everybody, 2));
        }
        movers
    }

    /// What a view state of these processes consists of.
    pub fn columns(&self, member: &[ProcessId]) -> Vec<Column> {
        let mut cells: BTreeSet<CellId> = BTreeSet::new();
        for &process in member {
            cells.extend(&self.views[process.index()]);
            let family = &self.model.families[self.model.processes[process].family];
            cells.extend(family.vars.iter().flat_map(|&var| self.model.cells_of(var, Some(process))));
        }
        let is_counter = |cell: &CellId| matches!(self.model.vars[self.model.cells[*cell].var].role, Role::Counter(_));
        let cells = cells.into_iter().filter(|cell| !is_counter(cell)).map(Column::Cell);
        let controls = member.iter().map(|&process| Column::Control(process));
        let exposed = self.model.processes.ids().filter(|process| !self.exposed[process.index()].is_empty());
        cells.chain(controls).chain(exposed.map(Column::Exposed)).collect()
    }

    /// All values for the columns of these processes' members of which every `k` processes are in their set.
    pub fn combinations(&self, sets: &DefinedSets, processes: &[ProcessId]) -> Option<Vec<Combination>> {
        let mut joined: Vec<Combination> = vec![Combination::new()];
        for member in subsets(processes, self.k) {
            joined = join(&joined, &sets[&member], self.limit)?;
        }
        Some(joined)
    }

    /// The successors by steps of exactly these processes, projected.
    pub fn successors(&self, from: &Combination, movers: &[ProcessId], columns: &[Column]) -> Vec<Combination> {
        let state = self.fill(from);
        let mut found = Vec::new();
        for &mover in movers {
            let (steps, footprint) =
                local_attempts_up_to(self.model, &state, mover, usize::MAX).expect("there is no limit");
            if let Some(&unseen) = footprint.cells.iter().find(|&&cell| !self.is_known(from, cell)) {
                panic!("a step touches `{}`, which is in no view", self.model.cells[unseen].name);
            }
            for (step, _) in steps.into_iter().filter(|(step, _)| participants(&step.by) == movers) {
                if let Ok(after) = step.result {
                    found.push(self.project_known(&after, from, movers, columns));
                }
            }
        }
        found
    }

    /// The state after a step, as far as the columns show it; the blocks of processes that did not step stay.
    pub(crate) fn project_known(
        &self,
        after: &State,
        from: &Combination,
        movers: &[ProcessId],
        columns: &[Column],
    ) -> Combination {
        let part = |&column: &Column| match column {
            Column::Exposed(process) if !movers.contains(&process) => (column, from[&column].clone()),
            _ => (column, self.part(after, column)),
        };
        columns.iter().map(part).collect()
    }

    /// A whole state, as far as the columns show it.
    pub fn project(&self, state: &State, columns: &[Column]) -> Combination {
        columns.iter().map(|&column| (column, self.part(state, column))).collect()
    }

    fn part(&self, state: &State, column: Column) -> ViewPart {
        match column {
            Column::Cell(cell) => ViewPart::Value(state.cells[cell.index()]),
            Column::Control(process) => ViewPart::Point(point(self.model, state, process)),
            Column::Exposed(process) => {
                let holds = |fact: &Expose| match fact {
                    Expose::At(places) => places.contains(&state.place(process)),
                    Expose::Cell(cell, value) => state.cells[cell.index()] == *value,
                };
                ViewPart::Block(self.exposed[process.index()].iter().map(holds).collect())
            }
        }
    }

    /// A whole state with these values.
    pub fn fill(&self, combination: &Combination) -> State {
        let mut state = self.filling.clone();
        for (&column, part) in combination {
            match (column, part) {
                (Column::Cell(cell), ViewPart::Value(value)) => state.cells[cell.index()] = *value,
                (Column::Control(process), ViewPart::Point(point)) => {
                    place(&mut state, process, point.place);
                    point.counters.iter().for_each(|(cell, value)| state.cells[cell.index()] = *value);
                }
                _ => {}
            }
        }
        state
    }

    fn is_known(&self, combination: &Combination, cell: CellId) -> bool {
        let counts = |owner: ProcessId| combination.contains_key(&Column::Control(owner));
        let is_counter = matches!(self.model.vars[self.model.cells[cell].var].role, Role::Counter(_));
        combination.contains_key(&Column::Cell(cell))
            || (is_counter && self.model.cells[cell].owner.is_some_and(counts))
    }

    /// The sets as a certificate of a property.
    pub fn certificate(&self, sets: &DefinedSets, property: &str) -> Certificate {
        let invariant = self.numbered(sets);
        let fact = Fact { claim: Claim::SplitInvariant(invariant), uses: Vec::new() };
        let asked = self.model.properties.iter().find(|one| one.name == property);
        let implies = asked.map_or(Vec::new(), |asked| self.implies(&asked.kind));
        Certificate { property: property.to_string(), scope: evidence::Scope::Instance, facts: vec![fact], implies }
    }

    /// What has to follow from which processes: a clause from all of them, the rest from the movers and as many others as there have to be.
    pub fn implies(&self, property: &PropertyKind) -> Vec<Implied> {
        let all: Vec<ProcessId> = self.model.processes.ids().collect();
        let from = |movers: &[ProcessId]| {
            let others = all.iter().filter(|one| !movers.contains(one)).take(self.k.saturating_sub(movers.len()));
            union(movers, &others.copied().collect::<Vec<_>>())
        };
        let movers = self.ordered_movers();
        match property {
            PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => {
                vec![Implied::Clause { cuts: Vec::new(), from: all }]
            }
            PropertyKind::NoErrors => {
                movers.into_iter().map(|movers| Implied::NoFault { from: from(&movers), movers }).collect()
            }
            PropertyKind::RaceFree(_) => {
                let pairs =
                    movers.iter().enumerate().flat_map(|(at, one)| movers[at..].iter().map(move |two| (one, two)));
                let race = |(one, two): (&Vec<ProcessId>, &Vec<ProcessId>)| Implied::NoRace {
                    movers: [one.clone(), two.clone()],
                    from: from(&union(one, two)),
                };
                pairs.filter(|(one, two)| one != two || one.len() > 1).map(race).collect()
            }
            PropertyKind::DeadlockFree => vec![Implied::NoDeadlock { from: subsets(&all, self.k) }],
            PropertyKind::Temporal(_) => Vec::new(),
        }
    }

    /// Single processes, and a sender with a receiver on a common channel.
    fn ordered_movers(&self) -> Vec<Vec<ProcessId>> {
        let ids = || self.model.processes.ids();
        let names = |process: ProcessId, sends: bool| {
            let own = TextOwner::Family(self.model.processes[process].family);
            let syncs =
                self.model.actions.iter().filter(|action| action.scope == own).filter_map(|one| one.sync.as_ref());
            let side = |one: &&Sync| matches!(one.side, SyncSide::Send(_)) == sends;
            syncs.filter(side).map(|one| one.channel).collect::<BTreeSet<_>>()
        };
        let meets = |one: ProcessId, two: ProcessId| one != two && !names(one, true).is_disjoint(&names(two, false));
        let pairs = ids().flat_map(|one| ids().filter(move |&two| meets(one, two)).map(move |two| vec![one, two]));
        ids().map(|one| vec![one]).chain(pairs).collect()
    }

    fn numbered(&self, sets: &DefinedSets) -> SplitInvariant {
        let mut points: Vec<BTreeSet<ControlPoint>> = vec![BTreeSet::new(); self.model.processes.len()];
        let mut blocks: Vec<BTreeSet<Vec<bool>>> = vec![BTreeSet::new(); self.model.processes.len()];
        for (&column, part) in sets.values().flatten().flatten() {
            match (column, part) {
                (Column::Control(process), ViewPart::Point(point)) => {
                    points[process.index()].insert(point.clone());
                }
                (Column::Exposed(process), ViewPart::Block(block)) => {
                    blocks[process.index()].insert(block.clone());
                }
                _ => {}
            }
        }
        let points: Vec<Vec<ControlPoint>> = points.into_iter().map(|set| set.into_iter().collect()).collect();
        let blocks: Vec<Vec<Vec<bool>>> = blocks.into_iter().map(|set| set.into_iter().collect()).collect();
        let number = |(&column, part): (&Column, &ViewPart)| -> u32 {
            let at = match (column, part) {
                (Column::Cell(cell), ViewPart::Value(value)) => {
                    self.model.cells[cell].ty.values(self.model.type_context()).position(|one| one == *value)
                }
                (Column::Control(process), ViewPart::Point(point)) => {
                    points[process.index()].iter().position(|one| one == point)
                }
                (Column::Exposed(process), ViewPart::Block(block)) => {
                    blocks[process.index()].iter().position(|one| one == block)
                }
                _ => None,
            };
            at.expect("every part was collected") as u32
        };
        let member = |(processes, set): (&Vec<ProcessId>, &BTreeSet<Combination>)| {
            let mut columns = self.columns(processes);
            columns.sort_unstable();
            let mut rows: Vec<Vec<u32>> = set.iter().map(|state| state.iter().map(number).collect()).collect();
            rows.sort_unstable();
            Member { processes: processes.clone(), columns, states: StateSet::Rows(rows) }
        };
        let members = sets.iter().map(member).collect();
        let facts =
            |process: usize| self.exposed[process].iter().map(|fact| numbered_fact(fact, &points[process])).collect();
        let exposed =
            (0..points.len()).map(|process| Exposed { facts: facts(process), blocks: blocks[process].clone() });
        SplitInvariant { k: self.k, exposed: exposed.collect(), members, symmetry: None, points }
    }
}

fn numbered_fact(fact: &Expose, points: &[ControlPoint]) -> LocalFact {
    match fact {
        Expose::At(places) => {
            LocalFact::Control((0..points.len()).filter(|&at| places.contains(&points[at].place)).collect())
        }
        Expose::Cell(cell, value) => LocalFact::Cell(*cell, *value),
    }
}

/// The control location of a process, with its counters.
pub fn point(model: &Model, state: &State, process: ProcessId) -> ControlPoint {
    let family = &model.families[model.processes[process].family];
    let counters = family.vars.iter().filter(|&&var| matches!(model.vars[var].role, Role::Counter(_)));
    let cells = counters.flat_map(|&var| model.cells_of(var, Some(process)));
    let counters = cells.map(|cell| (cell, state.cells[cell.index()])).collect();
    ControlPoint { place: state.place(process), counters }
}

fn place(state: &mut State, process: ProcessId, place: PlaceId) {
    state.stacks[process.index()] = vec![Frame { control: Control::At(place), slots: Vec::new() }];
}

/// All subsets with `k` elements.
pub fn subsets(items: &[ProcessId], k: usize) -> Vec<Vec<ProcessId>> {
    match (k, items.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (_, Some((first, rest))) => {
            let with = subsets(rest, k - 1).into_iter().map(|rest| [&[*first], rest.as_slice()].concat());
            with.chain(subsets(rest, k)).collect()
        }
    }
}

/// The processes that take part in a step, ascending.
pub fn participants(by: &Move) -> Vec<ProcessId> {
    let mut all: Vec<ProcessId> = by.first().processes().collect();
    all.sort_unstable();
    all
}

/// The union, ascending.
pub fn union(one: &[ProcessId], other: &[ProcessId]) -> Vec<ProcessId> {
    one.iter().chain(other).copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// All unions of one and the other that agree where both speak; `None` where there are more than `limit`.
fn join(ones: &[Combination], others: &BTreeSet<Combination>, limit: usize) -> Option<Vec<Combination>> {
    let (Some(one), Some(other)) = (ones.first(), others.first()) else { return Some(Vec::new()) };
    let common: Vec<Column> = one.keys().filter(|column| other.contains_key(column)).copied().collect();
    let key = |from: &Combination| -> Vec<ViewPart> { common.iter().map(|column| from[column].clone()).collect() };
    let mut groups: HashMap<Vec<ViewPart>, Vec<&Combination>> = HashMap::new();
    for other in others {
        groups.entry(key(other)).or_default().push(other);
    }
    let mut joined = Vec::new();
    for one in ones {
        for &other in groups.get(&key(one)).into_iter().flatten() {
            joined.push(one.iter().chain(other).map(|(&column, part)| (column, part.clone())).collect());
        }
        if joined.len() > limit {
            return None;
        }
    }
    Some(joined)
}
