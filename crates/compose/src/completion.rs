//! Completion: split invariants with exposed facts, until there is a proof or a real run (Cohen and Namjoshi, CAV 2007).
//!
//! In: a refinable backend and a property. Out: a proof, or a run to a state that decides the property. Complete for finite
//! programs. Each round computes split invariants. A state in the error set that they do not exclude is generalised to a
//! **prime implicant** over local variables (the paper tests one variable at a time and gets stuck where two matter together),
//! whose facts are exposed. Where nothing new can be exposed, the error set grows by predecessors, layer by layer; it is kept from
//! round to round. Where processes are symmetric, what is exposed of one is exposed of all, and one represents all.
//!
//! A state in which the property has no value is an error, too. Once a run to one is found, the property does not hold; it is
//! then asked whether another state decides it.

use std::collections::BTreeSet;

use base::{Budget, StopReason};
use engine::{Contradiction, Halt};
use evidence::Trace;
use evidence::certificate::LocalFact;
use evidence::implied::Implied;
use model::eval::State;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;

use crate::backend::{Deciding, Refinable};
use crate::few_movers;
use crate::k_index::{Fixpoint, InvariantDecision, Invariants, KIndexPlan, decide};
use crate::question::{property_error, questions_up_to};
use crate::symmetry::Symmetry;

/// How completion goes about it.
#[derive(Clone, Copy)]
pub struct CompletionOptions<'a, 'm> {
    /// The permutations under which program and property are invariant, where these are to be used.
    pub symmetry: Option<&'a Symmetry<'m>>,
    /// Which local sets are compared with the error set.
    pub stages: Stages,
    /// What may be used.
    pub budget: &'a Budget,
}

/// Which local sets are compared with the error set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// Those of every stage, and the round ends at the first that intersects it, as in the paper.
    Each,
    /// The invariants alone, computed in whatever way is fast.
    Last,
}

/// What completion ends with.
pub enum Completed<S> {
    /// The local sets of the last round exclude the error set.
    Proved {
        /// The sets, with the exposed facts of the backend.
        invariants: Invariants<S>,
        /// How they imply the property, part by part; `None` where only all of them together do.
        implies: Option<Vec<Implied>>,
        /// What happened on the way.
        rounds: Vec<RefinementRound>,
    },
    /// The states of a run to a state that decides the property.
    Run {
        /// From an initial state.
        states: Vec<State>,
        /// What happened on the way.
        rounds: Vec<RefinementRound>,
    },
    /// A run of a few processes, found beside the way.
    Shortcut {
        /// The run.
        trace: Trace,
        /// What happened on the way.
        rounds: Vec<RefinementRound>,
    },
    /// It cannot go on in this way: see [`Obstacle`].
    Stuck(Obstacle),
}

/// Why another way has to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A fact about one process names another one, so that it cannot be exposed of all by permutations: go on without symmetry.
    NamesAnother,
    /// Nothing is left to expose, because what matters are cells that a process does not see: let all processes see the whole shared
    /// store.
    NarrowViews,
}

/// One round of refinement.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinementRound {
    /// The first stage whose sets intersect the error set, the initial states being stage 0; `None` in the last round of a proof.
    pub violated_at: Option<usize>,
    /// The facts exposed after it.
    pub exposed: Vec<(ProcessId, LocalFact)>,
    /// How many layers of predecessors were added to the error set.
    pub layers: usize,
    /// A state that the local sets did not exclude, for the sake of which the facts were exposed, and after how many steps from
    /// there the property can be decided.
    pub because: Option<(State, usize)>,
}

/// How many states of the error set are generalised in each round once something new was found.
const ENOUGH: usize = 64;

/// As [`ENOUGH`], where a fact about one process is one about all symmetric ones.
const ENOUGH_SYMMETRIC: usize = 4;

/// Refines until there is a proof or a run.
pub fn complete<B: Refinable>(
    backend: &mut B,
    property: &PropertyKind,
    options: CompletionOptions<'_, '_>,
    report: impl FnMut(&RefinementRound),
) -> Result<Completed<B::Set>, Halt> {
    let (offered, rounds) = (BTreeSet::new(), Vec::new());
    Completion { backend, property, options, report, errors: None, fault: None, offered, rounds }.complete()
}

struct Completion<'a, 'm, B: Refinable, T> {
    backend: &'a mut B,
    property: &'a PropertyKind,
    options: CompletionOptions<'a, 'm>,
    report: T,
    /// Made when it is needed.
    errors: Option<Errors<B::Set>>,
    /// Why the property has no value in a reachable state, once one was found; from then on such states are no errors.
    fault: Option<StopReason>,
    /// Facts that were proposed already. One that split no block then will split none later, so it is not proposed again.
    offered: BTreeSet<(ProcessId, LocalFact)>,
    rounds: Vec<RefinementRound>,
}

/// Why no facts are exposed.
enum RefusedExposure {
    /// An initial state is in the error set: a run from there.
    Run(Vec<State>),
    /// See [`Obstacle`].
    Stuck(Obstacle),
}

/// What came of exposing facts.
enum Exposing {
    /// They distinguish states that no fact distinguished.
    New,
    /// They do not.
    Nothing,
    /// See [`Obstacle::NamesAnother`].
    NamesAnother,
}

/// How finely states are distinguished.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Granularity {
    /// Those that share the facts of a prime implicant are seen together, whatever their shared cells are.
    Facts,
    /// Every one counts. With an error set that is closed under predecessors, this is what makes completion complete.
    States,
}

/// The states that are errors, or lead to one: first the errors, then layer by layer their predecessors.
#[derive(Clone)]
struct Errors<S> {
    layers: Vec<S>,
    /// The union of the layers.
    all: S,
    /// The initial states.
    initial: S,
}

/// What the local sets of a round say.
enum RoundOutcome<S> {
    /// They exclude the error set: part by part, or all together.
    Nothing(Option<Vec<Implied>>),
    /// These states of it are left, at this stage.
    States(usize, S),
    /// A real run.
    Run(Trace),
}

impl<'m, B: Refinable, T: FnMut(&RefinementRound)> Completion<'_, 'm, B, T> {
    fn complete(mut self) -> Result<Completed<B::Set>, Halt> {
        loop {
            if self.options.stages == Stages::Each
                && let Some(states) = self.run()?
            {
                return Ok(Completed::Run { states, rounds: self.rounds });
            }
            let plan = match self.options.symmetry {
                Some(symmetry) => KIndexPlan::of_first(self.backend, 1, symmetry.clone(), self.options.budget)?,
                None => KIndexPlan::of_all(self.backend, 1, self.options.budget)?,
            };
            let mut fixpoint = Fixpoint::of_plan(self.backend, plan, self.options.budget)?;
            let (violated_at, errors_left) = match self.compare_with_errors(&mut fixpoint)? {
                RoundOutcome::States(stage, errors_left) => (stage, errors_left),
                RoundOutcome::Nothing(implies) => {
                    self.end_round(RefinementRound {
                        violated_at: None,
                        exposed: Vec::new(),
                        layers: 0,
                        because: None,
                    });
                    return Ok(Completed::Proved { invariants: fixpoint.invariants, implies, rounds: self.rounds });
                }
                RoundOutcome::Run(trace) => return Ok(Completed::Shortcut { trace, rounds: self.rounds }),
            };
            if let Some(done) = self.refine(&mut fixpoint, violated_at, errors_left)? {
                return Ok(match done {
                    RefusedExposure::Run(states) => Completed::Run { states, rounds: self.rounds },
                    RefusedExposure::Stuck(obstacle) => Completed::Stuck(obstacle),
                });
            }
        }
    }

    /// Compares local sets with the error set.
    fn compare_with_errors(&mut self, fixpoint: &mut Fixpoint<'m, B::Set>) -> Result<RoundOutcome<B::Set>, StopReason> {
        let options = self.options;
        if options.stages == Stages::Each {
            let all = self.errors()?.all.clone();
            loop {
                let errors_left = self.within(&all, fixpoint)?;
                if !self.backend.is_empty(&errors_left) {
                    return Ok(RoundOutcome::States(fixpoint.n_stages, errors_left));
                }
                if !fixpoint.stage(self.backend, options.budget, false)? {
                    return self.excluded_by_all();
                }
            }
        }
        fixpoint.close(self.backend, options.budget)?;
        let asked = questions_up_to(self.backend.model(), self.property, options.symmetry).unwrap_or_default();
        match decide(self.backend, &fixpoint.invariants, &asked, (options.symmetry, options.budget))? {
            InvariantDecision::Proved => {
                let asked = (self.property, asked.as_slice());
                Ok(RoundOutcome::Nothing(Some(fixpoint.invariants.implied(self.backend, asked, options.symmetry))))
            }
            // A question can be a fault in a state that is not reachable: faults are errors that are excluded like others.
            InvariantDecision::Open(question) | InvariantDecision::Fault(question) => {
                if self.rounds.is_empty()
                    && let Some(trace) =
                        few_movers::find_run(self.backend.model(), self.property, &question, options.budget)?
                {
                    return Ok(RoundOutcome::Run(trace));
                }
                let all = self.errors()?.all.clone();
                let errors_left = self.within(&all, fixpoint)?;
                match self.backend.is_empty(&errors_left) {
                    true => self.excluded_by_all(),
                    false => Ok(RoundOutcome::States(fixpoint.n_stages, errors_left)),
                }
            }
        }
    }

    /// All sets together exclude the error set; or the property has no value in a reachable state.
    fn excluded_by_all(&self) -> Result<RoundOutcome<B::Set>, StopReason> {
        self.fault.clone().map_or(Ok(RoundOutcome::Nothing(None)), Err)
    }

    /// Exposes facts, after as many layers of predecessors as it takes for one of them to be new.
    fn refine(
        &mut self,
        fixpoint: &mut Fixpoint<'m, B::Set>,
        violated_at: usize,
        mut errors_left: B::Set,
    ) -> Result<Option<RefusedExposure>, Halt> {
        let knew_fault = self.fault.is_some();
        if let Some(states) = self.run()? {
            return Ok(Some(RefusedExposure::Run(states)));
        }
        if self.fault.is_some() != knew_fault {
            return Ok(None);
        }
        let mut round =
            RefinementRound { violated_at: Some(violated_at), exposed: Vec::new(), layers: 0, because: None };
        let mut closed = self.options.stages == Stages::Last;
        loop {
            match self.expose(&errors_left, Granularity::Facts, &mut round)? {
                Exposing::New => return Ok(None),
                Exposing::NamesAnother => return Ok(Some(RefusedExposure::Stuck(Obstacle::NamesAnother))),
                Exposing::Nothing => {}
            }
            let join = self.local_sets(fixpoint)?;
            let before = self.backend.before(&errors_left, &as_join(&join))?;
            let layer = self.grow(&before)?;
            if self.backend.is_empty(&layer) {
                // An early stage can intersect the error set without the predecessors that matter: go on to the fixpoint, where
                // something is new if all processes see the whole shared store.
                if closed {
                    return Ok(match self.expose(&errors_left, Granularity::States, &mut round)? {
                        Exposing::New => None,
                        Exposing::NamesAnother => Some(RefusedExposure::Stuck(Obstacle::NamesAnother)),
                        Exposing::Nothing => Some(RefusedExposure::Stuck(Obstacle::NarrowViews)),
                    });
                }
                fixpoint.close(self.backend, self.options.budget)?;
                closed = true;
                let all = self.errors()?.all.clone();
                errors_left = self.within(&all, fixpoint)?;
                continue;
            }
            closed = self.options.stages == Stages::Last;
            round.layers += 1;
            let run = self.run()?;
            if run.is_some() || self.fault.is_some() != knew_fault {
                self.end_round(round);
                return Ok(run.map(RefusedExposure::Run));
            }
            errors_left = self.backend.union(&errors_left, &layer)?;
            self.options.budget.check(self.backend.memory_bytes())?;
        }
    }

    /// Exposes what distinguishes states of the set from others, and ends the round if it distinguishes any.
    fn expose(
        &mut self,
        errors_left: &B::Set,
        care: Granularity,
        round: &mut RefinementRound,
    ) -> Result<Exposing, StopReason> {
        loop {
            let Some(facts) = self.new_facts(errors_left, care, round)? else { return Ok(Exposing::NamesAnother) };
            if facts.is_empty() {
                return Ok(Exposing::Nothing);
            }
            self.offered.extend(facts.iter().cloned());
            if self.backend.expose(&facts)? {
                round.exposed = facts;
                self.end_round(round.clone());
                return Ok(Exposing::New);
            }
        }
    }

    fn end_round(&mut self, round: RefinementRound) {
        (self.report)(&round);
        self.rounds.push(round);
    }

    /// The error set as it is now.
    fn errors(&mut self) -> Result<&Errors<B::Set>, StopReason> {
        if self.errors.is_none() {
            let Deciding { decided, faulty } = self.backend.deciding(self.property)?;
            let all = if self.fault.is_some() { decided } else { self.backend.union(&decided, &faulty)? };
            let initial = self.backend.initial_states()?;
            self.errors = Some(Errors { layers: vec![all.clone()], all, initial });
        }
        Ok(self.errors.as_ref().expect("just made"))
    }

    /// Adds what is new as a layer, and returns it.
    fn grow(&mut self, before: &B::Set) -> Result<B::Set, StopReason> {
        let all = self.errors()?.all.clone();
        let layer = self.backend.minus(before, &all)?;
        if !self.backend.is_empty(&layer) {
            let all = self.backend.union(&all, &layer)?;
            let errors = self.errors.as_mut().expect("asked for above");
            errors.layers.push(layer.clone());
            errors.all = all;
        }
        Ok(layer)
    }

    /// The sets of all processes.
    fn local_sets(&mut self, fixpoint: &Fixpoint<'m, B::Set>) -> Result<Grouped<B::Set>, StopReason> {
        let all: Vec<ProcessId> = self.backend.model().processes.ids().collect();
        let set_of = |process| {
            let group = vec![process];
            let set = fixpoint.invariants.set_of(self.backend, &group, self.options.symmetry)?;
            Ok((group, set))
        };
        all.into_iter().map(set_of).collect()
    }

    /// The states of a set of whole states that all local sets allow.
    fn within(&mut self, states: &B::Set, fixpoint: &Fixpoint<'m, B::Set>) -> Result<B::Set, StopReason> {
        let join = self.local_sets(fixpoint)?;
        self.backend.within(states, &as_join(&join))
    }

    /// The facts, not yet exposed, that distinguish states of the set from states that are no errors; `None` where one of them
    /// cannot be exposed of the whole family.
    fn new_facts(
        &mut self,
        errors_left: &B::Set,
        care: Granularity,
        round: &mut RefinementRound,
    ) -> Result<Option<Vec<(ProcessId, LocalFact)>>, StopReason> {
        let enough = if self.options.symmetry.is_some() { ENOUGH_SYMMETRIC } else { ENOUGH };
        let all = self.errors()?.all.clone();
        let mut facts: Vec<(ProcessId, LocalFact)> = Vec::new();
        let mut rest = errors_left.clone();
        let mut n_seen = 0;
        while n_seen < enough || facts.is_empty() {
            let Some(state) = self.backend.sample(&rest) else { break };
            let prime = self.backend.prime_facts(&all, &state)?;
            rest = match care {
                Granularity::Facts => self.backend.minus(&rest, &prime.satisfying)?,
                Granularity::States => self.backend.minus(&rest, &prime.inside)?,
            };
            let Some(images) = self.for_whole_family(prime.facts) else { return Ok(None) };
            let is_new = |fact: &(ProcessId, LocalFact)| !self.offered.contains(fact) && !facts.contains(fact);
            let new: Vec<_> = images.into_iter().filter(is_new).collect();
            if !new.is_empty() && facts.is_empty() {
                let errors = self.errors()?.clone();
                let layer = errors.layers.iter().position(|layer| self.backend.contains(layer, &state));
                round.because = layer.map(|layer| (state, layer));
            }
            facts.extend(new);
            n_seen += 1;
            self.options.budget.check(self.backend.memory_bytes())?;
        }
        if self.options.symmetry.is_none() {
            facts.sort();
        }
        Ok(Some(facts))
    }

    /// The facts and, where processes are symmetric, the same about all others of the family; `None` for a fact that names another.
    fn for_whole_family(&self, facts: Vec<(ProcessId, LocalFact)>) -> Option<Vec<(ProcessId, LocalFact)>> {
        let Some(symmetry) = self.options.symmetry else { return Some(facts) };
        let model = self.backend.model();
        let mut images = Vec::new();
        for (process, fact) in facts {
            let names_other =
                |fact: &&LocalFact| matches!(fact, LocalFact::Cell(_, Value::Process(named)) if *named != process);
            if fact.plain().iter().any(names_other) {
                return None;
            }
            for other in model.families[model.processes[process].family].processes() {
                let permutation = symmetry.permutation(&[process], &[other]);
                let image = fact.map(&|plain| match plain {
                    LocalFact::Cell(cell, value) => {
                        LocalFact::Cell(symmetry.cell(&permutation, *cell), permutation.value(*value))
                    }
                    other => other.clone(),
                });
                if !images.contains(&(other, image.clone())) {
                    images.push((other, image));
                }
            }
        }
        Some(images)
    }

    /// A run from an initial state to one that decides the property, if the layers have one. Where they have one to a state in
    /// which the property has no value, such states are errors no more.
    fn run(&mut self) -> Result<Option<Vec<State>>, Halt> {
        loop {
            let Some(states) = self.run_to_error()? else { return Ok(None) };
            let last = states.last().expect("a run has a state");
            let Some(fault) = property_error(self.backend.model(), self.property, last) else {
                return Ok(Some(states));
            };
            (self.fault, self.errors) = (Some(fault), None);
        }
    }

    /// A run from an initial state through the layers, if one of them has one.
    fn run_to_error(&mut self) -> Result<Option<Vec<State>>, Halt> {
        let errors = self.errors()?.clone();
        let none_missing = self.backend.minus(&errors.initial, &errors.all)?;
        let starting = self.backend.minus(&errors.initial, &none_missing)?;
        let Some(start) = self.backend.sample(&starting) else { return Ok(None) };
        let mut run = vec![start];
        loop {
            let last = run.last().expect("a run has a state");
            let layer = (0..errors.layers.len()).find(|&at| self.backend.contains(&errors.layers[at], last));
            let Some(layer) = layer.filter(|&layer| layer > 0) else { return Ok(Some(run)) };
            let nearer = self.backend.successor_within(last, &errors.layers[..layer])?;
            let Some(next) = nearer else { return Err(no_predecessor().into()) };
            run.push(next);
        }
    }
}

/// A layer is made of predecessors of earlier ones.
fn no_predecessor() -> Contradiction {
    Contradiction::new(
        "each state of a layer has a step into an earlier one",
        "the reference semantics has no such step from a state of it",
    )
}

/// Sets with their groups.
type Grouped<S> = Vec<(Vec<ProcessId>, S)>;

fn as_join<S>(sets: &[(Vec<ProcessId>, S)]) -> Vec<(&[ProcessId], &S)> {
    sets.iter().map(|(group, set)| (group.as_slice(), set)).collect()
}
