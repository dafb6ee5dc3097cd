//! Methods with explicit local sets: `tmmc`, and its like for two and three processes.
//!
//! In: a task. Out: an answer for each property, with a run or a certificate.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use base::Budget;
use compose::backend::Backend;
use compose::k_index::Invariants;
use compose::method;
use compose::sums::Sums;
use engine::{Answer, Engine, EngineError, Method, Observer, SharedView, Statistics, Task};
use evidence::propagation::Sights;
use model::property::PropertyKind;
use model::variable::VarId;

use super::views::ViewMasks;
use super::{LocalSets, Ticker};
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::race::RaceWatch;
use packed::width::{ForWidth, with_coarse_width};

/// The strongest invariants of `k` processes each, explicit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplicitKIndex {
    /// How many processes each invariant speaks of.
    pub k: usize,
    /// Sets that take more are given up, whatever the budget.
    pub cap_bytes: u64,
}

impl ExplicitKIndex {
    /// For `k` processes, with no limit but the budget's.
    pub fn new(k: usize) -> Self {
        ExplicitKIndex { k, cap_bytes: u64::MAX }
    }
}

impl Engine for ExplicitKIndex {
    fn method(&self) -> Method {
        match self.k {
            1 => Method::Tmmc,
            2 => Method::Pairwise,
            _ => Method::Triple,
        }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
        let work = KIndexWork { method: *self, sums: None, codec: &codec, task, observer };
        Ok(with_coarse_width(codec.layout.n_words, work).unwrap_or_else(|stop| task.undecided(&stop)))
    }
}

/// The same, but for what some sums exclude.
#[derive(Clone, Debug)]
pub struct PrunedKIndex {
    /// The invariants.
    pub sets: ExplicitKIndex,
    /// The sums, which have a proof.
    pub sums: Sights,
}

impl Engine for PrunedKIndex {
    fn method(&self) -> Method {
        self.sets.method()
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
        let sums = Sums::new(self.sums.clone());
        let work = KIndexWork { method: self.sets, sums, codec: &codec, task, observer };
        Ok(with_coarse_width(codec.layout.n_words, work).unwrap_or_else(|stop| task.undecided(&stop)))
    }
}

struct KIndexWork<'w> {
    method: ExplicitKIndex,
    sums: Option<Arc<Sums>>,
    codec: &'w Codec<'w>,
    task: &'w Task<'w>,
    observer: &'w dyn Observer,
}

impl ForWidth for KIndexWork<'_> {
    type Output = Vec<Answer>;

    fn run<const W: usize>(self) -> Vec<Answer> {
        let races = self.task.properties.iter().filter_map(|&id| match self.task.model.properties[id].kind {
            PropertyKind::RaceFree(var) => Some(var),
            _ => None,
        });
        let (machine, races) = compiled(self.codec, races);
        let mut sets = LocalSets::<W>::new(&machine, SharedView::Mentioned, (&self.task.budget, self.method.cap_bytes));
        sets.races = races;
        sets.sums = self.sums;
        method::k_index(&mut sets, self.method.k, (self.task, self.observer), statistics)
    }
}

/// The program compiled, and what its steps may touch of some variables.
pub fn compiled<'c>(
    codec: &'c Codec<'c>,
    races: impl Iterator<Item = VarId>,
) -> (Machine<'c>, HashMap<VarId, RaceWatch>) {
    let mut compiler = Compiler::new(codec);
    let races = races.map(|var| (var, compiler.race_watch(var))).collect();
    (Machine { codec, code: compiler.finish() }, races)
}

impl<'a, const W: usize> LocalSets<'a, W> {
    /// Local sets of a compiled program that stop on a budget, and when they take more than the cap.
    pub fn new(machine: &'a Machine<'a>, views: SharedView, (budget, cap_bytes): (&'a Budget, u64)) -> Self {
        let meter =
            Ticker { budget, n_ticks: Cell::new(0), held_bytes: Cell::new(0), peak_bytes: Cell::new(0), cap_bytes };
        let sight = ViewMasks::new(machine.codec, views);
        LocalSets { machine, scratch: machine.scratch(), sight, sums: None, races: HashMap::new(), meter }
    }
}

fn statistics<const W: usize>(
    sets: &mut LocalSets<'_, W>,
    invariants: Option<&Invariants<<LocalSets<'_, W> as Backend>::Set>>,
) -> Statistics {
    let sizes = |invariants: &Invariants<_>| {
        invariants.join().into_iter().map(|(group, set)| sets.n_states(group, set)).collect()
    };
    Statistics {
        peak_memory_bytes: Some(sets.meter.peak_bytes.get()),
        local_states: invariants.map(sizes),
        views: Some(sets.sight.views),
        ..Statistics::default()
    }
}
