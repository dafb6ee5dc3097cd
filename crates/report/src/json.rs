//! The result document (`--format json`), filled in: from runs to the types of `document.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use base::{Diagnostic, SourceFile, StopReason};
use engine::insight::{AssumedOutcome, Insight, Need, Reached};
use engine::methods::in_words;
use engine::run::{Audit, PropertyResult, Run};
use engine::{Attempt, AttemptOutcome, SharedView, Verdict};
use evidence::pushdown::{ExposedFact, PushdownProof};
use evidence::{Evidence, Scope, Trace, TraceEnd};
use explain::Explained;
use explain::names::{call_stack, line, location};
use explain::proof::{Assertion, LocalProof};
use explain::steps::StepView;
use model::Model;
use model::eval::{Contender, Move, State};
use model::process::ProcessId;
use model::property::Expected;
use model::types::Type;
use model::value::Value;
use model::variable::{Role, Storage, VarId};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::document::{
    About, AssumptionDocument, ChangedDocument, ContenderDocument, DisturbanceDocument, Document, EndDocument,
    ExplorationDocument, ExposedDocument, InvariantDocument, Message, MoveDocument, OtherSizesDocument, PartDocument,
    ProductSizeDocument, Reason, RemedyDocument, ResultDocument, RunDocument, SCHEMA, ScopeDocument, StateDocument,
    StepDocument, StoryDocument, StoryLineDocument, StoryWaitDocument, SweepDocument, Tool, TraceDocument, Tried,
    TriggerDocument, VerdictWord, WaitDocument,
};
use crate::files::Files;
use crate::guarantees;
use crate::human::tried::together;
use crate::item::Item;
use crate::proof_check::obligations_document;
use crate::sweep::{self, Sweep};

/// The document of a call that ends with this status.
pub fn document(items: &[Item<'_>], status: u8) -> Document {
    let runs = items.iter().map(|item| match item {
        Item::Checked(run, files) => run_document(run, files),
        Item::Refused(source, diagnostics) => refused(source, diagnostics),
    });
    Document { runs: runs.collect(), sweeps: sweeps(items), ..empty(status) }
}

/// The document of a call that could not be done, or not to its end: what came of programs before, and what is wrong.
pub fn failed(items: &[Item<'_>], errors: &[String], status: u8) -> Document {
    Document { errors: errors.to_vec(), ..document(items, status) }
}

fn empty(status: u8) -> Document {
    Document {
        schema: SCHEMA.to_owned(),
        status,
        tool: tool(),
        runs: Vec::new(),
        sweeps: Vec::new(),
        errors: Vec::new(),
    }
}

/// A typed document as a value; the types have nothing that JSON cannot say.
pub fn value_of(document: &impl Serialize) -> Json {
    serde_json::to_value(document).unwrap_or(Json::Null)
}

/// How properties grow, for each program that was checked at several sizes, method by method.
fn sweeps(items: &[Item<'_>]) -> Vec<SweepDocument> {
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in items.iter().filter_map(Item::run) {
        let is_same =
            |group: &&mut Vec<&Run>| group[0].source.name() == run.source.name() && group[0].method == run.method;
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.iter().filter_map(|runs| Sweep::of(runs)).map(|sweep| sweep::document(&sweep)).collect()
}

/// A file that was refused: no results, all messages.
pub fn refused(source: &SourceFile, diagnostics: &[Diagnostic]) -> RunDocument {
    RunDocument {
        file: source.name().to_owned(),
        program: None,
        parameters: BTreeMap::new(),
        method: None,
        results: Vec::new(),
        diagnostics: messages(source, diagnostics),
        seconds: None,
        processor_seconds: None,
    }
}

/// The tool and its version.
pub fn tool() -> Tool {
    Tool { name: "piecewise".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// The same as a value.
pub fn parameters(model: &Model) -> Json {
    value_of(&parameter_map(model))
}

/// The parameters of an instance by name.
pub fn parameter_map(model: &Model) -> BTreeMap<String, i64> {
    model.numbers().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Which run something is about.
pub fn about(source: &SourceFile, model: &Model, method: &str) -> About {
    About { file: source.name().to_owned(), parameters: parameter_map(model), method: method.to_owned() }
}

/// Why something is not decided: a stable code, and words.
pub fn reason(reason: &StopReason) -> Reason {
    Reason { code: reason.code().to_owned(), text: reason.to_string() }
}

/// Messages about the input.
pub fn messages(source: &SourceFile, diagnostics: &[Diagnostic]) -> Vec<Message> {
    let message = |diagnostic: &Diagnostic| {
        let at = source.line_col(diagnostic.primary.span.start);
        Message {
            severity: if diagnostic.is_error() { "error" } else { "warning" }.to_owned(),
            code: diagnostic.code.to_string(),
            message: diagnostic.message.clone(),
            line: at.line,
            column: at.col,
            help: diagnostic.helps.iter().map(|help| help.text.clone()).collect(),
        }
    };
    diagnostics.iter().map(message).collect()
}

fn run_document(run: &Explained, files: &Files) -> RunDocument {
    RunDocument {
        file: run.source.name().to_owned(),
        program: Some(run.model.name.clone()),
        parameters: parameter_map(&run.model),
        method: Some(run.method.to_owned()),
        results: run.results.iter().map(|result| self::result(run, result, files)).collect(),
        diagnostics: messages(&run.source, &run.warnings),
        seconds: Some(run.time.as_secs_f64()),
        processor_seconds: run.processor_time.map(|time| time.as_secs_f64()),
    }
}

/// The word of a verdict.
pub fn verdict_word(verdict: &Verdict) -> VerdictWord {
    match verdict {
        Verdict::Holds(_) => VerdictWord::Holds,
        Verdict::Violated(_) => VerdictWord::Violated,
        Verdict::Unknown(_) => VerdictWord::Unknown,
    }
}

/// What is known about one property.
pub fn result(run: &Explained, result: &PropertyResult, files: &Files) -> ResultDocument {
    let property = &run.model.properties[result.property];
    let statistics = &result.statistics;
    let verdict = verdict_word(&result.verdict);
    let (why, evidence) = match &result.verdict {
        Verdict::Holds(evidence) | Verdict::Violated(evidence) => (None, Some(evidence)),
        Verdict::Unknown(stopped) => {
            let text = in_words(stopped, &run.model, result.property).to_string();
            (Some(Reason { code: stopped.code().to_owned(), text }), None)
        }
    };
    let trace = evidence.and_then(|evidence| match evidence {
        Evidence::Trace(trace) => trace_document(run, result, trace),
        Evidence::Exploration(_) | Evidence::Reduced(_) | Evidence::Symbolic(_) | Evidence::Certificate(_) => None,
    });
    let (counterexample, witness) = if verdict == VerdictWord::Violated { (trace, None) } else { (None, trace) };
    let explanation = run.proof(result);
    let audit_reason = result.unaudited();
    ResultDocument {
        property: property.name.clone(),
        kind: property.kind.keyword().to_owned(),
        line: (!property.span.is_empty()).then(|| line(&run.source, property.span)),
        verdict,
        expected: match property.expected {
            Expected::Holds => VerdictWord::Holds,
            Expected::Violated => VerdictWord::Violated,
        },
        as_expected: result.as_expected(&run.model) == Some(true),
        denied: result.denied.iter().map(|kind| kind.name().to_owned()).collect(),
        method: result.method.to_owned(),
        tried: tried(result),
        reason: why,
        seconds: statistics.time.as_secs_f64(),
        first_known_s: statistics.first_known.map(|time| time.as_secs_f64()),
        peak_nodes: statistics.peak_nodes,
        peak_memory_bytes: statistics.peak_memory_bytes,
        refinements: statistics.refinements,
        exposed: explanation.map_or_else(|| exposed_by_path_edges(&run.model, evidence), exposed),
        local_states: statistics.local_states.clone(),
        views: statistics.views.map(|views| match views {
            SharedView::Mentioned => "mentioned".to_owned(),
            SharedView::Whole => "whole".to_owned(),
        }),
        global_states: statistics.global_states,
        global_transitions: statistics.global_transitions,
        depth: statistics.depth,
        evidence: evidence.map(|evidence| evidence_word(evidence).to_owned()),
        exploration: evidence.and_then(exploration),
        invariants: explanation.map_or_else(Vec::new, invariants),
        story: run.story(result).map(story),
        guarantees: guarantees::document(run, result),
        used_lines: explanation.map(|explanation| explanation.used_lines.iter().copied().collect()),
        unused_lines: explanation.map(|explanation| explanation.unused_lines.iter().copied().collect()),
        disturbed_by: explanation.map_or_else(Vec::new, interfering_steps),
        proof: files.proofs.get(&result.property).cloned(),
        proof_checked: matches!(result.audit, Audit::Proof(_)),
        trace: files.traces.get(&result.property).cloned(),
        scope: scope(result.verdict.scope()),
        audited: result.audit.is_accepted(),
        audit_reason: audit_reason.map(|why| Reason { code: why.code().to_owned(), text: why.to_string() }),
        obligations: if let Audit::Proof(counts) = &result.audit { Some(obligations_document(counts)) } else { None },
        counterexample,
        witness,
        vacuous: result.insight.is_vacuous(),
        triggers: triggers(&result.insight),
        assumptions: assumptions(&result.insight),
        remedies: remedies(&result.insight),
        every_n: result.insight.every_size.clone().map(scope),
        other_n: result
            .insight
            .other_sizes
            .as_ref()
            .map(|other| OtherSizesDocument { same_for: other.same_for.clone() }),
        product: (result.insight.product.as_ref())
            .map(|product| ProductSizeDocument { states: product.states, complete: product.is_whole }),
    }
}

fn evidence_word(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Trace(_) => "trace",
        Evidence::Exploration(_) => "exploration",
        Evidence::Reduced(_) => "reduced",
        Evidence::Symbolic(_) => "symbolic",
        Evidence::Certificate(_) => "certificate",
    }
}

pub(crate) fn scope(scope: Scope) -> ScopeDocument {
    match scope {
        Scope::Instance => ScopeDocument::Instance,
        Scope::AllSizes { parameter, from, checked } => ScopeDocument::All { parameter, from, checked },
    }
}

/// The methods that were tried, where they raced.
fn tried(result: &PropertyResult) -> Vec<Tried> {
    let attempt = |(last, took): (&Attempt, Duration)| {
        let (outcome, why) = match &last.outcome {
            AttemptOutcome::Decided => ("decided", None),
            AttemptOutcome::Overtaken => ("overtaken", None),
            AttemptOutcome::Open(stopped) => ("open", Some(reason(stopped))),
        };
        let (method, outcome) = (last.method.to_owned(), outcome.to_owned());
        Tried { method, outcome, reason: why, seconds: took.as_secs_f64() }
    };
    together(&result.statistics.tried).into_iter().map(attempt).collect()
}

/// What has to happen first for a property to say something, and for which values of its variables it does.
fn triggers(insight: &Insight) -> Vec<TriggerDocument> {
    let word = |reached: Reached| match reached {
        Reached::Always => "for-all",
        Reached::Sometimes => "for-some-only",
        Reached::AtLeastOnce => "for-some",
        Reached::Never => "never",
        Reached::NoInstance => "no-instance",
        Reached::Unknown => "unknown",
    };
    let trigger = |trigger: &engine::insight::Trigger| TriggerDocument {
        condition: trigger.text.clone(),
        variables: trigger.variables.clone(),
        reached: word(trigger.reached).to_owned(),
    };
    insight.triggers.iter().map(trigger).collect()
}

/// The assumptions of a property that holds.
fn assumptions(insight: &Insight) -> Vec<AssumptionDocument> {
    let assumption = |assumption: &engine::insight::Assumption| {
        let (needed, loop_without) = match assumption.need {
            Need::Needed(turns) => (Some(true), Some(turns)),
            Need::NotNeeded => (Some(false), None),
            Need::Unknown => (None, None),
        };
        AssumptionDocument { assumption: assumption.text.clone(), needed, loop_without }
    };
    insight.assumptions.iter().map(assumption).collect()
}

/// Assumptions that exclude the counterexample, and what becomes of the property under them.
fn remedies(insight: &Insight) -> Vec<RemedyDocument> {
    let remedy = |remedy: &engine::insight::Remedy| {
        let (verdict, turns) = match remedy.outcome {
            AssumedOutcome::Holds => (VerdictWord::Holds, None),
            AssumedOutcome::Violated(turns) => (VerdictWord::Violated, Some(turns)),
            AssumedOutcome::Unknown => (VerdictWord::Unknown, None),
        };
        RemedyDocument { added: remedy.added.clone(), under: remedy.under.clone(), verdict, turns }
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

/// The facts about local stores that path edges use.
fn exposed_by_path_edges(model: &Model, evidence: Option<&Evidence>) -> Vec<ExposedDocument> {
    let facts = pushdown_proof(evidence).map_or(&[][..], |proof| &proof.exposed);
    let fact = |fact: &ExposedFact| {
        let (process, text) = guarantees::exposed(model, fact);
        ExposedDocument { process: process.to_string(), fact: text.to_string() }
    };
    facts.iter().map(fact).collect()
}

/// The facts that all processes may see, for each process that exposes one.
fn exposed(explanation: &LocalProof) -> Vec<ExposedDocument> {
    let facts = explanation.exposed.iter().flat_map(|exposure| &exposure.of);
    facts.map(|(process, fact)| ExposedDocument { process: process.clone(), fact: fact.clone() }).collect()
}

/// What the proof says; `at` is empty where it holds everywhere. `expression` is the same as an invariant of the program, for all processes of which it
/// is said; null where the language cannot say it.
fn invariants(explanation: &LocalProof) -> Vec<InvariantDocument> {
    let mut out = Vec::new();
    for part in &explanation.parts {
        let mut say = |id: Option<String>, at: &[String], one: &Assertion| {
            out.push(InvariantDocument {
                id,
                process: part.members.first().cloned(),
                processes: part.members.clone(),
                letters: part.letters.clone(),
                at: at.to_vec(),
                text: one.text.clone(),
                expression: one.expression.clone(),
            });
        };
        for (nth, one) in part.always.iter().enumerate() {
            say(Some(format!("I{}", nth + 1)), &[], one);
        }
        for places in &part.places {
            places.says.iter().for_each(|one| say(None, &places.at, one));
        }
    }
    out
}

/// Which process waits for which, and why that ends.
fn story(explanation: &explain::proof::Story) -> StoryDocument {
    let wait = |wait: &explain::proof::story::WaitLine| StoryWaitDocument {
        who: wait.who.clone(),
        at: wait.at.clone(),
        holds: wait.holds.clone(),
        whom: wait.whom.clone(),
    };
    let line =
        |line: &explain::proof::story::StoryLine| StoryLineDocument { depth: line.depth, text: line.text.clone() };
    StoryDocument {
        waits: explanation.waits.iter().map(wait).collect(),
        lines: explanation.lines.iter().map(line).collect(),
    }
}

/// The steps of others that touch what a process relies on.
fn interfering_steps(explanation: &LocalProof) -> Vec<DisturbanceDocument> {
    let step =
        |step: &explain::proof::SourceStep| DisturbanceDocument { line: step.line, action: step.statement.clone() };
    explanation.interfering_steps.iter().map(step).collect()
}

/// What was explored, where that is the evidence.
fn exploration(evidence: &Evidence) -> Option<ExplorationDocument> {
    let (Evidence::Exploration(seen) | Evidence::Reduced(seen)) = evidence else { return None };
    Some(ExplorationDocument {
        states: seen.states,
        transitions: seen.transitions,
        deadlocks: seen.deadlocks,
        errors: seen.errors,
        depth: seen.depth,
        complete: seen.complete,
        reduced: matches!(evidence, Evidence::Reduced(_)),
    })
}

/// A trace: the initial state, the steps with what each changes, what the end shows.
pub fn trace_document(run: &Explained, result: &PropertyResult, trace: &Trace) -> Option<TraceDocument> {
    let explanation = run.explained_trace(result)?;
    Some(TraceDocument {
        initial: trace.states.first().map(|state| state_document(&run.model, state)),
        steps: (0..trace.n_steps()).map(|at| step(&run.model, explanation.step(at))).collect(),
        loop_from: trace.loop_from,
        end: end(run, result, trace)?,
        context_switches: trace.n_context_switches(),
        stacks: stacks(&run.model, trace),
    })
}

/// The call stacks in the last state, of those processes that are in a procedure.
fn stacks(model: &Model, trace: &Trace) -> BTreeMap<String, Vec<String>> {
    let Some(last) = trace.states.last() else { return BTreeMap::new() };
    let stack = |process: ProcessId| {
        let frames = call_stack(model, last, process);
        (!frames.is_empty()).then(|| (model.processes[process].name.clone(), frames))
    };
    model.processes.ids().filter_map(stack).collect()
}

fn step(model: &Model, view: &StepView) -> StepDocument {
    let name = |id: ProcessId| model.processes[id].name.clone();
    let changed = view.changes.iter().map(|change| {
        let old = change.old.map_or(Json::Null, |old| content(model, change.var, old));
        (change.name.clone(), ChangedDocument { old, new: content(model, change.var, change.new) })
    });
    let moved = view.moved.first();
    StepDocument {
        process: name(view.process),
        partner: view.partner.map(name),
        action: view.statement.clone(),
        label: view.label.clone(),
        line: view.line,
        from: moved.map(|moved| moved.from.clone()),
        to: moved.map(|moved| moved.to.clone()),
        changed: changed.collect(),
        stands_still: view.stands_still,
    }
}

/// What the end of a trace shows, with the words and ids that people are shown.
pub fn end(run: &Explained, result: &PropertyResult, trace: &Trace) -> Option<EndDocument> {
    use model::property::PropertyKind::{Invariant, Reachable};
    let model = &run.model;
    let (last, explanation) = (trace.states.last()?, run.trace(result)?);
    let name = |id: &ProcessId| model.processes[*id].name.clone();
    Some(match (&trace.end, &model.properties[result.property].kind) {
        (TraceEnd::State, Invariant(_) | Reachable(_)) => {
            let parts = explanation.why.iter().map(|why| PartDocument {
                part: why.text.clone(),
                instance: why.instance.clone(),
                is: why.truth,
                bindings: why.bindings.iter().map(|(name, bound)| (name.clone(), value(model, *bound))).collect(),
            });
            EndDocument::State { because: parts.collect() }
        }
        (TraceEnd::State, _) => EndDocument::State { because: Vec::new() },
        (TraceEnd::Loop, _) => EndDocument::Loop,
        (TraceEnd::Fault { by, fault }, _) => {
            let by = MoveDocument { line: line(&run.source, fault.span), ..move_document(run, by) };
            EndDocument::Error { by, message: fault.fault.to_string() }
        }
        (TraceEnd::Deadlock, _) => {
            let stuck = explanation.waits.iter().map(|wait| WaitDocument {
                process: name(&wait.process),
                at: location(model, last, wait.process),
                waits_for: wait.what.to_string(),
                held_by: wait.holders.iter().map(name).collect(),
            });
            let cycle = explanation.cycle.as_ref().map(|ids| ids.iter().map(name).collect());
            EndDocument::Deadlock { stuck: stuck.collect(), cycle }
        }
        (TraceEnd::Race(race), _) => {
            let side = |side: &Contender| ContenderDocument {
                by: move_document(run, &Move::alone(side.process, side.action)),
                writes: side.writes,
            };
            let variable = model.cells[race.cell].name.clone();
            EndDocument::Race { variable, contenders: race.contenders.iter().map(side).collect() }
        }
    })
}

fn move_document(run: &Run, by: &Move) -> MoveDocument {
    let action = &run.model.actions[by.action];
    let statement = &run.model.statements[action.statement];
    MoveDocument {
        process: run.model.processes[by.process].name.clone(),
        action: statement.text.clone(),
        label: action.labels.first().cloned(),
        line: line(&run.source, statement.span),
    }
}

/// A whole state: the places of all processes, and all variables.
pub fn state_document(model: &Model, state: &State) -> StateDocument {
    let (mut at, mut variables) = (BTreeMap::new(), BTreeMap::new());
    for (id, var) in model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared) {
        let cells: Vec<Value> = model.cells_of(id, None).map(|cell| state.cells[cell.index()]).collect();
        variables.insert(var.name.clone(), composed(model, (id, &var.ty), &cells));
    }
    for (process, declared) in model.processes.entries() {
        at.insert(declared.name.clone(), location(model, state, process));
        for &id in &model.families[declared.family].vars {
            let var = &model.vars[id];
            if matches!(var.role, Role::Counter(_)) {
                continue;
            }
            let cells: Vec<Value> = model.cells_of(id, Some(process)).map(|cell| state.cells[cell.index()]).collect();
            variables.insert(format!("{}.{}", declared.name, var.name), composed(model, (id, &var.ty), &cells));
        }
    }
    StateDocument { at, variables }
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
        value_of(&document(&[Item::Checked(&explained(run), &Files::default())], 0))
    }

    #[test]
    fn the_document_has_every_key_of_the_contract() {
        let document = of(&mux_sem(2));
        assert_eq!(document["schema"], "piecewise-report/2");
        assert_eq!(document["tool"]["name"], "piecewise");
        let run = &document["runs"][0];
        assert_eq!((&run["file"], &run["parameters"]), (&json!("mux_sem.pw"), &json!({"N": 2})));
        let result = &run["results"][0];
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
            "evidence",
            "assumptions",
            "first_known_s",
            "audited",
            "counterexample",
        ];
        for key in keys {
            assert!(result.get(key).is_some(), "{key} is missing");
        }
        assert_eq!(result["scope"], json!({"kind": "instance"}));
        assert_eq!((&result["verdict"], &result["as_expected"]), (&json!("holds"), &json!(true)));
        assert_eq!((&result["peak_nodes"], &result["global_states"]), (&Json::Null, &json!(12)));
        assert_eq!(document["runs"][0]["results"][3]["as_expected"], false, "expected violated, and holds");
        assert_eq!(
            document["runs"][0]["results"][4]["witness"]["steps"][1]["changed"],
            json!({"x": {"old": 1, "new": 0}})
        );
    }

    #[test]
    fn counterexamples() {
        crate::testing::assert_shown(
            "json__counterexamples",
            &serde_json::to_string_pretty(&of(&broken_lock(2))["runs"][0]["results"][0]["counterexample"]).unwrap(),
        );
    }

    #[test]
    fn ends_of_each_kind() {
        let end = |run: &Run, nth: usize| of(run)["runs"][0]["results"][nth]["counterexample"]["end"].clone();
        let ends = json!([end(&philosophers(2), 0), end(&counter(), 0), end(&counter(), 1)]);
        crate::testing::assert_shown("json__ends_of_each_kind", &serde_json::to_string_pretty(&ends).unwrap());
    }

    #[test]
    fn unknown_says_why_twice() {
        let mut run = mux_sem(2);
        run.results[0].verdict = Verdict::Unknown(StopReason::Cancelled);
        let result = &of(&run)["runs"][0]["results"][0];
        assert_eq!(result["reason"], json!({"code": "cancelled", "text": "interrupted"}));
        assert_eq!((&result["verdict"], &result["as_expected"]), (&json!("unknown"), &json!(false)));
    }

    #[test]
    fn several_runs_stand_in_one_document_of_the_same_shape() {
        let (one, other) = (explained(&mux_sem(2)), explained(&broken_lock(2)));
        let files = Files::default();
        let document = document(&[Item::Checked(&one, &files), Item::Checked(&other, &files)], 1);
        assert_eq!((document.status, document.runs.len()), (1, 2));
        assert_eq!(document.runs[1].file, "broken_lock.pw");
        assert_eq!(value_of(&failed(&[], &["no.pw: not there".to_owned()], 2))["errors"][0], "no.pw: not there");
    }
}
