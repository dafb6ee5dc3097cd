//! The search: level by level, all workers together, worker 0 decides what comes next.
//!
//! In: the program and the questions, at each worker. Out, at worker 0: what was explored, and for each question that something decided the run to it. When a level
//! is closed everywhere, each worker reports; worker 0 puts the reports together and tells all whether to take the steps of the level, to walk back from something
//! that was hit, or to end. So a question is decided on the first level that hits it, and runs are shortest, as on one machine. Temporal properties are
//! decided when all states are known (`fair.rs`).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Budget, StopReason};
use engine::PropertyId;
use evidence::Exploration;
use model::Model;
use model::property::PropertyKind;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::questions::{StateGoal, StateQuestion};
use packed::shard::shard_of;
use packed::spill::Overflow;
use packed::width::{ForWidth, with_width};
use serde::{Deserialize, Serialize};

use super::checkpoint::{EarlierLevels, Keeper, Store as Disk};
use super::fair::{FairFinding, FairQuestions, FairSettings, FairStart};
use super::message::{ExplorationForm, Progress, Teller};
use super::net::Net;
use super::part::{Counts, Part};
use super::stop::Stop;

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub model: Arc<Model>,
    /// The questions that are not temporal.
    pub asked: Vec<PropertyId>,
    /// Those that are; everything is searched for them first, and where nothing is asked at all.
    pub temporal: Vec<PropertyId>,
    /// What each worker of this process may use; the memory is for all of them together.
    pub budgets: Vec<Budget>,
    /// The names of the hosts, by process.
    pub hosts: Vec<String>,
    /// How many workers each process has.
    pub n_threads: usize,
    /// Where levels are kept, and whether to go on with those that are there.
    pub disk: Option<Disk>,
    /// Where the nodes of temporal properties are.
    pub fair: FairSettings,
    /// Hears of each level, at worker 0.
    pub teller: Option<Teller>,
}

impl Plan {
    /// The host of a worker.
    pub fn host_of(&self, worker: usize) -> &str {
        &self.hosts[worker / self.n_threads]
    }

    /// Where a worker's states and nodes go that memory has no room for, if anywhere.
    fn overflow(&self, keeper: Option<&Keeper>, worker: usize) -> Option<Overflow> {
        let budget = &self.budgets[worker % self.n_threads];
        let directory = match keeper {
            Some(keeper) => keeper.overflow_directory(worker),
            None => budget.disk().map(Path::to_owned)?,
        };
        // The other half is for sorting what moves to disk, and for what nobody counts.
        let most_bytes = budget.memory_limit().map_or(u64::MAX, |bytes| bytes / 2 / self.n_threads as u64);
        Some(Overflow { directory, most_bytes })
    }
}

/// What decided a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The packed states of the run, the first one first, or why there is none.
    pub run: Result<Vec<Vec<u64>>, Stop>,
    /// When it was decided.
    pub time: Duration,
    /// What was explored by then.
    #[serde(with = "ExplorationForm")]
    pub explored: Exploration,
}

/// What a host held and sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostShare {
    /// Its name.
    pub name: String,
    /// Its workers.
    pub workers: usize,
    /// The states that it holds.
    pub states: u64,
    /// The most memory that its data took.
    pub peak_memory_bytes: u64,
    /// What it sent to other processes.
    pub sent_bytes: u64,
}

/// What a search saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// By question that is not temporal: what decided it, if something did.
    pub findings: Vec<Option<Finding>>,
    /// By temporal question; none where the search is not complete.
    pub temporal: Vec<FairFinding>,
    /// What was explored.
    #[serde(with = "ExplorationForm")]
    pub exploration: Exploration,
    /// Why it ended early, if a limit was reached.
    pub stopped: Option<Stop>,
    /// How long it took.
    pub time: Duration,
    /// By process, what it took part with.
    pub hosts: Vec<HostShare>,
    /// The level from which the search went on, where it was resumed.
    pub resumed_at: Option<u64>,
}

/// What a worker says when a level is closed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Report {
    /// States of the level that was just closed, and of all levels.
    level: u64,
    states: u64,
    counts: Counts,
    peak_bytes: u64,
    sent_bytes: u64,
    /// By question: whether it was hit, and a state in which its expression has no value.
    decided: Vec<bool>,
    faulty: Vec<Option<Vec<u64>>>,
    /// By test of temporal properties: whether it has no value in some state.
    faulty_tests: Vec<bool>,
    stop: Option<Stop>,
}

/// What comes next.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Next {
    /// The steps of the level, with these questions open.
    Expand(Vec<bool>),
    /// From something on this level that decides this question back to an initial state.
    WalkBack { question: usize, depth: usize },
    /// Nothing.
    End,
}

/// One worker's work. The outcome is worker 0's.
///
/// # Errors
/// A checkpoint that cannot be used, in a sentence; or a program too wide.
pub fn work(plan: &Plan, net: &mut Net<'_>) -> Result<Option<Outcome>, String> {
    let codec = Codec::new(&plan.model, UnrollLimits::default());
    let fair = FairQuestions::new(plan, net)?;
    let job = Job { plan, net: &mut *net, codec: &codec, fair: &fair };
    let searched = with_width(codec.layout.n_words, job).unwrap_or_else(|reason| Err(reason.to_string()))?;
    let Searched { mut outcome, keeper, is_complete, faulty_tests } = searched;
    let mut is_whole = is_complete;
    if is_complete && !plan.temporal.is_empty() {
        let overflow = plan.overflow(keeper.as_ref(), net.me());
        let is_on_disk = plan.fair.on_disk && overflow.is_some();
        let decided = fair.decide(plan, net, &codec, FairStart { faulty: &faulty_tests, overflow, is_on_disk });
        is_whole = decided.is_whole();
        let taken = net.gather(&(decided.peak_bytes, net.sent_bytes()));
        if let Some(outcome) = &mut outcome {
            for (share, taken) in outcome.hosts.iter_mut().zip(taken.chunks(plan.n_threads)) {
                let peak_bytes = taken.iter().map(|(peak_bytes, _)| peak_bytes).sum();
                share.peak_memory_bytes = share.peak_memory_bytes.max(peak_bytes);
                share.sent_bytes = taken.iter().map(|(_, sent_bytes)| sent_bytes).sum();
            }
            outcome.temporal = decided.findings;
        }
    }
    if let Some(keeper) = keeper {
        // What was not found out can be gone on with.
        keeper.end(is_whole);
    }
    Ok(outcome)
}

/// What came of the search for states.
struct Searched {
    /// At worker 0.
    outcome: Option<Outcome>,
    /// The levels on disk.
    keeper: Option<Keeper>,
    /// Whether all states were found.
    is_complete: bool,
    /// By test of temporal properties: whether it has no value in some state.
    faulty_tests: Vec<bool>,
}

struct Job<'j, 'n, 'w> {
    plan: &'j Plan,
    net: &'n mut Net<'w>,
    codec: &'j Codec<'j>,
    fair: &'j FairQuestions,
}

impl ForWidth for Job<'_, '_, '_> {
    type Output = Result<Searched, String>;

    fn run<const W: usize>(self) -> Self::Output {
        let Job { plan, net, codec, fair } = self;
        let mut compiler = Compiler::new(codec);
        let compile = |&id: &PropertyId| StateQuestion::new(codec.model, id, &mut compiler);
        let questions: Vec<StateQuestion> = plan.asked.iter().filter_map(compile).collect();
        let predicates = fair.predicates(codec.model, &mut compiler);
        let machine = Machine { codec, code: compiler.finish() };
        let budget = &plan.budgets[net.me() % plan.n_threads];
        let mut part = Part::<W>::new(&machine, &questions, budget, net);
        part.watch(&predicates.states);
        let keeper = plan.disk.as_ref().map(|disk| disk.open(net, plan.n_threads, codec.layout.n_words)).transpose()?;
        let (keeper, kept) = match keeper {
            Some((keeper, kept)) => (Some(keeper), kept),
            None => (None, None),
        };
        if let Some(overflow) = plan.overflow(keeper.as_ref(), net.me()) {
            part.overflow_to(overflow);
        }
        let leader = (net.me() == 0).then(|| Leader::new(plan, &questions, kept.as_ref()));
        Worker { plan, net, part, keeper, kept, leader, depth: 0 }.run()
    }
}

/// A worker under way.
struct Worker<'j, 'n, 'w, 'a, const W: usize> {
    plan: &'j Plan,
    net: &'n mut Net<'w>,
    part: Part<'a, W>,
    /// Writes levels to disk.
    keeper: Option<Keeper>,
    /// Levels of an earlier search, which are read instead of searched.
    kept: Option<EarlierLevels>,
    /// At worker 0, what decides.
    leader: Option<Leader<'j>>,
    /// The level that is closed, and whose steps are taken next.
    depth: usize,
}

impl<const W: usize> Worker<'_, '_, '_, '_, W> {
    fn run(mut self) -> Result<Searched, String> {
        match self.is_kept(0) {
            true => self.read_level(0)?,
            false => {
                self.part.start();
                self.part.begin_level();
            }
        }
        loop {
            self.keep_level();
            let report = self.report();
            let reports = self.net.gather(&report);
            let mut next = self.leader.as_mut().map(|leader| leader.put_together(&reports, self.depth));
            if let (Some(leader), Some(teller)) = (&self.leader, &self.plan.teller) {
                (teller.0)(leader.progress());
            }
            loop {
                match self.net.tell_all(next.as_ref()) {
                    Next::Expand(is_open) => {
                        self.part.ask(&is_open);
                        self.forget_earlier();
                        break;
                    }
                    Next::WalkBack { question, depth } => {
                        let run = self.walk_back(question, depth);
                        next = self.leader.as_mut().map(|leader| leader.found(&self.part, question, run));
                    }
                    Next::End => {
                        let known = self.leader.as_ref();
                        let known = known.map(|leader| (leader.is_complete, leader.faulty_tests.clone()));
                        let (is_complete, faulty_tests) = self.net.tell_all(known.as_ref());
                        let outcome = self.leader.map(Leader::outcome);
                        return Ok(Searched { outcome, keeper: self.keeper, is_complete, faulty_tests });
                    }
                }
            }
            let depth = self.depth;
            match self.is_kept(depth + 1) {
                true => self.read_level(depth + 1)?,
                false => self.part.expand(depth, self.net),
            }
            self.depth += 1;
        }
    }

    fn is_kept(&self, depth: usize) -> bool {
        self.kept.as_ref().is_some_and(|kept| depth as u64 <= kept.last_level)
    }

    /// Reads a level of an earlier search: whoever reads a file sends its states to their owners.
    fn read_level(&mut self, depth: usize) -> Result<(), String> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let n_workers = self.net.n_workers();
        let mut wrong = None;
        for file in &mut kept.files {
            let read = file.read_level::<W>(depth, |states| {
                let mut outbox: Vec<Vec<Packed<W>>> = vec![Vec::new(); n_workers];
                for state in states {
                    outbox[shard_of(state, n_workers)].push(*state);
                }
                for (to, states) in outbox.iter().enumerate().filter(|(_, states)| !states.is_empty()) {
                    self.part.wait_for(to, self.net);
                    self.net.send(to, super::part::as_packet(states));
                }
            });
            wrong = wrong.or(read.err());
        }
        if self.net.me() == 0 {
            // What the steps before this level showed is not seen again.
            self.part.counts = kept.counts[depth];
            let decided = self.part.hits.decided.iter_mut().zip(&kept.decided[depth]);
            decided.for_each(|(now, before)| *now |= before);
        }
        self.net.close(|words| self.part.take(&words));
        self.part.begin_level();
        let told = self.net.gather(&wrong);
        let wrong = (self.net.me() == 0).then(|| told.into_iter().flatten().next());
        self.net.tell_all(wrong.as_ref()).map_or(Ok(()), Err)
    }

    /// Writes the level that is closed to disk.
    fn keep_level(&mut self) {
        let Some(keeper) = &mut self.keeper else { return };
        // Where a limit was reached the level may have gaps, and nobody may go on with it.
        if self.part.meter.is_stopped() {
            return;
        }
        let written = keeper.write_level(self.depth, &self.part, self.part.counts, &self.part.hits.decided);
        if let Err(why) = written {
            self.part.meter.stop(StopReason::Disk(why));
        }
    }

    /// Removes the levels of earlier searches once all workers have written what was read of them.
    fn forget_earlier(&self) {
        if let (Some(keeper), Some(kept)) = (&self.keeper, &self.kept)
            && self.depth as u64 == kept.last_level
        {
            keeper.forget_earlier();
        }
    }

    fn report(&mut self) -> Report {
        let Part { hits, counts, meter, .. } = &self.part;
        let report = Report {
            level: self.part.level_len(self.depth),
            states: self.part.n_states(),
            counts: *counts,
            peak_bytes: meter.peak_bytes(),
            sent_bytes: self.net.sent_bytes(),
            decided: hits.decided.clone(),
            faulty: hits.faulty.iter().map(|state| state.map(|state| state.to_vec())).collect(),
            faulty_tests: self.part.faulty_tests.clone(),
            stop: meter.reason().as_ref().map(Stop::new),
        };
        self.part.hits = packed::questions::Hits::new(self.part.questions.len());
        report
    }

    /// Walks back from the least state of a level that decides a question; at worker 0 the states of the run, the last one first, or the limit that was reached.
    fn walk_back(&mut self, question: usize, depth: usize) -> Result<Vec<Packed<W>>, Stop> {
        let mut run: Vec<Packed<W>> = Vec::new();
        for depth in (0..=depth).rev() {
            let last: Option<Vec<u64>> =
                self.net.tell_all((self.net.me() == 0).then(|| run.last().map(|state| state.to_vec())).as_ref());
            let least = match last {
                None => self.part.least_at_goal(&self.part.questions[question].goal, depth),
                Some(target) => self.part.least_before(&packed::initial::widened(&target), depth),
            };
            let stop = self.part.meter.reason().as_ref().map(Stop::new);
            let found = self.net.gather(&(least.map(|state| state.to_vec()), stop));
            let least = found.iter().filter_map(|(state, _)| state.as_ref()).min();
            let goes_on = self.net.me() == 0 && least.is_some();
            if let Some(least) = least {
                run.push(packed::initial::widened(least));
            }
            if !self.net.tell_all((self.net.me() == 0).then_some(&goes_on)) {
                let stops = found.into_iter().enumerate();
                let first = stops.filter_map(|(worker, (_, stop))| Some(stop?.on(self.plan.host_of(worker)))).next();
                return Err(first.unwrap_or(Stop::Cancelled));
            }
        }
        Ok(run)
    }
}

/// What worker 0 knows.
struct Leader<'j> {
    plan: &'j Plan,
    started: Instant,
    findings: Vec<Option<Finding>>,
    /// By question: that its expression has no value in a state that was found. Another state may decide it.
    without_value: Vec<Option<Stop>>,
    /// For each question whether a state decides it, rather than its steps.
    by_state: Vec<bool>,
    /// Hits that are not walked back from yet: the question, and the level.
    pending: Vec<(usize, usize)>,
    exploration: Exploration,
    /// By test of temporal properties: whether it has no value in some state.
    faulty_tests: Vec<bool>,
    shares: Vec<HostShare>,
    stopped: Option<Stop>,
    is_complete: bool,
    resumed_at: Option<u64>,
    level: u64,
}

impl<'j> Leader<'j> {
    fn new(plan: &'j Plan, questions: &[StateQuestion], kept: Option<&EarlierLevels>) -> Self {
        Leader {
            plan,
            started: Instant::now(),
            findings: questions.iter().map(|_| None).collect(),
            without_value: vec![None; questions.len()],
            by_state: questions.iter().map(|question| matches!(question.goal, StateGoal::State(..))).collect(),
            pending: Vec::new(),
            exploration: Exploration::default(),
            faulty_tests: Vec::new(),
            shares: Vec::new(),
            stopped: None,
            is_complete: false,
            resumed_at: kept.map(|kept| kept.last_level),
            level: 0,
        }
    }

    /// Puts together what all say of a level.
    fn put_together(&mut self, reports: &[Report], depth: usize) -> Next {
        let mut counts = Counts::default();
        reports.iter().for_each(|report| counts.add(report.counts));
        self.level = reports.iter().map(|report| report.level).sum();
        self.exploration = Exploration {
            states: reports.iter().map(|report| report.states).sum(),
            transitions: counts.transitions,
            deadlocks: counts.deadlocks,
            errors: counts.errors,
            depth: depth.saturating_sub(usize::from(depth > 0)) as u64,
            complete: false,
        };
        self.shares = self.shares_of(reports);
        let n_tests = reports.first().map_or(0, |report| report.faulty_tests.len());
        let is_faulty = |test: usize| reports.iter().any(|report| report.faulty_tests.get(test) == Some(&true));
        self.faulty_tests = (0..n_tests).map(is_faulty).collect();
        for (worker, report) in reports.iter().enumerate() {
            let stop = report.stop.clone().map(|stop| stop.on(self.plan.host_of(worker)));
            // Whoever reached a limit first told the others to stop.
            let is_better = matches!(self.stopped, None | Some(Stop::Cancelled));
            if is_better && stop.is_some() {
                self.stopped = stop;
            }
        }
        self.note_hits(reports, depth);
        self.next(depth)
    }

    fn note_hits(&mut self, reports: &[Report], depth: usize) {
        for question in 0..self.findings.len() {
            if self.findings[question].is_some() {
                continue;
            }
            let is_hit = reports.iter().any(|report| report.decided[question]);
            let faulty = reports.iter().filter_map(|report| report.faulty[question].as_ref()).min();
            if is_hit {
                let depth = if self.by_state[question] { depth } else { depth.saturating_sub(1) };
                self.pending.push((question, depth));
            } else if let (Some(state), None) = (faulty, &self.without_value[question]) {
                self.without_value[question] = Some(self.property_error(question, state));
            }
        }
        // What the steps show is true of the level before, and was found first.
        self.pending.sort_by_key(|&(question, depth)| std::cmp::Reverse((depth, question)));
    }

    fn next(&mut self, depth: usize) -> Next {
        if let Some((question, depth)) = self.pending.pop() {
            return Next::WalkBack { question, depth };
        }
        let is_asked = !self.findings.is_empty() && self.plan.temporal.is_empty();
        let is_decided = is_asked && self.findings.iter().all(Option::is_some);
        if is_decided || self.stopped.is_some() {
            return Next::End;
        }
        if self.level == 0 {
            self.is_complete = true;
            return Next::End;
        }
        self.exploration.depth = depth as u64;
        Next::Expand(self.findings.iter().map(Option::is_none).collect())
    }

    /// Notes the run to a question.
    fn found<const W: usize>(
        &mut self,
        part: &Part<'_, W>,
        question: usize,
        run: Result<Vec<Packed<W>>, Stop>,
    ) -> Next {
        let n_words = part.machine.codec.layout.n_words;
        let run = run.map(|run| run.iter().rev().map(|state| state[..n_words].to_vec()).collect());
        self.decide(question, run);
        let depth = self.exploration.depth as usize + 1;
        self.next(depth)
    }

    fn decide(&mut self, question: usize, run: Result<Vec<Vec<u64>>, Stop>) {
        let explored = Exploration { complete: self.is_complete, ..self.exploration.clone() };
        self.findings[question] = Some(Finding { run, time: self.started.elapsed(), explored });
    }

    /// How far the search is.
    fn progress(&self) -> Progress {
        Progress {
            states: self.exploration.states,
            frontier: self.level,
            depth: self.exploration.depth,
            memory_bytes: self.shares.iter().map(|share| share.peak_memory_bytes).sum(),
        }
    }

    /// Why a property's own expression has no value in a state.
    fn property_error(&self, question: usize, state: &[u64]) -> Stop {
        let model = &*self.plan.model;
        let codec = Codec::new(model, UnrollLimits::default());
        let fault = match &model.properties[self.plan.asked[question]].kind {
            PropertyKind::Invariant(condition) | PropertyKind::Reachable(condition) => {
                model::eval::evaluate(model, &codec.unpack(state), condition, None).err()
            }
            _ => None,
        };
        let fault = fault.map_or_else(|| "an error".to_owned(), |fault| fault.fault.to_string());
        Stop::Property(format!("evaluating it fails in a reachable state: {fault}"))
    }

    fn shares_of(&self, reports: &[Report]) -> Vec<HostShare> {
        let share = |(reports, name): (&[Report], &String)| HostShare {
            name: name.clone(),
            workers: reports.len(),
            states: reports.iter().map(|report| report.states).sum(),
            peak_memory_bytes: reports.iter().map(|report| report.peak_bytes).sum(),
            sent_bytes: reports.iter().map(|report| report.sent_bytes).sum(),
        };
        reports.chunks(self.plan.n_threads).zip(&self.plan.hosts).map(share).collect()
    }

    fn outcome(mut self) -> Outcome {
        // What nothing decided has no answer where it has no value in some state, whether the search came to its end or not.
        for question in 0..self.findings.len() {
            if let (None, Some(why)) = (&self.findings[question], self.without_value[question].take()) {
                self.decide(question, Err(why));
            }
        }
        Outcome {
            findings: self.findings,
            temporal: Vec::new(),
            exploration: Exploration { complete: self.is_complete, ..self.exploration },
            stopped: self.stopped,
            time: self.started.elapsed(),
            hosts: self.shares,
            resumed_at: self.resumed_at,
        }
    }
}
