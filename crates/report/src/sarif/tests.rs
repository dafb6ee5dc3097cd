//! Every document has the structure that SARIF 2.1.0 asks for, and says what is to be said.

use base::{Diagnostic, SourceFile, Span, StopReason};
use engine::run::Run;
use serde_json::{Value as Json, json};

use super::*;
use crate::Files;
use crate::testing::{broken_lock, counter, explained, lasso, mux_sem, philosophers};

/// What must be there, by the kind of object.
const REQUIRED: [(&str, &[&str]); 12] = [
    ("log", &["version", "runs"]),
    ("run", &["tool"]),
    ("driver", &["name"]),
    ("rule", &["id"]),
    ("invocation", &["executionSuccessful"]),
    ("result", &["message", "ruleId", "ruleIndex", "locations"]),
    ("message", &["text"]),
    ("codeFlow", &["threadFlows"]),
    ("threadFlow", &["locations"]),
    ("artifactChange", &["artifactLocation", "replacements"]),
    ("fix", &["artifactChanges"]),
    ("replacement", &["deletedRegion"]),
];

/// What a key may have as its value.
const VALUES: [(&str, &[&str]); 4] = [
    ("level", &["none", "note", "warning", "error"]),
    ("kind", &["notApplicable", "pass", "fail", "review", "open", "informational", "member"]),
    ("importance", &["important", "essential", "unimportant"]),
    ("columnKind", &["utf16CodeUnits", "unicodeCodePoints"]),
];

/// Checks the structure of a document.
struct Judge {
    n_rules: u64,
    n_artifacts: u64,
}

fn judge(document: &Json) {
    has(document, "log");
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    has(run, "run");
    has(&run["tool"]["driver"], "driver");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: std::collections::BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "rules have different ids");
    rules.iter().for_each(|rule| has(rule, "rule"));
    each(&run["invocations"], |invocation| has(invocation, "invocation"));
    let of = Judge { n_rules: rules.len() as u64, n_artifacts: run["artifacts"].as_array().unwrap().len() as u64 };
    each(&run["results"], |result| of.result(result, rules));
    values(document, "");
}

impl Judge {
    fn result(&self, result: &Json, rules: &[Json]) {
        has(result, "result");
        has(&result["message"], "message");
        let rule = result["ruleIndex"].as_u64().unwrap();
        assert!(rule < self.n_rules);
        assert_eq!(rules[rule as usize]["id"], result["ruleId"]);
        let kind = result.get("kind").map_or("fail", |kind| kind.as_str().unwrap());
        assert!(kind == "fail" || result.get("level").is_none(), "only what fails has a level: {result}");
        each(&result["locations"], |at| self.location(at));
        assert!(!result["locations"].as_array().unwrap().is_empty());
        if let Some(related) = result.get("relatedLocations") {
            each(related, |at| self.location(at));
        }
        for fix in result.get("fixes").and_then(Json::as_array).into_iter().flatten() {
            has(fix, "fix");
            each(&fix["artifactChanges"], |change| {
                has(change, "artifactChange");
                each(&change["replacements"], |one| {
                    has(one, "replacement");
                    region(&one["deletedRegion"]);
                });
            });
        }
        for flow in result.get("codeFlows").and_then(Json::as_array).into_iter().flatten() {
            has(flow, "codeFlow");
            each(&flow["threadFlows"], |thread| self.thread(thread));
        }
    }

    fn thread(&self, thread: &Json) {
        has(thread, "threadFlow");
        let locations = thread["locations"].as_array().unwrap();
        assert!(!locations.is_empty(), "a thread flow has a location at least");
        let orders: Vec<u64> = locations.iter().map(|at| at["executionOrder"].as_u64().unwrap()).collect();
        assert!(orders.windows(2).all(|pair| pair[0] < pair[1]), "a process does one thing after another: {orders:?}");
        for at in locations {
            self.location(&at["location"]);
            has(&at["location"]["message"], "message");
            assert!(at["nestingLevel"].is_u64());
            let state = at.get("state").or(thread.get("initialState")).unwrap();
            state.as_object().unwrap().values().for_each(|value| has(value, "message"));
        }
    }

    fn location(&self, at: &Json) {
        let physical = &at["physicalLocation"];
        let artifact = &physical["artifactLocation"];
        assert!(artifact["index"].as_u64().unwrap() < self.n_artifacts);
        let uri = artifact["uri"].as_str().unwrap();
        assert!(artifact.get("uriBaseId").is_none() || !uri.contains(':') && !uri.starts_with('/'), "{uri}");
        region(&physical["region"]);
    }
}

fn region(region: &Json) {
    let number = |key: &str| region.get(key).map(|number| number.as_u64().unwrap());
    let (start, end) = (number("startLine").unwrap(), number("endLine"));
    assert!(start >= 1 && end.is_none_or(|end| end >= start), "{region}");
    assert!(number("startColumn").is_none_or(|column| column >= 1));
    if end == Some(start) {
        assert!(number("endColumn") >= number("startColumn"), "{region}");
    }
}

fn has(object: &Json, kind: &str) {
    let (_, keys) = REQUIRED.iter().find(|(known, _)| *known == kind).unwrap();
    for key in *keys {
        assert!(object.get(key).is_some_and(|value| !value.is_null()), "a {kind} without {key}: {object}");
    }
}

fn each(array: &Json, check: impl Fn(&Json)) {
    array.as_array().unwrap().iter().for_each(check);
}

/// Enumerations have values of theirs, and nothing is null.
fn values(value: &Json, path: &str) {
    assert!(!value.is_null(), "{path} is null");
    match value {
        Json::Object(object) if !path.ends_with("/properties") => {
            for (key, inside) in object {
                if let Some((_, allowed)) = VALUES.iter().find(|(known, _)| known == key) {
                    assert!(inside.as_str().is_some_and(|text| allowed.contains(&text)), "{path}/{key} is {inside}");
                }
                values(inside, &format!("{path}/{key}"));
            }
        }
        Json::Array(items) => items.iter().for_each(|inside| values(inside, path)),
        _ => {}
    }
}

fn no_text(_: &str) -> Option<CodeText> {
    None
}

fn of(items: &[Item<'_>]) -> Json {
    let arguments = ["check".to_owned(), "lock.pw".to_owned()];
    let directory = Path::new("/home/me");
    let found =
        document(&Call { items, errors: &[], directory, arguments: &arguments, exit_status: 1, explain: &no_text });
    judge(&found);
    found
}

fn of_run(run: &Run) -> Json {
    of(&[Item::Checked(&explained(run), &Files::default())])
}

#[test]
fn a_counterexample_has_a_thread_flow_for_each_process() {
    let found = of_run(&broken_lock(3));
    let result = &found["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("invariant"), &json!("error")));
    let threads = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    assert_eq!(threads.iter().map(|thread| &thread["id"]).collect::<Vec<_>>(), ["P[0]", "P[1]", "P[2]"]);
    let mut orders: Vec<u64> = threads
        .iter()
        .flat_map(|thread| thread["locations"].as_array().unwrap())
        .map(|at| at["executionOrder"].as_u64().unwrap())
        .filter(|&order| order > 0)
        .collect();
    orders.sort_unstable();
    assert_eq!(orders, (1..=6).collect::<Vec<u64>>(), "the order runs over all threads");
    crate::testing::assert_shown(
        "sarif__a_counterexample_has_a_thread_flow_for_each_process",
        &serde_json::to_string_pretty(&threads[0]["locations"][3]).unwrap(),
    );
}

#[test]
fn every_end_of_a_run_is_shown_where_it_is() {
    for run in [philosophers(3), counter()] {
        let found = of_run(&run);
        let results = found["runs"][0]["results"].as_array().unwrap();
        let essential = results.iter().flat_map(|result| result["codeFlows"][0]["threadFlows"].as_array().unwrap());
        let essential = essential.flat_map(|thread| thread["locations"].as_array().unwrap());
        assert!({ essential }.any(|at| at["importance"] == "essential"), "{}: nothing is essential", run.model.name);
        assert!(results.iter().all(|result| result["locations"][0]["physicalLocation"]["region"]["startLine"] != 0));
    }
}

#[test]
fn a_loop_says_where_it_starts_and_goes_back() {
    let (mut run, trace) = lasso();
    run.results.truncate(1);
    let trace = evidence::Trace { end: evidence::TraceEnd::Loop, ..trace };
    run.results[0].verdict = Verdict::Violated(evidence::Evidence::Trace(trace));
    let text = of_run(&run).to_string();
    assert!(text.contains("the loop starts here") && text.contains("back to the state after step 1"), "{text}");
}

#[test]
fn what_is_not_decided_is_open_and_what_is_expected_is_no_result() {
    let mut run = mux_sem(2);
    run.results.truncate(2);
    run.results[0].verdict = Verdict::Unknown(StopReason::Cancelled);
    let found = of_run(&run);
    let found = &found["runs"][0];
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    assert_eq!((&found["results"][0]["kind"], &found["results"][0]["ruleId"]), (&json!("open"), &json!("not-decided")));
    assert_eq!(found["invocations"][0]["executionSuccessful"], false, "it was interrupted");
    assert_eq!(found["invocations"][0]["toolExecutionNotifications"][0]["level"], "warning");
    assert_eq!(found["properties"]["verdicts"].as_array().unwrap().len(), 2);
}

#[test]
fn messages_of_the_front_end_are_results_with_fixes() {
    let source = SourceFile::new("../me/bad one.pw", "await x = 1;\n");
    let error = Diagnostic::error("E0103", Span::new(8, 9), "expected `==`").note(Span::new(0, 5), "in this condition");
    let errors = [error.fix("write `==`", Span::new(8, 9), "=="), Diagnostic::warning("W0001", Span::new(0, 0), "odd")];
    let found = of(&[Item::Refused(&source, &errors), Item::Refused(&source, &errors)]);
    let run = &found["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 2, "each message once");
    let result = &run["results"][0];
    assert_eq!(result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"], "==");
    let at = &result["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!((&at["uri"], &at["uriBaseId"]), (&json!("bad%20one.pw"), &json!("SRCROOT")));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn random_programs_have_valid_documents() {
    testkit::for_each_program(60, testkit::RandomFeatures::everything(), |_, model| {
        let Some(run) = crate::testing::without_text(model) else { return Ok(()) };
        of_run(&run);
        Ok(())
    });
}
