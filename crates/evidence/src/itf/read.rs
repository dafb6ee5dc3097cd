//! A trace from JSON.
//!
//! Anything may be in the file. The size is examined first, nesting is limited by the JSON reader, and every name is looked
//! up in the Model; what does not fit is an error in words. States are complete and well-formed when they leave here; whether
//! they form a run is for `audit` to say.

use base::{Id, Span};
use model::Model;
use model::control::{ActionId, ActionKind, TextOwner};
use model::eval::{Contender, Control, Frame, Link, Move, Race, State, StepFault, Turn};
use model::process::{FamilyId, ProcessId};
use model::value::{Fault, Value};
use serde_json::{Map, Value as Json};

use super::names::{AT, CALL, NamedVariable, STACK, TraceNames, fingerprint};
use super::value::{brief, from_json, integer};
use super::{ItfError, ItfTrace, MOST_BYTES, MoveHint, VERSION};
use crate::{Trace, TraceEnd};

/// A record of the file.
type Record = Map<String, Json>;

/// The property's name and the trace of a file that [`super::to_itf`] wrote.
pub fn from_itf(text: &str, model: &Model) -> Result<(String, Trace), ItfError> {
    let read = read(text, model)?;
    let trace = read.exact().ok_or(ItfError::Incomplete)?;
    Ok((read.property.ok_or(ItfError::Incomplete)?, trace))
}

/// The parameters that a file says its program has; empty where it does not say. They are needed to load the program.
pub fn parameters(text: &str) -> Result<Vec<(String, i64)>, ItfError> {
    let document = parse(text)?;
    let parameters = head(&document).and_then(|head| head.get("parameters")).and_then(Json::as_object);
    let parameters = parameters.into_iter().flatten();
    Ok(parameters.filter_map(|(name, value)| Some((name.clone(), integer(value)?))).collect())
}

fn parse(text: &str) -> Result<Record, ItfError> {
    if text.len() > MOST_BYTES {
        return Err(ItfError::TooLarge(text.len()));
    }
    match serde_json::from_str(text) {
        Ok(Json::Object(document)) => Ok(document),
        Ok(_) => Err(ItfError::NotATrace("it is no record".to_owned())),
        Err(error) => Err(ItfError::NotJson(error.to_string())),
    }
}

/// What the file says about itself in our words.
fn head(document: &Record) -> Option<&Record> {
    document.get("#meta").and_then(|meta| meta.get("piecewise")).and_then(Json::as_object)
}

/// The trace of any file whose states are complete.
pub fn read(text: &str, model: &Model) -> Result<ItfTrace, ItfError> {
    let document = parse(text)?;
    let head = head(&document);
    if let Some(head) = head {
        check_program(head, model)?;
    }
    let reader = TraceReader { model, names: TraceNames::of(model) };
    let states = match document.get("states").and_then(Json::as_array) {
        Some(states) if !states.is_empty() => states,
        Some(_) => return Err(ItfError::NotATrace("it has no states".to_owned())),
        None => return Err(ItfError::NotATrace("there is no list of `states`".to_owned())),
    };
    let mut trace = ItfTrace {
        property: head.and_then(|head| head.get("property")).and_then(Json::as_str).map(str::to_owned),
        states: Vec::new(),
        moves: Vec::new(),
        end: None,
        loop_from: loop_position(document.get("loop"), states.len())?,
    };
    for (at, state) in states.iter().enumerate() {
        let misfit = |what| ItfError::DoesNotFit { state: Some(at), what };
        trace.states.push(reader.state(state).map_err(misfit)?);
        if at > 0 {
            trace.moves.push(reader.hint(state.get("#meta")).map_err(misfit)?);
        }
    }
    if let Some(end) = head.and_then(|head| head.get("end")).filter(|end| !end.is_null()) {
        trace.end = Some(reader.end(end).map_err(|what| ItfError::DoesNotFit { state: None, what })?);
    }
    Ok(trace)
}

fn loop_position(json: Option<&Json>, n_states: usize) -> Result<Option<usize>, ItfError> {
    let Some(json) = json.filter(|json| !json.is_null()) else { return Ok(None) };
    match integer(json).and_then(|at| usize::try_from(at).ok()).filter(|&at| at < n_states) {
        Some(at) => Ok(Some(at)),
        None => Err(ItfError::NotATrace(format!("`loop` is {}, which is no state", brief(json)))),
    }
}

fn check_program(head: &Record, model: &Model) -> Result<(), ItfError> {
    let another = |what: String| Err(ItfError::AnotherProgram(what));
    match head.get("version").and_then(Json::as_u64) {
        Some(VERSION) => {}
        version => {
            let shown = version.map_or("none".to_owned(), |version| version.to_string());
            return Err(ItfError::NotATrace(format!("its version is {shown}; this is version {VERSION}")));
        }
    }
    if let Some(program) = head.get("program").and_then(Json::as_str).filter(|&name| name != model.name) {
        return another(format!("it was written for {}, this is {}", brief(&program.into()), model.name));
    }
    if let Some(parameters) = head.get("parameters").and_then(Json::as_object) {
        for (name, value) in model.numbers() {
            let written = parameters.get(name).and_then(integer);
            if written != Some(value) {
                let here = format!("this is {name} = {value}");
                return another(match written {
                    Some(written) => format!("it was written for {name} = {written}, {here}; give -D {name}={written}"),
                    None => format!("it was written without {name}, {here}"),
                });
            }
        }
    }
    match head.get("fingerprint").and_then(Json::as_str) {
        Some(written) if written != fingerprint(model) => {
            another(format!("the text of {} has changed since it was written", model.name))
        }
        _ => Ok(()),
    }
}

struct TraceReader<'a> {
    model: &'a Model,
    names: TraceNames,
}

fn field<'j>(record: &'j Record, key: &str) -> Result<&'j Json, String> {
    record.get(key).ok_or_else(|| format!("`{key}` is missing"))
}

fn text_field<'j>(record: &'j Record, key: &str) -> Result<&'j str, String> {
    let json = field(record, key)?;
    json.as_str().ok_or_else(|| format!("`{key}` is {}, not a text", brief(json)))
}

fn number_field(record: &Record, key: &str) -> Result<i64, String> {
    let json = field(record, key)?;
    integer(json).ok_or_else(|| format!("`{key}` is {}, not a whole number", brief(json)))
}

fn record(json: &Json) -> Result<&Record, String> {
    json.as_object().ok_or_else(|| format!("{} where a record is needed", brief(json)))
}

impl TraceReader<'_> {
    fn state(&self, json: &Json) -> Result<State, String> {
        let fields = record(json)?;
        let mut cells = Vec::with_capacity(self.model.cells.len());
        for (name, var) in &self.names.shared {
            self.variable(fields, name, *var, &mut cells)?;
        }
        let mut stacks = Vec::with_capacity(self.model.processes.len());
        for (name, family, vars) in &self.names.families {
            let in_family = |what| format!("`{name}`: {what}");
            let records = self.records(field(fields, name)?, *family).map_err(in_family)?;
            for record in records {
                for (name, var) in vars {
                    self.variable(record, name, *var, &mut cells).map_err(in_family)?;
                }
                stacks.push(self.stack(record, *family).map_err(in_family)?);
            }
        }
        Ok(State { cells, stacks })
    }

    fn variable(
        &self,
        fields: &Record,
        name: &str,
        var: Id<model::variable::Var>,
        cells: &mut Vec<Value>,
    ) -> Result<(), String> {
        let json = field(fields, name)?;
        from_json(self.model, &self.model.vars[var].ty, json, cells).map_err(|what| format!("`{name}`: {what}"))
    }

    /// The records of a family's processes, in order.
    fn records<'j>(&self, json: &'j Json, family: FamilyId) -> Result<Vec<&'j Record>, String> {
        let family = &self.model.families[family];
        if family.index.is_none() {
            return Ok(vec![record(json)?]);
        }
        let entries = json.get("#map").and_then(Json::as_array).ok_or("a map from index to record is needed")?;
        let find = |process: ProcessId| {
            let index = self.model.processes[process].index;
            let is_it = |entry: &&Json| entry.get(0).and_then(integer) == Some(index);
            let found = entries.iter().find(is_it).and_then(|entry| entry.get(1));
            record(found.ok_or_else(|| format!("there is no entry for {index}"))?)
        };
        family.processes().map(find).collect()
    }

    fn stack(&self, process: &Record, family: FamilyId) -> Result<Vec<Frame>, String> {
        let mut scope = TextOwner::Family(family);
        let Some(stack) = process.get(STACK) else {
            return Ok(vec![Frame { control: Control::At(self.place(scope, process)?), slots: Vec::new() }]);
        };
        let frames = stack.as_array().filter(|frames| !frames.is_empty()).ok_or("a stack is a list of frames")?;
        let mut out = Vec::with_capacity(frames.len());
        for (nth, frame) in frames.iter().enumerate() {
            let frame = record(frame)?;
            let slots = self.slots(frame, self.names.frame_vars(scope))?;
            if nth + 1 == frames.len() {
                out.push(Frame { control: Control::At(self.place(scope, frame)?), slots });
            } else {
                let (action, procedure) = self.call(scope, frame)?;
                out.push(Frame { control: Control::Calling(action), slots });
                scope = TextOwner::Procedure(procedure);
            }
        }
        Ok(out)
    }

    fn slots(&self, frame: &Record, vars: &[NamedVariable]) -> Result<Vec<Value>, String> {
        let mut slots = Vec::new();
        for (name, var) in vars {
            self.variable(frame, name, *var, &mut slots)?;
        }
        Ok(slots)
    }

    fn place(&self, scope: TextOwner, record: &Record) -> Result<model::control::PlaceId, String> {
        let name = text_field(record, AT)?;
        self.names
            .find_place(self.model, scope, name)
            .ok_or_else(|| format!("there is no place {}", brief(&name.into())))
    }

    fn call(&self, scope: TextOwner, frame: &Record) -> Result<(ActionId, model::control::ProcedureId), String> {
        let actions = &self.model.places[self.place(scope, frame)?].actions;
        let nth = usize::try_from(number_field(frame, CALL)?).ok();
        let action = nth.and_then(|nth| actions.get(nth)).ok_or("a frame below the top waits for a call")?;
        match self.model.actions[*action].kind {
            ActionKind::Call { procedure, .. } => Ok((*action, procedure)),
            _ => Err("a frame below the top waits for a call".to_owned()),
        }
    }

    /// What a state's `#meta` says about the step to it.
    fn hint(&self, meta: Option<&Json>) -> Result<MoveHint, String> {
        let Some(meta) = meta.and_then(Json::as_object) else { return Ok(MoveHint::Any) };
        if !meta.contains_key("process") {
            return Ok(MoveHint::Any);
        }
        if meta.get("stands_still").and_then(Json::as_bool) == Some(true) {
            return Ok(MoveHint::Exactly(Turn::StandStill(self.process(meta)?)));
        }
        match meta.contains_key("action") {
            true => Ok(MoveHint::Exactly(Turn::Step(self.step(meta)?))),
            false => Ok(MoveHint::By(self.process(meta)?)),
        }
    }

    fn step(&self, fields: &Record) -> Result<Move, String> {
        let then = fields
            .get("then")
            .map_or(Ok(&[][..]), |then| then.as_array().map(Vec::as_slice).ok_or("`then` is no list"))?;
        let then = then.iter().map(|link| self.link(record(link)?)).collect::<Result<Vec<_>, String>>()?;
        Ok(Move { then, ..self.link(fields)?.into() })
    }

    fn link(&self, fields: &Record) -> Result<Link, String> {
        let partner = fields.get("partner").map(|partner| self.side(record(partner)?)).transpose()?;
        let (process, action) = self.side(fields)?;
        Ok(Link { process, action, partner })
    }

    fn side(&self, fields: &Record) -> Result<(ProcessId, ActionId), String> {
        let number = number_field(fields, "action")?;
        let known = usize::try_from(number).ok().filter(|&number| number < self.model.actions.len());
        let action = known.ok_or_else(|| format!("there is no action {number}"))?;
        Ok((self.process(fields)?, ActionId::new(action)))
    }

    fn process(&self, fields: &Record) -> Result<ProcessId, String> {
        let name = text_field(fields, "process")?;
        let found = self.model.processes.entries().find(|(_, process)| process.name == name);
        found.map(|(id, _)| id).ok_or_else(|| format!("there is no process {}", brief(&name.into())))
    }

    fn end(&self, json: &Json) -> Result<TraceEnd, String> {
        let fields = record(json)?;
        match text_field(fields, "kind")? {
            "state" => Ok(TraceEnd::State),
            "deadlock" => Ok(TraceEnd::Deadlock),
            "loop" => Ok(TraceEnd::Loop),
            "fault" => {
                Ok(TraceEnd::Fault { by: self.step(fields)?, fault: read_fault(record(field(fields, "fault")?)?)? })
            }
            "race" => self.race(fields).map(TraceEnd::Race),
            other => Err(format!("there is no end {}", brief(&other.into()))),
        }
    }

    fn race(&self, fields: &Record) -> Result<Race, String> {
        let name = text_field(fields, "cell")?;
        let cell = self.model.cells.entries().find(|(_, cell)| cell.name == name).map(|(id, _)| id);
        let cell = cell.ok_or_else(|| format!("there is no cell {}", brief(&name.into())))?;
        let side = |json: &Json| -> Result<Contender, String> {
            let fields = record(json)?;
            let (process, action) = self.side(fields)?;
            let writes = field(fields, "writes")?.as_bool().ok_or("`writes` is no truth value")?;
            Ok(Contender { process, action, writes })
        };
        match field(fields, "contenders")?.as_array().map(Vec::as_slice) {
            Some([one, other]) => Ok(Race { cell, contenders: [side(one)?, side(other)?] }),
            _ => Err("a race has two contenders".to_owned()),
        }
    }
}

fn read_fault(fields: &Record) -> Result<StepFault, String> {
    let text = |key| text_field(fields, key).map(str::to_owned);
    let fault = match text_field(fields, "kind")? {
        "out-of-range" => Fault::OutOfRange { target: text("target")?, value: text("value")? },
        "bad-index" => {
            let len = usize::try_from(number_field(fields, "len")?).map_err(|_| "`len` is negative")?;
            Fault::BadIndex { target: text("target")?, index: number_field(fields, "index")?, len }
        }
        "division-by-zero" => Fault::DivisionByZero,
        "overflow" => Fault::Overflow,
        "bad-shift" => Fault::BadShift { by: number_field(fields, "by")? },
        "none-used" => Fault::NoneUsed,
        "assert-failed" => Fault::AssertFailed,
        "not-held" => Fault::NotHeld { lock: text("target")? },
        "semaphore-full" => Fault::SemaphoreFull { semaphore: text("target")? },
        "no-result" => Fault::NoResult { procedure: text("target")? },
        "endless" => Fault::Endless,
        other => return Err(format!("there is no error {}", brief(&other.into()))),
    };
    let span = field(fields, "span")?;
    let end = |nth: usize| span.get(nth).and_then(integer).and_then(|at| usize::try_from(at).ok());
    let (Some(start), Some(end)) = (end(0), end(1)) else { return Err("`span` is no pair of offsets".to_owned()) };
    Ok(StepFault { fault, span: Span::new(start, end) })
}
