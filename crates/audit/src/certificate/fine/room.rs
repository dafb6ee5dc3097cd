//! Whether another view has room for a move: joint views, as the checker compares them.
//!
//! In: two views, processes of the one and a move. Out: whether the other one has, for every two processes that the move is about, a state that may be
//! what these two look like while the move is taken. If it has none, no reachable state has the processes of the one view and this move.

use evidence::fine::{FineContent, FineState};
use rustc_hash::FxHashMap;

use super::look::Thing;
use super::view::{Group, Origin, Sight};

pub(super) struct Room<'a> {
    here: &'a Sight<'a, 'a>,
    there: &'a Sight<'a, 'a>,
    /// The states of the other view by the blocks of their processes, in both orders.
    states: FxHashMap<(u32, u32), Vec<&'a FineState>>,
    /// For each block of this view and each of the other one the local states that are in both.
    both: FxHashMap<(u32, u32), Vec<usize>>,
}

impl<'a> Room<'a> {
    pub fn new(here: &'a Sight<'a, 'a>, there: &'a Sight<'a, 'a>) -> Room<'a> {
        let mut states: FxHashMap<(u32, u32), Vec<&FineState>> = FxHashMap::default();
        for state in &there.known {
            if let [one, other] = state.blocks[..] {
                states.entry((one, other)).or_default().push(state);
            }
        }
        let mut both: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
        for (state, (&one, &other)) in here.view.blocks.iter().zip(&there.view.blocks).enumerate() {
            both.entry((one, other)).or_default().push(state);
        }
        Room { here, there, states, both }
    }

    /// Whether there is room for the move of a process of the group, or of one of another family.
    pub fn fits(&self, group: &Group, mover: Option<usize>, origin: &Origin) -> bool {
        if self.there.view.k != 2 {
            return true;
        }
        let n = group.blocks.len();
        let about = |one: usize, other: usize| one != other && mover.is_none_or(|mover| mover == one);
        let mut pairs =
            (0..n).flat_map(|one| (0..n).map(move |other| (one, other))).filter(|&(one, other)| about(one, other));
        pairs.all(|pair| self.shows(group, pair, mover, origin))
    }

    /// The blocks of the other view in which a process of the group may be.
    fn blocks(&self, group: &Group, one: usize, mover: Option<usize>, origin: &Origin) -> Vec<u32> {
        if let (true, Some(from)) = (mover == Some(one), origin.from) {
            return vec![self.there.view.blocks[from]];
        }
        let may_be = |&block: &u32| {
            let states = self.both.get(&(group.blocks[one], block));
            states.is_some_and(|states| states.iter().any(|&state| origin.others[state]))
        };
        (0..self.there.n_blocks as u32).filter(may_be).collect()
    }

    fn shows(&self, group: &Group, (one, other): (usize, usize), mover: Option<usize>, origin: &Origin) -> bool {
        let seconds = self.blocks(group, other, mover, origin);
        self.blocks(group, one, mover, origin).into_iter().any(|first| {
            seconds.iter().any(|&second| {
                let states = self.states.get(&(first, second)).map_or(&[][..], |states| &states[..]);
                states.iter().any(|state| self.agrees(state, group, (one, other), (mover, origin)))
            })
        })
    }

    /// Whether a state of the other view, of two processes of the group, holds what the group and the move say of its cells.
    fn agrees(
        &self,
        state: &FineState,
        group: &Group,
        (one, other): (usize, usize),
        (mover, origin): (Option<usize>, &Origin),
    ) -> bool {
        let who = |content: FineContent| match content {
            FineContent::Slot(0) => Some(one),
            FineContent::Slot(_) => Some(other),
            _ => None,
        };
        for (cell, &content) in state.cells.iter().enumerate() {
            let column = self.there.columns[cell];
            if let Some(here) = self.here.columns.iter().position(|&shown| shown == column) {
                let is_same = match group.cells[here] {
                    FineContent::Slot(slot) if slot as usize == one || slot as usize == other => {
                        who(content) == Some(slot as usize)
                    }
                    FineContent::Slot(_) | FineContent::Other => content == FineContent::Other,
                    plain => plain == content,
                };
                if !is_same {
                    return false;
                }
            }
            for (_, thing) in origin.before.iter().filter(|(found, _)| *found == column) {
                let is_so = match thing {
                    Thing::Value(value) => content == FineContent::Value(*value),
                    Thing::Place(place) => content == FineContent::Place(*place),
                    Thing::Mover => mover.is_some() && who(content) == mover,
                    Thing::Named(_) => match content {
                        FineContent::Slot(_) => mover.is_none() || who(content) != mover,
                        FineContent::Other => true,
                        FineContent::Value(_) | FineContent::Place(_) => false,
                    },
                    // Nothing else is found in a cell; nothing is concluded from it.
                    Thing::Target | Thing::NotMover | Thing::Anybody | Thing::Cast(_) => true,
                };
                if !is_so {
                    return false;
                }
            }
        }
        true
    }
}
