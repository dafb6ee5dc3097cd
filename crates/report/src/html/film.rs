//! A trace as a film: what every process sees in every state, for the diagram, the table and the script.
//!
//! In: a run and a trace. Out: lanes, one for each process that matters, for each variable that changes; each lane is
//! a row of bars, a bar for each stretch of states with the same content. Of a long trace the last steps are
//! shown; the end is what matters.

use engine::run::{PropertyResult, Run};
use evidence::Trace;
use explain::Explained;
use explain::explained::ExplainedTrace;
use explain::names::{location, own_variables, shared_variables};
use explain::steps::StepView;
use model::eval::State;
use model::process::ProcessId;

use crate::document::EndDocument;
use crate::human::failure;
use crate::json::end as document;
use crate::style::Style;

/// Longer traces are shown in part: so many last steps.
pub const MOST_STEPS: usize = 300;
/// More lanes are not drawn.
const MOST_LANES: usize = 40;
/// More variables are not listed.
pub const MOST_VARIABLES: usize = 400;
/// Programs with more processes than this have lanes only for those that matter.
const FEW_PROCESSES: usize = 5;

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// The place of a process.
    Process(ProcessId),
    /// A variable of a process, by position in the list of variables.
    Own(ProcessId, usize),
    /// A shared variable.
    Shared(usize),
}

/// One row of the diagram.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What it shows.
    pub kind: LaneKind,
    /// Its name.
    pub name: String,
    /// The bars, without gaps.
    pub bars: Vec<Bar>,
}

/// A stretch of states with the same content of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The first state, counted from the film's first.
    pub from: usize,
    /// The last one.
    pub to: usize,
    /// The content.
    pub text: String,
}

/// A variable with its values in all states of the film.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Whose it is; `None` for a shared one.
    pub owner: Option<ProcessId>,
    /// As its owner calls it.
    pub name: String,
    /// In each state; empty where it is not there, as the variables of a procedure that was not called.
    pub values: Vec<String>,
}

/// A trace, ready to be shown.
pub struct Film<'a> {
    /// The run that it comes from.
    pub run: &'a Explained,
    /// The trace.
    pub trace: &'a Trace,
    /// The trace with its steps.
    pub explanation: ExplainedTrace<'a>,
    /// The first state that is shown.
    pub first: usize,
    /// The steps from there on.
    pub steps: Vec<&'a StepView>,
    /// The processes that have a lane.
    pub processes: Vec<ProcessId>,
    /// The place of each of these, in each state.
    pub places: Vec<Vec<String>>,
    /// The variables.
    pub variables: Vec<Variable>,
    /// A few words about the last state.
    pub ending: String,
    /// The words of the property, and of the statements that err or wait: what they speak of is drawn even if it does not change.
    pub words: Vec<String>,
}

impl<'a> Film<'a> {
    /// The film of a trace about a property.
    pub fn of(run: &'a Explained, result: &'a PropertyResult, explanation: ExplainedTrace<'a>) -> Self {
        let trace = explanation.trace;
        let first = trace.n_steps().saturating_sub(MOST_STEPS);
        let states = &trace.states[first..];
        let steps: Vec<&StepView> = (first..trace.n_steps()).map(|at| explanation.step(at)).collect();
        let shown = failure::end(run, result, trace, &Style::default());
        let processes = processes(run, &steps, &shown.processes);
        let places = processes.iter().map(|&id| states.iter().map(|state| location(&run.model, state, id)).collect());
        Film {
            run,
            trace,
            explanation,
            first,
            places: places.collect(),
            variables: variables(run, states, &processes),
            steps,
            processes,
            ending: shown.ending,
            words: spoken_of(run, result, trace),
        }
    }

    /// How many states are shown.
    pub fn n_states(&self) -> usize {
        self.steps.len() + 1
    }

    /// The lanes: processes, each with what changes of its own, then what is shared and changes.
    pub fn lanes(&self) -> Vec<Lane> {
        let mut lanes = Vec::new();
        for (at, &process) in self.processes.iter().enumerate() {
            let moves = |state: usize| self.steps[state - 1].moved.iter().any(|moved| moved.process == process);
            let bars = bars(&self.places[at], |state| moves(state) && !self.steps[state - 1].stands_still);
            lanes.push(Lane { kind: LaneKind::Process(process), name: self.name(process).to_owned(), bars });
            lanes.extend(self.changing(Some(process)));
        }
        lanes.extend(self.changing(None));
        lanes
    }

    /// The lanes that are drawn, and how many are not.
    pub fn drawn_lanes(&self) -> (Vec<Lane>, usize) {
        let mut lanes = self.lanes();
        let n_left_out = lanes.len().saturating_sub(MOST_LANES);
        // What a process keeps to itself is the first to go.
        while lanes.len() > MOST_LANES {
            let own = lanes.iter().rposition(|lane| matches!(lane.kind, LaneKind::Own(..)));
            lanes.remove(own.unwrap_or(lanes.len() - 1));
        }
        (lanes, n_left_out)
    }

    fn changing(&self, owner: Option<ProcessId>) -> impl Iterator<Item = Lane> + '_ {
        let of_owner = self.variables.iter().enumerate().filter(move |(_, variable)| variable.owner == owner);
        let is_drawn = |variable: &Variable| {
            let root = variable.name.split('.').next().unwrap_or_default();
            variable.values.windows(2).any(|pair| pair[0] != pair[1]) || self.words.iter().any(|word| word == root)
        };
        let drawn = of_owner.filter(move |(_, variable)| is_drawn(variable));
        drawn.map(move |(at, variable)| {
            let kind = owner.map_or(LaneKind::Shared(at), |process| LaneKind::Own(process, at));
            Lane { kind, name: variable.name.clone(), bars: bars(&variable.values, |_| false) }
        })
    }

    /// A process's name.
    pub fn name(&self, process: ProcessId) -> &str {
        &self.run.model.processes[process].name
    }

    /// The line of a process in a state of the film; `None` where it has ended.
    pub fn line(&self, state: usize, process: ProcessId) -> Option<u32> {
        let place = &self.run.model.places[self.trace.states[self.first + state].place(process)];
        (!place.span.is_empty()).then(|| explain::names::line(&self.run.source, place.span))
    }

    /// The state of the film to which a lasso returns; the first one where it returns to one before that.
    pub fn loop_from(&self) -> Option<usize> {
        self.trace.loop_from.map(|from| from.saturating_sub(self.first))
    }
}

/// The words of a text that may be names of variables.
/// What the property speaks of, and what its end does: the statement that errs, and what stuck processes wait for.
fn spoken_of(run: &Explained, result: &PropertyResult, trace: &Trace) -> Vec<String> {
    let mut spoken = words(&run.model.properties[result.property].text);
    match document(run, result, trace) {
        Some(EndDocument::Error { by, .. }) => spoken.extend(words(&by.action)),
        Some(EndDocument::Deadlock { stuck, .. }) => {
            spoken.extend(stuck.iter().flat_map(|wait| words(&wait.waits_for)));
        }
        _ => {}
    }
    spoken
}

fn words(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The processes that matter: all of few, of many those that step or that the end names.
fn processes(run: &Run, steps: &[&StepView], named: &[ProcessId]) -> Vec<ProcessId> {
    if run.model.processes.len() <= FEW_PROCESSES {
        return run.model.processes.ids().collect();
    }
    let movers = steps.iter().flat_map(|step| step.moved.iter().map(|moved| moved.process));
    let mut relevant: Vec<ProcessId> = movers.chain(named.iter().copied()).collect();
    relevant.sort();
    relevant.dedup();
    relevant
}

fn variables(run: &Run, states: &[State], processes: &[ProcessId]) -> Vec<Variable> {
    let owners = std::iter::once(None).chain(processes.iter().copied().map(Some));
    let mut out: Vec<Variable> = Vec::new();
    for owner in owners {
        let start = out.len();
        for (at, state) in states.iter().enumerate() {
            let values = match owner {
                None => shared_variables(&run.model, state),
                Some(process) => own_variables(&run.model, state, process),
            };
            for (name, value) in values {
                let known = out[start..].iter().position(|variable| variable.name == name);
                let known = known.map(|known| known + start).unwrap_or_else(|| {
                    out.push(Variable { owner, name, values: vec![String::new(); states.len()] });
                    out.len() - 1
                });
                out[known].values[at] = value;
            }
        }
    }
    let changes = |variable: &Variable| variable.values.windows(2).any(|pair| pair[0] != pair[1]);
    if out.len() > MOST_VARIABLES {
        out.sort_by_key(|variable| !changes(variable));
        out.truncate(MOST_VARIABLES);
        out.sort_by_key(|variable| variable.owner);
    }
    out
}

/// The stretches of equal values; `splits` says that one begins at this state all the same.
fn bars(values: &[String], splits: impl Fn(usize) -> bool) -> Vec<Bar> {
    let mut out: Vec<Bar> = Vec::new();
    for (at, text) in values.iter().enumerate() {
        match out.last_mut() {
            Some(bar) if bar.text == *text && !splits(at) => bar.to = at,
            _ => out.push(Bar { from: at, to: at, text: text.clone() }),
        }
    }
    out
}
