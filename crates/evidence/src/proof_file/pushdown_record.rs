//! Path edges, callers and guarantees as the file has them.

use model::Model;
use model::control::{ActionId, ProcedureId, TextOwner};
use model::eval::{Control, Frame};
use model::process::ProcessId;
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::CellId;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::read::{ProofReader, text};
use super::record::NamedId;
use crate::itf::value::{from_json, scalar_to_json};
use crate::pushdown::{
    Activation, ExposedFact, LocalPart, LocalRow, PushdownProof, StoreRow, ThreadProof, WaitingCall,
};

/// The claim of a proof with procedures.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PushdownRecord {
    exposed: Vec<ExposedRecord>,
    processes: Vec<ThreadRecord>,
}

/// A fact that all processes see.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExposedRecord {
    /// A process is at one of these places.
    At(NamedId, Vec<NamedId>),
    /// A cell of a process has one of these values.
    Cell(NamedId, NamedId, Vec<Json>),
    /// The top frame of a process is that of a procedure, and the slot at this position has one of these values.
    Slot(NamedId, NamedId, usize, Vec<Json>),
}

/// One process. A local state is a row: its cells, what is exposed, its top frame.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadRecord {
    process: NamedId,
    cells: Vec<NamedId>,
    store: Vec<NamedId>,
    tops: Vec<FrameRecord>,
    waiting: Vec<WaitingRecord>,
    states: Vec<Vec<u64>>,
    activations: Vec<ActivationRecord>,
    guarantee: Vec<(Vec<u64>, Vec<u64>)>,
}

/// A frame.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<NamedId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calling: Option<NamedId>,
    slots: Vec<Json>,
}

/// A frame that waits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingRecord {
    frame: FrameRecord,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counters: Vec<(NamedId, Json)>,
}

/// An activation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActivationRecord {
    start: Option<u32>,
    states: Vec<u32>,
    callers: Vec<(u32, u32)>,
}

impl PushdownRecord {
    /// The record of a proof that fits the Model.
    pub fn new(model: &Model, proof: &PushdownProof) -> Self {
        let writer = PushdownWriter { model };
        let threads = model.processes.ids().zip(&proof.threads);
        PushdownRecord {
            exposed: proof.exposed.iter().map(|fact| writer.exposed(fact)).collect(),
            processes: threads.map(|(process, thread)| writer.thread(process, thread)).collect(),
        }
    }

    /// The proof, if everything that it names is in the Model.
    pub fn read(self, reader: &ProofReader<'_>) -> Result<PushdownProof, String> {
        let n_processes = reader.model.processes.len();
        if self.processes.len() != n_processes {
            return Err(format!("it lists {} processes, the program has {n_processes}", self.processes.len()));
        }
        let exposed = self.exposed.iter().map(|fact| read_exposed(reader, fact)).collect::<Result<_, String>>()?;
        let mut threads = Vec::new();
        for (process, record) in reader.model.processes.ids().zip(self.processes) {
            if reader.process(&record.process)? != process {
                return Err(format!("its processes are not in the order of the program: {}", text(&record.process)));
            }
            threads.push(record.read(reader)?);
        }
        Ok(PushdownProof { exposed, threads })
    }
}

struct PushdownWriter<'a> {
    model: &'a Model,
}

impl PushdownWriter<'_> {
    fn process(&self, process: ProcessId) -> NamedId {
        NamedId(process.index(), self.model.processes[process].name.clone())
    }

    fn cell(&self, cell: CellId) -> NamedId {
        NamedId(cell.index(), self.model.cells[cell].name.clone())
    }

    fn exposed(&self, fact: &ExposedFact) -> ExposedRecord {
        match &fact.part {
            LocalPart::Place(places) => {
                let named = places.iter().map(|&place| NamedId(place.index(), self.model.places[place].name.clone()));
                ExposedRecord::At(self.process(fact.process), named.collect())
            }
            LocalPart::Cell(cell, values) => {
                let values = values.iter().map(|&value| scalar_to_json(self.model, value)).collect();
                ExposedRecord::Cell(self.process(fact.process), self.cell(*cell), values)
            }
            LocalPart::Slot(procedure, slot, values) => {
                let name = NamedId(procedure.index(), self.model.procedures[*procedure].name.clone());
                let values = values.iter().map(|&value| scalar_to_json(self.model, value)).collect();
                ExposedRecord::Slot(self.process(fact.process), name, *slot, values)
            }
        }
    }

    fn thread(&self, process: ProcessId, thread: &ThreadProof) -> ThreadRecord {
        let numbers = |cells: &[u32]| cells.iter().map(|&number| u64::from(number)).collect::<Vec<u64>>();
        let state = |row: &LocalRow| [numbers(&row.cells), vec![row.exposed, u64::from(row.top)]].concat();
        let store = |row: &StoreRow| [numbers(&row.cells), vec![row.exposed]].concat();
        let activation = |one: &Activation| ActivationRecord {
            start: one.start,
            states: one.states.clone(),
            callers: one.callers.clone(),
        };
        ThreadRecord {
            process: self.process(process),
            cells: thread.cells.iter().map(|&cell| self.cell(cell)).collect(),
            store: thread.store.iter().map(|&cell| self.cell(cell)).collect(),
            tops: thread.tops.iter().map(|frame| self.frame(frame)).collect(),
            waiting: thread.waiting.iter().map(|waiting| self.waiting(waiting)).collect(),
            states: thread.states.iter().map(state).collect(),
            activations: thread.activations.iter().map(activation).collect(),
            guarantee: thread.guarantee.iter().map(|(before, after)| (store(before), store(after))).collect(),
        }
    }

    fn frame(&self, frame: &Frame) -> FrameRecord {
        let (at, calling) = match frame.control {
            Control::At(place) => (Some(NamedId(place.index(), self.model.places[place].name.clone())), None),
            Control::Calling(action) => {
                let statement = &self.model.statements[self.model.actions[action].statement];
                (None, Some(NamedId(action.index(), statement.text.clone())))
            }
        };
        FrameRecord { at, calling, slots: frame.slots.iter().map(|&value| scalar_to_json(self.model, value)).collect() }
    }

    fn waiting(&self, waiting: &WaitingCall) -> WaitingRecord {
        let counters = waiting.counters.iter();
        let counters = counters.map(|&(cell, value)| (self.cell(cell), scalar_to_json(self.model, value)));
        WaitingRecord { frame: self.frame(&waiting.frame), counters: counters.collect() }
    }
}

fn read_exposed(reader: &ProofReader<'_>, record: &ExposedRecord) -> Result<ExposedFact, String> {
    Ok(match record {
        ExposedRecord::At(process, places) => {
            let places = places.iter().map(|place| reader.place(place)).collect::<Result<_, String>>()?;
            ExposedFact { process: reader.process(process)?, part: LocalPart::Place(places) }
        }
        ExposedRecord::Cell(process, cell, values) => {
            let cell = reader.cell(cell)?;
            let values = values.iter().map(|json| reader.value(cell, json)).collect::<Result<_, String>>()?;
            ExposedFact { process: reader.process(process)?, part: LocalPart::Cell(cell, values) }
        }
        ExposedRecord::Slot(process, named, slot, values) => {
            let known = reader.model.procedures.as_slice().get(named.0).map(|procedure| procedure.name.as_str());
            let procedure = ProcedureId::new(reader.known(named, "procedure", known)?);
            let types = slot_types(reader.model, TextOwner::Procedure(procedure));
            let ty = *types.get(*slot).ok_or_else(|| format!("`{}` has no variable {slot}", named.1))?;
            let mut read = Vec::new();
            for json in values {
                from_json(reader.model, &Type::Scalar(ty), json, &mut read)?;
            }
            ExposedFact { process: reader.process(process)?, part: LocalPart::Slot(procedure, *slot, read) }
        }
    })
}

impl ThreadRecord {
    fn read(self, reader: &ProofReader<'_>) -> Result<ThreadProof, String> {
        let cells: Vec<CellId> = self.cells.iter().map(|cell| reader.cell(cell)).collect::<Result<_, String>>()?;
        let store: Vec<CellId> = self.store.iter().map(|cell| reader.cell(cell)).collect::<Result<_, String>>()?;
        let states = self.states.iter().map(|row| {
            let (numbers, rest) = split(row, cells.len(), 2)?;
            Ok(LocalRow { cells: numbers, exposed: rest[0], top: small(rest[1])? })
        });
        let states = states.collect::<Result<Vec<_>, String>>()?;
        let row = |row: &[u64]| {
            let (numbers, rest) = split(row, store.len(), 1)?;
            Ok::<StoreRow, String>(StoreRow { cells: numbers, exposed: rest[0] })
        };
        let guarantee = self.guarantee.iter().map(|(before, after)| Ok((row(before)?, row(after)?)));
        let guarantee = guarantee.collect::<Result<Vec<_>, String>>()?;
        let activation =
            |one: ActivationRecord| Activation { start: one.start, states: one.states, callers: one.callers };
        Ok(ThreadProof {
            tops: self.tops.iter().map(|frame| read_frame(reader, frame)).collect::<Result<_, String>>()?,
            waiting: self.waiting.iter().map(|waiting| read_waiting(reader, waiting)).collect::<Result<_, String>>()?,
            states,
            activations: self.activations.into_iter().map(activation).collect(),
            guarantee,
            cells,
            store,
        })
    }
}

/// The numbers of cells, and what comes after them.
fn split(row: &[u64], n_cells: usize, n_more: usize) -> Result<(Vec<u32>, &[u64]), String> {
    if row.len() != n_cells + n_more {
        return Err(format!("a row has {} numbers where there are {}", row.len(), n_cells + n_more));
    }
    let numbers = row[..n_cells].iter().map(|&number| small(number)).collect::<Result<_, String>>()?;
    Ok((numbers, &row[n_cells..]))
}

fn small(number: u64) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("{number} is too large a number"))
}

fn read_waiting(reader: &ProofReader<'_>, record: &WaitingRecord) -> Result<WaitingCall, String> {
    let counters = record.counters.iter().map(|(cell, json)| {
        let cell = reader.cell(cell)?;
        Ok((cell, reader.value(cell, json)?))
    });
    Ok(WaitingCall { frame: read_frame(reader, &record.frame)?, counters: counters.collect::<Result<_, String>>()? })
}

/// The types of the slots of a frame of a text.
fn slot_types(model: &Model, scope: TextOwner) -> Vec<ScalarType> {
    match scope {
        TextOwner::Family(_) => Vec::new(),
        TextOwner::Procedure(procedure) => { model.procedures[procedure].vars.iter() }
            .flat_map(|&var| std::iter::repeat_n(model.vars[var].ty.scalar(), model.vars[var].ty.n_cells()))
            .collect(),
    }
}

fn read_frame(reader: &ProofReader<'_>, record: &FrameRecord) -> Result<Frame, String> {
    let model = reader.model;
    let (control, scope) = match (&record.at, &record.calling) {
        (Some(place), None) => {
            let place = reader.place(place)?;
            (Control::At(place), model.places[place].scope)
        }
        (None, Some(call)) => {
            let text_of = |id: ActionId| model.statements[model.actions[id].statement].text.as_str();
            let known = (call.0 < model.actions.len()).then(|| text_of(ActionId::new(call.0)));
            let action = ActionId::new(reader.known(call, "call", known)?);
            (Control::Calling(action), model.actions[action].scope)
        }
        _ => return Err("a frame stands at a place or waits for a call".to_owned()),
    };
    let types = slot_types(model, scope);
    if types.len() != record.slots.len() {
        return Err(format!("a frame has {} variables where there are {}", record.slots.len(), types.len()));
    }
    let mut slots: Vec<Value> = Vec::new();
    for (&ty, json) in types.iter().zip(&record.slots) {
        from_json(model, &Type::Scalar(ty), json, &mut slots)?;
    }
    Ok(Frame { control, slots })
}
