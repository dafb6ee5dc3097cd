//! Whether a deadlock can be made of views.
//!
//! In: views that are closed under steps. Out: whether there may be a state, of whatever size, in which nobody has a step and somebody is
//! stuck. In a deadlock everybody is blocked. So a view is no part of one if one of its processes surely has a step, whichever *blocked*
//! processes stand beside it, or if it names a process that is none of the blocked ones. Such views are taken away until nothing changes. If
//! what is left shows nobody who is stuck, there is no deadlock. Where processes are compared by their order, there is a first one of all, and
//! of those at each place, and a last one: if it surely has a step, with none of the others before it, or behind it, there is nobody at that place.
//!
//! An action surely gives a step where every way through it does, with every process that it looks at or that decides one of its
//! quantifiers: those that a step depends on, as in `fixpoint`.

use std::collections::BTreeSet;

use base::{Budget, StopReason};
use model::control::{ActionId, ActionKind, PlaceId, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::choices::Choices;
use crate::configuration::{Item, Slot};
use crate::fixpoint::{About, Closed, about, missing, unaccounted};
use crate::layout::{Layout, SharedColumn, is_over};
use crate::packed::{Joined, Packed, Scratch, Shape};
use crate::sight::{Ground, Halt, Needs, Sight, Who};

/// After so many of them the limits are looked at.
const TRIALS_BETWEEN_CHECKS: usize = 256;

/// Where a process stands among all, or among those at its place, as far as that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    Anywhere,
    First { at_its_place: bool },
    Last { at_its_place: bool },
}

/// A process, and with how many more it is looked at.
#[derive(Clone, Copy)]
struct Trial {
    mover: Who,
    stands: Stands,
    n_witnesses: usize,
    n_looked_at: usize,
}

/// Why it is not known whether there is a deadlock.
enum End {
    Stopped(StopReason),
    TooMany,
}

struct Blocked<'a, 'm> {
    ground: Ground<'m>,
    k: usize,
    shape: &'a Shape,
    actions: Vec<About>,
    /// By action, whether unseen processes may block it unseen: in a loop over all.
    is_open: Vec<bool>,
    /// The views of which nobody surely has a step, as far as that is known.
    views: FxHashSet<Packed>,
    /// Those of one process each, by the shared part.
    ones: FxHashMap<Packed, Vec<Packed>>,
    n_trials: usize,
    budget: &'a Budget,
}

/// What views do not exclude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadlockCandidate {
    /// These processes may be part of a deadlock.
    Blocked(Packed),
    /// There is more to look at than is looked at.
    TooMany,
}

/// What may be part of a deadlock, if anything.
///
/// # Errors
/// A limit.
pub fn candidate(ground: Ground<'_>, views: &Closed, budget: &Budget) -> Result<Option<DeadlockCandidate>, StopReason> {
    let mut blocked = Blocked {
        ground,
        k: views.k,
        shape: &views.shape,
        actions: ground.model.actions.iter().map(|action| about(ground, action)).collect(),
        is_open: ground.model.actions.iter().map(|action| is_open(ground.layout, &action.body)).collect(),
        views: views.theta.clone(),
        ones: FxHashMap::default(),
        n_trials: 0,
        budget,
    };
    match blocked.candidate() {
        Ok(found) => Ok(found.map(DeadlockCandidate::Blocked)),
        Err(End::TooMany) => Ok(Some(DeadlockCandidate::TooMany)),
        Err(End::Stopped(reason)) => Err(reason),
    }
}

impl Blocked<'_, '_> {
    /// A view of a deadlock in which somebody is stuck, if there may be one.
    fn candidate(&mut self) -> Result<Option<Packed>, End> {
        loop {
            self.find_ones();
            let mut left = FxHashSet::default();
            for view in self.views.clone() {
                if !self.somebody_has_a_step(&view)? && self.are_all_named_blocked(&view)? {
                    left.insert(view);
                }
            }
            let n_before = self.views.len();
            self.views = left;
            if self.ground.layout.is_ordered {
                self.find_ones();
                self.leave_no_end()?;
            }
            if self.views.len() == n_before {
                break;
            }
        }
        Ok(self.views.iter().filter(|view| self.somebody_is_stuck(view)).min().cloned())
    }

    /// Whether every process that a view names may be seen as a blocked one.
    fn are_all_named_blocked(&mut self, view: &Packed) -> Result<bool, End> {
        let ones = self.ones.get(&self.shape.key(view)).cloned().unwrap_or_default();
        for slot in (0..Shape::n_slots(view) as Slot).filter(|slot| Shape::seen(view) & 1 << slot == 0) {
            if !self.may_be_seen(view, slot, &ones)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether one of these may be in a slot of a view.
    fn may_be_seen(&mut self, view: &Packed, slot: Slot, ones: &[Packed]) -> Result<bool, End> {
        for one in ones {
            self.pace()?;
            let Some(all) = self.shape.join(view, one, Some(slot)) else { return Ok(true) };
            let is_there = |joined: &Joined| {
                missing(self.shape, &self.views, (&joined.packed, self.k), joined.newest, &mut Scratch::default())
                    .is_none()
            };
            if all.iter().any(is_there) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes away the views with a process at a place where the first, or the last one, would surely have a step; and all views, where the first
    /// or the last process of all would.
    fn leave_no_end(&mut self) -> Result<(), End> {
        for at_its_place in [true, false] {
            for stands in [Stands::First { at_its_place }, Stands::Last { at_its_place }] {
                let places: BTreeSet<PlaceId> = { self.ones.values().flatten() }
                    .filter_map(|one| self.place(one, Who::Slot(Shape::seen(one).trailing_zeros() as Slot)))
                    .collect();
                let mut may_stand = BTreeSet::new();
                for &place in &places {
                    if self.one_may_stand(place, stands)? {
                        may_stand.insert(place);
                    }
                }
                let is_left = |who: Who, view: &Packed| match at_its_place {
                    true => self.place(view, who).is_none_or(|place| may_stand.contains(&place)),
                    false => !may_stand.is_empty(),
                };
                let left: FxHashSet<Packed> = { self.views.iter() }
                    .filter(|view| Self::members(view).all(|who| is_left(who, view)))
                    .cloned()
                    .collect();
                if left.len() < self.views.len() {
                    self.views = left;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn find_ones(&mut self) {
        let mut known: FxHashSet<Packed> = FxHashSet::default();
        self.ones.clear();
        for view in &self.views {
            for slot in (0..32).filter(|slot| Shape::seen(view) & 1 << slot != 0) {
                let one = self.shape.part(view, 1 << slot);
                if known.insert(one.clone()) {
                    self.ones.entry(self.shape.key(&one)).or_default().push(one);
                }
            }
        }
    }

    fn others(&self) -> Vec<Who> {
        let columns = self.ground.layout.shared.iter();
        let control = columns.filter_map(|column| match column {
            SharedColumn::Control(process) => Some(Who::Other(*process)),
            _ => None,
        });
        control.collect()
    }

    fn place(&self, row: &Packed, who: Who) -> Option<PlaceId> {
        let item = match who {
            Who::Slot(slot) => Some(self.shape.place(row, slot)),
            Who::Other(process) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(process));
                column.map(|column| self.shape.shared_item(row, column))
            }
            Who::Nobody => None,
        };
        match item {
            Some(Item::Place(place)) => Some(place),
            _ => None,
        }
    }

    fn members(view: &Packed) -> impl Iterator<Item = Who> + use<> {
        let seen = Shape::seen(view);
        (0..32).filter(move |slot| seen & 1 << slot != 0).map(Who::Slot)
    }

    fn somebody_is_stuck(&self, view: &Packed) -> bool {
        let model = self.ground.model;
        let rests = |who: Who| {
            let Some(place) = self.place(view, who) else { return false };
            let family = match who {
                Who::Other(process) => model.processes[process].family,
                _ => self.ground.layout.family,
            };
            let is_idle = |&action: &ActionId| matches!(model.actions[action].kind, ActionKind::Idle);
            let declared = &model.places[place];
            model.families[family].end == place || declared.may_end || declared.actions.iter().any(is_idle)
        };
        Self::members(view).chain(self.others()).any(|who| !rests(who))
    }

    fn somebody_has_a_step(&mut self, view: &Packed) -> Result<bool, End> {
        for mover in Self::members(view).chain(self.others()) {
            let trial = Trial { mover, stands: Stands::Anywhere, n_witnesses: 0, n_looked_at: 0 };
            if self.has_a_step(view, trial)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether some blocked process at a place may stand so.
    fn one_may_stand(&mut self, place: PlaceId, stands: Stands) -> Result<bool, End> {
        for one in self.ones.values().flatten().cloned().collect::<Vec<_>>() {
            let slot = Shape::seen(&one).trailing_zeros() as Slot;
            let trial = Trial { mover: Who::Slot(slot), stands, n_witnesses: 0, n_looked_at: 0 };
            if self.place(&one, trial.mover) == Some(place)
                && self.is_there(&one, slot, stands)
                && !self.has_a_step(&one, trial)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a process of a row, whose slots are in their order, may stand there.
    fn is_there(&self, row: &Packed, slot: Slot, stands: Stands) -> bool {
        let place = self.place(row, Who::Slot(slot));
        let is_seen = |other: Slot| Shape::seen(row) & 1 << other != 0;
        let may_be = |other: Slot, at_its_place: bool| {
            at_its_place && (!is_seen(other) || self.place(row, Who::Slot(other)) != place)
        };
        match stands {
            Stands::Anywhere => true,
            Stands::First { at_its_place } => (0..slot).all(|other| may_be(other, at_its_place)),
            Stands::Last { at_its_place } => {
                (slot + 1..Shape::n_slots(row) as Slot).all(|other| may_be(other, at_its_place))
            }
        }
    }

    /// Whether a process surely has a step.
    fn has_a_step(&mut self, row: &Packed, trial: Trial) -> Result<bool, End> {
        let Some(place) = self.place(row, trial.mover) else { return Ok(false) };
        for &action in &self.ground.model.places[place].actions {
            if self.is_a_step(row, action, trial)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn pace(&mut self) -> Result<(), End> {
        self.n_trials += 1;
        if self.n_trials > self.ground.config.trials {
            return Err(End::TooMany);
        }
        if self.n_trials.is_multiple_of(TRIALS_BETWEEN_CHECKS) {
            self.budget.check(0).map_err(End::Stopped)?;
        }
        Ok(())
    }

    /// Whether every way through an action is a step, with whichever blocked processes it depends on.
    fn is_a_step(&mut self, row: &Packed, id: ActionId, trial: Trial) -> Result<bool, End> {
        self.pace()?;
        if self.is_open[id.index()] {
            return Ok(false);
        }
        let config = self.shape.unpack(row);
        if let Some(presence) = unaccounted(self.ground, &config, &self.actions[id.index()]) {
            return self.is_a_step_with(row, id, (None, Some(presence)), trial);
        }
        let &About { witnesses: most, looked_at, guessing, .. } = &self.actions[id.index()];
        let mut choices = Choices::default();
        let mut slots: BTreeSet<Slot> = BTreeSet::new();
        let mut witness = false;
        loop {
            let mut sight = Sight {
                ground: self.ground,
                config: config.clone(),
                me: trial.mover,
                bound: Vec::new(),
                guessing,
                choices: &mut choices,
                needs: Needs::default(),
            };
            let done = sight.act(id);
            witness |= sight.needs.witness;
            match done {
                // A fault is a step.
                Ok(()) | Err(Halt::Fault(_)) => {}
                Err(Halt::Unseen) => slots.extend(sight.needs.slot),
                Err(Halt::Blocked | Halt::Outside(_)) => return Ok(false),
            }
            if !choices.advance() {
                break;
            }
        }
        let known = config.slots.len();
        for slot in slots {
            if looked_at.is_none_or(|bound| trial.n_looked_at >= bound) {
                return Ok(false);
            }
            let only = Some(slot).filter(|&slot| (slot as usize) < known);
            let trial = Trial { n_looked_at: trial.n_looked_at + 1, ..trial };
            if !self.is_a_step_with(row, id, (only, None), trial)? {
                return Ok(false);
            }
        }
        if witness && trial.n_witnesses < most {
            let trial = Trial { n_witnesses: trial.n_witnesses + 1, ..trial };
            return self.is_a_step_with(row, id, (None, None), trial);
        }
        Ok(true)
    }

    /// The same with one more blocked process, whichever fits: in a slot, if one is given, or one that accounts for a presence.
    fn is_a_step_with(
        &mut self,
        row: &Packed,
        id: ActionId,
        (only, accounts_for): (Option<Slot>, Option<usize>),
        trial: Trial,
    ) -> Result<bool, End> {
        let ones = self.ones.get(&self.shape.key(row)).cloned().unwrap_or_default();
        for one in ones {
            let seen = Shape::seen(&one).trailing_zeros() as Slot;
            if accounts_for.is_some_and(|presence| !self.shape.has(&one, seen, presence)) {
                continue;
            }
            let Some(all) = self.shape.join(row, &one, only) else { return Ok(false) };
            for Joined { packed, newest, moved } in all {
                self.pace()?;
                let mover = match trial.mover {
                    Who::Slot(slot) => Who::Slot(moved[slot as usize]),
                    other => other,
                };
                let stands = match mover {
                    Who::Slot(slot) => self.is_there(&packed, slot, trial.stands),
                    _ => true,
                };
                if !stands
                    || missing(self.shape, &self.views, (&packed, self.k), newest, &mut Scratch::default()).is_some()
                {
                    continue;
                }
                if !self.is_a_step(&packed, id, Trial { mover, ..trial })? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Whether a loop over the family inside a step has a round that may block the step: what unseen processes would block is not followed there.
fn is_open(layout: &Layout, body: &[Stmt]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StmtKind::For(binding, block) => match is_over(&binding.domain, layout.family) {
            true => may_block(block),
            false => is_open(layout, block),
        },
        StmtKind::If(_, yes, no) => is_open(layout, yes) || is_open(layout, no),
        StmtKind::Either(blocks) => blocks.iter().any(|block| is_open(layout, block)),
        _ => false,
    })
}

fn may_block(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StmtKind::Assign(_) | StmtKind::Assert(_) => false,
        StmtKind::If(_, yes, no) => may_block(yes) || may_block(no),
        StmtKind::For(_, block) => may_block(block),
        StmtKind::Either(blocks) => blocks.is_empty() || blocks.iter().any(|block| may_block(block)),
        StmtKind::AssignAny(..) | StmtKind::Await(_) | StmtKind::Acquire(_) | StmtKind::Release(_) => true,
    })
}
