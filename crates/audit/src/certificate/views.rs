//! Views of interchangeable processes checked: every obligation of `evidence::views`, for every size at once.
//!
//! In: a Model, a property, views. Out: how many obligations hold, or the first that does not. `text` looks at what declarations say about the
//! size, `starts` makes the initial configurations, `look` and `steps` are what the written text means where few processes are seen,
//! `scene` joins configurations, `blocked` is about deadlocks. Where a step looks at a process that is not seen, or a quantifier may be decided by one, the configuration is
//! joined by every process that fits, as often as the way through the step met such a process or quantifier.

mod apart;
mod blocked;
mod helpers;
pub(super) mod lasting;
mod look;
mod present;
mod same;
mod scene;
mod starts;
mod steps;
mod text;
mod veil;

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Budget, Span};
use evidence::certificate::DischargedObligations;
use evidence::scope::Scope;
use evidence::views::{Hiding, Item, SharedColumn, ViewColumn, ViewsProof};
use model::Model;
use model::control::ActionId;
use model::expr::{Expr, ExprKind};
use model::process::FamilyId;
use model::property::PropertyKind;
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{CertificateError, Outcome, counts, races, words};
use helpers::{Help, help};
use look::{Decisions, End, Look, Looker};
use scene::{Columns, MOST_COLUMNS, Scene, Slot, choices_of, join, n_open, unnamed};
use text::Text;

/// At most so many processes are added for quantifiers, and for contents; whatever needs more may be anything.
const MOST_WITNESSES: usize = 2;
const MOST_LOOKED_AT: usize = 3;

/// Where more is open about what loops have taken, scenes are joined only as views allow it.
const MOST_OPEN: usize = 6;

/// Most processes in a view.
const MOST_SEEN: usize = 4;

/// Checks every obligation of views that claim a property for every size from `from` on.
pub(super) fn check(
    model: &Model,
    (name, property): (&str, &PropertyKind),
    (scope, proof): (&Scope, &ViewsProof),
    budget: &Budget,
) -> Outcome<DischargedObligations> {
    let told = told(model, (name, property), proof.family)?;
    let text = Text::new(model, proof)?;
    if proof.k == 0 || proof.k > MOST_SEEN {
        return Err(CertificateError::Malformed(format!("views of {} processes", proof.k)));
    }
    check_scope(&text, scope, proof.k.max(text.n_named))?;
    let mut checker = Checker::new(&text, proof, budget)?;
    checker.initiality()?;
    checker.steps()?;
    match &told {
        Some((expr, bad)) => checker.never(expr, *bad)?,
        None => checker.implication(property)?,
    }
    Ok(checker.discharged)
}

/// What a property says about states, as it was written, and the value that it must not have; `None` where it is about steps.
fn told(model: &Model, (name, property): (&str, &PropertyKind), family: FamilyId) -> Outcome<Option<(Expr, bool)>> {
    if let Some(no_race) = races::asked(model, (name, property))? {
        return Ok(Some((no_race, false)));
    }
    let written = model.template.as_deref().unwrap_or(model);
    let index = model.properties.iter().position(|one| one.name == name);
    let kind = index.map(|at| &written.properties[base::Id::new(at)].kind);
    match (property, kind) {
        (PropertyKind::Invariant(_), Some(PropertyKind::Invariant(expr))) => {
            Ok(Some((counts::told_apart(expr, family), false)))
        }
        (PropertyKind::Reachable(_), Some(PropertyKind::Reachable(expr))) => {
            Ok(Some((counts::told_apart(expr, family), true)))
        }
        _ => Ok(None),
    }
}

/// The claim begins where there are as many processes as views show, and as are named; smaller sizes that the program allows are said to be checked
/// by themselves.
fn check_scope(text: &Text<'_>, scope: &Scope, least: usize) -> Outcome<()> {
    let declared = &text.model.parameters[text.size];
    let Scope::AllSizes { parameter, from, .. } = scope else {
        return if declared.value >= least as i64 {
            Ok(())
        } else {
            Err(CertificateError::Malformed("there are fewer processes than a view shows".to_owned()))
        };
    };
    if *parameter != declared.name || *from < least as i64 {
        return Err(CertificateError::Malformed(format!("it claims {scope}, and there have to be {least} processes")));
    }
    Ok(())
}

struct Checker<'a, 'm> {
    text: &'a Text<'m>,
    k: usize,
    views: Vec<Scene>,
    known: FxHashSet<Scene>,
    ones: Ones,
    can_fault: Option<ActionId>,
    /// By action, when a process that is not seen may make a difference.
    help: Vec<Help>,
    /// By action, whether it goes through all processes in a loop: then all that they have is read.
    goes_round: Vec<bool>,
    discharged: DischargedObligations,
    budget: &'a Budget,
    n_ways: usize,
}

/// The views of one process each.
#[derive(Default)]
struct Ones {
    scenes: Vec<Rc<Scene>>,
    number: FxHashMap<Scene, usize>,
    /// Those that share the same, names of processes aside.
    sharing: FxHashMap<Vec<Item>, Vec<usize>>,
    /// For each one, where views show two processes: those that stand beside it in some view.
    beside: Vec<FxHashSet<usize>>,
}

impl Ones {
    fn of(views: &[Scene], k: usize, is_ordered: bool) -> Ones {
        let mut ones = Ones::default();
        for view in views {
            let numbers: Vec<usize> =
                view.seen().into_iter().map(|slot| ones.add(view.part(&[slot], is_ordered))).collect();
            if let ([one, other], 2) = (&numbers[..], k) {
                ones.beside[*one].insert(*other);
                ones.beside[*other].insert(*one);
            }
        }
        ones
    }

    fn add(&mut self, one: Scene) -> usize {
        if let Some(&number) = self.number.get(&one) {
            return number;
        }
        let number = self.scenes.len();
        self.sharing.entry(nameless(&one)).or_default().push(number);
        self.number.insert(one.clone(), number);
        self.scenes.push(Rc::new(one));
        self.beside.push(FxHashSet::default());
        number
    }

    /// Those that may be joined to a scene. Where views show two processes, one that stands beside some process of the scene in no view is none of
    /// them: the two would have to look like a view.
    fn joining(&self, scene: &Scene, k: usize, is_ordered: bool) -> Vec<Rc<Scene>> {
        let Some(sharing) = self.sharing.get(&nameless(scene)) else { return Vec::new() };
        if k != 2 {
            return sharing.iter().map(|&number| Rc::clone(&self.scenes[number])).collect();
        }
        // A process that looks like none of the views rules nobody out.
        let numbers = scene.seen().into_iter().filter_map(|slot| self.number.get(&scene.part(&[slot], is_ordered)));
        let beside: Vec<&FxHashSet<usize>> = numbers.map(|&number| &self.beside[number]).collect();
        let stands = |number: &&usize| beside.iter().all(|those| those.contains(*number));
        sharing.iter().filter(stands).map(|&number| Rc::clone(&self.scenes[number])).collect()
    }
}

/// A step, and whom it is about.
#[derive(Clone, Copy)]
struct Taken<'a> {
    keep: &'a [Slot],
    looker: Looker,
    action: ActionId,
    n_witnesses: usize,
    n_looked_at: usize,
}

/// The steps that are taken in a scene with one more process, which is given.
type Steps<'s, 'a, 'm> = dyn Fn(&Checker<'a, 'm>, &Scene, Slot) -> Vec<Taken<'s>> + 's;

/// Which processes are joined to a scene.
struct Meant<'s, 'a, 'm> {
    /// The slot that they are in, if it is given.
    slot: Option<Slot>,
    is_one: &'s dyn Fn(&Checker<'a, 'm>, &Scene) -> bool,
}

/// What all ways of a step came to.
#[derive(Default)]
struct Ways {
    /// One leads to no view.
    is_lost: bool,
    has_fault: bool,
    /// Where the text tells processes apart.
    uneven: Option<Span>,
    /// The slots of processes that have to be seen; `None` for one without a slot.
    wanted: BTreeSet<Option<Slot>>,
    wants_witness: bool,
    /// The columns that were read of the process that is watched.
    read: Columns,
}

impl Ways {
    /// Whether all of them lead to views, or nowhere, whoever else is there.
    fn is_good(&self) -> bool {
        let is_complete = self.wanted.is_empty() && !self.wants_witness;
        is_complete && !self.is_lost && !self.has_fault && self.uneven.is_none()
    }
}

fn no_room() -> CertificateError {
    let what = "more processes may be named at once than the checker has room for";
    CertificateError::NotSupported(what.to_owned())
}

impl<'a, 'm> Checker<'a, 'm> {
    fn new(text: &'a Text<'m>, proof: &ViewsProof, budget: &'a Budget) -> Outcome<Checker<'a, 'm>> {
        let mut views = Vec::new();
        for view in &proof.views {
            let is_shaped = view.shared.len() == text.said_at(text.present.len())
                && view.shared[text.said_at(0)..].iter().all(|said| matches!(said, Item::Value(Value::Bool(_))))
                && view.slots.len() <= scene::SLOTS
                && view.slots.iter().flatten().all(|local| local.len() == text.local.len())
                && view.slots.iter().flatten().count() == proof.k;
            if !is_shaped || !text.fits(view) {
                return Err(CertificateError::Malformed("a view has not the shape of a view".to_owned()));
            }
            let scene = Scene::of(view, text.is_ordered);
            if scene.clone().veiled(text) != scene || !hides_by_rule(text, view) {
                return Err(CertificateError::Malformed(
                    "a view shows what is hidden, or hides what is shown".to_owned(),
                ));
            }
            views.push(scene.normal(text.is_ordered));
        }
        let ones = Ones::of(&views, proof.k, text.is_ordered);
        let known = views.iter().cloned().collect();
        let discharged = DischargedObligations::default();
        let help = text.written.actions.iter().map(|action| help(text, action)).collect();
        let goes_round = text.written.actions.iter().map(|action| steps::goes_round(text, &action.body)).collect();
        let (k, can_fault, n_ways) = (proof.k, None, 0);
        Ok(Checker { text, k, views, known, ones, can_fault, help, goes_round, discharged, budget, n_ways })
    }

    fn initiality(&mut self) -> Outcome<()> {
        let starts = starts::starts(self.text, self.k, self.budget)?.map_err(|end| self.uneven(end))?;
        self.discharged.initiality += starts.len();
        match starts.iter().all(|start| self.known.contains(start)) {
            true => Ok(()),
            false => words::refused(
                "any few processes have to start as one of the views shows them",
                "there is an initial state of which they do not",
            ),
        }
    }

    fn uneven(&self, end: End) -> CertificateError {
        let place = match end {
            End::Uneven(span) => span,
            _ => Span::default(),
        };
        CertificateError::NotSymmetric(format!(
            "the text at byte {} tells processes apart, or counts them",
            place.start
        ))
    }

    fn steps(&mut self) -> Outcome<()> {
        let others: Vec<Looker> = { self.text.shared.iter() }
            .filter_map(|column| match column {
                SharedColumn::Control(process) => Some(Looker::Other(*process)),
                _ => None,
            })
            .collect();
        for at in 0..self.views.len() {
            let view = self.views[at].clone();
            let keep = view.seen();
            for looker in keep.iter().map(|&slot| Looker::Slot(slot)).chain(others.iter().copied()) {
                for action in self.actions(&view, looker) {
                    let step = Taken { keep: &keep, looker, action, n_witnesses: 0, n_looked_at: 0 };
                    self.discharged.step += 1;
                    self.step(&view, step)?;
                }
            }
            let meant = Meant { slot: None, is_one: &|checker, one| checker.changes_others(one) };
            self.with_one_more(&view, meant, &|checker, scene, newest| {
                let outward = checker.actions(scene, Looker::Slot(newest)).into_iter();
                let outward = outward.filter(|&action| !checker.concerns_nobody_else(action));
                let looker = Looker::Slot(newest);
                outward.map(|action| Taken { keep: &keep, looker, action, n_witnesses: 0, n_looked_at: 0 }).collect()
            })?;
        }
        Ok(())
    }

    fn actions(&self, scene: &Scene, looker: Looker) -> Vec<ActionId> {
        let place = match looker {
            Looker::Slot(slot) => scene.slots[slot as usize].as_ref().map(|local| local[0]),
            Looker::Other(process) => {
                self.text.shared_at(SharedColumn::Control(process)).map(|column| scene.shared[column])
            }
            Looker::Nobody => None,
        };
        match place {
            Some(Item::Place(place)) if place.index() < self.text.model.places.len() => {
                self.text.model.places[place].actions.clone()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the process that is seen has a step that changes more than itself.
    fn changes_others(&self, one: &Scene) -> bool {
        let mut actions = one.seen().into_iter().flat_map(|slot| self.actions(one, Looker::Slot(slot)));
        actions.any(|action| !self.concerns_nobody_else(action))
    }

    /// Whether an action changes nothing that views of other processes show.
    fn concerns_nobody_else(&self, action: ActionId) -> bool {
        self.text.present.is_empty() && steps::keeps_to_itself(self.text, &self.text.written.actions[action])
    }

    /// All scenes with one more process of which every `k` processes with it are views.
    fn joined(
        &self,
        scene: &Scene,
        slot: Option<Slot>,
        is_meant: impl Fn(&Scene) -> bool,
    ) -> Outcome<Vec<(Scene, Slot)>> {
        let mut found = Vec::new();
        for one in self.ones.joining(scene, self.k, self.text.is_ordered) {
            if is_meant(&one) {
                found.extend(self.joined_by(scene, &one, slot)?);
            }
        }
        Ok(found)
    }

    /// All scenes with this process as one more of which every `k` processes with it are views.
    fn joined_by(&self, scene: &Scene, one: &Scene, slot: Option<Slot>) -> Outcome<Vec<(Scene, Slot)>> {
        let is_view = |scene: &Scene, of: &[Slot]| self.known.contains(&scene.part(of, self.text.is_ordered));
        // Two by two, where views show two: what is open about each two of them is decided by itself.
        let goes_with = |scene: &Scene, pair: [Slot; 2]| self.k != 2 || is_view(scene, &pair);
        let mut found = join(self.text, (scene, one), slot, &goes_with).ok_or_else(no_room)?;
        found.retain(|(joined, newest)| {
            let rest: Vec<Slot> = joined.seen().into_iter().filter(|slot| slot != newest).collect();
            let with_newest = |chosen: &Vec<Slot>| is_view(joined, &[&chosen[..], &[*newest]].concat());
            self.k == 2 || choices_of(&rest, self.k - 1).iter().all(with_newest)
        });
        Ok(found)
    }

    /// Takes steps in every scene with one more process of which every `k` processes with it are views. The process is none of those that the steps
    /// keep. Where all ways of the steps lead to views again, be every `k` processes views or not, the same is so of every process that has the
    /// same in all columns that the ways have read of it.
    fn with_one_more(&mut self, scene: &Scene, meant: Meant<'_, 'a, 'm>, steps: &Steps<'_, 'a, 'm>) -> Outcome<()> {
        let mut alike: Vec<(Columns, FxHashSet<Scene>)> = Vec::new();
        for one in self.ones.joining(scene, self.k, self.text.is_ordered) {
            if !(meant.is_one)(self, &one)
                || alike.iter().any(|(read, known)| known.contains(&one.showing(*read, self.text.is_ordered)))
            {
                continue;
            }
            if let Some(read) = self.leads_to_views(scene, (&one, meant.slot), steps)? {
                let shown = one.showing(read, self.text.is_ordered);
                match alike.iter_mut().find(|(columns, _)| *columns == read) {
                    Some((_, known)) => drop(known.insert(shown)),
                    None => alike.push((read, FxHashSet::from_iter([shown]))),
                }
                continue;
            }
            for (joined, newest) in self.joined_by(scene, &one, meant.slot)? {
                for step in steps(self, &joined, newest) {
                    self.discharged.non_interference += 1;
                    self.step(&joined, step)?;
                }
            }
        }
        Ok(())
    }

    /// The columns that steps read of one more process, if all of their ways lead to views and are no faults, without a further process.
    fn leads_to_views(
        &mut self,
        scene: &Scene,
        (one, slot): (&Scene, Option<Slot>),
        steps: &Steps<'_, 'a, 'm>,
    ) -> Outcome<Option<Columns>> {
        let goes_round = |step: &Taken<'_>| self.goes_round[step.action.index()];
        let is_alone = one.seen().iter().flat_map(|&newest| steps(self, one, newest)).any(|step| goes_round(&step));
        if is_alone || self.text.local.len() > MOST_COLUMNS || n_open(self.text, scene, one) > MOST_OPEN {
            return Ok(None);
        }
        let anything_goes = |_: &Scene, _: [Slot; 2]| true;
        // Presences are looked at in all processes.
        let mut read: Columns = self.text.present.iter().fold(0, |read, presence| read | 1 << presence.column);
        let all = join(self.text, (scene, one), slot, &anything_goes).ok_or_else(no_room)?;
        if all.is_empty() {
            return Ok(None);
        }
        for (joined, newest) in all {
            for step in steps(self, &joined, newest) {
                if step.looker == Looker::Slot(newest) {
                    // Where it is says which steps it has.
                    read |= 1;
                }
                if present::absent(self.text, &joined, &self.text.written.actions[step.action]).is_some() {
                    return Ok(None);
                }
                let ways = self.ways(&joined, step, Some(newest))?;
                if !ways.is_good() {
                    return Ok(None);
                }
                self.discharged.non_interference += 1;
                read |= ways.read;
            }
        }
        Ok(Some(read))
    }

    /// Every way of a step leads to a view again, with every process that the way may depend on.
    fn step(&mut self, scene: &Scene, step: Taken<'_>) -> Outcome<()> {
        let action = &self.text.written.actions[step.action];
        if let Some(presence) = present::absent(self.text, scene, action) {
            let is_one = |checker: &Self, one: &Scene| present::is_one(checker.text, one, presence);
            return self.with_one_more(scene, Meant { slot: None, is_one: &is_one }, &|_, _, _| vec![step]);
        }
        let ways = self.ways(scene, step, None)?;
        if ways.is_lost {
            let text = &self.text.model.statements[action.statement].text;
            return words::refused("every step leads to a view again", format!("one by `{text}` does not"));
        }
        if let Some(span) = ways.uneven {
            return Err(self.uneven(End::Uneven(span)));
        }
        if ways.has_fault {
            self.can_fault = Some(step.action);
        }
        for slot in ways.wanted {
            let next = Taken { n_looked_at: step.n_looked_at + 1, ..step };
            self.with_one_more(scene, Meant { slot, is_one: &|_, _| true }, &|_, _, _| vec![next])?;
        }
        if ways.wants_witness {
            let next = Taken { n_witnesses: step.n_witnesses + 1, ..step };
            self.with_one_more(scene, Meant { slot: None, is_one: &|_, _| true }, &|_, _, _| vec![next])?;
        }
        Ok(())
    }

    /// All ways of a step, up to the first that leads to no view; what they read of a process is noted, if one is given.
    fn ways(&mut self, scene: &Scene, step: Taken<'_>, watched: Option<Slot>) -> Outcome<Ways> {
        let action = &self.text.written.actions[step.action];
        let n_slots = scene.slots.len();
        let mut ways = Ways::default();
        let mut next = Some(Decisions::default());
        while let Some(mut way) = next {
            self.pace()?;
            let mut look = Look {
                text: self.text,
                scene: scene.clone(),
                looker: step.looker,
                bound: Vec::new(),
                way: &mut way,
                guess_contents: step.n_looked_at >= MOST_LOOKED_AT,
                guess_witnesses: false,
                has_most_witnesses: step.n_witnesses >= MOST_WITNESSES,
                n_decided: 0,
                is_open: false,
                named: BTreeSet::new(),
                depth: 0,
                wrote_unseen: false,
                watched,
                read: 0,
            };
            let end = look.take(action);
            ways.read |= look.read;
            let is_of_use = match self.help[step.action.index()] {
                Help::Never => false,
                Help::Missing => end.is_err(),
                Help::Always => true,
            };
            ways.wants_witness |= is_of_use && look.is_open && step.n_witnesses < look.n_decided;
            let n_named = look.named.len();
            match end {
                Ok(()) => {
                    let ends = present::after(self.text, scene, look.scene, look.wrote_unseen);
                    let is_view =
                        |end: Scene| self.known.contains(&end.veiled(self.text).part(step.keep, self.text.is_ordered));
                    if !ends.into_iter().all(is_view) {
                        ways.is_lost = true;
                        return Ok(ways);
                    }
                }
                Err(End::No) => {}
                Err(End::Fault) => ways.has_fault = true,
                Err(End::Unseen(slot)) => {
                    // As often as the way has met a process by name.
                    if step.n_looked_at < n_named {
                        ways.wanted.insert(Some(slot).filter(|&slot| (slot as usize) < n_slots));
                    }
                }
                Err(End::Uneven(span)) => {
                    ways.uneven = Some(span);
                    return Ok(ways);
                }
            }
            next = way.following();
        }
        Ok(ways)
    }

    fn pace(&mut self) -> Outcome<()> {
        self.n_ways += 1;
        if self.n_ways.is_multiple_of(256) {
            self.budget.check(0)?;
        }
        Ok(())
    }

    /// No step of views is a fault, or no state made of them a deadlock.
    fn implication(&mut self, property: &PropertyKind) -> Outcome<()> {
        match property {
            PropertyKind::NoErrors => {
                self.discharged.implication += 1;
                let Some(action) = self.can_fault else { return Ok(()) };
                let text = &self.text.model.statements[self.text.model.actions[action].statement].text;
                words::refused("no step may be a fault", format!("`{text}` may be one"))
            }
            PropertyKind::DeadlockFree => self.no_deadlock(),
            _ => Err(CertificateError::NotSupported("views say nothing about this kind of property".to_owned())),
        }
    }

    /// No configuration made of views gives the expression the value.
    fn never(&mut self, expr: &'m Expr, bad: bool) -> Outcome<()> {
        let n_needed = n_quantified(self.text, expr);
        for at in 0..self.views.len() {
            let view = self.views[at].clone();
            self.excludes(&view, expr, (bad, n_needed), 0)?;
        }
        Ok(())
    }

    /// No value of the property is the bad one in a scene, nor in one with the processes that it takes, some of them because the property
    /// looks at them by name.
    fn excludes(
        &mut self,
        scene: &Scene,
        expr: &'m Expr,
        (bad, n_needed): (bool, usize),
        n_looked_at: usize,
    ) -> Outcome<()> {
        self.discharged.implication += 1;
        let mut wanted: BTreeSet<Option<Slot>> = BTreeSet::new();
        let mut next = Some(Decisions::default());
        while let Some(mut way) = next {
            self.pace()?;
            let mut look = Look {
                text: self.text,
                scene: scene.clone(),
                looker: Looker::Nobody,
                bound: Vec::new(),
                way: &mut way,
                guess_contents: n_looked_at >= MOST_LOOKED_AT,
                guess_witnesses: false,
                has_most_witnesses: false,
                n_decided: 0,
                is_open: false,
                named: BTreeSet::new(),
                depth: 0,
                wrote_unseen: false,
                watched: None,
                read: 0,
            };
            match look.holds(expr) {
                Ok(holds) if holds != bad => {}
                Err(End::No) => {}
                Err(End::Unseen(slot)) => {
                    wanted.insert(Some(slot).filter(|&slot| (slot as usize) < scene.slots.len()));
                }
                Ok(_) | Err(End::Fault) => {
                    return words::refused("no few processes may violate the property", "some that views allow do");
                }
                Err(end) => return Err(self.uneven(end)),
            }
            next = way.following();
        }
        for slot in wanted {
            for (joined, _) in self.joined(scene, slot, |_| true)? {
                self.excludes(&joined, expr, (bad, n_needed), n_looked_at + 1)?;
            }
        }
        if n_looked_at == 0 && scene.seen().len() < n_needed {
            for (joined, _) in self.joined(scene, None, |_| true)? {
                self.excludes(&joined, expr, (bad, n_needed), 0)?;
            }
        }
        Ok(())
    }
}

/// Whether a view hides only what a rule hides.
fn hides_by_rule(text: &Text<'_>, view: &evidence::views::View) -> bool {
    let is_hidden = |rule: &Hiding, at: ViewColumn, local: Option<&Vec<Item>>| {
        let shown = match (rule.when, local) {
            (None, _) => return rule.what == at,
            (Some(ViewColumn::Shared(when)), _) => Some(view.shared[when]),
            (Some(ViewColumn::Local(when)), local) => local.map(|local| local[when]),
        };
        rule.what == at && shown.is_some_and(|shown| rule.is.contains(&shown))
    };
    let allowed = |at: ViewColumn, local: Option<&Vec<Item>>| text.hidden.iter().any(|rule| is_hidden(rule, at, local));
    let shared = view.shared.iter().enumerate();
    let mut slots = view.slots.iter().flatten();
    shared.filter(|(_, item)| **item == Item::Hidden).all(|(at, _)| allowed(ViewColumn::Shared(at), None))
        && slots.all(|local| {
            let hidden = local.iter().enumerate().filter(|(_, item)| **item == Item::Hidden);
            hidden.into_iter().all(|(at, _)| allowed(ViewColumn::Local(at), Some(local)))
        })
}

/// What is shared, names of processes aside.
fn nameless(scene: &Scene) -> Vec<Item> {
    scene.shared.iter().map(unnamed).collect()
}

/// How many processes the quantifiers of an expression speak of.
fn n_quantified(text: &Text<'_>, expr: &Expr) -> usize {
    let over = |part: &&Expr| match &part.kind {
        ExprKind::Quantified(quantified) => {
            quantified.bindings.iter().filter(|binding| text.is_all(&binding.domain)).count()
        }
        _ => 0,
    };
    text::parts(expr).iter().map(over).sum()
}
