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

use base::{Budget, Span, StopReason};
use model::control::{ActionId, PlaceId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::choices::Choices;
use crate::config::{Config, Item, Slot, subsets};
use crate::extend::{Extended, extensions, key};
use crate::layout::SharedColumn;
use crate::sight::{Ground, Guessing, Halt, Needs, Sight, Who};
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
}

/// The views, and what may go wrong on the way.
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

/// A step to be taken.
#[derive(Clone, Debug)]
struct Job {
    config: Config,
    /// The processes of the view that the step changes.
    keep: Vec<Slot>,
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
}

struct Closure<'m, 'b> {
    ground: Ground<'m>,
    views: Views,
    open: FxHashMap<Vec<Item>, Vec<Open>>,
    parked: FxHashMap<Config, Vec<Job>>,
    new_views: VecDeque<Config>,
    new_ones: VecDeque<Config>,
    ones: FxHashSet<Config>,
    jobs: Vec<Job>,
    /// The places with actions that change more than the process itself.
    reaching_out: BTreeSet<PlaceId>,
    budget: &'b Budget,
    n_steps: usize,
    bytes: u64,
}

/// The views of `k` processes.
///
/// # Errors
/// A limit, or something that is outside the fragment after all.
pub fn views(ground: Ground<'_>, k: usize, budget: &Budget) -> Result<Views, Failure> {
    let starts = initial(ground, k).ok_or(Failure::Outside(Span::default()))?;
    let mut closure = Closure {
        ground,
        views: Views { k, ..Views::default() },
        open: FxHashMap::default(),
        parked: FxHashMap::default(),
        new_views: VecDeque::new(),
        new_ones: VecDeque::new(),
        ones: FxHashSet::default(),
        jobs: Vec::new(),
        reaching_out: reaching_out(ground),
        budget,
        n_steps: 0,
        bytes: 0,
    };
    starts.into_iter().for_each(|config| closure.insert(config));
    closure.close()?;
    Ok(closure.views)
}

fn reaching_out(ground: Ground<'_>) -> BTreeSet<PlaceId> {
    let actions = ground.model.actions.iter();
    actions.filter(|action| !is_private(ground.layout, action)).map(|action| action.source).collect()
}

impl Closure<'_, '_> {
    fn close(&mut self) -> Result<(), Failure> {
        loop {
            if let Some(job) = self.jobs.pop() {
                self.attempt(job)?;
            } else if let Some(one) = self.new_ones.pop_front() {
                self.meet(one);
            } else if let Some(view) = self.new_views.pop_front() {
                self.expand(view);
            } else {
                return Ok(());
            }
        }
    }

    fn insert(&mut self, config: Config) {
        if self.views.theta.contains(&config) {
            return;
        }
        for slot in config.seen() {
            let one = config.restricted(&[slot]);
            if self.ones.insert(one.clone()) {
                self.new_ones.push_back(one);
            }
        }
        self.bytes += weight(&config) * 2;
        self.jobs.extend(self.parked.remove(&config).unwrap_or_default());
        self.views.theta.insert(config.clone());
        self.new_views.push_back(config);
    }

    /// Own steps of a view, and steps of one more process.
    fn expand(&mut self, view: Config) {
        let keep: Vec<Slot> = view.seen().collect();
        let others = self.ground.layout.shared.iter().filter_map(|column| match column {
            SharedColumn::Control(process) => Some(Who::Other(*process)),
            _ => None,
        });
        let job = |mover| Job {
            config: view.clone(),
            keep: keep.clone(),
            mover,
            action: None,
            witnesses: 0,
            looked_at: 0,
            newest: None,
        };
        let own: Vec<Job> = keep.iter().map(|&slot| Who::Slot(slot)).chain(others).map(job).collect();
        self.jobs.extend(own);
        self.wait(Open { job: job(Who::Nobody), only: None });
    }

    /// Leaves a step open for every process that fits, now and later.
    fn wait(&mut self, open: Open) {
        let key = key(&open.job.config);
        let jobs: Vec<Job> =
            self.views.ones.get(&key).into_iter().flatten().flat_map(|one| self.joined(&open, one)).collect();
        self.jobs.extend(jobs);
        self.bytes += weight(&open.job.config);
        self.open.entry(key).or_default().push(open);
    }

    /// A new view of one process, for every step that is open.
    fn meet(&mut self, one: Config) {
        let key = key(&one);
        let jobs: Vec<Job> =
            self.open.get(&key).into_iter().flatten().flat_map(|open| self.joined(open, &one)).collect();
        self.jobs.extend(jobs);
        self.views.ones.entry(key).or_default().push(one);
    }

    fn joined(&self, open: &Open, one: &Config) -> Vec<Job> {
        if open.job.mover == Who::Nobody && !self.touches_others(one) {
            return Vec::new();
        }
        let extended = extensions(self.ground.layout, &open.job.config, one, open.only);
        let job = |Extended { config, newest }| Job {
            config,
            mover: if open.job.mover == Who::Nobody { Who::Slot(newest) } else { open.job.mover },
            newest: Some(newest),
            ..open.job.clone()
        };
        extended.into_iter().map(job).collect()
    }

    /// Whether the one process that is seen may change more than itself in its next step.
    fn touches_others(&self, one: &Config) -> bool {
        let place = one.slots.iter().flatten().next().map(|local| local[0]);
        matches!(place, Some(Item::Place(place)) if self.reaching_out.contains(&place))
    }

    /// Takes a step if its configuration is made of views, or leaves it until it is.
    fn attempt(&mut self, job: Job) -> Result<(), Failure> {
        if let Some(missing) = job.newest.and_then(|newest| self.views.missing(&job.config, newest)) {
            self.bytes += weight(&job.config) * 2;
            self.parked.entry(missing).or_default().push(job);
            return Ok(());
        }
        let place = match job.mover {
            Who::Slot(slot) => job.config.slots[slot as usize].as_ref().map(|local| local[0]),
            Who::Other(process) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(process));
                column.map(|column| job.config.shared[column])
            }
            Who::Nobody => None,
        };
        let Some(Item::Place(place)) = place else { return Ok(()) };
        match job.action {
            Some(action) => self.step(&job, action),
            None => {
                let model = self.ground.model;
                // A process outside the view that changes only itself changes nothing in the view.
                let is_inside = job.newest.is_none();
                let mut matters = model.places[place]
                    .actions
                    .iter()
                    .filter(|&&action| is_inside || !is_private(self.ground.layout, &model.actions[action]));
                matters.try_for_each(|&action| self.step(&job, action))
            }
        }
    }

    /// All ways of an action, and what else would have to be seen.
    fn step(&mut self, job: &Job, id: ActionId) -> Result<(), Failure> {
        let action = &self.ground.model.actions[id];
        let Support { witnesses: most, looked_at } = support(self.ground.layout.family, action);
        let looked_at = looked_at.filter(|&bound| bound <= MOST_LOOKED_AT);
        let guessing = Guessing { contents: looked_at.is_none(), witnesses: most > MOST_WITNESSES };
        let mut choices = Choices::default();
        let mut slots: BTreeSet<Slot> = BTreeSet::new();
        let mut witness = false;
        loop {
            self.check()?;
            let mut sight = Sight {
                ground: self.ground,
                config: job.config.clone(),
                me: job.mover,
                bound: Vec::new(),
                guessing,
                choices: &mut choices,
                needs: Needs::default(),
            };
            let done = sight.act(id);
            let (config, needs) = (sight.config, sight.needs);
            slots.extend(needs.slot);
            witness |= needs.witness;
            match done {
                Ok(()) => self.insert(config.restricted(&job.keep)),
                Err(Halt::Fault(span)) => drop(self.views.faults.insert(span)),
                Err(Halt::Blocked | Halt::Unseen) => {}
                Err(Halt::Outside(span)) => return Err(Failure::Outside(span)),
            }
            if !choices.advance() {
                break;
            }
        }
        let known = job.config.slots.len();
        for slot in slots.into_iter().filter(|_| looked_at.is_some_and(|bound| job.looked_at < bound)) {
            // A slot that the step itself made is any process that is not seen yet.
            let only = Some(slot).filter(|&slot| (slot as usize) < known);
            let job = Job { action: Some(id), looked_at: job.looked_at + 1, ..job.clone() };
            self.wait(Open { job, only });
        }
        if witness && job.witnesses < most {
            let job = Job { action: Some(id), witnesses: job.witnesses + 1, ..job.clone() };
            self.wait(Open { job, only: None });
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            self.budget.check(self.bytes).map_err(Failure::Stopped)?;
        }
        Ok(())
    }
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

fn weight(config: &Config) -> u64 {
    let n_items = config.shared.len() + config.slots.iter().flatten().map(Vec::len).sum::<usize>();
    (n_items * size_of::<Item>() + 96) as u64
}
