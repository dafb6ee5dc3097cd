//! Windows and their states: the least sets that are closed under steps (`theta`).
//!
//! In: a ring at all sizes that show its words. Out: for each word the states that its windows may be in, at every size; with the steps of each of
//! the window's processes. A step of a process outside is taken in a state of the window that begins or ends with it, and changes what both see.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, StopReason};
use evidence::rings::{ConservedSum, NeighbourTypes, Network, RingItem, RingValue, RingWeight, tree};
use model::eval::{attempts_up_to, free_cells, is_idle, is_terminated, may_end};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flows::seen_weight;
use crate::heap;
use crate::instance::{Part, Sighted, WindowPosition};
use crate::ring::{Ring, Sizes};

/// Values for the items of a window, in their order.
pub type WindowState = Vec<RingValue>;

/// What windows with one word see.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The types of its processes.
    pub word: NeighbourTypes,
    /// What it sees, ascending.
    pub items: Vec<RingItem>,
    /// A size at which there is such a window, as its place among the sizes.
    pub instance: usize,
    /// Its position there.
    pub stand: WindowPosition,
    /// What it sees there.
    pub parts: Vec<Part>,
}

/// Two windows that are near each other, and what both see.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// One window.
    pub here: usize,
    /// The other one.
    pub there: usize,
    /// How far to the right the other one is; in a tree, how it is named.
    pub by: i64,
    /// In a tree: what processes are called by the other one, and what by this one, as far as both name them.
    pub names: Option<Vec<(i64, i64)>>,
    /// What both see, by its place in each.
    pub common: Vec<(usize, usize)>,
}

impl Pair {
    /// What the other window calls this, as this one does; `None` where this one has no name for it.
    pub fn place(&self, at: i64) -> Option<i64> {
        match &self.names {
            None => Some(at + self.by),
            Some(names) => names.iter().find(|(theirs, _)| *theirs == at).map(|&(_, ours)| ours),
        }
    }

    fn item(&self, item: RingItem) -> Option<RingItem> {
        Some(match item {
            RingItem::Control(at) => RingItem::Control(self.place(at)?),
            RingItem::Own(at, cell) => RingItem::Own(self.place(at)?, cell),
            RingItem::Element(var, at, element) => RingItem::Element(var, self.place(at)?, element),
            RingItem::Shared(..) => item,
        })
    }

    /// A value of the other window, as this one calls it.
    pub fn value(&self, value: RingValue) -> RingValue {
        match value {
            RingValue::Neighbour(at) => RingValue::Neighbour(self.place(at).unwrap_or(tree::FAR)),
            other => other,
        }
    }
}

/// What a process of a window can do in a state of it.
#[derive(Clone, Debug, Default)]
pub struct ProcessSteps {
    /// The states after its steps.
    pub after: Vec<WindowState>,
    /// Whether a step may be a fault.
    pub is_faulty: bool,
    /// Whether it has no step.
    pub is_blocked: bool,
    /// Whether it neither has ended nor is where it may wait.
    pub is_busy: bool,
}

/// The states of the windows with one word.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// The states.
    pub states: Vec<WindowState>,
    /// What each process of the window can do in each.
    pub doings: Vec<Vec<ProcessSteps>>,
    known: FxHashMap<WindowState, usize>,
}

impl States {
    /// The number of a state.
    pub fn number(&self, state: &WindowState) -> Option<usize> {
        self.known.get(state).copied()
    }
}

/// All windows of a ring.
#[derive(Debug)]
pub struct Windows<'a> {
    /// The ring.
    pub ring: &'a Ring,
    /// Its sizes.
    pub sizes: &'a Sizes,
    /// The windows, by words, ascending.
    pub shapes: Vec<Shape>,
    /// Their states.
    pub theta: Vec<States>,
    /// Windows one to the right of others.
    pub next: Vec<Pair>,
    /// Windows that begin or end with a process that is near the other one.
    pub(crate) near: Vec<Pair>,
    /// The states that windows start in.
    pub(crate) initial: Vec<Vec<usize>>,
}

/// Why there are no windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A limit was reached.
    Stopped(StopReason),
    /// The text does something that is outside the fragment.
    Outside,
}

impl From<StopReason> for Failure {
    fn from(reason: StopReason) -> Self {
        Failure::Stopped(reason)
    }
}

/// Values that both windows of a pair agree on.
type Key = Vec<RingValue>;

/// The interference across a pair: the states of the one by what they agree on, and what steps of the other do to them.
#[derive(Debug, Default)]
struct Meeting {
    waiting: FxHashMap<Key, Vec<usize>>,
    changes: FxHashMap<Key, Vec<Vec<(usize, RingValue)>>>,
    seen: FxHashSet<(Key, Vec<(usize, RingValue)>)>,
}

impl<'a> Windows<'a> {
    /// The least sets of window states that are closed under steps.
    ///
    /// # Errors
    /// A limit, or something that is outside the fragment after all.
    pub fn closed(ring: &'a Ring, sizes: &'a Sizes, budget: &Budget) -> Result<Windows<'a>, Failure> {
        Windows::closed_within(ring, sizes, (&[], budget))
    }

    /// The same without states that alone weigh more than a flow's total.
    ///
    /// # Errors
    /// As [`Windows::closed`].
    pub fn closed_within(
        ring: &'a Ring,
        sizes: &'a Sizes,
        (flows, budget): (&[ConservedSum], &Budget),
    ) -> Result<Windows<'a>, Failure> {
        let mut windows = Windows::shaped(ring, sizes)?;
        let starts = windows.starts()?;
        let mut closure = Closure::new(&mut windows, budget);
        let exact = flows.iter().filter(|flow| !flow.at_least);
        closure.bounds = exact.map(|flow| (flow.weights.iter().cloned().collect(), flow.total)).collect();
        for (shape, state) in starts.iter().cloned() {
            closure.insert(shape, state);
        }
        closure.close()?;
        for (shape, state) in &starts {
            let number = windows.theta[*shape].number(state);
            windows.initial[*shape].extend(number);
        }
        Ok(windows)
    }

    /// The words of all sizes, and how windows are neighbours.
    fn shaped(ring: &'a Ring, sizes: &'a Sizes) -> Result<Windows<'a>, Failure> {
        let (width, span) = (sizes.width, sizes.span);
        let mut shapes: BTreeMap<NeighbourTypes, Shape> = BTreeMap::new();
        for (number, instance) in sizes.instances.iter().enumerate() {
            for at in 0..instance.size {
                let stand = WindowPosition { at, span };
                let word = ring.word(instance.size, at, width);
                let Sighted { items, parts } = instance.window(width, stand);
                if shapes.get(&word).is_some_and(|shape| shape.items != items) || !is_near(ring, &items) {
                    return Err(Failure::Outside);
                }
                let is_better = |shape: &Shape| match ring.network {
                    // The largest size represents all: there no distance comes round to another one.
                    Network::Line => shape.instance < number,
                    // All that it names are there: two edges up, and two edges down.
                    Network::Tree => in_the_middle(at) <= in_the_middle(shape.stand.at),
                };
                if shapes.get(&word).is_none_or(is_better) {
                    drop(shapes.insert(word.clone(), Shape { word, items, instance: number, stand, parts }));
                }
            }
        }
        let shapes: Vec<Shape> = shapes.into_values().collect();
        let theta = vec![States::default(); shapes.len()];
        let initial = vec![Vec::new(); shapes.len()];
        let mut windows = Windows { ring, sizes, shapes, theta, next: Vec::new(), near: Vec::new(), initial };
        if ring.network == Network::Tree {
            windows.next = windows.pairs(&[tree::LEFT, tree::RIGHT]);
            windows.near = windows.pairs(&heap::ADJACENT);
            let second = windows.pairs(&heap::SECOND);
            if second.iter().any(|pair| !pair.common.is_empty()) {
                windows.near.extend(second);
            }
            return Ok(windows);
        }
        windows.next = windows.pairs(&[1]);
        let distances: Vec<i64> = (1..=span).flat_map(|by| [by, -by]).collect();
        windows.near = windows.pairs(&distances);
        Ok(windows)
    }

    /// The names of processes that may touch a window, and of its own process: whose turns it can distinguish, in a tree.
    pub fn told_apart(&self) -> BTreeSet<i64> {
        self.near.iter().map(|pair| pair.by).chain([0]).collect()
    }

    fn pairs(&self, distances: &[i64]) -> Vec<Pair> {
        let number: FxHashMap<&NeighbourTypes, usize> =
            self.shapes.iter().enumerate().map(|(at, one)| (&one.word, at)).collect();
        let mut found: BTreeSet<Pair> = BTreeSet::new();
        for instance in &self.sizes.instances {
            let size = instance.size;
            for at in 0..size {
                let here = number[&self.ring.word(size, at, self.sizes.width)];
                for &by in distances {
                    let Some(other) = instance.beside(at, by) else { continue };
                    let names = (self.ring.network == Network::Tree).then(|| names(at, other));
                    let there = number[&self.ring.word(size, other, self.sizes.width)];
                    found.insert(Pair { here, there, by, names, common: Vec::new() });
                }
            }
        }
        let with_common = |mut pair: Pair| {
            let theirs = self.shapes[pair.there].items.iter().enumerate();
            let theirs: FxHashMap<RingItem, usize> =
                theirs.filter_map(|(at, item)| Some((pair.item(*item)?, at))).collect();
            let items = self.shapes[pair.here].items.iter().enumerate();
            pair.common = items.filter_map(|(at, item)| Some((at, *theirs.get(item)?))).collect();
            pair
        };
        found.into_iter().map(with_common).collect()
    }

    /// The windows of all initial states of all sizes.
    fn starts(&self) -> Result<BTreeSet<(usize, WindowState)>, Failure> {
        let number: FxHashMap<&NeighbourTypes, usize> =
            self.shapes.iter().enumerate().map(|(at, one)| (&one.word, at)).collect();
        let mut found = BTreeSet::new();
        for instance in &self.sizes.instances {
            let free = free_cells(&instance.model);
            for at in 0..instance.size {
                let stand = WindowPosition { at, span: self.sizes.span };
                let shape = number[&self.ring.word(instance.size, at, self.sizes.width)];
                let Sighted { parts, .. } = instance.window(self.sizes.width, stand);
                let mut open = vec![instance.read(instance.first(), &parts, stand)];
                for (place, part) in parts.iter().enumerate() {
                    let Part::Cell(cell) = part else { continue };
                    if !free.contains(cell) {
                        continue;
                    }
                    let ty = instance.model.cells[*cell].ty;
                    if matches!(ty, ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock) {
                        return Err(Failure::Outside);
                    }
                    let context = instance.model.type_context();
                    if ty.n_values(context).saturating_mul(open.len() as u128) > self.ring.config.window_starts as u128
                    {
                        return Err(Failure::Outside);
                    }
                    let values: Vec<RingValue> = ty.values(context).map(RingValue::Value).collect();
                    open = open
                        .iter()
                        .flat_map(|state| values.iter().map(|&value| with(state, &[(place, value)])))
                        .collect();
                }
                found.extend(open.into_iter().map(|state| (shape, state)));
            }
        }
        Ok(found)
    }

    /// What each process of a window can do in a state of it.
    fn doings(&self, shape: usize, state: &WindowState) -> Result<Vec<ProcessSteps>, Failure> {
        let Shape { instance, stand, parts, .. } = &self.shapes[shape];
        let instance = &self.sizes.instances[*instance];
        let whole = instance.filled(parts, state, *stand);
        let mut doings = Vec::with_capacity(self.sizes.width);
        for at in 0..self.sizes.width {
            let place = (stand.at + at) % instance.size;
            let process = ProcessId::new(place);
            let model = &instance.model;
            let (steps, footprint) =
                attempts_up_to(model, &whole, process, self.ring.config.window_ways).ok_or(Failure::Outside)?;
            let stays = instance.stays_within(place, &footprint.cells)
                && footprint.places.iter().all(|&other| other == process);
            if !stays {
                return Err(Failure::Outside);
            }
            let rests = is_terminated(model, &whole, process)
                || is_idle(model, &whole, process)
                || may_end(model, &whole, process);
            let mut doing = ProcessSteps { is_blocked: steps.is_empty(), is_busy: !rests, ..ProcessSteps::default() };
            for (step, _) in steps {
                match step.result {
                    Ok(after) if !instance.passes_on(place, &whole, &after) => return Err(Failure::Outside),
                    Ok(after) => doing.after.push(instance.read(&after, parts, *stand)),
                    Err(_) => doing.is_faulty = true,
                }
            }
            doings.push(doing);
        }
        Ok(doings)
    }

    /// What the states of both windows of a pair agree on, as the one to the left of the other names it.
    pub fn key(pair: &Pair, here: Option<&WindowState>, there: Option<&WindowState>) -> Vec<RingValue> {
        match (here, there) {
            (Some(here), _) => pair.common.iter().map(|&(at, _)| here[at]).collect(),
            (None, Some(there)) => pair.common.iter().map(|&(_, at)| pair.value(there[at])).collect(),
            (None, None) => Vec::new(),
        }
    }

    /// How many states there are.
    pub fn n_states(&self) -> usize {
        self.theta.iter().map(|set| set.states.len()).sum()
    }
}

/// In a tree: the names by which each of two processes calls those that both name.
fn names(here: usize, there: usize) -> Vec<(i64, i64)> {
    let all = [0].into_iter().chain(heap::ADJACENT).chain(heap::SECOND);
    let both = all.filter_map(|theirs| Some((theirs, heap::name(here, heap::named(there, theirs)?))));
    both.filter(|&(_, ours)| ours != tree::FAR).collect()
}

/// Least for processes of a tree that are two edges away from the root, or a little further.
fn in_the_middle(at: usize) -> u32 {
    match heap::depth(at) {
        depth @ 0..=1 => 100 - depth,
        depth => depth,
    }
}

/// Whether all that a window of a tree sees belongs to its process, to the parent or to a child.
fn is_near(ring: &Ring, items: &[RingItem]) -> bool {
    let is_near = |item: &RingItem| match item {
        RingItem::Control(at) | RingItem::Own(at, _) | RingItem::Element(_, at, _) => {
            *at == 0 || heap::ADJACENT.contains(at)
        }
        RingItem::Shared(..) => false,
    };
    ring.network == Network::Line || items.iter().all(is_near)
}

/// Whether a cell that names one process would name two in a state: there is no such state.
fn names_two(ring: &Ring, shape: &Shape, state: &WindowState) -> bool {
    let is_named = |(item, value): &(&RingItem, &RingValue), of: VarId| {
        matches!(item, RingItem::Element(var, ..) if *var == of) && **value == RingValue::Value(Value::Bool(true))
    };
    ring.naming.iter().any(|&of| shape.items.iter().zip(state).filter(|pair| is_named(pair, of)).count() > 1)
}

/// The same state with other values at some places.
fn with(state: &WindowState, changes: &[(usize, RingValue)]) -> WindowState {
    let mut changed = state.clone();
    for &(at, value) in changes {
        changed[at] = value;
    }
    changed
}

struct Closure<'w, 'a, 'b> {
    windows: &'w mut Windows<'a>,
    pairs: Vec<Pair>,
    meetings: Vec<Meeting>,
    open: Vec<(usize, usize)>,
    /// Flows, and their totals.
    bounds: Vec<(BTreeMap<RingWeight, u64>, u64)>,
    budget: &'b Budget,
    bytes: u64,
}

impl<'w, 'a, 'b> Closure<'w, 'a, 'b> {
    fn new(windows: &'w mut Windows<'a>, budget: &'b Budget) -> Closure<'w, 'a, 'b> {
        let mut pairs = windows.near.clone();
        pairs.extend(far(windows));
        let meetings = pairs.iter().map(|_| Meeting::default()).collect();
        Closure { windows, pairs, meetings, open: Vec::new(), bounds: Vec::new(), budget, bytes: 0 }
    }

    fn insert(&mut self, shape: usize, state: WindowState) {
        let set = &mut self.windows.theta[shape];
        if set.known.contains_key(&state) {
            return;
        }
        let shape_of = &self.windows.shapes[shape];
        if names_two(self.windows.ring, shape_of, &state) {
            return;
        }
        if self.bounds.iter().any(|(flow, total)| seen_weight(flow, shape_of, &state) > *total) {
            return;
        }
        self.bytes += (state.len() * size_of::<RingValue>() * 3 + 200) as u64;
        let at = set.states.len();
        set.known.insert(state.clone(), at);
        set.states.push(state);
        set.doings.push(Vec::new());
        self.open.push((shape, at));
    }

    fn close(&mut self) -> Result<(), Failure> {
        while let Some((shape, at)) = self.open.pop() {
            self.budget.check(self.bytes)?;
            let state = self.windows.theta[shape].states[at].clone();
            let doings = self.windows.doings(shape, &state)?;
            for after in doings.iter().flat_map(|doing| &doing.after) {
                self.insert(shape, after.clone());
            }
            for pair in 0..self.pairs.len() {
                if self.pairs[pair].here == shape {
                    self.wait(pair, at, &state);
                }
                if self.pairs[pair].there == shape {
                    self.change(pair, &state, &doings);
                }
            }
            self.windows.theta[shape].doings[at] = doings;
        }
        Ok(())
    }

    /// A state to which steps across the pair may happen.
    fn wait(&mut self, pair: usize, at: usize, state: &WindowState) {
        let key = Windows::key(&self.pairs[pair], Some(state), None);
        let meeting = &mut self.meetings[pair];
        meeting.waiting.entry(key.clone()).or_default().push(at);
        let changes = meeting.changes.get(&key).cloned().unwrap_or_default();
        for change in changes {
            self.insert(self.pairs[pair].here, with(state, &change));
        }
    }

    /// Steps of the window that begins or ends with their process, as changes of what both see.
    fn change(&mut self, pair: usize, state: &WindowState, doings: &[ProcessSteps]) {
        let found = self.pairs[pair].clone();
        let mover = if found.by > 0 { self.windows.sizes.width - 1 } else { 0 };
        let key = Windows::key(&found, None, Some(state));
        for after in &doings[mover].after {
            let changes: Vec<(usize, RingValue)> = { found.common.iter() }
                .filter(|&&(_, there)| after[there] != state[there])
                .map(|&(here, there)| (here, found.value(after[there])))
                .collect();
            if changes.is_empty() {
                continue;
            }
            let meeting = &mut self.meetings[pair];
            if !meeting.seen.insert((key.clone(), changes.clone())) {
                continue;
            }
            meeting.changes.entry(key.clone()).or_default().push(changes.clone());
            let waiting = meeting.waiting.get(&key).cloned().unwrap_or_default();
            for at in waiting {
                let state = with(&self.windows.theta[found.here].states[at], &changes);
                self.insert(found.here, state);
            }
        }
    }
}

/// Windows that are far from each other, where there is something that all share: they agree on that.
pub(crate) fn far(windows: &Windows<'_>) -> Vec<Pair> {
    let shared = |shape: usize| {
        let items = windows.shapes[shape].items.iter().enumerate();
        items.filter(|(_, item)| matches!(item, RingItem::Shared(..))).map(|(at, _)| at).collect::<Vec<usize>>()
    };
    let n_shapes = windows.shapes.len();
    let all = (0..n_shapes).flat_map(|here| (0..n_shapes).map(move |there| (here, there)));
    let pairs = all.map(|(here, there)| Pair {
        here,
        there,
        by: 0,
        names: None,
        common: shared(here).into_iter().zip(shared(there)).collect(),
    });
    pairs.filter(|pair| !pair.common.is_empty()).collect()
}
