//! What sums exclude: view states in which no reachable state is.
//!
//! In: additive invariants that were shown by an earlier fact, and a row of a split invariant, or a combination of rows. Out: whether some
//! sum cannot hold there, whatever is not shown. The two sides are compared by the least and the most that each part can weigh: a part that is
//! shown weighs what its table says; a process of which a block is shown weighs what one of its local states does that may be in the block; anything else
//! weighs one of the numbers of its table. A part that no table lists may weigh anything.

use std::collections::HashMap;

use evidence::certificate::{Column, LocalFact};
use evidence::propagation::{Additive, LocalWeight, ProcessWeights};
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

use super::numbering::Numbering;

/// The least and the most that something weighs; nothing where it may weigh anything.
type Span = Option<[i128; 2]>;

/// Sums that hold in every reachable state.
#[derive(Default)]
pub(super) struct Relative<'a> {
    sums: Vec<&'a Additive>,
}

/// A row, by its columns.
pub(super) struct Shown<'r> {
    pub numbering: &'r Numbering<'r>,
    pub columns: &'r dyn Fn(Column) -> Option<u32>,
}

impl<'a> Relative<'a> {
    /// What these exclude.
    pub fn new(sums: Vec<&'a Additive>) -> Self {
        Relative { sums }
    }

    /// Whether there are sums at all.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Whether some sum weighs a column.
    pub fn weighs(&self, column: Column) -> bool {
        self.sums.iter().any(|sum| {
            let of_process = |one: &ProcessWeights| match column {
                Column::Cell(cell) => one.cells.contains(&cell),
                Column::Control(process) | Column::Exposed(process) => one.process == process,
            };
            let is_cell = |cell: CellId| column == Column::Cell(cell);
            sum.cells.iter().any(|one| is_cell(one.cell))
                || sum.groups.iter().any(|one| one.cells.iter().any(|&cell| is_cell(cell)))
                || sum.processes.iter().any(of_process)
        })
    }

    /// Whether no reachable state shows this.
    pub fn excludes(&self, row: &Shown<'_>) -> bool {
        self.sums.iter().any(|sum| row.excluded_by(sum))
    }
}

impl Shown<'_> {
    fn excluded_by(&self, sum: &Additive) -> bool {
        let mut difference = [i128::from(sum.constant); 2];
        for one in &sum.cells {
            let table: Vec<(&[Value], i64)> =
                one.weights.iter().map(|(value, weight)| (std::slice::from_ref(value), *weight)).collect();
            let Some([least, most]) = self.cells_weigh(&[one.cell], &table) else { return false };
            difference = [difference[0] + least, difference[1] + most];
        }
        for one in &sum.groups {
            let table: Vec<(&[Value], i64)> =
                one.weights.iter().map(|(values, weight)| (&values[..], *weight)).collect();
            let Some([least, most]) = self.cells_weigh(&one.cells, &table) else { return false };
            difference = [difference[0] + least, difference[1] + most];
        }
        for one in &sum.processes {
            let Some([least, most]) = self.process_weighs(one) else { return false };
            difference = [difference[0] - most, difference[1] - least];
        }
        difference[0] > 0 || difference[1] < 0
    }

    /// What some cells weigh together: those entries that agree with what is shown of them.
    fn cells_weigh(&self, cells: &[CellId], table: &[(&[Value], i64)]) -> Span {
        let shown: Vec<Option<Value>> = cells.iter().map(|&cell| self.value(cell)).collect();
        // Parts of several cells that are shown in part count as hidden.
        let is_whole = shown.iter().all(Option::is_some);
        let agrees = |values: &[Value]| !is_whole || values.iter().zip(&shown).all(|(one, other)| Some(*one) == *other);
        span(table.iter().filter(|(values, _)| agrees(values)).map(|(_, weight)| *weight))
    }

    fn process_weighs(&self, one: &ProcessWeights) -> Span {
        let shown: Vec<Option<Value>> = one.cells.iter().map(|&cell| self.value(cell)).collect();
        let point = (self.columns)(Column::Control(one.process));
        if let (Some(point), Some(values)) = (point, shown.into_iter().collect::<Option<Vec<Value>>>()) {
            let place = self.numbering.points(one.process)[point as usize].place;
            let is_it = |local: &&LocalWeight| local.place == place && local.values == values;
            return span(one.weights.iter().filter(is_it).map(|local| local.weight));
        }
        match (self.columns)(Column::Exposed(one.process)) {
            Some(block) if self.numbering.is_exposed(one.process) => {
                let block = self.numbering.block(one.process, block);
                span(one.weights.iter().filter(|local| self.may_be_in(one, local, block)).map(|local| local.weight))
            }
            _ => span(one.weights.iter().map(|local| local.weight)),
        }
    }

    /// Whether some local state with this place and these values may be one of which these facts hold.
    fn may_be_in(&self, of: &ProcessWeights, local: &LocalWeight, block: &[bool]) -> bool {
        let values: HashMap<CellId, Value> = of.cells.iter().copied().zip(local.values.iter().copied()).collect();
        let facts = self.numbering.facts(of.process);
        facts.iter().zip(block).all(|(fact, holds)| self.judged(of.process, fact, (local, &values)) != Some(!holds))
    }

    /// Whether a fact holds of all local states with a place and some values, or of none; nothing where it depends.
    fn judged(
        &self,
        process: ProcessId,
        fact: &LocalFact,
        local: (&LocalWeight, &HashMap<CellId, Value>),
    ) -> Option<bool> {
        match fact {
            LocalFact::Control(points) => {
                let all = self.numbering.points(process);
                let mut of_place = (0..all.len()).filter(|&point| all[point].place == local.0.place);
                let first = points.contains(&of_place.next()?);
                of_place.all(|point| points.contains(&point) == first).then_some(first)
            }
            LocalFact::Cell(cell, value) => local.1.get(cell).map(|shown| shown == value),
            LocalFact::OneOf(lists) => {
                let list = |facts: &Vec<LocalFact>| {
                    let judged: Vec<Option<bool>> =
                        facts.iter().map(|fact| self.judged(process, fact, local)).collect();
                    if judged.contains(&Some(false)) {
                        Some(false)
                    } else {
                        judged.iter().all(|one| *one == Some(true)).then_some(true)
                    }
                };
                let judged: Vec<Option<bool>> = lists.iter().map(list).collect();
                if judged.contains(&Some(true)) {
                    Some(true)
                } else {
                    judged.iter().all(|one| *one == Some(false)).then_some(false)
                }
            }
        }
    }

    /// The value of a cell, if the row shows it.
    fn value(&self, cell: CellId) -> Option<Value> {
        (self.columns)(Column::Cell(cell)).map(|number| self.numbering.value_of(cell, number))
    }
}

/// The least and the most; nothing where there are none, since what is not listed may be anything.
fn span(weights: impl Iterator<Item = i64>) -> Span {
    let weights: Vec<i128> = weights.map(i128::from).collect();
    Some([*weights.iter().min()?, *weights.iter().max()?])
}
