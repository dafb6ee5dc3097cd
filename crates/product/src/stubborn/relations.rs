//! What the text says about actions: which may disturb each other, and which could enable which.
//!
//! In: the actions of a compiled program, and, where somebody has them, the pairs that local state graphs leave dependent. Out: for each action what it may
//! read and write, over all that follows in the same step; whether two actions of different processes may disturb each other where both are
//! enabled; where in the text of a process an action stands, and from where control can still get there.
//!
//! Two actions are independent if neither may write what the other touches; if one appends to a channel and the other takes from it (`queues.rs`); or if what they await
//! excludes that both are enabled. A step that goes on over several actions has all that any of them may touch, and what they await.

use model::process::ProcessId;
use model::variable::Role;
use rustc_hash::FxHashSet;

use super::effects::{EffectReader, StepEffect};
use super::queues::{QueueUse, queues};
use local::graphs::{ActionNumber, Actions};
use packed::machine::Machine;
use packed::packing::Packed;
use packed::term::WordTest;
use packed::words::{add, and, is_zero, or, without};

/// The number of a control location: a process at a control point.
pub type LocationNumber = u32;

/// With more control points than this, a process is taken to get from each to each.
const MOST_FOLLOWED: usize = 4096;

/// What an action may do.
#[derive(Clone, Debug)]
pub struct ActionReach<const W: usize> {
    /// The bits that it may read or write.
    touches: Packed<W>,
    /// The bits that it may write.
    writes: Packed<W>,
    /// The bits that it may set.
    sets: Packed<W>,
    /// The bits that it may clear.
    clears: Packed<W>,
    /// What decides whether it is enabled, but for where its processes are.
    awaits: Packed<W>,
    /// Tests without which it is not enabled.
    tests: Vec<WordTest>,
    /// The channels that it appends to or takes from; their bits are not in `touches` and `writes`.
    queues: Vec<(u32, QueueUse)>,
    /// Whether it is left out: it is for where nobody can move, or one side of a rendezvous that cannot be a fault by itself.
    pub is_void: bool,
}

/// The relations.
pub struct Relations<'r, const W: usize> {
    /// The actions.
    pub actions: &'r Actions<W>,
    /// By process: its first control location.
    pub first_location: Vec<LocationNumber>,
    /// By control location: the actions of which the process is a part there.
    pub at: Vec<Vec<ActionNumber>>,
    /// By step: its control location.
    pub step_location: Vec<LocationNumber>,
    /// By action.
    pub reach: Vec<ActionReach<W>>,
    /// By control location: where control can get from there, by control point; nothing where that was not followed.
    follows: Vec<Vec<u64>>,
    /// By channel: its bits.
    queue_bits: Vec<Packed<W>>,
    /// The only pairs that are dependent, where more is known than the text says; the lesser number first.
    dependent: Option<FxHashSet<(ActionNumber, ActionNumber)>>,
}

impl<'r, const W: usize> Relations<'r, W> {
    /// The relations of a program's actions.
    pub fn new(machine: &Machine<'_>, actions: &'r Actions<W>) -> Self {
        let mut first_location = Vec::new();
        let mut step_location = vec![0; machine.code.steps.len()];
        let mut effects: Vec<StepEffect<W>> = Vec::with_capacity(machine.code.steps.len());
        let mut n_locations = 0;
        let mut follows = Vec::new();
        for (process, points) in machine.code.points.iter().enumerate() {
            first_location.push(n_locations as LocationNumber);
            let first_step = effects.len();
            for (point, steps) in points.iter().enumerate() {
                for step in steps.first..steps.end {
                    step_location[step as usize] = (n_locations + point) as LocationNumber;
                    let reader = EffectReader { machine, writes: &actions.writes };
                    effects.push(reader.effect(step as usize, (process, point as u32)));
                }
            }
            let next = |point: usize| {
                let steps = points[point].first as usize - points[0].first as usize
                    ..points[point].end as usize - points[0].first as usize;
                effects[first_step..][steps]
                    .iter()
                    .flat_map(|effect| effect.next_points.iter().map(|&point| point as usize))
            };
            follows.extend(followed(points.len(), next));
            n_locations += points.len();
        }
        let mut at = vec![Vec::new(); n_locations];
        for (action, &(step, partner)) in actions.steps.iter().enumerate() {
            for step in std::iter::once(step).chain(partner) {
                at[step_location[step as usize] as usize].push(action as ActionNumber);
            }
        }
        let mut relations = Relations {
            actions,
            first_location,
            at,
            step_location,
            reach: Vec::new(),
            follows,
            queue_bits: Vec::new(),
            dependent: None,
        };
        relations.add_reach(machine, &effects);
        relations
    }

    /// The same, with only these pairs dependent; each has the lesser number first.
    pub fn with_dependent(self, pairs: FxHashSet<(ActionNumber, ActionNumber)>) -> Self {
        Relations { dependent: Some(pairs), ..self }
    }

    /// Whether control can get from one location of a process to another, in a step or more.
    pub fn follows(&self, from: LocationNumber, to: LocationNumber, process: usize) -> bool {
        let points = &self.follows[from as usize];
        let point = (to - self.first_location[process]) as usize;
        points.is_empty() || points[point / 64] >> (point % 64) & 1 != 0
    }

    /// The processes of an action, with where they are when they take it.
    pub fn sides(&self, action: ActionNumber) -> impl Iterator<Item = (usize, LocationNumber)> {
        let (mover, partner) = self.actions.movers[action as usize];
        let (step, receives) = self.actions.steps[action as usize];
        let side = |(process, step): (ProcessId, u32)| (process.index(), self.step_location[step as usize]);
        std::iter::once(side((mover, step))).chain(partner.zip(receives).map(side))
    }

    /// Whether two actions of different processes may disturb each other in a state where both are enabled.
    pub fn is_dependent(&self, one: ActionNumber, other: ActionNumber) -> bool {
        let (a, b) = (&self.reach[one as usize], &self.reach[other as usize]);
        if let Some(pairs) = &self.dependent
            && !pairs.contains(&(one.min(other), one.max(other)))
        {
            return false;
        }
        (meet(&a.writes, &b.touches)
            || meet(&b.writes, &a.touches)
            || self.disturbs_queue(a, b)
            || self.disturbs_queue(b, a))
            && !exclude(&a.tests, &b.tests)
    }

    /// Whether the first uses a channel in a way that the other may notice.
    fn disturbs_queue(&self, a: &ActionReach<W>, b: &ActionReach<W>) -> bool {
        a.queues.iter().any(|&(queue, how)| {
            meet(&self.queue_bits[queue as usize], &b.touches)
                || b.queues.iter().any(|&(other, theirs)| other == queue && theirs == how)
        })
    }

    /// Whether an action may give a bit a value.
    pub fn may_make(&self, action: ActionNumber, bit: usize, value: bool) -> bool {
        let reach = &self.reach[action as usize];
        let changed = if value { &reach.sets } else { &reach.clears };
        changed[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Whether an action may change something that decides whether another is enabled.
    pub fn may_change(&self, action: ActionNumber, awaiting: ActionNumber) -> bool {
        let reach = &self.reach[action as usize];
        meet(&or(&reach.sets, &reach.clears), &self.reach[awaiting as usize].awaits)
    }

    /// Whether an action may write some of these bits.
    pub fn may_write(&self, action: ActionNumber, bits: &Packed<W>) -> bool {
        let reach = &self.reach[action as usize];
        meet(&or(&reach.sets, &reach.clears), bits)
    }

    /// Tests without which an action is not enabled.
    pub fn tests(&self, action: ActionNumber) -> &[WordTest] {
        &self.reach[action as usize].tests
    }

    fn add_reach(&mut self, machine: &Machine<'_>, effects: &[StepEffect<W>]) {
        let (model, layout) = (machine.codec.model, &machine.codec.layout);
        let queues = queues(model);
        for queue in &queues {
            let mut bits = [0; W];
            queue.cells.iter().for_each(|cell| add(&mut bits, layout.locations[cell.index()].0));
            self.queue_bits.push(bits);
        }
        // Counters that are not folded into control are written by moves of control.
        let mut counters = vec![[0; W]; model.processes.len()];
        for (id, cell) in model.cells.entries() {
            if let (Role::Counter(_), Some(owner)) = (model.vars[cell.var].role, cell.owner) {
                add(&mut counters[owner.index()], layout.locations[id.index()].0);
            }
        }
        for (action, &(step, partner)) in self.actions.steps.iter().enumerate() {
            let mut reach = ActionReach {
                touches: or(&self.actions.reads[action], &self.actions.writes[action]),
                writes: self.actions.writes[action],
                sets: [0; W],
                clears: [0; W],
                awaits: self.actions.reads[action],
                tests: Vec::new(),
                queues: Vec::new(),
                is_void: false,
            };
            let (mover, receiver) = self.actions.movers[action];
            for (process, step) in std::iter::once((mover, step)).chain(receiver.zip(partner)) {
                let compiled = &machine.code.steps[step as usize];
                let (effect, own) = (&effects[step as usize], &counters[process.index()]);
                reach.sets = or(&or(&reach.sets, &effect.sets), own);
                reach.clears = or(&or(&reach.clears, &effect.clears), own);
                reach.writes = or(&reach.writes, own);
                reach.touches = or(&reach.touches, own);
                reach.awaits = or(&reach.awaits, own);
                let mut control = [0; W];
                add(&mut control, layout.control[process.index()]);
                reach.awaits = without(&reach.awaits, &control);
                reach.tests.extend(std::iter::once(compiled.test).chain(compiled.more_tests.iter().copied()));
                reach.is_void |= compiled.when_nobody;
            }
            reach.tests.retain(|test| test.mask != 0);
            if partner.is_none() {
                let compiled = &machine.code.steps[step as usize];
                let may_fault = compiled.condition.is_some_and(|guard| machine.code.terms.may_fault(guard));
                reach.is_void |= compiled.sync.is_some() && !may_fault;
                let acted = &model.actions[machine.code.steps[step as usize].action];
                for (number, queue) in queues.iter().enumerate() {
                    if let Some(how) = queue.use_of(acted) {
                        reach.queues.push((number as u32, how));
                        reach.touches = without(&reach.touches, &self.queue_bits[number]);
                        reach.writes = without(&reach.writes, &self.queue_bits[number]);
                    }
                }
            }
            self.reach.push(reach);
        }
        if model.goes_on() {
            self.reach = self.with_chains(machine, effects);
        }
    }

    /// What steps that go on may do, with all that the actions behind them may touch. That is found once for each location.
    fn with_chains(&self, machine: &Machine<'_>, effects: &[StepEffect<W>]) -> Vec<ActionReach<W>> {
        let links = |action: ActionNumber| self.next_locations(machine, effects, action);
        let next: Vec<Vec<LocationNumber>> = { self.at.iter() }
            .map(|actions| {
                let mut found: Vec<LocationNumber> = actions.iter().flat_map(|&action| links(action)).collect();
                found.sort_unstable();
                found.dedup();
                found
            })
            .collect();
        let here: Vec<ChainReach<W>> = { self.at.iter() }
            .map(|actions| {
                let mut all = ChainReach::default();
                actions.iter().for_each(|&action| all.add(&self.reach[action as usize], &self.queue_bits));
                all
            })
            .collect();
        let mut behind: Vec<Option<ChainReach<W>>> = vec![None; self.at.len()];
        let mut whole = |action: ActionNumber| {
            let mut reach = self.reach[action as usize].clone();
            for start in links(action) {
                let all = behind[start as usize].get_or_insert_with(|| {
                    let mut all = ChainReach::default();
                    let mut seen: FxHashSet<LocationNumber> = FxHashSet::default();
                    let mut open = vec![start];
                    while let Some(location) = open.pop() {
                        if seen.insert(location) {
                            all.join(&here[location as usize]);
                            open.extend(&next[location as usize]);
                        }
                    }
                    all
                });
                reach.touches = or(&reach.touches, &all.touches);
                reach.writes = or(&reach.writes, &all.writes);
                reach.sets = or(&reach.sets, &all.sets);
                reach.clears = or(&reach.clears, &all.clears);
            }
            reach
        };
        (0..self.reach.len() as ActionNumber).map(&mut whole).collect()
    }

    /// The locations at which a step may go on behind an action: of the receiver, if its action goes on, else of the sender, if its does.
    fn next_locations(
        &self,
        machine: &Machine<'_>,
        effects: &[StepEffect<W>],
        action: ActionNumber,
    ) -> Vec<LocationNumber> {
        let goes_on = |step: u32| machine.codec.model.actions[machine.code.steps[step as usize].action].goes_on;
        let (step, partner) = self.actions.steps[action as usize];
        let (mover, receiver) = self.actions.movers[action as usize];
        let received = partner.zip(receiver).filter(|&(receives, _)| goes_on(receives));
        let holder = received.or_else(|| goes_on(step).then_some((step, mover)));
        let locations = |(step, process): (u32, ProcessId)| {
            let first = self.first_location[process.index()];
            effects[step as usize].next_points.iter().map(|&point| first + point).collect()
        };
        holder.map(locations).unwrap_or_default()
    }
}

/// What the actions of a step behind its first one may do.
#[derive(Clone)]
struct ChainReach<const W: usize> {
    touches: Packed<W>,
    writes: Packed<W>,
    sets: Packed<W>,
    clears: Packed<W>,
}

impl<const W: usize> Default for ChainReach<W> {
    fn default() -> Self {
        ChainReach { touches: [0; W], writes: [0; W], sets: [0; W], clears: [0; W] }
    }
}

impl<const W: usize> ChainReach<W> {
    /// Adds an action. What is known of channels is known of single actions, so that here they are like other cells.
    fn add(&mut self, action: &ActionReach<W>, queue_bits: &[Packed<W>]) {
        self.touches = or(&self.touches, &or(&action.touches, &action.awaits));
        self.writes = or(&self.writes, &action.writes);
        for &(queue, _) in &action.queues {
            self.touches = or(&self.touches, &queue_bits[queue as usize]);
            self.writes = or(&self.writes, &queue_bits[queue as usize]);
        }
        self.sets = or(&self.sets, &action.sets);
        self.clears = or(&self.clears, &action.clears);
    }

    fn join(&mut self, other: &ChainReach<W>) {
        self.touches = or(&self.touches, &other.touches);
        self.writes = or(&self.writes, &other.writes);
        self.sets = or(&self.sets, &other.sets);
        self.clears = or(&self.clears, &other.clears);
    }
}

fn meet<const W: usize>(a: &Packed<W>, b: &Packed<W>) -> bool {
    !is_zero(&and(a, b))
}

/// Whether the tests of two actions cannot all hold.
fn exclude(one: &[WordTest], other: &[WordTest]) -> bool {
    let differ = |a: &WordTest, b: &WordTest| a.word == b.word && (a.value ^ b.value) & a.mask & b.mask != 0;
    one.iter().any(|a| other.iter().any(|b| differ(a, b)))
}

/// By control point: the points that control can get to from there.
fn followed<I: Iterator<Item = usize>>(n_points: usize, next: impl Fn(usize) -> I) -> Vec<Vec<u64>> {
    if n_points > MOST_FOLLOWED {
        return vec![Vec::new(); n_points];
    }
    let from = |start: usize| {
        let mut found = vec![0_u64; n_points.div_ceil(64)];
        let mut open: Vec<usize> = next(start).collect();
        while let Some(point) = open.pop() {
            if found[point / 64] >> (point % 64) & 1 == 0 {
                found[point / 64] |= 1 << (point % 64);
                open.extend(next(point));
            }
        }
        found
    };
    (0..n_points).map(from).collect()
}
