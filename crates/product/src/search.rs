//! The search of the whole product: breadth first, level by level, all questions at once.
//!
//! In: a compiled program and its questions. Out: what was explored, and for each question that a state or a step decided
//! the run to it. Each question is decided on the first level that hits it, so the run is shortest; the search goes on for
//! the others and ends early when all are decided. A question that nothing decides has its other answer when everything
//! was explored. A search may also be bounded to the steps of some processes, or to so many states: then it only finds runs.

use std::time::Duration;

use base::StopReason;
use evidence::Exploration;
use model::process::ProcessId;

use crate::expand::{Delivery, OpenQuestions, SearchCounts, SharedLevel, StateFinder};
use crate::findings::{Findings, QuestionFinding, Reached};
use crate::parallel;
use crate::waning::WaningLevels;
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine};
use packed::packing::Packed;
use packed::questions::{Hits, StateQuestion};
use packed::shard::{Shard, shard_of};
use packed::spill::Overflow;
use packed::store::BATCH;

/// A level with fewer states is not worth starting threads for.
const MIN_PARALLEL_LEVEL: u64 = 2_000;

/// What a search saw.
pub struct SearchOutcome {
    /// By question: what decided it, if something did.
    pub findings: Vec<Option<QuestionFinding>>,
    /// By question: that its expression has no value in some state, and why.
    pub without_value: Vec<Option<StopReason>>,
    /// What was explored.
    pub exploration: Exploration,
    /// Why it ended early, if a limit was reached.
    pub stopped: Option<StopReason>,
    /// How long it took.
    pub time: Duration,
}

/// A search under way.
pub struct ProductSearch<'a, const W: usize> {
    machine: &'a Machine<'a>,
    n_questions: usize,
    meter: &'a Meter<'a>,
    /// One for each thread; level `depth` is complete in all of them, the next one is being filled.
    shards: Vec<Shard<W>>,
    counts: SearchCounts,
    /// The level whose steps are taken next.
    depth: usize,
    waning: WaningLevels,
    findings: Findings<'a>,
    bounds: SearchBounds<'a>,
}

/// What a search leaves out.
#[derive(Clone, Copy, Debug)]
pub struct SearchBounds<'b> {
    /// Whose steps are taken, if not those of all.
    pub movers: Option<&'b [ProcessId]>,
    /// A level is the last one where there are so many states.
    pub most_states: u64,
}

impl SearchBounds<'_> {
    /// Nothing is left out.
    pub const NONE: SearchBounds<'static> = SearchBounds { movers: None, most_states: u64::MAX };
}

impl<'a, const W: usize> ProductSearch<'a, W> {
    /// A search that has seen nothing yet.
    pub fn new(
        machine: &'a Machine<'a>,
        questions: &'a [StateQuestion],
        meter: &'a Meter<'a>,
        n_threads: usize,
    ) -> Self {
        let n_shards = n_threads.max(1);
        let shard = || {
            let mut shard = Shard::new(machine.codec.layout.n_words, meter);
            overflow(meter, n_shards).into_iter().for_each(|overflow| shard.overflow_to(overflow));
            shard
        };
        ProductSearch {
            machine,
            n_questions: questions.len(),
            meter,
            shards: std::iter::repeat_with(shard).take(n_shards).collect(),
            counts: SearchCounts::default(),
            depth: 0,
            waning: WaningLevels::default(),
            findings: Findings::new(machine, questions, meter),
            bounds: SearchBounds::NONE,
        }
    }

    /// The same with something left out: what it does not find may be there all the same.
    pub fn bounded(self, bounds: SearchBounds<'a>) -> Self {
        ProductSearch { bounds, ..self }
    }

    /// Searches until everything was seen, every question is decided, or a limit is reached. Without questions,
    /// everything is seen.
    pub fn run(mut self) -> SearchOutcome {
        self.start();
        self.go_on(u64::MAX);
        self.outcome()
    }

    /// Goes on from where it is until it ends, or has taken so many steps in all; whether it has ended. Levels are finished.
    pub fn go_on(&mut self, most_steps: u64) -> bool {
        while !self.has_ended() {
            if self.counts.transitions >= most_steps {
                return false;
            }
            self.step();
        }
        true
    }

    fn has_ended(&self) -> bool {
        self.meter.is_stopped()
            || self.findings.are_complete()
            || self.level_len() == 0
            || self.n_states() >= self.bounds.most_states
    }

    /// By question: what decided it so far, if something did.
    pub fn known(&self) -> &[Option<QuestionFinding>] {
        &self.findings.known
    }

    /// What it saw.
    pub fn outcome(self) -> SearchOutcome {
        let is_through = !self.meter.is_stopped() && !self.findings.are_complete() && self.level_len() == 0;
        let complete = is_through && self.bounds.movers.is_none();
        if complete {
            self.findings.end();
        }
        let exploration = self.explored(complete);
        let stopped = self.meter.reason();
        let Findings { known, without_value, started, .. } = self.findings;
        SearchOutcome { findings: known, without_value, exploration, stopped, time: started.elapsed() }
    }

    fn level_len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.level_len(self.depth)).sum()
    }

    fn n_states(&self) -> u64 {
        self.shards.iter().map(Shard::n_states).sum()
    }

    fn explored(&self, complete: bool) -> Exploration {
        let last_level = self.depth.saturating_sub(usize::from(self.level_len() == 0));
        Exploration {
            states: self.n_states(),
            transitions: self.counts.transitions,
            deadlocks: self.counts.deadlocks,
            errors: self.counts.errors,
            depth: last_level as u64,
            complete,
        }
    }

    /// Stores the initial states, level 0.
    pub fn start(&mut self) {
        let open = self.findings.open();
        let level = self.level(&open);
        let mut finder = level.finder();
        let mut batches: Vec<Vec<Packed<W>>> = self.shards.iter().map(|_| Vec::with_capacity(BATCH)).collect();
        let n_shards = self.shards.len();
        for state in InitialStates::<W>::new(self.machine.codec) {
            let shard = shard_of(&state, n_shards);
            batches[shard].push(state);
            if batches[shard].len() == BATCH {
                let stored = finder.insert(&mut self.shards[shard], &batches[shard]);
                batches[shard].clear();
                if stored.is_break() || !self.meter.may_go_on(0) {
                    break;
                }
            }
        }
        for (shard, batch) in self.shards.iter_mut().zip(&batches) {
            if finder.insert(shard, batch).is_break() {
                break;
            }
        }
        let hits = finder.hits;
        self.shards.iter_mut().for_each(|shard| shard.begin_level(self.meter));
        let explored = self.explored(false);
        self.findings.decide_states(&hits, 0, Reached { levels: &self.shards, explored: &explored });
    }

    /// Takes all steps of the level.
    fn step(&mut self) {
        self.meter.enter_level(self.depth as u64);
        let open = self.findings.open();
        let level = self.level(&open);
        let is_parallel = self.shards.len() > 1 && self.level_len() >= MIN_PARALLEL_LEVEL;
        let (counts, hits) = if is_parallel {
            parallel::expand_level(level, self.depth, &mut self.shards)
        } else {
            expand_level(level, self.depth, &mut self.shards)
        };
        self.counts.add(counts);
        self.shards.iter_mut().for_each(|shard| shard.begin_level(self.meter));
        let explored = self.explored(false);
        self.findings.decide_steps(&hits, self.depth, Reached { levels: &self.shards, explored: &explored });
        self.depth += 1;
        if self.bounds.movers.is_none() {
            let (width, n_states) = (self.level_len(), self.n_states());
            self.waning.enter(width, n_states, self.meter);
        }
    }

    fn level<'l>(&self, open: &'l OpenQuestions<'l>) -> SharedLevel<'l>
    where
        'a: 'l,
    {
        let ProductSearch { machine, meter, .. } = *self;
        SharedLevel { machine, meter, open, n_questions: self.n_questions, movers: self.bounds.movers }
    }
}

/// Where a shard's states go when memory is short, if there is disk.
fn overflow(meter: &Meter<'_>, n_shards: usize) -> Option<Overflow> {
    // The other half is for sorting what moves there, and for what nobody counts.
    let most_bytes = meter.memory_limit()? / 2 / n_shards as u64;
    Some(Overflow { directory: meter.disk()?.to_owned(), most_bytes })
}

/// Expands a level with one thread.
fn expand_level<const W: usize>(
    level: SharedLevel<'_>,
    depth: usize,
    shards: &mut [Shard<W>],
) -> (SearchCounts, Hits<W>) {
    let n_shards = shards.len();
    let mut expander = level.expander(Direct { shards }, BATCH);
    let scratch = level.machine.scratch();
    let mut expand_all = || {
        for shard in 0..n_shards {
            let mut n_taken = 0;
            loop {
                // Copies, since what is stored may move to disk meanwhile.
                let stretch = level.stretch(&expander.delivery.shards[shard], depth, &mut n_taken)?;
                if stretch.is_empty() {
                    break;
                }
                stretch.iter().try_for_each(|state| expander.expand(state, &scratch))?;
            }
        }
        expander.finish()
    };
    // Where the search is stopped, the reason is in the meter.
    let _stopped: Flow = expand_all();
    (expander.counts, expander.finder.hits)
}

/// All shards belong to this thread.
struct Direct<'s, const W: usize> {
    shards: &'s mut [Shard<W>],
}

impl<const W: usize> Delivery<W> for Direct<'_, W> {
    fn n_shards(&self) -> usize {
        self.shards.len()
    }

    fn deliver(&mut self, shard: usize, batch: &mut Vec<Packed<W>>, finder: &mut StateFinder<'_, W>) -> Flow {
        let result = finder.insert(&mut self.shards[shard], batch);
        batch.clear();
        result
    }
}
