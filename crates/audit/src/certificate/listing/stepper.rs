//! Steps from view states, taken by `eval`.
//!
//! In: a view state of some processes, and the movers. Out: the changes that the steps make, the faults, and what is touched.
//! The state that `eval` works on is filled arbitrarily where the view says nothing; the footprint of the attempt shows
//! whether that could matter, and then the view is refused. What was once computed is used again for every view state that
//! agrees on the footprint: `eval` is deterministic in what it reads.

use std::rc::Rc;

use evidence::certificate::Column;
use model::eval::{Control, Frame, Move, State, StepFault, Touch, initial_states, local_attempts_up_to};
use model::process::ProcessId;
use model::variable::CellId;
use rustc_hash::FxHashMap;

use crate::certificate::claimed::{Claimed, column_name, names};
use crate::certificate::movers::Movers;
use crate::certificate::numbering::Numbering;
use crate::certificate::words;
use crate::certificate::{CertificateError, MOST_ATTEMPTS, Outcome};

/// What comes of the movers' attempts to step.
#[derive(Clone, Debug, Default)]
pub(in crate::certificate) struct Attempts {
    /// The steps that have a successor.
    pub steps: Vec<Stepped>,
    /// The steps that fail.
    pub faults: Vec<(Move, StepFault)>,
    /// For each step, faulty or not, the cells that it touches.
    pub touches: Vec<Vec<Touch>>,
}

impl Attempts {
    /// Whether the movers have an enabled step; a faulty one is enabled.
    pub fn any(&self) -> bool {
        !self.touches.is_empty()
    }
}

/// A step, by what it does to the parts of a view state.
#[derive(Clone, Debug)]
pub(in crate::certificate) struct Stepped {
    /// The processes that step, and how.
    pub by: Move,
    /// The cells that it writes, with their new numbers.
    writes: Vec<(CellId, u32)>,
    /// The control points of the movers afterwards; `None` where the certificate lists no such point.
    points: Vec<(ProcessId, Option<u32>)>,
}

/// A view state to step from: the position of each column in the row.
#[derive(Clone, Copy)]
pub(in crate::certificate) struct View<'v> {
    pub columns: &'v FxHashMap<Column, usize>,
    pub row: &'v [u32],
}

impl View<'_> {
    /// The number of a column, if it is in the view.
    pub fn get(&self, column: Column) -> Option<u32> {
        self.columns.get(&column).map(|&at| self.row[at])
    }
}

/// Takes steps.
pub(in crate::certificate) struct Stepper<'a> {
    numbering: &'a Numbering<'a>,
    /// The state that `eval` works on. Processes that the view does not place have ended.
    state: State,
    /// The processes that are placed.
    placed: Vec<ProcessId>,
    /// What is known, by movers and their control points.
    known: FxHashMap<(Movers, Vec<u32>), Vec<Pattern>>,
}

/// Attempts that read the same columns.
struct Pattern {
    /// What was read or changed.
    columns: Vec<Column>,
    /// What came of it, by the numbers in these columns.
    attempts: FxHashMap<Vec<u32>, Rc<Attempts>>,
}

impl<'a> Stepper<'a> {
    /// A stepper for view states of the invariant.
    pub fn new(claimed: &'a Claimed<'a>) -> Self {
        let mut state = initial_states(claimed.model()).next().expect("a program has an initial state");
        for process in claimed.model().processes.ids() {
            park(&claimed.numbering, &mut state, process);
        }
        Stepper { numbering: &claimed.numbering, state, placed: Vec::new(), known: FxHashMap::default() }
    }

    /// The attempts of the movers, whose control is in the view, to step from it.
    pub fn attempts(&mut self, movers: Movers, view: View<'_>) -> Outcome<Rc<Attempts>> {
        let points = movers
            .processes()
            .into_iter()
            .map(|process| view.get(Column::Control(process)).expect("the movers are among the processes of the view"));
        let key = (movers, points.collect::<Vec<u32>>());
        if let Some(patterns) = self.known.get(&key) {
            for pattern in patterns {
                let numbers: Option<Vec<u32>> = pattern.columns.iter().map(|&column| view.get(column)).collect();
                if let Some(attempts) = numbers.and_then(|numbers| pattern.attempts.get(&numbers)) {
                    return Ok(attempts.clone());
                }
            }
        }
        let (columns, attempts) = self.evaluate(movers, view)?;
        let numbers = columns.iter().map(|&column| view.get(column).expect("what is touched is in the view")).collect();
        let attempts = Rc::new(attempts);
        let patterns = self.known.entry(key).or_default();
        let at = patterns.iter().position(|pattern| pattern.columns == columns).unwrap_or_else(|| {
            patterns.push(Pattern { columns, attempts: FxHashMap::default() });
            patterns.len() - 1
        });
        patterns[at].attempts.insert(numbers, attempts.clone());
        Ok(attempts)
    }

    fn evaluate(&mut self, movers: Movers, view: View<'_>) -> Outcome<(Vec<Column>, Attempts)> {
        self.load(view);
        let model = self.numbering.model;
        let Some((steps, footprint)) = local_attempts_up_to(model, &self.state, movers.leader(), MOST_ATTEMPTS) else {
            let what = format!("a step chooses from more than {MOST_ATTEMPTS} values, which are not listed");
            return Err(CertificateError::NotSupported(what));
        };
        let is_counter = |cell: CellId| {
            let owner = model.cells[cell].owner;
            owner.is_some_and(|owner| {
                view.get(Column::Control(owner))
                    .is_some_and(|point| self.numbering.counter_at(owner, point, cell).is_some())
            })
        };
        let cells = footprint.cells.into_iter().filter(|&cell| !is_counter(cell)).map(Column::Cell);
        let looked_at: Vec<Column> = cells.chain(footprint.places.into_iter().map(Column::Control)).collect();
        if let Some(&hidden) = looked_at.iter().find(|column| view.get(**column).is_none()) {
            let movers = names(model, &movers.processes());
            let finding = format!("a step of {movers} touches it from {}", self.show(view));
            return words::refused(format!("the view of {movers} has to have {}", column_name(model, hidden)), finding);
        }
        let mut attempts = Attempts::default();
        for (step, touches) in steps.into_iter().filter(|(step, _)| movers.make(&step.by)) {
            match step.result {
                Ok(after) => attempts.steps.push(self.stepped(movers, step.by, &after, &touches)),
                Err(fault) => attempts.faults.push((step.by, fault)),
            }
            attempts.touches.push(touches);
        }
        Ok((looked_at, attempts))
    }

    fn stepped(&self, movers: Movers, by: Move, after: &State, touches: &[Touch]) -> Stepped {
        let mut written: Vec<CellId> = touches.iter().filter(|touch| touch.writes).map(|touch| touch.cell).collect();
        written.sort_unstable();
        written.dedup();
        let number = |cell: CellId| self.numbering.number_of(cell, after.cells[cell.index()]);
        let writes = written.into_iter().map(|cell| (cell, number(cell))).collect();
        let points = movers.processes().into_iter().map(|mover| (mover, self.numbering.point_of(mover, after)));
        Stepped { by, writes, points: points.collect() }
    }

    /// The parts of the view that the step changes, with their new numbers; an error in words where a mover comes to a local
    /// state that the certificate does not list.
    pub fn changes(&self, stepped: &Stepped, view: View<'_>) -> Result<Vec<(Column, u32)>, String> {
        let model = self.numbering.model;
        let mut changes: Vec<(Column, u32)> = Vec::new();
        for &(cell, number) in &stepped.writes {
            changes.push((Column::Cell(cell), number));
        }
        for &(mover, point) in &stepped.points {
            let mover_name = &model.processes[mover].name;
            let Some(point) = point else {
                return Err(format!("leads {mover_name} to a control point that is not listed"));
            };
            let number = |cell: CellId| {
                let written = stepped.writes.iter().find(|(written, _)| *written == cell).map(|(_, number)| *number);
                written.or_else(|| view.get(Column::Cell(cell))).expect("a member has the cells of its processes")
            };
            let Some(block) = self.numbering.block_at(mover, point, number) else {
                return Err(format!("leads {mover_name} to a local state that is in no exposed block"));
            };
            changes.push((Column::Control(mover), point));
            changes.push((Column::Exposed(mover), block));
        }
        changes.retain(|&(column, number)| view.get(column).is_some_and(|before| before != number));
        changes.sort_unstable();
        Ok(changes)
    }

    /// The view in the user's words.
    pub fn show(&self, view: View<'_>) -> String {
        let mut columns: Vec<(usize, Column)> = view.columns.iter().map(|(&column, &at)| (at, column)).collect();
        columns.sort_unstable();
        let (row, columns): (Vec<u32>, Vec<Column>) =
            columns.iter().map(|&(at, column)| (view.row[at], column)).unzip();
        words::view(self.numbering, &columns, &row)
    }

    /// A state that looks like the view, for evaluating expressions in it.
    pub fn state(&mut self, view: View<'_>) -> &mut State {
        self.load(view);
        &mut self.state
    }

    fn load(&mut self, view: View<'_>) {
        for process in std::mem::take(&mut self.placed) {
            park(self.numbering, &mut self.state, process);
        }
        for (&column, &at) in view.columns {
            let number = view.row[at];
            match column {
                Column::Cell(cell) => self.state.cells[cell.index()] = self.numbering.value_of(cell, number),
                Column::Control(process) => {
                    let point = &self.numbering.points(process)[number as usize];
                    self.state.stacks[process.index()] =
                        vec![Frame { control: Control::At(point.place), slots: vec![] }];
                    for &(counter, value) in &point.counters {
                        self.state.cells[counter.index()] = value;
                    }
                    self.placed.push(process);
                }
                Column::Exposed(_) => {}
            }
        }
    }
}

/// Puts a process where it cannot take part in any step.
fn park(numbering: &Numbering<'_>, state: &mut State, process: ProcessId) {
    let family = &numbering.model.families[numbering.model.processes[process].family];
    state.stacks[process.index()] = vec![Frame { control: Control::At(family.end), slots: Vec::new() }];
}
