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

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::rc::Rc;

use base::{Budget, Span, StopReason};
use model::control::{Action, ActionId, PlaceId, Stmt, StmtKind};
use model::process::FamilyId;
use model::statements::statements;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::alike::{Alike, Columns, MOST_COLUMNS};
use crate::choices::Choices;
use crate::configuration::{Configuration, Item, Slot, subsets};
use crate::extend::key;
use crate::layout::{SharedColumn, is_over};
use crate::origin::{Origin, Origins, Reliance, reliance};
use crate::packed::{Joined, Packed, Scratch, Shape, Slots};
use crate::presence::{self, looked_for};
use crate::quantifiers::{Quantifiers, quantifiers};
use crate::sight::{Ground, Guessing, Halt, Needs, Sight, Who, truth};
use crate::start::{StartLimits, initial};
use crate::support::{Support, is_private, support};

/// At most so many processes decide quantifiers of one step; where it may take more, it is guessed whether there are such.
const MOST_WITNESSES: usize = 2;

/// At most so many processes are looked at by one step; where it may be more, their contents are guessed.
const MOST_LOOKED_AT: usize = 3;

/// A step with one more process is tried only where there are at most so many ways in which it may be there.
const MOST_WAYS_TO_TRY: usize = 64;

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
    /// The views that were found are enough to see that they prove nothing.
    OfNoUse,
    /// More processes would have to be named at once than configurations name.
    Full,
}

/// The views as configurations, and what may go wrong on the way.
#[derive(Clone, Debug, Default)]
pub struct Views {
    /// How many processes each view shows.
    pub k: usize,
    /// The views, in canonical form.
    pub theta: FxHashSet<Configuration>,
    /// The views of one process each, by the shared part.
    pub ones: FxHashMap<Vec<Item>, Vec<Configuration>>,
    /// Where a step may be a fault.
    pub faults: BTreeSet<Span>,
}

impl Views {
    /// A view of `k` processes, the newest one among them, that is not in `theta`.
    pub fn missing(&self, config: &Configuration, newest: Slot) -> Option<Configuration> {
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
    /// The first step that may be a fault.
    first_fault: Option<Origin>,
    /// The views of one process each, with those that share their shared part.
    groups: Vec<Vec<Packed>>,
    group_of: FxHashMap<Packed, usize>,
    origins: Origins,
}

/// What bounds a set of views.
pub struct CloseLimits<'a> {
    /// More steps than this are not taken.
    pub most_steps: usize,
    /// With so many views it is asked whether they are of any use, and whenever there are twice as many.
    pub first_look: usize,
    /// Time and memory.
    pub budget: &'a Budget,
    /// Whether the views that there are so far show already that nothing will be proved.
    pub is_of_no_use: &'a mut dyn FnMut(&Closed) -> Result<bool, StopReason>,
}

impl Closed {
    fn new(ground: Ground<'_>, k: usize) -> Closed {
        Closed {
            k,
            shape: Shape::new(ground.layout),
            theta: FxHashSet::default(),
            faults: BTreeSet::new(),
            first_fault: None,
            groups: Vec::new(),
            group_of: FxHashMap::default(),
            origins: Origins::default(),
        }
    }

    /// What the steps relied on that led to a configuration that is made of views.
    pub fn reliance(&self, row: &[u64]) -> Reliance {
        reliance(&self.shape, self.k, &self.origins, row)
    }

    /// What the first fault relied on that was found.
    pub fn reliance_of_fault(&self) -> Reliance {
        let Some(fault) = &self.first_fault else { return Reliance::default() };
        let mut found = self.reliance(&fault.row);
        found.hidden.extend(&fault.hidden);
        found.is_witnessed |= fault.is_witnessed;
        found
    }

    /// The views of one process that may be part of the same state as this row.
    pub fn ones(&self, row: &[u64]) -> &[Packed] {
        self.group_of.get(&self.shape.key(row)).map_or(&[], |&group| &self.groups[group])
    }

    /// A view of `k` processes, the newest one among them, that is not there.
    pub fn missing(&self, row: &[u64], newest: Slot) -> Option<Packed> {
        missing(&self.shape, &self.theta, (row, self.k), newest, &mut Scratch::default())
    }
}

/// A view of `k` processes of a row, the newest one among them, that is not in the set.
pub(crate) fn missing(
    shape: &Shape,
    theta: &FxHashSet<Packed>,
    (row, k): (&[u64], usize),
    newest: Slot,
    scratch: &mut Scratch,
) -> Option<Packed> {
    let seen = Shape::seen(row) & !(1 << newest);
    let mut missing = None;
    each_subset(seen, k - 1, &mut |chosen| {
        let view = shape.part_in(row, chosen | 1 << newest, scratch);
        let is_there = theta.contains(view);
        if !is_there {
            missing = Some(view.into());
        }
        is_there
    });
    missing
}

/// Shows all sets of `n` of these slots, until one is refused; whether none was.
pub(crate) fn each_subset(slots: Slots, n: usize, visit: &mut impl FnMut(Slots) -> bool) -> bool {
    fn go(rest: Slots, n: usize, chosen: Slots, visit: &mut impl FnMut(Slots) -> bool) -> bool {
        if n == 0 {
            return visit(chosen);
        }
        let mut rest = rest;
        while rest.count_ones() as usize >= n {
            let first = 1 << rest.trailing_zeros();
            rest &= !first;
            if !go(rest, n - 1, chosen | first, visit) {
                return false;
            }
        }
        true
    }
    go(slots, n, 0, visit)
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
    /// The step that it was added to.
    added: Option<Rc<Pair>>,
}

/// A step that waits for one more process, and a view of such a process.
#[derive(Debug)]
struct Pair {
    open: Rc<Open>,
    one: Packed,
}

/// A step that waits for one more process to be seen.
#[derive(Debug)]
struct Open {
    /// The step; its mover is the process to come where it is nobody.
    job: Job,
    /// The slot that the process is in, where that is known.
    only: Option<Slot>,
    /// The presence that the process accounts for, where it is seen for that.
    accounts_for: Option<usize>,
    /// Which processes make no difference.
    alike: RefCell<Alike>,
}

impl Open {
    fn new(job: Job, only: Option<Slot>, accounts_for: Option<usize>) -> Open {
        Open { job, only, accounts_for, alike: RefCell::default() }
    }
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
    /// Whether it goes through all processes in a loop: then all that they have is read.
    goes_round: bool,
    quantifiers: Quantifiers,
    /// The presences whose columns it looks at in all processes.
    looked_for: Vec<usize>,
}

struct Closure<'m, 'b> {
    ground: Ground<'m>,
    k: usize,
    actions: Vec<About>,
    /// What is found.
    known: Closed,
    /// The steps that wait for one more process, by the shared part.
    open: Vec<Vec<Rc<Open>>>,
    parked: FxHashMap<Packed, Vec<Job>>,
    new_views: VecDeque<(Packed, usize)>,
    new_ones: VecDeque<(Packed, usize)>,
    /// Steps with one more process, to be looked at when nothing else is left: by then most of what they lead to is there.
    pairs: VecDeque<Pair>,
    ones: FxHashSet<Packed>,
    jobs: Vec<Job>,
    /// The places with actions that change more than the process itself.
    reaching_out: BTreeSet<PlaceId>,
    limits: CloseLimits<'b>,
    n_steps: usize,
    /// It is asked whether views are of use when there are so many.
    next_look: usize,
    bytes: u64,
    /// Whether a process could not be seen for want of a slot; then nothing is proved.
    is_full: bool,
    /// The configuration that a step changes.
    after: Configuration,
    scratch: Scratch,
}

/// The views of `k` processes, as configurations.
///
/// # Errors
/// A limit, or something that is outside the fragment after all.
pub fn views(ground: Ground<'_>, k: usize, budget: &Budget) -> Result<Views, Failure> {
    let is_of_no_use = &mut |_: &Closed| Ok(false);
    let limits = CloseLimits { most_steps: usize::MAX, first_look: usize::MAX, budget, is_of_no_use };
    let found = close(ground, k, limits)?;
    let listed = |row: &Packed| found.shape.unpack(row).canonical();
    let mut ones: FxHashMap<Vec<Item>, Vec<Configuration>> = FxHashMap::default();
    for one in found.groups.iter().flatten().map(listed) {
        ones.entry(key(&one)).or_default().push(one);
    }
    Ok(Views { k, theta: found.theta.iter().map(listed).collect(), ones, faults: found.faults })
}

/// The views of `k` processes, found within limits.
///
/// # Errors
/// A limit, something that is outside the fragment after all, or views of no use.
pub fn close(ground: Ground<'_>, k: usize, limits: CloseLimits<'_>) -> Result<Closed, Failure> {
    let starts = initial(ground, k, StartLimits { most: limits.most_steps, budget: limits.budget })?;
    let mut closure = Closure {
        ground,
        k,
        actions: ground.model.actions.iter().map(|action| about(ground, action)).collect(),
        known: Closed::new(ground, k),
        open: Vec::new(),
        parked: FxHashMap::default(),
        new_views: VecDeque::new(),
        new_ones: VecDeque::new(),
        pairs: VecDeque::new(),
        ones: FxHashSet::default(),
        jobs: Vec::new(),
        reaching_out: reaching_out(ground),
        next_look: limits.first_look,
        limits,
        n_steps: 0,
        bytes: 0,
        is_full: false,
        after: Configuration::default(),
        scratch: Scratch::default(),
    };
    for mut config in starts {
        closure.insert(&mut config, Slots::MAX, None)?;
    }
    closure.close()?;
    if closure.is_full {
        return Err(Failure::Full);
    }
    Ok(closure.known)
}

fn goes_round(family: FamilyId, block: &[Stmt]) -> bool {
    statements(block)
        .any(|statement| matches!(&statement.kind, StmtKind::For(binding, _) if is_over(&binding.domain, family)))
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
        goes_round: goes_round(ground.layout.family, &action.body),
        looked_for: looked_for(ground, action),
        quantifiers: quantifiers(ground, action),
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
                self.look()?;
                self.expand(&view, group);
            } else if let Some(pair) = self.pairs.pop_front() {
                self.join(pair)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Gives up as soon as there are enough views to see that they are of no use.
    fn look(&mut self) -> Result<(), Failure> {
        if self.known.theta.len() < self.next_look {
            return Ok(());
        }
        self.next_look = 2 * self.known.theta.len();
        match (self.limits.is_of_no_use)(&self.known) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Failure::OfNoUse),
            Err(reason) => Err(Failure::Stopped(reason)),
        }
    }

    /// What these slots of a configuration look like is a view.
    fn insert(&mut self, config: &mut Configuration, keep: Slots, from: Option<Origin>) -> Result<(), Failure> {
        let view = self.known.shape.pack(config, keep, &mut self.scratch).ok_or(Failure::Outside(Span::default()))?;
        if self.known.theta.contains(view) {
            return Ok(());
        }
        let view: Packed = view.into();
        let key = self.known.shape.key(&view);
        let n_groups = self.open.len();
        let group = *self.known.group_of.entry(key).or_insert(n_groups);
        if group == n_groups {
            self.open.push(Vec::new());
            self.known.groups.push(Vec::new());
        }
        for slot in (0..32).filter(|slot| Shape::seen(&view) & 1 << slot != 0) {
            let one = self.known.shape.part(&view, 1 << slot);
            if self.ones.insert(one.clone()) {
                self.new_ones.push_back((one, group));
            }
        }
        self.bytes += weight(&view) * 2;
        if let Some(from) = from {
            self.bytes += weight(&from.row);
            self.known.origins.insert(view.clone(), from);
        }
        self.jobs.extend(self.parked.remove(&view).unwrap_or_default());
        self.known.theta.insert(view.clone());
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
            added: None,
        };
        let own = (0..32).filter(|slot| keep & 1 << slot != 0).map(Who::Slot);
        let others = self.ground.layout.shared.iter().filter_map(|column| match column {
            SharedColumn::Control(process) => Some(Who::Other(*process)),
            _ => None,
        });
        self.jobs.extend(own.chain(others).map(job));
        self.wait(Open::new(job(Who::Nobody), None, None));
    }

    /// Leaves a step open for every process that fits, now and later.
    fn wait(&mut self, open: Open) {
        let open = Rc::new(open);
        let group = open.job.group;
        self.bytes += weight(&open.job.row);
        for at in 0..self.known.groups[group].len() {
            let one = self.known.groups[group][at].clone();
            self.pair(&open, one);
        }
        self.open[group].push(open);
    }

    /// A new view of one process, for every step that is open.
    fn meet(&mut self, one: Packed, group: usize) {
        for at in 0..self.open[group].len() {
            let open = Rc::clone(&self.open[group][at]);
            self.pair(&open, one.clone());
        }
        self.known.groups[group].push(one);
    }

    /// A process for a step, unless it has none, or is not one of those that are meant.
    fn pair(&mut self, open: &Rc<Open>, one: Packed) {
        if open.job.mover == Who::Nobody && !self.touches_others(&one) {
            return;
        }
        let seen = Shape::seen(&one).trailing_zeros() as Slot;
        if open.accounts_for.is_some_and(|presence| !self.known.shape.has(&one, seen, presence)) {
            return;
        }
        self.pairs.push_back(Pair { open: Rc::clone(open), one });
    }

    /// Takes a step with one more process in every way in which it may be there, unless all of them lead to what is known.
    fn join(&mut self, pair: Pair) -> Result<(), Failure> {
        let (open, one) = (&pair.open, &pair.one);
        if open.alike.borrow().leads(&self.known.shape, one, &mut self.scratch) {
            return Ok(());
        }
        let Some(all) = self.known.shape.join(&open.job.row, one, open.only) else {
            self.is_full = true;
            return Ok(());
        };
        if all.is_empty() {
            return Ok(());
        }
        let is_tried = all.len() <= MOST_WAYS_TO_TRY
            && self.known.shape.n_columns() <= MOST_COLUMNS
            && open.alike.borrow().is_worth_trying(&self.known.shape, one, &mut self.scratch);
        let jobs: Vec<Job> = all.into_iter().map(|joined| job_with(open, joined)).collect();
        let goes_round = |job: &Job| self.actions_of(job).iter().any(|id| self.actions[id.index()].goes_round);
        if is_tried && !jobs.first().is_some_and(goes_round) {
            let (is_led, read) = self.lead_to_views(&jobs)?;
            let mut alike = open.alike.borrow_mut();
            if is_led {
                alike.add_led(&self.known.shape, one, read);
                return Ok(());
            }
            alike.add_failed(&self.known.shape, one, read);
        }
        let added = Some(Rc::new(pair));
        self.jobs.extend(jobs.into_iter().map(|job| Job { added: added.clone(), ..job }));
        Ok(())
    }

    /// Whether all ways of steps lead to views that are known, be their configurations made of views or not; and what they read of the newest process.
    fn lead_to_views(&mut self, jobs: &[Job]) -> Result<(bool, Columns), Failure> {
        // Presences are looked at in all processes.
        let present = self.ground.layout.present.iter();
        let mut read: Columns = present.fold(0, |read, presence| read | 1 << presence.column);
        for job in jobs {
            if job.newest.map(Who::Slot) == Some(job.mover) {
                // Control says which steps there are.
                read |= 1;
            }
            let config = self.known.shape.unpack(&job.row);
            for action in self.actions_of(job) {
                let is_led = self.leads_to_views(job, &config, (action, &mut read))?;
                if !is_led {
                    return Ok((false, read));
                }
            }
        }
        Ok((true, read))
    }

    fn leads_to_views(
        &mut self,
        job: &Job,
        config: &Configuration,
        (id, read): (ActionId, &mut Columns),
    ) -> Result<bool, Failure> {
        if unaccounted(self.ground, config, &self.actions[id.index()]).is_some() {
            return Ok(false);
        }
        let &About { guessing, quantifiers, .. } = &self.actions[id.index()];
        let mut choices = Choices::watching(job.newest);
        let is_led = loop {
            self.check()?;
            let mut sight = Sight {
                ground: self.ground,
                config: self.copied(config),
                me: job.mover,
                bound: Vec::new(),
                guessing,
                choices: &mut choices,
                needs: Needs::default(),
            };
            let done = sight.act(id);
            let (mut after, needs) = (sight.config, sight.needs);
            let is_of_use = quantifiers.decide || quantifiers.enable && done.is_err();
            let is_complete = needs.slot.is_none() && !(needs.witness && is_of_use);
            let is_led = match done {
                Ok(()) if self.ground.layout.present.is_empty() => self.is_view(&mut after, job.keep),
                Ok(()) => {
                    let mut left = self.left((config, &after), needs.wrote_unseen);
                    left.iter_mut().all(|after| self.is_view(after, job.keep))
                }
                Err(Halt::Blocked) => true,
                Err(Halt::Fault(_) | Halt::Unseen | Halt::Outside(_)) => false,
            };
            self.after = after;
            if !is_complete || !is_led {
                break false;
            }
            if !choices.advance() {
                break true;
            }
        };
        *read |= choices.read;
        Ok(is_led)
    }

    /// Whether the one process that is seen may change more than itself in its next step.
    fn touches_others(&self, one: &Packed) -> bool {
        let slot = Shape::seen(one).trailing_zeros() as Slot;
        matches!(self.known.shape.place(one, slot), Item::Place(place) if self.reaching_out.contains(&place))
    }

    /// Takes a step if its configuration is made of views, or leaves it until it is.
    fn attempt(&mut self, job: Job) -> Result<(), Failure> {
        let scratch = &mut self.scratch;
        if job.added.as_ref().is_some_and(|pair| pair.open.alike.borrow().leads(&self.known.shape, &pair.one, scratch))
        {
            return Ok(());
        }
        let missing = job
            .newest
            .and_then(|newest| missing(&self.known.shape, &self.known.theta, (&job.row, self.k), newest, scratch));
        if let Some(missing) = missing {
            self.bytes += weight(&job.row) * 2;
            self.parked.entry(missing).or_default().push(job);
            return Ok(());
        }
        let actions = self.actions_of(&job);
        if actions.is_empty() {
            return Ok(());
        }
        let config = self.known.shape.unpack(&job.row);
        actions.into_iter().try_for_each(|action| self.step(&job, &config, action))
    }

    /// The actions that a step may be.
    fn actions_of(&self, job: &Job) -> Vec<ActionId> {
        if let Some(action) = job.action {
            return vec![action];
        }
        let place = match job.mover {
            Who::Slot(slot) => Some(self.known.shape.place(&job.row, slot)),
            Who::Other(process) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(process));
                column.map(|column| self.known.shape.shared_item(&job.row, column))
            }
            Who::Nobody => None,
        };
        let Some(Item::Place(place)) = place else { return Vec::new() };
        // A process outside the view that changes only itself changes nothing in the view.
        let is_inside = job.newest.is_none();
        let actions = self.ground.model.places[place].actions.iter().copied();
        actions.filter(|action| is_inside || !self.actions[action.index()].is_private).collect()
    }

    /// All ways of an action, and what else would have to be seen.
    fn step(&mut self, job: &Job, config: &Configuration, id: ActionId) -> Result<(), Failure> {
        if let Some(presence) = unaccounted(self.ground, config, &self.actions[id.index()]) {
            let job = Job { action: Some(id), ..job.clone() };
            self.wait(Open::new(job, None, Some(presence)));
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
                config: self.copied(config),
                me: job.mover,
                bound: Vec::new(),
                guessing,
                choices: &mut choices,
                needs: Needs::default(),
            };
            let done = sight.act(id);
            let (mut after, needs) = (sight.config, sight.needs);
            slots.extend(needs.slot);
            // One more process can only block a step whose tests hold, and cannot help one with tests that only fail by it.
            let is_of_use = quantifiers.decide || quantifiers.enable && done.is_err();
            witness |= needs.witness && is_of_use;
            match done {
                Ok(()) => self.leave((config, &mut after), needs, job)?,
                Err(Halt::Fault(span)) => {
                    self.known.faults.insert(span);
                    self.known.first_fault.get_or_insert_with(|| origin(job, needs));
                }
                Err(Halt::Blocked | Halt::Unseen) => {}
                Err(Halt::Outside(span)) => return Err(Failure::Outside(span)),
            }
            self.after = after;
            if !choices.advance() {
                break;
            }
        }
        let known = config.slots.len();
        for slot in slots.into_iter().filter(|_| looked_at.is_some_and(|bound| job.looked_at < bound)) {
            // A slot that the step itself made is any process that is not seen yet.
            let only = Some(slot).filter(|&slot| (slot as usize) < known);
            let job = Job { action: Some(id), looked_at: job.looked_at + 1, ..job.clone() };
            self.wait(Open::new(job, only, None));
        }
        if witness && job.witnesses < most {
            let job = Job { action: Some(id), witnesses: job.witnesses + 1, ..job.clone() };
            self.wait(Open::new(job, None, None));
        }
        Ok(())
    }

    /// What a step leaves behind is a view.
    fn leave(&mut self, steps: (&Configuration, &mut Configuration), needs: Needs, job: &Job) -> Result<(), Failure> {
        let (before, after) = steps;
        if self.ground.layout.present.is_empty() {
            return self.insert(after, job.keep, Some(origin(job, needs)));
        }
        let mut left = self.left((before, after), needs.wrote_unseen);
        let from = origin(job, needs);
        left.iter_mut().try_for_each(|config| self.insert(config, job.keep, Some(from.clone())))
    }

    /// Whether what these slots of a configuration look like is a view that is known.
    fn is_view(&mut self, config: &mut Configuration, keep: Slots) -> bool {
        self.known.shape.pack(config, keep, &mut self.scratch).is_some_and(|view| self.known.theta.contains(view))
    }

    /// A configuration for a step to change.
    fn copied(&mut self, config: &Configuration) -> Configuration {
        let mut after = mem::take(&mut self.after);
        after.clone_from(config);
        after
    }

    /// What a step leaves behind, with all that may be said of presences.
    fn left(&self, (before, after): (&Configuration, &Configuration), wrote_unseen: bool) -> Vec<Configuration> {
        let layout = self.ground.layout;
        let mut all = vec![after.clone()];
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
        all
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            self.limits.budget.check(self.bytes).map_err(Failure::Stopped)?;
        }
        if self.is_full {
            return Err(Failure::Full);
        }
        if self.n_steps > self.limits.most_steps {
            return Err(Failure::TooMany);
        }
        Ok(())
    }
}

/// The step with one more process.
fn job_with(open: &Open, Joined { packed, newest, moved }: Joined) -> Job {
    let renamed = |slot: Slot| moved[slot as usize];
    let keep =
        { (0..32u8).filter(|slot| open.job.keep & 1 << slot != 0) }.fold(0, |keep, slot| keep | 1 << renamed(slot));
    let mover = match open.job.mover {
        Who::Nobody => Who::Slot(newest),
        Who::Slot(slot) => Who::Slot(renamed(slot)),
        other => other,
    };
    Job { row: packed, keep, mover, newest: Some(newest), added: None, ..open.job.clone() }
}

/// A presence that the action looks for, and that no seen process accounts for.
pub(crate) fn unaccounted(ground: Ground<'_>, config: &Configuration, about: &About) -> Option<usize> {
    let layout = ground.layout;
    let is_said = |presence: usize| config.shared[layout.first_presence() + presence] == truth(true);
    let looked_for = about.looked_for.iter().copied();
    { looked_for }.find(|&presence| is_said(presence) && !presence::is_seen(layout, config, presence))
}

/// Where a view comes from that a step leaves behind.
fn origin(job: &Job, needs: Needs) -> Origin {
    Origin { row: job.row.clone(), hidden: needs.hidden, is_witnessed: job.witnesses > 0 }
}

fn weight(row: &Packed) -> u64 {
    (row.len() * size_of::<u64>() + 64) as u64
}
