//! What it takes to set a program up: the room is asked for before any of it is taken.
//!
//! In: a Model and what may be used. Out: whether it has room. An engine copies a program, and lays out every cell of it, before it looks at a limit for the first time; with
//! hundreds of thousands of cells that is faster than the thread that watches the size of the process. So it is reckoned by the cell.

use base::{Budget, StopReason};
use engine::{Answer, Task};
use model::Model;

/// What an engine takes for a cell until it looks at its limits, a copy of the program included (measured on arrays of 100 000 to 400 000 cells: 400 bytes by a search of the whole product, 600 with decision
/// diagrams).
const BYTES_OF_CELL: u64 = 600;

/// Of smaller programs nothing is asked: what they take is seen in time.
const FEWEST_CELLS: usize = 10_000;

/// The limit that is reached where a program is set up once more.
pub(crate) fn room_for(model: &Model, budget: &Budget) -> Result<(), StopReason> {
    match model.cells.len() {
        few if few < FEWEST_CELLS => Ok(()),
        many => budget.check_growth(0, many as u64 * BYTES_OF_CELL),
    }
}

/// The answers of an engine that has no room to be set up.
pub(crate) fn refused(task: &Task<'_>) -> Option<Vec<Answer>> {
    room_for(task.model, &task.budget).err().map(|reason| task.undecided(&reason))
}
