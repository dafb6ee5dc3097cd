//! Path edges as a certificate: plain data in the terms of the Model.

use std::collections::HashMap;

use base::{Feature, StopReason, Unsupported};
use evidence::pushdown::{Activation, ExposedFact, LocalRow, PushdownProof, StoreRow, ThreadProof, WaitingCall};
use model::control::TextOwner;
use model::eval::Frame;
use model::process::ProcessId;
use model::variable::CellId;

use crate::saturate::Saturation;
use crate::thread::{LocalStateId, Thread};
use local::ids::StoreId;
use local::sets::views::ViewMasks;
use packed::packing::{Packed, numbers_fit, position};

/// Proofs with more path edges than this are not written: the checker could not verify them in time.
const MOST_PATH_EDGES: u64 = 50_000_000;

/// The path edges as a certificate.
///
/// # Errors
/// Where there are too many.
pub fn proof<const W: usize>(
    saturation: &Saturation<'_, W>,
    sight: &ViewMasks<W>,
    exposed: &[ExposedFact],
) -> Result<PushdownProof, StopReason> {
    if saturation.n_path_edges() > MOST_PATH_EDGES {
        return Err(Unsupported::about(Feature::LongProof, format!("{MOST_PATH_EDGES} path edges")).into());
    }
    let model = saturation.machine.codec.model;
    numbers_fit(model, model.vars.iter().map(|var| var.ty.scalar()))?;
    let cells: Vec<Vec<CellId>> = saturation.threads.iter().map(|thread| cells_of(saturation, sight, thread)).collect();
    let threads = (0..saturation.threads.len()).map(|at| {
        let seen_by_others =
            |cell: &CellId| cells.iter().enumerate().any(|(other, list)| other != at && list.contains(cell));
        let store = cells[at].iter().copied().filter(seen_by_others).collect();
        ThreadWriter { saturation, thread: &saturation.threads[at], cells: cells[at].clone(), store }.thread()
    });
    Ok(PushdownProof { exposed: exposed.to_vec(), threads: threads.collect() })
}

/// All that a process sees, and all that it owns.
fn cells_of<const W: usize>(saturation: &Saturation<'_, W>, sight: &ViewMasks<W>, thread: &Thread<W>) -> Vec<CellId> {
    let model = saturation.machine.codec.model;
    let declared = &model.processes[thread.process];
    let own = declared.first_cell..declared.first_cell + model.families[declared.family].n_cells;
    let mut cells: Vec<CellId> = sight.of[thread.process.index()].cells.iter().copied().collect();
    cells.extend(own.map(CellId::new));
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Writes one process.
struct ThreadWriter<'a, const W: usize> {
    saturation: &'a Saturation<'a, W>,
    thread: &'a Thread<W>,
    cells: Vec<CellId>,
    store: Vec<CellId>,
}

impl<const W: usize> ThreadWriter<'_, W> {
    fn thread(self) -> ThreadProof {
        let process = self.thread.process;
        let codec = self.saturation.machine.codec;
        let mut tops: Vec<Frame> = Vec::new();
        let mut top_index: HashMap<Frame, u32> = HashMap::new();
        let mut by_local: Vec<Option<u32>> = vec![None; self.thread.locals.len()];
        let mut states = Vec::with_capacity(self.thread.states.len());
        for state in 0..self.thread.states.len() {
            let row = self.thread.row(LocalStateId::new(state));
            let local = self.thread.states[state].1.index();
            let top = *by_local[local].get_or_insert_with(|| {
                let mut unpacked = codec.unpack(&row);
                let frame = unpacked.stacks[process.index()].pop().expect("there is a top frame");
                *top_index.entry(frame.clone()).or_insert_with(|| {
                    tops.push(frame);
                    tops.len() as u32 - 1
                })
            });
            let cells = self.numbers(&self.cells, &row, process);
            states.push(LocalRow { cells, exposed: self.saturation.exposed.bits_of(&row), top });
        }
        let (waiting, frames) = self.waiting();
        ThreadProof {
            tops,
            activations: self.activations(&frames),
            guarantee: self.guarantee(),
            waiting,
            states,
            cells: self.cells,
            store: self.store,
        }
    }

    /// The positions of the values of some cells. Counters that are part of control have the value that control says.
    fn numbers(&self, cells: &[CellId], row: &Packed<W>, process: ProcessId) -> Vec<u32> {
        let codec = self.saturation.machine.codec;
        let point = codec.plan.points[process.index()].point(codec.layout.control[process.index()].raw(row) as u32);
        let in_own_text = matches!(codec.model.places[point.place].scope, TextOwner::Family(_));
        cells
            .iter()
            .map(|&cell| {
                let declared = &codec.model.cells[cell];
                let folded = point.counters.iter().find(|(id, _)| {
                    in_own_text && declared.owner == Some(process) && codec.model.loops[*id].counter == declared.var
                });
                let number = match folded {
                    Some((_, value)) => packed::packing::encode(*value),
                    None => codec.layout.locations[cell.index()].0.get(row),
                };
                position(number, declared.ty, codec.model)
            })
            .collect()
    }

    /// The frames that wait, and the position of each by its number.
    fn waiting(&self) -> (Vec<WaitingCall>, HashMap<u32, u32>) {
        let (mut list, mut positions) = (Vec::new(), HashMap::new());
        let codec = self.saturation.machine.codec;
        for caller in self.thread.callers.iter().flatten() {
            positions.entry(caller.frame).or_insert_with(|| {
                let (frame, counters) = codec.waiting_frame(self.thread.process, caller.frame);
                list.push(WaitingCall { frame, counters });
                list.len() as u32 - 1
            });
        }
        (list, positions)
    }

    fn activations(&self, frames: &HashMap<u32, u32>) -> Vec<Activation> {
        let number = |state: LocalStateId| state.index() as u32;
        let entries = self.thread.entries.iter();
        let mut activations: Vec<Activation> = entries
            .zip(&self.thread.callers)
            .map(|(&entry, callers)| Activation {
                start: entry.map(number),
                states: Vec::new(),
                callers: callers.iter().map(|caller| (number(caller.from), frames[&caller.frame])).collect(),
            })
            .collect();
        for (state, reachable_in) in self.thread.reachable_in.iter().enumerate() {
            reachable_in.iter().for_each(|activation| activations[activation.index()].states.push(state as u32));
        }
        activations
    }

    fn guarantee(&self) -> Vec<(StoreRow, StoreRow)> {
        let row = |store: StoreId| {
            let row = self.thread.stores.row(store);
            let codec = self.saturation.machine.codec;
            let number = |&cell: &CellId| {
                let number = codec.layout.locations[cell.index()].0.get(row);
                position(number, codec.model.cells[cell].ty, codec.model)
            };
            StoreRow { cells: self.store.iter().map(number).collect(), exposed: self.saturation.exposed.bits_of(row) }
        };
        let mut pairs: Vec<(StoreRow, StoreRow)> =
            self.thread.guarantee.iter().map(|&(before, after)| (row(before), row(after))).collect();
        pairs.sort_unstable();
        pairs
    }
}
