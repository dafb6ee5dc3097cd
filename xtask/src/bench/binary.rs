//! The released program as a user runs it: one process for each measurement, with its time and its memory.
//!
//! In: arguments of `piecewise check`. Out: the verdict of its one property, seconds on the clock from start to end (reading,
//! checking, auditing and printing included), and the most memory that the process had.

use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::clock::{self, ClockOwner, Stopwatch};

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
        fastest(self.run_once(call)?, || self.run_once(call))
    }

    /// The fastest of a run and some more, where they are short.
    pub fn run_again(&self, call: &BinaryCall<'_>, first: Ran) -> Result<Ran, String> {
        fastest(first, || self.run_once(call))
    }

    /// Runs it without what an answer teaches: verdicts alone.
    pub fn run_quietly(&self, call: &BinaryCall<'_>) -> Result<Ran, String> {
        let run = || in_time(self.measure(call, Detail::Verdicts, f64::INFINITY)?);
        fastest(run()?, run)
    }

    /// Runs it once.
    pub fn run_once(&self, call: &BinaryCall<'_>) -> Result<Ran, String> {
        in_time(self.run_within(call, f64::INFINITY)?)
    }

    /// Runs it once; `None` where it worked longer than so many seconds of the processor, and was ended.
    pub fn run_within(&self, call: &BinaryCall<'_>, processor_seconds: f64) -> Result<Option<Ran>, String> {
        self.measure(call, Detail::Everything, processor_seconds)
    }

    fn measure(&self, call: &BinaryCall<'_>, detail: Detail, processor_seconds: f64) -> Result<Option<Ran>, String> {
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
        let watched = watch(&mut child, processor_seconds)?;
        let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Children);
        let ChildEnd::Itself { peak_bytes } = watched else { return Ok(None) };
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
        Ok(Some(Ran {
            method: result["method"].as_str().unwrap_or_default().to_owned(),
            verdict: result["verdict"].as_str().ok_or("the result has no verdict")?.to_owned(),
            reason: result["reason"]["text"].as_str().or(result["reason"].as_str()).map(str::to_owned),
            audited: result["audited"].as_bool().unwrap_or(false),
            seconds,
            cpu_seconds,
            peak_bytes,
        }))
    }
}

/// How much is asked to be told.
#[derive(Clone, Copy)]
enum Detail {
    Everything,
    Verdicts,
}

/// A run that no limit ended.
fn in_time(ran: Option<Ran>) -> Result<Ran, String> {
    ran.ok_or_else(|| String::from("it worked without end"))
}

/// The fastest of a run and some more, where they are short; of the processor the mean, since the system may count it by samples, of which a short run has none or one.
fn fastest(first: Ran, mut run: impl FnMut() -> Result<Ran, String>) -> Result<Ran, String> {
    const SHORT_SECONDS: f64 = 0.5;
    const N_RUNS: usize = 5;
    let (mut best, mut cpu_seconds) = (first.clone(), vec![first.cpu_seconds]);
    while cpu_seconds.len() < N_RUNS && best.seconds <= SHORT_SECONDS {
        let again = run()?;
        cpu_seconds.push(again.cpu_seconds);
        best.seconds = best.seconds.min(again.seconds);
        best.peak_bytes = best.peak_bytes.max(again.peak_bytes);
    }
    best.cpu_seconds = cpu_seconds.iter().sum::<f64>() / cpu_seconds.len() as f64;
    Ok(best)
}

/// How a process ended.
enum ChildEnd {
    /// By itself; the most memory that it was seen with, where the system says it.
    Itself { peak_bytes: Option<u64> },
    /// It worked for too long.
    Ended,
}

/// Waits for the end of a process, and ends it where it has worked for longer.
fn watch(child: &mut Child, processor_seconds: f64) -> Result<ChildEnd, String> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let seen = std::fs::read_to_string(&status).ok().and_then(|text| peak_bytes(&text));
        peak = peak.max(seen);
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            return Ok(ChildEnd::Itself { peak_bytes: peak });
        }
        if clock::seconds_of(child.id()).is_some_and(|seconds| seconds > processor_seconds) {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(ChildEnd::Ended);
        }
        std::thread::sleep(Duration::from_micros(500));
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
    fn of_short_runs_the_fastest_counts_and_the_mean_of_the_processor() {
        let ran = |seconds, cpu_seconds| Ran {
            verdict: "holds".to_owned(),
            method: "mono".to_owned(),
            reason: None,
            audited: true,
            seconds,
            cpu_seconds,
            peak_bytes: None,
        };
        let mut more = [ran(0.1, 0.0), ran(0.3, 0.02), ran(0.2, 0.0), ran(0.2, 0.02)].into_iter();
        let best = fastest(ran(0.2, 0.01), || more.next().ok_or_else(String::new)).unwrap();
        assert_eq!((best.seconds, (best.cpu_seconds * 1000.0).round()), (0.1, 10.0));
        assert_eq!(fastest(ran(2.0, 2.0), || Err(String::new())), Ok(ran(2.0, 2.0)), "long runs are made once");
    }

    #[test]
    fn the_high_water_mark_is_read() {
        assert_eq!(peak_bytes("Name:\tp\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2 << 20));
        assert_eq!(peak_bytes("Name:\tp\n"), None);
    }
}
