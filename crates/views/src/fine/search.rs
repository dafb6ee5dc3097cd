//! The joint step: is there a state that violates the property and looks, in every view, as the view allows?
//!
//! In: views, and what a violation shows ([`Pattern`]). Out: that there is no such state, or what is known of one that there may be ([`Position`]). Views are never conjoined: the
//! search starts with the processes of the pattern and decides cell by cell what it holds: a value, one of the processes met so far, or
//! one more. A cell with one way left is taken first; where more processes are needed than there are, the way is closed. That is how
//! N + 1 processes on N - 1 levels are excluded: by counting them. Of a state whose cells are all decided flows are asked, too.

use std::collections::BTreeSet;

use base::{Budget, StopReason};
use evidence::fine::FineContent;
use rustc_hash::{FxHashMap, FxHashSet};

use super::admission::{admits_state, admits_together};
use super::bits::Bits;
use super::closure::Closed;
use super::flows::Flow;
use super::skeleton::Skeleton;

/// What a violating state shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// For each of some different processes the local states in which it may be.
    pub processes: Vec<Bits>,
    /// The local states in which every process is.
    pub everyone: Bits,
    /// What shared columns hold.
    pub cells: Vec<(usize, Required)>,
}

/// What a shared column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Required {
    /// A value, or a place.
    Holds(FineContent),
    /// One of the pattern's processes.
    Names(u8),
    /// A process, none of the pattern's.
    NamesAnother,
    /// A process.
    NamesSomebody,
}

/// What a column holds, where it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Content(FineContent),
    Process(usize),
}

/// A view, prepared for questions.
struct Ready<'a> {
    view: &'a Closed,
    /// The local states of each block.
    blocks: Vec<Bits>,
    /// What two processes may look like, in both orders: cells, then blocks.
    pairs: FxHashMap<Vec<FineContent>, FxHashSet<(u32, u32)>>,
    /// What one may.
    singles: FxHashMap<Vec<FineContent>, FxHashSet<u32>>,
}

/// Part of a state: for each of some processes the local states in which it may be, for columns what they hold.
#[derive(Clone, Debug)]
pub struct Position {
    processes: Vec<Bits>,
    held: FxHashMap<usize, Held>,
}

/// Whether a view, whatever the others say, allows nothing of the kind.
pub fn excludes(skeleton: &Skeleton, view: &Closed, position: &Position) -> bool {
    Ready::new(skeleton, view).settle(&mut position.clone()) == Some(false)
}

/// Views, ready for questions.
pub struct Joint<'a> {
    skeleton: &'a Skeleton,
    ready: Vec<Ready<'a>>,
    flows: &'a [Flow],
    columns: Vec<usize>,
    most_choices: usize,
    budget: &'a Budget,
}

impl<'a> Joint<'a> {
    /// Prepares views.
    pub fn new(
        skeleton: &'a Skeleton,
        (views, flows): (impl Iterator<Item = &'a Closed>, &'a [Flow]),
        (most_choices, budget): (usize, &'a Budget),
    ) -> Joint<'a> {
        let ready: Vec<Ready<'a>> = views.map(|view| Ready::new(skeleton, view)).collect();
        let columns: BTreeSet<usize> = ready.iter().flat_map(|ready| ready.view.shape.cells.iter().copied()).collect();
        Joint { skeleton, ready, flows, columns: columns.into_iter().collect(), most_choices, budget }
    }

    /// What a state may be like that shows the pattern, if there may be one.
    ///
    /// # Errors
    /// A limit.
    pub fn candidate(&self, pattern: &Pattern) -> Result<Option<Position>, StopReason> {
        let mut position = Position { processes: pattern.processes.clone(), held: FxHashMap::default() };
        position.processes.iter_mut().for_each(|process| process.keep(&pattern.everyone));
        if position.processes.len() > self.skeleton.n_processes {
            return Ok(None);
        }
        // There are at least two processes, whoever they are.
        while position.processes.len() < self.skeleton.n_processes.min(2) {
            position.processes.push(pattern.everyone.clone());
        }
        if position.processes.iter().any(Bits::is_empty) {
            return Ok(None);
        }
        for &(column, required) in &pattern.cells {
            match required {
                Required::Holds(content) => drop(position.held.insert(column, Held::Content(content))),
                Required::Names(one) => drop(position.held.insert(column, Held::Process(one as usize))),
                Required::NamesAnother | Required::NamesSomebody => {}
            }
        }
        if !self.settle(&mut position, true) {
            return Ok(None);
        }
        let mut left = self.most_choices;
        self.whole(position, pattern, &mut left)
    }

    /// A part of a state made whole, if it can be; as far as it was made where the search gives up.
    fn whole(
        &self,
        mut position: Position,
        pattern: &Pattern,
        left: &mut usize,
    ) -> Result<Option<Position>, StopReason> {
        loop {
            self.budget.check(0)?;
            let mut best: Option<Vec<Position>> = None;
            for &column in self.columns.iter().filter(|column| !position.held.contains_key(column)) {
                let most = best.as_ref().map_or(usize::MAX, Vec::len);
                if let Some(options) = self.options(&position, column, pattern, most) {
                    let is_forced = options.len() < 2;
                    best = Some(options);
                    if is_forced {
                        break;
                    }
                }
            }
            let Some(mut options) = best else {
                let is_there = self.settle(&mut position, true) && self.is_admitted(&position, &pattern.everyone);
                return Ok(is_there.then_some(position));
            };
            match options.len() {
                0 => return Ok(None),
                1 => position = options.remove(0),
                _ => {
                    if !self.settle(&mut position, true) {
                        return Ok(None);
                    }
                    for option in options {
                        if *left == 0 {
                            return Ok(Some(option));
                        }
                        *left -= 1;
                        if let Some(found) = self.whole(option, pattern, left)? {
                            return Ok(Some(found));
                        }
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Whether sums may be what flows say.
    fn is_admitted(&self, position: &Position, everyone: &Bits) -> bool {
        let held = |column: usize| match position.held.get(&column)? {
            Held::Content(content) => Some(*content),
            Held::Process(_) => Some(FineContent::Other),
        };
        let processes = (&position.processes[..], everyone);
        self.flows.iter().all(|flow| admits_state(self.skeleton, flow, processes, held))
            && admits_together(self.skeleton, self.flows, processes, held)
    }

    /// What a column may hold; `None` where there are no fewer ways than `most`.
    fn options(&self, position: &Position, column: usize, pattern: &Pattern, most: usize) -> Option<Vec<Position>> {
        let required = pattern.cells.iter().find(|(one, _)| *one == column).map(|(_, required)| *required);
        let only_others = required == Some(Required::NamesAnother);
        let mut contents: BTreeSet<FineContent> = BTreeSet::new();
        let mut names = false;
        let first = self.ready.iter().find_map(|ready| Some((ready, ready.at(column)?)));
        let (ready, at) = first?;
        for state in &ready.view.theta {
            match state.cells[at] {
                FineContent::Slot(_) | FineContent::Other => names = true,
                content => drop(contents.insert(content)),
            }
        }
        if matches!(required, Some(Required::NamesAnother | Required::NamesSomebody)) {
            contents.clear();
        }
        let n_known = position.processes.len();
        let known = (0..n_known).filter(|&one| names && !(only_others && one < pattern.processes.len()));
        let newest = (names && n_known < self.skeleton.n_processes).then_some(Held::Process(n_known));
        let mut found = Vec::new();
        for held in contents.into_iter().map(Held::Content).chain(known.map(Held::Process)).chain(newest) {
            let mut next = position.clone();
            if held == Held::Process(n_known) {
                next.processes.push(pattern.everyone.clone());
            }
            next.held.insert(column, held);
            let touched = self.ready.iter().filter(|ready| ready.at(column).is_some());
            if touched.into_iter().all(|ready| ready.settle(&mut next) != Some(false)) {
                found.push(next);
                if found.len() >= most {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Leaves of each process's local states those that views allow; whether some are left for each.
    fn settle(&self, position: &mut Position, until_stable: bool) -> bool {
        loop {
            let before = position.processes.clone();
            if self.ready.iter().any(|ready| ready.settle(position) == Some(false)) {
                return false;
            }
            if !until_stable || before == position.processes {
                return true;
            }
        }
    }
}

/// Processes that a view does not tell apart: by the cells that name them and the blocks in which they may be.
struct Group {
    named: Vec<bool>,
    blocks: Vec<u32>,
    members: Vec<usize>,
}

impl<'a> Ready<'a> {
    fn new(skeleton: &Skeleton, view: &'a Closed) -> Ready<'a> {
        let mut blocks = vec![Bits::new(skeleton.states.len()); view.shape.n_blocks];
        for (state, &block) in view.shape.blocks.iter().enumerate() {
            blocks[block as usize].insert(state);
        }
        let mut pairs: FxHashMap<Vec<FineContent>, FxHashSet<(u32, u32)>> = FxHashMap::default();
        let mut singles: FxHashMap<Vec<FineContent>, FxHashSet<u32>> = FxHashMap::default();
        let relative = |cells: &[FineContent], order: &[u8]| -> Vec<FineContent> {
            let content = |content: &FineContent| match content {
                FineContent::Slot(slot) => { order.iter() }
                    .position(|one| one == slot)
                    .map_or(FineContent::Other, |at| FineContent::Slot(at as u8)),
                other => *other,
            };
            cells.iter().map(content).collect()
        };
        for state in &view.theta {
            if let [one, other] = state.blocks[..] {
                pairs.entry(relative(&state.cells, &[0, 1])).or_default().insert((one, other));
                pairs.entry(relative(&state.cells, &[1, 0])).or_default().insert((other, one));
                singles.entry(relative(&state.cells, &[1])).or_default().insert(other);
            }
            singles.entry(relative(&state.cells, &[0])).or_default().insert(state.blocks[0]);
        }
        Ready { view, blocks, pairs, singles }
    }

    fn at(&self, column: usize) -> Option<usize> {
        self.view.shape.cells.iter().position(|&cell| cell == column)
    }

    fn groups(&self, position: &Position, held: &[Held]) -> Vec<Group> {
        let mut known: FxHashMap<(Vec<bool>, Vec<u32>), usize> = FxHashMap::default();
        let mut groups: Vec<Group> = Vec::new();
        for (at, process) in position.processes.iter().enumerate() {
            let named: Vec<bool> = held.iter().map(|held| *held == Held::Process(at)).collect();
            let blocks: Vec<u32> =
                (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize].meets(process)).collect();
            let key = (named, blocks);
            match known.get(&key) {
                Some(&group) => groups[group].members.push(at),
                None => {
                    known.insert(key.clone(), groups.len());
                    groups.push(Group { named: key.0, blocks: key.1, members: vec![at] });
                }
            }
        }
        groups
    }

    /// Leaves what the view allows, where all its cells are decided; whether something is left for every process.
    fn settle(&self, position: &mut Position) -> Option<bool> {
        let held: Vec<Held> =
            { self.view.shape.cells.iter() }.map(|cell| position.held.get(cell).copied()).collect::<Option<_>>()?;
        let mut groups = self.groups(position, &held);
        let content = |cell: usize, slots: &[&Group]| match held[cell] {
            Held::Content(content) => content,
            Held::Process(_) => { slots.iter() }
                .position(|group| group.named[cell])
                .map_or(FineContent::Other, |at| FineContent::Slot(at as u8)),
        };
        let cells =
            |slots: &[&Group]| -> Vec<FineContent> { (0..held.len()).map(|cell| content(cell, slots)).collect() };
        loop {
            let mut is_stable = true;
            for at in 0..groups.len() {
                let one = &groups[at];
                let Some(alone) = self.singles.get(&cells(&[one])) else { return Some(false) };
                let others: Option<Vec<_>> = { groups.iter().enumerate() }
                    .filter(|(other_at, _)| self.view.shape.k == 2 && (*other_at != at || one.members.len() > 1))
                    .map(|(_, other)| Some((other, self.pairs.get(&cells(&[one, other]))?)))
                    .collect();
                let Some(others) = others else { return Some(false) };
                let fits = |&block: &u32| {
                    let fits_with = |(other, pairs): &(&Group, &FxHashSet<(u32, u32)>)| {
                        other.blocks.iter().any(|&with| pairs.contains(&(block, with)))
                    };
                    alone.contains(&block) && others.iter().all(fits_with)
                };
                let left: Vec<u32> = one.blocks.iter().filter(|block| fits(block)).copied().collect();
                if left.is_empty() {
                    return Some(false);
                }
                if left.len() < one.blocks.len() {
                    is_stable = false;
                    groups[at].blocks = left;
                }
            }
            if is_stable {
                break;
            }
        }
        for group in &groups {
            let mut union = Bits::new(self.view.shape.blocks.len());
            group.blocks.iter().for_each(|&block| union.add(&self.blocks[block as usize]));
            for &member in &group.members {
                position.processes[member].keep(&union);
                if position.processes[member].is_empty() {
                    return Some(false);
                }
            }
        }
        Some(true)
    }
}
