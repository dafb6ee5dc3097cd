//! Guarantees and reachable local states of each process, as in section 1.1 of Flanagan and Qadeer (2003), in the user's names.
//!
//! In: a proof of a program with procedures, or of one without. Out: for each process what its steps may change of what others see,
//! and the local states that it can be in, each as few lines as the values allow: rows that differ in one column become one, and places
//! with the same rows are put together.

use std::collections::{BTreeMap, BTreeSet};

use evidence::pushdown::{ExposedFact, LocalPart, PushdownProof, ThreadProof};
use model::Model;
use model::control::{PlaceId, TextOwner};
use model::eval::{Control, State};
use model::print;
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role};

/// The sentences about one process.
#[derive(Clone, Debug)]
pub struct ProcessGuarantee {
    /// The process.
    pub name: String,
    /// How many local states it has.
    pub n_states: usize,
    /// What changes, and what else is the case then.
    pub changes: Vec<(String, String)>,
    /// Places, and what is the case there.
    pub states: Vec<(String, String)>,
    /// The same as values: one for each line.
    pub local_states: Vec<LocalStates>,
}

/// Local states of a process: at one of these places, each cell and each slot of the frame with one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalStates {
    /// The places.
    pub places: Vec<PlaceId>,
    /// What the cells have.
    pub cells: Vec<(CellId, Vec<Value>)>,
    /// What the slots of the top frame have, where that is a procedure's.
    pub slots: Vec<Vec<Value>>,
}

impl LocalStates {
    /// Whether a process is in one of them.
    pub fn contain(&self, state: &State, process: ProcessId) -> bool {
        let has = |(cell, values): &(CellId, Vec<Value>)| values.contains(&state.cells[cell.index()]);
        let slots = &state.top(process).slots;
        self.places.contains(&state.place(process))
            && self.cells.iter().all(has)
            && (self.slots.is_empty() || self.slots.iter().zip(slots).all(|(values, slot)| values.contains(slot)))
    }
}

/// An exposed fact in words: the process, and the sentence about it.
pub fn exposed(model: &Model, fact: &ExposedFact) -> (String, String) {
    let name = model.processes[fact.process].name.clone();
    let one_of = |values: &[Value]| one_of(values.iter().map(|&value| print::value(model, value)).collect());
    let text = match &fact.part {
        LocalPart::Place(places) => format!("@{}", braced(&place_names(model, places.iter().copied()))),
        LocalPart::Cell(cell, values) => {
            let cell = model.cells[*cell].name.replace(&format!("{name}."), "");
            format!("{cell} {}", one_of(values))
        }
        LocalPart::Slot(procedure, slot, values) => {
            let procedure = &model.procedures[*procedure];
            format!("{} in {} {}", slot_names(model, procedure)[*slot], procedure.name, one_of(values))
        }
    };
    (name, text)
}

/// The guarantee and the local states of a process.
pub fn tell(model: &Model, proof: &PushdownProof, process: ProcessId) -> ProcessGuarantee {
    let thread = &proof.threads[process.index()];
    let teller = GuaranteeWriter { model, thread };
    let lines = teller.states();
    ProcessGuarantee {
        name: model.processes[process].name.clone(),
        n_states: thread.states.len(),
        changes: teller.changes(),
        states: lines.iter().map(|line| (line.names.clone(), line.text.clone())).collect(),
        local_states: lines.into_iter().map(|line| line.states).collect(),
    }
}

struct GuaranteeWriter<'a> {
    model: &'a Model,
    thread: &'a ThreadProof,
}

/// A cell that changes, by its position, with its old and its new value.
type Changed = (usize, u32, u32);

/// A row of sets of values, one for each column.
type ValueBox = Vec<BTreeSet<u32>>;

impl GuaranteeWriter<'_> {
    fn changes(&self) -> Vec<(String, String)> {
        let cells = &self.thread.store;
        let mut by_change: BTreeMap<Vec<Changed>, Vec<Vec<u32>>> = BTreeMap::new();
        for (before, after) in &self.thread.guarantee {
            let pairs = before.cells.iter().zip(&after.cells).enumerate();
            let changed: Vec<Changed> =
                pairs.filter(|(_, (old, new))| old != new).map(|(at, (&old, &new))| (at, old, new)).collect();
            // What is exposed changes with control, which no declaration names.
            if !changed.is_empty() {
                by_change.entry(changed).or_default().push(before.cells.clone());
            }
        }
        let mut explanation = Vec::new();
        for (changed, rows) in by_change {
            let change = changed.iter().map(|&(at, old, new)| {
                let (cell, old, new) = (cells[at], self.value_text(cells[at], old), self.value_text(cells[at], new));
                format!("{}: {old} => {new}", self.model.cells[cell].name)
            });
            let change = change.collect::<Vec<_>>().join(", ");
            let columns: Vec<usize> =
                (0..cells.len()).filter(|at| changed.iter().all(|(changed, ..)| changed != at)).collect();
            let rows = rows.iter().map(|row| columns.iter().map(|&at| BTreeSet::from([row[at]])).collect()).collect();
            let names: Vec<ShownColumn> = columns.iter().map(|&at| ShownColumn::Cell(cells[at])).collect();
            explanation.extend(merged(rows).iter().map(|cube| (change.clone(), self.cube(&names, cube))));
        }
        explanation
    }

    fn states(&self) -> Vec<LocalLine> {
        let is_shown = |cell: &CellId| !matches!(self.model.vars[self.model.cells[*cell].var].role, Role::Counter(_));
        let shown: Vec<usize> = (0..self.thread.cells.len()).filter(|&at| is_shown(&self.thread.cells[at])).collect();
        // By place: rows of the cells, then of the slots of the frame.
        let mut by_place: BTreeMap<PlaceId, Vec<ValueBox>> = BTreeMap::new();
        let mut values: BTreeMap<PlaceId, Vec<Vec<Value>>> = BTreeMap::new();
        for row in &self.thread.states {
            let top = &self.thread.tops[row.top as usize];
            let Control::At(place) = top.control else { continue };
            let known = values.entry(place).or_insert_with(|| vec![Vec::new(); top.slots.len()]);
            let mut cube: ValueBox = shown.iter().map(|&at| BTreeSet::from([row.cells[at]])).collect();
            for (slot, value) in top.slots.iter().enumerate() {
                let number = known[slot].iter().position(|other| other == value).unwrap_or_else(|| {
                    known[slot].push(*value);
                    known[slot].len() - 1
                });
                cube.push(BTreeSet::from([number as u32]));
            }
            by_place.entry(place).or_default().push(cube);
        }
        let mut explanation: Vec<PlaceSentences> = Vec::new();
        for (place, rows) in by_place {
            let mut names: Vec<ShownColumn> =
                shown.iter().map(|&at| ShownColumn::Cell(self.thread.cells[at])).collect();
            if let TextOwner::Procedure(procedure) = self.model.places[place].scope {
                let slots = slot_names(self.model, &self.model.procedures[procedure]);
                names.extend(
                    slots.into_iter().zip(values[&place].clone()).map(|(name, values)| ShownColumn::Slot(name, values)),
                );
            }
            let cubes = merged(rows);
            let said = cubes.iter().map(|cube| (self.cube(&names, cube), self.meant(&names, cube))).collect();
            match explanation.iter_mut().find(|known| known.said == said) {
                Some(known) => known.places.push(place),
                None => explanation.push(PlaceSentences { places: vec![place], said }),
            }
        }
        let line = |PlaceSentences { places, said }| {
            let names = place_names(self.model, places.iter().copied()).join(", ");
            let line = |(text, states)| LocalLine {
                names: names.clone(),
                text,
                states: LocalStates { places: places.clone(), ..states },
            };
            said.into_iter().map(line).collect::<Vec<_>>()
        };
        explanation.into_iter().flat_map(line).collect()
    }

    /// What a cube means, at every place of the process.
    fn meant(&self, columns: &[ShownColumn], cube: &ValueBox) -> LocalStates {
        let mut found = LocalStates { places: Vec::new(), cells: Vec::new(), slots: Vec::new() };
        for (column, numbers) in columns.iter().zip(cube) {
            match column {
                ShownColumn::Cell(cell) => {
                    found.cells.push((*cell, numbers.iter().map(|&number| self.value(*cell, number)).collect()));
                }
                ShownColumn::Slot(_, values) => {
                    found.slots.push(numbers.iter().map(|&number| values[number as usize]).collect());
                }
            }
        }
        found
    }

    fn cube(&self, columns: &[ShownColumn], cube: &ValueBox) -> String {
        let parts = columns.iter().zip(cube).filter_map(|(column, numbers)| match column {
            ShownColumn::Cell(cell) => {
                let n_values = self.model.cells[*cell].ty.n_values(self.model.type_context());
                if numbers.len() as u128 == n_values && n_values > 1 {
                    return None;
                }
                let values = numbers.iter().map(|&number| self.value_text(*cell, number)).collect();
                Some(format!("{} {}", self.model.cells[*cell].name, one_of(values)))
            }
            ShownColumn::Slot(name, values) => {
                let values = numbers.iter().map(|&number| print::value(self.model, values[number as usize])).collect();
                Some(format!("{name} {}", one_of(values)))
            }
        });
        let text = parts.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "anything".to_owned() } else { text }
    }

    fn value(&self, cell: CellId, number: u32) -> Value {
        let model = self.model;
        let member = |first: ProcessId, offset: u32| Value::Process(ProcessId::new(first.index() + offset as usize));
        match model.cells[cell].ty {
            ScalarType::Bool => Value::Bool(number != 0),
            ScalarType::Range { lo, .. } => Value::Int(lo + i64::from(number)),
            ScalarType::Semaphore { .. } => Value::Int(i64::from(number)),
            ScalarType::Enum(id) => Value::Enum(id, number),
            ScalarType::Pid(family) => member(model.families[family].first, number),
            ScalarType::PidOrNone(_) | ScalarType::Lock if number == 0 => Value::None,
            ScalarType::PidOrNone(family) => member(model.families[family].first, number - 1),
            ScalarType::Lock => Value::Process(ProcessId::new(number as usize - 1)),
        }
    }

    fn value_text(&self, cell: CellId, number: u32) -> String {
        print::value(self.model, self.value(cell, number))
    }
}

/// Places with the same sentences, in words and as values.
struct PlaceSentences {
    places: Vec<PlaceId>,
    said: Vec<(String, LocalStates)>,
}

/// A line about local states.
struct LocalLine {
    names: String,
    text: String,
    states: LocalStates,
}

/// What a column shows.
enum ShownColumn {
    Cell(CellId),
    /// A variable of a frame, with its values in the order of their numbers.
    Slot(String, Vec<Value>),
}

/// Few cubes that contain exactly these rows; the rows themselves where joining them went wrong.
fn merged(rows: Vec<ValueBox>) -> Vec<ValueBox> {
    let rows: BTreeSet<ValueBox> = rows.into_iter().collect();
    let cubes = joined(rows.iter().cloned().collect());
    if contain_exactly(&cubes, &rows) { cubes } else { rows.into_iter().collect() }
}

/// Whether the cubes have as many points as there are rows, all different, and each of them is a row.
fn contain_exactly(cubes: &[ValueBox], rows: &BTreeSet<ValueBox>) -> bool {
    let n_points: usize = cubes.iter().map(|cube| cube.iter().map(BTreeSet::len).product::<usize>()).sum();
    let points = |cube: &ValueBox| {
        cube.iter().fold(vec![ValueBox::new()], |points, numbers| {
            let longer = |point: ValueBox| {
                numbers
                    .iter()
                    .map(move |&number| [&point[..], &[BTreeSet::from([number])]].concat())
                    .collect::<Vec<_>>()
            };
            points.into_iter().flat_map(longer).collect()
        })
    };
    let mut seen = BTreeSet::new();
    n_points == rows.len() && cubes.iter().flat_map(points).all(|point| rows.contains(&point) && seen.insert(point))
}

/// Joins rows that differ in one column, column by column, the last one first.
fn joined(mut cubes: Vec<ValueBox>) -> Vec<ValueBox> {
    let n_columns = cubes.first().map_or(0, Vec::len);
    for column in (0..n_columns).rev() {
        let mut by_rest: BTreeMap<ValueBox, BTreeSet<u32>> = BTreeMap::new();
        for mut cube in cubes {
            let values = std::mem::take(&mut cube[column]);
            by_rest.entry(cube).or_default().extend(values);
        }
        let whole = |(mut cube, values): (ValueBox, BTreeSet<u32>)| {
            cube[column] = values;
            cube
        };
        cubes = by_rest.into_iter().map(whole).collect();
    }
    cubes.sort();
    cubes
}

/// The names of the variables of a frame, element by element.
fn slot_names(model: &Model, procedure: &model::control::Procedure) -> Vec<String> {
    let vars = procedure.vars.iter().map(|&var| &model.vars[var]);
    vars.flat_map(model::layout::element_names).collect()
}

fn place_names(model: &Model, places: impl Iterator<Item = PlaceId>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for place in places {
        let name = model.places[place].name.clone();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn one_of(values: Vec<String>) -> String {
    match &values[..] {
        [one] => format!("= {one}"),
        _ => format!("in {{{}}}", values.join(", ")),
    }
}

fn braced(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        _ => format!("{{{}}}", names.join(", ")),
    }
}
