//! `check --hosts`: questions on several hosts. Other hosts are pretended by a script in the place of ssh.

use serde_json::Value;

use crate::support::{Place, root};

const PROGRAM: &str = "program lock(N: 2..) {
    shared free: bool = true;
    process P[i in 0..<N] { loop { a: atomic { await free; free = false; } c: free = true; } }
    invariant mutex: count(i: P[i]@c) <= 1;
    invariant wrong: free;
    reachable busy: !free;
}";

/// Takes everything away that depends on time, memory or on who was faster.
fn steady(document: &mut Value) {
    match document {
        Value::Object(fields) => {
            let shaky = ["seconds", "peak_memory_bytes", "tried", "first_known_s", "processor_seconds", "time"];
            shaky.iter().for_each(|key| drop(fields.remove(*key)));
            fields.values_mut().for_each(steady);
        }
        Value::Array(items) => items.iter_mut().for_each(steady),
        _ => {}
    }
}

/// A document with lengths in the places of runs: where several properties are asked at once, another run of the same length may be found to a loop.
fn with_lengths(mut document: Value) -> Value {
    steady(&mut document);
    for run in document["runs"].as_array_mut().unwrap() {
        for result in run["results"].as_array_mut().unwrap() {
            result["counterexample"] = result["counterexample"]["steps"].as_array().map(Vec::len).into();
        }
    }
    document
}

fn place() -> Place {
    let place = Place::with("lock.pw", PROGRAM);
    place.write("hosts.txt", "local slots=2\n");
    place
}

#[test]
fn the_document_is_the_same_as_without_hosts_but_for_times() {
    let place = place();
    let call = "check lock.pw -N 2..4 --method mono --format json --progress none";
    let (mut here, mut dealt) =
        (place.run(call).exits(1).json(), place.run(&format!("{call} --hosts hosts.txt")).exits(1).json());
    steady(&mut here);
    steady(&mut dealt);
    assert_eq!(here, dealt);
}

/// Ten thousand states with four of them.
const COUNTERS: &str = "program counters(N: 2..) {
    shared x: [0..=9; N] = 0;
    process P[i in 0..<N] { while x[i] < 9 { x[i] = x[i] + 1; } }
    invariant small: x[0] + x[1] <= 18;
}";

#[test]
fn programs_that_are_refused_stand_in_the_document_too() {
    let place = place();
    place.write("bad.pw", "program bad { shared x: bool = ; }");
    let call = "check bad.pw lock.pw -N 2..3 --method mono --format json --progress none";
    let (mut here, mut dealt) =
        (place.run(call).exits(2).json(), place.run(&format!("{call} --hosts hosts.txt")).exits(2).json());
    steady(&mut here);
    steady(&mut dealt);
    assert_eq!(here, dealt);
    assert_eq!(here["runs"].as_array().unwrap().len(), 3);
}

/// Counts up to a macro and down again.
const PROMELA: &str = "#ifndef K
#define K 2
#endif
chan c = [1] of { byte };
byte n;
active proctype A() { do :: n < K -> n++; c!n :: n > 0 -> n-- od }
active proctype B() { byte m; do :: c?m -> assert(m <= K) od }
ltl again { []<> (n == 0) }
";

#[test]
fn what_is_asked_of_promela_goes_with_the_questions() {
    let place = place();
    place.write("count.pml", PROMELA);
    for more in ["-D K=1..3", "-D K=3 --lossy --fair weak", "--ltl []<>(n==1) --fair strong", "--ltl again"] {
        let call = format!("check count.pml {more} --method mono --format json --progress none");
        let (here, dealt) = (place.run(&call), place.run(&format!("{call} --hosts hosts.txt")));
        assert_eq!(here.status, dealt.status, "{more}: {}", dealt.err);
        let (here, dealt) = (with_lengths(here.json()), with_lengths(dealt.json()));
        assert_eq!(here, dealt, "{more}");
    }
    let two = "check count.pml --ltl []<>(n==1) --ltl []<>(n==2) --hosts hosts.txt";
    place.run(two).exits(2).complains("there is one formula of `--ltl`");
}

#[test]
fn a_program_may_come_by_the_standard_input() {
    let place = place();
    let call = "check - -N 2..3 --method mono --format json --progress none";
    let mut here = place.run_with_input(call, PROGRAM).exits(1).json();
    let mut dealt = place.run_with_input(&format!("{call} --hosts hosts.txt"), PROGRAM).exits(1).json();
    steady(&mut here);
    steady(&mut dealt);
    assert_eq!(here, dealt);
}

#[test]
fn what_a_question_may_use_goes_with_it() {
    let place = place();
    place.write("counters.pw", COUNTERS);
    let call = "check counters.pw -N 3,4 --method mono --memory 60K --hosts hosts.txt --progress none";
    place.run(call).exits(3).prints("? memory-limit");
    place.run(&format!("{call} --disk .")).exits(0).prints("6 checks: 6 hold");
}

#[test]
fn progress_says_how_many_questions_are_answered() {
    let told = place().run("check lock.pw -N 2..3 --property mutex --hosts hosts.txt --progress json").exits(0);
    let events: Vec<Value> = told.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answered = |event: &Value| (event["answered"].as_u64().unwrap(), event["questions"].as_u64().unwrap());
    assert_eq!(events.iter().map(answered).collect::<Vec<_>>(), [(1, 2), (2, 2)]);
}

#[test]
fn people_get_a_table() {
    let told = place().run("check lock.pw -N 2..3 --hosts hosts.txt --progress none --ascii").exits(1);
    for words in ["lock N=2  mutex", "lock N=3  busy", "1 step !", "checks: "] {
        assert!(told.out.contains(words), "no `{words}` in {}", told.out);
    }
}

#[test]
fn what_is_wrong_about_hosts_is_one_sentence() {
    let place = place();
    place.run("check lock.pw --hosts none.txt").exits(2).complains("there is no such file");
    place.write("empty.txt", "# nobody\n");
    place.run("check lock.pw --hosts empty.txt").exits(2).complains("empty.txt: there is no host in it");
    place.run("check lock.pw --hosts hosts.txt --trace out").exits(2).complains("`--trace` does not go with `--hosts`");
    place.run("check lock.pw --hosts hosts.txt --fail-fast").exits(2).complains("`--fail-fast` does not go with");
    place.run_with_input("host", "hello\n").exits(2).complains("this is no request");
    let other = r#"{"version":"9.9.9","words":[],"files":[],"secret":null}"#;
    place.run_with_input("host", other).exits(2).complains("the caller has version 9.9.9 of piecewise");
}

/// A script in the place of ssh: `down` is out of reach, `old` has another version, `frail` loses its connection in every question,
/// `doomed` its process under a shell, others work.
#[cfg(unix)]
const PRETENDED: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2
case $host in
    down) echo 'no route to host' >&2; exit 255 ;;
    old) echo 0.0.1; exit 0 ;;
    frail) read -r request; case $request in *'"words":[]'*) echo "$VERSION"; exit 0 ;; *) exit 255 ;; esac ;;
    doomed) read -r request; case $request in *'"words":[]'*) echo "$VERSION"; exit 0 ;; *) echo Killed >&2; exit 137 ;; esac ;;
esac
cd / && exec "$PROGRAM" host
"#;

#[cfg(unix)]
fn with_pretended_hosts(place: &Place, hosts: &str, call: &str) -> crate::support::Told {
    use std::os::unix::fs::PermissionsExt;
    let ssh = place.write("ssh", PRETENDED);
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.write("hosts.txt", hosts);
    let mut command = place.command(call.split_whitespace());
    command.env("PIECEWISE_SSH", ssh).env("PROGRAM", env!("CARGO_BIN_EXE_piecewise"));
    command.env("VERSION", env!("CARGO_PKG_VERSION"));
    crate::support::Told::new(&command.output().unwrap())
}

#[cfg(unix)]
#[test]
fn other_hosts_get_the_files_and_dead_ones_are_replaced_once() {
    let place = place();
    let call = "check lock.pw -N 2..3 --hosts hosts.txt --method mono --format json --progress none";
    let verdicts = |told: &crate::support::Told| {
        let document = told.json();
        let results =
            document["runs"].as_array().unwrap().iter().flat_map(|run| run["results"].as_array().unwrap().clone());
        results.map(|result| result["verdict"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let alone = verdicts(&place.run("check lock.pw -N 2..3 --method mono --format json --progress none"));
    for hosts in ["node1\n", "node1\nnode2 slots=2\nlocal\n", "frail\nlocal\n", "down\nlocal\n", "doomed\nlocal\n"] {
        let told = with_pretended_hosts(&place, hosts, call).exits(1);
        assert_eq!(verdicts(&told), alone, "{hosts}");
        assert_eq!(told.err.contains("no route to host"), hosts.contains("down"), "{}", told.err);
    }
    let told = with_pretended_hosts(&place, "frail\n", call).exits(3);
    assert!(verdicts(&told).iter().all(|verdict| verdict == "unknown"));
    assert!(told.out.contains("\"host-lost\""));
    // Who dies is named, and what it was asked is asked once more.
    let told = with_pretended_hosts(&place, "doomed\ndoomed\n", call).exits(3);
    assert!(verdicts(&told).iter().all(|verdict| verdict == "unknown"));
    assert!(told.err.contains("host doomed was lost: its process was killed; its question is asked again elsewhere"));
    with_pretended_hosts(&place, "old\nlocal\n", call).exits(2).complains("host old has version 0.0.1 of piecewise");
    with_pretended_hosts(&place, "down\n", call).exits(2).complains("host down: no route to host");
}

#[test]
fn examples_can_be_dealt_out() {
    let place = place();
    let file = root().join("examples/peterson.pw");
    let call = format!("check {} --hosts hosts.txt --progress none -q", file.display());
    place.run(&call).exits(0).prints("checks: ");
}
