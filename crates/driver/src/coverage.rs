//! What a program can do, statement by statement, and its graph where it is small.
//!
//! In: a Model and what may be used. Out: how often each action is taken, which variables ever change, and the states and steps themselves where
//! there are few. The states are those of `model::eval`, one by one: slower than a search, and nothing to do with one.

use std::collections::{HashMap, VecDeque};

use base::{Budget, StopReason};
use model::Model;
use model::control::{ActionId, StatementId};
use model::eval::{self, Move, State};
use model::variable::{Role, VarId};

/// Beyond so many states the rest is not explored.
const MOST_STATES: usize = 300_000;

/// The clock is read after so many states.
const CHECK_EVERY: usize = 256;

/// What was seen.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// The states, in the order in which they were found.
    pub states: Vec<State>,
    /// Steps from state to state; none are kept where there are more states than were asked for.
    pub steps: Vec<GraphStep>,
    /// For each statement that is a step, in the order of the text: how often it was taken.
    pub statements: Vec<(StatementId, u64)>,
    /// Declared variables that have one value in all states; none where not all were seen.
    pub constant: Vec<VarId>,
    /// Why it ended before everything was seen.
    pub stopped: Option<StopReason>,
}

/// A step between two states of a graph.
#[derive(Clone, Debug)]
pub struct GraphStep {
    /// The number of the state from which.
    pub from: usize,
    /// The number of the state to which.
    pub to: usize,
    /// The step: its processes and actions.
    pub by: Move,
}

/// Visits every state; steps are kept of graphs with at most so many states.
pub fn coverage(model: &Model, most_drawn: usize, budget: &Budget) -> Coverage {
    let mut walk = CoverageSearch { known: HashMap::new(), states: Vec::new(), open: VecDeque::new() };
    let mut taken: HashMap<ActionId, u64> = HashMap::new();
    let (mut steps, mut stopped) = (Vec::new(), None);
    for state in eval::initial_states(model).take(MOST_STATES) {
        walk.number(state);
    }
    while let Some(from) = walk.open.pop_front() {
        if from.is_multiple_of(CHECK_EVERY)
            && let Err(reason) = budget.check(0)
        {
            stopped = Some(reason);
            break;
        }
        if walk.states.len() > MOST_STATES {
            stopped = Some(StopReason::MemoryLimit(MOST_STATES as u64));
            break;
        }
        let state = walk.states[from].clone();
        for step in eval::steps(model, &state) {
            step.by.links().for_each(|link| *taken.entry(link.action).or_default() += 1);
            if let Ok(after) = step.result {
                let to = walk.number(after);
                if walk.states.len() <= most_drawn {
                    steps.push(GraphStep { from, to, by: step.by });
                }
            }
        }
    }
    if walk.states.len() > most_drawn {
        steps.clear();
    }
    // Of some states alone it is not known what never changes.
    let constant = if stopped.is_none() { constant(model, &walk.states) } else { Vec::new() };
    Coverage { states: walk.states, steps, statements: statements(model, &taken), constant, stopped }
}

/// States that were found, and those of which steps are to be taken.
struct CoverageSearch {
    known: HashMap<State, usize>,
    states: Vec<State>,
    open: VecDeque<usize>,
}

impl CoverageSearch {
    fn number(&mut self, state: State) -> usize {
        if let Some(&known) = self.known.get(&state) {
            return known;
        }
        let number = self.states.len();
        self.known.insert(state.clone(), number);
        self.states.push(state);
        self.open.push_back(number);
        number
    }
}

fn statements(model: &Model, taken: &HashMap<ActionId, u64>) -> Vec<(StatementId, u64)> {
    let mut counts: Vec<(StatementId, u64)> = Vec::new();
    for (id, action) in model.actions.entries() {
        let count = taken.get(&id).copied().unwrap_or(0);
        match counts.iter_mut().find(|(statement, _)| *statement == action.statement) {
            Some((_, so_far)) => *so_far += count,
            None => counts.push((action.statement, count)),
        }
    }
    counts.sort_by_key(|(statement, _)| model.statements[*statement].span.start);
    counts
}

fn constant(model: &Model, states: &[State]) -> Vec<VarId> {
    let Some(first) = states.first() else { return Vec::new() };
    let changes = |var: VarId| {
        let cells = model.cells.entries().filter(|(_, cell)| cell.var == var).map(|(id, _)| id.index());
        { cells }.any(|at| states.iter().any(|state| state.cells[at] != first.cells[at]))
    };
    let has_cells = |var: VarId| model.cells.iter().any(|cell| cell.var == var);
    let is_declared = |var: VarId| !matches!(model.vars[var].role, Role::Counter(_));
    model.vars.ids().filter(|&var| is_declared(var) && has_cells(var) && !changes(var)).collect()
}

#[cfg(test)]
mod tests {
    use base::SourceFile;

    use super::*;

    #[test]
    fn what_never_happens_is_counted_as_such() {
        let text = "program p { shared x: 0..=2; shared unused: bool; process A { loop { x = (x + 1) % 2; \
                    if x == 2 { dead: x = 0; } } } }";
        let model = lang::load(&SourceFile::new("p.pw", text), &[]).unwrap().model;
        let seen = coverage(&model, 100, &Budget::unlimited());
        assert!(seen.stopped.is_none());
        let dead = |(statement, count): &&(StatementId, u64)| {
            *count == 0 && model.statements[*statement].text.contains("x = 0")
        };
        assert_eq!(seen.statements.iter().filter(dead).count(), 1, "{:?}", seen.statements);
        assert_eq!(seen.constant.iter().map(|&var| model.vars[var].name.as_str()).collect::<Vec<_>>(), ["unused"]);
        assert!(!seen.steps.is_empty() && seen.steps.iter().all(|step| step.to < seen.states.len()));
        assert!(coverage(&model, 1, &Budget::unlimited()).steps.is_empty());
        // Where it was ended before, everything has had one value so far.
        let cut_short = coverage(&model, 100, &Budget::unlimited().with_looks(0));
        assert!(cut_short.stopped.is_some() && cut_short.constant.is_empty());
    }
}
