//! Dead ends and superfluous marks.
//!
//! In: a graph. Out: the same words, without states that no run from the initial one reaches or that begin no accepting run, and
//! with few marks. Marks matter only on edges inside a component that has them all. There a mark is superfluous if every cycle has
//! it anyway, or if every edge with some other mark has it. What is left is numbered anew in each component.

use super::ReductionWork;
use crate::bits::Bits;
use crate::components::Components;
use crate::diagram::DiagramResult;
use crate::graph::{Arc, AutomatonGraph};

/// The components of a graph, and which of them hold accepting runs.
pub struct Survey {
    /// The components.
    pub components: Components,
    /// Whether a run can stay in the component and be accepted.
    pub is_accepting: Vec<bool>,
}

impl Survey {
    /// Analyses a graph.
    pub fn new(graph: &AutomatonGraph) -> Self {
        let components =
            Components::new(graph.states.len(), |state, k| graph.states[state].get(k).map(|arc| arc.target));
        let mut marks: Vec<Option<Bits>> = vec![None; components.count];
        for (state, arcs) in graph.states.iter().enumerate() {
            for arc in arcs.iter().filter(|arc| components.of[arc.target] == components.of[state]) {
                let known = &mut marks[components.of[state]];
                *known = Some(known.take().unwrap_or_default().union(&arc.marks));
            }
        }
        let all = Bits::below(graph.n_marks);
        let is_accepting = marks.into_iter().map(|marks| marks.is_some_and(|marks| all.is_subset(&marks))).collect();
        Survey { components, is_accepting }
    }

    /// Whether the arc stays in its component.
    pub fn is_inner(&self, state: usize, arc: &Arc) -> bool {
        self.components.of[state] == self.components.of[arc.target]
    }
}

/// Drops dead ends and superfluous marks.
pub fn prune(work: &mut ReductionWork<'_>, graph: AutomatonGraph) -> DiagramResult<AutomatonGraph> {
    let survey = Survey::new(&graph);
    let mut is_live = survey.is_accepting.clone();
    // Components are numbered after those that they reach.
    let mut by_component: Vec<Vec<usize>> = vec![Vec::new(); survey.components.count];
    for state in 0..graph.states.len() {
        by_component[survey.components.of[state]].push(state);
    }
    for (component, members) in by_component.iter().enumerate() {
        let reaches = |&state: &usize| graph.states[state].iter().any(|arc| is_live[survey.components.of[arc.target]]);
        let reached = members.iter().any(reaches);
        is_live[component] |= reached;
    }
    let is_reached = reached(&graph);
    let kept = graph.keep(|state| is_reached[state] && is_live[survey.components.of[state]]);
    let mut kept = if is_live[survey.components.of[graph.initial]] { kept } else { AutomatonGraph::empty() };
    simplify_marks(&mut kept);
    kept.tidy(work.diagrams)?;
    Ok(kept)
}

/// Puts all marks on the edges between components.
pub fn mark_transients(graph: &mut AutomatonGraph) {
    let survey = Survey::new(graph);
    let all = Bits::below(graph.n_marks);
    for (state, arcs) in graph.states.iter_mut().enumerate() {
        for arc in arcs.iter_mut().filter(|arc| !survey.is_inner(state, arc)) {
            arc.marks = all.clone();
        }
    }
}

fn reached(graph: &AutomatonGraph) -> Vec<bool> {
    let mut is_reached = vec![false; graph.states.len()];
    is_reached[graph.initial] = true;
    let mut open = vec![graph.initial];
    while let Some(state) = open.pop() {
        for arc in &graph.states[state] {
            if !std::mem::replace(&mut is_reached[arc.target], true) {
                open.push(arc.target);
            }
        }
    }
    is_reached
}

fn simplify_marks(graph: &mut AutomatonGraph) {
    let survey = Survey::new(graph);
    let needed: Vec<Vec<usize>> = (0..survey.components.count)
        .map(
            |component| {
                if survey.is_accepting[component] { needed_marks(graph, &survey, component) } else { Vec::new() }
            },
        )
        .collect();
    let n_marks = if survey.is_accepting.iter().all(|&is| is) || !has_rejecting_cycle(graph, &survey) {
        needed.iter().map(Vec::len).max().unwrap_or(0)
    } else {
        // A component without accepting runs must lack a mark that the others have.
        needed.iter().map(Vec::len).max().unwrap_or(0).max(1)
    };
    for state in 0..graph.states.len() {
        let component = survey.components.of[state];
        for index in 0..graph.states[state].len() {
            let arc = &graph.states[state][index];
            let marks = if survey.is_inner(state, arc) && survey.is_accepting[component] {
                let old = &needed[component];
                let has = |new: &usize| old.get(*new).is_none_or(|&old| arc.marks.contains(old));
                (0..n_marks).filter(has).collect()
            } else {
                Bits::new()
            };
            graph.states[state][index].marks = marks;
        }
    }
    graph.n_marks = n_marks;
}

fn has_rejecting_cycle(graph: &AutomatonGraph, survey: &Survey) -> bool {
    graph.states.iter().enumerate().any(|(state, arcs)| {
        !survey.is_accepting[survey.components.of[state]] && arcs.iter().any(|arc| survey.is_inner(state, arc))
    })
}

/// The marks of an accepting component without which other runs would be accepted in it.
fn needed_marks(graph: &AutomatonGraph, survey: &Survey, component: usize) -> Vec<usize> {
    let inner = || {
        let members = (0..graph.states.len()).filter(|&state| survey.components.of[state] == component);
        members
            .flat_map(|state| graph.states[state].iter().map(move |arc| (state, arc)))
            .filter(|&(state, arc)| survey.is_inner(state, arc))
    };
    let mut needed: Vec<usize> = (0..graph.n_marks).collect();
    needed.retain(|&mark| has_cycle(graph.states.len(), inner().filter(|(_, arc)| !arc.marks.contains(mark))));
    for index in (0..needed.len()).rev() {
        let mark = needed[index];
        let is_implied = needed.iter().any(|&other| {
            other != mark && inner().all(|(_, arc)| !arc.marks.contains(other) || arc.marks.contains(mark))
        });
        if is_implied {
            needed.remove(index);
        }
    }
    needed
}

fn has_cycle<'a>(n_states: usize, arcs: impl Iterator<Item = (usize, &'a Arc)>) -> bool {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); n_states];
    for (state, arc) in arcs {
        successors[state].push(arc.target);
    }
    let components = Components::new(n_states, |state, k| successors[state].get(k).copied());
    let is_inner = |(state, targets): (usize, &Vec<usize>)| {
        targets.iter().any(|&target| components.of[target] == components.of[state])
    };
    successors.iter().enumerate().any(is_inner)
}
