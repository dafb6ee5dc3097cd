//! A trace step by step, as plain data: which process stepped, by which statement, from where to where, what changed, what was read.
//!
//! In: a Model and a trace that `audit` accepted. Out: one [`StepView`] for each step. The terminal's columns, the replay and
//! the JSON document are all made from these.

use base::SourceFile;
use evidence::Trace;
use model::Model;
use model::control::{ActionId, TextOwner};
use model::eval::{Link, Move, State, Step, Touch, Turn, likely_touched_along, likely_touched_by};
use model::layout::element_names;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role, Storage, Var, VarId};

use crate::bundle::{ShownChange, shown_changes};
use crate::names::{counter_name, is_branch_label, is_named, line, location, place, scope};

/// One step.
#[derive(Clone, Debug)]
pub struct StepView {
    /// The process that steps; of a rendezvous, the sender.
    pub process: ProcessId,
    /// The receiver of a rendezvous.
    pub partner: Option<ProcessId>,
    /// The label that the step carries.
    pub label: Option<String>,
    /// The statement, as the user wrote it.
    pub statement: String,
    /// Of a test, an `if` or a `while`, whether its condition was true.
    pub outcome: Option<bool>,
    /// The line on which the statement starts.
    pub line: u32,
    /// Where the movers came from and went to.
    pub moved: Vec<ControlChange>,
    /// The cells that changed.
    pub changes: Vec<VariableChange>,
    /// The same as people read it: channels and sets as a whole.
    pub shown: Vec<ShownChange>,
    /// The cells of others, or shared ones, that the step read and left alone, each once, in the order of reading.
    pub reads: Vec<CellId>,
    /// Whether it wrote something that others can see.
    pub writes: bool,
    /// Whether it is no step at all: the process had its turn and stuttered.
    pub stands_still: bool,
}

impl StepView {
    /// The statement, with what came of it where it is a test: `if x > 0: no`.
    pub fn statement_with_outcome(&self) -> String {
        match self.outcome {
            Some(true) => format!("{}: yes", self.statement),
            Some(false) => format!("{}: no", self.statement),
            None => self.statement.clone(),
        }
    }
}

/// The control of a process before and after a step.
#[derive(Clone, Debug)]
pub struct ControlChange {
    /// The process.
    pub process: ProcessId,
    /// Its place before.
    pub from: String,
    /// Its place after; with the number of calls where that changed.
    pub to: String,
    /// Whether both have names of the user's, and different ones, so that they say which step it was.
    pub is_named: bool,
}

/// A variable that a step changed.
#[derive(Clone, Debug)]
pub struct VariableChange {
    /// Whose it is; `None` for shared ones.
    pub owner: Option<ProcessId>,
    /// The cell; `None` for one in a frame.
    pub cell: Option<CellId>,
    /// As a user writes it: `flag[1]`, `P[0].level`.
    pub name: String,
    /// As its owner writes it: `level`.
    pub own_name: String,
    /// The variable.
    pub var: VarId,
    /// The value before; `None` for one that comes with a call.
    pub old: Option<Value>,
    /// The value after.
    pub new: Value,
    /// Whether it is a loop's counter that goes back to its start because the loop is left.
    pub resets: bool,
}

/// The steps of a trace.
pub fn steps(model: &Model, source: &SourceFile, trace: &Trace) -> Vec<StepView> {
    let pairs = trace.states.windows(2).zip(&trace.turns);
    pairs.map(|(pair, turn)| step(model, source, turn, [&pair[0], &pair[1]])).collect()
}

/// One turn between two states: a step, or a process that stutters.
pub fn step(model: &Model, source: &SourceFile, turn: &Turn, states: [&State; 2]) -> StepView {
    match turn {
        Turn::Step(by) => step_taken(model, source, by, states),
        Turn::StandStill(process) => stood_still(model, source, *process, states[0]),
    }
}

fn stood_still(model: &Model, source: &SourceFile, process: ProcessId, state: &State) -> StepView {
    let at = place(model, state, process);
    StepView {
        process,
        partner: None,
        label: None,
        statement: "stands still".to_owned(),
        outcome: None,
        line: line(source, model.places[state.place(process)].span),
        moved: vec![ControlChange { process, from: at.clone(), to: at, is_named: false }],
        changes: Vec::new(),
        shown: Vec::new(),
        reads: Vec::new(),
        writes: false,
        stands_still: true,
    }
}

fn step_taken(model: &Model, source: &SourceFile, by: &Move, [before, after]: [&State; 2]) -> StepView {
    let action = &model.actions[by.action];
    let statement = &model.statements[action.statement];
    let mut movers: Vec<ProcessId> = Vec::new();
    for process in by.links().flat_map(Link::processes) {
        if !movers.contains(&process) {
            movers.push(process);
        }
    }
    let moved = movers.into_iter().map(|process| {
        let same_depth = before.stacks[process.index()].len() == after.stacks[process.index()].len();
        let to = if same_depth { place(model, after, process) } else { location(model, after, process) };
        let stood = &model.places[before.place(process)];
        // Of several branches with labels of their own, the one that was taken.
        let is_branch = |label: &&String| stood.labels.contains(label) && is_branch_label(model, stood, label);
        let taken = by
            .links()
            .find(|link| link.process == process)
            .and_then(|link| model.actions[link.action].labels.iter().find(is_branch));
        let from = taken.cloned().unwrap_or_else(|| place(model, before, process));
        let has_name = |state: &State| is_named(&model.places[state.place(process)]);
        let ends = after.place(process) == model.families[model.processes[process].family].end;
        let is_named = from != to && has_name(before) && (ends || has_name(after));
        ControlChange { process, from, to, is_named }
    });
    let mut view = StepView {
        process: by.process,
        partner: by.partner.map(|(partner, _)| partner),
        label: action.labels.first().cloned(),
        statement: statements_of(model, by),
        outcome: outcome(model, by.action),
        line: line(source, statement.span),
        moved: moved.collect(),
        changes: cell_changes(model, before, after),
        shown: Vec::new(),
        reads: Vec::new(),
        writes: false,
        stands_still: false,
    };
    for process in view.moved.iter().map(|moved| moved.process) {
        view.changes.extend(frame_changes(model, process, before, after));
    }
    view.shown = shown_changes(model, [before, after], &view.changes);
    note_touched(model, by, [before, after], &mut view);
    view
}

/// Whether the condition of a test was true: of the two steps of one `if` or `while`, the first is taken where it is.
fn outcome(model: &Model, taken: ActionId) -> Option<bool> {
    let action = &model.actions[taken];
    let text = &model.statements[action.statement].text;
    let is_test = ["if ", "while "].iter().any(|word| text.starts_with(word)) && !text.starts_with("if *");
    let is_same = |other: &&ActionId| model.actions[**other].statement == action.statement;
    let steps: Vec<ActionId> = model.places[action.source].actions.iter().filter(is_same).copied().collect();
    match steps[..] {
        [yes, no] if is_test && (taken == yes || taken == no) => Some(taken == yes),
        _ => None,
    }
}

/// The statement of the step; of one that goes on, all of them in their order.
pub fn statements_of(model: &Model, by: &Move) -> String {
    let texts = by.links().map(|link| model.statements[model.actions[link.action].statement].text.as_str());
    texts.collect::<Vec<&str>>().join("; ")
}

fn cell_changes(model: &Model, before: &State, after: &State) -> Vec<VariableChange> {
    let changed = model.cells.entries().filter(|(id, _)| before.cells[id.index()] != after.cells[id.index()]);
    let change = |(id, cell): (CellId, &model::variable::Cell)| {
        let var = &model.vars[cell.var];
        let own_name = match cell.owner {
            Some(owner) => cell.name.strip_prefix(&format!("{}.", model.processes[owner].name)).unwrap_or(&cell.name),
            None => &cell.name,
        };
        let resets = cell.owner.is_some_and(|owner| counter_rests(model, var, after, owner));
        let (old, new) = (Some(before.cells[id.index()]), after.cells[id.index()]);
        VariableChange {
            owner: cell.owner,
            cell: Some(id),
            name: counter_name(model, cell.var, &cell.name),
            own_name: counter_name(model, cell.var, own_name),
            var: cell.var,
            old,
            new,
            resets,
        }
    };
    changed.map(change).collect()
}

/// Whether the variable counts a loop that the process is not in.
fn counter_rests(model: &Model, var: &Var, state: &State, process: ProcessId) -> bool {
    let Role::Counter(counted) = var.role else { return false };
    let (loop_span, place) = (model.loops[counted].span, &model.places[state.place(process)]);
    let inside = loop_span.start <= place.span.start && place.span.end <= loop_span.end;
    place.scope == model.loops[counted].scope && !inside
}

/// What changed in the procedure's variables: those of a call that begins, or of the one that goes on.
fn frame_changes(model: &Model, process: ProcessId, before: &State, after: &State) -> Vec<VariableChange> {
    let TextOwner::Procedure(procedure) = scope(model, after, process) else { return Vec::new() };
    let depth = |state: &State| state.stacks[process.index()].len();
    let (old, new) = match depth(after).cmp(&depth(before)) {
        std::cmp::Ordering::Greater => (None, after.top(process)),
        std::cmp::Ordering::Equal => (Some(before.top(process)), after.top(process)),
        // A return may store its result in a variable of the frame that it returns to.
        std::cmp::Ordering::Less => (before.stacks[process.index()].get(depth(after) - 1), after.top(process)),
    };
    let mut changes = Vec::new();
    for &id in &model.procedures[procedure].vars {
        let var = &model.vars[id];
        for (nth, name) in element_names(var).into_iter().enumerate() {
            let slot = var.offset + nth;
            let (was, is) = (old.and_then(|frame| frame.slots.get(slot).copied()), new.slots[slot]);
            if was == Some(is) || (was.is_none() && matches!(var.role, Role::Counter(_))) {
                continue;
            }
            let name = counter_name(model, id, &name);
            let full = format!("{}.{}.{name}", model.processes[process].name, model.procedures[procedure].name);
            let resets = counter_rests(model, var, after, process);
            let owner = Some(process);
            changes.push(VariableChange {
                owner,
                cell: None,
                name: full,
                own_name: name,
                var: id,
                old: was,
                new: is,
                resets,
            });
        }
    }
    changes
}

/// Notes what the step read of others and whether it wrote what others see.
fn note_touched(model: &Model, by: &Move, [before, after]: [&State; 2], view: &mut StepView) {
    let statement = |link: Link| (link.partner.map(|(process, _)| process), model.actions[link.action].statement);
    let same = |taken: &Move| taken.links().map(statement).eq(by.links().map(statement));
    let leads_there = |(step, _): &(Step, Vec<Touch>)| same(&step.by) && step.result.as_ref() == Ok(after);
    // An action of the same statement may stand for the one that was taken.
    let along = likely_touched_along(model, before, by, Some(after)).into_iter().find(leads_there);
    let attempts = || likely_touched_by(model, before, by.process, Some(after));
    let taken = along.or_else(|| attempts().into_iter().find(leads_there));
    let touched: Vec<Touch> = taken.map_or(Vec::new(), |(_, touched)| touched);
    let is_private = |cell: CellId| matches!(model.vars[model.cells[cell].var].storage, Storage::Local(_));
    view.writes = touched.iter().any(|touch| touch.writes && !is_private(touch.cell));
    for touch in touched.iter().filter(|touch| !touch.writes) {
        let changed = before.cells[touch.cell.index()] != after.cells[touch.cell.index()];
        let own = model.cells[touch.cell].owner == Some(touch.process);
        if !changed && !own && !view.reads.contains(&touch.cell) {
            view.reads.push(touch.cell);
        }
    }
}
