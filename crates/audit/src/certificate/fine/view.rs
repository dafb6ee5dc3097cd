//! The obligations of one view: where it starts, and that every step of a process in it, of an outsider, and of one more process leads to one of
//! its states again.
//!
//! In: all moves, a view, what other views have room for, where views are joint, and what sums go with. Out: how many obligations hold, or the first that does not.

use std::collections::BTreeSet;

use evidence::certificate::DischargedObligations;
use evidence::fine::{FineContent, FineState, FineView};
use rustc_hash::FxHashSet;

use super::look::Thing;
use super::moves::{Move, Moves, Round, Whom};
use super::plan::Plan;
use super::room::Room;
use super::sums::{Balance, ViewLedger};
use crate::certificate::{CertificateError, Outcome, words};

/// More ways in which one more process may be named, or taken, are not tried.
const MOST_WAYS: usize = 20;

/// A view, its states in both orders.
pub(super) struct Sight<'a, 'm> {
    pub plan: &'a Plan<'m>,
    pub view: &'a FineView,
    /// The shared columns, as the plan numbers them.
    pub columns: Vec<usize>,
    pub n_blocks: usize,
    pub known: FxHashSet<FineState>,
    /// Blocks of which every local state is inside a loop over the family.
    is_tracked: Vec<bool>,
}

/// A move as the view shows it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ViewMove {
    from: Option<u32>,
    to: Option<u32>,
    before: Vec<(usize, Thing)>,
    after: Vec<(usize, Thing)>,
    all: Vec<Vec<bool>>,
    whom: Whom,
    targets: Vec<bool>,
    round: Round,
    /// The move itself, where other views are asked for room.
    origin: Option<Origin>,
}

/// What a move needs, whatever a view shows of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub from: Option<usize>,
    pub before: Vec<(usize, Thing)>,
    /// The local states in which every other process is.
    pub others: Vec<bool>,
}

/// What else is known of reachable states.
pub(super) struct Beside<'a> {
    /// The other views, where views are joint.
    pub rooms: &'a [Room<'a>],
    /// Sums that no step changes.
    pub balances: &'a [Balance<'a>],
    /// All of them at once.
    pub ledger: &'a ViewLedger<'a>,
}

/// Processes of a view, and one more.
#[derive(Clone)]
pub(super) struct Group {
    pub cells: Vec<FineContent>,
    pub blocks: Vec<u32>,
    took: [[bool; 3]; 3],
}

/// Whom a loop takes, in a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    Nobody,
    Mover,
    Member(usize),
    Outside,
}

impl<'a, 'm> Sight<'a, 'm> {
    pub fn new(plan: &'a Plan<'m>, view: &'a FineView) -> Outcome<Sight<'a, 'm>> {
        let malformed = |what: &str| Err(CertificateError::Malformed(what.to_owned()));
        let columns: Option<Vec<usize>> = view.cells.iter().map(|&cell| plan.shared_at(cell)).collect();
        let Some(columns) = columns else { return malformed("a view shows a cell that is not shared") };
        // A step writes a cell once: a second column would keep what it held.
        if columns.iter().collect::<BTreeSet<_>>().len() != columns.len() {
            return malformed("a view shows a cell twice");
        }
        let n_blocks = view.blocks.iter().max().map_or(0, |&most| most as usize + 1);
        if !(1..=2).contains(&view.k) || view.k > plan.n_processes {
            return malformed("a view shows one process or two, no more than there are");
        }
        if view.blocks.len() != plan.states.len() || n_blocks > plan.states.len() {
            return malformed("a view has a block for each local state, and no others");
        }
        let is_shaped = |state: &FineState| {
            let is_content =
                |content: &FineContent| !matches!(content, FineContent::Slot(slot) if *slot as usize >= view.k);
            state.cells.len() == columns.len()
                && state.blocks.len() == view.k
                && state.taken.len() == view.k
                && state.blocks.iter().all(|&block| (block as usize) < n_blocks)
                && state.cells.iter().all(is_content)
        };
        if !view.theta.iter().all(is_shaped) {
            return malformed("a state of a view has not the shape of one");
        }
        let mut is_tracked = vec![true; n_blocks];
        for (state, &block) in view.blocks.iter().enumerate() {
            if !plan.is_scanning(state) {
                is_tracked[block as usize] = false;
            }
        }
        let turned = view.theta.iter().map(turned);
        let known = view.theta.iter().cloned().chain(turned).collect();
        Ok(Sight { plan, view, columns, n_blocks, known, is_tracked })
    }

    pub fn check(&self, starts: &[usize], moves: &Moves, beside: &Beside<'_>) -> Outcome<DischargedObligations> {
        let mut found =
            DischargedObligations { initiality: self.initiality(starts)?, ..DischargedObligations::default() };
        let shown = self.shown(moves, !beside.rooms.is_empty())?;
        for state in &self.view.theta {
            self.plan.pace.look()?;
            let group = Group::of(state);
            for step in &shown {
                let movers = (0..self.view.k).filter(|&one| step.from == Some(state.blocks[one])).map(Some);
                for mover in movers.chain(step.from.is_none().then_some(None)) {
                    self.plan.pace.did_one()?;
                    found.step += 1;
                    self.leads_back(&group, mover, (step, beside))?;
                }
            }
            if self.plan.n_processes > self.view.k {
                // One more process changes nothing of a cell that holds a value.
                let is_so = |(cell, thing): &(usize, Thing)| match state.cells[*cell] {
                    FineContent::Value(value) => *thing == Thing::Value(value),
                    _ => true,
                };
                let is_open = |step: &&ViewMove| !step.after.is_empty() && step.before.iter().all(is_so);
                for step in shown.iter().filter(is_open) {
                    let Some(block) = step.from else { continue };
                    for group in self.with_one_more(state, block)? {
                        self.plan.pace.did_one()?;
                        found.non_interference += 1;
                        self.leads_back(&group, Some(self.view.k), (step, beside))?;
                    }
                }
            }
        }
        Ok(found)
    }

    /// The ways in which the cells and processes of the view start are gone through one by one, so that the first that is missing ends it.
    fn initiality(&self, starts: &[usize]) -> Outcome<usize> {
        let cells: Vec<Vec<FineContent>> =
            self.columns.iter().map(|&column| self.contents_at_start(column)).collect::<Outcome<_>>()?;
        let mut blocks: Vec<u32> = starts.iter().map(|&state| self.view.blocks[state]).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let k = self.view.k;
        let n_choices: Vec<usize> = cells.iter().map(Vec::len).chain(std::iter::repeat_n(blocks.len(), k)).collect();
        let mut chosen = (!n_choices.contains(&0)).then(|| vec![0; n_choices.len()]);
        let mut n_starts = 0;
        while let Some(mut way) = chosen {
            self.plan.pace.did_one()?;
            n_starts += 1;
            let (of_cells, of_blocks) = way.split_at(cells.len());
            let start = FineState {
                cells: cells.iter().zip(of_cells).map(|(contents, &at)| contents[at]).collect(),
                blocks: of_blocks.iter().map(|&at| blocks[at]).collect(),
                taken: vec![false; k],
            };
            if !self.known.contains(&start) {
                return words::refused(
                    "any processes start as the view shows them",
                    "there is an initial state of which they do not",
                );
            }
            chosen = following(&mut way, &n_choices).then_some(way);
        }
        Ok(n_starts)
    }

    /// What a cell of the view may hold in the beginning.
    fn contents_at_start(&self, column: usize) -> Outcome<Vec<FineContent>> {
        let mut contents = Vec::new();
        for thing in self.plan.start_of(column)? {
            match thing {
                Thing::Value(value) => contents.push(FineContent::Value(value)),
                Thing::Place(place) => contents.push(FineContent::Place(place)),
                _ => {
                    contents.extend((0..self.view.k as u8).map(FineContent::Slot));
                    contents.push(FineContent::Other);
                }
            }
        }
        Ok(contents)
    }

    /// The moves as the view shows them, those aside of which it shows nothing.
    fn shown(&self, moves: &Moves, with_origin: bool) -> Outcome<Vec<ViewMove>> {
        let of_set = |set: &[bool]| {
            let mut blocks = vec![false; self.n_blocks];
            for (state, &is_in) in set.iter().enumerate() {
                blocks[self.view.blocks[state] as usize] |= is_in;
            }
            blocks
        };
        let sets: Vec<Vec<bool>> = moves.sets.iter().map(|set| of_set(set)).collect();
        let at = |column: usize| self.columns.iter().position(|&one| one == column);
        let seen = |list: &[(usize, Thing)]| -> Vec<(usize, Thing)> {
            list.iter().filter_map(|&(column, thing)| Some((at(column)?, thing))).collect()
        };
        let mut found: Vec<ViewMove> = Vec::new();
        let mut known: FxHashSet<ViewMove> = FxHashSet::default();
        for (one, targets) in &moves.moves {
            self.plan.pace.did_one()?;
            let Move { from, to, before, after, all, whom, round } = one;
            let block = |state: &usize| self.view.blocks[*state];
            let (from, to) = (from.as_ref().map(block), to.as_ref().map(block));
            let after: Vec<(usize, Thing)> = { seen(after).into_iter() }
                .map(|(cell, thing)| match thing {
                    Thing::Named(column) => (cell, at(column).map_or(Thing::NotMover, Thing::Named)),
                    other => (cell, other),
                })
                .collect();
            let is_still = !(round.takes || round.begins || round.ends || round.is_left);
            if from == to && after.is_empty() && is_still {
                continue;
            }
            let others = |state: usize| all.iter().all(|&set| moves.sets[set][state]);
            let origin = with_origin.then(|| Origin {
                from: one.from,
                before: before.clone(),
                others: (0..self.view.blocks.len()).map(others).collect(),
            });
            let all: Vec<Vec<bool>> =
                all.iter().map(|&set| sets[set].clone()).filter(|blocks| blocks.contains(&false)).collect();
            let targets = if *whom == Whom::Other { of_set(targets) } else { Vec::new() };
            let (before, whom, round) = (seen(before), *whom, *round);
            let shown = ViewMove { from, to, before, after, all, whom, targets, round, origin };
            if known.insert(shown.clone()) {
                found.push(shown);
            }
        }
        Ok(found)
    }

    /// The state and one more process of this block, in every way in which each `k` look like a state.
    fn with_one_more(&self, state: &FineState, block: u32) -> Outcome<Vec<Group>> {
        let k = self.view.k;
        let base = Group::of(state);
        let open: Vec<usize> = (0..base.cells.len()).filter(|&cell| base.cells[cell] == FineContent::Other).collect();
        let mut bits: Vec<(usize, usize)> = Vec::new();
        for one in 0..k {
            if self.is_tracked[base.blocks[one] as usize] {
                bits.push((one, k));
            }
            if self.is_tracked[block as usize] {
                bits.push((k, one));
            }
        }
        if open.len() + bits.len() > MOST_WAYS {
            let why = "a view shows more cells that name processes than are looked at";
            return Err(CertificateError::NotSupported(why.to_owned()));
        }
        let mut found = Vec::new();
        for names in 0usize..1 << open.len() {
            for taken in 0usize..1 << bits.len() {
                self.plan.pace.did_one()?;
                let mut group = base.clone();
                group.blocks.push(block);
                for (at, &cell) in open.iter().enumerate() {
                    if names >> at & 1 == 1 {
                        group.cells[cell] = FineContent::Slot(k as u8);
                    }
                }
                for (at, &(one, other)) in bits.iter().enumerate() {
                    group.took[one][other] = taken >> at & 1 == 1;
                }
                let is_state = match k {
                    1 => self.known.contains(&group.part(&[1])),
                    _ => self.known.contains(&group.part(&[0, 2])) && self.known.contains(&group.part(&[1, 2])),
                };
                if is_state {
                    found.push(group);
                }
            }
        }
        Ok(found)
    }

    fn leads_back(&self, group: &Group, mover: Option<usize>, (step, beside): (&ViewMove, &Beside<'_>)) -> Outcome<()> {
        let kept: Vec<usize> = (0..self.view.k).collect();
        let has_room =
            || step.origin.iter().all(|origin| beside.rooms.iter().all(|room| room.fits(group, mover, origin)));
        let is_balanced = |after: &FineState| {
            let may_be = |balance: &Balance<'_>| {
                balance.may_be(&group.cells, &group.blocks) && balance.may_be(&after.cells, &after.blocks)
            };
            beside.balances.iter().all(may_be)
                && beside.ledger.may_be(&group.cells, &group.blocks)
                && beside.ledger.may_be(&after.cells, &after.blocks)
        };
        for after in self.outcomes(group, mover, step) {
            // Where another view has no room for the move, or a sum is wrong before it or after it, it is none.
            let after = after.part(&kept);
            if !self.known.contains(&after) && has_room() && is_balanced(&after) {
                let cells: Vec<String> = self.view.cells.iter().map(|cell| format!("{cell:?}")).collect();
                return words::refused(
                    "every step leads to a state of the view again",
                    format!("one does not, in the view of {}", cells.join(", ")),
                );
            }
        }
        Ok(())
    }

    fn outcomes(&self, group: &Group, mover: Option<usize>, step: &ViewMove) -> Vec<Group> {
        let n = group.blocks.len();
        let others: Vec<usize> = (0..n).filter(|&one| Some(one) != mover).collect();
        for &(cell, thing) in &step.before {
            let is_so = match group.cells[cell] {
                FineContent::Value(value) => thing == Thing::Value(value),
                FineContent::Place(place) => thing == Thing::Place(place),
                FineContent::Slot(slot) if Some(slot as usize) == mover => thing == Thing::Mover,
                FineContent::Slot(_) | FineContent::Other => matches!(thing, Thing::Named(_)),
            };
            if !is_so {
                return Vec::new();
            }
        }
        if step.all.iter().any(|set| others.iter().any(|&one| !set[group.blocks[one] as usize])) {
            return Vec::new();
        }
        let knows_taken = mover.is_some_and(|mover| self.is_tracked[group.blocks[mover] as usize]);
        let took = |one: usize| knows_taken && mover.is_some_and(|mover| group.took[mover][one]);
        let takings: Vec<Taking> = match step.whom {
            Whom::Nobody => vec![Taking::Nobody],
            Whom::Mover => vec![Taking::Mover],
            Whom::Other => {
                let mut takings: Vec<Taking> = { others.iter() }
                    .filter(|&&one| !took(one) && step.targets[group.blocks[one] as usize])
                    .map(|&one| Taking::Member(one))
                    .collect();
                if n < self.plan.n_processes {
                    takings.push(Taking::Outside);
                }
                takings
            }
        };
        let mut found = Vec::new();
        for taking in takings {
            let is_last = others.iter().all(|&one| took(one) || taking == Taking::Member(one));
            if step.round.ends && knows_taken && !is_last {
                continue;
            }
            let moved = match (mover, step.to) {
                (Some(mover), Some(to)) => self.taken(group, (mover, to), (step.round, taking)),
                _ => vec![group.clone()],
            };
            for group_after in moved {
                found.extend(self.written(group, group_after, mover, (step, taking)));
            }
        }
        found
    }

    /// The group after the mover's own move, whatever its loop may have taken.
    fn taken(&self, group: &Group, (mover, to): (usize, u32), (round, taking): (Round, Taking)) -> Vec<Group> {
        let knew = self.is_tracked[group.blocks[mover] as usize];
        let mut after = group.clone();
        after.blocks[mover] = to;
        if !self.is_tracked[to as usize] || round.begins {
            after.took[mover] = [false; 3];
            return vec![after];
        }
        let newly = |one: usize| round.takes && taking == Taking::Member(one);
        let keeps = knew && !round.ends && !round.is_left;
        let mut found = vec![after];
        for one in (0..group.blocks.len()).filter(|&one| one != mover) {
            let options: &[bool] = match () {
                () if newly(one) => &[true],
                () if keeps => &[group.took[mover][one]][..],
                () => &[false, true],
            };
            let mut next = Vec::new();
            for group in &found {
                for &option in options {
                    let mut group = group.clone();
                    group.took[mover][one] = option;
                    next.push(group);
                }
            }
            found = next;
        }
        found
    }

    fn written(
        &self,
        before: &Group,
        after: Group,
        mover: Option<usize>,
        (step, taking): (&ViewMove, Taking),
    ) -> Vec<Group> {
        let n = before.blocks.len();
        let everybody = |but: Option<usize>| {
            let mut contents: Vec<FineContent> =
                (0..n).filter(|&one| Some(one) != but).map(|one| FineContent::Slot(one as u8)).collect();
            if n < self.plan.n_processes {
                contents.push(FineContent::Other);
            }
            contents
        };
        let mut found = vec![after];
        for &(cell, thing) in &step.after {
            let contents = match thing {
                Thing::Value(value) => vec![FineContent::Value(value)],
                Thing::Place(place) => vec![FineContent::Place(place)],
                Thing::Mover => mover.map(|mover| FineContent::Slot(mover as u8)).into_iter().collect(),
                Thing::Named(position) => vec![before.cells[position]],
                Thing::Target => match taking {
                    Taking::Member(one) => vec![FineContent::Slot(one as u8)],
                    Taking::Outside => vec![FineContent::Other],
                    Taking::Mover | Taking::Nobody => everybody(None),
                },
                Thing::NotMover => everybody(mover),
                Thing::Anybody | Thing::Cast(_) => everybody(None),
            };
            let mut next = Vec::new();
            for group in &found {
                for &content in &contents {
                    let mut group = group.clone();
                    group.cells[cell] = content;
                    next.push(group);
                }
            }
            found = next;
        }
        found
    }
}

impl Group {
    fn of(state: &FineState) -> Group {
        let mut took = [[false; 3]; 3];
        if let [one, other] = state.taken[..] {
            took[0][1] = one;
            took[1][0] = other;
        }
        Group { cells: state.cells.clone(), blocks: state.blocks.clone(), took }
    }

    /// What these processes look like by themselves.
    fn part(&self, kept: &[usize]) -> FineState {
        let seen = |content: &FineContent| match content {
            FineContent::Slot(slot) => match kept.iter().position(|&one| one == *slot as usize) {
                Some(at) => FineContent::Slot(at as u8),
                None => FineContent::Other,
            },
            other => *other,
        };
        let taken = match kept {
            [one, other] => vec![self.took[*one][*other], self.took[*other][*one]],
            _ => vec![false; kept.len()],
        };
        FineState {
            cells: self.cells.iter().map(seen).collect(),
            blocks: kept.iter().map(|&one| self.blocks[one]).collect(),
            taken,
        }
    }
}

/// Turns to the next choice, as a counter does whose digits have so many values; whether there is one.
fn following(chosen: &mut [usize], n_choices: &[usize]) -> bool {
    for (digit, &n) in chosen.iter_mut().zip(n_choices).rev() {
        *digit += 1;
        if *digit < n {
            return true;
        }
        *digit = 0;
    }
    false
}

/// The same with its processes in the other order.
fn turned(state: &FineState) -> FineState {
    let turn = |content: &FineContent| match (content, state.blocks.len()) {
        (FineContent::Slot(slot), 2) => FineContent::Slot(1 - *slot),
        (other, _) => *other,
    };
    let mut turned = FineState { cells: state.cells.iter().map(turn).collect(), ..state.clone() };
    turned.blocks.reverse();
    turned.taken.reverse();
    turned
}
