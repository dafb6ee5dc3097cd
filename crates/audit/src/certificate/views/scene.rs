//! Configurations of the checker: normal forms, parts, and how two of them join.
//!
//! In: views of a proof. Out: the same with slots numbered so that two views which differ in names only are equal; the part in which fewer
//! processes are seen; all configurations of which two are parts.

use evidence::views::{Item, View};
use model::value::Value;

use super::text::Text;
use evidence::views::LocalColumn;

pub(super) type Slot = u8;

/// The most slots there may be.
pub(super) const SLOTS: usize = 32;

/// What is known of a state. Slots stand in the order of their processes where `ranks` says so.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Scene {
    pub shared: Vec<Item>,
    pub slots: Vec<Option<Vec<Item>>>,
    /// By slot, where it stands among all; all 0 where order does not matter.
    pub ranks: Vec<usize>,
}

impl Scene {
    pub fn of(view: &View, is_ordered: bool) -> Scene {
        let ranks = (0..view.slots.len()).map(|slot| if is_ordered { slot } else { 0 }).collect();
        Scene { shared: view.shared.clone(), slots: view.slots.clone(), ranks }
    }

    pub fn seen(&self) -> Vec<Slot> {
        (0..self.slots.len() as Slot).filter(|&slot| self.slots[slot as usize].is_some()).collect()
    }

    pub fn is_seen(&self, slot: Slot) -> bool {
        self.slots[slot as usize].is_some()
    }

    /// Adds a slot for a process that is not seen; where order matters, before the slots of this rank and above.
    pub fn add(&mut self, rank: Option<usize>) -> Slot {
        if let Some(rank) = rank {
            self.ranks.iter_mut().filter(|one| **one >= rank).for_each(|one| *one += 1);
        }
        self.slots.push(None);
        self.ranks.push(rank.unwrap_or(0));
        (self.slots.len() - 1) as Slot
    }

    /// The part in which only these processes are seen, in normal form.
    pub fn part(&self, keep: &[Slot], is_ordered: bool) -> Scene {
        let mut part = self.clone();
        for slot in (0..part.slots.len()).filter(|&slot| !keep.contains(&(slot as Slot))) {
            part.slots[slot] = None;
        }
        part.normal(is_ordered)
    }

    /// The normal form: only slots that are seen or named; numbered by rank, or else the greatest of all numberings that put seen ones
    /// first.
    pub fn normal(&self, is_ordered: bool) -> Scene {
        let mut named = vec![false; self.slots.len()];
        for item in self.shared.iter().chain(self.slots.iter().flatten().flatten()) {
            if let Item::Slot(slot) = item {
                named[*slot as usize] = true;
            }
        }
        let mut stay: Vec<Slot> =
            (0..self.slots.len() as Slot).filter(|&slot| self.is_seen(slot) || named[slot as usize]).collect();
        if is_ordered {
            stay.sort_by_key(|&slot| self.ranks[slot as usize]);
            return self.numbered(&stay, true);
        }
        let mut best: Option<Scene> = None;
        for seen in arrangements(&self.seen()) {
            let mut list = seen;
            let locals: Vec<Slot> = list.clone();
            let items =
                self.shared.iter().chain(locals.iter().flat_map(|&slot| self.slots[slot as usize].iter().flatten()));
            for item in items {
                if let Item::Slot(slot) = item
                    && !list.contains(slot)
                {
                    list.push(*slot);
                }
            }
            let scene = self.numbered(&list, false);
            if best.as_ref().is_none_or(|best| scene > *best) {
                best = Some(scene);
            }
        }
        best.unwrap_or_else(|| self.clone())
    }

    /// The scene with these slots only, in this order.
    fn numbered(&self, list: &[Slot], is_ordered: bool) -> Scene {
        let number = |slot: Slot| list.iter().position(|&one| one == slot).unwrap_or(0);
        let change = |item: &Item| match item {
            Item::Slot(slot) => Item::Slot(number(*slot) as Slot),
            Item::Taken(bits) => {
                let taken = self.seen().into_iter().filter(|&slot| bits & (1 << slot) != 0 && list.contains(&slot));
                Item::Taken(taken.map(|slot| 1 << number(slot)).sum())
            }
            Item::Value(_) | Item::Place(_) | Item::Hidden => *item,
        };
        let local = |&slot: &Slot| self.slots[slot as usize].as_ref().map(|local| local.iter().map(change).collect());
        Scene {
            shared: self.shared.iter().map(change).collect(),
            slots: list.iter().map(local).collect(),
            ranks: (0..list.len()).map(|at| if is_ordered { at } else { 0 }).collect(),
        }
    }
}

fn arrangements(slots: &[Slot]) -> Vec<Vec<Slot>> {
    let Some((first, rest)) = slots.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for arrangement in arrangements(rest) {
        for at in 0..=arrangement.len() {
            let mut longer = arrangement.clone();
            longer.insert(at, *first);
            all.push(longer);
        }
    }
    all
}

/// All choices of `n` of the slots.
pub(super) fn choices_of(slots: &[Slot], n: usize) -> Vec<Vec<Slot>> {
    match (n, slots.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (n, Some((first, rest))) => {
            let with = choices_of(rest, n - 1).into_iter().map(|mut chosen| {
                chosen.push(*first);
                chosen
            });
            with.chain(choices_of(rest, n)).collect()
        }
    }
}

/// A scene with one more process, and that process.
pub(super) type Joined = (Scene, Slot);

/// Whether a scene allows what is open about two seen processes.
pub(super) type GoesWith<'a> = dyn Fn(&Scene, [Slot; 2]) -> bool + 'a;

/// All scenes of which the first is a part, and in which the process of the second is seen as well; in this slot of the first, if it is given; and
/// in which it goes with each process that is seen in the first. `None` where one of them has more slots than there may be.
pub(super) fn join(
    text: &Text<'_>,
    (scene, one): (&Scene, &Scene),
    slot: Option<Slot>,
    goes_with: &GoesWith<'_>,
) -> Option<Vec<Joined>> {
    let newest = one.seen()[0];
    let mut partial: Vec<(Scene, Vec<Option<Slot>>)> = Vec::new();
    if let Some(same) = agree(scene, one) {
        partial.push((scene.clone(), same));
    }
    for at in 0..one.slots.len() as Slot {
        let placed = partial.into_iter().map(|known| place(text, known, (at, at == newest), slot));
        partial = placed.collect::<Option<Vec<_>>>()?.concat();
    }
    let in_order = |(scene, same): &(Scene, Vec<Option<Slot>>)| {
        let rank = |at: usize| same[at].map_or(0, |slot| scene.ranks[slot as usize]);
        !text.is_ordered
            || (1..same.len())
                .all(|at| (0..at).all(|before| (one.ranks[before] < one.ranks[at]) == (rank(before) < rank(at))))
    };
    let complete = partial.into_iter().filter(in_order);
    Some(complete.flat_map(|(scene, same)| settle(text, (&scene, one), (&same, newest), goes_with)).collect())
}

/// Which slots of the second are which of the first, as the shared parts say; `None` where these differ.
fn agree(scene: &Scene, one: &Scene) -> Option<Vec<Option<Slot>>> {
    let mut same: Vec<Option<Slot>> = vec![None; one.slots.len()];
    for (mine, theirs) in scene.shared.iter().zip(&one.shared) {
        match (mine, theirs) {
            (Item::Slot(mine), Item::Slot(theirs)) => {
                let clash = same.iter().enumerate().any(|(at, known)| {
                    (at == *theirs as usize && known.is_some_and(|known| known != *mine))
                        || (at != *theirs as usize && *known == Some(*mine))
                });
                if clash {
                    return None;
                }
                same[*theirs as usize] = Some(*mine);
            }
            (Item::Taken(_), Item::Taken(_)) => {}
            _ if mine == theirs => {}
            _ => return None,
        }
    }
    Some(same)
}

/// All slots that a slot of the second can be: one of the first, or a new one; `None` where there is no room for that.
fn place(
    text: &Text<'_>,
    (scene, same): (Scene, Vec<Option<Slot>>),
    (at, is_newest): (Slot, bool),
    wanted: Option<Slot>,
) -> Option<Vec<(Scene, Vec<Option<Slot>>)>> {
    let allowed = |slot: Slot| !is_newest || !scene.is_seen(slot) && wanted.is_none_or(|wanted| wanted == slot);
    if let Some(slot) = same[at as usize] {
        return Some(if allowed(slot) { vec![(scene, same)] } else { Vec::new() });
    }
    let with = |scene: Scene, slot: Slot| {
        let mut same = same.clone();
        same[at as usize] = Some(slot);
        (scene, same)
    };
    let mut found: Vec<_> = (0..scene.slots.len() as Slot)
        .filter(|&slot| allowed(slot) && !same.contains(&Some(slot)))
        .map(|slot| with(scene.clone(), slot))
        .collect();
    if !(is_newest && wanted.is_some()) {
        if scene.slots.len() >= SLOTS {
            return None;
        }
        let ranks: Vec<Option<usize>> =
            if text.is_ordered { (0..=scene.slots.len()).map(Some).collect() } else { vec![None] };
        for rank in ranks {
            let mut scene = scene.clone();
            let slot = scene.add(rank);
            found.push(with(scene, slot));
        }
    }
    Some(found)
}

/// The local state of the new process in its slot, with every possibility of what loops have taken of processes unseen so far.
fn settle(
    text: &Text<'_>,
    (scene, one): (&Scene, &Scene),
    (same, newest): (&[Option<Slot>], Slot),
    goes_with: &GoesWith<'_>,
) -> Vec<Joined> {
    let (Some(slot), Some(local)) = (same[newest as usize], &one.slots[newest as usize]) else { return Vec::new() };
    let mut scene = scene.clone();
    let of_itself = |bits: u32| u32::from(bits & (1 << newest) != 0) << slot;
    for (mine, theirs) in scene.shared.iter_mut().zip(&one.shared) {
        if let (Item::Taken(mine), Item::Taken(theirs)) = (mine, theirs) {
            *mine |= of_itself(*theirs);
        }
    }
    let there = |item: &Item| match item {
        Item::Slot(named) => Item::Slot(same[*named as usize].unwrap_or(0)),
        Item::Taken(bits) => Item::Taken(of_itself(*bits)),
        Item::Value(_) | Item::Place(_) | Item::Hidden => *item,
    };
    scene.slots[slot as usize] = Some(local.iter().map(there).collect());
    let others: Vec<Slot> = scene.seen().into_iter().filter(|&other| other != slot).collect();
    let mut all = vec![scene];
    for other in others {
        for (holder, about) in [(slot, other), (other, slot)] {
            for column in running(text, &all[0], holder) {
                let mut taken = all.clone();
                for scene in &mut taken {
                    if let Some(local) = &mut scene.slots[holder as usize]
                        && let Item::Taken(bits) = &mut local[column]
                    {
                        *bits |= 1 << about;
                    }
                }
                all.extend(taken);
            }
        }
        all.retain(|scene| goes_with(scene, [other, slot]));
        if all.is_empty() {
            break;
        }
    }
    all.into_iter().map(|scene| (scene, slot)).collect()
}

/// Of the loops of a process over the family that are under way, the columns of what they have taken.
fn running(text: &Text<'_>, scene: &Scene, holder: Slot) -> Vec<usize> {
    let Some(local) = &scene.slots[holder as usize] else { return Vec::new() };
    let is_running = |column: &LocalColumn| {
        let LocalColumn::Taken(id) = column else { return false };
        let offset = text.model.vars[text.model.loops[*id].counter].offset;
        let counter = text.local_at(LocalColumn::Own(offset));
        counter.is_some_and(|counter| local[counter] != Item::Value(Value::None))
    };
    (0..text.local.len()).filter(|&column| is_running(&text.local[column])).collect()
}
