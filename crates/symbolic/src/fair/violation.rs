//! Whether a graph has a fair run that an automaton accepts: component by component of the automaton.
//!
//! In: a graph whose moves are an automaton's edges, in their order, and behind them moves that read nothing, where runs begin, and demands. Out: a lasso, or that
//! there is none. Only components of the automaton in which every mark is carried can hold the loop; a mark that every
//! move of one carries is no condition there.

use base::StopReason;
use ltl::Automaton;

use super::lasso::{LassoSearch, SymbolicLasso};
use super::{EdgeFilter, FairnessCondition, GuardedMove, NodeSets, SymbolicGraph, is_nothing};
use crate::bdd::Bdd;

/// Which runs are searched for.
pub struct RunsWanted<'w> {
    /// Accepts them. The moves of the graph are its edges, state by state; those behind them carry no mark.
    pub automaton: &'w Automaton,
    /// What they must do beside.
    pub conditions: &'w [FairnessCondition],
    /// Edges of these relations must carry the first mark again and again; any edge of theirs will do where there is none.
    pub own: Option<&'w [usize]>,
    /// Where runs begin.
    pub initial: &'w Bdd,
    /// All that can be reached without an automaton, where that is known.
    pub reached: Option<&'w Bdd>,
}

/// What was found.
pub enum RunSearchResult {
    /// No run is as wanted.
    Nothing,
    /// A run.
    Lasso(SymbolicLasso),
    /// There is a run, but diagrams contradict each other on the way to it.
    Broken,
}

impl SymbolicGraph<'_> {
    /// Searches for a fair run.
    pub fn find(&self, wanted: &RunsWanted<'_>) -> Result<RunSearchResult, StopReason> {
        let automaton = wanted.automaton;
        let first = automaton.initial.index();
        let mut start = self.nothing();
        start[first] = wanted.initial.clone();
        // Where the automaton can wait for ever, everything that can be reached is as good as where runs begin.
        let waits = |step: &GuardedMove| step.from == first && step.to == first && step.label.is_all();
        let mut early = start.clone();
        if let Some(reached) = wanted.reached.filter(|_| self.moves.iter().any(waits)) {
            early[first] = reached.clone();
        }
        let reached = self.forward(early, None)?;
        for component in accepting_components(automaton) {
            let (part, mut conditions) = self.within(wanted, &component);
            conditions.extend(wanted.conditions.iter().cloned().map(Some));
            let nodes: NodeSets = (0..self.n_states)
                .map(|state| if component.contains(&state) { reached[state].clone() } else { self.space.empty() })
                .collect();
            let asked: Vec<FairnessCondition> = conditions.iter().flatten().cloned().collect();
            let fair = part.fair(nodes, &asked)?;
            if !is_nothing(&fair) {
                let search = LassoSearch { whole: self, start, part: &part, conditions: &conditions };
                return Ok(search.through(&fair)?.map_or(RunSearchResult::Broken, RunSearchResult::Lasso));
            }
        }
        Ok(RunSearchResult::Nothing)
    }

    /// The graph on some states of the automaton, and the demands of its marks there.
    fn within(&self, wanted: &RunsWanted<'_>, states: &[usize]) -> (SymbolicGraph<'_>, Vec<Option<FairnessCondition>>) {
        let automaton = wanted.automaton;
        let edges = automaton.states.iter().flat_map(|state| &state.edges);
        let is_inside = |step: &GuardedMove| states.contains(&step.from) && states.contains(&step.to);
        let (moves, edges): (Vec<&GuardedMove>, Vec<&ltl::Edge>) =
            self.moves.iter().zip(edges).filter(|(step, _)| is_inside(step)).unzip();
        let carrying =
            |mark: usize| (0..edges.len()).filter(|&nth| edges[nth].marks.contains(mark)).collect::<Vec<_>>();
        let condition = |filter: EdgeFilter| FairnessCondition { free: None, filters: vec![filter] };
        let mark = |mark: usize| {
            let moves = carrying(mark);
            (moves.len() < edges.len()).then(|| condition(EdgeFilter { moves: Some(moves), ..EdgeFilter::default() }))
        };
        let mut conditions: Vec<Option<FairnessCondition>> = (0..automaton.n_marks).map(mark).collect();
        if let Some(own) = wanted.own {
            let moves = (automaton.n_marks > 0).then(|| carrying(0));
            conditions.push(Some(condition(EdgeFilter { from: None, edges: Some(own.to_vec()), moves })));
        }
        let n_edges = automaton.states.iter().map(|state| state.edges.len()).sum();
        let beside = self.moves.iter().skip(n_edges).filter(|step| is_inside(step));
        (SymbolicGraph { moves: moves.into_iter().chain(beside).cloned().collect(), ..*self }, conditions)
    }
}

/// The strongly connected sets of states in which some edge carries each mark.
fn accepting_components(automaton: &Automaton) -> Vec<Vec<usize>> {
    let n_states = automaton.states.len();
    let edges: Vec<&[ltl::Edge]> = automaton.states.iter().map(|state| &state.edges[..]).collect();
    let reachable = |from: usize| {
        let mut seen = vec![false; n_states];
        let mut open = vec![from];
        while let Some(state) = open.pop() {
            for edge in edges[state] {
                if !std::mem::replace(&mut seen[edge.target.index()], true) {
                    open.push(edge.target.index());
                }
            }
        }
        seen
    };
    let reachable: Vec<Vec<bool>> = (0..n_states).map(reachable).collect();
    let mut found = vec![false; n_states];
    let mut components: Vec<Vec<usize>> = Vec::new();
    for state in (0..n_states).filter(|&state| reachable[state][state]) {
        if found[state] {
            continue;
        }
        let both = |&other: &usize| reachable[state][other] && reachable[other][state];
        let component: Vec<usize> = (0..n_states).filter(both).collect();
        component.iter().for_each(|&state| found[state] = true);
        let inside = || {
            let leaving = component.iter().flat_map(|&state| edges[state]);
            leaving.filter(|edge| component.contains(&edge.target.index()))
        };
        if (0..automaton.n_marks).all(|mark| inside().any(|edge| edge.marks.contains(mark))) {
            components.push(component);
        }
    }
    components
}
