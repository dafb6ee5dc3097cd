//! Local state graphs: what one process can see happen, with its own steps and those of others (Zheng, LS3).
//!
//! In: a program without procedures, and how much the others are known. Out: for each process a graph over its **local states**:
//! its control, its own cells, the shared and public cells that it mentions (and, where its text reads the control locations of others, their
//! control). Edges are its own steps and the **external** steps of others that may write what it sees; such a step is an edge
//! even where it changes nothing.
//!
//! Four ways, each at least as exact as the next: [`GraphMethod::Mono`] projects the whole product (`projection.rs`); [`GraphMethod::Ls3Plus`]
//! and [`GraphMethod::Ls3`] search the joint states of two processes at a time (`joint.rs`, `rounds.rs`), with or without a witness for
//! interference of third processes (`witness.rs`); [`GraphMethod::Tmmc`] lets every step of others happen wherever the cells in common allow it
//! (`interference.rs`). All contain every reachable local state and step, so that what never happens in them never happens.
//! `actions.rs` says what each action may write and which processes see it, `graph.rs` is one graph, `show.rs` draws it.

mod actions;
mod graph;
mod interference;
mod joint;
mod projection;
mod rounds;
mod show;
mod team;
mod witness;

use std::time::{Duration, Instant};

use base::{Budget, Feature, StopReason};
use engine::graph::{LocalGraph, LocalGraphs};
use engine::{Observer, Silent};
use model::Model;
use model::process::ProcessId;

use engine::meter::Meter;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::width::{ForWidth, with_coarse_width};

pub use actions::{ActionNumber, Actions};
pub use graph::{ProcessGraph, step_of};
pub use joint::Joint;
pub use rounds::Rounds;

/// How local state graphs are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphMethod {
    /// From the whole product: exact.
    Mono,
    /// By joint states of two processes; steps of a third must agree with both.
    Ls3Plus,
    /// By joint states of two processes; steps of a third are known by what each of the two sees of them.
    Ls3,
    /// Thread by thread: steps of others happen wherever the cells in common allow it.
    Tmmc,
}

impl GraphMethod {
    /// All of them, from the most exact one on.
    pub const ALL: [GraphMethod; 4] = [GraphMethod::Mono, GraphMethod::Ls3Plus, GraphMethod::Ls3, GraphMethod::Tmmc];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            GraphMethod::Mono => "mono",
            GraphMethod::Ls3Plus => "ls3+",
            GraphMethod::Ls3 => "ls3",
            GraphMethod::Tmmc => "tmmc",
        }
    }
}

/// Drawing may take this part of what a time limit may be passed by, where the search has used up its time.
pub const DRAWING_RESERVE: f64 = 0.3;

/// What is asked for.
#[derive(Clone, Copy)]
pub struct GraphTask<'a> {
    /// The program.
    pub model: &'a Model,
    /// How the graphs are found.
    pub way: GraphMethod,
    /// The processes whose graphs are drawn; all are counted.
    pub drawn: &'a [ProcessId],
    /// What may be used.
    pub budget: &'a Budget,
    /// How many threads may run, at least 1.
    pub n_threads: usize,
}

/// Finds the local state graphs of a program.
///
/// # Errors
/// A program that has no finite local states: one with procedures.
pub fn local_graphs(task: &GraphTask<'_>, observer: &dyn Observer) -> Result<LocalGraphs, StopReason> {
    refuse_stacks(task.model)?;
    refuse_chains(task.model)?;
    let started = Instant::now();
    let codec = Codec::within(task.model, UnrollLimits::default(), task.budget);
    let machine = Machine { codec: &codec, code: Compiler::new(&codec).finish() };
    let meter = Meter::new(task.budget, observer);
    let found = with_coarse_width(codec.layout.n_words, GraphsWork { task, machine: &machine, meter: &meter })?;
    Ok(LocalGraphs { time: started.elapsed(), ..found })
}

/// Local states of a process with a stack need not be finite.
pub fn refuse_stacks(model: &Model) -> Result<(), StopReason> {
    if model.procedures.is_empty() {
        return Ok(());
    }
    Err(Feature::Procedures.into())
}

/// The edges of local state graphs are single actions.
fn refuse_chains(model: &Model) -> Result<(), StopReason> {
    if model.goes_on() { Err(Feature::Chains.into()) } else { Ok(()) }
}

struct GraphsWork<'w> {
    task: &'w GraphTask<'w>,
    machine: &'w Machine<'w>,
    meter: &'w Meter<'w>,
}

impl ForWidth for GraphsWork<'_> {
    type Output = LocalGraphs;

    fn run<const W: usize>(self) -> LocalGraphs {
        let GraphsWork { task, machine, meter } = self;
        let actions = Actions::<W>::new(machine);
        let mut joint_states = None;
        let graphs = match task.way {
            GraphMethod::Mono => projection::graphs(machine, &actions, meter),
            GraphMethod::Tmmc => interference::graphs(machine, &actions, meter),
            GraphMethod::Ls3 | GraphMethod::Ls3Plus => {
                let found = Rounds::new(machine, &actions, meter).run(task.way == GraphMethod::Ls3Plus, task.n_threads);
                joint_states = Some(found.joints.iter().map(Joint::n_pairs).sum());
                found.graphs
            }
        };
        let late = task.budget.with_reserve(DRAWING_RESERVE);
        let drawing_meter = Meter::new(&late, &Silent);
        drawing_meter.add(meter.bytes());
        let shown = |(process, graph): (ProcessId, &ProcessGraph<W>)| LocalGraph {
            process,
            n_states: graph.states.len() as u64,
            n_transitions: graph.n_transitions(),
            drawing: match task.drawn.contains(&process) && !drawing_meter.is_stopped() {
                true => show::drawing(machine, &actions, process, (graph, &drawing_meter)),
                false => None,
            },
        };
        let graphs = task.model.processes.ids().zip(&graphs).map(shown).collect();
        let stopped = meter.reason().or_else(|| drawing_meter.reason());
        let peak_memory_bytes = drawing_meter.peak_bytes().max(meter.peak_bytes());
        LocalGraphs { graphs, stopped, joint_states, time: Duration::ZERO, peak_memory_bytes }
    }
}
