//! Temporal properties under fairness, one process at a time: LL and FLL.
//!
//! In: a temporal property and a backend. Out: a proof that no fair run violates it, or such a run. For each way to violate the property
//! the facts that it speaks of are exposed, and abstract processes made of the strongest split invariant (`backend.rs`). Every run of
//! the program is a run of each of them. So the violation has no run if (**A**: CAV 2008, Theorem 4; CAV 2010) for every process the abstract
//! process has no fair run in which the process itself carries acceptance again and again, or (**B**) for some process it has no fair
//! run at all. Otherwise a run whose turns are all must transitions is unrolled to one of the program (`unroll.rs`); if that is fair it is shown.
//! In all other cases something is exposed (`refine.rs`, `rendezvous.rs`), and it starts again; there is an end, with everything exposed at the latest.

pub mod backend;
pub mod conditions;
mod facts;
pub mod locals;
pub mod may;
mod refine;
mod rendezvous;
mod unroll;

use std::collections::BTreeSet;

use base::Budget;
use engine::{Contradiction, Event, Exposure, Halt, Method, Observer, Statistics, Verdict};
use evidence::certificate::{Claim, Fact, LocalFact, Sights, ViolationName};
use evidence::{Certificate, Evidence, SymbolicSearch, Trace, TraceEnd};
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

use crate::facts::FactId;
use backend::{AutomatonChoice, FairBackend, FairRunQuery, Transitions, WrittenProof};
use conditions::{Conditions, support};
use locals::Locals;
use refine::{ProcessFacts, Refinement};
use unroll::Unrolled;

/// Whose abstract process must have no fair run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A: every process's, in which the process itself carries acceptance infinitely often.
    Every,
    /// B: some process's.
    One,
}

/// Which method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessRule {
    /// Cohen and Namjoshi, CAV 2008: every process's abstract process, with no fairness but that of scheduling.
    Ll,
    /// Cohen, Namjoshi and Sa'ar, CAV 2010, A: every process's abstract process.
    FllA,
    /// The same, B: some process's abstract process.
    FllB,
}

impl LivenessRule {
    /// The method that uses it.
    pub fn method(self) -> Method {
        match self {
            LivenessRule::Ll => Method::Ll,
            LivenessRule::FllA => Method::FllA,
            LivenessRule::FllB => Method::FllB,
        }
    }

    /// Whose abstract process it is about.
    pub fn variant(self) -> Variant {
        match self {
            LivenessRule::Ll | LivenessRule::FllA => Variant::Every,
            LivenessRule::FllB => Variant::One,
        }
    }
}

/// How a property is to be decided, and with what.
pub struct FairOptions<'w> {
    /// Which rule is used.
    pub variant: Variant,
    /// Limits.
    pub budget: &'w Budget,
    /// Receives the events.
    pub observer: &'w dyn Observer,
    /// Finds sums, each with a proof, once something would have to be exposed.
    pub sums: Option<&'w dyn Fn() -> Option<Sights>>,
    /// What was shown before: sums first, then ways to violate the property that no fair run has.
    pub shown: &'w [Fact],
}

/// What became of a property.
pub enum FairOutcome {
    /// No violation has a run.
    Proved(Certificate),
    /// The same, with sets that are too large to be written down.
    Unwritten,
    /// A fair run that violates it.
    Run(Trace),
}

/// A decided property.
pub struct Decided {
    /// What became of it.
    pub outcome: FairOutcome,
    /// What was exposed, round by round; what the property itself speaks of is in no round.
    pub exposures: Vec<Exposure>,
}

impl Decided {
    /// The verdict, with what was exposed noted among the statistics.
    pub fn verdict(self, statistics: &mut Statistics) -> Verdict {
        statistics.refinements = Some(self.exposures.len() as u64);
        statistics.exposures = self.exposures;
        match self.outcome {
            FairOutcome::Run(trace) => Verdict::Violated(Evidence::Trace(trace)),
            FairOutcome::Proved(proof) => Verdict::Holds(Evidence::Certificate(Box::new(proof))),
            FairOutcome::Unwritten => Verdict::Holds(Evidence::Symbolic(SymbolicSearch::Local)),
        }
    }
}

/// Runs of so many abstract processes are unrolled and refined in each round.
const MOST_FOCUSES: usize = 2;

/// After so many rounds of refinement sums stay beside what is exposed, though they did not suffice by themselves.
const ROUNDS_WITHOUT_SUMS: usize = 3;

/// Decides a property.
///
/// # Errors
/// A limit that was reached, what local methods do not follow, or a contradiction.
pub fn decide<'m, B: FairBackend>(
    backend: &mut B,
    (conditions, locals): (&Conditions<'m>, &Locals<'m>),
    options: &FairOptions<'_>,
) -> Result<Decided, Halt> {
    let (exposures, n_exposed) = (Vec::new(), 0);
    let trust = TrustInSums::AfterOneRound;
    let mut search = FairSearch { backend, conditions, locals, options, exposures, n_exposed, trust };
    let mut shown = ShownFacts { facts: options.shown, imported: vec![None; options.shown.len()] };
    let mut is_written = true;
    let mut facts = crate::facts::Facts::default();
    let mut known_sums: Option<FactId> = None;
    let mut ranked: Vec<Option<FactId>> = vec![None; conditions.violations.len()];
    for violation in 0..conditions.violations.len() {
        // What excludes one way to violate the property excludes its images.
        if let Some((of, claim)) = &conditions.images[violation] {
            if let Some(shown) = ranked[*of] {
                facts.add(Claim::Exchanged(claim.clone()), &[shown]);
            }
            continue;
        }
        if let Some(known) = shown.about(&conditions.names[violation]) {
            ranked[violation] = Some(shown.import(known, &mut facts));
            continue;
        }
        match search.violation(violation)? {
            ViolationResult::NoRun(None, _) => is_written = false,
            ViolationResult::NoRun(Some(written), sums) => {
                let (invariant, ranks) = *written;
                // Sums are a fact of their own, before the first invariant that rests on them.
                let uses = sums.map(|sums| match shown.sums() {
                    Some(_) => shown.import(0, &mut facts),
                    None => *known_sums.get_or_insert_with(|| facts.add(Claim::Sights(sums), &[])),
                });
                let invariant = facts.add(invariant, uses.as_slice());
                ranked[violation] = Some(facts.add(ranks, &[invariant]));
            }
            ViolationResult::Run(trace) => {
                return Ok(Decided { outcome: FairOutcome::Run(trace), exposures: search.exposures });
            }
        }
    }
    let outcome = match is_written {
        true => FairOutcome::Proved(facts.into_certificate(&conditions.property.name)),
        false => FairOutcome::Unwritten,
    };
    Ok(Decided { outcome, exposures: search.exposures })
}

/// A split invariant, and that no fair run violates a property in some way, where they are written down.
type WrittenClaims = Option<Box<(Claim, Claim)>>;

/// What was shown before, and what of it is part of the proof.
struct ShownFacts<'w> {
    facts: &'w [Fact],
    imported: Vec<Option<FactId>>,
}

impl ShownFacts<'_> {
    /// The sums, if there are any.
    fn sums(&self) -> Option<&Sights> {
        match &self.facts.first()?.claim {
            Claim::Sights(sights) if !sights.additive.is_empty() => Some(sights),
            _ => None,
        }
    }

    /// The fact that no fair run violates the property in a way.
    fn about(&self, name: &ViolationName) -> Option<usize> {
        self.facts.iter().position(|fact| match &fact.claim {
            Claim::Refutation(refutation) => refutation.violation == *name,
            _ => false,
        })
    }

    /// Makes a fact part of the proof, with those that it uses.
    fn import(&mut self, at: usize, facts: &mut crate::facts::Facts) -> FactId {
        if let Some(known) = self.imported[at] {
            return known;
        }
        let all = self.facts;
        let uses: Vec<FactId> = all[at].uses.iter().map(|&used| self.import(used, facts)).collect();
        let id = facts.add(all[at].claim.clone(), &uses);
        self.imported[at] = Some(id);
        id
    }
}

enum ViolationResult {
    /// The split invariant, and that no fair run violates the property in this way, where these are written down; the sums that the invariant rests on.
    NoRun(WrittenClaims, Option<Sights>),
    Run(Trace),
}

/// What the abstract processes of a round say.
enum AbstractRound {
    /// The rule's premises hold; written down, where that is possible.
    Proved(WrittenClaims),
    /// These have fair runs, with such an automaton.
    Open(Vec<ProcessId>, AutomatonChoice),
}

struct FairSearch<'s, 'm, B> {
    backend: &'s mut B,
    conditions: &'s Conditions<'m>,
    locals: &'s Locals<'m>,
    options: &'s FairOptions<'s>,
    exposures: Vec<Exposure>,
    n_exposed: usize,
    /// When sums are tried.
    trust: TrustInSums,
}

/// When sums are tried instead of exposing facts. Where they do not suffice by themselves, they cost more than they save: a semaphore of which one fact is
/// exposed took three times as long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrustInSums {
    /// As soon as something would have to be exposed: they sufficed before.
    AtOnce,
    /// Once one round of refinement did not suffice.
    AfterOneRound,
    /// Not again: they did not suffice before.
    Never,
}

/// Sums that are used beside exposed facts, for one way to violate the property.
enum SumsBeside {
    /// Few facts are exposed yet.
    NotYet,
    /// They leave out something.
    Used(Sights),
    /// There are none, or they were of no use.
    GivenUp,
}

impl<B: FairBackend> FairSearch<'_, '_, B> {
    fn violation(&mut self, violation: usize) -> Result<ViolationResult, Halt> {
        let facts = self.conditions.facts(&self.conditions.violations[violation], self.locals)?;
        let mut exposed: BTreeSet<ProcessId> = facts.iter().map(|(process, _)| *process).collect();
        self.backend.forget()?;
        self.backend.expose(&facts)?;
        let (mut all, first_round) = (facts.clone(), self.exposures.len());
        let mut beside = SumsBeside::NotYet;
        loop {
            self.options.budget.check(0)?;
            self.backend.close()?;
            let (open, automaton) = match self.round(violation, &exposed)? {
                AbstractRound::Proved(written) => {
                    let sums = self.without_sums(&mut beside);
                    return Ok(ViolationResult::NoRun(written, sums));
                }
                AbstractRound::Open(open, automaton) => (open, automaton),
            };
            if matches!(beside, SumsBeside::NotYet) && self.exposures.len() >= first_round + ROUNDS_WITHOUT_SUMS {
                beside = self.sums_beside();
                if matches!(beside, SumsBeside::Used(_)) {
                    continue;
                }
            }
            // What sums exclude needs not be excluded by facts that all processes have to show.
            let is_due = match self.trust {
                TrustInSums::AtOnce => true,
                TrustInSums::AfterOneRound => self.exposures.len() > first_round,
                TrustInSums::Never => false,
            };
            if is_due {
                if let Some((written, sums)) = self.by_sums_alone(violation, &facts)? {
                    self.exposures.truncate(first_round);
                    return Ok(ViolationResult::NoRun(written, Some(sums)));
                }
                self.trust = TrustInSums::Never;
                self.backend.forget()?;
                self.backend.expose(&all)?;
                self.backend.close()?;
            }
            // What one of them needs mostly helps the others, and what all need at once would be too much: the fewest facts.
            let mut new = ProcessFacts::new();
            for focus in self.hidden_first(open, &exposed).into_iter().take(MOST_FOCUSES) {
                match self.examine(focus, violation, automaton)? {
                    AbstractRunResult::Real(trace) => return Ok(ViolationResult::Run(trace)),
                    AbstractRunResult::Refine(facts) => {
                        let facts = self.for_whole_family(facts, violation);
                        if new.is_empty() || !facts.is_empty() && facts.len() < new.len() {
                            new = facts;
                        }
                    }
                }
            }
            if !self.backend.expose(&new)? {
                // Sums leave out local states that refinement compares with others.
                if self.without_sums(&mut beside).is_some() {
                    continue;
                }
                let expected =
                    "a fair run of an abstract process is real, or some fact that can be exposed excludes it";
                return Err(Contradiction::new(expected, "there is one of which neither is true").into());
            }
            exposed.extend(new.iter().map(|(process, _)| *process));
            all.extend(new.iter().cloned());
            self.n_exposed += new.len();
            self.exposures.push(Exposure { facts: new, because: None, steps: 0 });
            self.options.observer.event(Event::Proving {
                rounds: self.exposures.len() as u64,
                exposed: self.n_exposed as u64,
                nodes: self.backend.statistics().peak_nodes.unwrap_or(0),
                memory_bytes: self.backend.statistics().peak_memory_bytes.unwrap_or(0),
            });
        }
    }

    /// The proof where sums leave out enough, and nothing but what the property speaks of is exposed.
    fn by_sums_alone(
        &mut self,
        violation: usize,
        facts: &ProcessFacts,
    ) -> Result<Option<(WrittenClaims, Sights)>, Halt> {
        let Some(sums) = self.find_sums() else { return Ok(None) };
        if !self.backend.prune(Some(&sums)) {
            return Ok(None);
        }
        self.backend.forget()?;
        self.backend.expose(facts)?;
        self.backend.close()?;
        let exposed = facts.iter().map(|(process, _)| *process).collect();
        let found = self.round(violation, &exposed)?;
        self.backend.prune(None);
        Ok(match found {
            AbstractRound::Proved(written) => {
                self.trust = TrustInSums::AtOnce;
                Some((written, sums))
            }
            AbstractRound::Open(..) => None,
        })
    }

    /// Leaves out what sums exclude, beside all that is exposed, from the next time on that the sets are computed.
    fn sums_beside(&mut self) -> SumsBeside {
        let sums = self.find_sums().filter(|sums| !sums.additive.is_empty());
        match sums.filter(|sums| self.backend.prune(Some(sums))) {
            Some(sums) => SumsBeside::Used(sums),
            None => SumsBeside::GivenUp,
        }
    }

    /// Gives up the sums that are used, if there are any.
    fn without_sums(&mut self, beside: &mut SumsBeside) -> Option<Sights> {
        match std::mem::replace(beside, SumsBeside::GivenUp) {
            SumsBeside::Used(sums) => {
                self.backend.prune(None);
                Some(sums)
            }
            SumsBeside::NotYet | SumsBeside::GivenUp => None,
        }
    }

    /// Those that were shown before, or what is found now.
    fn find_sums(&self) -> Option<Sights> {
        let shown = ShownFacts { facts: self.options.shown, imported: Vec::new() };
        shown.sums().cloned().or_else(|| self.options.sums.and_then(|find| find()))
    }

    fn round(&mut self, violation: usize, exposed: &BTreeSet<ProcessId>) -> Result<AbstractRound, Halt> {
        let all: Vec<ProcessId> = self.conditions.model.processes.ids().collect();
        let focus_accepts = self.options.variant == Variant::Every;
        let query = FairRunQuery { violation, focus_accepts, automaton: AutomatonChoice::Simplified };
        let mut open = Vec::new();
        let foci = match self.options.variant {
            Variant::Every => {
                for &focus in &all {
                    if self.backend.fair_run(focus, query, Transitions::May)?.is_some() {
                        open.push(focus);
                    }
                }
                all
            }
            Variant::One => {
                let candidates = self.candidates(violation, exposed);
                let mut empty = None;
                for &focus in &candidates {
                    if self.backend.fair_run(focus, query, Transitions::May)?.is_none() {
                        empty = Some(focus);
                        break;
                    }
                }
                if empty.is_none() {
                    open = candidates;
                }
                empty.into_iter().collect()
            }
        };
        if !open.is_empty() {
            return Ok(AbstractRound::Open(open, AutomatonChoice::Simplified));
        }
        Ok(match self.backend.prove(violation, focus_accepts, &foci)? {
            WrittenProof::Proof(invariant, ranks) => {
                AbstractRound::Proved(Some(Box::new((Claim::SplitInvariant(invariant), Claim::NoFairRun(*ranks)))))
            }
            WrittenProof::TooLarge => AbstractRound::Proved(None),
            WrittenProof::Open(open) => AbstractRound::Open(open, AutomatonChoice::Reference),
        })
    }

    /// The processes whose abstract processes are searched for B: one of which nothing is exposed, if there is one, since all processes see
    /// the exposed ones anyway; and those that the property speaks of.
    fn candidates(&self, violation: usize, exposed: &BTreeSet<ProcessId>) -> Vec<ProcessId> {
        let model = self.conditions.model;
        let spoken_of = self.spoken_of(violation);
        let hidden = model.processes.ids().find(|process| !exposed.contains(process));
        let other = || model.processes.ids().find(|process| !spoken_of.contains(process));
        let mut found: Vec<ProcessId> = hidden.or_else(other).into_iter().collect();
        found.extend(spoken_of.into_iter().take(1));
        if found.is_empty() {
            found.extend(model.processes.ids().next());
        }
        found.dedup();
        found
    }

    /// The processes, those first of which nothing is exposed.
    fn hidden_first(&self, processes: Vec<ProcessId>, exposed: &BTreeSet<ProcessId>) -> Vec<ProcessId> {
        let (seen, mut ordered): (Vec<ProcessId>, Vec<ProcessId>) =
            processes.into_iter().partition(|process| exposed.contains(process));
        ordered.extend(seen.into_iter().rev());
        ordered
    }

    /// The facts, and the same about all processes of the family of which the property does not speak: what one of them hides from the
    /// proof the others hide as well. Facts with the names of processes in them stay alone.
    fn for_whole_family(&self, facts: ProcessFacts, violation: usize) -> ProcessFacts {
        let model = self.conditions.model;
        let spoken_of = self.spoken_of(violation);
        let mut whole = ProcessFacts::new();
        for (process, fact) in facts {
            let family = &model.families[model.processes[process].family];
            let others = family.processes().filter(|other| !spoken_of.contains(&process) && !spoken_of.contains(other));
            let images = others.filter_map(|other| Some((other, transport(self.locals, &fact, (process, other))?)));
            for image in images.chain([(process, fact.clone())]).collect::<ProcessFacts>() {
                if !whole.contains(&image) {
                    whole.push(image);
                }
            }
        }
        whole
    }

    /// The processes of whose local states a violation speaks.
    fn spoken_of(&self, violation: usize) -> BTreeSet<ProcessId> {
        let propositions = &self.conditions.violations[violation].propositions;
        propositions.iter().flat_map(|one| support(self.conditions.model, one)).collect()
    }

    /// A run of the program, or what to expose.
    fn examine(
        &mut self,
        focus: ProcessId,
        violation: usize,
        automaton: AutomatonChoice,
    ) -> Result<AbstractRunResult, Halt> {
        let focus_accepts = self.options.variant == Variant::Every;
        let query = FairRunQuery { violation, focus_accepts, automaton };
        let pairs = self.conditions.pairs_of(&self.conditions.violations[violation]);
        let must = self.backend.fair_run(focus, query, Transitions::Must)?;
        let run = match must {
            Some(run) => run,
            None => match self.backend.fair_run(focus, query, Transitions::May)? {
                Some(run) => run,
                None => return Ok(AbstractRunResult::Refine(ProcessFacts::new())),
            },
        };
        let mut refinement =
            Refinement { backend: &mut *self.backend, conditions: self.conditions, locals: self.locals };
        let facts = refinement.of_turns(&run)?;
        if !facts.is_empty() {
            return Ok(AbstractRunResult::Refine(facts));
        }
        let unrolled = unroll::unroll(&*refinement.backend, (self.conditions, self.locals), &run, self.options.budget)?;
        let facts = match unrolled {
            Some(real) if refinement.is_fair(&real)? => return Ok(AbstractRunResult::Real(trace(real))),
            Some(real) => refinement.of_fairness(&run, &real, &pairs)?,
            None => ProcessFacts::new(),
        };
        // What two processes do together may depend on more than each of them tells.
        let is_open = facts.is_empty() && !self.conditions.model.channels.is_empty();
        Ok(AbstractRunResult::Refine(if is_open { refinement.of_points(&run)? } else { facts }))
    }
}

/// What an abstract run comes to.
enum AbstractRunResult {
    Real(Trace),
    Refine(ProcessFacts),
}

/// The same fact about another process of the family; `None` where it names a process, or places that the other one does not have.
fn transport(locals: &Locals<'_>, fact: &LocalFact, (from, to): (ProcessId, ProcessId)) -> Option<LocalFact> {
    let model = locals.model;
    Some(match fact {
        LocalFact::Control(points) => {
            let mut there: Vec<usize> =
                points.iter().filter_map(|&point| locals.counterpart((from, point), to)).collect();
            there.sort_unstable();
            if there.is_empty() {
                return None;
            }
            LocalFact::Control(there)
        }
        LocalFact::Cell(_, Value::Process(_)) => return None,
        LocalFact::Cell(cell, value) => {
            let place = cell.index() - model.processes[from].first_cell;
            LocalFact::Cell(CellId::new(model.processes[to].first_cell + place), *value)
        }
        LocalFact::OneOf(lists) => {
            let list = |facts: &Vec<LocalFact>| facts.iter().map(|fact| transport(locals, fact, (from, to))).collect();
            LocalFact::OneOf(lists.iter().map(list).collect::<Option<_>>()?)
        }
    })
}

fn trace(real: Unrolled) -> Trace {
    Trace { states: real.states, turns: real.turns, end: TraceEnd::Loop, loop_from: Some(real.loop_from) }
}
