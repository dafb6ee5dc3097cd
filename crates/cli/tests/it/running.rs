//! `replay`, `sim` and `explore` from the outside.

use crate::support::Place;

const LOCK: &str = include_str!("support/lock.pw");

fn place() -> Place {
    Place::with("lock.pw", LOCK)
}

#[test]
fn written_traces_replay_and_changed_ones_do_not() {
    let place = place();
    place.run("check lock.pw -N 3 --trace out").exits(0);
    for name in ["lock.mutex", "lock.inside"] {
        let told = place.run(&format!("replay out/{name}.itf.json lock.pw")).exits(0);
        assert!(told.out.contains("the trace is a run of lock"), "{}", told.out);
        place.run(&format!("replay out/{name}.itf.json lock.pw -N 3 -q")).exits(0);
        place.run(&format!("replay out/{name}.itf.json lock.pw -N 2")).exits(2).complains("another program");
    }
    let trace = place.read("out/lock.mutex.itf.json");
    let line = trace.lines().position(|line| line.contains("\"index\":2")).expect("the third state");
    let without: Vec<&str> = trace.lines().enumerate().filter(|(at, _)| *at != line).map(|(_, line)| line).collect();
    place.write("cut.itf.json", without.join("\n"));
    place.run("replay cut.itf.json lock.pw").exits(1).prints("no run of lock");
    place.write("other.pw", LOCK.replace("program lock", "program other"));
    place.run("replay out/lock.mutex.itf.json other.pw").exits(2).complains("another program");
    place.write("list.json", "[]");
    place.run("replay list.json lock.pw").exits(2).complains("not a trace");
}

#[test]
fn a_sweep_writes_one_trace_for_each_instance() {
    let place = place();
    place.run("check lock.pw -N 2..3 --property mutex --trace out").exits(0);
    let names: Vec<String> = std::fs::read_dir(place.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    place.run("replay out/lock.N3.mutex.itf.json lock.pw").exits(0);
    place.write("sub/lock.pw", LOCK);
    place.run("check lock.pw sub/lock.pw --trace out").exits(2).complains("the same names");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let place = place();
    let first = place.run("sim lock.pw -N 3 --seed 7 --steps 30");
    let again = place.run("sim lock.pw -N 3 --seed 7 --steps 30");
    assert_eq!((first.status, &first.out), (again.status, &again.out));
    assert!(first.out.contains("--seed 7"), "{}", first.out);
    let other = place.run("sim lock.pw -N 3 --seed 8 --steps 30");
    assert_ne!(first.out, other.out);
    let free = place.run("sim lock.pw --steps 5");
    let seed =
        free.out.split("--seed ").nth(1).unwrap().split(|c: char| !c.is_ascii_digit()).next().unwrap().to_owned();
    assert_eq!(place.run(&format!("sim lock.pw --steps 5 --seed {seed}")).out, free.out);
}

#[test]
fn simulation_goes_on_until_a_property_is_decided() {
    let place = place();
    let told = place.run("sim lock.pw --until mutex --seed 1").exits(0).prints("mutex");
    let seed =
        told.out.rsplit("--seed ").next().unwrap().split(|c: char| !c.is_ascii_digit()).next().unwrap().to_owned();
    let again = place.run(&format!("sim lock.pw --until mutex --seed {seed}"));
    assert_eq!(again.out, told.out, "the seed that is printed leads there at once");
    place.run("sim lock.pw --until inside --seed 1").exits(0);
    place.run("sim lock.pw --until no_errors --seed 1 --runs 3 --steps 5").exits(3).prints("did not decide");
}

#[test]
fn a_run_that_shows_a_mistake_is_not_as_expected() {
    let place = Place::new();
    place
        .write("wrong.pw", "program wrong { shared x: 0..=1; process A { x = 1; x = x + 1; } invariant low: x == 0; }");
    place.run("sim wrong.pw --seed 1").exits(1).prints("low");
    place.run("sim wrong.pw --seed 1 --until no_errors").exits(1).prints("no_errors");
    place.write("stuck.pw", "program stuck { shared m: lock; process A { acquire m; acquire m; } }");
    place.run("sim stuck.pw --seed 1").exits(1).prints("deadlock_free");
}

#[test]
fn a_person_chooses_the_steps() {
    let place = Place::with(
        "two.pw",
        "program two {\n  shared x: 0..=9;\n  process A { up: x = x + 1; more: x = x + 1; }\n  process B { b: x = 7; }\n}\n",
    );
    let told = place.run_with_input("sim two.pw --interactive", "1\n99\nnonsense\nu\nu\n2\ns\nq\n").exits(0);
    for words in ["there is no step 99", "`nonsense` is not one of these", "there is nothing to undo", "x = 7"] {
        assert!(told.out.contains(words), "no `{words}` in\n{}", told.out);
    }
    place.run_with_input("sim two.pw --interactive", "").exits(0);
    place.run_with_input("sim two.pw --interactive", b"\xff\xfe\n1\n").exits(0);
}

#[test]
fn exploring_counts_the_whole_product() {
    let place = Place::with("count.pw", "program count(N: 2..) { process P[i in 0..<N] { a: skip; b: skip; } }");
    let told = place.run("explore count.pw --format json").exits(0);
    let json = &told.json()["runs"][0];
    assert_eq!((json["states"].as_u64(), json["transitions"].as_u64()), (Some(9), Some(12)));
    assert_eq!((json["deadlocks"].as_u64(), json["depth"].as_u64()), (Some(0), Some(4)));
    assert_eq!(json["complete"], true);
    place.run("explore count.pw -N 4").exits(0).prints("81");
    let sweep = place.run("explore count.pw -N 2..4 --format json").exits(0).json();
    let states: Vec<u64> =
        sweep["runs"].as_array().unwrap().iter().map(|one| one["states"].as_u64().unwrap()).collect();
    assert_eq!(states, [9, 27, 81]);
    place.write("stuck.pw", "program stuck { shared m: lock; process A { acquire m; acquire m; } }");
    assert_eq!(place.run("explore stuck.pw --format json").exits(0).json()["runs"][0]["deadlocks"], 1);
}
