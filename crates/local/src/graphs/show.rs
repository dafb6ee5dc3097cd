//! A local state graph with the user's names.

use engine::graph::{Drawing, DrawnEdge, DrawnState};
use model::Model;
use model::process::ProcessId;
use model::variable::Role;

use super::actions::{ActionNumber, Actions};
use super::graph::ProcessGraph;

use engine::meter::Meter;
use packed::machine::Machine;
use packed::packing::{Packed, decode};

/// The meter is asked after so many states or transitions.
const PAUSE: usize = 1 << 10;

/// The graph of a process with names: states in the order in which they were found, transitions in order. `None` where a limit
/// is reached.
pub fn drawing<const W: usize>(
    machine: &Machine<'_>,
    actions: &Actions<W>,
    process: ProcessId,
    (graph, meter): (&ProcessGraph<W>, &Meter<'_>),
) -> Option<Drawing> {
    let may_go_on = |nth: usize, bytes: u64| {
        meter.add(bytes);
        !nth.is_multiple_of(PAUSE) || meter.may_go_on(0)
    };
    let mut states = Vec::new();
    for row in graph.states.iter() {
        let drawn = state(machine, process, graph, row);
        let bytes = drawn.cells.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
        if !may_go_on(states.len(), bytes.sum::<usize>() as u64) {
            return None;
        }
        states.push(drawn);
    }
    let own = (0..graph.n_expanded() as u32).flat_map(|from| graph.own(from).iter().map(move |&edge| (from, edge)));
    let all = own.chain(graph.log.iter().copied());
    let mut edges: Vec<DrawnEdge> = Vec::new();
    for (from, (action, to)) in all {
        let (mover, partner) = actions.movers[action as usize];
        let movers = std::iter::once(mover).chain(partner).collect();
        let edge = DrawnEdge { from, to, movers, text: text(machine, actions, action) };
        if !may_go_on(edges.len(), (size_of::<DrawnEdge>() + edge.text.len()) as u64) {
            return None;
        }
        edges.push(edge);
    }
    edges.sort();
    Some(Drawing { states, edges, n_initial: graph.n_initial })
}

/// What the user wrote for an action: the statement of the process that steps, and the partner's.
fn text<const W: usize>(machine: &Machine<'_>, actions: &Actions<W>, action: ActionNumber) -> String {
    let model = machine.codec.model;
    let statement = |step: u32| model.statements[machine.code.steps[step as usize].statement].text.clone();
    match actions.steps[action as usize] {
        (step, None) => statement(step),
        (step, Some(theirs)) => format!("{} / {}", statement(step), statement(theirs)),
    }
}

fn state<const W: usize>(
    machine: &Machine<'_>,
    process: ProcessId,
    graph: &ProcessGraph<W>,
    row: &Packed<W>,
) -> DrawnState {
    let (codec, model) = (machine.codec, machine.codec.model);
    let place = |other: ProcessId| {
        let point = codec.plan.points[other.index()].point(codec.layout.control[other.index()].raw(row) as u32);
        let counters = point.counters.iter().map(|(id, value)| counter(model, *id, *value));
        std::iter::once(model.places[point.place].name.clone()).chain(counters).collect::<Vec<String>>().join(", ")
    };
    let mut cells = Vec::new();
    for (id, cell) in model.cells.entries() {
        let (field, _) = codec.layout.locations[id.index()];
        let is_own = cell.owner == Some(process);
        let sees = graph.mask[field.word as usize] & field.in_place(field.mask) != 0;
        let is_counter = matches!(model.vars[cell.var].role, Role::Counter(_));
        if (sees || is_own) && !is_counter {
            let value = decode(field.get(row), cell.ty);
            cells.push((cell.name.clone(), model::print::content(model, cell.var, value)));
        }
    }
    for other in model.processes.ids().filter(|&other| other != process) {
        let field = codec.layout.control[other.index()];
        if graph.mask[field.word as usize] & field.in_place(field.mask) != 0 {
            cells.push((format!("{}@", model.processes[other].name), place(other)));
        }
    }
    DrawnState { place: place(process), cells }
}

fn counter(model: &Model, id: model::control::LoopId, value: model::value::Value) -> String {
    format!("{} = {}", model.vars[model.loops[id].counter].name, model::print::value(model, value))
}
