//! `check --format`: SARIF, JUnit, GitHub, several at once, and the bad calls of each.

use crate::support::Place;
use serde_json::Value as Json;

const LOCK: &str = include_str!("support/lock.pw");

/// A lock whose author expects too much.
fn hopeful() -> Place {
    Place::with("lock.pw", &LOCK.replace(" expect violated;", ";"))
}

#[test]
fn several_formats_in_one_run() {
    let place = hopeful();
    let told = place.run("check lock.pw -N 2 --format human,sarif=out.sarif,junit=out.xml,json=out.json").exits(1);
    assert!(told.out.contains("VIOLATED  invariant mutex"), "{}", told.out);
    assert_eq!(place.names(), ["lock.pw", "out.json", "out.sarif", "out.xml"]);
    let sarif: Json = serde_json::from_str(&place.read("out.sarif")).unwrap();
    let run = &sarif["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    // Warnings come first.
    let found = run["results"].as_array().unwrap().iter().find(|result| result["ruleId"] == "invariant").unwrap();
    let flows = found["codeFlows"][0]["threadFlows"].as_array().unwrap();
    assert_eq!(flows.len(), 2, "one for each process");
    let depths = flows.iter().flat_map(|flow| flow["locations"].as_array().unwrap()).map(|at| &at["nestingLevel"]);
    assert!({ depths }.any(|depth| *depth == 1), "calls are nested");
    assert!(place.read("out.xml").contains("<failure type=\"invariant\""));
    let json: Json = serde_json::from_str(&place.read("out.json")).unwrap();
    let mutex =
        json["runs"][0]["results"].as_array().unwrap().iter().find(|result| result["property"] == "mutex").unwrap();
    assert_eq!(mutex["verdict"], "violated");
}

#[test]
fn the_one_without_a_file_goes_where_o_says() {
    let place = hopeful();
    let told = place.run("check lock.pw --format junit,json=out.json -o out.xml").exits(1);
    assert_eq!(told.out, "");
    assert!(place.read("out.xml").starts_with("<?xml"));
    let told = place.run("check lock.pw --format sarif").exits(1);
    assert_eq!(told.json()["version"], "2.1.0");
    let told = place.run("check lock.pw --format json=a.json --format sarif=b.sarif").exits(1);
    assert_eq!(told.out, "", "everything has a file");
}

#[test]
fn bad_requests_are_refused_before_the_work() {
    let place = hopeful();
    for (call, words) in [
        ("--format xml", "there is no format `xml`; write one of human, json, jsonl, csv, sarif, junit, github"),
        ("--format jsonl=lock.pw", "lock.pw: results would replace the program"),
        ("--format jsonl=other.pw", "other.pw: this is the name of a program"),
        ("--format json -o lock.pw", "lock.pw: results would replace the program"),
        ("--format human,json", "human and json cannot both go to the standard output"),
        ("--format sarif,github", "sarif and github cannot both go to the standard output"),
        ("--format sarif=", "a file is missing after `sarif=`"),
        ("--format sarif=none/out.sarif", "none/out.sarif: the directory does not exist"),
        ("--format sarif=a.x,junit=a.x", "two formats cannot go to the same file"),
        ("--format human,sarif=a.x -o ./a.x", "two formats cannot go to the same file"),
        ("--format sarif=a.x -o b.x", "nothing is left to write to b.x"),
        ("--format sarif=lock.pw", "lock.pw: results would replace the program"),
        ("-o lock.pw", "lock.pw: results would replace the program"),
    ] {
        let told = place.run(&format!("check lock.pw {call}")).exits(2).complains(words);
        assert_eq!(told.out, "", "{call}");
        assert_eq!(place.names(), ["lock.pw"], "{call}");
        assert!(place.read("lock.pw").contains("program"), "{call}");
    }
    for command in ["explore lock.pw", "graph lock.pw", "proof check x.json lock.pw"] {
        let told = place.run(&format!("{command} --format sarif")).exits(2);
        assert!(told.err.contains("`sarif` is a format of `piecewise check` only"), "{}", told.err);
    }
}

#[test]
fn refused_input_is_in_every_format() {
    let place = Place::with("bad.pw", "program p { process A { x = 1; } process B { y = 1; } }");
    let told = place.run("check bad.pw --format sarif=out.sarif,junit=out.xml,github").exits(2);
    assert!(told.out.contains("::error file=bad.pw,line=1,"), "{}", told.out);
    let sarif: Json = serde_json::from_str(&place.read("out.sarif")).unwrap();
    let run = &sarif["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 2, "{results:?}");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().unwrap().contains("piecewise explain E"), "{rule}");
    }
    assert!(place.read("out.xml").contains("<error type=\"E"));
}

#[test]
fn what_is_not_decided_is_not_green() {
    let place = Place::with("p.pw", "program p { shared x: 0..=2; process A { x = 1; } invariant odd: 1 / x == 1; }");
    let told = place.run("check p.pw --format github,junit=out.xml,sarif=out.sarif").exits(3);
    assert!(told.out.contains("::warning file=p.pw,"), "{}", told.out);
    assert!(place.read("out.xml").contains("skipped=\"1\"") && place.read("out.xml").contains("<skipped message="));
    let sarif: Json = serde_json::from_str(&place.read("out.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["kind"], "open");
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let place = hopeful();
    place.write("summary.md", "before\n");
    let run = |line: &str, summary: &str| {
        let mut command = place.command(line.split_whitespace());
        crate::support::Told::new(&command.env("GITHUB_STEP_SUMMARY", summary).output().unwrap())
    };
    let told = run("check lock.pw -N 2 --format human,github", "summary.md").exits(1);
    let (text, annotations) = told.out.split_once("::error ").unwrap();
    assert!(
        text.contains("VIOLATED") && annotations.contains("title=lock%2C N = 2%3A invariant mutex::"),
        "{}",
        told.out
    );
    let summary = place.read("summary.md");
    assert!(summary.starts_with("before\n### Piecewise: ") && summary.contains("| ✘ | lock N = 2 | invariant mutex |"));
    run("check lock.pw --format human", "summary.md").exits(1);
    assert_eq!(place.read("summary.md"), summary, "nobody asked");
    run("check lock.pw --format github", "none/summary.md").exits(2).complains("GITHUB_STEP_SUMMARY");
}

#[test]
fn warnings_are_in_documents_and_not_in_the_text() {
    let text = "program p { shared x: 0..=2; process A { x = 1; } property o: always x == 0 => eventually x == 1; }";
    let place = Place::with("p.pw", text);
    let told = place.run("check p.pw --format human,sarif=out.sarif");
    assert!(told.err.contains("warning[") && !told.out.contains("warning["), "{}{}", told.out, told.err);
    let sarif: Json = serde_json::from_str(&place.read("out.sarif")).unwrap();
    let levels: Vec<&Json> = sarif["runs"][0]["results"].as_array().unwrap().iter().map(|one| &one["level"]).collect();
    assert!(levels.contains(&&Json::from("warning")), "{levels:?}");
}

/// A call that cannot be done gives a document in each format, with what is wrong.
#[test]
fn a_missing_file_is_an_error_in_every_document() {
    let place = Place::new();
    let said = "none.pw: there is no such file";
    let run = |format: &str| place.run(&format!("check none.pw --format {format}")).exits(2).complains(said);
    assert_eq!(run("json").json()["errors"][0], said);
    let notified = &run("sarif").json()["runs"][0]["invocations"][0];
    assert_eq!(notified["executionSuccessful"], false);
    assert_eq!(notified["exitCode"], 2);
    assert_eq!(notified["toolExecutionNotifications"][0]["message"]["text"], said);
    run("junit").prints("errors=\"1\"").prints(&format!("<error type=\"call\" message=\"{said}\"/>"));
    let told = run("csv");
    let row = told.out.lines().nth(1).unwrap();
    assert!(
        row.ends_with(said) && row.split(',').count() == told.out.lines().next().unwrap().split(',').count(),
        "{row}"
    );
    assert_eq!(run("github").out, format!("::error title=piecewise::{said}\n"));
    assert!(run("jsonl").out.ends_with("{\"event\":\"end\",\"status\":2}\n"));
    run("human,sarif=o.sarif,junit=o.xml,csv=o.csv");
    assert_eq!(place.names(), ["o.csv", "o.sarif", "o.xml"]);
}
