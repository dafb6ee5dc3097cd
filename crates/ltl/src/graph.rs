//! Automata at work: labels are decision diagrams, so that they can be joined, subtracted and compared.
//!
//! The tableau makes a [`AutomatonGraph`], the reductions change it, and at the end it becomes an [`Automaton`] with labels as cubes.

use base::IdVec;

use crate::automaton::{Automaton, Cube, Edge, Label, State, StateId};
use crate::bits::Bits;
use crate::diagram::{Diagram, DiagramResult, Diagrams};

/// An edge of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The letters, over the numbers of atoms; never `false`.
    pub label: Diagram,
    /// The marks that it carries.
    pub marks: Bits,
    /// Where it leads.
    pub target: usize,
}

/// An automaton whose labels are diagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomatonGraph {
    /// The arcs that leave each state.
    pub states: Vec<Vec<Arc>>,
    /// Where runs begin.
    pub initial: usize,
    /// How many marks there are.
    pub n_marks: usize,
}

impl AutomatonGraph {
    /// The automaton that accepts nothing.
    pub fn empty() -> Self {
        AutomatonGraph { states: vec![Vec::new()], initial: 0, n_marks: 0 }
    }

    /// How many states and arcs there are.
    pub fn size(&self) -> (usize, usize) {
        (self.states.len(), self.states.iter().map(Vec::len).sum())
    }

    /// Makes one arc of arcs with the same target and the same marks, and drops letters that an arc with more marks has.
    pub fn tidy(&mut self, diagrams: &mut Diagrams) -> DiagramResult<()> {
        for arcs in &mut self.states {
            let mut joined: Vec<Arc> = Vec::new();
            for arc in arcs.drain(..) {
                match joined.iter_mut().find(|known| known.target == arc.target && known.marks == arc.marks) {
                    Some(known) => known.label = diagrams.or(known.label, arc.label)?,
                    None => joined.push(arc),
                }
            }
            for index in 0..joined.len() {
                for other in 0..joined.len() {
                    let (one, two) = (&joined[index], &joined[other]);
                    if one.target == two.target && one.marks != two.marks && one.marks.is_subset(&two.marks) {
                        joined[index].label = diagrams.without(one.label, two.label)?;
                    }
                }
            }
            joined.retain(|arc| arc.label != Diagrams::FALSE);
            *arcs = joined;
        }
        Ok(())
    }

    /// The graph of the states that are kept, in a new numbering; arcs to others go. The initial state stays in any case.
    pub fn keep(&self, mut is_kept: impl FnMut(usize) -> bool) -> AutomatonGraph {
        let mut numbers = vec![None; self.states.len()];
        let mut n_kept = 0;
        for (state, number) in numbers.iter_mut().enumerate() {
            if state == self.initial || is_kept(state) {
                *number = Some(n_kept);
                n_kept += 1;
            }
        }
        let renumbered = |arc: &Arc| numbers[arc.target].map(|target| Arc { target, ..arc.clone() });
        let states = self.states.iter().zip(&numbers).filter(|(_, number)| number.is_some());
        AutomatonGraph {
            states: states.map(|(arcs, _)| arcs.iter().filter_map(renumbered).collect()).collect(),
            initial: numbers[self.initial].unwrap_or(0),
            n_marks: self.n_marks,
        }
    }

    /// The same automaton with cubes for labels; states in the order in which a search from the initial one visits them.
    pub fn into_automaton(self, diagrams: &mut Diagrams) -> DiagramResult<Automaton> {
        let mut order = vec![self.initial];
        let mut numbers = vec![None; self.states.len()];
        numbers[self.initial] = Some(0);
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            at += 1;
            for arc in &self.states[state] {
                if numbers[arc.target].is_none() {
                    numbers[arc.target] = Some(order.len());
                    order.push(arc.target);
                }
            }
        }
        let mut states = IdVec::new();
        for state in order {
            let mut edges = Vec::new();
            for arc in &self.states[state] {
                let label = label_of(diagrams, arc.label)?;
                let target = numbers[arc.target].expect("targets of met states were met");
                edges.push(Edge { label, marks: arc.marks.clone(), target: StateId::new(target) });
            }
            states.push(State { edges });
        }
        Ok(Automaton { states, initial: StateId::new(0), n_marks: self.n_marks })
    }

    /// A graph of an automaton.
    pub fn from_automaton(automaton: &Automaton, diagrams: &mut Diagrams) -> DiagramResult<AutomatonGraph> {
        let mut states = Vec::new();
        for state in &automaton.states {
            let mut arcs = Vec::new();
            for edge in &state.edges {
                let label = diagram_of(diagrams, &edge.label)?;
                if label != Diagrams::FALSE {
                    arcs.push(Arc { label, marks: edge.marks.clone(), target: edge.target.index() });
                }
            }
            states.push(arcs);
        }
        Ok(AutomatonGraph { states, initial: automaton.initial.index(), n_marks: automaton.n_marks })
    }
}

fn label_of(diagrams: &mut Diagrams, diagram: Diagram) -> DiagramResult<Label> {
    let cube = |literals: Vec<(u32, bool)>| {
        let with =
            |value: bool| literals.iter().filter(move |literal| literal.1 == value).map(|literal| literal.0 as usize);
        Cube { positive: with(true).collect(), negative: with(false).collect() }
    };
    let mut cubes: Vec<Cube> = diagrams.cover(diagram)?.into_iter().map(cube).collect();
    cubes.sort();
    Ok(Label { cubes })
}

fn diagram_of(diagrams: &mut Diagrams, label: &Label) -> DiagramResult<Diagram> {
    let mut all = Diagrams::FALSE;
    for cube in &label.cubes {
        let variable = |atom: usize| u32::try_from(atom).expect("atoms are numbered by 32 bits");
        let literals: Vec<_> =
            cube.literals().into_iter().map(|(atom, value)| (variable(atom.index()), value)).collect();
        let cube = diagrams.cube(&literals)?;
        all = diagrams.or(all, cube)?;
    }
    Ok(all)
}
