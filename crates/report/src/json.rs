//! The result document (`--format json`), the contract that scripts rely on.
//!
//! Keys are added, never renamed. A number that a method does not have is null, never 0.

use std::time::Duration;

use base::{Diagnostic, SourceFile, StopReason};
use engine::insight::{Assumption, Insight, Need, Outcome, Reached, Remedy, Trigger};
use engine::methods::in_words;
use engine::run::{Audit, PropertyResult, Run};
use engine::{Attempt, AttemptOutcome, Verdict, Views};
use evidence::pushdown::{ExposedFact, PushdownProof};
use evidence::{Evidence, Trace, TraceEnd};
use explain::Explained;
use explain::names::{call_stack, line, location};
use explain::proof::{Assertion, LocalProof};
use explain::steps::StepView;
use model::Model;
use model::eval::{Move, State};
use model::process::ProcessId;
use model::property::Expected;
use model::types::Type;
use model::value::Value;
use model::variable::{Role, Storage, VarId};
use serde_json::{Map, Value as Json, json};

use crate::files::Files;
use crate::guarantees;
use crate::human::tried::together;
use crate::proof_check::obligations_json;
use crate::sweep::{self, Sweep};

/// The name of the document's shape.
const SCHEMA: &str = "piecewise-report/1";

/// The document of one run, or of several: then the runs stand in `runs`, each as it would stand alone.
pub fn document(runs: &[(&Explained, &Files)]) -> Json {
    let mut out = Map::new();
    out.insert("schema".into(), json!(SCHEMA));
    out.insert("tool".into(), tool());
    match runs {
        [(run, files)] => out.extend(run_fields(run, files)),
        several => {
            let runs = several.iter().map(|(run, files)| Json::Object(run_fields(run, files)));
            out.insert("runs".into(), runs.collect());
            out.insert("sweeps".into(), sweeps(several));
        }
    }
    Json::Object(out)
}

/// How properties grow, for each program that was checked at several sizes.
fn sweeps(runs: &[(&Explained, &Files)]) -> Json {
    let of_one_text = runs.chunk_by(|(one, _), (other, _)| one.source.name() == other.source.name());
    let runs = of_one_text.map(|runs| runs.iter().map(|(run, _)| &***run).collect::<Vec<&Run>>());
    runs.filter_map(|runs| Sweep::of(&runs)).map(|sweep| sweep::document(&sweep)).collect()
}

/// The document of a call whose input was refused: no results, all messages.
pub fn refused(source: &SourceFile, diagnostics: &[Diagnostic]) -> Json {
    json!({
        "schema": SCHEMA,
        "tool": tool(),
        "model": source.name(),
        "results": [],
        "diagnostics": messages(source, diagnostics),
    })
}

/// The tool and its version.
pub fn tool() -> Json {
    json!({ "name": "piecewise", "version": env!("CARGO_PKG_VERSION") })
}

/// The parameters of an instance by name.
pub fn parameters(model: &Model) -> Json {
    model
        .parameters
        .iter()
        .map(|parameter| (parameter.name.clone(), json!(parameter.value)))
        .collect::<Map<_, _>>()
        .into()
}

/// Why something is not decided: a stable code, and words.
pub fn reason(reason: &StopReason) -> Json {
    json!({ "code": reason.code(), "text": reason.to_string() })
}

/// Messages about the input.
pub fn messages(source: &SourceFile, diagnostics: &[Diagnostic]) -> Json {
    let message = |diagnostic: &Diagnostic| {
        let at = source.line_col(diagnostic.primary.span.start);
        json!({
            "severity": if diagnostic.is_error() { "error" } else { "warning" },
            "code": diagnostic.code,
            "message": diagnostic.message,
            "line": at.line,
            "column": at.col,
            "help": diagnostic.helps.iter().map(|help| help.text.as_str()).collect::<Vec<_>>(),
        })
    };
    diagnostics.iter().map(message).collect()
}

fn run_fields(run: &Explained, files: &Files) -> Map<String, Json> {
    let results = run.results.iter().map(|result| self::result(run, result, files));
    let fields = [
        ("model", json!(run.source.name())),
        ("program", json!(run.model.name)),
        ("parameters", parameters(&run.model)),
        ("results", results.collect()),
        ("diagnostics", messages(&run.source, &run.warnings)),
        ("seconds", json!(run.time.as_secs_f64())),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn result(run: &Explained, result: &PropertyResult, files: &Files) -> Json {
    let property = &run.model.properties[result.property];
    let statistics = &result.statistics;
    let (verdict, why, evidence) = match &result.verdict {
        Verdict::Holds(evidence) => ("holds", Json::Null, Some(evidence)),
        Verdict::Violated(evidence) => ("violated", Json::Null, Some(evidence)),
        Verdict::Unknown(stopped) => {
            let text = in_words(stopped, &run.model, result.property);
            ("unknown", json!({ "code": stopped.code(), "text": text }), None)
        }
    };
    let trace = evidence.and_then(|evidence| match evidence {
        Evidence::Trace(trace) => Some(trace_document(run, result, trace)),
        Evidence::Exploration(_) | Evidence::Reduced(_) | Evidence::Symbolic(_) | Evidence::Certificate(_) => None,
    });
    let (counterexample, witness) = if verdict == "violated" { (trace, None) } else { (None, trace) };
    let told = run.proof(result);
    let expected = match property.expected {
        Expected::Holds => "holds",
        Expected::Violated => "violated",
    };
    let other_n = result.insight.other_sizes.as_ref().map(|other| json!({ "same_for": other.same_for }));
    let denied: Vec<&str> = result.denied.iter().map(|kind| kind.name()).collect();
    let audit_reason = result.unaudited().map(|why| json!({ "code": why.code(), "text": why.to_string() }));
    json!({
        "property": property.name,
        "kind": property.kind.keyword(),
        "line": (!property.span.is_empty()).then(|| line(&run.source, property.span)),
        "verdict": verdict,
        "expected": expected,
        "as_expected": result.as_expected(&run.model) == Some(true),
        "denied": denied,
        "method": result.method,
        "tried": tried(result),
        "reason": why,
        "seconds": statistics.time.as_secs_f64(),
        "peak_nodes": statistics.peak_nodes,
        "peak_memory_bytes": statistics.peak_memory_bytes,
        "refinements": statistics.refinements,
        "exposed": told.map_or_else(|| exposed_by_path_edges(&run.model, evidence), exposed),
        "local_states": statistics.local_states,
        "views": statistics.views.map(|views| match views {
            Views::Mentioned => "mentioned",
            Views::Whole => "whole",
        }),
        "global_states": statistics.global_states,
        "global_transitions": statistics.global_transitions,
        "depth": statistics.depth,
        "exploration": evidence.and_then(exploration),
        "invariants": told.map_or(json!([]), invariants),
        "guarantees": guarantees::document(run, result),
        "used_lines": told.map(|told| &told.used_lines),
        "unused_lines": told.map(|told| &told.unused_lines),
        "disturbed_by": told.map_or(json!([]), disturbances),
        "proof": files.proofs.get(&result.property),
        "proof_checked": matches!(result.audit, Audit::Proof(_)),
        "trace": files.traces.get(&result.property),
        "scope": result.verdict.scope(),
        "audited": result.audit.is_accepted(),
        "audit_reason": audit_reason,
        "obligations": if let Audit::Proof(counts) = &result.audit { obligations_json(counts) } else { Json::Null },
        "counterexample": counterexample,
        "witness": witness,
        "vacuous": result.insight.is_vacuous(),
        "triggers": triggers(&result.insight),
        "assumptions": assumptions(&result.insight),
        "remedies": remedies(&result.insight),
        "other_n": other_n,
    })
}

/// The methods that were tried, where they raced.
fn tried(result: &PropertyResult) -> Json {
    let attempt = |(last, took): (&Attempt, Duration)| {
        let (outcome, why) = match &last.outcome {
            AttemptOutcome::Decided => ("decided", Json::Null),
            AttemptOutcome::Overtaken => ("overtaken", Json::Null),
            AttemptOutcome::Open(stopped) => ("open", reason(stopped)),
        };
        json!({"method": last.method, "outcome": outcome, "reason": why, "seconds": took.as_secs_f64()})
    };
    together(&result.statistics.tried).into_iter().map(attempt).collect()
}

/// What has to happen first for a property to say something, and for which values of its variables it does.
fn triggers(insight: &Insight) -> Json {
    let word = |reached: Reached| match reached {
        Reached::Always => "for-all",
        Reached::Sometimes => "for-some-only",
        Reached::AtLeastOnce => "for-some",
        Reached::Never => "never",
        Reached::Unknown => "unknown",
    };
    let trigger = |trigger: &Trigger| json!({ "condition": trigger.text, "variables": trigger.variables, "reached": word(trigger.reached) });
    insight.triggers.iter().map(trigger).collect()
}

/// The assumptions of a property that holds; `needed` is null where that was not found out.
fn assumptions(insight: &Insight) -> Json {
    let assumption = |assumption: &Assumption| {
        let (needed, turns) = match assumption.need {
            Need::Needed(turns) => (Some(true), Some(turns)),
            Need::NotNeeded => (Some(false), None),
            Need::Unknown => (None, None),
        };
        json!({ "assumption": assumption.text, "needed": needed, "loop_without": turns })
    };
    insight.assumptions.iter().map(assumption).collect()
}

/// Assumptions that exclude the counterexample, and what becomes of the property under them.
fn remedies(insight: &Insight) -> Json {
    let remedy = |remedy: &Remedy| {
        let (verdict, turns) = match remedy.outcome {
            Outcome::Holds => ("holds", None),
            Outcome::Violated(turns) => ("violated", Some(turns)),
            Outcome::Unknown => ("unknown", None),
        };
        json!({ "added": remedy.added, "under": remedy.under, "verdict": verdict, "loop": turns })
    };
    insight.remedies.iter().map(remedy).collect()
}

/// The path edges that are the evidence, if they are.
fn pushdown_proof(evidence: Option<&Evidence>) -> Option<&PushdownProof> {
    match evidence? {
        Evidence::Certificate(proof) => proof.pushdown(),
        _ => None,
    }
}

/// The facts about local stores that path edges look at.
fn exposed_by_path_edges(model: &Model, evidence: Option<&Evidence>) -> Json {
    let facts = pushdown_proof(evidence).map_or(&[][..], |proof| &proof.exposed);
    let fact = |fact: &ExposedFact| {
        let (process, text) = guarantees::exposed(model, fact);
        json!({ "process": process, "fact": text })
    };
    facts.iter().map(fact).collect()
}

/// The facts that all may look at, for each process that exposes one.
fn exposed(told: &LocalProof) -> Json {
    let facts = told.exposed.iter().flat_map(|exposure| &exposure.of);
    facts.map(|(process, fact)| json!({ "process": process, "fact": fact })).collect()
}

/// What the proof says; `at` is empty where it holds everywhere. `expression` is the same as an invariant of the program, for all processes of which it
/// is said; null where the language cannot say it.
fn invariants(told: &LocalProof) -> Json {
    let mut out: Vec<Json> = Vec::new();
    for part in &told.parts {
        let mut say = |id: Option<String>, at: &[String], one: &Assertion| {
            out.push(json!({
                "id": id,
                "process": part.members.first(),
                "processes": part.members,
                "for": part.letters,
                "at": at,
                "text": one.text,
                "expression": one.expression,
            }));
        };
        for (nth, one) in part.always.iter().enumerate() {
            say(Some(format!("I{}", nth + 1)), &[], one);
        }
        for places in &part.places {
            places.says.iter().for_each(|one| say(None, &places.at, one));
        }
    }
    out.into()
}

/// The steps of others that touch what somebody relies on.
fn disturbances(told: &LocalProof) -> Json {
    told.disturbances.iter().map(|step| json!({ "line": step.line, "action": step.statement })).collect()
}

/// What was explored, where that is the evidence.
fn exploration(evidence: &Evidence) -> Option<Json> {
    let (Evidence::Exploration(seen) | Evidence::Reduced(seen)) = evidence else { return None };
    Some(json!({
        "states": seen.states,
        "transitions": seen.transitions,
        "deadlocks": seen.deadlocks,
        "errors": seen.errors,
        "depth": seen.depth,
        "complete": seen.complete,
        "reduced": matches!(evidence, Evidence::Reduced(_)),
    }))
}

/// A trace: the initial state, the steps with what each changes, what the end shows.
pub fn trace_document(run: &Explained, result: &PropertyResult, trace: &Trace) -> Json {
    let Some(told) = run.told_trace(result) else { return Json::Null };
    let initial = trace.states.first().map(|state| state_document(&run.model, state));
    json!({
        "initial": initial,
        "steps": (0..trace.n_steps()).map(|at| step(&run.model, told.step(at))).collect::<Vec<_>>(),
        "loop_from": trace.loop_from,
        "end": end(run, result, trace),
        "context_switches": trace.n_context_switches(),
        "stacks": stacks(&run.model, trace),
    })
}

/// The call stacks in the last state, of those processes that are in a procedure.
fn stacks(model: &Model, trace: &Trace) -> Json {
    let Some(last) = trace.states.last() else { return json!({}) };
    let stack = |process: ProcessId| {
        let frames = call_stack(model, last, process);
        (!frames.is_empty()).then(|| (model.processes[process].name.clone(), json!(frames)))
    };
    Json::Object(model.processes.ids().filter_map(stack).collect())
}

fn step(model: &Model, view: &StepView) -> Json {
    let name = |id: ProcessId| model.processes[id].name.as_str();
    let changed = view.changes.iter().map(|change| {
        let values = json!({ "old": change.old.map(|old| content(model, change.var, old)), "new": content(model, change.var, change.new) });
        (change.name.clone(), values)
    });
    let changed: Map<String, Json> = changed.collect();
    let moved = view.moved.first();
    let mut out = json!({
        "process": name(view.process),
        "partner": view.partner.map(name),
        "action": view.statement,
        "label": view.label,
        "line": view.line,
        "from": moved.map(|moved| moved.from.as_str()),
        "to": moved.map(|moved| moved.to.as_str()),
        "changed": changed,
    });
    if view.stands_still {
        out["stands_still"] = json!(true);
    }
    out
}

/// What the end of a trace shows, with the words and ids that people are shown.
pub fn end(run: &Explained, result: &PropertyResult, trace: &Trace) -> Json {
    use model::property::PropertyKind::{Invariant, Reachable};
    let model = &run.model;
    let (Some(last), Some(told)) = (trace.states.last(), run.trace(result)) else { return Json::Null };
    match (&trace.end, &model.properties[result.property].kind) {
        (TraceEnd::State, Invariant(_) | Reachable(_)) => {
            let parts = told.why.iter().map(|why| {
                let bindings = why.bindings.iter().map(|(name, bound)| (name.clone(), value(model, *bound)));
                let bindings: Map<String, Json> = bindings.collect();
                json!({ "part": why.text, "instance": why.instance, "is": why.truth, "for": bindings })
            });
            json!({ "kind": "state", "because": parts.collect::<Vec<_>>() })
        }
        (TraceEnd::State, _) => json!({ "kind": "state" }),
        (TraceEnd::Loop, _) => json!({ "kind": "loop" }),
        (TraceEnd::Fault { by, fault }, _) => {
            let mut out = move_fields(run, by);
            out.insert("kind".into(), json!("error"));
            out.insert("message".into(), json!(fault.fault.to_string()));
            out.insert("line".into(), json!(line(&run.source, fault.span)));
            Json::Object(out)
        }
        (TraceEnd::Deadlock, _) => {
            let name = |id: &ProcessId| model.processes[*id].name.as_str();
            let stuck = told.waits.iter().map(|wait| {
                json!({
                    "process": name(&wait.process),
                    "at": location(model, last, wait.process),
                    "waits_for": wait.what.to_string(),
                    "held_by": wait.holders.iter().map(name).collect::<Vec<_>>(),
                })
            });
            let cycle = told.cycle.as_ref().map(|ids| ids.iter().map(name).collect::<Vec<_>>());
            json!({ "kind": "deadlock", "stuck": stuck.collect::<Vec<_>>(), "cycle": cycle })
        }
        (TraceEnd::Race(race), _) => {
            let side = |side: &model::eval::Contender| {
                let mut out = move_fields(run, &Move::alone(side.process, side.action));
                out.insert("writes".into(), json!(side.writes));
                Json::Object(out)
            };
            let contenders: Vec<Json> = race.contenders.iter().map(side).collect();
            json!({ "kind": "race", "variable": model.cells[race.cell].name, "contenders": contenders })
        }
    }
}

fn move_fields(run: &Run, by: &Move) -> Map<String, Json> {
    let statement = &run.model.statements[run.model.actions[by.action].statement];
    let fields = [
        ("process", json!(run.model.processes[by.process].name)),
        ("action", json!(statement.text)),
        ("label", json!(run.model.actions[by.action].labels.first())),
        ("line", json!(line(&run.source, statement.span))),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A whole state: where everybody stands, and all variables.
pub fn state_document(model: &Model, state: &State) -> Json {
    let mut places = Map::new();
    let mut variables = Map::new();
    for (id, var) in model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared) {
        let cells: Vec<Value> = model.cells_of(id, None).map(|cell| state.cells[cell.index()]).collect();
        variables.insert(var.name.clone(), composed(model, (id, &var.ty), &cells));
    }
    for (process, declared) in model.processes.entries() {
        places.insert(declared.name.clone(), json!(location(model, state, process)));
        for &id in &model.families[declared.family].vars {
            let var = &model.vars[id];
            if matches!(var.role, Role::Counter(_)) {
                continue;
            }
            let cells: Vec<Value> = model.cells_of(id, Some(process)).map(|cell| state.cells[cell.index()]).collect();
            variables.insert(format!("{}.{}", declared.name, var.name), composed(model, (id, &var.ty), &cells));
        }
    }
    json!({ "at": places, "variables": variables })
}

fn composed(model: &Model, (var, ty): (VarId, &Type), cells: &[Value]) -> Json {
    match ty {
        Type::Scalar(_) => cells.first().map_or(Json::Null, |&one| content(model, var, one)),
        Type::Array { element, len } => {
            let size = element.n_cells();
            (0..*len).map(|at| composed(model, (var, element), &cells[at * size..(at + 1) * size])).collect()
        }
    }
}

/// The content of a variable: a number by its name, if it has one.
fn content(model: &Model, var: VarId, content: Value) -> Json {
    match content {
        Value::Int(number) if model.vars[var].shown.contains_key(&number) => json!(model.vars[var].shown[&number]),
        other => value(model, other),
    }
}

/// Truth values and numbers as such, `none` as null, all else by name.
fn value(model: &Model, value: Value) -> Json {
    match value {
        Value::Bool(truth) => json!(truth),
        Value::Int(number) => json!(number),
        Value::Enum(id, at) => json!(model.enums[id].values[at as usize]),
        Value::None => Json::Null,
        Value::Process(id) => json!(model.processes[id].name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{broken_lock, counter, explained, mux_sem, philosophers};

    fn of(run: &Run) -> Json {
        document(&[(&explained(run), &Files::default())])
    }

    #[test]
    fn the_document_has_every_key_of_the_contract() {
        let document = of(&mux_sem(2));
        assert_eq!(document["schema"], "piecewise-report/1");
        assert_eq!(document["tool"]["name"], "piecewise");
        assert_eq!((&document["model"], &document["parameters"]), (&json!("mux_sem.pw"), &json!({"N": 2})));
        let result = &document["results"][0];
        let keys = [
            "property",
            "kind",
            "verdict",
            "expected",
            "as_expected",
            "method",
            "reason",
            "seconds",
            "peak_nodes",
            "peak_memory_bytes",
            "refinements",
            "exposed",
            "local_states",
            "global_states",
            "invariants",
            "proof",
            "scope",
            "audited",
            "counterexample",
        ];
        for key in keys {
            assert!(result.get(key).is_some(), "{key} is missing");
        }
        assert_eq!(result["scope"], json!({"kind": "instance"}));
        assert_eq!((&result["verdict"], &result["as_expected"]), (&json!("holds"), &json!(true)));
        assert_eq!((&result["peak_nodes"], &result["global_states"]), (&Json::Null, &json!(12)));
        assert_eq!(document["results"][3]["as_expected"], false, "expected violated, and holds");
        assert_eq!(document["results"][4]["witness"]["steps"][1]["changed"], json!({"x": {"old": 1, "new": 0}}));
    }

    #[test]
    fn counterexamples() {
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&of(&broken_lock(2))["results"][0]["counterexample"]).unwrap()
        );
    }

    #[test]
    fn ends_of_each_kind() {
        let end = |run: &Run, nth: usize| of(run)["results"][nth]["counterexample"]["end"].clone();
        let ends = json!([end(&philosophers(2), 0), end(&counter(), 0), end(&counter(), 1)]);
        insta::assert_snapshot!(serde_json::to_string_pretty(&ends).unwrap());
    }

    #[test]
    fn unknown_says_why_twice() {
        let mut run = mux_sem(2);
        run.results[0].verdict = Verdict::Unknown(StopReason::Cancelled);
        let result = &of(&run)["results"][0];
        assert_eq!(result["reason"], json!({"code": "cancelled", "text": "interrupted"}));
        assert_eq!((&result["verdict"], &result["as_expected"]), (&json!("unknown"), &json!(false)));
    }

    #[test]
    fn several_runs_stand_in_one_document() {
        let (one, other) = (explained(&mux_sem(2)), explained(&broken_lock(2)));
        let files = Files::default();
        let document = document(&[(&one, &files), (&other, &files)]);
        assert_eq!(document["runs"][1]["model"], "broken_lock.pw");
        assert!(document.get("results").is_none() && document["runs"][0].get("schema").is_none());
    }
}
