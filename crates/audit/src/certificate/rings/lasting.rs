//! Temporal properties of rings and chains: what windows would do for ever, followed round the ring.
//!
//! In: checked windows, and a temporal property about each process. Out: that no fair run of any size from `width + 2 span + 1` on violates it, or that something
//! is left. Every turn is an edge of each window: whose it is, as far as that is near, and the states before and after. What a window
//! does again and again is a strongly connected set of edges that meets the assumptions made for each of its processes; so it lies in a
//! fair component. What the windows beside it do again and again goes together with it, turn by turn.
//!
//! A *place to stay* is a window with a fair component. It is excluded if it lies within one that is; or if no way round to the right, or to the left, comes back with
//! something fair in common, having passed the first process once and with weights that the flows allow; or if each fair component of what some place
//! to stay beside it leaves of it is excluded. This is repeated until nothing more is excluded.
//!
//! In trees, instead of a way round: it is excluded if it is in no finite tree of places to stay (`tree`).

mod tree;

use std::collections::{BTreeMap, BTreeSet};

use evidence::plain::{ReferenceAutomaton, violations};
use evidence::rings::Network;
use model::Model;
use model::control::ActionId;
use model::eval::Viewpoint;
use model::fairness::{EdgePredicate, FairnessId, StatePredicate};
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::round::sees;
use super::{Beside, Checker, Values};
use crate::certificate::assumed::check_values;
use crate::certificate::propagation::edges::{Condition, fair_components};
use crate::certificate::{CertificateError, Outcome, words};

/// More places to stay than this are not examined.
const MOST_PLACES: usize = 4_000;

/// Who moves, by the distance from a window, and by which action; `None` is somebody further away.
type Mover = Option<(i64, Option<ActionId>)>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    to: usize,
    mover: Mover,
}

/// A window with a fair component of its edges.
struct Place {
    window: usize,
    edges: Vec<bool>,
    is_excluded: bool,
    parts: Option<Vec<usize>>,
    /// The places to stay beside it, where they were looked for.
    beside: BTreeMap<Direction, Vec<usize>>,
    weights: Vec<(u128, u128)>,
}

/// To which side: on, to the window to the right or to that of a child, or back; and the distance, or the name of the child.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Direction {
    is_right: bool,
    by: i64,
}

/// A distance that no window tells.
const UNTOLD: i64 = i64::MAX;

/// What two windows side by side show of a turn: which process steps, where both show it, and what both see before and after, by its number.
type CommonTurn = (Mover, usize, usize);

pub(super) struct Stage<'s, 'a> {
    checker: &'s Checker<'a>,
    edges: Vec<Vec<Edge>>,
    beside: Vec<Beside>,
    /// By what is side by side: what edges of the left one and of the right one show.
    shown: Vec<(Vec<CommonTurn>, Vec<CommonTurn>)>,
    /// The flows that count with processes only, and for each state of each window its weight.
    flows: Vec<Sum>,
    /// The names by which windows of a tree tell who moves.
    told: BTreeSet<i64>,
}

/// A total, the weight of each state of each window, and whether sums may be more than the total.
struct Sum {
    total: u128,
    weights: Vec<Vec<u128>>,
    at_least: bool,
}

/// Checks a temporal property; how many places to stay were excluded.
pub(super) fn check(checker: &Checker<'_>, model: &Model, name: &str) -> Outcome<usize> {
    let stage = Stage::new(checker)?;
    let asked = |window: usize| -> Outcome<&Property> {
        let model = &checker.sizes.all[checker.stands[window].0].model;
        let found = model.properties.iter().find(|one| one.name == name);
        found.ok_or_else(|| CertificateError::Malformed(format!("there is no `{name}` at every size")))
    };
    let Some(own) = model.properties.iter().find(|one| one.name == name) else {
        return Err(CertificateError::Malformed(format!("there is no `{name}`")));
    };
    if checker.sizes.all.iter().any(|sized| sized.model.actions.len() != model.actions.len()) {
        return Err(CertificateError::NotSupported("the text is not the same at every size".to_owned()));
    }
    let mut n_excluded = 0;
    for assumed in &own.under.any_of {
        check_values(model, assumed)?;
        let mut search =
            Search { stage: &stage, conditions: Vec::new(), places: Vec::new(), numbers: FxHashMap::default() };
        let mut goals = Vec::new();
        for window in 0..checker.proof.windows.len() {
            let property = asked(window)?;
            if property.under != own.under {
                return Err(CertificateError::Malformed("assumptions are not the same at every size".to_owned()));
            }
            search.conditions.push(stage.fairness(window, model, assumed));
            for edges in stage.violating(window, property, (assumed, &search.conditions[window]))? {
                goals.push((window, edges));
            }
        }
        let goals: Vec<usize> = goals.into_iter().map(|(window, edges)| search.place(window, edges)).collect();
        search.exclude(&goals)?;
        n_excluded += search.places.iter().filter(|place| place.is_excluded).count();
    }
    Ok(n_excluded)
}

impl<'s, 'a> Stage<'s, 'a> {
    fn new(checker: &'s Checker<'a>) -> Outcome<Stage<'s, 'a>> {
        let mut flows = Vec::new();
        for flow in &checker.proof.flows {
            let mut weights = Vec::new();
            let mut is_shared = false;
            for set in &checker.proof.windows {
                let counted = set.states.iter().map(|state| checker.counted(flow, set, state));
                let counted = counted.collect::<Outcome<Vec<(u128, u128)>>>()?;
                is_shared |= counted.iter().any(|one| one.1 > 0);
                weights.push(counted.into_iter().map(|one| one.0).collect());
            }
            if !is_shared {
                flows.push(Sum { total: u128::from(flow.total), weights, at_least: flow.at_least });
            }
        }
        let beside = checker.beside(&checker.onwards());
        let told = tree::told(checker);
        let mut stage = Stage { checker, edges: Vec::new(), beside, shown: Vec::new(), flows, told };
        for window in 0..checker.proof.windows.len() {
            checker.budget.check(0)?;
            let edges = stage.edges_of(window);
            stage.edges.push(edges);
        }
        stage.shown = stage.beside.iter().map(|&beside| stage.shown_by(beside)).collect();
        Ok(stage)
    }

    fn span(&self) -> i64 {
        self.checker.proof.greatest - self.checker.proof.least
    }

    /// All edges of a window.
    fn edges_of(&self, window: usize) -> Vec<Edge> {
        let (checker, proof) = (self.checker, self.checker.proof);
        let states = &proof.windows[window].states;
        let numbers: FxHashMap<&Values, usize> = states.iter().zip(0..).collect();
        let mut found: BTreeSet<Edge> = BTreeSet::new();
        for (from, state) in states.iter().enumerate() {
            found.insert(Edge { from, to: from, mover: None });
            for (at, deed) in checker.deeds[window][from].iter().enumerate() {
                for (action, after) in deed.turns(state) {
                    if let Some(&to) = numbers.get(after) {
                        found.insert(Edge { from, to, mover: Some((at as i64, action)) });
                    }
                }
            }
        }
        // Somebody near, seen by the window that ends or begins with it.
        let mut distances = checker.distances();
        distances.retain(|by| proof.network == Network::Line || self.told.contains(by));
        let near = checker.beside(&distances).into_iter().filter(|beside| beside.here == window);
        for beside in near {
            let common = checker.common(beside);
            let last = proof.width - 1;
            let (by, place) = if beside.by > 0 { (beside.by + last as i64, last) } else { (beside.by, 0) };
            self.others(beside, (&common, place), |action| Some((by, action)), &mut found);
        }
        // Somebody far away, by what all share.
        for there in 0..proof.windows.len() {
            let beside = Beside { here: window, there, by: 0, kin: None };
            let is_shared = |&(at, _): &(usize, usize)| {
                matches!(proof.windows[window].items[at], evidence::rings::RingItem::Shared(..))
            };
            let common: Vec<(usize, usize)> = checker.common(beside).into_iter().filter(is_shared).collect();
            if !common.is_empty() {
                self.others(beside, (&common, 0), |_| None, &mut found);
            }
        }
        found.into_iter().collect()
    }

    /// Adds the turns of a process of another window, from all of its states that agree.
    fn others(
        &self,
        beside: Beside,
        (common, place): (&[(usize, usize)], usize),
        mover: impl Fn(Option<ActionId>) -> Mover,
        found: &mut BTreeSet<Edge>,
    ) {
        let Beside { here, there, .. } = beside;
        let windows = &self.checker.proof.windows;
        let numbers: FxHashMap<&Values, usize> = windows[here].states.iter().zip(0..).collect();
        let listed: FxHashSet<&Values> = windows[there].states.iter().collect();
        let mut ours: FxHashMap<Values, Vec<usize>> = FxHashMap::default();
        for (number, state) in windows[here].states.iter().enumerate() {
            ours.entry(common.iter().map(|&(at, _)| state[at]).collect()).or_default().push(number);
        }
        for (theirs, state) in windows[there].states.iter().enumerate() {
            let seen: Values = common.iter().map(|&(_, at)| beside.value(state[at])).collect();
            for (action, after) in self.checker.deeds[there][theirs][place].turns(state) {
                if !listed.contains(after) {
                    continue;
                }
                for &from in ours.get(&seen).into_iter().flatten() {
                    let mut changed = windows[here].states[from].clone();
                    common.iter().for_each(|&(at, other)| changed[at] = beside.value(after[other]));
                    if let Some(&to) = numbers.get(&changed) {
                        found.insert(Edge { from, to, mover: mover(action) });
                    }
                }
            }
        }
    }

    /// What the edges of two windows side by side show to each other; distances are those from the left one.
    fn shown_by(&self, beside: Beside) -> (Vec<CommonTurn>, Vec<CommonTurn>) {
        let windows = &self.checker.proof.windows;
        let common = self.checker.common(beside);
        // What both see, with a number for each.
        let mut numbers: FxHashMap<Values, usize> = FxHashMap::default();
        let mut number = |seen: Values| -> usize {
            let next = numbers.len();
            *numbers.entry(seen).or_insert(next)
        };
        let (of_left, of_right) = (&windows[beside.here].states, &windows[beside.there].states);
        let ours: Vec<usize> =
            of_left.iter().map(|state| number(common.iter().map(|&(at, _)| state[at]).collect())).collect();
        let seen = |state: &Values| common.iter().map(|&(_, at)| beside.value(state[at])).collect();
        let theirs: Vec<usize> = of_right.iter().map(|state| number(seen(state))).collect();
        let left = self.edges[beside.here].iter().map(|edge| (edge.mover, ours[edge.from], ours[edge.to]));
        let moved = |mover: Mover| mover.map(|(at, action)| (beside.place(at).unwrap_or(UNTOLD), action));
        let right = self.edges[beside.there].iter().map(|edge| (moved(edge.mover), theirs[edge.from], theirs[edge.to]));
        (left.collect(), right.collect())
    }

    /// Whom the left one, or the right one, of two windows side by side can tell apart: by distances from the left one.
    fn told_by(&self, beside: Beside, is_left: bool) -> BTreeSet<i64> {
        if self.checker.proof.network == Network::Tree {
            return match is_left {
                true => self.told.clone(),
                false => self.told.iter().filter_map(|&name| beside.place(name)).collect(),
            };
        }
        let first = if is_left { -self.span() } else { 1 - self.span() };
        (first..first + self.checker.proof.width as i64 + 2 * self.span()).collect()
    }

    /// The edges of the other one of two windows side by side that can be one turn with an edge of a set.
    fn one_turn(&self, pair: usize, set: &[bool], is_left: bool) -> Vec<bool> {
        let (left, right) = &self.shown[pair];
        let (known, asked) = if is_left { (left, right) } else { (right, left) };
        let by_left = self.told_by(self.beside[pair], true);
        let by_right = self.told_by(self.beside[pair], false);
        // Who moves, where both can tell; then whether the one could tell at all.
        let told = |mover: &Mover, of_left: bool| {
            let by_other = if of_left { &by_right } else { &by_left };
            let both = mover.filter(|(at, _)| by_other.contains(at));
            (both, mover.is_some() && both.is_none())
        };
        let mut turns: FxHashMap<CommonTurn, (bool, bool)> = FxHashMap::default();
        for &(mover, before, after) in known.iter().zip(set).filter(|(_, kept)| **kept).map(|(shown, _)| shown) {
            let (both, is_hidden) = told(&mover, is_left);
            let found = turns.entry((both, before, after)).or_default();
            if is_hidden { found.0 = true } else { found.1 = true }
        }
        let is_one = |&(mover, before, after): &CommonTurn| {
            let (both, is_hidden) = told(&mover, !is_left);
            let found = turns.get(&(both, before, after));
            // Somebody whom only this one can tell is far away for the other one.
            found.is_some_and(|&(theirs_hidden, plain)| plain || (both.is_none() && !is_hidden && theirs_hidden))
        };
        asked.iter().map(is_one).collect()
    }

    /// What assumptions that were made for each process demand of a window.
    fn fairness(&self, window: usize, model: &Model, assumed: &[FairnessId]) -> Vec<Condition> {
        let of_each = &model.template().forms.for_each;
        let family = &model.families[self.checker.proof.family];
        let process = family.first;
        // Written for each process, and made for each.
        let is_made = |id: FairnessId| {
            let (written, first) = (&model.fairness[id], &model.processes[process].name);
            of_each.contains(&id)
                && written.owner == Some(process)
                && family.processes().all(|other| {
                    let name = written.name.replace(first.as_str(), &model.processes[other].name);
                    let is_it = |one: &FairnessId| {
                        model.fairness[*one].owner == Some(other) && model.fairness[*one].name == name
                    };
                    assumed.iter().any(is_it)
                })
        };
        let carries = |action: ActionId, labels: &Option<Vec<String>>| {
            labels.as_ref().is_none_or(|labels| model.actions[action].labels.iter().any(|one| labels.contains(one)))
        };
        let mut found = Vec::new();
        for place in 0..self.checker.proof.width {
            for id in assumed.iter().filter(|id| is_made(**id)) {
                let pair = &model.fairness[*id];
                let unable = |predicate: &StatePredicate| match predicate {
                    StatePredicate::Unable(one, labels) if *one == process => {
                        let deeds = self.checker.deeds[window].iter().map(|deeds| &deeds[place]);
                        let is_able = |deed: &super::Deed| deed.enabled.iter().any(|&action| carries(action, labels));
                        Some(deeds.map(|deed| !is_able(deed)).collect::<Vec<bool>>())
                    }
                    _ => None,
                };
                let is_its = |edge: &Edge| matches!(edge.mover, Some((at, _)) if at == place as i64);
                let met = |predicate: &EdgePredicate| -> Option<Vec<bool>> {
                    let edges = self.edges[window].iter();
                    match predicate {
                        EdgePredicate::Before(predicate) => {
                            let unable = unable(predicate)?;
                            Some(edges.map(|edge| unable[edge.from]).collect())
                        }
                        EdgePredicate::Scheduled(one) if *one == process => Some(edges.map(is_its).collect()),
                        EdgePredicate::Moves(one, labels) if *one == process => {
                            let moves = |edge: &Edge| match edge.mover {
                                Some((_, Some(action))) => is_its(edge) && carries(action, labels),
                                _ => false,
                            };
                            Some(edges.map(moves).collect())
                        }
                        _ => None,
                    }
                };
                let Some(often) = pair.often.iter().map(met).collect::<Option<Vec<Vec<bool>>>>() else { continue };
                let often = (0..self.edges[window].len()).map(|edge| often.iter().any(|one| one[edge])).collect();
                let stays = match &pair.always {
                    None => None,
                    Some(predicate) => match unable(predicate) {
                        None => continue,
                        stays => stays,
                    },
                };
                found.push(Condition { stays, often });
            }
        }
        found
    }

    /// The edges of a window that a violation at its first process would take again and again: fair components of the product.
    fn violating(
        &self,
        window: usize,
        property: &Property,
        (assumed, fairness): (&[FairnessId], &[Condition]),
    ) -> Outcome<Vec<Vec<bool>>> {
        let (at_size, spot) = self.checker.stands[window];
        let sized = &self.checker.sizes.all[at_size];
        let me = Value::Process(ProcessId::new(spot.at));
        let PropertyKind::Temporal(formula) = &property.kind else {
            return Err(CertificateError::Malformed("it is not about runs".to_owned()));
        };
        let all = violations(&sized.model, property, formula)
            .map_err(|stop| CertificateError::NotSupported(stop.to_string()))?;
        let is_mine = |one: &&evidence::plain::ReferenceViolation| {
            one.fairness == assumed && matches!(&one.instance[..], [(_, who)] if *who == me)
        };
        let mine: Vec<_> = all.iter().filter(is_mine).collect();
        let n_others = all.iter().filter(|one| !matches!(&one.instance[..], [(_, Value::Process(_))])).count();
        if mine.is_empty() || n_others > 0 {
            return Err(CertificateError::NotSupported("the property is not about each process".to_owned()));
        }
        let mut found = Vec::new();
        for violation in mine {
            found.extend(self.product(window, &violation.automaton, fairness)?);
        }
        Ok(found)
    }

    fn product(
        &self,
        window: usize,
        automaton: &ReferenceAutomaton,
        fairness: &[Condition],
    ) -> Outcome<Vec<Vec<bool>>> {
        let (at_size, spot) = self.checker.stands[window];
        let sized = &self.checker.sizes.all[at_size];
        let set = &self.checker.proof.windows[window];
        let mut truths: Vec<Vec<bool>> = Vec::new();
        for atom in &automaton.atoms {
            if !sees(sized, (&set.items, spot), &atom.expr, ProcessId::new(spot.at)) {
                return Err(CertificateError::Malformed("windows are too narrow for the property".to_owned()));
            }
            let truth = |state: &Values| {
                let whole = sized.with(&set.items, state, spot);
                Viewpoint::of_instance(&sized.model, &whole, &atom.bound).truth(&atom.expr).ok()
            };
            let Some(of_atom) = set.states.iter().map(truth).collect::<Option<Vec<bool>>>() else {
                return Err(CertificateError::NotSupported("a part of the property has no value".to_owned()));
            };
            truths.push(of_atom);
        }
        let edges = &self.edges[window];
        let mut nodes: Vec<(usize, usize)> = self.checker.starts[window].iter().map(|&state| (state, 0)).collect();
        let mut numbers: BTreeMap<(usize, usize), usize> = nodes.iter().copied().zip(0..).collect();
        let (mut ends, mut base, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(&(state, of_automaton)) = nodes.get(at) {
            for reading in &automaton.states[of_automaton] {
                if reading.literals.iter().any(|&(atom, is)| truths[atom][state] != is) {
                    continue;
                }
                let first = edges.partition_point(|edge| edge.from < state);
                for (number, edge) in edges.iter().enumerate().skip(first).take_while(|(_, edge)| edge.from == state) {
                    let target = (edge.to, reading.target);
                    let to = *numbers.entry(target).or_insert_with(|| {
                        nodes.push(target);
                        nodes.len() - 1
                    });
                    ends.push((at, to));
                    base.push(number);
                    marks.push(&reading.marks);
                }
            }
            at += 1;
        }
        let lifted = |one: &Condition| Condition {
            stays: one.stays.as_ref().map(|stays| nodes.iter().map(|node| stays[node.0]).collect()),
            often: base.iter().map(|&edge| one.often[edge]).collect(),
        };
        let marked =
            |mark: usize| Condition { stays: None, often: marks.iter().map(|one| one.contains(&mark)).collect() };
        let conditions: Vec<Condition> =
            fairness.iter().map(lifted).chain((0..automaton.n_marks).map(marked)).collect();
        let project = |component: Vec<usize>| {
            let mut kept = vec![false; edges.len()];
            component.into_iter().for_each(|edge| kept[base[edge]] = true);
            kept
        };
        Ok(fair_components(&ends, &vec![true; ends.len()], &conditions).into_iter().map(project).collect())
    }
}

struct Search<'c, 's, 'a> {
    stage: &'c Stage<'s, 'a>,
    conditions: Vec<Vec<Condition>>,
    places: Vec<Place>,
    numbers: FxHashMap<(usize, Vec<bool>), usize>,
}

/// Where a walk is: a place to stay, whether the first process was passed, and the weights so far.
type Walker = (usize, bool, Vec<(u128, u128)>);

impl Search<'_, '_, '_> {
    fn place(&mut self, window: usize, edges: Vec<bool>) -> usize {
        if let Some(&known) = self.numbers.get(&(window, edges.clone())) {
            return known;
        }
        let of_flow = |Sum { weights, .. }: &Sum| {
            let kept = self.stage.edges[window].iter().zip(&edges).filter(|(_, kept)| **kept);
            let weights: Vec<u128> = kept.map(|(edge, _)| weights[window][edge.from]).collect();
            (weights.iter().copied().min().unwrap_or(0), weights.iter().copied().max().unwrap_or(0))
        };
        let weights = self.stage.flows.iter().map(of_flow).collect();
        self.numbers.insert((window, edges.clone()), self.places.len());
        let beside = BTreeMap::new();
        self.places.push(Place { window, edges, is_excluded: false, parts: None, beside, weights });
        self.places.len() - 1
    }

    /// The fair components of some edges of a window.
    fn stays(&self, window: usize, within: &[bool]) -> Vec<Vec<bool>> {
        let edges = &self.stage.edges[window];
        let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let kept = |component: Vec<usize>| {
            let mut kept = vec![false; edges.len()];
            component.into_iter().for_each(|edge| kept[edge] = true);
            kept
        };
        fair_components(&ends, within, &self.conditions[window]).into_iter().map(kept).collect()
    }

    /// Excludes what can be; an error where a goal is left.
    fn exclude(&mut self, goals: &[usize]) -> Outcome<()> {
        loop {
            while self.is_tree() && self.cut_down()? {}
            if goals.iter().all(|&goal| self.places[goal].is_excluded) {
                return Ok(());
            }
            let mut is_new = false;
            let mut at = 0;
            while at < self.places.len() {
                self.stage.checker.budget.check(0)?;
                if self.places.len() > MOST_PLACES {
                    return Err(CertificateError::NotSupported("there are too many ways to go round".to_owned()));
                }
                is_new |= !self.places[at].is_excluded && self.judged(at)?;
                at += 1;
            }
            if !is_new && goals.iter().any(|&goal| !self.places[goal].is_excluded) {
                return words::refused(
                    "no window may violate the property for ever",
                    "one may, as far as windows show",
                );
            }
        }
    }

    /// Whether something new is known of a place to stay.
    fn judged(&mut self, at: usize) -> Outcome<bool> {
        let has_none = self.places[at].parts.as_ref().is_some_and(|parts| self.open(parts).is_empty());
        if has_none || self.is_within(at) {
            self.places[at].is_excluded = true;
            return Ok(true);
        }
        if self.places[at].parts.is_some() {
            return Ok(false);
        }
        let ways = self.ways(at);
        for &way in &ways {
            if !self.is_tree() && !self.comes_back(at, way)? {
                self.places[at].is_excluded = true;
                return Ok(true);
            }
        }
        for way in ways {
            if let Some(parts) = self.parts(at, way) {
                self.places[at].parts = Some(parts);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_within(&self, at: usize) -> bool {
        let Place { window, edges, .. } = &self.places[at];
        let is_part = |other: &Place| edges.iter().zip(&other.edges).all(|(mine, theirs)| !mine || *theirs);
        self.places.iter().any(|other| other.is_excluded && other.window == *window && is_part(other))
    }

    /// Places that are not excluded, in parts where there are some.
    fn open(&self, places: &[usize]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for &at in places {
            match &self.places[at] {
                Place { is_excluded: true, .. } => {}
                Place { parts: Some(parts), .. } => found.extend(self.open(parts)),
                _ => drop(found.insert(at)),
            }
        }
        found
    }

    fn is_tree(&self) -> bool {
        self.stage.checker.proof.network == Network::Tree
    }

    /// The sides on which a window has others.
    fn ways(&self, at: usize) -> Vec<Direction> {
        match self.is_tree() {
            true => tree::ways(self.stage.checker.proof.windows[self.places[at].window].word[0]),
            false => vec![Direction { is_right: true, by: 1 }, Direction { is_right: false, by: 1 }],
        }
    }

    fn beside(&mut self, at: usize, way: Direction) -> BTreeSet<usize> {
        if let Some(known) = self.places[at].beside.get(&way) {
            return self.open(known);
        }
        let mut found = Vec::new();
        for (pair, &Beside { here, there, by, .. }) in self.stage.beside.iter().enumerate() {
            let (from, to) = if way.is_right { (here, there) } else { (there, here) };
            if from == self.places[at].window && by == way.by {
                let kept = self.stage.one_turn(pair, &self.places[at].edges, way.is_right);
                for component in self.stays(to, &kept) {
                    found.push(self.place(to, component));
                }
            }
        }
        let open = self.open(&found);
        self.places[at].beside.insert(way, found);
        open
    }

    /// What the places to stay beside one leave of it, unless one of them leaves everything.
    fn parts(&mut self, at: usize, way: Direction) -> Option<Vec<usize>> {
        let mut parts = Vec::new();
        for other in self.beside(at, way) {
            let (window, theirs) = (self.places[at].window, self.places[other].window);
            let (left, right) = if way.is_right { (window, theirs) } else { (theirs, window) };
            let is_pair = |beside: &Beside| (beside.here, beside.there, beside.by) == (left, right, way.by);
            let mut pairs = self.stage.beside.iter().enumerate().filter(|(_, beside)| is_pair(beside));
            // Where two are neighbours in several ways, nothing is taken away.
            let (Some((pair, _)), None) = (pairs.next(), pairs.next()) else { return None };
            let mut kept = self.stage.one_turn(pair, &self.places[other].edges, !way.is_right);
            kept.iter_mut().zip(&self.places[at].edges).for_each(|(kept, mine)| *kept &= mine);
            let components = self.stays(window, &kept);
            if components.contains(&self.places[at].edges) {
                return None;
            }
            parts.extend(components.into_iter().map(|component| self.place(window, component)));
        }
        Some(parts)
    }

    fn is_first(&self, at: usize) -> bool {
        let proof = self.stage.checker.proof;
        let word = &proof.windows[self.places[at].window].word;
        if proof.distances.left > 0 { word[0].left == 0 } else { proof.distances.right > 0 && word[0].right == 0 }
    }

    fn goes_on(&self, at: usize, has_passed: bool, sums: &[(u128, u128)]) -> Option<Walker> {
        if has_passed && self.is_first(at) {
            return None;
        }
        let mut next = Vec::new();
        for (((least, most), weight), flow) in sums.iter().zip(&self.places[at].weights).zip(&self.stage.flows) {
            if least + weight.0 > flow.total && !flow.at_least {
                return None;
            }
            next.push(((least + weight.0).min(flow.total), (most + weight.1).min(flow.total)));
        }
        Some((at, has_passed || self.is_first(at), next))
    }

    /// Whether some way round comes back to where it began.
    fn comes_back(&mut self, start: usize, way: Direction) -> Outcome<bool> {
        let distances = self.stage.checker.proof.distances;
        let has_first = distances.left > 0 || distances.right > 0;
        let Some(first) = self.goes_on(start, false, &vec![(0, 0); self.stage.flows.len()]) else { return Ok(false) };
        let mut known: FxHashSet<Walker> = FxHashSet::from_iter([first.clone()]);
        let mut open = vec![first];
        while let Some((at, has_passed, sums)) = open.pop() {
            self.stage.checker.budget.check(0)?;
            if self.places.len() > MOST_PLACES {
                return Err(CertificateError::NotSupported("there are too many ways to go round".to_owned()));
            }
            for next in self.beside(at, way) {
                let weighs = sums.iter().zip(&self.stage.flows).all(|(sum, flow)| sum.1 >= flow.total);
                let is_round = weighs && (has_passed || !has_first);
                if is_round && self.places[next].window == self.places[start].window {
                    let both = self.places[next].edges.iter().zip(&self.places[start].edges);
                    let both: Vec<bool> = both.map(|(one, other)| *one && *other).collect();
                    if !self.stays(self.places[start].window, &both).is_empty() {
                        return Ok(true);
                    }
                }
                if let Some(walker) = self.goes_on(next, has_passed, &sums)
                    && known.insert(walker.clone())
                {
                    open.push(walker);
                }
            }
        }
        Ok(false)
    }
}
