//! The search of the whole product beside the reduced one, so that reduction costs little more than the plain search where it does not help.
//!
//! In: what the reduced search has worked, and which part of the steps it leaves out. Out: whether the plain search, which works as much or more, has come to its end. Which of two methods is the faster one is not known before one of
//! them ends; both in turns take at most twice the time of the faster one (a competitive ratio in the sense of D. Sleator and R. Tarjan, Amortized efficiency of list update and paging rules, 1985). While much is left out, there is no doubt, and the plain search waits.
//! While less than half is, the reduced search is seldom the faster one, and the plain search works three times as much: then both take at most a third more than the plain search alone.
//! Work is counted in steps of the plain search, not measured, so that what is found does not depend on what else the machine does.

use crate::findings::QuestionFinding;
use crate::search::{ProductSearch, SearchOutcome};

/// Where less of the steps is left out, the reduced search is seldom the faster one.
const HALF: f64 = 0.5;

/// When the plain search begins, and what is clear without it.
#[derive(Clone, Copy, Debug)]
pub struct RivalPace {
    /// It begins when the reduced search has worked so much, in steps of the plain search.
    pub first: u64,
    /// It waits while so many of a hundred steps are left out.
    pub clear_percent: u64,
    /// It works so many times as much as the reduced search while less than half of the steps is left out.
    pub times_of_little: u64,
    /// It has a turn after the reduced search has taken the steps of so many states.
    pub every: usize,
}

impl RivalPace {
    /// A millisecond; a state of the reduced search takes about four times as long as one of the plain search.
    pub const USUAL: RivalPace = RivalPace { first: 10_000, clear_percent: 80, times_of_little: 3, every: 1024 };

    /// From the first step on, whatever is left out.
    pub const ALWAYS: RivalPace = RivalPace { first: 0, clear_percent: 101, times_of_little: 1, every: 1 };
}

/// How much the reduced search has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReducedProgress {
    /// What it has worked, in steps of the plain search.
    pub work: u64,
    /// Steps that it took, and that it left out.
    pub n_taken: u64,
    pub n_left_out: u64,
}

impl ReducedProgress {
    /// The part of the steps that was left out.
    pub fn part(self) -> f64 {
        self.n_left_out as f64 / (self.n_left_out + self.n_taken).max(1) as f64
    }
}

/// The plain search.
pub struct Rival<'r, const W: usize> {
    search: ProductSearch<'r, W>,
    has_begun: bool,
    pace: RivalPace,
    /// What reduced searches worked that were given up.
    before: u64,
}

impl<'r, const W: usize> Rival<'r, W> {
    /// A plain search that has seen nothing yet.
    pub fn new(search: ProductSearch<'r, W>, pace: RivalPace) -> Self {
        Rival { search, has_begun: false, pace, before: 0 }
    }

    /// Whether it has a turn when the reduced search has taken the steps of so many states.
    pub fn has_turn(&self, n_expanded: usize) -> bool {
        n_expanded.is_multiple_of(self.pace.every)
    }

    /// Lets it work as much as the reduced search has, where that is in doubt; whether it has ended.
    pub fn keep_up(&mut self, progress: ReducedProgress) -> bool {
        let work = self.before + progress.work;
        let is_clear = progress.part() * 100.0 >= self.pace.clear_percent as f64;
        let times = if progress.part() < HALF { self.pace.times_of_little } else { 1 };
        work >= self.pace.first && !is_clear && self.work(times * work)
    }

    /// Lets it work as much as the reduced search has, and so much more, which is to come; whether it has ended.
    pub fn get_ahead(&mut self, progress: ReducedProgress, more: u64) -> bool {
        self.before += more;
        self.work(self.before + progress.work)
    }

    /// The reduced search is given up; another may follow.
    pub fn note(&mut self, progress: ReducedProgress) {
        self.before += progress.work;
    }

    fn work(&mut self, most_steps: u64) -> bool {
        if !self.has_begun {
            self.search.start();
            self.has_begun = true;
        }
        self.search.go_on(most_steps)
    }

    /// By question: what decided it so far, if something did.
    pub fn known(&self) -> &[Option<QuestionFinding>] {
        self.search.known()
    }

    /// Lets it search to its end; what it saw.
    pub fn outcome(mut self) -> SearchOutcome {
        self.work(u64::MAX);
        self.search.outcome()
    }
}
