//! States in the user's names: values, variables, the place of a process.

use base::{Id, SourceFile, Span};
use model::control::{ActionId, Place, TextOwner};
use model::eval::State;
use model::print;
use model::process::ProcessId;
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{Role, Storage, VarId, VariableLook};
use model::{Model, Parameter};

use crate::bundle;
use crate::text::clean;

/// A value as tables show it: truth values as `T` and `F`, all else as the user writes it.
pub fn short(model: &Model, value: Value) -> String {
    match value {
        Value::Bool(true) => "T".to_owned(),
        Value::Bool(false) => "F".to_owned(),
        other => print::value(model, other),
    }
}

/// What a quantifier or a loop over a family names: the index of a process, as in `P[i]`; all else as the user writes it.
pub fn bound(model: &Model, value: Value) -> String {
    match value {
        Value::Process(process) => model.processes[process].index.to_string(),
        other => print::value(model, other),
    }
}

/// What a loop counter is called, given the name of its cell or slot: without its position in the text, which tells loops with counters of the same name
/// apart, unless some other variable of that text has the name.
pub fn counter_name(model: &Model, var: VarId, name: &str) -> String {
    let declared = &model.vars[var];
    let Some((plain, position)) = declared.name.split_once('@') else { return name.to_owned() };
    let is_other = |other: &model::variable::Var| {
        other.name == plain && other.storage == declared.storage && !matches!(other.role, Role::Counter(_))
    };
    match declared.role {
        Role::Counter(_) if !model.vars.iter().any(is_other) => name.replacen(&format!("@{position}"), "", 1),
        _ => name.to_owned(),
    }
}

/// The content of a variable as tables show it: as [`short`], a lock as `free` or by its owner's name, a number by its name if it has one, a loop counter as
/// [`bound`].
pub fn shown(model: &Model, var: VarId, value: Value) -> String {
    match (model.vars[var].ty.scalar(), value) {
        (_, Value::Process(_)) if matches!(model.vars[var].role, Role::Counter(_)) => bound(model, value),
        (ScalarType::Lock, Value::None) => "free".to_owned(),
        (ScalarType::Lock, Value::Process(owner)) => model.processes[owner].name.clone(),
        (_, Value::Int(_)) => print::content(model, var, value),
        (_, other) => short(model, other),
    }
}

/// A variable's cells as tables show them: `3`, `[F, T]`, `[[0, 1], [2, 3]]`.
pub fn composed(model: &Model, var: VarId, cells: &[Value]) -> String {
    composed_part(model, (var, &model.vars[var].ty), cells)
}

fn composed_part(model: &Model, (var, ty): (VarId, &Type), cells: &[Value]) -> String {
    match ty {
        Type::Scalar(_) => cells.first().map_or(String::new(), |&value| shown(model, var, value)),
        Type::Array { element, len } => {
            let size = element.n_cells();
            let parts = (0..*len).map(|at| composed_part(model, (var, element), &cells[at * size..(at + 1) * size]));
            format!("[{}]", parts.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The shared variables with their contents.
pub fn shared_variables(model: &Model, state: &State) -> Vec<(String, String)> {
    let shared = model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared);
    shared.filter_map(|(id, _)| bundle::whole(model, state, id, None)).collect()
}

/// A process's own variables with their contents, without loop counters; those of the procedure that it is in last.
pub fn own_variables(model: &Model, state: &State, process: ProcessId) -> Vec<(String, String)> {
    let declared = |id: &VarId| !matches!(model.vars[*id].role, Role::Counter(_));
    let family = &model.families[model.processes[process].family];
    let cells = family.vars.iter().filter(|id| declared(id));
    let mut out: Vec<(String, String)> =
        cells.filter_map(|&id| bundle::whole(model, state, id, Some(process))).collect();
    let top = state.top(process);
    if let TextOwner::Procedure(procedure) = scope(model, state, process) {
        let shown = |id: &&VarId| declared(id) && model.vars[**id].look != VariableLook::Hidden;
        for &id in model.procedures[procedure].vars.iter().filter(shown) {
            let var = &model.vars[id];
            let slots = &top.slots[var.offset..var.offset + var.ty.n_cells()];
            out.push((var.name.clone(), composed(model, id, slots)));
        }
    }
    out
}

/// Whose text the top frame of a process is in.
pub fn scope(model: &Model, state: &State, process: ProcessId) -> TextOwner {
    model.places[state.place(process)].scope
}

/// A place whose branches have labels is called by all of them, if they are not more than this.
const MOST_BRANCHES: usize = 3;

/// The place of a process, or `f.place` inside procedure `f`.
pub fn place(model: &Model, state: &State, process: ProcessId) -> String {
    let place = &model.places[state.place(process)];
    let is_end = state.place(process) == model.families[model.processes[process].family].end;
    let name = match is_named(place) {
        false if is_end => "end".to_owned(),
        false => by_line(model, place),
        true if place.labels.len() <= MOST_BRANCHES && has_only_branch_labels(model, place) => place.labels.join("|"),
        true => place.name.clone(),
    };
    match place.scope {
        TextOwner::Family(_) => name,
        TextOwner::Procedure(id) => format!("{}.{name}", model.procedures[id].name),
    }
}

/// Whether a label is the name of the place; otherwise it is called by its line.
pub fn is_named(place: &Place) -> bool {
    let is_position = place.name.split(':').all(|part| part.parse::<u32>().is_ok());
    !place.labels.is_empty() && !is_position
}

/// Whether all labels of the place belong to some of its branches: then none of them is its name.
pub fn has_only_branch_labels(model: &Model, place: &Place) -> bool {
    !place.labels.is_empty() && place.labels.iter().all(|label| is_branch_label(model, place, label))
}

/// Whether the label is that of some branch of the place, not of the place itself.
pub fn is_branch_label(model: &Model, place: &Place, label: &str) -> bool {
    let carries = |id: ActionId| model.actions[id].labels.iter().any(|carried| carried == label);
    let n_carriers = place.actions.iter().filter(|&&id| carries(id)).count();
    (1..place.actions.len()).contains(&n_carriers)
}

/// A place without a label: its line, with the column where the line has several such places.
fn by_line(model: &Model, place: &Place) -> String {
    let Some((line, _)) = place.name.split_once(':') else { return place.name.clone() };
    let is_there = |other: &&Place| other.name.split_once(':').is_some_and(|(of_other, _)| of_other == line);
    match model.places.iter().filter(is_there).nth(1) {
        Some(_) => format!("line {}", place.name),
        None => format!("line {line}"),
    }
}

/// As [`place`], with the number of calls where there are several.
pub fn location(model: &Model, state: &State, process: ProcessId) -> String {
    let place = place(model, state, process);
    match state.stacks[process.index()].len() {
        1 | 2 => place,
        n_frames => format!("{place} ({} calls)", n_frames - 1),
    }
}

/// The place at which a caller is shown while it waits: the call's; where several calls are one site, the place where all go on.
fn waits_at(model: &Model, call: model::control::ActionId) -> model::control::PlaceId {
    let call = &model.actions[call];
    match (&call.kind, &call.next) {
        (model::control::ActionKind::Call { entry: Some(_), .. }, model::control::Next::To(place)) => *place,
        _ => call.source,
    }
}

/// The frames of a process that is in a procedure, from the process's own text to the top: the place of each, with the variables of
/// its procedure. Empty where the process is in its own text.
pub fn call_stack(model: &Model, state: &State, process: ProcessId) -> Vec<String> {
    let frames = &state.stacks[process.index()];
    let shown = |frame: &model::eval::Frame| {
        let place = match frame.control {
            model::eval::Control::At(place) => place,
            model::eval::Control::Calling(action) => waits_at(model, action),
        };
        let declared = &model.places[place];
        let TextOwner::Procedure(procedure) = declared.scope else { return clean(&declared.name) };
        let procedure = &model.procedures[procedure];
        let vars = procedure.vars.iter().map(|&id| (id, &model.vars[id]));
        let vars = vars.filter(|(_, var)| !matches!(var.role, model::variable::Role::Counter(_)));
        let slots = vars.flat_map(|(id, var)| {
            let names = model::layout::element_names(var);
            names
                .into_iter()
                .zip(var.offset..)
                .map(move |(name, at)| format!("{name} = {}", print::content(model, id, frame.slots[at])))
        });
        let slots = slots.collect::<Vec<_>>().join(", ");
        let name = format!("{}.{}", procedure.name, declared.name);
        clean(&if slots.is_empty() { name } else { format!("{name} ({slots})") })
    };
    if frames.len() < 2 { Vec::new() } else { frames.iter().map(shown).collect() }
}

/// The whole state on one line: the control location of each process, then all variables.
pub fn state_line(model: &Model, state: &State) -> String {
    let places = model.processes.ids().map(|id| format!("{}@{}", model.processes[id].name, location(model, state, id)));
    let shared = shared_variables(model, state).into_iter().map(|(name, value)| format!("{name} = {value}"));
    let own = model.processes.ids().flat_map(|id| {
        let name = &model.processes[id].name;
        own_variables(model, state, id).into_iter().map(move |(var, value)| format!("{name}.{var} = {value}"))
    });
    places.chain(shared).chain(own).collect::<Vec<_>>().join("  ")
}

/// The program's parameters: `N = 4, K = 2`.
pub fn parameters(model: &Model) -> String {
    let parts = model.numbers().map(|(name, value)| format!("{name} = {value}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// The program's parameters, and which of them the call did not give.
pub fn parameters_with_origin(model: &Model) -> String {
    let n_least = model.parameters.iter().filter(|parameter| !parameter.given).count();
    let n_by_default = model.parameters.iter().filter(|one| !one.given && one.value != one.least).count();
    let is_mixed = (1..model.parameters.len()).contains(&n_by_default);
    if n_least < model.parameters.len() || is_mixed || !model.given.is_empty() {
        let mark = |one: &Parameter| match (one.given, one.value == one.least) {
            (true, _) => "",
            (false, true) => " (least)",
            (false, false) => " (default)",
        };
        let parts = model.parameters.iter().map(|one| format!("{} = {}{}", one.name, one.value, mark(one)));
        let parts = parts.chain(model.given.iter().map(|one| format!("{} = {}", one.name, one.value)));
        return parts.collect::<Vec<_>>().join(", ");
    }
    let are_least = model.parameters.iter().all(|parameter| parameter.value == parameter.least);
    match n_least {
        1 if !are_least => format!("{} (its default)", parameters(model)),
        2.. if !are_least => format!("{} (their defaults)", parameters(model)),
        0 => String::new(),
        1 => format!("{} (its least value)", parameters(model)),
        _ => format!("{} (their least values)", parameters(model)),
    }
}

/// The line on which a span starts.
pub fn line(source: &SourceFile, span: Span) -> u32 {
    source.line_col(span.start).line
}

/// The property as a heading names it: `invariant mutex`, `no_errors`.
pub fn property_title(model: &Model, property: Id<model::property::Property>) -> String {
    let property = &model.properties[property];
    let keyword = property.kind.keyword();
    if property.name.split(' ').next() == Some(keyword) {
        clean(&property.name)
    } else {
        format!("{keyword} {}", clean(&property.name))
    }
}
