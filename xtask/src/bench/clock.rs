//! Processor time, which does not grow when others use the machine as well.

use std::time::Instant;

/// Measures from its making on.
pub struct Stopwatch {
    started: Instant,
    cpu_before: Option<f64>,
}

/// Whose processor time is meant.
#[derive(Clone, Copy, Debug)]
pub enum ClockOwner {
    /// This process's, all threads together.
    Ours,
    /// That of the children that have ended.
    Children,
}

impl Stopwatch {
    /// Starts now.
    pub fn start(whose: ClockOwner) -> Self {
        Stopwatch { started: Instant::now(), cpu_before: cpu_seconds(whose) }
    }

    /// Seconds of processor time, or on the clock where the system does not count it, and on the clock.
    pub fn stop(self, whose: ClockOwner) -> (f64, f64) {
        let seconds = self.started.elapsed().as_secs_f64();
        let cpu = self.cpu_before.zip(cpu_seconds(whose)).map(|(before, after)| after - before);
        (cpu.unwrap_or(seconds), seconds)
    }
}

/// From Linux's table of processes, in hundredths of a second.
fn cpu_seconds(whose: ClockOwner) -> Option<f64> {
    let line = std::fs::read_to_string("/proc/self/stat").ok()?;
    ticks(&line, whose).map(|ticks| ticks as f64 / 100.0)
}

/// What a process has worked so far, all its threads together.
pub fn seconds_of(process: u32) -> Option<f64> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    ticks(&line, ClockOwner::Ours).map(|ticks| ticks as f64 / 100.0)
}

/// User and system time are fields 14 and 15, those of children 16 and 17; the second field is a name in parentheses that
/// may contain spaces.
fn ticks(line: &str, whose: ClockOwner) -> Option<u64> {
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let first = match whose {
        ClockOwner::Ours => 11,
        ClockOwner::Children => 13,
    };
    Some(fields.get(first)?.parse::<u64>().ok()? + fields.get(first + 1)?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_the_name() {
        let line = "42 (a b) c) S 1 2 3 4 5 6 7 8 9 10 250 30 7 5 20 0 1 0";
        assert_eq!(ticks(line, ClockOwner::Ours), Some(280));
        assert_eq!(ticks(line, ClockOwner::Children), Some(12));
        assert_eq!(ticks("nothing", ClockOwner::Ours), None);
    }
}
