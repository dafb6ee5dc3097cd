//! Seeing one more process: all ways in which a configuration and a view of one process can be parts of the same state.
//!
//! In: a configuration, and a configuration with one seen process. Out: the configurations that have the seen processes of both. Shared
//! parts agree; a slot of one is a slot of the other, or a new one; what loops over the family have taken of a process that was not
//! seen so far is open.

use model::value::Value;

use crate::configuration::{Configuration, Item, MOST_SLOTS, Slot};
use crate::layout::Layout;

/// A configuration with one more seen process.
#[derive(Clone, Debug)]
pub struct Extended {
    /// The configuration.
    pub config: Configuration,
    /// The process.
    pub newest: Slot,
}

/// All ways to see the process of `one` in the configuration, too; in this slot, if one is given. `None` where one of them would need more than
/// [`MOST_SLOTS`].
pub fn extensions(
    layout: &Layout,
    config: &Configuration,
    one: &Configuration,
    only: Option<Slot>,
) -> Option<Vec<Extended>> {
    let Some(newest) = one.seen().next() else { return Some(Vec::new()) };
    let mut join = Join { layout, one, newest, only, found: Vec::new(), is_full: false };
    if let Some(same) = join.forced(config) {
        join.place(config.clone(), same, 0);
    }
    (!join.is_full).then_some(join.found)
}

/// The shared part without the names of processes: configurations that differ in it have no state in common.
pub fn key(config: &Configuration) -> Vec<Item> {
    let blind = |item: &Item| match item {
        Item::Slot(_) => Item::Slot(0),
        Item::Taken(_) => Item::Taken(0),
        other => *other,
    };
    config.shared.iter().map(blind).collect()
}

/// For each slot of the one the slot of the other that is the same process.
type Same = Vec<Option<Slot>>;

struct Join<'a> {
    layout: &'a Layout,
    one: &'a Configuration,
    newest: Slot,
    only: Option<Slot>,
    found: Vec<Extended>,
    /// Whether some way needs more slots than there may be.
    is_full: bool,
}

impl Join<'_> {
    /// Which slots are the same because shared cells name them.
    fn forced(&self, config: &Configuration) -> Option<Same> {
        let mut same: Same = vec![None; self.one.slots.len()];
        for (here, there) in config.shared.iter().zip(&self.one.shared) {
            match (here, there) {
                (Item::Slot(here), Item::Slot(there)) => match same[*there as usize] {
                    Some(other) if other != *here => return None,
                    Some(_) => {}
                    None if same.contains(&Some(*here)) => return None,
                    None => same[*there as usize] = Some(*here),
                },
                (Item::Taken(_), Item::Taken(_)) => {}
                (here, there) if here == there => {}
                _ => return None,
            }
        }
        Some(same)
    }

    /// Finds a slot for each slot of the one from `at` on.
    fn place(&mut self, config: Configuration, same: Same, at: usize) {
        if at == same.len() {
            if self.keeps_order(&config, &same) {
                self.fill(&config, &same);
            }
            return;
        }
        let is_newest = at == self.newest as usize;
        let fits = |slot: Slot| !is_newest || !config.is_seen(slot) && self.only.is_none_or(|only| only == slot);
        if let Some(slot) = same[at] {
            if fits(slot) {
                self.place(config, same, at + 1);
            }
            return;
        }
        let free: Vec<Slot> =
            (0..config.slots.len() as Slot).filter(|&slot| fits(slot) && !same.contains(&Some(slot))).collect();
        for slot in free {
            let mut same = same.clone();
            same[at] = Some(slot);
            self.place(config.clone(), same, at + 1);
        }
        if is_newest && self.only.is_some() {
            return;
        }
        if config.slots.len() >= MOST_SLOTS {
            self.is_full = true;
            return;
        }
        let positions: Vec<Option<usize>> =
            if self.layout.is_ordered { (0..=config.order.len()).map(Some).collect() } else { vec![None] };
        for position in positions {
            let (mut config, mut same) = (config.clone(), same.clone());
            same[at] = Some(config.push(position));
            self.place(config, same, at + 1);
        }
    }

    fn keeps_order(&self, config: &Configuration, same: &Same) -> bool {
        let ranks: Vec<Option<usize>> =
            self.one.order.iter().map(|&slot| same[slot as usize].and_then(|slot| config.rank(slot))).collect();
        ranks.is_sorted()
    }

    /// Gives the process its local state, with every possibility of what loops have taken.
    fn fill(&mut self, config: &Configuration, same: &Same) {
        let (Some(newest), Some(local)) = (same[self.newest as usize], &self.one.slots[self.newest as usize]) else {
            return;
        };
        let mut config = config.clone();
        let own_bit = |bits: u32| if bits & 1 << self.newest != 0 { 1 << newest } else { 0 };
        for (here, there) in config.shared.iter_mut().zip(&self.one.shared) {
            if let (Item::Taken(bits), Item::Taken(theirs)) = (here, there) {
                *bits |= own_bit(*theirs);
            }
        }
        let placed = local.iter().map(|item| match item {
            Item::Slot(slot) => Item::Slot(same[*slot as usize].unwrap_or(*slot)),
            Item::Taken(bits) => Item::Taken(own_bit(*bits)),
            other => *other,
        });
        config.slots[newest as usize] = Some(placed.collect());
        let open = self.open_bits(&config, newest);
        for chosen in 0u32..1 << open.len() {
            let mut config = config.clone();
            for (at, &(holder, column, bit)) in open.iter().enumerate() {
                if chosen & 1 << at != 0
                    && let Some(local) = &mut config.slots[holder as usize]
                    && let Item::Taken(bits) = &mut local[column]
                {
                    *bits |= bit;
                }
            }
            self.found.push(Extended { config, newest });
        }
    }

    /// What is open: whether others have taken the new process, and whether it has taken them.
    fn open_bits(&self, config: &Configuration, newest: Slot) -> Vec<(Slot, usize, u32)> {
        let mut open = Vec::new();
        for scan in &self.layout.scans {
            for slot in config.seen() {
                let is_active = config.slots[slot as usize]
                    .as_ref()
                    .is_some_and(|local| local[scan.counter] != Item::Value(Value::None));
                if !is_active {
                    continue;
                }
                match slot == newest {
                    true => open.extend(
                        config.seen().filter(|&other| other != newest).map(|other| (newest, scan.taken, 1 << other)),
                    ),
                    false => open.push((slot, scan.taken, 1 << newest)),
                }
            }
        }
        open
    }
}
