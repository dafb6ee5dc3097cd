//! The least set of views that is closed under steps: own ones, and those of a process that is not in the view.
//!
//! In: a program of the fragment and `k`. Out: a set `theta` of configurations with `k` seen processes each, such that every `k`
//! processes of every reachable state, for every number of processes from `k` on, look like one of them; and where a step may be
//! a fault. A step of a process outside the view is taken in the configuration of `k + 1` processes, all `k` of which are in `theta`;
//! so are further processes at which the step looks, or which decide a quantifier.
//!
//! A step depends on its mover, on the processes whose contents it looks at, and on one process for each quantifier that holds or fails
//! because of one: on these, and on any `k` others, a state of any size can be cut down, and the step stays possible. Near view
//! abstraction (Abdulla, Haziza and Holík, VMCAI 2013) and thread modularity at many levels (Hoenicke, Majumdar and
//! Podelski, POPL 2017).

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use base::{Budget, Span, StopReason};
use model::control::{Action, ActionId, PlaceId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::choices::Choices;
use crate::config::{Config, Item, Slot, subsets};
use crate::extend::key;
use crate::layout::SharedColumn;
use crate::packed::{Joined, Packed, Shape, Slots};
use crate::presence::{self, looked_for};
use crate::quantifiers::{Quantifiers, quantifiers};
use crate::sight::{Ground, Guessing, Halt, Needs, Sight, Who, truth};
use crate::start::initial;
use crate::support::{Support, is_private, support};

/// At most so many processes decide quantifiers of one step; where it may take more, it is guessed whether there are such.
const MOST_WITNESSES: usize = 2;

/// At most so many processes are looked at by one step; where it may be more, their contents are guessed.
const MOST_LOOKED_AT: usize = 3;

/// After so many steps the limits are looked at.
const STEPS_BETWEEN_CHECKS: usize = 256;

/// Why there is no set of views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A limit was reached.
    Stopped(StopReason),
    /// The text does something that is outside the fragment.
    Outside(Span),
    /// More steps were taken than views of so few processes are worth.
    TooMany,
    /// More processes would have to be named at once than configurations name.
    Full,
}

/// The views as configurations, and what may go wrong on the way.
#[derive(Clone, Debug, Default)]
pub struct Views {
    /// How many processes each view shows.
    pub k: usize,
    /// The views, in canonical form.
    pub theta: FxHashSet<Config>,
    /// The views of one process each, by the shared part.
    pub ones: FxHashMap<Vec<Item>, Vec<Config>>,
    /// Where a step may be a fault.
    pub faults: BTreeSet<Span>,
}

impl Views {
    /// A view of `k` processes, the newest one among them, that is not in `theta`.
    pub fn missing(&self, config: &Config, newest: Slot) -> Option<Config> {
        let others: Vec<Slot> = config.seen().filter(|&slot| slot != newest).collect();
        let mut missing = None;
        subsets(&others, self.k - 1, &mut |chosen| {
            let view = config.restricted(&[chosen, &[newest]].concat());
            let is_there = self.theta.contains(&view);
            if !is_there {
                missing = Some(view);
            }
            is_there
        });
        missing
    }
}

/// The views as rows of words.
#[derive(Debug)]
pub struct Closed {
    /// How many processes each view shows.
    pub k: usize,
    /// How rows are laid out.
    pub shape: Shape,
    /// The views, in canonical form.
    pub theta: FxHashSet<Packed>,
    /// Where a step may be a fault.
    pub faults: BTreeSet<Span>,
    /// The views of one process each, with those that share their shared part.
    groups: Vec<Vec<Packed>>,
    group_of: FxHashMap<Packed, usize>,
}

impl Closed {
    /// The views of one process that may be part of the same state as this row.
    pub fn ones(&self, row: &[u64]) -> &[Packed] {
        self.group_of.get(&self.shape.key(row)).map_or(&[], |&group| &self.groups[group])
    }

    /// A view of `k` processes, the newest one among them, that is not there.
    pub fn missing(&self, row: &[u64], newest: Slot) -> Option<Packed> {
        missing(&self.shape, &self.theta, (row, self.k), newest)
    }
}

/// A view of `k` processes of a row, the newest one among them, that is not in the set.
pub(crate) fn missing(
    shape: &Shape,
    theta: &FxHashSet<Packed>,
    (row, k): (&[u64], usize),
    newest: Slot,
) -> Option<Packed> {
    let seen = Shape::seen(row) & !(1 << newest);
    let others: Vec<Slot> = (0..32).filter(|slot| seen & 1 << slot != 0).collect();
    let mut missing = None;
    subsets(&others, k - 1, &mut |chosen| {
        let keep = chosen.iter().fold(1 << newest, |keep, slot| keep | 1 << slot);
        let view = shape.part(row, keep);
        let is_there = theta.contains(&view);
        if !is_there {
            missing = Some(view);
        }
        is_there
    });
    missing
}

/// A step to be taken.
#[derive(Clone, Debug)]
struct Job {
    row: Packed,
    /// The number of its shared part.
    group: usize,
    /// The processes of the view that the step changes.
    keep: Slots,
    mover: Who,
    /// The action; all of the mover's where none is given.
    action: Option<ActionId>,
    /// How many processes were added to decide quantifiers.
    witnesses: usize,
    /// How many were added because their contents matter.
    looked_at: usize,
    /// The process that was added last.
    newest: Option<Slot>,
}

/// A step that waits for one more process to be seen.
#[derive(Clone, Debug)]
struct Open {
    /// The step; its mover is the process to come where it is nobody.
    job: Job,
    /// The slot that the process is in, where that is known.
    only: Option<Slot>,
    /// The presence that the process accounts for, where it is seen for that.
    accounts_for: Option<usize>,
}

/// What is known of an action before it is taken.
pub(crate) struct About {
    /// At most so many processes decide its quantifiers.
    pub witnesses: usize,
    /// At the contents of at most so many processes it looks; `None` where they are guessed.
    pub looked_at: Option<usize>,
    /// How what is not seen is treated.
    pub guessing: Guessing,
    /// Whether it changes its mover only.
    is_private: bool,
    quantifiers: Quantifiers,
    /// The presences whose columns it looks at in all processes.
    looked_for: Vec<usize>,
}

/// Views with the same shared part, names of processes aside.
#[derive(Default)]
struct Group {
    ones: Vec<Packed>,
    open: Vec<Rc<Open>>,
}

struct Closure<'m, 'b> {
    ground: Ground<'m>,
    k: usize,
    shape: Shape,
    actions: Vec<About>,
    theta: FxHashSet<Packed>,
    faults: BTreeSet<Span>,
    groups: Vec<Group>,
    group_of: FxHashMap<Packed, usize>,
    parked: FxHashMap<Packed, Vec<Job>>,
    new_views: VecDeque<(Packed, usize)>,
    new_ones: VecDeque<(Packed, usize)>,
    ones: FxHashSet<Packed>,
    jobs: Vec<Job>,
    /// The places with actions that change more than the process itself.
    reaching_out: BTreeSet<PlaceId>,
    budget: &'b Budget,
    n_steps: usize,
    most_steps: usize,
    bytes: u64,
    /// Whether a process could not be seen for want of a slot; then nothing is proved.
    is_full: bool,
}

/// The views of `k` processes, as configurations.
///
/// # Errors
/// A limit, or something that is outside the fragment after all.
pub fn views(ground: Ground<'_>, k: usize, budget: &Budget) -> Result<Views, Failure> {
    let found = close(ground, k, usize::MAX, budget)?;
    let listed = |row: &Packed| found.shape.unpack(row).canonical();
    let mut ones: FxHashMap<Vec<Item>, Vec<Config>> = FxHashMap::default();
    for one in found.groups.iter().flatten().map(listed) {
        ones.entry(key(&one)).or_default().push(one);
    }
    Ok(Views { k, theta: found.theta.iter().map(listed).collect(), ones, faults: found.faults })
}

/// The views of `k` processes, found in at most so many steps.
///
/// # Errors
/// A limit, or something that is outside the fragment after all.
pub fn close(ground: Ground<'_>, k: usize, most_steps: usize, budget: &Budget) -> Result<Closed, Failure> {
    let starts = initial(ground, k).ok_or(Failure::Outside(Span::default()))?;
    let mut closure = Closure {
        ground,
        k,
        shape: Shape::new(ground.layout),
        actions: ground.model.actions.iter().map(|action| about(ground, action)).collect(),
        theta: FxHashSet::default(),
        faults: BTreeSet::new(),
        groups: Vec::new(),
        group_of: FxHashMap::default(),
        parked: FxHashMap::default(),
        new_views: VecDeque::new(),
        new_ones: VecDeque::new(),
        ones: FxHashSet::default(),
        jobs: Vec::new(),
        reaching_out: reaching_out(ground),
        budget,
        n_steps: 0,
        most_steps,
        bytes: 0,
        is_full: false,
    };
    for config in starts {
        closure.insert(config, Slots::MAX)?;
    }
    closure.close()?;
    if closure.is_full {
        return Err(Failure::Full);
    }
    Ok(Closed {
        k,
        shape: closure.shape,
        theta: closure.theta,
        faults: closure.faults,
        groups: closure.groups.into_iter().map(|group| group.ones).collect(),
        group_of: closure.group_of,
    })
}

fn reaching_out(ground: Ground<'_>) -> BTreeSet<PlaceId> {
    let actions = ground.model.actions.iter();
    actions.filter(|action| !concerns_itself(ground, action)).map(|action| action.source).collect()
}

/// Whether a step changes nothing that views of other processes show.
fn concerns_itself(ground: Ground<'_>, action: &Action) -> bool {
    ground.layout.present.is_empty() && is_private(ground.layout, action)
}

/// What is known of an action before it is taken.
pub(crate) fn about(ground: Ground<'_>, action: &Action) -> About {
    let Support { witnesses, looked_at } = support(ground.layout, action);
    let looked_at = looked_at.filter(|&bound| bound <= MOST_LOOKED_AT);
    About {
        witnesses,
        looked_at,
        guessing: Guessing { contents: looked_at.is_none(), witnesses: witnesses > MOST_WITNESSES },
        is_private: concerns_itself(ground, action),
        looked_for: looked_for(ground, action),
        quantifiers: quantifiers(ground.layout.family, action),
    }
}

impl Closure<'_, '_> {
    fn close(&mut self) -> Result<(), Failure> {
        loop {
            if let Some(job) = self.jobs.pop() {
                self.attempt(job)?;
            } else if let Some((one, group)) = self.new_ones.pop_front() {
                self.meet(one, group);
            } else if let Some((view, group)) = self.new_views.pop_front() {
                self.expand(&view, group);
            } else {
                return Ok(());
            }
        }
    }

    /// What these slots of a configuration look like is a view.
    fn insert(&mut self, config: Config, keep: Slots) -> Result<(), Failure> {
        let view = self.shape.pack(config, keep).ok_or(Failure::Outside(Span::default()))?;
        if self.theta.contains(&view) {
            return Ok(());
        }
        let key = self.shape.key(&view);
        let n_groups = self.groups.len();
        let group = *self.group_of.entry(key).or_insert(n_groups);
        if group == n_groups {
            self.groups.push(Group::default());
        }
        for slot in (0..32).filter(|slot| Shape::seen(&view) & 1 << slot != 0) {
            let one = self.shape.part(&view, 1 << slot);
            if self.ones.insert(one.clone()) {
                self.new_ones.push_back((one, group));
            }
        }
        self.bytes += weight(&view) * 2;
        self.jobs.extend(self.parked.remove(&view).unwrap_or_default());
        self.theta.insert(view.clone());
        self.new_views.push_back((view, group));
        Ok(())
    }

    /// Own steps of a view, and steps of one more process.
    fn expand(&mut self, view: &Packed, group: usize) {
        let keep = Shape::seen(view);
        let job = |mover| Job {
            row: view.clone(),
            group,
            keep,
            mover,
            action: None,
            witnesses: 0,
            looked_at: 0,
            newest: None,
        };
        let own = (0..32).filter(|slot| keep & 1 << slot != 0).map(Who::Slot);
        let others = self.ground.layout.shared.iter().filter_map(|column| match column {
            SharedColumn::Control(process) => Some(Who::Other(*process)),
            _ => None,
        });
        self.jobs.extend(own.chain(others).map(job));
        self.wait(Open { job: job(Who::Nobody), only: None, accounts_for: None });
    }

    /// Leaves a step open for every process that fits, now and later.
    fn wait(&mut self, open: Open) {
        let group = open.job.group;
        for at in 0..self.groups[group].ones.len() {
            let one = self.groups[group].ones[at].clone();
            self.join(&open, &one);
        }
        self.bytes += weight(&open.job.row);
        self.groups[group].open.push(Rc::new(open));
    }

    /// A new view of one process, for every step that is open.
    fn meet(&mut self, one: Packed, group: usize) {
        for at in 0..self.groups[group].open.len() {
            let open = Rc::clone(&self.groups[group].open[at]);
            self.join(&open, &one);
        }
        self.groups[group].ones.push(one);
    }

    fn join(&mut self, open: &Open, one: &Packed) {
        if open.job.mover == Who::Nobody && !self.touches_others(one) {
            return;
        }
        let seen = Shape::seen(one).trailing_zeros() as Slot;
        if open.accounts_for.is_some_and(|presence| !self.shape.has(one, seen, presence)) {
            return;
        }
        let Some(all) = self.shape.join(&open.job.row, one, open.only) else {
            self.is_full = true;
            return;
        };
        for Joined { packed, newest, moved } in all {
            let renamed = |slot: Slot| moved[slot as usize];
            let keep = { (0..32u8).filter(|slot| open.job.keep & 1 << slot != 0) }
                .fold(0, |keep, slot| keep | 1 << renamed(slot));
            let mover = match open.job.mover {
                Who::Nobody => Who::Slot(newest),
                Who::Slot(slot) => Who::Slot(renamed(slot)),
                other => other,
            };
            self.jobs.push(Job { row: packed, keep, mover, newest: Some(newest), ..open.job.clone() });
        }
    }

    /// Whether the one process that is seen may change more than itself in its next step.
    fn touches_others(&self, one: &Packed) -> bool {
        let slot = Shape::seen(one).trailing_zeros() as Slot;
        matches!(self.shape.place(one, slot), Item::Place(place) if self.reaching_out.contains(&place))
    }

    /// Takes a step if its configuration is made of views, or leaves it until it is.
    fn attempt(&mut self, job: Job) -> Result<(), Failure> {
        let missing = job.newest.and_then(|newest| missing(&self.shape, &self.theta, (&job.row, self.k), newest));
        if let Some(missing) = missing {
            self.bytes += weight(&job.row) * 2;
            self.parked.entry(missing).or_default().push(job);
            return Ok(());
        }
        let place = match job.mover {
            Who::Slot(slot) => Some(self.shape.place(&job.row, slot)),
            Who::Other(process) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(process));
                column.map(|column| self.shape.shared_item(&job.row, column))
            }
            Who::Nobody => None,
        };
        let Some(Item::Place(place)) = place else { return Ok(()) };
        let config = self.shape.unpack(&job.row);
        match job.action {
            Some(action) => self.step(&job, &config, action),
            None => {
                let model = self.ground.model;
                // A process outside the view that changes only itself changes nothing in the view.
                let is_inside = job.newest.is_none();
                let mut actions = model.places[place].actions.iter();
                actions.try_for_each(|&action| match is_inside || !self.actions[action.index()].is_private {
                    true => self.step(&job, &config, action),
                    false => Ok(()),
                })
            }
        }
    }

    /// All ways of an action, and what else would have to be seen.
    fn step(&mut self, job: &Job, config: &Config, id: ActionId) -> Result<(), Failure> {
        if let Some(presence) = unaccounted(self.ground, config, &self.actions[id.index()]) {
            let job = Job { action: Some(id), ..job.clone() };
            self.wait(Open { job, only: None, accounts_for: Some(presence) });
            return Ok(());
        }
        let &About { witnesses: most, looked_at, guessing, quantifiers, .. } = &self.actions[id.index()];
        let mut choices = Choices::default();
        let mut slots: BTreeSet<Slot> = BTreeSet::new();
        let mut witness = false;
        loop {
            self.check()?;
            let mut sight = Sight {
                ground: self.ground,
                config: config.clone(),
                me: job.mover,
                bound: Vec::new(),
                guessing,
                choices: &mut choices,
                needs: Needs::default(),
            };
            let done = sight.act(id);
            let (after, needs) = (sight.config, sight.needs);
            slots.extend(needs.slot);
            // One more process can only block a step whose tests hold, and cannot help one with tests that only fail by it.
            let is_of_use = quantifiers.decide || quantifiers.enable && done.is_err();
            witness |= needs.witness && is_of_use;
            match done {
                Ok(()) => self.leave((config, after), needs.wrote_unseen, job.keep)?,
                Err(Halt::Fault(span)) => drop(self.faults.insert(span)),
                Err(Halt::Blocked | Halt::Unseen) => {}
                Err(Halt::Outside(span)) => return Err(Failure::Outside(span)),
            }
            if !choices.advance() {
                break;
            }
        }
        let known = config.slots.len();
        for slot in slots.into_iter().filter(|_| looked_at.is_some_and(|bound| job.looked_at < bound)) {
            // A slot that the step itself made is any process that is not seen yet.
            let only = Some(slot).filter(|&slot| (slot as usize) < known);
            let job = Job { action: Some(id), looked_at: job.looked_at + 1, ..job.clone() };
            self.wait(Open { job, only, accounts_for: None });
        }
        if witness && job.witnesses < most {
            let job = Job { action: Some(id), witnesses: job.witnesses + 1, ..job.clone() };
            self.wait(Open { job, only: None, accounts_for: None });
        }
        Ok(())
    }

    /// What a step leaves behind, with all that may be said of presences.
    fn leave(&mut self, (before, after): (&Config, Config), wrote_unseen: bool, keep: Slots) -> Result<(), Failure> {
        let layout = self.ground.layout;
        let mut all = vec![after];
        for presence in 0..layout.present.len() {
            let said = presence::after(layout, (before, &all[0]), presence, wrote_unseen);
            all = { all.iter() }
                .flat_map(|config| said.iter().map(move |&is_there| (config, is_there)))
                .map(|(config, is_there)| {
                    let mut config = config.clone();
                    config.shared[layout.first_presence() + presence] = truth(is_there);
                    config
                })
                .collect();
        }
        all.into_iter().try_for_each(|config| self.insert(config, keep))
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            self.budget.check(self.bytes).map_err(Failure::Stopped)?;
        }
        if self.is_full {
            return Err(Failure::Full);
        }
        if self.n_steps > self.most_steps {
            return Err(Failure::TooMany);
        }
        Ok(())
    }
}

/// A presence that the action looks for, and that no seen process accounts for.
pub(crate) fn unaccounted(ground: Ground<'_>, config: &Config, about: &About) -> Option<usize> {
    let layout = ground.layout;
    let is_said = |presence: usize| config.shared[layout.first_presence() + presence] == truth(true);
    let looked_for = about.looked_for.iter().copied();
    { looked_for }.find(|&presence| is_said(presence) && !presence::is_seen(layout, config, presence))
}

fn weight(row: &Packed) -> u64 {
    (row.len() * size_of::<u64>() + 64) as u64
}
