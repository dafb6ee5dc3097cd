//! Turns from the rows of a split invariant of single processes, taken by `eval`.
//!
//! In: the rows of each process, with numbers for the stores that occur in them. Out: the turns of a process by itself from a row, each with the
//! changes that it makes, and as others with the same store see them. What was found once is kept. Joint turns, and stutters that a partner
//! could prevent, are in `rendezvous.rs`.

use std::rc::Rc;

use evidence::certificate::Column;
use model::control::ActionKind;
use model::eval::{Move, Turn};
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::rendezvous::Joints;
use crate::certificate::claimed::Claimed;
use crate::certificate::listing::stepper::{Stepper, View};
use crate::certificate::movers::Movers;
use crate::certificate::numbering::{Numbering, name};
use crate::certificate::{Outcome, words};

/// The view states of one process.
pub(super) struct Rows<'a> {
    pub columns: &'a [Column],
    pub list: &'a [Vec<u32>],
    /// The position of each column.
    pub positions: FxHashMap<Column, usize>,
    /// The number of each row.
    pub numbers: FxHashMap<&'a [u32], u32>,
    /// The store of each row.
    pub stores: Vec<u32>,
    /// The rows with each store.
    by_store: FxHashMap<u32, Vec<u32>>,
    store_columns: FxHashSet<Column>,
}

impl<'a> Rows<'a> {
    /// Rows whose stores have no numbers yet.
    pub fn new(columns: &'a [Column], list: &'a [Vec<u32>]) -> Self {
        Rows {
            columns,
            list,
            positions: columns.iter().copied().zip(0..).collect(),
            numbers: list.iter().map(Vec::as_slice).zip(0..).collect(),
            stores: Vec::new(),
            by_store: FxHashMap::default(),
            store_columns: FxHashSet::default(),
        }
    }

    /// The rows with a store.
    pub fn with_store(&self, store: u32) -> &[u32] {
        self.by_store.get(&store).map_or(&[], Vec::as_slice)
    }
}

/// Numbers the stores: what the given columns say.
pub(super) fn number_stores(all: &mut [Rows<'_>], columns: &[Column]) {
    let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    for rows in all {
        rows.store_columns = columns.iter().copied().collect();
        let positions: Vec<usize> = columns.iter().map(|column| rows.positions[column]).collect();
        for (number, row) in rows.list.iter().enumerate() {
            let next = known.len() as u32;
            let store = *known.entry(positions.iter().map(|&at| row[at]).collect()).or_insert(next);
            rows.stores.push(store);
            rows.by_store.entry(store).or_default().push(number as u32);
        }
    }
}

/// Turns with the changes that they make.
pub(super) type Taken = Rc<Vec<(Turn, Vec<(Column, u32)>)>>;

/// What a process can do from a row.
#[derive(Clone)]
struct Options {
    turns: Taken,
    /// The enabled steps, those that fail among them.
    enabled: Rc<Vec<Move>>,
    /// Whether it stutters unless it has a rendezvous.
    waits: bool,
}

/// Takes turns.
pub(super) struct Turns<'a> {
    /// What the numbers in rows mean.
    pub numbering: &'a Numbering<'a>,
    pub(super) rows: Vec<Rows<'a>>,
    pub(super) stepper: Stepper<'a>,
    pub(super) joints: Joints,
    /// By process and row.
    options: FxHashMap<(ProcessId, u32), Options>,
    /// By process and store: its turns as others see them.
    seen: FxHashMap<(ProcessId, u32), Taken>,
}

impl<'a> Turns<'a> {
    /// Turns from these rows, by process.
    pub fn new(claimed: &'a Claimed<'a>, rows: Vec<Rows<'a>>) -> Self {
        let (options, seen) = (FxHashMap::default(), FxHashMap::default());
        let joints = Joints::new(Movers::all(claimed.model()));
        Turns { numbering: &claimed.numbering, rows, stepper: Stepper::new(claimed), joints, options, seen }
    }

    /// The rows of a process.
    pub fn rows(&self, process: ProcessId) -> &Rows<'a> {
        &self.rows[process.index()]
    }

    /// Whether a column is part of the store.
    pub fn is_of_store(&self, column: Column) -> bool {
        self.rows.first().is_some_and(|rows| rows.store_columns.contains(&column))
    }

    /// Whether a process has no step by itself at a row, so that it stutters unless it has a rendezvous.
    pub fn waits(&mut self, process: ProcessId, row: u32) -> Outcome<bool> {
        Ok(self.options(process, row)?.waits)
    }

    /// The turns of a process by itself from one of its rows.
    pub fn own(&mut self, process: ProcessId, row: u32) -> Outcome<Taken> {
        Ok(self.options(process, row)?.turns)
    }

    /// The turns of a process from any of its rows with the store of this row of another, which sees what becomes of the store.
    pub fn seen(&mut self, mover: ProcessId, focus: ProcessId, row: u32) -> Outcome<Taken> {
        let store = self.rows(focus).stores[row as usize];
        if let Some(taken) = self.seen.get(&(mover, store)) {
            return Ok(Rc::clone(taken));
        }
        let mut found = FxHashSet::default();
        let mut taken = Vec::new();
        for row in self.rows(mover).with_store(store).to_vec() {
            let turns = self.own(mover, row)?;
            let is_seen = |(column, _): &&(Column, u32)| self.rows(mover).store_columns.contains(column);
            for (turn, changes) in turns.iter() {
                let seen: Vec<(Column, u32)> = changes.iter().filter(is_seen).copied().collect();
                if found.insert((turn.clone(), seen.clone())) {
                    taken.push((turn.clone(), seen));
                }
            }
        }
        let taken = Rc::new(taken);
        self.seen.insert((mover, store), Rc::clone(&taken));
        Ok(taken)
    }

    /// Whether a process has an enabled step by itself from a row, other than leaving `idle`, that carries one of the labels, if there are any.
    pub fn is_able(&mut self, process: ProcessId, row: u32, labels: Option<&[String]>) -> Outcome<bool> {
        let enabled = self.options(process, row)?.enabled;
        let counts = |by: &Move| {
            let action = &self.numbering.model.actions[by.action];
            !matches!(action.kind, ActionKind::Idle)
                && labels.is_none_or(|labels| action.labels.iter().any(|label| labels.contains(label)))
        };
        Ok(enabled.iter().any(counts))
    }

    fn options(&mut self, process: ProcessId, row: u32) -> Outcome<Options> {
        if let Some(options) = self.options.get(&(process, row)) {
            return Ok(options.clone());
        }
        let rows = &self.rows[process.index()];
        let view = View { columns: &rows.positions, row: &rows.list[row as usize] };
        let attempts = self.stepper.attempts(Movers::One(process), view)?;
        let mut turns = Vec::new();
        for stepped in &attempts.steps {
            let changes = self.stepper.changes(stepped, view).or_else(|what| {
                let step = words::step(self.numbering, &stepped.by);
                words::refused(
                    format!("steps of {} have to stay within what is listed", name(self.numbering.model, process)),
                    format!("{step} from {} {what}", self.stepper.show(view)),
                )
            })?;
            turns.push((Turn::Step(stepped.by.clone()), changes));
        }
        let is_idle = self.is_idle(process, view);
        let has_partners = !self.joints.partners(process).is_empty();
        if is_idle || !attempts.any() && !has_partners {
            turns.push((Turn::StandStill(process), Vec::new()));
        }
        let waits = !is_idle && !attempts.any() && has_partners;
        let failing = attempts.faults.iter().map(|(by, _)| by.clone());
        let enabled = attempts.steps.iter().map(|stepped| stepped.by.clone()).chain(failing).collect();
        let options = Options { turns: Rc::new(turns), enabled: Rc::new(enabled), waits };
        self.options.insert((process, row), options.clone());
        Ok(options)
    }

    fn is_idle(&self, process: ProcessId, view: View<'_>) -> bool {
        let point = view.get(Column::Control(process)).expect("a member has the control of its process");
        let place = self.numbering.points(process)[point as usize].place;
        let model = self.numbering.model;
        model.places[place].actions.iter().any(|&action| matches!(model.actions[action].kind, ActionKind::Idle))
    }
}
