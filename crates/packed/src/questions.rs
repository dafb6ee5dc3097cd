//! The questions of a task, compiled: what in a state decides each of them.
//!
//! An `invariant` is decided by a state in which it is false, a `reachable` by one in which it is true; these are evaluated
//! when a state is found. Faults, deadlocks and races show when the steps of a state are taken.

use engine::PropertyId;
use model::Model;
use model::property::PropertyKind;
use model::variable::VarId;

use crate::compile::Compiler;
use crate::machine::{Machine, Scratch};
use crate::packing::Packed;
use crate::race::RaceWatch;
use crate::term::TermId;

/// What decides a question.
pub enum StateGoal {
    /// A state in which the term has this truth.
    State(TermId, bool),
    /// A step that is a fault.
    Fault,
    /// A state in which no process is enabled and some process is stuck.
    Deadlock,
    /// A state with a race on a variable.
    Race(VarId, RaceWatch),
}

/// A question and what decides it.
pub struct StateQuestion {
    /// The property.
    pub property: PropertyId,
    /// What decides it.
    pub goal: StateGoal,
}

/// Which of the questions were decided on a level.
#[derive(Clone, Debug, Default)]
pub struct Hits<const W: usize> {
    /// By question: whether a state or step decides it.
    pub decided: Vec<bool>,
    /// By question: a state in which its expression is a fault, the least one.
    pub faulty: Vec<Option<Packed<W>>>,
}

impl StateQuestion {
    /// Compiles a property; `None` for the kinds that are not answered.
    pub fn new(model: &Model, property: PropertyId, compiler: &mut Compiler<'_, '_>) -> Option<Self> {
        let goal = match &model.properties[property].kind {
            PropertyKind::Invariant(condition) => StateGoal::State(compiler.property(condition), false),
            PropertyKind::Reachable(condition) => StateGoal::State(compiler.property(condition), true),
            PropertyKind::NoErrors => StateGoal::Fault,
            PropertyKind::DeadlockFree => StateGoal::Deadlock,
            PropertyKind::RaceFree(var) => StateGoal::Race(*var, compiler.race_watch(*var)),
            PropertyKind::Temporal(_) => return None,
        };
        Some(StateQuestion { property, goal })
    }
}

impl<const W: usize> Hits<W> {
    /// No hits, for so many questions.
    pub fn new(n_questions: usize) -> Self {
        Hits { decided: vec![false; n_questions], faulty: vec![None; n_questions] }
    }

    /// Evaluates the questions in a state that was found.
    #[inline]
    pub fn look(
        &mut self,
        open: &[(usize, TermId, bool)],
        state: &Packed<W>,
        machine: &Machine<'_>,
        scratch: &Scratch<W>,
    ) {
        for &(question, term, wanted) in open {
            match machine.test(term, state, scratch) {
                Ok(truth) => self.decided[question] |= truth == wanted,
                Err(_) => {
                    let least = &mut self.faulty[question];
                    *least = Some(least.map_or(*state, |known| known.min(*state)));
                }
            }
        }
    }

    /// Adds the hits of another thread.
    pub fn merge(&mut self, other: &Hits<W>) {
        for (mine, theirs) in self.decided.iter_mut().zip(&other.decided) {
            *mine |= theirs;
        }
        for (mine, theirs) in self.faulty.iter_mut().zip(&other.faulty) {
            *mine = match (*mine, *theirs) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
}
