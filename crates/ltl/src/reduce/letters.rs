//! Small graphs in numbers: letters that no label distinguishes are one, so that a label is a set of at most 128 of them.
//!
//! In: graphs over one store of diagrams. Out: the same graphs with sets of letters for labels, which are joined, subtracted and
//! compared in one machine step; and back. Searches that try many changes of a graph work on these.

use super::ReductionWork;
use crate::bits::Bits;
use crate::components::Components;
use crate::diagram::{Diagram, DiagramResult, Diagrams};
use crate::graph::{Arc, AutomatonGraph};

/// A set of letters: bit k is for the k-th class of an [`Alphabet`].
pub type Letters = u128;
/// A set of marks.
pub type MarkSet = u32;

/// The most classes of letters, and the most marks.
const MAX_CLASSES: usize = Letters::BITS as usize;
const MAX_MARKS: usize = 8;

/// Classes of letters: disjoint, and together all letters.
#[derive(Debug)]
pub struct Alphabet {
    classes: Vec<Diagram>,
}

/// An arc of a coded graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedArc {
    /// The letters; never none.
    pub letters: Letters,
    /// The marks that it carries.
    pub marks: MarkSet,
    /// Where it leads.
    pub target: usize,
}

/// A graph whose labels are sets of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded {
    /// The arcs that leave each state.
    pub states: Vec<Vec<CodedArc>>,
    /// Where runs begin.
    pub initial: usize,
    /// How many marks there are.
    pub n_marks: usize,
}

impl Alphabet {
    /// The coarsest classes that the labels of all the graphs respect; `None` if there are too many, or a graph has too many marks.
    pub fn of(work: &mut ReductionWork<'_>, graphs: &[&AutomatonGraph]) -> DiagramResult<Option<Self>> {
        let mut classes = vec![Diagrams::TRUE];
        let mut labels: Vec<Diagram> =
            graphs.iter().flat_map(|graph| graph.states.iter().flatten()).map(|arc| arc.label).collect();
        labels.sort_unstable();
        labels.dedup();
        for label in labels {
            let mut split = Vec::new();
            for class in classes {
                let parts = [work.diagrams.and(class, label)?, work.diagrams.without(class, label)?];
                split.extend(parts.into_iter().filter(|&part| part != Diagrams::FALSE));
            }
            classes = split;
            if classes.len() > MAX_CLASSES {
                return Ok(None);
            }
        }
        let has_few_marks = graphs.iter().all(|graph| graph.n_marks <= MAX_MARKS);
        Ok(has_few_marks.then_some(Alphabet { classes }))
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// All letters.
    pub fn all(&self) -> Letters {
        Letters::MAX >> (MAX_CLASSES - self.classes.len())
    }

    /// A graph over the classes.
    pub fn coded(&self, work: &mut ReductionWork<'_>, graph: &AutomatonGraph) -> DiagramResult<Coded> {
        let mut states = Vec::new();
        for arcs in &graph.states {
            let mut coded = Vec::new();
            for arc in arcs {
                let mut letters = 0;
                for (index, &class) in self.classes.iter().enumerate() {
                    if work.diagrams.and(class, arc.label)? != Diagrams::FALSE {
                        letters |= 1 << index;
                    }
                }
                let marks = arc.marks.iter().fold(0, |marks, mark| marks | 1 << mark);
                coded.push(CodedArc { letters, marks, target: arc.target });
            }
            states.push(coded);
        }
        Ok(Coded { states, initial: graph.initial, n_marks: graph.n_marks })
    }

    /// The graph with diagrams for labels.
    pub fn decoded(&self, work: &mut ReductionWork<'_>, coded: &Coded) -> DiagramResult<AutomatonGraph> {
        let mut states = Vec::new();
        for arcs in &coded.states {
            let mut decoded = Vec::new();
            for arc in arcs {
                let mut label = Diagrams::FALSE;
                for (index, &class) in self.classes.iter().enumerate() {
                    if arc.letters >> index & 1 == 1 {
                        label = work.diagrams.or(label, class)?;
                    }
                }
                let marks: Bits = (0..coded.n_marks).filter(|mark| arc.marks >> mark & 1 == 1).collect();
                decoded.push(Arc { label, marks, target: arc.target });
            }
            states.push(decoded);
        }
        let mut graph = AutomatonGraph { states, initial: coded.initial, n_marks: coded.n_marks };
        graph.tidy(work.diagrams)?;
        Ok(graph)
    }
}

impl Coded {
    /// All marks.
    pub fn all_marks(&self) -> MarkSet {
        (1 << self.n_marks) - 1
    }

    /// The graph without a state, which must not be the initial one.
    pub fn without_state(&self, gone: usize) -> Coded {
        let number = |state: usize| if state > gone { state - 1 } else { state };
        let kept = |arc: &&CodedArc| arc.target != gone;
        let states = self.states.iter().enumerate().filter(|&(state, _)| state != gone);
        let renumbered = |arc: &CodedArc| CodedArc { target: number(arc.target), ..*arc };
        Coded {
            states: states.map(|(_, arcs)| arcs.iter().filter(kept).map(renumbered).collect()).collect(),
            initial: number(self.initial),
            n_marks: self.n_marks,
        }
    }
}

/// The pairs of states of two graphs, and what runs of both at once can do.
#[derive(Debug)]
pub struct Pairs {
    n_right: usize,
    /// The component of each pair.
    pub components: Components,
    /// The marks inside each component, those of the left graph and those of the right one; `None` without cycles.
    pub marks: Vec<Option<(MarkSet, MarkSet)>>,
    /// Whether each pair is reached from the initial one.
    pub is_reached: Vec<bool>,
    /// Whether a word is accepted by both states of each pair.
    pub is_common: Vec<bool>,
}

impl Pairs {
    /// The pairs of two graphs over one alphabet.
    pub fn new(left: &Coded, right: &Coded) -> Self {
        let n_right = right.states.len();
        let mut steps: Vec<Vec<(usize, MarkSet, MarkSet)>> = Vec::with_capacity(left.states.len() * n_right);
        for one in &left.states {
            for other in &right.states {
                let mut arcs = Vec::new();
                for a in one {
                    let both = other.iter().filter(|b| a.letters & b.letters != 0);
                    arcs.extend(both.map(|b| (a.target * n_right + b.target, a.marks, b.marks)));
                }
                steps.push(arcs);
            }
        }
        let components = Components::new(steps.len(), |pair, k| steps[pair].get(k).map(|step| step.0));
        let mut marks: Vec<Option<(MarkSet, MarkSet)>> = vec![None; components.count];
        for (pair, arcs) in steps.iter().enumerate() {
            for &(target, a, b) in arcs.iter().filter(|step| components.of[step.0] == components.of[pair]) {
                let known = marks[components.of[target]].get_or_insert((0, 0));
                *known = (known.0 | a, known.1 | b);
            }
        }
        let full = (left.all_marks(), right.all_marks());
        // Components are numbered after those that they reach.
        let mut is_live: Vec<bool> = marks.iter().map(|&seen| seen == Some(full)).collect();
        let mut order: Vec<usize> = (0..steps.len()).collect();
        order.sort_by_key(|&pair| components.of[pair]);
        for pair in order {
            let lives = steps[pair].iter().any(|step| is_live[components.of[step.0]]);
            is_live[components.of[pair]] |= lives;
        }
        let is_common = (0..steps.len()).map(|pair| is_live[components.of[pair]]).collect();
        let mut is_reached = vec![false; steps.len()];
        let mut open = vec![left.initial * n_right + right.initial];
        is_reached[open[0]] = true;
        while let Some(pair) = open.pop() {
            for &(target, ..) in &steps[pair] {
                if !std::mem::replace(&mut is_reached[target], true) {
                    open.push(target);
                }
            }
        }
        Pairs { n_right, components, marks, is_reached, is_common }
    }

    /// The number of a pair.
    pub fn number(&self, left: usize, right: usize) -> usize {
        left * self.n_right + right
    }
}

/// Whether no word is accepted by both.
pub fn is_disjoint(left: &Coded, right: &Coded) -> bool {
    let pairs = Pairs::new(left, right);
    !pairs.is_common[pairs.number(left.initial, right.initial)]
}
