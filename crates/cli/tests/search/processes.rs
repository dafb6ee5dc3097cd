//! What the tests of searches share: host files with free ports, and processes that are started by hand.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, Told};

/// What the processes of a test know and nobody else does.
pub const SECRET: &str = "a secret of tests";

/// So many ports that were free a moment ago.
pub fn free_ports(n: usize) -> Vec<u16> {
    let listeners: Vec<_> = (0..n).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

/// A host file of so many processes on this machine.
pub fn local_hosts(n: usize, more: &str) -> String {
    free_ports(n).iter().map(|port| format!("local:{port} {more}\n")).collect()
}

/// What an `explore` counted.
pub fn counts(told: &Told) -> Vec<u64> {
    let document = told.json();
    let number = |name: &str| document["runs"][0][name].as_u64().unwrap_or_else(|| panic!("no {name} in {document:#}"));
    ["states", "transitions", "deadlocks", "errors", "depth"].map(number).to_vec()
}

/// The results of a `check`.
pub fn results(told: &Told) -> Vec<Value> {
    let document = told.json();
    let runs = document["runs"].as_array().unwrap_or_else(|| panic!("no runs in {document:#}")).clone();
    runs.iter().flat_map(|run| run["results"].as_array().unwrap().clone()).collect()
}

/// Starts a process of a search by hand.
pub fn start(place: &Place, call: &str, process: usize, secret: &str) -> Child {
    let mut command = place.command(call.split_whitespace());
    command.args(["--process", &process.to_string()]).env("PIECEWISE_SECRET", secret);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for a process, at most this long.
pub fn end(mut child: Child, seconds: u64) -> Told {
    let until = Instant::now() + Duration::from_secs(seconds);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().ok();
            let told = Told::new(&child.wait_with_output().unwrap());
            panic!("a process did not end within {seconds} s: {told:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Told::new(&child.wait_with_output().unwrap())
}

/// Waits until something is so, at most half a minute.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// How many levels a worker has kept in a checkpoint.
pub fn levels_kept(directory: &Path, worker: usize) -> usize {
    let kept = |search: std::fs::DirEntry| {
        let text = std::fs::read(search.path().join(format!("worker-{worker}.levels"))).unwrap_or_default();
        text.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1)
    };
    std::fs::read_dir(directory).map_or(0, |entries| entries.flatten().map(kept).max().unwrap_or(0))
}

/// The children of a process that are alive, in the order in which they were started.
pub fn children(parent: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let mut all: Vec<u32> =
        children.unwrap_or_default().split_whitespace().filter_map(|number| number.parse().ok()).collect();
    // Threads of the launcher start them, too.
    if let Ok(tasks) = std::fs::read_dir(format!("/proc/{parent}/task")) {
        for task in tasks.flatten() {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(text.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Sends a signal.
pub fn signal(process: u32, name: &str) {
    Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap();
}

/// A program that takes a moment: counters that go up one by one to a size.
pub fn counters(size: usize) -> String {
    format!(
        "program counters(N: 2..) {{
    shared x: [0..={size}; N] = 0;
    process P[i in 0..<N] {{ while x[i] < {size} {{ x[i] = x[i] + 1; }} }}
    invariant small: x[0] + x[1] <= {};
    reachable both: x[0] == {size} && x[1] == {size};
}}",
        2 * size
    )
}
