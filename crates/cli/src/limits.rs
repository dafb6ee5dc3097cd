//! What a call may use, from the options; Ctrl-C is one of the limits.
//!
//! In: the options. Out: the limits for the work, and a [`Guard`] for everything else. The work itself keeps its limits and ends with an
//! ordinary answer; what comes before and after it (reading, putting into words, writing) has the rest of the time that a limit may be passed
//! by, and is ended by the guard where that is not enough.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base::budget::allowance;
use base::memory::{self, Resident};
use base::{Budget, CancelToken, StopReason};
use driver::check::CheckLimits;

use crate::live::Stream;
use crate::options::{CallLimitOptions, LimitOptions};
use crate::output::LastDocuments;
use crate::status::ExitStatus;
use crate::{files, interrupt, terminal};

/// The guard looks so often, and so often where the memory comes near its limit.
const GLANCE: Duration = Duration::from_millis(10);
const NEAR_GLANCE: Duration = Duration::from_millis(1);

/// The call is ended after this part of what a time limit may be passed by.
const LAST: f64 = 0.7;

/// So much of it is for putting into words what was decided before.
const LAST_WORDS: f64 = 0.2;

/// The call is ended when it takes so much of its memory, in hundredths.
const MOST: u64 = 105;

/// The limits of this call, and who ends it where nothing else does. From now on Ctrl-C asks the search to end.
pub fn of(options: &LimitOptions) -> (CheckLimits, Guard) {
    let cancel = CancelToken::default();
    interrupt::cancel_on_interrupt(&cancel);
    let n_cores = || thread::available_parallelism().map_or(1, |cores| cores.get());
    if let Some(memory) = options.memory {
        cancel.resident().watch(memory);
    }
    let guard = Guard::new((options.timeout, options.memory), cancel.resident().clone());
    let limits = CheckLimits {
        time: options.timeout,
        memory_bytes: options.memory,
        disk: None,
        n_threads: options.threads.unwrap_or_else(n_cores),
        cancel,
    };
    (limits, guard)
}

/// The limits of a call that searches nothing, and who ends it where nothing else does.
pub fn of_call(options: CallLimitOptions) -> (Budget, Guard) {
    let cancel = CancelToken::default();
    if let Some(memory) = options.memory {
        cancel.resident().watch(memory);
    }
    let guard = Guard::new((options.timeout, options.memory), cancel.resident().clone());
    (Budget::new(options.timeout, options.memory, cancel), guard)
}

/// Ends the call where its limits are about to be passed, whatever it is at: with a sentence, which stands in the documents, too, where some are asked
/// for, and with what was decided before. The status is 3, unless that is graver.
pub struct Guard {
    started: Instant,
    time: Option<Duration>,
    ending: Arc<Mutex<Ending>>,
}

/// How a call is ended.
#[derive(Default)]
struct Ending {
    /// When.
    deadline: Option<Instant>,
    /// What is written before.
    documents: Option<LastDocuments>,
    /// The events that are ended before.
    stream: Option<Stream>,
    /// Who else hears of it.
    hears: Option<fn(&StopReason)>,
}

fn locked(ending: &Mutex<Ending>) -> MutexGuard<'_, Ending> {
    ending.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guard {
    /// A guard of a call with a limit on time, or on memory.
    pub fn new((time, memory): (Option<Duration>, Option<u64>), resident: Resident) -> Self {
        let guard = Guard { started: Instant::now(), time, ending: Arc::default() };
        guard.allow_for(1);
        if time.is_some() || memory.is_some() {
            let ending = Arc::clone(&guard.ending);
            let watch = move || keep_looking(time, memory, &ending, &resident);
            // Without a thread the work still keeps its limits by itself.
            thread::Builder::new().name(String::from("guard")).spawn(watch).ok();
        }
        guard
    }

    /// Says how many programs and instances there are, each of which has the whole time.
    pub fn allow_for(&self, n_programs: usize) {
        let n_programs = u32::try_from(n_programs.max(1)).unwrap_or(u32::MAX);
        let time = self.time.and_then(|limit| (limit + allowance(limit).mul_f64(LAST)).checked_mul(n_programs));
        locked(&self.ending).deadline = time.and_then(|time| self.started.checked_add(time));
    }

    /// Says which documents there have to be, and which events have to come to their end, however the call ends.
    pub fn leaves(&self, documents: LastDocuments, stream: Option<&Stream>) {
        let mut ending = locked(&self.ending);
        ending.documents = Some(documents);
        ending.stream = stream.cloned();
    }

    /// Says who else hears why the call is ended.
    pub fn tells(&self, hears: fn(&StopReason)) {
        locked(&self.ending).hears = Some(hears);
    }

    /// Leaves time to those that carry the work out, each of which keeps the limit itself.
    pub fn leave_time_to_others(&self) {
        locked(&self.ending).deadline = None;
    }
}

fn keep_looking(time: Option<Duration>, memory: Option<u64>, ending: &Mutex<Ending>, resident: &Resident) -> ! {
    loop {
        let is_close = memory.is_some_and(|limit| resident.is_close(limit));
        thread::sleep(if is_close { NEAR_GLANCE } else { GLANCE });
        let ending = locked(ending);
        match (time, memory) {
            (Some(limit), _) if ending.deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                end(&StopReason::TimeLimit(limit), time, &ending);
            }
            (_, Some(limit)) if resident.bytes() > limit.max(memory::FLOOR) / 100 * MOST => {
                end(&StopReason::MemoryLimit(limit), time, &ending);
            }
            _ => {}
        }
    }
}

fn end(reason: &StopReason, time: Option<Duration>, ending: &Ending) -> ! {
    let why = format!("{reason} before everything was written");
    if let Some(hears) = ending.hears {
        hears(reason);
    }
    terminal::error(&why);
    let at_most = allowance(time.unwrap_or_default()).mul_f64(LAST_WORDS);
    let documents = ending.documents.as_ref();
    let status = documents.map_or(ExitStatus::Undecided, |documents| documents.write((reason, &why), at_most));
    if let Some(stream) = &ending.stream {
        stream.end(&why, status);
    }
    files::exit_at_once(status.code().into())
}
