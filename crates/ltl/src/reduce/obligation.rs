//! The smallest deterministic automaton of an obligation (Löding 2001; Dax, Eisinger and Klaedtke 2007).
//!
//! In: a graph whose language is an obligation: a boolean combination of what shows after finitely many letters. Out: its smallest deterministic
//! automaton, or `None` where the way to it is too long. The sets of states that a word leads to are the states of a deterministic graph. In
//! it all cycles of a component are accepting, or none is; one cycle of each is tried. Components are then coloured from
//! below, so that states differ in colour only if they differ in language, and equal states are merged as in finite automata.

use rustc_hash::FxHashMap;

use super::{ReductionWork, product};
use crate::bits::Bits;
use crate::components::Components;
use crate::diagram::{Diagram, DiagramResult, Diagrams, Literals};
use crate::graph::{Arc, AutomatonGraph};

/// The most sets of states that are examined.
const MAX_SETS: usize = 300;

/// A deterministic graph: each state with disjoint labels that together are `true`.
struct DeterministicGraph {
    members: Vec<Bits>,
    arcs: Vec<Vec<(Diagram, usize)>>,
}

/// The smallest deterministic automaton of an obligation, if it has no more states than the graph.
///
/// Where it is not known that the language is an obligation, `opposite` accepts all other words: the automaton is then compared with
/// both. It is right exactly if the language is an obligation.
pub fn smaller(
    work: &mut ReductionWork<'_>,
    graph: AutomatonGraph,
    opposite: Option<&AutomatonGraph>,
) -> DiagramResult<AutomatonGraph> {
    let Some(smallest) = minimise(work, &graph)? else { return Ok(graph) };
    if let Some(opposite) = opposite
        && !is_same(work, (&graph, opposite), &smallest)?
    {
        return Ok(graph);
    }
    let smallest = super::prune::prune(work, smallest)?;
    Ok(if smallest.states.len() <= graph.states.len() { smallest } else { graph })
}

/// Whether a deterministic graph accepts what the first graph accepts, and nothing that the second one does.
fn is_same(
    work: &mut ReductionWork<'_>,
    (graph, opposite): (&AutomatonGraph, &AutomatonGraph),
    smallest: &AutomatonGraph,
) -> DiagramResult<bool> {
    let components =
        Components::new(smallest.states.len(), |state, k| smallest.states[state].get(k).map(|arc| arc.target));
    let is_marked = |state: usize| smallest.states[state].iter().any(|arc| !arc.marks.is_empty());
    let mut of_component: Vec<Option<bool>> = vec![None; components.count];
    for state in 0..smallest.states.len() {
        let known = of_component[components.of[state]].get_or_insert(is_marked(state));
        // Only where the states of a component agree do marks and their absence change roles in the complement.
        if *known != is_marked(state) {
            return Ok(false);
        }
    }
    let mut complement = smallest.clone();
    for arc in complement.states.iter_mut().flatten() {
        arc.marks = Bits::below(1).difference(&arc.marks);
    }
    Ok(product::is_disjoint(work, smallest, opposite)? && product::is_disjoint(work, graph, &complement)?)
}

/// The smallest deterministic automaton of the graph's language if that is an obligation; some automaton if it is not. Every state
/// has an edge for every letter, and all edges of a state are marked, or none.
fn minimise(work: &mut ReductionWork<'_>, graph: &AutomatonGraph) -> DiagramResult<Option<AutomatonGraph>> {
    let Some(sets) = determinise(work, graph)? else { return Ok(None) };
    let components = Components::new(sets.arcs.len(), |set, k| sets.arcs[set].get(k).map(|arc| arc.1));
    let colours = colours(work, graph, &sets, &components);
    let classes = refine(work, &sets, colours.iter().map(|colour| colour % 2).collect())?;
    quotient(work, &sets, &classes, &colours).map(Some)
}

fn determinise(work: &mut ReductionWork<'_>, graph: &AutomatonGraph) -> DiagramResult<Option<DeterministicGraph>> {
    let first: Bits = [graph.initial].into_iter().collect();
    let mut numbers: FxHashMap<Bits, usize> = FxHashMap::default();
    numbers.insert(first.clone(), 0);
    let mut sets = DeterministicGraph { members: vec![first], arcs: Vec::new() };
    while sets.arcs.len() < sets.members.len() {
        work.budget.check(0)?;
        let members = &sets.members[sets.arcs.len()];
        // Letters that lead to the same set of targets, so far.
        let mut parts: Vec<(Diagram, Bits)> = vec![(Diagrams::TRUE, Bits::new())];
        for arc in members.iter().flat_map(|state| &graph.states[state]) {
            let mut split = Vec::new();
            for (letters, targets) in parts {
                let inside = work.diagrams.and(letters, arc.label)?;
                let outside = work.diagrams.without(letters, arc.label)?;
                if inside != Diagrams::FALSE {
                    let mut more = targets.clone();
                    more.insert(arc.target);
                    split.push((inside, more));
                }
                if outside != Diagrams::FALSE {
                    split.push((outside, targets));
                }
            }
            parts = join_equal(work.diagrams, split)?;
        }
        let mut arcs = Vec::new();
        for (letters, targets) in parts {
            let number = *numbers.entry(targets.clone()).or_insert_with(|| {
                sets.members.push(targets);
                sets.members.len() - 1
            });
            arcs.push((letters, number));
        }
        sets.arcs.push(arcs);
        if sets.members.len() > MAX_SETS {
            return Ok(None);
        }
    }
    Ok(Some(sets))
}

fn join_equal(diagrams: &mut Diagrams, parts: Vec<(Diagram, Bits)>) -> DiagramResult<Vec<(Diagram, Bits)>> {
    let mut joined: Vec<(Diagram, Bits)> = Vec::new();
    for (letters, targets) in parts {
        match joined.iter_mut().find(|known| known.1 == targets) {
            Some(known) => known.0 = diagrams.or(known.0, letters)?,
            None => joined.push((letters, targets)),
        }
    }
    Ok(joined)
}

/// A colour for each set, even where runs that stay in its component are accepted; colours never grow along edges from below: a component
/// without cycles takes its successors' least colour, so that it differs from none of them needlessly.
fn colours(
    work: &ReductionWork<'_>,
    graph: &AutomatonGraph,
    sets: &DeterministicGraph,
    components: &Components,
) -> Vec<usize> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); components.count];
    for (set, &component) in components.of.iter().enumerate() {
        members[component].push(set);
    }
    let highest = 2 * components.count + 3;
    let mut of_component = vec![0; components.count];
    for (component, members) in members.iter().enumerate() {
        let targets = members.iter().flat_map(|&set| &sets.arcs[set]).map(|arc| components.of[arc.1]);
        let below = targets.filter(|&target| target != component).map(|target| of_component[target]).min();
        let least = below.unwrap_or(highest);
        of_component[component] = match cycle_from(sets, components, members[0]) {
            None => least,
            Some(cycle) if is_accepted(work, graph, &sets.members[members[0]], &cycle) => least & !1,
            Some(_) => (least - 1) | 1,
        };
    }
    components.of.iter().map(|&component| of_component[component]).collect()
}

/// The labels of a shortest cycle through a set; `None` if there is none.
fn cycle_from(sets: &DeterministicGraph, components: &Components, start: usize) -> Option<Vec<Diagram>> {
    let mut reached_by: FxHashMap<usize, (usize, Diagram)> = FxHashMap::default();
    let mut open = std::collections::VecDeque::from([start]);
    while let Some(set) = open.pop_front() {
        for &(letters, target) in &sets.arcs[set] {
            if components.of[target] != components.of[start] || reached_by.contains_key(&target) {
                continue;
            }
            reached_by.insert(target, (set, letters));
            if target == start {
                let mut cycle = Vec::new();
                let mut at = start;
                loop {
                    let (before, letters) = reached_by[&at];
                    cycle.push(letters);
                    at = before;
                    if at == start {
                        cycle.reverse();
                        return Some(cycle);
                    }
                }
            }
            open.push_back(target);
        }
    }
    None
}

/// Whether the graph accepts, from one of the states, a word that takes the cycle again and again.
fn is_accepted(work: &ReductionWork<'_>, graph: &AutomatonGraph, from: &Bits, cycle: &[Diagram]) -> bool {
    // One letter of each label, since all of them lead the same way; atoms that it leaves open are false.
    let letter = |&label: &Diagram| work.diagrams.some_point(label).unwrap_or_default();
    let letters: Vec<Literals> = cycle.iter().map(letter).collect();
    let n_states = graph.states.len();
    let number = |position: usize, state: usize| position * n_states + state;
    let mut successors: Vec<Vec<(usize, &Bits)>> = vec![Vec::new(); letters.len() * n_states];
    for (position, letter) in letters.iter().enumerate() {
        for (state, arcs) in graph.states.iter().enumerate() {
            for arc in arcs.iter().filter(|arc| work.diagrams.value(arc.label, letter)) {
                let target = number((position + 1) % letters.len(), arc.target);
                successors[number(position, state)].push((target, &arc.marks));
            }
        }
    }
    let components = Components::new(successors.len(), |node, k| successors[node].get(k).map(|edge| edge.0));
    let mut marks: Vec<Option<Bits>> = vec![None; components.count];
    for (node, edges) in successors.iter().enumerate() {
        for (target, more) in edges.iter().filter(|edge| components.of[edge.0] == components.of[node]) {
            let known = &mut marks[components.of[*target]];
            *known = Some(known.take().unwrap_or_default().union(more));
        }
    }
    let all = Bits::below(graph.n_marks);
    let is_good: Vec<bool> = marks.into_iter().map(|seen| seen.is_some_and(|seen| all.is_subset(&seen))).collect();
    let mut is_met = vec![false; successors.len()];
    let mut open: Vec<usize> = from.iter().map(|state| number(0, state)).collect();
    open.iter().for_each(|&node| is_met[node] = true);
    while let Some(node) = open.pop() {
        if is_good[components.of[node]] {
            return true;
        }
        for &(target, _) in &successors[node] {
            if !std::mem::replace(&mut is_met[target], true) {
                open.push(target);
            }
        }
    }
    false
}

/// Moore's refinement: the coarsest classes, inside the given ones, whose members have equal edges to classes.
fn refine(
    work: &mut ReductionWork<'_>,
    sets: &DeterministicGraph,
    mut classes: Vec<usize>,
) -> DiagramResult<Vec<usize>> {
    loop {
        let mut numbers: FxHashMap<(usize, Vec<(usize, Diagram)>), usize> = FxHashMap::default();
        let mut finer = Vec::new();
        for (set, arcs) in sets.arcs.iter().enumerate() {
            let to_classes = to_classes(work.diagrams, arcs, &classes)?;
            let fresh = numbers.len();
            finer.push(*numbers.entry((classes[set], to_classes)).or_insert(fresh));
        }
        let n_before = classes.iter().collect::<std::collections::BTreeSet<_>>().len();
        let is_stable = numbers.len() == n_before;
        classes = finer;
        if is_stable {
            return Ok(classes);
        }
    }
}

fn to_classes(
    diagrams: &mut Diagrams,
    arcs: &[(Diagram, usize)],
    classes: &[usize],
) -> DiagramResult<Vec<(usize, Diagram)>> {
    let mut joined: Vec<(usize, Diagram)> = Vec::new();
    for &(letters, target) in arcs {
        match joined.iter_mut().find(|known| known.0 == classes[target]) {
            Some(known) => known.1 = diagrams.or(known.1, letters)?,
            None => joined.push((classes[target], letters)),
        }
    }
    joined.sort_unstable();
    Ok(joined)
}

fn quotient(
    work: &mut ReductionWork<'_>,
    sets: &DeterministicGraph,
    classes: &[usize],
    colours: &[usize],
) -> DiagramResult<AutomatonGraph> {
    let n_classes = classes.iter().max().map_or(0, |max| max + 1);
    let mut states: Vec<Option<Vec<Arc>>> = vec![None; n_classes];
    for (set, arcs) in sets.arcs.iter().enumerate() {
        if states[classes[set]].is_none() {
            let marks = if colours[set].is_multiple_of(2) { Bits::below(1) } else { Bits::new() };
            let arc = |(target, label)| Arc { label, marks: marks.clone(), target };
            states[classes[set]] = Some(to_classes(work.diagrams, arcs, classes)?.into_iter().map(arc).collect());
        }
    }
    let states = states.into_iter().map(Option::unwrap_or_default).collect();
    Ok(AutomatonGraph { states, initial: classes[0], n_marks: 1 })
}
