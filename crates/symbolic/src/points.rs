//! Control points as numbers: the places of each process with the values of its loop counters there.
//!
//! In: a Model without procedures. Out: for each process its points (`model::points`), where each action leads from each, and the
//! cells of the counters. A point is one number in a state, so counters are constants in everything that is built from it.

use std::collections::HashMap;

use base::{Feature, StopReason, Unsupported};
use model::Model;
use model::control::{ActionId, PlaceId};
use model::eval::State;
use model::points::PointTarget;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

/// A process with more points than this is refused.
const MOST_POINTS: usize = 1 << 16;

/// The points of all processes.
#[derive(Clone)]
pub struct SymbolicPoints(Vec<ProcessPoints>);

/// The points of one process.
#[derive(Clone)]
pub struct ProcessPoints {
    list: Vec<SymbolicPoint>,
    numbers: HashMap<(PlaceId, Vec<(CellId, Value)>), usize>,
    entry: usize,
}

/// A control location.
#[derive(Clone, Debug)]
pub struct SymbolicPoint {
    /// The place.
    pub place: PlaceId,
    /// The loop counters of the process, each with its value.
    pub counters: Vec<(CellId, Value)>,
    /// The actions that leave it, and where they lead; `None` where the bounds of a loop are a fault.
    pub exits: Vec<(ActionId, Option<usize>)>,
}

impl SymbolicPoints {
    /// The points of every process.
    pub fn new(model: &Model) -> Result<Self, StopReason> {
        model
            .processes
            .ids()
            .map(|process| ProcessPoints::new(model, process))
            .collect::<Result<_, _>>()
            .map(SymbolicPoints)
    }

    /// The points of a process.
    pub fn of(&self, process: ProcessId) -> &ProcessPoints {
        &self.0[process.index()]
    }
}

impl ProcessPoints {
    fn new(model: &Model, process: ProcessId) -> Result<Self, StopReason> {
        let Some(found) = model::points::Points::of(model, process, MOST_POINTS) else {
            return Err(Unsupported::about(Feature::LongLoops, &model.processes[process].name).into());
        };
        let number = |target: &PointTarget| match target {
            PointTarget::Point(point) => Some(point.index()),
            PointTarget::Return | PointTarget::Fault(_) => None,
        };
        let list: Vec<SymbolicPoint> = (found.points.iter())
            .map(|point| SymbolicPoint {
                place: point.place,
                counters: (point.counters.iter())
                    .map(|(&var, &value)| {
                        let mut cells = model.cells_of(var, Some(process));
                        (cells.next().expect("a counter is one cell"), value)
                    })
                    .collect(),
                exits: point.exits.iter().map(|exit| (exit.action, number(&exit.target))).collect(),
            })
            .collect();
        let numbers = list.iter().enumerate().map(|(at, point)| ((point.place, point.counters.clone()), at)).collect();
        let entry = number(&found.entry).expect("front-ends refuse faulty bounds at the start");
        Ok(ProcessPoints { list, numbers, entry })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The point with this number.
    pub fn point(&self, number: usize) -> &SymbolicPoint {
        &self.list[number]
    }

    /// Where the process starts.
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// The numbers of the points at one of the places.
    pub fn at_places(&self, places: &[PlaceId]) -> Vec<u64> {
        (0..self.list.len()).filter(|&number| places.contains(&self.list[number].place)).map(|at| at as u64).collect()
    }

    /// The number of the point of a process of this text in a state.
    pub fn number_in(&self, state: &State, process: ProcessId) -> usize {
        let counters = self.list[0].counters.iter().map(|&(cell, _)| (cell, state.cells[cell.index()])).collect();
        self.numbers[&(state.place(process), counters)]
    }
}
