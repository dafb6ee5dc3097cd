//! Deadlocks that views exclude, as the checker sees it.
//!
//! In: views that were checked to be closed under steps. Out: that no state made of them is a deadlock, or a refusal. In a deadlock every
//! process is blocked, so a view of it never shows one that has a step whichever *blocked* processes it depends on, and never names one that
//! is not blocked. Views that do are struck out, which leaves fewer processes to depend on, until all that are left may be blocked. Where
//! processes have an order, one of those at a place is the first of them, and one is the last: if every one that could be would have a step, there
//! is nobody at that place. In what is left in the end nobody may be stuck.

use std::collections::BTreeSet;

use evidence::views::{Item, SharedColumn};
use model::control::{ActionKind, Stmt, StmtKind};

use super::look::{Decisions, End, Look, Looker};
use super::scene::{Scene, Slot};
use super::{Checker, MOST_LOOKED_AT, MOST_WITNESSES, Ones, Taken, present};
use crate::certificate::{Outcome, words};

/// What is supposed of the process at hand, besides that it is blocked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    /// Nothing.
    All,
    /// None of those at its place is before it, or behind it; or none at all.
    End { is_first: bool, of_all: bool },
}

impl Among {
    fn may_be(self, scene: &Scene, looker: Looker) -> bool {
        let (Among::End { is_first, of_all }, Looker::Slot(slot)) = (self, looker) else { return true };
        let place = |slot: usize| scene.slots[slot].as_ref().map(|local| local[0]);
        let rank = |slot: usize| scene.ranks[slot];
        let slot = slot as usize;
        (0..scene.slots.len()).filter(|&other| other != slot).all(|other| {
            let is_beyond = if is_first { rank(other) < rank(slot) } else { rank(other) > rank(slot) };
            !is_beyond || !of_all && place(other) != place(slot)
        })
    }
}

impl<'m> Checker<'_, 'm> {
    /// There is no state in which no process has a step and some process is stuck. The views that may be part of one are what is left in the end.
    pub(super) fn no_deadlock(&mut self) -> Outcome<()> {
        loop {
            let n_before = self.views.len();
            let mut left = Vec::new();
            for at in 0..self.views.len() {
                let view = self.views[at].clone();
                self.discharged.implication += 1;
                let mut is_left = self.names_blocked_ones(&view)?;
                for looker in self.everybody(&view) {
                    is_left = is_left && !self.surely_steps(&view, (looker, Among::All))?;
                }
                if is_left {
                    left.push(view);
                }
            }
            self.keep(left);
            if self.text.is_ordered {
                self.strike_ends()?;
            }
            if self.views.len() == n_before {
                break;
            }
        }
        let is_stuck = |view: &Scene| self.everybody(view).into_iter().any(|looker| !self.rests(view, looker));
        if self.views.iter().any(is_stuck) {
            return words::refused("no state may be a deadlock", "views allow one in which everybody is blocked");
        }
        Ok(())
    }

    fn keep(&mut self, left: Vec<Scene>) {
        self.known = left.iter().cloned().collect();
        self.ones = Ones::of(&left, self.k, self.text.is_ordered);
        self.views = left;
    }

    /// Whether each process that a view names without showing it may be one that is left.
    fn names_blocked_ones(&self, view: &Scene) -> Outcome<bool> {
        for slot in (0..view.slots.len() as Slot).filter(|&slot| !view.is_seen(slot)) {
            if self.joined(view, Some(slot), |_| true)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Strikes out views with a process at a place of which no process can be the first, or the last, and blocked; everything where that is so of all.
    fn strike_ends(&mut self) -> Outcome<()> {
        for (is_first, of_all) in [(true, false), (false, false), (true, true), (false, true)] {
            let among = Among::End { is_first, of_all };
            let mut may_end: BTreeSet<Item> = BTreeSet::new();
            for one in self.ones.scenes.clone() {
                for slot in one.seen() {
                    let looker = Looker::Slot(slot);
                    if among.may_be(&one, looker) && !self.surely_steps(&one, (looker, among))? {
                        may_end.extend(one.slots[slot as usize].as_ref().map(|local| local[0]));
                    }
                }
            }
            let is_left = |view: &Scene| {
                let mut places = view.slots.iter().flatten().map(|local| local[0]);
                if of_all { !may_end.is_empty() } else { places.all(|place| may_end.contains(&place)) }
            };
            let left: Vec<Scene> = self.views.iter().filter(|view| is_left(view)).cloned().collect();
            self.keep(left);
        }
        Ok(())
    }

    fn everybody(&self, view: &Scene) -> Vec<Looker> {
        let seen = view.seen().into_iter().map(Looker::Slot);
        let others = self.text.shared.iter().filter_map(|column| match column {
            SharedColumn::Control(process) => Some(Looker::Other(*process)),
            _ => None,
        });
        seen.chain(others).collect()
    }

    /// Whether a process is at its end, at `idle`, or where it may wait for ever.
    fn rests(&self, scene: &Scene, looker: Looker) -> bool {
        let model = self.text.model;
        let (item, family) = match looker {
            Looker::Slot(slot) => (scene.slots[slot as usize].as_ref().map(|local| local[0]), self.text.family),
            Looker::Other(process) => {
                let column = self.text.shared_at(SharedColumn::Control(process));
                (column.map(|column| scene.shared[column]), model.processes[process].family)
            }
            Looker::Nobody => return false,
        };
        let Some(Item::Place(place)) = item else { return false };
        let mut actions = model.places[place].actions.iter();
        model.places[place].may_end
            || model.families[family].end == place
            || actions.any(|&action| model.actions[action].kind == ActionKind::Idle)
    }

    /// Whether a process has a step, whichever blocked processes it depends on.
    fn surely_steps(&mut self, scene: &Scene, (looker, among): (Looker, Among)) -> Outcome<bool> {
        for action in self.actions(scene, looker) {
            let taken = Taken { keep: &[], looker, action, n_witnesses: 0, n_looked_at: 0 };
            if self.is_surely_enabled(scene, taken, among)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether no way through an action is blocked, in the scene and with all processes that the way may depend on.
    fn is_surely_enabled(&mut self, scene: &Scene, taken: Taken<'_>, among: Among) -> Outcome<bool> {
        let action = &self.text.written.actions[taken.action];
        // What processes that are not seen would block in a loop over all of them does not show.
        if self.has_blocking_loop(&action.body) {
            return Ok(false);
        }
        if let Some(presence) = present::absent(self.text, scene, action) {
            let joined = self.joined(scene, None, |one| present::is_one(self.text, one, presence))?;
            return self.all_surely_enabled(joined, taken, among);
        }
        let n_slots = scene.slots.len();
        let mut wanted: BTreeSet<Option<Slot>> = BTreeSet::new();
        let mut wants_witness = false;
        let mut next = Some(Decisions::default());
        while let Some(mut way) = next {
            self.pace()?;
            let mut look = Look {
                text: self.text,
                scene: scene.clone(),
                looker: taken.looker,
                bound: Vec::new(),
                way: &mut way,
                guess_contents: taken.n_looked_at >= MOST_LOOKED_AT,
                guess_witnesses: false,
                has_most_witnesses: taken.n_witnesses >= MOST_WITNESSES,
                n_decided: 0,
                is_open: false,
                named: BTreeSet::new(),
                depth: 0,
                wrote_unseen: false,
                watched: None,
                read: 0,
            };
            let end = look.take(action);
            wants_witness |= look.is_open && taken.n_witnesses < look.n_decided;
            let n_named = look.named.len();
            match end {
                Ok(()) | Err(End::Fault) => {}
                Err(End::Unseen(slot)) if taken.n_looked_at < n_named => {
                    wanted.insert(Some(slot).filter(|&slot| (slot as usize) < n_slots));
                }
                Err(End::No | End::Unseen(_)) => return Ok(false),
                Err(end @ End::Uneven(_)) => return Err(self.uneven(end)),
            }
            next = way.following();
        }
        for slot in wanted {
            let joined = self.joined(scene, slot, |_| true)?;
            let taken = Taken { n_looked_at: taken.n_looked_at + 1, ..taken };
            if !self.all_surely_enabled(joined, taken, among)? {
                return Ok(false);
            }
        }
        if wants_witness {
            let joined = self.joined(scene, None, |_| true)?;
            return self.all_surely_enabled(joined, Taken { n_witnesses: taken.n_witnesses + 1, ..taken }, among);
        }
        Ok(true)
    }

    fn all_surely_enabled(&mut self, scenes: Vec<(Scene, Slot)>, taken: Taken<'_>, among: Among) -> Outcome<bool> {
        for (scene, _) in scenes {
            if among.may_be(&scene, taken.looker) && !self.is_surely_enabled(&scene, taken, among)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a loop over all processes, inside a step, may be blocked in one of its rounds.
    fn has_blocking_loop(&self, body: &[Stmt]) -> bool {
        body.iter().any(|statement| match &statement.kind {
            StmtKind::For(binding, block) if self.text.is_all(&binding.domain) => !goes_through(block),
            StmtKind::For(_, block) => self.has_blocking_loop(block),
            StmtKind::If(_, yes, no) => self.has_blocking_loop(yes) || self.has_blocking_loop(no),
            StmtKind::Either(blocks) => blocks.iter().any(|block| self.has_blocking_loop(block)),
            StmtKind::Assign(_)
            | StmtKind::AssignAny(..)
            | StmtKind::Await(_)
            | StmtKind::Assert(_)
            | StmtKind::Acquire(_)
            | StmtKind::Release(_) => false,
        })
    }
}

/// Whether statements never wait for anything.
fn goes_through(body: &[Stmt]) -> bool {
    body.iter().all(|statement| match &statement.kind {
        StmtKind::Assign(_) | StmtKind::Assert(_) => true,
        StmtKind::If(_, yes, no) => goes_through(yes) && goes_through(no),
        StmtKind::For(_, block) => goes_through(block),
        StmtKind::Either(blocks) => !blocks.is_empty() && blocks.iter().all(|block| goes_through(block)),
        StmtKind::AssignAny(..) | StmtKind::Await(_) | StmtKind::Acquire(_) | StmtKind::Release(_) => false,
    })
}
