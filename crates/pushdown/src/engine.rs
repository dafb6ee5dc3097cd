//! Method `pushdown`: proofs for programs with procedures, one process at a time; real runs where there is no proof.
//!
//! In: a task. Out: an answer for each property. First come path edges without anything exposed, for all properties together. What they
//! leave open is searched for in real runs: guided by the path edges, then with few context switches and shallow stacks. Then facts about
//! local stores are exposed, round by round; then real runs have what is left of the budget.

use std::time::{Duration, Instant};

use base::{Budget, Coarse, Feature, StopReason};
use engine::settings::Settings;
use engine::{
    Answer, Contradiction, Engine, EngineError, Event, Method, Observer, PropertyId, SharedView, Statistics, Task,
    Verdict,
};
use evidence::certificate::{Claim, Fact};
use evidence::implied::Implied;
use evidence::pushdown::{ExposedFact, PushdownProof};
use evidence::trace::trace_through;
use evidence::{Certificate, Evidence, Trace};
use model::control::TextOwner;
use model::property::PropertyKind;

use crate::exposed::MOST_FACTS;
use crate::refine::next_facts;
use crate::round::{PathEdgeVerdict, SaturatedRound};
use crate::runs::{Guide, RealRuns};
use local::sets::LocalSets;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::questions::{StateGoal, StateQuestion};
use packed::width::{ForWidth, with_coarse_width};

engine::config! {
    /// What bounds the searches and the refinement of `pushdown`.
    pub struct Config {
        /// A search for a real run that path edges guide sees at most so many states.
        pub guided_states: usize = 30_000,
        /// A search for real runs before facts are exposed sees at most so many states.
        pub first_states: usize = 200_000,
        /// The search for real runs after facts were exposed sees at most so many states.
        pub last_states: usize = 2_000_000,
        /// The searches before facts are exposed take at most this long.
        pub first_time: Duration = Duration::from_secs(2),
        /// So many rounds of refinement at most.
        pub rounds: usize = 8,
        /// A round of refinement takes at most this long: exposed facts can multiply local states beyond measure.
        pub round_time: Duration = Duration::from_secs(10),
    }
}

/// Thread-modular pushdown checking.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pushdown {
    /// What bounds it.
    pub config: Config,
}

impl Engine for Pushdown {
    fn method(&self) -> Method {
        Method::Pushdown
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let limits = UnrollLimits { least_stack_bits: 32, ..UnrollLimits::default() };
        let codec = Codec::within(task.model, limits, &task.budget);
        if let Some(stop) = cannot_follow(&codec) {
            return Ok(task.undecided(&stop));
        }
        let first = FirstRound { codec: &codec, task, observer, config: self.config };
        with_coarse_width(codec.layout.n_words, first).unwrap_or_else(|stop| Ok(task.undecided(&stop)))
    }
}

/// Counters of very long loops are cells, and would have to wait with frames.
fn cannot_follow(codec: &Codec<'_>) -> Option<StopReason> {
    let model = codec.model;
    let calls = |scope: TextOwner| {
        let of_scope = |site: &packed::layout::PackedCallSite| model.actions[site.action].scope == scope;
        codec.layout.sites.iter().any(of_scope)
    };
    let is_unfolded = |(id, counted): (model::control::LoopId, &model::control::Loop)| {
        !codec.plan.folded[id.index()] && matches!(counted.scope, TextOwner::Family(_)) && calls(counted.scope)
    };
    model.loops.entries().any(is_unfolded).then(|| Feature::LongLoopAroundCall.into())
}

/// The first round, and the real runs.
struct FirstRound<'w> {
    codec: &'w Codec<'w>,
    task: &'w Task<'w>,
    observer: &'w dyn Observer,
    config: Config,
}

/// How far a property has come.
enum PropertyProgress {
    Proved(PushdownProof, Vec<Implied>),
    Run(Trace),
    /// Not decided; why.
    Open(StopReason),
    /// Packed states and the reference semantics disagree.
    Wrong(Contradiction),
}

struct Entry {
    property: PropertyId,
    progress: PropertyProgress,
    statistics: Statistics,
}

impl ForWidth for FirstRound<'_> {
    type Output = Result<Vec<Answer>, EngineError>;

    fn run<const W: usize>(self) -> Self::Output {
        let (machine, questions, races) = compiled(self.codec, self.task);
        let budget = &self.task.budget;
        let mut sets = LocalSets::<W>::new(&machine, SharedView::Mentioned, (budget, u64::MAX));
        sets.races = races;
        let started = Instant::now();
        let mut round = SaturatedRound::new(&machine, sets, Vec::new(), budget);
        let mut entries: Vec<Entry> = Vec::new();
        let mut runs = RealRuns::<W>::new(&machine, &questions);
        for (at, &property) in self.task.properties.iter().enumerate() {
            let progress = match &mut round {
                Ok(round) => self.first_round(round, &mut runs, at),
                Err(stop) => PropertyProgress::Open(stop.clone()),
            };
            let statistics = Statistics { time: started.elapsed(), ..statistics(round.as_ref().ok()) };
            entries.push(Entry { property, progress, statistics });
        }
        drop(round);
        self.search(&mut runs, &mut entries, (self.config.first_states, &budget.slice(self.config.first_time)));
        for (at, entry) in entries.iter_mut().enumerate() {
            if matches!(entry.progress, PropertyProgress::Open(StopReason::TooCoarse(_))) && budget.check(0).is_ok() {
                self.refine(at, entry);
                entry.statistics.time = started.elapsed();
            }
        }
        self.search(&mut runs, &mut entries, (self.config.last_states, budget));
        let answer = |entry: Entry| {
            let wrong = |id, found| EngineError::new(Method::Pushdown.name(), (self.task.model, id), found);
            let property = entry.property;
            self.answer(entry).map_err(|found| wrong(property, found))
        };
        entries.into_iter().map(answer).collect()
    }
}

impl FirstRound<'_> {
    /// What path edges say about a property, and what runs that they guide do.
    fn first_round<const W: usize>(
        &self,
        round: &mut SaturatedRound<'_, W>,
        runs: &mut RealRuns<'_, W>,
        at: usize,
    ) -> PropertyProgress {
        let kind = &self.task.model.properties[self.task.properties[at]].kind;
        match round.ask(kind) {
            Err(stop) => PropertyProgress::Open(stop),
            Ok(PathEdgeVerdict::Never) => match round.proof() {
                Ok(proof) => PropertyProgress::Proved(proof, round.implied(kind)),
                Err(stop) => PropertyProgress::Open(stop),
            },
            Ok(PathEdgeVerdict::Fault) => PropertyProgress::Open(Coarse::PathEdges.into()),
            Ok(PathEdgeVerdict::Open(witnesses)) if witnesses.is_empty() => {
                PropertyProgress::Open(Coarse::PathEdges.into())
            }
            Ok(PathEdgeVerdict::Open(witnesses)) => {
                let guide = Guide::to(&round.saturation, &witnesses);
                let mut guided = runs.afresh();
                let budget = self.task.budget.slice(self.config.first_time);
                let searched = guided.search(&[at], (self.config.guided_states, &budget), Some(&guide));
                match (searched, self.task.budget.check(0)) {
                    (Err(_), Err(stop)) => PropertyProgress::Open(stop),
                    _ => self
                        .decided(at, &mut guided)
                        .unwrap_or_else(|| PropertyProgress::Open(Coarse::PathEdges.into())),
                }
            }
        }
    }

    /// What a search came to, for the question at a position. Where it has no value in some state, and no other state decides it, it stays open.
    fn decided<const W: usize>(&self, at: usize, runs: &mut RealRuns<'_, W>) -> Option<PropertyProgress> {
        let kind = &self.task.model.properties[self.task.properties[at]].kind;
        match runs.decisions[at].take() {
            Some(states) => Some(match trace_through(self.task.model, states, kind) {
                Some(trace) => PropertyProgress::Run(trace),
                None => PropertyProgress::Wrong(Contradiction::new(
                    "packed states contain a run that decides the property",
                    "the reference semantics has no such run",
                )),
            }),
            None if runs.without_value[at] => {
                let why = "evaluating the property is an error in a reachable state";
                Some(PropertyProgress::Open(StopReason::PropertyError(String::from(why))))
            }
            None => None,
        }
    }

    /// Searches for real runs that decide what is open.
    fn search<const W: usize>(&self, runs: &mut RealRuns<'_, W>, entries: &mut [Entry], limits: (usize, &Budget)) {
        let is_open = |entry: &Entry| matches!(&entry.progress, PropertyProgress::Open(_));
        let open: Vec<usize> = (0..entries.len()).filter(|&at| is_open(&entries[at])).collect();
        if open.is_empty() {
            return;
        }
        let searched = runs.search(&open, limits, None);
        for at in open {
            let entry = &mut entries[at];
            entry.statistics.time = self.task.budget.elapsed();
            match self.decided(at, runs) {
                Some(progress) => entry.progress = progress,
                // That it has no value somewhere stays true.
                None if matches!(entry.progress, PropertyProgress::Open(StopReason::PropertyError(_))) => {}
                None => {
                    // A search that has only a part of the time is no reason to end.
                    if let (Err(_), Err(stop)) = (&searched, self.task.budget.check(0)) {
                        entry.progress = PropertyProgress::Open(stop);
                    }
                }
            }
        }
    }

    /// Exposes facts until there is a proof, or nothing is left to expose.
    fn refine(&self, at: usize, entry: &mut Entry) {
        let mut facts = self.hints();
        facts.truncate(MOST_FACTS);
        for round in 0..=self.config.rounds {
            let budget = self.task.budget.slice(self.config.round_time);
            let job = Refined { first: self, at, facts: &facts, round, budget: &budget };
            let refined =
                with_coarse_width(self.codec.layout.n_words + 1, job).unwrap_or_else(RoundRefinement::Stopped);
            entry.statistics.refinements = Some(round as u64);
            match refined {
                RoundRefinement::Proved(proof, implies, statistics) => {
                    entry.statistics = Statistics { refinements: Some(round as u64), ..*statistics };
                    entry.progress = PropertyProgress::Proved(proof, implies);
                    return;
                }
                RoundRefinement::More(more) => facts = more,
                RoundRefinement::Nothing => return,
                RoundRefinement::Stopped(stop) => {
                    // A round that takes too long is no reason to end before the budget does.
                    if self.task.budget.check(0).is_err() {
                        entry.progress = PropertyProgress::Open(stop);
                    }
                    return;
                }
            }
        }
    }

    /// The facts that the user offers to expose, as far as they are about places.
    fn hints(&self) -> Vec<ExposedFact> {
        let model = self.task.model;
        let places = |hint: &model::Hint| match &hint.fact.kind {
            model::expr::ExprKind::At { places, .. } => Some(places.clone()),
            _ => None,
        };
        let facts = model.hints.iter().flat_map(|hint| {
            let part = places(hint).map(evidence::pushdown::LocalPart::Place);
            hint.processes.iter().filter_map(move |&process| Some(ExposedFact { process, part: part.clone()? }))
        });
        facts.collect()
    }

    fn answer(&self, entry: Entry) -> Result<Answer, Contradiction> {
        let Entry { property, progress, statistics } = entry;
        let asked = &self.task.model.properties[property];
        let is_goal = matches!(asked.kind, PropertyKind::Reachable(_));
        let verdict = match progress {
            PropertyProgress::Open(stop) => Verdict::Unknown(stop),
            PropertyProgress::Wrong(contradiction) => return Err(contradiction),
            PropertyProgress::Proved(proof, implies) => {
                let facts = vec![Fact { claim: Claim::Pushdown(proof), uses: Vec::new() }];
                let scope = evidence::Scope::Instance;
                let certificate = Certificate { property: asked.name.clone(), scope, facts, implies };
                let evidence = Evidence::Certificate(Box::new(certificate));
                if is_goal { Verdict::Violated(evidence) } else { Verdict::Holds(evidence) }
            }
            PropertyProgress::Run(trace) if is_goal => Verdict::Holds(Evidence::Trace(trace)),
            PropertyProgress::Run(trace) => Verdict::Violated(Evidence::Trace(trace)),
        };
        if !matches!(verdict, Verdict::Unknown(_)) {
            self.observer.event(Event::Decided(property));
        }
        Ok(Answer { property, verdict, statistics })
    }
}

/// A round with facts exposed.
struct Refined<'r, 'w> {
    first: &'r FirstRound<'w>,
    at: usize,
    facts: &'r [ExposedFact],
    round: usize,
    budget: &'r Budget,
}

/// What a round with facts exposed comes to.
enum RoundRefinement {
    Proved(PushdownProof, Vec<Implied>, Box<Statistics>),
    /// Facts for the next round.
    More(Vec<ExposedFact>),
    /// Nothing is left to expose.
    Nothing,
    Stopped(StopReason),
}

impl ForWidth for Refined<'_, '_> {
    type Output = RoundRefinement;

    fn run<const W: usize>(self) -> RoundRefinement {
        let (machine, _, races) = compiled(self.first.codec, self.first.task);
        let mut sets = LocalSets::<W>::new(&machine, SharedView::Mentioned, (self.budget, u64::MAX));
        sets.races = races;
        let kind = &self.first.task.model.properties[self.first.task.properties[self.at]].kind;
        let attempt = || {
            let mut round = SaturatedRound::new(&machine, sets, self.facts.to_vec(), self.budget)?;
            Ok(match round.ask(kind)? {
                PathEdgeVerdict::Never => {
                    RoundRefinement::Proved(round.proof()?, round.implied(kind), Box::new(statistics(Some(&round))))
                }
                PathEdgeVerdict::Fault => RoundRefinement::Nothing,
                PathEdgeVerdict::Open(witnesses) => next_facts(&round.saturation, &witnesses, (self.facts, self.round))
                    .map_or(RoundRefinement::Nothing, RoundRefinement::More),
            })
        };
        attempt().unwrap_or_else(RoundRefinement::Stopped)
    }
}

/// The program compiled, with the questions of the task and what their races may touch.
fn compiled<'c>(
    codec: &'c Codec<'c>,
    task: &Task<'_>,
) -> (Machine<'c>, Vec<StateQuestion>, std::collections::HashMap<model::variable::VarId, packed::race::RaceWatch>) {
    let mut compiler = Compiler::new(codec);
    let mut races = std::collections::HashMap::new();
    let mut questions = Vec::new();
    for &id in &task.properties {
        let question =
            StateQuestion::new(codec.model, id, &mut compiler).expect("temporal properties are refused before");
        if let StateGoal::Race(var, _) = question.goal {
            races.insert(var, compiler.race_watch(var));
        }
        questions.push(question);
    }
    (Machine { codec, code: compiler.finish() }, questions, races)
}

fn statistics<const W: usize>(round: Option<&SaturatedRound<'_, W>>) -> Statistics {
    let threads = |round: &SaturatedRound<'_, W>| {
        round.saturation.threads.iter().map(|thread| Some(thread.states.len() as u64)).collect()
    };
    Statistics {
        peak_memory_bytes: round.map(|round| round.saturation.bytes),
        local_states: round.map(threads),
        views: round.map(SaturatedRound::views),
        ..Statistics::default()
    }
}
