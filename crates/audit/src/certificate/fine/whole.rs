//! Is there a whole state that violates the property and that every view allows?
//!
//! In: the views, and what a violation shows. Out: that there is none, or that one was not excluded. Cells are decided one by one: each holds a
//! value, or names one of the processes met so far, or a new one, up to as many as there are; a way on which some process could be in no local state
//! is none.

use std::collections::BTreeMap;

use evidence::fine::{FineContent, FineState};
use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::Plan;
use super::sums::{Ledger, Sum};
use super::view::Sight;
use crate::certificate::Outcome;

/// A search tries so many ways at most.
const MOST_TRIED: usize = 4_000;

/// What a violation shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Violation {
    /// Different processes, with the local states in which each may be.
    pub processes: Vec<Vec<bool>>,
    /// Every process is in one of these.
    pub everyone: Vec<bool>,
    /// What columns hold.
    pub holds: Vec<(usize, FineContent)>,
    /// Which of the processes columns name; `None` for another one.
    pub names: Vec<(usize, Option<usize>)>,
    /// Columns that name a process.
    pub somebody: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    This(FineContent),
    Process(usize),
}

/// A set of local states, one bit for each.
type Set = Vec<u64>;

fn packed(set: &[bool]) -> Set {
    let mut words = vec![0; set.len().div_ceil(64)];
    set.iter().enumerate().filter(|(_, is_in)| **is_in).for_each(|(at, _)| words[at / 64] |= 1u64 << (at % 64));
    words
}

fn narrowed(one: &mut Set, other: &Set) -> bool {
    one.iter_mut().zip(other).for_each(|(one, other)| *one &= other);
    one.iter().any(|&word| word != 0)
}

#[derive(Clone)]
struct Partial {
    processes: Vec<Set>,
    held: BTreeMap<usize, Held>,
}

/// A view for lookups: cells and blocks of one or two processes, in the order in which they are asked for.
struct Table<'a, 'm> {
    sight: &'a Sight<'a, 'm>,
    looks: FxHashMap<Vec<FineContent>, FxHashSet<Vec<u32>>>,
    /// The local states of each block.
    blocks: Vec<Set>,
}

pub(super) struct Whole<'a, 'm> {
    tables: Vec<Table<'a, 'm>>,
    sums: &'a [Sum<'a>],
    /// For each column the views that show it.
    by_column: BTreeMap<usize, Vec<usize>>,
    pub plan: &'a Plan<'m>,
}

impl<'a, 'm> Whole<'a, 'm> {
    pub fn new(sights: &'a [Sight<'a, 'm>], sums: &'a [Sum<'a>], plan: &'a Plan<'m>) -> Whole<'a, 'm> {
        let mut by_column: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, sight) in sights.iter().enumerate() {
            sight.columns.iter().for_each(|&column| by_column.entry(column).or_default().push(at));
        }
        let table = |sight: &'a Sight<'a, 'm>| {
            let mut looks: FxHashMap<Vec<FineContent>, FxHashSet<Vec<u32>>> = FxHashMap::default();
            for state in &sight.known {
                looks.entry(state.cells.clone()).or_default().insert(state.blocks.clone());
                if state.blocks.len() == 2 {
                    let alone = state.cells.iter().map(|content| match content {
                        FineContent::Slot(1) => FineContent::Other,
                        other => *other,
                    });
                    looks.entry(alone.collect()).or_default().insert(vec![state.blocks[0]]);
                }
            }
            let of =
                |block: usize| -> Vec<bool> { sight.view.blocks.iter().map(|&one| one as usize == block).collect() };
            let blocks = (0..sight.n_blocks).map(|block| packed(&of(block))).collect();
            Table { sight, looks, blocks }
        };
        Whole { tables: sights.iter().map(table).collect(), sums, by_column, plan }
    }

    /// Whether there is no state that shows the violation.
    pub fn excludes(&self, violation: &Violation) -> Outcome<bool> {
        if violation.processes.len() > self.plan.n_processes {
            return Ok(true);
        }
        let everyone = packed(&violation.everyone);
        let processes = violation.processes.iter().map(|set| packed(set)).collect();
        let mut partial = Partial { processes, held: BTreeMap::new() };
        partial.processes.resize(violation.processes.len().max(self.plan.n_processes.min(2)), everyone.clone());
        if !partial.processes.iter_mut().all(|process| narrowed(process, &everyone)) {
            return Ok(true);
        }
        partial.held.extend(violation.holds.iter().map(|&(column, content)| (column, Held::This(content))));
        for &(column, name) in &violation.names {
            if let Some(one) = name {
                partial.held.insert(column, Held::Process(one));
            }
        }
        let mut n_tried = 0;
        Ok(!self.all(&mut partial) || !self.is_possible(partial, violation, &mut n_tried)?)
    }

    fn is_possible(&self, mut partial: Partial, violation: &Violation, n_tried: &mut usize) -> Outcome<bool> {
        loop {
            self.plan.pace.look()?;
            let mut fewest: Option<Vec<Partial>> = None;
            for &column in self.by_column.keys() {
                if partial.held.contains_key(&column) {
                    continue;
                }
                let bound = fewest.as_ref().map_or(usize::MAX, Vec::len);
                let Some(ways) = self.ways(&partial, column, violation, bound) else { continue };
                let is_settled = ways.len() <= 1;
                fewest = Some(ways);
                if is_settled {
                    break;
                }
            }
            let Some(mut ways) = fewest else {
                return Ok(self.all(&mut partial) && self.is_balanced(&partial, violation));
            };
            if ways.len() == 1 {
                partial = ways.remove(0);
                continue;
            }
            if !ways.is_empty() && !self.all(&mut partial) {
                return Ok(false);
            }
            for way in ways {
                *n_tried += 1;
                if *n_tried > MOST_TRIED || self.is_possible(way, violation, n_tried)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
    }

    /// Whether sums may be what they are in reachable states.
    fn is_balanced(&self, partial: &Partial, violation: &Violation) -> bool {
        let members = |set: &Set| -> Vec<usize> {
            (0..violation.everyone.len()).filter(|&state| set[state / 64] >> (state % 64) & 1 == 1).collect()
        };
        let processes: Vec<Vec<usize>> = partial.processes.iter().map(members).collect();
        let everyone = members(&packed(&violation.everyone));
        let held = |column: usize| match partial.held.get(&column)? {
            Held::This(content) => Some(*content),
            Held::Process(_) => Some(FineContent::Other),
        };
        self.sums.iter().all(|sum| sum.fits((&processes, &everyone), held))
            && Ledger::new(self.sums).fits((&processes, &everyone), held)
    }

    /// The ways on with this column; `None` where there are `bound` or more.
    fn ways(&self, partial: &Partial, column: usize, violation: &Violation, bound: usize) -> Option<Vec<Partial>> {
        let views = &self.by_column[&column];
        let sight = self.tables[views[0]].sight;
        let at = sight.columns.iter().position(|&one| one == column)?;
        let mut contents: Vec<FineContent> = Vec::new();
        let mut may_name = false;
        for FineState { cells, .. } in &sight.view.theta {
            match cells[at] {
                FineContent::Slot(_) | FineContent::Other => may_name = true,
                content if !contents.contains(&content) => contents.push(content),
                _ => {}
            }
        }
        let is_else = violation.names.iter().any(|&(one, name)| one == column && name.is_none());
        if is_else || violation.somebody.contains(&column) {
            contents.clear();
        }
        let n_known = partial.processes.len();
        let first = if is_else { violation.processes.len() } else { 0 };
        let last = if n_known < self.plan.n_processes { n_known + 1 } else { n_known };
        let named = if may_name { first..last } else { 0..0 };
        let mut found = Vec::new();
        for held in contents.into_iter().map(Held::This).chain(named.map(Held::Process)) {
            let mut next = partial.clone();
            if held == Held::Process(n_known) {
                next.processes.push(packed(&violation.everyone));
            }
            next.held.insert(column, held);
            if views.iter().all(|&view| self.tables[view].narrow(&mut next)) {
                found.push(next);
                if found.len() >= bound {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Narrows by all views until nothing changes; whether every process can be somewhere.
    fn all(&self, partial: &mut Partial) -> bool {
        loop {
            let before = partial.processes.clone();
            if !self.tables.iter().all(|table| table.narrow(partial)) {
                return false;
            }
            if before == partial.processes {
                return true;
            }
        }
    }
}

/// Processes that a view does not tell apart.
struct Alike {
    names: Vec<bool>,
    blocks: Vec<bool>,
    members: Vec<usize>,
}

impl Table<'_, '_> {
    /// Leaves the local states that the view allows, where all its cells are decided; whether there are some for every process.
    fn narrow(&self, partial: &mut Partial) -> bool {
        let held: Option<Vec<Held>> =
            self.sight.columns.iter().map(|column| partial.held.get(column).copied()).collect();
        let Some(held) = held else { return true };
        let mut alike = self.alike(partial, &held);
        let cells = |slots: &[&Alike]| -> Vec<FineContent> {
            let content = |(cell, held): (usize, &Held)| match held {
                Held::This(content) => *content,
                Held::Process(_) => match slots.iter().position(|one| one.names[cell]) {
                    Some(at) => FineContent::Slot(at as u8),
                    None => FineContent::Other,
                },
            };
            held.iter().enumerate().map(content).collect()
        };
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for at in 0..alike.len() {
                let one = &alike[at];
                let with: Vec<(&Alike, Option<&FxHashSet<Vec<u32>>>)> = { alike.iter().enumerate() }
                    .filter(|(position, _)| self.sight.view.k == 2 && (*position != at || one.members.len() > 1))
                    .map(|(_, other)| (other, self.looks.get(&cells(&[one, other]))))
                    .collect();
                let alone = self.looks.get(&cells(&[one]));
                let is_allowed = |block: u32| {
                    alone.is_some_and(|alone| alone.contains(&[block][..]))
                        && with.iter().all(|(other, looks)| {
                            let mut seconds =
                                (0..self.sight.n_blocks as u32).filter(|&second| other.blocks[second as usize]);
                            looks.is_some_and(|looks| seconds.any(|second| looks.contains(&[block, second][..])))
                        })
                };
                let left: Vec<bool> =
                    (0..self.sight.n_blocks).map(|block| one.blocks[block] && is_allowed(block as u32)).collect();
                if !left.contains(&true) {
                    return false;
                }
                if left != one.blocks {
                    alike[at].blocks = left;
                    is_changed = true;
                }
            }
        }
        for one in &alike {
            let mut allowed: Set = vec![0; self.sight.view.blocks.len().div_ceil(64)];
            for block in (0..self.sight.n_blocks).filter(|&block| one.blocks[block]) {
                allowed.iter_mut().zip(&self.blocks[block]).for_each(|(one, other)| *one |= other);
            }
            if !one.members.iter().all(|&member| narrowed(&mut partial.processes[member], &allowed)) {
                return false;
            }
        }
        true
    }

    fn alike(&self, partial: &Partial, held: &[Held]) -> Vec<Alike> {
        let mut found: Vec<Alike> = Vec::new();
        let mut known: FxHashMap<(Vec<bool>, Vec<bool>), usize> = FxHashMap::default();
        for (at, process) in partial.processes.iter().enumerate() {
            let names: Vec<bool> = held.iter().map(|held| *held == Held::Process(at)).collect();
            let meets = |block: &Set| block.iter().zip(process).any(|(one, other)| one & other != 0);
            let blocks: Vec<bool> = self.blocks.iter().map(meets).collect();
            let next = found.len();
            let position = *known.entry((names.clone(), blocks.clone())).or_insert(next);
            if position == next {
                found.push(Alike { names, blocks, members: Vec::new() });
            }
            found[position].members.push(at);
        }
        found
    }
}
