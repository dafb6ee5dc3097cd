//! What a permutation of processes makes of a state, from the definition of states.
//!
//! In: a state, where each process goes, and the dimensions of arrays whose elements go where processes go. Out: the state in which
//! every process has the part of the one that went there: its cells and stack, its elements of these dimensions, and its name in
//! the values that name processes.

use std::collections::BTreeMap;

use model::Model;
use model::eval::State;
use model::process::{FamilyId, ProcessId};
use model::types::Type;
use model::value::Value;
use model::variable::{Storage, VarId};

/// The dimensions of arrays whose elements go where the processes of a family go.
pub type Dimensions = BTreeMap<(VarId, usize), FamilyId>;

/// The image of a state, in which each process is in the local state of the one that `goes` to it. Arrays in frames are left as they are.
pub fn permuted(model: &Model, dimensions: &Dimensions, goes: impl Fn(ProcessId) -> ProcessId, state: &State) -> State {
    let value = |value: Value| match value {
        Value::Process(id) => Value::Process(goes(id)),
        value => value,
    };
    let mut image = state.clone();
    for (id, var) in model.vars.entries() {
        let owners: Vec<Option<ProcessId>> = match var.storage {
            Storage::Shared => vec![None],
            Storage::Public(owner) | Storage::Local(owner) => model.families[owner].processes().map(Some).collect(),
            Storage::Frame(_) => continue,
        };
        let rename = |dimension: usize, index: usize| match dimensions.get(&(id, dimension)) {
            Some(&family) => {
                let process = model.families[family].process_at(index as i64).expect("there is one for each element");
                model.processes[goes(process)].index as usize
            }
            None => index,
        };
        for owner in owners {
            let to: Vec<_> = model.cells_of(id, owner.map(&goes)).collect();
            for (at, cell) in model.cells_of(id, owner).enumerate() {
                let target = to[renamed_offset(&var.ty, at, rename)];
                image.cells[target.index()] = value(state.cells[cell.index()]);
            }
        }
    }
    for process in model.processes.ids() {
        let mut stack = state.stacks[process.index()].clone();
        stack.iter_mut().flat_map(|frame| &mut frame.slots).for_each(|slot| *slot = value(*slot));
        image.stacks[goes(process).index()] = stack;
    }
    image
}

/// The element that an element becomes when its index in each dimension is renamed.
fn renamed_offset(ty: &Type, at: usize, rename: impl Fn(usize, usize) -> usize) -> usize {
    let dimensions = ty.dimensions();
    let mut rest = at;
    let mut indices = Vec::new();
    for len in dimensions.iter().rev() {
        indices.push(rest % len);
        rest /= len;
    }
    indices.reverse();
    let renamed = indices.iter().enumerate().map(|(dimension, &index)| rename(dimension, index));
    renamed.zip(&dimensions).fold(0, |offset, (index, len)| offset * len + index)
}
