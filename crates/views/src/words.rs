//! What few processes look like, in words of the program.
//!
//! In: a configuration. Out: where its processes are, and what cells hold, as far as that is not what they start with: `P[i]@crit, P[j]@crit, y == j`.

use model::types::ScalarType;
use model::value::Value;

use crate::configuration::{Configuration, Item, Slot};
use crate::layout::{LocalColumn, SharedColumn};
use crate::sight::Ground;

/// At most so many contents of cells are told.
const MOST_CELLS: usize = 6;

/// The names of seen processes.
const NAMES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

/// What the processes of a configuration look like.
pub fn in_words(ground: Ground<'_>, config: &Configuration) -> String {
    let words = Words { ground, config };
    let mut told = words.places();
    let cells = words.cells();
    let n_cells = cells.len();
    told.extend(cells.into_iter().take(MOST_CELLS));
    let more = if n_cells > MOST_CELLS { ", …" } else { "" };
    format!("{}{more}", told.join(", "))
}

struct Words<'a, 'm> {
    ground: Ground<'m>,
    config: &'a Configuration,
}

impl Words<'_, '_> {
    /// What a process is called; one that is not seen has no name of its own.
    fn name(&self, slot: Slot) -> String {
        let layout = self.ground.layout;
        let named =
            (0..layout.named.len()).find(|&at| self.config.shared[layout.shared.len() + at] == Item::Slot(slot));
        if let Some(at) = named {
            return at.to_string();
        }
        match self.config.seen().position(|seen| seen == slot).and_then(|at| NAMES.get(at)) {
            Some(name) => (*name).to_owned(),
            None => "another".to_owned(),
        }
    }

    fn places(&self) -> Vec<String> {
        let Ground { model, layout, .. } = self.ground;
        let family = &model.families[layout.family].name;
        let mut told = Vec::new();
        for slot in self.config.seen() {
            if let Some(Item::Place(place)) = self.config.slots[slot as usize].as_ref().map(|local| local[0]) {
                told.push(format!("{family}[{}]@{}", self.name(slot), model.places[place].name));
            }
        }
        for (column, item) in layout.shared.iter().zip(&self.config.shared) {
            if let (SharedColumn::Control(process), Item::Place(place)) = (column, item) {
                told.push(format!("{}@{}", model.processes[*process].name, model.places[*place].name));
            }
        }
        told
    }

    fn cells(&self) -> Vec<String> {
        let Ground { model, layout, .. } = self.ground;
        let mut told = Vec::new();
        for (column, &item) in layout.shared.iter().zip(&self.config.shared) {
            let SharedColumn::Cell(cell) = column else { continue };
            let declared = &model.cells[*cell];
            told.extend(self.content(&declared.name, declared.ty, item));
        }
        for slot in self.config.seen() {
            let Some(local) = &self.config.slots[slot as usize] else { continue };
            let who = self.name(slot);
            for (&column, &item) in layout.local.iter().zip(local) {
                let Some(ty) = layout.local_type(model, column) else { continue };
                if let Some(name) = self.own(column, &who) {
                    told.extend(self.content(&name, ty, item));
                }
            }
        }
        told
    }

    /// The name of what a column of a process shows; `None` for counters of loops, and for parts of arrays that have no short name.
    fn own(&self, column: LocalColumn, who: &str) -> Option<String> {
        let Ground { model, layout, .. } = self.ground;
        match column {
            LocalColumn::Control | LocalColumn::Taken(_) => None,
            LocalColumn::Element(row, _) => {
                let var = &model.vars[row.var];
                (var.ty.dimensions().len() == 1).then(|| format!("{}[{who}]", var.name))
            }
            LocalColumn::Own(at) => {
                let first = &model.processes[model.families[layout.family].first];
                let declared = &model.cells[base::Id::new(first.first_cell + at)];
                let var = &model.vars[declared.var];
                let is_counter = model.loops.iter().any(|one| one.counter == declared.var);
                let family = &model.families[layout.family].name;
                (var.ty.n_cells() == 1 && !is_counter).then(|| format!("{family}[{who}].{}", var.name))
            }
        }
    }

    /// What a cell holds, unless it is the first value of its type.
    fn content(&self, name: &str, ty: ScalarType, item: Item) -> Option<String> {
        let model = self.ground.model;
        let value = match item {
            Item::Slot(slot) => self.name(slot),
            Item::Value(Value::Process(id)) => model.processes[id].name.clone(),
            Item::Value(Value::None) => return None,
            Item::Value(value) if ty.first_value(model.type_context()) == Some(value) => return None,
            Item::Value(Value::Bool(truth)) => return Some(if truth { name.to_owned() } else { format!("!{name}") }),
            Item::Value(Value::Int(number)) => number.to_string(),
            Item::Value(Value::Enum(id, at)) => model.enums[id].values[at as usize].clone(),
            Item::Place(_) | Item::Taken(_) | Item::Hidden => return None,
        };
        Some(format!("{name} == {value}"))
    }
}
