//! Which edges of the views of two processes can be the same turn.
//!
//! In: two edges, of the views of different processes. Out: whether they may be the same turn: the same action, the mover of the one is the
//! mover of the other, and what is shared is the same before and after, names of processes included; and sums allow the two
//! side by side. This is necessary for being one turn, and not sufficient.

use ::views::configuration::{Configuration, Item, Slot};
use model::control::ActionId;
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use streett::EdgeBits;

use super::edges::{Crowd, Edge, ME, Mover};
use super::sums::Sum;

/// What two edges of one turn have in common whatever processes are called.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Aspect {
    outside: Option<ProcessId>,
    action: Option<ActionId>,
    before: Vec<Item>,
    after: Vec<Item>,
}

/// Compares edges of two processes.
pub struct Pairs<'c, 'm> {
    crowd: &'c Crowd<'m>,
    sums: &'c [Sum],
    /// Edges of one class have one aspect.
    class: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// What was found out about pairs.
    known: std::cell::RefCell<FxHashMap<(u32, u32), bool>>,
}

/// For each slot of the one the slot of the other that is the same process.
type Same = Vec<Option<Slot>>;

impl<'c, 'm> Pairs<'c, 'm> {
    /// Of a view graph with sums.
    pub fn new(crowd: &'c Crowd<'m>, sums: &'c [Sum]) -> Self {
        let mut numbers: FxHashMap<Aspect, usize> = FxHashMap::default();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut class = Vec::new();
        for (at, edge) in crowd.edges.iter().enumerate() {
            let outside = if let Mover::Outside(process) = edge.mover { Some(process) } else { None };
            let aspect = Aspect {
                outside,
                action: edge.action,
                before: nameless(&crowd.views[edge.from]),
                after: nameless(&crowd.views[edge.to]),
            };
            let next = members.len();
            let number = *numbers.entry(aspect).or_insert(next);
            if number == next {
                members.push(Vec::new());
            }
            members[number].push(at);
            class.push(number);
        }
        Pairs { crowd, sums, class, members, known: Default::default() }
    }

    /// The edges of any other process that go together with an edge of a set.
    pub fn compatible(&self, set: &EdgeBits) -> EdgeBits {
        let mut found = EdgeBits::none(self.crowd.edges.len());
        let mut by_class: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        set.iter().for_each(|edge| by_class.entry(self.class[edge]).or_default().push(edge));
        for (class, edges) in by_class {
            for &other in &self.members[class] {
                if edges.iter().any(|&edge| self.fit(edge, other)) {
                    found.insert(other);
                }
            }
        }
        found
    }

    /// Whether an edge goes together with an own edge of another process in a set, where another process steps; with any, elsewhere.
    pub fn is_explained(&self, edge: usize, by: &EdgeBits) -> bool {
        let needs_own = matches!(self.crowd.edges[edge].mover, Mover::Other(_));
        self.members[self.class[edge]].iter().any(|&other| {
            by.contains(other) && (!needs_own || self.crowd.edges[other].mover == Mover::Me) && self.fit(edge, other)
        })
    }

    fn fit(&self, one: usize, other: usize) -> bool {
        let key = (one as u32, other as u32);
        if let Some(&known) = self.known.borrow().get(&key) {
            return known;
        }
        let found = self.is_one_turn(&self.crowd.edges[one], &self.crowd.edges[other]);
        self.known.borrow_mut().insert(key, found);
        found
    }

    fn is_one_turn(&self, one: &Edge, other: &Edge) -> bool {
        let views = &self.crowd.views;
        let before = same_slots(&views[one.from], &views[other.from]);
        let after = same_slots(&views[one.to], &views[other.to]);
        let (Some(before), Some(after)) = (before, after) else { return false };
        let possible = |sum: &Sum, one: usize, other: usize| sum.left[one] - sum.right[one] - sum.right[other] >= 0;
        keeps((one, other), &before, &after)
            && movers((one, other), &before, &after)
            && self.sums.iter().all(|sum| possible(sum, one.from, other.from) && possible(sum, one.to, other.to))
    }
}

/// What is shared, whatever processes are called.
pub fn nameless(config: &Configuration) -> Vec<Item> {
    let blind = |item: &Item| match item {
        Item::Slot(_) | Item::Taken(_) => Item::Taken(0),
        other => *other,
    };
    config.shared.iter().map(blind).collect()
}

/// Which slots are the same because shared cells name them; `None` where the two views cannot be of one state.
fn same_slots(one: &Configuration, other: &Configuration) -> Option<Same> {
    let mut same: Same = vec![None; one.slots.len()];
    for (here, there) in one.shared.iter().zip(&other.shared) {
        let (Item::Slot(here), Item::Slot(there)) = (here, there) else { continue };
        match same[*here as usize] {
            Some(known) if known != *there => return None,
            Some(_) => {}
            None if same.contains(&Some(*there)) => return None,
            None => same[*here as usize] = Some(*there),
        }
    }
    // The two processes are different ones.
    (same[ME as usize] != Some(ME)).then_some(same)
}

/// The processes that are named before and after in both views are the same.
fn keeps((one, other): (&Edge, &Edge), before: &Same, after: &Same) -> bool {
    (0..before.len()).all(|slot| {
        let Some(there) = before[slot] else { return true };
        let (here_after, there_after) = (one.kept[slot], other.kept[there as usize]);
        let forth = here_after.and_then(|here| after[here as usize]);
        let is_named = there_after.is_some_and(|there| after.contains(&Some(there)));
        match (forth, there_after) {
            (Some(forth), there_after) => there_after == Some(forth),
            // A shared cell names it afterwards in the other view, and so in this one.
            (None, Some(there)) => !is_named || here_after.is_some_and(|here| after[here as usize] == Some(there)),
            (None, None) => true,
        }
    })
}

/// The mover of the one is the mover of the other.
fn movers((one, other): (&Edge, &Edge), before: &Same, after: &Same) -> bool {
    let back = |same: &Same, there: Slot| same.iter().position(|&one| one == Some(there)).map(|slot| slot as Slot);
    let consistent = |here: Option<Slot>, there: Option<Slot>, same: &Same| {
        let forth = here.and_then(|here| same[here as usize]);
        let back = there.and_then(|there| back(same, there));
        forth.is_none_or(|forth| there == Some(forth)) && back.is_none_or(|back| here == Some(back))
    };
    match (one.mover, other.mover) {
        (Mover::Outside(a), Mover::Outside(b)) => a == b,
        (Mover::Me, Mover::Other(there)) => {
            consistent(Some(ME), there, before) && consistent(Some(ME), other.mover_after, after)
        }
        (Mover::Other(here), Mover::Me) => {
            consistent(here, Some(ME), before) && consistent(one.mover_after, Some(ME), after)
        }
        // A third process steps: neither the one nor the other.
        (Mover::Other(here), Mover::Other(there)) => {
            let is_the_other = here.is_some() && here == back(before, ME);
            let is_the_one = there.is_some() && there == before[ME as usize];
            !is_the_other
                && !is_the_one
                && consistent(here, there, before)
                && consistent(one.mover_after, other.mover_after, after)
        }
        _ => false,
    }
}
