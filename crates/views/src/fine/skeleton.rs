//! The local states of a process and its steps between them, with what each step needs and does outside: the program, listed.
//!
//! In: a program and its family. Out: a [`Skeleton`]. Local states are found from those in the beginning by steps of which nothing is known but
//! the process itself, so there may be more than a run reaches. A step is one way through an action: what it found in shared columns, what it
//! asked of all others, what it wrote.

use base::{Budget, Span, StopReason};
use model::control::ActionId;
use model::eval::{State, free_cells, initial_states};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use rustc_hash::FxHashMap;

use super::bits::Bits;
use super::datum::{Answers, Choice, Conjunction, Datum, QuantifierFact, Stop, Unknown};
use super::eval::{Eval, Mover};
use super::step::Scan;
use crate::layout::{LocalColumn, SharedColumn, holds_members};
use crate::sight::Ground;
use crate::start::local_cell;

/// Why a program is not listed.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// It does something at this place that is not followed.
    Outside(Span),
    /// It has too many local states or steps.
    TooMany,
    /// A limit.
    Stopped(StopReason),
}

/// Which process a loop over the family takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The one that moves.
    Me,
    /// Another one, with a local state of this set.
    Other(u32),
}

/// One way of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The local state before; `None` for a process of another family.
    pub from: Option<u32>,
    /// The local state after.
    pub to: Option<u32>,
    /// What shared columns hold before.
    pub guards: Vec<(usize, Datum)>,
    /// What shared columns hold after, of those that are written.
    pub writes: Vec<(usize, Datum)>,
    /// Sets of local states in which all other processes are.
    pub all: Vec<u32>,
    /// Whom a loop takes, if that matters.
    pub target: Option<Target>,
    /// What it does to a loop over the family.
    pub scan: Scan,
}

/// A program of one size, listed.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// How many processes the family has.
    pub n_processes: usize,
    /// The local states.
    pub states: Vec<Vec<Datum>>,
    /// Those in the beginning.
    pub starts: Vec<u32>,
    /// For each shared column what it may hold in the beginning; `Datum::Someone` for any process of the family.
    pub shared_starts: Vec<Vec<Datum>>,
    /// The steps.
    pub edges: Vec<Edge>,
    /// Sets of local states.
    pub sets: Vec<Bits>,
    /// Whether some step may be a fault.
    pub may_fault: bool,
}

impl Skeleton {
    /// Whether a local state is inside a loop over the family.
    pub fn is_scanning(&self, ground: Ground<'_>, state: u32) -> bool {
        ground.layout.scans.iter().any(|scan| self.states[state as usize][scan.taken] == Datum::truth(true))
    }

    /// The local states that satisfy one of these.
    pub fn set(&self, lists: &[Conjunction]) -> Bits {
        let mut set = Bits::new(self.states.len());
        for (at, state) in self.states.iter().enumerate() {
            if lists.iter().any(|list| list.iter().all(|&(column, datum)| state[column] == datum)) {
                set.insert(at);
            }
        }
        set
    }
}

/// A way of a step before all local states are known.
struct Draft {
    edge: Edge,
    all: Vec<Vec<Conjunction>>,
    target: Option<Option<Conjunction>>,
}

struct Lister<'a, 'm> {
    ground: Ground<'m>,
    budget: &'a Budget,
    known: FxHashMap<Vec<Datum>, u32>,
    found: Skeleton,
    drafts: Vec<Draft>,
    n_ways: usize,
}

/// Lists a program.
///
/// # Errors
/// Why not.
pub fn skeleton(ground: Ground<'_>, budget: &Budget) -> Result<Skeleton, Refusal> {
    let model = ground.model;
    let is_strange = |action: &model::control::Action| {
        action.goes_on
            || action.when_nobody
            || action.sync.is_some()
            || !matches!(action.kind, model::control::ActionKind::Plain | model::control::ActionKind::Idle)
    };
    if let Some(action) = model.actions.iter().find(|action| is_strange(action)) {
        return Err(Refusal::Outside(model.statements[action.statement].span));
    }
    let n_processes = model.families[ground.layout.family].count();
    // Which elements of an array belong to processes has to be plain from its lengths alone.
    for &var in ground.layout.rows.keys() {
        let lengths = model.vars[var].ty.dimensions();
        let starts_at_zero = model.families[ground.layout.family].index.as_ref().is_some_and(|index| index.first == 0);
        if lengths.iter().filter(|&&length| length == n_processes).count() != 1 || !starts_at_zero {
            return Err(Refusal::Outside(model.vars[var].span));
        }
    }
    let found = Skeleton { n_processes, ..Skeleton::default() };
    let mut lister = Lister { ground, budget, known: FxHashMap::default(), found, drafts: Vec::new(), n_ways: 0 };
    lister.starts()?;
    lister.members()?;
    lister.outsiders()?;
    Ok(lister.finish())
}

impl<'m> Lister<'_, 'm> {
    fn state(&mut self, local: Vec<Datum>) -> Result<u32, Refusal> {
        if let Some(&id) = self.known.get(&local) {
            return Ok(id);
        }
        let id = self.found.states.len() as u32;
        if self.found.states.len() >= self.ground.config.cell_locals {
            return Err(Refusal::TooMany);
        }
        self.found.states.push(local.clone());
        self.known.insert(local, id);
        Ok(id)
    }

    fn starts(&mut self) -> Result<(), Refusal> {
        let Ground { model, layout, .. } = self.ground;
        let first = initial_states(model).next().ok_or(Refusal::Outside(Span::default()))?;
        let free = free_cells(model);
        for &column in &layout.shared {
            let options = match column {
                SharedColumn::Cell(cell) => {
                    self.options(&first, cell, free.contains(&cell), None).map_err(|_| Refusal::TooMany)?
                }
                SharedColumn::Control(process) => vec![Datum::Place(first.place(process))],
                SharedColumn::Taken(..) => vec![Datum::truth(false)],
            };
            self.found.shared_starts.push(options);
        }
        for process in model.families[layout.family].processes() {
            let mut locals: Vec<Vec<Datum>> = vec![Vec::new()];
            for &column in &layout.local {
                let is_counter = |at: usize| layout.scans.iter().any(|scan| scan.counter == at);
                let options = match (column, local_cell(model, layout, process, column)) {
                    (LocalColumn::Control, _) => vec![Datum::Place(first.place(process))],
                    (LocalColumn::Taken(_), _) | (_, None) => vec![Datum::truth(false)],
                    (_, Some(_)) if is_counter(locals[0].len()) => vec![Datum::Value(Value::None)],
                    (_, Some(cell)) => {
                        let found = self.options(&first, cell, free.contains(&cell), Some(process));
                        found.map_err(|_| Refusal::TooMany)?
                    }
                };
                let extended = |local: &Vec<Datum>| {
                    options.iter().map(|&option| [&local[..], &[option]].concat()).collect::<Vec<_>>()
                };
                locals = locals.iter().flat_map(extended).collect();
                if locals.len() > self.ground.config.cell_locals {
                    return Err(Refusal::TooMany);
                }
            }
            for local in locals {
                let mut eval = Eval::new(self.ground, Mover::Member, &local, Vec::new());
                match eval.follow(&model.families[layout.family].entry) {
                    Ok(Scan::Same | Scan::Begins) => {}
                    _ => return Err(Refusal::Outside(Span::default())),
                }
                let local = eval.local;
                let id = self.state(local)?;
                if !self.found.starts.contains(&id) {
                    self.found.starts.push(id);
                }
            }
        }
        Ok(())
    }

    /// What a cell may hold in the beginning: of a process of the family, or shared.
    fn options(
        &self,
        first: &State,
        cell: model::variable::CellId,
        is_free: bool,
        of: Option<ProcessId>,
    ) -> Result<Vec<Datum>, Stop> {
        let Ground { model, layout, .. } = self.ground;
        let any = if of.is_some() { vec![Datum::Me, Datum::Another] } else { vec![Datum::Someone] };
        let ty: ScalarType = model.cells[cell].ty;
        Ok(match first.cells[cell.index()] {
            _ if is_free => {
                let eval = Eval::new(self.ground, Mover::Nobody, &[], Vec::new());
                let values = eval.values(ty, Datum::Someone, Span::default())?;
                let others = values.into_iter().filter(|value| *value != Datum::Someone);
                let members = if holds_members(ty, layout.family) { any } else { Vec::new() };
                others.chain(members).collect()
            }
            Value::Process(id) if Some(id) == of => vec![Datum::Me],
            Value::Process(id) if layout.is_member(model, id) && of.is_some() => vec![Datum::Another],
            Value::Process(id) if layout.is_member(model, id) => any,
            value => vec![Datum::Value(value)],
        })
    }

    fn members(&mut self) -> Result<(), Refusal> {
        let model = self.ground.model;
        let mut at = 0;
        while at < self.found.states.len() {
            let local = self.found.states[at].clone();
            if let Datum::Place(place) = local[0] {
                for &action in &model.places[place].actions {
                    self.ways(Mover::Member, Some(at as u32), &local, action)?;
                }
            }
            at += 1;
        }
        Ok(())
    }

    fn outsiders(&mut self) -> Result<(), Refusal> {
        let Ground { model, layout, .. } = self.ground;
        for process in model.processes.ids().filter(|&process| !layout.is_member(model, process)) {
            let family = model.processes[process].family;
            for (id, action) in model.actions.entries() {
                if action.scope == model::control::TextOwner::Family(family) {
                    self.ways(Mover::Outsider(process), None, &[], id)?;
                }
            }
        }
        Ok(())
    }

    /// All ways of an action.
    fn ways(&mut self, mover: Mover, from: Option<u32>, local: &[Datum], id: ActionId) -> Result<(), Refusal> {
        let model = self.ground.model;
        let mut first: Answers = Vec::new();
        if let Mover::Outsider(process) = mover {
            let column = self.ground.layout.shared_column(SharedColumn::Control(process));
            let column = column.ok_or(Refusal::Outside(Span::default()))?;
            first.push((Unknown::Shared(column), Datum::Place(model.actions[id].source)));
        }
        let mut open: Vec<(Answers, Vec<Vec<Conjunction>>)> = vec![(first, Vec::new())];
        while let Some((answers, all)) = open.pop() {
            self.n_ways += 1;
            if self.n_ways.is_multiple_of(256) {
                self.budget.check(0).map_err(Refusal::Stopped)?;
            }
            let mut eval = Eval::new(self.ground, mover, local, answers);
            let done = eval.act(id);
            self.found.may_fault |= eval.may_fault;
            match done {
                Ok(scan) => self.draft(eval, from, all, scan)?,
                Err(Stop::Blocked) => {}
                Err(Stop::Fault) => self.found.may_fault = true,
                Err(Stop::Outside(span)) => {
                    let span = if span.is_empty() { model.statements[model.actions[id].statement].span } else { span };
                    return Err(Refusal::Outside(span));
                }
                Err(Stop::Need(need)) => {
                    let answers = &eval.answers;
                    open.extend(need.choices.into_iter().map(|Choice { datum, told }| {
                        let mut all = all.clone();
                        if let Some(QuantifierFact::All(lists)) = told {
                            all.push(lists);
                        }
                        ([&answers[..], &[(need.unknown, datum)]].concat(), all)
                    }));
                }
            }
        }
        Ok(())
    }

    fn draft(
        &mut self,
        eval: Eval<'m>,
        from: Option<u32>,
        all: Vec<Vec<Conjunction>>,
        scan: Scan,
    ) -> Result<(), Refusal> {
        if self.drafts.len() >= self.ground.config.cell_steps {
            return Err(Refusal::TooMany);
        }
        let mut target = None;
        let mut guards = Vec::new();
        let mut seen: Conjunction = Vec::new();
        for &(unknown, datum) in &eval.answers {
            match unknown {
                Unknown::Shared(column) => guards.push((column, datum)),
                Unknown::Column(0, column) if from.is_some() => seen.push((column, datum)),
                Unknown::Target => target = Some(datum),
                _ => {}
            }
        }
        let target = target.map(|datum| (datum != Datum::Me).then_some(seen));
        guards.sort_unstable();
        let mut writes = eval.written.clone();
        writes.sort_unstable();
        let to = match from {
            Some(_) => Some(self.state(eval.local)?),
            None => None,
        };
        let edge = Edge { from, to, guards, writes, all: Vec::new(), target: None, scan };
        self.drafts.push(Draft { edge, all, target });
        Ok(())
    }

    /// Sets of local states for what steps ask, now that all local states are known.
    fn finish(self) -> Skeleton {
        let Lister { mut found, drafts, .. } = self;
        let mut by_lists: FxHashMap<Vec<Conjunction>, u32> = FxHashMap::default();
        let mut by_set: FxHashMap<Bits, u32> = FxHashMap::default();
        let mut number = |found: &mut Skeleton, lists: &[Conjunction]| -> u32 {
            if let Some(&id) = by_lists.get(lists) {
                return id;
            }
            let set = found.set(lists);
            let next = found.sets.len() as u32;
            let id = *by_set.entry(set.clone()).or_insert(next);
            if id == next {
                found.sets.push(set);
            }
            by_lists.insert(lists.to_vec(), id);
            id
        };
        // Ways that differ only in whom a loop takes are one, with all of these.
        let mut edges: Vec<(Edge, Option<Vec<Conjunction>>)> = Vec::new();
        let mut known: FxHashMap<(Edge, bool), usize> = FxHashMap::default();
        for Draft { mut edge, all, target } in drafts {
            edge.all = all.iter().map(|lists| number(&mut found, lists)).collect();
            edge.all.retain(|&set| !found.sets[set as usize].is_full());
            edge.all.sort_unstable();
            edge.all.dedup();
            edge.target = target.is_some().then_some(Target::Me);
            let seen = target.flatten();
            let at = *known.entry((edge.clone(), seen.is_some())).or_insert(edges.len());
            if at == edges.len() {
                edges.push((edge, seen.is_some().then(Vec::new)));
            }
            if let (Some(lists), Some(seen)) = (&mut edges[at].1, seen) {
                lists.push(seen);
            }
        }
        for (mut edge, lists) in edges {
            if let Some(mut lists) = lists {
                lists.sort_unstable();
                lists.dedup();
                edge.target = Some(Target::Other(number(&mut found, &lists)));
            }
            found.edges.push(edge);
        }
        found
    }
}
