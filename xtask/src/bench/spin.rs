//! SPIN's side of the benchmark: generates, compiles and runs its checker, unreduced.
//!
//! In: a twin of `benches/spin/`. Out: what SPIN prints about its search, as numbers. All files are made in a directory of
//! their own, which is removed in the end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::clock::{ClockOwner, Stopwatch};
use super::{BenchCase, Measured, repeatedly};

/// How SPIN's checker is compiled: without cycle detection and fairness.
const COMPILER_OPTIONS: [&str; 5] = ["-O2", "-w", "-DSAFETY", "-DNOFAIR", "-DMEMLIM=8192"];

/// Whether SPIN leaves out interleavings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// It explores all.
    None,
    /// It leaves out what its partial-order reduction finds equivalent, as it does by itself.
    PartialOrder,
}

/// SPIN and a C compiler, and a place to work.
pub struct Spin {
    twins: PathBuf,
    directory: PathBuf,
}

impl Spin {
    /// Checks that all that is needed is there; what is missing otherwise.
    pub fn find(root: &Path) -> Result<Self, String> {
        let missing =
            |tool: &str, package: &str| format!("`{tool}` is not installed (on Debian: apt install {package})");
        Command::new("spin").arg("-V").output().map_err(|_| missing("spin", "spin"))?;
        Command::new("cc").arg("--version").output().map_err(|_| missing("cc", "gcc libc6-dev"))?;
        let directory = std::env::temp_dir().join(format!("piecewise-bench-{}", std::process::id()));
        std::fs::create_dir_all(&directory).map_err(|error| format!("no directory to work in: {error}"))?;
        Ok(Spin { twins: root.join("benches/spin"), directory })
    }

    /// Where it works.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Searches the twin of a case.
    pub fn measure(&self, case: &BenchCase, reduction: Reduction) -> Result<Measured, String> {
        let twin = self.twins.join(format!("{}.pml", case.model));
        self.run(Command::new("spin").arg(format!("-DN={}", case.size)).arg("-a").arg(twin))?;
        let unreduced = (reduction == Reduction::None).then_some("-DNOREDUCE");
        self.run(Command::new("cc").args(COMPILER_OPTIONS).args(unreduced).args(["-o", "pan", "pan.c"]))?;
        let options = ["-E".to_owned(), "-n".to_owned(), format!("-m{}", case.depth), format!("-w{}", case.table_bits)];
        repeatedly(|| {
            let stopwatch = Stopwatch::start(ClockOwner::Children);
            let output = self.run(Command::new(self.directory.join("pan")).args(&options))?;
            let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Children);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let report = Report::parse(&text)?;
            Ok(Measured {
                states: report.states,
                // SPIN counts the arrival in the initial state.
                transitions: report.transitions - 1,
                cpu_seconds,
                seconds,
                bytes: report.bytes,
            })
        })
    }

    /// Searches a program as it is, past all errors; without reduction it has all the states that its text has.
    pub fn measure_model(&self, model: &Path, flags: &[String], reduction: Reduction) -> Result<Measured, String> {
        let is_whole = reduction == Reduction::None;
        let plain: &[&str] = if is_whole { &["-o1", "-o2", "-o3"] } else { &[] };
        self.run(Command::new("spin").args(flags).args(plain).arg("-a").arg(model))?;
        let unreduced = is_whole.then_some("-DNOREDUCE");
        let compiled = [&COMPILER_OPTIONS[..], &["-DNOCLAIM", "-DVECTORSZ=8192"]].concat();
        self.run(Command::new("cc").args(compiled).args(unreduced).args(["-o", "pan", "pan.c"]))?;
        repeatedly(|| {
            let stopwatch = Stopwatch::start(ClockOwner::Children);
            let search = ["-E", "-A", "-c0", "-n", "-m2000000", "-w20"];
            let output = self.run(Command::new(self.directory.join("pan")).args(search))?;
            let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Children);
            let Report { states, transitions, bytes } = Report::parse(&String::from_utf8_lossy(&output.stdout))?;
            Ok(Measured { states, transitions, cpu_seconds: cpu_seconds.max(0.01), seconds, bytes })
        })
    }

    fn run(&self, command: &mut Command) -> Result<Output, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let output = command.current_dir(&self.directory).output().map_err(|error| format!("{name}: {error}"))?;
        if output.status.success() {
            return Ok(output);
        }
        Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        // What cannot be removed is in a directory for temporary files.
        let _left = std::fs::remove_dir_all(&self.directory);
    }
}

/// What SPIN prints.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    states: u64,
    transitions: u64,
    /// States and hash table; the stack of the depth-first search is left out.
    bytes: u64,
}

impl Report {
    fn parse(text: &str) -> Result<Self, String> {
        if text.contains("max search depth too small") {
            return Err("SPIN's stack is too small: give it more".to_owned());
        }
        let number = |what: &str| {
            let line = text.lines().find(|line| line.contains(what));
            let first = line.and_then(|line| line.split_whitespace().next());
            first.and_then(|word| word.parse::<f64>().ok()).ok_or_else(|| format!("SPIN did not print `{what}`"))
        };
        // Without compression SPIN prints only what the states would take.
        let states_mb = number("actual memory usage for states").or_else(|_| number("memory usage for states"))?;
        let table_mb = number("memory used for hash table")?;
        Ok(Report {
            states: number("states, stored")? as u64,
            transitions: number("transitions (= stored+matched)")? as u64,
            bytes: ((states_mb + table_mb) * f64::from(1 << 20)) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_read() {
        let text = "State-vector 52 byte, depth reached 65534, errors: 0
   355950 states, stored
   886261 states, matched
  1242211 transitions (= stored+matched)
   24.441\tequivalent memory usage for states (stored*(State-vector + overhead))
   14.000\tactual memory usage for states (compression: 57.00%)
    8.000\tmemory used for hash table (-w20)
    4.578\tmemory used for DFS stack (-m100000)";
        let report = Report { states: 355_950, transitions: 1_242_211, bytes: 22 << 20 };
        assert_eq!(Report::parse(text), Ok(report));
    }

    #[test]
    fn a_search_that_was_cut_off_is_refused() {
        assert!(Report::parse("error: max search depth too small").is_err());
        assert_eq!(Report::parse("nothing"), Err("SPIN did not print `memory usage for states`".to_owned()));
    }
}
