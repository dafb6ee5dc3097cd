//! A trace as JSON.

use base::{SourceFile, Span};
use model::Model;
use model::control::{ActionId, TextOwner};
use model::eval::{Control, Frame, Link, Move, State, StepFault, Turn};
use model::process::{FamilyId, ProcessId};
use model::value::Fault;
use serde_json::{Map, Value as Json, json};

use super::VERSION;
use super::names::{AT, CALL, NamedVariable, PROCEDURE, STACK, TraceNames, fingerprint};
use super::value::to_json;
use crate::{Trace, TraceEnd};

/// The trace of a property as a document.
pub fn to_itf(model: &Model, source: &SourceFile, property: &str, trace: &Trace) -> Json {
    let writer = TraceWriter { model, source, names: TraceNames::of(model) };
    writer.document(property, trace)
}

/// A document as text: one line for each state, so that files can be compared line by line.
pub fn to_text(document: &Json) -> String {
    let Some(fields) = document.as_object() else { return document.to_string() };
    let lines = fields.iter().map(|(key, value)| match value.as_array() {
        Some(states) if key == "states" => {
            let states: Vec<String> = states.iter().map(|state| format!("    {state}")).collect();
            format!("  \"states\": [\n{}\n  ]", states.join(",\n"))
        }
        _ => format!("  {}: {value}", json!(key)),
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

struct TraceWriter<'a> {
    model: &'a Model,
    source: &'a SourceFile,
    names: TraceNames,
}

impl TraceWriter<'_> {
    fn document(&self, property: &str, trace: &Trace) -> Json {
        let vars =
            self.names.shared.iter().map(|(name, _)| name).chain(self.names.families.iter().map(|(name, ..)| name));
        let mut vars: Vec<&str> = vars.map(String::as_str).collect();
        vars.extend(["mbt::actionTaken", "mbt::nondetPicks"]);
        let states = trace.states.iter().enumerate();
        let states =
            states.map(|(at, state)| self.state(at, state, at.checked_sub(1).map(|before| &trace.turns[before])));
        let mut document = json!({
            "#meta": self.head(property, trace),
            "params": self.names.parameters,
            "vars": vars,
            "states": states.collect::<Vec<Json>>(),
        });
        if let Some(from) = trace.loop_from {
            document["loop"] = json!(from);
        }
        document
    }

    fn head(&self, property: &str, trace: &Trace) -> Json {
        let numbers = self.model.numbers();
        let parameters: Map<String, Json> = numbers.map(|(name, value)| (name.to_owned(), json!(value))).collect();
        json!({
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": format!("a run of {} that decides {property}", self.model.name),
            "source": self.source.name(),
            "piecewise": {
                "version": VERSION,
                "program": self.model.name,
                "parameters": parameters,
                "fingerprint": fingerprint(self.model),
                "property": property,
                "end": self.end(&trace.end),
            },
        })
    }

    fn end(&self, end: &TraceEnd) -> Json {
        match end {
            TraceEnd::State => json!({ "kind": "state" }),
            TraceEnd::Deadlock => json!({ "kind": "deadlock" }),
            TraceEnd::Loop => json!({ "kind": "loop" }),
            TraceEnd::Fault { by, fault } => {
                let mut out = Map::new();
                out.insert("kind".into(), json!("fault"));
                out.extend(self.step(by));
                out.insert("fault".into(), fault_to_json(fault));
                Json::Object(out)
            }
            TraceEnd::Race(race) => {
                let side = |side: &model::eval::Contender| {
                    let mut out = self.side(side.process, side.action);
                    out.insert("writes".into(), json!(side.writes));
                    Json::Object(out)
                };
                let cell = &self.model.cells[race.cell].name;
                json!({ "kind": "race", "cell": cell, "contenders": race.contenders.iter().map(side).collect::<Vec<_>>() })
            }
        }
    }

    fn state(&self, index: usize, state: &State, turn: Option<&Turn>) -> Json {
        let mut meta = Map::new();
        meta.insert("index".into(), json!(index));
        let (mut taken, mut picks) = ("init".to_owned(), json!({ "tag": "None", "value": { "#tup": [] } }));
        if let Some(turn) = turn {
            let name = &self.model.processes[turn.process()].name;
            match turn {
                Turn::Step(by) => {
                    meta.extend(self.step(by));
                    taken = self.model.statements[self.model.actions[by.action].statement].text.clone();
                }
                Turn::StandStill(_) => {
                    meta.insert("process".into(), json!(name));
                    meta.insert("stands_still".into(), json!(true));
                    taken = "stands still".to_owned();
                }
            }
            picks = json!({ "tag": "Some", "value": name });
        }
        let mut out = Map::new();
        out.insert("#meta".into(), Json::Object(meta));
        for (name, parameter) in self.names.parameters.iter().zip(&self.model.parameters) {
            out.insert(name.clone(), json!(parameter.value));
        }
        for (name, var) in &self.names.shared {
            let start = self.model.vars[*var].offset;
            let cells = &state.cells[start..start + self.model.vars[*var].ty.n_cells()];
            out.insert(name.clone(), to_json(self.model, &self.model.vars[*var].ty, cells));
        }
        for (name, family, vars) in &self.names.families {
            out.insert(name.clone(), self.family(state, *family, vars));
        }
        out.insert("mbt::actionTaken".into(), json!(taken));
        out.insert("mbt::nondetPicks".into(), json!({ "process": picks }));
        Json::Object(out)
    }

    /// One record for a single process, a map from index to record for an indexed family.
    fn family(&self, state: &State, family: FamilyId, vars: &[NamedVariable]) -> Json {
        let family = &self.model.families[family];
        let mut records = family.processes().map(|process| (process, self.process(state, process, vars)));
        match family.index {
            None => records.next().map_or(Json::Null, |(_, record)| record),
            Some(_) => {
                let entries = records.map(|(process, record)| json!([self.model.processes[process].index, record]));
                json!({ "#map": entries.collect::<Vec<Json>>() })
            }
        }
    }

    fn process(&self, state: &State, process: ProcessId, vars: &[NamedVariable]) -> Json {
        let stack = &state.stacks[process.index()];
        let mut out = Map::new();
        out.insert(AT.into(), json!(self.names.place(state.place(process))));
        for (name, var) in vars {
            let cells = self.model.cells_of(*var, Some(process)).map(|cell| state.cells[cell.index()]);
            let cells: Vec<_> = cells.collect();
            out.insert(name.clone(), to_json(self.model, &self.model.vars[*var].ty, &cells));
        }
        if stack.len() > 1 {
            out.insert(STACK.into(), stack.iter().map(|frame| self.frame(frame)).collect());
        }
        Json::Object(out)
    }

    fn frame(&self, frame: &Frame) -> Json {
        let (place, call) = match frame.control {
            Control::At(place) => (place, None),
            Control::Calling(action) => (self.model.actions[action].source, Some(action)),
        };
        let scope = self.model.places[place].scope;
        let mut out = Map::new();
        if let TextOwner::Procedure(id) = scope {
            out.insert(PROCEDURE.into(), json!(self.model.procedures[id].name));
        }
        out.insert(AT.into(), json!(self.names.place(place)));
        if let Some(action) = call {
            let nth = self.model.places[place].actions.iter().position(|&other| other == action);
            out.insert(CALL.into(), json!(nth));
        }
        for (name, var) in self.names.frame_vars(scope) {
            let var = &self.model.vars[*var];
            out.insert(
                name.clone(),
                to_json(self.model, &var.ty, &frame.slots[var.offset..var.offset + var.ty.n_cells()]),
            );
        }
        Json::Object(out)
    }

    fn step(&self, by: &Move) -> Map<String, Json> {
        let mut out = self.link(by.first());
        if !by.then.is_empty() {
            let then = by.then.iter().map(|&link| Json::Object(self.link(link))).collect();
            out.insert("then".into(), Json::Array(then));
        }
        out
    }

    fn link(&self, by: Link) -> Map<String, Json> {
        let mut out = self.side(by.process, by.action);
        if let Some((process, action)) = by.partner {
            out.insert("partner".into(), Json::Object(self.side(process, action)));
        }
        out
    }

    fn side(&self, process: ProcessId, action: ActionId) -> Map<String, Json> {
        let taken = &self.model.actions[action];
        let statement = &self.model.statements[taken.statement];
        let fields = [
            ("process", json!(self.model.processes[process].name)),
            ("label", json!(taken.labels.first())),
            ("statement", json!(statement.text)),
            ("line", json!(self.source.line_col(statement.span.start).line)),
            ("action", json!(action.index())),
        ];
        fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

fn fault_to_json(fault: &StepFault) -> Json {
    let Span { start, end } = fault.span;
    let mut out = match &fault.fault {
        Fault::OutOfRange { target, value } => json!({ "kind": "out-of-range", "target": target, "value": value }),
        Fault::BadIndex { target, index, len } => {
            json!({ "kind": "bad-index", "target": target, "index": index, "len": len })
        }
        Fault::DivisionByZero => json!({ "kind": "division-by-zero" }),
        Fault::Overflow => json!({ "kind": "overflow" }),
        Fault::BadShift { by } => json!({ "kind": "bad-shift", "by": by }),
        Fault::NoneUsed => json!({ "kind": "none-used" }),
        Fault::AssertFailed => json!({ "kind": "assert-failed" }),
        Fault::NotHeld { lock } => json!({ "kind": "not-held", "target": lock }),
        Fault::SemaphoreFull { semaphore } => json!({ "kind": "semaphore-full", "target": semaphore }),
        Fault::NoResult { procedure } => json!({ "kind": "no-result", "target": procedure }),
        Fault::Endless => json!({ "kind": "endless" }),
    };
    out["message"] = json!(fault.fault.to_string());
    out["span"] = json!([start, end]);
    out
}
