//! Whether views and sums exclude a deadlock.
//!
//! In: views of one process each that are closed under steps, and sums. Out: whether there may be a state in which nobody has a step and
//! somebody is stuck. One process of such a state is seen: one that is stuck, or any where a single process is. That it is blocked, and
//! that all single processes are (and one process of each other family, and whom a loop takes now), says something about counted cells; views of processes that surely have a step then are views of nobody. If
//! the sums cannot be made up by the others, there is no such state. So a semaphore that is taken is held by somebody, who has a step.

use std::collections::BTreeMap;

use model::control::{ActionId, ActionKind, PlaceId};
use model::process::FamilyId;

use super::closure::{Closure, Failure};
use super::form::{Fact, Form, Term};
use super::look::{Halt, Look, Scene, Who};
use super::roster::{CountingItem, CountingView};
use crate::choices::Choices;
use crate::layout::SharedColumn;

/// What has to be so, with what is counted in it.
#[derive(Clone, Default)]
struct Known {
    facts: Vec<Fact>,
    counts: Vec<Vec<i64>>,
}

impl Known {
    /// Both, the counts of the other one behind those of this one.
    fn and(&self, facts: &[Fact], counts: &[Vec<i64>]) -> Known {
        let n_counts = self.counts.len();
        let shift = |fact: &Fact| {
            let move_term = |(term, &times): (&Term, &i64)| match term {
                Term::Unseen(at) => (Term::Unseen(at + n_counts), times),
                other => (*other, times),
            };
            let form = Form { constant: fact.form.constant, terms: fact.form.terms.iter().map(move_term).collect() };
            Fact { form, is_zero: fact.is_zero }
        };
        Known {
            facts: self.facts.iter().cloned().chain(facts.iter().map(shift)).collect(),
            counts: self.counts.iter().chain(counts).cloned().collect(),
        }
    }

    /// What is so whoever looks: what is said of cells alone.
    fn about_cells(&self) -> Vec<Fact> {
        let is_about_cells = |fact: &&Fact| fact.form.terms.keys().all(|term| matches!(term, Term::Cell(_)));
        self.facts.iter().filter(is_about_cells).cloned().collect()
    }
}

/// Whether views and sums do not exclude a deadlock.
///
/// # Errors
/// A limit.
pub fn may_be(found: &Closure<'_, '_>) -> Result<bool, Failure> {
    let mut search = Search { found, n_trials: 0 };
    for view in &found.views {
        if search.may_be_part(view)? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Search<'a, 'c, 'm> {
    found: &'a Closure<'c, 'm>,
    n_trials: usize,
}

impl<'m> Search<'_, '_, 'm> {
    /// Whether a process with this view may be part of a deadlock, as one that is stuck or beside a single one that is.
    fn may_be_part(&mut self, view: &CountingView) -> Result<bool, Failure> {
        let scene = Scene::of(view);
        let singles: Vec<Who> = self.found.roster.singles.iter().map(|&id| Who::Single(id)).collect();
        let everybody: Vec<Who> = [vec![Who::Slot(0)], singles].concat();
        if everybody.iter().all(|&who| self.rests(&scene, who)) {
            return Ok(false);
        }
        if !self.may_be_blocked(&scene, &everybody)? {
            return Ok(false);
        }
        // Somebody of each family is there, and has no step either; and so are those whom loops of single processes take now.
        let scenes = self.with_each_family(scene).into_iter().flat_map(|scene| self.with_taken(scene));
        for scene in scenes.collect::<Vec<_>>() {
            let seen = (1..scene.seen.len() as u8).map(Who::Slot);
            let everybody: Vec<Who> = everybody.iter().copied().chain(seen).collect();
            if self.may_be_blocked(&scene, &everybody)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether all of these, and everybody who is not seen, may be without a step.
    fn may_be_blocked(&mut self, scene: &Scene, everybody: &[Who]) -> Result<bool, Failure> {
        let actions: Vec<(Who, ActionId)> = { everybody.iter() }
            .flat_map(|&who| self.actions(scene, who).into_iter().map(move |action| (who, action)))
            .collect();
        let unseen = self.found.unseen(scene);
        self.all_blocked(scene, &unseen, &actions, &Known::default())
    }

    /// The scene with one process of each family of which none is seen.
    fn with_each_family(&self, scene: Scene) -> Vec<Scene> {
        let mut scenes = vec![scene];
        for &family in &self.found.roster.many {
            let with_one = |scene: Scene| {
                if scene.seen.iter().any(|(of, _)| *of == family) {
                    return vec![scene];
                }
                let views = self.found.unseen(&scene).into_iter().map(|at| &self.found.views[at]);
                views.filter(|view| view.family == family).filter_map(|view| scene.with(view)).collect()
            };
            scenes = scenes.into_iter().flat_map(with_one).collect();
        }
        scenes
    }

    /// The scene with everybody whom the loop of a single process takes now.
    fn with_taken(&self, scene: Scene) -> Vec<Scene> {
        let roster = self.found.roster;
        let mut scenes = vec![scene];
        for (column, shown) in roster.shared.iter().enumerate() {
            let SharedColumn::Cell(cell) = shown else { continue };
            if !roster.counts_walk(*cell) {
                continue;
            }
            let with_one = |scene: Scene| {
                let CountingItem::Other(_) = scene.shared[column] else { return vec![scene] };
                let views = self.found.unseen(&scene).into_iter().map(|at| &self.found.views[at]);
                let is_it = |view: &&CountingView| view.shared[column] == CountingItem::Slot(0);
                views.filter(is_it).filter_map(|view| scene.with(view)).collect()
            };
            scenes = scenes.into_iter().flat_map(with_one).collect();
        }
        scenes
    }

    fn place(&self, scene: &Scene, who: Who) -> Option<(PlaceId, FamilyId)> {
        let roster = self.found.roster;
        let (item, family) = match who {
            Who::Slot(slot) => {
                let (family, local) = &scene.seen[slot as usize];
                (local[0], *family)
            }
            Who::Single(id) => {
                let column = roster.shared_column(SharedColumn::Control(id))?;
                (scene.shared[column], roster.model.processes[id].family)
            }
            Who::Nobody => return None,
        };
        match item {
            CountingItem::Place(place) => Some((place, family)),
            _ => None,
        }
    }

    fn actions(&self, scene: &Scene, who: Who) -> Vec<ActionId> {
        let place = self.place(scene, who);
        place.map_or_else(Vec::new, |(place, _)| self.found.roster.model.places[place].actions.clone())
    }

    /// Whether a process has come to its end, or is where it may wait for ever.
    fn rests(&self, scene: &Scene, who: Who) -> bool {
        let model = self.found.roster.model;
        let Some((place, family)) = self.place(scene, who) else { return false };
        let declared = &model.places[place];
        let is_idle = |&action: &ActionId| matches!(model.actions[action].kind, ActionKind::Idle);
        model.families[family].end == place || declared.may_end || declared.actions.iter().any(is_idle)
    }

    /// Whether all of these actions may be blocked at once, and everybody who is not seen, too.
    fn all_blocked(
        &mut self,
        scene: &Scene,
        unseen: &[usize],
        actions: &[(Who, ActionId)],
        known: &Known,
    ) -> Result<bool, Failure> {
        let Some((&(who, action), rest)) = actions.split_first() else {
            return self.others_blocked(scene, unseen, known);
        };
        for (is_step, way) in self.ways(scene, unseen, (who, action))? {
            let known = known.and(&way.facts, &way.counts);
            if !is_step
                && self.found.may_be((scene, unseen), (&known.facts, &known.counts))
                && self.all_blocked(scene, unseen, rest, &known)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the sums may be made up by processes that do not surely have a step.
    fn others_blocked(&mut self, scene: &Scene, unseen: &[usize], known: &Known) -> Result<bool, Failure> {
        let about_cells = known.about_cells();
        let mut blocked = Vec::new();
        for (position, &at) in unseen.iter().enumerate() {
            let Some(beside) = scene.with(&self.found.views[at]) else { continue };
            if !self.has_a_step(&beside, &about_cells)? {
                blocked.push((position, at));
            }
        }
        let left: Vec<usize> = blocked.iter().map(|(_, at)| *at).collect();
        let counts: Vec<Vec<i64>> = { known.counts.iter() }
            .map(|weights| blocked.iter().map(|(position, _)| weights[*position]).collect())
            .collect();
        Ok(self.found.may_be((scene, &left), (&known.facts, &counts)))
    }

    /// Whether the process that was seen last surely has a step, where these facts hold.
    fn has_a_step(&mut self, scene: &Scene, known: &[Fact]) -> Result<bool, Failure> {
        let who = Who::Slot((scene.seen.len() - 1) as u8);
        let unseen = self.found.unseen(scene);
        for action in self.actions(scene, who) {
            let mut is_sure = true;
            for (is_step, way) in self.ways(scene, &unseen, (who, action))? {
                let facts = [known, &way.facts].concat();
                is_sure &= is_step || !self.found.may_be((scene, &unseen), (&facts, &way.counts));
                if !is_sure {
                    break;
                }
            }
            if is_sure {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All ways through an action: whether each is a step, and what has to be so for it.
    fn ways(
        &mut self,
        scene: &Scene,
        unseen: &[usize],
        (who, action): (Who, ActionId),
    ) -> Result<Vec<(bool, Known)>, Failure> {
        let views: Vec<&CountingView> = unseen.iter().map(|&at| &self.found.views[at]).collect();
        let mut choices = Choices::default();
        let mut found = Vec::new();
        loop {
            self.n_trials += 1;
            if self.n_trials > self.found.roster.config.counted_trials {
                return Err(Failure::TooMany);
            }
            if self.n_trials.is_multiple_of(64) {
                self.found.check_limits()?;
            }
            let mut look = Look {
                roster: self.found.roster,
                scene: scene.clone(),
                me: who,
                bound: Vec::new(),
                choices: &mut choices,
                unseen: &views,
                stored: BTreeMap::new(),
                facts: Vec::new(),
                counts: Vec::new(),
                is_inner: false,
                before: scene,
            };
            let done = look.act(&self.found.roster.text.actions[action]);
            // A fault is a step; of what is not followed nothing is known.
            let is_step = matches!(done, Ok(()) | Err(Halt::Fault(_)));
            let known = Known { facts: look.facts, counts: look.counts };
            found.push((is_step, known));
            if !choices.advance() {
                return Ok(found);
            }
        }
    }
}
