//! Variables as the user wrote them: a channel as the sequence of its messages, a set by its elements; what only a step chooses with
//! is not shown.
//!
//! In: a Model, in which these are several cells each ([`VariableLook`]), and states. Out: names and contents for people.

use model::Model;
use model::eval::State;
use model::process::ProcessId;
use model::types::Type;
use model::value::Value;
use model::variable::{CellId, VarId, VariableLook, element_name};

use crate::names::{composed, shown};
use crate::steps::VariableChange;

/// A change of what the user wrote as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownChange {
    /// Whose it is; `None` for shared ones.
    pub owner: Option<ProcessId>,
    /// As a user writes it: `flag[1]`, `P[0].level`, `mail`.
    pub name: String,
    /// As its owner writes it: `level`.
    pub own_name: String,
    /// The content before; `None` for one that comes with a call.
    pub old: Option<String>,
    /// The content after.
    pub new: String,
}

/// Changes as people read them, those of one channel or set together; loop counters that go back to their start are left out.
pub fn shown_changes(model: &Model, [before, after]: [&State; 2], changes: &[VariableChange]) -> Vec<ShownChange> {
    let mut out: Vec<ShownChange> = Vec::new();
    for change in changes.iter().filter(|change| !change.resets) {
        let bundle = change.cell.and_then(|cell| Bundle::of(model, cell));
        let shown = match (&model.vars[change.var].look, bundle) {
            (VariableLook::Hidden, _) => continue,
            (_, Some(bundle)) => {
                let name = bundle.name(model);
                let own_name = match change.owner {
                    Some(owner) => name.strip_prefix(&format!("{}.", model.processes[owner].name)).unwrap_or(&name),
                    None => &name,
                };
                let own_name = own_name.to_owned();
                let (old, new) = (Some(bundle.content(model, before)), bundle.content(model, after));
                ShownChange { owner: change.owner, name, own_name, old, new }
            }
            (_, None) => ShownChange {
                owner: change.owner,
                name: change.name.clone(),
                own_name: change.own_name.clone(),
                old: change.old.map(|old| shown(model, change.var, old)),
                new: shown(model, change.var, change.new),
            },
        };
        if !out.contains(&shown) {
            out.push(shown);
        }
    }
    out
}

/// What a step read in a cell: `flag[1] is F`, `mail is []`, `2 not in seen`.
pub fn read_text(model: &Model, state: &State, cell: CellId) -> Option<String> {
    let read = &model.cells[cell];
    match (&model.vars[read.var].look, Bundle::of(model, cell)) {
        (VariableLook::Hidden, _) => None,
        (VariableLook::Set(names), Some(set)) => {
            let is_inside = state.cells[cell.index()] == Value::Bool(true);
            let element = element_name(names, cell.index() - set.first.index());
            Some(format!("{element} {}in {}", if is_inside { "" } else { "not " }, set.name(model)))
        }
        (_, Some(bundle)) => Some(format!("{} is {}", bundle.name(model), bundle.content(model, state))),
        (_, None) => Some(format!("{} is {}", read.name, shown(model, read.var, state.cells[cell.index()]))),
    }
}

/// What a cell is called by people: by its channel or set, or by its name.
pub fn cell_name(model: &Model, cell: CellId) -> String {
    Bundle::of(model, cell).map_or_else(|| model.cells[cell].name.clone(), |bundle| bundle.name(model))
}

/// The channel or set that a cell belongs to, and what it holds.
pub fn content_of(model: &Model, state: &State, cell: CellId) -> Option<(String, String)> {
    Bundle::of(model, cell).map(|bundle| (bundle.name(model), bundle.content(model, state)))
}

/// What an expression is: `x is 3`, `2 not in seen`.
pub fn fact(expr: &str, value: &str) -> String {
    match (expr.split_once(" in "), value) {
        (Some(_), "T") => expr.to_owned(),
        (Some((element, set)), "F") => format!("{element} not in {set}"),
        _ => format!("{expr} is {value}"),
    }
}

/// What a variable is called: by the channel that it is a part of, or by its name.
pub fn variable_name(model: &Model, var: VarId) -> &str {
    match &model.vars[var].look {
        VariableLook::ChannelLength(name) | VariableLook::ChannelRow(name) => name,
        VariableLook::Plain | VariableLook::Hidden | VariableLook::Set(_) => &model.vars[var].name,
    }
}

/// The name and the content of a variable; `None` for one that is not shown, or shown with another one.
pub fn whole(model: &Model, state: &State, var: VarId, owner: Option<ProcessId>) -> Option<(String, String)> {
    let declared = &model.vars[var];
    let cells: Vec<Value> = model.cells_of(var, owner).map(|cell| state.cells[cell.index()]).collect();
    match &declared.look {
        VariableLook::Hidden | VariableLook::ChannelRow(_) => None,
        VariableLook::Plain => Some((declared.name.clone(), composed(model, var, &cells))),
        VariableLook::Set(names) => Some((declared.name.clone(), sets(&declared.ty, &cells, names))),
        VariableLook::ChannelLength(name) => {
            let mut channels = 0..;
            let mut next = || messages(model, state, name, channels.next().unwrap_or(0));
            Some((name.clone(), nested(&declared.ty, &mut next)))
        }
    }
}

/// One channel or one set, with its place among those of its variable.
struct Bundle {
    var: VarId,
    /// The first cell of the set; of a channel, the cell of its length.
    first: CellId,
    /// Which one of an array of channels or sets.
    at: usize,
}

impl Bundle {
    fn of(model: &Model, cell: CellId) -> Option<Self> {
        let (var, owner) = (model.cells[cell].var, model.cells[cell].owner);
        let start = model.cells_of(var, owner).next()?.index();
        let (declared, offset) = (&model.vars[var], cell.index() - start);
        let last = declared.ty.dimensions().last().copied().unwrap_or(1);
        match &declared.look {
            VariableLook::Set(_) => {
                Some(Bundle { var, first: CellId::new(cell.index() - offset % last), at: offset / last })
            }
            VariableLook::ChannelLength(_) => Some(Bundle { var, first: cell, at: offset }),
            VariableLook::ChannelRow(name) => {
                let is_length = |look: &VariableLook| matches!(look, VariableLook::ChannelLength(of) if of == name);
                let (length, _) = model.vars.entries().find(|(_, var)| is_length(&var.look))?;
                let first = model.cells_of(length, None).nth(offset / last)?;
                Some(Bundle { var: length, first, at: offset / last })
            }
            VariableLook::Plain | VariableLook::Hidden => None,
        }
    }

    fn name(&self, model: &Model) -> String {
        let name = &model.cells[self.first].name;
        match &model.vars[self.var].look {
            // The cell is that of the first possible element: its last index is not part of the name.
            VariableLook::Set(_) => name.rsplit_once('[').map_or(name.as_str(), |(set, _)| set).to_owned(),
            VariableLook::ChannelLength(channel) => {
                format!("{channel}{}", name.strip_prefix(&model.vars[self.var].name).unwrap_or_default())
            }
            _ => name.clone(),
        }
    }

    fn content(&self, model: &Model, state: &State) -> String {
        match &model.vars[self.var].look {
            VariableLook::ChannelLength(name) => messages(model, state, name, self.at),
            look => {
                let last = model.vars[self.var].ty.dimensions().last().copied().unwrap_or(1);
                let cells = &state.cells[self.first.index()..self.first.index() + last];
                elements(cells, look.elements().unwrap_or_default())
            }
        }
    }
}

/// `{0, 2}`, `{red, blue}`: the elements of a set.
fn elements(cells: &[Value], names: &[String]) -> String {
    let inside = cells.iter().enumerate().filter(|(_, value)| **value == Value::Bool(true));
    format!("{{{}}}", inside.map(|(at, _)| element_name(names, at)).collect::<Vec<_>>().join(", "))
}

fn sets(ty: &Type, cells: &[Value], names: &[String]) -> String {
    match ty {
        Type::Array { element, len } if matches!(**element, Type::Array { .. }) => {
            let size = element.n_cells();
            let parts = (0..*len).map(|at| sets(element, &cells[at * size..(at + 1) * size], names));
            format!("[{}]", parts.collect::<Vec<_>>().join(", "))
        }
        _ => elements(cells, names),
    }
}

/// An array in brackets, with the next text for each scalar in it.
fn nested(ty: &Type, next: &mut impl FnMut() -> String) -> String {
    match ty {
        Type::Scalar(_) => next(),
        Type::Array { element, len } => {
            let parts: Vec<String> = (0..*len).map(|_| nested(element, next)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// `[(ask, 0), (grant, 1)]`: the messages of one channel, the first one first.
fn messages(model: &Model, state: &State, name: &str, at: usize) -> String {
    let length =
        model.vars.entries().find(|(_, var)| matches!(&var.look, VariableLook::ChannelLength(of) if of == name));
    let length = length.and_then(|(id, _)| model.cells_of(id, None).nth(at));
    let n_messages = match length.map(|cell| state.cells[cell.index()]) {
        Some(Value::Int(n_messages)) => usize::try_from(n_messages).unwrap_or(0),
        _ => 0,
    };
    let rows = model.vars.entries().filter(|(_, var)| matches!(&var.look, VariableLook::ChannelRow(of) if of == name));
    let rows: Vec<(VarId, Vec<CellId>)> = rows
        .map(|(id, var)| {
            let capacity = var.ty.dimensions().last().copied().unwrap_or(0);
            (id, model.cells_of(id, None).skip(at * capacity).take(capacity).collect())
        })
        .collect();
    let message = |slot: usize| {
        let part = |(id, cells): &(VarId, Vec<CellId>)| {
            cells.get(slot).map_or(String::new(), |cell| shown(model, *id, state.cells[cell.index()]))
        };
        let parts: Vec<String> = rows.iter().map(part).collect();
        if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(", ")) }
    };
    format!("[{}]", (0..n_messages).map(message).collect::<Vec<_>>().join(", "))
}
