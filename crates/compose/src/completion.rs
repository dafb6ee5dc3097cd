//! Completion: split invariants with exposed facts, until there is a proof or a real run (Cohen and Namjoshi, CAV 2007).
//!
//! In: a refinable backend and the questions of a property. Out: a proof, or a run to a state that answers one of them. Complete
//! for finite programs. Each round computes split invariants in stages and stops at the first stage that meets the error set. A
//! state in the error set that the local sets cannot exclude is generalised to a **prime implicant** over local variables (the
//! paper tests one variable at a time and gets stuck where two matter together), whose facts are exposed. Where nothing new can be
//! exposed, the error set grows by predecessors, layer by layer; it is kept from round to round.

use base::{Budget, StopReason};
use evidence::certificate::LocalFact;
use model::eval::{self, State};
use model::process::ProcessId;

use crate::backend::Refinable;
use crate::k_index::{Fixpoint, Invariants};
use crate::question::Question;

/// What completion ends with.
pub enum Completed<S> {
    /// The local sets of the last round exclude the error set.
    Proved {
        /// The sets, with the exposed facts of the backend.
        invariants: Invariants<S>,
        /// What happened on the way.
        rounds: Vec<Round>,
    },
    /// The states of a run to a state that answers a question.
    Run {
        /// From an initial state.
        states: Vec<State>,
        /// What happened on the way.
        rounds: Vec<Round>,
    },
}

/// One round of refinement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The first stage whose sets meet the error set; `None` in the last round of a proof.
    pub violated_at: Option<usize>,
    /// The facts exposed after it.
    pub exposed: Vec<(ProcessId, LocalFact)>,
    /// How many layers of predecessors were added to the error set.
    pub layers: usize,
}

/// How many states of the error set are generalised in each round once something new was found.
const ENOUGH: usize = 64;

/// Refines until there is a proof or a run.
pub fn complete<B: Refinable>(
    backend: &mut B,
    questions: &[Question],
    budget: &Budget,
    mut told: impl FnMut(&Round),
) -> Result<Completed<B::Set>, StopReason> {
    let mut errors = Errors { layers: vec![backend.bad(questions)?] };
    let initial = backend.initial_states()?;
    let mut rounds = Vec::new();
    loop {
        if let Some(states) = errors.run_from(backend, &initial)? {
            return Ok(Completed::Run { states, rounds });
        }
        let mut fixpoint = Fixpoint::new(backend, 1)?;
        let Some((violated_at, meeting)) = first_meeting(backend, &mut fixpoint, &mut errors, budget)? else {
            rounds.push(Round { violated_at: None, exposed: Vec::new(), layers: 0 });
            rounds.iter().last().into_iter().for_each(&mut told);
            return Ok(Completed::Proved { invariants: fixpoint.invariants, rounds });
        };
        let mut round = Round { violated_at: Some(violated_at), exposed: Vec::new(), layers: 0 };
        let (mut meeting, mut closed) = (meeting, false);
        loop {
            round.exposed = errors.new_facts(backend, &meeting)?;
            if backend.expose(&round.exposed)? {
                break;
            }
            let join = fixpoint.invariants.join();
            let before = backend.before(&meeting, &join)?;
            let layer = errors.grow(backend, &before)?;
            if backend.is_empty(&layer) {
                // An early stage can meet the error set without the predecessors that matter: go on to the fixpoint, where
                // either something is new or the theorem that completion rests on is wrong.
                if closed {
                    return Err(StopReason::NotSupported(String::from("completion found nothing left to expose")));
                }
                fixpoint.close(backend, budget)?;
                closed = true;
                let all = errors.all(backend)?;
                meeting = backend.within(&all, &fixpoint.invariants.join())?;
                continue;
            }
            closed = false;
            round.layers += 1;
            if let Some(states) = errors.run_from(backend, &initial)? {
                rounds.push(round);
                return Ok(Completed::Run { states, rounds });
            }
            meeting = backend.union(&meeting, &layer)?;
            budget.check(backend.memory_bytes())?;
        }
        told(&round);
        rounds.push(round);
    }
}

/// Takes stages until one meets the error set; its number and the states in which it does.
fn first_meeting<B: Refinable>(
    backend: &mut B,
    fixpoint: &mut Fixpoint<B::Set>,
    errors: &mut Errors<B::Set>,
    budget: &Budget,
) -> Result<Option<(usize, B::Set)>, StopReason> {
    let all = errors.all(backend)?;
    loop {
        let meeting = backend.within(&all, &fixpoint.invariants.join())?;
        if !backend.is_empty(&meeting) {
            return Ok(Some((fixpoint.n_stages, meeting)));
        }
        if !fixpoint.stage(backend, budget, false)? {
            return Ok(None);
        }
    }
}

/// The states that are errors, or lead to one: first the errors, then layer by layer their predecessors.
struct Errors<S> {
    layers: Vec<S>,
}

impl<S: Clone> Errors<S> {
    fn all<B: Refinable<Set = S>>(&self, backend: &mut B) -> Result<S, StopReason> {
        let empty = backend.empty();
        self.layers.iter().try_fold(empty, |all, layer| backend.union(&all, layer))
    }

    /// Adds what is new as a layer, and returns it.
    fn grow<B: Refinable<Set = S>>(&mut self, backend: &mut B, before: &S) -> Result<S, StopReason> {
        let all = self.all(backend)?;
        let layer = backend.minus(before, &all)?;
        if !backend.is_empty(&layer) {
            self.layers.push(layer.clone());
        }
        Ok(layer)
    }

    /// The facts that tell states of the set apart from states that are no errors.
    fn new_facts<B: Refinable<Set = S>>(
        &self,
        backend: &mut B,
        meeting: &S,
    ) -> Result<Vec<(ProcessId, LocalFact)>, StopReason> {
        let all = self.all(backend)?;
        let known = backend.exposed();
        let mut facts: Vec<(ProcessId, LocalFact)> = Vec::new();
        let mut rest = meeting.clone();
        let mut n_seen = 0;
        // Not one new fact: then every state counts, which is what makes completion complete.
        while n_seen < ENOUGH || facts.iter().all(|fact| known.contains(fact)) {
            let Some(state) = backend.sample(&rest) else { break };
            let prime = backend.prime_facts(&all, &state)?;
            rest = backend.excluding(&rest, &prime, &state)?;
            facts.extend(prime);
            n_seen += 1;
        }
        facts.sort();
        facts.dedup();
        facts.retain(|fact| !known.contains(fact));
        Ok(facts)
    }

    /// A run from an initial state through the layers, if one of them has one.
    fn run_from<B: Refinable<Set = S>>(&self, backend: &mut B, initial: &S) -> Result<Option<Vec<State>>, StopReason> {
        let all = self.all(backend)?;
        let none_missing = backend.minus(initial, &all)?;
        let starting = backend.minus(initial, &none_missing)?;
        let Some(start) = backend.sample(&starting) else { return Ok(None) };
        let mut run = vec![start];
        loop {
            let last = run.last().expect("a run has a state");
            let layer = (0..self.layers.len()).find(|&at| backend.contains(&self.layers[at], last));
            let Some(layer) = layer.filter(|&layer| layer > 0) else { return Ok(Some(run)) };
            let successors = eval::steps(backend.model(), last).into_iter().filter_map(|step| step.result.ok());
            let nearer =
                successors.into_iter().find(|next| (0..layer).any(|at| backend.contains(&self.layers[at], next)));
            // A layer is made of predecessors of earlier ones; should the reference semantics disagree, `audit` refuses the run.
            let Some(next) = nearer else { return Ok(Some(run)) };
            run.push(next);
        }
    }
}
