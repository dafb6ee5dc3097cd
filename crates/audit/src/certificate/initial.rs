//! Initial states, as far as some columns distinguish them.
//!
//! Cells start independently of each other, so the projection of the initial states is a product: one factor for each column,
//! but a process's exposed block belongs together with the cells that its facts are about.

use std::collections::{BTreeMap, BTreeSet};

use evidence::certificate::{Column, LocalFact};
use model::Model;
use model::eval::{State, initial_states, is_initial};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Init};

use super::numbering::{Numbering, name};

/// One factor of the initial states: some columns, by position, and the numbers that they can have together.
pub(super) struct Factor {
    pub positions: Vec<usize>,
    pub rows: BTreeSet<Vec<u32>>,
}

/// With what a column starts.
pub(super) enum Start {
    /// One number.
    At(u64),
    /// Any number of the column.
    Anywhere,
}

/// With what a control or a cell starts; an error in words where a process starts at a control point that is not in the proof.
pub(super) fn start_of(numbering: &Numbering<'_>, column: Column) -> Result<Start, String> {
    let model = numbering.model;
    let mut state = initial_states(model).next().expect("a program has an initial state");
    let Column::Cell(cell) = column else {
        return project(numbering, &state, column).map(|at| Start::At(u64::from(at)));
    };
    let value = state.cells[cell.index()];
    // A cell starts with one value, or with any: another one tells which.
    let other = model.cells[cell].ty.values(model.type_context()).find(|&other| other != value);
    let is_free = other.is_some_and(|other| {
        state.cells[cell.index()] = other;
        is_initial(model, &state)
    });
    Ok(if is_free { Start::Anywhere } else { Start::At(numbering.wide_number_of(cell, value)) })
}

/// The cells that the exposed facts of a process are about, its loop counters aside.
pub(super) fn fact_cells_of<'n>(
    numbering: &'n Numbering<'_>,
    process: ProcessId,
) -> impl Iterator<Item = CellId> + use<'n> {
    let own = numbering.own_cells(process);
    numbering.facts(process).iter().flat_map(fact_cells).filter(move |cell| own.contains(cell))
}

/// More initial states than this are not gone through one by one.
const MOST_STARTS: u128 = 1 << 22;

/// The factors; an error in words where an initial local state is not in the proof.
pub(super) fn factors(numbering: &Numbering<'_>, columns: &[Column]) -> Result<Vec<Factor>, String> {
    let model = numbering.model;
    let first = initial_states(model).next().expect("a program has an initial state");
    let mut groups: BTreeMap<Column, Vec<usize>> = BTreeMap::new();
    for (at, &column) in columns.iter().enumerate() {
        let block_about_it = |&other: &Column| match (column, other) {
            (Column::Cell(cell), Column::Exposed(process)) => {
                numbering.facts(process).iter().flat_map(fact_cells).any(|about| about == cell)
            }
            _ => false,
        };
        let key = columns.iter().copied().find(block_about_it).unwrap_or(column);
        groups.entry(key).or_default().push(at);
    }
    let factor = |positions: Vec<usize>| -> Result<Factor, String> {
        let mut cells: Vec<CellId> = Vec::new();
        for &at in &positions {
            match columns[at] {
                Column::Cell(cell) => cells.push(cell),
                Column::Control(_) => {}
                Column::Exposed(process) => cells.extend(numbering.facts(process).iter().flat_map(fact_cells)),
            }
        }
        cells.sort_unstable();
        cells.dedup();
        let free = cells.iter().filter(|&&cell| starts_anywhere(&model.vars[model.cells[cell].var].init));
        let n_starts = free.fold(1_u128, |n, &cell| n.saturating_mul(numbering.n_values(Column::Cell(cell)).max(1)));
        if n_starts > MOST_STARTS {
            return Err(format!("it can start in {n_starts} ways, which are more than are listed"));
        }
        let mut rows = BTreeSet::new();
        for_each_start(model, &first, &cells, &mut |state| {
            let row = positions.iter().map(|&at| project(numbering, state, columns[at]));
            rows.insert(row.collect::<Result<Vec<u32>, String>>()?);
            Ok(())
        })?;
        Ok(Factor { positions, rows })
    };
    groups.into_values().map(factor).collect()
}

/// The cells that a fact is about.
fn fact_cells(fact: &LocalFact) -> Vec<CellId> {
    let cell = |fact: &&LocalFact| if let LocalFact::Cell(cell, _) = fact { Some(*cell) } else { None };
    fact.plain().iter().filter_map(cell).collect()
}

/// The number of a column in a whole state.
fn project(numbering: &Numbering<'_>, state: &State, column: Column) -> Result<u32, String> {
    let point = |process: ProcessId| {
        let number = numbering.point_of(process, state);
        number.ok_or_else(|| format!("{} starts at a control point that is not listed", name(numbering.model, process)))
    };
    match column {
        Column::Cell(cell) => Ok(numbering.number_of(cell, state.cells[cell.index()])),
        Column::Control(process) => point(process),
        Column::Exposed(process) => {
            let number = |cell: CellId| numbering.number_of(cell, state.cells[cell.index()]);
            let block = numbering.block_at(process, point(process)?, number);
            block.ok_or_else(|| {
                format!("{} starts in a local state that is in no exposed block", name(numbering.model, process))
            })
        }
    }
}

/// Shows an initial state for each way in which these cells can start.
pub(super) fn for_each_start(
    model: &Model,
    first: &State,
    cells: &[CellId],
    show: &mut dyn FnMut(&State) -> Result<(), String>,
) -> Result<(), String> {
    let free = cells.iter().filter(|&&cell| starts_anywhere(&model.vars[model.cells[cell].var].init));
    let wheels: Vec<(CellId, Vec<Value>)> = free.map(|&cell| (cell, start_values(model, first, cell))).collect();
    turn(&wheels, &mut first.clone(), show)
}

fn turn(
    wheels: &[(CellId, Vec<Value>)],
    state: &mut State,
    show: &mut dyn FnMut(&State) -> Result<(), String>,
) -> Result<(), String> {
    let Some(((cell, values), rest)) = wheels.split_first() else { return show(state) };
    values.iter().try_for_each(|&value| {
        state.cells[cell.index()] = value;
        turn(rest, state, show)
    })
}

/// Whether some part of a variable may start anywhere.
fn starts_anywhere(init: &Init) -> bool {
    match init {
        Init::Any => true,
        Init::First | Init::Fill(_) => false,
        Init::Elements(elements) => elements.iter().any(starts_anywhere),
    }
}

/// The values with which a cell can start.
fn start_values(model: &Model, first: &State, cell: CellId) -> Vec<Value> {
    let mut state = first.clone();
    let starts = |value: &Value| {
        state.cells[cell.index()] = *value;
        is_initial(model, &state)
    };
    model.cells[cell].ty.values(model.type_context()).filter(starts).collect()
}
