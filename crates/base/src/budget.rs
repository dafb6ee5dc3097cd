//! Limits on time and memory, cancellation, and why work stopped.
//!
//! An engine checks its [`Budget`] every few thousand steps; a limit that is reached is an ordinary answer, a
//! [`StopReason`], never an abort. Memory is what the engine reports that it holds, and, where [`memory`]
//! watches it, the resident size of the process, which also has what the engine did not count.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::gate::Gate;
use crate::memory::{self, Resident};
use crate::unsupported::{Coarse, Feature, Unsupported};

/// Set once, from anywhere (a signal handler, another thread), to end work soon.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    set: Arc<AtomicBool>,
    /// Cancelling this one cancels the token, too, but not the other way round.
    above: Option<Arc<CancelToken>>,
    /// What the process takes, where that is watched.
    resident: Resident,
}

impl CancelToken {
    /// A token for a part of the work: it can be cancelled alone, and is cancelled with this one.
    pub fn child(&self) -> CancelToken {
        CancelToken { set: Arc::default(), above: Some(Arc::new(self.clone())), resident: self.resident.clone() }
    }

    /// Asks all work that holds this token, or one made from it, to stop.
    pub fn cancel(&self) {
        self.set.store(true, Ordering::Relaxed);
    }

    /// Whether the user, or another thread, cancelled the work.
    pub fn is_cancelled(&self) -> bool {
        self.set.load(Ordering::Relaxed) || self.above.as_deref().is_some_and(CancelToken::is_cancelled)
    }

    /// The resident size of the process, written by the thread that watches it and read by every check.
    pub fn resident(&self) -> &Resident {
        &self.resident
    }
}

/// What several pieces of work hold that run beside each other under one limit, in bytes; one entry for each.
#[derive(Debug)]
struct Ledger(Vec<AtomicU64>);

impl Ledger {
    /// Notes what one piece of work holds. Whether it has to stop: together they hold more than the limit, or the process is
    /// short of memory, and none holds more than it does, so that of several the one that needs most gives way.
    fn exceeds(&self, entry: usize, memory_bytes: u64, (limit, is_short): (u64, bool)) -> bool {
        self.0[entry].store(memory_bytes, Ordering::Relaxed);
        let held = || self.0.iter().map(|bytes| bytes.load(Ordering::Relaxed));
        (is_short || held().sum::<u64>() > limit) && held().all(|bytes| bytes <= memory_bytes)
    }
}

/// What a piece of work may use.
#[derive(Clone, Debug)]
pub struct Budget {
    started: Instant,
    time: Option<Duration>,
    /// So much longer than `time` may be taken: for what comes after the work itself.
    reserve: Duration,
    memory_bytes: Option<u64>,
    cancel: CancelToken,
    /// What others hold under the same limit, and which entry is this one's.
    ledger: Option<(Arc<Ledger>, usize)>,
    /// Where the work waits between its turns, if it has turns.
    gate: Option<Arc<Gate>>,
    /// What its turns took together when this budget was made, if only turns count.
    worked_before: Option<Duration>,
    /// A directory for what memory has no room for.
    disk: Option<Arc<Path>>,
    /// How many more checks of the budget are allowed, if that is limited.
    looks: Option<Arc<AtomicU64>>,
}

impl Budget {
    /// No limits but cancellation.
    pub fn unlimited() -> Self {
        Self::new(None, None, CancelToken::default())
    }

    /// Limits that count from now.
    pub fn new(time: Option<Duration>, memory_bytes: Option<u64>, cancel: CancelToken) -> Self {
        Budget {
            started: Instant::now(),
            time,
            reserve: Duration::ZERO,
            memory_bytes,
            cancel,
            ledger: None,
            gate: None,
            worked_before: None,
            disk: None,
            looks: None,
        }
    }

    /// The same for work that checks its budget so many times at most, all of its parts together: a limit that does not depend on how busy the
    /// machine is. It is reached as one on time.
    pub fn with_looks(self, n_looks: u64) -> Self {
        Budget { looks: Some(Arc::new(AtomicU64::new(n_looks))), ..self }
    }

    /// The same with a directory for temporary files, which may take what memory has no room for.
    pub fn with_disk(self, directory: &Path) -> Self {
        Budget { disk: Some(directory.into()), ..self }
    }

    /// The same without a disk: for work that is better given up than continued there.
    pub fn without_disk(self) -> Self {
        Budget { disk: None, ..self }
    }

    /// A directory for what memory has no room for; none where work ends at its limit.
    pub fn disk(&self) -> Option<&Path> {
        self.disk.as_deref()
    }

    /// The reason to stop now, if there is one, for work that holds `memory_bytes`. Work that has turns waits here for the next one.
    pub fn check(&self, memory_bytes: u64) -> Result<(), StopReason> {
        if let Some(gate) = &self.gate {
            gate.pass();
        }
        let look = |looks: &Arc<AtomicU64>| {
            looks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        };
        if !self.looks.as_ref().is_none_or(look) {
            return Err(StopReason::TimeLimit(self.time.unwrap_or_default()));
        }
        self.glance(memory_bytes)
    }

    /// The same for a thread that watches the work of others, and does not wait with them.
    pub fn glance(&self, memory_bytes: u64) -> Result<(), StopReason> {
        if self.cancel.is_cancelled() {
            return Err(StopReason::Cancelled);
        }
        match self.time {
            Some(limit) if self.spent() >= limit + self.reserve => return Err(StopReason::TimeLimit(limit)),
            _ => {}
        }
        match self.memory_bytes {
            Some(limit) if self.exceeds(memory_bytes, limit) => Err(StopReason::MemoryLimit(limit)),
            _ => Ok(()),
        }
    }

    /// The same before `more_bytes` are taken at once, beside `memory_bytes` that are held.
    pub fn check_growth(&self, memory_bytes: u64, more_bytes: u64) -> Result<(), StopReason> {
        self.check(memory_bytes + more_bytes)?;
        match self.memory_bytes {
            Some(limit) if self.cancel.resident.would_pass(limit, more_bytes) => Err(StopReason::MemoryLimit(limit)),
            _ => Ok(()),
        }
    }

    fn exceeds(&self, memory_bytes: u64, limit: u64) -> bool {
        let resident = &self.cancel.resident;
        // 0 bytes means that only the time is asked about: the ledger is not updated.
        let gives_way = |(ledger, entry): &(Arc<Ledger>, usize)| {
            memory_bytes > 0 && ledger.exceeds(*entry, memory_bytes, (limit, resident.is_near(limit)))
        };
        memory_bytes > limit || resident.is_at(limit) || self.ledger.as_ref().is_some_and(gives_way)
    }

    /// One budget for each of `n` pieces of work that run beside each other: the limit on memory is for all of them together.
    pub fn shared_by(&self, n: usize) -> Vec<Budget> {
        let ledger = Arc::new(Ledger((0..n).map(|_| AtomicU64::new(0)).collect()));
        (0..n).map(|entry| Budget { ledger: Some((Arc::clone(&ledger), entry)), ..self.clone() }).collect()
    }

    /// Says that a piece of work holds nothing any more.
    pub fn release(&self) {
        if let Some((ledger, entry)) = &self.ledger {
            ledger.0[*entry].store(0, Ordering::Relaxed);
        }
    }

    /// The same budget for work that has turns; the limit on time goes on between them.
    pub fn gated_by(&self, gate: &Arc<Gate>) -> Budget {
        Budget { gate: Some(Arc::clone(gate)), ..self.clone() }
    }

    /// What was used of the time.
    fn spent(&self) -> Duration {
        match (&self.gate, self.worked_before) {
            (Some(gate), Some(before)) => gate.worked().saturating_sub(before),
            _ => self.started.elapsed(),
        }
    }

    /// The same budget for a part of the work, which can be cancelled by itself.
    pub fn cancelled_by(&self, cancel: CancelToken) -> Budget {
        Budget { cancel, ..self.clone() }
    }

    /// What cancels the work.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// A part of what is left: at most this much time from now, the same memory, the same cancellation.
    pub fn slice(&self, time: Duration) -> Budget {
        let time = self.time_left().map_or(time, |left| left.min(time));
        let worked_before = self.gate.as_ref().map(|gate| gate.worked());
        Budget { started: Instant::now(), time: Some(time), reserve: Duration::ZERO, worked_before, ..self.clone() }
    }

    /// The same limits for what follows the work: it may take longer by a part of what a limit on time may be passed by.
    pub fn with_reserve(&self, part: f64) -> Budget {
        let reserve = self.time.map_or(Duration::ZERO, |limit| allowance(limit).mul_f64(part));
        Budget { reserve, ..self.clone() }
    }

    /// What is left of the time, if it is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.time.map(|limit| (limit + self.reserve).saturating_sub(self.spent()))
    }

    /// How long ago the budget was made.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The limit on time, if there is one.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time
    }

    /// The limit on memory, if there is one.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory_bytes
    }
}

/// What a limit on time may be passed by before an answer is there: a tenth of it, and half a second where that is more.
pub fn allowance(limit: Duration) -> Duration {
    (limit / 10).max(Duration::from_millis(500))
}

/// Why work ended without an answer. Each has a stable code for scripts and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The user cancelled the work (Ctrl-C).
    Cancelled,
    /// Another property has an unexpected verdict, and the user asked to stop at the first.
    FailFast,
    /// The time was used up.
    TimeLimit(Duration),
    /// The memory was used up, in bytes.
    MemoryLimit(u64),
    /// All nodes of decision diagrams that the memory has room for were used up.
    NodeLimit(u64),
    /// The automaton of a formula would have more states than this.
    AutomatonLimit(u64),
    /// The method's abstraction does not decide the question.
    TooCoarse(Coarse),
    /// One process's view does not exclude a violation: what the violation would be, in words.
    Left(String),
    /// Views of few of any number of processes do not exclude a violation: what these processes would do, in words.
    Allowed(String),
    /// The chosen method does not answer this question.
    NotSupported(Unsupported),
    /// The question itself could not be evaluated (an error inside a property's own expression).
    PropertyError(String),
    /// The disk that takes what memory has no room for failed, or is full.
    Disk(String),
    /// A limit was reached on one of several hosts, and stops all.
    OnHost {
        /// The host.
        host: String,
        /// The limit.
        reason: Box<StopReason>,
    },
    /// A host was lost for good.
    HostLost {
        /// The host.
        host: String,
        /// What is known of it.
        why: String,
    },
}

impl StopReason {
    /// The stable code, as in the result document.
    pub fn code(&self) -> &'static str {
        match self {
            StopReason::Cancelled => "cancelled",
            StopReason::FailFast => "fail-fast",
            StopReason::TimeLimit(_) => "time-limit",
            StopReason::MemoryLimit(_) => "memory-limit",
            StopReason::NodeLimit(_) => "node-limit",
            StopReason::AutomatonLimit(_) => "automaton-limit",
            StopReason::TooCoarse(_) | StopReason::Left(_) | StopReason::Allowed(_) => "too-coarse",
            StopReason::NotSupported(_) => "not-supported",
            StopReason::PropertyError(_) => "property-error",
            StopReason::Disk(_) => "disk",
            StopReason::OnHost { reason, .. } => reason.code(),
            StopReason::HostLost { .. } => "host-lost",
        }
    }
}

impl From<Feature> for StopReason {
    fn from(feature: Feature) -> Self {
        StopReason::NotSupported(feature.into())
    }
}

impl From<Unsupported> for StopReason {
    fn from(missing: Unsupported) -> Self {
        StopReason::NotSupported(missing)
    }
}

impl From<Coarse> for StopReason {
    fn from(coarse: Coarse) -> Self {
        StopReason::TooCoarse(coarse)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Cancelled => write!(f, "interrupted"),
            StopReason::FailFast => write!(f, "stopped by --fail-fast: another verdict is not as expected"),
            StopReason::TimeLimit(limit) => write!(f, "the time limit of {} s was reached", limit.as_secs_f64()),
            StopReason::MemoryLimit(bytes) => {
                write!(f, "the memory limit of {} was reached", memory::in_words(*bytes))?;
                match *bytes < memory::FLOOR {
                    true => write!(f, " (below {}, it is one of data alone)", memory::in_words(memory::FLOOR)),
                    false => Ok(()),
                }
            }
            StopReason::NodeLimit(n_nodes) => write!(f, "all {n_nodes} nodes of decision diagrams were used up"),
            StopReason::AutomatonLimit(n_states) => {
                write!(f, "the automaton of the formula is too large: more than {n_states} states")
            }
            StopReason::TooCoarse(coarse) => write!(f, "{coarse}"),
            StopReason::Left(what) if what.is_empty() => write!(f, "{}", Coarse::OneProcess),
            StopReason::Left(what) => write!(f, "{}: {what}", Coarse::OneProcess),
            StopReason::Allowed(what) => write!(f, "{}: {what}", Coarse::Views),
            StopReason::NotSupported(missing) => write!(f, "{missing}"),
            StopReason::PropertyError(why) | StopReason::Disk(why) => write!(f, "{why}"),
            StopReason::OnHost { host, reason } => write!(f, "on host {host}: {reason}"),
            StopReason::HostLost { host, why } => write!(f, "host {host} was lost: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_stops_with_its_own_reason() {
        let cancel = CancelToken::default();
        let budget = Budget::new(None, Some(100), cancel.clone());
        assert_eq!(budget.check(100), Ok(()));
        assert_eq!(budget.check(101), Err(StopReason::MemoryLimit(100)));
        cancel.cancel();
        assert_eq!(budget.check(0), Err(StopReason::Cancelled));
        let late = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
        assert_eq!(late.check(0), Err(StopReason::TimeLimit(Duration::ZERO)));
    }

    #[test]
    fn looks_are_counted_over_all_parts_of_the_work() {
        let budget = Budget::unlimited().with_looks(3);
        let part = budget.slice(Duration::from_secs(1000)).cancelled_by(CancelToken::default());
        assert_eq!((budget.check(0), part.check(0), budget.glance(0), part.check(0)), (Ok(()), Ok(()), Ok(()), Ok(())));
        assert_eq!(budget.check(0), Err(StopReason::TimeLimit(Duration::ZERO)));
        assert!(part.check(0).is_err() && part.glance(0).is_ok());
    }

    #[test]
    fn what_follows_the_work_has_a_reserve() {
        let late = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
        assert_eq!(late.with_reserve(0.0).check(0), Err(StopReason::TimeLimit(Duration::ZERO)));
        assert_eq!(late.with_reserve(100.0).check(0), Ok(()));
        assert!(late.with_reserve(100.0).time_left() > Some(Duration::from_secs(30)));
        assert_eq!(allowance(Duration::from_secs(3)), Duration::from_millis(500));
        assert_eq!(allowance(Duration::from_secs(60)), Duration::from_secs(6));
    }

    #[test]
    fn the_resident_size_stops_work_that_counted_less() {
        const LIMIT: u64 = 1 << 30;
        let cancel = CancelToken::default();
        let budget = Budget::new(None, Some(LIMIT), cancel.child());
        let [one, other] = &budget.shared_by(2)[..] else { unreachable!() };
        assert_eq!(one.check(20), Ok(()));
        cancel.resident().note(LIMIT / 100 * 88);
        assert_eq!(other.check(10), Ok(()), "the other one holds more");
        assert_eq!(one.check(20), Err(StopReason::MemoryLimit(LIMIT)));
        one.release();
        assert_eq!((other.check(0), budget.check(0)), (Ok(()), Ok(())));
        cancel.resident().note(LIMIT);
        assert_eq!(other.check(0), Err(StopReason::MemoryLimit(LIMIT)));
        cancel.resident().note(LIMIT / 2);
        assert_eq!(budget.check(0), Ok(()));
        assert_eq!(budget.check_growth(0, LIMIT / 4), Ok(()));
        assert_eq!(budget.check_growth(0, LIMIT / 2 + 1), Err(StopReason::MemoryLimit(LIMIT)));
    }

    #[test]
    fn a_limit_is_said_as_it_was_asked_for() {
        let said = |bytes| StopReason::MemoryLimit(bytes).to_string();
        assert_eq!(said(200 << 20), "the memory limit of 200 MB was reached");
        assert_eq!(said(1536), "the memory limit of 1.5 KB was reached (below 64 MB, it is one of data alone)");
    }

    #[test]
    fn a_part_is_cancelled_alone_and_with_the_whole() {
        let whole = CancelToken::default();
        let (one, other) = (whole.child(), whole.child());
        one.cancel();
        assert!(one.is_cancelled() && !other.is_cancelled() && !whole.is_cancelled());
        whole.cancel();
        assert!(other.is_cancelled() && other.child().is_cancelled());
    }

    #[test]
    fn of_several_the_one_that_holds_most_gives_way() {
        let budget = Budget::new(None, Some(100), CancelToken::default());
        let [one, other] = &budget.shared_by(2)[..] else { unreachable!() };
        assert_eq!(one.check(70), Ok(()));
        assert_eq!(other.check(40), Ok(()), "the other one holds more");
        assert_eq!(one.check(70), Err(StopReason::MemoryLimit(100)));
        assert_eq!(one.check(0), Ok(()));
        one.release();
        assert_eq!(other.check(90), Ok(()));
        assert_eq!(other.check(101), Err(StopReason::MemoryLimit(100)));
    }
}
