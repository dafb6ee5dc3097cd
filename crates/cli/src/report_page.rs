//! The report of a call as a page (`--report`): asked for before the work starts, written when everything is known.
//!
//! Local state graphs are found for it after a program was checked, with a small limit of their own; they are pictures, and no verdict depends on them.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use driver::check::CheckLimits;
use driver::graph::{self, GraphMethod};
use driver::load::Refusal;
use engine::Silent;
use engine::graph::LocalGraphs;
use engine::run::Run;
use explain::Explained;
use model::process::ProcessId;
use report::Files;
use report::html::{Checked, Entry, MOST_STATES_DRAWN, page};

use crate::failure::Failure;
use crate::files::Target;

/// All graphs of a call together may take this long.
const MOST_TIME: Duration = Duration::from_secs(3);
/// The graphs of one program may take this long.
const MOST_TIME_EACH: Duration = Duration::from_millis(700);
/// What a search for graphs may hold.
const MOST_MEMORY: u64 = 256 << 20;
/// The endings of programs.
const PROGRAMS: [&str; 3] = ["pw", "dve", "pds"];
/// Programs with more processes have no pictures.
const MOST_PROCESSES: usize = 64;

/// A report to be written.
pub struct ReportPage {
    target: Target,
    /// What is left of the time for graphs.
    time_left: Mutex<Duration>,
}

/// Local state graphs with the name of the way in which they were found.
pub type Pictures = (&'static str, LocalGraphs);

impl ReportPage {
    /// Asks whether the page can be written.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        // `check --report a.pw b.pw` forgets the name of the report; it must not cost the user a program.
        if path.extension().is_some_and(|ending| PROGRAMS.iter().any(|known| ending.eq_ignore_ascii_case(known))) {
            let name = path.display();
            return Err(
                format!("{name}: this is the name of a program; the report needs one of its own, as r.html").into()
            );
        }
        Ok(ReportPage { target: Target::new(path)?, time_left: Mutex::new(MOST_TIME) })
    }

    /// The local state graphs of a program, where they are small, within what is left of the limits; `None` where there are none in time.
    pub fn pictures(&self, run: &Run, limits: &CheckLimits) -> Option<Pictures> {
        let mut left = self.time_left.lock().ok()?;
        let time_left = limits.time.unwrap_or(MOST_TIME);
        if left.is_zero()
            || time_left.is_zero()
            || run.model.processes.len() > MOST_PROCESSES
            || limits.cancel.is_cancelled()
        {
            return None;
        }
        let limits = CheckLimits {
            time: Some(MOST_TIME_EACH.min(*left).min(time_left)),
            memory_bytes: Some(limits.memory_bytes.unwrap_or(MOST_MEMORY).min(MOST_MEMORY)),
            disk: None,
            n_threads: 1,
            cancel: limits.cancel.clone(),
        };
        let started = std::time::Instant::now();
        let found = small_graphs(run, &limits);
        *left = left.saturating_sub(started.elapsed());
        found
    }

    /// Writes the page of these outcomes, each with its pictures.
    ///
    /// # Errors
    /// What the system says.
    pub fn write<'a>(&self, outcomes: impl Iterator<Item = Reported<'a>>) -> Result<(), Failure> {
        let entries: Vec<Entry<'_>> = outcomes
            .map(|outcome| match outcome {
                Reported::Refused(refusal) => {
                    Entry::Refused { source: &refusal.source, diagnostics: &refusal.diagnostics }
                }
                Reported::Checked { run, files, pictures } => {
                    let graphs = pictures.map(|(way, found)| (*way, found));
                    Entry::Checked(Checked { run, files, graphs })
                }
            })
            .collect();
        Ok(self.target.write(&page(&entries))?)
    }
}

/// What came of a program, as the report needs it.
pub enum Reported<'a> {
    /// It was checked.
    Checked {
        /// The results.
        run: &'a Explained,
        /// The files that were written.
        files: &'a Files,
        /// Local state graphs.
        pictures: Option<&'a Pictures>,
    },
    /// It was refused.
    Refused(&'a Refusal),
}

/// First how large the graphs are, then with names those that are small enough to be drawn.
fn small_graphs(run: &Run, limits: &CheckLimits) -> Option<Pictures> {
    let way = GraphMethod::ALL.into_iter().find(|way| way.name() == "ls3+")?;
    let sizes = graph::graphs(&run.model, (way, &[]), limits, &Silent).ok()?;
    if sizes.stopped.is_some() {
        return None;
    }
    let small = sizes.graphs.iter().filter(|graph| graph.n_states <= MOST_STATES_DRAWN);
    let small: Vec<ProcessId> = small.map(|graph| graph.process).collect();
    if small.is_empty() {
        return None;
    }
    let found = graph::graphs(&run.model, (way, &small), limits, &Silent).ok()?;
    found.stopped.is_none().then_some((way.name(), found))
}
