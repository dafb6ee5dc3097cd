//! The released program as a user runs it: one process for each measurement, with its time and its memory.
//!
//! In: arguments of `piecewise check`. Out: the verdict of its one property, seconds on the clock from start to end (reading,
//! checking, auditing and printing included), and the most memory that the process had.

use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::clock::{ClockOwner, Stopwatch};

/// The released binary.
pub struct Binary {
    path: PathBuf,
    root: PathBuf,
}

/// What one run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// `holds`, `violated` or `unknown`.
    pub verdict: String,
    /// The method that decided.
    pub method: String,
    /// Why it is not known.
    pub reason: Option<String>,
    /// Whether the evidence passed its check.
    pub audited: bool,
    /// On the clock.
    pub seconds: f64,
    /// Of the processors, where the system reports it, in hundredths of a second; else on the clock.
    pub cpu_seconds: f64,
    /// The most memory of the process; `None` where the system does not report it.
    pub peak_bytes: Option<u64>,
}

/// A question and how to answer it.
pub struct BinaryCall<'a> {
    /// The program, from the root.
    pub file: String,
    /// The property's name.
    pub property: &'a str,
    /// The method's name.
    pub method: &'a str,
    /// Parameters, as on the command line.
    pub parameters: Vec<String>,
    /// After so many seconds the run is given up.
    pub seconds: f64,
}

impl Binary {
    /// Builds the released binary; `PIECEWISE_BINARY` names one that is there already.
    pub fn build(root: &Path) -> Result<Self, String> {
        Binary::build_with(root, &[])
    }

    /// The same with these features.
    pub fn build_with(root: &Path, features: &[&str]) -> Result<Self, String> {
        if let Some(path) = std::env::var_os("PIECEWISE_BINARY") {
            return Ok(Binary { path: path.into(), root: root.to_path_buf() });
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--release", "--package", "piecewise-cli"];
        let mut command = Command::new(cargo);
        command.args(build).current_dir(root);
        if !features.is_empty() {
            command.arg("--features").arg(features.join(","));
        }
        let status = command.status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("the release build ended with {status}")),
            Err(error) => return Err(format!("cargo cannot be run: {error}")),
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        Ok(Binary { path: target.join("release/piecewise"), root: root.to_path_buf() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The project that it was built of.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs it; short runs several times, of which the fastest counts.
    pub fn run(&self, call: &BinaryCall<'_>) -> Result<Ran, String> {
        fastest(|| self.run_once(call))
    }

    /// The same without what an answer teaches: verdicts alone.
    pub fn run_quietly(&self, call: &BinaryCall<'_>) -> Result<Ran, String> {
        fastest(|| self.measure(call, Detail::Verdicts))
    }

    /// Runs it once.
    pub fn run_once(&self, call: &BinaryCall<'_>) -> Result<Ran, String> {
        self.measure(call, Detail::Everything)
    }

    fn measure(&self, call: &BinaryCall<'_>, detail: Detail) -> Result<Ran, String> {
        let mut command = Command::new(&self.path);
        command.arg("check").arg(&call.file).args(&call.parameters);
        command.args(["--property", call.property, "--method", call.method]);
        command.args(match detail {
            Detail::Everything => &["--format", "json"][..],
            Detail::Verdicts => &["--format", "jsonl", "-q"],
        });
        let milliseconds = (call.seconds * 1000.0).ceil().max(1.0);
        command.args(["--progress", "none", "--memory", "4G", "--timeout", &format!("{milliseconds}ms")]);
        // A file takes all that is printed while it is not read.
        let mut printed = tempfile::tempfile().map_err(|error| format!("no temporary file: {error}"))?;
        let copy = printed.try_clone().map_err(|error| error.to_string())?;
        command.current_dir(&self.root).stdout(copy).stderr(Stdio::null());
        let stopwatch = Stopwatch::start(ClockOwner::Children);
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.path.display()))?;
        let peak_bytes = watch(&mut child)?;
        let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Children);
        printed.rewind().map_err(|error| error.to_string())?;
        let mut documents = serde_json::Deserializer::from_reader(BufReader::new(printed)).into_iter::<Value>();
        let mut next = || {
            let found = documents.next().ok_or("nothing was printed")?;
            found.map_err(|error| format!("{} by {}: no result document: {error}", call.file, call.method))
        };
        let result = match detail {
            Detail::Everything => next()?["runs"][0]["results"][0].take(),
            Detail::Verdicts => loop {
                let mut event = next()?;
                match event["event"].as_str() {
                    Some("verdict") => break event["result"].take(),
                    // A limit that was reached while what is told was written.
                    Some("error") => match event["message"].as_str() {
                        Some(message) if message.contains("limit") => {
                            break json!({ "verdict": "unknown", "reason": message });
                        }
                        message => return Err(format!("{}: {}", call.file, message.unwrap_or_default())),
                    },
                    _ => {}
                }
            },
        };
        Ok(Ran {
            method: result["method"].as_str().unwrap_or_default().to_owned(),
            verdict: result["verdict"].as_str().ok_or("the result has no verdict")?.to_owned(),
            reason: result["reason"]["text"].as_str().or(result["reason"].as_str()).map(str::to_owned),
            audited: result["audited"].as_bool().unwrap_or(false),
            seconds,
            cpu_seconds,
            peak_bytes,
        })
    }
}

/// How much is asked to be told.
#[derive(Clone, Copy)]
enum Detail {
    Everything,
    Verdicts,
}

/// The fastest of several runs, where one is short.
fn fastest(mut run: impl FnMut() -> Result<Ran, String>) -> Result<Ran, String> {
    const SHORT_SECONDS: f64 = 0.5;
    const N_RUNS: usize = 5;
    let mut best = run()?;
    for _ in 1..N_RUNS {
        if best.seconds > SHORT_SECONDS {
            break;
        }
        let again = run()?;
        best.seconds = best.seconds.min(again.seconds);
        best.cpu_seconds = best.cpu_seconds.min(again.cpu_seconds);
        best.peak_bytes = best.peak_bytes.max(again.peak_bytes);
    }
    Ok(best)
}

/// Waits for the end of a process; the most memory that it was seen with.
fn watch(child: &mut Child) -> Result<Option<u64>, String> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let seen = std::fs::read_to_string(&status).ok().and_then(|text| peak_bytes(&text));
        peak = peak.max(seen);
        match child.try_wait() {
            Ok(Some(_)) => return Ok(peak),
            Ok(None) => std::thread::sleep(Duration::from_micros(500)),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The high-water mark of Linux's account of a process.
fn peak_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read() {
        assert_eq!(peak_bytes("Name:\tp\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2 << 20));
        assert_eq!(peak_bytes("Name:\tp\n"), None);
    }
}
