//! Local state graphs of a program: what each process can see happen.

use base::StopReason;
use base::diagnostic::nearest_name;
use engine::Observer;
use model::Model;
use model::process::ProcessId;

use crate::check::CheckLimits;
use crate::watchdog::{Attendant, ENGINE_GRACE};

use engine::graph::LocalGraphs;
pub use local::graphs::GraphMethod;
use local::graphs::{DRAWING_RESERVE, GraphTask, local_graphs};

/// The way of this name.
///
/// # Errors
/// A name that no way has; the sentence names those that there are.
pub fn way(name: &str) -> Result<GraphMethod, String> {
    let names = || GraphMethod::ALL.iter().map(|way| way.name());
    GraphMethod::ALL.into_iter().find(|way| way.name() == name).ok_or_else(|| match nearest_name(name, names()) {
        Some(near) => format!("there are no local state graphs by `{name}`; did you mean `{near}`?"),
        None => {
            let all: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            format!("there are no local state graphs by `{name}`; the methods are {}", all.join(", "))
        }
    })
}

/// The process of this name, as the user writes it.
///
/// # Errors
/// A name that no process has.
pub fn process(model: &Model, name: &str) -> Result<ProcessId, String> {
    let wanted: String = name.split_whitespace().collect();
    let found = model.processes.entries().find(|(_, process)| process.name == wanted);
    found.map(|(id, _)| id).ok_or_else(|| {
        let names = model.processes.iter().map(|process| process.name.as_str());
        match nearest_name(&wanted, names) {
            Some(near) => format!("there is no process `{name}`; did you mean `{near}`?"),
            None => {
                let first = model.processes.iter().next().map_or("", |process| process.name.as_str());
                format!("there is no process `{name}`; processes have names like `{first}`")
            }
        }
    })
}

/// Finds the local state graphs; those of some processes with names, to be drawn.
///
/// # Errors
/// A program that has no finite local states.
pub fn graphs(
    model: &Model,
    (way, drawn): (GraphMethod, &[ProcessId]),
    limits: &CheckLimits,
    observer: &dyn Observer,
) -> Result<LocalGraphs, StopReason> {
    let (budget, drawn, n_threads) = (limits.budget(), drawn.to_vec(), limits.n_threads);
    // What is drawn is drawn within a reserve of time.
    let until = budget.with_reserve(DRAWING_RESERVE);
    let attendant = Attendant { model, budget: &until, observer, grace: ENGINE_GRACE };
    let within = budget.clone();
    let work = move |model: &Model, observer: &dyn Observer| {
        local_graphs(&GraphTask { model, way, drawn: &drawn, budget: &within, n_threads }, observer)
    };
    attendant.run(work).unwrap_or_else(|left| {
        let (time, stopped) = (budget.elapsed(), Some(left.reason));
        Ok(LocalGraphs { graphs: Vec::new(), stopped, joint_states: None, time, peak_memory_bytes: 0 })
    })
}
