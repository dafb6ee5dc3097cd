//! Path edges, callers and guarantees checked: every obligation of `evidence::pushdown`, on `eval` alone.
//!
//! In: a Model, a property, a proof. Out: how many obligations hold, or the first that does not. One sweep goes through the local states
//! of each process: `shape` says whether the proof is one at all, `thread` looks things up in it, `steps` takes a local state's steps
//! with each frame to which it can return, `implication` asks what the local states together imply. What a step reads beside what the
//! process is said to see is a reason to refuse.

mod implication;
mod shape;
mod steps;
mod thread;

use base::Budget;
use evidence::certificate::DischargedObligations;
use evidence::implied::Implied;
use evidence::pushdown::{LocalRow, PushdownProof, StoreRow};
use model::Model;
use model::eval::initial_states;
use model::property::PropertyKind;
use model::variable::CellId;
use rustc_hash::FxHashMap;

use super::initial::for_each_start;
use super::listing::table::Meter;
use super::numbering::number_of;
use super::{CertificateError, Outcome, words};
use steps::{Outcomes, StepKind, Stepper};
use thread::Thread;

/// Checks every obligation; without a property, and what of it follows from which processes, all but the implication.
pub(super) fn check(
    model: &Model,
    implied: Option<(&PropertyKind, &[Implied])>,
    proof: &PushdownProof,
    budget: &Budget,
) -> Outcome<DischargedObligations> {
    shape::check(model, proof)?;
    let threads: Vec<Thread<'_>> =
        model.processes.ids().map(|process| Thread::new(model, process, proof)).collect::<Outcome<_>>()?;
    let mut checker = Checker {
        model,
        proof,
        property: implied.map(|(property, _)| property),
        threads,
        abilities: Vec::new(),
        discharged: DischargedObligations::default(),
        meter: Meter::new(budget),
    };
    for at in 0..checker.threads.len() {
        checker.initiality(at)?;
        checker.steps(at)?;
        checker.non_interference(at)?;
    }
    if let Some((property, implies)) = implied {
        checker.implication(property, implies, budget)?;
    }
    budget.check(0)?;
    Ok(checker.discharged)
}

/// The sweep.
struct Checker<'a> {
    model: &'a Model,
    proof: &'a PushdownProof,
    property: Option<&'a PropertyKind>,
    threads: Vec<Thread<'a>>,
    /// By process and local state: what it can do, as far as the property asks.
    abilities: Vec<Vec<Ability>>,
    discharged: DischargedObligations,
    meter: Meter<'a>,
}

/// What a local state can do, with any of its frames below.
#[derive(Clone, Debug, Default)]
struct Ability {
    /// It has a step.
    moves: bool,
    /// The cells that its steps touch, and whether they write them; only where races are asked about.
    touches: Vec<(CellId, bool)>,
}

impl Checker<'_> {
    /// Every initial state, as a process sees it, is in the activation of its own text.
    fn initiality(&mut self, at: usize) -> Outcome<()> {
        let thread = &self.threads[at];
        let first = initial_states(self.model).next().expect("a program has an initial state");
        let mut cells: Vec<CellId> = thread.proof.cells.clone();
        cells.extend(thread.fact_cells());
        cells.sort_unstable();
        cells.dedup();
        let (mut n_starts, mut refusal) = (0, None);
        let result = for_each_start(self.model, &first, &cells, &mut |state| {
            n_starts += 1;
            let row = thread.start_row(self.proof, state);
            let known = row.as_ref().and_then(|row| thread.position(row));
            if known.is_none_or(|known| !thread.met_in[known as usize].contains(&0)) {
                let finding = match &row {
                    Some(row) => format!("{} is not", thread.show(row)),
                    None => "its first frame is not listed".to_owned(),
                };
                refusal = Some(finding);
                return Err(String::new());
            }
            Ok(())
        });
        self.discharged.initiality += n_starts;
        match (result, refusal) {
            (Ok(()), _) => Ok(()),
            (Err(_), finding) => {
                let name = &self.model.processes[thread.process].name;
                let obligation = format!("the initial states of {name} have to be among its local states");
                words::refused(obligation, finding.unwrap_or_default())
            }
        }
    }

    /// Steps lead into the same activation, calls into one that knows its caller, returns back to the callers.
    fn steps(&mut self, at: usize) -> Outcome<()> {
        let mut stepper = Stepper::new(self.model, &self.threads[at]);
        let mut abilities = Vec::new();
        for state in 0..self.threads[at].proof.states.len() as u32 {
            self.meter.step(0)?;
            let mut ability = Ability::default();
            let frames = self.threads[at].frames_below(state);
            for frame in frames {
                let outcomes = stepper.outcomes(&self.threads[at], state, frame)?;
                self.judge(at, (state, frame), &outcomes, &mut ability)?;
            }
            abilities.push(ability);
        }
        self.abilities.push(abilities);
        Ok(())
    }

    /// Whether all that comes of a local state above a frame is where it should be.
    fn judge(
        &mut self,
        at: usize,
        (state, frame): (u32, Option<u32>),
        outcomes: &Outcomes,
        ability: &mut Ability,
    ) -> Outcome<()> {
        let thread = &self.threads[at];
        let from = &thread.proof.states[state as usize];
        ability.moves |= outcomes.moves;
        if let Some(PropertyKind::RaceFree(var)) = self.property {
            let of_var = |touch: &&(CellId, bool)| self.model.cells[touch.0].var == *var;
            for &touch in outcomes.touches.iter().filter(of_var) {
                if !ability.touches.contains(&touch) {
                    ability.touches.push(touch);
                }
            }
        }
        if let (Some(PropertyKind::NoErrors), Some((step, fault))) = (self.property, outcomes.faults.first()) {
            self.discharged.implication += 1;
            let finding = format!("{step} fails ({fault}) in {}", thread.show(from));
            return words::refused("no step may fail", finding);
        }
        for step in &outcomes.steps {
            self.discharged.step += 1;
            let refuse = |finding: &str| {
                let name = &self.model.processes[thread.process].name;
                let obligation = format!("the step `{}` of {name} has to lead into its local states", step.text);
                words::refused(obligation, format!("from {} {finding}", thread.show(from)))
            };
            let Some(row) = thread.after(from, step) else { return refuse("it leads to a frame that is not listed") };
            let Some(to) = thread.position(&row) else {
                return refuse(&format!("it leads to {}", thread.show(&row)));
            };
            if !thread.guarantees(from, &row) {
                return refuse("it changes what others see, which the guarantee does not list");
            }
            let into_all_of = |from: u32| is_subset(&thread.met_in[from as usize], &thread.met_in[to as usize]);
            match &step.kind {
                StepKind::Plain if into_all_of(state) => {}
                StepKind::Plain => return refuse("it leaves the activation"),
                StepKind::Call(waiting) => {
                    let waiting = thread.waiting_position(waiting);
                    let activation = thread.starts.get(&to).map(|&one| &thread.proof.activations[one as usize]);
                    let known = activation.zip(waiting).is_some_and(|(activation, waiting)| {
                        activation.states.binary_search(&to).is_ok() && activation.callers.contains(&(state, waiting))
                    });
                    if !known {
                        return refuse("no activation knows it as a caller");
                    }
                }
                StepKind::Return => {
                    for &activation in &thread.met_in[state as usize] {
                        let callers = &thread.proof.activations[activation as usize].callers;
                        for &(caller, _) in callers.iter().filter(|(_, waiting)| Some(*waiting) == frame) {
                            if !into_all_of(caller) {
                                return refuse("it does not come back to where it was called from");
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What others guarantee to do at most leads from local state to local state of the same activation.
    fn non_interference(&mut self, at: usize) -> Outcome<()> {
        let thread = &self.threads[at];
        for (other, mover) in self.threads.iter().enumerate().filter(|(other, _)| *other != at) {
            // Positions of the common cells, here and in the guarantee.
            let common: Vec<(usize, usize)> = (mover.proof.store.iter().enumerate())
                .filter_map(|(theirs, cell)| Some((*thread.positions.get(cell)?, theirs)))
                .collect();
            let part = |row: &StoreRow| (common.iter().map(|&(_, theirs)| row.cells[theirs]).collect(), row.exposed);
            let mut moves: FxHashMap<Part, Vec<Part>> = FxHashMap::default();
            for (before, after) in &mover.proof.guarantee {
                let (before, after): (Part, Part) = (part(before), part(after));
                if before != after {
                    let known = moves.entry(before).or_default();
                    if !known.contains(&after) {
                        known.push(after);
                    }
                }
            }
            for (state, row) in thread.proof.states.iter().enumerate() {
                let seen: Vec<u32> = common.iter().map(|&(ours, _)| row.cells[ours]).collect();
                for (cells, exposed) in moves.get(&(seen, row.exposed)).into_iter().flatten() {
                    self.discharged.non_interference += 1;
                    self.meter.step(0)?;
                    let mut after = LocalRow { exposed: *exposed, ..row.clone() };
                    common.iter().zip(cells).for_each(|(&(ours, _), &number)| after.cells[ours] = number);
                    let to = thread.position(&after);
                    if to.is_none_or(|to| !is_subset(&thread.met_in[state], &thread.met_in[to as usize])) {
                        let (name, by) = (&self.model.processes[thread.process].name, ProcessName(self.model, other));
                        let obligation =
                            format!("the local states of {name} have to bear what {} guarantees", by.get());
                        let finding = format!(
                            "from {} it leads to {}, which is not in the same activation",
                            thread.show(row),
                            thread.show(&after)
                        );
                        return words::refused(obligation, finding);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The part of a store that two processes see, and what is exposed.
type Part = (Vec<u32>, u64);

/// The name of a process by its position.
struct ProcessName<'m>(&'m Model, usize);

impl ProcessName<'_> {
    fn get(&self) -> &str {
        &self.0.processes[model::process::ProcessId::new(self.1)].name
    }
}

/// Whether an ascending list has all of another.
fn is_subset(part: &[u32], whole: &[u32]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|number| rest.any(|other| other == number))
}

/// A proof that is none, and why.
fn malformed<T>(what: impl Into<String>) -> Outcome<T> {
    Err(CertificateError::Malformed(what.into()))
}

/// The number of a cell's value in a state.
fn number_in(model: &Model, state: &model::eval::State, cell: CellId) -> u32 {
    number_of(model, cell, state.cells[cell.index()])
}
