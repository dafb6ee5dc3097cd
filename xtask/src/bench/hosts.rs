//! One search in several threads and processes of this machine, beside `explore -j`.
//!
//! In: a program of `examples/` and its size (`PIECEWISE_HOSTS_CASE` names another one, as `filter:5`). Out: a table of states per second, processor time, bytes sent per state and memory of
//! each process. Counts must be equal in all rows, or the benchmark fails. All processes run on this machine over the loopback address, so times on the clock say little; processor time
//! and bytes are those of any network.

use std::fmt::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use super::binary::Binary;
use super::clock::{ClockOwner, Stopwatch};
use super::mono_table::grouped;
use super::{document, machine};

/// The program and its size, where nothing else is asked for.
const CASE: (&str, u32) = ("filter", 6);

/// Searches: a name, threads, and processes; none of them is `explore` without hosts.
const ROWS: [(&str, usize, usize); 6] = [
    ("`explore -j 1`", 1, 0),
    ("`explore -j 2`", 2, 0),
    ("1 process", 1, 1),
    ("1 process, 2 threads", 2, 1),
    ("2 processes", 1, 2),
    ("4 processes", 1, 4),
];

/// What one search took.
#[derive(Clone, Debug, PartialEq)]
struct Searched {
    states: u64,
    transitions: u64,
    /// On the clock: of the search, and with starting and connecting.
    seconds: f64,
    all_seconds: f64,
    cpu_seconds: f64,
    /// The most that the data of one process took.
    bytes_each: u64,
    sent_bytes: u64,
}

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "hosts", measure(root), writes)
}

fn measure(root: &Path) -> Result<String, String> {
    let given = std::env::var("PIECEWISE_HOSTS_CASE").ok();
    let given = given.as_deref().and_then(|text| text.split_once(':'));
    let (model, size) = match given {
        Some((model, size)) => (model, size.parse().map_err(|_| format!("`{size}` is no size"))?),
        None => CASE,
    };
    let binary = Binary::build_with(root, &["search"])?;
    let mut rows = Vec::new();
    for (name, n_threads, n_processes) in ROWS {
        eprintln!("bench: {model} N = {size}, {name}");
        let searched = search(&binary, root, (model, size), (n_threads, n_processes))?;
        rows.push((name, searched));
    }
    let first = &rows[0].1;
    if let Some((name, other)) =
        rows.iter().find(|(_, row)| (row.states, row.transitions) != (first.states, first.transitions))
    {
        return Err(format!("{name} counts {} states, and not {}", other.states, first.states));
    }
    Ok(section(&format!("{model} N = {size}"), &rows))
}

fn search(
    binary: &Binary,
    root: &Path,
    (model, size): (&str, u32),
    (n_threads, n_processes): (usize, usize),
) -> Result<Searched, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let hosts = directory.path().join("hosts.txt");
    let ports = (0..n_processes).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>();
    let ports = ports.and_then(|all| all.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>());
    let lines = ports
        .map_err(|error| error.to_string())?
        .iter()
        .map(|place| format!("local:{}\n", place.port()))
        .collect::<String>();
    std::fs::write(&hosts, lines).map_err(|error| error.to_string())?;
    let mut command = Command::new(binary.path());
    command.arg("explore").arg(format!("examples/{model}.pw")).args(["-N", &size.to_string()]);
    command.args(["-j", &n_threads.to_string(), "--format", "json", "--progress", "none"]);
    if n_processes > 0 {
        command.arg("--hosts").arg(&hosts);
    }
    let stopwatch = Stopwatch::start(ClockOwner::Children);
    let output = command.current_dir(root).stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let (cpu_seconds, all_seconds) = stopwatch.stop(ClockOwner::Children);
    let document: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("no document: {error}"))?;
    of_document(&document, (cpu_seconds, all_seconds)).ok_or_else(|| format!("not complete: {document}"))
}

fn of_document(document: &Value, (cpu_seconds, all_seconds): (f64, f64)) -> Option<Searched> {
    let number = |value: &Value, name: &str| value[name].as_u64();
    let document = &document["runs"][0];
    let hosts = document["hosts"].as_array().map_or(&[][..], Vec::as_slice);
    let most = hosts.iter().filter_map(|host| number(host, "peak_memory_bytes")).max();
    (document["complete"] == true).then_some(())?;
    Some(Searched {
        states: number(document, "states")?,
        transitions: number(document, "transitions")?,
        seconds: document["seconds"].as_f64()?,
        all_seconds,
        cpu_seconds,
        bytes_each: most.or(number(document, "peak_memory_bytes"))?,
        sent_bytes: hosts.iter().filter_map(|host| number(host, "sent_bytes")).sum(),
    })
}

fn section(name: &str, rows: &[(&str, Searched)]) -> String {
    let first = &rows[0].1;
    let mut text = String::from(HEAD);
    for (who, row) in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {who} | {:.1} s ({:.1} s) | {:.2} | {:.1} s | {:.2}× | {:.0} MB | {:.1} |",
            row.seconds,
            row.all_seconds,
            row.states as f64 / row.seconds / 1e6,
            row.cpu_seconds,
            row.cpu_seconds / first.cpu_seconds,
            row.bytes_each as f64 / 1e6,
            row.sent_bytes as f64 / row.states as f64,
        );
    }
    let (states, transitions) = (grouped(first.states), grouped(first.transitions));
    let _ = write!(
        text,
        "\n{name}: {states} states, {transitions} transitions, equal in every row. Measured on a machine with {}, all processes on it.\n{NOTES}",
        machine::describe()
    );
    text
}

const HEAD: &str = "## One search on several hosts

Made by `cargo xtask bench hosts --write`. The same search by `explore` and by threads and processes that send each other states (`explore --hosts`, see [hosts.md](hosts.md)).

| who | time (with starting) | M states/s | processor time | beside `-j 1` | memory each | bytes sent per state |
|---|--:|--:|--:|--:|--:|--:|
";

const NOTES: &str = "
- Processor time is of all processes together, in hundredths of a second. Times on the clock depend on what else the machine does.
- Memory is each process's own account of its states and tables, of the fullest one.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_becomes_a_row() {
        let document = serde_json::json!({ "runs": [{
            "complete": true, "states": 2_000_000, "transitions": 3, "seconds": 2.0, "peak_memory_bytes": 9,
            "hosts": [{"peak_memory_bytes": 40_000_000, "sent_bytes": 30_000_000}, {"peak_memory_bytes": 41_000_000, "sent_bytes": 34_000_000}],
        }] });
        let row = of_document(&document, (3.0, 2.5)).unwrap();
        let text = section("p N = 2", &[("2 processes", row)]);
        assert!(text.contains("| 2 processes | 2.0 s (2.5 s) | 1.00 | 3.0 s | 1.00× | 41 MB | 32.0 |"), "{text}");
        assert_eq!(of_document(&serde_json::json!({"runs": [{"complete": false}]}), (1.0, 1.0)), None);
    }
}
