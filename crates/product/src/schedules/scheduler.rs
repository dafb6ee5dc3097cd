//! Simple schedulers: whose turn it is, and which of its steps a process takes.
//!
//! In: how many processes there are. Out: schedulers that differ in the order of turns, in how long a turn is, and in what a process chooses where it has several
//! steps. Each always does the same: those that choose at random have fixed seeds.

use model::process::ProcessId;

/// Who is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnOrder {
    Up,
    Down,
    Random,
}

/// When a turn ends, if the process can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnLength {
    /// After one step.
    Step,
    /// When the process is back at a control location at which it was in this turn.
    Round,
    /// When it has no step, or after very many.
    Long,
}

/// Which step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepChoice {
    First,
    Last,
    /// Another one each time.
    Next,
    Random,
}

/// A turn of `TurnLength::Long` is over after so many steps.
const LONG: usize = 200;

/// A scheduler under way.
#[derive(Clone, Debug)]
pub struct Scheduler {
    order: TurnOrder,
    length: TurnLength,
    choice: StepChoice,
    n_processes: usize,
    /// Whose turn it is.
    at: usize,
    /// Where the process was in this turn.
    locations: Vec<u64>,
    n_choices: usize,
    /// What random numbers are made of.
    seed: u64,
}

impl Scheduler {
    /// All schedulers, of which so many choose at random.
    pub fn all(n_processes: usize, n_random: usize) -> Vec<Self> {
        let scheduler = |order, length, choice, seed| Scheduler {
            order,
            length,
            choice,
            n_processes,
            at: if order == TurnOrder::Down { n_processes.saturating_sub(1) } else { 0 },
            locations: Vec::new(),
            n_choices: 0,
            seed,
        };
        let mut all = Vec::new();
        for choice in [StepChoice::First, StepChoice::Next, StepChoice::Last] {
            for length in [TurnLength::Round, TurnLength::Step, TurnLength::Long] {
                all.extend([TurnOrder::Up, TurnOrder::Down].map(|order| scheduler(order, length, choice, 0)));
            }
        }
        let lengths = [TurnLength::Step, TurnLength::Round].into_iter().cycle();
        // Any seeds but zero do.
        let random =
            (1..).zip(lengths).map(|(seed, length)| scheduler(TurnOrder::Random, length, StepChoice::Random, seed));
        all.extend(random.take(n_random));
        all
    }

    /// Whose turn it is.
    pub fn process(&self) -> ProcessId {
        ProcessId::new(self.at)
    }

    /// The turn is over.
    fn pass(&mut self) {
        match self.order {
            TurnOrder::Up | TurnOrder::Down => self.skip(),
            TurnOrder::Random => {
                self.locations.clear();
                self.at = self.random(self.n_processes);
            }
        }
    }

    /// The process whose turn it is has nothing to do. So all get a turn before one gets another.
    pub fn skip(&mut self) {
        self.locations.clear();
        self.at = match self.order {
            TurnOrder::Up | TurnOrder::Random => (self.at + 1) % self.n_processes,
            TurnOrder::Down => (self.at + self.n_processes - 1) % self.n_processes,
        };
    }

    /// Which of so many steps the process takes.
    pub fn choose(&mut self, n_steps: usize) -> usize {
        if n_steps < 2 {
            return 0;
        }
        self.n_choices += 1;
        match self.choice {
            StepChoice::First => 0,
            StepChoice::Last => n_steps - 1,
            StepChoice::Next => self.n_choices % n_steps,
            StepChoice::Random => self.random(n_steps),
        }
    }

    /// The process has left a control location and is at another one now.
    pub fn moved(&mut self, from: u64, to: u64) {
        self.locations.push(from);
        let is_over = match self.length {
            TurnLength::Step => true,
            TurnLength::Round => self.locations.contains(&to),
            TurnLength::Long => self.locations.len() >= LONG,
        };
        if is_over {
            self.pass();
        }
    }

    /// A number below `below` (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    }
}
