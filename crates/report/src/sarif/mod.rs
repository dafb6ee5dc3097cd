//! Results in SARIF 2.1.0, the format in which analysis tools exchange findings (`--format sarif`).
//!
//! In: what came of the programs of a call. Out: one document with one run: a rule for each kind of property (`rules.rs`) and for each message of the
//! front-end that was drawn; a result for each property that is not as expected, with its counterexample as a code flow of one
//! thread flow for each process (`flow.rs`); a result of kind `open` for each that is not decided; and the messages of the
//! front-end. Properties that are as expected are no results, since common consumers show every result as a problem, whatever its kind; their
//! verdicts are in the property bag of the run.

mod flow;
mod rules;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use base::{Diagnostic, SourceFile, Span, StopReason};
use engine::Verdict;
use explain::finding::Urgency;
use model::property::Expected;
use serde_json::{Map, Value as Json, json};

use crate::findings::ReportedFinding;
use crate::item::{Item, all_diagnostics};
use crate::json::parameters;
use crate::uri::{self, Located};
use rules::Rules;

pub use rules::CodeText;

/// The name under which relative URIs are resolved.
const ROOT: &str = "SRCROOT";

/// A call, as the document describes it.
pub struct Call<'a> {
    /// What came of its programs.
    pub items: &'a [Item<'a>],
    /// What keeps the call from being done, if something does.
    pub errors: &'a [String],
    /// The directory in which it was made.
    pub directory: &'a Path,
    /// Its words, without the name of the tool.
    pub arguments: &'a [String],
    /// How it ends.
    pub exit_status: u8,
    /// What there is to say about a code of the front-end.
    pub explain: &'a dyn Fn(&str) -> Option<CodeText>,
}

/// The document.
pub fn document(call: &Call<'_>) -> Json {
    let diagnostics = all_diagnostics(call.items);
    let mut writer = Writer {
        rules: Rules::new(diagnostics.iter().map(|(_, diagnostic)| *diagnostic), call.explain),
        artifacts: Artifacts::new(call),
    };
    let mut results = Vec::new();
    for (source, diagnostic) in &diagnostics {
        results.push(writer.message(source, diagnostic));
    }
    for run in call.items.iter().filter_map(Item::run) {
        results.extend(ReportedFinding::all(run).filter_map(|found| writer.result(&found)));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "piecewise",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "shortDescription": { "text": "A model checker that proves concurrent programs correct one process at a time." },
                "language": "en",
                "rules": writer.rules.document(),
            }},
            "invocations": [invocation(call)],
            "originalUriBaseIds": { ROOT: { "uri": uri::directory(call.directory) } },
            "artifacts": writer.artifacts.document(),
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": { "verdicts": verdicts(call.items) },
        }],
    })
}

/// How the call went. It is not successful where a program was refused, or the user cancelled it.
fn invocation(call: &Call<'_>) -> Json {
    let runs = || call.items.iter().filter_map(Item::run);
    let was_refused = call.items.iter().any(|item| item.run().is_none());
    let reasons = runs().flat_map(|run| &run.results).filter_map(|result| match &result.verdict {
        Verdict::Unknown(reason) => Some(reason),
        _ => None,
    });
    let was_cancelled = { reasons }.any(|reason| *reason == StopReason::Cancelled);
    let undecided = runs().flat_map(ReportedFinding::all).filter(|found| found.finding.standing == Urgency::Undecided);
    let notifications = undecided.map(|found| {
        json!({ "level": "warning", "message": { "text": found.finding.message() }, "descriptor": { "id": rules::NOT_DECIDED } })
    });
    let errors = call.errors.iter().map(|error| json!({ "level": "error", "message": { "text": error } }));
    json!({
        "executionSuccessful": call.errors.is_empty() && !was_refused && !was_cancelled,
        "exitCode": call.exit_status,
        "arguments": call.arguments,
        "workingDirectory": { "uri": uri::directory(call.directory) },
        "toolExecutionNotifications": errors.chain(notifications).collect::<Vec<_>>(),
    })
}

/// Every verdict of the call, the expected ones included.
fn verdicts(items: &[Item<'_>]) -> Json {
    let of = |found: ReportedFinding<'_>| {
        let property = &found.run.model.properties[found.result.property];
        json!({
            "model": found.run.source.name(),
            "parameters": parameters(&found.run.model),
            "property": property.name,
            "kind": property.kind.keyword(),
            "verdict": word(&found.result.verdict),
            "expected": if property.expected == Expected::Holds { "holds" } else { "violated" },
            "method": found.result.method,
            "audited": found.result.audit.is_accepted(),
            "seconds": found.result.statistics.time.as_secs_f64(),
        })
    };
    items.iter().filter_map(Item::run).flat_map(ReportedFinding::all).map(of).collect()
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The texts that results point into, each with its position in the list.
struct Artifacts {
    by_name: BTreeMap<String, (usize, Located)>,
}

impl Artifacts {
    fn new(call: &Call<'_>) -> Self {
        let mut by_name = BTreeMap::new();
        for item in call.items {
            let name = item.source().name();
            let position = by_name.len();
            by_name.entry(name.to_owned()).or_insert_with(|| (position, Located::of(name, call.directory)));
        }
        Artifacts { by_name }
    }

    fn document(&self) -> Json {
        let mut all: Vec<&(usize, Located)> = self.by_name.values().collect();
        all.sort_by_key(|(position, _)| *position);
        all.iter().map(|(_, at)| json!({ "location": link(at), "roles": ["analysisTarget"] })).collect()
    }

    /// The text of this name.
    fn location(&self, name: &str) -> Json {
        let (position, at) = &self.by_name[name];
        let mut out = link(at);
        out["index"] = json!(position);
        out
    }
}

fn link(at: &Located) -> Json {
    match at {
        Located::Below(_) => json!({ "uri": at.uri(), "uriBaseId": ROOT }),
        Located::Elsewhere(_) => json!({ "uri": at.uri() }),
    }
}

/// Writes results with the positions of their rules and texts.
struct Writer {
    rules: Rules,
    artifacts: Artifacts,
}

impl Writer {
    /// A message of the front-end.
    fn message(&mut self, source: &SourceFile, diagnostic: &Diagnostic) -> Json {
        let label = &diagnostic.primary.text;
        let text =
            if label.is_empty() { diagnostic.message.clone() } else { format!("{}: {label}", diagnostic.message) };
        let helps = diagnostic.helps.iter().map(|help| format!("\nhelp: {}", help.text));
        let related = diagnostic.secondary.iter().zip(0..).map(|(label, id)| {
            let mut out = self.location(source, label.span);
            out["id"] = json!(id);
            out["message"] = json!({ "text": if label.text.is_empty() { "see here" } else { &label.text } });
            out
        });
        let fixes = diagnostic.helps.iter().filter(|help| !help.edits.is_empty()).map(|help| {
            let edits = help.edits.iter().map(|edit| {
                json!({ "deletedRegion": region(source, edit.span), "insertedContent": { "text": edit.replacement } })
            });
            let change = json!({
                "artifactLocation": self.artifacts.location(source.name()),
                "replacements": edits.collect::<Vec<_>>(),
            });
            json!({ "description": { "text": help.text }, "artifactChanges": [change] })
        });
        let line = source.line(source.line_col(diagnostic.primary.span.start).line).trim();
        json!({
            "ruleId": diagnostic.code,
            "ruleIndex": self.rules.position(diagnostic.code),
            "level": if diagnostic.is_error() { "error" } else { "warning" },
            "message": { "text": format!("{text}{}", helps.collect::<String>()) },
            "locations": [self.location(source, diagnostic.primary.span)],
            "relatedLocations": related.collect::<Vec<_>>(),
            "fixes": fixes.collect::<Vec<_>>(),
            "partialFingerprints": { "lineText/v1": fingerprint(&[diagnostic.code, line]) },
        })
    }

    /// A property, where there is something to do about it.
    fn result(&mut self, found: &ReportedFinding<'_>) -> Option<Json> {
        let (run, result) = (found.run, found.result);
        let property = &run.model.properties[result.property];
        let (rule, kind, level) = match found.finding.standing {
            Urgency::AsExpected => return None,
            Urgency::Vacuous => (rules::VACUOUS, "fail", Some("warning")),
            // A result that is open has no level; the rule's own makes it a warning for tools that ignore kinds.
            Urgency::Undecided => (rules::NOT_DECIDED, "open", None),
            Urgency::NotAsExpected => (property.kind.keyword(), "fail", Some("error")),
        };
        let mut location = self.location(&run.source, found.finding.span);
        location["logicalLocations"] = json!([{
            "name": property.name,
            "fullyQualifiedName": format!("{}::{}", run.model.name, property.name),
            "kind": "member",
        }]);
        let mut out = Map::new();
        out.insert("ruleId".into(), json!(rule));
        out.insert("ruleIndex".into(), json!(self.rules.position(rule)));
        out.insert("kind".into(), json!(kind));
        if let Some(level) = level {
            out.insert("level".into(), json!(level));
        }
        out.insert("message".into(), json!({ "text": found.finding.message() }));
        out.insert("locations".into(), json!([location]));
        if let Some(trace) = found.trace() {
            out.insert("codeFlows".into(), json!([flow::code_flow(self, found, trace)]));
        }
        let instance = &found.finding.instance;
        let identity = fingerprint(&[&run.model.name, &property.name, instance]);
        out.insert("partialFingerprints".into(), json!({ "property/v1": identity }));
        out.insert(
            "properties".into(),
            json!({
                "property": property.name,
                "parameters": parameters(&run.model),
                "verdict": word(&result.verdict),
                "method": result.method,
                "seconds": result.statistics.time.as_secs_f64(),
            }),
        );
        Some(out.into())
    }

    /// A place of a text.
    fn location(&self, source: &SourceFile, span: Span) -> Json {
        json!({ "physicalLocation": {
            "artifactLocation": self.artifacts.location(source.name()),
            "region": region(source, span),
        }})
    }
}

/// The lines and columns of a span; the first line for one that is nowhere.
fn region(source: &SourceFile, span: Span) -> Json {
    if span == Span::default() {
        return json!({ "startLine": 1 });
    }
    let (start, end) = (source.line_col(span.start), source.line_col(span.end.max(span.start)));
    json!({ "startLine": start.line, "startColumn": start.col, "endLine": end.line, "endColumn": end.col })
}

/// A number that stays the same while a finding does (FNV-1a).
fn fingerprint(parts: &[&str]) -> String {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
