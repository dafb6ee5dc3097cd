//! DVE from the outside: goals, `.reach` files, exit status, bad input.

use crate::support::Place;

const LOCK: &str = "byte turn;
process P { byte n; state idle, busy; init idle;
  trans idle -> busy { guard turn == 0; effect n = 1; }, busy -> idle { effect turn = 1; }; }
process Q { state idle, busy; init idle;
  trans idle -> busy { guard turn == 1; }, busy -> idle { effect turn = 0; }; }
system async;
";

#[test]
fn goals_are_asked_by_the_call_or_by_files_beside() {
    let place = Place::with("lock.dve", LOCK);
    place.run("check lock.dve").exits(0).prints("no_errors");
    place.run("check lock.dve --goal P.busy").exits(0).prints("goal");
    let told = place.run("check lock.dve --goal P.busy+Q.busy>1 --format json").exits(1);
    let json = told.json();
    let goal =
        json["runs"][0]["results"].as_array().unwrap().iter().find(|one| one["property"] == "goal").unwrap().clone();
    assert_eq!((goal["kind"].as_str(), goal["verdict"].as_str()), (Some("reachable"), Some("violated")));
    place.write("lock.prop1.reach", "P->n == 1 && Q.busy\n");
    place.run("check lock.dve").exits(0).prints("prop1");
    place.run("check lock.dve --goal lock.prop1.reach --property prop1").exits(0).prints("prop1");
    place.run("check lock.dve --property prop1 --trace out").exits(0);
    place.run("replay out/lock.prop1.itf.json lock.dve").exits(0);
    place.run("sim lock.dve --until prop1").exits(0);
}

#[test]
fn wrong_goals_are_refused_all_at_once() {
    let place = Place::with("lock.dve", LOCK);
    let told = place.run("check lock.dve --goal P.bussy --goal R.busy").exits(2);
    told.complains("did you mean `busy`?").complains("there is no process `R`");
    place.run("check lock.dve --goal none.reach").exits(2).complains("there is no such file");
    place.write("lock.pw", "program lock { process P { skip; } }");
    place.run("check lock.pw --goal x").exits(2).complains("goals are for files in DVE");
    place.run("check lock.dve -N 3").exits(2).complains("no parameter `N`");
}

#[test]
fn explore_counts_and_temporal_properties_are_not_passed_over() {
    let place = Place::with("lock.dve", LOCK);
    let json = &place.run("explore lock.dve --format json").exits(0).json()["runs"][0];
    assert_eq!((json["states"].as_u64(), json["transitions"].as_u64()), (Some(5), Some(5)));
    let watched = LOCK.replace(
        "system async;",
        "process W { state q; init q; accept q; trans q -> q { guard not P.busy; }; } system async property W;",
    );
    place.write("watched.dve", watched);
    let json = place.run("check watched.dve --method mono --format json").json();
    let watched =
        json["runs"][0]["results"].as_array().unwrap().iter().find(|one| one["property"] == "W").unwrap().clone();
    assert_eq!(watched["kind"], "property");
}

#[test]
fn only_the_own_language_is_formatted() {
    let place = Place::with("lock.dve", LOCK);
    place.run("fmt lock.dve").exits(2).complains("only programs in the Piecewise language are formatted");
    place.write("good.pw", "program p {\n  process P {\n    skip;\n  }\n}\n");
    place.run("fmt .").exits(0);
    place.run("fmt --check .").exits(0);
}

#[test]
fn bad_files_are_refused_in_words() {
    let place = Place::new();
    for (text, words) in [
        (&b""[..], "`system` line is missing"),
        (b"\xff\xfe", "not UTF-8"),
        (b"byte x[2147483648]; process P { state a; init a; } system async;", "too large"),
        (b"byte x[2147483647]; process P { state a; init a; } system async;", "a size from 1 to"),
        (b"process P { state a; init b; trans a -> c {}; } system sync;", "no location `b`"),
        (b"system async;", "no process"),
        (b"hello", "expected a variable"),
    ] {
        place.write("bad.dve", text);
        place.run("check bad.dve").exits(2).complains(words);
        place.run("explore bad.dve").exits(2);
    }
}
