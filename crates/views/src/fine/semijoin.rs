//! Views closed together: a step counts in one view only where every other view has room for it.
//!
//! In: a program as a [`Skeleton`] and views without states. Out: the states of all of them. A view by itself lets cells that it does not show hold
//! anything, and lets two processes be in any two local states that it does not tell apart. Of a real state, though, every two processes
//! look in *every* view as one of its states. So where a process steps beside others, the view of another cell must have a state that shows this
//! process, in the very local state in which it takes the step, beside each of them, with the cells as the step found them, and with the cells that
//! both views show as this one shows them: a semijoin, as between relations. It is dearer than one view at a time, and cheaper than
//! all cells in one view: views stay as large as they are.
//!
//! **Soundness.** By induction on runs, of all views at once: a state's projections are in all views, so that none of them takes away a step
//! that the state has. The sets are the least ones: a step is put aside until there is room for it.

use base::{Budget, StopReason};
use evidence::fine::{FineContent, FineState};

use super::bits::Bits;
use super::closure::{Closed, Closure, Scene, Shape, WholeStep};
use super::datum::Datum;
use super::flows::Flow;
use super::skeleton::Skeleton;
use crate::sight::Ground;

/// The states of views that are closed together; `None` where there are too many.
///
/// # Errors
/// A limit.
pub fn close_together(
    ground: Ground<'_>,
    skeleton: &Skeleton,
    (shapes, flows): (&[Shape], &[Flow]),
    budget: &Budget,
) -> Result<Option<Vec<Closed>>, StopReason> {
    let mut closures: Vec<Closure<'_>> =
        shapes.iter().map(|shape| Closure::new(ground, skeleton, (shape, flows), true)).collect();
    let mut indices: Vec<Index<'_>> = shapes.iter().map(|shape| Index::new(skeleton, shape)).collect();
    for (closure, index) in closures.iter_mut().zip(&mut indices) {
        closure.start();
        std::mem::take(&mut closure.fresh).iter().for_each(|state| index.add(state));
    }
    loop {
        let mut is_stable = true;
        for (own, closure) in closures.iter_mut().enumerate() {
            if !closure.run(Some(&Room::new(&indices, own)), budget)? {
                return Ok(None);
            }
            let fresh = std::mem::take(&mut closure.fresh);
            is_stable &= fresh.is_empty();
            fresh.iter().for_each(|state| indices[own].add(state));
        }
        if is_stable {
            break;
        }
    }
    let thetas = closures.into_iter().map(Closure::into_theta);
    Ok(Some(shapes.iter().zip(thetas).map(|(shape, theta)| Closed { shape: shape.clone(), theta }).collect()))
}

/// What a state shows of its second process, and of its cells as its first one sees them.
struct Beside {
    block: u32,
    cells: Vec<FineContent>,
}

/// The states of a view by their first process, each in both orders.
struct Index<'a> {
    shape: &'a Shape,
    /// The local states of each block.
    members: Vec<Bits>,
    by_first: Vec<Vec<Beside>>,
}

impl<'a> Index<'a> {
    fn new(skeleton: &Skeleton, shape: &'a Shape) -> Index<'a> {
        let mut members = vec![Bits::new(skeleton.states.len()); shape.n_blocks];
        for (state, &block) in shape.blocks.iter().enumerate() {
            members[block as usize].insert(state);
        }
        Index { shape, members, by_first: (0..shape.n_blocks).map(|_| Vec::new()).collect() }
    }

    fn add(&mut self, state: &FineState) {
        let [one, other] = state.blocks[..] else { return };
        let turn = |content: &FineContent| match content {
            FineContent::Slot(slot) => FineContent::Slot(1 - slot),
            other => *other,
        };
        self.by_first[one as usize].push(Beside { block: other, cells: state.cells.clone() });
        let cells = state.cells.iter().map(turn).collect();
        self.by_first[other as usize].push(Beside { block: one, cells });
    }
}

/// Two processes of a scene that another view has to show; the first one is the one that moves, if it is one of the family.
struct Pair {
    places: [usize; 2],
    /// The local states in which they may be.
    states: [Bits; 2],
}

/// What the other views have room for.
pub(super) struct Room<'a> {
    indices: &'a [Index<'a>],
    own: usize,
    /// For each view where its cells are in this one.
    common: Vec<Vec<Option<usize>>>,
}

impl<'a> Room<'a> {
    fn new(indices: &'a [Index<'a>], own: usize) -> Room<'a> {
        let position = |column: &usize| indices[own].shape.cells.iter().position(|one| one == column);
        let common = indices.iter().map(|index| index.shape.cells.iter().map(position).collect()).collect();
        Room { indices, own, common }
    }

    /// Whether every other view has room for a step of this process, or of one of another family, beside the others of a scene.
    pub fn is_there(&self, skeleton: &Skeleton, scene: &Scene, mover: Option<usize>, step: &WholeStep) -> bool {
        let states = |at: usize| -> Bits {
            if let (true, Some(from)) = (Some(at) == mover, step.from) {
                let mut alone = Bits::new(skeleton.states.len());
                alone.insert(from as usize);
                return alone;
            }
            let mut states = self.indices[self.own].members[scene.blocks[at] as usize].clone();
            step.all.iter().for_each(|&set| states.keep(&skeleton.sets[set as usize]));
            states
        };
        let n = scene.blocks.len();
        let first: Vec<usize> = mover.map_or_else(|| (0..n).collect(), |mover| vec![mover]);
        for &one in &first {
            for other in (0..n).filter(|&other| if mover.is_some() { other != one } else { other > one }) {
                let pair = Pair { places: [one, other], states: [states(one), states(other)] };
                let others =
                    (0..self.indices.len()).filter(|&view| view != self.own && self.indices[view].shape.k == 2);
                if !others.into_iter().all(|view| self.shows(view, scene, &pair, (mover, step))) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether a view has a state of the two processes that fits.
    fn shows(&self, view: usize, scene: &Scene, pair: &Pair, (mover, step): (Option<usize>, &WholeStep)) -> bool {
        let index = &self.indices[view];
        let moves = |slot: u8| mover == Some(pair.places[slot as usize]);
        let is_found = |datum: Datum, content: FineContent| match (datum, content) {
            (Datum::Value(value), FineContent::Value(held)) => value == held,
            (Datum::Place(place), FineContent::Place(held)) => place == held,
            (Datum::Me, FineContent::Slot(slot)) => moves(slot),
            (Datum::Stranger(_), FineContent::Slot(slot)) => !moves(slot),
            (Datum::Stranger(_), FineContent::Other) => true,
            _ => false,
        };
        let shown = |position: usize| match scene.cells[position] {
            FineContent::Slot(slot) => { pair.places.iter() }
                .position(|&place| place == slot as usize)
                .map_or(FineContent::Other, |at| FineContent::Slot(at as u8)),
            other => other,
        };
        let cell_fits = |at: usize, content: FineContent| match self.common[view][at] {
            Some(position) => shown(position) == content,
            None => { step.guards.iter() }
                .filter(|(column, _)| *column == index.shape.cells[at])
                .all(|&(_, datum)| is_found(datum, content)),
        };
        let fits = |beside: &Beside| {
            index.members[beside.block as usize].meets(&pair.states[1])
                && beside.cells.iter().enumerate().all(|(at, &content)| cell_fits(at, content))
        };
        let any = |block: usize| index.by_first[block].iter().any(fits);
        match step.from {
            Some(from) => any(index.shape.blocks[from as usize] as usize),
            None => (0..index.members.len()).any(|block| index.members[block].meets(&pair.states[0]) && any(block)),
        }
    }
}
