//! The rule of split invariants, word by word, for small ones: what a checker of certificates is compared with.
//!
//! In: a well-formed split invariant and a property. Out: whether every obligation of `evidence::certificate` holds, found by
//! trying every combination of one view state of each member, and every value of each cell of which it says nothing. The
//! implication is tried on combinations for *all* processes, which asks less than clauses about a few of them.

use evidence::certificate::{Column, ControlPoint, LocalFact, SplitInvariant};
use model::Model;
use model::eval::{State, evaluate, initial_states, is_deadlock, n_initial_states, race, steps};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::{CellId, Storage};

use super::meaning::meaning;
use super::{Combination, DefinedSets, LocalDefinition, ViewPart, join, participants, point, subsets, union};

/// The rule for one invariant. Where there are more than `limit` cases to try at once, the answer is `None`.
pub struct ClosureDefinition<'a> {
    model: &'a Model,
    invariant: &'a SplitInvariant,
    sets: DefinedSets,
    limit: usize,
    /// Fills states in.
    local: LocalDefinition<'a>,
}

impl<'a> ClosureDefinition<'a> {
    /// The rule for a well-formed invariant.
    pub fn new(model: &'a Model, invariant: &'a SplitInvariant, limit: usize) -> Self {
        ClosureDefinition {
            model,
            invariant,
            sets: meaning(model, invariant),
            limit,
            local: LocalDefinition::new(model, 1),
        }
    }

    /// Initiality, step and non-interference.
    pub fn is_invariant(&self) -> Option<bool> {
        Some(self.initiality()? && self.induction()?)
    }

    fn initiality(&self) -> Option<bool> {
        (n_initial_states(self.model) <= self.limit as u128).then_some(())?;
        let inside =
            |state: &State| self.sets.keys().all(|member| self.sets[member].contains(&self.project(state, member)));
        Some(initial_states(self.model).all(|state| inside(&state)))
    }

    fn induction(&self) -> Option<bool> {
        for member in self.sets.keys() {
            for movers in self.local.movers() {
                let both = union(member, &movers);
                for combination in self.combinations(&both)? {
                    for state in self.fillings(&combination)? {
                        for step in
                            steps(self.model, &state).into_iter().filter(|step| participants(&step.by) == movers)
                        {
                            let Ok(after) = step.result else { continue };
                            let mut seen = self.project(&after, member);
                            // Of processes that do not take part only the block is known, and it stays.
                            for (column, part) in seen.iter_mut() {
                                if let Column::Exposed(process) = column
                                    && !both.contains(process)
                                {
                                    *part = combination[column].clone();
                                }
                            }
                            if !self.sets[member].contains(&seen) {
                                return Some(false);
                            }
                        }
                    }
                }
            }
        }
        Some(true)
    }

    /// The implication, for combinations of all processes.
    pub fn implies(&self, property: &PropertyKind) -> Option<bool> {
        let everybody: Vec<ProcessId> = self.model.processes.ids().collect();
        for combination in self.combinations(&everybody)? {
            for state in self.fillings(&combination)? {
                let holds = match property {
                    PropertyKind::Invariant(expr) => evaluate(self.model, &state, expr, None) == Ok(Value::Bool(true)),
                    PropertyKind::Reachable(expr) => evaluate(self.model, &state, expr, None) == Ok(Value::Bool(false)),
                    PropertyKind::NoErrors => steps(self.model, &state).iter().all(|step| step.result.is_ok()),
                    PropertyKind::DeadlockFree => !is_deadlock(self.model, &state),
                    PropertyKind::RaceFree(var) => race(self.model, &state, *var).is_none(),
                    PropertyKind::Temporal(_) => false,
                };
                if !holds {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// One view state of each member of these processes, where they agree, also with what these processes expose.
    fn combinations(&self, processes: &[ProcessId]) -> Option<Vec<Combination>> {
        let mut joined = vec![Combination::new()];
        for member in subsets(processes, self.invariant.k) {
            joined = join(&joined, &self.sets[&member], self.limit)?;
        }
        let exposes_itself = |combination: &Combination| {
            let state = self.base(combination);
            processes.iter().all(|&process| {
                let block = ViewPart::Block(self.block(&state, process));
                combination.get(&Column::Exposed(process)).is_none_or(|claimed| *claimed == block)
                    && self.is_listed(&state, process)
            })
        };
        joined.retain(exposes_itself);
        Some(joined)
    }

    /// Whole states with these values: one for each way to fill the cells of which nothing is said. Processes of which nothing
    /// is said have ended.
    fn fillings(&self, combination: &Combination) -> Option<Vec<State>> {
        let is_open = |cell: &CellId| {
            let storage = self.model.vars[self.model.cells[*cell].var].storage;
            !combination.contains_key(&Column::Cell(*cell)) && matches!(storage, Storage::Shared | Storage::Public(_))
        };
        let mut states = vec![self.base(combination)];
        for cell in self.model.cells.ids().filter(is_open) {
            let values: Vec<Value> = self.model.cells[cell].ty.values(self.model.type_context()).collect();
            let filled = states.iter().flat_map(|state| {
                values.iter().map(|&value| {
                    let mut state = state.clone();
                    state.cells[cell.index()] = value;
                    state
                })
            });
            states = filled.collect();
            (states.len() <= self.limit).then_some(())?;
        }
        Some(states)
    }

    fn base(&self, combination: &Combination) -> State {
        self.local.fill(combination)
    }

    fn project(&self, state: &State, member: &[ProcessId]) -> Combination {
        let Some(first) = self.sets[member].first() else { return Combination::new() };
        let part = |&column: &Column| match column {
            Column::Cell(cell) => ViewPart::Value(state.cells[cell.index()]),
            Column::Control(process) => ViewPart::Point(self.sorted_point(state, process)),
            Column::Exposed(process) => ViewPart::Block(self.block(state, process)),
        };
        first.keys().map(|column| (*column, part(column))).collect()
    }

    fn sorted_point(&self, state: &State, process: ProcessId) -> ControlPoint {
        let mut point = point(self.model, state, process);
        point.counters.sort_unstable();
        point
    }

    fn block(&self, state: &State, process: ProcessId) -> Vec<bool> {
        let here = self.sorted_point(state, process);
        let holds = |fact: &LocalFact| match fact {
            LocalFact::Control(points) => points.iter().any(|&at| {
                let mut point = self.invariant.points[process.index()][at].clone();
                point.counters.sort_unstable();
                point == here
            }),
            LocalFact::Cell(cell, value) => state.cells[cell.index()] == *value,
            LocalFact::OneOf(_) => unreachable!("a plain fact is none of several"),
        };
        self.invariant.exposed[process.index()].facts.iter().map(|fact| fact.holds(&holds)).collect()
    }

    /// Whether the block of the process's local state is in the list.
    fn is_listed(&self, state: &State, process: ProcessId) -> bool {
        let exposed = &self.invariant.exposed[process.index()];
        exposed.facts.is_empty() || exposed.blocks.contains(&self.block(state, process))
    }
}
