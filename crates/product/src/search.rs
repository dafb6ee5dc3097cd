//! The search of the whole product: breadth first, level by level, all questions at once.
//!
//! In: a compiled program and its questions. Out: what was explored, and for each question that a state or a step decided
//! the run to it. Each question is decided on the first level that hits it, so the run is shortest; the search goes on for
//! the others and ends early when all are decided. A question that nothing decides has its other answer when everything
//! was explored. A search may also be bounded to the steps of some processes, or to so many states: then it only finds runs.

use std::time::{Duration, Instant};

use base::StopReason;
use engine::Event;
use evidence::{Exploration, Trace};
use model::process::ProcessId;

use crate::expand::{Delivery, OpenQuestions, SearchCounts, SharedLevel, StateFinder};
use crate::parallel;
use crate::path::{self, SearchLevels};
use engine::meter::Meter;
use packed::initial::InitialStates;
use packed::machine::{Flow, Machine};
use packed::packing::Packed;
use packed::questions::{Hits, StateGoal, StateQuestion};
use packed::shard::{Shard, shard_of};
use packed::spill::Overflow;
use packed::store::BATCH;

/// A level with fewer states is not worth starting threads for.
const MIN_PARALLEL_LEVEL: u64 = 2_000;

/// What is known about a question.
#[derive(Clone, Debug)]
pub struct QuestionFinding {
    /// The run that decides it, or why there is none.
    pub result: Result<Trace, StopReason>,
    /// When it was decided, from the start of the search.
    pub time: Duration,
    /// What was explored by then.
    pub explored: Exploration,
}

/// What a search saw.
pub struct SearchOutcome {
    /// By question: what decided it, if something did.
    pub findings: Vec<Option<QuestionFinding>>,
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
    questions: &'a [StateQuestion],
    meter: &'a Meter<'a>,
    started: Instant,
    /// One for each thread; level `depth` is complete in all of them, the next one is being filled.
    shards: Vec<Shard<W>>,
    counts: SearchCounts,
    /// The level whose steps are taken next.
    depth: usize,
    findings: Vec<Option<QuestionFinding>>,
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
            questions,
            meter,
            started: Instant::now(),
            shards: std::iter::repeat_with(shard).take(n_shards).collect(),
            counts: SearchCounts::default(),
            depth: 0,
            findings: questions.iter().map(|_| None).collect(),
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
        let mut complete = false;
        while !self.meter.is_stopped() && !self.is_decided() {
            if self.level_len() == 0 {
                complete = self.bounds.movers.is_none();
                break;
            }
            if self.n_states() >= self.bounds.most_states {
                break;
            }
            self.step();
        }
        if complete {
            let open = self.questions.iter().zip(&self.findings).filter(|(_, finding)| finding.is_none());
            open.for_each(|(question, _)| self.meter.tell(Event::Decided(question.property)));
        }
        let exploration = self.explored(complete);
        let stopped = self.meter.reason();
        SearchOutcome { findings: self.findings, exploration, stopped, time: self.started.elapsed() }
    }

    fn is_decided(&self) -> bool {
        !self.questions.is_empty() && self.findings.iter().all(Option::is_some)
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
    fn start(&mut self) {
        let open = OpenQuestions::new(self.questions, |_| true);
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
        self.decide(&hits, |goal| matches!(goal, StateGoal::State(..)), 0);
    }

    /// Takes all steps of the level.
    fn step(&mut self) {
        self.meter.enter_level(self.depth as u64);
        let open = OpenQuestions::new(self.questions, |at| self.findings[at].is_none());
        let level = self.level(&open);
        let is_parallel = self.shards.len() > 1 && self.level_len() >= MIN_PARALLEL_LEVEL;
        let (counts, hits) = if is_parallel {
            parallel::expand_level(level, self.depth, &mut self.shards)
        } else {
            expand_level(level, self.depth, &mut self.shards)
        };
        self.counts.add(counts);
        self.shards.iter_mut().for_each(|shard| shard.begin_level(self.meter));
        // What the steps show is true of this level, what the new states show, of the next.
        self.decide(&hits, |goal| !matches!(goal, StateGoal::State(..)), self.depth);
        self.decide(&hits, |goal| matches!(goal, StateGoal::State(..)), self.depth + 1);
        self.depth += 1;
    }

    fn level<'l>(&self, open: &'l OpenQuestions<'l>) -> SharedLevel<'l>
    where
        'a: 'l,
    {
        let ProductSearch { machine, meter, .. } = *self;
        SharedLevel { machine, meter, open, n_questions: self.questions.len(), movers: self.bounds.movers }
    }

    /// Makes findings of the hits on a level.
    fn decide(&mut self, hits: &Hits<W>, wanted: impl Fn(&StateGoal) -> bool, depth: usize) {
        for (at, question) in self.questions.iter().enumerate().filter(|(_, question)| wanted(&question.goal)) {
            let levels = SearchLevels { machine: self.machine, shards: &self.shards, meter: self.meter };
            let result = match hits.faulty[at] {
                _ if hits.decided[at] => path::trace(levels, &question.goal, depth),
                Some(state) => Err(self.property_error(question, &state)),
                None => continue,
            };
            let time = self.started.elapsed();
            let finding = QuestionFinding { result, time, explored: self.explored(false) };
            self.meter.tell(Event::Decided(question.property));
            self.meter.answered(&finding.answer(self.machine.codec.model, question.property, self.meter));
            self.findings[at] = Some(finding);
        }
    }

    /// Why a property's own expression has no value in a state.
    fn property_error(&self, question: &StateQuestion, state: &Packed<W>) -> StopReason {
        use model::property::PropertyKind;
        let codec = self.machine.codec;
        let property = &codec.model.properties[question.property];
        let fault = match &property.kind {
            PropertyKind::Invariant(condition) | PropertyKind::Reachable(condition) => {
                model::eval::evaluate(codec.model, &codec.unpack(state), condition, None).err()
            }
            _ => None,
        };
        let fault = fault.map_or_else(|| "an error".to_string(), |fault| fault.fault.to_string());
        StopReason::PropertyError(format!("evaluating it fails in a reachable state: {fault}"))
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
