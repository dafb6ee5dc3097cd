//! Limits, interrupts, closed pipes and crashes end in order.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::support::{Place, Told};
use testkit::skip::{Needs, skipped};

/// A product that nobody searches to the end: 30 counters to a million.
const ENDLESS: &str = "program endless {
  process P[i in 0..<30] {
    local x: 0..<1000000;
    loop { either { x = (x + 1) % 1000000; } or { x = (x + 7) % 1000000; } }
  }
  invariant fine: true;
}
";

fn place() -> Place {
    Place::with("endless.pw", ENDLESS)
}

#[test]
fn a_time_limit_is_an_answer() {
    let told = place().run("check endless.pw --timeout 300ms --format json").exits(3);
    let json = told.json();
    let fine = json["runs"][0]["results"].as_array().unwrap().iter().find(|one| one["property"] == "fine").unwrap();
    assert_eq!(fine["verdict"], "unknown");
    assert_eq!(fine["reason"]["code"], "time-limit");
    assert!(fine["global_states"].as_u64() > Some(0), "{fine:#}");
    place().run("check endless.pw --method mono --timeout 300ms").exits(3).prints("time limit");
    let explored = &place().run("explore endless.pw --timeout 300ms --format json").exits(3).json()["runs"][0];
    assert_eq!(explored["complete"], false);
    assert_eq!(explored["reason"]["code"], "time-limit");
}

#[test]
fn a_memory_limit_is_an_answer() {
    let told = place().run("check endless.pw --method mono --memory 20M --timeout 60s --format json").exits(3);
    let json = told.json();
    assert_eq!(json["runs"][0]["results"][0]["reason"]["code"], "memory-limit", "{json:#}");
}

/// The program never comes to its end, so that the work does not even begin; the result document is there all the same.
#[test]
fn a_call_that_is_ended_from_outside_leaves_its_document() {
    let place = Place::new();
    for (line, file) in [
        ("check - --timeout 100ms --format json", None),
        ("check - --timeout 100ms --format json -o out.json", Some("out.json")),
    ] {
        let mut command = place.command(line.split_whitespace());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut told = Told::new(&child.wait_with_output().unwrap()).exits(3).complains("time limit");
        drop(input);
        if let Some(file) = file {
            assert_eq!(told.out, "");
            told.out = place.read(file);
        }
        let json = told.json();
        assert_eq!(json["status"], 3);
        assert!(json["errors"][0].as_str().unwrap().contains("time limit"), "{json:#}");
    }
}

/// The same of the other commands that write a document.
#[test]
fn other_commands_that_are_ended_from_outside_leave_their_documents() {
    let place = Place::with("one.pw", "program one { process P { skip; } allow deadlock; invariant p: true; }\n");
    place.run("check one.pw --method tmmc --property p --proof . -q").exits(0);
    for (line, schema) in [
        ("explore - --format json", "piecewise-explore/2"),
        ("explore - --format json -o out.json", "piecewise-explore/2"),
        ("graph - --format json", "piecewise-graph/1"),
        ("proof check one.p.proof.json - --format json", "piecewise-proof-check/1"),
    ] {
        let mut command = place.command(line.split_whitespace().chain(["--timeout", "100ms"]));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut told = Told::new(&child.wait_with_output().unwrap()).exits(3).complains("time limit");
        drop(input);
        if line.contains("out.json") {
            assert_eq!(told.out, "");
            told.out = place.read("out.json");
        }
        let json = told.json();
        assert_eq!((&json["schema"], &json["status"]), (&schema.into(), &3.into()), "{line}: {json:#}");
        assert!(json["errors"][0].as_str().unwrap().contains("time limit"), "{line}: {json:#}");
    }
}

/// The same of events: the last one is that of the end, and says how the call ended.
#[test]
fn events_of_a_call_that_is_ended_from_outside_come_to_their_end() {
    let place = Place::new();
    for (line, file) in [
        ("check - --timeout 100ms --format jsonl", None),
        ("check - --timeout 100ms --format jsonl -o out.jsonl", Some("out.jsonl")),
    ] {
        let mut command = place.command(line.split_whitespace());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let told = Told::new(&child.wait_with_output().unwrap()).exits(3).complains("time limit");
        drop(input);
        let text = file.map_or(told.out, |file| place.read(file));
        let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [error, end] = &events[..] else { panic!("{events:?}") };
        assert!(error["message"].as_str().unwrap().contains("time limit"), "{error}");
        assert_eq!((&end["event"], &end["status"]), (&"end".into(), &3.into()), "{end}");
    }
}

/// A proof goes to a pipe that nobody reads, so that the call has to be ended while it writes: the verdicts were known long before.
#[test]
fn what_was_decided_before_a_call_is_ended_is_in_its_documents() {
    let text = "program one { shared x: 0..=3; process P { x = 1; } process Q { skip; }
        allow deadlock; invariant small: x <= 1; invariant none: x == 0; }";
    let place = Place::with("one.pw", text);
    let directory = place.path().join("proofs");
    std::fs::create_dir(&directory).unwrap();
    for name in ["one.small.proof.json", "one.tmmc.small.proof.json"] {
        assert!(Command::new("mkfifo").arg(directory.join(name)).status().unwrap().success());
    }
    let formats = "human,json=out.json,csv=out.csv,junit=out.xml,sarif=out.sarif,github=out.log";
    let line = format!("check one.pw --method tmmc --proof proofs --timeout 2s --format {formats}");
    let told = place.run(&line).exits(1).complains("time limit");
    assert!(
        told.out.contains("PROVED    invariant small") && told.out.contains("VIOLATED  invariant none"),
        "{}",
        told.out
    );
    let verdicts = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        assert!(json["errors"][0].as_str().unwrap().contains("time limit") && json["status"] == 1, "{json:#}");
        let runs = json["runs"].as_array().unwrap().iter();
        let of = |run: &serde_json::Value, name: &str| {
            let result = run["results"].as_array().unwrap().iter().find(|one| one["property"] == name);
            result.unwrap()["verdict"].as_str().unwrap().to_owned()
        };
        runs.map(|run| [of(run, "small"), of(run, "none")]).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&place.read("out.json")), [["holds", "violated"]]);
    for (file, said) in [
        ("out.csv", &[",small,tmmc,holds,", ",none,tmmc,violated,", "time limit"][..]),
        ("out.xml", &["failures=\"1\"", "time limit"]),
        ("out.sarif", &["invariant none", "time limit"]),
        ("out.log", &["invariant none", "time limit"]),
    ] {
        let text = place.read(file);
        assert!(said.iter().all(|part| text.contains(part)), "{file}: {text}");
    }
    // Of two methods the first is through, and the second one not.
    let line = "check one.pw --method mono,tmmc --proof proofs --trace traces --timeout 1s --format json";
    let told = place.run(line).exits(1).complains("time limit");
    assert_eq!(verdicts(&told.out), [["holds", "violated"]; 2]);
}

/// With a disk the search goes on where memory ends, and leaves nothing there.
#[test]
fn where_memory_ends_a_disk_takes_over() {
    let text = "program counters {
      shared a: [0..=4000000000; 6];
      process P[i in 0..<2] { loop { atomic { if a[i] < 60000000 { a[i] = a[i] + 1000000; } else { a[i] = 0; } } } }
      invariant small: a[0] + a[1] < 100000000;
    }
    ";
    let place = Place::with("counters.pw", text);
    let alone = &place.run("explore counters.pw --format json --progress none").exits(0).json()["runs"][0];
    assert_eq!(alone["states"], 61 * 61);
    let little = "--memory 40K --progress none --format json -j 1";
    let stopped = place.run(&format!("explore counters.pw {little}")).exits(3).json();
    assert_eq!(stopped["runs"][0]["reason"]["code"], "memory-limit");
    let on_disk = &place.run(&format!("explore counters.pw {little} --disk here")).exits(0).json()["runs"][0];
    for count in ["states", "transitions", "deadlocks", "errors", "depth", "complete"] {
        assert_eq!(on_disk[count], alone[count], "{count}");
    }
    assert!(on_disk["peak_memory_bytes"].as_u64() <= Some(40 << 10), "{on_disk:#}");
    let check = format!("check counters.pw --property small --method mono {little} --disk here");
    let violated = place.run(&check).exits(1).json();
    assert_eq!(violated["runs"][0]["results"][0]["verdict"], "violated", "{violated:#}");
    assert_eq!(std::fs::read_dir(place.path().join("here")).unwrap().count(), 0);
    // A file is no directory.
    let told = place.run(&format!("explore counters.pw {little} --disk counters.pw")).exits(3).json();
    assert_eq!(told["runs"][0]["reason"]["code"], "disk", "{told:#}");
    place.run("explore counters.pw --disk here").exits(2).complains("--memory");
}

/// Starts a call that goes on for ever, and waits until its search is under way.
pub fn start(place: &Place, line: &str) -> Child {
    let mut command = place.command(line.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    while !first.contains("searching") {
        first.clear();
        assert!(errors.read_line(&mut first).unwrap() > 0, "the call ended by itself");
    }
    // The rest is read away, so that the pipe does not fill.
    std::thread::spawn(move || errors.read_to_end(&mut Vec::new()));
    child
}

pub fn interrupt(child: &Child) {
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_interrupt_ends_with_what_is_done() {
    let place = place();
    let child = start(&place, "check endless.pw --method mono --progress json --format json -o out.json");
    interrupt(&child);
    let told = Told::new(&child.wait_with_output().unwrap()).exits(3);
    assert_eq!(told.out, "");
    let json: serde_json::Value = serde_json::from_str(&place.read("out.json")).unwrap();
    assert_eq!(json["runs"][0]["results"][0]["reason"]["code"], "cancelled");
    assert_eq!(place.names(), ["endless.pw", "out.json"]);
}

#[test]
fn a_second_interrupt_ends_at_once_and_leaves_no_file() {
    let place = place();
    let mut child = start(&place, "check endless.pw --method mono --progress json --format json -o out.json");
    // The first may end the call in order before the second comes; both are fine, and neither leaves half a file.
    interrupt(&child);
    Command::new("sh").args(["-c", &format!("kill -INT {} 2>/dev/null", child.id())]).status().unwrap();
    let status = child.wait().unwrap();
    assert!(matches!(status.code(), Some(3 | 130)), "{status}");
    assert!(
        place.names().iter().all(|name| ["endless.pw", "out.json"].contains(&name.as_str())),
        "{:?}",
        place.names()
    );
}

#[test]
fn progress_is_json_lines_where_asked() {
    let told = place().run("check endless.pw --method mono --timeout 700ms --progress json -q").exits(3);
    let events: Vec<serde_json::Value> = told.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"start"), Some(&"end")));
    let searching = events.iter().find(|event| event["event"] == "searching").expect("the search is told");
    for key in ["states", "frontier", "depth", "memory_bytes", "seconds", "model", "parameters"] {
        assert!(searching.get(key).is_some(), "no `{key}` in {searching}");
    }
    assert_eq!(place().run("check endless.pw --timeout 300ms --progress none -q").exits(3).err, "");
}

#[test]
fn a_closed_pipe_is_quiet() {
    let place = Place::with("lock.pw", include_str!("support/lock.pw"));
    let mut child =
        place.command(["check", "lock.pw", "-v"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let told = Told::new(&child.wait_with_output().unwrap());
    assert_eq!((told.status, told.err.as_str()), (0, ""));
    let mut child =
        place.command(["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let told = Told::new(&child.wait_with_output().unwrap());
    assert_eq!((told.status, told.err.as_str()), (0, ""));
}

#[test]
fn a_full_disk_is_no_success() {
    if !std::path::Path::new("/dev/full").exists() {
        skipped(Needs::Machine("/dev/full"));
        return;
    }
    let place = Place::with("lock.pw", include_str!("support/lock.pw"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let told = Told::new(&place.command(["check", "lock.pw"]).stdout(full).output().unwrap()).exits(2);
    assert!(told.err.contains("cannot be written"), "{}", told.err);
    place.run("check lock.pw -o /dev/full").exits(2).complains("/dev/full");
}

/// Run again by [`a_panic_is_an_internal_error`], in a process of its own.
#[test]
fn panics_when_asked() {
    if std::env::var_os("PIECEWISE_TEST_PANIC").is_some() {
        cli::exit_on_panic();
        std::thread::spawn(|| panic!("something impossible")).join().unwrap();
    }
}

#[test]
fn a_panic_is_an_internal_error() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "limits::panics_when_asked", "--nocapture"]).env("PIECEWISE_TEST_PANIC", "1");
    let told = Told::new(&command.env_remove("RUST_BACKTRACE").output().unwrap()).exits(4);
    assert!(told.err.contains("internal error: something impossible"), "{}", told.err);
    assert!(told.err.contains("Please report it"), "{}", told.err);
    assert!(!told.err.contains("stack backtrace"), "{}", told.err);
}
