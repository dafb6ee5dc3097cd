//! The documents for scripts have the shape that `docs/schema` says, which is made from the types.

use std::fs;

use serde_json::{Value as Json, json};

use crate::support::{Place, root};

const LOCK: &str = "program lock(N: 2..) {
  shared flag: [bool; N] = false;
  process P[i in 0..<N] {
    loop { noncrit: skip; test: await forall k != i: !flag[k]; set: flag[i] = true; crit: skip; leave: flag[i] = false; }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
  reachable used: P[0]@crit;
  property live: forall i: P[i]@test ~> P[i]@crit under weak P[*];
}";

/// What is wrong with a value, by the part of JSON Schema that the types use.
fn wrong(schema: &Json, whole: &Json, value: &Json, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return wrong(whole.pointer(reference.trim_start_matches('#')).unwrap(), whole, value, at);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[key].as_array()
            && !choices.iter().any(|choice| wrong(choice, whole, value, at).is_empty())
        {
            return vec![format!("{at}: {value} is none of the choices")];
        }
    }
    let mut found = Vec::new();
    let is_type = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}`"),
    };
    let types: Vec<&str> = match &schema["type"] {
        Json::String(name) => vec![name],
        Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_type(name)) {
        return vec![format!("{at}: {value} is no {types:?}")];
    }
    if schema.get("const").is_some_and(|wanted| wanted != value) {
        found.push(format!("{at}: {value} is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        found.push(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if value.get(name).is_none() {
            found.push(format!("{at}: `{name}` is missing"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => found.extend(wrong(schema, whole, inner, &format!("{at}.{name}"))),
            (None, more @ Json::Object(_)) => found.extend(wrong(more, whole, inner, &format!("{at}.{name}"))),
            _ => {}
        }
    }
    if let items @ Json::Object(_) = &schema["items"] {
        let inner = value.as_array().into_iter().flatten().enumerate();
        found.extend(inner.flat_map(|(nth, one)| wrong(items, whole, one, &format!("{at}[{nth}]"))));
    }
    found
}

fn schema(name: &str) -> Json {
    serde_json::from_str(&fs::read_to_string(root().join("docs/schema").join(name)).unwrap()).unwrap()
}

#[track_caller]
fn fits(name: &str, document: &Json) {
    let schema = schema(name);
    assert_eq!(wrong(&schema, &schema, document, "document"), Vec::<String>::new());
}

/// `BLESS` writes them anew.
#[test]
fn the_schemas_are_made_from_the_types() {
    let all = [
        ("report.schema.json", report::document::json_schema()),
        ("events.schema.json", report::document::event_schema()),
        ("explore.schema.json", report::explore::json_schema()),
        ("graph.schema.json", report::graph::json_schema()),
        ("proof_check.schema.json", report::proof_check::json_schema()),
    ];
    for (name, made) in all {
        let path = root().join("docs/schema").join(name);
        let text = format!("{:#}\n", made.to_value());
        if testkit::blessed::is_on() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "BLESS=1 writes docs/schema/{name} anew");
    }
}

#[test]
fn documents_of_every_kind_fit_the_schema() {
    let place = Place::with("lock.pw", LOCK);
    place.write("wrong.pw", "program wrong { shared x: nonsense; }");
    for (call, status) in [
        ("check lock.pw --format json", 1),
        ("check lock.pw -N 2..3 --method mono,tmmc --format json", 1),
        ("check lock.pw wrong.pw --format json", 2),
        ("check missing.pw --format json", 2),
        ("check lock.pw --method nonsense --format json", 2),
        ("check lock.pw --timeout 1ms -N 9 --format json", 3),
    ] {
        let told = place.run(call);
        let document = told.json();
        // A machine that is very fast decides even the last of them.
        assert!(told.status == status || status == 3, "{call}: {}", told.status);
        assert_eq!(document["status"], told.status, "{call}");
        assert_eq!(document["schema"], "piecewise-report/2", "{call}");
        fits("report.schema.json", &document);
        assert_eq!(
            document["errors"].as_array().unwrap().is_empty(),
            !call.contains("missing") && !call.contains("nonsense"),
            "{call}"
        );
    }
    let schema = schema("report.schema.json");
    assert!(!wrong(&schema, &schema, &json!({"schema": 2}), "document").is_empty(), "the test can fail");
}

#[test]
fn counts_have_one_shape_for_one_instance_or_many() {
    let place = Place::with("lock.pw", LOCK);
    place.write("wrong.pw", "program wrong { shared x: nonsense; }");
    for (call, status, n_runs) in [
        ("explore lock.pw", 0, 1),
        ("explore lock.pw -N 2..4 --coverage", 0, 3),
        ("explore missing.pw", 2, 0),
        ("explore wrong.pw", 2, 0),
        ("explore lock.pw -N 2..3 --dot x.dot", 2, 0),
    ] {
        let told = place.run(&format!("{call} --format json")).exits(status);
        let document = told.json();
        fits("explore.schema.json", &document);
        assert_eq!(
            (&document["status"], &document["schema"]),
            (&json!(status), &json!("piecewise-explore/2")),
            "{call}"
        );
        assert_eq!(document["runs"].as_array().map(Vec::len), Some(n_runs), "{call}");
        assert_eq!(document["errors"].as_array().map(Vec::is_empty), Some(status == 0), "{call}");
    }
    let told = place.run("explore wrong.pw --format json").json();
    assert!(told["errors"][0].as_str().is_some_and(|words| words.starts_with("wrong.pw:1:27: E0")), "{told}");
}

#[test]
fn graphs_and_judgements_have_one_shape_each() {
    let place = Place::with("lock.pw", LOCK);
    place.write("wrong.pw", "program wrong { shared x: nonsense; }");
    place.write("other.pw", LOCK.replace("set: flag[i] = true;", "set: flag[i] = false;"));
    place.run("check lock.pw --method tmmc --property no_errors --proof proofs").exits(0);
    let proof = "proofs/lock.no_errors.proof.json";
    for (call, status, (schema, file)) in [
        ("graph lock.pw".to_owned(), 0, GRAPH),
        ("graph missing.pw".to_owned(), 2, GRAPH),
        ("graph wrong.pw".to_owned(), 2, GRAPH),
        (format!("proof check {proof} lock.pw"), 0, JUDGEMENT),
        (format!("proof check {proof} other.pw"), 2, JUDGEMENT),
        ("proof check missing.json lock.pw".to_owned(), 2, JUDGEMENT),
    ] {
        let document = place.run(&format!("{call} --format json")).exits(status).json();
        fits(file, &document);
        assert_eq!((&document["status"], &document["schema"]), (&json!(status), &json!(schema)), "{call}");
        assert_eq!(document["errors"].as_array().map(Vec::is_empty), Some(status == 0), "{call}");
    }
}

const GRAPH: (&str, &str) = ("piecewise-graph/1", "graph.schema.json");
const JUDGEMENT: (&str, &str) = ("piecewise-proof-check/1", "proof_check.schema.json");

#[test]
fn events_come_one_a_line_and_end_with_the_status() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run("check lock.pw -N 2..3 --format jsonl").exits(1);
    let events: Vec<Json> = told.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.iter().for_each(|event| fits("events.schema.json", event));
    assert_eq!(events.last().unwrap(), &json!({"event": "end", "status": 1}));
    let verdicts: Vec<&Json> = events.iter().filter(|event| event["event"] == "verdict").collect();
    assert_eq!(verdicts.len(), 10, "each property of each instance has one");
    assert!(verdicts.iter().all(|event| event["file"] == "lock.pw" && event["result"]["first_known_s"].is_number()));
    let told = place.run("check missing.pw --format jsonl").exits(2);
    let events: Vec<Json> = told.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[1]), (&json!("error"), &json!({"event": "end", "status": 2})));
}

#[test]
fn what_is_unexpected_ends_everything_where_the_user_wants_that() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run("check lock.pw -N 2..9 --method mono --fail-fast --format json").exits(1);
    assert_eq!(told.json()["runs"].as_array().map(Vec::len), Some(1), "other sizes are not looked at");
    let results = told.json()["runs"][0]["results"].clone();
    for result in results.as_array().unwrap() {
        assert!(result["verdict"] != "unknown" || result["reason"]["code"] == "fail-fast", "{result}");
    }
}

#[test]
fn a_row_for_each_result_and_a_column_for_each_method() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run("check lock.pw -N 2,4 --method mono,tmmc --property mutex --format csv").exits(1);
    let rows: Vec<Vec<&str>> = told.out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5, "{}", told.out);
    assert_eq!((rows[4][0], rows[4][1], rows[4][2], rows[4][3]), ("lock.pw", "N=4", "mutex", "tmmc"));
    let told = place.run("check lock.pw -N 2..8:*2 --method mono,tmmc --property mutex").exits(1);
    for words in ["mono", "tmmc", "lock N=8", "✘ 6 steps !", "next:  piecewise check lock.pw -N 2 --property mutex"] {
        assert!(told.out.contains(words), "no `{words}` in\n{}", told.out);
    }
}
