//! Races: a quick test that rules them out in most states.
//!
//! For each step the cells of the variable that it may read or write are known beforehand, a superset of those that it does
//! touch. Where no two processes have enabled steps that may touch one cell, one of them writing, there is no race. In the
//! few other states `eval::race` decides.

use model::eval;
use model::process::ProcessId;
use model::variable::{CellId, VarId};

use crate::machine::{Machine, Scratch};
use crate::packing::Packed;

/// A cell that a step may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MayTouch {
    /// The cell.
    pub cell: CellId,
    /// Whether it may write it.
    pub writes: bool,
}

/// What each step may touch of one variable.
#[derive(Debug, Default)]
pub struct RaceWatch {
    /// By position in `Code::steps`.
    pub touches: Vec<Vec<MayTouch>>,
    /// By process and control point: whether some step there may touch the variable.
    pub concerned: Vec<Vec<bool>>,
}

impl RaceWatch {
    /// Whether there is a race in the state.
    pub fn is_race<const W: usize>(
        &self,
        var: VarId,
        state: &Packed<W>,
        machine: &Machine<'_>,
        scratch: &Scratch<W>,
    ) -> bool {
        let is_concerned = |process: &ProcessId| {
            let point = machine.codec.layout.control[process.index()].raw(state) as usize;
            self.concerned[process.index()][point]
        };
        let processes = (0..self.concerned.len()).map(ProcessId::new);
        // A step that goes on touches more than its first action does.
        let is_chained = |process: ProcessId| machine.point(process, state).chains;
        let is_chained = processes.clone().any(is_chained);
        if !is_chained && processes.clone().filter(is_concerned).take(2).count() < 2 {
            return false;
        }
        let mut touched: Vec<(ProcessId, MayTouch)> = Vec::new();
        for process in processes.filter(is_concerned) {
            for step in machine.steps_that_may_be_enabled(process, state, scratch) {
                touched.extend(self.touches[step].iter().map(|&touch| (process, touch)));
            }
        }
        let conflict = |a: &(ProcessId, MayTouch), b: &(ProcessId, MayTouch)| {
            a.0 != b.0 && a.1.cell == b.1.cell && (a.1.writes || b.1.writes)
        };
        let may_race = is_chained
            || touched.iter().enumerate().any(|(at, one)| touched[..at].iter().any(|other| conflict(one, other)));
        may_race && eval::race(machine.codec.model, &machine.codec.unpack(state), var).is_some()
    }
}
