//! The meter of a search: what it holds, whether it may go on, and its reports to the observer.
//!
//! One meter is shared by all threads of a search. Threads add what they hold and ask it every few thousand steps; the
//! first that reaches a limit stops them all.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Answer, Event, Observer};
use base::{Budget, StopReason};

/// Progress is reported so many milliseconds apart.
const REPORT_EVERY_MS: u64 = 250;

/// Counts what a search holds, and stops it.
pub struct Meter<'a> {
    budget: &'a Budget,
    observer: &'a dyn Observer,
    /// What the data takes, all threads together.
    bytes: AtomicU64,
    /// The most that it ever took.
    peak_bytes: AtomicU64,
    /// States stored, all threads together.
    n_states: AtomicU64,
    /// States whose steps were taken, all threads together.
    n_expanded: AtomicU64,
    /// The level whose steps are being taken.
    depth: AtomicU64,
    /// When progress was last reported, in milliseconds of the budget.
    reported_ms: AtomicU64,
    stopped: AtomicBool,
    reason: Mutex<Option<StopReason>>,
}

impl<'a> Meter<'a> {
    /// A meter that has counted nothing.
    pub fn new(budget: &'a Budget, observer: &'a dyn Observer) -> Self {
        Meter {
            budget,
            observer,
            bytes: AtomicU64::new(0),
            peak_bytes: AtomicU64::new(0),
            n_states: AtomicU64::new(0),
            n_expanded: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            reported_ms: AtomicU64::new(budget.elapsed().as_millis() as u64),
            stopped: AtomicBool::new(false),
            reason: Mutex::new(None),
        }
    }

    /// Counts bytes that were taken.
    pub fn add(&self, bytes: u64) {
        let now = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(now, Ordering::Relaxed);
    }

    /// Counts so many bytes more before they are taken, so that threads which grow at once cannot pass a limit together.
    ///
    /// # Errors
    /// The limit that they would pass; nothing is counted then.
    pub fn reserve(&self, bytes: u64) -> Result<(), StopReason> {
        let now = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let allowed = self.budget.check_growth(now - bytes, bytes);
        match allowed {
            Ok(()) => drop(self.peak_bytes.fetch_max(now, Ordering::Relaxed)),
            Err(_) => self.remove(bytes),
        }
        allowed
    }

    /// Counts states that were stored; their bytes are counted apart.
    pub fn stored(&self, n_states: u64) {
        self.n_states.fetch_add(n_states, Ordering::Relaxed);
    }

    /// Counts what was given back.
    pub fn remove(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts states whose steps were taken.
    pub fn expanded(&self, n_states: u64) {
        self.n_expanded.fetch_add(n_states, Ordering::Relaxed);
    }

    /// Counts a level.
    pub fn enter_level(&self, depth: u64) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// Whether the budget allows so many bytes more; reports nothing and counts nothing.
    pub fn permits(&self, more_bytes: u64) -> Result<(), StopReason> {
        self.budget.check(self.bytes.load(Ordering::Relaxed) + more_bytes)
    }

    /// Reports progress when it is time; stops the search if a limit is reached, by data that takes so many bytes more than
    /// what was counted. Whether to go on.
    pub fn may_go_on(&self, more_bytes: u64) -> bool {
        if self.is_stopped() {
            return false;
        }
        self.peak_bytes.fetch_max(self.bytes.load(Ordering::Relaxed) + more_bytes, Ordering::Relaxed);
        self.report();
        match self.permits(more_bytes) {
            Ok(()) => true,
            Err(reason) => {
                self.stop(reason);
                false
            }
        }
    }

    /// Ends the search; the first reason counts.
    pub fn stop(&self, reason: StopReason) {
        self.stopped.store(true, Ordering::Relaxed);
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    /// Whether the search has to end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Why the search ended before its time, if it did.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where data may go that memory has no room for.
    pub fn disk(&self) -> Option<&Path> {
        self.budget.disk()
    }

    /// The most bytes that may be taken, if there is a limit.
    pub fn memory_limit(&self) -> Option<u64> {
        self.budget.memory_limit()
    }

    /// How long the work has taken.
    pub fn elapsed(&self) -> std::time::Duration {
        self.budget.elapsed()
    }

    /// What the data takes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The most that the data took.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Ordering::Relaxed)
    }

    /// States stored.
    pub fn n_states(&self) -> u64 {
        self.n_states.load(Ordering::Relaxed)
    }

    /// Passes an event to the observer.
    pub fn tell(&self, event: Event) {
        self.observer.event(event);
    }

    /// Passes a guess of how much work is left to the observer, as a part of what was done.
    pub fn left(&self, part: f64) {
        self.observer.left(part);
    }

    /// Reports an answer that is final while others are open.
    pub fn answered(&self, answer: &Answer) {
        self.observer.answered(answer);
    }

    fn report(&self) {
        let now = self.budget.elapsed().as_millis() as u64;
        let last = self.reported_ms.load(Ordering::Relaxed);
        let is_time = now >= last + REPORT_EVERY_MS;
        // Of several threads, the one that advances the time of the last report reports.
        if is_time && self.reported_ms.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let states = self.n_states();
            self.tell(Event::Searching {
                states,
                frontier: states.saturating_sub(self.n_expanded.load(Ordering::Relaxed)),
                depth: self.depth.load(Ordering::Relaxed),
                memory_bytes: self.bytes.load(Ordering::Relaxed),
            });
        }
    }
}
