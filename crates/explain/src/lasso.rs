//! What the loop of a lasso shows: which processes are enabled in it and which take steps, and how it satisfies each assumption.
//!
//! In: a trace that goes round for ever. Out: a line for each process that has a part in it or could have, and one for each
//! fairness assumption of the property, all counted on the reference semantics.

use engine::PropertyId;
use engine::run::Run;
use evidence::Trace;
use model::Model;
use model::eval::{State, Turn, able, holds, is_true_of};
use model::fairness::FairnessPair;
use model::process::ProcessId;

use crate::text::clean;

/// More processes or assumptions than this are not given.
pub const MOST_LINES: usize = 12;

/// The part that a process has in a loop.
pub struct LoopShare {
    /// The process.
    pub name: String,
    /// In how many states it is enabled.
    pub n_able: usize,
    /// How many states there are.
    pub n_states: usize,
    /// How many steps it takes.
    pub n_moves: usize,
    /// How often it has its turn and stutters.
    pub n_still: usize,
}

impl LoopShare {
    /// What it does, in words.
    pub fn words(&self) -> String {
        let moves = match self.n_moves {
            0 => "never moves".to_owned(),
            1 => "moves once".to_owned(),
            n => format!("moves {n} times"),
        };
        let still = match self.n_still {
            0 => String::new(),
            1 => ", stands still once".to_owned(),
            n => format!(", stands still {n} times"),
        };
        format!("able to move in {} of {} states, {moves}{still}", self.n_able, self.n_states)
    }
}

/// The loop of a trace.
pub struct Looped<'a> {
    model: &'a Model,
    states: &'a [State],
    /// The turns, one for each state.
    pub turns: &'a [Turn],
}

impl<'a> Looped<'a> {
    /// The loop; `None` for a finite run.
    pub fn of(model: &'a Model, trace: &'a Trace) -> Option<Self> {
        let from = trace.loop_from?;
        let last = trace.states.len() - 1;
        Some(Looped { model, states: &trace.states[from..last], turns: &trace.turns[from..last] })
    }

    /// For each process in how many states it is enabled, and what it does with its turns.
    pub fn shares(&self) -> Vec<LoopShare> {
        let share = |id: ProcessId| LoopShare {
            name: clean(&self.model.processes[id].name),
            n_able: self.states.iter().filter(|state| able(self.model, state, id)).count(),
            n_states: self.states.len(),
            n_moves: self.turns.iter().filter(|turn| turn.actions_of(id).next().is_some()).count(),
            n_still: self.turns.iter().filter(|&turn| *turn == Turn::StandStill(id)).count(),
        };
        self.model.processes.ids().map(share).collect()
    }

    /// How the loop satisfies each assumption, of the set that it satisfies.
    pub fn assumptions(&self, run: &Run, property: PropertyId) -> Vec<(String, String)> {
        let satisfied = |pair: &FairnessPair| self.satisfied(pair);
        let sets = &run.model.properties[property].under.any_of;
        let lines = sets.iter().find_map(|set| {
            let lines = set.iter().map(|&id| {
                let pair = &self.model.fairness[id];
                Some((clean(&pair.name), satisfied(pair)?))
            });
            lines.collect::<Option<Vec<_>>>()
        });
        let mut lines = lines.unwrap_or_default();
        let n_more = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        if n_more > 0 {
            lines.push((format!("and {n_more} more"), "satisfied, too".to_owned()));
        }
        lines
    }

    fn satisfied(&self, pair: &FairnessPair) -> Option<String> {
        let happens = |(state, turn): (&State, &Turn)| {
            pair.often.iter().any(|often| is_true_of(self.model, state, turn, often).unwrap_or(false))
        };
        let n_times = self.states.iter().zip(self.turns).filter(|&pair| happens(pair)).count();
        let always = pair.always.as_ref();
        let is_free = always
            .is_some_and(|always| self.states.iter().all(|state| holds(self.model, state, always).unwrap_or(false)));
        match n_times {
            0 if is_free => Some("satisfied: it is never able to".to_owned()),
            0 => None,
            1 => Some("satisfied once in the loop".to_owned()),
            n => Some(format!("satisfied {n} times in the loop")),
        }
    }
}
