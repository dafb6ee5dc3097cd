//! What to expose when an abstract run is not a run of the program (Cohen, Namjoshi and Sa'ar, CAV 2010, Figure 6).
//!
//! In: an abstract run, and the run of the program that follows it where there is one. Out: facts that distinguish local states which
//! the run mixed up. A may turn, which only some local states of its mover allow: the fact says which. A fairness assumption that the
//! abstract run satisfies, because some local states allow it, and the real one does not: the fact says which do, the other
//! processes being as they are (the *cofactor*). Each time some block of local states is split, so there is an end.

use std::collections::BTreeMap;
use std::ops::Range;

use base::{Feature, StopReason};
use evidence::certificate::LocalFact;
use model::eval::{self, State};
use model::fairness::{EdgePredicate, StatePredicate};
use model::process::ProcessId;

use super::backend::{AbstractPoint, AbstractRun, FairBackend};
use super::conditions::{AssumptionPair, Conditions};
use super::facts::separating_fact;
use super::locals::{LocalState, Locals};
use super::may::May;
use super::unroll::Unrolled;

/// Facts about processes.
pub type ProcessFacts = Vec<(ProcessId, LocalFact)>;

/// A predicate whose processes have more combinations of local states than this is not searched for a witness.
const MOST_COMBINATIONS: usize = 1 << 20;

/// Local states of partners in rendezvous with more combinations than this are not tried.
const MOST_TRIED: usize = 1 << 12;

/// What refinement starts from.
pub struct Refinement<'r, 'm, B> {
    /// The sets.
    pub backend: &'r mut B,
    /// What the property demands.
    pub conditions: &'r Conditions<'m>,
    /// Local states.
    pub locals: &'r Locals<'m>,
}

impl<B: FairBackend> Refinement<'_, '_, B> {
    /// Facts for the turns of the loop that are no must transitions; if there are none, for those on the way to it. A loop that is not real is
    /// excluded wherever it is entered, while facts about the way there may be many and of no use.
    pub fn of_turns(&mut self, run: &AbstractRun) -> Result<ProcessFacts, StopReason> {
        let facts = self.of_turns_at(run, run.loop_from..run.turns.len())?;
        if facts.is_empty() { self.of_turns_at(run, 0..run.loop_from) } else { Ok(facts) }
    }

    fn of_turns_at(&mut self, run: &AbstractRun, positions: Range<usize>) -> Result<ProcessFacts, StopReason> {
        let mut facts = ProcessFacts::new();
        for at in positions.filter(|&at| !run.turns[at].is_must) {
            let turn = &run.turns[at];
            if turn.partner.is_some() || turn.own.is_some() {
                self.of_joint_turn(run, at)?.into_iter().for_each(|fact| add(&mut facts, fact));
                continue;
            }
            let (point, next) = (&run.points[at], &run.points[run.after(at)]);
            let (mut can, mut cannot) = (Vec::new(), Vec::new());
            for local in self.backend.locals_at(turn.mover, point)? {
                let (mover, satisfied) = (turn.mover, turn.satisfied.as_slice());
                if self.allows((mover, satisfied), &local, (point, next)) {
                    can.push(local)
                } else {
                    cannot.push(local)
                }
            }
            if can.is_empty() || cannot.is_empty() {
                self.of_stutter(run, at)?.into_iter().for_each(|fact| add(&mut facts, fact));
                continue;
            }
            let (before, rest) = self.leading_to(turn.mover, &cannot, &can, point);
            if !before.is_empty() && !rest.is_empty() {
                let inside: Vec<LocalState> = before.into_iter().chain(cannot.iter().cloned()).collect();
                add(&mut facts, (turn.mover, separating_fact(self.locals, turn.mover, &inside, &rest)));
            }
            add(&mut facts, (turn.mover, separating_fact(self.locals, turn.mover, &cannot, &can)));
        }
        Ok(facts)
    }

    /// Of the second local states those from which steps of the mover alone lead to the first ones without a change of the store, and the others.
    ///
    /// A process that is about to block a turn is exposed together with one that blocks it already: of `crit; leave: release x` not only the one at
    /// `leave` but any that holds `x`, without which any number of processes might.
    fn leading_to(
        &self,
        mover: ProcessId,
        to: &[LocalState],
        from: &[LocalState],
        point: &AbstractPoint,
    ) -> (Vec<LocalState>, Vec<LocalState>) {
        let mut reached: Vec<LocalState> = to.to_vec();
        let mut rest: Vec<(LocalState, Vec<LocalState>)> = Vec::new();
        for local in from {
            let state = self.locals.with_others_ended(&point.state, &[(mover, local.clone())]);
            let turns = self.locals.turns_of(mover, &state, None);
            let stay = turns.iter().filter(|(_, after)| self.locals.same_store(after, &state));
            rest.push((local.clone(), stay.map(|(_, after)| self.locals.read(mover, after)).collect()));
        }
        loop {
            let leads = |(_, after): &(LocalState, Vec<LocalState>)| after.iter().any(|next| reached.contains(next));
            let (found, left): (Vec<_>, Vec<_>) = rest.into_iter().partition(leads);
            rest = left;
            if found.is_empty() {
                break;
            }
            reached.extend(found.into_iter().map(|(local, _)| local));
        }
        (reached.split_off(to.len()), rest.into_iter().map(|(local, _)| local).collect())
    }

    /// Whether a local state of the mover allows a turn from one store to another.
    fn allows(
        &self,
        (mover, satisfied): (ProcessId, &[usize]),
        local: &LocalState,
        (point, next): (&AbstractPoint, &AbstractPoint),
    ) -> bool {
        let state = self.locals.with_others_ended(&point.state, &[(mover, local.clone())]);
        self.locals.turns_of(mover, &state, Some(&next.state)).iter().any(|(turn, after)| {
            let block = self.backend.block_of(mover, &self.locals.read(mover, after));
            block == next.blocks[mover.index()]
                && self.locals.same_store(after, &next.state)
                && self.conditions.satisfied_by(turn) == satisfied
        })
    }

    /// Whether the run of the program satisfies some set of assumptions of the property; one without a value is not satisfied.
    ///
    /// # Errors
    /// Where no set is satisfied, and an assumption has no value.
    pub fn is_fair(&self, run: &Unrolled) -> Result<bool, StopReason> {
        let mut without_value = None;
        for set in &self.conditions.property.under.any_of {
            let mut pairs = self.conditions.pairs.iter().filter(|pair| set.contains(&pair.id));
            match pairs.try_fold(true, |all, pair| Ok::<bool, StopReason>(all && self.satisfies(run, pair)?)) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(reason) => without_value = Some(reason),
            }
        }
        without_value.map_or(Ok(false), Err)
    }

    /// Whether the loop of a run satisfies an assumption, which has to have a value in each of its states.
    fn satisfies(&self, run: &Unrolled, pair: &AssumptionPair) -> Result<bool, StopReason> {
        let (model, declared) = (self.locals.model, &self.conditions.model.fairness[pair.id]);
        let (mut always, mut again) = (declared.always.is_some(), false);
        for at in run.loop_from..run.turns.len() {
            for often in &declared.often {
                again |= eval::is_true_of(model, &run.states[at], &run.turns[at], often).map_err(fault)?;
            }
            if let Some(predicate) = &declared.always {
                always &= eval::holds(model, &run.states[at], predicate).map_err(fault)?;
            }
        }
        Ok(always || again)
    }

    /// A fact for each assumption that the abstract run satisfies and the run of the program does not.
    pub fn of_fairness(
        &mut self,
        run: &AbstractRun,
        real: &Unrolled,
        pairs: &[usize],
    ) -> Result<ProcessFacts, StopReason> {
        let mut facts = ProcessFacts::new();
        for &at in pairs {
            let pair = self.conditions.pairs[at].clone();
            if !self.satisfies(real, &pair)? {
                facts.extend(self.of_pair(run, real, &pair)?);
            }
        }
        Ok(facts)
    }

    fn of_pair(
        &mut self,
        run: &AbstractRun,
        real: &Unrolled,
        pair: &AssumptionPair,
    ) -> Result<Option<(ProcessId, LocalFact)>, StopReason> {
        let declared = self.conditions.model.fairness[pair.id].clone();
        let before = declared.often.iter().filter_map(|often| match often {
            EdgePredicate::Before(predicate) => Some(predicate),
            _ => None,
        });
        let asked: Vec<(&StatePredicate, &May)> =
            before.zip(&pair.before).chain(declared.always.as_ref().zip(pair.always.as_ref())).collect();
        for (predicate, may) in asked {
            for at in real.loop_from..real.turns.len() {
                let state = &real.states[at];
                if eval::holds(self.locals.model, state, predicate).map_err(fault)? {
                    continue;
                }
                let point = &run.points[real.positions[at]];
                if let Some(witness) = self.witness(may, (run.focus, state), point)?
                    && let Some(fact) = self.cofactor(predicate, state, (&witness, point))?
                {
                    return Ok(Some(fact));
                }
            }
        }
        Ok(None)
    }

    /// Local states of processes other than the focus that, at this store, make a predicate true, if there are any.
    fn witness(
        &mut self,
        may: &May,
        (focus, state): (ProcessId, &State),
        point: &AbstractPoint,
    ) -> Result<Option<BTreeMap<ProcessId, LocalState>>, StopReason> {
        match may {
            May::All(parts) => {
                let mut all = BTreeMap::new();
                for part in parts {
                    let Some(one) = self.witness(part, (focus, state), point)? else { return Ok(None) };
                    all.extend(one);
                }
                Ok(Some(all))
            }
            May::Any(parts) => {
                for part in parts {
                    if let Some(one) = self.witness(part, (focus, state), point)? {
                        return Ok(Some(one));
                    }
                }
                Ok(None)
            }
            May::Unable(process, labels) => {
                let predicate = StatePredicate::Unable(*process, labels.clone());
                let mut processes = self.partners(*process);
                processes.push(*process);
                self.enabledness(&predicate, &processes, (focus, state), point)
            }
            May::NobodyAble(processes) => {
                self.enabledness(&StatePredicate::NobodyAble, processes, (focus, state), point)
            }
            May::Truth { expr, wanted, processes, .. } => {
                let predicate = match wanted {
                    true => StatePredicate::Holds(expr.clone()),
                    false => StatePredicate::Fails(expr.clone()),
                };
                self.combination(&predicate, processes, (focus, state), point)
            }
        }
    }

    /// The same for what processes can do. Where partners in rendezvous make this too much, there are other facts to expose.
    fn enabledness(
        &mut self,
        predicate: &StatePredicate,
        processes: &[ProcessId],
        (focus, state): (ProcessId, &State),
        point: &AbstractPoint,
    ) -> Result<Option<BTreeMap<ProcessId, LocalState>>, StopReason> {
        let mut n_combinations = 1_usize;
        for &process in processes.iter().filter(|&&process| process != focus) {
            n_combinations = n_combinations.saturating_mul(self.backend.locals_at(process, point)?.len());
        }
        if processes.len() > 1 && n_combinations > MOST_TRIED {
            return Ok(None);
        }
        self.combination(predicate, processes, (focus, state), point)
    }

    /// Tries all combinations of local states of some processes.
    fn combination(
        &mut self,
        predicate: &StatePredicate,
        processes: &[ProcessId],
        (focus, state): (ProcessId, &State),
        point: &AbstractPoint,
    ) -> Result<Option<BTreeMap<ProcessId, LocalState>>, StopReason> {
        let mut choices: Vec<(ProcessId, Vec<LocalState>)> = Vec::new();
        for &process in processes.iter().filter(|&&process| process != focus) {
            choices.push((process, self.backend.locals_at(process, point)?));
        }
        let n_combinations = choices.iter().fold(1_usize, |product, (_, list)| product.saturating_mul(list.len()));
        if n_combinations > MOST_COMBINATIONS {
            return Err(Feature::WideFairness.into());
        }
        for mut nth in 0..n_combinations {
            let mut trial = state.clone();
            let mut chosen = BTreeMap::new();
            for (process, list) in &choices {
                let local = &list[nth % list.len()];
                nth /= list.len();
                self.locals.write(*process, local, &mut trial);
                chosen.insert(*process, local.clone());
            }
            if eval::holds(self.locals.model, &trial, predicate).map_err(fault)? {
                return Ok(Some(chosen));
            }
        }
        Ok(None)
    }

    /// Goes from the real state, where the predicate is false, to the witness, where it is true, process by process. Where it becomes
    /// true, the local states of that process are distinguished.
    fn cofactor(
        &mut self,
        predicate: &StatePredicate,
        state: &State,
        (witness, point): (&BTreeMap<ProcessId, LocalState>, &AbstractPoint),
    ) -> Result<Option<(ProcessId, LocalFact)>, StopReason> {
        let model = self.locals.model;
        let mut mixed = state.clone();
        for (&process, local) in witness {
            let before = mixed.clone();
            self.locals.write(process, local, &mut mixed);
            if !eval::holds(model, &mixed, predicate).map_err(fault)? {
                continue;
            }
            let (mut inside, mut outside) = (Vec::new(), Vec::new());
            for local in self.backend.locals_at(process, point)? {
                let mut trial = before.clone();
                self.locals.write(process, &local, &mut trial);
                if eval::holds(model, &trial, predicate).map_err(fault)? {
                    inside.push(local)
                } else {
                    outside.push(local)
                }
            }
            if inside.is_empty() || outside.is_empty() {
                return Ok(None);
            }
            return Ok(Some((process, separating_fact(self.locals, process, &inside, &outside))));
        }
        Ok(None)
    }
}

fn add(facts: &mut ProcessFacts, fact: (ProcessId, LocalFact)) {
    if !facts.contains(&fact) {
        facts.push(fact);
    }
}

fn fault(fault: eval::StepFault) -> StopReason {
    StopReason::PropertyError(format!("evaluating a fairness assumption fails: {}", fault.fault))
}
