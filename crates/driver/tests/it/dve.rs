//! DVE through the engines: every method agrees with the whole-product search on small models of each feature, and the BEEM models
//! have the published numbers.
//!
//! The BEEM files are read from `../shared/beem` beside the project; where they are absent their tests say so and do nothing. The
//! whole table is `cargo xtask beem`.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use lang::dve::Goal;
use model::Model;
use model::property::PropertyKind;
use testkit::skip::{Needs, skipped};

/// Larger instances are left to `cargo xtask beem`.
const MOST_STATES: u64 = 20_000;

fn load(name: &str, text: &str, goals: &[&str]) -> Model {
    let goal = |text: &&str| Goal { name: (*text).to_owned(), source: SourceFile::new("goal", *text) };
    let goals: Vec<Goal> = goals.iter().map(goal).collect();
    match lang::load_with_goals(&SourceFile::new(format!("{name}.dve"), text), &[], &goals) {
        Ok(loaded) => loaded.model,
        Err(refused) => panic!("{name}: {:?}", refused[0].diagnostics),
    }
}

fn budget(seconds: u64) -> Budget {
    Budget::new(Some(Duration::from_secs(seconds)), None, CancelToken::default())
}

/// The verdicts of a method on all properties, asked at once: `+`, `-` or `?`.
fn verdicts(model: &Model, method: &str) -> String {
    let checker = methods::checker(methods::find(method).unwrap());
    let task = Task { model, properties: model.properties.ids().collect(), budget: budget(20), n_threads: 1 };
    let found = checker.check(&task, &Silent).unwrap();
    assert!(found.iter().map(|result| result.property).eq(model.properties.ids()), "{method} answers in another order");
    let symbol = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => '+',
        Verdict::Violated(_) => '-',
        Verdict::Unknown(_) => '?',
    };
    found.iter().map(|result| symbol(&result.verdict)).collect()
}

/// Models of each feature with goals, and what is true of `no_errors` and of each goal.
const FEATURES: [(&str, &[&str], &str); 8] = [
    (
        "byte fork[2];
         process A { state t, o, e; init t; trans t -> o { guard fork[0] == 0; effect fork[0] = 1; },
           o -> e { guard fork[1] == 0; effect fork[1] = 1; }, e -> t { effect fork[0] = 0, fork[1] = 0; }; }
         process B { state t, o, e; init t; trans t -> o { guard fork[1] == 0; effect fork[1] = 1; },
           o -> e { guard fork[0] == 0; effect fork[0] = 1; }, e -> t { effect fork[0] = 0, fork[1] = 0; }; }
         system async;",
        &["A.e && B.e", "A.o && B.o", "A.e && B.t"],
        "+-++",
    ),
    // A process that looks where another one stands.
    (
        "process A { state n, c; init n; trans n -> c { guard not B.c; }, c -> n {}; }
         process B { state n, c; init n; trans n -> c { guard not A.c; }, c -> n {}; }
         system async;",
        &["A.c && B.c", "A.c + B.c == 1"],
        "+-+",
    ),
    // A rendezvous that passes a value.
    (
        "channel c, d;
         process S { byte x = 1; state a, b; init a; trans a -> b { guard x < 3; sync c!x + 1; }, b -> a { sync d?x; }; }
         process R { byte y; state a, b; init a; trans a -> b { sync c?y; }, b -> a { sync d!y; }; }
         system async;",
        &["S->x == 3 && R.a", "S->x == 4", "S.b && R.a", "S.b && R->y == 3"],
        "++--+",
    ),
    // A buffer.
    (
        "channel {byte} c[2];
         process S { byte x; state a; init a; trans a -> a { sync c!x; effect x = (x + 1) % 3; }; }
         process R { byte y, z; state a, b, bad; init a; trans a -> b { sync c?y; }, b -> a { guard y == z; effect z = (z + 1) % 3; },
           b -> bad { guard y != z; }; }
         system async;",
        &["R.bad", "R->y == 2", "R->y == 3"],
        "+-+-",
    ),
    // Committed locations.
    (
        "byte x;
         process P { state a, b; init a; commit b; trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
         process Q { byte seen; state a; init a; trans a -> a { guard x == 1; effect seen = 1; }; }
         system async;",
        &["Q->seen == 1", "x == 1"],
        "+-+",
    ),
    // Run-time errors.
    (
        "byte x = 253; byte t[2];
         process P { state a; init a; trans a -> a { effect x = x + 1; }; }
         process Q { state a, b; init a; trans a -> b { guard x == 254; effect t[x - 253] = 1; }; }
         system async;",
        &["x == 255", "Q.b && t[1] == 1", "t[0] == 1"],
        "-++-",
    ),
    // Operators of C.
    (
        "byte x = 5;
         process P { state a; init a; trans a -> a { guard (x & 4) != 0; effect x = (x << 1) % 7; },
           a -> a { guard (x & 4) == 0; effect x = (x | 8) / 3 ^ 1; }; }
         system async;",
        &["x == 3", "x == 6", "x == 250"],
        "++--",
    ),
    // Asserts.
    (
        "byte x;
         process P { state a, b; init a; assert b: x == 1; trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
         process Q { state a; init a; trans a -> a { guard P.b; effect x = 2; }; }
         system async;",
        &["x == 2"],
        "+-+",
    ),
];

#[test]
fn every_method_agrees_or_does_not_know() {
    for (text, goals, expected) in FEATURES {
        let model = load("t", text, goals);
        assert_eq!(verdicts(&model, "mono"), expected, "{text}");
        for method in methods::available().filter(|method| method.name != "mono") {
            let found = verdicts(&model, method.name);
            let agrees = found.chars().zip(expected.chars()).all(|(found, expected)| found == '?' || found == expected);
            assert!(agrees, "{}: {found}, not {expected}\n{text}", method.name);
        }
    }
}

#[test]
fn packed_states_step_as_the_reference_does() {
    for (text, goals, _) in FEATURES {
        let model = load("t", text, goals);
        let (seen, _, stopped) = product::explore(&model, &budget(20), 1, &Silent);
        assert!(stopped.is_none());
        let recount = audit::Recount::of(&model, 10_000).expect("these are small");
        let no_errors = model.properties.ids().next().unwrap();
        // Whether the property holds is not asked here, so a violated one is told apart from a wrong count.
        if seen.errors == 0 {
            assert_eq!(recount.check(no_errors, &seen), Ok(audit::Recounted::Agrees), "{text}");
        }
    }
}

/// The folder with the BEEM models, if it is there.
fn beem() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/beem");
    if !folder.join("models").is_dir() {
        skipped(Needs::Data("beem"));
        return None;
    }
    Some(folder)
}

/// The rows of a table, by the names of its columns.
fn rows(path: PathBuf) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next().unwrap();
    lines.map(|row| names.iter().cloned().zip(row).collect()).collect()
}

#[test]
fn every_beem_file_is_read() {
    let Some(beem) = beem() else { return };
    let mut n_read = 0;
    for folder in ["models", "ltl"] {
        for entry in fs::read_dir(beem.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let model = load("beem", &fs::read_to_string(&path).unwrap(), &[]);
            let n_temporal =
                model.properties.iter().filter(|one| matches!(one.kind, PropertyKind::Temporal(_))).count();
            assert_eq!(n_temporal, usize::from(folder == "ltl"), "{}", path.display());
            n_read += 1;
        }
    }
    println!("{n_read} files read");
}

#[test]
fn small_beem_models_have_the_published_numbers() {
    let Some(beem) = beem() else { return };
    let reached: HashMap<String, String> = rows(beem.join("reach_verdicts.csv"))
        .into_iter()
        // A description may go on in the next line, which is no row.
        .filter_map(|row| Some((row["instance"].clone(), row.get("goal_reachable")?.clone())))
        .collect();
    let (mut n_counted, mut n_goals) = (0, 0);
    for row in rows(beem.join("reference_counts.csv")) {
        let name = &row["instance"];
        let Ok(text) = fs::read_to_string(beem.join("models").join(format!("{name}.dve"))) else { continue };
        if row["explorer_states"].parse::<u64>().is_ok_and(|states| states > MOST_STATES)
            || row["explorer_states"].is_empty()
        {
            continue;
        }
        let goal = fs::read_to_string(beem.join("reach").join(format!("{name}.prop1.reach"))).ok();
        let model = load(name, &text, &goal.iter().map(String::as_str).collect::<Vec<_>>());
        let (seen, _, stopped) = product::explore(&model, &budget(60), 1, &Silent);
        assert!(stopped.is_none(), "{name}");
        let found = [seen.states, seen.transitions, seen.deadlocks].map(|number| number.to_string());
        let expected =
            ["explorer_states", "explorer_transitions", "explorer_deadlocks"].map(|column| row[column].clone());
        assert_eq!(found, expected, "{name}");
        n_counted += 1;
        if let (Some(_), Some(expected)) = (&goal, reached.get(name)) {
            let found = verdicts(&model, "mono").chars().last();
            let word = match found {
                Some('+') => "yes",
                Some('-') => "no",
                _ => "unknown",
            };
            assert_eq!(word, expected, "{name}");
            n_goals += 1;
        }
    }
    println!("{n_counted} instances counted, {n_goals} goals decided");
    assert!(n_counted >= 20 && n_goals >= 10);
}

/// Graphs of larger models are left to `cargo xtask beem`.
const MOST_TEMPORAL: u64 = 3_000;

/// Properties given as automata: runs of real steps only, the last state for ever at a deadlock.
#[test]
fn small_beem_properties_have_the_published_verdicts() {
    let Some(beem) = beem() else { return };
    let counts: HashMap<String, u64> = rows(beem.join("reference_counts.csv"))
        .into_iter()
        .filter_map(|row| Some((row["instance"].clone(), row["states_best"].parse().ok()?)))
        .collect();
    let mut n_decided = 0;
    for row in rows(beem.join("ltl_verdicts.csv")) {
        // A description may go on in the next line, which is no row.
        let (Some(name), Some(id), Some(holds)) = (row.get("instance"), row.get("prop_id"), published(&row)) else {
            continue;
        };
        if counts.get(name).is_none_or(|&states| states > MOST_TEMPORAL) {
            continue;
        }
        let Ok(text) = fs::read_to_string(beem.join("ltl").join(format!("{name}.prop{id}.dve"))) else { continue };
        let model = load(name, &text, &[]);
        let property =
            model.properties.entries().find(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_))).unwrap().0;
        let task = Task { model: &model, properties: vec![property], budget: budget(60), n_threads: 1 };
        let answer = methods::checker(methods::find("mono").unwrap()).check(&task, &Silent).unwrap().remove(0);
        let found = match answer.verdict {
            Verdict::Holds(_) => "yes",
            Verdict::Violated(_) => "no",
            Verdict::Unknown(_) => "unknown",
        };
        assert_eq!(found, holds, "{name}.prop{id}");
        n_decided += 1;
    }
    println!("{n_decided} temporal properties decided");
    assert!(n_decided >= 10);
}

/// The verdict of a row; formulas with commas move it to a later column.
fn published(row: &HashMap<String, String>) -> Option<&'static str> {
    ["holds", "counterexample_length", "description"].iter().find_map(|column| match row.get(*column)?.as_str() {
        "yes" => Some("yes"),
        "no" => Some("no"),
        _ => None,
    })
}
