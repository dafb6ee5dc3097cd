//! The states of one view: the least set that initial states are in and steps lead into.
//!
//! In: a program as a [`Skeleton`], the cells of a view and a partition of the local states. Out: the states, or that a limit was met. Obligations
//! are those of `evidence::fine`: a step of a process of the view, of one of another family, and of one more process that writes a cell of the
//! view, where every `k` of them look like states. Where views are closed together ([`super::semijoin`]), a step for which another view has no
//! room yet is put aside and tried again. What flows do not admit ([`super::admission`]) is no part of a reachable state and is left out.

use base::{Budget, StopReason};
use evidence::fine::{FineContent, FineState};
use rustc_hash::{FxHashMap, FxHashSet};

use super::admission::ViewFilter;
use super::bits::Bits;
use super::datum::Datum;
use super::flows::Flow;
use super::semijoin::Room;
use super::skeleton::{Edge, Skeleton, Target};
use super::step::Scan;
use crate::sight::Ground;

/// A view without its states.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The shared columns that it shows.
    pub cells: Vec<usize>,
    /// How many processes it shows.
    pub k: usize,
    /// For each local state its block.
    pub blocks: Vec<u32>,
    /// How many blocks there are.
    pub n_blocks: usize,
}

/// A view with its states.
#[derive(Clone, Debug)]
pub struct Closed {
    /// The view.
    pub shape: Shape,
    /// The states.
    pub theta: FxHashSet<FineState>,
}

/// Few processes and the cells of a view.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub cells: Vec<FineContent>,
    pub blocks: Vec<u32>,
    /// Whom the loop of each has taken.
    taken: Vec<Vec<bool>>,
}

/// A step as a view shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ViewStep {
    from: Option<u32>,
    to: Option<u32>,
    guards: Vec<(usize, Datum)>,
    writes: Vec<(usize, Datum)>,
    all: Vec<Bits>,
    target: Option<Option<Bits>>,
    scan: Scan,
    /// What it is beside the view, where other views are asked for room.
    whole: Option<WholeStep>,
}

/// What a step needs, whatever the view shows of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WholeStep {
    /// The local state before; `None` for a process of another family.
    pub from: Option<u32>,
    /// What shared columns hold before.
    pub guards: Vec<(usize, Datum)>,
    /// Sets of local states in which all other processes are.
    pub all: Vec<u32>,
}

/// A step for which another view has no room yet.
#[derive(Clone, Debug)]
struct Parked {
    scene: Scene,
    mover: Option<usize>,
    step: usize,
}

/// What came of steps.
#[derive(Default)]
struct Taken {
    after: Vec<FineState>,
    parked: Vec<Parked>,
    n_asked: usize,
}

/// Whom a loop takes, among those who are seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scanned {
    Nobody,
    Me,
    Seen(usize),
    Unseen,
}

/// Computes one view.
pub struct Closure<'a> {
    skeleton: &'a Skeleton,
    shape: &'a Shape,
    tracked: Vec<bool>,
    filter: ViewFilter,
    most_states: usize,
    most_scenes: usize,
    most_questions: usize,
    steps: Vec<ViewStep>,
    /// The steps from each block.
    from: Vec<Vec<usize>>,
    theta: FxHashSet<FineState>,
    /// The states by what they show of their first process, each in both orders.
    first: FxHashMap<FineState, Vec<FineState>>,
    queue: Vec<FineState>,
    /// The states that were not shown to other views yet.
    pub(super) fresh: Vec<FineState>,
    parked: Vec<Parked>,
    n_steps: u64,
    n_scenes: usize,
    n_asked: usize,
}

/// The states of a view; `None` where there are too many.
///
/// # Errors
/// A limit.
pub fn close(
    ground: Ground<'_>,
    skeleton: &Skeleton,
    (shape, flows): (Shape, &[Flow]),
    budget: &Budget,
) -> Result<Option<Closed>, StopReason> {
    let mut closure = Closure::new(ground, skeleton, (&shape, flows), false);
    closure.start();
    let is_done = closure.run(None, budget)?;
    let theta = closure.theta;
    Ok(is_done.then_some(Closed { shape, theta }))
}

/// A step as the view shows it; `None` where it shows nothing of it.
fn shown(skeleton: &Skeleton, shape: &Shape, edge: &Edge, sets: &mut FxHashMap<u32, Bits>) -> Option<ViewStep> {
    let position = |column: usize| shape.cells.iter().position(|&cell| cell == column);
    let block = |state: u32| shape.blocks[state as usize];
    let guards = edge.guards.iter().filter_map(|&(column, datum)| Some((position(column)?, datum))).collect();
    let writes: Vec<(usize, Datum)> = { edge.writes.iter() }
        .filter_map(|&(column, datum)| {
            let datum = match datum {
                Datum::Stranger(other) => position(other).map_or(Datum::Another, Datum::Stranger),
                datum => datum,
            };
            Some((position(column)?, datum))
        })
        .collect();
    let (from, to) = (edge.from.map(block), edge.to.map(block));
    if from == to && writes.is_empty() && edge.scan == Scan::Same {
        return None;
    }
    let mut blocks = |set: u32| {
        let of = |set: u32| {
            let mut found = Bits::new(shape.n_blocks);
            let members = shape.blocks.iter().enumerate();
            members
                .filter(|(state, _)| skeleton.sets[set as usize].contains(*state))
                .for_each(|(_, &block)| found.insert(block as usize));
            found
        };
        sets.entry(set).or_insert_with(|| of(set)).clone()
    };
    let all: Vec<Bits> = edge.all.iter().map(|&set| blocks(set)).filter(|set| !set.is_full()).collect();
    let target = edge.target.map(|target| match target {
        Target::Me => None,
        Target::Other(set) => Some(blocks(set)),
    });
    Some(ViewStep { from, to, guards, writes, all, target, scan: edge.scan, whole: None })
}

impl<'a> Closure<'a> {
    /// A view without states. Whoever asks other views for room has to know what steps are beside the view.
    pub(super) fn new(
        ground: Ground<'_>,
        skeleton: &'a Skeleton,
        (shape, flows): (&'a Shape, &[Flow]),
        asks: bool,
    ) -> Closure<'a> {
        let mut tracked = vec![true; shape.n_blocks];
        for (state, &block) in shape.blocks.iter().enumerate() {
            tracked[block as usize] &= skeleton.is_scanning(ground, state as u32);
        }
        let mut steps: Vec<ViewStep> = Vec::new();
        let mut known: FxHashSet<ViewStep> = FxHashSet::default();
        let mut sets: FxHashMap<u32, Bits> = FxHashMap::default();
        for edge in &skeleton.edges {
            if let Some(mut shown) = shown(skeleton, shape, edge, &mut sets) {
                let whole = || WholeStep { from: edge.from, guards: edge.guards.clone(), all: edge.all.clone() };
                shown.whole = asks.then(whole);
                if known.insert(shown.clone()) {
                    steps.push(shown);
                }
            }
        }
        let mut from = vec![Vec::new(); shape.n_blocks];
        for (at, step) in steps.iter().enumerate() {
            if let Some(block) = step.from {
                from[block as usize].push(at);
            }
        }
        let config = ground.config;
        let (most_states, most_scenes) = match flows.is_empty() {
            true => (config.cell_states, config.cell_scenes),
            false => (config.cell_states_with_sums, config.cell_scenes_with_sums),
        };
        Closure {
            skeleton,
            shape,
            tracked,
            filter: ViewFilter::new(skeleton, shape, flows),
            most_states,
            most_scenes,
            most_questions: config.cell_questions,
            steps,
            from,
            theta: FxHashSet::default(),
            first: FxHashMap::default(),
            queue: Vec::new(),
            fresh: Vec::new(),
            parked: Vec::new(),
            n_steps: 0,
            n_scenes: 0,
            n_asked: 0,
        }
    }

    /// The states.
    pub(super) fn into_theta(self) -> FxHashSet<FineState> {
        self.theta
    }

    /// The initial states.
    pub(super) fn start(&mut self) {
        let skeleton = self.skeleton;
        let mut blocks: Vec<Vec<u32>> = vec![Vec::new()];
        for _ in 0..self.shape.k {
            let extended = |before: &Vec<u32>| {
                let starts = skeleton.starts.iter().map(|&state| self.shape.blocks[state as usize]);
                starts.map(|block| [&before[..], &[block]].concat()).collect::<Vec<_>>()
            };
            blocks = blocks.iter().flat_map(extended).collect();
            blocks.sort_unstable();
            blocks.dedup();
        }
        let mut cells: Vec<Vec<FineContent>> = vec![Vec::new()];
        for &column in &self.shape.cells {
            let options: Vec<FineContent> = { skeleton.shared_starts[column].iter() }
                .flat_map(|&datum| match datum {
                    Datum::Value(value) => vec![FineContent::Value(value)],
                    Datum::Place(place) => vec![FineContent::Place(place)],
                    _ => (0..self.shape.k as u8).map(FineContent::Slot).chain([FineContent::Other]).collect(),
                })
                .collect();
            let extended = |before: &Vec<FineContent>| {
                options.iter().map(|&one| [&before[..], &[one]].concat()).collect::<Vec<_>>()
            };
            cells = cells.iter().flat_map(extended).collect();
        }
        for cells in &cells {
            for blocks in &blocks {
                let taken = vec![false; self.shape.k];
                self.insert(FineState { cells: cells.clone(), blocks: blocks.clone(), taken });
            }
        }
    }

    fn insert(&mut self, state: FineState) {
        let state = canonical(state);
        if self.theta.contains(&state) || !self.filter.admits(&state.cells, &state.blocks) {
            return;
        }
        self.theta.insert(state.clone());
        for turned in [Some(state.clone()), (state.blocks.len() == 2).then(|| swapped(&state))].into_iter().flatten() {
            let list = self.first.entry(single(&turned)).or_default();
            if !list.contains(&turned) {
                list.push(turned);
            }
        }
        self.fresh.push(state.clone());
        self.queue.push(state);
    }

    /// Steps from every state until nothing is new, those first that were put aside; whether there are few enough. A process more is met when the last of
    /// the pairs that it makes is taken from the queue.
    ///
    /// # Errors
    /// A limit.
    pub(super) fn run(&mut self, room: Option<&Room<'_>>, budget: &Budget) -> Result<bool, StopReason> {
        let mut taken = Taken::default();
        for Parked { scene, mover, step } in std::mem::take(&mut self.parked) {
            self.take(room, (&scene, mover), step, &mut taken);
        }
        self.note_taken(taken);
        while let Some(state) = self.queue.pop() {
            self.n_steps += 1;
            if self.n_steps.is_multiple_of(64) {
                budget.check(self.theta.len() as u64 * 200)?;
            }
            self.own_steps(room, &state);
            if self.skeleton.n_processes > self.shape.k {
                self.foreign_steps(room, &state);
            }
            if self.theta.len() > self.most_states
                || self.n_scenes > self.most_scenes
                || self.n_asked > self.most_questions
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn own_steps(&mut self, room: Option<&Room<'_>>, state: &FineState) {
        let scene = scene(state);
        let mut taken = Taken::default();
        for (at, &block) in state.blocks.iter().enumerate() {
            for &step in &self.from[block as usize] {
                self.take(room, (&scene, Some(at)), step, &mut taken);
            }
        }
        for step in (0..self.steps.len()).filter(|&step| self.steps[step].from.is_none()) {
            self.take(room, (&scene, None), step, &mut taken);
        }
        self.note_taken(taken);
    }

    fn note_taken(&mut self, taken: Taken) {
        taken.after.into_iter().for_each(|after| self.insert(after));
        self.parked.extend(taken.parked);
        self.n_asked += taken.n_asked;
    }

    /// Steps of one more process, with every state that has a process in common with this one.
    fn foreign_steps(&mut self, room: Option<&Room<'_>>, state: &FineState) {
        let mut scenes = Vec::new();
        if state.blocks.len() == 1 {
            for other in &self.theta {
                self.join(state, other, &mut scenes);
                self.join(other, state, &mut scenes);
            }
        } else {
            for turned in [state.clone(), swapped(state)] {
                for other in self.first.get(&single(&turned)).into_iter().flatten() {
                    self.join(&turned, other, &mut scenes);
                    self.join(other, &turned, &mut scenes);
                }
            }
        }
        self.n_scenes += scenes.len();
        let mut taken = Taken::default();
        for scene in scenes {
            let newest = self.shape.k;
            for &step in &self.from[scene.blocks[newest] as usize] {
                if !self.steps[step].writes.is_empty() {
                    self.take(room, (&scene, Some(newest)), step, &mut taken);
                }
            }
        }
        self.note_taken(taken);
    }

    /// A state with the other one's own process as one more, in every way in which each `k` look like states.
    fn join(&self, state: &FineState, other: &FineState, found: &mut Vec<Scene>) {
        let writes = |block: u32| self.from[block as usize].iter().any(|&step| !self.steps[step].writes.is_empty());
        let newest = other.blocks[self.shape.k - 1];
        if !writes(newest) {
            return;
        }
        let Some(cells) = joined(&state.cells, &other.cells, self.shape.k == 2) else { return };
        let blocks = [&state.blocks[..], &[newest]].concat();
        if !self.filter.admits(&cells, &blocks) {
            return;
        }
        let scene = Scene { cells, blocks, taken: Vec::new() };
        if self.shape.k == 1 {
            return self.fill(scene, &[], found);
        }
        let fixed = [(0, 1, state.taken[0]), (1, 0, state.taken[1]), (0, 2, other.taken[0]), (2, 0, other.taken[1])];
        self.fill(scene, &fixed, found);
    }

    /// Every way in which loops may have taken the processes of a scene; of two and more, where all pairs are states.
    fn fill(&self, scene: Scene, fixed: &[(usize, usize, bool)], found: &mut Vec<Scene>) {
        let n = scene.blocks.len();
        let mut taken = vec![vec![false; n]; n];
        fixed.iter().for_each(|&(one, other, is_taken)| taken[one][other] = is_taken);
        let is_fixed = |one: usize, other: usize| fixed.iter().any(|&(a, b, _)| (a, b) == (one, other));
        let mut open = Vec::new();
        for one in 0..n {
            for other in (0..n).filter(|&other| other != one && !is_fixed(one, other)) {
                if self.tracked[scene.blocks[one] as usize] {
                    open.push((one, other));
                }
            }
        }
        for chosen in 0u32..1 << open.len() {
            let mut scene = Scene { taken: taken.clone(), ..scene.clone() };
            for (at, &(one, other)) in open.iter().enumerate() {
                scene.taken[one][other] = chosen & 1 << at != 0;
            }
            if n == 2 || self.theta.contains(&canonical(part(&scene, &[1, 2]))) {
                found.push(scene);
            }
        }
    }

    /// All ways of a step, as the first `k` processes show them afterwards.
    fn take(&self, room: Option<&Room<'_>>, (scene, mover): (&Scene, Option<usize>), number: usize, taken: &mut Taken) {
        let step = &self.steps[number];
        let others = || (0..scene.blocks.len()).filter(|&one| Some(one) != mover);
        let holds = |&(cell, datum): &(usize, Datum)| match (datum, scene.cells[cell]) {
            (Datum::Value(value), FineContent::Value(held)) => value == held,
            (Datum::Place(place), FineContent::Place(held)) => place == held,
            (Datum::Me, FineContent::Slot(slot)) => Some(slot as usize) == mover,
            (Datum::Stranger(_), FineContent::Slot(slot)) => Some(slot as usize) != mover,
            (Datum::Stranger(_), FineContent::Other) => true,
            _ => false,
        };
        let in_all = |set: &Bits| others().all(|one| set.contains(scene.blocks[one] as usize));
        if !step.guards.iter().all(holds) || !step.all.iter().all(in_all) {
            return;
        }
        if let (Some(room), Some(whole)) = (room, &step.whole) {
            taken.n_asked += 1;
            if !room.is_there(self.skeleton, scene, mover, whole) {
                return taken.parked.push(Parked { scene: scene.clone(), mover, step: number });
            }
        }
        let is_tracked = mover.is_some_and(|mover| self.tracked[scene.blocks[mover] as usize]);
        let is_taken = |one: usize| is_tracked && mover.is_some_and(|mover| scene.taken[mover][one]);
        let has_unseen = scene.blocks.len() < self.skeleton.n_processes;
        let targets: Vec<Scanned> = match &step.target {
            None => vec![Scanned::Nobody],
            Some(None) => vec![Scanned::Me],
            Some(Some(set)) => {
                let seen = others().filter(|&one| !is_taken(one) && set.contains(scene.blocks[one] as usize));
                seen.map(Scanned::Seen).chain(has_unseen.then_some(Scanned::Unseen)).collect()
            }
        };
        for target in targets {
            let ends = matches!(step.scan, Scan::Ends | Scan::EndsAndBegins);
            if ends && is_tracked && !others().all(|one| is_taken(one) || target == Scanned::Seen(one)) {
                continue;
            }
            self.write(scene, mover, (step, target), &mut taken.after);
        }
    }

    fn write(
        &self,
        scene: &Scene,
        mover: Option<usize>,
        (step, target): (&ViewStep, Scanned),
        found: &mut Vec<FineState>,
    ) {
        let n = scene.blocks.len();
        let unseen = (n < self.skeleton.n_processes).then_some(FineContent::Other);
        let slot = |one: usize| FineContent::Slot(one as u8);
        let all_but = |left_out: Option<usize>| -> Vec<FineContent> {
            (0..n).filter(|&one| Some(one) != left_out).map(slot).chain(unseen).collect()
        };
        let mut scenes = vec![scene.clone()];
        for &(cell, datum) in &step.writes {
            let options: Vec<FineContent> = match datum {
                Datum::Value(value) => vec![FineContent::Value(value)],
                Datum::Place(place) => vec![FineContent::Place(place)],
                Datum::Me => mover.map(slot).into_iter().collect(),
                Datum::Stranger(other) => vec![scene.cells[other]],
                Datum::Bound(_) => match target {
                    Scanned::Me => mover.map(slot).into_iter().collect(),
                    Scanned::Seen(one) => vec![slot(one)],
                    Scanned::Unseen => vec![FineContent::Other],
                    Scanned::Nobody => all_but(mover),
                },
                Datum::Another => all_but(mover),
                Datum::Someone => all_but(None),
            };
            let written = |scene: &Scene| {
                let one = |&content: &FineContent| {
                    let mut scene = scene.clone();
                    scene.cells[cell] = content;
                    scene
                };
                options.iter().map(one).collect::<Vec<_>>()
            };
            scenes = scenes.iter().flat_map(written).collect();
        }
        let kept: Vec<usize> = (0..self.shape.k).collect();
        for mut scene in scenes {
            let (Some(mover), Some(to)) = (mover, step.to) else {
                found.push(part(&scene, &kept));
                continue;
            };
            let was_tracked = self.tracked[scene.blocks[mover] as usize];
            scene.blocks[mover] = to;
            let open = self.note(&mut scene, mover, (step.scan, target), was_tracked);
            for chosen in 0u32..1 << open.len() {
                for (at, &other) in open.iter().enumerate() {
                    scene.taken[mover][other] = chosen & 1 << at != 0;
                }
                found.push(part(&scene, &kept));
            }
        }
    }

    /// Whom the loop of the one that moved has taken now; those of whom it is not known.
    fn note(&self, scene: &mut Scene, mover: usize, (scan, target): (Scan, Scanned), was_tracked: bool) -> Vec<usize> {
        let n = scene.blocks.len();
        if !self.tracked[scene.blocks[mover] as usize] || matches!(scan, Scan::Begins | Scan::EndsAndBegins) {
            scene.taken[mover] = vec![false; n];
            return Vec::new();
        }
        let is_new = |one: usize| scan == Scan::Takes && target == Scanned::Seen(one);
        if was_tracked && matches!(scan, Scan::Same | Scan::Takes) {
            (0..n).filter(|&one| is_new(one)).for_each(|one| scene.taken[mover][one] = true);
            return Vec::new();
        }
        (0..n).for_each(|one| scene.taken[mover][one] = is_new(one));
        (0..n).filter(|&one| one != mover && !is_new(one)).collect()
    }
}

fn scene(state: &FineState) -> Scene {
    let taken = match state.taken[..] {
        [_] => vec![vec![false]],
        [one, other, ..] => vec![vec![false, one], vec![other, false]],
        [] => Vec::new(),
    };
    Scene { cells: state.cells.clone(), blocks: state.blocks.clone(), taken }
}

/// What some processes of a scene look like.
fn part(scene: &Scene, kept: &[usize]) -> FineState {
    let content = |content: &FineContent| match content {
        FineContent::Slot(slot) => { kept.iter() }
            .position(|&one| one == *slot as usize)
            .map_or(FineContent::Other, |at| FineContent::Slot(at as u8)),
        other => *other,
    };
    let taken = match kept {
        [one, other] => vec![scene.taken[*one][*other], scene.taken[*other][*one]],
        _ => vec![false; kept.len()],
    };
    let blocks = kept.iter().map(|&one| scene.blocks[one]).collect();
    FineState { cells: scene.cells.iter().map(content).collect(), blocks, taken }
}

/// The same state with its processes in the other order.
fn swapped(state: &FineState) -> FineState {
    let content = |content: &FineContent| match content {
        FineContent::Slot(slot) => FineContent::Slot(1 - slot),
        other => *other,
    };
    FineState {
        cells: state.cells.iter().map(content).collect(),
        blocks: state.blocks.iter().rev().copied().collect(),
        taken: state.taken.iter().rev().copied().collect(),
    }
}

/// The lesser of the two orders.
pub fn canonical(state: FineState) -> FineState {
    if state.blocks.len() < 2 {
        return state;
    }
    let other = swapped(&state);
    if other < state { other } else { state }
}

/// What a state shows of its first process.
fn single(state: &FineState) -> FineState {
    let content = |content: &FineContent| match content {
        FineContent::Slot(0) => FineContent::Slot(0),
        FineContent::Slot(_) | FineContent::Other => FineContent::Other,
        other => *other,
    };
    FineState {
        cells: state.cells.iter().map(content).collect(),
        blocks: state.blocks[..1].to_vec(),
        taken: vec![false],
    }
}

/// The cells of a state and of another one that shows its first process, too, or none of its, with the other's own process as the newest.
fn joined(cells: &[FineContent], other: &[FineContent], shares: bool) -> Option<Vec<FineContent>> {
    let newest = if shares { 1 } else { 0 };
    let n = if shares { 2 } else { 1 };
    let content = |(&here, &there): (&FineContent, &FineContent)| match (here, there) {
        (FineContent::Slot(0), FineContent::Slot(0)) if shares => Some(here),
        (FineContent::Other, FineContent::Slot(slot)) if slot == newest => Some(FineContent::Slot(n)),
        (FineContent::Other, FineContent::Other) => Some(FineContent::Other),
        (FineContent::Slot(slot), FineContent::Other) if !shares || slot == 1 => Some(here),
        (FineContent::Slot(_) | FineContent::Other, _) | (_, FineContent::Slot(_) | FineContent::Other) => None,
        (here, there) => (here == there).then_some(here),
    };
    cells.iter().zip(other).map(content).collect()
}
