//! What local states and shared columns of a program are, as the checker counts them, and the listed local states.
//!
//! In: a Model and a proof. Out: the columns, those of the proof compared with them; where processes start; where each local state is
//! listed. An array has elements for processes where the proof says so: then nothing but processes may index that dimension, which is for those to
//! see who read the text.

use std::collections::{BTreeMap, BTreeSet};

use evidence::fine::{FineProof, LocalItem};
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::Model;
use model::control::{ActionKind, TextOwner};
use model::eval::{free_cells, initial_states};
use model::expr::Domain;
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};
use rustc_hash::FxHashMap;

use super::look::{Decisions, End, Look, Thing, Who};
use crate::certificate::pace::Pace;
use crate::certificate::{CertificateError, Outcome};

/// More local states in the beginning are not gone through.
const MOST_STARTS: usize = 1 << 16;

pub(super) struct Plan<'m> {
    pub model: &'m Model,
    /// Looks at the limits.
    pub pace: &'m Pace<'m>,
    pub family: FamilyId,
    pub n_processes: usize,
    pub shared: Vec<SharedColumn>,
    pub local: Vec<LocalColumn>,
    /// The dimension of each array that has elements for processes.
    pub rows: BTreeMap<VarId, usize>,
    pub states: Vec<Vec<LocalItem>>,
    numbers: FxHashMap<Vec<LocalItem>, usize>,
    /// For each counter of a loop over the family the column that says whether it is under way.
    scans: BTreeMap<usize, usize>,
    shared_at: BTreeMap<SharedColumn, usize>,
    local_at: BTreeMap<LocalColumn, usize>,
}

fn malformed<T>(what: &str) -> Outcome<T> {
    Err(CertificateError::Malformed(what.to_owned()))
}

impl<'m> Plan<'m> {
    pub fn new(model: &'m Model, proof: &FineProof, pace: &'m Pace<'m>) -> Outcome<Plan<'m>> {
        if proof.family.index() >= model.families.len() {
            return malformed("there is no such family");
        }
        let family = &model.families[proof.family];
        let is_strange = |action: &model::control::Action| {
            action.goes_on
                || action.when_nobody
                || action.sync.is_some()
                || !matches!(action.kind, ActionKind::Plain | ActionKind::Idle)
        };
        if family.count() < 2 || model.actions.iter().any(is_strange) || !model.procedures.is_empty() {
            return Err(CertificateError::NotSupported(
                "views of cells know steps of single processes only".to_owned(),
            ));
        }
        let mut plan = Plan {
            model,
            pace,
            family: proof.family,
            n_processes: family.count(),
            shared: Vec::new(),
            local: Vec::new(),
            rows: BTreeMap::new(),
            states: proof.states.clone(),
            numbers: proof.states.iter().cloned().enumerate().map(|(at, state)| (state, at)).collect(),
            scans: BTreeMap::new(),
            shared_at: BTreeMap::new(),
            local_at: BTreeMap::new(),
        };
        plan.find_rows(proof)?;
        plan.columns();
        if plan.local != proof.local {
            return malformed("a local state does not consist of what belongs to a process");
        }
        if plan.numbers.len() != plan.states.len() || plan.states.iter().any(|state| !plan.is_shaped(state)) {
            return malformed("a local state is listed twice, or is none");
        }
        Ok(plan)
    }

    fn find_rows(&mut self, proof: &FineProof) -> Outcome<()> {
        let family = &self.model.families[self.family];
        let starts_at_zero = family.index.as_ref().is_some_and(|index| index.first == 0);
        for column in &proof.local {
            let LocalColumn::Element(row, _) = column else { continue };
            let var = self.model.vars.get(row.var).filter(|_| starts_at_zero);
            let lengths = var.map(|var| var.ty.dimensions()).unwrap_or_default();
            let fitting: Vec<usize> =
                (0..lengths.len()).filter(|&dimension| lengths[dimension] == self.n_processes).collect();
            let [dimension] = fitting[..] else {
                return Err(CertificateError::NotSupported(
                    "it is not clear which elements of an array belong to processes".to_owned(),
                ));
            };
            self.rows.insert(row.var, dimension);
        }
        Ok(())
    }

    fn columns(&mut self) {
        let model = self.model;
        self.local.push(LocalColumn::Control);
        self.local.extend((0..model.families[self.family].n_cells).map(LocalColumn::Own));
        let mut rows: Vec<ElementArray> = Vec::new();
        for (id, cell) in model.cells.entries() {
            if cell.owner.is_some_and(|owner| self.is_member(owner)) {
                continue;
            }
            if !self.rows.contains_key(&cell.var) {
                self.shared.push(SharedColumn::Cell(id));
                continue;
            }
            let row = ElementArray { var: cell.var, owner: cell.owner };
            if !rows.contains(&row) {
                rows.push(row);
                let n_each = model.vars[cell.var].ty.n_cells() / self.n_processes;
                self.local.extend((0..n_each).map(|at| LocalColumn::Element(row, at)));
            }
        }
        let outsiders: Vec<ProcessId> = model.processes.ids().filter(|&id| !self.is_member(id)).collect();
        self.shared.extend(outsiders.iter().map(|&id| SharedColumn::Control(id)));
        for (id, counted) in model.loops.entries() {
            if !matches!(&counted.domain, Domain::Family(of) if *of == self.family) {
                continue;
            }
            match counted.scope {
                TextOwner::Family(of) if of == self.family => self.local.push(LocalColumn::Taken(id)),
                TextOwner::Family(of) => {
                    let its = outsiders.iter().filter(|&&process| model.processes[process].family == of);
                    self.shared.extend(its.map(|&process| SharedColumn::Taken(process, id)));
                }
                TextOwner::Procedure(_) => {}
            }
        }
        self.shared_at = self.shared.iter().enumerate().map(|(at, &column)| (column, at)).collect();
        self.local_at = self.local.iter().enumerate().map(|(at, &column)| (column, at)).collect();
        let scans = self.local.iter().enumerate().filter_map(|(taken, column)| match column {
            LocalColumn::Taken(id) => {
                let counter = self.local_at(LocalColumn::Own(model.vars[model.loops[*id].counter].offset))?;
                Some((counter, taken))
            }
            _ => None,
        });
        self.scans = scans.collect();
    }

    /// Whether a local state has items where they belong.
    fn is_shaped(&self, state: &[LocalItem]) -> bool {
        let fits = |(at, item): (usize, &LocalItem)| match (self.local[at], item) {
            (LocalColumn::Control, LocalItem::Place(place)) => place.index() < self.model.places.len(),
            (LocalColumn::Control, _) | (_, LocalItem::Place(_)) => false,
            (LocalColumn::Taken(_), item) => matches!(item, LocalItem::Value(Value::Bool(_))),
            (_, LocalItem::Value(Value::Process(id))) => {
                id.index() < self.model.processes.len() && !self.is_member(*id)
            }
            _ => true,
        };
        state.len() == self.local.len() && state.iter().enumerate().all(fits)
    }

    pub fn is_member(&self, id: ProcessId) -> bool {
        self.model.processes[id].family == self.family
    }

    pub fn shared_at(&self, column: SharedColumn) -> Option<usize> {
        self.shared_at.get(&column).copied()
    }

    pub fn local_at(&self, column: LocalColumn) -> Option<usize> {
        self.local_at.get(&column).copied()
    }

    pub fn number(&self, state: &[LocalItem]) -> Option<usize> {
        self.numbers.get(state).copied()
    }

    /// The column that says whether the loop over the family that this column counts is under way; `None` where it counts none.
    pub fn scan_of(&self, column: usize) -> Option<usize> {
        self.scans.get(&column).copied()
    }

    /// Whether a loop over the family is under way in a local state.
    pub fn is_scanning(&self, state: usize) -> bool {
        let is_under_way = |(column, item): (&LocalColumn, &LocalItem)| {
            matches!(column, LocalColumn::Taken(_)) && *item == LocalItem::Value(Value::Bool(true))
        };
        self.local.iter().zip(&self.states[state]).any(is_under_way)
    }

    pub fn names_members(&self, ty: ScalarType) -> bool {
        match ty {
            ScalarType::Pid(of) | ScalarType::PidOrNone(of) => of == self.family,
            ScalarType::Lock => true,
            _ => false,
        }
    }

    pub fn places(&self, family: FamilyId) -> Vec<Thing> {
        let its = self.model.places.entries().filter(|(_, place)| place.scope == TextOwner::Family(family));
        its.map(|(id, _)| Thing::Place(id)).collect()
    }

    /// What a shared column may hold in the beginning; `Thing::Anybody` for a process of the family.
    pub fn start_of(&self, column: usize) -> Outcome<Vec<Thing>> {
        let state = self.first_state()?;
        Ok(match self.shared[column] {
            SharedColumn::Control(process) => vec![Thing::Place(state.place(process))],
            SharedColumn::Taken(..) => vec![Thing::Value(Value::Bool(false))],
            SharedColumn::Cell(cell) => {
                let things = self.start(cell, &state)?;
                let anybody = |thing: Thing| if is_member_thing(thing) { Thing::Anybody } else { thing };
                things.into_iter().map(|(thing, _)| anybody(thing)).collect()
            }
        })
    }

    fn first_state(&self) -> Outcome<model::eval::State> {
        initial_states(self.model).next().map_or_else(|| malformed("there is no initial state"), Ok)
    }

    /// What a cell starts with; for processes of the family which one, or any.
    fn start(&self, cell: CellId, state: &model::eval::State) -> Outcome<Vec<(Thing, Option<ProcessId>)>> {
        let ty = self.model.cells[cell].ty;
        if free_cells(self.model).contains(&cell) {
            let look = Look::new(self, Who::Nobody, &[], Decisions::default());
            let contents = look.contents(ty, Thing::Anybody);
            let contents = contents.map_err(|_| CertificateError::NotSupported("too many values".to_owned()))?;
            return Ok(contents.into_iter().map(|thing| (thing, None)).collect());
        }
        Ok(match state.cells[cell.index()] {
            Value::Process(id) if self.is_member(id) => vec![(Thing::Anybody, Some(id))],
            value => vec![(Thing::Value(value), None)],
        })
    }

    /// The local states in which processes start.
    pub fn starts(&self) -> Outcome<BTreeSet<usize>> {
        let state = self.first_state()?;
        let mut found = BTreeSet::new();
        for process in self.model.families[self.family].processes() {
            self.pace.look()?;
            let mut locals: Vec<Vec<LocalItem>> = vec![Vec::new()];
            for (at, &column) in self.local.iter().enumerate() {
                let items: Vec<LocalItem> = match column {
                    LocalColumn::Control => vec![LocalItem::Place(state.place(process))],
                    LocalColumn::Taken(_) => vec![LocalItem::Value(Value::Bool(false))],
                    _ if self.scan_of(at).is_some() => vec![LocalItem::Value(Value::None)],
                    _ => { self.start(self.cell(process, column), &state)?.into_iter() }
                        .flat_map(|(thing, who)| match (thing, who) {
                            (Thing::Value(value), _) => vec![LocalItem::Value(value)],
                            (_, Some(id)) if id == process => vec![LocalItem::Itself],
                            (_, Some(_)) => vec![LocalItem::Another],
                            _ => vec![LocalItem::Itself, LocalItem::Another],
                        })
                        .collect(),
                };
                let mut longer = Vec::new();
                for local in &locals {
                    longer.extend(items.iter().map(|&item| [&local[..], &[item]].concat()));
                }
                locals = longer;
                if locals.len() > MOST_STARTS {
                    return Err(CertificateError::NotSupported("there are too many initial states".to_owned()));
                }
            }
            for local in locals {
                self.pace.did_one()?;
                let mut look = Look::new(self, Who::Member, &local, Decisions::default());
                let listed = match look.go(&self.model.families[self.family].entry) {
                    Ok(_) => self.number(&look.mine),
                    Err(End::Stopped(reason)) => return Err((*reason).into()),
                    Err(_) => None,
                };
                match listed {
                    Some(number) => drop(found.insert(number)),
                    None => {
                        return super::words::refused(
                            "every local state that a process starts with is listed",
                            "there is one that is not",
                        );
                    }
                }
            }
        }
        Ok(found)
    }

    /// The cell of a process that a column shows.
    fn cell(&self, process: ProcessId, column: LocalColumn) -> CellId {
        let model = self.model;
        let own = model.processes[process].first_cell;
        match column {
            LocalColumn::Own(at) => CellId::new(own + at),
            LocalColumn::Element(row, at) => {
                let var = &model.vars[row.var];
                let lengths = var.ty.dimensions();
                let after: usize = lengths[self.rows[&row.var] + 1..].iter().product();
                let index = model.processes[process].index as usize;
                let position = (at / after * self.n_processes + index) * after + at % after;
                let first = row.owner.map_or(0, |owner| model.processes[owner].first_cell);
                CellId::new(first + var.offset + position)
            }
            LocalColumn::Control | LocalColumn::Taken(_) => CellId::new(own),
        }
    }
}

fn is_member_thing(thing: Thing) -> bool {
    !matches!(thing, Thing::Value(_) | Thing::Place(_))
}
