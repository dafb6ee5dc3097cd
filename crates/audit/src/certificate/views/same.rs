//! Whether what two processes see can be one turn: who is who, put together.
//!
//! In: a turn as the view of one process shows it, and as the view of another one does. Out: whether it can be the same turn. Each slot of each
//! view, before and after, is a process, and so is who moves; that two of them are the same follows from cells that both show, from who is named
//! before and after, and from who moves. They are no one turn where two slots of one view would be the same process, where the two
//! processes would be one, or where somebody would be named who is not.

use evidence::views::Item;
use model::control::ActionId;
use model::process::ProcessId;

use super::scene::{Scene, Slot};

/// A turn as the view of a process shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// The slot of the process that steps; `None` where the view does not name it.
    pub mover: Option<Slot>,
    /// The slot of the process that steps, afterwards.
    pub mover_after: Option<Slot>,
    /// A process of another family, if that is the one that steps.
    pub outsider: Option<ProcessId>,
    /// Its action; `None` where it stutters.
    pub action: Option<ActionId>,
    /// For each slot before its slot after.
    pub kept: Vec<Option<Slot>>,
}

impl Turn {
    /// A process stutters.
    pub fn still(n_slots: usize, mover: Option<Slot>, outsider: Option<ProcessId>) -> Turn {
        let mover = mover.filter(|_| outsider.is_none());
        let kept = (0..n_slots).map(|slot| Some(slot as Slot)).collect();
        Turn { mover, mover_after: mover, outsider, action: None, kept }
    }
}

/// A view before and after a turn, and the turn.
type TurnInScene<'s> = (&'s (Scene, Scene), &'s Turn);

/// Whether two views, of different processes, can show one turn.
pub(super) fn are_one(one: TurnInScene<'_>, other: TurnInScene<'_>) -> bool {
    if one.1.outsider != other.1.outsider || one.1.action != other.1.action {
        return false;
    }
    let mut who = Who::new(&[&one.0.0, &one.0.1, &other.0.0, &other.0.1]);
    if !who.share(&one.0.0, &other.0.0, (0, 2)) || !who.share(&one.0.1, &other.0.1, (1, 3)) {
        return false;
    }
    for (turn, (before, after)) in [(one.1, (0, 1)), (other.1, (2, 3))] {
        for (slot, kept) in turn.kept.iter().enumerate() {
            if let Some(kept) = kept {
                who.unite(who.slot(before, slot as Slot), who.slot(after, *kept));
            }
        }
        if turn.outsider.is_none() {
            let mover = who.mover();
            turn.mover.into_iter().for_each(|slot| who.unite(mover, who.slot(before, slot)));
            turn.mover_after.into_iter().for_each(|slot| who.unite(mover, who.slot(after, slot)));
        }
    }
    who.are_different() && who.is_unnamed(one.1, (0, 1)) && who.is_unnamed(other.1, (2, 3))
}

/// Who is who: the slots of four views, one after the other, then who moves.
struct Who {
    first: Vec<usize>,
    class: Vec<usize>,
}

impl Who {
    fn new(views: &[&Scene]) -> Who {
        let mut first = vec![0];
        for view in views {
            first.push(first[first.len() - 1] + view.slots.len());
        }
        let n = first[views.len()] + 1;
        Who { first, class: (0..n).collect() }
    }

    fn slot(&self, view: usize, slot: Slot) -> usize {
        self.first[view] + slot as usize
    }

    fn mover(&self) -> usize {
        self.class.len() - 1
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (from, to) = (self.class[a], self.class[b]);
        self.class.iter_mut().filter(|class| **class == from).for_each(|class| *class = to);
    }

    /// What is shared is the same; who is named by the same cell is the same.
    fn share(&mut self, one: &Scene, other: &Scene, at: (usize, usize)) -> bool {
        one.shared.iter().zip(&other.shared).all(|(here, there)| match (here, there) {
            (Item::Slot(here), Item::Slot(there)) => {
                self.unite(self.slot(at.0, *here), self.slot(at.1, *there));
                true
            }
            (Item::Taken(_), Item::Taken(_)) => true,
            _ => here == there,
        })
    }

    /// The slots of each view are different processes, and so are the two whose views they are.
    fn are_different(&self) -> bool {
        let apart = |view: usize| {
            let slots = &self.class[self.first[view]..self.first[view + 1]];
            (1..slots.len()).all(|at| !slots[..at].contains(&slots[at]))
        };
        (0..4).all(apart) && self.class[self.slot(0, 0)] != self.class[self.slot(2, 0)]
    }

    /// Nobody is named of whom a view says that it is not.
    fn is_unnamed(&self, turn: &Turn, (before, after): (usize, usize)) -> bool {
        let named = |view: usize, class: usize| self.class[self.first[view]..self.first[view + 1]].contains(&class);
        let gone = |(slot, kept): (usize, &Option<Slot>)| {
            kept.is_some() || !named(after, self.class[self.slot(before, slot as Slot)])
        };
        let mover = self.class[self.mover()];
        turn.kept.iter().enumerate().all(gone)
            && (turn.outsider.is_some()
                || (turn.mover.is_some() || !named(before, mover))
                    && (turn.mover_after.is_some() || !named(after, mover)))
    }
}
