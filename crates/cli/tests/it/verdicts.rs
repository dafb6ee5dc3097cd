//! `check` from the outside: verdicts, exit status, the result document, tables.

use std::fs;

use crate::support::Place;

const LOCK: &str = include_str!("support/lock.pw");

#[test]
fn every_example_has_its_expected_verdicts() {
    let place = Place::new();
    let mut n_checked = 0;
    for path in crate::support::examples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        place.write(name, fs::read(&path).unwrap());
        let told = place.run(&format!("check {name} --format json"));
        let json = told.json();
        for result in json["runs"][0]["results"].as_array().unwrap() {
            assert_eq!(result["as_expected"], true, "{name}: {} is {}", result["property"], result["verdict"]);
            let is_search = result["exploration"].is_object();
            assert!(result["audited"] == true || is_search, "{name}: {} is not audited", result["property"]);
        }
        told.exits(0);
        n_checked += 1;
    }
    println!("{n_checked} examples checked");
    assert!(n_checked >= 30, "only {n_checked} examples");
}

#[test]
fn the_exit_status_is_the_gravest() {
    let place = Place::new();
    let with = |properties: &str| format!("program p {{ shared x: 0..=2; process A {{ x = 1; }} {properties} }}");
    for (properties, status) in [
        ("invariant low: x <= 1;", 0),
        ("invariant low: x == 0;", 1),
        ("invariant low: x == 0 expect violated;", 0),
        ("invariant low: x <= 1 expect violated;", 1),
        ("reachable one: x == 1;", 0),
        ("reachable two: x == 2;", 1),
        ("reachable two: x == 2 expect violated;", 0),
        ("property later: eventually x == 1;", 0),
        ("property never: eventually x == 2;", 1),
        ("property later: eventually x == 1; invariant low: x == 0;", 1),
        ("invariant odd: 1 / x == 1;", 3),
    ] {
        place.write("p.pw", with(properties));
        let told = place.run("check p.pw");
        assert_eq!(told.status, status, "{properties}\n{}{}", told.out, told.err);
        assert_eq!(place.run("p.pw").out.lines().next(), told.out.lines().next());
    }
}

#[test]
fn the_result_document_has_its_keys() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run("check lock.pw -N 3 --format json").exits(0);
    assert_eq!(told.err, "");
    let json = told.json();
    assert_eq!(json["schema"], "piecewise-report/2");
    assert_eq!(json["tool"]["name"], "piecewise");
    assert_eq!(json["tool"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["runs"][0]["file"], "lock.pw");
    assert_eq!(json["runs"][0]["parameters"]["N"], 3);
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
        "audited",
        "counterexample",
    ];
    let results = json["runs"][0]["results"].as_array().unwrap();
    for result in results {
        for key in keys {
            assert!(result.get(key).is_some(), "no `{key}` in {result:#}");
        }
    }
    let mutex = results.iter().find(|result| result["property"] == "mutex").unwrap();
    assert_eq!((&mutex["verdict"], &mutex["expected"]), (&"violated".into(), &"violated".into()));
    assert_eq!((&mutex["as_expected"], &mutex["audited"]), (&true.into(), &true.into()));
    assert!(mutex["counterexample"]["loop_from"].is_null());
    for step in mutex["counterexample"]["steps"].as_array().unwrap() {
        assert!(step["process"].is_string() && step["action"].is_string() && step["line"].is_u64(), "{step:#}");
    }
    place.run("check lock.pw -N 3 --format json -o out.json").exits(0);
    let written: serde_json::Value = serde_json::from_str(&place.read("out.json")).unwrap();
    assert_eq!(written["runs"][0]["results"].as_array().map(Vec::len), Some(results.len()));
}

#[test]
fn several_files_and_sizes_make_one_table() {
    let place = Place::with("d/lock.pw", LOCK);
    place.write("d/other.pw", "program other { process A { skip; } }");
    place.write("d/three.pw", "program three(N: 3..) { process P[i in 0..<N] { skip; } }");
    let told = place.run("check d -N 2..3").exits(0);
    for words in ["N = 2", "N = 3", "lock", "other", "three", "mutex"] {
        assert!(told.out.contains(words), "no `{words}` in\n{}", told.out);
    }
    assert!(told.err.contains("three.pw: N must be at least 3"), "{}", told.err);
    let json = place.run("check d -N 2..3 --format json").exits(0).json();
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(4));
    place.write("d/wrong.pw", "program wrong { shared x: nonsense; }");
    let told = place.run("check d").exits(2).complains("error[");
    assert!(told.out.contains("mutex") && told.out.contains("wrong"), "{}", told.out);
}

#[test]
fn properties_are_chosen_by_glob() {
    let place = Place::with("lock.pw", LOCK);
    let names = |call: &str| -> Vec<String> {
        let json = place.run(call).exits(0).json();
        json["runs"][0]["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["property"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("check lock.pw --format json --property mutex"), ["mutex"]);
    assert_eq!(names("check lock.pw --format json --property m* --property *inside"), ["mutex", "inside"]);
    assert!(names("check lock.pw --format json").contains(&"deadlock_free".to_owned()));
}

#[test]
fn text_is_plain_in_a_pipe_and_ascii_where_asked() {
    let place = Place::with("lock.pw", LOCK);
    let plain = place.run("check lock.pw").exits(0);
    assert!(!plain.out.contains('\x1b'));
    assert!(place.run("check lock.pw --color always").exits(0).out.contains('\x1b'));
    let ascii = place.run("check lock.pw --ascii").exits(0);
    assert!(ascii.out.is_ascii(), "{}", ascii.out);
    let quiet = place.run("check lock.pw -q").exits(0);
    assert!(quiet.out.lines().count() < plain.out.lines().count());
    let verbose = place.run("check lock.pw -v").exits(0);
    assert!(verbose.out.lines().count() >= plain.out.lines().count());
    assert!(plain.out.lines().all(|line| line.chars().count() <= 80), "{}", plain.out);
}

#[test]
fn warnings_go_to_the_standard_error() {
    let text = "program p { shared x: 0..=2; process A { x = 1; } property odd: next x == 0; }";
    let place = Place::with("p.pw", text);
    let told = place.run("check p.pw").exits(1).complains("warning[");
    assert!(!told.out.contains("warning["), "{}", told.out);
    assert_eq!(place.run("check p.pw -q").exits(1).err, "");
    let json = place.run("check p.pw --format json").exits(1);
    assert_eq!(json.json()["runs"][0]["diagnostics"][0]["severity"], "warning");
}
