//! A counterexample as a SARIF code flow: one thread flow for each process, and one order of execution over all of them.
//!
//! Every thread flow begins at the place where its process starts, with order 0; step `k` of the run has order `k` in the flow of
//! the process that takes it (of both processes, for a rendezvous); what the end shows (an error, a race, which processes wait) has the order after
//! the last step.

use base::Span;
use engine::run::Run;
use evidence::{Trace, TraceEnd};
use explain::names::{location, own_variables, place, shared_variables};
use explain::steps::StepView;
use explain::waiting::Wait;
use model::eval::{State, Turn};
use model::process::ProcessId;
use serde_json::{Map, Value as Json, json};

use super::Writer;
use crate::findings::ReportedFinding;
use crate::human::change_text;
use crate::style::Style;

/// In longer runs, steps carry the values that they change, not all values.
const MOST_WITH_ALL_VALUES: usize = 200;

/// The run as a code flow.
pub fn code_flow(writer: &Writer, found: &ReportedFinding<'_>, trace: &Trace) -> Json {
    let mut flow = Flow { writer, found, trace, threads: Vec::new() };
    flow.starts();
    (1..=trace.n_steps()).for_each(|nth| flow.step(nth));
    flow.end();
    let model = &found.run.model;
    let threads = model.processes.entries().zip(flow.threads).map(|((id, process), locations)| {
        json!({
            "id": process.name,
            "message": { "text": format!("what {} does", process.name) },
            "initialState": flow_state(found, &trace.states[0], id),
            "locations": locations,
        })
    });
    json!({ "message": { "text": found.finding.sentence }, "threadFlows": threads.collect::<Vec<_>>() })
}

/// Where one process is after a step: its place, and the variables that it can name.
fn flow_state(found: &ReportedFinding<'_>, state: &State, process: ProcessId) -> Json {
    let model = &found.run.model;
    let name = &model.processes[process].name;
    let own = own_variables(model, state, process).into_iter().map(|(var, value)| (format!("{name}.{var}"), value));
    let values = shared_variables(model, state).into_iter().chain(own);
    let at = (format!("{name}@"), location(model, state, process));
    values.chain([at]).map(|(name, value)| (name, json!({ "text": value }))).collect::<Map<_, _>>().into()
}

/// A code flow that grows.
struct Flow<'a> {
    writer: &'a Writer,
    found: &'a ReportedFinding<'a>,
    trace: &'a Trace,
    /// The locations of each process.
    threads: Vec<Vec<Json>>,
}

/// One location of a thread flow.
struct FlowPlace {
    process: ProcessId,
    /// When it is passed.
    order: usize,
    span: Span,
    text: String,
}

impl Flow<'_> {
    /// Adds a location and returns it, for what else is to be said.
    fn add(&mut self, spot: FlowPlace) -> &mut Json {
        let mut at = self.writer.location(&self.found.run.source, spot.span);
        at["message"] = json!({ "text": spot.text });
        // The depth of the call that the statement is in, which is that before the step.
        let state = &self.trace.states[spot.order.saturating_sub(1).min(self.trace.states.len() - 1)];
        let depth = state.stacks[spot.process.index()].len().saturating_sub(1);
        let thread = &mut self.threads[spot.process.index()];
        thread.push(json!({ "location": at, "executionOrder": spot.order, "nestingLevel": depth }));
        thread.last_mut().expect("it was just added")
    }

    fn starts(&mut self) {
        let model = &self.found.run.model;
        let start = &self.trace.states[0];
        for (process, declared) in model.processes.entries() {
            self.threads.push(Vec::new());
            let span = model.places[start.place(process)].span;
            let text = format!("{} starts at {}", declared.name, place(model, start, process));
            self.add(FlowPlace { process, order: 0, span, text })["importance"] = json!("unimportant");
        }
    }

    fn step(&mut self, nth: usize) {
        let trace = self.trace;
        let states = [&trace.states[nth - 1], &trace.states[nth]];
        let turn = &trace.turns[nth - 1];
        let Some(view) = self.found.explained_trace().map(|explanation| explanation.step(nth - 1)) else { return };
        for (process, span) in movers(self.found, turn, states[0]) {
            let text = self.words(view, process, nth);
            let values = self.values(view, process, nth);
            let depths = states.map(|state| state.stacks[process.index()].len());
            let is_last = nth == trace.n_steps();
            let spot = self.add(FlowPlace { process, order: nth, span, text });
            spot["state"] = values;
            let kinds = kinds(&view.statement, depths);
            if !kinds.is_empty() {
                spot["kinds"] = json!(kinds);
            }
            if is_last && trace.end == TraceEnd::State {
                spot["importance"] = json!("essential");
            }
        }
    }

    /// What a step does, in words.
    fn words(&self, view: &StepView, process: ProcessId, nth: usize) -> String {
        let model = &self.found.run.model;
        let mut parts = Vec::new();
        if let Some(moved) = view.moved.iter().find(|moved| moved.process == process && !view.stands_still) {
            parts.push(format!("{} → {}", moved.from, moved.to));
        }
        parts.extend(view.shown.iter().map(|change| change_text(change, &change.name, &Style::default())));
        if self.trace.loop_from.is_some_and(|from| nth == from + 1) {
            parts.push("the loop starts here".to_owned());
        }
        if let Some(from) = self.trace.loop_from.filter(|_| nth == self.trace.n_steps()) {
            parts.push(format!("back to the state after step {from}"));
        }
        let name = &model.processes[process].name;
        let head = match view.stands_still {
            true => format!("{name} stands still"),
            false => format!("{name}: {}", view.statement),
        };
        if parts.is_empty() { head } else { format!("{head} ({})", parts.join("; ")) }
    }

    fn values(&self, view: &StepView, process: ProcessId, nth: usize) -> Json {
        let state = &self.trace.states[nth];
        if self.trace.n_steps() <= MOST_WITH_ALL_VALUES {
            return flow_state(self.found, state, process);
        }
        let changed = view.shown.iter().map(|change| (change.name.clone(), json!({ "text": change.new })));
        changed.collect::<Map<_, _>>().into()
    }

    /// What the end of the run shows, at the places where it shows.
    fn end(&mut self) {
        let (run, trace) = (self.found.run, self.trace);
        let order = trace.n_steps() + 1;
        let statement = |action| run.model.statements[run.model.actions[action].statement].span;
        let mut spots: Vec<(FlowPlace, &str)> = Vec::new();
        match &trace.end {
            TraceEnd::State | TraceEnd::Loop => {}
            TraceEnd::Fault { by, fault } => {
                let span = if fault.span.is_empty() { statement(by.action) } else { fault.span };
                let text = format!("error: {}", explain::finding::described(run, &fault.fault));
                spots.push((FlowPlace { process: by.process, order, span, text }, "danger"));
            }
            TraceEnd::Race(race) => {
                for side in &race.contenders {
                    let verb = if side.writes { "write" } else { "read" };
                    let text = format!("can {verb} {} now", run.model.cells[race.cell].name);
                    spots.push((
                        FlowPlace { process: side.process, order, span: statement(side.action), text },
                        "danger",
                    ));
                }
            }
            TraceEnd::Deadlock => {
                let last = &trace.states[trace.n_steps()];
                // A process that can go several ways waits for each of them.
                let waits = run.trace(self.found.result).map_or(&[][..], |explanation| &explanation.waits);
                for ways in waits.chunk_by(|one, other| one.process == other.process) {
                    let texts: Vec<String> = ways.iter().map(|wait| awaited(run, wait)).collect();
                    let (process, text) = (ways[0].process, format!("waits for {}", texts.join(", or for ")));
                    let span = run.model.places[last.place(process)].span;
                    spots.push((FlowPlace { process, order, span, text }, "danger"));
                }
            }
        }
        for (spot, kind) in spots {
            let added = self.add(spot);
            added["importance"] = json!("essential");
            added["kinds"] = json!([kind]);
        }
    }
}

/// What a process waits for, and which one has it.
fn awaited(run: &Run, wait: &Wait) -> String {
    let holders: Vec<&str> = wait.holders.iter().map(|&id| run.model.processes[id].name.as_str()).collect();
    let held = if holders.is_empty() { String::new() } else { format!(", held by {}", holders.join(", ")) };
    format!("{}{held}", wait.what)
}

/// The processes of a turn, each with the statement that it takes.
fn movers(found: &ReportedFinding<'_>, turn: &Turn, before: &State) -> Vec<(ProcessId, Span)> {
    let model = &found.run.model;
    let statement = |action| model.statements[model.actions[action].statement].span;
    match turn {
        Turn::StandStill(process) => vec![(*process, model.places[before.place(*process)].span)],
        Turn::Step(by) => {
            let partner = by.partner.map(|(process, action)| (process, statement(action)));
            std::iter::once((by.process, statement(by.action))).chain(partner).collect()
        }
    }
}

/// What kind of step it is, in SARIF's words.
fn kinds(statement: &str, [before, after]: [usize; 2]) -> Vec<&'static str> {
    match statement.split(' ').next() {
        _ if after > before => vec!["call", "function"],
        _ if after < before => vec!["return", "function"],
        Some("acquire") => vec!["acquire", "lock"],
        Some("release") => vec!["release", "lock"],
        Some("if" | "while") => vec!["branch"],
        _ => Vec::new(),
    }
}
