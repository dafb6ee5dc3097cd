//! Deadlocks that views of one process and sums exclude, as the checker sees it.
//!
//! In: views and sums that were checked. Out: that there is no state in which no process has a step and some process is stuck, or a refusal. Every such
//! state shows one process that is stuck, or any where a single process is. It is blocked, and so are single processes, some process of every family, and whoever is in turn in a round of a single process; what has to be so for
//! that is demanded of counted cells. No process behind the stage may then have a step in any case, and the sums have to be made up without those
//! who have.

use std::collections::BTreeMap;

use evidence::counting::CountingItem;
use evidence::views::SharedColumn;
use model::control::{ActionId, ActionKind, PlaceId};
use model::process::FamilyId;

use super::stage::{Path, Player, Role, Stage, Stop};
use super::system::{Demand, Lin, Unknown, exactly};
use super::{Checker, cast::refuse};
use crate::certificate::{Outcome, words};

/// More ways to be blocked at once are not gone through.
const MOST_WAYS: usize = 4096;

/// One way through an action.
struct Way {
    /// Whether it leads to a step, perhaps a fault.
    is_step: bool,
    /// What has to be so for it.
    demands: Vec<Demand>,
}

impl<'m> Checker<'_, 'm> {
    /// There is no state in which no process has a step and some process is stuck.
    pub(super) fn no_deadlock(&mut self) -> Outcome<()> {
        for at in 0..self.views.len() {
            self.discharged.implication += 1;
            let stage = Stage::alone(&self.views[at]);
            let roles: Vec<Role> =
                self.cast.singles.iter().map(|&single| Role::Single(single)).chain([Role::Actor(0)]).collect();
            if roles.iter().all(|&role| self.rests(&stage, role)) {
                continue;
            }
            if !self.is_deadlock(&stage, &roles)? {
                continue;
            }
            for stage in self.with_each_crowd(stage) {
                let others = (1..stage.actors.len()).map(Role::Actor);
                let roles: Vec<Role> = roles.iter().copied().chain(others).collect();
                if self.is_deadlock(&stage, &roles)? {
                    return words::refused(
                        "no state may be a deadlock",
                        "views and sums allow one in which everybody is blocked",
                    );
                }
            }
        }
        Ok(())
    }

    /// The stages with a process of each family beside those that are there: every family has a process.
    fn with_each_crowd(&self, stage: Stage) -> Vec<Stage> {
        let mut open = vec![stage];
        let mut complete = Vec::new();
        while let Some(stage) = open.pop() {
            let is_there = |family: &FamilyId| stage.actors.iter().any(|(of, _)| of == family);
            match self.cast.crowds.iter().find(|family| !is_there(family)) {
                None => complete.extend(self.with_whose_turn_it_is(stage)),
                Some(&missing) => {
                    let ones = self.behind(&stage).into_iter().filter(|&view| self.views[view].family == missing);
                    open.extend(ones.filter_map(|view| stage.joined(&self.views[view])));
                }
            }
        }
        complete
    }

    /// The stages with the processes behind it that are in turn in rounds of single processes, each of which is one.
    fn with_whose_turn_it_is(&self, stage: Stage) -> Vec<Stage> {
        let says_turn =
            |column: &SharedColumn| matches!(column, SharedColumn::Cell(cell) if self.cast.says_turn(*cell));
        let turns: Vec<usize> = (0..self.cast.shared.len()).filter(|&at| says_turn(&self.cast.shared[at])).collect();
        let mut open = vec![stage];
        let mut complete = Vec::new();
        while let Some(stage) = open.pop() {
            match turns.iter().find(|&&turn| matches!(stage.shared[turn], CountingItem::Other(_))) {
                None => complete.push(stage),
                Some(&turn) => {
                    let ones = self.behind(&stage).into_iter().map(|view| &self.views[view]);
                    let ones = ones.filter(|view| matches!(view.shared[turn], CountingItem::Slot(_)));
                    open.extend(ones.filter_map(|view| stage.joined(view)));
                }
            }
        }
        complete
    }

    /// Whether there may be a state in which none of these, and no process behind the stage, has a step.
    fn is_deadlock(&mut self, stage: &Stage, roles: &[Role]) -> Outcome<bool> {
        let behind = self.behind(stage);
        for demands in self.all_blocked(stage, roles, &behind)? {
            if self.others_are_blocked(stage, &behind, demands)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What may have to be so where none of these has a step.
    fn all_blocked(&mut self, stage: &Stage, roles: &[Role], behind: &[usize]) -> Outcome<Vec<Vec<Demand>>> {
        let mut blocked: Vec<Vec<Demand>> = vec![Vec::new()];
        for &role in roles {
            for action in self.actions_of(stage, role) {
                let ways = self.ways(stage, (role, action), behind)?;
                let mut more = Vec::new();
                for demands in &blocked {
                    for way in ways.iter().filter(|way| !way.is_step) {
                        let all = [&demands[..], &way.demands].concat();
                        if self.can_be(stage, behind, &all, None) {
                            more.push(all);
                        }
                    }
                }
                if more.len() > MOST_WAYS {
                    return refuse("processes may be blocked in too many ways at once");
                }
                blocked = more;
            }
        }
        Ok(blocked)
    }

    /// Whether those behind the stage may all be blocked.
    fn others_are_blocked(&mut self, stage: &Stage, behind: &[usize], demands: Vec<Demand>) -> Outcome<bool> {
        let is_about_cells = |demand: &&Demand| demand.sum.of.keys().all(|one| matches!(one, Unknown::Cell(_)));
        let about_cells: Vec<Demand> = demands.iter().filter(is_about_cells).cloned().collect();
        let mut all = demands;
        for &other in behind {
            let Some(pair) = stage.joined(&self.views[other]) else { continue };
            if self.surely_steps(&pair, &about_cells)? {
                all.push(exactly(Lin::unknown(Unknown::Views(other))));
            }
        }
        Ok(self.can_be(stage, behind, &all, None))
    }

    /// Whether the last on stage has a step in every state in which this is so.
    fn surely_steps(&mut self, pair: &Stage, demands: &[Demand]) -> Outcome<bool> {
        let role = Role::Actor(pair.actors.len() - 1);
        let behind = self.behind(pair);
        for action in self.actions_of(pair, role) {
            let ways = self.ways(pair, (role, action), &behind)?;
            let is_surely_step =
                |way: &Way| way.is_step || !self.can_be(pair, &behind, &[demands, &way.demands].concat(), None);
            if ways.iter().all(is_surely_step) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn ways(&mut self, stage: &Stage, (role, action): (Role, ActionId), behind: &[usize]) -> Outcome<Vec<Way>> {
        let mut ways = Vec::new();
        let mut next = Some(Path::default());
        while let Some(mut path) = next {
            self.pace()?;
            let mut player = Player {
                cast: self.cast,
                before: stage,
                stage: stage.clone(),
                role,
                bound: Vec::new(),
                path: &mut path,
                views: &self.views,
                behind,
                written: BTreeMap::new(),
                demands: Vec::new(),
                within: false,
            };
            // What is not followed may be blocked.
            let is_step = matches!(player.take(&self.cast.written.actions[action]), Ok(()) | Err(Stop::Fault));
            ways.push(Way { is_step, demands: player.demands });
            next = path.turn();
        }
        Ok(ways)
    }

    fn place_of(&self, stage: &Stage, role: Role) -> Option<(PlaceId, FamilyId)> {
        let (item, family) = match role {
            Role::Actor(at) => (stage.actors[at].1[0], stage.actors[at].0),
            Role::Single(single) => {
                let column = self.cast.shared_at(SharedColumn::Control(single))?;
                (stage.shared[column], self.cast.model.processes[single].family)
            }
            Role::Nobody => return None,
        };
        if let CountingItem::Place(place) = item { Some((place, family)) } else { None }
    }

    fn actions_of(&self, stage: &Stage, role: Role) -> Vec<ActionId> {
        let place = self.place_of(stage, role);
        place.map(|(place, _)| self.cast.model.places[place].actions.clone()).unwrap_or_default()
    }

    /// Whether a process is at its end, at `idle`, or where it may wait for ever.
    fn rests(&self, stage: &Stage, role: Role) -> bool {
        let Some((place, family)) = self.place_of(stage, role) else { return false };
        let model = self.cast.model;
        let mut actions = model.places[place].actions.iter();
        model.families[family].end == place
            || model.places[place].may_end
            || actions.any(|&action| model.actions[action].kind == ActionKind::Idle)
    }
}
