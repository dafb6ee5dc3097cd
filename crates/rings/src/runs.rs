//! What windows do infinitely often: their edges, which of them can be one turn, and what fairness demands of them.
//!
//! In: windows with their states. Out: for each word a graph whose edges are turns as a window shows them: of a process of the window or near it, by its
//! distance and its action, or of one far away; turns that change nothing are edges, too. At every size from `width + 2 span + 1` on every run is an
//! infinite path for each of its windows, and the edges that one turn is for two windows that are side by side are *compatible*:
//! the same process and action, where both are near enough to show it, and the same content of what both see, before and after.

use std::collections::BTreeSet;

use base::{Budget, StopReason};
use evidence::rings::RingValue;
use model::Model;
use model::control::{ActionId, ActionKind};
use model::eval::{attempts_up_to, is_idle};
use model::fairness::{EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};
use streett::{EdgeBits, GraphArc, MarkedGraph, StreettPair};

use crate::windows::{Failure, Pair, Shape, WindowState, Windows};

/// The process that has the turn of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// Of the process at this distance, by this action, or a stutter.
    Near(i64, Option<ActionId>),
    /// Of a process further away.
    Far,
}

/// The graph of the windows with one word.
#[derive(Debug)]
pub struct WindowGraph {
    /// Nodes are states.
    pub graph: MarkedGraph,
    /// By edge.
    pub labels: Vec<Label>,
}

/// A turn of a process of a window: its action, or none where it stutters, and the state after it.
type Turn = (Option<ActionId>, usize);

/// What a process of a window can do in a state of it.
#[derive(Clone, Debug, Default)]
struct Options {
    turns: Vec<Turn>,
    /// Its enabled actions other than leaving `idle`.
    enabled: Vec<ActionId>,
}

/// Windows side by side: the classes of their edges, and which go together.
#[derive(Debug)]
struct Pairing {
    left: usize,
    right: usize,
    /// How the right one is named: 1 where windows are side by side.
    by: i64,
    left_class: Vec<u32>,
    right_class: Vec<u32>,
    /// Pairs of classes.
    fits: Vec<(u32, u32)>,
    n_classes: (usize, usize),
}

/// To which side; the number says how the right one of both is named by the left one: 1, or in a tree which child it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To the windows one further right, or to those of a child.
    Right(i64),
    /// To the windows one further left, or from those of a child to the parent's.
    Left(i64),
}

impl Side {
    fn back(self) -> Side {
        match self {
            Side::Right(by) => Side::Left(by),
            Side::Left(by) => Side::Right(by),
        }
    }
}

/// The graphs of all windows.
#[derive(Debug)]
pub struct Runs<'w, 'a> {
    /// The windows.
    pub windows: &'w Windows<'a>,
    /// Their graphs.
    pub graphs: Vec<WindowGraph>,
    options: Vec<Vec<Vec<Options>>>,
    pairings: Vec<Pairing>,
}

/// The edges of a graph that were found so far, and how many it may have.
struct WindowEdges {
    edges: FxHashSet<(usize, Label, usize)>,
    most: usize,
}

impl WindowEdges {
    fn are_too_many(&self) -> bool {
        self.edges.len() > self.most
    }
}

/// What two windows side by side show of a turn: the process that has it, and what both see before and after.
type Aspect = (Kind, Vec<RingValue>, Vec<RingValue>);

/// The process that has the turn, as far as two windows side by side show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Both(i64, Option<ActionId>),
    Here,
    Far,
}

impl<'w, 'a> Runs<'w, 'a> {
    /// The graphs of windows; `None` where there are too many edges.
    ///
    /// # Errors
    /// Something that is outside the fragment after all.
    pub fn new(windows: &'w Windows<'a>, budget: &Budget) -> Result<Option<Self>, Failure> {
        let mut options = Vec::new();
        for shape in 0..windows.shapes.len() {
            let mut of_shape = Vec::new();
            for state in 0..windows.theta[shape].states.len() {
                budget.check(0)?;
                of_shape.push(options_at(windows, shape, state)?);
            }
            options.push(of_shape);
        }
        let mut runs = Runs { windows, graphs: Vec::new(), options, pairings: Vec::new() };
        let mut n_edges = 0;
        for shape in 0..windows.shapes.len() {
            let Some(graph) = runs.graph(shape, windows.ring.config.window_edges - n_edges, budget)? else {
                return Ok(None);
            };
            n_edges += graph.labels.len();
            runs.graphs.push(graph);
        }
        for pair in &windows.next {
            budget.check(0)?;
            runs.pairings.push(runs.pairing(pair));
        }
        Ok(Some(runs))
    }

    /// The graph of the windows with one word; `None` where it has more than so many edges.
    fn graph(&self, shape: usize, most_edges: usize, budget: &Budget) -> Result<Option<WindowGraph>, StopReason> {
        let windows = self.windows;
        let set = &windows.theta[shape];
        let mut found = WindowEdges { edges: FxHashSet::default(), most: most_edges };
        for (from, of_state) in self.options[shape].iter().enumerate() {
            for (at, options) in of_state.iter().enumerate() {
                let own = |&(action, to): &Turn| (from, Label::Near(at as i64, action), to);
                found.edges.extend(options.turns.iter().map(own));
            }
            found.edges.insert((from, Label::Far, from));
        }
        for pair in windows.near.iter().filter(|pair| pair.here == shape) {
            let last = windows.sizes.width - 1;
            let (mover, distance) = if pair.by > 0 { (last, pair.by + last as i64) } else { (0, pair.by) };
            self.effects(pair, mover, |action| Label::Near(distance, action), (&mut found, budget))?;
        }
        for pair in crate::windows::far(windows).iter().filter(|pair| pair.here == shape) {
            self.effects(pair, 0, |_| Label::Far, (&mut found, budget))?;
        }
        if found.are_too_many() {
            return Ok(None);
        }
        let mut list: Vec<(usize, Label, usize)> = found.edges.into_iter().collect();
        list.sort_unstable();
        let arcs = list.iter().map(|&(from, _, to)| GraphArc { from: from as u32, to: to as u32 }).collect();
        let labels = list.into_iter().map(|(_, label, _)| label).collect();
        Ok(Some(WindowGraph { graph: MarkedGraph::new(set.states.len(), arcs), labels }))
    }

    /// Adds what a process of another window does to one, from each of its states that agrees, until there are too many edges. States of the other
    /// window that agree and do the same to what both see are one.
    fn effects(
        &self,
        pair: &Pair,
        mover: usize,
        label: impl Fn(Option<ActionId>) -> Label,
        (found, budget): (&mut WindowEdges, &Budget),
    ) -> Result<(), StopReason> {
        let (here, there) = (&self.windows.theta[pair.here], &self.windows.theta[pair.there]);
        let mut effects: FxHashMap<Vec<RingValue>, FxHashSet<(Label, Vec<RingValue>)>> = FxHashMap::default();
        for (theirs, state) in there.states.iter().enumerate() {
            budget.check(0)?;
            let of_state = effects.entry(Windows::key(pair, None, Some(state))).or_default();
            for &(action, after) in &self.options[pair.there][theirs][mover].turns {
                let after = &there.states[after];
                let seen = pair.common.iter().map(|&(_, other)| pair.value(after[other])).collect();
                of_state.insert((label(action), seen));
            }
        }
        for (from, state) in here.states.iter().enumerate() {
            budget.check(0)?;
            for (label, seen) in effects.get(&Windows::key(pair, Some(state), None)).into_iter().flatten() {
                let mut changed: WindowState = state.clone();
                pair.common.iter().zip(seen).for_each(|(&(at, _), &value)| changed[at] = value);
                // Flows exclude what is not there.
                if let Some(to) = here.number(&changed) {
                    found.edges.insert((from, *label, to));
                }
            }
            if found.are_too_many() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn pairing(&self, pair: &Pair) -> Pairing {
        // Distances as the left window counts them. The left one shows `-span .. width - 1 + span`, the right one those one further.
        let (width, span) = (self.windows.sizes.width as i64, self.windows.sizes.span);
        let told = match &pair.names {
            None => (1 - span..width + span).collect::<BTreeSet<i64>>(),
            Some(names) => {
                let told = self.windows.told_apart();
                let both = names.iter().filter(|(theirs, ours)| told.contains(theirs) && told.contains(ours));
                both.map(|&(_, ours)| ours).collect()
            }
        };
        let kind = |label: Label, place: &dyn Fn(i64) -> Option<i64>| match label {
            Label::Near(at, action) => match place(at).filter(|at| told.contains(at)) {
                Some(at) => Kind::Both(at, action),
                None => Kind::Here,
            },
            Label::Far => Kind::Far,
        };
        let (left, right) = (&self.graphs[pair.here], &self.graphs[pair.there]);
        let keys = |graph: &WindowGraph, shape: usize, is_left: bool| {
            let states = &self.windows.theta[shape].states;
            let key = |state: &WindowState| match is_left {
                true => Windows::key(pair, Some(state), None),
                false => Windows::key(pair, None, Some(state)),
            };
            let shown: Vec<Vec<RingValue>> = states.iter().map(key).collect();
            let mut numbers: FxHashMap<Aspect, u32> = FxHashMap::default();
            let mut classes = Vec::new();
            for (edge, &label) in graph.labels.iter().enumerate() {
                let arc = graph.graph.arc(edge);
                let kind = if is_left { kind(label, &Some) } else { kind(label, &|at| pair.place(at)) };
                let next = numbers.len() as u32;
                let aspect = (kind, shown[arc.from as usize].clone(), shown[arc.to as usize].clone());
                classes.push(*numbers.entry(aspect).or_insert(next));
            }
            (classes, numbers)
        };
        let (left_class, lefts) = keys(left, pair.here, true);
        let (right_class, rights) = keys(right, pair.there, false);
        let mut fits = Vec::new();
        for ((kind, before, after), &class) in &lefts {
            let others: &[Kind] = match kind {
                Kind::Both(..) => &[*kind],
                Kind::Here => &[Kind::Far],
                Kind::Far => &[Kind::Here, Kind::Far],
            };
            for &other in others {
                if let Some(&theirs) = rights.get(&(other, before.clone(), after.clone())) {
                    fits.push((class, theirs));
                }
            }
        }
        fits.sort_unstable();
        let n_classes = (lefts.len(), rights.len());
        Pairing { left: pair.here, right: pair.there, by: pair.by, left_class, right_class, fits, n_classes }
    }

    /// For each word that may be on a side of a window, the edges that are compatible with one of a set.
    pub fn beside(&self, shape: usize, set: &EdgeBits, side: Side) -> Vec<(usize, EdgeBits)> {
        let mut found: Vec<(usize, EdgeBits)> = Vec::new();
        for pairing in &self.pairings {
            let (from, other, by) = match side {
                Side::Right(by) => (pairing.left, pairing.right, by),
                Side::Left(by) => (pairing.right, pairing.left, by),
            };
            if from == shape && pairing.by == by {
                found.push((other, self.compatible(pairing, set, side)));
            }
        }
        found
    }

    /// What of the edges of one word is compatible with a set of another on a side of it.
    pub fn back(&self, (shape, other): (usize, usize), set: &EdgeBits, side: Side) -> EdgeBits {
        let is_meant = |pairing: &&Pairing| match side {
            Side::Right(by) => (pairing.left, pairing.right, pairing.by) == (shape, other, by),
            Side::Left(by) => (pairing.right, pairing.left, pairing.by) == (shape, other, by),
        };
        let pairing = self.pairings.iter().find(is_meant);
        let nothing = EdgeBits::none(self.graphs[shape].labels.len());
        pairing.map_or(nothing, |pairing| self.compatible(pairing, set, side.back()))
    }

    fn compatible(&self, pairing: &Pairing, set: &EdgeBits, side: Side) -> EdgeBits {
        let (from, to, n) = match side {
            Side::Right(_) => (&pairing.left_class, &pairing.right_class, pairing.n_classes),
            Side::Left(_) => (&pairing.right_class, &pairing.left_class, (pairing.n_classes.1, pairing.n_classes.0)),
        };
        let mut present = vec![false; n.0];
        set.iter().for_each(|edge| present[from[edge] as usize] = true);
        let mut allowed = vec![false; n.1];
        for &(left, right) in &pairing.fits {
            let (one, other) = if matches!(side, Side::Right(_)) { (left, right) } else { (right, left) };
            allowed[other as usize] |= present[one as usize];
        }
        EdgeBits::where_true(to.len(), |edge| allowed[to[edge] as usize])
    }

    /// What fairness assumptions of the program demand of the edges of a word: those that were made for each process, of the window's own.
    pub fn conditions(&self, shape: usize, model: &Model, fairness: &[FairnessId]) -> Vec<StreettPair> {
        let for_each = &model.template().forms.for_each;
        let family = &model.families[self.windows.ring.family];
        let first = family.first;
        // Of each process at this size, too: what is also written of one that the size names (`weak P[N - 1]`) belongs to none.
        let is_made = |id: FairnessId| {
            let name = |process: ProcessId| &model.processes[process].name;
            family.processes().all(|process| {
                let made = model.fairness[id].name.replace(name(first).as_str(), name(process));
                let is_it = |pair: &FairnessPair| pair.owner == Some(process) && pair.name == made;
                fairness.iter().any(|&other| is_it(&model.fairness[other]))
            })
        };
        let is_meant =
            |id: &&FairnessId| for_each.contains(id) && model.fairness[**id].owner == Some(first) && is_made(**id);
        let mut found = Vec::new();
        for at in 0..self.windows.sizes.width {
            for id in fairness.iter().filter(is_meant) {
                found.extend(self.condition(shape, at, &model.fairness[*id]));
            }
        }
        found
    }

    /// One assumption, made for a process of the window; `None` where it is about something else than what its owner can do and does.
    fn condition(&self, shape: usize, at: usize, pair: &FairnessPair) -> Option<StreettPair> {
        let owner = pair.owner?;
        let model = &self.windows.sizes.instances[self.windows.shapes[shape].instance].model;
        let carries = |action: ActionId, labels: &Option<Vec<String>>| {
            labels.as_ref().is_none_or(|labels| model.actions[action].labels.iter().any(|one| labels.contains(one)))
        };
        let unable = |predicate: &StatePredicate| match predicate {
            StatePredicate::Unable(process, labels) if *process == owner => {
                let is_able = |options: &Vec<Options>| options[at].enabled.iter().any(|&one| carries(one, labels));
                Some(self.options[shape].iter().map(|options| !is_able(options)).collect::<Vec<bool>>())
            }
            _ => None,
        };
        let WindowGraph { graph, labels } = &self.graphs[shape];
        let mut often = EdgeBits::none(labels.len());
        for predicate in &pair.often {
            let before = match predicate {
                EdgePredicate::Before(predicate) => Some(unable(predicate)?),
                EdgePredicate::Scheduled(process) | EdgePredicate::Moves(process, _) if *process == owner => None,
                _ => return None,
            };
            for (edge, label) in labels.iter().enumerate() {
                let is_met = match (predicate, label) {
                    (EdgePredicate::Before(_), _) => {
                        before.as_ref().is_some_and(|before| before[graph.arc(edge).from as usize])
                    }
                    (EdgePredicate::Scheduled(_), Label::Near(mover, _)) => *mover == at as i64,
                    (EdgePredicate::Moves(_, wanted), Label::Near(mover, Some(action))) => {
                        *mover == at as i64 && carries(*action, wanted)
                    }
                    _ => false,
                };
                if is_met {
                    often.insert(edge);
                }
            }
        }
        let stays = match &pair.always {
            None => None,
            Some(predicate) => Some(unable(predicate)?),
        };
        Some(StreettPair { stays, often })
    }
}

/// What each process of a window can do in a state of it.
fn options_at(windows: &Windows<'_>, shape: usize, state: usize) -> Result<Vec<Options>, Failure> {
    let Shape { instance, stand, parts, .. } = &windows.shapes[shape];
    let instance = &windows.sizes.instances[*instance];
    let model = &instance.model;
    let set = &windows.theta[shape];
    let whole = instance.filled(parts, &set.states[state], *stand);
    let mut found = Vec::new();
    for at in 0..windows.sizes.width {
        let process = ProcessId::new((stand.at + at) % instance.size);
        let (steps, _) =
            attempts_up_to(model, &whole, process, windows.ring.config.window_ways).ok_or(Failure::Outside)?;
        let stands = steps.is_empty() || is_idle(model, &whole, process);
        let mut options = Options::default();
        let mut known: BTreeSet<Turn> = BTreeSet::new();
        for (step, _) in steps {
            if !matches!(model.actions[step.by.action].kind, ActionKind::Idle) {
                options.enabled.push(step.by.action);
            }
            let Ok(after) = step.result else { continue };
            // Flows exclude what is not there.
            if let Some(to) = set.number(&instance.read(&after, parts, *stand)) {
                known.insert((Some(step.by.action), to));
            }
        }
        if stands {
            known.insert((None, state));
        }
        options.turns = known.into_iter().collect();
        found.push(options);
    }
    Ok(found)
}
