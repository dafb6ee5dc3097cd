//! A search for a real run in which only a few processes take steps.
//!
//! In: a question that local sets leave open. Out: a run to a state that answers it, if two or three processes can get there
//! while all others stay where they start. Most mistakes of protocols need no more, however many processes there are. A run
//! that is found is real, every step being one of `model::eval`; that none is found says nothing.

use std::collections::HashMap;

use base::{Budget, StopReason};
use evidence::Trace;
use evidence::trace::trace_through;
use model::Model;
use model::eval::{self, Move, State, Touch, Viewpoint};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::VarId;

use crate::k_index::groups;
use crate::question::{Pattern, Question};

/// A set of movers with so many visited states is given up.
const MOST_STATES: usize = 5_000;

/// So many initial states are tried.
const MOST_STARTS: usize = 64;

/// So many sets of movers are tried.
const MOST_MOVER_SETS: usize = 8;

/// No more processes take steps.
const LARGEST: usize = 3;

/// A run of a few processes to a state that answers the question and decides the property, if a short search finds one.
///
/// # Errors
/// A limit that was reached.
pub fn find_run(
    model: &Model,
    property: &PropertyKind,
    question: &Question,
    budget: &Budget,
) -> Result<Option<Trace>, StopReason> {
    for movers in mover_sets(model, question) {
        let mut search = FewMovers { model, property, question, movers, found: Vec::new(), known: HashMap::new() };
        if let Some(trace) = search.run(budget)? {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

/// The processes that may take steps: those of the question, then one more.
fn mover_sets(model: &Model, question: &Question) -> Vec<Vec<ProcessId>> {
    let all_processes: Vec<ProcessId> = model.processes.ids().collect();
    let asked: Vec<ProcessId> = match question.pattern {
        Pattern::Fault(process) => vec![process],
        _ => question.processes.clone(),
    };
    // The first processes of each family represent the others well enough.
    let first = |process: &&ProcessId| {
        let family = &model.families[model.processes[**process].family];
        process.index() - family.first.index() < LARGEST
    };
    let candidates: Vec<ProcessId> = all_processes.iter().filter(first).copied().collect();
    let mut found: Vec<Vec<ProcessId>> = Vec::new();
    for size in 2..=LARGEST {
        let within: Vec<Vec<ProcessId>> = match asked.len() <= size {
            true => {
                let others: Vec<ProcessId> =
                    candidates.iter().filter(|process| !asked.contains(process)).copied().collect();
                groups(&others, size - asked.len()).into_iter().map(|more| [asked.clone(), more].concat()).collect()
            }
            false => groups(&asked[..asked.len().min(LARGEST)], size),
        };
        found.extend(within);
    }
    if found.is_empty() {
        found.push(all_processes);
    }
    found.truncate(MOST_MOVER_SETS);
    found
}

/// The search of one crowd.
struct FewMovers<'a> {
    model: &'a Model,
    property: &'a PropertyKind,
    question: &'a Question,
    /// The processes that take steps.
    movers: Vec<ProcessId>,
    /// The states found, in breadth-first order, each with the one before it and the step between them.
    found: Vec<(State, Option<(usize, Move)>)>,
    /// Where each state is among them.
    known: HashMap<State, usize>,
}

impl FewMovers<'_> {
    fn run(&mut self, budget: &Budget) -> Result<Option<Trace>, StopReason> {
        for state in eval::initial_states(self.model).take(MOST_STARTS) {
            self.visit(state, None);
        }
        let mut at = 0;
        while at < self.found.len() && self.found.len() < MOST_STATES {
            if at % 64 == 0 {
                budget.check(0)?;
            }
            let state = self.found[at].0.clone();
            let steps: Vec<(eval::Step, Vec<Touch>)> = (self.movers.iter())
                .flat_map(|&process| eval::likely_touched_by(self.model, &state, process, None))
                .filter(|(step, _)| step.by.partner.is_none_or(|(partner, _)| self.movers.contains(&partner)))
                .collect();
            if self.is_answer(&state, &steps)
                && let Some(trace) = self.trace_to(at)
            {
                return Ok(Some(trace));
            }
            for (step, _) in steps {
                if let Ok(next) = step.result {
                    self.visit(next, Some((at, step.by)));
                }
            }
            at += 1;
        }
        Ok(None)
    }

    fn visit(&mut self, state: State, from: Option<(usize, Move)>) {
        if !self.known.contains_key(&state) {
            self.known.insert(state.clone(), self.found.len());
            self.found.push((state, from));
        }
    }

    fn is_answer(&self, state: &State, steps: &[(eval::Step, Vec<Touch>)]) -> bool {
        match &self.question.pattern {
            Pattern::Truth { expr, bound, wanted } => {
                let mut view = Viewpoint::new(self.model, state, None);
                view.bound.clone_from(bound);
                view.truth(expr) == Ok(*wanted)
            }
            Pattern::Fault(_) => steps.iter().any(|(step, _)| step.result.is_err()),
            Pattern::Deadlock => steps.is_empty() && eval::is_deadlock(self.model, state),
            Pattern::Race(var, ..) => clash(self.model, *var, steps) && eval::race(self.model, state, *var).is_some(),
        }
    }

    /// The run to a state, if it decides the property.
    fn trace_to(&self, at: usize) -> Option<Trace> {
        let last = &self.found[at].0;
        if let PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) = self.property {
            let wanted = matches!(self.property, PropertyKind::Reachable(_));
            (Viewpoint::new(self.model, last, None).truth(expr) == Ok(wanted)).then_some(())?;
        }
        let ending = trace_through(self.model, vec![last.clone()], self.property)?;
        let (mut states, mut moves) = (vec![last.clone()], Vec::new());
        let mut here = at;
        while let Some((before, by)) = self.found[here].1.clone() {
            states.push(self.found[before].0.clone());
            moves.push(by);
            here = before;
        }
        states.reverse();
        moves.reverse();
        Some(Trace::finite(states, moves, ending.end))
    }
}

/// Whether two processes touch one cell of the variable, one of them writing.
fn clash(model: &Model, var: VarId, steps: &[(eval::Step, Vec<Touch>)]) -> bool {
    let touches = || steps.iter().flat_map(|(_, touched)| touched).filter(|touch| model.cells[touch.cell].var == var);
    touches().any(|one| {
        touches().any(|other| one.cell == other.cell && one.process != other.process && (one.writes || other.writes))
    })
}
