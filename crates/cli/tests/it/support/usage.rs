//! What a call took: processor time and the most memory, which do not depend on what else the machine does.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Place, Told};

/// What a call printed, and what it took.
pub struct Usage {
    /// What it printed.
    pub told: Told,
    /// Processor time of all threads, in seconds.
    pub cpu_seconds: f64,
    /// The largest resident size, in megabytes.
    pub peak_mb: u64,
}

/// The clock ticks of `/proc/PID/stat`, the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

impl Usage {
    /// Makes a call and measures it; `None` where the system does not tell.
    pub fn of(place: &Place, line: &str) -> Option<Usage> {
        fs::metadata("/proc/self/status").ok()?;
        let mut command = place.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = read(child.stdout.take().unwrap());
        let err = read(child.stderr.take().unwrap());
        let mut peak_mb = 0;
        // A process that has ended keeps its times until it is waited for, but not its memory.
        while stat(child.id())[0] != "Z" {
            peak_mb = peak_mb.max(peak(child.id()).unwrap_or(0));
            thread::sleep(Duration::from_millis(2));
        }
        let ticks = |at: usize| stat(child.id())[at].parse::<f64>().unwrap();
        let cpu_seconds = (ticks(11) + ticks(12)) / TICKS_PER_SECOND;
        let status = child.wait().unwrap().code().unwrap_or(-1);
        let told = Told { status, out: out.join().unwrap(), err: err.join().unwrap() };
        Some(Usage { told, cpu_seconds, peak_mb })
    }
}

fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// The fields of `/proc/PID/stat` from the state on; the name before it may have blanks.
fn stat(process: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = text.rsplit_once(')').unwrap();
    fields.split_whitespace().map(str::to_owned).collect()
}

fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? >> 10)
}
