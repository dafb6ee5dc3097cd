//! Configurations: what is known of a state when only a few of the interchangeable processes are seen.
//!
//! In: values of shared cells and the local states of the seen processes. Out: the same in canonical form, projections to fewer
//! processes, and what the rest of a state can be joined by. A process of the family is a **slot**: seen (its local state is known)
//! or unseen (some cell holds its id). Different slots are different processes; there may be any number of others. Where programs
//! compare processes by their order, slots stand in that order.

pub use evidence::views::Item;

/// Names a slot of a configuration.
pub type Slot = u8;

/// The most slots of a configuration.
pub const MOST_SLOTS: usize = 32;

/// Why there is no proof where more would be needed.
pub const MANY_NAMED: &str = "cells may name more different processes at once than views have room for";

/// What is known of a state.
#[derive(Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration {
    /// What all processes share, the processes of other families included.
    pub shared: Vec<Item>,
    /// The local state of each seen process; `None` for one that is only named.
    pub slots: Vec<Option<Vec<Item>>>,
    /// The slots by their order, where order matters; empty elsewhere.
    pub order: Vec<Slot>,
}

impl Clone for Configuration {
    fn clone(&self) -> Configuration {
        Configuration { shared: self.shared.clone(), slots: self.slots.clone(), order: self.order.clone() }
    }

    /// Where steps are tried one after the other, the room of the last one is used again.
    fn clone_from(&mut self, other: &Configuration) {
        self.shared.clone_from(&other.shared);
        self.slots.clone_from(&other.slots);
        self.order.clone_from(&other.order);
    }
}

/// What becomes of slots: the new name of each that stays.
type Renaming = Vec<Option<Slot>>;

impl Configuration {
    /// What it takes, about.
    pub fn bytes(&self) -> u64 {
        let n_items = self.shared.len() + self.slots.iter().flatten().map(Vec::len).sum::<usize>();
        (n_items * size_of::<Item>() + (self.slots.len() + 3) * size_of::<Vec<Item>>() + self.order.len()) as u64
    }

    /// The seen slots, ascending.
    pub fn seen(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.slots.len()).filter(|&slot| self.slots[slot].is_some()).map(|slot| slot as Slot)
    }

    /// How many slots are seen.
    pub fn n_seen(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Whether a slot is seen.
    pub fn is_seen(&self, slot: Slot) -> bool {
        self.slots[slot as usize].is_some()
    }

    /// A new unseen slot. Where order matters, it stands at this position.
    pub fn push(&mut self, position: Option<usize>) -> Slot {
        let slot = self.slots.len() as Slot;
        self.slots.push(None);
        if let Some(position) = position {
            self.order.insert(position, slot);
        }
        slot
    }

    /// Which slots are named by a cell that is seen.
    fn named(&self) -> u32 {
        let items = self.shared.iter().chain(self.slots.iter().flatten().flatten());
        items.fold(0, |named, item| match item {
            Item::Slot(slot) => named | 1 << slot,
            _ => named,
        })
    }

    /// Removes the last slots while nobody sees or names them.
    pub fn forget_unnamed(&mut self, from: usize) {
        let named = self.named();
        while self.slots.len() > from {
            let last = self.slots.len() - 1;
            if self.slots[last].is_some() || named & 1 << last != 0 {
                return;
            }
            self.slots.pop();
            self.order.retain(|&slot| usize::from(slot) != last);
        }
    }

    /// The same with only these slots seen, in canonical form.
    pub fn restricted(&self, keep: &[Slot]) -> Configuration {
        let mut less = self.clone();
        for (slot, local) in less.slots.iter_mut().enumerate() {
            if !keep.contains(&(slot as Slot)) {
                *local = None;
            }
        }
        less.canonical()
    }

    /// The canonical form: slots that nobody sees or names are gone; the others are numbered by their order, or else the seen ones
    /// first, in the way that makes the least configuration.
    pub fn canonical(&self) -> Configuration {
        let named = self.named();
        let stays = |slot: Slot| self.is_seen(slot) || named & 1 << slot != 0;
        if !self.order.is_empty() {
            let mut renaming: Renaming = vec![None; self.slots.len()];
            for (number, &slot) in self.order.iter().filter(|&&slot| stays(slot)).enumerate() {
                renaming[slot as usize] = Some(number as Slot);
            }
            return self.renamed(&renaming);
        }
        let mut seen: Vec<Slot> = self.seen().collect();
        let mut least: Option<Configuration> = None;
        permutations(&mut seen, 0, &mut |seen| {
            let candidate = self.renamed(&self.by_occurrence(seen));
            if least.as_ref().is_none_or(|least| candidate < *least) {
                least = Some(candidate);
            }
        });
        least.unwrap_or_else(|| self.clone())
    }

    /// The seen slots in this order, then the others by where they are first named.
    fn by_occurrence(&self, seen: &[Slot]) -> Renaming {
        let mut renaming: Renaming = vec![None; self.slots.len()];
        for (number, &slot) in seen.iter().enumerate() {
            renaming[slot as usize] = Some(number as Slot);
        }
        let mut next = seen.len() as Slot;
        let locals = seen.iter().filter_map(|&slot| self.slots[slot as usize].as_ref());
        for item in self.shared.iter().chain(locals.flatten()) {
            if let Item::Slot(slot) = item
                && renaming[*slot as usize].is_none()
            {
                renaming[*slot as usize] = Some(next);
                next += 1;
            }
        }
        renaming
    }

    fn renamed(&self, renaming: &Renaming) -> Configuration {
        let n_slots = renaming.iter().flatten().count();
        let rename = |item: &Item| match item {
            Item::Slot(slot) => Item::Slot(renaming[*slot as usize].unwrap_or(*slot)),
            Item::Taken(bits) => Item::Taken(self.rename_bits(*bits, renaming)),
            other => *other,
        };
        let mut slots = vec![None; n_slots];
        for (local, number) in self.slots.iter().zip(renaming) {
            if let (Some(local), Some(number)) = (local, number) {
                slots[*number as usize] = Some(local.iter().map(rename).collect());
            }
        }
        let order = if self.order.is_empty() { Vec::new() } else { (0..n_slots as Slot).collect() };
        Configuration { shared: self.shared.iter().map(rename).collect(), slots, order }
    }

    /// The bits of seen slots, where they are now; what was taken of others is not kept.
    fn rename_bits(&self, bits: u32, renaming: &Renaming) -> u32 {
        self.seen()
            .filter(|slot| bits & 1 << slot != 0)
            .fold(0, |renamed, slot| renaming[slot as usize].map_or(renamed, |number| renamed | 1 << number))
    }

    /// The position of a slot by order.
    pub fn rank(&self, slot: Slot) -> Option<usize> {
        self.order.iter().position(|&other| other == slot)
    }
}

/// Shows all arrangements.
fn permutations(slots: &mut Vec<Slot>, from: usize, visit: &mut dyn FnMut(&[Slot])) {
    if from >= slots.len() {
        return visit(slots);
    }
    for at in from..slots.len() {
        slots.swap(from, at);
        permutations(slots, from + 1, visit);
        slots.swap(from, at);
    }
}

/// Shows all choices of `k` of these slots, ascending.
pub fn subsets(of: &[Slot], k: usize, visit: &mut dyn FnMut(&[Slot]) -> bool) -> bool {
    fn go(rest: &[Slot], k: usize, chosen: &mut Vec<Slot>, visit: &mut dyn FnMut(&[Slot]) -> bool) -> bool {
        if k == 0 {
            return visit(chosen);
        }
        (0..rest.len()).all(|at| {
            if rest.len() - at < k {
                return true;
            }
            chosen.push(rest[at]);
            let goes_on = go(&rest[at + 1..], k - 1, chosen, visit);
            chosen.pop();
            goes_on
        })
    }
    go(of, k, &mut Vec::new(), visit)
}

#[cfg(test)]
mod tests {
    use model::value::Value;

    use super::*;

    fn number(n: i64) -> Item {
        Item::Value(Value::Int(n))
    }

    #[test]
    fn the_order_of_seen_processes_does_not_matter_unless_it_is_kept() {
        let one = Configuration {
            shared: vec![Item::Slot(1)],
            slots: vec![Some(vec![number(1), Item::Taken(0b10)]), Some(vec![number(2), Item::Taken(0b01)])],
            order: Vec::new(),
        };
        let other = Configuration {
            shared: vec![Item::Slot(0)],
            slots: vec![Some(vec![number(2), Item::Taken(0b10)]), Some(vec![number(1), Item::Taken(0b01)])],
            order: Vec::new(),
        };
        assert_eq!(one.canonical(), other.canonical());
        let ordered = |config: &Configuration| Configuration { order: vec![0, 1], ..config.clone() };
        assert_ne!(ordered(&one).canonical(), ordered(&other).canonical());
    }

    #[test]
    fn who_is_left_out_is_only_named() {
        let both = Configuration {
            shared: vec![Item::Slot(1)],
            slots: vec![Some(vec![number(1), Item::Taken(0b11)]), Some(vec![number(2), Item::Taken(0)])],
            order: Vec::new(),
        };
        let first = both.restricted(&[0]);
        assert_eq!(first.slots, vec![Some(vec![number(1), Item::Taken(0b1)]), None]);
        assert_eq!(both.restricted(&[1]).slots.len(), 1);
    }
}
