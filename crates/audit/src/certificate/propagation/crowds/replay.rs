//! Refutations with crowds, replayed: the steps of `evidence::propagation`, each by its definition.
//!
//! In: views of which those of two processes of each crowd are made, and the steps of a refutation. Out: that the last step leaves nothing, or why it does not.
//! Sets are lists of edges; those of a crowd speak of each of its processes that was not singled out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use evidence::plain::ReferenceViolation;
use evidence::propagation::{EdgeOwner, HolderCase, NodePoint, Refutation, RefutationCase, RefutationStep};
use model::control::ActionId;
use model::eval::Turn;
use model::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use model::process::ProcessId;

use super::super::conditions::{Judge, expressions};
use super::super::edges::{Condition, edges, fair_components};
use super::super::views::{Item, View, common, shown};
use super::super::weights::Share;
use super::super::{Scene, word};
use super::{FEWEST, malformed};
use crate::certificate::exchanged::keeps_fairness;
use crate::certificate::named::Named;
use crate::certificate::numbering::name;
use crate::certificate::{CertificateError, Outcome, words};

/// Whose set it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Property,
    /// A process in no crowd, or one that was singled out.
    One(ProcessId),
    /// Every process of a crowd that was not singled out.
    Crowd(usize),
}

/// The process that stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Mover {
    /// The process of the view, where it is of a crowd.
    Own,
    One(ProcessId),
    /// Another process of this crowd.
    Member(usize),
    /// A process that sees nothing of the view.
    Unseen,
}

/// What it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Deed {
    Step(ActionId),
    StandStill,
    Unseen,
}

/// An edge between rows, or between nodes of the product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: usize,
    to: usize,
    mover: Mover,
    deed: Deed,
    /// What an edge of the product carries.
    marks: Vec<usize>,
}

/// The sets at some point; all edges where there is none.
#[derive(Clone, Default)]
struct Sets {
    of: BTreeMap<Spot, Rc<Vec<Arrow>>>,
    /// The processes that were singled out.
    singled: BTreeSet<ProcessId>,
    /// A process that has its turn again and again.
    scheduled: Option<ProcessId>,
}

/// What two edges are compared by: the process that stepped and its action, where both views show that.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Told {
    Both(Mover, Deed),
    /// The other view does not show it.
    Here,
    /// This view does not show it.
    Nowhere,
}

/// The edges of a set by what another view tells of them: what additive invariants say before and after.
type Index<'v> = HashMap<(Told, Vec<u32>, Vec<u32>), Vec<(&'v [Share], &'v [Share])>>;

/// A refutation that is replayed.
struct Replay<'r, 'a> {
    scene: &'r Scene<'a>,
    judge: Judge<'r, 'a>,
    violation: &'r ReferenceViolation,
    automaton: Named,
    members: Vec<ProcessId>,
    property: Rc<View>,
    /// The row and the state of each node of the product, and its edges.
    nodes: Vec<(usize, usize)>,
    product: Vec<Arrow>,
    n_marks: usize,
    /// The edges of each process or crowd, before a process is singled out.
    arrows: BTreeMap<Spot, Rc<Vec<Arrow>>>,
}

/// Replays a refutation; how many steps there were.
pub(in crate::certificate::propagation) fn check(
    scene: &Scene<'_>,
    judge: Judge<'_, '_>,
    (violation, claim): (&ReferenceViolation, &Refutation),
    property: Rc<View>,
) -> Outcome<usize> {
    let model = scene.views.model;
    let crowds = &scene.crowds;
    let owners = claim.cells.iter().filter_map(|&cell| model.cells.get(cell)?.owner);
    let named = claim.members.iter().chain(&claim.controls).copied().chain(owners);
    if { named }.any(|process| crowds.crowd(process).is_some()) {
        return malformed("the view of the property shows a process of a crowd");
    }
    for &pair in &violation.fairness {
        if expressions(&model.fairness[pair]).into_iter().any(|expr| !judge.splitter.has_value(expr, &[])) {
            let pair = &model.fairness[pair].name;
            return Err(CertificateError::NotSupported(format!("`{pair}` may have no value")));
        }
    }
    if let Some(symmetry) = &crowds.symmetry {
        for crowd in &crowds.list {
            for permutation in symmetry.all_of(crowd) {
                keeps_fairness(model, (symmetry, &permutation), violation)?;
            }
        }
    }
    let mut replay = Replay {
        scene,
        judge,
        violation,
        automaton: Named::new(model, &violation.automaton, &claim.automaton)?,
        members: claim.members.clone(),
        property,
        nodes: Vec::new(),
        product: Vec::new(),
        n_marks: violation.automaton.n_marks,
        arrows: BTreeMap::new(),
    };
    replay.check_alike()?;
    let processes = model.processes.ids().filter(|&one| crowds.crowd(one).is_none()).map(Spot::One);
    let spots: Vec<Spot> = processes.chain((0..crowds.list.len()).map(Spot::Crowd)).collect();
    for spot in spots {
        let arrows = Rc::new(replay.made(spot, replay.view(spot))?);
        replay.arrows.insert(spot, arrows);
    }
    replay.make_product()?;
    let mut n_steps = 0;
    replay.run(&claim.steps, Sets::default(), &mut n_steps)?;
    Ok(n_steps)
}

impl Replay<'_, '_> {
    /// The two views that are made of a crowd show the same.
    fn check_alike(&self) -> Outcome<()> {
        for crowd in &self.scene.crowds.list {
            let [one, other] = [0, 1].map(|at| &self.scene.views.list[crowd[at].index()]);
            let done = |view: &View, row: usize| -> BTreeSet<(Deed, Vec<u32>)> {
                view.options[row].turns.iter().map(|(turn, after)| (deed(turn), after.clone())).collect()
            };
            let is_same = |(row, content): (usize, &Vec<u32>)| {
                let Some(their) = other.number(content) else { return false };
                done(one, row) == done(other, their)
                    && one.shares[row] == other.shares[their]
                    && one.initial.contains(&row) == other.initial.contains(&their)
                    && one.options[row].enabled.values().eq(other.options[their].enabled.values())
            };
            if one.rows.len() != other.rows.len() || !one.rows.iter().enumerate().all(is_same) {
                let model = self.scene.views.model;
                return words::refused(
                    "processes of a crowd have to do the same",
                    format!("{} does something else than {}", name(model, crowd[1]), name(model, crowd[0])),
                );
            }
        }
        Ok(())
    }

    fn view(&self, spot: Spot) -> &Rc<View> {
        match spot {
            Spot::Property => &self.property,
            Spot::One(process) => match self.crowd_of(process) {
                Some(crowd) => self.view(Spot::Crowd(crowd)),
                None => &self.scene.views.list[process.index()],
            },
            Spot::Crowd(crowd) => &self.scene.views.list[self.first(crowd).index()],
        }
    }

    fn crowd_of(&self, process: ProcessId) -> Option<usize> {
        self.scene.crowds.crowd(process)
    }

    /// The crowd to which the process of a spot belongs, or belonged.
    fn crowd_at(&self, spot: Spot) -> Option<usize> {
        match spot {
            Spot::Property => None,
            Spot::One(process) => self.crowd_of(process),
            Spot::Crowd(crowd) => Some(crowd),
        }
    }

    fn first(&self, crowd: usize) -> ProcessId {
        self.scene.crowds.list[crowd][0]
    }

    /// The edges of a view, as a spot has them.
    fn made(&self, spot: Spot, view: &View) -> Outcome<Vec<Arrow>> {
        let mover = |turn: &Turn| {
            let process = turn.process();
            match (spot, self.crowd_of(process)) {
                (Spot::Crowd(own), Some(crowd)) if own == crowd && process == self.first(crowd) => Mover::Own,
                (_, Some(crowd)) => Mover::Member(crowd),
                (_, None) => Mover::One(process),
            }
        };
        let mut found = BTreeSet::new();
        for edge in edges(&self.scene.views, view)? {
            let (mover, deed) =
                edge.turn.as_ref().map_or((Mover::Unseen, Deed::Unseen), |turn| (mover(turn), deed(turn)));
            found.insert(Arrow { from: edge.from, to: edge.to, mover, deed, marks: Vec::new() });
        }
        Ok(found.into_iter().collect())
    }

    /// The product of the property's view with the automaton.
    fn make_product(&mut self) -> Outcome<()> {
        let atoms = self.judge.atoms(&self.violation.automaton, &self.property)?;
        let mut leaving: HashMap<usize, Vec<Arrow>> = HashMap::new();
        for arrow in self.made(Spot::Property, &self.property)? {
            leaving.entry(arrow.from).or_default().push(arrow);
        }
        self.nodes = self.property.initial.iter().map(|&row| (row, 0)).collect();
        let mut numbers: HashMap<(usize, usize), usize> = self.nodes.iter().copied().zip(0..).collect();
        let mut at = 0;
        while at < self.nodes.len() {
            self.scene.budget.check(0)?;
            let (row, state) = self.nodes[at];
            for reading in &self.violation.automaton.states[state] {
                if !reading.literals.iter().all(|&(atom, wanted)| atoms[atom][row] == wanted) {
                    continue;
                }
                for arrow in leaving.get(&row).into_iter().flatten() {
                    let target = (arrow.to, reading.target);
                    let to = *numbers.entry(target).or_insert_with(|| {
                        self.nodes.push(target);
                        self.nodes.len() - 1
                    });
                    self.product.push(Arrow { from: at, to, marks: reading.marks.clone(), ..arrow.clone() });
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// The row of a node of a spot.
    fn row(&self, spot: Spot, node: usize) -> usize {
        if spot == Spot::Property { self.nodes[node].0 } else { node }
    }

    /// The set of a spot.
    fn set(&self, spot: Spot, sets: &Sets) -> Rc<Vec<Arrow>> {
        if let Some(set) = sets.of.get(&spot) {
            return Rc::clone(set);
        }
        let mut all: Vec<Arrow> = match spot {
            Spot::Property => self.product.clone(),
            Spot::One(process) if self.crowd_of(process).is_some() => {
                let crowd = self.crowd_at(spot).map(Spot::Crowd).and_then(|crowd| self.arrows.get(&crowd));
                crowd.map(|crowd| of_one(crowd, process)).unwrap_or_default()
            }
            other => self.arrows.get(&other).map(|arrows| arrows.to_vec()).unwrap_or_default(),
        };
        for &process in sets.singled.iter().filter(|&&process| spot != Spot::One(process)) {
            if let Some(crowd) = self.crowd_of(process) {
                all = with_copies(&all, crowd, process);
            }
        }
        Rc::new(all)
    }

    /// The spot that a step names: of a crowd, its first process represents all that were not singled out.
    fn spot(&self, named: EdgeOwner, sets: &Sets) -> Outcome<Spot> {
        let EdgeOwner::Process(process) = named else { return Ok(Spot::Property) };
        if process.index() >= self.scene.views.list.len() {
            return malformed("it names a process that there is not");
        }
        match self.crowd_of(process) {
            None => Ok(Spot::One(process)),
            Some(_) if sets.singled.contains(&process) => Ok(Spot::One(process)),
            Some(crowd) if self.first(crowd) == process => Ok(Spot::Crowd(crowd)),
            Some(_) => malformed("it speaks of a process of a crowd that was not singled out"),
        }
    }

    /// How many processes of a crowd were not singled out.
    fn n_left(&self, crowd: usize, sets: &Sets) -> usize {
        let singled = sets.singled.iter().filter(|&&process| self.crowd_of(process) == Some(crowd)).count();
        self.scene.crowds.list[crowd].len() - singled
    }

    /// Singles a process out.
    fn single(&self, process: ProcessId, sets: &Sets) -> Outcome<Sets> {
        let Some(crowd) = self.crowd_of(process) else { return malformed("who is in no crowd is singled out") };
        if process == self.first(crowd) || sets.singled.contains(&process) || self.n_left(crowd, sets) <= FEWEST {
            return malformed("the first of a crowd, one twice, or one of three is singled out");
        }
        let mut after = sets.clone();
        after.singled.insert(process);
        for set in after.of.values_mut() {
            *set = Rc::new(with_copies(set, crowd, process));
        }
        if let Some(crowd) = sets.of.get(&Spot::Crowd(crowd)) {
            after.of.insert(Spot::One(process), Rc::new(of_one(crowd, process)));
        }
        Ok(after)
    }

    /// Takes steps; an error where they do not end with nothing.
    fn run(&self, steps: &[RefutationStep], mut sets: Sets, n_steps: &mut usize) -> Outcome<()> {
        for (at, step) in steps.iter().enumerate() {
            self.scene.budget.check(0)?;
            *n_steps += 1;
            let (spot, kept) = match step {
                RefutationStep::Single(process) => {
                    sets = self.single(*process, &sets)?;
                    continue;
                }
                RefutationStep::Fair(spot) => {
                    let spot = self.spot(*spot, &sets)?;
                    let kept: BTreeSet<Arrow> = self.components(spot, &sets)?.into_iter().flatten().collect();
                    (spot, kept.into_iter().collect())
                }
                RefutationStep::Compatible { from, to } => {
                    let (from, to) = (self.spot(*from, &sets)?, self.spot(*to, &sets)?);
                    (to, self.compatible(from, to, &sets)?)
                }
                last if at + 1 < steps.len() => {
                    return Err(CertificateError::Malformed(format!("steps follow {}", word(last))));
                }
                RefutationStep::Split { of, cases } => {
                    return self.split(self.spot(*of, &sets)?, cases, &sets, n_steps);
                }
                RefutationStep::Holder { of, invariant, cases } => {
                    return self.holder((self.spot(*of, &sets)?, *invariant), cases, &sets, n_steps);
                }
                RefutationStep::Scheduled(cases) => return self.scheduled(cases, &sets, n_steps),
                RefutationStep::Unequal(invariant) => return self.unequal(*invariant, &sets),
            };
            let is_empty = kept.is_empty();
            sets.of.insert(spot, Rc::new(kept));
            if is_empty {
                return Ok(());
            }
        }
        words::refused("the last step of a refutation has to leave nothing", "edges are left")
    }

    /// The fair components of a set.
    fn components(&self, spot: Spot, sets: &Sets) -> Outcome<Vec<Vec<Arrow>>> {
        let set = self.set(spot, sets);
        let ends: Vec<(usize, usize)> = set.iter().map(|arrow| (arrow.from, arrow.to)).collect();
        let pairs = self.violation.fairness.iter().map(|&pair| &self.scene.views.model.fairness[pair]);
        let pairs = pairs.filter(|pair| self.is_shown(spot, pair));
        let mut conditions: Vec<Condition> = pairs.map(|pair| self.condition(spot, pair, &set)).collect();
        if let (Some(process), Spot::One(one)) = (sets.scheduled, spot)
            && process == one
        {
            let often = set.iter().map(|arrow| arrow.mover == Mover::One(process)).collect();
            conditions.push(Condition { stays: None, often });
        }
        if spot == Spot::Property {
            for mark in 0..self.n_marks {
                let often = set.iter().map(|arrow| arrow.marks.contains(&mark)).collect();
                conditions.push(Condition { stays: None, often });
            }
        }
        let found = fair_components(&ends, &vec![true; set.len()], &conditions);
        Ok(found.into_iter().map(|edges| edges.into_iter().map(|edge| set[edge].clone()).collect()).collect())
    }

    /// Whether an assumption speaks of no process in a crowd but that of the spot: of a crowd, its first one, of which others are images.
    fn is_shown(&self, spot: Spot, pair: &FairnessPair) -> bool {
        let own = self.crowd_at(spot).map(|crowd| self.first(crowd));
        let is_shown = |process: ProcessId| self.crowd_of(process).is_none() || own == Some(process);
        let state = |predicate: &StatePredicate| match predicate {
            StatePredicate::Unable(process, _) => is_shown(*process),
            StatePredicate::NobodyAble | StatePredicate::Holds(_) | StatePredicate::Fails(_) => true,
        };
        let edge = |predicate: &EdgePredicate| match predicate {
            EdgePredicate::Before(predicate) => state(predicate),
            EdgePredicate::Scheduled(process) | EdgePredicate::Moves(process, _) => is_shown(*process),
            EdgePredicate::SomebodyMoves => true,
        };
        pair.always.as_ref().is_none_or(state) && pair.often.iter().all(edge)
    }

    /// What an assumption demands of a set.
    fn condition(&self, spot: Spot, pair: &FairnessPair, set: &[Arrow]) -> Condition {
        let view = self.view(spot);
        let n_nodes = if spot == Spot::Property { self.nodes.len() } else { view.rows.len() };
        let at_nodes = |rows: Vec<bool>| (0..n_nodes).map(|node| rows[self.row(spot, node)]).collect::<Vec<bool>>();
        let stays = pair.always.as_ref().map(|always| at_nodes(self.judge.may_hold(view, always)));
        let mut often = vec![false; set.len()];
        for predicate in &pair.often {
            match predicate {
                EdgePredicate::Before(before) => {
                    let before = at_nodes(self.judge.may_hold(view, before));
                    set.iter().zip(&mut often).for_each(|(arrow, often)| *often |= before[arrow.from]);
                }
                EdgePredicate::Scheduled(process) => {
                    let is_met = |arrow: &Arrow| self.may_be(spot, arrow, *process);
                    set.iter().zip(&mut often).for_each(|(arrow, often)| *often |= is_met(arrow));
                }
                EdgePredicate::Moves(process, labels) => {
                    let is_met = |arrow: &Arrow| match arrow.deed {
                        Deed::Step(action) => {
                            self.may_be(spot, arrow, *process) && self.judge.carries(action, labels.as_deref())
                        }
                        Deed::StandStill => false,
                        Deed::Unseen => self.may_be(spot, arrow, *process),
                    };
                    set.iter().zip(&mut often).for_each(|(arrow, often)| *often |= is_met(arrow));
                }
                EdgePredicate::SomebodyMoves => {
                    set.iter().zip(&mut often).for_each(|(arrow, often)| *often |= arrow.deed != Deed::StandStill);
                }
            }
        }
        Condition { stays, often }
    }

    /// Whether an edge may be a turn of a process; the first of a crowd is the process of the spot.
    fn may_be(&self, spot: Spot, arrow: &Arrow, process: ProcessId) -> bool {
        match arrow.mover {
            Mover::Unseen => !self.view(spot).touching.contains(&process),
            Mover::Own => self.crowd_of(process).is_some(),
            Mover::One(one) if self.crowd_of(process).is_some() => spot == Spot::One(one),
            Mover::One(one) => one == process,
            Mover::Member(_) => false,
        }
    }

    /// Whether a process sees something of the view of a spot.
    fn touches(&self, spot: Spot, mover: Mover) -> bool {
        let touching = &self.view(spot).touching;
        match mover {
            Mover::Own => true,
            Mover::One(process) => spot == Spot::One(process) || touching.contains(&process),
            // The view of a crowd is that of its first: another one of it sees what the second does.
            Mover::Member(crowd) if self.crowd_at(spot) == Some(crowd) => {
                touching.contains(&self.scene.crowds.list[crowd][1])
            }
            Mover::Member(crowd) => touching.contains(&self.first(crowd)),
            Mover::Unseen => false,
        }
    }

    /// The process that stepped, as others call it.
    fn called(&self, spot: Spot, mover: Mover) -> Mover {
        match (spot, mover) {
            (Spot::Crowd(crowd), Mover::Own) => Mover::Member(crowd),
            (_, other) => other,
        }
    }

    /// What of a set is compatible with another.
    fn compatible(&self, from: Spot, to: Spot, sets: &Sets) -> Outcome<Vec<Arrow>> {
        if from == to {
            return malformed("a set is compared with itself");
        }
        let (one, other) = (self.view(from), self.view(to));
        // Two of a crowd are compared by the views of its first two.
        let stands_in = match (self.crowd_at(from), self.crowd_at(to)) {
            (Some(crowd), Some(same)) if crowd == same => {
                &self.scene.views.list[self.scene.crowds.list[crowd][1].index()]
            }
            _ => one,
        };
        let items = common(stands_in, other);
        let fitting = self.scene.views.weights.fitting(stands_in, other);
        // Own and others of a crowd are distinguished where the one set is of all of them.
        let places = one.places(&items);
        let mut index: Index<'_> = HashMap::new();
        for arrow in self.set(from, sets).iter() {
            let told = match self.called(from, arrow.mover) {
                Mover::Unseen => Told::Nowhere,
                called if !self.touches(to, called) => Told::Here,
                _ => Told::Both(arrow.mover, arrow.deed),
            };
            let [before, after] = [arrow.from, arrow.to].map(|node| self.row(from, node));
            let key = (told, shown(&one.rows[before], &places), shown(&one.rows[after], &places));
            let shares = (&one.shares[before][..], &one.shares[after][..]);
            let known = index.entry(key).or_default();
            if !known.contains(&shares) {
                known.push(shares);
            }
        }
        let places = other.places(&items);
        let is_kept = |arrow: &&Arrow| {
            let [before, after] = [arrow.from, arrow.to].map(|node| self.row(to, node));
            let content = [before, after].map(|row| shown(&other.rows[row], &places));
            let fits = |told: Told| {
                let [before_shown, after_shown] = content.clone();
                let known = index.get(&(told, before_shown, after_shown));
                let is_fit = |shares: &(&[Share], &[Share])| {
                    fitting.fits(shares.0, &other.shares[before]) && fitting.fits(shares.1, &other.shares[after])
                };
                known.into_iter().flatten().any(is_fit)
            };
            let called = self.called(to, arrow.mover);
            match called {
                Mover::Unseen => fits(Told::Here) || fits(Told::Nowhere),
                called if !self.touches(from, called) => fits(Told::Nowhere),
                // For the process of the crowd that stepped it was its own turn, for each other one that of another.
                Mover::Member(crowd) if from == Spot::Crowd(crowd) => {
                    fits(Told::Both(Mover::Own, arrow.deed)) && fits(Told::Both(Mover::Member(crowd), arrow.deed))
                }
                called => fits(Told::Both(called, arrow.deed)),
            }
        };
        Ok(self.set(to, sets).iter().filter(is_kept).cloned().collect())
    }

    fn split(&self, of: Spot, cases: &[RefutationCase], sets: &Sets, n_steps: &mut usize) -> Outcome<()> {
        if matches!(of, Spot::Crowd(_)) {
            return malformed("cases are distinguished for a crowd");
        }
        let mut kept: Vec<Vec<Arrow>> = vec![Vec::new(); cases.len()];
        for component in self.components(of, sets)? {
            let nodes: BTreeSet<usize> = component.iter().map(|arrow| arrow.from).collect();
            let is_in = |point: &NodePoint| self.node(of, point).is_some_and(|node| nodes.contains(&node));
            let Some(case) = cases.iter().position(|case| case.points.iter().any(is_in)) else {
                return words::refused("each fair component has to have a case", "one has none");
            };
            kept[case].extend(component);
        }
        for (case, kept) in cases.iter().zip(kept).filter(|(_, kept)| !kept.is_empty()) {
            let mut sets = sets.clone();
            sets.of.insert(of, Rc::new(kept));
            self.run(&case.steps, sets, n_steps)?;
        }
        Ok(())
    }

    /// The node that a point is, if there is one.
    fn node(&self, of: Spot, point: &NodePoint) -> Option<usize> {
        let row = self.view(of).number(&point.row)?;
        match of {
            Spot::Property => {
                let state = self.automaton.state(point.state? as usize)?;
                self.nodes.iter().position(|&node| node == (row, state))
            }
            _ => Some(row),
        }
    }

    /// All: processes in no crowd, those that were singled out, and crowds.
    fn everybody(&self, sets: &Sets) -> Vec<Spot> {
        let ones = self.arrows.keys().copied().chain(sets.singled.iter().map(|&process| Spot::One(process)));
        ones.collect()
    }

    /// The case of a spot, and the sets with which it begins: one of a crowd is singled out.
    fn case<'c>(&self, spot: Spot, cases: &'c [HolderCase], sets: &Sets) -> Outcome<(&'c HolderCase, Sets)> {
        let is_meant = |case: &&HolderCase| match spot {
            Spot::Property => false,
            Spot::One(process) => case.process == process,
            Spot::Crowd(crowd) => self.crowd_of_case(case) == Some(crowd) && !sets.singled.contains(&case.process),
        };
        let Some(case) = cases.iter().find(is_meant) else { return malformed("a process has no case") };
        let sets = if let Spot::Crowd(_) = spot { self.single(case.process, sets)? } else { sets.clone() };
        Ok((case, sets))
    }

    fn crowd_of_case(&self, case: &HolderCase) -> Option<usize> {
        self.scene.crowds.crowd(case.process)
    }

    fn holder(
        &self,
        (of, invariant): (Spot, usize),
        cases: &[HolderCase],
        sets: &Sets,
        n_steps: &mut usize,
    ) -> Outcome<()> {
        let weights = &self.scene.views.weights;
        self.check_invariant(invariant)?;
        if matches!(of, Spot::Crowd(_)) {
            return malformed("holders are looked for by what a crowd sees");
        }
        let view = self.view(of);
        let holds = |node: usize| view.share(self.row(of, node), invariant).rest.is_some_and(|rest| rest >= 1);
        if !self.set(of, sets).iter().all(|arrow| holds(arrow.from) && holds(arrow.to)) {
            return words::refused("some other process has to weigh something all the time", "none may do so");
        }
        let holders = weights.holders(invariant);
        let is_other = |spot: &Spot| match (of, *spot) {
            (Spot::Property, Spot::One(process)) => !self.members.contains(&process),
            (of, spot) => of != spot,
        };
        for spot in self.everybody(sets).into_iter().filter(is_other) {
            let process = self.modelled(spot);
            if !holders.contains(&process) {
                continue;
            }
            let weight = |row: usize| weights.weight(invariant, process, self.view(spot), row);
            let mut held = Vec::new();
            for arrow in self.compatible(of, spot, sets)? {
                let (before, after) = (weight(arrow.from)?, weight(arrow.to)?);
                if before <= 0 && after > 0 {
                    return words::refused(
                        "no process that weighs nothing may get a weight",
                        format!("{} may", name(self.scene.views.model, process)),
                    );
                }
                if before > 0 && after > 0 {
                    held.push(arrow);
                }
            }
            let (case, mut sets) = self.case(spot, cases, sets)?;
            let held = if let Spot::Crowd(_) = spot { of_one(&held, case.process) } else { held };
            sets.of.insert(Spot::One(case.process), Rc::new(held));
            self.run(&case.steps, sets, n_steps)?;
        }
        Ok(())
    }

    /// The process whose view a spot has.
    fn modelled(&self, spot: Spot) -> ProcessId {
        match (spot, self.crowd_at(spot)) {
            (_, Some(crowd)) => self.first(crowd),
            (Spot::One(process), None) => process,
            (Spot::Property | Spot::Crowd(_), None) => ProcessId::new(0),
        }
    }

    fn scheduled(&self, cases: &[HolderCase], sets: &Sets, n_steps: &mut usize) -> Outcome<()> {
        if sets.scheduled.is_some() {
            return malformed("it is said already who has its turn again and again");
        }
        for spot in self.everybody(sets) {
            let (case, sets) = self.case(spot, cases, sets)?;
            self.run(&case.steps, Sets { scheduled: Some(case.process), ..sets }, n_steps)?;
        }
        Ok(())
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
            let mut range = weights.term_range(invariant, term, None);
            for (&spot, set) in &sets.of {
                let view = self.view(spot);
                let places = cells.iter().map(|&cell| view.items.binary_search(&Item::Cell(cell)).ok());
                let Some(places) = places.collect::<Option<Vec<usize>>>() else { continue };
                let rows = set.iter().map(|arrow| &view.rows[self.row(spot, arrow.from)]);
                let values: BTreeSet<Vec<u32>> = rows.map(|row| shown(row, &places)).collect();
                let told = weights.term_range(invariant, term, Some(&values));
                range = (range.0.max(told.0), range.1.min(told.1));
            }
            left = (left.0.saturating_add(range.0), left.1.saturating_add(range.1));
        }
        let mut right = (0_i64, 0_i64);
        for spot in self.everybody(sets) {
            let process = self.modelled(spot);
            if !weights.holders(invariant).contains(&process) {
                continue;
            }
            let n_processes = if let Spot::Crowd(crowd) = spot { self.n_left(crowd, sets) as i64 } else { 1 };
            let mut range = weights.process_range(invariant, process);
            if let Some(set) = sets.of.get(&spot) {
                let mut rows = BTreeSet::new();
                for arrow in set.iter() {
                    rows.insert(weights.weight(invariant, process, self.view(spot), arrow.from)?);
                }
                range = (rows.first().copied().unwrap_or(range.0), rows.last().copied().unwrap_or(range.1));
            }
            let (least, most) = (range.0.saturating_mul(n_processes), range.1.saturating_mul(n_processes));
            right = (right.0.saturating_add(least), right.1.saturating_add(most));
        }
        if left.1 < right.0 || right.1 < left.0 {
            return Ok(());
        }
        words::refused("the sides of an additive invariant must not be equal", "they may be")
    }
}

/// What a turn does.
fn deed(turn: &Turn) -> Deed {
    turn.step().map_or(Deed::StandStill, |step| Deed::Step(step.action))
}

/// The edges of a crowd, as they are those of one that leaves it.
fn of_one(crowd: &[Arrow], process: ProcessId) -> Vec<Arrow> {
    let of_one = |arrow: &Arrow| Arrow {
        mover: if arrow.mover == Mover::Own { Mover::One(process) } else { arrow.mover },
        ..arrow.clone()
    };
    crowd.iter().map(of_one).collect()
}

/// Edges, and for each turn of some process of a crowd one of the process that leaves it.
fn with_copies(set: &[Arrow], crowd: usize, process: ProcessId) -> Vec<Arrow> {
    let copies = set.iter().filter(|arrow| arrow.mover == Mover::Member(crowd));
    let copies = copies.map(|arrow| Arrow { mover: Mover::One(process), ..arrow.clone() });
    set.iter().cloned().chain(copies.collect::<Vec<_>>()).collect()
}
