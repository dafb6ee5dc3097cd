//! What a split invariant says, without its numbers: two that say the same have the same meaning, however their points are
//! numbered, their columns ordered and their sets represented.

use std::collections::BTreeMap;

use evidence::certificate::{Column, ControlPoint, LocalFact, Member, SplitInvariant, StateSet};
use model::Model;
use model::process::ProcessId;
use model::variable::CellId;

use super::{Combination, DefinedSets, ViewPart};

/// The sets of a well-formed split invariant. What a process exposes to itself follows from its local state and is left out,
/// and so are rows that say otherwise, and what a process without facts exposes.
pub fn meaning(model: &Model, invariant: &SplitInvariant) -> DefinedSets {
    let says = |member: &Member| {
        let state = |row: Vec<u32>| -> Option<Combination> {
            let numbered = member.columns.iter().copied().zip(row);
            let mut state: Combination =
                numbered.map(|(column, number)| (column, part(model, invariant, column, number))).collect();
            for &process in &member.processes {
                let block = ViewPart::Block(block(invariant, process, &state));
                let exposed = state.remove(&Column::Exposed(process));
                if exposed.is_some_and(|exposed| exposed != block) {
                    return None;
                }
            }
            state.retain(|column, _| match column {
                Column::Exposed(process) => !invariant.exposed[process.index()].facts.is_empty(),
                Column::Cell(_) | Column::Control(_) => true,
            });
            Some(state)
        };
        rows(model, invariant, member).into_iter().filter_map(state).collect()
    };
    invariant.members.iter().map(|member| (member.processes.clone(), says(member))).collect()
}

/// Which of a process's facts hold in its local state.
fn block(invariant: &SplitInvariant, process: ProcessId, state: &Combination) -> Vec<bool> {
    let Some(ViewPart::Point(here)) = state.get(&Column::Control(process)) else { return Vec::new() };
    let counter = |cell: CellId| here.counters.iter().find(|(counter, _)| *counter == cell).map(|(_, value)| *value);
    let holds = |fact: &LocalFact| match fact {
        LocalFact::Control(points) => points.iter().any(|&at| sorted(&invariant.points[process.index()][at]) == *here),
        LocalFact::Cell(cell, value) => match (counter(*cell), state.get(&Column::Cell(*cell))) {
            (Some(counter), _) => counter == *value,
            (None, part) => part == Some(&ViewPart::Value(*value)),
        },
        LocalFact::OneOf(_) => unreachable!("a plain fact is none of several"),
    };
    invariant.exposed[process.index()].facts.iter().map(|fact| fact.holds(&holds)).collect()
}

/// A point with its counters in order.
fn sorted(point: &ControlPoint) -> ControlPoint {
    let mut counters = point.counters.clone();
    counters.sort_unstable();
    ControlPoint { place: point.place, counters }
}

fn part(model: &Model, invariant: &SplitInvariant, column: Column, number: u32) -> ViewPart {
    let at = number as usize;
    match column {
        Column::Cell(cell) => {
            let value = model.cells[cell].ty.values(model.type_context()).nth(at);
            ViewPart::Value(value.expect("numbers are in range"))
        }
        Column::Control(process) => ViewPart::Point(sorted(&invariant.points[process.index()][at])),
        Column::Exposed(process) => {
            ViewPart::Block(invariant.exposed[process.index()].blocks.get(at).cloned().unwrap_or_default())
        }
    }
}

/// How many numbers each column of a member has.
pub fn sizes(model: &Model, invariant: &SplitInvariant, member: &Member) -> Vec<usize> {
    let size = |column: &Column| match column {
        Column::Cell(cell) => model.cells[*cell].ty.n_values(model.type_context()) as usize,
        Column::Control(process) => invariant.points[process.index()].len(),
        Column::Exposed(process) => invariant.exposed[process.index()].blocks.len().max(1),
    };
    member.columns.iter().map(size).collect()
}

/// The rows of a member, also where it is symbolic.
pub fn rows(model: &Model, invariant: &SplitInvariant, member: &Member) -> Vec<Vec<u32>> {
    match &member.states {
        StateSet::Rows(rows) => rows.clone(),
        StateSet::Diagram { order, nodes } => {
            let sizes = sizes(model, invariant, member);
            let mut rows: Vec<Vec<u32>> = Vec::new();
            let every = sizes.iter().fold(vec![vec![]], |rows: Vec<Vec<u32>>, &size| {
                rows.iter().flat_map(|row| (0..size as u32).map(|at| [row.as_slice(), &[at]].concat())).collect()
            });
            for row in every {
                let mut at = if nodes.is_empty() { 1 } else { nodes.len() as u32 + 1 };
                while at > 1 {
                    let (position, low, high) = nodes[at as usize - 2];
                    let (column, bit) = order[position as usize];
                    let is_set = row[column] >> (n_bits(sizes[column]) - 1 - bit) & 1 == 1;
                    at = if is_set { high } else { low };
                }
                if at == 1 {
                    rows.push(row);
                }
            }
            rows
        }
    }
}

/// The same set as a reduced diagram, with the columns' bits in this order of columns.
pub fn drawn(sizes: &[usize], rows: &[Vec<u32>], columns: &[usize]) -> StateSet {
    let bits = |&column: &usize| (0..n_bits(sizes[column])).map(move |bit| (column, bit));
    let order: Vec<(usize, u32)> = columns.iter().flat_map(bits).collect();
    let mut drawing = DrawnChoice { sizes, order: &order, nodes: Vec::new(), known: BTreeMap::new() };
    let root = drawing.node(0, &rows.iter().collect::<Vec<_>>());
    assert!(root != 0, "an empty set cannot be drawn");
    let nodes = drawing.nodes;
    StateSet::Diagram { order, nodes }
}

struct DrawnChoice<'d> {
    sizes: &'d [usize],
    order: &'d [(usize, u32)],
    nodes: Vec<(u32, u32, u32)>,
    known: BTreeMap<(u32, u32, u32), u32>,
}

impl DrawnChoice<'_> {
    fn node(&mut self, level: usize, rows: &[&Vec<u32>]) -> u32 {
        let Some(&(column, bit)) = self.order.get(level) else { return u32::from(!rows.is_empty()) };
        if rows.is_empty() {
            return 0;
        }
        let shift = n_bits(self.sizes[column]) - 1 - bit;
        let (high, low): (Vec<&Vec<u32>>, Vec<&Vec<u32>>) = rows.iter().partition(|row| row[column] >> shift & 1 == 1);
        let (low, high) = (self.node(level + 1, &low), self.node(level + 1, &high));
        if low == high {
            return low;
        }
        let node = (level as u32, low, high);
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 + 1
        })
    }
}

fn n_bits(size: usize) -> u32 {
    usize::BITS - size.saturating_sub(1).leading_zeros()
}
