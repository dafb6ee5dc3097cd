//! Configurations of the checker: normal forms, parts, and how two of them join.
//!
//! In: views of a proof. Out: the same with slots numbered so that two views which differ in names only are equal; the part in which fewer
//! processes are seen; all configurations of which two are parts.

use std::cmp::Ordering;
use std::rc::Rc;

use evidence::views::{Item, View};
use model::value::Value;

use super::text::Text;
use evidence::views::LocalColumn;

pub(super) type Slot = u8;

/// The most slots there may be.
pub(super) const SLOTS: usize = 32;

/// Columns of what a process has, as bits.
pub(super) type Columns = u128;

/// So many columns have a bit.
pub(super) const MOST_COLUMNS: usize = Columns::BITS as usize;

/// What a seen process has. Scenes that are parts of each other share it.
pub(super) type Local = Rc<[Item]>;

/// What is known of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Scene {
    pub shared: Vec<Item>,
    pub slots: Vec<Option<Local>>,
    /// By slot, where it stands among all; empty where order does not matter.
    pub ranks: Vec<usize>,
}

impl Scene {
    pub fn of(view: &View, is_ordered: bool) -> Scene {
        let ranks = if is_ordered { (0..view.slots.len()).collect() } else { Vec::new() };
        let slots = view.slots.iter().map(|slot| slot.as_ref().map(|local| Rc::from(&local[..]))).collect();
        Scene { shared: view.shared.clone(), slots, ranks }
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
            self.ranks.push(rank);
        }
        self.slots.push(None);
        (self.slots.len() - 1) as Slot
    }

    /// The normal form.
    pub fn normal(&self, is_ordered: bool) -> Scene {
        self.part(&self.seen(), is_ordered)
    }

    /// The part in which only these processes, which are seen, are seen, in normal form: only slots that are seen or named; numbered by rank, or else
    /// the seen ones first, greater contents before less, and of all such numberings the greatest.
    pub fn part(&self, keep: &[Slot], is_ordered: bool) -> Scene {
        if is_ordered {
            let mut stays = [false; SLOTS];
            keep.iter().for_each(|&slot| stays[slot as usize] = true);
            for item in self.items(keep) {
                if let Item::Slot(slot) = item {
                    stays[*slot as usize] = true;
                }
            }
            let mut list: Vec<Slot> = (0..self.slots.len() as Slot).filter(|&slot| stays[slot as usize]).collect();
            list.sort_by_key(|&slot| self.ranks[slot as usize]);
            return self.numbered(keep, &list, true);
        }
        let mut sorted = keep.to_vec();
        sorted.sort_by(|&one, &other| self.compare(other, one));
        let is_tied = |pair: &[Slot]| self.compare(pair[0], pair[1]) == Ordering::Equal;
        if !sorted.windows(2).any(is_tied) {
            let list = self.by_occurrence(&sorted);
            return self.numbered(&sorted, &list, false);
        }
        let is_sorted = |slots: &Vec<Slot>| slots.windows(2).all(|pair| self.compare(pair[0], pair[1]).is_ge());
        let scenes = arrangements(&sorted).into_iter().filter(is_sorted).map(|seen| {
            let list = self.by_occurrence(&seen);
            self.numbered(&seen, &list, false)
        });
        scenes.max().unwrap_or_else(|| self.clone())
    }

    /// What is shown in these columns of the processes that are seen, and nothing of the others, in normal form.
    pub fn showing(&self, columns: Columns, is_ordered: bool) -> Scene {
        let shown = |(at, item): (usize, &Item)| if columns & 1 << at != 0 { *item } else { Item::Hidden };
        let slots =
            self.slots.iter().map(|slot| slot.as_ref().map(|local| local.iter().enumerate().map(shown).collect()));
        let scene = Scene { shared: self.shared.clone(), slots: slots.collect(), ranks: self.ranks.clone() };
        scene.normal(is_ordered)
    }

    /// What is shared, and what these processes have.
    fn items<'s>(&'s self, seen: &'s [Slot]) -> impl Iterator<Item = &'s Item> {
        let locals = seen.iter().filter_map(|&slot| self.slots[slot as usize].as_ref());
        self.shared.iter().chain(locals.flat_map(|local| local.iter()))
    }

    /// Compares what two seen processes have, names aside.
    fn compare(&self, one: Slot, other: Slot) -> Ordering {
        let contents = |slot: Slot| self.slots[slot as usize].iter().flat_map(|local| local.iter()).map(unnamed);
        contents(one).cmp(contents(other))
    }

    /// These slots, then the others that are named, as they occur.
    fn by_occurrence(&self, seen: &[Slot]) -> Vec<Slot> {
        let mut list = seen.to_vec();
        for item in self.items(seen) {
            if let Item::Slot(slot) = item
                && !list.contains(slot)
            {
                list.push(*slot);
            }
        }
        list
    }

    /// The scene with the slots of the list only, in this order, of which those to be kept are seen.
    fn numbered(&self, keep: &[Slot], list: &[Slot], is_ordered: bool) -> Scene {
        let mut number = [0; SLOTS];
        list.iter().enumerate().for_each(|(at, &slot)| number[slot as usize] = at as Slot);
        let change = |item: &Item| match item {
            Item::Slot(slot) => Item::Slot(number[*slot as usize]),
            Item::Taken(bits) => {
                let taken = keep.iter().filter(|&&slot| bits & (1 << slot) != 0);
                Item::Taken(taken.map(|&slot| 1 << number[slot as usize]).sum())
            }
            Item::Value(_) | Item::Place(_) | Item::Hidden => *item,
        };
        let local = |&slot: &Slot| {
            let local = self.slots[slot as usize].as_ref().filter(|_| keep.contains(&slot))?;
            let is_unnamed = local.iter().all(|item| *item == change(item));
            Some(if is_unnamed { Rc::clone(local) } else { local.iter().map(change).collect() })
        };
        Scene {
            shared: self.shared.iter().map(change).collect(),
            slots: list.iter().map(local).collect(),
            ranks: if is_ordered { (0..list.len()).collect() } else { Vec::new() },
        }
    }
}

/// An item without the names in it.
pub(super) fn unnamed(item: &Item) -> Item {
    match item {
        Item::Slot(_) | Item::Taken(_) => Item::Taken(0),
        Item::Value(_) | Item::Place(_) | Item::Hidden => *item,
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
                        && let Item::Taken(bits) = &mut Rc::make_mut(local)[column]
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

/// How much is open about what loops have taken where a process is joined to a scene.
pub(super) fn n_open(text: &Text<'_>, scene: &Scene, one: &Scene) -> usize {
    let seen = scene.seen();
    let of_it: usize = one.seen().iter().map(|&slot| running(text, one, slot).len()).sum();
    let of_others: usize = seen.iter().map(|&slot| running(text, scene, slot).len()).sum();
    of_it * seen.len() + of_others
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

#[cfg(test)]
mod tests {
    use base::SourceFile;

    use super::*;

    /// A view has room for so many processes; one more is not left out without a word.
    #[test]
    fn there_is_no_place_beyond_the_last_slot() {
        let program = "program room(N: 2..) { process P[i in 0..<N] { skip; } }";
        let loaded = lang::load(&SourceFile::new("room.pw", program), &[]);
        let model = loaded.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}")).model;
        let text = Text::of_first_family(&model);
        let placed = |n_slots: usize| {
            let scene = Scene { shared: Vec::new(), slots: vec![None; n_slots], ranks: Vec::new() };
            // All of them are somebody else.
            let same = (0..n_slots as Slot).map(Some).chain([None]).collect();
            place(&text, (scene, same), (n_slots as Slot, false), None)
        };
        assert_eq!(placed(SLOTS - 1).map(|ways| ways.len()), Some(1));
        assert!(placed(SLOTS).is_none());
    }
}
