//! Limits are kept on large inputs: hundreds of processes, wide cells, large proofs.
//!
//! What is compared is processor time and the most memory that was resident, so that a busy machine changes nothing. A call
//! that ignores its limit takes many times what it may take, so the bounds are generous.

#![cfg(target_os = "linux")]

use serde_json::Value as Json;

use crate::support::Place;
use crate::support::usage::Usage;

/// Each process shares a fork with each of its neighbours, so that groups of processes differ.
const RING: &str = include_str!("../../../../examples/philosophers.pw");

/// A million values in each cell.
const WIDE: &str = "program wide(N: 2..) {
  shared x: [0..<1000000; 4];
  process P[i in 0..<N] {
    local y: 0..<1000000;
    loop { a: y = x[0]; b: x[1] = (y + 1) % 1000000; c: x[0] = x[1]; d: x[3] = x[2]; }
  }
  invariant p: x[2] < 300;
  property  r: forall i: P[i]@a ~> P[i]@b under every P[*];
}
";

/// Its local proofs have 180 000 local states for each process.
const PROOF: &str = "program proof {
  shared x: 0..<300;
  process P[i in 0..<2] {
    local y: 0..<300;
    loop { a: y = x; b: x = (y + 1) % 300; }
  }
  invariant p: x < 300;
}
";

/// A product too large to be searched to its end, of 30 numbers each of which every step changes, so that states have nothing in
/// common and fill memory soon.
const ENDLESS: &str = "program endless {
  shared a: [0..<1000003; 30];
  process P[i in 0..<2] {
    loop {
      either { atomic { for k in 0..<30 { a[k] = (a[k] * 31 + k + 1) % 1000003; } } }
      or     { atomic { for k in 0..<30 { a[k] = (a[k] * 37 + k + 7) % 1000003; } } }
    }
  }
  invariant fine: forall i: true;
}
";

/// Makes a call with a limit of one second, which may take two threads and half a second more.
#[track_caller]
fn within_a_second(place: &Place, line: &str) -> Usage {
    let usage = Usage::of(place, &format!("{line} --timeout 1s")).unwrap();
    assert!(usage.cpu_seconds < 3.5, "{line} took {} s", usage.cpu_seconds);
    usage
}

/// Makes a call with a limit of 100 MB.
#[track_caller]
fn within_100_mb(place: &Place, line: &str) -> Usage {
    let usage = Usage::of(place, &format!("{line} --memory 100M")).unwrap();
    assert!(usage.peak_mb <= 120, "{line} took {} MB", usage.peak_mb);
    usage
}

/// Whether the guard ended the call, as it does where words and files do not fit into the rest of the time: status 3, and a sentence.
fn is_ended_by_guard(usage: &Usage) -> bool {
    usage.told.status == 3 && usage.told.err.contains("before everything was written")
}

/// Every question has an answer, and what is not decided has a reason with a code.
#[track_caller]
fn is_answered(usage: &Usage, line: &str) {
    if is_ended_by_guard(usage) {
        return;
    }
    let document = usage.told.json();
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty(), "{line}");
    for result in results {
        let reason = &result["reason"]["code"];
        assert!(result["verdict"] != "unknown" || reason.is_string(), "{line}: {result:#}");
    }
}

#[test]
fn time_is_kept_while_hundreds_of_processes_are_set_up() {
    let place = Place::with("ring.pw", RING);
    for method in ["pairwise", "triple", "pushdown", "ls3", "completion", "fll-b", "auto"] {
        let line = format!("check ring.pw -N 300 --method {method} -j 1 --format json --progress none");
        is_answered(&within_a_second(&place, &line), &line);
    }
    let explored = within_a_second(&place, "explore ring.pw -N 300 --progress none");
    assert!(explored.told.out.contains("time limit") || is_ended_by_guard(&explored), "{}", explored.told.out);
    for method in ["mono", "ls3+"] {
        within_a_second(&place, &format!("graph ring.pw -N 300 --method {method} --format dot --progress none"));
    }
}

#[test]
fn time_is_kept_with_wide_cells() {
    let place = Place::with("wide.pw", WIDE);
    for method in ["tmmc", "triple", "pushdown", "stubborn", "ll", "auto"] {
        let line = format!("check wide.pw -N 3 --method {method} -j 1 --format json --progress none");
        is_answered(&within_a_second(&place, &line), &line);
    }
    let drawn = within_a_second(&place, "graph wide.pw -N 3 --method tmmc --format dot --progress none");
    let says = drawn.told.out.contains("not complete: the time limit of 1 s was reached");
    assert!(says || is_ended_by_guard(&drawn), "{}", drawn.told.out);
}

/// How long the proof and its check take is the machine's: the limit is halved until the check does not fit into it.
#[test]
fn a_large_proof_is_not_lost_where_its_check_does_not_fit() {
    let place = Place::with("proof.pw", PROOF);
    let call =
        "check proof.pw --property p --method tmmc -j 1 --proof out --report page.html --progress none --format json";
    for milliseconds in [6000_u32, 3000, 1500, 750, 375, 180] {
        let usage = Usage::of(&place, &format!("{call} --timeout {milliseconds}ms")).unwrap();
        let most = f64::from(milliseconds) / 1000.0 * 2.0 + 2.0;
        assert!(usage.cpu_seconds < most, "{milliseconds} ms became {} s", usage.cpu_seconds);
        if is_ended_by_guard(&usage) {
            return;
        }
        let result: &Json = &usage.told.json()["runs"][0]["results"][0];
        assert!(result["verdict"] == "holds" || result["reason"]["code"] == "time-limit", "{result:#}");
        if result["audited"] != true {
            return;
        }
    }
    panic!("180 000 local states were proved, checked and written within 180 ms");
}

#[test]
fn memory_is_kept_by_every_kind_of_search() {
    let place = Place::with("endless.pw", ENDLESS);
    place.write("wide.pw", WIDE);
    for method in ["mono", "stubborn", "auto", "pushdown"] {
        let line = format!("check endless.pw --method {method} --format json --progress none --timeout 20s");
        is_answered(&within_100_mb(&place, &line), &line);
    }
    // Some of these work for long with little memory.
    for method in ["tmmc", "ls3", "fll-b", "auto"] {
        let line = format!("check wide.pw -N 3 --method {method} --format json --progress none --timeout 4s");
        is_answered(&within_100_mb(&place, &line), &line);
    }
    let explored = within_100_mb(&place, "explore endless.pw --progress none --timeout 60s");
    let says = explored.told.out.contains("the memory limit of 100 MB was reached");
    assert!(says || is_ended_by_guard(&explored), "{}", explored.told.out);
}

/// Room for what is laid out cell by cell is asked for before it is taken: it is taken faster than anybody looks at the size of the process.
#[test]
fn memory_is_kept_with_hundreds_of_thousands_of_cells() {
    let place = Place::new();
    for n_cells in [60_000, 150_000, 400_000, 800_000] {
        let text = format!(
            "program cells {{ shared a: [0..=3; {n_cells}];
               process P[i in 0..<2] {{ loop {{ s: a[i] = 1; t: a[i] = 0; }} }}
               invariant q: a[0] <= 2; }}"
        );
        place.write("cells.pw", &text);
        for call in
            ["check cells.pw", "check cells.pw --method forward", "check cells.pw --method tmmc", "explore cells.pw"]
        {
            let line = format!("{call} --progress none --timeout 8s --memory 200M");
            let usage = Usage::of(&place, &line).unwrap();
            assert!(usage.peak_mb <= 225, "{line} with {n_cells} cells took {} MB", usage.peak_mb);
            assert!(matches!(usage.told.status, 0 | 3), "{line}: {} {}", usage.told.out, usage.told.err);
        }
    }
}

/// What is listed of a set takes room for what is in it, not for each bit that is looked at.
#[test]
fn diagrams_of_many_cells_take_room_for_each_cell_alone() {
    let place = Place::new();
    place.write(
        "cells.pw",
        "program cells { shared a: [0..=3; 10000];
           process P[i in 0..<2] { loop { s: a[i] = 1; t: a[i] = 0; } }
           invariant q: a[0] <= 2; }",
    );
    let usage = Usage::of(&place, "check cells.pw --method forward --property q -q --progress none").unwrap();
    assert_eq!(usage.told.status, 0, "{}", usage.told.err);
    assert!(usage.peak_mb <= 120, "{} MB", usage.peak_mb);
}

#[test]
fn a_limit_below_what_the_program_takes_is_said_in_words() {
    let place = Place::with("endless.pw", ENDLESS);
    let words = "(below 64 MB, it is one of data";
    let check = "check endless.pw --method mono --progress none --memory";
    place.run(&format!("{check} 1M")).exits(3).prints("the memory limit of 1 MB was reached");
    place.run(&format!("{check} 1000")).exits(3).prints("the memory limit of 1000 bytes was reached").prints(words);
    let usage = Usage::of(&place, &format!("{check} 1M")).unwrap();
    assert!(usage.peak_mb <= 64, "{} MB", usage.peak_mb);
}

#[test]
fn calls_that_search_nothing_have_limits_too() {
    let place = Place::with("ring.pw", RING);
    let line = "sim ring.pw -N 300 --until no_errors --runs 100000000 --steps 20";
    let tried = within_a_second(&place, line);
    let says = tried.told.out.contains("did not decide no_errors; the time limit of 1 s was reached");
    assert!(says || is_ended_by_guard(&tried), "{}", tried.told.out);
    place.run("export ring.pw -N 3 --to dot --timeout 30s --memory 1G").exits(0);
    place.run("sim ring.pw -i --timeout 1s").exits(2);
    within_a_second(&place, "export ring.pw -N 2000 --to promela");
}
