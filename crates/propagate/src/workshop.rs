//! What refutations share: graphs of views, which edges of two views go together, what fairness demands. Each is made when it is asked for.

use std::rc::Rc;

use engine::Halt;
use evidence::plain::ReferenceViolation;
use model::fairness::{FairnessId, FairnessPair};
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use streett::StreettPair;

use crate::conditions::fair_conditions;
use crate::graph::{Pairing, ViewGraph, view_graph};
use crate::lemmas::lemma;
use crate::views::{ViewIdx, Views};

/// Views with all that is known about their edges.
pub struct Workshop<'m> {
    /// The views.
    pub views: Views<'m>,
    most_edges: usize,
    n_edges: usize,
    graphs: FxHashMap<ViewIdx, Rc<ViewGraph>>,
    pairings: FxHashMap<(ViewIdx, ViewIdx), Rc<Pairing>>,
    weights: FxHashMap<(ProcessId, usize), Rc<Vec<i64>>>,
    conditions: FxHashMap<Assumed, Rc<Vec<StreettPair>>>,
    /// The same with lemmas, where there are some, and the facts that these are from.
    learned: FxHashMap<Assumed, Learned>,
}

/// Conditions with lemmas.
#[derive(Clone)]
struct Learned {
    conditions: Rc<Vec<StreettPair>>,
    facts: Vec<usize>,
}

/// A view, and fairness assumptions.
type Assumed = (ViewIdx, Vec<FairnessId>);

impl<'m> Workshop<'m> {
    /// Nothing is known yet.
    pub fn new(views: Views<'m>, most_edges: usize) -> Self {
        let (graphs, pairings, weights, conditions, learned) = Default::default();
        Workshop { views, most_edges, n_edges: 0, graphs, pairings, weights, conditions, learned }
    }

    /// How many edges all graphs may have.
    pub fn most_edges(&self) -> usize {
        self.most_edges
    }

    /// The graph of a view.
    ///
    /// # Errors
    /// A limit, or a contradiction.
    pub fn graph(&mut self, view: ViewIdx) -> Result<Rc<ViewGraph>, Halt> {
        if let Some(known) = self.graphs.get(&view) {
            return Ok(Rc::clone(known));
        }
        let made = Rc::new(view_graph(&self.views, view, self.most_edges.saturating_sub(self.n_edges))?);
        self.n_edges += made.graph.n_edges();
        self.graphs.insert(view, Rc::clone(&made));
        Ok(made)
    }

    /// Which edges of two views go together.
    ///
    /// # Errors
    /// A limit, or a contradiction.
    pub fn pairing(&mut self, left: ViewIdx, right: ViewIdx) -> Result<Rc<Pairing>, Halt> {
        if let Some(known) = self.pairings.get(&(left, right)) {
            return Ok(Rc::clone(known));
        }
        let (one, other) = (self.graph(left)?, self.graph(right)?);
        let made = Rc::new(Pairing::new(&self.views, (left, &one), (right, &other)));
        self.pairings.insert((left, right), Rc::clone(&made));
        Ok(made)
    }

    /// What a process weighs at each row of its view.
    pub fn row_weights(&mut self, process: ProcessId, invariant: usize) -> Rc<Vec<i64>> {
        let (views, known) = (&self.views, &mut self.weights);
        let made = known.entry((process, invariant)).or_insert_with(|| {
            let view = &views.list[process.index()];
            let weight = |row| views.weights.weight(invariant, process, (&view.items, row)).unwrap_or(0);
            Rc::new(view.rows.iter().map(|row| weight(row)).collect())
        });
        Rc::clone(made)
    }

    /// What fairness demands in a view.
    ///
    /// # Errors
    /// A limit, a contradiction, or a predicate without a value.
    pub fn conditions(&mut self, view: ViewIdx, fairness: &[FairnessId]) -> Result<Rc<Vec<StreettPair>>, Halt> {
        let key = (view, fairness.to_vec());
        if let Some(known) = self.conditions.get(&key) {
            return Ok(Rc::clone(known));
        }
        let graph = self.graph(view)?;
        let model = self.views.model;
        let pairs: Vec<&FairnessPair> = fairness.iter().map(|&pair| &model.fairness[pair]).collect();
        let made = Rc::new(fair_conditions(&mut self.views, (view, &graph), &pairs)?);
        self.conditions.insert(key, Rc::clone(&made));
        Ok(made)
    }

    /// From here on every fair run satisfies what follows from that no fair run violates the property in this way, which a fact shows.
    ///
    /// # Errors
    /// A limit, a contradiction, or a predicate without a value.
    pub fn learn(&mut self, view: ViewIdx, violation: &ReferenceViolation, fact: usize) -> Result<(), Halt> {
        let graph = self.graph(view)?;
        let Some(lemma) = lemma(&mut self.views, (view, &graph), &violation.automaton)? else { return Ok(()) };
        let mut conditions = (*self.known(view, &violation.fairness)?).clone();
        conditions.push(lemma);
        let key = (view, violation.fairness.clone());
        let mut facts = self.learned.remove(&key).map(|learned| learned.facts).unwrap_or_default();
        facts.push(fact);
        self.learned.insert(key, Learned { conditions: Rc::new(conditions), facts });
        Ok(())
    }

    /// Knows no lemma any more: lemmas are facts of one proof, and named by their numbers in it.
    pub fn forget(&mut self) {
        self.learned.clear();
    }

    /// What fairness demands in a view, with lemmas.
    ///
    /// # Errors
    /// As [`Workshop::conditions`].
    pub fn known(&mut self, view: ViewIdx, fairness: &[FairnessId]) -> Result<Rc<Vec<StreettPair>>, Halt> {
        match self.learned.get(&(view, fairness.to_vec())) {
            Some(learned) => Ok(Rc::clone(&learned.conditions)),
            None => self.conditions(view, fairness),
        }
    }

    /// The facts whose lemmas are known in a view.
    pub fn facts(&self, view: ViewIdx, fairness: &[FairnessId]) -> &[usize] {
        self.learned.get(&(view, fairness.to_vec())).map_or(&[], |learned| &learned.facts)
    }
}
