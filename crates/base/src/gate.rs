//! Turns: work that pauses where it checks its budget, and goes on where it stopped when it has another turn.
//!
//! In: how long a turn is. Out: the threads of the work wait inside [`Budget::check`](crate::Budget::check) between the turns, with all that they
//! hold, so that nothing has to be done twice. A turn ends where the work next checks its budget, so it may last longer than was allowed; what it
//! really took is counted.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets work go on in turns.
pub struct Gate {
    /// All times are counted from here, in nanoseconds.
    origin: Instant,
    /// When the current turn is over; 0 between turns.
    until: AtomicU64,
    /// When the current turn began, and what the earlier ones took together.
    began: AtomicU64,
    used: AtomicU64,
    /// Whether a turn is on; threads that wait for one wait for a change of this.
    is_open: Mutex<bool>,
    changed: Condvar,
    /// Called at the end of each turn.
    paused: Box<dyn Fn() + Send + Sync>,
}

impl Gate {
    /// A gate that is closed; `paused` is called at the end of each turn.
    pub fn new(paused: impl Fn() + Send + Sync + 'static) -> Self {
        Gate {
            origin: Instant::now(),
            until: AtomicU64::new(0),
            began: AtomicU64::new(0),
            used: AtomicU64::new(0),
            is_open: Mutex::new(false),
            changed: Condvar::new(),
            paused: Box::new(paused),
        }
    }

    /// Gives the work a turn of about this long.
    pub fn open(&self, turn: Duration) {
        let mut is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        if !*is_open {
            self.began.store(now, Ordering::Relaxed);
        }
        *is_open = true;
        self.until.store(now.saturating_add(nanoseconds(turn)), Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Lets the work go on to its end: it was cancelled, and will notice.
    pub fn release(&self) {
        self.open(Duration::MAX);
    }

    /// Waits while it is not the work's turn.
    pub fn pass(&self) {
        if self.now() < self.until.load(Ordering::Relaxed) {
            return;
        }
        let mut is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread of the work may have waited and gone on in between.
        while self.now() >= self.until.load(Ordering::Relaxed) {
            if std::mem::replace(&mut *is_open, false) {
                let took = self.now().saturating_sub(self.began.load(Ordering::Relaxed));
                self.used.fetch_add(took, Ordering::Relaxed);
                self.until.store(0, Ordering::Relaxed);
                (self.paused)();
            }
            is_open = self.changed.wait(is_open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How long the work has had turns, together.
    pub fn worked(&self) -> Duration {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let current = if *is_open { self.now().saturating_sub(self.began.load(Ordering::Relaxed)) } else { 0 };
        Duration::from_nanos(self.used.load(Ordering::Relaxed) + current)
    }

    fn now(&self) -> u64 {
        nanoseconds(self.origin.elapsed())
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("worked", &self.worked()).finish_non_exhaustive()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;
    use crate::Budget;

    #[test]
    fn work_pauses_between_its_turns_and_goes_on_where_it_stopped() {
        let (tell, told) = channel();
        let gate = Arc::new(Gate::new(move || tell.send(()).unwrap()));
        let budget = Budget::unlimited().gated_by(&gate);
        gate.open(Duration::ZERO);
        let work = thread::spawn(move || (0..3).map(|step| budget.check(0).map(|()| step)).collect::<Vec<_>>());
        told.recv().unwrap();
        let paused = gate.worked();
        thread::sleep(Duration::from_millis(5));
        assert_eq!(gate.worked(), paused, "time between turns does not count");
        gate.release();
        assert_eq!(work.join().unwrap(), [Ok(0), Ok(1), Ok(2)]);
    }

    #[test]
    fn a_part_of_gated_work_counts_its_turns_only() {
        let gate = Arc::new(Gate::new(|| ()));
        let budget = Budget::unlimited().gated_by(&gate);
        gate.open(Duration::MAX);
        let part = budget.slice(Duration::from_secs(100));
        assert!(part.time_left().is_some_and(|left| left > Duration::from_secs(50)));
        assert_eq!(part.check(0), Ok(()));
        assert!(budget.slice(Duration::ZERO).check(0).is_err());
    }
}
