//! Piecewise's side of the benchmark: `explore` without the command line.

use std::path::Path;

use base::{Budget, SourceFile};
use engine::Silent;
use model::Model;

use super::clock::{ClockOwner, Stopwatch};
use super::{BenchCase, Measured, repeatedly};

/// A program, ready to be explored.
pub struct Piecewise {
    model: Model,
}

impl Piecewise {
    /// Reads the example of a case.
    pub fn load(root: &Path, case: &BenchCase) -> Result<Self, String> {
        let name = format!("examples/{}.pw", case.model);
        let text = std::fs::read_to_string(root.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        let parameters = [("N".to_owned(), i64::from(case.size))];
        let loaded = lang::load(&SourceFile::new(name.clone(), text), &parameters);
        let model = loaded.map_err(|errors| format!("{name}: {} errors", errors.len()))?.model;
        Ok(Piecewise { model })
    }

    /// Explores it with so many threads.
    pub fn measure(&self, n_threads: usize) -> Result<Measured, String> {
        repeatedly(|| {
            let stopwatch = Stopwatch::start(ClockOwner::Ours);
            let (explored, statistics, stopped) =
                product::explore(&self.model, &Budget::unlimited(), n_threads, &Silent);
            let (cpu_seconds, seconds) = stopwatch.stop(ClockOwner::Ours);
            match stopped {
                Some(reason) => Err(reason.to_string()),
                None => Ok(Measured {
                    states: explored.states,
                    transitions: explored.transitions,
                    cpu_seconds,
                    seconds,
                    bytes: statistics.peak_memory_bytes.unwrap_or(0),
                }),
            }
        })
    }
}
