//! The expansion tableau (Couvreur 1999): from a formula to a graph.
//!
//! In: a simplified formula. Out: a generalised Büchi graph of its words. A state is a conjunction of formulas that must hold from here.
//! The expansion laws (`f U g` is `g`, or `f` and at the next point `f U g`) turn it into a function of three kinds of variables: atoms
//! now, formulas at the next point, and promises, one for each `g` that `f U g` postpones. Each prime cube of the function is an
//! edge. States with equal functions are one state. A mark for each promise is on the edges that do not make it, so that a run that
//! makes a promise for ever is not accepted.

use base::{Budget, StopReason};
use rustc_hash::FxHashMap;

use crate::bits::Bits;
use crate::diagram::{Diagram, DiagramResult, DiagramVariable, Diagrams};
use crate::formula::{AtomId, Binary, Formula, FormulaId, Unary};
use crate::graph::{Arc, AutomatonGraph};
use crate::simplify::Simplifier;

/// What a variable of a state's function means. Variables are numbered as they come up, so that those of one part of the formula
/// are side by side: a disjunction of many parts is then small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meaning {
    /// The atom is true now.
    Now(AtomId),
    /// The formula holds at the next point.
    Next(FormulaId),
    /// The formula is put off.
    Promise(FormulaId),
}

/// Builds the graph of a formula in negation normal form, of at most `max_states` states.
pub fn build(
    simplifier: &mut Simplifier<'_>,
    diagrams: &mut Diagrams,
    root: FormulaId,
    (max_states, budget): (usize, &Budget),
) -> DiagramResult<AutomatonGraph> {
    let mut tableau = Tableau {
        simplifier,
        diagrams,
        meanings: Vec::new(),
        variables: FxHashMap::default(),
        now: FxHashMap::default(),
        states: FxHashMap::default(),
        functions: Vec::new(),
        n_promises: 0,
        promise_numbers: FxHashMap::default(),
    };
    tableau.state(root)?;
    let mut sketches: Vec<Vec<(Diagram, Bits, usize)>> = Vec::new();
    while let Some(&function) = tableau.functions.get(sketches.len()) {
        budget.check(0)?;
        if tableau.functions.len() > max_states {
            return Err(StopReason::AutomatonLimit(max_states as u64));
        }
        let edges = tableau.edges(function)?;
        sketches.push(edges);
    }
    let marks = Bits::below(tableau.n_promises);
    let arc =
        |(label, promises, target): (Diagram, Bits, usize)| Arc { label, marks: marks.difference(&promises), target };
    let states = sketches.into_iter().map(|edges| edges.into_iter().map(arc).collect()).collect();
    Ok(AutomatonGraph { states, initial: 0, n_marks: tableau.n_promises })
}

struct Tableau<'a, 'f> {
    simplifier: &'a mut Simplifier<'f>,
    diagrams: &'a mut Diagrams,
    /// What the variables mean.
    meanings: Vec<Meaning>,
    variables: FxHashMap<Meaning, DiagramVariable>,
    /// The functions of formulas.
    now: FxHashMap<FormulaId, Diagram>,
    /// The states that have these functions.
    states: FxHashMap<Diagram, usize>,
    /// The function of each state.
    functions: Vec<Diagram>,
    n_promises: usize,
    promise_numbers: FxHashMap<FormulaId, usize>,
}

impl Tableau<'_, '_> {
    /// The state in which the formula must hold.
    fn state(&mut self, formula: FormulaId) -> DiagramResult<usize> {
        let function = self.function(formula)?;
        if let Some(&state) = self.states.get(&function) {
            return Ok(state);
        }
        let state = self.functions.len();
        self.functions.push(function);
        self.states.insert(function, state);
        Ok(state)
    }

    /// The edges of a function: letters, promises and target of each.
    fn edges(&mut self, function: Diagram) -> DiagramResult<Vec<(Diagram, Bits, usize)>> {
        let mut edges: Vec<(Diagram, Bits, usize)> = Vec::new();
        for cube in self.diagrams.cover(function)? {
            let (mut letters, mut promises, mut next) = (Vec::new(), Bits::new(), Vec::new());
            for (variable, value) in cube {
                match self.meanings[variable as usize] {
                    Meaning::Now(atom) => letters.push((number_of(atom), value)),
                    Meaning::Next(formula) => next.push(formula),
                    Meaning::Promise(formula) => promises.insert(self.promise_numbers[&formula]),
                }
            }
            // Parts that others imply must stay: the others may put off for ever what these promise.
            let next = self.simplifier.formulas.and(next);
            if self.simplifier.is_contradiction(next) {
                continue;
            }
            let target = self.state(next)?;
            // Labels are functions of the atoms' own numbers, which all states share.
            letters.sort_unstable();
            let label = self.diagrams.cube(&letters)?;
            match edges.iter_mut().find(|edge| edge.1 == promises && edge.2 == target) {
                Some(edge) => edge.0 = self.diagrams.or(edge.0, label)?,
                None => edges.push((label, promises, target)),
            }
        }
        Ok(edges)
    }

    fn function(&mut self, root: FormulaId) -> DiagramResult<Diagram> {
        let mut path = vec![root];
        while let Some(&id) = path.last() {
            if self.now.contains_key(&id) {
                path.pop();
                continue;
            }
            let formula = self.simplifier.formulas.get(id).clone();
            let is_next = matches!(formula, Formula::Unary(Unary::Next, _));
            let missing: Vec<_> = formula.parts().filter(|part| !is_next && !self.now.contains_key(part)).collect();
            if missing.is_empty() {
                let function = self.expand(id, &formula)?;
                self.now.insert(id, function);
                path.pop();
            }
            path.extend(missing);
        }
        Ok(self.now[&root])
    }

    /// The expansion laws, for a formula whose parts are expanded.
    fn expand(&mut self, id: FormulaId, formula: &Formula) -> DiagramResult<Diagram> {
        match formula {
            Formula::True => Ok(Diagrams::TRUE),
            Formula::False => Ok(Diagrams::FALSE),
            Formula::Atom(atom) => self.variable(Meaning::Now(*atom)),
            Formula::And(parts) => self.all(parts.iter().map(|part| self.now[part]).collect()),
            Formula::Or(parts) => self.some(parts.iter().map(|part| self.now[part]).collect()),
            Formula::Unary(Unary::Not, part) => {
                let part = self.now[part];
                self.diagrams.not(part)
            }
            Formula::Unary(Unary::Next, part) => self.next(*part),
            Formula::Unary(Unary::Always, part) => {
                let again = self.next(id)?;
                self.diagrams.and(self.now[part], again)
            }
            Formula::Unary(Unary::Eventually, part) => {
                let (later, promise) = (self.next(id)?, self.promise(*part)?);
                let put_off = self.diagrams.and(later, promise)?;
                self.diagrams.or(self.now[part], put_off)
            }
            Formula::Binary(operator, left, right) => self.expand_binary(id, *operator, *left, *right),
        }
    }

    fn expand_binary(
        &mut self,
        id: FormulaId,
        operator: Binary,
        left: FormulaId,
        right: FormulaId,
    ) -> DiagramResult<Diagram> {
        let (f, g) = (self.now[&left], self.now[&right]);
        let mut later = self.next(id)?;
        match operator {
            Binary::Until | Binary::WeakUntil => {
                if operator == Binary::Until {
                    let promise = self.promise(right)?;
                    later = self.diagrams.and(later, promise)?;
                }
                let goes_on = self.diagrams.and(f, later)?;
                self.diagrams.or(g, goes_on)
            }
            Binary::Releases | Binary::StrongReleases => {
                if operator == Binary::StrongReleases {
                    let promise = self.promise(left)?;
                    later = self.diagrams.and(later, promise)?;
                }
                let goes_on = self.diagrams.or(f, later)?;
                self.diagrams.and(g, goes_on)
            }
            Binary::Implies | Binary::Iff | Binary::Xor | Binary::LeadsTo => {
                unreachable!("these are not in normal form")
            }
        }
    }

    fn all(&mut self, parts: Vec<Diagram>) -> DiagramResult<Diagram> {
        parts.into_iter().try_fold(Diagrams::TRUE, |all, part| self.diagrams.and(all, part))
    }

    fn some(&mut self, parts: Vec<Diagram>) -> DiagramResult<Diagram> {
        parts.into_iter().try_fold(Diagrams::FALSE, |some, part| self.diagrams.or(some, part))
    }

    /// The formula holds at the next point; a conjunction does if each part does, so that parts are shared between states.
    fn next(&mut self, formula: FormulaId) -> DiagramResult<Diagram> {
        match self.simplifier.formulas.get(formula).clone() {
            Formula::True => Ok(Diagrams::TRUE),
            Formula::False => Ok(Diagrams::FALSE),
            Formula::And(parts) => {
                let parts: Vec<Diagram> = parts.iter().map(|&part| self.next(part)).collect::<DiagramResult<_>>()?;
                self.all(parts)
            }
            _ => self.variable(Meaning::Next(formula)),
        }
    }

    fn promise(&mut self, formula: FormulaId) -> DiagramResult<Diagram> {
        if !self.promise_numbers.contains_key(&formula) {
            self.promise_numbers.insert(formula, self.n_promises);
            self.n_promises += 1;
        }
        self.variable(Meaning::Promise(formula))
    }

    fn variable(&mut self, meaning: Meaning) -> DiagramResult<Diagram> {
        let fresh = DiagramVariable::try_from(self.meanings.len()).expect("there are fewer than 2^32 formulas");
        let variable = *self.variables.entry(meaning).or_insert(fresh);
        if variable == fresh {
            self.meanings.push(meaning);
        }
        self.diagrams.literal(variable, true)
    }
}

/// The variable of an atom in labels.
fn number_of(atom: AtomId) -> DiagramVariable {
    DiagramVariable::try_from(atom.index()).expect("atoms are numbered by 32 bits")
}
