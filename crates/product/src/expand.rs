//! Taking the steps of one level's states: what one thread does.
//!
//! In: states of the level. Out: their successors, gathered by the shard that they belong to and delivered in batches;
//! counts; and which open questions were hit. States that are new are looked at as soon as they are stored.

use std::ops::ControlFlow;

use base::{Feature, Unsupported};
use model::process::ProcessId;
use model::variable::VarId;

use crate::run;
use engine::meter::Meter;
use packed::machine::{Flow, Machine, Scratch, Sink};
use packed::packing::Packed;
use packed::questions::{Hits, StateGoal, StateQuestion};
use packed::race::RaceWatch;
use packed::shard::{Shard, shard_of};
use packed::store::BATCH;
use packed::term::TermId;

/// Limits are looked at after so many states, or so many deliveries.
const CHECK_EVERY: u64 = 64;

/// Limits are looked at after the properties of so many new states were.
const LOOKS: usize = 16;

/// So many states are taken from a level at once.
const STRETCH: usize = 256;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// Transitions.
    pub transitions: u64,
    /// Deadlocks.
    pub deadlocks: u64,
    /// Steps that are a fault.
    pub errors: u64,
}

impl SearchCounts {
    /// Adds those of another thread.
    pub fn add(&mut self, other: SearchCounts) {
        self.transitions += other.transitions;
        self.deadlocks += other.deadlocks;
        self.errors += other.errors;
    }
}

/// The questions that are not decided yet, by what decides them; each with its position among the questions.
#[derive(Default)]
pub struct OpenQuestions<'q> {
    /// Decided by a state: the term, and the truth that decides.
    states: Vec<(usize, TermId, bool)>,
    faults: Vec<usize>,
    deadlocks: Vec<usize>,
    races: Vec<(usize, VarId, &'q RaceWatch)>,
}

/// What the steps of a state show.
#[derive(Clone, Copy, Debug)]
pub struct StepsShow {
    /// Nobody can move, and somebody waits.
    pub is_deadlock: bool,
    /// A step is a fault.
    pub has_fault: bool,
}

impl<'q> OpenQuestions<'q> {
    /// Those for which `is_open` says so.
    pub fn new(questions: &'q [StateQuestion], is_open: impl Fn(usize) -> bool) -> Self {
        let mut open = OpenQuestions::default();
        for (at, StateQuestion { goal, .. }) in questions.iter().enumerate().filter(|(at, _)| is_open(*at)) {
            match goal {
                StateGoal::State(term, wanted) => open.states.push((at, *term, *wanted)),
                StateGoal::Fault => open.faults.push(at),
                StateGoal::Deadlock => open.deadlocks.push(at),
                StateGoal::Race(var, watch) => open.races.push((at, *var, watch)),
            }
        }
        open
    }

    /// Looks at a state that was found.
    #[inline]
    pub fn look<const W: usize>(
        &self,
        state: &Packed<W>,
        hits: &mut Hits<W>,
        (machine, scratch): (&Machine<'_>, &Scratch<W>),
    ) {
        hits.look(&self.states, state, machine, scratch);
    }

    /// Looks at a state whose steps were taken.
    #[inline]
    pub fn look_at_steps<const W: usize>(
        &self,
        (state, shown): (&Packed<W>, StepsShow),
        hits: &mut Hits<W>,
        (machine, scratch): (&Machine<'_>, &Scratch<W>),
    ) {
        if shown.is_deadlock {
            self.deadlocks.iter().for_each(|&question| hits.decided[question] = true);
        }
        if shown.has_fault {
            self.faults.iter().for_each(|&question| hits.decided[question] = true);
        }
        for &(question, var, watch) in &self.races {
            if !hits.decided[question] && watch.is_race(var, state, machine, scratch) {
                hits.decided[question] = true;
            }
        }
    }
}

/// Brings batches of successors to the shards that they belong to.
pub trait Delivery<const W: usize> {
    /// How many shards there are.
    fn n_shards(&self) -> usize;

    /// Delivers and empties a batch.
    fn deliver(&mut self, shard: usize, batch: &mut Vec<Packed<W>>, finder: &mut StateFinder<'_, W>) -> Flow;
}

/// Stores states and looks at the new ones.
pub struct StateFinder<'a, const W: usize> {
    machine: &'a Machine<'a>,
    meter: &'a Meter<'a>,
    open: &'a OpenQuestions<'a>,
    scratch: Scratch<W>,
    /// Those of a batch that are new.
    new: Vec<Packed<W>>,
    /// What was hit.
    pub hits: Hits<W>,
}

impl<const W: usize> StateFinder<'_, W> {
    /// Asks whether the search may go on, and waits where it is not its turn.
    pub fn look_up(&self) -> Flow {
        if self.meter.may_go_on(0) { Flow::Continue(()) } else { Flow::Break(()) }
    }

    /// Stores what is new of the states, any number of them, in their shard.
    pub fn insert(&mut self, shard: &mut Shard<W>, states: &[Packed<W>]) -> Flow {
        for batch in states.chunks(BATCH) {
            match shard.insert(batch, self.meter) {
                Ok(new) if !self.open.states.is_empty() => {
                    self.new.clear();
                    shard.read(new, &mut self.new);
                    for (nth, state) in self.new.iter().enumerate() {
                        // A property of many processes may take longer to look at than the step to its state took.
                        if nth % LOOKS == LOOKS - 1 && !self.meter.may_go_on(0) {
                            return Flow::Break(());
                        }
                        self.open.look(state, &mut self.hits, (self.machine, &self.scratch));
                    }
                }
                Ok(_) => {}
                Err(reason) => {
                    self.meter.stop(reason);
                    return Flow::Break(());
                }
            }
        }
        Flow::Continue(())
    }
}

/// Takes the steps of states.
pub struct Expander<'a, const W: usize, D> {
    machine: &'a Machine<'a>,
    meter: &'a Meter<'a>,
    open: &'a OpenQuestions<'a>,
    movers: Option<&'a [ProcessId]>,
    /// Brings successors where they belong.
    pub delivery: D,
    /// Looks at those that arrive.
    pub finder: StateFinder<'a, W>,
    /// What was counted.
    pub counts: SearchCounts,
    /// By shard: successors that are not delivered yet.
    outbox: Vec<Vec<Packed<W>>>,
    /// How many make a batch.
    batch_size: usize,
    n_expanded: u64,
    n_delivered: u64,
}

/// What all threads of a level share.
#[derive(Clone, Copy)]
pub struct SharedLevel<'a> {
    /// The program.
    pub machine: &'a Machine<'a>,
    /// The limits.
    pub meter: &'a Meter<'a>,
    /// The questions.
    pub open: &'a OpenQuestions<'a>,
    /// How many questions there are, open or not.
    pub n_questions: usize,
    /// Whose steps are taken, if not those of all.
    pub movers: Option<&'a [ProcessId]>,
}

impl<'a> SharedLevel<'a> {
    /// The next states of a shard's part of the level after so many; none when all were taken.
    pub fn stretch<const W: usize>(
        self,
        shard: &Shard<W>,
        depth: usize,
        n_taken: &mut u64,
    ) -> ControlFlow<(), Vec<Packed<W>>> {
        match shard.stretch(depth, *n_taken, STRETCH) {
            Ok(stretch) => {
                *n_taken += stretch.len() as u64;
                ControlFlow::Continue(stretch)
            }
            Err(reason) => {
                self.meter.stop(reason);
                ControlFlow::Break(())
            }
        }
    }

    /// Looks at states that are stored.
    pub fn finder<const W: usize>(self) -> StateFinder<'a, W> {
        let SharedLevel { machine, meter, open, n_questions, .. } = self;
        StateFinder { machine, meter, open, scratch: machine.scratch(), new: Vec::new(), hits: Hits::new(n_questions) }
    }

    /// Takes the steps of states, and delivers `batch_size` successors at once.
    pub fn expander<const W: usize, D: Delivery<W>>(self, delivery: D, batch_size: usize) -> Expander<'a, W, D> {
        let outbox = (0..delivery.n_shards()).map(|_| Vec::with_capacity(batch_size)).collect();
        Expander {
            machine: self.machine,
            meter: self.meter,
            open: self.open,
            movers: self.movers,
            delivery,
            finder: self.finder(),
            counts: SearchCounts::default(),
            outbox,
            batch_size,
            n_expanded: 0,
            n_delivered: 0,
        }
    }
}

impl<const W: usize, D: Delivery<W>> Expander<'_, W, D> {
    /// Takes the steps of a state.
    #[inline]
    pub fn expand(&mut self, state: &Packed<W>, scratch: &Scratch<W>) -> Flow {
        let n_errors = self.counts.errors;
        let can_move = match self.movers {
            None => self.machine.expand(state, scratch, self)?,
            Some(movers) => self.expand_some(movers, state, scratch)?,
        };
        let is_deadlock = !can_move && self.machine.somebody_waits(state);
        self.counts.deadlocks += u64::from(is_deadlock);
        let shown = StepsShow { is_deadlock, has_fault: self.counts.errors > n_errors };
        self.open.look_at_steps((state, shown), &mut self.finder.hits, (self.machine, scratch));
        self.n_expanded += 1;
        if self.n_expanded.is_multiple_of(CHECK_EVERY) { self.check(CHECK_EVERY) } else { Flow::Continue(()) }
    }

    /// Takes the steps of some processes; whether anybody can move.
    fn expand_some(&mut self, movers: &[ProcessId], state: &Packed<W>, scratch: &Scratch<W>) -> ControlFlow<(), bool> {
        let mut can_move = false;
        for &process in movers {
            can_move |= self.machine.expand_process(process, state, scratch, self)?;
        }
        ControlFlow::Continue(can_move || !run::is_deadlock(self.machine, state, scratch))
    }

    /// Delivers what is left, and counts what was not counted yet.
    pub fn finish(&mut self) -> Flow {
        for shard in 0..self.outbox.len() {
            self.flush(shard)?;
        }
        self.check(self.n_expanded % CHECK_EVERY)
    }

    fn check(&self, n_expanded: u64) -> Flow {
        self.meter.expanded(n_expanded);
        if self.meter.may_go_on(self.machine.stack_bytes()) { Flow::Continue(()) } else { Flow::Break(()) }
    }

    fn flush(&mut self, shard: usize) -> Flow {
        self.n_delivered += 1;
        if self.n_delivered.is_multiple_of(CHECK_EVERY) {
            self.check(0)?;
        }
        self.delivery.deliver(shard, &mut self.outbox[shard], &mut self.finder)
    }
}

impl<const W: usize, D: Delivery<W>> Sink<W> for Expander<'_, W, D> {
    #[inline]
    fn successor(&mut self, _process: ProcessId, next: &Packed<W>) -> Flow {
        self.counts.transitions += 1;
        let shard = shard_of(next, self.outbox.len());
        let batch = &mut self.outbox[shard];
        batch.push(*next);
        if batch.len() == self.batch_size { self.flush(shard) } else { Flow::Continue(()) }
    }

    fn faults(&mut self, _process: ProcessId, n_faults: u64) -> Flow {
        self.counts.errors += n_faults;
        Flow::Continue(())
    }

    fn pause(&mut self, bytes: u64) -> Flow {
        if self.meter.may_go_on(bytes + self.machine.stack_bytes()) { Flow::Continue(()) } else { Flow::Break(()) }
    }

    fn out_of_stacks(&mut self) {
        self.meter.stop(Unsupported::about(Feature::Numbers, "call stacks").into());
    }
}
