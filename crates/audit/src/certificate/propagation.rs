//! Refutations replayed: the steps of `evidence::propagation`, each by its definition.
//!
//! In: what processes see, checked at every view state; and for each way to violate the property the steps of its refutation. Out: that the
//! last step of each leaves nothing, or why it does not. Nothing that the engine computed is used: views, their edges, fair components
//! and compatible edges are made here, from `eval`.

pub(super) mod conditions;
mod crowds;
pub(super) mod edges;
mod partly;
mod views;
mod weights;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use base::Budget;
use evidence::plain::ReferenceViolation;
use evidence::propagation::{EdgeOwner, HolderCase, NodePoint, Refutation, RefutationCase, RefutationStep, Sights};
use model::Model;
use model::fairness::FairnessId;
use model::process::ProcessId;
use model::variable::CellId;

use super::clause::Splitter;
use super::named::Named;
use super::{CertificateError, Outcome, words};
use conditions::{Judge, Product};
use crowds::Crowds;
use edges::{Condition, Edge, Meeting, edges, fair_components};
use views::{Item, View, Views};

/// What an earlier fact says of the edges of a process, where its view shows that.
type Lemma = Option<Rc<Condition>>;

/// A process, and fairness assumptions.
type Assumed = (usize, Vec<FairnessId>);

/// What refutations of one program share: its views, and their edges where they are asked for.
pub(super) struct Scene<'a> {
    views: Views<'a>,
    edges: Vec<OnceCell<Rc<Vec<Edge>>>>,
    /// Their ends.
    ends: Vec<OnceCell<Vec<(usize, usize)>>>,
    /// What fairness assumptions demand of the edges of processes.
    conditions: RefCell<HashMap<Assumed, Rc<Vec<Condition>>>>,
    /// What follows from earlier facts for the edges of processes.
    lemmas: RefCell<HashMap<(usize, usize), Lemma>>,
    splitter: Splitter<'a>,
    /// Processes of which one view represents all.
    crowds: Crowds<'a>,
    budget: &'a Budget,
}

impl<'a> Scene<'a> {
    /// Checks what processes see, and the additive invariants.
    pub fn new(model: &'a Model, sights: &Sights, budget: &'a Budget) -> Outcome<Self> {
        if !model.procedures.is_empty() || model.has_when_nobody() {
            let why =
                "the program has procedures or steps for where nobody can move, of which refutations know nothing";
            return Err(CertificateError::NotSupported(why.to_owned()));
        }
        if !sights.crowds.is_empty() && (!model.channels.is_empty() || model.goes_on()) {
            let why = "the program has rendezvous or steps that go on, of which refutations with crowds know nothing";
            return Err(CertificateError::NotSupported(why.to_owned()));
        }
        let crowds = Crowds::new(model, sights)?;
        let views = Views::new(model, sights, &|process| crowds.is_looked_at(process), budget)?;
        let edges = views.list.iter().map(|_| OnceCell::new()).collect();
        let ends = views.list.iter().map(|_| OnceCell::new()).collect();
        let (conditions, lemmas) = Default::default();
        Ok(Scene { edges, ends, views, conditions, lemmas, splitter: Splitter::new(model), crowds, budget })
    }

    /// How many view states there are.
    pub fn n_rows(&self) -> usize {
        self.views.list.iter().map(|view| view.rows.len()).sum()
    }

    fn edges(&self, process: usize) -> Outcome<&Rc<Vec<Edge>>> {
        if let Some(known) = self.edges[process].get() {
            return Ok(known);
        }
        let made = Rc::new(edges(&self.views, &self.views.list[process])?);
        Ok(self.edges[process].get_or_init(|| made))
    }

    /// Replays a refutation of one way to violate the property, with earlier facts; how many steps there were.
    pub fn check(&self, violation: &ReferenceViolation, claim: &Refutation, earlier: &[Earlier<'_>]) -> Outcome<usize> {
        let assumed: BTreeSet<FairnessId> = violation.fairness.iter().copied().collect();
        for fact in earlier {
            if !fact.violation.fairness.iter().all(|pair| assumed.contains(pair)) {
                return Err(CertificateError::Malformed("it uses what was shown of other fair runs".to_owned()));
            }
        }
        let model = self.views.model;
        let mut members = claim.members.clone();
        members.sort_unstable();
        members.dedup();
        let cells = claim.cells.iter().map(|&cell| Item::Cell(cell));
        let more: BTreeSet<Item> = cells.chain(claim.controls.iter().map(|&process| Item::Control(process))).collect();
        let property = self.views.joint(&members, &more)?;
        let judge = Judge { views: &self.views, splitter: &self.splitter };
        if !self.crowds.is_empty() {
            if !earlier.is_empty() {
                return Err(CertificateError::Malformed("it uses what was shown before, beside crowds".to_owned()));
            }
            return crowds::replay::check(self, judge, (violation, claim), property);
        }
        let own = members.first().filter(|one| Rc::ptr_eq(&property, &self.views.list[one.index()]));
        let property_edges = match own {
            Some(process) => Rc::clone(self.edges(process.index())?),
            None => Rc::new(edges(&self.views, &property)?),
        };
        judge.check_values(violation, &property)?;
        let fairness = judge.fairness(violation, &property, &property_edges);
        let product = judge.product(&violation.automaton, (&property, &property_edges), &fairness)?;
        let (meetings, lasting) = Default::default();
        let named = Named::new(model, &violation.automaton, &claim.automaton)?;
        let replay = Replay {
            scene: self,
            judge,
            violation,
            named,
            earlier,
            property,
            property_edges,
            product,
            meetings,
            lasting,
        };
        let sets = Sets { of: vec![None; model.processes.len() + 1], scheduled: None };
        let mut n_steps = 0;
        replay.run(&claim.steps, sets, &mut n_steps)?;
        Ok(n_steps)
    }
}

/// That no fair run violates the property in some way, shown by an earlier fact.
#[derive(Clone, Copy)]
pub(super) struct Earlier<'e> {
    /// The fact.
    pub fact: usize,
    /// The way.
    pub violation: &'e ReferenceViolation,
}

/// The sets at some point: by process, then the property's; `None` is all edges.
#[derive(Clone)]
struct Sets {
    of: Vec<Option<Rc<Vec<bool>>>>,
    /// A process that has its turn again and again.
    scheduled: Option<ProcessId>,
}

/// A refutation that is replayed.
struct Replay<'r, 'a> {
    scene: &'r Scene<'a>,
    judge: Judge<'r, 'a>,
    violation: &'r ReferenceViolation,
    named: Named,
    earlier: &'r [Earlier<'r>],
    property: Rc<View>,
    property_edges: Rc<Vec<Edge>>,
    product: Product,
    /// Which edges of two spots can be the same turn.
    meetings: RefCell<HashMap<(usize, usize), Rc<Meeting>>>,
    /// By process, what the violation itself demands of its edges.
    lasting: RefCell<HashMap<usize, Rc<Vec<Condition>>>>,
}

impl Replay<'_, '_> {
    /// Takes steps; an error where they do not end with nothing.
    fn run(&self, steps: &[RefutationStep], mut sets: Sets, n_steps: &mut usize) -> Outcome<()> {
        for (at, step) in steps.iter().enumerate() {
            self.scene.budget.check(0)?;
            *n_steps += 1;
            match step {
                RefutationStep::Fair(spot) => {
                    let spot = self.number(*spot)?;
                    let mut kept = vec![false; self.n_edges(spot)?];
                    self.components(spot, &sets)?.into_iter().flatten().for_each(|edge| kept[edge] = true);
                    if self.keep(&mut sets, spot, kept) {
                        return Ok(());
                    }
                }
                RefutationStep::Compatible { from, to } => {
                    let (from, to) = (self.number(*from)?, self.number(*to)?);
                    let kept = self.compatible(from, to, &sets)?;
                    if self.keep(&mut sets, to, kept) {
                        return Ok(());
                    }
                }
                last if at + 1 < steps.len() => {
                    return Err(CertificateError::Malformed(format!("steps follow {}", word(last))));
                }
                RefutationStep::Split { of, cases } => return self.split(self.number(*of)?, cases, &sets, n_steps),
                RefutationStep::Holder { of, invariant, cases } => {
                    return self.holder((self.number(*of)?, *invariant), cases, &sets, n_steps);
                }
                RefutationStep::Scheduled(cases) => return self.scheduled(cases, &sets, n_steps),
                RefutationStep::Unequal(invariant) => return self.unequal(*invariant, &sets),
                RefutationStep::Single(_) => {
                    return Err(CertificateError::Malformed("who is in no crowd is singled out".to_owned()));
                }
            }
        }
        words::refused("the last step of a refutation has to leave nothing", "edges are left")
    }

    /// The position of a spot.
    fn number(&self, spot: EdgeOwner) -> Outcome<usize> {
        let n_processes = self.scene.views.list.len();
        match spot {
            EdgeOwner::Property => Ok(n_processes),
            EdgeOwner::Process(process) if process.index() < n_processes => Ok(process.index()),
            EdgeOwner::Process(process) => {
                Err(CertificateError::Malformed(format!("there is no process number {}", process.index())))
            }
        }
    }

    fn is_property(&self, spot: usize) -> bool {
        spot == self.scene.views.list.len()
    }

    fn view(&self, spot: usize) -> &View {
        self.scene.views.list.get(spot).map_or(&self.property, Rc::as_ref)
    }

    fn n_edges(&self, spot: usize) -> Outcome<usize> {
        if self.is_property(spot) { Ok(self.product.ends.len()) } else { Ok(self.scene.edges(spot)?.len()) }
    }

    fn contains(sets: &Sets, spot: usize, edge: usize) -> bool {
        sets.of[spot].as_ref().is_none_or(|set| set[edge])
    }

    /// Keeps these edges of a set; whether nothing is left.
    fn keep(&self, sets: &mut Sets, spot: usize, kept: Vec<bool>) -> bool {
        let is_empty = !kept.contains(&true);
        sets.of[spot] = Some(Rc::new(kept));
        is_empty
    }

    /// All edges of the view of a spot.
    fn all_edges(&self, spot: usize) -> Outcome<&[Edge]> {
        if self.is_property(spot) { Ok(&self.property_edges) } else { Ok(self.scene.edges(spot)?) }
    }

    /// The numbers of the edges of the view behind a set.
    fn edge_numbers(&self, spot: usize, sets: &Sets) -> Outcome<Vec<usize>> {
        let edges = (0..self.n_edges(spot)?).filter(|&edge| Self::contains(sets, spot, edge));
        if self.is_property(spot) {
            let base: BTreeSet<usize> = edges.map(|edge| self.product.base[edge]).collect();
            return Ok(base.into_iter().collect());
        }
        Ok(edges.collect())
    }

    /// The edges of the view behind a set.
    fn view_edges(&self, spot: usize, sets: &Sets) -> Outcome<Vec<&Edge>> {
        let all = self.all_edges(spot)?;
        Ok(self.edge_numbers(spot, sets)?.into_iter().map(|edge| &all[edge]).collect())
    }

    /// The fair components of a set.
    fn components(&self, spot: usize, sets: &Sets) -> Outcome<Vec<Vec<usize>>> {
        let n_edges = self.n_edges(spot)?;
        let within = sets.of[spot].clone().unwrap_or_else(|| Rc::new(vec![true; n_edges]));
        if self.is_property(spot) {
            return Ok(fair_components(&self.product.ends, &within, &self.product.conditions));
        }
        let edges = self.scene.edges(spot)?;
        let ends = self.scene.ends[spot].get_or_init(|| edges.iter().map(|edge| (edge.from, edge.to)).collect());
        let mut conditions = self.fairness(spot, edges);
        let lasting = self.lasting(spot, edges);
        if !lasting.is_empty() {
            conditions = Rc::new(conditions.iter().chain(lasting.iter()).cloned().collect());
        }
        let lemmas: Vec<Rc<Condition>> =
            self.earlier.iter().filter_map(|fact| self.lemma(spot, edges, *fact)).collect();
        if !lemmas.is_empty() {
            let lemmas = lemmas.iter().map(|lemma| Condition::clone(lemma));
            conditions = Rc::new(conditions.iter().cloned().chain(lemmas).collect());
        }
        if let Some(process) = sets.scheduled.filter(|process| process.index() == spot) {
            let is_turn = |edge: &Edge| edge.turn.as_ref().is_some_and(|turn| turn.processes().contains(&process));
            let turns = Condition { stays: None, often: edges.iter().map(is_turn).collect() };
            conditions = Rc::new(conditions.iter().cloned().chain([turns]).collect());
        }
        Ok(fair_components(ends, &within, &conditions))
    }

    /// What fairness demands of the view of a process; assumptions that every edge meets are left out.
    fn fairness(&self, spot: usize, edges: &[Edge]) -> Rc<Vec<Condition>> {
        let key = (spot, self.violation.fairness.clone());
        if let Some(known) = self.scene.conditions.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut made = self.judge.fairness(self.violation, self.view(spot), edges);
        made.retain(|condition| condition.often.contains(&false));
        let made = Rc::new(made);
        self.scene.conditions.borrow_mut().insert(key, Rc::clone(&made));
        made
    }

    /// What the violation itself demands of the edges of a process.
    fn lasting(&self, spot: usize, edges: &[Edge]) -> Rc<Vec<Condition>> {
        if let Some(known) = self.lasting.borrow().get(&spot) {
            return Rc::clone(known);
        }
        let made = Rc::new(self.judge.lasting(self.view(spot), edges, &self.violation.automaton));
        self.lasting.borrow_mut().insert(spot, Rc::clone(&made));
        made
    }

    /// What an earlier fact says of the edges of a process, if its view shows that.
    fn lemma(&self, spot: usize, edges: &[Edge], earlier: Earlier<'_>) -> Option<Rc<Condition>> {
        let key = (spot, earlier.fact);
        if let Some(known) = self.scene.lemmas.borrow().get(&key) {
            return known.clone();
        }
        let made = self.judge.lemma(self.view(spot), edges, &earlier.violation.automaton).map(Rc::new);
        self.scene.lemmas.borrow_mut().insert(key, made.clone());
        made
    }

    /// What of a set is compatible with another.
    fn compatible(&self, from: usize, to: usize, sets: &Sets) -> Outcome<Vec<bool>> {
        let fits = self.meeting(from, to)?.compatible(&self.edge_numbers(from, sets)?);
        let base = |edge: usize| if self.is_property(to) { self.product.base[edge] } else { edge };
        Ok((0..self.n_edges(to)?).map(|edge| Self::contains(sets, to, edge) && fits[base(edge)]).collect())
    }

    /// Which edges of two spots can be the same turn.
    fn meeting(&self, from: usize, to: usize) -> Outcome<Rc<Meeting>> {
        if let Some(known) = self.meetings.borrow().get(&(from, to)) {
            return Ok(Rc::clone(known));
        }
        let (one, other) = ((self.view(from), self.all_edges(from)?), (self.view(to), self.all_edges(to)?));
        let made = Rc::new(Meeting::new(&self.scene.views, one, other));
        self.meetings.borrow_mut().insert((from, to), Rc::clone(&made));
        Ok(made)
    }

    fn split(&self, of: usize, cases: &[RefutationCase], sets: &Sets, n_steps: &mut usize) -> Outcome<()> {
        let n_edges = self.n_edges(of)?;
        let mut kept: Vec<Vec<bool>> = vec![Vec::new(); cases.len()];
        for component in self.components(of, sets)? {
            let nodes: BTreeSet<usize> =
                component.iter().map(|&edge| self.beginning(of, edge)).collect::<Outcome<_>>()?;
            let is_in = |point: &NodePoint| self.node(of, point).is_some_and(|node| nodes.contains(&node));
            let Some(case) = cases.iter().position(|case| case.points.iter().any(is_in)) else {
                return words::refused("each fair component has to have a case", "one has none");
            };
            kept[case].resize(n_edges, false);
            component.iter().for_each(|&edge| kept[case][edge] = true);
        }
        for (case, kept) in cases.iter().zip(kept).filter(|(_, kept)| !kept.is_empty()) {
            let mut sets = sets.clone();
            sets.of[of] = Some(Rc::new(kept));
            self.run(&case.steps, sets, n_steps)?;
        }
        Ok(())
    }

    /// The node that an edge of a spot leaves: a view state, or one with the automaton's state.
    fn beginning(&self, of: usize, edge: usize) -> Outcome<usize> {
        if self.is_property(of) { Ok(self.product.ends[edge].0) } else { Ok(self.scene.edges(of)?[edge].from) }
    }

    /// The node that a point is, if there is one.
    fn node(&self, of: usize, point: &NodePoint) -> Option<usize> {
        let row = self.view(of).number(&point.row)?;
        if !self.is_property(of) {
            return Some(row);
        }
        self.product.number(row, self.named.state(point.state? as usize)?)
    }

    fn holder(
        &self,
        (of, invariant): (usize, usize),
        cases: &[HolderCase],
        sets: &Sets,
        n_steps: &mut usize,
    ) -> Outcome<()> {
        let weights = &self.scene.views.weights;
        self.check_invariant(invariant)?;
        let view = self.view(of);
        let holds = |row: usize| view.share(row, invariant).rest.is_some_and(|rest| rest >= 1);
        if !self.view_edges(of, sets)?.iter().all(|edge| holds(edge.from) && holds(edge.to)) {
            return words::refused("some other process has to weigh something all the time", "none may do so");
        }
        let holders = weights.holders(invariant);
        for process in holders.into_iter().filter(|holder| !view.members.contains(holder)) {
            let other = process.index();
            let mut kept = self.compatible(of, other, sets)?;
            let edges = self.scene.edges(other)?;
            let mut known: HashMap<usize, i64> = HashMap::new();
            let mut weight = |row: usize| match known.get(&row) {
                Some(&known) => Ok(known),
                None => {
                    let weight = weights.weight(invariant, process, self.view(other), row)?;
                    known.insert(row, weight);
                    Ok::<i64, CertificateError>(weight)
                }
            };
            for (edge, kept) in edges.iter().zip(&mut kept).filter(|(_, kept)| **kept) {
                let (before, after) = (weight(edge.from)?, weight(edge.to)?);
                if before <= 0 && after > 0 {
                    return words::refused(
                        "no process that weighs nothing may get a weight",
                        format!("{} may", self.scene.views.model.processes[process].name),
                    );
                }
                *kept = before > 0 && after > 0;
            }
            let mut sets = sets.clone();
            sets.of[other] = Some(Rc::new(kept));
            self.run(self.steps_of(process, cases)?, sets, n_steps)?;
        }
        Ok(())
    }

    fn scheduled(&self, cases: &[HolderCase], sets: &Sets, n_steps: &mut usize) -> Outcome<()> {
        if sets.scheduled.is_some() {
            return Err(CertificateError::Malformed("it is said already who has its turn again and again".to_owned()));
        }
        for process in self.scene.views.model.processes.ids() {
            let sets = Sets { scheduled: Some(process), ..sets.clone() };
            self.run(self.steps_of(process, cases)?, sets, n_steps)?;
        }
        Ok(())
    }

    fn steps_of<'c>(&self, process: ProcessId, cases: &'c [HolderCase]) -> Outcome<&'c [RefutationStep]> {
        let case = cases.iter().find(|case| case.process == process).map(|case| case.steps.as_slice());
        case.ok_or_else(|| {
            CertificateError::Malformed(format!("{} has no case", self.scene.views.model.processes[process].name))
        })
    }

    fn check_invariant(&self, invariant: usize) -> Outcome<()> {
        if invariant < self.scene.views.weights.len() {
            return Ok(());
        }
        Err(CertificateError::Malformed(format!("there is no additive invariant number {invariant}")))
    }

    fn unequal(&self, invariant: usize, sets: &Sets) -> Outcome<()> {
        self.check_invariant(invariant)?;
        let weights = &self.scene.views.weights;
        let mut left = (weights.constant(invariant), weights.constant(invariant));
        for (term, cells) in weights.terms(invariant).into_iter().enumerate() {
            let range = self.term_range((invariant, term), cells, sets)?;
            left = (left.0.saturating_add(range.0), left.1.saturating_add(range.1));
        }
        let mut right = (0_i64, 0_i64);
        for process in weights.holders(invariant) {
            let mut range = weights.process_range(invariant, process);
            if sets.of[process.index()].is_some() {
                let mut rows = Vec::new();
                for edge in self.view_edges(process.index(), sets)? {
                    rows.push(weights.weight(invariant, process, self.view(process.index()), edge.from)?);
                }
                range = (rows.iter().copied().min().unwrap_or(range.0), rows.iter().copied().max().unwrap_or(range.1));
            }
            right = (right.0.saturating_add(range.0), right.1.saturating_add(range.1));
        }
        if left.1 < right.0 || right.1 < left.0 {
            return Ok(());
        }
        words::refused("the sides of an additive invariant must not be equal", "they may be")
    }

    /// What a term can weigh, by the sets of all views that show its cells.
    fn term_range(&self, (invariant, term): (usize, usize), cells: &[CellId], sets: &Sets) -> Outcome<(i64, i64)> {
        let weights = &self.scene.views.weights;
        let mut range = weights.term_range(invariant, term, None);
        for spot in (0..sets.of.len()).filter(|&spot| sets.of[spot].is_some()) {
            let view = self.view(spot);
            let places = cells.iter().map(|&cell| view.items.binary_search(&Item::Cell(cell)).ok());
            let Some(places) = places.collect::<Option<Vec<usize>>>() else { continue };
            let mut values = BTreeSet::new();
            for edge in self.view_edges(spot, sets)? {
                values.insert(places.iter().map(|&place| view.rows[edge.from][place]).collect());
            }
            let shown = weights.term_range(invariant, term, Some(&values));
            range = (range.0.max(shown.0), range.1.min(shown.1));
        }
        Ok(range)
    }
}

fn word(step: &RefutationStep) -> &'static str {
    match step {
        RefutationStep::Fair(_) | RefutationStep::Compatible { .. } | RefutationStep::Single(_) => "a step",
        RefutationStep::Split { .. } | RefutationStep::Holder { .. } | RefutationStep::Scheduled(_) => {
            "a distinction of cases"
        }
        RefutationStep::Unequal(_) => "the contradiction of sums",
    }
}
